/* griddep demo: the library's main job from nothing. A feed-forward chain at batch 1: matrix times
 * vector layers with a normalization between them, run serially and with overlap, checked against
 * float64 on the CPU, and timed. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "griddep.h"

#include "base/text.h"

#include "cli/job/ceiling.h"
#include "cli/command.h"
#include "cli/demo.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/job/job.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/plan/plan.h"
#include "cli/plan/planbuild.h"
#include "cli/plan/plancheck.h"
#include "cli/io/progress.h"
#include "cli/job/report.h"

enum { DEFAULT_LAYERS = 8 };

typedef struct gd_demo {
    uint64_t layers, samples;
    uint64_t rows, columns; /* 0: as fits the device */
    bool json, ceiling;
    gd_device_choice device;
} gd_demo;

/* y = W x; returns y's buffer. */
static uint32_t add_matvec(gd_plan *plan, const griddep_runtime_info *info, uint64_t layer,
                           uint32_t x, uint64_t rows, uint64_t columns)
{
    gd_fill random = gd_build_normal(1000 + layer, 1.0L / sqrtl((long double)columns));
    uint32_t weight = gd_build_buffer(plan, gd_heap_format("weight_%u", (unsigned)layer),
                                      GD_TYPE_bf16, rows * columns, random);
    uint32_t y = gd_build_buffer(plan, gd_heap_format("y_%u", (unsigned)layer), GD_TYPE_bf16, rows,
                                 (gd_fill){0});
    gd_plan_launch *launch =
        gd_build_launch(plan, "matvec_bf16", gd_build_matvec_shape(info, rows, columns));
    gd_build_array(launch, weight, GRIDDEP_ACCESS_CONSTANT);
    gd_build_array(launch, x, GRIDDEP_ACCESS_READ);
    gd_build_array(launch, y, GRIDDEP_ACCESS_WRITE);
    gd_build_u32(launch, rows);
    gd_build_u32(launch, columns);
    return y;
}

/* The normalized y; returns its buffer. */
static uint32_t add_norm(gd_plan *plan, uint64_t layer, uint32_t y, uint64_t count)
{
    gd_fill random = {.kind = GD_FILL_UNIFORM, .seed = 2000 + layer, .a = 0.5L, .b = 1.5L};
    uint32_t weight = gd_build_buffer(plan, gd_heap_format("norm_%u", (unsigned)layer),
                                      GD_TYPE_bf16, count, random);
    uint32_t x = gd_build_buffer(plan, gd_heap_format("x_%u", (unsigned)layer + 1), GD_TYPE_bf16,
                                 count, (gd_fill){0});
    uint64_t threads = (count / 8 + 31) / 32 * 32;
    gd_build_shape shape = {1, (uint32_t)(threads < 1024 ? threads : 1024), 0};
    gd_plan_launch *launch = gd_build_launch(plan, "rms_norm", shape);
    gd_build_array(launch, y, GRIDDEP_ACCESS_READ);
    gd_build_array(launch, weight, GRIDDEP_ACCESS_CONSTANT);
    gd_build_array(launch, x, GRIDDEP_ACCESS_WRITE);
    gd_build_u32(launch, count);
    gd_build_f32(launch, 1e-5);
    return x;
}

/* Layers take turns in shape, rows x columns and columns x rows, so that each fits the one
 * before. */
static void build_plan(const gd_demo *demo, const griddep_runtime_info *info, gd_plan *plan)
{
    uint32_t x = gd_build_buffer(plan, gd_heap_string("x_0"), GD_TYPE_bf16, demo->columns,
                                 gd_build_normal(1, 1.0L));
    uint32_t y = x;
    plan->name = gd_heap_format("demo, %u %s of %u x %u bf16", (unsigned)demo->layers,
                                gd_plural(demo->layers, "layer", "layers"), (unsigned)demo->rows,
                                (unsigned)demo->columns);
    for (uint64_t layer = 0; layer < demo->layers; layer++) {
        uint64_t rows = layer % 2 == 0 ? demo->rows : demo->columns;
        uint64_t columns = layer % 2 == 0 ? demo->columns : demo->rows;
        y = add_matvec(plan, info, layer, x, rows, columns);
        if (layer + 1 < demo->layers)
            x = add_norm(plan, layer, y, rows);
    }
    gd_build_expect(plan, y, 2e-2);
    gd_plan_finish(plan);
}

static int check_device(const griddep_runtime_info *info)
{
    if (info->capability >= 90)
        return 0;
    return gd_message_error(GD_EXIT_REFUSED,
                            "the demo's chain cannot run on %s: its kernels need compute "
                            "capability 9.0 (Hopper) for dependent "
                            "launch and bulk copies, the device has %d.%d",
                            info->device_name, info->capability / 10, info->capability % 10);
}

/* The emulated device, which is a CPU, gets a sixteenth of the work. */
static void choose_size(gd_demo *demo, const griddep_runtime_info *info)
{
    uint64_t usual = info->emulated ? 1024 : 4096;
    demo->rows = demo->rows != 0 ? demo->rows : usual;
    demo->columns = demo->columns != 0 ? demo->columns : usual;
}

int gd_demo_make_plan(const griddep_runtime_info *info, gd_plan *plan)
{
    gd_demo demo = {.layers = DEFAULT_LAYERS};
    int code = check_device(info);
    if (code != 0)
        return code;
    choose_size(&demo, info);
    build_plan(&demo, info, plan);
    return gd_plan_check_memory(plan);
}

static void print_results(const gd_demo *demo, const gd_job *job, const griddep_runtime_info *info,
                          double ceiling)
{
    if (demo->json)
        gd_report_print_json(job, info, ceiling);
    else
        gd_report_print(job, info, ceiling);
}

static int run_plan(const gd_demo *demo, griddep_runtime *runtime, const griddep_runtime_info *info)
{
    gd_plan plan = {0};
    double ceiling = 0.0;
    build_plan(demo, info, &plan);
    gd_job job = {
        .plan = &plan, .modes = (1U << GRIDDEP_MODE_COUNT) - 1, .samples = (uint32_t)demo->samples};
    int code = gd_plan_check_memory(&plan);
    if (code == 0 && !demo->json)
        gd_device_print(info);
    if (code == 0)
        code = gd_job_run(&job, runtime);
    if ((code == GD_EXIT_OK || code == GD_EXIT_DIFFERS) && demo->ceiling) {
        int failed =
            gd_ceiling_measure(runtime, gd_job_samples(&job, info->emulated != 0), &ceiling);
        code = failed != 0 ? failed : code;
    }
    if (code == GD_EXIT_OK || code == GD_EXIT_DIFFERS)
        print_results(demo, &job, info, ceiling);
    gd_job_free(&job);
    gd_plan_free(&plan);
    return code;
}

static int run_demo(gd_demo *demo)
{
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    if (demo->rows % 8 != 0 || demo->columns % 8 != 0)
        return gd_message_error(GD_EXIT_USAGE, "--rows and --columns are multiples of 8");
    int code = gd_device_open(&demo->device, &runtime, &info);
    if (code != 0)
        return code;
    code = check_device(&info);
    if (code == 0 && demo->ceiling && info.emulated)
        code = gd_message_error(
            GD_EXIT_USAGE,
            "--ceiling measures a GPU's memory; on the emulated driver there is none to measure");
    choose_size(demo, &info);
    if (code == 0)
        code = run_plan(demo, runtime, &info);
    griddep_runtime_close(runtime);
    return code;
}

static const char examples[] = "A small network on the emulated driver:\n"
                               "    griddep demo --emulate --layers 2 --rows 64 --columns 64\n";

int gd_command_demo(int argc, char **argv)
{
    gd_demo demo = {.layers = DEFAULT_LAYERS, .samples = GD_JOB_DEFAULT_SAMPLES};
    const gd_option options[] = {
        {GD_OPTION_COUNT, "layers", "N", "layers (8)", &demo.layers, 1, 1024},
        {GD_OPTION_COUNT, "rows", "N",
         "rows of a layer's weights (4096, emulated 1024), a multiple of 8", &demo.rows, 8,
         1 << 20},
        {GD_OPTION_COUNT, "columns", "N",
         "columns of a layer's weights (4096, emulated 1024), a multiple of 8", &demo.columns, 8,
         1 << 20},
        {GD_OPTION_COUNT, "repeat", "N", "samples of each mode's timing (30, emulated 1)",
         &demo.samples, 1, 100000},
        {GD_OPTION_FLAG, "ceiling", NULL, "also measure how fast the device's memory can be read",
         &demo.ceiling, 0, 0},
        GD_DEVICE_OPTIONS(&demo.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &demo.json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "demo",
        .summary = "Runs a feed-forward chain (matrix times vector, normalization, and so on, in "
                   "bf16) serially and with programmatic dependent launch, checks the results, and "
                   "shows the time saved.",
        .synopsis =
            "[--layers N] [--rows N] [--columns N] [--repeat N] [--ceiling] [--emulate] [--json]",
        .examples = examples,
        .options = options};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, NULL, &count);
    if (code >= 0)
        return code;
    gd_progress_begin();
    return run_demo(&demo);
}
