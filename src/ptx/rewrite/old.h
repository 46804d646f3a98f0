/* What newer versions of PTX and newer chips do not take any more, in a text that is to be raised
 * to them. */
#ifndef GD_PTX_REWRITE_OLD_H
#define GD_PTX_REWRITE_OLD_H

#include "griddep.h"
#include "ptx/isa/form.h"

/* GRIDDEP_ERROR_UNSUPPORTED with the place where the check refuses what it takes now, once the head
 * is raised to a version and target; what means another thing there is refused by it too. */
int32_t gd_rewrite_check_old(const gd_ptx_module *module, gd_need need, griddep_error *error);

/* Whether a word of .target can go: map_f64_to_f32, which says nothing about a text without
 * .f64. */
bool gd_rewrite_may_drop(const gd_ptx_module *module, uint32_t token);

#endif
