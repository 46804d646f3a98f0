/* Memory that runs out: every allocation of the emulated driver and its interpreter fails in turn,
 * while a program loads, launches, captures, launches graphs, uses a second device and ends. The
 * driver may refuse with its error codes; what it says is done is done; and it ends without a crash
 * or, as the sanitizers see, a leak. Each try is a process, because cuInit is among the calls and a
 * race detector that has run out of memory stays stopped. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator/api.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"

enum { THREADS = 32, CTAS = 2, WORDS = THREADS * CTAS, BYTES = 4 * WORDS, FAN = 34 };
enum { FINE = 0, FAILED_WELL = 1, WRONG = 2, MOST = 100000 };

/* Adds one by way of shared memory, twice: through barriers, and as an asynchronous copy behind an
 * mbarrier; counts itself. The second is of clusters and has a call with local memory. */
static const char kernels[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".func (.param .b32 r) next(.param .b32 v)\n{\n    .local .b32 l;\n    .reg .b32 %v;\n    "
    "ld.param.b32 %v, [v];\n"
    "    st.local.b32 [l], %v;\n    ld.local.b32 %v, [l];\n    add.u32 %v, %v, 1;\n    "
    "st.param.b32 [r], %v;\n    "
    "ret;\n}\n"
    ".visible .entry step(.param .u64 in, .param .u64 out)\n{\n    .shared .align 16 .b32 s[32];\n"
    "    .shared .align 16 .b32 t[4];\n    .shared .align 8 .b64 m;\n    .reg .b64 %in, %out, %at, "
    "%base;\n"
    "    .reg .b32 %i, %c, %n, %v, %s;\n    .reg .pred %p, %q;\n"
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u64 %base, %in;\n    "
    "mov.u32 %i, %tid.x;\n"
    "    mov.u32 %c, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mad.lo.u32 %n, %c, %n, %i;\n"
    "    mul.wide.u32 %at, %n, 4;\n    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;\n"
    "    setp.eq.u32 %p, %i, 0;\n    @%p mbarrier.init.shared.b64 [m], 1;\n    bar.sync 0;\n"
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n"
    "    @!%p bra together;\n    mbarrier.arrive.expect_tx.shared.b64 _, [m], 16;\n"
    "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [t], [%base], 16, [m];\n"
    "again:\n    mbarrier.try_wait.parity.shared.b64 %q, [m], 0;\n    @!%q bra again;\ntogether:\n "
    "   bar.warp.sync "
    "-1;\n"
    "    mov.u32 %s, s;\n    mad.lo.u32 %s, %i, 4, %s;\n    cp.async.ca.shared.global [%s], [%in], "
    "4;\n"
    "    cp.async.commit_group;\n    cp.async.wait_group 0;\n    bar.sync 0;\n    ld.shared.u32 "
    "%v, [%s];\n"
    "    add.u32 %v, %v, 1;\n    st.global.u32 [%out], %v;\n    fence.acq_rel.gpu;\n"
    "    red.release.gpu.global.add.u32 [counter], 1;\n    ret;\n}\n"
    ".visible .entry pair(.param .u64 in, .param .u64 out) .reqnctapercluster 2, 1, 1\n{\n"
    "    .reg .b64 %in, %out, %at;\n    .reg .b32 %i, %c, %n, %v;\n"
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %i, %tid.x;\n    "
    "mov.u32 %c, %ctaid.x;\n"
    "    mov.u32 %n, %ntid.x;\n    mad.lo.u32 %n, %c, %n, %i;\n    mul.wide.u32 %at, %n, 4;\n"
    "    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;\n    griddepcontrol.wait;\n"
    "    ld.global.u32 %v, [%in];\n    barrier.cluster.arrive;\n    barrier.cluster.wait;\n    {\n"
    "    .param .b32 v;\n    .param .b32 r;\n    st.param.b32 [v], %v;\n    call.uni (r), next, "
    "(v);\n"
    "    ld.param.b32 %v, [r];\n    }\n    st.global.u32 [%out], %v;\n    ret;\n}\n";

static gd_CUresult worst;
static const char *where = "";

/* Notes what did not succeed; the rest of the program goes on as far as it can without it. */
static bool note(gd_CUresult result, const char *what)
{
    if (result != GD_CUDA_SUCCESS && worst == GD_CUDA_SUCCESS) {
        worst = result;
        where = what;
    }
    return result == GD_CUDA_SUCCESS;
}

#define GOOD(call) note((call), #call)

static gd_CUfunction step, pair;
static gd_CUstream stream, other;
static gd_CUdeviceptr a, b;

static bool launch(gd_CUfunction function, gd_CUdeviceptr in, gd_CUdeviceptr out)
{
    void *parameters[] = {&in, &out};
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    const gd_CUlaunchConfig config = {.gridDimX = CTAS,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = THREADS,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .hStream = stream,
                                      .attrs = &attribute,
                                      .numAttrs = 1};

    return GOOD(cuLaunchKernelEx(&config, function, parameters, NULL));
}

static bool prepare(void)
{
    gd_CUcontext context;
    gd_CUmodule module;

    return GOOD(cuInit(0)) && GOOD(cuCtxCreate_v2(&context, 0, 0)) &&
           GOOD(cuModuleLoadData(&module, kernels)) &&
           GOOD(cuModuleGetFunction(&step, module, "step")) &&
           GOOD(cuModuleGetFunction(&pair, module, "pair")) &&
           GOOD(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING)) &&
           GOOD(cuStreamCreate(&other, GD_CU_STREAM_NON_BLOCKING)) &&
           GOOD(cuMemAlloc_v2(&a, BYTES)) && GOOD(cuMemAlloc_v2(&b, BYTES));
}

static bool run_chain(void)
{
    static const uint32_t zeros[WORDS];
    gd_CUevent event;

    return GOOD(cuEventCreate(&event, 0)) && GOOD(cuMemcpyHtoDAsync_v2(a, zeros, BYTES, other)) &&
           GOOD(cuMemsetD32Async(b, 7, WORDS, other)) && GOOD(cuEventRecord(event, other)) &&
           GOOD(cuStreamWaitEvent(stream, event, 0)) && launch(step, a, b) && launch(pair, b, a) &&
           GOOD(cuStreamSynchronize(stream)) && GOOD(cuEventDestroy_v2(event));
}

static bool run_capture(void)
{
    gd_CUgraph graph = NULL, clone = NULL;
    gd_CUgraphExec executable = NULL;
    bool good = GOOD(cuStreamBeginCapture_v2(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED)) &&
                launch(step, a, b) && launch(step, b, a) && launch(pair, a, b);

    good = GOOD(cuStreamEndCapture(stream, &graph)) && good;
    good = good && GOOD(cuGraphClone(&clone, graph)) &&
           GOOD(cuGraphInstantiateWithFlags(&executable, clone, 0)) &&
           GOOD(cuGraphLaunch(executable, stream)) && GOOD(cuGraphLaunch(executable, stream)) &&
           GOOD(cuStreamSynchronize(stream));
    if (executable)
        GOOD(cuGraphExecDestroy(executable));
    if (clone)
        GOOD(cuGraphDestroy(clone));
    if (graph)
        GOOD(cuGraphDestroy(graph));
    return good;
}

/* A node behind very many others. */
static bool run_fan(void)
{
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUgraphNode nodes[FAN], last;
    bool good = GOOD(cuGraphCreate(&graph, 0));

    for (int i = 0; good && i < FAN; i++)
        good = GOOD(cuGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
    good = good && GOOD(cuGraphAddEmptyNode(&last, graph, nodes, FAN)) &&
           GOOD(cuGraphInstantiateWithFlags(&executable, graph, 0)) &&
           GOOD(cuGraphLaunch(executable, stream)) && GOOD(cuStreamSynchronize(stream));
    if (executable)
        GOOD(cuGraphExecDestroy(executable));
    if (graph)
        GOOD(cuGraphDestroy(graph));
    return good;
}

/* Images by the other ways. */
static bool load_again(void)
{
    gd_CUlibrary library = NULL;
    gd_CUlinkState link = NULL;
    gd_CUkernel kernel;
    gd_CUfunction function;
    void *image, *host = NULL;
    size_t bytes;
    bool good = GOOD(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0)) &&
                GOOD(cuLibraryGetKernel(&kernel, library, "step")) &&
                GOOD(cuKernelGetFunction(&function, kernel)) &&
                GOOD(cuLinkCreate_v2(0, NULL, NULL, &link)) &&
                GOOD(cuLinkAddData_v2(link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels,
                                      sizeof kernels, "kernels", 0, NULL, NULL)) &&
                GOOD(cuLinkComplete(link, &image, &bytes)) && GOOD(cuMemHostAlloc(&host, 4096, 0));

    if (host)
        GOOD(cuMemFreeHost(host));
    if (link)
        GOOD(cuLinkDestroy(link));
    if (library)
        GOOD(cuLibraryUnload(library));
    return good;
}

/* A second device: it reaches the first one's memory, memory that is mapped for both comes back to
 * it by a descriptor, and a graph has a kernel of each. b gets what the chain left in a, and one
 * more. */
static bool visit(void)
{
    enum { BLOCK = 2 << 20 };
    const gd_CUmemAllocationProp properties = {
        .type = 1, .requestedHandleTypes = 1, .location = {1, 1}};
    gd_CUmemGenericAllocationHandle memory = 0, same = 0;
    gd_CUdeviceptr there = 0;
    gd_CUcontext first = NULL, second = NULL, popped;
    gd_CUmodule module;
    gd_CUfunction far;
    gd_CUstream stream_there;
    gd_CUevent event = NULL, back = NULL;
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    int file = -1;
    bool good = GOOD(cuCtxGetCurrent(&first)) && GOOD(cuEventCreate(&event, 0)) &&
                GOOD(cuCtxCreate_v2(&second, 0, 1)) && GOOD(cuCtxEnablePeerAccess(first, 0)) &&
                GOOD(cuModuleLoadData(&module, kernels)) &&
                GOOD(cuModuleGetFunction(&far, module, "pair")) &&
                GOOD(cuStreamCreate(&stream_there, GD_CU_STREAM_NON_BLOCKING)) &&
                GOOD(cuEventCreate(&back, 0)) &&
                GOOD(cuMemCreate(&memory, BLOCK, &properties, 0)) &&
                GOOD(cuMemExportToShareableHandle(&file, memory, 1, 0)) &&
                GOOD(cuMemImportFromShareableHandle(&same, (void *)(intptr_t)file, 1)) &&
                GOOD(cuMemAddressReserve(&there, BLOCK, 0, 0, 0)) &&
                GOOD(cuMemMap(there, BLOCK, 0, same, 0));

    for (int i = 0; good && i < 2; i++) {
        const gd_CUmemAccessDesc access = {{1, i}, GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        good = GOOD(cuMemSetAccess(there, BLOCK, &access, 1));
    }
    good = good && GOOD(cuCtxSetCurrent(first)) &&
           GOOD(cuMemcpyPeerAsync(there, second, a, first, BYTES, stream)) &&
           GOOD(cuStreamBeginCapture_v2(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED)) &&
           launch(step, there, there) && GOOD(cuEventRecord(event, stream)) &&
           GOOD(cuCtxSetCurrent(second)) && GOOD(cuStreamWaitEvent(stream_there, event, 0)) &&
           GOOD(cuLaunchKernel(far, CTAS, 1, 1, THREADS, 1, 1, 0, stream_there,
                               (void *[]){&there, &b}, NULL)) &&
           GOOD(cuEventRecord(back, stream_there)) && GOOD(cuStreamWaitEvent(stream, back, 0)) &&
           GOOD(cuStreamEndCapture(stream, &graph)) &&
           GOOD(cuGraphInstantiateWithFlags(&executable, graph, 0)) &&
           GOOD(cuGraphLaunch(executable, stream)) && GOOD(cuStreamSynchronize(stream));
    if (executable)
        GOOD(cuGraphExecDestroy(executable));
    if (graph)
        GOOD(cuGraphDestroy(graph));
    if (there && good)
        good = GOOD(cuMemUnmap(there, BLOCK)) && GOOD(cuMemAddressFree(there, BLOCK));
    if (same)
        GOOD(cuMemRelease(same));
    if (memory)
        GOOD(cuMemRelease(memory));
    if (file >= 0)
        close(file);
    if (second)
        good = GOOD(cuCtxDestroy_v2(second)) && good;
    while (cuCtxGetCurrent(&popped) == GD_CUDA_SUCCESS && popped && popped != first)
        cuCtxPopCurrent_v2(&popped);
    return good && GOOD(cuCtxSetCurrent(first));
}

/* a is 0, b 1, a 2; then b 3, a 4, b 5 and b 5, a 6, b 7. */
static bool is_right(uint32_t expected)
{
    uint32_t words[WORDS] = {0};

    if (!GOOD(cuMemcpyDtoH_v2(words, b, BYTES)))
        return true;
    for (int i = 0; i < WORDS; i++) {
        if (words[i] != expected)
            return false;
    }
    return true;
}

static bool is_expected(gd_CUresult result)
{
    return result == GD_CUDA_ERROR_OUT_OF_MEMORY || result == GD_CUDA_ERROR_LAUNCH_FAILED;
}

static int run(long fail)
{
    const bool devices = getenv("GRIDDEP_EMULATOR_DEVICES") != NULL;
    bool right = true;

    fail_alloc_after(fail);
    if (devices ? prepare() && run_chain() && visit()
                : prepare() && run_chain() && run_capture() && run_fan() && load_again())
        right = is_right(devices ? 4 : 7);
    cuCtxSynchronize();
    const bool hit = fail_alloc_hit();
    fail_alloc_after(-1);
    if (!right || (!hit && worst != GD_CUDA_SUCCESS) ||
        (worst != GD_CUDA_SUCCESS && !is_expected(worst))) {
        fprintf(stderr, "allocation %ld: %s; result %d of %s\n", fail, right ? "" : "wrong results",
                worst, where);
        return WRONG;
    }
    return hit ? FAILED_WELL : FINE;
}

static int try(long fail)
{
    int status;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(run(fail));
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) < WRONG, "allocation %ld: status 0x%x",
                  fail, (unsigned)status);
    return WEXITSTATUS(status);
}

TEST_GROUP(exhaustion, NULL, NULL);

LOOP_TEST(exhaustion, every_allocation_may_fail, 3)
{
    long fail = 0;

    setenv("GRIDDEP_EMULATOR_CHECK", _i ? "all" : "off", 1);
    if (_i == 2)
        setenv("GRIDDEP_EMULATOR_DEVICES", "2", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", "/dev/null", 1);
    while (fail < MOST && try(fail) == FAILED_WELL) {
        fail += fail < 100 ? 1 : runs_all_rounds() ? 3 : SANITIZED ? 11 : 7;
    }
    ck_assert_int_gt(fail, 300); /* else little was tried */
    ck_assert_int_lt(fail, MOST);
}

MAIN_OF_SUITE("exhaustion")
