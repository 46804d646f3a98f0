/* What changes in a graph without instantiating it again: kernels' arguments and configurations,
 * nodes switched off, and all nodes at once. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/graph/graph.h"
#include "run/module/module.h"

/* ---- one kernel ---- */

static int32_t refuse(const griddep_graph *graph, uint32_t node, int32_t status, const char *why,
                      griddep_error *error)
{
    gd_text words = {0};

    gd_error_set(error, status, "%s %s", gd_graph_node_words(graph, node, &words), why);
    gd_text_free(&words);
    return status;
}

/* Tells the driver; the context is current. An adopted graph is read again when it is instantiated,
 * so it is told first. */
static int32_t tell_driver(griddep_graph *graph, uint32_t index, const gd_call *call,
                           griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    gd_CUgraphNode node = graph->nodes[index].handle;
    gd_CUresult result =
        graph->adopted ? driver->cuGraphKernelNodeSetParams(node, &call->params) : GD_CUDA_SUCCESS;

    if (result == GD_CUDA_SUCCESS && graph->exec) {
        result = driver->cuGraphExecKernelNodeSetParams(graph->exec, node, &call->params);
        if (result != GD_CUDA_SUCCESS && graph->adopted)
            gd_graph_drop(graph); /* the node has what the executable has not */
    }
    return result == GD_CUDA_SUCCESS ? GRIDDEP_OK : gd_graph_fail_node(graph, index, result, error);
}

int32_t gd_graph_set_call(griddep_graph *graph, uint32_t index, gd_call *call, griddep_error *error)
{
    gd_graph_node *node = &graph->nodes[index];
    bool pushed;
    int32_t status = gd_runtime_enter(graph->runtime, &pushed, error);

    if (status)
        return status;
    if (graph->adopted || graph->exec)
        status = tell_driver(graph, index, call, error);
    gd_runtime_leave(graph->runtime, pushed);
    if (status || call == node->call)
        return status;
    gd_call_hold(call);
    gd_call_release(node->call);
    node->call = call;
    return GRIDDEP_OK;
}

static int32_t decide_again(griddep_graph *graph, griddep_error *error)
{
    int32_t status =
        graph->proof ? graph->proof_kind->look_again(graph->proof, graph, error) : GRIDDEP_OK;

    return status || !graph->held_back ? status : graph->held_back->kind->look_again(graph, error);
}

/* The same, and what was decided with the arguments in view is decided again. Where that fails the
 * node has its call of before, and the graph is instantiated anew. */
static int32_t change_call(griddep_graph *graph, uint32_t index, gd_call *call,
                           griddep_error *error)
{
    gd_graph_node *node = &graph->nodes[index];
    gd_call *old = node->call ? gd_call_hold(node->call) : NULL;
    int32_t status = gd_graph_set_call(graph, index, call, error);

    if (!status && (status = decide_again(graph, error))) {
        gd_call_release(node->call);
        node->call = old ? gd_call_hold(old) : NULL;
        gd_graph_drop(graph);
    }
    gd_call_release(old);
    return status;
}

/* The context is current. */
static gd_CUresult tell_move(const griddep_graph *graph, const gd_graph_node *node)
{
    const gd_driver *driver = graph->runtime->driver;
    gd_CUcontext context = graph->runtime->context;

    if (!graph->exec)
        return GD_CUDA_SUCCESS;
    if (node->type == GRIDDEP_GRAPH_NODE_COPY) {
        const gd_CUDA_MEMCPY3D params = gd_graph_copy_params(node);
        return driver->cuGraphExecMemcpyNodeSetParams(graph->exec, node->handle, &params, context);
    }
    const gd_CUDA_MEMSET_NODE_PARAMS_v1 params = gd_graph_fill_params(node);
    return driver->cuGraphExecMemsetNodeSetParams(graph->exec, node->handle, &params, context);
}

int32_t gd_graph_set_move(griddep_graph *graph, uint32_t index, const gd_graph_node *as,
                          griddep_error *error)
{
    gd_graph_node changed = graph->nodes[index];
    bool pushed;
    int32_t status = gd_runtime_enter(graph->runtime, &pushed, error);

    if (status)
        return status;
    changed.target = as->target;
    changed.source = as->source;
    changed.bytes = as->bytes;
    changed.value = as->value;
    gd_CUresult result = tell_move(graph, &changed);
    gd_runtime_leave(graph->runtime, pushed);
    if (result != GD_CUDA_SUCCESS)
        return gd_graph_fail_node(graph, index, result, error);
    graph->nodes[index] = changed;
    return GRIDDEP_OK;
}

static int32_t check_kernel(const griddep_graph *graph, uint32_t node, griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_graph_check_node(graph, node, error);
    if (status)
        return status;
    if (graph->nodes[node].type != GRIDDEP_GRAPH_NODE_KERNEL)
        return refuse(graph, node, GRIDDEP_ERROR_ARGUMENT, "is no kernel", error);
    if (!graph->nodes[node].kernel)
        return refuse(graph, node, GRIDDEP_ERROR_UNSUPPORTED, "is not of a module of this runtime",
                      error);
    return GRIDDEP_OK;
}

/* ---- an adopted node's attributes */

/* Of all, which a node may have; events are none. */
static const struct {
    int32_t id;
    bool node;
} known_attributes[] = {
#define GD_ATTRIBUTE(constant, driver, member, node, text) {GRIDDEP_ATTRIBUTE_##constant, node},
#include "run/launch/attributes.def"
};

enum { KNOWN_ATTRIBUTES = sizeof known_attributes / sizeof known_attributes[0] };

/* Some attributes of nodes the driver does not tell; they are zero here, as those are that nobody
 * set. It keeps both. */
static int32_t read_attribute(const griddep_graph *graph, uint32_t index, int32_t id,
                              griddep_attribute *attribute, griddep_error *error)
{
    gd_CUlaunchAttributeValue value = {.pad = {0}};
    gd_CUresult result = graph->runtime->driver->cuGraphKernelNodeGetAttribute(
        graph->nodes[index].handle, id, &value);

    *attribute = (griddep_attribute){.id = id};
    if (result == GD_CUDA_SUCCESS)
        memcpy(attribute->value, &value, sizeof attribute->value);
    return result == GD_CUDA_SUCCESS || result == GD_CUDA_ERROR_INVALID_VALUE ||
                   result == GD_CUDA_ERROR_NOT_SUPPORTED
               ? GRIDDEP_OK
               : gd_graph_fail_node(graph, index, result, error);
}

static bool is_default(const griddep_attribute *attribute)
{
    const gd_CUlaunchAttributeValue none = {.pad = {0}},
                                    domains = {.memSyncDomainMap = {.default_ = 0, .remote = 1}};
    const bool map = attribute->id == GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP;

    return !memcmp(attribute->value, &none, sizeof attribute->value) ||
           (map && !memcmp(attribute->value, &domains, sizeof domains.memSyncDomainMap));
}

/* A call of an adopted node, in the shape and with the attributes that it has. */
static int32_t make_call(const griddep_graph *graph, uint32_t index,
                         const griddep_argument *arguments, uint32_t argument_count, gd_call **call,
                         griddep_error *error)
{
    const gd_graph_node *node = &graph->nodes[index];
    const gd_CUDA_KERNEL_NODE_PARAMS *params = &node->params;
    griddep_attribute attributes[KNOWN_ATTRIBUTES];
    griddep_launch_config config = {
        .size = sizeof config,
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .shared_bytes = params->sharedMemBytes,
        .pdl = node->pdl,
        .attributes = attributes};

    for (size_t i = 0; i < KNOWN_ATTRIBUTES; i++) {
        if (!known_attributes[i].node)
            continue;
        griddep_attribute *attribute = &attributes[config.attribute_count];
        int32_t status = read_attribute(graph, index, known_attributes[i].id, attribute, error);
        if (status)
            return status;
        config.attribute_count += !is_default(attribute);
    }
    return gd_call_create(node->kernel, &config, arguments, argument_count, &gd_graph_owner, call,
                          error);
}

int32_t gd_graph_read_call(const griddep_graph *graph, uint32_t index, gd_call **call,
                           griddep_error *error)
{
    const gd_driver *driver = graph->runtime->driver;
    const gd_graph_node *node = &graph->nodes[index];
    const uint32_t count = node->kernel->info.parameter_count;
    gd_CUDA_KERNEL_NODE_PARAMS params = {.func = NULL};
    griddep_argument *arguments = calloc((size_t)count + 1, sizeof *arguments);
    bool pushed;
    int32_t status =
        arguments ? gd_runtime_enter(graph->runtime, &pushed, error) : gd_error_memory(error);

    *call = NULL;
    if (status) {
        free(arguments);
        return status;
    }
    const gd_CUresult result = driver->cuGraphKernelNodeGetParams(node->handle, &params);
    if (result != GD_CUDA_SUCCESS)
        status = gd_graph_fail_node(graph, index, result, error);
    if (!status && (params.kernelParams || !count)) {
        for (uint32_t i = 0; i < count; i++)
            arguments[i] = (griddep_argument){.data = params.kernelParams[i],
                                              .bytes = node->kernel->parameters[i].bytes};
        status = make_call(graph, index, arguments, count, call, error);
    }
    gd_runtime_leave(graph->runtime, pushed);
    free(arguments);
    /* What the library would have refused to launch is not known to it. */
    return *call || status == GRIDDEP_ERROR_MEMORY || status == GRIDDEP_ERROR_DRIVER ? status
                                                                                     : GRIDDEP_OK;
}

/* Whether a node has an attribute that a new configuration names. */
static int32_t compare_attribute(const griddep_graph *graph, uint32_t index,
                                 const griddep_attribute *given, bool *same, griddep_error *error)
{
    const gd_CUlaunchAttributeValue *kept =
        gd_launch_find_attribute(&graph->nodes[index].call->launch, given->id);
    griddep_attribute has = {.id = given->id};
    int32_t status = GRIDDEP_OK;

    if (kept)
        memcpy(has.value, kept, sizeof has.value);
    else
        status = read_attribute(graph, index, given->id, &has, error);
    *same = !status && (!memcmp(has.value, given->value, sizeof has.value) ||
                        given->id == GRIDDEP_ATTRIBUTE_IGNORE);
    return status;
}

/* The configuration of an adopted node: what it does not name stays, and what it names must be what
 * the node has. */
static int32_t complete(const griddep_graph *graph, uint32_t index, griddep_launch_config *config,
                        bool *same, griddep_error *error)
{
    const gd_launch *launch = &graph->nodes[index].call->launch;
    const uint32_t *cluster = config->cluster;
    griddep_attribute named = {0};
    int32_t status = GRIDDEP_OK;

    *same = config->pdl == GRIDDEP_PDL_DEFAULT || config->pdl == launch->pdl;
    if (cluster[0] || cluster[1] || cluster[2])
        status = griddep_attribute_set(
            &named, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
            (const int64_t[]){cluster[0], cluster[1] ? cluster[1] : 1, cluster[2] ? cluster[2] : 1},
            3, error);
    if (!status && *same && named.id)
        status = compare_attribute(graph, index, &named, same, error);
    for (uint32_t i = 0; i < config->attribute_count && *same && !status; i++)
        status = compare_attribute(graph, index, &config->attributes[i], same, error);
    config->pdl = launch->pdl;
    memset(config->cluster, 0, sizeof config->cluster);
    config->attributes = (const griddep_attribute *)(const void *)launch->attributes;
    config->attribute_count = launch->attribute_count;
    return status;
}

/* ---- public ---- */

int32_t griddep_graph_set_arguments(griddep_graph *graph, uint32_t node,
                                    const griddep_argument *arguments, uint32_t argument_count,
                                    griddep_error *error)
{
    gd_call *call = NULL;
    int32_t status = check_kernel(graph, node, error);

    if (status)
        return status;
    const gd_graph_node *of = &graph->nodes[node];
    status = of->call ? gd_call_with_arguments(of->call, arguments, argument_count, &call, error)
                      : make_call(graph, node, arguments, argument_count, &call, error);
    if (!status)
        status = change_call(graph, node, call, error);
    gd_call_release(call);
    return status;
}

int32_t griddep_graph_set_config(griddep_graph *graph, uint32_t node,
                                 const griddep_launch_config *config, griddep_error *error)
{
    griddep_launch_config changed;
    gd_call *call = NULL;
    bool same = true;
    int32_t status = check_kernel(graph, node, error);

    if (status)
        return status;
    const gd_call *old = graph->nodes[node].call;
    if (!config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "config is NULL");
    if (!old)
        return refuse(graph, node, GRIDDEP_ERROR_UNSUPPORTED,
                      "has arguments that are not known; griddep_graph_set_arguments tells them",
                      error);
    status = gd_struct_read(&changed, sizeof changed, sizeof changed, config,
                            "griddep_launch_config", error);
    if (!status && graph->adopted && (!changed.attribute_count || changed.attributes) &&
        changed.attribute_count <= GD_LAUNCH_ATTRIBUTES)
        status = complete(graph, node, &changed, &same, error);
    if (!status)
        status = gd_call_with_config(old, &changed, &gd_graph_owner, &call, error);
    if (!status && (graph->exec || graph->adopted))
        same = same && gd_call_same_attributes(old, call) && old->launch.pdl == call->launch.pdl;
    if (!status && !same)
        status =
            refuse(graph, node, GRIDDEP_ERROR_UNSUPPORTED,
                   "keeps its cluster, attributes and pdl once the graph is instantiated", error);
    if (!status)
        status = change_call(graph, node, call, error);
    gd_call_release(call);
    return status;
}
