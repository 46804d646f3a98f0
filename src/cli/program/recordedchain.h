/* A program's launches as a plan. */
#ifndef GD_CLI_RECORDEDCHAIN_H
#define GD_CLI_RECORDEDCHAIN_H

#include "cli/plan/plan.h"
#include "cli/program/attached.h"

/* What the chain is called. */
const char *gd_recordedchain_name(const char *program);

/* Makes a plan of the launches that were recorded whole, with modules and data, which it takes from
 * the records. Of several processes the first one that has any. Returns 0, or an exit code after a
 * message; the plan is to be freed either way. */
int gd_recordedchain_make(const gd_attached_set *set, const char *program, gd_plan *plan);

#endif
