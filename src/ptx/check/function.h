/* What the checks know of each function of a module, made when it is first asked for: flow,
 * provenance, which branches divide threads, and whether all paths from a block wait. */
#ifndef GD_PTX_CHECK_FUNCTION_H
#define GD_PTX_CHECK_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/check/state.h"
#include "ptx/flow/flow.h"
#include "ptx/flow/provenance.h"
#include "ptx/flow/traits.h"

typedef struct gd_check_function {
    gd_flow *flow; /* NULL: not made yet, or beyond a limit */
    gd_origins *origins;
    uint8_t *
        scopes; /* by block: gd_scope of its last instruction's guard, or of an indirect branch's
                 * index */
    bool *
        waits; /* by block: on each path from its start this thread, or one that went another way,
                * waits */
    uint32_t *waiting_ways; /* by block: successors of which the same is true */
    bool made;
    bool refused; /* beyond a limit of flow or provenance: it may do anything */
    bool visiting;
} gd_check_function;

/* What a call does to each state: bit n of `known` says that out[n] has been found. Of one
 * generation only. */
typedef struct gd_call_summary {
    uint32_t generation;
    uint16_t out[GD_STATE_BITS];
    uint16_t known;
    bool visiting;
} gd_call_summary;

typedef struct gd_check_functions {
    const gd_ptx_module *module;
    gd_check_function *list;    /* by function of the module */
    gd_call_summary *summaries; /* likewise; check/walk.c's */
    uint8_t *
        orders; /* by instruction: gd_sync_kind of a barrier that orders, else 0; check/entry.c's */
    uint32_t generation;  /* of summaries */
    uint64_t visits_left; /* instructions that may still be looked at, GD_CHECK_LIMIT_VISITS */
    gd_dry_search *dry;   /* made when it is first asked for */
    bool warp_barriers;   /* the module has bar.warp.sync */
    bool cluster_ranks;   /* the module looks at a CTA's place in its cluster */
} gd_check_functions;

/* All zero is none. */
int32_t gd_check_functions_create(gd_check_functions *functions, const gd_ptx_module *module,
                                  griddep_error *error);
void gd_check_functions_free(gd_check_functions *functions);

/* A function with a body. On success it may be `refused`. Follows calls to know
 * whether they wait, GD_CHECK_LIMIT_CALL_DEPTH deep. */
int32_t gd_check_function_get(gd_check_functions *functions, uint32_t index,
                              const gd_check_function **function, griddep_error *error);

/* The search for paths on which nothing waits; NULL: no memory. */
const gd_dry_search *gd_check_dry_search(gd_check_functions *functions);

/* How an instruction's guard divides threads; GD_SCOPE_NONE without a guard. */
gd_scope gd_check_guard_scope(const gd_check_functions *functions,
                              const gd_check_function *function, uint32_t instruction);

#endif
