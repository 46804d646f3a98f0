/* Streams, events and host functions. */
#include <semaphore.h>

#include "conformance.h"

TEST_GROUP(stream, setup_context, teardown_context);

TEST(stream, streams)
{
    gd_CUstream made = NULL;
    gd_CUcontext owner = NULL;
    void *green = &owner;
    unsigned flags = 99;
    int priority = 99, least = 0, greatest = 0;
    unsigned long long id = 0, other = 0;
    gd_CUdevice of = -1;

    good(cuStreamCreate, (&made, GD_CU_STREAM_DEFAULT));
    good(cuStreamGetFlags, (made, &flags));
    expect(flags == GD_CU_STREAM_DEFAULT);
    good(cuStreamGetFlags, (stream, &flags));
    expect(flags == GD_CU_STREAM_NON_BLOCKING);
    good(cuStreamGetPriority, (made, &priority));
    expect(priority == 0);
    good(cuStreamGetId, (made, &id));
    good(cuStreamGetId, (stream, &other));
    expect(id != other);
    good(cuStreamGetCtx, (made, &owner));
    expect(owner == context);
    owner = NULL;
    good(cuStreamGetCtx_v2, (made, &owner, &green));
    expect(owner == context && green == NULL);
    good(cuStreamGetDevice, (made, &of));
    expect(of == device);
    good(cuStreamQuery, (made));
    good(cuStreamSynchronize, (made));
    good(cuStreamDestroy_v2, (made));
    good(cuCtxGetStreamPriorityRange, (&least, &greatest));
    good(cuStreamCreateWithPriority, (&made, GD_CU_STREAM_NON_BLOCKING, greatest));
    good(cuStreamGetPriority, (made, &priority));
    expect(priority == greatest);
    good(cuStreamDestroy_v2, (made));
    good(cuStreamCreateWithPriority, (&made, 0, greatest - 100));
    good(cuStreamGetPriority, (made, &priority));
    expect(priority == greatest);
    good(cuStreamDestroy_v2, (made));
}

TEST(stream, default_streams)
{
    unsigned flags = 99;
    gd_CUcontext owner = NULL;

    good(cuStreamQuery, (NULL));
    good(cuStreamSynchronize, (NULL));
    good(cuStreamSynchronize, (GD_CU_STREAM_LEGACY));
    good(cuStreamSynchronize, (GD_CU_STREAM_PER_THREAD));
    good(cuStreamGetFlags, (NULL, &flags));
    expect(flags == 0);
    good(cuStreamGetCtx, (NULL, &owner));
    expect(owner == context);
}

/* What cuGetProcAddress gives for the per-thread default stream takes NULL for that one. */
TEST(stream, per_thread_default_stream)
{
    call_cuStreamGetId *get_id = NULL;
    call_cuInit *init = NULL, *plain = NULL;
    void *found = NULL;
    unsigned long long null = 0, legacy = 0, per_thread = 0;

    good(cuGetProcAddress_v2,
         ("cuStreamGetId", &found, 12000, GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    memcpy(&get_id, &found, sizeof found);
    good(cuStreamGetId, (GD_CU_STREAM_LEGACY, &legacy));
    good(cuStreamGetId, (GD_CU_STREAM_PER_THREAD, &per_thread));
    expect(legacy != per_thread);
    expect(get_id && get_id(NULL, &null) == GD_CUDA_SUCCESS && null == per_thread);
    expect(get_id && get_id(GD_CU_STREAM_LEGACY, &null) == GD_CUDA_SUCCESS && null == legacy);
    good(cuStreamGetId, (NULL, &null));
    expect(null == legacy);
    good(cuGetProcAddress_v2,
         ("cuInit", &found, 12000, GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    memcpy(&init, &found, sizeof found);
    good(cuGetProcAddress_v2, ("cuInit", &found, 12000, 0, NULL));
    memcpy(&plain, &found, sizeof found);
    expect(init && init == plain);
}

TEST(stream, profiler)
{
    good(cuProfilerStart, ());
    good(cuProfilerStop, ());
    good(cuCtxSetCurrent, (NULL));
    bad(ERROR_INVALID_CONTEXT, cuProfilerStart, ());
    bad(ERROR_INVALID_CONTEXT, cuProfilerStop, ());
    good(cuCtxSetCurrent, (context));
}

TEST(stream, stream_errors)
{
    gd_CUstream made = NULL;

    bad(ERROR_INVALID_VALUE, cuStreamCreate, (NULL, 0));
    bad(ERROR_INVALID_VALUE, cuStreamCreate, (&made, 0x100));
    bad(ERROR_INVALID_VALUE, cuStreamCreateWithPriority, (NULL, 0, 0));
    bad(ERROR_INVALID_VALUE, cuStreamCreateWithPriority, (&made, 0x100, 0));
    bad(ERROR_INVALID_VALUE, cuStreamGetFlags, (stream, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamGetPriority, (stream, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamGetId, (stream, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamGetCtx, (stream, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamGetCtx_v2, (stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuStreamGetDevice, (stream, NULL));
    bad(ERROR_INVALID_HANDLE, cuStreamDestroy_v2, (NULL));
    bad(ERROR_INVALID_HANDLE, cuStreamDestroy_v2, (GD_CU_STREAM_LEGACY));
    bad(ERROR_INVALID_HANDLE, cuStreamWaitEvent, (stream, NULL, 0));
}

TEST(stream, destroyed_streams_are_refused)
{
    gd_CUstream made = NULL;
    unsigned flags = 0;

    if (DIFFERS(FREED_HANDLE))
        return;
    good(cuStreamCreate, (&made, 0));
    good(cuStreamDestroy_v2, (made));
    bad(ERROR_INVALID_HANDLE, cuStreamDestroy_v2, (made));
    bad(ERROR_INVALID_HANDLE, cuStreamSynchronize, (made));
    bad(ERROR_INVALID_HANDLE, cuStreamQuery, (made));
    bad(ERROR_INVALID_HANDLE, cuStreamGetFlags, (made, &flags));
}

/* ---- events ---- */

TEST(stream, events)
{
    gd_CUevent first = NULL, second = NULL, untimed = NULL;
    float time = -1;
    gd_CUdeviceptr a = allocate(1 << 16);

    good(cuEventCreate, (&first, GD_CU_EVENT_DEFAULT));
    good(cuEventCreate, (&second, GD_CU_EVENT_BLOCKING_SYNC));
    good(cuEventCreate, (&untimed, GD_CU_EVENT_DISABLE_TIMING));
    good(cuEventQuery, (first));
    good(cuEventSynchronize, (first));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime, (&time, first, second));
    good(cuEventRecord, (first, stream));
    good(cuMemsetD8Async, (a, 1, 1 << 16, stream));
    good(cuEventRecordWithFlags, (second, stream, GD_CU_EVENT_RECORD_DEFAULT));
    good(cuEventRecord, (untimed, stream));
    good(cuEventSynchronize, (second));
    good(cuEventQuery, (first));
    good(cuEventElapsedTime, (&time, first, second));
    expect(time >= 0);
    time = -1;
    good(cuEventElapsedTime_v2, (&time, first, second));
    expect(time >= 0);
    good(cuEventSynchronize, (untimed));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime, (&time, first, untimed));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime_v2, (&time, first, untimed));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime, (NULL, first, second));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime_v2, (NULL, first, second));
    bad(ERROR_ILLEGAL_STATE, cuEventRecordWithFlags, (first, stream, GD_CU_EVENT_RECORD_EXTERNAL));
    bad(ERROR_INVALID_VALUE, cuEventRecordWithFlags, (first, stream, 100));
    good(cuEventDestroy_v2, (first));
    good(cuEventDestroy_v2, (second));
    good(cuEventDestroy_v2, (untimed));
    bad(ERROR_INVALID_VALUE, cuEventCreate, (NULL, 0));
    bad(ERROR_INVALID_VALUE, cuEventCreate, (&first, 0x100));
    bad(ERROR_INVALID_VALUE, cuEventCreate, (&first, GD_CU_EVENT_INTERPROCESS));
    release(a);
}

TEST(stream, null_events)
{
    float time = 0;

    bad(ERROR_INVALID_HANDLE, cuEventDestroy_v2, (NULL));
    bad(ERROR_INVALID_HANDLE, cuEventRecord, (NULL, stream));
    bad(ERROR_INVALID_HANDLE, cuEventRecordWithFlags, (NULL, stream, 0));
    bad(ERROR_INVALID_HANDLE, cuEventSynchronize, (NULL));
    bad(ERROR_INVALID_HANDLE, cuEventQuery, (NULL));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime, (&time, NULL, NULL));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime_v2, (&time, NULL, NULL));
}

TEST(stream, destroyed_events_are_refused)
{
    gd_CUevent event = NULL;

    if (DIFFERS(FREED_HANDLE))
        return;
    good(cuEventCreate, (&event, 0));
    good(cuEventDestroy_v2, (event));
    bad(ERROR_INVALID_HANDLE, cuEventDestroy_v2, (event));
    bad(ERROR_INVALID_HANDLE, cuEventRecord, (event, stream));
    bad(ERROR_INVALID_HANDLE, cuEventQuery, (event));
}

/* Work behind a wait sees what came before the event, in another stream. */
TEST(stream, streams_wait_for_events)
{
    gd_CUstream other = NULL;
    gd_CUevent event = NULL;
    gd_CUdeviceptr a = allocate(1 << 20), b = allocate(4);
    uint32_t word = 0;

    good(cuStreamCreate, (&other, GD_CU_STREAM_NON_BLOCKING));
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuCtxSynchronize, ());
    good(cuMemsetD32Async, (a, 41, 1 << 18, stream));
    good(cuEventRecord, (event, stream));
    good(cuStreamWaitEvent, (other, event, 0));
    good(cuMemcpyDtoDAsync_v2, (b, a + (1 << 20) - 4, 4, other));
    good(cuStreamSynchronize, (other));
    read_back(&word, b, 4);
    expect(word == 41);
    bad(ERROR_INVALID_VALUE, cuStreamWaitEvent, (other, event, 100));
    good(cuStreamDestroy_v2, (other));
    good(cuEventDestroy_v2, (event));
    release(a);
    release(b);
}

/* ---- host functions ---- */

static volatile int host_steps;
static volatile gd_CUresult host_result, host_status;

static void count_step(void *user)
{
    gd_CUdeviceptr address = 0;

    host_steps += *(int *)user;
    host_result = raw(cuMemAlloc_v2, (&address, 4));
}

static void note_status(gd_CUstream where, gd_CUresult status, void *user)
{
    host_status = where == stream ? status : GD_CUDA_ERROR_UNKNOWN;
    host_steps += *(int *)user;
}

TEST(stream, host_functions)
{
    int step = 3;

    raw(cuMemAlloc_v2, (NULL, 0)); /* so that the function finds it resolved */
    good(cuLaunchHostFunc, (stream, count_step, &step));
    good(cuStreamSynchronize, (stream));
    expect(host_steps == 3);
    expect(host_result == GD_CUDA_ERROR_NOT_PERMITTED);
    host_status = GD_CUDA_ERROR_UNKNOWN;
    good(cuStreamAddCallback, (stream, note_status, &step, 0));
    good(cuStreamSynchronize, (stream));
    expect(host_steps == 6 && host_status == GD_CUDA_SUCCESS);
    bad(ERROR_INVALID_VALUE, cuLaunchHostFunc, (stream, NULL, &step));
    bad(ERROR_INVALID_VALUE, cuStreamAddCallback, (stream, NULL, &step, 0));
    bad(ERROR_INVALID_VALUE, cuStreamAddCallback, (stream, note_status, &step, 1));
}

/* A host function holds up the stream, and not the driver; queries say so. */
static sem_t may_go_on;

static void hold_up(void *user)
{
    (void)user;
    sem_wait(&may_go_on);
}

TEST(stream, queries_tell_of_work)
{
    gd_CUevent event = NULL;

    sem_init(&may_go_on, 0, 0);
    good(cuEventCreate, (&event, 0));
    good(cuLaunchHostFunc, (stream, hold_up, NULL));
    good(cuEventRecord, (event, stream));
    bad(ERROR_NOT_READY, cuStreamQuery, (stream));
    bad(ERROR_NOT_READY, cuEventQuery, (event));
    sem_post(&may_go_on);
    good(cuEventSynchronize, (event));
    good(cuStreamQuery, (stream));
    good(cuEventDestroy_v2, (event));
}

/* A program that waits in a way of its own is called too. */
static void post(void *user)
{
    sem_post(user);
}

TEST(stream, host_functions_run_unasked)
{
    sem_t called;

    sem_init(&called, 0, 0);
    good(cuLaunchHostFunc, (stream, post, &called));
    sem_wait(&called);
    good(cuStreamSynchronize, (stream));
    sem_destroy(&called);
}

SUITE(stream, "stream")
