#include "ptx/text/open.h"

#include <string.h>

/* Functions that the driver gives to each module, as ptxas knows them; their declarations have no
 * body. */
static bool is_system_function(const char *name)
{
    static const char *const names[] = {
        "vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional", "cudaGraphLaunch"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i]))
            return true;
    }
    return !strncmp(name, "cnp", 3) || !strncmp(name, "__cuda_syscall_", 15);
}

static bool is_defined_variable(const gd_ptx_module *module, uint32_t symbol)
{
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const gd_ptx_symbol *other = &module->symbols[i];
        if (other->name == module->symbols[symbol].name && other->kind == GD_SYMBOL_VARIABLE &&
            other->scope == 0 && !(other->link & GD_LINK_EXTERN))
            return true;
    }
    return false;
}

const char *gd_ptx_find_open(const gd_ptx_module *module, const gd_ptx_operand *operand,
                             bool linked)
{
    if (operand->kind != GD_OPERAND_SYMBOL || operand->symbol == GD_PTX_NONE)
        return NULL;
    const gd_ptx_symbol *symbol = &module->symbols[operand->symbol];
    if (symbol->kind == GD_SYMBOL_FUNCTION) {
        const gd_ptx_function *function = &module->functions[symbol->target];
        return function->flags & GD_FUNCTION_BODY || is_system_function(function->name)
                   ? NULL
                   : "function";
    }
    return linked && symbol->kind == GD_SYMBOL_VARIABLE && symbol->link & GD_LINK_EXTERN &&
                   symbol->space != GD_SPACE_SHARED && !is_defined_variable(module, operand->symbol)
               ? "variable"
               : NULL;
}
