/* Runs of a chain that all begin with the same data, whose results are held against those of its
 * serial run. The tuner and the command share it: it uses griddep.h and the base alone, and adds
 * nothing to the errors of the calls that it makes. */
#ifndef GD_EXPERIMENT_EXPERIMENT_H
#define GD_EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

typedef struct gd_experiment_buffer {
    uint64_t address, bytes;
    const void *initial; /* written before each run; NULL: the buffer is left alone */
    bool compared;       /* with what the serial run left */
    bool read;           /* after each run; true where it is compared */
    bool state;          /* integers that a run may read before it writes them; it is read */
} gd_experiment_buffer;

/* What was done when a call failed. */
typedef enum gd_experiment_step {
    GD_EXPERIMENT_WRITES,
    GD_EXPERIMENT_RUNS,
    GD_EXPERIMENT_READS
} gd_experiment_step;

typedef struct gd_experiment {
    griddep_runtime *runtime; /* borrowed, like stream and buffers */
    void *stream;
    const gd_experiment_buffer *buffers;
    uint32_t buffer_count;
    bool renews;             /* a run changes its state: the initial data are copied */
    uint64_t *copies;        /* on the device, then; 0: there was no room */
    void **serial, **got;    /* results by buffer: of the serial run, and of the run at hand; NULL:
                              * not read. Made by gd_experiment_allocate */
    gd_experiment_step step; /* the last one, and the buffer that it wrote or read */
    uint32_t buffer;
} gd_experiment;

/* Room for the results; false: there is no memory. gd_experiment_free takes what is half made. */
bool gd_experiment_allocate(gd_experiment *experiment);
void gd_experiment_free(gd_experiment *experiment);

/* Writes the initial data. */
int32_t gd_experiment_restore(gd_experiment *experiment, griddep_error *error);

/* Reads the buffers into `results`, which is `serial` or `got`. */
int32_t gd_experiment_read(gd_experiment *experiment, void **results, griddep_error *error);

/* Once `serial` has results: where a run leaves other integers in its state than it found, as a
 * position, a second run behind it might leave its buffers. From then on gd_experiment_renew writes
 * the initial data to the buffers, in the stream's order, from copies on the device where there is
 * room; else it does nothing. */
int32_t gd_experiment_find_state(gd_experiment *experiment, griddep_error *error);
int32_t gd_experiment_renew(const gd_experiment *experiment, griddep_error *error);

/* Writes the initial data, runs the chain once, waits, and reads what it left (results NULL: reads
 * nothing). Where these are `serial`, it finds the state. */
int32_t gd_experiment_run(gd_experiment *experiment, griddep_chain *chain, int32_t mode,
                          void **results, griddep_error *error);

/* The first compared buffer, from `from` on, that was not left as by the serial run; buffer_count:
 * there is none. */
uint32_t gd_experiment_find_difference(const gd_experiment *experiment, uint32_t from);

/* Runs the chain and, right behind it in the stream, its timeline: the device is busy while the
 * traced launches are queued, as in a program that does not wait between its steps. */
int32_t gd_experiment_trace(gd_experiment *experiment, griddep_chain *chain,
                            griddep_timeline *timeline, int32_t mode, griddep_error *error);

#endif
