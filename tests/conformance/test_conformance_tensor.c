/* Tensor maps, copies of boxes of tensors, and matrix products of a warpgroup. The kernels are for
 * sm_90a alone. */
#include "conformance.h"

enum { ROWS = 24, COLUMNS = 96, BOX_ROWS = 16, BOX_COLUMNS = 32, THREADS = 128 };

#define PTX_TENSOR ".version 8.0\n.target sm_90a\n.address_size 64\n"

/* ---- tensor maps ---- */

typedef struct encoding {
    int type, rank, interleave, swizzle, promotion, fill;
    uint64_t address, sizes[5], strides[4];
    uint32_t box[5], steps[5];
} encoding;

static gd_CUresult encode(gd_CUtensorMap *map, const encoding *e)
{
    return CALL(cuTensorMapEncodeTiled,
                (map, e->type, (uint32_t)e->rank, (void *)(uintptr_t)e->address, e->sizes,
                 e->strides, e->box, e->steps, e->interleave, e->swizzle, e->promotion, e->fill));
}

static const encoding good_maps[] = {
    {.type = GD_CU_TENSOR_MAP_DATA_TYPE_UINT16,
     .rank = 2,
     .swizzle = GD_CU_TENSOR_MAP_SWIZZLE_128B,
     .address = 0x700000010000,
     .sizes = {256, 64},
     .strides = {512},
     .box = {64, 32},
     .steps = {1, 1}},
    {.type = GD_CU_TENSOR_MAP_DATA_TYPE_UINT8,
     .rank = 1,
     .address = 4096,
     .sizes = {1000},
     .box = {256},
     .steps = {1}},
    {.type = GD_CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
     .rank = 5,
     .address = 4096,
     .sizes = {64, 3, 4, 5, 6},
     .strides = {512, 1536, 6144, 30720},
     .box = {2, 3, 1, 1, 1},
     .steps = {1, 2, 8, 1, 1},
     .fill = GD_CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
     .promotion = GD_CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
};

TEST_GROUP(tensor, setup_context, teardown_context);
TEST_GROUP(ends, setup_context, NULL);

LOOP_TEST(tensor, tensor_maps_are_encoded, COUNT_OF(good_maps))
{
    gd_CUtensorMap map;

    driver_good(ENTRY_cuTensorMapEncodeTiled, encode(&map, &good_maps[_i]), "a map that is right",
                __FILE__, __LINE__);
}

/* The first of them but for one field. */
#define FIELD(name) offsetof(encoding, name), sizeof(((encoding *)0)->name)

static const struct {
    const char *name;
    size_t offset, bytes;
    uint64_t value;
} bad_maps[] = {
    {"a type that there is not", FIELD(type), 16},
    {"no dimension", FIELD(rank), 0},
    {"six dimensions", FIELD(rank), 6},
    {"an address that is no multiple of 16", FIELD(address), 0x700000010008},
    {"a size of 0", FIELD(sizes[1]), 0},
    {"a size above 2^32", FIELD(sizes[1]), (UINT64_C(1) << 32) + 1},
    {"a stride that is no multiple of 16", FIELD(strides[0]), 520},
    {"a stride of 2^40", FIELD(strides[0]), UINT64_C(1) << 40},
    {"a box of 0", FIELD(box[1]), 0},
    {"a box of 257", FIELD(box[1]), 257},
    {"a box whose rows are no multiple of 16 bytes", FIELD(box[0]), 60},
    {"a box wider than the swizzle", FIELD(box[0]), 72},
    {"a step of 0", FIELD(steps[1]), 0},
    {"a step of 9", FIELD(steps[1]), 9},
    {"a swizzle that there is not", FIELD(swizzle), 7},
    {"an interleave that there is not", FIELD(interleave), 3},
    {"a promotion that there is not", FIELD(promotion), 4},
    {"a fill that there is not", FIELD(fill), 2},
    {"a NaN as fill for integers", FIELD(fill),
     GD_CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA},
};

LOOP_TEST(tensor, tensor_maps_are_refused, COUNT_OF(bad_maps))
{
    encoding bad = good_maps[0];
    gd_CUtensorMap map;

    memcpy((unsigned char *)&bad + bad_maps[_i].offset, &bad_maps[_i].value, bad_maps[_i].bytes);
    driver_bad(ENTRY_cuTensorMapEncodeTiled, encode(&map, &bad), GD_CUDA_ERROR_INVALID_VALUE,
               bad_maps[_i].name, __FILE__, __LINE__);
}

TEST(tensor, tensor_maps_for_convolutions)
{
    const uint64_t sizes[] = {64, 28, 28, 8}, strides[] = {128, 3584, 100352};
    const int lower[] = {-1, -1}, upper[] = {1, 1}, far[] = {-129, -1};
    const uint32_t steps[] = {1, 1, 1, 1};
    gd_CUtensorMap map;

    good(cuTensorMapEncodeIm2col,
         (&map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)0x700000010000, sizes, strides,
          lower, upper, 64, 128, steps, 0, GD_CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
    bad(ERROR_INVALID_VALUE, cuTensorMapEncodeIm2col,
        (&map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)0x700000010000, sizes, strides,
         lower, upper, 64, 128, steps, 0, GD_CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
    bad(ERROR_INVALID_VALUE, cuTensorMapEncodeIm2col,
        (&map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)0x700000010000, sizes, strides, far,
         upper, 64, 128, steps, 0, GD_CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
    bad(ERROR_INVALID_VALUE, cuTensorMapEncodeIm2col,
        (&map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)0x700000010000, sizes, strides,
         lower, upper, 257, 128, steps, 0, GD_CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
}

/* Each limit of a map of rank 4 for convolutions, of 2-byte elements in 28 x 28 pixels: at it, and
 * beyond it. */
TEST(tensor, convolutions_at_their_limits)
{
    static const struct {
        uint32_t channels, pixels;
        int lower, upper;
        bool fits;
    } rows[] = {{256, 1, 0, 0, true},    {264, 1, 0, 0, false},  {8, 1024, 0, 0, true},
                {8, 1025, 0, 0, false},  {8, 0, 0, 0, false},    {0, 8, 0, 0, false},
                {8, 1, 0, 0, true},      {4, 1, 0, 0, false},    {256, 456, 0, 0, true},
                {256, 457, 0, 0, false}, /* 233472 bytes are what an SM has */
                {8, 1, -128, 0, true},   {8, 1, -129, 0, false}, {8, 1, 0, 127, true},
                {8, 1, 0, 128, false},   {8, 1, 27, 0, true},    {8, 1, 28, 0, false},
                {8, 1, 29, 0, false},    {8, 1, 0, -27, true},   {8, 1, 0, -28, false}};
    const uint64_t sizes[] = {512, 28, 28, 8}, strides[] = {1024, 28672, 802816};
    const uint32_t steps[] = {1, 1, 1, 1};
    gd_CUtensorMap map;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int at = 0; at < 2; at++) {
            int lower[2] = {0}, upper[2] = {0};
            lower[at] = rows[i].lower;
            upper[at] = rows[i].upper;
            const gd_CUresult wanted = rows[i].fits ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
            const gd_CUresult got =
                raw(cuTensorMapEncodeIm2col,
                    (&map, GD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)0x700000010000, sizes,
                     strides, lower, upper, rows[i].channels, rows[i].pixels, steps, 0, 0, 0, 0));
            char message[64];
            snprintf(message, sizeof message, "row %zu, dimension %d: %d", i, at, (int)got);
            if (got != wanted)
                driver_differs(message, __FILE__, __LINE__);
        }
    }
}

/* ---- copies ---- */

/* 32-bit words of a type, of which the rows have so many; the box is 32 of them wide, which the
 * swizzle of 128 bytes spans. */
static void encode_words(gd_CUtensorMap *map, gd_CUdeviceptr address, int type, uint32_t columns)
{
    const bool integers = type == GD_CU_TENSOR_MAP_DATA_TYPE_UINT32;
    const encoding words = {.type = type,
                            .fill =
                                integers ? 0 : GD_CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
                            .rank = 2,
                            .swizzle = GD_CU_TENSOR_MAP_SWIZZLE_128B,
                            .address = address,
                            .sizes = {columns, ROWS},
                            .strides = {COLUMNS * 4},
                            .box = {BOX_COLUMNS, BOX_ROWS},
                            .steps = {1, 1}};

    driver_good(ENTRY_cuTensorMapEncodeTiled, encode(map, &words), "words", __FILE__, __LINE__);
}

/* Shared memory is filled with words from `in` before the copy, and goes to `out` after it. %p:
 * this thread copies. */
#define COPY_BEGIN                                                                                 \
    PTX_TENSOR                                                                                     \
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out)\n{\n"       \
    "    .shared .align 1024 .b8 box[2048];\n    .shared .align 8 .b64 bar;\n    .reg .b64 %map, " \
    "%in, "                                                                                        \
    "%out, %rd0;\n    .reg .b32 %t, %r<8>, %box, %bar;\n    .reg .pred %p, %q;\n    mov.b64 "      \
    "%map, map;\n"                                                                                 \
    "    cvta.param.u64 %map, %map;\n    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n" \
    "    mov.u32 %box, box;\n    mov.u32 %bar, bar;\n    mov.u32 %t, %tid.x;\n"                    \
    "    setp.eq.u32 %p, %t, 0;\n    mad.lo.u32 %r0, %t, 16, %box;\n    mul.wide.u32 %rd0, %t, "   \
    "16;\n"                                                                                        \
    "    add.u64 %in, %in, %rd0;\n    add.u64 %out, %out, %rd0;\n"                                 \
    "    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];\n    st.shared.v4.u32 [%r0], {%r1, %r2, "   \
    "%r3, %r4};\n"                                                                                 \
    "    @%p mbarrier.init.shared.b64 [%bar], 1;\n    fence.proxy.async;\n    bar.sync 0;\n"
#define COPY_END                                                                                   \
    "    bar.sync 0;\n    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];\n"                         \
    "    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\n    ret;\n}\n"

static const char load_kernel[] = COPY_BEGIN
    "    @%p prefetch.tensormap [%map];\n"
    "    @%p cp.async.bulk.prefetch.tensor.2d.L2.global [%map, {72, -3}];\n"
    "    @%p mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 2048;\n"
    "    @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[%box], "
    "[%map, {72, -3}], [%bar];\n"
    "again:\n    mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0;\n    @!%q bra "
    "again;\n" COPY_END;

static const char store_kernel[] = COPY_BEGIN
    "    @%p cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {72, 3}], [%box];\n"
    "    @%p cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%map, {8, 12}], "
    "[%box];\n"
    "    @%p cp.async.bulk.commit_group;\n    @%p cp.async.bulk.wait_group 0;\n" COPY_END;

/* Where a word of the box lies: chunks of 16 bytes change places within their row by the row's
 * number. */
static uint32_t place_of(uint32_t row, uint32_t column)
{
    return row * BOX_COLUMNS + ((column / 4) ^ (row % 8)) * 4 + column % 4;
}

typedef struct copied {
    uint32_t tensor[ROWS * COLUMNS], box[BOX_ROWS * BOX_COLUMNS], tensor_after[ROWS * COLUMNS],
        box_after[BOX_ROWS * BOX_COLUMNS];
} copied;

/* Infinities, NaNs, the greatest numbers, denormals, ties between tf32 numbers; in the columns that
 * are copied. */
static const uint32_t specials[] = {0x7f800000, 0xff800000, 0x7f800001, 0xff9772df, 0x7fffffff,
                                    0x7f7fffff, 0xff7fffff, 0x003dd6d4, 0x803dd6d4, 0x00001000,
                                    0x00000fff, 0x3f801000, 0x3f803000, 0xbf801000, 0x007ff800,
                                    0x00000001, 0x80000001, 0x00800000, 0x7fc01000};

static void run_copy(const char *text, int type, uint32_t columns, copied *all)
{
    gd_CUtensorMap map;
    gd_CUmodule module = load(text);

    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        all->tensor[i] = i % COLUMNS >= 72 ? specials[i % COUNT_OF(specials)] : 0x10000 + i;
    for (uint32_t i = 0; i < BOX_ROWS * BOX_COLUMNS; i++)
        all->box[i] =
            type == GD_CU_TENSOR_MAP_DATA_TYPE_UINT32 ? 0x1000000 * (1 + i % 7) + i : 0x100000 + i;
    gd_CUdeviceptr tensor = allocate_with(all->tensor, sizeof all->tensor);
    gd_CUdeviceptr in = allocate_with(all->box, sizeof all->box), out = allocate(sizeof all->box);
    encode_words(&map, tensor + 16, type, columns);
    good(cuTensorMapReplaceAddress, (&map, (void *)(uintptr_t)tensor));
    bad(ERROR_INVALID_VALUE, cuTensorMapReplaceAddress, (&map, (void *)(uintptr_t)(tensor + 4)));
    void *parameters[] = {&map, &in, &out};
    run(function_of(module, "k"), 1, THREADS, parameters);
    read_back(all->tensor_after, tensor, sizeof all->tensor);
    read_back(all->box_after, out, sizeof all->box);
    release(tensor);
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

/* What lies outside of the tensor is 0. */
TEST(tensor, boxes_are_loaded)
{
    static copied all;

    run_copy(load_kernel, GD_CU_TENSOR_MAP_DATA_TYPE_UINT32, COLUMNS, &all);
    for (uint32_t row = 0; row < BOX_ROWS; row++) {
        for (uint32_t column = 0; column < BOX_COLUMNS; column++) {
            bool inside = row >= 3 && column + 72 < COLUMNS;
            uint32_t expected = inside ? all.tensor[(row - 3) * COLUMNS + column + 72] : 0;
            uint32_t found = all.box_after[place_of(row, column)];
            ck_assert_msg(found == expected, "row %u, column %u: 0x%x, expected 0x%x", row, column,
                          found, expected);
        }
    }
    ck_assert_mem_eq(all.tensor, all.tensor_after, sizeof all.tensor);
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* What a load makes of a word: tf32 is rounded to nearest even. */
static uint32_t converted(int type, uint32_t bits)
{
    if (type < GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32)
        return bits;
    return is_nan(bits) ? 0x7fffe000 : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

static const int float_types[] = {
    GD_CU_TENSOR_MAP_DATA_TYPE_FLOAT32, GD_CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ};

/* What lies outside is a NaN of 16-bit halves 0x7ff7. */
LOOP_TEST(tensor, loads_convert, COUNT_OF(float_types))
{
    static copied all;

    run_copy(load_kernel, float_types[_i], COLUMNS - 2, &all);
    for (uint32_t row = 0; row < BOX_ROWS; row++) {
        for (uint32_t column = 0; column < BOX_COLUMNS; column++) {
            bool inside = row >= 3 && column + 72 < COLUMNS - 2;
            uint32_t word = inside ? all.tensor[(row - 3) * COLUMNS + column + 72] : 0;
            uint32_t expected = inside ? converted(float_types[_i], word) : 0x7ff77ff7;
            uint32_t found = all.box_after[place_of(row, column)];
            ck_assert_msg(found == expected, "word 0x%x of type %d gives 0x%x, expected 0x%x", word,
                          float_types[_i], found, expected);
        }
    }
}

/* Denormals that a reduction adds to denormals: flushed where the type says so. */
LOOP_TEST(tensor, reductions_of_denormals, COUNT_OF(float_types))
{
    static copied all;

    run_copy(store_kernel, float_types[_i], COLUMNS, &all);
    for (uint32_t row = 12; row < ROWS; row++) {
        for (uint32_t column = 8; column < BOX_COLUMNS + 8; column++) {
            uint32_t old = all.tensor[row * COLUMNS + column],
                     found = all.tensor_after[row * COLUMNS + column];
            uint32_t more = all.box[place_of(row - 12, column - 8)];
            bool flushed = float_types[_i] == GD_CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
                           float_types[_i] == GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
            uint32_t expected = flushed ? 0 : old + more;
            ck_assert_msg(found == expected, "0x%x + 0x%x of type %d is 0x%x, expected 0x%x", old,
                          more, float_types[_i], found, expected);
        }
    }
}

/* Chunks of 16 bytes are written whole: here two words behind the end of each row. */
TEST(tensor, stores_write_whole_chunks)
{
    static copied all;

    run_copy(store_kernel, GD_CU_TENSOR_MAP_DATA_TYPE_UINT32, COLUMNS - 6, &all);
    for (uint32_t row = 3; row < BOX_ROWS + 3; row++) {
        for (uint32_t column = 72; column < COLUMNS; column++) {
            uint32_t expected = all.box[place_of(row - 3, column - 72)],
                     found = all.tensor_after[row * COLUMNS + column];
            if (column >= COLUMNS - 4)
                expected = all.tensor[row * COLUMNS + column];
            ck_assert_msg(found == expected, "row %u, column %u: 0x%x, expected 0x%x", row, column,
                          found, expected);
        }
    }
}

/* The first box ends right of the tensor; the second copy adds, and its box ends below the
 * tensor. */
TEST(tensor, boxes_are_stored)
{
    static copied all;

    run_copy(store_kernel, GD_CU_TENSOR_MAP_DATA_TYPE_UINT32, COLUMNS, &all);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t column = 0; column < COLUMNS; column++) {
            uint32_t expected = all.tensor[row * COLUMNS + column],
                     found = all.tensor_after[row * COLUMNS + column];
            if (row >= 3 && row < BOX_ROWS + 3 && column >= 72)
                expected = all.box[place_of(row - 3, column - 72)];
            else if (row >= 12 && column >= 8 && column < BOX_COLUMNS + 8)
                expected += all.box[place_of(row - 12, column - 8)];
            ck_assert_msg(found == expected, "row %u, column %u: 0x%x, expected 0x%x", row, column,
                          found, expected);
        }
    }
}

/* A row that begins at no multiple of 16 bytes, and a store with a negative coordinate, end the
 * context. */
#define ILLEGAL_LOAD                                                                               \
    "    @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "    \
    "[%box], [%map, {1, "                                                                          \
    "0}], "                                                                                        \
    "[%bar];\n"

static const char *const illegal_copies[] = {
    ILLEGAL_LOAD,
    "    @%p cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {3, 0}], [%box];\n",
    "    @%p cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {0, -1}], [%box];\n",
    ("    @%p cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%map, {-32, 0}], "
     "[%box];\n"),
};

LOOP_TEST(ends, illegal_boxes_end_the_context, COUNT_OF(illegal_copies))
{
    char text[8192];
    gd_CUtensorMap map;
    gd_CUdeviceptr memory = allocate(65536);

    snprintf(text, sizeof text,
             "%s%s    @%%p cp.async.bulk.commit_group;\n    @%%p cp.async.bulk.wait_group 0;\n%s",
             COPY_BEGIN, illegal_copies[_i], COPY_END);
    encode_words(&map, memory, GD_CU_TENSOR_MAP_DATA_TYPE_UINT32, COLUMNS);
    void *parameters[] = {&map, &memory, &memory};
    good(cuLaunchKernel,
         (function_of(load(text), "k"), 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
    gd_CUresult result = raw(cuStreamSynchronize, (stream));
    ck_assert_msg(result == GD_CUDA_ERROR_ILLEGAL_INSTRUCTION, "result %d", result);
    teardown_driver();
}

/* Two CTAs of a cluster: each fetches half of the box for both. Rows of the tensor are 32 words
 * long here. */
static const char multicast_kernel[] = PTX_TENSOR
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) .reqnctapercluster 2\n{\n"
    "    .shared .align 1024 .b8 box[2048];\n    .shared .align 8 .b64 bar;\n    .reg .b64 %map, "
    "%out, %at;\n"
    "    .reg .b32 %t, %c, %r<8>, %box, %bar;\n    .reg .b16 %both;\n    .reg .pred %p, %q;\n    "
    "mov.b64 %map, map;\n"
    "    cvta.param.u64 %map, %map;\n    ld.param.u64 %out, [out];\n    mov.u32 %box, box;\n    "
    "mov.u32 %bar, bar;\n"
    "    mov.u32 %t, %tid.x;\n    mov.u32 %c, %cluster_ctarank;\n    setp.eq.u32 %p, %t, 0;\n    "
    "mov.u16 %both, 3;\n"
    "    @%p mbarrier.init.shared.b64 [%bar], 1;\n    @%p fence.mbarrier_init.release.cluster;\n"
    "    @%p mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 2048;\n    barrier.cluster.arrive;\n"
    "    barrier.cluster.wait;\n    mad.lo.u32 %r0, %c, 1024, %box;\n    shl.b32 %r1, %c, 3;\n"
    "    @%p "
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster [%r0], "
    "[%map, {0, %r1}], [%bar], %both;\n"
    "again:\n    mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0;\n    @!%q bra again;\n"
    "    mad.lo.u32 %r0, %t, 16, %box;\n    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];\n"
    "    mad.lo.u32 %r0, %c, 128, %t;\n    mul.wide.u32 %at, %r0, 16;\n    add.u64 %at, %out, "
    "%at;\n"
    "    st.global.v4.u32 [%at], {%r1, %r2, %r3, %r4};\n    barrier.cluster.arrive;\n    "
    "barrier.cluster.wait;\n    "
    "ret;\n}\n";

TEST(tensor, boxes_go_to_several)
{
    const encoding half = {.type = GD_CU_TENSOR_MAP_DATA_TYPE_UINT32,
                           .rank = 2,
                           .swizzle = GD_CU_TENSOR_MAP_SWIZZLE_128B,
                           .sizes = {BOX_COLUMNS, BOX_ROWS},
                           .strides = {BOX_COLUMNS * 4},
                           .box = {BOX_COLUMNS, BOX_ROWS / 2},
                           .steps = {1, 1}};
    uint32_t words[BOX_ROWS * BOX_COLUMNS], found[2][BOX_ROWS * BOX_COLUMNS];
    encoding whole = half;
    gd_CUtensorMap map;
    gd_CUmodule module = load(multicast_kernel);

    for (uint32_t i = 0; i < BOX_ROWS * BOX_COLUMNS; i++)
        words[i] = 0x10000 + i * i;
    gd_CUdeviceptr tensor = allocate_with(words, sizeof words), out = allocate(sizeof found);
    whole.address = tensor;
    driver_good(ENTRY_cuTensorMapEncodeTiled, encode(&map, &whole), "half a box", __FILE__,
                __LINE__);
    void *parameters[] = {&map, &out};
    run(function_of(module, "k"), 2, THREADS, parameters);
    read_back(found, out, sizeof found);
    for (uint32_t i = 0; i < BOX_ROWS * BOX_COLUMNS; i++) {
        uint32_t place = place_of(i / BOX_COLUMNS, i % BOX_COLUMNS);
        ck_assert_msg(found[0][place] == words[i] && found[1][place] == words[i],
                      "word %u: 0x%x and 0x%x, expected 0x%x", i, found[0][place], found[1][place],
                      words[i]);
    }
    release(tensor);
    release(out);
    good(cuModuleUnload, (module));
}

/* ---- products ---- */

/* d = a * b + 1000 where d begins as 1000, with a from shared memory, then from registers. a lies
 * in rows of 32 bytes, chunks of 16 bytes of which change places where bit 7 of the address is set;
 * b without a swizzle, the halves of a row 128 bytes apart. */
static const char product_kernel[] = PTX_TENSOR
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n    .shared .align 1024 .b8 "
    "room[4096];\n"
    "    .reg .b64 %in, %out, %at, %da, %db;\n    .reg .b32 %t, %i, %r<8>, %a<4>;\n    .reg .f32 "
    "%f<4>, %g<4>;\n"
    "    .reg .pred %p;\n    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 "
    "%t, %tid.x;\n"
    "    mov.u32 %i, %t;\n    mov.u32 %r0, room;\n"
    "fill:\n    mul.wide.u32 %at, %i, 4;\n    add.u64 %at, %in, %at;\n    ld.global.u32 %r1, "
    "[%at];\n"
    "    mad.lo.u32 %r2, %i, 4, %r0;\n    st.shared.u32 [%r2], %r1;\n    add.u32 %i, %i, 128;\n"
    "    setp.lt.u32 %p, %i, 1024;\n    @%p bra fill;\n    fence.proxy.async;\n    bar.sync 0;\n"
    "    mul.wide.u32 %at, %t, 16;\n    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;\n"
    "    ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%in+4096];\n"
    "    and.b32 %r0, %r0, 0x3ffff;\n    shr.u32 %r0, %r0, 4;\n    cvt.u64.u32 %da, %r0;\n    "
    "add.u64 %db, %da, 128;\n"
    "    or.b64 %da, %da, 0xc000001000010000;\n    or.b64 %db, %db, 0x0000001000080000;\n    "
    "mov.f32 %f0, 1000.0;\n"
    "    mov.f32 %f1, %f0;\n    mov.f32 %f2, %f0;\n    mov.f32 %f3, %f0;\n    mov.f32 %g0, %f0;\n  "
    "  mov.f32 %g1, "
    "%f0;\n"
    "    mov.f32 %g2, %f0;\n    mov.f32 %g3, %f0;\n    wgmma.fence.sync.aligned;\n"
    "    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %da, %db, 1, 1, "
    "1, 0, 0;\n"
    "    wgmma.commit_group.sync.aligned;\n"
    "    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%g0, %g1, %g2, %g3}, {%a0, %a1, %a2, "
    "%a3}, %db, 0, -1, "
    "1, 0;\n"
    "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 1;\n"
    "    st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};\n    wgmma.wait_group.sync.aligned 0;\n"
    "    st.global.v4.f32 [%out+2048], {%g0, %g1, %g2, %g3};\n    ret;\n}\n";

static uint16_t bfloat(int value)
{
    float number = (float)value;
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static int factor(int a, int row, int k)
{
    return (a ? row * 5 + k * 3 + row * k : row * 7 + k * k) % 11 - 5;
}

/* Halves of the 4096 bytes of shared memory, then four registers of each thread: rows t / 4 and t /
 * 4 + 8 of the warp's 16, two neighbours each. */
static void write_factors(uint16_t *words)
{
    for (int row = 0; row < 64; row++) {
        for (int k = 0; k < 16; k++) {
            int chunk = (k / 8) ^ (row / 4 % 2);
            words[row * 16 + chunk * 8 + k % 8] = bfloat(factor(1, row, k));
        }
    }
    for (int column = 0; column < 8; column++) {
        for (int k = 0; k < 16; k++)
            words[1024 + k / 8 * 64 + column * 8 + k % 8] = bfloat(factor(0, column, k));
    }
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < 8; i++) {
            int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, k = t % 4 * 2 + i % 2 + i / 4 * 8;
            words[2048 + t * 8 + i] = bfloat(factor(1, row, k));
        }
    }
}

TEST(tensor, products_of_a_warpgroup)
{
    static uint16_t words[2048 + THREADS * 8];
    float found[2][THREADS * 4];
    gd_CUmodule module = load(product_kernel);

    write_factors(words);
    gd_CUdeviceptr in = allocate_with(words, sizeof words), out = allocate(sizeof found);
    run_two(function_of(module, "k"), 1, THREADS, in, out);
    read_back(found, out, sizeof found);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < 4; i++) {
            int row = t / 32 * 16 + t % 32 / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2, sum = 0;
            for (int k = 0; k < 16; k++)
                sum += factor(1, row, k) * factor(0, column, k);
            ck_assert_msg(
                found[0][t * 4 + i] == (float)(1000 + sum) && found[1][t * 4 + i] == (float)-sum,
                "row %d, column %d: %g and %g, expected %d and %d", row, column,
                (double)found[0][t * 4 + i], (double)found[1][t * 4 + i], 1000 + sum, -sum);
        }
    }
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

SUITE(tensor, "tensor")
