/* From the text of a condition to its program: tokens, nodes, steps. Between require.c, which finds the texts, and the
 * three files that read them. */
#ifndef GD_PTX_REQUIRE_COMPILE_H
#define GD_PTX_REQUIRE_COMPILE_H

#include "ptx/require.h"

typedef enum gd_require_token {
    GD_REQUIRE_TOKEN_END,
    GD_REQUIRE_TOKEN_BAD, /* told already */
    GD_REQUIRE_TOKEN_NAME,
    GD_REQUIRE_TOKEN_INTEGER,
    GD_REQUIRE_TOKEN_REAL,
    GD_REQUIRE_TOKEN_SIGN /* op: what it is between two operands */
} gd_require_token;

/* WORD: a field of a tensor map that is compared with words. */
typedef enum gd_require_type { GD_REQUIRE_INTEGER, GD_REQUIRE_REAL, GD_REQUIRE_TRUTH, GD_REQUIRE_WORD } gd_require_type;

typedef struct gd_require_node {
    uint8_t op;           /* gd_require_op */
    uint8_t type;         /* gd_require_type: of its value */
    bool single;          /* of a REAL: all that goes into it has f32's precision */
    bool literal;         /* of a REAL: a number that was written, which takes the precision of what it meets */
    uint16_t left, right; /* nodes; NAME: left is its index in terms->names */
    uint32_t offset;
    gd_require_value value;
} gd_require_node;

/* One condition or extent that is being read. */
typedef struct gd_require_reader {
    const gd_ptx_module *module;
    const gd_ptx_function *entry;
    gd_requires *terms;
    gd_ptx_diagnostics *diagnostics;
    const char *at, *end; /* of the module's text: what has not been read */
    bool failed;          /* what is wrong has been told */
    bool no_memory;
    uint32_t depth;
    uint8_t maps; /* that it speaks of, as in gd_require_extent */

    gd_require_token token;
    const char *start; /* of the token, and its length */
    uint32_t bytes;
    char sign[3]; /* of a SIGN */
    gd_require_value value;

    gd_require_node nodes[GD_REQUIRE_LIMIT_NODES];
    uint32_t node_count;
} gd_require_reader;

/* Tells what is wrong with a condition, the first time. Returns GD_REQUIRE_NONE. */
uint16_t gd_require_wrong(gd_require_reader *reader, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

uint32_t gd_require_offset(const gd_require_reader *reader); /* of the token */

/* ---- require_lexer.c */

void gd_require_next(gd_require_reader *reader);

/* The next token, which is a word where letters and digits stand: "128B". */
void gd_require_next_word(gd_require_reader *reader);

/* ---- require_parse.c: the node of the whole, or GD_REQUIRE_NONE */

uint16_t gd_require_parse_condition(gd_require_reader *reader);
uint16_t gd_require_parse_extent(gd_require_reader *reader);

/* The extent of `bytes` times a node. */
uint16_t gd_require_multiply(gd_require_reader *reader, uint16_t node, uint32_t bytes);

/* The condition that a node is, or that a map which it speaks of is not known. */
uint16_t gd_require_unless_unknown(gd_require_reader *reader, uint16_t node);

/* Adds a name unless it is there: its index in terms->names. */
uint16_t gd_require_add_name(gd_require_reader *reader, const gd_require_name *name, uint32_t offset);

/* The name of a parameter or of a part of the shape, GD_REQUIRE_NONE and a diagnostic where there is none. */
uint16_t gd_require_find_name(gd_require_reader *reader, const char *name, uint32_t bytes, uint32_t offset);

/* ---- require_emit.c */

/* Appends the steps of a node to the program. */
bool gd_require_emit(gd_require_reader *reader, uint16_t node, gd_require_program *program);

/* ---- require_range.c */

/* Adds the ranges that say what a condition says; false, and none, where there are no such. */
bool gd_require_add_ranges(gd_require_reader *reader, uint16_t node);

/* What of an extent is a product of a number and names. */
void gd_require_find_factors(const gd_require_reader *reader, uint16_t node, gd_require_extent *extent);

/* ---- require_evaluate.c */

/* A binary operation, or one of NEGATE, NOT, POWER_OF_TWO, which have no right operand. */
gd_require_outcome gd_require_apply(gd_require_op op, bool real, const gd_require_value *left,
                                    const gd_require_value *right, gd_require_value *result);

#endif
