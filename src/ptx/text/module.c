/* What the module's arrays are asked often. */
#include <stdlib.h>
#include <string.h>

#include "ptx/text/module.h"

const gd_ptx_type_info gd_ptx_types[GD_TYPE_COUNT] = {
    {.name = "", .bytes = 0},
#define GD_TYPE(identifier, text, size, class) {.name = text, .bytes = size},
#include "ptx/text/types.def"
#undef GD_TYPE
};

void gd_ptx_module_free(gd_ptx_module *module)
{
    gd_ptx_tokens_free(&module->tokens);
    gd_ptx_names_free(&module->names);
    gd_arena_free(&module->arena);
    free(module->text);
    free(module->diagnostics);
    free(module->scopes);
    free(module->symbols);
    free(module->operands);
    free(module->instructions);
    free(module->directives);
    free(module->functions);
    free(module->controls);
    free(module->entries);
    *module = (gd_ptx_module){0};
}

const char *gd_ptx_token_text(const gd_ptx_module *module, uint32_t token, uint32_t *length)
{
    *length = gd_token_length(module->tokens.list[token]);
    return module->text + module->tokens.list[token].offset;
}

const char *gd_ptx_name_text(const gd_ptx_module *module, uint32_t name, uint32_t *length)
{
    *length = module->names.list[name].length;
    return module->text + module->names.list[name].offset;
}

void gd_ptx_token_position(const gd_ptx_module *module, uint32_t token, int32_t *line,
                           int32_t *column)
{
    gd_ptx_tokens_position(&module->tokens, module->tokens.list[token].offset, line, column);
}

bool gd_ptx_token_is(const gd_ptx_module *module, uint32_t token, const char *text)
{
    uint32_t length;
    const char *found = gd_ptx_token_text(module, token, &length);

    return strlen(text) == length && memcmp(found, text, length) == 0;
}

uint32_t gd_ptx_call_operand(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    uint32_t operand = call->operand;

    if (operand < call->operand_end && module->operands[operand].kind == GD_OPERAND_LIST)
        operand = module->operands[operand].end;
    return operand < call->operand_end ? operand : GD_PTX_NONE;
}

/* The function that a symbol stands for, through one .alias: what is aliased must be a definition
 * (PTX ISA 11.6.6). */
static uint32_t function_of(const gd_ptx_module *module, uint32_t symbol)
{
    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_FUNCTION)
        return GD_PTX_NONE;
    uint32_t alias = module->symbols[symbol].directive;
    if (alias == GD_PTX_NONE)
        return module->symbols[symbol].target;
    uint32_t aliased = module->operands[module->directives[alias].operand + 1].symbol;
    return aliased != GD_PTX_NONE && module->symbols[aliased].kind == GD_SYMBOL_FUNCTION
               ? module->symbols[aliased].target
               : GD_PTX_NONE;
}

uint32_t gd_ptx_call_function(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    uint32_t operand = gd_ptx_call_operand(module, call);

    if (operand == GD_PTX_NONE || module->operands[operand].kind != GD_OPERAND_SYMBOL)
        return GD_PTX_NONE;
    return function_of(module, module->operands[operand].symbol);
}

const gd_ptx_directive *gd_ptx_operand_directive(const gd_ptx_module *module, uint32_t operand)
{
    const gd_ptx_operand *item = &module->operands[operand];

    if (item->kind != GD_OPERAND_SYMBOL || item->symbol == GD_PTX_NONE ||
        module->symbols[item->symbol].kind != GD_SYMBOL_LABEL ||
        module->symbols[item->symbol].directive == GD_PTX_NONE)
        return NULL;
    return &module->directives[module->symbols[item->symbol].directive];
}

/* The last operand of a call through a register names its list or its prototype. */
static const gd_ptx_directive *last_directive(const gd_ptx_module *module,
                                              const gd_ptx_instruction *call)
{
    uint32_t last = GD_PTX_NONE;

    for (uint32_t i = call->operand; i < call->operand_end; i = module->operands[i].end)
        last = i;
    return last == GD_PTX_NONE ? NULL : gd_ptx_operand_directive(module, last);
}

const gd_ptx_directive *gd_ptx_call_list(const gd_ptx_module *module,
                                         const gd_ptx_instruction *call)
{
    const gd_ptx_directive *list =
        gd_ptx_call_function(module, call) == GD_PTX_NONE ? last_directive(module, call) : NULL;

    return list && list->kind == GD_DIRECTIVE_CALLTARGETS && list->operand < list->operand_end
               ? list
               : NULL;
}

bool gd_ptx_call_never_returns(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    uint32_t callee = gd_ptx_call_function(module, call);
    const gd_ptx_directive *prototype = callee == GD_PTX_NONE ? last_directive(module, call) : NULL;

    return callee != GD_PTX_NONE ? module->functions[callee].flags & GD_FUNCTION_NORETURN
                                 : prototype && prototype->flags & GD_DIRECTIVE_NORETURN;
}

gd_call_targets gd_ptx_call_targets(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    const gd_ptx_directive *list = gd_ptx_call_list(module, call);

    return (gd_call_targets){.module = module,
                             .named = gd_ptx_call_function(module, call),
                             .operand = list ? list->operand : 0,
                             .operand_end = list ? list->operand_end : 0,
                             .listed = list};
}

bool gd_call_targets_next(gd_call_targets *targets, uint32_t *function)
{
    uint32_t found = targets->named;

    if (targets->over)
        return false;
    if (targets->listed) {
        found = function_of(targets->module, targets->module->operands[targets->operand].symbol);
        targets->operand = targets->module->operands[targets->operand].end;
    }
    targets->over = targets->operand >= targets->operand_end;
    *function = found != GD_PTX_NONE && targets->module->functions[found].flags & GD_FUNCTION_BODY
                    ? found
                    : GD_PTX_NONE;
    return true;
}

bool gd_ptx_is_system_call(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    static const char *const names[] = {"__assertfail", "vprintf", "malloc", "free",
                                        "cudaGraphSetConditional"};
    uint32_t operand = gd_ptx_call_operand(module, call),
             callee = gd_ptx_call_function(module, call);

    if (operand == GD_PTX_NONE || module->operands[operand].kind != GD_OPERAND_SYMBOL ||
        (callee != GD_PTX_NONE && module->functions[callee].flags & GD_FUNCTION_BODY))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (gd_ptx_token_is(module, module->operands[operand].token, names[i]))
            return i == 0 || !gd_ptx_call_never_returns(module, call);
    }
    return false;
}
