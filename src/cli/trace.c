/* griddep trace: a chain file's plan, run with stamps; the figures, a drawing, and pictures. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/demo.h"
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
#include "cli/show/tracejson.h"
#include "cli/show/traceview.h"

enum {
    RUNS = 15,
    SAMPLES = 15,
    DEFAULT_MODE = GRIDDEP_MODE_GRAPH_PDL,
    PROGRAM_MODE = GRIDDEP_MODE_PDL
};

typedef struct gd_trace_request {
    const char *path, *mode, *perfetto, *svg;
    uint64_t blocks, samples;
    bool json, points, demo, serial, all;
    bool needs_stamps; /* something is asked for that only they can tell */
    gd_device_choice device;
    char **program; /* NULL: a chain */
    gd_recordedprogram recorded;
    gd_spanview_choice choice;
} gd_trace_request;

/* What one command holds while it runs. */
typedef struct gd_trace_job {
    gd_trace_request *request;
    const gd_plan *plan;
    griddep_runtime *runtime;
    griddep_runtime_info info;
    gd_session session;
    griddep_timeline *timeline;
    json_t *modes;       /* NULL: text */
    gd_traceview serial; /* the picture's upper half, where it is asked for */
    bool as_serial, has_stamps;
} gd_trace_job;

static const char details[] =
    "The command adds code to the PTX of the kernels. Each block then notes when it begins, "
    "reaches its wait, passes the wait, triggers, and ends. It also notes when it reaches a line "
    "\"//@ mark NAME\" of the PTX. This costs time, and the report says how much. "
    "doc/timeline.md explains each figure.\n\n"
    "--svg writes a picture, --perfetto a trace for ui.perfetto.dev. With --serial the picture "
    "has two halves on one time axis: serial above pdl, or graph above graph-pdl. --mode all "
    "reports on all four modes, but a file shows one mode.\n\n" GD_RECORDEDPROGRAM_DETAILS
    " The default mode of a program is pdl.\n\n"
    "--as-run changes no kernel and works for machine code and graphs too. It shows when each "
    "launch of the program began and ended, by kernel and by stream. The times come from NVIDIA's "
    "CUPTI. Without CUPTI they come from events, which keep launches apart and time a graph as a "
    "whole. The first line of the report names the source. GRIDDEP_CUPTI is the path of libcupti, "
    "or 'off'.\n\n"
    "The times of the emulated driver come from a model. They are the same in each run and say "
    "nothing about a GPU.\n";

static const char recording_slows[] =
    "the report shows the launches while they were recorded, which takes time between launches; "
    "--as-run shows them without recording";

/* ---- results ---- */

static int run_traced(gd_trace_job *job, int32_t mode)
{
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_timeline_run(job->timeline, mode, job->session.stream, &error) == GRIDDEP_OK)
        return 0;
    return gd_session_report(&job->session, &error, griddep_text(GRIDDEP_TEXT_MODE, mode));
}

/* A traced run from freshly written buffers against what the plain serial run left. */
static int compare(gd_trace_job *job, int32_t mode, gd_traceview *view)
{
    gd_experiment *experiment = &job->session.experiment;
    griddep_error error;
    griddep_error_init(&error);
    gd_progress_show("checking %s", griddep_text(GRIDDEP_TEXT_MODE, mode));
    int code = gd_session_reset(&job->session);
    if (code == 0)
        code = run_traced(job, mode);
    if (code == 0 && gd_experiment_read(experiment, experiment->got, &error) != GRIDDEP_OK)
        code = gd_session_report_error(&job->session, mode, &error);
    if (code != 0)
        return code;
    view->equal = gd_experiment_find_difference(experiment, 0) == experiment->buffer_count;
    job->as_serial &= view->equal;
    return 0;
}

/* ---- cost ---- */

static int time_chain(gd_trace_job *job, griddep_chain *chain, int32_t mode, double *microseconds)
{
    gd_timing timings[GRIDDEP_MODE_COUNT] = {{0}};
    uint32_t samples = job->session.emulated ? 1 : (uint32_t)job->request->samples;
    int code = gd_measure_modes(chain, &job->session.experiment, 1U << mode, samples, timings);
    *microseconds = timings[mode].us.median;
    return code;
}

static int measure_cost(gd_trace_job *job, int32_t mode, gd_traceview_cost *cost)
{
    if (job->request->samples == 0)
        return 0;
    int code = time_chain(job, job->session.chain, mode, &cost->plain);
    return code != 0
               ? code
               : time_chain(job, griddep_timeline_get_chain(job->timeline), mode, &cost->traced);
}

/* ---- what is shown ---- */

static int run_typical(gd_trace_job *job, int32_t mode, gd_traceview *view)
{
    view->runs = job->session.emulated ? 1 : RUNS;
    return gd_overlap_trace_typical(&job->session, job->timeline, mode, view->runs,
                                    &view->span_least, &view->span_most);
}

static uint32_t choose_width(void)
{
    const uint32_t width = gd_output_width(STDOUT_FILENO);
    return width == 0 ? 80 : width > 160 ? 160 : width;
}

/* As the locale's variables say, in their order. */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static int show_mode(gd_trace_job *job, const gd_traceview *view)
{
    const gd_trace_request *request = job->request;
    int code = 0;
    gd_progress_clear();
    if (request->perfetto != NULL)
        code = gd_traceperfetto_write(view, request->perfetto);
    const gd_traceview pictures[] = {request->serial ? job->serial : *view, *view};
    if (code == 0 && request->svg != NULL)
        code = gd_tracesvg_write(pictures, request->serial ? 2 : 1, request->svg);
    if (code != 0)
        return code;
    if (job->modes != NULL) {
        gd_output_append(job->modes, gd_tracejson_make(view, request->points));
        return 0;
    }
    gd_tracetext_print(view);
    gd_tracedraw_print(view, choose_width(), !is_utf8());
    return 0;
}

/* The serial run for the picture: in the mode that hands launches over as the other one does. */
static int trace_serial(gd_trace_job *job, int32_t beside)
{
    bool graph = beside == GRIDDEP_MODE_GRAPH || beside == GRIDDEP_MODE_GRAPH_PDL;
    int32_t mode = graph ? GRIDDEP_MODE_GRAPH : GRIDDEP_MODE_SERIAL;
    job->serial = gd_traceview_of(job->plan, &job->info);
    int code = compare(job, mode, &job->serial);
    if (code == 0)
        code = run_typical(job, mode, &job->serial);
    return code == 0 ? gd_traceview_read(&job->serial, job->timeline) : code;
}

static int trace_mode(gd_trace_job *job, int32_t mode)
{
    gd_traceview view = gd_traceview_of(job->plan, &job->info);
    view.whole = job->request->all;
    int code = job->request->serial ? trace_serial(job, mode) : 0;
    if (code == 0)
        code = compare(job, mode, &view);
    if (code == 0)
        code = measure_cost(job, mode, &view.cost);
    if (code == 0)
        code = run_typical(job, mode, &view);
    if (code == 0)
        code = gd_traceview_read(&view, job->timeline);
    if (code == 0)
        code = show_mode(job, &view);
    gd_traceview_free(&view);
    return code;
}

static int choose_modes(const gd_trace_request *request, uint32_t *modes)
{
    int code = gd_options_choose_modes(request->mode, modes);
    if (code == 0 && (*modes & (*modes - 1)) != 0 &&
        (request->perfetto != NULL || request->svg != NULL))
        return gd_message_error(GD_EXIT_USAGE,
                                "a picture shows one mode: --mode all goes with neither --svg nor "
                                "--perfetto");
    const uint32_t overlapping = 1U << GRIDDEP_MODE_PDL | 1U << GRIDDEP_MODE_GRAPH_PDL;
    if (code == 0 && request->serial && (*modes & overlapping) == 0)
        return gd_message_error(GD_EXIT_USAGE,
                                "--serial shows what --mode pdl or graph-pdl is compared with");
    return code;
}

/* ---- a program as it ran ---- */

static void print_spans(const gd_trace_request *request, const gd_spanview *view)
{
    const griddep_runtime_info *info = view->trace.device;
    if (!request->json) {
        gd_spanview_print(view);
        gd_tracedraw_print(&view->trace, choose_width(), !is_utf8());
        return;
    }
    json_t *document = gd_spanview_json(view);
    GD_SET(document, {"griddep", gd_output_string(griddep_version_text())},
           {"driver", gd_device_driver_json(info)}, {"device", gd_device_json(info)});
    gd_output_write(document);
}

static int show_spans(gd_trace_request *request, const griddep_runtime_info *info)
{
    gd_spanview *view = &request->recorded.spans;
    int code = 0;
    gd_progress_clear();
    gd_spanview_make(view, &request->choice, info);
    if (view->count == 0)
        return gd_message_error(GD_EXIT_REFUSED,
                                view->seen == 0
                                    ? "the command saw no launch; it sees launches when the "
                                      "program synchronizes, and when it calls exit"
                                    : "no launch fits --kernel, --window and --first");
    if (request->perfetto != NULL)
        code = gd_traceperfetto_write(&view->trace, request->perfetto);
    if (code == 0 && request->svg != NULL)
        code = gd_tracesvg_write(&view->trace, 1, request->svg);
    if (code == 0)
        print_spans(request, view);
    return code;
}

static int show_run(gd_trace_request *request)
{
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    int code = gd_device_open(&request->device, &runtime, &info);
    if (code == 0 && !request->json)
        gd_device_print(&info);
    if (code == 0)
        code = show_spans(request, &info);
    griddep_runtime_close(runtime);
    return code;
}

/* Instead of the chain that was recorded, or could not be. */
static bool may_show_run(const gd_trace_request *request)
{
    return request->recorded.spans.count > request->choice.first && !request->needs_stamps;
}

/* ---- the command ---- */

static int trace_modes(gd_trace_job *job, uint32_t modes)
{
    const griddep_timeline_options options = {.size = sizeof(options),
                                              .blocks = (uint32_t)job->request->blocks};
    griddep_error error;
    griddep_error_init(&error);
    gd_progress_show("running serial");
    int code = gd_session_run(&job->session, GRIDDEP_MODE_SERIAL, job->session.experiment.serial);
    if (code != 0)
        return code;
    gd_progress_show("instrumenting");
    if (griddep_timeline_create(job->session.chain, &options, &job->timeline, &error) !=
        GRIDDEP_OK) {
        if (!may_show_run(job->request))
            return gd_message_library(&error, "instrumenting the chain");
        gd_message_warning("%.*s", (int)strcspn(error.text, "\n"), error.text);
        gd_message_note(recording_slows);
        job->has_stamps = false;
        return show_spans(job->request, &job->info);
    }
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && code == 0; mode++)
        if (modes >> mode & 1U)
            code = trace_mode(job, mode);
    return code;
}

static void print_document(const gd_trace_job *job)
{
    json_t *document = json_object();
    gd_output_set(document, "griddep", gd_output_string(griddep_version_text()));
    gd_output_set(document, "driver", gd_device_driver_json(&job->info));
    gd_output_set(document, "device", gd_device_json(&job->info));
    gd_output_set(document, "chain", gd_output_string(job->plan->name));
    gd_output_set(document, "launch_count", json_integer(job->plan->launch_count));
    gd_output_set(document, "bytes_per_step", gd_output_bytes(job->plan->step_bytes));
    gd_output_set(document, "modes", json_incref(job->modes));
    gd_output_set(document, "equal_to_serial", json_boolean(job->as_serial));
    gd_output_write(document);
}

static int run_job(gd_trace_request *request, gd_plan *plan, uint32_t modes)
{
    gd_trace_job job = {.request = request, .plan = plan, .as_serial = true, .has_stamps = true};
    int code = gd_device_open(&request->device, &job.runtime, &job.info);
    if (code != 0)
        return code;
    if (request->demo)
        code = gd_demo_make_plan(&job.info, plan);
    job.modes = request->json ? json_array() : NULL;
    if (!request->json)
        gd_device_print(&job.info);
    if (code == 0)
        code = gd_session_open(&job.session, plan, job.runtime, request->device.pdl);
    if (code == 0)
        code = trace_modes(&job, modes);
    gd_progress_clear();
    if (code == 0 && request->json && job.has_stamps)
        print_document(&job);
    if (code == 0 && !job.as_serial)
        code = GD_EXIT_DIFFERS;
    gd_traceview_free(&job.serial);
    griddep_timeline_destroy(job.timeline);
    gd_session_close(&job.session);
    json_decref(job.modes);
    griddep_runtime_close(job.runtime);
    return code;
}

static int check_request(const gd_trace_request *request)
{
    int given = (request->path != NULL) + request->demo + (request->program != NULL);
    if (given != 1)
        return gd_message_error(GD_EXIT_USAGE,
                                "griddep trace needs one of these: a chain file, --demo, or a "
                                "program after '--'");
    if (request->points && !request->json)
        return gd_message_error(GD_EXIT_USAGE, "--points needs --json");
    if (request->serial && (request->svg == NULL || request->recorded.plain))
        return gd_message_error(GD_EXIT_USAGE, "--serial needs --svg, and cannot go with --as-run");
    if (request->recorded.plain && request->program == NULL)
        return gd_message_error(GD_EXIT_USAGE, "--as-run needs a program after '--'");
    if (request->recorded.plain && request->mode != NULL)
        return gd_message_error(GD_EXIT_USAGE,
                                "--as-run cannot go with --mode: it shows the program as it is");
    if ((request->choice.kernel != NULL || request->choice.window != NULL) &&
        !request->recorded.plain)
        return gd_message_error(GD_EXIT_USAGE, "--kernel and --window need --as-run");
    return gd_spanview_check(&request->choice);
}

/* Those that follow are chosen from what was seen, or recorded. */
static void choose_launches(gd_trace_request *request)
{
    gd_recordedprogram *recorded = &request->recorded;
    request->choice.first = recorded->first;
    request->choice.launches = recorded->launches;
    if (!recorded->plain && recorded->launches == 0)
        recorded->launches = GD_RECORDED_LAUNCHES;
    recorded->times = true;
    request->needs_stamps = request->mode != NULL || request->serial || request->points;
    if (request->mode == NULL)
        request->mode =
            griddep_text(GRIDDEP_TEXT_MODE, request->program != NULL ? PROGRAM_MODE : DEFAULT_MODE);
}

static int trace_plan(gd_trace_request *request, gd_plan *plan, uint32_t modes)
{
    int code = request->demo ? 0 : gd_plan_check_whole(plan);
    if (code == 0)
        code = gd_outputfile_check();
    return code == 0 ? run_job(request, plan, modes) : code;
}

/* An error that is followed by a report is no document of its own. */
static int load_chain(gd_trace_request *request, gd_plan *plan, bool *shows_run)
{
    json_t *errors = request->json ? json_array() : NULL;
    gd_message_collect(errors);
    int code = gd_recordedprogram_load(&request->recorded, &request->device, request->path,
                                       request->program, plan);
    *shows_run = code == GD_EXIT_REFUSED && may_show_run(request);
    if (*shows_run)
        json_array_clear(errors);
    gd_message_hand_out(errors);
    json_decref(errors);
    if (*shows_run)
        gd_message_note(recording_slows);
    *shows_run |= code == 0 && request->recorded.plain;
    return code;
}

static int trace_chain(gd_trace_request *request)
{
    gd_plan plan = {0};
    uint32_t modes = 0;
    bool shows_run = false;
    int code = check_request(request);
    choose_launches(request);
    if (code == 0)
        code = choose_modes(request, &modes);
    if (code == 0 && !request->demo)
        code = load_chain(request, &plan, &shows_run);
    if (shows_run)
        code = show_run(request);
    else if (code == 0)
        code = trace_plan(request, &plan, modes);
    gd_plan_free(&plan);
    gd_spanview_free(&request->recorded.spans);
    return code;
}

static const char examples[] = "When each block ran, as text and as a picture:\n"
                               "    griddep trace examples/vector_add.yaml\n"
                               "    griddep trace chain.yaml --svg picture.svg\n"
                               "    griddep trace chain.yaml --svg both.svg --serial\n"
                               "The launches of a program:\n"
                               "    griddep trace --launches 8 -- ./application\n"
                               "    griddep trace --as-run --svg picture.svg -- ./application\n";

int gd_command_trace(int argc, char **argv)
{
    gd_trace_request request = {.samples = SAMPLES};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "serial, pdl, graph, graph-pdl (the default) or all",
         (void *)&request.mode, 0, 0},
        {GD_OPTION_FLAG, "demo", NULL, "trace the chain of 'griddep demo'", &request.demo, 0, 0},
        {GD_OPTION_FILE, "perfetto", "FILE",
         "write a trace for ui.perfetto.dev and chrome://tracing", (void *)&request.perfetto, 0, 0},
        {GD_OPTION_FILE, "svg", "FILE", "write a picture", (void *)&request.svg, 0, 0},
        {GD_OPTION_FLAG, "serial", NULL, "with --svg: draw the run without overlap above",
         &request.serial, 0, 0},
        {GD_OPTION_COUNT, "blocks", "N", "keep at most this many blocks of a launch (16384)",
         &request.blocks, 1, 1 << 22},
        {GD_OPTION_COUNT, "repeat", "N", "samples of the cost of tracing (15, emulated 1); 0: none",
         &request.samples, 0, 100000},
        {GD_OPTION_FLAG, "as-run", NULL,
         "show when each launch of an unchanged program ran, machine code too",
         &request.recorded.plain, 0, 0},
        {GD_OPTION_TEXT, "kernel", "NAME", "with --as-run: only kernels with NAME in their names",
         (void *)&request.choice.kernel, 0, 0},
        {GD_OPTION_TEXT, "window", "FROM:TO",
         "with --as-run: only launches between these times, in us", (void *)&request.choice.window,
         0, 0},
        GD_RECORDEDPROGRAM_OPTIONS(&request.recorded),
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "all", NULL, "show all rows of long tables", &request.all, 0, 0},
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {GD_OPTION_FLAG, "points", NULL, "with --json: also each block's points", &request.points,
         0, 0},
        {0}};
    const gd_usage usage = {
        .name = "trace",
        .summary = "Shows when each block of a chain's launches ran, and how launches overlap.",
        .synopsis = "CHAIN.yaml|--demo [--mode MODE] [--perfetto FILE] [--svg FILE [--serial]] "
                    "[--emulate] [--json]\n"
                    "[--first N] [--launches N] [--mode MODE] [--perfetto FILE] "
                    "[--svg FILE [--serial]] [--json] -- PROGRAM [ARGUMENT]...\n"
                    "--as-run [--kernel NAME] [--window FROM:TO] [--first N] [--launches N] "
                    "[--perfetto FILE] [--svg FILE] [--json] -- PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options,
        .words_least = 0,
        .words_most = 1};
    size_t count = 0;
    int marker = gd_attachedprogram_find(argc, argv);
    int code = gd_options_read(&usage, marker, argv, &request.path, &count);
    if (code < 0 && marker < argc && gd_attachedprogram_check(usage.name, argc, argv, marker) != 0)
        code = GD_EXIT_USAGE;
    if (code >= 0)
        return code;
    request.program = marker < argc ? argv + marker + 1 : NULL;
    gd_progress_begin();
    return trace_chain(&request);
}
