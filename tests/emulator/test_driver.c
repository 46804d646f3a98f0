/* The emulated driver through its ABI: contexts, memory, modules, streams, events, launches,
 * graphs, faults, misuse; dependent launch under each schedule and model; and the library on top of
 * it. EMULATED_DRIVER is the path of the shared object, which this program is linked with too. Each
 * test runs in a process of its own, because settings are read once, by cuInit. */
#include <check.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fatbin.h"
#include "base/file.h"
#include "emulator/api.h"
#include "griddep.h"
#include "sanitized.h"
#include "suite.h"

enum { N = 64, BYTES = 4 * N };

#define ck_result(call, expected)                                                                  \
    do {                                                                                           \
        gd_CUresult got_result = (call);                                                           \
        const char *got_name = "?", *got_words = "";                                               \
        cuGetErrorName(got_result, &got_name);                                                     \
        cuGetErrorString(got_result, &got_words);                                                  \
        ck_assert_msg(got_result == (expected), "%s: %s (%s), expected %d", #call, got_name,       \
                      got_words, (expected));                                                      \
    } while (0)
#define ck_good(call) ck_result(call, GD_CUDA_SUCCESS)

/* A refusal says its numbers. */
#define ck_refused(call, expected, words)                                                          \
    do {                                                                                           \
        const char *why = "";                                                                      \
        ck_result(call, expected);                                                                 \
        cuGetErrorString(expected, &why);                                                          \
        ck_assert_msg(strstr(why, words), "\"%s\" is not in: %s", words, why);                     \
    } while (0)

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define TWO_POINTERS "(.param .u64 in, .param .u64 out)\n"
#define ADDRESSES                                                                                  \
    "    .reg .b64 %in, %out, %at;\n    .reg .b32 %cta, %size, %i, %v;\n"                          \
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n"                                 \
    "    mov.u32 %cta, %ctaid.x;\n    mov.u32 %size, %ntid.x;\n    mov.u32 %i, %tid.x;\n"          \
    "    mad.lo.u32 %i, %cta, %size, %i;\n    mul.wide.u32 %at, %i, 4;\n"                          \
    "    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;\n"
#define ADD_ONE                                                                                    \
    "    ld.global.u32 %v, [%in];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%out], %v;\n"
#define TRIGGER "    griddepcontrol.launch_dependents;\n"
#define WAIT "    griddepcontrol.wait;\n"

/* Each adds one to what it reads: step does it right; rash does not wait; late triggers after its
 * work; quiet knows nothing of dependent launch; pass waits for nothing and touches nothing. */
static const char kernels[] = HEADER
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry step" TWO_POINTERS "{\n" ADDRESSES TRIGGER WAIT ADD_ONE "    ret;\n}\n"
    ".visible .entry rash" TWO_POINTERS "{\n" ADDRESSES TRIGGER ADD_ONE "    ret;\n}\n"
    ".visible .entry late" TWO_POINTERS "{\n" ADDRESSES WAIT ADD_ONE TRIGGER "    ret;\n}\n"
    ".visible .entry quiet" TWO_POINTERS "{\n" ADDRESSES ADD_ONE "    ret;\n}\n"
    ".visible .entry pass" TWO_POINTERS "{\n" TRIGGER "    ret;\n}\n"
    ".visible .entry crash" TWO_POINTERS
    "{\n    .reg .b64 %a;\n    mov.u64 %a, 64;\n    st.global.u32 [%a], 1;\n    ret;\n}\n"
    ".visible .entry skew" TWO_POINTERS
    "{\n    .reg .b64 %a;\n    ld.param.u64 %a, [out];\n    st.global.u32 [%a+2], 1;\n    ret;\n}\n"
    ".visible .entry halt" TWO_POINTERS "{\n    trap;\n}\n"
    ".visible .entry forever" TWO_POINTERS "{\nagain:\n    bra again;\n}\n"
    ".visible .entry big" TWO_POINTERS "\n.maxntid 128, 1, 1\n{\n    ret;\n}\n";

/* Of clusters: ring passes what it reads to the next CTA, and adds one; gone writes to a CTA that
 * has exited; in stuck, a CTA never comes to the cluster's barrier. */
static const char cluster_kernels[] = HEADER
    ".visible .entry ring" TWO_POINTERS
    ".reqnctapercluster 4, 1, 1 {\n    .reg .b32 %s, %r;\n    .shared .b32 s[2];\n" ADDRESSES
        TRIGGER WAIT "    ld.global.u32 %v, [%in];\n    mov.u32 %s, s;\n    mov.u32 %r, "
    "%cluster_ctarank;\n    add.u32 %r, %r, 1;\n"
    "    and.b32 %r, %r, 3;\n    mapa.shared::cluster.u32 %s, %s, %r;\n    mad.lo.u32 %s, %i, 4, "
    "%s;\n    mul.lo.u32 %r, %cta, 8;\n"
    "    sub.u32 %s, %s, %r;\n    st.shared::cluster.u32 [%s], %v;\n    barrier.cluster.arrive;\n"
    "    barrier.cluster.wait;\n    mov.u32 %r, %tid.x;\n    mov.u32 %s, s;\n    mad.lo.u32 %s, "
    "%r, 4, %s;\n"
    "    ld.shared.u32 %v, [%s];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%out], %v;\n    "
    "ret;\n}\n"
    ".visible .entry gone" TWO_POINTERS
    ".reqnctapercluster 2, 1, 1 {\n    .reg .b32 %r;\n    .reg .pred %p;\n    .shared .b32 s;\n    "
    "mov.u32 %r, %cluster_ctarank;\n"
    "    setp.eq.u32 %p, %r, 1;\n    @%p exit;\n    barrier.cluster.arrive;\n    "
    "barrier.cluster.wait;\n    mov.u32 %r, s;\n"
    "    mapa.shared::cluster.u32 %r, %r, 1;\n    st.shared::cluster.u32 [%r], 1;\n    ret;\n}\n"
    ".visible .entry stuck" TWO_POINTERS ".reqnctapercluster 2, 1, 1 {\n    .reg .b32 %r;\n    "
    ".reg .pred %p;\n    mov.u32 %r, %cluster_ctarank;\n"
    "    setp.eq.u32 %p, %r, 1;\n    @%p bar.sync 1, 96;\n    barrier.cluster.arrive;\n    "
    "barrier.cluster.wait;\n    ret;\n}\n";

static gd_CUcontext context;
static gd_CUmodule module, cluster_module;
static gd_CUstream stream;
static gd_CUdeviceptr a, b, c;

/* Functions of the system: talk prints, and asserts that it is given no 3. barrier uses the words
 * that cooperative groups use for barriers of a grid: each CTA adds one to the second word of the
 * workspace and waits for the others. scratch uses the system's part of shared memory. */
static const char system_kernels[] = HEADER
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
    ".param .b64 e);\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 a);\n"
    ".extern .func free (.param .b64 a);\n"
    ".global .b8 text[] = {37, 100, 32, 37, 45, 53, 115, 124, 37, 42, 46, 49, 102, 32, 37, 108, "
    "108, 120, 37, 37, 10, 0};\n"
    ".global .b8 word[] = {119, 111, 114, 100, 0};\n"
    ".visible .entry talk(.param .u32 in)\n{\n    .local .align 8 .b8 s[40];\n    .reg .b32 %v, "
    "%r;\n    .reg .b64 %t, %w, %a;\n"
    "    .reg .pred %p;\n    .param .b64 x0, x1;\n    .param .b32 x2, y;\n    .param .b64 x3, x4;\n"
    "    ld.param.u32 %v, [in];\n    mov.u64 %t, text;\n    mov.u64 %w, word;\n    mov.u64 %a, "
    "s;\n    cvta.local.u64 %a, %a;\n"
    "    st.local.u32 [s], %v;\n    st.local.u64 [s+8], %w;\n    st.local.u32 [s+16], 6;\n    "
    "st.local.f64 [s+24], 0d3FF8000000000000;\n"
    "    st.local.u64 [s+32], 1311768467463790320;\n    st.param.b64 [x0], %t;\n    st.param.b64 "
    "[x1], %a;\n"
    "    call.uni (y), vprintf, (x0, x1);\n    ld.param.b32 %r, [y];\n    setp.ne.u32 %p, %r, 5;\n "
    "   @%p trap;\n"
    "    setp.ne.u32 %p, %v, 3;\n    @%p ret;\n    st.param.b64 [x0], %w;\n    st.param.b64 [x1], "
    "%w;\n    st.param.b32 [x2], 77;\n"
    "    st.param.b64 [x3], %w;\n    st.param.b64 [x4], 1;\n    call.uni __assertfail, (x0, x1, "
    "x2, x3, x4);\n    ret;\n}\n"
    ".visible .entry barrier(.param .u64 out)\n{\n    .reg .b32 %l, %h, %n, %v;\n    .reg .b64 %a, "
    "%o;\n    .reg .pred %p;\n"
    "    mov.u32 %l, %envreg2;\n    mov.u32 %h, %envreg1;\n    mov.b64 %a, {%l, %h};\n    "
    "setp.eq.u64 %p, %a, 0;\n    @%p trap;\n"
    "    mov.u32 %n, %nctaid.x;\n    atom.add.release.gpu.u32 %v, [%a+4], 1;\nagain:\n    "
    "ld.acquire.gpu.u32 %v, [%a+4];\n"
    "    setp.ne.u32 %p, %v, %n;\n    @%p bra again;\n    ld.param.u64 %o, [out];\n    "
    "st.global.u32 [%o], %v;\n    ret;\n}\n"
    ".visible .entry scratch(.param .u64 out)\n{\n    .reg .b32 %s, %e, %v;\n    .reg .b64 %o;\n   "
    " mov.u32 %s, %reserved_smem_offset_1;\n"
    "    mov.u32 %e, %reserved_smem_offset_end;\n    sub.u32 %e, %e, %s;\n    st.shared.u32 "
    "[%s+12], %e;\n    ld.shared.u32 %v, [%s+12];\n"
    "    ld.param.u64 %o, [out];\n    st.global.u32 [%o], %v;\n    ret;\n}\n"
    ".func (.reg .u32 %r, .reg .u64 %w) old (.reg .u32 %x, .reg .f32 %y, .reg .u16 %h)\n{\n    "
    ".reg .b32 %t;\n    cvt.rzi.u32.f32 %t, %y;\n"
    "    sub.u32 %r, %x, %t;\n    cvt.u64.u16 %w, %h;\n    ret;\n}\n"
    ".visible .entry registers(.param .u64 out)\n{\n    .reg .b32 %a, %b;\n    .reg .f32 %f;\n    "
    ".reg .b16 %h;\n    .reg .b64 %w, %o;\n"
    "    mov.f32 %f, 0f40400000;\n    mov.u32 %a, 50;\n    mov.u16 %h, 65535;\n    call (%b, %w), "
    "old, (%a, %f, %h);\n    call (%b, %w), old, (%b, %f, %h);\n"
    "    cvt.u32.u64 %a, %w;\n    add.u32 %a, %a, %b;\n    ld.param.u64 %o, [out];\n    "
    "st.global.u32 [%o], %a;\n    ret;\n}\n"
    ".visible .entry heap(.param .u32 misuse)\n{\n    .reg .b32 %m;\n    .reg .b64 %p, %q;\n"
    "    .reg .pred %c;\n    .param .b64 x, y;\n    ld.param.u32 %m, [misuse];\n"
    "    st.param.b64 [x], 20;\n    call.uni (y), malloc, (x);\n    ld.param.b64 %p, [y];\n"
    "    st.u32 [%p+16], %m;\n    mov.u64 %q, %p;\n"
    "    setp.eq.u32 %c, %m, 1;\n    @%c bra past;\n"
    "    setp.eq.u32 %c, %m, 2;\n    @%c add.u64 %q, %p, 16;\n"
    "    setp.eq.u32 %c, %m, 3;\n    @%c mov.u64 %q, text;\n"
    "    st.param.b64 [x], %q;\n    call.uni free, (x);\n"
    "    setp.eq.u32 %c, %m, 4;\n    @%c bra again;\n"
    "    setp.eq.u32 %c, %m, 5;\n    @%c ld.u8 %m, [%p+16];\n    ret;\n"
    "past:\n    ld.u16 %m, [%p+20];\n    ret;\n"
    "again:\n    call.uni free, (x);\n    ret;\n}\n";

/* ---- helpers ---- */

static void begin(const char *schedule, const char *model)
{
    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedule, 1);
    setenv("GRIDDEP_EMULATOR_MODEL", model, 1);
    ck_good(cuInit(0));
    ck_good(cuDevicePrimaryCtxRetain(&context, 0));
    ck_good(cuCtxPushCurrent_v2(context));
    ck_good(cuModuleLoadData(&module, kernels));
    ck_good(cuModuleLoadData(&cluster_module, cluster_kernels));
    ck_good(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuMemAlloc_v2(&a, BYTES));
    ck_good(cuMemAlloc_v2(&b, BYTES));
    ck_good(cuMemAlloc_v2(&c, BYTES));
    ck_good(cuMemsetD32_v2(a, 0, N));
    ck_good(cuMemsetD32_v2(b, 100, N));
    ck_good(cuMemsetD32_v2(c, 200, N));
}

static void setup(void)
{
    begin("eager", "contract");
}

/* Device memory that is not given back fails the test. */
static void end_clean(void)
{
    size_t free_bytes, total;
    gd_CUcontext popped;

    ck_good(cuMemFree_v2(a));
    ck_good(cuMemFree_v2(b));
    ck_good(cuMemFree_v2(c));
    ck_good(cuStreamDestroy_v2(stream));
    ck_good(cuModuleUnload(module));
    ck_good(cuModuleUnload(cluster_module));
    ck_good(cuMemGetInfo_v2(&free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total);
    ck_good(cuCtxPopCurrent_v2(&popped));
    ck_assert_ptr_eq(popped, context);
    ck_good(cuDevicePrimaryCtxRelease_v2(0));
}

static gd_CUfunction function_of(const char *name)
{
    gd_CUfunction function = NULL;

    if (cuModuleGetFunction(&function, module, name) != GD_CUDA_SUCCESS)
        ck_good(cuModuleGetFunction(&function, cluster_module, name));
    return function;
}

static gd_CUresult try_launch(gd_CUfunction function, gd_CUstream where, unsigned grid,
                              unsigned block, gd_CUdeviceptr in, gd_CUdeviceptr out, bool dependent)
{
    void *parameters[2] = {&in, &out};
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
    const gd_CUlaunchConfig config = {.gridDimX = grid,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = block,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .hStream = where,
                                      .attrs = &attribute,
                                      .numAttrs = dependent};

    return cuLaunchKernelEx(&config, function, parameters, NULL);
}

static void launch(const char *name, gd_CUdeviceptr in, gd_CUdeviceptr out, bool dependent)
{
    ck_good(try_launch(function_of(name), stream, 2, N / 2, in, out, dependent));
}

/* All words of a buffer, which must be the same. */
static uint32_t word_of(gd_CUdeviceptr buffer)
{
    uint32_t words[N];

    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(words, buffer, BYTES));
    for (int i = 1; i < N; i++)
        ck_assert_msg(words[i] == words[0], "word %d is %" PRIu32 ", word 0 is %" PRIu32, i,
                      words[i], words[0]);
    return words[0];
}

/* ---- device, entry points ---- */

TEST_GROUP(device, NULL, NULL);
TEST_GROUP(modules, NULL, NULL);
TEST_GROUP(launches, NULL, NULL);
TEST_GROUP(dependent_launch, NULL, NULL);
TEST_GROUP(loops, NULL, NULL);
TEST_GROUP(streams, NULL, NULL);
TEST_GROUP(system, NULL, NULL);

TEST(device, tells_what_it_is)
{
    char name[64];
    int count = 0, major = 0, minor = 0, value = 0, version = 0;
    unsigned api = 0;
    size_t bytes = 0;
    gd_CUuuid uuid, other;

    ck_result(cuDeviceGetCount(&count), GD_CUDA_ERROR_NOT_INITIALIZED);
    ck_result(cuInit(1), GD_CUDA_ERROR_INVALID_VALUE);
    setenv("GRIDDEP_EMULATOR_MULTIPROCESSORS", "7", 1);
    setenv("GRIDDEP_EMULATOR_MEMORY", "64M", 1);
    setup();
    ck_good(cuDriverGetVersion(&version));
    ck_assert_int_eq(version, 13000);
    ck_good(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 1);
    ck_result(cuDeviceGet(&value, 1), GD_CUDA_ERROR_INVALID_DEVICE);
    ck_good(cuDeviceGetName(name, sizeof name, 0));
    ck_assert_str_eq(name, "Emulated sm_90");
    ck_good(cuDeviceComputeCapability(&major, &minor, 0));
    ck_assert_int_eq(10 * major + minor, 90);
    ck_good(cuDeviceGetAttribute(&value, GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    ck_assert_int_eq(value, 7);
    ck_good(
        cuDeviceGetAttribute(&value, GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    ck_assert_int_eq(value, 227 * 1024);
    ck_result(cuDeviceGetAttribute(&value, 5000, 0), GD_CUDA_ERROR_INVALID_VALUE);
    ck_good(cuDeviceTotalMem_v2(&bytes, 0));
    ck_assert_uint_eq(bytes, 64 << 20);
    ck_good(cuDeviceGetUuid_v2(&uuid, 0));
    ck_good(cuDeviceGetUuid(&other, 0));
    ck_assert_mem_eq(&uuid, &other, sizeof uuid);
    ck_good(cuCtxGetApiVersion(NULL, &api));
    ck_assert_uint_eq(api, 13000);
    end_clean();
}

TEST(device, names_fit_versions)
{
    void *function = NULL, *other = NULL;
    int found = 0;

    ck_good(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &found));
    ck_assert_int_eq(found, GD_CU_GET_PROC_ADDRESS_SUCCESS);
    ck_assert(function == (void *)(uintptr_t)cuMemAlloc_v2);
    ck_good(cuGetProcAddress_v2("cuMemAlloc", &function, 3000, 0, &found));
    ck_assert_int_eq(found, GD_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    ck_assert_ptr_null(function);
    ck_good(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &found));
    ck_assert_int_eq(found, GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    ck_good(cuGetProcAddress_v2("cuCtxGetDevice", &function, 12090, 0, NULL));
    ck_good(cuGetProcAddress_v2("cuCtxGetDevice", &other, 13000, 0, NULL));
    ck_assert_ptr_ne(function, other);
    ck_good(cuGetProcAddress_v2("cuGraphGetEdges", &function, 12020, 0, NULL));
    ck_assert(function == (void *)(uintptr_t)cuGraphGetEdges);
    ck_good(cuGetProcAddress_v2("cuGraphGetEdges", &function, 12030, 0, NULL));
    ck_assert(function == (void *)(uintptr_t)cuGraphGetEdges_v2);
    ck_result(cuGetProcAddress_v2("cuInit", &function, 13010, 0, &found),
              GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(cuGetProcAddress_v2("cuInit", &function, 12000, 3, &found),
              GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(cuGetProcAddress_v2(NULL, &function, 12000, 0, &found), GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(cuGetProcAddress("cuNothing", &function, 12000, 0), GD_CUDA_ERROR_NOT_FOUND);
    ck_result(cuSurfObjectCreate(NULL, NULL), GD_CUDA_ERROR_NOT_SUPPORTED);
}

static void *use_other_thread(void *user)
{
    gd_CUcontext current = (gd_CUcontext)1;
    gd_CUdeviceptr memory;

    (void)user;
    ck_good(cuCtxGetCurrent(&current));
    ck_assert_ptr_null(current);
    ck_good(cuCtxSetCurrent(context));
    for (int i = 0; i < 200; i++) {
        ck_good(cuMemAlloc_v2(&memory, 1000));
        ck_good(cuMemsetD8_v2(memory, 1, 1000));
        ck_good(cuMemFree_v2(memory));
    }
    return NULL;
}

TEST(device, threads_share_a_context)
{
    pthread_t threads[3];

    setup();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_other_thread, NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    end_clean();
}

/* ---- modules ---- */

static gd_CUresult load_with_log(const char *text, char *log, unsigned bytes)
{
    gd_CUjit_option options[2] = {GD_CU_JIT_ERROR_LOG_BUFFER,
                                  GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)bytes};
    gd_CUmodule made = NULL;

    log[0] = 0;
    gd_CUresult result = cuModuleLoadDataEx(&made, text, 2, options, values);
    if (result == GD_CUDA_SUCCESS)
        ck_good(cuModuleUnload(made));
    else
        ck_assert_uint_eq((uintptr_t)values[1], strlen(log));
    return result;
}

TEST(modules, bad_code_is_refused_in_words)
{
    static const char fatbin[16] = "\x50\xed\x55\xba", empty[16] = "\x50\xed\x55\xba\1\0\x10";
    char log[1024], elf[64] = "\177ELF\2\1\1";

    setup();
    ck_result(load_with_log(HEADER ".visible .entry k()\n{\n    mov.u32 %r9, 1;\n    ret;\n}\n",
                            log, sizeof log),
              GD_CUDA_ERROR_INVALID_PTX);
    ck_assert_msg(strstr(log, "line 6; error   :") && strstr(log, "%r9"), "%s", log);
    ck_result(load_with_log(HEADER ".visible .entry k(\n{\n    ret;\n}\n", log, sizeof log),
              GD_CUDA_ERROR_INVALID_PTX);
    ck_assert_msg(strstr(log, "ptxas application ptx input, line 5; error   :"), "%s", log);
    ck_result(load_with_log(
                  ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k()\n{ ret; }\n",
                  log, sizeof log),
              GD_CUDA_ERROR_INVALID_PTX);
    ck_assert_msg(strstr(log, ".target"), "%s", log);
    ck_result(load_with_log(".version 99.0\n.target sm_90\n.address_size 64\n", log, sizeof log),
              GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    ck_result(load_with_log("hello", log, sizeof log), GD_CUDA_ERROR_INVALID_IMAGE);
    ck_result(load_with_log(fatbin, log, sizeof log), GD_CUDA_ERROR_INVALID_IMAGE);
    ck_result(load_with_log(empty, log, sizeof log), GD_CUDA_ERROR_NO_BINARY_FOR_GPU);
    ck_assert_msg(strstr(log, "a fatbin without PTX for this device"), "%s", log);
    elf[18] = (char)190;
    ck_result(load_with_log(elf, log, sizeof log), GD_CUDA_ERROR_NO_BINARY_FOR_GPU);
    ck_assert_msg(strstr(log, "a cubin cannot be emulated"), "%s", log);
    elf[18] = 62;
    ck_result(load_with_log(elf, log, sizeof log), GD_CUDA_ERROR_INVALID_IMAGE);
    ck_result(load_with_log(HEADER ".visible .entry k(\n{ ret; }\n", log, 10),
              GD_CUDA_ERROR_INVALID_PTX);
    ck_assert_uint_eq(strlen(log), 9);
    end_clean();
}

/* A fatbin whose first entry is a cubin; golden data of nvcc. */
static char *read_fatbin(void)
{
    griddep_error error;
    char *data = NULL;
    size_t bytes = 0;

    griddep_error_init(&error);
    ck_assert_int_eq(gd_file_read(SOURCE_DIRECTORY "/tests/golden/image/kernels.zstd.fatbin", &data,
                                  &bytes, &error),
                     GRIDDEP_OK);
    return data;
}

TEST(modules, fatbins_run_by_their_ptx)
{
    char *fatbin = read_fatbin();
    gd_fatbin_wrapper wrapper = {GD_FATBIN_WRAPPER_MAGIC, 1, fatbin, NULL};
    gd_CUlibrary library = NULL;
    gd_CUkernel kernel = NULL;
    gd_CUmodule made = NULL;
    gd_CUfunction function = NULL;
    unsigned count = 0;
    float value = 2.5F;
    int most = 4;
    void *parameters[] = {&b, &value, &most};
    float result[5] = {0};

    setup();
    ck_good(cuModuleLoadFatBinary(&made, fatbin));
    ck_good(cuModuleGetFunctionCount(&count, made));
    ck_assert_uint_eq(count, 3);
    ck_good(cuModuleGetFunction(&function, made, "fill"));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(result, b, sizeof result));
    ck_assert(memcmp(&result[3], &value, 4) == 0 && memcmp(&result[4], &value, 4) != 0);
    ck_good(cuModuleUnload(made));
    /* As host code of nvcc registers it. */
    ck_good(cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
    value = 7.5F;
    ck_good(cuLibraryGetKernel(&kernel, library, "fill"));
    ck_good(cuLaunchKernel((gd_CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(result, b, sizeof result));
    ck_assert(memcmp(&result[0], &value, 4) == 0);
    ck_good(cuLibraryUnload(library));
    wrapper.fatbin = NULL;
    ck_result(cuModuleLoadData(&made, &wrapper), GD_CUDA_ERROR_INVALID_IMAGE);
    free(fatbin);
    end_clean();
}

TEST(modules, damaged_fatbins_are_refused)
{
    char *fatbin = read_fatbin(), log[256];
    gd_fatbin_entry newest;

    setup();
    const gd_view all = {(unsigned char *)fatbin, gd_fatbin_bytes(fatbin)};
    ck_assert(gd_fatbin_choose(all, GD_FATBIN_PTX, 90, &newest));
    fatbin[newest.stored.bytes - all.bytes] ^= 1;
    ck_result(load_with_log(fatbin, log, sizeof log), GD_CUDA_ERROR_INVALID_IMAGE);
    ck_assert_msg(strstr(log, "the PTX of this fatbin cannot be read: "), "%s", log);
    memset(fatbin + 8, 0, 8); /* ends inside the first entry */
    fatbin[8] = 72;
    ck_result(load_with_log(fatbin, log, sizeof log), GD_CUDA_ERROR_INVALID_IMAGE);
    free(fatbin);
    end_clean();
}

/* Compilers number the source files of each text from 1. */
TEST(modules, linked_texts_have_files_of_their_own)
{
    static const char *const texts[] = {
        ".version 7.8\n.target sm_90\n.address_size 64\n.file 1 \"a.c\"\n.file 2 \"a.h\"\n"
        ".visible .entry first()\n{\n.loc 1 2 0\n.loc 2 3 0\n    ret;\n}\n",
        ".version 7.8\n.target sm_90\n.address_size 64\n.file 1 \"b.c\"\n.file 2 \"b.h\"\n"
        ".visible .entry second()\n{\n.loc 1 2 0\n"
        ".loc 2 3 0, function_name $s, inlined_at 1 2 0\n    ret;\n}\n"
        ".section .debug_str\n{\n$s:\n.b8 115\n.b8 0\n}\n"};
    gd_CUlinkState link = NULL;
    gd_CUmodule made = NULL;
    void *image = NULL;
    size_t bytes = 0;

    setup();
    ck_good(cuLinkCreate_v2(0, NULL, NULL, &link));
    for (int i = 0; i < 2; i++)
        ck_good(cuLinkAddData_v2(link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)texts[i],
                                 strlen(texts[i]) + 1, "text", 0, NULL, NULL));
    ck_good(cuLinkComplete(link, &image, &bytes));
    ck_good(cuModuleLoadData(&made, image));
    ck_good(cuLinkDestroy(link));
}

/* Shared memory that another text defines is no memory of the launch's. */
TEST(modules, linked_texts_have_shared_memory_of_others)
{
    static const char *const texts[] = {
        ".version 7.8\n.target sm_90\n.address_size 64\n.extern .shared .u64 stacks[32];\n"
        ".extern .shared .u32 own[];\n.extern .func get(.param .u64 p);\n"
        ".visible .entry put(.param .u64 p)\n{\n    .reg .u64 %a, %b;\n    .reg .u32 %t;\n"
        "    mov.u64 %a, stacks;\n    mov.u64 %b, 5;\n    st.shared.u64 [%a+248], %b;\n"
        "    mov.u32 %t, 7;\n    st.shared.u32 [own+12], %t;\n"
        "    ld.param.u64 %a, [p];\n    { .param .u64 q; st.param.u64 [q], %a; call get, (q); }\n"
        "    ret;\n}\n",
        ".version 7.8\n.target sm_90\n.address_size 64\n"
        ".visible .shared .align 8 .u64 stacks[32];\n"
        ".visible .func get(.param .u64 p)\n{\n    .reg .u64 %a, %b;\n"
        "    ld.shared.u64 %b, [stacks+248];\n    ld.param.u64 %a, [p];\n"
        "    st.global.u64 [%a], %b;\n    ret;\n}\n"};
    gd_CUlinkState link = NULL;
    gd_CUmodule made = NULL;
    gd_CUfunction function = NULL;
    void *image = NULL, *arguments[] = {&a};
    size_t bytes = 0;
    uint64_t value = 0;

    setup();
    ck_good(cuLinkCreate_v2(0, NULL, NULL, &link));
    for (int i = 0; i < 2; i++)
        ck_good(cuLinkAddData_v2(link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)texts[i],
                                 strlen(texts[i]) + 1, "text", 0, NULL, NULL));
    ck_good(cuLinkComplete(link, &image, &bytes));
    ck_good(cuModuleLoadData(&made, image));
    ck_good(cuModuleGetFunction(&function, made, "put"));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 16, NULL, arguments, NULL));
    ck_good(cuMemcpyDtoH_v2(&value, a, sizeof value));
    ck_assert_uint_eq(value, 5);
    ck_good(cuLinkDestroy(link));
}

/* name<N> is short for N variables, in each space. */
TEST(modules, variables_of_a_range_are_several)
{
    static const char text[] =
        ".version 7.8\n.target sm_90\n.address_size 64\n.global .u64 g<2>;\n"
        ".func put(.param .u64 to, .param .u64 what)\n{\n    .reg .u64 %a, %b;\n"
        "    ld.param.u64 %a, [to];\n    ld.param.u64 %b, [what];\n"
        "    st.global.u64 [%a], %b;\n    ret;\n}\n"
        ".visible .entry several(.param .u64 p)\n{\n    .reg .u64 %a, %b, %c;\n"
        "    .local .u64 l<3>;\n    .shared .u64 s<3>;\n    ld.param.u64 %a, [p];\n"
        "    mov.u64 %b, 1;\n    st.local.u64 [l0], %b;\n    st.shared.u64 [s0], %b;\n"
        "    st.global.u64 [g0], %b;\n    mov.u64 %b, 10;\n    st.local.u64 [l2], %b;\n"
        "    mov.u64 %c, s2;\n    st.shared.u64 [%c], %b;\n    st.global.u64 [g1], %b;\n"
        "    ld.local.u64 %b, [l0];\n    ld.shared.u64 %c, [s0];\n    add.u64 %b, %b, %c;\n"
        "    ld.global.u64 %c, [g0];\n    add.u64 %b, %b, %c;\n    ld.local.u64 %c, [l2];\n"
        "    add.u64 %b, %b, %c;\n    ld.shared.u64 %c, [s2];\n    add.u64 %b, %b, %c;\n"
        "    ld.global.u64 %c, [g1];\n    add.u64 %b, %b, %c;\n"
        "    { .param .u64 q<2>; st.param.u64 [q0], %a; st.param.u64 [q1], %b; "
        "call put, (q0, q1); }\n    ret;\n}\n";
    gd_CUmodule made = NULL;
    gd_CUfunction function = NULL;
    void *arguments[] = {&a};
    uint64_t value = 0;

    setup();
    ck_good(cuModuleLoadData(&made, text));
    ck_good(cuModuleGetFunction(&function, made, "several"));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    ck_good(cuMemcpyDtoH_v2(&value, a, sizeof value));
    ck_assert_uint_eq(value, 33);
}

TEST(modules, linked_images_load_again)
{
    gd_CUlinkState link = NULL;
    gd_CUmodule made = NULL;
    gd_CUfunction function = NULL;
    void *image = NULL;
    size_t bytes = 0;
    unsigned count = 0;

    setup();
    ck_good(cuLinkCreate_v2(0, NULL, NULL, &link));
    ck_result(cuLinkComplete(link, &image, &bytes), GD_CUDA_ERROR_INVALID_VALUE);
    ck_good(cuLinkAddData_v2(link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels, sizeof kernels,
                             "k", 0, NULL, NULL));
    ck_good(cuLinkComplete(link, &image, &bytes));
    char *copy = malloc(bytes);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, image, bytes);
    ck_good(cuLinkDestroy(link));
    ck_result(cuLinkDestroy(link), GD_CUDA_ERROR_INVALID_HANDLE);
    ck_good(cuModuleLoadData(&made, copy));
    ck_good(cuModuleGetFunctionCount(&count, made));
    ck_assert_uint_eq(count, 10);
    ck_good(cuModuleGetFunction(&function, made, "step"));
    ck_good(try_launch(function, stream, 2, N / 2, a, b, false));
    ck_good(cuModuleUnload(made)); /* waits */
    ck_assert_uint_eq(word_of(b), 1);
    ck_result(try_launch(function, stream, 2, N / 2, a, b, false), GD_CUDA_ERROR_INVALID_HANDLE);
    copy[bytes - 20] ^= 1;
    ck_result(cuModuleLoadData(&made, copy), GD_CUDA_ERROR_INVALID_IMAGE);
    copy[bytes - 20] ^= 1;
    copy[48] = 80; /* made for another chip, by its flags */
    ck_result(cuModuleLoadData(&made, copy), GD_CUDA_ERROR_NO_BINARY_FOR_GPU);
    free(copy);
    end_clean();
}

/* ---- launches ---- */

TEST(launches, launches_are_checked)
{
    gd_CUfunction step, big;
    gd_CUlaunchConfig config = {.gridDimX = 1,
                                .gridDimY = 70000,
                                .gridDimZ = 1,
                                .blockDimX = 32,
                                .blockDimY = 1,
                                .blockDimZ = 1};
    gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                      .value.cooperative = 1};
    void *parameters[2] = {&a, &b};
    size_t bytes = 0;
    int blocks = 0, value = 0;

    setup();
    step = function_of("step");
    big = function_of("big");
    ck_result(cuLaunchKernelEx(NULL, step, parameters, NULL), GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(cuLaunchKernelEx(&config, step, parameters, NULL), GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(try_launch(step, stream, 0, 32, a, b, false), GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(try_launch(step, stream, 1, 1025, a, b, false), GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(try_launch(big, stream, 1, 129, a, b, false), GD_CUDA_ERROR_INVALID_VALUE);
    ck_result(try_launch(stream, stream, 1, 32, a, b, false), GD_CUDA_ERROR_INVALID_HANDLE);
    ck_result(try_launch(step, module, 1, 32, a, b, false), GD_CUDA_ERROR_INVALID_HANDLE);
    config.gridDimY = 1;
    ck_result(cuLaunchKernelEx(&config, step, NULL, NULL), GD_CUDA_ERROR_INVALID_VALUE);
    config.sharedMemBytes = 100000; /* more than was opted in to */
    ck_refused(cuLaunchKernelEx(&config, step, parameters, NULL), GD_CUDA_ERROR_INVALID_VALUE,
               "100000 bytes of dynamic shared memory");
    config.sharedMemBytes = 0;
    config.attrs = &attribute;
    config.numAttrs = 1;
    ck_good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step, 32, 0));
    ck_assert_int_eq(blocks, 32); /* the slots of an SM */
    ck_good(cuDeviceGetAttribute(&value, GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    config.gridDimX = (unsigned)(blocks * value + 1);
    ck_refused(cuLaunchKernelEx(&config, function_of("pass"), parameters, NULL),
               GD_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
               "a cooperative launch of 129 blocks; 128 fit on the device at a time");
    config.gridDimX--;
    ck_good(cuLaunchKernelEx(&config, function_of("pass"), parameters, NULL));
    ck_good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step, 1024, 0));
    ck_assert_int_eq(blocks, 2);
    ck_good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step, 32, 48 * 1024));
    ck_assert_int_eq(blocks, 4);
    ck_good(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, step, 2, 1024));
    ck_result(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, step, 3, 1024),
              GD_CUDA_ERROR_INVALID_VALUE);
    config.blockDimX = 1024;
    ck_good(cuOccupancyMaxPotentialClusterSize(&blocks, step, &config));
    ck_assert_int_eq(blocks, value * 2 < 8 ? value * 2 : 8);
    attribute = (gd_CUlaunchAttribute){.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value.clusterDim = {2, 1, 1}};
    config.gridDimX = 4;
    ck_good(cuOccupancyMaxActiveClusters(&blocks, step, &config));
    ck_assert_int_eq(blocks, value); /* two of 1024 threads on an SM */
    config.gridDimX = 3;
    ck_result(cuOccupancyMaxActiveClusters(&blocks, step, &config),
              GD_CUDA_ERROR_INVALID_CLUSTER_SIZE);
    const gd_CUlaunchAttribute refused[] = {
        {.id = GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, .value.memSyncDomainMap = {0, 4}},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         .value.accessPolicyWindow.num_bytes = 1u << 30},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
         .value.sharedMemCarveout = 101},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
         .value.sharedMemCarveout = UINT32_MAX},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
         .value.syncPolicy = GD_CU_SYNC_POLICY_SPIN}};
    config.blockDimX = 32;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        attribute = refused[i];
        ck_result(cuLaunchKernelEx(&config, step, parameters, NULL), GD_CUDA_ERROR_INVALID_VALUE);
    }
    ck_result(cuOccupancyMaxPotentialClusterSize(NULL, step, &config), GD_CUDA_ERROR_INVALID_VALUE);
    ck_good(cuCtxSynchronize());
    end_clean();
}

/* Far more CTAs than the device holds at a time. */
TEST(launches, grids_larger_than_the_device_finish)
{
    gd_CUdeviceptr large;
    uint32_t *words = malloc(4 * 32 * 2000);

    setup();
    ck_good(cuMemAlloc_v2(&large, 4 * 32 * 2000));
    ck_good(cuMemsetD32_v2(large, 5, 32 * 2000));
    ck_good(try_launch(function_of("step"), stream, 2000, 32, large, large, false));
    ck_good(try_launch(function_of("step"), stream, 2000, 32, large, large, true));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(words, large, 4 * 32 * 2000));
    for (int i = 0; i < 32 * 2000; i++)
        ck_assert_uint_eq(words[i], 7);
    free(words);
    ck_good(cuMemFree_v2(large));
    end_clean();
}

TEST(launches, long_queues_run_by_themselves)
{
    setup();
    for (int i = 0; i < 3000; i++)
        launch("step", a, a, i % 3 != 0);
    ck_assert_uint_eq(word_of(a), 3000);
    end_clean();
}

/* ---- dependent launch ---- */

/* The second kernel reads what the first writes, and does not wait: what it sees depends on the
 * schedule. */
static uint32_t run_pair(const char *first, const char *second)
{
    launch(first, a, b, false);
    launch(second, b, c, true);
    return word_of(c);
}

TEST(dependent_launch, without_a_wait_stale_data_is_read)
{
    setup();
    ck_assert_uint_eq(run_pair("step", "rash"), 101); /* what stood in b before */
    ck_assert_uint_eq(word_of(b), 1);
    end_clean();
}

TEST(dependent_launch, with_a_wait_fresh_data_is_read)
{
    setup();
    ck_assert_uint_eq(run_pair("step", "step"), 2);
    ck_assert_uint_eq(run_pair("quiet", "late"), 2);
    end_clean();
}

/* A primary that never triggers, or triggers after its work, does so when it exits. */
TEST(dependent_launch, late_triggers_start_late)
{
    setup();
    ck_assert_uint_eq(run_pair("quiet", "rash"), 2);
    ck_good(cuMemsetD32_v2(b, 100, N));
    ck_assert_uint_eq(run_pair("late", "rash"), 2);
    end_clean();
}

TEST(dependent_launch, lazy_schedules_hide_the_race)
{
    begin("lazy", "contract");
    ck_assert_uint_eq(run_pair("step", "rash"), 2);
    end_clean();
}

/* The third waits for the second, which ended without waiting for the first: the contract promises
 * nothing about the first. */
static uint32_t run_transitive(void)
{
    launch("step", a, b, false);
    launch("pass", a, a, true);
    launch("step", b, c, true);
    return word_of(c);
}

TEST(dependent_launch, waits_are_for_direct_dependencies)
{
    setup();
    ck_assert_uint_eq(run_transitive(), 101);
    end_clean();
}

TEST(dependent_launch, observed_waits_reach_further)
{
    begin("eager", "observed");
    ck_assert_uint_eq(run_transitive(), 2);
    end_clean();
}

/* A plain launch waits for all that stands before it in its stream, a synchronization too. */
TEST(dependent_launch, plain_launches_wait_for_everything)
{
    setup();
    launch("step", a, b, false);
    launch("pass", a, a, true);
    launch("quiet", b, c, false);
    ck_assert_uint_eq(word_of(c), 2);
    end_clean();
}

LOOP_TEST(loops, random_schedules_repeat, 2)
{
    uint32_t stale = 0;

    begin(_i % 2 ? "random:5" : "random:6", "contract");
    for (int i = 0; i < 20; i++) {
        ck_good(cuMemsetD32_v2(b, 100, N));
        launch("step", a, b, false);
        launch("rash", b, c, true);
        uint32_t words[N];
        ck_good(cuStreamSynchronize(stream));
        ck_good(cuMemcpyDtoH_v2(words, c, BYTES));
        stale += words[0] == 101;
        for (int k = 0; k < 10; k++)
            launch("step", a, a, true);
        ck_assert_uint_eq(word_of(a), (uint32_t)(10 * (i + 1)));
        ck_good(cuMemsetD32_v2(a, 0, N));
        launch("step", a, a, false);
        for (int k = 1; k < 10 * (i + 1); k++)
            launch("step", a, a, true);
    }
    ck_assert_uint_gt(stale, 0);
    ck_assert_uint_lt(stale, 20);
    end_clean();
}

/* ---- streams and events ---- */

/* The younger stream's kernel runs first where nothing orders them. */
TEST(streams, streams_without_order_race)
{
    gd_CUstream other;

    setup();
    ck_good(cuStreamCreate(&other, GD_CU_STREAM_NON_BLOCKING));
    launch("quiet", a, b, false);
    ck_good(try_launch(function_of("quiet"), other, 2, N / 2, b, c, false));
    ck_good(cuStreamSynchronize(other));
    ck_assert_uint_eq(word_of(c), 101);
    ck_good(cuStreamDestroy_v2(other));
    end_clean();
}

TEST(streams, queries_make_progress)
{
    gd_CUevent event;
    gd_CUresult result;
    int asked = 0;

    setup();
    ck_good(cuStreamQuery(stream));
    ck_good(cuEventCreate(&event, 0));
    ck_good(cuEventQuery(event));
    for (int i = 0; i < 200; i++)
        launch("step", a, a, true);
    ck_good(cuEventRecord(event, stream));
    ck_result(cuEventQuery(event), GD_CUDA_ERROR_NOT_READY);
    ck_result(cuStreamQuery(stream), GD_CUDA_ERROR_NOT_READY);
    while ((result = cuEventQuery(event)) == GD_CUDA_ERROR_NOT_READY && asked < 100000)
        asked++;
    ck_good(result);
    ck_good(cuStreamQuery(stream));
    ck_assert_uint_eq(word_of(a), 200);
    ck_good(cuEventDestroy_v2(event));
    ck_result(cuEventDestroy_v2(event), GD_CUDA_ERROR_INVALID_HANDLE);
    end_clean();
}

static float time_chain(bool dependent)
{
    gd_CUevent start, stop;
    float milliseconds = -1;

    ck_good(cuEventCreate(&start, 0));
    ck_good(cuEventCreate(&stop, 0));
    ck_result(cuEventElapsedTime(&milliseconds, start, stop), GD_CUDA_ERROR_INVALID_HANDLE);
    ck_good(cuEventRecord(start, stream));
    for (int i = 0; i < 10; i++)
        launch("step", a, a, dependent);
    ck_good(cuEventRecord(stop, stream));
    ck_result(cuEventElapsedTime(&milliseconds, start, stop), GD_CUDA_ERROR_NOT_READY);
    ck_good(cuEventSynchronize(stop));
    ck_good(cuEventElapsedTime(&milliseconds, start, stop));
    ck_good(cuEventDestroy_v2(start));
    ck_good(cuEventDestroy_v2(stop));
    return milliseconds;
}

/* Two launches that fill the device, the second of which waits for nothing: the time of both, and
 * in words 0 to 7 of the result the multiprocessors that ran its CTAs. */
static float time_full(gd_CUfunction full, gd_CUdeviceptr result, bool dependent)
{
    gd_CUevent start, stop;
    float milliseconds = -1;

    ck_good(cuEventCreate(&start, 0));
    ck_good(cuEventCreate(&stop, 0));
    ck_good(cuEventRecord(start, stream));
    ck_good(try_launch(full, stream, 8, 1024, 0, a, false));
    ck_good(try_launch(full, stream, 8, 1024, 0, result, dependent));
    ck_good(cuEventRecord(stop, stream));
    ck_good(cuEventSynchronize(stop));
    ck_good(cuEventElapsedTime(&milliseconds, start, stop));
    ck_good(cuEventDestroy_v2(start));
    ck_good(cuEventDestroy_v2(stop));
    return milliseconds;
}

/* As blocks leave, those of the next grid take their places, each where one becomes free first. */
TEST(streams, blocks_take_places_as_they_become_free)
{
    gd_CUmodule own;
    gd_CUfunction full;
    uint32_t on[8], counts[4] = {0};

    setup();
    ck_good(cuModuleLoadData(
        &own, HEADER ".visible .entry full" TWO_POINTERS
                     "{\n    .reg .b64 %out, %at;\n    .reg .b32 %n, %i;\n    .reg .pred %p;\n"
                     "    griddepcontrol.launch_dependents;\n    ld.param.u64 %out, [out];\n"
                     "    mov.u32 %i, 0;\nloop:\n    add.u32 %i, %i, 1;\n"
                     "    setp.lt.u32 %p, %i, 20;\n    @%p bra loop;\n    mov.u32 %i, %ctaid.x;\n"
                     "    mul.wide.u32 %at, %i, 4;\n    add.u64 %out, %out, %at;\n"
                     "    mov.u32 %n, %smid;\n    st.global.u32 [%out], %n;\n    ret;\n}\n"));
    ck_good(cuModuleGetFunction(&full, own, "full"));
    const float serial = time_full(full, b, false), early = time_full(full, b, true);
    ck_assert_msg(early < serial, "%f ms early, %f ms serial", (double)early, (double)serial);
    ck_good(cuMemcpyDtoH_v2(on, b, sizeof on));
    for (int i = 0; i < 8; i++)
        counts[on[i] & 3]++;
    for (int i = 0; i < 4; i++)
        ck_assert_msg(counts[i] == 2, "%u blocks ran on multiprocessor %d", counts[i], i);
    ck_good(cuModuleUnload(own));
    end_clean();
}

TEST(streams, model_time_repeats_and_shows_overlap)
{
    setup();
    float plain = time_chain(false), again = time_chain(false), dependent = time_chain(true);
    ck_assert_float_gt(plain, 0);
    ck_assert_float_eq(plain, again);
    ck_assert_msg(dependent < plain * 0.8f, "dependent %g ms, plain %g ms", (double)dependent,
                  (double)plain);
    end_clean();
}

static int host_calls;
static gd_CUresult inside_result;

static void host_function(void *user)
{
    gd_CUdeviceptr memory;

    host_calls += *(int *)user;
    inside_result = cuMemAlloc_v2(&memory, 4);
}

/* Nothing runs under a lock of the driver's: a host function may wait for a thread that calls
 * it. */
typedef struct meeting {
    pthread_mutex_t mutex;
    sem_t done;
} meeting;

static void meet(void *user)
{
    meeting *with = user;

    pthread_mutex_lock(&with->mutex);
    pthread_mutex_unlock(&with->mutex);
    sem_post(&with->done);
}

TEST(streams, host_functions_hold_no_lock)
{
    meeting with = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    gd_CUdeviceptr memory;
    gd_CUstream other;

    setup();
    ck_good(cuStreamCreate(&other, GD_CU_STREAM_NON_BLOCKING));
    sem_init(&with.done, 0, 0);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&with.mutex);
        ck_good(cuLaunchHostFunc(stream, meet, &with));
        usleep(2000); /* the emulator's thread is in it now, as a rule */
        ck_good(cuMemAllocAsync(&memory, 4, other));
        ck_good(cuMemFreeAsync(memory, other));
        pthread_mutex_unlock(&with.mutex);
        sem_wait(&with.done);
    }
    ck_good(cuStreamDestroy_v2(other));
    end_clean();
}

/* A kernel that runs may wait for one behind a host function that another thread is in; poll does
 * nothing else, watch looks at the clock meanwhile. */
#define AWAIT(name, also)                                                                          \
    ".visible .entry " name "(.param .u64 flag)\n{\n    .reg .b64 %a, %t;\n    .reg .b32 %v;\n"    \
    "    .reg .pred %p;\n    ld.param.u64 %a, [flag];\nagain:\n" also                              \
    "    ld.acquire.gpu.global.u32 %v, [%a];\n    setp.eq.u32 %p, %v, 0;\n"                        \
    "    @%p bra again;\n    ret;\n}\n"
static const char flag_kernels[] = HEADER
    ".visible .entry tell(.param .u64 flag)\n{\n    .reg .b64 %a;\n"
    "    ld.param.u64 %a, [flag];\n    st.release.gpu.global.u32 [%a], 1;\n    ret;\n}\n" AWAIT(
        "poll", "") AWAIT("watch", "    mov.u64 %t, %globaltimer;\n");

static void stay(void *user)
{
    sem_post(user);
    usleep(20000); /* the program waits for the kernel now */
}

TEST(streams, host_functions_return_while_kernels_wait)
{
    gd_CUfunction tell, await[2];
    gd_CUmodule loaded;
    gd_CUstream other;
    sem_t begun;

    setup();
    ck_good(cuModuleLoadData(&loaded, flag_kernels));
    ck_good(cuModuleGetFunction(&tell, loaded, "tell"));
    ck_good(cuModuleGetFunction(&await[0], loaded, "poll"));
    ck_good(cuModuleGetFunction(&await[1], loaded, "watch"));
    ck_good(cuStreamCreate(&other, GD_CU_STREAM_NON_BLOCKING));
    sem_init(&begun, 0, 0);
    for (int i = 0; i < 6; i++) {
        ck_good(cuMemsetD32_v2(a, 0, 1));
        ck_good(cuCtxSynchronize());
        ck_good(cuLaunchHostFunc(other, stay, &begun));
        ck_good(cuLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, other, (void *[]){&a}, NULL));
        sem_wait(&begun);
        ck_good(cuLaunchKernel(await[i % 2], 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&a}, NULL));
        ck_good(cuStreamSynchronize(stream));
        ck_good(cuStreamSynchronize(other));
    }
    ck_good(cuStreamDestroy_v2(other));
    ck_good(cuModuleUnload(loaded));
    end_clean();
}

/* A thread of the program's that has made no call yet launches `tell` while another one waits. */
static gd_CUfunction told_later;
static bool tells;

static void *tell_later(void *user)
{
    gd_CUdeviceptr flag = a;
    gd_CUstream other;

    (void)user;
    usleep(100000);
    if (!tells)
        usleep(3000000);
    else if (cuCtxSetCurrent(context) || cuStreamCreate(&other, GD_CU_STREAM_NON_BLOCKING) ||
             cuLaunchKernel(told_later, 1, 1, 1, 1, 1, 1, 0, other, (void *[]){&flag}, NULL) ||
             cuStreamSynchronize(other) || cuStreamDestroy_v2(other))
        return &told_later;
    return NULL;
}

LOOP_TEST(loops, other_threads_hand_in_what_kernels_wait_for, 3)
{
    static const char *const names[] = {"poll", "watch"};
    gd_CUfunction waits;
    gd_CUmodule loaded;
    pthread_t thread;
    void *failed;

    setup();
    tells = _i < 2;
    ck_good(cuModuleLoadData(&loaded, flag_kernels));
    ck_good(cuModuleGetFunction(&told_later, loaded, "tell"));
    ck_good(cuModuleGetFunction(&waits, loaded, names[_i % 2]));
    ck_good(cuMemsetD32_v2(a, 0, 1));
    ck_good(cuCtxSynchronize());
    ck_assert_int_eq(pthread_create(&thread, NULL, tell_later, NULL), 0);
    ck_good(cuLaunchKernel(waits, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&a}, NULL));
    ck_result(cuStreamSynchronize(stream),
              tells ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_LAUNCH_TIMEOUT); /* a deadlock all the same */
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    if (!tells)
        return;
    ck_good(cuModuleUnload(loaded));
    end_clean();
}

/* A fault: cuStreamAddCallback's functions learn of it, cuLaunchHostFunc's are not called. */
typedef struct told {
    sem_t done;
    gd_CUresult status;
} told;

static void note_told(gd_CUstream where, gd_CUresult status, void *user)
{
    told *by = user;

    (void)where;
    by->status = status;
    sem_post(&by->done);
}

TEST(streams, faults_are_told_to_callbacks)
{
    told each[3];

    setup();
    host_calls = 0;
    launch("crash", a, a, false);
    for (int i = 0; i < 3; i++) {
        each[i].status = GD_CUDA_SUCCESS;
        sem_init(&each[i].done, 0, 0);
        ck_good(cuStreamAddCallback(stream, note_told, &each[i], 0));
        ck_good(cuLaunchHostFunc(stream, host_function, &(int){1}));
    }
    for (int i = 0; i < 3; i++) {
        sem_wait(&each[i].done);
        ck_result(each[i].status, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    ck_assert_int_eq(host_calls, 0);
    ck_result(cuStreamSynchronize(stream), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- faults ---- */

static void expect_fault(const char *kernel, gd_CUresult expected, const char *words)
{
    gd_CUdeviceptr memory;
    const char *text = NULL;

    launch(kernel, a, b, false);
    ck_result(cuStreamSynchronize(stream), expected);
    ck_result(cuMemAlloc_v2(&memory, 4), expected); /* for good */
    ck_result(try_launch(NULL, stream, 1, 32, a, b, false), expected);
    ck_good(cuGetErrorString(expected, &text));
    ck_assert_msg(strstr(text, kernel) && strstr(text, words), "%s", text);
    ck_good(cuDevicePrimaryCtxReset_v2(0));
    ck_result(cuMemAlloc_v2(&memory, 4), GD_CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

LOOP_TEST(loops, faults_end_the_context_alone, 6)
{
    static const struct {
        const char *kernel;
        gd_CUresult result;
        const char *words;
    } faults[] = {
        {"crash", GD_CUDA_ERROR_ILLEGAL_ADDRESS, "line "},
        {"skew", GD_CUDA_ERROR_MISALIGNED_ADDRESS, "line "},
        {"halt", GD_CUDA_ERROR_LAUNCH_FAILED, "trap"},
        {"forever", GD_CUDA_ERROR_LAUNCH_TIMEOUT, "step limit"},
        {"gone", GD_CUDA_ERROR_LAUNCH_FAILED, "CTA rank 1 of the cluster, which has exited"},
        {"stuck", GD_CUDA_ERROR_LAUNCH_TIMEOUT, "deadlock"},
    };
    gd_CUcontext other, popped;
    gd_CUdeviceptr memory;

    setenv("GRIDDEP_EMULATOR_STEPS", "100000", 1);
    setup();
    ck_good(cuCtxCreate_v2(&other, 0, 0));
    ck_good(cuCtxPopCurrent_v2(&popped));
    expect_fault(faults[_i].kernel, faults[_i].result, faults[_i].words);
    ck_good(cuCtxSetCurrent(other));
    ck_good(cuMemAlloc_v2(&memory, 4));
    ck_good(cuMemFree_v2(memory));
    ck_good(cuCtxDestroy_v2(other));
}

/* ---- handles ---- */

TEST(system, the_step_limit_is_what_was_asked_for)
{
    const char *text = NULL;

    setenv("GRIDDEP_EMULATOR_STEPS", "10", 1);
    setup();
    launch("quiet", a, b, false);
    ck_result(cuStreamSynchronize(stream), GD_CUDA_ERROR_LAUNCH_TIMEOUT);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_LAUNCH_TIMEOUT, &text));
    ck_assert_msg(strstr(text, "executed 32 thread-instructions"), "%s", text);
}

static gd_CUfunction system_function(const char *name)
{
    gd_CUfunction found = NULL;
    gd_CUmodule loaded = NULL;

    ck_good(cuModuleLoadData(&loaded, system_kernels));
    ck_good(cuModuleGetFunction(&found, loaded, name));
    return found;
}

TEST(system, kernels_print_and_assert)
{
    uint32_t value = 3;
    void *arguments[] = {&value};
    const char *words;
    char text[128] = "", path[] = "/tmp/griddep-print-XXXXXX";
    int file = mkstemp(path), kept = dup(1);

    setup();
    gd_CUfunction talk = system_function("talk");
    ck_assert_int_ge(file, 0);
    ck_assert_int_ge(dup2(file, 1), 0);
    value = 7;
    ck_good(cuLaunchKernel(talk, 1, 1, 1, 2, 1, 1, 0, stream, arguments, NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_assert_int_ge(dup2(kept, 1), 0);
    ck_assert_int_gt(pread(file, text, sizeof text - 1, 0), 0);
    close(file);
    unlink(path);
    ck_assert_str_eq(text, "7 word |   1.5 123456789abcdef0%\n7 word |   1.5 123456789abcdef0%\n");
    value = 3;
    ck_good(cuLaunchKernel(talk, 1, 1, 1, 2, 1, 1, 0, stream, arguments, NULL));
    ck_result(cuStreamSynchronize(stream), GD_CUDA_ERROR_ASSERT);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_ASSERT, &words));
    ck_assert_msg(strstr(words, "word:77: word: assertion `word` failed"), "%s", words);
}

TEST(system, parameters_may_be_registers)
{
    uint32_t value = 0;

    setup();
    void *arguments[] = {&a};
    ck_good(cuLaunchKernel(system_function("registers"), 1, 1, 1, 32, 1, 1, 0, stream, arguments,
                           NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(&value, a, sizeof value));
    ck_assert_uint_eq(value, 65535 + 50 - 3 - 3);
}

TEST(system, refused_modules_are_told)
{
    static const char newer[] =
        ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k()\n{ ret; }\n";
    gd_CUmodule loaded;
    char text[512] = "", path[] = "/tmp/griddep-log-XXXXXX";
    int file = mkstemp(path), kept = dup(2);

    setenv("GRIDDEP_LOG", "warning", 1);
    setup();
    ck_assert_int_ge(file, 0);
    ck_assert_int_ge(dup2(file, 2), 0);
    ck_result(cuModuleLoadData(&loaded, newer), GD_CUDA_ERROR_INVALID_PTX);
    ck_assert_int_ge(dup2(kept, 2), 0);
    ck_assert_int_ge(pread(file, text, sizeof text - 1, 0), 0);
    close(file);
    unlink(path);
    ck_assert_msg(strstr(text, "cuModuleLoadData: .target sm_100 is newer than the emulated sm_90: "
                               "CUDA_ERROR_INVALID_PTX"),
                  "%s", text);
}

/* GRIDDEP_EMULATOR_CHIP: limits, the targets that are taken, and what fits a multiprocessor. */
static const struct chip {
    const char *name;
    int capability, shared, threads, ctas;
    const char *taken, *refused; /* targets */
} chips[] = {
    {"sm_100", 100, 227 * 1024, 2048, 32, "sm_100a", "sm_103"},
    {"sm_103", 103, 227 * 1024, 2048, 32, "sm_100f", "sm_90a"},
    {"sm_120", 120, 99 * 1024, 1536, 24, "sm_120", "sm_100f"},
};

static gd_CUresult load_for(const char *target, gd_CUmodule *loaded)
{
    char text[256];

    snprintf(text, sizeof text,
             ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k()\n{ ret; }\n", target);
    return cuModuleLoadData(loaded, text);
}

static int ask(gd_CUdevice_attribute attribute)
{
    int value = 0;

    ck_good(cuDeviceGetAttribute(&value, attribute, 0));
    return value;
}

LOOP_TEST(loops, other_chips, sizeof chips / sizeof *chips)
{
    const struct chip *chip = &chips[_i];
    char name[64], expected[64];
    gd_CUmodule loaded;
    gd_CUfunction function;
    int blocks = 0;

    setenv("GRIDDEP_EMULATOR_CHIP", chip->name, 1);
    setup();
    ck_good(cuDeviceGetName(name, sizeof name, 0));
    snprintf(expected, sizeof expected, "Emulated %s", chip->name);
    ck_assert_str_eq(name, expected);
    ck_assert_int_eq(10 * ask(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                         ask(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                     chip->capability);
    ck_assert_int_eq(ask(GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), chip->shared);
    ck_assert_int_eq(ask(GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                     chip->shared + 1024);
    ck_assert_int_eq(ask(GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), chip->threads);
    ck_assert_int_eq(ask(GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), chip->ctas);
    ck_assert_int_ne(load_for(chip->refused, &loaded), GD_CUDA_SUCCESS);
    ck_good(load_for("sm_90", &loaded));
    ck_good(load_for(chip->taken, &loaded));
    ck_good(cuModuleGetFunction(&function, loaded, "k"));
    ck_good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0));
    ck_assert_int_eq(blocks, chip->ctas);
    ck_good(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 512, 0));
    ck_assert_int_eq(blocks, chip->threads / 512);
    ck_good(cuFuncSetAttribute(function, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               chip->shared));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, (unsigned)chip->shared, NULL, NULL, NULL));
    ck_assert_int_ne(cuFuncSetAttribute(function,
                                        GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        chip->shared + 1),
                     GD_CUDA_SUCCESS);
    ck_good(cuCtxSynchronize());
}

/* A setting that cannot be read, or that nobody reads, ends cuInit with its name; once it is gone,
 * cuInit succeeds. */
TEST(system, settings_are_known_or_refused)
{
    static const char *const wrong[][3] = {
        {"GRIDDEP_EMULATOR_CHECK", "races",
         "GRIDDEP_EMULATOR_CHECK is \"races\"; it may be off, all, or a list"},
        {"GRIDDEP_EMULATOR_CHEK", "race", "did you mean GRIDDEP_EMULATOR_CHECK?"},
        {"GRIDDEP_EMULATOR_CHECKS", "race", "did you mean GRIDDEP_EMULATOR_CHECK?"},
        {"GRIDDEP_EMULATOR_CEHCK", "race", "did you mean GRIDDEP_EMULATOR_CHECK?"},
        {"GRIDDEP_EMULATER_CHECK", "race", "did you mean GRIDDEP_EMULATOR_CHECK?"},
        {"GRIDDEP_EMULATOR_X", "", "GRIDDEP_EMULATOR_X is no variable that is read"},
        {"GRIDDEP_LGO", "error", "did you mean GRIDDEP_LOG?"},
        {"GRIDDEP_LOG", "errors",
         "GRIDDEP_LOG is \"errors\"; it may be error, warning, info, debug or off"},
        {"GRIDDEP_EMULATOR_MODEL", "Contract", "it may be contract or observed"},
        {"GRIDDEP_EMULATOR_SCHEDULE", "random:", "it may be eager, lazy, or random:SEED"},
        {"GRIDDEP_EMULATOR_SCHEDULE", "random:18446744073709551616",
         "it may be eager, lazy, or random:SEED"},
        {"GRIDDEP_EMULATOR_MULTIPROCESSORS", "1025", "it may be a number from 1 to 1024"},
        {"GRIDDEP_EMULATOR_MEMORY", "1023K", "it may be bytes from 1M"},
        {"GRIDDEP_EMULATOR_CHIP", "sm_89", "it may be sm_90, sm_100, sm_103 or sm_120"},
        {"GRIDDEP_EMULATOR_STEPS", "1e9", "it may be a number from 0"},
    };
    const char *words = "";

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv(wrong[i][0], wrong[i][1], 1);
        ck_assert_int_eq(cuInit(0), GD_CUDA_ERROR_INVALID_VALUE);
        ck_assert_int_eq(cuGetErrorString(GD_CUDA_ERROR_INVALID_VALUE, &words), GD_CUDA_SUCCESS);
        ck_assert_msg(strstr(words, wrong[i][2]) != NULL, "%s=%s: %s", wrong[i][0], wrong[i][1],
                      words);
        unsetenv(wrong[i][0]);
    }
    setenv("GRIDDEP_APPLICATION", "1", 1); /* of somebody else */
    setenv("GRIDDEP_EMULATOR_MEMORY", "1024G", 1);
    setenv("GRIDDEP_EMULATOR_MULTIPROCESSORS", "1024", 1);
    setenv("GRIDDEP_EMULATOR_CHECK", "", 1);
    ck_good(cuInit(0));
}

/* The reason of a refusal is the thread's, until another call ends with the same result for no
 * reason of its own. */
TEST(system, refusals_have_reasons)
{
    static const char unknown[] =
        HEADER ".visible .entry k()\n{\n    .reg .b32 %r;\n    .reg .b64 %a;\n"
               "    txq.width.b32 %r, [%a];\n    ret;\n}\n"
               ".visible .entry l()\n{\n    .reg .b32 %r;\n    vadd2.u32.u32.u32 %r, %r, %r, %r;\n "
               "   ret;\n}\n";
    static const char wrong[] =
        HEADER ".visible .entry k()\n{\n    .reg .b32 %r;\n    .reg .b64 %a;\n"
               "    ld.globl.u32 %r, [%a];\n    add.u32 %r, %r;\n    ret;\n}\n";
    const char *words = "";
    char information[512] = "";
    int names[] = {GD_CU_JIT_INFO_LOG_BUFFER, GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {information, (void *)(uintptr_t)sizeof information};
    gd_CUmodule loaded;
    gd_CUfunction function;
    gd_CUresult (*by_name_only)(void);
    void *found;

    setup();
    ck_assert_int_eq(cuModuleLoadData(&loaded, wrong), GD_CUDA_ERROR_INVALID_PTX);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_INVALID_PTX, &words));
    ck_assert_msg(strstr(words, "line 8; error   : ld has no modifier .globl") != NULL, "%s",
                  words);
    ck_good(cuModuleLoadDataEx(&loaded, unknown, 2, names, values));
    ck_assert_msg(strstr(information, "line 8; warning : k: txq.width.b32 is not emulated") != NULL,
                  "%s", information);
    ck_good(cuModuleGetFunction(&function, loaded, "k"));
    ck_assert_int_eq(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
                     GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_NOT_SUPPORTED, &words));
    ck_assert_str_eq(words, "kernel k cannot be launched: line 8: txq.width.b32 is not emulated");
    ck_good(cuModuleGetFunction(&function, loaded, "l"));
    ck_assert_int_eq(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
                     GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_NOT_SUPPORTED, &words));
    ck_assert_str_eq(words,
                     "kernel l cannot be launched: line 14: vadd2.u32.u32.u32 is not emulated");

    ck_good(cuGetProcAddress_v2("cuGLInit", &found, 13000, 0, NULL));
    memcpy(&by_name_only, &found, sizeof by_name_only);
    ck_assert_int_eq(by_name_only(), GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_NOT_SUPPORTED, &words));
    ck_assert_str_eq(words, "cuGLInit is not emulated");

    ck_assert_int_eq(cuModuleLoadData(&loaded, HEADER
                                      ".visible .entry k()\n{\n    mov.u32 %x, 1;\n    ret;\n}\n"),
                     GD_CUDA_ERROR_INVALID_PTX);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_INVALID_PTX, &words));
    ck_assert_msg(strstr(words, "line 6; error   : %x is not declared here") != NULL, "%s", words);
    ck_assert_int_eq(cuMemFree_v2(1), GD_CUDA_ERROR_INVALID_VALUE);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_INVALID_VALUE, &words));
    ck_assert_str_eq(words, "invalid value");
}

/* ptxas takes vector and 128-bit registers as parameters; on an H200 something else arrives in
 * them. */
TEST(loops, wide_register_parameters_are_refused)
{
    static const char text[] =
        ".version 8.3\n.target sm_90\n.address_size 64\n"
        ".func (.reg .b128 %a) f()\n{\n    ret;\n}\n.visible .entry k()\n{\n    .reg .b128 %v;\n"
        "    call (%v), f;\n    ret;\n}\n";
    const char *words = "";
    gd_CUmodule loaded;
    gd_CUfunction function;

    setup();
    ck_good(cuModuleLoadData(&loaded, text));
    ck_good(cuModuleGetFunction(&function, loaded, "k"));
    ck_assert_int_eq(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
                     GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_good(cuGetErrorString(GD_CUDA_ERROR_NOT_SUPPORTED, &words));
    ck_assert_msg(strstr(words, "a function with a parameter in a register of this type"), "%s",
                  words);
}

/* A function that turns a vector around, between scalars; as an H100 does it. */
static const struct {
    const char *type;
    int count;
} vector_parameters[] = {{"b32", 2}, {"b32", 4}, {"f32", 4}, {"b16", 2}, {"b16", 4}, {"u64", 2}};

LOOP_TEST(loops, vectors_are_parameters, sizeof vector_parameters / sizeof *vector_parameters)
{
    const char *type = vector_parameters[_i].type;
    const int count = vector_parameters[_i].count, bytes = atoi(type + 1) / 8;
    char text[2048];
    unsigned char got[64];
    gd_CUmodule loaded;
    gd_CUfunction function;

    setup();
    int used =
        snprintf(text, sizeof text,
                 HEADER ".func (.reg .v%d .%s r) turn(.reg .b32 s, .reg .v%d .%s v, .reg .b64 "
                        "l)\n{\n",
                 count, type, count, type);
    for (int i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "    mov.%s r.%c, v.%c;\n", type,
                         "xyzw"[i], "xyzw"[count - 1 - i]);
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "    ret;\n}\n.visible .entry k(.param .u64 out)\n{\n    .reg .v%d .%s %%v, "
                     "%%w;\n    .reg .b64 %%o;\n    ld.param.u64 %%o, [out];\n    ld.global.v%d.%s "
                     "%%v, [%%o];\n    call (%%w), turn, (7, %%v, %%o);\n    st.global.v%d.%s "
                     "[%%o+32], %%w;\n    ret;\n}\n",
                     count, type, count, type, count, type);
    ck_good(cuModuleLoadData(&loaded, text));
    ck_good(cuModuleGetFunction(&function, loaded, "k"));
    for (int i = 0; i < 64; i++)
        got[i] = (unsigned char)(i + 1);
    ck_good(cuMemcpyHtoD_v2(a, got, sizeof got));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&a}, NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(got, a, sizeof got));
    for (int i = 0; i < count; i++)
        ck_assert_msg(!memcmp(got + 32 + i * bytes, got + (count - 1 - i) * bytes, (size_t)bytes),
                      "element %d of %s", i, text);
    ck_good(cuModuleUnload(loaded));
    end_clean();
}

/* 32 bytes a thread, of chips from sm_100 on. */
LOOP_TEST(loops, wide_accesses, 2)
{
    static const char *const forms[][2] = {{"v8.u32", "{%a, %b, %c, %d, %e, %f, %g, %h}"},
                                           {"v4.b64", "{%i, %j, %k, %l}"}};
    char text[1024];
    uint32_t words[N * 8], copy[N * 8];
    gd_CUdeviceptr from, to;
    gd_CUmodule loaded;
    gd_CUfunction function;

    setenv("GRIDDEP_EMULATOR_CHIP", "sm_120", 1);
    setup();
    snprintf(
        text, sizeof text,
        ".version 8.8\n.target sm_120\n.address_size 64\n.visible .entry k" TWO_POINTERS
        "{\n    .reg .b32 %%t, %%a, %%b, %%c, %%d, %%e, %%f, %%g, %%h;\n    .reg .b64 %%i, %%j, "
        "%%k, %%l, %%p, %%q, %%o;\n    ld.param.u64 %%p, [in];\n    ld.param.u64 %%q, [out];\n"
        "    mov.u32 %%t, %%tid.x;\n    mul.wide.u32 %%o, %%t, 32;\n    add.u64 %%p, %%p, "
        "%%o;\n    add.u64 %%q, %%q, %%o;\n    ld.global.%s %s, [%%p];\n    st.global.%s "
        "[%%q], %s;\n    ret;\n}\n",
        forms[_i][0], forms[_i][1], forms[_i][0], forms[_i][1]);
    for (uint32_t i = 0; i < N * 8; i++)
        words[i] = i * 2654435761u;
    ck_good(cuMemAlloc_v2(&from, sizeof words));
    ck_good(cuMemAlloc_v2(&to, sizeof words));
    ck_good(cuMemcpyHtoD_v2(from, words, sizeof words));
    ck_good(cuModuleLoadData(&loaded, text));
    ck_good(cuModuleGetFunction(&function, loaded, "k"));
    ck_good(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, (void *[]){&from, &to}, NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(copy, to, sizeof copy));
    ck_assert(!memcmp(copy, words, sizeof words));
    from += 16;
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&from, &to}, NULL));
    ck_result(cuStreamSynchronize(stream), GD_CUDA_ERROR_MISALIGNED_ADDRESS);
}

static void *hold_the_driver(void *user)
{
    (void)user;
    for (;;)
        cuCtxSynchronize();
    return NULL;
}

/* A child of fork has no driver, and waits for no lock of a thread that it does not have. */
TEST(system, a_forked_child_has_no_driver)
{
    pthread_t thread;
    int status = 0;

    setup();
    ck_assert_int_eq(pthread_create(&thread, NULL, hold_the_driver, NULL), 0);
    for (int i = 0; i < 200; i++) {
        const pid_t child = fork();
        if (!child) {
            uint64_t address = 0;
            int count = 0;
            alarm(20);
            bool same = cuMemAlloc_v2(&address, 64) == GD_CUDA_ERROR_NOT_INITIALIZED &&
                        cuDeviceGetCount(&count) == GD_CUDA_ERROR_NOT_INITIALIZED &&
                        cuCtxSynchronize() == GD_CUDA_ERROR_NOT_INITIALIZED &&
                        cuInit(0) == GD_CUDA_ERROR_NOT_INITIALIZED &&
                        cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) ==
                            GD_CUDA_ERROR_NOT_INITIALIZED &&
                        cuDriverGetVersion(&count) == GD_CUDA_SUCCESS;
            if (!same)
                _exit(1);
            if (SANITIZED)
                _exit(0); /* at exit, LeakSanitizer would stop the threads that the parent has */
            exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (status)
            ck_abort_msg("child %d ended with %x", i, status);
    }
    ck_good(cuCtxSynchronize());
}

/* Where the parent has not called cuInit, the child may. */
TEST(system, a_child_may_begin_by_itself)
{
    int status = 0, version;

    ck_good(cuDriverGetVersion(&version));
    const pid_t child = fork();
    if (!child)
        _exit(cuInit(0) == GD_CUDA_SUCCESS ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

/* A block of a kernel's heap ends where it ends, and when it is freed, once. */
TEST(system, misuse_of_the_heap_is_a_fault)
{
    static const char *const wanted[] = {NULL,
                                         "read of 2 bytes at",
                                         "no malloc of its context returned",
                                         "no malloc of its context returned",
                                         "was freed before",
                                         "read of 1 byte at"};

    for (uint32_t misuse = 0; misuse < sizeof wanted / sizeof *wanted; misuse++) {
        int status;
        const pid_t child = fork(); /* a fault ends a context */
        if (!child) {
            void *arguments[] = {&misuse};
            const char *words = "";
            setup();
            ck_good(cuLaunchKernel(system_function("heap"), 1, 1, 1, 1, 1, 1, 0, stream, arguments,
                                   NULL));
            gd_CUresult result = cuStreamSynchronize(stream);
            if (result != GD_CUDA_SUCCESS)
                cuGetErrorString(result, &words);
            const bool good = wanted[misuse] ? result == GD_CUDA_ERROR_ILLEGAL_ADDRESS &&
                                                   strstr(words, wanted[misuse])
                                             : result == GD_CUDA_SUCCESS;
            if (!good)
                fprintf(stderr, "misuse %u: %d, %s\n", (unsigned)misuse, (int)result, words);
            _exit(good ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 0, "misuse %u", (unsigned)misuse);
    }
}

TEST(system, cooperative_grids_have_a_workspace)
{
    uint32_t value = 0;
    size_t before, after, total;

    setup();
    void *arguments[] = {&a};
    gd_CUfunction barrier = system_function("barrier");
    ck_good(cuMemGetInfo_v2(&before, &total));
    for (int round = 0; round < 2; round++) {
        ck_good(cuLaunchCooperativeKernel(barrier, 8, 1, 1, 1, 1, 1, 0, stream, arguments));
        ck_good(cuStreamSynchronize(stream));
    }
    ck_good(cuMemcpyDtoH_v2(&value, a, sizeof value));
    ck_assert_uint_eq(value, 8);
    ck_good(cuMemGetInfo_v2(&after, &total));
    ck_assert_uint_eq(before, after);
    ck_good(cuLaunchKernel(barrier, 8, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    ck_result(cuStreamSynchronize(stream), GD_CUDA_ERROR_LAUNCH_FAILED);
}

TEST(system, the_systems_shared_memory_can_be_used)
{
    uint32_t value = 0;

    setup();
    void *arguments[] = {&a};
    ck_good(
        cuLaunchKernel(system_function("scratch"), 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    ck_good(cuStreamSynchronize(stream));
    ck_good(cuMemcpyDtoH_v2(&value, a, sizeof value));
    ck_assert_uint_ge(value, 512);
}

MAIN_OF_SUITE("emulated driver")
