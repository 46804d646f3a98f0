/* Figures that several suites of griddep bench share: spreads, plans in the four modes, empty
 * kernels. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/plan/plancheck.h"

/* ---- spreads ---- */

json_t *gd_bench_spread_json(const gd_spread *spread)
{
    json_t *object = json_object();
    gd_output_set(object, "median", gd_output_real(spread->median));
    gd_output_set(object, "percentile_10", gd_output_real(spread->low));
    gd_output_set(object, "percentile_90", gd_output_real(spread->high));
    return object;
}

json_t *gd_bench_timing_json(const gd_timing *timing)
{
    const gd_spread spread = {timing->microseconds, timing->lowest, timing->highest};
    return gd_bench_spread_json(&spread);
}

/* ---- plans ---- */

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
    double microseconds = modes->timings[mode].microseconds;
    return microseconds > 0.0 ? (double)modes->bytes / (microseconds * 1e-6) : 0.0;
}

double gd_bench_of_ceiling(const gd_bench *bench, const gd_bench_modes *modes, int32_t mode)
{
    return bench->read_ceiling > 0.0 ? gd_bench_rate(modes, mode) / bench->read_ceiling : 0.0;
}

json_t *gd_bench_modes_json(const gd_bench *bench, const gd_bench_modes *modes, uint32_t parts)
{
    json_t *list = json_array();
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        const gd_timing *timing = &modes->timings[mode];
        const gd_spread part = {timing->microseconds / parts, timing->lowest / parts,
                                timing->highest / parts};
        json_t *item = json_object();
        gd_output_set(item, "mode", gd_output_string(griddep_mode_name(mode)));
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
        status = griddep_kernel_get(*module, "empty", &kernel, error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_create(bench->runtime, chain, error);
    for (int i = 0; i < EMPTY_KERNELS && status == GRIDDEP_OK; i++)
        status = griddep_chain_add(*chain, kernel, &config, NULL, 0, error);
    return status;
}

int gd_bench_empty_handoff(const gd_bench *bench, gd_timing *timing)
{
    gd_timing timings[GRIDDEP_MODE_COUNT] = {{0}};
    griddep_module *module = NULL;
    griddep_chain *chain = NULL;
    void *stream = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = make_empty_chain(bench, &module, &chain, &error);
    if (status == GRIDDEP_OK)
        status = griddep_stream_create(bench->runtime, &stream, &error);
    int code = status == GRIDDEP_OK
                   ? gd_measure_modes(bench->runtime, chain, stream, 1U << GRIDDEP_MODE_GRAPH_PDL,
                                      bench->samples, timings)
                   : gd_message_library_as(GD_EXIT_REFUSED, &error, "measuring the hand-off");
    *timing = timings[GRIDDEP_MODE_GRAPH_PDL];
    timing->microseconds /= EMPTY_KERNELS;
    timing->lowest /= EMPTY_KERNELS;
    timing->highest /= EMPTY_KERNELS;
    griddep_chain_destroy(chain);
    if (stream != NULL)
        griddep_stream_destroy(bench->runtime, stream, NULL);
    griddep_module_unload(module);
    return code;
}
