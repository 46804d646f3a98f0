/* The kernels that serve tests: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

static void spin_launch(const shelf_kernel *kernel)
{
    static const shelf_shape shapes[] = {{1, 1, 0}, {1, 33, 0}, {132, 256, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        uint64_t count = (uint64_t)shapes[i].grid * shapes[i].block;
        uint32_t *in = shelf_array("u32", count);
        void *out = shelf_array("u32", count);
        for (uint64_t j = 0; j < count; j++)
            in[j] = shelf_random_bits();
        in[0] = UINT32_MAX;
        shelf_argument arguments[] = {
            {.type = "u32", .data = in, .count = count},
            {.type = "u32", .data = out, .count = count},
            {.type = "u32", .scalar = 1000},
        };
        shelf_check(kernel, arguments, 3, shapes[i], shelf_equal);
        free(in);
        free(out);
    }
}

static void spin_lasts(const shelf_kernel *kernel)
{
    enum { MICROSECONDS = 300 };
    void *start = NULL;
    void *end = NULL;
    double elapsed = 0;
    shelf_guarded array = shelf_guarded_create(4, 0);
    griddep_argument arguments[] = {{.bytes = 8, .value = array.address},
                                    {.bytes = 8, .value = array.address},
                                    {.bytes = 4, .value = MICROSECONDS * 1000}};
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    MUST(griddep_event_create(shelf_runtime, GRIDDEP_EVENT_TIMING, &start, &shelf_error));
    MUST(griddep_event_create(shelf_runtime, GRIDDEP_EVENT_TIMING, &end, &shelf_error));
    MUST(griddep_event_record(shelf_runtime, start, NULL, &shelf_error));
    MUST(griddep_launch(kernel->kernel, &config, arguments, 3, NULL, &shelf_error));
    MUST(griddep_event_record(shelf_runtime, end, NULL, &shelf_error));
    MUST(griddep_event_elapsed(shelf_runtime, start, end, &elapsed, &shelf_error));
    elapsed /= 1e3;
    ck_assert_msg(elapsed > MICROSECONDS - 1 && elapsed < 50 * MICROSECONDS,
                  "spun %g us, asked for %d", elapsed, MICROSECONDS);
    MUST(griddep_event_destroy(shelf_runtime, start, &shelf_error));
    MUST(griddep_event_destroy(shelf_runtime, end, &shelf_error));
    shelf_guarded_destroy(&array);
}

const shelf_case test_cases[] = {
    {"spin", 0, spin_launch},
    {"spin", 0, spin_lasts},
    {NULL, 0, NULL},
};

const shelf_link test_links[] = {
    {.kernel = "spin",
     .bytes = 4096,
     .config = {.grid = {8}, .block = {128}},
     .count = 3,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 5000}},
     .type = "f32"},
    {.kernel = NULL},
};
