/* Logic of predicates and by table, and arithmetic with carry. Other arithmetic is regular. */
#include "emulator/decode/decode.h"
#include "emulator/execute/move.h"

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
    const gd_op op = (gd_op)decoder->instruction->op;

    gd_type_at(decoder, 0);
    return predicates(decoder, op == GD_OP_AND  ? GD_COMBINE_AND
                               : op == GD_OP_OR ? GD_COMBINE_OR
                                                : GD_COMBINE_XOR);
}

bool gd_decode_not(gd_decoder *decoder)
{
    gd_slot d, a;
    bool negated;

    gd_type_at(decoder, 0);
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
    bool upper = !gd_has(decoder, GD_MODIFIER_LO) && gd_has(decoder, GD_MODIFIER_HI);
    gd_lanes_op op = (gd_lanes_op)(upper ? high[type] : low[type]);
    uint32_t flags = gd_has(decoder, GD_MODIFIER_CC) ? GD_CARRY_OUT : 0;
    gd_slot d, a, b, c, product = gd_scratch(decoder, 0);

    flags |= decoder->instruction->op == GD_OP_MADC ? GD_CARRY_IN : 0;
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
