/* Instructions that are one operation: regular.def says which one. */
#include "base/search.h"
#include "emulator/decode/decode.h"
#include "emulator/execute/async.h"
#include "emulator/execute/control.h"
#include "emulator/execute/convert.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/move.h"
#include "emulator/execute/warp.h"

enum { FLAGS = UINT16_MAX };

struct gd_regular {
    gd_form form;             /* whose modifiers it takes */
    uint16_t op, then, flags; /* operations of the lanes */
    gd_run *run;              /* NULL: they are all */
    uint8_t x;
};

#define MODIFIERS(instruction, modifiers)                                                          \
    {                                                                                              \
        modifiers, "", GD_OP_##instruction,                                                        \
        {                                                                                          \
            0, 0                                                                                   \
        }                                                                                          \
    }

static const gd_regular rows[] = {
#define GD_REGULAR(instruction, modifiers, op, flags)                                              \
    {MODIFIERS(instruction, modifiers), GD_LANES_##op, GD_LANES_NONE, flags, NULL, 0},
#define GD_REGULAR_THEN(instruction, modifiers, op, then)                                          \
    {MODIFIERS(instruction, modifiers), GD_LANES_##op, GD_LANES_##then, 0, NULL, 0},
#define GD_RUN(instruction, modifiers, run, x, flags)                                              \
    {MODIFIERS(instruction, modifiers), GD_LANES_NONE, GD_LANES_NONE, flags, gd_run_##run, x},
#define GD_RUN_OF(instruction, modifiers, op, run, flags)                                          \
    {MODIFIERS(instruction, modifiers), GD_LANES_##op, GD_LANES_NONE, flags, gd_run_##run, 0},
#include "emulator/decode/regular.def"
#undef GD_REGULAR
#undef GD_REGULAR_THEN
#undef GD_RUN
#undef GD_RUN_OF
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* The first row of an instruction, or of the next one that has any. */
static uint32_t find_first(gd_op op)
{
    uint32_t first;

    GD_COUNT_FIRST(first, ROW_COUNT, i, rows[i].form.op < op);
    return first;
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

/* ---- operands ---- */

enum { MOST_SOURCES = 4 };

typedef struct operands {
    gd_slot d, second;             /* the result, and the predicate behind its '|' */
    gd_slot sources[MOST_SOURCES]; /* in their order */
    uint32_t count;
    uint64_t known;         /* the constant that must be one */
    uint32_t negated;       /* a bit for each source */
    uint8_t d_type, type;   /* gd_ptx_type: of the result, of the first source */
    uint8_t d_bytes, bytes; /* of their registers */
    bool fits;              /* the registers of all have their types' sizes */
} operands;

static uint32_t stored(uint32_t bytes)
{
    return bytes < 4 ? 4 : bytes;
}

static bool read_source(gd_decoder *decoder, uint32_t operand, const gd_form_role *role,
                        operands *into)
{
    const gd_ptx_type type = (gd_ptx_type)role->type.type;
    gd_slot *slot = &into->sources[into->count];
    uint32_t bytes = role->type.bytes;
    bool negated = false, wide = role->kind == 'S' || role->kind == 'C';

    if (role->kind == 'i')
        return gd_known(decoder, operand, &into->known);
    if (into->count == MOST_SOURCES)
        return gd_decode_refuse_form(decoder);
    if (role->kind == 'p' || type == GD_TYPE_PRED
            ? !gd_predicate_source(decoder, operand, slot, &negated)
        : wide ? !gd_source_wide(decoder, operand, type, slot, &bytes)
               : !gd_source(decoder, operand, type, slot))
        return false;
    if (into->count == 0) {
        into->type = (uint8_t)type;
        into->bytes = (uint8_t)bytes;
    }
    into->negated |= negated ? 1u << into->count : 0;
    into->fits &= stored(bytes) == stored(role->type.bytes);
    into->count++;
    return true;
}

/* d, p or d|p */
static bool read_target(gd_decoder *decoder, const gd_form_role *role, operands *into)
{
    const gd_ptx_type type = (gd_ptx_type)role->type.type;
    uint32_t operand = decoder->operands[0], bytes = role->type.bytes;

    if (gd_operand_at(decoder, operand)->kind == GD_OPERAND_PAIR) {
        operand++;
        if (!gd_predicate_target(decoder, gd_operand_at(decoder, operand)->end, &into->second))
            return false;
    }
    if (type == GD_TYPE_PRED ? !gd_predicate_target(decoder, operand, &into->d)
        : role->kind == 'D'  ? !gd_target_wide(decoder, operand, type, &into->d, &bytes)
                             : !gd_target(decoder, operand, type, &into->d))
        return false;
    into->d_type = (uint8_t)type;
    into->d_bytes = (uint8_t)bytes;
    into->fits &= bytes == role->type.bytes;
    return true;
}

static bool read_operands(gd_decoder *decoder, operands *into)
{
    const gd_form_role *roles = decoder->form->roles;
    const bool result = decoder->operand_count &&
                        (roles[0].kind == 'd' || roles[0].kind == 'D' || roles[0].kind == 'y');

    *into = (operands){GD_AREA_SINK,
                       GD_AREA_SINK,
                       {GD_AREA_SINK, GD_AREA_SINK, GD_AREA_SINK, GD_AREA_SINK},
                       .fits = true};
    for (uint32_t i = result; i < decoder->operand_count; i++) {
        if (!read_source(decoder, decoder->operands[i], &roles[i], into))
            return false;
    }
    return !result || read_target(decoder, &roles[0], into);
}

/* ---- operations ---- */

static uint32_t flags_of(gd_decoder *decoder, const gd_regular *row)
{
    static const struct {
        gd_modifier_id modifier;
        uint16_t flags;
    } words[] = {{GD_MODIFIER_XORSIGN, GD_XORSIGN | GD_ABS},
                 {GD_MODIFIER_RNI, GD_INTEGRAL},
                 {GD_MODIFIER_RZI, GD_INTEGRAL | GD_ROUND_ZERO},
                 {GD_MODIFIER_RMI, GD_INTEGRAL | GD_ROUND_DOWN},
                 {GD_MODIFIER_RPI, GD_INTEGRAL | GD_ROUND_UP},
                 {GD_MODIFIER_RNA, GD_ROUND_AWAY},
                 {GD_MODIFIER_SATFINITE, GD_SATFINITE}};
    uint32_t flags;

    if (row->flags != FLAGS)
        return row->flags | (gd_has(decoder, GD_MODIFIER_CC) ? GD_CARRY_OUT : 0);
    flags = gd_float_flags(decoder);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        flags |= gd_has(decoder, words[i].modifier) ? words[i].flags : 0;
    return flags;
}

static bool emit_lanes(gd_decoder *decoder, const gd_regular *row, const operands *with)
{
    const uint32_t flags = flags_of(decoder, row) | (uint8_t)with->known;
    gd_code *code = gd_emit_lanes(decoder, (gd_lanes_op)row->op, flags, with->d, with->sources[0],
                                  with->sources[1], with->sources[2]);

    if (!code)
        return false;
    code->e = with->sources[3];
    code->y = with->negated != 0;
    return row->then == GD_LANES_NONE || gd_emit_lanes(decoder, (gd_lanes_op)row->then, 0, with->d,
                                                       with->d, GD_AREA_SINK, GD_AREA_SINK);
}

/* d, address: a second result; a, b, c, e: sources; value: the constant; x: of the row; kind, y:
 * types of d and a; count, bytes: of their registers; flags: of the row, or which predicates are
 * negated. */
static bool emit_run(gd_decoder *decoder, const gd_regular *row, operands *with)
{
    if (row->op) {
        const gd_slot product = gd_scratch(decoder, 0);
        if (!gd_emit_lanes(decoder, (gd_lanes_op)row->op, 0, product, with->sources[0],
                           with->sources[1], GD_AREA_SINK))
            return false;
        with->sources[0] = product;
        with->sources[1] = with->sources[2];
    }
    gd_code *code = gd_emit(decoder, row->run);
    if (!code)
        return false;
    code->d = with->d;
    code->address = with->second;
    code->a = with->sources[0];
    code->b = with->sources[1];
    code->c = with->sources[2];
    code->e = with->sources[3];
    code->value = with->known;
    code->x = row->x;
    code->kind = with->d_type;
    code->y = with->type;
    code->count = with->d_bytes;
    code->bytes = with->bytes;
    code->flags = (uint16_t)(flags_of(decoder, row) | with->negated);
    return true;
}

bool gd_decode_regular(gd_decoder *decoder, const gd_regular *row)
{
    static const gd_regular any_sizes = {.flags = FLAGS, .run = gd_run_convert};
    operands with;

    if (!read_operands(decoder, &with))
        return gd_decode_refuse_form(decoder);
    if (!with.fits) { /* PTX ISA 9.4.1 */
        const bool one = row->op && with.count == 1;
        if ((!one && row->run != gd_run_convert) || with.bytes > 8 || with.d_bytes > 8)
            return gd_decode_refuse(decoder, "a register of another size than its type");
        row = &any_sizes;
    }
    return row->run ? emit_run(decoder, row, &with) : emit_lanes(decoder, row, &with);
}
