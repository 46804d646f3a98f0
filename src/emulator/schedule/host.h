/* What the lock and the end of the driver have to do with host functions. */
#ifndef GD_EMULATOR_SCHEDULE_HOST_H
#define GD_EMULATOR_SCHEDULE_HOST_H

#include <pthread.h>
#include <stdbool.h>

#include "emulator/schedule/device.h"

/* The driver's lock: gd_call_begin takes it. */
extern pthread_mutex_t gd_call_mutex;

/* Whether the calling thread is in a function of the program's that the emulator calls. */
bool gd_call_is_inside(void);

/* The program has made a call. The lock is held; so it is in all that follow. */
void gd_call_count(void);

/* Ends the thread that runs host functions. The lock is given back meanwhile. */
void gd_call_stop_hosts(void);

/* In a child of fork, which has no such thread. */
void gd_call_forget_hosts(void);

#endif
