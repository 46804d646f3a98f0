/* Suites that measure a GPU beside what it can do at most. */
#ifndef GD_BENCH_BENCH_H
#define GD_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "griddep.h"

#include "base/statistics.h"

#include "cli/io/device.h"
#include "cli/job/measure.h"
#include "cli/plan/plan.h"

typedef struct gd_bench {
    griddep_runtime *runtime;
    const griddep_runtime_info *info;
    uint32_t samples;
    const void *request; /* what is asked of the suites; they know its type */
    double read_ceiling; /* bytes a second */
    double readings[2];  /* of the ceiling, before the suites and after them */
    gd_spread handoff;   /* us, of empty kernels as large as the device, in mode graph-pdl */
} gd_bench;

/* A suite allocates its results. measure returns 0, GD_EXIT_DIFFERS with results whose times count
 * for nothing, or another exit code after a message; the results are to be freed either way. */
typedef struct gd_bench_suite {
    const char *name;
    const char *member; /* of the JSON document */
    int (*measure)(const gd_bench *bench, void **results);
    void (*print)(const gd_bench *bench, const void *results);
    json_t *(*json)(const gd_bench *bench, const void *results);
    void (*free)(void *results);
} gd_bench_suite;

/* What is run, and how it is told. */
typedef struct gd_bench_plan {
    const gd_device_choice *device;
    const gd_bench_suite *const *suites;
    uint32_t suite_count; /* at most 32 */
    uint32_t wanted;      /* bit per suite */
    uint32_t samples;
    const void *request;
    bool json;
} gd_bench_plan;

/* Opens the device, measures its ceilings and the suites, and prints all. Returns an exit code. */
int gd_bench_run(const gd_bench_plan *plan);

json_t *gd_bench_spread_json(const gd_spread *spread);

/* A plan in the four modes. */
typedef struct gd_bench_modes {
    uint64_t bytes; /* that a step moves */
    bool as_expected;
    gd_timing timings[GRIDDEP_MODE_COUNT];
} gd_bench_modes;

/* Checks the plan's results in every mode, then times all of them. Returns 0 also where results are
 * not as expected. */
int gd_bench_run_plan(const gd_bench *bench, const gd_plan *plan, gd_bench_modes *modes);

double gd_bench_rate(const gd_bench_modes *modes, int32_t mode);
double gd_bench_of_ceiling(const gd_bench *bench, const gd_bench_modes *modes, int32_t mode);

/* A list with an object for each mode; `parts` is how many parts of a step one figure is of. */
json_t *gd_bench_modes_json(const gd_bench *bench, const gd_bench_modes *modes, uint32_t parts);

#endif
