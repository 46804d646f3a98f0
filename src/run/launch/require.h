/* A kernel's conditions (ptx/require/require.h) at a launch. */
#ifndef GD_RUN_REQUIRE_H
#define GD_RUN_REQUIRE_H

#include "run/module/kernel.h"
#include "run/launch/launch.h"

/* Checks a made launch, with a pointer to each argument: REQUIREMENT names the first condition that
 * does not hold. For gd_require_check. */
int32_t gd_require_check_all(const griddep_kernel *kernel, const gd_launch *launch,
                             void *const *arguments, griddep_error *error);

static inline int32_t gd_require_check(const griddep_kernel *kernel, const gd_launch *launch,
                                       void *const *arguments, griddep_error *error)
{
    return kernel->terms && kernel->terms->count
               ? gd_require_check_all(kernel, launch, arguments, error)
               : GRIDDEP_OK;
}

/* How far a made launch may touch from the address on that it has as argument `parameter`.
 * NOT_FOUND where the head comment does not tell. */
int32_t gd_require_reach(const griddep_kernel *kernel, const gd_launch *launch,
                         void *const *arguments, uint32_t parameter, uint64_t *bytes,
                         griddep_error *error);

#endif
