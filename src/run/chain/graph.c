/* A chain as a graph: its edges as the chain decides, and decided again when arguments of its nodes
 * change. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/launches.h"
#include "run/chain/chain.h"
#include "run/graph/graph.h"
#include "run/launch/event.h"
#include "run/module/module.h"
#include "run/runtime.h"

/* What is built: round by round. */
typedef struct builder {
    const griddep_chain *chain;
    int32_t mode;
    uint32_t round;
    griddep_graph *graph;
    griddep_error *error;
} builder;

static gd_graph_edge make_edge(uint32_t from, uint32_t to, int32_t reason)
{
    gd_graph_edge edge = {.from = from, .to = to, .reason = -1};

    if (reason == GRIDDEP_REASON_SET) {
        edge.type = GRIDDEP_EDGE_AUTO;
    } else if (reason == GRIDDEP_REASON_FORCED) {
        edge.type = GRIDDEP_EDGE_PROGRAMMATIC;
        edge.port = GRIDDEP_PORT_PROGRAMMATIC;
    } else {
        edge.reason = reason;
    }
    return edge;
}

static int32_t add_edge(const builder *build, uint32_t from, uint32_t to, int32_t reason)
{
    const gd_graph_edge edge = make_edge(from, to, reason);

    return gd_graph_append_edge(build->graph, &edge, build->error);
}

/* Within a round. */
static int32_t add_edge_to(const builder *build, uint32_t from, uint32_t to)
{
    const uint32_t first = build->round * build->chain->count;

    return add_edge(build, first + from, first + to,
                    gd_chain_decide_after(build->chain, build->mode, from, to));
}

/* From the round before, which has ended when its lanes have. */
static int32_t add_edges_over(const builder *build, uint32_t to)
{
    const griddep_chain *chain = build->chain;
    const uint32_t first = build->round * chain->count;
    const int32_t reason = gd_chain_decide_round(chain, build->mode);
    int32_t status = GRIDDEP_OK;

    for (uint32_t lane = 0; lane < chain->lane_count && !status; lane++)
        status = add_edge(build, first - chain->count + chain->last[lane], first + to, reason);
    return status;
}

static int32_t add_node(const builder *build, const gd_chain_launch *launch)
{
    const gd_chain_move *move = gd_chain_move_of(launch);
    uint32_t node;

    switch (launch->given.node) {
    case GRIDDEP_GRAPH_NODE_COPY:
        return griddep_graph_add_copy(build->graph, move->target, move->source, move->bytes, &node,
                                      build->error);
    case GRIDDEP_GRAPH_NODE_FILL:
        return griddep_graph_add_fill(build->graph, move->target, move->value, move->bytes, &node,
                                      build->error);
    case GRIDDEP_GRAPH_NODE_HOST:
        return griddep_graph_add_host(build->graph, move->function, move->user, &node,
                                      build->error);
    case GRIDDEP_GRAPH_NODE_CHILD:
        return gd_error_set(build->error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s is a hop of NCCL, which becomes a graph by a capture alone: run "
                            "the chain into griddep_graph_capture_begin",
                            gd_chain_name(launch));
    default:
        return gd_graph_add_call(build->graph, gd_chain_call(launch), &node, build->error);
    }
}

/* The node that was added last. */
static int32_t name_node(const builder *build, const char *name)
{
    gd_graph_node *node = &build->graph->nodes[build->graph->node_count - 1];

    node->launch_name = strdup(name);
    return node->launch_name ? GRIDDEP_OK : gd_error_memory(build->error);
}

static int32_t add_round(const builder *build)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < build->chain->count && !status; i++) {
        const gd_chain_launch *launch = &build->chain->launches[i];
        status = add_node(build, launch);
        if (!status && launch->given.name)
            status = name_node(build, launch->given.name);
        if (!status && launch->previous != GD_CHAIN_NONE)
            status = add_edge_to(build, launch->previous, i);
        else if (!status && build->round)
            status = add_edges_over(build, i);
        for (uint32_t k = 0; k < launch->given.after_count && !status; k++)
            status = add_edge_to(build, launch->given.after[k], i);
    }
    return status;
}

/* The events that a launch records, each by a node behind it: complete. */
static int32_t add_events(const gd_launch *launch, uint32_t index, griddep_graph *graph,
                          griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < launch->attribute_count && !status; i++) {
        gd_graph_edge edge = {.from = index, .reason = -1};
        gd_early how;
        gd_CUevent event = gd_event_of(&launch->attributes[i], &how);
        if (!event)
            continue;
        status = gd_graph_add_event(graph, event, &edge.to, error);
        if (!status)
            status = gd_graph_append_edge(graph, &edge, error);
    }
    return status;
}

int32_t gd_chain_make_graph(const griddep_chain *chain, int32_t mode, uint32_t rounds,
                            griddep_graph **graph, griddep_error *error)
{
    builder build = {.chain = chain, .mode = mode, .error = error};
    int32_t status = gd_graph_make(chain->runtime, &build.graph, error);

    for (; build.round < rounds && !status; build.round++)
        status = add_round(&build);
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        if (chain->now->calls[i])
            status = add_events(&chain->now->calls[i]->launch, i, build.graph, error);
    }
    if (status)
        griddep_graph_destroy(build.graph);
    else
        *graph = build.graph;
    return status;
}

/* ---- when arguments change ---- */

/* What decides about the graph of a chain: the chain, as it was when the graph was made. */
typedef struct proof {
    griddep_chain *chain;
    int32_t mode;
} proof;

static void end_proof(void *state)
{
    proof *ended = state;

    griddep_chain_destroy(ended->chain);
    free(ended);
}

static int32_t copy_launch(griddep_chain *copy, const gd_chain_launch *launch, uint32_t index,
                           griddep_error *error)
{
    if (gd_chain_call(launch))
        gd_call_hold(gd_chain_call(launch));
    int32_t status =
        gd_chain_append_like(copy, launch, gd_chain_call(launch), gd_chain_move_of(launch), error);
    if (status)
        gd_call_release(gd_chain_call(launch));
    for (uint32_t i = 0; i < launch->given.after_count && !status; i++)
        status = griddep_chain_depend(copy, index, launch->given.after[i], error);
    return status;
}

/* An update may give a node another kernel: what is known of the old one goes with it. */
bool gd_chain_follow_call(griddep_chain *chain, uint32_t index, gd_call *call)
{
    const gd_call *old = chain->now->calls[index];
    gd_chain_launch *launch = &chain->launches[index];
    const bool other = call->launch.pdl != old->launch.pdl || call->kernel != old->kernel;

    if (call->kernel != old->kernel) {
        gd_check_facts_destroy(chain->facts);
        chain->facts = NULL;
        gd_chain_forget_uses(launch);
        launch->given.use_count = call->kernel->info.parameter_count;
    }
    gd_chain_set_call(chain, index, gd_call_hold(call));
    return other;
}

/* The chain's launches have what the nodes have. */
static void follow_nodes(griddep_chain *chain, const griddep_graph *graph)
{
    bool other = false;

    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_graph_node *node = &graph->nodes[i];
        gd_chain_launch *launch = &chain->launches[i];
        if (node->call && node->call != gd_chain_call(launch))
            other |= gd_chain_follow_call(chain, i, node->call);
        gd_chain_move_of(launch)->target = node->target;
        gd_chain_move_of(launch)->source = node->source;
        gd_chain_move_of(launch)->bytes = node->bytes;
    }
    if (other)
        gd_chain_forget_all_held(chain);
    else
        gd_chain_forget_held(chain);
}

static bool waits_for(const gd_chain_launch *launch, uint32_t from)
{
    bool found = launch->previous == from;

    for (uint32_t i = 0; i < launch->given.after_count && !found; i++)
        found = launch->given.after[i] == from;
    return found;
}

/* An edge that the chain made is plain for a race, or is so no more. */
static bool decide_again(const proof *of, gd_graph_edge *edge)
{
    if (edge->to >= of->chain->count || !waits_for(&of->chain->launches[edge->to], edge->from))
        return false;
    const int32_t reason = gd_chain_decide_after(of->chain, of->mode, edge->from, edge->to);
    const bool changes = (edge->reason == GRIDDEP_REASON_RACE) != (reason == GRIDDEP_REASON_RACE);
    if (changes)
        *edge = make_edge(edge->from, edge->to, reason);
    return changes;
}

static bool forces(const griddep_chain *chain)
{
    bool found = false;

    for (uint32_t i = 0; i < chain->count && !found; i++)
        found = chain->now->calls[i] && chain->now->calls[i]->launch.pdl == GRIDDEP_PDL_FORCE;
    return found;
}

/* What is forced to start early does so: the edge tells whether it races. */
static int32_t mark_races(griddep_chain *chain, int32_t mode, griddep_graph *graph,
                          griddep_error *error)
{
    if (!gd_chain_overlaps(mode) || !forces(chain))
        return GRIDDEP_OK;
    bool *races = calloc((size_t)chain->count + 1, sizeof *races);
    int32_t status = races ? gd_chain_find_races(chain, races, error) : gd_error_memory(error);
    for (uint32_t i = 0; i < graph->edge_count && !status; i++) {
        gd_graph_edge *edge = &graph->edges[i];
        edge->checked = edge->type == GRIDDEP_EDGE_PROGRAMMATIC && edge->to < chain->count;
        edge->races = edge->checked && races[edge->to];
    }
    free(races);
    return status;
}

static int32_t look_again(void *state, griddep_graph *graph, griddep_error *error)
{
    const proof *of = state;
    bool changed = false;

    follow_nodes(of->chain, graph);
    int32_t status = gd_chain_prove_hops(of->chain, of->mode, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        changed |= decide_again(of, &graph->edges[i]);
    if (changed)
        gd_graph_drop(graph); /* it is instantiated anew */
    return mark_races(of->chain, of->mode, graph, error);
}

static const gd_graph_proof_kind chain_proof = {look_again, end_proof};

/* A graph that starts launches early for what their arguments are, or that races by them, keeps a
 * copy of the chain, to be looked at when they change. */
static int32_t add_proof(const griddep_chain *chain, int32_t mode, griddep_graph *graph,
                         griddep_error *error)
{
    if (!gd_chain_overlaps(mode) || (chain->always_safe && !forces(chain)) || chain->count < 2)
        return GRIDDEP_OK;
    proof *made = calloc(1, sizeof *made);
    if (!made)
        return gd_error_memory(error);
    made->mode = mode;
    int32_t status = griddep_chain_create(chain->runtime, &made->chain, error);
    if (!status)
        status = gd_chain_add_buffers_of(made->chain, chain, error);
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = copy_launch(made->chain, &chain->launches[i], i, error);
    if (status) {
        end_proof(made);
        return status;
    }
    graph->proof = made;
    graph->proof_kind = &chain_proof;
    return GRIDDEP_OK;
}

/* ---- public ---- */

int32_t griddep_graph_from_chain(griddep_chain *chain, int32_t mode, griddep_graph **graph,
                                 griddep_error *error)
{
    int32_t status = gd_chain_can_run(chain, mode, error);

    if (status)
        return status;
    if (!graph)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "graph is NULL");
    status = gd_chain_prove_hops(chain, mode, error);
    if (status)
        return status;
    griddep_graph *made = NULL;
    status = gd_chain_make_graph(chain, mode, 1, &made, error);
    if (!status)
        status = mark_races(chain, mode, made, error);
    if (!status)
        status = add_proof(chain, mode, made, error);
    if (status)
        griddep_graph_destroy(made);
    else
        *graph = made;
    return status;
}
