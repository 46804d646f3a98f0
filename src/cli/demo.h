/* The demo's chain, for other subcommands. */
#ifndef GD_CLI_DEMO_H
#define GD_CLI_DEMO_H

#include "griddep.h"

#include "cli/plan/plan.h"

/* Builds the plan that 'griddep demo' runs by default on a device. The plan is zero before. Returns
 * 0, or an exit code after a message where the device cannot run it. */
int gd_demo_make_plan(const griddep_runtime_info *info, gd_plan *plan);

#endif
