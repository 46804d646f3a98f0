/* Edges that change after they were added: plain ones that become programmatic, and the other way
 * round where a switch is off. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/graph/graph.h"

static const gd_CUgraphEdgeData plain = {0};
static const gd_CUgraphEdgeData programmatic = {.from_port =
                                                    GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                                .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

/* ---- edges of an adopted graph ---- */

static gd_CUresult exchange(const griddep_graph *graph, gd_graph_edge *edge, gd_CUgraphEdgeData new)
{
    gd_CUresult result =
        gd_graph_exchange(graph->runtime->driver, graph->handle, &graph->nodes[edge->from].handle,
                          &graph->nodes[edge->to].handle, gd_graph_edge_data(edge), new);

    if (result == GD_CUDA_SUCCESS) {
        edge->port = new.from_port;
        edge->type = new.type;
    }
    return result;
}

static int32_t fail_exchange(const griddep_graph *graph, const gd_graph_edge *edge,
                             gd_CUresult result, griddep_error *error)
{
    return gd_driver_fail(graph->runtime->driver, result, error,
                          "changing the edge from node %" PRIu32 " to node %" PRIu32, edge->from,
                          edge->to);
}

int32_t gd_graph_hold_edge(griddep_graph *graph, gd_graph_edge *edge, bool hold,
                           griddep_error *error)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (graph->adopted)
        result = exchange(graph, edge, hold ? plain : programmatic);
    else
        edge->upgraded = !hold;
    if (result != GD_CUDA_SUCCESS)
        return fail_exchange(graph, edge, result, error);
    edge->held = hold;
    edge->reason = hold ? GRIDDEP_REASON_RACE : -1;
    return GRIDDEP_OK;
}

int32_t gd_graph_make_plain(griddep_graph *graph, griddep_error *error)
{
    int32_t status = gd_graph_make_inner_plain(graph, error);

    for (uint32_t i = 0; i < graph->edge_count && !status; i++) {
        gd_graph_edge *edge = &graph->edges[i];
        gd_CUgraphEdgeData data;
        int32_t reason = gd_graph_resolve(graph, edge, &data);
        if ((!edge->type && !edge->port) || data.type || data.from_port)
            continue;
        status = gd_graph_check_exchange(graph->runtime->driver, error);
        gd_CUresult result = status ? GD_CUDA_SUCCESS : exchange(graph, edge, plain);
        if (result != GD_CUDA_SUCCESS)
            status = fail_exchange(graph, edge, result, error);
        if (status)
            gd_error_append(error, "; it must not let node %" PRIu32 " start early: %s", edge->to,
                            griddep_text(GRIDDEP_TEXT_REASON, reason));
        else
            edge->reason = reason;
    }
    return status;
}

/* ---- upgrade ---- */

/* What to upgrade: edges that become programmatic from the front of a list on, and those that would
 * if their node did not race, from its back on. */
typedef struct choice {
    uint32_t *edges, count;
    uint32_t held_count;
} choice;

static uint32_t *held_edge(const griddep_graph *graph, const choice *of, uint32_t i)
{
    return &of->edges[graph->edge_count - 1 - i];
}

/* The edges chosen from `first` on stay plain. The last one is moved first: what is behind the list
 * may be where it ends. */
static void hold_edges(griddep_graph *graph, choice *of, uint32_t first)
{
    while (of->count > first) {
        gd_graph_edge *edge = &graph->edges[of->edges[--of->count]];
        edge->held = true;
        edge->reason = GRIDDEP_REASON_RACE;
        *held_edge(graph, of, of->held_count++) = (uint32_t)(edge - graph->edges);
    }
}

static bool is_held(const griddep_graph *graph, uint32_t node)
{
    const gd_graph_held *held = graph->held_back;

    return held && node < held->count && held->held[node];
}

/* A node's edges are judged together, behind those of the nodes before it, and with what becomes of
 * these. */
static int32_t choose(griddep_graph *graph, const uint32_t *order, choice *of, griddep_error *error)
{
    uint32_t *edges = of->edges, *count = &of->count;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < graph->node_count && !status; i++) {
        const gd_node_list *before = &graph->nodes[order[i]].before;
        uint32_t first = *count;
        for (uint32_t k = 0; k < before->count && !status; k++) {
            griddep_graph_edge_info info;
            status = gd_graph_judge(graph, before->edges[k], &info, error);
            if (!status && info.reason == GRIDDEP_REASON_PLAIN)
                edges[(*count)++] = before->edges[k];
        }
        if (is_held(graph, order[i])) {
            hold_edges(graph, of, first);
            continue;
        }
        for (uint32_t k = first; k < *count; k++)
            graph->edges[edges[k]].upgraded = true;
    }
    return status;
}

/* Takes back that edges are held. */
static void forget_held(griddep_graph *graph, const choice *of)
{
    for (uint32_t i = 0; i < of->held_count; i++) {
        gd_graph_edge *edge = &graph->edges[*held_edge(graph, of, i)];
        edge->held = false;
        edge->reason = -1;
    }
}

/* From now on these edges go by what is held. */
static void keep_choice(griddep_graph *graph, const choice *of)
{
    for (uint32_t i = 0; i < of->count; i++)
        graph->edges[of->edges[i]].chosen = true;
    for (uint32_t i = 0; i < of->held_count; i++)
        graph->edges[*held_edge(graph, of, i)].chosen = true;
}

/* Takes back what was chosen; of an adopted graph, the first `changed` edges in the driver's graph
 * too. */
static void restore(griddep_graph *graph, const uint32_t *edges, uint32_t count, uint32_t changed,
                    griddep_error *error)
{
    uint32_t restored = 0;

    for (uint32_t i = 0; i < count; i++)
        graph->edges[edges[i]].upgraded = false;
    for (uint32_t i = 0; i < changed; i++)
        restored += exchange(graph, &graph->edges[edges[i]], plain) == GD_CUDA_SUCCESS;
    if (restored < changed)
        gd_error_append(error,
                        "; of %" PRIu32 " edges that were changed the driver puts %" PRIu32 " back",
                        changed, restored);
}

static int32_t change(griddep_graph *graph, const uint32_t *edges, uint32_t count,
                      uint32_t *changed, griddep_error *error)
{
    int32_t status = count ? gd_graph_check_exchange(graph->runtime->driver, error) : GRIDDEP_OK;

    for (uint32_t i = 0; i < count && !status; i++) {
        gd_graph_edge *edge = &graph->edges[edges[i]];
        gd_CUresult result = exchange(graph, edge, programmatic);
        if (result != GD_CUDA_SUCCESS)
            return fail_exchange(graph, edge, result, error);
        edge->upgraded = false;
        (*changed)++;
    }
    return status;
}

/* The context is current. */
static int32_t upgrade(griddep_graph *graph, const uint32_t *edges, uint32_t count,
                       griddep_error *error)
{
    gd_graph_made made = {0};
    uint32_t changed = 0;
    int32_t status = graph->adopted ? change(graph, edges, count, &changed, error) : GRIDDEP_OK;

    if (!status)
        status = gd_graph_prepare(graph, &made, error);
    if (status)
        restore(graph, edges, count, changed, error);
    else
        gd_graph_install(graph, &made);
    return status;
}

int32_t gd_graph_upgrade(griddep_graph *graph, uint32_t *count, griddep_error *error)
{
    bool pushed;
    choice of = {.edges = calloc((size_t)graph->edge_count + 1, sizeof *of.edges)};
    uint32_t *order = calloc((size_t)graph->node_count + 1, sizeof *order);
    int32_t status =
        of.edges && order ? gd_graph_sort(graph, order, error) : gd_error_memory(error);

    if (!status)
        status = choose(graph, order, &of, error);
    if (!status && of.count)
        status = gd_runtime_enter(graph->runtime, &pushed, error);
    if (status)
        restore(graph, of.edges, of.count, 0, NULL);
    if (!status && of.count) {
        status = upgrade(graph, of.edges, of.count, error);
        gd_runtime_leave(graph->runtime, pushed);
    }
    if (status)
        forget_held(graph, &of);
    else
        keep_choice(graph, &of);
    if (!status && count)
        *count = of.count;
    free(of.edges);
    free(order);
    return status;
}
