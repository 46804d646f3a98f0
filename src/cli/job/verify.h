/* Comparing buffers: with one another, with files, and with what the CPU references compute. */
#ifndef GD_CLI_VERIFY_H
#define GD_CLI_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/plan/plan.h"

/* How two arrays differ. NaN in both counts as no difference, NaN in one as an infinite one. */
typedef struct gd_difference {
    uint64_t unequal;   /* elements whose bits differ */
    uint64_t first;     /* the first of them */
    double relative;    /* norm of the difference / norm of what was wanted */
    double largest;     /* of one element's differences */
    double got, wanted; /* of the first unequal element */
} gd_difference;

void gd_verify_compare(gd_type type, const void *got, const void *wanted, uint64_t count,
                       gd_difference *difference);

/* Whether the difference is within what an expectation allows. */
bool gd_verify_allows(const gd_plan_expectation *expectation, const gd_difference *difference);

/* Runs the launches' references over copies of the images. results[i] is NULL for a buffer that the
 * chain does not write; the others are the caller's to free. multiprocessors: of the device, for
 * grids that are as large. Returns 0, or an exit code after a message. */
int gd_verify_compute(const gd_plan *plan, uint32_t multiprocessors, void *const *images,
                      void **results);

#endif
