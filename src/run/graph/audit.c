/* The audit of a graph: what each edge is in the driver's graph, whether the two kernels at its
 * ends overlap, and if not, why not. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/early.h"
#include "run/graph/graph.h"
#include "run/launch/room.h"

enum {
    NODE_MINIMUM = sizeof(griddep_graph_node_info),
    EDGE_MINIMUM = sizeof(griddep_graph_edge_info)
};

/* ---- what an edge becomes ---- */

int32_t gd_graph_pdl(const gd_graph_node *node)
{
    return node->call ? node->call->launch.pdl : node->pdl;
}

static bool is_kernel(const griddep_graph *graph, uint32_t node)
{
    return graph->nodes[node].type == GRIDDEP_GRAPH_NODE_KERNEL;
}

/* Why the edge cannot let its second node start early; GRIDDEP_REASON_FORCED: it can. */
static int32_t find_obstacle(const griddep_graph *graph, const gd_graph_edge *edge)
{
    return gd_early_obstacle(graph->runtime, gd_graph_pdl(&graph->nodes[edge->to]), GD_EARLY_EDGE);
}

static int32_t decide_auto(const griddep_graph *graph, const gd_graph_edge *edge)
{
    const gd_graph_node *to = &graph->nodes[edge->to];

    if (!is_kernel(graph, edge->from) || !is_kernel(graph, edge->to))
        return GRIDDEP_REASON_OFF;
    return gd_early_decide(graph->runtime, to->traits, gd_graph_pdl(to), GD_EARLY_EDGE);
}

static int32_t plain_reason(const gd_graph_edge *edge)
{
    return edge->reason >= 0 ? edge->reason : GRIDDEP_REASON_OFF;
}

gd_CUgraphEdgeData gd_graph_edge_data(const gd_graph_edge *edge)
{
    return (gd_CUgraphEdgeData){.from_port = (unsigned char)edge->port,
                                .type = (unsigned char)edge->type};
}

/* What the driver has, unless a switch is off. */
static int32_t resolve_adopted(const griddep_graph *graph, const gd_graph_edge *edge,
                               gd_CUgraphEdgeData *data)
{
    int32_t off = gd_early_switch(graph->runtime, gd_graph_pdl(&graph->nodes[edge->to]));
    bool plain = !edge->type && !edge->port;

    *data =
        plain || off != GRIDDEP_REASON_FORCED ? (gd_CUgraphEdgeData){0} : gd_graph_edge_data(edge);
    return plain ? plain_reason(edge) : off;
}

int32_t gd_graph_resolve(const griddep_graph *graph, const gd_graph_edge *edge,
                         gd_CUgraphEdgeData *data)
{
    return graph->adopted && !edge->upgraded ? resolve_adopted(graph, edge, data)
                                             : gd_graph_decide(graph, edge, data);
}

int32_t gd_graph_decide(const griddep_graph *graph, const gd_graph_edge *edge,
                        gd_CUgraphEdgeData *data)
{
    int32_t reason;

    *data = (gd_CUgraphEdgeData){0};
    if (edge->upgraded) {
        reason = find_obstacle(graph, edge);
    } else if (edge->type == GRIDDEP_EDGE_AUTO) {
        reason = decide_auto(graph, edge);
    } else if (edge->type || edge->port) {
        reason = find_obstacle(graph, edge);
        if (reason == GRIDDEP_REASON_FORCED)
            *data = gd_graph_edge_data(edge);
        return reason;
    } else {
        return plain_reason(edge);
    }
    if (reason <= GRIDDEP_REASON_FORCED) {
        data->type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        data->from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    }
    return reason;
}

/* ---- judging ---- */

static bool has_kernel(const griddep_graph *graph, const gd_node_list *edges, bool before)
{
    for (uint32_t i = 0; i < edges->count; i++) {
        const gd_graph_edge *edge = &graph->edges[edges->edges[i]];
        if (is_kernel(graph, before ? edge->from : edge->to))
            return true;
    }
    return false;
}

/* An edge with an end that is no kernel: does that node part two kernels? */
static void judge_other(const griddep_graph *graph, griddep_graph_edge_info *info)
{
    uint32_t node = is_kernel(graph, info->from) ? info->to : info->from;
    const gd_graph_node *of = &graph->nodes[node];

    info->reason = GRIDDEP_REASON_NOT_KERNELS;
    if ((is_kernel(graph, info->from) || is_kernel(graph, info->to)) &&
        of->type == GRIDDEP_GRAPH_NODE_CONDITIONAL) {
        info->reason = GRIDDEP_REASON_CONDITIONAL;
        info->node = node;
        return;
    }
    if ((is_kernel(graph, info->from) || is_kernel(graph, info->to)) &&
        has_kernel(graph, &of->before, true) && has_kernel(graph, &of->after, false)) {
        info->reason = GRIDDEP_REASON_NODE_BETWEEN;
        info->node = node;
    }
}

/* What the kernels say about an edge that is plain; REASON_PLAIN: it need not be. */
static int32_t judge_kernels(const gd_graph_node *first, const gd_graph_node *second)
{
    int32_t reason = gd_early_pair(first->traits, second->traits);

    return reason == GRIDDEP_REASON_SET ? GRIDDEP_REASON_PLAIN : reason;
}

static int32_t judge_plain(const griddep_graph *graph, const gd_graph_edge *edge)
{
    const bool said = edge->reason == GRIDDEP_REASON_OFF || edge->reason == GRIDDEP_REASON_RACE;
    const int32_t obstacle = said ? edge->reason : find_obstacle(graph, edge);

    return obstacle != GRIDDEP_REASON_FORCED
               ? obstacle
               : judge_kernels(&graph->nodes[edge->from], &graph->nodes[edge->to]);
}

/* What is over of one node when another one begins or ends. */
enum { ENDS_BEHIND = 1, BEGINS_BEHIND = 2 };

static unsigned char step_over(const griddep_graph *graph, const gd_graph_edge *edge,
                               unsigned char level)
{
    const gd_graph_node *to = &graph->nodes[edge->to];
    gd_CUgraphEdgeData data;

    gd_graph_resolve(graph, edge, &data);
    if ((!data.type && !data.from_port) || level == BEGINS_BEHIND)
        return BEGINS_BEHIND;
    return data.type && to->traits & GRIDDEP_TRAIT_WAITS_ALWAYS ? ENDS_BEHIND : 0;
}

/* For each node whether it begins or ends behind the end of `from`: along plain edges it begins
 * behind it, and along programmatic ones a kernel that waits ends behind it. `open` has room for
 * each node twice. */
static void mark_behind(const griddep_graph *graph, uint32_t from, unsigned char *levels,
                        uint32_t *open)
{
    uint32_t count = 0;

    memset(levels, 0, graph->node_count);
    levels[from] = ENDS_BEHIND;
    open[count++] = from;
    while (count) {
        uint32_t node = open[--count];
        const gd_node_list *after = &graph->nodes[node].after;
        for (uint32_t i = 0; i < after->count; i++) {
            const gd_graph_edge *edge = &graph->edges[after->edges[i]];
            unsigned char level = step_over(graph, edge, levels[node]);
            if (level <= levels[edge->to])
                continue;
            levels[edge->to] = level;
            open[count++] = edge->to;
        }
    }
}

/* What is asked about the edges to one node. */
typedef struct join {
    const griddep_graph *graph;
    const griddep_graph_edge_info *info; /* the edge that is judged */
    bool some_fixed;                     /* another edge stays plain */
    unsigned char *levels;
    uint32_t *open;
} join;

/* Whether the first node of one edge has ended when that of another one begins. */
static bool is_over(const join *of, uint32_t first, uint32_t second)
{
    mark_behind(of->graph, first, of->levels, of->open);
    return of->levels[second] == BEGINS_BEHIND;
}

static bool is_plain(const join *of, const gd_graph_edge *edge)
{
    gd_CUgraphEdgeData data;

    gd_graph_resolve(of->graph, edge, &data);
    return !data.type && !data.from_port;
}

/* Whether a plain edge stays plain. Beside a programmatic edge each does: it was not changed when
 * that one was. */
static bool is_fixed(const join *of, const gd_graph_edge *edge)
{
    const griddep_graph *graph = of->graph;

    return of->info->type == GRIDDEP_EDGE_PROGRAMMATIC || !is_kernel(graph, edge->from) ||
           judge_plain(graph, edge) != GRIDDEP_REASON_PLAIN;
}

/* Whether what a plain edge comes from would overlap with nothing, because of another edge that
 * stays plain: then this one stays so too. The plain edges of a join that can all be programmatic
 * hold up nothing. */
static bool is_held_up(const join *of, const gd_graph_edge *edge)
{
    const gd_node_list *before = &of->graph->nodes[edge->to].before;

    for (uint32_t i = 0; i < before->count; i++) {
        const gd_graph_edge *other = &of->graph->edges[before->edges[i]];
        if (other != edge && is_plain(of, other) && is_fixed(of, other) &&
            !is_over(of, other->from, edge->from))
            return true;
    }
    return false;
}

/* A node that begins behind the first kernel's end; or one that must have ended before the second
 * kernel begins, and need not have when the first one does. */
static bool find_among(join *of, uint32_t *node)
{
    const griddep_graph_edge_info *info = of->info;
    const gd_node_list *before = &of->graph->nodes[info->to].before;

    mark_behind(of->graph, info->from, of->levels, of->open);
    for (uint32_t i = 0; i < before->count; i++) {
        *node = of->graph->edges[before->edges[i]].from;
        if (*node != info->from && of->levels[*node] == BEGINS_BEHIND)
            return true;
    }
    for (uint32_t i = 0; i < before->count; i++) { /* the cause, before what it causes */
        const gd_graph_edge *edge = &of->graph->edges[before->edges[i]];
        *node = edge->from;
        if (edge->from == info->from || !is_plain(of, edge) || !is_fixed(of, edge))
            continue;
        of->some_fixed = true;
        if (!is_over(of, edge->from, info->from))
            return true;
    }
    for (uint32_t i = 0; i < before->count && of->some_fixed; i++) {
        const gd_graph_edge *edge = &of->graph->edges[before->edges[i]];
        *node = edge->from;
        if (edge->from != info->from && is_plain(of, edge) && is_held_up(of, edge) &&
            !is_over(of, edge->from, info->from))
            return true;
    }
    return false;
}

static int32_t find_other_order(const griddep_graph *graph, const griddep_graph_edge_info *info,
                                bool *found, uint32_t *node, griddep_error *error)
{
    *found = false;
    if (graph->nodes[info->to].before.count == 1)
        return GRIDDEP_OK;
    join of = {.graph = graph,
               .info = info,
               .levels = malloc(graph->node_count),
               .open = calloc(graph->node_count, 2 * sizeof *of.open)};
    int32_t status = of.levels && of.open ? GRIDDEP_OK : gd_error_memory(error);
    if (!status)
        *found = find_among(&of, node);
    free(of.levels);
    free(of.open);
    return status;
}

static void judge_programmatic(const griddep_graph *graph, const gd_graph_edge *edge,
                               griddep_graph_edge_info *info)
{
    bool from_start = info->from_port == GRIDDEP_PORT_LAUNCH_ORDER;
    const gd_graph_node *first = &graph->nodes[info->from], *second = &graph->nodes[info->to];
    bool never = !from_start && gd_room_lacks_trigger(first->traits);
    int32_t waits = gd_early_kernel(second->traits);

    info->overlap = never ? GRIDDEP_OVERLAP_NONE : GRIDDEP_OVERLAP_FULL;
    info->races = edge->checked
                      ? edge->races
                      : waits == GRIDDEP_REASON_NO_WAIT || waits == GRIDDEP_REASON_WAIT_NOT_ALWAYS;
    info->reason = gd_graph_pdl(second) == GRIDDEP_PDL_FORCE ? GRIDDEP_REASON_FORCED : waits;
    if (info->reason > GRIDDEP_REASON_FORCED)
        return;
    if (from_start) {
        info->reason = GRIDDEP_REASON_LAUNCH_ORDER;
    } else if (never) {
        info->reason = GRIDDEP_REASON_NO_TRIGGER;
    } else if (gd_room_may_trigger(first->traits)) {
        info->overlap = GRIDDEP_OVERLAP_UNKNOWN;
        info->reason = GRIDDEP_REASON_UNKNOWN_CODE;
    }
}

/* A node of an adopted graph has no call until its arguments are told. */
static gd_launch launch_of(const gd_graph_node *node)
{
    const gd_CUDA_KERNEL_NODE_PARAMS *params = &node->params;

    return node->call ? node->call->launch
                      : (gd_launch){.config = {.gridDimX = params->gridDimX,
                                               .gridDimY = params->gridDimY,
                                               .gridDimZ = params->gridDimZ,
                                               .blockDimX = params->blockDimX,
                                               .blockDimY = params->blockDimY,
                                               .blockDimZ = params->blockDimZ,
                                               .sharedMemBytes = params->sharedMemBytes}};
}

/* Two kernels that overlap by their edge need room on an SM too. */
static int32_t judge_room(const griddep_graph *graph, griddep_graph_edge_info *info,
                          griddep_error *error)
{
    const gd_graph_node *first = &graph->nodes[info->from], *second = &graph->nodes[info->to];
    gd_room room;
    bool pushed;

    if ((info->reason > GRIDDEP_REASON_FORCED && info->reason != GRIDDEP_REASON_LAUNCH_ORDER) ||
        !first->kernel || !second->kernel)
        return GRIDDEP_OK;
    int32_t status = gd_runtime_enter(graph->runtime, &pushed, error);
    if (status)
        return status;
    const gd_launch before = launch_of(first), after = launch_of(second);
    gd_room_measure(first->kernel, &before, second->kernel, &after, &room);
    gd_runtime_leave(graph->runtime, pushed);
    info->overlap = gd_room_overlap(&room, &info->reason);
    return GRIDDEP_OK;
}

/* Between two kernels. */
static int32_t judge_pair(const griddep_graph *graph, const gd_graph_edge *edge,
                          griddep_graph_edge_info *info, griddep_error *error)
{
    bool other = false;
    uint32_t node = 0;

    if (info->type == GRIDDEP_EDGE_PROGRAMMATIC) {
        judge_programmatic(graph, edge, info);
    } else if (info->from_port) {
        info->reason = GRIDDEP_REASON_WRONG_PORT;
        info->overlap = GRIDDEP_OVERLAP_FULL;
        info->races = 1;
    } else {
        info->reason = judge_plain(graph, edge);
    }
    if (info->reason == GRIDDEP_REASON_NO_WAIT || info->reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS ||
        (info->type != GRIDDEP_EDGE_PROGRAMMATIC && info->reason != GRIDDEP_REASON_PLAIN))
        return GRIDDEP_OK;
    int32_t status = find_other_order(graph, info, &other, &node, error);
    if (!status && other) {
        info->reason = GRIDDEP_REASON_OTHER_ORDER;
        info->overlap = GRIDDEP_OVERLAP_NONE;
        info->node = node;
    }
    return status ? status : judge_room(graph, info, error);
}

int32_t gd_graph_judge(const griddep_graph *graph, uint32_t index, griddep_graph_edge_info *info,
                       griddep_error *error)
{
    const gd_graph_edge *edge = &graph->edges[index];
    gd_CUgraphEdgeData data;

    gd_graph_resolve(graph, edge, &data);
    *info = (griddep_graph_edge_info){.size = sizeof *info,
                                      .from = edge->from,
                                      .to = edge->to,
                                      .asked = edge->type,
                                      .from_port = data.from_port,
                                      .type = data.type};
    if (graph->lossy) {
        info->asked = info->from_port = info->type = -1;
        info->overlap = GRIDDEP_OVERLAP_UNKNOWN;
        info->reason = GRIDDEP_REASON_NO_EDGE_DATA;
        return GRIDDEP_OK;
    }
    if (!is_kernel(graph, edge->from) || !is_kernel(graph, edge->to)) {
        judge_other(graph, info);
        return GRIDDEP_OK;
    }
    return judge_pair(graph, edge, info, error);
}

/* ---- public ---- */

int32_t griddep_graph_get_node(const griddep_graph *graph, uint32_t index,
                               griddep_graph_node_info *info, griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_graph_check_node(graph, index, error);
    if (status)
        return status;
    const gd_graph_node *node = &graph->nodes[index];
    const char *name = node->name ? node->name : node->kernel ? node->kernel->name : NULL;
    const griddep_graph_node_info known = {
        .size = sizeof known,
        .type = node->type,
        .name = node->type == GRIDDEP_GRAPH_NODE_KERNEL ? name : gd_graph_type_name(node->type),
        .traits = node->traits,
        .before_count = node->before.count,
        .after_count = node->after.count,
        .handle = node->handle};
    return gd_struct_write(info, &known, sizeof known, NODE_MINIMUM, "griddep_graph_node_info",
                           error);
}

int32_t griddep_graph_get_edge(const griddep_graph *graph, uint32_t index,
                               griddep_graph_edge_info *info, griddep_error *error)
{
    griddep_graph_edge_info known;
    int32_t status = gd_graph_check(graph, error);

    if (status)
        return status;
    status = gd_graph_check_edge(graph, index, error);
    if (!status)
        status = gd_graph_judge(graph, index, &known, error);
    return status ? status
                  : gd_struct_write(info, &known, sizeof known, EDGE_MINIMUM,
                                    "griddep_graph_edge_info", error);
}
