/* What an entry does to memory that other grids can see, and how far its threads are with waiting
 * when they do it: the report that the findings about one text and about a chain are made from.
 * Calls are followed into functions of the module, with what their arguments point to. */
#ifndef GD_PTX_CHECK_ENTRY_H
#define GD_PTX_CHECK_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "ptx/check/access.h"
#include "ptx/check/function.h"
#include "ptx/check/limit.h"

/* A set of an entry's parameters. */
typedef struct gd_parameter_set {
    uint64_t words[GD_CHECK_LIMIT_PARAMETERS / 64];
} gd_parameter_set;

static inline bool gd_parameter_set_has(const gd_parameter_set *set, uint32_t parameter)
{
    return parameter < GD_CHECK_LIMIT_PARAMETERS &&
           set->words[parameter / 64] >> (parameter % 64) & 1;
}

/* One instruction of the entry, or of a function that it calls with certain arguments. */
typedef struct gd_entry_access {
    uint32_t instruction;
    uint32_t flags;   /* GD_ACCESS_* */
    uint32_t origins; /* GD_ORIGIN_* of the address */
    uint32_t state;   /* GD_STATE_* in front of it */
    uint32_t cause; /* the instruction that made the address unknown; GD_PTX_NONE: none is known */
    const gd_parameter_set *parameters; /* that the address may point into */
    const gd_parameter_set *scaled;     /* whose values went into the address by other arithmetic */
} gd_entry_access;

/* A place where threads leave the grid, wait or trigger, and the state in front of it. */
typedef struct gd_entry_place {
    uint32_t instruction;
    uint32_t state;
} gd_entry_place;

typedef struct gd_entry_places {
    gd_entry_place *list;
    uint32_t count, capacity;
} gd_entry_places;

typedef struct gd_entry_report {
    const gd_ptx_module *module;
    uint32_t function; /* of the module */
    gd_entry_access *accesses;
    uint32_t access_count, access_capacity;
    gd_entry_places exits, waits, triggers; /* calls included */
    bool has_wait, has_trigger;             /* likewise, reached or not */
    bool fenced;                /* there is a trigger, and a release fence right in front of each */
    const char *limit;          /* that was passed, NULL: none */
    uint32_t limit_instruction; /* where */
    gd_arena arena;             /* sets */
} gd_entry_report;

/* All zero is an empty report. On failure nothing is left to be freed. */
int32_t gd_entry_report_create(gd_entry_report *report, gd_check_functions *functions,
                               uint32_t function, griddep_error *error);
void gd_entry_report_free(gd_entry_report *report);

/* The states of all places together. */
uint32_t gd_entry_places_state(const gd_entry_places *places);

#endif
