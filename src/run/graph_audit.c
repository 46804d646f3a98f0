/* The audit of a graph: what each edge is in the driver's graph, whether the two kernels at its ends overlap, and if
 * not, why not. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "run/graph.h"

enum { NODE_MINIMUM = sizeof(griddep_graph_node_info), EDGE_MINIMUM = sizeof(griddep_graph_edge_info) };

/* ---- what an edge becomes ---- */

/* Why device or driver allow no early start at all; GRIDDEP_REASON_FORCED: they do. */
static int32_t find_obstacle(const griddep_runtime *runtime)
{
    if (runtime->kill_switch)
        return GRIDDEP_REASON_KILL_SWITCH;
    if (runtime->info.capability < 90)
        return GRIDDEP_REASON_DEVICE;
    return runtime->driver->cuGraphAddDependencies ? GRIDDEP_REASON_FORCED : GRIDDEP_REASON_DRIVER;
}

/* A node of an adopted graph has no call until its arguments are told, and no kernel when its code is not known. */
static int32_t decide_node(const griddep_graph *graph, const gd_graph_node *node)
{
    int32_t pdl = node->call ? node->call->launch.pdl : GRIDDEP_PDL_AUTO;

    return gd_launch_decide_traits(graph->runtime, node->traits, pdl);
}

static int32_t decide_auto(const griddep_graph *graph, const gd_graph_edge *edge)
{
    const gd_graph_node *from = &graph->nodes[edge->from], *to = &graph->nodes[edge->to];
    int32_t obstacle = find_obstacle(graph->runtime);

    if (from->type != GRIDDEP_GRAPH_NODE_KERNEL || to->type != GRIDDEP_GRAPH_NODE_KERNEL)
        return GRIDDEP_REASON_OFF;
    return obstacle == GRIDDEP_REASON_FORCED ? decide_node(graph, to) : obstacle;
}

static int32_t plain_reason(const gd_graph_edge *edge)
{
    return edge->reason >= 0 ? edge->reason : GRIDDEP_REASON_OFF;
}

int32_t gd_graph_resolve(const griddep_graph *graph, const gd_graph_edge *edge, gd_CUgraphEdgeData *data)
{
    if (!graph->adopted)
        return gd_graph_decide(graph, edge, data);
    *data = (gd_CUgraphEdgeData){.from_port = (unsigned char)edge->port, .type = (unsigned char)edge->type};
    return edge->type ? GRIDDEP_REASON_FORCED : plain_reason(edge);
}

int32_t gd_graph_decide(const griddep_graph *graph, const gd_graph_edge *edge, gd_CUgraphEdgeData *data)
{
    int32_t reason;

    *data = (gd_CUgraphEdgeData){0};
    if (edge->upgraded) {
        reason = find_obstacle(graph->runtime);
    } else if (edge->type == GRIDDEP_EDGE_AUTO) {
        reason = decide_auto(graph, edge);
    } else if (edge->type || edge->port) {
        reason = find_obstacle(graph->runtime);
        if (reason == GRIDDEP_REASON_FORCED)
            *data = (gd_CUgraphEdgeData){.from_port = (unsigned char)edge->port, .type = (unsigned char)edge->type};
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

static bool is_kernel(const griddep_graph *graph, uint32_t node)
{
    return graph->nodes[node].type == GRIDDEP_GRAPH_NODE_KERNEL;
}

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

    info->audit = GRIDDEP_AUDIT_NOT_KERNELS;
    if ((is_kernel(graph, info->from) || is_kernel(graph, info->to)) && of->type == GRIDDEP_GRAPH_NODE_CONDITIONAL) {
        info->audit = GRIDDEP_AUDIT_CONDITIONAL;
        info->node = node;
        return;
    }
    if ((is_kernel(graph, info->from) || is_kernel(graph, info->to)) && has_kernel(graph, &of->before, true) &&
        has_kernel(graph, &of->after, false)) {
        info->audit = GRIDDEP_AUDIT_NODE_BETWEEN;
        info->node = node;
    }
}

/* A node that holds the second kernel up besides the first kernel, and need not have ended when the first one begins.
 * Beside a programmatic edge other programmatic ones hold nothing up. */
static int32_t find_other_order(const griddep_graph *graph, const griddep_graph_edge_info *info, bool *found,
                                uint32_t *node, griddep_error *error)
{
    const gd_node_list *before = &graph->nodes[info->to].before;
    int32_t status = GRIDDEP_OK;

    *found = false;
    for (uint32_t i = 0; i < before->count && !*found && !status; i++) {
        const gd_graph_edge *edge = &graph->edges[before->edges[i]];
        gd_CUgraphEdgeData data;
        bool earlier = false;
        if (edge->from == info->from)
            continue;
        gd_graph_resolve(graph, edge, &data);
        bool counts = !data.type || info->type != GRIDDEP_EDGE_PROGRAMMATIC;
        if (counts)
            status = gd_graph_leads(graph, edge->from, info->from, &earlier, error);
        *found = counts && !earlier;
        *node = edge->from;
    }
    return status;
}

static void judge_programmatic(const griddep_graph *graph, griddep_graph_edge_info *info)
{
    uint32_t first = graph->nodes[info->from].traits, second = graph->nodes[info->to].traits;

    info->overlap = GRIDDEP_OVERLAP_FULL;
    if (!(second & GRIDDEP_TRAIT_KNOWN)) {
        info->audit = GRIDDEP_AUDIT_UNKNOWN_WAIT;
    } else if (!(second & GRIDDEP_TRAIT_WAITS_ALWAYS)) {
        info->audit = GRIDDEP_AUDIT_UNSAFE;
    } else if (info->from_port == GRIDDEP_PORT_LAUNCH_ORDER) {
        info->audit = GRIDDEP_AUDIT_LAUNCH_ORDER;
    } else if (first & GRIDDEP_TRAIT_KNOWN && !(first & GRIDDEP_TRAIT_TRIGGERS)) {
        info->audit = GRIDDEP_AUDIT_NO_TRIGGER;
    } else {
        info->audit = GRIDDEP_AUDIT_OVERLAPS;
    }
    if (info->from_port == GRIDDEP_PORT_PROGRAMMATIC && first & GRIDDEP_TRAIT_KNOWN &&
        !(first & GRIDDEP_TRAIT_TRIGGERS))
        info->overlap = GRIDDEP_OVERLAP_TAIL;
}

/* What the kernels say about an edge that is plain; AUDIT_PLAIN: it need not be. */
static int32_t judge_kernels(const gd_graph_node *first, const gd_graph_node *second)
{
    uint32_t traits = second->traits;

    if (!(traits & GRIDDEP_TRAIT_KNOWN))
        return GRIDDEP_AUDIT_UNKNOWN_CODE;
    if (traits & GRIDDEP_TRAIT_WAITS_ALWAYS)
        return GRIDDEP_AUDIT_PLAIN;
    if (traits & GRIDDEP_TRAIT_WAITS)
        return GRIDDEP_AUDIT_WAIT_NOT_ALWAYS;
    bool swapped = traits & GRIDDEP_TRAIT_TRIGGERS && first->traits & GRIDDEP_TRAIT_WAITS &&
                   !(first->traits & GRIDDEP_TRAIT_TRIGGERS);
    return swapped ? GRIDDEP_AUDIT_WRONG_END : GRIDDEP_AUDIT_NO_WAIT;
}

static int32_t judge_plain(const griddep_graph *graph, const gd_graph_edge *edge, int32_t reason)
{
    const gd_graph_node *second = &graph->nodes[edge->to];
    int32_t obstacle = find_obstacle(graph->runtime);
    bool off = (edge->type == GRIDDEP_EDGE_AUTO || edge->reason >= 0) && reason == GRIDDEP_REASON_OFF;

    if (obstacle == GRIDDEP_REASON_KILL_SWITCH)
        return GRIDDEP_AUDIT_KILL_SWITCH;
    if (obstacle == GRIDDEP_REASON_DEVICE)
        return GRIDDEP_AUDIT_DEVICE;
    if (obstacle == GRIDDEP_REASON_DRIVER)
        return GRIDDEP_AUDIT_DRIVER;
    if (off || (second->call && second->call->launch.pdl == GRIDDEP_PDL_OFF))
        return GRIDDEP_AUDIT_OFF;
    return judge_kernels(&graph->nodes[edge->from], second);
}

/* Between two kernels. */
static int32_t judge_pair(const griddep_graph *graph, const gd_graph_edge *edge, int32_t reason,
                          griddep_graph_edge_info *info, griddep_error *error)
{
    bool other = false;
    uint32_t node = 0;

    if (info->type == GRIDDEP_EDGE_PROGRAMMATIC) {
        judge_programmatic(graph, info);
    } else if (info->from_port) {
        info->audit = GRIDDEP_AUDIT_WRONG_PORT;
        info->overlap = GRIDDEP_OVERLAP_FULL;
    } else {
        info->audit = judge_plain(graph, edge, reason);
    }
    if (info->audit == GRIDDEP_AUDIT_UNSAFE || info->audit == GRIDDEP_AUDIT_WRONG_PORT ||
        (!info->overlap && info->audit != GRIDDEP_AUDIT_PLAIN))
        return GRIDDEP_OK;
    int32_t status = find_other_order(graph, info, &other, &node, error);
    if (!status && other) {
        info->audit = GRIDDEP_AUDIT_OTHER_ORDER;
        info->overlap = GRIDDEP_OVERLAP_NONE;
        info->node = node;
    }
    return status;
}

int32_t gd_graph_judge(const griddep_graph *graph, uint32_t index, griddep_graph_edge_info *info, griddep_error *error)
{
    const gd_graph_edge *edge = &graph->edges[index];
    gd_CUgraphEdgeData data;
    int32_t reason = gd_graph_resolve(graph, edge, &data);

    *info = (griddep_graph_edge_info){.size = sizeof *info,
                                      .from = edge->from,
                                      .to = edge->to,
                                      .asked = edge->type,
                                      .from_port = data.from_port,
                                      .type = data.type};
    if (graph->lossy) {
        info->asked = info->from_port = info->type = -1;
        info->audit = GRIDDEP_AUDIT_NO_EDGE_DATA;
        return GRIDDEP_OK;
    }
    if (!is_kernel(graph, edge->from) || !is_kernel(graph, edge->to)) {
        judge_other(graph, info);
        return GRIDDEP_OK;
    }
    if (!graph->nodes[edge->from].enabled || !graph->nodes[edge->to].enabled) {
        info->audit = GRIDDEP_AUDIT_DISABLED;
        return GRIDDEP_OK;
    }
    return judge_pair(graph, edge, reason, info, error);
}

/* ---- public ---- */

const char *griddep_audit_text(int32_t audit)
{
    static const char *const texts[] = {
        [GRIDDEP_AUDIT_OVERLAPS] = "overlaps: the edge is programmatic, the second kernel waits on every path",
        [GRIDDEP_AUDIT_NO_TRIGGER] = "overlaps at its tail alone: the first kernel never triggers",
        [GRIDDEP_AUDIT_LAUNCH_ORDER] = "overlaps from the start of the first kernel's blocks",
        [GRIDDEP_AUDIT_UNSAFE] = "races: the edge is programmatic, and the second kernel does not wait on every path",
        [GRIDDEP_AUDIT_UNKNOWN_WAIT] =
            "overlaps, and whether the second kernel waits is not known: its PTX is not known",
        [GRIDDEP_AUDIT_WRONG_PORT] =
            "races: the port is the start of the first kernel's blocks, and no wait helps on an edge that is not "
            "programmatic",
        [GRIDDEP_AUDIT_PLAIN] = "no overlap: the edge is plain; it could be programmatic, the second kernel waits",
        [GRIDDEP_AUDIT_OTHER_ORDER] = "no overlap: another node must end first",
        [GRIDDEP_AUDIT_NODE_BETWEEN] = "no overlap: a node that is no kernel stands between two kernels",
        [GRIDDEP_AUDIT_NOT_KERNELS] = "not between two kernels",
        [GRIDDEP_AUDIT_NO_WAIT] = "no overlap: the second kernel never executes griddepcontrol.wait",
        [GRIDDEP_AUDIT_WAIT_NOT_ALWAYS] = "no overlap: a path through the second kernel misses griddepcontrol.wait",
        [GRIDDEP_AUDIT_WRONG_END] =
            "no overlap: the first kernel waits and the second one triggers; it has to be the other way round",
        [GRIDDEP_AUDIT_UNKNOWN_CODE] =
            "no overlap: the second kernel's PTX is not known, so nobody can tell whether it "
            "waits",
        [GRIDDEP_AUDIT_OFF] = "no overlap: node, mode or runtime says off",
        [GRIDDEP_AUDIT_KILL_SWITCH] = "no overlap: switched off by GRIDDEP_PDL",
        [GRIDDEP_AUDIT_DEVICE] = "no overlap: the device is below sm_90",
        [GRIDDEP_AUDIT_DRIVER] = "no overlap: the driver is older than API 12.3, which has edges with ports",
        [GRIDDEP_AUDIT_NO_EDGE_DATA] = "not known: the driver does not tell ports and types of edges",
        [GRIDDEP_AUDIT_DISABLED] = "no overlap: one of both nodes is switched off",
        [GRIDDEP_AUDIT_CONDITIONAL] =
            "no overlap: a conditional node's bodies begin after the end of what leads to it, and end before what "
            "follows",
    };

    return audit >= 0 && audit < (int32_t)(sizeof texts / sizeof texts[0]) ? texts[audit] : "unknown audit";
}

int32_t griddep_graph_get_node(const griddep_graph *graph, uint32_t index, griddep_graph_node_info *info,
                               griddep_error *error)
{
    int32_t status = gd_graph_check(graph, error);

    if (!status)
        status = gd_graph_check_node(graph, index, error);
    if (status)
        return status;
    const gd_graph_node *node = &graph->nodes[index];
    const char *name = node->name ? node->name : node->kernel ? node->kernel->name : NULL;
    const griddep_graph_node_info known = {.size = sizeof known,
                                           .type = node->type,
                                           .name = node->type == GRIDDEP_GRAPH_NODE_KERNEL ? name
                                                                                           : gd_graph_node_type(node),
                                           .traits = node->traits,
                                           .enabled = node->enabled,
                                           .before_count = node->before.count,
                                           .after_count = node->after.count,
                                           .handle = node->handle};
    return gd_struct_write(info, &known, sizeof known, NODE_MINIMUM, "griddep_graph_node_info", error);
}

int32_t griddep_graph_get_edge(const griddep_graph *graph, uint32_t index, griddep_graph_edge_info *info,
                               griddep_error *error)
{
    griddep_graph_edge_info known;
    int32_t status = gd_graph_check(graph, error);

    if (status)
        return status;
    if (index >= graph->edge_count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the graph has %" PRIu32 " edges; there is no edge %" PRIu32, graph->edge_count, index);
    status = gd_graph_judge(graph, index, &known, error);
    return status ? status
                  : gd_struct_write(info, &known, sizeof known, EDGE_MINIMUM, "griddep_graph_edge_info", error);
}
