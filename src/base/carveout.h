/* The splits of a multiprocessor's memory into L1 cache and shared memory that there are on compute
 * capability 9.0 and 10.0 (CUDA programming guide), and which of them a preferred carve-out
 * means. */
#ifndef GD_BASE_CARVEOUT_H
#define GD_BASE_CARVEOUT_H

#include <stdint.h>

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
