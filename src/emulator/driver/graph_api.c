/* The entry points cuGraph*. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/driver/copy.h"
#include "emulator/driver/graph.h"
#include "emulator/driver/module.h"
#include "emulator/driver/green.h"
#include "emulator/driver/stream.h"

static gd_graph *find_graph(gd_CUgraph handle)
{
    return gd_object_find(handle, GD_OBJECT_GRAPH);
}

/* A graph that a stream is being captured into may not lose nodes under it. */
static bool is_being_captured(const gd_graph *graph)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        const gd_stream *stream = (const gd_stream *)object;
        if (object->kind == GD_OBJECT_STREAM && stream->capture && stream->capture->graph == graph)
            return true;
    }
    return false;
}

gd_CUresult gd_cuGraphCreate(gd_CUgraph *handle, unsigned int flags)
{
    if (!handle || flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_graph *graph = gd_graph_create();
    if (!graph)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *handle = graph->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphDestroy(gd_CUgraph handle)
{
    gd_graph *graph = find_graph(handle);

    if (!graph)
        return handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    if (graph->child || is_being_captured(graph))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_graph_destroy(graph);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphClone(gd_CUgraph *clone, gd_CUgraph handle)
{
    gd_graph *graph = find_graph(handle);

    if (!clone || !graph)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (gd_graph_is_conditional(graph))
        return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED,
                                "a graph with conditional nodes cannot be cloned");
    gd_graph *made = gd_graph_clone(graph);
    if (!made)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *clone = made->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphNodeFindInClone(gd_CUgraphNode *found, gd_CUgraphNode original,
                                      gd_CUgraph handle)
{
    const gd_graph *graph = find_graph(handle);

    if (!found || !original || !graph)
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i]->origin == original) {
            *found = graph->nodes[i]->object.handle;
            return GD_CUDA_SUCCESS;
        }
    }
    return GD_CUDA_ERROR_INVALID_VALUE;
}

/* ---- nodes and edges ---- */

static gd_node *find_node(gd_CUgraphNode handle)
{
    return gd_object_find(handle, GD_OBJECT_NODE);
}

static bool has_edge(const gd_graph *graph, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        if (graph->edges[i].from == from && graph->edges[i].to == to)
            return true;
    }
    return false;
}

/* One edge, checked: both nodes of this graph, not there yet, of an allowed kind. */
static gd_CUresult add_edge(gd_graph *graph, gd_CUgraphNode from_handle, gd_CUgraphNode to_handle,
                            const gd_CUgraphEdgeData *data)
{
    const gd_CUgraphEdgeData ordinary = {0};
    const gd_node *from = find_node(from_handle), *to = find_node(to_handle);

    if (!from || !to || from->graph != graph || to->graph != graph || from == to ||
        has_edge(graph, from->index, to->index) ||
        !gd_graph_allows(from, to, data ? data : &ordinary))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return gd_graph_add_edge(graph, from->index, to->index, data ? data : &ordinary)
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

gd_CUresult gd_cuGraphAddDependencies_v2(gd_CUgraph handle, const gd_CUgraphNode *from,
                                         const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                                         size_t count)
{
    gd_graph *graph = find_graph(handle);
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (!graph || (count && (!from || !to)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    uint32_t before = graph->edge_count;
    for (size_t i = 0; i < count && result == GD_CUDA_SUCCESS; i++)
        result = add_edge(graph, from[i], to[i], data ? &data[i] : NULL);
    if (result != GD_CUDA_SUCCESS)
        graph->edge_count = before;
    return result;
}

/* Without data, the edge goes whatever it has; NVIDIA's driver does so. */
static gd_CUresult remove_edge(gd_graph *graph, gd_CUgraphNode from_handle,
                               gd_CUgraphNode to_handle, const gd_CUgraphEdgeData *data)
{
    const gd_node *from = find_node(from_handle), *to = find_node(to_handle);

    for (uint32_t i = 0; from && to && i < graph->edge_count; i++) {
        const gd_graph_edge *edge = &graph->edges[i];
        if (graph->nodes[edge->from] != from || graph->nodes[edge->to] != to ||
            (data && memcmp(&edge->data, data, sizeof edge->data)))
            continue;
        graph->edge_count--;
        memmove(graph->edges + i, graph->edges + i + 1,
                (graph->edge_count - i) * sizeof *graph->edges);
        return GD_CUDA_SUCCESS;
    }
    return GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult gd_cuGraphRemoveDependencies_v2(gd_CUgraph handle, const gd_CUgraphNode *from,
                                            const gd_CUgraphNode *to,
                                            const gd_CUgraphEdgeData *data, size_t count)
{
    gd_graph *graph = find_graph(handle);
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (!graph || (count && (!from || !to)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == GD_CUDA_SUCCESS; i++)
        result = remove_edge(graph, from[i], to[i], data ? &data[i] : NULL);
    return result;
}

/* Adds a node of work, which is taken over, behind others. */
static gd_CUresult add_node(gd_CUgraphNode *handle, gd_CUgraph graph_handle,
                            const gd_CUgraphNode *before, const gd_CUgraphEdgeData *data,
                            size_t count, gd_work *work)
{
    gd_graph *graph = find_graph(graph_handle);

    if (!handle || !graph || (count && !before)) {
        gd_work_free(work);
        return GD_CUDA_ERROR_INVALID_VALUE;
    }
    gd_node *node = gd_graph_add_node(graph, work);
    if (!node)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = GD_CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == GD_CUDA_SUCCESS; i++)
        result = add_edge(graph, before[i], node->object.handle, data ? &data[i] : NULL);
    if (result != GD_CUDA_SUCCESS) {
        gd_graph_remove_node(node);
        return result;
    }
    *handle = node->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphDestroyNode(gd_CUgraphNode handle)
{
    gd_node *node = find_node(handle);

    if (!node)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (is_being_captured(node->graph))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_graph_remove_node(node);
    return GD_CUDA_SUCCESS;
}

/* ---- work of nodes ---- */

static gd_CUresult make_kernel(const gd_CUDA_KERNEL_NODE_PARAMS *params, gd_work *work)
{
    gd_context *context = gd_call_context();

    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!params)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_CUlaunchConfig config = {.gridDimX = params->gridDimX,
                                      .gridDimY = params->gridDimY,
                                      .gridDimZ = params->gridDimZ,
                                      .blockDimX = params->blockDimX,
                                      .blockDimY = params->blockDimY,
                                      .blockDimZ = params->blockDimZ,
                                      .sharedMemBytes = params->sharedMemBytes};
    return gd_launch_prepare(context, gd_green_part(), &config,
                             params->func ? params->func : params->kern, params->kernelParams,
                             params->extra, work);
}

static gd_CUresult make_kernel_v1(const gd_CUDA_KERNEL_NODE_PARAMS_v1 *params, gd_work *work)
{
    gd_CUDA_KERNEL_NODE_PARAMS more = {0};

    if (params)
        memcpy(&more, params, sizeof *params);
    return make_kernel(params ? &more : NULL, work);
}

static gd_CUresult make_fill(const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params, gd_work *work)
{
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!params ||
        (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_fill_work fill = {.address = params->dst,
                         .pitch = params->pitch,
                         .width = params->width,
                         .height = params->height,
                         .value = params->value,
                         .element_bytes = params->elementSize};
    gd_CUresult result = gd_fill_check(&fill);
    if (result == GD_CUDA_SUCCESS)
        *work = (gd_work){.kind = GD_WORK_FILL, .is.fill = fill};
    return result;
}

/* The first version of the struct begins the second. */
static gd_CUresult make_fill_v2(const gd_CUDA_MEMSET_NODE_PARAMS *params, gd_work *work)
{
    gd_CUDA_MEMSET_NODE_PARAMS_v1 first;

    memcpy(&first, params, sizeof first);
    return make_fill(&first, work);
}

static gd_CUresult make_host(const gd_CUDA_HOST_NODE_PARAMS *params, gd_work *work)
{
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!params || !params->fn)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *work = (gd_work){.kind = GD_WORK_HOST,
                      .is.host = {.function = params->fn, .user = params->userData}};
    return GD_CUDA_SUCCESS;
}

static gd_CUresult make_child(gd_CUgraph handle, gd_work *work)
{
    const gd_graph *graph = find_graph(handle);

    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!graph)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (gd_graph_is_conditional(graph))
        return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED,
                                "a graph with conditional nodes cannot be a child graph");
    gd_graph *clone = gd_graph_clone(graph);
    if (!clone)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *work = (gd_work){.kind = GD_WORK_GRAPH, .is.graph = clone};
    return GD_CUDA_SUCCESS;
}

static gd_CUresult make_event(gd_CUevent event, gd_work_kind kind, gd_work *work)
{
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!gd_object_find(event, GD_OBJECT_EVENT))
        return GD_CUDA_ERROR_INVALID_VALUE;
    *work = (gd_work){.kind = kind, .is.event = event};
    return GD_CUDA_SUCCESS;
}

/* Work of the general form of node parameters, for a new node of a graph, or for one that is there
 * (NULL). */
static gd_CUresult make_work(gd_graph *graph, const gd_CUgraphNodeParams *params, gd_work *work)
{
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!params || params->reserved0[0] || params->reserved0[1] || params->reserved0[2] ||
        params->reserved2)
        return GD_CUDA_ERROR_INVALID_VALUE;
    switch (params->type) {
    case GD_CU_GRAPH_NODE_TYPE_KERNEL:
        return make_kernel(&params->is.kernel, work);
    case GD_CU_GRAPH_NODE_TYPE_MEMCPY:
        return gd_copy_make(&params->is.memcpy.copyParams, work);
    case GD_CU_GRAPH_NODE_TYPE_MEMSET:
        return make_fill_v2(&params->is.memset, work);
    case GD_CU_GRAPH_NODE_TYPE_HOST:
        return make_host(&params->is.host, work);
    case GD_CU_GRAPH_NODE_TYPE_GRAPH:
        return make_child(params->is.graph, work);
    case GD_CU_GRAPH_NODE_TYPE_EMPTY:
        return GD_CUDA_SUCCESS;
    case GD_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return make_event(params->is.event, GD_WORK_EVENT_WAIT, work);
    case GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return make_event(params->is.event, GD_WORK_EVENT_RECORD, work);
    case GD_CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return graph ? gd_conditional_make(graph, &params->is.conditional, work)
                     : GD_CUDA_ERROR_INVALID_VALUE;
    default:
        return params->type < 0 || params->type > GD_CU_GRAPH_NODE_TYPE_CONDITIONAL
                   ? GD_CUDA_ERROR_INVALID_VALUE
                   : gd_device_unsupported("a node of this type in cuGraphAddNode");
    }
}

/* Adds a node if its work could be made. */
static gd_CUresult add_made(gd_CUresult made, gd_CUgraphNode *handle, gd_CUgraph graph,
                            const gd_CUgraphNode *before, const gd_CUgraphEdgeData *data,
                            size_t count, gd_work *work)
{
    return made == GD_CUDA_SUCCESS ? add_node(handle, graph, before, data, count, work) : made;
}

/* Adds a node of any type. The program is told where the bodies of a conditional node are. */
gd_CUresult gd_cuGraphAddNode_v2(gd_CUgraphNode *handle, gd_CUgraph graph,
                                 const gd_CUgraphNode *before, const gd_CUgraphEdgeData *data,
                                 size_t count, gd_CUgraphNodeParams *params)
{
    gd_work work;
    gd_CUresult result = add_made(make_work(find_graph(graph), params, &work), handle, graph,
                                  before, data, count, &work);

    if (result == GD_CUDA_SUCCESS && params->type == GD_CU_GRAPH_NODE_TYPE_CONDITIONAL)
        params->is.conditional.phGraph_out = find_node(*handle)->work.is.conditional.handles;
    return result;
}

/* Replaces the work of a node, of the same kind, if the new one could be made. */
static gd_CUresult replace(gd_CUresult made, gd_work *target, gd_work *work)
{
    if (made == GD_CUDA_SUCCESS && (!target || target->kind != work->kind))
        made = GD_CUDA_ERROR_INVALID_VALUE;
    if (made != GD_CUDA_SUCCESS) {
        gd_work_free(work);
        return made;
    }
    if (work->kind == GD_WORK_KERNEL &&
        !work->is.kernel.attribute_count) { /* what node parameters do not tell stays */
        work->is.kernel.programmatic = target->is.kernel.programmatic;
        work->is.kernel.cooperative = target->is.kernel.cooperative;
        memcpy(work->is.kernel.cluster, target->is.kernel.cluster, sizeof work->is.kernel.cluster);
        work->is.kernel.explicit_cluster = target->is.kernel.explicit_cluster;
        work->is.kernel.priority = target->is.kernel.priority;
        gd_CUlaunchAttribute *none = work->is.kernel.attributes;
        work->is.kernel.attributes = target->is.kernel.attributes;
        work->is.kernel.attribute_count = target->is.kernel.attribute_count;
        target->is.kernel.attributes = none;
    }
    gd_work_free(target);
    *target = *work;
    return GD_CUDA_SUCCESS;
}

static gd_work *work_of_node(gd_CUgraphNode handle)
{
    gd_node *node = find_node(handle);

    return node ? &node->work : NULL;
}

static gd_work *work_in(gd_CUgraphExec executable_handle, gd_CUgraphNode node)
{
    gd_executable *executable = gd_object_find(executable_handle, GD_OBJECT_EXECUTABLE);
    gd_executable_node *found = executable ? gd_executable_find(executable, node) : NULL;

    return found ? &found->work : NULL;
}

/* ---- queries ---- */

static gd_CUresult list_nodes(gd_CUgraph handle, gd_CUgraphNode *nodes, size_t *count, bool roots)
{
    const gd_graph *graph = find_graph(handle);
    size_t found = 0;

    if (!graph || !count || (nodes && !*count))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        bool is_root = true;
        for (uint32_t j = 0; roots && j < graph->edge_count; j++)
            is_root &= graph->edges[j].to != i;
        if (!is_root)
            continue;
        if (nodes && found < *count)
            nodes[found] = graph->nodes[i]->object.handle;
        found++;
    }
    for (size_t i = found; nodes && i < *count; i++)
        nodes[i] = NULL;
    if (!nodes || *count > found)
        *count = found;
    return GD_CUDA_SUCCESS;
}

static bool is_ordinary(const gd_CUgraphEdgeData *data)
{
    return !data->type && !data->from_port && !data->to_port;
}

/* The edges of a graph, or those at one end of a node. Without room for their data, what makes an
 * edge programmatic would be lost. */
static gd_CUresult list_edges(const gd_graph *graph, const gd_node *source, const gd_node *target,
                              gd_CUgraphNode *from, gd_CUgraphNode *to, gd_CUgraphEdgeData *data,
                              size_t *count)
{
    size_t found = 0;
    bool filling = from || to;

    if (filling && !*count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const gd_graph_edge *edge = &graph->edges[i];
        if ((source && edge->from != source->index) || (target && edge->to != target->index))
            continue;
        if (filling && !data && !is_ordinary(&edge->data))
            return GD_CUDA_ERROR_LOSSY_QUERY;
        if (from && found < *count)
            from[found] = graph->nodes[edge->from]->object.handle;
        if (to && found < *count)
            to[found] = graph->nodes[edge->to]->object.handle;
        if (data && found < *count)
            data[found] = edge->data;
        found++;
    }
    for (size_t i = found; filling && i < *count; i++) {
        if (from)
            from[i] = NULL;
        if (to)
            to[i] = NULL;
        if (data)
            data[i] = (gd_CUgraphEdgeData){0};
    }
    if (!filling || *count > found)
        *count = found;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphGetEdges_v2(gd_CUgraph handle, gd_CUgraphNode *from, gd_CUgraphNode *to,
                                  gd_CUgraphEdgeData *data, size_t *count)
{
    const gd_graph *graph = find_graph(handle);

    if (!graph || !count || !from != !to || (!from && data))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return list_edges(graph, NULL, NULL, from, to, data, count);
}

static gd_CUresult get_neighbours(gd_CUgraphNode handle, gd_CUgraphNode *others,
                                  gd_CUgraphEdgeData *data, size_t *count, bool before)
{
    const gd_node *node = find_node(handle);

    if (!node || !count || (!others && data))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return before ? list_edges(node->graph, NULL, node, others, NULL, data, count)
                  : list_edges(node->graph, node, NULL, NULL, others, data, count);
}

gd_CUresult gd_cuGraphNodeGetType(gd_CUgraphNode handle, gd_CUgraphNodeType *type)
{
    const gd_node *node = find_node(handle);

    if (!type || !node)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *type = gd_work_node_type(node->work.kind);
    return GD_CUDA_SUCCESS;
}

/* Pointers to a kernel's arguments, made when they are asked for. */
static bool point_at_parameters(gd_kernel_work *kernel)
{
    uint32_t count = 0, offset, bytes;

    while (gd_entry_parameter(kernel->entry, count, &offset, &bytes))
        count++;
    if (kernel->pointers || !count)
        return true;
    kernel->pointers = calloc(count, sizeof *kernel->pointers);
    for (uint32_t i = 0; kernel->pointers && gd_entry_parameter(kernel->entry, i, &offset, &bytes);
         i++)
        kernel->pointers[i] = kernel->parameters + offset;
    return kernel->pointers != NULL;
}

static gd_CUresult get_kernel(gd_CUgraphNode handle, void *params, size_t bytes)
{
    gd_context *context = gd_call_context();
    gd_work *work = work_of_node(handle);
    gd_CUDA_KERNEL_NODE_PARAMS kernel = {0};

    if (!params || !work || work->kind != GD_WORK_KERNEL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = gd_launch_refresh(context, work);
    if (result != GD_CUDA_SUCCESS)
        return result;
    gd_kernel_work *is = &work->is.kernel;
    if (!point_at_parameters(is))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    kernel.func = is->handle;
    kernel.gridDimX = is->grid[0] / (is->counts_clusters ? is->cluster[0] : 1);
    kernel.gridDimY = is->grid[1] / (is->counts_clusters ? is->cluster[1] : 1);
    kernel.gridDimZ = is->grid[2] / (is->counts_clusters ? is->cluster[2] : 1);
    kernel.blockDimX = is->block[0];
    kernel.blockDimY = is->block[1];
    kernel.blockDimZ = is->block[2];
    kernel.sharedMemBytes = is->dynamic_shared_bytes;
    kernel.kernelParams = is->pointers;
    memcpy(params, &kernel, bytes);
    return GD_CUDA_SUCCESS;
}

/* As it was made of what was given: offsets are part of the addresses. */
gd_CUresult gd_cuGraphMemcpyNodeGetParams(gd_CUgraphNode handle, gd_CUDA_MEMCPY3D *params)
{
    const gd_work *work = work_of_node(handle);

    if (!params || !work || work->kind != GD_WORK_COPY)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_copy_work *copy = &work->is.copy;
    const gd_copy_side *source = &copy->source, *target = &copy->target;
    *params = (gd_CUDA_MEMCPY3D){
        .srcMemoryType = source->device ? GD_CU_MEMORYTYPE_DEVICE : GD_CU_MEMORYTYPE_HOST,
        .srcHost = source->device ? NULL : (const void *)(uintptr_t)source->address,
        .srcDevice = source->device ? source->address : 0,
        .srcPitch = source->pitch,
        .srcHeight = source->pitch ? source->slice / source->pitch : 0,
        .dstMemoryType = target->device ? GD_CU_MEMORYTYPE_DEVICE : GD_CU_MEMORYTYPE_HOST,
        .dstHost = target->device ? NULL : (void *)(uintptr_t)target->address,
        .dstDevice = target->device ? target->address : 0,
        .dstPitch = target->pitch,
        .dstHeight = target->pitch ? target->slice / target->pitch : 0,
        .WidthInBytes = copy->width,
        .Height = copy->height,
        .Depth = copy->depth};
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphMemsetNodeGetParams(gd_CUgraphNode handle,
                                          gd_CUDA_MEMSET_NODE_PARAMS_v1 *params)
{
    const gd_work *work = work_of_node(handle);

    if (!params || !work || work->kind != GD_WORK_FILL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_fill_work *fill = &work->is.fill;
    *params = (gd_CUDA_MEMSET_NODE_PARAMS_v1){.dst = fill->address,
                                              .pitch = fill->pitch,
                                              .value = fill->value,
                                              .elementSize = fill->element_bytes,
                                              .width = fill->width,
                                              .height = fill->height};
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphChildGraphNodeGetGraph(gd_CUgraphNode node, gd_CUgraph *graph)
{
    const gd_work *work = work_of_node(node);

    if (!graph || !work || work->kind != GD_WORK_GRAPH)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *graph = work->is.graph->object.handle;
    return GD_CUDA_SUCCESS;
}

/* ---- executables ---- */

static gd_CUresult instantiate(gd_CUgraphExec *handle, gd_CUgraph graph_handle, uint64_t flags,
                               gd_instantiate_refusal *refusal)
{
    gd_context *context = gd_call_context();
    const uint64_t known = GD_CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                           GD_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                           GD_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const gd_graph *graph = find_graph(graph_handle);
    gd_executable *executable;

    *refusal = (gd_instantiate_refusal){.result = GD_CUDA_GRAPH_INSTANTIATE_ERROR};
    if (!handle || (flags & ~(known | GD_CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!graph)
        return graph_handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    if (flags & GD_CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return gd_device_unsupported("launching graphs from the device");
    gd_CUresult result = gd_executable_create(graph, context, flags, &executable, refusal);
    if (result == GD_CUDA_SUCCESS)
        *handle = executable->object.handle;
    return result;
}

gd_CUresult gd_cuGraphInstantiateWithParams(gd_CUgraphExec *handle, gd_CUgraph graph,
                                            gd_CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    gd_instantiate_refusal refusal;

    if (!params)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = instantiate(handle, graph, params->flags, &refusal);
    params->hErrNode_out = result == GD_CUDA_SUCCESS ? NULL : refusal.node;
    params->result_out =
        result == GD_CUDA_SUCCESS ? GD_CUDA_GRAPH_INSTANTIATE_SUCCESS : refusal.result;
    return result;
}

static gd_CUresult launch(gd_CUgraphExec handle, gd_CUstream stream_handle, bool only_upload)
{
    gd_executable *executable = gd_object_find(handle, GD_OBJECT_EXECUTABLE);
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(stream_handle, &stream);

    if (!executable || result != GD_CUDA_SUCCESS)
        return handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    result = gd_capture_check_waiting(stream);
    return result != GD_CUDA_SUCCESS || only_upload ? result
                                                    : gd_executable_launch(executable, stream);
}

gd_CUresult gd_cuGraphExecDestroy(gd_CUgraphExec handle)
{
    gd_executable *executable = gd_object_find(handle, GD_OBJECT_EXECUTABLE);

    if (!executable)
        return handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    gd_executable_destroy(executable);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphExecUpdate(gd_CUgraphExec handle, gd_CUgraph graph_handle,
                                 gd_CUgraphNode *node, int32_t *outcome)
{
    gd_executable *executable = gd_object_find(handle, GD_OBJECT_EXECUTABLE);
    const gd_graph *graph = find_graph(graph_handle);
    void *other;

    if (!executable || !graph || !outcome)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = gd_executable_update(executable, graph, outcome, &other);
    if (node)
        *node = other;
    return result;
}

gd_CUresult gd_cuGraphExecUpdate_v2(gd_CUgraphExec handle, gd_CUgraph graph,
                                    gd_CUgraphExecUpdateResultInfo *information)
{
    if (!information)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *information = (gd_CUgraphExecUpdateResultInfo){0};
    return gd_cuGraphExecUpdate(handle, graph, &information->errorNode, &information->result);
}

gd_CUresult gd_cuGraphNodeSetEnabled(gd_CUgraphExec handle, gd_CUgraphNode node,
                                     unsigned int enabled)
{
    gd_executable *executable = gd_object_find(handle, GD_OBJECT_EXECUTABLE);
    gd_executable_node *found = executable ? gd_executable_find(executable, node) : NULL;

    if (!found || enabled > 1 ||
        (found->work.kind != GD_WORK_KERNEL && found->work.kind != GD_WORK_COPY &&
         found->work.kind != GD_WORK_FILL))
        return GD_CUDA_ERROR_INVALID_VALUE;
    found->enabled = enabled;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphNodeGetEnabled(gd_CUgraphExec handle, gd_CUgraphNode node,
                                     unsigned int *enabled)
{
    gd_executable *executable = gd_object_find(handle, GD_OBJECT_EXECUTABLE);
    const gd_executable_node *found = executable ? gd_executable_find(executable, node) : NULL;

    if (!found || !enabled || found->work.kind == GD_WORK_CONDITIONAL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *enabled = found->enabled;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphExecGetFlags(gd_CUgraphExec handle, uint64_t *flags)
{
    const gd_executable *executable = gd_object_find(handle, GD_OBJECT_EXECUTABLE);

    if (!executable || !flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *flags = executable->flags;
    return GD_CUDA_SUCCESS;
}

/* ---- entry points ---- */

gd_CUresult gd_cuGraphAddNode(gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before,
                              size_t count, gd_CUgraphNodeParams *params)
{
    return gd_cuGraphAddNode_v2(node, graph, before, NULL, count, params);
}

gd_CUresult gd_cuGraphAddKernelNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                    const gd_CUgraphNode *before, size_t count,
                                    const gd_CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    gd_work work;

    return add_made(make_kernel_v1(params, &work), node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddKernelNode_v2(gd_CUgraphNode *node, gd_CUgraph graph,
                                       const gd_CUgraphNode *before, size_t count,
                                       const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    gd_work work;

    return add_made(make_kernel(params, &work), node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddMemcpyNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                    const gd_CUgraphNode *before, size_t count,
                                    const gd_CUDA_MEMCPY3D *params, gd_CUcontext owner)
{
    gd_work work;

    (void)owner;
    return add_made(gd_copy_make(params, &work), node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddMemsetNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                    const gd_CUgraphNode *before, size_t count,
                                    const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params, gd_CUcontext owner)
{
    gd_work work;

    (void)owner;
    return add_made(make_fill(params, &work), node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddHostNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                  const gd_CUgraphNode *before, size_t count,
                                  const gd_CUDA_HOST_NODE_PARAMS *params)
{
    gd_work work;

    return add_made(make_host(params, &work), node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddChildGraphNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                        const gd_CUgraphNode *before, size_t count,
                                        gd_CUgraph child)
{
    gd_work work;

    return add_made(make_child(child, &work), node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddEmptyNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                   const gd_CUgraphNode *before, size_t count)
{
    gd_work work = {.kind = GD_WORK_EMPTY};

    return add_node(node, graph, before, NULL, count, &work);
}

gd_CUresult gd_cuGraphAddEventRecordNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                         const gd_CUgraphNode *before, size_t count,
                                         gd_CUevent event)
{
    gd_work work;

    return add_made(make_event(event, GD_WORK_EVENT_RECORD, &work), node, graph, before, NULL,
                    count, &work);
}

gd_CUresult gd_cuGraphAddEventWaitNode(gd_CUgraphNode *node, gd_CUgraph graph,
                                       const gd_CUgraphNode *before, size_t count, gd_CUevent event)
{
    gd_work work;

    return add_made(make_event(event, GD_WORK_EVENT_WAIT, &work), node, graph, before, NULL, count,
                    &work);
}

gd_CUresult gd_cuGraphAddDependencies(gd_CUgraph graph, const gd_CUgraphNode *from,
                                      const gd_CUgraphNode *to, size_t count)
{
    return gd_cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

gd_CUresult gd_cuGraphRemoveDependencies(gd_CUgraph graph, const gd_CUgraphNode *from,
                                         const gd_CUgraphNode *to, size_t count)
{
    return gd_cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

gd_CUresult gd_cuGraphGetNodes(gd_CUgraph graph, gd_CUgraphNode *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, false);
}

gd_CUresult gd_cuGraphGetRootNodes(gd_CUgraph graph, gd_CUgraphNode *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, true);
}

gd_CUresult gd_cuGraphGetEdges(gd_CUgraph graph, gd_CUgraphNode *from, gd_CUgraphNode *to,
                               size_t *count)
{
    return gd_cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

gd_CUresult gd_cuGraphNodeGetDependencies(gd_CUgraphNode node, gd_CUgraphNode *others,
                                          size_t *count)
{
    return get_neighbours(node, others, NULL, count, true);
}

gd_CUresult gd_cuGraphNodeGetDependencies_v2(gd_CUgraphNode node, gd_CUgraphNode *others,
                                             gd_CUgraphEdgeData *data, size_t *count)
{
    return get_neighbours(node, others, data, count, true);
}

gd_CUresult gd_cuGraphNodeGetDependentNodes(gd_CUgraphNode node, gd_CUgraphNode *others,
                                            size_t *count)
{
    return get_neighbours(node, others, NULL, count, false);
}

gd_CUresult gd_cuGraphNodeGetDependentNodes_v2(gd_CUgraphNode node, gd_CUgraphNode *others,
                                               gd_CUgraphEdgeData *data, size_t *count)
{
    return get_neighbours(node, others, data, count, false);
}

gd_CUresult gd_cuGraphKernelNodeGetParams(gd_CUgraphNode node,
                                          gd_CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return get_kernel(node, params, sizeof *params);
}

gd_CUresult gd_cuGraphKernelNodeGetParams_v2(gd_CUgraphNode node,
                                             gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    return get_kernel(node, params, sizeof *params);
}

gd_CUresult gd_cuGraphKernelNodeSetParams(gd_CUgraphNode node,
                                          const gd_CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    gd_work work;

    return replace(make_kernel_v1(params, &work), work_of_node(node), &work);
}

gd_CUresult gd_cuGraphKernelNodeSetParams_v2(gd_CUgraphNode node,
                                             const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    gd_work work;

    return replace(make_kernel(params, &work), work_of_node(node), &work);
}

gd_CUresult gd_cuGraphMemsetNodeSetParams(gd_CUgraphNode node,
                                          const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params)
{
    gd_work work;

    return replace(make_fill(params, &work), work_of_node(node), &work);
}

gd_CUresult gd_cuGraphMemcpyNodeSetParams(gd_CUgraphNode node, const gd_CUDA_MEMCPY3D *params)
{
    gd_work work;

    return replace(gd_copy_make(params, &work), work_of_node(node), &work);
}

gd_CUresult gd_cuGraphHostNodeSetParams(gd_CUgraphNode node, const gd_CUDA_HOST_NODE_PARAMS *params)
{
    gd_work work;

    return replace(make_host(params, &work), work_of_node(node), &work);
}

gd_CUresult gd_cuGraphInstantiateWithFlags(gd_CUgraphExec *executable, gd_CUgraph graph,
                                           unsigned long long flags)
{
    gd_instantiate_refusal refusal;

    return instantiate(executable, graph, flags, &refusal);
}

gd_CUresult gd_cuGraphInstantiate_v2(gd_CUgraphExec *executable, gd_CUgraph graph,
                                     gd_CUgraphNode *node, char *log, size_t bytes)
{
    gd_instantiate_refusal refusal;

    if (node)
        *node = NULL;
    if (log && bytes)
        *log = 0;
    return instantiate(executable, graph, 0, &refusal);
}

gd_CUresult gd_cuGraphLaunch(gd_CUgraphExec executable, gd_CUstream stream)
{
    return launch(executable, stream, false);
}

gd_CUresult gd_cuGraphUpload(gd_CUgraphExec executable, gd_CUstream stream)
{
    return launch(executable, stream, true);
}

gd_CUresult gd_cuGraphExecKernelNodeSetParams(gd_CUgraphExec executable, gd_CUgraphNode node,
                                              const gd_CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    gd_work work;

    return replace(make_kernel_v1(params, &work), work_in(executable, node), &work);
}

gd_CUresult gd_cuGraphExecKernelNodeSetParams_v2(gd_CUgraphExec executable, gd_CUgraphNode node,
                                                 const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    gd_work work;

    return replace(make_kernel(params, &work), work_in(executable, node), &work);
}

gd_CUresult gd_cuGraphExecMemcpyNodeSetParams(gd_CUgraphExec executable, gd_CUgraphNode node,
                                              const gd_CUDA_MEMCPY3D *params, gd_CUcontext owner)
{
    gd_work work;

    (void)owner;
    return replace(gd_copy_make(params, &work), work_in(executable, node), &work);
}

gd_CUresult gd_cuGraphExecMemsetNodeSetParams(gd_CUgraphExec executable, gd_CUgraphNode node,
                                              const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params,
                                              gd_CUcontext owner)
{
    gd_work work;

    (void)owner;
    return replace(make_fill(params, &work), work_in(executable, node), &work);
}

gd_CUresult gd_cuGraphExecHostNodeSetParams(gd_CUgraphExec executable, gd_CUgraphNode node,
                                            const gd_CUDA_HOST_NODE_PARAMS *params)
{
    gd_work work;

    return replace(make_host(params, &work), work_in(executable, node), &work);
}

gd_CUresult gd_cuGraphNodeSetParams(gd_CUgraphNode node, gd_CUgraphNodeParams *params)
{
    gd_work work;

    return replace(make_work(NULL, params, &work), work_of_node(node), &work);
}

gd_CUresult gd_cuGraphExecNodeSetParams(gd_CUgraphExec executable, gd_CUgraphNode node,
                                        gd_CUgraphNodeParams *params)
{
    gd_work work;

    return replace(make_work(NULL, params, &work), work_in(executable, node), &work);
}
