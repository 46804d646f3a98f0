/* Arithmetic of one lane as PTX defines it. Everything here is defined for every input, for lanes
 * that are not at an operation are computed too. */
#ifndef GD_EMULATOR_EXECUTE_MATH_H
#define GD_EMULATOR_EXECUTE_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Roundings, and what else is done to a result. */
enum {
    GD_ROUND_NEAREST = 0,
    GD_ROUND_ZERO = 1,
    GD_ROUND_DOWN = 2,
    GD_ROUND_UP = 3,
    GD_ROUND_AWAY = 4, /* ties away from zero */
    GD_ROUND_MASK = 7,
    GD_FTZ = 8,
    GD_SAT = 16,
    GD_RELU = 32,
    GD_NAN = 64, /* min and max: a NaN makes a NaN */
    GD_XORSIGN = 128,
    GD_ABS = 256,
    GD_SATFINITE = 512
};

static inline uint32_t gd_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float gd_single(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t gd_bits64(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double gd_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- integers ---- */

#define GD_DEFINE_DIVISION(type, utype, name, lowest)                                              \
    static inline utype gd_div_##name(type a, type b)                                              \
    {                                                                                              \
        if (b == 0)                                                                                \
            return (utype)-1;                                                                      \
        return (utype)((lowest) != 0 && b == (type)-1 ? (utype)0 - (utype)a : (utype)(a / b));     \
    }                                                                                              \
    static inline utype gd_rem_##name(type a, type b)                                              \
    {                                                                                              \
        if (b == 0)                                                                                \
            return (utype)-1;                                                                      \
        return (utype)((lowest) != 0 && b == (type)-1 ? 0 : (utype)(a % b));                       \
    }
GD_DEFINE_DIVISION(uint16_t, uint16_t, u16, 0)
GD_DEFINE_DIVISION(int16_t, uint16_t, s16, 1)
GD_DEFINE_DIVISION(uint32_t, uint32_t, u32, 0)
GD_DEFINE_DIVISION(int32_t, uint32_t, s32, 1)
GD_DEFINE_DIVISION(uint64_t, uint64_t, u64, 0)
GD_DEFINE_DIVISION(int64_t, uint64_t, s64, 1)
#undef GD_DEFINE_DIVISION

static inline uint64_t gd_mul_hi_u64(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (uint32_t)middle;

    return ah * bh + (middle >> 32) + (other >> 32);
}

static inline uint64_t gd_mul_hi_s64(int64_t a, int64_t b)
{
    return gd_mul_hi_u64((uint64_t)a, (uint64_t)b) - (a < 0 ? (uint64_t)b : 0) -
           (b < 0 ? (uint64_t)a : 0);
}

static inline int32_t gd_clamp_s32(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline int32_t gd_s24(uint32_t value)
{
    return (int32_t)((value & 0xffffff) ^ 0x800000) - 0x800000;
}

static inline uint32_t gd_brev32(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}

static inline uint64_t gd_brev64(uint64_t v)
{
    return (uint64_t)gd_brev32((uint32_t)v) << 32 | gd_brev32((uint32_t)(v >> 32));
}

static inline uint32_t gd_clz32(uint32_t v)
{
    return v ? (uint32_t)__builtin_clz(v) : 32;
}

static inline uint32_t gd_clz64(uint64_t v)
{
    return v ? (uint32_t)__builtin_clzll(v) : 64;
}

/* bfind (PTX ISA 9.7.1.18): the highest bit that differs from the sign; `shift`: how far to shift
 * it to the top. */
static inline uint32_t gd_bfind32(uint32_t v, bool is_signed, bool shift)
{
    uint32_t zeros = gd_clz32(is_signed && v >> 31 ? ~v : v);

    return zeros == 32 ? UINT32_MAX : shift ? zeros : 31 - zeros;
}

static inline uint32_t gd_bfind64(uint64_t v, bool is_signed, bool shift)
{
    uint32_t zeros = gd_clz64(is_signed && v >> 63 ? ~v : v);

    return zeros == 64 ? UINT32_MAX : shift ? zeros : 63 - zeros;
}

/* Positions and lengths of bit fields go up to 255. Beyond that, 32-bit operations take the low
 * byte and 64-bit ones the nearest value, as measured on an H200. */
static inline uint32_t gd_field(uint32_t value, uint32_t bits)
{
    return bits == 32 ? value & 0xff : value > 255 ? 255 : value;
}

/* bfe (PTX ISA 9.7.1.19), for 32 and 64 bits. */
static inline uint64_t gd_bfe(uint64_t a, uint32_t b, uint32_t c, uint32_t bits, bool is_signed)
{
    uint32_t position = gd_field(b, bits), length = gd_field(c, bits), top = bits - 1;
    uint64_t last = position + length < top + 1 && length ? position + length - 1 : top;
    uint64_t sign = is_signed && length ? a >> last & 1 : 0;

    if (!length)
        return 0;
    uint64_t field = position > top ? 0 : a >> position;
    uint64_t kept = length > 63 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
    uint32_t there = position > top ? 0 : bits - position;
    uint64_t present = there > 63 ? UINT64_MAX : (UINT64_C(1) << there) - 1;
    uint64_t filled = sign ? ~(kept & present) : 0;
    return (field & kept & present) | filled;
}

/* bfi (PTX ISA 9.7.1.20): a into b. */
static inline uint64_t gd_bfi(uint64_t a, uint64_t b, uint32_t c, uint32_t d, uint32_t bits)
{
    uint32_t position = gd_field(c, bits), length = gd_field(d, bits);

    if (!length || position >= bits)
        return b;
    uint64_t mask = (length > 63 ? UINT64_MAX : (UINT64_C(1) << length) - 1) << position;
    return (b & ~mask) | (a << position & mask);
}

/* fns (PTX ISA 9.7.1.17). */
static inline uint32_t gd_fns(uint32_t mask, uint32_t base, int32_t offset)
{
    uint32_t count = offset < 0 ? 0 - (uint32_t)offset : (uint32_t)offset, at = base;

    if (offset == INT32_MIN) /* as measured on an H200 */
        return 0;
    if (base > 31)
        return UINT32_MAX;
    if (count == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (; at < 32; at = offset < 0 ? at - 1 : at + 1) {
        if (mask >> at & 1 && --count == 0)
            return at;
    }
    return UINT32_MAX;
}

static inline uint32_t gd_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        result |= table >> i & 1 ? term : 0;
    }
    return result;
}

/* prmt (PTX ISA 9.7.8.7) by its mode: 0 generic, 1 f4e, 2 b4e, 3 rc8, 4 ecl, 5 ecr, 6 rc16. */
static inline uint32_t gd_prmt(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    static const uint16_t selectors[7][4] = {
        {0},
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}  /* rc16 */
    };
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t selector = mode ? selectors[mode][c & 3] : c, result = 0;

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}

static inline int32_t gd_byte(uint32_t word, uint32_t index, bool is_signed)
{
    uint32_t byte = word >> (8 * index) & 0xff;

    return is_signed ? (int8_t)byte : (int32_t)byte;
}

static inline uint32_t gd_dp4a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed)
{
    for (uint32_t i = 0; i < 4; i++)
        c += (uint32_t)(gd_byte(a, i, a_signed) * gd_byte(b, i, b_signed));
    return c;
}

static inline uint32_t gd_dp2a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed,
                               bool high)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t half = a >> (16 * i) & 0xffff;
        int32_t left = a_signed ? (int16_t)half : (int32_t)half;
        c += (uint32_t)left * (uint32_t)gd_byte(b, i + (high ? 2 : 0), b_signed);
    }
    return c;
}

static inline uint32_t gd_bmsk(uint32_t a, uint32_t b, bool wrap)
{
    uint32_t position = wrap ? a & 31 : a, length = wrap ? b & 31 : b;

    if (position > 31 || length == 0)
        return 0;
    return (length > 31 ? UINT32_MAX : (UINT32_C(1) << length) - 1) << position;
}

static inline uint32_t gd_szext(uint32_t a, uint32_t b, bool wrap, bool is_signed)
{
    uint32_t bits = wrap ? b & 31 : b;

    if (bits == 0)
        return 0;
    if (bits > 31)
        return a;
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    return (a & mask) | (is_signed && a >> (bits - 1) & 1 ? ~mask : 0);
}

/* ---- f32 ---- */

/* Results that are no numbers have one form (PTX ISA 5.2, 9.7.3). */
static inline float gd_nan32(float value)
{
    return value != value ? gd_single(0x7fffffff) : value;
}

static inline float gd_flush(float value)
{
    uint32_t bits = gd_bits(value);

    return (bits & 0x7f800000) == 0 ? gd_single(bits & 0x80000000) : value;
}

/* abs and neg: the sign of the result is given by its bits, a NaN has no sign. */
static inline uint32_t gd_signed32(uint32_t bits, uint32_t flags)
{
    float value = gd_single(bits);

    return gd_bits(gd_nan32(flags & GD_FTZ ? gd_flush(value) : value));
}

static inline float gd_sat32(float value)
{
    float low = value > 0.0f ? value : 0.0f; /* NaN gives +0 */

    return low < 1.0f ? low : 1.0f;
}

static inline double gd_sat64(double value)
{
    double low = value > 0.0 ? value : 0.0;

    return low < 1.0 ? low : 1.0;
}

/* A sum known as sum + error, rounded to odd: what is rounded next to less than its bits is rounded
 * right. */
static inline double gd_odd(double sum, double error)
{
    uint64_t bits = gd_bits64(sum);
    uint64_t step = (error > 0) == (sum > 0) ? 1 : UINT64_MAX;

    return error != 0 && error == error && !(bits & 1) ? gd_double(bits + step) : sum;
}

static inline double gd_add_odd(double a, double b)
{
    double sum = a + b;
    double part = sum - a;
    double rest = sum - part;
    double left = a - rest, right = b - part;

    return gd_odd(sum, left + right);
}

/* A double, exact or rounded to odd, to float by a rounding. */
static inline float gd_round32(double value, uint32_t rounding)
{
    float near = (float)value;
    uint32_t bits = gd_bits(near);
    bool larger = near > 0 ? (double)near > value : (double)near < value; /* in magnitude */
    bool positive = near > 0 || (near == 0 && value > 0);

    if (near != near || (double)near == value)
        return near;
    if (near == 0)
        larger = false;
    switch (rounding) {
    case GD_ROUND_ZERO:
        return larger ? gd_single(bits - 1) : near;
    case GD_ROUND_DOWN:
        return positive ? (larger ? gd_single(bits - 1) : near)
                        : (larger ? near : gd_single(bits + 1));
    case GD_ROUND_UP:
        return positive ? (larger ? near : gd_single(bits + 1))
                        : (larger ? gd_single(bits - 1) : near);
    default:
        return near;
    }
}

/* With ftz a result counts as too small when it is so after rounding as if exponents had no end, as
 * measured on an H200: 2^-126 less half of its last place becomes 2^-126, anything below that
 * becomes zero. */
static inline float gd_round32_ftz(double value, uint32_t flags)
{
    if (!(flags & GD_FTZ) || value == 0 || !(fabs(value) < 0x1p-126))
        return gd_round32(value, flags & GD_ROUND_MASK);
    float scaled = gd_round32(value * 0x1p64, flags & GD_ROUND_MASK);
    return gd_single((signbit(value) ? 0x80000000 : 0) |
                     (fabsf(scaled) < 0x1p-62f ? 0 : 0x00800000));
}

/* The same for a product or a sum in float, known also as 2^64 times itself. */
static inline float gd_tiny(float value, float scaled)
{
    return fabsf(scaled) < 0x1p-62f ? gd_single(gd_bits(value) & 0x80000000) : value;
}

/* A result of an f32 operation as its modifiers say. */
static inline float gd_finish32(float value, uint32_t flags)
{
    if (flags & GD_FTZ)
        value = gd_flush(value);
    return flags & GD_SAT ? gd_sat32(value) : gd_nan32(value);
}

static inline float gd_take32(float value, uint32_t flags)
{
    return flags & GD_FTZ ? gd_flush(value) : value;
}

/* The sign of an exact zero sum is negative when rounding down (IEEE 754 6.3). */
static inline float gd_sum32(double a, double b, uint32_t flags)
{
    double sum = gd_add_odd(a, b);
    uint32_t rounding = flags & GD_ROUND_MASK;

    if (sum == 0 && rounding == GD_ROUND_DOWN && !(signbit(a) == signbit(b) && a == 0 && b == 0))
        return gd_finish32(-0.0f, flags);
    return gd_finish32(gd_round32_ftz(sum, flags), flags);
}

static inline float gd_add32(float a, float b, uint32_t flags)
{
    return gd_sum32((double)gd_take32(a, flags), (double)gd_take32(b, flags), flags);
}

static inline float gd_mul32(float a, float b, uint32_t flags)
{
    return gd_finish32(
        gd_round32_ftz((double)gd_take32(a, flags) * (double)gd_take32(b, flags), flags), flags);
}

static inline float gd_fma32(float a, float b, float c, uint32_t flags)
{
    return gd_sum32((double)gd_take32(a, flags) * (double)gd_take32(b, flags),
                    (double)gd_take32(c, flags), flags);
}

static inline float gd_div32(float a, float b, uint32_t flags)
{
    double x = (double)gd_take32(a, flags), y = (double)gd_take32(b, flags);
    double quotient = x / y;

    if (y != 0 && isfinite(quotient) && isfinite(y)) {
        double rest = fma(-quotient, y, x);
        quotient = gd_odd(quotient, y < 0 ? -rest : rest);
    }
    return gd_finish32(gd_round32_ftz(quotient, flags), flags);
}

static inline float gd_sqrt32(float a, uint32_t flags)
{
    double x = (double)gd_take32(a, flags), root = sqrt(x);

    if (root > 0 && isfinite(root))
        root = gd_odd(root, fma(-root, root, x));
    return gd_finish32(gd_round32(root, flags & GD_ROUND_MASK), flags);
}

/* min and max: a NaN loses against a number, -0 is less than +0 (PTX ISA 9.7.3.11). */
static inline float gd_least32(float a, float b)
{
    return a < b ? a : a > b ? b : gd_single(gd_bits(a) | gd_bits(b));
}

static inline float gd_most32(float a, float b)
{
    return a > b ? a : a < b ? b : gd_single(gd_bits(a) & gd_bits(b));
}

static inline float gd_extreme32(float a, float b, uint32_t flags, bool least)
{
    uint32_t sign = (gd_bits(a) ^ gd_bits(b)) & 0x80000000;

    if (flags & GD_FTZ) {
        a = gd_flush(a);
        b = gd_flush(b);
    }
    if (flags & GD_ABS) {
        a = gd_single(gd_bits(a) & 0x7fffffff);
        b = gd_single(gd_bits(b) & 0x7fffffff);
    }
    if (a != a || b != b)
        a = flags & GD_NAN || (a != a && b != b) ? gd_single(0x7fffffff) : a != a ? b : a;
    else
        a = least ? gd_least32(a, b) : gd_most32(a, b);
    return flags & GD_XORSIGN && a == a ? gd_single((gd_bits(a) & 0x7fffffff) | sign) : a;
}

/* A NaN stays what it is but for becoming a quiet one. */
static inline double gd_quiet64(double value)
{
    return value != value ? gd_double(gd_bits64(value) | UINT64_C(1) << 51) : value;
}

/* f64 operations hand on a NaN: the second operand's first, then the third's, then the first's, as
 * measured on an H200. One of their own is what an x86 processor makes too, an arm64 one not. */
static inline double gd_nan64(double result, double a, double b, double c)
{
    double nan = b != b ? b : c != c ? c : a;

    if (nan != nan)
        return gd_quiet64(nan);
    return result != result ? gd_double(UINT64_C(0xfff8000000000000)) : result;
}

static inline double gd_extreme64(double a, double b, bool least)
{
    if (a != a || b != b)
        return a != a ? gd_quiet64(b) : a;
    if (a == b)
        return gd_double(least ? gd_bits64(a) | gd_bits64(b) : gd_bits64(a) & gd_bits64(b));
    return (a < b) == least ? a : b;
}

/* Approximations: the exact value rounded, which lies within every bound that the ISA gives. */
static inline float gd_approximate(double value, uint32_t flags)
{
    return gd_finish32((float)value, flags);
}

static inline uint32_t gd_extreme_16x2(uint32_t a, uint32_t b, bool is_signed, bool least)
{
    uint32_t result = 0;

    for (uint32_t shift = 0; shift < 32; shift += 16) {
        int32_t x = is_signed ? (int16_t)(a >> shift) : (int32_t)(a >> shift & 0xffff);
        int32_t y = is_signed ? (int16_t)(b >> shift) : (int32_t)(b >> shift & 0xffff);
        result |= ((uint32_t)((x < y) == least ? x : y) & 0xffff) << shift;
    }
    return result;
}

/* testp: 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5 subnormal. */
static inline bool gd_testp(uint64_t exponent, uint64_t top, uint64_t fraction, uint32_t property)
{
    switch (property) {
    case 0:
        return exponent != top;
    case 1:
        return exponent == top && !fraction;
    case 2:
        return exponent != top || !fraction;
    case 3:
        return exponent == top && fraction;
    case 4: /* zero counts as normal */
        return exponent != top && (exponent || !fraction);
    default:
        return !exponent && fraction;
    }
}

static inline bool gd_testp32(uint32_t bits, uint32_t property)
{
    return gd_testp(bits >> 23 & 0xff, 0xff, bits & 0x7fffff, property);
}

static inline bool gd_testp64(uint64_t bits, uint32_t property)
{
    return gd_testp(bits >> 52 & 0x7ff, 0x7ff, bits & ((UINT64_C(1) << 52) - 1), property);
}

/* f32 to s32 towards zero; NaN gives 0, what does not fit the nearest number. */
static inline int32_t gd_to_s32(float value)
{
    float kept = value < 2147483648.0f ? (value >= -2147483648.0f ? value : -2147483648.0f) : 0.0f;

    return value >= 2147483648.0f ? INT32_MAX : (int32_t)(value != value ? 0.0f : kept);
}

static inline double gd_flush64(double value)
{
    uint64_t bits = gd_bits64(value);

    return bits >> 52 & 0x7ff ? value : gd_double(bits & UINT64_C(1) << 63);
}

/* The .approx.ftz.f64 forms take and give the upper half of a double (PTX ISA 9.7.3.14). */
static inline double gd_upper64(double value)
{
    return gd_flush64(gd_double(gd_bits64(value) & ~UINT64_C(0xffffffff)));
}

static inline double gd_approximate64(double value)
{
    return gd_double(gd_bits64(gd_flush64(value)) & ~UINT64_C(0xffffffff));
}

/* div.approx: a divisor above 2^126 counts as infinite (PTX ISA 9.7.3.8). */
static inline float gd_div_approx(float a, float b, uint32_t flags)
{
    float x = gd_take32(a, flags), y = gd_take32(b, flags);
    uint32_t sign = (gd_bits(x) ^ gd_bits(y)) & 0x80000000;

    if (fabsf(y) > 0x1p126f && isfinite(y) && x == x)
        return isfinite(x) ? gd_single(sign) : gd_single(0x7fffffff);
    return gd_finish32(x / y, flags);
}

/* f64 by a directed rounding: the host's own, set around one operation (execute/math.c). */
double gd_directed64(char operation, double a, double b, double c, uint32_t flags);

/* ---- f16 and bf16 ---- */

static inline float gd_from_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    float small = gd_single(sign | (uint32_t)gd_bits((float)rest * 0x1p-24f));

    if (rest < 0x0400)
        return small;
    if (rest >= 0x7c00)
        return gd_single(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    return gd_single(sign | ((rest << 13) + 0x38000000));
}

/* e4m3 has no infinities and one NaN, e5m2 is the upper half of f16. */
static inline float gd_from_fp8(uint32_t byte, bool e5m2)
{
    const uint32_t sign = (byte & 0x80) << 24, rest = byte & 0x7f;

    if (e5m2)
        return gd_from_half((uint16_t)(byte << 8));
    if (rest == 0x7f)
        return gd_single(0x7fffffff);
    return gd_single(sign | rest << 20) * 0x1p120f; /* e4m3's bias is 7, f32's 127 */
}

static inline float gd_from_bfloat(uint16_t half)
{
    return gd_single((uint32_t)half << 16);
}

/* Rounds a magnitude that has `drop` bits too many, given with its sign. */
static inline uint64_t gd_round_bits(uint64_t bits, uint32_t drop, bool negative, uint32_t rounding)
{
    if (drop > 63)
        drop = 63;
    uint64_t kept = bits >> drop, rest = bits & ((UINT64_C(1) << drop) - 1);
    uint64_t half = drop ? UINT64_C(1) << (drop - 1) : 0;

    if (!rest)
        return kept;
    switch (rounding) {
    case GD_ROUND_ZERO:
        return kept;
    case GD_ROUND_DOWN:
        return kept + (negative ? 1 : 0);
    case GD_ROUND_UP:
        return kept + (negative ? 0 : 1);
    case GD_ROUND_AWAY:
        return kept + (rest >= half ? 1 : 0);
    default:
        return kept + (rest > half || (rest == half && kept & 1) ? 1 : 0);
    }
}

/* A double, exact or rounded to odd, to a format of `fraction` explicit bits and `exponent` bits of
 * exponent. `top` is the first code that stands for no finite number. NaN gives all ones but the
 * sign. */
static inline uint32_t gd_narrow(double value, uint32_t fraction, uint32_t exponent, uint32_t top,
                                 uint32_t flags)
{
    uint64_t bits = gd_bits64(value), magnitude = bits & INT64_MAX;
    bool negative = bits >> 63;
    uint32_t rounding = flags & GD_ROUND_MASK,
             sign = negative ? UINT32_C(1) << (fraction + exponent) : 0;
    int32_t bias = (1 << (exponent - 1)) - 1;
    int32_t power = (int32_t)(magnitude >> 52) - 1023;

    if (value != value)
        return (UINT32_C(1) << (fraction + exponent)) - 1;
    if (flags & GD_RELU && negative)
        return 0;
    if (magnitude >> 52 == 0x7ff)
        return flags & GD_SATFINITE ? sign | (top - 1) : sign | top;
    if (magnitude == 0)
        return sign;
    uint64_t whole = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    uint64_t result;
    if (power >= 1 - bias)
        result = gd_round_bits(whole, 52 - fraction, negative, rounding) +
                 ((uint64_t)(uint32_t)(power + bias - 1) << fraction);
    else
        result = gd_round_bits(whole, (uint32_t)(52 - (int32_t)fraction + 1 - bias - power),
                               negative, rounding);
    if (result >= top) {
        bool down = rounding == GD_ROUND_ZERO || (rounding == GD_ROUND_DOWN && !negative) ||
                    (rounding == GD_ROUND_UP && negative) || flags & GD_SATFINITE;
        result = down ? top - 1 : top;
    }
    return sign | (uint32_t)result;
}

static inline uint16_t gd_to_half(double value, uint32_t flags)
{
    return (uint16_t)gd_narrow(value, 10, 5, 0x7c00, flags);
}

/* f32 to bf16, ties to even: the operation that kernels spend their time on. */
static inline uint16_t gd_to_bfloat_near(float value)
{
    uint32_t bits = gd_bits(value);

    return value != value ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* f32 to f16, ties to even, likewise: the addition of a magic number rounds what becomes
 * subnormal. */
static inline uint16_t gd_to_half_near(float value)
{
    uint32_t bits = gd_bits(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    uint32_t small = gd_bits(gd_single(rest) + 0.5f) - 0x3f000000;
    uint32_t normal = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    uint32_t finite = rest < 0x38800000 ? small : normal;

    return (uint16_t)(rest > 0x7f800000 ? 0x7fff : sign | (rest >= 0x477ff000 ? 0x7c00 : finite));
}

static inline uint16_t gd_to_bfloat(double value, uint32_t flags)
{
    return (uint16_t)gd_narrow(value, 7, 8, 0x7f80, flags);
}

typedef enum gd_half_op {
    GD_HALF_ADD,
    GD_HALF_SUB,
    GD_HALF_MUL,
    GD_HALF_FMA,
    GD_HALF_MIN,
    GD_HALF_MAX,
    GD_HALF_NEG,
    GD_HALF_ABS,
    GD_HALF_EX2,
    GD_HALF_TANH
} gd_half_op;

static inline float gd_half_value(uint16_t bits, bool bfloat, uint32_t flags)
{
    if (flags & GD_FTZ && !(bits & (bfloat ? 0x7f80 : 0x7c00)))
        bits &= 0x8000;
    return bfloat ? gd_from_bfloat(bits) : gd_from_half(bits);
}

/* Of a comparison's flags: which format it compares, and which half of its operands. */
enum { GD_COMPARES_BFLOAT = 1024, GD_COMPARES_UPPER = 2048 };

static inline float gd_compared_half(uint32_t halves, uint32_t flags)
{
    return gd_half_value((uint16_t)(flags & GD_COMPARES_UPPER ? halves >> 16 : halves),
                         flags & GD_COMPARES_BFLOAT, flags);
}

/* Operations on one f16 or bf16: computed exactly, or rounded to odd, in double and rounded
 * once. */
static inline uint16_t gd_half(gd_half_op op, uint16_t a, uint16_t b, uint16_t c, bool bfloat,
                               uint32_t flags)
{
    if (op == GD_HALF_NEG || op == GD_HALF_ABS) {
        if ((a & 0x7fff) > (bfloat ? 0x7f80 : 0x7c00))
            return 0x7fff;
        if (flags & GD_FTZ && !(a & (bfloat ? 0x7f80 : 0x7c00)))
            a &= 0x8000;
        return (uint16_t)(op == GD_HALF_NEG ? a ^ 0x8000 : a & 0x7fff);
    }
    float x = gd_half_value(a, bfloat, flags), y = gd_half_value(b, bfloat, flags);
    double value = 0;
    switch (op) {
    case GD_HALF_ADD:
        value = gd_add_odd((double)x, (double)y);
        break;
    case GD_HALF_SUB:
        value = gd_add_odd((double)x, -(double)y);
        break;
    case GD_HALF_MUL:
        value = (double)x * (double)y;
        break;
    case GD_HALF_FMA:
        value = gd_add_odd((double)x * (double)y, (double)gd_half_value(c, bfloat, flags));
        break;
    case GD_HALF_MIN:
    case GD_HALF_MAX:
        value = (double)gd_extreme32(x, y, flags & ~(uint32_t)GD_FTZ, op == GD_HALF_MIN);
        break;
    case GD_HALF_EX2:
        value = exp2((double)x);
        break;
    default:
        value = tanh((double)x);
        break;
    }
    if (flags & GD_SAT)
        value = gd_sat64(value);
    uint16_t bits =
        bfloat ? gd_to_bfloat(value, flags & GD_RELU) : gd_to_half(value, flags & GD_RELU);
    if (flags & GD_FTZ && !bfloat &&
        fabs(value) < 0x1.ffep-15) /* less than half a place below 2^-14: see gd_round32_ftz */
        bits &= 0x8000;
    if (flags & GD_FTZ && !(bits & (bfloat ? 0x7f80 : 0x7c00)))
        bits &= 0x8000;
    return bits;
}

static inline uint32_t gd_halves(gd_half_op op, uint32_t a, uint32_t b, uint32_t c, bool bfloat,
                                 uint32_t flags)
{
    uint32_t low = gd_half(op, (uint16_t)a, (uint16_t)b, (uint16_t)c, bfloat, flags);
    uint32_t high =
        gd_half(op, (uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16), bfloat, flags);

    return low | high << 16;
}

#endif
