/* Host functions, and what the end of the driver has to do with them. */
#ifndef GD_EMULATOR_SCHEDULE_HOST_H
#define GD_EMULATOR_SCHEDULE_HOST_H

#include <stdbool.h>

#include "emulator/schedule/device.h"
#include "emulator/schedule/work.h"

/* The program has made a call, or one has returned. The lock is held; so it is in all that
 * follow. */
void gd_call_count(void);
uint64_t gd_call_get_count(void);

/* Calls a host function, with the lock given back meanwhile: what was read of the
 * driver's state before is to be read anew. */
void gd_call_host(const gd_host_work *host, gd_CUresult status);

/* Whether some thread is in such a call, and waiting until one returns, likewise without the
 * lock. */
bool gd_call_runs_host(void);
void gd_call_wait_host(void);

/* Whether the program has other threads, which may make calls. await: whether one does; where there
 * are some they have a second for it, without the lock. */
bool gd_call_has_others(void);
bool gd_call_await_others(void);

/* A host function is due, or is to be told of a fault; false when there can be no thread for
 * that. */
bool gd_call_expect_host(void);

/* The program asks whether a host function that is due is over: it waits by asking. */
void gd_call_hurry_host(void);

/* Ends the thread that runs host functions. The lock is given back meanwhile. */
void gd_call_stop_hosts(void);

/* In a child of fork, which has no such thread. */
void gd_call_forget_hosts(void);

#endif
