/* Entering a runtime's context and leaving it, and ends that are put off until somebody enters. */
#include <stdlib.h>

#include "base/error.h"
#include "run/runtime.h"

static _Thread_local bool inside;
atomic_uint gd_host_inside;

bool gd_host_mark(bool is_inside)
{
    const bool before = inside;

    if (is_inside != before)
        atomic_fetch_add_explicit(&gd_host_inside, is_inside ? 1u : -1u, memory_order_relaxed);
    inside = is_inside;
    return before;
}

int32_t gd_host_check(griddep_error *error)
{
    return inside ? gd_error_set(error, GRIDDEP_ERROR_CALLBACK,
                                 "a host function or a notification makes this call; the driver "
                                 "allows none there: hand the work to another thread")
                  : GRIDDEP_OK;
}

/* ---- ends that are put off ---- */

/* What a function that the driver calls wanted to end. */
typedef struct put_off {
    gd_later later; /* first */
    gd_host_end *end;
    void *object;
} put_off;

static void end_put_off(griddep_runtime *runtime, gd_later *later)
{
    put_off *off = (put_off *)later;

    if (runtime)
        off->end(runtime, off->object);
    free(off);
}

void gd_runtime_add_later(griddep_runtime *runtime, gd_later *later)
{
    later->next = runtime->later;
    runtime->later = later;
    atomic_store_explicit(&runtime->pending, true, memory_order_relaxed);
}

bool gd_host_put_off(griddep_runtime *runtime, gd_host_end *end, void *object, bool *lost)
{
    if (!inside)
        return false;
    put_off *off = malloc(sizeof *off);
    if (lost)
        *lost = !off;
    if (!off)
        return true;
    *off = (put_off){.later.end = end_put_off, .end = end, .object = object};
    pthread_mutex_lock(&runtime->mutex);
    gd_runtime_add_later(runtime, &off->later);
    pthread_mutex_unlock(&runtime->mutex);
    return true;
}

/* ---- context ---- */

static int32_t push(griddep_runtime *runtime, bool *pushed, griddep_error *error)
{
    gd_CUresult result = runtime->driver->cuCtxPushCurrent(runtime->context);

    if (result == GD_CUDA_ERROR_INVALID_CONTEXT && runtime->primary)
        result = GD_CUDA_ERROR_CONTEXT_IS_DESTROYED; /* by a reset */
    *pushed = result == GD_CUDA_SUCCESS;
    return *pushed ? GRIDDEP_OK
                   : gd_driver_fail(runtime->driver, result, error,
                                    "the runtime's context cannot be made current");
}

int32_t gd_runtime_enter_slowly(griddep_runtime *runtime, bool current, bool *pushed,
                                griddep_error *error)
{
    int32_t status = gd_host_check(error);

    *pushed = false;
    if (!status && !current)
        status = push(runtime, pushed, error);
    if (!status && atomic_load_explicit(&runtime->pending, memory_order_relaxed))
        gd_runtime_tidy(runtime);
    return status;
}

static int32_t enter_to_end(griddep_runtime *runtime, gd_ending *ending, griddep_error *error)
{
    *ending = (gd_ending){.mode = GD_CU_STREAM_CAPTURE_MODE_RELAXED};
    int32_t status = gd_host_check(error);

    if (!status && !gd_runtime_is_current(runtime))
        status = push(runtime, &ending->pushed, error);
    ending->exchanged =
        status != GRIDDEP_ERROR_CALLBACK &&
        runtime->driver->cuThreadExchangeStreamCaptureMode(&ending->mode) == GD_CUDA_SUCCESS;
    return status;
}

void gd_runtime_leave_ended(const griddep_runtime *runtime, const gd_ending *ending)
{
    gd_CUstreamCaptureMode mode = ending->mode;

    if (ending->exchanged)
        runtime->driver->cuThreadExchangeStreamCaptureMode(&mode);
    gd_runtime_leave(runtime, ending->pushed);
}

void gd_runtime_tidy(griddep_runtime *runtime)
{
    gd_ending ending;

    pthread_mutex_lock(&runtime->mutex);
    gd_later *list = runtime->later;
    runtime->later = NULL;
    atomic_store_explicit(&runtime->pending, false, memory_order_relaxed);
    pthread_mutex_unlock(&runtime->mutex);
    enter_to_end(runtime, &ending, NULL); /* failed or not, what is held is given back */
    for (gd_later *later = list, *next; later; later = next) {
        next = later->next;
        later->end(runtime, later);
    }
    gd_runtime_leave_ended(runtime, &ending);
}

int32_t gd_runtime_enter_to_end(griddep_runtime *runtime, gd_ending *ending, griddep_error *error)
{
    int32_t status = enter_to_end(runtime, ending, error);

    if (!status && atomic_load_explicit(&runtime->pending, memory_order_relaxed))
        gd_runtime_tidy(runtime);
    return status;
}

int32_t gd_runtime_blame_stream(const griddep_runtime *runtime, gd_CUstream stream, int32_t status,
                                griddep_error *error)
{
    gd_CUcontext owner = NULL;

    if (status != GRIDDEP_ERROR_DRIVER || !stream)
        return status;
    gd_CUresult result = runtime->driver->cuStreamGetCtx(stream, &owner);
    if (result == GD_CUDA_SUCCESS && owner == runtime->context)
        return status;
    int32_t code = error ? error->driver_code : 0;
    status = gd_error_set(error, GRIDDEP_ERROR_STREAM,
                          result == GD_CUDA_SUCCESS
                              ? "the stream belongs to another context than the runtime"
                              : "the stream is not one that the driver knows");
    if (error)
        error->driver_code = code;
    return status;
}

/* Graphs that were ended while they ran are waited for too: freeing memory does so implicitly. */
gd_CUresult gd_runtime_wait(const griddep_runtime *runtime)
{
    gd_CUdeviceptr memory;
    gd_CUresult result = runtime->driver->cuMemAlloc(&memory, 1);

    return result == GD_CUDA_SUCCESS ? runtime->driver->cuMemFree(memory) : result;
}
