/* Matrices that lie in the registers of a warp. All of its lanes take part. */
#ifndef GD_EMULATOR_EXEC_MATRIX_H
#define GD_EMULATOR_EXEC_MATRIX_H

#include "emulator/exec.h"

/* What the elements of a and b are. */
typedef enum gd_matrix_element {
    GD_MATRIX_F16,
    GD_MATRIX_BF16,
    GD_MATRIX_TF32,
    GD_MATRIX_S8,
    GD_MATRIX_U8
} gd_matrix_element;

enum { GD_MATRIX_SATURATE = 1, GD_MATRIX_HALF_C = 2, GD_MATRIX_HALF_D = 4 };

gd_run gd_run_ldmatrix;  /* list: count targets; x: transposed; e: the mask of all lanes */
gd_run gd_run_stmatrix;
gd_run gd_run_movmatrix; /* d = a transposed */
gd_run gd_run_mma;       /* m16n8: list: d, a, b, c registers; bytes: k; x, y: gd_matrix_element of a and b; flags */

#endif
