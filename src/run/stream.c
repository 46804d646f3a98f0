/* Streams for callers that have no other way to get them, and what their calls share with those
 * about events. */
#include "base/error.h"
#include "run/stream.h"

int32_t gd_stream_begin(griddep_runtime *runtime, const void *output, bool *pushed,
                        griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime || !output)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            runtime ? "a stream, an event or an output" : "runtime");
    return gd_runtime_enter(runtime, pushed, error);
}

int32_t gd_stream_finish(const griddep_runtime *runtime, bool pushed, gd_CUresult result,
                         gd_CUstream stream, const char *what, griddep_error *error)
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
    int32_t status = gd_stream_begin(runtime, stream, &pushed, error);

    if (status)
        return status;
    status = gd_stream_finish(runtime, pushed,
                              runtime->driver->cuStreamCreate(&created, GD_CU_STREAM_NON_BLOCKING),
                              NULL, "a new stream", error);
    if (!status)
        *stream = created;
    return status;
}

int32_t griddep_stream_destroy(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, stream, &pushed, error);

    return status ? status
                  : gd_stream_finish(runtime, pushed, runtime->driver->cuStreamDestroy(stream),
                                     stream, "destroying a stream", error);
}

int32_t griddep_stream_synchronize(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, runtime, &pushed, error);

    if (status)
        return status;
    return gd_stream_finish(runtime, pushed, runtime->driver->cuStreamSynchronize(stream), stream,
                            "waiting for a stream", error);
}

int32_t griddep_stream_wait_event(griddep_runtime *runtime, void *stream, void *event,
                                  griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, event, &pushed, error);

    return status ? status
                  : gd_stream_finish(runtime, pushed,
                                     runtime->driver->cuStreamWaitEvent(stream, event, 0), stream,
                                     "making a stream wait for an event", error);
}
