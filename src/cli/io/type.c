/* Element types by number, for loops over many elements; the conversions are number.h's. */
#include "cli/io/type.h"

#include "cli/io/number.h"

static const char *const names[GD_TYPE_NAMES] = {
#define NAME(name) [GD_TYPE_##name] = #name,
    GD_TYPES(NAME)
#undef NAME
};

const char *gd_type_name(gd_type type)
{
    return names[type];
}

uint32_t gd_type_bytes(gd_type type)
{
    return gd_element_bytes(names[type]);
}

bool gd_type_is_integer(gd_type type)
{
    return !gd_element_is_float(names[type]);
}

bool gd_type_is_signed(gd_type type)
{
    return type >= GD_TYPE_s8;
}

void gd_type_store(gd_type type, void *array, uint64_t index, double value)
{
    switch (type) {
    case GD_TYPE_f16:
        ((uint16_t *)array)[index] = gd_f16_from_double(value);
        break;
    case GD_TYPE_bf16:
        ((uint16_t *)array)[index] = gd_bf16_from_double(value);
        break;
    case GD_TYPE_f32:
        ((float *)array)[index] = (float)value;
        break;
    case GD_TYPE_f64:
        ((double *)array)[index] = value;
        break;
    default:
        gd_element_store(names[type], array, index, value);
        break;
    }
}

void gd_type_store_bits(gd_type type, void *array, uint64_t index, uint64_t bits)
{
    switch (type) {
    case GD_TYPE_u8:
    case GD_TYPE_s8:
        ((uint8_t *)array)[index] = (uint8_t)bits;
        break;
    case GD_TYPE_u16:
    case GD_TYPE_s16:
        ((uint16_t *)array)[index] = (uint16_t)bits;
        break;
    case GD_TYPE_u32:
    case GD_TYPE_s32:
        ((uint32_t *)array)[index] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)array)[index] = bits;
        break;
    }
}

double gd_type_load(gd_type type, const void *array, uint64_t index)
{
    return gd_element_load(names[type], array, index);
}
