/* Events: cuEvent*. An event stands for a port of a task, or for a place in a capture. */
#include <stdlib.h>

#include "emulator/driver/call.h"
#include "emulator/driver/stream.h"

static void clear(gd_event *event)
{
    gd_task_release(event->task);
    event->task = NULL;
    gd_capture_release(event->capture);
    event->capture = NULL;
    free(event->tips.list);
    event->tips = (gd_tips){0};
}

void gd_event_set(gd_event *event, gd_task *task, gd_port port)
{
    gd_task_hold(task);
    clear(event);
    event->task = task;
    event->port = port;
}

void gd_event_destroy(gd_event *event)
{
    clear(event);
    gd_object_remove(&event->object);
    free(event);
}

gd_CUresult gd_cuEventCreate(gd_CUevent *handle, unsigned int flags)
{
    gd_context *context = gd_call_context();
    const unsigned known =
        GD_CU_EVENT_BLOCKING_SYNC | GD_CU_EVENT_DISABLE_TIMING | GD_CU_EVENT_INTERPROCESS;

    if (!handle || flags & ~known ||
        (flags & GD_CU_EVENT_INTERPROCESS && !(flags & GD_CU_EVENT_DISABLE_TIMING)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (flags & GD_CU_EVENT_INTERPROCESS)
        return gd_device_unsupported("an event that processes share");
    gd_event *event = calloc(1, sizeof *event);
    if (!event || !gd_object_add(&event->object, GD_OBJECT_EVENT, context)) {
        free(event);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->flags = flags;
    *handle = event->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuEventDestroy_v2(gd_CUevent handle)
{
    gd_event *event = gd_object_find(handle, GD_OBJECT_EVENT);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_event_destroy(event);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_event_record(gd_event *event, gd_stream *stream)
{
    gd_work nothing = {.kind = GD_WORK_EMPTY};
    gd_task *task;
    gd_CUresult result = gd_stream_submit(stream, &nothing, &task);

    if (result == GD_CUDA_SUCCESS)
        gd_event_set(event, task, GD_PORT_COMPLETE);
    return result;
}

gd_CUresult gd_cuEventRecordWithFlags(gd_CUevent handle, gd_CUstream stream_handle,
                                      unsigned int flags)
{
    gd_event *event = gd_object_find(handle, GD_OBJECT_EVENT);
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(stream_handle, &stream);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (result != GD_CUDA_SUCCESS)
        return result;
    if (event->object.context != stream->object.context)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (flags > GD_CU_EVENT_RECORD_EXTERNAL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (flags && !stream->capture)
        return GD_CUDA_ERROR_ILLEGAL_STATE;
    if (flags) {
        gd_work work = {.kind = GD_WORK_EVENT_RECORD, .is.event = handle};
        return gd_stream_submit(stream, &work, NULL);
    }
    return stream->capture ? gd_capture_record(stream, event) : gd_event_record(event, stream);
}

/* An event of a capture cannot be waited for or asked; trying spoils the capture. */
static gd_CUresult check_captured(gd_event *event)
{
    if (!event->capture)
        return GD_CUDA_SUCCESS;
    gd_capture_invalidate(event->capture);
    return GD_CUDA_ERROR_CAPTURED_EVENT;
}

gd_CUresult gd_cuEventSynchronize(gd_CUevent handle)
{
    gd_event *event = gd_object_find(handle, GD_OBJECT_EVENT);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_CUresult result = check_captured(event);
    if (result != GD_CUDA_SUCCESS)
        return result;
    const gd_context *context = event->object.context;
    gd_schedule_wait(event->task, event->port);
    return context->fault;
}

gd_CUresult gd_cuEventQuery(gd_CUevent handle)
{
    gd_event *event = gd_object_find(handle, GD_OBJECT_EVENT);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_CUresult result = check_captured(event);
    if (result != GD_CUDA_SUCCESS || !event->task)
        return result;
    return gd_schedule_query(event->task, event->port, event->object.context);
}

gd_CUresult gd_cuEventElapsedTime(float *milliseconds, gd_CUevent start_handle,
                                  gd_CUevent end_handle)
{
    gd_event *start = gd_object_find(start_handle, GD_OBJECT_EVENT),
             *end = gd_object_find(end_handle, GD_OBJECT_EVENT);

    if (!milliseconds || !start || !end)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (start->capture || end->capture)
        return GD_CUDA_ERROR_CAPTURED_EVENT;
    if (!start->task || !end->task ||
        start->object.context->device != end->object.context->device ||
        (start->flags | end->flags) & GD_CU_EVENT_DISABLE_TIMING)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!gd_task_reached(start->task, start->port) || !gd_task_reached(end->task, end->port))
        return GD_CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)(int64_t)(gd_task_time(end->task, end->port) -
                                              gd_task_time(start->task, start->port)) /
                            1e6);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuEventRecord(gd_CUevent event, gd_CUstream stream)
{
    return gd_cuEventRecordWithFlags(event, stream, 0);
}

gd_CUresult gd_cuEventElapsedTime_v2(float *milliseconds, gd_CUevent start, gd_CUevent end)
{
    return gd_cuEventElapsedTime(milliseconds, start, end);
}
