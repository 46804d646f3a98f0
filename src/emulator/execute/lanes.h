/* The operations of exec_lanes.def: their numbers, and where their code is. */
#ifndef GD_EMULATOR_EXECUTE_LANES_H
#define GD_EMULATOR_EXECUTE_LANES_H

#include "emulator/execute/execute.h"

typedef enum gd_lanes_op {
    GD_LANES_NONE,
#define GD_LANES1(identifier, d, a, expression) GD_LANES_##identifier,
#define GD_LANES2(identifier, d, a, b, expression) GD_LANES_##identifier,
#define GD_LANES3(identifier, d, a, b, c, expression) GD_LANES_##identifier,
#define GD_LANES4(identifier, d, a, b, c, e, expression) GD_LANES_##identifier,
#define GD_COMPARE(identifier, type, condition) GD_LANES_##identifier,
#define GD_SELECT(identifier, type) GD_LANES_##identifier,
#include "emulator/execute/lanes.def"
    GD_LANES_COUNT
} gd_lanes_op;

/* How a comparison's result is combined with the predicate c (gd_code.x). */
enum { GD_COMBINE_NONE, GD_COMBINE_AND, GD_COMBINE_OR, GD_COMBINE_XOR, GD_COMBINE_NOT };

/* The same code for any processor of the architecture, and for one with AVX2 and FMA (NULL entries
 * elsewhere). */
extern gd_run *const gd_lanes_base[GD_LANES_COUNT];
extern gd_run *const gd_lanes_avx2[GD_LANES_COUNT];

/* The code of an operation that suits this processor. */
gd_run *gd_exec_lanes_find(gd_lanes_op op);

#endif
