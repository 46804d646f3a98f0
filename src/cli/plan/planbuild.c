/* Building plans in memory. */
#include "cli/plan/planbuild.h"

#include "cli/io/heap.h"

/* Shared memory of a block, two of which fit a multiprocessor of sm_90, so that a dependent fits
 * beside it. */
static const uint32_t half_shared = 114688;

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Threads of a block of at most 16 warps, of which each has as many rows as any other, where that
 * can be: 3072 rows on 132 multiprocessors are 23 or 24 for each, which 12 warps take in two rounds
 * and 16 warps too, the second one half idle. A multiple of 128. */
static uint32_t even_threads(uint64_t rows, uint32_t blocks)
{
    uint64_t share = (rows + blocks - 1) / blocks, rounds = (share + 15) / 16;
    uint64_t warps = rounds > 0 ? (share + rounds - 1) / rounds : 16;
    return (uint32_t)((warps + 3) / 4 * 128);
}

/* Whether a layer is best split by columns over the warps: where each block's rows fill two or
 * three slots of eight rows of 2048 columns, so that all of W is on its way before the wait. */
static bool split_columns(const griddep_runtime_info *info, uint64_t rows, uint64_t columns)
{
    uint64_t multiprocessors = (uint64_t)info->multiprocessors,
             share = (rows + multiprocessors - 1) / multiprocessors;
    uint64_t slots = (share + 7) / 8 * ((columns + 2047) / 2048);
    uint64_t least = 2 * columns + 68512; /* what linear_bf16 requires of such a block */
    return rows * columns * 2 >= 8000000 && slots <= 3 &&
           least_of(half_shared, info->shared_bytes_per_block) >= least;
}

static gd_build_shape small_shape(const griddep_runtime_info *info, uint64_t rows, uint64_t columns,
                                  bool pair)
{
    uint32_t multiprocessors = (uint32_t)info->multiprocessors;
    uint32_t threads =
        !pair && split_columns(info, rows, columns) ? 288 : even_threads(rows, multiprocessors);
    return (gd_build_shape){multiprocessors, threads,
                            least_of(half_shared, info->shared_bytes_per_block)};
}

static gd_build_shape choose_shape(const griddep_runtime_info *info, uint64_t rows,
                                   uint64_t columns, bool pair)
{
    uint32_t multiprocessors = (uint32_t)info->multiprocessors;
    if (rows * columns * 2 < 14000000)
        return small_shape(info, rows, columns, pair);
    if (columns <= 4096)
        return (gd_build_shape){2 * multiprocessors, 256,
                                least_of(half_shared, info->shared_bytes_per_block)};
    return (gd_build_shape){multiprocessors, 512, info->shared_bytes_per_block};
}

gd_build_shape gd_build_matvec_shape(const griddep_runtime_info *info, uint64_t rows,
                                     uint64_t columns)
{
    return choose_shape(info, rows, columns, false);
}

gd_build_shape gd_build_linear_shape(const griddep_runtime_info *info, uint64_t rows,
                                     uint64_t columns, bool pair)
{
    return choose_shape(info, pair ? 2 * rows : rows, columns, pair);
}

/* The .maxntid of a kernel of the shelf, or `otherwise`. */
static uint32_t most_threads(const char *kernel, int32_t capability, uint32_t otherwise)
{
    griddep_shelf_info shelf = {.size = sizeof(shelf)};
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    griddep_ptx *ptx = NULL;
    if (griddep_shelf_find(kernel, capability, &shelf, NULL) != GRIDDEP_OK ||
        griddep_ptx_parse(shelf.text, shelf.bytes, kernel, &ptx, NULL) != GRIDDEP_OK)
        return otherwise;
    int32_t status = griddep_ptx_get_entry(ptx, 0, &entry, NULL);
    griddep_ptx_destroy(ptx);
    return status == GRIDDEP_OK && entry.maximum_block[0] > 0 ? entry.maximum_block[0] : otherwise;
}

gd_build_shape gd_build_linear_fp8_shape(const griddep_runtime_info *info, uint64_t rows,
                                         uint64_t columns)
{
    uint32_t multiprocessors = (uint32_t)info->multiprocessors;
    uint32_t shared = least_of(half_shared, info->shared_bytes_per_block);
    uint32_t threads = most_threads("linear_fp8", info->capability, 256);

    if (columns > 4096)
        return (gd_build_shape){multiprocessors, threads, info->shared_bytes_per_block};
    return (gd_build_shape){rows * columns < 20000000 ? multiprocessors : 2 * multiprocessors,
                            threads, shared};
}

gd_build_shape gd_build_attention_shape(const griddep_runtime_info *info, uint32_t head_dim,
                                        uint32_t group, uint32_t context)
{
    bool is_long = (uint64_t)context * head_dim > 131072;
    uint32_t splits = !is_long ? 8 : head_dim <= 64 ? 12 : 16, threads = 128;
    uint32_t usual = !is_long && head_dim <= 64 ? 65536 : half_shared;
    uint32_t least = (22 + 6 * group + 2 * threads) * head_dim + 24 * splits + 4 * threads + 272;
    return (gd_build_shape){splits, threads,
                            least_of(usual > least ? usual : least, info->shared_bytes_per_block)};
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
        launch->grid[i] = launch->block[i] = 1;
    launch->grid[0] = shape.blocks;
    launch->block[0] = shape.threads;
    launch->shared_bytes = shape.shared_bytes;
    return launch;
}

void gd_build_array(gd_plan_launch *launch, uint32_t buffer, gd_access access)
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
