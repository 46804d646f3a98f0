/* Figures of a run, from the times of its blocks. doc/timeline.md defines them. Knows nothing of
 * where the times came from. */
#ifndef GD_MEASURE_FIGURES_H
#define GD_MEASURE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#define GD_TRACE_NONE UINT32_MAX

typedef struct gd_trace_launch {
    uint32_t kept;     /* blocks */
    uint32_t points;   /* those of measure/instrument.h, marks included */
    uint32_t from;     /* the launch that the hop comes from; GD_TRACE_NONE */
    uint32_t backward; /* blocks, as gd_trace_judge found */
    int32_t *sm;       /* by block */
    int64_t *times;    /* [point * kept + block]; GRIDDEP_STAMP_NONE */
    bool *counts;      /* by block: it has entry and exit, and its clock never went backwards */
} gd_trace_launch;

/* When a multiprocessor was at work. */
typedef struct gd_trace_work {
    int32_t sm;
    int64_t start, end;
} gd_trace_work;

typedef struct gd_trace {
    gd_trace_launch *launches;
    uint32_t count;
    uint32_t multiprocessors;
    gd_trace_work
        *work; /* sorted by multiprocessor and start; no two of one overlap. By gd_trace_judge */
    uint64_t work_count;
} gd_trace;

/* Finds the blocks that figures count, and when multiprocessors were at work. Before the others. */
int32_t gd_trace_judge(gd_trace *trace, griddep_error *error);

/* Whether a launch ended later than another. A launch whose end is not known did not. */
bool gd_trace_ends_later(const gd_trace *trace, uint32_t launch, uint32_t other);

/* Frees `work`; the rest is the caller's. */
void gd_trace_drop(gd_trace *trace);

/* Each fills the times of its struct, and nothing else. */
void gd_trace_figure(const gd_trace *trace, griddep_timeline_info *info);
int32_t gd_trace_figure_launch(const gd_trace *trace, uint32_t index,
                               griddep_timeline_launch *launch, griddep_error *error);
void gd_trace_figure_hop(const gd_trace *trace, uint32_t index, griddep_timeline_hop *hop);

#endif
