/* What the suites of griddep bench share: the machine that they run on, and figures beside its read
 * ceiling. */
#ifndef GD_CLI_BENCH_H
#define GD_CLI_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "griddep.h"

#include "base/statistics.h"

#include "cli/job/measure.h"
#include "cli/plan/plan.h"

typedef struct gd_bench {
    griddep_runtime *runtime;
    const griddep_runtime_info *info;
    uint32_t samples;
    uint32_t layers;        /* of a long transformer chain */
    const char *kernel;     /* of an fc-chain; NULL: matvec_bf16 */
    const char *decoder;    /* the only one that is asked for; NULL: all */
    uint64_t rows, columns; /* the only shape that is asked for; 0: all */
    double read_ceiling;    /* bytes a second */
} gd_bench;

/* A suite allocates its results. measure returns 0, GD_EXIT_DIFFERS with results whose times count
 * for nothing, or another exit code after a message; the results are to be freed either way. */
typedef struct gd_bench_suite {
    const char *name;
    const char *member; /* of the JSON document */
    int (*check)(
        const gd_bench *bench); /* of what was asked for, before a device is opened; may be NULL */
    int (*measure)(const gd_bench *bench, void **results);
    void (*print)(const gd_bench *bench, const void *results);
    json_t *(*json)(const gd_bench *bench, const void *results);
    void (*free)(void *results);
} gd_bench_suite;

extern const gd_bench_suite gd_bench_launch, gd_bench_handoff, gd_bench_demo, gd_bench_fc_chain,
    gd_bench_transformer_block;

json_t *gd_bench_spread_json(const gd_spread *spread);
json_t *gd_bench_timing_json(const gd_timing *timing);

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

/* How fast one empty kernel hands off to the next: a chain of them as large as the device, in mode
 * graph-pdl. */
int gd_bench_empty_handoff(const gd_bench *bench, gd_timing *timing);

#endif
