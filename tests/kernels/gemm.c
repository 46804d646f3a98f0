/* Matrix products on the tensor cores: launches against their references, and chains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

enum { A, WEIGHT, UP, BIAS, RESIDUAL, C, M, N, K, ACTIVATION, ARGUMENTS };

enum { NONE, SILU, GELU, RELU, SILU_MULTIPLY };

typedef struct product {
    uint32_t m, n, k, activation;
    bool bias, residual;
    uint32_t grid, cluster, slots;
} product;

static const char *type_of(const shelf_kernel *kernel)
{
    return strstr(kernel->info.name, "bf16") != NULL ? "bf16" : "f16";
}

/* How many columns of c a tile has. */
static uint32_t tile_columns(const shelf_kernel *kernel)
{
    const char *name = kernel->info.name;
    return strstr(name, "n64") != NULL ? 64 : strstr(name, "n128") != NULL ? 128 : 256;
}

/* ---- launches ---- */

/* Rows of `columns` elements, fetched 64 columns of `box` rows at a time. */
static griddep_tensor_options matrix(const char *type, uint32_t rows, uint32_t columns,
                                     uint32_t box)
{
    return (griddep_tensor_options){.type = strcmp(type, "bf16") == 0 ? GRIDDEP_TENSOR_BF16
                                                                      : GRIDDEP_TENSOR_F16,
                                    .rank = 2,
                                    .swizzle = GRIDDEP_SWIZZLE_128B,
                                    .promotion = GRIDDEP_PROMOTION_256B,
                                    .dimensions = {columns, rows},
                                    .strides = {2ULL * columns},
                                    .box = {64, box}};
}

static uint32_t shared_bytes(const shelf_kernel *kernel, uint32_t slots)
{
    return 1024 + slots * (128 * (128 + tile_columns(kernel)) + 16);
}

static double row_terms(const shelf_argument *a, uint64_t row, const shelf_argument *w,
                        uint64_t column, uint64_t k, double *sum)
{
    double terms = 0;
    *sum = 0;
    for (uint64_t i = 0; i < k; i++) {
        double term = gd_element_load(a->type, a->data, row * k + i) *
                      gd_element_load(w->type, w->data, column * k + i);
        terms += fabs(term);
        *sum += term;
    }
    return terms;
}

/* One step of the type, and what f32 sums on the tensor cores lose, which is relative to the terms:
 * they cut off where a CPU rounds. No activation makes more than 1.13 of an error. */
static bool gemm_element(const shelf_argument *arguments, uint32_t output, double got,
                         double expected, uint64_t index)
{
    bool bf16 = strcmp(arguments[output].type, "bf16") == 0;
    uint64_t n = (uint64_t)arguments[N].scalar, k = (uint64_t)arguments[K].scalar;
    double sum = 0, up = 1;
    if (!isfinite(got) || !isfinite(expected))
        return false;
    if (bf16 ? shelf_within_bf16_step(got, expected) : shelf_within_f16_step(got, expected))
        return true;
    double lost = row_terms(&arguments[A], index / n, &arguments[WEIGHT], index % n, k, &sum);
    if (arguments[BIAS].data != NULL) {
        double bias = gd_element_load(arguments[BIAS].type, arguments[BIAS].data, index % n);
        lost += fabs(bias);
        sum += bias;
    }
    if (arguments[ACTIVATION].scalar == SILU_MULTIPLY) {
        double up_lost = row_terms(&arguments[A], index / n, &arguments[UP], index % n, k, &up);
        lost = lost * fabs(up) + up_lost * fabs(sum);
    }
    return fabs(got - expected) <= fabs(expected) * (bf16 ? 0x1p-8 : 0x1p-11) + lost * 0x1p-17;
}

/* The arrays a, weight and up are the caller's; the rest is made here. */
static void *run_product(const shelf_kernel *kernel, const product *p, void *a, void *weight,
                         void *up)
{
    const char *type = type_of(kernel);
    uint64_t m = p->m, n = p->n, k = p->k;
    griddep_tensor_options a_map = matrix(type, p->m, p->k, 128);
    griddep_tensor_options weight_map = matrix(type, p->n, p->k, tile_columns(kernel) / 2);
    void *bias = p->bias ? shelf_random_array(type, n, 1) : NULL;
    void *residual = p->residual ? shelf_random_array(type, m * n, 1) : NULL;
    void *c = shelf_array(type, m * n);
    shelf_argument arguments[ARGUMENTS] = {
        [A] = {.type = type, .data = a, .count = m * k, .misalignment = 16, .map = &a_map},
        [WEIGHT] =
            {.type = type, .data = weight, .count = n * k, .misalignment = 48, .map = &weight_map},
        [UP] = {.type = type, .data = up, .count = n * k, .misalignment = 16, .map = &weight_map},
        [BIAS] = {.type = p->bias ? type : "u64", .data = bias, .count = n, .misalignment = 16},
        [RESIDUAL] = {.type = p->residual ? type : "u64",
                      .data = residual,
                      .count = m * n,
                      .misalignment = 16},
        [C] = {.type = type, .data = c, .count = m * n, .misalignment = 16},
        [M] = {.type = "u32", .scalar = p->m},
        [N] = {.type = "u32", .scalar = p->n},
        [K] = {.type = "u32", .scalar = p->k},
        [ACTIVATION] = {.type = "u32", .scalar = p->activation},
    };
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {p->grid},
                                    .block = {288},
                                    .cluster = {p->cluster},
                                    .shared_bytes = shared_bytes(kernel, p->slots)};
    void *result = shelf_run_config(kernel, arguments, ARGUMENTS, &config, gemm_element);
    free(bias);
    free(residual);
    free(c);
    return result;
}

static void *run_random(const shelf_kernel *kernel, const product *p)
{
    const char *type = type_of(kernel);
    void *a = shelf_random_array(type, (uint64_t)p->m * p->k, 1);
    void *weight = shelf_random_array(type, (uint64_t)p->n * p->k, 2 / sqrt(p->k));
    void *up = shelf_random_array(type, (uint64_t)p->n * p->k, 2 / sqrt(p->k));
    void *result = run_product(kernel, p, a, weight, up);
    free(a);
    free(weight);
    free(up);
    return result;
}

/* Each activation, with and without the optional operands; one and two blocks a cluster; edges in
 * each direction. */
static void gemm_random(const shelf_kernel *kernel)
{
    static const product products[] = {
        {1, 8, 8, NONE, false, false, 1, 1, 2},
        {1, 8, 8, SILU_MULTIPLY, true, true, 2, 2, 2},
        {128, 256, 64, NONE, false, false, 1, 1, 4},
        {130, 264, 72, SILU, true, false, 2, 2, 3},
        {65, 136, 200, GELU, false, true, 3, 1, 2},
        {127, 520, 136, RELU, true, true, 4, 2, 4},
        {257, 120, 64, NONE, true, false, 2, 1, 3},
        {129, 272, 136, SILU_MULTIPLY, false, true, 4, 2, 2},
        {33, 128, 320, SILU_MULTIPLY, true, false, 1, 1, 3},
    };
    static const product large[] = {
        {300, 520, 1032, GELU, true, true, 132, 2, 4},
        {1000, 264, 512, SILU, true, true, 130, 1, 3},
        {129, 1040, 1000, SILU_MULTIPLY, true, true, 132, 2, 4},
        {400, 520, 1536, RELU, false, true, 10, 2, 4},
    };
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        free(run_random(kernel, &products[i]));
    for (size_t i = 0; i < sizeof large / sizeof large[0] && shelf_on_gpu; i++)
        free(run_random(kernel, &large[i]));
}

/* The head comment promises the same bits for every grid, cluster and number of slots. */
static void gemm_shapes(const shelf_kernel *kernel)
{
    static const product shapes[] = {
        {200, 264, 200, NONE, false, false, 1, 1, 4}, {200, 264, 200, NONE, false, false, 3, 1, 2},
        {200, 264, 200, NONE, false, false, 2, 2, 4}, {200, 264, 200, NONE, false, false, 4, 2, 3},
        {200, 264, 200, NONE, false, false, 8, 2, 2},
    };
    const char *type = type_of(kernel);
    void *a = shelf_random_array(type, (uint64_t)shapes[0].m * shapes[0].k, 1);
    void *weight = shelf_random_array(type, (uint64_t)shapes[0].n * shapes[0].k, 1);
    void *first = run_product(kernel, &shapes[0], a, weight, weight);
    for (size_t i = 1; i < sizeof shapes / sizeof shapes[0]; i++) {
        void *other = run_product(kernel, &shapes[i], a, weight, weight);
        ck_assert_msg(memcmp(first, other, 2ULL * shapes[0].m * shapes[0].n) == 0,
                      "grid %u, cluster %u, %u slots: other bits", shapes[i].grid,
                      shapes[i].cluster, shapes[i].slots);
        free(other);
    }
    free(first);
    free(a);
    free(weight);
}

/* A row of A, then a row of W, with an infinity or a NaN: each element that it reaches must be the
 * reference's, and no other. */
static void gemm_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {INFINITY, -INFINITY, NAN, 0x1p-133};
    const char *type = type_of(kernel);
    for (uint32_t activation = NONE; activation <= SILU_MULTIPLY; activation++) {
        const product p = {70, 136, 72, activation, false, true, 2, 2, 2};
        void *a = shelf_random_array(type, (uint64_t)p.m * p.k, 1);
        void *weight = shelf_random_array(type, (uint64_t)p.n * p.k, 1);
        for (uint64_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
            gd_element_store(type, a, (3 + 20 * i) * p.k + 65, specials[i]);
            gd_element_store(type, weight, (1 + 40 * i) * p.k + 7, specials[i]);
        }
        free(run_product(kernel, &p, a, weight, weight));
        free(a);
        free(weight);
    }
}

/* ---- wrong maps ---- */

enum { MAP_M = 130, MAP_N = 136, MAP_K = 136, MAPS = 3 };

static const uint64_t map_places[MAPS] = {0x7f0000000000, 0x7f0001000000, 0x7f0002000000},
                      place_of_c = 0x7f0003000000;

/* What the conditions say of a launch whose maps are these; nothing is launched. */
static int32_t check_maps(const shelf_kernel *kernel, const griddep_tensor_options *options,
                          uint32_t activation)
{
    griddep_tensor_map maps[MAPS];
    griddep_argument arguments[ARGUMENTS] = {
        [BIAS] = {.bytes = 8},
        [RESIDUAL] = {.bytes = 8},
        [C] = {.bytes = 8, .value = place_of_c},
        [M] = {.bytes = 4, .value = MAP_M},
        [N] = {.bytes = 4, .value = MAP_N},
        [K] = {.bytes = 4, .value = MAP_K},
        [ACTIVATION] = {.bytes = 4, .value = activation},
    };
    const griddep_launch_config config = {.size = sizeof config,
                                          .grid = {1},
                                          .block = {288},
                                          .shared_bytes = shared_bytes(kernel, 2)};
    for (uint32_t i = 0; i < MAPS; i++) {
        griddep_tensor_options placed = options[i];
        placed.size = sizeof placed;
        placed.address += map_places[i];
        MUST(griddep_tensor_map_encode(shelf_runtime, &placed, &maps[i], &shelf_error));
        arguments[i] = (griddep_argument){.bytes = sizeof maps[i], .data = &maps[i]};
    }
    griddep_chain *chain = NULL; /* an addition checks as a launch does */
    MUST(griddep_chain_create(shelf_runtime, &chain, &shelf_error));
    const int32_t status =
        griddep_chain_add(chain, kernel->kernel, &config, arguments, ARGUMENTS, &shelf_error);
    griddep_chain_destroy(chain);
    return status;
}

/* One change, and the condition that it breaks, behind the map's name. */
static const char *spoil_map(griddep_tensor_options *map, uint32_t change, uint32_t which)
{
    switch (change) {
    case 0:
        map->rank = 3;
        map->dimensions[2] = map->box[2] = 1;
        map->strides[1] = 1 << 20;
        return ".rank == 2";
    case 1:
        map->type = map->type == GRIDDEP_TENSOR_F16 ? GRIDDEP_TENSOR_BF16 : GRIDDEP_TENSOR_F16;
        return ".type == ";
    case 2:
        map->dimensions[0] -= 8;
        return ".dim.x == k";
    case 3:
        map->dimensions[0] += 8; /* k is no multiple of 64 */
        return ".dim.x == k";
    case 4:
        map->fill = GRIDDEP_FILL_NAN;
        return ".fill == zero";
    case 5:
        map->dimensions[1]--;
        return ".dim.y >= ";
    case 6:
        map->steps[0] = 1;
        map->steps[1] = 2;
        return ".step.y == 1";
    case 7:
        map->box[0] = 32;
        return ".box.x == 64";
    case 8:
        map->box[1] /= 2;
        return ".box.y == ";
    case 9:
        map->swizzle = GRIDDEP_SWIZZLE_NONE;
        return ".swizzle == 128B";
    case 10:
        map->address = place_of_c - map_places[which] - 16;
        return ")";
    default:
        return NULL;
    }
}

/* A launch with one of its maps wrong is refused with the condition; U's matters with its
 * activation alone. */
static void gemm_maps(const shelf_kernel *kernel)
{
    static const char *const names[MAPS] = {"a_map", "weight_map", "up_map"};
    const char *type = type_of(kernel);
    const griddep_tensor_options a = matrix(type, MAP_M, MAP_K, 128);
    const griddep_tensor_options weight = matrix(type, MAP_N, MAP_K, tile_columns(kernel) / 2);
    for (uint32_t activation = NONE; activation <= SILU_MULTIPLY; activation++) {
        const griddep_tensor_options right[MAPS] = {a, weight, weight};
        MUST(check_maps(kernel, right, activation));
    }
    for (uint32_t which = 0; which < MAPS; which++) {
        const char *broken;
        for (uint32_t change = 0;; change++) {
            griddep_tensor_options maps[MAPS] = {a, weight, weight};
            char words[64];
            if ((broken = spoil_map(&maps[which], change, which)) == NULL)
                break;
            snprintf(words, sizeof words, "%s%s", names[which], broken);
            ck_assert_msg(check_maps(kernel, maps, SILU_MULTIPLY) == GRIDDEP_ERROR_REQUIREMENT &&
                              strstr(shelf_error.text, words) != NULL,
                          "change %u of %s: %s", change, names[which], shelf_error.text);
            int32_t without = check_maps(kernel, maps, NONE);
            ck_assert_msg(without == (which == 2 ? GRIDDEP_OK : GRIDDEP_ERROR_REQUIREMENT),
                          "change %u of %s: %s", change, names[which], shelf_error.text);
        }
    }
}

/* 100: the text for chips without wgmma, which runs on those that have it too. */
#define GEMM_CASES(name)                                                                           \
    {(name), 0, gemm_random}, {(name), 0, gemm_shapes}, {(name), 0, gemm_maps},                    \
        {(name), 0, gemm_extreme}, {(name), 100, gemm_random}, {(name), 100, gemm_shapes},         \
        {(name), 100, gemm_maps},                                                                  \
    {                                                                                              \
        (name), 100, gemm_extreme                                                                  \
    }

const shelf_case gemm_cases[] = {
    GEMM_CASES("gemm_bf16"),
    GEMM_CASES("gemm_f16"),
    GEMM_CASES("gemm_n128_bf16"),
    GEMM_CASES("gemm_n128_f16"),
    GEMM_CASES("gemm_n64_bf16"),
    GEMM_CASES("gemm_n64_f16"),
    {NULL, 0, NULL},
};

/* ---- chains ---- */

enum { LINK_ROWS = 64, LINK_COLUMNS = 256 };

#define LINK_MATRIX(element, rows, box_rows)                                                       \
    {                                                                                              \
        .type = (element), .rank = 2, .swizzle = GRIDDEP_SWIZZLE_128B,                             \
        .dimensions = {LINK_COLUMNS, (rows)}, .strides = {2 * LINK_COLUMNS}, .box = {              \
            64,                                                                                    \
            (box_rows)                                                                             \
        }                                                                                          \
    }

static const griddep_tensor_options bf16_input = LINK_MATRIX(GRIDDEP_TENSOR_BF16, LINK_ROWS, 128);
static const griddep_tensor_options bf16_weight =
    LINK_MATRIX(GRIDDEP_TENSOR_BF16, LINK_COLUMNS, 128);
static const griddep_tensor_options bf16_weight_n128 =
    LINK_MATRIX(GRIDDEP_TENSOR_BF16, LINK_COLUMNS, 64);
static const griddep_tensor_options bf16_weight_n64 =
    LINK_MATRIX(GRIDDEP_TENSOR_BF16, LINK_COLUMNS, 32);
static const griddep_tensor_options f16_input = LINK_MATRIX(GRIDDEP_TENSOR_F16, LINK_ROWS, 128);
static const griddep_tensor_options f16_weight = LINK_MATRIX(GRIDDEP_TENSOR_F16, LINK_COLUMNS, 128);

/* The input is the residual too. */
#define GEMM_LINK(name, element, input, weight, blocks, pair, bytes_of_shared)                     \
    {                                                                                              \
        .kernel = (name), .bytes = 2 * LINK_ROWS * LINK_COLUMNS,                                   \
        .config = {.grid = {(blocks)},                                                             \
                   .block = {288},                                                                 \
                   .cluster = {(pair)},                                                            \
                   .shared_bytes = (bytes_of_shared)},                                             \
        .count = ARGUMENTS,                                                                        \
        .arguments = {[A] = SHELF_PLACE(SHELF_INPUT),                                              \
                      [WEIGHT] = SHELF_PLACE(SHELF_CONSTANT),                                      \
                      [UP] = SHELF_PLACE(SHELF_CONSTANT),                                          \
                      [BIAS] = SHELF_PLACE(SHELF_CONSTANT),                                        \
                      [RESIDUAL] = SHELF_PLACE(SHELF_INPUT),                                       \
                      [C] = SHELF_PLACE(SHELF_OUTPUT),                                             \
                      [M] = {.bytes = 4, .value = LINK_ROWS},                                      \
                      [N] = {.bytes = 4, .value = LINK_COLUMNS},                                   \
                      [K] = {.bytes = 4, .value = LINK_COLUMNS},                                   \
                      [ACTIVATION] = {.bytes = 4, .value = GELU}},                                 \
        .maps = {[A] = &(input), [WEIGHT] = &(weight), [UP] = &(weight)}, .type = (element),       \
        .constant_count = LINK_COLUMNS * LINK_COLUMNS, .constant_scale = 0.05                      \
    }

const shelf_link gemm_links[] = {
    GEMM_LINK("gemm_bf16", "bf16", bf16_input, bf16_weight, 1, 1, 1024 + 3 * 49168),
    GEMM_LINK("gemm_bf16", "bf16", bf16_input, bf16_weight, 4, 2, 1024 + 4 * 49168),
    GEMM_LINK("gemm_f16", "f16", f16_input, f16_weight, 2, 2, 1024 + 2 * 49168),
    GEMM_LINK("gemm_n128_bf16", "bf16", bf16_input, bf16_weight_n128, 2, 1, 1024 + 6 * 32784),
    GEMM_LINK("gemm_n64_bf16", "bf16", bf16_input, bf16_weight_n64, 4, 2, 1024 + 5 * 24592),
    {.kernel = NULL},
};
