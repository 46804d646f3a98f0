/* Shapes that a tuner tries of the shelf's kernels. */
#ifndef GD_RUN_MODULE_SHAPE_H
#define GD_RUN_MODULE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

enum { GD_SHAPE_MOST = 32 }; /* shapes of a kernel */

/* grid[0], block[0] and shared_bytes of shape `index` of the kernels like this one, for a device;
 * the kernel's head comment may refuse it. False: there are no more, or the kernel has one. */
bool gd_shape_get(const char *kernel, const griddep_runtime_info *device, uint32_t index,
                  griddep_launch_config *config);

#endif
