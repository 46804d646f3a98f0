/* What a program's launches come to: its kernels, and what is wrong or lost. */
#ifndef GD_CLI_AUDIT_H
#define GD_CLI_AUDIT_H

#include <stdint.h>

#include <jansson.h>

#include "cli/job/attached.h"

typedef struct gd_audit {
    json_t *kernels;  /* objects: the largest total time first, then the most launched */
    json_t *findings; /* objects, the most important first, those that are alike in one */
    json_t *unfolded; /* all of them, each by itself */
    json_t *messages; /* texts */
    json_t *gaps;  /* objects: pairs of kernels of which the second could start early and does not,
                   * the longest time between them first; empty: nothing was timed */
    double gap_us; /* of all of them */
    const char *clock;      /* who told times; NULL: nobody */
    uint64_t launches;      /* of kernels, in streams and graphs */
    uint64_t captured;      /* launches that went into graphs */
    uint64_t rewritten;     /* modules */
    uint64_t races;         /* findings that are errors */
    uint64_t doubts;        /* findings that say that a race cannot be ruled out */
    uint64_t finding_count; /* with those that are folded */
    uint64_t could;         /* launches right behind a kernel that could start early safely */
    uint64_t early;         /* of these: that do */
    uint64_t changed, changed_edges; /* launches, and edges of graphs, that were changed */
    uint64_t left;                   /* launches that 'on' left as they are */
    uint64_t lost;                   /* records that there was no room for */
} gd_audit;

gd_audit gd_audit_make(const gd_attached_set *set);
void gd_audit_free(gd_audit *audit);

#endif
