/* Runs random programs on a driver and keeps what they stored. */
#ifndef GD_DIFFERENTIAL_RUN_H
#define GD_DIFFERENTIAL_RUN_H

#include <stdio.h>

#include "differential_program.h"

/* A range of programs: those of seeds [from, from + count), or with `forms` the forms of these
 * numbers. */
typedef struct diff_range {
    uint64_t from, count;
    diff_variant variant;
    bool forms;
} diff_range;

/* What a result file holds of each program, before the results of all slots and threads. */
typedef struct diff_record {
    uint64_t number; /* seed or form */
    uint64_t digest; /* of the exact results */
    uint32_t slots, threads;
    uint32_t state; /* diff_state */
    uint32_t bytes; /* of results that follow */
} diff_record;

typedef enum diff_state { DIFF_RAN, DIFF_REFUSED, DIFF_FAULT } diff_state;

/* One program of a range; false behind the last one, or without memory. */
bool diff_range_make(const diff_range *range, uint64_t number, diff_program *program);

/* How programs are run. */
typedef struct diff_target {
    const char *driver; /* path of the library */
    uint32_t batch;     /* programs a module */
    int optimize;       /* CU_JIT_OPTIMIZATION_LEVEL, 0 to 4 */
    bool digests_only;  /* results are not kept */
} diff_target;

/* Runs a range and appends records to a file. Says on stderr what fails; false when something could
 * not be run or written. */
bool diff_run(const diff_target *target, const diff_range *range, FILE *file);

#endif
