/* griddep bench: what this machine does with the demo's chain, beside what it can do at most. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/demo.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"
#include "cli/job/bench.h"

static const char details[] =
    "The command measures how fast the memory can be read, the hand-off between empty kernels, "
    "and the chain of 'griddep demo' in the four modes: 8 layers of 4096 x 4096 bf16. Figures are "
    "medians, with the range of the middle 80 %. Results are checked; if they are wrong, the exit "
    "code is 1 and the times do not count. The command refuses the emulated driver, whose times "
    "come from a model. To time your own chain, use 'griddep run'.\n";

/* ---- the demo's chain ---- */

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
        gd_columns_add(&columns, "%.2f", modes->timings[mode].us.median);
        gd_columns_add(&columns, "%.2f to %.2f", modes->timings[mode].us.low,
                       modes->timings[mode].us.high);
        gd_columns_add(&columns, "%.3f", gd_bench_rate(modes, mode) * 1e-12);
        gd_columns_add(&columns, "%.1f %%", gd_bench_of_ceiling(bench, modes, mode) * 100.0);
    }
    puts("");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
    if (!modes->as_expected)
        gd_output_print("the demo's results are not as expected: its times count for nothing\n");
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

static const gd_bench_suite demo = {"demo", "demo", measure, print, make_json, free};

static const char examples[] = "The limits of this machine, and the demo:\n"
                               "    griddep bench --json\n";

/* ---- the command ---- */

int gd_command_bench(int argc, char **argv)
{
    static const gd_bench_suite *const suites[] = {&demo};
    gd_device_choice device = {0};
    uint64_t samples = 30;
    bool json = false;
    const gd_option options[] = {
        {GD_OPTION_COUNT, "repeat", "N", "samples of each figure (30)", &samples, 1, 10000},
        GD_GPU_OPTIONS(&device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &json, 0, 0},
        {0}};
    const gd_usage usage = {.name = "bench",
                            .summary = "Measures how fast this machine reads memory and starts the "
                                       "next kernel, and how fast the demo runs.",
                            .synopsis = "[--repeat N] [--json]",
                            .details = details,
                            .examples = examples,
                            .options = options,
                            .words_least = 0,
                            .words_most = 0};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, NULL, &count);
    if (code >= 0)
        return code;
    gd_progress_begin();
    const gd_bench_plan plan = {.device = &device,
                                .suites = suites,
                                .suite_count = 1,
                                .wanted = 1,
                                .samples = (uint32_t)samples,
                                .json = json};
    return gd_bench_run(&plan);
}
