/* Declarations, directives and functions' heads: what the files that check them share. */
#ifndef GD_PTX_CHECK_DECLARATION_H
#define GD_PTX_CHECK_DECLARATION_H

#include "ptx/check/validity.h"
#include "ptx/text/word.h"

/* Where a declaration stands. */
typedef enum gd_place {
    PLACE_MODULE,
    PLACE_BODY,
    PLACE_ENTRY, /* a parameter of an .entry */
    PLACE_FUNC   /* a parameter or result of a .func */
} gd_place;

static inline uint32_t gd_declared_kind(const gd_validity *check, uint32_t token)
{
    return gd_token_kind(check->module->tokens.list[token]);
}

/* Of a text in a finding. */
static inline int gd_declared_bytes(uint32_t length)
{
    return (int)(length < 60 ? length : 60);
}

/* ---- words (check/declaration.c) ---- */

/* The word that a dotted token is, and its text without the dot. */
const gd_word *gd_declared_word(const gd_validity *check, uint32_t token, const char **text,
                                uint32_t *length);

/* Whether a word stands in declarations. */
bool gd_is_declared_with(const gd_word *word);

/* Tells a word that is none, of a declaration or, `directive`, as a directive. */
void gd_declared_tell(gd_validity *check, gd_code code, uint32_t token, bool directive);

/* Tells what a word needs and the text lacks. */
void gd_declared_need(gd_validity *check, uint32_t token, const char *text, uint32_t length);

/* ---- declarations (check/declaration.c) ---- */

/* Tells that a token's, or a symbol's, declaration is wrong; returns false. */
bool gd_declared_refuse(gd_validity *check, uint32_t token, const char *why);
bool gd_declared_complain(gd_validity *check, const gd_ptx_symbol *symbol, const char *why);

/* Whether a symbol is declared in front of a token; of a function, any declaration counts. */
bool gd_declared_before(const gd_validity *check, uint32_t symbol, uint32_t token);

/* What an .attribute has in brackets; *token, that of the directive, becomes that of the ')'. A
 * function is .unified only. */
bool gd_check_attribute(gd_validity *check, uint32_t *token, bool function);

/* Whether it is a texture, a sampler or a surface. */
bool gd_is_reference(const gd_ptx_symbol *symbol);

void gd_check_variables(gd_validity *check, const gd_ptx_directive *directive);

/* Those of a function or, `nameless`, of a prototype: the symbols [from, end). */
void gd_check_parameters(gd_validity *check, uint32_t from, uint32_t end, gd_place where,
                         bool nameless);
void gd_check_results(gd_validity *check, uint32_t token, uint32_t from, uint32_t end,
                      bool nameless);

/* ---- initial values (check/initial.c) ---- */

void gd_check_initialiser(gd_validity *check, const gd_ptx_symbol *symbol);

/* ---- functions (check/signature.c) ---- */

/* How two functions differ that have one name; NULL: they do not. */
const char *gd_compare_functions(const gd_ptx_module *module, const gd_ptx_function *one,
                                 const gd_ptx_function *other);
void gd_check_function(gd_validity *check, uint32_t index);

/* ---- directives (check/directive.c) ---- */

void gd_check_directive(gd_validity *check, uint32_t index);

#endif
