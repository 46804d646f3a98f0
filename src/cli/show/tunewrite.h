/* Writing a tuned chain: its kernels' PTX, and a chain file that uses them. */
#ifndef GD_CLI_TUNEWRITE_H
#define GD_CLI_TUNEWRITE_H

#include "griddep.h"

#include "cli/plan/chainfile.h"
#include "cli/plan/plan.h"

/* Before the search: whether these files can be written there. Returns 0, or an exit code after a
 * message. */
int gd_tunewrite_check(const char *folder, const gd_plan *plan);

/* Writes chain.yaml and a .ptx for each rewritten module into a folder, which is made where it is
 * not there. `path` is the chain file's; what it names is named absolutely. The chainfile is
 * changed. All files are written, or none. Returns 0, or an exit code after a message. */
int gd_tunewrite(const char *folder, const char *path, gd_chainfile *chainfile, const gd_plan *plan,
                 uint32_t multiprocessors, const griddep_tune *tune);

#endif
