/* Where an address may come from: for each register of a function, the parameters that its value
 * may point into, and what it depends on. The one answer that check, gate, access of chains and
 * rewriter ask for.
 *
 * There is one answer for each web of a register (web.h: what its definitions and uses that reach
 * each other have in common), found by a worklist over definitions and uses. A value points where
 * its sources do through ld.param, cvta, mov, add, sub, the addend of mad, logic, selp, min, max,
 * shfl, vectors, packing and unpacking of halves, and copies by way of .local variables. Through
 * multiplication, shifts, division, bit fields and all other arithmetic a parameter stays in the
 * value (`scaled`): x + f(y - x) points into x, and perhaps into y. Comparisons end it.
 *
 * What was loaded from memory, comes in a parameter that is smaller than an address, was returned
 * by a call, or was made by an unknown instruction, is a NUMBER. Added to a value that points
 * somewhere it is an index into that; this is assumed, not shown. An address that may be
 * such a number alone, that comes from nowhere (a literal, a scaled parameter alone), or that was
 * packed from halves of which only one points somewhere, is `unknown`: never guessed safe. So is a
 * value that may point into more than GD_PTX_LIMIT_ORIGINS parameters.
 *
 * What the function itself has stored or given to a call may be in a number that it loads or gets
 * back: its parameters are scaled in that. What other launches have stored is not followed.
 *
 * Only data dependence is followed: a guard counts, a branch around a definition does not. What is
 * told of an address by comparisons alone (bits tested one by one, a loop until p equals it) is a
 * number too; doc/griddep-chain.md says so to users. */
#ifndef GD_PTX_FLOW_PROVENANCE_H
#define GD_PTX_FLOW_PROVENANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/text/module.h"

enum {
    GD_ORIGIN_UNKNOWN = 1, /* may be anything */
    GD_ORIGIN_SHARED = 2,  /* address of a .shared variable or of the dynamic shared window */
    GD_ORIGIN_LOCAL = 4,   /* address of a .local variable */
    GD_ORIGIN_GLOBAL = 8,  /* address of a .global or .const variable of the module */
    GD_ORIGIN_THREAD =
        16, /* depends on what differs between threads of a CTA: %tid, %laneid, %warpid, elect,
                              shared data, atomics, clocks */
    GD_ORIGIN_BLOCK = 32,   /* depends on what differs between CTAs: %ctaid, %smid, ... */
    GD_ORIGIN_MEMORY = 64,  /* depends on data read from global memory */
    GD_ORIGIN_NUMBER = 128, /* may be a number that comes from outside, and so an address alone */
    GD_ORIGIN_WIDE = 256,   /* a number as wide as an address, from memory or a call, went into it;
                             * or halves of one */
    GD_ORIGIN_DISTANCE =
        512 /* so did a difference of what points somewhere, which points nowhere */
};

typedef struct gd_origin {
    uint32_t flags;      /* GD_ORIGIN_* */
    uint32_t parameters; /* that it may point into: a set, for gd_origins_set_has; 0: empty */
    uint32_t scaled;     /* parameters whose value went into it by other arithmetic: likewise */
    uint32_t cause; /* the instruction that made it NUMBER or UNKNOWN; GD_PTX_NONE: none is known */
} gd_origin;

typedef struct gd_origins gd_origins;

/* Of a function with a body; its parameters are numbered from 0 as in the text. For a .func, the
 * caller substitutes its arguments. */
int32_t gd_origins_create(const gd_ptx_module *module, uint32_t function, gd_origins **origins,
                          griddep_error *error);
void gd_origins_destroy(gd_origins *origins);

/* Whether the function lets the address of a variable of the module go where others may read it:
 * into memory, or into a function. */
bool gd_origins_expose_variables(const gd_origins *origins);

/* Of an operand: register, symbol, vector, or memory operand (then: of its address). Special
 * registers and literals too. A vector may make a new set, so only one thread at a time may ask. */
gd_origin gd_origins_of(const gd_origins *origins, uint32_t operand);

/* Whether a set has a parameter; how many it has; the index-th of them, in ascending order. */
bool gd_origins_set_has(const gd_origins *origins, uint32_t set, uint32_t parameter);
uint32_t gd_origins_set_count(const gd_origins *origins, uint32_t set);
uint32_t gd_origins_set_at(const gd_origins *origins, uint32_t set, uint32_t index);

/* The state space that a memory instruction names in its modifiers; GD_SPACE_NONE: generic, or it
 * names none. */
gd_ptx_space gd_ptx_instruction_space(const gd_ptx_module *module,
                                      const gd_ptx_instruction *instruction);

#endif
