/* A chain: launches, checked and packed when they are added, run in four modes.
 *
 * A launch is kept in the driver's own terms, so that running it is one driver call. The two graph
 * modes capture the same calls once into a graph each, by a stream of the chain's own; a chain with
 * several lanes is made into a graph edge by edge instead (chain_lane.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "ptx/handle/ptx.h"
#include "run/chain.h"
#include "run/early.h"
#include "run/event.h"
#include "run/graph.h"
#include "run/hold.h"
#include "run/hop.h"

enum { HOP_MINIMUM = sizeof(griddep_hop_info), GD_CHAIN_MOST_ARGUMENTS = 4096 };

static const gd_call_owner chain_owner = {"chain", "griddep_chain_run", false, true};

static const char *const mode_names[GRIDDEP_MODE_COUNT] = {
    [GRIDDEP_MODE_SERIAL] = "serial",
    [GRIDDEP_MODE_PDL] = "pdl",
    [GRIDDEP_MODE_GRAPH] = "graph",
    [GRIDDEP_MODE_GRAPH_PDL] = "graph-pdl",
};

static bool is_graph(int32_t mode)
{
    return mode == GRIDDEP_MODE_GRAPH || mode == GRIDDEP_MODE_GRAPH_PDL;
}

static bool overlaps(int32_t mode)
{
    return mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL;
}

/* ---- decisions ---- */

int32_t gd_chain_pdl(const griddep_chain *chain, int32_t mode, uint32_t index)
{
    return overlaps(mode) ? chain->launches[index].call->launch.pdl : GRIDDEP_PDL_OFF;
}

/* Attribute 6 of a lane's first launch would be about what stood before in the stream. An edge of a
 * graph is about the launch that it comes from. */
uint32_t gd_chain_previous(const gd_chain_launch *launch)
{
    uint32_t previous = launch->previous;

    for (uint32_t i = 0; i < launch->on_count && launch->previous == GD_CHAIN_NONE; i++) {
        if (previous == GD_CHAIN_NONE || launch->on[i] > previous)
            previous = launch->on[i];
    }
    return previous;
}

static uint32_t traits_of(const griddep_chain *chain, uint32_t index)
{
    return chain->launches[index].call->kernel->info.traits;
}

/* Why an event that a launch records is not one of its trigger. */
static int32_t decide_event(const griddep_chain *chain, uint32_t index)
{
    const gd_chain_launch *launch = &chain->launches[index];
    int32_t obstacle =
        gd_early_obstacle(chain->runtime, launch->call->launch.pdl, GD_EARLY_TRIGGER_EVENT);

    return obstacle == GRIDDEP_REASON_FORCED ? GRIDDEP_REASON_PLAIN : obstacle;
}

int32_t gd_chain_decide_after(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to)
{
    const bool in_lane = chain->launches[to].previous == from;
    const int32_t pdl = gd_chain_pdl(chain, mode, to);
    const int32_t obstacle = gd_early_obstacle(chain->runtime, pdl, GD_EARLY_LAUNCH);
    const int32_t pair = gd_early_pair(traits_of(chain, from), traits_of(chain, to));

    if (obstacle != GRIDDEP_REASON_FORCED)
        return obstacle;
    if (pair != GRIDDEP_REASON_SET && !(pdl == GRIDDEP_PDL_FORCE && in_lane))
        return pair;
    if (!in_lane && !is_graph(mode) && !chain->launches[from].early)
        return decide_event(chain, from);
    return pdl == GRIDDEP_PDL_FORCE ? GRIDDEP_REASON_FORCED : GRIDDEP_REASON_SET;
}

/* The first launch of a lane sets attribute 6 where it is forced; else it begins at an event of
 * another lane, or has nothing before it. */
static int32_t decide_first(const griddep_chain *chain, int32_t mode, uint32_t index)
{
    const int32_t pdl = gd_chain_pdl(chain, mode, index);
    const int32_t obstacle = gd_early_obstacle(chain->runtime, pdl, GD_EARLY_LAUNCH);
    const uint32_t previous = gd_chain_previous(&chain->launches[index]);
    int32_t reason = GRIDDEP_REASON_SET;

    if (obstacle != GRIDDEP_REASON_FORCED || pdl == GRIDDEP_PDL_FORCE)
        return obstacle;
    if (previous != GD_CHAIN_NONE)
        reason = gd_chain_decide_after(chain, mode, previous, index);
    return reason > GRIDDEP_REASON_FORCED ? reason : GRIDDEP_REASON_FIRST;
}

int32_t gd_chain_decide(const griddep_chain *chain, int32_t mode, uint32_t index)
{
    const gd_chain_launch *launch = &chain->launches[index];
    uint32_t previous = is_graph(mode) ? gd_chain_previous(launch) : launch->previous;

    return previous == GD_CHAIN_NONE ? decide_first(chain, mode, index)
                                     : gd_chain_decide_after(chain, mode, previous, index);
}

/* ---- launches ---- */

static void destroy_entry(gd_chain_entry *entry)
{
    if (!entry)
        return;
    griddep_ptx_destroy((griddep_ptx *)(uintptr_t)entry->ptx);
    free(entry->name);
    free(entry->addresses);
    free(entry);
}

static void destroy_launch(gd_chain_launch *launch)
{
    gd_call_release(launch->call);
    destroy_entry(launch->entry);
    for (uint32_t i = 0; i < launch->argument_count && launch->uses; i++)
        free((char *)(uintptr_t)launch->uses[i].element);
    free(launch->uses);
    free(launch->on);
}

static const char *name_of(const gd_chain_launch *launch)
{
    const char *name = launch->call ? launch->call->kernel->name : launch->entry->name;

    return name ? name : "the kernel";
}

static int32_t grow(griddep_chain *chain, uint32_t lane, griddep_error *error)
{
    if (chain->count == chain->capacity) {
        uint32_t capacity = chain->capacity ? chain->capacity * 2 : 16;
        gd_chain_launch *more =
            capacity > chain->capacity ? realloc(chain->launches, capacity * sizeof *more) : NULL;
        if (!more)
            return gd_error_memory(error);
        chain->launches = more;
        chain->capacity = capacity;
    }
    if (lane == chain->lane_count) {
        uint32_t *more = realloc(chain->last, ((size_t)lane + 1) * sizeof *more);
        if (!more)
            return gd_error_memory(error);
        chain->last = more;
        chain->last[chain->lane_count++] = GD_CHAIN_NONE;
    }
    return GRIDDEP_OK;
}

/* A launch has one such event, and one that says off records none. */
static bool may_record_trigger(const griddep_chain *chain, const gd_call *call)
{
    return gd_early_obstacle(chain->runtime, call->launch.pdl, GD_EARLY_TRIGGER_EVENT) ==
               GRIDDEP_REASON_FORCED &&
           !gd_launch_find_attribute(&call->launch, GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
}

/* What the item has is taken over on success. */
static int32_t append(griddep_chain *chain, const gd_chain_launch *item, griddep_error *error)
{
    if (item->lane > chain->lane_count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "lane %" PRIu32 " of a chain that has %" PRIu32
                            "; lanes are numbered without gaps",
                            item->lane, chain->lane_count);
    int32_t status = grow(chain, item->lane, error);
    if (status)
        return status;
    chain->launches[chain->count] = *item;
    chain->launches[chain->count].previous = chain->last[item->lane];
    chain->launches[chain->count].early = item->call && may_record_trigger(chain, item->call);
    chain->last[item->lane] = chain->count++;
    chain->lanes_ready = false;
    return GRIDDEP_OK;
}

int32_t gd_chain_append(griddep_chain *chain, gd_call *call, griddep_error *error)
{
    const gd_chain_launch item = {.call = call,
                                  .lane = call->launch.lane,
                                  .argument_count = call->kernel->info.parameter_count};

    return append(chain, &item, error);
}

int32_t gd_chain_launch_one(const griddep_chain *chain, int32_t mode, uint32_t index,
                            gd_CUstream stream, gd_CUevent event, griddep_error *error)
{
    const gd_call *call = chain->launches[index].call;
    gd_launch_given given;

    gd_launch_give(chain->runtime, &call->launch, gd_chain_pdl(chain, mode, index),
                   gd_chain_decide(chain, mode, index), stream, event, &given);
    int32_t status =
        gd_launch_submit(call->kernel, &call->launch, &given, call->pointers, NULL, error);
    if (status)
        gd_error_append(error, " (launch %" PRIu32 " of the chain)", index);
    return status;
}

/* Launches all in a stream; the context is current. */
static int32_t launch_all(griddep_chain *chain, int32_t mode, gd_CUstream stream,
                          griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (chain->lane_count > 1)
        return gd_chain_launch_lanes(chain, mode, stream, error);
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = gd_chain_launch_one(chain, mode, i, stream, NULL, error);
    return status;
}

/* ---- graphs ---- */

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

static void drop_graphs(griddep_chain *chain)
{
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        drop_graph(chain, &chain->graphs[mode]);
}

/* The chain's launches as a graph, by capturing a stream made for it. */
static int32_t capture(griddep_chain *chain, int32_t mode, gd_CUgraph *graph, griddep_error *error)
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
        status = launch_all(chain, mode, stream, error);
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

typedef struct edge_list {
    gd_CUgraphNode *from, *to;
    gd_CUgraphEdgeData *data;
    size_t count;
} edge_list;

/* Follows the edges from the root, which is the node that none leads to, and notes what kind each
 * is. */
static bool follow_edges(const edge_list *list, int8_t *edges, uint32_t launches)
{
    gd_table by_source = {0}, targets = {0};
    bool whole = true;
    size_t root = SIZE_MAX;

    for (size_t i = 0; i < list->count && whole; i++)
        whole =
            gd_table_set(&by_source, (const char *)&list->from[i], sizeof list->from[i],
                         &list->from[i]) &&
            gd_table_set(&targets, (const char *)&list->to[i], sizeof list->to[i], &list->to[i]);
    for (size_t i = 0; i < list->count && whole && root == SIZE_MAX; i++) {
        if (!gd_table_find(&targets, (const char *)&list->from[i], sizeof list->from[i]))
            root = i;
    }
    const gd_CUgraphNode *at = root == SIZE_MAX ? NULL : &list->from[root];
    for (uint32_t i = 1; i < launches && at && whole; i++) {
        size_t edge = (size_t)(at - list->from);
        edges[i] = list->data[edge].type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        at = gd_table_find(&by_source, (const char *)&list->to[edge], sizeof list->to[edge]);
    }
    gd_table_free(&by_source);
    gd_table_free(&targets);
    return whole;
}

static int32_t read_edges(const griddep_chain *chain, gd_CUgraph graph, int8_t *edges,
                          griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;
    edge_list list = {0};
    int32_t status = GRIDDEP_OK;

    memset(edges, -1, chain->count);
    if (!driver->cuGraphGetEdges)
        return GRIDDEP_OK;
    gd_CUresult result = driver->cuGraphGetEdges(graph, NULL, NULL, NULL, &list.count);
    list.from = calloc(list.count + 1, sizeof *list.from);
    list.to = calloc(list.count + 1, sizeof *list.to);
    list.data = calloc(list.count + 1, sizeof *list.data);
    if (!list.from || !list.to || !list.data) {
        status = gd_error_memory(error);
    } else {
        if (result == GD_CUDA_SUCCESS && list.count)
            result = driver->cuGraphGetEdges(graph, list.from, list.to, list.data, &list.count);
        if (result != GD_CUDA_SUCCESS)
            status = gd_driver_fail(driver, result, error,
                                    "the edges of the chain's graph cannot be read");
        else if (!follow_edges(&list, edges, chain->count))
            status = gd_error_memory(error);
    }
    free(list.from);
    free(list.to);
    free(list.data);
    return status;
}

/* Makes a graph mode ready. */
static int32_t capture_graph(griddep_chain *chain, int32_t mode, gd_chain_graph *made,
                             griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;
    gd_CUgraph graph = NULL;
    int32_t status = capture(chain, mode, &graph, error);

    if (status)
        return status;
    status = read_edges(chain, graph, made->edges, error);
    if (!status) {
        gd_CUresult result = driver->cuGraphInstantiateWithFlags(&made->exec, graph, 0);
        if (result != GD_CUDA_SUCCESS) {
            made->exec = NULL;
            status = gd_driver_fail(driver, result, error, "instantiating the chain's graph");
        }
    }
    driver->cuGraphDestroy(graph);
    return status;
}

/* The edges from the launches before, in the lanes. */
static void note_edges(const griddep_chain *chain, const griddep_graph *graph, int8_t *edges)
{
    gd_CUgraphEdgeData data;

    memset(edges, -1, chain->count);
    for (uint32_t i = 0; i < graph->edge_count && chain->runtime->driver->cuGraphGetEdges; i++) {
        const gd_graph_edge *edge = &graph->edges[i];
        if (edge->to >= chain->count || gd_chain_previous(&chain->launches[edge->to]) != edge->from)
            continue;
        gd_graph_resolve(graph, edge, &data);
        edges[edge->to] = data.type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
}

/* In a graph nothing would record them when it runs; nodes do. */
static bool records_events(const griddep_chain *chain)
{
    gd_early how;

    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_launch *launch = &chain->launches[i].call->launch;
        for (uint32_t k = 0; k < launch->attribute_count; k++) {
            if (gd_event_of(&launch->attributes[k], &how))
                return true;
        }
    }
    return false;
}

static int32_t build_graph(griddep_chain *chain, int32_t mode, gd_chain_graph *made,
                           griddep_error *error)
{
    int32_t status = gd_chain_make_graph(chain, mode, &made->graph, error);

    if (!status)
        status = griddep_graph_instantiate(made->graph, error);
    if (!status)
        note_edges(chain, made->graph, made->edges);
    return status;
}

/* The context is current. */
static int32_t make_graph(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    gd_chain_graph made = {.edges = malloc((size_t)chain->count + 1)};
    int32_t status = !made.edges ? gd_error_memory(error)
                     : chain->lane_count > 1 || records_events(chain)
                         ? build_graph(chain, mode, &made, error)
                         : capture_graph(chain, mode, &made, error);

    if (status)
        drop_graph(chain, &made);
    else
        chain->graphs[mode] = made;
    return status;
}

static int32_t prepare(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    if (!chain->count)
        return GRIDDEP_OK;
    if (is_graph(mode))
        return chain->graphs[mode].edges ? GRIDDEP_OK : make_graph(chain, mode, error);
    return chain->lane_count > 1 ? gd_chain_make_lanes(chain, NULL, error) : GRIDDEP_OK;
}

static int32_t launch_graph(griddep_chain *chain, int32_t mode, gd_CUstream stream,
                            griddep_error *error)
{
    const gd_chain_graph *graph = &chain->graphs[mode];
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
static int32_t launch_into(griddep_chain *chain, int32_t mode, gd_CUstream stream,
                           griddep_error *error)
{
    gd_capture_state capture;
    int32_t status = GRIDDEP_OK;

    gd_hold_find_capture(chain->runtime, stream, &capture);
    if (chain->lane_count > 1)
        status = gd_chain_make_lanes(chain, &capture, error);
    if (!status)
        status = launch_all(chain, mode, stream, error);
    for (uint32_t i = 0; i < chain->count; i++)
        gd_hold_for_capture(chain->launches[i].call->kernel->module, &capture);
    return status;
}

/* ---- for explain.c ---- */

int32_t gd_chain_read_hop(griddep_chain *chain, int32_t mode, uint32_t index, gd_hop *hop,
                          griddep_error *error)
{
    const gd_chain_launch *launch = &chain->launches[index];
    const uint32_t previous = gd_chain_previous(launch);
    gd_chain_graph *made = &chain->graphs[mode];

    if (chain->lane_count > 1 && !made->graph) {
        int32_t status = gd_chain_make_graph(chain, mode, &made->graph, error);
        if (status)
            return status;
    }

    *hop = (gd_hop){.kernel = launch->call->kernel,
                    .launch = &launch->call->launch,
                    .index = index,
                    .previous = previous,
                    .others = launch->on_count - (previous != launch->previous),
                    .graph = chain->lane_count > 1 ? made->graph : NULL,
                    .reason = previous == GD_CHAIN_NONE
                                  ? gd_chain_decide(chain, mode, index)
                                  : gd_chain_decide_after(chain, mode, previous, index),
                    .by_event = !is_graph(mode) && previous != launch->previous,
                    .edge = is_graph(mode) ? made->edges[index] : -1};
    return GRIDDEP_OK;
}

/* ---- public ---- */

static int32_t check_given(const griddep_chain *chain, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    return status || chain ? status : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "chain is NULL");
}

int32_t gd_chain_can_run(const griddep_chain *chain, int32_t mode, griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (!chain->runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the chain was made without a runtime: it can be checked, not run");
    if (mode < 0 || mode >= GRIDDEP_MODE_COUNT)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "mode is %" PRId32 ", which is no GRIDDEP_MODE_*", mode);
    return GRIDDEP_OK;
}

static int32_t no_launch(const griddep_chain *chain, uint32_t index, griddep_error *error)
{
    return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                        "the chain has %" PRIu32 " launches; there is no number %" PRIu32,
                        chain->count, index);
}

const char *griddep_mode_name(int32_t mode)
{
    return mode >= 0 && mode < GRIDDEP_MODE_COUNT ? mode_names[mode] : NULL;
}

int32_t griddep_mode_find(const char *name, int32_t *mode, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!name || !mode)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", name ? "mode" : "name");
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++) {
        if (!strcmp(mode_names[i], name)) {
            *mode = i;
            return GRIDDEP_OK;
        }
    }
    return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                        "there is no mode \"%s\"; there are serial, pdl, graph and graph-pdl",
                        name);
}

int32_t griddep_chain_create(griddep_runtime *runtime, griddep_chain **chain, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!chain)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "chain is NULL");
    griddep_chain *created = calloc(1, sizeof *created);
    if (!created)
        return gd_error_memory(error);
    created->runtime = runtime ? gd_runtime_hold(runtime) : NULL;
    *chain = created;
    return GRIDDEP_OK;
}

void griddep_chain_destroy(griddep_chain *chain)
{
    if (!chain)
        return;
    drop_graphs(chain);
    if (chain->runtime)
        gd_chain_end_lanes(chain->runtime, chain->lanes);
    for (uint32_t i = 0; i < chain->count; i++)
        destroy_launch(&chain->launches[i]);
    free(chain->launches);
    free(chain->last);
    if (chain->runtime)
        gd_runtime_release(chain->runtime);
    free(chain);
}

int32_t griddep_chain_add(griddep_chain *chain, griddep_kernel *kernel,
                          const griddep_launch_config *config, const griddep_argument *arguments,
                          uint32_t argument_count, griddep_error *error)
{
    gd_call *call = NULL;
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!kernel || !config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            kernel ? "config" : "kernel");
    if (kernel->runtime != chain->runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s belongs to another runtime than the chain", kernel->name);
    status = gd_call_create(kernel, config, arguments, argument_count, &chain_owner, &call, error);
    if (!status)
        status = gd_chain_append(chain, call, error);
    if (status)
        gd_call_release(call);
    else
        drop_graphs(chain);
    return status;
}

/* An argument of 8 bytes may be an address; how far it reaches, the head comment may tell. */
static int32_t read_address(const griddep_ptx *ptx, uint32_t entry,
                            const griddep_launch_config *config, const griddep_argument *arguments,
                            uint32_t count, uint32_t index, gd_chain_address *address)
{
    const griddep_argument *argument = &arguments[index];

    if (argument->bytes != sizeof address->at)
        return GRIDDEP_OK;
    memcpy(&address->at, gd_launch_argument_data(argument), sizeof address->at);
    int32_t status = ptx ? griddep_ptx_get_extent(ptx, entry, config, arguments, count, index,
                                                  &address->bytes, NULL)
                         : GRIDDEP_ERROR_NOT_FOUND;
    if (status)
        address->bytes = 0;
    return status == GRIDDEP_ERROR_MEMORY ? status : GRIDDEP_OK;
}

static int32_t read_entry(gd_chain_entry *made, const griddep_launch_config *config,
                          const griddep_argument *arguments, uint32_t count, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    uint32_t entry = 0;

    if (made->ptx && !gd_ptx_find_entry(made->ptx, made->name, &entry))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "%s has no entry \"%s\"",
                            made->ptx->module.name, made->name);
    if (!arguments)
        return GRIDDEP_OK;
    if (made->ptx)
        status = griddep_ptx_check_launch(made->ptx, entry, config, arguments, count, error);
    made->addresses = calloc((size_t)count + 1, sizeof *made->addresses);
    if (!status && !made->addresses)
        status = gd_error_memory(error);
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_address(made->ptx, entry, config, arguments, count, i, &made->addresses[i]);
    return status == GRIDDEP_ERROR_MEMORY ? gd_error_memory(error) : status;
}

int32_t griddep_chain_add_ptx(griddep_chain *chain, const griddep_ptx *ptx, const char *entry,
                              const griddep_launch_config *config,
                              const griddep_argument *arguments, uint32_t argument_count,
                              griddep_error *error)
{
    griddep_launch_config own = {.size = sizeof own};
    gd_chain_launch item = {.argument_count = argument_count};
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (chain->runtime || (ptx && !entry) || (arguments && !config))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            chain->runtime ? "the chain has a runtime; griddep_chain_add adds to it"
                            : ptx && !entry ? "entry is NULL"
                                            : "config is NULL");
    if (config)
        status = gd_launch_read_config(&own, config, error);
    if (!status && own.stream)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "a launch in a chain has no stream of its own");
    if (status)
        return status;
    if (argument_count > GD_CHAIN_MOST_ARGUMENTS)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%" PRIu32 " arguments; a launch has at most %d", argument_count,
                            GD_CHAIN_MOST_ARGUMENTS);
    item.lane = own.lane;
    item.entry = calloc(1, sizeof *item.entry);
    if (!item.entry)
        return gd_error_memory(error);
    *item.entry = (gd_chain_entry){
        .ptx = ptx ? gd_ptx_hold(ptx) : NULL, .name = entry ? strdup(entry) : NULL, .pdl = own.pdl};
    status = entry && !item.entry->name
                 ? gd_error_memory(error)
                 : read_entry(item.entry, &own, arguments, argument_count, error);
    if (!status)
        status = append(chain, &item, error);
    if (status)
        destroy_entry(item.entry);
    return status;
}

/* The event of a trigger is enough where all that wait for it execute griddepcontrol.wait on every
 * path. */
static bool may_follow_trigger(const gd_chain_launch *launch)
{
    const griddep_kernel *kernel = launch->call->kernel;

    return gd_launch_decide(kernel, launch->call->launch.pdl) <= GRIDDEP_REASON_FORCED &&
           gd_early_kernel(kernel->info.traits) == GRIDDEP_REASON_SET;
}

int32_t griddep_chain_depend(griddep_chain *chain, uint32_t index, uint32_t on,
                             griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (index >= chain->count || on >= chain->count)
        return no_launch(chain, index >= chain->count ? index : on, error);
    gd_chain_launch *launch = &chain->launches[index];
    if (on >= index)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "launch %" PRIu32 " (%s) cannot wait for launch %" PRIu32
                            " (%s), which is not before it",
                            index, name_of(launch), on, name_of(&chain->launches[on]));
    if (chain->launches[on].lane == launch->lane)
        return GRIDDEP_OK;
    for (uint32_t i = 0; i < launch->on_count; i++) {
        if (launch->on[i] == on)
            return GRIDDEP_OK;
    }
    uint32_t *more = realloc(launch->on, ((size_t)launch->on_count + 1) * sizeof *more);
    if (!more)
        return gd_error_memory(error);
    launch->on = more;
    launch->on[launch->on_count++] = on;
    chain->launches[on].watched = true;
    if (launch->call && !may_follow_trigger(launch))
        chain->launches[on].early = false;
    chain->lanes_ready = false;
    drop_graphs(chain);
    return GRIDDEP_OK;
}

/* The launch, where it has such an argument. Of code that is not known, a use tells that it does. */
static int32_t find_argument(const griddep_chain *chain, uint32_t index, uint32_t argument,
                             bool more, griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (index >= chain->count)
        return no_launch(chain, index, error);
    const gd_chain_launch *launch = &chain->launches[index];
    bool open =
        more && launch->entry && !launch->entry->addresses && argument < GD_CHAIN_MOST_ARGUMENTS;
    if (argument >= launch->argument_count && !open)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "launch %" PRIu32 " (%s) has %" PRIu32
                            " arguments; there is no number %" PRIu32,
                            index, name_of(launch), launch->argument_count, argument);
    return GRIDDEP_OK;
}

static int32_t make_room(gd_chain_launch *launch, uint32_t argument, griddep_error *error)
{
    uint32_t count = argument < launch->argument_count ? launch->argument_count : argument + 1;

    if (launch->uses && count == launch->argument_count)
        return GRIDDEP_OK;
    griddep_use *more = realloc(launch->uses, count * sizeof *more);
    if (!more)
        return gd_error_memory(error);
    uint32_t there = launch->uses ? launch->argument_count : 0;
    memset(more + there, 0, (count - there) * sizeof *more);
    launch->uses = more;
    launch->argument_count = count;
    return GRIDDEP_OK;
}

int32_t griddep_chain_set_use(griddep_chain *chain, uint32_t index, uint32_t argument,
                              const griddep_use *use, griddep_error *error)
{
    griddep_use own;
    char *element = NULL;
    int32_t status = find_argument(chain, index, argument, true, error);

    if (!status)
        status = use ? gd_struct_read(&own, sizeof own, sizeof own, use, "griddep_use", error)
                     : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "use is NULL");
    if (status)
        return status;
    if (own.access < GRIDDEP_ACCESS_UNKNOWN || own.access > GRIDDEP_ACCESS_CONSTANT || own.reserved)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "access is %" PRId32
                            ", which is no GRIDDEP_ACCESS_*, or reserved is not zero",
                            own.access);
    if (own.buffer > INT32_MAX)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "buffer is %" PRIu32 "; numbers end at %" PRId32, own.buffer,
                            INT32_MAX);
    gd_chain_launch *launch = &chain->launches[index];
    status = make_room(launch, argument, error);
    if (status)
        return status;
    if (own.element && !(element = strdup(own.element)))
        return gd_error_memory(error);
    free((char *)(uintptr_t)launch->uses[argument].element);
    own.element = element;
    launch->uses[argument] = own;
    return GRIDDEP_OK;
}

int32_t griddep_chain_get_use(const griddep_chain *chain, uint32_t index, uint32_t argument,
                              griddep_use *use, griddep_error *error)
{
    griddep_use *uses;
    int32_t status = find_argument(chain, index, argument, false, error);

    if (!status)
        status = gd_chain_read_uses(chain, &uses, error);
    if (status)
        return status;
    uint64_t at = argument;
    for (uint32_t i = 0; i < index; i++)
        at += chain->launches[i].argument_count;
    status = gd_struct_write(use, &uses[at], sizeof *use, sizeof *use, "griddep_use", error);
    free(uses);
    return status;
}

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

int32_t griddep_chain_run(griddep_chain *chain, int32_t mode, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_chain_can_run(chain, mode, error);

    if (!status)
        status = gd_runtime_enter(chain->runtime, &pushed, error);
    if (status)
        return status;
    status = prepare(chain, mode, error);
    if (!status && chain->count)
        status = is_graph(mode) ? launch_graph(chain, mode, stream, error)
                                : launch_into(chain, mode, stream, error);
    gd_runtime_leave(chain->runtime, pushed);
    return status;
}

uint32_t griddep_chain_length(const griddep_chain *chain)
{
    return chain ? chain->count : 0;
}

int32_t griddep_chain_get_hop(griddep_chain *chain, int32_t mode, uint32_t index,
                              griddep_hop_info *info, griddep_error *error)
{
    int32_t status = griddep_chain_prepare(chain, mode, error);

    if (status)
        return status;
    if (index >= chain->count)
        return no_launch(chain, index, error);
    const griddep_hop_info known = {.size = sizeof known,
                                    .reason = gd_chain_decide(chain, mode, index),
                                    .kernel = chain->launches[index].call->kernel->name,
                                    .edge = is_graph(mode) ? chain->graphs[mode].edges[index] : -1,
                                    .lane = chain->launches[index].lane};
    return gd_struct_write(info, &known, sizeof known, HOP_MINIMUM, "griddep_hop_info", error);
}
