/* Conditions and extents of an entry as the public header has them: for griddep_ptx_* and
 * griddep_kernel_*. `terms` may be NULL in all of them: no conditions. */
#ifndef GD_PTX_HANDLE_REQUIREMENT_H
#define GD_PTX_HANDLE_REQUIREMENT_H

#include "griddep.h"
#include "ptx/require/require.h"

/* REQUIREMENT with the first condition that does not hold. */
int32_t gd_requirement_check(const gd_requires *terms, gd_require_launch *launch,
                             const char *kernel, griddep_error *error);

/* NOT_FOUND past the last. */
int32_t gd_requirement_write(const gd_requires *terms, uint32_t index, const char *kernel,
                             griddep_requirement_info *info, griddep_error *error);

/* NOT_FOUND where the extent of that parameter is not told. */
int32_t gd_requirement_extent(const gd_requires *terms, gd_require_launch *launch,
                              const char *kernel, uint32_t parameter, uint64_t *bytes,
                              griddep_error *error);

#endif
