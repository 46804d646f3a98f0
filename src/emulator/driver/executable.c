/* Executable graphs: made of a graph by putting its nodes into an order, graphs in nodes unfolded;
 * updated, and launched into a stream. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/graph.h"
#include "emulator/driver/module.h"
#include "emulator/driver/stream.h"

gd_executable_node *gd_executable_find(gd_executable *executable, const void *handle)
{
    for (uint32_t i = 0; i < executable->node_count; i++) {
        if (executable->nodes[i].handle && executable->nodes[i].handle == handle)
            return &executable->nodes[i];
        const gd_conditional_work *inner = &executable->nodes[i].work.is.conditional;
        bool conditional = executable->nodes[i].work.kind == GD_WORK_CONDITIONAL;
        for (uint32_t j = 0; conditional && j < inner->count; j++) {
            gd_executable_node *found = gd_executable_find(inner->branches[j], handle);
            if (found)
                return found;
        }
    }
    return NULL;
}

/* ---- building ---- */

static bool add_node(gd_executable *executable, void *handle, const gd_work *work)
{
    gd_work copy = {.kind = GD_WORK_EMPTY};

    return (!work || gd_work_copy(&copy, work)) &&
           gd_executable_add_node(executable, handle, &copy);
}

/* An order in which no edge leads back (Kahn 1962), the order of creation where the edges leave a
 * choice; false when there is none. */
static bool sort_nodes(const gd_graph *graph, uint32_t *order, uint32_t *open)
{
    uint32_t done = 0;

    memset(open, 0, graph->node_count * sizeof *open);
    for (uint32_t i = 0; i < graph->edge_count; i++)
        open[graph->edges[i].to]++;
    while (done < graph->node_count) {
        uint32_t next = 0;
        while (next < graph->node_count && open[next])
            next++;
        if (next == graph->node_count)
            return false;
        open[next] = UINT32_MAX;
        order[done++] = next;
        for (uint32_t i = 0; i < graph->edge_count; i++)
            open[graph->edges[i].to] -= graph->edges[i].from == next;
    }
    return true;
}

/* Where a node of the graph begins and ends in the executable: two markers for one that is a
 * graph. */
typedef struct span {
    uint32_t first, last;
} span;

static gd_CUresult unfold(gd_executable *executable, const gd_graph *graph, uint32_t *first,
                          uint32_t *last);

/* An executable of one body, which has no handle. */
static gd_CUresult make_branch(const gd_graph *body, gd_executable **branch)
{
    uint32_t first, last;

    *branch = calloc(1, sizeof **branch);
    return *branch ? unfold(*branch, body, &first, &last) : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

static gd_CUresult unfold_conditional(gd_executable *executable, const gd_node *node, span *where)
{
    const gd_conditional_work *from = &node->work.is.conditional;
    gd_work join = {.kind = GD_WORK_JOIN};
    gd_work work = {.kind = GD_WORK_CONDITIONAL,
                    .is.conditional = {.condition = gd_condition_hold(from->condition),
                                       .type = from->type,
                                       .count = from->count,
                                       .branches = calloc(from->count, sizeof(gd_executable *))}};
    gd_CUresult result =
        work.is.conditional.branches ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;

    for (uint32_t i = 0; result == GD_CUDA_SUCCESS && i < from->count; i++)
        result = make_branch(from->bodies[i], &work.is.conditional.branches[i]);
    where->last = executable->node_count;
    if (result == GD_CUDA_SUCCESS && !gd_executable_add_node(executable, NULL, &join))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result != GD_CUDA_SUCCESS) {
        gd_work_free(&work);
        return result;
    }
    where->first = executable->node_count;
    return gd_executable_add_node(executable, node->object.handle, &work)
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

static gd_CUresult unfold_node(gd_executable *executable, const gd_node *node, span *where)
{
    if (node->work.kind == GD_WORK_GRAPH)
        return unfold(executable, node->work.is.graph, &where->first, &where->last);
    if (node->work.kind == GD_WORK_CONDITIONAL)
        return unfold_conditional(executable, node, where);
    where->first = where->last = executable->node_count;
    return add_node(executable, node->object.handle, &node->work) ? GD_CUDA_SUCCESS
                                                                  : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

static bool connect(gd_executable *executable, const gd_graph *graph, const span *spans, span whole)
{
    const gd_CUgraphEdgeData ordinary = {0};
    bool good =
        graph->node_count || gd_executable_add_edge(executable, whole.first, whole.last, ordinary);

    for (uint32_t i = 0; good && i < graph->edge_count; i++)
        good = gd_executable_add_edge(executable, spans[graph->edges[i].from].last,
                                      spans[graph->edges[i].to].first, graph->edges[i].data);
    for (uint32_t i = 0; good && i < graph->node_count; i++)
        good = gd_executable_add_edge(executable, whole.first, spans[i].first, ordinary) &&
               gd_executable_add_edge(executable, spans[i].last, whole.last, ordinary);
    return good;
}

/* Puts a graph between two markers. */
static gd_CUresult unfold(gd_executable *executable, const gd_graph *graph, uint32_t *first,
                          uint32_t *last)
{
    uint32_t *order = calloc((size_t)graph->node_count + 1, sizeof *order),
             *open = calloc((size_t)graph->node_count + 1, sizeof *open);
    span *spans = calloc((size_t)graph->node_count + 1, sizeof *spans);
    gd_CUresult result = order && open && spans && add_node(executable, NULL, NULL)
                             ? GD_CUDA_SUCCESS
                             : GD_CUDA_ERROR_OUT_OF_MEMORY;
    span whole = {.first = executable->node_count - 1};

    if (result == GD_CUDA_SUCCESS &&
        !gd_user_list_add(&executable->user_objects, &graph->user_objects))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result == GD_CUDA_SUCCESS && !sort_nodes(graph, order, open))
        result = GD_CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; result == GD_CUDA_SUCCESS && i < graph->node_count; i++)
        result = unfold_node(executable, graph->nodes[order[i]], &spans[order[i]]);
    whole.last = executable->node_count;
    if (result == GD_CUDA_SUCCESS &&
        !(add_node(executable, NULL, NULL) && connect(executable, graph, spans, whole)))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    free(order);
    free(open);
    free(spans);
    *first = whole.first;
    *last = whole.last;
    return result;
}

/* ---- bodies and conditions ---- */

/* What a body cannot hold (CUDA_CONDITIONAL_NODE_PARAMS): what concerns the host, copies of its
 * pageable memory, and kernels of another device. */
static bool refuses(const gd_node *node, const gd_work *conditional,
                    gd_instantiate_refusal *refusal)
{
    const gd_work *work = &node->work;
    const gd_context *own = gd_object_find(work->context, GD_OBJECT_CONTEXT),
                     *outer = gd_object_find(conditional->context, GD_OBJECT_CONTEXT);

    if (work->kind == GD_WORK_HOST || work->kind == GD_WORK_EVENT_RECORD ||
        work->kind == GD_WORK_EVENT_WAIT)
        refusal->result = GD_CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    else if (work->kind == GD_WORK_COPY &&
             (!work->is.copy.source.device || !work->is.copy.target.device))
        refusal->result = GD_CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
    else if (own && outer && own->device != outer->device)
        refusal->result = GD_CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
    else
        return false;
    refusal->node = node->object.handle;
    return true;
}

static gd_CUresult check_nodes(const gd_graph *graph, const gd_work *conditional,
                               gd_instantiate_refusal *refusal)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (uint32_t i = 0; i < graph->node_count && result == GD_CUDA_SUCCESS; i++) {
        const gd_work *work = &graph->nodes[i]->work;
        if (conditional && refuses(graph->nodes[i], conditional, refusal))
            return GD_CUDA_ERROR_INVALID_VALUE;
        if (work->kind == GD_WORK_GRAPH)
            result = check_nodes(work->is.graph, conditional, refusal);
        for (uint32_t j = 0; work->kind == GD_WORK_CONDITIONAL && j < work->is.conditional.count;
             j++) {
            if (result == GD_CUDA_SUCCESS)
                result = check_nodes(work->is.conditional.bodies[j], work, refusal);
        }
    }
    return result;
}

static gd_CUresult check_bodies(const gd_graph *graph, gd_instantiate_refusal *refusal)
{
    return check_nodes(graph, NULL, refusal);
}

/* There may be one executable of a graph with conditional nodes, in which each condition has a
 * node. */
static gd_CUresult check_conditions(const gd_graph *graph, gd_instantiate_refusal *refusal)
{
    if (graph->parent)
        return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED,
                                "the graph is the body of a conditional node");
    for (uint32_t i = 0; i < graph->condition_count; i++) {
        if (!graph->conditions[i]->taken) {
            refusal->result = GD_CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
            return GD_CUDA_ERROR_INVALID_VALUE;
        }
        if (graph->conditions[i]->instantiated)
            return gd_device_refuse(
                GD_CUDA_ERROR_NOT_SUPPORTED,
                "a graph with conditional nodes can be instantiated once at a time");
    }
    return GD_CUDA_SUCCESS;
}

/* The first marker gives them their initial values. */
static gd_CUresult take_conditions(gd_executable *executable, const gd_graph *graph,
                                   gd_instantiate_refusal *refusal)
{
    gd_CUresult result = check_conditions(graph, refusal);

    if (result != GD_CUDA_SUCCESS || !graph->condition_count)
        return result;
    gd_condition_set *set = gd_condition_set_create(graph->conditions, graph->condition_count);
    if (!set)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < set->count; i++)
        set->list[i]->instantiated = true;
    executable->conditions = set;
    executable->nodes[0].work =
        (gd_work){.kind = GD_WORK_ASSIGN, .is.conditions = gd_condition_set_hold(set)};
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_executable_create(const gd_graph *graph, gd_context *context, uint64_t flags,
                                 gd_executable **executable, gd_instantiate_refusal *refusal)
{
    gd_executable *made = NULL;

    *refusal = (gd_instantiate_refusal){.result = GD_CUDA_GRAPH_INSTANTIATE_ERROR};
    gd_CUresult result = make_branch(graph, &made);
    if (result == GD_CUDA_SUCCESS)
        result = check_bodies(graph, refusal);
    if (result == GD_CUDA_SUCCESS)
        result = take_conditions(made, graph, refusal);
    if (result == GD_CUDA_SUCCESS && !gd_object_add(&made->object, GD_OBJECT_EXECUTABLE, context))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result != GD_CUDA_SUCCESS) {
        gd_executable_destroy(made);
        return result;
    }
    made->flags = flags;
    *executable = made;
    return GD_CUDA_SUCCESS;
}

/* ---- updating ---- */

static int32_t compare(const gd_executable *old, const gd_executable *new, void **node);

/* Both nodes are of one kind. */
static int32_t compare_node(const gd_executable_node *old, const gd_executable_node *new,
                            void **node)
{
    const gd_conditional_work *one = &old->work.is.conditional, *other = &new->work.is.conditional;
    int32_t outcome = GD_CU_GRAPH_EXEC_UPDATE_SUCCESS;

    if (old->work.kind != GD_WORK_CONDITIONAL)
        return outcome;
    if (one->type != other->type || one->count != other->count) {
        *node = new->handle;
        return GD_CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
    for (uint32_t i = 0; i < one->count && outcome == GD_CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        outcome = compare(one->branches[i], other->branches[i], node);
    return outcome;
}

/* A new executable has no launch to begin yet, so that its first marker is empty. */
static bool same_kind(gd_work_kind old, gd_work_kind new)
{
    return old == new || (old == GD_WORK_ASSIGN && new == GD_WORK_EMPTY);
}

/* Whether two executables have the same nodes and edges; *node is the first that differs in
 * kind. */
static int32_t compare(const gd_executable *old, const gd_executable *new, void **node)
{
    int32_t outcome = GD_CU_GRAPH_EXEC_UPDATE_SUCCESS;

    if (old->node_count != new->node_count || old->edge_count != new->edge_count)
        return GD_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (uint32_t i = 0; i < old->node_count; i++) {
        if (!same_kind(old->nodes[i].work.kind, new->nodes[i].work.kind)) {
            *node = new->nodes[i].handle;
            return GD_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        }
    }
    if (old->edge_count && memcmp(old->edges, new->edges, old->edge_count * sizeof *old->edges))
        return GD_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (uint32_t i = 0; i < old->node_count && outcome == GD_CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        outcome = compare_node(&old->nodes[i], &new->nodes[i], node);
    return outcome;
}

/* An update succeeds where the launch of a kernel has another cluster dimension, and the driver
 * keeps the old one. */
static void keep_cluster(const gd_work *old, gd_work *new)
{
    const gd_kernel_work *from = &old->is.kernel;
    gd_kernel_work *into = &new->is.kernel;

    if (old->kind != GD_WORK_KERNEL || new->kind != GD_WORK_KERNEL ||
        from->handle != into->handle || into->grid[0] % from->cluster[0] ||
        into->grid[1] % from->cluster[1] || into->grid[2] % from->cluster[2])
        return;
    memcpy(into->cluster, from->cluster, sizeof into->cluster);
    into->explicit_cluster = from->explicit_cluster;
}

/* The new nodes take the old ones' place; the old handles stay good, because programs keep them.
 * Conditions stay, with the new ones' initial values. */
static void exchange(gd_executable *executable, gd_executable *made)
{
    const gd_user_list objects = executable->user_objects;

    executable->user_objects = made->user_objects;
    made->user_objects = objects;
    for (uint32_t i = 0; i < executable->node_count; i++) {
        gd_work *old = &executable->nodes[i].work, *new = &made->nodes[i].work;
        const gd_work work = *old;
        keep_cluster(old, new);
        if (old->kind == GD_WORK_CONDITIONAL) {
            old->is.conditional.condition->initial = new->is.conditional.condition->initial;
            old->is.conditional.condition->assigned = new->is.conditional.condition->assigned;
            for (uint32_t j = 0; j < old->is.conditional.count; j++)
                exchange(old->is.conditional.branches[j], new->is.conditional.branches[j]);
        } else if (old->kind != GD_WORK_ASSIGN) {
            *old = *new;
            *new = work;
        }
    }
}

gd_CUresult gd_executable_update(gd_executable *executable, const gd_graph *graph, int32_t *outcome,
                                 void **node)
{
    gd_executable *made = NULL;
    gd_instantiate_refusal refusal;
    gd_CUresult result = make_branch(graph, &made);

    *node = NULL;
    *outcome = GD_CU_GRAPH_EXEC_UPDATE_ERROR;
    if (result == GD_CUDA_SUCCESS)
        result = check_bodies(graph, &refusal);
    if (result == GD_CUDA_SUCCESS) {
        *outcome = compare(executable, made, node);
        if (*outcome == GD_CU_GRAPH_EXEC_UPDATE_SUCCESS) {
            exchange(executable, made);
            made->last = gd_task_hold(executable->last);
        } else
            result = GD_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    gd_executable_destroy(made);
    return result;
}

/* ---- launching ---- */

/* Looks up what kernels name, those in the bodies of conditional nodes too, which are handed in
 * later: what unloads a module waits for that. */
static gd_CUresult refresh(const gd_launching *launch, gd_work *work)
{
    const gd_conditional_work *inner = &work->is.conditional;
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (work->kind != GD_WORK_CONDITIONAL)
        return gd_launch_refresh(gd_launching_context(launch, work), work);
    for (uint32_t i = 0; i < inner->count; i++) {
        gd_executable *branch = inner->branches[i];
        for (uint32_t j = 0; result == GD_CUDA_SUCCESS && j < branch->node_count; j++) {
            if (branch->nodes[j].enabled)
                result = refresh(launch, &branch->nodes[j].work);
        }
    }
    return result;
}

static gd_event *find_event(const gd_executable_node *node, gd_work_kind kind)
{
    return node->enabled && node->work.kind == kind
               ? gd_object_find(node->work.is.event, GD_OBJECT_EVENT)
               : NULL;
}

/* Hands in all nodes but the first, which has been. */
static bool launch_nodes(gd_launching *launch)
{
    for (uint32_t i = 1; i < launch->executable->node_count; i++) {
        const gd_executable_node *node = &launch->executable->nodes[i];
        const gd_event *waits = find_event(node, GD_WORK_EVENT_WAIT);
        if (!gd_launching_add(launch, i, waits ? waits->task : NULL))
            return false;
        gd_event *records = find_event(node, GD_WORK_EVENT_RECORD);
        if (records)
            gd_event_set(records, launch->tasks[i], GD_PORT_COMPLETE);
    }
    return true;
}

gd_CUresult gd_executable_launch(gd_executable *executable, gd_stream *stream)
{
    gd_launching launch = {.executable = executable,
                           .context = stream->object.context,
                           .stream = stream->id,
                           .conditions = executable->conditions};
    uint32_t nodes = executable->node_count;
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (executable->last != stream->last) /* one launch after another */
        result = gd_stream_add_wait(stream, executable->last, GD_PORT_COMPLETE);
    if (result == GD_CUDA_SUCCESS && !gd_launching_begin(&launch))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; result == GD_CUDA_SUCCESS && i < nodes; i++)
        result = refresh(&launch, &launch.works[i]);
    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_submit(stream, &launch.works[0], &launch.tasks[0]);
    if (result == GD_CUDA_SUCCESS) {
        gd_task_hold(launch.tasks[0]);
        result = launch_nodes(&launch) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == GD_CUDA_SUCCESS) {
        gd_stream_set_last(stream, launch.tasks[nodes - 1]);
        gd_task_release(executable->last);
        executable->last = gd_task_hold(launch.tasks[nodes - 1]);
    }
    gd_launching_end(&launch);
    return result;
}
