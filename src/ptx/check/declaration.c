/* Declarations as ptxas takes them (PTX ISA 5). The parser keeps what it does not know; here it is
 * an error. */
#include <stdio.h>
#include <string.h>

#include "ptx/check/declaration.h"
#include "ptx/isa/need.h"
#include "ptx/isa/special.h"

enum {
    VECTOR_BYTES = 16,
    CONSTANT_BYTES = 65536,
    ALIGNMENT_PARAMETER = 128 /* the largest of a .func's parameter */
};

/* ---- words ---- */

/* The word that a dotted token is, and its text without the dot. */
const gd_word *gd_declared_word(const gd_validity *check, uint32_t token, const char **text,
                                uint32_t *length)
{
    *text = gd_ptx_token_text(check->module, token, length) + 1;
    return gd_word_find(*text, --*length);
}

bool gd_is_declared_with(const gd_word *word)
{
    return word->class == GD_WORD_SPACE || word->class == GD_WORD_TYPE ||
           word->class == GD_WORD_LINK || word->class == GD_WORD_ALIGN ||
           word->class == GD_WORD_VECTOR || word->class == GD_WORD_PTR ||
           word->class == GD_WORD_ATTRIBUTE;
}

/* A word that PTX does not have. */
void gd_declared_tell(gd_validity *check, gd_code code, uint32_t token, bool directive)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length);
    gd_guess meant = {.nearest = {.word = text + 1, .bytes = length - 1}};
    char hint[GD_GUESS_BYTES + 20] = "";

    for (uint32_t i = 1; gd_word_at(i)->class != GD_WORD_NONE; i++) {
        if (gd_is_declared_with(gd_word_at(i)) != directive)
            gd_guess_look(&meant, gd_word_at(i)->text, gd_word_at(i)->length);
    }
    if (meant.name[0])
        snprintf(hint, sizeof hint, "did you mean .%s?", meant.name);
    gd_validity_mend_name(check, token, ".", &meant);
    gd_validity_add(check, code, token, hint, "PTX has no %s %.*s",
                    directive ? "directive" : "type or state space", gd_declared_bytes(length),
                    text);
}

/* Whether the text's version and target have a word. */
void gd_declared_need(gd_validity *check, uint32_t token, const char *text, uint32_t length)
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
                        NULL, ".%.*s %s", gd_declared_bytes(length), text, what);
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

bool gd_declared_refuse(gd_validity *check, uint32_t token, const char *why)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length);

    gd_validity_add(check, GD_CODE_GD016, token, NULL, "%.*s %s", gd_declared_bytes(length), text,
                    why);
    return false;
}

bool gd_declared_before(const gd_validity *check, uint32_t symbol, uint32_t token)
{
    const gd_ptx_module *module = check->module;
    bool before = module->symbols[symbol].token <= token;

    for (uint32_t i = 0; !before && i < module->function_count; i++)
        before = module->functions[i].symbol == symbol && module->functions[i].token_name <= token;
    return before;
}

/* Whether a word's place is still to come. */
static bool comes(gd_validity *check, uint32_t token, word_place at, words *found)
{
    if (found->reached > at || (found->reached == at && at != AT_SPACE))
        return gd_declared_refuse(
            check, token,
            found->reached >= AT_TYPE && at < AT_POINTER
                ? "stands behind the type; state space, alignment and vector come first"
            : found->reached == at ? "stands here twice"
                                   : "stands too late among these words");
    found->reached = at;
    return true;
}

/* (.managed), (.unified(1, 2)) or both; *token is at last that of the ')'. */
bool gd_check_attribute(gd_validity *check, uint32_t *token, bool function)
{
    const uint32_t first = *token + 2;
    uint32_t at = *token + 1;

    do {
        static const uint32_t numbers[] = {'(', GD_TOKEN_INTEGER, ',', GD_TOKEN_INTEGER, ')'};
        const bool unified = gd_ptx_token_is(check->module, ++at, ".unified");
        if (!unified && (function || !gd_ptx_token_is(check->module, at, ".managed")))
            return gd_declared_refuse(check, at, "is no attribute");
        at++;
        for (uint32_t i = 0; unified && i < sizeof numbers / sizeof numbers[0]; i++, at++) {
            if (gd_declared_kind(check, at) != numbers[i])
                return gd_declared_refuse(check, first, "has two numbers, as in .unified(1, 2)");
        }
    } while (gd_declared_kind(check, at) == ',');
    *token = at;
    return gd_declared_kind(check, at) == ')' ||
           gd_declared_refuse(check, at, "stands where ')' is expected");
}

static bool take_space(gd_validity *check, uint32_t token, gd_place where, gd_ptx_space space,
                       words *found)
{
    if (found->pointer != GD_PTX_NONE)
        return (space == GD_SPACE_GLOBAL || space == GD_SPACE_SHARED || space == GD_SPACE_CONST ||
                space == GD_SPACE_LOCAL ||
                gd_declared_refuse(check, token, "is no state space that a pointer can have")) &&
               comes(check, token, AT_POINTED, found);
    if (found->space != GD_PTX_NONE)
        return gd_declared_refuse(check, token, "is a second state space");
    if (!comes(check, token, AT_SPACE, found))
        return false;
    found->space = token;
    if (space == GD_SPACE_SREG || (space == GD_SPACE_TEX && check->module->version >= 15))
        return gd_declared_refuse(check, token, "declares nothing in this version of PTX");
    if (where == PLACE_MODULE &&
        (((space == GD_SPACE_REG || space == GD_SPACE_LOCAL) && check->module->version >= 30) ||
         space == GD_SPACE_PARAM))
        return gd_declared_refuse(check, token, "stands in functions only");
    if (where == PLACE_ENTRY && space != GD_SPACE_PARAM)
        return gd_declared_refuse(check, token,
                                  "is not .param, in which an entry's parameters are");
    if (where == PLACE_FUNC && space == GD_SPACE_PARAM && check->module->version < 20)
        return gd_declared_refuse(check, token, "is for parameters of .func since PTX ISA 2.0");
    if (where == PLACE_FUNC && space != GD_SPACE_PARAM && space != GD_SPACE_REG)
        return gd_declared_refuse(check, token,
                                  "is neither .param nor .reg, in which parameters are");
    return true;
}

static bool take_type(gd_validity *check, uint32_t token, gd_ptx_type type, words *found)
{
    if (found->type != GD_PTX_NONE)
        return (found->pointer != GD_PTX_NONE && type >= GD_TYPE_TEXREF) ||
               gd_declared_refuse(check, token, "is a second type");
    found->type = token;
    found->reached = AT_TYPE;
    return (type != GD_TYPE_BF16 && type != GD_TYPE_BF16X2 && type != GD_TYPE_F32X2) ||
           gd_declared_refuse(check, token,
                              "is a type of instructions only; registers of bits hold it");
}

/* One word; *token is the last of its tokens. false: it was told what is wrong. */
static bool take_word(gd_validity *check, uint32_t *token, gd_place where, words *found)
{
    uint32_t length, at = *token;
    const char *text;
    const gd_word *word = gd_declared_word(check, at, &text, &length);

    if (word->class != GD_WORD_TYPE)
        gd_declared_need(check, at, text, length);
    switch (word->class) {
    case GD_WORD_SPACE:
        return take_space(check, at, where, (gd_ptx_space)word->value, found);
    case GD_WORD_TYPE:
        return take_type(check, at, (gd_ptx_type)word->value, found);
    case GD_WORD_LINK:
        if (where != PLACE_MODULE)
            return gd_declared_refuse(check, at, "stands in front of what a module declares only");
        if (found->link != GD_PTX_NONE)
            return gd_declared_refuse(check, at, "is a second linking directive");
        found->link = at;
        return found->reached == AT_LINK ||
               gd_declared_refuse(check, at, "stands in front of other words");
    case GD_WORD_VECTOR:
        found->vector = at;
        return (word->value != 8 ||
                gd_declared_refuse(check, at, "is no vector that can be declared")) &&
               comes(check, at, AT_VECTOR, found);
    case GD_WORD_ALIGN:
        ++*token;
        return comes(check, at,
                     where == PLACE_ENTRY && found->reached >= AT_TYPE ? AT_END : AT_SPACE, found);
    case GD_WORD_PTR:
        found->pointer = at;
        return (where == PLACE_ENTRY ||
                gd_declared_refuse(check, at, "is for parameters of entries")) &&
               (found->reached >= AT_TYPE ||
                gd_declared_refuse(check, at, "stands before the type")) &&
               comes(check, at, AT_POINTER, found);
    case GD_WORD_ATTRIBUTE:
        if (!comes(check, at, AT_SPACE, found))
            return false;
        found->managed = gd_ptx_token_is(check->module, at + 2, ".managed");
        return gd_check_attribute(check, token, false);
    default:
        gd_declared_tell(check, GD_CODE_GD016, at, false);
        return false;
    }
}

static bool check_words(gd_validity *check, uint32_t token, uint32_t name, gd_place where,
                        words *found)
{
    *found = (words){.space = GD_PTX_NONE,
                     .type = GD_PTX_NONE,
                     .vector = GD_PTX_NONE,
                     .link = GD_PTX_NONE,
                     .pointer = GD_PTX_NONE};
    for (; token < name; token++) {
        if (gd_declared_kind(check, token) == GD_TOKEN_DOTTED &&
            !take_word(check, &token, where, found))
            return false;
    }
    if (found->type != GD_PTX_NONE && found->space != GD_PTX_NONE)
        return true;
    gd_validity_add(check, GD_CODE_GD016, name, NULL, "the declaration lacks a %s",
                    found->type == GD_PTX_NONE ? "type" : "state space");
    return false;
}

bool gd_declared_complain(gd_validity *check, const gd_ptx_symbol *symbol, const char *why)
{
    return gd_declared_refuse(check, symbol->token, why);
}

bool gd_is_reference(const gd_ptx_symbol *symbol)
{
    return symbol->type == GD_TYPE_TEXREF || symbol->type == GD_TYPE_SAMPLERREF ||
           symbol->type == GD_TYPE_SURFREF;
}

/* [3][]: an empty dimension is the first one, and only where something else tells the size. */
static bool check_dimensions(gd_validity *check, const gd_ptx_symbol *symbol, gd_place where,
                             bool last)
{
    bool first = true;

    for (uint32_t at = symbol->token + 1; gd_declared_kind(check, at) == '['; first = false) {
        bool empty = gd_declared_kind(check, at + 1) == ']';
        if (!first && (where == PLACE_ENTRY || where == PLACE_FUNC))
            return gd_declared_complain(check, symbol, "is a parameter that is an array of arrays");
        if (empty && !first)
            return gd_declared_complain(check, symbol,
                                        "has an empty dimension behind the first one");
        at += empty ? 2 : 3;
    }
    if (where == PLACE_ENTRY && symbol->flags & GD_SYMBOL_UNSIZED)
        return gd_declared_complain(check, symbol,
                                    "is a parameter of an entry, which must have a size");
    if (where == PLACE_FUNC)
        return !(symbol->flags & GD_SYMBOL_UNSIZED) || last ||
               gd_declared_complain(check, symbol,
                                    "has no size, which the last parameter alone may lack");
    if (symbol->flags & GD_SYMBOL_ARRAY && (symbol->flags & GD_SYMBOL_UNSIZED || !symbol->bytes) &&
        !(symbol->link & GD_LINK_EXTERN) && !(symbol->flags & GD_SYMBOL_INITIALISED))
        return gd_declared_complain(check, symbol, "has no size, and is not .extern");
    return true;
}

static bool check_register(gd_validity *check, const gd_ptx_symbol *symbol)
{
    if (symbol->flags & GD_SYMBOL_ARRAY)
        return gd_declared_complain(check, symbol, "is an array, which registers cannot be");
    if (symbol->type == GD_TYPE_PRED && symbol->vector > 1)
        return gd_declared_complain(check, symbol,
                                    "is a vector of predicates, which there are none");
    return true;
}

static bool check_memory(gd_validity *check, const gd_ptx_symbol *symbol, gd_place where,
                         bool managed)
{
    if (symbol->type == GD_TYPE_PRED)
        return gd_declared_complain(check, symbol, "is a predicate outside of .reg");
    if (symbol->flags & GD_SYMBOL_RANGE && where != PLACE_BODY && where != PLACE_MODULE)
        return gd_declared_complain(check, symbol,
                                    "is a parameter with a range, which registers alone have");
    if (symbol->space == GD_SPACE_PARAM && symbol->type == GD_TYPE_F16X2 &&
        !(symbol->flags & GD_SYMBOL_ARRAY))
        return gd_declared_complain(check, symbol, "is .f16x2 in .param; use .b32");
    if (symbol->space == GD_SPACE_PARAM && where != PLACE_ENTRY &&
        symbol->alignment > ALIGNMENT_PARAMETER)
        return gd_declared_complain(check, symbol, "is a parameter aligned to more than 128 bytes");
    if (symbol->space == GD_SPACE_PARAM && symbol->vector > 1 && !(symbol->flags & GD_SYMBOL_ARRAY))
        return gd_declared_complain(check, symbol,
                                    "is a vector in .param; an array of bytes can be one");
    if (managed && symbol->space != GD_SPACE_GLOBAL)
        return gd_declared_complain(check, symbol, "is .managed outside of .global");
    if (symbol->link & GD_LINK_COMMON && symbol->space != GD_SPACE_GLOBAL)
        return gd_declared_complain(check, symbol, "is .common outside of .global");
    return true;
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
        NULL, "%.*s is declared here already", gd_declared_bytes(length), text);
}

/* A symbol whose words are right. Of a type that came late arrays were there before. */
static void check_symbol(gd_validity *check, const gd_ptx_symbol *symbol, gd_place where, bool last,
                         const words *found)
{
    uint32_t length;
    const char *type;

    if (!(symbol->flags & GD_SYMBOL_ARRAY)) {
        gd_declared_word(check, found->type, &type, &length);
        gd_declared_need(check, found->type, type, length);
    }
    if ((uint32_t)gd_ptx_types[symbol->type].bytes * symbol->vector > VECTOR_BYTES) {
        gd_declared_complain(check, symbol, "is a vector of more than 128 bits");
        return;
    }
    if (symbol->type == GD_TYPE_PRED && symbol->vector > 1) {
        gd_declared_complain(check, symbol, "is a vector of predicates, which there is not");
        return;
    }
    if (gd_is_reference(symbol) && where != PLACE_ENTRY &&
        (where != PLACE_MODULE || symbol->space != GD_SPACE_GLOBAL)) {
        gd_declared_complain(check, symbol,
                             "is a texture, sampler or surface outside of a module's .global");
        return;
    }
    if (symbol->type == GD_TYPE_SAMPLERREF && !check->module->independent) {
        gd_declared_complain(check, symbol,
                             "is a .samplerref, which .target texmode_independent alone has");
        return;
    }
    if (symbol->space == GD_SPACE_REG ? !check_register(check, symbol)
                                      : !check_memory(check, symbol, where, found->managed) ||
                                            !check_dimensions(check, symbol, where, last))
        return;
    gd_check_initialiser(check, symbol);
}

void gd_check_variables(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_symbol *symbols = check->module->symbols;
    gd_place where = directive->scope == 0 ? PLACE_MODULE : PLACE_BODY;
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

void gd_check_parameters(gd_validity *check, uint32_t from, uint32_t end, gd_place where,
                         bool nameless)
{
    const gd_ptx_symbol *symbols = check->module->symbols;
    words found;

    for (uint32_t i = from; i < end; i++) {
        uint32_t first = symbols[i].token;
        while (gd_declared_kind(check, first - 1) != ',' &&
               gd_declared_kind(check, first - 1) != '(')
            first--;
        if (!nameless && where == PLACE_FUNC &&
            gd_ptx_token_is(check->module, symbols[i].token, "_"))
            gd_declared_complain(check, &symbols[i], "is no name of a parameter");
        else if (check_words(check, first, symbols[i].token, where, &found) &&
                 (!nameless || symbols[i].type != GD_TYPE_PRED)) /* told where it is called */
            check_symbol(check, &symbols[i], where, i + 1 == end, &found);
    }
}

/* Several are in registers. */
void gd_check_results(gd_validity *check, uint32_t token, uint32_t from, uint32_t end,
                      bool nameless)
{
    gd_check_parameters(check, from, end, PLACE_FUNC, nameless);
    if (end - from > 1 && check->module->symbols[from].space == GD_SPACE_PARAM)
        gd_validity_add(check, GD_CODE_GD016, token, NULL,
                        "several results must be in .reg, and these are in .param");
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

/* Why a name is none that a symbol can have; NULL: it can. WARP_SZ is a constant (PTX ISA
 * 4.5.4), and special registers are hidden in functions only. */
static const char *find_reason(const gd_ptx_symbol *symbol, const char *name, uint32_t length)
{
    if (length == 7 && memcmp(name, "WARP_SZ", 7) == 0)
        return "is the constant 32, and declares nothing";
    if (length == 1 && (*name == '$' || (*name == '_' && symbol->kind != GD_SYMBOL_PARAMETER)))
        return "alone is no name";
    if (symbol->scope == 0 && *name == '%' && gd_special_find(name, length))
        return "is a special register, whose name a module cannot give to something else";
    return NULL;
}

static void check_reserved(gd_validity *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        uint32_t length;
        const char *name = gd_ptx_name_text(module, symbol->name, &length);
        const char *reason = find_reason(symbol, name, length);
        if (reason)
            gd_declared_complain(check, symbol, reason);
    }
}

void gd_check_declarations(gd_validity *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->directive_count; i++)
        gd_check_directive(check, i);
    for (uint32_t i = 0; i < module->function_count; i++)
        gd_check_function(check, i);
    for (uint32_t i = 0; i < module->symbol_count; i++)
        check_again(check, &module->symbols[i]);
    check_reserved(check);
    check_constant_bytes(check);
}
