/* The fake driver's streams, their captures, and what is enqueued into them: copies, fills,
 * events. */
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

/* The default streams have no object: *stream is NULL for them. */
gd_CUresult fake_stream_find(gd_CUstream handle, fake_object **stream)
{
    *stream = NULL;
    if (!handle || handle == GD_CU_STREAM_LEGACY || handle == GD_CU_STREAM_PER_THREAD)
        return GD_CUDA_SUCCESS;
    *stream = fake_object_find(STREAM, handle);
    return *stream ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_HANDLE;
}

bool fake_stream_captures(const fake_object *o)
{
    return o->kind == STREAM && o->is.stream.status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static void invalidate(fake_object *stream)
{
    stream->is.stream.status = GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    fake_body_free(&stream->is.stream.body);
}

/* The legacy default stream depends on every blocking stream, so it cannot be used while one of
 * them captures. */
static gd_CUresult check_legacy(bool use)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (!fake_stream_captures(o) || (o->is.stream.flags & GD_CU_STREAM_NON_BLOCKING))
            continue;
        result = GD_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        if (use)
            invalidate(o);
    }
    return result;
}

static __thread gd_CUstreamCaptureMode thread_mode = GD_CU_STREAM_CAPTURE_MODE_GLOBAL;

/* A call that is unsafe during capture: forbidden by captures of mode global, and by those of this
 * thread that are not relaxed. */
gd_CUresult fake_capture_check_unsafe(void)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (thread_mode == GD_CU_STREAM_CAPTURE_MODE_RELAXED)
        return result;
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (!fake_stream_captures(o) || o->is.stream.mode == GD_CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        if (o->is.stream.mode == GD_CU_STREAM_CAPTURE_MODE_GLOBAL ||
            pthread_equal(o->is.stream.thread, pthread_self())) {
            result = GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            invalidate(o);
        }
    }
    return result;
}

/* A call that a capturing stream cannot take: one that waits for it, or launches a graph into
 * it. */
gd_CUresult fake_capture_check_waiting(fake_object *stream)
{
    if (!stream)
        return check_legacy(true);
    if (fake_stream_captures(stream)) {
        invalidate(stream);
        return GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return stream->is.stream.status == GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED
               ? GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
               : GD_CUDA_SUCCESS;
}

/* Makes work a node where the stream captures, and executes it where it does not. What a node owns
 * is copied. */
gd_CUresult fake_stream_submit(fake_object *stream, const fake_node *work)
{
    fake_node kept = *work;

    if (!stream) {
        gd_CUresult result = check_legacy(true);
        return result == GD_CUDA_SUCCESS ? fake_node_execute(work, false) : result;
    }
    if (stream->is.stream.status == GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!fake_stream_captures(stream))
        return fake_node_execute(work, false);
    if (work->type == GD_CU_GRAPH_NODE_TYPE_KERNEL)
        kept.launch = fake_launch_copy(&work->launch);
    fake_body_add(&stream->is.stream.body, &kept);
    return GD_CUDA_SUCCESS;
}

static fake_object *find_memory(gd_CUdeviceptr address, size_t bytes)
{
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        uint64_t start = (uint64_t)(uintptr_t)o->handle;
        if (o->kind == MEMORY && address >= start && address - start <= o->is.memory.bytes &&
            bytes <= o->is.memory.bytes - (address - start))
            return o;
    }
    return NULL;
}

bool fake_memory_has(gd_CUdeviceptr address, size_t bytes)
{
    return find_memory(address, bytes) != NULL;
}

gd_CUresult fake_do_allocate(gd_CUdeviceptr *address, size_t bytes)
{
    void *memory = NULL;
    gd_CUresult result = fake_capture_check_unsafe();

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!address || bytes == 0)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (bytes > fake_state.memory_bytes - fake_state.memory_used)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    memory =
        aligned_alloc(256, (bytes + 255) / 256 *
                               256); /* the device's, which tests of failing allocations let be */
    if (!memory)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    memset(memory, 0xA5, bytes); /* device memory holds anything */
    fake_object *made = fake_object_create(MEMORY, fake_context_handle());
    made->handle = memory;
    made->is.memory.bytes = bytes;
    fake_state.memory_used += bytes;
    *address = (uint64_t)(uintptr_t)memory;
    fake_report_allocation(*address);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_free(gd_CUdeviceptr address)
{
    fake_object *memory = fake_object_find(MEMORY, (void *)(uintptr_t)address);
    gd_CUresult result = fake_capture_check_unsafe();

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (address == 0)
        return GD_CUDA_SUCCESS;
    if (!memory || memory->is.memory.module)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_object_end(memory);
    return GD_CUDA_SUCCESS;
}

/* A copy or fill of device memory; `device` is the address that must lie in an allocation. */
static gd_CUresult transfer(const fake_node *work, gd_CUdeviceptr device, gd_CUstream handle)
{
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(handle, &stream);

    if (result != GD_CUDA_SUCCESS || work->bytes == 0)
        return result;
    if (!find_memory(device, work->bytes) || !work->target ||
        (work->type == GD_CU_GRAPH_NODE_TYPE_MEMCPY && !work->source))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return fake_stream_submit(stream, work);
}

gd_CUresult fake_do_copy(gd_CUdeviceptr target, gd_CUdeviceptr source, size_t bytes,
                         gd_CUstream stream, gd_CUdeviceptr device)
{
    fake_node work = {
        .type = GD_CU_GRAPH_NODE_TYPE_MEMCPY, .target = target, .source = source, .bytes = bytes};

    return transfer(&work, device, stream);
}

gd_CUresult fake_do_fill(gd_CUdeviceptr target, unsigned char value, size_t bytes,
                         gd_CUstream stream)
{
    fake_node work = {
        .type = GD_CU_GRAPH_NODE_TYPE_MEMSET, .target = target, .value = value, .bytes = bytes};

    return transfer(&work, target, stream);
}

gd_CUresult fake_do_stream_create(gd_CUstream *stream, unsigned int flags)
{
    if (!stream || flags > GD_CU_STREAM_NON_BLOCKING)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_object *made = fake_object_create(STREAM, fake_context_handle());
    made->is.stream.flags = flags;
    *stream = made->handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_stream_synchronize(gd_CUstream handle)
{
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(handle, &stream);

    return result == GD_CUDA_SUCCESS ? fake_capture_check_waiting(stream) : result;
}

gd_CUresult fake_do_stream_context(gd_CUstream handle, gd_CUcontext *context)
{
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(handle, &stream);

    if (!context)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS)
        *context = stream ? stream->context : fake_context_handle();
    return result;
}

gd_CUresult fake_do_is_capturing(gd_CUstream handle, gd_CUstreamCaptureStatus *status)
{
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(handle, &stream);

    if (!status)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS && !stream)
        result = check_legacy(false);
    if (result == GD_CUDA_SUCCESS)
        *status = stream ? stream->is.stream.status : GD_CU_STREAM_CAPTURE_STATUS_NONE;
    return result;
}

gd_CUresult fake_do_exchange_mode(gd_CUstreamCaptureMode *mode)
{
    gd_CUstreamCaptureMode old = thread_mode;

    if (!mode || *mode < GD_CU_STREAM_CAPTURE_MODE_GLOBAL ||
        *mode > GD_CU_STREAM_CAPTURE_MODE_RELAXED)
        return GD_CUDA_ERROR_INVALID_VALUE;
    thread_mode = *mode;
    *mode = old;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_begin_capture(gd_CUstream handle, gd_CUstreamCaptureMode mode)
{
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(handle, &stream);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (mode < GD_CU_STREAM_CAPTURE_MODE_GLOBAL || mode > GD_CU_STREAM_CAPTURE_MODE_RELAXED)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!stream)
        return GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->is.stream.status != GD_CU_STREAM_CAPTURE_STATUS_NONE)
        return GD_CUDA_ERROR_ILLEGAL_STATE;
    stream->is.stream.status = GD_CU_STREAM_CAPTURE_STATUS_ACTIVE;
    stream->is.stream.mode = mode;
    stream->is.stream.thread = pthread_self();
    stream->is.stream.graph = fake_handle_create();
    return GD_CUDA_SUCCESS;
}

/* Each capture has a graph of its own, whose handle serves as the id too. */
gd_CUresult fake_do_capture_info(gd_CUstream handle, gd_CUstreamCaptureStatus *status, uint64_t *id,
                                 gd_CUgraph *graph, const gd_CUgraphNode **before, size_t *count)
{
    fake_object *stream = NULL;
    gd_CUresult result = fake_do_is_capturing(handle, status);

    if (result != GD_CUDA_SUCCESS || *status != GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return result;
    fake_stream_find(handle, &stream);
    const fake_body *body = &stream->is.stream.body;
    stream->is.stream.tip = body->node_count ? body->nodes[body->node_count - 1].handle : NULL;
    if (id)
        *id = (uint64_t)(uintptr_t)stream->is.stream.graph;
    if (graph)
        *graph = stream->is.stream.graph;
    if (before)
        *before = (const gd_CUgraphNode *)&stream->is.stream.tip;
    if (count)
        *count = body->node_count ? 1 : 0;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_end_capture(gd_CUstream handle, gd_CUgraph *graph, bool discard)
{
    fake_object *stream = fake_object_find(STREAM, handle);

    if (!graph)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!stream)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (stream->is.stream.status == GD_CU_STREAM_CAPTURE_STATUS_NONE)
        return GD_CUDA_ERROR_ILLEGAL_STATE;
    if (stream->is.stream.mode != GD_CU_STREAM_CAPTURE_MODE_RELAXED &&
        !pthread_equal(stream->is.stream.thread, pthread_self()))
        return GD_CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    bool valid = fake_stream_captures(stream) && !discard;
    stream->is.stream.status = GD_CU_STREAM_CAPTURE_STATUS_NONE;
    *graph = NULL;
    if (!valid) {
        fake_body_free(&stream->is.stream.body);
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    fake_object *made = fake_object_create(GRAPH, NULL);
    made->handle = stream->is.stream.graph;
    made->is.graph = stream->is.stream.body;
    stream->is.stream.body = (fake_body){0};
    *graph = made->handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_event_create(gd_CUevent *event, unsigned int flags)
{
    if (!event ||
        flags > (GD_CU_EVENT_BLOCKING_SYNC | GD_CU_EVENT_DISABLE_TIMING | GD_CU_EVENT_INTERPROCESS))
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_object *made = fake_object_create(EVENT, fake_context_handle());
    made->is.event.flags = flags;
    *event = made->handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_event_record(gd_CUevent handle, gd_CUstream stream_handle)
{
    fake_object *event = fake_object_find(EVENT, handle);
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(stream_handle, &stream);

    if (!event || result != GD_CUDA_SUCCESS ||
        event->context != (stream ? stream->context : fake_context_handle()))
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!stream)
        result = check_legacy(true);
    else if (stream->is.stream.status == GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        result = GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (result != GD_CUDA_SUCCESS)
        return result;
    event->is.event.capture = stream && fake_stream_captures(stream) ? stream->handle : NULL;
    event->is.event.recorded = !event->is.event.capture;
    event->is.event.time = fake_state.clock;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_event_synchronize(gd_CUevent handle)
{
    fake_object *event = fake_object_find(EVENT, handle);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!event->is.event.capture)
        return GD_CUDA_SUCCESS;
    fake_object *stream = fake_object_find(STREAM, event->is.event.capture);
    if (stream && fake_stream_captures(stream))
        invalidate(stream);
    return GD_CUDA_ERROR_CAPTURED_EVENT;
}

gd_CUresult fake_do_event_elapsed(float *milliseconds, gd_CUevent start_handle,
                                  gd_CUevent end_handle)
{
    fake_object *start = fake_object_find(EVENT, start_handle);
    fake_object *end = fake_object_find(EVENT, end_handle);

    if (!milliseconds)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!start || !end)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (start->is.event.capture || end->is.event.capture)
        return GD_CUDA_ERROR_CAPTURED_EVENT;
    if (!start->is.event.recorded || !end->is.event.recorded ||
        ((start->is.event.flags | end->is.event.flags) & GD_CU_EVENT_DISABLE_TIMING))
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(end->is.event.time - start->is.event.time) / 1e6);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_synchronize(void)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (fake_stream_captures(o) && o->context == fake_context_handle()) {
            invalidate(o);
            result = GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

/* What is enqueued has run already, so there is nothing to wait for; a capture is of one stream
 * alone. */
gd_CUresult fake_do_wait_event(gd_CUstream stream_handle, gd_CUevent handle, unsigned flags)
{
    fake_object *event = fake_object_find(EVENT, handle);
    fake_object *stream = NULL;
    gd_CUresult result = fake_stream_find(stream_handle, &stream);

    if (!event || result != GD_CUDA_SUCCESS)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (stream && stream->is.stream.status == GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (event->is.event.capture != (stream && fake_stream_captures(stream) ? stream->handle : NULL))
        return GD_CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    return GD_CUDA_SUCCESS;
}
