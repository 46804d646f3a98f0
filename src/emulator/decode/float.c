/* Floating-point arithmetic. */
#include "emulator/decode/decode.h"

#define NONE GD_TYPE_NONE

/* The operations for f32: round to nearest, the same with ftz, and the one that takes everything
 * from its flags; for f64: round to nearest, and any; for the halves f16, bf16, f16x2, bf16x2 from
 * the first of four. */
typedef struct family {
    uint16_t single, single_ftz, single_any, wide, wide_any, halves;
} family;

static const family add_family = {GD_LANES_ADD_F32, GD_LANES_ADD_FTZ_F32, GD_LANES_ADD_X_F32,
                                  GD_LANES_ADD_F64, GD_LANES_ADD_X_F64,   GD_LANES_ADD_F16};
static const family sub_family = {GD_LANES_SUB_F32, GD_LANES_SUB_FTZ_F32, GD_LANES_SUB_X_F32,
                                  GD_LANES_SUB_F64, GD_LANES_SUB_X_F64,   GD_LANES_SUB_F16};
static const family mul_family = {GD_LANES_MUL_F32, GD_LANES_MUL_FTZ_F32, GD_LANES_MUL_X_F32,
                                  GD_LANES_MUL_F64, GD_LANES_MUL_X_F64,   GD_LANES_MUL_F16};
static const family fma_family = {GD_LANES_FMA_F32, GD_LANES_FMA_FTZ_F32, GD_LANES_FMA_X_F32,
                                  GD_LANES_FMA_F64, GD_LANES_FMA_X_F64,   GD_LANES_FMA_F16};

/* Which of f16, bf16, f16x2, bf16x2 a type is, in the order of GD_HALVES; 4: none. */
static uint32_t half_index(gd_ptx_type type)
{
    switch (type) {
    case GD_TYPE_F16:
        return 0;
    case GD_TYPE_BF16:
        return 1;
    case GD_TYPE_F16X2:
        return 2;
    case GD_TYPE_BF16X2:
        return 3;
    default:
        return 4;
    }
}

static gd_lanes_op choose(const family *from, gd_ptx_type type, uint32_t flags)
{
    if (type == GD_TYPE_F32)
        return (gd_lanes_op)(flags == 0        ? from->single
                             : flags == GD_FTZ ? from->single_ftz
                                               : from->single_any);
    if (type == GD_TYPE_F64)
        return (gd_lanes_op)(flags == 0 ? from->wide : from->wide_any);
    return half_index(type) < 4 && !(flags & GD_ROUND_MASK)
               ? (gd_lanes_op)(from->halves + half_index(type))
               : GD_LANES_NONE;
}

static bool arithmetic(gd_decoder *decoder, const family *from, uint32_t sources)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t flags = gd_float_flags(decoder);
    gd_lanes_op op = choose(from, type, flags);

    if (type == GD_TYPE_F64 && flags & (GD_FTZ | GD_SAT))
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, op, flags, type, type, type, sources > 2 ? type : NONE, NONE);
}

bool gd_decode_float_add(gd_decoder *decoder)
{
    return arithmetic(decoder, &add_family, 2);
}

bool gd_decode_float_sub(gd_decoder *decoder)
{
    return arithmetic(decoder, &sub_family, 2);
}

bool gd_decode_float_mul(gd_decoder *decoder)
{
    return arithmetic(decoder, &mul_family, 2);
}

bool gd_decode_fma(gd_decoder *decoder)
{
    return arithmetic(decoder, &fma_family, 3);
}

bool gd_decode_float_div(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool approximate = gd_has(decoder, GD_MODIFIER_APPROX),
         full = gd_has(decoder, GD_MODIFIER_FULL);
    uint32_t flags = gd_float_flags(decoder);
    gd_lanes_op op = GD_LANES_NONE;

    if (type == GD_TYPE_F32)
        op = approximate     ? GD_LANES_DIV_APPROX_F32
             : flags || full ? GD_LANES_DIV_X_F32
                             : GD_LANES_DIV_F32;
    else if (type == GD_TYPE_F64 && !approximate && !full && !(flags & (GD_FTZ | GD_SAT)))
        op = flags ? GD_LANES_DIV_X_F64 : GD_LANES_DIV_F64;
    return gd_decode_lanes(decoder, op, flags, type, type, type, NONE, NONE);
}

bool gd_decode_rcp(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool approximate = gd_has(decoder, GD_MODIFIER_APPROX);
    uint32_t flags = gd_float_flags(decoder);
    gd_lanes_op op = type == GD_TYPE_F32   ? GD_LANES_RCP_X_F32
                     : type != GD_TYPE_F64 ? GD_LANES_NONE
                     : approximate         ? GD_LANES_RCP_APPROX_F64
                     : flags               ? GD_LANES_RCP_X_F64
                                           : GD_LANES_RCP_F64;

    if (type == GD_TYPE_F64 && approximate != !!(flags & GD_FTZ))
        op = GD_LANES_NONE;
    return gd_decode_lanes(decoder, op, flags, type, type, NONE, NONE, NONE);
}

bool gd_decode_sqrt(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool approximate = gd_has(decoder, GD_MODIFIER_APPROX);
    uint32_t flags = gd_float_flags(decoder);
    gd_lanes_op op = GD_LANES_NONE;

    if (type == GD_TYPE_F32)
        op = flags ? GD_LANES_SQRT_X_F32 : GD_LANES_SQRT_F32;
    else if (type == GD_TYPE_F64 && !approximate && !(flags & GD_FTZ))
        op = flags ? GD_LANES_SQRT_X_F64 : GD_LANES_SQRT_F64;
    return gd_decode_lanes(decoder, op, flags, type, type, NONE, NONE, NONE);
}

bool gd_decode_rsqrt(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t flags = gd_float_flags(decoder);
    gd_lanes_op op = type == GD_TYPE_F32   ? GD_LANES_RSQRT_F32
                     : type != GD_TYPE_F64 ? GD_LANES_NONE
                     : flags & GD_FTZ      ? GD_LANES_RSQRT_APPROX_F64
                                           : GD_LANES_RSQRT_F64;

    if (!gd_has(decoder, GD_MODIFIER_APPROX))
        op = GD_LANES_NONE;
    return gd_decode_lanes(decoder, op, flags, type, type, NONE, NONE, NONE);
}

/* sin, cos, lg2, ex2, tanh: approximations only. */
bool gd_decode_unary_float(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t flags = gd_float_flags(decoder), half = half_index(type);
    gd_lanes_op op = GD_LANES_NONE;

    if (!gd_has(decoder, GD_MODIFIER_APPROX))
        return gd_decode_refuse_form(decoder);
    switch (decoder->instruction->op) {
    case GD_OP_SIN:
        op = type == GD_TYPE_F32 ? GD_LANES_SIN_F32 : GD_LANES_NONE;
        break;
    case GD_OP_COS:
        op = type == GD_TYPE_F32 ? GD_LANES_COS_F32 : GD_LANES_NONE;
        break;
    case GD_OP_LG2:
        op = type == GD_TYPE_F32 ? GD_LANES_LG2_F32 : GD_LANES_NONE;
        break;
    case GD_OP_EX2:
        op = type == GD_TYPE_F32 ? GD_LANES_EX2_F32
             : half < 4          ? (gd_lanes_op)(GD_LANES_EX2_F16 + half)
                                 : GD_LANES_NONE;
        break;
    default:
        op = type == GD_TYPE_F32 ? GD_LANES_TANH_F32
             : half < 4          ? (gd_lanes_op)(GD_LANES_TANH_F16 + half)
                                 : GD_LANES_NONE;
        break;
    }
    return gd_decode_lanes(decoder, op, flags, type, type, NONE, NONE, NONE);
}

static bool sign_operation(gd_decoder *decoder, gd_lanes_op single, gd_lanes_op wide,
                           gd_lanes_op halves)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t flags = gd_has(decoder, GD_MODIFIER_FTZ) ? GD_FTZ : 0, half = half_index(type);
    gd_lanes_op op = type == GD_TYPE_F32   ? single
                     : type == GD_TYPE_F64 ? wide
                     : half < 4            ? (gd_lanes_op)(halves + half)
                                           : GD_LANES_NONE;

    return gd_decode_lanes(decoder, op, flags, type, type, NONE, NONE, NONE);
}

bool gd_decode_float_abs(gd_decoder *decoder)
{
    return sign_operation(decoder, GD_LANES_ABS_F32, GD_LANES_ABS_F64, GD_LANES_ABS_F16);
}

bool gd_decode_float_neg(gd_decoder *decoder)
{
    return sign_operation(decoder, GD_LANES_NEG_F32, GD_LANES_NEG_F64, GD_LANES_NEG_F16);
}

/* min and max; with three inputs they belong to later architectures. */
static bool extreme(gd_decoder *decoder, gd_lanes_op single, gd_lanes_op wide, gd_lanes_op halves)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t flags = gd_float_flags(decoder), half = half_index(type);
    gd_lanes_op op = type == GD_TYPE_F32   ? single
                     : type == GD_TYPE_F64 ? wide
                     : half < 4            ? (gd_lanes_op)(halves + half)
                                           : GD_LANES_NONE;

    if (gd_has(decoder, GD_MODIFIER_XORSIGN)) {
        flags |= GD_XORSIGN;
        flags |= gd_has(decoder, GD_MODIFIER_ABS) ? GD_ABS : 0;
        if (type != GD_TYPE_F32)
            flags |= GD_XORSIGN | GD_ABS;
    }
    if (type == GD_TYPE_F64 && flags)
        op = GD_LANES_NONE;
    return gd_decode_lanes(decoder, op, flags, type, type, type, NONE, NONE);
}

bool gd_decode_float_min(gd_decoder *decoder)
{
    return extreme(decoder, GD_LANES_MIN_F32, GD_LANES_MIN_F64, GD_LANES_MIN_F16);
}

bool gd_decode_float_max(gd_decoder *decoder)
{
    return extreme(decoder, GD_LANES_MAX_F32, GD_LANES_MAX_F64, GD_LANES_MAX_F16);
}

bool gd_decode_copysign(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    gd_lanes_op op = type == GD_TYPE_F32   ? GD_LANES_COPYSIGN_F32
                     : type == GD_TYPE_F64 ? GD_LANES_COPYSIGN_F64
                                           : GD_LANES_NONE;

    return gd_decode_lanes(decoder, op, 0, type, type, type, NONE, NONE);
}

bool gd_decode_testp(gd_decoder *decoder)
{
    static const gd_modifier properties[] = {GD_MODIFIER_FINITE, GD_MODIFIER_INFINITE,
                                             GD_MODIFIER_NUMBER, GD_MODIFIER_NOTANUMBER,
                                             GD_MODIFIER_NORMAL, GD_MODIFIER_SUBNORMAL};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t property = 6;
    gd_slot p, a;

    for (uint32_t i = 0; i < 6; i++) {
        if (gd_has(decoder, properties[i]))
            property = i;
    }
    if (property == 6 || (type != GD_TYPE_F32 && type != GD_TYPE_F64))
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_predicate_target(decoder, decoder->operands[0], &p))
        return false;
    return gd_emit_lanes(decoder, type == GD_TYPE_F32 ? GD_LANES_TESTP_F32 : GD_LANES_TESTP_F64,
                         property, p, a, a, GD_AREA_SINK);
}
