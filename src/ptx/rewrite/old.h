/* What newer versions of PTX and newer chips do not take any more, in a text that is to be raised
 * to them. */
#ifndef GD_PTX_REWRITE_OLD_H
#define GD_PTX_REWRITE_OLD_H

#include "griddep.h"
#include "ptx/text/module.h"

/* GRIDDEP_ERROR_UNSUPPORTED with the place where the text has something that PTX ISA 7.8 or sm_90
 * refuses, and that cannot be written anew without changing what it means. */
int32_t gd_rewrite_check_old(const gd_ptx_module *module, griddep_error *error);

/* Whether a word of .target can go: map_f64_to_f32, which says nothing about a text without
 * .f64. */
bool gd_rewrite_may_drop(const gd_ptx_module *module, uint32_t token);

#endif
