/* Integer arithmetic, shifts and bits. */
#include "emulator/decode/decode.h"
#include "emulator/execute/move.h"

#define NONE GD_TYPE_NONE
#define BY_TYPE static const uint16_t by_type[GD_TYPE_COUNT]

/* One operation for each type, all operands of it. */
static bool same(gd_decoder *decoder, const uint16_t *by_type, uint32_t flags, uint32_t sources)
{
    gd_ptx_type type = gd_type_at(decoder, 0);

    return gd_decode_lanes(decoder, (gd_lanes_op)by_type[type], flags, type, type,
                           sources > 1 ? type : NONE, sources > 2 ? type : NONE, NONE);
}

bool gd_decode_add(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_ADD_16, [GD_TYPE_S16] = GD_LANES_ADD_16,
               [GD_TYPE_U32] = GD_LANES_ADD_32, [GD_TYPE_S32] = GD_LANES_ADD_32,
               [GD_TYPE_U64] = GD_LANES_ADD_64, [GD_TYPE_S64] = GD_LANES_ADD_64};
    gd_ptx_type type = gd_type_at(decoder, 0);

    if (gd_has(decoder, GD_MODIFIER_CC))
        return gd_decode_carry(decoder);
    if (gd_has(decoder, GD_MODIFIER_U16X2) || gd_has(decoder, GD_MODIFIER_S16X2))
        return gd_decode_lanes(decoder, GD_LANES_ADD_16X2, 0, GD_TYPE_B32, GD_TYPE_B32, GD_TYPE_B32,
                               NONE, NONE);
    if (type == GD_TYPE_S32 && gd_has(decoder, GD_MODIFIER_SAT))
        return gd_decode_lanes(decoder, GD_LANES_ADD_SAT_S32, 0, type, type, type, NONE, NONE);
    return by_type[type] ? same(decoder, by_type, 0, 2) : gd_decode_float_add(decoder);
}

bool gd_decode_sub(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_SUB_16, [GD_TYPE_S16] = GD_LANES_SUB_16,
               [GD_TYPE_U32] = GD_LANES_SUB_32, [GD_TYPE_S32] = GD_LANES_SUB_32,
               [GD_TYPE_U64] = GD_LANES_SUB_64, [GD_TYPE_S64] = GD_LANES_SUB_64};
    gd_ptx_type type = gd_type_at(decoder, 0);

    if (gd_has(decoder, GD_MODIFIER_CC))
        return gd_decode_carry(decoder);
    if (type == GD_TYPE_S32 && gd_has(decoder, GD_MODIFIER_SAT))
        return gd_decode_lanes(decoder, GD_LANES_SUB_SAT_S32, 0, type, type, type, NONE, NONE);
    return by_type[type] ? same(decoder, by_type, 0, 2) : gd_decode_float_sub(decoder);
}

/* The type of twice the size. */
static gd_ptx_type widened(gd_ptx_type type)
{
    switch (type) {
    case GD_TYPE_U16:
        return GD_TYPE_U32;
    case GD_TYPE_S16:
        return GD_TYPE_S32;
    case GD_TYPE_U32:
        return GD_TYPE_U64;
    case GD_TYPE_S32:
        return GD_TYPE_S64;
    default:
        return NONE;
    }
}

bool gd_decode_mul(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_MUL_16, [GD_TYPE_S16] = GD_LANES_MUL_16,
               [GD_TYPE_U32] = GD_LANES_MUL_32, [GD_TYPE_S32] = GD_LANES_MUL_32,
               [GD_TYPE_U64] = GD_LANES_MUL_64, [GD_TYPE_S64] = GD_LANES_MUL_64};
    static const uint16_t high[GD_TYPE_COUNT] = {
        [GD_TYPE_U16] = GD_LANES_MUL_HI_U16, [GD_TYPE_S16] = GD_LANES_MUL_HI_S16,
        [GD_TYPE_U32] = GD_LANES_MUL_HI_U32, [GD_TYPE_S32] = GD_LANES_MUL_HI_S32,
        [GD_TYPE_U64] = GD_LANES_MUL_HI_U64, [GD_TYPE_S64] = GD_LANES_MUL_HI_S64};
    static const uint16_t wide[GD_TYPE_COUNT] = {[GD_TYPE_U16] = GD_LANES_MUL_WIDE_U16,
                                                 [GD_TYPE_S16] = GD_LANES_MUL_WIDE_S16,
                                                 [GD_TYPE_U32] = GD_LANES_MUL_WIDE_U32,
                                                 [GD_TYPE_S32] = GD_LANES_MUL_WIDE_S32};
    gd_ptx_type type = gd_type_at(decoder, 0);

    if (!by_type[type])
        return gd_decode_float_mul(decoder);
    if (gd_has(decoder, GD_MODIFIER_WIDE))
        return gd_decode_lanes(decoder, (gd_lanes_op)wide[type], 0, widened(type), type, type, NONE,
                               NONE);
    if (gd_has(decoder, GD_MODIFIER_HI))
        return same(decoder, high, 0, 2);
    return gd_has(decoder, GD_MODIFIER_LO) ? same(decoder, by_type, 0, 2)
                                           : gd_decode_refuse_form(decoder);
}

bool gd_decode_mad(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_MAD_16, [GD_TYPE_S16] = GD_LANES_MAD_16,
               [GD_TYPE_U32] = GD_LANES_MAD_32, [GD_TYPE_S32] = GD_LANES_MAD_32,
               [GD_TYPE_U64] = GD_LANES_MAD_64, [GD_TYPE_S64] = GD_LANES_MAD_64};
    static const uint16_t high[GD_TYPE_COUNT] = {
        [GD_TYPE_U16] = GD_LANES_MAD_HI_U16, [GD_TYPE_S16] = GD_LANES_MAD_HI_S16,
        [GD_TYPE_U32] = GD_LANES_MAD_HI_U32, [GD_TYPE_S32] = GD_LANES_MAD_HI_S32,
        [GD_TYPE_U64] = GD_LANES_MAD_HI_U64, [GD_TYPE_S64] = GD_LANES_MAD_HI_S64};
    static const uint16_t wide[GD_TYPE_COUNT] = {[GD_TYPE_U16] = GD_LANES_MAD_WIDE_U16,
                                                 [GD_TYPE_S16] = GD_LANES_MAD_WIDE_S16,
                                                 [GD_TYPE_U32] = GD_LANES_MAD_WIDE_U32,
                                                 [GD_TYPE_S32] = GD_LANES_MAD_WIDE_S32};
    gd_ptx_type type = gd_type_at(decoder, 0), twice = widened(type);

    if (!by_type[type])
        return gd_decode_fma(decoder);
    if (gd_has(decoder, GD_MODIFIER_CC))
        return gd_decode_madc(decoder);
    if (gd_has(decoder, GD_MODIFIER_WIDE))
        return gd_decode_lanes(decoder, (gd_lanes_op)wide[type], 0, twice, type, type, twice, NONE);
    if (gd_has(decoder, GD_MODIFIER_LO))
        return same(decoder, by_type, 0, 3);
    if (!gd_has(decoder, GD_MODIFIER_HI))
        return gd_decode_refuse_form(decoder);
    if (type == GD_TYPE_S32 && gd_has(decoder, GD_MODIFIER_SAT))
        return gd_decode_lanes(decoder, GD_LANES_MAD_HI_SAT_S32, 0, type, type, type, type, NONE);
    return same(decoder, high, 0, 3);
}

bool gd_decode_mul24(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool is_signed = type == GD_TYPE_S32, high = gd_has(decoder, GD_MODIFIER_HI);

    if ((type != GD_TYPE_U32 && !is_signed) || high == gd_has(decoder, GD_MODIFIER_LO))
        return gd_decode_refuse_form(decoder);
    gd_lanes_op op = high ? (is_signed ? GD_LANES_MUL24_HI_S : GD_LANES_MUL24_HI_U)
                          : (is_signed ? GD_LANES_MUL24_LO_S : GD_LANES_MUL24_LO_U);
    return gd_decode_lanes(decoder, op, 0, type, type, type, NONE, NONE);
}

bool gd_decode_mad24(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool is_signed = type == GD_TYPE_S32, high = gd_has(decoder, GD_MODIFIER_HI);

    if ((type != GD_TYPE_U32 && !is_signed) || high == gd_has(decoder, GD_MODIFIER_LO))
        return gd_decode_refuse_form(decoder);
    gd_lanes_op op = high ? (is_signed ? GD_LANES_MAD24_HI_S : GD_LANES_MAD24_HI_U)
                          : (is_signed ? GD_LANES_MAD24_LO_S : GD_LANES_MAD24_LO_U);
    if (high && is_signed && gd_has(decoder, GD_MODIFIER_SAT))
        op = GD_LANES_MAD24_HI_SAT_S;
    return gd_decode_lanes(decoder, op, 0, type, type, type, type, NONE);
}

bool gd_decode_sad(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_SAD_U16, [GD_TYPE_S16] = GD_LANES_SAD_S16,
               [GD_TYPE_U32] = GD_LANES_SAD_U32, [GD_TYPE_S32] = GD_LANES_SAD_S32,
               [GD_TYPE_U64] = GD_LANES_SAD_U64, [GD_TYPE_S64] = GD_LANES_SAD_S64};

    return same(decoder, by_type, 0, 3);
}

bool gd_decode_div(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_DIV_U16, [GD_TYPE_S16] = GD_LANES_DIV_S16,
               [GD_TYPE_U32] = GD_LANES_DIV_U32, [GD_TYPE_S32] = GD_LANES_DIV_S32,
               [GD_TYPE_U64] = GD_LANES_DIV_U64, [GD_TYPE_S64] = GD_LANES_DIV_S64};

    return by_type[gd_type_at(decoder, 0)] ? same(decoder, by_type, 0, 2)
                                           : gd_decode_float_div(decoder);
}

bool gd_decode_rem(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_REM_U16, [GD_TYPE_S16] = GD_LANES_REM_S16,
               [GD_TYPE_U32] = GD_LANES_REM_U32, [GD_TYPE_S32] = GD_LANES_REM_S32,
               [GD_TYPE_U64] = GD_LANES_REM_U64, [GD_TYPE_S64] = GD_LANES_REM_S64};

    return same(decoder, by_type, 0, 2);
}

bool gd_decode_abs(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_S16] = GD_LANES_ABS_S16,
               [GD_TYPE_S32] = GD_LANES_ABS_S32,
               [GD_TYPE_S64] = GD_LANES_ABS_S64};

    return by_type[gd_type_at(decoder, 0)] ? same(decoder, by_type, 0, 1)
                                           : gd_decode_float_abs(decoder);
}

bool gd_decode_neg(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_S16] = GD_LANES_NEG_S16,
               [GD_TYPE_S32] = GD_LANES_NEG_S32,
               [GD_TYPE_S64] = GD_LANES_NEG_S64};

    return by_type[gd_type_at(decoder, 0)] ? same(decoder, by_type, 0, 1)
                                           : gd_decode_float_neg(decoder);
}

/* .relu behind min or max of s32 and s16x2. */
static bool relu(gd_decoder *decoder, gd_lanes_op op)
{
    gd_slot d;

    return gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d) &&
           gd_emit_lanes(decoder, op, 0, d, d, GD_AREA_SINK, GD_AREA_SINK);
}

static bool extreme(gd_decoder *decoder, const uint16_t *by_type, gd_lanes_op pairs_u,
                    gd_lanes_op pairs_s)
{
    bool unsigned_pairs = gd_has(decoder, GD_MODIFIER_U16X2),
         signed_pairs = gd_has(decoder, GD_MODIFIER_S16X2);
    gd_ptx_type type = gd_type_at(decoder, 0);

    if (unsigned_pairs || signed_pairs) {
        if (!gd_decode_lanes(decoder, signed_pairs ? pairs_s : pairs_u, 0, GD_TYPE_B32, GD_TYPE_B32,
                             GD_TYPE_B32, NONE, NONE))
            return false;
        return !signed_pairs || !gd_has(decoder, GD_MODIFIER_RELU) ||
               relu(decoder, GD_LANES_RELU_S16X2);
    }
    return same(decoder, by_type, 0, 2) &&
           (type != GD_TYPE_S32 || !gd_has(decoder, GD_MODIFIER_RELU) ||
            relu(decoder, GD_LANES_RELU_S32));
}

bool gd_decode_min(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_MIN_U16, [GD_TYPE_S16] = GD_LANES_MIN_S16,
               [GD_TYPE_U32] = GD_LANES_MIN_U32, [GD_TYPE_S32] = GD_LANES_MIN_S32,
               [GD_TYPE_U64] = GD_LANES_MIN_U64, [GD_TYPE_S64] = GD_LANES_MIN_S64};
    gd_ptx_type type = gd_type_at(decoder, 0);

    return by_type[type] || type == NONE
               ? extreme(decoder, by_type, GD_LANES_MIN_U16X2, GD_LANES_MIN_S16X2)
               : gd_decode_float_min(decoder);
}

bool gd_decode_max(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U16] = GD_LANES_MAX_U16, [GD_TYPE_S16] = GD_LANES_MAX_S16,
               [GD_TYPE_U32] = GD_LANES_MAX_U32, [GD_TYPE_S32] = GD_LANES_MAX_S32,
               [GD_TYPE_U64] = GD_LANES_MAX_U64, [GD_TYPE_S64] = GD_LANES_MAX_S64};
    gd_ptx_type type = gd_type_at(decoder, 0);

    return by_type[type] || type == NONE
               ? extreme(decoder, by_type, GD_LANES_MAX_U16X2, GD_LANES_MAX_S16X2)
               : gd_decode_float_max(decoder);
}

/* ---- logic ---- */

/* and, or, xor of predicates. */
static bool predicates(gd_decoder *decoder, uint8_t combine)
{
    gd_slot d, a, b;
    bool not_a, not_b;

    if (!gd_predicate_source(decoder, decoder->operands[1], &a, &not_a) ||
        !gd_predicate_source(decoder, decoder->operands[2], &b, &not_b) ||
        !gd_predicate_target(decoder, decoder->operands[0], &d))
        return gd_decode_refuse_form(decoder);
    gd_code *code = gd_emit(decoder, gd_run_predicates);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->b = b;
    code->x = combine;
    code->flags = (uint16_t)((not_a ? 1 : 0) | (not_b ? 2 : 0));
    return true;
}

bool gd_decode_logic(gd_decoder *decoder)
{
    static const uint16_t ops[3][2] = {{GD_LANES_AND_32, GD_LANES_AND_64},
                                       {GD_LANES_OR_32, GD_LANES_OR_64},
                                       {GD_LANES_XOR_32, GD_LANES_XOR_64}};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t row = decoder->instruction->op == GD_OP_AND  ? 0
                   : decoder->instruction->op == GD_OP_OR ? 1
                                                          : 2;

    if (type == GD_TYPE_PRED)
        return predicates(decoder, (uint8_t)(GD_COMBINE_AND + row));
    if (type != GD_TYPE_B16 && type != GD_TYPE_B32 && type != GD_TYPE_B64)
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, (gd_lanes_op)ops[row][type == GD_TYPE_B64], 0, type, type, type,
                           NONE, NONE);
}

bool gd_decode_not(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B16] = GD_LANES_NOT_16,
               [GD_TYPE_B32] = GD_LANES_NOT_32,
               [GD_TYPE_B64] = GD_LANES_NOT_64};
    gd_slot d, a;
    bool negated;

    if (gd_type_at(decoder, 0) != GD_TYPE_PRED)
        return same(decoder, by_type, 0, 1);
    if (!gd_predicate_source(decoder, decoder->operands[1], &a, &negated) ||
        !gd_predicate_target(decoder, decoder->operands[0], &d))
        return gd_decode_refuse_form(decoder);
    gd_code *code = gd_emit(decoder, gd_run_predicates);
    if (!code)
        return false;
    code->d = d;
    code->a = code->b = a;
    code->x = GD_COMBINE_AND;
    code->flags = negated ? 0 : 3;
    return true;
}

bool gd_decode_cnot(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B16] = GD_LANES_CNOT_16,
               [GD_TYPE_B32] = GD_LANES_CNOT_32,
               [GD_TYPE_B64] = GD_LANES_CNOT_64};

    return same(decoder, by_type, 0, 1);
}

static bool shift(gd_decoder *decoder, const uint16_t *by_type)
{
    gd_ptx_type type = gd_type_at(decoder, 0);

    return gd_decode_lanes(decoder, (gd_lanes_op)by_type[type], 0, type, type, GD_TYPE_U32, NONE,
                           NONE);
}

bool gd_decode_shl(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B16] = GD_LANES_SHL_16,
               [GD_TYPE_B32] = GD_LANES_SHL_32,
               [GD_TYPE_B64] = GD_LANES_SHL_64};

    return shift(decoder, by_type);
}

bool gd_decode_shr(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B16] = GD_LANES_SHR_U16, [GD_TYPE_B32] = GD_LANES_SHR_U32,
               [GD_TYPE_B64] = GD_LANES_SHR_U64, [GD_TYPE_U16] = GD_LANES_SHR_U16,
               [GD_TYPE_U32] = GD_LANES_SHR_U32, [GD_TYPE_U64] = GD_LANES_SHR_U64,
               [GD_TYPE_S16] = GD_LANES_SHR_S16, [GD_TYPE_S32] = GD_LANES_SHR_S32,
               [GD_TYPE_S64] = GD_LANES_SHR_S64};

    return shift(decoder, by_type);
}

bool gd_decode_shf(gd_decoder *decoder)
{
    bool left = gd_has(decoder, GD_MODIFIER_L), right = gd_has(decoder, GD_MODIFIER_R);
    bool wrap = gd_has(decoder, GD_MODIFIER_WRAP), clamp = gd_has(decoder, GD_MODIFIER_CLAMP);
    gd_ptx_type type = gd_type_at(decoder, 0);

    if (left == right || wrap == clamp || type != GD_TYPE_B32)
        return gd_decode_refuse_form(decoder);
    gd_lanes_op op = left ? (wrap ? GD_LANES_SHF_L_WRAP : GD_LANES_SHF_L_CLAMP)
                          : (wrap ? GD_LANES_SHF_R_WRAP : GD_LANES_SHF_R_CLAMP);
    return gd_decode_lanes(decoder, op, 0, type, type, type, GD_TYPE_U32, NONE);
}

/* lop3.b32 d, a, b, c, table; with .BoolOp and a predicate it is lop3.or.b32 d|p, a, b, c, table,
 * q. */
bool gd_decode_lop3(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool is_or = gd_has(decoder, GD_MODIFIER_OR), is_and = gd_has(decoder, GD_MODIFIER_AND),
         not_q = false;
    uint32_t d_operand = decoder->operands[0];
    gd_slot d, p = GD_AREA_SINK, q = GD_AREA_SINK, s[3], zero;
    uint64_t table;

    if (type != GD_TYPE_B32 || decoder->operand_count != (is_or || is_and ? 6u : 5u))
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < 3; i++) {
        if (!gd_source(decoder, decoder->operands[1 + i], type, &s[i]))
            return false;
    }
    if (!gd_known(decoder, decoder->operands[4], &table))
        return false;
    bool pair = gd_operand_at(decoder, d_operand)->kind == GD_OPERAND_PAIR;
    if (pair != (is_or || is_and))
        return gd_decode_refuse_form(decoder);
    if (pair && (!gd_predicate_target(decoder, gd_operand_at(decoder, d_operand + 1)->end, &p) ||
                 !gd_predicate_source(decoder, decoder->operands[5], &q, &not_q)))
        return false;
    if (!gd_target(decoder, pair ? d_operand + 1 : d_operand, type, &d) ||
        !gd_constant(decoder, 4, 0, &zero))
        return false;
    gd_slot result = pair ? gd_scratch(decoder, 0) : d;
    if (!gd_emit_lanes(decoder, GD_LANES_LOP3, (uint32_t)table & 0xff, result, s[0], s[1], s[2]))
        return false;
    if (!pair)
        return true;
    gd_code *code = gd_emit_lanes(decoder, GD_LANES_NE_32, 0, p, result, zero, q);
    if (!code)
        return false;
    code->x = is_or ? GD_COMBINE_OR : GD_COMBINE_AND;
    code->y = not_q;
    return gd_emit_lanes(decoder, GD_LANES_MOV_32, 0, d, result, GD_AREA_SINK, GD_AREA_SINK);
}

bool gd_decode_prmt(gd_decoder *decoder)
{
    static const gd_modifier modes[] = {GD_MODIFIER_F4E, GD_MODIFIER_B4E, GD_MODIFIER_RC8,
                                        GD_MODIFIER_ECL, GD_MODIFIER_ECR, GD_MODIFIER_RC16};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t mode = 0;

    for (uint32_t i = 0; i < 6; i++) {
        if (gd_has(decoder, modes[i]))
            mode = i + 1;
    }
    if (type != GD_TYPE_B32)
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, GD_LANES_PRMT, mode, type, type, type, type, NONE);
}

/* ---- bits ---- */

static bool counting(gd_decoder *decoder, const uint16_t *by_type, uint32_t flags)
{
    gd_ptx_type type = gd_type_at(decoder, 0);

    return gd_decode_lanes(decoder, (gd_lanes_op)by_type[type], flags, GD_TYPE_U32, type, NONE,
                           NONE, NONE);
}

bool gd_decode_popc(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B32] = GD_LANES_POPC_32, [GD_TYPE_B64] = GD_LANES_POPC_64};

    return counting(decoder, by_type, 0);
}

bool gd_decode_clz(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B32] = GD_LANES_CLZ_32, [GD_TYPE_B64] = GD_LANES_CLZ_64};

    return counting(decoder, by_type, 0);
}

bool gd_decode_bfind(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U32] = GD_LANES_BFIND_U32,
               [GD_TYPE_S32] = GD_LANES_BFIND_S32,
               [GD_TYPE_U64] = GD_LANES_BFIND_U64,
               [GD_TYPE_S64] = GD_LANES_BFIND_S64};

    return counting(decoder, by_type, gd_has(decoder, GD_MODIFIER_SHIFTAMT) ? 1 : 0);
}

bool gd_decode_brev(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B32] = GD_LANES_BREV_32, [GD_TYPE_B64] = GD_LANES_BREV_64};

    return same(decoder, by_type, 0, 1);
}

bool gd_decode_bfe(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_U32] = GD_LANES_BFE_U32,
               [GD_TYPE_S32] = GD_LANES_BFE_S32,
               [GD_TYPE_U64] = GD_LANES_BFE_U64,
               [GD_TYPE_S64] = GD_LANES_BFE_S64};
    gd_ptx_type type = gd_type_at(decoder, 0);

    return gd_decode_lanes(decoder, (gd_lanes_op)by_type[type], 0, type, type, GD_TYPE_U32,
                           GD_TYPE_U32, NONE);
}

bool gd_decode_bfi(gd_decoder *decoder)
{
    BY_TYPE = {[GD_TYPE_B32] = GD_LANES_BFI_32, [GD_TYPE_B64] = GD_LANES_BFI_64};
    gd_ptx_type type = gd_type_at(decoder, 0);

    return gd_decode_lanes(decoder, (gd_lanes_op)by_type[type], 0, type, type, type, GD_TYPE_U32,
                           GD_TYPE_U32);
}

bool gd_decode_fns(gd_decoder *decoder)
{
    if (gd_type_at(decoder, 0) != GD_TYPE_B32)
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, GD_LANES_FNS, 0, GD_TYPE_B32, GD_TYPE_B32, GD_TYPE_B32,
                           GD_TYPE_S32, NONE);
}

static uint32_t signs(gd_decoder *decoder)
{
    return (gd_type_at(decoder, 0) == GD_TYPE_S32 ? 1 : 0) |
           (gd_type_at(decoder, 1) == GD_TYPE_S32 ? 2 : 0);
}

bool gd_decode_dp4a(gd_decoder *decoder)
{
    return gd_decode_lanes(decoder, GD_LANES_DP4A, signs(decoder), GD_TYPE_B32, GD_TYPE_B32,
                           GD_TYPE_B32, GD_TYPE_B32, NONE);
}

bool gd_decode_dp2a(gd_decoder *decoder)
{
    uint32_t high = gd_has(decoder, GD_MODIFIER_HI) ? 4 : 0;

    if (!high && !gd_has(decoder, GD_MODIFIER_LO))
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, GD_LANES_DP2A, signs(decoder) | high, GD_TYPE_B32, GD_TYPE_B32,
                           GD_TYPE_B32, GD_TYPE_B32, NONE);
}

bool gd_decode_bmsk(gd_decoder *decoder)
{
    bool wrap = gd_has(decoder, GD_MODIFIER_WRAP);

    if (wrap == gd_has(decoder, GD_MODIFIER_CLAMP) || gd_type_at(decoder, 0) != GD_TYPE_B32)
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, GD_LANES_BMSK, wrap, GD_TYPE_B32, GD_TYPE_B32, GD_TYPE_B32,
                           NONE, NONE);
}

bool gd_decode_szext(gd_decoder *decoder)
{
    bool wrap = gd_has(decoder, GD_MODIFIER_WRAP);
    gd_ptx_type type = gd_type_at(decoder, 0);

    if (wrap == gd_has(decoder, GD_MODIFIER_CLAMP) || (type != GD_TYPE_U32 && type != GD_TYPE_S32))
        return gd_decode_refuse_form(decoder);
    return gd_decode_lanes(decoder, GD_LANES_SZEXT,
                           (wrap ? 1u : 0u) | (type == GD_TYPE_S32 ? 2u : 0u), type, type,
                           GD_TYPE_U32, NONE, NONE);
}

/* ---- carries ---- */

static gd_code *emit_carry(gd_decoder *decoder, uint32_t flags, uint32_t bytes)
{
    gd_code *code = gd_emit(decoder, gd_run_carry);

    if (code) {
        code->flags = (uint16_t)flags;
        code->bytes = (uint8_t)bytes;
    }
    return code;
}

/* add.cc, addc, sub.cc, subc. */
bool gd_decode_carry(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    gd_op op = (gd_op)decoder->instruction->op;
    uint32_t bytes = gd_bytes_of(type), flags = gd_has(decoder, GD_MODIFIER_CC) ? GD_CARRY_OUT : 0;
    gd_slot d, a, b;

    flags |= op == GD_OP_ADDC || op == GD_OP_SUBC ? GD_CARRY_IN : 0;
    flags |= op == GD_OP_SUB || op == GD_OP_SUBC ? GD_CARRY_SUB : 0;
    if ((bytes != 4 && bytes != 8) || gd_is_float(type))
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_source(decoder, decoder->operands[2], type, &b) ||
        !gd_target(decoder, decoder->operands[0], type, &d))
        return false;
    gd_code *code = emit_carry(decoder, flags, bytes);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->b = b;
    return true;
}

/* mad.cc, madc: the product's half is made first, then added with carry. */
bool gd_decode_madc(gd_decoder *decoder)
{
    static const uint16_t low[GD_TYPE_COUNT] = {[GD_TYPE_U32] = GD_LANES_MUL_32,
                                                [GD_TYPE_S32] = GD_LANES_MUL_32,
                                                [GD_TYPE_U64] = GD_LANES_MUL_64,
                                                [GD_TYPE_S64] = GD_LANES_MUL_64};
    static const uint16_t high[GD_TYPE_COUNT] = {[GD_TYPE_U32] = GD_LANES_MUL_HI_U32,
                                                 [GD_TYPE_S32] = GD_LANES_MUL_HI_S32,
                                                 [GD_TYPE_U64] = GD_LANES_MUL_HI_U64,
                                                 [GD_TYPE_S64] = GD_LANES_MUL_HI_S64};
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool upper = gd_has(decoder, GD_MODIFIER_HI);
    gd_lanes_op op = (gd_lanes_op)(upper ? high[type] : low[type]);
    uint32_t flags = gd_has(decoder, GD_MODIFIER_CC) ? GD_CARRY_OUT : 0;
    gd_slot d, a, b, c, product = gd_scratch(decoder, 0);

    flags |= decoder->instruction->op == GD_OP_MADC ? GD_CARRY_IN : 0;
    if (!op || upper == gd_has(decoder, GD_MODIFIER_LO))
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_source(decoder, decoder->operands[2], type, &b) ||
        !gd_source(decoder, decoder->operands[3], type, &c) ||
        !gd_target(decoder, decoder->operands[0], type, &d) ||
        !gd_emit_lanes(decoder, op, 0, product, a, b, GD_AREA_SINK))
        return false;
    gd_code *code = emit_carry(decoder, flags, gd_bytes_of(type));
    if (!code)
        return false;
    code->d = d;
    code->a = product;
    code->b = c;
    return true;
}
