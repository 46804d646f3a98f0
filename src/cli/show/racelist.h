/* What the emulated driver's checks found, over several runs: each finding once, in the words of
 * the chain. */
#ifndef GD_CLI_RACELIST_H
#define GD_CLI_RACELIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/show/emulatorreport.h"
#include "cli/plan/modulefile.h"
#include "cli/plan/plan.h"

/* The chain that was run; all NULL for a program. */
typedef struct gd_race_chain {
    const gd_plan *plan;
    const gd_modulefile_list *modules;
    const uint64_t *addresses; /* of the buffers in this run; 0: not there */
} gd_race_chain;

/* Findings, with files, lines and buffers of the chain, over all runs. Takes {0}. */
typedef struct gd_racelist {
    gd_emulator_finding *findings;
    size_t count;
} gd_racelist;

void gd_racelist_free(gd_racelist *list);

/* Adds a run's findings, and leaves empty ones in the report. Two of one kind, about the same two
 * instructions of the same two kernels, are one. mode: NULL for a program. */
void gd_racelist_add(gd_racelist *list, gd_emulator_report *report, const gd_race_chain *chain,
                     const char *schedule, const char *mode);

/* The chain's launch that is the nth kernel of a process, which ran nothing but the chain, any
 * number of times; NULL. *index is its number. */
const gd_plan_launch *gd_racelist_find_launch(const gd_plan *plan, uint64_t launch,
                                              uint32_t *index);

/* All of them as an array of objects, or as text: like a compiler's messages, with both lines
 * quoted. */
json_t *gd_racelist_json(const gd_racelist *list);
void gd_racelist_print(FILE *stream, const gd_racelist *list);

#endif
