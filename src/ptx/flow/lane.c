/* Finding the registers that depend on a thread's lane alone: one pass over the text in which each
 * definition must stand before its use, a second one that takes out what is written elsewhere too,
 * and a third for what rested on that.
 */
#include <string.h>

#include "ptx/flow/lane.h"

typedef struct lane_key {
    uint32_t symbol;
    uint32_t index;
} lane_key;

enum { LANE_MASK = 31 };

static lane_key key_of(const gd_ptx_operand *operand)
{
    return (lane_key){.symbol = operand->symbol, .index = operand->index};
}

/* The mark of a register: the instruction that defines it plus 1, times 2, plus 1 for a lane and 0
 * for a copy of %tid.x. TAKEN_OUT: it is neither. 0: it was never marked. */
enum { TAKEN_OUT = 1 };

static uintptr_t mark_of(uint32_t instruction, bool lane)
{
    return ((uintptr_t)instruction + 1) * 2 + lane;
}

static uintptr_t find(const gd_lanes *lanes, const gd_ptx_operand *operand)
{
    lane_key key = key_of(operand);

    if (operand->kind != GD_OPERAND_REGISTER)
        return 0;
    return (uintptr_t)gd_table_find(&lanes->table, (const char *)&key, sizeof key);
}

static bool set(gd_lanes *lanes, const gd_ptx_operand *operand, uintptr_t mark)
{
    lane_key *key = gd_arena_take(&lanes->arena, sizeof *key);

    if (!key)
        return false;
    *key = key_of(operand);
    return gd_table_set(&lanes->table, (const char *)key, sizeof *key, (void *)mark);
}

static bool is_lane(const gd_lanes *lanes, const gd_ptx_operand *operand)
{
    uintptr_t mark = find(lanes, operand);

    return mark > TAKEN_OUT && mark & 1;
}

static bool is_thread(const gd_lanes *lanes, const gd_ptx_operand *operand)
{
    uintptr_t mark = find(lanes, operand);

    return mark > TAKEN_OUT && !(mark & 1);
}

static bool is_special(const gd_ptx_module *module, const gd_ptx_operand *operand, const char *name)
{
    uint32_t length;

    if (operand->kind != GD_OPERAND_SPECIAL)
        return false;
    const char *text = gd_ptx_name_text(module, operand->index, &length);
    return length == strlen(name) && !memcmp(text, name, length);
}

static const gd_ptx_operand *nth(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                                 uint32_t n)
{
    for (uint32_t i = instruction->operand; i < instruction->operand_end;
         i = module->operands[i].end) {
        if (n-- == 0)
            return &module->operands[i];
    }
    return NULL;
}

/* The register that an instruction gives a lane, or the thread's number, to; NULL where it does
 * neither. */
static const gd_ptx_operand *result(const gd_lanes *lanes, const gd_ptx_module *module,
                                    const gd_ptx_instruction *instruction, bool *lane)
{
    const gd_ptx_operand *to = nth(module, instruction, 0), *a = nth(module, instruction, 1),
                         *b = nth(module, instruction, 2);

    *lane = true;
    if (!to || !a || instruction->flags & GD_INSTRUCTION_GUARDED)
        return NULL;
    switch (instruction->op) {
    case GD_OP_ELECT: /* elect.sync lane|predicate, mask */
        return to->kind == GD_OPERAND_PAIR ? &module->operands[to[1].end] : NULL;
    case GD_OP_MOV:
        *lane = !(is_special(module, a, "%tid") && a->component == 1) && !is_thread(lanes, a);
        return !*lane || is_special(module, a, "%laneid") || is_lane(lanes, a) ? to : NULL;
    case GD_OP_AND:
        return b && b->kind == GD_OPERAND_INTEGER && b->value == LANE_MASK && is_thread(lanes, a)
                   ? to
                   : NULL;
    case GD_OP_SETP:
        return b && b->kind == GD_OPERAND_INTEGER && is_lane(lanes, a) ? to : NULL;
    default:
        return NULL;
    }
}

/* Unmarks what an instruction writes although another one made it a lane. Registers that are only
 * read in that place are taken out too, which is on the careful side. */
static bool take_out(gd_lanes *lanes, const gd_ptx_module *module, uint32_t instruction)
{
    const gd_ptx_instruction *item = &module->instructions[instruction];

    if (item->operand >= item->operand_end ||
        module->operands[item->operand].kind == GD_OPERAND_MEMORY)
        return true;
    for (uint32_t i = item->operand; i < module->operands[item->operand].end; i++) {
        uintptr_t mark = find(lanes, &module->operands[i]);
        if (mark > TAKEN_OUT && mark / 2 != (uintptr_t)instruction + 1 &&
            !set(lanes, &module->operands[i], TAKEN_OUT))
            return false;
    }
    return true;
}

static bool put_in(gd_lanes *lanes, const gd_ptx_module *module, uint32_t instruction)
{
    bool lane;
    const gd_ptx_operand *to = result(lanes, module, &module->instructions[instruction], &lane);

    if (!to || to->kind != GD_OPERAND_REGISTER)
        return true;
    return set(lanes, to, find(lanes, to) ? TAKEN_OUT : mark_of(instruction, lane));
}

/* Unmarks what was made from something that has been taken out since. */
static bool confirm(gd_lanes *lanes, const gd_ptx_module *module, uint32_t instruction)
{
    const gd_ptx_instruction *item = &module->instructions[instruction];
    bool lane;

    if (item->op != GD_OP_MOV && item->op != GD_OP_AND && item->op != GD_OP_SETP)
        return true;
    const gd_ptx_operand *to = nth(module, item, 0);
    if (!to || find(lanes, to) / 2 != (uintptr_t)instruction + 1 ||
        result(lanes, module, item, &lane) == to)
        return true;
    return set(lanes, to, TAKEN_OUT);
}

static bool each(gd_lanes *lanes, const gd_ptx_module *module, uint32_t function,
                 bool (*use)(gd_lanes *, const gd_ptx_module *, uint32_t))
{
    const gd_ptx_function *body = &module->functions[function];

    for (uint32_t i = body->instruction; i < body->instruction_end; i++) {
        if (!use(lanes, module, i))
            return false;
    }
    return true;
}

bool gd_lanes_find(gd_lanes *lanes, const gd_ptx_module *module, uint32_t function)
{
    bool done = each(lanes, module, function, put_in);

    if (done && lanes->table.count)
        done = each(lanes, module, function, take_out) && each(lanes, module, function, confirm);
    if (!done)
        gd_lanes_free(lanes);
    return done;
}

bool gd_lanes_has(const gd_lanes *lanes, const gd_ptx_module *module, uint32_t operand)
{
    return is_lane(lanes, &module->operands[operand]);
}

void gd_lanes_free(gd_lanes *lanes)
{
    gd_table_free(&lanes->table);
    gd_arena_free(&lanes->arena);
    *lanes = (gd_lanes){0};
}
