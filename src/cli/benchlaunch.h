/* What a launch costs on the host: through the library, and by the bare driver call. */
#ifndef GD_CLI_BENCHLAUNCH_H
#define GD_CLI_BENCHLAUNCH_H

#include <stdint.h>

#include "griddep.h"

/* Nanoseconds of a call, or a ratio: median, 10th and 90th percentile. */
typedef struct gd_bench_spread {
    double median, low, high;
} gd_bench_spread;

typedef struct gd_bench_launch {
    const char *name;
    gd_bench_spread library, bare, ratio; /* ratio: library / bare, of neighbours in time */
} gd_bench_launch;

enum { GD_BENCH_LAUNCHES = 3 };

/* Measures the library's launches against cuLaunchKernelEx with `samples` bursts each. Returns 0, or an exit code after
 * a message. */
int gd_bench_launch_measure(griddep_runtime *runtime, uint32_t samples, gd_bench_launch results[GD_BENCH_LAUNCHES]);

/* Of values, which are sorted. */
gd_bench_spread gd_bench_spread_of(double *values, uint32_t count);

#endif
