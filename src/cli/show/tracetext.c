/* The figures of a traced run as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "cli/io/output.h"
#include "cli/show/traceview.h"

enum { NAME = 24, MOST_ROWS = 40 };

/* Nanoseconds as microseconds; "-" where there is nothing to tell. */
static void add_time(gd_columns *columns, double nanoseconds)
{
    if (isnan(nanoseconds))
        gd_columns_add(columns, "-");
    else
        gd_columns_add(columns, "%.2f", nanoseconds * 1e-3);
}

static void add_share(gd_columns *columns, double share)
{
    if (isnan(share))
        gd_columns_add(columns, "-");
    else
        gd_columns_add(columns, "%.0f %%", share * 100.0);
}

static void add_titles(gd_columns *columns, const char *const *titles)
{
    for (size_t i = 0; i < columns->column_count; i++)
        gd_columns_add(columns, "%s", titles[i]);
}

/* How many rows of a table are shown. */
static uint32_t shown_rows(const gd_traceview *view, uint32_t count)
{
    return view->whole || count <= MOST_ROWS ? count : MOST_ROWS;
}

static void print_rest(uint32_t count, uint32_t shown, const char *one, const char *more)
{
    if (count > shown)
        gd_output_print("and %u more %s; --all shows them\n", (unsigned)(count - shown),
                        gd_plural(count - shown, one, more));
}

static bool has_names(const gd_traceview *view)
{
    for (uint32_t i = 0; i < view->count; i++)
        if (strcmp(gd_traceview_name(view, i), view->launches[i].figures.kernel) != 0)
            return true;
    return false;
}

static void print_launches(const gd_traceview *view)
{
    const char *const titles[] = {"#",        has_names(view) ? "name" : "kernel",
                                  "blocks",   "start",
                                  "end",      "preamble",
                                  "wait min", "wait mid",
                                  "wait max"};
    gd_columns columns = {
        .column_count = sizeof(titles) / sizeof(titles[0]), .left = 1U << 1, .titled = true};
    const uint32_t shown = shown_rows(view, view->count);
    add_titles(&columns, titles);
    for (uint32_t i = 0; i < shown; i++) {
        const griddep_timeline_launch *figures = &view->launches[i].figures;
        gd_columns_add(&columns, "%u", (unsigned)i);
        char *name = gd_traceview_short(view, i, NAME, "~");
        gd_columns_add(&columns, "%s", name);
        free(name);
        gd_columns_add(&columns, "%llu", (unsigned long long)figures->blocks);
        add_time(&columns, figures->first_entry);
        add_time(&columns, figures->last_exit);
        add_time(&columns, figures->preamble);
        add_time(&columns, figures->wait_least);
        add_time(&columns, figures->wait_median);
        add_time(&columns, figures->wait_most);
    }
    gd_columns_print(&columns);
    gd_columns_free(&columns);
    print_rest(view->count, shown, "launch", "launches");
}

static uint32_t count_hops(const gd_traceview *view)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->count; i++)
        count += view->launches[i].has_hop;
    return count;
}

static void print_hops(const gd_traceview *view)
{
    static const char *const titles[] = {"hop",    "dependent", "hand-off",   "lead",
                                         "hidden", "overlap",   "idle SM us", "idle share"};
    gd_columns columns = {
        .column_count = sizeof(titles) / sizeof(titles[0]), .left = 1U | 1U << 1, .titled = true};
    const uint32_t count = count_hops(view), shown = shown_rows(view, count);
    uint32_t rows = 0;
    add_titles(&columns, titles);
    for (uint32_t i = 0; i < view->count && rows < shown; i++) {
        const gd_traceview_launch *launch = &view->launches[i];
        if (!launch->has_hop)
            continue;
        rows++;
        gd_columns_add(&columns, "%u to %u", (unsigned)launch->hop.from, (unsigned)i);
        gd_columns_add(
            &columns, "%s",
            launch->reason == GRIDDEP_REASON_SET || launch->reason == GRIDDEP_REASON_FORCED ? "yes"
                                                                                            : "no");
        add_time(&columns, launch->hop.handoff_gap);
        add_time(&columns, launch->hop.launch_lead);
        add_time(&columns, launch->hop.preamble_hidden);
        add_share(&columns, launch->hop.overlap_ratio);
        add_time(&columns, launch->hop.idle);
        add_share(&columns, launch->hop.idle_share);
    }
    if (rows > 0) {
        putchar('\n');
        gd_columns_print(&columns);
        print_rest(count, shown, "hop", "hops");
        gd_output_print("preamble: a block's time before its wait; wait mid: the median time in "
                        "it\n");
        gd_output_print("hand-off: from the first launch's end to the second's first block past "
                        "its wait\n");
        gd_output_print("lead: how long before the first launch's end the second began\n");
        gd_output_print("hidden: the second's preamble before that end\n");
        gd_output_print("idle: SMs (multiprocessors) without work\n");
    }
    gd_columns_free(&columns);
}

/* Marks by launch: how many blocks came there, when the first and the last of them did. */
static void print_marks(const gd_traceview *view)
{
    static const char *const titles[] = {"launch", "mark", "blocks", "first", "last"};
    gd_columns columns = {
        .column_count = sizeof(titles) / sizeof(titles[0]), .left = 1U << 1, .titled = true};
    uint32_t total = 0, rows = 0;
    for (uint32_t i = 0; i < view->count; i++)
        total += view->launches[i].figures.mark_count;
    const uint32_t most = shown_rows(view, total);
    add_titles(&columns, titles);
    for (uint32_t i = 0; i < view->count; i++) {
        const gd_traceview_launch *launch = &view->launches[i];
        for (uint32_t mark = 0; mark < launch->figures.mark_count && rows < most; mark++) {
            const int64_t *times = launch->columns[GRIDDEP_STAMP_MARK + mark];
            double first = NAN, last = NAN;
            unsigned count = 0;
            for (uint32_t block = 0; block < launch->blocks; block++) {
                if (times[block] == GRIDDEP_STAMP_NONE)
                    continue;
                first = fmin(first, (double)times[block]);
                last = fmax(last, (double)times[block]);
                count++;
            }
            rows++;
            gd_columns_add(&columns, "%u", (unsigned)i);
            gd_columns_add(&columns, "%s", launch->marks[mark]);
            gd_columns_add(&columns, "%u", count);
            add_time(&columns, first);
            add_time(&columns, last);
        }
    }
    if (rows > 0) {
        putchar('\n');
        gd_columns_print(&columns);
        print_rest(total, most, "mark", "marks");
    }
    gd_columns_free(&columns);
}

static void print_cost(const gd_traceview *view)
{
    const gd_traceview_cost *cost = &view->cost;
    if (cost->plain > 0)
        gd_output_print("a step takes %.2f us, and %.2f us with the trace's clock readings "
                        "(%+.1f %%)\n",
                        cost->plain, cost->traced, (cost->traced / cost->plain - 1.0) * 100.0);
    gd_output_print("the clock moves by %.0f ns\n", view->info.clock_step);
}

static void print_kept(const gd_traceview *view)
{
    for (uint32_t i = 0; i < view->count; i++) {
        const griddep_timeline_launch *figures = &view->launches[i].figures;
        if (figures->blocks_kept < figures->blocks)
            gd_output_print(
                "launch %u (%s): of %llu blocks the first %u were kept; --blocks keeps more\n",
                (unsigned)i, gd_traceview_name(view, i), (unsigned long long)figures->blocks,
                (unsigned)figures->blocks_kept);
        if (figures->backward > 0)
            gd_output_print(
                "launch %u (%s): the clock of %u %s went backwards; no figure counts %s\n",
                (unsigned)i, gd_traceview_name(view, i), (unsigned)figures->backward,
                gd_plural(figures->backward, "block", "blocks"),
                gd_plural(figures->backward, "it", "them"));
    }
}

void gd_tracetext_print(const gd_traceview *view)
{
    const griddep_timeline_info *info = &view->info;
    gd_output_print("chain %s, mode %s: %u %s, %llu %s; times in us%s\n", view->chain,
                    griddep_text(GRIDDEP_TEXT_MODE, info->mode), (unsigned)view->count,
                    gd_plural(view->count, "launch", "launches"), (unsigned long long)info->blocks,
                    gd_plural(info->blocks, "block", "blocks"),
                    info->emulated ? " of the emulated driver's model" : "");
    putchar('\n');
    print_launches(view);
    print_hops(view);
    print_marks(view);
    printf("\nfirst entry to last exit: %.2f us", info->span * 1e-3);
    if (view->runs > 1)
        printf(", in %u runs %.2f to %.2f", (unsigned)view->runs, view->span_least * 1e-3,
               view->span_most * 1e-3);
    if (view->step_bytes > 0 && !info->emulated && info->span > 0)
        printf("; %.3f MB, %.2f TB/s", (double)view->step_bytes * 1e-6,
               (double)view->step_bytes / info->span * 1e-3);
    puts("");
    gd_output_print("without work: %.0f %% of the time of %u %s, %.2f SM us\n",
                    info->idle_share * 100.0, (unsigned)info->multiprocessors,
                    gd_plural(info->multiprocessors, "SM", "SMs"), info->idle * 1e-3);
    print_cost(view);
    print_kept(view);
    puts(view->equal ? "results: as the plain serial run leaves them, to the bit"
                     : "results: NOT as the plain serial run leaves them");
}
