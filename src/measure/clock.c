/* Timing with device events around batches of runs. */
#include "measure/clock.h"

#include <stddef.h>

enum { LARGEST_BATCH = 4096, MOST_ROUNDS = 64 };

static const double warm_up_microseconds = 20000.0;

int32_t gd_clock_open(const gd_experiment *experiment, gd_clock *clock, griddep_error *error)
{
    griddep_runtime *runtime = experiment->runtime;
    griddep_runtime_info info = {.size = sizeof info};
    int32_t status = griddep_runtime_get_info(runtime, &info, error);

    *clock = (gd_clock){.experiment = experiment, .is_model = info.emulated};
    if (!status)
        status = griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &clock->start, error);
    return status ? status
                  : griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &clock->end, error);
}

void gd_clock_close(gd_clock *clock)
{
    if (clock->start)
        griddep_event_destroy(clock->experiment->runtime, clock->start, NULL);
    if (clock->end)
        griddep_event_destroy(clock->experiment->runtime, clock->end, NULL);
    *clock = (gd_clock){0};
}

static int32_t time_batch(const gd_clock *clock, griddep_chain *chain, int32_t mode, uint32_t batch,
                          double *microseconds, griddep_error *error)
{
    int32_t status = gd_experiment_renew(clock->experiment, error);

    if (!status)
        status = griddep_chain_run(chain, mode, clock->experiment->stream, error);
    if (!status)
        status = gd_experiment_renew(clock->experiment, error);
    if (!status)
        status = griddep_event_record(clock->experiment->runtime, clock->start,
                                      clock->experiment->stream, error);
    for (uint32_t i = 0; i < batch && !status; i++)
        status = griddep_chain_run(chain, mode, clock->experiment->stream, error);
    if (!status)
        status = griddep_event_record(clock->experiment->runtime, clock->end,
                                      clock->experiment->stream, error);
    if (!status)
        status = griddep_event_elapsed(clock->experiment->runtime, clock->start, clock->end,
                                       microseconds, error);
    if (!status)
        *microseconds /= 1e3; /* of nanoseconds */
    return status;
}

int32_t gd_clock_time(const gd_clock *clock, griddep_chain *chain, int32_t mode, uint32_t batch,
                      double *microseconds, griddep_error *error)
{
    int32_t status = time_batch(clock, chain, mode, batch, microseconds, error);

    if (!status)
        *microseconds /= batch;
    return status;
}

/* A batch that should last a fifth longer than the least; larger than now, and at most sixteen
 * times so. */
static uint32_t next_batch(uint32_t now, double elapsed, double least)
{
    const double wanted = elapsed > 0 ? now * 1.2 * least / elapsed : 2.0 * now;
    const uint32_t most = now > LARGEST_BATCH / 16 ? LARGEST_BATCH : 16 * now;

    if (wanted >= most)
        return most;
    const uint32_t whole = (uint32_t)wanted, rounded_up = whole + (wanted > whole);
    return rounded_up > now ? rounded_up : now + 1;
}

int32_t gd_clock_choose_batch(const gd_clock *clock, griddep_chain *chain, int32_t mode,
                              double least, uint32_t *batch, griddep_error *error)
{
    double spent = 0, elapsed = 0;

    *batch = 1;
    for (int round = 0; round < MOST_ROUNDS && !clock->is_model; round++) {
        int32_t status = time_batch(clock, chain, mode, *batch, &elapsed, error);
        if (status)
            return status;
        spent += elapsed;
        if (elapsed < least && *batch == LARGEST_BATCH)
            break;
        if (elapsed < least && !clock->experiment->renews)
            *batch = next_batch(*batch, elapsed, least);
        else if (spent >= warm_up_microseconds)
            break;
    }
    return GRIDDEP_OK;
}
