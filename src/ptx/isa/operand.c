/* Operands against the roles and types of a form. The rules are those that ptxas keeps, which are
 * wider than the ISA's in places: an integer register serves .f16x2, a function's name most
 * sources. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "ptx/isa/operand.h"
#include "ptx/isa/special.h"
#include "ptx/text/constant.h"
#include "ptx/text/word.h"

enum { COORDINATE_BYTES = 4, CAPABILITY_GENERIC = 20, CAPABILITY_SUM = 90 };

typedef enum value_class {
    CLASS_INTEGER,
    CLASS_FLOAT,
    CLASS_BITS,
    CLASS_PREDICATE,
    CLASS_OPAQUE
} value_class;

typedef struct fitting {
    const gd_ptx_module *module;
    const gd_ptx_instruction *instruction;
    const gd_form_match *match;
    gd_operand_fault *fault;
    uint32_t position;
    uint32_t addresses; /* operands that are addresses so far */
    uint32_t function;
} fitting;

/* ---- types ---- */

static const uint8_t classes[] = {
    [GD_TYPE_NONE] = CLASS_OPAQUE,
#define UNSIGNED INTEGER
#define SIGNED INTEGER
#define GD_CLASS_OF(class) CLASS_##class
#define GD_TYPE(identifier, name, bytes, class) [GD_TYPE_##identifier] = GD_CLASS_OF(class),
#include "ptx/text/types.def"
#undef GD_TYPE
#undef UNSIGNED
#undef SIGNED
};

/* Types that modifiers name and registers do not have: .tf32, packed ones. They live in registers
 * of bits. */
static gd_value_type read_packed(const char *name, size_t length)
{
    static const struct {
        const char *name;
        uint8_t bytes, type;
    } packed[] = {
        {"tf32", 4, GD_TYPE_NONE},   {"u16x2", 4, GD_TYPE_F16X2}, {"s16x2", 4, GD_TYPE_F16X2},
        {"e4m3x2", 2, GD_TYPE_NONE}, {"e5m2x2", 2, GD_TYPE_NONE}, {"e2m3x2", 2, GD_TYPE_NONE},
        {"e3m2x2", 2, GD_TYPE_NONE}, {"e2m1x2", 1, GD_TYPE_NONE}, {"ue8m0x2", 2, GD_TYPE_NONE},
        {"e4m3x4", 4, GD_TYPE_NONE}, {"e5m2x4", 4, GD_TYPE_NONE}};

    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (strlen(packed[i].name) == length && memcmp(packed[i].name, name, length) == 0)
            return (gd_value_type){.name = packed[i].name,
                                   .class = CLASS_FLOAT,
                                   .bytes = packed[i].bytes,
                                   .type = packed[i].type,
                                   .never_wider = true};
    }
    return (gd_value_type){.name = "", .class = CLASS_OPAQUE};
}

static gd_value_type read_type(const char *name, size_t length)
{
    for (uint8_t i = 1; i < GD_TYPE_COUNT; i++) {
        if (gd_ptx_types[i].name[0] == name[0] && strlen(gd_ptx_types[i].name) == length &&
            memcmp(gd_ptx_types[i].name, name, length) == 0)
            return (gd_value_type){.name = gd_ptx_types[i].name,
                                   .class = classes[i],
                                   .bytes = gd_ptx_types[i].bytes,
                                   .type = i,
                                   .never_wider = i == GD_TYPE_BF16};
    }
    return read_packed(name, length);
}

static gd_value_type twice_as_wide(gd_value_type type)
{
    char name[12];

    snprintf(name, sizeof name, "%c%d", type.name[0], type.bytes * 16);
    return read_type(name, strlen(name));
}

/* Whether a register of a declared type holds a value. */
static bool holds(uint8_t declared, const gd_value_type *wanted, bool wider)
{
    uint8_t class = classes[declared], bytes = gd_ptx_types[declared].bytes;

    if (wanted->class == CLASS_PREDICATE)
        return class == CLASS_PREDICATE || declared == GD_TYPE_F16X2;
    if (class == CLASS_PREDICATE || class == CLASS_OPAQUE)
        return false;
    if (wider && !wanted->never_wider ? bytes < wanted->bytes : bytes != wanted->bytes)
        return false;
    if (class == CLASS_BITS || wanted->class == CLASS_BITS)
        return true;
    return wanted->class == CLASS_FLOAT ? declared == wanted->type && wanted->type != GD_TYPE_NONE
                                        : class == CLASS_INTEGER || declared == GD_TYPE_F16X2;
}

/* 0f3F800000: has no sign in front. */
static bool is_hexadecimal(const gd_ptx_module *module, uint32_t token)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(module, token, &length);

    return length > 2 && text[0] == '0' && strchr("fFdD", text[1]);
}

/* Whether a literal is a fraction, and whether it is one of the 0f form, with which ptxas counts
 * nothing. */
static bool is_fraction(const gd_ptx_module *module, uint32_t token, bool *single)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(module, token, &length);

    *single = length > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F');
    return gd_token_kind(module->tokens.list[token]) == GD_TOKEN_FLOAT;
}

/* 1e400 is no value of any type. */
static bool is_beyond_doubles(const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_DOUBLE &&
           (operand->value & INT64_MAX) == UINT64_C(0x7ff0000000000000) &&
           !is_hexadecimal(module, operand->token) && !is_hexadecimal(module, operand->token + 1);
}

/* Whether a constant is a value of a type. An expression of fractions is one of either size. */
static bool is_constant_of(const gd_ptx_module *module, const gd_ptx_operand *operand,
                           const gd_value_type *wanted)
{
    bool fraction = operand->kind == GD_OPERAND_SINGLE || operand->kind == GD_OPERAND_DOUBLE;
    bool single;

    uint32_t first = gd_token_kind(module->tokens.list[operand->token]);
    if (operand->kind == GD_OPERAND_EXPRESSION) {
        gd_constant_class is = gd_constant_classify(module, operand->token, operand->token_end);
        if (is == GD_CONSTANT_NONE)
            return false;
        fraction = is == GD_CONSTANT_FRACTION;
    }
    if (is_beyond_doubles(module, operand))
        return false;
    if (fraction && (first == '!' || first == '~' ||
                     (first == '-' && is_fraction(module, operand->token + 1, &single) && single)))
        return false;
    if (wanted->class == CLASS_FLOAT)
        return fraction && (wanted->type == GD_TYPE_F32 || wanted->type == GD_TYPE_F64);
    if (wanted->class == CLASS_BITS && fraction)
        return operand->kind == GD_OPERAND_SINGLE ? wanted->bytes == 4 : wanted->bytes == 8;
    return !fraction;
}

/* ---- roles ---- */

/* Reads what follows the '*' of a role: a number, or a letter and perhaps what it is multiplied
 * with. */
static uint8_t read_vector(const gd_form_match *match, const char **text)
{
    const char *at = *text;
    uint32_t number = 0, of = 1;

    while (*at >= '0' && *at <= '9')
        number = number * 10 + (uint32_t)(*at++ - '0');
    *text = at + 1;
    switch (*at) {
    case 'V':
        return match->vector > 1 ? match->vector : 0;
    case 'X':
        of = match->repeats;
        break;
    case 'W':
        of = match->columns / 2u;
        break;
    case 'H':
        of = match->columns / 4u;
        break;
    case 'D':
        of = match->dimensions;
        break;
    case 'I':
        of = match->dimensions > 2 ? match->dimensions - 2u : 0;
        break;
    default:
        *text = at;
        break;
    }
    of *= number ? number : 1;
    return (uint8_t)(of < UINT8_MAX ? of : UINT8_MAX);
}

/* .0-7, .4/8/16 or .16 */
static void read_range(const char **text, gd_form_role *into)
{
    char *end;

    into->ranged = true;
    into->low = into->high = (uint32_t)strtoul(*text + 1, &end, 10);
    into->powers = *end == '/';
    while (*end == '-' || *end == '/')
        into->high = (uint32_t)strtoul(end + 1, &end, 10);
    *text = end;
}

/* <15, <3,1, <512/32 or <<255 */
static void read_limit(const char **text, gd_form_role *into)
{
    char *end;

    into->wide = (*text)[1] == '<';
    into->ranged = true;
    into->high = into->high_rest = (uint32_t)strtoul(*text + 1 + into->wide, &end, 10);
    if (*end == ',')
        into->high_rest = (uint32_t)strtoul(end + 1, &end, 10);
    into->powers = *end == '/';
    if (into->powers)
        into->low = (uint32_t)strtoul(end + 1, &end, 10);
    *text = end;
}

/* Whether an integer constant is one that the role has. */
static bool is_in_range(const gd_ptx_module *module, const gd_ptx_operand *operand,
                        const gd_form_role *role)
{
    uint64_t value = operand->value;

    if (operand->kind == GD_OPERAND_SYMBOL)
        value = 32; /* WARP_SZ */
    else if (operand->kind == GD_OPERAND_EXPRESSION
                 ? !gd_constant_evaluate(module, operand->token, operand->token_end, &value)
                 : operand->kind != GD_OPERAND_INTEGER)
        return true;
    if (role->positive && (!value || (role->multiple == 1 && value > INT64_MAX)))
        return false;
    if (role->kind != 'i' && !role->wide && role->type.bytes != 8)
        value = (uint32_t)value;
    if (role->multiple && value % role->multiple)
        return false;
    if (!role->ranged)
        return true;
    return value >= role->low && value <= role->high &&
           (!role->powers || (value & (value - 1)) == 0);
}

/* Reads the role that begins at *text, and steps behind it. false: there is none. */
static bool read_role(const gd_form_match *match, const char **text, gd_form_role *into)
{
    const char *at = *text + strspn(*text, " ");

    if (!*at)
        return false;
    *into = (gd_form_role){.kind = *at++};
    const bool numbered = *at >= '1' && *at < '1' + GD_FORM_TYPES;
    if (numbered) {
        const gd_modifier *type = &match->types[*at++ - '1'];
        into->type = read_type(type->text, type->length);
        if (*at == 'w') {
            into->type = twice_as_wide(into->type);
            at++;
        }
        into->loose = *at == '~' && into->type.type == GD_TYPE_BF16;
        at += *at == '~';
    } else if (*at == '.' && (into->kind == 'i' || into->kind == 'I')) {
        read_range(&at, into);
    } else if (*at == '.' && strchr("QUVW", into->kind)) {
        into->selectors = (uint8_t)(at[1] - '0');
        at += 2;
    } else if (*at == '.') {
        size_t length = strcspn(++at, "|&*_?<%=~#: ");
        into->type = read_type(at, length);
        at += length;
        into->exact = (into->type.class == CLASS_INTEGER || into->type.class == CLASS_PREDICATE) &&
                      *at != '~';
        at += *at == '~';
    } else if (into->kind == 'h' || into->kind == 'm') {
        into->type = into->kind == 'h' ? read_type("u64", 3) : read_type("b16", 3);
        into->exact = true;
    }
    if (*at == '=') {
        into->exact = true;
        into->bits = at[1] == '=';
        at += 1 + into->bits;
    }
    if (*at == '#') {
        into->single = true;
        at++;
    }
    if (*at == '<')
        read_limit(&at, into);
    if (*at == '%') {
        char *end;
        into->positive = at[1] == '+';
        into->multiple = (uint8_t)strtoul(at + 1 + into->positive, &end, 10);
        at = end;
    }
    if (*at == '|' || *at == '&')
        into->pair = *at++;
    if (*at == '*') {
        at++;
        into->vector = read_vector(match, &at);
        into->loose = (into->type.type == GD_TYPE_F16 || into->type.type == GD_TYPE_F32 ||
                       into->type.type == GD_TYPE_F64) &&
                      into->vector && !into->exact && (numbered || into->type.bytes == 8);
    }
    if (*at == ':') {
        into->alone = true;
        at++;
    }
    if (*at == '!') {
        into->whole = true;
        at++;
    }
    if (*at == '{') {
        into->braces = true;
        at++;
    }
    if (*at == '_') {
        into->sink = true;
        at++;
    }
    if (*at == '?') {
        into->optional = true;
        at++;
    }
    *text = at;
    return true;
}

void gd_operands_read(gd_form_match *match)
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

static bool is_destination(const gd_form_role *role)
{
    return role->kind == 'd' || role->kind == 'D' || role->kind == 'y' || role->kind == 'Q';
}

static bool may_be_wider(const gd_form_role *role)
{
    return role->kind == 'D' || role->kind == 'S' || role->kind == 'C';
}

/* ---- faults ---- */

__attribute__((format(printf, 3, 4))) static bool tell(const fitting *fit, uint32_t token,
                                                       const char *format, ...)
{
    va_list arguments;

    if (!fit->fault)
        return false;
    fit->fault->token = token;
    fit->fault->position = fit->position;
    va_start(arguments, format);
    gd_format_list(fit->fault->text, sizeof fit->fault->text, format, arguments);
    va_end(arguments);
    return false;
}

static void describe_register(const gd_ptx_operand *operand, const gd_ptx_symbol *symbol,
                              char *text, size_t capacity)
{
    static const char *const vectors[] = {[2] = ".v2 ", [4] = ".v4 ", [8] = ".v8 "};
    const char *vector =
        symbol->vector < sizeof vectors / sizeof vectors[0] ? vectors[symbol->vector] : NULL;
    const char *sum = operand->flags & GD_OPERAND_OFFSET  ? " plus a constant"
                      : operand->flags & GD_OPERAND_MINUS ? " with a minus"
                                                          : "";

    if (operand->component)
        snprintf(text, capacity, "a part of a %s.%s register%s", vector ? vector : "",
                 gd_ptx_types[symbol->type].name, sum);
    else
        snprintf(text, capacity, "a %s.%s register%s", vector ? vector : "",
                 gd_ptx_types[symbol->type].name, sum);
}

static void describe(const fitting *fit, const gd_ptx_operand *operand, char *text, size_t capacity)
{
    switch (operand->kind) {
    case GD_OPERAND_REGISTER:
        describe_register(operand, &fit->module->symbols[operand->symbol], text, capacity);
        break;
    case GD_OPERAND_SYMBOL:
        snprintf(text, capacity, "%s",
                 operand->symbol == GD_PTX_NONE                                      ? "a name"
                 : fit->module->symbols[operand->symbol].kind == GD_SYMBOL_LABEL     ? "a label"
                 : fit->module->symbols[operand->symbol].kind == GD_SYMBOL_PARAMETER ? "a parameter"
                 : fit->module->symbols[operand->symbol].kind == GD_SYMBOL_FUNCTION  ? "a function"
                                                                                    : "a variable");
        break;
    case GD_OPERAND_SPECIAL:
        snprintf(text, capacity, "a special register");
        break;
    case GD_OPERAND_SINK:
        snprintf(text, capacity, "'_'");
        break;
    case GD_OPERAND_SINGLE:
    case GD_OPERAND_DOUBLE:
        snprintf(text, capacity, "a floating-point constant");
        break;
    case GD_OPERAND_MEMORY:
        snprintf(text, capacity, "an address in brackets");
        break;
    case GD_OPERAND_VECTOR:
        snprintf(text, capacity, "a vector");
        break;
    case GD_OPERAND_LIST:
        snprintf(text, capacity, "a list");
        break;
    case GD_OPERAND_PAIR:
        snprintf(text, capacity, "a pair");
        break;
    default:
        snprintf(text, capacity, "an integer constant");
    }
}

/* An operand of a video instruction, and its selectors. */
static void describe_word(const gd_form_role *role, char *text, size_t capacity)
{
    static const char *const selectors[][2] = {
        [1] = {"perhaps with .b0 to .b3, .h0 or .h1", "perhaps with .b0 to .b3, .h0 or .h1"},
        [2] = {"perhaps with .h0, .h1 or .h10", "perhaps with .h and two digits from 0 to 3"},
        [4] = {"perhaps with .b and descending digits from 3 to 0",
               "perhaps with .b and four digits from 0 to 7"}};
    const char *constant = role->kind == 'U' || role->kind == 'V' ? " or constant" : "";
    const char *which = role->selectors ? selectors[role->selectors][role->kind != 'Q'] : NULL;

    snprintf(text, capacity, "a .b32 register%s%s%s", constant, which ? ", " : "",
             which ? which : "");
}

/* The type that registers are declared with which hold a value. */
static const char *name_of_register(const gd_value_type *type)
{
    if (type->class != CLASS_FLOAT || type->type == GD_TYPE_F16 || type->type == GD_TYPE_F16X2 ||
        type->type == GD_TYPE_F32 || type->type == GD_TYPE_F64)
        return type->name;
    return type->bytes == 1 ? "b8" : type->bytes == 2 ? "b16" : type->bytes == 4 ? "b32" : "b64";
}

static void describe_role(const gd_form_role *role, char *text, size_t capacity)
{
    const char *wider =
        (role->kind == 'D' || role->kind == 'S') && !role->type.never_wider ? " or wider" : "";
    char vector[40] = "";

    if (role->vector)
        snprintf(vector, sizeof vector, "a vector of %u%s: ", (unsigned)role->vector,
                 role->braces ? " in braces" : "");
    switch (role->kind) {
    case 'i':
    case 'I':
        if (role->ranged && role->multiple)
            snprintf(text, capacity, "a multiple of %u from %u to %u", (unsigned)role->multiple,
                     (unsigned)role->low, (unsigned)role->high);
        else if (role->ranged)
            snprintf(text, capacity,
                     role->powers ? "a power of two from %u to %u"
                                  : "an integer constant from %u to %u",
                     (unsigned)role->low, (unsigned)role->high);
        else
            snprintf(text, capacity, "an integer constant");
        return;
    case 'Q':
    case 'U':
    case 'V':
    case 'W':
        describe_word(role, text, capacity);
        return;
    case 'k':
        snprintf(text, capacity, "1 or -1");
        return;
    case 'n':
        snprintf(text, capacity, "'_'");
        return;
    case 'a':
    case 'A':
        snprintf(text, capacity, "an address in brackets");
        return;
    case 't':
        snprintf(text, capacity, "a tensor map and %u coordinates, [map, {...}],",
                 (unsigned)role->vector);
        return;
    case 'T':
        snprintf(text, capacity, "a texture or surface and coordinates, [name, {...}],");
        return;
    case 'l':
        snprintf(text, capacity, "a label");
        return;
    case 'p':
        snprintf(text, capacity, "a predicate");
        return;
    case 'c':
        snprintf(text, capacity, "a vector");
        return;
    case 'h':
        snprintf(text, capacity, "the cache policy, a .b64 register");
        return;
    case 'm':
        snprintf(text, capacity, "the multicast mask, a .b16 register");
        return;
    default:
        snprintf(text, capacity, "%sa .%s%s register%s", vector, name_of_register(&role->type),
                 wider, is_destination(role) || role->kind == 'r' ? "" : " or constant");
    }
}

/* Which constants a role has. */
static void describe_limits(const gd_form_role *role, char *text, size_t capacity)
{
    const uint32_t multiple = role->multiple;

    if (role->powers)
        snprintf(text, capacity, "a power of two from %u to %u", (unsigned)role->low,
                 (unsigned)role->high);
    else if (multiple > 1 && role->ranged)
        snprintf(text, capacity, "a multiple of %u up to %u", (unsigned)multiple,
                 (unsigned)role->high);
    else if (multiple > 1)
        snprintf(text, capacity, "a multiple of %u%s", (unsigned)multiple,
                 role->positive ? " above 0" : "");
    else if (multiple)
        snprintf(text, capacity, "a number above 0");
    else
        snprintf(text, capacity, "at most %u", (unsigned)role->high);
}

static bool tell_expected(const fitting *fit, const gd_ptx_operand *operand,
                          const gd_form_role *role)
{
    char found[64], expected[100];

    if (!fit->fault)
        return false;
    describe(fit, operand, found, sizeof found);
    describe_role(role, expected, sizeof expected);
    if (operand->kind == GD_OPERAND_INTEGER && role->type.class == CLASS_FLOAT && !role->vector &&
        (role->type.type == GD_TYPE_F32 || role->type.type == GD_TYPE_F64))
        fit->fault->lacks = GD_LACKS_FRACTION;
    else if (role->kind == 'a' &&
             (operand->kind == GD_OPERAND_SYMBOL ||
              (operand->kind == GD_OPERAND_REGISTER &&
               gd_ptx_types[fit->module->symbols[operand->symbol].type].bytes >= 4)))
        fit->fault->lacks = GD_LACKS_BRACKETS;
    fit->fault->bytes = role->type.bytes;
    if ((operand->kind == GD_OPERAND_INTEGER || operand->kind == GD_OPERAND_EXPRESSION) &&
        role->kind == 's' && !is_in_range(fit->module, operand, role)) {
        describe_limits(role, expected, sizeof expected);
        return tell(fit, operand->token, "operand %u is out of range; %s is expected",
                    (unsigned)fit->position, expected);
    }
    return tell(fit, operand->token, "operand %u is %s; %s is expected", (unsigned)fit->position,
                found, expected);
}

/* ---- fitting one operand ---- */

static const gd_ptx_operand *operand_at(const fitting *fit, uint32_t index)
{
    return &fit->module->operands[index];
}

static bool is_function(const fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_SYMBOL && operand->symbol != GD_PTX_NONE &&
           fit->module->symbols[operand->symbol].kind == GD_SYMBOL_FUNCTION;
}

static bool is_constant(const fitting *fit, const gd_ptx_operand *operand)
{
    uint32_t length;

    if (operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE) {
        const char *name = gd_ptx_token_text(fit->module, operand->token, &length);
        return length == 7 && memcmp(name, "WARP_SZ", 7) == 0;
    }
    return operand->kind == GD_OPERAND_INTEGER || operand->kind == GD_OPERAND_EXPRESSION ||
           operand->kind == GD_OPERAND_SINGLE || operand->kind == GD_OPERAND_DOUBLE;
}

/* The name of an operand, behind its sign. */
static const char *name_of(const fitting *fit, const gd_ptx_operand *operand, uint32_t *length)
{
    bool sign = operand->flags & (GD_OPERAND_NOT | GD_OPERAND_MINUS);

    return gd_ptx_token_text(fit->module, operand->token + sign, length);
}

/* A name that nothing declares is told of by another finding. */
static bool is_undeclared(const fitting *fit, const gd_ptx_operand *operand)
{
    uint32_t length;
    const char *name = name_of(fit, operand, &length);

    if (operand->kind == GD_OPERAND_SPECIAL)
        return !gd_special_find(name, length);
    return operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE &&
           !is_constant(fit, operand);
}

/* Whether registers of a declared type serve a role. The elements of a vector of floats may be
 * integers of their size. */
static bool serves(uint8_t declared, const gd_form_role *role, bool wider)
{
    if (role->bits && classes[declared] != CLASS_BITS)
        return false;
    if (role->exact && role->type.class == CLASS_PREDICATE)
        return classes[declared] == CLASS_PREDICATE;
    if (role->exact && role->type.class != CLASS_FLOAT && classes[declared] == CLASS_FLOAT)
        return false;
    return holds(declared, &role->type, wider) ||
           (role->loose && classes[declared] == CLASS_INTEGER &&
            gd_ptx_types[declared].bytes == role->type.bytes);
}

/* A register of several elements without .x to .w. */
static bool is_whole_vector(const fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_REGISTER && !operand->component &&
           fit->module->symbols[operand->symbol].vector > 1;
}

/* Whether an operand is several elements. */
static bool is_several(const fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_VECTOR || is_whole_vector(fit, operand);
}

/* A register of one element, or one element of several: no register has a selector but those of
 * video instructions. */
static bool is_scalar_register(const fitting *fit, const gd_ptx_operand *operand)
{
    return fit->module->symbols[operand->symbol].vector > 1
               ? operand->component >= 1 && operand->component <= 4
               : !operand->component;
}

static bool fits_register(const fitting *fit, const gd_ptx_operand *operand,
                          const gd_form_role *role, bool wider)
{
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];

    if (!is_scalar_register(fit, operand))
        return false;
    if (operand->flags & GD_OPERAND_OFFSET) {
        bool whole = !is_destination(role) && !operand->component && !role->vector &&
                     !(operand->flags & (GD_OPERAND_MINUS | GD_OPERAND_NOT));
        bool sum = symbol->type != GD_TYPE_PRED && !role->exact &&
                   (role->type.class == CLASS_INTEGER || role->type.class == CLASS_BITS);
        return whole && (sum || serves(symbol->type, role, wider));
    }
    if (operand->flags & (GD_OPERAND_MINUS | GD_OPERAND_NOT) &&
        (role->type.class != CLASS_PREDICATE || operand->flags & GD_OPERAND_MINUS))
        return false;
    if (operand->flags & (GD_OPERAND_NOT | GD_OPERAND_MINUS) && is_destination(role))
        return false;
    return serves(symbol->type, role, wider);
}

/* Special registers of four parts have one named, others none; those of 64 bits are moved as such,
 * and others are not. %tid, %ntid, %ctaid and %nctaid were 16 bits wide once (PTX ISA 10). */
static bool fits_special(const fitting *fit, const gd_ptx_operand *operand,
                         const gd_form_role *role)
{
    uint32_t length;
    const char *name = name_of(fit, operand, &length);
    const gd_special_register *special = gd_special_find(name, length);
    const bool vector = special->parts > 1, grid = length == 7 && memcmp(name, "%gridid", 7) == 0;
    const bool small = vector && length <= sizeof "%nctaid" - 1;

    if (operand->flags & ~GD_OPERAND_OFFSET || (vector && operand->flags))
        return false;
    if (special->type == GD_TYPE_PRED || role->type.class == CLASS_PREDICATE)
        return special->type == GD_TYPE_PRED && role->type.class == CLASS_PREDICATE &&
               role->kind == 'z' && !operand->component;
    if (vector ? operand->component < 1 || operand->component > 4 : operand->component != 0)
        return vector && !operand->component &&
               (fit->match->vector == 4 || (role->kind == 'z' && role->type.bytes == 16));
    if (role->kind == 'z' && role->type.bytes == 2)
        return grid || small;
    if (role->kind == 'z' && role->type.bytes == 16)
        return false;
    const bool wide = special->type == GD_TYPE_U64;
    return grid ||
           (role->kind == 'z' ? wide == (role->type.bytes == 8) : wide || role->type.bytes < 8);
}

/* table[2], an address without brackets around it. */
static bool is_element(const fitting *fit, const gd_ptx_operand *operand)
{
    const gd_token *tokens = fit->module->tokens.list;

    return operand->kind == GD_OPERAND_EXPRESSION &&
           gd_token_kind(tokens[operand->token]) == GD_TOKEN_NAME &&
           gd_token_kind(tokens[operand->token + 1]) == '[' &&
           gd_token_kind(tokens[operand->token_end - 1]) == ']';
}

/* Whether the variable that a symbol is has an address of the role's size. */
static bool has_address(const fitting *fit, const gd_ptx_operand *operand, const gd_form_role *role)
{
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
    const gd_op op = (gd_op)fit->instruction->op;

    if (symbol->kind != GD_SYMBOL_VARIABLE)
        return true;
    if (symbol->space == GD_SPACE_PARAM)
        return tell(fit, operand->token, "operand %u is a parameter of calls, which has no address",
                    (unsigned)fit->position);
    if (op == GD_OP_MOV && classes[symbol->type] == CLASS_OPAQUE && role->type.bytes != 8)
        return tell(fit, operand->token, "operand %u is given as .u64", (unsigned)fit->position);
    return role->type.bytes != 4 || fit->module->address_bits != 64 || op != GD_OP_MOV ||
           symbol->space != GD_SPACE_GLOBAL || operand->flags & GD_OPERAND_OFFSET ||
           tell(fit, operand->token, "operand %u is an address of 64 bits; take it as .u64",
                (unsigned)fit->position);
}

/* Whether a constant is above 0 and at most 1. */
static bool is_part(const gd_ptx_operand *operand)
{
    float single;
    double value;

    memcpy(&value, &operand->value, sizeof value);
    if (operand->kind == GD_OPERAND_SINGLE) {
        memcpy(&single, &operand->value, sizeof single);
        value = (double)single;
    }
    return operand->kind == GD_OPERAND_EXPRESSION || (value > 0 && (float)value <= 1);
}

/* Constants have no size, and are integers or fractions. */
static bool is_fraction_operand(const fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_SINGLE || operand->kind == GD_OPERAND_DOUBLE ||
           (operand->kind == GD_OPERAND_EXPRESSION &&
            gd_constant_classify(fit->module, operand->token, operand->token_end) ==
                GD_CONSTANT_FRACTION);
}

/* Whether a variable lies in the state space that the instruction names, or else in .shared. */
static bool is_of_space(const fitting *fit, const gd_ptx_operand *operand)
{
    const gd_modifier *space = &fit->match->spaces[0];
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];

    return (symbol->kind != GD_SYMBOL_FUNCTION &&
            symbol->space == (space->length ? gd_space_of_modifier(space->text, space->length)
                                            : GD_SPACE_SHARED)) ||
           tell(fit, operand->token, "operand %u does not lie in the instruction's state space",
                (unsigned)fit->position);
}

/* A scalar: a register, or where the role has them, a constant or a symbol. */
static bool fits_scalar(const fitting *fit, const gd_ptx_operand *operand, const gd_form_role *role)
{
    bool source = !is_destination(role) && role->kind != 'r';

    if (is_undeclared(fit, operand))
        return true;
    if (operand->kind == GD_OPERAND_REGISTER)
        return fits_register(fit, operand, role, may_be_wider(role));
    if (operand->kind == GD_OPERAND_SINK)
        return role->sink && !operand->flags;
    if (!source)
        return false;
    if (operand->kind == GD_OPERAND_EXPRESSION && is_element(fit, operand))
        return role->kind == 'x' || role->kind == 'z';
    if (is_constant(fit, operand) && role->loose && role->type.type == GD_TYPE_BF16)
        return !is_fraction_operand(fit, operand); /* 16 bits */
    if (is_constant(fit, operand))
        return is_constant_of(fit->module, operand, &role->type) &&
               is_in_range(fit->module, operand, role) &&
               (role->kind != 'f' || is_part(operand) ||
                tell(fit, operand->token, "operand %u is not above 0, or is above 1",
                     (unsigned)fit->position)) &&
               (!is_fraction_operand(fit, operand) ||
                (!(role->exact && role->type.class == CLASS_BITS) &&
                 (!role->single || operand->kind == GD_OPERAND_SINGLE)));
    if (role->kind == 'x' && operand->kind == GD_OPERAND_SYMBOL && !is_of_space(fit, operand))
        return false;
    if (is_function(fit, operand))
        return !operand->flags && !role->exact && role->type.type != GD_TYPE_BF16 &&
               role->type.type != GD_TYPE_BF16X2;
    if (operand->kind == GD_OPERAND_SPECIAL)
        return (role->kind == 'C' || role->kind == 'z' || operand->flags & GD_OPERAND_OFFSET) &&
               role->type.class != CLASS_FLOAT && fits_special(fit, operand, role);
    if (operand->kind != GD_OPERAND_SYMBOL || role->type.class == CLASS_FLOAT ||
        role->type.class == CLASS_PREDICATE)
        return false;
    if (fit->module->symbols[operand->symbol].kind == GD_SYMBOL_LABEL ||
        operand->flags & (GD_OPERAND_NOT | GD_OPERAND_MINUS))
        return false;
    if (!has_address(fit, operand, role))
        return false;
    return role->kind == 'x' || role->kind == 'z' ||
           (operand->flags & GD_OPERAND_OFFSET && !role->vector);
}

/* The type that ptxas sees in a vector's element: special registers are of bits. */
static uint8_t type_of_element(const fitting *fit, const gd_ptx_operand *element)
{
    uint32_t length;
    const char *name;

    if (element->kind == GD_OPERAND_REGISTER)
        return fit->module->symbols[element->symbol].type;
    if (element->kind != GD_OPERAND_SPECIAL || is_undeclared(fit, element))
        return GD_TYPE_NONE;
    name = name_of(fit, element, &length);
    const gd_special_register *special = gd_special_find(name, length);
    return special->type == GD_TYPE_PRED  ? GD_TYPE_PRED
           : special->type == GD_TYPE_U64 ? GD_TYPE_B64
                                          : GD_TYPE_B32;
}

/* tcgen05 reads no special register where others do, but for the address of an mbarrier. */
static bool is_tensor_core(const fitting *fit)
{
    return fit->instruction->op != GD_OP_TCGEN05_COMMIT &&
           strncmp(gd_ops[fit->instruction->op].name, "tcgen05", 7) == 0;
}

/* A special register as an element: one of parts names one. No constant stands beside it. */
static bool fits_element(const fitting *fit, const gd_ptx_operand *vector, uint32_t index,
                         const gd_ptx_operand *element)
{
    uint32_t length;
    const char *name = name_of(fit, element, &length);
    const gd_special_register *special = gd_special_find(name, length);

    if (!special)
        return true;
    if (is_tensor_core(fit) || element->flags ||
        (special->parts > 1) != (element->component != 0) || element->component > special->parts)
        return tell(fit, element->token, "operand %u has no such part of a special register",
                    (unsigned)fit->position);
    for (uint32_t i = index + 1; i < vector->end; i = operand_at(fit, i)->end) {
        if (is_constant(fit, operand_at(fit, i)) && special->type != GD_TYPE_U64)
            return tell(fit, operand_at(fit, i)->token,
                        "operand %u has a constant beside a special register",
                        (unsigned)fit->position);
    }
    return true;
}

/* Whether elements of two types go together: those of one size, and of one type, or of integers, or
 * of bits and any. */
static bool types_agree(uint8_t a, uint8_t b)
{
    return gd_ptx_types[a].bytes == gd_ptx_types[b].bytes &&
           (a == b || classes[a] == CLASS_BITS || classes[b] == CLASS_BITS ||
            (classes[a] == CLASS_INTEGER && classes[b] == CLASS_INTEGER));
}

static bool goes_with_constant(uint8_t type, bool fraction)
{
    return classes[type] == CLASS_FLOAT     ? fraction && type != GD_TYPE_F16X2
           : classes[type] == CLASS_INTEGER ? !fraction
                                            : true;
}

/* The registers among a vector's elements have one size and type; those of bits go with any. A
 * vector of nothing but '_' has none. */
static bool elements_agree(const fitting *fit, const gd_ptx_operand *vector, uint32_t index)
{
    uint8_t type = GD_TYPE_NONE;
    bool sinks = true;

    for (uint32_t i = index + 1; i < vector->end; i = operand_at(fit, i)->end) {
        const gd_ptx_operand *element = operand_at(fit, i);
        const uint8_t next = type_of_element(fit, element);
        sinks = sinks && element->kind == GD_OPERAND_SINK;
        if (next == GD_TYPE_NONE)
            continue;
        if (type != GD_TYPE_NONE && !types_agree(type, next))
            return tell(fit, element->token, "operand %u mixes .%s and .%s registers",
                        (unsigned)fit->position, gd_ptx_types[type].name, gd_ptx_types[next].name);
        if (type == GD_TYPE_NONE || classes[type] == CLASS_BITS)
            type = next;
    }
    for (uint32_t i = index + 1; i < vector->end && type != GD_TYPE_NONE;
         i = operand_at(fit, i)->end) {
        const gd_ptx_operand *element = operand_at(fit, i);
        if (!is_constant(fit, element))
            continue;
        const bool fraction = is_fraction_operand(fit, element);
        if (!goes_with_constant(type, fraction))
            return tell(fit, element->token, "operand %u has %s beside .%s registers",
                        (unsigned)fit->position, fraction ? "a fraction" : "an integer",
                        gd_ptx_types[type].name);
    }
    return !sinks ||
           tell(fit, vector->token, "operand %u has no element but '_'", (unsigned)fit->position);
}

/* Whether mov reads '_' as an element. */
static bool takes_sink(const gd_form_role *role)
{
    return role->kind == 'z' && role->type.class == CLASS_BITS && role->type.bytes == 4;
}

/* mov packs and unpacks (PTX ISA 9.7.9.10): the elements make up the whole. */
static bool fits_pack(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                      const gd_form_role *role)
{
    uint32_t count = 0, bytes = 0;

    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end)
        count++;
    if (count == 0 || role->type.class != CLASS_BITS)
        return false;
    if (role->type.bytes % count)
        return tell(fit, operand->token, "operand %u has %u elements, which make up no .%s",
                    (unsigned)fit->position, (unsigned)count, role->type.name);
    bytes = role->type.bytes / count;
    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end) {
        const gd_ptx_operand *element = operand_at(fit, i);
        if (is_undeclared(fit, element) || (element->kind == GD_OPERAND_SINK && !element->flags &&
                                            (role->kind == 'y' || takes_sink(role))))
            continue;
        if (element->kind == GD_OPERAND_SPECIAL) {
            const uint8_t type = type_of_element(fit, element);
            if (!fits_element(fit, operand, index, element))
                return false;
            if (type != GD_TYPE_PRED && gd_ptx_types[type].bytes != bytes)
                return tell(fit, element->token, "operand %u has an element of another size",
                            (unsigned)fit->position);
            continue;
        }
        if (element->kind == GD_OPERAND_REGISTER
                ? element->flags || !is_scalar_register(fit, element) ||
                      gd_ptx_types[fit->module->symbols[element->symbol].type].bytes != bytes
                : role->kind == 'y' || !is_constant(fit, element))
            return false;
    }
    return elements_agree(fit, operand, index);
}

/* Whether an element of a vector is a register of bits. */
static bool has_bits(const fitting *fit, uint32_t index)
{
    bool bits = false;

    for (uint32_t i = index + 1; i < operand_at(fit, index)->end; i = operand_at(fit, i)->end)
        bits |= classes[type_of_element(fit, operand_at(fit, i))] == CLASS_BITS;
    return bits;
}

/* Whether constants stand beside registers of another type in a vector that is read: 0f and 0d have
 * types, and other constants none that a register has. */
static bool is_mixed(const fitting *fit, uint32_t index, const gd_form_role *role)
{
    const gd_ptx_operand *vector = operand_at(fit, index);
    uint8_t type = GD_TYPE_NONE;
    bool mixed = false;

    for (uint32_t i = index + 1; i < vector->end; i = operand_at(fit, i)->end) {
        if (operand_at(fit, i)->kind == GD_OPERAND_REGISTER)
            type = type_of_element(fit, operand_at(fit, i));
    }
    for (uint32_t i = index + 1; i < vector->end; i = operand_at(fit, i)->end) {
        const gd_ptx_operand *element = operand_at(fit, i);
        mixed |= is_constant(fit, element) &&
                 !(element->kind == GD_OPERAND_SINGLE && type == GD_TYPE_F32) &&
                 !(element->kind == GD_OPERAND_DOUBLE && type == GD_TYPE_F64);
    }
    return mixed && type != GD_TYPE_NONE && !is_destination(role);
}

static bool fits_vector(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                        gd_form_role role)
{
    uint32_t count = 0;
    gd_form_role any = role;

    if (operand->kind == GD_OPERAND_REGISTER) {
        const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
        const uint8_t flags = is_destination(&role) ? 0 : GD_OPERAND_OFFSET;
        if (fit->instruction->op == GD_OP_SUST && symbol->vector == 1)
            return true; /* ptxas takes some, by rules of its own */
        if (role.alone && symbol->vector == 1)
            return fits_scalar(fit, operand, &role);
        return symbol->vector == role.vector && role.vector > 1 && !operand->component &&
               !(operand->flags & ~flags) && !role.braces &&
               serves(symbol->type, &role, may_be_wider(&role));
    }
    if (operand->kind == GD_OPERAND_SINK)
        return role.sink;
    if (role.alone && is_constant(fit, operand))
        return fits_scalar(fit, operand, &role);
    if (operand->kind != GD_OPERAND_VECTOR)
        return is_undeclared(fit, operand) ||
               (fit->instruction->op == GD_OP_SUST && is_constant(fit, operand));
    role.sink = (is_destination(&role) && !role.whole) || takes_sink(&role);
    const bool mixed = is_mixed(fit, index, &role);
    if (mixed || has_bits(fit, index)) { /* elements are held against one another only */
        any.type.class = CLASS_BITS;
        any.exact = any.bits = false;
    }
    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end, count++) {
        const gd_ptx_operand *element = operand_at(fit, i);
        if (element->kind == GD_OPERAND_SPECIAL) {
            const uint8_t type = type_of_element(fit, element), bytes = gd_ptx_types[type].bytes;
            if (!fits_element(fit, operand, index, element))
                return false;
            if (type != GD_TYPE_NONE && type != GD_TYPE_PRED &&
                (may_be_wider(&role) ? bytes < role.type.bytes : bytes != role.type.bytes))
                return tell_expected(fit, element, &role);
            continue;
        }
        if (!(mixed && is_constant(fit, element) &&
              !(is_tensor_core(fit) && is_fraction_operand(fit, element))) &&
            !fits_scalar(fit, element, element->kind == GD_OPERAND_REGISTER ? &any : &role))
            return tell_expected(fit, element, &role);
        role.high = role.high_rest;
        role.multiple = 0;
    }
    if (count == role.vector)
        return elements_agree(fit, operand, index);
    return tell(fit, operand->token, "operand %u has %u elements; %u are expected",
                (unsigned)fit->position, (unsigned)count, (unsigned)role.vector);
}

/* Parameters are read only, results are written only. */
static bool is_wrong_way(const fitting *fit, uint32_t symbol)
{
    const gd_ptx_function *function = &fit->module->functions[fit->function];
    const bool result = symbol >= function->result && symbol < function->result_end;

    return fit->instruction->op == (result ? GD_OP_LD : GD_OP_ST);
}

/* Whether a query asks about a symbol: samplers have modes, as textures do without them. */
static bool is_queried(const fitting *fit, const gd_ptx_symbol *symbol, bool mode)
{
    if (fit->instruction->op == GD_OP_SUQ)
        return symbol->type == GD_TYPE_SURFREF;
    if (mode && fit->module->independent)
        return symbol->type == GD_TYPE_SAMPLERREF;
    return symbol->type == GD_TYPE_TEXREF || symbol->space == GD_SPACE_TEX;
}

/* Whether a variable lies in the state space that the instruction names; without one, the address
 * is generic. */
static bool is_in_space(const fitting *fit, const gd_ptx_operand *address, const gd_form_role *role)
{
    const gd_modifier *space = &fit->match->spaces[fit->addresses > 1];
    const gd_ptx_symbol *symbol = &fit->module->symbols[address->symbol];

    if (symbol->kind == GD_SYMBOL_FUNCTION || symbol->kind == GD_SYMBOL_LABEL ||
        (classes[symbol->type] == CLASS_OPAQUE && fit->instruction->op == GD_OP_LD))
        return false;
    if (fit->instruction->op == GD_OP_TXQ || fit->instruction->op == GD_OP_SUQ)
        return is_queried(fit, symbol, role->single);
    if (fit->addresses > 2) /* the mbarrier of a copy */
        return symbol->space == GD_SPACE_SHARED;
    if (symbol->space == GD_SPACE_TEX || symbol->space == GD_SPACE_REG ||
        symbol->space == GD_SPACE_SREG || symbol->space == GD_SPACE_NONE || !space->length)
        return gd_op_is_member((gd_op)fit->instruction->op, GD_OP_MBARRIER)
                   ? symbol->space == GD_SPACE_SHARED
                   : fit->addresses > 1 ||
                         (symbol->space != GD_SPACE_PARAM && symbol->space != GD_SPACE_CONST &&
                          (classes[symbol->type] != CLASS_OPAQUE ||
                           symbol->space != GD_SPACE_GLOBAL));
    if (symbol->kind == GD_SYMBOL_PARAMETER && is_wrong_way(fit, address->symbol))
        return false;
    return gd_space_of_modifier(space->text, space->length) == symbol->space;
}

/* Whether the instruction takes a generic or global address of .address_size bits only. */
static bool is_whole_address(const fitting *fit, const gd_form_role *role)
{
    const gd_modifier *space = &fit->match->spaces[0];

    return role->kind == 'a' && role->exact &&
           (!space->length || (space->length == 6 && memcmp(space->text, "global", 6) == 0));
}

/* In brackets stands a register of one element: parts of others have no place there. */
static bool is_lone_register(const fitting *fit, const gd_ptx_operand *operand)
{
    return fit->module->symbols[operand->symbol].vector == 1 && !operand->component;
}

static bool tell_no_address(const fitting *fit, const gd_ptx_operand *address)
{
    char found[64];

    describe(fit, address, found, sizeof found);
    return tell(fit, address->token, "%s holds no address; a register of one element does", found);
}

/* Whether a special register, or the part of it that is named, is one number. */
static bool is_whole_number(const fitting *fit, const gd_ptx_operand *operand)
{
    uint32_t length;
    const char *name = name_of(fit, operand, &length);
    const gd_special_register *special = gd_special_find(name, length);

    return (special->parts > 1) == (operand->component != 0) && special->type != GD_TYPE_PRED;
}

static bool fits_address(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                         const gd_form_role *role)
{
    if (operand->kind != GD_OPERAND_MEMORY)
        return is_element(fit, operand);
    const gd_ptx_operand *address = operand_at(fit, index + 1);
    if (address->kind == GD_OPERAND_REGISTER && !is_lone_register(fit, address))
        return tell_no_address(fit, address);
    if (address->kind == GD_OPERAND_REGISTER && is_whole_address(fit, role) &&
        !fit->match->spaces[0].length && fit->module->capability &&
        fit->module->capability < CAPABILITY_GENERIC)
        return tell(fit, fit->instruction->opcode,
                    "%s has no generic addresses; name the state space", fit->module->target);
    if (address->flags & (GD_OPERAND_MINUS | GD_OPERAND_NOT))
        return tell(fit, address->token, "operand %u has a sign in front of its address",
                    (unsigned)fit->position);
    if ((fit->instruction->op == GD_OP_TXQ || fit->instruction->op == GD_OP_SUQ) &&
        address->flags & GD_OPERAND_OFFSET)
        return tell(fit, address->token, "operand %u is a texture or surface plus a constant",
                    (unsigned)fit->position);
    if (operand->end != address->end)
        return tell(fit, operand_at(fit, address->end)->token,
                    "operand %u is an address in brackets with a comma", (unsigned)fit->position);
    if (address->kind == GD_OPERAND_SYMBOL && address->symbol != GD_PTX_NONE)
        return (is_in_space(fit, address, role) && role->kind != 'A') ||
               tell(fit, address->token, "operand %u does not lie in the instruction's state space",
                    (unsigned)fit->position);
    if (address->kind != GD_OPERAND_REGISTER) {
        const gd_modifier *space = &fit->match->spaces[0];
        bool local = space->length == 5 && memcmp(space->text, "local", 5) == 0;
        bool loads = fit->instruction->op == GD_OP_LD || fit->instruction->op == GD_OP_LDU;
        if (address->kind == GD_OPERAND_SPECIAL && !is_undeclared(fit, address))
            return (!address->component && (loads || !role->exact) && !is_tensor_core(fit) &&
                    is_whole_number(fit, address)) ||
                   tell(fit, address->token, "operand %u is a special register as an address",
                        (unsigned)fit->position);
        return (local && address->kind != GD_OPERAND_SINGLE &&
                address->kind != GD_OPERAND_DOUBLE) ||
               is_undeclared(fit, address) ||
               tell(fit, address->token,
                    "operand %u is neither a register nor a variable, and is not in .local",
                    (unsigned)fit->position);
    }
    const gd_ptx_symbol *symbol = &fit->module->symbols[address->symbol];
    uint8_t class = classes[symbol->type];
    if (role->kind == 'A' &&
        (gd_ptx_types[symbol->type].bytes != 4 || (role->bits && class != CLASS_BITS)))
        return tell(fit, address->token, "an address of tensor memory is held by %s",
                    role->bits ? "a .b32 register here" : "32 bits");
    if (gd_ptx_types[symbol->type].bytes == 4 && fit->module->address_bits == 64 &&
        is_whole_address(fit, role)) {
        if (fit->fault)
            fit->fault->lacks = GD_LACKS_WIDTH;
        return tell(fit, address->token,
                    "a .%s register holds 32 bits of an address that has 64 here",
                    gd_ptx_types[symbol->type].name);
    }
    if ((fit->instruction->op == GD_OP_TXQ || fit->instruction->op == GD_OP_SUQ) &&
        gd_ptx_types[symbol->type].bytes != 8)
        return tell(fit, address->token, "a handle of a texture or surface has 64 bits");
    if (((class == CLASS_INTEGER || class == CLASS_BITS) &&
         gd_ptx_types[symbol->type].bytes <= 8) ||
        (role->kind == 'A' && symbol->type == GD_TYPE_F16X2))
        return true;
    if (fit->instruction->op == GD_OP_FENCE_PROXY && symbol->type == GD_TYPE_F64)
        return true; /* ptxas does not look */
    return tell(fit, address->token,
                "a .%s register holds no address; one of integers or bits does",
                gd_ptx_types[symbol->type].name);
}

/* What a texture or surface is given by: a handle, or a name of its kind. */
static bool fits_handle(const fitting *fit, uint32_t index, bool sampler)
{
    const gd_ptx_operand *handle = operand_at(fit, index);
    bool texture = fit->instruction->op == GD_OP_TEX || fit->instruction->op == GD_OP_TLD4;
    uint8_t type = sampler ? GD_TYPE_SAMPLERREF : texture ? GD_TYPE_TEXREF : GD_TYPE_SURFREF;

    if (is_undeclared(fit, handle))
        return true;
    const gd_ptx_symbol *symbol =
        handle->symbol == GD_PTX_NONE ? NULL : &fit->module->symbols[handle->symbol];
    if (symbol && !handle->flags && !handle->component &&
        (symbol->type == type || symbol->space == GD_SPACE_TEX ||
         (handle->kind == GD_OPERAND_REGISTER && gd_ptx_types[symbol->type].bytes == 8 &&
          symbol->vector == 1 &&
          (classes[symbol->type] == CLASS_INTEGER || classes[symbol->type] == CLASS_BITS))))
        return true;
    return tell(fit, handle->token, "operand %u is neither a .%s nor in a register of 64 bits",
                (unsigned)fit->position, gd_ptx_types[type].name);
}

/* Coordinates have 32 bits each. Those that are integers, and the index of an array of textures,
 * are held by no register of floats; `pairs`: but by one of .f16x2. */
static bool fits_coordinate(const fitting *fit, const gd_ptx_operand *one, bool integer, bool pairs)
{
    if (is_undeclared(fit, one))
        return true;
    if (one->kind == GD_OPERAND_SPECIAL)
        return gd_ptx_types[type_of_element(fit, one)].bytes == COORDINATE_BYTES;
    if (is_constant(fit, one)) {
        bool fraction = one->kind == GD_OPERAND_SINGLE || one->kind == GD_OPERAND_DOUBLE;
        return one->kind == GD_OPERAND_EXPRESSION || integer != fraction ||
               tell(fit, one->token, "operand %u has %s among its coordinates",
                    (unsigned)fit->position, fraction ? "a fraction" : "an integer");
    }
    if (one->kind != GD_OPERAND_REGISTER)
        return tell(fit, one->token, "operand %u has a coordinate that is no register",
                    (unsigned)fit->position);
    if (is_whole_vector(fit, one))
        return tell(fit, one->token, "operand %u has a whole vector among its coordinates",
                    (unsigned)fit->position);
    uint8_t type = fit->module->symbols[one->symbol].type;
    if (!(one->flags & (GD_OPERAND_MINUS | GD_OPERAND_NOT)) && gd_ptx_types[type].bytes == 4 &&
        (type == GD_TYPE_F16X2 ? integer && pairs : !integer || classes[type] != CLASS_FLOAT))
        return true;
    return tell(fit, one->token, "operand %u has a .%s register among its %scoordinates",
                (unsigned)fit->position, gd_ptx_types[type].name, integer ? "integer " : "");
}

/* Coordinates are 1, 2 or 4, and as many as the geometry has; ptxas takes any one register for
 * those of no array. */
static bool fits_coordinates(const fitting *fit, uint32_t index)
{
    const gd_ptx_operand *all = operand_at(fit, index);
    const gd_modifier *type = &fit->match->types[1];
    bool texture = fit->instruction->op == GD_OP_TEX || fit->instruction->op == GD_OP_TLD4;
    bool integers = !texture || (type->length == 3 && type->text[0] == 's');
    uint32_t count = is_whole_vector(fit, all) ? fit->module->symbols[all->symbol].vector : 0;
    bool bits = all->kind == GD_OPERAND_VECTOR && has_bits(fit, index);

    if (all->kind != GD_OPERAND_VECTOR && all->kind != GD_OPERAND_REGISTER)
        return is_undeclared(fit, all);
    if (all->kind == GD_OPERAND_REGISTER && !count)
        return fits_coordinate(fit, all, integers, texture);
    for (uint32_t i = index + 1; i < all->end; i = operand_at(fit, i)->end) {
        if (operand_at(fit, i)->kind == GD_OPERAND_SPECIAL &&
            !fits_element(fit, all, index, operand_at(fit, i)))
            return false;
        const uint8_t held = type_of_element(fit, operand_at(fit, i));
        bool layer = fit->match->array && !count;
        if (bits && !layer && (held == GD_TYPE_F16X2 || held == GD_TYPE_PRED)) {
            count++; /* ptxas holds them against the others only */
            continue;
        }
        if (!fits_coordinate(fit, operand_at(fit, i), (integers && !bits) || layer,
                             texture && !layer))
            return false;
        count++;
    }
    if (texture && !integers && !fit->match->array && all->kind == GD_OPERAND_VECTOR &&
        !elements_agree(fit, all, index))
        return false;
    if (count == 3 || count > 4 || count < fit->match->coordinates)
        return tell(fit, all->token, "operand %u has %u coordinates; %s are expected",
                    (unsigned)fit->position, (unsigned)count,
                    fit->match->coordinates == 4   ? "4"
                    : fit->match->coordinates == 2 ? "2 or 4"
                                                   : "1, 2 or 4");
    return true;
}

/* A level of detail, a derivative or a depth: a register of the very type, or a constant. */
static bool fits_fraction(const fitting *fit, const gd_ptx_operand *one)
{
    if (!fits_coordinate(fit, one, false, false))
        return false;
    return one->kind != GD_OPERAND_REGISTER ||
           classes[fit->module->symbols[one->symbol].type] != CLASS_INTEGER ||
           tell(fit, one->token, "operand %u is a .%s register; a .f32 register is expected",
                (unsigned)fit->position, gd_ptx_types[fit->module->symbols[one->symbol].type].name);
}

/* A gradient has a derivative for each coordinate but an array's index. */
static bool fits_gradient(const fitting *fit, const gd_ptx_operand *operand, uint32_t index)
{
    uint32_t count = 0, wanted = fit->match->coordinates;

    if (operand->kind == GD_OPERAND_REGISTER)
        return fit->module->symbols[operand->symbol].vector > 1;
    if (operand->kind != GD_OPERAND_VECTOR)
        return false;
    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end, count++) {
        if (!fits_fraction(fit, operand_at(fit, i)))
            return false;
    }
    if (fit->match->array && wanted <= 4)
        wanted = wanted == 2 ? 1 : 2;
    if (count != 3 && count <= 4 && (fit->match->cube || count == wanted))
        return true;
    return tell(fit, operand->token, "operand %u has %u derivatives; %u are expected",
                (unsigned)fit->position, (unsigned)count, (unsigned)wanted);
}

/* Whether one value is an offset: an integer, or 32 bits that are nothing else. */
static bool is_offset(const fitting *fit, const gd_ptx_operand *one, bool followed)
{
    if (is_constant(fit, one))
        return !is_fraction_operand(fit, one);
    if (one->kind != GD_OPERAND_REGISTER || one->flags || !is_scalar_register(fit, one))
        return false;
    const uint8_t type = fit->module->symbols[one->symbol].type;
    return gd_ptx_types[type].bytes == COORDINATE_BYTES &&
           (classes[type] == CLASS_INTEGER ||
            (classes[type] == CLASS_BITS && (followed || fit->match->types[1].text[0] == 's')));
}

/* Offsets, which are a vector of integers, and the value that depths are compared with. */
static bool fits_beside_texture(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                                const gd_form_role *role)
{
    uint32_t count = 0, wanted = fit->match->coordinates;
    bool several = is_several(fit, operand);

    if (is_undeclared(fit, operand))
        return true;
    const bool followed = operand->end < fit->instruction->operand_end;
    if (role->kind == 'q' && is_offset(fit, operand, followed))
        return true;
    if (role->kind == 'e' ? several : !several && followed)
        return tell(fit, operand->token,
                    several ? "operand %u is a vector; a depth to compare with is expected"
                            : "operand %u is one value; offsets are a vector",
                    (unsigned)fit->position);
    if (several && fit->match->cube)
        return tell(fit, operand->token, "operand %u is offsets, which a cube has none of",
                    (unsigned)fit->position);
    if (!several && (fit->match->dimensions == 3 || fit->match->types[1].text[0] == 's'))
        return tell(fit, operand->token,
                    "operand %u is compared with a depth, and there is none %s",
                    (unsigned)fit->position,
                    fit->match->dimensions == 3 ? "in three dimensions" : "at integer coordinates");
    if (!several)
        return (is_constant(fit, operand) || operand->kind == GD_OPERAND_REGISTER) &&
               fits_fraction(fit, operand);
    if (operand->kind != GD_OPERAND_VECTOR)
        return gd_ptx_types[fit->module->symbols[operand->symbol].type].bytes == 4;
    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end, count++) {
        if (!fits_coordinate(fit, operand_at(fit, i), true, false))
            return false;
    }
    wanted = fit->match->array || wanted == 1 ? 1 : 2;
    return count >= wanted ||
           tell(fit, operand->token, "operand %u has %u offsets; %u are expected",
                (unsigned)fit->position, (unsigned)count, (unsigned)wanted);
}

/* [map, {coordinates}], [texture, {coordinates}] or [texture, sampler, {coordinates}] */
static bool fits_tensor(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                        const gd_form_role *role)
{
    uint32_t next = index + 1, count = 0;

    if (operand->kind != GD_OPERAND_MEMORY)
        return false;
    for (uint32_t i = next; i < operand->end; i = operand_at(fit, i)->end, count++) {
        const gd_ptx_operand *object = operand_at(fit, i); /* or a sampler */
        if (object->end < operand->end && object->kind == GD_OPERAND_REGISTER &&
            !is_lone_register(fit, object))
            return tell_no_address(fit, object);
    }
    if (role->kind == 'T') {
        for (uint32_t last = next; last < operand->end; last = operand_at(fit, last)->end)
            next = last;
        return (count == 2 || count == 3) && fits_handle(fit, index + 1, false) &&
               (count == 2 || fits_handle(fit, operand_at(fit, index + 1)->end, true)) &&
               fits_coordinates(fit, next);
    }
    const gd_ptx_operand *map = operand_at(fit, next);
    if (map->flags || is_constant(fit, map) || map->kind == GD_OPERAND_PAIR ||
        (map->kind == GD_OPERAND_SPECIAL && !is_undeclared(fit, map)))
        return tell(fit, map->token,
                    "operand %u has no register or variable with a tensor map's address",
                    (unsigned)fit->position);
    next = map->end;
    return count == 2 && operand_at(fit, next)->kind == GD_OPERAND_VECTOR &&
           fits_vector(fit, operand_at(fit, next), next, *role);
}

static bool fits_predicate(const fitting *fit, const gd_ptx_operand *operand)
{
    if (operand->kind == GD_OPERAND_REGISTER)
        return fit->module->symbols[operand->symbol].type == GD_TYPE_PRED && !operand->component &&
               !(operand->flags & GD_OPERAND_MINUS);
    if (is_undeclared(fit, operand))
        return true;
    return is_constant(fit, operand) && operand->kind != GD_OPERAND_SINGLE &&
           operand->kind != GD_OPERAND_DOUBLE;
}

/* brx.idx goes by a list of labels, bra to one. */
static bool fits_label(const fitting *fit, const gd_ptx_operand *operand)
{
    const bool list = fit->instruction->op == GD_OP_BRX_IDX;

    if (is_undeclared(fit, operand))
        return true;
    if (operand->kind != GD_OPERAND_SYMBOL || operand->symbol == GD_PTX_NONE || operand->flags ||
        fit->module->symbols[operand->symbol].kind != GD_SYMBOL_LABEL)
        return false;
    const uint32_t named = fit->module->symbols[operand->symbol].directive;
    if (list ? named != GD_PTX_NONE &&
                   fit->module->directives[named].kind == GD_DIRECTIVE_BRANCHTARGETS
             : named == GD_PTX_NONE)
        return true;
    return tell(fit, operand->token,
                list ? "operand %u is the label of no .branchtargets"
                     : "operand %u is the name of a directive, and no place in the code",
                (unsigned)fit->position);
}

static bool fits_pair(const fitting *fit, uint32_t index, gd_form_role role)
{
    static const gd_value_type predicate = {
        .name = "pred", .class = CLASS_PREDICATE, .type = GD_TYPE_PRED};
    const gd_ptx_operand *first = operand_at(fit, index + 1), *second = operand_at(fit, first->end);
    const char pair = role.pair;

    role.pair = 0;
    if (role.vector ? !fits_vector(fit, first, index + 1, role) : !fits_scalar(fit, first, &role))
        return tell_expected(fit, first, &role);
    role.sink = pair == '|' && first->kind != GD_OPERAND_SINK && !role.vector;
    role.vector = 0;
    role.type = predicate;
    return fits_scalar(fit, second, &role) || tell_expected(fit, second, &role);
}

/* 1 or -1 */
static bool is_sign(const fitting *fit, const gd_ptx_operand *operand)
{
    uint64_t value = operand->value;

    if (operand->kind == GD_OPERAND_EXPRESSION
            ? !gd_constant_evaluate(fit->module, operand->token, operand->token_end, &value)
            : operand->kind != GD_OPERAND_INTEGER)
        return false;
    return value + 1 == 0 || value == 1;
}

/* mov.b64 of a .v2 .u32 register. */
static bool is_packed_register(const fitting *fit, const gd_ptx_operand *operand,
                               const gd_form_role *role)
{
    const uint8_t flags = role->kind == 'z' ? GD_OPERAND_OFFSET : 0;

    if (!is_whole_vector(fit, operand) || operand->flags & ~flags)
        return false;
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
    return role->type.class == CLASS_BITS &&
           gd_ptx_types[symbol->type].bytes * symbol->vector == role->type.bytes;
}

/* Whether ptxas takes {%r1} for %r1. */
static bool takes_vector_of_one(const fitting *fit, const gd_form_role *role)
{
    switch (fit->instruction->op) {
    case GD_OP_ABS:
    case GD_OP_ADD:
    case GD_OP_CVT:
    case GD_OP_FMA:
    case GD_OP_MAX:
    case GD_OP_MIN:
    case GD_OP_MUL:
    case GD_OP_NEG:
    case GD_OP_SET:
    case GD_OP_SETP:
    case GD_OP_SUB:
        return role->type.type == GD_TYPE_BF16 || role->type.type == GD_TYPE_BF16X2;
    case GD_OP_LD:
    case GD_OP_LDU:
    case GD_OP_MMA: /* a scale */
    case GD_OP_ST:
    case GD_OP_ST_ASYNC:
    case GD_OP_SULD:
    case GD_OP_SUST:
        return true;
    default:
        return false;
    }
}

/* ---- video instructions (PTX ISA 9.7.20) ---- */

static bool are_digits(const char *text, uint32_t count, char last)
{
    for (uint32_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > last)
            return false;
    }
    return true;
}

static bool are_descending(const char *text, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (text[i] >= text[i - 1])
            return false;
    }
    return true;
}

/* Whether a selector, without its dot, is one of the role's. */
static bool is_selector(const char *text, uint32_t length, const gd_form_role *role)
{
    const char unit = length ? text[0] : 0;
    const uint32_t digits = length ? length - 1 : 0;

    text++;
    switch (role->selectors) {
    case 1:
        return digits == 1 && (unit == 'b' || unit == 'h') &&
               are_digits(text, 1, unit == 'b' ? '3' : '1');
    case 2:
        if (role->kind != 'Q')
            return unit == 'h' && digits == 2 && are_digits(text, 2, '3');
        return unit == 'h' && digits >= 1 && digits <= 2 && are_digits(text, digits, '1') &&
               are_descending(text, digits);
    case 4:
        if (role->kind != 'Q')
            return unit == 'b' && digits == 4 && are_digits(text, 4, '7');
        return unit == 'b' && digits >= 1 && are_digits(text, digits, '3') &&
               are_descending(text, digits);
    default:
        return false;
    }
}

/* 32 bits, perhaps with a selector. */
static bool fits_word(const fitting *fit, const gd_ptx_operand *operand, const gd_form_role *role)
{
    const uint8_t flags = role->kind == 'V'   ? GD_OPERAND_MINUS | GD_OPERAND_OFFSET
                          : role->kind == 'U' ? GD_OPERAND_OFFSET
                                              : 0;
    if (operand->kind != GD_OPERAND_REGISTER || operand->flags & ~flags)
        return false;
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
    const gd_op op = (gd_op)fit->instruction->op;
    const bool sets = op == GD_OP_VSET || op == GD_OP_VSET2 || op == GD_OP_VSET4;
    if (symbol->vector > 1)
        return false; /* nor an element of it */
    if (operand->component) {
        const bool minus = operand->flags & GD_OPERAND_MINUS;
        uint32_t length;
        const char *text = gd_ptx_token_text(fit->module, operand->token + minus + 1, &length);
        if (!is_selector(text + 1, length - 1, role))
            return false;
    }
    return gd_ptx_types[symbol->type].bytes == 4 &&
           (classes[symbol->type] == CLASS_INTEGER || classes[symbol->type] == CLASS_BITS ||
            (symbol->type == GD_TYPE_F16X2 && (!sets || (role->kind != 'Q' && role->selectors))));
}

/* vmad takes away the product or c, not both, and neither with .po. */
static bool fits_signs(const fitting *fit)
{
    const gd_ptx_instruction *mad = fit->instruction;
    const gd_modifier plus_one = {"po", 2};
    uint32_t minus = 0, count = 0;

    for (uint32_t i = mad->operand; i < mad->operand_end; i = operand_at(fit, i)->end, count++)
        if (operand_at(fit, i)->kind == GD_OPERAND_REGISTER &&
            operand_at(fit, i)->flags & GD_OPERAND_MINUS)
            minus |= 1u << count;
    const bool product = (minus >> 1 ^ minus >> 2) & 1, third = minus >> 3 & 1;
    if (product && third)
        return tell(fit, mad->opcode, "a minus stands before the product or operand 4, not both");
    return !((product || third) && gd_form_has(fit->match->form, &plus_one)) ||
           tell(fit, mad->opcode, ".po goes with no minus before the product or operand 4");
}

/* createpolicy.range: the first of two sizes is not above the second. */
static bool fits_sizes(const fitting *fit)
{
    const gd_ptx_operand *last[2] = {NULL, NULL};

    for (uint32_t i = fit->instruction->operand; i < fit->instruction->operand_end;
         i = operand_at(fit, i)->end) {
        last[0] = last[1];
        last[1] = operand_at(fit, i);
    }
    return !last[0] || last[0]->kind != GD_OPERAND_INTEGER || last[1]->kind != GD_OPERAND_INTEGER ||
           (uint32_t)last[0]->value <= (uint32_t)last[1]->value ||
           tell(fit, last[0]->token, "operand 3 is above operand 4, of which it is a part");
}

/* Whether ptxas takes several elements where one belongs: it does not count them. */
static bool is_uncounted(const fitting *fit, const gd_ptx_operand *vector, uint32_t index)
{
    const gd_op op = (gd_op)fit->instruction->op;
    uint32_t count = 0;

    for (uint32_t i = index + 1; i < vector->end; i = operand_at(fit, i)->end)
        count++;
    return op != GD_OP_CVT && op != GD_OP_LD && op != GD_OP_LDU && op != GD_OP_ST &&
           (count == 2 || count == 4) && elements_agree(fit, vector, index);
}

static bool fits_lone_special(const fitting *fit, const gd_ptx_operand *element,
                              const gd_form_role *role)
{
    const uint8_t bytes = gd_ptx_types[type_of_element(fit, element)].bytes;

    return is_undeclared(fit, element) ||
           (is_whole_number(fit, element) &&
            (may_be_wider(role) ? bytes >= role->type.bytes : bytes == role->type.bytes));
}

/* Whether ptxas writes the instruction as several, whose text has no sum for an operand: divisions
 * of 64 bits, and what synchronizes warps and CTAs on chips before sm_90. */
static bool takes_no_sum(const fitting *fit)
{
    const bool old = fit->module->capability && fit->module->capability < CAPABILITY_SUM;
    const gd_modifier sync = {"sync", 4};

    switch (fit->instruction->op) {
    case GD_OP_DIV:
    case GD_OP_RCP:
    case GD_OP_REM:
    case GD_OP_SQRT:
        return read_type(fit->match->types[0].text, fit->match->types[0].length).bytes == 8;
    case GD_OP_BAR_WARP_SYNC:
    case GD_OP_BARRIER:
    case GD_OP_BARRIER_ARRIVE:
    case GD_OP_BARRIER_CTA_ARRIVE:
    case GD_OP_BARRIER_CTA_RED:
    case GD_OP_BARRIER_CTA_SYNC:
    case GD_OP_BARRIER_RED:
    case GD_OP_BARRIER_SYNC:
    case GD_OP_MATCH:
    case GD_OP_REDUX:
        return old;
    case GD_OP_SHFL:
    case GD_OP_VOTE:
        return old && gd_form_has(fit->match->form, &sync);
    default:
        return false;
    }
}

static bool fits(const fitting *fit, uint32_t index, gd_form_role role)
{
    const gd_ptx_operand *operand = operand_at(fit, index);

    if (operand->flags & GD_OPERAND_OFFSET && takes_no_sum(fit))
        return tell(fit, operand->token,
                    "operand %u is a sum, which this instruction does not take",
                    (unsigned)fit->position);
    if (role.pair && operand->kind == GD_OPERAND_PAIR)
        return fits_pair(fit, index, role);
    if (role.pair == '&')
        return tell(fit, operand->token, "operand %u has a predicate behind a '|' here",
                    (unsigned)fit->position);
    switch (role.kind) {
    case 'a':
    case 'A':
        return fits_address(fit, operand, index, &role);
    case 't':
    case 'T':
        return fits_tensor(fit, operand, index, &role);
    case 'Q':
    case 'U':
    case 'V':
    case 'W':
        if ((role.kind == 'U' || role.kind == 'V') && is_constant(fit, operand))
            return operand->kind != GD_OPERAND_SINGLE && operand->kind != GD_OPERAND_DOUBLE;
        return is_undeclared(fit, operand) || fits_word(fit, operand, &role);
    case 'q':
    case 'e':
        return fits_beside_texture(fit, operand, index, &role);
    case 'p':
        return fits_predicate(fit, operand) && is_in_range(fit->module, operand, &role);
    case 'c':
        return is_undeclared(fit, operand) || fits_gradient(fit, operand, index);
    case 'o':
        if (operand->kind == GD_OPERAND_VECTOR && operand_at(fit, index + 1)->end == operand->end)
            operand = operand_at(fit, index + 1);
        if (operand->kind == GD_OPERAND_SPECIAL)
            return false;
        return fit->match->types[1].text[0] == 's' ? fits_coordinate(fit, operand, true, true)
                                                   : fits_fraction(fit, operand);
    case 'l':
        return fits_label(fit, operand);
    case 'i':
    case 'I':
        return is_undeclared(fit, operand) ||
               (is_constant(fit, operand) && operand->kind != GD_OPERAND_SINGLE &&
                operand->kind != GD_OPERAND_DOUBLE && is_in_range(fit->module, operand, &role));
    case 'k':
        return is_sign(fit, operand);
    case 'n':
        return operand->kind == GD_OPERAND_SINK && !operand->flags;
    case 'h':
    case 'm':
        return fits_scalar(fit, operand, &role);
    case 'y':
    case 'z':
        if (fit->match->vector > 1 && is_several(fit, operand)) {
            role.vector = fit->match->vector;
            role.loose = role.type.class == CLASS_FLOAT;
            return fits_vector(fit, operand, index, role);
        }
        if (role.kind == 'z' && is_several(fit, operand) &&
            is_several(fit, operand_at(fit, fit->instruction->operand)))
            return tell(fit, operand->token, "both operands are vectors; one has to be a scalar");
        if (operand->kind == GD_OPERAND_VECTOR)
            return fits_pack(fit, operand, index, &role);
        if (is_packed_register(fit, operand, &role))
            return true;
        break;
    default:
        break;
    }
    if (!role.vector && operand->kind == GD_OPERAND_VECTOR && takes_vector_of_one(fit, &role)) {
        const gd_ptx_operand *first = operand_at(fit, index + 1);
        if (first->end == operand->end && first->kind == GD_OPERAND_SPECIAL)
            return fits_lone_special(fit, first, &role);
        if (first->end != operand->end && !is_uncounted(fit, operand, index))
            return false;
        if (first->end != operand->end &&
            (fit->instruction->op == GD_OP_SULD || fit->instruction->op == GD_OP_SUST))
            return !is_destination(&role) || !is_constant(fit, first);
        operand = first;
    }
    return role.vector ? fits_vector(fit, operand, index, role) : fits_scalar(fit, operand, &role);
}

/* ---- all operands ---- */

bool gd_operands_fit(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                     const gd_form_match *match, gd_operand_fault *fault)
{
    fitting fit = {.module = module,
                   .instruction = instruction,
                   .match = match,
                   .fault = fault,
                   .function = module->scopes[instruction->scope].function};
    uint32_t index = instruction->operand, left = 0;

    if (fault)
        *fault = (gd_operand_fault){.token = instruction->opcode};
    for (uint32_t i = index; i < instruction->operand_end; i = operand_at(&fit, i)->end)
        left++;
    fit.position = 1;
    if ((instruction->op == GD_OP_LD || instruction->op == GD_OP_ST ||
         instruction->op == GD_OP_LDU || instruction->op == GD_OP_MOV) &&
        match->vector > 1 &&
        (match->need.version < 88 ||
         (match->spaces[0].length && match->spaces[0].text[0] != 'g')) &&
        match->vector * read_type(match->types[0].text, match->types[0].length).bytes > 16)
        return tell(&fit, instruction->opcode, "the vector has more than 128 bits");
    fit.position = 0;
    for (uint32_t i = 0; i < match->role_count; i++) {
        const gd_form_role *role = &match->roles[i];
        fit.addresses += role->kind == 'a' || role->kind == 't' || role->kind == 'T';
        if (role->optional && left <= role->needed)
            continue;
        fit.position++;
        if (left == 0)
            return tell(&fit, instruction->token_end - 1, "operand %u is missing",
                        (unsigned)fit.position);
        if (!fits(&fit, index, *role))
            return fault && fault->text[0] ? false
                                           : tell_expected(&fit, operand_at(&fit, index), role);
        index = operand_at(&fit, index)->end;
        left--;
    }
    fit.position++;
    if (left)
        return tell(&fit, operand_at(&fit, index)->token, "operand %u is one too many",
                    (unsigned)fit.position);
    return (instruction->op != GD_OP_VMAD || fits_signs(&fit)) &&
           (instruction->op != GD_OP_CREATEPOLICY || fits_sizes(&fit));
}
