/* Reading graphs from the driver, and changing their edges for the time of a call. */
#include "attach/graphs.h"

#include <stdlib.h>

#include "attach/next.h"

void gd_graph_view_free(gd_graph_view *graph)
{
    free(graph->nodes);
    free(graph->from);
    free(graph->to);
    free(graph->data);
    gd_map_free(&graph->index);
}

static bool read_nodes(gd_CUgraph graph, gd_graph_view *into)
{
    if (GD_NEXT(cuGraphGetNodes, graph, NULL, &into->node_count))
        return false;
    into->nodes = calloc(into->node_count + 1, sizeof *into->nodes);
    if (!into->nodes ||
        (into->node_count && GD_NEXT(cuGraphGetNodes, graph, into->nodes, &into->node_count)))
        return false;
    for (size_t i = 0; i < into->node_count; i++) {
        if (!gd_map_set(&into->index, (uint64_t)(uintptr_t)into->nodes[i], 0, &into->nodes[i]))
            return false;
    }
    return true;
}

static gd_CUresult get_edges(gd_CUgraph graph, gd_graph_view *into)
{
    if (gd_next_driver.cuGraphGetEdges_v2)
        return gd_next_driver.cuGraphGetEdges_v2(graph, into->from, into->to, into->data,
                                                 &into->edge_count);
    return GD_NEXT(cuGraphGetEdges, graph, into->from, into->to, &into->edge_count);
}

static bool read_edges(gd_CUgraph graph, gd_graph_view *into)
{
    if (get_edges(graph, into))
        return false;
    const size_t room = into->edge_count + 1;
    into->from = calloc(room, sizeof *into->from);
    into->to = calloc(room, sizeof *into->to);
    into->data = calloc(room, sizeof *into->data);
    /* a driver refuses arrays of none */
    return into->from && into->to && into->data && (!into->edge_count || !get_edges(graph, into));
}

bool gd_graph_view_read(gd_CUgraph graph, gd_graph_view *into)
{
    *into = (gd_graph_view){0};
    if (read_nodes(graph, into) && read_edges(graph, into))
        return true;
    gd_graph_view_free(into);
    return false;
}

size_t gd_graph_view_index(const gd_graph_view *graph, gd_CUgraphNode node)
{
    const gd_CUgraphNode *at = gd_map_find(&graph->index, (uint64_t)(uintptr_t)node, 0);

    return at ? (size_t)(at - graph->nodes) : 0;
}

gd_CUgraphNodeType gd_graph_node_type(gd_CUgraphNode node)
{
    gd_CUgraphNodeType type = GD_CU_GRAPH_NODE_TYPE_EMPTY;

    GD_NEXT(cuGraphNodeGetType, node, &type);
    return type;
}

gd_CUfunction gd_graph_function(const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    return params->func ? params->func : (gd_CUfunction)params->kern;
}

gd_CUlaunchConfig gd_graph_config(const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    return (gd_CUlaunchConfig){.gridDimX = params->gridDimX,
                               .gridDimY = params->gridDimY,
                               .gridDimZ = params->gridDimZ,
                               .blockDimX = params->blockDimX,
                               .blockDimY = params->blockDimY,
                               .blockDimZ = params->blockDimZ,
                               .sharedMemBytes = params->sharedMemBytes};
}

bool gd_graph_is_programmatic(const gd_CUgraphEdgeData *edge)
{
    return edge->type || edge->from_port;
}

gd_CUgraph gd_graph_child(gd_CUgraphNode node)
{
    gd_CUgraph child = NULL;

    if (gd_graph_node_type(node) != GD_CU_GRAPH_NODE_TYPE_GRAPH ||
        GD_NEXT(cuGraphChildGraphNodeGetGraph, node, &child))
        return NULL;
    return child;
}

/* ---- edges ---- */

typedef struct gd_plain_edge {
    gd_CUgraph graph;
    gd_CUgraphNode from, to;
    gd_CUgraphEdgeData data;
} gd_plain_edge;

/* Exchanges one edge for another one between the same nodes; takes it back where that fails. */
static bool exchange(const gd_plain_edge *edge, const gd_CUgraphEdgeData *before,
                     const gd_CUgraphEdgeData *after)
{
    if (GD_NEXT(cuGraphRemoveDependencies_v2, edge->graph, &edge->from, &edge->to, before, 1))
        return false;
    if (!GD_NEXT(cuGraphAddDependencies_v2, edge->graph, &edge->from, &edge->to, after, 1))
        return true;
    GD_NEXT(cuGraphAddDependencies_v2, edge->graph, &edge->from, &edge->to, before, 1);
    return false;
}

static void make_plain(gd_CUgraph graph, gd_plain_edges *edges, uint32_t level)
{
    static const gd_CUgraphEdgeData plain;
    gd_graph_view seen;

    if (level == GD_GRAPH_MOST_NESTED || !gd_graph_view_read(graph, &seen))
        return;
    for (size_t i = 0; i < seen.edge_count; i++) {
        const gd_plain_edge edge = {graph, seen.from[i], seen.to[i], seen.data[i]};
        if (!gd_graph_is_programmatic(&edge.data))
            continue;
        gd_plain_edge *grown = realloc(edges->list, (edges->count + 1) * sizeof *grown);
        if (!grown)
            break;
        edges->list = grown;
        if (exchange(&edge, &edge.data, &plain))
            edges->list[edges->count++] = edge;
    }
    for (size_t i = 0; i < seen.node_count; i++) {
        gd_CUgraph child = gd_graph_child(seen.nodes[i]);
        if (child)
            make_plain(child, edges, level + 1);
    }
    gd_graph_view_free(&seen);
}

void gd_graphs_make_plain(gd_CUgraph graph, gd_plain_edges *edges)
{
    make_plain(graph, edges, 0);
}

void gd_graphs_restore(gd_plain_edges *edges)
{
    static const gd_CUgraphEdgeData plain;

    for (uint32_t i = 0; i < edges->count; i++)
        exchange(&edges->list[i], &plain, &edges->list[i].data);
    free(edges->list);
    *edges = (gd_plain_edges){0};
}
