#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

void gd_statistics_sort(double *values, size_t count)
{
    if (count)
        qsort(values, count, sizeof *values, ascending);
}

double gd_statistics_percentile(const double *sorted, size_t count, double fraction)
{
    while (count && isnan(sorted[count - 1]))
        count--;
    if (!count)
        return NAN;
    const double position = fraction * (double)(count - 1);
    const size_t below = (size_t)position, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

double gd_statistics_median(double *values, size_t count)
{
    gd_statistics_sort(values, count);
    return gd_statistics_percentile(values, count, 0.5);
}

gd_spread gd_statistics_spread(double *values, size_t count)
{
    const double median = gd_statistics_median(values, count);

    return (gd_spread){.median = median,
                       .low = gd_statistics_percentile(values, count, 0.1),
                       .high = gd_statistics_percentile(values, count, 0.9)};
}
