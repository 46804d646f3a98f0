#include "ptx/isa/role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/text/constant.h"

/* ---- types ---- */

const uint8_t gd_value_classes[GD_TYPE_COUNT] = {
    [GD_TYPE_NONE] = GD_CLASS_OPAQUE,
#define UNSIGNED INTEGER
#define SIGNED INTEGER
#define GD_CLASS_OF(class) GD_CLASS_##class
#define GD_TYPE(identifier, name, bytes, class) [GD_TYPE_##identifier] = GD_CLASS_OF(class),
#include "ptx/text/types.def"
#undef GD_TYPE
#undef UNSIGNED
#undef SIGNED
};

/* Types that modifiers name and registers do not have. They live in registers of bits. */
static const gd_value_type packed[] = {
#define PACKED(name, bytes, type) {name, GD_CLASS_FLOAT, bytes, GD_TYPE_##type, true},
    PACKED("tf32", 4, NONE) PACKED("u16x2", 4, F16X2) PACKED("s16x2", 4, F16X2)
        PACKED("e4m3x2", 2, NONE) PACKED("e5m2x2", 2, NONE) PACKED("e2m3x2", 2, NONE)
            PACKED("e3m2x2", 2, NONE) PACKED("e2m1x2", 1, NONE) PACKED("ue8m0x2", 2, NONE)
                PACKED("e4m3x4", 4, NONE) PACKED("e5m2x4", 4, NONE)};

static bool is(const char *name, const char *text, size_t length)
{
    return name[0] == text[0] && strlen(name) == length && memcmp(name, text, length) == 0;
}

gd_value_type gd_value_type_read(const char *name, size_t length)
{
    for (uint8_t i = 1; i < GD_TYPE_COUNT; i++) {
        const char *known = gd_ptx_types[i].name;
        if (is(known, name, length))
            return (gd_value_type){known, gd_value_classes[i], gd_ptx_types[i].bytes, i,
                                   i == GD_TYPE_BF16};
    }
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (is(packed[i].name, name, length))
            return packed[i];
    }
    return (gd_value_type){.name = "", .class = GD_CLASS_OPAQUE};
}

static gd_value_type twice_as_wide(gd_value_type type)
{
    char name[12];

    snprintf(name, sizeof name, "%c%d", type.name[0], type.bytes * 16);
    return gd_value_type_read(name, strlen(name));
}

/* ---- reading roles ---- */

/* Reads what follows the '*' of a role: a number, and a letter that multiplies it. */
static uint8_t read_vector(const gd_form_match *match, const char **text)
{
    static const char letters[] = "VXWHDI";
    const uint32_t counts[] = {match->vector > 1 ? match->vector : 0,
                               match->repeats,
                               match->columns / 2u,
                               match->columns / 4u,
                               match->dimensions,
                               match->dimensions > 2 ? match->dimensions - 2u : 0};
    char *end;
    const uint32_t number = (uint32_t)strtoul(*text, &end, 10);
    const char *letter = *end ? strchr(letters, *end) : NULL;
    const uint32_t count = (number ? number : 1) * (letter ? counts[letter - letters] : 1);

    *text = letter ? end + 1 : end;
    return (uint8_t)(count < UINT8_MAX ? count : UINT8_MAX);
}

/* .0-7, .4/8/16 or .16; <15, <3,1, <512/32 or <<255 */
static void read_range(const char **text, gd_form_role *into)
{
    const bool limit = (*text)[-1] == '<';
    char *end;

    into->wide = **text == '<';
    into->ranged = true;
    into->high = (uint32_t)strtoul(*text + into->wide, &end, 10);
    into->low = limit ? 0 : into->high;
    into->high_rest = into->high;
    into->powers = *end == '/';
    if (limit && *end == ',')
        into->high_rest = (uint32_t)strtoul(end + 1, &end, 10);
    else if (limit && into->powers)
        into->low = (uint32_t)strtoul(end + 1, &end, 10);
    while (!limit && (*end == '-' || *end == '/'))
        into->high = (uint32_t)strtoul(end + 1, &end, 10);
    *text = end;
}

static bool has_kind(const gd_form_role *role, const char *kinds)
{
    return strchr(kinds, role->kind) != NULL;
}

/* The type, range or selectors that follow a role's letter. */
static void read_kind(const gd_form_match *match, const char **text, gd_form_role *into)
{
    const char *at = *text;

    if (*at >= '1' && *at < '1' + GD_FORM_TYPES) {
        const gd_modifier *type = &match->types[*at++ - '1'];
        into->type = gd_value_type_read(type->text, type->length);
        if (*at == 'w')
            into->type = twice_as_wide(into->type);
        at += *at == 'w';
    } else if (*at == '.' && has_kind(into, "iI")) {
        at++;
        read_range(&at, into);
    } else if (*at == '.' && has_kind(into, "QUVW")) {
        into->selectors = (uint8_t)(at[1] - '0');
        at += 2;
    } else if (*at == '.') {
        size_t length = strcspn(++at, "|&*_?<%=~#: ");
        into->type = gd_value_type_read(at, length);
        at += length;
        into->exact =
            into->type.class == GD_CLASS_INTEGER || into->type.class == GD_CLASS_PREDICATE;
    } else if (has_kind(into, "hmB")) {
        into->type = gd_value_type_read(into->kind == 'm' ? "b16" : "u64", 3);
        into->exact = true;
    }
    *text = at;
}

/* What single marks behind a role say. */
static const struct {
    char mark;
    uint8_t at;
} flags[] = {{'#', offsetof(gd_form_role, single)}, {':', offsetof(gd_form_role, alone)},
             {'!', offsetof(gd_form_role, whole)},  {'{', offsetof(gd_form_role, braces)},
             {'_', offsetof(gd_form_role, sink)},   {'?', offsetof(gd_form_role, optional)}};

static bool read_flag(char mark, gd_form_role *into)
{
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (flags[i].mark == mark)
            return *(bool *)((char *)into + flags[i].at) = true;
    }
    return false;
}

/* Reads the role that begins at *text, and steps behind it. false: there is none. */
static bool read_role(const gd_form_match *match, const char **text, gd_form_role *into)
{
    const char *at = *text + strspn(*text, " ");
    char *end;

    if (!*at)
        return false;
    *into = (gd_form_role){.kind = *at++};
    const bool numbered = *at >= '1' && *at <= '9';
    read_kind(match, &at, into);
    for (;;) {
        switch (*at++) {
        case '~':
            into->exact = false;
            into->loose = numbered && into->type.type == GD_TYPE_BF16;
            break;
        case '=':
            into->exact = true;
            into->bits = at[-2] == '=';
            break;
        case '<':
            read_range(&at, into);
            break;
        case '%':
            into->positive = *at == '+';
            into->multiple = (uint8_t)strtoul(at + into->positive, &end, 10);
            at = end;
            break;
        case '|':
        case '&':
            into->pair = at[-1];
            break;
        case '*':
            into->vector = read_vector(match, &at);
            into->loose = into->vector && !into->exact && (numbered || into->type.bytes == 8) &&
                          (into->type.type == GD_TYPE_F16 || into->type.type == GD_TYPE_F32 ||
                           into->type.type == GD_TYPE_F64);
            break;
        default:
            if (!read_flag(at[-1], into)) {
                *text = at - 1;
                return true;
            }
        }
    }
}

void gd_roles_read(gd_form_match *match)
{
    const char *text = match->form->operands;
    gd_form_role next;

    while (match->role_count < GD_FORM_ROLES && read_role(match, &text, &next)) {
        if ((next.kind == 'h' && !match->hint) || (next.kind == 'm' && !match->multicast))
            continue;
        for (uint32_t i = 0; i < match->role_count; i++)
            match->roles[i].needed += !next.optional;
        match->roles[match->role_count++] = next;
    }
}

/* ---- what roles take ---- */

bool gd_role_is_destination(const gd_form_role *role)
{
    return has_kind(role, "dDyQ");
}

bool gd_role_is_wider(const gd_form_role *role)
{
    return has_kind(role, "DSC");
}

/* Whether a register of a declared type holds a value. */
static bool holds(uint8_t declared, const gd_value_type *wanted, bool wider)
{
    uint8_t class = gd_value_classes[declared], bytes = gd_ptx_types[declared].bytes;

    if (wanted->class == GD_CLASS_PREDICATE)
        return class == GD_CLASS_PREDICATE || declared == GD_TYPE_F16X2;
    if (class == GD_CLASS_PREDICATE || class == GD_CLASS_OPAQUE)
        return false;
    if (wider && !wanted->never_wider ? bytes < wanted->bytes : bytes != wanted->bytes)
        return false;
    if (class == GD_CLASS_BITS || wanted->class == GD_CLASS_BITS)
        return true;
    return wanted->class == GD_CLASS_FLOAT
               ? declared == wanted->type && wanted->type != GD_TYPE_NONE
               : class == GD_CLASS_INTEGER || declared == GD_TYPE_F16X2;
}

/* The elements of a vector of floats may be integers of their size. */
bool gd_role_serves(const gd_form_role *role, uint8_t declared)
{
    const uint8_t class = gd_value_classes[declared];

    if (role->bits && class != GD_CLASS_BITS)
        return false;
    if (role->exact && role->type.class == GD_CLASS_PREDICATE)
        return class == GD_CLASS_PREDICATE;
    if (role->exact && role->type.class != GD_CLASS_FLOAT && class == GD_CLASS_FLOAT)
        return false;
    return holds(declared, &role->type, gd_role_is_wider(role)) ||
           (role->loose && class == GD_CLASS_INTEGER &&
            gd_ptx_types[declared].bytes == role->type.bytes);
}

bool gd_role_has(const gd_form_role *role, const gd_ptx_module *module,
                 const gd_ptx_operand *constant)
{
    uint64_t value = constant->value;

    if (constant->kind == GD_OPERAND_SYMBOL)
        value = 32; /* WARP_SZ */
    else if (constant->kind == GD_OPERAND_EXPRESSION
                 ? !gd_constant_evaluate(module, constant->token, constant->token_end, &value)
                 : constant->kind != GD_OPERAND_INTEGER)
        return true;
    if ((role->positive && !value) || (role->multiple == 1 && value > INT64_MAX))
        return false;
    if (role->kind != 'i' && !role->wide && role->type.bytes != 8)
        value = (uint32_t)value;
    if (role->multiple && value % role->multiple)
        return false;
    return !role->ranged || (value >= role->low && value <= role->high &&
                             (!role->powers || (value & (value - 1)) == 0));
}

/* The form of a literal: 0f3F800000 (f), 0d3FF0000000000000 (d) or another one (.). */
static char form_of(const gd_ptx_module *module, uint32_t token)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(module, token, &length);

    return length > 2 && text[0] == '0' && strchr("fFdD", text[1]) ? (char)(text[1] | 0x20) : '.';
}

/* 1e400, perhaps with a sign, is no value of any type. */
static bool is_beyond_doubles(const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_DOUBLE &&
           (operand->value & INT64_MAX) == UINT64_C(0x7ff0000000000000) &&
           form_of(module, operand->token) == '.' && form_of(module, operand->token + 1) == '.';
}

/* An expression of fractions is a value of either size; 0f3F800000 has no sign. */
bool gd_role_takes_constant(const gd_form_role *role, const gd_ptx_module *module,
                            const gd_ptx_operand *constant)
{
    const gd_value_type *wanted = &role->type;
    const uint32_t first = gd_token_kind(module->tokens.list[constant->token]);
    const bool single = constant->kind == GD_OPERAND_SINGLE;
    bool fraction = single || constant->kind == GD_OPERAND_DOUBLE, none = false;

    if (constant->kind == GD_OPERAND_EXPRESSION) {
        gd_constant_class is = gd_constant_classify(module, constant->token, constant->token_end);
        fraction = is == GD_CONSTANT_FRACTION;
        none = is == GD_CONSTANT_NONE;
    }
    if (role->loose && wanted->type == GD_TYPE_BF16)
        return !fraction; /* 16 bits */
    if (none || !gd_role_has(role, module, constant) || is_beyond_doubles(module, constant))
        return false;
    if (!fraction)
        return wanted->class != GD_CLASS_FLOAT;
    if (first == '!' || first == '~' ||
        (first == '-' && form_of(module, constant->token + 1) == 'f') || (role->single && !single))
        return false;
    if (wanted->class == GD_CLASS_FLOAT)
        return wanted->type == GD_TYPE_F32 || wanted->type == GD_TYPE_F64;
    return wanted->class == GD_CLASS_BITS && !role->exact && wanted->bytes == (single ? 4 : 8);
}
