/* Graphs from elsewhere: of a chain, of a capture, of another part of the program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "ptx/handle/ptx.h"
#include "run/capture.h"
#include "run/graph/graph.h"
#include "run/module/module.h"

/* ---- nodes of an adopted graph ---- */

/* The kernel that a node launches. Code that is no module of this runtime, or of none that the
 * driver tells, is not known; its name may be. */
static int32_t read_kernel(griddep_graph *graph, gd_graph_node *node, griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    const char *name = NULL;
    gd_CUresult result = driver->cuGraphKernelNodeGetParams(node->handle, &node->params);

    if (result == GD_CUDA_SUCCESS && !node->params.func && node->params.kern)
        result = driver->cuKernelGetFunction(&node->params.func, node->params.kern);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error,
                              "the kernel of node %" PRIu32 " of the graph cannot be read",
                              graph->node_count - 1);
    node->params.kernelParams = node->params.extra = NULL; /* the driver's, and not for long */
    int32_t status = gd_module_kernel_of(graph->runtime, node->params.func, &node->kernel, error);
    if (status)
        return status;
    if (node->kernel)
        node->traits = node->kernel->info.traits;
    else if (driver->cuFuncGetName &&
             driver->cuFuncGetName(&name, node->params.func) == GD_CUDA_SUCCESS && name &&
             !(node->name = strdup(name)))
        return gd_error_memory(error);
    return GRIDDEP_OK;
}

static int32_t read_node(griddep_graph *graph, gd_CUgraphNode handle, griddep_error *error)
{
    gd_CUgraphNodeType type = 0;
    gd_CUresult result = graph->runtime->driver->cuGraphNodeGetType(handle, &type);

    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(graph->runtime->driver, result, error,
                              "the type of node %" PRIu32 " of the graph", graph->node_count);
    gd_graph_node *node = gd_graph_append(graph, type);
    if (!node)
        return gd_error_memory(error);
    node->handle = handle;
    if (type == GRIDDEP_GRAPH_NODE_KERNEL &&
        gd_capture_said_off(graph->runtime, graph->handle, handle))
        node->pdl = GRIDDEP_PDL_OFF;
    return type == GRIDDEP_GRAPH_NODE_KERNEL ? read_kernel(graph, node, error) : GRIDDEP_OK;
}

static int32_t read_nodes(griddep_graph *graph, griddep_error *error)
{
    gd_CUgraphNode *nodes = NULL;
    size_t count;
    int32_t status =
        gd_graph_list_nodes(graph->runtime->driver, graph->handle, &nodes, &count, error);

    for (size_t i = 0; i < count && !status; i++)
        status = read_node(graph, nodes[i], error);
    free(nodes);
    return status;
}

/* ---- its edges ---- */

typedef struct edge_reader {
    griddep_graph *graph;
    gd_table nodes; /* from a handle to its node */
} edge_reader;

static int32_t index_nodes(edge_reader *reader, griddep_error *error)
{
    for (uint32_t i = 0; i < reader->graph->node_count; i++) {
        gd_graph_node *node = &reader->graph->nodes[i];
        if (!gd_table_set(&reader->nodes, (const char *)&node->handle, sizeof node->handle, node))
            return gd_error_memory(error);
    }
    return GRIDDEP_OK;
}

static int32_t append_edge(const edge_reader *reader, gd_CUgraphNode from_handle,
                           gd_CUgraphNode to_handle, gd_CUgraphEdgeData data, griddep_error *error)
{
    const gd_graph_node *from =
        gd_table_find(&reader->nodes, (const char *)&from_handle, sizeof from_handle);
    const gd_graph_node *to =
        gd_table_find(&reader->nodes, (const char *)&to_handle, sizeof to_handle);

    if (!from || !to)
        return gd_error_set(error, GRIDDEP_ERROR_DRIVER,
                            "the driver tells an edge of a node that it does not list");
    const gd_graph_edge edge = {.from = (uint32_t)(from - reader->graph->nodes),
                                .to = (uint32_t)(to - reader->graph->nodes),
                                .port = data.from_port,
                                .type = data.type,
                                .reason = -1};
    return gd_graph_append_edge(reader->graph, &edge, error);
}

static int32_t read_with_data(const edge_reader *reader, griddep_error *error)
{
    const griddep_graph *graph = reader->graph;
    gd_edge_arrays edges;
    int32_t status = gd_graph_list_edges(graph->runtime->driver, graph->handle, &edges, error);

    for (size_t i = 0; i < edges.count && !status; i++)
        status = append_edge(reader, edges.from[i], edges.to[i], edges.data[i], error);
    gd_edge_arrays_free(&edges);
    return status;
}

/* On drivers before API 12.3: the edges of one node, without ports and types. */
static int32_t read_before(const edge_reader *reader, uint32_t index, griddep_error *error)
{
    const gd_driver *driver = reader->graph->runtime->driver;
    gd_CUgraphNode node = reader->graph->nodes[index].handle;
    size_t count = 0;
    int32_t status = GRIDDEP_OK;
    gd_CUresult result = driver->cuGraphNodeGetDependencies(node, NULL, &count);
    gd_CUgraphNode *before = calloc(count + 1, sizeof *before);

    if (!before)
        return gd_error_memory(error);
    if (result == GD_CUDA_SUCCESS && count)
        result = driver->cuGraphNodeGetDependencies(node, before, &count);
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error,
                                "the edges to node %" PRIu32 " cannot be read", index);
    for (size_t i = 0; i < count && !status; i++)
        status = append_edge(reader, before[i], node, (gd_CUgraphEdgeData){0}, error);
    free(before);
    return status;
}

static int32_t read_edges(griddep_graph *graph, griddep_error *error)
{
    edge_reader reader = {.graph = graph};
    int32_t status = index_nodes(&reader, error);

    graph->lossy = !graph->runtime->driver->cuGraphGetEdges;
    if (!status && !graph->lossy)
        status = read_with_data(&reader, error);
    for (uint32_t i = 0; i < graph->node_count && !status && graph->lossy; i++)
        status = read_before(&reader, i, error);
    gd_table_free(&reader.nodes);
    return status;
}

/* The driver does not tell what is in a conditional node, and a graph in a node may have such nodes
 * too: whatever is loaded now may be in there. */
static int32_t hold_inner(griddep_graph *graph, griddep_error *error)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        int32_t type = graph->nodes[i].type;
        if (type == GRIDDEP_GRAPH_NODE_CHILD || type == GRIDDEP_GRAPH_NODE_CONDITIONAL)
            return gd_module_hold_all(graph->runtime, &graph->held, &graph->held_count, error);
    }
    return GRIDDEP_OK;
}

/* Takes a driver's graph on success; the context is current. */
static int32_t adopt(griddep_runtime *runtime, gd_CUgraph handle, bool borrowed,
                     griddep_graph **graph, griddep_error *error)
{
    griddep_graph *made = NULL;
    int32_t status = gd_graph_make(runtime, &made, error);

    if (status)
        return status;
    made->adopted = made->borrowed = true; /* until all has been read */
    made->handle = handle;
    status = read_nodes(made, error);
    if (!status)
        status = read_edges(made, error);
    if (!status)
        status = hold_inner(made, error);
    if (status) {
        griddep_graph_destroy(made);
        return status;
    }
    made->borrowed = borrowed;
    if (!borrowed)
        gd_capture_forget(runtime, handle);
    *graph = made;
    return GRIDDEP_OK;
}

/* ---- captures ---- */

static int32_t check_stream(griddep_runtime *runtime, const void *stream, const void *output,
                            griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !output)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            runtime ? "graph" : "runtime");
    if (!stream || stream == GD_CU_STREAM_LEGACY)
        return gd_error_set(error, GRIDDEP_ERROR_STREAM,
                            "the legacy default stream cannot be captured");
    return GRIDDEP_OK;
}

/* What the stream's capture is, before it is begun or ended; the context is current. */
static int32_t check_capture(const griddep_runtime *runtime, void *stream, bool wanted,
                             griddep_error *error)
{
    gd_CUstreamCaptureStatus capture = GD_CU_STREAM_CAPTURE_STATUS_NONE;
    gd_CUresult result = runtime->driver->cuStreamIsCapturing(stream, &capture);

    if (result != GD_CUDA_SUCCESS) {
        int32_t status =
            gd_driver_fail(runtime->driver, result, error, "whether the stream is being captured");
        return gd_runtime_blame_stream(runtime, stream, status, error);
    }
    if ((capture != GD_CU_STREAM_CAPTURE_STATUS_NONE) == wanted)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_STREAM,
                        wanted ? "the stream is not being captured"
                               : "the stream is being captured already");
}

static int32_t end_capture(griddep_runtime *runtime, void *stream, griddep_graph **graph,
                           griddep_error *error)
{
    gd_CUgraph handle = NULL;
    gd_CUresult result = runtime->driver->cuStreamEndCapture(stream, &handle);

    if (result != GD_CUDA_SUCCESS) {
        if (handle)
            runtime->driver->cuGraphDestroy(handle);
        return gd_driver_fail(runtime->driver, result, error, "the capture of the stream");
    }
    int32_t status = adopt(runtime, handle, false, graph, error);
    if (status)
        runtime->driver->cuGraphDestroy(handle);
    return status;
}

/* ---- public ---- */

int32_t griddep_graph_capture_begin(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = check_stream(runtime, stream, runtime, error);

    if (!status)
        status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    status = check_capture(runtime, stream, false, error);
    if (!status) {
        gd_CUresult result =
            runtime->driver->cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED);
        if (result != GD_CUDA_SUCCESS)
            status =
                gd_driver_fail(runtime->driver, result, error, "beginning to capture the stream");
    }
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_graph_capture_end(griddep_runtime *runtime, void *stream, griddep_graph **graph,
                                  griddep_error *error)
{
    bool pushed;
    int32_t status = check_stream(runtime, stream, graph, error);

    if (!status)
        status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    status = check_capture(runtime, stream, true, error);
    if (!status)
        status = end_capture(runtime, stream, graph, error);
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_graph_adopt(griddep_runtime *runtime, void *cuda_graph, uint32_t flags,
                            griddep_graph **graph, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !cuda_graph || !graph)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime, cuda_graph or graph is NULL");
    if (flags & ~(uint32_t)GRIDDEP_GRAPH_OWN)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT, "flags has unknown bits");
    status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    status = adopt(runtime, cuda_graph, !(flags & GRIDDEP_GRAPH_OWN), graph, error);
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_graph_describe(griddep_graph *graph, uint32_t node, const griddep_ptx *ptx,
                               const char *entry, griddep_error *error)
{
    griddep_ptx_entry_info info = {.size = sizeof info};
    uint32_t index = 0;
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_graph_check_node(graph, node, error);
    if (status)
        return status;
    if (!ptx || !entry)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", ptx ? "entry" : "ptx");
    gd_graph_node *of = &graph->nodes[node];
    if (of->type != GRIDDEP_GRAPH_NODE_KERNEL || !graph->adopted)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "node %" PRIu32 " is no kernel of an adopted graph", node);
    if (!gd_ptx_find_entry(ptx, entry, &index))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "the PTX has no entry \"%s\"", entry);
    status = griddep_ptx_get_entry(ptx, index, &info, error);
    if (status)
        return status;
    gd_early_touch touch;
    status = gd_check_touches_early(NULL, ptx, entry, &touch, NULL, error);
    char *name = status ? NULL : strdup(entry);
    if (!name)
        return status ? status : gd_error_memory(error);
    free(of->name);
    of->name = name;
    of->traits = info.traits;
    of->described_touch = touch;
    return graph->held_back ? graph->held_back->kind->renew(graph, error) : GRIDDEP_OK;
}
