/* What a module's functions do about programmatic dependent launch: GRIDDEP_TRAIT_* in each function's `traits`. */
#ifndef GD_PTX_TRAITS_H
#define GD_PTX_TRAITS_H

#include <stdbool.h>

#include "ptx/module.h"

/* Fills `traits` of all functions with a body, in time linear in the module. WAITS_ALWAYS holds when no path from the
 * function's start to its end, to a ret or to an exit avoids an unpredicated griddepcontrol.wait, and there is one. The
 * rules:
 *
 *   - A predicated branch, ret, exit or call takes both ways; a predicated wait is no wait. A trap ends the grid, so it
 * is no exit.
 *   - A call by name of a function of the module goes on behind the call if some path through that function returns
 * without a wait, and exits if some path through it does. Recursion is a least fixed point: a path must end somewhere.
 *   - A function that is only declared, or called indirectly, is taken to return without a wait, unless it is
 * .noreturn.
 *   - brx.idx goes to each label of its .branchtargets.
 *   - A branch whose target is not known, and an instruction that ops.def does not know, may exit.
 *
 * false: no memory. */
bool gd_ptx_traits_compute(gd_ptx_module *module);

#endif
