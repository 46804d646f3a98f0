/* This process: how it is attached, and the lock. */
#ifndef GD_ATTACH_PROCESS_H
#define GD_ATTACH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attached.h"

typedef struct gd_attach_settings {
    const char *record; /* the folder; NULL: nothing is recorded */
    uint32_t early;     /* GD_ATTACHED_EARLY_* */
    bool times;         /* launches are timed */
    bool spans;         /* and each one is told of by itself, graphs too */
    uint64_t first_launch;
    uint32_t launches; /* how many are recorded whole, from the first one on */
    uint32_t memory;   /* MiB that they keep at most */
} gd_attach_settings;

const gd_attach_settings *gd_process_settings(void);

/* False where nothing is to be done about a call of the program's: not attached, or the driver
 * calls its own exports, which then come by here a second time. Else the calls of this thread up to
 * leave are the driver's. */
bool gd_process_enter(void);
void gd_process_leave(void);

/* Takes the lock, and keeps errno for unlock. False: nothing is recorded, and the lock not taken.
 * */
bool gd_process_lock(int *kept);
void gd_process_unlock(int kept);

/* With the lock: a warning for the user. */
void gd_process_say(const char *text);

#endif
