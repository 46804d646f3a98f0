/* The grid scheduler: what has been handed in waits in a queue of tasks, each with what it depends
 * on, and runs on the thread that waits for it.
 *
 * When work runs. Nothing runs when it is handed in; it runs when the program waits for some of it
 * (synchronize, a synchronous copy, a free, an unload), a slice at a time when it asks (query),
 * when more than GD_QUEUE_LIMIT tasks wait, and on a thread of the emulator's while a host function
 * is due and the program is quiet (schedule/host.c). Work that ran at once would be over before a
 * dependent grid is launched, and no two grids could overlap. A waiting program runs only what it
 * waits for, and what the schedule lets run beside it.
 *
 * What may start when. A task starts when each dependency has reached its port: COMPLETE, the task
 * is over with everything that it depends on; PROGRAMMATIC, each CTA has triggered or exited;
 * LAUNCH, each CTA has begun. griddepcontrol.wait returns when the grids on programmatic
 * dependencies have completed: in the model `contract` they themselves (that a grid has completed
 * says nothing about those before it unless it waited for them), in `observed` with everything that
 * they depend on, as was seen on an H200.
 *
 * Who runs first is the schedule: eager   a dependent grid starts as early as it may, and the CTAs
 * of the youngest grid run before all others until they wait, poll, or have used a long share: the
 * schedule that is worst for a kernel that reads before its wait. The default, because a correct
 * program gives the same results in every schedule, and a wrong one should fail on the first run
 * and not on the hundredth. lazy    a dependent grid starts after the end of what it depends on,
 * and the oldest grid runs first: what a program sees where there is no overlap. random  both are
 * drawn, from a seed: the same seed, program and settings give the same run.
 *
 * Several devices. Each has multiprocessors of its own, so that a grid of one never waits for room
 * on another, and nothing but the program and its kernels keeps them in step. Eager lets the device
 * whose grid is the youngest run as far as it can, lazy the one whose grid is the oldest; random
 * draws a device, and for how many turns it is ahead of the others, from one to thousands.
 *
 * Time. Each CTA has a clock of its own, which begins when it could have started on a machine
 * where all resident CTAs run side by side, and goes on by a nanosecond a cycle. What orders two
 * CTAs orders their clocks: the start of a grid, a wait, completion. So the order of execution
 * is the schedule's, but times are those of a parallel machine. They are a model, and
 * deterministic; they are not a forecast of a GPU's times. */
#ifndef GD_EMULATOR_SCHEDULE_SCHEDULE_H
#define GD_EMULATOR_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/schedule/user_object.h"
#include "emulator/schedule/device.h"
#include "emulator/schedule/work.h"

enum { GD_QUEUE_LIMIT = 1024 };

typedef enum gd_port { GD_PORT_COMPLETE = 0, GD_PORT_PROGRAMMATIC = 1, GD_PORT_LAUNCH = 2 } gd_port;

typedef struct gd_task gd_task;
typedef struct gd_grid gd_grid;

typedef struct gd_dependency {
    gd_task *task;
    gd_port port;
    bool programmatic; /* griddepcontrol.wait waits for it */
} gd_dependency;

typedef enum gd_task_state {
    GD_TASK_PENDING,
    GD_TASK_RUNNING,
    GD_TASK_COMPLETE,
    GD_TASK_SETTLED
} gd_task_state;

struct gd_task {
    gd_task *next, *previous; /* in the queue, in the order in which they were handed in */
    gd_context *context;      /* of a task that has not settled, which it ends with */
    const gd_device *device;  /* of the context */
    gd_work work;
    gd_dependency *dependencies;
    uint32_t dependency_count;
    uint32_t references;
    uint64_t number;
    uint64_t stream;    /* a number for it, for reports */
    uint64_t launch;    /* the number of a kernel's launch, from 1 */
    uint64_t submitted; /* times in nanoseconds */
    uint64_t launched, triggered, completed, settled;
    gd_task_state state;
    bool is_launched, is_triggered;
    bool late; /* drawn: starts after the end of what it depends on */
    bool in_graph;
    bool held;                           /* a join: what it waits for is not known yet */
    bool joins_body;                     /* a join behind a body that has run */
    gd_task *join;                       /* of a conditional node; held */
    gd_user_list users;                  /* that the launch of a graph may use which has ended */
    struct gd_condition_set *conditions; /* of the graph that it is launched in; held, or NULL */
    gd_grid *grid;                       /* while a kernel runs */
    gd_race_task *race;                  /* what the race detector knows of it; NULL */
};

/* Appends work, which it takes over, to the queue. The result has a reference that the caller gives
 * back. NULL when memory runs out; the work is freed then. */
gd_task *gd_schedule_append(gd_context *context, gd_work *work, const gd_dependency *dependencies,
                            uint32_t count, uint64_t stream, bool in_graph);

/* Runs some of what waits if there is too much. Host functions run then, as they do in whatever
 * runs tasks, and other threads call the driver meanwhile: no caller may have anything in hand. */
void gd_schedule_relieve(void);

/* Host functions that have been handed in and are not over. */
uint32_t gd_schedule_hosts_left(void);

/* A join waits for the end of this task, and for nothing else that is not known yet; false when
 * memory runs out. */
bool gd_task_join(gd_task *join, gd_task *last);

gd_task *gd_task_hold(gd_task *task); /* NULL is let pass, in both */
void gd_task_release(gd_task *task);

/* Whether a port has been reached, and when. */
bool gd_task_reached(const gd_task *task, gd_port port);
uint64_t gd_task_time(const gd_task *task, gd_port port);

/* Runs until the port is reached, or no context's work is left, and lets the host's time pass. */
void gd_schedule_wait(gd_task *task, gd_port port);

/* Likewise, for a call that does not wait by its contract: the host has not waited, and does not
 * know that it is over. */
void gd_schedule_run(gd_task *task, gd_port port);

/* The program has seen, by waiting or by asking, that a port has been reached. */
void gd_schedule_observe(gd_task *task, gd_port port);

/* Runs a slice; false when there was nothing that could go on. */
bool gd_schedule_advance(void);

/* Whether a port of a task of the context has been reached, after a slice where it has not: queries
 * may be a program's way of waiting. NOT_READY, or the context's fault. */
gd_CUresult gd_schedule_query(gd_task *task, gd_port port, const gd_context *context);

/* Runs all work of a context, or of all contexts (NULL); all work of a device. */
void gd_schedule_drain(const gd_context *context);
void gd_schedule_drain_device(const gd_device *device);

/* Drops the work of a context, running or not. */
void gd_schedule_cancel(gd_context *context);

/* The next host function that is to be told of its context's fault; held. */
bool gd_schedule_has_dropped(void);
gd_task *gd_schedule_take_dropped(void);

/* Kernels that have been launched. */
uint64_t gd_schedule_launches(void);
uint64_t gd_schedule_launches_left(void); /* handed in, and not begun */

/* Registers of a thread, as residency and cuFuncGetAttribute count them. */
uint32_t gd_schedule_registers(const gd_entry *entry);

/* How many CTAs of this shape fit on one SM at a time. */
uint32_t gd_schedule_occupancy(const gd_profile *chip, const gd_entry *entry, uint32_t threads,
                               uint64_t dynamic_shared_bytes);

/* The same with a preferred carve-out, below 0 none, as the driver answers it: CTAs run in all of
 * the shared memory all the same, for a preference promises nothing. */
uint32_t gd_schedule_carved_occupancy(const gd_profile *chip, const gd_entry *entry,
                                      uint32_t threads, uint64_t dynamic_shared_bytes, int percent);

#endif
