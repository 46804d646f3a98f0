/* The data flow of GD_STATE_* through one function. */
#ifndef GD_PTX_CHECK_WALK_H
#define GD_PTX_CHECK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/check/function.h"

typedef struct gd_walk {
    gd_check_functions *functions;
    const char *limit; /* the first limit that was passed, and where */
    uint32_t limit_instruction;
    griddep_error *error;
} gd_walk;

/* The state in front of each block of a function into which it comes with `state`; *states is the
 * caller's to free. Its last item is of the virtual exit. *states is NULL, and GRIDDEP_OK returned,
 * where a limit was passed. */
int32_t gd_walk_function(gd_walk *walk, uint32_t function, uint32_t state, uint16_t **states);

/* The state behind an instruction, and what an edge out of a block makes of it. */
int32_t gd_walk_instruction(gd_walk *walk, const gd_check_function *function, uint32_t instruction,
                            uint32_t *state, uint32_t depth);
uint32_t gd_walk_edge(const gd_check_function *function, uint32_t block, uint32_t successor,
                      uint32_t state);

/* Whether the last instruction of a block in front of the function's exit ends the thread and does
 * not return. */
bool gd_walk_ends_thread(const gd_flow *flow, const gd_ptx_instruction *last);

#endif
