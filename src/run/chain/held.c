/* What an upgrade holds back: edges to kernels that touch memory before their wait which an earlier
 * node may still write, or which nobody can rule out.
 *
 * Most kernels touch nothing before their wait, and then nothing is looked at. Else the check of
 * chains decides (check.c): a chain has the graph's nodes in an order in which no edge leads
 * back, each in a lane of its own, behind those that its edges come from. All edges are taken to
 * let a kernel that waits start early, so that what is plain today may change tomorrow. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/launches.h"
#include "ptx/flow/early.h"
#include "run/chain/chain.h"
#include "run/graph/graph.h"
#include "run/module/module.h"

enum { MOST_NODES = 2048 };

typedef struct gd_held {
    gd_graph_held base;
    bool *touches;        /* by node */
    griddep_chain *chain; /* NULL: nobody can tell, and all that touch memory early are held */
    uint32_t *order;      /* the chain's launches as nodes */
} gd_held;

static const gd_graph_held_kind kind;

/* ---- what touches memory early ---- */

static const griddep_ptx *text_of(const griddep_kernel *kernel)
{
    const griddep_module *module = kernel->module;

    return module->ptx ? module->ptx : gd_link_text_of(&module->linked, kernel->name);
}

/* What was found is kept with the kernel. */
static int32_t ask_kernel(griddep_kernel *kernel, gd_check_facts *facts, gd_early_touch *touch,
                          griddep_error *error)
{
    const griddep_ptx *text = text_of(kernel);
    const uint32_t known = atomic_load_explicit(&kernel->early_touch, memory_order_relaxed);

    *touch = known ? (gd_early_touch)(known - 1) : GD_EARLY_TOUCH_NOTHING;
    if (known || !text)
        return GRIDDEP_OK;
    int32_t status = gd_check_touches_early(facts, text, kernel->name, touch, NULL, error);
    if (!status)
        atomic_store_explicit(&kernel->early_touch, (uint32_t)*touch + 1, memory_order_relaxed);
    return status;
}

static int32_t touches_early(const gd_graph_node *node, gd_check_facts *facts, bool *touches,
                             griddep_error *error)
{
    gd_early_touch touch = GD_EARLY_TOUCH_NOTHING;
    int32_t status = GRIDDEP_OK;

    *touches = false;
    if (node->type != GRIDDEP_GRAPH_NODE_KERNEL ||
        gd_early_kernel(node->traits) != GRIDDEP_REASON_SET)
        return GRIDDEP_OK;
    if (node->kernel)
        status = ask_kernel(node->kernel, facts, &touch, error);
    if (node->described_touch > touch)
        touch = node->described_touch;
    *touches =
        touch == GD_EARLY_TOUCH_MEMORY || (touch == GD_EARLY_TOUCH_TABLES && node->kernel &&
                                           atomic_load(&node->kernel->module->variables_known));
    return status;
}

/* *any: whether one does. */
static int32_t find_touches(const griddep_graph *graph, bool *touches, bool *any,
                            griddep_error *error)
{
    gd_check_facts *facts = gd_check_facts_create();
    int32_t status = facts ? GRIDDEP_OK : gd_error_memory(error);

    *any = false;
    for (uint32_t i = 0; i < graph->node_count && !status; i++) {
        status = touches_early(&graph->nodes[i], facts, &touches[i], error);
        *any |= touches[i];
    }
    gd_check_facts_destroy(facts);
    return status;
}

/* ---- a chain of the nodes ---- */

/* Whether the chain's check knows what a node does. */
static bool is_known(const gd_graph_node *node)
{
    return node->type != GRIDDEP_GRAPH_NODE_KERNEL || (node->kernel && node->kernel->module->ptx);
}

/* An edge by which a node begins early that does not wait: its author vouches for that, and the
 * check does not know of it. */
static bool is_beyond(const griddep_graph *graph, const gd_graph_edge *edge)
{
    gd_CUgraphEdgeData data;

    gd_graph_resolve(graph, edge, &data);
    return (data.from_port || data.type) &&
           (!data.type || data.from_port != GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
            !(graph->nodes[edge->to].traits & GRIDDEP_TRAIT_WAITS_ALWAYS));
}

static bool can_be_checked(const griddep_graph *graph)
{
    bool can = graph->node_count <= MOST_NODES;

    for (uint32_t i = 0; i < graph->node_count && can; i++)
        can = is_known(&graph->nodes[i]);
    for (uint32_t i = 0; i < graph->edge_count && can; i++)
        can = !is_beyond(graph, &graph->edges[i]);
    return can;
}

/* The call of a node, held; of an adopted graph, with the arguments that the driver has. NULL: they
 * cannot be read. */
static int32_t get_call(const griddep_graph *graph, uint32_t index, gd_call **call,
                        griddep_error *error)
{
    const gd_graph_node *node = &graph->nodes[index];

    *call = node->call ? gd_call_hold(node->call) : NULL;
    return *call ? GRIDDEP_OK : gd_graph_read_call(graph, index, call, error);
}

/* A copy or fill of an adopted graph is not known: it ends the overlap, as all the others do. */
static gd_chain_launch describe(const gd_graph_node *node, uint32_t lane, gd_chain_move *move)
{
    gd_chain_launch launch = {.given = {.node = GRIDDEP_GRAPH_NODE_HOST, .lane = lane}};

    if (node->type == GRIDDEP_GRAPH_NODE_KERNEL) {
        launch.given.node = node->type;
        launch.given.use_count = node->kernel->info.parameter_count;
    } else if (node->target &&
               (node->type == GRIDDEP_GRAPH_NODE_COPY || node->type == GRIDDEP_GRAPH_NODE_FILL)) {
        launch.given.node = node->type;
        *move =
            (gd_chain_move){.target = node->target, .source = node->source, .bytes = node->bytes};
        launch.given.use_count = node->type == GRIDDEP_GRAPH_NODE_COPY ? 2 : 1;
    }
    return launch;
}

/* *known: whether its arguments are. */
static int32_t add_node(const griddep_graph *graph, gd_held *held, uint32_t at,
                        const uint32_t *places, bool *known, griddep_error *error)
{
    const gd_graph_node *node = &graph->nodes[held->order[at]];
    gd_chain_move move = {0};
    const gd_chain_launch launch = describe(node, at, &move);
    gd_call *call = NULL;
    int32_t status = GRIDDEP_OK;

    if (launch.given.node == GRIDDEP_GRAPH_NODE_KERNEL)
        status = get_call(graph, held->order[at], &call, error);
    *known = launch.given.node != GRIDDEP_GRAPH_NODE_KERNEL || call;
    if (status || !*known)
        return status;
    status = gd_chain_append_like(held->chain, &launch, call, &move, error);
    if (status)
        gd_call_release(call);
    for (uint32_t i = 0; i < node->before.count && !status; i++)
        status = griddep_chain_depend(held->chain, at,
                                      places[graph->edges[node->before.edges[i]].from], error);
    return status;
}

static int32_t make_chain(const griddep_graph *graph, gd_held *held, griddep_error *error)
{
    bool known = true;
    uint32_t *places = calloc((size_t)held->base.count + 1, sizeof *places);
    int32_t status =
        places ? griddep_chain_create(graph->runtime, &held->chain, error) : gd_error_memory(error);

    if (!status)
        status = gd_graph_sort(graph, held->order, error);
    for (uint32_t i = 0; i < held->base.count && !status; i++)
        places[held->order[i]] = i;
    for (uint32_t i = 0; i < held->base.count && !status && known; i++)
        status = add_node(graph, held, i, places, &known, error);
    if (!status && !known) {
        griddep_chain_destroy(held->chain);
        held->chain = NULL;
    }
    free(places);
    return status;
}

/* ---- what is held ---- */

/* The chain's launches have what the nodes have now. */
static void follow_nodes(const griddep_graph *graph, gd_held *held)
{
    bool other = false;

    for (uint32_t i = 0; i < held->base.count; i++) {
        const gd_graph_node *node = &graph->nodes[held->order[i]];
        gd_chain_launch *launch = &held->chain->launches[i];
        if (node->call && gd_chain_call(launch) && node->call != gd_chain_call(launch))
            other |= gd_chain_follow_call(held->chain, i, node->call);
        gd_chain_move_of(launch)->target = node->target;
        gd_chain_move_of(launch)->source = node->source;
        gd_chain_move_of(launch)->bytes = node->bytes;
    }
    if (other)
        gd_chain_forget_all_held(held->chain);
    else
        gd_chain_forget_held(held->chain);
}

/* Without an answer all that touch memory early are held. */
static int32_t look(const griddep_graph *graph, gd_held *held, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    memcpy(held->base.held, held->touches, held->base.count * sizeof *held->base.held);
    if (!held->chain)
        return GRIDDEP_OK;
    follow_nodes(graph, held);
    status = gd_chain_prove_hops(held->chain, GRIDDEP_MODE_GRAPH_PDL, error);
    for (uint32_t i = 0; i < held->base.count && !status; i++)
        held->base.held[held->order[i]] = held->chain->launches[i].held;
    return status;
}

static void destroy(gd_graph_held *base)
{
    gd_held *held = (gd_held *)base;

    griddep_chain_destroy(held->chain);
    free(held->touches);
    free(held->base.held);
    free(held->order);
    free(held);
}

static gd_held *allocate(uint32_t count)
{
    gd_held *held = calloc(1, sizeof *held);
    const size_t room = (size_t)count + 1;

    if (!held)
        return NULL;
    held->base = (gd_graph_held){.kind = &kind, .count = count, .held = calloc(room, sizeof(bool))};
    held->touches = calloc(room, sizeof *held->touches);
    held->order = calloc(room, sizeof *held->order);
    if (held->base.held && held->touches && held->order)
        return held;
    destroy(&held->base);
    return NULL;
}

/* ---- edges that change ---- */

/* Edges that an upgrade has chosen fall back where their node is held now, and return where it is
 * no more; the graph is then instantiated anew. */
static int32_t decide_again(griddep_graph *graph, griddep_error *error)
{
    const gd_graph_held *held = graph->held_back;
    bool changed = false, pushed;
    int32_t status = gd_runtime_enter(graph->runtime, &pushed, error);

    if (status)
        return status;
    for (uint32_t i = 0; i < graph->edge_count && !status; i++) {
        gd_graph_edge *edge = &graph->edges[i];
        if (!edge->chosen || edge->held == held->held[edge->to])
            continue;
        status = gd_graph_hold_edge(graph, edge, !edge->held, error);
        changed = true;
    }
    gd_runtime_leave(graph->runtime, pushed);
    if (changed)
        gd_graph_drop(graph);
    return status;
}

/* Without an answer no edge that an upgrade has chosen lets anything start early. */
static void hold_all(griddep_graph *graph)
{
    gd_graph_held *held = graph->held_back;

    for (uint32_t i = 0; held && i < held->count; i++)
        held->held[i] = true;
    if (held)
        decide_again(graph, NULL);
}

/* Finds out from the start what is held. */
static int32_t renew(griddep_graph *graph, griddep_error *error)
{
    gd_held *held = allocate(graph->node_count);
    bool any = false;
    int32_t status =
        held ? find_touches(graph, held->touches, &any, error) : gd_error_memory(error);

    if (!status && any && can_be_checked(graph))
        status = make_chain(graph, held, error);
    if (!status)
        status = look(graph, held, error);
    if (status) {
        if (held)
            destroy(&held->base);
        hold_all(graph);
        return status;
    }
    if (graph->held_back)
        destroy(graph->held_back);
    graph->held_back = &held->base;
    return decide_again(graph, error);
}

static int32_t look_again(griddep_graph *graph, griddep_error *error)
{
    gd_held *held = (gd_held *)graph->held_back;

    if (!held->chain)
        return GRIDDEP_OK; /* arguments do not matter */
    int32_t status = look(graph, held, error);
    return status ? status : decide_again(graph, error);
}

static const gd_graph_held_kind kind = {look_again, renew, destroy};

/* ---- public ---- */

int32_t griddep_graph_upgrade(griddep_graph *graph, uint32_t *count, griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = renew(graph, error);
    return status ? status : gd_graph_upgrade(graph, count, error);
}
