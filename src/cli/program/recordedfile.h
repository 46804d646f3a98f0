/* The plan of a program's launches as a chain file, with what it names in the same folder. */
#ifndef GD_CLI_RECORDEDFILE_H
#define GD_CLI_RECORDEDFILE_H

#include "cli/plan/plan.h"

/* Before the program runs: whether a folder has no chain yet. Returns 0, or GD_EXIT_USAGE after a
 * message. */
int gd_recordedfile_check(const char *folder);

/* Writes a plan that gd_recordedchain_make made into a folder, which is made where it is not there:
 * chain.yaml and what it names. Returns 0, or an exit code after a message. */
int gd_recordedfile_write(const gd_plan *plan, const char *folder);

#endif
