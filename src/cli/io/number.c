/* Numbers of PTX's storage types as doubles. One table says what the types are; the short floats
 * share one rounding. */
#include "cli/io/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A float of at most 16 bits: sign, exponent, fraction. Codes are without the sign. */
typedef struct short_format {
    int fraction_bits;
    int minimum;       /* exponent of the smallest normal */
    uint32_t sign;     /* its bit */
    uint32_t largest;  /* code of the largest finite value */
    uint32_t overflow; /* code of what is beyond it */
    uint32_t infinity; /* UINT32_MAX: the format has none */
    uint32_t first_nan;
    uint32_t nan; /* the canonical one */
} short_format;

static const short_format bf16 = {7, -126, 0x8000, 0x7f7f, 0x7f80, 0x7f80, 0x7f81, 0x7fff};
static const short_format f16 = {10, -14, 0x8000, 0x7bff, 0x7c00, 0x7c00, 0x7c01, 0x7fff};
static const short_format e4m3 = {3, -6, 0x80, 0x7e, 0x7e, UINT32_MAX, 0x7f, 0x7f};
static const short_format e5m2 = {2, -14, 0x80, 0x7b, 0x7b, 0x7c, 0x7d, 0x7f};

typedef enum element_kind { KIND_UNSIGNED, KIND_SIGNED, KIND_SHORT, KIND_FLOAT } element_kind;

typedef struct element_type {
    const char *name;
    element_kind kind;
    uint32_t bytes;
    const short_format *format; /* of a short float */
} element_type;

/* Types of long arrays stand first. */
static const element_type element_types[] = {
    {"bf16", KIND_SHORT, 2, &bf16},  {"f16", KIND_SHORT, 2, &f16},
    {"f32", KIND_FLOAT, 4, NULL},    {"e4m3", KIND_SHORT, 1, &e4m3},
    {"u32", KIND_UNSIGNED, 4, NULL}, {"s32", KIND_SIGNED, 4, NULL},
    {"u8", KIND_UNSIGNED, 1, NULL},  {"s8", KIND_SIGNED, 1, NULL},
    {"u16", KIND_UNSIGNED, 2, NULL}, {"s16", KIND_SIGNED, 2, NULL},
    {"u64", KIND_UNSIGNED, 8, NULL}, {"s64", KIND_SIGNED, 8, NULL},
    {"e5m2", KIND_SHORT, 1, &e5m2},  {"f64", KIND_FLOAT, 8, NULL},
};

/* Each element of an array asks for its type; these names differ so early that a call of strcmp is
 * most of the work. */
static bool is_name(const char *name, const char *other)
{
    while (*name == *other && *name != '\0') {
        name++;
        other++;
    }
    return *name == *other;
}

/* No two names begin with the same two characters. */
static const element_type *find_type(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return NULL;
    for (size_t i = 0; i < sizeof element_types / sizeof element_types[0]; i++) {
        const char *other = element_types[i].name;
        if (other[1] == name[1] && other[0] == name[0])
            return is_name(other, name) ? &element_types[i] : NULL;
    }
    return NULL;
}

static uint16_t short_from_double(double value, const short_format *format)
{
    uint32_t sign = signbit(value) ? format->sign : 0;
    if (isnan(value))
        return (uint16_t)format->nan;
    if (isinf(value))
        return (uint16_t)(sign | format->overflow);
    int exponent = 0;
    (void)frexp(value, &exponent);
    exponent -= 1;
    if (value == 0 || exponent < format->minimum)
        exponent = format->minimum;
    /* The significand as an integer with its leading bit, 0 to 2^(fraction_bits + 1); adding it to
     * the exponent's field carries into the exponent where rounding reached the next power of two,
     * and leaves subnormals with field 0. */
    uint32_t significand =
        (uint32_t)nearbyint(ldexp(fabs(value), format->fraction_bits - exponent));
    uint32_t code = ((uint32_t)(exponent - format->minimum) << format->fraction_bits) + significand;
    return (uint16_t)(sign | (code <= format->largest ? code : format->overflow));
}

static double short_to_double(uint16_t bits, const short_format *format)
{
    uint32_t magnitude = bits & (format->sign - 1);
    uint32_t field = magnitude >> format->fraction_bits;
    uint32_t fraction = magnitude & ((1u << format->fraction_bits) - 1);
    double sign = (bits & format->sign) != 0 ? -1.0 : 1.0, value = 0;
    if (magnitude >= format->first_nan)
        return (double)NAN;
    if (magnitude == format->infinity)
        return sign * (double)INFINITY;
    if (field == 0)
        return sign * ldexp((double)fraction, format->minimum - format->fraction_bits);
    /* A double's fields: an exponent of its own bias, the fraction at the top. */
    uint64_t wide = (uint64_t)(format->minimum + (int)field - 1 + 1023) << 52 |
                    (uint64_t)fraction << (52 - format->fraction_bits);
    memcpy(&value, &wide, sizeof value);
    return sign * value;
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
    return short_from_double(value, &bf16);
}

uint16_t gd_f16_from_double(double value)
{
    return short_from_double(value, &f16);
}

double gd_bf16_to_double(uint16_t bits)
{
    return short_to_double(bits, &bf16);
}

double gd_f16_to_double(uint16_t bits)
{
    return short_to_double(bits, &f16);
}

uint32_t gd_element_bytes(const char *type)
{
    const element_type *found = find_type(type);
    return found != NULL ? found->bytes : 0;
}

bool gd_element_is_float(const char *type)
{
    const element_type *found = find_type(type);
    return found != NULL && found->kind >= KIND_SHORT;
}

double gd_element_load(const char *type, const void *array, uint64_t index)
{
    const element_type *found = find_type(type);
    if (found == NULL)
        return (double)NAN;
    const unsigned char *at = (const unsigned char *)array + index * found->bytes;
    switch (found->kind) {
    case KIND_SHORT: /* little endian, as the devices are */
        return short_to_double((uint16_t)(found->bytes == 1 ? at[0] : at[0] | at[1] << 8),
                               found->format);
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
    case KIND_SHORT:
        bits = short_from_double(value, found->format);
        memcpy(at, &bits, found->bytes);
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
