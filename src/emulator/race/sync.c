/* Release and acquire patterns (PTX ISA 8.7): what a strong write, alone or behind a fence, lets a
 * strong read of its value, alone or before a fence, know.
 *
 * A variable holds what was released to it, by scope: a pattern made with a narrow scope says
 * nothing to threads outside of it. An atomic operation adds to what is there, a store replaces it.
 *
 * fence.sc (PTX ISA 8.9.3, 8.9.4, 8.10). Two of them of sufficient scope synchronize in the
 * direction of an order that causality must not contradict: where one is before a strong write, and
 * another behind a strong read of its value, in base causality order, with barriers between them or
 * not, the first one is the earlier. So what was before a fence.sc goes with knowledge
 * (gd_outside.fenced), from there to the variables that are written strongly (gd_sync_item.fenced),
 * from there to who reads them and to whoever gets to know of the read (gd_outside.pending), and is
 * had at a fence.sc. A kernel's end drops it. Fences of the scopes cta and cluster take part in
 * release and acquire patterns alone.
 *
 * Several devices. Scope gpu is one device: what is released or acquired with it reaches no other,
 * and neither does a fence.sc.gpu, on whichever side. */
#include "emulator/race/core.h"

enum { FIRST_BUCKETS = 256 };

/* ---- the table of variables ---- */

static uint32_t bucket_of(const gd_race *race, const gd_shadow *shadow, uint64_t offset)
{
    uint64_t hash =
        ((uint64_t)(uintptr_t)shadow ^ (offset << 20) ^ offset) * UINT64_C(0x9e3779b97f4a7c15);

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
        gd_outside_drop(race, item->fenced);
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

static void sweep_bucket(gd_race *race, uint32_t bucket, const gd_shadow *shadow, uint64_t first,
                         uint64_t last)
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

/* A variable of up to 16 bytes that begins before the range and reaches into it is not looked for:
 * its accesses and these would race. */
void gd_sync_forget(gd_race *race, gd_shadow *shadow, uint64_t offset, uint64_t bytes)
{
    if (!shadow->syncs || !bytes || offset > shadow->sync_last ||
        offset + bytes <= shadow->sync_first)
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
    const bool same_cta = item->uid == cta->uid;
    const bool same_cluster = item->cluster == cta->cluster;
    const bool same_device = item->device == cta->device;

    if (item->part && level > GD_LEVEL_CLUSTER)
        return false; /* it is in what several released */

    if (item->level == GD_LEVEL_CTA || level == GD_LEVEL_CTA)
        return same_device && same_cta && same_cluster;
    if (item->level == GD_LEVEL_CLUSTER || level == GD_LEVEL_CLUSTER)
        return same_device && same_cluster;
    return same_device || (item->level == GD_LEVEL_SYS && level == GD_LEVEL_SYS);
}

enum { MOST_PARTS = 64 }; /* of a variable: what older ones say, narrow acquirers do not hear */

static gd_sync_item *add_new(const gd_race_cta *cta, gd_sync *sync, uint32_t level, uint32_t uid,
                             bool part)
{
    gd_sync_item *item = gd_race_take(cta->race, sizeof *item);

    if (!item)
        return NULL;
    *item = (gd_sync_item){.next = sync->items,
                           .level = level,
                           .uid = uid,
                           .device = cta->device,
                           .part = part,
                           .cluster = uid ? cta->cluster : 0};
    sync->items = item;
    return item;
}

static void add_to(gd_race *race, gd_sync_item *item, gd_outside *outside, gd_outside *fenced)
{
    gd_outside_add(race, &item->outside, outside);
    gd_outside_add(race, &item->fenced, fenced);
}

/* The item of a CTA's own releases of this level, or its part in those of several. */
static gd_sync_item *find_own(const gd_race_cta *cta, const gd_sync *sync, uint32_t level,
                              uint32_t *parts)
{
    gd_sync_item *own = NULL;

    *parts = 0;
    for (gd_sync_item *item = sync->items; item; item = item->next) {
        *parts += item->part;
        if (item->level == level && item->device == cta->device && item->uid == cta->uid)
            own = item;
    }
    return own;
}

/* What several have released with this level; NULL. */
static gd_sync_item *find_all(const gd_race_cta *cta, const gd_sync *sync, uint32_t level)
{
    gd_sync_item *item = sync->items;

    while (item && (item->level != level || item->device != cta->device || item->uid))
        item = item->next;
    return item;
}

/* The one that another CTA alone has released to; NULL. */
static gd_sync_item *find_other(const gd_race_cta *cta, const gd_sync *sync, uint32_t level)
{
    gd_sync_item *item = sync->items;

    while (item && (item->level != level || item->device != cta->device || item->part))
        item = item->next;
    return item;
}

static void drop_oldest_part(gd_race *race, gd_sync *sync)
{
    gd_sync_item **oldest = NULL;

    for (gd_sync_item **link = &sync->items; *link; link = &(*link)->next) {
        if ((*link)->part)
            oldest = link;
    }
    if (!oldest)
        return;
    gd_sync_item *item = *oldest;
    *oldest = item->next;
    gd_outside_drop(race, item->outside);
    gd_outside_drop(race, item->fenced);
    gd_race_give(race, item, sizeof *item);
}

static void add_item(gd_race_cta *cta, gd_sync *sync, uint32_t level, gd_outside *outside,
                     gd_outside *fenced)
{
    const bool wide = level > GD_LEVEL_CLUSTER;
    uint32_t parts;
    gd_sync_item *own = find_own(cta, sync, level, &parts), *all = find_all(cta, sync, level);
    gd_sync_item *other = wide && !own && !all ? find_other(cta, sync, level) : NULL;

    if (other) { /* the second CTA: from now on there are several */
        all = add_new(cta, sync, level, 0, false);
        if (!all)
            return;
        add_to(cta->race, all, other->outside, other->fenced);
        other->part = true;
        parts++;
    }
    if (all)
        add_to(cta->race, all, outside, fenced);
    if (!own && all && parts >= MOST_PARTS)
        drop_oldest_part(cta->race, sync);
    if (!own)
        own = add_new(cta, sync, level, cta->uid, all != NULL);
    if (own)
        add_to(cta->race, own, outside, fenced);
}

/* ---- patterns ---- */

static gd_thread_sync *get_thread_sync(gd_race_cta *cta, uint32_t warp, uint32_t lane)
{
    gd_thread_sync **sync = &cta->warps[warp].sync;

    if (!*sync)
        *sync = gd_race_take(cta->race, GD_RACE_LANES * sizeof **sync);
    return *sync ? *sync + lane : NULL;
}

/* What was fenced before the write that these lanes read is to be had at the next fence.sc behind
 * the read, of another device's what was fenced with scope sys, at a fence of that scope. */
static void await_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask, const gd_sync_item *item)
{
    gd_race *race = cta->race;
    gd_outside *fenced = item->fenced ? gd_outside_plain(race, item->fenced) : NULL;

    if (fenced && item->device != cta->device) {
        gd_outside_drop(race, fenced);
        fenced =
            item->fenced->fenced ? gd_outside_of_fences(race, item->fenced->fenced, NULL) : NULL;
    }
    gd_outside *more = fenced ? gd_outside_of_fences(race, NULL, fenced) : NULL;
    gd_lanes_acquire(cta, warp, mask, more);
    gd_outside_drop(race, more);
    gd_outside_drop(race, fenced);
}

static void acquire(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane,
                    const gd_sync *sync)
{
    const uint32_t widest = gd_level(cta->race, operation->scope);

    for (const gd_sync_item *item = sync->items; item; item = item->next) {
        if (reaches(item, cta, widest))
            await_fence(cta, operation->warp, UINT32_C(1) << lane, item);
        if (operation->acquire && reaches(item, cta, widest))
            gd_lanes_acquire(cta, operation->warp, UINT32_C(1) << lane, item->outside);
        for (uint32_t level = 0; level <= widest; level++) {
            gd_thread_sync *thread =
                reaches(item, cta, level) ? get_thread_sync(cta, operation->warp, lane) : NULL;
            if (thread)
                gd_outside_add(cta->race, &thread->pending[level], item->outside);
        }
    }
}

/* What lanes had at a fence.sc, which was the same for all of them. */
static void add_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask, const gd_release *fence,
                      const uint32_t *done, gd_outside **fenced)
{
    gd_race *race = cta->race;
    gd_outside *all =
        gd_publish_outside(cta, warp, mask, fence->clock, fence->stamp, fence->synced, done);
    gd_outside *plain = gd_outside_plain(race, all);
    gd_outside *system = fence->system ? gd_outside_of_fences(race, plain, NULL) : NULL;

    gd_outside_add(race, fenced, plain);
    gd_outside_add(race, fenced, system);
    gd_outside_drop(race, system);
    gd_outside_drop(race, plain);
    gd_outside_drop(race, all);
}

gd_outside *gd_release_outside(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t level)
{
    const gd_thread_sync *sync = &cta->warps[warp].sync[lane];
    const gd_release *release = &sync->release[level];
    uint32_t done[GD_RACE_LANES] = {0};

    done[lane] = release->done;
    gd_outside *outside = gd_publish_outside(cta, warp, UINT32_C(1) << lane, release->clock,
                                             release->stamp, release->synced, done);
    const bool told = !sync->fence_sc.stamp || sync->fence_sc.stamp > release->stamp;
    const gd_release *fence = told ? &sync->told : &sync->fence_sc;
    if (fence->stamp && fence->stamp <= release->stamp) {
        gd_outside *fenced = NULL;
        done[lane] = fence->done;
        add_fence(cta, warp, UINT32_C(1) << lane, fence, done, &fenced);
        gd_outside *more = fenced ? gd_outside_of_fences(cta->race, fenced, NULL) : NULL;
        gd_outside_add(cta->race, &outside, more);
        gd_outside_drop(cta->race, more);
        gd_outside_drop(cta->race, fenced);
    }
    return outside;
}

static void release_snapshot(gd_race_cta *cta, uint32_t warp, uint32_t lane, gd_sync *sync,
                             uint32_t level)
{
    gd_outside *outside = gd_release_outside(cta, warp, lane, level);

    add_item(cta, sync, level, outside, NULL);
    gd_outside_drop(cta->race, outside);
}

/* What the thread had at its fences; narrower ones only where they came later. */
static void release_fences(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane,
                           gd_shadow *shadow, uint64_t offset)
{
    const gd_thread_sync *thread =
        cta->warps[operation->warp].sync ? cta->warps[operation->warp].sync + lane : NULL;
    uint32_t wider = 0;

    for (uint32_t level = gd_level(cta->race, operation->scope) + 1; thread && level--;) {
        const gd_release *release = &thread->release[level];
        if (!release->stamp || release->stamp == wider)
            continue;
        wider = release->stamp;
        gd_sync *sync = get_sync(cta->race, shadow, offset);
        if (sync)
            release_snapshot(cta, operation->warp, lane, sync, level);
    }
}

static void release_now(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane,
                        gd_shadow *shadow, uint64_t offset)
{
    gd_sync *sync = get_sync(cta->race, shadow, offset);
    gd_outside *outside = NULL;

    if (!sync)
        return;
    gd_gather_outside(cta, operation->warp, UINT32_C(1) << lane, &outside);
    add_item(cta, sync, gd_level(cta->race, operation->scope), outside, NULL);
    gd_outside_drop(cta->race, outside);
}

/* What was before a fence.sc of those that the thread knows of, itself among them. */
static void release_fenced(gd_race_cta *cta, const gd_race_operation *operation, uint32_t lane,
                           gd_shadow *shadow, uint64_t offset)
{
    const gd_clock *clock = gd_thread_of(cta, operation->warp, lane)->clock;
    gd_outside *fenced = gd_outside_hold(clock && clock->outside ? clock->outside->fenced : NULL);

    gd_gather_fences(cta, operation->warp, UINT32_C(1) << lane, &fenced);
    gd_sync *sync = fenced ? get_sync(cta->race, shadow, offset) : NULL;
    if (sync)
        add_item(cta, sync, gd_level(cta->race, operation->scope), NULL, fenced);
    gd_outside_drop(cta->race, fenced);
}

static void access_lane(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation,
                        uint32_t lane)
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
    release_fenced(cta, operation, lane, shadow, offset);
}

void gd_sync_access(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation)
{
    for (uint32_t rest = operation->mask; rest && !cta->race->stopped; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (operation->strong)
            access_lane(cta, shadow, operation, lane);
        else
            gd_sync_forget(cta->race, shadow, operation->addresses[lane] - shadow->start,
                           operation->bytes);
    }
    if (operation->release)
        gd_raise(cta, operation->warp);
}

/* ---- fences ---- */

static void take_snapshot(gd_race_cta *cta, uint32_t warp, uint32_t lane, gd_release *release)
{
    const gd_thread *thread = gd_thread_of(cta, warp, lane);
    gd_clock *old = release->clock;

    *release = (gd_release){gd_clock_hold(thread->clock), cta->warps[warp].stamp,
                            cta->warps[warp].synced, thread->done, false};
    gd_clock_drop(cta->race, old);
}

static void acquire_pending(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t widest)
{
    gd_thread_sync *sync = get_thread_sync(cta, warp, lane);

    for (uint32_t level = 0; sync && level <= widest; level++) {
        gd_lanes_acquire(cta, warp, UINT32_C(1) << lane, sync->pending[level]);
        gd_outside_drop(cta->race, sync->pending[level]);
        sync->pending[level] = NULL;
    }
}

/* What was before a fence.sc.sys becomes part of what the thread knows: one of scope gpu takes its
 * place. */
static void keep_fence(gd_race_cta *cta, uint32_t warp, uint32_t lane)
{
    gd_outside *outside = NULL;

    gd_add_fences(cta, warp, UINT32_C(1) << lane, &outside);
    gd_lanes_acquire(cta, warp, UINT32_C(1) << lane, outside);
    gd_outside_drop(cta->race, outside);
}

static void release_lane(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t widest, bool sc)
{
    gd_thread_sync *sync = get_thread_sync(cta, warp, lane);

    if (!sync)
        return;
    for (uint32_t level = 0; level <= widest; level++)
        take_snapshot(cta, warp, lane, &sync->release[level]);
    if (!sc)
        return;
    if (sync->fence_sc.system && widest != GD_LEVEL_SYS)
        keep_fence(cta, warp, lane);
    take_snapshot(cta, warp, lane, &sync->fence_sc);
    sync->fence_sc.system = widest == GD_LEVEL_SYS;
}

static void acquire_fenced(gd_race_cta *cta, uint32_t warp, uint32_t mask, bool system)
{
    while (mask) {
        const uint32_t alike = gd_lanes_alike(cta, warp, mask);
        const gd_clock *clock = gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(mask))->clock;
        gd_outside *pending =
            gd_outside_hold(clock && clock->outside ? clock->outside->pending : NULL);
        gd_outside *near = gd_outside_plain(cta->race, pending);
        gd_lanes_acquire(cta, warp, alike, near);
        if (system && pending)
            gd_lanes_acquire(cta, warp, alike, pending->fenced);
        gd_outside_drop(cta->race, near);
        gd_outside_drop(cta->race, pending);
        mask &= ~alike;
    }
}

void gd_race_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_scope scope, bool sc)
{
    if (!cta || cta->race->stopped)
        return;
    const uint32_t widest = gd_level(cta->race, scope);
    sc = sc && widest >= GD_LEVEL_GPU;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        acquire_pending(cta, warp, (uint32_t)__builtin_ctz(rest), widest);
    if (sc)
        acquire_fenced(cta, warp, mask, widest == GD_LEVEL_SYS);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        release_lane(cta, warp, (uint32_t)__builtin_ctz(rest), widest, sc);
    gd_raise(cta, warp);
}

void gd_race_proxy_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped)
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(rest))->proxied = cta->warps[warp].stamp;
    gd_race_init_fence(cta, warp, mask);
}

void gd_race_init_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    if (!cta || cta->race->stopped)
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        gd_thread_of(cta, warp, (uint32_t)__builtin_ctz(rest))->shown = cta->warps[warp].stamp;
    gd_raise(cta, warp);
}

/* ---- fence.sc ---- */

bool gd_has_fences(const gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    const gd_thread_sync *sync = cta->warps[warp].sync;

    for (uint32_t rest = sync ? mask : 0; rest; rest &= rest - 1) {
        if (sync[__builtin_ctz(rest)].fence_sc.stamp)
            return true;
    }
    return false;
}

void gd_forget_fences(gd_race_cta *cta, uint32_t warp, uint32_t mask)
{
    gd_thread_sync *sync = cta->warps[warp].sync;

    for (uint32_t rest = sync ? mask : 0; rest; rest &= rest - 1) {
        gd_thread_sync *thread = &sync[__builtin_ctz(rest)];
        if (!thread->fence_sc.stamp)
            continue;
        gd_clock_drop(cta->race, thread->told.clock);
        thread->told = thread->fence_sc;
        thread->fence_sc = (gd_release){0};
    }
}

/* Lanes whose fence was the same instruction, and who knew the same there, are told at once. */
void gd_gather_fences(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **fenced)
{
    const gd_thread_sync *sync = cta->warps[warp].sync;

    while (sync && mask) {
        const gd_release first = sync[__builtin_ctz(mask)].fence_sc;
        uint32_t alike = 0, done[GD_RACE_LANES] = {0};
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(rest);
            const gd_release *fence = &sync[lane].fence_sc;
            if (fence->clock != first.clock || fence->stamp != first.stamp ||
                fence->synced != first.synced || fence->system != first.system)
                continue;
            alike |= UINT32_C(1) << lane;
            done[lane] = fence->done;
        }
        mask &= ~alike;
        if (!first.stamp)
            continue;
        add_fence(cta, warp, alike, &first, done, fenced);
    }
}

void gd_add_fences(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **outside)
{
    gd_outside *fenced = NULL;

    gd_gather_fences(cta, warp, mask, &fenced);
    gd_outside *more = fenced ? gd_outside_of_fences(cta->race, fenced, NULL) : NULL;
    gd_outside_add(cta->race, outside, more);
    gd_outside_drop(cta->race, more);
    gd_outside_drop(cta->race, fenced);
}
