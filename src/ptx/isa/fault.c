#include "ptx/isa/fault.h"

#include <stdio.h>
#include <string.h>

#include "base/format.h"

enum { FOUND = 64, EXPECTED = 100 };

/* ---- what was found ---- */

static const char *const kinds[] = {[GD_OPERAND_SPECIAL] = "a special register",
                                    [GD_OPERAND_SINK] = "'_'",
                                    [GD_OPERAND_SINGLE] = "a floating-point constant",
                                    [GD_OPERAND_DOUBLE] = "a floating-point constant",
                                    [GD_OPERAND_INTEGER] = "an integer constant",
                                    [GD_OPERAND_EXPRESSION] = "an integer constant",
                                    [GD_OPERAND_MEMORY] = "an address in brackets",
                                    [GD_OPERAND_VECTOR] = "a vector",
                                    [GD_OPERAND_LIST] = "a list",
                                    [GD_OPERAND_PAIR] = "a pair"};

static const char *name_of_symbol(const gd_fitting *fit, uint32_t symbol)
{
    switch (symbol == GD_PTX_NONE ? UINT8_MAX : fit->module->symbols[symbol].kind) {
    case UINT8_MAX:
        return "a name";
    case GD_SYMBOL_LABEL:
        return "a label";
    case GD_SYMBOL_PARAMETER:
        return "a parameter";
    case GD_SYMBOL_FUNCTION:
        return "a function";
    default:
        return "a variable";
    }
}

static void describe(const gd_fitting *fit, const gd_ptx_operand *operand, char text[FOUND])
{
    static const char *const vectors[] = {[2] = ".v2 ", [4] = ".v4 ", [8] = ".v8 "};

    if (operand->kind != GD_OPERAND_REGISTER) {
        snprintf(text, FOUND, "%s",
                 operand->kind == GD_OPERAND_SYMBOL ? name_of_symbol(fit, operand->symbol)
                                                    : kinds[operand->kind]);
        return;
    }
    const gd_ptx_symbol *symbol = &fit->module->symbols[operand->symbol];
    const char *vector =
        symbol->vector < sizeof vectors / sizeof vectors[0] ? vectors[symbol->vector] : NULL;
    snprintf(text, FOUND, "%sa %s.%s register%s", operand->component ? "a part of " : "",
             vector ? vector : "", gd_ptx_types[symbol->type].name,
             operand->flags & GD_OPERAND_OFFSET  ? " plus a constant"
             : operand->flags & GD_OPERAND_MINUS ? " with a minus"
                                                 : "");
}

/* ---- what was expected ---- */

/* An operand of a video instruction, and its selectors. */
static void describe_word(const gd_form_role *role, char text[EXPECTED])
{
    static const char *const selectors[][2] = {
        [0] = {"", ""},
        [1] = {", perhaps with .b0 to .b3, .h0 or .h1", ", perhaps with .b0 to .b3, .h0 or .h1"},
        [2] = {", perhaps with .h0, .h1 or .h10", ", perhaps with .h and two digits from 0 to 3"},
        [4] = {", perhaps with .b and descending digits from 3 to 0",
               ", perhaps with .b and four digits from 0 to 7"}};

    snprintf(text, EXPECTED, "a .b32 register%s%s", strchr("UV", role->kind) ? " or constant" : "",
             selectors[role->selectors][role->kind != 'Q']);
}

/* The type that registers are declared with which hold a value. */
static const char *name_of_register(const gd_value_type *type)
{
    if (type->class != GD_CLASS_FLOAT || type->type == GD_TYPE_F16 || type->type == GD_TYPE_F16X2 ||
        type->type == GD_TYPE_F32 || type->type == GD_TYPE_F64)
        return type->name;
    return type->bytes == 1 ? "b8" : type->bytes == 2 ? "b16" : type->bytes == 4 ? "b32" : "b64";
}

static void describe_value(const gd_form_role *role, char text[EXPECTED])
{
    const bool wider = strchr("DS", role->kind) && !role->type.never_wider;
    const bool constant = !gd_role_is_destination(role) && role->kind != 'r';
    char vector[40] = "";

    if (role->vector)
        snprintf(vector, sizeof vector, "a vector of %u%s: ", (unsigned)role->vector,
                 role->braces ? " in braces" : "");
    snprintf(text, EXPECTED, "%sa .%s%s register%s", vector, name_of_register(&role->type),
             wider ? " or wider" : "", constant ? " or constant" : "");
}

static void describe_role(const gd_form_role *role, char text[EXPECTED])
{
    static const char *const words[] = {['k'] = "1 or -1",
                                        ['n'] = "'_'",
                                        ['a'] = "an address in brackets",
                                        ['A'] = "an address in brackets",
                                        ['B'] = "an address in brackets or a .u64 register",
                                        ['T'] =
                                            "a texture or surface and coordinates, [name, {...}],",
                                        ['l'] = "a label",
                                        ['p'] = "a predicate",
                                        ['c'] = "a vector",
                                        ['h'] = "the cache policy, a .b64 register",
                                        ['m'] = "the multicast mask, a .b16 register",
                                        ['z'] = NULL};
    const unsigned low = role->low, high = role->high;

    if (words[(unsigned char)role->kind])
        snprintf(text, EXPECTED, "%s", words[(unsigned char)role->kind]);
    else if (strchr("QUVW", role->kind))
        describe_word(role, text);
    else if (role->kind == 't')
        snprintf(text, EXPECTED, "a tensor map and %u coordinates, [map, {...}],",
                 (unsigned)role->vector);
    else if (!strchr("iI", role->kind))
        describe_value(role, text);
    else if (role->ranged && role->multiple)
        snprintf(text, EXPECTED, "a multiple of %u from %u to %u", (unsigned)role->multiple, low,
                 high);
    else if (role->ranged && role->powers)
        snprintf(text, EXPECTED, "a power of two from %u to %u", low, high);
    else if (role->ranged)
        snprintf(text, EXPECTED, "an integer constant from %u to %u", low, high);
    else
        snprintf(text, EXPECTED, "an integer constant%s", role->multiple ? " from 0 on" : "");
}

/* Which constants a source has. */
static void describe_limits(const gd_form_role *role, char text[EXPECTED])
{
    const unsigned multiple = role->multiple, high = role->high;

    if (role->powers)
        snprintf(text, EXPECTED, "a power of two from %u to %u", (unsigned)role->low, high);
    else if (multiple > 1 && role->ranged)
        snprintf(text, EXPECTED, "a multiple of %u up to %u", multiple, high);
    else if (multiple > 1)
        snprintf(text, EXPECTED, "a multiple of %u%s", multiple, role->positive ? " above 0" : "");
    else if (multiple)
        snprintf(text, EXPECTED, "a number above 0");
    else
        snprintf(text, EXPECTED, "at most %u", high);
}

/* ---- telling ---- */

static void write_fault(const gd_fitting *fit, uint32_t token, size_t from, const char *format,
                        va_list arguments)
{
    gd_operand_fault *fault = fit->fault;

    fault->token = token;
    fault->position = fit->position;
    gd_format_list(fault->text + from, sizeof fault->text - from, format, arguments);
}

bool gd_fault_at(const gd_fitting *fit, uint32_t token, const char *format, ...)
{
    va_list arguments;

    if (!fit->fault)
        return false;
    va_start(arguments, format);
    write_fault(fit, token, 0, format, arguments);
    va_end(arguments);
    return false;
}

bool gd_fault_of(const gd_fitting *fit, const gd_ptx_operand *at, const char *format, ...)
{
    va_list arguments;

    if (!fit->fault)
        return false;
    const int before =
        snprintf(fit->fault->text, sizeof fit->fault->text, "operand %u ", (unsigned)fit->position);
    va_start(arguments, format);
    write_fault(fit, at->token, (size_t)before, format, arguments);
    va_end(arguments);
    return false;
}

bool gd_fault_no_address(const gd_fitting *fit, const gd_ptx_operand *address)
{
    char found[FOUND];

    describe(fit, address, found);
    return gd_fault_at(fit, address->token, "%s holds no address; a register of one element does",
                       found);
}

/* Which mistake of a common kind this is. */
static gd_operand_lack name_lack(const gd_fitting *fit, const gd_ptx_operand *operand,
                                 const gd_form_role *role)
{
    if (operand->kind == GD_OPERAND_INTEGER && !role->vector &&
        (role->type.type == GD_TYPE_F32 || role->type.type == GD_TYPE_F64))
        return GD_LACKS_FRACTION;
    if (role->kind == 'a' &&
        (operand->kind == GD_OPERAND_SYMBOL ||
         (operand->kind == GD_OPERAND_REGISTER &&
          gd_ptx_types[fit->module->symbols[operand->symbol].type].bytes >= 4)))
        return GD_LACKS_BRACKETS;
    return fit->fault->lacks;
}

bool gd_fault_expected(const gd_fitting *fit, const gd_ptx_operand *operand,
                       const gd_form_role *role)
{
    char found[FOUND], expected[EXPECTED];
    const bool integer =
        operand->kind == GD_OPERAND_INTEGER || operand->kind == GD_OPERAND_EXPRESSION;

    if (!fit->fault)
        return false;
    fit->fault->lacks = name_lack(fit, operand, role);
    fit->fault->bytes = role->type.bytes;
    if (integer && role->kind == 's' && !gd_role_has(role, fit->module, operand)) {
        describe_limits(role, expected);
        return gd_fault_of(fit, operand, "is out of range; %s is expected", expected);
    }
    describe(fit, operand, found);
    describe_role(role, expected);
    return gd_fault_of(fit, operand, "is %s; %s is expected", found, expected);
}
