/* From a chain file to a plan. */
#ifndef GD_CLI_PLANFILE_H
#define GD_CLI_PLANFILE_H

#include "cli/plan/chainfile.h"
#include "cli/plan/plan.h"

/* Whether a path names a chain file: .yaml, .yml. */
bool gd_planfile_is(const char *path);

/* Reads every value and resolves every name. The plan keeps pointers to the chain file's path,
 * nothing else. Returns 0, or GD_EXIT_USAGE after a message; the plan is to be freed either way. */
int gd_planfile_read(const gd_chainfile *chainfile, gd_plan *plan);

/* The same from a path, for callers that need nothing else of the file. */
int gd_planfile_load(const char *path, gd_plan *plan);

#endif
