/* Lists of instructions of which a line has several: "<.a|.b>" is each of these modifiers in its
 * turn, and "<1>" the one that the first "<" has, without its dot. */
#ifndef TESTS_UNFOLD_H
#define TESTS_UNFOLD_H

#include <string.h>

#include "base/text.h"

/* The first "<" with a choice in a line; NULL: it has none. */
static inline const char *unfold_find(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at == '<' && memchr(at, '|', strcspn(at, ">")))
            return at;
    }
    return NULL;
}

/* The line with a word for its first choice, whose number is `number`. */
static inline void unfold_choose(const char *at, const char *end, const char *open,
                                 const char *word, size_t length, int number, gd_text *into)
{
    const char *close = strchr(open, '>') + 1;

    gd_text_append(into, at, (size_t)(open - at));
    gd_text_append(into, word, length);
    for (at = close; at < end;) {
        if (at[0] == '<' && at[1] == '0' + number && at[2] == '>') {
            gd_text_append(into, word + 1, length ? length - 1 : 0);
            at += 3;
        } else {
            gd_text_append(into, at++, 1);
        }
    }
}

/* Appends what a line stands for, line by line; its choices before `number` are made. */
static inline void unfold_line(const char *at, const char *end, int number, gd_text *into)
{
    const char *open = unfold_find(at, end);

    if (!open) {
        gd_text_append(into, at, (size_t)(end - at));
        gd_text_string(into, "\n");
        return;
    }
    for (const char *word = open + 1; word[-1] != '>';) {
        size_t length = strcspn(word, "|>");
        gd_text whole = {0};
        unfold_choose(at, end, open, word, length, number, &whole);
        unfold_line(gd_text_get(&whole), gd_text_get(&whole) + whole.bytes, number + 1, into);
        gd_text_free(&whole);
        word += length + 1;
    }
}

/* Appends the lines of a list. */
static inline void unfold(const char *list, gd_text *into)
{
    for (const char *at = list; *at; at += strcspn(at, "\n") + 1)
        unfold_line(at, at + strcspn(at, "\n"), 1, into);
}

#endif
