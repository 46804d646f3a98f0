/* "Did you mean": the nearest of several words by edit distance. */
#ifndef GD_CLI_SUGGEST_H
#define GD_CLI_SUGGEST_H

#include <stddef.h>

/* The nearest word, or NULL when none is near enough to be what was meant. Words may repeat. */
const char *gd_suggest_nearest(const char *word, const char *const *words, size_t count);

/* "; did you mean 'x'?" or "" as a string to free. */
char *gd_suggest_text(const char *word, const char *const *words, size_t count);

/* "a, b, c" as a string to free. */
char *gd_suggest_list(const char *const *words, size_t count);

#endif
