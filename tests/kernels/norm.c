/* Normalizations: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "shelf.h"

static bool rms_norm_element(const shelf_argument *arguments, uint32_t output, double got, double expected,
                             uint64_t index)
{
    (void)arguments;
    (void)output;
    (void)index;
    return isfinite(got) && isfinite(expected) && shelf_within_bf16_step(got, expected);
}

static void check_rms_norm(const shelf_kernel *kernel, void *x, void *weight, uint32_t columns, double epsilon,
                           uint64_t misalignment, shelf_shape shape)
{
    uint64_t count = (uint64_t)columns * shape.grid;
    void *out = shelf_array("bf16", count);
    shelf_argument arguments[] = {
        {.type = "bf16", .data = x, .count = count, .misalignment = misalignment},
        {.type = "bf16", .data = weight, .count = columns},
        {.type = "bf16", .data = out, .count = count, .misalignment = misalignment},
        {.type = "u32", .scalar = columns},
        {.type = "f32", .scalar = epsilon},
    };
    shelf_check(kernel, arguments, 5, shape, rms_norm_element);
    free(out);
}

static void rms_norm_random(const shelf_kernel *kernel)
{
    static const uint32_t columns[] = {1, 2, 7, 8, 9, 64, 255, 256, 2048, 4096, 4100, 8192, 16384, 28671, 28672};
    static const shelf_shape shapes[] = {{1, 32, 0}, {5, 96, 0}, {3, 512, 0}, {2, 1024, 0}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j++) {
            void *x =
                shelf_random_array("bf16", (uint64_t)columns[i] * shapes[j].grid, pow(10, shelf_random_unit() * 3));
            void *weight = shelf_random_array("bf16", columns[i], 2);
            check_rms_norm(kernel, x, weight, columns[i], 1e-5, 0, shapes[j]);
            check_rms_norm(kernel, x, weight, columns[i], 0, 2 * (i % 9), shapes[j]);
            free(x);
            free(weight);
        }
    }
}

/* One row of each sort; `special` stands at one place of an ordinary row. */
static void rms_norm_extreme(const shelf_kernel *kernel)
{
    static const double fills[] = {0, 0x1p-133, 1e-30, 1e15, 3e38};
    static const double specials[] = {0, -0.0, 0x1p-133, 1e18, 3.38e38, INFINITY, -INFINITY, NAN};
    enum {
        COLUMNS = 1000,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *x = shelf_random_array("bf16", ROWS * COLUMNS, 1);
    void *weight = shelf_random_array("bf16", COLUMNS, 1);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("bf16", x, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 777)
            gd_element_store("bf16", x, i, specials[i / COLUMNS - FILLS]);
    }
    check_rms_norm(kernel, x, weight, COLUMNS, 1e-6, 0, (shelf_shape){ROWS, 128, 0});
    check_rms_norm(kernel, x, weight, COLUMNS, 1e-6, 2, (shelf_shape){ROWS, 128, 0});
    free(x);
    free(weight);
}

const shelf_case norm_cases[] = {
    {"rms_norm", 0, rms_norm_random},
    {"rms_norm", 0, rms_norm_extreme},
    {"rms_norm", 80, rms_norm_random},
    {"rms_norm", 80, rms_norm_extreme},
    {NULL, 0, NULL},
};

const shelf_link norm_links[] = {
    {.kernel = "rms_norm",
     .bytes = 8192,
     .config = {.grid = {4}, .block = {128}},
     .count = 5,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 1024},
                   {.bytes = 4, .value = 0x3727c5ac}},
     .type = "bf16",
     .constant_count = 1024,
     .constant_scale = 1},
    {.kernel = NULL},
};
