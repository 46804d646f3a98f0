/* Programs that do everything wrong: random calls of the driver with handles of any kind, live,
 * ended or made up. The driver may refuse each of them; it may not crash, hang, or corrupt memory,
 * which the sanitizers of the second build would see. (tests/fuzz/execute.c does the same with
 * PTX.) */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/api.h"
#include "griddep.h"
#include "suite.h"

enum { HANDLES = 64, ADDRESSES = 32, CALLS = 3000, SEEDS = 12 };

/* ---- random numbers: xorshift64* (Vigna 2016) ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % below;
}

/* ---- what the calls are made with ---- */

static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry add(.param .u64 in, .param .u64 out)\n{\n .reg .b64 %a, %b;\n .reg .b32 %v;\n"
    " ld.param.u64 %a, [in];\n ld.param.u64 %b, [out];\n griddepcontrol.launch_dependents;\n "
    "griddepcontrol.wait;\n"
    " ld.global.u32 %v, [%a];\n add.u32 %v, %v, 1;\n st.global.u32 [%b], %v;\n ret;\n}\n"
    ".visible .entry spin(.param .u64 in, .param .u64 out)\n{\nagain: bra again;\n}\n";

static void *handles[HANDLES]; /* of all kinds, mixed */
static uint64_t addresses[ADDRESSES];
static gd_CUfunction add;

static void *any(void)
{
    uint32_t chance = draw(20);

    return chance == 0   ? NULL
           : chance == 1 ? (void *)(uintptr_t)(draw(4))
           : chance == 2 ? (void *)(uintptr_t)(0x1000 + draw(4096))
                         : handles[draw(HANDLES)];
}

static void keep(void *handle)
{
    handles[draw(HANDLES)] = handle;
}

static uint64_t any_address(void)
{
    uint32_t chance = draw(20);

    return chance == 0   ? 0
           : chance == 1 ? draw(4096)
                         : addresses[draw(ADDRESSES)] + (chance == 2 ? draw(1 << 20) : 0);
}

static size_t any_size(void)
{
    static const size_t sizes[] = {
        0, 1, 4, 256, 4096, 65536, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40};

    return sizes[draw(sizeof sizes / sizeof *sizes)];
}

static void host_function(void *user)
{
    size_t bytes;

    (void)user;
    ck_assert_int_ne(cuMemGetInfo_v2(&bytes, &bytes), GD_CUDA_SUCCESS); /* no calls from here */
}

static uint32_t good;

static bool note(gd_CUresult result)
{
    good += result == GD_CUDA_SUCCESS;
    return result == GD_CUDA_SUCCESS;
}

/* ---- calls, by area ---- */

static void call_memory(void)
{
    static unsigned char host[65536];
    size_t bytes = any_size(), few = bytes > sizeof host ? sizeof host : bytes;
    uint64_t made = 0;

    switch (draw(8)) {
    case 0:
        if (note(cuMemAlloc_v2(&made, bytes)))
            addresses[draw(ADDRESSES)] = made;
        break;
    case 1:
        note(cuMemFree_v2(any_address()));
        break;
    case 2:
        note(cuMemcpyHtoD_v2(any_address(), host, few));
        break;
    case 3:
        note(cuMemcpyDtoH_v2(host, any_address(), few));
        break;
    case 4:
        note(cuMemcpyDtoDAsync_v2(any_address(), any_address(), bytes, any()));
        break;
    case 5:
        note(cuMemsetD8Async(any_address(), 3, bytes, any()));
        break;
    case 6:
        if (note(cuMemAllocAsync(&made, bytes, any())))
            addresses[draw(ADDRESSES)] = made;
        break;
    default:
        note(cuMemFreeAsync(any_address(), any()));
        break;
    }
}

static void call_stream(void)
{
    void *made = NULL;
    float time;

    switch (draw(12)) {
    case 0:
        if (note(cuStreamCreate(&made, draw(3))))
            keep(made);
        break;
    case 1:
        note(cuStreamDestroy_v2(any()));
        break;
    case 2:
        note(cuStreamSynchronize(any()));
        break;
    case 3:
        note(cuStreamQuery(any()));
        break;
    case 4:
        if (note(cuEventCreate(&made, draw(8))))
            keep(made);
        break;
    case 5:
        note(cuEventDestroy_v2(any()));
        break;
    case 6:
        note(cuEventRecord(any(), any()));
        break;
    case 7:
        note(cuStreamWaitEvent(any(), any(), draw(3)));
        break;
    case 8:
        note(cuEventElapsedTime(&time, any(), any()));
        break;
    case 9:
        note(cuEventQuery(any()));
        break;
    case 10:
        note(cuLaunchHostFunc(any(), host_function, NULL));
        break;
    default:
        note(cuEventSynchronize(any()));
        break;
    }
}

static void call_launch(void)
{
    uint64_t in = any_address(), out = any_address();
    void *parameters[] = {&in, &out};
    gd_CUlaunchAttribute attributes[2] = {
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         .value.programmaticStreamSerializationAllowed = (int)draw(3)},
        {.id = (gd_CUlaunchAttributeID)draw(20)}};
    gd_CUlaunchConfig config = {.gridDimX = draw(4),
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = draw(100),
                                .blockDimY = 1,
                                .blockDimZ = 1,
                                .sharedMemBytes = draw(10) ? 0 : (unsigned)any_size(),
                                .hStream = any(),
                                .attrs = attributes,
                                .numAttrs = draw(3)};

    memset(&attributes[1].value, (int)draw(256), sizeof attributes[1].value);
    note(cuLaunchKernelEx(&config, draw(8) ? add : any(), parameters, NULL));
}

static void call_capture(void)
{
    void *graph = NULL;
    gd_CUstreamCaptureStatus status;

    switch (draw(4)) {
    case 0:
        note(cuStreamBeginCapture_v2(any(), (gd_CUstreamCaptureMode)draw(4)));
        break;
    case 1:
    case 2:
        if (note(cuStreamEndCapture(any(), &graph)) && graph)
            keep(graph);
        break;
    default:
        note(cuStreamIsCapturing(any(), &status));
        break;
    }
}

static void call_graph(void)
{
    void *made = NULL, *from = any(), *to = any();
    size_t count = draw(5);
    void *list[4];
    gd_CUgraphEdgeData edge = {.from_port = (uint8_t)draw(4), .type = (uint8_t)draw(3)};
    gd_CUgraphNodeType type;

    switch (draw(14)) {
    case 0:
        if (note(cuGraphCreate(&made, draw(10) == 0)))
            keep(made);
        break;
    case 1:
        note(cuGraphDestroy(any()));
        break;
    case 2:
        if (note(cuGraphClone(&made, any())))
            keep(made);
        break;
    case 3:
        if (note(cuGraphAddEmptyNode(&made, any(), &from, draw(2))))
            keep(made);
        break;
    case 4:
        if (note(cuGraphAddChildGraphNode(&made, any(), &from, draw(2), any())))
            keep(made);
        break;
    case 5:
        if (note(cuGraphAddEventRecordNode(&made, any(), &from, draw(2), any())))
            keep(made);
        break;
    case 6:
        note(cuGraphAddDependencies_v2(any(), &from, &to, &edge, draw(2)));
        break;
    case 7:
        note(cuGraphRemoveDependencies_v2(any(), &from, &to, &edge, draw(2)));
        break;
    case 8:
        note(cuGraphDestroyNode(any()));
        break;
    case 9:
        count = count > 4 ? 4 : count;
        note(cuGraphGetNodes(any(), list, &count));
        break;
    case 10:
        note(cuGraphNodeGetType(any(), &type));
        break;
    case 11:
        if (note(cuGraphInstantiateWithFlags(&made, any(), 0)))
            keep(made);
        break;
    case 12:
        note(cuGraphLaunch(any(), any()));
        break;
    default:
        note(cuGraphExecDestroy(any()));
        break;
    }
}

static void call_module(void)
{
    void *made = NULL;
    uint64_t address;
    size_t bytes;

    switch (draw(7)) {
    case 0:
        if (note(cuModuleLoadData(&made, kernels)))
            keep(made);
        break;
    case 1:
        note(cuModuleUnload(any()));
        break;
    case 2:
        if (note(cuModuleGetFunction(&made, any(), "add")))
            keep(made);
        break;
    case 3:
        note(cuModuleGetGlobal_v2(&address, &bytes, any(), "counter"));
        break;
    case 4:
        if (note(cuLibraryLoadData(&made, kernels, NULL, NULL, 0, NULL, NULL, 0)))
            keep(made);
        break;
    case 5:
        if (note(cuLibraryGetKernel(&made, any(), "add")))
            keep(made);
        break;
    default:
        note(cuLibraryUnload(any()));
        break;
    }
}

static void call_context(void)
{
    void *made = NULL;

    switch (draw(6)) {
    case 0:
        if (note(cuCtxCreate_v2(&made, 0, 0))) {
            keep(made);
            cuCtxPopCurrent_v2(&made);
        }
        break;
    case 1:
        note(cuCtxSynchronize());
        break;
    case 2:
        note(cuCtxDestroy_v2(any()));
        break;
    case 3:
        note(cuCtxSetCurrent(any()));
        break;
    default:
        note(cuDevicePrimaryCtxRetain(&made, 0));
        note(cuCtxSetCurrent(made));
        break;
    }
}

/* Work with a context, a module and a function again, whatever has become of them. */
static void begin(void)
{
    void *context = NULL, *module = NULL;

    cuDevicePrimaryCtxReset_v2(0);
    ck_assert_int_eq(cuDevicePrimaryCtxRetain(&context, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(cuCtxSetCurrent(context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(cuModuleLoadData(&module, kernels), GD_CUDA_SUCCESS);
    ck_assert_int_eq(cuModuleGetFunction(&add, module, "add"), GD_CUDA_SUCCESS);
}

TEST_GROUP(calls, NULL, NULL);

LOOP_TEST(calls, calls, SEEDS)
{
    static void (*const areas[])(void) = {call_memory, call_memory,  call_stream, call_stream,
                                          call_launch, call_capture, call_graph,  call_graph,
                                          call_graph,  call_module};

    state = (uint64_t)_i + 1;
    setenv("GRIDDEP_EMULATOR_STEPS", "20000", 1);
    setenv("GRIDDEP_EMULATOR_CHECK", _i % 2 ? "all" : "off", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", "/dev/null", 1);
    ck_assert_int_eq(cuInit(0), GD_CUDA_SUCCESS);
    for (int i = 0; i < CALLS; i++) {
        if (i % 250 == 0)
            begin();
        if (draw(60) == 0)
            call_context();
        else
            areas[draw(sizeof areas / sizeof *areas)]();
    }
    begin();
    ck_assert_int_eq(cuCtxSynchronize(), GD_CUDA_SUCCESS);
    ck_assert_uint_gt(good, CALLS / 10); /* else nothing would be tried */
}

MAIN_OF_SUITE("hostile")
