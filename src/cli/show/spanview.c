/* Figures of kernels by stream, and the view that draws them. */
#include "cli/show/spanview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/statistics.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"

enum { NAME = 40, MILLISECOND = 1000000 };

/* A kernel in a stream. */
typedef struct figures {
    double total, *us, *gaps; /* microseconds */
    size_t count, gap_count, early;
} figures;

static bool is_of_row(const gd_traceview_launch *row, const gd_span *span)
{
    return row->figures.lane == span->stream && strcmp(row->figures.kernel, span->kernel) == 0;
}

static gd_traceview_launch *row_of(gd_traceview *trace, const gd_span *span)
{
    for (uint32_t i = 0; i < trace->count; i++)
        if (is_of_row(&trace->launches[i], span))
            return &trace->launches[i];
    trace->launches =
        gd_heap_grow(trace->launches, trace->count, trace->count + 1, sizeof(*trace->launches));
    gd_traceview_launch *row = &trace->launches[trace->count++];
    row->figures = (griddep_timeline_launch){.size = sizeof(row->figures),
                                             .lane = span->stream,
                                             .kernel = span->kernel,
                                             .first_entry = (double)span->begin,
                                             .first_trigger = NAN,
                                             .last_trigger = NAN,
                                             .first_release = NAN,
                                             .last_release = NAN};
    return row;
}

static void add_block(gd_traceview_launch *row, const gd_span *span)
{
    const int64_t values[GRIDDEP_STAMP_MARK] = {[GRIDDEP_STAMP_SM] = span->stream,
                                                [GRIDDEP_STAMP_ENTRY] = span->begin,
                                                [GRIDDEP_STAMP_WAIT] = GRIDDEP_STAMP_NONE,
                                                [GRIDDEP_STAMP_RELEASE] = GRIDDEP_STAMP_NONE,
                                                [GRIDDEP_STAMP_TRIGGER] = GRIDDEP_STAMP_NONE,
                                                [GRIDDEP_STAMP_EXIT] = span->end};
    for (int32_t column = 0; column < GRIDDEP_STAMP_MARK; column++) {
        row->columns[column] = gd_heap_grow(row->columns[column], row->blocks, row->blocks + 1,
                                            sizeof(**row->columns));
        row->columns[column][row->blocks] = values[column];
    }
    row->blocks = row->figures.blocks_kept = row->blocks + 1;
    row->figures.blocks = row->blocks;
    row->figures.last_exit = fmax(row->figures.last_exit, (double)span->end);
}

static int compare_begin(const void *first, const void *second)
{
    const gd_span *a = first, *b = second;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* From the launch before it in its stream that ends last. */
static void find_gaps(gd_spanview *view)
{
    int64_t *last = gd_heap_take(view->streams, sizeof(*last));
    bool *any = gd_heap_take(view->streams, sizeof(*any));
    for (size_t i = 0; i < view->count; i++) {
        gd_span *span = &view->list[i];
        span->follows = any[span->stream];
        span->gap = span->follows ? span->begin - last[span->stream] : 0;
        if (view->apart && span->gap < 0) /* by the few digits of a float */
            span->gap = 0;
        if (!any[span->stream] || span->end > last[span->stream])
            last[span->stream] = span->end;
        any[span->stream] = true;
    }
    free(any);
    free(last);
}

/* false: it is none. */
static bool read_window(const char *text, double *from, double *to)
{
    char *rest = NULL;
    *from = strtod(text, &rest);
    if (rest == text || *rest != ':')
        return false;
    const char *second = rest + 1;
    *to = strtod(second, &rest);
    return rest != second && *rest == '\0' && *from >= 0 && *to > *from;
}

int gd_spanview_check(const gd_spanview_choice *choice)
{
    double from, to;
    if (choice->window == NULL || read_window(choice->window, &from, &to))
        return 0;
    return gd_message_error(GD_EXIT_USAGE,
                            "--window needs FROM:TO in microseconds, such as 0:500, not '%s'",
                            choice->window);
}

/* By begin they are in order. */
static void find_busiest(gd_spanview *view)
{
    int64_t sum = 0, last = 0;
    for (size_t i = 0, first = 0; i < view->count; i++) {
        const gd_span *span = &view->list[i];
        sum += span->end - span->begin;
        last = span->end > last ? span->end : last;
        while (span->begin - view->list[first].begin > MILLISECOND)
            first++;
        if (i - first + 1 <= view->busiest_count)
            continue;
        view->busiest_count = i - first + 1;
        view->busiest = view->list[first].begin;
    }
    view->is_sparse = last > 2 * MILLISECOND && sum < last / 10;
}

static void choose(gd_spanview *view, const gd_spanview_choice *choice)
{
    double from = 0, to = HUGE_VAL;
    uint64_t passed = 0;
    size_t kept = 0;
    if (choice->window != NULL)
        read_window(choice->window, &from, &to);
    for (size_t i = 0; i < view->count; i++) {
        const gd_span *span = &view->list[i];
        if ((double)span->end * 1e-3 < from || (double)span->begin * 1e-3 > to ||
            (choice->kernel != NULL && strstr(span->kernel, choice->kernel) == NULL) ||
            passed++ < choice->first || (choice->launches > 0 && kept == choice->launches))
            continue;
        view->list[kept++] = *span;
    }
    view->count = kept;
}

static void add_origin(gd_spanview *view, int64_t origin)
{
    for (size_t i = 0; i < view->count; i++) {
        view->list[i].begin -= origin;
        view->list[i].end -= origin;
    }
}

void gd_spanview_make(gd_spanview *view, const gd_spanview_choice *choice,
                      const griddep_runtime_info *device)
{
    gd_traceview *trace = &view->trace;
    int64_t last = 0;
    view->seen = view->count;
    *trace = (gd_traceview){.chain = view->program, .device = device, .clock = view->clock};
    if (view->count > 0) {
        qsort(view->list, view->count, sizeof(*view->list), compare_begin);
        add_origin(view, view->list[0].begin);
    }
    find_gaps(view);
    find_busiest(view);
    choose(view, choice);
    view->is_sparse &= view->count == view->seen;
    if (view->count > 0)
        add_origin(view, view->list[0].begin);
    for (size_t i = 0; i < view->count; i++) {
        last = view->list[i].end > last ? view->list[i].end : last;
        add_block(row_of(trace, &view->list[i]), &view->list[i]);
    }
    trace->info = (griddep_timeline_info){.size = sizeof(trace->info),
                                          .mode = -1,
                                          .launch_count = trace->count,
                                          .multiprocessors = view->streams,
                                          .emulated = device->emulated,
                                          .blocks = view->count,
                                          .blocks_kept = view->count,
                                          .span = (double)last};
}

void gd_spanview_free(gd_spanview *view)
{
    gd_traceview_free(&view->trace);
    for (size_t i = 0; i < view->name_count; i++)
        free(view->names[i]);
    free(view->names);
    free(view->list);
    *view = (gd_spanview){0};
}

/* ---- figures ---- */

static figures measure(const gd_spanview *view, const gd_traceview_launch *row)
{
    figures made = {.us = gd_heap_take(row->blocks, sizeof(double)),
                    .gaps = gd_heap_take(row->blocks, sizeof(double))};
    for (size_t i = 0; i < view->count; i++) {
        const gd_span *span = &view->list[i];
        if (!is_of_row(row, span))
            continue;
        made.us[made.count] = (double)(span->end - span->begin) * 1e-3;
        made.total += made.us[made.count++];
        if (!span->follows)
            continue;
        made.gaps[made.gap_count++] = (double)span->gap * 1e-3;
        made.early += span->gap < 0;
    }
    return made;
}

static void free_figures(figures *made)
{
    free(made->us);
    free(made->gaps);
}

void gd_spanview_print(const gd_spanview *view)
{
    static const char *const titles[] = {"kernel",    "stream", "launches", "total us",
                                         "median us", "gap us", "early"};
    gd_columns columns = {
        .column_count = sizeof(titles) / sizeof(titles[0]), .left = 1U, .titled = true};
    gd_output_print("program %s: %zu %s in %u %s%s; times by %s\n", view->program, view->count,
                    gd_plural(view->count, "launch", "launches"), (unsigned)view->streams,
                    gd_plural(view->streams, "stream", "streams"),
                    view->trace.device->emulated ? ", on the emulated driver" : "", view->clock);
    putchar('\n');
    for (size_t i = 0; i < columns.column_count; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (uint32_t i = 0; i < view->trace.count; i++) {
        const gd_traceview_launch *row = &view->trace.launches[i];
        figures made = measure(view, row);
        char *name = gd_traceview_short(&view->trace, i, NAME, "~");
        gd_columns_add(&columns, "%s", name);
        gd_columns_add(&columns, "%u", (unsigned)row->figures.lane);
        gd_columns_add(&columns, "%zu", made.count);
        gd_columns_add(&columns, "%.2f", made.total);
        gd_columns_add(&columns, "%.2f", gd_statistics_median(made.us, made.count));
        if (made.gap_count > 0)
            gd_columns_add(&columns, "%.2f", gd_statistics_median(made.gaps, made.gap_count));
        else
            gd_columns_add(&columns, "-");
        if (view->apart)
            gd_columns_add(&columns, "-");
        else
            gd_columns_add(&columns, "%zu", made.early);
        free(name);
        free_figures(&made);
    }
    gd_columns_print(&columns);
    gd_columns_free(&columns);
    putchar('\n');
    gd_output_print("first begin to last end: %.2f us\n", view->trace.info.span * 1e-3);
    gd_output_print("gap: median time since the previous launch in the stream ended%s\n",
                    view->apart ? "" : "; early: launches that began before that");
    if (view->is_sparse)
        gd_output_print("hint: the device is mostly idle; --window %lld:%lld shows the busiest "
                        "millisecond, with %zu %s\n",
                        (long long)(view->busiest / 1000),
                        (long long)((view->busiest + MILLISECOND) / 1000), view->busiest_count,
                        gd_plural(view->busiest_count, "launch", "launches"));
    if (view->count < view->seen)
        gd_output_print("%zu more %s not shown\n", view->seen - view->count,
                        view->seen - view->count == 1 ? "launch is" : "launches are");
}

json_t *gd_spanview_json(const gd_spanview *view)
{
    json_t *launches = json_array();
    for (size_t i = 0; i < view->count; i++) {
        const gd_span *span = &view->list[i];
        gd_output_append(launches,
                         GD_OBJECT({"kernel", gd_output_string(span->kernel)},
                                   {"stream", json_integer(span->stream)},
                                   {"by_graph", json_boolean(span->graph)},
                                   {"begin_ns", json_integer((json_int_t)span->begin)},
                                   {"end_ns", json_integer((json_int_t)span->end)},
                                   {"gap_ns", span->follows ? json_integer((json_int_t)span->gap)
                                                            : json_null()}));
    }
    return GD_OBJECT({"program", gd_output_string(view->program)},
                     {"clock", gd_output_string(view->clock)},
                     {"streams", json_integer(view->streams)},
                     {"launch_count", json_integer((json_int_t)view->seen)},
                     {"span_ns", gd_output_real(view->trace.info.span)}, {"launches", launches});
}
