/* Conditional nodes of graphs, which the library adopts and does not make. */
#ifndef TESTS_CONDITIONAL_H
#define TESTS_CONDITIONAL_H

#include <check.h>
#include <dlfcn.h>
#include <string.h>

#include "cuda/driver.h"

/* An entry point of the driver that the library does not call. */
static inline void *find_symbol(const gd_driver *driver, const char *symbol)
{
    void *found = dlsym(driver->library, symbol);

    ck_assert_msg(found, "%s", symbol);
    return found;
}

/* Adds a conditional node with one empty body. */
static inline void add_conditional(const gd_driver *driver, gd_CUgraph to, void *context,
                                   unsigned initial)
{
    gd_CUresult (*make_handle)(gd_CUgraphConditionalHandle *, gd_CUgraph, gd_CUcontext, unsigned,
                               unsigned);
    gd_CUresult (*add_node)(gd_CUgraphNode *, gd_CUgraph, const gd_CUgraphNode *,
                            const gd_CUgraphEdgeData *, size_t, gd_CUgraphNodeParams *);
    void *symbols[2] = {find_symbol(driver, "cuGraphConditionalHandleCreate"),
                        find_symbol(driver, "cuGraphAddNode_v2")};
    gd_CUgraphNodeParams params = {.type = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                   .is.conditional = {.size = 1, .ctx = context}};
    gd_CUgraphNode node;

    memcpy(&make_handle, &symbols[0], sizeof symbols[0]);
    memcpy(&add_node, &symbols[1], sizeof symbols[1]);
    ck_assert_int_eq(make_handle(&params.is.conditional.handle, to, context, initial,
                                 GD_CU_GRAPH_COND_ASSIGN_DEFAULT),
                     GD_CUDA_SUCCESS);
    ck_assert_int_eq(add_node(&node, to, NULL, NULL, 0, &params), GD_CUDA_SUCCESS);
}

#endif
