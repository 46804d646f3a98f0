/* One launch: a checked configuration in the driver's terms, and the decision about attribute 6. */
#ifndef GD_RUN_LAUNCH_H
#define GD_RUN_LAUNCH_H

#include "griddep.h"
#include "run/kernel.h"

enum { GD_LAUNCH_ATTRIBUTES = 32 }; /* most that a caller may give */

typedef struct gd_launch {
    gd_CUlaunchConfig config;         /* attrs and numAttrs are set by gd_launch_allow_overlap */
    int32_t pdl;                      /* GRIDDEP_PDL_*, resolved: never DEFAULT */
    uint32_t attribute_count;         /* besides attribute 6 */
    gd_CUlaunchAttribute *attributes; /* [0] is attribute 6; then the cluster; then the caller's */
} gd_launch;

/* Room for the attributes of any launch. */
typedef struct gd_launch_room {
    gd_CUlaunchAttribute attributes[GD_LAUNCH_ATTRIBUTES + 2];
} gd_launch_room;

/* Checks a caller's configuration against kernel and device, and fills a launch, whose attributes go into `room`. The
 * kernel's context must be current when the launch needs to opt in to more shared memory. */
int32_t gd_launch_make(griddep_kernel *kernel, const griddep_launch_config *config, gd_launch_room *room,
                       gd_launch *launch, griddep_error *error);

/* Whether attribute 6 may be set for a kernel: GRIDDEP_REASON_SET, _FORCED, or why not. */
int32_t gd_launch_decide(const griddep_kernel *kernel, int32_t pdl);
int32_t gd_launch_decide_traits(const griddep_runtime *runtime, uint32_t traits, int32_t pdl);

/* Points config.attrs at the attributes with or without attribute 6. */
void gd_launch_allow_overlap(gd_launch *launch, bool allow);

/* Checks arguments against the kernel's parameters in number and size. Conditionals are for kernels of graphs. */
int32_t gd_launch_check_arguments(const griddep_kernel *kernel, const griddep_argument *arguments, uint32_t count,
                                  bool conditionals, griddep_error *error);

/* Where an argument's bytes are. */
const void *gd_launch_argument_data(const griddep_argument *argument);

/* Reports a launch that the driver refused. */
int32_t gd_launch_fail(const griddep_kernel *kernel, const gd_launch *launch, gd_CUresult result, griddep_error *error);

#endif
