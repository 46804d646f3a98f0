/* Distributed shared memory and the cluster's barrier. */
#include <inttypes.h>

#include "base/plural.h"
#include "emulator/execute/distributed.h"
#include "emulator/execute/program.h"

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

/* ---- the barrier ---- */

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
