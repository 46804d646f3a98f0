/* Conditions: the value that decides what a conditional node of a graph does. It lies in a word of
 * device memory of its own, so that the race detector sees who sets it and which node reads it as
 * it sees all other memory. Its handle is its number in the outermost graph, from 1, as on NVIDIA's
 * driver: a kernel reaches it through cudaGraphSetConditional, and only when it runs in an
 * executable of such a graph. */
#ifndef GD_EMULATOR_SCHEDULE_CONDITION_H
#define GD_EMULATOR_SCHEDULE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/race/race.h"

typedef struct gd_condition {
    uint32_t references;
    uint64_t address;
    uint32_t initial;
    bool assigned;     /* the initial value at the begin of each launch */
    bool taken;        /* a node has it */
    bool instantiated; /* an executable has that node: there may be one at a time */
} gd_condition;

/* NULL when memory runs out. */
gd_condition *gd_condition_create(uint32_t initial, bool assigned);
gd_condition *gd_condition_hold(gd_condition *condition);
void gd_condition_release(gd_condition *condition); /* takes NULL */

/* Both tell the race detector; task may be NULL. assign sets the initial value where each launch
 * begins with it. */
uint32_t gd_condition_read(const gd_condition *condition, gd_race_task *task);
void gd_condition_assign(const gd_condition *condition, gd_race_task *task);

/* The conditions of an executable, by handle - 1. */
typedef struct gd_condition_set {
    uint32_t references;
    uint32_t count;
    gd_condition **list; /* each held, and instantiated while the executable is there */
    uint64_t *addresses;
} gd_condition_set;

/* Takes conditions for an executable; NULL when memory runs out. */
gd_condition_set *gd_condition_set_create(gd_condition *const *list, uint32_t count);
gd_condition_set *gd_condition_set_hold(gd_condition_set *set); /* both let NULL pass */
void gd_condition_set_release(gd_condition_set *set);

#endif
