/* Calls that instantiate, update, launch and end graphs. */
#include "attach/graphs.h"
#include "attach/process.h"
#include "attach/recordedgraph.h"
#include "attach/see.h"
#include "attach/streams.h"
#include "attach/times.h"

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

/* An executable graph was made, or updated to another graph. */
static void end(gd_plain_edges *edges, const gd_CUgraphExec *executable, gd_CUgraphExec updated,
                gd_CUgraph graph, gd_CUresult result)
{
    const uint32_t changed = edges->count;
    int kept;

    gd_graphs_restore(edges);
    if (executable && result == GD_CUDA_SUCCESS && gd_process_lock(&kept)) {
        gd_graphs_add(*executable, graph, changed);
        gd_recordedgraph_add(*executable, graph);
        gd_process_unlock(kept);
    }
    if (updated && result == GD_CUDA_SUCCESS && gd_process_lock(&kept)) {
        gd_recordedgraph_add(updated, graph);
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
           (gd_graphs_end(executable), gd_recordedgraph_end(executable)));
}

/* What its nodes launch is not followed from here on. */
#define GD_CHANGE(symbol, type, value)                                                             \
    gd_CUresult symbol(gd_CUgraphExec executable, gd_CUgraphNode node, type value)                 \
    {                                                                                              \
        GD_SEE(GD_NEXT(symbol, executable, node, value), gd_recordedgraph_end(executable));        \
    }

GD_CHANGE(cuGraphExecKernelNodeSetParams, const gd_CUDA_KERNEL_NODE_PARAMS_v1 *, params)
GD_CHANGE(cuGraphExecKernelNodeSetParams_v2, const gd_CUDA_KERNEL_NODE_PARAMS *, params)
GD_CHANGE(cuGraphExecNodeSetParams, gd_CUgraphNodeParams *, params)
GD_CHANGE(cuGraphNodeSetEnabled, unsigned int, enabled)

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
                gd_graphs_launch(executable);                                                      \
                gd_process_unlock(kept);                                                           \
            }                                                                                      \
        }                                                                                          \
        if (seen)                                                                                  \
            gd_process_leave();                                                                    \
        return result;                                                                             \
    }

GD_LAUNCH_GRAPH(cuGraphLaunch, false)
GD_LAUNCH_GRAPH(cuGraphLaunch_ptsz, true)
