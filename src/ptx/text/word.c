#include "ptx/text/word.h"

#include <string.h>

static const gd_word words[] = {
    {.text = "", .class = GD_WORD_NONE},
#define GD_WORD(word, kind, number)                                                                \
    {.text = word, .length = sizeof word - 1, .class = GD_WORD_##kind, .value = number},
#include "ptx/text/keywords.def"
#undef GD_WORD
#define GD_TYPE(identifier, name, bytes, kind)                                                     \
    {.text = name, .length = sizeof name - 1, .class = GD_WORD_TYPE, .value = GD_TYPE_##identifier},
#include "ptx/text/types.def"
#undef GD_TYPE
};

enum { WORD_COUNT = sizeof words / sizeof words[0] };

uint16_t gd_word_index(const char *text, uint32_t length)
{
    for (uint16_t i = 1; i < WORD_COUNT; i++) {
        if (words[i].length == length && memcmp(words[i].text, text, length) == 0)
            return i;
    }
    return 0;
}

const gd_word *gd_word_find(const char *text, uint32_t length)
{
    return &words[gd_word_index(text, length)];
}

gd_ptx_space gd_space_of_modifier(const char *text, uint32_t length)
{
    for (uint32_t i = 1; length > 4 && i < WORD_COUNT; i++) { /* longer than reg, tex, sreg */
        const gd_word *word = &words[i];
        if (word->class == GD_WORD_SPACE && word->length <= length && word->text[0] == text[0] &&
            (word->length == length || text[word->length] == ':') &&
            memcmp(word->text, text, word->length) == 0)
            return (gd_ptx_space)word->value;
    }
    return GD_SPACE_NONE;
}

const gd_word *gd_word_at(uint32_t index)
{
    return &words[index < WORD_COUNT ? index : 0];
}
