/* Suggestions for misspelt words. */
#include "cli/io/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#include "cli/io/heap.h"

const char *gd_suggest_nearest(const char *word, const char *const *words, size_t count)
{
    gd_nearest nearest = {.word = word, .bytes = strlen(word)};
    for (size_t i = 0; i < count; i++)
        gd_nearest_look(&nearest, words[i]);
    return nearest.name;
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
