/* What a kernel requires of a launch: the conditions of the head comment's "requires" field and the
 * extents of its "extent" field (doc/shelf.md), read once, kept as steps, and evaluated for each
 * launch. Immutable once read. */
#ifndef GD_PTX_REQUIRE_REQUIRE_H
#define GD_PTX_REQUIRE_REQUIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "ptx/text/diagnostic.h"
#include "ptx/text/module.h"
#include "ptx/require/map.h"

/* Limits of an entry; what is beyond is a diagnostic. */
enum {
    GD_REQUIRE_LIMIT_CONDITIONS = 128,
    GD_REQUIRE_LIMIT_EXTENTS = 64,
    GD_REQUIRE_LIMIT_STEPS = 1024,
    GD_REQUIRE_LIMIT_NAMES = 128,
    GD_REQUIRE_LIMIT_CONSTANTS = 64, /* different ones */
    GD_REQUIRE_LIMIT_RESULTS = 64,   /* operations of one comparison */
    GD_REQUIRE_LIMIT_MAPS = 8,       /* tensor maps that the conditions speak of */
    GD_REQUIRE_LIMIT_DEPTH = 32      /* of brackets one within the other */
};

/* Operands of steps are indices of a launch's values: names, then constants, then results of steps.
 */
enum {
    GD_REQUIRE_CONSTANTS = GD_REQUIRE_LIMIT_NAMES,
    GD_REQUIRE_RESULTS = GD_REQUIRE_CONSTANTS + GD_REQUIRE_LIMIT_CONSTANTS,
    GD_REQUIRE_VALUES = GD_REQUIRE_RESULTS + GD_REQUIRE_LIMIT_RESULTS
};

_Static_assert(GD_REQUIRE_VALUES <= 256, "an operand is a byte");

enum { GD_REQUIRE_NONE = 0xff };

/* A launch's shape, in the order of the names that conditions have for it: grid, block, cluster,
 * dynamic shared bytes.
 */
enum {
    GD_REQUIRE_GRID = 0,
    GD_REQUIRE_BLOCK = 3,
    GD_REQUIRE_CLUSTER = 6,
    GD_REQUIRE_SHARED = 9,
    GD_REQUIRE_SHAPE = 10
};

/* What a name is: part of the shape, an unsigned integer, an f32, whose value is its bits, or a
 * field of a tensor map.
 */
typedef enum gd_require_kind {
    GD_REQUIRE_KIND_SHAPE,
    GD_REQUIRE_KIND_INTEGER,
    GD_REQUIRE_KIND_REAL,
    GD_REQUIRE_KIND_FIELD
} gd_require_kind;

typedef struct gd_require_name {
    const char *name;
    uint16_t index; /* of the parameter, or GD_REQUIRE_GRID ... */
    uint8_t kind;
    uint8_t bytes;                 /* of a parameter */
    uint8_t field, dimension, map; /* gd_require_field; the map's index in terms->maps */
    uint8_t extent;                /* of terms->extents, of an address; GD_REQUIRE_NONE: not told */
} gd_require_name;

typedef enum gd_require_op {
    GD_REQUIRE_ADD,
    GD_REQUIRE_MULTIPLY,
    GD_REQUIRE_DIVIDE,
    GD_REQUIRE_REMAINDER,
    /* From here on what holds or does not. */
    GD_REQUIRE_COMPARE,
    GD_REQUIRE_COMPARE_REAL, /* an f32 with an integer constant */
    GD_REQUIRE_APART,        /* two addresses */
    GD_REQUIRE_UNDERSTOOD    /* the tensor maps `left`, a bit each of terms->maps */
} gd_require_op;

/* How two numbers may lie to each other, a bit each; UNORDERED: one is a NaN. */
enum {
    GD_REQUIRE_GREATER = 1,
    GD_REQUIRE_LESS = 2,
    GD_REQUIRE_EQUAL = 4,
    GD_REQUIRE_UNORDERED = 8
};

typedef struct gd_require_step {
    uint8_t op;               /* gd_require_op */
    uint8_t left, right;      /* operands */
    uint8_t result;           /* an operand; of a comparison: the orders with which it holds */
    uint8_t dropped;          /* COMPARE: so many high bits of `left` are taken for 0 */
    uint16_t then, otherwise; /* the step to go on with; 0: the next one where it holds, none where
                                 it does not */
} gd_require_step;

/* Comparisons joined by &&, and these joined by ||. The steps of all conditions lie one behind the
 * other. */
typedef struct gd_requirement {
    uint16_t step, step_end;
    const char *text;     /* "columns % 8 == 0" */
    const char *reason;   /* what stands behind "--"; NULL: nothing */
    int32_t line, column; /* of the PTX text */
} gd_requirement;

/* A comparison of one number with a constant: behind the mask the number lies at most `span` above
 * `low`, in 64 bits that wrap. */
typedef struct gd_require_range {
    uint64_t mask, low, span;
    uint16_t index; /* of the parameter, or of the plain shape */
    uint8_t bytes;  /* of the parameter */
} gd_require_range;

/* What ranges read of a shape: grid, block, dynamic shared bytes. */
enum { GD_REQUIRE_PLAIN_SHARED = 6, GD_REQUIRE_PLAIN_SHAPE };

/* How many bytes from its address on a launch may touch. */
typedef struct gd_require_extent {
    uint16_t step, step_end;
    uint8_t result;      /* the operand that is the bytes */
    uint8_t name;        /* the address */
    uint8_t maps;        /* that it depends on, a bit each of terms->maps */
    const char *text;    /* "bf16[rows]" */
    const char *element; /* "bf16", static; NULL: not told */
} gd_require_extent;

typedef struct gd_requires {
    const gd_require_name *names;
    const uint64_t *constants;
    const gd_require_step *steps;
    const gd_requirement *list;
    const gd_require_extent *extents;
    const gd_require_range *ranges; /* of the shape first; NULL: not all conditions are ranges */
    uint32_t shape_range_count, range_count;
    uint32_t name_count, constant_count, count, extent_count, map_count;
    uint16_t maps[GD_REQUIRE_LIMIT_MAPS]; /* parameters */
    gd_arena arena;                       /* of all of it */
} gd_requires;

/* All zero is one without conditions. */

/* Reads the conditions of each entry of a module, into an array that has one item an entry;
 * *requires is NULL where the head comment has none. What cannot be read becomes a diagnostic.
 * false: no memory. */
bool gd_requires_read(const gd_ptx_module *module, gd_requires **terms,
                      gd_ptx_diagnostics *diagnostics);

/* Frees such an array. */
void gd_requires_free(gd_requires *terms, uint32_t count);

/* What elements stand behind the address that a parameter is, "bf16"; NULL: not told. terms may be
 * NULL. */
const char *gd_requires_element(const gd_requires *terms, uint32_t parameter);

/* ---- a launch */

typedef struct gd_require_launch {
    uint64_t values[GD_REQUIRE_VALUES];
    uint8_t understood;                      /* tensor maps, a bit each of terms->maps */
    uint64_t placed;                         /* extents whose `ends` are known, a bit each */
    uint64_t ends[GD_REQUIRE_LIMIT_EXTENTS]; /* where the bytes behind their addresses end */
} gd_require_launch;

typedef enum gd_require_outcome {
    GD_REQUIRE_DONE, /* of a condition: it holds, or speaks of a tensor map that is not understood
                      */
    GD_REQUIRE_FAILS,
    GD_REQUIRE_OVERFLOWS,
    GD_REQUIRE_DIVIDES_BY_ZERO
} gd_require_outcome;

/* The values of a launch's shape, and of its arguments by pointers to them; without `maps` no
 * tensor map is understood. */
void gd_requires_load(const gd_requires *terms, const uint32_t shape[GD_REQUIRE_SHAPE],
                      void *const *arguments, bool maps, gd_require_launch *launch);

/* Whether all conditions hold, where a glance tells. `shape` NULL: it did so before. */
bool gd_requires_pass(const gd_requires *terms, const uint32_t shape[GD_REQUIRE_PLAIN_SHAPE],
                      void *const *arguments);

gd_require_outcome gd_requirement_evaluate(const gd_requires *terms,
                                           const gd_requirement *requirement,
                                           gd_require_launch *launch);

/* An extent's bytes; 0 for an address of 0. */
gd_require_outcome gd_require_extent_evaluate(const gd_requires *terms,
                                              const gd_require_extent *extent,
                                              gd_require_launch *launch, uint64_t *bytes);

/* Checks a launch: the index of the first condition that does not hold, terms->count when all do.
 */
uint32_t gd_requires_check(const gd_requires *terms, gd_require_launch *launch,
                           gd_require_outcome *outcome);

/* The value of a name that is an f32. */
static inline double gd_require_real(uint64_t value)
{
    const uint32_t bits = (uint32_t)value;
    float real;

    memcpy(&real, &bits, sizeof real);
    return (double)real;
}

#endif
