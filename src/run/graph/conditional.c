/* Conditional nodes: graphs as their bodies, and the driver's handles of their conditionals. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/graph/graph.h"

enum { VERSION_IF = 12030, VERSION_SWITCH = 12080 }; /* driver API */

/* ---- what may stand where ---- */

bool gd_graph_has_conditional(const griddep_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].type == GRIDDEP_GRAPH_NODE_CONDITIONAL)
            return true;
    }
    return false;
}

/* CUDA_CONDITIONAL_NODE_PARAMS: kernels, empty nodes, child graphs, memsets, memcopies, and
 * conditionals. */
const char *gd_graph_body_refuses(int32_t type)
{
    switch (type) {
    case GRIDDEP_GRAPH_NODE_KERNEL:
    case GRIDDEP_GRAPH_NODE_COPY:
    case GRIDDEP_GRAPH_NODE_FILL:
    case GRIDDEP_GRAPH_NODE_CHILD:
    case GRIDDEP_GRAPH_NODE_EMPTY:
    case GRIDDEP_GRAPH_NODE_CONDITIONAL:
        return NULL;
    case GRIDDEP_GRAPH_NODE_HOST:
        return "the host does nothing";
    case GRIDDEP_GRAPH_NODE_EVENT_WAIT:
    case GRIDDEP_GRAPH_NODE_EVENT_RECORD:
        return "events are neither recorded nor waited for";
    default:
        return "only kernels, copies, fills, graphs and empty nodes can stand";
    }
}

static int32_t check_body_nodes(const griddep_graph *body, uint32_t number, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    gd_text words = {0};

    for (uint32_t i = 0; i < body->node_count && !status; i++) {
        const char *refusal = gd_graph_body_refuses(body->nodes[i].type);
        if (refusal)
            status =
                gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "body %" PRIu32 " has %s; in a body %s",
                             number, gd_graph_node_words(body, i, &words), refusal);
        else if (body->nodes[i].child)
            status = check_body_nodes(body->nodes[i].child, number, error);
    }
    gd_text_free(&words);
    return status;
}

static void mark_body(griddep_graph *body)
{
    body->in_body = true;
    for (uint32_t i = 0; i < body->node_count; i++) {
        if (body->nodes[i].child)
            mark_body(body->nodes[i].child);
    }
}

void gd_graph_release_bodies(gd_graph_bodies *bodies)
{
    if (!bodies || atomic_fetch_sub_explicit(&bodies->references, 1u, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < bodies->count; i++)
        griddep_graph_destroy(bodies->list[i]);
    free(bodies);
}

/* ---- conditionals of a graph and of all that is in it ---- */

static uint32_t count_conditionals(const griddep_graph *graph)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < graph->node_count; i++) {
        const gd_graph_node *node = &graph->nodes[i];
        count += node->conditional != NULL;
        for (uint32_t j = 0; node->bodies && j < node->bodies->count; j++)
            count += node->bodies->list[j] ? count_conditionals(node->bodies->list[j]) : 0;
    }
    return count;
}

/* Appends bindings without handles; there is room. */
static void list_conditionals(const griddep_graph *graph, gd_bindings *bindings)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const gd_graph_node *node = &graph->nodes[i];
        if (node->conditional)
            bindings->list[bindings->count++].conditional = node->conditional;
        for (uint32_t j = 0; node->bodies && j < node->bodies->count; j++) {
            if (node->bodies->list[j])
                list_conditionals(node->bodies->list[j], bindings);
        }
    }
}

int32_t gd_graph_bind(const griddep_graph *content, gd_CUgraph handle, gd_bindings *bindings,
                      griddep_error *error)
{
    const griddep_runtime *runtime = content->runtime;
    uint32_t count = count_conditionals(content);

    *bindings = (gd_bindings){0};
    if (!count)
        return GRIDDEP_OK;
    bindings->list = calloc(count, sizeof *bindings->list);
    if (!bindings->list)
        return gd_error_memory(error);
    list_conditionals(content, bindings);
    for (uint32_t i = 0; i < count; i++) {
        gd_binding *binding = &bindings->list[i];
        gd_CUresult result = runtime->driver->cuGraphConditionalHandleCreate(
            &binding->handle, handle, runtime->context, binding->conditional->initial,
            GD_CU_GRAPH_COND_ASSIGN_DEFAULT);
        if (result != GD_CUDA_SUCCESS)
            return gd_driver_fail(runtime->driver, result, error, "a conditional of the graph");
    }
    return GRIDDEP_OK;
}

void gd_graph_unbind(griddep_graph *graph)
{
    free(graph->bindings.list);
    graph->bindings = (gd_bindings){0};
}

gd_CUresult gd_graph_make_conditional(const griddep_graph *graph, const gd_graph_node *node,
                                      gd_CUgraph handle, const gd_CUgraphNode *before, size_t count,
                                      const gd_bindings *bindings, gd_CUgraphNode *made,
                                      gd_CUgraph **bodies)
{
    const griddep_runtime *runtime = graph->runtime;
    gd_CUgraphNodeParams params = {
        .type = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .is.conditional = {.handle = gd_binding_find(bindings, node->conditional)->handle,
                           .type = node->kind,
                           .size = node->bodies->count,
                           .ctx = runtime->context}};
    gd_CUresult result =
        runtime->driver->cuGraphAddNode(made, handle, before, NULL, count, &params);

    *bodies = params.is.conditional.phGraph_out;
    return result;
}

/* ---- checks ---- */

static int32_t check_driver(const griddep_runtime *runtime, int32_t kind, uint32_t body_count,
                            griddep_error *error)
{
    bool late = kind == GRIDDEP_CONDITIONAL_SWITCH || body_count > 1;
    int32_t wanted = late ? VERSION_SWITCH : VERSION_IF, version = runtime->driver->version;

    if (runtime->info.features & GRIDDEP_FEATURE_CONDITIONAL && version >= wanted)
        return GRIDDEP_OK;
    return gd_error_set(
        error, GRIDDEP_ERROR_UNSUPPORTED,
        "%s need a driver with API %d.%d; this one has %" PRId32 ".%" PRId32 "%s",
        late ? "switch nodes and if nodes with an else" : "conditional nodes", wanted / 1000,
        wanted % 1000 / 10, version / 1000, version % 1000 / 10,
        version >= wanted ? ", but lacks cuGraphConditionalHandleCreate or cuGraphAddNode" : "");
}

static int32_t check_count(int32_t kind, uint32_t count, griddep_error *error)
{
    if (kind < GRIDDEP_CONDITIONAL_IF || kind > GRIDDEP_CONDITIONAL_SWITCH)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kind is %" PRId32 ", which is no GRIDDEP_CONDITIONAL_*", kind);
    if (kind == GRIDDEP_CONDITIONAL_IF && (count < 1 || count > 2))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "an if node has 1 or 2 bodies, then and else; %" PRIu32 " are given",
                            count);
    if (kind == GRIDDEP_CONDITIONAL_WHILE && count != 1)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "a while node has 1 body; %" PRIu32 " are given", count);
    if (!count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "a switch node has 1 body at least; none is given");
    return GRIDDEP_OK;
}

static int32_t check_body(const griddep_graph *graph, const griddep_graph *body, uint32_t number,
                          griddep_error *error)
{
    int32_t status = gd_graph_check_inner(graph, body, error);

    if (status)
        return gd_error_append(error, "; body %" PRIu32, number), status;
    if (body->adopted && gd_graph_has_conditional(body))
        return gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED,
            "body %" PRIu32
            " is an adopted graph with conditional nodes, which the driver does not copy",
            number);
    return check_body_nodes(body, number, error);
}

static int compare_conditionals(const void *a, const void *b)
{
    uintptr_t first = (uintptr_t)((const gd_binding *)a)->conditional,
              second = (uintptr_t)((const gd_binding *)b)->conditional;

    return (first > second) - (first < second);
}

/* A conditional belongs to one node of a graph and of all that is in it, for a kernel names nothing
 * else. */
static int32_t check_conditionals(const griddep_graph *graph,
                                  const griddep_conditional *conditional,
                                  griddep_graph *const *bodies, uint32_t body_count,
                                  griddep_error *error)
{
    uint32_t count = count_conditionals(graph) + 1;
    gd_bindings all = {0};
    bool twice = false;

    for (uint32_t i = 0; i < body_count; i++)
        count += bodies[i] ? count_conditionals(bodies[i]) : 0;
    all.list = calloc(count, sizeof *all.list);
    if (!all.list)
        return gd_error_memory(error);
    list_conditionals(graph, &all);
    for (uint32_t i = 0; i < body_count; i++) {
        if (bodies[i])
            list_conditionals(bodies[i], &all);
    }
    all.list[all.count++].conditional = conditional;
    qsort(all.list, all.count, sizeof *all.list, compare_conditionals);
    for (uint32_t i = 1; i < all.count; i++)
        twice |= all.list[i].conditional == all.list[i - 1].conditional;
    free(all.list);
    if (!twice)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "a conditional would belong to two nodes of the graph and its bodies: each "
                        "node has its own");
}

static int32_t check_conditional(const griddep_graph *graph, int32_t kind,
                                 const griddep_conditional *conditional,
                                 griddep_graph *const *bodies, uint32_t body_count,
                                 griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);
    uint64_t inner = body_count;

    if (status)
        return status;
    if (graph->adopted)
        return gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED,
            "an adopted graph takes no conditional nodes: a handle that the driver gave stays in "
            "it, "
            "whatever happens then; it can be a body, or the child of a graph that takes them");
    if (!conditional || !bodies)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            conditional ? "bodies" : "conditional");
    status = check_count(kind, body_count, error);
    if (!status)
        status = check_driver(graph->runtime, kind, body_count, error);
    for (uint32_t i = 0; i < body_count && !status; i++) {
        status = bodies[i] ? check_body(graph, bodies[i], i, error) : GRIDDEP_OK;
        inner += bodies[i] ? bodies[i]->unfolded : 0;
    }
    if (!status)
        status = gd_graph_check_room(graph, inner, error);
    return status ? status : check_conditionals(graph, conditional, bodies, body_count, error);
}

/* ---- public ---- */

int32_t griddep_graph_add_conditional(griddep_graph *graph, int32_t kind,
                                      griddep_conditional *conditional,
                                      griddep_graph *const *bodies, uint32_t body_count,
                                      uint32_t *node, griddep_error *error)
{
    gd_graph_node *added;
    int32_t status = check_conditional(graph, kind, conditional, bodies, body_count, error);

    if (status)
        return status;
    gd_graph_bodies *held = calloc(1, sizeof *held + body_count * sizeof held->list[0]);
    if (!held)
        return gd_error_memory(error);
    status = gd_graph_add(graph, GRIDDEP_GRAPH_NODE_CONDITIONAL, node, &added, error);
    if (status) {
        free(held);
        return status;
    }
    atomic_init(&held->references, 1u);
    held->count = body_count;
    for (uint32_t i = 0; i < body_count; i++) {
        held->list[i] = bodies[i] ? gd_graph_hold(bodies[i]) : NULL;
        if (!bodies[i])
            continue;
        gd_graph_count_inner(graph, bodies[i]);
        mark_body(bodies[i]);
    }
    added->kind = kind;
    added->conditional = gd_conditional_hold(conditional);
    added->bodies = held;
    return gd_graph_finish(graph, node, error);
}
