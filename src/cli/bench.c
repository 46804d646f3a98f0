/* griddep bench: suites that tell what this machine does, beside what it can do at most, measured
 * in the same run. */
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/ceiling.h"
#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

static const gd_bench_suite *const suites[] = {&gd_bench_launch, &gd_bench_handoff, &gd_bench_demo,
                                               &gd_bench_fc_chain, &gd_bench_transformer_block};

enum { SUITES = sizeof(suites) / sizeof(suites[0]) };

typedef struct gd_bench_request {
    uint64_t samples, layers;
    const char *suite, *shape, *kernel, *decoder;
    bool json;
    gd_device_choice device;
    uint32_t wanted; /* bit per suite */
    void *results[SUITES];
    bool differs;
    gd_timing handoff;  /* of empty kernels */
    double ceilings[2]; /* bytes a second read, before the suites and after them */
} gd_bench_request;

static const char details[] =
    "suites:\n"
    "  launch             host time of a launch through the library, beside the bare "
    "cuLaunchKernelEx\n"
    "  handoff            time from one kernel to the next that needs its data: streams, graphs, "
    "early starts, flags\n"
    "  demo               the demo's chain of 8 layers of 4096 x 4096 bf16\n"
    "  fc-chain           chains of matrix times vector at batch 1, in eight shapes\n"
    "  transformer-block  decoder layers at batch 1 as chains of five kernels: one, and --layers "
    "of them in a graph\n"
    "  all                all of them (the default)\n\n"
    "In each run the ceilings are measured too: how fast the memory can be read, and the hand-off "
    "of empty kernels.\n"
    "Figures are medians, with the range of the middle 80 %. Results are checked; where they are "
    "wrong the exit code "
    "is 1\n"
    "and the times count for nothing. The emulated driver is refused: its times are a model's.\n";

/* ---- in order ---- */

/* The ceiling counts as the faster of two readings. Where they differ, something else used the
 * memory meanwhile. */
static int close_ceiling(gd_bench_request *request, gd_bench *bench)
{
    double *readings = request->ceilings;
    int code = gd_ceiling_measure(bench->runtime, bench->samples, &readings[1]);
    bench->read_ceiling = readings[0] > readings[1] ? readings[0] : readings[1];
    double lesser = readings[0] > readings[1] ? readings[1] : readings[0];
    if (code == 0 && lesser < 0.97 * bench->read_ceiling)
        gd_message_warning("the machine was not quiet: its memory was read at %.3f TB/s before the "
                           "suites and at %.3f "
                           "TB/s after them",
                           readings[0] * 1e-12, readings[1] * 1e-12);
    return code;
}

static int measure_all(gd_bench_request *request, gd_bench *bench)
{
    int code = gd_ceiling_measure(bench->runtime, bench->samples, &request->ceilings[0]);
    if (code == 0)
        code = gd_bench_empty_handoff(bench, &request->handoff);
    for (uint32_t i = 0; i < SUITES && code == 0; i++) {
        if ((request->wanted >> i & 1U) == 0)
            continue;
        code = suites[i]->measure(bench, &request->results[i]);
        request->differs |= code == GD_EXIT_DIFFERS;
        code = code == GD_EXIT_DIFFERS ? 0 : code;
    }
    if (code == 0)
        code = close_ceiling(request, bench);
    gd_progress_clear();
    return code;
}

static void print_text(const gd_bench_request *request, const gd_bench *bench)
{
    gd_device_print(bench->info);
    printf("ceilings: memory read at %.3f TB/s; empty kernels of %d blocks handed off in %.3f us "
           "(graph-pdl)\n",
           bench->read_ceiling * 1e-12, bench->info->multiprocessors,
           request->handoff.microseconds);
    for (uint32_t i = 0; i < SUITES; i++)
        if (request->results[i] != NULL)
            suites[i]->print(bench, request->results[i]);
}

static void print_json(const gd_bench_request *request, const gd_bench *bench)
{
    json_t *document = json_object(), *ceilings = json_object(), *readings = json_array();
    for (size_t i = 0; i < 2; i++)
        gd_output_append(readings, gd_output_real(request->ceilings[i]));
    gd_output_set(ceilings, "read_bytes_per_second", gd_output_real(bench->read_ceiling));
    gd_output_set(ceilings, "readings", readings);
    gd_output_set(ceilings, "handoff_us", gd_bench_timing_json(&request->handoff));
    gd_output_set(document, "griddep", gd_output_string(griddep_version_text()));
    gd_output_set(document, "driver", gd_device_driver_json(bench->info));
    gd_output_set(document, "device", gd_device_json(bench->info));
    gd_output_set(document, "ceilings", ceilings);
    for (uint32_t i = 0; i < SUITES; i++)
        gd_output_set(document, suites[i]->member,
                      request->results[i] != NULL ? suites[i]->json(bench, request->results[i])
                                                  : json_null());
    gd_output_write(document);
}

/* ---- the command ---- */

static int choose_suites(gd_bench_request *request)
{
    const char *names[SUITES + 1];
    size_t index = SUITES;
    for (uint32_t i = 0; i < SUITES; i++)
        names[i] = suites[i]->name;
    names[SUITES] = "all";
    int code = request->suite != NULL
                   ? gd_options_choose("suite", request->suite, names, SUITES + 1, &index)
                   : 0;
    request->wanted = index == SUITES ? (1U << SUITES) - 1 : 1U << index;
    return code;
}

static int read_shape(const char *text, gd_bench *bench)
{
    unsigned long long rows = 0, columns = 0;
    int end = 0;
    if (text == NULL)
        return 0;
    if (sscanf(text, "%7llux%7llu%n", &rows, &columns, &end) != 2 || text[end] != '\0' ||
        rows < 1 || columns < 8 || columns % 8 != 0 || columns > 28672)
        return gd_message_error(GD_EXIT_USAGE, "--shape is ROWSxCOLUMNS, such as 4096x2048; "
                                               "columns are a multiple of 8, at most 28672");
    bench->rows = rows;
    bench->columns = columns;
    return 0;
}

static int check_request(const gd_bench_request *request, const gd_bench *bench)
{
    int code = 0;
    for (uint32_t i = 0; i < SUITES && code == 0; i++)
        if ((request->wanted >> i & 1U) != 0 && suites[i]->check != NULL)
            code = suites[i]->check(bench);
    return code;
}

static int check_device(const griddep_runtime_info *info)
{
    if (info->emulated)
        return gd_message_error(
            GD_EXIT_USAGE,
            "bench measures a GPU; the times of the emulated driver are those of its model");
    if (info->capability >= 90)
        return 0;
    return gd_message_error(GD_EXIT_REFUSED,
                            "bench needs compute capability 9.0 (Hopper); %s has %d.%d",
                            info->device_name, info->capability / 10, info->capability % 10);
}

static int run_bench(gd_bench_request *request)
{
    griddep_runtime_info info;
    gd_bench bench = {.info = &info,
                      .samples = (uint32_t)request->samples,
                      .layers = (uint32_t)request->layers,
                      .kernel = request->kernel,
                      .decoder = request->decoder};
    int code = choose_suites(request);
    if (code == 0)
        code = read_shape(request->shape, &bench);
    if (code == 0)
        code = check_request(request, &bench);
    if (code == 0)
        code = gd_device_open(&request->device, &bench.runtime, &info);
    if (code == 0)
        code = check_device(&info);
    if (code == 0)
        code = measure_all(request, &bench);
    if (code == 0 && request->json)
        print_json(request, &bench);
    else if (code == 0)
        print_text(request, &bench);
    for (uint32_t i = 0; i < SUITES; i++)
        if (request->results[i] != NULL)
            suites[i]->free(request->results[i]);
    griddep_runtime_close(bench.runtime);
    return code == 0 && request->differs ? GD_EXIT_DIFFERS : code;
}

int gd_command_bench(int argc, char **argv)
{
    gd_bench_request request = {.samples = 30, .layers = 16};
    const gd_option options[] = {
        {GD_OPTION_COUNT, "repeat", "N",
         "samples of each figure (30; of launches seven times as many)", &request.samples, 1,
         10000},
        {GD_OPTION_TEXT, "shape", "ROWSxCOLUMNS", "fc-chain: this shape alone", &request.shape, 0,
         0},
        {GD_OPTION_TEXT, "kernel", "NAME",
         "fc-chain: matvec_bf16 (the default), linear_bf16, linear_f16 or linear_fp8",
         &request.kernel, 0, 0},
        {GD_OPTION_TEXT, "decoder", "NAME",
         "transformer-block: this one alone: small, Llama-3.2-1B or Llama-3.1-8B", &request.decoder,
         0, 0},
        {GD_OPTION_COUNT, "layers", "N", "transformer-block: layers of the long chain (16)",
         &request.layers, 1, 128},
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {.name = "bench",
                            .summary = "Measures what this machine does: launch overhead, hand-off "
                                       "from kernel to kernel, chains of a\n"
                                       "network's layers, beside how fast its memory can be read.",
                            .synopsis = "[SUITE] [--repeat N] [--shape ROWSxCOLUMNS] [--kernel "
                                        "NAME] [--decoder NAME] [--layers N] [--json]",
                            .details = details,
                            .options = options,
                            .words_least = 0,
                            .words_most = 1};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, &request.suite, &count);
    if (code >= 0)
        return code;
    gd_progress_begin();
    return run_bench(&request);
}
