/* How much of a chain's hops really overlaps, measured by its timeline. */
#ifndef GD_CLI_OVERLAP_H
#define GD_CLI_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/job/session.h"

enum { GD_OVERLAP_RUNS = 5 };

/* Of a launch and the one before it; medians of the runs, in ns. */
typedef struct gd_overlap {
    bool known;  /* the blocks of both left stamps */
    double lead; /* from the launch's first block to the last block's end of the one before; below
                  * 0: it began after that */
    double shortest, longest; /* the lead's range */
    double left, start; /* from the last trigger of the one before to its end, and to the launch's
                         * first block; NaN where it has not triggered */
    double spread;      /* from the first end to the last end of the one before */
} gd_overlap;

/* gd_experiment_trace, from the first values of the buffers. Returns 0, or an exit code after a
 * message. */
int gd_overlap_trace(gd_session *session, griddep_timeline *timeline, int32_t mode);

/* Runs so many times, and then until one takes about the median of these, which the timeline then
 * has. The range of the spans, in nanoseconds, goes to *least and *most. */
int gd_overlap_trace_typical(gd_session *session, griddep_timeline *timeline, int32_t mode,
                             uint32_t runs, double *least, double *most);

/* Fills one overlap for each launch of the session's chain; *reason, to free, tells why nothing
 * could be measured, else it is NULL. Returns 0, or an exit code after a message. */
int gd_overlap_measure(gd_session *session, int32_t mode, gd_overlap *overlaps, char **reason);

#endif
