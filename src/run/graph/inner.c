/* Graphs as the driver tells them by their handles, and those in nodes of an adopted graph. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/launch/early.h"
#include "run/graph/graph.h"

/* ---- nodes and edges ---- */

int32_t gd_graph_list_nodes(const gd_driver *driver, gd_CUgraph handle, gd_CUgraphNode **nodes,
                            size_t *count, griddep_error *error)
{
    *count = 0;
    gd_CUresult result = driver->cuGraphGetNodes(handle, NULL, count);

    *nodes = calloc(*count + 1, sizeof **nodes);
    if (!*nodes)
        return gd_error_memory(error);
    if (result == GD_CUDA_SUCCESS && *count)
        result = driver->cuGraphGetNodes(handle, *nodes, count);
    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    free(*nodes);
    *nodes = NULL;
    return gd_driver_fail(driver, result, error, "the nodes of the graph cannot be read");
}

int32_t gd_graph_list_edges(const gd_driver *driver, gd_CUgraph handle, gd_edge_arrays *edges,
                            griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    *edges = (gd_edge_arrays){0};
    gd_CUresult result = driver->cuGraphGetEdges(handle, NULL, NULL, NULL, &edges->count);
    edges->from = calloc(edges->count + 1, sizeof *edges->from);
    edges->to = calloc(edges->count + 1, sizeof *edges->to);
    edges->data = calloc(edges->count + 1, sizeof *edges->data);
    if (!edges->from || !edges->to || !edges->data)
        status = gd_error_memory(error);
    if (!status && result == GD_CUDA_SUCCESS && edges->count)
        result =
            driver->cuGraphGetEdges(handle, edges->from, edges->to, edges->data, &edges->count);
    if (!status && result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error, "the edges of the graph cannot be read");
    if (status)
        gd_edge_arrays_free(edges);
    return status;
}

void gd_edge_arrays_free(gd_edge_arrays *edges)
{
    free(edges->from);
    free(edges->to);
    free(edges->data);
    *edges = (gd_edge_arrays){0};
}

gd_CUresult gd_graph_exchange(const gd_driver *driver, gd_CUgraph graph, const gd_CUgraphNode *from,
                              const gd_CUgraphNode *to, gd_CUgraphEdgeData old,
                              gd_CUgraphEdgeData new)
{
    gd_CUresult result = driver->cuGraphRemoveDependencies(graph, from, to, &old, 1);

    if (result != GD_CUDA_SUCCESS)
        return result;
    result = driver->cuGraphAddDependencies(graph, from, to, &new, 1);
    if (result != GD_CUDA_SUCCESS)
        driver->cuGraphAddDependencies(graph, from, to, &old, 1);
    return result;
}

int32_t gd_graph_check_exchange(const gd_driver *driver, griddep_error *error)
{
    if (driver->cuGraphRemoveDependencies && driver->cuGraphAddDependencies)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                        "edges of a graph from outside are changed by cuGraphRemoveDependencies, "
                        "which the driver lacks");
}

/* ---- a switch that is off, in graphs within ---- */

static int32_t make_edges_plain(const gd_driver *driver, gd_CUgraph handle, griddep_error *error)
{
    gd_edge_arrays edges;
    int32_t status = gd_graph_list_edges(driver, handle, &edges, error);

    for (size_t i = 0; i < edges.count && !status; i++) {
        const gd_CUgraphEdgeData data = edges.data[i];
        if (!data.type && !data.from_port)
            continue;
        status = gd_graph_check_exchange(driver, error);
        if (status)
            break;
        gd_CUresult result = gd_graph_exchange(driver, handle, &edges.from[i], &edges.to[i], data,
                                               (gd_CUgraphEdgeData){0});
        if (result != GD_CUDA_SUCCESS)
            status = gd_driver_fail(driver, result, error, "changing an edge of it");
    }
    gd_edge_arrays_free(&edges);
    return status;
}

static int32_t make_node_plain(const gd_driver *driver, gd_CUgraphNode node, int32_t type,
                               griddep_error *error);

static int32_t make_graph_plain(const gd_driver *driver, gd_CUgraph handle, griddep_error *error)
{
    gd_CUgraphNode *nodes = NULL;
    size_t count = 0;
    int32_t status = make_edges_plain(driver, handle, error);

    if (!status)
        status = gd_graph_list_nodes(driver, handle, &nodes, &count, error);
    for (size_t i = 0; i < count && !status; i++) {
        gd_CUgraphNodeType type = 0;
        gd_CUresult result = driver->cuGraphNodeGetType(nodes[i], &type);
        status = result == GD_CUDA_SUCCESS
                     ? make_node_plain(driver, nodes[i], type, error)
                     : gd_driver_fail(driver, result, error, "the type of a node of it");
    }
    free(nodes);
    return status;
}

static int32_t make_node_plain(const gd_driver *driver, gd_CUgraphNode node, int32_t type,
                               griddep_error *error)
{
    gd_CUgraph inner = NULL;

    if (type == GRIDDEP_GRAPH_NODE_CONDITIONAL)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "the driver does not tell what the bodies of a conditional node are, "
                            "and a kernel in them may start early");
    if (type != GRIDDEP_GRAPH_NODE_CHILD)
        return GRIDDEP_OK;
    if (!driver->cuGraphChildGraphNodeGetGraph)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "the driver lacks cuGraphChildGraphNodeGetGraph, which tells what a "
                            "child graph is, and a kernel in it may start early");
    gd_CUresult result = driver->cuGraphChildGraphNodeGetGraph(node, &inner);
    return result == GD_CUDA_SUCCESS ? make_graph_plain(driver, inner, error)
                                     : gd_driver_fail(driver, result, error, "the child graph");
}

int32_t gd_graph_make_inner_plain(const griddep_graph *graph, griddep_error *error)
{
    const int32_t off = gd_early_switch(graph->runtime, GRIDDEP_PDL_DEFAULT);
    gd_text words = {0};

    if (off == GRIDDEP_REASON_FORCED || graph->lossy)
        return GRIDDEP_OK; /* a driver that does not tell edges' types has none */
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const gd_graph_node *node = &graph->nodes[i];
        int32_t status = make_node_plain(graph->runtime->driver, node->handle, node->type, error);
        if (!status)
            continue;
        gd_error_append(error, "; %s of a graph from outside: nothing in it may start early: %s",
                        gd_graph_node_words(graph, i, &words),
                        griddep_text(GRIDDEP_TEXT_REASON, off));
        gd_text_free(&words);
        return status;
    }
    return GRIDDEP_OK;
}
