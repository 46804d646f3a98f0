/* Linear layers: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "shelf.h"

/* One step of bf16, and f32's rounding of the sum, which is relative to the terms and not to a sum that they may cancel
 * in. */
static bool matvec_element(const shelf_argument *arguments, uint32_t output, double got, double expected,
                           uint64_t index)
{
    (void)output;
    uint64_t columns = (uint64_t)arguments[4].scalar;
    double terms = 0;
    if (!isfinite(got) || !isfinite(expected))
        return false;
    if (shelf_within_bf16_step(got, expected))
        return true;
    for (uint64_t i = 0; i < columns; i++)
        terms += fabs(gd_element_load("bf16", arguments[0].data, index * columns + i) *
                      gd_element_load("bf16", arguments[1].data, i));
    return fabs(got - expected) <= fabs(expected) * 0x1p-8 + terms * 0x1p-18;
}

static void *run_matvec(const shelf_kernel *kernel, void *weight, void *x, uint32_t rows, uint32_t columns,
                        shelf_shape shape)
{
    void *y = shelf_array("bf16", rows);
    shelf_argument arguments[] = {
        {.type = "bf16", .data = weight, .count = (uint64_t)rows * columns, .misalignment = 16},
        {.type = "bf16", .data = x, .count = columns, .misalignment = 48},
        {.type = "bf16", .data = y, .count = rows, .misalignment = 2},
        {.type = "u32", .scalar = rows},
        {.type = "u32", .scalar = columns},
    };
    void *result = shelf_run(kernel, arguments, 5, shape, matvec_element);
    free(y);
    return result;
}

static void matvec_random(const shelf_kernel *kernel)
{
    static const struct {
        uint32_t rows, columns;
        shelf_shape shape;
    } cases[] = {
        {1, 8, {1, 32, 0}},
        {1, 8, {1, 32, 64}},
        {1, 8, {132, 512, UINT32_MAX}},
        {3000, 8, {132, 512, UINT32_MAX}},
        {7, 16, {3, 64, 4096}},
        {33, 248, {5, 96, 5000}},
        {300, 1024, {7, 1024, 49152}},
        {5000, 512, {13, 256, 100000}},
        {131, 2056, {132, 512, UINT32_MAX}},
        {257, 4104, {132, 512, UINT32_MAX}},
        {1000, 4088, {40, 384, 65536}},
        {1056, 2048, {132, 512, UINT32_MAX}},
        {1057, 2048, {132, 1024, UINT32_MAX}},
        {1200, 4096, {132, 512, UINT32_MAX}},
        {264, 14336, {132, 512, UINT32_MAX}},
        {132, 28672, {132, 512, UINT32_MAX}},
        {150, 28672, {132, 1024, UINT32_MAX}},
        {5, 28672, {200, 64, UINT32_MAX}},
        {40, 28672, {16, 256, 49152}},                         /* x does not fit: from global memory */
        {64, 4096, {2, 128, 8192 + 4 * 64 + 2 * 4 * 512}},     /* the smallest ring */
        {64, 4096, {2, 128, 8192 + 4 * 64 + 2 * 4 * 512 - 1}}, /* one byte less than that: from global memory */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count = (uint64_t)cases[i].rows * cases[i].columns;
        void *weight = shelf_random_array("bf16", count, 1 / sqrt(cases[i].columns));
        void *x = shelf_random_array("bf16", cases[i].columns, 1);
        free(run_matvec(kernel, weight, x, cases[i].rows, cases[i].columns, shelf_fit_shared(kernel, cases[i].shape)));
        free(weight);
        free(x);
    }
}

/* The head comment promises the same bits for every launch shape. */
static void matvec_shapes(const shelf_kernel *kernel)
{
    static const shelf_shape shapes[] = {{132, 512, UINT32_MAX}, {1, 32, 0},        {1, 32, 20000},
                                         {7, 1024, 60000},       {132, 512, 0},     {600, 128, 49152},
                                         {64, 256, UINT32_MAX},  {132, 992, 190000}};
    enum { ROWS = 500, COLUMNS = 6152 };
    void *weight = shelf_random_array("bf16", (uint64_t)ROWS * COLUMNS, 1);
    void *x = shelf_random_array("bf16", COLUMNS, 1);
    void *first = run_matvec(kernel, weight, x, ROWS, COLUMNS, shelf_fit_shared(kernel, shapes[0]));
    for (size_t i = 1; i < sizeof shapes / sizeof shapes[0]; i++) {
        void *other = run_matvec(kernel, weight, x, ROWS, COLUMNS, shelf_fit_shared(kernel, shapes[i]));
        ck_assert_msg(memcmp(first, other, ROWS * 2) == 0, "grid %u, block %u, shared %u: other bits", shapes[i].grid,
                      shapes[i].block, shapes[i].shared);
        free(other);
    }
    free(first);
    free(weight);
    free(x);
}

/* Rows of one value, rows with one special element, then a vector with a special element. */
static void matvec_extreme(const shelf_kernel *kernel)
{
    static const double fills[] = {0, -0.0, 0x1p-133, 1e-20, 3.38e38, -3.38e38};
    static const double specials[] = {0, 0x1p-133, 3.38e38, INFINITY, -INFINITY, NAN};
    enum {
        COLUMNS = 2072,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *weight = shelf_random_array("bf16", ROWS * COLUMNS, 1);
    void *x = shelf_random_array("bf16", COLUMNS, 1);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("bf16", weight, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 2071)
            gd_element_store("bf16", weight, i, specials[i / COLUMNS - FILLS]);
    }
    for (uint64_t i = 0; i < COLUMNS; i++)
        gd_element_store("bf16", x, i, fabs(gd_element_load("bf16", x, i)) + 0.25);
    for (uint64_t i = 0; i < 2; i++) {
        shelf_shape shape = {5, 128, i == 0 ? 60000 : 0};
        free(run_matvec(kernel, weight, x, ROWS, COLUMNS, shape));
        void *special = shelf_copy("bf16", x, COLUMNS);
        gd_element_store("bf16", special, 100, NAN);
        free(run_matvec(kernel, weight, special, ROWS, COLUMNS, shape));
        gd_element_store("bf16", special, 100, INFINITY);
        free(run_matvec(kernel, weight, special, ROWS, COLUMNS, shape));
        free(special);
    }
    free(weight);
    free(x);
}

const shelf_case linear_cases[] = {
    {"matvec_bf16", 0, matvec_random},
    {"matvec_bf16", 0, matvec_shapes},
    {"matvec_bf16", 0, matvec_extreme},
    {NULL, 0, NULL},
};

const shelf_link linear_links[] = {
    {.kernel = "matvec_bf16",
     .bytes = 4096,
     .config = {.grid = {132}, .block = {512}, .shared_bytes = UINT32_MAX},
     .count = 5,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 2048}},
     .type = "bf16",
     .constant_count = 2048 * 2048,
     .constant_scale = 0.04},
    {.kernel = "matvec_bf16",
     .bytes = 4096,
     .config = {.grid = {33}, .block = {128}},
     .count = 5,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 2048}},
     .type = "bf16",
     .constant_count = 2048 * 2048,
     .constant_scale = 0.04},
    {.kernel = NULL},
};
