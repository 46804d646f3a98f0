/* Control flow of one function: basic blocks, edges, dominators, post-dominators, loops.
 *
 * Blocks are numbered in the order of the text; block 0 holds the first instruction. Every way to
 * leave the function (ret, exit, a predicated one, the end of the body) is an edge to the virtual
 * block GD_FLOW_EXIT = count. A trap and a call that never returns have no successor. A branch
 * whose targets cannot be told (an unresolved label, list or unknown instruction) marks its block
 * `anywhere`: it has an edge to every block whose first instruction has a label, to the one behind
 * it, and to the exit. A call is an ordinary instruction inside its block. */
#ifndef GD_PTX_FLOW_FLOW_H
#define GD_PTX_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/text/module.h"

typedef struct gd_flow_block {
    uint32_t instruction, instruction_end; /* of the module */
    uint32_t successor, successor_end;     /* indices of edges; each block stands there once */
    uint32_t predecessor, predecessor_end;
    uint32_t dominator; /* immediate; GD_PTX_NONE for block 0 and what cannot be reached */
    uint32_t
        postdominator; /* immediate; the exit's number possibly; GD_PTX_NONE where the exit cannot
                        * be reached */
    uint32_t order; /* place in reverse postorder; GD_PTX_NONE where it cannot be reached */
    uint32_t
        loop; /* header block of the innermost natural loop around it, itself for a header;
               * GD_PTX_NONE: none */
    uint32_t depth; /* loops around it */
    bool anywhere;
    uint32_t enter,
        leave; /* the block's place in the dominator tree: it dominates those that enter in */
    uint32_t post_enter,
        post_leave; /* [enter, leave); likewise for post-dominators. Both 0: not in the tree */
} gd_flow_block;

typedef struct gd_flow {
    const gd_ptx_module *module;
    uint32_t function;
    gd_flow_block *blocks; /* count + 1 of them: the last is the virtual exit */
    uint32_t count;        /* 0 for a body without instructions */
    uint32_t *edges; /* block numbers: the successors of all blocks, then the predecessors of all */
    uint32_t edge_count; /* of both */
    uint32_t *order;     /* blocks that can be reached, in reverse postorder; the exit last */
    uint32_t order_count;
    uint32_t *block_of; /* by instruction minus the function's first */
    bool
        irreducible; /* some cycle is no natural loop: then `loop` of its blocks is the first of
                      * them in order */
} gd_flow;

/* Builds the flow of a function with a body. Linear but for the dominators, which are nearly so.
 * GRIDDEP_ERROR_LIMIT with the limit's name where branches to anywhere and long lists make more
 * than GD_PTX_LIMIT_EDGES edges. */
int32_t gd_flow_create(const gd_ptx_module *module, uint32_t function, gd_flow **flow,
                       griddep_error *error);
void gd_flow_destroy(gd_flow *flow);

uint32_t gd_flow_block_of(const gd_flow *flow, uint32_t instruction);

/* Whether every path from the entry to b (an instruction) passes a, and whether every path from a
 * to the exit passes b. An instruction dominates and post-dominates itself; a guarded instruction
 * is passed whether its guard holds or not. Nothing is claimed where there is no path: what cannot
 * be reached is dominated, and what cannot reach the exit post-dominated, by instructions of its
 * own block only. */
bool gd_flow_dominates(const gd_flow *flow, uint32_t a, uint32_t b);
bool gd_flow_postdominates(const gd_flow *flow, uint32_t b, uint32_t a);

/* Whether a block can be reached from itself. */
bool gd_flow_repeats(const gd_flow *flow, uint32_t block);

#endif
