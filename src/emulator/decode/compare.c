/* Comparisons and what chooses by them. */
#include "emulator/decode/decode.h"
#include "emulator/execute/move.h"

/* A comparison with its operation by kind of type; one without an operation of its own swaps its
 * operands. */
typedef struct comparison {
    gd_modifier_id modifier;
    bool swaps;
    uint16_t bits16, bits32, bits64, u16, u32, u64, s16, s32, s64, f32, f64;
} comparison;

static const comparison comparisons[] = {
    {GD_MODIFIER_EQ, false, GD_LANES_EQ_16, GD_LANES_EQ_32, GD_LANES_EQ_64, GD_LANES_EQ_16,
     GD_LANES_EQ_32, GD_LANES_EQ_64, GD_LANES_EQ_16, GD_LANES_EQ_32, GD_LANES_EQ_64,
     GD_LANES_EQ_F32, GD_LANES_EQ_F64},
    {GD_MODIFIER_NE, false, GD_LANES_NE_16, GD_LANES_NE_32, GD_LANES_NE_64, GD_LANES_NE_16,
     GD_LANES_NE_32, GD_LANES_NE_64, GD_LANES_NE_16, GD_LANES_NE_32, GD_LANES_NE_64,
     GD_LANES_NE_F32, GD_LANES_NE_F64},
    {GD_MODIFIER_LT, false, 0, 0, 0, GD_LANES_LT_U16, GD_LANES_LT_U32, GD_LANES_LT_U64,
     GD_LANES_LT_S16, GD_LANES_LT_S32, GD_LANES_LT_S64, GD_LANES_LT_F32, GD_LANES_LT_F64},
    {GD_MODIFIER_GT, true, 0, 0, 0, GD_LANES_LT_U16, GD_LANES_LT_U32, GD_LANES_LT_U64,
     GD_LANES_LT_S16, GD_LANES_LT_S32, GD_LANES_LT_S64, GD_LANES_LT_F32, GD_LANES_LT_F64},
    {GD_MODIFIER_LE, false, 0, 0, 0, GD_LANES_LE_U16, GD_LANES_LE_U32, GD_LANES_LE_U64,
     GD_LANES_LE_S16, GD_LANES_LE_S32, GD_LANES_LE_S64, GD_LANES_LE_F32, GD_LANES_LE_F64},
    {GD_MODIFIER_GE, true, 0, 0, 0, GD_LANES_LE_U16, GD_LANES_LE_U32, GD_LANES_LE_U64,
     GD_LANES_LE_S16, GD_LANES_LE_S32, GD_LANES_LE_S64, GD_LANES_LE_F32, GD_LANES_LE_F64},
    {GD_MODIFIER_LO, false, 0, 0, 0, GD_LANES_LT_U16, GD_LANES_LT_U32, GD_LANES_LT_U64, 0, 0, 0, 0,
     0},
    {GD_MODIFIER_HI, true, 0, 0, 0, GD_LANES_LT_U16, GD_LANES_LT_U32, GD_LANES_LT_U64, 0, 0, 0, 0,
     0},
    {GD_MODIFIER_LS, false, 0, 0, 0, GD_LANES_LE_U16, GD_LANES_LE_U32, GD_LANES_LE_U64, 0, 0, 0, 0,
     0},
    {GD_MODIFIER_HS, true, 0, 0, 0, GD_LANES_LE_U16, GD_LANES_LE_U32, GD_LANES_LE_U64, 0, 0, 0, 0,
     0},
    {GD_MODIFIER_EQU, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_EQU_F32, GD_LANES_EQU_F64},
    {GD_MODIFIER_NEU, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_NEU_F32, GD_LANES_NEU_F64},
    {GD_MODIFIER_LTU, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_LTU_F32, GD_LANES_LTU_F64},
    {GD_MODIFIER_GTU, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_LTU_F32, GD_LANES_LTU_F64},
    {GD_MODIFIER_LEU, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_LEU_F32, GD_LANES_LEU_F64},
    {GD_MODIFIER_GEU, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_LEU_F32, GD_LANES_LEU_F64},
    {GD_MODIFIER_NUM, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_NUM_F32, GD_LANES_NUM_F64},
    {GD_MODIFIER_IS_NAN, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, GD_LANES_NAN_F32, GD_LANES_NAN_F64},
};

static uint32_t op_for(const comparison *item, gd_ptx_type type)
{
    switch (type) {
    case GD_TYPE_B16:
        return item->bits16;
    case GD_TYPE_B32:
        return item->bits32;
    case GD_TYPE_B64:
        return item->bits64;
    case GD_TYPE_U16:
        return item->u16;
    case GD_TYPE_U32:
        return item->u32;
    case GD_TYPE_U64:
        return item->u64;
    case GD_TYPE_S16:
        return item->s16;
    case GD_TYPE_S32:
        return item->s32;
    case GD_TYPE_S64:
        return item->s64;
    case GD_TYPE_F64:
        return item->f64;
    case GD_TYPE_F32:
    case GD_TYPE_F16:
    case GD_TYPE_BF16:
    case GD_TYPE_F16X2:
    case GD_TYPE_BF16X2:
        return item->f32;
    default:
        return GD_LANES_NONE;
    }
}

static const comparison *find_comparison(gd_decoder *decoder)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (gd_has(decoder, comparisons[i].modifier))
            return &comparisons[i];
    }
    return NULL;
}

typedef struct combination {
    uint8_t combine; /* GD_COMBINE_* */
    bool negated;
    gd_slot c;
} combination;

static bool read_combination(gd_decoder *decoder, uint32_t operand, combination *into)
{
    *into = (combination){.c = GD_AREA_SINK};
    into->combine = gd_has(decoder, GD_MODIFIER_AND)   ? GD_COMBINE_AND
                    : gd_has(decoder, GD_MODIFIER_OR)  ? GD_COMBINE_OR
                    : gd_has(decoder, GD_MODIFIER_XOR) ? GD_COMBINE_XOR
                                                       : GD_COMBINE_NONE;
    if ((into->combine != GD_COMBINE_NONE) != (decoder->operand_count == operand + 1))
        return gd_decode_refuse_form(decoder);
    return into->combine == GD_COMBINE_NONE ||
           gd_predicate_source(decoder, decoder->operands[operand], &into->c, &into->negated);
}

/* Emits a comparison of slots into predicates p and q. */
static bool emit_compare(gd_decoder *decoder, const comparison *how, gd_ptx_type type, gd_slot p,
                         gd_slot q, gd_slot a, gd_slot b, const combination *with)
{
    uint32_t op = op_for(how, type);

    if (!op)
        return gd_decode_refuse_form(decoder);
    gd_code *code = gd_emit_lanes(decoder, (gd_lanes_op)op, 0, p, how->swaps ? b : a,
                                  how->swaps ? a : b, with->c);
    if (!code)
        return false;
    code->e = q;
    code->x = with->combine;
    code->y = with->negated;
    return true;
}

/* An f16, bf16 or flushed f32 operand as a plain f32 one. */
static bool widen(gd_decoder *decoder, gd_ptx_type type, bool ftz, gd_slot *slot, uint32_t scratch)
{
    gd_slot wide = gd_scratch(decoder, scratch), from = *slot;
    gd_lanes_op op = type == GD_TYPE_F32    ? GD_LANES_FLUSH_F32
                     : type == GD_TYPE_BF16 ? GD_LANES_CVT_F32_BF16
                     : ftz                  ? GD_LANES_CVT_F32_F16_FTZ
                                            : GD_LANES_CVT_F32_F16;

    *slot = wide;
    return gd_emit_lanes(decoder, op, 0, wide, from, GD_AREA_SINK, GD_AREA_SINK);
}

/* Operands 1 and 2 (of `first`) of a comparison's type, ready for it. */
static bool read_compared(gd_decoder *decoder, uint32_t first, gd_ptx_type type, bool ftz,
                          gd_slot *a, gd_slot *b)
{
    bool half = type == GD_TYPE_F16 || type == GD_TYPE_BF16;

    if (!gd_source(decoder, decoder->operands[first], type, a) ||
        !gd_source(decoder, decoder->operands[first + 1], type, b))
        return false;
    if (!half && !(ftz && type == GD_TYPE_F32))
        return true;
    return widen(decoder, type, ftz, a, 0) && widen(decoder, type, ftz, b, 1);
}

/* setp.f16x2 p|q: the halves one by one. */
static bool compare_halves(gd_decoder *decoder, const comparison *how, gd_ptx_type type, bool ftz,
                           gd_slot p, gd_slot q, const combination *with)
{
    gd_ptx_type half = type == GD_TYPE_F16X2 ? GD_TYPE_F16 : GD_TYPE_BF16;
    gd_slot whole[2], parts[2], results[2] = {p, q};

    if (!gd_source(decoder, decoder->operands[1], type, &whole[0]) ||
        !gd_source(decoder, decoder->operands[2], type, &whole[1]))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < 2; j++) {
            parts[j] = whole[j];
            if (i && !gd_emit_lanes(decoder, GD_LANES_HIGH_HALF, 0,
                                    parts[j] = gd_scratch(decoder, 2 + j), whole[j], GD_AREA_SINK,
                                    GD_AREA_SINK))
                return false;
            if (!widen(decoder, half, ftz, &parts[j], j))
                return false;
        }
        if (!emit_compare(decoder, how, half, results[i], GD_AREA_SINK, parts[0], parts[1], with))
            return false;
    }
    return true;
}

bool gd_decode_setp(gd_decoder *decoder)
{
    const comparison *how = find_comparison(decoder);
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool ftz = gd_has(decoder, GD_MODIFIER_FTZ), pair;
    gd_slot p, q = GD_AREA_SINK, a, b;
    combination with;

    if (!how || !read_combination(decoder, 3, &with))
        return gd_decode_refuse_form(decoder);
    uint32_t target = decoder->operands[0];
    pair = gd_operand_at(decoder, target)->kind == GD_OPERAND_PAIR;
    if (!gd_predicate_target(decoder, pair ? target + 1 : target, &p) ||
        (pair && !gd_predicate_target(decoder, gd_operand_at(decoder, target + 1)->end, &q)))
        return false;
    if (type == GD_TYPE_F16X2 || type == GD_TYPE_BF16X2)
        return compare_halves(decoder, how, type, ftz, p, q, &with);
    return read_compared(decoder, 1, type, ftz, &a, &b) &&
           emit_compare(decoder, how, type, p, q, a, b, &with);
}

/* What set gives where the comparison holds: all ones, or 1.0 for a floating-point result; halves
 * of f16 and bf16 are compared into a half of their kind or an integer of 16 or 32 bits (PTX ISA
 * 9.7.6.1, 9.7.7.1). False for types that do not go together. */
static bool set_value(gd_ptx_type to, gd_ptx_type from, uint64_t *value)
{
    bool half = from == GD_TYPE_F16 || from == GD_TYPE_BF16,
         halves = from == GD_TYPE_F16X2 || from == GD_TYPE_BF16X2;

    switch (to) {
    case GD_TYPE_U32:
    case GD_TYPE_S32:
        *value = halves ? 0xffff : UINT32_MAX;
        return true;
    case GD_TYPE_U16:
    case GD_TYPE_S16:
        *value = 0xffff;
        return half;
    case GD_TYPE_F32:
        *value = gd_bits(1.0f);
        return !half && !halves;
    case GD_TYPE_F16:
    case GD_TYPE_F16X2:
        *value = 0x3c00;
        return to == from || (to == GD_TYPE_F16 && !halves);
    case GD_TYPE_BF16:
    case GD_TYPE_BF16X2:
        *value = 0x3f80;
        return to == from || (to == GD_TYPE_BF16 && !halves);
    default:
        return false;
    }
}

/* set.f16x2: each half of the result says how the halves of the operands compare. */
static bool set_halves(gd_decoder *decoder, const comparison *how, bool ftz, uint64_t value,
                       const combination *with)
{
    gd_slot d, yes, no, predicates[2] = {gd_scratch(decoder, 4), gd_scratch(decoder, 5)};
    gd_slot low = gd_scratch(decoder, 0), high = gd_scratch(decoder, 1);

    if (!compare_halves(decoder, how, gd_type_at(decoder, 1), ftz, predicates[0], predicates[1],
                        with))
        return false;
    return gd_constant(decoder, 4, value, &yes) && gd_constant(decoder, 4, 0, &no) &&
           gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d) &&
           gd_emit_lanes(decoder, GD_LANES_SELP_32, 0, low, yes, no, predicates[0]) &&
           gd_emit_lanes(decoder, GD_LANES_SELP_32, 0, high, yes, no, predicates[1]) &&
           gd_emit_lanes(decoder, GD_LANES_JOIN_HALVES, 0, d, low, high, GD_AREA_SINK);
}

bool gd_decode_set(gd_decoder *decoder)
{
    const comparison *how = find_comparison(decoder);
    gd_ptx_type td = gd_type_at(decoder, 0), type = gd_type_at(decoder, 1);
    bool ftz = gd_has(decoder, GD_MODIFIER_FTZ);
    gd_slot d, a, b, yes, no, p = gd_scratch(decoder, 2);
    combination with;
    uint64_t value;

    if (!how || !read_combination(decoder, 3, &with) || !set_value(td, type, &value))
        return gd_decode_refuse_form(decoder);
    if (type == GD_TYPE_F16X2 || type == GD_TYPE_BF16X2)
        return set_halves(decoder, how, ftz, value, &with);
    if (!gd_constant(decoder, 4, value, &yes) || !gd_constant(decoder, 4, 0, &no) ||
        !read_compared(decoder, 1, type, ftz, &a, &b) ||
        !gd_target(decoder, decoder->operands[0], td, &d) ||
        !emit_compare(decoder, how, type, p, GD_AREA_SINK, a, b, &with))
        return false;
    return gd_emit_lanes(decoder, GD_LANES_SELP_32, 0, d, yes, no, p);
}

/* slct.ftz, whose chooser is flushed first; others are regular. */
bool gd_decode_slct(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0), chooser = gd_type_at(decoder, 1);
    gd_slot d, a, b, c;

    if (!gd_has(decoder, GD_MODIFIER_FTZ) || !gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_source(decoder, decoder->operands[2], type, &b) ||
        !gd_source(decoder, decoder->operands[3], chooser, &c) ||
        !gd_target(decoder, decoder->operands[0], type, &d) ||
        !widen(decoder, GD_TYPE_F32, true, &c, 0))
        return gd_decode_refuse_form(decoder);
    return gd_emit_lanes(decoder,
                         gd_bytes_of(type) == 8 ? GD_LANES_SLCT_64_F32 : GD_LANES_SLCT_32_F32, 0, d,
                         a, b, c);
}

bool gd_decode_testp(gd_decoder *decoder)
{
    static const gd_modifier_id properties[] = {GD_MODIFIER_FINITE, GD_MODIFIER_INFINITE,
                                                GD_MODIFIER_NUMBER, GD_MODIFIER_NOTANUMBER,
                                                GD_MODIFIER_NORMAL, GD_MODIFIER_SUBNORMAL};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t property = 0;
    gd_slot p, a;

    for (uint32_t i = 0; i < 6; i++) {
        if (gd_has(decoder, properties[i]))
            property = i;
    }
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_predicate_target(decoder, decoder->operands[0], &p))
        return false;
    return gd_emit_lanes(decoder, type == GD_TYPE_F32 ? GD_LANES_TESTP_F32 : GD_LANES_TESTP_F64,
                         property, p, a, a, GD_AREA_SINK);
}
