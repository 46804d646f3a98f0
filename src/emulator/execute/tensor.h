/* Copies of boxes of tensors (cp.async.bulk.tensor and its kin), done at once as other asynchronous
 * copies are. */
#ifndef GD_EMULATOR_EXECUTE_TENSOR_H
#define GD_EMULATOR_EXECUTE_TENSOR_H

#include "emulator/execute/execute.h"

typedef enum gd_tensor_op {
    GD_TENSOR_LOAD,  /* from global memory to the memory operand */
    GD_TENSOR_STORE, /* the other way */
    GD_TENSOR_REDUCE,
    GD_TENSOR_PREFETCH
} gd_tensor_op;

/* x: gd_tensor_op; count: dimensions; list: the map's address, the mbarrier's (GD_ADDRESS_WORDS
 * each), then a slot for each coordinate; y: multicast to the CTAs of mask b; bytes: gd_atomic of a
 * reduction. */
gd_run gd_run_tensor;

#endif
