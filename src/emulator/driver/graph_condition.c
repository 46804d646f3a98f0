/* cuGraphConditionalHandleCreate, and the work of conditional nodes. */
#include <stdlib.h>

#include "emulator/driver/call.h"
#include "emulator/schedule/device.h"
#include "emulator/driver/graph.h"

gd_CUresult gd_cuGraphConditionalHandleCreate(gd_CUgraphConditionalHandle *handle,
                                              gd_CUgraph graph_handle, gd_CUcontext owner,
                                              unsigned int initial, unsigned int flags)
{
    gd_graph *graph = gd_object_find(graph_handle, GD_OBJECT_GRAPH);

    if (!handle || !graph || (flags & ~(unsigned)GD_CU_GRAPH_COND_ASSIGN_DEFAULT))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!gd_object_find(owner, GD_OBJECT_CONTEXT))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    graph = gd_graph_outermost(graph);
    gd_condition *made = gd_condition_create(initial, flags & GD_CU_GRAPH_COND_ASSIGN_DEFAULT);
    bool added = made && gd_graph_add_condition(graph, made);
    if (added)
        *handle = graph->condition_count;
    gd_condition_release(made);
    return added ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

static bool is_size(gd_CUgraphConditionalNodeType type, unsigned size)
{
    switch (type) {
    case GD_CU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case GD_CU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    default:
        return type == GD_CU_GRAPH_COND_TYPE_SWITCH && size >= 1;
    }
}

static bool make_bodies(gd_conditional_work *work)
{
    work->bodies = calloc(work->count, sizeof(gd_graph *));
    work->handles = calloc(work->count, sizeof *work->handles);
    for (uint32_t i = 0; work->bodies && work->handles && i < work->count; i++) {
        work->bodies[i] = gd_graph_create();
        if (!work->bodies[i])
            return false;
        work->handles[i] = work->bodies[i]->object.handle;
    }
    return work->bodies && work->handles;
}

gd_CUresult gd_conditional_make(gd_graph *graph, const gd_CUDA_CONDITIONAL_NODE_PARAMS *params,
                                gd_work *work)
{
    const gd_graph *outermost = gd_graph_outermost(graph);
    gd_condition *condition = params->handle - 1 < outermost->condition_count
                                  ? outermost->conditions[params->handle - 1]
                                  : NULL;

    if (!condition || condition->taken || !is_size(params->type, params->size))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!gd_object_find(params->ctx, GD_OBJECT_CONTEXT))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    *work = (gd_work){.kind = GD_WORK_CONDITIONAL,
                      .context = params->ctx,
                      .is.conditional = {.condition = gd_condition_hold(condition),
                                         .type = params->type,
                                         .count = params->size}};
    if (make_bodies(&work->is.conditional))
        return GD_CUDA_SUCCESS;
    gd_work_free(work);
    return GD_CUDA_ERROR_OUT_OF_MEMORY;
}
