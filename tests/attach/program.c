/* A program of somebody else's: it opens libcuda.so.1 and knows nothing of this project. Its
 * arguments are what it does, one behind the other. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fatbin.h"
#include "cuda/abi.h"
#include "cuda/driver_rows.h"
#include "emulator/abi.h"

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry waits(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %b;\n"
    "    griddepcontrol.wait;\n"
    "    ld.param.u64 %a, [p];\n    ld.global.u32 %b, [%a];\n    add.u32 %b, %b, 1;\n"
    "    st.global.u32 [%a], %b;\n"
    "    griddepcontrol.launch_dependents;\n    ret;\n}\n"
    ".visible .entry _Z5nevermPj(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %b;\n"
    "    ld.param.u64 %a, [p];\n    ld.global.u32 %b, [%a];\n    add.u32 %b, %b, 1;\n"
    "    st.global.u32 [%a], %b;\n    ret;\n}\n"
    ".visible .entry guarded(.param .u64 p)\n{\n"
    "    .reg .pred %q;\n    .reg .b32 %r;\n    .reg .b64 %d;\n"
    "    mov.u32 %r, %tid.x;\n    setp.gt.u32 %q, %r, 3;\n    @%q ret;\n"
    "    griddepcontrol.wait;\n    ld.param.u64 %d, [p];\n    red.global.add.u32 [%d], 1;\n"
    "    ret;\n}\n"
    ".visible .entry sometimes(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %b;\n    .reg .pred %q;\n"
    "    ld.param.u64 %a, [p];\n    cvt.u32.u64 %b, %a;\n    setp.eq.u32 %q, %b, 0;\n"
    "    @%q ret;\n"
    "    griddepcontrol.wait;\n    ld.global.u32 %b, [%a];\n    add.u32 %b, %b, 1;\n"
    "    st.global.u32 [%a], %b;\n    ret;\n}\n"
    ".visible .entry eager(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %b;\n"
    "    ld.param.u64 %a, [p];\n    ld.global.u32 %b, [%a];\n    griddepcontrol.wait;\n"
    "    add.u32 %b, %b, 1;\n    st.global.u32 [%a], %b;\n    ret;\n}\n"
    ".visible .entry scatter(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n"
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n"
    "    ld.param.u64 %a, [p];\n    ld.global.u64 %a, [%a];\n"
    "    st.global.u32 [%a], 7;\n    ret;\n}\n"
    ".visible .entry again(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %b;\n"
    "    ld.param.u64 %a, [p];\n    ld.global.u64 %a, [%a];\n    ld.global.u32 %b, [%a];\n"
    "    griddepcontrol.wait;\n    st.global.u32 [%a], %b;\n    ret;\n}\n"
    ".visible .entry packed(.param .align 8 .b8 p[24], .param .align 4 .b8 q[12])\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %b, %c;\n"
    "    ld.param.u64 %a, [p+8];\n    ld.param.u32 %b, [p+16];\n    ld.param.u32 %c, [q+8];\n"
    "    griddepcontrol.wait;\n"
    "    add.u32 %b, %b, %c;\n    ld.global.u32 %c, [%a];\n    add.u32 %b, %b, %c;\n"
    "    st.global.u32 [%a], %b;\n    ret;\n}\n"
    ".visible .entry mapped(.param .align 64 .b8 m[128], .param .u64 p)\n{\n"
    "    .reg .pred %q;\n    .reg .u64 %a;\n    .reg .u32 %b, %c, %d;\n"
    "    .shared .align 128 .b8 got[128];\n    .shared .align 8 .b64 come;\n"
    "    mov.u32 %b, got;\n    mov.u32 %c, come;\n"
    "    mov.b64 %a, m;\n    cvta.param.u64 %a, %a;\n"
    "    mbarrier.init.shared::cta.b64 [%c], 1;\n    fence.proxy.async.shared::cta;\n"
    "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%c], 128;\n    mov.u32 %d, 0;\n"
    "    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes\n"
    "        [%b], [%a, {%d}], [%c];\n"
    "poll:\n    mbarrier.try_wait.parity.shared::cta.b64 %q, [%c], 0;\n    @!%q bra poll;\n"
    "    griddepcontrol.wait;\n"
    "    ld.shared.u32 %d, [%b];\n    ld.param.u64 %a, [p];\n    st.global.u32 [%a], %d;\n"
    "    ret;\n}\n"
    ".visible .entry polite(.param .u64 p)\n{\n"
    "    .reg .u64 %a;\n"
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n"
    "    ld.param.u64 %a, [p];\n    red.global.add.u32 [%a], 1;\n    ret;\n}\n"
    ".visible .entry boxed(.param .align 64 .b8 m[128], .param .u64 p)\n{\n"
    "    .reg .u64 %a;\n    .reg .u32 %d;\n"
    "    ld.param.u64 %a, [m];\n    ld.global.u32 %d, [%a];\n    griddepcontrol.wait;\n"
    "    ld.param.u64 %a, [p];\n    st.global.u32 [%a], %d;\n    ret;\n}\n";

/* What it calls, as its own header would declare it. */
#define CALLS(CALL)                                                                                \
    CALL(cuInit, 2000, unsigned)                                                                   \
    CALL(cuDeviceGet, 2000, gd_CUdevice *, int)                                                    \
    CALL(cuDevicePrimaryCtxRetain, 7000, gd_CUcontext *, gd_CUdevice)                              \
    CALL(cuDevicePrimaryCtxRelease, 11000, gd_CUdevice)                                            \
    CALL(cuCtxCreate, 3020, gd_CUcontext *, unsigned, gd_CUdevice)                                 \
    CALL(cuCtxDestroy, 4000, gd_CUcontext)                                                         \
    CALL(cuCtxSetCurrent, 4000, gd_CUcontext)                                                      \
    CALL(cuCtxSynchronize, 2000, void)                                                             \
    CALL(cuModuleLoadData, 2000, gd_CUmodule *, const void *)                                      \
    CALL(cuModuleUnload, 2000, gd_CUmodule)                                                        \
    CALL(cuModuleGetFunction, 2000, gd_CUfunction *, gd_CUmodule, const char *)                    \
    CALL(cuLibraryLoadData, 12000, gd_CUlibrary *, const void *, gd_CUjit_option *, void **,       \
         unsigned, int *, void **, unsigned)                                                       \
    CALL(cuLibraryGetKernel, 12000, gd_CUkernel *, gd_CUlibrary, const char *)                     \
    CALL(cuLinkCreate, 6050, unsigned, int *, void **, gd_CUlinkState *)                           \
    CALL(cuLinkAddData, 6050, gd_CUlinkState, int, void *, size_t, const char *, unsigned, int *,  \
         void **)                                                                                  \
    CALL(cuLinkComplete, 5050, gd_CUlinkState, void **, size_t *)                                  \
    CALL(cuLaunchKernel, 4000, gd_CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,    \
         unsigned, unsigned, gd_CUstream, void **, void **)                                        \
    CALL(cuTensorMapEncodeTiled, 12000, gd_CUtensorMap *, int, uint32_t, void *, const uint64_t *, \
         const uint64_t *, const uint32_t *, const uint32_t *, int, int, int, int)                 \
    CALL(cuLaunchKernelEx, 11060, const gd_CUlaunchConfig *, gd_CUfunction, void **, void **)      \
    CALL(cuMemAlloc, 3020, gd_CUdeviceptr *, size_t)                                               \
    CALL(cuMemsetD32, 3020, gd_CUdeviceptr, unsigned, size_t)                                      \
    CALL(cuMemsetD8Async, 3020, gd_CUdeviceptr, unsigned char, size_t, gd_CUstream)                \
    CALL(cuMemcpyDtoH, 3020, void *, gd_CUdeviceptr, size_t)                                       \
    CALL(cuMemcpyHtoD, 3020, gd_CUdeviceptr, const void *, size_t)                                 \
    CALL(cuMemcpyHtoDAsync, 3020, gd_CUdeviceptr, const void *, size_t, gd_CUstream)               \
    CALL(cuMemcpyDtoDAsync, 3020, gd_CUdeviceptr, gd_CUdeviceptr, size_t, gd_CUstream)             \
    CALL(cuMemcpyDtoHAsync, 3020, void *, gd_CUdeviceptr, size_t, gd_CUstream)                     \
    CALL(cuLaunchHostFunc, 10000, gd_CUstream, gd_CUhostFn *, void *)                              \
    CALL(cuStreamCreate, 2000, gd_CUstream *, unsigned)                                            \
    CALL(cuStreamDestroy, 4000, gd_CUstream)                                                       \
    CALL(cuStreamSynchronize, 2000, gd_CUstream)                                                   \
    CALL(cuStreamWaitEvent, 3020, gd_CUstream, gd_CUevent, unsigned)                               \
    CALL(cuStreamBeginCapture, 10010, gd_CUstream, gd_CUstreamCaptureMode)                         \
    CALL(cuStreamEndCapture, 10000, gd_CUstream, gd_CUgraph *)                                     \
    CALL(cuEventCreate, 2000, gd_CUevent *, unsigned)                                              \
    CALL(cuEventQuery, 2000, gd_CUevent)                                                           \
    CALL(cuEventRecord, 2000, gd_CUevent, gd_CUstream)                                             \
    CALL(cuGraphGetEdges, 12030, gd_CUgraph, gd_CUgraphNode *, gd_CUgraphNode *,                   \
         gd_CUgraphEdgeData *, size_t *)                                                           \
    CALL(cuGraphInstantiateWithFlags, 11040, gd_CUgraphExec *, gd_CUgraph, unsigned long long)     \
    CALL(cuGraphExecUpdate, 12000, gd_CUgraphExec, gd_CUgraph, gd_CUgraphExecUpdateResultInfo *)   \
    CALL(cuGraphExecKernelNodeSetParams, 12000, gd_CUgraphExec, gd_CUgraphNode,                    \
         const gd_CUDA_KERNEL_NODE_PARAMS *)                                                       \
    CALL(cuGraphExecNodeSetParams, 12020, gd_CUgraphExec, gd_CUgraphNode, gd_CUgraphNodeParams *)  \
    CALL(cuGraphExecChildGraphNodeSetParams, 11010, gd_CUgraphExec, gd_CUgraphNode, gd_CUgraph)    \
    CALL(cuGraphNodeSetEnabled, 11060, gd_CUgraphExec, gd_CUgraphNode, unsigned)                   \
    CALL(cuGraphExecDestroy, 10000, gd_CUgraphExec)                                                \
    CALL(cuGraphDestroy, 10000, gd_CUgraph)                                                        \
    CALL(cuGraphCreate, 10000, gd_CUgraph *, unsigned)                                             \
    CALL(cuGraphAddKernelNode, 12000, gd_CUgraphNode *, gd_CUgraph, const gd_CUgraphNode *,        \
         size_t, const gd_CUDA_KERNEL_NODE_PARAMS *)                                               \
    CALL(cuGraphAddChildGraphNode, 10000, gd_CUgraphNode *, gd_CUgraph, const gd_CUgraphNode *,    \
         size_t, gd_CUgraph)                                                                       \
    CALL(cuGraphChildGraphNodeGetGraph, 10000, gd_CUgraphNode, gd_CUgraph *)                       \
    CALL(cuGraphAddDependencies, 12030, gd_CUgraph, const gd_CUgraphNode *,                        \
         const gd_CUgraphNode *, const gd_CUgraphEdgeData *, size_t)                               \
    CALL(cuGraphLaunch, 10000, gd_CUgraphExec, gd_CUstream)

static struct {
#define CALL(name, version, ...) gd_CUresult (*name)(__VA_ARGS__);
    CALLS(CALL)
#undef CALL
} driver;

static struct {
    gd_CUmodule module;
    gd_CUfunction waits, never, sometimes;
    gd_CUdeviceptr counter;
} device;

static void need(gd_CUresult result, const char *what)
{
    if (result == GD_CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)result);
    fflush(stdout);
    _exit(3);
}
#define NEED(call) need(driver.call, #call)

static void *open_driver(void)
{
    gd_CUresult (*get)(const char *, void **, int, uint64_t, int *) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *function;
    int status;

    if (!library) {
        printf("%s\n", dlerror());
        exit(4);
    }
    function = dlsym(library, "cuGetProcAddress_v2");
    memcpy(&get, &function, sizeof get);
#define CALL(name, version, ...)                                                                   \
    need(get(#name, &function, version, 0, &status), #name);                                       \
    memcpy(&driver.name, &function, sizeof function);
    CALLS(CALL)
#undef CALL
    return library;
}

static void load(void)
{
    unsigned zero = 0;
    NEED(cuModuleLoadData(&device.module, text));
    NEED(cuModuleGetFunction(&device.waits, device.module, "waits"));
    NEED(cuModuleGetFunction(&device.never, device.module, "_Z5nevermPj"));
    NEED(cuModuleGetFunction(&device.sometimes, device.module, "sometimes"));
    NEED(cuMemAlloc(&device.counter, 4));
    NEED(cuMemsetD32(device.counter, zero, 1));
}

static void begin(void)
{
    gd_CUcontext context;
    gd_CUdevice ordinal;
    open_driver();
    NEED(cuInit(0));
    NEED(cuDeviceGet(&ordinal, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, ordinal));
    NEED(cuCtxSetCurrent(context));
    load();
}

/* Launches give their arguments packed from here on. */
static int packs;

static void pack(void)
{
    packs = 1;
}

static inline __attribute__((always_inline)) void launch_blocks(gd_CUfunction function,
                                                                gd_CUstream stream, int early,
                                                                unsigned blocks, unsigned threads)
{
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    gd_CUlaunchConfig config = {blocks, 1, 1, threads, 1, 1, 0, stream, &attribute, early != 0};
    void *arguments[] = {&device.counter};
    size_t bytes = sizeof device.counter;
    void *extra[] = {GD_CU_LAUNCH_PARAM_BUFFER_POINTER, &device.counter,
                     GD_CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, GD_CU_LAUNCH_PARAM_END};
    NEED(cuLaunchKernelEx(&config, function, packs ? NULL : arguments, packs ? extra : NULL));
}

/* Not inlined: reports name it. */
__attribute__((noinline)) static void launch(gd_CUfunction function, gd_CUstream stream, int early)
{
    launch_blocks(function, stream, early, 1, 1);
    __asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
}

static void tell(void)
{
    unsigned value = 0;
    NEED(cuCtxSynchronize());
    NEED(cuMemcpyDtoH(&value, device.counter, 4));
    printf("counter %u\n", value);
    fflush(stdout);
}

/* Kernels that wait and are launched with the attribute. */
static void run_right(void)
{
    for (int i = 0; i < 4; i++)
        launch(device.waits, NULL, i > 0);
}

/* Blocks of the first leave no room for others. */
static void run_full(void)
{
    launch_blocks(device.waits, NULL, 0, 64, 1024);
    launch_blocks(device.waits, NULL, 1, 64, 1024);
}

/* An address in a struct by value, and a struct of three numbers. */
static void run_struct(void)
{
    struct {
        unsigned unused[2];
        gd_CUdeviceptr counter;
        unsigned by[2];
    } first = {{7, 7}, device.counter, {40, 0}};
    unsigned second[3] = {1, 1, 2};
    void *arguments[] = {&first, second};
    gd_CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
    gd_CUfunction packed;
    NEED(cuModuleGetFunction(&packed, device.module, "packed"));
    for (int i = 0; i < 2; i++)
        NEED(cuLaunchKernelEx(&config, packed, arguments, NULL));
}

static void run_racy(void)
{
    launch(device.waits, NULL, 0);
    launch(device.never, NULL, 1);
}

static void run_path(void)
{
    launch(device.waits, NULL, 0);
    launch(device.sometimes, NULL, 1);
}

static void run_guarded(void)
{
    gd_CUfunction guarded;
    NEED(cuModuleGetFunction(&guarded, device.module, "guarded"));
    launch(device.waits, NULL, 0);
    launch(guarded, NULL, 1);
}

static void run_lost(void)
{
    launch(device.waits, NULL, 0);
    launch(device.waits, NULL, 0);
}

/* One that reads the counter before its wait, behind one that writes it: by its argument, or by an
 * address in a table. */
static void launch_eager(const char *first, int early)
{
    gd_CUfunction functions[2];
    gd_CUdeviceptr table, counter = device.counter;
    NEED(cuModuleGetFunction(&functions[0], device.module, first));
    NEED(cuModuleGetFunction(&functions[1], device.module, "eager"));
    NEED(cuMemAlloc(&table, sizeof table));
    NEED(cuMemcpyHtoD(table, &counter, sizeof counter));
    if (strcmp(first, "again") == 0)
        functions[1] = functions[0];
    device.counter = strcmp(first, "waits") != 0 ? table : counter;
    launch(functions[0], NULL, 0);
    device.counter = functions[0] == functions[1] ? table : counter;
    launch(functions[1], NULL, early);
    device.counter = counter;
}

static void run_eager(void)
{
    launch_eager("waits", 0);
}

static void run_eager_early(void)
{
    launch_eager("waits", 1);
}

/* One that reads by a tensor map before its wait, or by an address in a struct of a map's size:
 * behind one that writes the counter, or what the map leads to. */
static void launch_boxed(const char *name, int shared)
{
    enum { TYPE_UINT32 = 2, ELEMENTS = 64, BEHIND = 128 };
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    gd_CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, &attribute, 1};
    const uint64_t size = ELEMENTS, stride = 0;
    const uint32_t box = 32, step = 1;
    const gd_CUdeviceptr counter = device.counter;
    gd_CUtensorMap map;
    gd_CUdeviceptr memory, to;
    void *arguments[] = {&map, &to};
    gd_CUfunction function;

    NEED(cuModuleGetFunction(&function, device.module, name));
    NEED(cuMemAlloc(&memory, 4 * ELEMENTS));
    NEED(cuMemAlloc(&to, 4));
    NEED(cuTensorMapEncodeTiled(&map, TYPE_UINT32, 1, (void *)(uintptr_t)memory, &size, &stride,
                                &box, &step, 0, 0, 0, 0));
    if (strcmp(name, "boxed") == 0)
        memcpy(memset(&map, 0, sizeof map), &memory, sizeof memory);
    device.counter = shared ? memory + BEHIND : counter;
    launch(device.waits, NULL, 0);
    device.counter = counter;
    NEED(cuLaunchKernelEx(&config, function, arguments, NULL));
}

static void run_mapped(void)
{
    launch_boxed("mapped", 0);
}

static void run_mapped_shared(void)
{
    launch_boxed("mapped", 1);
}

static void run_boxed(void)
{
    launch_boxed("boxed", 0);
}

/* One that waits, behind an early one of other memory that does not, behind one that writes. */
static void launch_loose(gd_CUstream stream)
{
    const gd_CUdeviceptr counter = device.counter;
    gd_CUdeviceptr other;

    NEED(cuMemAlloc(&other, 4));
    launch(device.never, stream, 0);
    device.counter = other;
    launch(device.never, stream, 1);
    device.counter = counter;
    launch(device.waits, stream, 0);
}

/* An early one that reads before its wait, behind one that triggers early and is not early itself:
 * so what came before that has ended. */
static void launch_relying(gd_CUstream stream)
{
    const gd_CUdeviceptr counter = device.counter;
    gd_CUfunction polite, scatter, eager;
    gd_CUdeviceptr table, other;

    NEED(cuModuleGetFunction(&polite, device.module, "polite"));
    NEED(cuModuleGetFunction(&scatter, device.module, "scatter"));
    NEED(cuModuleGetFunction(&eager, device.module, "eager"));
    NEED(cuMemAlloc(&other, 4));
    NEED(cuMemAlloc(&table, sizeof table));
    NEED(cuMemcpyHtoD(table, &other, sizeof other));
    launch(polite, stream, 0);
    device.counter = table;
    launch(scatter, stream, 0);
    device.counter = counter;
    launch(eager, stream, 1);
}

/* Kernels in a row, all but the first early: the first and the last one have the counter, those
 * between, `times` of them, memory of their own. */
static void launch_row(const char *second, int times, const char *third, gd_CUstream stream)
{
    const gd_CUdeviceptr counter = device.counter;
    gd_CUfunction middle, last;
    gd_CUdeviceptr other;

    NEED(cuModuleGetFunction(&middle, device.module, second));
    NEED(cuModuleGetFunction(&last, device.module, third));
    NEED(cuMemAlloc(&other, 4));
    launch(device.never, stream, 0);
    device.counter = other;
    for (int i = 0; i < times; i++)
        launch(middle, stream, 1);
    device.counter = counter;
    launch(last, stream, 1);
}

static void launch_far(gd_CUstream stream)
{
    launch_row("polite", 1, "eager", stream);
}

static void run_far(void)
{
    launch_far(NULL);
}

static void run_far_loose(void)
{
    launch_row("_Z5nevermPj", 1, "waits", NULL);
}

static void run_far_ordered(void)
{
    launch_row("polite", 1, "waits", NULL);
}

static void run_farther(void)
{
    launch_row("polite", 2, "eager", NULL);
}

static void run_loose(void)
{
    launch_loose(NULL);
}

static void run_relying(void)
{
    launch_relying(NULL);
}

static void run_captured(void (*launch_all)(gd_CUstream))
{
    const gd_CUstreamCaptureMode relaxed = 2;
    gd_CUgraphExec executable;
    gd_CUstream stream;
    gd_CUgraph graph;

    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, relaxed));
    launch_all(stream);
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    NEED(cuGraphLaunch(executable, stream));
}

static void run_far_graph(void)
{
    run_captured(launch_far);
}

static void run_loose_graph(void)
{
    run_captured(launch_loose);
}

static void run_relying_graph(void)
{
    run_captured(launch_relying);
}

/* A kernel behind itself. */
static void run_again(void)
{
    launch_eager("again", 1);
}

static void run_scatter(void)
{
    launch_eager("scatter", 0);
}

static void run_scatter_early(void)
{
    launch_eager("scatter", 1);
}

static void run_never(void)
{
    for (int i = 0; i < 3; i++)
        launch(device.never, NULL, 0);
}

static void run_between(void)
{
    launch(device.waits, NULL, 0);
    NEED(cuMemsetD8Async(device.counter, 0, 4, NULL));
    launch(device.waits, NULL, 1);
}

static gd_CUgraph capture(int early)
{
    gd_CUstream stream;
    gd_CUgraph graph;
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(device.waits, stream, 0);
    launch(device.waits, stream, early);
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuStreamDestroy(stream));
    return graph;
}

static size_t count_programmatic(gd_CUgraph graph)
{
    gd_CUgraphNode from[8], to[8];
    gd_CUgraphEdgeData data[8];
    size_t count = 8, found = 0;
    NEED(cuGraphGetEdges(graph, from, to, data, &count));
    for (size_t i = 0; i < count; i++)
        found += data[i].type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    return found;
}

static void run_graph(int early)
{
    gd_CUgraphExec executable;
    gd_CUgraphExecUpdateResultInfo info;
    gd_CUgraph graph = capture(early);
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    NEED(cuGraphExecUpdate(executable, graph, &info));
    for (int i = 0; i < 3; i++)
        NEED(cuGraphLaunch(executable, NULL));
    printf("programmatic edges %zu\n", count_programmatic(graph));
}

static void run_graph_early(void)
{
    run_graph(1);
}

static void run_graph_plain(void)
{
    run_graph(0);
}

static gd_CUDA_KERNEL_NODE_PARAMS node_params(gd_CUfunction function, void **arguments)
{
    return (gd_CUDA_KERNEL_NODE_PARAMS){.func = function,
                                        .gridDimX = 1,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 1,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .kernelParams = arguments};
}

/* A graph that is made by hand: a kernel that waits, and a programmatic edge to another one. */
static gd_CUgraph make_edge(gd_CUfunction function, gd_CUgraphNode *second)
{
    const gd_CUgraphEdgeData data = {.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                     .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    void *arguments[] = {&device.counter};
    gd_CUDA_KERNEL_NODE_PARAMS params = node_params(device.waits, arguments);
    gd_CUgraph graph;
    gd_CUgraphNode first;
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddKernelNode(&first, graph, NULL, 0, &params));
    params.func = function;
    NEED(cuGraphAddKernelNode(second, graph, NULL, 0, &params));
    NEED(cuGraphAddDependencies(graph, &first, second, &data, 1));
    return graph;
}

/* In another graph. */
static void run_edges(void)
{
    gd_CUgraph outer, child;
    gd_CUgraphNode second, node;
    gd_CUgraphExec executable;
    gd_CUgraph graph = make_edge(device.never, &second);
    NEED(cuGraphCreate(&outer, 0));
    NEED(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    NEED(cuGraphInstantiateWithFlags(&executable, outer, 0));
    NEED(cuGraphLaunch(executable, NULL));
    NEED(cuGraphChildGraphNodeGetGraph(node, &child));
    printf("programmatic edges %zu\n", count_programmatic(child));
}

/* The second kernel of an executable graph is exchanged by all ways. It runs three times as
 * `never`, once not at all, five times as `waits`. */
static void run_exchanges(void)
{
    void *arguments[] = {&device.counter};
    gd_CUDA_KERNEL_NODE_PARAMS waits = node_params(device.waits, arguments),
                               never = node_params(device.never, arguments);
    gd_CUgraphNodeParams any = {.type = GD_CU_GRAPH_NODE_TYPE_KERNEL, .is.kernel = never};
    gd_CUgraphExecUpdateResultInfo info;
    gd_CUgraphNode second, other;
    gd_CUgraphExec executable;
    gd_CUgraph graph = make_edge(device.waits, &second), updated = make_edge(device.never, &other);
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    NEED(cuGraphLaunch(executable, NULL));
    int taken = driver.cuGraphExecKernelNodeSetParams(executable, second, &never) == 0;
    NEED(cuGraphLaunch(executable, NULL));
    for (int i = 0; i < 3; i++) {
        NEED(cuGraphExecKernelNodeSetParams(executable, second, &waits));
        NEED(cuGraphLaunch(executable, NULL));
    }
    taken += driver.cuGraphExecNodeSetParams(executable, second, &any) == 0;
    NEED(cuGraphLaunch(executable, NULL));
    NEED(cuGraphNodeSetEnabled(executable, second, 0));
    NEED(cuGraphLaunch(executable, NULL));
    NEED(cuGraphNodeSetEnabled(executable, second, 1));
    taken += driver.cuGraphExecUpdate(executable, updated, &info) == 0;
    NEED(cuGraphLaunch(executable, NULL));
    NEED(cuGraphExecKernelNodeSetParams(executable, second, &waits));
    NEED(cuGraphDestroy(graph));
    NEED(cuGraphLaunch(executable, NULL));
    printf("exchanged %d of 3 times\n", taken);
}

/* Drivers may not have it. */
static void run_exchanged_child(void)
{
    gd_CUgraph outer, updated;
    gd_CUgraphNode second, node;
    gd_CUgraphExec executable;
    gd_CUgraph graph = make_edge(device.waits, &second);
    updated = make_edge(device.never, &second);
    NEED(cuGraphCreate(&outer, 0));
    NEED(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    NEED(cuGraphInstantiateWithFlags(&executable, outer, 0));
    NEED(cuGraphLaunch(executable, NULL));
    int taken = driver.cuGraphExecChildGraphNodeSetParams(executable, node, updated) == 0;
    NEED(cuGraphLaunch(executable, NULL));
    printf("exchanged %d of 1 times\n", taken);
}

/* Two graphs, instantiated, updated to each other and run again and again, as programs do that
 * capture each step: what is recorded does not grow. */
static void run_many_graphs(void)
{
    gd_CUgraphExecUpdateResultInfo info;
    gd_CUgraphNode second;
    gd_CUgraph graphs[] = {make_edge(device.waits, &second), make_edge(device.sometimes, &second)};
    struct stat told;
    char path[4096];
    off_t bytes = 0;
    for (int i = 0; i < 2000; i++) {
        gd_CUgraphExec executable;
        NEED(cuGraphInstantiateWithFlags(&executable, graphs[i % 2], 0));
        NEED(cuGraphExecUpdate(executable, graphs[(i + 1) % 2], &info));
        NEED(cuGraphLaunch(executable, NULL));
        NEED(cuGraphExecDestroy(executable));
    }
    DIR *folder = opendir(getenv("GRIDDEP_ATTACH_RECORD"));
    for (struct dirent *each; folder && (each = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", getenv("GRIDDEP_ATTACH_RECORD"), each->d_name);
        bytes += strstr(path, ".attached") && !stat(path, &told) ? told.st_size : 0;
    }
    if (folder)
        closedir(folder);
    printf("%s\n", bytes > 0 && bytes <= 1 << 20 ? "small" : "not small");
}

/* A memset between two kernels of a graph that was captured. */
static void run_graph_between(void)
{
    gd_CUstream stream;
    gd_CUgraph graph;
    gd_CUgraphExec executable;
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(device.waits, stream, 0);
    NEED(cuMemsetD8Async(device.counter, 0, 4, stream));
    launch(device.waits, stream, 1);
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    NEED(cuGraphLaunch(executable, stream));
    NEED(cuStreamSynchronize(stream));
}

/* Copies from the host, on the device and to the host, and a memset, around a kernel in a graph
 * that runs twice, with other bytes on the host. */
static void run_graph_copies(void)
{
    static unsigned host, back;
    gd_CUdeviceptr other;
    gd_CUstream stream;
    gd_CUgraph graph;
    gd_CUgraphExec executable;
    NEED(cuMemAlloc(&other, 8));
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuMemcpyHtoDAsync(device.counter, &host, 4, stream));
    launch(device.waits, stream, 0);
    NEED(cuMemcpyDtoDAsync(other + 4, device.counter, 4, stream));
    NEED(cuMemsetD8Async(device.counter, 1, 2, stream));
    launch(device.waits, stream, 0);
    NEED(cuMemcpyDtoHAsync(&back, other + 4, 4, stream));
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    for (host = 70000; host < 300000; host += 140000) {
        NEED(cuGraphLaunch(executable, stream));
        NEED(cuStreamSynchronize(stream));
        printf("copied %u\n", back);
    }
}

/* A host function between two kernels of a graph. */
static void ignore(void *user)
{
    (void)user;
}

static void run_graph_host(void)
{
    gd_CUstream stream;
    gd_CUgraph graph;
    gd_CUgraphExec executable;
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(device.waits, stream, 0);
    NEED(cuLaunchHostFunc(stream, ignore, NULL));
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    NEED(cuGraphLaunch(executable, stream));
    NEED(cuStreamSynchronize(stream));
}

/* A second stream waits for an event that a launch records. */
static void run_event(void)
{
    gd_CUevent event;
    gd_CUstream first, second;
    NEED(cuEventCreate(&event, GD_CU_EVENT_DISABLE_TIMING));
    NEED(cuStreamCreate(&first, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&second, GD_CU_STREAM_NON_BLOCKING));
    gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                      .value.programmaticEvent = {.event = event}};
    gd_CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, first, &attribute, 1};
    void *arguments[] = {&device.counter};
    NEED(cuLaunchKernelEx(&config, device.waits, arguments, NULL));
    NEED(cuStreamWaitEvent(second, event, 0));
    launch(device.never, second, 0);
    NEED(cuStreamSynchronize(second));
    printf("event %d\n", (int)driver.cuEventQuery(event));
}

/* Four streams that wait for each other: by events, by the host and by the default stream, with a
 * memset and a copy between. */
static void run_streams(void)
{
    gd_CUstream streams[3];
    gd_CUevent event;
    unsigned ten = 10;
    NEED(cuEventCreate(&event, GD_CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 3; i++)
        NEED(cuStreamCreate(&streams[i], i < 2 ? GD_CU_STREAM_NON_BLOCKING : 0));
    for (int i = 0; i < 4; i++) {
        launch(device.waits, streams[i % 2], 0);
        launch(device.waits, streams[i % 2], 0);
        NEED(cuEventRecord(event, streams[i % 2]));
        NEED(cuStreamWaitEvent(streams[(i + 1) % 2], event, 0));
    }
    NEED(cuMemsetD8Async(device.counter, 3, 4, streams[0]));
    NEED(cuEventRecord(event, streams[0]));
    NEED(cuStreamWaitEvent(streams[1], event, 0));
    launch(device.never, streams[1], 0);
    NEED(cuStreamSynchronize(streams[1]));
    launch(device.never, streams[2], 0);
    launch(device.waits, NULL, 0);
    launch(device.never, streams[2], 0);
    NEED(cuEventRecord(event, streams[2]));
    while (driver.cuEventQuery(event) == GD_CUDA_ERROR_NOT_READY)
        ;
    launch(device.never, streams[0], 0);
    NEED(cuStreamSynchronize(streams[0]));
    NEED(cuMemcpyHtoD(device.counter, &ten, 4));
    launch(device.never, streams[1], 0);
    NEED(cuStreamSynchronize(streams[1]));
    launch(device.waits, streams[2], 0);
}

static void run_library(void)
{
    gd_CUlibrary library;
    gd_CUkernel kernel;
    NEED(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "waits"));
    launch((gd_CUfunction)kernel, NULL, 0);
    launch((gd_CUfunction)kernel, NULL, 1);
}

/* A library's kernel in a graph: its node has a function that nobody asked for. */
static void run_library_graph(void)
{
    gd_CUlibrary library;
    gd_CUkernel kernel;
    gd_CUstream stream;
    gd_CUgraph graph;
    gd_CUgraphExec executable;
    NEED(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "packed"));
    NEED(cuLibraryGetKernel(&kernel, library, "waits"));
    NEED(cuModuleUnload(device.module));
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch((gd_CUfunction)kernel, stream, 0);
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphInstantiateWithFlags(&executable, graph, 0));
    NEED(cuGraphLaunch(executable, NULL));
}

/* Memory that the host writes anew before each launch. */
static void run_rewritten(void)
{
    static unsigned char bytes[700 << 10];
    const gd_CUdeviceptr small = device.counter;
    NEED(cuMemAlloc(&device.counter, sizeof bytes));
    for (unsigned char i = 0; i < 3; i++) {
        bytes[sizeof bytes - 1] = (unsigned char)(i + 1);
        NEED(cuMemcpyHtoD(device.counter, bytes, sizeof bytes));
        launch(device.waits, NULL, 0);
        NEED(cuCtxSynchronize());
    }
    device.counter = small;
}

/* A kernel with a name as templates have them: NAME, or one that nobody can read. */
static void run_long(void)
{
    char name[160], module_text[512];
    const char *given = getenv("NAME");
    gd_CUmodule module;
    gd_CUfunction function;
    memset(name, 'n', sizeof name);
    memcpy(name, "first", 5);
    memcpy(name + sizeof name - 5, "last", 5);
    if (given)
        snprintf(name, sizeof name, "%s", given);
    snprintf(module_text, sizeof module_text,
             ".version 7.8\n.target sm_90\n.address_size 64\n"
             ".visible .entry %s(.param .u64 p)\n{\n    ret;\n}\n",
             name);
    NEED(cuModuleLoadData(&module, module_text));
    NEED(cuModuleGetFunction(&function, module, name));
    launch(device.waits, NULL, 0);
    launch(function, NULL, 1);
}

/* Linked first, as hashcat does. */
static void run_linked(void)
{
    gd_CUlinkState link;
    gd_CUmodule module;
    gd_CUfunction function;
    void *image;
    size_t bytes;
    NEED(cuLinkCreate(0, NULL, NULL, &link));
    NEED(cuLinkAddData(link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, sizeof text, "text", 0,
                       NULL, NULL));
    NEED(cuLinkComplete(link, &image, &bytes));
    NEED(cuModuleLoadData(&module, image));
    NEED(cuModuleGetFunction(&function, module, "waits"));
    for (int i = 0; i < 2; i++)
        launch(function, NULL, i);
}

/* A fatbin as nvcc makes them: $FATBIN. */
static void *read_fatbin(void)
{
    static char image[1 << 17];
    FILE *file = fopen(getenv("FATBIN"), "rb");
    if (!file || !fread(image, 1, sizeof image, file))
        exit(5);
    fclose(file);
    return image;
}

static void run_fatbin(void)
{
    gd_CUmodule module;
    gd_CUfunction functions[3];
    float by = 2;
    int count = 1;
    void *arguments[] = {&device.counter, &by, &count};
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    gd_CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, &attribute, 1};
    NEED(cuModuleLoadData(&module, read_fatbin()));
    NEED(cuModuleGetFunction(&functions[0], module, "scale"));
    NEED(cuModuleGetFunction(&functions[1], module, "partly"));
    NEED(cuModuleGetFunction(&functions[2], module, "fill"));
    for (int i = 0; i < 3; i++)
        NEED(cuLaunchKernelEx(&config, functions[i], arguments, NULL));
}

/* As the CUDA runtime does: a library of the wrapped fatbin $FATBIN, and of it the kernels
 * $KERNELS, one behind the other and each of them twice, from one array to another and back. All
 * launches but the first have the attribute, unless $PLAIN is set. */
static void run_shapes(void)
{
    enum { COUNT = 100 };
    gd_fatbin_wrapper wrapper = {
        .magic = GD_FATBIN_WRAPPER_MAGIC, .version = 1, .fatbin = read_fatbin()};
    gd_CUlibrary library;
    gd_CUkernel kernel;
    gd_CUdeviceptr arrays[2];
    int count = COUNT;
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    gd_CUlaunchConfig config = {16, 1, 1, 96, 1, 1, 0, NULL, &attribute, 0};
    NEED(cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
    for (int i = 0; i < 2; i++) {
        NEED(cuMemAlloc(&arrays[i], COUNT * sizeof(float)));
        NEED(cuMemsetD32(arrays[i], 0, COUNT));
    }
    char *names = strdup(getenv("KERNELS"));
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
        NEED(cuLibraryGetKernel(&kernel, library, name));
        for (int i = 0; i < 2; i++) {
            void *arguments[] = {&arrays[i], &arrays[1 - i], &count};
            NEED(cuLaunchKernelEx(&config, (gd_CUfunction)kernel, arguments, NULL));
            config.numAttrs = !getenv("PLAIN");
        }
    }
    free(names);
}

/* Handles may come again for something else. */
static void run_unload(void)
{
    for (int i = 0; i < 3; i++) {
        launch(device.waits, NULL, 0);
        NEED(cuCtxSynchronize());
        NEED(cuModuleUnload(device.module));
        load();
    }
}

static void run_contexts(void)
{
    gd_CUcontext context;
    for (int i = 0; i < 2; i++) {
        NEED(cuCtxCreate(&context, 0, 0));
        load();
        launch(device.waits, NULL, 0);
        launch(device.never, NULL, 1);
        tell();
        NEED(cuCtxDestroy(context));
    }
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuCtxSetCurrent(context));
    load();
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Contexts that end with their modules, each of a text of a megabyte; every other one is the
 * device's own. */
static void run_endings(void)
{
    enum { BYTES = 1 << 20, COUNT = 24 };
    static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k()\n{\nret;\n}\n";
    char *image = malloc(BYTES);
    gd_CUcontext context, before;
    gd_CUmodule module;
    size_t used = 0;

    memset(image, '\n', BYTES);
    memcpy(image, head, sizeof head - 1);
    image[BYTES - 1] = 0;
    NEED(cuDevicePrimaryCtxRelease(0));
    for (int i = 0; i < COUNT; i++) {
        if (i % 2)
            NEED(cuCtxCreate(&context, 0, 0));
        else
            NEED(cuDevicePrimaryCtxRetain(&context, 0));
        NEED(cuCtxSetCurrent(context));
        NEED(cuModuleLoadData(&module, image));
        if (i % 2)
            NEED(cuCtxDestroy(context));
        else
            NEED(cuDevicePrimaryCtxRelease(0));
        if (i == 3)
            used = bytes_in_use();
    }
    puts(bytes_in_use() < used + 4 * (size_t)BYTES ? "steady" : "grown");
    free(image);
    NEED(cuDevicePrimaryCtxRetain(&before, 0));
    NEED(cuCtxSetCurrent(before));
    load();
}

/* Without a wait for the launches, and without a current context. */
static void run_release(void)
{
    NEED(cuCtxSetCurrent(NULL));
    NEED(cuDevicePrimaryCtxRelease(0));
}

static void go_to_root(void)
{
    if (chdir("/"))
        exit(5);
}

static void *run_thread(void *context)
{
    gd_CUstream stream;
    NEED(cuCtxSetCurrent(context));
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 200; i++)
        launch(device.waits, stream, i > 0);
    NEED(cuStreamSynchronize(stream));
    NEED(cuStreamDestroy(stream));
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[8];
    gd_CUcontext context;
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, run_thread, context);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static void run_error(void)
{
    void *arguments[] = {&device.counter};
    errno = 77;
    printf("bad shape %d\n",
           (int)driver.cuLaunchKernel(device.waits, 0, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    gd_CUmodule module;
    gd_CUfunction function;
    printf("bad image %d\n", (int)driver.cuModuleLoadData(&module, ".version 99\n"));
    printf("no kernel %d\n", (int)driver.cuModuleGetFunction(&function, device.module, "nothing"));
    launch(device.waits, NULL, 0);
    printf("errno %d\n", errno);
}

static void run_crash(void)
{
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void run_kill(void)
{
    fflush(stdout);
    raise(SIGKILL);
}

static void run_abort(void)
{
    fflush(stdout);
    abort();
}

/* The program ends while it captures. */
static void run_capture_exit(void)
{
    gd_CUstream stream;
    NEED(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(device.waits, stream, 0);
    launch(device.waits, stream, 1);
    exit(0);
}

static void run_modules(void)
{
    gd_CUmodule module;
    gd_CUfunction waits;
    for (int i = 0; i < 2000; i++) {
        NEED(cuModuleLoadData(&module, text));
        NEED(cuModuleGetFunction(&waits, module, "waits"));
        launch(waits, NULL, i % 2);
        NEED(cuModuleUnload(module));
    }
}

static void run_exit(void)
{
    fflush(stdout);
    _exit(9);
}

/* Files of the program's own keep their numbers, and a child that closes all of them goes on. */
static void run_descriptors(void)
{
    int next = dup(0);
    printf("descriptor %d\n", next);
    for (int i = 3; i < 64; i++)
        close(i);
}

/* The driver is used in the child alone, and in the parent behind it. */
static void run_fork(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        begin();
        run_racy();
        tell();
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    begin();
}

/* A child that leaves the driver alone. */
static void run_fork_idle(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(5);
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
}

static void close_driver(void)
{
    dlclose(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));               /* what is opened here */
    dlclose(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)); /* what begin opened */
}

static void run_dlclose(void)
{
    for (int i = 0; i < 3; i++) {
        void *library = open_driver();
        NEED(cuInit(0));
        dlclose(library);
    }
    begin();
}

static const struct {
    const char *name;
    int without; /* it begins by itself */
    void (*run)(void);
} actions[] = {{"begin", 1, begin},
               {"pack", 0, pack},
               {"right", 0, run_right},
               {"racy", 0, run_racy},
               {"struct", 0, run_struct},
               {"full", 0, run_full},
               {"path", 0, run_path},
               {"guarded", 0, run_guarded},
               {"lost", 0, run_lost},
               {"never", 0, run_never},
               {"eager", 0, run_eager},
               {"eager-early", 0, run_eager_early},
               {"mapped", 0, run_mapped},
               {"mapped-shared", 0, run_mapped_shared},
               {"boxed", 0, run_boxed},
               {"far", 0, run_far},
               {"far-loose", 0, run_far_loose},
               {"farther", 0, run_farther},
               {"far-ordered", 0, run_far_ordered},
               {"far-graph", 0, run_far_graph},
               {"loose", 0, run_loose},
               {"relying", 0, run_relying},
               {"loose-graph", 0, run_loose_graph},
               {"relying-graph", 0, run_relying_graph},
               {"scatter", 0, run_scatter},
               {"again", 0, run_again},
               {"scatter-early", 0, run_scatter_early},
               {"between", 0, run_between},
               {"graph", 0, run_graph_early},
               {"plain-graph", 0, run_graph_plain},
               {"edges", 0, run_edges},
               {"exchanges", 0, run_exchanges},
               {"exchanged-child", 0, run_exchanged_child},
               {"many-graphs", 0, run_many_graphs},
               {"graph-between", 0, run_graph_between},
               {"event", 0, run_event},
               {"graph-copies", 0, run_graph_copies},
               {"graph-host", 0, run_graph_host},
               {"streams", 0, run_streams},
               {"library", 0, run_library},
               {"library-graph", 0, run_library_graph},
               {"linked", 0, run_linked},
               {"long", 0, run_long},
               {"rewritten", 0, run_rewritten},
               {"fatbin", 0, run_fatbin},
               {"shapes", 0, run_shapes},
               {"unload", 0, run_unload},
               {"contexts", 0, run_contexts},
               {"endings", 0, run_endings},
               {"release", 0, run_release},
               {"root", 0, go_to_root},
               {"threads", 0, run_threads},
               {"error", 0, run_error},
               {"crash", 0, run_crash},
               {"kill", 0, run_kill},
               {"exit", 0, run_exit},
               {"abort", 0, run_abort},
               {"capture-exit", 0, run_capture_exit},
               {"modules", 0, run_modules},
               {"close", 0, close_driver},
               {"descriptors", 0, run_descriptors},
               {"fork", 1, run_fork},
               {"fork-idle", 1, run_fork_idle},
               {"dlclose", 1, run_dlclose},
               {"tell", 0, tell}};

int main(int count, char **words)
{
    int begun = 0;
    for (int i = 1; i < count; i++) {
        size_t at = 0;
        while (at < sizeof actions / sizeof *actions && strcmp(actions[at].name, words[i]))
            at++;
        if (at == sizeof actions / sizeof *actions) {
            execvp(words[i], words + i); /* another program */
            return 2;
        }
        if (!actions[at].without && !begun)
            begin();
        actions[at].run();
        begun = 1;
    }
    return 0;
}
