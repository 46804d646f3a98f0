/* A chain of matrix times vector layers of one shape, each with weights of its own, as a plan.
 *
 * A layer has rows x columns weights. Between layers stand vectors of max(rows, columns) elements:
 * a layer reads the first `columns` of one and writes the first `rows` of the next, so that each
 * layer needs what the one before it computed, whatever the shape; what no layer writes of a vector
 * is given. */
#ifndef GD_BENCH_FC_CHAIN_H
#define GD_BENCH_FC_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/plan/plan.h"
#include "cli/plan/planbuild.h"

/* The kernels that compute a layer: matvec_bf16, and those of the linear family without anything
 * around the product. */
typedef struct gd_fc_kernel {
    const char *name;
    gd_type weight, vector;
    bool scaled;   /* the weights have an f32 scale for each row */
    bool operands; /* takes those of a fused layer, which are absent here */
} gd_fc_kernel;

enum { GD_FC_KERNELS = 4 };

extern const gd_fc_kernel gd_fc_kernels[GD_FC_KERNELS];

typedef struct gd_fc_chain {
    const gd_fc_kernel *kernel;
    uint64_t rows, columns;
    uint32_t layers;
    gd_build_shape shape;
} gd_fc_chain;

/* That a layer must read: its weights, and their scales. */
uint64_t gd_fc_chain_layer_bytes(const gd_fc_chain *chain);

/* Builds the plan, which is zero before. */
void gd_fc_chain_build(const gd_fc_chain *chain, gd_plan *plan);

#endif
