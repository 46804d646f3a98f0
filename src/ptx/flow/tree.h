/* Trees over the blocks of a flow: depth-first walks, dominators, loops. For flow.c alone. */
#ifndef GD_PTX_FLOW_TREE_H
#define GD_PTX_FLOW_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/flow/flow.h"

/* A depth-first walk. Blocks have numbers in the order in which they are found. */
typedef struct gd_flow_walk {
    uint32_t *number; /* by block; GD_PTX_NONE: not found */
    uint32_t *block;  /* by number */
    uint32_t *
        parent; /* by number: the number of the block it was found from; GD_PTX_NONE for the root */
    uint32_t *finished; /* blocks in the order in which the walk left them */
    uint32_t *
        common; /* by edge that is not the tree's: the deepest block above both ends; else
                 * GD_PTX_NONE */
    uint32_t count;
} gd_flow_walk;

/* Along the edges, or against them. false: no memory; a walk can be freed in any case. */
bool gd_flow_walk_create(gd_flow_walk *walk, const gd_flow *flow, uint32_t root, bool against);
void gd_flow_walk_free(gd_flow_walk *walk);

/* Fills dominator, enter, leave of the blocks found by a walk from block 0, or the post ones by a
 * walk from the exit against the edges. false: no memory. */
bool gd_flow_dominators(gd_flow *flow, const gd_flow_walk *walk, bool against);

/* Fills loop, depth and irreducible, after the dominators. false: no memory. */
bool gd_flow_loops(gd_flow *flow, const gd_flow_walk *walk);

#endif
