/* PTX text to tokens. Lossless: a token is a view into the text, and what lies between two tokens
 * is white space and comments. */
#ifndef GD_PTX_TEXT_LEXER_H
#define GD_PTX_TEXT_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/text/diagnostic.h"

/* Readable zero bytes that must follow a text, so that scanning needs no bounds checks. */
enum { GD_PTX_TEXT_PADDING = 16 };

/* The kind of a punctuation token is its character. */
enum {
    GD_TOKEN_END = 0,     /* once, behind the last one; empty */
    GD_TOKEN_NAME = 1,    /* foo, %r1, $L_1, _ */
    GD_TOKEN_DOTTED = 2,  /* .u32, .shared::cta, .L2::128B, .3d, with the dot */
    GD_TOKEN_INTEGER = 3, /* 12, 0x1F, 017, 0b101, each also with U */
    GD_TOKEN_FLOAT = 4,   /* 1.5, 1e3, .5, 0f3F800000, 0d3FF0000000000000 */
    GD_TOKEN_STRING = 5,  /* with its quotes */
    GD_TOKEN_BAD =
        6 /* reported by the lexer: a stray byte, a malformed number, what is not terminated */
};

typedef struct gd_token {
    uint32_t offset;
    uint32_t bits; /* kind: 7 bits, first on its line: 1 bit, length: 24 bits */
} gd_token;

static inline uint32_t gd_token_kind(gd_token token)
{
    return token.bits & 0x7f;
}

static inline bool gd_token_starts_line(gd_token token)
{
    return token.bits & 0x80;
}

static inline uint32_t gd_token_length(gd_token token)
{
    return token.bits >> 8;
}

typedef struct gd_ptx_tokens {
    gd_token *list; /* ends with GD_TOKEN_END */
    uint32_t count; /* without that one */
    uint32_t capacity;
    uint32_t *lines; /* offset of each line's first byte */
    uint32_t line_count;
    uint32_t line_capacity;
} gd_ptx_tokens;

/* All zero is an empty list. */

/* Splits a text of at most GD_PTX_LIMIT_BYTES. What is no token becomes GD_TOKEN_BAD and a
 * diagnostic. false: no memory. */
bool gd_ptx_tokens_read(gd_ptx_tokens *tokens, const char *text, uint32_t bytes,
                        gd_ptx_diagnostics *diagnostics);

void gd_ptx_tokens_free(gd_ptx_tokens *tokens);

/* Line and column, both from 1, the column in bytes. */
void gd_ptx_tokens_position(const gd_ptx_tokens *tokens, uint32_t offset, int32_t *line,
                            int32_t *column);

/* The first token at or behind an offset; the number of tokens: there is none. */
uint32_t gd_ptx_tokens_from(const gd_ptx_tokens *tokens, uint32_t offset);

/* The values of literals. gd_ptx_integer_read: false when the number needs more than 64 bits.
 * gd_ptx_float_read: the bits of an IEEE double, or of a float for 0f (then *is_single). */
bool gd_ptx_integer_read(const char *text, uint32_t length, uint64_t *value);
uint64_t gd_ptx_float_read(const char *text, uint32_t length, bool *is_single);

#endif
