/* Conditions and the arguments that name them. */
#include <stdlib.h>

#include "base/error.h"
#include "run/launch/conditional.h"

griddep_conditional *gd_conditional_hold(griddep_conditional *conditional)
{
    atomic_fetch_add_explicit(&conditional->references, 1u, memory_order_relaxed);
    return conditional;
}

griddep_conditional *gd_conditional_of(const griddep_argument *argument)
{
    bool names = argument->kind == GRIDDEP_ARGUMENT_CONDITIONAL &&
                 argument->bytes == sizeof(gd_CUgraphConditionalHandle) && !argument->data;

    return names ? (griddep_conditional *)(uintptr_t)argument->value : NULL;
}

const gd_binding *gd_binding_find(const gd_bindings *bindings,
                                  const griddep_conditional *conditional)
{
    for (uint32_t i = 0; i < bindings->count; i++) {
        if (bindings->list[i].conditional == conditional)
            return &bindings->list[i];
    }
    return NULL;
}

/* ---- public ---- */

int32_t griddep_conditional_create(uint32_t initial, griddep_conditional **conditional,
                                   griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!conditional)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "conditional is NULL");
    griddep_conditional *made = calloc(1, sizeof *made);
    if (!made)
        return gd_error_memory(error);
    atomic_init(&made->references, 1u);
    made->initial = initial;
    *conditional = made;
    return GRIDDEP_OK;
}

void griddep_conditional_destroy(griddep_conditional *conditional)
{
    if (conditional &&
        atomic_fetch_sub_explicit(&conditional->references, 1u, memory_order_acq_rel) == 1)
        free(conditional);
}

int32_t griddep_conditional_argument(griddep_conditional *conditional, griddep_argument *argument,
                                     griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!conditional || !argument)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            conditional ? "argument" : "conditional");
    *argument = (griddep_argument){.bytes = sizeof(gd_CUgraphConditionalHandle),
                                   .kind = GRIDDEP_ARGUMENT_CONDITIONAL,
                                   .value = (uint64_t)(uintptr_t)conditional};
    return GRIDDEP_OK;
}
