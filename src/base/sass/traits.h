/* What machine code shows of a kernel: what it does before griddepcontrol.wait. */
#ifndef GD_BASE_SASS_TRAITS_H
#define GD_BASE_SASS_TRAITS_H

#include <stdint.h>

#include "base/view.h"

/* GRIDDEP_TRAIT_* of all its instructions. OK or MEMORY. */
int32_t gd_sass_traits(gd_view code, uint32_t *traits);

#endif
