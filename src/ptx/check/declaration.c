/* Declarations, directives and functions' heads as ptxas takes them (PTX ISA 5 and 11). The parser
 * keeps what it does not know; here it is an error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/check/validity.h"
#include "ptx/isa/need.h"
#include "ptx/text/constant.h"
#include "ptx/text/word.h"

enum {
    VECTOR_BYTES = 16,
    PARAMETER_BYTES = 4352,        /* of an entry, before PTX ISA 8.1 or sm_70 */
    PARAMETER_BYTES_LARGE = 32764, /* since then */
    CONSTANT_BYTES = 65536,
    ALIGNMENT_PARAMETER = 128, /* the largest of a .func's parameter */
    DIMENSIONS = 8,
    CAPABILITY_F64 = 13
};

#define NO_NUMBER INT64_MIN

/* Where a declaration stands. */
typedef enum place {
    PLACE_MODULE,
    PLACE_BODY,
    PLACE_ENTRY, /* a parameter of an .entry */
    PLACE_FUNC   /* a parameter or result of a .func */
} place;

/* ---- tokens ---- */

static uint32_t kind_of(const gd_validity *check, uint32_t token)
{
    return gd_token_kind(check->module->tokens.list[token]);
}

static int text_bytes(uint32_t length)
{
    return (int)(length < 60 ? length : 60);
}

/* The word that a dotted token is, and its text without the dot. */
static const gd_word *word_at(const gd_validity *check, uint32_t token, const char **text,
                              uint32_t *length)
{
    *text = gd_ptx_token_text(check->module, token, length) + 1;
    return gd_word_find(*text, --*length);
}

static bool is_declared_with(const gd_word *word)
{
    return word->class == GD_WORD_SPACE || word->class == GD_WORD_TYPE ||
           word->class == GD_WORD_LINK || word->class == GD_WORD_ALIGN ||
           word->class == GD_WORD_VECTOR || word->class == GD_WORD_PTR ||
           word->class == GD_WORD_ATTRIBUTE;
}

/* A word that PTX does not have. */
static void tell_word(gd_validity *check, gd_code code, uint32_t token, bool directive)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length);
    gd_guess meant = {.nearest = {.word = text + 1, .bytes = length - 1}};
    char hint[GD_GUESS_BYTES + 20] = "";

    for (uint32_t i = 1; gd_word_at(i)->class != GD_WORD_NONE; i++) {
        if (is_declared_with(gd_word_at(i)) != directive)
            gd_guess_look(&meant, gd_word_at(i)->text, gd_word_at(i)->length);
    }
    if (meant.name[0])
        snprintf(hint, sizeof hint, "did you mean .%s?", meant.name);
    gd_validity_mend_name(check, token, ".", &meant);
    gd_validity_add(check, code, token, hint, "PTX has no %s %.*s",
                    directive ? "directive" : "type or state space", text_bytes(length), text);
}

/* Whether the text's version and target have a word. */
static void check_need(gd_validity *check, uint32_t token, const char *text, uint32_t length)
{
    const gd_need *need = gd_need_of_word(text, length);
    char what[GD_NEED_TEXT];

    if (!need || gd_need_is_met(*need, check->module))
        return;
    gd_need_describe(*need, check->module, what);
    gd_validity_mend_need(check, need->version, need->target);
    gd_validity_collect(check, GD_CODE_GD014, token,
                        (gd_mistake_key){.kind = need->version > check->module->version
                                                     ? GD_MISTAKE_VERSION
                                                     : GD_MISTAKE_TARGET,
                                         .id = 1},
                        NULL, ".%.*s %s", text_bytes(length), text, what);
}

/* ---- one declaration ---- */

/* The words before a declared name in their order; those of one place in any, where ptxas takes
 * several. An entry's parameter may be a pointer, and aligned behind its type. */
typedef enum word_place {
    AT_LINK,
    AT_SPACE,
    AT_VECTOR,
    AT_TYPE,
    AT_POINTER,
    AT_POINTED,
    AT_END
} word_place;

/* What stands before the declared names. */
typedef struct words {
    uint32_t space, type, vector, link, pointer; /* tokens; GD_PTX_NONE: not there */
    word_place reached;
    bool managed;
} words;

static bool refuse(gd_validity *check, uint32_t token, const char *why)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length);

    gd_validity_add(check, GD_CODE_GD016, token, NULL, "%.*s %s", text_bytes(length), text, why);
    return false;
}

/* Whether a word's place is still to come. */
static bool comes(gd_validity *check, uint32_t token, word_place at, words *found)
{
    if (found->reached > at || (found->reached == at && at != AT_SPACE))
        return refuse(check, token,
                      found->reached >= AT_TYPE && at < AT_POINTER
                          ? "stands behind the type; state space, alignment and vector come first"
                      : found->reached == at ? "stands here twice"
                                             : "stands too late among these words");
    found->reached = at;
    return true;
}

static bool take_space(gd_validity *check, uint32_t token, place where, gd_ptx_space space,
                       words *found)
{
    if (found->pointer != GD_PTX_NONE)
        return (space == GD_SPACE_GLOBAL || space == GD_SPACE_SHARED || space == GD_SPACE_CONST ||
                space == GD_SPACE_LOCAL ||
                refuse(check, token, "is no state space that a pointer can have")) &&
               comes(check, token, AT_POINTED, found);
    if (found->space != GD_PTX_NONE)
        return refuse(check, token, "is a second state space");
    if (!comes(check, token, AT_SPACE, found))
        return false;
    found->space = token;
    if (space == GD_SPACE_SREG || (space == GD_SPACE_TEX && check->module->version >= 15))
        return refuse(check, token, "declares nothing in this version of PTX");
    if (where == PLACE_MODULE &&
        (((space == GD_SPACE_REG || space == GD_SPACE_LOCAL) && check->module->version >= 30) ||
         space == GD_SPACE_PARAM))
        return refuse(check, token, "stands in functions only");
    if (where == PLACE_ENTRY && space != GD_SPACE_PARAM)
        return refuse(check, token, "is not .param, in which an entry's parameters are");
    if (where == PLACE_FUNC && space == GD_SPACE_PARAM && check->module->version < 20)
        return refuse(check, token, "is for parameters of .func since PTX ISA 2.0");
    if (where == PLACE_FUNC && space != GD_SPACE_PARAM && space != GD_SPACE_REG)
        return refuse(check, token, "is neither .param nor .reg, in which parameters are");
    return true;
}

static bool take_type(gd_validity *check, uint32_t token, gd_ptx_type type, words *found)
{
    if (found->type != GD_PTX_NONE)
        return (found->pointer != GD_PTX_NONE && type >= GD_TYPE_TEXREF) ||
               refuse(check, token, "is a second type");
    found->type = token;
    found->reached = AT_TYPE;
    return (type != GD_TYPE_BF16 && type != GD_TYPE_BF16X2 && type != GD_TYPE_F32X2) ||
           refuse(check, token, "is a type of instructions only; registers of bits hold it");
}

/* One word; *token is the last of its tokens. false: it was told what is wrong. */
static bool take_word(gd_validity *check, uint32_t *token, place where, words *found)
{
    uint32_t length, at = *token;
    const char *text;
    const gd_word *word = word_at(check, at, &text, &length);

    if (word->class != GD_WORD_TYPE)
        check_need(check, at, text, length);
    switch (word->class) {
    case GD_WORD_SPACE:
        return take_space(check, at, where, (gd_ptx_space)word->value, found);
    case GD_WORD_TYPE:
        return take_type(check, at, (gd_ptx_type)word->value, found);
    case GD_WORD_LINK:
        if (where != PLACE_MODULE)
            return refuse(check, at, "stands in front of what a module declares only");
        if (found->link != GD_PTX_NONE)
            return refuse(check, at, "is a second linking directive");
        found->link = at;
        return found->reached == AT_LINK || refuse(check, at, "stands in front of other words");
    case GD_WORD_VECTOR:
        found->vector = at;
        return (word->value != 8 || refuse(check, at, "is no vector that can be declared")) &&
               comes(check, at, AT_VECTOR, found);
    case GD_WORD_ALIGN:
        ++*token;
        return comes(check, at,
                     where == PLACE_ENTRY && found->reached >= AT_TYPE ? AT_END : AT_SPACE, found);
    case GD_WORD_PTR:
        found->pointer = at;
        return (where == PLACE_ENTRY || refuse(check, at, "is for parameters of entries")) &&
               (found->reached >= AT_TYPE || refuse(check, at, "stands before the type")) &&
               comes(check, at, AT_POINTER, found);
    case GD_WORD_ATTRIBUTE:
        if (!comes(check, at, AT_SPACE, found))
            return false;
        found->managed = gd_ptx_token_is(check->module, at + 2, ".managed");
        if (!found->managed && !gd_ptx_token_is(check->module, at + 2, ".unified"))
            return refuse(check, at + 2, "is no attribute");
        while (kind_of(check, *token) != ')' && kind_of(check, *token) != GD_TOKEN_END)
            ++*token;
        return true;
    default:
        tell_word(check, GD_CODE_GD016, at, false);
        return false;
    }
}

static bool check_words(gd_validity *check, uint32_t token, uint32_t name, place where,
                        words *found)
{
    *found = (words){.space = GD_PTX_NONE,
                     .type = GD_PTX_NONE,
                     .vector = GD_PTX_NONE,
                     .link = GD_PTX_NONE,
                     .pointer = GD_PTX_NONE};
    for (; token < name; token++) {
        if (kind_of(check, token) == GD_TOKEN_DOTTED && !take_word(check, &token, where, found))
            return false;
    }
    if (found->type != GD_PTX_NONE && found->space != GD_PTX_NONE)
        return true;
    gd_validity_add(check, GD_CODE_GD016, name, NULL, "the declaration lacks a %s",
                    found->type == GD_PTX_NONE ? "type" : "state space");
    return false;
}

static bool complain(gd_validity *check, const gd_ptx_symbol *symbol, const char *why)
{
    return refuse(check, symbol->token, why);
}

static bool is_reference(const gd_ptx_symbol *symbol)
{
    return symbol->type == GD_TYPE_TEXREF || symbol->type == GD_TYPE_SAMPLERREF ||
           symbol->type == GD_TYPE_SURFREF;
}

/* [3][]: an empty dimension is the first one, and only where something else tells the size. */
static bool check_dimensions(gd_validity *check, const gd_ptx_symbol *symbol, place where,
                             bool last)
{
    bool first = true;

    for (uint32_t at = symbol->token + 1; kind_of(check, at) == '['; first = false) {
        bool empty = kind_of(check, at + 1) == ']';
        if (empty && !first)
            return complain(check, symbol, "has an empty dimension behind the first one");
        at += empty ? 2 : 3;
    }
    if (where == PLACE_ENTRY && symbol->flags & GD_SYMBOL_UNSIZED)
        return complain(check, symbol, "is a parameter of an entry, which must have a size");
    if (where == PLACE_FUNC)
        return !(symbol->flags & GD_SYMBOL_UNSIZED) || last ||
               complain(check, symbol, "has no size, which the last parameter alone may lack");
    if (symbol->flags & GD_SYMBOL_ARRAY && (symbol->flags & GD_SYMBOL_UNSIZED || !symbol->bytes) &&
        !(symbol->link & GD_LINK_EXTERN) && !(symbol->flags & GD_SYMBOL_INITIALISED))
        return complain(check, symbol, "has no size, and is not .extern");
    return true;
}

static bool check_register(gd_validity *check, const gd_ptx_symbol *symbol)
{
    if (symbol->flags & GD_SYMBOL_ARRAY)
        return complain(check, symbol, "is an array, which registers cannot be");
    if (symbol->type == GD_TYPE_PRED && symbol->vector > 1)
        return complain(check, symbol, "is a vector of predicates, which there are none");
    return true;
}

static bool check_memory(gd_validity *check, const gd_ptx_symbol *symbol, place where, bool managed)
{
    if (symbol->type == GD_TYPE_PRED)
        return complain(check, symbol, "is a predicate outside of .reg");
    if (symbol->flags & GD_SYMBOL_RANGE && where != PLACE_BODY && where != PLACE_MODULE)
        return complain(check, symbol, "is a parameter with a range, which registers alone have");
    if (symbol->space == GD_SPACE_PARAM && symbol->type == GD_TYPE_F16X2 &&
        !(symbol->flags & GD_SYMBOL_ARRAY))
        return complain(check, symbol, "is .f16x2 in .param; use .b32");
    if (symbol->space == GD_SPACE_PARAM && where != PLACE_ENTRY &&
        symbol->alignment > ALIGNMENT_PARAMETER)
        return complain(check, symbol, "is a parameter aligned to more than 128 bytes");
    if (symbol->space == GD_SPACE_PARAM && symbol->vector > 1 && !(symbol->flags & GD_SYMBOL_ARRAY))
        return complain(check, symbol, "is a vector in .param; an array of bytes can be one");
    if (managed && symbol->space != GD_SPACE_GLOBAL)
        return complain(check, symbol, "is .managed outside of .global");
    if (symbol->link & GD_LINK_COMMON && symbol->space != GD_SPACE_GLOBAL)
        return complain(check, symbol, "is .common outside of .global");
    return true;
}

/* ---- initial values ---- */

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
    while (kind_of(check, *token) == '[') {
        uint64_t value = 0;
        bool empty = kind_of(check, *token + 1) == ']';
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
        return refuse(check, token, "does not lie in .global or .const");
    if (symbol != GD_PTX_NONE && (module->symbols[symbol].kind == GD_SYMBOL_FUNCTION ||
                                  module->symbols[symbol].token <= token))
        return true;
    gd_validity_add(check, GD_CODE_GD013, token, NULL, "%.*s is not declared in front of this",
                    text_bytes(length), text);
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
    return kind_of(check, token) == GD_TOKEN_NAME &&
           !gd_ptx_token_is(check->module, token, "WARP_SZ");
}

/* name, generic(name), either plus integers. false: there is none, or it is no whole one. */
static bool check_address(gd_validity *check, uint32_t token, uint32_t end)
{
    uint32_t name = token, next = token + 1;
    uint64_t value;

    if (gd_ptx_token_is(check->module, token, "generic") && next + 3 <= end &&
        kind_of(check, next) == '(' && kind_of(check, next + 2) == ')') {
        name = next + 1;
        next += 3;
    }
    if (!is_name(check, name))
        return refuse(check, name, "is no variable's name");
    if (!is_declared(check, name))
        return false;
    if (next == end)
        return true;
    if (kind_of(check, next) == '-')
        return refuse(check, next, "stands behind an address, to which only + adds");
    return (kind_of(check, next) == '+' &&
            gd_constant_evaluate(check->module, next + 1, end, &value)) ||
           refuse(check, next, "stands behind an address; + and an integer may");
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
        return refuse(check, token, "is no mask of one byte, as 0xFF00 is");
    return symbol->type == GD_TYPE_U8 || symbol->type == GD_TYPE_U32 ||
           symbol->type == GD_TYPE_U64 ||
           refuse(check, token, "masks an address, which .u8, .u32 and .u64 hold");
}

/* Expressions of several tokens: of integers or of fractions, an address, or a byte of one. */
static bool check_expression(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t token,
                             uint32_t end)
{
    const bool fraction = symbol->type == GD_TYPE_F32 || symbol->type == GD_TYPE_F64;
    const bool bits = symbol->type >= GD_TYPE_B8 && symbol->type <= GD_TYPE_B128;

    if (token == end) {
        gd_validity_add(check, GD_CODE_GD002, end, NULL, "found '%c', expected a value",
                        (int)kind_of(check, end));
        return false;
    }
    if (kind_of(check, token) == GD_TOKEN_INTEGER && kind_of(check, token + 1) == '(' &&
        kind_of(check, end - 1) == ')' && kind_of(check, token + 2) == GD_TOKEN_NAME)
        return check_mask(check, symbol, token, end);
    if (is_name(check, token))
        return check_address(check, token, end) &&
               (symbol->type == GD_TYPE_U32 || symbol->type == GD_TYPE_U64 ||
                refuse(check, token, "begins an address, which .u32 and .u64 hold"));
    switch (gd_constant_classify(check->module, token, end)) {
    case GD_CONSTANT_INTEGER:
        return !fraction ||
               refuse(check, token, "begins an integer, and the variable is none; write 1.0");
    case GD_CONSTANT_FRACTION:
        return fraction || bits ||
               refuse(check, token, "begins no integer, and the variable is one");
    default:
        return refuse(check, token, "begins no constant expression of integers or of fractions");
    }
}

/* One value: literals of the type's kind, and of names those that lie in memory. */
static bool check_value(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t token)
{
    uint32_t kind = kind_of(check, token);
    bool fraction = symbol->type == GD_TYPE_F32 || symbol->type == GD_TYPE_F64;
    bool bits = symbol->type >= GD_TYPE_B8 && symbol->type <= GD_TYPE_B128;

    if (kind == GD_TOKEN_NAME && !is_declared(check, token))
        return false;
    if (kind == GD_TOKEN_NAME && fraction)
        return refuse(check, token, "is an address, and the variable is one of numbers");
    if (is_name(check, token) && symbol->type != GD_TYPE_U32 && symbol->type != GD_TYPE_U64)
        return refuse(check, token, "is an address, which .u32 and .u64 hold");
    if (kind == GD_TOKEN_STRING)
        return refuse(check, token, "is a text, and PTX has none as values");
    if (kind == GD_TOKEN_FLOAT && is_beyond_doubles(check, token))
        return refuse(check, token, "is beyond the range of .f64");
    if (kind == GD_TOKEN_INTEGER && fraction)
        return refuse(check, token, "is an integer, and the variable is none; write 1.0");
    if (kind == GD_TOKEN_FLOAT && !fraction && !bits)
        return refuse(check, token, "is no integer, and the variable is one");
    return true;
}

/* From the value's first token on; *token is behind it. */
static bool check_values(gd_validity *check, const gd_ptx_symbol *symbol, uint32_t *token,
                         const shape *of, uint32_t depth)
{
    uint64_t count = 0;
    uint32_t open = *token;

    if (depth == of->count || kind_of(check, *token) != '{') {
        uint32_t inside = 0, first = *token;
        if (depth < of->count)
            return refuse(check, *token, "is one value where a list in braces is expected");
        if (kind_of(check, *token) == '{')
            return refuse(check, *token, "begins a list where one value is expected");
        for (;; ++*token) {
            uint32_t kind = kind_of(check, *token);
            if (kind == ';' || kind == GD_TOKEN_END ||
                (inside == 0 && (kind == ',' || kind == '}')))
                break;
            inside += kind == '(';
            inside -= kind == ')';
        }
        return *token != first + 1 ? check_expression(check, symbol, first, *token)
                                   : check_value(check, symbol, first);
    }
    do {
        ++*token;
        if (!check_values(check, symbol, token, of, depth + 1))
            return false;
        if (++count > of->dimensions[depth] && of->dimensions[depth])
            return refuse(check, open, "begins a list of more values than there are elements");
    } while (kind_of(check, *token) == ',');
    if (of->vector && depth + 1 == of->count && count != of->dimensions[depth])
        return refuse(check, open, "begins a list of fewer values than the vector has");
    if (kind_of(check, *token) != '}') {
        gd_validity_add(check, GD_CODE_GD002, *token, NULL, "found '%c', expected ',' or '}'",
                        (int)kind_of(check, *token));
        return false;
    }
    ++*token;
    return true;
}

static void check_initialiser(gd_validity *check, const gd_ptx_symbol *symbol)
{
    uint32_t token = symbol->token + 1;
    shape of;

    if (!(symbol->flags & GD_SYMBOL_INITIALISED) || is_reference(symbol))
        return;
    if (symbol->space != GD_SPACE_GLOBAL && symbol->space != GD_SPACE_CONST) {
        complain(check, symbol, "has an initial value, which .global and .const alone can have");
        return;
    }
    if (symbol->link & GD_LINK_EXTERN) {
        complain(check, symbol, "is .extern and has an initial value");
        return;
    }
    if (symbol->type == GD_TYPE_F16 || symbol->type == GD_TYPE_F16X2) {
        complain(check, symbol, "has an initial value, which this type cannot have; use .b16");
        return;
    }
    read_shape(check, symbol, &token, &of);
    if (kind_of(check, token) == '=') {
        token++;
        check_values(check, symbol, &token, &of, 0);
    }
}

/* ---- names ---- */

/* Variables of a module may be declared twice when one is .extern, or both are. */
static bool may_repeat(const gd_ptx_module *module, const gd_ptx_symbol *symbol)
{
    for (uint32_t i = 0; symbol->scope == 0 && &module->symbols[i] < symbol; i++) {
        const gd_ptx_symbol *other = &module->symbols[i];
        if (other->name != symbol->name || other->scope != 0 || other->kind != GD_SYMBOL_VARIABLE ||
            symbol->kind != GD_SYMBOL_VARIABLE)
            continue;
        bool both = other->link & GD_LINK_EXTERN && symbol->link & GD_LINK_EXTERN;
        bool resolved =
            (other->link | symbol->link) & GD_LINK_EXTERN && other->link && symbol->link;
        if ((both || resolved) && other->type == symbol->type && other->space == symbol->space)
            return true;
    }
    return false;
}

static void check_again(gd_validity *check, const gd_ptx_symbol *symbol)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, symbol->token, &length);

    if (!(symbol->flags & GD_SYMBOL_AGAIN) || may_repeat(check->module, symbol))
        return;
    gd_validity_relate_first(check, symbol);
    gd_validity_collect(
        check, GD_CODE_GD015, symbol->token,
        (gd_mistake_key){
            .kind = GD_MISTAKE_AGAIN,
            .id = gd_validity_declared(check->module, (uint32_t)(symbol - check->module->symbols))},
        NULL, "%.*s is declared here already", text_bytes(length), text);
}

/* Whether samplers are declared apart from textures (PTX ISA 11.1.2). */
static bool is_independent(const gd_validity *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 1; i < module->directive_count; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        if (directive->kind != GD_DIRECTIVE_TARGET)
            break;
        for (uint32_t token = directive->token; token < directive->token_end; token++) {
            if (gd_ptx_token_is(module, token, "texmode_independent"))
                return true;
        }
    }
    return false;
}

/* A symbol whose words are right. Of a type that came late arrays were there before. */
static void check_symbol(gd_validity *check, const gd_ptx_symbol *symbol, place where, bool last,
                         const words *found)
{
    uint32_t length;
    const char *type;

    if (!(symbol->flags & GD_SYMBOL_ARRAY)) {
        word_at(check, found->type, &type, &length);
        check_need(check, found->type, type, length);
    }
    if ((uint32_t)gd_ptx_types[symbol->type].bytes * symbol->vector > VECTOR_BYTES) {
        complain(check, symbol, "is a vector of more than 128 bits");
        return;
    }
    if (symbol->type == GD_TYPE_PRED && symbol->vector > 1) {
        complain(check, symbol, "is a vector of predicates, which there is not");
        return;
    }
    if (is_reference(symbol) && where != PLACE_ENTRY &&
        (where != PLACE_MODULE || symbol->space != GD_SPACE_GLOBAL)) {
        complain(check, symbol, "is a texture, sampler or surface outside of a module's .global");
        return;
    }
    if (symbol->type == GD_TYPE_SAMPLERREF && !is_independent(check)) {
        complain(check, symbol, "is a .samplerref, which .target texmode_independent alone has");
        return;
    }
    if (symbol->space == GD_SPACE_REG ? !check_register(check, symbol)
                                      : !check_memory(check, symbol, where, found->managed) ||
                                            !check_dimensions(check, symbol, where, last))
        return;
    check_initialiser(check, symbol);
}

static void check_variables(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_symbol *symbols = check->module->symbols;
    place where = directive->scope == 0 ? PLACE_MODULE : PLACE_BODY;
    words found;

    if (directive->symbol == directive->symbol_end)
        return;
    uint32_t told = check->told;
    bool right =
        check_words(check, directive->token, symbols[directive->symbol].token, where, &found);
    for (uint32_t i = directive->symbol; i < directive->symbol_end && right && told == check->told;
         i++)
        check_symbol(check, &symbols[i], where, true, &found);
    if (!right || told != check->told)
        gd_validity_spoil(check, directive->token, directive->token_end);
}

/* ---- functions ---- */

static void check_parameters(gd_validity *check, uint32_t from, uint32_t end, place where,
                             bool nameless)
{
    const gd_ptx_symbol *symbols = check->module->symbols;
    words found;

    for (uint32_t i = from; i < end; i++) {
        uint32_t first = symbols[i].token;
        while (kind_of(check, first - 1) != ',' && kind_of(check, first - 1) != '(')
            first--;
        if (!nameless && gd_ptx_token_is(check->module, symbols[i].token, "_"))
            complain(check, &symbols[i], "is no name of a parameter");
        else if (check_words(check, first, symbols[i].token, where, &found))
            check_symbol(check, &symbols[i], where, i + 1 == end, &found);
    }
}

/* Several are in registers. */
static void check_results(gd_validity *check, uint32_t token, uint32_t from, uint32_t end,
                          bool nameless)
{
    check_parameters(check, from, end, PLACE_FUNC, nameless);
    if (end - from > 1 && check->module->symbols[from].space == GD_SPACE_PARAM)
        gd_validity_add(check, GD_CODE_GD016, token, NULL,
                        "several results must be in .reg, and these are in .param");
}

static void check_parameter_bytes(gd_validity *check, const gd_ptx_function *function)
{
    const gd_ptx_module *module = check->module;
    uint32_t most = module->version >= 81 ? PARAMETER_BYTES_LARGE : PARAMETER_BYTES;

    if (function->parameter_bytes > most)
        gd_validity_add(check, GD_CODE_GD016, function->token_name, NULL,
                        "%s has %" PRIu32 " bytes of parameters; %" PRIu32 " is the most",
                        function->name, function->parameter_bytes, most);
    else if (function->parameter_bytes > PARAMETER_BYTES && module->capability &&
             module->capability < 70)
        gd_validity_add(check, GD_CODE_GD014, function->token_name, NULL,
                        "more than %d bytes of parameters need .target sm_70; the text says %s",
                        PARAMETER_BYTES, module->target);
}

/* Whether two lists of parameters are the same; otherwise, how they differ. */
static const char *compare_lists(const gd_ptx_module *module, uint32_t a, uint32_t a_end,
                                 uint32_t b, uint32_t b_end)
{
    if (a_end - a != b_end - b)
        return "another number of parameters or results";
    for (; a < a_end; a++, b++) {
        const gd_ptx_symbol *one = &module->symbols[a], *other = &module->symbols[b];
        if (one->space != other->space)
            return "a parameter in another state space";
        if (one->type != other->type || one->bytes != other->bytes)
            return "a parameter of another type";
        if (one->alignment != other->alignment)
            return "a parameter of another alignment";
    }
    return NULL;
}

static const char *compare_functions(const gd_ptx_module *module, const gd_ptx_function *one,
                                     const gd_ptx_function *other)
{
    const char *differs = compare_lists(module, one->parameter, one->parameter_end,
                                        other->parameter, other->parameter_end);

    return differs ? differs
                   : compare_lists(module, one->result, one->result_end, other->result,
                                   other->result_end);
}

/* A function against its definition, or against its first declaration. */
static void check_prototype(gd_validity *check, uint32_t index)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_function *function = &module->functions[index];
    uint32_t other_index = module->symbols[function->symbol].target;
    const gd_ptx_function *other = &module->functions[other_index];

    if (index == other_index || module->symbols[function->symbol].kind != GD_SYMBOL_FUNCTION)
        return;
    const gd_ptx_function *later = index > other_index ? function : other;
    const gd_ptx_function *earlier = index > other_index ? other : function;
    const char *differs = compare_functions(module, later, earlier);
    if ((later->flags ^ earlier->flags) & GD_FUNCTION_ENTRY)
        differs = "an .entry for a .func, or the reverse";
    else if ((later->flags ^ earlier->flags) & GD_FUNCTION_NORETURN)
        differs = "another .noreturn";
    if (earlier->flags & GD_FUNCTION_BODY || differs)
        gd_validity_relate(check, earlier->token_name, "it is declared first here");
    if (earlier->flags & GD_FUNCTION_BODY)
        gd_validity_add(check, GD_CODE_GD015, later->token_name, NULL, "%s is defined already",
                        later->name);
    else if (differs)
        gd_validity_add(check, GD_CODE_GD016, later->token_name, NULL,
                        "%s differs from its earlier declaration: %s", later->name, differs);
}

static bool is_alias(const gd_ptx_module *module, uint32_t symbol)
{
    for (uint32_t i = 0; i < module->directive_count; i++) {
        const gd_ptx_directive *alias = &module->directives[i];
        if (alias->kind == GD_DIRECTIVE_ALIAS && alias->operand < alias->operand_end &&
            module->operands[alias->operand].symbol == symbol)
            return true;
    }
    return false;
}

/* A function that is declared only is one of another module, and .extern. */
static void check_defined(gd_validity *check, uint32_t index)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_function *function = &module->functions[index];
    const gd_ptx_symbol *symbol = &module->symbols[function->symbol];

    if (symbol->kind != GD_SYMBOL_FUNCTION || symbol->target != index ||
        function->flags & GD_FUNCTION_BODY || symbol->link & GD_LINK_EXTERN ||
        function->link & GD_LINK_EXTERN || is_alias(module, function->symbol))
        return;
    gd_validity_add(check, GD_CODE_GD016, function->token_name,
                    "one of another module is declared with .extern",
                    "%s is declared, and defined nowhere", function->name);
}

/* ---- directives ---- */

static bool is_performance_of(const gd_word *word, bool entry)
{
    if (word->class == GD_WORD_PERFORMANCE)
        return entry;
    return word->class == GD_WORD_FLAG && (word->value == GD_FUNCTION_NORETURN) != entry;
}

static void check_performance(gd_validity *check, const gd_ptx_directive *directive, bool entry)
{
    uint32_t length;
    const char *text;
    const gd_word *word = word_at(check, directive->token, &text, &length);
    bool preserves = length >= 12 && memcmp(text, "abi_preserve", 12) == 0;

    check_need(check, directive->token, text, length);
    if (preserves && !entry)
        return;
    if (word->class == GD_WORD_NONE && !preserves)
        tell_word(check, GD_CODE_GD017, directive->token, true);
    else if (!is_performance_of(word, entry))
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL, ".%.*s does not stand here%s",
                        text_bytes(length), text,
                        word->class != GD_WORD_PERFORMANCE && word->class != GD_WORD_FLAG ? ""
                        : entry ? "; it is for .func"
                                : "; it is for .entry");
    else if (word->class == GD_WORD_PERFORMANCE && check->module->version > 20 &&
             word->value == GD_PERFORMANCE_MAXNCTAPERSM) {
        gd_validity_mend(check, directive->token, directive->token + 1, true, ".minnctapersm");
        gd_validity_add(check, GD_CODE_GD017, directive->token, "write .minnctapersm",
                        ".maxnctapersm is gone since PTX ISA 2.1");
    }
}

/* Numbers and combinations of what tells a function's limits. */
static void check_limits(gd_validity *check, const gd_ptx_function *function)
{
    static const char *const names[] = {
        [GD_PERFORMANCE_MAXNTID] = "maxntid",
        [GD_PERFORMANCE_REQNTID] = "reqntid",
        [GD_PERFORMANCE_MAXNREG] = "maxnreg",
        [GD_PERFORMANCE_MINNCTAPERSM] = "minnctapersm",
    };
    static const uint8_t exclusive[][2] = {
        {GD_PERFORMANCE_MAXNTID, GD_PERFORMANCE_REQNTID},
        {GD_PERFORMANCE_REQNCTAPERCLUSTER, GD_PERFORMANCE_MAXCLUSTERRANK}};
    const gd_ptx_module *module = check->module;
    bool given[GD_PERFORMANCE_COUNT] = {false};

    for (uint32_t i = function->directive; i < function->directive_end; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        uint32_t length;
        const char *text;
        if (directive->kind != GD_DIRECTIVE_PERFORMANCE)
            continue;
        const gd_word *word = word_at(check, directive->token, &text, &length);
        uint32_t told = check->told;
        check_performance(check, directive, function->flags & GD_FUNCTION_ENTRY);
        if (told != check->told && is_declared_with(word))
            break; /* a parameter behind a lost comma or bracket; the others are too */
        if (word->class != GD_WORD_PERFORMANCE)
            continue;
        given[word->value] = true;
        const uint32_t *limits = function->limits[word->value];
        if (word->value < sizeof names / sizeof names[0] && names[word->value] &&
            (!limits[0] || (word->value <= GD_PERFORMANCE_REQNTID && (!limits[1] || !limits[2]))))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL, ".%s must not be 0",
                            names[word->value]);
    }
    for (size_t i = 0; i < sizeof exclusive / sizeof exclusive[0]; i++) {
        if (given[exclusive[i][0]] && given[exclusive[i][1]])
            gd_validity_add(check, GD_CODE_GD017, function->token_name, NULL,
                            "%s has both %s, of which one may be given", function->name,
                            i ? ".reqnctapercluster and .maxclusterrank" : ".maxntid and .reqntid");
    }
    if (function->flags & GD_FUNCTION_BLOCKSARECLUSTERS &&
        (!given[GD_PERFORMANCE_REQNTID] || !given[GD_PERFORMANCE_REQNCTAPERCLUSTER]))
        gd_validity_add(check, GD_CODE_GD017, function->token_name, NULL,
                        "%s has .blocksareclusters without .reqntid and .reqnctapercluster",
                        function->name);
}

static void check_function(gd_validity *check, uint32_t index)
{
    const gd_ptx_function *function = &check->module->functions[index];
    bool entry = function->flags & GD_FUNCTION_ENTRY;

    if (function->symbol == GD_PTX_NONE)
        return;
    for (uint32_t token = function->token; token < function->token_name; token++) {
        uint32_t length;
        const char *text;
        const gd_word *word =
            kind_of(check, token) == GD_TOKEN_DOTTED ? word_at(check, token, &text, &length) : NULL;
        if (!word || word->class != GD_WORD_LINK)
            continue;
        check_need(check, token, text, length);
        if (token > function->token)
            refuse(check, token, "is a second linking directive");
        else if (word->value == GD_LINK_COMMON)
            refuse(check, token, "is for variables in .global");
    }
    check_results(check, function->token_name, function->result, function->result_end, false);
    check_parameters(check, function->parameter, function->parameter_end,
                     entry ? PLACE_ENTRY : PLACE_FUNC, false);
    if (entry)
        check_parameter_bytes(check, function);
    if (function->link & GD_LINK_EXTERN && function->flags & GD_FUNCTION_BODY)
        gd_validity_add(check, GD_CODE_GD016, function->token_name, NULL,
                        "%s is .extern and has a body", function->name);
    if (function->flags & GD_FUNCTION_NORETURN && function->result_end > function->result)
        gd_validity_add(check, GD_CODE_GD016, function->token_name, NULL,
                        "%s never returns and has a result", function->name);
    check_limits(check, function);
    check_prototype(check, index);
    check_defined(check, index);
}

/* ---- the head ---- */

static void check_version(gd_validity *check, const gd_ptx_directive *directive)
{
    int32_t version = check->module->version;

    if (!check->newer && !gd_is_version(version))
        gd_validity_add(check, GD_CODE_GD017, directive->token + 1, NULL,
                        "there is no PTX ISA %d.%d", (int)(version / 10), (int)(version % 10));
}

static void check_chip(gd_validity *check, uint32_t token)
{
    uint32_t length;
    const char *name = gd_ptx_token_text(check->module, token, &length);
    int32_t least = gd_need_of_chip(name, length), version = check->module->version;
    gd_guess meant = {.nearest = {.word = name, .bytes = length}};
    char hint[GD_GUESS_BYTES + 20] = "";

    if (length > 8 && memcmp(name, "compute_", 8) == 0 && (uint8_t)(name[length - 1] - '0') <= 9) {
        char chip[24];
        snprintf(chip, sizeof chip, "sm_%.*s", (int)(length - 8 < 16 ? length - 8 : 16), name + 8);
        least = gd_need_of_chip(chip, (uint32_t)strlen(chip));
    }
    if (least == 0) {
        for (uint32_t i = 0; gd_need_chip_at(i); i++)
            gd_guess_look(&meant, gd_need_chip_at(i), strlen(gd_need_chip_at(i)));
        if (meant.name[0])
            snprintf(hint, sizeof hint, "did you mean %s?", meant.name);
        gd_validity_mend_name(check, token, "", &meant);
        gd_validity_add(check, GD_CODE_GD017, token, hint, "there is no target %.*s",
                        text_bytes(length), name);
    } else if (least > version) {
        gd_validity_mend_version(check, least);
        gd_validity_collect(
            check, GD_CODE_GD014, token, (gd_mistake_key){.kind = GD_MISTAKE_VERSION, .id = 1},
            NULL, ".target %.*s needs .version %d.%d; the text says %d.%d", text_bytes(length),
            name, (int)(least / 10), (int)(least % 10), (int)(version / 10), (int)(version % 10));
    }
}

enum { TEXMODE_UNIFIED, TEXMODE_INDEPENDENT, TARGET_DEBUG, MAP_F64_TO_F32, MODE_COUNT };

static bool has_section(const gd_ptx_module *module)
{
    for (uint32_t i = 0; i < module->directive_count; i++) {
        if (module->directives[i].kind == GD_DIRECTIVE_SECTION)
            return true;
    }
    return false;
}

/* What stands beside a chip; `given` are the modes of this .target. */
static void check_mode(gd_validity *check, uint32_t token, uint32_t mode, const bool *given)
{
    const gd_ptx_module *module = check->module;

    if (given[TEXMODE_UNIFIED] && given[TEXMODE_INDEPENDENT])
        gd_validity_add(check, GD_CODE_GD017, token, NULL,
                        "textures are either texmode_unified or texmode_independent");
    else if (mode == MAP_F64_TO_F32 && module->capability >= CAPABILITY_F64)
        gd_validity_add(check, GD_CODE_GD017, token, NULL,
                        "map_f64_to_f32 is for chips without .f64; %s has it", module->target);
    else if (mode == TARGET_DEBUG && module->version >= 30 && !has_section(module))
        gd_validity_add(check, GD_CODE_GD017, token, NULL,
                        ".target debug needs debug information, and there is no .section");
}

static void check_target(gd_validity *check, const gd_ptx_directive *directive, bool first_one)
{
    static const char *const modes[MODE_COUNT] = {"texmode_unified", "texmode_independent", "debug",
                                                  "map_f64_to_f32"};
    const uint32_t first = directive->token + 1;
    bool given[MODE_COUNT] = {false};

    for (uint32_t token = first; token < directive->token_end; token += 2) {
        uint32_t mode = 0, length;
        const char *text = gd_ptx_token_text(check->module, token, &length);
        while (mode < MODE_COUNT && !gd_ptx_token_is(check->module, token, modes[mode]))
            mode++;
        if (mode == MODE_COUNT) {
            check_chip(check, token);
            continue;
        }
        given[mode] = true;
        check_need(check, token, text, length);
        if (token == first && first_one)
            gd_validity_add(check, GD_CODE_GD017, token, NULL, "a chip stands first in .target");
        else
            check_mode(check, token, mode, given);
    }
}

/* .address_size stands behind the head only, once. */
static void check_address_size(gd_validity *check, uint32_t index)
{
    const gd_ptx_directive *directives = check->module->directives;
    bool behind = index > 0 && (directives[index - 1].kind == GD_DIRECTIVE_TARGET ||
                                directives[index - 1].kind == GD_DIRECTIVE_VERSION);

    if (!behind || directives[index - 1].token_end != directives[index].token)
        gd_validity_add(check, GD_CODE_GD017, directives[index].token, NULL,
                        ".address_size stands behind .target, once");
    else if (check->module->address_bits == 32)
        gd_validity_add(check, GD_CODE_GD017, directives[index].token, "write .address_size 64",
                        "CUDA 12 and later compile no text with addresses of 32 bits");
}

/* Numbers of files, lines and columns have 32 bits; ptxas overlooks those beyond 63. */
static bool check_number(gd_validity *check, uint32_t token, uint64_t number)
{
    return number <= UINT32_MAX || number > INT64_MAX ||
           refuse(check, token, "has more than 32 bits");
}

/* .file numbers a name, once. */
static void check_file(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_module *module = check->module;
    uint64_t number = 0;
    uint32_t length;
    const char *text = gd_ptx_token_text(module, directive->token + 1, &length);

    if (directive->scope) {
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        "this directive stands outside of functions only");
        return;
    }
    gd_ptx_integer_read(text, length, &number);
    if (!check_number(check, directive->token + 1, number))
        return;
    uint64_t *key = gd_arena_take(&check->arena, sizeof *key);
    check->failed |= !key;
    if (!key)
        return;
    *key = number;
    if (gd_table_find(&check->files, (const char *)key, sizeof *key))
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        "file %" PRIu64 " is declared already", number);
    else
        check->failed |= !gd_table_set(&check->files, (const char *)key, sizeof *key, key);
}

/* A position of a source file. */
typedef struct position {
    uint64_t file, line, column;
} position;

static position read_position(const gd_validity *check, uint32_t token)
{
    position at = {0};
    uint64_t *const parts[] = {&at.file, &at.line, &at.column};

    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(check->module, token + i, &length);
        gd_ptx_integer_read(text, length, parts[i]);
    }
    return at;
}

/* The positions of .loc so far; only in a text that has inlined_at. */
static void note_positions(gd_validity *check, uint32_t end)
{
    const gd_ptx_module *module = check->module;

    for (; check->noted < end; check->noted++) {
        const gd_ptx_directive *directive = &module->directives[check->noted];
        if (directive->kind != GD_DIRECTIVE_LOC)
            continue;
        position at = read_position(check, directive->token + 1), *key;
        if (gd_table_find(&check->positions, (const char *)&at, sizeof at))
            continue;
        key = gd_arena_take(&check->arena, sizeof *key);
        if (key)
            *key = at;
        check->failed |=
            !key || !gd_table_set(&check->positions, (const char *)key, sizeof *key, key);
    }
}

/* Whether a name is a label of a section; these are no symbols. */
static bool is_label(gd_validity *check, uint32_t token)
{
    const gd_ptx_module *module = check->module;
    uint32_t length;
    const char *text;

    for (; check->labelled < module->directive_count; check->labelled++) {
        const gd_ptx_directive *section = &module->directives[check->labelled];
        if (section->kind != GD_DIRECTIVE_SECTION)
            continue;
        for (uint32_t at = section->token; at + 1 < section->token_end; at++) {
            if (kind_of(check, at) != GD_TOKEN_NAME || kind_of(check, at + 1) != ':')
                continue;
            text = gd_ptx_token_text(module, at, &length);
            check->failed |= !gd_table_set(&check->labels, text, length, check);
        }
    }
    text = gd_ptx_token_text(module, token, &length);
    return gd_table_find(&check->labels, text, length) != NULL;
}

/* .loc 1 12 3, function_name $L__info_string0, inlined_at 1 15 3 */
static void check_loc(gd_validity *check, uint32_t index)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_directive *directive = &module->directives[index];
    uint32_t length;

    if (!directive->scope)
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        ".loc stands in functions only");
    const position at_line = read_position(check, directive->token + 1);
    if (!check_number(check, directive->token + 1, at_line.file) ||
        !check_number(check, directive->token + 2, at_line.line) ||
        !check_number(check, directive->token + 3, at_line.column))
        return;
    for (uint32_t at = directive->token + 4; at + 1 < directive->token_end; at++) {
        if (gd_ptx_token_is(module, at, "function_name") && !is_label(check, at + 1)) {
            const char *text = gd_ptx_token_text(module, at + 1, &length);
            gd_validity_add(check, GD_CODE_GD013, at + 1, NULL, "%.*s is no label of a section",
                            text_bytes(length), text);
        } else if (gd_ptx_token_is(module, at, "inlined_at")) {
            position from = read_position(check, at + 1);
            note_positions(check, index);
            if (!gd_table_find(&check->positions, (const char *)&from, sizeof from))
                gd_validity_add(check, GD_CODE_GD017, at + 1, NULL,
                                "no .loc in front of this has the position of inlined_at");
        }
    }
}

/* What .pragma may say in functions; all else is kept there, and refused elsewhere. */
static const struct pragma {
    const char *name;
    int64_t least; /* of the number behind it; NO_NUMBER: there is none */
} pragmas[] = {{"used_bytes_mask", INT64_MIN + 1},
               {"frequency", 1},
               {"enable_smem_spilling", NO_NUMBER}};

/* One string of a .pragma. */
static void check_told(gd_validity *check, uint32_t token, bool inside)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length) + 1;
    const struct pragma *known = NULL;
    char number[32] = "", *end;

    length -= 2;
    for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0] && !known; i++) {
        size_t bytes = strlen(pragmas[i].name);
        if (length >= bytes && memcmp(text, pragmas[i].name, bytes) == 0)
            known = &pragmas[i];
    }
    if (!known) {
        if (!inside && (length != 8 || memcmp(text, "nounroll", 8) != 0))
            gd_validity_add(check, GD_CODE_GD017, token, NULL,
                            "outside of functions there is no pragma %.*s", text_bytes(length),
                            text);
        return;
    }
    uint32_t told = check->told, bytes = (uint32_t)strlen(known->name);
    check_need(check, token, known->name, bytes);
    if (check->told == told && !inside)
        gd_validity_add(check, GD_CODE_GD017, token, NULL, "%s stands in functions only",
                        known->name);
    if (check->told != told || known->least == NO_NUMBER)
        return;
    if (length > bytes + 1)
        snprintf(number, sizeof number, "%.*s", (int)(length - bytes - 1), text + bytes + 1);
    if (strtoll(number, &end, 0) < known->least || end == number || *end)
        gd_validity_add(check, GD_CODE_GD017, token, NULL, "behind %s stands a%s integer",
                        known->name, known->least > 0 ? " positive" : "n");
}

static void check_pragma(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_function *function = NULL;

    if (directive->scope)
        function = &check->module->functions[check->module->scopes[directive->scope].function];
    for (uint32_t token = directive->token; token < directive->token_end; token++) {
        if (kind_of(check, token) == GD_TOKEN_STRING)
            check_told(check, token, function && token > function->token_body);
    }
}

static bool is_named(const gd_validity *check, uint32_t directive)
{
    return kind_of(check, check->module->directives[directive].token - 1) == ':';
}

/* What an alias or a list names. */
static void check_listed(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = directive->operand; i < directive->operand_end; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        uint32_t length;
        const char *text = gd_ptx_token_text(module, operand->token, &length);
        if (operand->symbol == GD_PTX_NONE)
            gd_validity_add(check, GD_CODE_GD013, operand->token, NULL, "%.*s is not declared here",
                            text_bytes(length), text);
        else if (directive->kind != GD_DIRECTIVE_BRANCHTARGETS &&
                 module->symbols[operand->symbol].kind != GD_SYMBOL_FUNCTION)
            refuse(check, operand->token, "is no function");
    }
}

/* An alias has the parameters of what it names. */
static void check_alias(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_function *pair[2];

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t operand = directive->operand + i;
        uint32_t symbol =
            operand < directive->operand_end ? module->operands[operand].symbol : GD_PTX_NONE;
        if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_FUNCTION)
            return; /* told */
        pair[i] = &module->functions[module->symbols[symbol].target];
    }
    for (const gd_ptx_directive *other = module->directives; other < directive; other++) {
        if (other->kind == GD_DIRECTIVE_ALIAS && other->operand < other->operand_end &&
            module->operands[other->operand].symbol == module->operands[directive->operand].symbol)
            gd_validity_add(check, GD_CODE_GD015, directive->token + 1, NULL,
                            "%s is an alias already", pair[0]->name);
    }
    const char *differs = compare_functions(module, pair[0], pair[1]);
    if (!differs)
        return;
    gd_validity_relate(check, pair[1]->token_name, "it is declared here");
    gd_validity_add(check, GD_CODE_GD016, directive->token + 1, NULL,
                    "%s differs from the function that it is an alias of: %s", pair[0]->name,
                    differs);
}

static void check_directive(gd_validity *check, uint32_t index)
{
    const gd_ptx_directive *directive = &check->module->directives[index];
    const char *text;
    uint32_t length;

    word_at(check, directive->token, &text, &length);
    if (directive->kind != GD_DIRECTIVE_VARIABLE && directive->kind != GD_DIRECTIVE_PERFORMANCE)
        check_need(check, directive->token, text, length);
    switch (directive->kind) {
    case GD_DIRECTIVE_VARIABLE:
        check_variables(check, directive);
        break;
    case GD_DIRECTIVE_VERSION:
        if (index)
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            ".version stands at the start of the text, once");
        else
            check_version(check, directive);
        break;
    case GD_DIRECTIVE_TARGET:
        if (index == 0 || (check->module->directives[index - 1].kind != GD_DIRECTIVE_TARGET &&
                           check->module->directives[index - 1].kind != GD_DIRECTIVE_VERSION))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            ".target stands behind .version");
        else
            check_target(check, directive,
                         check->module->directives[index - 1].kind == GD_DIRECTIVE_VERSION);
        break;
    case GD_DIRECTIVE_ADDRESS_SIZE:
        check_address_size(check, index);
        break;
    case GD_DIRECTIVE_ALIAS:
        check_listed(check, directive);
        check_alias(check, directive);
        break;
    case GD_DIRECTIVE_FILE:
        check_file(check, directive);
        break;
    case GD_DIRECTIVE_SECTION:
        if (directive->scope)
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            "this directive stands outside of functions only");
        break;
    case GD_DIRECTIVE_LOC:
        check_loc(check, index);
        break;
    case GD_DIRECTIVE_PRAGMA:
        check_pragma(check, directive);
        break;
    case GD_DIRECTIVE_CALLPROTOTYPE:
        for (uint32_t token = directive->token + 1; token < directive->token_end; token++) {
            if (kind_of(check, token) == GD_TOKEN_DOTTED) {
                word_at(check, token, &text, &length);
                check_need(check, token, text, length);
            }
        }
        check_results(check, directive->token, directive->symbol,
                      directive->symbol + directive->results, true);
        check_parameters(check, directive->symbol + directive->results, directive->symbol_end,
                         PLACE_FUNC, true);
        /* fall through */
    case GD_DIRECTIVE_BRANCHTARGETS:
    case GD_DIRECTIVE_CALLTARGETS:
        if (!directive->scope || !is_named(check, index))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            "a list of targets or a prototype stands behind a label, in a "
                            "function");
        check_listed(check, directive);
        break;
    case GD_DIRECTIVE_UNKNOWN:
        if (word_at(check, directive->token, &text, &length)->class == GD_WORD_NONE)
            tell_word(check, GD_CODE_GD017, directive->token, true);
        else
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            "this directive does not stand here");
        gd_validity_spoil(check, directive->token, directive->token_end);
        break;
    default:
        break;
    }
}

/* ---- all ---- */

static void check_constant_bytes(gd_validity *check)
{
    const gd_ptx_module *module = check->module;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        if (symbol->kind != GD_SYMBOL_VARIABLE || symbol->space != GD_SPACE_CONST ||
            symbol->link & GD_LINK_EXTERN)
            continue;
        bytes += symbol->bytes;
        if (bytes > CONSTANT_BYTES) {
            gd_validity_add(check, GD_CODE_GD016, symbol->token, NULL,
                            "the module has more than %d bytes in .const", CONSTANT_BYTES);
            return;
        }
    }
}

/* WARP_SZ is a constant (PTX ISA 4.5.4), and nothing else. */
static void check_warp_size(gd_validity *check)
{
    const gd_ptx_module *module = check->module;
    const uint32_t name = gd_ptx_name_find(&module->names, module->text, "WARP_SZ", 7);

    for (uint32_t i = 0; name != GD_PTX_NONE && i < module->symbol_count; i++) {
        if (module->symbols[i].name == name)
            gd_validity_add(check, GD_CODE_GD016, module->symbols[i].token, NULL,
                            "WARP_SZ is the constant 32, and declares nothing");
    }
}

void gd_check_declarations(gd_validity *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->directive_count; i++)
        check_directive(check, i);
    for (uint32_t i = 0; i < module->function_count; i++)
        check_function(check, i);
    for (uint32_t i = 0; i < module->symbol_count; i++)
        check_again(check, &module->symbols[i]);
    check_warp_size(check);
    check_constant_bytes(check);
}
