/* Chains of matrix times vector layers. */
#include "bench/fc_chain.h"

#include <math.h>

#include "cli/io/heap.h"

const gd_fc_kernel gd_fc_kernels[GD_FC_KERNELS] = {
    {"matvec_bf16", GD_TYPE_bf16, GD_TYPE_bf16, false, false},
    {"linear_bf16", GD_TYPE_bf16, GD_TYPE_bf16, false, true},
    {"linear_f16", GD_TYPE_f16, GD_TYPE_f16, false, true},
    {"linear_fp8", GD_TYPE_e4m3, GD_TYPE_bf16, true, true},
};

uint64_t gd_fc_chain_layer_bytes(const gd_fc_chain *chain)
{
    uint64_t scales = chain->kernel->scaled ? chain->rows * gd_type_bytes(GD_TYPE_f32) : 0;
    return chain->rows * chain->columns * gd_type_bytes(chain->kernel->weight) + scales;
}

static uint64_t vector_length(const gd_fc_chain *chain)
{
    return chain->rows > chain->columns ? chain->rows : chain->columns;
}

/* With the scales, rows have about unit length. */
static uint32_t add_weight(gd_plan *plan, const gd_fc_chain *chain, uint32_t layer)
{
    long double deviation =
        chain->kernel->scaled ? 1.0L : 1.0L / sqrtl((long double)chain->columns);
    return gd_build_buffer(plan, gd_heap_format("weight_%u", (unsigned)layer),
                           chain->kernel->weight, chain->rows * chain->columns,
                           gd_build_normal(1000 + layer, deviation));
}

static uint32_t add_scale(gd_plan *plan, const gd_fc_chain *chain, uint32_t layer)
{
    long double unit = 1.0L / sqrtl((long double)chain->columns);
    gd_fill fill = {
        .kind = GD_FILL_UNIFORM, .seed = 3000 + layer, .a = 0.5L * unit, .b = 1.5L * unit};
    return gd_build_buffer(plan, gd_heap_format("scale_%u", (unsigned)layer), GD_TYPE_f32,
                           chain->rows, fill);
}

static void add_launch(gd_plan *plan, const gd_fc_chain *chain, uint32_t weight, uint32_t scale,
                       uint32_t x, uint32_t y)
{
    const gd_fc_kernel *kernel = chain->kernel;
    gd_plan_launch *launch = gd_build_launch(plan, kernel->name, chain->shape);
    gd_build_array(launch, weight, GRIDDEP_ACCESS_CONSTANT);
    if (kernel->operands)
        gd_build_none(launch); /* up */
    if (kernel->scaled) {
        gd_build_array(launch, scale, GRIDDEP_ACCESS_CONSTANT);
        gd_build_none(launch); /* up's scale */
    }
    gd_build_array(launch, x, GRIDDEP_ACCESS_READ);
    for (int i = 0; i < 3 && kernel->operands; i++)
        gd_build_none(launch); /* norm, bias, residual */
    gd_build_array(launch, y,
                   chain->rows == vector_length(chain) ? GRIDDEP_ACCESS_WRITE
                                                       : GRIDDEP_ACCESS_UPDATE);
    gd_build_u32(launch, chain->rows);
    gd_build_u32(launch, chain->columns);
    if (kernel->operands)
        gd_build_f32(launch, 0.0);
}

/* Returns the vector that the layer writes to. */
static uint32_t add_layer(gd_plan *plan, const gd_fc_chain *chain, uint32_t layer, uint32_t x)
{
    uint32_t weight = add_weight(plan, chain, layer), scale = 0;
    if (chain->kernel->scaled)
        scale = add_scale(plan, chain, layer);
    uint32_t y =
        gd_build_buffer(plan, gd_heap_format("x_%u", (unsigned)layer + 1), chain->kernel->vector,
                        vector_length(chain), gd_build_normal(2000 + layer, 1.0L));
    add_launch(plan, chain, weight, scale, x, y);
    return y;
}

void gd_fc_chain_build(const gd_fc_chain *chain, gd_plan *plan)
{
    plan->name = gd_heap_format("fc-chain of %s, %u layers of %llu x %llu", chain->kernel->name,
                                (unsigned)chain->layers, (unsigned long long)chain->rows,
                                (unsigned long long)chain->columns);
    uint32_t x = gd_build_buffer(plan, gd_heap_string("x_0"), chain->kernel->vector,
                                 vector_length(chain), gd_build_normal(1, 1.0L));
    for (uint32_t layer = 0; layer < chain->layers; layer++)
        x = add_layer(plan, chain, layer, x);
    gd_build_expect(plan, x, 2e-2);
    plan->step_bytes =
        gd_fc_chain_layer_bytes(chain) * chain->layers; /* the vectors stay in the L2 cache */
    gd_plan_finish(plan);
}
