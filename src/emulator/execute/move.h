/* Predicates, carries, and moves that are not lane by lane. */
#ifndef GD_EMULATOR_EXECUTE_MOVE_H
#define GD_EMULATOR_EXECUTE_MOVE_H

#include "emulator/execute/execute.h"

enum { GD_CARRY_IN = 1, GD_CARRY_OUT = 2, GD_CARRY_SUB = 4 };

gd_run
    gd_run_predicates; /* d = a, or combined with b by x (GD_COMBINE_*); flags: 1 a is negated, 2 b
                        * is */
gd_run gd_run_carry;   /* d = a + b or a - b of `bytes` with CC.CF */
gd_run gd_run_move_wide; /* 16-byte lanes */
gd_run
    gd_run_local_address; /* d = the frame's place in local memory + value; bytes: of d's lanes */
gd_run gd_run_space; /* predicate d: whether address a of `bytes` lies in space x of the generic
                   * ones */
gd_run gd_run_pack;  /* d from `count` slots of the list, each of `bytes`, the lowest first; x: the
                     * other way */

#endif
