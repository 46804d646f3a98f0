/* The time of a chain's run, from two events around so many runs that their time can be told. */
#ifndef GD_EXPERIMENT_CLOCK_H
#define GD_EXPERIMENT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "measure/experiment.h"

typedef struct gd_clock {
    const gd_experiment *experiment; /* borrowed: its runtime, its stream, and what renews the data
                                      * of a chain whose runs change its state */
    void *start, *end;
    bool is_model; /* time is the emulated driver's: the same for each run, and dear to compute */
} gd_clock;

/* Makes the events; to be closed either way. */
int32_t gd_clock_open(const gd_experiment *experiment, gd_clock *clock, griddep_error *error);
void gd_clock_close(gd_clock *clock);

/* The time of one run, from `batch` of them. A run ahead of the first event keeps the device busy
 * while the timed ones are queued, so that the latency of the first launch is not counted. */
int32_t gd_clock_time(const gd_clock *clock, griddep_chain *chain, int32_t mode, uint32_t batch,
                      double *microseconds, griddep_error *error);

/* Warms the device up and finds a batch that lasts for `least` microseconds. A driver whose events
 * do not advance gets the largest one; a model gets 1, and no warming up; a chain that changes its
 * state gets 1. */
int32_t gd_clock_choose_batch(const gd_clock *clock, griddep_chain *chain, int32_t mode,
                              double least, uint32_t *batch, griddep_error *error);

#endif
