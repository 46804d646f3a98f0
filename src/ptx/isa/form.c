/* Fitting modifiers to forms. ptxas treats modifiers as a bag: their order counts among types, and
 * among state spaces, and nowhere else. */
#include <string.h>

#include "base/search.h"
#include "ptx/isa/need.h"
#include "ptx/text/word.h"

typedef struct set {
    const char *name;
    size_t length; /* of the name */
    const char *alternatives;
} set;

static const set sets[] = {
#define GD_SET(name, alternatives) {name, sizeof(name) - 1, alternatives},
#define GD_FORM(op, modifiers, operands, version, target)
#include "ptx/isa/forms.def"
#undef GD_SET
#undef GD_FORM
};

static const gd_form forms[] = {
#define GD_SET(name, alternatives)
#define GD_FORM(op, modifiers, operands, version, target)                                          \
    {modifiers, operands, GD_OP_##op, {version, target}},
#include "ptx/isa/forms.def"
#undef GD_SET
#undef GD_FORM
};

/* What modifiers need beyond their form. */
static const struct {
    uint16_t op; /* GD_OP_UNKNOWN: of each */
    const char *modifiers;
    gd_need need;
} needs[] = {
#define GD_OP_ANY GD_OP_UNKNOWN
#define GD_NEED(word, version, target)
#define GD_NEED_WITH(op, modifiers, version, target) {GD_OP_##op, modifiers, {version, target}},
#include "ptx/isa/needs.def"
#undef GD_NEED
#undef GD_NEED_WITH
};

enum { SET_COUNT = sizeof sets / sizeof sets[0], FORM_COUNT = sizeof forms / sizeof forms[0] };

const gd_form *gd_forms_of(gd_op op, uint32_t *count)
{
    uint32_t first, end;

    GD_COUNT_FIRST(first, FORM_COUNT, i, forms[i].op < op);
    for (end = first; end < FORM_COUNT && forms[end].op == op;)
        end++;
    *count = end - first;
    return &forms[first];
}

/* ---- alternatives ---- */

/* Whether a byte ends a word of a form's modifiers. */
static bool ends_word(char byte)
{
    static const bool ends[256] = {
        [0] = true, [' '] = true, ['|'] = true, ['?'] = true, ['!'] = true};

    return ends[(unsigned char)byte];
}

static size_t word_length(const char *text)
{
    size_t length = 0;

    while (!ends_word(text[length]))
        length++;
    return length;
}

static const char *find_set(const char *name, size_t length)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        if (sets[i].length == length && sets[i].name[0] == name[0] &&
            memcmp(sets[i].name, name, length) == 0)
            return sets[i].alternatives;
    }
    return "";
}

bool gd_alternatives_next(gd_alternatives *from, gd_modifier *alternative)
{
    for (;;) {
        const char *text = from->within ? from->within : from->at;
        size_t length = word_length(text);
        if (!from->within && *text == '@') {
            from->within = find_set(text + 1, length - 1);
            continue;
        }
        if (length) {
            *alternative = (gd_modifier){text, (uint32_t)length};
            text += length;
            text += *text == '|';
        }
        if (from->within) {
            from->within = text;
            if (length)
                return true;
            from->within = NULL;
            from->at += word_length(from->at);
            from->at += *from->at == '|';
            continue;
        }
        from->at = text;
        return length > 0;
    }
}

const char *gd_form_next_group(const char *group)
{
    while (*group && *group != ' ')
        group++;
    return *group ? group + 1 : NULL;
}

static bool is_word(const char *at, const gd_modifier *modifier)
{
    return strncmp(at, modifier->text, modifier->length) == 0 && ends_word(at[modifier->length]);
}

/* Whether a modifier is among all alternatives of a text: what most of a check's time goes to. */
static bool has_word(const char *text, const gd_modifier *modifier)
{
    for (const char *at = strchr(text, modifier->text[0]); at;
         at = strchr(at + 1, modifier->text[0])) {
        if ((at == text || ends_word(at[-1])) && is_word(at, modifier))
            return true;
    }
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
        if (has_word(find_set(at + 1, word_length(at + 1)), modifier))
            return true;
    }
    return false;
}

/* The same of one group. */
static bool group_has(const char *group, const gd_modifier *modifier)
{
    for (const char *at = group;; at++) {
        if (*at == '@' ? has_word(find_set(at + 1, word_length(at + 1)), modifier)
                       : *at == modifier->text[0] && is_word(at, modifier))
            return true;
        at += word_length(at);
        if (*at != '|')
            return false;
    }
}

bool gd_form_is_bound(const gd_form *form)
{
    const char *end = form->modifiers + strcspn(form->modifiers, " !");

    return *end == '!';
}

static bool group_is_optional(const char *group)
{
    return group[strcspn(group, " ?")] == '?';
}

/* ---- what a modifier is ---- */

static bool is(const gd_modifier *modifier, const char *text)
{
    return text[0] == modifier->text[0] && strlen(text) == modifier->length &&
           memcmp(text, modifier->text, modifier->length) == 0;
}

static bool is_type(const gd_modifier *modifier)
{
    const char last = modifier->text[modifier->length - 1];
    static const char *const others[] = {
        "u16x2",  "s16x2",  "tf32",   "e4m3",   "e5m2",      "e2m3",     "e3m2",   "e2m1",
        "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2",    "ue8m0x2",  "e4m3x4", "e5m2x4",
        "e2m3x4", "e3m2x4", "e2m1x4", "u4",     "s4",        "u2",       "s2",     "b1",
        "ue8m0",  "ue4m3",  "b1024",  "b8x16",  "b6x16_p32", "b4x16_p64"};

    if ((last < '0' || last > '9') && !is(modifier, "pred"))
        return false;
    for (int i = 1; i < GD_TYPE_COUNT; i++) {
        if (is(modifier, gd_ptx_types[i].name))
            return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (is(modifier, others[i]))
            return true;
    }
    return false;
}

static bool is_space(const gd_modifier *modifier)
{
    return gd_space_of_modifier(modifier->text, modifier->length) != GD_SPACE_NONE;
}

/* Of the matrices of mma, in their order. */
static bool is_layout(const gd_modifier *modifier)
{
    return is(modifier, "row") || is(modifier, "col");
}

/* The number behind a prefix, where nothing else follows it; 0: it is something else. */
static uint32_t number_behind(const gd_modifier *modifier, uint32_t prefix, uint32_t end)
{
    uint32_t value = 0;

    if (prefix >= end || end > modifier->length || end - prefix > 3)
        return 0;
    for (uint32_t i = prefix; i < end; i++) {
        if ((unsigned)(modifier->text[i] - '0') > 9)
            return 0;
        value = value * 10 + (uint32_t)(modifier->text[i] - '0');
    }
    return value;
}

static void note_shape(gd_form_match *match, const gd_modifier *modifier)
{
    const char *text = modifier->text;
    uint32_t length = modifier->length;
    const char *n = memchr(text, 'n', length), *k = memchr(text, 'k', length);

    if (text[0] == 'x' && number_behind(modifier, 1, length) <= 128)
        match->repeats = (uint8_t)number_behind(modifier, 1, length);
    else if (length == 2 && text[1] == 'd')
        match->dimensions = (uint8_t)number_behind(modifier, 0, 1);
    else if (text[0] == 'm' && n && k && n < k)
        match->columns =
            (uint16_t)number_behind(modifier, (uint32_t)(n - text) + 1, (uint32_t)(k - text));
}

/* Vectors have no three elements, so geometries of three have four. */
static void note_geometry(gd_form_match *match, const gd_modifier *modifier)
{
    static const struct {
        const char *name;
        uint8_t coordinates;
    } geometries[] = {{"1d", 1},   {"2d", 2},    {"3d", 4},   {"a1d", 2},  {"a2d", 4},
                      {"cube", 4}, {"acube", 4}, {"2dms", 4}, {"a2dms", 4}};

    for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++) {
        if (is(modifier, geometries[i].name)) {
            match->coordinates = geometries[i].coordinates;
            match->array = modifier->text[0] == 'a';
        }
    }
}

static void note(gd_form_match *match, const gd_modifier *modifier, uint32_t *types)
{
    if (is_type(modifier) && *types < GD_FORM_TYPES)
        match->types[(*types)++] = *modifier;
    if (is_space(modifier))
        match->spaces[match->spaces[0].length > 0] = *modifier;
    if (modifier->text[0] == 'v' && modifier->length <= 3 &&
        number_behind(modifier, 1, modifier->length) > 1)
        match->vector = (uint8_t)number_behind(modifier, 1, modifier->length);
    note_shape(match, modifier);
    note_geometry(match, modifier);
    match->cube |= is(modifier, "cube") || is(modifier, "acube");
    match->hint |= is(modifier, "L2::cache_hint");
    match->multicast |= is(modifier, "multicast::cluster");
}

/* ---- what modifiers need ---- */

static bool has_one(const char *group, const gd_modifier *modifiers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (group_has(group, &modifiers[i]))
            return true;
    }
    return false;
}

static bool has_each(const char *groups, const gd_modifier *modifiers, uint32_t count)
{
    for (const char *group = groups; group; group = gd_form_next_group(group)) {
        if (!has_one(group, modifiers, count))
            return false;
    }
    return true;
}

/* An instruction's own line stands for that of each instruction. */
static bool has_own_need(uint16_t op, const char *modifiers)
{
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (needs[i].op == op && strcmp(needs[i].modifiers, modifiers) == 0)
            return true;
    }
    return false;
}

static void add_needs(gd_form_match *match, const gd_modifier *modifiers, uint32_t count)
{
    const uint16_t op = match->form->op;

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if ((needs[i].op != op && needs[i].op != GD_OP_UNKNOWN) ||
            !has_each(needs[i].modifiers, modifiers, count) ||
            (needs[i].op == GD_OP_UNKNOWN && has_own_need(op, needs[i].modifiers)))
            continue;
        match->need = gd_need_of_both(match->need, needs[i].need);
    }
}

/* ---- fitting ---- */

/* The first group from `first` on that has the modifier and is still empty; UINT32_MAX: none. */
static uint32_t find_group(const gd_form *form, uint32_t filled, uint32_t first,
                           const gd_modifier *modifier)
{
    uint32_t index = 0;

    if (!*form->modifiers)
        return UINT32_MAX;
    for (const char *group = form->modifiers; group; group = gd_form_next_group(group), index++) {
        if (index >= first && !(filled >> index & 1) && group_has(group, modifier))
            return index;
    }
    return UINT32_MAX;
}

bool gd_form_has(const gd_form *form, const gd_modifier *modifier)
{
    return find_group(form, 0, 0, modifier) != UINT32_MAX;
}

/* Whether a name's last word is a modifier. */
static bool ends_with(const char *name, const gd_modifier *modifier)
{
    const char *dot = strrchr(name, '.');

    return dot && is(modifier, dot + 1);
}

/* Modifiers that ptxas takes twice, one in the instruction's name counted. */
static bool is_repeated(gd_op op, const gd_modifier *modifiers, uint32_t index)
{
    static const char *const repeatable[] = {"NaN", "approx",    "cc",   "relu",
                                             "sat", "satfinite", "sync", "uni"};
    const gd_modifier *modifier = &modifiers[index];

    for (size_t i = 0; i < sizeof repeatable / sizeof repeatable[0]; i++) {
        if (!is(modifier, repeatable[i]))
            continue;
        if (ends_with(gd_ops[op].name, modifier))
            return true;
        for (uint32_t k = 0; k < index; k++) {
            if (is(&modifiers[k], repeatable[i]))
                return true;
        }
    }
    return false;
}

/* ptxas overlooks .pred in instructions that may saturate or flush, and .uni where a texture is
 * read. */
static bool is_overlooked(const gd_form *form, const gd_modifier *modifier)
{
    if (is(modifier, "uni"))
        return form->op == GD_OP_TEX || form->op == GD_OP_TLD4;
    if (!is(modifier, "pred"))
        return false;
    switch (form->op) {
    case GD_OP_ABS:
    case GD_OP_ADD:
    case GD_OP_ATOM:
    case GD_OP_COS:
    case GD_OP_CP_REDUCE_ASYNC_BULK:
    case GD_OP_CVT:
    case GD_OP_CVT_PACK:
    case GD_OP_EX2:
    case GD_OP_FMA:
    case GD_OP_LG2:
    case GD_OP_MAX:
    case GD_OP_MIN:
    case GD_OP_NEG:
    case GD_OP_RCP:
    case GD_OP_RED:
    case GD_OP_RSQRT:
    case GD_OP_SET:
    case GD_OP_SETP:
    case GD_OP_SIN:
    case GD_OP_SQRT:
    case GD_OP_SUB:
    case GD_OP_TANH:
    case GD_OP_WMMA_MMA:
        return true;
    case GD_OP_MUL:
        return memcmp(form->modifiers, "lo", 2) != 0 && memcmp(form->modifiers, "wide", 4) != 0;
    default:
        return false;
    }
}

/* With `all`, the match tells how far the form fits where it does not. */
static bool fit(const gd_form *form, const gd_modifier *modifiers, uint32_t count, bool all,
                gd_form_match *match)
{
    uint32_t filled = 0, types = 0, next_type = 0, next_space = 0, index = 0;
    uint32_t next_layout = 0;
    const bool bound = gd_form_is_bound(form);

    *match =
        (gd_form_match){.form = form, .need = form->need, .unmatched = UINT32_MAX, .vector = 1};
    for (uint32_t i = 0; i < count; i++) {
        bool type = is_type(&modifiers[i]), space = is_space(&modifiers[i]);
        bool layout = is_layout(&modifiers[i]);
        uint32_t group = find_group(form, filled,
                                    type         ? next_type
                                    : space      ? next_space
                                    : layout     ? next_layout
                                    : bound && i ? 1
                                                 : 0,
                                    &modifiers[i]);
        if (group == UINT32_MAX) {
            if (!is_repeated(form->op, modifiers, i) && !is_overlooked(form, &modifiers[i]) &&
                match->unmatched == UINT32_MAX)
                match->unmatched = i;
            if (!all && match->unmatched != UINT32_MAX)
                return false;
            continue;
        }
        filled |= 1u << group;
        if (type)
            next_type = group + 1;
        if (space)
            next_space = group + 1;
        if (layout)
            next_layout = group + 1;
        match->matched++;
        note(match, &modifiers[i], &types);
    }
    for (const char *group = *form->modifiers ? form->modifiers : NULL; group && !match->missing;
         group = gd_form_next_group(group), index++) {
        if (!(filled >> index & 1) && !group_is_optional(group))
            match->missing = group;
    }
    if (match->unmatched != UINT32_MAX || match->missing)
        return false;
    add_needs(match, modifiers, count);
    return true;
}

bool gd_form_fit(const gd_form *form, const gd_modifier *modifiers, uint32_t count,
                 gd_form_match *match)
{
    return fit(form, modifiers, count, true, match);
}

/* What tells forms apart stands last. */
bool gd_form_takes(const gd_form *form, const gd_modifier *modifiers, uint32_t count,
                   gd_form_match *match)
{
    for (uint32_t i = count; i-- > 0;) {
        if (!has_word(form->modifiers, &modifiers[i]) && !is_repeated(form->op, modifiers, i) &&
            !is_overlooked(form, &modifiers[i]))
            return false;
    }
    return fit(form, modifiers, count, false, match);
}
