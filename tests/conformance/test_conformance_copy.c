/* Asynchronous copies, mbarriers and matrices. */
#include "conformance.h"

enum { LANES = 32 };

#define BEGIN                                                                                      \
    ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param "     \
    ".u64 out)\n{\n"                                                                               \
    "    .shared .align 128 .b8 room[2048];\n    .shared .align 8 .b8 bars[16];\n"                 \
    "    .reg .b64 %in, %out, %from, %to, %d<8>;\n    .reg .b32 %t, %room, %bar, %r<32>;\n    "    \
    ".reg .pred %p<8>;\n"                                                                          \
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %t, %tid.x;\n    "    \
    "mov.u32 %room, room;\n"                                                                       \
    "    mov.u32 %bar, bars;\n    setp.eq.u32 %p0, %t, 0;\n"
#define END "    ret;\n}\n"

/* Runs a kernel over `words` words of input, in one CTA, and gives back as many of output. */
static void run_words(const char *text, unsigned block, const void *input, void *output,
                      size_t bytes)
{
    gd_CUmodule module = load(text);
    gd_CUdeviceptr in = allocate_with(input, bytes), out = allocate(bytes);

    run_two(function_of(module, "k"), 1, block, in, out);
    read_back(output, out, bytes);
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

static void fill_words(uint32_t *words, size_t count)
{
    uint64_t random = 9;

    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)next_random(&random);
}

static void check_words(const char *what, const uint32_t *got, const uint32_t *expected,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(got[i] == expected[i], "%s: word %zu is 0x%x, expected 0x%x", what, i, got[i],
                      expected[i]);
}

/* ---- cp.async ---- */

TEST_GROUP(copy, setup_context, teardown_context);

/* 16 bytes whole, 16 of which 8 are taken, and 4 bytes; in two groups, the first of which is waited
 * for alone. */
TEST(copy, small_copies)
{
    static const char text[] = BEGIN
        "    shl.b32 %r0, %t, 4;\n    add.u32 %r1, %room, %r0;\n    cvt.u64.u32 %d0, %r0;\n    "
        "add.u64 %from, %in, "
        "%d0;\n"
        "    cp.async.cg.shared.global [%r1], [%from], 16;\n    cp.async.commit_group;\n"
        "    cp.async.ca.shared.global [%r1+512], [%from], 8, 4;\n    cp.async.ca.shared.global "
        "[%r1+520], [%from+8], "
        "4;\n"
        "    cp.async.commit_group;\n    cp.async.wait_group 1;\n    ld.shared.v4.u32 {%r2, %r3, "
        "%r4, %r5}, [%r1];\n"
        "    cp.async.wait_all;\n    ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r1+512];\n"
        "    add.u64 %to, %out, %d0;\n    st.global.v4.u32 [%to], {%r2, %r3, %r4, %r5};\n"
        "    st.global.v2.u32 [%to+512], {%r6, %r7};\n    st.global.u32 [%to+520], %r8;\n" END;
    uint32_t in[256], out[256], expected[256] = {0};

    fill_words(in, 256);
    for (uint32_t i = 0; i < 128; i++) {
        expected[i] = in[i];
        if (i % 4 != 1 && i % 4 != 3)
            expected[128 + i] = in[i];
    }
    run_words(text, LANES, in, out, sizeof in);
    check_words("cp.async", out, expected, 256);
}

/* The copies of all threads arrive at a barrier. */
TEST(copy, copies_arrive)
{
    static const char text[] =
        BEGIN "    @%p0 mbarrier.init.shared.b64 [%bar], 32;\n    bar.sync 0;\n    shl.b32 %r0, "
              "%t, 4;\n    add.u32 %r1, "
              "%room, %r0;\n"
              "    cvt.u64.u32 %d0, %r0;\n    add.u64 %from, %in, %d0;\n    "
              "cp.async.cg.shared.global [%r1], [%from], 16;\n"
              "    cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\nwait:\n"
              "    mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 0;\n    @!%p1 bra wait;\n    "
              "xor.b32 %r1, %r1, 16;\n"
              "    ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];\n    add.u64 %to, %out, %d0;\n"
              "    st.global.v4.u32 [%to], {%r2, %r3, %r4, %r5};\n" END;
    uint32_t in[128], out[128], expected[128];

    fill_words(in, 128);
    for (uint32_t i = 0; i < 128; i++)
        expected[i] = in[i ^ 4];
    run_words(text, LANES, in, out, sizeof in);
    check_words("cp.async.mbarrier.arrive", out, expected, 128);
}

/* ---- cp.async.bulk ---- */

TEST(copy, bulk_copies)
{
    static const char text[] =
        BEGIN "    @%p0 mbarrier.init.shared::cta.b64 [%bar], 1;\n    "
              "fence.mbarrier_init.release.cluster;\n    bar.sync 0;\n"
              "    @!%p0 bra wait;\n    cp.async.bulk.prefetch.L2.global [%in], 1024;\n    "
              "fence.proxy.async;\n"
              "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 1024;\n"
              "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%room], "
              "[%in], 1024, [%bar];\nwait:\n"
              "    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0;\n    @!%p1 bra wait;\n "
              "   mad.lo.u32 %r1, %t, 4, "
              "%room;\n"
              "    ld.shared.u32 %r2, [%r1];\n    add.u32 %r2, %r2, 1;\n    st.shared.u32 [%r1], "
              "%r2;\n    "
              "fence.proxy.async;\n"
              "    membar.proxy.alias;\n    bar.sync 0;\n    @!%p0 bra done;\n"
              "    cp.async.bulk.global.shared::cta.bulk_group [%out], [%room], 1024;\n    "
              "cp.async.bulk.commit_group;\n"
              "    cp.async.bulk.wait_group 0;\ndone:\n" END;
    uint32_t in[256], out[256], expected[256];

    fill_words(in, 256);
    for (uint32_t i = 0; i < 256; i++)
        expected[i] = in[i] + 1;
    run_words(text, 256, in, out, sizeof in);
    check_words("cp.async.bulk", out, expected, 256);
}

/* What is there already, 0, and the numbers of the threads, twice. */
TEST(copy, bulk_reductions)
{
    static const char text[] = BEGIN
        "    mad.lo.u32 %r1, %t, 4, %room;\n    st.shared.u32 [%r1], %t;\n    fence.proxy.async;\n "
        "   bar.sync 0;\n"
        "    @!%p0 bra done;\n    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
        "[%out], [%room], 128;\n"
        "    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%room], 128;\n"
        "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\ndone:\n" END;
    uint32_t in[LANES] = {0}, out[LANES], expected[LANES];

    for (uint32_t i = 0; i < LANES; i++)
        expected[i] = 2 * i;
    run_words(text, LANES, in, out, sizeof in);
    check_words("cp.reduce.async.bulk", out, expected, LANES);
}

/* ---- mbarriers ---- */

/* One thread takes a barrier of three arrivals and sixteen bytes through two phases. */
TEST(copy, phases)
{
    static const char text[] = BEGIN
        "    mbarrier.init.shared.b64 [%bar], 3;\n    mbarrier.arrive.shared.b64 %d0, [%bar];\n"
        "    mbarrier.pending_count.b64 %r0, %d0;\n    mbarrier.test_wait.shared.b64 %p1, [%bar], "
        "%d0;\n"
        "    mbarrier.arrive_drop.shared.b64 %d1, [%bar];\n    "
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
        "[%bar], 16;\n"
        "    mbarrier.arrive.shared.b64 %d2, [%bar];\n    mbarrier.test_wait.shared.b64 %p2, "
        "[%bar], %d0;\n"
        "    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 16;\n"
        "    mbarrier.test_wait.shared.b64 %p3, [%bar], %d0;\n    "
        "mbarrier.test_wait.parity.shared.b64 %p4, "
        "[%bar], 0;\n"
        "    mbarrier.arrive.shared.b64 %d3, [%bar], 1;\n    mbarrier.pending_count.b64 %r1, %d3;\n"
        "    mbarrier.arrive.shared.b64 %d3, [%bar];\n    mbarrier.test_wait.parity.shared.b64 "
        "%p5, [%bar], 1;\n"
        "    mbarrier.inval.shared.b64 [%bar];\n    selp.u32 %r2, 1, 0, %p1;\n    selp.u32 %r3, 1, "
        "0, %p2;\n"
        "    selp.u32 %r4, 1, 0, %p3;\n    selp.u32 %r5, 1, 0, %p4;\n    selp.u32 %r6, 1, 0, %p5;\n"
        "    st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\n    st.global.v2.u32 [%out+16], {%r4, "
        "%r5};\n"
        "    st.global.u32 [%out+24], %r6;\n" END;
    /* pending: what the state before the arrival counts */
    const uint32_t in[7] = {0}, expected[7] = {3, 2, 0, 0, 1, 1, 1};
    uint32_t out[7];

    run_words(text, 1, in, out, sizeof in);
    check_words("mbarrier", out, expected, 7);
}

/* ---- matrices ---- */

static uint16_t element(const uint16_t *matrix, uint32_t row, uint32_t column)
{
    return matrix[row * 8 + column];
}

static uint32_t two_of(const uint16_t *matrix, uint32_t lane, bool transposed)
{
    uint32_t row = lane / 4, column = lane % 4 * 2;

    if (transposed)
        return element(matrix, column, row) | (uint32_t)element(matrix, column + 1, row) << 16;
    return element(matrix, row, column) | (uint32_t)element(matrix, row, column + 1) << 16;
}

/* Four matrices of 8 by 8: loaded, loaded transposed, one transposed in registers, and stored
 * elsewhere. */
TEST(copy, matrix_moves)
{
    enum { WORDS = 13 };
    static const char text[] =
        BEGIN "    shl.b32 %r0, %t, 4;\n    add.u32 %r1, %room, %r0;\n    cvt.u64.u32 %d0, %r0;\n  "
              "  add.u64 %from, %in, "
              "%d0;\n"
              "    ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%from];\n    st.shared.v4.u32 [%r1], "
              "{%r2, %r3, %r4, %r5};\n"
              "    bar.sync 0;\n    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, "
              "[%r1];\n"
              "    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r6, %r7, %r8, %r9}, [%r1];\n"
              "    movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r2;\n"
              "    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1+1024], {%r2, %r3, %r4, %r5};\n    "
              "bar.sync 0;\n"
              "    ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r1+1024];\n    mul.lo.u32 %r15, "
              "%t, 52;\n    cvt.u64.u32 "
              "%d1, %r15;\n"
              "    add.u64 %to, %out, %d1;\n    st.global.u32 [%to], %r2;\n    st.global.u32 "
              "[%to+4], %r3;\n"
              "    st.global.u32 [%to+8], %r4;\n    st.global.u32 [%to+12], %r5;\n    "
              "st.global.u32 [%to+16], %r6;\n"
              "    st.global.u32 [%to+20], %r7;\n    st.global.u32 [%to+24], %r8;\n    "
              "st.global.u32 [%to+28], %r9;\n"
              "    st.global.u32 [%to+32], %r10;\n    st.global.u32 [%to+36], %r11;\n    "
              "st.global.u32 [%to+40], %r12;\n"
              "    st.global.u32 [%to+44], %r13;\n    st.global.u32 [%to+48], %r14;\n" END;
    uint32_t in[LANES * WORDS], out[LANES * WORDS], expected[LANES * WORDS];
    uint16_t matrices[4][64];

    fill_words(in, COUNT_OF(in));
    memcpy(matrices, in, sizeof matrices);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t *line = expected + (size_t)lane * WORDS;
        for (int i = 0; i < 4; i++) {
            line[i] = two_of(matrices[i], lane, false);
            line[4 + i] = two_of(matrices[i], lane, true);
            line[9 + i] = in[lane * 4 + (uint32_t)i];
        }
        line[8] = two_of(matrices[0], lane, true);
    }
    run_words(text, LANES, in, out, sizeof in);
    check_words("ldmatrix", out, expected, COUNT_OF(out));
}

/* Whole numbers from -8 to 7, which every form holds and adds without rounding. */
static int small_number(uint64_t *random)
{
    return (int)(next_random(random) % 16) - 8;
}

static uint32_t half_of(int number)
{
    float value = (float)number;
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return number ? (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 0x3ff)
                  : 0;
}

static uint32_t brain_of(int number)
{
    float value = (float)number;
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits >> 16;
}

static uint32_t byte_of(int number)
{
    return (uint32_t)number & 255;
}

/* A form whose registers hold `each` numbers: m16n8, PTX ISA 9.7.15.5. */
static const struct product {
    const char *instruction;
    uint32_t k, each, bits;
    uint32_t (*encode)(int number);
    bool whole; /* the result is s32, else f32 */
} products[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 2, 16, half_of, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, 16, brain_of, false},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 32, 4, 8, byte_of, true},
};

enum { M = 16, COLUMNS = 8, MOST_K = 32 };

/* Register `index` of A in a lane: rows by 8, then halves of K. */
static uint32_t pack_a(const struct product *form, int a[M][MOST_K], uint32_t lane, uint32_t index)
{
    uint32_t row = lane / 4 + 8 * (index & 1),
             column = lane % 4 * form->each + (index >> 1) * form->k / 2, word = 0;

    for (uint32_t i = 0; i < form->each; i++)
        word |= form->encode(a[row][column + i]) << i * form->bits;
    return word;
}

static uint32_t pack_b(const struct product *form, int b[MOST_K][COLUMNS], uint32_t lane,
                       uint32_t index)
{
    uint32_t column = lane / 4, row = lane % 4 * form->each + index * form->k / 2, word = 0;

    for (uint32_t i = 0; i < form->each; i++)
        word |= form->encode(b[row + i][column]) << i * form->bits;
    return word;
}

static uint32_t result_bits(const struct product *form, int sum)
{
    float value = (float)sum;
    uint32_t bits = (uint32_t)sum;

    if (!form->whole)
        memcpy(&bits, &value, sizeof bits);
    return bits;
}

LOOP_TEST(copy, matrix_products, COUNT_OF(products))
{
    const struct product *form = &products[_i];
    uint32_t in[LANES * 12] = {0}, out[LANES * 12], expected[LANES * 4];
    int a[M][MOST_K], b[MOST_K][COLUMNS], c[M][COLUMNS];
    uint64_t random = 5;
    char text[4096];

    for (int i = 0; i < M * MOST_K; i++)
        a[i / MOST_K][i % MOST_K] = small_number(&random);
    for (int i = 0; i < MOST_K * COLUMNS; i++)
        b[i / COLUMNS][i % COLUMNS] = small_number(&random);
    for (int i = 0; i < M * COLUMNS; i++)
        c[i / COLUMNS][i % COLUMNS] = small_number(&random);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t row = lane / 4 + 8 * (i >> 1), column = lane % 4 * 2 + (i & 1);
            int sum = c[row][column];
            for (uint32_t k = 0; k < form->k; k++)
                sum += a[row][k] * b[k][column];
            in[lane * 12 + i] = pack_a(form, a, lane, i);
            if (i < 2)
                in[lane * 12 + 4 + i] = pack_b(form, b, lane, i);
            in[lane * 12 + 8 + i] = result_bits(form, c[row][column]);
            expected[lane * 4 + i] = result_bits(form, sum);
        }
    }
    snprintf(
        text, sizeof text,
        "%s    mul.wide.u32 %%d0, %%t, 48;\n    add.u64 %%from, %%in, %%d0;\n    mul.wide.u32 "
        "%%d1, %%t, 16;\n"
        "    add.u64 %%to, %%out, %%d1;\n    ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%from];\n"
        "    ld.global.v2.u32 {%%r4, %%r5}, [%%from+16];\n    ld.global.v4.u32 {%%r8, %%r9, %%r10, "
        "%%r11}, "
        "[%%from+32];\n"
        "    %s {%%r8, %%r9, %%r10, %%r11}, {%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, {%%r8, %%r9, "
        "%%r10, %%r11};\n"
        "    st.global.v4.u32 [%%to], {%%r8, %%r9, %%r10, %%r11};\n%s",
        BEGIN, form->instruction, END);
    run_words(text, LANES, in, out, sizeof in);
    check_words(form->instruction, out, expected, COUNT_OF(expected));
}

SUITE(copy, "copy")
