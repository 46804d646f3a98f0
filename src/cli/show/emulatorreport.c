/* Reading the emulated driver's report. Several processes may have written to one file, each with
 * its own numbers. */
#include "cli/show/emulatorreport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/temporary.h"

static const uint64_t largest = 1U << 30;

static uint64_t number_of(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static char *string_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? gd_heap_string(value) : NULL;
}

static void take_finding(gd_emulator_report *report, json_t *line)
{
    gd_output_set(line, "times", json_integer(1));
    gd_output_append(report->findings, json_incref(line));
}

/* Counts come at a process's end, so they are for its findings, the latest of their number. */
static bool take_count(gd_emulator_report *report, const json_t *line)
{
    uint64_t number = number_of(line, "count");
    for (size_t i = json_array_size(report->findings); i-- > 0;) {
        json_t *finding = json_array_get(report->findings, i);
        if (number_of(finding, "finding") != number)
            continue;
        if (number_of(line, "times") > 0)
            gd_output_set(finding, "times", json_incref(json_object_get(line, "times")));
        return true;
    }
    return false;
}

/* The schedule as it is asked for: a random one with its seed. To free; NULL. */
static char *schedule_of(const json_t *summary)
{
    const json_t *seed = json_object_get(summary, "seed");
    char *name = string_of(summary, "schedule");
    if (name == NULL || strcmp(name, "random") != 0 || !json_is_integer(seed))
        return name;
    free(name);
    return gd_heap_format("random:%llu", (unsigned long long)json_integer_value(seed));
}

static void take_summary(gd_emulator_report *report, const json_t *line)
{
    report->launches += number_of(line, "launches");
    if (report->refused == NULL)
        report->refused = string_of(line, "refused");
    if (report->processes++ > 0)
        return;
    report->schedule = schedule_of(line);
    report->model = string_of(line, "model");
}

static bool take_line(gd_emulator_report *report, const char *text, size_t bytes)
{
    json_t *line = json_loadb(text, bytes, 0, NULL);
    bool taken = true;
    if (json_is_string(json_object_get(line, "kind")) &&
        json_is_string(json_object_get(line, "text")))
        take_finding(report, line);
    else if (json_is_integer(json_object_get(line, "count")))
        taken = take_count(report, line);
    else if (json_is_true(json_object_get(line, "summary")))
        take_summary(report, line);
    else
        taken = false;
    json_decref(line);
    return taken;
}

char *gd_emulator_report_begin(void)
{
    const char *folder = gd_temporary_place();
    char *path = NULL;
    int descriptor = gd_temporary_make(folder, &path);
    if (descriptor >= 0)
        close(descriptor);
    else
        gd_message_error(GD_EXIT_REFUSED, "no temporary file can be made in %s: %s", folder,
                         strerror(errno));
    return path;
}

int gd_emulator_report_read(const char *path, gd_emulator_report *report)
{
    char *text = NULL;
    size_t bytes = 0;
    *report = (gd_emulator_report){.findings = json_array()};
    if (access(path, F_OK) != 0)
        return 0;
    int code = gd_hostfile_read(path, largest, &text, &bytes);
    if (code != 0)
        return code;
    for (const char *at = text, *end = text + bytes; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop != NULL ? stop : end) - at);
        if (length > 0 && !take_line(report, at, length))
            report->unreadable++;
        at += length + 1;
    }
    free(text);
    return 0;
}

void gd_emulator_report_warn(const gd_emulator_report *report)
{
    if (report->unreadable > 0)
        gd_message_warning("%u line%s of the emulated driver's report cannot be read",
                           (unsigned)report->unreadable, report->unreadable == 1 ? "" : "s");
}

void gd_emulator_report_free(gd_emulator_report *report)
{
    json_decref(report->findings);
    free(report->schedule);
    free(report->model);
    free(report->refused);
    *report = (gd_emulator_report){0};
}
