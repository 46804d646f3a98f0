/* What the emulated driver's checks report: kinds of findings, their fields in the file, folding.
 * Each test runs in a process of its own, because settings are read once, by cuInit; what it finds
 * is in a file. */
#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/api.h"
#include "suite.h"

#define HEADER ".version 8.3\n.target sm_90\n.address_size 64\n"

static char report_path[64];
static char report_text[1 << 20];
static gd_CUcontext context;

#define ck_result(call, expected) ck_assert_int_eq((call), (expected))
#define ck_good(call) ck_result(call, GD_CUDA_SUCCESS)

static void begin(const char *checks)
{
    snprintf(report_path, sizeof report_path, "/tmp/griddep-findings-%ld", (long)getpid());
    unlink(report_path);
    setenv("GRIDDEP_EMULATOR_CHECK", checks, 1);
    setenv("GRIDDEP_EMULATOR_REPORT", report_path, 1);
    setenv("GRIDDEP_EMULATOR_STEPS", "10000000", 1);
    ck_good(cuInit(0));
    ck_good(cuCtxCreate_v2(&context, 0, 0));
}

/* What has been reported up to now. */
static const char *get_report(void)
{
    FILE *file = fopen(report_path, "r");
    size_t bytes = file ? fread(report_text, 1, sizeof report_text - 1, file) : 0;

    report_text[bytes] = 0;
    if (file)
        fclose(file);
    return report_text;
}

static void end(void)
{
    unlink(report_path);
}

static uint32_t count_words(const char *text, const char *word)
{
    uint32_t count = 0;

    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

static void expect(const char *word, uint32_t times)
{
    const char *text = get_report();

    ck_assert_msg(count_words(text, word) == times, "%s is there %u times, not %u:\n%s", word,
                  count_words(text, word), times, text);
}

static gd_CUfunction load(const char *text)
{
    gd_CUmodule module;
    gd_CUfunction function;

    ck_good(cuModuleLoadData(&module, text));
    ck_good(cuModuleGetFunction(&function, module, "k"));
    return function;
}

static gd_CUresult launch(gd_CUfunction function, unsigned grid, unsigned block, uint64_t argument)
{
    void *parameters[] = {&argument};

    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, NULL, parameters, NULL);
}

/* ---- texts that do not load ---- */

TEST_GROUP(findings, NULL, NULL);

LOOP_TEST(findings, a_chip_without_griddepcontrol, 5)
{
    static const struct {
        const char *version, *target, *control;
        bool loads;
    } cases[] = {
        {"7.8", "sm_90", "griddepcontrol.wait", true},
        {"8.0", "sm_86", "griddepcontrol.wait", false},
        {"8.0", "sm_86", "griddepcontrol.launch_dependents", false},
        {"7.7", "sm_90", "griddepcontrol.wait", false},
        {"8.0", "sm_86", "bar.sync 0", true},
    };
    char text[256];
    gd_CUmodule module;

    begin("off");
    snprintf(text, sizeof text,
             ".version %s\n.target %s\n.address_size 64\n.visible .entry k()\n{\n%s;\nret;\n}\n",
             cases[_i].version, cases[_i].target, cases[_i].control);
    ck_result(cuModuleLoadData(&module, text),
              cases[_i].loads ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_PTX);
    end();
}

/* ---- alignment of variables ---- */

/* A variable that is declared with too little lies as badly as a linker may place it. */
static const struct {
    const char *outside, *inside, *access;
    bool wrong;
} alignments[] = {
    {"", ".shared .align 4 .b8 v[64];", "st.shared.v4.u32 [v], {%r, %r, %r, %r}", true},
    {"", ".shared .align 16 .b8 v[64];", "st.shared.v4.u32 [v], {%r, %r, %r, %r}", false},
    {"", ".shared .align 4 .b8 v[64];", "st.shared.u32 [v], %r", false},
    {"", ".shared .align 4 .b8 v[64];", "st.shared.u64 [v], %d", true},
    {"", ".shared .b8 v[64];", "st.shared.u16 [v], %r", true},
    {".shared .b64 v;", "", "mbarrier.init.shared.b64 [v], 1", false},
    {".extern .shared .align 4 .b8 v[];", "", "st.shared.v4.u32 [v], {%r, %r, %r, %r}", false},
    {".global .align 4 .b8 v[64];", "", "st.global.v4.u32 [v], {%r, %r, %r, %r}", true},
    {".global .align 16 .b8 v[64];", "", "st.global.v4.u32 [v], {%r, %r, %r, %r}", false},
    {".global .align 8 .b8 v[64];", "", "st.global.v2.u32 [v], {%r, %r}", false},
    {".global .align 4 .b8 v[64];", "", "mov.u64 %d, v; st.u64 [%d], %d", true},
    {".global .attribute(.managed) .align 4 .b8 v[64];", "", "st.global.u64 [v], %d", true},
    {".global .v4 .f32 v[4];", "", "st.global.v4.u32 [v], {%r, %r, %r, %r}", false},
    {".const .align 4 .b8 v[64];", "", "ld.const.v2.u32 {%r, %r}, [v]", true},
    {".const .align 8 .b8 v[64];", "", "ld.const.v2.u32 {%r, %r}, [v]", false},
    {"", ".local .align 4 .b8 v[64];", "st.local.v2.u32 [v], {%r, %r}", true},
    {"", ".local .align 8 .b8 v[64];", "st.local.v2.u32 [v], {%r, %r}", false},
    {"", ".local .align 4 .b8 v[64];", "st.local.u32 [v+60], %r", false},
};

LOOP_TEST(findings, variables_lie_badly, sizeof alignments / sizeof *alignments)
{
    char text[1024];

    begin("all");
    snprintf(text, sizeof text,
             HEADER
             "%s\n.visible .entry k(.param .u64 a)\n{\n    .reg .b32 %%r;\n    .reg .b64 "
             "%%d;\n    %s\n    mov.u32 %%r, 1;\n    mov.u64 %%d, 1;\n    %s;\n    ret;\n}\n",
             alignments[_i].outside, alignments[_i].inside, alignments[_i].access);
    gd_CUfunction function = load(text);
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 64, NULL, (void *[]){&(uint64_t){0}}, NULL));
    ck_result(cuCtxSynchronize(),
              alignments[_i].wrong ? GD_CUDA_ERROR_MISALIGNED_ADDRESS : GD_CUDA_SUCCESS);
    ck_assert_msg(count_words(get_report(), "misaligned") == alignments[_i].wrong, "%s\n%s", text,
                  get_report());
    if (alignments[_i].wrong && !strstr(alignments[_i].inside, ".local"))
        expect(" in the declaration of v, which has .align ", 1);
    end();
}

/* ---- calls that return before their work is done ---- */

/* A call without a stream of its own, then a kernel of a stream that does not wait for it. */
static const struct {
    bool copies, managed, waits, blocking, race;
} early_calls[] = {
    {.race = true},     {.copies = true, .race = true},
    {.waits = true},    {.copies = true, .waits = true},
    {.blocking = true}, {.copies = true, .blocking = true},
    {.managed = true},  {.managed = true, .copies = true},
};

LOOP_TEST(findings, fills_and_device_copies_return_early, sizeof early_calls / sizeof *early_calls)
{
    static const uint32_t words[32];
    gd_CUstream stream;
    uint64_t data, other;

    begin("race");
    gd_CUfunction add = load(
        HEADER ".visible .entry k(.param .u64 a)\n{\n    .reg .b32 %t;\n    .reg .b64 %p;\n    "
               "ld.param.u64 %p, [a];\n    ld.global.u32 %t, [%p];\n    st.global.u32 [%p], "
               "%t;\n    ret;\n}\n");
    ck_good(cuStreamCreate(&stream, early_calls[_i].blocking ? GD_CU_STREAM_DEFAULT
                                                             : GD_CU_STREAM_NON_BLOCKING));
    ck_good(early_calls[_i].managed ? cuMemAllocManaged(&data, 128, 1) : cuMemAlloc_v2(&data, 128));
    ck_good(cuMemAlloc_v2(&other, 128));
    ck_good(cuMemcpyHtoD_v2(other, words, 128));
    ck_good(early_calls[_i].copies ? cuMemcpyDtoD_v2(data, other, 128)
                                   : cuMemsetD32_v2(data, 0, 32));
    if (early_calls[_i].waits)
        ck_good(cuStreamSynchronize(NULL));
    ck_good(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&data}, NULL));
    ck_good(cuCtxSynchronize());
    ck_assert_msg(!strstr(get_report(), "\"kind\":\"race\"") == !early_calls[_i].race, "%s",
                  get_report());
    ck_good(cuMemsetD32_v2(other, 0, 32));
    ck_good(cuMemFree_v2(other));
    ck_assert_ptr_null(strstr(get_report(), "\"free\""));
    end();
}

/* ---- scopes ---- */

/* Blocks that all add to one counter, wait for it, and then read what the others wrote. */
static const struct {
    const char *fence;
    bool wrong;
} acquires[] = {
    {"fence.acq_rel.gpu;", false},
    {"fence.acq_rel.sys;", false},
    {"membar.gl;", false},
    {"fence.acq_rel.cta;", true},
    {"fence.acq_rel.cluster;", true},
    {"membar.cta;", true},
    {"", true},
};

LOOP_TEST(findings, an_acquire_reaches_those_who_release, sizeof acquires / sizeof *acquires)
{
    char text[2048];
    uint64_t data;

    begin("all");
    snprintf(text, sizeof text,
             HEADER
             ".visible .entry k(.param .u64 a)\n{\n    .reg .pred %%l, %%w;\n    .reg .b32 %%t, "
             "%%b, %%n, %%v;\n    .reg .b64 %%a, %%m, %%o;\n    ld.param.u64 %%a, [a];\n    "
             "mov.u32 %%t, %%tid.x;\n    mov.u32 %%b, %%ctaid.x;\n    mad.lo.u32 %%n, %%b, 32, "
             "%%t;\n    mul.wide.u32 %%m, %%n, 4;\n    add.u64 %%m, %%m, %%a;\n    xor.b32 "
             "%%n, %%n, 32;\n    mul.wide.u32 %%o, %%n, 4;\n    add.u64 %%o, %%o, %%a;\n    "
             "setp.ne.u32 %%l, %%t, 0;\n    st.global.u32 [%%m+64], %%t;\n    bar.sync 0;\n    "
             "@%%l bra met;\n    fence.acq_rel.gpu;\n    red.relaxed.gpu.global.add.u32 [%%a], "
             "1;\nloop:\n    ld.relaxed.gpu.global.u32 %%n, [%%a];\n    setp.lt.u32 %%w, %%n, "
             "2;\n    @%%w bra loop;\n    %s\nmet:\n    bar.sync 0;\n    ld.global.u32 %%v, "
             "[%%o+64];\n    ret;\n}\n",
             acquires[_i].fence);
    ck_good(cuMemAlloc_v2(&data, 512));
    ck_good(cuMemsetD8_v2(data, 0, 512));
    ck_good(launch(load(text), 2, 32, data));
    ck_good(cuCtxSynchronize());
    ck_assert_msg(!strstr(get_report(), "\"kind\":\"race\"") == !acquires[_i].wrong, "%s: %s",
                  acquires[_i].fence, get_report());
    if (acquires[_i].wrong)
        ck_assert_msg(strstr(get_report(), "behind an acquire whose scope is too small"), "%s",
                      get_report());
    end();
}

/* ---- blocks of a cluster ---- */

#define MEETING "barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;"

/* Each of two blocks stores to the other's memory, and both meet behind that. */
static const struct {
    const char *before;
    bool wrong;
} starts[] = {
    {MEETING, false},
    {"barrier.cluster.arrive.relaxed.aligned;\n    barrier.cluster.wait.aligned;", false},
    {"", true},
    {"bar.sync 0;", true},
};

LOOP_TEST(findings, a_block_has_started_before_others_touch_it, sizeof starts / sizeof *starts)
{
    char text[1024];

    begin("all");
    snprintf(text, sizeof text,
             HEADER ".visible .entry k(.param .u64 a) .reqnctapercluster 2\n{\n    .shared .b32 "
                    "word;\n    .reg .b32 %%r, %%p;\n    mov.u32 %%r, %%cluster_ctarank;\n    "
                    "xor.b32 %%r, %%r, 1;\n    mov.u32 %%p, word;\n    mapa.shared::cluster.u32 "
                    "%%p, %%p, %%r;\n    %s\n    st.shared::cluster.u32 [%%p], %%r;\n    " MEETING
                    "\n    ld.shared.u32 %%r, [word];\n    ret;\n}\n",
             starts[_i].before);
    ck_good(launch(load(text), 2, 1, 0));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":", starts[_i].wrong);
    if (starts[_i].wrong) {
        ck_assert_msg(strstr(get_report(), "which may not have started"), "%s", get_report());
        expect("\"missing\":\"a barrier of the cluster (barrier.cluster.arrive, ", 1);
    }
    end();
}

/* ---- memory that is gone ---- */

TEST(findings, a_use_after_free_names_what_is_missing)
{
    gd_CUstream first, second;
    uint64_t data;

    begin("all");
    gd_CUfunction function =
        load(HEADER ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a;\n    "
                    "ld.param.u64 %a, [a];\n    st.global.u32 [%a], 1;\n    "
                    "ret;\n}\n");
    ck_good(cuStreamCreate(&first, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuStreamCreate(&second, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuMemAllocAsync(&data, 128, first));
    ck_good(cuStreamSynchronize(first));
    ck_good(cuMemFreeAsync(data, first));
    ck_good(cuStreamSynchronize(first));
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, second, (void *[]){&data}, NULL));
    ck_result(cuStreamSynchronize(second), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("\"kind\":\"use-after-free\"", 1);
    expect("\"missing\":\"an event, or a synchronization, between this kernel and what frees", 1);
    end();
}

/* ---- memory that is allocated in the order of a stream ---- */

enum { USED_BY_KERNEL, USED_BY_FILL, USED_BY_COPY, USES };
enum { ORDERED_BY_NOTHING, ORDERED_BY_EVENT, ORDERED_BY_STREAM, ORDERED_BY_HOST, ORDERS };

LOOP_TEST(findings, memory_is_used_behind_its_allocation, USES *ORDERS)
{
    const int use = _i / ORDERS, order = _i % ORDERS;
    gd_CUstream first, second;
    gd_CUevent event;
    uint64_t data, other;

    begin("race");
    gd_CUfunction function =
        load(HEADER ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a;\n    "
                    "ld.param.u64 %a, [a];\n    st.global.u32 [%a], 1;\n    "
                    "st.global.u32 [%a+4], 1;\n    ret;\n}\n");
    ck_good(cuStreamCreate(&first, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuStreamCreate(&second, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuEventCreate(&event, 0));
    ck_good(cuMemAlloc_v2(&other, 128));
    ck_good(cuMemAllocAsync(&data, 128, first));
    if (order == ORDERED_BY_EVENT) {
        ck_good(cuEventRecord(event, first));
        ck_good(cuStreamWaitEvent(second, event, 0));
    } else if (order == ORDERED_BY_HOST) {
        ck_good(cuStreamSynchronize(first));
    } else if (order == ORDERED_BY_STREAM) {
        second = first;
    }
    if (use == USED_BY_KERNEL)
        ck_good(cuLaunchKernel(function, 2, 1, 1, 1, 1, 1, 0, second, (void *[]){&data}, NULL));
    else if (use == USED_BY_FILL)
        ck_good(cuMemsetD32Async(data, 0, 32, second));
    else
        ck_good(cuMemcpyDtoDAsync_v2(data, other, 128, second));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":", order == ORDERED_BY_NOTHING);
    expect("between the allocation (cuMemAllocAsync) and ", order == ORDERED_BY_NOTHING);
    end();
}

/* ---- proxies ---- */

/* Threads store to shared memory, and one of them starts a bulk copy of it behind a barrier. */
static const struct {
    const char *front, *behind, *leader;
    bool wrong;
} proxies[] = {
    {"", "fence.proxy.async;", "", false},
    {"", "fence.proxy.async.shared::cta;", "", false},
    {"", "", "", true},
    {"fence.proxy.async;", "", "", true},
    {"", "", "fence.proxy.async;", true},
    {"", "fence.proxy.async.global;", "", true},
    {"", "@%p fence.proxy.async;", "", true},
};

LOOP_TEST(findings, a_bulk_copy_reads_behind_a_fence, sizeof proxies / sizeof *proxies)
{
    char text[1024];
    uint64_t data;

    begin("all");
    snprintf(text, sizeof text,
             HEADER
             ".visible .entry k(.param .u64 a)\n{\n    .shared .align 16 .b8 tile[256];\n    "
             ".reg .pred %%p;\n    .reg .b32 %%t, %%s;\n    .reg .b64 %%a;\n    ld.param.u64 "
             "%%a, [a];\n    mov.u32 %%t, %%tid.x;\n    setp.ne.u32 %%p, %%t, 0;\n    mov.u32 %%s, "
             "tile;\n    mad.lo.u32 %%s, %%t, 4, %%s;\n    %s\n    st.shared.u32 [%%s], %%t;\n    "
             "%s\n    bar.sync "
             "0;\n    @%%p bra done;\n    %s\n    cp.async.bulk.global.shared::cta.bulk_group "
             "[%%a], [tile], 256;\n    cp.async.bulk.commit_group;\n    "
             "cp.async.bulk.wait_group 0;\ndone:\n    ret;\n}\n",
             proxies[_i].front, proxies[_i].behind, proxies[_i].leader);
    ck_good(cuMemAlloc_v2(&data, 256));
    ck_good(launch(load(text), 1, 64, data));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":", proxies[_i].wrong);
    expect("\"missing\":\"fence.proxy.async in each thread that stores", proxies[_i].wrong);
    end();
}

/* A thread initializes an mbarrier, and a bulk copy of the same or of another thread completes on
 * it, behind a barrier. */
static const struct {
    const char *behind; /* mbarrier.init */
    const char *leader; /* before the copy */
    int copier;         /* the thread that starts it; 0 has initialized */
    bool wrong;
} initializations[] = {
    {"fence.mbarrier_init.release.cluster;", "", 0, false},
    {"fence.mbarrier_init.release.cluster;", "", 1, false},
    {"fence.proxy.async;", "", 1, false},
    {"", "fence.proxy.async.shared::cta;", 0, false},
    {"", "", 0, true},
    {"", "", 1, true},
    {"", "fence.proxy.async;", 1, true},
    {"", "fence.mbarrier_init.release.cluster;", 1, true},
    {"fence.acq_rel.gpu;", "", 1, true},
};

LOOP_TEST(findings, a_bulk_copy_completes_behind_a_fence,
          sizeof initializations / sizeof *initializations)
{
    char text[1600];
    uint64_t data;

    begin("all");
    snprintf(
        text, sizeof text,
        HEADER
        ".visible .entry k(.param .u64 a)\n{\n    .shared .align 16 .b8 tile[256];\n    "
        ".shared .b64 full;\n    .reg .pred %%p;\n    .reg .b32 %%t;\n    .reg .b64 %%a;\n    "
        "ld.param.u64 %%a, [a];\n    mov.u32 %%t, %%tid.x;\n    setp.ne.u32 %%p, %%t, 0;\n    "
        "@%%p bra ready;\n    mbarrier.init.shared.b64 [full], 1;\n    %s\nready:\n    "
        "bar.sync 0;\n    setp.ne.u32 %%p, %%t, %d;\n    @%%p bra wait;\n    %s\n    "
        "mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n    "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%%a], 256, "
        "[full];\nwait:\n    mbarrier.try_wait.parity.shared.b64 %%p, [full], 0;\n    @!%%p "
        "bra wait;\n    ret;\n}\n",
        initializations[_i].behind, initializations[_i].copier, initializations[_i].leader);
    ck_good(cuMemAlloc_v2(&data, 256));
    ck_good(cuMemsetD32_v2(data, 0, 64));
    ck_good(launch(load(text), 1, 64, data));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":", initializations[_i].wrong);
    expect("\"missing\":\"fence.mbarrier_init.release.cluster, or fence.proxy.async",
           initializations[_i].wrong);
    end();
}

/* ---- who is to blame ---- */

/* Kernels that add to the same data, one behind the other, all but the second of which wait: each
 * finding names the second as the one that lacks a wait. */
LOOP_TEST(findings, the_kernel_that_lacks_the_wait_is_named, 4)
{
    static const char *const schedules[] = {"eager", "lazy", "random:1", "random:2"};
    char text[4096] = HEADER, name[8];
    gd_CUmodule made;
    gd_CUstream stream;
    uint64_t data;

    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedules[_i], 1);
    begin("race");
    for (int i = 1; i <= 4; i++)
        snprintf(
            text + strlen(text), sizeof text - strlen(text),
            ".visible .entry k%d(.param .u64 a)\n{\n    .reg .b64 %%p;\n    .reg .b32 %%v;\n    "
            "ld.param.u64 %%p, [a];\n    griddepcontrol.launch_dependents;\n    %s\n    "
            "ld.global.u32 %%v, [%%p];\n    add.u32 %%v, %%v, 1;\n    st.global.u32 [%%p], "
            "%%v;\n    ret;\n}\n",
            i, i == 2 ? "" : "griddepcontrol.wait;");
    ck_good(cuModuleLoadData(&made, text));
    ck_good(cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuMemAlloc_v2(&data, 4));
    ck_good(cuMemsetD32Async(data, 0, 1, stream));
    for (unsigned i = 1; i <= 4; i++) {
        gd_CUlaunchAttribute early = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                      .value.programmaticStreamSerializationAllowed = 1};
        const gd_CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, &early, i > 1};
        gd_CUfunction function;
        snprintf(name, sizeof name, "k%u", i);
        ck_good(cuModuleGetFunction(&function, made, name));
        ck_good(cuLaunchKernelEx(&config, function, (void *[]){&data}, NULL));
    }
    ck_good(cuCtxSynchronize());
    const uint32_t found = count_words(get_report(), "\"kind\":\"race\"");
    ck_assert_uint_ge(found, 1);
    expect("\"text\":\"kernel k2 (launch 2) ", found);
    expect("\"missing\":\"griddepcontrol.wait in kernel k2 (launch 2)", found);
    expect("\"names\":[{\"text\":\"allocation 0x", found);
    ck_assert_uint_ge(
        count_words(get_report(),
                    "{\"text\":\"kernel k2 (launch 2)\",\"kernel\":\"k2\",\"launch\":2}"),
        found);
    end();
}

/* ---- what polls for ever ---- */

/* Threads of a block, which all arrive at an mbarrier, and wait. */
#define MBARRIER_KERNEL(count, between, loop)                                                      \
    HEADER ".visible .entry k(.param .u64 a)\n{\n    .shared .b64 full;\n    .reg .pred %p, "      \
           "%q;\n    .reg .b32 %t, %n;\n    .reg .b64 %s, %c;\n    mov.u32 %t, %tid.x;\n    "      \
           "mov.u32 %n, 0;\n    setp.eq.u32 %p, %t, 0;\n    @%p mbarrier.init.shared.b64 [full], " \
           "" count ";\n    bar.sync 0;\n    " between "\nwait:\n    "                             \
           "mbarrier.try_wait.parity.shared.b64 %q, [full], 0;\n    " loop "\n    ret;\n}\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %s, [full];"
#define ROUND "@!%q bra wait;"

/* Blocks that count up, and wait until all have. */
#define MEET_KERNEL                                                                                \
    HEADER                                                                                         \
    ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a;\n    .reg .b32 %n, %all;\n    "        \
    ".reg .pred %p;\n    .reg .b32 %t;\n    ld.param.u64 %a, [a];\n    mov.u32 %t, "               \
    "%tid.x;\n    setp.ne.u32 %p, %t, 0;\n    @%p ret;\n    mov.u32 %all, %nctaid.x;\n    "        \
    "atom.add.acq_rel.gpu.global.u32 %n, [%a], 1;\nloop:\n    ld.acquire.gpu.global.u32 %n, "      \
    "[%a];\n    setp.lt.u32 %p, %n, %all;\n    @%p bra loop;\n    ret;\n}\n"

static const struct {
    const char *text;
    unsigned grid, block;
    const char *words; /* of the report; NULL: it ends */
} pollers[] = {
    {MBARRIER_KERNEL("64", ARRIVE, ROUND), 1, 64, NULL},
    {MBARRIER_KERNEL("65", ARRIVE, ROUND), 1, 64,
     "64 threads wait for mbarrier full, whose phase never completes: 1 of 65 arrivals are missing "
     "in the phase of parity 0"},
    {MBARRIER_KERNEL("1", "@%p mbarrier.arrive.expect_tx.shared.b64 %s, [full], 512;", ROUND), 1,
     64, "512 bytes are missing in the phase of parity 0"},
    {MBARRIER_KERNEL("8", "", ROUND), 1, 64, "8 of 8 arrivals are missing"},
    {MBARRIER_KERNEL("64", ARRIVE,
                     ROUND "\nnext: mbarrier.try_wait.parity.shared.b64 %q, [full], 1;"
                           "\n@!%q bra next;"),
     1, 64, "64 of 64 arrivals are missing in the phase of parity 1"},
    /* a loop that gives up, by its own count or by a clock, is none */
    {MBARRIER_KERNEL("65", ARRIVE,
                     "add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 3000;\n@%q bra done;\n@%p bra "
                     "wait;\ndone:"),
     1, 64, NULL},
    {MBARRIER_KERNEL("65", ARRIVE,
                     "mov.u64 %c, %clock64;\nsetp.lt.u64 %p, %c, 100000;\n@%p bra wait;"),
     1, 64, NULL},
    /* by their threads two fit on each of four multiprocessors */
    {MEET_KERNEL, 8, 1024, NULL},
    {MEET_KERNEL, 9, 1024,
     "1 of 9 CTAs of the grid has not started, for 8 fit on the device at a time"},
};

LOOP_TEST(findings, what_polls_for_ever_is_a_deadlock, 3 * (sizeof pollers / sizeof *pollers))
{
    static const char *const schedules[] = {"eager", "lazy", "random:1"};
    uint64_t counter;

    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedules[_i % 3], 1);
    begin("all");
    ck_good(cuMemAlloc_v2(&counter, 4));
    ck_good(cuMemsetD32_v2(counter, 0, 1));
    ck_good(
        launch(load(pollers[_i / 3].text), pollers[_i / 3].grid, pollers[_i / 3].block, counter));
    ck_result(cuCtxSynchronize(),
              pollers[_i / 3].words ? GD_CUDA_ERROR_LAUNCH_TIMEOUT : GD_CUDA_SUCCESS);
    expect("\"kind\":\"deadlock\"", pollers[_i / 3].words != NULL);
    expect("\"kind\":\"", pollers[_i / 3].words != NULL);
    if (pollers[_i / 3].words)
        ck_assert_msg(strstr(get_report(), pollers[_i / 3].words), "%s", get_report());
    end();
}

/* A query hands control back: the program may go on, and hand in what is waited for. */
TEST(findings, a_query_finds_no_deadlock)
{
    gd_CUfunction function;
    gd_CUstream first, second;
    uint64_t counter;

    begin("all");
    ck_good(cuMemAlloc_v2(&counter, 4));
    ck_good(cuMemsetD32_v2(counter, 0, 1));
    ck_good(cuCtxSynchronize());
    ck_good(cuStreamCreate(&first, GD_CU_STREAM_NON_BLOCKING));
    ck_good(cuStreamCreate(&second, GD_CU_STREAM_NON_BLOCKING));
    function =
        load(HEADER ".visible .entry k(.param .u64 a, .param .u32 sets)\n{\n    .reg .b64 %a;\n    "
                    ".reg .b32 %n;\n    .reg .pred %p;\n    ld.param.u64 %a, [a];\n    "
                    "ld.param.u32 %n, [sets];\n    setp.ne.u32 %p, %n, 0;\n    @%p "
                    "st.release.gpu.global.u32 [%a], %n;\nloop:\n    ld.acquire.gpu.global.u32 %n, "
                    "[%a];\n    setp.eq.u32 %p, %n, 0;\n    @%p bra loop;\n    ret;\n}\n");
    uint32_t sets = 0;
    void *parameters[] = {&counter, &sets};
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, parameters, NULL));
    for (int i = 0; i < 50; i++)
        ck_result(cuStreamQuery(first), GD_CUDA_ERROR_NOT_READY);
    sets = 1;
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, second, parameters, NULL));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"", 0);
    end();
}

/* ---- mbarriers that are not there yet ---- */

static const struct {
    const char *between, *use;
    bool wrong;
} inits[] = {
    {"", ARRIVE, true},
    {"bar.sync 0;", ARRIVE, false},
    {"", "mbarrier.test_wait.parity.shared.b64 %q, [full], 1;", true},
    {"bar.sync 0;", "mbarrier.test_wait.parity.shared.b64 %q, [full], 1;", false},
    {"bar.sync 0;", ARRIVE "\n@%p mbarrier.inval.shared.b64 [full];", true},
    {"bar.sync 0;", ARRIVE "\nbar.sync 0;\n@%p mbarrier.inval.shared.b64 [full];", false},
    {"@%p fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.relaxed;\n"
     "barrier.cluster.wait;",
     ARRIVE, false},
    {"barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;", ARRIVE, true},
};

LOOP_TEST(findings, an_mbarrier_is_there_before_it_is_used, sizeof inits / sizeof *inits)
{
    char text[1024];

    begin("all");
    snprintf(text, sizeof text,
             HEADER ".visible .entry k(.param .u64 a)\n{\n    .shared .b64 full;\n    .reg .pred "
                    "%%p, %%q;\n    .reg .b32 %%t;\n    .reg .b64 %%s;\n    mov.u32 %%t, "
                    "%%tid.x;\n    setp.eq.u32 %%p, %%t, 0;\n    @%%p mbarrier.init.shared.b64 "
                    "[full], 64;\n    %s\n    %s\n    ret;\n}\n",
             inits[_i].between, inits[_i].use);
    ck_good(launch(load(text), 1, 64, 0));
    ck_good(cuCtxSynchronize());
    ck_assert_msg(!strstr(get_report(), "\"kind\":\"shared-race\"") == !inits[_i].wrong, "%s\n%s",
                  text, get_report());
    end();
}

/* ---- leaks ---- */

TEST(findings, what_a_context_leaves_is_a_leak)
{
    uint64_t kept, freed;
    char name[128];

    begin("all");
    ck_good(cuMemAlloc_v2(&kept, 4096));
    ck_good(cuMemAlloc_v2(&freed, 4096));
    ck_good(cuMemFree_v2(freed));
    ck_good(cuCtxDestroy_v2(context));
    expect("\"kind\":\"leak\"", 1);
    snprintf(name, sizeof name,
             "\"names\":[{\"text\":\"allocation 0x%" PRIx64 "\",\"start\":\"0x%" PRIx64 "\"}]",
             kept, kept);
    expect(name, 1);
    end();
}

TEST(findings, a_fault_leaves_no_leaks)
{
    uint64_t kept;

    begin("all");
    ck_good(cuMemAlloc_v2(&kept, 4096));
    gd_CUfunction function = load(HEADER ".visible .entry k(.param .u64 a)\n{\n    trap;\n}\n");
    ck_good(launch(function, 1, 32, kept));
    ck_result(cuCtxSynchronize(), GD_CUDA_ERROR_LAUNCH_FAILED);
    ck_result(cuMemFree_v2(kept), GD_CUDA_ERROR_LAUNCH_FAILED);
    ck_good(cuCtxDestroy_v2(context));
    expect("\"kind\":\"trap\"", 1);
    expect("\"names\":[{\"text\":\"kernel k (launch 1)\",\"kernel\":\"k\",\"launch\":1}]", 1);
    expect("\"kind\":\"leak\"", 0);
    end();
}

/* ---- the heap of kernels ---- */

/* A warp's lane 0 takes a block, and lane `by` frees it. */
#define HEAP_KERNEL(by, between)                                                                   \
    HEADER ".extern .func (.param .b64 r) malloc(.param .b64 v);\n"                                \
           ".extern .func free(.param .b64 v);\n.shared .u64 block;\n"                             \
           ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %p;\n    .reg .b32 %t;\n"           \
           "    .reg .pred %c;\n    .param .b64 x, y;\n    mov.u32 %t, %tid.x;\n"                  \
           "    setp.ne.u32 %c, %t, 0;\n    @%c bra took;\n    st.param.b64 [x], 100;\n"           \
           "    call (y), malloc, (x);\n    ld.param.b64 %p, [y];\n"                               \
           "    st.shared.u64 [block], %p;\ntook:\n    bar.warp.sync -1;\n"                        \
           "    ld.shared.u64 %p, [block];\n" between "    setp.ne.u32 %c, %t, " by ";\n"          \
           "    @%c bra done;\n    st.param.b64 [x], %p;\n    call free, (x);\ndone:\n"            \
           "    ret;\n}\n"

TEST(findings, a_block_that_no_kernel_frees_is_a_leak)
{
    begin("all");
    ck_good(launch(load(HEAP_KERNEL("32", "")), 1, 32, 0));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"leak\"", 0); /* a later kernel may */
    ck_good(cuCtxDestroy_v2(context));
    expect("\"kind\":\"leak\"", 1);
    expect("of 100 bytes was not freed", 1);
    end();
}

LOOP_TEST(findings, a_free_is_ordered_behind_accesses, 2)
{
#define ACCESS "    setp.ne.u32 %c, %t, 5;\n    @%c bra far;\n    st.u32 [%p+96], %t;\nfar:\n"
    static const char *const texts[] = {HEAP_KERNEL("0", ACCESS),
                                        HEAP_KERNEL("0", ACCESS "    bar.warp.sync -1;\n")};

    begin("all");
    ck_good(launch(load(texts[_i]), 1, 32, 0));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"race\"", _i ? 0 : 1);
    ck_good(cuCtxDestroy_v2(context));
    expect("\"kind\":\"leak\"", 0);
    end();
}

/* ---- text ---- */

TEST(findings, utf8_passes_and_other_bytes_do_not)
{
    begin("all");
    gd_CUfunction function =
        load(HEADER ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a;\n    mov.u64 %a, 64;\n"
                    "    st.global.u32 /* gr\xc3\xb6\xc3\x9f\x65r \xe2\x82\xac \xf0\x9d\x84\x9e, "
                    "\xff\xc0\xaf \"\\ */ "
                    "[%a], 1;\n    ret;\n}\n");
    ck_good(launch(function, 1, 32, 0));
    ck_result(cuCtxSynchronize(), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("gr\xc3\xb6\xc3\x9f\x65r \xe2\x82\xac \xf0\x9d\x84\x9e, \\ufffd\\ufffd\\ufffd \\\"\\\\ "
           "*/ [%a], 1;",
           1);
    end();
}

/* ---- refused kernels ---- */

TEST(findings, a_refused_kernel_is_a_finding)
{
    begin("race");
    gd_CUfunction function =
        load(HEADER ".visible .entry k(.param .u64 a)\n{\n    .reg .b32 %r;\n    mov.u32 %r, 1;\n"
                    "    stacksave.u32 %r;\n    ret;\n}\n");
    ck_result(launch(function, 1, 32, 0), GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_result(launch(function, 1, 32, 0), GD_CUDA_ERROR_NOT_SUPPORTED);
    expect("\"kind\":\"unsupported\"", 1);
    expect("\"line\":8,\"column\":5,\"instruction\":\"stacksave.u32 %r;\"", 1);
    expect("kernel k cannot be launched: line 8: stacksave", 1);
    end();
}

TEST(findings, without_checks_nothing_is_reported)
{
    begin("off");
    gd_CUfunction function = load(HEADER ".visible .entry k(.param .u64 a)\n{\n    .reg .b32 %r;\n "
                                         "   stacksave.u32 %r;\n    ret;\n}\n");
    ck_result(launch(function, 1, 32, 0), GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_assert_str_eq(get_report(), "");
    end();
}

/* ---- head comments ---- */

/* An access that leaves what the head comment tells of the argument that its address is made of;
 * where a pointer that was loaded leads, it does not tell. */
TEST(findings, accesses_beyond_an_extent_are_found)
{
    uint64_t address, inside;
    gd_CUmodule module;
    gd_CUfunction function;

    begin("race");
    ck_good(cuModuleLoadData(
        &module, "// extent:\n//   a: b64[2 * block.x]\n" HEADER
                 ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a, %o, %p;\n"
                 "    .reg .b32 %t;\n    ld.param.u64 %a, [a];\n    ld.global.u64 %p, [%a+8];\n"
                 "    mov.u32 %t, %tid.x;\n    mad.wide.u32 %o, %t, 40, %a;\n"
                 "    st.global.u32 [%o], %t;\n    red.global.add.u32 [%p], 1;\n    ret;\n}\n"
                 ".visible .entry before(.param .u64 a)\n{\n    .reg .b64 %a;\n"
                 "    .reg .b32 %v;\n    ld.param.u64 %a, [a];\n"
                 "    ld.global.u32 %v, [%a+-4];\n    ret;\n}\n"));
    ck_good(cuMemAlloc_v2(&address, 1024));
    inside = address + 512;
    ck_good(cuMemcpyHtoD_v2(address + 8, &inside, sizeof inside));
    ck_good(cuModuleGetFunction(&function, module, "k"));
    ck_good(launch(function, 1, 1, address));
    ck_good(cuCtxSynchronize());
    ck_assert_str_eq(get_report(), "");
    ck_good(launch(function, 1, 2, address));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"beyond-extent\"", 1);
    expect("writes at a + 40; its head comment says that it touches 32 bytes from a on: "
           "b64[2 * block.x]",
           1);
    ck_good(cuModuleGetFunction(&function, module, "before"));
    ck_good(launch(function, 1, 1, address + 4));
    ck_good(cuCtxSynchronize());
    expect("reads at a - 4; its head comment", 1);
    expect("\"kind\":", 2);
    end();
}

/* ---- constants ---- */

/* A store, an atomic operation and a copy by the address of a .const variable are findings, and are
 * carried out. */
TEST(findings, writes_to_constants_are_found)
{
    uint64_t address;
    size_t bytes;
    gd_CUmodule module;
    gd_CUfunction function;
    uint32_t value = 0;

    begin("race");
    ck_good(cuModuleLoadData(&module, HEADER
                             ".visible .const .align 4 .u32 c = 3;\n"
                             ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a;\n"
                             "    .reg .b32 %v;\n    ld.param.u64 %a, [a];\n    st.u32 [%a], 5;\n"
                             "    atom.global.add.u32 %v, [%a], 1;\n    ld.const.u32 %v, [c];\n"
                             "    ret;\n}\n"));
    ck_good(cuModuleGetFunction(&function, module, "k"));
    ck_good(cuModuleGetGlobal_v2(&address, &bytes, module, "c"));
    ck_good(launch(function, 1, 1, address));
    ck_good(cuMemcpyDtoH_v2(&value, address, sizeof value));
    ck_assert_uint_eq(value, 6);
    expect("\"kind\":\"read-only\"", 2);
    expect("writes to .const variable c", 2);
    expect("\"line\":10,\"column\":5,\"instruction\":\"st.u32 [%a], 5;\"", 1);
    ck_good(cuMemcpyHtoD_v2(address, &value, sizeof value));
    expect("\"kind\":", 2);
    end();
}

/* ---- local memory ---- */

#define CALLEE                                                                                     \
    ".func (.param .b32 r) f(.param .b32 v, .param .b32 w)\n{\n    .local .align 8 .b8 l[16];\n  " \
    "  .reg .b32 %v;\n   "                                                                         \
    " "                                                                                            \
    ".reg .b64 %d;\n    ld.param.b32 %v, [v];\n    st.local.b32 [l], %v;\n"
#define CALLER                                                                                     \
    "    ld.local.b32 %v, [l+4];\n    st.param.b32 [r], %v;\n    ret;\n}\n"                        \
    ".visible .entry k(.param .u64 a)\n{\n    .reg .b32 %x;\n    .local .b32 own;\n    .reg .b64 " \
    "%g;\n    {\n    "                                                                             \
    ".param .b32 v;\n    .param .b32 w;\n    .param .b32 r;\n    mov.u32 %x, %tid.x;\n    "        \
    "st.param.b32 [v], %x;\n    "                                                                  \
    "st.param.b32 [w], %x;\n    call.uni (r), f, (v, w);\n    ld.param.b32 %x, [r];\n    }\n    "  \
    "st.local.b32 [own], "                                                                         \
    "%x;\n    mov.u64 %g, own;\n    cvta.local.u64 %g, %g;\n    ld.b32 %x, [%g];\n    "            \
    "ret;\n}\n"

/* l+4 is written in neither call of the first, and in each of the second; 8 bytes of which 4 are
 * written pass. */
TEST(findings, unwritten_local_memory_is_found)
{
    begin("initialized");
    gd_CUfunction function = load(HEADER CALLEE CALLER);
    ck_good(launch(function, 2, 32, 0));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"uninitialized\"", 1);
    expect("\"line\":11,\"column\":5,\"instruction\":\"ld.local.b32 %v, [l+4];\"", 1);
    function =
        load(HEADER CALLEE "    st.local.b32 [l+4], %v;\n    ld.local.b64 %d, [l];\n" CALLER);
    ck_good(launch(function, 2, 32, 0));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"uninitialized\"", 1);
    end();
}

TEST(findings, a_frame_begins_unwritten)
{
    begin("initialized");
    gd_CUfunction function = load(
        HEADER ".func put()\n{\n    .local .b32 l;\n    st.local.b32 [l], 1;\n    ret;\n}\n"
               ".func get()\n{\n    .local .b32 l;\n    .reg .b32 %v;\n    ld.local.b32 %v, [l];\n "
               "   ret;\n}\n"
               ".visible .entry k(.param .u64 a)\n{\n    call put;\n    call get;\n    ret;\n}\n");
    ck_good(launch(function, 1, 32, 0));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"uninitialized\"", 1);
    end();
}

/* ---- conditional nodes ---- */

/* Sets the value of a conditional to what the kernel's argument says. */
static const char setter[] = HEADER
    ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n"
    ".visible .entry k(.param .u64 a, .param .u32 v)\n{\n    .reg .b64 %a;\n    .reg .b32 %v;\n"
    "    .param .b64 h;\n    .param .b32 w;\n    ld.param.u64 %a, [a];\n    ld.param.u32 %v, [v];\n"
    "    st.param.b64 [h], %a;\n    st.param.b32 [w], %v;\n"
    "    call.uni cudaGraphSetConditional, (h, w);\n    ret;\n}\n";

static gd_CUgraphNode add_setter(gd_CUgraph graph, gd_CUfunction function, uint64_t handle,
                                 uint32_t value)
{
    void *parameters[] = {&handle, &value};
    const gd_CUDA_KERNEL_NODE_PARAMS params = {.func = function,
                                               .gridDimX = 1,
                                               .gridDimY = 1,
                                               .gridDimZ = 1,
                                               .blockDimX = 4,
                                               .blockDimY = 1,
                                               .blockDimZ = 1,
                                               .kernelParams = parameters};
    gd_CUgraphNode node = NULL;

    ck_good(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
    return node;
}

static gd_CUgraphExec make_conditional(int32_t type, uint32_t initial, bool ordered,
                                       uint32_t setters)
{
    gd_CUgraph graph;
    gd_CUgraphConditionalHandle handle = 0;
    gd_CUgraphNode node, before[2];
    gd_CUgraphExec executable = NULL;
    gd_CUfunction function = load(setter);

    ck_good(cuGraphCreate(&graph, 0));
    ck_good(cuGraphConditionalHandleCreate(&handle, graph, context, initial, 1));
    for (uint32_t i = 0; i < setters; i++)
        before[i] = add_setter(graph, function, handle, i);
    gd_CUgraphNodeParams params = {
        .type = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .is.conditional = {.handle = handle, .type = type, .size = 1, .ctx = context}};
    ck_good(cuGraphAddNode_v2(&node, graph, before, NULL, ordered ? setters : 0, &params));
    ck_good(cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

/* A kernel that no edge orders before the node; two that no edge orders. All threads of one set the
 * same. */
TEST(findings, unordered_values_are_races)
{
    begin("race");
    ck_good(cuGraphLaunch(make_conditional(GD_CU_GRAPH_COND_TYPE_IF, 0, true, 1), NULL));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"race\"", 0);
    ck_good(cuGraphLaunch(make_conditional(GD_CU_GRAPH_COND_TYPE_IF, 0, false, 1), NULL));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"race\"", 1);
    expect("\"action\":\"conditional\"", 1);
    expect("a conditional node", 2);
    ck_good(cuGraphLaunch(make_conditional(GD_CU_GRAPH_COND_TYPE_IF, 0, true, 2), NULL));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"race\"", 2);
    end();
}

TEST(findings, a_loop_that_nothing_ends_is_ended)
{
    begin("race");
    ck_good(cuGraphLaunch(make_conditional(GD_CU_GRAPH_COND_TYPE_WHILE, 1, true, 0), NULL));
    ck_result(cuCtxSynchronize(), GD_CUDA_ERROR_LAUNCH_TIMEOUT);
    end();
}

/* A handle means nothing outside of its graph. */
TEST(findings, a_value_outside_of_its_graph_is_a_fault)
{
    uint64_t handle = 1;
    uint32_t value = 1;
    void *parameters[] = {&handle, &value};

    begin("race");
    ck_good(cuLaunchKernel(load(setter), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_result(cuCtxSynchronize(), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    expect("no handle of the graph", 1);
    end();
}

/* ---- folding ---- */

/* All CTAs write their number to the same words, over and over: each access but the first of a CTA
 * races. */
TEST(findings, a_loop_of_races_is_one_finding)
{
    uint64_t buffer;

    begin("race");
    ck_good(cuMemAlloc_v2(&buffer, 4096));
    gd_CUfunction function = load(
        HEADER
        ".visible .entry k(.param .u64 a)\n{\n    .reg .b64 %a, %t;\n    .reg .b32 %i, %c;\n    "
        ".reg .pred "
        "%p;\n    ld.param.u64 %a, [a];\n    mov.u32 %c, %ctaid.x;\n    mov.u32 %i, %tid.x;\n    "
        "mul.wide.u32 %t, %i, 4;\n    add.u64 %a, %a, %t;\n    mov.u32 %i, 0;\nagain:\n    "
        "st.global.u32 [%a], %c;\n    bar.sync 0;\n    add.u32 %i, %i, 1;\n    add.u32 %c, %c, "
        "1;\n    "
        "setp.lt.u32 %p, %i, 2000;\n    @%p bra again;\n    ret;\n}\n");
    ck_good(launch(function, 16, 32, buffer));
    ck_good(cuCtxSynchronize());
    expect("\"kind\":\"race\"", 1);
    end();
}

MAIN_OF_SUITE("findings")
