/* Building plans in memory: buffers, and launches of the shelf's kernels with their arguments in
 * order. */
#ifndef GD_CLI_PLANBUILD_H
#define GD_CLI_PLANBUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan/plan.h"

/* How a kernel is launched: blocks (grid.x), threads of a block, dynamic shared memory. */
typedef struct gd_build_shape {
    uint32_t blocks, threads, shared_bytes;
} gd_build_shape;

/* What the library suggests (griddep_shelf_suggest) for matvec_bf16, */
gd_build_shape gd_build_matvec_shape(const griddep_runtime_info *info, uint64_t rows,
                                     uint64_t columns);

/* for linear_bf16, `pair`: with a second matrix for silu(W x) * (U x), */
gd_build_shape gd_build_linear_shape(const griddep_runtime_info *info, uint64_t rows,
                                     uint64_t columns, bool pair);

/* for linear_fp8, */
gd_build_shape gd_build_linear_fp8_shape(const griddep_runtime_info *info, uint64_t rows,
                                         uint64_t columns);

/* and for attention_decode_bf16; the blocks are those of a cluster, which share the context of one
 * head of keys and values. group: query heads that share it. */
gd_build_shape gd_build_attention_shape(const griddep_runtime_info *info, uint32_t head_dim,
                                        uint32_t group, uint32_t context);

/* Adds a buffer, whose name is taken over; returns its index. */
uint32_t gd_build_buffer(gd_plan *plan, char *name, gd_type type, uint64_t count, gd_fill fill);

/* Normally distributed around 0. */
gd_fill gd_build_normal(uint64_t seed, long double deviation);

/* Adds a launch of a kernel of the shelf, with the reference of its name. */
gd_plan_launch *gd_build_launch(gd_plan *plan, const char *kernel, gd_build_shape shape);

/* Each appends an argument. none: an address that is 0. */
void gd_build_array(gd_plan_launch *launch, uint32_t buffer, int32_t access);
void gd_build_none(gd_plan_launch *launch);
void gd_build_u32(gd_plan_launch *launch, uint64_t value);
void gd_build_f32(gd_plan_launch *launch, double value);

/* The plan is to leave in a buffer what the references compute. */
void gd_build_expect(gd_plan *plan, uint32_t buffer, double tolerance);

#endif
