/* Stream capture: what becomes of launches, copies and events, and what a capture forbids. */
#include <stdatomic.h>
#include <unistd.h>

#include "conformance.h"

static gd_CUdeviceptr a, b;

static void setup(void)
{
    setup_context();
    a = allocate(64);
    b = allocate(64);
    good(cuCtxSynchronize, ());
}

static void teardown(void)
{
    release(a);
    release(b);
    teardown_context();
}

static uint32_t word_at(gd_CUdeviceptr address)
{
    uint32_t word = 0;

    good(cuStreamSynchronize, (stream));
    read_back(&word, address, sizeof word);
    return word;
}

TEST_GROUP(capture, setup, teardown);

TEST(capture, work_is_captured)
{
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUstreamCaptureStatus status = 99;
    size_t count = 0;

    good(cuStreamIsCapturing, (stream, &status));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_NONE);
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuStreamIsCapturing, (stream, &status));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE);
    good(cuMemsetD32Async, (a, 77, 4, stream));
    good(cuMemcpyDtoDAsync_v2, (b, a, 16, stream));
    good(cuStreamEndCapture, (stream, &graph));
    good(cuStreamIsCapturing, (stream, &status));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_NONE);
    expect(word_at(b) == 0);
    good(cuGraphGetNodes, (graph, NULL, &count));
    expect(count == 2);
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    good(cuGraphDestroy, (graph));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 77);
    good(cuGraphExecDestroy, (executable));
}

TEST(capture, captures_of_the_first_version)
{
    gd_CUgraph graph = NULL;

    good(cuStreamBeginCapture, (stream));
    bad(ERROR_ILLEGAL_STATE, cuStreamBeginCapture, (stream));
    bad(ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2, (stream, 0));
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphDestroy, (graph));
}

TEST(capture, facts_of_captures)
{
    gd_CUgraph graph = NULL, seen = NULL;
    gd_CUstreamCaptureStatus status = 99;
    uint64_t id = 0, again = 0;

    good(cuStreamGetCaptureInfo, (stream, &status, &id));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_NONE);
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuStreamGetCaptureInfo, (stream, &status, &id));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE && id != 0);
    good(cuStreamGetCaptureInfo_v2, (stream, &status, &again, &seen, NULL, NULL));
    expect(again == id && seen);
    again = 0;
    good(cuStreamGetCaptureInfo_v3, (stream, &status, &again, NULL, NULL, NULL, NULL));
    expect(again == id);
    good(cuStreamEndCapture, (stream, &graph));
    expect(graph == seen);
    good(cuGraphDestroy, (graph));
    bad(ERROR_INVALID_VALUE, cuStreamGetCaptureInfo, (stream, NULL, &id));
    bad(ERROR_INVALID_VALUE, cuStreamGetCaptureInfo_v2, (stream, NULL, &id, NULL, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamGetCaptureInfo_v3,
        (stream, NULL, &id, NULL, NULL, NULL, NULL));
}

static atomic_int ended_objects;

static void end_object(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* A driver may call destructors later, on a thread of its own. */
static bool have_ended(int count)
{
    for (int i = 0; i < 1800000 && atomic_load(&ended_objects) < count; i++)
        usleep(1000);
    return atomic_load(&ended_objects) == count;
}

/* A captured graph owns references to user objects, and its clones and executables have their
 * own. */
TEST(capture, user_objects_of_captures)
{
    gd_CUgraph graph = NULL, clone = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUuserObject object = NULL;
    gd_CUstreamCaptureStatus status = 99;

    atomic_store(&ended_objects, 0);
    good(cuUserObjectCreate,
         (&object, &ended_objects, end_object, 1, GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuStreamGetCaptureInfo_v3, (stream, &status, NULL, &graph, NULL, NULL, NULL));
    good(cuGraphRetainUserObject, (graph, object, 1, GD_CU_GRAPH_USER_OBJECT_MOVE));
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphClone, (&clone, graph));
    good(cuGraphInstantiateWithFlags, (&executable, clone, 0));
    good(cuGraphDestroy, (graph));
    good(cuGraphDestroy, (clone));
    expect(atomic_load(&ended_objects) == 0);
    good(cuGraphExecDestroy, (executable));
    expect(have_ended(1));
}

/* A capture that fails has no graph, and what that owned has gone, though an event was recorded in
 * it: the capture is ended spoilt, ended before all is joined, or left by the stream that it began
 * in. */
LOOP_TEST(capture, user_objects_of_failed_captures, 3)
{
    gd_CUstream begun = NULL, other = NULL;
    gd_CUevent event = NULL;
    gd_CUgraph graph = NULL;
    gd_CUuserObject object = NULL;
    gd_CUstreamCaptureStatus status = 99;

    atomic_store(&ended_objects, 0);
    good(cuStreamCreate, (&begun, GD_CU_STREAM_NON_BLOCKING));
    good(cuStreamCreate, (&other, GD_CU_STREAM_NON_BLOCKING));
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuUserObjectCreate,
         (&object, &ended_objects, end_object, 1, GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    good(cuStreamBeginCapture_v2, (begun, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuEventRecord, (event, begun));
    good(cuStreamWaitEvent, (other, event, 0));
    good(cuMemsetD32Async, (a, 1, 1, other));
    good(cuStreamGetCaptureInfo_v3, (begun, &status, NULL, &graph, NULL, NULL, NULL));
    good(cuGraphRetainUserObject, (graph, object, 1, GD_CU_GRAPH_USER_OBJECT_MOVE));
    if (_i == 0) {
        bad(ERROR_CAPTURED_EVENT, cuEventQuery, (event));
        bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (begun, &graph));
    } else if (_i == 1) {
        bad(ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture, (begun, &graph));
    } else {
        good(cuStreamDestroy_v2, (begun));
        begun = NULL;
    }
    expect(have_ended(1));
    good(cuEventDestroy_v2, (event));
    good(cuStreamDestroy_v2, (other));
    if (begun)
        good(cuStreamDestroy_v2, (begun));
}

static void stay(void *user)
{
    while (!atomic_load((atomic_int *)user))
        usleep(1000);
}

/* What a launch that is under way may use stays, though its executable is ended, or updated. */
LOOP_TEST(capture, user_objects_of_launches, 2)
{
    gd_CUgraph graph[2] = {NULL, NULL};
    gd_CUgraphExec executable = NULL;
    gd_CUuserObject object = NULL;
    gd_CUgraphNode node = NULL;
    gd_CUgraphExecUpdateResultInfo outcome = {0};
    atomic_int go = 0;
    gd_CUDA_HOST_NODE_PARAMS host = {.fn = stay, .userData = &go};

    atomic_store(&ended_objects, 0);
    for (int i = 0; i < 2; i++) {
        good(cuGraphCreate, (&graph[i], 0));
        good(cuGraphAddHostNode, (&node, graph[i], NULL, 0, &host));
    }
    good(cuUserObjectCreate,
         (&object, &ended_objects, end_object, 1, GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    good(cuGraphRetainUserObject, (graph[0], object, 1, GD_CU_GRAPH_USER_OBJECT_MOVE));
    good(cuGraphInstantiateWithFlags, (&executable, graph[0], 0));
    good(cuGraphLaunch, (executable, stream));
    if (_i == 0)
        good(cuGraphExecUpdate_v2, (executable, graph[1], &outcome));
    else
        good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph[0]));
    good(cuGraphDestroy, (graph[1]));
    expect(atomic_load(&ended_objects) == 0);
    atomic_store(&go, 1);
    good(cuStreamSynchronize, (stream));
    expect(have_ended(1));
    if (_i == 0)
        good(cuGraphExecDestroy, (executable));
}

TEST(capture, counts_of_user_objects)
{
    gd_CUgraph graph = NULL;
    gd_CUuserObject object = NULL;

    atomic_store(&ended_objects, 0);
    bad(ERROR_INVALID_VALUE, cuUserObjectCreate, (&object, &ended_objects, end_object, 1, 0));
    bad(ERROR_INVALID_VALUE, cuUserObjectCreate,
        (&object, &ended_objects, end_object, 0, GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    good(cuUserObjectCreate,
         (&object, &ended_objects, end_object, 1, GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    good(cuUserObjectRetain, (object, 2));
    good(cuGraphCreate, (&graph, 0));
    good(cuGraphRetainUserObject, (graph, object, 2, 0));
    bad(ERROR_INVALID_VALUE, cuUserObjectRetain, (object, 0));
    bad(ERROR_INVALID_VALUE, cuUserObjectRelease, (object, 0));
    bad(ERROR_INVALID_VALUE, cuGraphRetainUserObject, (graph, object, 0, 0));
    bad(ERROR_INVALID_VALUE, cuGraphRetainUserObject, (graph, object, 1, 2));
    bad(ERROR_INVALID_VALUE, cuGraphReleaseUserObject, (graph, object, 0));
    good(cuUserObjectRelease, (object, 3));
    good(cuGraphReleaseUserObject, (graph, object, 1));
    expect(atomic_load(&ended_objects) == 0);
    good(cuGraphDestroy, (graph));
    expect(have_ended(1));
}

/* What the next captured node will depend on. */
TEST(capture, tips_of_captures)
{
    gd_CUgraph graph = NULL;
    gd_CUstreamCaptureStatus status = 99;
    const gd_CUgraphNode *tips = NULL;
    const gd_CUgraphEdgeData *data = NULL;
    size_t count = 99;

    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuStreamGetCaptureInfo_v3, (stream, &status, NULL, &graph, &tips, &data, &count));
    expect(count == 0);
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuStreamGetCaptureInfo_v3, (stream, &status, NULL, &graph, &tips, &data, &count));
    expect(count == 1 && tips && tips[0]);
    good(cuStreamGetCaptureInfo_v2, (stream, &status, NULL, &graph, &tips, &count));
    expect(count == 1 && tips && tips[0]);
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphDestroy, (graph));
}

TEST(capture, captures_into_graphs)
{
    gd_CUgraph graph = NULL, ended = NULL;
    gd_CUgraphNode first = NULL, nodes[4];
    size_t count = 4;

    good(cuGraphCreate, (&graph, 0));
    good(cuGraphAddEmptyNode, (&first, graph, NULL, 0));
    good(cuStreamBeginCaptureToGraph,
         (stream, graph, NULL, NULL, 0, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuStreamEndCapture, (stream, &ended));
    expect(ended == graph);
    good(cuStreamBeginCaptureToGraph,
         (stream, graph, &first, NULL, 1, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuStreamEndCapture, (stream, &ended));
    good(cuGraphNodeGetDependentNodes, (first, nodes, &count));
    expect(count == 1);
    good(cuGraphDestroy, (graph));
    bad(ERROR_INVALID_VALUE, cuStreamBeginCaptureToGraph, (stream, NULL, NULL, NULL, 0, 0));
}

/* Fork by an event, join by another. */
TEST(capture, captures_fork_and_join)
{
    gd_CUstream other = NULL;
    gd_CUevent fork_event = NULL, join = NULL;
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUstreamCaptureStatus status = 99;
    size_t edges = 0, roots = 0;

    good(cuStreamCreate, (&other, GD_CU_STREAM_NON_BLOCKING));
    good(cuEventCreate, (&fork_event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuEventCreate, (&join, GD_CU_EVENT_DISABLE_TIMING));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuMemsetD32Async, (a, 3, 1, stream));
    good(cuEventRecord, (fork_event, stream));
    good(cuStreamWaitEvent, (other, fork_event, 0));
    good(cuStreamIsCapturing, (other, &status));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE);
    good(cuMemcpyDtoDAsync_v2, (b, a, 4, other));
    good(cuMemsetD32Async, (a + 8, 4, 1, stream));
    good(cuEventRecord, (join, other));
    good(cuStreamWaitEvent, (stream, join, 0));
    good(cuMemcpyDtoDAsync_v2, (b + 4, a + 8, 4, stream));
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphGetEdges, (graph, NULL, NULL, &edges));
    good(cuGraphGetRootNodes, (graph, NULL, &roots));
    expect(edges == 4 && roots == 1);
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 3 && word_at(b + 4) == 4);
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));
    good(cuEventDestroy_v2, (fork_event));
    good(cuEventDestroy_v2, (join));
    good(cuStreamDestroy_v2, (other));
}

/* Ended at its origin, and at the stream that was forked off, which spoils it. */
LOOP_TEST(capture, captures_that_are_not_joined, 2)
{
    gd_CUstream other = NULL;
    gd_CUevent event = NULL;
    gd_CUgraph graph = NULL;

    good(cuStreamCreate, (&other, GD_CU_STREAM_NON_BLOCKING));
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuEventRecord, (event, stream));
    good(cuStreamWaitEvent, (other, event, 0));
    good(cuMemsetD32Async, (a, 3, 1, other));
    if (_i == 0) {
        bad(ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture, (stream, &graph));
    } else {
        bad(ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture, (other, &graph));
        bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    }
    expect(graph == NULL);
    good(cuEventDestroy_v2, (event));
    good(cuStreamDestroy_v2, (other));
}

/* Waiting inside a capture is refused, and spoils it. */
TEST(capture, captures_forbid_waiting)
{
    gd_CUgraph graph = NULL;
    gd_CUstreamCaptureStatus status = 99;

    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    bad(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize, (stream));
    good(cuStreamIsCapturing, (stream, &status));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async, (a, 1, 1, stream));
    bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    expect(graph == NULL);
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    bad(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery, (stream));
    bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
}

TEST(capture, captured_events_are_not_asked)
{
    gd_CUevent event = NULL;
    gd_CUgraph graph = NULL;

    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuEventRecord, (event, stream));
    bad(ERROR_CAPTURED_EVENT, cuEventQuery, (event));
    bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuMemsetD32Async, (a, 1, 1, stream));
    good(cuEventRecord, (event, stream));
    bad(ERROR_CAPTURED_EVENT, cuEventSynchronize, (event));
    bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    good(cuEventDestroy_v2, (event));
}

/* An allocation is unsafe under a capture of mode global; the mode of the thread can be relaxed. */
TEST(capture, unsafe_calls)
{
    gd_CUgraph graph = NULL;
    gd_CUdeviceptr made = 0;
    gd_CUstreamCaptureMode mode = GD_CU_STREAM_CAPTURE_MODE_RELAXED;

    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuThreadExchangeStreamCaptureMode, (&mode));
    expect(mode == GD_CU_STREAM_CAPTURE_MODE_GLOBAL);
    good(cuMemAlloc_v2, (&made, 64));
    good(cuThreadExchangeStreamCaptureMode, (&mode));
    expect(mode == GD_CU_STREAM_CAPTURE_MODE_RELAXED);
    gd_CUdeviceptr other = 0;
    bad(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2, (&other, 64));
    bad(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    good(cuMemFree_v2, (made));
    if (DIFFERS(UNCHECKED_ARGUMENT))
        return;
    bad(ERROR_INVALID_VALUE, cuThreadExchangeStreamCaptureMode, (NULL));
    mode = 99;
    bad(ERROR_INVALID_VALUE, cuThreadExchangeStreamCaptureMode, (&mode));
}

TEST(capture, capture_errors)
{
    gd_CUgraph graph = NULL;
    gd_CUstreamCaptureStatus status = 0;
    gd_CUstream blocking = NULL;

    bad(ERROR_ILLEGAL_STATE, cuStreamEndCapture, (stream, &graph));
    bad(ERROR_ILLEGAL_STATE, cuStreamEndCapture, (stream, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamBeginCapture_v2, (stream, 99));
    bad(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2,
        (NULL, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    bad(ERROR_INVALID_VALUE, cuStreamIsCapturing, (stream, NULL));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuStreamIsCapturing, (GD_CU_STREAM_LEGACY, &status));
    expect(status == GD_CU_STREAM_CAPTURE_STATUS_NONE);
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphDestroy, (graph));
    good(cuStreamCreate, (&blocking, GD_CU_STREAM_DEFAULT));
    good(cuStreamBeginCapture_v2, (blocking, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    bad(ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing, (GD_CU_STREAM_LEGACY, &status));
    good(cuStreamEndCapture, (blocking, &graph));
    good(cuGraphDestroy, (graph));
    good(cuStreamDestroy_v2, (blocking));
}

/* External event nodes keep their meaning outside of the capture. */
TEST(capture, external_events)
{
    gd_CUevent event = NULL;
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUgraphNode nodes[4];
    gd_CUgraphNodeType type = -1;
    size_t count = 4;

    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    good(cuMemsetD32Async, (a, 8, 1, stream));
    good(cuEventRecordWithFlags, (event, stream, GD_CU_EVENT_RECORD_EXTERNAL));
    good(cuStreamWaitEvent, (stream, event, GD_CU_EVENT_WAIT_EXTERNAL));
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphGetNodes, (graph, nodes, &count));
    expect(count == 3);
    good(cuGraphNodeGetType, (nodes[1], &type));
    expect(type == GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    good(cuGraphLaunch, (executable, stream));
    good(cuEventSynchronize, (event));
    expect(word_at(a) == 8);
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));
    good(cuEventDestroy_v2, (event));
}

SUITE(capture, "capture")
