/* Votes, shuffles, matches, reductions, elections. */
#include "emulator/decode/decode.h"
#include "emulator/execute/warp.h"

/* The operand behind the others is the mask of those that take part, with .sync. */
static bool read_mask(gd_decoder *decoder, uint32_t operands, gd_slot *mask, bool *sync)
{
    *sync = gd_has(decoder, GD_MODIFIER_SYNC);
    *mask = GD_AREA_SINK;
    if (decoder->operand_count != operands + (*sync ? 1u : 0u))
        return gd_decode_refuse_form(decoder);
    return !*sync || gd_source(decoder, decoder->operands[operands], GD_TYPE_B32, mask);
}

/* d or d|p */
static bool read_pair(gd_decoder *decoder, gd_slot *d, gd_slot *p)
{
    uint32_t operand = decoder->operands[0];
    bool pair = gd_operand_at(decoder, operand)->kind == GD_OPERAND_PAIR;

    *p = GD_AREA_SINK;
    if (!gd_target(decoder, pair ? operand + 1 : operand, GD_TYPE_B32, d))
        return false;
    return !pair || gd_predicate_target(decoder, gd_operand_at(decoder, operand + 1)->end, p);
}

bool gd_decode_vote(gd_decoder *decoder)
{
    static const gd_modifier modes[] = {GD_MODIFIER_ALL, GD_MODIFIER_ANY, GD_MODIFIER_UNI,
                                        GD_MODIFIER_BALLOT};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t mode = 4;
    bool sync, negated;
    gd_slot d, a, mask;

    for (uint32_t i = 0; i < 4; i++)
        mode = gd_has(decoder, modes[i]) ? i : mode;
    if (mode == 4 || type != (mode == GD_VOTE_BALLOT ? GD_TYPE_B32 : GD_TYPE_PRED))
        return gd_decode_refuse_form(decoder);
    if (!read_mask(decoder, 2, &mask, &sync) ||
        !gd_predicate_source(decoder, decoder->operands[1], &a, &negated) ||
        !(mode == GD_VOTE_BALLOT ? gd_target(decoder, decoder->operands[0], type, &d)
                                 : gd_predicate_target(decoder, decoder->operands[0], &d)))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_vote);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->e = mask;
    code->x = (uint8_t)mode;
    code->flags = (uint16_t)((sync ? GD_WARP_SYNC : 0) | (negated ? GD_WARP_NEGATED : 0));
    return true;
}

bool gd_decode_shfl(gd_decoder *decoder)
{
    static const gd_modifier modes[] = {GD_MODIFIER_UP, GD_MODIFIER_DOWN, GD_MODIFIER_BFLY,
                                        GD_MODIFIER_IDX};
    uint32_t mode = 4;
    bool sync;
    gd_slot d, p, a, b, c, mask;

    for (uint32_t i = 0; i < 4; i++)
        mode = gd_has(decoder, modes[i]) ? i : mode;
    if (mode == 4 || gd_bytes_of(gd_type_at(decoder, 0)) != 4 ||
        !read_mask(decoder, 4, &mask, &sync))
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], GD_TYPE_B32, &a) ||
        !gd_source(decoder, decoder->operands[2], GD_TYPE_B32, &b) ||
        !gd_source(decoder, decoder->operands[3], GD_TYPE_B32, &c) || !read_pair(decoder, &d, &p))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_shfl);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->b = b;
    code->c = c;
    code->e = mask;
    code->address = p;
    code->x = (uint8_t)mode;
    code->flags = sync ? GD_WARP_SYNC : 0;
    return true;
}

bool gd_decode_match(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    bool all = gd_has(decoder, GD_MODIFIER_ALL), any = gd_has(decoder, GD_MODIFIER_ANY), sync;
    gd_slot d, p, a, mask;

    if (all == any || (type != GD_TYPE_B32 && type != GD_TYPE_B64) ||
        !read_mask(decoder, 2, &mask, &sync) || !sync)
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], type, &a) || !read_pair(decoder, &d, &p))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_match);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->e = mask;
    code->address = p;
    code->x = all;
    code->y = (uint8_t)gd_bytes_of(type);
    code->flags = GD_WARP_SYNC;
    return true;
}

bool gd_decode_redux(gd_decoder *decoder)
{
    static const gd_modifier modes[] = {GD_MODIFIER_ADD, GD_MODIFIER_MIN, GD_MODIFIER_MAX,
                                        GD_MODIFIER_AND, GD_MODIFIER_OR,  GD_MODIFIER_XOR};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t mode = 6;
    bool sync;
    gd_slot d, a, mask;

    for (uint32_t i = 0; i < 6; i++)
        mode = gd_has(decoder, modes[i]) ? i : mode;
    bool bits = mode >= GD_REDUX_AND;
    if (mode == 6 || (bits ? type != GD_TYPE_B32 : type != GD_TYPE_U32 && type != GD_TYPE_S32) ||
        !read_mask(decoder, 2, &mask, &sync) || !sync)
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], type, &a) ||
        !gd_target(decoder, decoder->operands[0], type, &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_redux);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->e = mask;
    code->x = (uint8_t)mode;
    code->y = type == GD_TYPE_S32;
    code->flags = GD_WARP_SYNC;
    return true;
}

bool gd_decode_activemask(gd_decoder *decoder)
{
    gd_slot d;

    if (gd_type_at(decoder, 0) != GD_TYPE_B32)
        return gd_decode_refuse_form(decoder);
    if (!gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_activemask);
    if (code)
        code->d = d;
    return code;
}

bool gd_decode_elect(gd_decoder *decoder)
{
    gd_slot d, p, mask;
    bool sync;

    if (!read_mask(decoder, 1, &mask, &sync) || !sync ||
        gd_operand_at(decoder, decoder->operands[0])->kind != GD_OPERAND_PAIR)
        return gd_decode_refuse_form(decoder);
    if (!read_pair(decoder, &d, &p))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_elect);
    if (!code)
        return false;
    code->d = d;
    code->a = p;
    code->e = mask;
    code->flags = GD_WARP_SYNC;
    return true;
}
