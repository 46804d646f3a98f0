/* The decode step. A layer is five launches: norm with queries, keys and values; attention; output
 * with residual; norm with gate and up; down with residual; one more where heads are normed; and on
 * several devices two hops more, which add their shares of output and down.
 * Each launch writes memory of its own, so that no launch waits for a reader of what it
 * overwrites. */
#include <math.h>
#include <string.h>

#include "build.h"
#include "decode.h"
#include "tiles.h"

/* x and two slots of 16 tiles lie in shared memory: where that has no room for all sequences,
 * several launches read the weights. */
static void add_tiles(builder *with, const matrix *weight, const matrix *up, uint64_t x,
                      uint64_t norm, uint64_t bias, uint64_t residual, uint64_t y, uint64_t rows,
                      uint64_t columns)
{
    const model *of = with->of;
    const uint64_t room = of->device.shared_bytes_per_block;
    uint64_t count = of->sequences;

    while (count > 1 && 304 + 32 * TILE_BYTES + columns / 4 + (2560 + 2 * columns) * count > room)
        count = (count + 1) / 2;
    for (uint64_t first = 0; first < of->sequences; first += count) {
        const uint64_t left = of->sequences - first;
        give_address(with, weight->at);
        give_address(with, up ? up->at : 0);
        give_address(with, x + 2 * first * columns);
        give_address(with, norm);
        give_address(with, bias);
        give_address(with, residual ? residual + 2 * first * rows : 0);
        give_address(with, y + 2 * first * rows);
        give_u32(with, rows);
        give_u32(with, columns);
        give_u32(with, left < count ? left : count);
        give_f32(with, of->config.epsilon);
        add_shelf(with, "linear_int4", NULL, (griddep_launch_config){0});
    }
}

/* One sequence goes through linear_*, up to eight through skinny_*, which has the batch as an
 * argument more. */
static void add_linear(builder *with, const matrix *weight, const matrix *up, uint64_t x,
                       uint64_t norm, uint64_t bias, uint64_t residual, uint64_t y, uint64_t rows,
                       uint64_t columns)
{
    const uint64_t behind[] = {x, norm, bias, residual, y};
    const model *of = with->of;

    if (weight->bits == 4) {
        add_tiles(with, weight, up, x, norm, bias, residual, y, rows, columns);
        return;
    }
    give_address(with, weight->at);
    give_address(with, up ? up->at : 0);
    if (weight->bits == 8) {
        give_address(with, weight->scale);
        give_address(with, up ? up->scale : 0);
    }
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        give_address(with, behind[i]);
    give_u32(with, rows);
    give_u32(with, columns);
    if (of->sequences > 1)
        give_u32(with, of->sequences);
    if (weight->scale_rows)
        give_u32(with, weight->scale_rows);
    give_f32(with, of->config.epsilon);
    add_shelf(with, of->sequences > 1 ? "skinny" : "linear",
              weight->scale_rows  ? "fp8_block"
              : weight->bits == 8 ? "fp8"
                                  : with->type,
              (griddep_launch_config){0});
}

static void add_attention(builder *with, const layer *at)
{
    const model *of = with->of;
    const model_config *config = &of->config;

    give_address(with, at->qkv_out);
    give_address(with, at->k_cache);
    give_address(with, at->v_cache);
    give_address(with, of->at.rotary);
    give_address(with, of->at.position);
    give_address(with, at->attention_out);
    give_u32(with, config->heads);
    give_u32(with, config->head_dim);
    give_u32(with, of->capacity);
    give_f32(with, 1 / sqrt(config->head_dim));
    add_shelf(with, "attention_decode", with->type,
              (griddep_launch_config){.grid = {0, config->kv_heads, of->sequences}});
}

/* From h to the layer's own h. */
static void add_layer(builder *with, const layer *at, uint64_t h)
{
    const model_config *config = &with->of->config;
    uint64_t hidden = config->hidden, wide = config->feed_forward;
    uint64_t all_heads = (uint64_t)config->heads * config->head_dim;

    add_linear(with, &at->qkv, NULL, h, at->norm_1, at->qkv_bias, 0, at->qkv_out,
               model_qkv_rows(config), hidden);
    if (at->q_norm)
        add_head_norms(with, at, at->qkv_out, with->of->sequences);
    add_attention(with, at);
    add_linear(with, &at->output, NULL, at->attention_out, 0, at->output_bias, once(with, h),
               at->output_out, hidden, all_heads);
    add_sum(with, at->output_out, hidden * with->of->sequences);
    add_linear(with, &at->gate, &at->up, at->output_out, at->norm_2, 0, 0, at->f, wide, hidden);
    add_linear(with, &at->down, NULL, at->f, 0, 0, once(with, at->output_out), at->h, hidden, wide);
    add_sum(with, at->h, hidden * with->of->sequences);
}

/* From logits to the sampled tokens. */
static void add_sampling(builder *with, const sampling *draw)
{
    const model *of = with->of;
    uint32_t vocabulary = of->config.vocabulary;
    bool half = !strcmp(with->type, "f16");
    const char *type = half ? "f32" : "bf16";
    uint64_t logits = of->at.logits;

    if (half) { /* the samplers have no f16 */
        give_address(with, logits);
        give_address(with, logits = of->at.wide_logits);
        give_u32(with, (uint64_t)vocabulary * of->sequences);
        add_shelf(with, "cast_f16", "f32", (griddep_launch_config){0});
    }
    if (draw->repetition_penalty != 1) {
        give_address(with, logits);
        give_address(with, of->at.seen);
        give_u32(with, vocabulary);
        give_f32(with, draw->repetition_penalty);
        add_own(with, half ? "penalize_f32" : "penalize_bf16",
                (griddep_launch_config){.grid = {(vocabulary + 255) / 256, of->sequences},
                                        .block = {256}});
    }
    give_address(with, logits);
    if (draw->temperature > 0)
        give_address(with, of->at.uniform);
    give_address(with, of->at.sampled);
    give_u32(with, vocabulary);
    if (draw->temperature > 0) {
        give_f32(with, draw->temperature);
        give_u32(with, draw->top_k);
        give_f32(with, draw->top_p);
    }
    add_shelf(with, draw->temperature > 0 ? "sample" : "argmax", type,
              (griddep_launch_config){.grid = {0, of->sequences}});
}

/* From tokens to the sampled ones. */
static void add_model(builder *with, const sampling *draw)
{
    const model *of = with->of;
    const model_config *config = &of->config;
    const places *at = &of->at;
    uint64_t h = at->h;

    give_address(with, at->embedding);
    give_address(with, at->token);
    give_address(with, h);
    give_u32(with, config->vocabulary);
    give_u32(with, 2 * (uint64_t)config->hidden);
    add_shelf(with, "embedding_gather", NULL, (griddep_launch_config){.grid = {of->sequences}});
    for (uint32_t i = 0; i < config->layers; i++) {
        add_layer(with, &at->layers[i], h);
        h = at->layers[i].h;
    }
    add_linear(with, &at->head, NULL, h, at->norm, 0, 0, at->own_logits, of->head_rows,
               config->hidden);
    for (uint32_t i = 0; i < of->sequences && at->own_logits != at->logits; i++)
        add_gather(with, at->own_logits + 2 * i * of->head_rows,
                   at->logits + 2 * i * (uint64_t)config->vocabulary, of->head_rows);
    add_sampling(with, draw);
}

uint32_t decode_make_part(model *of, const sampling *draw, griddep_chain **chain)
{
    builder with = build_begin(of, chain);

    with.alone = true;
    add_model(&with, draw);
    return with.launches;
}

void decode_make(model *of, const sampling *draw)
{
    const places *at = &of->at;
    builder with = build_begin(of, &of->step);

    with.shapes = of->shapes;
    with.shape_count = of->shape_count;
    add_model(&with, draw);
    const uint64_t end[] = {at->sampled, at->history, at->position, at->token,
                            at->uniform, at->seen,    at->prompt};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        give_address(&with, end[i]);
    give_u64(&with, draw->seed);
    give_u32(&with, of->capacity + 1);
    give_u32(&with, of->config.vocabulary);
    add_own(&with, "step_end", (griddep_launch_config){.grid = {of->sequences}, .block = {32}});
}
