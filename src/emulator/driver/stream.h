/* Streams, their captures, and events: who waits for what.
 *
 * Default streams. The legacy one (NULL, 1) waits for what all blocking streams of its context were
 * given before, and what they are given later waits for it. The per-thread one (2) is one blocking
 * stream of the context, shared by all threads: more order than a real driver gives. NULL is the
 * per-thread one for the per-thread variants of driver.def.
 *
 * A launch with attribute 6 depends programmatically on what stands right before it in its stream,
 * if that is a kernel; after a copy, a fill, a host function, a recorded event or a graph it
 * depends on completion. */
#ifndef GD_EMULATOR_DRIVER_STREAM_H
#define GD_EMULATOR_DRIVER_STREAM_H

#include <pthread.h>

#include "emulator/schedule/graph.h"
#include "emulator/schedule/schedule.h"

/* What the next node of a captured stream depends on. */
typedef struct gd_tip {
    gd_node *node;
    gd_CUgraphEdgeData data;
    bool ordered; /* what stands before it in the stream, and not an event that was waited for */
} gd_tip;

typedef struct gd_tips {
    gd_tip *list;
    uint32_t count;
} gd_tips;

typedef struct gd_capture {
    uint32_t references; /* streams and events */
    uint64_t id;
    gd_CUstreamCaptureStatus status;
    gd_CUstreamCaptureMode mode;
    pthread_t thread;
    gd_stream *origin;
    gd_graph *graph;
    bool borrowed; /* the graph is the program's (cuStreamBeginCaptureToGraph) */
} gd_capture;

struct gd_stream {
    gd_object object;
    unsigned flags;
    int priority;
    uint64_t id;
    bool legacy;
    struct gd_green *green; /* that it is of; NULL */
    gd_task *last;
    gd_dependency *waits; /* of events, for the next task */
    uint32_t wait_count;
    gd_capture *capture;
    gd_tips tips;
    void *told_nodes, *told_edges; /* lists that cuStreamGetCaptureInfo gave out; NULL */
};

typedef struct gd_event {
    gd_object object;
    unsigned flags;
    gd_task *task; /* NULL: never recorded outside of a capture */
    gd_port port;
    gd_capture *capture; /* recorded in one; NULL */
    gd_tips tips;
} gd_event;

/* What a NULL stream means in what this thread calls next. */
void gd_stream_null_is_per_thread(bool per_thread);

/* A stream handle, default streams of the call's context included; INVALID_HANDLE. */
gd_CUresult gd_stream_find(gd_CUstream handle, gd_stream **stream);

/* Hands in work, which is taken over in any case: into the stream's capture as a node, or into the
 * queue. *task, which may be NULL, is then borrowed from the stream; NULL in a capture. Makes the
 * default streams of a context when they are needed. */
gd_CUresult gd_stream_submit(gd_stream *stream, gd_work *work, gd_task **task);

/* Runs until all that the stream was given is over; the context's fault if there is one. */
gd_CUresult gd_stream_wait(gd_stream *stream);

/* Makes a task, of which it keeps a reference, what the stream's next one waits for. */
void gd_stream_set_last(gd_stream *stream, gd_task *task);

/* A port of a task, which may be NULL, that the stream's next one waits for. */
gd_CUresult gd_stream_add_wait(gd_stream *stream, gd_task *task, gd_port port);

/* The stream that NULL means in a green context; NULL when memory runs out. */
gd_stream *gd_stream_standard(struct gd_green *green);

/* The part of the device that its kernels run on. */
gd_part gd_stream_part(const gd_stream *stream);

void gd_stream_destroy(gd_stream *stream);
gd_stream *gd_stream_create(gd_context *context, unsigned flags, int priority);
void gd_event_destroy(gd_event *event);

/* Makes an event stand for all that a stream was given. */
gd_CUresult gd_event_record(gd_event *event, gd_stream *stream);

/* Makes an event stand for a port of a task. */
void gd_event_set(gd_event *event, gd_task *task, gd_port port);

/* capture.c */
void gd_capture_release(gd_capture *capture);
bool gd_capture_is_active(const gd_stream *stream);
void gd_capture_invalidate(gd_capture *capture);

/* Adds work, which is taken over, as a node behind the stream's tips. */
gd_CUresult gd_capture_add(gd_stream *stream, gd_work *work, gd_node **node);

/* A call that captures forbid: those of mode global, and those of this thread that are not
 * relaxed. */
gd_CUresult gd_capture_check_unsafe(void);

/* A call that waits for a stream or launches a graph into it, or uses the legacy stream. */
gd_CUresult gd_capture_check_waiting(gd_stream *stream);

/* cuStreamWaitEvent and cuEventRecord where a capture is concerned; *done is false where none
 * is. */
gd_CUresult gd_capture_wait(gd_stream *stream, gd_event *event, bool *done);
gd_CUresult gd_capture_record(gd_stream *stream, gd_event *event);
bool gd_tips_copy(gd_tips *target, const gd_tips *source);

/* A stream that ends takes itself out of its capture. */
void gd_capture_leave(gd_stream *stream);

#endif
