/* What a traced run says, read out of the library: what each form of the report is made from. */
#ifndef GD_CLI_TRACEVIEW_H
#define GD_CLI_TRACEVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan/plan.h"

enum { GD_TRACEVIEW_COLUMNS = GRIDDEP_STAMP_MARK + 16 };

typedef struct gd_traceview_launch {
    griddep_timeline_launch figures;
    griddep_timeline_hop hop;
    bool has_hop;
    int32_t reason;        /* GRIDDEP_REASON_* */
    char *late, *why_late; /* why it began no earlier, in a few words and whole; NULL: it began
                            * early, or need not, or nobody knows */
    uint32_t blocks;       /* that are kept */
    int64_t *columns[GD_TRACEVIEW_COLUMNS]; /* by GRIDDEP_STAMP_*, marks included; NULL beyond */
    const char *marks[GD_TRACEVIEW_COLUMNS];
} gd_traceview_launch;

/* Times of a step in microseconds; 0: not measured. */
typedef struct gd_traceview_cost {
    double plain, traced;
} gd_traceview_cost;

/* With a clock, launches of a program as it made them (cli/show/spanview.h): rows are kernels,
 * blocks launches, and multiprocessors streams. */
typedef struct gd_traceview {
    const char *chain; /* its name; borrowed, as the marks' */
    const griddep_runtime_info *device;
    const char *clock; /* NULL: stamps */
    griddep_timeline_info info;
    const gd_plan *plan; /* whose launches they are, by number; NULL with a clock */
    gd_traceview_launch *launches;
    uint32_t count;
    uint64_t step_bytes; /* that the chain reads and writes; 0: not known */
    gd_traceview_cost cost;
    uint32_t runs; /* of which this is one; with spans in nanoseconds from least to most */
    double span_least, span_most;
    bool equal; /* the traced run left what a plain serial run leaves */
    bool whole; /* no table of the text is cut */
} gd_traceview;

/* The three parts of a block's life, and what each is called. */
enum { GD_PART_WORK, GD_PART_PREAMBLE, GD_PART_WAIT, GD_PARTS };
extern const char *const gd_traceview_parts[GD_PARTS];

typedef struct gd_traceview_stretch {
    int64_t start, end;
} gd_traceview_stretch;

typedef struct gd_traceview_block {
    int64_t entry, exit;
    gd_traceview_stretch parts[GD_PARTS]; /* without a wait all of it is work */
} gd_traceview_block;

/* Of a plan's launches: names, and what waits for what. Both are borrowed. */
gd_traceview gd_traceview_of(const gd_plan *plan, const griddep_runtime_info *device);

/* Reads all but what is not in a timeline. Returns 0, or an exit code after a message. */
int gd_traceview_read(gd_traceview *view, griddep_timeline *timeline);
void gd_traceview_free(gd_traceview *view);

/* What a launch is called: its name, or its kernel's. */
const char *gd_traceview_name(const gd_traceview *view, uint32_t launch);

/* Each character of UTF-8 takes one column, which is so of what identifiers are made of. */
size_t gd_traceview_columns(const char *text);

/* That in at most `width` columns, with `gap` in place of what does not fit in the middle, for
 * names often differ at their ends only; and the same behind the launch's number: "3
 * attention_decode_bf16". To free. */
char *gd_traceview_short(const gd_traceview *view, uint32_t launch, uint32_t width,
                         const char *gap);
char *gd_traceview_label(const gd_traceview *view, uint32_t launch, uint32_t width,
                         const char *gap);

/* The launches that one waits for: the one before it in its lane, and those of other lanes. The one
 * that ended last comes first. To free. */
uint32_t *gd_traceview_producers(const gd_traceview *view, uint32_t launch, uint32_t *count);

/* false for a block that has no entry, no exit, or a clock that went backwards. */
bool gd_traceview_get_block(const gd_traceview_launch *launch, uint32_t block,
                            gd_traceview_block *parts);

/* How many blocks of a launch are in each part of their lives, in each of `count` equal parts of
 * the span. To free. */
typedef struct gd_traceview_load {
    double parts[GD_PARTS]; /* of the largest sum of the three: a grid may have more blocks than fit
                             * at a time */
} gd_traceview_load;

gd_traceview_load *gd_traceview_load_of(const gd_traceview *view, uint32_t launch, uint32_t count);

/* Blocks of one multiprocessor side by side: each gets the lowest place that is free from its entry
 * to its exit. places[launch][block]; to free with gd_traceview_free_places. *most: the largest
 * number of places there are. */
uint32_t **gd_traceview_make_places(const gd_traceview *view, uint32_t *most);
void gd_traceview_free_places(const gd_traceview *view, uint32_t **places);

/* The forms of the report. Text goes to stdout. */
void gd_tracetext_print(const gd_traceview *view);
void gd_tracedraw_print(const gd_traceview *view, uint32_t width, bool ascii);

/* A file each; several pictures stand one above the other, in one scale. Return 0, or an exit code
 * after a message. */
int gd_traceperfetto_write(const gd_traceview *view, const char *path);
int gd_tracesvg_write(const gd_traceview *views, size_t count, const char *path);

#endif
