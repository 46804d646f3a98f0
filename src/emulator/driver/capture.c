/* Stream capture: work becomes nodes of a graph instead of running. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/stream.h"

/* ---- captures ---- */

/* When the capture has been ended, or nobody can end it: an event of it may stay for long, but
 * nobody can get the graph, and what that owned is to go with it. */
static void drop_graph(gd_capture *capture)
{
    if (!capture->borrowed)
        gd_graph_destroy(capture->graph);
    capture->graph = NULL;
}

void gd_capture_release(gd_capture *capture)
{
    if (!capture || --capture->references)
        return;
    drop_graph(capture);
    free(capture);
}

static void join(gd_stream *stream, gd_capture *capture)
{
    capture->references++;
    stream->capture = capture;
}

static void drop_tips(gd_tips *tips)
{
    free(tips->list);
    *tips = (gd_tips){0};
}

static void part(gd_stream *stream)
{
    drop_tips(&stream->tips);
    gd_capture_release(stream->capture);
    stream->capture = NULL;
}

static __thread gd_CUstreamCaptureMode thread_mode = GD_CU_STREAM_CAPTURE_MODE_GLOBAL;

bool gd_capture_is_active(const gd_stream *stream)
{
    return stream->capture && stream->capture->status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* The nodes may be gone at any time now, so nothing may point at them. */
void gd_capture_invalidate(gd_capture *capture)
{
    uint32_t place = 0;

    capture->status = GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_STREAM && ((gd_stream *)object)->capture == capture)
            drop_tips(&((gd_stream *)object)->tips);
        if (object->kind == GD_OBJECT_EVENT && ((gd_event *)object)->capture == capture)
            drop_tips(&((gd_event *)object)->tips);
    }
}

void gd_capture_leave(gd_stream *stream)
{
    gd_capture *capture = stream->capture;

    if (!capture)
        return;
    gd_capture_invalidate(capture);
    if (capture->origin == stream) {
        capture->origin = NULL;
        drop_graph(capture);
    }
    part(stream);
}

/* ---- what captures forbid ---- */

gd_CUresult gd_capture_check_unsafe(void)
{
    gd_CUresult result = GD_CUDA_SUCCESS;
    uint32_t place = 0;

    if (thread_mode == GD_CU_STREAM_CAPTURE_MODE_RELAXED)
        return GD_CUDA_SUCCESS;
    for (gd_object *object; (object = gd_object_next(&place));) {
        gd_stream *stream = (gd_stream *)object;
        if (object->kind != GD_OBJECT_STREAM || !gd_capture_is_active(stream) ||
            stream->capture->mode == GD_CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        if (pthread_equal(stream->capture->thread, pthread_self()) ||
            (stream->capture->mode == GD_CU_STREAM_CAPTURE_MODE_GLOBAL &&
             thread_mode == GD_CU_STREAM_CAPTURE_MODE_GLOBAL)) {
            gd_capture_invalidate(stream->capture);
            result = GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

/* The legacy stream depends on every blocking stream, so it cannot be used while one of them
 * captures. */
static gd_CUresult check_legacy(const gd_context *context, bool use)
{
    gd_CUresult result = GD_CUDA_SUCCESS;
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        gd_stream *stream = (gd_stream *)object;
        if (object->kind != GD_OBJECT_STREAM || object->context != context ||
            stream->flags & GD_CU_STREAM_NON_BLOCKING || !gd_capture_is_active(stream))
            continue;
        result = GD_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        if (use)
            gd_capture_invalidate(stream->capture);
    }
    return result;
}

gd_CUresult gd_capture_check_waiting(gd_stream *stream)
{
    if (stream->legacy)
        return check_legacy(stream->object.context, true);
    if (!stream->capture)
        return GD_CUDA_SUCCESS;
    if (!gd_capture_is_active(stream))
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    gd_capture_invalidate(stream->capture);
    return GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- nodes ---- */

static bool set_tip(gd_tips *tips, gd_node *node)
{
    gd_tip *list = malloc(sizeof *list);

    if (!list)
        return false;
    drop_tips(tips);
    list[0] = (gd_tip){.node = node, .ordered = true};
    *tips = (gd_tips){.list = list, .count = 1};
    return true;
}

/* Attribute 6 makes the edge from what stands before in the stream a programmatic one; an event of
 * a kernel's port gives its own. Both need a kernel at each end. */
static gd_CUgraphEdgeData edge_data(const gd_tip *tip, const gd_node *node)
{
    const gd_CUgraphEdgeData ordinary = {0};
    const gd_CUgraphEdgeData programmatic = {.type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                                             .from_port =
                                                 GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC};

    if (node->work.kind != GD_WORK_KERNEL || tip->node->work.kind != GD_WORK_KERNEL ||
        !gd_graph_is_on_one_device(tip->node, node))
        return ordinary;
    return tip->ordered && node->work.is.kernel.programmatic ? programmatic : tip->data;
}

gd_CUresult gd_capture_add(gd_stream *stream, gd_work *work, gd_node **node)
{
    gd_capture *capture = stream->capture;

    if (!gd_capture_is_active(stream)) {
        gd_work_free(work);
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    gd_node *made = gd_graph_add_node(capture->graph, work);
    bool whole = made != NULL;
    for (uint32_t i = 0; whole && i < stream->tips.count; i++) {
        const gd_tip *tip = &stream->tips.list[i];
        gd_CUgraphEdgeData data = edge_data(tip, made);
        whole = gd_graph_add_edge(capture->graph, tip->node->index, made->index, &data);
    }
    if (whole)
        whole = set_tip(&stream->tips, made);
    if (!whole) {
        gd_capture_invalidate(capture);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (node)
        *node = made;
    return GD_CUDA_SUCCESS;
}

/* ---- events ---- */

bool gd_tips_copy(gd_tips *target, const gd_tips *source)
{
    gd_tip *list = malloc((source->count + 1) * sizeof *list);

    if (!list)
        return false;
    if (source->count)
        memcpy(list, source->list, source->count * sizeof *list);
    drop_tips(target);
    *target = (gd_tips){.list = list, .count = source->count};
    return true;
}

gd_CUresult gd_capture_record(gd_stream *stream, gd_event *event)
{
    if (!gd_capture_is_active(stream))
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    gd_event_set(event, NULL, GD_PORT_COMPLETE);
    if (!gd_tips_copy(&event->tips, &stream->tips))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    event->capture = stream->capture;
    event->capture->references++;
    return GD_CUDA_SUCCESS;
}

static bool has_tip(const gd_tips *tips, const gd_node *node)
{
    for (uint32_t i = 0; i < tips->count; i++) {
        if (tips->list[i].node == node)
            return true;
    }
    return false;
}

static bool add_tips(gd_stream *stream, const gd_tips *tips)
{
    gd_tip *more =
        realloc(stream->tips.list, (stream->tips.count + tips->count + 1) * sizeof *more);

    if (!more)
        return false;
    stream->tips.list = more;
    for (uint32_t i = 0; i < tips->count; i++) {
        if (has_tip(&stream->tips, tips->list[i].node))
            continue;
        more[stream->tips.count] = tips->list[i];
        more[stream->tips.count++].ordered = false;
    }
    return true;
}

gd_CUresult gd_capture_wait(gd_stream *stream, gd_event *event, bool *done)
{
    *done = stream->capture || event->capture;
    if (!*done)
        return GD_CUDA_SUCCESS;
    if (event->capture && event->capture->status != GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return event->capture->status == GD_CU_STREAM_CAPTURE_STATUS_NONE
                   ? GD_CUDA_ERROR_CAPTURED_EVENT
                   : GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!stream->capture && stream->legacy)
        return check_legacy(stream->object.context, true)
                   ? GD_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                   : GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture && !gd_capture_is_active(stream))
        return GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!event->capture) {
        gd_capture_invalidate(stream->capture);
        return GD_CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (stream->capture && stream->capture != event->capture) {
        gd_capture_invalidate(stream->capture);
        gd_capture_invalidate(event->capture);
        return GD_CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!stream->capture)
        join(stream, event->capture);
    return add_tips(stream, &event->tips) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- entry points ---- */

static gd_CUresult begin(gd_CUstream handle, gd_CUstreamCaptureMode mode, gd_graph *into)
{
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (mode < GD_CU_STREAM_CAPTURE_MODE_GLOBAL || mode > GD_CU_STREAM_CAPTURE_MODE_RELAXED)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (stream->legacy)
        return GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return GD_CUDA_ERROR_ILLEGAL_STATE;
    gd_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    capture->borrowed = into != NULL;
    capture->graph = into ? into : gd_graph_create();
    if (!capture->graph) {
        free(capture);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->id = ++gd_the_emulator.next_id;
    capture->status = GD_CU_STREAM_CAPTURE_STATUS_ACTIVE;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->origin = stream;
    join(stream, capture);
    return GD_CUDA_SUCCESS;
}

/* Whether every node leads to the origin's tips: what was forked off has been joined. */
static bool is_joined(const gd_stream *stream)
{
    gd_graph *graph = stream->capture->graph;

    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->marked = false;
    for (uint32_t i = 0; i < stream->tips.count; i++)
        stream->tips.list[i].node->marked = true;
    gd_graph_mark_ancestors(graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (!graph->nodes[i]->marked)
            return false;
    }
    return true;
}

/* Streams and events forget the capture. */
static void dissolve(gd_capture *capture)
{
    uint32_t place = 0;

    capture->references++;
    capture->status = GD_CU_STREAM_CAPTURE_STATUS_NONE;
    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_STREAM && ((gd_stream *)object)->capture == capture)
            part((gd_stream *)object);
        if (object->kind == GD_OBJECT_EVENT && ((gd_event *)object)->capture == capture)
            drop_tips(&((gd_event *)object)->tips);
    }
    drop_graph(capture);
    gd_capture_release(capture);
}

gd_CUresult gd_cuStreamEndCapture(gd_CUstream handle, gd_CUgraph *graph)
{
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result != GD_CUDA_SUCCESS)
        return result;
    gd_capture *capture = stream->capture;
    if (!capture)
        return GD_CUDA_ERROR_ILLEGAL_STATE;
    if (!graph)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (capture->origin != stream) {
        gd_capture_invalidate(capture);
        return GD_CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != GD_CU_STREAM_CAPTURE_MODE_RELAXED &&
        !pthread_equal(capture->thread, pthread_self()))
        return GD_CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (capture->status != GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        result = GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(stream) && !capture->borrowed)
        result = GD_CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = NULL;
    if (result == GD_CUDA_SUCCESS) {
        *graph = capture->graph->object.handle;
        capture->borrowed = true; /* it is the program's now */
    }
    dissolve(capture);
    return result;
}

/* Nodes of a graph as what the first captured node depends on. */
static gd_CUresult make_tips(gd_tips *tips, const gd_graph *graph,
                             const gd_CUgraphNode *dependencies, const gd_CUgraphEdgeData *data,
                             size_t count)
{
    if (count > graph->node_count || (count && !dependencies))
        return GD_CUDA_ERROR_INVALID_VALUE;
    tips->list = calloc(count + 1, sizeof *tips->list);
    if (!tips->list)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    for (; tips->count < count; tips->count++) {
        gd_tip *tip = &tips->list[tips->count];
        tip->node = gd_object_find(dependencies[tips->count], GD_OBJECT_NODE);
        if (!tip->node || tip->node->graph != graph) {
            drop_tips(tips);
            return GD_CUDA_ERROR_INVALID_VALUE;
        }
        if (data)
            tip->data = data[tips->count];
    }
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuStreamBeginCaptureToGraph(gd_CUstream handle, gd_CUgraph graph_handle,
                                           const gd_CUgraphNode *dependencies,
                                           const gd_CUgraphEdgeData *data, size_t count,
                                           gd_CUstreamCaptureMode mode)
{
    gd_graph *graph = gd_object_find(graph_handle, GD_OBJECT_GRAPH);
    gd_tips tips = {0};
    gd_stream *stream;

    if (!graph)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = make_tips(&tips, graph, dependencies, data, count);
    if (result == GD_CUDA_SUCCESS)
        result = begin(handle, mode, graph);
    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_find(handle, &stream);
    if (result != GD_CUDA_SUCCESS) {
        drop_tips(&tips);
        return result;
    }
    stream->tips = tips;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuStreamIsCapturing(gd_CUstream handle, gd_CUstreamCaptureStatus *status)
{
    gd_context *context = gd_call_context();
    gd_stream *stream;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (!status)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS && stream->legacy)
        result = check_legacy(context, false);
    if (result == GD_CUDA_SUCCESS)
        *status = stream->capture ? stream->capture->status : GD_CU_STREAM_CAPTURE_STATUS_NONE;
    return result;
}

/* The tips as the driver tells them: lists that stay until the stream is asked again. */
static bool tell_tips(gd_stream *stream, const gd_CUgraphNode **dependencies,
                      const gd_CUgraphEdgeData **data, size_t *count)
{
    uint32_t tips = stream->tips.count;
    gd_CUgraphNode *nodes = calloc((size_t)tips + 1, sizeof *nodes);
    gd_CUgraphEdgeData *edges = calloc((size_t)tips + 1, sizeof *edges);

    if (!nodes || !edges) {
        free(nodes);
        free(edges);
        return false;
    }
    for (uint32_t i = 0; i < tips; i++) {
        nodes[i] = stream->tips.list[i].node->object.handle;
        edges[i] = stream->tips.list[i].data;
    }
    free(stream->told_nodes);
    free(stream->told_edges);
    stream->told_nodes = nodes;
    stream->told_edges = edges;
    if (dependencies)
        *dependencies = nodes;
    if (data)
        *data = edges;
    if (count)
        *count = tips;
    return true;
}

gd_CUresult gd_cuStreamGetCaptureInfo_v3(gd_CUstream handle, gd_CUstreamCaptureStatus *status,
                                         uint64_t *id, gd_CUgraph *graph,
                                         const gd_CUgraphNode **dependencies,
                                         const gd_CUgraphEdgeData **data, size_t *count)
{
    gd_stream *stream;
    gd_CUresult result = gd_cuStreamIsCapturing(handle, status);

    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_find(handle, &stream);
    if (result != GD_CUDA_SUCCESS || !stream->capture)
        return result;
    if ((dependencies || data || count) && !tell_tips(stream, dependencies, data, count))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (id)
        *id = stream->capture->id;
    if (graph && gd_capture_is_active(stream))
        *graph = stream->capture->graph->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuThreadExchangeStreamCaptureMode(gd_CUstreamCaptureMode *mode)
{
    if (!mode || *mode < GD_CU_STREAM_CAPTURE_MODE_GLOBAL ||
        *mode > GD_CU_STREAM_CAPTURE_MODE_RELAXED)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuStreamBeginCapture(gd_CUstream stream)
{
    return begin(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL, NULL);
}

gd_CUresult gd_cuStreamBeginCapture_v2(gd_CUstream stream, gd_CUstreamCaptureMode mode)
{
    return begin(stream, mode, NULL);
}

gd_CUresult gd_cuStreamGetCaptureInfo(gd_CUstream stream, gd_CUstreamCaptureStatus *status,
                                      uint64_t *id)
{
    return gd_cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

gd_CUresult gd_cuStreamGetCaptureInfo_v2(gd_CUstream stream, gd_CUstreamCaptureStatus *status,
                                         uint64_t *id, gd_CUgraph *graph,
                                         const gd_CUgraphNode **dependencies, size_t *count)
{
    return gd_cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}
