/* What the parts of the parser share: the cursor, diagnostics, scopes. Internal to parser.c,
 * parse_*.c.
 *
 * A function that parses something returns false when it could not; then a diagnostic has been
 * added or memory has run out, and whoever loops over statements goes on behind the next ';' or
 * before the next '}'. */
#ifndef GD_PTX_TEXT_PARSE_H
#define GD_PTX_TEXT_PARSE_H

#include "ptx/text/module.h"
#include "ptx/text/word.h"

/* A binding that a scope has hidden. */
typedef struct gd_parse_undo {
    uint32_t name;
    uint32_t symbol;
    uint32_t range;
} gd_parse_undo;

typedef struct gd_parser {
    gd_ptx_module *module;
    const gd_token *tokens; /* module->tokens.list */
    uint32_t at;            /* the token that is looked at */
    uint32_t scope;
    uint32_t function;    /* GD_PTX_NONE at module scope */
    uint32_t depth;       /* of open scopes, the module's not counted */
    uint32_t first_label; /* symbol: the labels that stand right before the statement begin here */
    bool out_of_memory;
    bool is_call; /* the instruction that is looked at */
    bool lost;    /* a mistake at module scope was told, and no function has been read since */
    bool split_anywhere; /* some name<N> ends in a digit, so that %r12 may also be the third of
                         * %r1<9> */
    uint32_t errors;

    struct {
        uint32_t undo;
        uint32_t pending;
    } marks[GD_PTX_LIMIT_DEPTH + 1];
    gd_parse_undo *undo; /* bindings to restore when scopes close */
    uint32_t undo_count, undo_capacity;
    uint32_t
        *pending; /* operands whose symbol is found when a scope closes: labels may be used before
                  * they stand */
    uint32_t pending_count, pending_capacity;
} gd_parser;

/* parse_state.c: cursor */
static inline uint32_t gd_parse_kind(const gd_parser *parser)
{
    return gd_token_kind(parser->tokens[parser->at]);
}

static inline uint32_t gd_parse_next_kind(const gd_parser *parser)
{
    return gd_parse_kind(parser) == GD_TOKEN_END ? GD_TOKEN_END
                                                 : gd_token_kind(parser->tokens[parser->at + 1]);
}

/* Steps over a token of that kind, if it is there. */
static inline bool gd_parse_skip(gd_parser *parser, uint32_t kind)
{
    if (gd_parse_kind(parser) != kind)
        return false;
    parser->at++;
    return true;
}

/* Adds "found X, expected <expected>" at the current token. Always false. */
bool gd_parse_fail(gd_parser *parser, const char *expected);

/* Adds nothing: the mistake follows from one that was told. Always false. */
bool gd_parse_fail_again(gd_parser *parser);

/* Adds "found X, expected at most N <things> (GD_PTX_LIMIT_...)". Always false. */
bool gd_parse_fail_limit(gd_parser *parser, const char *name, int limit, const char *things);
#define GD_PARSE_FAIL_LIMIT(parser, name, things) gd_parse_fail_limit(parser, #name, name, things)

/* Notes that memory has run out. Always false. */
bool gd_parse_memory(gd_parser *parser);

/* Steps over a token that must be there. */
bool gd_parse_expect(gd_parser *parser, uint32_t kind, const char *expected);

/* Whether the next statement, or the end of a scope, stands where this one is not over: a ';' is
 * lost. */
bool gd_parse_begins(gd_parser *parser);

/* Steps over the ';' of a statement. One that is lost is told, and the statement is whole. */
bool gd_parse_finish(gd_parser *parser, const char *expected);

/* An integer literal of at most 32 bits, or of 64. */
bool gd_parse_u32(gd_parser *parser, const char *expected, uint32_t *value);
bool gd_parse_u64(gd_parser *parser, const char *expected, uint64_t *value);

/* Steps over everything up to a token of kind `stop` or `other` that stands in no bracket, which is
 * not stepped over. */
bool gd_parse_until(gd_parser *parser, uint32_t stop, uint32_t other, const char *expected);

/* Steps over a bracket, whose opening one is looked at, and what it holds. */
bool gd_parse_bracket(gd_parser *parser);

/* Goes on behind the next ';', or before the next bracket of a scope. Moves on at least one token
 * past `from`. */
void gd_parse_resume(gd_parser *parser, uint32_t from);

/* The word that the current token is; one of class GD_WORD_NONE when it is none or not dotted;
 * NULL: no memory. */
const gd_word *gd_parse_word(gd_parser *parser);

/* The number of the current token's text among the names; GD_PTX_NONE: no memory. */
uint32_t gd_parse_name(gd_parser *parser);

/* parse_state.c: items and scopes */
uint32_t gd_parse_add_symbol(gd_parser *parser, gd_ptx_symbol_kind kind, uint32_t name,
                             uint32_t token);
uint32_t gd_parse_add_directive(gd_parser *parser, gd_ptx_directive_kind kind, uint32_t token);
uint32_t gd_parse_add_operand(gd_parser *parser, gd_ptx_operand_kind kind, uint32_t token);

/* Makes a symbol the meaning of its name in the current scope. */
bool gd_parse_bind(gd_parser *parser, uint32_t symbol);

/* The symbol that a name means here, and which register of a range; GD_PTX_NONE when it is not
 * declared. */
uint32_t gd_parse_resolve(const gd_parser *parser, uint32_t name, uint32_t *index);

bool gd_parse_open_scope(gd_parser *parser, uint32_t token);
void gd_parse_close_scope(gd_parser *parser, uint32_t token_end);

/* Gives the operands that wait for a symbol those that the current scope has by now. */
void gd_parse_settle(gd_parser *parser, uint32_t first_pending);

/* parse_operand.c: one operand; what follows the @ of a guard; names separated by commas */
bool gd_parse_operand(gd_parser *parser, uint32_t depth);
bool gd_parse_guard(gd_parser *parser);
bool gd_parse_name_list(gd_parser *parser);

/* parse_declaration.c: a variable declaration from its space on, with the linking directives before
 * it; one parameter list, brackets included; directives that may stand at any level */
bool gd_parse_variables(gd_parser *parser, uint32_t token, uint32_t link);
bool gd_parse_parameters(gd_parser *parser, uint32_t *symbol, uint32_t *symbol_end);
bool gd_parse_attribute(gd_parser *parser);
bool gd_parse_directive(gd_parser *parser, const gd_word *word);

/* parse_body.c: a function's body, from its '{' to its '}' */
bool gd_parse_body(gd_parser *parser);

#endif
