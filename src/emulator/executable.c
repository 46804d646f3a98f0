/* Executable graphs: made of a graph by putting its nodes into an order, graphs in nodes unfolded; launched node by
 * node. */
#include <stdlib.h>
#include <string.h>

#include "emulator/graph.h"
#include "emulator/module.h"
#include "emulator/stream.h"

void gd_executable_destroy(gd_executable *executable)
{
    if (!executable)
        return;
    for (uint32_t i = 0; i < executable->node_count; i++)
        gd_work_free(&executable->nodes[i].work);
    free(executable->nodes);
    free(executable->edges);
    gd_task_release(executable->last);
    gd_object_remove(&executable->object);
    free(executable);
}

gd_executable_node *gd_executable_find(gd_executable *executable, const void *handle)
{
    for (uint32_t i = 0; i < executable->node_count; i++) {
        if (executable->nodes[i].handle && executable->nodes[i].handle == handle)
            return &executable->nodes[i];
    }
    return NULL;
}

/* ---- building ---- */

static bool add_node(gd_executable *executable, void *handle, const gd_work *work)
{
    gd_work copy = {.kind = GD_WORK_EMPTY};

    if (executable->node_count == executable->node_capacity) {
        uint32_t capacity = executable->node_capacity ? executable->node_capacity * 2 : 16;
        gd_executable_node *more = realloc(executable->nodes, capacity * sizeof *more);
        if (!more)
            return false;
        executable->nodes = more;
        executable->node_capacity = capacity;
    }
    if (work && !gd_work_copy(&copy, work))
        return false;
    executable->nodes[executable->node_count++] = (gd_executable_node){.handle = handle, .work = copy, .enabled = true};
    return true;
}

static bool add_edge(gd_executable *executable, uint32_t from, uint32_t to, gd_CUgraphEdgeData data)
{
    if (executable->edge_count == executable->edge_capacity) {
        uint32_t capacity = executable->edge_capacity ? executable->edge_capacity * 2 : 16;
        gd_graph_edge *more = realloc(executable->edges, capacity * sizeof *more);
        if (!more)
            return false;
        executable->edges = more;
        executable->edge_capacity = capacity;
    }
    executable->edges[executable->edge_count++] = (gd_graph_edge){.from = from, .to = to, .data = data};
    return true;
}

/* An order in which no edge leads back (Kahn 1962), the order of creation where the edges leave a choice; false when
 * there is none. */
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

/* Where a node of the graph begins and ends in the executable: two markers for one that is a graph. */
typedef struct span {
    uint32_t first, last;
} span;

static gd_CUresult unfold(gd_executable *executable, const gd_graph *graph, uint32_t *first, uint32_t *last);

static gd_CUresult unfold_node(gd_executable *executable, const gd_node *node, span *where)
{
    if (node->work.kind == GD_WORK_GRAPH)
        return unfold(executable, node->work.is.graph, &where->first, &where->last);
    where->first = where->last = executable->node_count;
    return add_node(executable, node->object.handle, &node->work) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

static bool connect(gd_executable *executable, const gd_graph *graph, const span *spans, span whole)
{
    const gd_CUgraphEdgeData ordinary = {0};
    bool good = true;

    for (uint32_t i = 0; good && i < graph->edge_count; i++)
        good = add_edge(executable, spans[graph->edges[i].from].last, spans[graph->edges[i].to].first,
                        graph->edges[i].data);
    for (uint32_t i = 0; good && i < graph->node_count; i++)
        good = add_edge(executable, whole.first, spans[i].first, ordinary) &&
               add_edge(executable, spans[i].last, whole.last, ordinary);
    return good;
}

/* Puts a graph between two markers. */
static gd_CUresult unfold(gd_executable *executable, const gd_graph *graph, uint32_t *first, uint32_t *last)
{
    uint32_t *order = calloc((size_t)graph->node_count + 1, sizeof *order),
             *open = calloc((size_t)graph->node_count + 1, sizeof *open);
    span *spans = calloc((size_t)graph->node_count + 1, sizeof *spans);
    gd_CUresult result =
        order && open && spans && add_node(executable, NULL, NULL) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
    span whole = {.first = executable->node_count - 1};

    if (result == GD_CUDA_SUCCESS && !sort_nodes(graph, order, open))
        result = GD_CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; result == GD_CUDA_SUCCESS && i < graph->node_count; i++)
        result = unfold_node(executable, graph->nodes[order[i]], &spans[order[i]]);
    whole.last = executable->node_count;
    if (result == GD_CUDA_SUCCESS && !(add_node(executable, NULL, NULL) && connect(executable, graph, spans, whole)))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    free(order);
    free(open);
    free(spans);
    *first = whole.first;
    *last = whole.last;
    return result;
}

gd_CUresult gd_executable_create(const gd_graph *graph, gd_context *context, uint64_t flags, gd_executable **executable)
{
    gd_executable *made = calloc(1, sizeof *made);
    uint32_t first, last;

    if (!made)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = unfold(made, graph, &first, &last);
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

/* ---- launching ---- */

/* Dependencies of one node, on the tasks of those before it. */
static uint32_t list_dependencies(const gd_executable *executable, uint32_t index, gd_task **tasks, gd_dependency *list)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < executable->edge_count; i++) {
        const gd_graph_edge *edge = &executable->edges[i];
        if (edge->to != index)
            continue;
        bool kernels = tasks[edge->from]->work.kind == GD_WORK_KERNEL && executable->nodes[index].enabled;
        gd_port port = kernels ? (gd_port)edge->data.from_port : GD_PORT_COMPLETE;
        list[count++] = (gd_dependency){.task = tasks[edge->from],
                                        .port = port,
                                        .programmatic = port != GD_PORT_COMPLETE &&
                                                        edge->data.type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    }
    return count;
}

static gd_CUresult make_work(gd_context *context, const gd_executable_node *node, gd_work *work)
{
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!node->enabled)
        return GD_CUDA_SUCCESS;
    if (!gd_work_copy(work, &node->work))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = gd_launch_refresh(context, work);
    if (result != GD_CUDA_SUCCESS)
        gd_work_free(work);
    return result;
}

static void note_event(const gd_executable_node *node, gd_task *task)
{
    gd_event *event =
        node->work.kind == GD_WORK_EVENT_RECORD ? gd_object_find(node->work.is.event, GD_OBJECT_EVENT) : NULL;

    if (event && node->enabled)
        gd_event_set(event, task, GD_PORT_COMPLETE);
}

static uint32_t add_event_wait(const gd_executable_node *node, gd_dependency *list, uint32_t count)
{
    const gd_event *event =
        node->work.kind == GD_WORK_EVENT_WAIT ? gd_object_find(node->work.is.event, GD_OBJECT_EVENT) : NULL;

    if (event && node->enabled && event->task)
        list[count++] = (gd_dependency){.task = event->task, .port = GD_PORT_COMPLETE};
    return count;
}

static gd_CUresult launch_nodes(gd_executable *executable, gd_stream *stream, gd_task **tasks, gd_work *works,
                                gd_dependency *list)
{
    gd_CUresult result = gd_stream_submit(stream, &works[0], &tasks[0]);

    gd_task_hold(tasks[0]);
    for (uint32_t i = 1; result == GD_CUDA_SUCCESS && i < executable->node_count; i++) {
        uint32_t count = list_dependencies(executable, i, tasks, list);
        count = add_event_wait(&executable->nodes[i], list, count);
        tasks[i] = gd_schedule_submit(stream->object.context, &works[i], list, count, stream->id, true);
        if (tasks[i])
            note_event(&executable->nodes[i], tasks[i]);
        else
            result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    return result;
}

/* One launch after another: the first marker waits for the last one's. */
static gd_CUresult join_last(const gd_executable *executable, gd_stream *stream)
{
    if (!executable->last || executable->last == stream->last)
        return GD_CUDA_SUCCESS;
    gd_dependency *more = realloc(stream->waits, (stream->wait_count + 1) * sizeof *more);
    if (!more)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    stream->waits = more;
    stream->waits[stream->wait_count++] =
        (gd_dependency){.task = gd_task_hold(executable->last), .port = GD_PORT_COMPLETE};
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_executable_launch(gd_executable *executable, gd_stream *stream)
{
    uint32_t nodes = executable->node_count;
    gd_task **tasks = calloc(nodes, sizeof(gd_task *));
    gd_work *works = calloc(nodes, sizeof *works);
    gd_dependency *list = calloc((size_t)executable->edge_count + 2, sizeof *list);
    gd_CUresult result = tasks && works && list ? join_last(executable, stream) : GD_CUDA_ERROR_OUT_OF_MEMORY;

    for (uint32_t i = 0; result == GD_CUDA_SUCCESS && i < nodes; i++)
        result = make_work(stream->object.context, &executable->nodes[i], &works[i]);
    if (result == GD_CUDA_SUCCESS)
        result = launch_nodes(executable, stream, tasks, works, list);
    if (result == GD_CUDA_SUCCESS) {
        gd_stream_set_last(stream, tasks[nodes - 1]);
        gd_task_hold(tasks[nodes - 1]);
        gd_task_release(executable->last);
        executable->last = tasks[nodes - 1];
    }
    for (uint32_t i = 0; i < nodes; i++) {
        if (tasks)
            gd_task_release(tasks[i]);
        if (works)
            gd_work_free(&works[i]);
    }
    free(tasks);
    free(works);
    free(list);
    return result;
}
