/* What follows what in the program's streams. */
#ifndef GD_ATTACH_STREAMS_H
#define GD_ATTACH_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attached.h"
#include "emulator/abi.h"

/* A launch that the driver will be given. */
typedef struct gd_seen_launch {
    gd_CUfunction function;          /* a CUkernel too */
    const gd_CUlaunchConfig *config; /* as the program gave it */
    void **parameters, **extra;      /* likewise; parameters NULL: packed, or none */
    bool per_thread;                 /* its stream NULL is the thread's default stream */
    bool early, trigger_event, begin_event, cooperative;
    bool changed;
    bool is_on;            /* then what follows is decided when it is noted */
    bool may_become_early; /* early and changed where its kernel waits wherever it may, touches
                            * nothing before that which others reach, and follows none that lets
                            * it go on before what came earlier has ended */
    bool left;             /* it did not, though its kernel waits */
    bool held; /* it was early, and is not behind launches that became so: its kernel relies on
                * their having waited. Then it is changed too */
} gd_seen_launch;

/* Whether it goes into a graph. */
bool gd_streams_is_captured(const gd_seen_launch *launch);

/* Notes a launch. Takes the lock, as those that follow. */
void gd_streams_launch(gd_seen_launch *launch);

/* The driver did not take the launch that was noted last. */
void gd_streams_take_back(const gd_seen_launch *launch);

/* Work of a kind, GD_ATTACHED_*, in a stream; the event that it records or waits for, or NULL. */
void gd_streams_work(gd_CUstream stream, bool per_thread, uint32_t bit, gd_CUevent event);

/* What the last launch in a stream was the second of; NULL. With the lock. */
gd_attached_pair *gd_streams_last_pair(gd_CUstream named, uint64_t owner);

/* The handle of a stream, those of the default streams in place of NULL. */
gd_CUstream gd_streams_name(gd_CUstream handle, bool per_thread);

/* Of a default stream, the context or the thread that it is of; 0. */
uint64_t gd_streams_owner(gd_CUstream named);

/* Whether the legacy default stream and it wait for each other. */
bool gd_streams_is_blocking(gd_CUstream named);

/* Whether some stream is captured. */
bool gd_streams_have_capture(void);

/* With the lock, as those that follow: the host has waited for all that was launched. */
void gd_streams_synchronized(void);
void gd_streams_end(gd_CUstream stream);

/* A handle of a kernel is one of another kernel from here on, or of none. */
void gd_streams_renew(void);
void gd_streams_capture(bool begins);

/* In a child process. */
void gd_streams_forget(void);

#endif
