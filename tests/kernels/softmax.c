/* Softmax: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

/* The bound that the kernel's head comment states, with room for the smallest subnormals. The sum
 * is at least 1, so max - x is at most -log(expected). */
static bool softmax_element(const shelf_argument *arguments, uint32_t output, double got,
                            double expected, uint64_t index)
{
    (void)arguments;
    (void)output;
    (void)index;
    double below = -log(fmax(expected, 0x1p-149));
    return fabs(got - expected) <= expected * (0x1p-19 + 0x1p-22 * below) + 0x1p-147;
}

static void check_softmax(const shelf_kernel *kernel, void *x, uint32_t columns,
                          uint64_t misalignment, shelf_shape shape)
{
    uint64_t count = (uint64_t)columns * shape.grid;
    void *out = shelf_array("f32", count);
    shelf_argument arguments[] = {
        {.type = "f32", .data = x, .count = count, .misalignment = misalignment},
        {.type = "f32", .data = out, .count = count},
        {.type = "u32", .scalar = columns},
    };
    shelf_check(kernel, arguments, 3, shape, softmax_element);
    free(out);
}

static void softmax_random(const shelf_kernel *kernel)
{
    static const uint32_t columns[] = {1,   2,    3,    4,    5,    31,   127,  128,
                                       512, 1000, 1023, 4096, 8192, 8193, 28672};
    static const shelf_shape shapes[] = {{1, 32, 0}, {4, 96, 0}, {3, 256, 0}, {2, 1024, 0}};
    static const double scales[] = {1, 50, 1e30};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j++) {
            void *x = shelf_random_array("f32", (uint64_t)columns[i] * shapes[j].grid,
                                         scales[(i + j) % 3]);
            check_softmax(kernel, x, columns[i], 0, shapes[j]);
            check_softmax(kernel, x, columns[i], 4, shapes[j]);
            free(x);
        }
    }
}

static void softmax_extreme(const shelf_kernel *kernel)
{
    static const double fills[] = {0, -0.0, 0x1p-149, FLT_MAX, -FLT_MAX, -INFINITY, INFINITY, NAN};
    static const double specials[] = {0x1p-149, FLT_MAX, -FLT_MAX, -INFINITY, INFINITY, NAN};
    enum {
        COLUMNS = 1000,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *x = shelf_random_array("f32", ROWS * COLUMNS, 10);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("f32", x, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 333)
            gd_element_store("f32", x, i, specials[i / COLUMNS - FILLS]);
    }
    check_softmax(kernel, x, COLUMNS, 0, (shelf_shape){ROWS, 128, 0});
    check_softmax(kernel, x, COLUMNS, 4, (shelf_shape){ROWS, 256, 0});
    free(x);
}

const shelf_case softmax_cases[] = {
    {"softmax", 0, softmax_random},
    {"softmax", 0, softmax_extreme},
    {"softmax", 80, softmax_random},
    {"softmax", 80, softmax_extreme},
    {NULL, 0, NULL},
};

const shelf_link softmax_links[] = {
    {.kernel = "softmax",
     .bytes = 16384,
     .config = {.grid = {4}, .block = {256}},
     .count = 3,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 1024}},
     .type = "f32"},
    {.kernel = NULL},
};
