/* Streams: what their tasks depend on, and the entry points cuStream* but for captures. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/driver/green.h"
#include "emulator/driver/stream.h"
#include "emulator/schedule/host.h"

static __thread bool null_is_per_thread;

void gd_stream_null_is_per_thread(bool per_thread)
{
    null_is_per_thread = per_thread;
}

/* ---- streams ---- */

gd_stream *gd_stream_create(gd_context *context, unsigned flags, int priority)
{
    gd_stream *stream = calloc(1, sizeof *stream);

    if (!stream || !gd_object_add(&stream->object, GD_OBJECT_STREAM, context)) {
        free(stream);
        return NULL;
    }
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++gd_the_emulator.next_id;
    return stream;
}

static void drop_waits(gd_stream *stream)
{
    for (uint32_t i = 0; i < stream->wait_count; i++)
        gd_task_release(stream->waits[i].task);
    free(stream->waits);
    stream->waits = NULL;
    stream->wait_count = 0;
}

void gd_stream_destroy(gd_stream *stream)
{
    if (!stream)
        return;
    gd_capture_leave(stream);
    drop_waits(stream);
    gd_task_release(stream->last);
    gd_object_remove(&stream->object);
    free(stream->told_nodes);
    free(stream->told_edges);
    free(stream);
}

static gd_stream *make_default(gd_context *context, gd_stream **stream, bool legacy)
{
    if (!*stream) {
        *stream = gd_stream_create(context, GD_CU_STREAM_DEFAULT, 0);
        if (*stream)
            (*stream)->legacy = legacy;
    }
    return *stream;
}

static gd_stream *create_green(gd_green *green, int priority)
{
    gd_stream *stream =
        gd_stream_create(green->object.context, GD_CU_STREAM_NON_BLOCKING, priority);

    if (stream && gd_stream_add_wait(stream, green->gate, GD_PORT_COMPLETE) != GD_CUDA_SUCCESS) {
        gd_stream_destroy(stream);
        stream = NULL;
    }
    if (stream)
        stream->green = green;
    return stream;
}

gd_stream *gd_stream_standard(gd_green *green)
{
    if (!green->standard)
        green->standard = create_green(green, 0);
    return green->standard;
}

gd_part gd_stream_part(const gd_stream *stream)
{
    return stream->green ? stream->green->part
                         : (gd_part){0, gd_the_emulator.settings.multiprocessors};
}

/* A green context has no stream per thread. */
static gd_CUresult find_green_default(gd_green *green, gd_CUstream handle, gd_stream **stream)
{
    if (handle == GD_CU_STREAM_PER_THREAD || (!handle && null_is_per_thread))
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *stream = gd_stream_standard(green);
    return *stream ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

gd_CUresult gd_stream_find(gd_CUstream handle, gd_stream **stream)
{
    const bool is_default =
        !handle || handle == GD_CU_STREAM_LEGACY || handle == GD_CU_STREAM_PER_THREAD;
    gd_green *green = is_default ? gd_green_current() : NULL;
    gd_context *context = gd_call_context();

    if (green)
        return find_green_default(green, handle, stream);
    if (is_default) {
        bool legacy = handle ? handle == GD_CU_STREAM_LEGACY : !null_is_per_thread;
        *stream = make_default(context, legacy ? &context->legacy : &context->per_thread, legacy);
        return *stream ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    *stream = gd_object_find(handle, GD_OBJECT_STREAM);
    return *stream ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_HANDLE;
}

void gd_stream_set_last(gd_stream *stream, gd_task *task)
{
    gd_task_hold(task);
    gd_task_release(stream->last);
    stream->last = task;
}

/* ---- dependencies ---- */

gd_CUresult gd_stream_add_wait(gd_stream *stream, gd_task *task, gd_port port)
{
    if (!task)
        return GD_CUDA_SUCCESS;
    gd_dependency *more = realloc(stream->waits, (stream->wait_count + 1) * sizeof *more);
    if (!more)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    stream->waits = more;
    stream->waits[stream->wait_count++] = (gd_dependency){.task = gd_task_hold(task), .port = port};
    return GD_CUDA_SUCCESS;
}

typedef struct dependency_list {
    gd_dependency *list;
    uint32_t count, capacity;
} dependency_list;

static bool add_dependency(dependency_list *list, gd_task *task, gd_port port, bool programmatic)
{
    if (!task)
        return true;
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
        gd_dependency *more = realloc(list->list, capacity * sizeof *more);
        if (!more)
            return false;
        list->list = more;
        list->capacity = capacity;
    }
    list->list[list->count++] =
        (gd_dependency){.task = task, .port = port, .programmatic = programmatic};
    return true;
}

/* The legacy stream waits for all blocking ones of its context, and they for it. */
static bool add_default_order(dependency_list *list, const gd_stream *stream)
{
    uint32_t place = 0;
    bool whole = true;

    if (!stream->legacy) {
        const gd_stream *legacy = stream->object.context->legacy;
        return stream->flags & GD_CU_STREAM_NON_BLOCKING || !legacy ||
               add_dependency(list, legacy->last, GD_PORT_COMPLETE, false);
    }
    for (gd_object *object; whole && (object = gd_object_next(&place));) {
        const gd_stream *other = (const gd_stream *)object;
        if (object->kind == GD_OBJECT_STREAM && other != stream &&
            object->context == stream->object.context &&
            !(other->flags & GD_CU_STREAM_NON_BLOCKING))
            whole = add_dependency(list, other->last, GD_PORT_COMPLETE, false);
    }
    return whole;
}

static bool list_dependencies(dependency_list *list, const gd_stream *stream, const gd_work *work)
{
    bool kernel = work->kind == GD_WORK_KERNEL;
    bool programmatic = kernel && work->is.kernel.programmatic && stream->last &&
                        stream->last->work.kind == GD_WORK_KERNEL;
    bool whole = add_dependency(
        list, stream->last, programmatic ? GD_PORT_PROGRAMMATIC : GD_PORT_COMPLETE, programmatic);

    for (uint32_t i = 0; whole && i < stream->wait_count; i++) {
        const gd_dependency *wait = &stream->waits[i];
        bool early = kernel && wait->port != GD_PORT_COMPLETE &&
                     wait->task->device == stream->object.context->device;
        whole = add_dependency(list, wait->task, early ? wait->port : GD_PORT_COMPLETE, early);
    }
    return whole && add_default_order(list, stream);
}

gd_CUresult gd_stream_submit(gd_stream *stream, gd_work *work, gd_task **task)
{
    dependency_list list = {0};
    gd_task *made = NULL;

    if (task)
        *task = NULL;
    if (stream->capture)
        return gd_capture_add(stream, work, NULL);
    gd_CUresult result = stream->legacy ? gd_capture_check_waiting(stream) : GD_CUDA_SUCCESS;
    if (result == GD_CUDA_SUCCESS && !list_dependencies(&list, stream, work))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result == GD_CUDA_SUCCESS) {
        made = gd_schedule_append(stream->object.context, work, list.list, list.count, stream->id,
                                  false);
        result = made ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        gd_work_free(work);
    }
    free(list.list);
    if (!made)
        return result;
    drop_waits(stream);
    gd_stream_set_last(stream, made);
    gd_task_release(made); /* the stream holds it */
    if (task)
        *task = made;
    return GD_CUDA_SUCCESS;
}

/* What a wait for the stream waits for: its last task and the events that it was told to wait
 * for. */
static gd_CUresult wait_for(gd_stream *stream, bool legacy_order)
{
    const gd_context *context = stream->object.context;
    gd_work nothing = {.kind = GD_WORK_EMPTY};
    gd_task *task = NULL;

    if (legacy_order || stream->wait_count) {
        gd_CUresult result = gd_stream_submit(stream, &nothing, &task);
        if (result != GD_CUDA_SUCCESS)
            return result;
    }
    gd_task *last = gd_task_hold(stream->last);
    gd_schedule_wait(last, GD_PORT_COMPLETE);
    gd_task_release(last);
    return context->fault;
}

gd_CUresult gd_stream_wait(gd_stream *stream)
{
    gd_CUresult result = gd_capture_check_waiting(stream);

    return result == GD_CUDA_SUCCESS ? wait_for(stream, stream->legacy) : result;
}

/* ---- entry points ---- */

static int limit_priority(int priority)
{
    return priority > GD_DEVICE_LOWEST_PRIORITY     ? GD_DEVICE_LOWEST_PRIORITY
           : priority < GD_DEVICE_GREATEST_PRIORITY ? GD_DEVICE_GREATEST_PRIORITY
                                                    : priority;
}

gd_CUresult gd_cuStreamCreateWithPriority(gd_CUstream *handle, unsigned int flags, int priority)
{
    gd_context *context = gd_call_context();

    if (!handle || flags > GD_CU_STREAM_NON_BLOCKING)
        return GD_CUDA_ERROR_INVALID_VALUE;
    priority = limit_priority(priority);
    gd_green *green = gd_green_current();
    gd_stream *stream =
        green ? create_green(green, priority) : gd_stream_create(context, flags, priority);
    if (!stream)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *handle = stream->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGreenCtxStreamCreate(gd_CUstream *handle, gd_CUgreenCtx green_handle,
                                      unsigned int flags, int priority)
{
    gd_green *green = gd_object_find(green_handle, GD_OBJECT_GREEN);

    if (!green)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (!handle || flags != GD_CU_STREAM_NON_BLOCKING)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_stream *stream = create_green(green, limit_priority(priority));
    if (!stream)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *handle = stream->object.handle;
    return GD_CUDA_SUCCESS;
}

/* Work that was handed in goes on without its stream. */
gd_CUresult gd_cuStreamDestroy_v2(gd_CUstream handle)
{
    gd_stream *stream = gd_object_find(handle, GD_OBJECT_STREAM);

    if (!stream)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (stream == stream->object.context->legacy || stream == stream->object.context->per_thread ||
        (stream->green && stream == stream->green->standard))
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_stream_destroy(stream);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuStreamSynchronize(gd_CUstream handle)
{
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(handle, &stream);

    return result == GD_CUDA_SUCCESS ? gd_stream_wait(stream) : result;
}

gd_CUresult gd_cuStreamQuery(gd_CUstream handle)
{
    gd_context *context = gd_call_context();
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result == GD_CUDA_SUCCESS)
        result = gd_capture_check_waiting(stream);
    if (result != GD_CUDA_SUCCESS || !stream->last)
        return result;
    context = stream->object.context;
    return gd_schedule_query(stream->last, GD_PORT_COMPLETE, context);
}

typedef enum stream_fact {
    FACT_FLAGS,
    FACT_PRIORITY,
    FACT_ID,
    FACT_CONTEXT, /* a green one too */
    FACT_OWNER,   /* the one behind a green one */
    FACT_GREEN,
    FACT_DEVICE
} stream_fact;

static gd_CUresult get_fact(gd_CUstream handle, stream_fact fact, void *value)
{
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (!value)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (result != GD_CUDA_SUCCESS)
        return result;
    if (fact == FACT_FLAGS)
        *(unsigned *)value = stream->flags;
    else if (fact == FACT_PRIORITY)
        *(int *)value = stream->priority;
    else if (fact == FACT_ID)
        *(uint64_t *)value = stream->id;
    else if (fact == FACT_CONTEXT)
        *(gd_CUcontext *)value = stream->green ? (gd_CUcontext)stream->green->object.handle
                                               : stream->object.context->object.handle;
    else if (fact == FACT_OWNER)
        *(gd_CUcontext *)value = stream->object.context->object.handle;
    else if (fact == FACT_GREEN)
        *(gd_CUgreenCtx *)value =
            stream->green ? (gd_CUgreenCtx)stream->green->object.handle : NULL;
    else
        *(gd_CUdevice *)value = stream->object.context->device->number;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuStreamGetCtx_v2(gd_CUstream handle, gd_CUcontext *owner, void **green)
{
    gd_CUresult result = get_fact(handle, FACT_OWNER, owner);

    return result == GD_CUDA_SUCCESS && green ? get_fact(handle, FACT_GREEN, green) : result;
}

gd_CUresult gd_cuStreamWaitEvent(gd_CUstream handle, gd_CUevent event_handle, unsigned int flags)
{
    gd_event *event = gd_object_find(event_handle, GD_OBJECT_EVENT);
    gd_stream *stream;
    bool done;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (flags > GD_CU_EVENT_WAIT_EXTERNAL)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (flags == GD_CU_EVENT_WAIT_EXTERNAL) {
        gd_work work = {.kind = GD_WORK_EVENT_WAIT, .is.event = event_handle};
        return stream->capture ? gd_stream_submit(stream, &work, NULL)
                               : GD_CUDA_ERROR_INVALID_VALUE;
    }
    result = gd_capture_wait(stream, event, &done);
    return result != GD_CUDA_SUCCESS || done ? result
                                             : gd_stream_add_wait(stream, event->task, event->port);
}

static gd_CUresult launch_host(gd_CUstream handle, gd_host_work host)
{
    gd_stream *stream;
    gd_work work = {.kind = GD_WORK_HOST, .is.host = host};
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result == GD_CUDA_SUCCESS && !host.function && !host.callback)
        result = GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS && host.callback && stream->capture)
        result = GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (result == GD_CUDA_SUCCESS && !gd_call_expect_host())
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    return result == GD_CUDA_SUCCESS ? gd_stream_submit(stream, &work, NULL) : result;
}

gd_CUresult gd_cuStreamCreate(gd_CUstream *stream, unsigned int flags)
{
    return gd_cuStreamCreateWithPriority(stream, flags, 0);
}

gd_CUresult gd_cuStreamGetFlags(gd_CUstream stream, unsigned int *flags)
{
    return get_fact(stream, FACT_FLAGS, flags);
}

gd_CUresult gd_cuStreamGetPriority(gd_CUstream stream, int *priority)
{
    return get_fact(stream, FACT_PRIORITY, priority);
}

gd_CUresult gd_cuStreamGetId(gd_CUstream stream, unsigned long long *id)
{
    return get_fact(stream, FACT_ID, id);
}

gd_CUresult gd_cuStreamGetCtx(gd_CUstream stream, gd_CUcontext *owner)
{
    return get_fact(stream, FACT_CONTEXT, owner);
}

gd_CUresult gd_cuStreamGetGreenCtx(gd_CUstream stream, gd_CUgreenCtx *green)
{
    return get_fact(stream, FACT_GREEN, green);
}

gd_CUresult gd_cuStreamGetDevice(gd_CUstream stream, gd_CUdevice *device)
{
    return get_fact(stream, FACT_DEVICE, device);
}

gd_CUresult gd_cuLaunchHostFunc(gd_CUstream stream, gd_CUhostFn *function, void *user)
{
    return launch_host(stream, (gd_host_work){.function = function, .user = user});
}

gd_CUresult gd_cuStreamAddCallback(gd_CUstream stream, gd_CUstreamCallback *callback, void *user,
                                   unsigned int flags)
{
    return flags
               ? GD_CUDA_ERROR_INVALID_VALUE
               : launch_host(stream,
                             (gd_host_work){.callback = callback, .stream = stream, .user = user});
}
