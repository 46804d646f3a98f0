/* Atomic operations: lane by lane, in the order of the lanes. */
#ifndef GD_EMULATOR_EXECUTE_ATOMIC_H
#define GD_EMULATOR_EXECUTE_ATOMIC_H

#include "emulator/execute/execute.h"

typedef enum gd_atomic {
    GD_ATOMIC_ADD,
    GD_ATOMIC_INC,
    GD_ATOMIC_DEC,
    GD_ATOMIC_MIN,
    GD_ATOMIC_MAX,
    GD_ATOMIC_AND,
    GD_ATOMIC_OR,
    GD_ATOMIC_XOR,
    GD_ATOMIC_EXCH,
    GD_ATOMIC_CAS
} gd_atomic;

/* Which types an operation has (PTX ISA 9.7.13.5). */
bool gd_atomic_has_type(gd_atomic operation, gd_ptx_type type);

/* The new value from the old one (PTX ISA 9.7.13.5); b is cas's value, flags are GD_FTZ or none. */
uint64_t gd_atomic_apply(gd_atomic operation, gd_ptx_type type, uint64_t old, uint64_t a,
                         uint64_t b, uint32_t flags);

/* x: gd_atomic, y: gd_ptx_type, flags: GD_FTZ for f32; a and b: operands, d: the old value;
 * elements of a vector are in the list: d and a for each. */
gd_run gd_run_atomic;

#endif
