/* bench/suites handoff: the time from one step to the next that needs its data, in several ways,
 * for grids of one block, of one for each multiprocessor, and of eight.
 *
 * Chains do not run into each other: the first launch of a chain never starts early, a graph begins
 * when the one before it has ended, and a kernel holds the stream until everything that is timed is
 * in it, so that no figure is the host's. A hop is the difference of two such chains that differ by
 * a number of steps: pair is one more, chain 63 more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/suites.h"
#include "bench/handoff.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

enum {
    GRIDS = 3,
    LANES = 4,
    LONG_STEPS = 64,
    TRACED_RUNS = 5,
    SHORT_REPEATS = 32, /* chains of one or two steps in a sample */
    LONG_REPEATS = 8,
    TUNING_SAMPLES = 5
};

static const struct {
    const char *name;
    gd_handoff_kind kind;
    int32_t mode;
    uint32_t lanes;
} ways[] = {
    {"stream", GD_HANDOFF_STEPS, GRIDDEP_MODE_SERIAL, 1},
    {"stream, PDL", GD_HANDOFF_STEPS, GRIDDEP_MODE_PDL, 1},
    {"graph", GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH, 1},
    {"graph, PDL", GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH_PDL, 1},
    {"graph, PDL without a trigger", GD_HANDOFF_QUIET_STEPS, GRIDDEP_MODE_GRAPH_PDL, 1},
    {"4 streams, independent", GD_HANDOFF_STEPS, GRIDDEP_MODE_SERIAL, LANES},
    {"graph of 4 branches, independent", GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH, LANES},
    {"persistent kernel, flags", GD_HANDOFF_PERSISTENT, GRIDDEP_MODE_GRAPH, 1},
    {"graph, PDL with flags for the wait", GD_HANDOFF_FLAGS, GRIDDEP_MODE_GRAPH_PDL, 1},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Medians over the hops of a long chain, microseconds. */
typedef struct parts {
    bool there;
    double lead;   /* first entry to the last exit of the step before */
    double gap;    /* that exit to the first release */
    double spread; /* first to last release */
    double work;   /* last release to last exit */
} parts;

typedef struct row {
    const char *way;
    uint32_t blocks;
    bool right, polls, pairs;
    uint32_t pause;
    gd_spread pair, hop;
    parts parts;
} row;

typedef struct rows {
    row items[GRIDS * WAYS];
} rows;

/* What one measurement works with. */
typedef struct clockwork {
    const gd_bench *bench;
    griddep_module *module;
    void *stream, *start, *end;
    double hold; /* nanoseconds; longer than what is timed takes to queue */
    griddep_error error;
} clockwork;

static int report_handoff_error(const clockwork *with)
{
    return gd_message_library_as(GD_EXIT_REFUSED, &with->error, "measuring the hand-off");
}

/* ---- one sample ---- */

static double host_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int32_t queue(clockwork *with, gd_handoff *handoff, uint32_t repeats)
{
    int32_t status =
        gd_handoff_hold(with->module, with->stream, (uint64_t)with->hold, &with->error);
    if (status == GRIDDEP_OK)
        status =
            griddep_event_record(with->bench->runtime, with->start, with->stream, &with->error);
    for (uint32_t i = 0; i < repeats && status == GRIDDEP_OK; i++)
        status = gd_handoff_run(handoff, with->stream, &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(with->bench->runtime, with->end, with->stream, &with->error);
    return status;
}

/* The time of a chain. A sample that the host could not queue in the time held is taken again with
 * more. */
static int sample(clockwork *with, gd_handoff *handoff, uint32_t repeats, double *microseconds)
{
    static const double longest = 2e9; /* ns */
    for (;;) {
        double begin = host_time(), elapsed = 0.0;
        int32_t status = queue(with, handoff, repeats);
        double queued = host_time() - begin;
        if (status == GRIDDEP_OK)
            status = griddep_event_elapsed(with->bench->runtime, with->start, with->end, &elapsed,
                                           &with->error);
        if (status != GRIDDEP_OK)
            return report_handoff_error(with);
        *microseconds = elapsed / (1e3 * repeats);
        if (queued < with->hold)
            return 0;
        if (with->hold >= longest)
            return gd_message_error(
                GD_EXIT_REFUSED,
                "measuring the hand-off: the driver does not take %u chains while a kernel runs",
                (unsigned)repeats);
        with->hold = 2.0 * queued;
    }
}

/* ---- chains that differ by steps ---- */

enum { SINGLE, PAIR, CHAIN, LENGTHS };

typedef struct lengths {
    gd_handoff chains[LENGTHS];
    uint32_t steps[LENGTHS];
} lengths;

static int open_lengths(clockwork *with, const gd_handoff_way *way, lengths *all)
{
    *all = (lengths){.steps = {1, 2, LONG_STEPS / way->lanes}};
    for (uint32_t i = 0; i < LENGTHS; i++) {
        gd_handoff_way long_way = *way;
        long_way.steps = all->steps[i];
        if (gd_handoff_open(with->bench->runtime, with->module, &long_way, &all->chains[i],
                            &with->error) != GRIDDEP_OK)
            return report_handoff_error(with);
    }
    return 0;
}

static void close_lengths(lengths *all)
{
    for (uint32_t i = 0; i < LENGTHS; i++)
        gd_handoff_close(&all->chains[i]);
}

/* Of a step more, in the pair and on the way through the long chain. The first sample warms up. */
static int time_lengths(clockwork *with, lengths *all, uint32_t samples, gd_spread *pair,
                        gd_spread *hop)
{
    double *pairs = gd_heap_take(samples, sizeof(*pairs)),
           *hops = gd_heap_take(samples, sizeof(*hops));
    uint32_t lanes = all->chains[CHAIN].way.lanes;
    int code = 0;
    for (uint32_t i = 0; i <= samples && code == 0; i++) {
        double times[LENGTHS] = {0.0};
        for (uint32_t k = 0; k < LENGTHS && code == 0; k++)
            code =
                sample(with, &all->chains[k], k == CHAIN ? LONG_REPEATS : SHORT_REPEATS, &times[k]);
        uint32_t at = i > 0 ? i - 1 : 0;
        pairs[at] = times[PAIR] - times[SINGLE];
        hops[at] = (times[CHAIN] - times[SINGLE]) / (lanes * (all->steps[CHAIN] - 1));
    }
    *pair = gd_statistics_spread(pairs, samples);
    *hop = gd_statistics_spread(hops, samples);
    free(pairs);
    free(hops);
    return code;
}

static int check_lengths(clockwork *with, const lengths *all, bool *right)
{
    *right = true;
    for (uint32_t i = 0; i < LENGTHS; i++) {
        bool is_right = false;
        if (gd_handoff_check(&all->chains[i], with->stream, &is_right, &with->error) != GRIDDEP_OK)
            return report_handoff_error(with);
        *right &= is_right;
    }
    return 0;
}

/* ---- the back-off ---- */

/* The pause between two looks at a counter with which a long chain is fastest. */
static int choose_pause(clockwork *with, const gd_handoff_way *way, uint32_t *pause)
{
    static const uint32_t pauses[] = {0, 20, 40, 80, 160, 320};
    double best = INFINITY;
    for (uint32_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        gd_handoff_way tried = *way;
        gd_spread pair, hop;
        lengths all;
        tried.pause = pauses[i];
        int code = open_lengths(with, &tried, &all);
        if (code == 0)
            code = time_lengths(with, &all, TUNING_SAMPLES, &pair, &hop);
        close_lengths(&all);
        if (code != 0)
            return code;
        if (hop.median < best) {
            best = hop.median;
            *pause = pauses[i];
        }
    }
    return 0;
}

/* ---- parts ---- */

static double median_of(double *values, uint32_t count)
{
    return count > 0 ? gd_statistics_spread(values, count).median * 1e-3 : NAN;
}

typedef struct hops {
    uint32_t count;
    double lead[TRACED_RUNS * LONG_STEPS], gap[TRACED_RUNS * LONG_STEPS],
        spread[TRACED_RUNS * LONG_STEPS], work[TRACED_RUNS * LONG_STEPS];
} hops;

static int32_t read_hops(clockwork *with, griddep_timeline *timeline, hops *all)
{
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 1; i < LONG_STEPS && status == GRIDDEP_OK; i++) {
        griddep_timeline_hop hop = {.size = sizeof(hop)};
        griddep_timeline_launch launch = {.size = sizeof(launch)};
        status = griddep_timeline_get_hop(timeline, i, &hop, &with->error);
        if (status == GRIDDEP_OK)
            status = griddep_timeline_get_launch(timeline, i, &launch, &with->error);
        if (status != GRIDDEP_OK || isnan(hop.handoff_gap))
            continue;
        all->lead[all->count] = hop.launch_lead;
        all->gap[all->count] = hop.handoff_gap;
        all->spread[all->count] = launch.last_release - launch.first_release;
        all->work[all->count++] = launch.last_exit - launch.last_release;
    }
    return status;
}

/* Traced runs of the long chain, each behind a plain one, so that the launches are in the stream in
 * time. */
static int measure_parts(clockwork *with, gd_handoff *handoff, parts *result)
{
    hops *all = gd_heap_take(1, sizeof(*all));
    griddep_timeline *timeline = NULL;
    int32_t status = griddep_timeline_create(handoff->chain, NULL, &timeline, &with->error);
    for (uint32_t i = 0; i < TRACED_RUNS && status == GRIDDEP_OK; i++) {
        status = gd_handoff_run(handoff, with->stream, &with->error);
        if (status == GRIDDEP_OK)
            status = griddep_timeline_run(timeline, handoff->way.mode, with->stream, &with->error);
        handoff->runs++;
        if (status == GRIDDEP_OK)
            status = read_hops(with, timeline, all);
    }
    *result = (parts){.there = true,
                      .lead = median_of(all->lead, all->count),
                      .gap = median_of(all->gap, all->count),
                      .spread = median_of(all->spread, all->count),
                      .work = median_of(all->work, all->count)};
    griddep_timeline_destroy(timeline);
    free(all);
    return status == GRIDDEP_OK ? 0 : report_handoff_error(with);
}

/* ---- the suite ---- */

static int measure_way(clockwork *with, uint32_t index, row *result)
{
    gd_handoff_way way = {.kind = ways[index].kind,
                          .mode = ways[index].mode,
                          .lanes = ways[index].lanes,
                          .blocks = result->blocks};
    bool kernels = way.kind == GD_HANDOFF_STEPS || way.kind == GD_HANDOFF_QUIET_STEPS;
    lengths all = {0};
    result->way = ways[index].name;
    result->pairs = way.lanes == 1;
    result->polls = !kernels;
    gd_progress_show("hand-off: %s, %u blocks", result->way, (unsigned)result->blocks);
    int code = result->polls ? choose_pause(with, &way, &way.pause) : 0;
    result->pause = way.pause;
    if (code == 0)
        code = open_lengths(with, &way, &all);
    if (code == 0)
        code = time_lengths(with, &all, with->bench->samples, &result->pair, &result->hop);
    if (code == 0 && kernels && way.lanes == 1)
        code = measure_parts(with, &all.chains[CHAIN], &result->parts);
    if (code == 0)
        code = check_lengths(with, &all, &result->right);
    close_lengths(&all);
    return code;
}

static int measure_rows(clockwork *with, rows *all)
{
    const uint32_t multiprocessors = (uint32_t)with->bench->info->multiprocessors;
    const uint32_t grids[GRIDS] = {1, multiprocessors, 8 * multiprocessors};
    bool right = true;
    for (uint32_t i = 0; i < GRIDS * WAYS; i++) {
        all->items[i].blocks = grids[i / WAYS];
        int code = measure_way(with, i % WAYS, &all->items[i]);
        if (code != 0)
            return code;
        right &= all->items[i].right;
    }
    return right ? 0 : GD_EXIT_DIFFERS;
}

static int measure(const gd_bench *bench, void **results)
{
    clockwork with = {.bench = bench, .hold = 200000.0};
    griddep_error_init(&with.error);
    *results = gd_heap_take(1, sizeof(rows));
    int32_t status = gd_handoff_load(bench->runtime, &with.module, &with.error);
    if (status == GRIDDEP_OK)
        status = griddep_stream_create(bench->runtime, NULL, &with.stream, &with.error);
    if (status == GRIDDEP_OK)
        status =
            griddep_event_create(bench->runtime, GRIDDEP_EVENT_TIMING, &with.start, &with.error);
    if (status == GRIDDEP_OK)
        status = griddep_event_create(bench->runtime, GRIDDEP_EVENT_TIMING, &with.end, &with.error);
    int code = status == GRIDDEP_OK ? measure_rows(&with, *results) : report_handoff_error(&with);
    if (with.start != NULL)
        griddep_event_destroy(bench->runtime, with.start, NULL);
    if (with.end != NULL)
        griddep_event_destroy(bench->runtime, with.end, NULL);
    if (with.stream != NULL)
        griddep_stream_destroy(bench->runtime, with.stream, NULL);
    griddep_module_unload(with.module);
    return code;
}

/* ---- telling ---- */

static void print_parts(gd_columns *columns, const parts *figures)
{
    const double values[] = {figures->lead, figures->gap, figures->spread, figures->work};
    for (size_t i = 0; i < 4; i++) {
        if (figures->there && !isnan(values[i]))
            gd_columns_add(columns, "%.2f", values[i]);
        else
            gd_columns_add(columns, "-");
    }
}

static void print_row(gd_columns *columns, const row *item)
{
    gd_columns_add(columns, "%s%s", item->way, item->right ? "" : ", WRONG");
    gd_columns_add(columns, "%u", (unsigned)item->blocks);
    if (item->pairs)
        gd_columns_add(columns, "%.3f", item->pair.median);
    else
        gd_columns_add(columns, "-");
    gd_columns_add(columns, "%.3f", item->hop.median);
    gd_columns_add(columns, "%.3f to %.3f", item->hop.low, item->hop.high);
    if (item->polls)
        gd_columns_add(columns, "%u", (unsigned)item->pause);
    else
        gd_columns_add(columns, "-");
    print_parts(columns, &item->parts);
}

static void print(const gd_bench *bench, const void *results)
{
    const rows *all = results;
    static const char *const titles[] = {"hand-off",  "blocks", "pair", "chain",  "middle 80 %",
                                         "pause, ns", "lead",   "gap",  "spread", "work"};
    gd_columns columns = {.column_count = 10, .left = 1, .titled = true};
    (void)bench;
    for (size_t i = 0; i < 10; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (uint32_t i = 0; i < GRIDS * WAYS; i++)
        print_row(&columns, &all->items[i]);
    puts("\nus a step that needs the one before; parts from a traced run of the chain");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static json_t *parts_json(const parts *figures)
{
    json_t *object = json_object();
    if (!figures->there) {
        json_decref(object);
        return json_null();
    }
    gd_output_set(object, "lead_us", gd_output_real(figures->lead));
    gd_output_set(object, "gap_us", gd_output_real(figures->gap));
    gd_output_set(object, "spread_us", gd_output_real(figures->spread));
    gd_output_set(object, "work_us", gd_output_real(figures->work));
    return object;
}

static json_t *make_json(const gd_bench *bench, const void *results)
{
    const rows *all = results;
    json_t *list = json_array();
    (void)bench;
    for (uint32_t i = 0; i < GRIDS * WAYS; i++) {
        const row *item = &all->items[i];
        json_t *object = json_object();
        gd_output_set(object, "way", gd_output_string(item->way));
        gd_output_set(object, "blocks", json_integer(item->blocks));
        gd_output_set(object, "as_expected", json_boolean(item->right));
        gd_output_set(object, "pair_us",
                      item->pairs ? gd_bench_spread_json(&item->pair) : json_null());
        gd_output_set(object, "chain_us", gd_bench_spread_json(&item->hop));
        gd_output_set(object, "pause_ns", item->polls ? json_integer(item->pause) : json_null());
        gd_output_set(object, "parts", parts_json(&item->parts));
        gd_output_append(list, object);
    }
    return list;
}

const gd_bench_suite suite_handoff = {"handoff", "handoff", measure, print, make_json, free};
