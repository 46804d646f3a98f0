/* Measuring overlap: the chain run a few times with instrumented kernels. */
#include "cli/job/overlap.h"

#include <math.h>
#include <stdlib.h>

#include "base/statistics.h"

#include "cli/io/heap.h"
#include "cli/io/progress.h"

/* Of a launch: the end of one is seen only where each of its blocks is kept. */
enum { MOST_BLOCKS = 1 << 20 };

int gd_overlap_trace(gd_session *session, griddep_timeline *timeline, int32_t mode)
{
    griddep_error error;
    griddep_error_init(&error);
    int code = gd_session_reset(session);
    if (code != 0)
        return code;
    return gd_experiment_trace(&session->experiment, session->chain, timeline, mode, &error) ==
                   GRIDDEP_OK
               ? 0
               : gd_session_report(session, &error, griddep_text(GRIDDEP_TEXT_MODE, mode));
}

static int trace_span(gd_session *session, griddep_timeline *timeline, int32_t mode, double *span)
{
    griddep_timeline_info info = {.size = sizeof(info)};
    int code = gd_overlap_trace(session, timeline, mode);
    if (code == 0)
        griddep_timeline_get_info(timeline, &info, NULL);
    *span = info.span;
    return code;
}

int gd_overlap_trace_typical(gd_session *session, griddep_timeline *timeline, int32_t mode,
                             uint32_t runs, double *least, double *most)
{
    double *spans = gd_heap_take(runs, sizeof(double)), span = 0;
    int code = 0;
    for (uint32_t i = 0; i < runs && code == 0; i++) {
        gd_progress_show("tracing %s: run %u of %u", griddep_text(GRIDDEP_TEXT_MODE, mode),
                         (unsigned)i + 1, (unsigned)runs);
        code = trace_span(session, timeline, mode, &span);
        spans[i] = span;
    }
    double median = gd_statistics_median(spans, runs);
    for (uint32_t i = 0; i < 2 * runs && code == 0 && runs > 1; i++) {
        if (span >= 0.99 * median && span <= 1.01 * median)
            break;
        code = trace_span(session, timeline, mode, &span);
    }
    *least = spans[0];
    *most = spans[runs - 1];
    free(spans);
    return code;
}

/* Of a launch whose end is known: each of its blocks was kept. */
static bool read_whole(griddep_timeline *timeline, uint32_t launch,
                       griddep_timeline_launch *figures)
{
    *figures = (griddep_timeline_launch){.size = sizeof *figures};
    return griddep_timeline_get_launch(timeline, launch, figures, NULL) == GRIDDEP_OK &&
           figures->blocks == figures->blocks_kept;
}

/* The launch that griddep_chain_explain compares with: the one before in the lane or, for a lane's
 * first, the last that it waits for. `count`: there is none. */
static uint32_t producer_of(const gd_plan *plan, uint32_t index)
{
    const gd_plan_launch *launch = &plan->launches[index];
    uint32_t last = plan->launch_count;
    for (uint32_t i = index; i-- > 0;)
        if (plan->launches[i].config.lane == launch->config.lane)
            return i;
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (last == plan->launch_count || launch->after[i] > last)
            last = launch->after[i];
    return last;
}

/* What each run measures of a hop. */
enum { LEAD, LEFT, START, SPREAD, MEASURES };

typedef double gd_samples[MEASURES][GD_OVERLAP_RUNS];

/* NaN where there is no launch before, or one of both left no stamps. */
static void sample(const gd_plan *plan, griddep_timeline *timeline, uint32_t launch, uint32_t run,
                   gd_samples samples)
{
    griddep_timeline_launch own, before;
    const uint32_t producer = producer_of(plan, launch);
    const bool whole = producer != plan->launch_count && read_whole(timeline, launch, &own) &&
                       read_whole(timeline, producer, &before);
    samples[LEAD][run] = whole ? before.last_exit - own.first_entry : NAN;
    samples[LEFT][run] = whole ? before.last_exit - before.last_trigger : NAN;
    samples[START][run] = whole ? own.first_entry - before.last_trigger : NAN;
    samples[SPREAD][run] = whole ? before.last_exit - before.first_exit : NAN;
}

/* NaN where a run has none. */
static double median_of(double *values)
{
    for (uint32_t i = 0; i < GD_OVERLAP_RUNS; i++)
        if (isnan(values[i]))
            return NAN;
    return gd_statistics_median(values, GD_OVERLAP_RUNS);
}

static void summarize(gd_overlap *overlap, gd_samples samples)
{
    const double lead = median_of(samples[LEAD]);
    if (isnan(lead))
        return;
    *overlap = (gd_overlap){.known = true,
                            .lead = lead,
                            .shortest = samples[LEAD][0],
                            .longest = samples[LEAD][GD_OVERLAP_RUNS - 1],
                            .left = median_of(samples[LEFT]),
                            .start = median_of(samples[START]),
                            .spread = median_of(samples[SPREAD])};
}

/* The first run loads code and is not counted. */
static int measure(gd_session *session, griddep_timeline *timeline, int32_t mode,
                   gd_overlap *overlaps)
{
    const uint32_t count = session->plan->launch_count;
    gd_samples *samples = gd_heap_take(count, sizeof *samples);
    int code = 0;
    for (uint32_t run = 0; run <= GD_OVERLAP_RUNS && code == 0; run++) {
        code = gd_overlap_trace(session, timeline, mode);
        for (uint32_t i = 0; i < count && run > 0 && code == 0; i++)
            sample(session->plan, timeline, i, run - 1, samples[i]);
    }
    for (uint32_t i = 0; i < count && code == 0; i++)
        summarize(&overlaps[i], samples[i]);
    free(samples);
    return code;
}

int gd_overlap_measure(gd_session *session, int32_t mode, gd_overlap *overlaps, char **reason)
{
    const griddep_timeline_options options = {.size = sizeof options, .blocks = MOST_BLOCKS};
    griddep_timeline *timeline = NULL;
    griddep_error error;
    griddep_error_init(&error);
    *reason = NULL;
    gd_progress_show("measuring in mode %s", griddep_text(GRIDDEP_TEXT_MODE, mode));
    /* What faults, faults without stamps. */
    int code = gd_session_run(session, mode, session->experiment.serial);
    if (code != 0)
        return code;
    int32_t status = griddep_timeline_create(session->chain, &options, &timeline, &error);
    if (status == GRIDDEP_ERROR_UNSUPPORTED) {
        *reason = gd_heap_string(error.text);
        return 0;
    }
    if (status != GRIDDEP_OK)
        return gd_message_library(&error, "instrumenting the chain");
    code = measure(session, timeline, mode, overlaps);
    griddep_timeline_destroy(timeline);
    return code;
}
