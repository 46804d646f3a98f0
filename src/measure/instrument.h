/* PTX rewritten so that each CTA of one kernel notes when it passes certain points: the
 * instrumented kernel computes what the plain one does, takes the same parameters, and fills a
 * module-scope variable beside that.
 *
 * The variable, GD_INSTRUMENT_VARIABLE, is an array with a record for each CTA up to a limit,
 * numbered x first. A record is a row of 64-bit words: the SM's number, then %globaltimer at
 * each point. Before a run all bytes are to be 0xff, which a word keeps that nothing reached. Who
 * writes, for each point of a CTA: entry the first thread to begin wait
 * the first thread to come to a griddepcontrol.wait release   the first thread to come out of one
 * trigger   the first thread that has executed griddepcontrol.launch_dependents exit      the last
 * thread to leave (kept as its complement, so that one minimum serves for all) marks     the first
 * thread to come to a line "//@ mark NAME" In a loop, so, the first time counts. One thread of each
 * warp that comes to a point takes part. There is no call, no branch and no barrier in a stamp:
 * nothing diverges that did not before.
 *
 * The variable is one for each copy of the module, and so the stamps of two launches stay apart
 * when each launch has a copy of its own. */
#ifndef GD_MEASURE_INSTRUMENT_H
#define GD_MEASURE_INSTRUMENT_H

#include <stdint.h>

#include "base/text.h"
#include "griddep.h"

#define GD_INSTRUMENT_VARIABLE "griddep_timeline"

enum {
    GD_POINT_ENTRY,
    GD_POINT_WAIT,
    GD_POINT_RELEASE,
    GD_POINT_TRIGGER,
    GD_POINT_EXIT,
    GD_POINT_MARK,            /* the first of them */
    GD_INSTRUMENT_MARKS = 16, /* most that a kernel may have */
    GD_INSTRUMENT_NAME = 64   /* room for a mark's name, with its end */
};

typedef struct gd_instrumented {
    gd_text text;
    uint32_t words; /* of a record */
    uint32_t mark_count;
    char marks[GD_INSTRUMENT_MARKS][GD_INSTRUMENT_NAME];
} gd_instrumented;

/* The grid that the kernel will be launched with, and how many of its CTAs have a record. */
typedef struct gd_instrument_grid {
    uint32_t size[3];
    uint32_t kept;
} gd_instrument_grid;

/* Instruments an entry and the functions of its module. `made` is zero before, and to be freed with
 * gd_instrumented_free either way. UNSUPPORTED with the reason where there is no room for
 * stamps. */
int32_t gd_instrument(const griddep_ptx *ptx, const char *entry, gd_instrument_grid grid,
                      gd_instrumented *made, griddep_error *error);
void gd_instrumented_free(gd_instrumented *made);

#endif
