/* One CTA: its warps, the choice of the lanes that go on, and what its end is. */
#include <fenv.h>
#include <inttypes.h>
#include <stdlib.h>

#include "emulator/execute/cluster.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/program.h"

enum {
    QUANTUM = 512, /* operations of a warp before the next one's turn */
    SPECIAL_BYTES = GD_SPECIAL_COUNT * GD_LANE_BYTES,
    SINK_BYTES = 4 * GD_LANE_BYTES,
    SHARED_UNIT = 128 /* shared memory is given out in these */
};

/* ---- lanes ---- */

/* Calls first, so that they come together again where they return; then the lowest operation; then
 * the lowest frame, for lanes that reached the same place through different calls are not side by
 * side. */
static bool is_before(const gd_warp *warp, uint32_t lane, uint32_t other)
{
    if (warp->depth[lane] != warp->depth[other])
        return warp->depth[lane] > warp->depth[other];
    if (warp->pcs[lane] != warp->pcs[other])
        return warp->pcs[lane] < warp->pcs[other];
    return warp->frame[lane] < warp->frame[other];
}

static bool is_same(const gd_warp *warp, uint32_t lane, uint32_t other)
{
    return warp->depth[lane] == warp->depth[other] && warp->pcs[lane] == warp->pcs[other] &&
           warp->frame[lane] == warp->frame[other] && warp->local[lane] == warp->local[other];
}

/* Whether candidates differ in nothing but where they stand. */
static bool is_level(const gd_warp *warp, uint32_t candidates)
{
    const gd_sweeps *sweeps = warp->cta->sweeps;

    return sweeps->alike(warp->depth, candidates) && sweeps->alike(warp->frame, candidates) &&
           sweeps->alike(warp->local, candidates);
}

/* Of candidates in several calls, those that come first; *limit: where they may come together with
 * others. */
static uint32_t choose_among_calls(const gd_warp *warp, uint32_t candidates, uint32_t *limit)
{
    uint32_t best = gd_lowest(candidates), chosen = 0;

    *limit = UINT32_MAX;
    GD_EACH_LANE(lane, candidates)
    {
        if (is_before(warp, lane, best))
            best = lane;
    }
    GD_EACH_LANE(lane, candidates)
    {
        uint32_t stop = warp->pcs[lane] > warp->pcs[best] ? warp->pcs[lane] : warp->pcs[best] + 1;
        if (is_same(warp, lane, best))
            chosen |= UINT32_C(1) << lane;
        else if (warp->depth[lane] == warp->depth[best] && stop < *limit)
            *limit = stop;
    }
    return chosen;
}

/* Makes the lanes that come first the current ones; false when none can go on. Kept out of the loop
 * over operations, which needs the registers. */
__attribute__((noinline)) static bool choose_lanes(gd_warp *warp)
{
    gd_warp_choose(warp);
    uint32_t candidates = warp->ready & ~warp->deferred;
    if (!candidates) {
        warp->deferred = 0;
        candidates = warp->ready;
    }
    if (!candidates)
        return false;
    if (!warp->calls || is_level(warp, candidates))
        warp->active = warp->cta->sweeps->lowest(warp->pcs, candidates, &warp->limit);
    else
        warp->active = choose_among_calls(warp, candidates, &warp->limit);
    uint32_t first = gd_lowest(warp->active);
    warp->pc = warp->pcs[first];
    warp->active_count = gd_count(warp->active);
    warp->areas[GD_AREA_FRAME] = warp->frames + warp->frame[first];
    return true;
}

void gd_warp_count(gd_warp *warp)
{
    warp->cta->instructions += (warp->cta->cycles - warp->counted) * warp->active_count;
    warp->counted = warp->cta->cycles;
}

/* Executes a stretch of operations, of which the last may change everything, so that place and time
 * are brought up to date before. */
static uint32_t run_stretch(gd_warp *warp, uint64_t left)
{
    const gd_code *code = warp->cta->image->code + warp->pc;
    const uint32_t active = warp->active, most = warp->limit - warp->pc;
    uint32_t count = code->stretch < most ? code->stretch : most;

    count = left < count ? (uint32_t)left : count;
    warp->pc += count;
    warp->cta->cycles += count;
    for (const gd_code *end = code + count; code < end; code++) {
        uint32_t mask = active & (gd_predicate(warp, code->guard) ^ code->guard_not);
        if (mask)
            code->run(warp, code, mask);
    }
    return count;
}

/* Executes operations until the budget is used up or the warp can or should not go on; returns how
 * many. */
static uint64_t run_warp(gd_warp *warp, uint64_t budget)
{
    uint64_t left = budget;

    warp->yields = false;
    warp->counted = warp->cta->cycles;
    while (left) {
        if (warp->pc >= warp->limit) {
            gd_warp_count(warp);
            if (warp->yields || !choose_lanes(warp))
                break;
        }
        left -= run_stretch(warp, left);
    }
    gd_warp_count(warp);
    if (!left && warp->pc >= warp->limit &&
        !warp->yields) /* the turn ended where lanes part: who would go on counts */
        choose_lanes(warp);
    if (!left &&
        warp->ready & ~warp->active) { /* lanes that wait for others in a loop give way to them */
        warp->deferred |= warp->active;
        gd_warp_choose(warp);
    }
    return budget - left;
}

/* ---- faults ---- */

/* The barrier that a lane waits at. */
static uint32_t barrier_of(const gd_warp *warp, uint32_t lane)
{
    uint32_t number = 0;

    while (!(warp->at[number] >> lane & 1))
        number++;
    return number;
}

/* All CTAs of the cluster have come to rest, some of their threads at its barrier. */
static bool fail_cluster(gd_cta *cta)
{
    const gd_cluster *cluster = cta->cluster;
    char members[160];

    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        if (!warp->at_cluster)
            continue;
        uint32_t lane = gd_lowest(warp->at_cluster);
        gd_cluster_describe(cluster, members, sizeof members);
        gd_cta_fail(
            warp, cta->image->code + warp->pcs[lane], lane, GD_FAULT_DEADLOCK, 0, 0, false,
            "deadlock: the cluster's barrier waits for threads that never arrive (%u of %u have)%s",
            cluster->arrived, cluster->live_threads, members);
        return true;
    }
    return false;
}

/* No thread can go on, and nothing outside the CTA will change that. */
static void fail_deadlock(gd_cta *cta)
{
    if (fail_cluster(cta))
        return;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        uint32_t waiting = warp->at_barrier | warp->at_warp | warp->at_warpgroup;
        if (!waiting)
            continue;
        uint32_t lane = gd_lowest(waiting);
        const gd_code *code = cta->image->code + warp->pcs[lane];
        if (warp->at_warpgroup >> lane & 1) {
            gd_cta_fail(warp, code, lane, GD_FAULT_DEADLOCK, 0, 0, false,
                        "deadlock: warp %u waits for a group of wgmma that others of its warpgroup "
                        "never commit",
                        warp->index);
            return;
        }
        bool barrier = warp->at_barrier >> lane & 1;
        uint32_t number = barrier ? barrier_of(warp, lane) : 0;
        gd_cta_fail(
            warp, code, lane, GD_FAULT_DEADLOCK, 0, 0, false,
            barrier
                ? "deadlock: barrier %u waits for threads that never arrive (%u have)"
                : "deadlock: lanes of warp %u wait for %u others of their mask that never arrive",
            barrier ? number : warp->index,
            barrier ? cta->barriers[number].threads : gd_count(warp->live & ~warp->at_warp));
        return;
    }
}

/* A CTA that has executed as much as it may fails if a thread could go on, not if all have ended or
 * wait. */
static bool fail_steps(gd_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        if (!warp->ready)
            continue;
        gd_warp_choose(warp);
        uint32_t lane = gd_lowest(warp->ready);
        gd_cta_fail(warp, cta->image->code + warp->pcs[lane], lane, GD_FAULT_STEPS, 0, 0, false,
                    "step limit: the CTA has executed %" PRIu64 " thread-instructions",
                    cta->instructions);
        return true;
    }
    return false;
}

/* ---- running ---- */

static gd_cta_state rest_state(gd_cta *cta)
{
    uint32_t at_grid = 0, at_cluster = 0;

    if (cta->fault.kind != GD_FAULT_NONE)
        return GD_CTA_FAULT;
    if (cta->live_threads == 0)
        return GD_CTA_DONE;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        at_grid |= cta->warps[i].at_grid;
        at_cluster |= cta->warps[i].at_cluster;
    }
    if (at_grid)
        return GD_CTA_WAITING;
    if (at_cluster && !gd_cluster_is_stuck(cta->cluster))
        return GD_CTA_BLOCKED;
    fail_deadlock(cta);
    return GD_CTA_FAULT;
}

/* Whether the CTA has executed as much as it may. */
static bool is_spent(const gd_cta *cta)
{
    return cta->view->step_limit && cta->instructions >= cta->view->step_limit;
}

/* A warp's turn: near the limit it gets so short that at most one operation goes past it. */
static uint64_t get_quantum(const gd_cta *cta, uint64_t steps)
{
    uint64_t most = steps < QUANTUM ? steps : QUANTUM;
    uint64_t left =
        cta->view->step_limit ? (cta->view->step_limit - cta->instructions) / GD_LANES + 1 : most;

    return left < most ? left : most;
}

/* One turn of each warp. *ran: whether any could go on; *idle: whether all that could did nothing
 * but poll. */
static void run_round(gd_cta *cta, uint64_t *steps, bool *ran, bool *idle)
{
    uint64_t work = cta->work;

    *ran = false;
    *idle = true;
    for (uint32_t i = 0; i < cta->warp_count && *steps && cta->fault.kind == GD_FAULT_NONE &&
                         !cta->stopped && !is_spent(cta);
         i++) {
        gd_warp *warp = &cta->warps[cta->next_warp];
        cta->next_warp = cta->next_warp + 1 < cta->warp_count ? cta->next_warp + 1 : 0;
        if (!warp->ready)
            continue;
        *ran = true;
        *steps -= run_warp(warp, get_quantum(cta, *steps));
        *idle &= warp->yields || !warp->ready;
    }
    *idle &= work == cta->work;
}

static gd_cta_state run_rounds(gd_cta *cta, uint64_t steps)
{
    uint64_t work = cta->work, polls = cta->polls;
    bool ran, idle;

    while (steps) {
        run_round(cta, &steps, &ran, &idle);
        if (cta->fault.kind != GD_FAULT_NONE)
            return GD_CTA_FAULT;
        if (cta->stopped)
            return GD_CTA_READY;
        if (is_spent(cta) && fail_steps(cta))
            return GD_CTA_FAULT;
        if (!ran)
            return rest_state(cta);
        if (idle && cta->polls != polls)
            return GD_CTA_POLLING;
    }
    if (cta->live_threads == 0)
        return GD_CTA_DONE;
    return work == cta->work && polls != cta->polls ? GD_CTA_POLLING : GD_CTA_READY;
}

/* ---- creation ---- */

static void fill(gd_warp *warp, gd_special special, uint32_t value)
{
    gd_u32 *lanes = (gd_u32 *)(void *)(warp->specials + special * GD_LANE_BYTES);

    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        lanes[lane] = value;
}

static void fill_lanes(gd_warp *warp)
{
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        const uint32_t bit = UINT32_C(1) << lane;
        const uint32_t masks[] = {bit, bit | (bit - 1), bit - 1, ~(bit - 1), ~(bit - 1) & ~bit};
        for (uint32_t i = 0; i < 5; i++)
            gd_lane_put(warp, (GD_SPECIAL_LANEMASK_EQ + i) * GD_LANE_BYTES | GD_AREA_SPECIAL, lane,
                        4, masks[i]);
        gd_lane_put(warp, GD_SPECIAL_LANEID * GD_LANE_BYTES | GD_AREA_SPECIAL, lane, 4, lane);
        gd_lane_put(warp, GD_SPECIAL_GRIDID * GD_LANE_BYTES | GD_AREA_SPECIAL, lane, 8,
                    warp->cta->view->grid_number);
    }
}

/* The special registers that all warps of a CTA share. */
static void fill_common(gd_warp *warp)
{
    const gd_cta *cta = warp->cta;
    const gd_grid_view *view = cta->view;

    for (uint32_t i = 0; i < 3; i++) {
        fill(warp, GD_SPECIAL_NTID_X + i, view->block[i]);
        fill(warp, GD_SPECIAL_CTAID_X + i, cta->position[i]);
        fill(warp, GD_SPECIAL_NCTAID_X + i, view->grid[i]);
        fill(warp, GD_SPECIAL_CLUSTERID_X + i, cta->position[i] / view->cluster[i]);
        fill(warp, GD_SPECIAL_NCLUSTERID_X + i, view->grid[i] / view->cluster[i]);
        fill(warp, GD_SPECIAL_CLUSTER_CTAID_X + i, cta->position[i] % view->cluster[i]);
        fill(warp, GD_SPECIAL_CLUSTER_NCTAID_X + i, view->cluster[i]);
    }
    fill(warp, GD_SPECIAL_CLUSTER_CTARANK, cta->rank);
    fill(warp, GD_SPECIAL_CLUSTER_NCTARANK, view->cluster[0] * view->cluster[1] * view->cluster[2]);
    fill(warp, GD_SPECIAL_EXPLICIT_CLUSTER, view->explicit_cluster ? UINT32_MAX : 0);
    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        gd_lane_put(warp, GD_SPECIAL_SHARED_BASE * GD_LANE_BYTES | GD_AREA_SPECIAL, lane, 8,
                    cta->rank << GD_RANK_SHIFT);
    fill(warp, GD_SPECIAL_NWARPID, 64);
    fill(warp, GD_SPECIAL_SMID, cta->multiprocessor);
    fill(warp, GD_SPECIAL_NSMID, view->multiprocessors);
    fill(warp, GD_SPECIAL_DYNAMIC_SMEM_SIZE, view->dynamic_shared_bytes);
    const uint32_t shared = view->entry->static_shared_bytes + view->dynamic_shared_bytes;
    fill(warp, GD_SPECIAL_TOTAL_SMEM_SIZE, (shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT);
    fill(warp, GD_SPECIAL_RESERVED_SMEM, GD_SHARED_START);
    fill(warp, GD_SPECIAL_RESERVED_PART, GD_SHARED_START / 4);
    fill(warp, GD_SPECIAL_WORKSPACE_HIGH, (uint32_t)(view->workspace >> 32));
    fill(warp, GD_SPECIAL_WORKSPACE_LOW, (uint32_t)view->workspace);
    fill_lanes(warp);
}

static void fill_specials(gd_warp *warp)
{
    const uint32_t *block = warp->cta->view->block;
    uint32_t thread[3];

    if (warp->index)
        memcpy(warp->specials, warp->cta->warps[0].specials, SPECIAL_BYTES);
    else
        fill_common(warp);
    fill(warp, GD_SPECIAL_WARPID, warp->index);
    gd_thread_position(warp, 0, thread);
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        for (uint32_t i = 0; i < 3; i++)
            gd_lane_put(warp, (GD_SPECIAL_TID_X + i) * GD_LANE_BYTES | GD_AREA_SPECIAL, lane, 4,
                        thread[i]);
        if (++thread[0] < block[0])
            continue;
        thread[0] = 0;
        if (++thread[1] < block[1])
            continue;
        thread[1] = 0;
        thread[2]++;
    }
}

static void start_warp(gd_cta *cta, uint32_t index, unsigned char *place)
{
    const gd_image *image = cta->image;
    gd_warp *warp = &cta->warps[index];
    uint32_t threads = cta->thread_count - index * GD_LANES;

    warp->cta = cta;
    warp->index = index;
    warp->calls = image->routine_count > 1;
    warp->live = threads >= GD_LANES ? UINT32_MAX : (UINT32_C(1) << threads) - 1;
    warp->ready = warp->live;
    warp->frames = place;
    warp->specials = place + image->frame_bytes;
    warp->areas[GD_AREA_FRAME] = warp->frames;
    warp->areas[GD_AREA_CONSTANT] = image->constants;
    warp->areas[GD_AREA_SPECIAL] = warp->specials;
    warp->areas[GD_AREA_SINK] = warp->specials + SPECIAL_BYTES;
    warp->returns = cta->returns + (size_t)index * image->depth * GD_LANES;
    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        warp->pcs[lane] = image->routines[0].start;
    fill_specials(warp);
}

/* ---- memory of CTAs that have ended, for others ----
 *
 * Launches of a kernel need the same sizes again and again, and the system takes longer to give
 * memory than the emulator to clear it. With AddressSanitizer nothing is kept, so that it sees who
 * uses memory of a CTA that has ended. */

typedef struct spare {
    struct spare *next;
} spare;

enum { SPARE_SIZES = 16, SPARE_BYTES = 1 << 26 };

static struct {
    struct {
        size_t bytes;
        spare *first;
    } sizes[SPARE_SIZES];
    uint32_t oldest;
    size_t kept; /* bytes */
} spares;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS false
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define KEEPS false
#elif !defined(KEEPS)
#define KEEPS true
#endif

static void drop_spares(uint32_t index)
{
    while (spares.sizes[index].first) {
        spare *one = spares.sizes[index].first;
        spares.sizes[index].first = one->next;
        spares.kept -= spares.sizes[index].bytes;
        free(one);
    }
}

/* Memory of zeros, given back by `give`. */
static void *take(size_t bytes)
{
    for (uint32_t i = 0; i < SPARE_SIZES; i++) {
        spare *one = spares.sizes[i].first;
        if (!one || spares.sizes[i].bytes != bytes)
            continue;
        spares.sizes[i].first = one->next;
        spares.kept -= bytes;
        return memset(one, 0, bytes);
    }
    return calloc(1, bytes);
}

static void give(void *memory, size_t bytes)
{
    uint32_t i = 0;

    if (!KEEPS || !memory || bytes > SPARE_BYTES - spares.kept) {
        free(memory);
        return;
    }
    while (i < SPARE_SIZES && spares.sizes[i].bytes != bytes)
        i++;
    if (i == SPARE_SIZES) {
        i = spares.oldest++ % SPARE_SIZES;
        drop_spares(i);
        spares.sizes[i].bytes = bytes;
    }
    spare *one = memory;
    one->next = spares.sizes[i].first;
    spares.sizes[i].first = one;
    spares.kept += bytes;
}

void gd_cta_free_spares(void)
{
    for (uint32_t i = 0; i < SPARE_SIZES; i++)
        drop_spares(i);
}

static size_t stride_of(const gd_cta *cta)
{
    return (size_t)cta->image->frame_bytes + SPECIAL_BYTES + SINK_BYTES;
}

static size_t block_bytes(const gd_cta *cta)
{
    return stride_of(cta) * cta->warp_count + 64;
}

static size_t shared_size(const gd_cta *cta)
{
    return (size_t)cta->shared_bytes + 16;
}

static size_t local_size(const gd_cta *cta)
{
    return (size_t)cta->local_bytes * cta->warp_count * GD_LANES + 16;
}

/* Takes what the CTA's threads need; false when there is no memory. */
static bool take_memory(gd_cta *cta)
{
    const gd_image *image = cta->image;
    const size_t stride = stride_of(cta);

    cta->warps = calloc(cta->warp_count, sizeof *cta->warps);
    cta->block = take(block_bytes(cta));
    cta->shared = take(shared_size(cta));
    cta->local = take(local_size(cta));
    if (cta->local_bytes && cta->race && gd_race_seeks_uninitialized(cta->view->race))
        cta->local_written =
            calloc(1, local_size(cta) / 8); /* without it the CTA's local memory goes unchecked */
    cta->returns =
        calloc((size_t)cta->warp_count * (image->depth + 1), GD_LANES * sizeof *cta->returns);
    if (!cta->warps || !cta->block || !cta->shared || !cta->local || !cta->returns)
        return false;
    unsigned char *place = (unsigned char *)(((uintptr_t)cta->block + 63) & ~(uintptr_t)63);
    for (uint32_t i = 0; i < cta->warp_count; i++)
        start_warp(cta, i, place + stride * i);
    return true;
}

/* ---- the contract of machine.h ---- */

gd_cta *gd_cta_create(const gd_grid_view *view, const uint32_t cta_position[3],
                      uint32_t multiprocessor, uint32_t slot)
{
    gd_cta *cta = calloc(1, sizeof *cta);

    if (!cta)
        return NULL;
    cta->view = view;
    cta->image = (const gd_image *)(const void *)view->entry;
    memcpy(cta->position, cta_position, sizeof cta->position);
    cta->multiprocessor = multiprocessor;
    cta->slot = slot;
    cta->thread_count = view->block[0] * view->block[1] * view->block[2];
    cta->live_threads = cta->thread_count;
    cta->warp_count = (cta->thread_count + GD_LANES - 1) / GD_LANES;
    uint32_t reserved = view->entry->reserved_shared ? GD_SHARED_START : 0;
    cta->shared_bytes = reserved + view->entry->static_shared_bytes + view->entry->padding_bytes +
                        view->dynamic_shared_bytes;
    cta->rank = gd_cluster_rank(view, cta_position);
    cta->shared_start = GD_SHARED_START - reserved + (cta->rank << GD_RANK_SHIFT);
    cta->local_bytes = view->entry->local_bytes;
    cta->sweeps = gd_sweeps_find();
    if (view->race) /* NULL when the detector has stopped */
        cta->race = gd_race_cta_create(view->race, view->race_task, cta->position,
                                       cta->thread_count, cta->shared_start, cta->shared_bytes);
    if (!gd_cluster_alone(cta) || !take_memory(cta)) {
        gd_cta_destroy(cta);
        return NULL;
    }
    return cta;
}

void gd_cta_destroy(gd_cta *cta)
{
    if (!cta)
        return;
    if (cta->race)
        gd_race_cta_destroy(cta->view->race, cta->race);
    gd_cluster_leave(cta);
    free(cta->warps);
    give(cta->block, block_bytes(cta));
    give(cta->shared, shared_size(cta));
    give(cta->local, local_size(cta));
    free(cta->local_written);
    free(cta->returns);
    free(cta);
}

gd_cta_state gd_cta_run_to_trigger(gd_cta *cta, uint64_t steps, uint64_t now)
{
    cta->stops = true;
    gd_cta_state state = gd_cta_run(cta, steps, now);
    cta->stops = cta->stopped = false;
    return state;
}

gd_cta_state gd_cta_run(gd_cta *cta, uint64_t steps, uint64_t now)
{
    fenv_t environment;

    if (cta->fault.kind != GD_FAULT_NONE)
        return GD_CTA_FAULT;
    memset(cta->recent, 0, sizeof cta->recent); /* what was freed since may be forgotten */
    cta->now = now;
    cta->run_start = cta->cycles;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    gd_cta_state state = run_rounds(cta, steps);
    fesetenv(&environment);
    return state;
}

uint64_t gd_cta_time(const gd_cta *cta)
{
    return cta->now + (cta->cycles - cta->run_start);
}

void gd_cta_release(gd_cta *cta, uint64_t time)
{
    cta->released = true;
    cta->release_time = time;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        if (cta->race && warp->at_grid)
            gd_race_grid_wait(cta->race, i, warp->at_grid);
        gd_warp_wake(warp, warp->at_grid, &warp->at_grid, true);
    }
}

bool gd_cta_triggered(const gd_cta *cta)
{
    return cta->triggered;
}

uint64_t gd_cta_cycles(const gd_cta *cta)
{
    return cta->cycles;
}

uint64_t gd_cta_instructions(const gd_cta *cta)
{
    return cta->instructions;
}

const gd_fault *gd_cta_get_fault(const gd_cta *cta)
{
    return &cta->fault;
}
