/* Filling a caller's griddep_error, the size rule of the public structs, and statuses as words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"

static void append_list(griddep_error *error, const char *format, va_list list)
{
    size_t used = strlen(error->text);
    size_t room = sizeof error->text - used;
    int written = gd_format_list(error->text + used, room, format, list);

    if (written < 0)
        error->text[used] = 0;
    else if ((size_t)written >= room)
        gd_text_trim(error->text);
}

void griddep_error_init(griddep_error *error)
{
    if (!error)
        return;
    memset(error, 0, sizeof *error);
    error->size = sizeof *error;
}

void gd_error_copy(griddep_error *error, const griddep_error *from)
{
    if (!error)
        return;
    const uint32_t size = error->size;
    *error = *from;
    error->size = size;
}

void gd_error_set_file(griddep_error *error, const char *file)
{
    if (!error)
        return;
    if (snprintf(error->file, sizeof error->file, "%s", file ? file : "") >=
        (int)sizeof error->file)
        gd_text_trim(error->file);
}

static void set_list(griddep_error *error, int32_t status, const char *file, int32_t line,
                     int32_t column, const char *format, va_list list)
{
    error->status = status;
    error->driver_code = 0;
    error->line = line;
    error->column = column;
    error->text[0] = 0;
    gd_error_set_file(error, file);
    append_list(error, format, list);
}

int32_t gd_error_set(griddep_error *error, int32_t status, const char *format, ...)
{
    va_list list;

    if (!error)
        return status;
    va_start(list, format);
    set_list(error, status, NULL, 0, 0, format, list);
    va_end(list);
    return status;
}

int32_t gd_error_set_at(griddep_error *error, int32_t status, const char *file, int32_t line,
                        int32_t column, const char *format, ...)
{
    va_list list;

    if (!error)
        return status;
    va_start(list, format);
    set_list(error, status, file, line, column, format, list);
    va_end(list);
    return status;
}

void gd_error_append(griddep_error *error, const char *format, ...)
{
    va_list list;

    if (!error)
        return;
    va_start(list, format);
    append_list(error, format, list);
    va_end(list);
}

int32_t gd_error_memory(griddep_error *error)
{
    return gd_error_set(error, GRIDDEP_ERROR_MEMORY, "the host has no memory left");
}

int32_t gd_error_no_number(griddep_error *error, const char *what, const char *name, uint32_t count,
                           const char *one, const char *several, uint32_t index)
{
    return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                        "%s%s has %" PRIu32 " %s; there is no %s %" PRIu32, what, name, count,
                        gd_plural(count, one, several), one, index);
}

static int32_t check_size(uint32_t size, uint32_t minimum, const char *name, griddep_error *error)
{
    if (size < minimum)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "%s.size is %" PRIu32 "; it must be at least %" PRIu32, name, size,
                            minimum);
    if (size > GD_LARGEST_STRUCT)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT, "%s.size is %" PRIu32 ", which cannot be",
                            name, size);
    return GRIDDEP_OK;
}

int32_t gd_struct_read_other(void *target, uint32_t known, uint32_t minimum, const void *source,
                             const char *name, griddep_error *error)
{
    const unsigned char *bytes = source;
    uint32_t size;

    if (!source)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", name);
    memcpy(&size, source, sizeof size);
    int32_t status = check_size(size, minimum, name, error);
    if (status)
        return status;
    for (uint32_t i = known; i < size; i++) {
        if (bytes[i])
            return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                                "%s uses a field at byte %" PRIu32
                                " that this version of the library does not have",
                                name, i);
    }
    memset(target, 0, known);
    memcpy(target, source, size < known ? size : known);
    return GRIDDEP_OK;
}

int32_t gd_struct_write(void *target, const void *source, uint32_t known, uint32_t minimum,
                        const char *name, griddep_error *error)
{
    uint32_t size;

    if (!target)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", name);
    memcpy(&size, target, sizeof size);
    int32_t status = check_size(size, minimum, name, error);
    if (status)
        return status;
    memcpy(target, source, size < known ? size : known);
    memcpy(target, &size, sizeof size);
    return GRIDDEP_OK;
}

/* ---- statuses, from status.def ---- */

typedef struct status_entry {
    const char *name;
    const char *text;
} status_entry;

#define X(name, value, text)                                                                       \
    _Static_assert(GRIDDEP_##name == (value), "status.def and griddep.h disagree on " #name);
#include "base/status.def"
#undef X

#define X(name, value, text) [-(value)] = {"GRIDDEP_" #name, text},
static const status_entry entries[] = {
#include "base/status.def"
};
#undef X

static const status_entry *entry_of(int32_t status)
{
    static const status_entry unknown = {"GRIDDEP_ERROR_UNKNOWN",
                                         "a status that this library does not know"};
    int32_t count = (int32_t)(sizeof entries / sizeof entries[0]);

    return status > 0 || status <= -count ? &unknown : &entries[-status];
}

const char *griddep_status_name(int32_t status)
{
    return entry_of(status)->name;
}

const char *gd_error_text(int32_t status)
{
    return entry_of(status)->text;
}
