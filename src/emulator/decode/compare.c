/* Comparisons: setp, set, and what lop3 makes a predicate of. */
#include "emulator/decode/decode.h"
#include "emulator/execute/lanes.h"

/* A comparison with its operations: of integers of 2, 4 and 8 bytes, of f16 and bf16, f32, f32 with
 * .ftz and f64. One without operations of its own swaps its operands. */
typedef struct comparison {
    gd_modifier_id modifier;
    bool swaps;
    uint16_t unsigned_ops[3], signed_ops[3], float_ops[4];
} comparison;

#define SIZES(name)                                                                                \
    {                                                                                              \
        GD_LANES_##name##16, GD_LANES_##name##32, GD_LANES_##name##64                              \
    }
#define EQUAL(name) SIZES(name##_), SIZES(name##_)
#define ORDER(name) SIZES(name##_U), SIZES(name##_S)
#define FLOAT(name)                                                                                \
    {                                                                                              \
        GD_LANES_##name##_HALF, GD_LANES_##name##_F32, GD_LANES_##name##_FTZ_F32,                  \
            GD_LANES_##name##_F64                                                                  \
    }

static const comparison comparisons[] = {
    {GD_MODIFIER_EQ, false, EQUAL(EQ), FLOAT(EQ)},
    {GD_MODIFIER_NE, false, EQUAL(NE), FLOAT(NE)},
    {GD_MODIFIER_LT, false, ORDER(LT), FLOAT(LT)},
    {GD_MODIFIER_GT, true, ORDER(LT), FLOAT(LT)},
    {GD_MODIFIER_LE, false, ORDER(LE), FLOAT(LE)},
    {GD_MODIFIER_GE, true, ORDER(LE), FLOAT(LE)},
    {GD_MODIFIER_LO, false, ORDER(LT), {0}},
    {GD_MODIFIER_HI, true, ORDER(LT), {0}},
    {GD_MODIFIER_LS, false, ORDER(LE), {0}},
    {GD_MODIFIER_HS, true, ORDER(LE), {0}},
    {GD_MODIFIER_EQU, false, {0}, {0}, FLOAT(EQU)},
    {GD_MODIFIER_NEU, false, {0}, {0}, FLOAT(NEU)},
    {GD_MODIFIER_LTU, false, {0}, {0}, FLOAT(LTU)},
    {GD_MODIFIER_GTU, true, {0}, {0}, FLOAT(LTU)},
    {GD_MODIFIER_LEU, false, {0}, {0}, FLOAT(LEU)},
    {GD_MODIFIER_GEU, true, {0}, {0}, FLOAT(LEU)},
    {GD_MODIFIER_NUM, false, {0}, {0}, FLOAT(NUM)},
    {GD_MODIFIER_IS_NAN, false, {0}, {0}, FLOAT(NAN)},
};

typedef struct compared {
    const comparison *how;
    gd_ptx_type type;
    bool halves, ftz, negated;
    uint8_t combine; /* GD_COMBINE_*, with predicate c */
    gd_slot a, b, c;
} compared;

/* The comparison of operands 1 and 2, and the predicate behind them that .and, .or and .xor
 * combine it with. */
static bool read_compared(gd_decoder *decoder, gd_ptx_type type, compared *into)
{
    *into = (compared){.type = type,
                       .halves = type == GD_TYPE_F16X2 || type == GD_TYPE_BF16X2,
                       .ftz = gd_has(decoder, GD_MODIFIER_FTZ),
                       .combine = gd_has(decoder, GD_MODIFIER_AND)   ? GD_COMBINE_AND
                                  : gd_has(decoder, GD_MODIFIER_OR)  ? GD_COMBINE_OR
                                  : gd_has(decoder, GD_MODIFIER_XOR) ? GD_COMBINE_XOR
                                                                     : GD_COMBINE_NONE,
                       .c = GD_AREA_SINK};
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (gd_has(decoder, comparisons[i].modifier))
            into->how = &comparisons[i];
    }
    return into->how && gd_source(decoder, decoder->operands[1], type, &into->a) &&
           gd_source(decoder, decoder->operands[2], type, &into->b) &&
           (into->combine == GD_COMBINE_NONE ||
            gd_predicate_source(decoder, decoder->operands[3], &into->c, &into->negated));
}

static uint16_t find_op(const compared *is)
{
    const comparison *how = is->how;

    switch (is->type) {
    case GD_TYPE_F32:
        return how->float_ops[is->ftz ? 2 : 1];
    case GD_TYPE_F64:
        return how->float_ops[3];
    case GD_TYPE_F16:
    case GD_TYPE_BF16:
    case GD_TYPE_F16X2:
    case GD_TYPE_BF16X2:
        return how->float_ops[0];
    default:
        return (gd_is_signed(is->type) ? how->signed_ops
                                       : how->unsigned_ops)[gd_bytes_of(is->type) / 4];
    }
}

/* Into predicates p, and q where it does not hold. */
static bool emit_compare(gd_decoder *decoder, const compared *is, bool upper, gd_slot p, gd_slot q)
{
    const bool bfloat = is->type == GD_TYPE_BF16 || is->type == GD_TYPE_BF16X2;
    const uint32_t flags = (is->ftz ? GD_FTZ : 0) | (bfloat ? GD_COMPARES_BFLOAT : 0) |
                           (upper ? GD_COMPARES_UPPER : 0);
    gd_code *code =
        gd_emit_lanes(decoder, (gd_lanes_op)find_op(is), flags, p, is->how->swaps ? is->b : is->a,
                      is->how->swaps ? is->a : is->b, is->c);

    if (!code)
        return false;
    code->e = q;
    code->x = is->combine;
    code->y = is->negated;
    return true;
}

/* p|q of halves are the lower and the upper one. */
static bool emit_halves(gd_decoder *decoder, const compared *is, gd_slot lower, gd_slot upper)
{
    return emit_compare(decoder, is, false, lower, GD_AREA_SINK) &&
           emit_compare(decoder, is, true, upper, GD_AREA_SINK);
}

bool gd_decode_setp(gd_decoder *decoder)
{
    uint32_t target = decoder->operands[0];
    bool pair = gd_operand_at(decoder, target)->kind == GD_OPERAND_PAIR;
    gd_slot p, q = GD_AREA_SINK;
    compared is;

    if (!read_compared(decoder, gd_type_at(decoder, 0), &is) ||
        !gd_predicate_target(decoder, pair ? target + 1 : target, &p) ||
        (pair && !gd_predicate_target(decoder, gd_operand_at(decoder, target + 1)->end, &q)))
        return false;
    return is.halves ? emit_halves(decoder, &is, p, q) : emit_compare(decoder, &is, false, p, q);
}

/* What set gives where the comparison holds: all ones, or 1.0 for a floating-point result (PTX ISA
 * 9.7.6.1, 9.7.7.1). */
static uint64_t set_value(gd_ptx_type to, bool halves)
{
    switch (to) {
    case GD_TYPE_F32:
        return gd_bits(1.0f);
    case GD_TYPE_F16:
    case GD_TYPE_F16X2:
        return 0x3c00;
    case GD_TYPE_BF16:
    case GD_TYPE_BF16X2:
        return 0x3f80;
    default:
        return halves || gd_bytes_of(to) == 2 ? UINT16_MAX : UINT32_MAX;
    }
}

bool gd_decode_set(gd_decoder *decoder)
{
    gd_ptx_type to = gd_type_at(decoder, 0);
    gd_slot d, yes, no, low = gd_scratch(decoder, 0), high = gd_scratch(decoder, 1),
                        p = gd_scratch(decoder, 2), q = gd_scratch(decoder, 3);
    compared is;

    if (!read_compared(decoder, gd_type_at(decoder, 1), &is) ||
        !gd_constant(decoder, 4, set_value(to, is.halves), &yes) ||
        !gd_constant(decoder, 4, 0, &no) ||
        !gd_target(decoder, decoder->operands[0], is.halves ? GD_TYPE_B32 : to, &d))
        return false;
    if (!is.halves)
        return emit_compare(decoder, &is, false, p, GD_AREA_SINK) &&
               gd_emit_lanes(decoder, GD_LANES_SELP_32, 0, d, yes, no, p);
    return emit_halves(decoder, &is, p, q) &&
           gd_emit_lanes(decoder, GD_LANES_SELP_32, 0, low, yes, no, p) &&
           gd_emit_lanes(decoder, GD_LANES_SELP_32, 0, high, yes, no, q) &&
           gd_emit_lanes(decoder, GD_LANES_JOIN_HALVES, 0, d, low, high, GD_AREA_SINK);
}

/* lop3.or.b32 d|p, a, b, c, table, q */
bool gd_decode_lop3(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool is_or = gd_has(decoder, GD_MODIFIER_OR), not_q = false;
    uint32_t pair = decoder->operands[0];
    gd_slot d, p, q, s[3], zero, result = gd_scratch(decoder, 0);
    uint64_t table;

    gd_has(decoder, GD_MODIFIER_AND);
    for (uint32_t i = 0; i < 3; i++) {
        if (!gd_source(decoder, decoder->operands[1 + i], type, &s[i]))
            return false;
    }
    if (!gd_known(decoder, decoder->operands[4], &table) ||
        !gd_predicate_target(decoder, gd_operand_at(decoder, pair + 1)->end, &p) ||
        !gd_predicate_source(decoder, decoder->operands[5], &q, &not_q) ||
        !gd_target(decoder, pair + 1, type, &d) || !gd_constant(decoder, 4, 0, &zero) ||
        !gd_emit_lanes(decoder, GD_LANES_LOP3, (uint32_t)table & 0xff, result, s[0], s[1], s[2]))
        return false;
    gd_code *code = gd_emit_lanes(decoder, GD_LANES_NE_32, 0, p, result, zero, q);
    if (!code)
        return false;
    code->x = is_or ? GD_COMBINE_OR : GD_COMBINE_AND;
    code->y = not_q;
    return gd_emit_lanes(decoder, GD_LANES_MOV_32, 0, d, result, GD_AREA_SINK, GD_AREA_SINK);
}
