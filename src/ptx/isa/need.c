#include "ptx/isa/need.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    gd_need need;
} needs[] = {
#define GD_NEED(word, version, target) {word, {version, target}},
#define GD_NEED_WITH(op, modifiers, version, target)
#include "ptx/isa/needs.def"
#undef GD_NEED
#undef GD_NEED_WITH
};

static const struct {
    const char *name;
    uint8_t version;
} chips[] = {
#define GD_CHIP(name, version) {name, version},
#define GD_TARGETS(number, names)
#include "ptx/isa/chips.def"
#undef GD_CHIP
#undef GD_TARGETS
};

static const struct {
    uint16_t number;
    const char *names;
} targets[] = {
#define GD_CHIP(name, version)
#define GD_TARGETS(number, names) {number, names},
#include "ptx/isa/chips.def"
#undef GD_CHIP
#undef GD_TARGETS
};

enum {
    NEED_COUNT = sizeof needs / sizeof needs[0],
    CHIP_COUNT = sizeof chips / sizeof chips[0],
    TARGETS_COUNT = sizeof targets / sizeof targets[0]
};

enum { MOST_MODIFIERS = 8 };

/* What a target's last digit says (forms.def). */
enum { GONE_14 = 6, GONE_32_SM_20 = 7, GONE_65 = 8, GONE_64_SM_70 = 9 };

const gd_need *gd_need_of_word(const char *word, uint32_t length)
{
    for (uint32_t i = 0; i < NEED_COUNT; i++) {
        if (strlen(needs[i].word) == length && memcmp(needs[i].word, word, length) == 0)
            return &needs[i].need;
    }
    return NULL;
}

gd_need gd_need_of(gd_op op, const char *modifiers)
{
    gd_modifier list[MOST_MODIFIERS];
    uint32_t count = 0, form_count;
    const gd_form *forms = gd_forms_of(op, &form_count);
    gd_form_match match;
    gd_need least = {UINT16_MAX, UINT16_MAX};

    for (const char *at = modifiers; *at && count < MOST_MODIFIERS; at += *at == '.') {
        list[count++] = (gd_modifier){at, (uint32_t)strcspn(at, ".")};
        at += strcspn(at, ".");
    }
    for (uint32_t i = 0; i < form_count; i++) {
        if (gd_form_takes(&forms[i], list, count, &match) && match.need.version < least.version)
            least = match.need;
    }
    return least;
}

gd_need gd_need_of_both(gd_need one, gd_need other)
{
    return (gd_need){.version = one.version > other.version ? one.version : other.version,
                     .target = one.target > other.target ? one.target : other.target};
}

/* ---- chips ---- */

int32_t gd_need_of_chip(const char *name, uint32_t length)
{
    for (uint32_t i = 0; i < CHIP_COUNT; i++) {
        if (strlen(chips[i].name) == length && memcmp(chips[i].name, name, length) == 0)
            return chips[i].version;
    }
    return 0;
}

const char *gd_need_chip_at(uint32_t index)
{
    return index < CHIP_COUNT ? chips[index].name : NULL;
}

bool gd_is_version(int32_t version)
{
    static const uint8_t last[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 0}; /* minor, by major */
    int32_t major = version / 10;

    return major > 0 && major < (int32_t)sizeof last && version % 10 <= last[major];
}

/* ---- whether a text has it ---- */

/* A chip's name without sm_ or compute_. */
static const char *number_of(const char *chip)
{
    const char *line = strchr(chip, '_');

    return line ? line : chip;
}

/* The names that stand for a target; NULL: it is a chip and all later ones. */
static const char *names_of(uint16_t target)
{
    for (uint32_t i = 0; i < TARGETS_COUNT; i++) {
        if (targets[i].number == target)
            return targets[i].names;
    }
    return NULL;
}

static bool has_name(const char *names, const char *name)
{
    const char *number = number_of(name);
    const size_t length = strlen(number);

    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ') {
        const char *own = number_of(at);
        if (strcspn(own, " ") == length && memcmp(own, number, length) == 0)
            return true;
    }
    return false;
}

static bool has_target(uint16_t target, const gd_ptx_module *module)
{
    const char *names = names_of(target);

    if (module->capability == 0)
        return true;
    if (names)
        return has_name(names, module->target);
    return target / 10 <= module->capability;
}

static bool is_gone(uint16_t target, const gd_ptx_module *module)
{
    if (names_of(target))
        return false;
    if (target % 10 == GONE_14)
        return module->version >= 14;
    if (target % 10 == GONE_32_SM_20)
        return module->version >= 32 && module->capability >= 20;
    if (target % 10 == GONE_65)
        return module->version >= 65;
    return target % 10 == GONE_64_SM_70 && module->version >= 64 && module->capability >= 70;
}

bool gd_need_is_met(gd_need need, const gd_ptx_module *module)
{
    return need.version <= module->version && has_target(need.target, module) &&
           !is_gone(need.target, module);
}

bool gd_need_name_target(gd_need need, const gd_ptx_module *module, char name[GD_NEED_TEXT])
{
    const char *names = names_of(need.target);

    if (names)
        snprintf(name, GD_NEED_TEXT, "%.*s", (int)strcspn(names, " "), names);
    else
        snprintf(name, GD_NEED_TEXT, "sm_%u", need.target / 10u);
    return !is_gone(need.target, module);
}

void gd_need_describe(gd_need need, const gd_ptx_module *module, char text[GD_NEED_TEXT])
{
    const char *names = names_of(need.target);

    if (need.version > module->version)
        snprintf(text, GD_NEED_TEXT, "needs .version %u.%u; the text says %d.%d",
                 need.version / 10u, need.version % 10u, (int)(module->version / 10),
                 (int)(module->version % 10));
    else if (is_gone(need.target, module))
        snprintf(text, GD_NEED_TEXT, "is gone since %s",
                 need.target % 10 == GONE_14         ? ".version 1.4"
                 : need.target % 10 == GONE_32_SM_20 ? ".version 3.2 on sm_20 and later"
                 : need.target % 10 == GONE_65       ? ".version 6.5"
                                                     : ".version 6.4 on sm_70 and later");
    else if (names)
        snprintf(text, GD_NEED_TEXT, "needs .target %.*s; the text says %.32s",
                 (int)strcspn(names, " "), names, module->target);
    else
        snprintf(text, GD_NEED_TEXT, "needs .target sm_%u; the text says %.32s", need.target / 10u,
                 module->target);
}
