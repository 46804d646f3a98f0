/* How fast the device's memory can be read: the bound that a chain of weight-streaming kernels
 * works against. */
#ifndef GD_CLI_CEILING_H
#define GD_CLI_CEILING_H

#include <stdint.h>

#include "griddep.h"

/* Measures bytes per second of a kernel that only reads, over memory that is much larger than the
 * L2 cache. Returns 0, or an exit code after a message. */
int gd_ceiling_measure(griddep_runtime *runtime, uint32_t samples, double *bytes_per_second);

#endif
