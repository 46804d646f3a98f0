/* Questions about dependent launch that the documents leave open, asked of a driver and a device:
 * each case prints "question: answer (figures)" and asserts only what is documented.
 * doc/questions.md has the answers of an H200. The same program runs on the emulated driver
 * (GRIDDEP_DRIVER=emulated), whose answers are those of its model. Exits 77 without a driver. */
#include <check.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "griddep.h"
#include "suite.h"
#include "unit/status.h"

/* probe: a CTA of one thread. It notes when it began, when it came past its wait and when it ended,
 * counts itself stale when source[CTA] is not `expect`, and writes expect + 1 to target[CTA], by
 * default at its end. bulk: a CTA that brings 4096 bytes into shared memory by a bulk copy behind
 * its wait, and counts the words that are not `expect`. fill: 256 threads that write them. */
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry probe(.param .u64 record, .param .u64 source, .param .u64 target, .param .u32 "
    "expect,\n"
    "                      .param .u32 spin, .param .u32 flags)\n"
    "{\n"
    "    .reg .pred %p<4>;\n    .reg .b32 %r<10>;\n    .reg .b64 %rd<12>;\n"
    "    mov.u64 %rd1, %globaltimer;\n"
    "    ld.param.u64 %rd2, [record];\n    ld.param.u64 %rd3, [source];\n    ld.param.u64 %rd4, "
    "[target];\n"
    "    ld.param.u32 %r1, [expect];\n    ld.param.u32 %r2, [spin];\n    ld.param.u32 %r3, "
    "[flags];\n"
    "    mov.u32 %r4, %ctaid.x;\n    mul.wide.u32 %rd5, %r4, 4;\n"
    "    add.u64 %rd6, %rd3, %rd5;\n    add.u64 %rd7, %rd4, %rd5;\n    add.u32 %r5, %r1, 1;\n"
    "    red.global.min.u64 [%rd2], %rd1;\n"
    "    and.b32 %r6, %r3, 12;\n    setp.eq.u32 %p1, %r6, 0;\n    @%p1 bra TRIGGER;\n"
    "    st.global.u32 [%rd7], %r5;\n"
    "    and.b32 %r6, %r3, 8;\n    setp.ne.u32 %p2, %r6, 0;\n    @%p2 bra SYSTEM;\n"
    "    fence.acq_rel.gpu;\n    bra TRIGGER;\n"
    "SYSTEM:\n    fence.acq_rel.sys;\n"
    "TRIGGER:\n"
    "    and.b32 %r6, %r3, 1;\n    setp.eq.u32 %p2, %r6, 0;\n    @%p2 bra WAIT;\n"
    "    griddepcontrol.launch_dependents;\n"
    "WAIT:\n"
    "    and.b32 %r6, %r3, 2;\n    setp.eq.u32 %p2, %r6, 0;\n    @%p2 bra READ;\n"
    "    griddepcontrol.wait;\n"
    "READ:\n"
    "    and.b32 %r6, %r3, 48;\n    setp.eq.u32 %p2, %r6, 0;\n    @%p2 bra PAST;\n"
    "    setp.eq.u32 %p2, %r6, 16;\n    @%p2 bra BEHIND;\n"
    "    fence.acq_rel.gpu;\n"
    "BEHIND:\n"
    "    griddepcontrol.launch_dependents;\n"
    "PAST:\n"
    "    mov.u64 %rd8, %globaltimer;\n    red.global.min.u64 [%rd2+16], %rd8;\n"
    "    setp.eq.u64 %p2, %rd3, 0;\n    @%p2 bra SPIN;\n"
    "    ld.global.u32 %r7, [%rd6];\n    setp.eq.u32 %p2, %r7, %r1;\n    @%p2 bra SPIN;\n"
    "    red.global.add.u32 [%rd2+24], 1;\n"
    "SPIN:\n"
    "    cvt.u64.u32 %rd9, %r2;\n    add.u64 %rd9, %rd9, %rd1;\n"
    "AGAIN:\n"
    "    mov.u64 %rd8, %globaltimer;\n    setp.lt.u64 %p3, %rd8, %rd9;\n    @%p3 bra AGAIN;\n"
    "    @!%p1 bra DONE;\n"
    "    setp.eq.u64 %p2, %rd4, 0;\n    @%p2 bra DONE;\n"
    "    st.global.u32 [%rd7], %r5;\n"
    "DONE:\n"
    "    mov.u64 %rd8, %globaltimer;\n    red.global.max.u64 [%rd2+8], %rd8;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry fill(.param .u64 target, .param .u32 value, .param .u32 spin)\n"
    "{\n"
    "    .reg .pred %p<2>;\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<8>;\n"
    "    griddepcontrol.launch_dependents;\n"
    "    mov.u64 %rd1, %globaltimer;\n"
    "    ld.param.u64 %rd2, [target];\n    ld.param.u32 %r1, [value];\n    ld.param.u32 %r2, "
    "[spin];\n"
    "    mov.u32 %r3, %ctaid.x;\n    mov.u32 %r4, %tid.x;\n    shl.b32 %r3, %r3, 8;\n    add.u32 "
    "%r3, %r3, %r4;\n"
    "    mul.wide.u32 %rd3, %r3, 16;\n    add.u64 %rd2, %rd2, %rd3;\n"
    "    cvt.u64.u32 %rd4, %r2;\n    add.u64 %rd4, %rd4, %rd1;\n"
    "    griddepcontrol.wait;\n" /* the readers of the round before are done */
    "AGAIN:\n"
    "    mov.u64 %rd5, %globaltimer;\n    setp.lt.u64 %p1, %rd5, %rd4;\n    @%p1 bra AGAIN;\n"
    "    st.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1};\n"
    "    ret;\n"
    "}\n"
    ".visible .entry bulk(.param .u64 record, .param .u64 source, .param .u32 expect, .param .u32 "
    "fence)\n"
    "{\n"
    "    .shared .align 128 .b8 room[4096];\n    .shared .align 8 .b64 bar;\n"
    "    .reg .pred %p<4>;\n    .reg .b32 %r<12>;\n    .reg .b64 %rd<8>;\n"
    "    griddepcontrol.launch_dependents;\n"
    "    ld.param.u64 %rd1, [record];\n    ld.param.u64 %rd2, [source];\n"
    "    ld.param.u32 %r1, [expect];\n    ld.param.u32 %r2, [fence];\n"
    "    mov.u32 %r3, %ctaid.x;\n    mul.wide.u32 %rd3, %r3, 4096;\n    add.u64 %rd2, %rd2, %rd3;\n"
    "    mov.u32 %r4, bar;\n    mov.u32 %r5, room;\n"
    "    mbarrier.init.shared.b64 [%r4], 1;\n"
    "    fence.proxy.async.shared::cta;\n"
    "    griddepcontrol.wait;\n"
    "    setp.eq.u32 %p1, %r2, 0;\n    @%p1 bra COPY;\n"
    "    fence.proxy.async.global;\n"
    "COPY:\n"
    "    mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r4], 4096;\n"
    "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd2], 4096, "
    "[%r4];\n"
    "LANDING:\n"
    "    mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;\n    @!%p2 bra LANDING;\n"
    "    mov.u32 %r6, 0;\n    mov.u32 %r7, 0;\n"
    "COUNT:\n"
    "    add.u32 %r8, %r5, %r6;\n    ld.shared.u32 %r9, [%r8];\n    setp.ne.u32 %p3, %r9, %r1;\n"
    "    @%p3 add.u32 %r7, %r7, 1;\n"
    "    add.u32 %r6, %r6, 4;\n    setp.lt.u32 %p3, %r6, 4096;\n    @%p3 bra COUNT;\n"
    "    red.global.add.u32 [%rd1+24], %r7;\n"
    "    ret;\n"
    "}\n";

enum {
    TRIGGERS = 1,      /* as the first thing */
    WAITS = 2,         /* before it reads */
    EARLY = 4,         /* writes before its trigger, with a fence of gpu scope between */
    EARLY_SYSTEM = 8,  /* likewise, of system scope */
    BEHIND = 16,       /* triggers behind its wait */
    BEHIND_FENCED = 32 /* likewise, with a fence of gpu scope between */
};

enum { RECORDS = 32, ROUNDS = 5, WORDS = 65536, LONG_NS = 50000, TIMER_NS = 1000 };

typedef struct stamp {
    uint64_t entry, exit, left; /* first begin, last end, first past the wait */
    uint32_t stale, padding;
} stamp;

static griddep_error error;
static griddep_runtime *runtime;
static griddep_runtime_info device;
static gd_driver *driver; /* the same library, called bare */
static griddep_module *module;
static griddep_kernel *kernel;
static uint64_t records, words[3]; /* on the device */
static stamp seen[RECORDS];
static void *streams[2];

/* Of an emulated device a round is like the one before. */
static uint32_t rounds_of(uint32_t of_gpu)
{
    return device.emulated ? 3 : of_gpu;
}

/* ---- fixture ---- */

static void open_on(void *context)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .store_directory = "", .context = context};

    ck_good(griddep_runtime_open(&options, &runtime, &error));
    device = (griddep_runtime_info){.size = sizeof device};
    ck_good(griddep_runtime_get_info(runtime, &device, &error));
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    ck_good(griddep_module_find_kernel(module, "probe", &kernel, &error));
    ck_good(griddep_memory_allocate(runtime, sizeof seen, &records, &error));
    for (int i = 0; i < 3; i++) {
        ck_good(griddep_memory_allocate(runtime, 4 * WORDS, &words[i], &error));
        ck_good(griddep_memory_fill(runtime, words[i], 0, 4 * WORDS, NULL, &error));
    }
}

static void close_runtime(void)
{
    ck_good(griddep_memory_free(runtime, records, &error));
    for (int i = 0; i < 3; i++)
        ck_good(griddep_memory_free(runtime, words[i], &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
}

static void setup(void)
{
    griddep_error_init(&error);
    open_on(NULL);
    ck_good(gd_driver_open(device.driver, &driver, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(device.context), GD_CUDA_SUCCESS);
    for (int i = 0; i < 2; i++)
        ck_good(griddep_stream_create(runtime, NULL, &streams[i], &error));
}

static void teardown(void)
{
    gd_CUcontext popped;

    for (int i = 0; i < 2; i++)
        ck_good(griddep_stream_destroy(runtime, streams[i], &error));
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    close_runtime();
    gd_driver_close(driver);
}

/* An entry point that the library itself has no use for; NULL where the driver lacks it. */
static void *find(const char *name, int version)
{
    void *symbol = dlsym(driver->library, "cuGetProcAddress_v2"), *function = NULL;
    gd_get_proc_address get;
    int found = 1;

    ck_assert_ptr_nonnull(symbol);
    memcpy(&get, &symbol, sizeof get);
    gd_CUresult result =
        get(name, &function, version, GD_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
    return result == GD_CUDA_SUCCESS && !found ? function : NULL;
}

#define FIND(pointer, name, version)                                                               \
    do {                                                                                           \
        void *found_function = find(name, version);                                                \
        memcpy(&(pointer), &found_function, sizeof found_function);                                \
    } while (0)

static const char *result_name(gd_CUresult result)
{
    const char *name = gd_driver_result_name(result);

    return name ? name : "CUresult of no name";
}

/* ---- asking ---- */

static void answer(const char *question, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void answer(const char *question, const char *format, ...)
{
    va_list list;

    printf("%s: ", question);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
}

static void forget(void)
{
    for (int i = 0; i < RECORDS; i++)
        seen[i] = (stamp){.entry = UINT64_MAX, .left = UINT64_MAX};
    ck_good(griddep_memory_write(runtime, records, seen, sizeof seen, NULL, &error));
}

static void recall(void)
{
    ck_assert_int_eq(driver->cuCtxSynchronize(), GD_CUDA_SUCCESS);
    ck_good(griddep_memory_read(runtime, seen, records, sizeof seen, NULL, &error));
}

typedef struct probe {
    uint32_t record, grid, expect, spin, flags;
    int pdl;         /* attribute 6 */
    uint32_t shared; /* bytes of dynamic shared memory, which it does not use */
    uint64_t source, target;
    uint32_t attribute_count;
    const griddep_attribute *attributes;
} probe;

static int32_t launch(void *stream, const probe *p)
{
    const griddep_argument arguments[6] = {POINTER(records + p->record * sizeof(stamp)),
                                           POINTER(p->source),
                                           POINTER(p->target),
                                           WORD(p->expect),
                                           WORD(p->spin),
                                           WORD(p->flags)};
    const griddep_launch_config config = {
        .size = sizeof config,
        .grid = {p->grid},
        .block = {1},
        .shared_bytes = p->shared,
        .pdl = p->pdl               ? GRIDDEP_PDL_FORCE
               : p->attribute_count ? GRIDDEP_PDL_AUTO /* off would take its event */
                                    : GRIDDEP_PDL_OFF,
        .stream = stream,
        .attributes = p->attributes,
        .attribute_count = p->attribute_count};

    return griddep_launch(kernel, &config, arguments, 6, NULL, &error);
}

/* What writes words[0], triggering at its start, and what waits for it and reads them. */
static probe producer(uint32_t round)
{
    return (probe){
        .grid = 4, .expect = round, .spin = LONG_NS, .flags = TRIGGERS, .target = words[0]};
}

static probe consumer(uint32_t round)
{
    return (probe){.record = 1,
                   .grid = 4,
                   .expect = round + 1,
                   .flags = WAITS,
                   .pdl = 1,
                   .source = words[0],
                   .target = words[1]};
}

/* Work put into a stream; the first failure's status. */
typedef int32_t (*work)(void *stream, uint32_t round);

/* The work in a stream, or captured into a graph that is then run. */
static int32_t run(work put, uint32_t round, int graph)
{
    gd_CUgraph captured = NULL;
    gd_CUgraphExec exec = NULL;

    forget();
    if (!graph) {
        int32_t status = put(streams[0], round);
        recall();
        return status;
    }
    ck_assert_int_eq(driver->cuStreamBeginCapture(streams[0], GD_CU_STREAM_CAPTURE_MODE_RELAXED),
                     GD_CUDA_SUCCESS);
    int32_t status = put(streams[0], round);
    gd_CUresult result = driver->cuStreamEndCapture(streams[0], &captured);
    if (!status && result == GD_CUDA_SUCCESS)
        result = driver->cuGraphInstantiateWithFlags(&exec, captured, 0);
    if (!status && result == GD_CUDA_SUCCESS)
        result = driver->cuGraphLaunch(exec, streams[0]);
    if (!status && result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, &error, "capturing, instantiating or launching");
    recall();
    if (exec)
        driver->cuGraphExecDestroy(exec);
    if (captured)
        driver->cuGraphDestroy(captured);
    return status;
}

static const char *place(int graph)
{
    return graph ? "graph" : "stream";
}

/* By how much record c began before record a ended, in ns; below 0: after it. */
static int64_t lead(uint32_t a, uint32_t c)
{
    return (int64_t)(seen[a].exit - seen[c].entry);
}

/* Whether c overlaps a, over some rounds of which the first warms up. The direct consumer's data
 * must be right where it waits. */
static void ask_overlap(const char *question, work put, int graph, uint32_t a, uint32_t c,
                        int waits)
{
    int64_t least = INT64_MAX, most = INT64_MIN;

    for (uint32_t round = 0; round <= rounds_of(ROUNDS); round++) {
        int32_t status = run(put, round, graph);
        if (status) {
            answer(question, "in a %s refused (%s: %s)", place(graph), griddep_status_name(status),
                   error.text);
            return;
        }
        if (waits)
            ck_assert_uint_eq(seen[c].stale, 0);
        if (round) {
            least = lead(a, c) < least ? lead(a, c) : least;
            most = lead(a, c) > most ? lead(a, c) : most;
        }
    }
    answer(question, "in a %s %s (began %" PRId64 " to %" PRId64 " ns before its producer's end)",
           place(graph),
           least > 0  ? "it overlaps"
           : most > 0 ? "it overlaps at times"
                      : "it does not overlap",
           least, most);
}

/* ---- attribute 6 with other attributes ---- */

static const griddep_attribute *with_attribute;
static uint32_t with_count = 1;
static uint32_t consumer_grid;

static int32_t producer_and_consumer(void *stream, uint32_t round)
{
    probe a = producer(round), c = consumer(round);

    a.grid = c.grid = consumer_grid;
    c.attributes = with_attribute;
    c.attribute_count = with_attribute ? with_count : 0;
    int32_t status = launch(stream, &a);
    return status ? status : launch(stream, &c);
}

TEST_GROUP(questions, setup, teardown);
TEST_GROUP(carve_outs, setup, teardown);
TEST_GROUP(mps, setup, teardown);

LOOP_TEST(questions, attribute_six_alone, 2)
{
    with_attribute = NULL;
    consumer_grid = 4;
    ask_overlap("attribute 6, alone", producer_and_consumer, _i, 0, 1, 1);
}

LOOP_TEST(questions, attribute_six_and_cooperative, 2)
{
    griddep_attribute cooperative;

    ck_good(griddep_attribute_set(&cooperative, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1},
                                  1, &error));
    with_attribute = &cooperative;
    consumer_grid = 4;
    ask_overlap("attribute 6 with a cooperative launch", producer_and_consumer, _i, 0, 1, 1);
}

LOOP_TEST(questions, attribute_six_and_clusters, 4)
{
    griddep_attribute cluster;

    ck_good(griddep_attribute_set(&cluster, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){_i & 2 ? 8 : 2, 1, 1}, 3, &error));
    with_attribute = &cluster;
    consumer_grid = 8;
    ask_overlap(_i & 2 ? "attribute 6 with clusters of 8" : "attribute 6 with clusters of 2",
                producer_and_consumer, _i & 1, 0, 1, 1);
}

LOOP_TEST(questions, attribute_six_and_others, 10)
{
    griddep_attribute pair[2], a;
    const char *question = "attribute 6 with a priority of -1";

    ck_good(
        griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-1}, 1, &error));
    if (_i >> 1 == 1) {
        question = "attribute 6 with a carve-out of 100 % for the consumer alone";
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){100}, 1,
                                      &error));
    } else if (_i >> 1 == 2) {
        question = "attribute 6 with a carve-out of 0 % for the consumer alone";
        ck_good(
            griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){0}, 1, &error));
    } else if (_i >> 1 == 3) {
        question = "attribute 6 with the remote memory domain for the consumer";
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN,
                                      (const int64_t[]){GRIDDEP_MEMORY_SYNC_DOMAIN_REMOTE}, 1,
                                      &error));
    } else if (_i >> 1 == 4) {
        question = "attribute 6 with a cluster of 2 and a preferred one of 4";
        ck_good(griddep_attribute_set(&a, GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                      (const int64_t[]){4, 1, 1}, 3, &error));
        ck_good(griddep_attribute_set(&pair[1], GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                      (const int64_t[]){2, 1, 1}, 3, &error));
        with_count = 2;
    }
    pair[0] = a;
    with_attribute = pair;
    consumer_grid = 4;
    ask_overlap(question, producer_and_consumer, _i & 1, 0, 1, 1);
}

/* What the driver itself says of values that the library refuses before it is asked. */
TEST(questions, values_beyond_the_limits)
{
    static const struct {
        const char *what;
        gd_CUlaunchAttribute attribute;
    } cases[] = {
        {"a priority of 1", {.id = GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 1}},
        {"a priority of -100", {.id = GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -100}},
        {"memory domain 4 of 4",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, .value.memSyncDomainMap = {0, 4}}},
        {"an access policy window of 1 GiB",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
          .value.accessPolicyWindow = {.num_bytes = 1u << 30, .hitRatio = 1.0f}}},
        {"a carve-out of 101 %",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
          .value.sharedMemCarveout = 101}},
        {"a preferred cluster of 2 without a cluster",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
          .value.preferredClusterDim = {2, 1, 1}}},
        {"a preferred cluster of 3 in a grid of 4",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
          .value.preferredClusterDim = {3, 1, 1}}},
        {"the synchronization policy at a launch",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
          .value.syncPolicy = GD_CU_SYNC_POLICY_SPIN}},
        {"NVLink-centric scheduling",
         {.id = GD_CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
          .value.nvlinkUtilCentricScheduling = 1}},
        {"attribute 15", {.id = 15}},
        {"attribute 1000", {.id = 1000}},
    };
    griddep_kernel_info info = {.size = sizeof info};
    uint64_t record = records, none = 0;
    uint32_t zero = 0;
    void *parameters[6] = {&record, &none, &none, &zero, &zero, &zero};

    forget();
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gd_CUlaunchAttribute attribute = cases[i].attribute;
        const gd_CUlaunchConfig config = {.gridDimX = 4,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 1,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .hStream = streams[0],
                                          .attrs = &attribute,
                                          .numAttrs = 1};
        answer(cases[i].what, "%s",
               result_name(driver->cuLaunchKernelEx(&config, info.function, parameters, NULL)));
    }
    recall();
}

/* ---- carve-outs ---- */

/* A producer with a CTA on each SM; -1: the driver's choice. */
static const struct carved {
    int before, after; /* percent of the SM's memory that the kernels want as shared memory */
    uint32_t shared_before, shared_after;
} carvings[] = {{-1, -1, 0, 0},      {-1, 0, 0, 0},       {-1, 100, 0, 0},
                {0, 100, 0, 0},      {100, 0, 0, 0},      {50, 50, 0, 0},
                {-1, -1, 0, 102400}, {0, -1, 0, 102400},  {100, -1, 0, 102400},
                {100, 0, 0, 102400}, {-1, -1, 102400, 0}, {-1, -1, 102400, 102400}};
enum { CARVINGS = sizeof carvings / sizeof carvings[0] };

static const struct carved *carving;

static int32_t launch_carved(void *stream, probe *p, int percent, uint32_t shared)
{
    griddep_attribute carveout;

    p->grid = (uint32_t)device.multiprocessors;
    p->shared = shared;
    if (percent >= 0) {
        ck_good(griddep_attribute_set(&carveout, GRIDDEP_ATTRIBUTE_CARVEOUT,
                                      (const int64_t[]){percent}, 1, &error));
        p->attributes = &carveout;
        p->attribute_count = 1;
    }
    return launch(stream, p);
}

static int32_t producer_and_consumer_carved(void *stream, uint32_t round)
{
    probe a = producer(round), c = consumer(round);
    int32_t status = launch_carved(stream, &a, carving->before, carving->shared_before);

    return status ? status : launch_carved(stream, &c, carving->after, carving->shared_after);
}

static const char *percent_of(int percent, char text[24])
{
    snprintf(text, 24, percent < 0 ? "the driver's choice" : "%d %%", percent);
    return text;
}

LOOP_TEST(carve_outs, attribute_six_and_carveouts, 2 * CARVINGS)
{
    char question[200], texts[2][24];

    carving = &carvings[_i >> 1];
    snprintf(question, sizeof question, "every SM busy, carve-outs %s (%u bytes) and %s (%u bytes)",
             percent_of(carving->before, texts[0]), (unsigned)carving->shared_before,
             percent_of(carving->after, texts[1]), (unsigned)carving->shared_after);
    ask_overlap(question, producer_and_consumer_carved, _i & 1, 0, 1, 1);
}

/* ---- MPS ---- */

/* Under an MPS server (CUDA_MPS_PIPE_DIRECTORY names the folder of its daemon) this process is a
 * client of it. */
LOOP_TEST(mps, attribute_six_under_mps, 2)
{
    enum { MPS_ENABLED = 133 };
    int enabled = 0;

    driver->cuDeviceGetAttribute(&enabled, MPS_ENABLED, 0);
    if (enabled <= 0) {
        answer("attribute 6 under MPS", "not asked: no MPS server runs for this process");
        return;
    }
    with_attribute = NULL;
    consumer_grid = 4;
    ask_overlap("attribute 6 under MPS", producer_and_consumer, _i, 0, 1, 1);
}

/* ---- what stands between ---- */

static int32_t memset_between(void *stream, uint32_t round)
{
    probe a = producer(round), c = consumer(round);
    int32_t status = launch(stream, &a);

    if (!status && driver->cuMemsetD8Async(words[2], 0, 256, stream) != GD_CUDA_SUCCESS)
        status = GRIDDEP_ERROR_DRIVER;
    return status ? status : launch(stream, &c);
}

static int32_t copy_between(void *stream, uint32_t round)
{
    probe a = producer(round), c = consumer(round);
    gd_CUresult (*copy)(gd_CUdeviceptr, gd_CUdeviceptr, size_t, gd_CUstream);
    int32_t status = launch(stream, &a);

    FIND(copy, "cuMemcpyAsync", 4000);
    ck_assert(copy != NULL);
    if (!status && copy(words[2], words[2] + 4096, 4096, stream) != GD_CUDA_SUCCESS)
        status = GRIDDEP_ERROR_DRIVER;
    return status ? status : launch(stream, &c);
}

LOOP_TEST(questions, attribute_six_behind_other_work, 4)
{
    ask_overlap(_i & 2 ? "attribute 6 behind cuMemcpyAsync" : "attribute 6 behind a memset",
                _i & 2 ? copy_between : memset_between, _i & 1, 0, 1, 1);
}

typedef gd_CUresult (*change_edges)(gd_CUgraph graph, const gd_CUgraphNode *from,
                                    const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                                    size_t count);

/* The graph of a kernel, a memset and a kernel with attribute 6, and its edges. */
static size_t capture_memset(gd_CUgraph *graph, gd_CUgraphNode from[4], gd_CUgraphNode to[4],
                             gd_CUgraphEdgeData data[4])
{
    size_t count = 4;

    forget();
    ck_assert_int_eq(driver->cuStreamBeginCapture(streams[0], GD_CU_STREAM_CAPTURE_MODE_RELAXED),
                     GD_CUDA_SUCCESS);
    ck_status(memset_between(streams[0], 0), GRIDDEP_OK);
    ck_assert_int_eq(driver->cuStreamEndCapture(streams[0], graph), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphGetEdges(*graph, from, to, data, &count), GD_CUDA_SUCCESS);
    return count;
}

static int node_type(gd_CUgraphNode node)
{
    gd_CUgraphNodeType type = -1;

    ck_assert_int_eq(driver->cuGraphNodeGetType(node, &type), GD_CUDA_SUCCESS);
    return type;
}

TEST(questions, edges_around_a_memset)
{
    gd_CUgraph graph = NULL;
    gd_CUgraphNode from[4], to[4];
    gd_CUgraphEdgeData data[4];

    if (!driver->cuGraphGetEdges) {
        answer("edges captured around a memset", "the driver does not tell edges");
        return;
    }
    size_t count = capture_memset(&graph, from, to, data);
    for (size_t i = 0; i < count; i++)
        answer("edges captured around a memset", "%s to %s: type %d, from port %d, to port %d",
               node_type(from[i]) == GD_CU_GRAPH_NODE_TYPE_KERNEL ? "kernel" : "memset",
               node_type(to[i]) == GD_CU_GRAPH_NODE_TYPE_KERNEL ? "kernel" : "memset", data[i].type,
               data[i].from_port, data[i].to_port);
    ck_assert_uint_eq(count, 2);
    driver->cuGraphDestroy(graph);
}

/* _i & 1: from the memset, else into it. */
LOOP_TEST(questions, programmatic_edge_at_a_memset, 2)
{
    const char *question =
        _i ? "a programmatic edge from a memset" : "a programmatic edge into a memset";
    const gd_CUgraphEdgeData wanted = {.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                       .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    change_edges take, put;
    gd_CUgraph graph = NULL;
    gd_CUgraphExec exec = NULL;
    gd_CUgraphNode from[4], to[4];
    gd_CUgraphEdgeData data[4];

    FIND(take, "cuGraphRemoveDependencies", 12030);
    FIND(put, "cuGraphAddDependencies", 12030);
    if (!take || !put || !driver->cuGraphGetEdges) {
        answer(question, "the driver takes no edge data");
        return;
    }
    size_t count = capture_memset(&graph, from, to, data);
    for (size_t i = 0; i < count; i++) {
        if (node_type(_i ? from[i] : to[i]) != GD_CU_GRAPH_NODE_TYPE_MEMSET)
            continue;
        gd_CUresult result = take(graph, &from[i], &to[i], &data[i], 1);
        ck_assert_msg(result == GD_CUDA_SUCCESS || result == GD_CUDA_ERROR_NOT_SUPPORTED, "%s",
                      result_name(result));
        gd_CUresult added = put(graph, &from[i], &to[i], &wanted, 1);
        gd_CUresult made = driver->cuGraphInstantiateWithFlags(&exec, graph, 0);
        answer(question, "adding it gives %s, instantiating the graph %s", result_name(added),
               result_name(made));
    }
    if (exec)
        driver->cuGraphExecDestroy(exec);
    driver->cuGraphDestroy(graph);
}

/* ---- events ---- */

typedef gd_CUresult (*wait_event)(gd_CUstream stream, gd_CUevent event, unsigned flags);

static wait_event wait_for;
static int event_kind,
    event_pdl; /* 0: a plain record; 7 and 71: programmatic (at block start); 12: launch
                * completion */

/* A in one stream, C in another that waits for A's event. The second joins the first again, for
 * captures. */
static int32_t across_streams(void *stream, uint32_t round)
{
    gd_CUevent event = NULL, back = NULL;
    griddep_attribute attribute = {.id = event_kind == 12
                                             ? GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
                                             : GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT};
    gd_CUlaunchAttributeValue value = {
        .programmaticEvent = {.triggerAtBlockStart = event_kind == 71}};
    probe a = producer(round), c = consumer(round);

    c.pdl = event_pdl;
    ck_assert_int_eq(driver->cuEventCreate(&event, GD_CU_EVENT_DISABLE_TIMING), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuEventCreate(&back, GD_CU_EVENT_DISABLE_TIMING), GD_CUDA_SUCCESS);
    value.programmaticEvent.event = event;
    if (event_kind == 12)
        value = (gd_CUlaunchAttributeValue){.launchCompletionEvent = {.event = event}};
    memcpy(attribute.value, &value, sizeof value);
    a.attributes = &attribute;
    a.attribute_count = event_kind ? 1 : 0;
    int32_t status = launch(stream, &a);
    gd_CUresult result = GD_CUDA_SUCCESS;
    if (!status && !event_kind)
        result = driver->cuEventRecord(event, stream);
    if (!status && result == GD_CUDA_SUCCESS)
        result = wait_for(streams[1], event, 0);
    if (!status && result == GD_CUDA_SUCCESS)
        status = launch(streams[1], &c);
    if (!status && result == GD_CUDA_SUCCESS)
        result = driver->cuEventRecord(back, streams[1]);
    if (!status && result == GD_CUDA_SUCCESS)
        result = wait_for(stream, back, 0);
    if (!status && result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, &error, "an event across streams");
    driver->cuEventDestroy(event);
    driver->cuEventDestroy(back);
    return status;
}

static const struct {
    int kind, pdl;
    const char *question;
} event_cases[] = {
    {0, 1, "attribute 6 behind cuStreamWaitEvent on its producer in another stream"},
    {7, 0, "a programmatic event, the consumer in another stream"},
    {71, 0, "a programmatic event at block start, the consumer in another stream"},
    {12, 0, "a launch completion event, the consumer in another stream"},
    {7, 1, "a programmatic event, and attribute 6 for the consumer in another stream"},
    {71, 1, "a programmatic event at block start, and attribute 6 for the consumer"},
};

enum { EVENT_CASES = sizeof event_cases / sizeof event_cases[0] };

LOOP_TEST(questions, events_across_streams, 2 * EVENT_CASES)
{
    event_kind = event_cases[_i / 2].kind;
    event_pdl = event_cases[_i / 2].pdl;
    FIND(wait_for, "cuStreamWaitEvent", 3020);
    ck_assert(wait_for != NULL);
    /* What the events of launches promise is an order of starts, not data. */
    ask_overlap(event_cases[_i / 2].question, across_streams, _i & 1, 0, 1, event_kind == 0);
    if (event_kind)
        answer(event_cases[_i / 2].question,
               "in a %s %" PRIu32 " of 4 CTAs of the last round read stale data", place(_i & 1),
               seen[1].stale);
}

/* A wait for an event of old stands between the two in one stream. */
static int32_t old_event_between(void *stream, uint32_t round)
{
    gd_CUevent event = NULL;
    probe a = producer(round), c = consumer(round);

    ck_assert_int_eq(driver->cuEventCreate(&event, GD_CU_EVENT_DISABLE_TIMING), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuEventRecord(event, streams[1]), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuStreamSynchronize(streams[1]), GD_CUDA_SUCCESS);
    int32_t status = launch(stream, &a);
    if (!status && wait_for(stream, event, 0) != GD_CUDA_SUCCESS)
        status = GRIDDEP_ERROR_DRIVER;
    if (!status)
        status = launch(stream, &c);
    driver->cuEventDestroy(event);
    return status;
}

static unsigned event_flags;

static int32_t record_between(void *stream, uint32_t round)
{
    gd_CUevent event = NULL;
    probe a = producer(round), c = consumer(round);

    ck_assert_int_eq(driver->cuEventCreate(&event, event_flags), GD_CUDA_SUCCESS);
    int32_t status = launch(stream, &a);
    if (!status && driver->cuEventRecord(event, stream) != GD_CUDA_SUCCESS)
        status = GRIDDEP_ERROR_DRIVER;
    if (!status)
        status = launch(stream, &c);
    driver->cuEventDestroy(event);
    return status;
}

LOOP_TEST(questions, attribute_six_behind_events, 3)
{
    FIND(wait_for, "cuStreamWaitEvent", 3020);
    ck_assert(wait_for != NULL);
    event_flags = _i == 2 ? GD_CU_EVENT_DEFAULT : GD_CU_EVENT_DISABLE_TIMING;
    if (_i)
        ask_overlap(_i == 2 ? "attribute 6 behind the record of an event with timing"
                            : "attribute 6 behind the record of an event without timing",
                    record_between, 0, 0, 1, 1);
    else
        ask_overlap("attribute 6 behind cuStreamWaitEvent on an event that is done",
                    old_event_between, 0, 0, 1, 1);
}

/* ---- default streams, green contexts ---- */

LOOP_TEST(questions, attribute_six_in_default_streams, 3)
{
    void *mine = streams[0];

    with_attribute = NULL;
    consumer_grid = 4;
    streams[0] = _i == 2 ? (void *)(uintptr_t)2 : (void *)(uintptr_t)_i;
    ask_overlap(_i == 2   ? "attribute 6 in the per-thread default stream"
                : _i == 1 ? "attribute 6 in the legacy default stream, by its handle"
                          : "attribute 6 in the legacy default stream",
                producer_and_consumer, 0, 0, 1, 1);
    streams[0] = mine;
}

typedef struct resource {
    int32_t type;
    unsigned char internal[92];
    unsigned count, is[11];
} resource; /* CUdevResource */

/* Sixteen SMs of the device, or half of a small one, as a context of their own. */
static gd_CUresult make_green(void **green, gd_CUcontext *context)
{
    gd_CUresult (*get)(gd_CUdevice, resource *, int32_t);
    gd_CUresult (*split)(resource *, unsigned *, const resource *, resource *, unsigned, unsigned);
    gd_CUresult (*describe)(void **, resource *, unsigned);
    gd_CUresult (*create)(void **, void *, gd_CUdevice, unsigned);
    gd_CUresult (*convert)(gd_CUcontext *, void *);
    resource all, part;
    unsigned count = 1;
    void *description = NULL;

    FIND(get, "cuDeviceGetDevResource", 12040);
    FIND(split, "cuDevSmResourceSplitByCount", 12040);
    FIND(describe, "cuDevResourceGenerateDesc", 12040);
    FIND(create, "cuGreenCtxCreate", 12040);
    FIND(convert, "cuCtxFromGreenCtx", 12040);
    if (!get || !split || !describe || !create || !convert)
        return GD_CUDA_ERROR_NOT_FOUND;
    memset(&all, 0, sizeof all);
    memset(&part, 0, sizeof part);
    gd_CUresult result = get(device.device, &all, 1);
    if (result == GD_CUDA_SUCCESS)
        result = split(&part, &count, &all, NULL, 0, all.count < 32 ? all.count / 2 : 16);
    if (result == GD_CUDA_SUCCESS)
        result = describe(&description, &part, 1);
    if (result == GD_CUDA_SUCCESS)
        result = create(green, description, device.device, 1);
    return result == GD_CUDA_SUCCESS ? convert(context, *green) : result;
}

TEST(questions, attribute_six_in_a_green_context)
{
    gd_CUresult (*make_stream)(gd_CUstream *, void *, unsigned, int);
    void *green = NULL, *mine = streams[0];
    gd_CUcontext context = NULL, popped;
    gd_CUresult result = make_green(&green, &context);

    FIND(make_stream, "cuGreenCtxStreamCreate", 12050);
    if (result != GD_CUDA_SUCCESS || !make_stream) {
        answer("attribute 6 under a green context", "cannot be asked here (%s)",
               result_name(result));
        return;
    }
    griddep_runtime *outer = runtime;
    griddep_module *outer_module = module;
    uint64_t kept[4] = {records, words[0], words[1], words[2]};
    ck_assert_int_eq(driver->cuCtxPushCurrent(context), GD_CUDA_SUCCESS);
    open_on(context);
    ck_assert_int_eq(make_stream(&streams[0], green, GD_CU_STREAM_NON_BLOCKING, 0),
                     GD_CUDA_SUCCESS);
    with_attribute = NULL;
    consumer_grid = 4;
    ask_overlap("attribute 6 under a green context", producer_and_consumer, 0, 0, 1, 1);
    ask_overlap("attribute 6 under a green context", producer_and_consumer, 1, 0, 1, 1);
    ck_assert_int_eq(driver->cuStreamDestroy(streams[0]), GD_CUDA_SUCCESS);
    close_runtime();
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    runtime = outer;
    module = outer_module;
    records = kept[0];
    memcpy(words, kept + 1, sizeof words);
    streams[0] = mine;
}

/* ---- depth ---- */

enum { DEEP = 24 };

static int32_t deep_chain(void *stream, uint32_t round)
{
    probe a = {
        .grid = 1, .expect = round, .spin = 4 * LONG_NS, .flags = TRIGGERS, .target = words[0]};
    int32_t status = launch(stream, &a);

    for (uint32_t i = 1; i <= DEEP && !status; i++) {
        const probe next = {.record = i, .grid = 1, .flags = TRIGGERS | WAITS, .pdl = 1};
        status = launch(stream, &next);
    }
    return status;
}

LOOP_TEST(questions, depth_of_dependents, 2)
{
    uint32_t least = DEEP, most = 0;

    for (uint32_t round = 0; round <= rounds_of(ROUNDS); round++) {
        uint32_t resident = 0;
        ck_status(run(deep_chain, round, _i), GRIDDEP_OK);
        for (uint32_t i = 1; i <= DEEP; i++) {
            resident += lead(0, i) > 0;
            ck_assert_uint_ge(seen[i].left + TIMER_NS,
                              seen[i - 1].exit); /* each waits for the one before */
        }
        if (round) {
            least = resident < least ? resident : least;
            most = resident > most ? resident : most;
        }
    }
    answer("dependents that start while the first kernel of a chain runs, each triggering at its "
           "start and waiting",
           "in a %s %" PRIu32 " to %" PRIu32 " of %d", place(_i), least, most, DEEP);
}

/* ---- transitivity ---- */

static uint32_t wide_grid;
static uint32_t middle_flags;

/* C waits for B alone, and reads what A writes. */
static int32_t three_kernels(void *stream, uint32_t round)
{
    const probe a = {
        .grid = wide_grid, .expect = round, .spin = 20000, .flags = TRIGGERS, .target = words[0]};
    const probe b = {.record = 1,
                     .grid = (uint32_t)device.multiprocessors,
                     .flags = middle_flags,
                     .pdl = 1,
                     .target = words[1]};
    const probe c = {.record = 2,
                     .grid = wide_grid,
                     .expect = round + 1,
                     .flags = WAITS,
                     .pdl = 1,
                     .source = words[0],
                     .target = words[2]};
    int32_t status = launch(stream, &a);

    if (!status)
        status = launch(stream, &b);
    return status ? status : launch(stream, &c);
}

LOOP_TEST(questions, transitivity_of_waits, 18)
{
    static const struct {
        uint32_t flags;
        const char *question;
    } middles[] = {
        {0, "A triggers, B neither waits nor triggers, C waits and reads A's data"},
        {TRIGGERS, "A triggers, B triggers and does not wait, C waits and reads A's data"},
        {TRIGGERS | WAITS, "A triggers, B triggers and waits, C waits and reads A's data"}};
    static const uint32_t factors[3] = {1, 16, 100}; /* CTAs an SM, of which 32 are resident */
    const int graph = _i % 2, middle = _i / 2 % 3, factor = _i / 6;
    uint64_t stale = 0, read = 0;
    int64_t least = INT64_MAX;

    wide_grid = factors[factor] * (uint32_t)device.multiprocessors;
    middle_flags = middles[middle].flags;
    for (uint32_t round = 0; round < rounds_of(20); round++) {
        ck_status(run(three_kernels, round, graph), GRIDDEP_OK);
        int64_t behind = (int64_t)(seen[2].left - seen[0].exit);
        stale += seen[2].stale;
        read += wide_grid;
        least = behind < least ? behind : least;
    }
    if (middle_flags & WAITS)
        ck_assert_uint_eq(stale, 0);
    answer(middles[middle].question,
           "in a %s, %" PRIu32 " CTAs an SM, %" PRIu64 " of %" PRIu64
           " CTAs read stale data (the first came past its wait %" PRId64 " ns behind A's end)",
           place(graph), factors[factor], stale, read, least);
}

/* C does not wait, and reads what A writes. R reads it first, so that lines of old may be in the L1
 * caches. */
static int32_t trigger_behind_wait(void *stream, uint32_t round)
{
    const probe r = {.record = 3,
                     .grid = wide_grid,
                     .expect = round,
                     .flags = TRIGGERS,
                     .source = words[0],
                     .target = words[2]};
    const probe a = {.grid = wide_grid,
                     .expect = round,
                     .spin = 10000,
                     .flags = TRIGGERS | WAITS,
                     .pdl = 1,
                     .target = words[0]};
    const probe b = {.record = 1,
                     .grid = (uint32_t)device.multiprocessors,
                     .spin = LONG_NS,
                     .flags = middle_flags,
                     .pdl = 1,
                     .target = words[1]};
    const probe c = {
        .record = 2, .grid = wide_grid, .expect = round + 1, .pdl = 1, .source = words[0]};
    const probe *const all[4] = {&r, &a, &b, &c};
    int32_t status = GRIDDEP_OK;

    for (int i = 0; i < 4 && !status; i++)
        status = launch(stream, all[i]);
    return status;
}

LOOP_TEST(questions, trigger_behind_a_wait, 12)
{
    static const struct {
        uint32_t flags;
        const char *question;
    } middles[] = {{TRIGGERS | WAITS, "B triggers, then waits; C reads A's data without a wait"},
                   {BEHIND | WAITS, "B waits, then triggers; C reads A's data without a wait"},
                   {BEHIND_FENCED | WAITS,
                    "B waits, fences (gpu scope), triggers; C reads A's data without a wait"}};
    static const uint32_t factors[2] = {1, 8}; /* CTAs an SM */
    const int graph = _i % 2, middle = _i / 2 % 3, factor = _i / 6;
    uint64_t stale = 0, read = 0;
    int64_t most = INT64_MIN;

    wide_grid = factors[factor] * (uint32_t)device.multiprocessors;
    middle_flags = middles[middle].flags;
    for (uint32_t round = 0; round < rounds_of(200); round++) {
        ck_status(run(trigger_behind_wait, round, graph), GRIDDEP_OK);
        stale += seen[2].stale;
        read += wide_grid;
        most = lead(1, 2) > most ? lead(1, 2) : most;
    }
    if (middle_flags & BEHIND_FENCED)
        ck_assert_uint_eq(stale, 0); /* PTX ISA, griddepcontrol: a release before the trigger */
    answer(middles[middle].question,
           "in a %s, %" PRIu32 " CTAs an SM, %" PRIu64 " of %" PRIu64
           " CTAs read stale data (C began up to %" PRId64 " ns before B's end)",
           place(graph), factors[factor], stale, read, most);
}

/* ---- memory ---- */

LOOP_TEST(questions, wait_and_bulk_copies, 2)
{
    griddep_kernel *fill = NULL, *bulk = NULL;
    uint64_t data = 0;
    uint32_t ctas = 2 * (uint32_t)device.multiprocessors,
             rounds = device.multiprocessors > 16 ? 500 : 20;

    ck_good(griddep_module_find_kernel(module, "fill", &fill, &error));
    ck_good(griddep_module_find_kernel(module, "bulk", &bulk, &error));
    ck_good(griddep_memory_allocate(runtime, UINT64_C(4096) * ctas, &data, &error));
    ck_good(griddep_memory_fill(runtime, data, 0, UINT64_C(4096) * ctas, NULL, &error));
    forget();
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {ctas},
                                    .block = {256},
                                    .pdl = GRIDDEP_PDL_FORCE,
                                    .stream = streams[0]};
    for (uint32_t round = 1; round <= rounds; round++) {
        const griddep_argument of_fill[3] = {POINTER(data), WORD(round), WORD(2000)};
        const griddep_argument of_bulk[4] = {POINTER(records), POINTER(data), WORD(round),
                                             WORD((uint64_t)_i)};
        config.block[0] = 256;
        ck_good(griddep_launch(fill, &config, of_fill, 3, NULL, &error));
        config.block[0] = 1;
        ck_good(griddep_launch(bulk, &config, of_bulk, 4, NULL, &error));
    }
    recall();
    if (_i)
        ck_assert_uint_eq(seen[0].stale, 0);
    answer(_i ? "a bulk copy behind the wait and fence.proxy.async"
              : "a bulk copy behind the wait alone",
           "%" PRIu32 " stale words in %" PRIu32 " rounds of %" PRIu32 " copies of 4096 bytes",
           seen[0].stale, rounds, ctas);
    ck_good(griddep_memory_free(runtime, data, &error));
}

static uint32_t fence_flags;
static const griddep_attribute *producer_domain;

/* C does not wait: only the fence before the trigger orders what it reads. */
static int32_t fenced(void *stream, uint32_t round)
{
    const probe a = {.grid = wide_grid,
                     .expect = round,
                     .spin = 10000,
                     .flags = TRIGGERS | fence_flags,
                     .target = words[0],
                     .attributes = producer_domain,
                     .attribute_count = producer_domain ? 1 : 0};
    const probe c = {
        .record = 1, .grid = wide_grid, .expect = round + 1, .pdl = 1, .source = words[0]};
    int32_t status = launch(stream, &a);

    return status ? status : launch(stream, &c);
}

LOOP_TEST(questions, fence_before_the_trigger, 8)
{
    griddep_attribute map;
    uint64_t stale = 0, read = 0;
    int64_t most = INT64_MIN;
    const int graph = _i & 1, other_domain = _i & 2, scope = _i >> 2;

    ck_good(griddep_attribute_set(&map, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){1, 1}, 2, &error)); /* by default it is 0 */
    producer_domain = other_domain ? &map : NULL;
    fence_flags = scope ? EARLY_SYSTEM : EARLY;
    wide_grid = 8 * (uint32_t)device.multiprocessors;
    for (uint32_t round = 0; round < rounds_of(50); round++) {
        ck_status(run(fenced, round, graph), GRIDDEP_OK);
        stale += seen[1].stale;
        read += wide_grid;
        most = lead(0, 1) > most ? lead(0, 1) : most;
    }
    if (!other_domain || scope)
        ck_assert_uint_eq(
            stale, 0); /* PTX ISA, griddepcontrol: gpu scope in one domain, sys scope in any */
    answer("a release fence before the trigger, the consumer does not wait",
           "%s scope, %s domain, in a %s: %" PRIu64 " of %" PRIu64
           " CTAs read stale data (began up to %" PRId64 " ns before the producer's end)",
           scope ? "sys" : "gpu", other_domain ? "another" : "the same", place(graph), stale, read,
           most);
}

/* ---- all ---- */

static int tell_device(void)
{
    griddep_runtime *opened = NULL;
    griddep_runtime_info info = {.size = sizeof info};

    griddep_error_init(&error);
    if (griddep_runtime_open(NULL, &opened, &error) ||
        griddep_runtime_get_info(opened, &info, &error)) {
        printf("skipped: no GPU: %s\n", error.text);
        fflush(stdout);
        return 0;
    }
    printf("device: %s, sm_%d, %d SMs, driver API %d.%d\n", info.device_name, (int)info.capability,
           (int)info.multiprocessors, info.driver_version / 1000, info.driver_version % 1000 / 10);
    if (!(info.features & GRIDDEP_FEATURE_PDL))
        printf("skipped: the device or the driver has no dependent launch\n");
    fflush(stdout);
    return (info.features & GRIDDEP_FEATURE_PDL) != 0;
}

/* Asked in a process of its own: a driver that is initialized does not survive fork. */
static int has_device(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(!tell_device());
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int main(void)
{
    const char *required = getenv("GRIDDEP_REQUIRE_GPU");

    setenv("CK_DEFAULT_TIMEOUT", "1800", 0); /* how fast a machine is, nobody knows */
    setenv("GRIDDEP_DRIVER", "nvidia", 0);   /* the emulated driver is not to take a GPU's place */
    if (!has_device())
        return required && !strcmp(required, "1") ? EXIT_FAILURE : 77;
    return run_suite(make_suite("questions"));
}
