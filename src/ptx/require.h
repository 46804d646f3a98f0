/* What a kernel requires of a launch: the conditions of the head comment's "requires" field and the extents of its
 * "extent" field (doc/shelf.md), read once, kept as programs of a few steps, and evaluated for each launch. Immutable
 * once read. */
#ifndef GD_PTX_REQUIRE_H
#define GD_PTX_REQUIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "ptx/diagnostic.h"
#include "ptx/module.h"
#include "ptx/require_map.h"

/* Limits; what is beyond is a diagnostic. */
enum {
    GD_REQUIRE_LIMIT_CONDITIONS = 128, /* of an entry, extents counted too */
    GD_REQUIRE_LIMIT_NAMES = 96,       /* that the conditions of an entry use */
    GD_REQUIRE_LIMIT_MAPS = 8,         /* tensor maps that they speak of */
    GD_REQUIRE_LIMIT_NODES = 256,      /* operations, names and numbers of one condition */
    GD_REQUIRE_LIMIT_DEPTH = 32,       /* of brackets and operators one within the other */
    GD_REQUIRE_LIMIT_STACK = 32,       /* values that wait for their other operand */
    GD_REQUIRE_FACTORS = 4             /* of an extent that is a product */
};

enum { GD_REQUIRE_NONE = 0xffff };

/* Wide enough that no sum or product of two 64-bit numbers is lost. */
__extension__ typedef __int128 gd_wide;

typedef union gd_require_value {
    gd_wide integer; /* truths too: 0 or 1 */
    double real;
} gd_require_value;

/* A launch's shape, in the order of the names that conditions have for it: grid, block, cluster, dynamic shared bytes.
 */
enum {
    GD_REQUIRE_GRID = 0,
    GD_REQUIRE_BLOCK = 3,
    GD_REQUIRE_CLUSTER = 6,
    GD_REQUIRE_SHARED = 9,
    GD_REQUIRE_SHAPE = 10
};

/* A name that conditions use. */
typedef struct gd_require_name {
    const char *name;
    uint16_t index;  /* of the parameter, or GD_REQUIRE_GRID ... */
    uint16_t extent; /* of terms->extents; GD_REQUIRE_NONE: not told */
    uint8_t bytes;   /* of a parameter; 0: part of the shape */
    bool is_signed, is_real;
    uint8_t field, dimension; /* gd_require_field of the map that the parameter is; NONE: it is a number */
    uint8_t map;              /* of terms->maps, with a field */
} gd_require_name;

typedef enum gd_require_op {
#define REQUIRE_OP(identifier, word) GD_REQUIRE_OP_##identifier,
#include "ptx/require_ops.def"
#undef REQUIRE_OP
    /* Steps besides: those that leave the rest of && and || out, and keep the truth they saw. */
    GD_REQUIRE_OP_SKIP_IF_FALSE,
    GD_REQUIRE_OP_SKIP_IF_TRUE
} gd_require_op;

/* Where an operand is. */
enum { GD_REQUIRE_FROM_STACK = 0, GD_REQUIRE_FROM_NAME = 1, GD_REQUIRE_FROM_CONSTANT = 2 };

typedef struct gd_require_step {
    uint8_t op; /* gd_require_op */
    uint8_t real;
    uint8_t left_from, right_from; /* GD_REQUIRE_FROM_*; operations with one operand have `left` */
    uint16_t left, right;          /* SKIP: the step to go on with */
} gd_require_step;

typedef struct gd_require_program {
    uint16_t step, step_end;
} gd_require_program;

typedef struct gd_requirement {
    gd_require_program program;
    uint16_t known;       /* the step of the program to begin with where all maps are known */
    const char *text;     /* "columns % 8 == 0" */
    const char *reason;   /* what stands behind "--"; NULL: nothing */
    int32_t line, column; /* of the PTX text */
} gd_requirement;

/* Holds where ((value & mask) - low) is at most span, in 64 bits. */
typedef struct gd_require_range {
    uint16_t name;
    uint64_t mask, low, span;
} gd_require_range;

/* How many bytes from its address on a launch may touch. */
typedef struct gd_require_extent {
    gd_require_program program;
    const char *text;
    int64_t scale; /* of a product of a number and names, which most extents are: the number; else 0 */
    uint16_t factors[GD_REQUIRE_FACTORS];
    uint8_t factor_count;
    const char *element; /* "bf16", static; NULL: not told */
    uint16_t name;       /* of terms->names: the parameter */
    uint8_t maps;        /* that it depends on, a bit each of terms->maps; it is not known unless they are */
} gd_require_extent;

typedef struct gd_requires {
    gd_require_name *names;
    gd_requirement *list;
    gd_require_range *ranges; /* of all conditions that ranges can say; together they decide those */
    uint16_t *others;         /* the conditions that ranges cannot say: indices of list */
    gd_require_extent *extents;
    gd_require_step *steps;
    gd_require_value *constants;
    uint32_t name_count, name_capacity;
    uint32_t count, capacity;
    uint32_t range_count, range_capacity;
    uint32_t other_count, other_capacity;
    uint32_t extent_count, extent_capacity;
    uint32_t step_count, step_capacity;
    uint32_t constant_count, constant_capacity;
    uint16_t maps[GD_REQUIRE_LIMIT_MAPS]; /* the name that says whether each is known */
    uint32_t map_count;
    gd_arena arena; /* of the texts */
} gd_requires;

/* All zero is one without conditions. */

/* Reads the conditions of each entry of a module, into an array that has one item an entry; *requires is NULL where the
 * head comment has none. What cannot be read becomes a diagnostic. false: no memory. */
bool gd_requires_read(const gd_ptx_module *module, gd_requires **terms, gd_ptx_diagnostics *diagnostics);

/* Frees such an array. */
void gd_requires_free(gd_requires *terms, uint32_t count);

/* How a program ended. */
typedef enum gd_require_outcome {
    GD_REQUIRE_DONE, /* for a condition: it holds */
    GD_REQUIRE_FAILS,
    GD_REQUIRE_OVERFLOWS,
    GD_REQUIRE_DIVIDES_BY_ZERO
} gd_require_outcome;

/* The values of the names: of a launch's shape, and of its arguments by pointers to them. A tensor map whose bytes are
 * not understood, or none where `maps` is false, is not known: a condition that speaks of it holds. */
void gd_requires_load(const gd_requires *terms, const uint32_t shape[GD_REQUIRE_SHAPE], void *const *arguments,
                      bool maps, gd_require_value values[GD_REQUIRE_LIMIT_NAMES]);

gd_require_outcome gd_requirement_evaluate(const gd_requires *terms, const gd_requirement *requirement,
                                           const gd_require_value *values);

/* An extent's bytes; 0 for an address of 0. FAILS: a negative number, or one beyond 64 bits. */
gd_require_outcome gd_require_extent_evaluate(const gd_requires *terms, const gd_require_extent *extent,
                                              const gd_require_value *values, uint64_t *bytes);

/* What elements stand behind the address that a parameter is, "bf16"; NULL: not told. terms may be NULL. */
const char *gd_requires_element(const gd_requires *terms, uint32_t parameter);

/* Whether the maps are known that an extent depends on. */
bool gd_require_extent_is_known(const gd_requires *terms, const gd_require_extent *extent,
                                const gd_require_value *values);

/* Checks a launch: the index of the first condition that does not hold, terms->count when all do. */
uint32_t gd_requires_check(const gd_requires *terms, const gd_require_value *values, gd_require_outcome *outcome);

/* Appends "kernel matvec needs columns % 8 == 0: a row must be whole vectors (columns is 2052)". */
void gd_requirement_explain(const gd_requires *terms, const gd_requirement *requirement, const char *kernel,
                            const gd_require_value *values, gd_require_outcome outcome, gd_text *text);

#endif
