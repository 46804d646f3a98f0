/* Streams for callers that have no other way to get them, and what their calls share with those
 * about events. */
#include <inttypes.h>

#include "base/error.h"
#include "run/host.h"
#include "run/stream.h"

enum {
    OPTIONS_MINIMUM = sizeof(griddep_stream_options),
    INFO_MINIMUM = sizeof(griddep_stream_info)
};

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

/* A driver that does not tell has one priority. */
static int32_t ask_priorities(const griddep_runtime *runtime, int *least, int *greatest,
                              griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_CUresult result = driver->cuCtxGetStreamPriorityRange
                             ? driver->cuCtxGetStreamPriorityRange(least, greatest)
                             : GD_CUDA_SUCCESS;

    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(driver, result, error, "the priorities of streams");
}

static int32_t read_options(griddep_stream_options *options, const griddep_stream_options *given,
                            griddep_error *error)
{
    static const griddep_stream_options defaults = {.size = sizeof defaults};
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM,
                                    given ? given : &defaults, "griddep_stream_options", error);

    if (!status && (options->flags & ~(uint32_t)GRIDDEP_STREAM_BLOCKING || options->reserved))
        status = gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                              "griddep_stream_options has unknown flags, or reserved is not zero");
    return status;
}

static int32_t check_priority(const griddep_runtime *runtime, int32_t priority,
                              griddep_error *error)
{
    int least = 0, greatest = 0;
    int32_t status = ask_priorities(runtime, &least, &greatest, error);

    if (!status && (priority > least || priority < greatest))
        status = gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                              "priority is %" PRId32 "; the device has %d, the least, to %d",
                              priority, least, greatest);
    return status;
}

static int32_t make(const griddep_runtime *runtime, const griddep_stream_options *options,
                    gd_CUstream *stream, griddep_error *error)
{
    const unsigned flags =
        options->flags & GRIDDEP_STREAM_BLOCKING ? GD_CU_STREAM_DEFAULT : GD_CU_STREAM_NON_BLOCKING;
    int32_t status = check_priority(runtime, options->priority, error);

    if (status)
        return status;
    gd_CUresult result =
        runtime->driver->cuStreamCreateWithPriority(stream, flags, options->priority);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(runtime->driver, result, error, "a new stream");
}

int32_t griddep_stream_create(griddep_runtime *runtime, const griddep_stream_options *given,
                              void **stream, griddep_error *error)
{
    griddep_stream_options options;
    gd_CUstream created = NULL;
    bool pushed;
    int32_t status = gd_stream_begin(runtime, stream, &pushed, error);

    if (status)
        return status;
    if (!given) {
        gd_CUresult result = runtime->driver->cuStreamCreate(&created, GD_CU_STREAM_NON_BLOCKING);
        status = gd_stream_finish(runtime, pushed, result, NULL, "a new stream", error);
    } else {
        status = read_options(&options, given, error);
        if (!status)
            status = make(runtime, &options, &created, error);
        gd_runtime_leave(runtime, pushed);
    }
    if (!status)
        *stream = created;
    return status;
}

static int32_t end_stream(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, stream, &pushed, error);

    return status ? status
                  : gd_stream_finish(runtime, pushed, runtime->driver->cuStreamDestroy(stream),
                                     stream, "destroying a stream", error);
}

static void end_later(griddep_runtime *runtime, void *stream)
{
    end_stream(runtime, stream, NULL);
}

int32_t griddep_stream_destroy(griddep_runtime *runtime, void *stream, griddep_error *error)
{
    bool lost = false;

    if (runtime && stream && gd_host_put_off(runtime, end_later, stream, &lost))
        return lost ? gd_error_memory(error) : GRIDDEP_OK;
    return end_stream(runtime, stream, error);
}

int32_t griddep_stream_query(griddep_runtime *runtime, void *stream, uint32_t *done,
                             griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, done, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuStreamQuery(stream);
    bool ready = result != GD_CUDA_ERROR_NOT_READY;
    status = gd_stream_finish(runtime, pushed, ready ? result : GD_CUDA_SUCCESS, stream,
                              "whether a stream is done", error);
    if (!status)
        *done = ready;
    return status;
}

int32_t griddep_stream_get_info(griddep_runtime *runtime, void *stream, griddep_stream_info *info,
                                griddep_error *error)
{
    griddep_stream_info made = {.size = sizeof made};
    gd_CUstreamCaptureStatus capture = GD_CU_STREAM_CAPTURE_STATUS_NONE;
    unsigned flags = 0;
    int priority = 0;
    bool pushed;
    int32_t status = gd_stream_begin(runtime, info, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuStreamGetFlags(stream, &flags);
    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuStreamGetPriority(stream, &priority);
    if (result == GD_CUDA_SUCCESS && stream && stream != GD_CU_STREAM_LEGACY)
        result = runtime->driver->cuStreamIsCapturing(stream, &capture);
    status = gd_stream_finish(runtime, pushed, result, stream, "about a stream", error);
    if (status)
        return status;
    made.flags = flags & GD_CU_STREAM_NON_BLOCKING ? 0 : GRIDDEP_STREAM_BLOCKING;
    made.priority = priority;
    made.captured = capture != GD_CU_STREAM_CAPTURE_STATUS_NONE;
    return gd_struct_write(info, &made, sizeof made, INFO_MINIMUM, "griddep_stream_info", error);
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
