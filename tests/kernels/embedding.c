/* Table look-ups: launches against their references, and chains. */
#include <stdlib.h>

#include "cli/io/number.h"
#include "shelf.h"

static void check_gather(const shelf_kernel *kernel, uint32_t rows, uint32_t row_bytes,
                         uint64_t misalignment, shelf_shape shape)
{
    uint64_t halves = row_bytes / 2;
    void *table = shelf_array("u16", rows * halves);
    void *out = shelf_array("u16", shape.grid * halves);
    uint32_t *ids = shelf_array("u32", shape.grid);
    for (uint64_t i = 0; i < rows * halves; i++)
        gd_element_store("u16", table, i, shelf_random_bits() >> 16);
    for (uint32_t i = 0; i < shape.grid; i++)
        ids[i] = i % 7 == 3 ? rows + i / 7 : shelf_random_bits() % rows;
    ids[0] = rows - 1;
    ids[shape.grid - 1] = UINT32_MAX;
    shelf_argument arguments[] = {
        {.type = "u16", .data = table, .count = rows * halves, .misalignment = misalignment},
        {.type = "u32", .data = ids, .count = shape.grid, .misalignment = 4},
        {.type = "u16", .data = out, .count = shape.grid * halves, .misalignment = misalignment},
        {.type = "u32", .scalar = rows},
        {.type = "u32", .scalar = row_bytes},
    };
    shelf_check(kernel, arguments, 5, shape, shelf_equal);
    free(table);
    free(ids);
    free(out);
}

static void gather_random(const shelf_kernel *kernel)
{
    static const uint32_t row_bytes[] = {0, 2, 14, 16, 30, 32, 128, 4096, 8190, 8192, 28672};
    static const shelf_shape shapes[] = {{1, 512, 0}, {2, 32, 0}, {40, 65, 0}, {9, 1024, 0}};
    for (size_t i = 0; i < sizeof row_bytes / sizeof row_bytes[0]; i++) {
        for (size_t j = shelf_on_gpu ? 0 : i % 4; j < 4; j += shelf_on_gpu ? 1 : 4) {
            check_gather(kernel, 1 + 50 * (uint32_t)j, row_bytes[i], 0, shapes[j]);
            check_gather(kernel, 1 + 50 * (uint32_t)j, row_bytes[i], 2, shapes[j]);
        }
    }
}

static void gather_vocabulary(const shelf_kernel *kernel)
{
    if (shelf_on_gpu)
        check_gather(kernel, 128256, 4096, 0, (shelf_shape){300, 256, 0});
}

const shelf_case embedding_cases[] = {
    {"embedding_gather", 0, gather_random},
    {"embedding_gather", 0, gather_vocabulary},
    {NULL, 0, NULL},
};

/* The rows are new ids of four bytes. */
const shelf_link embedding_links[] = {
    {.kernel = "embedding_gather",
     .bytes = 1024,
     .config = {.grid = {256}, .block = {32}},
     .count = 5,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 4096},
                   {.bytes = 4, .value = 4}},
     .type = "u32",
     .constant_count = 4096,
     .constant_scale = 4095},
    {.kernel = NULL},
};
