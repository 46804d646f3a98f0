/* A part of a device's multiprocessors: a green context. */
#ifndef GD_RUN_PART_H
#define GD_RUN_PART_H

#include "griddep.h"
#include "run/runtime.h"

/* Whether the driver can. */
bool gd_part_can(const gd_driver *driver);

/* Makes runtime->green of what options ask for, and its context the runtime's; the primary context
 * is retained. */
int32_t gd_part_open(griddep_runtime *runtime, const griddep_runtime_options *options,
                     griddep_error *error);

#endif
