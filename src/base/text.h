/* A text buffer that grows. A failed allocation is remembered and makes later appends do nothing,
 * so that a writer checks once, at its end. */
#ifndef GD_BASE_TEXT_H
#define GD_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

typedef struct gd_text {
    char *data; /* always ends with a zero byte when not NULL */
    size_t bytes;
    size_t capacity;
    bool failed;
} gd_text;

void gd_text_append(gd_text *text, const char *data, size_t bytes);
void gd_text_string(gd_text *text, const char *string);
void gd_text_format(gd_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gd_text_format_list(gd_text *text, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));
void gd_text_free(gd_text *text);

/* The text so far, never NULL. */
const char *gd_text_get(const gd_text *text);

/* Bytes of the well-formed UTF-8 character that a string begins with (Unicode, table 3-7); 0: there
 * is none. */
size_t gd_text_character(const char *string);

/* Cuts an incomplete UTF-8 character off the end of a string that was cut to fit. */
void gd_text_trim(char *string);

/* Puts '?' in the place of each control character but line ends and tabs, and of each byte that is
 * no UTF-8: a text that quotes names and settings may reach a terminal. */
void gd_text_clean(char *string);

/* Hands text out by the convention of griddep_ptx_print: capacity bytes with the closing zero,
 * *needed without it. */
int32_t gd_text_export(const char *data, size_t bytes, char *buffer, uint64_t capacity,
                       uint64_t *needed, griddep_error *error);

/* Appends "  12 | source line\n     |     ^\n" for line and column (from 1; column 0: no caret) of
 * a text; nothing when the line is past the text's end. Tabs are kept below the caret, a long line
 * is cut around the column, between characters. */
void gd_text_quote(gd_text *text, const char *source, size_t bytes, int32_t line, int32_t column);

/* "1 launch", "2 launches". */
static inline const char *gd_plural(uint64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

#endif
