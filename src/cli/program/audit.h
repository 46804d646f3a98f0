/* What a program's launches come to: its kernels, and what is wrong or lost. */
#ifndef GD_CLI_AUDIT_H
#define GD_CLI_AUDIT_H

#include <stdint.h>

#include "cli/program/attached.h"
#include "cli/program/auditmerge.h"
#include "cli/show/place.h"

typedef struct gd_audit_finding {
    const char *code; /* "GD401" */
    int32_t severity; /* GRIDDEP_SEVERITY_* */
    char *text;
    const char *kernel, *before; /* before: NULL where it is about one kernel */
    int32_t reason;              /* GRIDDEP_REASON_* */
    uint64_t count;              /* launches, or edges */
    gd_frames place;
    size_t first; /* of those that are alike, about one kernel or instances of one template: the one
                   * that is seen most often. Its own number: it is that */
} gd_audit_finding;

/* Two kernels of which the second could start early and does not. */
typedef struct gd_audit_gap {
    const char *before, *kernel;
    uint64_t timed, launches;
    double us; /* between them, of those that were timed */
} gd_audit_gap;

typedef struct gd_audit {
    gd_auditmerge seen;         /* kernels: the largest total time first, then the most launched */
    gd_frames *places;          /* of the kernels, in their order: where each was launched first */
    gd_audit_finding *findings; /* the most important first */
    size_t finding_count;
    gd_audit_gap *gaps; /* the longest time first; none: nothing was timed */
    size_t gap_count;
    double gap_us;      /* of all of them */
    const char *clock;  /* who told times; NULL: nobody */
    uint64_t launches;  /* of kernels, in streams and graphs */
    uint64_t given;     /* by the program: in streams, and into graphs, however often these ran */
    uint64_t rewritten; /* modules */
    uint64_t races;     /* findings that are errors */
    uint64_t doubts;    /* findings that say that a race cannot be ruled out */
    uint64_t told;      /* findings whose texts differ */
    uint64_t could;     /* launches right behind a kernel that could start early safely */
    uint64_t early;     /* of these: that do */
    uint64_t changed, changed_edges; /* launches, and edges of graphs, that were changed */
    uint64_t left;                   /* launches that 'on' left as they are */
    uint64_t lost;                   /* records that there was no room for */
} gd_audit;

/* recorded: what the check says of the launches that were recorded; NULL: none were. The set must
 * outlive it. */
gd_audit gd_audit_make(const gd_attached_set *set, griddep_findings *recorded);
void gd_audit_free(gd_audit *audit);

/* The next finding from `at` on that is like the first one and says something else; finding_count:
 * there is none. */
size_t gd_audit_next_alike(const gd_audit *audit, size_t first, size_t at);

#endif
