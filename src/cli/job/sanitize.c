/* griddep sanitize: what both halves need, the emulated driver's settings and the verdict; and
 * griddep sanitize -- PROGRAM: the program with the emulated driver in the place of libcuda.so.1,
 * once for each schedule. The first run has the program's streams; what later ones print, which is
 * the same again, goes nowhere. */
#include "cli/job/sanitize.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "griddep.h"

#include "base/text.h"

#include "cli/job/driverfolder.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/suggest.h"
#include "cli/io/supervise.h"
#include "cli/io/temporary.h"

/* ---- for both halves ---- */

int gd_sanitize_set_environment(const gd_sanitize *request, const char *report,
                                const char *schedule)
{
    const char *driver = NULL;
    gd_emulation emulation = request->emulation;
    emulation.schedule = schedule;
    int code = gd_emulation_set("GRIDDEP_EMULATOR_CHECK", request->checks);
    if (code == 0)
        code = gd_emulation_set("GRIDDEP_EMULATOR_REPORT", report);
    return code != 0 ? code : gd_emulation_apply(&emulation, &driver);
}

char *gd_sanitize_verdict(const gd_sanitize *request, size_t found, uint64_t launches,
                          const char *schedules, bool several, const char *model)
{
    bool races = strcmp(request->checks, "all") == 0 || strstr(request->checks, "race") != NULL;
    const char *where = several ? "these executions" : "this execution";
    char *count = launches == 0 ? gd_heap_string("no kernel")
                                : gd_heap_format("%llu %s", (unsigned long long)launches,
                                                 gd_plural(launches, "launch", "launches"));
    char *settings = gd_heap_format("%s; schedule%s %s%s model %s", count, several ? "s" : "",
                                    schedules, several ? ";" : ",", model);
    free(count);
    char *verdict = found > 0 ? gd_heap_format("%zu finding%s in %s (%s)", found,
                                               found == 1 ? "" : "s", where, settings)
                    : races   ? gd_heap_format("no race in %s (%s)", where, settings)
                            : gd_heap_format("nothing found in %s (%s; check %s)", where, settings,
                                             request->checks);
    free(settings);
    return verdict;
}

/* ---- programs ---- */

/* A schedule in which nothing overlaps shows what no early start does: flags that are set by then,
 * data that is there. */
static const char *const usual_schedules[] = {"eager", "lazy"};

typedef struct program_state {
    const gd_sanitize *request;
    char **arguments;
    const char *const *schedules; /* one that is NULL: as the environment says */
    size_t schedule_count;
    gd_racelist list;
    json_t *runs;
    char **seen; /* schedules as the driver named them */
    char *model, *refused;
    uint64_t launches;
    bool summed, complete; /* a process of each run summed up; nothing is missing */
    int ended;             /* exit code of the first run that had one */
} program_state;

static int set_environment(const gd_sanitize *request, const char *report, const char *schedule)
{
    char *folder = gd_driverfolder_find();
    if (folder == NULL)
        return GD_EXIT_NO_DRIVER;
    int code = gd_driverfolder_lead(folder);
    free(folder);
    return code != 0 ? code : gd_sanitize_set_environment(request, report, schedule);
}

static size_t run_count(const program_state *state)
{
    return json_array_size(state->runs);
}

/* ---- what is told ---- */

static void print_json(const program_state *state, int code, const char *verdict)
{
    json_t *document = GD_OBJECT(
        {"griddep", gd_output_string(griddep_version_text())}, {"exit_code", json_integer(code)},
        {"program", gd_output_string(state->arguments[0])},
        {"model", gd_output_string(state->model)},
        {"launches", json_integer((json_int_t)state->launches)}, {"runs", json_incref(state->runs)},
        {"refused", gd_output_string(state->refused)}, {"complete", json_boolean(state->complete)},
        {"findings", gd_racelist_json(&state->list)}, {"verdict", gd_output_string(verdict)});
    gd_output_write_to(state->request->stream, document);
}

static void warn(const program_state *state, size_t found)
{
    if (state->summed && (state->launches > 0 || found > 0))
        return;
    if (found > 0)
        gd_message_warning("the program ended without summing up; there may be more findings");
    else if (!state->summed)
        gd_message_warning(
            "nothing was checked: the program did not use the emulated driver, or ended without "
            "running its exit handlers");
    else if (state->refused != NULL)
        gd_message_warning("nothing was checked: no kernel ran. The emulated driver refused %s",
                           state->refused);
    else
        gd_message_warning("nothing was checked: the program called the driver, and no kernel ran");
}

/* A program that ended well and was not checked must not look like one in which nothing was
 * found. */
static int exit_code_of(const program_state *state, size_t found)
{
    if (found > 0)
        return GD_EXIT_SANITIZE;
    return state->ended == GD_EXIT_OK && state->launches == 0 ? GD_EXIT_UNCHECKED : state->ended;
}

static int print_result(program_state *state)
{
    const gd_sanitize *request = state->request;
    const char *model = state->model != NULL ? state->model : "unknown";
    size_t found = state->list.count, count = run_count(state);
    int code = exit_code_of(state, found);
    bool told = found > 0 || state->launches > 0;
    char *schedules = gd_suggest_list((const char *const *)state->seen, count);
    char *verdict =
        told ? gd_sanitize_verdict(request, found, state->launches, schedules, count > 1, model)
             : NULL;
    if (request->json) {
        print_json(state, code, verdict);
    } else if (told) {
        char *clean = gd_output_clean(verdict);
        gd_racelist_print(request->stream, &state->list);
        gd_page page;
        FILE *lines = gd_page_begin(&page, request->stream);
        fprintf(lines, "%s%s\n", request->report == NULL ? "griddep: " : "", clean);
        gd_page_end(&page);
        free(clean);
    }
    warn(state, found);
    free(verdict);
    free(schedules);
    return code;
}

/* ---- runs ---- */

static void keep_first(char **kept, const char *text)
{
    if (*kept == NULL && text != NULL)
        *kept = gd_heap_string(text);
}

/* What a run said, which ended with this code. */
static void add_run(program_state *state, gd_emulator_report *report, int ended)
{
    const gd_race_chain no_chain = {0};
    const char *schedule = report->schedule != NULL ? report->schedule : "unknown";
    const size_t number = run_count(state);
    gd_racelist_add(&state->list, report, &no_chain, schedule, NULL);
    state->seen = gd_heap_grow(state->seen, number, number + 1, sizeof(*state->seen));
    state->seen[number] = gd_heap_string(schedule);
    keep_first(&state->model, report->model);
    keep_first(&state->refused, report->refused);
    gd_output_append(state->runs,
                     GD_OBJECT({"schedule", gd_output_string(schedule)},
                               {"exit_code", json_integer(ended)},
                               {"launches", json_integer((json_int_t)report->launches)},
                               {"findings", json_integer((json_int_t)report->finding_count)}));
    state->launches += report->launches;
    state->summed &= report->processes > 0;
    state->complete &= report->processes > 0 && report->unreadable == 0;
    gd_emulator_report_warn(report);
    if (number > 0 && ended != state->ended)
        gd_message_warning("in schedule %s the program ended with %d, before with %d; "
                           "'--schedule %s' shows what it prints then",
                           schedule, ended, state->ended, schedule);
    if (number == 0 || state->ended == GD_EXIT_OK)
        state->ended = ended;
}

/* Whether another run would tell more: not of a program that did not use the driver, or that
 * somebody has ended. */
static bool goes_on(const program_state *state)
{
    enum { BY_SIGNAL = 128 };
    return state->launches > 0 && state->ended < BY_SIGNAL;
}

static int run_once(program_state *state, size_t number, off_t input)
{
    gd_emulator_report report = {0};
    pid_t process = 0;
    char *path = gd_emulator_report_begin();
    if (path == NULL)
        return GD_EXIT_REFUSED;
    int code = set_environment(state->request, path, state->schedules[number]);
    bool reads = input >= 0 && lseek(STDIN_FILENO, input, SEEK_SET) == input;
    if (code == 0)
        code = number == 0 ? gd_supervise_start(state->arguments, &process)
                           : gd_supervise_start_silent(state->arguments, reads, &process);
    if (code == 0) {
        int ended = gd_supervise_wait(process);
        code = gd_emulator_report_read(path, &report);
        if (code == 0)
            add_run(state, &report, ended);
    }
    gd_emulator_report_free(&report);
    gd_temporary_remove(path);
    return code;
}

static void give_back(program_state *state)
{
    for (size_t i = 0; i < run_count(state); i++)
        free(state->seen[i]);
    free(state->seen);
    free(state->model);
    free(state->refused);
    json_decref(state->runs);
    gd_racelist_free(&state->list);
}

int gd_sanitize_program(const gd_sanitize *request, char **arguments)
{
    static const char *const as_it_is[] = {NULL};
    const bool given = request->schedules.count > 0,
               set = getenv("GRIDDEP_EMULATOR_SCHEDULE") != NULL;
    if (request->driver != NULL)
        return gd_message_error(GD_EXIT_USAGE,
                                "--driver is for a chain; a program opens libcuda.so.1");
    program_state state = {.request = request,
                           .arguments = arguments,
                           .schedules = given ? request->schedules.values
                                        : set ? as_it_is
                                              : usual_schedules,
                           .schedule_count = given ? request->schedules.count
                                             : set ? 1
                                                   : sizeof(usual_schedules) / sizeof(char *),
                           .runs = json_array(),
                           .summed = true,
                           .complete = true};
    const off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int code = 0;
    for (size_t i = 0; i < state.schedule_count && code == 0 && (i == 0 || goes_on(&state)); i++)
        code = run_once(&state, i, input);
    if (code == 0)
        code = print_result(&state);
    give_back(&state);
    return code;
}
