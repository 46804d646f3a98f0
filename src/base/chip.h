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

/* The splits of a multiprocessor's memory into L1 cache and shared memory that there are on compute
 * capability 9.0 and 10.0 (CUDA programming guide), and which of them a preferred carve-out
 * means. */
enum { GD_CARVEOUT_LARGEST = 228 * 1024 };

/* The least split with `percent` of the memory as shared memory that also holds `needed` bytes. */
static inline uint32_t gd_carveout_setting(uint32_t percent, uint64_t needed)
{
    static const uint16_t settings[] = {8, 16, 32, 64, 100, 132, 164, 196, 228}; /* KiB */
    uint64_t wanted = (uint64_t)GD_CARVEOUT_LARGEST * percent / 100;

    wanted = wanted > needed ? wanted : needed;
    for (uint32_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (wanted <= settings[i] * 1024u)
            return settings[i] * 1024u;
    }
    return GD_CARVEOUT_LARGEST;
}

#endif
