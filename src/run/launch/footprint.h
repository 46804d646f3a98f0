/* What CTAs take of an SM: how many are resident, and how many of another kernel fit beside
 * them. */
#ifndef GD_RUN_FOOTPRINT_H
#define GD_RUN_FOOTPRINT_H

#include <stdint.h>

#include "griddep.h"
#include "run/launch/launch.h"
#include "run/private.h"

/* One CTA; `alone` is how many of them an empty SM holds, `grid` how many there are. */
typedef struct gd_footprint {
    uint64_t threads, registers, shared;
    uint64_t grid;
    uint32_t alone;
} gd_footprint;

/* What of a grid is on the SMs at once. */
typedef struct gd_residence {
    uint64_t waves;
    uint32_t full;        /* CTAs on an SM while the grid has more to come */
    uint32_t most, least; /* likewise of the last wave, on the SMs with the most and the fewest */
} gd_residence;

/* reserved: bytes of shared memory that the driver keeps in each CTA. */
void gd_footprint_read(const griddep_kernel *kernel, const gd_launch *launch, uint32_t reserved,
                       gd_footprint *footprint);

/* The same in numbers. */
void gd_footprint_make(const griddep_runtime_info *device, const gd_room_launch *launch,
                       gd_footprint *footprint);

void gd_footprint_spread(const gd_footprint *footprint, int32_t multiprocessors,
                         gd_residence *residence);

/* Bytes of shared memory that an SM is set to for a kernel whose carve-out asks for so many
 * percent: the smallest setting that holds them and one CTA. 0 where the settings of the device are
 * not known. */
uint32_t gd_footprint_setting(const griddep_runtime_info *device, const gd_footprint *kernel,
                              int32_t percent);

/* How many CTAs of `other` an SM takes beside `count` of `resident`. `what` (may be NULL) is set to
 * what there is least room for: "registers". */
uint32_t gd_footprint_fits(const griddep_runtime_info *device, const gd_footprint *resident,
                           uint32_t count, const gd_footprint *other, const char **what);

#endif
