/* Memory for the command. Large host buffers are taken through it too: their sizes are checked
 * against the machine before. */
#include "cli/io/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/message.h"

void gd_heap_end(void)
{
    fputs("griddep: the host has no memory left\n", stderr);
    exit(GD_EXIT_REFUSED);
}

void *gd_heap_take(size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        gd_heap_end();
    return memory;
}

void *gd_heap_grow(void *array, size_t old_count, size_t new_count, size_t bytes)
{
    char *grown = reallocarray(array, new_count, bytes);
    if (grown == NULL)
        gd_heap_end();
    memset(grown + old_count * bytes, 0, (new_count - old_count) * bytes);
    return grown;
}

char *gd_heap_string(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL)
        gd_heap_end();
    return copy;
}

char *gd_heap_vformat(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = gd_heap_take(length > 0 ? (size_t)length + 1 : 1, 1);
    if (length > 0)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *gd_heap_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    return text;
}
