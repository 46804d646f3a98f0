/* Graphs given to the driver: built from nodes and edges, instantiated, launched. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/event.h"
#include "run/host.h"
#include "run/graph/graph.h"

/* ---- order ---- */

/* The nodes' own order, which a chain's launches have, where no edge leads back in it. */
static bool is_sorted(const griddep_graph *graph, uint32_t *order)
{
    for (uint32_t i = 0; i < graph->node_count; i++)
        order[i] = i;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from > graph->edges[i].to)
            return false;
    return true;
}

/* Kahn 1962. The driver wants a node's dependencies to be there. */
int32_t gd_graph_sort(const griddep_graph *graph, uint32_t *order, griddep_error *error)
{
    uint32_t done = 0, ready = 0;

    if (is_sorted(graph, order))
        return GRIDDEP_OK;
    uint32_t *open = calloc((size_t)graph->node_count + 1, sizeof *open);
    if (!open)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        open[i] = graph->nodes[i].before.count;
        if (!open[i])
            order[ready++] = i;
    }
    for (; done < ready; done++) {
        const gd_node_list *after = &graph->nodes[order[done]].after;
        for (uint32_t i = 0; i < after->count; i++) {
            uint32_t next = graph->edges[after->edges[i]].to;
            if (!--open[next])
                order[ready++] = next;
        }
    }
    free(open);
    return GRIDDEP_OK; /* an edge that closes a cycle was refused when it was added */
}

/* ---- nodes ---- */

typedef struct builder {
    const griddep_graph *graph;
    gd_CUgraph handle;
    gd_CUgraphNode *nodes;  /* by node */
    gd_CUgraphNode *before; /* room for the dependencies of one node */
} builder;

int32_t gd_graph_fail_node(const griddep_graph *graph, uint32_t index, gd_CUresult result,
                           griddep_error *error)
{
    gd_text words = {0};
    int32_t status = gd_driver_fail(graph->runtime->driver, result, error, "the driver refuses %s",
                                    gd_graph_node_words(graph, index, &words));

    gd_text_free(&words);
    return status;
}

/* Cluster and other attributes: a node takes them one by one. */
static gd_CUresult set_attributes(const gd_driver *driver, gd_CUgraphNode node, const gd_call *call)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (uint32_t i = 0; i < call->launch.attribute_count && result == GD_CUDA_SUCCESS; i++) {
        const gd_CUlaunchAttribute *attribute = &call->launch.attributes[i];
        gd_early how;
        if (!gd_event_of(attribute, &how)) /* a chain's graph has a node that records it */
            result = driver->cuGraphKernelNodeSetAttribute(node, attribute->id, &attribute->value);
    }
    return result;
}

static int32_t add_kernel(const builder *build, uint32_t index, size_t count, gd_CUgraphNode *made,
                          griddep_error *error)
{
    const gd_driver *driver = build->graph->runtime->driver;
    const gd_call *call = build->graph->nodes[index].call;
    gd_CUresult result =
        driver->cuGraphAddKernelNode(made, build->handle, build->before, count, &call->params);

    if (result == GD_CUDA_SUCCESS)
        result = set_attributes(driver, *made, call);
    return result == GD_CUDA_SUCCESS ? GRIDDEP_OK
                                     : gd_graph_fail_node(build->graph, index, result, error);
}

gd_CUDA_MEMCPY3D gd_graph_copy_params(const gd_graph_node *node)
{
    return (gd_CUDA_MEMCPY3D){.srcMemoryType = GD_CU_MEMORYTYPE_UNIFIED,
                              .srcDevice = node->source,
                              .dstMemoryType = GD_CU_MEMORYTYPE_UNIFIED,
                              .dstDevice = node->target,
                              .WidthInBytes = (size_t)node->bytes,
                              .Height = 1,
                              .Depth = 1};
}

gd_CUDA_MEMSET_NODE_PARAMS_v1 gd_graph_fill_params(const gd_graph_node *node)
{
    return (gd_CUDA_MEMSET_NODE_PARAMS_v1){.dst = node->target,
                                           .value = node->value,
                                           .elementSize = 1,
                                           .width = (size_t)node->bytes,
                                           .height = 1};
}

static gd_CUresult add_copy(const builder *build, const gd_graph_node *node, size_t count,
                            gd_CUgraphNode *made)
{
    const griddep_runtime *runtime = build->graph->runtime;
    const gd_CUDA_MEMCPY3D params = gd_graph_copy_params(node);

    return runtime->driver->cuGraphAddMemcpyNode(made, build->handle, build->before, count, &params,
                                                 runtime->context);
}

static gd_CUresult add_fill(const builder *build, const gd_graph_node *node, size_t count,
                            gd_CUgraphNode *made)
{
    const griddep_runtime *runtime = build->graph->runtime;
    const gd_CUDA_MEMSET_NODE_PARAMS_v1 params = gd_graph_fill_params(node);

    return runtime->driver->cuGraphAddMemsetNode(made, build->handle, build->before, count, &params,
                                                 runtime->context);
}

static gd_CUresult add_simple(const builder *build, const gd_graph_node *node, size_t count,
                              gd_CUgraphNode *made)
{
    const gd_driver *driver = build->graph->runtime->driver;

    switch (node->type) {
    case GRIDDEP_GRAPH_NODE_COPY:
        return add_copy(build, node, count, made);
    case GRIDDEP_GRAPH_NODE_FILL:
        return add_fill(build, node, count, made);
    default: /* an event of a chain's launch */
        return driver->cuGraphAddEventRecordNode(made, build->handle, build->before, count,
                                                 node->event);
    }
}

static int32_t add_host(const builder *build, uint32_t index, size_t count, gd_CUgraphNode *made,
                        griddep_error *error)
{
    const gd_graph_node *node = &build->graph->nodes[index];
    struct gd_host_call *call = gd_host_make_call(node->function, node->user);

    if (!call)
        return gd_error_memory(error);
    gd_CUresult result = gd_host_add_node(build->graph->runtime->driver, build->handle,
                                          build->before, count, call, made);
    return result == GD_CUDA_SUCCESS ? GRIDDEP_OK
                                     : gd_graph_fail_node(build->graph, index, result, error);
}

static bool is_plain(gd_CUgraphEdgeData data)
{
    return !data.type && !data.from_port;
}

/* Adds a node behind those that plain edges come from. */
static int32_t add_node(const builder *build, uint32_t index, griddep_error *error)
{
    const griddep_graph *graph = build->graph;
    const gd_node_list *before = &graph->nodes[index].before;
    const gd_graph_node *node = &build->graph->nodes[index];
    gd_CUgraphEdgeData data;
    size_t count = 0;

    for (uint32_t i = 0; i < before->count; i++) {
        const gd_graph_edge *edge = &graph->edges[before->edges[i]];
        gd_graph_resolve(graph, edge, &data);
        if (is_plain(data))
            build->before[count++] = build->nodes[edge->from];
    }
    if (node->type == GRIDDEP_GRAPH_NODE_KERNEL)
        return add_kernel(build, index, count, &build->nodes[index], error);
    if (node->type == GRIDDEP_GRAPH_NODE_HOST)
        return add_host(build, index, count, &build->nodes[index], error);
    gd_CUresult result = add_simple(build, node, count, &build->nodes[index]);
    return result == GD_CUDA_SUCCESS ? GRIDDEP_OK
                                     : gd_graph_fail_node(build->graph, index, result, error);
}

static int32_t fail_edge(const griddep_graph *graph, const gd_graph_edge *edge, gd_CUresult result,
                         griddep_error *error)
{
    gd_text from = {0}, to = {0};
    int32_t status = gd_driver_fail(
        graph->runtime->driver, result, error, "the driver refuses the edge from %s to %s",
        gd_graph_node_words(graph, edge->from, &from), gd_graph_node_words(graph, edge->to, &to));

    gd_text_free(&from);
    gd_text_free(&to);
    return status;
}

/* The edges that have a port or a type. They are never there on a driver without the entry
 * point. */
static int32_t add_edges(const builder *build, griddep_error *error)
{
    const griddep_graph *graph = build->graph;
    gd_CUgraphEdgeData data;

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const gd_graph_edge *edge = &graph->edges[i];
        gd_graph_resolve(graph, edge, &data);
        if (is_plain(data))
            continue;
        gd_CUresult result = graph->runtime->driver->cuGraphAddDependencies(
            build->handle, &build->nodes[edge->from], &build->nodes[edge->to], &data, 1);
        if (result != GD_CUDA_SUCCESS)
            return fail_edge(graph, edge, result, error);
    }
    return GRIDDEP_OK;
}

static int32_t build_nodes(const builder *build, const uint32_t *order, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < build->graph->node_count && !status; i++)
        status = add_node(build, order[i], error);
    return status ? status : add_edges(build, error);
}

void gd_graph_discard(const griddep_graph *graph, gd_graph_made *made)
{
    const gd_driver *driver = graph->runtime->driver;

    if (made->exec)
        driver->cuGraphExecDestroy(made->exec);
    if (made->handle && !graph->adopted)
        driver->cuGraphDestroy(made->handle);
    free(made->nodes);
    *made = (gd_graph_made){0};
}

/* Gives nodes and edges to a driver's graph, which is empty, and lists its nodes. */
static int32_t fill(griddep_graph *graph, gd_graph_made *made, griddep_error *error)
{
    size_t room = (size_t)graph->node_count + 1;
    uint32_t *order = calloc(room, sizeof *order);
    builder build = {.graph = graph,
                     .handle = made->handle,
                     .nodes = calloc(room, sizeof *build.nodes),
                     .before = calloc(room, sizeof *build.before)};
    int32_t status = order && build.nodes && build.before ? gd_graph_sort(graph, order, error)
                                                          : gd_error_memory(error);

    if (!status)
        status = build_nodes(&build, order, error);
    made->nodes = build.nodes;
    free(order);
    free(build.before);
    return status;
}

static int32_t build_made(griddep_graph *graph, gd_graph_made *made, griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    gd_graph_made built = {0};
    gd_CUresult result = driver->cuGraphCreate(&built.handle, 0);

    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "a new graph");
    int32_t status = fill(graph, &built, error);
    if (status)
        gd_graph_discard(graph, &built);
    else
        *made = built;
    return status;
}

/* ---- adopted graphs ---- */

/* The context is current. A node that is half made goes again. */
static int32_t insert(griddep_graph *graph, uint32_t index, griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    builder build = {.graph = graph,
                     .handle = graph->handle,
                     .nodes = calloc((size_t)index + 1, sizeof *build.nodes)};

    if (!build.nodes)
        return gd_error_memory(error);
    int32_t status = add_node(&build, index, error);
    if (status && build.nodes[index])
        driver->cuGraphDestroyNode(build.nodes[index]);
    else
        graph->nodes[index].handle = build.nodes[index];
    free(build.nodes);
    return status;
}

int32_t gd_graph_insert(griddep_graph *graph, uint32_t index, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_runtime_enter(graph->runtime, &pushed, error);

    if (status)
        return status;
    status = insert(graph, index, error);
    gd_runtime_leave(graph->runtime, pushed);
    return status;
}

int32_t gd_graph_insert_edge(griddep_graph *graph, gd_graph_edge *edge, griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    gd_CUgraphEdgeData data;
    bool pushed;
    int32_t reason = gd_graph_decide(graph, edge, &data);

    if (!driver->cuGraphAddDependencies)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "edges of a graph from outside are added by cuGraphAddDependencies of "
                            "API 12.3, which the "
                            "driver lacks");
    int32_t status = gd_graph_append_edge(graph, edge, error);
    if (status)
        return status;
    status = gd_runtime_enter(graph->runtime, &pushed, error);
    if (status) {
        gd_graph_drop_edge(graph, graph->edge_count - 1);
        return status;
    }
    gd_graph_edge *added = &graph->edges[graph->edge_count - 1];
    gd_CUresult result = driver->cuGraphAddDependencies(
        graph->handle, &graph->nodes[edge->from].handle, &graph->nodes[edge->to].handle, &data, 1);
    if (result == GD_CUDA_SUCCESS) {
        *added =
            (gd_graph_edge){.from = edge->from,
                            .to = edge->to,
                            .port = data.from_port,
                            .type = data.type,
                            .reason = is_plain(data) && (edge->type || edge->port) ? reason : -1};
        gd_graph_drop(graph);
    } else {
        status = fail_edge(graph, edge, result, error);
        gd_graph_drop_edge(graph, graph->edge_count - 1);
    }
    gd_runtime_leave(graph->runtime, pushed);
    return status;
}

int32_t gd_graph_withdraw_edge(griddep_graph *graph, uint32_t index, griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    const gd_graph_edge *edge = &graph->edges[index];
    const gd_CUgraphEdgeData data = gd_graph_edge_data(edge);
    bool pushed;

    if (!driver->cuGraphRemoveDependencies || graph->lossy)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "edges of a graph from outside are removed by "
                            "cuGraphRemoveDependencies of API 12.3, which "
                            "the driver lacks");
    int32_t status = gd_runtime_enter(graph->runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = driver->cuGraphRemoveDependencies(
        graph->handle, &graph->nodes[edge->from].handle, &graph->nodes[edge->to].handle, &data, 1);
    if (result == GD_CUDA_SUCCESS)
        gd_graph_drop(graph);
    else
        status = fail_edge(graph, edge, result, error);
    gd_runtime_leave(graph->runtime, pushed);
    return status;
}

/* ---- executables ---- */

static bool has_conditional(const griddep_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].type == GRIDDEP_GRAPH_NODE_CONDITIONAL)
            return true;
    }
    return false;
}

int32_t gd_graph_prepare(griddep_graph *graph, gd_graph_made *made, griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    gd_graph_made built = {.handle = graph->adopted ? graph->handle : NULL};
    int32_t status =
        graph->adopted ? gd_graph_make_plain(graph, error) : build_made(graph, &built, error);

    if (status)
        return status;
    if (graph->adopted && has_conditional(graph))
        gd_graph_drop(graph); /* such a CUgraph has one executable at a time */
    gd_CUresult result = driver->cuGraphInstantiateWithFlags(&built.exec, built.handle, 0);
    if (result != GD_CUDA_SUCCESS) {
        built.exec = NULL;
        status = gd_driver_fail(driver, result, error, "instantiating a graph of %" PRIu32 " nodes",
                                graph->node_count);
    }
    if (status)
        gd_graph_discard(graph, &built);
    else
        *made = built;
    return status;
}

void gd_graph_install(griddep_graph *graph, gd_graph_made *made)
{
    gd_graph_drop(graph);
    graph->handle = made->handle;
    graph->exec = made->exec;
    for (uint32_t i = 0; made->nodes && i < graph->node_count; i++)
        graph->nodes[i].handle = made->nodes[i];
    free(made->nodes);
    *made = (gd_graph_made){0};
}

int32_t gd_graph_make_ready(griddep_graph *graph, griddep_error *error)
{
    gd_graph_made made;

    if (graph->exec)
        return GRIDDEP_OK;
    int32_t status = gd_graph_prepare(graph, &made, error);
    if (!status)
        gd_graph_install(graph, &made);
    return status;
}

/* ---- public ---- */

int32_t griddep_graph_instantiate(griddep_graph *graph, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_runtime_enter(graph->runtime, &pushed, error);
    if (status)
        return status;
    gd_graph_drop(graph);
    status = gd_graph_make_ready(graph, error);
    gd_runtime_leave(graph->runtime, pushed);
    return status;
}

int32_t griddep_graph_launch(griddep_graph *graph, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_runtime_enter(graph->runtime, &pushed, error);
    if (status)
        return status;
    const gd_driver *driver = graph->runtime->driver;
    status = gd_graph_make_ready(graph, error);
    if (!status) {
        gd_CUresult result = driver->cuGraphLaunch(graph->exec, stream);
        if (result != GD_CUDA_SUCCESS) {
            status = gd_driver_fail(driver, result, error, "launching a graph");
            status = gd_runtime_blame_stream(graph->runtime, stream, status, error);
        }
    }
    gd_runtime_leave(graph->runtime, pushed);
    return status;
}
