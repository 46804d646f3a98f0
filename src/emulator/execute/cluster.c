/* Clusters: which CTAs belong together, and the barrier that their threads share (PTX ISA
 * 9.7.13.4). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/program.h"

/* ---- members ---- */

uint32_t gd_cluster_rank(const gd_grid_view *view, const uint32_t cta[3])
{
    const uint32_t *size = view->cluster;

    return cta[0] % size[0] + size[0] * (cta[1] % size[1] + size[1] * (cta[2] % size[2]));
}

void gd_cluster_leave(gd_cta *cta)
{
    gd_cluster *cluster = cta->cluster;

    if (!cluster)
        return;
    for (uint32_t i = 0; i < cluster->size; i++)
        cluster->members[i] = cluster->members[i] == cta ? NULL : cluster->members[i];
    cta->cluster = NULL;
    if (--cluster->present == 0)
        free(cluster);
}

static gd_cluster *make(uint32_t size)
{
    gd_cluster *cluster = size <= GD_CLUSTER_MOST ? calloc(1, sizeof *cluster) : NULL;

    if (cluster)
        cluster->size = size;
    return cluster;
}

static void enter(gd_cluster *cluster, gd_cta *cta)
{
    gd_cluster_leave(cta);
    cta->cluster = cluster;
    cluster->members[cluster->size == 1 ? 0 : cta->rank] = cta;
    cluster->present++;
    cluster->live_threads += cta->live_threads;
}

bool gd_cluster_alone(gd_cta *cta)
{
    gd_cluster *cluster = make(1);

    if (cluster)
        enter(cluster, cta);
    return cluster;
}

bool gd_cluster_join(gd_cta *const *ctas, uint32_t count)
{
    if (count == 1)
        return true;
    gd_cluster *cluster = make(count);
    for (uint32_t i = 0; cluster && i < count; i++)
        enter(cluster, ctas[i]);
    return cluster;
}

/* ---- the barrier ---- */

static void wake_member(gd_cluster *cluster, gd_cta *cta, const gd_cta *running)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        cluster->woke |= cta != running && warp->at_cluster;
        cta->met |= warp->at_cluster != 0;
        if (cta->race && warp->at_cluster)
            gd_race_cluster_wait(cta->race, i, warp->at_cluster);
        gd_warp_wake(warp, warp->at_cluster, &warp->at_cluster, true);
    }
}

static void note_complete(const gd_cluster *cluster)
{
    gd_race_cta *ctas[GD_CLUSTER_MOST];
    uint32_t count = 0;

    for (uint32_t i = 0; i < cluster->size; i++) {
        if (cluster->members[i] && cluster->members[i]->race)
            ctas[count++] = cluster->members[i]->race;
    }
    if (count)
        gd_race_cluster_complete(ctas, count);
}

/* A phase ends when all threads that have not exited have arrived. */
void gd_cluster_check(gd_cluster *cluster, const gd_cta *running)
{
    if (!cluster->arrived || cluster->arrived < cluster->live_threads)
        return;
    cluster->arrived = 0;
    cluster->phase++;
    note_complete(cluster);
    for (uint32_t i = 0; i < cluster->size; i++) {
        if (!cluster->members[i])
            continue;
        cluster->members[i]->work++;
        wake_member(cluster, cluster->members[i], running);
    }
}

/* A thread that exits counts as arrived in every phase from now on; one that had arrived in this
 * one no longer counts by itself. */
void gd_cluster_exit(gd_warp *warp, uint32_t mask)
{
    gd_cluster *cluster = warp->cta->cluster;

    cluster->live_threads -= gd_count(mask);
    GD_EACH_LANE(lane, mask & warp->cluster_arrived)
    {
        cluster->arrived -= warp->cluster_phase[lane] == cluster->phase;
    }
    warp->cluster_arrived &= ~mask;
    gd_cluster_check(cluster, warp->cta);
}

/* ---- deadlocks ---- */

static bool can_change(const gd_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        if (cta->warps[i].ready || cta->warps[i].at_grid)
            return true;
    }
    return false;
}

bool gd_cluster_is_stuck(const gd_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->size; i++) {
        if (cluster->members[i] && can_change(cluster->members[i]))
            return false;
    }
    return true;
}

/* The threads of a CTA by what they wait for. */
static int describe_member(const gd_cta *cta, char *text, size_t bytes)
{
    uint32_t cluster = 0, barrier = 0, warp = 0;

    for (uint32_t i = 0; i < cta->warp_count; i++) {
        cluster += gd_count(cta->warps[i].at_cluster);
        barrier += gd_count(cta->warps[i].at_barrier);
        warp += gd_count(cta->warps[i].at_warp);
    }
    if (barrier)
        return snprintf(text, bytes, "; rank %u: %u at it, %u at barriers of the CTA", cta->rank,
                        cluster, barrier);
    if (warp)
        return snprintf(text, bytes, "; rank %u: %u at it, %u wait for lanes of their warp",
                        cta->rank, cluster, warp);
    return snprintf(text, bytes, "; rank %u: %u at it", cta->rank, cluster);
}

void gd_cluster_describe(const gd_cluster *cluster, char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < cluster->size && used < bytes; i++) {
        if (!cluster->members[i] || !cluster->members[i]->live_threads)
            continue;
        int wrote = describe_member(cluster->members[i], text + used, bytes - used);
        if (wrote < 0)
            return;
        used += (size_t)wrote;
    }
}

/* ---- addresses ---- */

uint64_t gd_cluster_map(uint64_t address, uint32_t rank)
{
    return (address & ~(UINT64_C(0xff) << GD_RANK_SHIFT)) | (uint64_t)(rank & 0xff)
                                                                << GD_RANK_SHIFT;
}

static uint32_t rank_of(uint64_t address)
{
    return (uint32_t)(address >> GD_RANK_SHIFT) & 0xff;
}

/* Measured: an H200 ends st.async and red.async as illegal instructions where neither launch nor
 * kernel gives a cluster. */
void gd_run_need_cluster(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    if (!warp->cta->view->explicit_cluster)
        gd_cta_fail(warp, code, gd_lowest(mask), GD_FAULT_UNSUPPORTED, 0, 0, false,
                    "%s.async in a launch without a cluster, which a GPU ends as an illegal "
                    "instruction; give the launch a cluster dimension, be it 1, or the kernel "
                    ".reqnctapercluster",
                    code->x ? "red" : "st");
}

void gd_run_mapa(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        uint64_t address = gd_lane_get(warp, code->a, lane, code->bytes);
        gd_lane_put(warp, code->d, lane, code->bytes,
                    gd_cluster_map(address, (uint32_t)gd_lane_get(warp, code->b, lane, 4)));
    }
}

void gd_run_ctarank(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        gd_lane_put(warp, code->d, lane, 4, rank_of(gd_lane_get(warp, code->a, lane, code->bytes)));
    }
}

/* The CTA of a rank, while it has threads (its shared memory is gone with the last of them). */
static gd_cta *find_peer(gd_warp *warp, const gd_code *code, uint32_t lane, uint32_t rank,
                         uint64_t address, uint32_t bytes, bool write)
{
    const gd_cluster *cluster = warp->cta->cluster;
    gd_cta *peer = rank == warp->cta->rank ? warp->cta
                   : rank < cluster->size  ? cluster->members[rank]
                                           : NULL;

    if (peer && peer->live_threads)
        return peer;
    if (rank < cluster->size)
        gd_cta_fail(warp, code, lane, GD_FAULT_PEER, address, bytes, write,
                    "%s %u %s at 0x%" PRIx64
                    " in the shared memory of CTA rank %u of the cluster, which has exited",
                    write ? "write to" : "read of", bytes, gd_plural(bytes, "byte", "bytes"),
                    address, rank);
    else
        gd_cta_fail(warp, code, lane, GD_FAULT_PEER, address, bytes, write,
                    "%s %u %s at 0x%" PRIx64
                    " in the shared memory of CTA rank %u; the cluster has %u",
                    write ? "write to" : "read of", bytes, gd_plural(bytes, "byte", "bytes"),
                    address, rank, cluster->size);
    return NULL;
}

unsigned char *gd_cluster_access(gd_warp *warp, const gd_code *code, uint32_t lane,
                                 uint64_t address, uint32_t bytes, bool write)
{
    uint32_t rank = rank_of(address);
    gd_cta *peer = find_peer(warp, code, lane, rank, address, bytes, write);

    if (!peer)
        return NULL;
    if (address >= peer->shared_start && address - peer->shared_start < peer->shared_bytes &&
        peer->shared_bytes - (address - peer->shared_start) >= bytes)
        return peer->shared + (address - peer->shared_start);
    gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, address, bytes, write,
                "%s %u %s of shared memory at 0x%" PRIx64
                "; CTA rank %u has %u bytes from 0x%" PRIx32,
                write ? "write to" : "read of", bytes, gd_plural(bytes, "byte", "bytes"), address,
                rank, peer->shared_bytes, peer->shared_start);
    return NULL;
}

/* ---- the barrier's instructions ---- */

void gd_run_cluster_arrive(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_cluster *cluster = warp->cta->cluster;

    if (warp->cluster_arrived & mask) {
        gd_cta_fail(warp, code, gd_lowest(warp->cluster_arrived & mask), GD_FAULT_UNSUPPORTED, 0, 0,
                    false, "barrier.cluster.arrive once more without barrier.cluster.wait between");
        return;
    }
    GD_EACH_LANE(lane, mask)
    {
        warp->cluster_phase[lane] = cluster->phase;
    }
    warp->cluster_arrived |= mask;
    if (warp->cta->race)
        gd_race_cluster_arrive(warp->cta->race, warp->index, mask, code->order & GD_ORDER_RELEASE);
    cluster->arrived += gd_count(mask);
    warp->cta->work++;
    gd_cluster_check(cluster, warp->cta);
}

void gd_run_cluster_wait(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t waiting = 0;

    if (mask & ~warp->cluster_arrived) {
        gd_cta_fail(warp, code, gd_lowest(mask & ~warp->cluster_arrived), GD_FAULT_UNSUPPORTED, 0,
                    0, false, "barrier.cluster.wait without barrier.cluster.arrive before it");
        return;
    }
    GD_EACH_LANE(lane, mask)
    {
        waiting |= warp->cluster_phase[lane] == warp->cta->cluster->phase ? UINT32_C(1) << lane : 0;
    }
    warp->cluster_arrived &= ~mask;
    warp->cta->met |= (mask & ~waiting) != 0;
    if (warp->cta->race && mask & ~waiting)
        gd_race_cluster_wait(warp->cta->race, warp->index, mask & ~waiting);
    if (waiting)
        gd_warp_hold(warp, code, waiting, &warp->at_cluster);
}

/* ---- for the scheduler ---- */

bool gd_cta_woke_others(gd_cta *cta)
{
    bool woke = cta->cluster->woke;

    cta->cluster->woke = false;
    return woke;
}

bool gd_cta_can_go_on(const gd_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        if (cta->warps[i].ready)
            return true;
    }
    return false;
}
