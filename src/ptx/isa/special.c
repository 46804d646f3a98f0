#include "ptx/isa/special.h"

#include <stdlib.h>
#include <string.h>

#define GD_SPECIAL(name, type, parts, varies, version, target)                                     \
    {name, GD_TYPE_##type, parts, GD_VARIES_##varies, {version, target}},
static const gd_special_register specials[] = {
#include "ptx/isa/special.def"
};
#undef GD_SPECIAL

enum { SPECIAL_COUNT = sizeof specials / sizeof specials[0] };

/* Whether digits are a number without zeros in front, and at most as large as another. */
static bool is_number(const char *text, uint32_t length, const char *most)
{
    uint32_t number = 0;

    if (length == 0 || length > strlen(most) || (length > 1 && text[0] == '0'))
        return false;
    for (uint32_t i = 0; i < length; i++) {
        if ((unsigned)(text[i] - '0') > 9)
            return false;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    return number <= strtoul(most, NULL, 10);
}

const gd_special_register *gd_special_find(const char *name, uint32_t length)
{
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++) {
        const gd_special_register *special = &specials[i];
        const uint32_t bytes = gd_special_bytes(special);
        if (length < bytes || memcmp(special->name, name, bytes) != 0)
            continue;
        if (special->name[bytes]
                ? is_number(name + bytes, length - bytes, special->name + bytes + 1)
                : length == bytes)
            return special;
    }
    return NULL;
}

uint32_t gd_special_bytes(const gd_special_register *special)
{
    return (uint32_t)strcspn(special->name, "*");
}

const gd_special_register *gd_special_at(uint32_t index)
{
    return index < SPECIAL_COUNT ? &specials[index] : NULL;
}
