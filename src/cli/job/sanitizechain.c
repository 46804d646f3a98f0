/* griddep sanitize CHAIN.yaml: the chain in each schedule and mode, each in a process of its own,
 * so that a fault ends one of them and not the others. */
#include "cli/job/sanitize.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "griddep.h"

#include "base/text.h"

#include "cli/job/chaincheck.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/job/job.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "cli/plan/plancheck.h"
#include "cli/io/progress.h"
#include "cli/io/suggest.h"
#include "cli/io/supervise.h"
#include "cli/io/temporary.h"

static const char *const usual_schedules[] = {"eager", "lazy", "random:1", "random:2", "random:3"};

enum { LARGEST_OUTPUT = 1 << 20 };

/* What a run tells its parent, in memory that both have. */
typedef struct gd_sanitize_result {
    bool is_done, equal;     /* all ran; the buffers are as the serial run left them */
    uint32_t unequal_buffer; /* the first that is not */
    gd_difference unequal;
    uint64_t addresses[]; /* of the buffers */
} gd_sanitize_result;

typedef struct gd_sanitize_state {
    const gd_sanitize *request;
    const char *path;
    const gd_plan *plan;
    gd_modulefile_list modules;
    const char *const *schedules;
    size_t schedule_count;
    uint32_t modes;
    gd_sanitize_result *result;
    size_t result_bytes;
    gd_job_serial *serial; /* shared likewise: only the first run has to run serially */
    size_t serial_bytes;
    FILE *said; /* what the current run printed */
    gd_racelist list;
    uint32_t static_errors;
    uint64_t launches; /* of all runs */
    json_t *runs;
    json_t *differences; /* texts: runs whose results are not those of the serial run */
    char *model;
    bool differs; /* some run's results are not as expected */
} gd_sanitize_state;

/* ---- one run, in the child ---- */

static void keep_result(const gd_job *job, int32_t mode, gd_sanitize_result *result)
{
    const gd_job_mode *ran = &job->results[mode];
    result->equal = ran->equal;
    result->unequal_buffer = ran->unequal_buffer;
    result->unequal = ran->unequal;
    result->is_done = true;
}

static int run_job(const gd_sanitize_state *state, int32_t mode)
{
    const char *driver = state->request->driver != NULL ? state->request->driver : "emulated";
    const gd_device_choice choice = {.driver = driver};
    gd_job job = {.plan = state->plan,
                  .modes = 1U << mode,
                  .exposes = true,
                  .serial = state->serial,
                  .addresses = state->result->addresses};
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    int code = gd_device_open(&choice, &runtime, &info);
    if (code != 0)
        return code;
    if (info.emulated)
        code = gd_job_run(&job, runtime);
    else
        code = gd_message_error(GD_EXIT_USAGE, "%s is not the emulated driver", info.driver);
    if (code == GD_EXIT_OK || code == GD_EXIT_DIFFERS)
        keep_result(&job, mode, state->result);
    gd_job_free(&job);
    griddep_runtime_close(runtime);
    return code;
}

/* The child's streams go to a file: what it says of a fault is said better by the finding. */
static int be_child(const gd_sanitize_state *state, const char *report, const char *schedule,
                    int32_t mode)
{
    int said = fileno(state->said);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    gd_progress_end();
    setenv("GRIDDEP_LOG", "error", 0); /* names what is not emulated */
    if (dup2(said, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0)
        return GD_EXIT_REFUSED;
    int code = gd_sanitize_set_environment(state->request, report, schedule);
    return code != 0 ? code : run_job(state, mode);
}

/* ---- runs ---- */

static int start_run(const gd_sanitize_state *state, const char *report, const char *schedule,
                     int32_t mode, int *ended)
{
    memset(state->result, 0, state->result_bytes);
    rewind(state->said);
    if (ftruncate(fileno(state->said), 0) != 0)
        return gd_message_error(GD_EXIT_REFUSED, "a temporary file cannot be emptied: %s",
                                strerror(errno));
    fflush(NULL);
    pid_t process = gd_supervise_fork();
    if (process < 0)
        return gd_message_error(GD_EXIT_REFUSED, "no process can be started: %s", strerror(errno));
    if (process == 0)
        exit(be_child(state, report, schedule, mode));
    *ended = gd_supervise_wait_own(process);
    return 0;
}

/* Copies to stderr what the run said. */
static void repeat_words(const gd_sanitize_state *state)
{
    char *words = gd_heap_take(LARGEST_OUTPUT + 1, 1);
    rewind(state->said);
    words[fread(words, 1, LARGEST_OUTPUT, state->said)] = '\0';
    gd_progress_clear();
    gd_output_put(stderr, words);
    free(words);
}

static void note_difference(gd_sanitize_state *state, const char *schedule, int32_t mode)
{
    const gd_sanitize_result *result = state->result;
    const gd_difference *difference = &result->unequal;
    if (!result->is_done || result->equal)
        return;
    char got[GD_OUTPUT_VALUE], wanted[GD_OUTPUT_VALUE];
    char *text = gd_heap_format(
        "in %s with schedule %s buffer %s is not as the serial run left it: %llu %s in some "
        "bit, first element %llu: %s, serial %s",
        griddep_text(GRIDDEP_TEXT_MODE, mode), schedule,
        state->plan->buffers[result->unequal_buffer].name, (unsigned long long)difference->unequal,
        gd_plural(difference->unequal, "element differs", "elements differ"),
        (unsigned long long)difference->first, gd_output_value(difference->got, got),
        gd_output_value(difference->wanted, wanted));
    gd_output_append(state->differences, gd_output_string(text));
    free(text);
}

static void note_run(gd_sanitize_state *state, const gd_emulator_report *report,
                     const char *schedule, int32_t mode, int ended)
{
    gd_output_append(
        state->runs,
        GD_OBJECT({"schedule", gd_output_string(schedule)},
                  {"mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, mode))},
                  {"exit_code", json_integer(ended)},
                  {"launches", json_integer((json_int_t)report->launches)},
                  {"findings", json_integer((json_int_t)report->finding_count)},
                  {"equal_to_serial",
                   state->result->is_done ? json_boolean(state->result->equal) : json_null()}));
}

/* Whether somebody wanted the run to end, and with it all others. */
static bool is_interrupted(int ended)
{
    return ended == 128 + SIGINT || ended == 128 + SIGTERM || ended == 128 + SIGHUP ||
           ended == 128 + SIGQUIT;
}

/* A run that ended badly is explained by its findings; one without any has to be explained by its
 * own words. */
static int check_end_of_run(gd_sanitize_state *state, const gd_emulator_report *report, int ended)
{
    bool found = report->finding_count > 0;
    bool ran = ended == GD_EXIT_OK || ended == GD_EXIT_DIFFERS;
    state->differs |= ended == GD_EXIT_DIFFERS;
    if (is_interrupted(ended))
        return ended;
    if (found)
        return 0;
    if (!ran)
        repeat_words(state);
    if (ended > 128)
        return gd_message_error(GD_EXIT_REFUSED, "a run of the chain was ended by signal %d",
                                ended - 128);
    if (!ran)
        return ended;
    if (report->processes == 0)
        return gd_message_error(GD_EXIT_REFUSED,
                                "the emulated driver did not sum up what it checked");
    return 0;
}

static int take_run(gd_sanitize_state *state, const char *path, const char *schedule, int32_t mode,
                    int ended)
{
    const gd_race_chain chain = {
        .plan = state->plan, .modules = &state->modules, .addresses = state->result->addresses};
    gd_emulator_report report = {0};
    int code = gd_emulator_report_read(path, &report);
    if (code == 0)
        code = check_end_of_run(state, &report, ended);
    if (code == 0) {
        gd_emulator_report_warn(&report);
        gd_racelist_add(&state->list, &report, &chain, schedule,
                        griddep_text(GRIDDEP_TEXT_MODE, mode));
        note_difference(state, schedule, mode);
        note_run(state, &report, schedule, mode, ended);
        state->launches += report.launches;
        if (state->model == NULL && report.model != NULL)
            state->model = gd_heap_string(report.model);
    }
    gd_emulator_report_free(&report);
    return code;
}

static int run_once(gd_sanitize_state *state, const char *schedule, int32_t mode)
{
    int ended = 0;
    gd_progress_show("schedule %s, mode %s", schedule, griddep_text(GRIDDEP_TEXT_MODE, mode));
    char *report = gd_emulator_report_begin();
    if (report == NULL)
        return GD_EXIT_REFUSED;
    int code = start_run(state, report, schedule, mode, &ended);
    if (code == 0)
        code = take_run(state, report, schedule, mode, ended);
    gd_temporary_remove(report);
    return code;
}

static int run_all(gd_sanitize_state *state)
{
    int code = 0;
    for (size_t i = 0; i < state->schedule_count && code == 0; i++)
        for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && code == 0; mode++)
            if (state->modes >> mode & 1U)
                code = run_once(state, state->schedules[i], mode);
    gd_progress_clear();
    return code;
}

/* ---- telling ---- */

static void print_differences(const gd_sanitize_state *state, FILE *stream)
{
    for (size_t i = 0; i < json_array_size(state->differences); i++) {
        fputs("results: ", stream);
        gd_output_put(stream, json_string_value(json_array_get(state->differences, i)));
        putc('\n', stream);
    }
    if (state->differs && json_array_size(state->differences) == 0)
        fputs(
            "results: they are not as the chain file expects; 'griddep run --emulate' tells more\n",
            stream);
}

static void print_hint(const gd_sanitize_state *state, FILE *stream)
{
    if (state->static_errors == 0 || state->request->is_recorded)
        return;
    fputs("hint: 'griddep check ", stream);
    gd_output_put(stream, state->path);
    fprintf(stream, "' finds %u error%s in this chain without running it\n",
            (unsigned)state->static_errors, state->static_errors == 1 ? "" : "s");
    fputs("a launch that would race starts early here; 'griddep run' holds it back unless it is "
          "forced\n",
          stream);
}

static void print_text(const gd_sanitize_state *state, const char *verdict)
{
    gd_page page;
    FILE *stream = gd_page_begin(&page, state->request->stream);
    fputs("on the emulated driver: chain ", stream);
    char *name = gd_output_clean(state->plan->name);
    size_t runs = json_array_size(state->runs);
    fprintf(stream, "%s, %u %s, %zu %s\n", name, (unsigned)state->plan->launch_count,
            gd_plural(state->plan->launch_count, "launch", "launches"), runs,
            gd_plural(runs, "run", "runs"));
    free(name);
    gd_racelist_print(stream, &state->list);
    print_differences(state, stream);
    print_hint(state, stream);
    char *clean = gd_output_clean(verdict);
    fprintf(stream, "%s\n", clean);
    gd_page_end(&page);
    free(clean);
}

static void print_json(const gd_sanitize_state *state, int code, const char *verdict)
{
    json_t *document = GD_OBJECT(
        {"griddep", gd_output_string(griddep_version_text())}, {"exit_code", json_integer(code)},
        {"chain", gd_output_string(state->plan->name)}, {"file", gd_output_string(state->path)},
        {"model", gd_output_string(state->model)},
        {"launches", json_integer((json_int_t)state->launches)}, {"runs", json_incref(state->runs)},
        {"findings", gd_racelist_json(&state->list)},
        {"differences", json_incref(state->differences)},
        {"static_errors", json_integer(state->static_errors)},
        {"verdict", gd_output_string(verdict)});
    gd_output_write_to(state->request->stream, document);
}

static int print_result(const gd_sanitize_state *state)
{
    size_t found = state->list.count;
    int code = found > 0 ? GD_EXIT_SANITIZE : state->differs ? GD_EXIT_DIFFERS : GD_EXIT_OK;
    char *schedules = gd_suggest_list(state->schedules, state->schedule_count);
    char *verdict = gd_sanitize_verdict(state->request, found, state->launches, schedules,
                                        state->schedule_count > 1,
                                        state->model != NULL ? state->model : "unknown");
    if (state->request->json)
        print_json(state, code, verdict);
    else
        print_text(state, verdict);
    free(verdict);
    free(schedules);
    return code;
}

/* ---- what has to be there before ---- */

static int choose_modes(const char *list, uint32_t *modes)
{
    const char *names[GRIDDEP_MODE_COUNT];
    *modes = 0;
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++)
        names[i] = griddep_text(GRIDDEP_TEXT_MODE, i);
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ","), index = 0;
        char *word = gd_heap_format("%.*s", (int)length, at);
        int code = gd_options_choose("modes", word, names, GRIDDEP_MODE_COUNT, &index);
        free(word);
        if (code != 0)
            return code;
        *modes |= 1U << index;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

static int count_static_errors(gd_sanitize_state *state)
{
    griddep_findings *findings = NULL;
    int code = gd_chaincheck_run(state->plan, &state->modules, GRIDDEP_PDL_DEFAULT, &findings);
    uint32_t count = code == 0 ? griddep_findings_count(findings) : 0;
    for (uint32_t i = 0; i < count; i++) {
        griddep_finding finding = {.size = sizeof(finding)};
        if (griddep_findings_get(findings, i, &finding, NULL) == GRIDDEP_OK)
            state->static_errors += finding.severity == GRIDDEP_SEVERITY_ERROR;
    }
    griddep_findings_destroy(findings);
    return code;
}

static void *share(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED ? room : NULL;
}

static int take_room(gd_sanitize_state *state)
{
    state->result_bytes = sizeof(*state->result) + state->plan->buffer_count * sizeof(uint64_t);
    state->serial_bytes = gd_job_serial_bytes(state->plan);
    state->result = share(state->result_bytes);
    state->serial = share(state->serial_bytes);
    state->said = tmpfile();
    if (state->result == NULL || state->serial == NULL || state->said == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "there is no room for the results of a run: %s",
                                strerror(errno));
    return 0;
}

static void give_back(gd_sanitize_state *state)
{
    if (state->result != NULL)
        munmap(state->result, state->result_bytes);
    if (state->serial != NULL)
        munmap(state->serial, state->serial_bytes);
    if (state->said != NULL)
        fclose(state->said);
    gd_modulefile_free(&state->modules);
    gd_racelist_free(&state->list);
    json_decref(state->runs);
    json_decref(state->differences);
    free(state->model);
}

static int run_plan(const gd_sanitize *request, const char *path, const gd_plan *plan,
                    uint32_t modes)
{
    bool usual = request->schedules.count == 0;
    gd_sanitize_state state = {.request = request,
                               .path = path,
                               .plan = plan,
                               .modes = modes,
                               .schedules = usual ? usual_schedules : request->schedules.values,
                               .schedule_count =
                                   usual ? sizeof(usual_schedules) / sizeof(usual_schedules[0])
                                         : request->schedules.count,
                               .runs = json_array(),
                               .differences = json_array()};
    int code = gd_plan_check_files(state.plan, &state.modules);
    if (code == 0)
        code = count_static_errors(&state);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = take_room(&state);
    if (code == 0)
        code = run_all(&state);
    if (code == 0)
        code = print_result(&state);
    give_back(&state);
    return code;
}

int gd_sanitize_chain(const gd_sanitize *request, const char *path, const gd_plan *plan)
{
    uint32_t modes = 0;
    int code = choose_modes(request->modes != NULL ? request->modes : "pdl,graph-pdl", &modes);
    gd_progress_begin();
    return code == 0 ? run_plan(request, path, plan, modes) : code;
}
