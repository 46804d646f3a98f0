/* Instructions that are one operation of the lanes: regular.def says which one. */
#include "emulator/decode/decode.h"

enum { FLAGS = UINT16_MAX };

struct gd_regular {
    gd_form form; /* whose modifiers it takes */
    uint16_t op, then, flags;
};

static const gd_regular rows[] = {
#define GD_REGULAR(instruction, modifiers, op, flags)                                              \
    {{modifiers, "", GD_OP_##instruction, {0, 0}}, GD_LANES_##op, GD_LANES_NONE, flags},
#define GD_REGULAR_THEN(instruction, modifiers, op, then)                                          \
    {{modifiers, "", GD_OP_##instruction, {0, 0}}, GD_LANES_##op, GD_LANES_##then, 0},
#include "emulator/decode/regular.def"
#undef GD_REGULAR
#undef GD_REGULAR_THEN
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* The first row of an instruction, or of the next one that has any. */
static uint32_t find_first(gd_op op)
{
    uint32_t low = 0, high = ROW_COUNT;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows[middle].form.op < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool gd_regular_has(gd_op op)
{
    uint32_t first = find_first(op);

    return first < ROW_COUNT && rows[first].form.op == op;
}

const gd_regular *gd_regular_find(gd_op op, const gd_modifier *modifiers, uint32_t count)
{
    gd_form_match match;

    for (uint32_t i = find_first(op); i < ROW_COUNT && rows[i].form.op == op; i++) {
        if (gd_form_takes(&rows[i].form, modifiers, count, &match))
            return &rows[i];
    }
    return NULL;
}

static uint32_t flags_of(gd_decoder *decoder, const gd_regular *row)
{
    if (row->flags != FLAGS)
        return row->flags;
    return gd_float_flags(decoder) |
           (gd_has(decoder, GD_MODIFIER_XORSIGN) ? GD_XORSIGN | GD_ABS : 0);
}

bool gd_decode_regular(gd_decoder *decoder, const gd_regular *row, const gd_form_match *form)
{
    gd_slot slots[4] = {GD_AREA_SINK, GD_AREA_SINK, GD_AREA_SINK, GD_AREA_SINK}, d;
    bool negated = false;

    for (uint32_t i = 1; i < decoder->operand_count; i++) {
        const gd_form_role *role = &form->roles[i];
        gd_slot *slot = &slots[i - 1];
        if (!(role->kind == 'p'
                  ? gd_predicate_source(decoder, decoder->operands[i], slot, &negated)
                  : gd_source(decoder, decoder->operands[i], (gd_ptx_type)role->type.type, slot)))
            return gd_decode_refuse_form(decoder);
    }
    if (!gd_target(decoder, decoder->operands[0], (gd_ptx_type)form->roles[0].type.type, &d))
        return false;
    gd_code *code = gd_emit_lanes(decoder, (gd_lanes_op)row->op, flags_of(decoder, row), d,
                                  slots[0], slots[1], slots[2]);
    if (!code)
        return false;
    code->e = slots[3];
    code->y = negated;
    return row->then == GD_LANES_NONE ||
           gd_emit_lanes(decoder, (gd_lanes_op)row->then, 0, d, d, GD_AREA_SINK, GD_AREA_SINK);
}
