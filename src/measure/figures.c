/* Sums and extremes over blocks; a multiprocessor's work as the union of what its blocks do. */
#include "measure/figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/statistics.h"
#include "measure/instrument.h"

/* The lesser and the greater of two; of a number and NaN the number. */
static double least(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

static double most(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

static int64_t time_of(const gd_trace_launch *launch, uint32_t point, uint32_t block)
{
    return launch->times[(uint64_t)point * launch->kept + block];
}

/* ---- blocks that count ---- */

static bool is_before(int64_t time, int64_t other)
{
    return time != GRIDDEP_STAMP_NONE && other != GRIDDEP_STAMP_NONE && time < other;
}

/* No point of a block is before its entry or behind its exit, and it is released after it waits. */
static bool goes_backward(const gd_trace_launch *launch, uint32_t block)
{
    int64_t entry = time_of(launch, GD_POINT_ENTRY, block),
            exit = time_of(launch, GD_POINT_EXIT, block);

    for (uint32_t point = 0; point < launch->points; point++) {
        int64_t time = time_of(launch, point, block);
        if (is_before(time, entry) || is_before(exit, time))
            return true;
    }
    return is_before(time_of(launch, GD_POINT_RELEASE, block),
                     time_of(launch, GD_POINT_WAIT, block));
}

static uint64_t judge_launch(gd_trace_launch *launch)
{
    uint64_t counted = 0;

    launch->backward = 0;
    for (uint32_t block = 0; block < launch->kept; block++) {
        bool backward = goes_backward(launch, block);
        launch->backward += backward;
        launch->counts[block] = !backward &&
                                time_of(launch, GD_POINT_ENTRY, block) != GRIDDEP_STAMP_NONE &&
                                time_of(launch, GD_POINT_EXIT, block) != GRIDDEP_STAMP_NONE;
        counted += launch->counts[block];
    }
    return counted;
}

/* ---- work ---- */

static int compare_work(const void *first, const void *second)
{
    const gd_trace_work *a = first, *b = second;

    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static void add_work(gd_trace *trace, int32_t sm, int64_t start, int64_t end)
{
    if (start < end)
        trace->work[trace->work_count++] = (gd_trace_work){.sm = sm, .start = start, .end = end};
}

/* A block works from its entry to its wait and from its release to its exit. */
static void add_launch(gd_trace *trace, const gd_trace_launch *launch)
{
    for (uint32_t block = 0; block < launch->kept; block++) {
        if (!launch->counts[block])
            continue;
        int64_t wait = time_of(launch, GD_POINT_WAIT, block),
                release = time_of(launch, GD_POINT_RELEASE, block);
        int64_t entry = time_of(launch, GD_POINT_ENTRY, block),
                exit = time_of(launch, GD_POINT_EXIT, block);
        bool waits = wait != GRIDDEP_STAMP_NONE && release != GRIDDEP_STAMP_NONE;
        add_work(trace, launch->sm[block], entry, waits ? wait : exit);
        if (waits)
            add_work(trace, launch->sm[block], release, exit);
    }
}

/* Makes intervals of one multiprocessor that overlap or touch into one. */
static void join_work(gd_trace *trace)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < trace->work_count; i++) {
        gd_trace_work *last = kept ? &trace->work[kept - 1] : NULL;
        const gd_trace_work *next = &trace->work[i];
        if (!last || last->sm != next->sm || last->end < next->start)
            trace->work[kept++] = *next;
        else if (last->end < next->end)
            last->end = next->end;
    }
    trace->work_count = kept;
}

int32_t gd_trace_judge(gd_trace *trace, griddep_error *error)
{
    uint64_t counted = 0;

    for (uint32_t i = 0; i < trace->count; i++)
        counted += judge_launch(&trace->launches[i]);
    gd_trace_drop(trace);
    trace->work = calloc(2 * counted + 1, sizeof *trace->work);
    if (!trace->work)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < trace->count; i++)
        add_launch(trace, &trace->launches[i]);
    qsort(trace->work, trace->work_count, sizeof *trace->work, compare_work);
    join_work(trace);
    return GRIDDEP_OK;
}

void gd_trace_drop(gd_trace *trace)
{
    free(trace->work);
    trace->work = NULL;
    trace->work_count = 0;
}

/* Time without work in a window, summed over all multiprocessors of the device. */
static double idle_between(const gd_trace *trace, int64_t start, int64_t end)
{
    double idle = (double)(end - start) * trace->multiprocessors;

    for (uint64_t i = 0; i < trace->work_count; i++) {
        int64_t from = trace->work[i].start > start ? trace->work[i].start : start;
        int64_t to = trace->work[i].end < end ? trace->work[i].end : end;
        if (from < to)
            idle -= (double)(to - from);
    }
    return idle;
}

/* ---- extremes ---- */

typedef struct extremes {
    double first, last; /* NaN: no block has the point */
} extremes;

static void take(extremes *found, int64_t time)
{
    if (time == GRIDDEP_STAMP_NONE)
        return;
    if (isnan(found->first) || (double)time < found->first)
        found->first = (double)time;
    if (isnan(found->last) || (double)time > found->last)
        found->last = (double)time;
}

static extremes extremes_of(const gd_trace_launch *launch, uint32_t point)
{
    extremes found = {NAN, NAN};

    for (uint32_t block = 0; block < launch->kept; block++) {
        if (launch->counts[block])
            take(&found, time_of(launch, point, block));
    }
    return found;
}

bool gd_trace_ends_later(const gd_trace *trace, uint32_t launch, uint32_t other)
{
    double end = extremes_of(&trace->launches[launch], GD_POINT_EXIT).last,
           other_end = extremes_of(&trace->launches[other], GD_POINT_EXIT).last;

    return end > other_end || (isnan(other_end) && !isnan(end));
}

/* When blocks could go to work on what the launch before left: their release, the entry where one
 * does not wait. */
static extremes releases_of(const gd_trace_launch *launch)
{
    extremes found = {NAN, NAN};

    for (uint32_t block = 0; block < launch->kept; block++) {
        int64_t release = time_of(launch, GD_POINT_RELEASE, block);
        if (launch->counts[block])
            take(&found,
                 release == GRIDDEP_STAMP_NONE ? time_of(launch, GD_POINT_ENTRY, block) : release);
    }
    return found;
}

/* Mean over the blocks that wait of the time from entry to wait, as far as it lies before
 * `limit`. */
static double mean_preamble(const gd_trace_launch *launch, double limit)
{
    double sum = 0;
    uint32_t count = 0;

    for (uint32_t block = 0; block < launch->kept; block++) {
        int64_t wait = time_of(launch, GD_POINT_WAIT, block);
        if (!launch->counts[block] || wait == GRIDDEP_STAMP_NONE)
            continue;
        sum += most(0, least((double)wait, limit) - (double)time_of(launch, GD_POINT_ENTRY, block));
        count++;
    }
    return count ? sum / count : NAN;
}

/* ---- figures ---- */

void gd_trace_figure(const gd_trace *trace, griddep_timeline_info *info)
{
    extremes all = {NAN, NAN};

    info->backward = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        extremes entry = extremes_of(&trace->launches[i], GD_POINT_ENTRY);
        extremes exit = extremes_of(&trace->launches[i], GD_POINT_EXIT);
        all.first = least(all.first, entry.first);
        all.last = most(all.last, exit.last);
        info->backward += trace->launches[i].backward;
    }
    info->span = all.last - all.first;
    info->idle =
        isnan(info->span) ? NAN : idle_between(trace, (int64_t)all.first, (int64_t)all.last);
    info->idle_share = info->span > 0 ? info->idle / (info->span * trace->multiprocessors) : NAN;
}

static int32_t figure_waits(const gd_trace_launch *launch, griddep_timeline_launch *figures,
                            griddep_error *error)
{
    uint32_t count = 0;
    double *waits = calloc((size_t)launch->kept + 1, sizeof *waits);

    if (!waits)
        return gd_error_memory(error);
    for (uint32_t block = 0; block < launch->kept; block++) {
        int64_t wait = time_of(launch, GD_POINT_WAIT, block),
                release = time_of(launch, GD_POINT_RELEASE, block);
        if (launch->counts[block] && wait != GRIDDEP_STAMP_NONE && release != GRIDDEP_STAMP_NONE)
            waits[count++] = (double)(release - wait);
    }
    figures->wait_median = gd_statistics_median(waits, count);
    figures->wait_least = count ? waits[0] : NAN;
    figures->wait_most = count ? waits[count - 1] : NAN;
    free(waits);
    return GRIDDEP_OK;
}

int32_t gd_trace_figure_launch(const gd_trace *trace, uint32_t index,
                               griddep_timeline_launch *figures, griddep_error *error)
{
    const gd_trace_launch *launch = &trace->launches[index];
    extremes entry = extremes_of(launch, GD_POINT_ENTRY),
             trigger = extremes_of(launch, GD_POINT_TRIGGER);
    extremes release = extremes_of(launch, GD_POINT_RELEASE),
             exit = extremes_of(launch, GD_POINT_EXIT);

    figures->first_entry = entry.first;
    figures->last_entry = entry.last;
    figures->first_trigger = trigger.first;
    figures->last_trigger = trigger.last;
    figures->first_release = release.first;
    figures->last_release = release.last;
    figures->first_exit = exit.first;
    figures->last_exit = exit.last;
    figures->preamble = mean_preamble(launch, INFINITY);
    return figure_waits(launch, figures, error);
}

void gd_trace_figure_hop(const gd_trace *trace, uint32_t index, griddep_timeline_hop *hop)
{
    const gd_trace_launch *launch = &trace->launches[index], *from = &trace->launches[launch->from];
    extremes entry = extremes_of(launch, GD_POINT_ENTRY), exit = extremes_of(launch, GD_POINT_EXIT);
    extremes from_entry = extremes_of(from, GD_POINT_ENTRY),
             from_exit = extremes_of(from, GD_POINT_EXIT);
    extremes release = releases_of(launch);
    double end = from_exit.last, span = exit.last - entry.first,
           from_span = from_exit.last - from_entry.first;
    double window = release.last - from_exit.first;

    hop->handoff_gap = release.first - end;
    hop->launch_lead = end - entry.first;
    hop->preamble_hidden = isnan(end) ? NAN : mean_preamble(launch, end);
    hop->overlap = least(end, exit.last) - most(entry.first, from_entry.first);
    hop->overlap = isnan(span) || isnan(from_span) ? NAN : most(0, hop->overlap);
    hop->overlap_ratio = least(span, from_span) > 0 ? hop->overlap / least(span, from_span) : NAN;
    hop->idle_window = isnan(window) ? NAN : most(0, window);
    hop->idle = NAN;
    if (window > 0)
        hop->idle = idle_between(trace, (int64_t)from_exit.first, (int64_t)release.last);
    else if (!isnan(window))
        hop->idle = 0;
    hop->idle_share = window > 0 ? hop->idle / (window * trace->multiprocessors) : NAN;
}
