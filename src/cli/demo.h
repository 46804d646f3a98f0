/* The demo's chain, for other subcommands. */
#ifndef GD_CLI_DEMO_H
#define GD_CLI_DEMO_H

#include <stdint.h>

#include "griddep.h"

#include "cli/plan.h"

/* Builds the feed-forward chain of so many layers of rows x columns, both multiples of 8, for a device. */
void gd_demo_build(uint64_t layers, uint64_t rows, uint64_t columns, const griddep_runtime_info *info, gd_plan *plan);

#endif
