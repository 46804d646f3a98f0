/* One job: a plan run in several modes, checked and timed. */
#ifndef GD_CLI_JOB_H
#define GD_CLI_JOB_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/job/measure.h"
#include "cli/plan/plan.h"
#include "cli/job/verify.h"

enum {
    GD_JOB_DEFAULT_SAMPLES = 1000000
}; /* more than can be asked for: as many as make sense on the device */

typedef struct gd_job_mode {
    bool wanted;
    bool equal;              /* every buffer as the serial run left it */
    uint32_t unequal_buffer; /* the first that is not */
    gd_difference unequal;
    gd_difference *differences; /* per expectation */
    bool *met;                  /* likewise */
    griddep_hop_info *hops;     /* per launch */
    gd_timing timing;           /* samples 0: not timed */
} gd_job_mode;

typedef struct gd_job_dump {
    uint32_t buffer;
    const char *path;
} gd_job_dump;

/* What the serial run left, for other jobs of the same plan, in memory that processes may share. */
typedef struct gd_job_serial {
    bool is_there;
    alignas(max_align_t) unsigned char data
        []; /* the buffers whose values are compared, one behind the other */
} gd_job_serial;

typedef struct gd_job {
    const gd_plan *plan;
    uint32_t modes;           /* bit per GRIDDEP_MODE_* */
    uint32_t samples;         /* of each mode's timing; 0: no timing; GD_JOB_DEFAULT_SAMPLES */
    int32_t pdl;              /* GRIDDEP_PDL_*, for launches that say nothing */
    bool exposes;             /* races that the check finds happen too */
    const gd_job_dump *dumps; /* written after the last mode's checked run */
    uint32_t dump_count;
    gd_job_serial
        *serial; /* NULL, or where the serial run's results are taken from, or put when they are not
                 * there */
    uint64_t *addresses; /* NULL, or room for those of the buffers, written once they are there */
    /* results */
    gd_job_mode results[GRIDDEP_MODE_COUNT];
    bool
        *unwritten; /* per buffer: written first, and still as it was filled after the serial run */
    bool as_expected;
} gd_job;

/* Bytes of a gd_job_serial for the plan. */
uint64_t gd_job_serial_bytes(const gd_plan *plan);

/* Runs the job. Returns GD_EXIT_OK or GD_EXIT_DIFFERS with the results filled in, or another exit
 * code after a message. */
int gd_job_run(gd_job *job, griddep_runtime *runtime);

void gd_job_free(gd_job *job);

/* How many samples of each mode's timing are taken on a device. */
uint32_t gd_job_samples(const gd_job *job, bool emulated);

#endif
