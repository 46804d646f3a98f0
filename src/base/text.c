/* A text buffer that grows, handing text out to callers, and quoting a source line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"

enum { QUOTE_WIDTH = 100, QUOTE_BEFORE = 60 };

static bool reserve(gd_text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 2 - text->bytes - 1) {
        text->failed = true;
        return false;
    }
    size_t need = text->bytes + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void gd_text_append(gd_text *text, const char *data, size_t bytes)
{
    if (!reserve(text, bytes))
        return;
    if (bytes)
        memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    text->data[text->bytes] = 0;
}

void gd_text_string(gd_text *text, const char *string)
{
    gd_text_append(text, string, strlen(string));
}

void gd_text_format_list(gd_text *text, const char *format, va_list list)
{
    va_list again;

    va_copy(again, list);
    int length = gd_format_list(NULL, 0, format, list);
    if (length >= 0 && reserve(text, (size_t)length)) {
        gd_format_list(text->data + text->bytes, (size_t)length + 1, format, again);
        text->bytes += (size_t)length;
    } else {
        text->failed = true;
    }
    va_end(again);
}

void gd_text_format(gd_text *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    gd_text_format_list(text, format, list);
    va_end(list);
}

void gd_text_free(gd_text *text)
{
    free(text->data);
    *text = (gd_text){0};
}

const char *gd_text_get(const gd_text *text)
{
    return text->data ? text->data : "";
}

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0u) == 0x80u;
}

size_t gd_text_character(const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    const unsigned char lead = *at;
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
    const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;

    if (length == 1)
        return lead > 0 && lead < 0x80;
    if (lead > 0xF4 || at[1] < least || at[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (!continues_character(string[i]))
            return 0;
    }
    return length;
}

void gd_text_trim(char *string)
{
    size_t end = strlen(string), start = end;

    while (start > 0 && continues_character(string[start - 1]))
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)string[start - 1];
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length > 1 && end - (start - 1) < length)
        string[start - 1] = 0;
}

void gd_text_clean(char *string)
{
    for (size_t length; *string; string += length) {
        const unsigned char *at = (const unsigned char *)string;
        bool kept = *at == '\n' || *at == '\t';

        length = gd_text_character(string);
        if (length == 0) {
            length = 1;
            *string = '?';
        } else if ((length == 1 && (*at < ' ' || *at == 0x7F) && !kept) ||
                   (*at == 0xC2 && at[1] < 0xA0)) {
            memset(string, '?', length);
        }
    }
}

int32_t gd_text_export(const char *data, size_t bytes, char *buffer, uint64_t capacity,
                       uint64_t *needed, griddep_error *error)
{
    if (!needed)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "bytes is NULL");
    if (!buffer && capacity)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "buffer is NULL and its capacity is %" PRIu64, capacity);
    if (capacity) {
        size_t copied = bytes < capacity - 1 ? bytes : (size_t)(capacity - 1);
        if (copied)
            memcpy(buffer, data, copied);
        buffer[copied] = 0;
    }
    *needed = bytes;
    return GRIDDEP_OK;
}

/* Finds the line-th line (from 1); false when the source has fewer. */
static bool find_line(const char *source, size_t bytes, int32_t line, const char **start,
                      size_t *length)
{
    const char *at = source, *end = source + bytes;

    for (; line > 1; line--) {
        const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!newline)
            return false;
        at = newline + 1;
    }
    if (line < 1 || at >= end)
        return false;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    *start = at;
    *length = (size_t)((newline ? newline : end) - at);
    if (*length && (*start)[*length - 1] == '\r')
        (*length)--;
    return true;
}

void gd_text_quote(gd_text *text, const char *source, size_t bytes, int32_t line, int32_t column)
{
    const char *start;
    size_t length;

    if (!source || !find_line(source, bytes, line, &start, &length))
        return;
    size_t at = column > 0 ? (size_t)column - 1 : 0;
    if (at > length)
        at = length;
    size_t skip = length > QUOTE_WIDTH && at > QUOTE_BEFORE ? at - QUOTE_BEFORE : 0;
    while (skip && continues_character(start[skip]))
        skip--;
    size_t shown = length - skip < QUOTE_WIDTH ? length - skip : QUOTE_WIDTH;
    while (skip + shown < length && shown && continues_character(start[skip + shown]))
        shown--;
    gd_text_format(text, "%6" PRId32 " | %s", line, skip ? "..." : "");
    gd_text_append(text, start + skip, shown);
    gd_text_string(text, skip + shown < length ? "...\n" : "\n");
    if (column < 1)
        return;
    gd_text_format(text, "       | %s", skip ? "   " : "");
    for (size_t i = skip; i < at; i++) {
        if (!continues_character(start[i]))
            gd_text_append(text, start[i] == '\t' ? "\t" : " ", 1);
    }
    gd_text_string(text, "^\n");
}
