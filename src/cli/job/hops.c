/* A chain of all_reduces on each of two devices, timed by events on the first one. */
#include "cli/job/hops.h"

#include <stdlib.h>

#include "base/statistics.h"

#include "cli/io/message.h"
#include "cli/io/progress.h"

enum { MEMBERS = 2, HOPS = 32, ROUNDS = 15, EMULATED_HOPS = 2, EMULATED_SIZES = 6 };
enum { INBOX, NCCL, CARRIERS };

static const uint64_t least_bytes = 4096;

/* What one size after the other uses. */
typedef struct hop_bench {
    griddep_runtime *const *runtimes;
    bool emulated;
    void *streams[MEMBERS];
    void *begin, *end;
    uint64_t data[MEMBERS];
    griddep_group *groups[CARRIERS];
    griddep_chain *chains[CARRIERS][MEMBERS];
} hop_bench;

/* ---- the bench ---- */

static int32_t open_member(hop_bench *bench, int member, uint64_t bytes, griddep_error *error)
{
    griddep_runtime *runtime = bench->runtimes[member];
    int32_t status = griddep_stream_create(runtime, NULL, &bench->streams[member], error);
    if (status == GRIDDEP_OK)
        status = griddep_memory_allocate(runtime, bytes, &bench->data[member], error);
    if (status == GRIDDEP_OK)
        status = griddep_memory_fill(runtime, bench->data[member], 0, bytes, NULL, error);
    return status;
}

static int32_t open_bench(hop_bench *bench, uint64_t bytes, griddep_error *error)
{
    const griddep_group_options options[CARRIERS] = {
        {.size = sizeof(options[0]), .nccl = GRIDDEP_NCCL_OFF},
        {.size = sizeof(options[0]), .nccl = GRIDDEP_NCCL_ON, .nccl_bytes = 1}};
    int32_t status = GRIDDEP_OK;
    for (int i = 0; i < CARRIERS && status == GRIDDEP_OK; i++)
        status =
            griddep_group_open(bench->runtimes, MEMBERS, &options[i], &bench->groups[i], error);
    for (int i = 0; i < MEMBERS && status == GRIDDEP_OK; i++)
        status = open_member(bench, i, bytes, error);
    if (status == GRIDDEP_OK)
        status =
            griddep_event_create(bench->runtimes[0], GRIDDEP_EVENT_TIMING, &bench->begin, error);
    if (status == GRIDDEP_OK)
        status = griddep_event_create(bench->runtimes[0], GRIDDEP_EVENT_TIMING, &bench->end, error);
    return status;
}

static void drop_chains(hop_bench *bench)
{
    for (int i = 0; i < CARRIERS; i++) {
        for (int k = 0; k < MEMBERS; k++) {
            griddep_chain_destroy(bench->chains[i][k]);
            bench->chains[i][k] = NULL;
        }
    }
}

static void close_bench(hop_bench *bench)
{
    drop_chains(bench);
    for (int i = 0; i < CARRIERS; i++)
        griddep_group_close(bench->groups[i]);
    if (bench->begin != NULL)
        griddep_event_destroy(bench->runtimes[0], bench->begin, NULL);
    if (bench->end != NULL)
        griddep_event_destroy(bench->runtimes[0], bench->end, NULL);
    for (int i = 0; i < MEMBERS; i++) {
        if (bench->data[i] != 0)
            griddep_memory_free(bench->runtimes[i], bench->data[i], NULL);
        if (bench->streams[i] != NULL)
            griddep_stream_destroy(bench->runtimes[i], bench->streams[i], NULL);
    }
}

/* ---- one size ---- */

static int hop_count(const hop_bench *bench)
{
    return bench->emulated ? EMULATED_HOPS : HOPS;
}

static int32_t make_chain(hop_bench *bench, int carrier, int member, uint64_t bytes,
                          griddep_error *error)
{
    const griddep_hop sum = {.size = sizeof(sum),
                             .operation = GRIDDEP_HOP_ALL_REDUCE,
                             .type = GRIDDEP_TENSOR_BF16,
                             .source = bench->data[member],
                             .target = bench->data[member],
                             .count = bytes / 2};
    griddep_chain **chain = &bench->chains[carrier][member];
    int32_t status = griddep_chain_create(bench->runtimes[member], chain, error);
    for (int i = 0; i < hop_count(bench) && status == GRIDDEP_OK; i++)
        status = griddep_chain_add_hop(*chain, bench->groups[carrier], NULL, &sum, error);
    return status;
}

/* The first member's last: its events enclose the hops. */
static int32_t run_chains(hop_bench *bench, int carrier, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    for (int i = MEMBERS; i-- > 0 && status == GRIDDEP_OK;)
        status = griddep_chain_run(bench->chains[carrier][i], GRIDDEP_MODE_GRAPH_PDL,
                                   bench->streams[i], error);
    return status;
}

/* Of two runs the second: handing it in takes no time of the devices, which have the first. */
static int32_t time_run(hop_bench *bench, int carrier, double *us, griddep_error *error)
{
    griddep_runtime *first = bench->runtimes[0];
    int32_t status = run_chains(bench, carrier, error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(first, bench->begin, bench->streams[0], error);
    if (status == GRIDDEP_OK)
        status = run_chains(bench, carrier, error);
    if (status == GRIDDEP_OK)
        status = griddep_event_record(first, bench->end, bench->streams[0], error);
    for (int i = 0; i < MEMBERS && status == GRIDDEP_OK; i++)
        status = griddep_stream_synchronize(bench->runtimes[i], bench->streams[i], error);
    if (status == GRIDDEP_OK)
        status = griddep_group_status(bench->groups[carrier], error);
    if (status == GRIDDEP_OK)
        status = griddep_event_elapsed(first, bench->begin, bench->end, us, error);
    if (status == GRIDDEP_OK)
        *us /= 1e3 * hop_count(bench);
    return status;
}

/* The carriers take turns; a round before the first one loads what they need. */
static int32_t time_size(hop_bench *bench, gd_hops_size *size, griddep_error *error)
{
    const int rounds = bench->emulated ? 1 : ROUNDS;
    double us[CARRIERS][ROUNDS], unused;
    int32_t status = GRIDDEP_OK;
    for (int i = 0; i < CARRIERS * MEMBERS && status == GRIDDEP_OK; i++)
        status = make_chain(bench, i / MEMBERS, i % MEMBERS, size->bytes, error);
    for (int round = -1; round < rounds; round++) {
        for (int i = 0; i < CARRIERS && status == GRIDDEP_OK; i++)
            status = time_run(bench, i, round < 0 ? &unused : &us[i][round], error);
    }
    drop_chains(bench);
    if (status != GRIDDEP_OK)
        return status;
    size->inbox_us = gd_statistics_median(us[INBOX], (size_t)rounds);
    size->nccl_us = gd_statistics_median(us[NCCL], (size_t)rounds);
    return GRIDDEP_OK;
}

/* ---- the crossing ---- */

/* Behind the last size at which our kernels are faster, on a line between the differences. */
static uint64_t find_crossing(const gd_hops *hops)
{
    size_t at = hops->size_count;
    while (at > 0 && hops->sizes[at - 1].nccl_us <= hops->sizes[at - 1].inbox_us)
        at--;
    if (at == hops->size_count)
        return UINT64_MAX;
    if (at == 0)
        return hops->sizes[0].bytes;
    const gd_hops_size *before = &hops->sizes[at - 1], *behind = &hops->sizes[at];
    const double lost = before->nccl_us - before->inbox_us,
                 won = behind->inbox_us - behind->nccl_us;
    return before->bytes +
           (uint64_t)((double)(behind->bytes - before->bytes) * lost / (lost + won));
}

int gd_hops_measure(griddep_runtime *const runtimes[2], bool emulated, gd_hops *hops)
{
    hop_bench bench = {.runtimes = runtimes, .emulated = emulated};
    griddep_error error;
    griddep_error_init(&error);
    hops->size_count = bench.emulated ? EMULATED_SIZES : GD_HOPS_SIZES;
    int32_t status = open_bench(&bench, least_bytes << (hops->size_count - 1), &error);
    for (size_t i = 0; i < hops->size_count && status == GRIDDEP_OK; i++) {
        hops->sizes[i].bytes = least_bytes << i;
        gd_progress_show("timing hops of %llu bytes", (unsigned long long)hops->sizes[i].bytes);
        status = time_size(&bench, &hops->sizes[i], &error);
    }
    close_bench(&bench);
    gd_progress_clear();
    if (status != GRIDDEP_OK)
        return gd_message_library(&error, "timing hops");
    hops->nccl_bytes = find_crossing(hops);
    return 0;
}
