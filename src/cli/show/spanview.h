/* Launches of a program as it made them: when each began and ended. They are shown as a traced run
 * whose rows are kernels, whose blocks are launches, and whose multiprocessors are streams. */
#ifndef GD_CLI_SPANVIEW_H
#define GD_CLI_SPANVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/io/output.h"
#include "cli/show/traceview.h"

typedef struct gd_span {
    const char *kernel; /* as people write it; borrowed */
    uint32_t stream;    /* from 0 */
    bool graph;         /* by a graph */
    int64_t begin, end; /* nanoseconds, from the first begin of all when the view is made */
    int64_t gap;        /* begin, from the last end before it in the stream; negative: both ran */
    bool follows;       /* there is one before it in the stream */
} gd_span;

/* Which of them are shown. */
typedef struct gd_spanview_choice {
    const char *kernel;       /* part of its name; NULL: all */
    const char *window;       /* "FROM:TO", microseconds from the first begin of all; NULL: all */
    uint64_t first, launches; /* of those, so many from that one on; launches 0: all */
} gd_spanview_choice;

typedef struct gd_spanview {
    const char *program, *clock; /* clock: who told */
    bool apart;                  /* by keeping launches apart in their stream */
    gd_span *list;               /* by begin */
    size_t count, seen;          /* shown; of so many that ran */
    uint32_t streams;            /* numbers end before */
    char **names;                /* that kernels are borrowed from */
    size_t name_count;
    gd_traceview trace; /* of those that are shown */
} gd_spanview;

/* Returns 0, or an exit code after a message: the window cannot be read. */
int gd_spanview_check(const gd_spanview_choice *choice);

/* Puts them in their order, leaves out what is not shown, and makes `trace`. */
void gd_spanview_make(gd_spanview *view, const gd_spanview_choice *choice,
                      const griddep_runtime_info *device);
void gd_spanview_free(gd_spanview *view);

/* By kernel, on stdout; and as an object for a document. */
void gd_spanview_print(const gd_spanview *view);
json_t *gd_spanview_json(const gd_spanview *view);

#endif
