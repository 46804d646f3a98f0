/* Measuring: the ceilings, the suites between two readings of them, and the report. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"
#include "cli/job/ceiling.h"
#include "cli/job/job.h"
#include "cli/plan/plancheck.h"

/* ---- figures ---- */

json_t *gd_bench_spread_json(const gd_spread *spread)
{
    json_t *object = json_object();
    gd_output_set(object, "median", gd_output_real(spread->median));
    gd_output_set(object, "percentile_10", gd_output_real(spread->low));
    gd_output_set(object, "percentile_90", gd_output_real(spread->high));
    return object;
}

int gd_bench_run_plan(const gd_bench *bench, const gd_plan *plan, gd_bench_modes *modes)
{
    gd_job job = {.plan = plan, .modes = (1U << GRIDDEP_MODE_COUNT) - 1, .samples = bench->samples};
    int code = gd_plan_check_memory(plan);
    if (code == 0)
        code = gd_job_run(&job, bench->runtime);
    modes->as_expected = code == 0;
    modes->bytes = plan->step_bytes;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        modes->timings[mode] = job.results[mode].timing;
    gd_job_free(&job);
    return code == GD_EXIT_DIFFERS ? 0 : code;
}

double gd_bench_rate(const gd_bench_modes *modes, int32_t mode)
{
    double microseconds = modes->timings[mode].us.median;
    return microseconds > 0.0 ? (double)modes->bytes / (microseconds * 1e-6) : 0.0;
}

double gd_bench_of_ceiling(const gd_bench *bench, const gd_bench_modes *modes, int32_t mode)
{
    return bench->read_ceiling > 0.0 ? gd_bench_rate(modes, mode) / bench->read_ceiling : 0.0;
}

static gd_spread divide(gd_spread spread, uint32_t parts)
{
    return (gd_spread){spread.median / parts, spread.low / parts, spread.high / parts};
}

json_t *gd_bench_modes_json(const gd_bench *bench, const gd_bench_modes *modes, uint32_t parts)
{
    json_t *list = json_array();
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        const gd_spread part = divide(modes->timings[mode].us, parts);
        json_t *item = json_object();
        gd_output_set(item, "mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, mode)));
        gd_output_set(item, "us", gd_bench_spread_json(&part));
        gd_output_set(item, "bytes_per_second", gd_output_real(gd_bench_rate(modes, mode)));
        gd_output_set(item, "of_ceiling", gd_output_real(gd_bench_of_ceiling(bench, modes, mode)));
        gd_output_append(list, item);
    }
    return list;
}

/* ---- empty kernels ---- */

enum { EMPTY_KERNELS = 64 };

static const char empty_ptx[] = ".version 8.0\n"
                                ".target sm_90\n"
                                ".address_size 64\n"
                                ".visible .entry empty()\n"
                                "{\n"
                                "    griddepcontrol.launch_dependents;\n"
                                "    griddepcontrol.wait;\n"
                                "    ret;\n"
                                "}\n";

static int32_t make_empty_chain(const gd_bench *bench, griddep_module **module,
                                griddep_chain **chain, griddep_error *error)
{
    const griddep_launch_config config = {
        .size = sizeof(config), .grid = {(uint32_t)bench->info->multiprocessors}, .block = {32}};
    griddep_kernel *kernel = NULL;
    int32_t status =
        griddep_module_load(bench->runtime, empty_ptx, strlen(empty_ptx), NULL, module, error);
    if (status == GRIDDEP_OK)
        status = griddep_module_find_kernel(*module, "empty", &kernel, error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_create(bench->runtime, chain, error);
    for (int i = 0; i < EMPTY_KERNELS && status == GRIDDEP_OK; i++)
        status = griddep_chain_add(*chain, kernel, &config, NULL, 0, error);
    return status;
}

static int measure_empty_handoff(const gd_bench *bench, gd_spread *us)
{
    gd_timing timings[GRIDDEP_MODE_COUNT] = {{0}};
    griddep_module *module = NULL;
    griddep_chain *chain = NULL;
    gd_experiment experiment = {.runtime = bench->runtime};
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = make_empty_chain(bench, &module, &chain, &error);
    if (status == GRIDDEP_OK)
        status = griddep_stream_create(bench->runtime, NULL, &experiment.stream, &error);
    int code = status == GRIDDEP_OK
                   ? gd_measure_modes(chain, &experiment, 1U << GRIDDEP_MODE_GRAPH_PDL,
                                      bench->samples, timings)
                   : gd_message_library_as(GD_EXIT_REFUSED, &error, "measuring the hand-off");
    *us = divide(timings[GRIDDEP_MODE_GRAPH_PDL].us, EMPTY_KERNELS);
    griddep_chain_destroy(chain);
    if (experiment.stream != NULL)
        griddep_stream_destroy(bench->runtime, experiment.stream, NULL);
    griddep_module_unload(module);
    return code;
}

/* ---- the suites ---- */

static int check_device(const griddep_runtime_info *info)
{
    if (info->emulated)
        return gd_message_error(
            GD_EXIT_USAGE,
            "bench/suites measures a GPU; the times of the emulated driver are those of its model");
    if (info->capability >= 90)
        return 0;
    return gd_message_error(GD_EXIT_REFUSED,
                            "bench/suites needs compute capability 9.0 (Hopper); %s has %d.%d",
                            info->device_name, info->capability / 10, info->capability % 10);
}

/* The ceiling counts as the faster of two readings. Where they differ, something else used the
 * memory meanwhile. */
static int close_ceiling(gd_bench *bench)
{
    double *readings = bench->readings;
    int code = gd_ceiling_measure(bench->runtime, bench->samples, &readings[1]);
    bench->read_ceiling = readings[0] > readings[1] ? readings[0] : readings[1];
    double lesser = readings[0] > readings[1] ? readings[1] : readings[0];
    if (code == 0 && lesser < 0.97 * bench->read_ceiling)
        gd_message_warning(
            "the machine was not quiet: its memory was read at %.3f TB/s at first and at %.3f "
            "TB/s at last",
            readings[0] * 1e-12, readings[1] * 1e-12);
    return code;
}

static int measure_all(const gd_bench_plan *plan, gd_bench *bench, void **results, bool *differs)
{
    int code = gd_ceiling_measure(bench->runtime, bench->samples, &bench->readings[0]);
    if (code == 0)
        code = measure_empty_handoff(bench, &bench->handoff);
    for (uint32_t i = 0; i < plan->suite_count && code == 0; i++) {
        if ((plan->wanted >> i & 1U) == 0)
            continue;
        code = plan->suites[i]->measure(bench, &results[i]);
        *differs |= code == GD_EXIT_DIFFERS;
        code = code == GD_EXIT_DIFFERS ? 0 : code;
    }
    if (code == 0)
        code = close_ceiling(bench);
    gd_progress_clear();
    return code;
}

static void print_text(const gd_bench_plan *plan, const gd_bench *bench, void *const *results)
{
    gd_device_print(bench->info);
    gd_output_print(
        "ceilings: memory read at %.3f TB/s; empty kernels of %d blocks handed off in %.3f us "
        "(graph-pdl)\n",
        bench->read_ceiling * 1e-12, bench->info->multiprocessors, bench->handoff.median);
    for (uint32_t i = 0; i < plan->suite_count; i++)
        if (results[i] != NULL)
            plan->suites[i]->print(bench, results[i]);
}

static void print_json(const gd_bench_plan *plan, const gd_bench *bench, void *const *results)
{
    json_t *document = json_object(), *ceilings = json_object(), *readings = json_array();
    for (size_t i = 0; i < 2; i++)
        gd_output_append(readings, gd_output_real(bench->readings[i]));
    gd_output_set(ceilings, "read_bytes_per_second", gd_output_real(bench->read_ceiling));
    gd_output_set(ceilings, "readings", readings);
    gd_output_set(ceilings, "handoff_us", gd_bench_spread_json(&bench->handoff));
    gd_output_set(document, "griddep", gd_output_string(griddep_version_text()));
    gd_output_set(document, "driver", gd_device_driver_json(bench->info));
    gd_output_set(document, "device", gd_device_json(bench->info));
    gd_output_set(document, "ceilings", ceilings);
    for (uint32_t i = 0; i < plan->suite_count; i++)
        gd_output_set(document, plan->suites[i]->member,
                      results[i] != NULL ? plan->suites[i]->json(bench, results[i]) : json_null());
    gd_output_write(document);
}

int gd_bench_run(const gd_bench_plan *plan)
{
    griddep_runtime_info info;
    gd_bench bench = {.info = &info, .samples = plan->samples, .request = plan->request};
    void **results = gd_heap_take(plan->suite_count, sizeof(*results));
    bool differs = false;
    int code = gd_device_open(plan->device, &bench.runtime, &info);
    if (code == 0)
        code = check_device(&info);
    if (code == 0)
        code = measure_all(plan, &bench, results, &differs);
    if (code == 0 && plan->json)
        print_json(plan, &bench, results);
    else if (code == 0)
        print_text(plan, &bench, results);
    for (uint32_t i = 0; i < plan->suite_count; i++)
        if (results[i] != NULL)
            plan->suites[i]->free(results[i]);
    free(results);
    griddep_runtime_close(bench.runtime);
    return code == 0 && differs ? GD_EXIT_DIFFERS : code;
}
