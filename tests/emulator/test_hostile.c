/* Programs that do everything wrong: random calls of the driver with handles of any kind, live, ended or made up, PTX
 * with random damage, and PTX of valid instructions with random operands. The driver may refuse each of them; it may
 * not crash, hang, or corrupt memory, which the sanitizers of the second build would see. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/api.h"
#include "griddep.h"

enum { HANDLES = 64, ADDRESSES = 32, CALLS = 3000, DAMAGED = 150, PROGRAMS = 200, SEEDS = 12 };

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
    " ld.param.u64 %a, [in];\n ld.param.u64 %b, [out];\n griddepcontrol.launch_dependents;\n griddepcontrol.wait;\n"
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

    return chance == 0 ? 0 : chance == 1 ? draw(4096) : addresses[draw(ADDRESSES)] + (chance == 2 ? draw(1 << 20) : 0);
}

static size_t any_size(void)
{
    static const size_t sizes[] = {0, 1, 4, 256, 4096, 65536, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40};

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
    gd_CUlaunchAttribute attributes[2] = {{.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
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

START_TEST(calls)
{
    static void (*const areas[])(void) = {call_memory,  call_memory, call_stream, call_stream, call_launch,
                                          call_capture, call_graph,  call_graph,  call_graph,  call_module};

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
END_TEST

/* ---- damaged PTX ---- */

/* Puts a piece of the text over another place, or takes a piece out, or changes a letter. */
static void damage(char *text, size_t *bytes)
{
    size_t from = draw((uint32_t)*bytes), to = draw((uint32_t)*bytes), length = 1 + draw(24);

    if (from + length >= *bytes || to + length >= *bytes)
        return;
    switch (draw(3)) {
    case 0:
        memmove(text + to, text + from, length);
        break;
    case 1:
        memmove(text + from, text + from + length, *bytes - from - length);
        *bytes -= length;
        text[*bytes] = 0;
        break;
    default:
        text[from] = (char)(32 + draw(95));
        break;
    }
}

static void launch_all(gd_CUmodule module, uint64_t buffer)
{
    gd_CUfunction functions[4];
    unsigned count = 0;

    if (cuModuleGetFunctionCount(&count, module) != GD_CUDA_SUCCESS)
        return;
    count = count > 4 ? 4 : count;
    cuModuleEnumerateFunctions(functions, count, module);
    for (unsigned i = 0; i < count; i++) {
        uint64_t words[64];
        void *parameters[64];
        for (int p = 0; p < 64; p++) {
            words[p] = p < 4 ? buffer + 4096u * (unsigned)p : 64;
            parameters[p] = &words[p];
        }
        cuLaunchKernel(functions[i], 2, 1, 1, 64, 1, 1, 16384, NULL, parameters, NULL);
        cuCtxSynchronize();
    }
}

START_TEST(texts)
{
    griddep_shelf_info info = {.size = sizeof info};
    uint64_t buffer;

    state = (uint64_t)_i + 1;
    setenv("GRIDDEP_EMULATOR_STEPS", "50000", 1);
    setenv("GRIDDEP_EMULATOR_CHECK", _i % 2 ? "all" : "off", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", "/dev/null", 1);
    ck_assert_int_eq(cuInit(0), GD_CUDA_SUCCESS);
    begin();
    for (int i = 0; i < DAMAGED; i++) {
        void *module = NULL;
        if (griddep_shelf_at(draw(8), &info, NULL) != GRIDDEP_OK)
            continue;
        size_t bytes = info.bytes;
        char *text = malloc(bytes + 1);
        memcpy(text, info.text, bytes);
        text[bytes] = 0;
        for (uint32_t wounds = 1 + draw(4); wounds; wounds--)
            damage(text, &bytes);
        if (cuMemAlloc_v2(&buffer, 65536) == GD_CUDA_SUCCESS && cuModuleLoadData(&module, text) == GD_CUDA_SUCCESS)
            launch_all(module, buffer);
        free(text);
        begin(); /* a fault ends the context */
    }
}
END_TEST

/* ---- random PTX ---- */

/* R, D, P: a register of 32 bits, of 64, a predicate; I: a number; B: of a barrier; L: a label. */
static const char *const instructions[] = {
    "mov.u32 R, I",
    "mov.u32 R, I",
    "mov.u64 D, I",
    "mov.u64 D, I",
    "mov.u32 R, %tid.x",
    "mov.u32 R, %laneid",
    "mov.u32 R, %ctaid.x",
    "mov.u32 R, %cluster_ctarank",
    "mov.u32 R, s",
    "mov.u32 R, s",
    "mov.u64 D, s",
    "mov.u64 D, l",
    "mov.u64 D, g",
    "mov.u64 D, h",
    "ld.param.u64 D, [a]",
    "ld.param.u64 D, [a]",
    "ld.param.u64 D, [b]",
    "cvta.shared.u64 D, D",
    "cvta.local.u64 D, D",
    "cvta.to.shared.u64 D, D",
    "cvt.u64.u32 D, R",
    "cvt.u32.u64 R, D",
    "add.u32 R, R, R",
    "add.u32 R, R, 4",
    "add.u64 D, D, D",
    "add.u64 D, D, 8",
    "mul.lo.u32 R, R, R",
    "shl.b32 R, R, R",
    "and.b32 R, R, 124",
    "and.b32 R, R, 124",
    "div.u32 R, R, R",
    "rem.s32 R, R, R",
    "div.s64 D, D, D",
    "bfe.u32 R, R, R, R",
    "bfi.b32 R, R, R, R, R",
    "prmt.b32 R, R, R, R",
    "setp.lt.u32 P, R, R",
    "setp.eq.u32 P, R, 0",
    "ld.global.u32 R, [D]",
    "ld.global.v4.u32 {R, R, R, R}, [D]",
    "ld.volatile.global.u64 D, [D]",
    "ld.acquire.gpu.global.u32 R, [D]",
    "ld.u32 R, [D]",
    "ld.shared.u64 D, [R]",
    "ld.shared.v2.u32 {R, R}, [R]",
    "ld.local.u32 R, [D]",
    "ld.local.u32 R, [l+16]",
    "ld.const.u32 R, [D]",
    "st.global.u32 [D], R",
    "st.global.v4.u32 [D], {R, R, R, R}",
    "st.release.gpu.global.u32 [D], R",
    "st.u32 [D], R",
    "st.shared.u32 [R], R",
    "st.shared.v4.u32 [R], {R, R, R, R}",
    "st.local.u64 [D], D",
    "st.local.u32 [l+4], R",
    "atom.shared.add.u32 R, [R], R",
    "atom.global.cas.b64 D, [D], D, D",
    "atom.acq_rel.gpu.global.exch.b32 R, [D], R",
    "red.global.add.u32 [D], R",
    "red.release.cta.shared.max.u32 [R], R",
    "bar.sync B",
    "bar.sync 0",
    "bar.sync B, 32",
    "bar.arrive B, 64",
    "bar.sync R, R",
    "bar.red.popc.u32 R, B, P",
    "bar.warp.sync -1",
    "bar.warp.sync I",
    "bar.warp.sync R",
    "mbarrier.init.shared.b64 [R], R",
    "mbarrier.init.shared.b64 [m], 1",
    "mbarrier.init.shared.b64 [m], 32",
    "mbarrier.inval.shared.b64 [m]",
    "mbarrier.arrive.shared.b64 D, [R]",
    "mbarrier.arrive.shared.b64 D, [m]",
    "mbarrier.arrive_drop.shared.b64 D, [m]",
    "mbarrier.arrive.expect_tx.shared.b64 _, [m], R",
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [m], 16",
    "mbarrier.complete_tx.shared.b64 [m], 16",
    "mbarrier.test_wait.shared.b64 P, [m], D",
    "mbarrier.try_wait.parity.shared.b64 P, [m], 0",
    "mbarrier.try_wait.parity.shared.b64 P, [R], R",
    "cp.async.ca.shared.global [R], [D], 4",
    "cp.async.cg.shared.global [R], [D], 16",
    "cp.async.commit_group",
    "cp.async.wait_group 0",
    "cp.async.wait_all",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [m]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [R], [D], 16, [m]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [R], [D], R, [R]",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [R], [R], R, [R]",
    "cp.async.bulk.global.shared::cta.bulk_group [D], [R], R",
    "cp.async.bulk.global.shared::cta.bulk_group [D], [s], 32",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [D], [R], R",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group 0",
    "fence.acq_rel.gpu",
    "fence.acq_rel.cta",
    "fence.proxy.async",
    "membar.sys",
    "griddepcontrol.wait",
    "griddepcontrol.launch_dependents",
    "barrier.cluster.arrive",
    "barrier.cluster.wait",
    "barrier.cluster.arrive.relaxed",
    "mapa.shared::cluster.u32 R, R, R",
    "mapa.shared::cluster.u32 R, R, 1",
    "ld.shared::cluster.u32 R, [R]",
    "st.shared::cluster.u32 [R], R",
    "mapa.u64 D, D, R",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [R]",
    "shfl.sync.idx.b32 R, R, R, 31, -1",
    "shfl.sync.up.b32 R, R, 1, 0, R",
    "vote.sync.any.pred P, P, R",
    "vote.sync.ballot.b32 R, P, -1",
    "match.any.sync.b32 R, R, R",
    "redux.sync.add.u32 R, R, R",
    "elect.sync R|P, R",
    "activemask.b32 R",
    "nanosleep.u32 R",
    "bra L",
    "bra L",
    "exit",
    "ret",
    "trap",
    "call f, (R)",
    "call (R), h, (R)",
    "call D, (R), p",
    "isspacep.shared P, D",
    "prefetch.global.L2 [D]",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {R}, [R]",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {R, R, R, R}, {R, R}, {R}, {R, R, R, R}"};

enum { LABELS = 6, REGISTERS = 6 };

static void put_number(char *text, size_t room)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       4,
                                       16,
                                       64,
                                       1024,
                                       1032,
                                       0xffffffff,
                                       0x80000000,
                                       0x7fffffff,
                                       0x100000400,
                                       0x1ffffffff,
                                       0x200000000,
                                       0x20000fffc,
                                       0x300000000,
                                       0x700000000000,
                                       0x700000010000,
                                       0x7e0000000000,
                                       UINT64_MAX,
                                       UINT64_MAX - 3,
                                       0x8000000000000000};

    snprintf(text, room, "0x%llx", (unsigned long long)numbers[draw(sizeof numbers / sizeof *numbers)]);
}

/* An instruction with operands drawn for its letters; numbers of 32 bits are cut. */
static void put_instruction(char *text, size_t room)
{
    const char *at = instructions[draw(sizeof instructions / sizeof *instructions)];
    bool narrow = strstr(at, "R, I") != NULL || strstr(at, "sync I") != NULL;
    size_t used = 0;

    if (draw(4) == 0)
        used = (size_t)snprintf(text, room, draw(2) ? "@%%p%u " : "@!%%p%u ", draw(3));
    for (char before = ' '; *at && used + 40 < room; before = *at++) {
        bool alone = !(before >= 'a' && before <= 'z') && !(at[1] >= 'a' && at[1] <= 'z') && before != '.';
        char number[24];
        put_number(number, sizeof number);
        if (alone && *at == 'R')
            used += (size_t)snprintf(text + used, room - used, "%%r%u", draw(REGISTERS));
        else if (alone && *at == 'D')
            used += (size_t)snprintf(text + used, room - used, "%%d%u", draw(REGISTERS));
        else if (alone && *at == 'P')
            used += (size_t)snprintf(text + used, room - used, "%%p%u", draw(3));
        else if (alone && *at == 'B')
            used += (size_t)snprintf(text + used, room - used, "%u", draw(16));
        else if (alone && *at == 'L')
            used += (size_t)snprintf(text + used, room - used, "label%u", draw(LABELS));
        else if (alone && *at == 'I')
            used += (size_t)snprintf(text + used, room - used, "%.*s", narrow ? 10 : 24, number);
        else
            text[used++] = *at;
    }
    snprintf(text + used, room - used, ";");
}

/* The registers begin with addresses and small numbers, so that not every program faults at once. */
static void write_program(char *text, size_t room)
{
    static const char *const clusters[] = {"", "", ".reqnctapercluster 2, 1, 1 "};
    uint32_t count = 2 + draw(1 + draw(50)); /* most long ones soon fault */
    size_t used = (size_t)snprintf(
        text, room,
        ".version 8.6\n.target sm_90\n.address_size 64\n.global .align 16 .b8 g[64];\n.const .align 4 .b32 c[4] = {1, "
        "2};\n"
        ".func f(.param .b32 x)\n{\n.local .b32 q;\n.reg .b32 %%v;\nld.param.b32 %%v, [x];\nst.local.b32 [q], "
        "%%v;\nret;\n}\n"
        ".func (.param .b32 r) h(.param .b32 x)\n{\n.reg .b32 %%v;\nld.param.b32 %%v, [x];\nbar.warp.sync -1;\n"
        "st.param.b32 [r], %%v;\nret;\n}\n"
        ".visible .entry k(.param .u64 a, .param .u64 b) %s\n{\n.shared .align 16 .b8 s[256];\n.shared .align 8 .b64 "
        "m;\n"
        ".local .align 16 .b8 l[32];\n.reg .b32 %%r<%u>;\n.reg .b64 %%d<%u>;\n.reg .pred %%p<3>;\n"
        "p: .callprototype _ (.param .b32 _);\nmov.u32 %%r0, s;\nmov.u32 %%r1, %%tid.x;\nld.param.u64 %%d0, [a];\n"
        "ld.param.u64 %%d1, [b];\nmov.u32 %%r2, 16;\nsetp.lt.u32 %%p0, %%r1, 7;\n",
        clusters[draw(3)], REGISTERS, REGISTERS);

    for (uint32_t i = 0; i < count; i++) {
        char line[200];
        put_instruction(line, sizeof line);
        used += (size_t)snprintf(text + used, room - used, "%s\n", line);
        if (i < LABELS)
            used += (size_t)snprintf(text + used, room - used, "label%u:\n", i);
    }
    for (uint32_t i = count; i < LABELS; i++)
        used += (size_t)snprintf(text + used, room - used, "label%u:\n", i);
    snprintf(text + used, room - used, "ret;\n}\n");
}

START_TEST(programs)
{
    static char text[1 << 15];
    uint32_t launched = 0, finished = 0;

    state = (uint64_t)_i + 1000;
    setenv("GRIDDEP_EMULATOR_STEPS", "20000", 1);
    setenv("GRIDDEP_EMULATOR_CHECK", _i % 2 ? "all" : "off", 1);
    setenv("GRIDDEP_EMULATOR_SCHEDULE", _i % 3 ? "eager" : "random:7", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", "/dev/null", 1);
    ck_assert_int_eq(cuInit(0), GD_CUDA_SUCCESS);
    begin();
    for (int i = 0; i < PROGRAMS; i++) {
        void *module = NULL;
        gd_CUfunction function;
        uint64_t a = 0, b = 0;
        void *parameters[] = {&a, &b};
        write_program(text, sizeof text);
        gd_CUresult result = cuModuleLoadData(&module, text);
        if (result == GD_CUDA_SUCCESS && cuModuleGetFunction(&function, module, "k") == GD_CUDA_SUCCESS &&
            cuMemAlloc_v2(&a, 4096) == GD_CUDA_SUCCESS && cuMemAlloc_v2(&b, 4096) == GD_CUDA_SUCCESS) {
            result = cuLaunchKernel(function, 4, 1, 1, 1 + draw(96), 1, 1, 0, NULL, parameters, NULL);
            launched += result == GD_CUDA_SUCCESS;
            if (draw(2))
                cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
            finished += result == GD_CUDA_SUCCESS && cuCtxSynchronize() == GD_CUDA_SUCCESS;
        }
        begin(); /* a fault ends the context */
    }
    ck_assert_msg(launched > PROGRAMS / 2, "%u of %d programs were launched", launched, PROGRAMS);
    ck_assert_msg(finished > PROGRAMS / 50, "%u of %d programs came to their end", finished, PROGRAMS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *random_calls = tcase_create("calls"), *damaged = tcase_create("texts");
    TCase *random_programs = tcase_create("programs");

    tcase_add_loop_test(random_programs, programs, 0, SEEDS);
    suite_add_tcase(suite, random_programs);
    tcase_add_loop_test(random_calls, calls, 0, SEEDS);
    tcase_add_loop_test(damaged, texts, 0, SEEDS);
    suite_add_tcase(suite, random_calls);
    suite_add_tcase(suite, damaged);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
