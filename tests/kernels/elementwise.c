/* Elementwise kernels: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "shelf.h"

static void check_vector_add(const shelf_kernel *kernel, void *x, void *y, uint64_t count,
                             const uint64_t misalignment[3], shelf_shape shape)
{
    void *out = shelf_array("f32", count);
    shelf_argument arguments[] = {
        {.type = "f32", .data = x, .count = count, .misalignment = misalignment[0]},
        {.type = "f32", .data = y, .count = count, .misalignment = misalignment[1]},
        {.type = "f32", .data = out, .count = count, .misalignment = misalignment[2]},
        {.type = "u32", .scalar = (double)count},
    };
    shelf_check(kernel, arguments, 4, shape, shelf_equal);
    free(out);
}

static void vector_add_random(const shelf_kernel *kernel)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 31, 1023, 1024, 1025, 100003, 1 << 20};
    static const shelf_shape shapes[] = {{1, 1, 0}, {1, 32, 0}, {3, 33, 0}, {132, 256, 0}, {1056, 1024, 0}};
    static const uint64_t misalignments[][3] = {{0, 0, 0}, {4, 4, 4}, {12, 12, 12}, {0, 4, 0}, {8, 8, 12}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        void *x = shelf_random_array("f32", counts[i], 1e3);
        void *y = shelf_random_array("f32", counts[i], 1);
        for (size_t j = 0; j < 25; j++) {
            if (shapes[j % 5].grid > 1 || counts[i] < 10000)
                check_vector_add(kernel, x, y, counts[i], misalignments[j / 5], shapes[j % 5]);
        }
        free(x);
        free(y);
    }
}

static void vector_add_extreme(const shelf_kernel *kernel)
{
    static const double values[] = {0,  -0.0,    0x1p-149, -0x1p-149, 0x1p-126,  1,
                                    -1, FLT_MAX, -FLT_MAX, INFINITY,  -INFINITY, NAN};
    enum { VALUES = sizeof values / sizeof values[0] };
    static const uint64_t aligned[3] = {0, 0, 0};
    void *x = shelf_array("f32", VALUES * VALUES);
    void *y = shelf_array("f32", VALUES * VALUES);
    for (uint64_t i = 0; i < VALUES * VALUES; i++) {
        gd_element_store("f32", x, i, values[i / VALUES]);
        gd_element_store("f32", y, i, values[i % VALUES]);
    }
    check_vector_add(kernel, x, y, VALUES * VALUES, aligned, (shelf_shape){2, 64, 0});
    free(x);
    free(y);
}

const shelf_case elementwise_cases[] = {
    {"vector_add", 0, vector_add_random},
    {"vector_add", 0, vector_add_extreme},
    {"vector_add", 80, vector_add_random},
    {"vector_add", 80, vector_add_extreme},
    {NULL, 0, NULL},
};

const shelf_link elementwise_links[] = {
    {.kernel = "vector_add",
     .bytes = 16384,
     .config = {.grid = {4}, .block = {256}},
     .count = 4,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 4096}},
     .type = "f32",
     .constant_count = 4096,
     .constant_scale = 1},
    {.kernel = NULL},
};
