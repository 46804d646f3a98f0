/* Conversions: those that kernels use most have operations of their own, all others one that knows
 * every type. */
#include "emulator/decode/decode.h"
#include "emulator/execute/convert.h"

#define NONE GD_TYPE_NONE

/* A conversion without modifiers, or with .rn (.rzi), between registers of the types' own sizes. */
typedef struct quick {
    uint8_t to, from;
    uint16_t flags;
    uint16_t op;
} quick;

enum { TO_NEAREST = GD_ROUND_NEAREST, TO_ZERO_INTEGRAL = GD_ROUND_ZERO | GD_INTEGRAL };

static const quick quicks[] = {
    {GD_TYPE_U64, GD_TYPE_U32, 0, GD_LANES_CVT_U64_U32},
    {GD_TYPE_S64, GD_TYPE_U32, 0, GD_LANES_CVT_U64_U32},
    {GD_TYPE_S64, GD_TYPE_S32, 0, GD_LANES_CVT_S64_S32},
    {GD_TYPE_U64, GD_TYPE_S32, 0, GD_LANES_CVT_S64_S32},
    {GD_TYPE_U32, GD_TYPE_U64, 0, GD_LANES_CVT_U32_U64},
    {GD_TYPE_S32, GD_TYPE_S64, 0, GD_LANES_CVT_U32_U64},
    {GD_TYPE_U32, GD_TYPE_S64, 0, GD_LANES_CVT_U32_U64},
    {GD_TYPE_S32, GD_TYPE_U64, 0, GD_LANES_CVT_U32_U64},
    {GD_TYPE_U32, GD_TYPE_U16, 0, GD_LANES_CVT_U32_U16},
    {GD_TYPE_S32, GD_TYPE_U16, 0, GD_LANES_CVT_U32_U16},
    {GD_TYPE_S32, GD_TYPE_S16, 0, GD_LANES_CVT_S32_S16},
    {GD_TYPE_U32, GD_TYPE_S16, 0, GD_LANES_CVT_S32_S16},
    {GD_TYPE_U16, GD_TYPE_U32, 0, GD_LANES_CVT_U16_U32},
    {GD_TYPE_S16, GD_TYPE_S32, 0, GD_LANES_CVT_U16_U32},
    {GD_TYPE_F32, GD_TYPE_S32, 0, GD_LANES_CVT_F32_S32},
    {GD_TYPE_F32, GD_TYPE_U32, 0, GD_LANES_CVT_F32_U32},
    {GD_TYPE_F64, GD_TYPE_S32, 0, GD_LANES_CVT_F64_S32},
    {GD_TYPE_F64, GD_TYPE_U32, 0, GD_LANES_CVT_F64_U32},
    {GD_TYPE_F64, GD_TYPE_F32, 0, GD_LANES_CVT_F64_F32},
    {GD_TYPE_F32, GD_TYPE_F64, 0, GD_LANES_CVT_F32_F64},
    {GD_TYPE_F32, GD_TYPE_F16, 0, GD_LANES_CVT_F32_F16},
    {GD_TYPE_F32, GD_TYPE_BF16, 0, GD_LANES_CVT_F32_BF16},
    {GD_TYPE_F16, GD_TYPE_F32, 0, GD_LANES_CVT_F16_F32},
    {GD_TYPE_BF16, GD_TYPE_F32, 0, GD_LANES_CVT_BF16_F32},
    {GD_TYPE_S32, GD_TYPE_F32, TO_ZERO_INTEGRAL, GD_LANES_CVT_S32_F32_RZ},
};

static gd_lanes_op find_quick(gd_ptx_type to, gd_ptx_type from, uint32_t flags)
{
    for (size_t i = 0; i < sizeof quicks / sizeof quicks[0]; i++) {
        if (quicks[i].to == to && quicks[i].from == from && quicks[i].flags == flags)
            return (gd_lanes_op)quicks[i].op;
    }
    return GD_LANES_NONE;
}

static uint32_t conversion_flags(gd_decoder *decoder)
{
    uint32_t flags = gd_float_flags(decoder);

    if (gd_has(decoder, GD_MODIFIER_RNI))
        flags |= GD_INTEGRAL;
    if (gd_has(decoder, GD_MODIFIER_RZI))
        flags |= GD_INTEGRAL | GD_ROUND_ZERO;
    if (gd_has(decoder, GD_MODIFIER_RMI))
        flags |= GD_INTEGRAL | GD_ROUND_DOWN;
    if (gd_has(decoder, GD_MODIFIER_RPI))
        flags |= GD_INTEGRAL | GD_ROUND_UP;
    if (gd_has(decoder, GD_MODIFIER_RNA))
        flags |= GD_ROUND_AWAY;
    if (gd_has(decoder, GD_MODIFIER_SATFINITE))
        flags |= GD_SATFINITE;
    return flags;
}

static uint32_t lanes(uint32_t bytes)
{
    return bytes < 4 ? 4 : bytes;
}

static bool emit_convert(gd_decoder *decoder, gd_ptx_type to, gd_ptx_type from, uint32_t flags,
                         gd_slot d, uint32_t d_bytes, gd_slot a, uint32_t a_bytes)
{
    gd_code *code = gd_emit(decoder, gd_run_convert);

    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->x = (uint8_t)to;
    code->y = (uint8_t)from;
    code->flags = (uint16_t)flags;
    code->bytes = (uint8_t)lanes(a_bytes);
    code->count = (uint8_t)lanes(d_bytes);
    code->kind = (uint8_t)d_bytes;
    return true;
}

static bool scalar(gd_decoder *decoder, gd_ptx_type to, gd_ptx_type from, uint32_t flags)
{
    uint32_t d_bytes = 0, a_bytes = 0;
    gd_slot d, a;

    if (!gd_source_wide(decoder, decoder->operands[1], from, &a, &a_bytes) ||
        !gd_target_wide(decoder, decoder->operands[0], to, &d, &d_bytes))
        return false;
    if (a_bytes < gd_bytes_of(from) || d_bytes < gd_bytes_of(to) || a_bytes > 8 || d_bytes > 8)
        return gd_decode_refuse(decoder, "a register that is smaller than its type");
    gd_lanes_op op = find_quick(to, from, flags);
    if (op && a_bytes == gd_bytes_of(from) && d_bytes == gd_bytes_of(to))
        return gd_emit_lanes(decoder, op, 0, d, a, GD_AREA_SINK, GD_AREA_SINK);
    if (from == GD_TYPE_U8 && lanes(d_bytes) == 4 && a_bytes <= 4 && !flags &&
        gd_bytes_of(to) == d_bytes &&
        (to == GD_TYPE_U32 || to == GD_TYPE_S32 || to == GD_TYPE_U16 || to == GD_TYPE_S16))
        return gd_emit_lanes(decoder, GD_LANES_CVT_U32_U8, 0, d, a, GD_AREA_SINK, GD_AREA_SINK);
    return emit_convert(decoder, to, from, flags, d, d_bytes, a, a_bytes);
}

/* d = two halves: a above, b below. */
static bool pair(gd_decoder *decoder, gd_ptx_type to, uint32_t flags)
{
    bool bfloat = to == GD_TYPE_BF16X2;
    gd_ptx_type half = bfloat ? GD_TYPE_BF16 : GD_TYPE_F16;
    gd_slot d, a, b, high = gd_scratch(decoder, 0), low = gd_scratch(decoder, 1);

    if (!gd_source(decoder, decoder->operands[1], GD_TYPE_F32, &a) ||
        !gd_source(decoder, decoder->operands[2], GD_TYPE_F32, &b) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d))
        return false;
    if (!flags)
        return gd_emit_lanes(decoder, bfloat ? GD_LANES_CVT_BF16X2_F32 : GD_LANES_CVT_F16X2_F32, 0,
                             d, a, b, GD_AREA_SINK);
    return emit_convert(decoder, half, GD_TYPE_F32, flags, high, 2, a, 4) &&
           emit_convert(decoder, half, GD_TYPE_F32, flags, low, 2, b, 4) &&
           gd_emit_lanes(decoder, GD_LANES_JOIN_HALVES, 0, d, low, high, GD_AREA_SINK);
}

static bool tf32(gd_decoder *decoder, uint32_t flags)
{
    gd_slot d, a;

    if (!gd_source(decoder, decoder->operands[1], GD_TYPE_F32, &a) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_tf32);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->flags = (uint16_t)flags;
    return true;
}

/* e4m3x2 and e5m2x2, from two f32 or an f16x2, and to f16x2. */
static bool fp8(gd_decoder *decoder, bool e5m2, uint32_t flags)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool from = type == GD_TYPE_F16X2 && !(flags & GD_SATFINITE);
    gd_slot d, a, b = GD_AREA_SINK;

    if (!gd_source(decoder, decoder->operands[1], from ? GD_TYPE_B16 : GD_TYPE_B32, &a) ||
        (decoder->operand_count == 3 &&
         !gd_source(decoder, decoder->operands[2], GD_TYPE_F32, &b)) ||
        !gd_target(decoder, decoder->operands[0], from ? GD_TYPE_B32 : GD_TYPE_B16, &d))
        return false;
    gd_code *code = gd_emit(decoder, from ? gd_run_from_fp8 : gd_run_to_fp8);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->b = b;
    code->x = e5m2;
    code->kind = decoder->operand_count == 2;
    code->flags = (uint16_t)flags;
    return true;
}

bool gd_decode_cvt(gd_decoder *decoder)
{
    uint32_t flags = conversion_flags(decoder);
    gd_ptx_type to = gd_type_at(decoder, 0);
    bool e4m3 = gd_has(decoder, GD_MODIFIER_E4M3X2), e5m2 = gd_has(decoder, GD_MODIFIER_E5M2X2);

    if (e4m3 || e5m2)
        return fp8(decoder, e5m2, flags);
    if (gd_has(decoder, GD_MODIFIER_TF32))
        return tf32(decoder, flags);
    gd_ptx_type from = gd_type_at(decoder, 1);
    if (to == GD_TYPE_F16X2 || to == GD_TYPE_BF16X2)
        return pair(decoder, to, flags);
    return scalar(decoder, to, from, flags);
}

/* Bits of what cvt.pack makes, with its sign; the types of fewer than 8 are modifiers. */
static uint32_t packed_bits(gd_decoder *decoder, bool *is_signed)
{
    bool s4 = gd_has(decoder, GD_MODIFIER_S4), s2 = gd_has(decoder, GD_MODIFIER_S2);
    bool u4 = gd_has(decoder, GD_MODIFIER_U4), u2 = gd_has(decoder, GD_MODIFIER_U2);
    gd_ptx_type to = gd_type_at(decoder, 0);

    *is_signed = s4 || s2 || (!u4 && !u2 && gd_is_signed(to));
    if (s4 || u4 || s2 || u2)
        return s4 || u4 ? 4 : 2;
    return gd_bytes_of(to) * 8;
}

/* cvt.pack.sat.s8.s32.b32 d, a, b, c */
bool gd_decode_cvt_pack(gd_decoder *decoder)
{
    bool is_signed;
    uint32_t bits = packed_bits(decoder, &is_signed), next = bits >= 8;
    gd_ptx_type from = gd_type_at(decoder, next);
    bool shifts = decoder->operand_count == 4;
    gd_slot d, a, b, c = GD_AREA_SINK;

    gd_has(decoder, GD_MODIFIER_SAT);
    gd_type_at(decoder, next + 1);
    if (!gd_source(decoder, decoder->operands[1], from, &a) ||
        !gd_source(decoder, decoder->operands[2], from, &b) ||
        (shifts && !gd_source(decoder, decoder->operands[3], GD_TYPE_B32, &c)) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_saturate_pack);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->b = b;
    code->c = c;
    code->x = (uint8_t)bits;
    code->y = shifts;
    code->flags = is_signed;
    return true;
}
