/* What a graph launches is kept when it is instantiated, with the places of its nodes, because it
 * may be gone when its executable is changed. */
#include "attach/executables.h"

#include <stdlib.h>

#include "attach/graphs.h"
#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/pointers.h"
#include "attach/record.h"

enum { MOST_ACROSS = 4096, FIRST_UPDATES = 4096, EACH_UPDATE = 64 };

typedef struct seen_node {
    uint32_t kernel;       /* GD_ATTACHED_NONE: it is of another kind */
    uint32_t bit;          /* of which one, GD_ATTACHED_* */
    uint32_t inner;        /* where the nodes of the graph in it begin */
    bool early;            /* a programmatic edge leads to it */
    gd_CUgraphNode before; /* the node that the edge comes from, if there is one */
    bool disabled;
} seen_node;

typedef struct seen_edge {
    uint32_t from, to;
    gd_CUgraphEdgeData data;
} seen_edge;

/* The nodes of a graph stand together, and behind all of them those of the graphs in it, in their
 * order. */
typedef struct seen_graph {
    seen_node *nodes;
    seen_edge *edges;
    uint32_t node_count, edge_count;
    gd_map places; /* node -> its number + 1 */
    gd_attached_graph *record;
} seen_graph;

static gd_map executables; /* executable -> seen_graph */
static gd_map records;     /* digest -> gd_attached_graph */
static uint64_t updates;

static void empty_graph(seen_graph *graph)
{
    free(graph->nodes);
    free(graph->edges);
    gd_map_free(&graph->places);
    *graph = (seen_graph){0};
}

static seen_graph *find_executable(gd_CUgraphExec executable)
{
    return gd_map_find(&executables, (uint64_t)(uintptr_t)executable, 0);
}

/* NULL: nobody knows it. */
static seen_node *find_node(gd_CUgraphExec executable, gd_CUgraphNode node, seen_graph **graph)
{
    *graph = find_executable(executable);
    const void *number =
        *graph ? gd_map_find(&(*graph)->places, (uint64_t)(uintptr_t)node, 0) : NULL;

    return number ? &(*graph)->nodes[(uintptr_t)number - 1] : NULL;
}

/* ---- reading ---- */

static gd_attached_kernel *find_kernel(const gd_CUDA_KERNEL_NODE_PARAMS *params, uint32_t *number)
{
    const gd_CUlaunchConfig config = gd_graph_config(params);

    *number = GD_ATTACHED_NONE;
    return gd_kernels_find(gd_graph_function(params), &config, number);
}

static uint32_t kernel_of_params(const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    uint32_t number;

    find_kernel(params, &number);
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

static seen_node read_node(gd_CUgraphNode node)
{
    const gd_CUgraphNodeType type = gd_graph_node_type(node);
    gd_CUDA_KERNEL_NODE_PARAMS params = {0};
    seen_node seen = {.kernel = GD_ATTACHED_NONE, .bit = bit_of(type)};

    if (type == GD_CU_GRAPH_NODE_TYPE_KERNEL &&
        !GD_NEXT(cuGraphKernelNodeGetParams_v2, node, &params))
        seen.kernel = kernel_of_params(&params);
    return seen;
}

/* Room for the nodes and edges of one more graph. */
static bool grow(seen_graph *graph, const gd_graph_view *view)
{
    const size_t nodes = graph->node_count + view->node_count + 1;
    const size_t edges = graph->edge_count + view->edge_count + 1;
    seen_node *grown_nodes = realloc(graph->nodes, nodes * sizeof *grown_nodes);

    graph->nodes = grown_nodes ? grown_nodes : graph->nodes;
    seen_edge *grown_edges =
        grown_nodes ? realloc(graph->edges, edges * sizeof *grown_edges) : NULL;
    graph->edges = grown_edges ? grown_edges : graph->edges;
    return grown_edges && nodes < UINT32_MAX && edges < UINT32_MAX;
}

/* False: the node's kernel is not known. */
static bool read_pointers(gd_pointers *into, gd_CUgraphNode node)
{
    gd_CUDA_KERNEL_NODE_PARAMS params = {0};
    gd_attached_kernel *kernel = NULL;
    uint32_t number;

    if (!GD_NEXT(cuGraphKernelNodeGetParams_v2, node, &params))
        kernel = find_kernel(&params, &number);
    if (!kernel)
        return false;
    const gd_CUlaunchConfig config = gd_graph_config(&params);
    gd_pointers_read(into, kernel, number, gd_graph_function(&params), &config, params.kernelParams,
                     params.extra);
    return true;
}

/* What kernels were given of which the second may start early. */
static void compare_arguments(gd_CUgraphNode before, gd_CUgraphNode from, gd_CUgraphNode to)
{
    gd_pointers_row row = {.count = 0};
    gd_pointers given;

    if (!gd_pointers_next())
        return;
    if (before && read_pointers(&given, before))
        gd_pointers_follow(&row, &given, false);
    if (!read_pointers(&given, from))
        return;
    gd_pointers_follow(&row, &given, true);
    if (read_pointers(&given, to))
        gd_pointers_follow(&row, &given, true);
}

/* Appends what the driver tells of a graph. */
static void read_graph(seen_graph *into, gd_CUgraph graph, uint32_t level)
{
    const uint32_t base = into->node_count;
    gd_graph_view view;

    if (level == GD_GRAPH_MOST_NESTED || !gd_graph_view_read(graph, &view))
        return;
    const bool has_room = grow(into, &view);
    for (size_t i = 0; has_room && i < view.node_count; i++) {
        into->nodes[into->node_count++] = read_node(view.nodes[i]);
        gd_map_set(&into->places, (uint64_t)(uintptr_t)view.nodes[i], 0,
                   (void *)(uintptr_t)into->node_count);
    }
    for (size_t i = 0; has_room && i < view.edge_count; i++) {
        const seen_edge edge = {base + (uint32_t)gd_graph_view_index(&view, view.from[i]),
                                base + (uint32_t)gd_graph_view_index(&view, view.to[i]),
                                view.data[i]};
        into->edges[into->edge_count++] = edge;
        if (!gd_graph_is_programmatic(&edge.data))
            continue;
        into->nodes[edge.to].early = true;
        into->nodes[edge.to].before = view.from[i];
    }
    for (size_t i = 0; has_room && i < view.edge_count; i++) {
        const seen_edge *edge = &into->edges[into->edge_count - view.edge_count + i];
        if (gd_graph_is_programmatic(&edge->data))
            compare_arguments(into->nodes[edge->from].before, view.from[i], view.to[i]);
    }
    for (size_t i = 0; has_room && i < view.node_count; i++) {
        gd_CUgraph child = gd_graph_child(view.nodes[i]);
        into->nodes[base + i].inner = into->node_count;
        if (child)
            read_graph(into, child, level + 1);
    }
    gd_graph_view_free(&view);
}

/* ---- records ---- */

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

/* The kernel that a node launches; GD_ATTACHED_NONE: none. */
static uint32_t kernel_of(const seen_graph *graph, uint32_t node)
{
    return graph->nodes[node].disabled ? GD_ATTACHED_NONE : graph->nodes[node].kernel;
}

/* Kernels that a node of another kind stands between. */
static void count_across(recording *into, const seen_graph *graph, uint32_t node)
{
    size_t counted = 0;

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        if (graph->edges[i].to != node)
            continue;
        const uint32_t first = kernel_of(graph, graph->edges[i].from);
        for (uint32_t j = 0; first != GD_ATTACHED_NONE && j < graph->edge_count; j++) {
            if (graph->edges[j].from != node || counted == MOST_ACROSS)
                continue;
            const uint32_t second = kernel_of(graph, graph->edges[j].to);
            if (second == GD_ATTACHED_NONE)
                continue;
            count_edge(into, first, second, graph->nodes[node].bit, (gd_CUgraphEdgeData){0});
            counted++;
        }
    }
}

static void count_all(recording *into, const seen_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const uint32_t kernel = kernel_of(graph, i);
        if (kernel != GD_ATTACHED_NONE)
            count_node(into, kernel, graph->nodes[i].early);
        else
            count_across(into, graph, i);
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const seen_edge *edge = &graph->edges[i];
        const uint32_t first = kernel_of(graph, edge->from), second = kernel_of(graph, edge->to);
        if (first != GD_ATTACHED_NONE && second != GD_ATTACHED_NONE)
            count_edge(into, first, second, 0, edge->data);
    }
}

typedef struct digest {
    uint64_t first, second;
} digest;

static void mix(digest *into, uint64_t value)
{
    into->first = (into->first ^ value) * 0x9e3779b97f4a7c15U;
    into->first ^= into->first >> 29;
    into->second = (into->second + value) * 0xff51afd7ed558ccdU;
    into->second ^= into->second >> 32;
}

/* Of all that records say of a graph. */
static digest digest_of(const seen_graph *graph)
{
    digest made = {.first = graph->node_count, .second = graph->edge_count};

    for (uint32_t i = 0; i < graph->node_count; i++)
        mix(&made, (uint64_t)kernel_of(graph, i) << 32 | graph->nodes[i].bit);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const seen_edge *edge = &graph->edges[i];
        mix(&made, (uint64_t)edge->from << 32 | edge->to);
        mix(&made, (uint64_t)edge->data.type << 8 | edge->data.from_port);
    }
    return made;
}

/* Runs of the graph count in the record that says what it launches now. */
static void record(seen_graph *graph)
{
    const digest of = digest_of(graph);
    recording into = {0};

    graph->record = gd_map_find(&records, of.first, of.second);
    if (graph->record)
        return;
    graph->record = gd_record_add(GD_ATTACHED_GRAPH, sizeof *graph->record, "", &into.graph);
    gd_record_commit(graph->record, GD_ATTACHED_GRAPH);
    if (into.graph == GD_ATTACHED_NONE)
        return;
    gd_map_set(&records, of.first, of.second, graph->record);
    count_all(&into, graph);
    gd_map_free(&into.edges);
    gd_map_free(&into.nodes);
}

/* ---- executables ---- */

void gd_executables_add(gd_CUgraphExec executable, gd_CUgraph graph, uint32_t changed)
{
    seen_graph *made;

    gd_executables_end(executable); /* an old one, which ended by ways that nobody sees */
    made = calloc(1, sizeof *made);
    if (!made || !gd_map_set(&executables, (uint64_t)(uintptr_t)executable, 0, made)) {
        free(made);
        return;
    }
    read_graph(made, graph, 0);
    record(made);
    made->record->changed += changed;
}

/* Takes over what nodes from `at` on launch from a graph that has as many, in the same order. */
static void take_kernels(seen_graph *into, uint32_t at, const seen_graph *from)
{
    for (uint32_t i = 0; i < from->node_count && i < into->node_count - at; i++)
        into->nodes[at + i].kernel = from->nodes[i].kernel;
    record(into);
}

void gd_executables_update(gd_CUgraphExec executable, gd_CUgraph graph)
{
    seen_graph *known = find_executable(executable), read = {0};
    const uint64_t number = updates++;

    if (!known || (number >= FIRST_UPDATES && number % EACH_UPDATE))
        return;
    read_graph(&read, graph, 0);
    take_kernels(known, 0, &read);
    empty_graph(&read);
}

void gd_executables_set_kernel(gd_CUgraphExec executable, gd_CUgraphNode node,
                               const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    seen_graph *graph;
    seen_node *found = find_node(executable, node, &graph);
    const uint32_t kernel = found ? kernel_of_params(params) : GD_ATTACHED_NONE;

    if (!found || found->kernel == kernel)
        return;
    found->kernel = kernel;
    record(graph);
}

void gd_executables_enable(gd_CUgraphExec executable, gd_CUgraphNode node, bool enabled)
{
    seen_graph *graph;
    seen_node *found = find_node(executable, node, &graph);

    if (!found || found->disabled == !enabled)
        return;
    found->disabled = !enabled;
    record(graph);
}

void gd_executables_set_child(gd_CUgraphExec executable, gd_CUgraphNode node, gd_CUgraph child)
{
    seen_graph *graph, read = {0};
    const seen_node *found = find_node(executable, node, &graph);

    if (!found)
        return;
    read_graph(&read, child, 1);
    take_kernels(graph, found->inner, &read);
    empty_graph(&read);
}

bool gd_executables_is_early(gd_CUgraphExec executable, gd_CUgraphNode node,
                             const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    seen_graph *graph;
    const seen_node *found = find_node(executable, node, &graph);

    return found && found->early && found->kernel != kernel_of_params(params);
}

void gd_executables_launch(gd_CUgraphExec executable)
{
    seen_graph *graph = find_executable(executable);

    if (graph)
        graph->record->launches++;
}

void gd_executables_end(gd_CUgraphExec executable)
{
    seen_graph *ended = find_executable(executable);

    if (!ended)
        return;
    gd_map_remove(&executables, (uint64_t)(uintptr_t)executable, 0);
    empty_graph(ended);
    free(ended);
}

void gd_executables_forget(void)
{
    for (size_t i = 0; i < executables.capacity; i++) {
        seen_graph *each = executables.slots[i].value;
        if (each)
            empty_graph(each);
        free(each);
    }
    gd_map_free(&executables);
    gd_map_free(&records);
    updates = 0;
}
