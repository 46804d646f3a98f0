/* A chain's graph as a picture. */
#ifndef GD_CLI_GRAPHSVG_H
#define GD_CLI_GRAPHSVG_H

#include "griddep.h"

#include "cli/plan/plan.h"

/* Writes a graph made of the plan's launches, in this mode. Returns 0, or an exit code after a
 * message. */
int gd_graphsvg_write(const griddep_graph *graph, const gd_plan *plan, const char *mode,
                      const char *path);

#endif
