/* Fresh runs whose results are compared, and pairs of samples in turns. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/statistics.h"
#include "measure/tune.h"

enum { LOOK_AFTER = 7 };

int32_t gd_tune_run_compared(griddep_tune *tune, griddep_chain *chain, uint32_t *different,
                             griddep_error *error)
{
    gd_experiment *experiment = &tune->experiment;
    int32_t status =
        gd_experiment_run(experiment, chain, tune->options.mode, experiment->got, error);

    if (status)
        return status;
    const uint32_t found = gd_experiment_find_difference(experiment, 0);
    *different = found < experiment->buffer_count ? found + 1 : 0;
    return GRIDDEP_OK;
}

static int32_t time_sample(const griddep_tune *tune, griddep_chain *chain, double *microseconds,
                           griddep_error *error)
{
    return gd_clock_time(&tune->clock, chain, tune->options.mode, tune->batch, microseconds, error);
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
        const gd_spread spread = gd_statistics_spread(ratios, count);
        *ratio = (gd_tune_ratio){.pairs = count,
                                 .median = spread.median,
                                 .lowest = spread.low,
                                 .highest = spread.high,
                                 .first_us = gd_statistics_median(one, count),
                                 .second_us = gd_statistics_median(other, count)};
    }
    free(values);
    return status;
}
