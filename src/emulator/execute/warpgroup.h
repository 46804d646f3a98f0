/* wgmma: matrix products of a warpgroup, four warps in a row, from descriptors of shared memory.
 *
 * Each warp computes its 16 rows when it executes the instruction, which is one of the moments at
 * which it may be done. wgmma.wait_group holds a warp until all four have committed the groups that
 * it waits for, since a group is the warpgroup's. */
#ifndef GD_EMULATOR_EXECUTE_WARPGROUP_H
#define GD_EMULATOR_EXECUTE_WARPGROUP_H

#include "emulator/execute/execute.h"

/* GD_MATRIX_SATURATE, GD_MATRIX_HALF_C and GD_MATRIX_HALF_D as for mma, and: */
enum {
    GD_WARPGROUP_REGISTERS = 256, /* a is four registers, else a descriptor */
    GD_WARPGROUP_TRANSPOSE_A = 512,
    GD_WARPGROUP_TRANSPOSE_B = 1024,
    GD_WARPGROUP_NEGATE_A = 2048,
    GD_WARPGROUP_NEGATE_B = 4096,
    GD_WARPGROUP_KEEP_NOT = 8192 /* the predicate is negated */
};

enum {
    GD_WARPGROUP_WARPS = 4,
    GD_WARPGROUP_N = 256,
    GD_WARPGROUP_BYTES = 32 /* of a row of a, a column of b */
};

/* d: registers of the list, value of them; behind them a and b; x, y: gd_matrix_element of a and b;
 * target: n; c: predicate, whether d is added to; e: the mask of all lanes. */
gd_run gd_run_wgmma;
gd_run gd_run_wgmma_commit;
gd_run gd_run_wgmma_wait; /* value: groups that may be left */

#endif
