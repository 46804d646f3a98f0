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

/* Findings as JSON objects: those of the report, with files, lines and buffers of the chain,
 * "times" over all runs and "runs", which says in which it was seen. */
typedef struct gd_racelist {
    json_t *findings;
} gd_racelist;

gd_racelist gd_racelist_begin(void);
void gd_racelist_free(gd_racelist *list);

/* Adds a run's findings. Two of one kind, about the same two instructions of the same two kernels,
 * are one. mode: NULL for a program. */
void gd_racelist_add(gd_racelist *list, const gd_emulator_report *report,
                     const gd_race_chain *chain, const char *schedule, const char *mode);

/* The chain's launch that is the nth kernel of a process, which ran nothing but the chain, any
 * number of times; NULL. *index is its number. */
const gd_plan_launch *gd_racelist_find_launch(const gd_race_chain *chain, uint64_t launch,
                                              uint32_t *index);

/* A text of the emulated driver in the words of the chain. To free. */
char *gd_racelist_translate(const gd_race_chain *chain, const char *text);

size_t gd_racelist_count(const gd_racelist *list);

/* All of them as text: like a compiler's messages, with both lines quoted. */
void gd_racelist_print(FILE *stream, const gd_racelist *list);

#endif
