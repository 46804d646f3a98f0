/* Graphs as entry points make, update and launch them. */
#ifndef GD_EMULATOR_DRIVER_GRAPH_H
#define GD_EMULATOR_DRIVER_GRAPH_H

#include "emulator/schedule/executable.h"

/* The work of a conditional node that is to be added to the graph. */
gd_CUresult gd_conditional_make(gd_graph *graph, const gd_CUDA_CONDITIONAL_NODE_PARAMS *params,
                                gd_work *work);

/* Why a graph cannot be instantiated, as cuGraphInstantiateWithParams tells it. */
typedef struct gd_instantiate_refusal {
    int32_t result; /* CUDA_GRAPH_INSTANTIATE_* */
    void *node;     /* handle; NULL */
} gd_instantiate_refusal;

/* Makes *executable of a graph; INVALID_VALUE when the graph has a cycle, a condition without a
 * node, or in a body what cannot stand there; NOT_SUPPORTED when it has a conditional node and
 * another executable. */
gd_CUresult gd_executable_create(const gd_graph *graph, gd_context *context, uint64_t flags,
                                 gd_executable **executable, gd_instantiate_refusal *refusal);

/* Gives an executable what the nodes of a graph of the same shape do; *outcome is a
 * CU_GRAPH_EXEC_UPDATE_*, *node the graph's that differs, or NULL. */
gd_CUresult gd_executable_update(gd_executable *executable, const gd_graph *graph, int32_t *outcome,
                                 void **node);
gd_CUresult gd_executable_launch(gd_executable *executable, gd_stream *stream);

/* The node that was made of a graph's node; NULL. */
gd_executable_node *gd_executable_find(gd_executable *executable, const void *handle);

#endif
