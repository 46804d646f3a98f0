/* The library's check of a chain, asked for a plan. */
#ifndef GD_CLI_CHAINCHECK_H
#define GD_CLI_CHAINCHECK_H

#include <stdint.h>

#include "griddep.h"

#include "cli/plan/modulefile.h"
#include "cli/plan/plan.h"

/* What stands behind a launch's arguments, as the library's check wants it. To free. */
griddep_check_argument *gd_chaincheck_arguments(const gd_plan *plan, const gd_plan_launch *launch);

/* Checks the plan's launches in their order. pdl: GRIDDEP_PDL_* for launches that say nothing.
 * Returns 0 with findings to destroy, or an exit code after a message. */
int gd_chaincheck_run(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                      griddep_findings **findings);

/* Prints the first errors of that check on stderr as warnings, for a run that goes on all the same.
 * Returns as above. */
int gd_chaincheck_warn(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                       bool dependent);

#endif
