/* Scalar video instructions (PTX ISA 9.7.20). */
#include "emulator/decode/decode.h"
#include "emulator/execute/video.h"

static const uint8_t ops[GD_OP_COUNT] = {
    [GD_OP_VADD] = GD_VIDEO_ADD, [GD_OP_VSUB] = GD_VIDEO_SUB, [GD_OP_VABSDIFF] = GD_VIDEO_ABSDIFF,
    [GD_OP_VMIN] = GD_VIDEO_MIN, [GD_OP_VMAX] = GD_VIDEO_MAX, [GD_OP_VSHL] = GD_VIDEO_SHL,
    [GD_OP_VSHR] = GD_VIDEO_SHR, [GD_OP_VSET] = GD_VIDEO_SET, [GD_OP_VMAD] = GD_VIDEO_MAD,
};

/* Which one of a row of modifiers is there, from 1; 0: none. */
static uint8_t find_word(gd_decoder *decoder, const gd_modifier_id *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (gd_has(decoder, words[i]))
            return (uint8_t)(i + 1);
    }
    return 0;
}

/* The types of d, a and b; vset has those of a and b, and d is unsigned. */
static bool read_types(gd_decoder *decoder, gd_video_form *form)
{
    static const uint8_t signs[] = {GD_VIDEO_SIGNED_D, GD_VIDEO_SIGNED_A, GD_VIDEO_SIGNED_B};
    uint32_t first = form->is.op == GD_VIDEO_SET;

    for (uint32_t i = first; i < 3; i++) {
        gd_ptx_type type = gd_type_at(decoder, i - first);
        if (type != GD_TYPE_U32 && type != GD_TYPE_S32)
            return gd_decode_refuse_form(decoder);
        form->is.flags |= type == GD_TYPE_S32 ? signs[i] : 0;
    }
    return true;
}

static bool read_words(gd_decoder *decoder, gd_video_form *form)
{
    static const gd_modifier_id seconds[] = {GD_MODIFIER_ADD, GD_MODIFIER_MIN, GD_MODIFIER_MAX};
    static const gd_modifier_id compares[] = {GD_MODIFIER_EQ, GD_MODIFIER_NE, GD_MODIFIER_LT,
                                              GD_MODIFIER_LE, GD_MODIFIER_GT, GD_MODIFIER_GE};
    uint8_t op = form->is.op, compare;
    bool shifts = op == GD_VIDEO_SHL || op == GD_VIDEO_SHR;

    if (op == GD_VIDEO_MAD) {
        form->is.shift = gd_has(decoder, GD_MODIFIER_SHR7)    ? 7
                         : gd_has(decoder, GD_MODIFIER_SHR15) ? 15
                                                              : 0;
        form->is.flags |= gd_has(decoder, GD_MODIFIER_PO) ? GD_VIDEO_PLUS_ONE : 0;
    } else {
        form->is.second = find_word(decoder, seconds, 3);
    }
    if (op != GD_VIDEO_SET && gd_has(decoder, GD_MODIFIER_SAT))
        form->is.flags |= GD_VIDEO_SAT;
    if (op == GD_VIDEO_SET) {
        if ((compare = find_word(decoder, compares, 6)) == 0)
            return gd_decode_refuse_form(decoder);
        form->is.compare = (uint8_t)(compare - 1);
    }
    if (shifts && gd_has(decoder, GD_MODIFIER_WRAP))
        form->is.flags |= GD_VIDEO_WRAP;
    else if (shifts && !gd_has(decoder, GD_MODIFIER_CLAMP))
        return gd_decode_refuse_form(decoder);
    return !shifts || !(form->is.flags & GD_VIDEO_SIGNED_B) || gd_decode_refuse_form(decoder);
}

/* An operand without its selector, .b0 to .b3, .h0 or .h1, which goes to *part, and without its
 * sign. */
static uint32_t take_selector(gd_decoder *decoder, uint32_t operand, uint8_t *part, bool *minus)
{
    const gd_ptx_operand *item = gd_operand_at(decoder, operand);

    *part = GD_PART_WORD;
    *minus = item->kind == GD_OPERAND_REGISTER && item->flags & GD_OPERAND_MINUS;
    if (item->component >= 5 && item->component <= 10)
        *part = (uint8_t)(item->component - 5 + GD_PART_B0);
    return *minus || *part ? gd_operand_part(decoder, operand, 0) : operand;
}

/* vmad takes away the product or c, not both, and neither with .po. */
static bool read_signs(gd_decoder *decoder, gd_video_form *form, const bool *minus)
{
    bool product = minus[1] != minus[2], third = minus[3];
    uint8_t flags = form->is.flags;

    form->is.flags |= (product ? GD_VIDEO_MINUS_PRODUCT : 0) | (third ? GD_VIDEO_MINUS_C : 0);
    if (form->is.op != GD_VIDEO_MAD
            ? minus[1] || minus[2] || third
            : (product && third) || (flags & GD_VIDEO_PLUS_ONE && (product || third)))
        return gd_decode_refuse_form(decoder);
    return true;
}

/* Forms that an H200 (driver 580) carries out as the PTX ISA says; where it does not saturate,
 * shift or compare so, nobody knows what was meant. */
static bool is_measured(const gd_video_form *form)
{
    uint32_t flags = form->is.flags, op = form->is.op;
    bool shifts = op == GD_VIDEO_SHL || op == GD_VIDEO_SHR, sat = flags & GD_VIDEO_SAT;
    bool adds = op == GD_VIDEO_ADD || op == GD_VIDEO_SUB, both = form->is.second >= GD_SECOND_MIN;

    if (op == GD_VIDEO_MAD)
        return (!sat && !form->is.shift) ||
               (flags & GD_VIDEO_SIGNED_A && flags & GD_VIDEO_SIGNED_B);
    if (sat && (shifts || form->is.part[0] || !(flags & GD_VIDEO_SIGNED_D)))
        return false;
    return !both || (flags & GD_VIDEO_SIGNED_D && (!adds || sat));
}

bool gd_decode_video(gd_decoder *decoder)
{
    gd_video_form form = {.is.op = ops[decoder->instruction->op]};
    gd_slot slots[4] = {GD_AREA_SINK};
    bool minus[4] = {false};
    uint8_t part = GD_PART_WORD;

    if (!read_types(decoder, &form) || !read_words(decoder, &form) ||
        !gd_constant(decoder, 4, 0, &slots[3]))
        return false;
    for (uint32_t i = 0; i < decoder->operand_count; i++) {
        uint32_t operand = take_selector(decoder, decoder->operands[i], &part, &minus[i]);
        if (operand == GD_PTX_NONE || (part && i == 3))
            return gd_decode_refuse_form(decoder);
        if (i < 3)
            form.is.part[i] = part;
        if (!(i ? gd_source(decoder, operand, GD_TYPE_B32, &slots[i])
                : gd_target(decoder, operand, GD_TYPE_B32, &slots[i])))
            return false;
    }
    if (minus[0] || !read_signs(decoder, &form, minus))
        return gd_decode_refuse_form(decoder);
    bool third = decoder->operand_count == 4;
    bool merges = form.is.part[0], needs = merges || form.is.second || form.is.op == GD_VIDEO_MAD;
    if ((needs && !third) || (merges && (form.is.second || form.is.op == GD_VIDEO_MAD)))
        return gd_decode_refuse_form(decoder);
    if (!is_measured(&form))
        return gd_decode_refuse(decoder, "a form in which GPUs do not follow the PTX ISA");
    gd_code *code = gd_emit(decoder, gd_run_video);
    if (!code)
        return false;
    code->d = slots[0];
    code->a = slots[1];
    code->b = slots[2];
    code->c = slots[3];
    code->value = form.value;
    code->plain = true;
    return true;
}
