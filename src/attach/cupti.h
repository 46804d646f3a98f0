/* CUPTI's records of kernels, as far as they are read; tests/unit/abi_check.c compares. */
#ifndef GD_ATTACH_CUPTI_H
#define GD_ATTACH_CUPTI_H

#include <stdint.h>

/* CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: kernels go on overlapping. */
enum { GD_CUPTI_KERNEL = 10 };

/* The first members of CUpti_ActivityKernel5 and all that came behind it. */
typedef struct gd_cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node; /* 0: none */
} gd_cupti_kernel;

#endif
