/* griddep sanitize -- PROGRAM: the program with the emulated driver in the place of
 * libcuda.so.1. */
#include "cli/job/sanitize.h"

#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/job/driverfolder.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/supervise.h"
#include "cli/io/temporary.h"

static int set_environment(const gd_sanitize *request, const char *report)
{
    const char *schedule = request->schedules.count > 0 ? request->schedules.values[0] : NULL;
    char *folder = gd_driverfolder_find();
    if (folder == NULL)
        return GD_EXIT_NO_DRIVER;
    int code = gd_driverfolder_lead(folder);
    free(folder);
    return code != 0 ? code : gd_sanitize_set_environment(request, report, schedule);
}

static void print_json(const gd_sanitize *request, const gd_emulator_report *report,
                       const gd_racelist *list, int code, const char *program, const char *verdict)
{
    json_t *document = GD_OBJECT(
        {"griddep", gd_output_string(griddep_version_text())}, {"exit_code", json_integer(code)},
        {"program", gd_output_string(program)}, {"schedule", gd_output_string(report->schedule)},
        {"model", gd_output_string(report->model)},
        {"launches", json_integer((json_int_t)report->launches)},
        {"refused", gd_output_string(report->refused)},
        {"complete", json_boolean(report->processes > 0 && report->unreadable == 0)},
        {"findings", json_incref(list->findings)}, {"verdict", gd_output_string(verdict)});
    gd_output_write_to(request->stream, document);
}

/* Whether there was something to find. */
static bool is_checked(const gd_emulator_report *report)
{
    return report->processes > 0 && report->launches > 0;
}

static void warn(const gd_emulator_report *report, size_t found)
{
    gd_emulator_report_warn(report);
    if (is_checked(report) || (found > 0 && report->processes > 0))
        return;
    if (found > 0)
        gd_message_warning("the program ended without summing up; there may be more findings");
    else if (report->processes == 0)
        gd_message_warning(
            "nothing was checked: the program did not use the emulated driver, or ended without "
            "running its exit handlers");
    else if (report->refused != NULL)
        gd_message_warning("nothing was checked: no kernel ran. The emulated driver refused %s",
                           report->refused);
    else
        gd_message_warning("nothing was checked: the program called the driver, and no kernel ran");
}

/* A program that ended well and was not checked must not look like one in which nothing was
 * found. */
static int exit_code_of(const gd_emulator_report *report, size_t found, int ended)
{
    if (found > 0)
        return GD_EXIT_SANITIZE;
    return ended == GD_EXIT_OK && !is_checked(report) ? GD_EXIT_UNCHECKED : ended;
}

/* `ended` is the program's exit code. */
static int print_result(const gd_sanitize *request, const gd_emulator_report *report,
                        const char *program, int ended)
{
    const gd_race_chain no_chain = {0};
    const char *schedule = report->schedule != NULL ? report->schedule : "unknown";
    const char *model = report->model != NULL ? report->model : "unknown";
    gd_racelist list = gd_racelist_begin();
    gd_racelist_add(&list, report, &no_chain, schedule, NULL);
    size_t found = gd_racelist_count(&list);
    int code = exit_code_of(report, found, ended);
    bool told = found > 0 || is_checked(report);
    char *verdict =
        told ? gd_sanitize_verdict(request, found, report->launches, schedule, false, model) : NULL;
    if (request->json) {
        print_json(request, report, &list, code, program, verdict);
    } else if (told) {
        char *clean = gd_output_clean(verdict);
        gd_racelist_print(request->stream, &list);
        fprintf(request->stream, "%s%s\n", request->report == NULL ? "griddep: " : "", clean);
        free(clean);
    }
    warn(report, found);
    free(verdict);
    gd_racelist_free(&list);
    return code;
}

static int run_checked(const gd_sanitize *request, const char *path, char **arguments)
{
    gd_emulator_report report = {0};
    pid_t process = 0;
    int code = set_environment(request, path);
    if (code == 0)
        code = gd_supervise_start(arguments, &process);
    if (code != 0)
        return code;
    int ended = gd_supervise_wait(process);
    code = gd_emulator_report_read(path, &report);
    if (code == 0)
        code = print_result(request, &report, arguments[0], ended);
    gd_emulator_report_free(&report);
    return code;
}

int gd_sanitize_program(const gd_sanitize *request, char **arguments)
{
    if (request->driver != NULL)
        return gd_message_error(GD_EXIT_USAGE,
                                "--driver is for a chain; a program opens libcuda.so.1");
    char *path = gd_emulator_report_begin();
    if (path == NULL)
        return GD_EXIT_REFUSED;
    int code = run_checked(request, path, arguments);
    gd_temporary_remove(path);
    return code;
}
