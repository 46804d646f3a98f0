/* What the threads of a CTA, or of a cluster, order among themselves: barriers, meetings of a warp,
 * mbarriers, groups of asynchronous copies. */
#include <string.h>

#include "emulator/race/core.h"

enum { MOST_COMMITS = 4096, WARPGROUP = 4 /* warps */ };

static uint32_t higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- barriers of the CTA ---- */

static gd_barrier_record *get_barrier(gd_race_cta *cta, uint32_t number)
{
    gd_barrier_record **place = &cta->barriers[number % GD_RACE_BARRIERS];

    if (!*place)
        *place = gd_race_take(cta->race, sizeof **place);
    return *place;
}

void gd_race_barrier_arrive(gd_race_cta *cta, uint32_t number, uint32_t warp, uint32_t mask,
                            bool waits)
{
    gd_barrier_record *barrier = cta && !cta->race->stopped ? get_barrier(cta, number) : NULL;

    if (!barrier || !mask)
        return;
    if (waits) {
        barrier->waiting[warp] |= mask;
        return;
    }
    barrier->any = true;
    gd_gather(cta, warp, mask, &barrier->outside, &barrier->stamps);
    gd_raise(cta, warp);
}

/* Whether all threads that live wait here: then what they, and those that have exited, did lies
 * below the present stamp. */
static bool is_whole(const gd_race_cta *cta, const gd_barrier_record *barrier)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        if (barrier->waiting[i] != cta->warps[i].live)
            return false;
    }
    return !barrier->any;
}

static void fold(gd_stamps *sum, const gd_stamps *more)
{
    if (!more)
        return;
    sum->base = higher(sum->base, more->base);
    for (uint32_t i = 0; i < more->count && i < sum->count; i++)
        sum->values[i] = higher(sum->values[i], more->values[i]);
    for (uint32_t i = 0; i < more->agents && i < sum->agents; i++)
        sum->values[sum->count + i] =
            higher(sum->values[sum->count + i], more->values[more->count + i]);
}

static bool has_copies(const gd_race_cta *cta)
{
    if (cta->channel_count)
        return true;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        if (cta->warps[i].commit_capacity)
            return true;
    }
    return false;
}

static void fold_warp(gd_race_cta *cta, const gd_barrier_record *barrier, uint32_t number,
                      gd_stamps *sum, gd_outside **outside)
{
    const gd_warp_record *warp = &cta->warps[number];
    const gd_clock *last = NULL;

    for (uint32_t rest = barrier->waiting[number]; rest; rest &= rest - 1) {
        const uint32_t thread = number * GD_RACE_LANES + (uint32_t)__builtin_ctz(rest);
        const gd_clock *clock = cta->thread[thread].clock;
        if (clock && clock != last) {
            fold(sum, clock->stamps);
            gd_outside_add(cta->race, outside, clock->outside);
            last = clock;
        }
        if (thread < sum->count)
            sum->values[thread] = higher(sum->values[thread], warp->stamp);
        if (thread < sum->agents)
            sum->values[sum->count + thread] =
                higher(sum->values[sum->count + thread], cta->thread[thread].done);
    }
    gd_add_fences(cta, number, barrier->waiting[number], outside);
    for (uint32_t i = 0; barrier->waiting[number] && warp->synced && i < GD_RACE_LANES; i++) {
        const uint32_t thread = number * GD_RACE_LANES + i;
        if (thread < sum->count)
            sum->values[thread] = higher(sum->values[thread], warp->synced);
    }
}

void gd_race_barrier_complete(gd_race_cta *cta, uint32_t number)
{
    gd_barrier_record *barrier = cta && !cta->race->stopped ? get_barrier(cta, number) : NULL;

    if (!barrier)
        return;
    gd_race *race = cta->race;
    const bool whole = is_whole(cta, barrier);
    gd_outside *outside = gd_outside_hold(barrier->outside);
    gd_stamps *stamps = gd_stamps_create(race, whole ? cta->sequence : 0, whole ? 0 : cta->threads,
                                         has_copies(cta) ? cta->threads + cta->channel_count : 0);
    for (uint32_t i = 0; stamps && i < cta->warp_count; i++)
        fold_warp(cta, barrier, i, stamps, &outside);
    if (stamps)
        fold(stamps, barrier->stamps);
    gd_clock *clock = gd_clock_create(race, outside, stamps);
    cta->sequence++;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_lanes_set(cta, i, barrier->waiting[i], clock);
        gd_forget_fences(cta, i, barrier->waiting[i]);
        if (barrier->waiting[i])
            cta->warps[i].stamp = cta->sequence;
    }
    gd_clock_drop(race, clock);
    gd_outside_drop(race, barrier->outside);
    gd_stamps_drop(race, barrier->stamps);
    *barrier = (gd_barrier_record){0};
}

/* ---- meetings of a warp ---- */

static bool has_new_copies(const gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest);
        const gd_thread *thread = gd_thread_of(cta, warp, lane);
        if (thread->done > gd_stamps_agent(thread->clock ? thread->clock->stamps : NULL,
                                           warp * GD_RACE_LANES + lane))
            return true;
    }
    return false;
}

void gd_race_warp_sync(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped)
        return;
    gd_warp_record *record = &cta->warps[warp];
    mask &= record->live;
    if (!(mask & (mask - 1)))
        return;
    const bool whole = mask == record->live;
    if (!whole || gd_lanes_alike(cta, warp, mask) != mask || has_new_copies(cta, warp, mask) ||
        gd_has_fences(cta, warp, mask)) {
        gd_outside *outside = NULL;
        gd_stamps *stamps = NULL;
        gd_gather(cta, warp, mask, &outside, &stamps);
        gd_clock *clock = gd_clock_create(cta->race, outside, stamps);
        gd_lanes_set(cta, warp, mask, clock);
        gd_forget_fences(cta, warp, mask);
        gd_clock_drop(cta->race, clock);
    }
    if (whole)
        record->synced = record->stamp;
    gd_raise(cta, warp);
}

/* ---- barrier.cluster ---- */

/* What was before a thread's last fence: such a fence, fence.mbarrier_init among them, makes a
 * release of arrive.relaxed (PTX ISA, barrier.cluster). */
static void arrive_behind_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    for (uint32_t rest = cta->warps[warp].sync ? mask : 0; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (!cta->warps[warp].sync[lane].release[GD_LEVEL_CLUSTER].stamp)
            continue;
        gd_outside *outside = gd_release_outside(cta, warp, lane, GD_LEVEL_CLUSTER);
        gd_outside_add(cta->race, &cta->cluster_pending, outside);
        gd_outside_drop(cta->race, outside);
    }
}

void gd_race_cluster_arrive(gd_race_cta *cta, uint32_t warp, uint32_t mask, bool ordered)
{
    if (!cta || cta->race->stopped)
        return;
    if (!ordered) {
        arrive_behind_fence(cta, warp, mask);
        return;
    }
    gd_gather_outside(cta, warp, mask, &cta->cluster_pending);
    gd_raise(cta, warp);
}

void gd_race_cluster_complete(gd_race_cta *const *ctas, uint32_t count)
{
    gd_outside *joined = NULL;
    gd_race *race = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (!ctas[i] || ctas[i]->race->stopped)
            continue;
        race = ctas[i]->race;
        gd_outside_add(race, &joined, ctas[i]->cluster_pending);
        gd_outside_drop(race, ctas[i]->cluster_pending);
        ctas[i]->cluster_pending = NULL;
    }
    for (uint32_t i = 0; race && i < count; i++) {
        if (!ctas[i])
            continue;
        gd_outside_drop(race, ctas[i]->cluster_ready);
        ctas[i]->cluster_ready = gd_outside_hold(joined);
    }
    if (race)
        gd_outside_drop(race, joined);
}

void gd_race_cluster_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (cta && !cta->race->stopped)
        gd_lanes_acquire(cta, warp, mask, cta->cluster_ready);
}

/* ---- mbarriers ---- */

gd_race_mbarrier *gd_mbarrier_find(gd_race_cta *owner, uint64_t address)
{
    gd_race_mbarrier *item = owner->mbarriers;

    while (item && item->address != address)
        item = item->next;
    return item;
}

static gd_race_mbarrier *get_mbarrier(gd_race_cta *owner, uint64_t address)
{
    gd_race_mbarrier *item = gd_mbarrier_find(owner, address);

    if (item)
        return item;
    item = gd_race_take(owner->race, sizeof *item);
    if (!item)
        return NULL;
    item->address = address;
    item->next = owner->mbarriers;
    owner->mbarriers = item;
    return item;
}

void gd_race_mbarrier_forget(gd_race_cta *owner, uint64_t address)
{
    if (!owner || owner->race->stopped)
        return;
    for (gd_race_mbarrier **link = &owner->mbarriers; *link; link = &(*link)->next) {
        gd_race_mbarrier *item = *link;
        if (item->address != address)
            continue;
        *link = item->next;
        gd_outside_drop(owner->race, item->pending);
        gd_outside_drop(owner->race, item->ready);
        gd_race_give(owner->race, item, sizeof *item);
        return;
    }
}

void gd_race_mbarrier_init(gd_race_cta *owner, uint32_t warp, uint32_t lane, uint32_t site,
                           uint64_t address)
{
    gd_race_mbarrier *item = owner && !owner->race->stopped ? get_mbarrier(owner, address) : NULL;

    if (!item)
        return;
    item->site = site;
    item->warp = warp;
    item->lane = lane;
    item->stamp = owner->warps[warp].stamp;
}

/* The agent of a thread's copies that complete on this mbarrier. */
static uint32_t get_channel(gd_race_cta *cta, uint32_t thread, const gd_race_cta *owner,
                            uint64_t address)
{
    for (uint32_t i = 0; i < cta->channel_count; i++) {
        const gd_channel *channel = &cta->channels[i];
        if (channel->thread == thread && channel->owner == owner->uid &&
            channel->address == address)
            return cta->threads + i;
    }
    if (!gd_race_grow(cta->race, (void **)&cta->channels, cta->channel_count,
                      &cta->channel_capacity, sizeof *cta->channels))
        return GD_AGENT_NONE;
    cta->channels[cta->channel_count] = (gd_channel){thread, owner->uid, address};
    return cta->threads + cta->channel_count++;
}

/* Gives the bulk copies that a thread has issued, and whose completion was not known yet, the
 * agents of their reads and writes. */
static void assign(gd_race_cta *cta, uint32_t thread, uint32_t reads, uint32_t writes)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cta->issued_count; i++) {
        gd_entry_record *entry = &cta->race->entries[cta->issued[i].entry];
        if (cta->issued[i].thread == thread)
            entry->agent = entry->writes ? writes : reads;
        else
            cta->issued[kept++] = cta->issued[i];
    }
    cta->issued_count = kept;
}

/* Adds to what an outside knows of one agent of the CTA. */
static void add_agent(gd_race_cta *cta, gd_outside **outside, uint32_t agent, uint32_t stamp)
{
    gd_stamps *stamps = gd_stamps_create(cta->race, 0, 0, agent + 1);

    if (!stamps)
        return;
    stamps->values[agent] = stamp;
    gd_outside *part = gd_outside_part(cta->race, cta->uid, cta->task->number, stamps);
    gd_outside_add(cta->race, outside, part);
    gd_outside_drop(cta->race, part);
}

static bool has_issued(const gd_race_cta *cta, uint32_t thread)
{
    for (uint32_t i = 0; i < cta->issued_count; i++) {
        if (cta->issued[i].thread == thread)
            return true;
    }
    return false;
}

static void arrive_copies(gd_race_cta *cta, uint32_t thread, gd_race_cta *owner,
                          gd_race_mbarrier *item)
{
    uint32_t agent = thread;

    if (has_issued(cta, thread)) {
        agent = get_channel(cta, thread, owner, item->address);
        if (agent == GD_AGENT_NONE)
            return;
        assign(cta, thread, agent, agent);
    }
    add_agent(cta, &item->pending, agent, cta->warps[thread / GD_RACE_LANES].stamp);
}

void gd_race_mbarrier_arrive(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_race_cta *owner,
                             uint64_t address, bool async)
{
    gd_race_mbarrier *item =
        cta && owner && mask && !cta->race->stopped ? get_mbarrier(owner, address) : NULL;

    if (!item)
        return;
    if (!async)
        gd_gather_outside(cta, warp, mask, &item->pending);
    for (uint32_t rest = async ? mask : 0; rest; rest &= rest - 1)
        arrive_copies(cta, warp * GD_RACE_LANES + (uint32_t)__builtin_ctz(rest), owner, item);
    gd_raise(cta, warp);
}

void gd_race_mbarrier_complete(gd_race_cta *owner, uint64_t address)
{
    gd_race_mbarrier *item =
        owner && !owner->race->stopped ? gd_mbarrier_find(owner, address) : NULL;

    if (!item)
        return;
    gd_outside_add(owner->race, &item->ready, item->pending);
    gd_outside_drop(owner->race, item->pending);
    item->pending = NULL;
}

void gd_race_mbarrier_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_race_cta *owner,
                           uint64_t address)
{
    const gd_race_mbarrier *item =
        cta && owner && !cta->race->stopped ? gd_mbarrier_find(owner, address) : NULL;

    if (item)
        gd_lanes_acquire(cta, warp, mask, item->ready);
}

/* ---- groups of asynchronous copies ---- */

/* The reads of a thread's bulk copies in groups are an agent of their own:
 * cp.async.bulk.wait_group.read waits for them alone. */
static const uint64_t bulk_reads = UINT64_MAX;

static void commit_bulk(gd_race_cta *cta, uint32_t thread)
{
    if (has_issued(cta, thread))
        assign(cta, thread, get_channel(cta, thread, cta, bulk_reads), GD_AGENT_GROUP);
}

static void finish_reads(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t stamp)
{
    const uint32_t thread = warp * GD_RACE_LANES + lane;

    for (uint32_t i = 0; i < cta->channel_count; i++) {
        const gd_channel *channel = &cta->channels[i];
        if (channel->thread != thread || channel->owner != cta->uid ||
            channel->address != bulk_reads)
            continue;
        gd_outside *outside = NULL;
        add_agent(cta, &outside, cta->threads + i, stamp);
        gd_lanes_acquire(cta, warp, UINT32_C(1) << lane, outside);
        gd_outside_drop(cta->race, outside);
    }
}

void gd_race_async_commit(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped || !mask)
        return;
    gd_warp_record *record = &cta->warps[warp];
    if (record->commit_count == MOST_COMMITS) {
        record->commit_count /= 2;
        memmove(record->commits, record->commits + MOST_COMMITS / 2,
                MOST_COMMITS / 2 * sizeof *record->commits);
    }
    if (!gd_race_grow(cta->race, (void **)&record->commits, record->commit_count,
                      &record->commit_capacity, sizeof *record->commits))
        return;
    record->commits[record->commit_count++] = (gd_commit){record->stamp, mask};
    for (uint32_t rest = mask; rest && cta->issued_count; rest &= rest - 1)
        commit_bulk(cta, warp * GD_RACE_LANES + (uint32_t)__builtin_ctz(rest));
    gd_raise(cta, warp);
}

static void wait_lane(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t left,
                      bool reads_alone)
{
    const gd_warp_record *record = &cta->warps[warp];
    gd_thread *thread = gd_thread_of(cta, warp, lane);

    for (uint32_t i = record->commit_count; i--;) {
        if (!(record->commits[i].mask >> lane & 1) || left--)
            continue;
        if (!reads_alone)
            thread->done = higher(thread->done, record->commits[i].stamp);
        finish_reads(cta, warp, lane, record->commits[i].stamp);
        return;
    }
}

void gd_race_async_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask, uint32_t left)
{
    for (uint32_t rest = cta && !cta->race->stopped ? mask : 0; rest; rest &= rest - 1)
        wait_lane(cta, warp, (uint32_t)__builtin_ctz(rest), left, false);
}

void gd_race_async_wait_read(gd_race_cta *cta, uint32_t warp, uint32_t mask, uint32_t left)
{
    for (uint32_t rest = cta && !cta->race->stopped ? mask : 0; rest; rest &= rest - 1)
        wait_lane(cta, warp, (uint32_t)__builtin_ctz(rest), left, true);
}

void gd_race_async_wait_all(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped)
        return;
    gd_race_async_commit(cta, warp, mask);
    gd_race_async_wait(cta, warp, mask, 0);
}

/* ---- wgmma ---- */

static const uint64_t warpgroup_reads = UINT64_MAX - 1;

uint32_t gd_warpgroup_agent(gd_race_cta *cta, uint32_t warp)
{
    return get_channel(cta, warp * GD_RACE_LANES, cta, warpgroup_reads);
}

void gd_race_warpgroup_commit(gd_race_cta *cta, uint32_t warp)
{
    if (!cta || cta->race->stopped)
        return;
    gd_warp_record *record = &cta->warps[warp];
    if (record->group_count == MOST_COMMITS) {
        record->group_count /= 2;
        record->groups_forgotten += MOST_COMMITS / 2;
        memmove(record->groups, record->groups + MOST_COMMITS / 2,
                MOST_COMMITS / 2 * sizeof *record->groups);
    }
    if (!gd_race_grow(cta->race, (void **)&record->groups, record->group_count,
                      &record->group_capacity, sizeof *record->groups))
        return;
    record->groups[record->group_count++] = record->stamp;
    gd_raise(cta, warp);
}

/* Groups that have been forgotten are so old that others behind them have been waited for. */
void gd_race_warpgroup_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask, uint64_t group)
{
    const uint32_t first = warp / WARPGROUP * WARPGROUP;
    gd_outside *outside = NULL;

    for (uint32_t i = first;
         cta && !cta->race->stopped && i < first + WARPGROUP && i < cta->warp_count; i++) {
        const gd_warp_record *record = &cta->warps[i];
        const uint64_t at = group - record->groups_forgotten - 1;
        const uint32_t agent =
            at < record->group_count ? gd_warpgroup_agent(cta, i) : GD_AGENT_NONE;
        if (agent != GD_AGENT_NONE)
            add_agent(cta, &outside, agent, record->groups[at]);
    }
    if (!outside)
        return;
    gd_lanes_acquire(cta, warp, mask, outside);
    gd_outside_drop(cta->race, outside);
}
