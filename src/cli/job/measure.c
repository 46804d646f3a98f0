/* Timing with device events around batches of steps. */
#include "cli/job/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/statistics.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/progress.h"

/* A sample lasts at least this long, and a mode is warmed up for this long, in microseconds. */
static const double sample_length = 2000.0;
static const double warm_up_length = 20000.0;

enum { LARGEST_BATCH = 4096 };

typedef struct gd_clock {
    griddep_runtime *runtime;
    griddep_chain *chain;
    void *stream;
    void *start, *end;
    bool is_model; /* time is the emulated driver's: the same for each step, and dear to compute */
} gd_clock;

static int refuse(const griddep_error *error)
{
    return gd_message_library(error, "timing");
}

/* Runs `batch` steps in a mode and gives the time of all of them. A step ahead of the first event
 * keeps the device busy while the timed ones are queued, so that the latency of the first launch is
 * not counted. */
static int time_batch(gd_clock *clock, int32_t mode, uint32_t batch, double *microseconds)
{
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = griddep_chain_run(clock->chain, mode, clock->stream, &error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(clock->runtime, clock->start, clock->stream, &error);
    for (uint32_t i = 0; i < batch && status == GRIDDEP_OK; i++)
        status = griddep_chain_run(clock->chain, mode, clock->stream, &error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(clock->runtime, clock->end, clock->stream, &error);
    if (status == GRIDDEP_OK)
        status =
            griddep_event_elapsed(clock->runtime, clock->start, clock->end, microseconds, &error);
    return status == GRIDDEP_OK ? 0 : refuse(&error);
}

/* Warms a mode up and finds a batch that lasts as long as a sample should. A driver whose events do
 * not advance gets batches of the largest size and no division by zero. */
static int choose_batch(gd_clock *clock, int32_t mode, uint32_t *chosen)
{
    double spent = 0.0, elapsed = 0.0;
    uint32_t batch = 1;
    for (uint32_t round = 0; round < 64 && (spent < warm_up_length || elapsed < sample_length);
         round++) {
        int code = time_batch(clock, mode, batch, &elapsed);
        if (code != 0)
            return code;
        spent += elapsed;
        if (elapsed < sample_length && batch == LARGEST_BATCH)
            break;
        if (elapsed < sample_length) {
            double wanted =
                elapsed > 0.0 ? ceil(batch * 1.2 * sample_length / elapsed) : 2.0 * batch;
            double most = fmin(16.0 * batch, LARGEST_BATCH);
            batch = (uint32_t)fmin(fmax(wanted, batch + 1.0), most);
        }
    }
    *chosen = batch;
    return 0;
}

static void summarize(double *samples, gd_timing *timing)
{
    timing->microseconds = gd_statistics_median(samples, timing->samples);
    timing->lowest = gd_statistics_percentile(samples, timing->samples, 0.1);
    timing->highest = gd_statistics_percentile(samples, timing->samples, 0.9);
}

static int take_samples(gd_clock *clock, uint32_t modes, gd_timing *timings,
                        double *samples[GRIDDEP_MODE_COUNT], uint32_t count)
{
    for (uint32_t sample = 0; sample < count; sample++) {
        gd_progress_show("timing: sample %u of %u", sample + 1, count);
        for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
            if ((modes >> mode & 1U) == 0)
                continue;
            double elapsed = 0.0;
            int code = time_batch(clock, mode, timings[mode].batch, &elapsed);
            if (code != 0)
                return code;
            samples[mode][sample] = elapsed / timings[mode].batch;
        }
    }
    return 0;
}

static int measure(gd_clock *clock, uint32_t modes, uint32_t count, gd_timing *timings,
                   double *samples[GRIDDEP_MODE_COUNT])
{
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        if ((modes >> mode & 1U) == 0)
            continue;
        gd_progress_show("timing: warming up %s", griddep_mode_name(mode));
        timings[mode] = (gd_timing){.samples = count};
        samples[mode] = gd_heap_take(count, sizeof(double));
        timings[mode].batch = 1;
        int code = clock->is_model ? 0 : choose_batch(clock, mode, &timings[mode].batch);
        if (code != 0)
            return code;
    }
    int code = take_samples(clock, modes, timings, samples, count);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && code == 0; mode++)
        if (modes >> mode & 1U)
            summarize(samples[mode], &timings[mode]);
    return code;
}

int gd_measure_modes(griddep_runtime *runtime, griddep_chain *chain, void *stream, uint32_t modes,
                     uint32_t samples, gd_timing timings[GRIDDEP_MODE_COUNT])
{
    gd_clock clock = {.runtime = runtime, .chain = chain, .stream = stream};
    double *values[GRIDDEP_MODE_COUNT] = {NULL};
    griddep_error error;
    griddep_error_init(&error);
    griddep_runtime_info info = {.size = sizeof(info)};
    int code = 0;
    if (griddep_runtime_get_info(runtime, &info, &error) != GRIDDEP_OK ||
        griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &clock.start, &error) != GRIDDEP_OK ||
        griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &clock.end, &error) != GRIDDEP_OK)
        code = refuse(&error);
    clock.is_model = info.emulated != 0;
    if (code == 0)
        code = measure(&clock, modes, samples, timings, values);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        free(values[mode]);
    if (clock.start != NULL)
        griddep_event_destroy(runtime, clock.start, NULL);
    if (clock.end != NULL)
        griddep_event_destroy(runtime, clock.end, NULL);
    return code;
}
