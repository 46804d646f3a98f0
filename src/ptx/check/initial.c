/* Initial values as ptxas takes them (PTX ISA 5.4.4). */
#include <string.h>

#include "ptx/check/declaration.h"
#include "ptx/text/constant.h"

enum { DIMENSIONS = 8 };

typedef struct shape {
    uint64_t dimensions[DIMENSIONS]; /* 0: any number */
    uint32_t count;
    bool vector; /* the last is that of a vector, which must be whole */
} shape;

static void read_shape(const gd_validity *check, const gd_ptx_symbol *symbol, uint32_t *token,
                       shape *of)
{
    uint32_t length;

    *of = (shape){.count = 0};
    while (gd_declared_kind(check, *token) == '[') {
        uint64_t value = 0;
        bool empty = gd_declared_kind(check, *token + 1) == ']';
        const char *text = gd_ptx_token_text(check->module, *token + 1, &length);
        if (!empty)
            gd_ptx_integer_read(text, length, &value);
        if (of->count < DIMENSIONS)
            of->dimensions[of->count++] = value;
        *token += empty ? 2 : 3;
    }
    if (symbol->vector > 1 && of->count < DIMENSIONS) {
        of->dimensions[of->count++] = symbol->vector;
        of->vector = true;
    }
}

static bool is_declared(gd_validity *check, uint32_t token)
{
    const gd_ptx_module *module = check->module;
    uint32_t length;
    const char *text = gd_ptx_token_text(module, token, &length);
    if (length == 7 && !memcmp(text, "WARP_SZ", 7))
        return true;
    uint32_t name = gd_ptx_name_find(&module->names, module->text, text, length);
    uint32_t symbol = name == GD_PTX_NONE ? name : module->names.list[name].symbol;

    if (symbol != GD_PTX_NONE && module->symbols[symbol].space == GD_SPACE_SHARED)
        return gd_declared_refuse(check, token, "does not lie in .global or .const");
    if (symbol != GD_PTX_NONE && gd_declared_before(check, symbol, token))
        return true;
    gd_validity_add(check, GD_CODE_GD013, token, NULL, "%.*s is not declared in front of this",
                    gd_declared_bytes(length), text);
    return false;
}

/* 1e400; 0f7F800000 means infinity. */
static bool is_beyond_doubles(const gd_validity *check, uint32_t token)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length);
    bool single;

    return (length < 2 || !strchr("fFdD", text[1])) &&
           gd_ptx_float_read(text, length, &single) == UINT64_C(0x7ff0000000000000);
}

static bool is_name(const gd_validity *check, uint32_t token)
{
    return gd_declared_kind(check, token) == GD_TOKEN_NAME &&
           !gd_ptx_token_is(check->module, token, "WARP_SZ");
}

/* name, generic(name), either plus integers. false: there is none, or it is no whole one. */
static bool check_address(gd_validity *check, uint32_t token, uint32_t end)
{
    uint32_t name = token, next = token + 1;
    uint64_t value;

    if (gd_ptx_token_is(check->module, token, "generic") && next + 3 <= end &&
        gd_declared_kind(check, next) == '(' && gd_declared_kind(check, next + 2) == ')') {
        name = next + 1;
        next += 3;
    }
    if (!is_name(check, name))
        return gd_declared_refuse(check, name, "is no variable's name");
    if (!is_declared(check, name))
        return false;
    if (next == end)
        return true;
    if (gd_declared_kind(check, next) == '-')
        return gd_declared_refuse(check, next, "stands behind an address, to which only + adds");
    return (gd_declared_kind(check, next) == '+' &&
            gd_constant_evaluate(check->module, next + 1, end, &value)) ||
           gd_declared_refuse(check, next, "stands behind an address; + and an integer may");
}

/* 0xFF00(address): one of its bytes, of which the mask has all bits. */
static bool check_mask(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t token,
                       uint32_t end)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length);
    uint64_t mask = 0;

    if (!check_address(check, token + 2, end - 1))
        return false;
    gd_ptx_integer_read(text, length, &mask);
    while (mask && !(mask & UINT8_MAX))
        mask >>= 8;
    if (mask != UINT8_MAX)
        return gd_declared_refuse(check, token, "is no mask of one byte, as 0xFF00 is");
    return symbol->type == GD_TYPE_U8 || symbol->type == GD_TYPE_U32 ||
           symbol->type == GD_TYPE_U64 ||
           gd_declared_refuse(check, token, "masks an address, which .u8, .u32 and .u64 hold");
}

/* Expressions of several tokens: of integers or of fractions, an address, or a byte of one. */
static bool check_expression(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t token,
                             uint32_t end)
{
    const bool fraction = symbol->type == GD_TYPE_F32 || symbol->type == GD_TYPE_F64;
    const bool bits = symbol->type >= GD_TYPE_B8 && symbol->type <= GD_TYPE_B128;

    if (token == end) {
        gd_validity_add(check, GD_CODE_GD002, end, NULL, "found '%c', expected a value",
                        (int)gd_declared_kind(check, end));
        return false;
    }
    if (gd_declared_kind(check, token) == GD_TOKEN_INTEGER &&
        gd_declared_kind(check, token + 1) == '(' && gd_declared_kind(check, end - 1) == ')' &&
        gd_declared_kind(check, token + 2) == GD_TOKEN_NAME)
        return check_mask(check, symbol, token, end);
    if (is_name(check, token))
        return check_address(check, token, end) &&
               (symbol->type == GD_TYPE_U32 || symbol->type == GD_TYPE_U64 ||
                gd_declared_refuse(check, token, "begins an address, which .u32 and .u64 hold"));
    switch (gd_constant_classify(check->module, token, end)) {
    case GD_CONSTANT_INTEGER:
        return !fraction ||
               gd_declared_refuse(check, token,
                                  "begins an integer, and the variable is none; write 1.0");
    case GD_CONSTANT_FRACTION:
        return fraction || bits ||
               gd_declared_refuse(check, token, "begins no integer, and the variable is one");
    default:
        return gd_declared_refuse(check, token,
                                  "begins no constant expression of integers or of fractions");
    }
}

/* One value: literals of the type's kind, and of names those that lie in memory. */
static bool check_value(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t token)
{
    uint32_t kind = gd_declared_kind(check, token);
    bool fraction = symbol->type == GD_TYPE_F32 || symbol->type == GD_TYPE_F64;
    bool bits = symbol->type >= GD_TYPE_B8 && symbol->type <= GD_TYPE_B128;

    if (kind == GD_TOKEN_NAME && !is_declared(check, token))
        return false;
    if (kind == GD_TOKEN_NAME && fraction)
        return gd_declared_refuse(check, token,
                                  "is an address, and the variable is one of numbers");
    if (is_name(check, token) && symbol->type != GD_TYPE_U32 && symbol->type != GD_TYPE_U64)
        return gd_declared_refuse(check, token, "is an address, which .u32 and .u64 hold");
    if (kind == GD_TOKEN_STRING)
        return gd_declared_refuse(check, token, "is a text, and PTX has none as values");
    if (kind == GD_TOKEN_FLOAT && is_beyond_doubles(check, token))
        return gd_declared_refuse(check, token, "is beyond the range of .f64");
    if (kind == GD_TOKEN_INTEGER && fraction)
        return gd_declared_refuse(check, token,
                                  "is an integer, and the variable is none; write 1.0");
    if (kind == GD_TOKEN_FLOAT && !fraction && !bits)
        return gd_declared_refuse(check, token, "is no integer, and the variable is one");
    return true;
}

/* From the value's first token on; *token is behind it. */
static bool check_values(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t *token,
                         const shape *of, uint32_t depth)
{
    uint64_t count = 0;
    uint32_t open = *token;

    if (depth == of->count || gd_declared_kind(check, *token) != '{') {
        uint32_t inside = 0, first = *token;
        if (depth < of->count)
            return gd_declared_refuse(check, *token,
                                      "is one value where a list in braces is expected");
        if (gd_declared_kind(check, *token) == '{')
            return gd_declared_refuse(check, *token, "begins a list where one value is expected");
        for (;; ++*token) {
            uint32_t kind = gd_declared_kind(check, *token);
            if (kind == ';' || kind == GD_TOKEN_END ||
                (inside == 0 && (kind == ',' || kind == '}')))
                break;
            inside += kind == '(';
            inside -= kind == ')';
        }
        return *token != first + 1 ? check_expression(check, symbol, first, *token)
                                   : check_value(check, symbol, first);
    }
    if (gd_declared_kind(check, *token + 1) == '}' && of->dimensions[depth] &&
        !(of->vector && depth + 1 == of->count)) { /* no values */
        *token += 2;
        return true;
    }
    do {
        ++*token;
        if (!check_values(check, symbol, token, of, depth + 1))
            return false;
        if (++count > of->dimensions[depth] && of->dimensions[depth])
            return gd_declared_refuse(check, open,
                                      "begins a list of more values than there are elements");
    } while (gd_declared_kind(check, *token) == ',');
    if (of->vector && depth + 1 == of->count && count != of->dimensions[depth])
        return gd_declared_refuse(check, open, "begins a list of fewer values than the vector has");
    if (gd_declared_kind(check, *token) != '}') {
        gd_validity_add(check, GD_CODE_GD002, *token, NULL, "found '%c', expected ',' or '}'",
                        (int)gd_declared_kind(check, *token));
        return false;
    }
    ++*token;
    return true;
}

void gd_check_initialiser(gd_validity *check, const gd_ptx_symbol *symbol)
{
    uint32_t token = symbol->token + 1;
    shape of;

    if (!(symbol->flags & GD_SYMBOL_INITIALISED) || gd_is_reference(symbol))
        return;
    if (symbol->space != GD_SPACE_GLOBAL && symbol->space != GD_SPACE_CONST) {
        gd_declared_complain(check, symbol,
                             "has an initial value, which .global and .const alone can have");
        return;
    }
    if (symbol->link & GD_LINK_EXTERN) {
        gd_declared_complain(check, symbol, "is .extern and has an initial value");
        return;
    }
    if (symbol->type == GD_TYPE_F16 || symbol->type == GD_TYPE_F16X2) {
        gd_declared_complain(check, symbol,
                             "has an initial value, which this type cannot have; use .b16");
        return;
    }
    read_shape(check, symbol, &token, &of);
    if (gd_declared_kind(check, token) == '=') {
        token++;
        check_values(check, symbol, &token, &of, 0);
    }
}
