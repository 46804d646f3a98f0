/* Calls of the driver: what an entry point asks for, the lock that it holds, what it answers. */
#ifndef GD_EMULATOR_DRIVER_CALL_H
#define GD_EMULATOR_DRIVER_CALL_H

#include "emulator/api.h"
#include "emulator/schedule/device.h"

/* What an entry point asks for before it does anything. */
typedef enum gd_call_need {
    GD_NEED_NOTHING,
    GD_NEED_INIT,
    GD_NEED_CONTEXT, /* a current context */
    GD_NEED_LIVE     /* one that no fault has ended */
} gd_call_need;

/* Takes the lock and checks what is needed; the lock is held only after CUDA_SUCCESS. *context is
 * the current one, or NULL. */
gd_CUresult gd_call_begin(gd_call_need need, gd_context **context);
void gd_call_end(void);

/* What a call ended with: the log learns of what it refused. */
void gd_call_tell(const char *function, gd_CUresult result);

/* The body of an entry point: `expression` is evaluated under the lock, with `context` in reach. */
#define GD_CALL(need, expression)                                                                  \
    do {                                                                                           \
        gd_context *context;                                                                       \
        gd_CUresult result_of_call = gd_call_begin(need, &context);                                \
        if (result_of_call == GD_CUDA_SUCCESS) {                                                   \
            (void)context;                                                                         \
            result_of_call = (expression);                                                         \
            gd_call_tell(__func__, result_of_call);                                                \
            gd_call_end();                                                                         \
        }                                                                                          \
        return result_of_call;                                                                     \
    } while (0)

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
