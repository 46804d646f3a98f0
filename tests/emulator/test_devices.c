/* Several emulated devices: settings, faults, memory of each, how far one may run ahead of another,
 * hops between them under each schedule with the race check on, virtual memory, hops between
 * processes, and the library on all of it. Each
 * test runs in a process of its own, because settings are read once, by cuInit. What a driver
 * promises of two devices is asked in tests/conformance. */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator/api.h"
#include "griddep.h"
#include "sanitized.h"
#include "suite.h"

#define ck_result(call, expected)                                                                  \
    do {                                                                                           \
        gd_CUresult got_result = (call);                                                           \
        const char *got_words = "?";                                                               \
        cuGetErrorString(got_result, &got_words);                                                  \
        ck_assert_msg(got_result == (expected), "%s: %d (%s), expected %d", #call, got_result,     \
                      got_words, (expected));                                                      \
    } while (0)
#define ck_good(call) ck_result(call, GD_CUDA_SUCCESS)
#define ck_library(call) ck_assert_msg((call) == 0, "%s: %s", #call, error.text)

enum { MOST = 8, WORDS = 64 };

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static gd_CUcontext contexts[MOST];
static gd_CUstream streams[MOST];
static gd_CUmodule modules[MOST];
static int count;

static void begin(const char *devices, const char *schedule, const char *text)
{
    setenv("GRIDDEP_EMULATOR_DEVICES", devices, 1);
    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedule, 1);
    ck_good(cuInit(0));
    ck_good(cuDeviceGetCount(&count));
    for (int i = 0; i < count; i++) {
        ck_good(cuDevicePrimaryCtxRetain(&contexts[i], i));
        ck_good(cuCtxSetCurrent(contexts[i]));
        ck_good(cuStreamCreate(&streams[i], GD_CU_STREAM_NON_BLOCKING));
        ck_good(cuModuleLoadData(&modules[i], text));
    }
    for (int i = 0; i < count; i++) {
        ck_good(cuCtxSetCurrent(contexts[i]));
        for (int j = 0; j < count; j++) {
            if (j != i)
                ck_good(cuCtxEnablePeerAccess(contexts[j], 0));
        }
    }
}

static gd_CUdeviceptr allocate(int device, size_t bytes)
{
    gd_CUdeviceptr made;

    ck_good(cuCtxSetCurrent(contexts[device]));
    ck_good(cuMemAlloc_v2(&made, bytes));
    ck_good(cuMemsetD8_v2(made, 0, bytes));
    ck_good(cuCtxSynchronize());
    return made;
}

static void launch(int device, const char *name, void **arguments)
{
    gd_CUfunction function;

    ck_good(cuCtxSetCurrent(contexts[device]));
    ck_good(cuModuleGetFunction(&function, modules[device], name));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, streams[device], arguments, NULL));
}

static void launch_two(int device, const char *name, uint64_t first, uint64_t second)
{
    launch(device, name, (void *[]){&first, &second});
}

static void finish(int device)
{
    ck_good(cuCtxSetCurrent(contexts[device]));
    ck_good(cuStreamSynchronize(streams[device]));
}

static uint32_t read_word(gd_CUdeviceptr address)
{
    uint32_t value;

    ck_good(cuMemcpyDtoH_v2(&value, address, sizeof value));
    return value;
}

/* ---- settings ---- */

TEST_GROUP(devices, NULL, NULL);

TEST(devices, settings)
{
    static const char *const wrong[] = {"0", "65", "2,2", "sm_90,", "sm_89", ",sm_90", "two", "-1"};
    const char *words = "";
    char name[64];
    size_t bytes;
    int can = -1;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("GRIDDEP_EMULATOR_DEVICES", wrong[i], 1);
        ck_assert_int_eq(cuInit(0), GD_CUDA_ERROR_INVALID_VALUE);
        cuGetErrorString(GD_CUDA_ERROR_INVALID_VALUE, &words);
        ck_assert_msg(strstr(words, "it may be a number from 1 to 64, or chips") != NULL, "%s: %s",
                      wrong[i], words);
    }
    setenv("GRIDDEP_EMULATOR_MEMORY", "2M", 1);
    setenv("GRIDDEP_EMULATOR_CHIP", "sm_103", 1); /* of a number of devices; the list says more */
    begin("sm_90", "eager", HEAD);
    ck_assert_int_eq(count, 1);
    ck_good(cuDeviceGetName(name, sizeof name, 0));
    ck_assert_str_eq(name, "Emulated sm_90");
    ck_good(cuDeviceTotalMem_v2(&bytes, 0));
    ck_assert_uint_eq(bytes, 2 << 20);
    ck_good(cuDeviceCanAccessPeer(&can, 0, 0));
    ck_assert_int_eq(can, 0);
}

TEST(devices, kinds_of_devices)
{
    static const char newer[] =
        ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k()\n{ ret; }\n";
    gd_CUmodule loaded;
    gd_CUcontext made[3];
    char name[64];
    int can = -1;

    setenv("GRIDDEP_EMULATOR_DEVICES", "sm_90,sm_100,sm_90", 1);
    ck_good(cuInit(0));
    for (int i = 0; i < 3; i++)
        ck_good(cuDevicePrimaryCtxRetain(&made[i], i));
    ck_good(cuDeviceGetName(name, sizeof name, 1));
    ck_assert_str_eq(name, "Emulated sm_100");
    ck_good(cuDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 0);
    ck_good(cuDeviceCanAccessPeer(&can, 2, 0));
    ck_assert_int_eq(can, 1);
    ck_good(cuCtxSetCurrent(made[0]));
    ck_result(cuCtxEnablePeerAccess(made[1], 0), GD_CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    ck_good(cuCtxEnablePeerAccess(made[2], 0));
    ck_result(cuModuleLoadData(&loaded, newer), GD_CUDA_ERROR_INVALID_PTX);
    ck_good(cuCtxSetCurrent(made[1]));
    ck_good(cuModuleLoadData(&loaded, newer));
}

/* Each device has as much memory as the setting says, and what one has taken the others have
 * still. */
TEST(devices, memory_of_each)
{
    gd_CUdeviceptr first, second, third;
    size_t left, total;

    setenv("GRIDDEP_EMULATOR_MEMORY", "1M", 1);
    begin("2", "eager", HEAD);
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_good(cuMemAlloc_v2(&first, 600 << 10));
    ck_result(cuMemAlloc_v2(&third, 600 << 10), GD_CUDA_ERROR_OUT_OF_MEMORY);
    ck_good(cuCtxSetCurrent(contexts[1]));
    ck_good(cuMemAlloc_v2(&second, 600 << 10));
    ck_good(cuMemGetInfo_v2(&left, &total));
    ck_assert_uint_eq(left, 424 << 10);
    ck_good(cuMemFree_v2(first)); /* the address tells whose it is */
    ck_good(cuMemGetInfo_v2(&left, &total));
    ck_assert_uint_eq(left, 424 << 10);
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_good(cuMemGetInfo_v2(&left, &total));
    ck_assert_uint_eq(left, total);
    ck_good(cuMemFree_v2(second));
}

/* ---- faults ---- */

static const char add[] =
    HEAD ".visible .entry add(.param .u64 in, .param .u64 out)\n{\n"
         "    .reg .b64 %i, %o;\n    .reg .b32 %v;\n"
         "    ld.param.u64 %i, [in];\n    ld.param.u64 %o, [out];\n"
         "    ld.global.u32 %v, [%i];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%o], %v;\n"
         "    ret;\n}\n";

/* A context whose access was taken away faults with the owner of the address; the other device goes
 * on. */
TEST(devices, faults_name_the_owner)
{
    const char *words = "";
    char expected[256];

    begin("3", "eager", add);
    gd_CUdeviceptr far = allocate(2, 64), near = allocate(1, 64);
    launch_two(1, "add", far, near);
    ck_good(cuCtxSetCurrent(contexts[1]));
    ck_good(cuCtxDisablePeerAccess(contexts[2])); /* behind what had been launched */
    ck_assert_uint_eq(read_word(near), 1);
    launch_two(1, "add", far, near);
    ck_result(cuStreamSynchronize(streams[1]), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    cuGetErrorString(GD_CUDA_ERROR_ILLEGAL_ADDRESS, &words);
    snprintf(expected, sizeof expected,
             "read of 4 bytes at 0x%" PRIx64
             " without peer access; it lies in 64 bytes at 0x%" PRIx64
             " of device 2, and the kernel runs on device 1, whose context has no access to it "
             "(cuCtxEnablePeerAccess)",
             far, far);
    ck_assert_msg(strstr(words, expected) != NULL, "%s", words);
    ck_assert_msg(strstr(words, "kernel add (launch 2) on device 1, CTA") != NULL, "%s", words);
    launch_two(2, "add", far, far);
    finish(2);
    ck_assert_uint_eq(read_word(far), 1);
}

/* A context that ends takes its memory from those that could reach it, and itself from their lists:
 * one that is made at its place has no access. */
TEST(devices, contexts_that_end)
{
    begin("2", "eager", add);
    gd_CUdeviceptr near = allocate(0, 64);
    ck_good(cuDevicePrimaryCtxReset_v2(1));
    ck_good(cuDevicePrimaryCtxRetain(&contexts[1], 1));
    gd_CUdeviceptr far = allocate(1, 64);
    launch_two(0, "add", far, near);
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_result(cuStreamSynchronize(streams[0]), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* A graph fails as a whole: the fault of a kernel on another device is told to who waits for the
 * launch. What does not belong to it goes on. */
TEST(devices, graphs_fail_as_a_whole)
{
    gd_CUgraph graph;
    gd_CUgraphExec executable;
    gd_CUgraphNode nodes[2];
    gd_CUdeviceptr nowhere = 64;
    gd_CUfunction functions[2];

    begin("3", "eager", add);
    gd_CUdeviceptr near = allocate(0, 64), other = allocate(2, 64);
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_good(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) {
        void *parameters[] = {i ? &near : &nowhere, &near};
        ck_good(cuModuleGetFunction(&functions[i], modules[!i], "add"));
        gd_CUDA_KERNEL_NODE_PARAMS node = {.func = functions[i],
                                           .gridDimX = 1,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 1,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = parameters};
        ck_good(cuGraphAddKernelNode_v2(&nodes[i], graph, nodes, (size_t)i, &node));
    }
    ck_good(cuGraphInstantiateWithFlags(&executable, graph, 0));
    ck_good(cuGraphLaunch(executable, streams[0]));
    launch_two(2, "add", other, other);
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_result(cuStreamSynchronize(streams[0]), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_good(cuCtxSetCurrent(contexts[1]));
    ck_result(cuStreamSynchronize(streams[1]), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    finish(2);
    ck_assert_uint_eq(read_word(other), 1);
}

/* Memory whose free is due in another context's stream may outlive the context that it was taken
 * in; what comes before the free still finds it. */
TEST(devices, memory_outlives_its_context)
{
    gd_CUcontext other, popped;
    gd_CUdeviceptr there;

    begin("1", "eager", add);
    gd_CUdeviceptr near = allocate(0, 64);
    ck_good(cuCtxCreate_v2(&other, 0, 0));
    ck_good(cuMemAlloc_v2(&there, 64));
    ck_good(cuMemsetD32_v2(there, 6, 1));
    ck_good(cuCtxPopCurrent_v2(&popped));
    launch_two(0, "add", there, near);
    ck_good(cuMemFreeAsync(there, streams[0]));
    ck_good(cuCtxDestroy_v2(other));
    finish(0);
    ck_assert_uint_eq(read_word(near), 7);
}

/* A graph whose body names a kernel that is gone is not launched; one whose kernel's context ends
 * after the launch fails where the body would begin. */
LOOP_TEST(devices, a_body_needs_its_kernel, 2)
{
    gd_CUcontext other, popped;
    gd_CUmodule module;
    gd_CUfunction function;
    gd_CUgraph graph;
    gd_CUgraphNode node;
    gd_CUgraphExec executable;
    gd_CUgraphNodeParams params = {.type = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                   .is.conditional = {.type = GD_CU_GRAPH_COND_TYPE_IF, .size = 1}};

    begin("1", "eager", add);
    gd_CUdeviceptr word = allocate(0, 64);
    ck_good(cuCtxCreate_v2(&other, 0, 0));
    ck_good(cuModuleLoadData(&module, add));
    ck_good(cuModuleGetFunction(&function, module, "add"));
    ck_good(cuCtxPopCurrent_v2(&popped));
    ck_good(cuGraphCreate(&graph, 0));
    ck_good(cuGraphConditionalHandleCreate(&params.is.conditional.handle, graph, contexts[0], 1,
                                           GD_CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.is.conditional.ctx = contexts[0];
    ck_good(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    gd_CUDA_KERNEL_NODE_PARAMS kernel = {.func = function,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = (void *[]){&word, &word},
                                         .ctx = other};
    ck_good(cuGraphAddKernelNode_v2(&node, params.is.conditional.phGraph_out[0], NULL, 0, &kernel));
    ck_good(cuGraphInstantiateWithFlags(&executable, graph, 0));
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_good(cuGraphLaunch(executable, streams[0]));
    finish(0);
    if (_i) {
        ck_good(cuGraphLaunch(executable, streams[0]));
        ck_good(cuCtxDestroy_v2(other));
        ck_result(cuStreamSynchronize(streams[0]), GD_CUDA_ERROR_INVALID_HANDLE);
        return;
    }
    ck_good(cuCtxPushCurrent_v2(other));
    ck_good(cuModuleUnload(module));
    ck_good(cuCtxPopCurrent_v2(&popped));
    ck_result(cuGraphLaunch(executable, streams[0]), GD_CUDA_ERROR_INVALID_HANDLE);
    finish(0);
}

/* ---- how far a device runs ahead ---- */

/* Counts on its own device, and notes how far it was ahead of the other one at most. */
static const char race_ahead[] =
    HEAD ".visible .entry count(.param .u64 own, .param .u64 other)\n{\n"
         "    .reg .b64 %own, %other;\n    .reg .b32 %i, %seen, %lead, %most, %t;\n"
         "    .reg .pred %p;\n"
         "    ld.param.u64 %own, [own];\n    ld.param.u64 %other, [other];\n"
         "    mov.u32 %t, %tid.x;\n    setp.ne.u32 %p, %t, 0;\n    @%p ret;\n"
         "    mov.u32 %i, 0;\n    mov.u32 %most, 0;\n"
         "again:\n    add.u32 %i, %i, 1;\n    st.relaxed.sys.global.u32 [%own], %i;\n"
         "    ld.relaxed.sys.global.u32 %seen, [%other];\n    sub.u32 %lead, %i, %seen;\n"
         "    max.s32 %most, %most, %lead;\n    setp.lt.u32 %p, %i, 20000;\n    @%p bra again;\n"
         "    st.global.u32 [%own+4], %most;\n    ret;\n}\n";

static void measure_lead(const char *schedule, uint32_t *lead)
{
    begin("2", schedule, race_ahead);
    gd_CUdeviceptr places[] = {allocate(0, 64), allocate(1, 64)};
    for (int i = 0; i < 2; i++)
        launch_two(i, "count", places[i], places[!i]);
    for (int i = 0; i < 2; i++) {
        finish(i);
        lead[i] = read_word(places[i] + 4);
    }
}

TEST(devices, eager_lets_the_youngest_run_ahead)
{
    uint32_t lead[2];

    measure_lead("eager", lead);
    ck_assert_uint_gt(lead[1], 15000);
}

TEST(devices, lazy_lets_the_oldest_run_ahead)
{
    uint32_t lead[2];

    measure_lead("lazy", lead);
    ck_assert_uint_gt(lead[0], 15000);
}

/* Over some seeds each device is far ahead at times, and at times they go by turns. */
TEST(devices, random_lets_either_run_ahead)
{
    uint32_t far[2] = {0, 0}, mixed = 0;
    int pipes[2];

    ck_assert_int_eq(pipe(pipes), 0);
    for (int seed = 1; seed <= 12; seed++) {
        uint32_t lead[2];
        char schedule[32];
        pid_t child = fork();
        if (!child) {
            snprintf(schedule, sizeof schedule, "random:%d", seed);
            measure_lead(schedule, lead);
            _exit(write(pipes[1], lead, sizeof lead) != sizeof lead);
        }
        ck_assert_int_eq(read(pipes[0], lead, sizeof lead), sizeof lead);
        for (int i = 0; i < 2; i++)
            far[i] += lead[i] > 10000;
        mixed += lead[0] < 15000 && lead[1] < 15000;
    }
    ck_assert_uint_gt(far[0], 0);
    ck_assert_uint_gt(far[1], 0);
    ck_assert_uint_gt(mixed, 0);
}

/* ---- hops ---- */

/* A ring: each device adds one to what it was sent and passes it on, in round after round, without
 * any word of the host. `in` has the number and behind it the flag, which has the round's number;
 * `out` is the next one's `in`. */
static const char ring_text[] =
    HEAD ".visible .entry pass(.param .u64 in, .param .u64 out, .param .u32 rounds,\n"
         "                     .param .u32 first)\n{\n"
         "    .reg .b64 %%in, %%out;\n    .reg .b32 %%v, %%f, %%r, %%n, %%t, %%one, %%w;\n"
         "    .reg .pred %%p, %%q;\n"
         "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n"
         "    ld.param.u32 %%n, [rounds];\n    ld.param.u32 %%one, [first];\n"
         "    mov.u32 %%t, %%tid.x;\n    setp.ne.u32 %%p, %%t, 0;\n    @%%p ret;\n"
         "    mov.u32 %%r, 1;\n    setp.ne.u32 %%q, %%one, 0;\n    mov.u32 %%v, 0;\n"
         "    @%%q bra send;\n"
         "round:\n    %s %%f, [%%in+64];\n    setp.lt.u32 %%p, %%f, %%r;\n    @%%p bra round;\n"
         "    %s\n"
         "    ld.global.u32 %%v, [%%in];\n    add.u32 %%v, %%v, 1;\n"
         "    @!%%q bra send;\n    add.u32 %%r, %%r, 1;\n    setp.gt.u32 %%p, %%r, %%n;\n"
         "    @%%p bra done;\n"
         "send:\n    st.global.u32 [%%out], %%v;\n"
         "    %s\n    %s [%%out+64], %%r;\n"
         "    @%%q bra round;\n    add.u32 %%r, %%r, 1;\n    setp.le.u32 %%p, %%r, %%n;\n"
         "    @%%p bra round;\n    ret;\n"
         "done:\n    st.global.u32 [%%in+128], %%v;\n    ret;\n}\n";

enum { ROUNDS = 20 };

typedef struct hop {
    const char *load, *behind, *before, *store;
    const char *missing; /* NULL: it is right */
    const char *code;    /* what the check says of the text, which runs nothing; NULL */
} hop;

#define ACQUIRE "ld.acquire.sys.global.u32"
#define RELEASE "st.release.sys.global.u32"
#define LOAD "ld.relaxed.sys.global.u32"
#define STORE "st.relaxed.sys.global.u32"

static const hop hops[] = {
    {ACQUIRE, "", "", RELEASE, NULL, NULL},
    {LOAD, "fence.acq_rel.sys;", "fence.acq_rel.sys;", STORE, NULL, NULL},
    {LOAD, "fence.sc.sys;", "membar.sys;", STORE, NULL, NULL},
    {"ld.volatile.global.u32", "membar.sys;", "membar.sys;", "st.volatile.global.u32", NULL, NULL},
    /* that somebody else is on another device the text does not say */
    {"ld.acquire.gpu.global.u32", "", "", RELEASE, "scope sys on the access of kernel pass", NULL},
    {ACQUIRE, "", "", "st.release.gpu.global.u32", "scope sys on the access of kernel pass", NULL},
    {LOAD, "", "", RELEASE, "an acquire of scope sys in kernel pass", "GD132"},
    {ACQUIRE, "", "", STORE, "a release of scope sys in kernel pass", "GD131"},
    {LOAD, "fence.acq_rel.gpu;", "fence.acq_rel.sys;", STORE,
     "an acquire of scope sys in kernel pass", "GD132"},
    {LOAD, "fence.acq_rel.sys;", "fence.acq_rel.gpu;", STORE,
     "a release of scope sys in kernel pass", "GD131"},
    {LOAD, "membar.sys;", "membar.gl;", STORE, "a release of scope sys in kernel pass", "GD131"},
    {LOAD, "membar.gl;", "membar.sys;", STORE, "an acquire of scope sys in kernel pass", "GD132"},
};
enum { HOPS = sizeof hops / sizeof *hops };

/* Runs the ring on so many devices; what the checks report is read into `report`. */
static void run_ring(const hop *how, const char *devices, const char *schedule, char *report,
                     size_t bytes)
{
    char text[4096], path[] = "/tmp/griddep-devices-XXXXXX";
    gd_CUdeviceptr places[MOST];
    uint32_t rounds = ROUNDS;
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    setenv("GRIDDEP_EMULATOR_CHECK", "race,initialized", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", path, 1);
    snprintf(text, sizeof text, ring_text, how->load, how->behind, how->before, how->store);
    begin(devices, schedule, text);
    for (int i = 0; i < count; i++)
        places[i] = allocate(i, 256);
    for (int i = 0; i < count; i++)
        finish(i);
    for (int i = 0; i < count; i++) {
        uint32_t first = i == 0;
        launch(i, "pass", (void *[]){&places[i], &places[(i + 1) % count], &rounds, &first});
    }
    for (int i = 0; i < count; i++)
        finish(i);
    ck_assert_uint_eq(read_word(places[0] + 128), (uint32_t)(ROUNDS * count));
    ssize_t got = read(file, report, bytes - 1);
    ck_assert_int_ge(got, 0);
    report[got] = 0;
    close(file);
    unlink(path);
}

static const char *const schedules[] = {"eager",    "lazy",     "random:1",
                                        "random:2", "random:3", "random:4"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

/* The number of a case is a hop, a schedule, and whether there are 2 or 8 devices. */
LOOP_TEST(devices, rings, HOPS *SCHEDULES * 2)
{
    const hop *how = &hops[_i % HOPS];
    const char *schedule = schedules[_i / HOPS % SCHEDULES];
    char report[16384];

    if (SANITIZED && _i % 4)
        return;
    run_ring(how, _i / (HOPS * SCHEDULES) ? "8" : "2", schedule, report, sizeof report);
    if (!how->missing) {
        ck_assert_msg(!*report, "a false alarm: %s", report);
        return;
    }
    ck_assert_msg(strstr(report, how->missing) != NULL, "\"%s\" is not in: %s", how->missing,
                  report);
    /* both sides, with their lines and devices */
    ck_assert_msg(strstr(report, "\"first\":{\"kernel\":\"pass\"") != NULL, "%s", report);
    ck_assert_msg(strstr(report, "\"second\":{\"kernel\":\"pass\"") != NULL, "%s", report);
    ck_assert_msg(strstr(report, "\"line\":0") == NULL, "%s", report);
    ck_assert_msg(strstr(report, "on device 0") && strstr(report, "on device 1"), "%s", report);
}

/* The check of the text says the same of each hop as the run does, where a text can tell. */
LOOP_TEST(devices, rings_are_checked, HOPS)
{
    const hop *how = &hops[_i];
    griddep_findings *findings = NULL;
    griddep_finding finding = {.size = sizeof finding};
    griddep_error error;
    char text[4096];

    griddep_error_init(&error);
    snprintf(text, sizeof text, ring_text, how->load, how->behind, how->before, how->store);
    ck_library(griddep_ptx_check(text, strlen(text), "ring.ptx", NULL, &findings, &error));
    ck_assert_uint_eq(griddep_findings_count(findings), how->code != NULL);
    if (how->code) {
        ck_library(griddep_findings_get(findings, 0, &finding, &error));
        ck_assert_str_eq(finding.code, how->code);
    }
    griddep_findings_destroy(findings);
}

/* Memory of one device is freed while a kernel of another one waits for what is launched later. */
TEST(devices, frees_wait_for_their_device_alone)
{
    char text[4096];
    uint32_t rounds = 1, zero = 0, one = 1;

    setenv("GRIDDEP_EMULATOR_STEPS", "100000", 1);
    snprintf(text, sizeof text, ring_text, ACQUIRE, "", "", RELEASE);
    begin("2", "eager", text);
    gd_CUdeviceptr places[] = {allocate(0, 256), allocate(1, 256)}, other = allocate(0, 64);
    launch(1, "pass", (void *[]){&places[1], &places[0], &rounds, &zero});
    ck_good(cuCtxSetCurrent(contexts[0]));
    ck_good(cuMemFree_v2(other));
    ck_good(cuCtxSynchronize());
    launch(0, "pass", (void *[]){&places[0], &places[1], &rounds, &one});
    finish(0);
    finish(1);
    ck_assert_uint_eq(read_word(places[0] + 128), 2);
}

/* ---- virtual memory ---- */

enum { BLOCK = 2 << 20 };

/* Physical memory of a device at addresses of its own; the devices of `reached_by`, by bit, reach
 * it. */
static gd_CUdeviceptr map_memory(gd_CUmemGenericAllocationHandle memory, uint32_t reached_by)
{
    gd_CUdeviceptr address;

    ck_good(cuMemAddressReserve(&address, BLOCK, 0, 0, 0));
    ck_good(cuMemMap(address, BLOCK, 0, memory, 0));
    for (int i = 0; i < count; i++) {
        const gd_CUmemAccessDesc access = {{1, i}, GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        if (reached_by >> i & 1)
            ck_good(cuMemSetAccess(address, BLOCK, &access, 1));
    }
    return address;
}

static gd_CUmemGenericAllocationHandle make_memory(int device)
{
    const gd_CUmemAllocationProp properties = {
        .type = 1, .requestedHandleTypes = 1, .location = {1, device}};
    gd_CUmemGenericAllocationHandle made;

    ck_good(cuMemCreate(&made, BLOCK, &properties, 0));
    return made;
}

/* A device that was not let at what is mapped faults, its own device too; so does who comes after
 * the end of the mapping. */
LOOP_TEST(devices, mappings_are_for_whom_they_say, 2)
{
    static const char *const said[] = {
        "of device 1, and the kernel runs on device 0, whose context has no access to it "
        "(cuMemSetAccess)",
        "it lies in memory that was freed"};
    const char *words = "";

    begin("2", "eager", add);
    gd_CUdeviceptr out = allocate(_i ? 1 : 0, 64), there = map_memory(make_memory(1), 2);
    launch_two(1, "add", there, there);
    finish(1);
    ck_assert_uint_eq(read_word(there), 1);
    if (_i)
        ck_good(cuMemUnmap(there, BLOCK));
    launch_two(_i ? 1 : 0, "add", there, out);
    ck_result(cuStreamSynchronize(streams[_i ? 1 : 0]), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    cuGetErrorString(GD_CUDA_ERROR_ILLEGAL_ADDRESS, &words);
    ck_assert_msg(strstr(words, said[_i]) != NULL, "%s", words);
}

/* Physical memory counts once, however often it is mapped, until nobody has it. */
TEST(devices, physical_memory_counts)
{
    gd_CUmemGenericAllocationHandle memory, same;
    size_t left, total;
    int file;

    setenv("GRIDDEP_EMULATOR_MEMORY", "5M", 1);
    begin("1", "eager", add);
    memory = make_memory(0);
    gd_CUdeviceptr places[] = {map_memory(memory, 1), map_memory(memory, 1)};
    ck_good(cuMemExportToShareableHandle(&file, memory, 1, 0));
    ck_good(cuMemImportFromShareableHandle(&same, (void *)(intptr_t)file, 1));
    ck_good(cuMemGetInfo_v2(&left, &total));
    ck_assert_uint_eq(total - left, BLOCK);
    ck_good(cuMemRelease(memory));
    ck_good(cuMemRelease(same));
    make_memory(0);
    ck_result(
        cuMemCreate(&memory, BLOCK, &(gd_CUmemAllocationProp){.type = 1, .location = {1, 0}}, 0),
        GD_CUDA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < 2; i++) {
        ck_good(cuMemsetD32_v2(places[i], 3 + (unsigned)i, 1));
        ck_assert_uint_eq(read_word(places[!i]), 3 + (unsigned)i);
    }
    for (int i = 0; i < 2; i++)
        ck_good(cuMemUnmap(places[i], BLOCK));
    ck_good(cuMemGetInfo_v2(&left, &total));
    ck_assert_uint_eq(total - left, BLOCK); /* of the second one */
    close(file);
}

/* What is no memory of an emulated driver, or of a device that this process lacks. */
TEST(devices, what_is_imported_is_looked_at)
{
    char text[8192] = "griddep shared", path[] = "/tmp/griddep-devices-XXXXXX";
    gd_CUmemGenericAllocationHandle made;
    int file = mkstemp(path), pipes[2];

    ck_assert_int_ge(file, 0);
    unlink(path);
    ck_assert_int_eq(pipe(pipes), 0);
    begin("1", "eager", add);
    ck_result(cuMemImportFromShareableHandle(&made, (void *)(intptr_t)-1, 1),
              GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(cuMemImportFromShareableHandle(&made, (void *)(intptr_t)pipes[0], 1),
              GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(cuMemImportFromShareableHandle(&made, (void *)(intptr_t)file, 1),
              GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(write(file, text, sizeof text), sizeof text);
    ck_result(cuMemImportFromShareableHandle(&made, (void *)(intptr_t)file, 1),
              GD_CUDA_ERROR_INVALID_VALUE);
}

/* ---- processes ---- */

static void give_file(int to, int file)
{
    char byte = 0, room[CMSG_SPACE(sizeof file)] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);

    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(part), &file, sizeof file);
    ck_assert_int_eq(sendmsg(to, &message, 0), 1);
}

static int take_file(int from)
{
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int file;

    ck_assert_int_eq(recvmsg(from, &message, 0), 1);
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

/* Each process has one device of its own and reaches the other one's memory, by a descriptor that
 * it is sent. */
static void meet(int rank, int socket, const char *text, gd_CUdeviceptr places[2])
{
    gd_CUmemGenericAllocationHandle own, other;
    int file;

    begin("2", rank ? "lazy" : "eager", text);
    own = make_memory(rank);
    ck_good(cuMemExportToShareableHandle(&file, own, 1, 0));
    give_file(socket, file);
    close(file);
    file = take_file(socket);
    ck_good(cuMemImportFromShareableHandle(&other, (void *)(intptr_t)file, 1));
    close(file);
    places[rank] = map_memory(own, 3);
    places[!rank] = map_memory(other, 3);
    ck_good(cuMemRelease(own));
    ck_good(cuMemRelease(other));
}

/* The other rank; this process is rank 0 and goes on, and *child is waited for by join. */
static int part(int sockets[2], pid_t *child)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    *child = fork();
    ck_assert_int_ge(*child, 0);
    return *child ? 0 : 1;
}

static void join(int rank, pid_t child)
{
    int status = -1;

    if (rank)
        _exit(0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

TEST(devices, a_ring_of_two_processes)
{
    char text[4096];
    gd_CUdeviceptr places[2];
    uint32_t rounds = SANITIZED ? 20 : 200;
    int sockets[2];
    pid_t child;
    const int rank = part(sockets, &child);

    snprintf(text, sizeof text, ring_text, ACQUIRE, "", "", RELEASE);
    meet(rank, sockets[rank], text, places);
    uint32_t first = rank == 0;
    launch(rank, "pass", (void *[]){&places[rank], &places[!rank], &rounds, &first});
    finish(rank);
    if (!rank)
        ck_assert_uint_eq(read_word(places[0] + 128), 2 * rounds);
    join(rank, child);
}

/* Both processes count on one word of the first one's memory, by each width that has a lock-free
 * operation on the host. */
TEST(devices, processes_count_together)
{
    static const char text[] =
        HEAD ".visible .entry count(.param .u64 word, .param .u64 ready)\n{\n"
             "    .reg .b64 %w, %r, %l;\n    .reg .b32 %i, %v;\n    .reg .pred %p;\n"
             "    ld.param.u64 %w, [word];\n    ld.param.u64 %r, [ready];\n"
             "    atom.add.release.sys.global.u32 %v, [%r], 1;\n"
             "both:\n    ld.acquire.sys.global.u32 %v, [%r];\n    setp.lt.u32 %p, %v, 64;\n"
             "    @%p bra both;\n    mov.u32 %i, 0;\n"
             "again:\n    red.add.relaxed.sys.global.u32 [%w], 1;\n"
             "    atom.add.relaxed.sys.global.u64 %l, [%w+8], 3;\n    add.u32 %i, %i, 1;\n"
             "    setp.lt.u32 %p, %i, 2000;\n    @%p bra again;\n"
             "    atom.add.acq_rel.sys.global.u32 %v, [%r], 1;\n"
             "over:\n    ld.acquire.sys.global.u32 %v, [%r];\n    setp.lt.u32 %p, %v, 128;\n"
             "    @%p bra over;\n    ret;\n}\n";
    gd_CUdeviceptr places[2];
    int sockets[2];
    pid_t child;
    const int rank = part(sockets, &child);

    meet(rank, sockets[rank], text, places);
    launch_two(rank, "count", places[0], places[0] + 64);
    finish(rank);
    ck_assert_uint_eq(read_word(places[0]), 2 * 32 * 2000);
    ck_assert_uint_eq(read_word(places[0] + 8), 3 * 2 * 32 * 2000);
    join(rank, child);
}

/* ---- the library ---- */

TEST(devices, library_on_two_devices)
{
    griddep_runtime *runtimes[2];
    griddep_group *group = NULL;
    griddep_module *made[2];
    griddep_kernel *kernels[2];
    griddep_error error;
    griddep_device_info info = {.size = sizeof info};
    uint32_t value = 40;
    uint64_t memory[2];

    setenv("GRIDDEP_EMULATOR_DEVICES", "2", 1);
    griddep_error_init(&error);
    ck_library(griddep_device_get_info(EMULATED_DRIVER, 1, &info, &error));
    ck_assert_str_eq(info.name, "Emulated sm_90");
    ck_assert_uint_eq(info.device_count, 2);
    ck_assert_int_eq(griddep_device_get_info(EMULATED_DRIVER, 2, &info, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    for (int i = 0; i < 2; i++) {
        const griddep_runtime_options options = {.size = sizeof options,
                                                 .flags = GRIDDEP_RUNTIME_DEVICE,
                                                 .driver = EMULATED_DRIVER,
                                                 .device = i,
                                                 .store_directory = ""};
        griddep_runtime_info told = {.size = sizeof told};
        ck_library(griddep_runtime_open(&options, &runtimes[i], &error));
        ck_library(griddep_runtime_get_info(runtimes[i], &told, &error));
        ck_assert_uint_ne(told.emulated, 0);
        ck_library(griddep_module_load(runtimes[i], add, strlen(add), NULL, &made[i], &error));
        ck_library(griddep_module_find_kernel(made[i], "add", &kernels[i], &error));
        ck_library(griddep_memory_allocate(runtimes[i], 64, &memory[i], &error));
    }
    ck_library(griddep_group_open(runtimes, 2, NULL, &group, &error)); /* reach each other */
    ck_library(griddep_memory_write(runtimes[0], memory[0], &value, 4, NULL, &error));
    for (int i = 0; i < 2; i++) { /* the first device writes the second one's memory */
        const griddep_launch_config config = {
            .size = sizeof config, .grid = {1, 1, 1}, .block = {1, 1, 1}};
        const griddep_argument arguments[] = {{.bytes = 8, .data = &memory[i]},
                                              {.bytes = 8, .data = &memory[1]}};
        ck_library(griddep_launch(kernels[i], &config, arguments, 2, NULL, &error));
        ck_library(griddep_runtime_synchronize(runtimes[i], &error));
    }
    ck_library(griddep_memory_copy_async(runtimes[0], memory[0], memory[1], 4, NULL, &error));
    ck_library(griddep_memory_read(runtimes[0], &value, memory[0], 4, NULL, &error));
    ck_assert_uint_eq(value, 42);
    griddep_group_close(group);
    for (int i = 0; i < 2; i++) {
        ck_library(griddep_memory_free(runtimes[i], memory[i], &error));
        griddep_module_unload(made[i]);
        griddep_runtime_close(runtimes[i]);
    }
}

MAIN_OF_SUITE("devices")
