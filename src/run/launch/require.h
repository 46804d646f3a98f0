/* A kernel's conditions (ptx/require/require.h) at a launch. */
#ifndef GD_RUN_REQUIRE_H
#define GD_RUN_REQUIRE_H

#include <stddef.h>

#include "run/module/kernel.h"
#include "run/launch/launch.h"

/* Checks a made launch, with a pointer to each argument: REQUIREMENT names the first condition that
 * does not hold. For gd_require_check. */
int32_t gd_require_check_all(const griddep_kernel *kernel, const gd_launch *launch,
                             void *const *arguments, griddep_error *error);

static inline int32_t gd_require_check(const griddep_kernel *kernel, const gd_launch *launch,
                                       void *const *arguments, griddep_error *error)
{
    _Static_assert(offsetof(gd_CUlaunchConfig, sharedMemBytes) ==
                       GD_REQUIRE_PLAIN_SHARED * sizeof(uint32_t),
                   "it begins with a plain shape");
    return !kernel->terms || !kernel->terms->count ||
                   gd_requires_pass(kernel->terms, (const uint32_t *)(const void *)&launch->config,
                                    arguments)
               ? GRIDDEP_OK
               : gd_require_check_all(kernel, launch, arguments, error);
}

/* The same of a launch that has passed with other arguments. */
static inline int32_t gd_require_check_arguments(const griddep_kernel *kernel,
                                                 const gd_launch *launch, void *const *arguments,
                                                 griddep_error *error)
{
    return !kernel->terms || !kernel->terms->count ||
                   gd_requires_pass(kernel->terms, NULL, arguments)
               ? GRIDDEP_OK
               : gd_require_check_all(kernel, launch, arguments, error);
}

/* How far a made launch may touch from the address on that it has as argument `parameter`.
 * NOT_FOUND where the head comment does not tell. */
int32_t gd_require_reach(const griddep_kernel *kernel, const gd_launch *launch,
                         void *const *arguments, uint32_t parameter, uint64_t *bytes,
                         griddep_error *error);

#endif
