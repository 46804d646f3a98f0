/* When each launch began and ended, as records. The caller holds the lock, but where it says
 * otherwise. */
#ifndef GD_ATTACH_SPANS_H
#define GD_ATTACH_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attached.h"

/* The driver has been initialized: begins CUPTI's records where that is installed. Without the
 * lock. */
void gd_spans_begin(void);

/* Whether CUPTI tells begin and end: nothing else needs to. */
bool gd_spans_are_told(void);

/* Of a stream, which two numbers name, in nanoseconds. graph: its launch is a graph's. */
void gd_spans_add(const char *kernel, uint64_t stream, uint64_t owner, uint64_t begin, uint64_t end,
                  bool graph);

/* Takes what CUPTI has told by now. */
void gd_spans_take(void);

/* CUPTI hands out all that it has. Without the lock: it has one of its own. */
void gd_spans_flush(void);

/* In a child process. */
void gd_spans_forget(void);

#endif
