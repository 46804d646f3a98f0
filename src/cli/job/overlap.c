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
               : gd_session_report(session, &error, griddep_mode_name(mode));
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
        gd_progress_show("tracing %s: run %u of %u", griddep_mode_name(mode), (unsigned)i + 1,
                         (unsigned)runs);
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
        if (plan->launches[i].lane == launch->lane)
            return i;
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (last == plan->launch_count || launch->after[i] > last)
            last = launch->after[i];
    return last;
}

/* NaN where there is no launch before, or one of both left no stamps. */
static double lead_of(const gd_plan *plan, griddep_timeline *timeline, uint32_t launch)
{
    griddep_timeline_launch own, before;
    uint32_t producer = producer_of(plan, launch);
    if (producer == plan->launch_count || !read_whole(timeline, launch, &own) ||
        !read_whole(timeline, producer, &before))
        return NAN;
    return before.last_exit - own.first_entry;
}

/* leads: GD_OVERLAP_RUNS of them. */
static void summarize(gd_overlap *overlap, double *leads)
{
    for (uint32_t i = 0; i < GD_OVERLAP_RUNS; i++)
        if (isnan(leads[i]))
            return;
    const double median = gd_statistics_median(leads, GD_OVERLAP_RUNS);
    *overlap = (gd_overlap){
        .known = true, .lead = median, .shortest = leads[0], .longest = leads[GD_OVERLAP_RUNS - 1]};
}

/* The first run loads code and is not counted. */
static int measure(gd_session *session, griddep_timeline *timeline, int32_t mode,
                   gd_overlap *overlaps)
{
    const uint32_t count = session->plan->launch_count;
    double *leads = gd_heap_take((size_t)count * GD_OVERLAP_RUNS, sizeof *leads);
    int code = 0;
    for (uint32_t run = 0; run <= GD_OVERLAP_RUNS && code == 0; run++) {
        code = gd_overlap_trace(session, timeline, mode);
        for (uint32_t i = 0; i < count && run > 0 && code == 0; i++)
            leads[i * GD_OVERLAP_RUNS + run - 1] = lead_of(session->plan, timeline, i);
    }
    for (uint32_t i = 0; i < count && code == 0; i++)
        summarize(&overlaps[i], &leads[(size_t)i * GD_OVERLAP_RUNS]);
    free(leads);
    return code;
}

int gd_overlap_measure(gd_session *session, int32_t mode, gd_overlap *overlaps, char **reason)
{
    const griddep_timeline_options options = {.size = sizeof options, .blocks = MOST_BLOCKS};
    griddep_timeline *timeline = NULL;
    griddep_error error;
    griddep_error_init(&error);
    *reason = NULL;
    gd_progress_show("measuring in mode %s", griddep_mode_name(mode));
    int code = gd_session_run(session, mode, NULL); /* what faults, faults without stamps */
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
