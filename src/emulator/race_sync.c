/* Release and acquire patterns (PTX ISA 8.7): what a strong write, alone or behind a fence, lets a strong read of its
 * value, alone or before a fence, know.
 *
 * A variable holds what was released to it, by scope: a pattern made with a narrow scope says nothing to threads
 * outside of it. An atomic operation adds to what is there, a store replaces it. */
#include "emulator/race_core.h"

enum { FIRST_BUCKETS = 256 };

/* ---- the table of variables ---- */

static uint32_t bucket_of(const gd_race *race, const gd_shadow *shadow, uint64_t offset)
{
    uint64_t hash = ((uint64_t)(uintptr_t)shadow ^ (offset << 20) ^ offset) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(hash >> 32) & (race->sync_buckets - 1);
}

static gd_sync *find_sync(const gd_race *race, const gd_shadow *shadow, uint64_t offset)
{
    if (!shadow->syncs || offset < shadow->sync_first || offset > shadow->sync_last)
        return NULL;
    gd_sync *sync = race->syncs[bucket_of(race, shadow, offset)];
    while (sync && (sync->shadow != shadow || sync->offset != offset))
        sync = sync->next;
    return sync;
}

static bool grow_buckets(gd_race *race)
{
    const uint32_t old = race->sync_buckets, count = old ? old * 2 : FIRST_BUCKETS;
    gd_sync **buckets = gd_race_take(race, count * sizeof(gd_sync *)), **previous = race->syncs;

    if (!buckets)
        return false;
    race->syncs = buckets;
    race->sync_buckets = count;
    for (uint32_t i = 0; i < old; i++) {
        for (gd_sync *sync = previous[i], *next; sync; sync = next) {
            next = sync->next;
            gd_sync **bucket = &buckets[bucket_of(race, sync->shadow, sync->offset)];
            sync->next = *bucket;
            *bucket = sync;
        }
    }
    gd_race_give(race, previous, old * sizeof(gd_sync *));
    return true;
}

static gd_sync *get_sync(gd_race *race, gd_shadow *shadow, uint64_t offset)
{
    gd_sync *sync = find_sync(race, shadow, offset);

    if (sync || (race->sync_count >= race->sync_buckets && !grow_buckets(race)))
        return sync;
    sync = gd_race_take(race, sizeof *sync);
    if (!sync)
        return NULL;
    gd_sync **bucket = &race->syncs[bucket_of(race, shadow, offset)];
    sync->shadow = shadow;
    sync->offset = offset;
    sync->next = *bucket;
    *bucket = sync;
    race->sync_count++;
    if (!shadow->syncs || offset < shadow->sync_first)
        shadow->sync_first = offset;
    if (!shadow->syncs || offset > shadow->sync_last)
        shadow->sync_last = offset;
    shadow->syncs++;
    return sync;
}

static void drop_items(gd_race *race, gd_sync *sync)
{
    for (gd_sync_item *item = sync->items, *next; item; item = next) {
        next = item->next;
        gd_outside_drop(race, item->outside);
        gd_race_give(race, item, sizeof *item);
    }
    sync->items = NULL;
}

static void free_sync(gd_race *race, gd_sync *sync)
{
    drop_items(race, sync);
    sync->shadow->syncs--;
    race->sync_count--;
    gd_race_give(race, sync, sizeof *sync);
}

static void sweep_bucket(gd_race *race, uint32_t bucket, const gd_shadow *shadow, uint64_t first, uint64_t last)
{
    for (gd_sync **link = &race->syncs[bucket]; *link;) {
        gd_sync *sync = *link;
        if (shadow && (sync->shadow != shadow || sync->offset < first || sync->offset > last)) {
            link = &sync->next;
        } else {
            *link = sync->next;
            free_sync(race, sync);
        }
    }
}

/* A variable of up to 16 bytes that begins before the range and reaches into it is not looked for: its accesses and
 * these would race. */
void gd_sync_forget(gd_race *race, gd_shadow *shadow, uint64_t offset, uint64_t bytes)
{
    if (!shadow->syncs || !bytes || offset > shadow->sync_last || offset + bytes <= shadow->sync_first)
        return;
    if (bytes <= 16) {
        for (uint64_t i = offset; i < offset + bytes && shadow->syncs; i++) {
            if (find_sync(race, shadow, i))
                sweep_bucket(race, bucket_of(race, shadow, i), shadow, i, i);
        }
        return;
    }
    for (uint32_t i = 0; i < race->sync_buckets; i++)
        sweep_bucket(race, i, shadow, offset, offset + bytes - 1);
}

void gd_sync_clear(gd_race *race)
{
    for (uint32_t i = 0; race->sync_count && i < race->sync_buckets; i++)
        sweep_bucket(race, i, NULL, 0, 0);
}

/* ---- what a variable holds ---- */

static bool reaches(const gd_sync_item *item, const gd_race_cta *cta, uint32_t level)
{
    const bool same_cta = !item->uid || item->uid == cta->uid;
    const bool same_cluster = !item->cluster || item->cluster == cta->cluster;

    if (item->level == GD_LEVEL_CTA || level == GD_LEVEL_CTA)
        return same_cta && same_cluster;
    if (item->level == GD_LEVEL_CLUSTER || level == GD_LEVEL_CLUSTER)
        return same_cluster;
    return true;
}

static void add_item(gd_race_cta *cta, gd_sync *sync, uint32_t level, gd_outside *outside)
{
    gd_sync_item *item = sync->items;

    while (item && (item->level != level || (level == GD_LEVEL_CTA && item->uid != cta->uid) ||
                    (level == GD_LEVEL_CLUSTER && item->cluster != cta->cluster)))
        item = item->next;
    if (!item) {
        item = gd_race_take(cta->race, sizeof *item);
        if (!item)
            return;
        *item = (gd_sync_item){.next = sync->items, .level = level, .uid = cta->uid, .cluster = cta->cluster};
        sync->items = item;
    }
    item->uid = item->uid == cta->uid ? item->uid : 0;
    item->cluster = item->cluster == cta->cluster ? item->cluster : 0;
    gd_outside_add(cta->race, &item->outside, outside);
}

/* ---- patterns ---- */

static gd_thread_sync *get_thread_sync(gd_race_cta *cta, uint32_t warp, uint32_t lane)
{
    gd_thread_sync **sync = &cta->warps[warp].sync;

    if (!*sync)
        *sync = gd_race_take(cta->race, GD_RACE_LANES * sizeof **sync);
    return *sync ? *sync + lane : NULL;
}

static void acquire(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane, const gd_sync *sync)
{
    const uint32_t widest = gd_level(operation->scope);

    for (const gd_sync_item *item = sync->items; item; item = item->next) {
        if (operation->acquire && reaches(item, cta, widest))
            gd_lanes_acquire(cta, operation->warp, UINT32_C(1) << lane, item->outside);
        for (uint32_t level = 0; level <= widest; level++) {
            gd_thread_sync *thread = reaches(item, cta, level) ? get_thread_sync(cta, operation->warp, lane) : NULL;
            if (thread)
                gd_outside_add(cta->race, &thread->pending[level], item->outside);
        }
    }
}

static void release_snapshot(gd_race_cta *cta, uint32_t warp, uint32_t lane, const gd_release *release, gd_sync *sync,
                             uint32_t level)
{
    uint32_t done[GD_RACE_LANES] = {0};

    done[lane] = release->done;
    gd_outside *outside =
        gd_publish_outside(cta, warp, UINT32_C(1) << lane, release->clock, release->stamp, release->synced, done);
    add_item(cta, sync, level, outside);
    gd_outside_drop(cta->race, outside);
}

/* What the thread had at its fences; narrower ones only where they came later. */
static void release_fences(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane, gd_shadow *shadow,
                           uint64_t offset)
{
    const gd_thread_sync *thread = cta->warps[operation->warp].sync ? cta->warps[operation->warp].sync + lane : NULL;
    uint32_t wider = 0;

    for (uint32_t level = gd_level(operation->scope) + 1; thread && level--;) {
        const gd_release *release = &thread->release[level];
        if (!release->stamp || release->stamp == wider)
            continue;
        wider = release->stamp;
        gd_sync *sync = get_sync(cta->race, shadow, offset);
        if (sync)
            release_snapshot(cta, operation->warp, lane, release, sync, level);
    }
}

static void release_now(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane, gd_shadow *shadow,
                        uint64_t offset)
{
    gd_sync *sync = get_sync(cta->race, shadow, offset);
    gd_outside *outside = NULL;

    if (!sync)
        return;
    gd_gather_outside(cta, operation->warp, UINT32_C(1) << lane, &outside);
    add_item(cta, sync, gd_level(operation->scope), outside);
    gd_outside_drop(cta->race, outside);
}

static void access_lane(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation, uint32_t lane)
{
    const uint64_t offset = operation->addresses[lane] - shadow->start;
    gd_sync *sync = find_sync(cta->race, shadow, offset);

    if (operation->action != GD_ACTION_WRITE && sync)
        acquire(cta, operation, lane, sync);
    if (operation->action == GD_ACTION_READ)
        return;
    if (operation->action == GD_ACTION_WRITE)
        gd_sync_forget(cta->race, shadow, offset, operation->bytes);
    if (operation->release)
        release_now(cta, operation, lane, shadow, offset);
    else
        release_fences(cta, operation, lane, shadow, offset);
}

void gd_sync_access(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation)
{
    for (uint32_t rest = operation->mask; rest && !cta->race->stopped; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (operation->strong)
            access_lane(cta, shadow, operation, lane);
        else
            gd_sync_forget(cta->race, shadow, operation->addresses[lane] - shadow->start, operation->bytes);
    }
    if (operation->release)
        gd_raise(cta, operation->warp);
}

/* ---- fences ---- */

static void fence_lane(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t widest)
{
    gd_thread_sync *sync = get_thread_sync(cta, warp, lane);

    if (!sync)
        return;
    for (uint32_t level = 0; level <= widest; level++) {
        gd_lanes_acquire(cta, warp, UINT32_C(1) << lane, sync->pending[level]);
        gd_outside_drop(cta->race, sync->pending[level]);
        sync->pending[level] = NULL;
    }
    const gd_thread *thread = gd_thread_of(cta, warp, lane);
    for (uint32_t level = 0; level <= widest; level++) {
        gd_clock *old = sync->release[level].clock;
        sync->release[level] =
            (gd_release){gd_clock_hold(thread->clock), cta->warps[warp].stamp, cta->warps[warp].synced, thread->done};
        gd_clock_drop(cta->race, old);
    }
}

void gd_race_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_scope scope)
{
    if (!cta || cta->race->stopped)
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        fence_lane(cta, warp, (uint32_t)__builtin_ctz(rest), gd_level(scope));
    gd_raise(cta, warp);
}
