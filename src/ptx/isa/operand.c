/* Operands against the roles and types of a form. The rules are those that ptxas keeps, which are
 * wider than the ISA's in places: an integer register serves .f16x2, a function's name any
 * source. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "ptx/isa/operand.h"

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
        uint8_t bytes;
    } packed[] = {{"tf32", 4},    {"u16x2", 4},  {"s16x2", 4},  {"e4m3x2", 2},
                  {"e5m2x2", 2},  {"e2m3x2", 2}, {"e3m2x2", 2}, {"e2m1x2", 1},
                  {"ue8m0x2", 2}, {"e4m3x4", 4}, {"e5m2x4", 4}};

    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (strlen(packed[i].name) == length && memcmp(packed[i].name, name, length) == 0)
            return (gd_value_type){.name = packed[i].name,
                                   .class = CLASS_FLOAT,
                                   .bytes = packed[i].bytes,
                                   .never_wider = true};
    }
    return (gd_value_type){.name = "", .class = CLASS_OPAQUE};
}

static gd_value_type read_type(const char *name, size_t length)
{
    for (uint8_t i = 1; i < GD_TYPE_COUNT; i++) {
        if (strlen(gd_ptx_types[i].name) == length &&
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
static bool is_hexadecimal(const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(module, operand->token + 1, &length);

    return length > 2 && text[0] == '0' && strchr("fFdD", text[1]);
}

/* Whether a constant is a value of a type. An expression of fractions is one of either size. */
static bool is_constant_of(const gd_ptx_module *module, const gd_ptx_operand *operand,
                           const gd_value_type *wanted)
{
    bool fraction = operand->kind == GD_OPERAND_SINGLE || operand->kind == GD_OPERAND_DOUBLE;

    uint32_t first = gd_token_kind(module->tokens.list[operand->token]);
    for (uint32_t i = operand->token;
         operand->kind == GD_OPERAND_EXPRESSION && i < operand->token_end; i++)
        fraction |= gd_token_kind(module->tokens.list[i]) == GD_TOKEN_FLOAT;
    if (fraction &&
        (first == '!' || first == '~' || (first == '-' && is_hexadecimal(module, operand))))
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
    into->low = into->high = (uint16_t)strtoul(*text + 1, &end, 10);
    into->powers = *end == '/';
    while (*end == '-' || *end == '/')
        into->high = (uint16_t)strtoul(end + 1, &end, 10);
    *text = end;
}

/* Whether an integer constant is one that the role has. */
static bool is_in_range(const gd_ptx_operand *operand, const gd_form_role *role)
{
    uint64_t value = role->type.bytes == 8 ? operand->value : (uint32_t)operand->value;

    if (operand->kind == GD_OPERAND_SYMBOL)
        value = 32; /* WARP_SZ */
    else if (operand->kind != GD_OPERAND_INTEGER)
        return true;
    if (role->multiple > 1 && value % role->multiple)
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
    } else if (*at == '.' && into->kind == 'i') {
        read_range(&at, into);
    } else if (*at == '.') {
        size_t length = strcspn(++at, "|&*_?<% ");
        into->type = read_type(at, length);
        at += length;
    } else if (into->kind == 'h' || into->kind == 'm') {
        into->type = into->kind == 'h' ? read_type("u64", 3) : read_type("b16", 3);
    }
    if (*at == '<') {
        char *end;
        into->ranged = true;
        into->high = (uint16_t)strtoul(at + 1, &end, 10);
        at = end;
    }
    if (*at == '%') {
        char *end;
        into->multiple = (uint8_t)strtoul(at + 1, &end, 10);
        at = end;
    }
    if (*at == '|' || *at == '&')
        into->pair = *at++;
    if (*at == '*') {
        at++;
        into->vector = read_vector(match, &at);
        into->loose = into->type.class == CLASS_FLOAT && (numbered || into->type.bytes == 8);
    }
    if (*at == '!') {
        into->whole = true;
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
    return role->kind == 'd' || role->kind == 'D' || role->kind == 'y';
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
    const char *sum = operand->flags & GD_OPERAND_OFFSET ? " plus a constant" : "";

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

static void describe_role(const gd_form_role *role, char *text, size_t capacity)
{
    const char *wider =
        (role->kind == 'D' || role->kind == 'S') && !role->type.never_wider ? " or wider" : "";
    char vector[40] = "";

    if (role->vector)
        snprintf(vector, sizeof vector, "a vector of %u: ", (unsigned)role->vector);
    switch (role->kind) {
    case 'i':
        if (role->ranged)
            snprintf(text, capacity,
                     role->powers ? "a power of two from %u to %u"
                                  : "an integer constant from %u to %u",
                     (unsigned)role->low, (unsigned)role->high);
        else
            snprintf(text, capacity, "an integer constant");
        return;
    case 'Q':
    case 'U':
        snprintf(text, capacity, "a .b32 register%s", role->kind == 'U' ? " or constant" : "");
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
    case 'P':
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
        snprintf(text, capacity, "%sa .%s%s register%s", vector, role->type.name, wider,
                 is_destination(role) || role->kind == 'r' ? "" : " or constant");
    }
}

static bool tell_expected(const fitting *fit, const gd_ptx_operand *operand,
                          const gd_form_role *role)
{
    char found[64], expected[100];

    if (!fit->fault)
        return false;
    describe(fit, operand, found, sizeof found);
    describe_role(role, expected, sizeof expected);
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
        return !gd_is_special_register(name, length);
    return operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE &&
           !is_constant(fit, operand);
}

/* The elements of a vector of floats may be integers of their size. */
static bool is_loosely(uint8_t declared, const gd_form_role *role)
{
    return role->loose && classes[declared] == CLASS_INTEGER &&
           gd_ptx_types[declared].bytes == role->type.bytes;
}

static bool fits_register(const fitting *fit, const gd_ptx_operand *operand,
                          const gd_form_role *role, bool wider)
{
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];

    if (operand->flags & GD_OPERAND_OFFSET) {
        bool whole = !is_destination(role) && !operand->component && !role->vector &&
                     !(operand->flags & (GD_OPERAND_MINUS | GD_OPERAND_NOT));
        return whole && (role->type.class == CLASS_INTEGER || role->type.class == CLASS_BITS ||
                         holds(symbol->type, &role->type, wider));
    }
    if (operand->flags & (GD_OPERAND_MINUS | GD_OPERAND_NOT) && role->type.class != CLASS_PREDICATE)
        return false;
    if (operand->flags & (GD_OPERAND_NOT | GD_OPERAND_MINUS) && is_destination(role))
        return false;
    if (operand->component && symbol->vector == 1)
        return false;
    return holds(symbol->type, &role->type, wider) || is_loosely(symbol->type, role);
}

/* Special registers of four parts have one named, others none; those of 64 bits are moved as such,
 * and others are not. */
static bool fits_special(const fitting *fit, const gd_ptx_operand *operand,
                         const gd_form_role *role)
{
    static const char *const vectors[] = {"%tid",           "%ntid",          "%ctaid",
                                          "%nctaid",        "%clusterid",     "%nclusterid",
                                          "%cluster_ctaid", "%cluster_nctaid"};
    static const char *const wide[] = {"%clock64", "%globaltimer", "%current_graph_exec"};
    uint32_t length;
    const char *name = name_of(fit, operand, &length);
    bool vector = false, is_wide = length == 7 && memcmp(name, "%gridid", 7) == 0;

    if (operand->flags)
        return false;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        vector |= strlen(vectors[i]) == length && memcmp(vectors[i], name, length) == 0;
    if (vector ? operand->component < 1 || operand->component > 4 : operand->component != 0)
        return vector && !operand->component && (role->vector || fit->match->vector > 1);
    if (role->kind != 'z' || is_wide)
        return true;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        is_wide |= strlen(wide[i]) == length && memcmp(wide[i], name, length) == 0;
    is_wide |= length > 3 && memcmp(name + length - 3, "_64", 3) == 0;
    return is_wide == (role->type.bytes == 8);
}

/* A scalar: a register, or where the role has them, a constant or a symbol. */
static bool fits_scalar(const fitting *fit, const gd_ptx_operand *operand, const gd_form_role *role)
{
    bool wider = role->kind == 'D' || role->kind == 'S' || role->kind == 'C';
    bool source = !is_destination(role) && role->kind != 'r';

    if (is_undeclared(fit, operand))
        return true;
    if (operand->kind == GD_OPERAND_REGISTER)
        return fits_register(fit, operand, role, wider);
    if (operand->kind == GD_OPERAND_SINK)
        return role->sink;
    if (!source)
        return false;
    if (is_constant(fit, operand))
        return is_constant_of(fit->module, operand, &role->type) && is_in_range(operand, role);
    if (is_function(fit, operand))
        return true;
    if (operand->kind == GD_OPERAND_SPECIAL)
        return (role->kind == 'C' || role->kind == 'z') && role->type.class != CLASS_FLOAT &&
               fits_special(fit, operand, role);
    if (operand->kind != GD_OPERAND_SYMBOL || role->type.class == CLASS_FLOAT ||
        role->type.class == CLASS_PREDICATE)
        return false;
    if (fit->module->symbols[operand->symbol].kind == GD_SYMBOL_LABEL)
        return false;
    return role->kind == 'x' || role->kind == 'z' ||
           (operand->flags & GD_OPERAND_OFFSET && !role->vector);
}

/* The registers among a vector's elements have one size and type; those of bits go with any. A
 * vector of nothing but '_' has none. */
static bool elements_agree(const fitting *fit, const gd_ptx_operand *vector, uint32_t index)
{
    uint8_t type = GD_TYPE_NONE;
    bool sinks = true;

    for (uint32_t i = index + 1; i < vector->end; i = operand_at(fit, i)->end) {
        const gd_ptx_operand *element = operand_at(fit, i);
        sinks = sinks && element->kind == GD_OPERAND_SINK;
        if (element->kind != GD_OPERAND_REGISTER)
            continue;
        uint8_t next = fit->module->symbols[element->symbol].type;
        if (type != GD_TYPE_NONE &&
            (gd_ptx_types[next].bytes != gd_ptx_types[type].bytes ||
             (next != type && classes[next] != CLASS_BITS && classes[type] != CLASS_BITS &&
              (classes[next] != CLASS_INTEGER || classes[type] != CLASS_INTEGER))))
            return tell(fit, element->token, "operand %u mixes .%s and .%s registers",
                        (unsigned)fit->position, gd_ptx_types[type].name, gd_ptx_types[next].name);
        if (type == GD_TYPE_NONE || classes[type] == CLASS_BITS)
            type = next;
    }
    return !sinks ||
           tell(fit, vector->token, "operand %u has no element but '_'", (unsigned)fit->position);
}

/* mov packs and unpacks (PTX ISA 9.7.9.10): the elements make up the whole. */
static bool fits_pack(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                      const gd_form_role *role)
{
    uint32_t count = 0, bytes = 0;

    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end)
        count++;
    if (count == 0 || role->type.class != CLASS_BITS || role->type.bytes % count)
        return false;
    bytes = role->type.bytes / count;
    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end) {
        const gd_ptx_operand *element = operand_at(fit, i);
        if (is_undeclared(fit, element) || (element->kind == GD_OPERAND_SINK && role->kind == 'y'))
            continue;
        if (element->kind == GD_OPERAND_REGISTER
                ? element->flags & GD_OPERAND_OFFSET ||
                      gd_ptx_types[fit->module->symbols[element->symbol].type].bytes != bytes
                : role->kind == 'y' || !is_constant(fit, element))
            return false;
    }
    return elements_agree(fit, operand, index);
}

static bool fits_vector(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                        gd_form_role role)
{
    uint32_t count = 0;

    if (operand->kind == GD_OPERAND_REGISTER) {
        const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
        return symbol->vector == role.vector &&
               (holds(symbol->type, &role.type, true) || is_loosely(symbol->type, &role));
    }
    if (operand->kind == GD_OPERAND_SINK)
        return role.sink;
    if (operand->kind != GD_OPERAND_VECTOR)
        return is_undeclared(fit, operand);
    role.sink = is_destination(&role) && !role.whole;
    for (uint32_t i = index + 1; i < operand->end; i = operand_at(fit, i)->end, count++) {
        const gd_ptx_operand *element = operand_at(fit, i);
        if (element->kind != GD_OPERAND_SPECIAL && !fits_scalar(fit, element, &role))
            return tell_expected(fit, element, &role);
    }
    if (count == role.vector)
        return elements_agree(fit, operand, index);
    return tell(fit, operand->token, "operand %u has %u elements; %u are expected",
                (unsigned)fit->position, (unsigned)count, (unsigned)role.vector);
}

/* Whether a variable lies in the state space that the instruction names; without one, the address
 * is generic. */
static bool is_in_space(const fitting *fit, const gd_ptx_operand *address)
{
    const gd_modifier *space = &fit->match->spaces[fit->addresses > 1];
    const gd_ptx_symbol *symbol = &fit->module->symbols[address->symbol];
    static const char *const names[] = {
        [GD_SPACE_CONST] = "const", [GD_SPACE_GLOBAL] = "global", [GD_SPACE_LOCAL] = "local",
        [GD_SPACE_PARAM] = "param", [GD_SPACE_SHARED] = "shared", [GD_SPACE_TEX] = NULL};

    if (symbol->kind == GD_SYMBOL_FUNCTION || symbol->kind == GD_SYMBOL_LABEL)
        return false;
    if (fit->instruction->op == GD_OP_TXQ || fit->instruction->op == GD_OP_SUQ)
        return true;        /* a .texref, .samplerref or .surfref of the module */
    if (fit->addresses > 2) /* the mbarrier of a copy */
        return symbol->space == GD_SPACE_SHARED;
    if (symbol->space >= sizeof names / sizeof names[0] || !names[symbol->space] || !space->length)
        return fit->addresses > 1 ||
               (symbol->space != GD_SPACE_PARAM && symbol->space != GD_SPACE_CONST &&
                (classes[symbol->type] != CLASS_OPAQUE || symbol->space != GD_SPACE_GLOBAL));
    if (symbol->kind == GD_SYMBOL_PARAMETER && fit->instruction->op == GD_OP_ST &&
        fit->module->functions[fit->function].flags & GD_FUNCTION_ENTRY)
        return false; /* an entry's parameters are read only */
    size_t length = strlen(names[symbol->space]);
    return space->length >= length && memcmp(space->text, names[symbol->space], length) == 0;
}

/* Expressions that begin with a name: %rd1+4*2 in brackets, and table[2] without them. */
static bool begins_with_name(const fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_EXPRESSION &&
           gd_token_kind(fit->module->tokens.list[operand->token + 1]) != '-' &&
           gd_token_kind(fit->module->tokens.list[operand->token]) == GD_TOKEN_NAME;
}

static bool fits_address(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                         bool tensor_memory)
{
    if (operand->kind != GD_OPERAND_MEMORY)
        return begins_with_name(fit, operand) &&
               gd_token_kind(fit->module->tokens.list[operand->token + 1]) == '[';
    const gd_ptx_operand *address = operand_at(fit, index + 1);
    if (operand->end != address->end)
        return tell(fit, operand_at(fit, address->end)->token,
                    "operand %u is an address in brackets with a comma", (unsigned)fit->position);
    if (address->kind == GD_OPERAND_SYMBOL && address->symbol != GD_PTX_NONE)
        return is_in_space(fit, address) ||
               tell(fit, address->token, "operand %u does not lie in the instruction's state space",
                    (unsigned)fit->position);
    if (address->kind != GD_OPERAND_REGISTER) {
        const gd_modifier *space = &fit->match->spaces[0];
        bool local = space->length == 5 && memcmp(space->text, "local", 5) == 0;
        return local || (address->kind == GD_OPERAND_SPECIAL && !address->component) ||
               is_undeclared(fit, address) || begins_with_name(fit, address) ||
               tell(fit, address->token,
                    "operand %u is neither a register nor a variable, and is not in .local",
                    (unsigned)fit->position);
    }
    const gd_ptx_symbol *symbol = &fit->module->symbols[address->symbol];
    uint8_t class = classes[symbol->type];
    if (tensor_memory && gd_ptx_types[symbol->type].bytes != 4)
        return tell(fit, address->token, "an address of tensor memory is held by 32 bits");
    if ((class == CLASS_INTEGER || class == CLASS_BITS) && gd_ptx_types[symbol->type].bytes <= 8)
        return true;
    return tell(fit, address->token,
                "a .%s register holds no address; one of integers or bits does",
                gd_ptx_types[symbol->type].name);
}

/* Coordinates that are integers, and the index of an array of textures, are held by no register of
 * floats. */
static bool fits_coordinates(const fitting *fit, uint32_t index)
{
    const gd_ptx_operand *all = operand_at(fit, index);
    const gd_modifier *type = &fit->match->types[1];
    bool integers = type->length == 3 && type->text[0] == 's';
    uint32_t first = all->kind == GD_OPERAND_VECTOR ? index + 1 : index;

    for (uint32_t i = first; i < all->end; i = operand_at(fit, i)->end) {
        const gd_ptx_operand *one = operand_at(fit, i);
        if (type->length && (integers || (fit->match->array && i == first)) &&
            one->kind == GD_OPERAND_REGISTER &&
            classes[fit->module->symbols[one->symbol].type] == CLASS_FLOAT)
            return tell(fit, one->token, "operand %u has a .%s register among its integers",
                        (unsigned)fit->position,
                        gd_ptx_types[fit->module->symbols[one->symbol].type].name);
    }
    return true;
}

/* [map, {coordinates}], [texture, {coordinates}] or [texture, sampler, {coordinates}] */
static bool fits_tensor(const fitting *fit, const gd_ptx_operand *operand, uint32_t index,
                        const gd_form_role *role)
{
    uint32_t next = index + 1, count = 0;

    if (operand->kind != GD_OPERAND_MEMORY)
        return false;
    for (uint32_t i = next; i < operand->end; i = operand_at(fit, i)->end)
        count++;
    if (role->kind == 'T') {
        for (uint32_t last = next; last < operand->end; last = operand_at(fit, last)->end)
            next = last;
        return (count == 2 || count == 3) && fits_coordinates(fit, next);
    }
    next = operand_at(fit, next)->end;
    return count == 2 && operand_at(fit, next)->kind == GD_OPERAND_VECTOR &&
           fits_vector(fit, operand_at(fit, next), next, *role);
}

static bool fits_predicate(const fitting *fit, const gd_ptx_operand *operand)
{
    if (operand->kind == GD_OPERAND_REGISTER)
        return fit->module->symbols[operand->symbol].type == GD_TYPE_PRED &&
               !(operand->flags & GD_OPERAND_MINUS);
    if (is_undeclared(fit, operand))
        return true;
    return is_constant(fit, operand) && operand->kind != GD_OPERAND_SINGLE &&
           operand->kind != GD_OPERAND_DOUBLE;
}

static bool fits_label(const fitting *fit, const gd_ptx_operand *operand)
{
    return is_undeclared(fit, operand) ||
           (operand->kind == GD_OPERAND_SYMBOL && operand->symbol != GD_PTX_NONE &&
            !operand->flags && fit->module->symbols[operand->symbol].kind == GD_SYMBOL_LABEL);
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
    role.vector = 0;
    role.sink = pair == '|' && first->kind != GD_OPERAND_SINK;
    role.type = predicate;
    return fits_scalar(fit, second, &role) || tell_expected(fit, second, &role);
}

/* mov.b64 of a .v2 .u32 register. */
static bool is_packed_register(const fitting *fit, const gd_ptx_operand *operand,
                               const gd_form_role *role)
{
    if (operand->kind != GD_OPERAND_REGISTER || operand->component || operand->flags)
        return false;
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
    return symbol->vector > 1 && role->type.class == CLASS_BITS &&
           gd_ptx_types[symbol->type].bytes * symbol->vector == role->type.bytes;
}

/* Instructions in which ptxas takes {%r1} for %r1. */
static bool takes_vector_of_one(const fitting *fit)
{
    switch (fit->instruction->op) {
    case GD_OP_LD:
    case GD_OP_LDU:
    case GD_OP_ST:
    case GD_OP_SULD:
    case GD_OP_SUST:
        return true;
    default:
        return false;
    }
}

/* What video instructions work on (PTX ISA 9.7.20). */
static bool fits_word(const fitting *fit, const gd_ptx_operand *operand)
{
    if (operand->kind != GD_OPERAND_REGISTER)
        return false;
    uint8_t type = fit->module->symbols[operand->symbol].type;
    return gd_ptx_types[type].bytes == 4 &&
           (classes[type] == CLASS_INTEGER || classes[type] == CLASS_BITS || type == GD_TYPE_F16X2);
}

static bool fits(const fitting *fit, uint32_t index, gd_form_role role)
{
    const gd_ptx_operand *operand = operand_at(fit, index);

    if (role.pair && operand->kind == GD_OPERAND_PAIR)
        return fits_pair(fit, index, role);
    if (role.pair == '&')
        return tell(fit, operand->token, "operand %u has a predicate behind a '|' here",
                    (unsigned)fit->position);
    switch (role.kind) {
    case 'a':
    case 'A':
        return fits_address(fit, operand, index, role.kind == 'A');
    case 't':
    case 'T':
        return fits_tensor(fit, operand, index, &role);
    case 'Q':
    case 'U':
        if (role.kind == 'U' && is_constant(fit, operand))
            return operand->kind != GD_OPERAND_SINGLE && operand->kind != GD_OPERAND_DOUBLE;
        return is_undeclared(fit, operand) || fits_word(fit, operand);
    case 'q':
        return true;
    case 'p':
        return fits_predicate(fit, operand);
    case 'P':
        return fits_predicate(fit, operand) &&
               (operand->kind != GD_OPERAND_INTEGER || operand->value <= 1);
    case 'c':
        return operand->kind == GD_OPERAND_VECTOR || is_undeclared(fit, operand) ||
               (operand->kind == GD_OPERAND_REGISTER &&
                fit->module->symbols[operand->symbol].vector > 1);
    case 'l':
        return fits_label(fit, operand);
    case 'i':
        return is_undeclared(fit, operand) ||
               (is_constant(fit, operand) && operand->kind != GD_OPERAND_SINGLE &&
                operand->kind != GD_OPERAND_DOUBLE && is_in_range(operand, &role));
    case 'k':
        return operand->kind == GD_OPERAND_INTEGER &&
               (operand->value + 1 == 0 || operand->value == 1);
    case 'n':
        return operand->kind == GD_OPERAND_SINK;
    case 'h':
    case 'm':
        return fits_scalar(fit, operand, &role);
    case 'y':
    case 'z':
        if (fit->match->vector > 1 && operand->kind == GD_OPERAND_VECTOR) {
            role.vector = fit->match->vector;
            return fits_vector(fit, operand, index, role);
        }
        if (operand->kind == GD_OPERAND_VECTOR)
            return fits_pack(fit, operand, index, &role);
        if (is_packed_register(fit, operand, &role))
            return true;
        break;
    default:
        break;
    }
    if (!role.vector && operand->kind == GD_OPERAND_VECTOR && takes_vector_of_one(fit) &&
        operand_at(fit, index + 1)->end == operand->end)
        operand = operand_at(fit, index + 1);
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
        match->vector > 1 && match->form->version < 88 &&
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
    return true;
}

bool gd_is_special_register(const char *name, uint32_t length)
{
    static const char *const names[] = {
#define GD_SPECIAL(name) name,
#include "ptx/isa/special.def"
#undef GD_SPECIAL
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t bytes = strlen(names[i]);
        bool digits = names[i][bytes - 1] == '*';
        bytes -= digits;
        if (length < bytes || memcmp(names[i], name, bytes) != 0 || (!digits && length != bytes))
            continue;
        uint32_t at = (uint32_t)bytes;
        while (digits && at < length && name[at] >= '0' && name[at] <= '9')
            at++;
        if (at == length)
            return true;
    }
    return false;
}
