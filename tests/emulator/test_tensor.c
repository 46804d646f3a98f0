/* Tensor copies and wgmma in kernels as they are written: a matrix product whose tiles go through a
 * ring of stages, with its results and with what the race detector says of it, as it is and with
 * one of its waits taken away. Layouts are compared with numbers worked out by hand.
 *
 * Each test runs in a process of its own, because settings are read once, by cuInit; what it finds
 * is in a file. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/api.h"
#include "suite.h"

static FILE *report;
static char report_text[1 << 20];
static gd_CUcontext context;

#define ck_good(call) ck_assert_int_eq((call), GD_CUDA_SUCCESS)

/* The report has no name, so that nothing is left of it. */
static void begin(const char *schedule)
{
    char path[64];

    report = tmpfile();
    ck_assert_ptr_nonnull(report);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(report));
    setenv("GRIDDEP_EMULATOR_CHECK", "all", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", path, 1);
    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedule, 1);
    setenv("GRIDDEP_EMULATOR_STEPS", "5000000", 1);
    ck_good(cuInit(0));
    ck_good(cuCtxCreate_v2(&context, 0, 0));
}

/* What has been reported up to now. */
static const char *get_report(void)
{
    rewind(report);
    report_text[fread(report_text, 1, sizeof report_text - 1, report)] = 0;
    return report_text;
}

static gd_CUfunction load(const char *text)
{
    gd_CUmodule module;
    gd_CUfunction function;

    ck_good(cuModuleLoadData(&module, text));
    ck_good(cuModuleGetFunction(&function, module, "k"));
    return function;
}

static uint64_t allocate(const void *data, size_t bytes)
{
    uint64_t address;

    ck_good(cuMemAlloc_v2(&address, bytes));
    if (data)
        ck_good(cuMemcpyHtoD_v2(address, data, bytes));
    return address;
}

/* ---- a matrix product ---- */

enum {
    M = 128,
    N = 128,
    K = 512,
    TILE = 64,
    STAGES = 4,
    STAGE_BYTES = 16384,
    SHARED = STAGES * STAGE_BYTES + 64
};

/* c = a * b^T, a tile of 64 by 64 a CTA. Warp 4 fetches, warps 0 to 3 multiply; a stage is free
 * again when the product behind it has read it, which one thread of the warpgroup tells. Lines with
 * a mark behind "//" can be taken away. */
static const char product[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 1024 .b8 ring[];\n\n"
    ".visible .entry k(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 "
    "c)\n{\n"
    "    .reg .b64 %map_a, %map_b, %c, %at, %da, %db, %d<4>;\n    .reg .f32 %s<32>;\n    .reg "
    ".pred %p, %q, %first;\n"
    "    .reg .b32 %t, %warp, %lane, %ring, %bar, %i, %stage, %place, %parity, %row, %column, %k, "
    "%x, %y;\n\n"
    "    mov.b64 %map_a, a;\n    cvta.param.u64 %map_a, %map_a;\n    mov.b64 %map_b, b;\n"
    "    cvta.param.u64 %map_b, %map_b;\n    ld.param.u64 %c, [c];\n    mov.u32 %t, %tid.x;\n"
    "    shr.u32 %warp, %t, 5;\n    and.b32 %lane, %t, 31;\n    mov.u32 %ring, ring;\n    add.u32 "
    "%bar, %ring, 65536;\n"
    "    mov.u32 %x, %ctaid.x;\n    mov.u32 %y, %ctaid.y;\n    shl.b32 %x, %x, 6;\n    shl.b32 %y, "
    "%y, 6;\n"
    "    setp.ne.u32 %p, %t, 0;\n    @%p bra ready;\n"
    "    prefetch.tensormap [%map_a];\n"
    "    mbarrier.init.shared.b64 [%bar], 1;\n    mbarrier.init.shared.b64 [%bar+8], 1;\n"
    "    mbarrier.init.shared.b64 [%bar+16], 1;\n    mbarrier.init.shared.b64 [%bar+24], 1;\n"
    "    mbarrier.init.shared.b64 [%bar+32], 1;\n    mbarrier.init.shared.b64 [%bar+40], 1;\n"
    "    mbarrier.init.shared.b64 [%bar+48], 1;\n    mbarrier.init.shared.b64 [%bar+56], 1;\n"
    "    fence.mbarrier_init.release.cluster;\n"
    "ready:\n    bar.sync 0;\n    mov.u32 %i, 0;\n    setp.ne.u32 %p, %warp, 4;\n    @%p bra "
    "multiply;\n"
    /* the one that fetches */
    "    setmaxnreg.dec.sync.aligned.u32 40;\n    elect.sync _|%p, 0xffffffff;\n    @!%p bra "
    "over;\n"
    "fetch:\n    and.b32 %stage, %i, 3;\n    mad.lo.u32 %place, %stage, 8, %bar;\n    shr.u32 "
    "%parity, %i, 2;\n"
    "    and.b32 %parity, %parity, 1;\n    xor.b32 %parity, %parity, 1;\n"
    "empty:\n"
    "    mbarrier.try_wait.parity.shared.b64 %p, [%place+32], %parity; // EMPTY\n"
    "    @!%p bra empty; // EMPTY\n"
    "    mbarrier.arrive.expect_tx.shared.b64 _, [%place], 16384;\n    mad.lo.u32 %row, %stage, "
    "16384, %ring;\n"
    "    shl.b32 %k, %i, 6;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[%row], [%map_a, {%k, %y}], [%place];\n    add.u32 %row, %row, 8192;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%row], [%map_b, {%k, %x}], [%place];\n"
    "    add.u32 %i, %i, 1;\n    setp.lt.u32 %p, %i, 8;\n    @%p bra fetch;\n    bra over;\n"
    /* those that multiply */
    "multiply:\n    setmaxnreg.inc.sync.aligned.u32 160;\n    setp.eq.u32 %first, %t, 0;\n    "
    "setp.ne.u32 %q, 0, 0;\n"
    "next:\n    and.b32 %stage, %i, 3;\n    mad.lo.u32 %place, %stage, 8, %bar;\n    shr.u32 "
    "%parity, %i, 2;\n"
    "    and.b32 %parity, %parity, 1;\n"
    "full:\n"
    "    mbarrier.try_wait.parity.shared.b64 %p, [%place], %parity; // FULL\n    @!%p bra full; // "
    "FULL\n"
    "    mad.lo.u32 %row, %stage, 16384, %ring;\n    and.b32 %row, %row, 0x3ffff;\n    shr.u32 "
    "%row, %row, 4;\n"
    "    cvt.u64.u32 %da, %row;\n    or.b64 %da, %da, DESCRIPTOR;\n    add.u64 %db, %da, 512;\n"
    "    wgmma.fence.sync.aligned;\n"
    "    MULTIPLY\n    add.u64 %da, %da, 2;\n    add.u64 %db, %db, 2;\n    MULTIPLY\n    add.u64 "
    "%da, %da, 2;\n"
    "    add.u64 %db, %db, 2;\n    MULTIPLY\n    add.u64 %da, %da, 2;\n    add.u64 %db, %db, 2;\n  "
    "  MULTIPLY\n"
    "    wgmma.commit_group.sync.aligned;\n"
    "    wgmma.wait_group.sync.aligned 1; // WAIT\n"
    "    setp.eq.u32 %p, %i, 0;\n    @%p bra started;\n    add.u32 %stage, %stage, 3;\n    and.b32 "
    "%stage, %stage, 3;\n"
    "    mad.lo.u32 %place, %stage, 8, %bar;\n"
    "    @%first mbarrier.arrive.shared.b64 _, [%place+32];\n"
    "started:\n    add.u32 %i, %i, 1;\n    setp.lt.u32 %p, %i, 8;\n    @%p bra next;\n"
    "    wgmma.wait_group.sync.aligned 0;\n"
    "    shr.u32 %row, %lane, 2;\n    mad.lo.u32 %row, %warp, 16, %row;\n    add.u32 %row, %row, "
    "%y;\n"
    "    and.b32 %column, %lane, 3;\n    mad.lo.u32 %column, %column, 2, %x;\n    mad.lo.u32 %row, "
    "%row, 128, "
    "%column;\n"
    "    mul.wide.u32 %at, %row, 4;\n    add.u64 %at, %at, %c;\n    STORE\n"
    "over:\n    ret;\n}\n";

static void append(char *text, size_t capacity, const char *format, unsigned a, unsigned b,
                   unsigned c)
{
    size_t used = strlen(text);

    snprintf(text + used, capacity - used, format, a, b, c);
}

/* Puts a word's meaning in its place, as often as it comes up. */
static void replace(char *text, size_t capacity, const char *word, const char *meaning)
{
    for (char *at = text; (at = strstr(at, word)); at += strlen(meaning)) {
        char *rest = strdup(at + strlen(word));
        snprintf(at, capacity - (size_t)(at - text), "%s%s", meaning, rest);
        free(rest);
    }
}

/* The lines with a mark become comments. */
static void take_away(char *text, const char *mark)
{
    for (char *at = text; (at = strstr(at, mark)); at += strlen(mark)) {
        char *line = at;
        while (line[-1] != '\n')
            line--;
        memcpy(line, "//", 2);
    }
}

static char *write_product(const char *mark, const char *descriptor)
{
    static char text[1 << 15];
    char sums[512] = "", multiply[1024], store[8192] = "";

    for (unsigned i = 0; i < 32; i++)
        append(sums, sizeof sums, i ? ", %%s%u" : "%%s%u", i, 0, 0);
    snprintf(
        multiply, sizeof multiply,
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%s}, %%da, %%db, %%q, 1, 1, 0, 0;\n"
        "    setp.eq.u32 %%q, 0, 0;",
        sums);
    for (unsigned i = 0; i < 32; i += 2)
        append(store, sizeof store, "st.global.v2.f32 [%%at+%u], {%%s%u, %%s%u};\n    ",
               i / 4 * 32 + (i & 2) * 4 * N * 4, i, i + 1);
    snprintf(text, sizeof text, "%s", product);
    if (mark)
        take_away(text, mark);
    replace(text, sizeof text, "DESCRIPTOR", descriptor);
    replace(text, sizeof text, "MULTIPLY", multiply);
    replace(text, sizeof text, "STORE", store);
    return text;
}

static uint16_t bfloat(int value)
{
    float number = (float)value;
    uint32_t bits;

    memcpy(&bits, &number, 4);
    return (uint16_t)(bits >> 16);
}

static int value_at(int row, int k)
{
    return (row * 7 + k * 5 + row * k) % 9 - 4;
}

static void encode(gd_CUtensorMap *map, uint64_t address, uint64_t rows)
{
    const uint64_t sizes[] = {K, rows}, strides[] = {K * 2};
    const uint32_t box[] = {TILE, TILE}, steps[] = {1, 1};

    ck_good(cuTensorMapEncodeTiled(
        map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)(uintptr_t)address, sizes, strides,
        box, steps, GD_CU_TENSOR_MAP_INTERLEAVE_NONE, GD_CU_TENSOR_MAP_SWIZZLE_128B,
        GD_CU_TENSOR_MAP_L2_PROMOTION_L2_128B, GD_CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

/* Runs the product and counts the elements that are wrong; all of them are when it does not end. */
static uint32_t run_product(const char *text)
{
    static uint16_t a[M * K], b[N * K];
    static float c[M * N];
    gd_CUtensorMap map_a, map_b;
    uint32_t wrong = 0;

    for (int i = 0; i < M * K; i++)
        a[i] = bfloat(value_at(i / K, i % K));
    for (int i = 0; i < N * K; i++)
        b[i] = bfloat(value_at(i % K, i / K));
    encode(&map_a, allocate(a, sizeof a), M);
    encode(&map_b, allocate(b, sizeof b), N);
    uint64_t target = allocate(NULL, sizeof c);
    void *parameters[] = {&map_a, &map_b, &target};
    gd_CUfunction function = load(text);
    ck_good(
        cuFuncSetAttribute(function, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED));
    ck_good(
        cuLaunchKernel(function, N / TILE, M / TILE, 1, 160, 1, 1, SHARED, NULL, parameters, NULL));
    if (cuCtxSynchronize() != GD_CUDA_SUCCESS)
        return M * N;
    ck_good(cuMemcpyDtoH_v2(c, target, sizeof c));
    for (int row = 0; row < M; row++) {
        for (int column = 0; column < N; column++) {
            int sum = 0;
            for (int k = 0; k < K; k++)
                sum += value_at(row, k) * value_at(k, column);
            wrong += c[row * N + column] != (float)sum;
        }
    }
    return wrong;
}

/* Swizzle 128, rows of 128 bytes, groups of 8 rows 1024 bytes apart. */
#define DESCRIPTOR_128 "0x4000004000010000"

static const char *const schedules[] = {"eager", "lazy", "random:1", "random:2", "random:3"};

TEST_GROUP(tensor, NULL, NULL);

LOOP_TEST(tensor, a_correct_product_is_right_and_quiet, 5)
{
    begin(schedules[_i]);
    ck_assert_uint_eq(run_product(write_product(NULL, DESCRIPTOR_128)), 0);
    ck_assert_str_eq(get_report(), "");
}

static const struct {
    const char *mark, *text, *missing; /* a line of the kernel, and what is said of its absence */
} mutations[] = {
    {"// FULL",
     "kernel k (launch 1) reads shared memory that its asynchronous copy writes, before the copy's "
     "completion was "
     "waited for",
     "a wait for the mbarrier, or the group, on which the copy completes"},
    {"// EMPTY",
     "kernel k (launch 1) writes shared memory that its asynchronous copy writes, before the "
     "copy's completion was "
     "waited for",
     "a wait for the mbarrier, or the group, on which the copy completes"},
    {"// WAIT",
     "kernel k (launch 1) writes shared memory that its wgmma reads, before the group's completion "
     "was waited for",
     "wgmma.wait_group for the group, before what tells the other thread that the memory is free"},
};

LOOP_TEST(tensor, a_product_without_a_wait_is_found, 3)
{
    begin("eager");
    run_product(write_product(mutations[_i].mark, DESCRIPTOR_128));
    const char *told = get_report();
    ck_assert_msg(strstr(told, "\"kind\":\"shared-race\"") && strstr(told, mutations[_i].text) &&
                      strstr(told, mutations[_i].missing),
                  "%s: %s", mutations[_i].mark, told);
}

/* Swizzles of 64 and 32 bytes, none, and the right one with groups of rows at a wrong distance. */
LOOP_TEST(tensor, a_product_with_a_wrong_layout_is_wrong, 4)
{
    static const char *const descriptors[] = {"0x8000004000010000", "0xc000004000010000",
                                              "0x0000004000010000", "0x4000002000010000"};

    begin("eager");
    ck_assert_uint_gt(run_product(write_product(NULL, descriptors[_i])), M * N / 2);
}

/* ---- what wgmma reads ---- */

#define READS                                                                                      \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d, %d, 1, 1, 1, "  \
    "0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(left) "wgmma.wait_group.sync.aligned " #left ";\n"
#define WRITE(warp) "@%w" #warp " st.shared.u32 [%own], %t;\n"
#define BARRIER "bar.sync 0;\n"

/* %w0, %w1: a thread of that warp; %own: memory that all wgmma read. */
static const struct {
    const char *body;
    bool found;
} orders[] = {
    {READS COMMIT WRITE(0) WAIT(0), true},
    {READS COMMIT WAIT(0) WRITE(0), false},
    {READS COMMIT WAIT(1) WRITE(0), true},
    {READS WAIT(0) WRITE(0), true}, /* of no group yet */
    {READS COMMIT READS COMMIT WAIT(1) WRITE(0), true},
    {READS COMMIT READS COMMIT WAIT(0) WRITE(1), false}, /* the wait is for the whole warpgroup */
    {"@%w0 bra go;\n" WRITE(1) "go:\n" BARRIER READS COMMIT WAIT(0), false},
    {READS COMMIT BARRIER WRITE(1) WAIT(0), true}, /* a barrier is no wait */
};

LOOP_TEST(tensor, wgmma_reads_until_it_was_waited_for, sizeof orders / sizeof *orders)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n    .reg .b64 "
        "%%d;\n"
        "    .reg .b32 %%own, %%t, %%i;\n    .reg .f32 %%f<4>;\n    .reg .pred %%w0, %%w1, %%p;\n"
        "    .shared .align 1024 .b8 room[4096];\n    mov.u32 %%own, room;\n    mov.u32 %%t, "
        "%%tid.x;\n"
        "    mov.u64 %%d, 0x0000001000080040;\n    mad.lo.u32 %%i, %%t, 32, %%own;\n    "
        "st.shared.v2.u64 [%%i], {%%d, "
        "%%d};\n    st.shared.v2.u64 [%%i+16], {%%d, %%d};\n    setp.eq.u32 %%w0, %%t, 0;\n    "
        "setp.eq.u32 %%w1, "
        "%%t, 32;\n    fence.proxy.async;\n    bar.sync 0;\n%s    ret;\n}\n";
    char kernel[4096];

    begin("eager");
    snprintf(kernel, sizeof kernel, text, orders[_i].body);
    gd_CUfunction function = load(kernel);
    ck_good(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
    ck_good(cuCtxSynchronize());
    const char *told = get_report();
    ck_assert_msg(!!strstr(told, "that its wgmma reads") == orders[_i].found &&
                      (orders[_i].found || !*told),
                  "%s%s", orders[_i].body, told);
}

/* ---- faults ---- */

#define WGMMA                                                                                      \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d, %d, 1, 1, 1, "  \
    "0, 0;\n"
#define LOAD                                                                                       \
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%box], "    \
    "[%map, {0, 0}], "                                                                             \
    "[%bar];\n"

/* Kernels of so many threads, and what ends them. %map: a tensor map of bytes; %d: a descriptor of
 * the 1024 bytes of shared memory. */
static const struct {
    unsigned threads;
    int rank, interleave;
    const char *body, *text;
} faults[] = {
    {96, 2, 0, WGMMA, "warp 0 is of no warpgroup: the CTA has 3 warps, and it takes four in a row"},
    {128, 2, 0, "or.b64 %d, %d, 0x0000010000000000; " WGMMA,
     "read of 16 bytes of shared memory at 0x1480; it has 1040 bytes"},
    {128, 2, 0, "setp.eq.u32 %p, %t, 5; @%p bra done;\n" WGMMA, "this; all 32 have to"},
    {128, 2, 0,
     "setp.lt.u32 %p, %t, 32; @%p bra done; wgmma.commit_group.sync.aligned; "
     "wgmma.wait_group.sync.aligned 0;\n",
     "deadlock: warp 1 waits for a group of wgmma that others of its warpgroup never commit"},
    {1, 2, 0, "mov.b64 %map, other; cvta.global.u64 %map, %map;\n" LOAD,
     "is no tensor map that this driver has encoded"},
    {1, 2, 0, "add.u64 %map, %map, 8;\n" LOAD, "which is no multiple of 64"},
    {1, 3, 0, LOAD, "a tensor map of rank 3 for a copy of 2 dimensions"},
    {1, 3, 1, "cp.async.bulk.prefetch.tensor.3d.L2.global [%map, {0, 0, 0}];\n",
     "a tensor map with interleave is not emulated"},
    {1, 2, 0, "add.u32 %box, %box, 64;\n" LOAD, "which is no multiple of 128"},
    {1, 2, 0, "add.u32 %box, %box, 1024;\n" LOAD, "write to 512 bytes of shared memory"},
    {1, 2, 0,
     "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%map, {0, 0}], [%box];\n",
     "a reduction that elements of the tensor map's type do not have"},
    {1, 2, 0, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {24, 0}], [%box];\n",
     "begins at a place of its rows that is no multiple of 16 bytes (coordinate 0 is 24)"},
    {1, 2, 0, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {16, -2}], [%box];\n",
     "its coordinates may not be negative (coordinate 1 is -2)"},
};

static uint64_t encode_bytes(gd_CUtensorMap *map, int rank, int interleave)
{
    const uint64_t sizes[] = {64, 16, 4}, strides[] = {64, 1024};
    const uint32_t box[] = {32, 16, 1}, steps[] = {1, 1, 1};
    uint64_t address = allocate(NULL, 4096);

    ck_good(cuTensorMapEncodeTiled(map, GD_CU_TENSOR_MAP_DATA_TYPE_UINT8, (uint32_t)rank,
                                   (void *)(uintptr_t)address, sizes, strides, box, steps,
                                   interleave, 0, 0, 0));
    return address;
}

/* Of 1024 bytes in rows of 64 the box has the left half of each row, from row `y` on. Lines that
 * write and read bytes of the tensor. */
#define STORE "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {0, 8}], [%box];\n"
#define GROUP "cp.async.bulk.commit_group;\n"
#define STORED "cp.async.bulk.wait_group 0;\n"
#define READ(byte) "ld.global.u32 %t, [%at+" #byte "];\n"

static const struct {
    const char *body, *found; /* what is said; NULL: nothing */
} accesses[] = {
    {STORE GROUP STORED READ(512), NULL},
    {STORE GROUP READ(512) STORED, "that its asynchronous copy writes"},
    {STORE GROUP READ(540) STORED, "that its asynchronous copy writes"},
    {STORE GROUP READ(544) STORED, NULL}, /* right of the box */
    {STORE GROUP READ(508) STORED, NULL}, /* above it */
    {STORE GROUP "cp.async.bulk.wait_group.read 0;\n" READ(960) STORED,
     "that its asynchronous copy writes"},
    {STORE GROUP "st.shared.u32 [%box+4], %t;\n" STORED,
     "writes shared memory that its asynchronous copy reads"},
    {STORE GROUP "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%box+4], %t;\n" STORED, NULL},
    {STORE GROUP "st.shared.u32 [%box+512], %t;\n" STORED, NULL}, /* behind the box */
};

LOOP_TEST(tensor, each_byte_of_a_box_is_checked, sizeof accesses / sizeof *accesses)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 "
        "a[128], .param .u64 m)"
        "\n{\n    .reg .b64 %%map, %%at, %%i;\n    .reg .b32 %%box, %%t;\n    .reg .pred %%p;\n"
        "    .shared .align 1024 .b8 box[1024];\n    mov.b64 %%map, a;\n    cvta.param.u64 %%map, "
        "%%map;\n"
        "    ld.param.u64 %%at, [m];\n    mov.u32 %%box, box;\n    mov.u32 %%t, 0;\n"
        "fill:\n    cvt.u64.u32 %%i, %%t;\n    add.u64 %%i, %%i, %%at;\n    st.global.u32 [%%i], "
        "%%t;\n    add.u32 "
        "%%box, "
        "%%box, %%t;\n    st.shared.u32 [%%box], %%t;\n    sub.u32 %%box, %%box, %%t;\n    add.u32 "
        "%%t, %%t, 4;\n"
        "    setp.lt.u32 %%p, %%t, 1024;\n    @%%p bra fill;\n    fence.proxy.async;\n%s    "
        "ret;\n}\n";
    char kernel[4096];
    gd_CUtensorMap map;

    begin("eager");
    uint64_t address = encode_bytes(&map, 2, 0);
    void *parameters[] = {&map, &address};
    snprintf(kernel, sizeof kernel, text, accesses[_i].body);
    gd_CUfunction function = load(kernel);
    ck_good(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_good(cuCtxSynchronize());
    const char *told = get_report(), *found = accesses[_i].found;
    ck_assert_msg(found ? strstr(told, found) != NULL : !*told, "%s%s", accesses[_i].body, told);
}

/* A kernel triggers and stores a box; the next one loads the same box, behind its wait or in front
 * of it. */
#define DEPENDENT_BEGIN(name)                                                                      \
    ".visible .entry " name                                                                        \
    "(.param .align 64 .b8 a[128])\n{\n    .reg .b64 %map;\n    .reg .b32 %box, %bar, %t;\n"       \
    "    .reg .pred %p;\n    .shared .align 1024 .b8 box[1024];\n    .shared .align 8 .b64 "       \
    "bar;\n    mov.b64 %map, a;"                                                                   \
    "\n    cvta.param.u64 %map, %map;\n    mov.u32 %box, box;\n    mov.u32 %bar, bar;\n"           \
    "    mbarrier.init.shared.b64 [%bar], 1;\n    fence.mbarrier_init.release.cluster;\n"          \
    "    mbarrier.arrive.expect_tx.shared.b64 _, "                                                 \
    "[%bar], 512;\n"
#define DEPENDENT_WAIT "    griddepcontrol.wait;\n"
#define DEPENDENT_LOAD                                                                             \
    "    " LOAD                                                                                    \
    "again:\n    mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;\n    @!%p bra again;\n"

static const char dependent[] = ".version 8.0\n.target sm_90a\n.address_size 64\n" DEPENDENT_BEGIN(
    "first") "    griddepcontrol.launch_dependents;\n    mov.u32 %t, 0;\n"
             "fill:\n    add.u32 %bar, %box, %t;\n    st.shared.u32 [%bar], %t;\n    add.u32 %t, "
             "%t, 4;\n"
             "    setp.lt.u32 %p, %t, 1024;\n    @%p bra fill;\n    fence.proxy.async;\n"
             "    " STORE GROUP STORED "    ret;\n}\n" DEPENDENT_BEGIN("late")
                 DEPENDENT_LOAD DEPENDENT_WAIT "    ret;\n}\n" DEPENDENT_BEGIN("right")
                     DEPENDENT_WAIT DEPENDENT_LOAD "    ret;\n}\n";

LOOP_TEST(tensor, a_tensor_copy_before_the_wait_is_found, 2)
{
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    gd_CUlaunchConfig config = {.gridDimX = 1,
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = 1,
                                .blockDimY = 1,
                                .blockDimZ = 1};
    gd_CUfunction first, second;
    gd_CUmodule module;
    gd_CUtensorMap map;
    void *parameters[] = {&map};

    begin("eager");
    uint64_t address = encode_bytes(&map, 2, 0);
    ck_good(cuMemsetD8_v2(address, 1, 4096));
    ck_good(cuModuleLoadData(&module, dependent));
    ck_good(cuModuleGetFunction(&first, module, "first"));
    ck_good(cuModuleGetFunction(&second, module, _i ? "right" : "late"));
    ck_good(cuLaunchKernelEx(&config, first, parameters, NULL));
    attribute.value.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    ck_good(cuLaunchKernelEx(&config, second, parameters, NULL));
    ck_good(cuCtxSynchronize());
    const char *told = get_report();
    ck_assert_msg(
        _i ? !*told
           : strstr(told, "before its griddepcontrol.wait; kernel first (launch 1) writes it") !=
                 NULL,
        "%s", told);
}

LOOP_TEST(tensor, mistakes_are_faults, sizeof faults / sizeof *faults)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.global .align 64 .b8 other[128];\n"
        ".visible .entry k(.param .align 64 .b8 a[192])\n{\n    .reg .b64 %%map, %%d;\n"
        "    .reg .b32 %%box, %%bar, %%t;\n    .reg .f32 %%f<4>;\n    .reg .pred %%p;\n"
        "    .shared .align 1024 .b8 box[1024];\n    .shared .align 8 .b64 bar;\n    mov.b64 "
        "%%map, a;\n"
        "    cvta.param.u64 %%map, %%map;\n    mov.u32 %%box, box;\n    mov.u32 %%bar, bar;\n    "
        "mov.u32 %%t, "
        "%%tid.x;\n"
        "    mov.u64 %%d, 0x0000000800080040;\n    setp.eq.u32 %%p, %%t, 0;\n    @%%p "
        "mbarrier.init.shared.b64 "
        "[%%bar], 1;\n    %sdone:\n    ret;\n}\n";
    char kernel[4096];
    gd_CUtensorMap maps[2];
    void *parameters[] = {maps};

    begin("eager");
    encode_bytes(maps, faults[_i].rank, faults[_i].interleave);
    snprintf(kernel, sizeof kernel, text, faults[_i].body);
    gd_CUfunction function = load(kernel);
    ck_good(cuLaunchKernel(function, 1, 1, 1, faults[_i].threads, 1, 1, 0, NULL, parameters, NULL));
    ck_assert_int_ne(cuCtxSynchronize(), GD_CUDA_SUCCESS);
    const char *told = get_report();
    ck_assert_msg(strstr(told, faults[_i].text) != NULL, "expected %s\n%s", faults[_i].text, told);
}

MAIN_OF_SUITE("tensor")
