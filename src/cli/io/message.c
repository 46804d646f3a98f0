/* Errors of the command, for people on stderr and for programs on stdout. Owns the switches that
 * decide how. */
#include "cli/io/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/io/heap.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

static bool json_wanted;
static json_t *collected;

static int exit_code_of(int32_t status)
{
    switch (status) {
    case GRIDDEP_ERROR_NO_DRIVER:
    case GRIDDEP_ERROR_DRIVER_TOO_OLD:
        return GD_EXIT_NO_DRIVER;
    case GRIDDEP_ERROR_ARGUMENT:
    case GRIDDEP_ERROR_FILE:
    case GRIDDEP_ERROR_ENVIRONMENT:
    case GRIDDEP_ERROR_SYNTAX:
    case GRIDDEP_ERROR_COMPILE:
    case GRIDDEP_ERROR_IMAGE:
    case GRIDDEP_ERROR_NOT_FOUND:
    case GRIDDEP_ERROR_SIGNATURE:
    case GRIDDEP_ERROR_LIMIT:
    case GRIDDEP_ERROR_REQUIREMENT:
        return GD_EXIT_USAGE;
    default:
        return GD_EXIT_REFUSED;
    }
}

/* A line of a message that repeats an argument may have any length. On a terminal its beginning and
 * its end tell enough; JSON has all of it. */
enum { LONGEST_LINE = 2000, KEPT = 400 };

static char *shorten(const char *line, size_t length)
{
    if (length <= LONGEST_LINE)
        return gd_heap_format("%.*s", (int)length, line);
    size_t head = KEPT, tail = length - KEPT;
    while (head > 0 && ((unsigned char)line[head] & 0xc0) == 0x80)
        head--;
    while (tail < length && ((unsigned char)line[tail] & 0xc0) == 0x80)
        tail++;
    return gd_heap_format("%.*s ... (%zu bytes more) ... %.*s", (int)head, line, tail - head,
                          (int)(length - tail), line + tail);
}

/* A text of several lines may quote a source, whose columns stay. */
static void put_lines(const char *text, size_t column)
{
    char *clean = gd_output_clean_lines(text);
    bool is_one = strchr(clean, '\n') == NULL;
    for (const char *line = clean; line != NULL;) {
        const char *end = strchr(line, '\n');
        char *shown = shorten(line, end != NULL ? (size_t)(end - line) : strlen(line));
        if (is_one)
            gd_output_wrap(stderr, shown, column);
        else
            fputs(shown, stderr);
        free(shown);
        if (end != NULL)
            putc('\n', stderr);
        line = end != NULL ? end + 1 : NULL;
    }
    free(clean);
}

/* Returns how many columns it took. */
static size_t write_position(const gd_place *place, bool color)
{
    size_t columns = 2;
    if (place->file == NULL || place->file[0] == '\0')
        return 0;
    char *clean = gd_output_clean(place->file);
    char *file = shorten(clean, strlen(clean));
    fputs(color ? "\033[1m" : "", stderr);
    fputs(file, stderr);
    columns += strlen(file);
    free(file);
    free(clean);
    if (place->line > 0)
        columns += (size_t)fprintf(stderr, ":%u", (unsigned)place->line);
    if (place->line > 0 && place->column > 0)
        columns += (size_t)fprintf(stderr, ":%u", (unsigned)place->column);
    fprintf(stderr, "%s: ", color ? "\033[0m" : "");
    return columns;
}

static void write_stderr(const gd_place *place, const char *text)
{
    bool color = gd_message_takes_color(STDERR_FILENO);
    gd_progress_clear();
    fprintf(stderr, "%sgriddep:%s ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
    size_t columns = write_position(place, color);
    put_lines(text, strlen("griddep: ") + columns);
    putc('\n', stderr);
}

static void hand_out(int code, json_t *object)
{
    if (collected != NULL) {
        gd_output_append(collected, object);
        return;
    }
    json_t *document = json_object();
    if (code == GD_EXIT_NO_DRIVER)
        gd_output_set(document, "driver", json_null());
    gd_output_set(document, "error", object);
    gd_output_write(document);
}

static void write_json(const gd_place *place, int code, const griddep_error *error,
                       const uint32_t *launch, const char *text)
{
    if (!json_wanted && collected == NULL)
        return;
    json_t *object = json_object();
    gd_output_set(object, "text", gd_output_string(text));
    gd_output_set(object, "exit_code", json_integer(code));
    if (error != NULL) {
        gd_output_set(object, "status", json_integer(error->status));
        gd_output_set(object, "name", gd_output_string(griddep_status_name(error->status)));
        gd_output_set(object, "driver_code", json_integer(error->driver_code));
    }
    if (place->file != NULL && place->file[0] != '\0') {
        gd_output_set(object, "file", gd_output_string(place->file));
        if (place->line > 0)
            gd_output_set(object, "line", json_integer(place->line));
        if (place->line > 0 && place->column > 0)
            gd_output_set(object, "column", json_integer(place->column));
    }
    if (launch != NULL)
        gd_output_set(object, "launch", json_integer(*launch));
    hand_out(code, object);
}

static void write_message(const gd_place *place, int code, const char *text)
{
    char *clean = gd_output_clean(text);
    write_stderr(place, clean);
    write_json(place, code, NULL, NULL, text);
    free(clean);
}

/* What the library says, without the position before it, which is written in front of the whole
 * message. */
static const char *words_of(const griddep_error *error)
{
    const char *words =
        error->text[0] != '\0' ? error->text : griddep_text(GRIDDEP_TEXT_STATUS, error->status);
    char position[sizeof(error->file) + 32];
    int length = error->column > 0 ? snprintf(position, sizeof(position), "%s:%d:%d: ", error->file,
                                              (int)error->line, (int)error->column)
                                   : snprintf(position, sizeof(position), "%s:%d: ", error->file,
                                              (int)error->line);
    bool repeats = error->line > 0 && strncmp(words, position, (size_t)length) == 0;
    return repeats ? words + length : words;
}

static gd_place place_of(const griddep_error *error)
{
    return (gd_place){.file = error->file,
                      .line = error->line > 0 ? (uint32_t)error->line : 0,
                      .column = error->column > 0 ? (uint32_t)error->column : 0};
}

/* The library quotes source lines, so its text may have several lines; a name in `doing` may
 * not. */
static int write_library_error(gd_place place, int code, const griddep_error *error,
                               const uint32_t *launch, const char *doing)
{
    char *raw = doing != NULL ? gd_heap_format("%s: %s", doing, words_of(error))
                              : gd_heap_string(words_of(error));
    for (size_t length = strlen(raw); length > 0 && raw[length - 1] == '\n'; length--)
        raw[length - 1] = '\0';
    char *before = doing != NULL ? gd_output_clean(doing) : NULL;
    char *text =
        before != NULL ? gd_heap_format("%s%s", before, raw + strlen(doing)) : gd_heap_string(raw);
    write_stderr(&place, text);
    write_json(&place, code, error, launch, raw);
    free(text);
    free(before);
    free(raw);
    return code;
}

static void remark(const char *label, const char *format, va_list arguments)
{
    char *text = gd_heap_vformat(format, arguments);
    char *clean = gd_output_told(text);
    gd_progress_clear();
    int columns = fprintf(stderr, "griddep: %s: ", label);
    put_lines(clean, columns > 0 ? (size_t)columns : 0);
    putc('\n', stderr);
    free(clean);
    free(text);
}

void gd_message_want_json(void)
{
    json_wanted = true;
}

void gd_message_collect(json_t *errors)
{
    collected = errors;
}

void gd_message_hand_out(json_t *errors)
{
    size_t index;
    json_t *error;
    collected = NULL;
    json_array_foreach(errors, index, error)
        hand_out((int)json_integer_value(json_object_get(error, "exit_code")), json_incref(error));
}

int gd_message_error(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    write_message(&(gd_place){0}, code, text);
    free(text);
    return code;
}

int gd_message_usage(const char *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    char *clean = gd_output_clean(text), *whole = gd_heap_format("%s; usage: %s", text, call);
    write_stderr(&(gd_place){0}, clean);
    gd_page page;
    fprintf(gd_page_begin(&page, stderr), "usage: %s\n", call);
    gd_page_end(&page);
    write_json(&(gd_place){0}, GD_EXIT_USAGE, NULL, NULL, whole);
    free(whole);
    free(clean);
    free(text);
    return GD_EXIT_USAGE;
}

int gd_message_error_at(gd_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    write_message(&place, GD_EXIT_USAGE, text);
    free(text);
    return GD_EXIT_USAGE;
}

int gd_message_library(const griddep_error *error, const char *doing)
{
    return gd_message_library_as(exit_code_of(error->status), error, doing);
}

int gd_message_library_as(int code, const griddep_error *error, const char *doing)
{
    return write_library_error(place_of(error), code, error, NULL, doing);
}

int gd_message_library_at(gd_place place, const griddep_error *error, const char *doing)
{
    bool has_place = error->file[0] != '\0' || place.file == NULL;
    return write_library_error(has_place ? place_of(error) : place, exit_code_of(error->status),
                               error, NULL, doing);
}

int gd_message_fault(gd_place place, uint32_t launch, const griddep_error *error, const char *doing)
{
    return write_library_error(place, exit_code_of(error->status), error, &launch, doing);
}

void gd_message_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark("warning", format, arguments);
    va_end(arguments);
}

void gd_message_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark("note", format, arguments);
    va_end(arguments);
}

bool gd_message_takes_color(int descriptor)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    if (terminal != NULL && strcmp(terminal, "dumb") == 0)
        return false;
    return isatty(descriptor) == 1;
}
