/* Graphs as they are put together: nodes, edges, and what is refused before a driver sees it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/event.h"
#include "run/graph/graph.h"
#include "run/host.h"
#include "run/module/module.h"

const gd_call_owner gd_graph_owner = {"graph", "griddep_graph_launch", false};

/* ---- create and destroy ---- */

int32_t gd_graph_make(griddep_runtime *runtime, griddep_graph **graph, griddep_error *error)
{
    griddep_graph *made = calloc(1, sizeof *made);

    if (!made)
        return gd_error_memory(error);
    atomic_init(&made->references, 1u);
    made->runtime = gd_runtime_hold(runtime);
    *graph = made;
    return GRIDDEP_OK;
}

griddep_graph *gd_graph_hold(griddep_graph *graph)
{
    atomic_fetch_add_explicit(&graph->references, 1u, memory_order_relaxed);
    return graph;
}

static void free_node(gd_graph_node *node)
{
    if (node->kernel)
        gd_module_release(node->kernel->module);
    gd_call_release(node->call);
    free(node->name);
    free(node->launch_name);
    free(node->before.edges);
    free(node->after.edges);
}

void gd_graph_drop(griddep_graph *graph)
{
    const gd_driver *driver = graph->runtime->driver;
    gd_ending ending;

    if (!graph->exec && (!graph->handle || graph->adopted))
        return;
    gd_runtime_enter_to_end(graph->runtime, &ending,
                            NULL); /* failed or not, what is held is given back */
    if (graph->exec)
        driver->cuGraphExecDestroy(graph->exec);
    graph->exec = NULL;
    if (graph->handle && !graph->adopted) {
        driver->cuGraphDestroy(graph->handle);
        graph->handle = NULL;
        for (uint32_t i = 0; i < graph->node_count; i++)
            graph->nodes[i].handle = NULL;
    }
    gd_runtime_leave_ended(graph->runtime, &ending);
}

static void release(griddep_graph *graph)
{
    gd_graph_drop(graph);
    if (graph->proof)
        graph->proof_kind->end(graph->proof);
    if (graph->held_back)
        graph->held_back->kind->end(graph->held_back);
    if (graph->handle && !graph->borrowed)
        graph->runtime->driver->cuGraphDestroy(graph->handle);
    for (uint32_t i = 0; i < graph->node_count; i++)
        free_node(&graph->nodes[i]);
    for (uint32_t i = 0; i < graph->held_count; i++)
        gd_module_release(graph->held[i]);
    free(graph->held);
    free(graph->nodes);
    free(graph->edges);
    gd_runtime_release(graph->runtime);
    free(graph);
}

/* ---- names ---- */

const char *gd_graph_type_name(int32_t type)
{
    static const char *const names[] = {[GRIDDEP_GRAPH_NODE_KERNEL] = "kernel",
                                        [GRIDDEP_GRAPH_NODE_COPY] = "copy",
                                        [GRIDDEP_GRAPH_NODE_FILL] = "fill",
                                        [GRIDDEP_GRAPH_NODE_HOST] = "host function",
                                        [GRIDDEP_GRAPH_NODE_CHILD] = "graph",
                                        [GRIDDEP_GRAPH_NODE_EMPTY] = "empty node",
                                        [GRIDDEP_GRAPH_NODE_EVENT_WAIT] = "event wait",
                                        [GRIDDEP_GRAPH_NODE_EVENT_RECORD] = "event record",
                                        [8] = "semaphore signal",
                                        [9] = "semaphore wait",
                                        [10] = "allocation",
                                        [11] = "free",
                                        [12] = "batch of memory operations",
                                        [GRIDDEP_GRAPH_NODE_CONDITIONAL] = "conditional node"};

    return type >= 0 && type < (int32_t)(sizeof names / sizeof names[0]) ? names[type]
                                                                         : "node of unknown type";
}

static const char *kernel_name(const gd_graph_node *node)
{
    return node->name ? node->name : node->kernel ? node->kernel->name : NULL;
}

const char *gd_graph_label(const gd_graph_node *node)
{
    const char *name = node->launch_name ? node->launch_name : kernel_name(node);

    return name ? name : gd_graph_type_name(node->type);
}

void gd_graph_name(const griddep_graph *graph, uint32_t node, gd_text *text)
{
    const gd_graph_node *of = &graph->nodes[node];
    const char *name = kernel_name(of);

    gd_text_format(text, "node %" PRIu32 " (%s%s%s)", node, gd_graph_type_name(of->type),
                   name ? " " : "", name ? name : "");
}

const char *gd_graph_node_words(const griddep_graph *graph, uint32_t node, gd_text *text)
{
    gd_graph_name(graph, node, text);
    return text->failed ? "a node" : gd_text_get(text);
}

/* ---- nodes ---- */

gd_graph_node *gd_graph_append(griddep_graph *graph, int32_t type)
{
    if (graph->node_count == graph->node_capacity) {
        uint32_t capacity = graph->node_capacity ? graph->node_capacity * 2 : 16;
        gd_graph_node *more =
            capacity > graph->node_capacity ? realloc(graph->nodes, capacity * sizeof *more) : NULL;
        if (!more)
            return NULL;
        graph->nodes = more;
        graph->node_capacity = capacity;
    }
    gd_graph_node *node = &graph->nodes[graph->node_count++];
    *node = (gd_graph_node){.type = type, .pdl = GRIDDEP_PDL_AUTO};
    return node;
}

void gd_graph_drop_last(griddep_graph *graph)
{
    free_node(&graph->nodes[--graph->node_count]);
}

int32_t gd_graph_check(const griddep_graph *graph, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    return graph ? GRIDDEP_OK : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "graph is NULL");
}

int32_t gd_graph_check_node(const griddep_graph *graph, uint32_t node, griddep_error *error)
{
    if (node < graph->node_count)
        return GRIDDEP_OK;
    return gd_error_no_number(error, "the graph", "", graph->node_count, "node", "nodes", node);
}

int32_t gd_graph_check_edge(const griddep_graph *graph, uint32_t edge, griddep_error *error)
{
    if (edge < graph->edge_count)
        return GRIDDEP_OK;
    return gd_error_no_number(error, "the graph", "", graph->edge_count, "edge", "edges", edge);
}

int32_t gd_graph_add(griddep_graph *graph, int32_t type, const uint32_t *node,
                     gd_graph_node **added, griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);

    if (status)
        return status;
    if (!node)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "node is NULL");
    *added = gd_graph_append(graph, type);
    if (!*added)
        return gd_error_memory(error);
    gd_graph_drop(graph);
    return GRIDDEP_OK;
}

int32_t gd_graph_finish(griddep_graph *graph, uint32_t *node, griddep_error *error)
{
    int32_t status =
        graph->adopted ? gd_graph_insert(graph, graph->node_count - 1, error) : GRIDDEP_OK;

    if (status)
        gd_graph_drop_last(graph);
    else
        *node = graph->node_count - 1;
    return status;
}

int32_t gd_graph_add_call(griddep_graph *graph, gd_call *call, uint32_t *node, griddep_error *error)
{
    gd_graph_node *added;
    int32_t status = gd_graph_add(graph, GRIDDEP_GRAPH_NODE_KERNEL, node, &added, error);

    if (status)
        return status;
    added->call = gd_call_hold(call);
    added->kernel = call->kernel;
    gd_module_hold(call->kernel->module);
    added->traits = call->kernel->info.traits;
    return gd_graph_finish(graph, node, error);
}

/* Attributes 6, 7 and 12 are for launches and not for nodes. The first is refused in any
 * configuration. */
static int32_t check_attributes(const griddep_kernel *kernel, const griddep_launch_config *config,
                                griddep_error *error)
{
    for (uint32_t i = 0;
         config->attributes && i < config->attribute_count && i < GD_LAUNCH_ATTRIBUTES; i++) {
        int32_t id = config->attributes[i].id;
        if (id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
            id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "kernel %s: attribute %" PRId32
                                " is for launches; in a graph an edge from another port says it",
                                kernel->name, id);
    }
    return GRIDDEP_OK;
}

static int32_t check_range(uint64_t address, uint64_t bytes, griddep_error *error)
{
    if (address && bytes && bytes <= UINT64_MAX - address)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "%" PRIu64 " bytes at 0x%" PRIx64 " are no range of memory", bytes,
                        address);
}

/* A node that records an event. */
int32_t gd_graph_add_event(griddep_graph *graph, gd_CUevent event, uint32_t *node,
                           griddep_error *error)
{
    gd_graph_node *added;
    int32_t status = gd_graph_add(graph, GRIDDEP_GRAPH_NODE_EVENT_RECORD, node, &added, error);

    if (status)
        return status;
    added->event = event;
    return gd_graph_finish(graph, node, error);
}

/* ---- edges ---- */

static bool reserve(gd_node_list *list)
{
    if (list->count < list->capacity)
        return true;
    uint32_t capacity = list->capacity ? list->capacity * 2 : 2;
    uint32_t *more =
        capacity > list->capacity ? realloc(list->edges, capacity * sizeof *more) : NULL;
    if (!more)
        return false;
    list->edges = more;
    list->capacity = capacity;
    return true;
}

int32_t gd_graph_append_edge(griddep_graph *graph, const gd_graph_edge *edge, griddep_error *error)
{
    gd_node_list *after = &graph->nodes[edge->from].after, *before = &graph->nodes[edge->to].before;

    if (graph->edge_count == graph->edge_capacity) {
        uint32_t capacity = graph->edge_capacity ? graph->edge_capacity * 2 : 16;
        gd_graph_edge *more =
            capacity > graph->edge_capacity ? realloc(graph->edges, capacity * sizeof *more) : NULL;
        if (!more)
            return gd_error_memory(error);
        graph->edges = more;
        graph->edge_capacity = capacity;
    }
    if (!reserve(after) || !reserve(before))
        return gd_error_memory(error);
    after->edges[after->count++] = before->edges[before->count++] = graph->edge_count;
    graph->edges[graph->edge_count++] = *edge;
    return GRIDDEP_OK;
}

/* Takes an edge out of a node's list, and counts those behind it down. */
static void forget_edge(gd_node_list *list, uint32_t index)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t edge = list->edges[i];
        if (edge != index)
            list->edges[kept++] = edge > index ? edge - 1 : edge;
    }
    list->count = kept;
}

void gd_graph_drop_edge(griddep_graph *graph, uint32_t index)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        forget_edge(&graph->nodes[i].before, index);
        forget_edge(&graph->nodes[i].after, index);
    }
    graph->edge_count--;
    memmove(graph->edges + index, graph->edges + index + 1,
            (graph->edge_count - index) * sizeof *graph->edges);
}

/* A search along the edges with a list of the nodes that are still to be looked at. */
int32_t gd_graph_leads(const griddep_graph *graph, uint32_t from, uint32_t to, bool *leads,
                       griddep_error *error)
{
    uint32_t open_count = 0;

    if (from == to || !graph->nodes[from].after.count || !graph->nodes[to].before.count) {
        *leads = from == to;
        return GRIDDEP_OK;
    }
    bool *seen = calloc(graph->node_count, sizeof *seen);
    uint32_t *open = calloc(graph->node_count, sizeof *open);
    int32_t status = seen && open ? GRIDDEP_OK : gd_error_memory(error);
    if (!status) {
        seen[from] = true;
        open[open_count++] = from;
    }
    while (open_count && !seen[to]) {
        const gd_node_list *after = &graph->nodes[open[--open_count]].after;
        for (uint32_t i = 0; i < after->count; i++) {
            uint32_t next = graph->edges[after->edges[i]].to;
            if (!seen[next])
                open[open_count++] = next;
            seen[next] = true;
        }
    }
    if (!status)
        *leads = seen[to];
    free(seen);
    free(open);
    return status;
}

static bool is_kernel(const griddep_graph *graph, uint32_t node)
{
    return graph->nodes[node].type == GRIDDEP_GRAPH_NODE_KERNEL;
}

/* "edge from node 0 (kernel a) to node 1 (fill): <why>" */
static int32_t refuse_edge(const griddep_graph *graph, uint32_t from, uint32_t to, const char *why,
                           griddep_error *error)
{
    gd_text first = {0}, second = {0};
    int32_t status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "edge from %s to %s: %s",
                                  gd_graph_node_words(graph, from, &first),
                                  gd_graph_node_words(graph, to, &second), why);

    gd_text_free(&first);
    gd_text_free(&second);
    return status;
}

/* Why ports and types do not go together, or NULL. */
static const char *fault_of(const griddep_graph *graph, uint32_t from, uint32_t to, int32_t port,
                            int32_t type)
{
    if (port && !is_kernel(graph, from))
        return "only a kernel has another port than its end";
    if (type == GRIDDEP_EDGE_AUTO)
        return port ? "an edge of type AUTO has the port DEFAULT; it chooses its own" : NULL;
    if (type == GRIDDEP_EDGE_DEFAULT)
        return port == GRIDDEP_PORT_PROGRAMMATIC
                   ? "the port PROGRAMMATIC needs the type PROGRAMMATIC"
                   : NULL;
    if (!is_kernel(graph, from))
        return "a programmatic edge begins at a kernel";
    if (!is_kernel(graph, to))
        return "a programmatic edge ends at a kernel";
    return port ? NULL : "the type PROGRAMMATIC needs the port PROGRAMMATIC or LAUNCH_ORDER";
}

static bool has_edge(const griddep_graph *graph, uint32_t from, uint32_t to)
{
    const gd_node_list *after = &graph->nodes[from].after, *before = &graph->nodes[to].before;
    const gd_node_list *shorter = after->count < before->count ? after : before;

    for (uint32_t i = 0; i < shorter->count; i++) {
        const gd_graph_edge *edge = &graph->edges[shorter->edges[i]];
        if (edge->from == from && edge->to == to)
            return true;
    }
    return false;
}

static int32_t check_edge(const griddep_graph *graph, uint32_t from, uint32_t to, int32_t port,
                          int32_t type, griddep_error *error)
{
    bool cycle = false;
    int32_t status = gd_graph_check_node(graph, from, error);

    if (!status)
        status = gd_graph_check_node(graph, to, error);
    if (status)
        return status;
    if (port < GRIDDEP_PORT_DEFAULT || port > GRIDDEP_PORT_LAUNCH_ORDER)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "from_port is %" PRId32 ", which is no GRIDDEP_PORT_*", port);
    if (type < GRIDDEP_EDGE_DEFAULT || type > GRIDDEP_EDGE_AUTO)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "type is %" PRId32 ", which is no GRIDDEP_EDGE_*", type);
    const char *why = fault_of(graph, from, to, port, type);
    if (!why && has_edge(graph, from, to))
        why = "there is one already between these nodes";
    if (why)
        return refuse_edge(graph, from, to, why, error);
    status = gd_graph_leads(graph, to, from, &cycle, error);
    if (!status && cycle)
        return refuse_edge(graph, from, to,
                           from == to ? "it would close a cycle: a node cannot wait for itself"
                                      : "it would close a cycle: a path leads back already",
                           error);
    return status;
}

/* ---- public ---- */

int32_t griddep_graph_create(griddep_runtime *runtime, griddep_graph **graph, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !graph)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            runtime ? "graph" : "runtime");
    return gd_graph_make(runtime, graph, error);
}

static void end_later(griddep_runtime *runtime, void *graph)
{
    (void)runtime;
    griddep_graph_destroy(graph);
}

void griddep_graph_destroy(griddep_graph *graph)
{
    if (graph && gd_host_put_off(graph->runtime, end_later, graph, NULL))
        return;
    if (graph && atomic_fetch_sub_explicit(&graph->references, 1u, memory_order_acq_rel) == 1)
        release(graph);
}

int32_t griddep_graph_add_kernel(griddep_graph *graph, griddep_kernel *kernel,
                                 const griddep_launch_config *config,
                                 const griddep_argument *arguments, uint32_t argument_count,
                                 uint32_t *node, griddep_error *error)
{
    gd_call *call = NULL;
    int32_t status = gd_graph_check(graph, error);

    if (status)
        return status;
    if (!kernel || !config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            kernel ? "config" : "kernel");
    if (kernel->runtime != graph->runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s belongs to another runtime than the graph", kernel->name);
    status =
        gd_call_create(kernel, config, arguments, argument_count, &gd_graph_owner, &call, error);
    if (!status)
        status = check_attributes(kernel, config, error);
    if (!status)
        status = gd_graph_add_call(graph, call, node, error);
    gd_call_release(call);
    return status;
}

int32_t griddep_graph_add_fill(griddep_graph *graph, uint64_t address, uint8_t value,
                               uint64_t bytes, uint32_t *node, griddep_error *error)
{
    gd_graph_node *added;
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = check_range(address, bytes, error);
    if (!status)
        status = gd_graph_add(graph, GRIDDEP_GRAPH_NODE_FILL, node, &added, error);
    if (status)
        return status;
    added->target = address;
    added->bytes = bytes;
    added->value = value;
    return gd_graph_finish(graph, node, error);
}

int32_t griddep_graph_add_copy(griddep_graph *graph, uint64_t target, uint64_t source,
                               uint64_t bytes, uint32_t *node, griddep_error *error)
{
    gd_graph_node *added;
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = check_range(target, bytes, error);
    if (!status)
        status = check_range(source, bytes, error);
    if (!status)
        status = gd_graph_add(graph, GRIDDEP_GRAPH_NODE_COPY, node, &added, error);
    if (status)
        return status;
    added->target = target;
    added->source = source;
    added->bytes = bytes;
    return gd_graph_finish(graph, node, error);
}

int32_t griddep_graph_add_host(griddep_graph *graph, griddep_host_function function, void *user,
                               uint32_t *node, griddep_error *error)
{
    gd_graph_node *added;
    int32_t status = gd_graph_check(graph, error);

    if (!status && !function)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "function is NULL");
    if (!status)
        status = gd_graph_add(graph, GRIDDEP_GRAPH_NODE_HOST, node, &added, error);
    if (status)
        return status;
    added->function = function;
    added->user = user;
    return gd_graph_finish(graph, node, error);
}

int32_t griddep_graph_add_edge(griddep_graph *graph, uint32_t from, uint32_t to, int32_t from_port,
                               int32_t type, griddep_error *error)
{
    gd_graph_edge edge = {.from = from, .to = to, .port = from_port, .type = type, .reason = -1};
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = check_edge(graph, from, to, from_port, type, error);
    if (!status && graph->adopted)
        return gd_graph_insert_edge(graph, &edge, error);
    if (!status)
        status = gd_graph_append_edge(graph, &edge, error);
    if (!status)
        gd_graph_drop(graph);
    return status;
}

int32_t griddep_graph_remove_edge(griddep_graph *graph, uint32_t edge, griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_graph_check_edge(graph, edge, error);
    if (!status && graph->adopted)
        status = gd_graph_withdraw_edge(graph, edge, error);
    else if (!status)
        gd_graph_drop(graph);
    if (!status)
        gd_graph_drop_edge(graph, edge);
    return status;
}

uint32_t griddep_graph_node_count(const griddep_graph *graph)
{
    return graph ? graph->node_count : 0;
}

uint32_t griddep_graph_edge_count(const griddep_graph *graph)
{
    return graph ? graph->edge_count : 0;
}
