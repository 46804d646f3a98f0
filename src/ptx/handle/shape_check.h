/* Grid, block, cluster and shared memory of a launch against what the kernel's text asks for and
 * what devices that run the text allow. */
#ifndef GD_PTX_HANDLE_SHAPE_CHECK_H
#define GD_PTX_HANDLE_SHAPE_CHECK_H

#include "ptx/text/module.h"
#include "ptx/require/require.h"

/* `shape` as conditions have it. LIMIT, with what is too large and what there may be. */
int32_t gd_shape_check(const gd_ptx_module *module, const gd_ptx_function *entry,
                       const uint32_t shape[GD_REQUIRE_SHAPE], bool has_cluster,
                       griddep_error *error);

#endif
