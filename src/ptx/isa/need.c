#include "ptx/isa/need.h"

#include <string.h>

static const gd_need needs[] = {
#define GD_NEED(word, version, chip) {word, version, chip},
#include "ptx/isa/needs.def"
#undef GD_NEED
};

static const gd_need chips[] = {
#define GD_CHIP(name, version) {name, version, 0},
#include "ptx/isa/chips.def"
#undef GD_CHIP
};

enum { NEED_COUNT = sizeof needs / sizeof needs[0], CHIP_COUNT = sizeof chips / sizeof chips[0] };

static const gd_need *find(const gd_need *list, uint32_t count, const char *word, uint32_t length)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(list[i].word) == length && memcmp(list[i].word, word, length) == 0)
            return &list[i];
    }
    return NULL;
}

const gd_need *gd_need_of_word(const char *word, uint32_t length)
{
    return find(needs, NEED_COUNT, word, length);
}

int32_t gd_need_of_chip(const char *name, uint32_t length)
{
    const gd_need *chip = find(chips, CHIP_COUNT, name, length);

    return chip ? chip->version : 0;
}

const char *gd_need_chip_at(uint32_t index)
{
    return index < CHIP_COUNT ? chips[index].word : NULL;
}

bool gd_is_version(int32_t version)
{
    static const uint8_t last[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 0}; /* minor, by major */
    int32_t major = version / 10;

    return major > 0 && major < (int32_t)sizeof last && version % 10 <= last[major];
}
