/* What device, kernel and shape say of a launch's attributes. */
#ifndef GD_RUN_ATTRIBUTE_CHECK_H
#define GD_RUN_ATTRIBUTE_CHECK_H

#include "base/chip.h"
#include "griddep.h"
#include "run/launch/launch.h"

/* Checks the attributes of a launch whose config is filled but for attrs; opts the kernel in to
 * large clusters. The kernel's context must be current. */
int32_t gd_attribute_check(griddep_kernel *kernel, const gd_launch *launch, griddep_error *error);

/* Adds to the error of a launch that the driver refused what cluster it had, and where that was the
 * reason, what the device can have. */
void gd_attribute_explain(const griddep_kernel *kernel, const gd_launch *launch, gd_CUresult result,
                          griddep_error *error);

/* "the cluster (attribute 4)"; for an id that is not known "attribute N". Writes at most `capacity`
 * bytes. */
void gd_attribute_name(int32_t id, char *name, size_t capacity);

#endif
