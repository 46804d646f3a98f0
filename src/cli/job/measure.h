/* Timing a chain: medians over samples, each of enough steps between two events to stand above the
 * clock's grain. */
#ifndef GD_CLI_MEASURE_H
#define GD_CLI_MEASURE_H

#include <stdint.h>

#include "griddep.h"

#include "base/statistics.h"
#include "measure/experiment.h"

typedef struct gd_timing {
    uint32_t samples;
    uint32_t batch; /* steps in a sample */
    gd_spread us;   /* of one step */
} gd_timing;

/* Times the modes whose bit is set, into timings[mode]. The samples of the modes alternate, so that
 * a drift of the device's clocks meets all of them alike. Each step begins with what the one before
 * left, or, of a chain that changes its state, with the experiment's initial data. On the emulated
 * driver a sample is one step, without warming up. Returns 0, or an exit code after a message. */
int gd_measure_modes(griddep_chain *chain, const gd_experiment *experiment, uint32_t modes,
                     uint32_t samples, gd_timing timings[GRIDDEP_MODE_COUNT]);

/* What was done when a timing failed. */
const char *gd_measure_words(const gd_experiment *experiment);

#endif
