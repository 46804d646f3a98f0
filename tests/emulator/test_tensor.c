/* Tensor copies and wgmma in kernels as they are written: a matrix product whose tiles go through a ring of stages, with its results and with what
 * the race detector says of it, as it is and with one of its waits taken away. Layouts are compared with numbers worked out by hand.
 *
 * Each test runs in a process of its own, because settings are read once, by cuInit; what it finds is in a file. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/api.h"

static char report_path[64];
static char report_text[1 << 20];
static gd_CUcontext context;

#define ck_good(call) ck_assert_int_eq((call), GD_CUDA_SUCCESS)

static void begin(const char *schedule)
{
    snprintf(report_path, sizeof report_path, "/tmp/griddep-tensor-%ld", (long)getpid());
    unlink(report_path);
    setenv("GRIDDEP_EMULATOR_CHECK", "all", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", report_path, 1);
    setenv("GRIDDEP_EMULATOR_SCHEDULE", schedule, 1);
    setenv("GRIDDEP_EMULATOR_STEPS", "5000000", 1);
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
    unlink(report_path);
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

enum { M = 128, N = 128, K = 512, TILE = 64, STAGES = 4, STAGE_BYTES = 16384, SHARED = STAGES * STAGE_BYTES + 64 };

/* c = a * b^T, a tile of 64 by 64 a CTA. Warp 4 fetches, warps 0 to 3 multiply; a stage is free again when the product behind it has read it, which
 * one thread of the warpgroup tells. Lines with a mark behind "//" can be taken away. */
static const char product[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n\n.extern .shared .align 1024 .b8 ring[];\n\n"
    ".visible .entry k(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 c)\n{\n"
    "    .reg .b64 %map_a, %map_b, %c, %at, %da, %db, %d<4>;\n    .reg .f32 %s<32>;\n    .reg .pred %p, %q, %first;\n"
    "    .reg .b32 %t, %warp, %lane, %ring, %bar, %i, %stage, %place, %parity, %row, %column, %k, %x, %y;\n\n"
    "    mov.b64 %map_a, a;\n    cvta.param.u64 %map_a, %map_a;\n    mov.b64 %map_b, b;\n"
    "    cvta.param.u64 %map_b, %map_b;\n    ld.param.u64 %c, [c];\n    mov.u32 %t, %tid.x;\n"
    "    shr.u32 %warp, %t, 5;\n    and.b32 %lane, %t, 31;\n    mov.u32 %ring, ring;\n    add.u32 %bar, %ring, 65536;\n"
    "    mov.u32 %x, %ctaid.x;\n    mov.u32 %y, %ctaid.y;\n    shl.b32 %x, %x, 6;\n    shl.b32 %y, %y, 6;\n"
    "    setp.ne.u32 %p, %t, 0;\n    @%p bra ready;\n"
    "    prefetch.tensormap [%map_a];\n"
    "    mbarrier.init.shared.b64 [%bar], 1;\n    mbarrier.init.shared.b64 [%bar+8], 1;\n"
    "    mbarrier.init.shared.b64 [%bar+16], 1;\n    mbarrier.init.shared.b64 [%bar+24], 1;\n"
    "    mbarrier.init.shared.b64 [%bar+32], 1;\n    mbarrier.init.shared.b64 [%bar+40], 1;\n"
    "    mbarrier.init.shared.b64 [%bar+48], 1;\n    mbarrier.init.shared.b64 [%bar+56], 1;\n"
    "    fence.mbarrier_init.release.cluster;\n"
    "ready:\n    bar.sync 0;\n    mov.u32 %i, 0;\n    setp.ne.u32 %p, %warp, 4;\n    @%p bra multiply;\n"
    /* the one that fetches */
    "    setmaxnreg.dec.sync.aligned.u32 40;\n    elect.sync _|%p, 0xffffffff;\n    @!%p bra over;\n"
    "fetch:\n    and.b32 %stage, %i, 3;\n    mad.lo.u32 %place, %stage, 8, %bar;\n    shr.u32 %parity, %i, 2;\n"
    "    and.b32 %parity, %parity, 1;\n    xor.b32 %parity, %parity, 1;\n"
    "empty:\n"
    "    mbarrier.try_wait.parity.shared.b64 %p, [%place+32], %parity; // EMPTY\n"
    "    @!%p bra empty; // EMPTY\n"
    "    mbarrier.arrive.expect_tx.shared.b64 _, [%place], 16384;\n    mad.lo.u32 %row, %stage, 16384, %ring;\n"
    "    shl.b32 %k, %i, 6;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[%row], [%map_a, {%k, %y}], [%place];\n    add.u32 %row, %row, 8192;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%row], [%map_b, {%k, %x}], [%place];\n"
    "    add.u32 %i, %i, 1;\n    setp.lt.u32 %p, %i, 8;\n    @%p bra fetch;\n    bra over;\n"
    /* those that multiply */
    "multiply:\n    setmaxnreg.inc.sync.aligned.u32 160;\n    setp.eq.u32 %first, %t, 0;\n    setp.ne.u32 %q, 0, 0;\n"
    "next:\n    and.b32 %stage, %i, 3;\n    mad.lo.u32 %place, %stage, 8, %bar;\n    shr.u32 %parity, %i, 2;\n"
    "    and.b32 %parity, %parity, 1;\n"
    "full:\n"
    "    mbarrier.try_wait.parity.shared.b64 %p, [%place], %parity; // FULL\n    @!%p bra full; // FULL\n"
    "    mad.lo.u32 %row, %stage, 16384, %ring;\n    and.b32 %row, %row, 0x3ffff;\n    shr.u32 %row, %row, 4;\n"
    "    cvt.u64.u32 %da, %row;\n    or.b64 %da, %da, DESCRIPTOR;\n    add.u64 %db, %da, 512;\n"
    "    wgmma.fence.sync.aligned;\n"
    "    MULTIPLY\n    add.u64 %da, %da, 2;\n    add.u64 %db, %db, 2;\n    MULTIPLY\n    add.u64 %da, %da, 2;\n"
    "    add.u64 %db, %db, 2;\n    MULTIPLY\n    add.u64 %da, %da, 2;\n    add.u64 %db, %db, 2;\n    MULTIPLY\n"
    "    wgmma.commit_group.sync.aligned;\n"
    "    wgmma.wait_group.sync.aligned 1; // WAIT\n"
    "    setp.eq.u32 %p, %i, 0;\n    @%p bra started;\n    add.u32 %stage, %stage, 3;\n    and.b32 %stage, %stage, 3;\n"
    "    mad.lo.u32 %place, %stage, 8, %bar;\n"
    "    @%first mbarrier.arrive.shared.b64 _, [%place+32];\n"
    "started:\n    add.u32 %i, %i, 1;\n    setp.lt.u32 %p, %i, 8;\n    @%p bra next;\n"
    "    wgmma.wait_group.sync.aligned 0;\n"
    "    shr.u32 %row, %lane, 2;\n    mad.lo.u32 %row, %warp, 16, %row;\n    add.u32 %row, %row, %y;\n"
    "    and.b32 %column, %lane, 3;\n    mad.lo.u32 %column, %column, 2, %x;\n    mad.lo.u32 %row, %row, 128, %column;\n"
    "    mul.wide.u32 %at, %row, 4;\n    add.u64 %at, %at, %c;\n    STORE\n"
    "over:\n    ret;\n}\n";

static void append(char *text, size_t capacity, const char *format, unsigned a, unsigned b, unsigned c)
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
    snprintf(multiply, sizeof multiply,
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

    ck_good(cuTensorMapEncodeTiled(map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)(uintptr_t)address, sizes, strides,
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
    ck_good(cuFuncSetAttribute(function, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED));
    ck_good(cuLaunchKernel(function, N / TILE, M / TILE, 1, 160, 1, 1, SHARED, NULL, parameters, NULL));
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

START_TEST(a_correct_product_is_right_and_quiet)
{
    begin(schedules[_i]);
    ck_assert_uint_eq(run_product(write_product(NULL, DESCRIPTOR_128)), 0);
    ck_assert_str_eq(get_report(), "");
}
END_TEST

static const struct {
    const char *mark, *first, *second; /* what the two accesses of a finding are */
} mutations[] = {
    {"// FULL", "wgmma.mma_async", "cp.async.bulk.tensor"},
    {"// EMPTY", "cp.async.bulk.tensor", "cp.async.bulk.tensor"},
    {"// WAIT", "wgmma.mma_async", "cp.async.bulk.tensor"},
};

START_TEST(a_product_without_a_wait_is_found)
{
    begin("eager");
    run_product(write_product(mutations[_i].mark, DESCRIPTOR_128));
    const char *report = get_report();
    ck_assert_msg(strstr(report, "\"kind\":\"shared-race\"") && strstr(report, mutations[_i].first) &&
                      strstr(report, mutations[_i].second),
                  "%s: %s", mutations[_i].mark, report);
}
END_TEST

/* Swizzles of 64 and 32 bytes, none, and the right one with groups of rows at a wrong distance. */
START_TEST(a_product_with_a_wrong_layout_is_wrong)
{
    static const char *const descriptors[] = {"0x8000004000010000", "0xc000004000010000", "0x0000004000010000",
                                              "0x4000002000010000"};

    begin("eager");
    ck_assert_uint_gt(run_product(write_product(NULL, descriptors[_i])), M * N / 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tcase = tcase_create("tensor");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_correct_product_is_right_and_quiet, 0, 5);
    tcase_add_loop_test(tcase, a_product_without_a_wait_is_found, 0, 3);
    tcase_add_loop_test(tcase, a_product_with_a_wrong_layout_is_wrong, 0, 4);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
