/* Calls that instantiate, update, launch and end graphs. */
#include "attach/executables.h"
#include "attach/graphs.h"
#include "attach/kernels.h"
#include "attach/process.h"
#include "attach/recordedgraph.h"
#include "attach/see.h"
#include "attach/streams.h"
#include "attach/times.h"
#include "griddep.h"

/* Between both the program's graph may have plain edges in place of its own. */
static bool begin(gd_CUgraph graph, gd_plain_edges *edges)
{
    *edges = (gd_plain_edges){0};
    if (!gd_process_enter())
        return false;
    if (graph && gd_process_settings()->early == GD_ATTACHED_EARLY_OFF)
        gd_graphs_make_plain(graph, edges);
    return true;
}

/* An executable graph was made, or updated to another graph. It counts with the edges that the
 * driver was given; a recording has the program's own. */
static void end(gd_plain_edges *edges, const gd_CUgraphExec *executable, gd_CUgraphExec updated,
                gd_CUgraph graph, gd_CUresult result)
{
    const bool counts = result == GD_CUDA_SUCCESS && (executable || updated);
    int kept;

    if (counts && gd_process_lock(&kept)) {
        if (executable)
            gd_executables_add(*executable, graph, edges->count);
        else
            gd_executables_update(updated, graph);
        gd_process_unlock(kept);
    }
    gd_graphs_restore(edges);
    if (counts && gd_process_lock(&kept)) {
        gd_recordedgraph_add(executable ? *executable : updated, graph);
        gd_process_unlock(kept);
    }
    gd_process_leave();
}

#define GD_AROUND(graph, made, updated, call)                                                      \
    do {                                                                                           \
        gd_plain_edges edges_;                                                                     \
        const bool seen_ = begin(graph, &edges_);                                                  \
        const gd_CUresult result_ = call;                                                          \
        if (seen_)                                                                                 \
            end(&edges_, made, updated, graph, result_);                                           \
        return result_;                                                                            \
    } while (0)

gd_CUresult cuGraphInstantiate(gd_CUgraphExec *executable, gd_CUgraph graph, gd_CUgraphNode *node,
                               char *log_buffer, size_t buffer_size)
{
    GD_AROUND(graph, executable, NULL,
              GD_NEXT(cuGraphInstantiate, executable, graph, node, log_buffer, buffer_size));
}

gd_CUresult cuGraphInstantiate_v2(gd_CUgraphExec *executable, gd_CUgraph graph,
                                  gd_CUgraphNode *node, char *log, size_t bytes)
{
    GD_AROUND(graph, executable, NULL,
              GD_NEXT(cuGraphInstantiate_v2, executable, graph, node, log, bytes));
}

gd_CUresult cuGraphInstantiateWithFlags(gd_CUgraphExec *executable, gd_CUgraph graph,
                                        unsigned long long flags)
{
    GD_AROUND(graph, executable, NULL,
              GD_NEXT(cuGraphInstantiateWithFlags, executable, graph, flags));
}

gd_CUresult cuGraphInstantiateWithParams(gd_CUgraphExec *executable, gd_CUgraph graph,
                                         gd_CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    GD_AROUND(graph, executable, NULL,
              GD_NEXT(cuGraphInstantiateWithParams, executable, graph, params));
}

gd_CUresult cuGraphInstantiateWithParams_ptsz(gd_CUgraphExec *executable, gd_CUgraph graph,
                                              gd_CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    GD_AROUND(graph, executable, NULL,
              GD_NEXT(cuGraphInstantiateWithParams_ptsz, executable, graph, params));
}

/* An update must find the edges that the executable graph was made with. */
gd_CUresult cuGraphExecUpdate(gd_CUgraphExec executable, gd_CUgraph graph, gd_CUgraphNode *node,
                              gd_CUgraphExecUpdateResult *outcome)
{
    GD_AROUND(graph, NULL, executable,
              GD_NEXT(cuGraphExecUpdate, executable, graph, node, outcome));
}

gd_CUresult cuGraphExecUpdate_v2(gd_CUgraphExec executable, gd_CUgraph graph,
                                 gd_CUgraphExecUpdateResultInfo *info)
{
    GD_AROUND(graph, NULL, executable, GD_NEXT(cuGraphExecUpdate_v2, executable, graph, info));
}

gd_CUresult cuGraphExecDestroy(gd_CUgraphExec executable)
{
    GD_SEE(GD_NEXT(cuGraphExecDestroy, executable),
           (gd_executables_end(executable), gd_recordedgraph_end(executable)));
}

/* ---- nodes of an executable graph; a recording does not follow them from here on ---- */

/* Behind a programmatic edge, which on may have made, a kernel must wait as on asks of all. */
static bool may_launch(gd_CUgraphExec executable, gd_CUgraphNode node,
                       const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    bool may = true;
    int kept;

    if (!params || gd_process_settings()->early < GD_ATTACHED_EARLY_ON || !gd_process_lock(&kept))
        return may;
    if (gd_executables_is_early(executable, node, params) &&
        gd_kernels_reason(gd_graph_function(params)) != GRIDDEP_REASON_SET) {
        may = false;
        gd_process_say("a kernel of an executable graph was not exchanged for one that may not "
                       "start early: the program was told that the graph cannot be updated so");
    }
    gd_process_unlock(kept);
    return may;
}

static void note_kernel(gd_CUgraphExec executable, gd_CUgraphNode node,
                        const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    gd_recordedgraph_end(executable);
    if (params)
        gd_executables_set_kernel(executable, node, params);
}

/* params: what of the arguments is about a kernel; NULL: nothing. */
#define GD_SET_KERNEL(symbol, type, value, params)                                                 \
    gd_CUresult symbol(gd_CUgraphExec executable, gd_CUgraphNode node, type value)                 \
    {                                                                                              \
        const gd_CUDA_KERNEL_NODE_PARAMS *const params_ = params;                                  \
        GD_SEE(seen_ && !may_launch(executable, node, params_)                                     \
                   ? GD_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE                                       \
                   : GD_NEXT(symbol, executable, node, value),                                     \
               note_kernel(executable, node, params_));                                            \
    }

GD_SET_KERNEL(cuGraphExecKernelNodeSetParams_v2, const gd_CUDA_KERNEL_NODE_PARAMS *, params, params)
GD_SET_KERNEL(cuGraphExecKernelNodeSetParams, const gd_CUDA_KERNEL_NODE_PARAMS_v1 *, params,
              params ? (&(gd_CUDA_KERNEL_NODE_PARAMS){.func = params->func,
                                                      .gridDimX = params->gridDimX,
                                                      .gridDimY = params->gridDimY,
                                                      .gridDimZ = params->gridDimZ,
                                                      .blockDimX = params->blockDimX,
                                                      .blockDimY = params->blockDimY,
                                                      .blockDimZ = params->blockDimZ,
                                                      .sharedMemBytes = params->sharedMemBytes})
                     : NULL)
GD_SET_KERNEL(cuGraphExecNodeSetParams, gd_CUgraphNodeParams *, params,
              params && params->type == GD_CU_GRAPH_NODE_TYPE_KERNEL ? &params->is.kernel : NULL)

gd_CUresult cuGraphNodeSetEnabled(gd_CUgraphExec executable, gd_CUgraphNode node,
                                  unsigned int enabled)
{
    GD_SEE(
        GD_NEXT(cuGraphNodeSetEnabled, executable, node, enabled),
        (gd_recordedgraph_end(executable), gd_executables_enable(executable, node, enabled != 0)));
}

gd_CUresult cuGraphExecChildGraphNodeSetParams(gd_CUgraphExec executable, gd_CUgraphNode node,
                                               gd_CUgraph child)
{
    GD_SEE(GD_NEXT(cuGraphExecChildGraphNodeSetParams, executable, node, child),
           (gd_recordedgraph_end(executable), gd_executables_set_child(executable, node, child)));
}

/* ---- launches ---- */

#define GD_LAUNCH_GRAPH(symbol, is_per_thread)                                                     \
    gd_CUresult symbol(gd_CUgraphExec executable, gd_CUstream stream)                              \
    {                                                                                              \
        int kept;                                                                                  \
        const bool seen = gd_process_enter();                                                      \
        gd_recorded_run run = {0};                                                                 \
        gd_time_pair times = {0};                                                                  \
        const gd_CUlaunchConfig config = {.hStream = stream};                                      \
        const gd_seen_launch launch = {.config = &config, .per_thread = is_per_thread};            \
        if (seen)                                                                                  \
            run = gd_recordedgraph_begin(executable, stream, is_per_thread);                       \
        if (seen && gd_process_settings()->spans)                                                  \
            times = gd_times_begin(&launch);                                                       \
        const gd_CUresult result = GD_NEXT(symbol, executable, stream);                            \
        gd_times_end(times, &launch, result);                                                      \
        gd_recordedgraph_finish(&run, result);                                                     \
        if (seen && result == GD_CUDA_SUCCESS) {                                                   \
            gd_streams_work(stream, is_per_thread, GD_ATTACHED_GRAPH_RUN, NULL);                   \
            if (gd_process_lock(&kept)) {                                                          \
                gd_executables_launch(executable);                                                 \
                gd_process_unlock(kept);                                                           \
            }                                                                                      \
        }                                                                                          \
        if (seen)                                                                                  \
            gd_process_leave();                                                                    \
        return result;                                                                             \
    }

GD_LAUNCH_GRAPH(cuGraphLaunch, false)
GD_LAUNCH_GRAPH(cuGraphLaunch_ptsz, true)
