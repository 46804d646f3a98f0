/* griddep bench demo: the demo's chain in the four modes. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench.h"
#include "cli/demo.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"

static int measure(const gd_bench *bench, void **results)
{
    gd_bench_modes *modes = *results = gd_heap_take(1, sizeof(*modes));
    gd_plan plan = {0};
    int code = gd_demo_make_plan(bench->info, &plan);
    if (code == 0)
        code = gd_bench_run_plan(bench, &plan, modes);
    gd_plan_free(&plan);
    return code == 0 && !modes->as_expected ? GD_EXIT_DIFFERS : code;
}

static void print(const gd_bench *bench, const void *results)
{
    const gd_bench_modes *modes = results;
    gd_columns columns = {.column_count = 5, .left = 1, .titled = true};
    static const char *const titles[] = {"demo", "us a step", "middle 80 %", "TB/s",
                                         "of the ceiling"};
    for (size_t i = 0; i < 5; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        gd_columns_add(&columns, "%s", griddep_mode_name(mode));
        gd_columns_add(&columns, "%.2f", modes->timings[mode].microseconds);
        gd_columns_add(&columns, "%.2f to %.2f", modes->timings[mode].lowest,
                       modes->timings[mode].highest);
        gd_columns_add(&columns, "%.3f", gd_bench_rate(modes, mode) * 1e-12);
        gd_columns_add(&columns, "%.1f %%", gd_bench_of_ceiling(bench, modes, mode) * 100.0);
    }
    puts("");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
    if (!modes->as_expected)
        puts("the demo's results are not as expected: its times count for nothing");
}

static json_t *make_json(const gd_bench *bench, const void *results)
{
    const gd_bench_modes *modes = results;
    json_t *object = json_object();
    gd_output_set(object, "as_expected", json_boolean(modes->as_expected));
    gd_output_set(object, "bytes_per_step", json_integer((json_int_t)modes->bytes));
    gd_output_set(object, "modes", gd_bench_modes_json(bench, modes, 1));
    return object;
}

const gd_bench_suite gd_bench_demo = {"demo", "demo", NULL, measure, print, make_json, free};
