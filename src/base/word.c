/* Words that environment variables take for yes and no. */
#include <stddef.h>
#include <strings.h>

#include "base/word.h"

static bool one_of(const char *word, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcasecmp(word, words[i]))
            return true;
    }
    return false;
}

bool gd_word_is_off(const char *word)
{
    static const char *const words[] = {"off", "0", "no", "false"};

    return one_of(word, words, sizeof words / sizeof words[0]);
}

bool gd_word_is_on(const char *word)
{
    static const char *const words[] = {"on", "1", "yes", "true"};

    return one_of(word, words, sizeof words / sizeof words[0]);
}
