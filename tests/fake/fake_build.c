/* The fake driver's graphs that a program makes node by node, and what it changes of them and of
 * executables. */
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

gd_CUresult fake_do_graph_create(gd_CUgraph *graph, unsigned flags)
{
    if (!graph || flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *graph = fake_object_create(GRAPH, NULL)->handle;
    return GD_CUDA_SUCCESS;
}

/* A node of a body, by its handle; its index, or SIZE_MAX. */
static size_t find_node(const fake_body *b, const void *handle)
{
    for (size_t i = 0; i < b->node_count; i++) {
        if (b->nodes[i].handle == handle)
            return i;
    }
    return SIZE_MAX;
}

static fake_node *find_in_graphs(const void *handle)
{
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        size_t at = o->kind == GRAPH ? find_node(&o->is.graph, handle) : SIZE_MAX;
        if (at != SIZE_MAX)
            return &o->is.graph.nodes[at];
    }
    return NULL;
}

/* ---- edges ---- */

/* CUgraphEdgeData: ports of kernels alone, programmatic edges between kernels alone, and from a
 * port other than the end. */
static bool allows(const fake_node *from, const fake_node *to, const gd_CUgraphEdgeData *data)
{
    bool kernels =
        from->type == GD_CU_GRAPH_NODE_TYPE_KERNEL && to->type == GD_CU_GRAPH_NODE_TYPE_KERNEL;

    if (data->to_port || data->type > GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
        data->from_port > GD_CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
        return false;
    if (data->type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
        return kernels && data->from_port;
    return data->from_port != GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC &&
           (!data->from_port || from->type == GD_CU_GRAPH_NODE_TYPE_KERNEL);
}

static size_t find_edge(const fake_body *b, size_t from, size_t to)
{
    for (size_t i = 0; i < b->edge_count; i++) {
        if (b->edges[i].from == from && b->edges[i].to == to)
            return i;
    }
    return SIZE_MAX;
}

static gd_CUresult add_edge(fake_body *b, const void *from_handle, const void *to_handle,
                            gd_CUgraphEdgeData data)
{
    size_t from = find_node(b, from_handle), to = find_node(b, to_handle);

    if (from == SIZE_MAX || to == SIZE_MAX || from == to || find_edge(b, from, to) != SIZE_MAX ||
        !allows(&b->nodes[from], &b->nodes[to], &data))
        return GD_CUDA_ERROR_INVALID_VALUE;
    b->edges = fake_grow(b->edges, (b->edge_count + 1) * sizeof *b->edges);
    b->edges[b->edge_count++] = (fake_edge){.from = from, .to = to, .data = data};
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_add_edges(gd_CUgraph graph_handle, const gd_CUgraphNode *from,
                              const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                              size_t count)
{
    fake_object *graph = fake_object_find(GRAPH, graph_handle);

    if (!graph || (count && (!from || !to)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        gd_CUresult result =
            add_edge(&graph->is.graph, from[i], to[i], data ? data[i] : (gd_CUgraphEdgeData){0});
        if (result != GD_CUDA_SUCCESS)
            return result;
    }
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_remove_edges(gd_CUgraph graph_handle, const gd_CUgraphNode *from,
                                 const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                                 size_t count)
{
    const gd_CUgraphEdgeData ordinary = {0};
    fake_object *graph = fake_object_find(GRAPH, graph_handle);

    if (!graph || (count && (!from || !to)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_body *b = &graph->is.graph;
    for (size_t i = 0; i < count; i++) {
        size_t at = find_edge(b, find_node(b, from[i]), find_node(b, to[i]));
        if (at == SIZE_MAX ||
            memcmp(&b->edges[at].data, data ? &data[i] : &ordinary, sizeof ordinary))
            return GD_CUDA_ERROR_INVALID_VALUE;
        b->edge_count--;
        memmove(b->edges + at, b->edges + at + 1, (b->edge_count - at) * sizeof *b->edges);
    }
    return GD_CUDA_SUCCESS;
}

/* The variant without room for ports and types. */
gd_CUresult fake_do_dependencies(gd_CUgraphNode node, gd_CUgraphNode *before, size_t *count)
{
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        size_t at = o->kind == GRAPH ? find_node(&o->is.graph, node) : SIZE_MAX, found = 0;
        for (size_t i = 0; at != SIZE_MAX && i < o->is.graph.edge_count; i++) {
            const fake_edge *edge = &o->is.graph.edges[i];
            if (edge->to != at)
                continue;
            if (edge->data.type || edge->data.from_port)
                return GD_CUDA_ERROR_LOSSY_QUERY;
            if (before && found < *count)
                before[found] = o->is.graph.nodes[edge->from].handle;
            found++;
        }
        if (at != SIZE_MAX) {
            *count = found;
            return GD_CUDA_SUCCESS;
        }
    }
    return GD_CUDA_ERROR_INVALID_VALUE;
}

/* ---- nodes ---- */

/* Adds a node, which is taken over in any case. */
static gd_CUresult add_node(gd_CUgraphNode *node, gd_CUgraph graph_handle,
                            const gd_CUgraphNode *before, size_t count, fake_node *made)
{
    fake_object *graph = fake_object_find(GRAPH, graph_handle);
    gd_CUresult result =
        node && graph && (before || !count) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;

    for (size_t i = 0; i < count && result == GD_CUDA_SUCCESS; i++) {
        if (find_node(&graph->is.graph, before[i]) == SIZE_MAX)
            result = GD_CUDA_ERROR_INVALID_VALUE;
    }
    if (result != GD_CUDA_SUCCESS) {
        fake_node_free(made);
        return result;
    }
    fake_body *b = &graph->is.graph;
    made->handle = fake_handle_create();
    b->nodes = fake_grow(b->nodes, (b->node_count + 1) * sizeof *b->nodes);
    b->nodes[b->node_count++] = *made;
    for (size_t i = 0; i < count; i++)
        add_edge(b, before[i], made->handle, (gd_CUgraphEdgeData){0});
    *node = made->handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_destroy_node(gd_CUgraphNode handle)
{
    fake_object *o = fake_state.objects;

    while (o && (o->kind != GRAPH || find_node(&o->is.graph, handle) == SIZE_MAX))
        o = o->next;
    if (!o)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_body *b = &o->is.graph;
    size_t at = find_node(b, handle), kept = 0;
    for (size_t i = 0; i < b->edge_count; i++) {
        fake_edge edge = b->edges[i];
        if (edge.from == at || edge.to == at)
            continue;
        edge.from -= edge.from > at;
        edge.to -= edge.to > at;
        b->edges[kept++] = edge;
    }
    b->edge_count = kept;
    fake_node_free(&b->nodes[at]);
    b->node_count--;
    memmove(b->nodes + at, b->nodes + at + 1, (b->node_count - at) * sizeof *b->nodes);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult make_launch(const gd_CUDA_KERNEL_NODE_PARAMS *params, fake_launch *launch)
{
    if (!params)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_CUlaunchConfig config = {.gridDimX = params->gridDimX,
                                      .gridDimY = params->gridDimY,
                                      .gridDimZ = params->gridDimZ,
                                      .blockDimX = params->blockDimX,
                                      .blockDimY = params->blockDimY,
                                      .blockDimZ = params->blockDimZ,
                                      .sharedMemBytes = params->sharedMemBytes};
    return fake_launch_make(&config, params->func, params->kernelParams, params->extra, launch);
}

gd_CUresult fake_do_add_kernel(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                               size_t count, const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    fake_node made = {.type = GD_CU_GRAPH_NODE_TYPE_KERNEL};
    gd_CUresult result = make_launch(params, &made.launch);

    return result == GD_CUDA_SUCCESS ? add_node(node, graph, before, count, &made) : result;
}

gd_CUresult fake_do_add_copy(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                             size_t count, const gd_CUDA_MEMCPY3D *params)
{
    if (!params || params->srcMemoryType != GD_CU_MEMORYTYPE_UNIFIED ||
        params->dstMemoryType != GD_CU_MEMORYTYPE_UNIFIED || params->Height != 1 ||
        params->Depth != 1)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_node made = {.type = GD_CU_GRAPH_NODE_TYPE_MEMCPY,
                      .target = params->dstDevice,
                      .source = params->srcDevice,
                      .bytes = params->WidthInBytes};
    return add_node(node, graph, before, count, &made);
}

gd_CUresult fake_do_add_fill(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                             size_t count, const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params)
{
    if (!params || params->elementSize != 1 || params->height != 1 ||
        !fake_memory_has(params->dst, params->width))
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_node made = {.type = GD_CU_GRAPH_NODE_TYPE_MEMSET,
                      .target = params->dst,
                      .bytes = params->width,
                      .value = (unsigned char)params->value};
    return add_node(node, graph, before, count, &made);
}

gd_CUresult fake_do_add_host(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                             size_t count, const gd_CUDA_HOST_NODE_PARAMS *params)
{
    if (!params || !params->fn)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_node made = {
        .type = GD_CU_GRAPH_NODE_TYPE_HOST, .function = params->fn, .user = params->userData};
    return add_node(node, graph, before, count, &made);
}

gd_CUresult fake_do_add_child(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count, gd_CUgraph child_handle)
{
    fake_object *child = fake_object_find(GRAPH, child_handle);
    fake_node made = {.type = GD_CU_GRAPH_NODE_TYPE_GRAPH};

    if (!child)
        return GD_CUDA_ERROR_INVALID_VALUE;
    made.child = fake_allocate(sizeof *made.child);
    *made.child = fake_body_copy(&child->is.graph);
    return add_node(node, graph, before, count, &made);
}

gd_CUresult fake_do_add_empty(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count)
{
    fake_node made = {.type = GD_CU_GRAPH_NODE_TYPE_EMPTY};

    return add_node(node, graph, before, count, &made);
}

gd_CUresult fake_do_add_event(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count, gd_CUevent event, gd_CUgraphNodeType type)
{
    fake_node made = {.type = type, .event = event};

    return fake_object_find(EVENT, event) ? add_node(node, graph, before, count, &made)
                                          : GD_CUDA_ERROR_INVALID_VALUE;
}

/* ---- conditional nodes ---- */

static fake_object *find_outermost(gd_CUgraph handle)
{
    fake_object *graph = fake_object_find(GRAPH, handle);

    return graph && graph->is.graph.outermost ? fake_object_find(GRAPH, graph->is.graph.outermost)
                                              : graph;
}

gd_CUresult fake_do_conditional_handle(gd_CUgraphConditionalHandle *handle, gd_CUgraph graph_handle,
                                       gd_CUcontext context, unsigned initial, unsigned flags)
{
    fake_object *graph = find_outermost(graph_handle);

    if (!handle || !graph || (flags & ~(unsigned)GD_CU_GRAPH_COND_ASSIGN_DEFAULT))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!fake_object_find(CONTEXT, context))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    fake_body *b = &graph->is.graph;
    b->initial = fake_grow(b->initial, (b->handles + 1) * sizeof *b->initial);
    b->initial[b->handles++] = initial;
    *handle = b->handles;
    return GD_CUDA_SUCCESS;
}

/* Its bodies never run. */
gd_CUresult fake_do_add_any(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                            size_t count, gd_CUgraphNodeParams *params)
{
    const fake_object *outermost = find_outermost(graph);
    gd_CUDA_CONDITIONAL_NODE_PARAMS *asked = &params->is.conditional;

    if (!outermost || params->type != GD_CU_GRAPH_NODE_TYPE_CONDITIONAL || !asked->size ||
        asked->handle - 1 >= outermost->is.graph.handles)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_node made = {.type = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
                      .body_count = asked->size,
                      .conditional = asked->handle,
                      .bodies = fake_allocate(asked->size * sizeof(gd_CUgraph))};
    for (size_t i = 0; i < made.body_count; i++) {
        fake_object *body = fake_object_create(GRAPH, NULL);
        body->is.graph.outermost = outermost->handle;
        made.bodies[i] = body->handle;
    }
    gd_CUgraph *bodies = made.bodies;
    gd_CUresult result = add_node(node, graph, before, count, &made);
    if (result == GD_CUDA_SUCCESS)
        asked->phGraph_out = bodies;
    return result;
}

/* ---- kernels of nodes ---- */

gd_CUresult fake_do_kernel_params(gd_CUgraphNode handle, gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    const fake_node *node = find_in_graphs(handle);

    if (!params || !node || node->type != GD_CU_GRAPH_NODE_TYPE_KERNEL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_CUlaunchConfig *config = &node->launch.config;
    *params = (gd_CUDA_KERNEL_NODE_PARAMS){.func = node->launch.function,
                                           .gridDimX = config->gridDimX,
                                           .gridDimY = config->gridDimY,
                                           .gridDimZ = config->gridDimZ,
                                           .blockDimX = config->blockDimX,
                                           .blockDimY = config->blockDimY,
                                           .blockDimZ = config->blockDimZ,
                                           .sharedMemBytes = config->sharedMemBytes};
    return GD_CUDA_SUCCESS;
}

static fake_node *find_in_executable(gd_CUgraphExec handle, const void *node)
{
    fake_object *executable = fake_object_find(EXECUTABLE, handle);
    size_t at = executable ? find_node(&executable->is.graph, node) : SIZE_MAX;

    return at == SIZE_MAX ? NULL : &executable->is.graph.nodes[at];
}

gd_CUresult fake_do_set_kernel(gd_CUgraphExec executable, bool is_executable, gd_CUgraphNode handle,
                               const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    fake_node *node =
        is_executable ? find_in_executable(executable, handle) : find_in_graphs(handle);
    fake_launch launch;

    if (!node || node->type != GD_CU_GRAPH_NODE_TYPE_KERNEL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = make_launch(params, &launch);
    if (result != GD_CUDA_SUCCESS)
        return result;
    gd_CUlaunchAttribute *attributes = launch.config.attrs; /* a node keeps its attributes */
    launch.config.attrs = node->launch.config.attrs;
    launch.config.numAttrs = node->launch.config.numAttrs;
    node->launch.config.attrs = attributes;
    fake_launch_free(&node->launch);
    node->launch = launch;
    return GD_CUDA_SUCCESS;
}

/* Like an H200's driver: what nobody set is 0, but for the map of memory domains, and some
 * attributes cannot be read. */
gd_CUresult fake_do_get_node_attribute(gd_CUgraphNode handle, gd_CUlaunchAttributeID id,
                                       gd_CUlaunchAttributeValue *value)
{
    const fake_node *node = find_in_graphs(handle);
    const bool readable =
        (id >= 1 && id <= 5 && id != 3) || (id >= 8 && id <= 10) || id == 13 || id == 14;

    if (!node || node->type != GD_CU_GRAPH_NODE_TYPE_KERNEL || !value || !readable)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *value = (gd_CUlaunchAttributeValue){.pad = {0}};
    if (id == GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        value->memSyncDomainMap.remote = 1;
    for (unsigned i = 0; i < node->launch.config.numAttrs; i++) {
        if (node->launch.config.attrs[i].id == id)
            *value = node->launch.config.attrs[i].value;
    }
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_node_attribute(gd_CUgraphNode handle, gd_CUlaunchAttributeID id,
                                   const gd_CUlaunchAttributeValue *value)
{
    fake_node *node = find_in_graphs(handle);

    if (!node || node->type != GD_CU_GRAPH_NODE_TYPE_KERNEL || !value ||
        id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
        id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
        id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUlaunchConfig *config = &node->launch.config;
    config->attrs = fake_grow(config->attrs, (config->numAttrs + 1) * sizeof *config->attrs);
    config->attrs[config->numAttrs++] = (gd_CUlaunchAttribute){.id = id, .value = *value};
    return GD_CUDA_SUCCESS;
}

/* ---- executables ---- */

gd_CUresult fake_do_update(gd_CUgraphExec handle, gd_CUgraph graph_handle,
                           gd_CUgraphExecUpdateResultInfo *info)
{
    fake_object *executable = fake_object_find(EXECUTABLE, handle),
                *graph = fake_object_find(GRAPH, graph_handle);

    if (!executable || !graph || !info)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *info = (gd_CUgraphExecUpdateResultInfo){0};
    fake_body *old = &executable->is.graph;
    const fake_body *new = &graph->is.graph;
    info->result = GD_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (old->node_count != new->node_count || old->edge_count != new->edge_count ||
        (old->edge_count && memcmp(old->edges, new->edges, old->edge_count * sizeof *old->edges)))
        return GD_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    info->result = GD_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    for (size_t i = 0; i < old->node_count; i++) {
        info->errorNode = new->nodes[i].handle;
        if (old->nodes[i].type != new->nodes[i].type)
            return GD_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    *info = (gd_CUgraphExecUpdateResultInfo){0};
    fake_body copy = fake_body_copy(new);
    for (size_t i = 0; i < old->node_count; i++) { /* the handles that the program knows stay */
        copy.nodes[i].handle = old->nodes[i].handle;
        copy.nodes[i].disabled = old->nodes[i].disabled;
    }
    fake_body_free(old);
    *old = copy;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_enable(gd_CUgraphExec executable, gd_CUgraphNode handle, unsigned enabled)
{
    fake_node *node = find_in_executable(executable, handle);

    if (!node || enabled > 1 ||
        (node->type != GD_CU_GRAPH_NODE_TYPE_KERNEL && node->type != GD_CU_GRAPH_NODE_TYPE_MEMCPY &&
         node->type != GD_CU_GRAPH_NODE_TYPE_MEMSET))
        return GD_CUDA_ERROR_INVALID_VALUE;
    node->disabled = !enabled;
    return GD_CUDA_SUCCESS;
}
