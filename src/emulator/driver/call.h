/* Calls of the driver: what an entry point asks for, the lock that it holds, what it answers. */
#ifndef GD_EMULATOR_DRIVER_CALL_H
#define GD_EMULATOR_DRIVER_CALL_H

#include "emulator/api.h"
#include "emulator/schedule/device.h"

/* What each entry point does, as its row of driver.def offers it: under the lock, unless that says
 * ANYTIME. */
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, gd_CUresult gd_##symbol GD_PARAMETERS(arguments);)
#include "cuda/driver.def"
#undef GD_DRIVER

/* The current context of what this thread calls; NULL only where its row does not ask for one. */
gd_context *gd_call_context(void);

/* What an entry point asks for before it does anything. */
typedef enum gd_call_need {
    GD_NEED_LOCKED, /* nothing */
    GD_NEED_INIT,
    GD_NEED_CONTEXT, /* a current context */
    GD_NEED_LIVE     /* one that no fault has ended */
} gd_call_need;

/* Takes the lock and checks what is needed; the lock is held only after CUDA_SUCCESS. */
gd_CUresult gd_call_begin(gd_call_need need);

/* Gives it back, and hands on the result: the log learns of what was refused. */
gd_CUresult gd_call_end(const char *function, gd_CUresult result);

/* The result, of which cuGetErrorString tells the reason in this thread until another call ends
 * with the same result. The log has it at level warning, once, with the name of the entry point. */
gd_CUresult gd_device_refuse(gd_CUresult result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the call that is being carried out has given a reason for this result. */
bool gd_device_has_reason(gd_CUresult result);

/* NOT_SUPPORTED: "WHAT is not emulated". */
gd_CUresult gd_device_unsupported(const char *what);

/* A child of fork is told apart from now on; false when memory runs out. */
bool gd_call_watch_forks(void);

/* Whether this process is a child, by fork, of one that had called cuInit: the driver is not usable
 * here. */
bool gd_call_is_child(void);

/* No entry point does anything any more (CUDA_ERROR_DEINITIALIZED). */
typedef enum gd_end {
    GD_END_DONE,   /* the lock is held */
    GD_END_INSIDE, /* this thread is in a function that the driver calls */
    GD_END_BUSY    /* another thread is, or has the lock and keeps it */
} gd_end;
gd_end gd_call_end_all(void);

#endif
