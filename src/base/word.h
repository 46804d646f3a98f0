/* Words that environment variables take for yes and no. */
#ifndef GD_BASE_WORD_H
#define GD_BASE_WORD_H

#include <stdbool.h>

/* off, 0, no, false; on, 1, yes, true. In any case of letters. */
bool gd_word_is_off(const char *word);
bool gd_word_is_on(const char *word);

#endif
