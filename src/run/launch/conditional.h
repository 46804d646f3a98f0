/* Conditions: names for the values that conditional nodes go by. The driver's handle for one
 * belongs to a CUgraph, and a graph has another CUgraph each time that it is built; so nodes and
 * arguments name the conditional, and each CUgraph comes with a list of what its handles are. */
#ifndef GD_RUN_CONDITIONAL_H
#define GD_RUN_CONDITIONAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cuda/abi.h"
#include "griddep.h"

struct griddep_conditional {
    atomic_uint references;
    uint32_t initial;
};

griddep_conditional *gd_conditional_hold(griddep_conditional *conditional);

/* The conditional that an argument names; NULL: it is a value. */
griddep_conditional *gd_conditional_of(const griddep_argument *argument);

/* The handles of a CUgraph. Conditions are held by who names them. */
typedef struct gd_binding {
    const griddep_conditional *conditional;
    gd_CUgraphConditionalHandle handle;
} gd_binding;

typedef struct gd_bindings {
    gd_binding *list;
    uint32_t count;
} gd_bindings;

/* The binding of a conditional; NULL. */
const gd_binding *gd_binding_find(const gd_bindings *bindings,
                                  const griddep_conditional *conditional);

#endif
