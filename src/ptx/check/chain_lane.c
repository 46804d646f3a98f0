/* Chains with several lanes: what is ordered before each launch, and hazards between lanes. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/chain.h"
#include "ptx/flow/early.h"

/* ---- order ---- */

/* What is before another launch is before this one, and so is that launch itself. */
static void see(gd_checked_chain *chain, gd_checked_launch *launch, uint32_t other)
{
    const gd_checked_launch *before = &chain->launches[other];

    for (uint32_t i = 0; i < chain->lane_count; i++) {
        if (before->seen[i] > launch->seen[i])
            launch->seen[i] = before->seen[i];
    }
    if (other + 1 > launch->seen[before->given.lane])
        launch->seen[before->given.lane] = other + 1;
}

static int32_t see_all(gd_checked_chain *chain, gd_arena *arena, uint32_t index,
                       griddep_error *error)
{
    gd_checked_launch *launch = &chain->launches[index];

    launch->seen = gd_arena_array(arena, chain->lane_count, sizeof *launch->seen);
    if (!launch->seen)
        return gd_error_memory(error);
    if (launch->previous != GD_PTX_NONE)
        see(chain, launch, launch->previous);
    for (uint32_t i = 0; i < launch->given.after_count; i++)
        see(chain, launch, launch->given.after[i]);
    return GRIDDEP_OK;
}

int32_t gd_order_place(gd_checked_chain *chain, gd_arena *arena, griddep_error *error)
{
    uint32_t *last = gd_arena_array(arena, (size_t)chain->count + 1, sizeof *last);
    int32_t status = last ? GRIDDEP_OK : gd_error_memory(error);

    for (uint32_t i = 0; i < chain->count && !status; i++) {
        gd_checked_launch *launch = &chain->launches[i];
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

static void check_order(gd_checked_chain *chain, uint32_t use)
{
    const gd_buffer_use *own = &chain->uses[use];
    const gd_checked_launch *launch = &chain->launches[own->launch];

    for (uint32_t i = use; i-- > 0 && chain->uses[i].part == own->part;) {
        const gd_buffer_use *other = &chain->uses[i];
        const gd_checked_launch *earlier = &chain->launches[other->launch];
        if (earlier->given.lane == launch->given.lane ||
            launch->seen[earlier->given.lane] > other->launch || !gd_order_conflict(own, other))
            continue;
        const char *words;
        const int32_t weight = gd_order_weigh(own, other, &words);
        gd_order_add(chain, own->launch, weight, GD212, GD_PTX_NONE, "let one wait for the other",
                     "%s %s %s, launch %" PRIu32
                     " (%s) %s it in another lane, and nothing orders them%s",
                     launch->kernel_name, gd_order_touch_verb(own),
                     gd_order_parameter_name(launch, own->argument), other->launch, earlier->name,
                     gd_order_touch_verb(other), words);
        return;
    }
}

/* ---- what may still run, across lanes ---- */

/* Sets of launches, by launch: those that may still run when it begins, and those that may behind
 * its wait. */
typedef struct beside {
    uint64_t *before, *behind;
    size_t words; /* of a set */
    uint32_t
        *looks; /* by lane: the last look at a set that has launches of it, and the first and */
    uint32_t *first, *last; /* the last of them */
    uint32_t look;
} beside;

static uint64_t *set_of(uint64_t *sets, const beside *at, uint32_t index)
{
    return sets + index * at->words;
}

static void join(uint64_t *target, const uint64_t *more, size_t words)
{
    for (size_t i = 0; i < words; i++)
        target[i] |= more[i];
}

/* A launch that does not wait on every path has a plain edge, and begins when what it waits for in
 * another lane has ended. */
static bool begins_early(const gd_checked_launch *launch)
{
    return launch->given.node == GRIDDEP_GRAPH_NODE_KERNEL && launch->attribute &&
           gd_early_kernel(gd_order_traits(launch)) == GRIDDEP_REASON_SET;
}

/* `on` is waited for, and has let the launch begin: what `on` itself began beside may run too,
 * unless its trigger, or for what stands behind the launch's wait its end, is behind its own
 * wait. */
static void add(const gd_checked_chain *chain, const beside *at, uint32_t index, uint32_t on)
{
    const gd_checked_launch *waited = &chain->launches[on];
    uint64_t *before = set_of(at->before, at, index), *behind = set_of(at->behind, at, index);
    const uint64_t *on_before = set_of(at->before, at, on), *on_behind = set_of(at->behind, at, on);

    if (waited->given.node != GRIDDEP_GRAPH_NODE_KERNEL)
        return;
    before[on / 64] |= UINT64_C(1) << on % 64;
    join(before, gd_order_covers_trigger(waited) ? on_behind : on_before, at->words);
    join(behind, gd_order_covers(waited) ? on_behind : on_before, at->words);
}

/* The first launch of a set from `from` on; count: there is none. */
static uint32_t next_of(const uint64_t *set, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; i < count; i = (i | 63) + 1) {
        const uint64_t rest = set[i / 64] >> i % 64;
        if (rest)
            return i + (uint32_t)__builtin_ctzll(rest);
    }
    return count;
}

static uint32_t between_of(const gd_checked_launch *launch)
{
    return launch->given.after_count ? launch->given.after[0] : launch->previous;
}

/* Which lanes have launches in a set, in front of one. */
static void note_lanes(const gd_checked_chain *chain, beside *at, const uint64_t *set, uint32_t end)
{
    at->look++;
    for (uint32_t i = next_of(set, 0, end); i < end; i = next_of(set, i + 1, end)) {
        const uint32_t lane = chain->launches[i].given.lane;
        if (at->looks[lane] != at->look)
            at->first[lane] = i;
        at->looks[lane] = at->look;
        at->last[lane] = i;
    }
}

/* A use beside what a set has of each lane; the stretch of its own lane has been looked at, from
 * `own_end` on. */
static void look_beside(gd_checked_chain *chain, beside *at, uint32_t use, const uint64_t *set,
                        uint32_t own_end, bool behind_wait)
{
    const uint32_t index = chain->uses[use].launch, first = next_of(set, 0, index);
    const gd_checked_launch *launch = &chain->launches[index];

    note_lanes(chain, at, set, index);
    for (uint32_t lane = 0; lane < chain->lane_count && first < index; lane++) {
        if (at->looks[lane] != at->look)
            continue;
        uint32_t between = between_of(launch), end = at->last[lane] + 1;
        for (uint32_t k = 0; k < launch->given.after_count; k++) {
            if (chain->launches[launch->given.after[k]].given.lane == lane)
                between = launch->given.after[k];
        }
        if (lane == launch->given.lane && own_end < end)
            end = own_end;
        const gd_launch_stretch stretch = {lane, at->first[lane], end, set};
        gd_order_look_back(chain, use, &stretch, between, behind_wait);
    }
}

static int32_t check_beside(gd_checked_chain *chain, gd_arena *arena, griddep_error *error)
{
    beside at = {.words = chain->count / 64 + 1};

    at.before = gd_arena_array(arena, chain->count * at.words, sizeof *at.before);
    at.behind = gd_arena_array(arena, chain->count * at.words, sizeof *at.behind);
    at.looks = gd_arena_array(arena, chain->lane_count, sizeof *at.looks);
    at.first = gd_arena_array(arena, chain->lane_count, sizeof *at.first);
    at.last = gd_arena_array(arena, chain->lane_count, sizeof *at.last);
    if (!at.before || !at.behind || !at.looks || !at.first || !at.last)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_checked_launch *launch = &chain->launches[i];
        const uint64_t *before = set_of(at.before, &at, i), *behind = set_of(at.behind, &at, i);
        if (launch->overlaps)
            add(chain, &at, i, launch->previous);
        for (uint32_t k = 0; k < launch->given.after_count && begins_early(launch); k++)
            add(chain, &at, i, launch->given.after[k]);
        for (uint32_t k = next_of(before, 0, i); k < i; k = next_of(before, k + 1, i)) {
            if (chain->launches[k].given.lane != launch->given.lane || k < launch->before)
                gd_order_check_anywhere(chain, i, k, between_of(launch), false);
        }
        for (uint32_t k = next_of(behind, 0, i); k < i; k = next_of(behind, k + 1, i)) {
            if (chain->launches[k].given.lane != launch->given.lane || k < launch->after ||
                k >= launch->after_end)
                gd_order_check_anywhere(chain, i, k, between_of(launch), true);
        }
    }
    for (uint32_t i = 0; i < chain->use_count; i++) {
        const uint32_t index = chain->uses[i].launch;
        const gd_checked_launch *launch = &chain->launches[index];
        look_beside(chain, &at, i, set_of(at.behind, &at, index),
                    launch->after < launch->after_end ? launch->after : index, true);
        look_beside(chain, &at, i, set_of(at.before, &at, index), launch->before, false);
    }
    return GRIDDEP_OK;
}

int32_t gd_order_check_lanes(gd_checked_chain *chain, gd_arena *arena, griddep_error *error)
{
    if (chain->lane_count < 2)
        return GRIDDEP_OK;
    for (uint32_t i = 0; i < chain->use_count; i++)
        check_order(chain, i);
    return check_beside(chain, arena, error);
}
