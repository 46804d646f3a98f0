/* Samples of a chain in several modes, which take turns. */
#include "cli/job/measure.h"

#include <stdlib.h>

#include "measure/clock.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/progress.h"

/* A sample lasts at least this long. */
static const double sample_microseconds = 2000.0;

const char *gd_measure_words(const gd_experiment *experiment)
{
    return experiment->renews ? "timing"
                              : "timing, where a step begins with what the one before it left";
}

static int report_timing_error(const gd_experiment *experiment, const griddep_error *error)
{
    return gd_message_library(error, gd_measure_words(experiment));
}

static int take_samples(const gd_clock *clock, griddep_chain *chain, uint32_t modes,
                        gd_timing *timings, double *samples[GRIDDEP_MODE_COUNT], uint32_t count)
{
    griddep_error error;
    griddep_error_init(&error);
    for (uint32_t sample = 0; sample < count; sample++) {
        gd_progress_show("timing: sample %u of %u", sample + 1, count);
        for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
            if ((modes >> mode & 1U) == 0)
                continue;
            if (gd_clock_time(clock, chain, mode, timings[mode].batch, &samples[mode][sample],
                              &error) != GRIDDEP_OK)
                return report_timing_error(clock->experiment, &error);
        }
    }
    return 0;
}

static int measure(const gd_clock *clock, griddep_chain *chain, uint32_t modes, uint32_t count,
                   gd_timing *timings, double *samples[GRIDDEP_MODE_COUNT])
{
    griddep_error error;
    griddep_error_init(&error);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        if ((modes >> mode & 1U) == 0)
            continue;
        gd_progress_show("timing: warming up %s", griddep_text(GRIDDEP_TEXT_MODE, mode));
        timings[mode] = (gd_timing){.samples = count};
        samples[mode] = gd_heap_take(count, sizeof(double));
        if (gd_clock_choose_batch(clock, chain, mode, sample_microseconds, &timings[mode].batch,
                                  &error) != GRIDDEP_OK)
            return report_timing_error(clock->experiment, &error);
    }
    int code = take_samples(clock, chain, modes, timings, samples, count);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && code == 0; mode++)
        if (modes >> mode & 1U)
            timings[mode].us = gd_statistics_spread(samples[mode], count);
    return code;
}

int gd_measure_modes(griddep_chain *chain, const gd_experiment *experiment, uint32_t modes,
                     uint32_t samples, gd_timing timings[GRIDDEP_MODE_COUNT])
{
    gd_clock clock = {0};
    double *values[GRIDDEP_MODE_COUNT] = {NULL};
    griddep_error error;
    griddep_error_init(&error);
    int code = gd_clock_open(experiment, &clock, &error) == GRIDDEP_OK
                   ? measure(&clock, chain, modes, samples, timings, values)
                   : report_timing_error(experiment, &error);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        free(values[mode]);
    gd_clock_close(&clock);
    return code;
}
