/* Limits of launches that hold on every device, or on those that can run a target's code: for the
 * checks that have no device, and for the emulated one. */
#ifndef GD_BASE_CHIP_H
#define GD_BASE_CHIP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GD_CHIP_BLOCK_X = 1024,
    GD_CHIP_BLOCK_Y = 1024,
    GD_CHIP_BLOCK_Z = 64,
    GD_CHIP_THREADS = 1024, /* of a block */
    GD_CHIP_GRID_X = INT32_MAX,
    GD_CHIP_GRID_Y = 65535,
    GD_CHIP_GRID_Z = 65535,
    GD_CHIP_SHARED = 49152,       /* of a block that does not opt in to more */
    GD_CHIP_PORTABLE_CLUSTER = 8, /* blocks that every device with clusters can launch */
    GD_CHIP_LARGEST_CLUSTER =
        16, /* with the non-portable sizes (CUDA programming guide, Thread Block Clusters) */
#define CHIP(capability, shared, cluster) GD_CHIP_SHARED_##capability = shared,
#include "base/chip.def"
#undef CHIP
};

typedef struct gd_chip {
    uint32_t shared_bytes; /* of a block */
    uint32_t cluster;      /* blocks; 0: there are no clusters */
} gd_chip;

/* Whether a chip runs PTX of a target ("sm_90a": capability 90, suffix 'a'): that chip alone behind
 * an 'a', its family behind an 'f', otherwise it and every later one. */
bool gd_chip_runs(int32_t chip, int32_t capability, char suffix);

/* The most that a device allows which runs the code of a target ("sm_90a", "sm_80"): that chip
 * alone behind an 'a', its family behind an 'f', otherwise it and every later one. Of targets that
 * are not known, nothing is refused. */
gd_chip gd_chip_of_target(const char *target, int32_t capability);

#endif
