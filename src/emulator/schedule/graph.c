/* Graphs as the program makes them: nodes, edges, clones. */
#include <stdlib.h>
#include <string.h>

#include "emulator/schedule/device.h"
#include "emulator/schedule/graph.h"

gd_graph *gd_graph_create(void)
{
    gd_graph *graph = calloc(1, sizeof *graph);

    if (!graph || !gd_object_add(&graph->object, GD_OBJECT_GRAPH, NULL)) {
        free(graph);
        return NULL;
    }
    return graph;
}

static void destroy_node(gd_node *node)
{
    if (node->work.kind == GD_WORK_CONDITIONAL)
        node->work.is.conditional.condition->taken = false;
    gd_object_remove(&node->object);
    gd_work_free(&node->work);
    free(node);
}

void gd_graph_destroy(gd_graph *graph)
{
    if (!graph)
        return;
    for (uint32_t i = 0; i < graph->node_count; i++)
        destroy_node(graph->nodes[i]);
    for (uint32_t i = 0; i < graph->condition_count; i++)
        gd_condition_release(graph->conditions[i]);
    free(graph->conditions);
    gd_user_list_free(&graph->user_objects);
    free(graph->nodes);
    free(graph->edges);
    gd_object_remove(&graph->object);
    free(graph);
}

/* Room for one more item. */
static bool reserve(void *list, uint32_t count, uint32_t *capacity, size_t bytes)
{
    void *items;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;

    if (count < *capacity)
        return true;
    memcpy(&items, list, sizeof items);
    void *more = wanted > *capacity ? realloc(items, wanted * bytes) : NULL;
    if (!more)
        return false;
    memcpy(list, &more, sizeof more);
    *capacity = wanted;
    return true;
}

gd_graph *gd_graph_outermost(gd_graph *graph)
{
    while (graph->parent)
        graph = graph->parent;
    return graph;
}

bool gd_graph_add_condition(gd_graph *graph, gd_condition *condition)
{
    if (!reserve(&graph->conditions, graph->condition_count, &graph->condition_capacity,
                 sizeof *graph->conditions))
        return false;
    graph->conditions[graph->condition_count++] = gd_condition_hold(condition);
    return true;
}

bool gd_graph_is_conditional(const gd_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i]->work.kind == GD_WORK_CONDITIONAL)
            return true;
    }
    return false;
}

static void own_bodies(gd_graph *graph, const gd_conditional_work *work)
{
    work->condition->taken = true;
    for (uint32_t i = 0; i < work->count; i++) {
        work->bodies[i]->child = true;
        work->bodies[i]->parent = graph;
    }
}

gd_node *gd_graph_add_node(gd_graph *graph, gd_work *work)
{
    gd_node *node = calloc(1, sizeof *node);

    if (!node ||
        !reserve(&graph->nodes, graph->node_count, &graph->node_capacity, sizeof *graph->nodes) ||
        !gd_object_add(&node->object, GD_OBJECT_NODE, NULL)) {
        free(node);
        gd_work_free(work);
        return NULL;
    }
    node->graph = graph;
    node->work = *work;
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (node->work.kind == GD_WORK_GRAPH)
        node->work.is.graph->child = true;
    else if (node->work.kind == GD_WORK_CONDITIONAL)
        own_bodies(graph, &node->work.is.conditional);
    node->index = graph->node_count;
    graph->nodes[graph->node_count++] = node;
    return node;
}

bool gd_graph_add_edge(gd_graph *graph, uint32_t from, uint32_t to, const gd_CUgraphEdgeData *data)
{
    if (!reserve(&graph->edges, graph->edge_count, &graph->edge_capacity, sizeof *graph->edges))
        return false;
    graph->edges[graph->edge_count++] = (gd_graph_edge){.from = from, .to = to, .data = *data};
    return true;
}

void gd_graph_remove_node(gd_node *node)
{
    gd_graph *graph = node->graph;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < graph->edge_count; i++) {
        gd_graph_edge edge = graph->edges[i];
        if (edge.from == node->index || edge.to == node->index)
            continue;
        edge.from -= edge.from > node->index;
        edge.to -= edge.to > node->index;
        graph->edges[kept++] = edge;
    }
    graph->edge_count = kept;
    graph->node_count--;
    for (uint32_t i = node->index; i < graph->node_count; i++) {
        graph->nodes[i] = graph->nodes[i + 1];
        graph->nodes[i]->index = i;
    }
    destroy_node(node);
}

/* CUgraphEdgeData: ports of kernels alone, programmatic edges between kernels alone, and from a
 * port that can be reached before the end. */
bool gd_graph_is_on_one_device(const gd_node *from, const gd_node *to)
{
    const gd_context *first = gd_object_find(from->work.context, GD_OBJECT_CONTEXT),
                     *second = gd_object_find(to->work.context, GD_OBJECT_CONTEXT);

    return !first || !second || first->device == second->device;
}

bool gd_graph_allows(const gd_node *from, const gd_node *to, const gd_CUgraphEdgeData *data)
{
    static const unsigned char zero[5];

    if (data->to_port || memcmp(data->reserved, zero, sizeof zero) ||
        data->type > GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
        data->from_port > GD_CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
        return false;
    if (data->from_port &&
        (from->work.kind != GD_WORK_KERNEL || !gd_graph_is_on_one_device(from, to)))
        return false;
    if (data->type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
        return data->from_port && from->work.kind == GD_WORK_KERNEL &&
               to->work.kind == GD_WORK_KERNEL;
    return data->from_port != GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
}

void gd_graph_mark_ancestors(gd_graph *graph)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = graph->edge_count;
             i-- > 0;) { /* a capture's edges lead forward, so that one pass does */
            gd_node *from = graph->nodes[graph->edges[i].from];
            if (graph->nodes[graph->edges[i].to]->marked && !from->marked)
                changed = from->marked = true;
        }
    }
}

gd_graph *gd_graph_clone(const gd_graph *graph)
{
    gd_graph *clone = gd_graph_create();
    bool whole = clone && gd_user_list_add(&clone->user_objects, &graph->user_objects);

    for (uint32_t i = 0; whole && i < graph->node_count; i++) {
        gd_work work;
        gd_node *node =
            gd_work_copy(&work, &graph->nodes[i]->work) ? gd_graph_add_node(clone, &work) : NULL;
        whole = node != NULL;
        if (node)
            node->origin = graph->nodes[i]->object.handle;
    }
    for (uint32_t i = 0; whole && i < graph->edge_count; i++)
        whole = gd_graph_add_edge(clone, graph->edges[i].from, graph->edges[i].to,
                                  &graph->edges[i].data);
    if (whole)
        return clone;
    gd_graph_destroy(clone);
    return NULL;
}
