/* Order statistics of measurements. */
#ifndef GD_BASE_STATISTICS_H
#define GD_BASE_STATISTICS_H

#include <stddef.h>

/* Ascending; NaN behind all numbers. */
void gd_statistics_sort(double *values, size_t count);

/* Of sorted values, with linear interpolation between neighbours: 0.5 is the median. NaN does not
 * count; where there is no number the result is NaN. */
double gd_statistics_percentile(const double *sorted, size_t count, double fraction);

/* Sorts them. */
double gd_statistics_median(double *values, size_t count);

/* The median and the middle 80 %: the 10th and the 90th percentile. */
typedef struct gd_spread {
    double median, low, high;
} gd_spread;

/* Sorts them. */
gd_spread gd_statistics_spread(double *values, size_t count);

#endif
