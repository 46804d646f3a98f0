/* Grids that run: their CTAs on the SMs, and whose turn it is. Part of the scheduler (schedule.h
 * says the rules). */
#ifndef GD_EMULATOR_SCHEDULE_GRID_H
#define GD_EMULATOR_SCHEDULE_GRID_H

#include "emulator/schedule/schedule.h"

struct gd_grid {
    gd_grid *next; /* in the order of their tasks */
    gd_task *task;
    gd_grid_view view;
    uint64_t total, begun, triggered, done; /* CTAs */
    uint64_t ready;                         /* time at which it may start */
    uint64_t released;                      /* time from which griddepcontrol.wait returns */
    uint64_t latest;                        /* latest of its CTAs' clocks that matter for a port */
    bool is_released;
    bool crowded; /* has had to wait for room */
    bool watched; /* a task waits for its trigger: turns of its CTAs end there */
};

typedef enum gd_turn {
    GD_TURN_NONE,  /* no CTA can go on */
    GD_TURN_STUCK, /* those that can do nothing but poll, in vain */
    GD_TURN_RAN,
    GD_TURN_CHANGED, /* a port was reached, or room became free */
    GD_TURN_FAULT    /* gd_grid_get_fault tells */
} gd_turn;

typedef struct gd_grid_fault {
    gd_task *task;
    gd_CUresult result;
    char text[640];
} gd_grid_fault;

/* Begins the grid of a kernel task, at a time; OUT_OF_MEMORY. */
gd_CUresult gd_grid_start(gd_task *task, uint64_t ready);

/* griddepcontrol.wait returns from this time on. */
void gd_grid_release(gd_grid *grid, uint64_t time);

/* Gives CTAs that wait for room what is free, oldest grid first. False, with the fault set, when
 * the host has no memory. */
bool gd_grid_place(void);

/* Runs one CTA for a turn. `final`: nothing but what runs can change anything, so that CTAs that
 * poll for ever are stuck: fail_stuck, right behind it, makes that a fault. */
gd_turn gd_grid_run(bool final);
void gd_grid_fail_stuck(void);
const gd_grid_fault *gd_grid_get_fault(void);

/* Ends a grid, wherever it is. */
void gd_grid_end(gd_grid *grid);

/* At the end of the process: no grid runs. */
void gd_grid_free_machine(void);

#endif
