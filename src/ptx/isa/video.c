/* Operands of video instructions (PTX ISA 9.7.20). */
#include "ptx/isa/video.h"

/* Whether `count` digits go from 0 to `last`, downwards where a destination has them. */
static bool are_digits(const char *text, uint32_t count, char last, bool down)
{
    for (uint32_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > last || (down && i && text[i] >= text[i - 1]))
            return false;
    }
    return true;
}

/* Whether a selector, without its dot, is one of the role's. */
static bool is_selector(const char *text, uint32_t length, const gd_form_role *role)
{
    const bool down = role->kind == 'Q', bytes = length && text[0] == 'b';
    const uint32_t parts = role->selectors, digits = length ? length - 1 : 0;

    if (!bytes && !(length && text[0] == 'h'))
        return false;
    if (parts == 1)
        return digits == 1 && are_digits(text + 1, 1, bytes ? '3' : '1', false);
    if (parts != (bytes ? 4 : 2) || (down ? digits < 1 : digits != parts))
        return false;
    return are_digits(text + 1, digits, (char)('0' + (down ? parts : 2 * parts) - 1), down);
}

/* 32 bits, perhaps with a selector; not an element of several. */
bool gd_video_fits(const gd_fitting *fit, const gd_ptx_operand *operand, const gd_form_role *role)
{
    const bool constants = role->kind == 'U' || role->kind == 'V';
    const uint8_t minus = role->kind == 'V' ? GD_OPERAND_MINUS : 0;
    const uint8_t flags = constants ? GD_OPERAND_OFFSET | minus : 0;
    const gd_op op = (gd_op)fit->instruction->op;
    const bool sets = op == GD_OP_VSET || op == GD_OP_VSET2 || op == GD_OP_VSET4;
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
    const uint8_t type = symbol->type, class = gd_value_classes[type];

    if (operand->flags & ~flags || symbol->vector > 1)
        return false;
    if (operand->component) {
        uint32_t length;
        const char *text = gd_ptx_token_text(
            fit->module, operand->token + (operand->flags & minus ? 2 : 1), &length);
        if (!is_selector(text + 1, length - 1, role))
            return false;
    }
    return gd_ptx_types[type].bytes == 4 &&
           (class == GD_CLASS_INTEGER || class == GD_CLASS_BITS ||
            (type == GD_TYPE_F16X2 && (!sets || (role->kind != 'Q' && role->selectors))));
}

/* vmad takes away the product or c, not both, and neither with .po. */
bool gd_video_signs_fit(const gd_fitting *fit)
{
    const gd_ptx_instruction *mad = fit->instruction;
    const gd_ptx_operand *operands = fit->module->operands;
    const gd_modifier plus_one = {"po", 2};
    uint32_t minus = 0, count = 0;

    for (uint32_t i = mad->operand; i < mad->operand_end; i = operands[i].end, count++)
        if (operands[i].kind == GD_OPERAND_REGISTER && operands[i].flags & GD_OPERAND_MINUS)
            minus |= 1u << count;
    const bool product = (minus >> 1 ^ minus >> 2) & 1, third = minus >> 3 & 1;
    if (product && third)
        return gd_fault_at(fit, mad->opcode,
                           "a minus stands before the product or operand 4, not both");
    return !((product || third) && gd_form_has(fit->match->form, &plus_one)) ||
           gd_fault_at(fit, mad->opcode, ".po goes with no minus before the product or operand 4");
}
