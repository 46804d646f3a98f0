/* bench/suites rounds: a chain of four kernels run many times back to back, with and without
 * overlap across the rounds. Each kernel reads what the one before has written, the first what
 * the last one of the round before has: a decode step in small. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suites.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

enum { LENGTH = 4, ROUNDS = 512, WARM_UP = 3, THREADS = 256, GRIDS = 2 };

/* How the rounds are run. */
typedef struct rounds_way {
    const char *name;
    int32_t mode;
    bool at_once; /* by griddep_chain_run_many; else run by run */
    bool behind;  /* the first launch of the chain is off: round follows round */
} rounds_way;

static const rounds_way ways[] = {
    {"pdl, run by run", GRIDDEP_MODE_PDL, false, false},
    {"pdl, rounds behind each other", GRIDDEP_MODE_PDL, true, true},
    {"pdl, rounds overlap", GRIDDEP_MODE_PDL, true, false},
    {"graph-pdl, run by run", GRIDDEP_MODE_GRAPH_PDL, false, false},
    {"graph-pdl, rounds behind each other", GRIDDEP_MODE_GRAPH_PDL, true, true},
    {"graph-pdl, rounds overlap", GRIDDEP_MODE_GRAPH_PDL, true, false},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Microseconds of a round. */
typedef struct rounds_result {
    uint32_t blocks;
    bool overlap; /* the library lets round follow round early, in mode graph-pdl */
    gd_spread times[WAYS];
} rounds_result;

typedef struct rounds_bench {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_chain *chains[2]; /* as it is; and with the first launch off */
    void *stream, *events[2];
    uint64_t buffers[LENGTH];
    griddep_error error;
} rounds_bench;

static int report(const rounds_bench *with)
{
    return gd_message_library_as(GD_EXIT_REFUSED, &with->error, "timing rounds");
}

static int32_t run(const rounds_bench *with, const rounds_way *way, griddep_error *error)
{
    griddep_chain *chain = with->chains[way->behind];
    int32_t status = GRIDDEP_OK;
    if (way->at_once)
        return griddep_chain_run_many(chain, way->mode, ROUNDS, with->stream, error);
    for (uint32_t i = 0; i < ROUNDS && status == GRIDDEP_OK; i++)
        status = griddep_chain_run(chain, way->mode, with->stream, error);
    return status;
}

/* The rounds before the first event keep the device busy while the timed ones are queued. */
static int32_t time_rounds(rounds_bench *with, const rounds_way *way, double *microseconds)
{
    griddep_error *error = &with->error;
    int32_t status = run(with, way, error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(with->runtime, with->events[0], with->stream, error);
    if (status == GRIDDEP_OK)
        status = run(with, way, error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(with->runtime, with->events[1], with->stream, error);
    if (status == GRIDDEP_OK)
        status = griddep_event_elapsed(with->runtime, with->events[0], with->events[1],
                                       microseconds, error);
    *microseconds /= 1e3 * ROUNDS; /* of nanoseconds */
    return status;
}

static int32_t add_launches(rounds_bench *with, griddep_kernel *kernel, uint32_t blocks)
{
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 0; i < 2 * LENGTH && status == GRIDDEP_OK; i++) {
        const uint32_t launch = i % LENGTH;
        griddep_launch_config config = {
            .size = sizeof(config), .grid = {blocks}, .block = {THREADS}};
        const uint64_t from = with->buffers[launch], to = with->buffers[(launch + 1) % LENGTH];
        const griddep_argument arguments[] = {{.bytes = 8, .value = from},
                                              {.bytes = 8, .value = from},
                                              {.bytes = 8, .value = to},
                                              {.bytes = 4, .value = blocks * THREADS}};
        if (i == LENGTH)
            config.pdl = GRIDDEP_PDL_OFF;
        status = griddep_chain_add(with->chains[i / LENGTH], kernel, &config, arguments, 4,
                                   &with->error);
    }
    return status;
}

static int build(rounds_bench *with, griddep_kernel *kernel, uint32_t blocks, rounds_result *result)
{
    griddep_hop_info hop = {.size = sizeof(hop)};
    int32_t status = griddep_chain_create(with->runtime, &with->chains[0], &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_create(with->runtime, &with->chains[1], &with->error);
    if (status == GRIDDEP_OK)
        status = add_launches(with, kernel, blocks);
    if (status == GRIDDEP_OK)
        status = griddep_chain_get_hop(with->chains[0], GRIDDEP_MODE_GRAPH_PDL, LENGTH, &hop,
                                       &with->error);
    result->blocks = blocks;
    result->overlap = hop.reason == GRIDDEP_REASON_SET;
    return status == GRIDDEP_OK ? 0 : report(with);
}

/* The ways take turns, so that what disturbs one disturbs all. */
static int measure_ways(rounds_bench *with, uint32_t samples, rounds_result *result)
{
    double *times = gd_heap_take((size_t)WAYS * samples, sizeof(double));
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 0; i < (samples + WARM_UP) * WAYS && status == GRIDDEP_OK; i++) {
        const uint32_t sample = i / WAYS, way = i % WAYS;
        double *time = &times[way * samples + (sample < WARM_UP ? 0 : sample - WARM_UP)];
        status = time_rounds(with, &ways[way], time);
    }
    for (uint32_t i = 0; i < WAYS; i++)
        result->times[i] = gd_statistics_spread(times + i * samples, samples);
    free(times);
    return status == GRIDDEP_OK ? 0 : report(with);
}

static void drop_chains(rounds_bench *with)
{
    griddep_chain_destroy(with->chains[0]);
    griddep_chain_destroy(with->chains[1]);
    with->chains[0] = with->chains[1] = NULL;
}

static int set_up(rounds_bench *with, uint64_t bytes, griddep_kernel **kernel)
{
    griddep_error *error = &with->error;
    int32_t status = griddep_stream_create(with->runtime, NULL, &with->stream, error);
    for (uint32_t i = 0; i < 2 && status == GRIDDEP_OK; i++)
        status = griddep_event_create(with->runtime, GRIDDEP_EVENT_TIMING, &with->events[i], error);
    for (uint32_t i = 0; i < LENGTH && status == GRIDDEP_OK; i++) {
        status = griddep_memory_allocate(with->runtime, bytes, &with->buffers[i], error);
        if (status == GRIDDEP_OK)
            status = griddep_memory_fill(with->runtime, with->buffers[i], 0, bytes, NULL, error);
    }
    if (status == GRIDDEP_OK)
        status = griddep_module_load_shelf(with->runtime, "vector_add", NULL, &with->module, error);
    if (status == GRIDDEP_OK)
        status = griddep_module_find_kernel(with->module, NULL, kernel, error);
    return status == GRIDDEP_OK ? 0 : report(with);
}

static void tear_down(rounds_bench *with)
{
    drop_chains(with);
    griddep_module_unload(with->module);
    for (uint32_t i = 0; i < LENGTH; i++)
        griddep_memory_free(with->runtime, with->buffers[i], NULL);
    for (uint32_t i = 0; i < 2; i++)
        if (with->events[i] != NULL)
            griddep_event_destroy(with->runtime, with->events[i], NULL);
    if (with->stream != NULL)
        griddep_stream_destroy(with->runtime, with->stream, NULL);
}

static int measure(const gd_bench *bench, void **results)
{
    const uint32_t grids[GRIDS] = {1, (uint32_t)bench->info->multiprocessors};
    rounds_bench with = {.runtime = bench->runtime};
    rounds_result *list = *results = gd_heap_take(GRIDS, sizeof(*list));
    griddep_kernel *kernel = NULL;
    griddep_error_init(&with.error);
    gd_progress_show("rounds");
    int code = set_up(&with, (uint64_t)grids[1] * THREADS * 4, &kernel);
    for (uint32_t i = 0; i < GRIDS && code == 0; i++) {
        code = build(&with, kernel, grids[i], &list[i]);
        if (code == 0)
            code = measure_ways(&with, bench->samples, &list[i]);
        drop_chains(&with);
    }
    tear_down(&with);
    return code;
}

/* ---- telling ---- */

static void print(const gd_bench *bench, const void *results)
{
    const rounds_result *list = results;
    (void)bench;
    for (uint32_t i = 0; i < GRIDS; i++) {
        gd_columns columns = {.column_count = 3, .left = 1, .titled = true};
        puts("");
        gd_output_print("%d rounds of %d kernels of %u block%s, which %s across rounds\n", ROUNDS,
                        LENGTH, (unsigned)list[i].blocks, list[i].blocks == 1 ? "" : "s",
                        list[i].overlap ? "overlap" : "do not overlap");
        gd_columns_add(&columns, "rounds");
        gd_columns_add(&columns, "us a round");
        gd_columns_add(&columns, "middle 80 %%");
        for (uint32_t way = 0; way < WAYS; way++) {
            const gd_spread *time = &list[i].times[way];
            gd_columns_add(&columns, "%s", ways[way].name);
            gd_columns_add(&columns, "%.3f", time->median);
            gd_columns_add(&columns, "%.3f to %.3f", time->low, time->high);
        }
        gd_columns_print(&columns);
        gd_columns_free(&columns);
    }
}

static json_t *make_json(const gd_bench *bench, const void *results)
{
    const rounds_result *list = results;
    json_t *array = json_array();
    (void)bench;
    for (uint32_t i = 0; i < GRIDS * WAYS; i++) {
        const rounds_result *of = &list[i / WAYS];
        json_t *object = json_object();
        gd_output_set(object, "blocks", json_integer(of->blocks));
        gd_output_set(object, "overlap", json_boolean(of->overlap));
        gd_output_set(object, "name", gd_output_string(ways[i % WAYS].name));
        gd_output_set(object, "round_us", gd_bench_spread_json(&of->times[i % WAYS]));
        gd_output_append(array, object);
    }
    return array;
}

const gd_bench_suite suite_rounds = {"rounds", "rounds", measure, print, make_json, free};
