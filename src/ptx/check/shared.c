/* Static shared memory of each entry: its own variables, those of the module that it names, and the
 * same of what it calls. A lower bound: what alignment adds is not counted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/check/limit.h"
#include "ptx/check/validity.h"

enum {
    SHARED_BYTES = 49152,                /* of most targets */
    SHARED_BYTES_SPECIFIC = 232448,      /* of sm_90a and later ones with an a */
    SHARED_BYTES_SPECIFIC_SMALL = 101376 /* ... from sm_120a on */
};

typedef struct counting {
    const gd_ptx_module *module;
    uint32_t *functions; /* by function: the entry, plus 1, that has visited it last */
    uint32_t *variables; /* likewise by symbol */
    uint32_t *stack;     /* functions to be visited */
    uint32_t depth;
    uint32_t stamp;
    uint64_t bytes;
    uint64_t visits; /* of operands and symbols */
} counting;

static uint32_t limit_of(const gd_ptx_module *module)
{
    const char *target = module->target;

    if (!target || !*target || target[strlen(target) - 1] != 'a' || module->capability < 90)
        return SHARED_BYTES;
    return module->capability < 120 ? SHARED_BYTES_SPECIFIC : SHARED_BYTES_SPECIFIC_SMALL;
}

static bool is_static(const gd_ptx_symbol *symbol)
{
    return symbol->kind == GD_SYMBOL_VARIABLE && symbol->space == GD_SPACE_SHARED &&
           !(symbol->link & GD_LINK_EXTERN);
}

static void count_variable(counting *count, uint32_t symbol)
{
    if (symbol >= count->module->symbol_count || !is_static(&count->module->symbols[symbol]) ||
        count->variables[symbol] == count->stamp)
        return;
    count->variables[symbol] = count->stamp;
    count->bytes += count->module->symbols[symbol].bytes;
}

static void push_function(counting *count, uint32_t function)
{
    if (function == GD_PTX_NONE || count->functions[function] == count->stamp)
        return;
    count->functions[function] = count->stamp;
    count->stack[count->depth++] = function;
}

static void count_function(counting *count, uint32_t index)
{
    const gd_ptx_module *module = count->module;
    const gd_ptx_function *function = &module->functions[index];

    for (uint32_t i = function->directive; i < function->directive_end; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        for (uint32_t k = directive->symbol;
             directive->kind == GD_DIRECTIVE_VARIABLE && k < directive->symbol_end; k++)
            count_variable(count, k);
    }
    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        for (uint32_t k = instruction->operand; k < instruction->operand_end; k++)
            count_variable(count, module->operands[k].symbol);
        if (gd_ops[instruction->op].control == GD_CONTROL_CALL)
            push_function(count, gd_ptx_call_function(module, instruction));
        count->visits += 1 + instruction->operand_end - instruction->operand;
    }
}

static void check_entry(gd_validity *check, counting *count, uint32_t entry)
{
    const gd_ptx_function *function = &check->module->functions[entry];
    uint32_t most = limit_of(check->module);

    count->stamp = entry + 1;
    count->bytes = 0;
    push_function(count, entry);
    while (count->depth && count->visits < GD_CHECK_LIMIT_VISITS)
        count_function(count, count->stack[--count->depth]);
    count->depth = 0;
    if (count->bytes > most)
        gd_validity_add(check, GD_CODE_GD016, function->token_name,
                        "more can be .extern .shared, whose size the launch gives",
                        "%s has %" PRIu64 " bytes of static shared memory; %u is the most",
                        function->name, count->bytes, (unsigned)most);
}

/* What a text has in all, so that few texts are looked at any closer. */
static uint64_t all_bytes(const gd_ptx_module *module)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < module->symbol_count; i++) {
        if (is_static(&module->symbols[i]))
            bytes += module->symbols[i].bytes;
    }
    return bytes;
}

void gd_check_shared(gd_validity *check)
{
    const gd_ptx_module *module = check->module;
    counting count = {.module = module};

    if (all_bytes(module) <= limit_of(module))
        return;
    count.functions = calloc((size_t)module->function_count + 1, sizeof *count.functions);
    count.variables = calloc((size_t)module->symbol_count + 1, sizeof *count.variables);
    count.stack = calloc((size_t)module->function_count + 1, sizeof *count.stack);
    check->failed |= !count.functions || !count.variables || !count.stack;
    for (uint32_t i = 0; i < module->entry_count && !check->failed; i++)
        check_entry(check, &count, module->entries[i]);
    free(count.functions);
    free(count.variables);
    free(count.stack);
}
