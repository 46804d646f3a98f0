/* What griddep tune --hops tells: times of hops by both carriers, and where NCCL takes over. */
#ifndef GD_CLI_HOPSREPORT_H
#define GD_CLI_HOPSREPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

enum { GD_HOPS_SIZES = 15 };

typedef struct gd_hops_size {
    uint64_t bytes;
    double inbox_us, nccl_us; /* medians of an all_reduce */
} gd_hops_size;

typedef struct gd_hops {
    gd_hops_size sizes[GD_HOPS_SIZES]; /* ascending */
    size_t size_count;
    uint64_t nccl_bytes; /* from here on NCCL is faster; UINT64_MAX: nowhere */
} gd_hops;

typedef struct gd_hopsreport {
    const gd_hops *hops;
    const griddep_runtime_info *devices; /* two */
    bool remembered;
} gd_hopsreport;

void gd_hopsreport_print(const gd_hopsreport *report);
void gd_hopsreport_print_json(const gd_hopsreport *report);

#endif
