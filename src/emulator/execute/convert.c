/* Conversions (PTX ISA 9.7.10.23): a value is read as an integer or as a double, which hold all
 * that the types can say, and rounded once. */
#include "emulator/execute/convert.h"
#include "emulator/execute/math.h"
#include "ptx/text/module.h"

static bool is_signed(gd_ptx_type type)
{
    return type == GD_TYPE_S8 || type == GD_TYPE_S16 || type == GD_TYPE_S32 || type == GD_TYPE_S64;
}

static bool is_float(gd_ptx_type type)
{
    return type == GD_TYPE_F16 || type == GD_TYPE_BF16 || type == GD_TYPE_F32 ||
           type == GD_TYPE_F64;
}

/* ---- integers ---- */

static uint64_t extend(uint64_t value, uint32_t bytes, bool with_sign)
{
    uint32_t shift = 64 - 8 * bytes;

    return with_sign ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

/* An integer of one type clamped to the range of another. */
static uint64_t clamp(uint64_t value, bool from_signed, gd_ptx_type to)
{
    uint32_t bits = 8u * gd_ptx_types[to].bytes;
    uint64_t most = is_signed(to) ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    bool negative = from_signed && value >> 63;

    if (negative && !is_signed(to))
        return 0;
    if (negative)
        return (int64_t)value < -(int64_t)most - 1 ? ~most : value;
    return value > most ? most : value;
}

/* ---- floating point ---- */

static double round_integral(double value, uint32_t flags)
{
    switch (flags & GD_ROUND_MASK) {
    case GD_ROUND_ZERO:
        return trunc(value);
    case GD_ROUND_DOWN:
        return floor(value);
    case GD_ROUND_UP:
        return ceil(value);
    default:
        return rint(value);
    }
}

/* A NaN, as measured on an H200: 0 where f32 or f16 become 32 bits or fewer, else the top bit
 * alone. */
static uint64_t nan_as_integer(gd_ptx_type to, gd_ptx_type from)
{
    uint32_t bits = 8u * gd_ptx_types[to].bytes;

    return bits == 64 || from == GD_TYPE_F64 ? UINT64_C(1) << (bits - 1) : 0;
}

static uint64_t to_integer(double value, gd_ptx_type to, gd_ptx_type from, uint32_t flags)
{
    uint32_t bits = 8u * gd_ptx_types[to].bytes;
    double limit = ldexp(1.0, (int)bits - is_signed(to));

    value = round_integral(value, flags);
    if (value != value)
        return nan_as_integer(to, from);
    if (is_signed(to) && value < -limit)
        value = -limit;
    if (!is_signed(to) && value < 0)
        return 0;
    if (value >= limit)
        return is_signed(to) ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static double from_bits(uint64_t bits, gd_ptx_type type, uint32_t flags)
{
    switch (type) {
    case GD_TYPE_F16:
        return (double)gd_from_half((uint16_t)bits);
    case GD_TYPE_BF16:
        return (double)gd_from_bfloat((uint16_t)bits);
    case GD_TYPE_F32:
        return (double)gd_take32(gd_single((uint32_t)bits), flags);
    default:
        return gd_double(bits);
    }
}

/* A value that is exact, or rounded to odd, as a type. */
static uint64_t to_bits(double value, gd_ptx_type type, uint32_t flags)
{
    if (flags & GD_SAT)
        value = gd_sat64(value);
    switch (type) {
    case GD_TYPE_F16:
        return gd_to_half(value, flags);
    case GD_TYPE_BF16:
        return gd_to_bfloat(value, flags);
    case GD_TYPE_F32:
        return gd_bits(gd_nan32(gd_take32(gd_round32_ftz(value, flags), flags)));
    default:
        return gd_bits64(value);
    }
}

/* An integer's halves are exact; their sum is rounded once. */
static uint64_t integer_to_float(uint64_t value, bool from_signed, gd_ptx_type to, uint32_t flags)
{
    double low = (double)(uint32_t)value;
    double high = from_signed ? (double)(int32_t)(value >> 32) * 0x1p32
                              : (double)(uint32_t)(value >> 32) * 0x1p32;

    if (to == GD_TYPE_F64)
        return gd_bits64(flags & GD_SAT ? gd_sat64(high + low)
                                        : gd_directed64('+', high, low, 0, flags));
    return to_bits(gd_add_odd(high, low), to, flags);
}

/* A NaN of f64 keeps its sign and the upper bits of its fraction when it becomes shorter, as
 * measured on an H200. */
static uint64_t narrow_nan(double value, gd_ptx_type to)
{
    uint64_t bits = gd_bits64(value) | UINT64_C(1) << 51;

    return to == GD_TYPE_F32    ? (bits >> 32 & 0x80000000) | 0x7f800000 | (bits >> 29 & 0x7fffff)
           : to == GD_TYPE_F16  ? (bits >> 48 & 0x8000) | 0x7c00 | (bits >> 42 & 0x3ff)
           : to == GD_TYPE_BF16 ? (bits >> 48 & 0x8000) | 0x7f80 | (bits >> 45 & 0x7f)
                                : bits;
}

static uint64_t convert(uint64_t value, gd_ptx_type to, gd_ptx_type from, uint32_t flags)
{
    if (!is_float(from)) {
        value = extend(value, gd_ptx_types[from].bytes, is_signed(from));
        if (is_float(to))
            return integer_to_float(value, is_signed(from), to, flags);
        return flags & GD_SAT ? clamp(value, is_signed(from), to) : value;
    }
    if (to == GD_TYPE_F16) /* .ftz changes nothing where f16 results, as measured on an H200 */
        flags &= ~(uint32_t)GD_FTZ;
    if (from == GD_TYPE_F32 && to == GD_TYPE_F64 &&
        flags & GD_FTZ) /* makes a NaN the f32 one first, likewise */
        value = gd_bits(gd_nan32(gd_single((uint32_t)value)));
    double number = from_bits(value, from, flags);
    if (!is_float(to))
        return to_integer(number, to, from, flags);
    if (from == GD_TYPE_F64 && number != number && !(flags & GD_SAT))
        return narrow_nan(number, to);
    if (flags & GD_INTEGRAL)
        return to_bits(round_integral(number, flags), to, flags & ~(uint32_t)GD_ROUND_MASK);
    return to_bits(number, to, flags);
}

/* Lanes have at least four bytes. */
static uint32_t lane_bytes(uint32_t bytes)
{
    return bytes < 4 ? 4 : bytes;
}

void gd_run_convert(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_ptx_type to = (gd_ptx_type)code->kind, from = (gd_ptx_type)code->y;
    uint32_t bytes = gd_ptx_types[to].bytes;

    GD_EACH_LANE(lane, mask)
    {
        uint64_t value = convert(gd_lane_get(warp, code->a, lane, lane_bytes(code->bytes)), to,
                                 from, code->flags);
        value = extend(extend(value, bytes, is_signed(to)), code->count, false);
        gd_lane_put(warp, code->d, lane, lane_bytes(code->count), value);
    }
}

void gd_run_convert_pair(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_ptx_type half = code->kind == GD_TYPE_BF16X2 ? GD_TYPE_BF16 : GD_TYPE_F16;

    GD_EACH_LANE(lane, mask)
    {
        uint64_t a = gd_lane_get(warp, code->a, lane, 4), b = gd_lane_get(warp, code->b, lane, 4);
        gd_lane_put(warp, code->d, lane, 4,
                    convert(a, half, GD_TYPE_F32, code->flags) << 16 |
                        convert(b, half, GD_TYPE_F32, code->flags));
    }
}

/* ---- small formats ---- */

/* tf32 is an f32 with 10 bits of fraction. */
static uint32_t to_tf32(float value, uint32_t flags)
{
    uint32_t bits = gd_bits(value), sign = bits & 0x80000000;

    if (value != value) /* as measured on an H200 */
        return (flags & GD_ROUND_MASK) == GD_ROUND_AWAY ? bits & 0xffffe000 : 0x7fffe000;
    if (flags & GD_RELU && sign)
        return 0;
    if (isinf(value))
        return flags & GD_SATFINITE ? sign | 0x7f7fe000 : bits;
    uint32_t kept = (uint32_t)gd_round_bits(bits & 0x7fffffff, 13, sign, flags & GD_ROUND_MASK)
                    << 13;
    if (kept >= 0x7f800000 && flags & GD_SATFINITE)
        kept = 0x7f7fe000;
    return sign | kept;
}

void gd_run_tf32(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        float value = gd_single((uint32_t)gd_lane_get(warp, code->a, lane, 4));
        gd_lane_put(warp, code->d, lane, 4, to_tf32(value, code->flags));
    }
}

/* Results beyond the range are the largest number. */
static uint32_t to_fp8(double value, bool e5m2, uint32_t flags)
{
    flags |= GD_SATFINITE;
    return e5m2 ? gd_narrow(value, 2, 5, 0x7c, flags) : gd_narrow(value, 3, 4, 0x7f, flags);
}

void gd_run_to_fp8(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const bool e5m2 = code->x & GD_FP8_E5M2;

    GD_EACH_LANE(lane, mask)
    {
        uint32_t a = (uint32_t)gd_lane_get(warp, code->a, lane, 4);
        double high, low;
        if (code->x & GD_FP8_HALVES) {
            high = (double)gd_from_half((uint16_t)(a >> 16));
            low = (double)gd_from_half((uint16_t)a);
        } else {
            high = (double)gd_single(a);
            low = (double)gd_single((uint32_t)gd_lane_get(warp, code->b, lane, 4));
        }
        gd_lane_put(warp, code->d, lane, 4,
                    to_fp8(high, e5m2, code->flags) << 8 | to_fp8(low, e5m2, code->flags));
    }
}

void gd_run_from_fp8(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        uint32_t a = (uint32_t)gd_lane_get(warp, code->a, lane, 4);
        uint32_t low = gd_to_half((double)gd_from_fp8(a & 0xff, code->x), code->flags);
        uint32_t high = gd_to_half((double)gd_from_fp8(a >> 8 & 0xff, code->x), code->flags);
        gd_lane_put(warp, code->d, lane, 4, low | high << 16);
    }
}

static uint32_t saturate(int32_t value, uint32_t bits, bool is_signed)
{
    int32_t most = (int32_t)(UINT32_MAX >> (32 - bits + is_signed)),
            least = is_signed ? -most - 1 : 0;

    return (uint32_t)(value < least  ? least
                      : value > most ? most
                                     : value) &
           UINT32_MAX >> (32 - bits);
}

void gd_run_saturate_pack(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t bits = code->x;
    const bool is_signed = code->flags & GD_PACK_SIGNED;

    GD_EACH_LANE(lane, mask)
    {
        uint32_t a = saturate((int32_t)gd_lane_get(warp, code->a, lane, 4), bits, is_signed);
        uint32_t b = saturate((int32_t)gd_lane_get(warp, code->b, lane, 4), bits, is_signed);
        uint64_t c = code->flags & GD_PACK_SHIFTS ? gd_lane_get(warp, code->c, lane, 4) : 0;
        gd_lane_put(warp, code->d, lane, 4, c << (2 * bits) | a << bits | b);
    }
}
