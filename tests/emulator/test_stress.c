/* The emulated driver under many threads and for a long time: threads that load, launch, copy, wait
 * and end what they made, by the driver's entry points and by the library; launches without growth;
 * a driver that is opened again and again. A ThreadSanitizer build of this program says most
 * (HACKING.md). */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/abi.h"
#include "griddep.h"
#include "sanitized.h"
#include "suite.h"

#if SANITIZED
enum {
    LAUNCHES = 10000,
    SLOW_LAUNCHES = 100000,
    OPENINGS = 100,
    ROUNDS = 4,
    GROWTH = 512 << 10
}; /* freed memory is kept apart for a while */
#else
enum {
    LAUNCHES = 100000,
    SLOW_LAUNCHES = 1000000,
    OPENINGS = 1000,
    ROUNDS = 12,
    GROWTH = 2048
}; /* KiB */
#endif

enum { THREADS = 16, WORDS = 64, BYTES = 4 * WORDS };

static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %a, %b, %t;\n    .reg "
    ".b32 %v, %i;\n"
    "    ld.param.u64 %a, [in];\n    ld.param.u64 %b, [out];\n    mov.u32 %i, %tid.x;\n    "
    "mul.wide.u32 %t, %i, 4;\n"
    "    add.u64 %a, %a, %t;\n    add.u64 %b, %b, %t;\n    griddepcontrol.launch_dependents;\n    "
    "griddepcontrol.wait;\n    ld.global.u32 %v, [%a];\n    add.u32 %v, %v, 1;\n    st.global.u32 "
    "[%b], %v;\n    "
    "ret;\n}\n"
    ".visible .entry empty()\n{\n    ret;\n}\n"
    ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n"
    ".visible .entry step(.param .u64 left, .param .u64 sum, .param .u64 handle)\n{\n    .reg .b64 "
    "%l, %s, %h;\n    "
    ".reg .b32 %v, %w;\n"
    "    ld.param.u64 %l, [left];\n    ld.param.u64 %s, [sum];\n    ld.param.u64 %h, [handle];\n   "
    " ld.global.u32 %v, "
    "[%l];\n"
    "    ld.global.u32 %w, [%s];\n    add.u32 %w, %w, %v;\n    sub.u32 %v, %v, 1;\n    "
    "st.global.u32 [%l], %v;\n    "
    "st.global.u32 [%s], %w;\n"
    "    {\n    .param .b64 h;\n    .param .b32 v;\n    st.param.b64 [h], %h;\n    st.param.b32 "
    "[v], %v;\n"
    "    call.uni cudaGraphSetConditional, (h, v);\n    }\n    ret;\n}\n";

/* ---- the driver, opened by its path ---- */

static struct {
    void *library;
    gd_CUresult (*init)(unsigned);
    gd_CUresult (*create)(gd_CUcontext *, unsigned, gd_CUdevice);
    gd_CUresult (*destroy)(gd_CUcontext);
    gd_CUresult (*retain)(gd_CUcontext *, gd_CUdevice);
    gd_CUresult (*release)(gd_CUdevice);
    gd_CUresult (*current)(gd_CUcontext);
    gd_CUresult (*load)(gd_CUmodule *, const void *);
    gd_CUresult (*unload)(gd_CUmodule);
    gd_CUresult (*function)(gd_CUfunction *, gd_CUmodule, const char *);
    gd_CUresult (*stream)(gd_CUstream *, unsigned);
    gd_CUresult (*end_stream)(gd_CUstream);
    gd_CUresult (*wait)(gd_CUstream);
    gd_CUresult (*take)(gd_CUdeviceptr *, size_t);
    gd_CUresult (*give)(gd_CUdeviceptr);
    gd_CUresult (*fill)(gd_CUdeviceptr, unsigned, size_t, gd_CUstream);
    gd_CUresult (*fetch)(void *, gd_CUdeviceptr, size_t);
    gd_CUresult (*launch)(const gd_CUlaunchConfig *, gd_CUfunction, void **, void **);
} cu;

static void find(void *place, const char *name)
{
    void *symbol = dlsym(cu.library, name);

    ck_assert_msg(symbol != NULL, "%s", name);
    memcpy(place, &symbol, sizeof symbol);
}

static void open_driver(void)
{
    cu.library = dlopen(EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(cu.library != NULL, "%s", dlerror());
    find(&cu.init, "cuInit");
    find(&cu.create, "cuCtxCreate_v2");
    find(&cu.destroy, "cuCtxDestroy_v2");
    find(&cu.retain, "cuDevicePrimaryCtxRetain");
    find(&cu.release, "cuDevicePrimaryCtxRelease_v2");
    find(&cu.current, "cuCtxSetCurrent");
    find(&cu.load, "cuModuleLoadData");
    find(&cu.unload, "cuModuleUnload");
    find(&cu.function, "cuModuleGetFunction");
    find(&cu.stream, "cuStreamCreate");
    find(&cu.end_stream, "cuStreamDestroy_v2");
    find(&cu.wait, "cuStreamSynchronize");
    find(&cu.take, "cuMemAlloc_v2");
    find(&cu.give, "cuMemFree_v2");
    find(&cu.fill, "cuMemsetD32Async");
    find(&cu.fetch, "cuMemcpyDtoH_v2");
    find(&cu.launch, "cuLaunchKernelEx");
}

static void set_checks(bool on)
{
    setenv("GRIDDEP_EMULATOR_CHECK", on ? "all" : "off", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", "/dev/null", 1);
}

static gd_CUresult launch(gd_CUfunction function, gd_CUstream stream, unsigned block,
                          void **parameters)
{
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    const gd_CUlaunchConfig config = {.gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = block,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .hStream = stream,
                                      .attrs = &attribute,
                                      .numAttrs = 1};

    return cu.launch(&config, function, parameters, NULL);
}

/* ---- threads ---- */

/* Check's assertions are for the main thread: others count what went wrong. */
static int use_driver(void)
{
    gd_CUcontext context;
    gd_CUmodule module;
    gd_CUfunction function;
    gd_CUstream stream;
    gd_CUdeviceptr a, b;
    uint32_t words[WORDS];
    int bad = 0;

    bad += cu.retain(&context, 0) != 0 || cu.current(context) != 0 ||
           cu.load(&module, kernels) != 0 || cu.function(&function, module, "add") != 0 ||
           cu.stream(&stream, 1) != 0 || cu.take(&a, BYTES) != 0 || cu.take(&b, BYTES) != 0;
    if (bad)
        return bad;
    bad += cu.fill(a, 0, WORDS, stream) != 0;
    for (int i = 0; i < 8; i++) {
        void *there[] = {&a, &b}, *back[] = {&b, &a};
        bad += launch(function, stream, WORDS, i % 2 ? back : there) != 0;
    }
    bad += cu.wait(stream) != 0 || cu.fetch(words, a, BYTES) != 0;
    for (int i = 0; i < WORDS; i++)
        bad += words[i] != 8;
    bad += cu.give(a) != 0;
    bad += cu.end_stream(stream) != 0 || cu.unload(module) != 0 || cu.give(b) != 0 ||
           cu.current(NULL) != 0 || cu.release(0) != 0;
    return bad;
}

/* A chain of kernels as a graph. */
static int run_chain(griddep_runtime *runtime, griddep_module *module)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_chain *chain = NULL;
    griddep_kernel *empty = NULL;
    int bad = griddep_module_find_kernel(module, "empty", &empty, NULL) != GRIDDEP_OK ||
              griddep_chain_create(runtime, &chain, NULL) != GRIDDEP_OK;

    for (int i = 0; i < 3 && !bad; i++)
        bad = griddep_chain_add(chain, empty, &config, NULL, 0, NULL) != GRIDDEP_OK;
    bad = bad || griddep_chain_run(chain, GRIDDEP_MODE_GRAPH_PDL, NULL, NULL) != GRIDDEP_OK ||
          griddep_stream_synchronize(runtime, NULL, NULL) != GRIDDEP_OK;
    griddep_chain_destroy(chain);
    return bad;
}

static int use_library(void)
{
    griddep_runtime_options options = {
        .size = sizeof options, .driver = EMULATED_DRIVER, .store_directory = ""};
    griddep_runtime *runtime = NULL;
    griddep_module *module = NULL, *shelf = NULL;
    int bad = griddep_runtime_open(&options, &runtime, NULL) != GRIDDEP_OK;

    if (!bad)
        bad = griddep_module_load(runtime, kernels, sizeof kernels - 1, NULL, &module, NULL) !=
                  GRIDDEP_OK ||
              griddep_module_load_shelf(runtime, "rms_norm", NULL, &shelf, NULL) != GRIDDEP_OK ||
              run_chain(runtime, module) != 0;
    griddep_module_unload(module);
    griddep_module_unload(shelf);
    griddep_runtime_close(runtime);
    return bad;
}

static void *work(void *user)
{
    int *bad = user;

    for (int i = 0; i < ROUNDS; i++)
        *bad += i % 4 == 3 ? use_library() : use_driver();
    return NULL;
}

TEST_GROUP(stress, NULL, NULL);

LOOP_TEST(stress, threads_do_not_disturb_one_another, 2)
{
    pthread_t threads[THREADS];
    int bad[THREADS] = {0};

    set_checks(_i);
    open_driver();
    ck_assert_int_eq(cu.init(0), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &bad[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(bad[i] == 0, "thread %d: %d calls went wrong", i, bad[i]);
    }
    ck_assert_int_eq(dlclose(cu.library), 0);
}

/* ---- growth ---- */

/* KiB of this process that are in memory. */
static long get_resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file && fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void launch_many(gd_CUfunction function, gd_CUstream stream, int count, bool waits)
{
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(launch(function, stream, 32, NULL), 0);
        if (waits && i % 16 == 0)
            ck_assert_int_eq(cu.wait(stream), 0);
    }
    ck_assert_int_eq(cu.wait(stream), 0);
}

LOOP_TEST(stress, launches_do_not_grow, 4)
{
    const bool checks = _i & 1, waits = _i & 2;
    const int launches = runs_all_rounds() ? SLOW_LAUNCHES : LAUNCHES;
    gd_CUcontext context;
    gd_CUmodule module;
    gd_CUfunction function;
    gd_CUstream stream;

    set_checks(checks);
    open_driver();
    ck_assert_int_eq(cu.init(0), 0);
    ck_assert_int_eq(cu.create(&context, 0, 0), 0);
    ck_assert_int_eq(cu.load(&module, kernels), 0);
    ck_assert_int_eq(cu.function(&function, module, "empty"), 0);
    ck_assert_int_eq(cu.stream(&stream, 1), 0);
    launch_many(function, stream, LAUNCHES, waits);
    const long before = get_resident();
    launch_many(function, stream, launches, waits);
    const long after = get_resident();
    ck_assert_int_eq(cu.destroy(context), 0);
    ck_assert_int_gt(before, 0);
    ck_assert_msg(after - before < GROWTH, "%ld KiB more after %d launches", after - before,
                  launches);
}

/* A launch that is never waited for goes with the driver. */
static void open_once(void)
{
    gd_CUcontext context;
    gd_CUmodule module;
    gd_CUfunction function;
    gd_CUdeviceptr memory;

    open_driver();
    ck_assert_int_eq(cu.init(0), 0);
    ck_assert_int_eq(cu.create(&context, 0, 0), 0);
    ck_assert_int_eq(cu.take(&memory, 65536), 0);
    ck_assert_int_eq(cu.fill(memory, 1, 16384, NULL), 0);
    ck_assert_int_eq(cu.load(&module, kernels), 0);
    ck_assert_int_eq(cu.function(&function, module, "empty"), 0);
    ck_assert_int_eq(launch(function, NULL, 32, NULL), 0);
    ck_assert_int_eq(cu.wait(NULL), 0);
    ck_assert_int_eq(launch(function, NULL, 32, NULL), 0);
    ck_assert_int_eq(dlclose(cu.library), 0);
}

LOOP_TEST(stress, openings_leave_nothing, 2)
{
    set_checks(_i);
    for (int i = 0; i < 50; i++)
        open_once();
    const long before = get_resident();
    for (int i = 0; i < OPENINGS; i++)
        open_once();
    const long after = get_resident();
    ck_assert_int_gt(before, 0);
    ck_assert_msg(after - before < GROWTH, "%ld KiB more after %d openings", after - before,
                  OPENINGS);
}

MAIN_OF_SUITE("stress")
