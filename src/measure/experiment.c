/* Fresh runs and their results. */
#include "measure/experiment.h"

#include <stdlib.h>
#include <string.h>

bool gd_experiment_allocate(gd_experiment *experiment)
{
    const uint32_t count = experiment->buffer_count;

    experiment->copies = calloc(count + 1, sizeof *experiment->copies);
    experiment->serial = calloc(count + 1, sizeof *experiment->serial);
    experiment->got = calloc(count + 1, sizeof *experiment->got);
    if (!experiment->copies || !experiment->serial || !experiment->got)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!experiment->buffers[i].read)
            continue;
        experiment->serial[i] = malloc(experiment->buffers[i].bytes);
        experiment->got[i] = malloc(experiment->buffers[i].bytes);
        if (!experiment->serial[i] || !experiment->got[i])
            return false;
    }
    return true;
}

static void free_results(const gd_experiment *experiment, void **results)
{
    for (uint32_t i = 0; i < experiment->buffer_count && results; i++)
        free(results[i]);
    free(results);
}

static void free_copies(gd_experiment *experiment)
{
    for (uint32_t i = 0; i < experiment->buffer_count && experiment->copies; i++)
        if (experiment->copies[i])
            griddep_memory_free(experiment->runtime, experiment->copies[i], NULL);
    free(experiment->copies);
}

void gd_experiment_free(gd_experiment *experiment)
{
    free_copies(experiment);
    free_results(experiment, experiment->serial);
    free_results(experiment, experiment->got);
    *experiment = (gd_experiment){0};
}

static int32_t write_initial(const gd_experiment *experiment, uint32_t index, griddep_error *error)
{
    const gd_experiment_buffer *buffer = &experiment->buffers[index];

    return griddep_memory_write(experiment->runtime, buffer->address, buffer->initial,
                                buffer->bytes, experiment->stream, error);
}

int32_t gd_experiment_restore(gd_experiment *experiment, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    experiment->step = GD_EXPERIMENT_WRITES;
    for (uint32_t i = 0; i < experiment->buffer_count && !status; i++) {
        experiment->buffer = i;
        if (experiment->buffers[i].initial)
            status = write_initial(experiment, i, error);
    }
    return status;
}

int32_t gd_experiment_read(gd_experiment *experiment, void **results, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    experiment->step = GD_EXPERIMENT_READS;
    for (uint32_t i = 0; i < experiment->buffer_count && !status; i++) {
        const gd_experiment_buffer *buffer = &experiment->buffers[i];
        experiment->buffer = i;
        if (buffer->read)
            status = griddep_memory_read(experiment->runtime, results[i], buffer->address,
                                         buffer->bytes, experiment->stream, error);
    }
    return status;
}

static bool changes_state(const gd_experiment *experiment)
{
    for (uint32_t i = 0; i < experiment->buffer_count; i++) {
        const gd_experiment_buffer *buffer = &experiment->buffers[i];
        if (buffer->state && memcmp(experiment->serial[i], buffer->initial, buffer->bytes) != 0)
            return true;
    }
    return false;
}

static int32_t copy_initial(gd_experiment *experiment, uint32_t index, griddep_error *error)
{
    const gd_experiment_buffer *buffer = &experiment->buffers[index];
    uint64_t *copy = &experiment->copies[index];

    experiment->buffer = index;
    return griddep_memory_allocate(experiment->runtime, buffer->bytes, copy, NULL)
               ? GRIDDEP_OK /* it is written from the host, then */
               : griddep_memory_write(experiment->runtime, *copy, buffer->initial, buffer->bytes,
                                      experiment->stream, error);
}

int32_t gd_experiment_find_state(gd_experiment *experiment, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (experiment->renews || !changes_state(experiment))
        return GRIDDEP_OK;
    experiment->renews = true;
    experiment->step = GD_EXPERIMENT_WRITES;
    for (uint32_t i = 0; i < experiment->buffer_count && !status; i++)
        if (experiment->buffers[i].initial)
            status = copy_initial(experiment, i, error);
    return status;
}

int32_t gd_experiment_renew(const gd_experiment *experiment, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < experiment->buffer_count && experiment->renews && !status; i++) {
        const gd_experiment_buffer *buffer = &experiment->buffers[i];
        if (experiment->copies[i])
            status = griddep_memory_copy_async(experiment->runtime, buffer->address,
                                               experiment->copies[i], buffer->bytes,
                                               experiment->stream, error);
        else if (buffer->initial)
            status = write_initial(experiment, i, error);
    }
    return status;
}

int32_t gd_experiment_run(gd_experiment *experiment, griddep_chain *chain, int32_t mode,
                          void **results, griddep_error *error)
{
    int32_t status = gd_experiment_restore(experiment, error);

    if (status)
        return status;
    experiment->step = GD_EXPERIMENT_RUNS;
    status = griddep_chain_run(chain, mode, experiment->stream, error);
    if (!status)
        status = griddep_stream_synchronize(experiment->runtime, experiment->stream, error);
    if (!status && results)
        status = gd_experiment_read(experiment, results, error);
    return status || !results || results != experiment->serial
               ? status
               : gd_experiment_find_state(experiment, error);
}

uint32_t gd_experiment_find_difference(const gd_experiment *experiment, uint32_t from)
{
    for (; from < experiment->buffer_count; from++)
        if (experiment->buffers[from].compared &&
            memcmp(experiment->got[from], experiment->serial[from],
                   experiment->buffers[from].bytes) != 0)
            break;
    return from;
}

int32_t gd_experiment_trace(gd_experiment *experiment, griddep_chain *chain,
                            griddep_timeline *timeline, int32_t mode, griddep_error *error)
{
    int32_t status = gd_experiment_renew(experiment, error);

    experiment->step = GD_EXPERIMENT_RUNS;
    if (!status)
        status = griddep_chain_run(chain, mode, experiment->stream, error);
    if (!status)
        status = gd_experiment_renew(experiment, error);
    return status ? status : griddep_timeline_run(timeline, mode, experiment->stream, error);
}
