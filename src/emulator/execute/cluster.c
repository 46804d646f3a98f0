/* Clusters: which CTAs belong together, and the barrier that their threads share (PTX ISA
 * 9.7.13.4). */
#include <stdio.h>
#include <stdlib.h>

#include "emulator/execute/cluster.h"

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
