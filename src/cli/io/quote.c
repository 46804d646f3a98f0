/* Quoting a line. */
#include "cli/io/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"

const char *gd_quote_find(const char *text, size_t bytes, uint32_t line, size_t *length)
{
    const char *end = text + bytes, *at = text;
    for (uint32_t i = 1; i < line && at != NULL; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    if (line == 0 || at == NULL || at == end)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *length = (size_t)((stop != NULL ? stop : end) - at);
    if (*length > 0 && at[*length - 1] == '\r')
        --*length;
    return at;
}

/* What stands before the column, each character but a tab as a space, so that the caret gets below
 * it. */
static char *indent(const char *line, size_t length, uint32_t column)
{
    size_t count = column - 1U < length ? column - 1U : length;
    char *space = gd_heap_take(count + 1, 1);
    for (size_t i = 0; i < count; i++)
        space[i] = line[i] == '\t' ? '\t' : ' ';
    return space;
}

char *gd_quote_line(const char *text, size_t bytes, uint32_t line, uint32_t column)
{
    size_t length = 0;
    const char *found = gd_quote_find(text, bytes, line, &length);
    if (found == NULL)
        return gd_heap_string("");
    if (column == 0)
        return gd_heap_format("%4u | %.*s\n", (unsigned)line, (int)length, found);
    char number[16];
    int width = snprintf(number, sizeof(number), "%4u", (unsigned)line);
    char *space = indent(found, length, column);
    char *quote =
        gd_heap_format("%s | %.*s\n%*s | %s^\n", number, (int)length, found, width, "", space);
    free(space);
    return quote;
}
