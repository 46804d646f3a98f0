/* Formatting in the C locale, which the thread has for so long. */
#include <locale.h>
#include <stdio.h>

#include "base/format.h"

int gd_format_list(char *buffer, size_t bytes, const char *format, va_list list)
{
    const locale_t plain =
        newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a constant of the C library */
    const locale_t before = plain ? uselocale(plain) : (locale_t)0;
    const int length = vsnprintf(buffer, bytes, format, list);

    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return length;
}

int gd_format(char *buffer, size_t bytes, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const int length = gd_format_list(buffer, bytes, format, list);
    va_end(list);
    return length;
}
