/* Steps that need each other's data, handed on in several ways: kernels one after the other, one
 * persistent kernel with flags in memory, kernels that start early and wait for flags.
 *
 * A step reads a word for each thread, which a block half a grid away wrote in the step before, and
 * writes it plus one. After some runs each word says how many steps have been taken, if every one
 * of them saw what the one before had written; so each run is checked, also where thousands have
 * been timed. */
#ifndef GD_BENCH_HANDOFF_H
#define GD_BENCH_HANDOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

typedef enum gd_handoff_kind {
    GD_HANDOFF_STEPS,       /* a kernel a step; it triggers at its start, and waits */
    GD_HANDOFF_QUIET_STEPS, /* likewise, without a trigger */
    GD_HANDOFF_PERSISTENT,  /* one cooperative kernel; between steps all its blocks wait for a
                            * counter */
    GD_HANDOFF_FLAGS /* a kernel a step, which waits for a counter instead of griddepcontrol.wait */
} gd_handoff_kind;

typedef struct gd_handoff_way {
    gd_handoff_kind kind;
    int32_t mode;    /* GRIDDEP_MODE_* */
    uint32_t lanes;  /* that run beside each other; 1 for the last two kinds */
    uint32_t blocks; /* of a step */
    uint32_t steps;  /* in a lane: 1, or an even number */
    uint32_t pause;  /* nanoseconds between two looks at a counter */
} gd_handoff_way;

typedef struct gd_handoff {
    gd_handoff_way way;
    griddep_runtime *runtime;
    griddep_chain *chain;
    uint64_t memory;
    uint64_t words; /* of a step's output */
    uint32_t runs;  /* so far, those of a timeline of the chain included */
} gd_handoff;

/* The kernels, and one that holds a stream for a time. */
int32_t gd_handoff_load(griddep_runtime *runtime, griddep_module **module, griddep_error *error);

/* Makes the chain of a way; to be closed either way. */
int32_t gd_handoff_open(griddep_runtime *runtime, griddep_module *module, const gd_handoff_way *way,
                        gd_handoff *handoff, griddep_error *error);

/* Runs it once, asynchronously. */
int32_t gd_handoff_run(gd_handoff *handoff, void *stream, griddep_error *error);

/* Whether each step of all runs so far saw the one before. */
int32_t gd_handoff_check(const gd_handoff *handoff, void *stream, bool *right,
                         griddep_error *error);

/* Keeps the stream busy for a time, asynchronously, so that what is given to it next waits until
 * all of it is there. */
int32_t gd_handoff_hold(griddep_module *module, void *stream, uint64_t nanoseconds,
                        griddep_error *error);

void gd_handoff_close(gd_handoff *handoff);

#endif
