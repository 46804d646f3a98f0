/* Suggestions for misspelt words: optimal string alignment distance, so that two swapped letters count as one slip. */
#include "cli/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "cli/heap.h"

enum { LONGEST_WORD = 128 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_WORD + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST_WORD || b_length > LONGEST_WORD)
        return LONGEST_WORD;
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return row[b_length];
}

const char *gd_suggest_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t limit = strlen(word) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, words[i]);
        if (d <= limit && d < strlen(words[i])) {
            nearest = words[i];
            limit = d > 0 ? d - 1 : 0;
        }
        if (d == 0)
            break;
    }
    return nearest;
}

char *gd_suggest_text(const char *word, const char *const *words, size_t count)
{
    const char *nearest = gd_suggest_nearest(word, words, count);
    return nearest != NULL ? gd_heap_format("; did you mean '%s'?", nearest) : gd_heap_string("");
}

char *gd_suggest_list(const char *const *words, size_t count)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(words[i]) + 2;
    char *list = gd_heap_take(bytes, 1);
    char *end = list;
    for (size_t i = 0; i < count; i++) {
        end = i > 0 ? stpcpy(end, ", ") : end;
        end = stpcpy(end, words[i]);
    }
    return list;
}
