/* Parts of a device's multiprocessors, and green contexts on them. */
#include "conformance.h"

/* Which multiprocessor each CTA ran on, and how many the device has. */
static const char where[] = PTX_HEAD ".visible .entry where(.param .u64 out) {\n"
                                     "    .reg .u64 %a, %b;\n"
                                     "    .reg .u32 %r, %s;\n"
                                     "    ld.param.u64 %a, [out];\n"
                                     "    mov.u32 %r, %ctaid.x;\n"
                                     "    mul.wide.u32 %b, %r, 4;\n"
                                     "    add.u64 %b, %b, %a;\n"
                                     "    mov.u32 %s, %smid;\n"
                                     "    st.global.u32 [%b+4], %s;\n"
                                     "    mov.u32 %s, %nsmid;\n"
                                     "    st.global.u32 [%a], %s;\n"
                                     "    ret;\n}\n";

enum { CTAS = 1024, WORDS = CTAS + 1, MOST = 1024 };

static gd_CUdevResource whole;
static gd_CUgreenCtx green;
static gd_CUcontext part;

/* A green context of the smallest part that the device is split into. */
static void setup_green(void)
{
    gd_CUdevResource first;
    gd_CUdevResourceDesc descriptor = NULL;
    unsigned count = 1;

    setup_context();
    memset(&first, 0, sizeof first);
    memset(&whole, 0, sizeof whole);
    good(cuDeviceGetDevResource, (device, &whole, GD_CU_DEV_RESOURCE_TYPE_SM));
    good(cuDevSmResourceSplitByCount, (&first, &count, &whole, NULL, 0, 1));
    good(cuDevResourceGenerateDesc, (&descriptor, &first, 1));
    good(cuGreenCtxCreate, (&green, descriptor, device, GD_CU_GREEN_CTX_DEFAULT_STREAM));
    good(cuCtxFromGreenCtx, (&part, green));
}

static void teardown_green(void)
{
    good(cuGreenCtxDestroy, (green));
    teardown_context();
}

TEST_GROUP(parts, setup_green, teardown_green);

TEST(parts, a_device_is_split)
{
    gd_CUdevResource parts[4], rest;
    unsigned count = 0, all = 0;

    memset(parts, 0, sizeof parts);
    memset(&rest, 0, sizeof rest);
    expect(whole.type == GD_CU_DEV_RESOURCE_TYPE_SM);
    expect(whole.sm.smCount ==
           (unsigned)device_attribute(GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    good(cuDevSmResourceSplitByCount, (NULL, &count, &whole, NULL, 0, 1));
    expect(count >= 1 && count * whole.sm.minSmPartitionSize <= whole.sm.smCount);
    good(cuDevSmResourceSplitByCount, (NULL, &count, &whole, NULL, 0, 0));
    count = 2;
    good(cuDevSmResourceSplitByCount, (parts, &count, &whole, &rest, 0, 1));
    expect(count == 2);
    expect(parts[0].sm.smCount == whole.sm.minSmPartitionSize);
    expect(parts[1].sm.smCount == parts[0].sm.smCount);
    all = parts[0].sm.smCount + parts[1].sm.smCount + rest.sm.smCount;
    expect(all == whole.sm.smCount);
    count = 1;
    good(cuDevSmResourceSplitByCount,
         (parts, &count, &whole, &rest, 0, whole.sm.minSmPartitionSize + 1));
    expect(parts[0].sm.smCount == whole.sm.minSmPartitionSize + whole.sm.smCoscheduledAlignment);
    count = 4;
    good(cuDevSmResourceSplitByCount, (parts, &count, &whole, &rest, 0, whole.sm.smCount));
    expect(count == 1 && parts[0].sm.smCount == whole.sm.smCount && rest.type == 0);
    good(cuDevSmResourceSplitByCount, (parts, &count, &whole, &rest, 1, 2)); /* any size */
    expect(parts[0].sm.smCount <= whole.sm.minSmPartitionSize + 1);
}

TEST(parts, splits_are_refused)
{
    gd_CUdevResource parts[2], rest, none = {0};
    gd_CUdevResourceDesc descriptor = NULL;
    unsigned count = 1;

    memset(parts, 0, sizeof parts);
    bad(ERROR_INVALID_VALUE, cuDeviceGetDevResource, (device, NULL, GD_CU_DEV_RESOURCE_TYPE_SM));
    bad(ERROR_INVALID_RESOURCE_TYPE, cuDeviceGetDevResource, (device, &rest, 0));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetDevResource, (1000, &rest, GD_CU_DEV_RESOURCE_TYPE_SM));
    bad(ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount, (parts, &count, NULL, NULL, 0, 1));
    bad(ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount, (parts, NULL, &whole, NULL, 0, 1));
    bad(ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount, (parts, &count, &whole, NULL, 3, 1));
    bad(ERROR_INVALID_RESOURCE_TYPE, cuDevSmResourceSplitByCount,
        (parts, &count, &none, NULL, 0, 1));
    bad(ERROR_INVALID_RESOURCE_CONFIGURATION, cuDevSmResourceSplitByCount,
        (parts, &count, &whole, NULL, 0, whole.sm.smCount + 1));
    count = 0;
    bad(ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount, (parts, &count, &whole, NULL, 0, 1));
    count = 1;
    good(cuDevSmResourceSplitByCount, (parts, &count, &whole, &rest, 0, 1));
    bad(ERROR_INVALID_RESOURCE_CONFIGURATION, cuDevSmResourceSplitByCount,
        (parts + 1, &count, parts, NULL, 0, 1)); /* of a part that has no context */
    bad(ERROR_INVALID_RESOURCE_CONFIGURATION, cuDevSmResourceSplitByCount,
        (parts + 1, &count, &rest, NULL, 0, 1));
    bad(ERROR_INVALID_VALUE, cuDevResourceGenerateDesc, (NULL, parts, 1));
    bad(ERROR_INVALID_VALUE, cuDevResourceGenerateDesc, (&descriptor, NULL, 1));
    bad(ERROR_INVALID_RESOURCE_TYPE, cuDevResourceGenerateDesc, (&descriptor, &none, 1));
    if (on_emulator) /* NVIDIA's driver crashes */
        bad(ERROR_INVALID_VALUE, cuDevResourceGenerateDesc, (&descriptor, parts, 0));
}

TEST(parts, green_contexts)
{
    gd_CUdevResource resource;
    gd_CUgreenCtx other = NULL;
    gd_CUcontext now = NULL, again = NULL;
    gd_CUdevice of = -1;
    unsigned long long id = 0, same = 0, primary = 0;

    good(cuCtxFromGreenCtx, (&again, green));
    expect(again == part && part != context);
    memset(&resource, 0, sizeof resource);
    good(cuCtxGetDevResource, (part, &resource, GD_CU_DEV_RESOURCE_TYPE_SM));
    expect(resource.sm.smCount == whole.sm.minSmPartitionSize);
    good(cuGreenCtxGetDevResource, (green, &resource, GD_CU_DEV_RESOURCE_TYPE_SM));
    expect(resource.sm.smCount == whole.sm.minSmPartitionSize);
    good(cuCtxGetDevResource, (context, &resource, GD_CU_DEV_RESOURCE_TYPE_SM));
    expect(resource.sm.smCount == whole.sm.smCount);
    good(cuGreenCtxGetId, (green, &id));
    good(cuCtxGetId, (part, &same));
    good(cuCtxGetId, (context, &primary));
    expect(id == same && id != primary);
    good(cuCtxPushCurrent_v2, (part));
    good(cuCtxGetCurrent, (&now));
    expect(now == part);
    good(cuCtxGetDevice, (&of));
    expect(of == device);
    good(cuCtxSynchronize, ());
    good(cuCtxPopCurrent_v2, (&now));
    expect(now == part);
    good(cuCtxSetCurrent, (part));
    good(cuCtxSetCurrent, (context));
    good(cuGreenCtxCreate, (&other, NULL, device, 1)); /* of the whole device */
    good(cuGreenCtxGetDevResource, (other, &resource, GD_CU_DEV_RESOURCE_TYPE_SM));
    expect(resource.sm.smCount == whole.sm.smCount);
    good(cuGreenCtxDestroy, (other));
    bad(ERROR_INVALID_VALUE, cuGreenCtxCreate, (&other, NULL, device, 0));
    bad(ERROR_INVALID_VALUE, cuGreenCtxCreate, (&other, NULL, device, 2));
    bad(ERROR_INVALID_VALUE, cuGreenCtxCreate, (NULL, NULL, device, 1));
    bad(ERROR_INVALID_DEVICE, cuGreenCtxCreate, (&other, NULL, 1000, 1));
    bad(ERROR_INVALID_VALUE, cuCtxFromGreenCtx, (NULL, green));
    bad(ERROR_INVALID_CONTEXT, cuCtxFromGreenCtx, (&again, NULL));
    bad(ERROR_INVALID_CONTEXT, cuGreenCtxGetDevResource, (NULL, &resource, 1));
    bad(ERROR_INVALID_VALUE, cuGreenCtxGetDevResource, (green, NULL, 1));
    bad(ERROR_INVALID_RESOURCE_TYPE, cuGreenCtxGetDevResource, (green, &resource, 0));
    bad(ERROR_INVALID_VALUE, cuGreenCtxGetId, (green, NULL));
    bad(ERROR_INVALID_CONTEXT, cuGreenCtxGetId, (NULL, &id));
    bad(ERROR_INVALID_CONTEXT, cuGreenCtxDestroy, (NULL));
    bad(ERROR_INVALID_CONTEXT, cuCtxDestroy_v2, (part));
}

TEST(parts, streams_of_green_contexts)
{
    gd_CUstream own = NULL, plain = NULL, urgent = NULL;
    gd_CUcontext owner = NULL;
    gd_CUgreenCtx of = NULL;
    unsigned flags = 0;
    int priority = 1;

    good(cuGreenCtxStreamCreate, (&own, green, GD_CU_STREAM_NON_BLOCKING, 0));
    good(cuGreenCtxStreamCreate, (&urgent, green, GD_CU_STREAM_NON_BLOCKING, -1000));
    good(cuStreamGetPriority, (urgent, &priority));
    expect(priority < 0);
    good(cuStreamGetCtx, (own, &owner));
    expect(owner == part);
    good(cuStreamGetCtx_v2, (own, &owner, &of));
    expect(owner == context && of == green);
    good(cuStreamGetGreenCtx, (own, &of));
    expect(of == green);
    good(cuStreamGetCtx_v2, (stream, &owner, &of));
    expect(owner == context && !of);
    of = green;
    good(cuStreamGetGreenCtx, (stream, &of));
    expect(!of);
    good(cuCtxPushCurrent_v2, (part));
    good(cuStreamCreate, (&plain, GD_CU_STREAM_DEFAULT)); /* none blocks */
    good(cuStreamGetFlags, (plain, &flags));
    expect(flags == GD_CU_STREAM_NON_BLOCKING);
    good(cuStreamGetGreenCtx, (plain, &of));
    expect(of == green);
    good(cuStreamGetCtx, (NULL, &owner));
    expect(owner == part);
    good(cuCtxPopCurrent_v2, (&owner));
    good(cuStreamDestroy_v2, (plain));
    good(cuStreamDestroy_v2, (urgent));
    good(cuStreamDestroy_v2, (own));
    bad(ERROR_INVALID_VALUE, cuGreenCtxStreamCreate, (&own, green, GD_CU_STREAM_DEFAULT, 0));
    bad(ERROR_INVALID_VALUE, cuGreenCtxStreamCreate, (&own, green, 3, 0));
    bad(ERROR_INVALID_VALUE, cuGreenCtxStreamCreate, (NULL, green, GD_CU_STREAM_NON_BLOCKING, 0));
    bad(ERROR_INVALID_CONTEXT, cuGreenCtxStreamCreate, (&own, NULL, GD_CU_STREAM_NON_BLOCKING, 0));
    bad(ERROR_INVALID_VALUE, cuStreamGetGreenCtx, (stream, NULL));
}

/* On how many multiprocessors the CTAs of a launch ran. */
static unsigned count_used(gd_CUfunction function, gd_CUstream in, gd_CUdeviceptr out)
{
    static unsigned words[WORDS];
    bool used[MOST] = {false};
    unsigned count = 0;
    void *arguments[] = {&out};

    good(cuLaunchKernel, (function, CTAS, 1, 1, 32, 1, 1, 0, in, arguments, NULL));
    good(cuStreamSynchronize, (in));
    read_back(words, out, sizeof words);
    expect(words[0] == whole.sm.smCount); /* %nsmid is the device's */
    for (unsigned i = 0; i < CTAS; i++) {
        unsigned at = words[i + 1];
        count += at < MOST && !used[at];
        if (at < MOST)
            used[at] = true;
    }
    return count;
}

TEST(parts, kernels_stay_in_their_part)
{
    gd_CUmodule module = load(where);
    gd_CUfunction function = function_of(module, "where");
    gd_CUdeviceptr out = allocate(WORDS * 4);
    gd_CUstream own = NULL;
    gd_CUcontext popped;
    int grid = 0, block = 0, grid_of_part = 0;

    good(cuGreenCtxStreamCreate, (&own, green, GD_CU_STREAM_NON_BLOCKING, 0));
    expect(count_used(function, own, out) == whole.sm.minSmPartitionSize);
    expect(count_used(function, stream, out) == whole.sm.smCount);
    good(cuOccupancyMaxPotentialBlockSize, (&grid, &block, function, NULL, 0, 0));
    good(cuCtxPushCurrent_v2, (part));
    expect(count_used(function, NULL, out) == whole.sm.minSmPartitionSize);
    good(cuOccupancyMaxPotentialBlockSize, (&grid_of_part, &block, function, NULL, 0, 0));
    expect((unsigned)grid_of_part * whole.sm.smCount ==
           (unsigned)grid * whole.sm.minSmPartitionSize);
    good(cuCtxPopCurrent_v2, (&popped));
    good(cuStreamDestroy_v2, (own));
    release(out);
    good(cuModuleUnload, (module));
}

TEST(parts, what_fills_a_part)
{
    gd_CUmodule module = load(where);
    gd_CUfunction function = function_of(module, "where");
    gd_CUdeviceptr out = allocate(WORDS * 4);
    void *arguments[] = {&out};
    gd_CUcontext popped;
    int blocks = 0;

    good(cuCtxPushCurrent_v2, (part));
    good(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, function, 64, 0));
    unsigned most = (unsigned)blocks * whole.sm.minSmPartitionSize;
    if (most > CTAS)
        most = CTAS;
    good(cuLaunchCooperativeKernel, (function, most, 1, 1, 64, 1, 1, 0, NULL, arguments));
    good(cuCtxSynchronize, ());
    bad(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchCooperativeKernel,
        (function, (unsigned)blocks * whole.sm.minSmPartitionSize + 1, 1, 1, 64, 1, 1, 0, NULL,
         arguments));
    good(cuCtxPopCurrent_v2, (&popped));
    release(out);
    good(cuModuleUnload, (module));
}

TEST(parts, graphs_of_green_streams)
{
    gd_CUmodule module = load(where);
    gd_CUfunction function = function_of(module, "where");
    gd_CUdeviceptr out = allocate(WORDS * 4);
    static unsigned words[WORDS];
    void *arguments[] = {&out};
    gd_CUstream own = NULL;
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    unsigned used[MOST] = {0}, count = 0;

    good(cuGreenCtxStreamCreate, (&own, green, GD_CU_STREAM_NON_BLOCKING, 0));
    good(cuStreamBeginCapture_v2, (own, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    good(cuLaunchKernel, (function, CTAS, 1, 1, 32, 1, 1, 0, own, arguments, NULL));
    good(cuStreamEndCapture, (own, &graph));
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    good(cuGraphLaunch, (executable, own));
    good(cuStreamSynchronize, (own));
    read_back(words, out, sizeof words);
    for (unsigned i = 0; i < CTAS; i++)
        count += words[i + 1] < MOST && !used[words[i + 1]]++;
    expect(count == whole.sm.minSmPartitionSize);
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));
    good(cuStreamDestroy_v2, (own));
    release(out);
    good(cuModuleUnload, (module));
}

/* An event behind all streams of a green context, and one that all of them wait for. */
TEST(parts, events_of_green_contexts)
{
    gd_CUmodule module = load(where);
    gd_CUfunction function = function_of(module, "where");
    gd_CUdeviceptr out = allocate(WORDS * 4);
    void *arguments[] = {&out};
    gd_CUstream own = NULL;
    gd_CUevent event = NULL;

    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuGreenCtxStreamCreate, (&own, green, GD_CU_STREAM_NON_BLOCKING, 0));
    good(cuLaunchKernel, (function, CTAS, 1, 1, 32, 1, 1, 0, own, arguments, NULL));
    good(cuGreenCtxRecordEvent, (green, event));
    good(cuEventSynchronize, (event));
    good(cuStreamQuery, (own));
    good(cuLaunchKernel, (function, CTAS, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    good(cuEventRecord, (event, stream));
    good(cuGreenCtxWaitEvent, (green, event));
    good(cuLaunchKernel, (function, CTAS, 1, 1, 32, 1, 1, 0, own, arguments, NULL));
    good(cuStreamSynchronize, (own));
    good(cuStreamQuery, (stream));
    bad(ERROR_INVALID_HANDLE, cuGreenCtxRecordEvent, (green, NULL));
    bad(ERROR_INVALID_HANDLE, cuGreenCtxWaitEvent, (green, NULL));
    bad(ERROR_INVALID_CONTEXT, cuGreenCtxRecordEvent, (NULL, event));
    bad(ERROR_INVALID_CONTEXT, cuGreenCtxWaitEvent, (NULL, event));
    good(cuEventDestroy_v2, (event));
    good(cuStreamDestroy_v2, (own));
    release(out);
    good(cuModuleUnload, (module));
}

SUITE(green, "green")
