/* Checks of a plan that need no driver. Each returns 0, or GD_EXIT_USAGE after a message. */
#ifndef GD_CLI_PLANCHECK_H
#define GD_CLI_PLANCHECK_H

#include "cli/plan/modulefile.h"
#include "cli/plan/plan.h"

/* What holds on every machine: entries and parameters of PTX that can be read, references where
 * they are asked for, no writes to what is constant. */
int gd_plan_check(const gd_plan *plan, const gd_modulefile_list *modules);

/* Whether this machine's memory takes all the buffers. */
int gd_plan_check_memory(const gd_plan *plan);

/* Both, with the modules' files, which are read into an empty list; it is to be freed either
 * way. */
int gd_plan_check_files(const gd_plan *plan, gd_modulefile_list *modules);

/* The same for callers that do not need the files any more. */
int gd_plan_check_whole(const gd_plan *plan);

#endif
