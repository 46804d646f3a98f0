#include "ptx/isa/special.h"

#include <string.h>

static const gd_special_register specials[] = {
#define IS_NUMBERED(name) ((name)[sizeof(name) - 2] == '*')
#define GD_SPECIAL(name, type, parts, varies, version, target)                                     \
    {name,                                                                                         \
     sizeof(name) - 1 - IS_NUMBERED(name),                                                         \
     IS_NUMBERED(name),                                                                            \
     GD_TYPE_##type,                                                                               \
     parts,                                                                                        \
     GD_VARIES_##varies,                                                                           \
     {version, target}},
#include "ptx/isa/special.def"
#undef GD_SPECIAL
};

enum { SPECIAL_COUNT = sizeof specials / sizeof specials[0] };

const gd_special_register *gd_special_find(const char *name, uint32_t length)
{
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++) {
        const gd_special_register *special = &specials[i];
        uint32_t at = special->bytes;
        if (length < at || (!special->numbered && length != at) ||
            memcmp(special->name, name, at) != 0)
            continue;
        while (at < length && (unsigned)(name[at] - '0') <= 9)
            at++;
        if (at == length)
            return special;
    }
    return NULL;
}

const gd_special_register *gd_special_at(uint32_t index)
{
    return index < SPECIAL_COUNT ? &specials[index] : NULL;
}
