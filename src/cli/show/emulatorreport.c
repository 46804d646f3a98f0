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

/* ---- records ---- */

/* A member of an object, and where a record has it. */
typedef struct field {
    const char *key;
    enum { TEXT, NUMBER, FLAG, TRIPLE, OR_NULL, OR_ABSENT, RECORD } kind; /* OR: a number, or -1 */
    size_t at;
    const struct field *of; /* a record, which begins with whether it is there */
} field;

#define FIELD(record, kind, member) {#member, kind, offsetof(gd_emulator_##record, member), NULL},
#define RECORD(member, of) {#member, RECORD, offsetof(gd_emulator_finding, member), of},
#define OF_THE_CHAIN                                                                               \
    FIELD(access, OR_NULL, chain_launch)                                                           \
    FIELD(access, TEXT, name) FIELD(access, TEXT, file) FIELD(access, TEXT, quote)

static const field access_fields[] = {
    FIELD(access, TEXT, kernel) FIELD(access, NUMBER, launch) FIELD(access, NUMBER, device)
        FIELD(access, TRIPLE, cta) FIELD(access, TRIPLE, thread) FIELD(access, NUMBER, module)
            FIELD(access, NUMBER, line) FIELD(access, NUMBER, column)
                FIELD(access, TEXT, instruction) FIELD(access, TEXT, action)
                    FIELD(access, FLAG, writes) FIELD(access, NUMBER, bytes) OF_THE_CHAIN{0}};

static const field culprit_fields[] = {FIELD(access, TEXT, kernel) FIELD(access, NUMBER, launch)
                                           OF_THE_CHAIN{0}};

static const field memory_fields[] = {FIELD(memory, TEXT, space) FIELD(memory, TEXT, start)
                                          FIELD(memory, NUMBER, bytes) FIELD(memory, NUMBER, offset)
                                              FIELD(memory, TEXT, name) FIELD(memory, TEXT, buffer)
                                                  FIELD(memory, OR_ABSENT, element){0}};

static const field name_fields[] = {FIELD(name, TEXT, text) FIELD(name, TEXT, kernel)
                                        FIELD(name, NUMBER, launch) FIELD(name, TEXT, start){0}};

static const field finding_fields[] = {
    FIELD(finding, TEXT, kind) FIELD(finding, TEXT, text) FIELD(finding, TEXT, missing)
        RECORD(first, access_fields) RECORD(second, access_fields) RECORD(culprit, culprit_fields)
            RECORD(memory, memory_fields) FIELD(finding, NUMBER, times){0}};

static uint64_t number(const json_t *value)
{
    return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

static char *string(const json_t *value)
{
    return json_is_string(value) ? gd_heap_string(json_string_value(value)) : NULL;
}

static void read_fields(const json_t *object, const field *fields, void *record)
{
    for (; fields->key != NULL; fields++) {
        const json_t *value = json_object_get(object, fields->key);
        void *at = (char *)record + fields->at;
        if (fields->kind == TEXT) {
            *(char **)at = string(value);
        } else if (fields->kind == FLAG) {
            *(bool *)at = json_is_true(value);
        } else if (fields->kind == NUMBER) {
            *(uint64_t *)at = number(value);
        } else if (fields->kind == TRIPLE) {
            for (size_t i = 0; i < 3; i++)
                ((uint64_t *)at)[i] = number(json_array_get(value, i));
        } else if (fields->kind == RECORD) {
            *(bool *)at = json_is_object(value);
            read_fields(value, fields->of, at);
        } else {
            *(int64_t *)at = -1;
        }
    }
}

static json_t *write_fields(const field *fields, const void *record)
{
    json_t *object = json_object();
    for (; fields->key != NULL; fields++) {
        const void *at = (const char *)record + fields->at;
        const int64_t *numbers = at;
        json_t *value = NULL;
        if (fields->kind == TEXT)
            value = gd_output_string(*(char *const *)at);
        else if (fields->kind == FLAG)
            value = json_boolean(*(const bool *)at);
        else if (fields->kind == TRIPLE)
            value = json_pack("[iii]", (int)numbers[0], (int)numbers[1], (int)numbers[2]);
        else if (fields->kind == RECORD)
            value = *(const bool *)at ? write_fields(fields->of, at) : json_null();
        else
            value = *numbers < 0 ? json_null() : json_integer(*numbers);
        if (fields->kind != OR_ABSENT || *numbers >= 0)
            gd_output_set(object, fields->key, value);
    }
    return object;
}

static void free_fields(const field *fields, void *record)
{
    for (; fields->key != NULL; fields++) {
        void *at = (char *)record + fields->at;
        if (fields->kind == TEXT)
            free(*(char **)at);
        else if (fields->kind == RECORD)
            free_fields(fields->of, at);
    }
}

json_t *gd_emulator_finding_json(const gd_emulator_finding *finding)
{
    json_t *object = write_fields(finding_fields, finding), *runs = json_array();
    const gd_emulator_run *run = finding->runs;
    for (size_t left = finding->run_count; left-- > 0; run++)
        gd_output_append(runs, GD_OBJECT({"schedule", gd_output_string(run->schedule)},
                                         {"mode", gd_output_string(run->mode)},
                                         {"times", json_integer((json_int_t)run->times)}));
    gd_output_set(object, "runs", runs);
    return object;
}

void gd_emulator_finding_free(gd_emulator_finding *finding)
{
    free_fields(finding_fields, finding);
    for (size_t i = 0; i < finding->name_count; i++)
        free_fields(name_fields, &finding->names[i]);
    free(finding->names);
    for (size_t i = 0; i < finding->run_count; i++) {
        free(finding->runs[i].schedule);
        free(finding->runs[i].mode);
    }
    free(finding->runs);
}

/* ---- lines ---- */

static void take_finding(gd_emulator_report *report, const json_t *line)
{
    const json_t *names = json_object_get(line, "names");
    report->findings = gd_heap_grow(report->findings, report->finding_count,
                                    report->finding_count + 1, sizeof(*report->findings));
    gd_emulator_finding *finding = &report->findings[report->finding_count++];
    read_fields(line, finding_fields, finding);
    finding->number = number(json_object_get(line, "finding"));
    finding->times = 1;
    finding->name_count = json_array_size(names);
    finding->names = gd_heap_take(finding->name_count, sizeof(*finding->names));
    for (size_t i = 0; i < finding->name_count; i++)
        read_fields(json_array_get(names, i), name_fields, &finding->names[i]);
}

/* Counts come at a process's end, so they are for its findings, the latest of their number. */
static bool take_count(gd_emulator_report *report, const json_t *line)
{
    const uint64_t count = number(json_object_get(line, "count")),
                   times = number(json_object_get(line, "times"));
    for (size_t i = report->finding_count; i-- > 0;) {
        gd_emulator_finding *finding = &report->findings[i];
        if (finding->number != count)
            continue;
        finding->times = times > 0 ? times : finding->times;
        return true;
    }
    return false;
}

/* The schedule as it is asked for: a random one with its seed. To free; NULL. */
static char *schedule_of(const json_t *summary)
{
    const json_t *seed = json_object_get(summary, "seed");
    char *name = string(json_object_get(summary, "schedule"));
    if (name == NULL || strcmp(name, "random") != 0 || !json_is_integer(seed))
        return name;
    free(name);
    return gd_heap_format("random:%llu", (unsigned long long)json_integer_value(seed));
}

static void take_summary(gd_emulator_report *report, const json_t *line)
{
    report->launches += number(json_object_get(line, "launches"));
    if (report->refused == NULL)
        report->refused = string(json_object_get(line, "refused"));
    if (report->processes++ > 0)
        return;
    report->schedule = schedule_of(line);
    report->model = string(json_object_get(line, "model"));
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
    *report = (gd_emulator_report){0};
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
    for (size_t i = 0; i < report->finding_count; i++)
        gd_emulator_finding_free(&report->findings[i]);
    free(report->findings);
    free(report->schedule);
    free(report->model);
    free(report->refused);
    *report = (gd_emulator_report){0};
}
