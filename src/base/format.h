/* Formatting into a buffer, the same in every program: numbers have a decimal point whatever the
 * locale is that the host program has set. Formats that are handed on go through here. */
#ifndef GD_BASE_FORMAT_H
#define GD_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf and snprintf. */
int gd_format_list(char *buffer, size_t bytes, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));
int gd_format(char *buffer, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
