#include "ptx/isa/special.h"

#include <string.h>

static const gd_special_register specials[] = {
#define GD_SPECIALS(name, count, type, parts, varies, version, target)                             \
    {name, sizeof(name) - 1, count, GD_TYPE_##type, parts, GD_VARIES_##varies, {version, target}},
#define GD_SPECIAL(name, type, parts, varies, version, target)                                     \
    GD_SPECIALS(name, 0, type, parts, varies, version, target)
#include "ptx/isa/special.def"
#undef GD_SPECIAL
#undef GD_SPECIALS
};

enum { SPECIAL_COUNT = sizeof specials / sizeof specials[0] };

/* Whether a text is a number below another one, without zeros in front. */
static bool is_below(const char *text, uint32_t length, uint32_t count)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < length && number < count; i++) {
        if ((unsigned)(text[i] - '0') > 9)
            return false;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    return length > 0 && number < count && (length == 1 || *text != '0');
}

const gd_special_register *gd_special_find(const char *name, uint32_t length)
{
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++) {
        const gd_special_register *special = &specials[i];
        const uint32_t at = special->bytes;
        if (length >= at && memcmp(special->name, name, at) == 0 &&
            (special->count ? is_below(name + at, length - at, special->count) : length == at))
            return special;
    }
    return NULL;
}

const gd_special_register *gd_special_at(uint32_t index)
{
    return index < SPECIAL_COUNT ? &specials[index] : NULL;
}
