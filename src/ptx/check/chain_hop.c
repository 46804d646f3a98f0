/* Overlap that a chain loses. */
#include <inttypes.h>

#include "ptx/check/chain.h"

static bool is_kernel(const gd_checked_chain *chain, uint32_t index)
{
    return chain->launches[index].given.node == GRIDDEP_GRAPH_NODE_KERNEL;
}

static const char *node_name(int32_t node)
{
    switch (node) {
    case GRIDDEP_GRAPH_NODE_FILL:
        return "a memset";
    case GRIDDEP_GRAPH_NODE_HOST:
        return "a host function";
    default:
        return "a copy";
    }
}

static uint32_t next_in_lane(const gd_checked_chain *chain, uint32_t index)
{
    uint32_t next = index + 1;

    while (next < chain->count &&
           chain->launches[next].given.lane != chain->launches[index].given.lane)
        next++;
    return next;
}

/* The first node of a run that is no kernel, between a kernel and one that would be launched
 * dependently. */
static void check_node(gd_checked_chain *chain, uint32_t index)
{
    uint32_t next = index, before = chain->launches[index].previous;

    if (before == GD_PTX_NONE || !is_kernel(chain, before))
        return;
    while (next < chain->count && !is_kernel(chain, next))
        next = next_in_lane(chain, next);
    if (next == chain->count || !chain->launches[next].attribute)
        return;
    gd_order_add(chain, index, 0, GD203, GD_PTX_NONE, "move it out from between the kernels",
                 "%s stands between launch %" PRIu32 " (%s) and launch %" PRIu32
                 " (%s): they do not overlap",
                 node_name(chain->launches[index].given.node), before, chain->launches[before].name,
                 next, chain->launches[next].name);
}

/* Why a forced launch cannot be dependent, or is no more so than at auto; NULL when it can. */
static const char *lack(const gd_checked_chain *chain, uint32_t index)
{
    const gd_checked_launch *launch = &chain->launches[index];

    if (launch->previous != GD_PTX_NONE)
        return is_kernel(chain, launch->previous) ? NULL : "it does not follow a kernel";
    if (launch->given.after_count)
        return "it is the first of its lane: after launches of other lanes it starts early as at "
               "auto";
    return index
               ? "it is the first launch of its lane, and earlier work is not known"
               : "it is the first launch of the chain, and earlier work in the stream is not known";
}

static void check_launch(gd_checked_chain *chain, uint32_t index)
{
    const gd_checked_launch *launch = &chain->launches[index];
    const char *missing = launch->given.pdl == GRIDDEP_PDL_FORCE ? lack(chain, index) : NULL;

    if (missing)
        gd_order_add(chain, index, 0, GD204, GD_PTX_NONE, "leave the launch at auto",
                     "%s is forced to be launched dependently, but %s", launch->kernel_name,
                     missing);
    uint32_t previous = launch->previous;
    if (previous == GD_PTX_NONE || !is_kernel(chain, previous))
        return;
    const gd_checked_launch *before = &chain->launches[previous];
    if (launch->overlaps && before->kernel && !before->kernel->report.has_trigger &&
        launch->kernel && launch->kernel->report.has_wait)
        gd_order_add(chain, index, 0, GD208, GD_PTX_NONE, "add a trigger to the kernel before",
                     "%s waits, and launch %" PRIu32
                     " (%s) never triggers: only the launch latency overlaps",
                     launch->kernel_name, previous, before->name);
    if (!launch->attribute && launch->kernel && launch->given.pdl <= GRIDDEP_PDL_AUTO)
        gd_order_add(
            chain, index, 0, GD211, GD_PTX_NONE, "insert a wait (griddep rewrite)",
            "%s is not launched dependently: %s%s%s", launch->kernel_name,
            launch->kernel->report.has_wait ? "not every path through it waits" : "it has no wait",
            launch->kernel->dry_path.bytes ? "; " : "", gd_text_get(&launch->kernel->dry_path));
}

void gd_order_check_hops(gd_checked_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        if (is_kernel(chain, i))
            check_launch(chain, i);
        else
            check_node(chain, i);
    }
}
