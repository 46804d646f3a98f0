/* A chain made ready and run: in streams launch by launch, in graph modes as a graph of one round
 * or of several.
 *
 * Graphs are built edge by edge (lane.c), so that their nodes can be changed between runs. A
 * driver before API 12.3 takes programmatic edges from a capture alone, and NCCL can but be
 * captured: there the same calls are captured, and captured again after a change. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/chain/chain.h"
#include "run/graph/graph.h"
#include "run/launch/event.h"
#include "run/launch/hold.h"
#include "run/launch/hop.h"

/* ---- graphs ---- */

gd_chain_graph *gd_chain_graph_of(const griddep_chain *chain, int32_t mode, uint32_t power)
{
    return &chain->now->graphs[mode * GD_CHAIN_POWERS + (int32_t)power];
}

void gd_chain_note_graph(const griddep_chain *chain, int32_t mode, uint32_t power)
{
    gd_chain_set *set = chain->now;
    const uint32_t at = (uint32_t)mode * GD_CHAIN_POWERS + power;
    gd_chain_graph *graph = &set->graphs[at];

    _Static_assert(GD_CHAIN_GRAPHS <= 64, "one bit each");
    set->made |= UINT64_C(1) << at;
    graph->rounds = UINT32_C(1) << power;
    set->nodes += graph->graph ? graph->rounds : 0;
}

static void drop_graph(const griddep_chain *chain, gd_chain_graph *graph)
{
    gd_ending ending;

    if (graph->exec) {
        gd_runtime_enter_to_end(chain->runtime, &ending,
                                NULL); /* failed or not, what is held is given back */
        chain->runtime->driver->cuGraphExecDestroy(graph->exec);
        gd_runtime_leave_ended(chain->runtime, &ending);
    }
    griddep_graph_destroy(graph->graph);
    free(graph->edges);
    *graph = (gd_chain_graph){0};
}

void gd_chain_drop_set_graphs(const griddep_chain *chain, gd_chain_set *set)
{
    for (uint32_t at = 0; at < GD_CHAIN_GRAPHS && set->made; at++)
        drop_graph(chain, &set->graphs[at]);
    set->made = set->nodes = 0;
    set->proof = -1;
}

void gd_chain_drop_graphs(griddep_chain *chain)
{
    for (uint32_t i = 0; i < chain->set_count; i++) {
        gd_chain_drop_set_graphs(chain, chain->sets[i]);
        free(chain->sets[i]->held);
        chain->sets[i]->held = NULL;
    }
    gd_chain_forget_all_held(chain);
}

/* Launches one round in a stream; the context is current. */
static int32_t launch_all(griddep_chain *chain, int32_t mode, bool again, gd_CUstream stream,
                          griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (chain->lane_count > 1)
        return gd_chain_launch_lanes(chain, mode, stream, error);
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = gd_chain_launch_one(chain, mode, i,
                                     i || !again ? gd_chain_decide(chain, mode, i)
                                                 : gd_chain_decide_round(chain, mode),
                                     stream, NULL, error);
    return status;
}

/* The chain's launches as a graph, by capturing a stream made for it. */
static int32_t capture(griddep_chain *chain, int32_t mode, uint32_t rounds, gd_CUgraph *graph,
                       griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;
    gd_CUstream stream = NULL;
    int32_t status = GRIDDEP_OK;
    gd_CUresult result = driver->cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING);

    *graph = NULL;
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "a stream to capture the chain with");
    result = driver->cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED);
    if (result == GD_CUDA_SUCCESS) {
        gd_capture_state state;
        gd_hold_find_capture(chain->runtime, stream, &state);
        if (chain->lane_count > 1)
            status = gd_chain_make_lanes(chain, &state, error);
        for (uint32_t round = 0; round < rounds && !status; round++)
            status = launch_all(chain, mode, round > 0, stream, error);
        result = driver->cuStreamEndCapture(stream, graph);
    }
    if (!status && result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error, "capturing the chain");
    if (status && *graph) {
        driver->cuGraphDestroy(*graph);
        *graph = NULL;
    }
    driver->cuStreamDestroy(stream);
    return status;
}

static int32_t capture_graph(griddep_chain *chain, int32_t mode, uint32_t rounds,
                             gd_chain_graph *made, griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;
    gd_CUgraph graph = NULL;
    int32_t status = capture(chain, mode, rounds, &graph, error);

    if (status)
        return status;
    gd_CUresult result = driver->cuGraphInstantiateWithFlags(&made->exec, graph, 0);
    if (result != GD_CUDA_SUCCESS) {
        made->exec = NULL;
        status = gd_driver_fail(driver, result, error, "instantiating the chain's graph");
    }
    driver->cuGraphDestroy(graph);
    return status;
}

/* The edges from the launches before, in the lanes. */
static void note_edges(const griddep_chain *chain, const griddep_graph *graph, int8_t *edges)
{
    gd_CUgraphEdgeData data;

    for (uint32_t i = 0; i < graph->edge_count && chain->runtime->driver->cuGraphGetEdges; i++) {
        const gd_graph_edge *edge = &graph->edges[i];
        if (edge->to >= chain->count || gd_chain_previous(&chain->launches[edge->to]) != edge->from)
            continue;
        gd_graph_resolve(graph, edge, &data);
        edges[edge->to] = data.type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
}

static int32_t build_graph(griddep_chain *chain, int32_t mode, uint32_t rounds,
                           gd_chain_graph *made, griddep_error *error)
{
    int32_t status = gd_chain_make_graph(chain, mode, rounds, &made->graph, error);

    if (!status)
        status = griddep_graph_instantiate(made->graph, error);
    if (!status)
        note_edges(chain, made->graph, made->edges);
    return status;
}

/* In a graph nothing would record them when it runs; nodes do. */
static bool records_events(const griddep_chain *chain)
{
    gd_early how;

    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_call *call = chain->now->calls[i];
        for (uint32_t k = 0; call && k < call->launch.attribute_count; k++) {
            if (gd_event_of(&call->launch.attributes[k], &how))
                return true;
        }
    }
    return false;
}

/* Makes a graph of 2 to the power rounds; the context is current. */
static int32_t make_graph(griddep_chain *chain, int32_t mode, uint32_t power, griddep_error *error)
{
    const bool large = gd_chain_has_large(chain);
    const bool captured = large || (!chain->runtime->driver->cuGraphAddDependencies &&
                                    chain->lane_count == 1 && !records_events(chain));
    gd_chain_graph made = {.edges = malloc((size_t)chain->count + 1)};

    if (!made.edges)
        return gd_error_memory(error);
    if (large && records_events(chain)) {
        free(made.edges);
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "a launch records an event, and another one is a hop of NCCL: such a "
                            "chain is no graph");
    }
    memset(made.edges, -1, chain->count);
    int32_t status = captured ? capture_graph(chain, mode, UINT32_C(1) << power, &made, error)
                              : build_graph(chain, mode, UINT32_C(1) << power, &made, error);
    if (status) {
        drop_graph(chain, &made);
        return status;
    }
    *gd_chain_graph_of(chain, mode, power) = made;
    gd_chain_note_graph(chain, mode, power);
    return GRIDDEP_OK;
}

/* ---- running ---- */

static int32_t prepare_graph(griddep_chain *chain, int32_t mode, uint32_t power,
                             griddep_error *error)
{
    return gd_chain_graph_of(chain, mode, power)->edges ? GRIDDEP_OK
                                                        : make_graph(chain, mode, power, error);
}

static int32_t prepare(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    if (!chain->count)
        return GRIDDEP_OK;
    int32_t status = gd_group_agree(chain->programs, error);
    if (!status)
        status = gd_chain_prove_hops(chain, mode, error);
    if (status)
        return status;
    if (gd_chain_is_graph(mode))
        return prepare_graph(chain, mode, 0, error);
    return chain->lane_count > 1 ? gd_chain_make_lanes(chain, NULL, error) : GRIDDEP_OK;
}

static int32_t launch_graph(griddep_chain *chain, int32_t mode, uint32_t power, gd_CUstream stream,
                            griddep_error *error)
{
    const gd_chain_graph *graph = gd_chain_graph_of(chain, mode, power);
    gd_CUgraphExec exec = graph->graph ? graph->graph->exec : graph->exec;
    gd_CUresult result = chain->runtime->driver->cuGraphLaunch(exec, stream);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status =
        gd_driver_fail(chain->runtime->driver, result, error, "launching the chain's graph");
    return gd_runtime_blame_stream(chain->runtime, stream, status, error);
}

/* A run in a stream, which may be captured: then the capture holds what was launched into it, even
 * where not all was. */
static int32_t launch_into(griddep_chain *chain, int32_t mode, uint32_t rounds, gd_CUstream stream,
                           griddep_error *error)
{
    gd_capture_state capture;
    int32_t status = GRIDDEP_OK;

    gd_hold_find_capture(chain->runtime, stream, &capture);
    if (chain->lane_count > 1)
        status = gd_chain_make_lanes(chain, &capture, error);
    for (uint32_t round = 0; round < rounds && !status; round++)
        status = launch_all(chain, mode, round > 0, stream, error);
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        if (gd_chain_call(launch) || launch->large)
            gd_hold_for_capture(gd_chain_call(launch) ? gd_chain_call(launch)->kernel->module
                                                      : launch->large->module,
                                &capture);
    }
    return status;
}

/* Pieces of 2 to some power rounds, the largest first: few graphs serve any number of rounds,
 * and few ends of graphs part them. Where launches record events, pieces are of one round:
 * nothing would order what two rounds record. */
static int32_t launch_pieces(griddep_chain *chain, int32_t mode, uint32_t rounds,
                             gd_CUstream stream, griddep_error *error)
{
    uint32_t power = 0;
    int32_t status = GRIDDEP_OK;

    while (power + 1 < GD_CHAIN_POWERS && UINT32_C(2) << power <= rounds &&
           (uint64_t)chain->count << (power + 1) <= GD_CHAIN_MOST_NODES && !records_events(chain))
        power++;
    while (rounds && !status) {
        while (UINT32_C(1) << power > rounds)
            power--;
        status = prepare_graph(chain, mode, power, error);
        if (!status)
            status = launch_graph(chain, mode, power, stream, error);
        rounds -= UINT32_C(1) << power;
    }
    return status;
}

/* Where all else lets round follow round early, the check has the last word. */
static int32_t prove(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    const int32_t reason = chain->count ? gd_chain_decide_round(chain, mode) : GRIDDEP_REASON_FIRST;

    return reason == GRIDDEP_REASON_SET || reason == GRIDDEP_REASON_ROUND
               ? gd_chain_prove_round(chain, NULL, error)
               : GRIDDEP_OK;
}

/* ---- for explain.c ---- */

int32_t gd_chain_read_hop(griddep_chain *chain, int32_t mode, uint32_t index, gd_hop *hop,
                          griddep_error *error)
{
    const gd_chain_launch *launch = &chain->launches[index];
    const uint32_t previous = gd_chain_previous(launch);
    gd_chain_graph *made = gd_chain_graph_of(chain, mode, 0);

    if (chain->lane_count > 1 && !made->graph) {
        int32_t status = gd_chain_make_graph(chain, mode, 1, &made->graph, error);
        if (status)
            return status;
        gd_chain_note_graph(chain, mode, 0);
    }

    *hop = (gd_hop){.runtime = chain->runtime,
                    .name = gd_chain_name(launch),
                    .what = gd_chain_kernel_name(launch),
                    .kernel = gd_chain_kernel(launch),
                    .launch = gd_chain_call(launch) ? &gd_chain_call(launch)->launch : NULL,
                    .index = index,
                    .previous = previous,
                    .others = launch->given.after_count - (previous != launch->previous),
                    .graph = chain->lane_count > 1 ? made->graph : NULL,
                    .reason = gd_chain_decide(chain, mode, index),
                    .by_event = !gd_chain_is_graph(mode) && previous != launch->previous,
                    .edge = gd_chain_is_graph(mode) ? made->edges[index] : -1};
    return GRIDDEP_OK;
}

/* ---- public ---- */

int32_t griddep_chain_prepare(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_chain_can_run(chain, mode, error);

    if (!status)
        status = gd_runtime_enter(chain->runtime, &pushed, error);
    if (status)
        return status;
    status = prepare(chain, mode, error);
    gd_runtime_leave(chain->runtime, pushed);
    return status;
}

int32_t griddep_chain_run_many(griddep_chain *chain, int32_t mode, uint32_t rounds, void *stream,
                               griddep_error *error)
{
    bool pushed;
    int32_t status = gd_chain_can_run(chain, mode, error);

    if (!status)
        status = gd_runtime_enter(chain->runtime, &pushed, error);
    if (status)
        return status;
    if (rounds > 1)
        status = prove(chain, mode, error);
    if (!status)
        status = prepare(chain, mode, error);
    if (!status && chain->count)
        status = gd_chain_is_graph(mode) ? launch_pieces(chain, mode, rounds, stream, error)
                                         : launch_into(chain, mode, rounds, stream, error);
    gd_runtime_leave(chain->runtime, pushed);
    return status;
}

int32_t griddep_chain_run(griddep_chain *chain, int32_t mode, void *stream, griddep_error *error)
{
    return griddep_chain_run_many(chain, mode, 1, stream, error);
}

int32_t griddep_chain_get_hop(griddep_chain *chain, int32_t mode, uint32_t index,
                              griddep_hop_info *info, griddep_error *error)
{
    int32_t status = griddep_chain_prepare(chain, mode, error);

    if (status)
        return status;
    if (index > chain->count || !chain->count)
        return gd_chain_no_launch(chain, index, error);
    const bool again = index == chain->count;
    const gd_chain_launch *launch = &chain->launches[again ? 0 : index];
    status = again ? prove(chain, mode, error) : GRIDDEP_OK;
    if (status)
        return status;
    int32_t reason =
        again ? gd_chain_decide_round(chain, mode) : gd_chain_decide(chain, mode, index);
    int32_t edge = -1;
    if (gd_chain_is_graph(mode) && !again)
        edge = gd_chain_graph_of(chain, mode, 0)->edges[index];
    else if (gd_chain_is_graph(mode) && chain->runtime->driver->cuGraphGetEdges)
        edge = reason <= GRIDDEP_REASON_FORCED;
    const griddep_hop_info known = {.size = sizeof known,
                                    .reason = reason,
                                    .kernel = gd_chain_kernel_name(launch),
                                    .edge = edge,
                                    .lane = launch->given.lane,
                                    .node = launch->given.node,
                                    .name = launch->given.name};
    return gd_struct_write(info, &known, sizeof known, offsetof(griddep_hop_info, node),
                           "griddep_hop_info", error);
}
