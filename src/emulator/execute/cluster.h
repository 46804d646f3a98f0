/* A thread block cluster: the CTAs that are resident together, reach one another's shared memory,
 * and share a barrier.
 *
 * A shared address has the rank of its CTA in bits 24 to 31, in the generic window too, as on an
 * H200: the shared memory of rank r begins at r << 24. What lies there in an access of .shared::cta
 * must be the executing CTA's own. */
#ifndef GD_EMULATOR_EXECUTE_CLUSTER_H
#define GD_EMULATOR_EXECUTE_CLUSTER_H

#include "emulator/execute/execute.h"

enum { GD_RANK_SHIFT = 24, GD_CLUSTER_MOST = 16 };

struct gd_cluster {
    gd_cta *members[GD_CLUSTER_MOST]; /* by rank; NULL for those that are gone */
    uint32_t size;
    uint32_t present; /* members that are not gone */
    uint32_t live_threads;
    uint32_t arrived; /* live threads that have arrived in this phase of the barrier */
    uint32_t phase;
    bool woke; /* lanes of another CTA than the one that runs can go on */
};

/* Makes a new CTA a cluster of one; false when there is no memory. */
bool gd_cluster_alone(gd_cta *cta);

/* A CTA is about to go. */
void gd_cluster_leave(gd_cta *cta);

/* A CTA's place in its cluster, and the clusters of its grid; the first shared address of rank r is
 * r << GD_RANK_SHIFT. */
uint32_t gd_cluster_rank(const gd_grid_view *view, const uint32_t cta[3]);

/* Lanes of a warp have exited. */
void gd_cluster_exit(gd_warp *warp, uint32_t mask);

/* Completes the phase of the barrier when all live threads have arrived. */
void gd_cluster_check(gd_cluster *cluster, const gd_cta *running);

/* Whether no member can go on: each thread waits for others of the cluster, and none for anything
 * outside. */
bool gd_cluster_is_stuck(const gd_cluster *cluster);

/* Where the cluster's barrier stands, rank by rank, for a deadlock's message. */
void gd_cluster_describe(const gd_cluster *cluster, char *text, size_t bytes);

gd_run gd_run_cluster_arrive, gd_run_cluster_wait;
gd_run gd_run_need_cluster; /* x: of red.async; a fault where nothing asked for clusters */
gd_run gd_run_mapa;         /* d = address a (bytes) in the CTA of rank b */
gd_run gd_run_ctarank;      /* d = rank of the CTA that address a (bytes) belongs to */

/* Where a shared address that may belong to another CTA of the cluster lies; NULL after a fault. */
unsigned char *gd_cluster_access(gd_warp *warp, const gd_code *code, uint32_t lane,
                                 uint64_t address, uint32_t bytes, bool write);

/* The same address in the CTA of another rank. */
uint64_t gd_cluster_map(uint64_t address, uint32_t rank);

#endif
