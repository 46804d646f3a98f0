/* Of each executable graph its kernels, copies and fills in an order that its edges allow, with
 * copies of the kernels' arguments. */
#include "attach/recordedgraph.h"

#include <stdlib.h>
#include <string.h>

#include "attach/graphs.h"
#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/process.h"

typedef struct kept_launch {
    bool is_move;
    gd_recorded_move move;
    gd_CUfunction function;
    gd_CUlaunchConfig config;
    gd_CUlaunchAttribute cluster;
    bool early, cooperative;
    unsigned char *packed; /* its arguments, at their offsets */
} kept_launch;

typedef struct kept_graph {
    kept_launch *list;
    uint32_t count;
    bool other; /* it has nodes of other kinds, or more than there is memory for */
} kept_graph;

static gd_map graphs; /* by executable */

static void free_graph(kept_graph *graph)
{
    if (!graph)
        return;
    for (uint32_t i = 0; i < graph->count; i++)
        free(graph->list[i].packed);
    free(graph->list);
    free(graph);
}

/* ---- keeping ---- */

static void read_attributes(gd_CUgraphNode node, kept_launch *launch)
{
    gd_CUlaunchAttributeValue value = {0};

    if (!GD_NEXT(cuGraphKernelNodeGetAttribute, node, GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value))
        launch->cooperative = value.cooperative != 0;
    if (!GD_NEXT(cuGraphKernelNodeGetAttribute, node, GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                 &value) &&
        value.clusterDim.x)
        launch->cluster =
            (gd_CUlaunchAttribute){.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = value};
}

/* NULL: no memory. */
static kept_launch *add_kept(kept_graph *into)
{
    kept_launch *grown = realloc(into->list, (into->count + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    into->list = grown;
    grown[into->count] = (kept_launch){0};
    return &grown[into->count++];
}

static bool keep_move(kept_graph *into, const gd_recorded_move *move)
{
    kept_launch *launch = add_kept(into);

    if (launch)
        *launch = (kept_launch){.is_move = true, .move = *move};
    return launch != NULL;
}

static bool is_host(int32_t type, uint64_t address)
{
    gd_CUdeviceptr start = 0;
    size_t bytes = 0;

    return type == GD_CU_MEMORYTYPE_HOST ||
           (type == GD_CU_MEMORYTYPE_UNIFIED &&
            GD_NEXT(cuMemGetAddressRange_v2, &start, &bytes, address) != GD_CUDA_SUCCESS);
}

/* Rows that follow each other without a gap are one. */
static bool is_dense(size_t width, size_t height, size_t pitch)
{
    return height == 1 || pitch == width;
}

/* What is copied to the host is of no concern for launches. */
static bool keep_copy(kept_graph *into, gd_CUgraphNode node)
{
    gd_CUDA_MEMCPY3D copy = {0};

    if (GD_NEXT(cuGraphMemcpyNodeGetParams, node, &copy) ||
        copy.srcMemoryType == GD_CU_MEMORYTYPE_ARRAY ||
        copy.dstMemoryType == GD_CU_MEMORYTYPE_ARRAY)
        return false;
    const bool to_host = is_host(copy.dstMemoryType, copy.dstDevice);
    const bool from_host = is_host(copy.srcMemoryType, copy.srcDevice);
    const uint64_t target = copy.dstDevice + copy.dstXInBytes;
    const unsigned char *host = copy.srcMemoryType == GD_CU_MEMORYTYPE_HOST
                                    ? copy.srcHost
                                    : (const void *)(uintptr_t)copy.srcDevice;
    if (to_host || !copy.WidthInBytes || !copy.Height || !copy.Depth)
        return true;
    if (copy.Depth != 1 || copy.srcY || copy.srcZ || copy.dstY || copy.dstZ ||
        !is_dense(copy.WidthInBytes, copy.Height, copy.srcPitch) ||
        !is_dense(copy.WidthInBytes, copy.Height, copy.dstPitch))
        return false;
    return keep_move(into,
                     &(gd_recorded_move){.to = target,
                                         .from = from_host ? 0 : copy.srcDevice + copy.srcXInBytes,
                                         .host = from_host ? host + copy.srcXInBytes : NULL,
                                         .bytes = copy.WidthInBytes * copy.Height});
}

/* Of a value whose bytes differ no fill can tell. */
static bool keep_fill(kept_graph *into, gd_CUgraphNode node)
{
    gd_CUDA_MEMSET_NODE_PARAMS_v1 fill = {0};

    if (GD_NEXT(cuGraphMemsetNodeGetParams, node, &fill))
        return false;
    const size_t width = fill.width * fill.elementSize;
    const uint32_t mask = fill.elementSize < 4 ? (1U << 8 * fill.elementSize) - 1 : UINT32_MAX;
    const uint32_t value = fill.value & mask, all = (value & 0xff) * 0x01010101U & mask;
    if (!width || !fill.height)
        return true;
    if (value != all || !is_dense(width, fill.height, fill.pitch))
        return false;
    return keep_move(into, &(gd_recorded_move){.to = fill.dst,
                                               .bytes = width * fill.height,
                                               .is_fill = true,
                                               .value = (unsigned char)value});
}

static bool keep_kernel(kept_graph *into, gd_CUgraphNode node, bool early)
{
    gd_CUDA_KERNEL_NODE_PARAMS params = {0};

    if (GD_NEXT(cuGraphKernelNodeGetParams_v2, node, &params))
        return false;
    kept_launch *launch = add_kept(into);
    if (!launch)
        return false;
    *launch = (kept_launch){
        .function = gd_graph_function(&params), .config = gd_graph_config(&params), .early = early};
    launch->packed = gd_recording_pack(launch->function, params.kernelParams, params.extra);
    read_attributes(node, launch);
    return launch->packed != NULL;
}

static bool keep_graph(kept_graph *into, gd_CUgraph graph, uint32_t level);

static bool keep_node(kept_graph *into, gd_CUgraphNode node, bool early, uint32_t level)
{
    gd_CUgraphNodeType type = GD_CU_GRAPH_NODE_TYPE_HOST;
    gd_CUgraph child = NULL;

    GD_NEXT(cuGraphNodeGetType, node, &type);
    switch (type) {
    case GD_CU_GRAPH_NODE_TYPE_KERNEL:
        return keep_kernel(into, node, early);
    case GD_CU_GRAPH_NODE_TYPE_MEMCPY:
        return keep_copy(into, node);
    case GD_CU_GRAPH_NODE_TYPE_MEMSET:
        return keep_fill(into, node);
    case GD_CU_GRAPH_NODE_TYPE_GRAPH:
        return !GD_NEXT(cuGraphChildGraphNodeGetGraph, node, &child) &&
               keep_graph(into, child, level + 1);
    case GD_CU_GRAPH_NODE_TYPE_EMPTY:
    case GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case GD_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return true;
    default:
        return false;
    }
}

/* Nodes whose predecessors are kept are kept next, again and again. */
static bool keep_nodes(kept_graph *into, const gd_graph_view *view, bool *is_kept, uint32_t level)
{
    size_t left = view->node_count;

    while (left) {
        const size_t before = left;
        for (size_t i = 0; i < view->node_count; i++) {
            bool ready = !is_kept[i], early = false;
            for (size_t j = 0; j < view->edge_count && ready; j++) {
                if (view->to[j] != view->nodes[i])
                    continue;
                ready = is_kept[gd_graph_view_index(view, view->from[j])];
                early |= view->data[j].type != 0;
            }
            if (!ready)
                continue;
            if (!keep_node(into, view->nodes[i], early, level))
                return false;
            is_kept[i] = true;
            left--;
        }
        if (left == before)
            return false;
    }
    return true;
}

static bool keep_graph(kept_graph *into, gd_CUgraph graph, uint32_t level)
{
    gd_graph_view view;

    if (level == GD_GRAPH_MOST_NESTED || !gd_graph_view_read(graph, &view))
        return false;
    bool *is_kept = calloc(view.node_count + 1, sizeof *is_kept);
    const bool good = is_kept && keep_nodes(into, &view, is_kept, level);
    free(is_kept);
    gd_graph_view_free(&view);
    return good;
}

void gd_recordedgraph_add(gd_CUgraphExec executable, gd_CUgraph graph)
{
    kept_graph *made;

    if (!gd_process_settings()->launches)
        return;
    gd_recordedgraph_end(executable);
    made = calloc(1, sizeof *made);
    if (!made)
        return;
    made->other = !keep_graph(made, graph, 0);
    if (!gd_map_set(&graphs, (uint64_t)(uintptr_t)executable, 0, made))
        free_graph(made);
}

void gd_recordedgraph_end(gd_CUgraphExec executable)
{
    free_graph(gd_map_find(&graphs, (uint64_t)(uintptr_t)executable, 0));
    gd_map_remove(&graphs, (uint64_t)(uintptr_t)executable, 0);
}

void gd_recordedgraph_forget(void)
{
    for (size_t i = 0; i < graphs.capacity; i++)
        free_graph(graphs.slots[i].value);
    gd_map_free(&graphs);
}

/* ---- running ---- */

/* What is done about one of them, in a stream; false: it cannot be. */
typedef bool each_function(const kept_launch *each, const gd_seen_launch *launch, void **extra,
                           gd_recorded_run *run);

static bool look_at(const kept_launch *each, const gd_seen_launch *launch, void **extra,
                    gd_recorded_run *run)
{
    (void)run;
    if (each->is_move)
        return gd_recording_look_at(&each->move);
    gd_recording_look(launch, NULL, extra);
    return true;
}

static bool make(const kept_launch *each, const gd_seen_launch *launch, void **extra,
                 gd_recorded_run *run)
{
    run->records[run->count] = each->is_move ? gd_recording_make_move(launch, &each->move)
                                             : gd_recording_make(launch, NULL, extra);
    run->count += run->records[run->count] != NULL;
    return true;
}

static bool do_each(const kept_graph *graph, gd_CUstream stream, bool per_thread,
                    each_function *function, gd_recorded_run *run)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const kept_launch *each = &graph->list[i];
        gd_CUlaunchAttribute cluster = each->cluster;
        gd_CUlaunchConfig config = each->config;
        config.hStream = stream;
        const gd_seen_launch launch = {.function = each->function,
                                       .config = &config,
                                       .per_thread = per_thread,
                                       .early = each->early,
                                       .cooperative = each->cooperative};
        void *extra[] = {GD_CU_LAUNCH_PARAM_BUFFER_POINTER, each->packed, GD_CU_LAUNCH_PARAM_END};
        config.attrs = cluster.value.clusterDim.x ? &cluster : NULL;
        config.numAttrs = config.attrs != NULL;
        if (!function(each, &launch, extra, run))
            return false;
    }
    return true;
}

/* Memory is looked at before any of them is made: it changes while the graph runs. */
static void begin_all(const kept_graph *graph, gd_CUstream stream, bool per_thread,
                      gd_recorded_run *run)
{
    if (!do_each(graph, stream, per_thread, look_at, run)) {
        gd_recording_miss("it is by a graph with copies whose memory is not known");
        return;
    }
    run->records = calloc(graph->count + 1, sizeof(gd_attached_launch *));
    gd_recording_settle(true);
    if (run->records)
        do_each(graph, stream, per_thread, make, run);
    gd_recording_settle(false);
}

gd_recorded_run gd_recordedgraph_begin(gd_CUgraphExec executable, gd_CUstream stream,
                                       bool per_thread)
{
    const gd_CUlaunchConfig config = {.hStream = stream};
    const gd_seen_launch launch = {.config = &config, .per_thread = per_thread};
    gd_recorded_run run = {0};
    int kept;

    if (!gd_process_settings()->launches || gd_streams_is_captured(&launch) ||
        !gd_process_lock(&kept))
        return run;
    const kept_graph *graph = gd_map_find(&graphs, (uint64_t)(uintptr_t)executable, 0);
    if (!graph)
        gd_recording_miss("it is by a graph whose nodes were changed since it was made");
    else if (graph->other)
        gd_recording_miss("it is by a graph that has nodes of other kinds too");
    else if (gd_recording_has_room(graph->count))
        begin_all(graph, stream, per_thread, &run);
    gd_process_unlock(kept);
    return run;
}

void gd_recordedgraph_finish(gd_recorded_run *run, gd_CUresult result)
{
    for (uint32_t i = 0; i < run->count; i++)
        gd_recording_end(run->records[i], result);
    free(run->records);
    *run = (gd_recorded_run){0};
}
