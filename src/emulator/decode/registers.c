/* An estimate of the registers that a compiler would give a function: PTX names as many as it
 * likes. */
#include <stdlib.h>

#include "emulator/execute/program.h"

enum { LEAST = 16, MOST = 255, EXTRA = 6 };

typedef struct span {
    uint32_t first, last, words;
} span;

static void mention(const gd_ptx_module *module, span *spans, uint32_t operand, uint32_t at)
{
    const gd_ptx_operand *item = &module->operands[operand];

    if (item->kind != GD_OPERAND_REGISTER || module->symbols[item->symbol].target == GD_PTX_NONE)
        return;
    const gd_ptx_symbol *symbol = &module->symbols[item->symbol];
    uint32_t component =
        item->component && item->component <= symbol->vector ? item->component - 1u : 0;
    span *found = &spans[symbol->target + item->index * symbol->vector + component];
    if (!found->words) {
        uint32_t bytes = gd_ptx_types[symbol->type].bytes;
        found->first = at;
        found->words = bytes == 0 ? 0 : (bytes + 3) / 4;
    }
    found->last = at;
}

/* A value that enters a loop from before and is read in it lives until the loop's end. */
static void stretch(const gd_ptx_module *module, const gd_ptx_function *function, span *spans)
{
    for (uint32_t at = function->instruction; at < function->instruction_end; at++) {
        const gd_ptx_instruction *item = &module->instructions[at];
        if (item->op != GD_OP_BRA || item->operand == item->operand_end)
            continue;
        uint32_t symbol = module->operands[item->operand].symbol;
        if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_LABEL)
            continue;
        uint32_t target = module->symbols[symbol].target;
        for (uint32_t i = 0; target <= at && i < function->register_count; i++) {
            if (spans[i].words && spans[i].first < target && spans[i].last >= target &&
                spans[i].last < at)
                spans[i].last = at;
        }
    }
}

static uint32_t most_at_once(const gd_ptx_function *function, const span *spans, uint32_t *change)
{
    uint64_t now = 0, most = 0;

    for (uint32_t i = 0; i < function->register_count; i++) {
        if (!spans[i].words)
            continue;
        change[spans[i].first - function->instruction] += spans[i].words;
        change[spans[i].last - function->instruction + 1] -= spans[i].words;
    }
    for (uint32_t i = 0; i < function->instruction_end - function->instruction; i++) {
        now = (uint32_t)now + change[i];
        now = (uint32_t)now;
        most = now > most ? now : most;
    }
    return most > MOST ? MOST : (uint32_t)most;
}

/* How much of the work a large function's loops would be: beyond it they are left out. */
static bool is_small(const gd_ptx_function *function)
{
    return (uint64_t)function->register_count *
               (function->instruction_end - function->instruction) <
           (UINT64_C(1) << 26);
}

uint32_t gd_registers_estimate(const gd_ptx_module *module, const gd_ptx_function *function)
{
    uint32_t count = function->instruction_end - function->instruction,
             limit = function->limits[GD_PERFORMANCE_MAXNREG][0];
    span *spans = calloc((size_t)function->register_count + 1, sizeof *spans);
    uint32_t *change = calloc((size_t)count + 2, sizeof *change);
    uint32_t result = MOST;

    if (spans && change) {
        for (uint32_t at = function->instruction; at < function->instruction_end; at++) {
            const gd_ptx_instruction *item = &module->instructions[at];
            uint32_t first = item->operand - (item->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
            for (uint32_t operand = first; operand < item->operand_end; operand++)
                mention(module, spans, operand, at);
        }
        if (is_small(function))
            stretch(module, function, spans);
        result = most_at_once(function, spans, change) + EXTRA;
    }
    free(spans);
    free(change);
    result = result < LEAST ? LEAST : result > MOST ? MOST : result;
    return limit && limit < result ? (limit < LEAST ? LEAST : limit) : result;
}
