/* bench/suites: how the library compares with bare driver calls and with other ways to hand a step
 * on, and what its kernels reach in the chains of a network's layers. doc/performance.md has the
 * figures. */
#include "bench/suites.h"

#include <stdio.h>

#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/progress.h"

static const gd_bench_suite *const suites[] = {&suite_launch, &suite_rounds, &suite_handoff,
                                               &suite_fc_chain, &suite_transformer_block};

enum { SUITES = sizeof(suites) / sizeof(suites[0]) };

static const char details[] =
    "suites:\n"
    "  launch             host time of a launch through the library, beside the bare "
    "cuLaunchKernelEx,\n"
    "                     and of other arguments beside cuGraphExecKernelNodeSetParams\n"
    "  rounds             a chain of four kernels many times back to back, with and without "
    "overlap across rounds\n"
    "  handoff            time from one kernel to the next that needs its data: streams, graphs, "
    "early starts, flags\n"
    "  fc-chain           chains of matrix times vector at batch 1, in eight shapes\n"
    "  transformer-block  decoder layers at batch 1 as chains of five kernels: one, and --layers "
    "of them in a graph\n"
    "  all                all of them (the default)\n";

static int choose_suites(const char *suite, uint32_t *wanted)
{
    const char *names[SUITES + 1];
    size_t index = SUITES;
    for (uint32_t i = 0; i < SUITES; i++)
        names[i] = suites[i]->name;
    names[SUITES] = "all";
    int code = suite != NULL ? gd_options_choose("suite", suite, names, SUITES + 1, &index) : 0;
    *wanted = index == SUITES ? (1U << SUITES) - 1 : 1U << index;
    return code;
}

static int read_shape(const char *text, suites_request *request)
{
    unsigned long long rows = 0, columns = 0;
    int end = 0;
    if (text == NULL)
        return 0;
    if (sscanf(text, "%7llux%7llu%n", &rows, &columns, &end) != 2 || text[end] != '\0' ||
        rows < 1 || columns < 8 || columns % 8 != 0 || columns > 28672)
        return gd_message_error(GD_EXIT_USAGE, "--shape is ROWSxCOLUMNS, such as 4096x2048; "
                                               "columns are a multiple of 8, at most 28672");
    request->rows = rows;
    request->columns = columns;
    return 0;
}

int main(int argc, char **argv)
{
    gd_bench_plan plan = {.suites = suites, .suite_count = SUITES};
    suites_request request = {0};
    gd_device_choice device = {0};
    const char *suite = NULL, *shape = NULL;
    uint64_t samples = 30, layers = 16;
    const gd_option options[] = {
        {GD_OPTION_COUNT, "repeat", "N",
         "samples of each figure (30; of launches seven times as many)", &samples, 1, 10000},
        {GD_OPTION_TEXT, "shape", "ROWSxCOLUMNS", "fc-chain: this shape alone", (void *)&shape, 0,
         0},
        {GD_OPTION_TEXT, "kernel", "NAME",
         "fc-chain: matvec_bf16 (the default), linear_bf16, linear_f16 or linear_fp8",
         (void *)&request.kernel, 0, 0},
        {GD_OPTION_TEXT, "decoder", "NAME",
         "transformer-block: this one alone: small, Llama-3.2-1B or Llama-3.1-8B",
         (void *)&request.decoder, 0, 0},
        {GD_OPTION_COUNT, "layers", "N", "transformer-block: layers of the long chain (16)",
         &layers, 1, 128},
        GD_GPU_OPTIONS(&device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &plan.json, 0, 0},
        {0}};
    const gd_usage usage = {.name = "bench/suites",
                            .summary = "Measures the library on this machine's GPU: launches, "
                                       "hand-offs, chains of a network's layers.",
                            .synopsis = "[SUITE] [--repeat N] [--shape ROWSxCOLUMNS] [--kernel "
                                        "NAME] [--decoder NAME] [--layers N] [--json]",
                            .details = details,
                            .options = options,
                            .words_most = 1,
                            .is_program = true};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, &suite, &count);
    if (code >= 0)
        return code;
    if (plan.json)
        gd_message_want_json();
    code = choose_suites(suite, &plan.wanted);
    if (code == 0)
        code = read_shape(shape, &request);
    if (code != 0)
        return code;
    request.layers = (uint32_t)layers;
    plan.samples = (uint32_t)samples;
    plan.device = &device;
    plan.request = &request;
    gd_progress_begin();
    return gd_bench_run(&plan);
}
