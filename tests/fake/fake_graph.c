/* The fake driver's graphs: nodes and edges, their execution, and the records of launches that they
 * are made of. */
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

fake_launch fake_launch_copy(const fake_launch *launch)
{
    fake_launch copy = *launch;

    copy.kernel = fake_copy(launch->kernel, strlen(launch->kernel));
    copy.parameters =
        (const unsigned char *)fake_copy((const char *)launch->parameters, launch->parameter_bytes);
    copy.config.attrs = fake_allocate(launch->config.numAttrs * sizeof *copy.config.attrs);
    if (launch->config.numAttrs)
        memcpy(copy.config.attrs, launch->config.attrs,
               launch->config.numAttrs * sizeof *copy.config.attrs);
    return copy;
}

void fake_launch_free(fake_launch *launch)
{
    free((void *)(uintptr_t)launch->kernel);
    free((void *)(uintptr_t)launch->parameters);
    free(launch->config.attrs);
}

void fake_launches_add(fake_launch_list *list, const fake_launch *launch)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = fake_grow(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = fake_launch_copy(launch);
}

void fake_launches_free(fake_launch_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        fake_launch_free(&list->items[i]);
    free(list->items);
}

void fake_node_free(fake_node *n)
{
    if (n->type == GD_CU_GRAPH_NODE_TYPE_KERNEL)
        fake_launch_free(&n->launch);
    if (n->child)
        fake_body_free(n->child);
    free(n->child);
    for (size_t i = 0; i < n->body_count; i++) {
        fake_object *body = fake_object_find(GRAPH, n->bodies[i]);
        if (body)
            fake_object_end(body);
    }
    free(n->bodies);
}

static void release_user(fake_object *o, size_t count)
{
    if (fake_state.forgets)
        return; /* all objects are being freed */
    o->is.user.references -= count;
    if (o->is.user.references)
        return;
    gd_CUhostFn *destroy = o->is.user.destroy;
    void *user = o->is.user.user;
    fake_object_end(o);
    destroy(user);
}

void fake_body_free(fake_body *b)
{
    for (size_t i = 0; i < b->user_count; i++)
        release_user(b->users[i], 1);
    free(b->users);
    for (size_t i = 0; i < b->node_count; i++)
        fake_node_free(&b->nodes[i]);
    free(b->nodes);
    free(b->edges);
    free(b->initial);
    *b = (fake_body){0};
}

fake_body fake_body_copy(const fake_body *from)
{
    fake_body copy = *from;

    copy.initial = NULL;
    copy.handles = 0;
    copy.users = fake_allocate(from->user_count * sizeof *copy.users);
    for (size_t i = 0; i < from->user_count; i++) {
        copy.users[i] = from->users[i];
        copy.users[i]->is.user.references++;
    }
    copy.nodes = fake_allocate(from->node_count * sizeof *copy.nodes);
    copy.edges = fake_allocate(from->edge_count * sizeof *copy.edges);
    if (from->edge_count)
        memcpy(copy.edges, from->edges, from->edge_count * sizeof *copy.edges);
    for (size_t i = 0; i < from->node_count; i++) {
        copy.nodes[i] = from->nodes[i];
        copy.nodes[i].bodies = NULL;
        copy.nodes[i].body_count = 0;
        if (from->nodes[i].type == GD_CU_GRAPH_NODE_TYPE_KERNEL)
            copy.nodes[i].launch = fake_launch_copy(&from->nodes[i].launch);
        if (from->nodes[i].child) {
            copy.nodes[i].child = fake_allocate(sizeof *copy.nodes[i].child);
            *copy.nodes[i].child = fake_body_copy(from->nodes[i].child);
        }
    }
    return copy;
}

/* Capture is linear: a node depends on the one before. Attribute 6 between two kernels makes the
 * edge programmatic; with any other node before, it has no effect. */
void fake_body_add(fake_body *b, const fake_node *what)
{
    b->nodes = fake_grow(b->nodes, (b->node_count + 1) * sizeof *b->nodes);
    b->nodes[b->node_count] = *what;
    b->nodes[b->node_count].handle = fake_handle_create();
    if (b->node_count) {
        fake_edge e = {.from = b->node_count - 1, .to = b->node_count};
        if (what->type == GD_CU_GRAPH_NODE_TYPE_KERNEL && what->launch.programmatic &&
            b->nodes[e.from].type == GD_CU_GRAPH_NODE_TYPE_KERNEL) {
            e.data.type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
            e.data.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        }
        b->edges = fake_grow(b->edges, (b->edge_count + 1) * sizeof *b->edges);
        b->edges[b->edge_count++] = e;
    }
    b->node_count++;
}

static gd_CUresult execute_kernel(const fake_launch *launch, bool from_graph)
{
    fake_launch executed = *launch;
    fake_object *function = fake_object_find(FUNCTION, launch->function);
    gd_CUresult fault = GD_CUDA_SUCCESS;

    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    executed.from_graph = from_graph;
    executed.captured = 0;
    fake_launches_add(&fake_state.executions, &executed);
    void *context = function->context;
    for (size_t i = 0; i < fake_state.kernel_count; i++) {
        if (fake_state.kernels[i].function && !strcmp(fake_state.kernels[i].name, launch->kernel))
            fault = fake_state.kernels[i].function(fake_state.kernels[i].user, &executed);
    }
    fake_object *owner = fake_object_find(CONTEXT, context);
    if (owner && owner->is.context.fault == GD_CUDA_SUCCESS)
        owner->is.context.fault = fault;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult fake_body_execute(const fake_body *b);

/* The memory was checked when the node was made; a copy out of or into freed memory would be the
 * test's own fault. */
gd_CUresult fake_node_execute(const fake_node *n, bool from_graph)
{
    void *target = (void *)(uintptr_t)n->target;

    fake_state.clock += NANOSECONDS_PER_OPERATION;
    if (getenv("FAKE_DRIVER_SLOWER"))
        fake_state.clock += fake_state.clock / 100000;
    switch (n->type) {
    case GD_CU_GRAPH_NODE_TYPE_KERNEL:
        return execute_kernel(&n->launch, from_graph);
    case GD_CU_GRAPH_NODE_TYPE_MEMCPY:
        memcpy(target, (const void *)(uintptr_t)n->source, n->bytes);
        return GD_CUDA_SUCCESS;
    case GD_CU_GRAPH_NODE_TYPE_MEMSET:
        memset(target, n->value, n->bytes);
        return GD_CUDA_SUCCESS;
    case GD_CU_GRAPH_NODE_TYPE_HOST:
        n->function(n->user);
        return GD_CUDA_SUCCESS;
    case GD_CU_GRAPH_NODE_TYPE_GRAPH:
        return fake_body_execute(n->child);
    default:
        return GD_CUDA_SUCCESS;
    }
}

/* In the order in which the nodes were added. */
static gd_CUresult fake_body_execute(const fake_body *b)
{
    for (size_t i = 0; i < b->node_count; i++) {
        gd_CUresult result =
            b->nodes[i].disabled ? GD_CUDA_SUCCESS : fake_node_execute(&b->nodes[i], true);
        if (result != GD_CUDA_SUCCESS)
            return result;
    }
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_instantiate(gd_CUgraphExec *executable, gd_CUgraph handle,
                                unsigned long long flags)
{
    const unsigned long long known = GD_CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                     GD_CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                     GD_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    fake_object *graph = fake_object_find(GRAPH, handle);

    if (!executable || (flags & ~known))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!graph)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    fake_object *made = fake_object_create(EXECUTABLE, fake_context_handle());
    made->is.graph = fake_body_copy(&graph->is.graph);
    *executable = made->handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_graph_launch(gd_CUgraphExec handle, gd_CUstream stream_handle)
{
    fake_object *executable = fake_object_find(EXECUTABLE, handle);
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(stream_handle, &stream);

    if (!executable || result != GD_CUDA_SUCCESS)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    result = fake_capture_check_waiting(stream);
    return result == GD_CUDA_SUCCESS ? fake_body_execute(&executable->is.graph) : result;
}

gd_CUresult fake_do_graph_upload(gd_CUgraphExec handle, gd_CUstream stream_handle)
{
    fake_object *stream = NULL;

    if (!fake_object_find(EXECUTABLE, handle) ||
        fake_stream_find(stream_handle, &stream) != GD_CUDA_SUCCESS)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    return fake_capture_check_waiting(stream);
}

gd_CUresult fake_do_graph_nodes(gd_CUgraph handle, gd_CUgraphNode *nodes, size_t *count)
{
    fake_object *graph = fake_object_find(GRAPH, handle);

    if (!count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!graph)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    const fake_body *b = &graph->is.graph;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < b->node_count ? b->nodes[i].handle : NULL;
    if (!nodes || *count > b->node_count)
        *count = b->node_count;
    return GD_CUDA_SUCCESS;
}

/* Without room for the edges' data the query would lose what makes an edge programmatic. */
static bool loses_data(const fake_body *b, const gd_CUgraphEdgeData *data)
{
    for (size_t i = 0; !data && i < b->edge_count; i++) {
        if (b->edges[i].data.type || b->edges[i].data.from_port || b->edges[i].data.to_port)
            return true;
    }
    return false;
}

gd_CUresult fake_do_graph_edges(gd_CUgraph handle, gd_CUgraphNode *from, gd_CUgraphNode *to,
                                gd_CUgraphEdgeData *data, size_t *count)
{
    fake_object *graph = fake_object_find(GRAPH, handle);

    if (!count || !from != !to || (!from && data))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!graph)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    const fake_body *b = &graph->is.graph;
    if (from && loses_data(b, data))
        return GD_CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = 0; from && i < *count; i++) {
        bool is_edge = i < b->edge_count;
        from[i] = is_edge ? b->nodes[b->edges[i].from].handle : NULL;
        to[i] = is_edge ? b->nodes[b->edges[i].to].handle : NULL;
        if (data)
            data[i] = is_edge ? b->edges[i].data : (gd_CUgraphEdgeData){0};
    }
    if (!from || *count > b->edge_count)
        *count = b->edge_count;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_node_type(gd_CUgraphNode handle, gd_CUgraphNodeType *type)
{
    if (!type)
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        for (size_t i = 0; o->kind == GRAPH && i < o->is.graph.node_count; i++) {
            if (o->is.graph.nodes[i].handle == handle) {
                *type = o->is.graph.nodes[i].type;
                return GD_CUDA_SUCCESS;
            }
        }
    }
    return GD_CUDA_ERROR_INVALID_HANDLE;
}

/* ---- user objects ---- */

gd_CUresult fake_do_user_create(gd_CUuserObject *object, void *user, gd_CUhostFn *destroy,
                                unsigned count, unsigned flags)
{
    if (!object || !destroy || !count || flags != GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_object *made = fake_object_create(USER, NULL);
    made->is.user.destroy = destroy;
    made->is.user.user = user;
    made->is.user.references = count;
    *object = made->handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_user_release(gd_CUuserObject object, unsigned count)
{
    fake_object *o = fake_object_find(USER, object);

    if (!o || !count || count > o->is.user.references)
        return GD_CUDA_ERROR_INVALID_VALUE;
    release_user(o, count);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_user_own(gd_CUgraph graph, gd_CUuserObject object, unsigned count,
                             unsigned flags)
{
    fake_object *owner = fake_object_find(GRAPH, graph), *o = fake_object_find(USER, object);
    fake_body *b = owner ? &owner->is.graph : NULL;

    for (fake_object *stream = fake_state.objects; stream && !b; stream = stream->next) {
        if (fake_stream_captures(stream) && stream->is.stream.graph == graph)
            b = &stream->is.stream.body;
    }
    if (!b || !o || !count || flags > GD_CU_GRAPH_USER_OBJECT_MOVE)
        return GD_CUDA_ERROR_INVALID_VALUE;
    b->users = fake_grow(b->users, (b->user_count + count) * sizeof *b->users);
    for (unsigned i = 0; i < count; i++)
        b->users[b->user_count++] = o;
    if (flags != GD_CU_GRAPH_USER_OBJECT_MOVE)
        o->is.user.references += count;
    return GD_CUDA_SUCCESS;
}
