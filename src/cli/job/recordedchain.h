/* A program's launches as a chain file. */
#ifndef GD_CLI_RECORDEDCHAIN_H
#define GD_CLI_RECORDEDCHAIN_H

#include "cli/job/attached.h"

/* Before the program runs: whether a folder has no chain yet. Returns 0, or GD_EXIT_USAGE after a
 * message. */
int gd_recordedchain_check(const char *folder);

/* What the chain is called. */
const char *gd_recordedchain_name(const char *program);

/* Writes the launches that were recorded whole, with modules and data, into a folder, which is made
 * where it is not there: chain.yaml and what it names. Of several processes the first one that has
 * any. Returns 0, or an exit code after a message. */
int gd_recordedchain_write(const gd_attached_set *set, const char *program, const char *folder);

#endif
