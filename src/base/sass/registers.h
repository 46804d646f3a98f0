/* Which registers hold what differs between the threads of a grid. */
#ifndef GD_BASE_SASS_REGISTERS_H
#define GD_BASE_SASS_REGISTERS_H

#include "base/sass/instruction.h"

/* A set of registers: R0 to R254, UR0 to UR62, P0 to P6 and UP0 to UP6. */
typedef struct gd_sass_registers {
    uint64_t words[6];
} gd_sass_registers;

/* The set behind an instruction, of the one in front of it: what is computed of a thread's or a
 * CTA's number differs. What instructions write of which nothing is known here does not, for all
 * that can be told. */
void gd_sass_compute(gd_sass at, gd_sass_registers *set);

/* Whether a branch or an exit, by its predicate, is one that threads take and others do not. */
bool gd_sass_divides(gd_sass at, const gd_sass_registers *set);

#endif
