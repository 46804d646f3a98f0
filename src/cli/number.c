/* Numbers of PTX's storage types as doubles. One table says what the types are; the short floats share one rounding. */
#include "cli/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum element_kind { KIND_UNSIGNED, KIND_SIGNED, KIND_F16, KIND_BF16, KIND_FLOAT } element_kind;

typedef struct element_type {
    const char *name;
    element_kind kind;
    uint32_t bytes;
} element_type;

static const element_type element_types[] = {
    {"u8", KIND_UNSIGNED, 1},  {"s8", KIND_SIGNED, 1},  {"u16", KIND_UNSIGNED, 2}, {"s16", KIND_SIGNED, 2},
    {"u32", KIND_UNSIGNED, 4}, {"s32", KIND_SIGNED, 4}, {"u64", KIND_UNSIGNED, 8}, {"s64", KIND_SIGNED, 8},
    {"f16", KIND_F16, 2},      {"bf16", KIND_BF16, 2},  {"f32", KIND_FLOAT, 4},    {"f64", KIND_FLOAT, 8},
};

static const element_type *find_type(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof element_types / sizeof element_types[0]; i++) {
        if (strcmp(element_types[i].name, name) == 0)
            return &element_types[i];
    }
    return NULL;
}

/* A 16-bit IEEE 754 format is told by its fraction's width; the rest but the sign is exponent. */
static int short_minimum_exponent(int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits;
    return 2 - (1 << (exponent_bits - 1));
}

static uint16_t short_from_double(double value, int fraction_bits)
{
    uint32_t sign = signbit(value) ? 0x8000u : 0;
    uint32_t infinity = 0x7fffu >> fraction_bits << fraction_bits;
    if (isnan(value))
        return 0x7fff;
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    int minimum = short_minimum_exponent(fraction_bits);
    int exponent = 0;
    (void)frexp(value, &exponent);
    exponent -= 1;
    if (value == 0 || exponent < minimum)
        exponent = minimum;
    if (exponent > 1 - minimum)
        return (uint16_t)(sign | infinity);
    /* The significand as an integer with its leading bit, 0 to 2^(fraction_bits + 1); adding it to the exponent's field
     * carries into the exponent where rounding reached the next power of two, and leaves subnormals with field 0. */
    uint32_t significand = (uint32_t)nearbyint(ldexp(fabs(value), fraction_bits - exponent));
    uint32_t code = ((uint32_t)(exponent - minimum) << fraction_bits) + significand;
    return (uint16_t)(sign | (code < infinity ? code : infinity));
}

static double short_to_double(uint16_t bits, int fraction_bits)
{
    uint32_t magnitude = bits & 0x7fffu;
    uint32_t field = magnitude >> fraction_bits;
    uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
    double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    if (field == 0x7fffu >> fraction_bits)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    int minimum = short_minimum_exponent(fraction_bits);
    if (field == 0)
        return sign * ldexp((double)fraction, minimum - fraction_bits);
    return sign * ldexp((double)(fraction + (1u << fraction_bits)), minimum - fraction_bits + (int)field - 1);
}

static double integer_load(const element_type *type, const unsigned char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, type->bytes); /* little endian, as the devices are */
    if (type->kind == KIND_UNSIGNED)
        return (double)bits;
    unsigned shift = 64 - 8 * type->bytes;
    return (double)((int64_t)(bits << shift) >> shift);
}

static void integer_store(const element_type *type, unsigned char *at, double value)
{
    unsigned width = 8 * type->bytes;
    double rounded = isnan(value) ? 0 : nearbyint(value);
    uint64_t bits = 0;
    if (type->kind == KIND_UNSIGNED) {
        uint64_t top = UINT64_MAX >> (64 - width);
        bits = rounded <= 0 ? 0 : rounded >= ldexp(1, (int)width) ? top : (uint64_t)rounded;
    } else {
        int64_t top = (int64_t)(UINT64_MAX >> (65 - width));
        double end = ldexp(1, (int)width - 1);
        bits = (uint64_t)(rounded < -end ? -top - 1 : rounded >= end ? top : (int64_t)rounded);
    }
    memcpy(at, &bits, type->bytes);
}

static double float_load(const element_type *type, const unsigned char *at)
{
    double wide = 0;
    float narrow = 0;
    if (type->bytes == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return (double)narrow;
}

static void float_store(const element_type *type, unsigned char *at, double value)
{
    float narrow = 0;
    if (type->bytes == sizeof value) {
        memcpy(at, &value, sizeof value);
        return;
    }
    narrow = (float)value;
    memcpy(at, &narrow, sizeof narrow);
}

uint16_t gd_bf16_from_double(double value)
{
    return short_from_double(value, 7);
}

uint16_t gd_f16_from_double(double value)
{
    return short_from_double(value, 10);
}

double gd_bf16_to_double(uint16_t bits)
{
    return short_to_double(bits, 7);
}

double gd_f16_to_double(uint16_t bits)
{
    return short_to_double(bits, 10);
}

uint32_t gd_element_bytes(const char *type)
{
    const element_type *found = find_type(type);
    return found != NULL ? found->bytes : 0;
}

bool gd_element_is_float(const char *type)
{
    const element_type *found = find_type(type);
    return found != NULL && found->kind >= KIND_F16;
}

double gd_element_load(const char *type, const void *array, uint64_t index)
{
    const element_type *found = find_type(type);
    uint16_t bits = 0;
    if (found == NULL)
        return (double)NAN;
    const unsigned char *at = (const unsigned char *)array + index * found->bytes;
    switch (found->kind) {
    case KIND_F16:
    case KIND_BF16:
        memcpy(&bits, at, sizeof bits);
        return found->kind == KIND_F16 ? gd_f16_to_double(bits) : gd_bf16_to_double(bits);
    case KIND_FLOAT:
        return float_load(found, at);
    case KIND_UNSIGNED:
    case KIND_SIGNED:
        break;
    }
    return integer_load(found, at);
}

void gd_element_store(const char *type, void *array, uint64_t index, double value)
{
    const element_type *found = find_type(type);
    uint16_t bits = 0;
    if (found == NULL)
        return;
    unsigned char *at = (unsigned char *)array + index * found->bytes;
    switch (found->kind) {
    case KIND_F16:
    case KIND_BF16:
        bits = found->kind == KIND_F16 ? gd_f16_from_double(value) : gd_bf16_from_double(value);
        memcpy(at, &bits, sizeof bits);
        return;
    case KIND_FLOAT:
        float_store(found, at, value);
        return;
    case KIND_UNSIGNED:
    case KIND_SIGNED:
        integer_store(found, at, value);
        return;
    }
}
