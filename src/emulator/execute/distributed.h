/* What CTAs of a cluster do with one another. */
#ifndef GD_EMULATOR_EXECUTE_DISTRIBUTED_H
#define GD_EMULATOR_EXECUTE_DISTRIBUTED_H

#include "emulator/execute/cluster.h"

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
