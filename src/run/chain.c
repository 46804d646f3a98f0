/* A chain: launches in stream order, checked and packed when they are added, run in four modes.
 *
 * A launch is kept in the driver's own terms, so that running it is one driver call. The two graph modes capture the
 * same calls once into a graph each, by a stream of the chain's own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "run/launch.h"
#include "run/module.h"

enum { HOP_MINIMUM = sizeof(griddep_hop_info) };

typedef struct chain_launch {
    griddep_kernel *kernel; /* its module is held */
    gd_launch launch;
    unsigned char *packed; /* the arguments' bytes */
    void **pointers;       /* to each of them */
} chain_launch;

/* What a graph mode made ready. */
typedef struct chain_graph {
    gd_CUgraphExec exec; /* NULL: not made yet */
    int8_t *edges;       /* for each launch, as griddep_hop_info.edge */
} chain_graph;

struct griddep_chain {
    griddep_runtime *runtime;
    chain_launch **launches;
    uint32_t count, capacity;
    chain_graph graphs[GRIDDEP_MODE_COUNT]; /* only the graph modes' are used */
};

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

static int32_t decide(const griddep_chain *chain, int32_t mode, uint32_t index)
{
    const chain_launch *launch = chain->launches[index];
    int32_t reason = gd_launch_decide(launch->kernel, overlaps(mode) ? launch->launch.pdl : GRIDDEP_PDL_OFF);

    return index == 0 && reason == GRIDDEP_REASON_SET ? GRIDDEP_REASON_FIRST : reason;
}

/* ---- launches ---- */

static void destroy_launch(chain_launch *launch)
{
    if (!launch)
        return;
    if (launch->kernel)
        griddep_module_unload(launch->kernel->module);
    free(launch->launch.attributes);
    free(launch->packed);
    free(launch->pointers);
    free(launch);
}

static int32_t pack(chain_launch *made, const griddep_argument *arguments, griddep_error *error)
{
    const griddep_kernel *kernel = made->kernel;

    made->packed = calloc(1, (size_t)kernel->info.parameter_bytes + 1);
    made->pointers = calloc((size_t)kernel->info.parameter_count + 1, sizeof *made->pointers);
    if (!made->packed || !made->pointers)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < kernel->info.parameter_count; i++) {
        made->pointers[i] = made->packed + kernel->parameters[i].offset;
        memcpy(made->pointers[i], gd_launch_argument_data(&arguments[i]), arguments[i].bytes);
    }
    return GRIDDEP_OK;
}

/* Checks the configuration; its attributes are kept in as much memory as they need. */
static int32_t configure(chain_launch *made, const griddep_launch_config *config, griddep_error *error)
{
    griddep_kernel *kernel = made->kernel;
    gd_launch_room room;
    gd_launch launch;
    bool pushed;
    int32_t status = gd_runtime_enter(kernel->runtime, &pushed, error);

    if (status)
        return status;
    status = gd_launch_make(kernel, config, &room, &launch, error);
    gd_runtime_leave(kernel->runtime, pushed);
    if (status)
        return status;
    if (launch.config.hStream)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s: a launch in a chain has no stream of its own; give it to griddep_chain_run",
                            kernel->name);
    gd_CUlaunchAttribute *attributes = calloc((size_t)launch.attribute_count + 1, sizeof *attributes);
    if (!attributes)
        return gd_error_memory(error);
    memcpy(attributes + 1, room.attributes + 1, launch.attribute_count * sizeof *attributes);
    made->launch = launch;
    made->launch.attributes = attributes;
    return GRIDDEP_OK;
}

static int32_t make_launch(griddep_kernel *kernel, const griddep_launch_config *config,
                           const griddep_argument *arguments, uint32_t argument_count, chain_launch **launch,
                           griddep_error *error)
{
    int32_t status = gd_launch_check_arguments(kernel, arguments, argument_count, error);

    if (status)
        return status;
    chain_launch *made = calloc(1, sizeof *made);
    if (!made)
        return gd_error_memory(error);
    made->kernel = kernel;
    gd_module_hold(kernel->module);
    status = configure(made, config, error);
    if (!status)
        status = pack(made, arguments, error);
    if (status)
        destroy_launch(made);
    else
        *launch = made;
    return status;
}

static int32_t append(griddep_chain *chain, chain_launch *launch, griddep_error *error)
{
    if (chain->count == chain->capacity) {
        uint32_t capacity = chain->capacity ? chain->capacity * 2 : 16;
        chain_launch **more = capacity > chain->capacity ? realloc(chain->launches, capacity * sizeof *more) : NULL;
        if (!more)
            return gd_error_memory(error);
        chain->launches = more;
        chain->capacity = capacity;
    }
    chain->launches[chain->count++] = launch;
    return GRIDDEP_OK;
}

/* Launches all in a stream; the context is current. */
static int32_t launch_all(griddep_chain *chain, int32_t mode, gd_CUstream stream, griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;

    for (uint32_t i = 0; i < chain->count; i++) {
        chain_launch *item = chain->launches[i];
        gd_launch_allow_overlap(&item->launch, decide(chain, mode, i) <= GRIDDEP_REASON_FORCED);
        item->launch.config.hStream = stream;
        gd_CUresult result =
            driver->cuLaunchKernelEx(&item->launch.config, item->kernel->function, item->pointers, NULL);
        if (result != GD_CUDA_SUCCESS) {
            int32_t status = gd_launch_fail(item->kernel, &item->launch, result, error);
            gd_error_append(error, " (launch %" PRIu32 " of the chain)", i);
            return status;
        }
    }
    return GRIDDEP_OK;
}

/* ---- graphs ---- */

static void drop_graph(const griddep_chain *chain, chain_graph *graph)
{
    if (graph->exec)
        chain->runtime->driver->cuGraphExecDestroy(graph->exec);
    free(graph->edges);
    *graph = (chain_graph){0};
}

static void drop_graphs(griddep_chain *chain)
{
    bool pushed;

    gd_runtime_enter(chain->runtime, &pushed, NULL); /* failed or not, what is held is given back */
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        drop_graph(chain, &chain->graphs[mode]);
    gd_runtime_leave(chain->runtime, pushed);
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

/* Follows the edges from the root, which is the node that none leads to, and notes what kind each is. */
static bool follow_edges(const edge_list *list, int8_t *edges, uint32_t launches)
{
    gd_table by_source = {0}, targets = {0};
    bool whole = true;
    size_t root = SIZE_MAX;

    for (size_t i = 0; i < list->count && whole; i++)
        whole = gd_table_set(&by_source, (const char *)&list->from[i], sizeof list->from[i], &list->from[i]) &&
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

static int32_t read_edges(const griddep_chain *chain, gd_CUgraph graph, int8_t *edges, griddep_error *error)
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
            status = gd_driver_fail(driver, result, error, "the edges of the chain's graph cannot be read");
        else if (!follow_edges(&list, edges, chain->count))
            status = gd_error_memory(error);
    }
    free(list.from);
    free(list.to);
    free(list.data);
    return status;
}

/* Makes a graph mode ready; the context is current. */
static int32_t make_graph(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;
    chain_graph made = {0};
    gd_CUgraph graph = NULL;
    int32_t status = capture(chain, mode, &graph, error);

    if (status)
        return status;
    made.edges = malloc((size_t)chain->count + 1);
    status = made.edges ? read_edges(chain, graph, made.edges, error) : gd_error_memory(error);
    if (!status) {
        gd_CUresult result = driver->cuGraphInstantiateWithFlags(&made.exec, graph, 0);
        if (result != GD_CUDA_SUCCESS) {
            made.exec = NULL;
            status = gd_driver_fail(driver, result, error, "instantiating the chain's graph");
        }
    }
    driver->cuGraphDestroy(graph);
    if (status)
        drop_graph(chain, &made);
    else
        chain->graphs[mode] = made;
    return status;
}

static int32_t prepare(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    return is_graph(mode) && chain->count && !chain->graphs[mode].exec ? make_graph(chain, mode, error) : GRIDDEP_OK;
}

/* ---- public ---- */

static int32_t check_chain(const griddep_chain *chain, int32_t mode, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!chain)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "chain is NULL");
    if (mode < 0 || mode >= GRIDDEP_MODE_COUNT)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "mode is %" PRId32 ", which is no GRIDDEP_MODE_*", mode);
    return GRIDDEP_OK;
}

const char *griddep_mode_name(int32_t mode)
{
    return mode >= 0 && mode < GRIDDEP_MODE_COUNT ? mode_names[mode] : NULL;
}

int32_t griddep_mode_find(const char *name, int32_t *mode)
{
    if (!name || !mode)
        return GRIDDEP_ERROR_ARGUMENT;
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++) {
        if (!strcmp(mode_names[i], name)) {
            *mode = i;
            return GRIDDEP_OK;
        }
    }
    return GRIDDEP_ERROR_NOT_FOUND;
}

int32_t griddep_chain_create(griddep_runtime *runtime, griddep_chain **chain, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !chain)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", runtime ? "chain" : "runtime");
    griddep_chain *created = calloc(1, sizeof *created);
    if (!created)
        return gd_error_memory(error);
    created->runtime = gd_runtime_hold(runtime);
    *chain = created;
    return GRIDDEP_OK;
}

void griddep_chain_destroy(griddep_chain *chain)
{
    if (!chain)
        return;
    drop_graphs(chain);
    for (uint32_t i = 0; i < chain->count; i++)
        destroy_launch(chain->launches[i]);
    free(chain->launches);
    griddep_runtime_close(chain->runtime);
    free(chain);
}

int32_t griddep_chain_add(griddep_chain *chain, griddep_kernel *kernel, const griddep_launch_config *config,
                          const griddep_argument *arguments, uint32_t argument_count, griddep_error *error)
{
    chain_launch *launch = NULL;
    int32_t status = check_chain(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!kernel || !config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", kernel ? "config" : "kernel");
    if (kernel->runtime != chain->runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "kernel %s belongs to another runtime than the chain",
                            kernel->name);
    status = make_launch(kernel, config, arguments, argument_count, &launch, error);
    if (!status)
        status = append(chain, launch, error);
    if (status)
        destroy_launch(launch);
    else
        drop_graphs(chain);
    return status;
}

int32_t griddep_chain_prepare(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    bool pushed;
    int32_t status = check_chain(chain, mode, error);

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
    int32_t status = check_chain(chain, mode, error);

    if (!status)
        status = gd_runtime_enter(chain->runtime, &pushed, error);
    if (status)
        return status;
    status = prepare(chain, mode, error);
    if (!status && chain->count && is_graph(mode)) {
        gd_CUresult result = chain->runtime->driver->cuGraphLaunch(chain->graphs[mode].exec, stream);
        if (result != GD_CUDA_SUCCESS) {
            status = gd_driver_fail(chain->runtime->driver, result, error, "launching the chain's graph");
            status = gd_runtime_blame_stream(chain->runtime, stream, status, error);
        }
    } else if (!status) {
        status = launch_all(chain, mode, stream, error);
    }
    gd_runtime_leave(chain->runtime, pushed);
    return status;
}

uint32_t griddep_chain_length(const griddep_chain *chain)
{
    return chain ? chain->count : 0;
}

int32_t griddep_chain_get_hop(griddep_chain *chain, int32_t mode, uint32_t index, griddep_hop_info *info,
                              griddep_error *error)
{
    int32_t status = griddep_chain_prepare(chain, mode, error);

    if (status)
        return status;
    if (index >= chain->count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the chain has %" PRIu32 " launches; there is no number %" PRIu32, chain->count, index);
    const griddep_hop_info known = {.size = sizeof known,
                                    .reason = decide(chain, mode, index),
                                    .kernel = chain->launches[index]->kernel->name,
                                    .edge = is_graph(mode) ? chain->graphs[mode].edges[index] : -1};
    return gd_struct_write(info, &known, sizeof known, HOP_MINIMUM, "griddep_hop_info", error);
}
