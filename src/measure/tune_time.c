/* Running and timing: fresh runs whose results are compared, and pairs of samples between two
 * events. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/statistics.h"
#include "measure/tune.h"

/* A sample lasts at least this long, the device is warmed up for this long, in microseconds. */
static const double sample_length = 1000.0, warm_up_length = 20000.0;

enum { LARGEST_BATCH = 4096, LOOK_AFTER = 7 };

/* ---- results ---- */

int32_t gd_tune_run_fresh(griddep_tune *tune, griddep_chain *chain, int32_t mode,
                          griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < tune->buffer_count && !status; i++) {
        const griddep_tune_buffer *buffer = &tune->buffers[i];
        if (buffer->initial)
            status = griddep_memory_write(tune->runtime, buffer->address, buffer->initial,
                                          buffer->bytes, tune->stream, error);
    }
    if (!status)
        status = griddep_chain_run(chain, mode, tune->stream, error);
    if (!status)
        status = griddep_stream_synchronize(tune->runtime, tune->stream, error);
    return status;
}

int32_t gd_tune_keep(griddep_tune *tune, griddep_error *error)
{
    uint64_t largest = 1;

    tune->serial = calloc(tune->buffer_count + 1, sizeof *tune->serial);
    if (!tune->serial)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < tune->buffer_count; i++) {
        const griddep_tune_buffer *buffer = &tune->buffers[i];
        if (!buffer->compared)
            continue;
        tune->serial[i] = malloc(buffer->bytes);
        if (!tune->serial[i])
            return gd_error_memory(error);
        int32_t status = griddep_memory_read(tune->runtime, tune->serial[i], buffer->address,
                                             buffer->bytes, tune->stream, error);
        if (status)
            return status;
        largest = buffer->bytes > largest ? buffer->bytes : largest;
    }
    tune->got = malloc(largest);
    return tune->got ? GRIDDEP_OK : gd_error_memory(error);
}

int32_t gd_tune_compare(griddep_tune *tune, bool *equal, uint32_t *buffer, griddep_error *error)
{
    *equal = true;
    for (uint32_t i = 0; i < tune->buffer_count && *equal; i++) {
        const griddep_tune_buffer *compared = &tune->buffers[i];
        if (!tune->serial[i])
            continue;
        int32_t status = griddep_memory_read(tune->runtime, tune->got, compared->address,
                                             compared->bytes, tune->stream, error);
        if (status)
            return status;
        *equal = !memcmp(tune->got, tune->serial[i], compared->bytes);
        *buffer = i;
    }
    return GRIDDEP_OK;
}

/* ---- time ---- */

/* The time of one run, from `batch` of them. A run ahead of the first event keeps the device busy
 * while the timed ones are queued. */
static int32_t time_sample(griddep_tune *tune, griddep_chain *chain, double *microseconds,
                           griddep_error *error)
{
    int32_t mode = tune->options.mode;
    int32_t status = griddep_chain_run(chain, mode, tune->stream, error);

    if (!status)
        status = griddep_event_record(tune->runtime, tune->start, tune->stream, error);
    for (uint32_t i = 0; i < tune->batch && !status; i++)
        status = griddep_chain_run(chain, mode, tune->stream, error);
    if (!status)
        status = griddep_event_record(tune->runtime, tune->end, tune->stream, error);
    if (!status)
        status = griddep_event_elapsed(tune->runtime, tune->start, tune->end, microseconds, error);
    if (!status)
        *microseconds /= tune->batch;
    return status;
}

/* Larger than now, and at most sixteen times so. */
static uint32_t next_batch(uint32_t now, double wanted)
{
    uint32_t most = now > LARGEST_BATCH / 16 ? LARGEST_BATCH : 16 * now;

    return wanted >= most ? most : wanted > now ? (uint32_t)wanted + 1 : now + 1;
}

/* A driver whose events do not advance gets the largest batch, and no division by zero. */
int32_t gd_tune_choose_batch(griddep_tune *tune, griddep_error *error)
{
    double spent = 0, one = 0;

    tune->batch = 1;
    for (uint32_t round = 0; round < 64 && !tune->info.model; round++) {
        int32_t status = time_sample(tune, tune->given.chain, &one, error);
        if (status)
            return status;
        double sample = one * tune->batch;
        spent += sample;
        if (sample >= sample_length && spent >= warm_up_length)
            break;
        if (sample < sample_length && tune->batch == LARGEST_BATCH)
            break;
        if (sample < sample_length) {
            double wanted = one > 0 ? 1.2 * sample_length / one : 2.0 * tune->batch;
            tune->batch = next_batch(tune->batch, wanted);
        }
    }
    return GRIDDEP_OK;
}

/* One pair, in alternating order, so that what the second one of a pair has of the first meets both
 * alike. */
static int32_t time_pair(griddep_tune *tune, griddep_chain *const chains[2], bool turned,
                         double times[2], griddep_error *error)
{
    int32_t status = time_sample(tune, chains[turned], &times[turned], error);

    return status ? status : time_sample(tune, chains[!turned], &times[!turned], error);
}

static double median_so_far(const double *ratios, uint32_t count, double *room)
{
    memcpy(room, ratios, count * sizeof *room);
    return gd_statistics_median(room, count);
}

int32_t gd_tune_pairs(griddep_tune *tune, griddep_chain *first, griddep_chain *second,
                      uint32_t pairs, double hopeless, gd_tune_ratio *ratio, griddep_error *error)
{
    griddep_chain *const chains[2] = {first, second};
    double *values = malloc(4 * (size_t)pairs * sizeof *values);
    uint32_t count = 0;
    int32_t status = GRIDDEP_OK;

    if (!values)
        return gd_error_memory(error);
    double *ratios = values, *room = ratios + pairs, *one = room + pairs, *other = one + pairs;
    while (count < pairs && !status) {
        double times[2] = {0, 0};
        status = time_pair(tune, chains, count % 2, times, error);
        if (status)
            break;
        one[count] = times[0];
        other[count] = times[1];
        ratios[count++] = times[0] > 0 ? times[1] / times[0] : 1;
        if (hopeless > 0 && count == LOOK_AFTER &&
            median_so_far(ratios, count, room) > 1 + hopeless)
            break;
    }
    if (!status) {
        const double median = gd_statistics_median(ratios, count);
        *ratio = (gd_tune_ratio){.pairs = count,
                                 .median = median,
                                 .lowest = gd_statistics_percentile(ratios, count, 0.1),
                                 .highest = gd_statistics_percentile(ratios, count, 0.9),
                                 .first_us = gd_statistics_median(one, count),
                                 .second_us = gd_statistics_median(other, count)};
    }
    free(values);
    return status;
}
