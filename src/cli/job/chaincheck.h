/* The library's check of a chain, asked for a plan. */
#ifndef GD_CLI_CHAINCHECK_H
#define GD_CLI_CHAINCHECK_H

#include <stdint.h>

#include "griddep.h"

#include "cli/plan/modulefile.h"
#include "cli/plan/plan.h"

/* Checks the plan's launches in their order, each with the PTX (NULL: what is known of the module
 * without it) and the GRIDDEP_PDL_* that stand at its place. */
int32_t gd_chaincheck_texts(const gd_plan *plan, const gd_modulefile_list *modules,
                            const griddep_ptx *const *texts, const int32_t *pdl,
                            griddep_findings **findings, griddep_error *error);

/* The same with the modules' texts. pdl: GRIDDEP_PDL_* for launches that say nothing.
 * Returns 0 with findings to destroy, or an exit code after a message. */
int gd_chaincheck_run(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                      griddep_findings **findings);

/* Prints the first errors of that check on stderr as warnings, for a run that goes on all the same.
 * Returns as above. */
int gd_chaincheck_warn(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                       bool dependent);

#endif
