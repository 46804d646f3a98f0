/* Streams and timing events for callers that have no other way to get them. */
#include "base/error.h"
#include "run/runtime.h"

/* Checks what all calls share and enters the context. `output` is a pointer that must not be NULL. */
static int32_t begin(const griddep_runtime *runtime, const void *output, bool *pushed, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !output)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            runtime ? "a stream, an event or an output" : "runtime");
    return gd_runtime_enter(runtime, pushed, error);
}

/* stream: that the call was about; NULL. */
static int32_t finish(const griddep_runtime *runtime, bool pushed, gd_CUresult result, gd_CUstream stream,
                      const char *what, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (result != GD_CUDA_SUCCESS) {
        status = gd_driver_fail(runtime->driver, result, error, "%s", what);
        status = gd_runtime_blame_stream(runtime, stream, status, error);
    }
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_stream_create(griddep_runtime *runtime, void **stream, griddep_error *error)
{
    bool pushed;
    gd_CUstream created = NULL;
    int32_t status = begin(runtime, stream, &pushed, error);

    if (status)
        return status;
    status = finish(runtime, pushed, runtime->driver->cuStreamCreate(&created, GD_CU_STREAM_NON_BLOCKING), NULL,
                    "a new stream", error);
    if (!status)
        *stream = created;
    return status;
}

int32_t griddep_stream_destroy(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = begin(runtime, stream, &pushed, error);

    return status ? status
                  : finish(runtime, pushed, runtime->driver->cuStreamDestroy(stream), stream, "destroying a stream",
                           error);
}

int32_t griddep_stream_synchronize(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = begin(runtime, runtime, &pushed, error);

    if (status)
        return status;
    return finish(runtime, pushed, runtime->driver->cuStreamSynchronize(stream), stream, "waiting for a stream", error);
}

int32_t griddep_event_create(griddep_runtime *runtime, void **event, griddep_error *error)
{
    bool pushed;
    gd_CUevent created = NULL;
    int32_t status = begin(runtime, event, &pushed, error);

    if (status)
        return status;
    status = finish(runtime, pushed, runtime->driver->cuEventCreate(&created, GD_CU_EVENT_DEFAULT), NULL, "a new event",
                    error);
    if (!status)
        *event = created;
    return status;
}

int32_t griddep_event_destroy(griddep_runtime *runtime, void *event, griddep_error *error)
{
    bool pushed;
    int32_t status = begin(runtime, event, &pushed, error);

    return status ? status
                  : finish(runtime, pushed, runtime->driver->cuEventDestroy(event), NULL, "destroying an event", error);
}

int32_t griddep_event_record(griddep_runtime *runtime, void *event, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = begin(runtime, event, &pushed, error);

    return status ? status
                  : finish(runtime, pushed, runtime->driver->cuEventRecord(event, stream), stream, "recording an event",
                           error);
}

int32_t griddep_event_elapsed(griddep_runtime *runtime, void *start, void *end, double *microseconds,
                              griddep_error *error)
{
    bool pushed;
    float milliseconds = 0;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!start || !microseconds)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", start ? "microseconds" : "start");
    status = begin(runtime, end, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuEventSynchronize(end);
    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuEventElapsedTime(&milliseconds, start, end);
    status = finish(runtime, pushed, result, NULL, "the time between two events", error);
    if (!status)
        *microseconds = 1000.0 * (double)milliseconds;
    return status;
}
