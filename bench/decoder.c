/* Decoder layers as a plan. */
#include <math.h>
#include <stdbool.h>

#include "bench/decoder.h"

#include "cli/io/heap.h"
#include "cli/plan/planbuild.h"

static const double epsilon = 1e-5;
static const double tolerance = 2e-2;

/* What a layer's launches share while the plan is built. */
typedef struct builder {
    const gd_decoder *decoder;
    const griddep_runtime_info *info;
    gd_plan *plan;
    bool expect;
    uint32_t layer;
    uint32_t rotary, positions;
} builder;

/* An operand of a linear layer that may be absent: a buffer's index. */
static const uint32_t absent = UINT32_MAX;

typedef struct linear {
    uint32_t weight, up, x, norm, residual, y;
    uint64_t rows, columns;
} linear;

static uint64_t qkv_rows(const gd_decoder *decoder)
{
    return (uint64_t)(decoder->heads + 2 * decoder->kv_heads) * decoder->head_dim;
}

uint64_t gd_decoder_layer_bytes(const gd_decoder *decoder)
{
    uint64_t hidden = decoder->hidden, all_heads = (uint64_t)decoder->heads * decoder->head_dim;
    uint64_t weights =
        (qkv_rows(decoder) + all_heads + 3 * (uint64_t)decoder->feed_forward) * hidden;
    uint64_t cache = 2 * (uint64_t)decoder->kv_heads * decoder->head_dim * decoder->context;
    return 2 * (weights + cache);
}

/* ---- buffers ---- */

static uint64_t seed_of(const builder *with, uint32_t kind)
{
    return 100 * (uint64_t)(with->layer + 1) + kind;
}

static uint32_t add_vector(builder *with, const char *name, uint64_t count)
{
    char *full = gd_heap_format("%s_%u", name, (unsigned)with->layer);
    return gd_build_buffer(with->plan, full, GD_TYPE_bf16, count, (gd_fill){0});
}

static uint32_t add_random(builder *with, const char *name, uint64_t count, gd_fill fill)
{
    char *full = gd_heap_format("%s_%u", name, (unsigned)with->layer);
    return gd_build_buffer(with->plan, full, GD_TYPE_bf16, count, fill);
}

/* Rows of about unit length, so that a layer keeps the size of what it is given. */
static uint32_t add_weight(builder *with, const char *name, uint32_t kind, uint64_t rows,
                           uint64_t columns)
{
    return add_random(with, name, rows * columns,
                      gd_build_normal(seed_of(with, kind), 1.0L / sqrtl((long double)columns)));
}

static uint32_t add_norm(builder *with, const char *name, uint32_t kind)
{
    gd_fill fill = {.kind = GD_FILL_UNIFORM, .seed = seed_of(with, kind), .a = 0.5L, .b = 1.5L};
    return add_random(with, name, with->decoder->hidden, fill);
}

/* ---- launches ---- */

static void add_operand(gd_plan_launch *launch, uint32_t buffer, int32_t access)
{
    if (buffer == absent)
        gd_build_none(launch);
    else
        gd_build_array(launch, buffer, access);
}

static void add_linear(builder *with, const linear *layer)
{
    gd_build_shape shape =
        gd_build_linear_shape(with->info, layer->rows, layer->columns, layer->up != absent);
    gd_plan_launch *launch = gd_build_launch(with->plan, "linear_bf16", shape);
    add_operand(launch, layer->weight, GRIDDEP_ACCESS_CONSTANT);
    add_operand(launch, layer->up, GRIDDEP_ACCESS_CONSTANT);
    add_operand(launch, layer->x, GRIDDEP_ACCESS_READ);
    add_operand(launch, layer->norm, GRIDDEP_ACCESS_CONSTANT);
    gd_build_none(launch);
    add_operand(launch, layer->residual, GRIDDEP_ACCESS_READ);
    add_operand(launch, layer->y, GRIDDEP_ACCESS_WRITE);
    gd_build_u32(launch, layer->rows);
    gd_build_u32(launch, layer->columns);
    gd_build_f32(launch, epsilon);
    if (with->expect && with->layer == 0)
        gd_build_expect(with->plan, layer->y, tolerance);
}

static uint32_t add_attention(builder *with, uint32_t qkv)
{
    const gd_decoder *decoder = with->decoder;
    uint64_t cache = (uint64_t)decoder->kv_heads * decoder->context * decoder->head_dim;
    uint32_t k = add_random(with, "k_cache", cache, gd_build_normal(seed_of(with, 10), 1.0L));
    uint32_t v = add_random(with, "v_cache", cache, gd_build_normal(seed_of(with, 11), 1.0L));
    uint32_t y = add_vector(with, "attention", (uint64_t)decoder->heads * decoder->head_dim);
    gd_build_shape shape = gd_build_attention_shape(
        with->info, decoder->head_dim, decoder->heads / decoder->kv_heads, decoder->context);
    gd_plan_launch *launch = gd_build_launch(with->plan, "attention_decode_bf16", shape);
    launch->config.grid[1] = decoder->kv_heads;
    launch->config.cluster[0] = shape.blocks;
    if (shape.blocks > 8) /* few such clusters have multiprocessors of their own */
        griddep_attribute_set(&launch->attributes[launch->config.attribute_count++],
                              GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                              (const int64_t[]){GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING}, 1,
                              NULL);
    launch->config.cluster[1] = launch->config.cluster[2] = 1;
    gd_build_array(launch, qkv, GRIDDEP_ACCESS_READ);
    gd_build_array(launch, k, GRIDDEP_ACCESS_UPDATE);
    gd_build_array(launch, v, GRIDDEP_ACCESS_UPDATE);
    gd_build_array(launch, with->rotary, GRIDDEP_ACCESS_CONSTANT);
    gd_build_array(launch, with->positions, GRIDDEP_ACCESS_CONSTANT);
    gd_build_array(launch, y, GRIDDEP_ACCESS_WRITE);
    gd_build_u32(launch, decoder->heads);
    gd_build_u32(launch, decoder->head_dim);
    gd_build_u32(launch, decoder->context);
    gd_build_f32(launch, 1.0 / sqrt(decoder->head_dim));
    if (with->expect && with->layer == 0)
        gd_build_expect(with->plan, y, tolerance);
    return y;
}

/* From the hidden vector of one layer to that of the next, whose index it returns. */
static uint32_t add_layer(builder *with, uint32_t h)
{
    uint64_t hidden = with->decoder->hidden, wide = with->decoder->feed_forward;
    uint64_t heads = (uint64_t)with->decoder->heads * with->decoder->head_dim,
             rows = qkv_rows(with->decoder);
    uint32_t qkv = add_vector(with, "qkv", rows), h2 = add_vector(with, "h2", hidden);
    uint32_t f = add_vector(with, "f", wide), next = add_vector(with, "h", hidden);
    linear project = {add_weight(with, "w_qkv", 1, rows, hidden),
                      absent,
                      h,
                      add_norm(with, "norm_1", 2),
                      absent,
                      qkv,
                      rows,
                      hidden};
    add_linear(with, &project);
    uint32_t attention = add_attention(with, qkv);
    linear output = {
        add_weight(with, "w_o", 3, hidden, heads), absent, attention, absent, h, h2, hidden, heads};
    add_linear(with, &output);
    uint32_t gate = add_weight(with, "w_gate", 4, wide, hidden),
             up = add_weight(with, "w_up", 5, wide, hidden);
    linear widen = {gate, up, h2, add_norm(with, "norm_2", 6), absent, f, wide, hidden};
    add_linear(with, &widen);
    linear narrow = {
        add_weight(with, "w_down", 7, hidden, wide), absent, f, absent, h2, next, hidden, wide};
    add_linear(with, &narrow);
    return next;
}

void gd_decoder_build(const gd_decoder *decoder, const griddep_runtime_info *info, bool expect,
                      gd_plan *plan)
{
    builder with = {.decoder = decoder, .info = info, .plan = plan, .expect = expect};
    gd_fill last = {.kind = GD_FILL_CONSTANT, .a = decoder->context - 1};
    gd_fill turns = {.kind = GD_FILL_UNIFORM, .seed = 2, .a = -1.0L, .b = 1.0L};
    plan->name = gd_heap_format("%s, %u decoder layers, context %u", decoder->name,
                                (unsigned)decoder->layers, (unsigned)decoder->context);
    with.rotary = gd_build_buffer(plan, gd_heap_string("rotary"), GD_TYPE_f32,
                                  (uint64_t)decoder->context * decoder->head_dim, turns);
    with.positions = gd_build_buffer(plan, gd_heap_string("positions"), GD_TYPE_u32, 1, last);
    uint32_t h = gd_build_buffer(plan, gd_heap_string("h"), GD_TYPE_bf16, decoder->hidden,
                                 gd_build_normal(1, 1.0L));
    for (with.layer = 0; with.layer < decoder->layers; with.layer++)
        h = add_layer(&with, h);
    if (expect && decoder->layers > 1)
        gd_build_expect(plan, h, tolerance);
    plan->step_bytes = gd_decoder_layer_bytes(decoder) * decoder->layers;
    gd_plan_finish(plan);
}
