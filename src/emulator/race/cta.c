/* CTAs and their threads: clocks, what they let others know, waits, triggers and exits. */
#include <stdlib.h>
#include <string.h>

#include "emulator/race/core.h"

/* ---- lanes ---- */

uint32_t gd_lanes_alike(const gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    const gd_thread *threads = gd_thread_of(cta, warp, 0);
    const gd_clock *clock = threads[__builtin_ctz(mask)].clock;
    uint32_t alike = 0;

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        alike |= (uint32_t)(threads[lane].clock == clock) << lane;
    }
    return alike;
}

void gd_lanes_set(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_clock *clock)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        gd_thread *thread = gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(rest));
        gd_clock *old = thread->clock;
        thread->clock = gd_clock_hold(clock);
        gd_clock_drop(cta->race, old);
    }
}

void gd_lanes_acquire(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside *more)
{
    if (!more)
        return;
    while (mask) {
        uint32_t alike = gd_lanes_alike(cta, warp, mask);
        gd_clock *old = gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(mask))->clock;
        gd_clock *clock = gd_clock_acquire(cta->race, old, more, cta->uid);
        gd_lanes_set(cta, warp, alike, clock);
        gd_clock_drop(cta->race, clock);
        mask &= ~alike;
    }
}

/* ---- what others get to know ---- */

static void put(uint32_t *value, uint32_t stamp)
{
    if (stamp > *value)
        *value = stamp;
}

static uint32_t higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool any(const uint32_t *values, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        if (values[__builtin_ctz(rest)])
            return true;
    }
    return false;
}

gd_stamps *gd_publish(gd_race_cta *cta, uint32_t warp, uint32_t mask, const gd_clock *clock,
                      uint32_t stamp, uint32_t synced, const uint32_t *done)
{
    const gd_stamps *old = clock ? clock->stamps : NULL;
    const uint32_t first = warp * GD_RACE_LANES, base = old ? old->base : 0;
    const uint32_t all = synced > base ? UINT32_MAX : mask;
    uint32_t top = first + GD_RACE_LANES - (uint32_t)__builtin_clz(all);
    top = top < cta->threads ? top : cta->threads;
    const bool copies = done && any(done, mask);
    gd_stamps *stamps = gd_stamps_create(cta->race, base, higher(old ? old->count : 0, top),
                                         higher(old ? old->agents : 0, copies ? top : 0));

    if (!stamps)
        return NULL;
    if (old) {
        memcpy(stamps->values, old->values, old->count * sizeof *old->values);
        memcpy(stamps->values + stamps->count, old->values + old->count,
               old->agents * sizeof *old->values);
    }
    for (uint32_t i = first; i < top; i++) {
        if (synced > base)
            put(&stamps->values[i], synced);
        if (mask >> (i - first) & 1)
            put(&stamps->values[i], stamp);
        if (copies && (mask >> (i - first) & 1))
            put(&stamps->values[stamps->count + i], done[i - first]);
    }
    return stamps;
}

gd_outside *gd_publish_outside(gd_race_cta *cta, uint32_t warp, uint32_t mask,
                               const gd_clock *clock, uint32_t stamp, uint32_t synced,
                               const uint32_t *done)
{
    gd_race *race = cta->race;
    gd_outside *part = gd_outside_part(race, cta->uid, cta->task->number,
                                       gd_publish(cta, warp, mask, clock, stamp, synced, done));
    gd_outside *joined = gd_outside_join(race, clock ? clock->outside : NULL, part);

    gd_outside_drop(race, part);
    return joined;
}

static void get_done(const gd_race_cta *cta, uint32_t warp, uint32_t *done)
{
    for (uint32_t lane = 0; lane < GD_RACE_LANES; lane++)
        done[lane] = gd_thread_of(cta, warp, lane)->done;
}

void gd_gather(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **outside,
               gd_stamps **stamps)
{
    const gd_warp_record *record = &cta->warps[warp];
    const uint32_t all = mask;
    uint32_t done[GD_RACE_LANES];

    get_done(cta, warp, done);
    while (mask) {
        uint32_t alike = gd_lanes_alike(cta, warp, mask);
        const gd_clock *clock = gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(mask))->clock;
        gd_stamps *more = gd_publish(cta, warp, alike, clock, record->stamp, record->synced, done);
        gd_stamps *joined = gd_stamps_join(cta->race, *stamps, more);
        gd_stamps_drop(cta->race, *stamps);
        gd_stamps_drop(cta->race, more);
        *stamps = joined;
        gd_outside_add(cta->race, outside, clock ? clock->outside : NULL);
        mask &= ~alike;
    }
    gd_add_fences(cta, warp, all, outside);
}

void gd_gather_outside(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **outside)
{
    gd_stamps *stamps = NULL;

    if (!mask)
        return;
    gd_gather(cta, warp, mask, outside, &stamps);
    gd_outside *part = gd_outside_part(cta->race, cta->uid, cta->task->number, stamps);
    gd_outside_add(cta->race, outside, part);
    gd_outside_drop(cta->race, part);
}

/* ---- creation ---- */

static void link_cta(gd_race_cta *cta)
{
    gd_race *race = cta->race;

    cta->next = race->ctas;
    if (race->ctas)
        race->ctas->previous = cta;
    race->ctas = cta;
}

static void unlink_cta(gd_race_cta *cta)
{
    if (cta->previous)
        cta->previous->next = cta->next;
    else
        cta->race->ctas = cta->next;
    if (cta->next)
        cta->next->previous = cta->previous;
}

/* Its tables; threads round up to whole warps. */
static bool fill(gd_race_cta *cta, uint32_t shared_start, uint32_t shared_bytes)
{
    gd_race *race = cta->race;
    const uint32_t threads = cta->warp_count * GD_RACE_LANES;

    cta->warps = gd_race_take(race, cta->warp_count * sizeof *cta->warps);
    cta->thread = gd_race_take(race, threads * sizeof *cta->thread);
    cta->shared = gd_shadow_make(race, shared_start, shared_bytes, false, true);
    gd_clock *clock =
        cta->task->start ? gd_clock_create(race, gd_outside_hold(cta->task->start), NULL) : NULL;
    if (race->stopped) {
        gd_clock_drop(race, clock);
        return false;
    }
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        uint32_t left = cta->threads - i * GD_RACE_LANES;
        cta->warps[i].stamp = cta->sequence;
        cta->warps[i].live = left < GD_RACE_LANES ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
        gd_lanes_set(cta, i, cta->warps[i].live, clock);
    }
    gd_clock_drop(race, clock);
    return true;
}

gd_race_cta *gd_race_cta_create(gd_race *race, gd_race_task *task, const uint32_t position[3],
                                uint32_t threads, uint32_t shared_start, uint32_t shared_bytes)
{
    if (!race || !task || race->stopped)
        return NULL;
    if (race->uid_last == UINT32_MAX || !threads || threads > GD_RACE_WARPS * GD_RACE_LANES) {
        gd_race_stop(race);
        return NULL;
    }
    gd_race_cta *cta = gd_race_take(race, sizeof *cta);
    if (!cta)
        return NULL;
    const gd_race_task_info *info = &task->desc->info;
    cta->race = race;
    cta->task = task;
    task->refs++;
    cta->uid = ++race->uid_last;
    cta->number = (position[2] * info->grid[1] + position[1]) * info->grid[0] + position[0];
    cta->cluster = gd_desc_cluster(task->desc, position);
    cta->device = task->desc->info.device;
    cta->threads = threads;
    cta->warp_count = (threads + GD_RACE_LANES - 1) / GD_RACE_LANES;
    cta->sequence = 1;
    link_cta(cta);
    if (fill(cta, shared_start, shared_bytes))
        return cta;
    gd_race_cta_destroy(race, cta);
    return NULL;
}

/* ---- end ---- */

static void free_sync(gd_race *race, gd_thread_sync *sync)
{
    for (uint32_t lane = 0; sync && lane < GD_RACE_LANES; lane++) {
        for (uint32_t level = 0; level < GD_LEVELS; level++) {
            gd_clock_drop(race, sync[lane].release[level].clock);
            gd_outside_drop(race, sync[lane].pending[level]);
        }
        gd_clock_drop(race, sync[lane].fence_sc.clock);
        gd_clock_drop(race, sync[lane].told.clock);
    }
    gd_race_give(race, sync, GD_RACE_LANES * sizeof *sync);
}

static void free_warps(gd_race_cta *cta)
{
    for (uint32_t i = 0; cta->warps && i < cta->warp_count; i++) {
        gd_warp_record *warp = &cta->warps[i];
        free_sync(cta->race, warp->sync);
        gd_race_give(cta->race, warp->commits, warp->commit_capacity * sizeof *warp->commits);
        gd_race_give(cta->race, warp->groups, warp->group_capacity * sizeof *warp->groups);
    }
    for (uint32_t i = 0; cta->thread && i < cta->warp_count * GD_RACE_LANES; i++)
        gd_clock_drop(cta->race, cta->thread[i].clock);
    gd_race_give(cta->race, cta->warps, cta->warp_count * sizeof *cta->warps);
    gd_race_give(cta->race, cta->thread, cta->warp_count * GD_RACE_LANES * sizeof *cta->thread);
}

static void free_barriers(gd_race_cta *cta)
{
    gd_race *race = cta->race;

    for (uint32_t i = 0; i < GD_RACE_BARRIERS; i++) {
        gd_barrier_record *barrier = cta->barriers[i];
        if (!barrier)
            continue;
        gd_outside_drop(race, barrier->outside);
        gd_stamps_drop(race, barrier->stamps);
        gd_race_give(race, barrier, sizeof *barrier);
    }
    for (gd_race_mbarrier *item = cta->mbarriers, *next; item; item = next) {
        next = item->next;
        gd_outside_drop(race, item->pending);
        gd_outside_drop(race, item->ready);
        gd_race_give(race, item, sizeof *item);
    }
    gd_outside_drop(race, cta->cluster_pending);
    gd_outside_drop(race, cta->cluster_ready);
}

void gd_race_cta_destroy(gd_race *race, gd_race_cta *cta)
{
    if (!cta)
        return;
    if (cta->shared)
        gd_shadow_free(race, cta->shared);
    free_warps(cta);
    free_barriers(cta);
    gd_race_give(race, cta->channels, cta->channel_capacity * sizeof *cta->channels);
    gd_race_give(race, cta->issued, cta->issued_capacity * sizeof *cta->issued);
    unlink_cta(cta);
    gd_task_drop(cta->task);
    gd_race_give(race, cta, sizeof *cta);
}

bool gd_race_knows_start(const gd_race_cta *cta, uint32_t warp, uint32_t lane,
                         const gd_race_cta *other)
{
    if (!cta || !other || cta->race->stopped || !cta->race->options.shared)
        return true;
    const gd_clock *clock = gd_thread_of(cta, warp, lane)->clock;
    return clock && gd_outside_find(clock->outside, other->uid);
}

/* ---- dependent launch ---- */

void gd_race_grid_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped)
        return;
    gd_lanes_acquire(cta, warp, mask, cta->task->wait);
    cta->warps[warp].waited |= mask;
    cta->task->desc->some_waited = true;
}

/* The CTA has triggered when the first of its threads has: what others fence and trigger later,
 * dependents may have started before. */
void gd_race_trigger(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped || cta->triggered)
        return;
    cta->triggered = true;
    for (uint32_t rest = mask; rest && cta->warps[warp].sync; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (!cta->warps[warp].sync[lane].release[GD_LEVEL_GPU].stamp)
            continue;
        gd_outside *outside = gd_release_outside(cta, warp, lane, GD_LEVEL_GPU);
        gd_outside_add(cta->race, &cta->task->trigger, outside);
        gd_outside_drop(cta->race, outside);
    }
}

/* What a thread knew happened before the end of its grid. */
void gd_race_exit(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped)
        return;
    cta->warps[warp].live &= ~mask;
    while (mask) {
        const gd_clock *clock = gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(mask))->clock;
        if (clock)
            gd_outside_add(cta->race, &cta->task->completion, clock->outside);
        mask &= ~gd_lanes_alike(cta, warp, mask);
    }
}
