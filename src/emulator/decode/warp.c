/* Votes, shuffles, matches, reductions, elections. */
#include "emulator/decode/decode.h"
#include "emulator/execute/warp.h"

/* The operand behind the others is the mask of those that take part, with .sync. */
static bool read_mask(gd_decoder *decoder, uint32_t operands, gd_slot *mask, bool *sync)
{
    *sync = decoder->operand_count > operands;
    *mask = GD_AREA_SINK;
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
    static const gd_modifier_id modes[] = {GD_MODIFIER_ALL, GD_MODIFIER_ANY, GD_MODIFIER_UNI,
                                           GD_MODIFIER_BALLOT};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t mode = 0;
    bool sync, negated;
    gd_slot d, a, mask;

    for (uint32_t i = 0; i < 4; i++)
        mode = gd_has(decoder, modes[i]) ? i : mode;
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
    static const gd_modifier_id modes[] = {GD_MODIFIER_UP, GD_MODIFIER_DOWN, GD_MODIFIER_BFLY,
                                           GD_MODIFIER_IDX};
    uint32_t mode = 0;
    bool sync;
    gd_slot d, p, a, b, c, mask;

    for (uint32_t i = 0; i < 4; i++)
        mode = gd_has(decoder, modes[i]) ? i : mode;
    gd_type_at(decoder, 0);
    if (!read_mask(decoder, 4, &mask, &sync) ||
        !gd_source(decoder, decoder->operands[1], GD_TYPE_B32, &a) ||
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
    bool all = !gd_has(decoder, GD_MODIFIER_ANY) && gd_has(decoder, GD_MODIFIER_ALL), sync;
    gd_slot d, p, a, mask;

    if (!read_mask(decoder, 2, &mask, &sync) ||
        !gd_source(decoder, decoder->operands[1], type, &a) || !read_pair(decoder, &d, &p))
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
    static const gd_modifier_id modes[] = {GD_MODIFIER_ADD, GD_MODIFIER_MIN, GD_MODIFIER_MAX,
                                           GD_MODIFIER_AND, GD_MODIFIER_OR,  GD_MODIFIER_XOR};
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t mode = 0;
    bool sync;
    gd_slot d, a, mask;

    for (uint32_t i = 0; i < 6; i++)
        mode = gd_has(decoder, modes[i]) ? i : mode;
    if (!read_mask(decoder, 2, &mask, &sync) ||
        !gd_source(decoder, decoder->operands[1], type, &a) ||
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

    gd_type_at(decoder, 0);
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

    if (!read_mask(decoder, 1, &mask, &sync) || !read_pair(decoder, &d, &p))
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
