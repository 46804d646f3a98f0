/* Matrices that lie in the registers of a warp. All of its lanes take part. */
#ifndef GD_EMULATOR_EXECUTE_MATRIX_H
#define GD_EMULATOR_EXECUTE_MATRIX_H

#include "emulator/execute/execute.h"

/* What the elements of a and b are. */
typedef enum gd_matrix_element {
    GD_MATRIX_F16,
    GD_MATRIX_BF16,
    GD_MATRIX_TF32,
    GD_MATRIX_E4M3,
    GD_MATRIX_E5M2,
    GD_MATRIX_F64,
    GD_MATRIX_S8, /* integers from here */
    GD_MATRIX_U8,
    GD_MATRIX_S4,
    GD_MATRIX_U4,
    GD_MATRIX_B1
} gd_matrix_element;

/* GD_MATRIX_XOR: products of bits are their differences. Above them, for f64, GD_ROUND_* <<
 * GD_MATRIX_ROUND_SHIFT. */
enum {
    GD_MATRIX_SATURATE = 1,
    GD_MATRIX_HALF_C = 2,
    GD_MATRIX_HALF_D = 4,
    GD_MATRIX_XOR = 8,
    GD_MATRIX_ROUND_SHIFT = 4
};

/* Elements of a and b in a register. */
uint32_t gd_matrix_packed(gd_matrix_element kind);

/* The elements of a register, `step` doubles apart. */
void gd_matrix_unpack(uint64_t word, gd_matrix_element kind, double *to, size_t step);

/* All lanes of the warp stand at an operation whose e is the mask of all; false: not yet, or
 * never. */
bool gd_matrix_gather(gd_warp *warp, const gd_code *code, uint32_t mask);

gd_run gd_run_ldmatrix; /* list: count targets; x: transposed; e: the mask of all lanes */
gd_run gd_run_stmatrix;
gd_run gd_run_movmatrix; /* d = a transposed */
gd_run
    gd_run_mma; /* n is 8; count: m; value: k; list: d, a, b, c registers; x, y: gd_matrix_element
                 * of a and b; flags */

#endif
