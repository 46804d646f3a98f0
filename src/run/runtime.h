/* The runtime: a bound driver, a device, a context and a store. Everything that src/run makes holds
 * a reference to one. */
#ifndef GD_RUN_RUNTIME_H
#define GD_RUN_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "griddep.h"
#include "base/digest.h"
#include "base/log.h"
#include "cuda/driver.h"
#include "cuda/nvrtc.h"
#include "run/driver_cache.h"

struct gd_host_call;
struct gd_store;
struct gd_capture;

/* What is to be ended by the next call that comes to the runtime, in what is to be ended. */
typedef struct gd_later {
    struct gd_later *next;
    void (*end)(griddep_runtime *runtime, struct gd_later *later); /* runtime NULL: frees memory,
                                                                    * and asks the driver nothing */
} gd_later;

/* An event that has timing: the driver does not tell. */
typedef struct gd_timed_event {
    struct gd_timed_event *next;
    gd_CUevent event;
} gd_timed_event;

/* What was loaded: into a context, or by a library for all of them. */
typedef struct gd_loaded {
    gd_CUmodule module;
    gd_CUlibrary library; /* NULL: none */
} gd_loaded;

typedef struct gd_limits {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t threads_per_block;
    uint32_t reserved_shared; /* bytes that the driver keeps in each block */
} gd_limits;

/* First what each launch looks at. */
struct griddep_runtime {
    atomic_uint references;
    int32_t pdl;         /* GRIDDEP_PDL_AUTO, _OFF or _FORCE */
    bool kill_switch;    /* GRIDDEP_PDL=off */
    bool has_pdl;        /* device and driver know attribute 6 */
    atomic_bool pending; /* there is something in `later` */
    gd_driver *driver;
    gd_CUcontext context;
    gd_limits limits;
    gd_log log;
    gd_CUdevice device;
    bool primary;        /* the primary context is retained: it is the context, or behind `green` */
    gd_CUgreenCtx green; /* that the context is of, and that the runtime has made; NULL */
    uint32_t part_size, part; /* as the options said; 0, 0: the whole device */
    char device_name[256];
    char *fallback;               /* why auto took the emulated driver, or NULL */
    griddep_runtime_info info;    /* its strings belong to this object */
    struct gd_store *store;       /* NULL: none */
    gd_driver_cache driver_cache; /* strings of info */
    char *nvrtc_path;             /* NULL: by soname */
    gd_nvrtc *nvrtc;              /* opened by the first compilation */
    griddep_module *modules;      /* those that are loaded */
    atomic_uint exposures;        /* modules of which the address of a variable is known */
    gd_timed_event *timed_events;
    struct gd_capture *captures; /* notes on launches in them, the newest first */
    uint32_t
        users; /* what a program can still make calls with: the runtime, modules, chains, graphs,
                * ... */
    gd_later *later;            /* modules that captures held, lanes that one had when their chain
                            * ended, and ends that functions which the driver calls put off */
    struct gd_host_call *calls; /* functions that the driver has still to call */
    pthread_cond_t calls_over;  /* there are none any more */
    uint32_t holds;             /* of graphs on modules that have not ended */
    struct gd_loaded *staying;  /* of modules that ended, which stays until the runtime ends */
    uint32_t staying_count;
    pthread_mutex_t
        mutex; /* guards nvrtc, and modules to staying; no driver call is made under it */
    bool mutex_ready;
};

/* Opens a runtime on a driver table that is bound already; the runtime owns it from now on, also
 * when the call fails. Tests hand in theirs here. */
int32_t gd_runtime_open_on(gd_driver *driver, const griddep_runtime_options *options,
                           griddep_runtime **runtime, griddep_error *error);

/* A hold of something that a program can make calls with, and its end. */
griddep_runtime *gd_runtime_hold(griddep_runtime *runtime);
void gd_runtime_release(griddep_runtime *runtime);

/* The two parts of the end, for what is held by captures when the program has ended it: it makes no
 * calls any more; and it is gone, `abandoned` where nothing may be asked of the driver. */
void gd_runtime_retire(griddep_runtime *runtime);
void gd_runtime_forget(griddep_runtime *runtime, bool abandoned);

/* Adds what of a runtime decides about times: versions of library and driver, and the device. */
void gd_runtime_add_to_key(const griddep_runtime *runtime, gd_digest *key);

/* Opens a driver by the name that options have for it; NULL: as the environment says. */
int32_t gd_runtime_open_driver(const char *name, gd_driver **driver, griddep_error *error);

/* Keeps the code of a module until the runtime ends. */
void gd_runtime_keep_code(griddep_runtime *runtime, gd_loaded code);

/* Unloads it, between enter_to_end and leave_ended. */
void gd_runtime_unload(const griddep_runtime *runtime, gd_loaded code);

/* GRIDDEP_ERROR_CALLBACK where the calling thread is in a function that the driver calls. */
int32_t gd_host_check(griddep_error *error);
extern atomic_uint gd_host_inside; /* threads that are in such functions */

/* Where the thread is in such a function: `end` is called with the object by the next call in the
 * runtime. False where the thread may end it itself. *lost, which may be NULL, tells that there is
 * no memory to remember it by. */
typedef void gd_host_end(griddep_runtime *runtime, void *object);
bool gd_host_put_off(griddep_runtime *runtime, gd_host_end *end, void *object, bool *lost);

/* Marks the calling thread as being in such a function, or not; what it was before. */
bool gd_host_mark(bool is_inside);

/* Adds to the runtime's list; its lock is held. And ends what is in the list. */
void gd_runtime_add_later(griddep_runtime *runtime, gd_later *later);
void gd_runtime_tidy(griddep_runtime *runtime);

/* Makes the runtime's context current for the calling thread; CALLBACK in a function that the
 * driver calls. *pushed says whether gd_runtime_leave
 * has to undo it. */
int32_t gd_runtime_enter_slowly(griddep_runtime *runtime, bool current, bool *pushed,
                                griddep_error *error);

static inline bool gd_runtime_is_current(const griddep_runtime *runtime)
{
    gd_CUcontext current;

    return runtime->driver->cuCtxGetCurrent(&current) == GD_CUDA_SUCCESS &&
           current == runtime->context;
}

static inline int32_t gd_runtime_enter(griddep_runtime *runtime, bool *pushed, griddep_error *error)
{
    const bool inside = atomic_load_explicit(&gd_host_inside, memory_order_relaxed),
               pending = atomic_load_explicit(&runtime->pending, memory_order_relaxed),
               current = !inside && gd_runtime_is_current(runtime);

    *pushed = false;
    return current && !pending ? GRIDDEP_OK
                               : gd_runtime_enter_slowly(runtime, current, pushed, error);
}

static inline void gd_runtime_leave(const griddep_runtime *runtime, bool pushed)
{
    gd_CUcontext popped;

    if (pushed)
        runtime->driver->cuCtxPopCurrent(&popped);
}

/* The same around calls that end what the driver has, which then neither fail in a thread that
 * captures, nor spoil its capture. What is left also where entering fails. */
typedef struct gd_ending {
    bool pushed, exchanged;
    gd_CUstreamCaptureMode mode; /* of the thread */
} gd_ending;

int32_t gd_runtime_enter_to_end(griddep_runtime *runtime, gd_ending *ending, griddep_error *error);
void gd_runtime_leave_ended(const griddep_runtime *runtime, const gd_ending *ending);

/* Waits for all work of the context, and tells whether it is lost; between enter_to_end and
 * leave_ended, where unlike cuCtxSynchronize it spoils no capture. */
gd_CUresult gd_runtime_wait(const griddep_runtime *runtime);

/* GRIDDEP_ERROR_STREAM when the stream belongs to another context, else `status`; to be asked after
 * a driver call on it failed. */
int32_t gd_runtime_blame_stream(const griddep_runtime *runtime, gd_CUstream stream, int32_t status,
                                griddep_error *error);

/* The runtime's NVRTC, opened at the first call. */
int32_t gd_runtime_get_nvrtc(griddep_runtime *runtime, const gd_nvrtc **nvrtc,
                             griddep_error *error);

#endif
