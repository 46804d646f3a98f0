/* Timing hops between two devices by both carriers, and finding where NCCL takes over. */
#ifndef GD_CLI_HOPS_H
#define GD_CLI_HOPS_H

#include <stdbool.h>

#include "griddep.h"

#include "cli/show/hopsreport.h"

/* On the emulated driver few sizes, a run each. Returns 0, or an exit code after a message. */
int gd_hops_measure(griddep_runtime *const runtimes[2], bool emulated, gd_hops *hops);

#endif
