/* The table of codes. */
#include "ptx/text/findings.h"

#include <string.h>

const gd_code_info gd_codes[GD_CODE_COUNT] = {
#define GD_CODE(identifier, weight, headline, text)                                                \
    {.name = #identifier, .severity = GRIDDEP_SEVERITY_##weight, .title = headline, .page = text},
#include "ptx/text/codes.def"
#undef GD_CODE
};

static bool same_code(const char *name, const char *code)
{
    for (; *name; name++, code++) {
        char upper = *code >= 'a' && *code <= 'z' ? (char)(*code - 'a' + 'A') : *code;
        if (upper != *name)
            return false;
    }
    return !*code;
}

const gd_code_info *gd_code_at(uint32_t index)
{
    return index < GD_CODE_COUNT ? &gd_codes[index] : NULL;
}

const gd_code_info *gd_code_find(const char *name)
{
    for (uint32_t i = 0; i < GD_CODE_COUNT; i++)
        if (same_code(gd_codes[i].name, name))
            return &gd_codes[i];
    return NULL;
}

bool gd_code_is_race(const char *name)
{
    static const char *const names[] = {"GD112", "GD130", "GD201", "GD202", "GD205", "GD206"};
    bool found = false;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = !strcmp(name, names[i]);
    return found;
}
