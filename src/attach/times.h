/* How long kernels take, or when each launch ran, by an event in front of each launch and one
 * behind it, where they may stand. Kernels with an event between them do not overlap: this is asked
 * for. */
#ifndef GD_ATTACH_TIMES_H
#define GD_ATTACH_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/streams.h"

/* Both events of a launch. All zero: none. */
typedef struct gd_time_pair {
    gd_CUevent begin, end;
    gd_CUcontext context;
} gd_time_pair;

/* Around a launch, or the run of a graph, which has no function; both take the lock. */
gd_time_pair gd_times_begin(const gd_seen_launch *launch);
void gd_times_end(gd_time_pair pair, const gd_seen_launch *launch, gd_CUresult result);

/* With the lock, as those that follow: takes the times of launches that have ended. */
void gd_times_take(void);

/* Without the lock, which a host function among that work may take: waits for these launches. */
void gd_times_wait(void);

/* As gd_times_take, and ends all events: a context is about to end. */
void gd_times_end_events(void);

/* In a child process. */
void gd_times_forget(void);

#endif
