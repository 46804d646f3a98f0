/* griddep compare: which of two chains is faster, and by how much. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/statistics.h"
#include "experiment/clock.h"
#include "griddep.h"

#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"
#include "cli/job/session.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"

enum { SIDES = 2, GROUPS = 7, DEFAULT_PAIRS = 21 };

/* A sample lasts at least this long. */
static const double sample_microseconds = 2000.0;

typedef struct compare_request {
    const char *paths[SIDES];
    const char *mode; /* NULL: graph-pdl */
    uint64_t pairs;   /* of a group */
    bool json;
    gd_device_choice device;
} compare_request;

/* What came of it: B's time as a part of A's, median of each group's pairs. */
typedef struct comparison {
    const char *mode;
    uint32_t groups, pairs;
    double ratio, lowest, highest; /* over the groups */
    double us[SIDES];              /* of one run, medians over all pairs */
} comparison;

static const char details[] =
    "Both chains run in turns, in pairs, so that a drift of the device's clocks meets both alike. "
    "Pairs come in groups, and each group loads the code of both chains anew: where code comes to "
    "lie moves a chain by more than the clock's noise. The second chain is called faster or slower "
    "where the medians of all groups agree; the range is theirs. Results are not compared: "
    "'griddep "
    "run' checks each chain by itself.\n\n"
    "exit codes:\n"
    "  0    measured\n"
    "  2    wrong usage, or a chain file that cannot be read or is not valid\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] = "A chain, and another way to do the same:\n"
                               "    griddep compare chain.yaml examples/vector_add.yaml\n";

static int report_timing_error(const griddep_error *error, const char *path)
{
    return gd_message_library_at((gd_place){path, 0, 0}, error, "timing");
}

/* Pairs of samples of two sessions, in alternating order. */
static int time_pairs(const compare_request *request, gd_session sessions[SIDES],
                      gd_clock clocks[SIDES], int32_t mode, double *times[SIDES], uint32_t pairs)
{
    griddep_error error;
    uint32_t batches[SIDES] = {0};
    griddep_error_init(&error);
    for (int i = 0; i < SIDES; i++)
        if (gd_clock_choose_batch(&clocks[i], sessions[i].chain, mode, sample_microseconds,
                                  &batches[i], &error) != GRIDDEP_OK)
            return report_timing_error(&error, request->paths[i]);
    for (uint32_t pair = 0; pair < pairs; pair++) {
        for (int turn = 0; turn < SIDES; turn++) {
            int i = (turn + (int)pair) % SIDES;
            if (gd_clock_time(&clocks[i], sessions[i].chain, mode, batches[i], &times[i][pair],
                              &error) != GRIDDEP_OK)
                return report_timing_error(&error, request->paths[i]);
        }
    }
    return 0;
}

/* Both chains, loaded anew, and their pairs. */
static int time_group(const compare_request *request, const gd_plan plans[SIDES],
                      griddep_runtime *runtime, int32_t mode, double *times[SIDES], uint32_t pairs)
{
    gd_session sessions[SIDES] = {{0}};
    gd_clock clocks[SIDES] = {{0}};
    griddep_error error;
    int code = 0;
    griddep_error_init(&error);
    for (int i = 0; i < SIDES && code == 0; i++) {
        code = gd_session_open(&sessions[i], &plans[i], runtime, GRIDDEP_PDL_AUTO);
        if (code == 0)
            code = gd_session_run(&sessions[i], mode, NULL);
        if (code == 0 &&
            gd_clock_open(runtime, sessions[i].stream, &clocks[i], &error) != GRIDDEP_OK)
            code = report_timing_error(&error, request->paths[i]);
    }
    if (code == 0)
        code = time_pairs(request, sessions, clocks, mode, times, pairs);
    for (int i = 0; i < SIDES; i++) {
        gd_clock_close(&clocks[i]);
        gd_session_close(&sessions[i]);
    }
    return code;
}

static int measure(const compare_request *request, const gd_plan plans[SIDES],
                   griddep_runtime *runtime, int32_t mode, comparison *result)
{
    uint32_t pairs = result->pairs, count = result->groups * pairs;
    double *times[SIDES], *ratios = gd_heap_take(pairs, sizeof(*ratios));
    double *medians = gd_heap_take(result->groups, sizeof(*medians));
    int code = 0;
    for (int i = 0; i < SIDES; i++)
        times[i] = gd_heap_take(count, sizeof(double));
    for (uint32_t group = 0; group < result->groups && code == 0; group++) {
        double *from[SIDES] = {times[0] + (size_t)group * pairs, times[1] + (size_t)group * pairs};
        gd_progress_show("comparing: group %u of %u", (unsigned)group + 1,
                         (unsigned)result->groups);
        code = time_group(request, plans, runtime, mode, from, pairs);
        for (uint32_t i = 0; i < pairs; i++)
            ratios[i] = from[0][i] > 0 ? from[1][i] / from[0][i] : 1;
        medians[group] = gd_statistics_median(ratios, pairs);
    }
    gd_progress_wipe();
    for (int i = 0; i < SIDES; i++) {
        result->us[i] = gd_statistics_median(times[i], count);
        free(times[i]);
    }
    result->ratio = gd_statistics_median(medians, result->groups);
    result->lowest = medians[0];
    result->highest = medians[result->groups - 1];
    free(medians);
    free(ratios);
    return code;
}

static const char *verdict_of(const comparison *result)
{
    return result->highest < 1 ? "faster" : result->lowest > 1 ? "slower" : "no different";
}

static double percent(double ratio)
{
    return 100 * (ratio - 1);
}

static void print(const compare_request *request, const comparison *result)
{
    const char *verdict = verdict_of(result);
    for (int i = 0; i < SIDES; i++)
        gd_output_print("%c  %.2f us  %s\n", 'A' + i, result->us[i], request->paths[i]);
    gd_output_print("B is %s: %+.2f %% of A's time (%+.2f to %+.2f over %u %s of %u %s, mode %s)\n",
                    verdict, percent(result->ratio), percent(result->lowest),
                    percent(result->highest), (unsigned)result->groups,
                    gd_plural(result->groups, "group", "groups"), (unsigned)result->pairs,
                    gd_plural(result->pairs, "pair", "pairs"), result->mode);
}

static void print_json(const compare_request *request, const comparison *result,
                       const griddep_runtime_info *info)
{
    gd_output_write(GD_OBJECT(
        {"driver", gd_device_driver_json(info)}, {"device", gd_device_json(info)},
        {"mode", gd_output_string(result->mode)}, {"first", gd_output_string(request->paths[0])},
        {"second", gd_output_string(request->paths[1])},
        {"first_us", gd_output_real(result->us[0])}, {"second_us", gd_output_real(result->us[1])},
        {"groups", json_integer(result->groups)}, {"pairs", json_integer(result->pairs)},
        {"ratio", gd_output_real(result->ratio)}, {"lowest", gd_output_real(result->lowest)},
        {"highest", gd_output_real(result->highest)},
        {"verdict", gd_output_string(verdict_of(result))}));
}

/* Model time is the same each time, and dear: one pair tells all. */
static int compare(const compare_request *request, const gd_plan plans[SIDES])
{
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info = {.size = sizeof(info)};
    int32_t mode = GRIDDEP_MODE_GRAPH_PDL;
    int code = request->mode != NULL ? gd_options_choose_mode(request->mode, &mode) : 0;
    if (code == 0)
        code = gd_device_open(&request->device, &runtime, &info);
    if (code != 0)
        return code;
    comparison result = {.mode = griddep_mode_name(mode),
                         .groups = info.emulated ? 1 : GROUPS,
                         .pairs = info.emulated ? 1 : (uint32_t)request->pairs};
    code = measure(request, plans, runtime, mode, &result);
    if (code == 0 && request->json)
        print_json(request, &result, &info);
    if (code == 0 && !request->json) {
        gd_device_print(&info);
        print(request, &result);
    }
    griddep_runtime_close(runtime);
    return code;
}

static int load(const char *path, gd_plan *plan)
{
    int code = gd_planfile_load(path, plan);
    return code != 0 ? code : gd_plan_check_whole(plan);
}

int gd_command_compare(int argc, char **argv)
{
    compare_request request = {.pairs = DEFAULT_PAIRS};
    gd_plan plans[SIDES] = {{0}};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "serial, pdl, graph or graph-pdl (the default)",
         (void *)&request.mode, 0, 0},
        {GD_OPTION_COUNT, "pairs", "N", "pairs of a group (21)", &request.pairs, 1, 10000},
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "compare",
        .summary = "Times two chains in pairs, and tells which is faster and by how much.",
        .synopsis = "A.yaml B.yaml [--mode MODE] [--pairs N] [--driver DRIVER] [--json]",
        .details = details,
        .examples = examples,
        .options = options,
        .words_least = SIDES,
        .words_most = SIDES};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, request.paths, &count);
    if (code >= 0)
        return code;
    if (request.json)
        gd_message_want_json();
    code = 0;
    for (int i = 0; i < SIDES && code == 0; i++)
        code = load(request.paths[i], &plans[i]);
    if (code == 0)
        code = compare(&request, plans);
    for (int i = 0; i < SIDES; i++)
        gd_plan_free(&plans[i]);
    return code;
}
