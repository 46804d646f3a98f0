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
    return gd_experiment_trace(&session->experiment, session->chain, timeline, mode, &error) ==
                   GRIDDEP_OK
               ? 0
               : gd_message_library(&error, griddep_mode_name(mode));
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

static bool is_whole(griddep_timeline *timeline, uint32_t launch)
{
    griddep_timeline_launch figures = {.size = sizeof figures};
    return griddep_timeline_get_launch(timeline, launch, &figures, NULL) == GRIDDEP_OK &&
           figures.blocks == figures.blocks_kept;
}

/* NaN where there is no launch before, or one of both left no stamps. */
static double lead_of(griddep_timeline *timeline, uint32_t launch)
{
    griddep_timeline_hop hop = {.size = sizeof hop};
    if (griddep_timeline_get_hop(timeline, launch, &hop, NULL) != GRIDDEP_OK ||
        !is_whole(timeline, launch) || !is_whole(timeline, hop.from))
        return NAN;
    return hop.launch_lead;
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
        code = gd_session_reset(session);
        if (code == 0)
            code = gd_overlap_trace(session, timeline, mode);
        for (uint32_t i = 0; i < count && run > 0 && code == 0; i++)
            leads[i * GD_OVERLAP_RUNS + run - 1] = lead_of(timeline, i);
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
    int32_t status = griddep_timeline_create(session->chain, &options, &timeline, &error);
    if (status == GRIDDEP_ERROR_UNSUPPORTED) {
        *reason = gd_heap_string(error.text);
        return 0;
    }
    if (status != GRIDDEP_OK)
        return gd_message_library(&error, "instrumenting the chain");
    int code = measure(session, timeline, mode, overlaps);
    griddep_timeline_destroy(timeline);
    return code;
}
