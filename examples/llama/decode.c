/* The decode step. A layer is five launches: norm with queries, keys and values; attention; output
 * with residual; norm with gate and up; down with residual; one more where heads are normed; and on
 * several devices two hops more, which add their shares of output and down.
 * Each launch writes memory of its own, so that no launch waits for a reader of what it
 * overwrites. */
#include <math.h>
#include <string.h>

#include "build.h"
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
        GIVE(with, address(weight->at), address(up ? up->at : 0), address(x + 2 * first * columns),
             address(norm), address(bias), address(residual ? residual + 2 * first * rows : 0),
             address(y + 2 * first * rows), u32(rows), u32(columns));
        if (of->sequences > 1)
            GIVE(with, u32(left < count ? left : count));
        GIVE(with, f32(of->config.epsilon));
        add_shelf(with, of->sequences > 1 ? "skinny" : "linear", "int4",
                  (griddep_launch_config){0});
    }
}

/* One sequence goes through linear_*, up to eight through skinny_*, which has the batch as an
 * argument more. */
static void add_linear(builder *with, const matrix *weight, const matrix *up, uint64_t x,
                       uint64_t norm, uint64_t bias, uint64_t residual, uint64_t y, uint64_t rows,
                       uint64_t columns)
{
    const model *of = with->of;

    if (weight->bits == 4) {
        add_tiles(with, weight, up, x, norm, bias, residual, y, rows, columns);
        return;
    }
    GIVE(with, address(weight->at), address(up ? up->at : 0));
    if (weight->bits == 8)
        GIVE(with, address(weight->scale), address(up ? up->scale : 0));
    GIVE(with, address(x), address(norm), address(bias), address(residual), address(y), u32(rows),
         u32(columns));
    if (of->sequences > 1)
        GIVE(with, u32(of->sequences));
    if (weight->scale_rows)
        GIVE(with, u32(weight->scale_rows));
    GIVE(with, f32(of->config.epsilon));
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

    GIVE(with, address(at->qkv_out), address(at->k_cache), address(at->v_cache),
         address(of->at.rotary), address(of->at.position), address(at->attention_out),
         u32(config->heads), u32(config->head_dim), u32(of->capacity),
         f32(1 / sqrt(config->head_dim)));
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
    const uint64_t logits = half ? of->at.wide_logits : of->at.logits;

    if (half) { /* the samplers have no f16 */
        GIVE(with, address(of->at.logits), address(logits),
             u32((uint64_t)vocabulary * of->sequences));
        add_shelf(with, "cast_f16", "f32", (griddep_launch_config){0});
    }
    if (draw->repetition_penalty != 1) {
        GIVE(with, address(logits), address(of->at.seen), u32(vocabulary),
             f32(draw->repetition_penalty), u32(half ? 4 : 2));
        add_own(with, "penalize",
                (griddep_launch_config){.grid = {(vocabulary + 255) / 256, of->sequences},
                                        .block = {256}});
    }
    GIVE(with, address(logits));
    if (draw->temperature > 0)
        GIVE(with, address(of->at.uniform));
    GIVE(with, address(of->at.sampled), u32(vocabulary));
    if (draw->temperature > 0) {
        GIVE(with, f32(draw->temperature), u32(draw->top_k), f32(draw->top_p));
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

    GIVE(with, address(at->embedding), address(at->token), address(h), u32(config->vocabulary),
         u32(2 * (uint64_t)config->hidden));
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
    GIVE(&with, address(at->sampled), address(at->history), address(at->position),
         address(at->token), address(at->uniform), address(at->seen), address(draw->seed),
         u32(of->capacity + 1), u32(of->config.vocabulary));
    add_own(&with, "step_end", (griddep_launch_config){.grid = {of->sequences}, .block = {32}});
}
