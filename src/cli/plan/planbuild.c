/* Building plans in memory. */
#include "cli/plan/planbuild.h"

#include "cli/io/heap.h"

/* The library's shape for a kernel whose arguments are 0 but for those given. */
typedef struct given {
    uint32_t place;
    uint64_t value;
} given;

static gd_build_shape suggest(const griddep_runtime_info *info, const char *kernel, uint32_t count,
                              uint32_t rows, const given *values, size_t given_count)
{
    griddep_argument arguments[12] = {0};
    griddep_launch_config config = {.size = sizeof(config), .grid = {0, rows, 0}};
    for (size_t i = 0; i < count; i++)
        arguments[i].bytes = 8;
    for (size_t i = 0; i < given_count; i++)
        arguments[values[i].place].value = values[i].value;
    griddep_shelf_suggest(kernel, info, arguments, count, &config, NULL);
    return (gd_build_shape){config.grid[0], config.block[0], config.shared_bytes};
}

gd_build_shape gd_build_matvec_shape(const griddep_runtime_info *info, uint64_t rows,
                                     uint64_t columns)
{
    return suggest(info, "matvec_bf16", 5, 0, (given[]){{3, rows}, {4, columns}}, 2);
}

gd_build_shape gd_build_linear_shape(const griddep_runtime_info *info, uint64_t rows,
                                     uint64_t columns, bool pair)
{
    return suggest(info, "linear_bf16", 10, 0, (given[]){{1, pair}, {7, rows}, {8, columns}}, 3);
}

gd_build_shape gd_build_linear_fp8_shape(const griddep_runtime_info *info, uint64_t rows,
                                         uint64_t columns)
{
    return suggest(info, "linear_fp8", 12, 0, (given[]){{9, rows}, {10, columns}}, 2);
}

gd_build_shape gd_build_attention_shape(const griddep_runtime_info *info, uint32_t head_dim,
                                        uint32_t group, uint32_t context)
{
    return suggest(info, "attention_decode_bf16", 10, 1,
                   (given[]){{6, group}, {7, head_dim}, {8, context}}, 3);
}

uint32_t gd_build_buffer(gd_plan *plan, char *name, gd_type type, uint64_t count, gd_fill fill)
{
    gd_plan_buffer *buffer = gd_plan_add_buffer(plan);
    buffer->name = name;
    buffer->type = type;
    buffer->count = count;
    buffer->fill = fill;
    return plan->buffer_count - 1;
}

gd_fill gd_build_normal(uint64_t seed, long double deviation)
{
    return (gd_fill){.kind = GD_FILL_NORMAL, .seed = seed, .b = deviation};
}

gd_plan_launch *gd_build_launch(gd_plan *plan, const char *kernel, gd_build_shape shape)
{
    uint32_t module = gd_plan_shelf_module(plan, kernel, (gd_place){0});
    gd_plan_launch *launch = gd_plan_add_launch(plan);
    launch->kernel = gd_heap_string(kernel);
    launch->module = module;
    launch->reference = gd_reference_find(kernel);
    for (size_t i = 0; i < 3; i++)
        launch->config.grid[i] = launch->config.block[i] = 1;
    launch->config.grid[0] = shape.blocks;
    launch->config.block[0] = shape.threads;
    launch->config.shared_bytes = shape.shared_bytes;
    return launch;
}

void gd_build_array(gd_plan_launch *launch, uint32_t buffer, int32_t access)
{
    gd_plan_argument *argument = gd_plan_add_argument(launch);
    argument->is_buffer = true;
    argument->buffer = buffer;
    argument->access = access;
}

void gd_build_none(gd_plan_launch *launch)
{
    gd_plan_add_argument(launch)->type = GD_TYPE_u64;
}

void gd_build_u32(gd_plan_launch *launch, uint64_t value)
{
    gd_plan_argument *argument = gd_plan_add_argument(launch);
    argument->type = GD_TYPE_u32;
    argument->value = value;
}

void gd_build_f32(gd_plan_launch *launch, double value)
{
    gd_plan_argument *argument = gd_plan_add_argument(launch);
    argument->type = GD_TYPE_f32;
    gd_type_store(GD_TYPE_f32, &argument->value, 0, value);
}

void gd_build_expect(gd_plan *plan, uint32_t buffer, double tolerance)
{
    gd_plan_expectation *expectation = gd_plan_add_expectation(plan);
    expectation->buffer = buffer;
    expectation->from = GD_EXPECTED_REFERENCE;
    expectation->tolerance = tolerance;
    expectation->absolute = -1.0;
}
