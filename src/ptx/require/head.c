/* Lines and fields of the head comment. */
#include <string.h>

#include "ptx/require/head.h"

enum { CONTINUED = 3 }; /* spaces before a line that continues a field */

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static gd_head_line trim(const char *start, const char *end)
{
    while (start < end && is_space(*start))
        start++;
    while (end > start && is_space(end[-1]))
        end--;
    return (gd_head_line){start, (size_t)(end - start)};
}

bool gd_head_next(gd_head *head, gd_head_line *line)
{
    const char *at = head->at, *end = head->end;

    while (at < end && (*at == '\n' || *at == '\r'))
        at++;
    if (end - at < 2 || at[0] != '/' || at[1] != '/')
        return false;
    const char *start = at + 2;
    const char *newline = memchr(start, '\n', (size_t)(end - start));
    const char *stop = newline ? newline : end;
    head->at = stop;
    while (stop > start && is_space(stop[-1]))
        stop--;
    *line = (gd_head_line){start, (size_t)(stop - start)};
    return true;
}

bool gd_head_begins(const gd_head_line *line, const char *name, gd_head_line *of,
                    gd_head_line *value)
{
    const char *end = line->text + line->bytes;
    size_t length = strlen(name);

    if (line->bytes < length + 2 || line->text[0] != ' ' || memcmp(line->text + 1, name, length))
        return false;
    const char *behind = line->text + 1 + length;
    const char *colon = memchr(behind, ':', (size_t)(end - behind));
    if (!colon || (colon != behind && (!of || *behind != ' ')))
        return false;
    gd_head_line word = trim(behind, colon);
    if (memchr(word.text, ' ', word.bytes))
        return false;
    if (of)
        *of = word;
    *value = trim(colon + 1, end);
    return true;
}

bool gd_head_continues(const gd_head_line *line)
{
    return line->bytes >= CONTINUED && !memcmp(line->text, "   ", CONTINUED);
}
