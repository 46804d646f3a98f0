/* How much of a chain's hops really overlaps, measured. */
#ifndef GD_CLI_OVERLAP_H
#define GD_CLI_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan.h"

enum { GD_OVERLAP_RUNS = 5 };

/* Of a launch and the one before it in its lane. */
typedef struct gd_overlap {
    bool known;                      /* both left stamps */
    int64_t lead, shortest, longest; /* ns from the launch's first block to the last block's end of the one before: the
                                       median of the runs, and their range; below 0: it began after that */
} gd_overlap;

/* Runs the plan with stamped kernels in a mode, and fills one overlap for each launch, that of the first not known.
 * Returns 0, or an exit code after a message. */
int gd_overlap_measure(const gd_plan *plan, griddep_runtime *runtime, int32_t mode, gd_overlap *overlaps);

#endif
