/* Chains with several lanes: what is ordered before each launch, and hazards between lanes. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/chain.h"

/* ---- order ---- */

/* What is before another launch is before this one, and so is that launch itself. */
static void see(gd_chain *chain, gd_chain_launch *launch, uint32_t other)
{
    const gd_chain_launch *before = &chain->launches[other];

    for (uint32_t i = 0; i < chain->lane_count; i++) {
        if (before->seen[i] > launch->seen[i])
            launch->seen[i] = before->seen[i];
    }
    if (other + 1 > launch->seen[before->given.lane])
        launch->seen[before->given.lane] = other + 1;
}

static int32_t see_all(gd_chain *chain, gd_arena *arena, uint32_t index, griddep_error *error)
{
    gd_chain_launch *launch = &chain->launches[index];

    launch->seen = gd_arena_array(arena, chain->lane_count, sizeof *launch->seen);
    if (!launch->seen)
        return gd_error_memory(error);
    if (launch->previous != GD_PTX_NONE)
        see(chain, launch, launch->previous);
    for (uint32_t i = 0; i < launch->given.after_count; i++)
        see(chain, launch, launch->given.after[i]);
    return GRIDDEP_OK;
}

int32_t gd_chain_place(gd_chain *chain, gd_arena *arena, griddep_error *error)
{
    uint32_t *last = gd_arena_array(arena, (size_t)chain->count + 1, sizeof *last);
    int32_t status = last ? GRIDDEP_OK : gd_error_memory(error);

    for (uint32_t i = 0; i < chain->count && !status; i++) {
        gd_chain_launch *launch = &chain->launches[i];
        uint32_t lane = launch->given.lane;
        if (lane > chain->lane_count)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "launch %" PRIu32 ": lane %" PRIu32 ", and there are %" PRIu32
                                " before it; lanes are numbered without gaps",
                                i, lane, chain->lane_count);
        if (lane == chain->lane_count)
            last[chain->lane_count++] = GD_PTX_NONE;
        launch->previous = last[lane];
        last[lane] = i;
    }
    for (uint32_t i = 0; i < chain->count && !status && chain->lane_count > 1; i++)
        status = see_all(chain, arena, i, error);
    return status;
}

/* ---- what nothing orders ---- */

static void check_order(gd_chain *chain, uint32_t use)
{
    const gd_buffer_use *own = &chain->uses[use];
    const gd_chain_launch *launch = &chain->launches[own->launch];

    for (uint32_t i = use; i-- > 0 && chain->uses[i].buffer == own->buffer;) {
        const gd_buffer_use *other = &chain->uses[i];
        const gd_chain_launch *earlier = &chain->launches[other->launch];
        if (earlier->given.lane == launch->given.lane ||
            launch->seen[earlier->given.lane] > other->launch || !(own->writes || other->writes) ||
            !gd_chain_meet(own, other))
            continue;
        gd_chain_add(chain, own->launch, 0, GD212, GD_PTX_NONE, "let one wait for the other",
                     "%s %s %s, launch %" PRIu32
                     " (%s) %s it in another lane, and nothing orders them",
                     launch->kernel_name, gd_chain_touch_verb(own),
                     gd_chain_parameter_name(launch, own->argument), other->launch, earlier->name,
                     gd_chain_touch_verb(other));
        return;
    }
}

/* ---- where one lane waits for another ---- */

/* The launch that is waited for may be in its last part when this one begins, and with it what may
 * run beside it then. */
static void check_wait(gd_chain *chain, uint32_t use, uint32_t on)
{
    const gd_chain_launch *before = &chain->launches[on];
    uint32_t from = on, lane = before->given.lane;

    if (before->given.node != GD_CHECK_KERNEL)
        return;
    if (before->overlaps) {
        bool covers = before->kernel && before->kernel->covers;
        if (!covers || !before->kernel->covers_trigger)
            from = before->before;
        else if (before->after < before->after_end)
            from = before->after;
        uint32_t after = covers ? before->after : before->before,
                 after_end = covers ? before->after_end : on;
        if (after < after_end)
            gd_chain_look_back(chain, use, lane, after, after_end, on, true);
    }
    gd_chain_look_back(chain, use, lane, from, on + 1, on, false);
}

/* A launch that does not wait on every path has a plain edge, and begins when what it waits for has
 * ended. */
static bool begins_early(const gd_chain_launch *launch)
{
    return launch->given.node == GD_CHECK_KERNEL && launch->attribute && launch->kernel &&
           launch->kernel->function->traits & GRIDDEP_TRAIT_WAITS_ALWAYS;
}

void gd_chain_check_lanes(gd_chain *chain)
{
    if (chain->lane_count < 2)
        return;
    for (uint32_t i = 0; i < chain->use_count; i++) {
        const gd_chain_launch *launch = &chain->launches[chain->uses[i].launch];
        check_order(chain, i);
        for (uint32_t k = 0; k < launch->given.after_count && begins_early(launch); k++) {
            if (chain->launches[launch->given.after[k]].given.lane != launch->given.lane)
                check_wait(chain, i, launch->given.after[k]);
        }
    }
}
