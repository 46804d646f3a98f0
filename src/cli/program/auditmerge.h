/* What all processes of a program did: its kernels, once each, and what followed what. */
#ifndef GD_CLI_AUDITMERGE_H
#define GD_CLI_AUDITMERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/program/attached.h"
#include "cli/program/attachedcode.h"

typedef struct gd_audit_kernel {
    const char *name;
    char *module, *plain;      /* plain: as people write it */
    char *told;                /* that, shortened: templates have names of pages */
    gd_kernel_code code, text; /* text: its PTX, also where a driver takes machine code */
    bool touches_early;        /* memory before its wait, by its PTX or its machine code */
    bool ordered;              /* threads that leave before the wait do no harm, likewise */
    char target[24];
    gd_attached_counts sum;               /* counters */
    uint64_t launches, early;             /* in streams; of these: with attribute 6 */
    uint64_t graph_launches, graph_early; /* by graphs that were launched */
    uint64_t early_behind; /* launches with attribute 6, and programmatic edges, behind a kernel */
    uint64_t late_behind;  /* launches without, directly behind a kernel */
    uint64_t alone_behind; /* early ones of a kernel that may miss its wait, without a race */
    uint32_t maps, structs; /* as gd_attached_parameters */
    gd_attached_shape shape;
    uint64_t timed;       /* launches */
    double total_us, *us; /* of all, and some of them */
    size_t us_count;
    const gd_attached_file *file;      /* of the first process that has it */
    uint32_t first_plain, first_early; /* places */
} gd_audit_kernel;

/* Two kernels, by their places in the list. */
typedef struct gd_audit_pair {
    uint32_t first, second;
    uint32_t between, early, type;
    uint64_t count, runs; /* an edge that is counted once runs as often as its graph */
    uint64_t timed;
    double between_us;      /* of those that were timed */
    bool is_edge, compared; /* compared: what they were given, at least once */
    char *race;             /* what the check says of the second beside the first; NULL: nothing */
    bool certain;           /* that it is one */
} gd_audit_pair;

/* Kernels that followed each other directly, all but the first early. */
typedef struct gd_audit_row {
    uint32_t kernels[GD_ATTACHED_ROW_MOST];
    uint32_t count;
    uint64_t times;
} gd_audit_row;

/* A parameter of the second kernel that was given memory of one of the first. */
typedef struct gd_audit_shared {
    uint32_t first, second, first_parameter, second_parameter;
    bool assumed; /* as in gd_attached_shared */
} gd_audit_shared;

typedef struct gd_auditmerge {
    gd_audit_kernel *kernels;
    uint32_t kernel_count;
    gd_audit_pair *pairs;
    uint32_t pair_count;
    gd_audit_shared *shared;
    size_t shared_count;
    gd_audit_row *rows;
    size_t row_count;
} gd_auditmerge;

/* The set must outlive it. */
gd_auditmerge gd_auditmerge_make(const gd_attached_set *set);
void gd_auditmerge_free(gd_auditmerge *seen);

#endif
