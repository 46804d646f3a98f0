/* Errors of the command, for people on stderr and for programs on stdout. Owns the two switches that decide how. */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/heap.h"
#include "cli/output.h"
#include "cli/progress.h"

static bool json_wanted;

static int exit_code_of(int32_t status)
{
    switch (status) {
    case GRIDDEP_ERROR_NO_DRIVER:
    case GRIDDEP_ERROR_DRIVER_TOO_OLD:
        return GD_EXIT_NO_DRIVER;
    case GRIDDEP_ERROR_FILE:
    case GRIDDEP_ERROR_ENVIRONMENT:
        return GD_EXIT_USAGE;
    default:
        return GD_EXIT_REFUSED;
    }
}

static void write_position(const gd_place *place, bool color)
{
    if (place->file == NULL || place->file[0] == '\0')
        return;
    fprintf(stderr, "%s%s", color ? "\033[1m" : "", place->file);
    if (place->line > 0)
        fprintf(stderr, ":%u", (unsigned)place->line);
    if (place->line > 0 && place->column > 0)
        fprintf(stderr, ":%u", (unsigned)place->column);
    fprintf(stderr, "%s: ", color ? "\033[0m" : "");
}

static void write_stderr(const gd_place *place, const char *text)
{
    bool color = gd_message_takes_color(STDERR_FILENO);
    gd_progress_clear();
    fprintf(stderr, "%sgriddep:%s ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
    write_position(place, color);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    fprintf(stderr, "%.*s\n", (int)length, text);
}

static void write_json(const gd_place *place, int code, const griddep_error *error, const char *text)
{
    if (!json_wanted)
        return;
    json_t *document = json_object();
    json_t *object = json_object();
    if (code == GD_EXIT_NO_DRIVER)
        gd_output_set(document, "driver", json_null());
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
    gd_output_set(document, "error", object);
    gd_output_write(document);
}

static void say(const gd_place *place, int code, const char *text)
{
    write_stderr(place, text);
    write_json(place, code, NULL, text);
}

void gd_message_want_json(void)
{
    json_wanted = true;
}

int gd_message_error(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    say(&(gd_place){0}, code, text);
    free(text);
    return code;
}

int gd_message_error_at(gd_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    say(&place, GD_EXIT_USAGE, text);
    free(text);
    return GD_EXIT_USAGE;
}

int gd_message_library(const griddep_error *error, const char *doing)
{
    int code = exit_code_of(error->status);
    gd_place place = {.file = error->file,
                      .line = error->line > 0 ? (uint32_t)error->line : 0,
                      .column = error->column > 0 ? (uint32_t)error->column : 0};
    const char *words = error->text[0] != '\0' ? error->text : griddep_status_text(error->status);
    char *text = doing != NULL ? gd_heap_format("%s: %s", doing, words) : gd_heap_string(words);
    write_stderr(&place, text);
    write_json(&place, code, error, text);
    free(text);
    return code;
}

void gd_message_note(const char *format, ...)
{
    va_list arguments;
    gd_progress_clear();
    fputs("griddep: note: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
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
