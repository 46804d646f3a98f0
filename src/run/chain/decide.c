/* What a chain decides about early starts: which launches set attribute 6 in a mode, which edges
 * are programmatic, and whose trigger other lanes may follow. */
#include "run/chain/chain.h"
#include "run/launch/early.h"

/* ---- kinds ---- */

bool gd_chain_is_graph(int32_t mode)
{
    return mode == GRIDDEP_MODE_GRAPH || mode == GRIDDEP_MODE_GRAPH_PDL;
}

bool gd_chain_overlaps(int32_t mode)
{
    return mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL;
}

bool gd_chain_is_kernel(const griddep_chain *chain, uint32_t index)
{
    return chain->launches[index].given.node == GRIDDEP_GRAPH_NODE_KERNEL;
}

/* ---- pairs ---- */

int32_t gd_chain_pdl(const griddep_chain *chain, int32_t mode, uint32_t index)
{
    return gd_chain_overlaps(mode) && gd_chain_is_kernel(chain, index)
               ? chain->now->calls[index]->launch.pdl
               : GRIDDEP_PDL_OFF;
}

/* Of a lane's first launch, the last one that it depends on: it begins behind an event, without
 * attribute 6, which would be about what stood before in the stream. */
uint32_t gd_chain_previous(const gd_chain_launch *launch)
{
    uint32_t previous = launch->previous;

    for (uint32_t i = 0; i < launch->given.after_count && launch->previous == GD_CHAIN_NONE; i++) {
        if (previous == GD_CHAIN_NONE || launch->given.after[i] > previous)
            previous = launch->given.after[i];
    }
    return previous;
}

static uint32_t traits_of(const griddep_chain *chain, uint32_t index)
{
    return chain->now->calls[index]->kernel->info.traits;
}

/* Why an event that a launch records is not one of its trigger. */
static int32_t decide_event(const griddep_chain *chain, uint32_t index)
{
    const gd_chain_launch *launch = &chain->launches[index];
    int32_t obstacle = gd_early_obstacle(chain->runtime, gd_chain_call(launch)->launch.pdl,
                                         GD_EARLY_TRIGGER_EVENT);

    return obstacle == GRIDDEP_REASON_FORCED ? GRIDDEP_REASON_PLAIN : obstacle;
}

/* Of two launches that are not both kernels; the audit of graphs says the same (graph/audit.c). */
static int32_t decide_other(const griddep_chain *chain, uint32_t from, uint32_t to)
{
    const bool first = gd_chain_is_kernel(chain, from), second = gd_chain_is_kernel(chain, to);
    const gd_chain_launch *between = &chain->launches[first ? to : from];

    return (first || second) && between->behind_kernel && between->before_kernel
               ? GRIDDEP_REASON_NODE_BETWEEN
               : GRIDDEP_REASON_NOT_KERNELS;
}

/* Of two kernels, of which the second is forced only beside those of its lane. */
static int32_t decide_kernels(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to,
                              bool in_lane)
{
    const int32_t pdl = gd_chain_pdl(chain, mode, to);
    const int32_t obstacle = gd_early_obstacle(chain->runtime, pdl, GD_EARLY_LAUNCH);
    const int32_t pair = gd_early_pair(traits_of(chain, from), traits_of(chain, to));

    if (obstacle != GRIDDEP_REASON_FORCED)
        return obstacle;
    if (pair != GRIDDEP_REASON_SET && !(pdl == GRIDDEP_PDL_FORCE && in_lane))
        return pair;
    if (chain->launches[to].held && pdl != GRIDDEP_PDL_FORCE)
        return GRIDDEP_REASON_RACE;
    if (!in_lane && !gd_chain_is_graph(mode) && !chain->launches[from].early)
        return decide_event(chain, from);
    return pdl == GRIDDEP_PDL_FORCE ? GRIDDEP_REASON_FORCED : GRIDDEP_REASON_SET;
}

int32_t gd_chain_decide_after(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to)
{
    if (!gd_chain_is_kernel(chain, from) || !gd_chain_is_kernel(chain, to))
        return decide_other(chain, from, to);
    return decide_kernels(chain, mode, from, to, chain->launches[to].previous == from);
}

/* ---- launches ---- */

int32_t gd_chain_decide(const griddep_chain *chain, int32_t mode, uint32_t index)
{
    const uint32_t previous = gd_chain_previous(&chain->launches[index]);
    const int32_t pdl = gd_chain_pdl(chain, mode, index);

    if (previous != GD_CHAIN_NONE)
        return gd_chain_decide_after(chain, mode, previous, index);
    if (!gd_chain_is_kernel(chain, index))
        return GRIDDEP_REASON_FIRST;
    const int32_t obstacle = gd_early_obstacle(chain->runtime, pdl, GD_EARLY_LAUNCH);
    return obstacle != GRIDDEP_REASON_FORCED || pdl == GRIDDEP_PDL_FORCE ? obstacle
                                                                         : GRIDDEP_REASON_FIRST;
}

int32_t gd_chain_decide_round(const griddep_chain *chain, int32_t mode)
{
    const uint32_t last = chain->last[0];

    if (chain->lane_count > 1)
        return GRIDDEP_REASON_OTHER_ORDER;
    if (!gd_chain_is_kernel(chain, last) || !gd_chain_is_kernel(chain, 0))
        return gd_chain_is_kernel(chain, last) || gd_chain_is_kernel(chain, 0)
                   ? GRIDDEP_REASON_NODE_BETWEEN
                   : GRIDDEP_REASON_NOT_KERNELS;
    int32_t reason = decide_kernels(chain, mode, last, 0, true);
    return reason == GRIDDEP_REASON_SET && chain->now->proof != 1 ? GRIDDEP_REASON_ROUND : reason;
}

/* ---- triggers ---- */

/* A launch has one such event, and one that says off records none. */
static bool may_record_trigger(const griddep_chain *chain, const gd_call *call)
{
    return gd_early_obstacle(chain->runtime, call->launch.pdl, GD_EARLY_TRIGGER_EVENT) ==
               GRIDDEP_REASON_FORCED &&
           !gd_launch_find_attribute(&call->launch, GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
}

/* The event of a trigger is enough where all that wait for it execute griddepcontrol.wait on every
 * path. */
static bool may_follow_trigger(const gd_chain_launch *launch)
{
    const griddep_kernel *kernel = gd_chain_kernel(launch);

    return kernel && !launch->held &&
           gd_launch_decide(kernel, gd_chain_call(launch)->launch.pdl) <= GRIDDEP_REASON_FORCED &&
           gd_early_kernel(kernel->info.traits) == GRIDDEP_REASON_SET;
}

void gd_chain_decide_trigger(const griddep_chain *chain, gd_chain_launch *launch)
{
    launch->early = gd_chain_call(launch) && may_record_trigger(chain, gd_chain_call(launch));
}

void gd_chain_follow_trigger(griddep_chain *chain, const gd_chain_launch *launch)
{
    for (uint32_t i = 0; i < launch->given.after_count && !may_follow_trigger(launch); i++)
        chain->launches[launch->given.after[i]].early = false;
}

void gd_chain_decide_triggers(griddep_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++)
        gd_chain_decide_trigger(chain, &chain->launches[i]);
    for (uint32_t i = 0; i < chain->count; i++)
        gd_chain_follow_trigger(chain, &chain->launches[i]);
}
