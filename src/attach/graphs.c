/* Reading graphs from the driver, and changing their edges for the time of a call. */
#include "attach/graphs.h"

#include <stdlib.h>

#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/place.h"
#include "attach/pointers.h"
#include "attach/record.h"

enum { MOST_NESTED = 16, MOST_ACROSS = 4096 };

static gd_map graphs; /* executable -> gd_attached_graph */

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
    if (!into->nodes || GD_NEXT(cuGraphGetNodes, graph, into->nodes, &into->node_count))
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
    return into->from && into->to && into->data && !get_edges(graph, into);
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

static gd_CUgraphNodeType type_of(gd_CUgraphNode node)
{
    gd_CUgraphNodeType type = GD_CU_GRAPH_NODE_TYPE_EMPTY;

    GD_NEXT(cuGraphNodeGetType, node, &type);
    return type;
}

/* The graph in a node; NULL. */
static gd_CUgraph child_of(gd_CUgraphNode node)
{
    gd_CUgraph child = NULL;

    if (type_of(node) != GD_CU_GRAPH_NODE_TYPE_GRAPH ||
        GD_NEXT(cuGraphChildGraphNodeGetGraph, node, &child))
        return NULL;
    return child;
}

/* ---- recording ---- */

static uint32_t kernel_of(gd_CUgraphNode node)
{
    gd_CUDA_KERNEL_NODE_PARAMS params = {0};
    uint32_t number = GD_ATTACHED_NONE;

    if (type_of(node) != GD_CU_GRAPH_NODE_TYPE_KERNEL ||
        GD_NEXT(cuGraphKernelNodeGetParams_v2, node, &params))
        return number;
    const gd_CUlaunchConfig config = {.gridDimX = params.gridDimX,
                                      .gridDimY = params.gridDimY,
                                      .gridDimZ = params.gridDimZ,
                                      .blockDimX = params.blockDimX,
                                      .blockDimY = params.blockDimY,
                                      .blockDimZ = params.blockDimZ,
                                      .sharedMemBytes = params.sharedMemBytes};
    gd_kernels_find(params.func ? params.func : (gd_CUfunction)params.kern, &config, &number);
    return number;
}

static uint32_t bit_of(gd_CUgraphNodeType type)
{
    switch (type) {
    case GD_CU_GRAPH_NODE_TYPE_MEMCPY:
        return GD_ATTACHED_COPY;
    case GD_CU_GRAPH_NODE_TYPE_MEMSET:
        return GD_ATTACHED_FILL;
    case GD_CU_GRAPH_NODE_TYPE_HOST:
        return GD_ATTACHED_HOST;
    case GD_CU_GRAPH_NODE_TYPE_GRAPH:
        return GD_ATTACHED_GRAPH_RUN;
    case GD_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return GD_ATTACHED_WAIT;
    case GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return GD_ATTACHED_RECORD;
    case GD_CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case GD_CU_GRAPH_NODE_TYPE_MEM_FREE:
        return GD_ATTACHED_MEMORY;
    default:
        return GD_ATTACHED_OTHER;
    }
}

/* What is being recorded: equal edges and nodes are counted in one record. */
typedef struct recording {
    uint32_t graph;
    gd_map edges, nodes;
} recording;

static void count_edge(recording *into, uint32_t first, uint32_t second, uint32_t between,
                       gd_CUgraphEdgeData data)
{
    const uint64_t kernels = (uint64_t)first << 32 | second;
    const uint64_t rest = (uint64_t)between << 16 | (uint64_t)data.type << 8 | data.from_port;
    gd_attached_edge *edge = gd_map_find(&into->edges, kernels, rest);

    if (!edge) {
        edge = gd_record_add(GD_ATTACHED_EDGE, sizeof *edge, "", NULL);
        edge->graph = into->graph;
        edge->first = first;
        edge->second = second;
        edge->between = between;
        edge->type = data.type;
        edge->port = data.from_port;
        gd_record_commit(edge, GD_ATTACHED_EDGE);
        gd_map_set(&into->edges, kernels, rest, edge);
    }
    edge->count++;
}

static void count_node(recording *into, uint32_t kernel, bool early)
{
    gd_attached_node *node = gd_map_find(&into->nodes, kernel, 0);

    if (!node) {
        node = gd_record_add(GD_ATTACHED_NODE, sizeof *node, "", NULL);
        node->graph = into->graph;
        node->kernel = kernel;
        gd_record_commit(node, GD_ATTACHED_NODE);
        gd_map_set(&into->nodes, kernel, 0, node);
    }
    node->count++;
    node->early += early;
}

static bool is_programmatic(const gd_CUgraphEdgeData *data)
{
    return data->type || data->from_port;
}

static void read_pointers(gd_pointers *into, uint32_t kernel, gd_CUgraphNode node)
{
    gd_CUDA_KERNEL_NODE_PARAMS params = {0};

    if (GD_NEXT(cuGraphKernelNodeGetParams_v2, node, &params))
        params.kernelParams = NULL;
    const gd_CUfunction function = params.func ? params.func : (gd_CUfunction)params.kern;
    gd_pointers_read(into, kernel, params.kernelParams ? gd_pointers_find(function) : 0,
                     params.kernelParams);
}

static void compare_nodes(uint32_t first, gd_CUgraphNode from, uint32_t second, gd_CUgraphNode to)
{
    gd_pointers before, behind;

    read_pointers(&before, first, from);
    read_pointers(&behind, second, to);
    gd_pointers_compare(&before, &behind);
}

/* Kernels that a node of another kind stands between. */
static void count_across(recording *into, const gd_graph_view *graph, const uint32_t *kernels,
                         size_t node)
{
    const uint32_t bit = bit_of(type_of(graph->nodes[node]));
    size_t counted = 0;

    for (size_t i = 0; i < graph->edge_count; i++) {
        if (graph->to[i] != graph->nodes[node])
            continue;
        const uint32_t first = kernels[gd_graph_view_index(graph, graph->from[i])];
        for (size_t j = 0; first != GD_ATTACHED_NONE && j < graph->edge_count; j++) {
            if (graph->from[j] != graph->nodes[node] || counted == MOST_ACROSS)
                continue;
            const uint32_t second = kernels[gd_graph_view_index(graph, graph->to[j])];
            if (second == GD_ATTACHED_NONE)
                continue;
            count_edge(into, first, second, bit, (gd_CUgraphEdgeData){0});
            counted++;
        }
    }
}

static void record(recording *into, gd_CUgraph graph, uint32_t level)
{
    gd_graph_view seen;

    if (level == MOST_NESTED || !gd_graph_view_read(graph, &seen))
        return;
    uint32_t *kernels = calloc(seen.node_count + 1, sizeof *kernels);
    bool *early = kernels ? calloc(seen.node_count + 1, sizeof *early) : NULL;
    for (size_t i = 0; early && i < seen.edge_count; i++)
        early[gd_graph_view_index(&seen, seen.to[i])] |= is_programmatic(&seen.data[i]);
    for (size_t i = 0; early && i < seen.node_count; i++) {
        gd_CUgraph child = child_of(seen.nodes[i]);
        kernels[i] = kernel_of(seen.nodes[i]);
        if (kernels[i] != GD_ATTACHED_NONE)
            count_node(into, kernels[i], early[i]);
        if (child)
            record(into, child, level + 1);
    }
    for (size_t i = 0; early && i < seen.edge_count; i++) {
        const uint32_t first = kernels[gd_graph_view_index(&seen, seen.from[i])];
        const uint32_t second = kernels[gd_graph_view_index(&seen, seen.to[i])];
        if (first == GD_ATTACHED_NONE || second == GD_ATTACHED_NONE)
            continue;
        count_edge(into, first, second, 0, seen.data[i]);
        if (is_programmatic(&seen.data[i]) && gd_pointers_next())
            compare_nodes(first, seen.from[i], second, seen.to[i]);
    }
    for (size_t i = 0; early && i < seen.node_count; i++) {
        if (kernels[i] == GD_ATTACHED_NONE)
            count_across(into, &seen, kernels, i);
    }
    free(early);
    free(kernels);
    gd_graph_view_free(&seen);
}

void gd_graphs_add(gd_CUgraphExec executable, gd_CUgraph graph, uint32_t changed)
{
    recording into = {0};
    gd_attached_graph *made;

    made = gd_record_add(GD_ATTACHED_GRAPH, sizeof *made, "", &into.graph);
    made->place = GD_ATTACHED_NONE;
    made->changed = changed;
    gd_record_commit(made, GD_ATTACHED_GRAPH);
    if (into.graph == GD_ATTACHED_NONE)
        return;
    made->place = gd_place_record();
    record(&into, graph, 0);
    gd_map_free(&into.edges);
    gd_map_free(&into.nodes);
    gd_map_set(&graphs, (uint64_t)(uintptr_t)executable, 0, made);
}

void gd_graphs_launch(gd_CUgraphExec executable)
{
    gd_attached_graph *graph = gd_map_find(&graphs, (uint64_t)(uintptr_t)executable, 0);

    if (graph)
        graph->launches++;
}

void gd_graphs_end(gd_CUgraphExec executable)
{
    gd_map_remove(&graphs, (uint64_t)(uintptr_t)executable, 0);
}

void gd_graphs_forget(void)
{
    gd_map_free(&graphs);
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

    if (level == MOST_NESTED || !gd_graph_view_read(graph, &seen))
        return;
    for (size_t i = 0; i < seen.edge_count; i++) {
        const gd_plain_edge edge = {graph, seen.from[i], seen.to[i], seen.data[i]};
        if (!is_programmatic(&edge.data))
            continue;
        gd_plain_edge *grown = realloc(edges->list, (edges->count + 1) * sizeof *grown);
        if (!grown)
            break;
        edges->list = grown;
        if (exchange(&edge, &edge.data, &plain))
            edges->list[edges->count++] = edge;
    }
    for (size_t i = 0; i < seen.node_count; i++) {
        gd_CUgraph child = child_of(seen.nodes[i]);
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
