/* griddep bench: suites that tell what this machine does, beside what it can do at most, measured in the same run. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/benchlaunch.h"
#include "cli/ceiling.h"
#include "cli/command.h"
#include "cli/demo.h"
#include "cli/device.h"
#include "cli/heap.h"
#include "cli/job.h"
#include "cli/measure.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plancheck.h"
#include "cli/progress.h"

enum { SUITE_LAUNCH, SUITE_HANDOFF, SUITE_DEMO, SUITES };
enum { GRIDS = 3, EMPTY_KERNELS = 64 };

static const char *const suite_names[SUITES + 1] = {"launch", "handoff", "demo", "all"};

typedef struct gd_bench {
    uint64_t samples;
    const char *suite;
    bool json;
    gd_device_choice device;
    uint32_t suites; /* bit per suite */
    gd_bench_launch launches[GD_BENCH_LAUNCHES];
    uint32_t grids[GRIDS]; /* of the empty kernels */
    gd_timing handoff[GRIDS][GRIDDEP_MODE_COUNT];
    gd_timing demo[GRIDDEP_MODE_COUNT];
    uint64_t demo_bytes; /* that a step of the demo moves */
    bool demo_differs;
    double read_ceiling; /* bytes a second */
} gd_bench;

static const char details[] =
    "suites:\n"
    "  launch   host time of a launch through the library, beside the bare cuLaunchKernelEx\n"
    "  handoff  time from one empty kernel to the next, in the four modes, for three grids\n"
    "  demo     the demo's chain of 8 layers of 4096 x 4096 bf16\n"
    "  all      all of them (the default)\n\n"
    "In each run the ceilings are measured too: how fast the memory can be read, and the hand-off of empty kernels.\n"
    "Figures are medians, with the range of the middle 80 %. The emulated driver is refused: its times are a "
    "model's.\n";

/* ---- suites ---- */

static const char empty_ptx[] = ".version 8.0\n"
                                ".target sm_90\n"
                                ".address_size 64\n"
                                ".visible .entry empty()\n"
                                "{\n"
                                "    griddepcontrol.launch_dependents;\n"
                                "    griddepcontrol.wait;\n"
                                "    ret;\n"
                                "}\n";

static int measure_grid(griddep_runtime *runtime, griddep_kernel *kernel, void *stream, uint32_t grid, uint32_t samples,
                        gd_timing timings[GRIDDEP_MODE_COUNT])
{
    const griddep_launch_config config = {.size = sizeof(config), .grid = {grid}, .block = {32}};
    griddep_chain *chain = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = griddep_chain_create(runtime, &chain, &error);
    for (int i = 0; i < EMPTY_KERNELS && status == GRIDDEP_OK; i++)
        status = griddep_chain_add(chain, kernel, &config, NULL, 0, &error);
    int code = status == GRIDDEP_OK
                   ? gd_measure_modes(runtime, chain, stream, (1U << GRIDDEP_MODE_COUNT) - 1, samples, timings)
                   : gd_message_library_as(GD_EXIT_REFUSED, &error, "measuring the hand-off");
    griddep_chain_destroy(chain);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) { /* of one kernel */
        timings[mode].microseconds /= EMPTY_KERNELS;
        timings[mode].lowest /= EMPTY_KERNELS;
        timings[mode].highest /= EMPTY_KERNELS;
    }
    return code;
}

static int measure_handoff(gd_bench *bench, griddep_runtime *runtime)
{
    griddep_module *module = NULL;
    griddep_kernel *kernel = NULL;
    void *stream = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = griddep_module_load(runtime, empty_ptx, strlen(empty_ptx), NULL, &module, &error);
    if (status == GRIDDEP_OK)
        status = griddep_kernel_get(module, "empty", &kernel, &error);
    if (status == GRIDDEP_OK)
        status = griddep_stream_create(runtime, &stream, &error);
    int code = status == GRIDDEP_OK ? 0 : gd_message_library_as(GD_EXIT_REFUSED, &error, "measuring the hand-off");
    for (uint32_t i = 0; i < GRIDS && code == 0; i++)
        code = measure_grid(runtime, kernel, stream, bench->grids[i], (uint32_t)bench->samples, bench->handoff[i]);
    if (stream != NULL)
        griddep_stream_destroy(runtime, stream, NULL);
    griddep_module_unload(module);
    return code;
}

static int measure_demo(gd_bench *bench, griddep_runtime *runtime, const griddep_runtime_info *info)
{
    gd_plan plan = {0};
    gd_job job = {.plan = &plan, .modes = (1U << GRIDDEP_MODE_COUNT) - 1, .samples = (uint32_t)bench->samples};
    int code = gd_demo_make_plan(info, &plan);
    if (code == 0)
        code = gd_plan_check_memory(&plan);
    if (code == 0)
        code = gd_job_run(&job, runtime);
    bench->demo_differs = code == GD_EXIT_DIFFERS;
    bench->demo_bytes = plan.step_bytes;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        bench->demo[mode] = job.results[mode].timing;
    gd_job_free(&job);
    gd_plan_free(&plan);
    return bench->demo_differs ? 0 : code;
}

static int measure_all(gd_bench *bench, griddep_runtime *runtime, const griddep_runtime_info *info)
{
    const uint32_t grids[GRIDS] = {1, (uint32_t)info->multiprocessors, 8 * (uint32_t)info->multiprocessors};
    memcpy(bench->grids, grids, sizeof(grids));
    int code = gd_ceiling_measure(runtime, (uint32_t)bench->samples, &bench->read_ceiling);
    if (code == 0)
        code = measure_handoff(bench, runtime);
    if (code == 0 && (bench->suites >> SUITE_LAUNCH & 1U) != 0)
        code = gd_bench_launch_measure(runtime, 7 * (uint32_t)bench->samples, bench->launches);
    if (code == 0 && (bench->suites >> SUITE_DEMO & 1U) != 0)
        code = measure_demo(bench, runtime, info);
    gd_progress_clear();
    return code;
}

/* ---- text ---- */

static void print_launches(const gd_bench *bench)
{
    gd_columns columns = {.column_count = 5, .left = 1, .titled = true};
    static const char *const titles[] = {"launch", "library ns", "bare ns", "ratio", "middle 80 %"};
    for (size_t i = 0; i < 5; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (size_t i = 0; i < GD_BENCH_LAUNCHES; i++) {
        const gd_bench_launch *launch = &bench->launches[i];
        gd_columns_add(&columns, "%s", launch->name);
        gd_columns_add(&columns, "%.0f", launch->library.median);
        gd_columns_add(&columns, "%.0f", launch->bare.median);
        gd_columns_add(&columns, "%.3f", launch->ratio.median);
        gd_columns_add(&columns, "%.3f to %.3f", launch->ratio.low, launch->ratio.high);
    }
    puts("");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static void print_handoff(const gd_bench *bench)
{
    gd_columns columns = {.column_count = 4, .left = 1, .titled = true};
    static const char *const titles[] = {"hand-off, empty kernels", "blocks", "us a kernel", "middle 80 %"};
    for (size_t i = 0; i < 4; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (uint32_t grid = 0; grid < GRIDS; grid++) {
        for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
            const gd_timing *timing = &bench->handoff[grid][mode];
            gd_columns_add(&columns, "%s", griddep_mode_name(mode));
            gd_columns_add(&columns, "%u", (unsigned)bench->grids[grid]);
            gd_columns_add(&columns, "%.3f", timing->microseconds);
            gd_columns_add(&columns, "%.3f to %.3f", timing->lowest, timing->highest);
        }
    }
    puts("");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static double demo_rate(const gd_bench *bench, int32_t mode)
{
    double microseconds = bench->demo[mode].microseconds;
    return microseconds > 0.0 ? (double)bench->demo_bytes / (microseconds * 1e-6) : 0.0;
}

static double of_ceiling(const gd_bench *bench, int32_t mode)
{
    return bench->read_ceiling > 0.0 ? demo_rate(bench, mode) / bench->read_ceiling : 0.0;
}

static void print_demo(const gd_bench *bench)
{
    gd_columns columns = {.column_count = 5, .left = 1, .titled = true};
    static const char *const titles[] = {"demo", "us a step", "middle 80 %", "TB/s", "of the ceiling"};
    for (size_t i = 0; i < 5; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        gd_columns_add(&columns, "%s", griddep_mode_name(mode));
        gd_columns_add(&columns, "%.2f", bench->demo[mode].microseconds);
        gd_columns_add(&columns, "%.2f to %.2f", bench->demo[mode].lowest, bench->demo[mode].highest);
        gd_columns_add(&columns, "%.3f", demo_rate(bench, mode) * 1e-12);
        gd_columns_add(&columns, "%.1f %%", of_ceiling(bench, mode) * 100.0);
    }
    puts("");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
    if (bench->demo_differs)
        puts("the demo's results are not as expected: its times count for nothing");
}

static void print_text(const gd_bench *bench, const griddep_runtime_info *info)
{
    const gd_timing *handoff = &bench->handoff[1][GRIDDEP_MODE_GRAPH_PDL];
    gd_device_print(info);
    printf("ceilings: memory read at %.3f TB/s; empty kernels of %u blocks handed off in %.3f us (graph-pdl)\n",
           bench->read_ceiling * 1e-12, (unsigned)bench->grids[1], handoff->microseconds);
    if ((bench->suites >> SUITE_LAUNCH & 1U) != 0)
        print_launches(bench);
    if ((bench->suites >> SUITE_HANDOFF & 1U) != 0)
        print_handoff(bench);
    if ((bench->suites >> SUITE_DEMO & 1U) != 0)
        print_demo(bench);
}

/* ---- JSON ---- */

static json_t *spread_json(double median, double low, double high)
{
    json_t *object = json_object();
    gd_output_set(object, "median", gd_output_real(median));
    gd_output_set(object, "percentile_10", gd_output_real(low));
    gd_output_set(object, "percentile_90", gd_output_real(high));
    return object;
}

static json_t *timing_json(const gd_timing *timing)
{
    return spread_json(timing->microseconds, timing->lowest, timing->highest);
}

static json_t *launches_json(const gd_bench *bench)
{
    json_t *array = json_array();
    for (size_t i = 0; i < GD_BENCH_LAUNCHES; i++) {
        const gd_bench_launch *launch = &bench->launches[i];
        json_t *object = json_object();
        gd_output_set(object, "name", gd_output_string(launch->name));
        gd_output_set(object, "library_ns",
                      spread_json(launch->library.median, launch->library.low, launch->library.high));
        gd_output_set(object, "bare_ns", spread_json(launch->bare.median, launch->bare.low, launch->bare.high));
        gd_output_set(object, "ratio", spread_json(launch->ratio.median, launch->ratio.low, launch->ratio.high));
        gd_output_append(array, object);
    }
    return array;
}

static json_t *handoff_json(const gd_bench *bench)
{
    json_t *array = json_array();
    for (uint32_t grid = 0; grid < GRIDS; grid++) {
        for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
            json_t *object = json_object();
            gd_output_set(object, "mode", gd_output_string(griddep_mode_name(mode)));
            gd_output_set(object, "blocks", json_integer(bench->grids[grid]));
            gd_output_set(object, "us", timing_json(&bench->handoff[grid][mode]));
            gd_output_append(array, object);
        }
    }
    return array;
}

static json_t *demo_json(const gd_bench *bench)
{
    json_t *object = json_object(), *modes = json_array();
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        json_t *item = json_object();
        gd_output_set(item, "mode", gd_output_string(griddep_mode_name(mode)));
        gd_output_set(item, "us", timing_json(&bench->demo[mode]));
        gd_output_set(item, "bytes_per_second", gd_output_real(demo_rate(bench, mode)));
        gd_output_set(item, "of_ceiling", gd_output_real(of_ceiling(bench, mode)));
        gd_output_append(modes, item);
    }
    gd_output_set(object, "as_expected", json_boolean(!bench->demo_differs));
    gd_output_set(object, "bytes_per_step", json_integer((json_int_t)bench->demo_bytes));
    gd_output_set(object, "modes", modes);
    return object;
}

static void print_json(const gd_bench *bench, const griddep_runtime_info *info)
{
    json_t *document = json_object(), *ceilings = json_object();
    bool launch = (bench->suites >> SUITE_LAUNCH & 1U) != 0, handoff = (bench->suites >> SUITE_HANDOFF & 1U) != 0;
    bool demo = (bench->suites >> SUITE_DEMO & 1U) != 0;
    gd_output_set(ceilings, "read_bytes_per_second", gd_output_real(bench->read_ceiling));
    gd_output_set(ceilings, "handoff_us", timing_json(&bench->handoff[1][GRIDDEP_MODE_GRAPH_PDL]));
    gd_output_set(document, "griddep", gd_output_string(griddep_version_text()));
    gd_output_set(document, "driver", gd_device_driver_json(info));
    gd_output_set(document, "device", gd_device_json(info));
    gd_output_set(document, "ceilings", ceilings);
    gd_output_set(document, "launch", launch ? launches_json(bench) : json_null());
    gd_output_set(document, "handoff", handoff ? handoff_json(bench) : json_null());
    gd_output_set(document, "demo", demo ? demo_json(bench) : json_null());
    gd_output_write(document);
}

/* ---- in order ---- */

static int choose_suites(gd_bench *bench)
{
    size_t index = SUITES;
    int code = bench->suite != NULL ? gd_options_choose("suite", bench->suite, suite_names, SUITES + 1, &index) : 0;
    bench->suites = index == SUITES ? (1U << SUITES) - 1 : 1U << index;
    return code;
}

static int check_device(const griddep_runtime_info *info)
{
    if (info->emulated)
        return gd_message_error(GD_EXIT_USAGE,
                                "bench measures a GPU; the times of the emulated driver are those of its model");
    if (info->capability >= 90)
        return 0;
    return gd_message_error(GD_EXIT_REFUSED, "bench needs compute capability 9.0 (Hopper); %s has %d.%d",
                            info->device_name, info->capability / 10, info->capability % 10);
}

static int run_bench(gd_bench *bench)
{
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    int code = choose_suites(bench);
    if (code == 0)
        code = gd_device_open(&bench->device, &runtime, &info);
    if (code == 0)
        code = check_device(&info);
    if (code == 0)
        code = measure_all(bench, runtime, &info);
    if (code == 0 && bench->json)
        print_json(bench, &info);
    else if (code == 0)
        print_text(bench, &info);
    griddep_runtime_close(runtime);
    return code == 0 && bench->demo_differs ? GD_EXIT_DIFFERS : code;
}

int gd_command_bench(int argc, char **argv)
{
    gd_bench bench = {.samples = 30};
    const gd_option options[] = {{GD_OPTION_COUNT, "repeat", "N",
                                  "samples of each figure (30; of launches seven times as many)", &bench.samples, 1,
                                  10000},
                                 GD_DEVICE_OPTIONS(&bench.device),
                                 {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &bench.json, 0, 0},
                                 {0}};
    const gd_usage usage = {
        .name = "bench",
        .summary =
            "Measures what this machine does: launch overhead, hand-off from kernel to kernel, the demo's chain.",
        .synopsis = "[SUITE] [--repeat N] [--json]",
        .details = details,
        .options = options,
        .words_least = 0,
        .words_most = 1};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, &bench.suite, &count);
    if (code >= 0)
        return code;
    if (bench.json)
        gd_message_want_json();
    gd_progress_begin();
    return run_bench(&bench);
}
