/* Prompts. A part of `rows` tokens goes through the layers at once: products by gemm_* on the
 * tensor cores, attention by attention_prefill_*, which sees what the parts before it left in the
 * cache. So memory is bounded by a part. Weights of 8 or 4 bits become 16 for a product, in memory
 * that the next product uses again. The last layer ends with its keys and values: the prompt's last
 * token goes through a decode step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "tiles.h"

/* What of a launch depends on the part. */
typedef enum part_value {
    PART_ROWS, /* an argument: how many tokens it has */
    PART_GRID, /* grid.x likewise; PART_GRID_Y: grid.y */
    PART_GRID_Y,
    PART_POSITIONS, /* the address of their positions, which follow each other */
    PART_TOKENS,    /* the address of their tokens, in the history */
    PART_KEYS,      /* the address of the sequence's part of the argument's cache */
} part_value;

typedef struct change {
    part_value what;
    uint32_t launch, argument;
    uint64_t base; /* of an address */
    griddep_launch_config config;
} change;

struct prompt_chain {
    griddep_chain *chain;
    change *changes;
    size_t count, capacity;
    uint32_t rows, first, sequence; /* what the chain's arguments say now */
};

/* ---- the chain ---- */

/* Of the launch that is added next. */
static void note(builder *with, part_value what, uint32_t argument, uint64_t base)
{
    struct prompt_chain *part = with->of->part;

    if (part->count == part->capacity) {
        part->capacity = part->capacity ? 2 * part->capacity : 64;
        part->changes = reallocate(part->changes, part->capacity, sizeof *part->changes);
    }
    part->changes[part->count++] =
        (change){.what = what, .launch = with->launches, .argument = argument, .base = base};
}

static void give_changing(builder *with, part_value what, griddep_argument argument)
{
    note(with, what, with->count, argument.value);
    give(with, &argument, 1);
}

/* The launch that was added last has so many blocks as the part has rows. */
static void note_grid(builder *with, part_value what)
{
    struct prompt_chain *part = with->of->part;

    with->launches--;
    note(with, what, 0, 0);
    part->changes[part->count - 1].config = with->last;
    with->launches++;
}

static void add_norm(builder *with, uint64_t x, uint64_t weight, uint64_t out)
{
    const model *of = with->of;

    GIVE(with, address(x), address(weight), address(out), u32(of->config.hidden),
         f32(of->config.epsilon));
    add_shelf(with, of->type == ELEMENT_F16 ? "rms_norm_f16" : "rms_norm", NULL,
              (griddep_launch_config){.grid = {of->rows}});
    note_grid(with, PART_GRID);
}

static griddep_tensor_map make_map(const model *of, uint64_t at, uint64_t rows, uint64_t columns,
                                   uint32_t box)
{
    griddep_tensor_map map;
    const griddep_tensor_options options = {.size = sizeof options,
                                            .type = of->type == ELEMENT_F16 ? GRIDDEP_TENSOR_F16
                                                                            : GRIDDEP_TENSOR_BF16,
                                            .address = at,
                                            .rank = 2,
                                            .swizzle = GRIDDEP_SWIZZLE_128B,
                                            .promotion = GRIDDEP_PROMOTION_256B,
                                            .dimensions = {columns, rows},
                                            .strides = {2 * columns},
                                            .box = {64, box}};

    check(griddep_tensor_map_encode(of->runtime, &options, &map, &error), "a tensor map");
    return map;
}

static griddep_argument tensor_map(const griddep_tensor_map *map)
{
    return (griddep_argument){.bytes = sizeof *map, .data = map};
}

/* The widest tile of which the device has enough to do; the widest needs three slots of 48 KB. */
static uint32_t tile_columns(const model *of, uint64_t rows, uint64_t columns, bool pair)
{
    const griddep_runtime_info *device = &of->device;
    uint32_t width = device->shared_bytes_per_block >= 150000 ? 256 : 128;

    while (width > 64 &&
           (rows + 127) / 128 * ((columns << pair) / width) < (uint64_t)device->multiprocessors)
        width /= 2;
    return width;
}

/* A matrix of fewer bits as 16, where the next product finds it; the matrix itself otherwise. */
static uint64_t widen(builder *with, const matrix *from, uint64_t to, uint64_t rows,
                      uint64_t columns)
{
    if (from->bits == 16)
        return from->at;
    GIVE(with, address(from->at));
    if (from->bits == 4) {
        GIVE(with, address(to), u32(columns));
        add_own(with, "widen_tiles",
                (griddep_launch_config){
                    .grid = {(uint32_t)(columns / TILE_COLUMNS), (uint32_t)(rows / TILE_ROWS)},
                    .block = {256}});
        return to;
    }
    GIVE(with, address(from->scale), address(to), u32(columns), u32(from->scale_rows));
    add_own(with, "widen_bf16", (griddep_launch_config){.grid = {(uint32_t)rows}, .block = {256}});
    return to;
}

/* y = x W^T + bias + residual, or silu(x W^T) * (x U^T); rows and columns are W's. */
static void add_product(builder *with, const matrix *weight, const matrix *up, uint64_t x,
                        uint64_t bias, uint64_t residual, uint64_t y, uint64_t rows,
                        uint64_t columns)
{
    enum { SILU_MULTIPLY = 4 };
    model *of = with->of;
    uint32_t width = tile_columns(of, of->rows, rows, up);
    uint64_t first = widen(with, weight, of->at.part.wide, rows, columns);
    uint64_t second = up ? widen(with, up, of->at.part.wide_up, rows, columns) : first;
    griddep_tensor_map a = make_map(of, x, of->rows, columns, 128);
    griddep_tensor_map w = make_map(of, first, rows, columns, width / 2);
    griddep_tensor_map u = make_map(of, second, rows, columns, width / 2);

    GIVE(with, tensor_map(&a), tensor_map(&w), tensor_map(&u), address(bias), address(residual),
         address(y));
    give_changing(with, PART_ROWS, u32(of->rows));
    GIVE(with, u32(rows), u32(columns), u32(up ? SILU_MULTIPLY : 0));
    /* It fetches W before it waits, which must be there then. */
    add_shelf(
        with,
        width == 256   ? "gemm"
        : width == 128 ? "gemm_n128"
                       : "gemm_n64",
        with->type,
        (griddep_launch_config){.pdl = weight->bits < 16 ? GRIDDEP_PDL_OFF : GRIDDEP_PDL_DEFAULT});
}

/* Queries and keys are turned, keys and values appended. */
static void add_append(builder *with, const layer *at, bool queries)
{
    const model *of = with->of;
    const model_config *config = &of->config;
    const prompt_places *part = &of->at.part;

    GIVE(with, address(part->qkv), address(queries ? part->attention : 0));
    give_changing(with, PART_KEYS, address(at->k_cache));
    give_changing(with, PART_KEYS, address(at->v_cache));
    GIVE(with, address(0), address(of->at.rotary));
    give_changing(with, PART_POSITIONS, address(part->numbers));
    GIVE(with, address(part->zeros));
    give_changing(with, PART_ROWS, u32(of->rows));
    GIVE(with, u32(config->heads), u32(config->kv_heads), u32(config->head_dim), u32(of->capacity),
         u32(0));
    add_shelf(with, "rotary_append", with->type, (griddep_launch_config){0});
}

static void add_attention(builder *with, const layer *at)
{
    const model *of = with->of;
    const model_config *config = &of->config;
    const prompt_places *part = &of->at.part;

    GIVE(with, address(part->attention));
    give_changing(with, PART_KEYS, address(at->k_cache));
    give_changing(with, PART_KEYS, address(at->v_cache));
    give_changing(with, PART_POSITIONS, address(part->numbers));
    GIVE(with, address(0), address(part->attention));
    give_changing(with, PART_ROWS, u32(of->rows));
    GIVE(with, u32(config->kv_heads), u32(config->head_dim), u32(of->capacity),
         f32(1 / sqrt(config->head_dim)));
    add_shelf(with, "attention_prefill", with->type,
              (griddep_launch_config){.grid = {config->heads, 0, 1}});
}

static void add_layer(builder *with, const layer *at, bool last)
{
    const model *of = with->of;
    const model_config *config = &of->config;
    const prompt_places *part = &of->at.part;
    uint64_t hidden = config->hidden, wide = config->feed_forward;
    uint64_t all_heads = (uint64_t)config->heads * config->head_dim;

    add_norm(with, part->h, at->norm_1, part->normed);
    add_product(with, &at->qkv, NULL, part->normed, at->qkv_bias, 0, part->qkv,
                model_qkv_rows(config), hidden);
    if (at->q_norm) {
        add_head_norms(with, at, part->qkv, of->rows);
        note_grid(with, PART_GRID_Y);
    }
    add_append(with, at, !last);
    if (last)
        return;
    add_attention(with, at);
    add_product(with, &at->output, NULL, part->attention, at->output_bias, once(with, part->h),
                part->output, hidden, all_heads);
    add_sum(with, part->output, hidden * of->rows);
    add_norm(with, part->output, at->norm_2, part->normed);
    add_product(with, &at->gate, &at->up, part->normed, 0, 0, part->f, wide, hidden);
    add_product(with, &at->down, NULL, part->f, 0, once(with, part->output), part->h, hidden, wide);
    add_sum(with, part->h, hidden * of->rows);
}

void prompt_make(model *of)
{
    const model_config *config = &of->config;

    of->part = allocate(1, sizeof *of->part);
    of->part->rows = of->rows;
    builder with = build_begin(of, &of->part->chain);
    GIVE(&with, address(of->at.embedding));
    give_changing(&with, PART_TOKENS, address(of->at.history));
    GIVE(&with, address(of->at.part.h), u32(config->vocabulary), u32(2 * (uint64_t)config->hidden));
    add_shelf(&with, "embedding_gather", NULL, (griddep_launch_config){.grid = {of->rows}});
    note_grid(&with, PART_GRID);
    for (uint32_t i = 0; i < config->layers; i++)
        add_layer(&with, &of->at.layers[i], i + 1 == config->layers);
}

/* ---- public ---- */

void prompt_free(model *of)
{
    griddep_chain_destroy(of->part->chain);
    free(of->part->changes);
    free(of->part);
}

void prompt_prepare(const model *of, int32_t mode)
{
    check(griddep_chain_prepare(of->part->chain, mode, &error), "a part of a prompt");
}

static void set_argument(const struct prompt_chain *part, const change *one, uint32_t bytes,
                         uint64_t value)
{
    const griddep_argument argument = {.bytes = bytes, .value = value};

    check(griddep_chain_set_argument(part->chain, one->launch, one->argument, &argument, &error),
          "a part of a prompt");
}

static void set_rows(const struct prompt_chain *part, change *one, uint32_t rows)
{
    one->config.grid[one->what == PART_GRID_Y] = rows;
    check(griddep_chain_set_config(part->chain, one->launch, &one->config, &error),
          "a part of a prompt");
}

/* Makes the chain's arguments those of a part; what is so already stays. */
static void place_part(model *of, uint32_t sequence, uint32_t first, uint32_t rows)
{
    struct prompt_chain *part = of->part;
    uint64_t cache = 2 * (uint64_t)of->config.kv_heads * of->capacity * of->config.head_dim;
    uint64_t history = 4 * (sequence * ((uint64_t)of->capacity + 1) + first);
    bool other = sequence != part->sequence, on = first != part->first, cut = rows != part->rows;

    for (size_t i = 0; i < part->count; i++) {
        change *one = &part->changes[i];
        if (one->what == PART_ROWS && cut)
            set_argument(part, one, 4, rows);
        else if ((one->what == PART_GRID || one->what == PART_GRID_Y) && cut)
            set_rows(part, one, rows);
        else if (one->what == PART_POSITIONS && on)
            set_argument(part, one, 8, one->base + 4 * (uint64_t)first);
        else if (one->what == PART_TOKENS && (on || other))
            set_argument(part, one, 8, one->base + history);
        else if (one->what == PART_KEYS && other)
            set_argument(part, one, 8, one->base + sequence * cache);
    }
    part->sequence = sequence;
    part->first = first;
    part->rows = rows;
}

void prompt_run(model *of, uint32_t sequence, uint32_t count, int32_t mode, void *const *streams)
{
    for (uint32_t first = 0; first < count; first += of->rows) {
        const uint32_t left = count - first, rows = left < of->rows ? left : of->rows;
        for (model *each = of; each; each = each->next) {
            place_part(each, sequence, first, rows);
            check(griddep_chain_run(each->part->chain, mode, streams[each->index], &error),
                  "a part of a prompt");
        }
    }
}
