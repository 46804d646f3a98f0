/* griddep compare: which of two chains is faster, and by how much. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/statistics.h"
#include "measure/clock.h"
#include "griddep.h"

#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "cli/io/progress.h"
#include "cli/job/measure.h"
#include "cli/job/overlap.h"
#include "cli/job/session.h"
#include "cli/plan/plancheck.h"
#include "cli/program/attachedprogram.h"
#include "cli/program/recordedprogram.h"
#include "cli/show/traceview.h"

enum { SIDES = 2, GROUPS = 7, DEFAULT_PAIRS = 21, TRACED_RUNS = 15 };

/* A sample lasts at least this long. */
static const double sample_microseconds = 2000.0;

typedef struct compare_request {
    const char *paths[SIDES];
    const char *names[SIDES]; /* as people know them */
    char **programs[SIDES];   /* that are recorded; NULL: a chain file is given */
    const char *svg;
    const char *mode; /* NULL: graph-pdl */
    uint64_t pairs;   /* of a group */
    bool json;
    gd_device_choice device;
} compare_request;

/* What is drawn of one. */
typedef struct side {
    gd_session session;
    griddep_timeline *timeline;
    gd_traceview view;
    char *title;
} side;

/* What came of it: B's time as a part of A's, median of each group's pairs. */
typedef struct comparison {
    const char *mode;
    uint32_t groups, pairs;
    double ratio, lowest, highest; /* over the groups */
    double us[SIDES];              /* of one run, medians over all pairs */
} comparison;

static const char details[] =
    "Both chains run in turns, in pairs, so that a drift of the device's clocks affects both "
    "alike. Pairs form groups, and each group loads the code of both chains anew: the address of "
    "the code changes a chain's time by more than the clock's noise. The second chain is faster "
    "or slower if the medians of all groups agree; the report has their range. Results are not "
    "compared: 'griddep run' checks each chain by itself.\n\n"
    "Two programs, each after a '--', run one after the other; their stdout goes to stderr. The "
    "command records their launches, as 'griddep audit --record' does. It times the recorded "
    "chains, without other work of the programs. The default mode of programs is pdl.\n\n"
    "exit codes:\n"
    "  0    measured\n"
    "  2    wrong usage, or a chain file that cannot be read or is not valid\n"
    "  3    no driver\n"
    "  4    another failure\n";

static const char examples[] = "Two chains that do the same:\n"
                               "    griddep compare chain.yaml examples/vector_add.yaml\n"
                               "The launches of two programs, and a picture of both:\n"
                               "    griddep compare --svg both.svg -- ./application -- "
                               "./application\n";

static int report_timing_error(const gd_session *session, const griddep_error *error)
{
    return gd_message_library_at((gd_place){session->beside, 0, 0}, error,
                                 gd_measure_words(&session->experiment));
}

/* Pairs of samples of two sessions, in alternating order. */
static int time_pairs(gd_session sessions[SIDES], gd_clock clocks[SIDES], int32_t mode,
                      double *times[SIDES], uint32_t pairs)
{
    griddep_error error;
    uint32_t batches[SIDES] = {0};
    griddep_error_init(&error);
    for (int i = 0; i < SIDES; i++)
        if (gd_clock_choose_batch(&clocks[i], sessions[i].chain, mode, sample_microseconds,
                                  &batches[i], &error) != GRIDDEP_OK)
            return report_timing_error(&sessions[i], &error);
    for (uint32_t pair = 0; pair < pairs; pair++) {
        for (int turn = 0; turn < SIDES; turn++) {
            int i = (turn + (int)pair) % SIDES;
            if (gd_clock_time(&clocks[i], sessions[i].chain, mode, batches[i], &times[i][pair],
                              &error) != GRIDDEP_OK)
                return report_timing_error(&sessions[i], &error);
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
        sessions[i].beside = request->names[i];
        if (code == 0)
            code = gd_session_run(&sessions[i], mode, sessions[i].experiment.serial);
        if (code == 0 && gd_clock_open(&sessions[i].experiment, &clocks[i], &error) != GRIDDEP_OK)
            code = report_timing_error(&sessions[i], &error);
    }
    if (code == 0)
        code = time_pairs(sessions, clocks, mode, times, pairs);
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

static void print(const compare_request *request, const comparison *result)
{
    const char *verdict = verdict_of(result);
    for (int i = 0; i < SIDES; i++)
        gd_output_print("%c  %.2f us  %s\n", 'A' + i, result->us[i], request->names[i]);
    gd_output_print("B is %s: it takes %.2f %% of A's time (%.2f to %.2f over %u %s of %u %s, mode "
                    "%s)\n",
                    verdict, 100 * result->ratio, 100 * result->lowest, 100 * result->highest,
                    (unsigned)result->groups, gd_plural(result->groups, "group", "groups"),
                    (unsigned)result->pairs, gd_plural(result->pairs, "pair", "pairs"),
                    result->mode);
}

static void print_json(const compare_request *request, const comparison *result,
                       const griddep_runtime_info *info)
{
    gd_output_write(GD_OBJECT(
        {"driver", gd_device_driver_json(info)}, {"device", gd_device_json(info)},
        {"mode", gd_output_string(result->mode)}, {"first", gd_output_string(request->names[0])},
        {"second", gd_output_string(request->names[1])},
        {"first_us", gd_output_real(result->us[0])}, {"second_us", gd_output_real(result->us[1])},
        {"groups", json_integer(result->groups)}, {"pairs", json_integer(result->pairs)},
        {"ratio", gd_output_real(result->ratio)}, {"lowest", gd_output_real(result->lowest)},
        {"highest", gd_output_real(result->highest)},
        {"verdict", gd_output_string(verdict_of(result))}));
}

/* ---- the pictures ---- */

static int trace_side(const gd_plan *plan, const char *name, griddep_runtime *runtime, int32_t mode,
                      side *into)
{
    const griddep_timeline_options options = {.size = sizeof(options)};
    griddep_error error;
    griddep_error_init(&error);
    int code = gd_session_open(&into->session, plan, runtime, GRIDDEP_PDL_DEFAULT);
    into->session.beside = name;
    if (code == 0)
        code = gd_session_run(&into->session, mode, into->session.experiment.serial);
    if (code == 0 && griddep_timeline_create(into->session.chain, &options, &into->timeline,
                                             &error) != GRIDDEP_OK)
        code = gd_message_library(&error, "instrumenting the chain");
    into->view.runs = into->session.emulated ? 1 : TRACED_RUNS;
    if (code == 0)
        code = gd_overlap_trace_typical(&into->session, into->timeline, mode, into->view.runs,
                                        &into->view.span_least, &into->view.span_most);
    return code == 0 ? gd_traceview_read(&into->view, into->timeline) : code;
}

/* One above the other, in one scale. */
static int draw(const compare_request *request, const gd_plan plans[SIDES],
                griddep_runtime *runtime, const griddep_runtime_info *info, int32_t mode,
                const comparison *result)
{
    side *sides = gd_heap_take(SIDES, sizeof(*sides));
    gd_traceview views[SIDES];
    int code = 0;
    for (int i = 0; i < SIDES && code == 0; i++) {
        sides[i].title = gd_heap_format("%c: %s, %.2f us without clock readings", 'A' + i,
                                        request->names[i], result->us[i]);
        sides[i].view = gd_traceview_of(&plans[i], info);
        sides[i].view.chain = sides[i].title;
        code = trace_side(&plans[i], request->names[i], runtime, mode, &sides[i]);
        views[i] = sides[i].view;
    }
    gd_progress_wipe();
    if (code == 0)
        code = gd_tracesvg_write(views, SIDES, request->svg);
    for (int i = 0; i < SIDES; i++) {
        gd_traceview_free(&sides[i].view);
        griddep_timeline_destroy(sides[i].timeline);
        gd_session_close(&sides[i].session);
        free(sides[i].title);
    }
    free(sides);
    return code;
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
    comparison result = {.mode = griddep_text(GRIDDEP_TEXT_MODE, mode),
                         .groups = info.emulated ? 1 : GROUPS,
                         .pairs = info.emulated ? 1 : (uint32_t)request->pairs};
    code = measure(request, plans, runtime, mode, &result);
    if (code == 0 && request->svg != NULL)
        code = draw(request, plans, runtime, &info, mode, &result);
    if (code == 0 && request->json)
        print_json(request, &result, &info);
    if (code == 0 && !request->json) {
        gd_device_print(&info);
        print(request, &result);
    }
    griddep_runtime_close(runtime);
    return code;
}

/* Where the second program begins, behind a "--" of its own; argc: nowhere. */
static int find_second(int argc, char **argv, int marker)
{
    return marker < argc ? marker + gd_attachedprogram_find(argc - marker, argv + marker) : argc;
}

/* The words behind each "--", of which the second one becomes the end of the first program's. */
static int read_programs(const gd_usage *usage, int argc, char **argv, int marker, size_t words,
                         compare_request *request)
{
    int second = find_second(argc, argv, marker);
    if (marker == argc)
        return words == SIDES ? 0 : gd_options_refuse(usage);
    if (words > 0 || second == argc)
        return gd_message_error(GD_EXIT_USAGE, "%s",
                                words > 0
                                    ? "programs are compared with programs: give no chain file"
                                    : "there is no second program after a second '--'");
    int code = gd_attachedprogram_check("compare", argc, argv, second);
    argv[second] = NULL;
    if (code == 0)
        code = gd_attachedprogram_check("compare", second, argv, marker);
    request->programs[0] = argv + marker + 1;
    request->programs[1] = argv + second + 1;
    return code;
}

static int load(compare_request *request, const gd_recordedprogram *options, gd_plan plans[SIDES])
{
    int code = 0;
    for (int i = 0; i < SIDES && code == 0; i++) {
        gd_recordedprogram recorded = *options;
        char **program = request->programs[i];
        request->names[i] = program != NULL ? program[0] : request->paths[i];
        code = gd_recordedprogram_load(&recorded, &request->device, request->paths[i], program,
                                       &plans[i]);
        gd_spanview_free(&recorded.spans);
    }
    for (int i = 0; i < SIDES && code == 0; i++)
        code = gd_plan_check_whole(&plans[i]);
    if (request->mode == NULL && request->programs[0] != NULL)
        request->mode = griddep_text(GRIDDEP_TEXT_MODE, GRIDDEP_MODE_PDL);
    return code;
}

int gd_command_compare(int argc, char **argv)
{
    compare_request request = {.pairs = DEFAULT_PAIRS};
    gd_recordedprogram recorded = {.launches = GD_RECORDED_LAUNCHES};
    gd_plan plans[SIDES] = {{0}};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "serial, pdl, graph or graph-pdl (the default)",
         (void *)&request.mode, 0, 0},
        {GD_OPTION_COUNT, "pairs", "N", "pairs of a group (21)", &request.pairs, 1, 10000},
        {GD_OPTION_FILE, "svg", "FILE", "write a picture of both, one above the other",
         (void *)&request.svg, 0, 0},
        GD_RECORDEDPROGRAM_OPTIONS(&recorded),
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "compare",
        .summary = "Times two chains, or the launches of two programs, in pairs, and tells which "
                   "is faster and by how much.",
        .synopsis = "A.yaml B.yaml [--mode MODE] [--pairs N] [--svg FILE] [--driver DRIVER] "
                    "[--json]\n"
                    "[--first N] [--launches N] [--mode MODE] [--pairs N] [--svg FILE] [--json] -- "
                    "PROGRAM [ARGUMENT]... -- PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options,
        .words_most = SIDES};
    size_t count = 0;
    int marker = gd_attachedprogram_find(argc, argv);
    int code = gd_options_read(&usage, marker, argv, request.paths, &count);
    if (code >= 0)
        return code;
    if (request.json)
        gd_message_want_json();
    code = read_programs(&usage, argc, argv, marker, count, &request);
    if (code == 0)
        code = load(&request, &recorded, plans);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = compare(&request, plans);
    for (int i = 0; i < SIDES; i++)
        gd_plan_free(&plans[i]);
    return code;
}
