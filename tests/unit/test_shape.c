/* What griddep_shelf_suggest says for the whole shelf: on each device, for many sizes, it breaks no
 * condition of the kernel and no limit of the device; and the figures that head comments name. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "status.h"
#include "suite.h"

static griddep_error error = {.size = sizeof error};

/* Multiprocessors and shared memory: an H200, an RTX PRO 6000 (sm_120), a small one. */
static const struct device {
    int32_t capability, multiprocessors;
    uint32_t per_multiprocessor, per_block;
} devices[] = {
    {90, 132, 233472, 232448},
    {120, 188, 102400, 101376},
    {100, 148, 233472, 232448},
    {90, 16, 233472, 232448},
};
enum { DEVICES = sizeof devices / sizeof *devices };

static const uint64_t sizes[] = {16, 64, 128, 2048, 4096, 8192, 14336, 128256};
enum { SIZES = sizeof sizes / sizeof *sizes };

static griddep_runtime_info info_of(size_t device)
{
    return (griddep_runtime_info){
        .size = sizeof(griddep_runtime_info),
        .capability = devices[device].capability,
        .multiprocessors = devices[device].multiprocessors,
        .shared_bytes_per_multiprocessor = devices[device].per_multiprocessor,
        .shared_bytes_per_block = devices[device].per_block,
    };
}

/* A value that makes sense for a parameter of that name; what is left over are addresses apart from
 * each other. */
static uint64_t value_of(const char *name, uint32_t index, uint64_t size, uint64_t other)
{
    static const struct {
        const char *name;
        uint64_t value;
    } fixed[] = {
        {"epsilon", 0x3727c5ac},
        {"heads", 4},
        {"kv_heads", 4},
        {"head_dim", 64},
        {"page_size", 16},
        {"table_pitch", 64},
        {"batch", 4},
        {"tokens", 5},
        {"temperature", 0x3f800000},
        {"top_k", 0},
        {"top_p", 0x3f800000},
        {"softmax_scale", 0x3e000000},
        {"factor", 0x3f800000},
        {"pattern", 7},
        {"activation", 0},
        {"scale_rows", 128},
    };

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (!strcmp(name, fixed[i].name))
            return fixed[i].value;
    if (!strcmp(name, "rows") || !strcmp(name, "m") || !strcmp(name, "capacity"))
        return other;
    if (!strcmp(name, "columns") || !strcmp(name, "count") || !strcmp(name, "bytes") ||
        !strcmp(name, "row_bytes") || !strcmp(name, "n") || !strcmp(name, "k"))
        return size;
    return (UINT64_C(1) << 44) + ((uint64_t)index << 38);
}

static bool is_gemm(const char *name)
{
    return !strncmp(name, "gemm_", 5); /* its tensor maps are bytes that no test here makes */
}

static void suggest_one(const griddep_shelf_info *shelf, griddep_ptx *ptx, size_t device,
                        uint64_t size, uint64_t other)
{
    griddep_ptx_entry_info entry = {.size = sizeof entry};
    griddep_argument arguments[16] = {0};
    griddep_launch_config config = {.size = sizeof config, .grid = {4, 2, 1}};
    griddep_runtime_info info = info_of(device);
    static unsigned char map[128];

    ck_good(griddep_ptx_get_entry(ptx, 0, &entry, &error));
    ck_assert_uint_le(entry.parameter_count, 16);
    for (uint32_t i = 0; i < entry.parameter_count; i++) {
        griddep_parameter_info parameter = {.size = sizeof parameter};
        ck_good(griddep_ptx_get_parameter(ptx, 0, i, &parameter, &error));
        arguments[i].bytes = parameter.bytes;
        if (parameter.bytes > 8)
            arguments[i].data = map;
        else
            arguments[i].value = value_of(parameter.name, i, size, other);
    }
    ck_good(griddep_shelf_suggest(shelf->name, &info, arguments, entry.parameter_count, &config,
                                  &error));
    ck_assert_uint_le(config.shared_bytes, info.shared_bytes_per_block);
    ck_assert_uint_ge(config.grid[0], 1);
    if (entry.maximum_block[0])
        ck_assert_uint_le(config.block[0], entry.maximum_block[0]);
    if (!config.cluster[0]) /* rows of clustered kernels are in y */
        config.grid[1] = config.grid[2] = 1;
    if (is_gemm(shelf->name))
        return;
    int32_t status =
        griddep_ptx_check_launch(ptx, 0, &config, arguments, entry.parameter_count, &error);
    ck_assert_msg(!status,
                  "%s on sm_%d, %" PRIu64 " and %" PRIu64 ": grid %u, block %u, shared %u: %s",
                  shelf->name, info.capability, other, size, config.grid[0], config.block[0],
                  config.shared_bytes, error.text);
}

/* Whether a device gets this text of the kernel. */
static bool serves(const griddep_shelf_info *shelf, size_t device)
{
    griddep_shelf_info served = {.size = sizeof served};

    ck_good(griddep_shelf_find(shelf->name, devices[device].capability, &served, &error));
    return served.text == shelf->text;
}

/* Where x alone is larger than a block's shared memory, no shape is right. Tiles are whole ones. */
static bool can_fit(const char *name, size_t device, uint64_t columns, uint64_t rows)
{
    const bool tiles = strstr(name, "_int4");
    const uint64_t others = strncmp(name, "linear_fp8", 10) ? 20000 : 80000;

    if (tiles && (columns % 128 || rows % 16 || !rows))
        return false;
    if (tiles)
        return 34608 + 4 * 2560 + 9 * columns < devices[device].per_block; /* of four rows of x */
    return !strstr(name, "linear_") || 2 * columns + others < devices[device].per_block;
}

TEST_GROUP(suggest, NULL, NULL);

TEST(suggest, each_kernel_takes_what_is_suggested)
{
    griddep_shelf_info shelf = {.size = sizeof shelf};
    uint32_t tried = 0;

    for (uint32_t i = 0; griddep_shelf_get(i, &shelf, NULL) == GRIDDEP_OK; i++) {
        griddep_ptx *ptx = NULL;
        if (!strcmp(shelf.name, "spin"))
            continue; /* for tests, whatever the shape */
        ck_good(griddep_ptx_parse(shelf.text, shelf.bytes, shelf.name, &ptx, &error));
        for (size_t device = 0; device < DEVICES; device++)
            for (size_t k = 0; serves(&shelf, device) && k < SIZES * SIZES; k++)
                if (can_fit(shelf.name, device, sizes[k % SIZES], sizes[k / SIZES])) {
                    suggest_one(&shelf, ptx, device, sizes[k % SIZES], sizes[k / SIZES]);
                    tried++;
                }
        griddep_ptx_destroy(ptx);
    }
    ck_assert_uint_gt(tried, 5000);
}

/* Shapes that head comments call best on an H200. */
static const struct best {
    const char *kernel;
    uint32_t count;
    struct {
        uint32_t place;
        uint64_t value;
    } given[4];
    uint32_t rows; /* grid[1] */
    uint32_t grid, block, shared;
} bests[] = {
    {"linear_bf16", 10, {{7, 3072}, {8, 2048}}, 0, 132, 288, 114688},
    {"linear_bf16", 10, {{7, 8192}, {8, 2048}}, 0, 264, 256, 114688},
    {"linear_bf16", 10, {{7, 2048}, {8, 8192}}, 0, 132, 288, 232448},
    {"linear_bf16", 10, {{1, 16}, {7, 8192}, {8, 2048}}, 0, 132, 512, 180224},
    {"linear_bf16", 10, {{1, 16}, {7, 14336}, {8, 4096}}, 0, 264, 256, 114688},
    {"linear_fp8", 12, {{9, 14336}, {10, 4096}}, 0, 264, 384, 100352},
    {"linear_fp8", 12, {{1, 16}, {9, 8192}, {10, 2048}}, 0, 264, 384, 100352},
    {"linear_fp8", 12, {{9, 128256}, {10, 2048}}, 0, 1056, 384, 100352},
    {"linear_fp8", 12, {{9, 3072}, {10, 2048}}, 0, 132, 384, 114688},
    {"linear_fp8", 12, {{9, 2048}, {10, 8192}}, 0, 132, 384, 114688},
    {"linear_fp8", 12, {{9, 4096}, {10, 14336}}, 0, 132, 384, 232448},
    {"linear_fp8_block", 13, {{9, 14336}, {10, 4096}, {11, 128}}, 0, 264, 384, 100352},
    {"skinny_fp8_block", 14, {{9, 4096}, {10, 4096}, {11, 8}, {12, 128}}, 0, 132, 384, 232448},
    {"linear_int4", 10, {{7, 3072}, {8, 2048}}, 0, 132, 384, 114688},
    {"linear_int4", 10, {{7, 2048}, {8, 8192}}, 0, 132, 384, 180224},
    {"linear_int4", 10, {{7, 4096}, {8, 14336}}, 0, 264, 384, 114688},
    {"skinny_int4", 11, {{1, 16}, {7, 8192}, {8, 2048}, {9, 8}}, 0, 264, 384, 114688},
    {"skinny_int4", 11, {{7, 2048}, {8, 8192}, {9, 8}}, 0, 132, 384, 232448},
    {"skinny_bf16", 11, {{7, 2048}, {8, 8192}, {9, 1}}, 0, 132, 384, 232448},
    {"skinny_bf16", 11, {{1, 16}, {7, 8192}, {8, 2048}, {9, 8}}, 0, 264, 384, 114688},
    {"attention_decode_bf16", 10, {{6, 32}, {7, 64}, {8, 4096}}, 8, 12, 128, 114688},
    {"attention_decode_bf16", 10, {{6, 32}, {7, 128}, {8, 32768}}, 8, 8, 256, 232448},
    {"argmax_bf16", 3, {{2, 128256}}, 1, 16, 512, 0},
    {"embedding_gather", 5, {{4, 4096}}, 0, 1, 256, 0},
    {"gemm_bf16", 10, {{6, 4096}, {7, 4096}}, 0, 132, 288, 197696},
    {"attention_prefill_bf16", 11, {{6, 2048}, {8, 128}}, 16, 1, 128, 98304},
    {"attention_prefill_paged_f16", 13, {{7, 129}, {9, 64}}, 2, 1, 128, 49152},
};

LOOP_TEST(suggest, an_h200_has_its_best_shapes, sizeof bests / sizeof *bests)
{
    const struct best *best = &bests[_i];
    griddep_argument arguments[16] = {0};
    griddep_launch_config config = {.size = sizeof config, .grid = {0, best->rows, 0}};
    griddep_runtime_info info = info_of(0);

    for (uint32_t i = 0; i < best->count; i++)
        arguments[i].bytes = 8;
    for (size_t i = 0; i < 4; i++)
        if (best->given[i].value)
            arguments[best->given[i].place].value = best->given[i].value;
    ck_good(griddep_shelf_suggest(best->kernel, &info, arguments, best->count, &config, &error));
    ck_assert_uint_eq(config.grid[0], best->grid);
    ck_assert_uint_eq(config.grid[1], best->rows);
    ck_assert_uint_eq(config.block[0], best->block);
    ck_assert_uint_eq(config.shared_bytes, best->shared);
}

/* Blocks that a device of few multiprocessors cannot hold at once are no cluster. */
LOOP_TEST(suggest, a_cluster_fits_a_small_device, 8)
{
    static const uint64_t contexts[] = {64, 4096, 32768};
    griddep_runtime_info info = info_of(0);

    info.multiprocessors = 1 + _i;
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        griddep_argument arguments[10] = {0};
        griddep_launch_config config = {.size = sizeof config, .grid = {0, 8, 0}};

        for (uint32_t k = 0; k < 10; k++)
            arguments[k] = (griddep_argument){.bytes = 8, .value = k == 6 ? 32 : 64};
        arguments[8].value = contexts[i];
        ck_good(
            griddep_shelf_suggest("attention_decode_bf16", &info, arguments, 10, &config, &error));
        uint32_t beside = info.shared_bytes_per_multiprocessor / (config.shared_bytes + 1024);
        ck_assert_uint_le(config.cluster[0], beside * (uint32_t)info.multiprocessors);
    }
}

TEST(suggest, what_is_wrong_is_told)
{
    griddep_argument arguments[16] = {0};
    griddep_launch_config config = {.size = sizeof config}, none = {0};
    griddep_runtime_info info = info_of(0), empty = {0};

    ck_status(griddep_shelf_suggest("no_such", &info, arguments, 3, &config, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    ck_says("no_such");
    ck_status(griddep_shelf_suggest("argmax_f32", &info, arguments, 2, &config, &error),
              GRIDDEP_ERROR_SIGNATURE);
    ck_says("has 3 arguments, 2 were given");
    ck_status(griddep_shelf_suggest("argmax_f32", &empty, arguments, 3, &config, &error),
              GRIDDEP_ERROR_STRUCT);
    ck_status(griddep_shelf_suggest("argmax_f32", &info, arguments, 3, &none, &error),
              GRIDDEP_ERROR_STRUCT);
    ck_status(griddep_shelf_suggest("argmax_f32", NULL, arguments, 3, &config, &error),
              GRIDDEP_ERROR_ARGUMENT);
}

MAIN_OF_SUITE("shape")
