/* Llama and its relatives, batch 1. A layer is five launches: norm with queries, keys and values;
 * attention; output with residual; norm with gate and up; down with residual. What they share is
 * one allocation, and each launch writes memory of its own, so that no launch waits for a reader of
 * what it overwrites. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "step.h"

/* ---- kernels ---- */

enum { MOST_MODULES = 16 };

struct model_modules {
    griddep_module *list[MOST_MODULES];
    char *names[MOST_MODULES];
    uint32_t count;
};

static griddep_error error = {.size = sizeof error};

/* The text that an own kernel stands in; NULL: it is one of the shelf. */
static const char *own_text(const char *name)
{
    if (!strcmp(name, "quantize_rows"))
        return round_ptx;
    return !strncmp(name, "penalize_", 9) || !strcmp(name, "step_end") ? step_ptx : NULL;
}

/* A kernel of the shelf, or one of the program's own. */
static griddep_kernel *find_kernel(model *of, const char *name)
{
    struct model_modules *modules = of->modules;
    const char *text = own_text(name), *module = text == step_ptx ? "step" : name;
    griddep_kernel *kernel = NULL;
    uint32_t i = 0;

    while (i < modules->count && strcmp(modules->names[i], module))
        i++;
    if (i == modules->count) {
        if (text)
            check(griddep_module_load(of->runtime, text, strlen(text), NULL, &modules->list[i],
                                      &error),
                  &error, name);
        else
            check(griddep_module_load_shelf(of->runtime, name, NULL, &modules->list[i], &error),
                  &error, name);
        modules->names[i] = format_text("%s", module);
        modules->count++;
    }
    check(griddep_module_find_kernel(modules->list[i], name, &kernel, &error), &error, name);
    return kernel;
}

/* ---- memory: what is placed before anything is allocated ---- */

/* A matrix of weights: in 16 bits, or in 8 with a scale for each row. */
typedef struct matrix {
    uint64_t at, scale; /* scale 0: 16 bits */
} matrix;

typedef struct layer {
    matrix qkv, output, gate, up, down;
    uint64_t norm_1, qkv_bias, q_norm, k_norm, output_bias, norm_2;
    uint64_t k_cache, v_cache;
    uint64_t qkv_out, attention_out, output_out, f, h; /* what its launches write */
} layer;

typedef struct layout {
    uint64_t bytes;
    matrix head;
    uint64_t embedding, norm, rotary, h, logits, wide_logits, sampled;
    uint64_t weight_bytes, cache_bytes;
    bool eight_bits;
    layer *layers;
} layout;

static uint64_t place(layout *in, uint64_t bytes)
{
    uint64_t at = in->bytes;

    in->bytes = (at + bytes + 255) / 256 * 256;
    return at;
}

static uint64_t place_weight(layout *in, uint64_t rows, uint64_t columns)
{
    in->weight_bytes += 2 * rows * columns;
    return place(in, 2 * rows * columns);
}

static matrix place_matrix(layout *in, uint64_t rows, uint64_t columns)
{
    if (!in->eight_bits)
        return (matrix){.at = place_weight(in, rows, columns)};
    in->weight_bytes += rows * columns + 4 * rows;
    matrix placed = {.at = place(in, rows * columns)};
    placed.scale = place(in, 4 * rows);
    return placed;
}

static uint64_t qkv_rows(const model_config *config)
{
    return (uint64_t)(config->heads + 2 * config->kv_heads) * config->head_dim;
}

static char *layer_name(uint32_t index, const char *part)
{
    return format_text("model.layers.%u.%s", index, part);
}

static bool has_part(const weight_files *files, uint32_t index, const char *part)
{
    char *name = layer_name(index, part);
    bool there = weights_have(files, name);

    free(name);
    return there;
}

static void place_layer(const model_config *config, const weight_files *files, uint32_t index,
                        uint32_t capacity, layout *in)
{
    uint64_t hidden = config->hidden, all_heads = (uint64_t)config->heads * config->head_dim;
    uint64_t cache = 2 * (uint64_t)config->kv_heads * capacity * config->head_dim;
    layer *at = &in->layers[index];

    at->norm_1 = place_weight(in, 1, hidden);
    at->qkv = place_matrix(in, qkv_rows(config), hidden);
    if (config->qkv_bias)
        at->qkv_bias = place_weight(in, 1, qkv_rows(config));
    if (config->qk_norm) {
        at->q_norm = place_weight(in, 1, config->head_dim);
        at->k_norm = place_weight(in, 1, config->head_dim);
    }
    at->output = place_matrix(in, hidden, all_heads);
    if (has_part(files, index, "self_attn.o_proj.bias"))
        at->output_bias = place_weight(in, 1, hidden);
    at->norm_2 = place_weight(in, 1, hidden);
    at->gate = place_matrix(in, config->feed_forward, hidden);
    at->up = place_matrix(in, config->feed_forward, hidden);
    at->down = place_matrix(in, hidden, config->feed_forward);
    at->k_cache = place(in, cache);
    at->v_cache = place(in, cache);
    in->cache_bytes += 2 * cache;
    at->qkv_out = place(in, 2 * qkv_rows(config));
    at->attention_out = place(in, 2 * all_heads);
    at->output_out = place(in, 2 * hidden);
    at->f = place(in, 2 * (uint64_t)config->feed_forward);
    at->h = place(in, 2 * hidden);
}

static void place_all(const model_config *config, const weight_files *files, uint32_t capacity,
                      model *of, layout *in)
{
    uint64_t hidden = config->hidden;

    in->bytes = 256; /* so that 0 is no place */
    in->embedding = place_weight(in, config->vocabulary, hidden);
    in->layers = allocate(config->layers, sizeof *in->layers);
    in->norm = place_weight(in, 1, hidden);
    if (config->tied && !in->eight_bits)
        in->head.at = in->embedding;
    else
        in->head = place_matrix(in, config->vocabulary, hidden);
    for (uint32_t i = 0; i < config->layers; i++)
        place_layer(config, files, i, capacity, in);
    in->rotary = place(in, (uint64_t)capacity * config->head_dim * sizeof(float));
    in->h = place(in, 2 * hidden);
    in->logits = place(in, 2 * (uint64_t)config->vocabulary);
    in->wide_logits = place(in, 4 * (uint64_t)config->vocabulary);
    in->sampled = place(in, 4);
    of->history = place(in, 4 * ((uint64_t)capacity + 1));
    of->position = place(in, 4);
    of->token = place(in, 4);
    of->uniform = place(in, 4);
    of->prompt = place(in, 4);
    of->seen = place(in, config->vocabulary);
}

/* What would fit is told in place of what does not. */
static void allocate_all(model *of, const layout *in, uint32_t capacity)
{
    const double giga = 1e9;
    uint64_t memory = of->device.memory_bytes;

    if (in->bytes <= memory &&
        griddep_memory_allocate(of->runtime, in->bytes, &of->memory, &error) == GRIDDEP_OK)
        return;
    uint64_t fixed = in->bytes - in->cache_bytes, spare = memory - memory / 16;
    uint64_t fits = spare > fixed ? (spare - fixed) / (in->cache_bytes / capacity) : 0;
    if (fits)
        fail("the model needs %.2f GB, %.2f of it for a context of %u, and the device has %.2f; "
             "try --context %" PRIu64,
             (double)in->bytes / giga, (double)in->cache_bytes / giga, capacity,
             (double)memory / giga, fits < capacity ? fits : capacity / 2);
    fail("the weights need %.2f GB, and the device has %.2f", (double)in->weight_bytes / giga,
         (double)memory / giga);
}

static void move_all(model *of, layout *in, uint32_t layers)
{
    uint64_t *const single[] = {&in->embedding, &in->norm,    &in->head.scale, &in->head.at,
                                &in->rotary,    &in->h,       &in->logits,     &in->wide_logits,
                                &in->sampled,   &of->history, &of->position,   &of->token,
                                &of->uniform,   &of->prompt,  &of->seen};

    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (*single[i])
            *single[i] += of->memory;
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t *places = (uint64_t *)&in->layers[i];
        for (size_t k = 0; k < sizeof(layer) / sizeof *places; k++)
            if (places[k])
                places[k] += of->memory;
    }
}

/* ---- weights ---- */

static void upload(model *of, const weight_files *files, const char *name, element type,
                   uint64_t rows, uint64_t columns, uint64_t target)
{
    tensor from = weights_find(files, name, rows, columns);
    uint64_t bytes = 2 * (rows ? rows : 1) * columns;
    void *converted = NULL;

    if (from.type != type) {
        converted = allocate(bytes, 1);
        tensor_convert(&from, type, converted);
    }
    check(griddep_memory_write(of->runtime, target, converted ? converted : (const void *)from.data,
                               bytes, NULL, &error),
          &error, name);
    free(converted);
}

static void upload_part(model *of, const weight_files *files, element type, uint32_t index,
                        const char *part, uint64_t rows, uint64_t columns, uint64_t target)
{
    char *name = layer_name(index, part);

    upload(of, files, name, type, rows, columns, target);
    free(name);
}

/* Rows of a matrix from row `first` on. For 8 bits they go to the device in 16, and are rounded
 * there. */
static void upload_matrix(model *of, const weight_files *files, element type, const char *name,
                          uint64_t rows, uint64_t columns, const matrix *to, uint64_t first)
{
    uint64_t staged;

    if (!to->scale) {
        upload(of, files, name, type, rows, columns, to->at + 2 * first * columns);
        return;
    }
    griddep_launch_config shape = {.size = sizeof shape, .grid = {(uint32_t)rows}, .block = {256}};
    check(griddep_memory_allocate(of->runtime, 2 * rows * columns, &staged, &error), &error, name);
    upload(of, files, name, type, rows, columns, staged);
    const griddep_argument arguments[] = {
        {.bytes = 8, .value = staged},
        {.bytes = 8, .value = to->at + first * columns},
        {.bytes = 8, .value = to->scale + 4 * first},
        {.bytes = 4, .value = columns},
    };
    check(griddep_launch(find_kernel(of, "quantize_rows"), &shape, arguments, 4, NULL, &error),
          &error, name);
    check(griddep_stream_synchronize(of->runtime, NULL, &error), &error, name);
    check(griddep_memory_free(of->runtime, staged, &error), &error, name);
}

static void upload_matrix_part(model *of, const weight_files *files, element type, uint32_t index,
                               const char *part, uint64_t rows, uint64_t columns, const matrix *to,
                               uint64_t first)
{
    char *name = layer_name(index, part);

    upload_matrix(of, files, type, name, rows, columns, to, first);
    free(name);
}

static void upload_layer(model *of, const weight_files *files, element type, uint32_t index,
                         const layer *to)
{
    const model_config *config = of->config;
    uint64_t hidden = config->hidden, wide = config->feed_forward, head = config->head_dim;
    uint64_t q = config->heads * head, kv = config->kv_heads * head;

    upload_part(of, files, type, index, "input_layernorm.weight", 0, hidden, to->norm_1);
    upload_matrix_part(of, files, type, index, "self_attn.q_proj.weight", q, hidden, &to->qkv, 0);
    upload_matrix_part(of, files, type, index, "self_attn.k_proj.weight", kv, hidden, &to->qkv, q);
    upload_matrix_part(of, files, type, index, "self_attn.v_proj.weight", kv, hidden, &to->qkv,
                       q + kv);
    if (to->qkv_bias) {
        upload_part(of, files, type, index, "self_attn.q_proj.bias", 0, q, to->qkv_bias);
        upload_part(of, files, type, index, "self_attn.k_proj.bias", 0, kv, to->qkv_bias + 2 * q);
        upload_part(of, files, type, index, "self_attn.v_proj.bias", 0, kv,
                    to->qkv_bias + 2 * (q + kv));
    }
    if (to->q_norm) {
        upload_part(of, files, type, index, "self_attn.q_norm.weight", 0, head, to->q_norm);
        upload_part(of, files, type, index, "self_attn.k_norm.weight", 0, head, to->k_norm);
    }
    upload_matrix_part(of, files, type, index, "self_attn.o_proj.weight", hidden, q, &to->output,
                       0);
    if (to->output_bias)
        upload_part(of, files, type, index, "self_attn.o_proj.bias", 0, hidden, to->output_bias);
    upload_part(of, files, type, index, "post_attention_layernorm.weight", 0, hidden, to->norm_2);
    upload_matrix_part(of, files, type, index, "mlp.gate_proj.weight", wide, hidden, &to->gate, 0);
    upload_matrix_part(of, files, type, index, "mlp.up_proj.weight", wide, hidden, &to->up, 0);
    upload_matrix_part(of, files, type, index, "mlp.down_proj.weight", hidden, wide, &to->down, 0);
    if (has_part(files, index, "mlp.gate_proj.bias") ||
        has_part(files, index, "mlp.up_proj.bias") || has_part(files, index, "mlp.down_proj.bias"))
        fail("the feed-forward layers have a bias, which this program does not add");
}

static void upload_all(model *of, const weight_files *files, element type, const layout *to)
{
    const model_config *config = of->config;
    float *rotary = config_rotary(config, of->capacity);

    upload(of, files, "model.embed_tokens.weight", type, config->vocabulary, config->hidden,
           to->embedding);
    upload(of, files, "model.norm.weight", type, 0, config->hidden, to->norm);
    if (to->head.at != to->embedding)
        upload_matrix(of, files, type,
                      config->tied ? "model.embed_tokens.weight" : "lm_head.weight",
                      config->vocabulary, config->hidden, &to->head, 0);
    for (uint32_t i = 0; i < config->layers; i++)
        upload_layer(of, files, type, i, &to->layers[i]);
    check(griddep_memory_write(of->runtime, to->rotary, rotary,
                               (uint64_t)of->capacity * config->head_dim * sizeof *rotary, NULL,
                               &error),
          &error, "the rotary table");
    free(rotary);
}

/* ---- the step ---- */

typedef struct builder {
    model *of;
    const layout *in;
    const char *type; /* "bf16" or "f16" */
    griddep_argument arguments[16];
    uint32_t count;
} builder;

static void give(builder *with, uint64_t value, uint32_t bytes)
{
    with->arguments[with->count++] = (griddep_argument){.bytes = bytes, .value = value};
}

static void give_address(builder *with, uint64_t address)
{
    give(with, address, 8);
}

static void give_u32(builder *with, uint64_t value)
{
    give(with, value, 4);
}

static void give_f32(builder *with, double value)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    give(with, bits, 4);
}

/* Adds a launch with the arguments that were given. */
static void add(builder *with, const char *name, griddep_launch_config config)
{
    config.size = sizeof config;
    check(griddep_chain_add(with->of->step, find_kernel(with->of, name), &config, with->arguments,
                            with->count, &error),
          &error, name);
    with->count = 0;
}

/* The same for a kernel of the shelf, in the shape that the library suggests; `rows` and `more` are
 * what the arguments do not tell of it. */
static void add_shelf(builder *with, const char *family, const char *type, uint32_t rows,
                      uint32_t more)
{
    char *name = type ? format_text("%s_%s", family, type) : format_text("%s", family);
    griddep_launch_config config = {.size = sizeof config, .grid = {rows, more, 1}};

    check(griddep_shelf_suggest(name, &with->of->device, with->arguments, with->count, &config,
                                &error),
          &error, name);
    add(with, name, config);
    free(name);
}

static void add_linear(builder *with, const matrix *weight, const matrix *up, uint64_t x,
                       uint64_t norm, uint64_t bias, uint64_t residual, uint64_t y, uint64_t rows,
                       uint64_t columns)
{
    const uint64_t behind[] = {x, norm, bias, residual, y};

    give_address(with, weight->at);
    give_address(with, up ? up->at : 0);
    if (weight->scale) {
        give_address(with, weight->scale);
        give_address(with, up ? up->scale : 0);
    }
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        give_address(with, behind[i]);
    give_u32(with, rows);
    give_u32(with, columns);
    give_f32(with, with->of->config->epsilon);
    add_shelf(with, "linear", weight->scale ? "fp8" : with->type, 0, 0);
}

/* Norms each head of q or k where it lies. */
static void add_head_norm(builder *with, uint64_t x, uint64_t weight, uint32_t heads)
{
    const model_config *config = with->of->config;

    give_address(with, x);
    give_address(with, weight);
    give_address(with, x);
    give_u32(with, config->head_dim);
    give_f32(with, config->epsilon);
    add_shelf(with, strcmp(with->type, "f16") ? "rms_norm" : "rms_norm_f16", NULL, heads, 1);
}

static void add_attention(builder *with, const layer *at)
{
    const model_config *config = with->of->config;

    give_address(with, at->qkv_out);
    give_address(with, at->k_cache);
    give_address(with, at->v_cache);
    give_address(with, with->in->rotary);
    give_address(with, with->of->position);
    give_address(with, at->attention_out);
    give_u32(with, config->heads);
    give_u32(with, config->head_dim);
    give_u32(with, with->of->capacity);
    give_f32(with, 1 / sqrt(config->head_dim));
    add_shelf(with, "attention_decode", with->type, 0, config->kv_heads);
}

/* From h to the layer's own h. */
static void add_layer(builder *with, const layer *at, uint64_t h)
{
    const model_config *config = with->of->config;
    uint64_t hidden = config->hidden, wide = config->feed_forward;
    uint64_t all_heads = (uint64_t)config->heads * config->head_dim;

    add_linear(with, &at->qkv, NULL, h, at->norm_1, at->qkv_bias, 0, at->qkv_out, qkv_rows(config),
               hidden);
    if (at->q_norm) {
        add_head_norm(with, at->qkv_out, at->q_norm, config->heads);
        add_head_norm(with, at->qkv_out + 2 * all_heads, at->k_norm, config->kv_heads);
    }
    add_attention(with, at);
    add_linear(with, &at->output, NULL, at->attention_out, 0, at->output_bias, h, at->output_out,
               hidden, all_heads);
    add_linear(with, &at->gate, &at->up, at->output_out, at->norm_2, 0, 0, at->f, wide, hidden);
    add_linear(with, &at->down, NULL, at->f, 0, 0, at->output_out, at->h, hidden, wide);
}

/* From logits to the sampled token. */
static void add_sampling(builder *with, const sampling *draw)
{
    const model_config *config = with->of->config;
    bool half = !strcmp(with->type, "f16");
    const char *type = half ? "f32" : "bf16";
    uint64_t logits = with->in->logits;

    if (half) { /* the samplers have no f16 */
        give_address(with, logits);
        give_address(with, logits = with->in->wide_logits);
        give_u32(with, config->vocabulary);
        add_shelf(with, "cast_f16", "f32", 0, 0);
    }
    with->of->logits = logits;
    if (draw->repetition_penalty != 1) {
        griddep_launch_config shape = {.grid = {(config->vocabulary + 255) / 256}, .block = {256}};
        give_address(with, logits);
        give_address(with, with->of->seen);
        give_u32(with, config->vocabulary);
        give_f32(with, draw->repetition_penalty);
        add(with, half ? "penalize_f32" : "penalize_bf16", shape);
    }
    give_address(with, logits);
    if (draw->temperature > 0)
        give_address(with, with->of->uniform);
    give_address(with, with->in->sampled);
    give_u32(with, config->vocabulary);
    if (draw->temperature > 0) {
        give_f32(with, draw->temperature);
        give_u32(with, draw->top_k);
        give_f32(with, draw->top_p);
    }
    add_shelf(with, draw->temperature > 0 ? "sample" : "argmax", type, 0, 1);
}

static void make_step(model *of, const layout *in, element type, const sampling *draw)
{
    const model_config *config = of->config;
    builder with = {.of = of, .in = in, .type = type == ELEMENT_F16 ? "f16" : "bf16"};
    uint64_t h = in->h;

    check(griddep_chain_create(of->runtime, &of->step, &error), &error, "the step");
    give_address(&with, in->embedding);
    give_address(&with, of->token);
    give_address(&with, h);
    give_u32(&with, config->vocabulary);
    give_u32(&with, 2 * (uint64_t)config->hidden);
    add_shelf(&with, "embedding_gather", NULL, 1, 1);
    for (uint32_t i = 0; i < config->layers; i++) {
        add_layer(&with, &in->layers[i], h);
        h = in->layers[i].h;
    }
    add_linear(&with, &in->head, NULL, h, in->norm, 0, 0, in->logits, config->vocabulary,
               config->hidden);
    add_sampling(&with, draw);
    const uint64_t end[] = {in->sampled, of->history, of->position, of->token,
                            of->uniform, of->seen,    of->prompt};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        give_address(&with, end[i]);
    give(&with, draw->seed, 8);
    add(&with, "step_end", (griddep_launch_config){.grid = {1}, .block = {32}});
}

/* ---- public ---- */

model *model_load(const model_config *config, const weight_files *files, element type,
                  bool eight_bits, uint32_t capacity, const sampling *draw,
                  griddep_runtime *runtime)
{
    model *of = allocate(1, sizeof *of);
    layout in = {.eight_bits = eight_bits};

    if (eight_bits && (config->hidden % 16 || config->feed_forward % 16))
        fail("weights of 8 bits need rows of a multiple of 16 elements");
    of->config = config;
    of->runtime = runtime;
    of->capacity = capacity;
    of->modules = allocate(1, sizeof *of->modules);
    of->device.size = sizeof of->device;
    check(griddep_runtime_get_info(runtime, &of->device, &error), &error, "the device");
    place_all(config, files, capacity, of, &in);
    allocate_all(of, &in, capacity);
    of->bytes = in.bytes;
    /* Of the embedding a step reads one row, unless it is the head too. */
    of->step_bytes =
        in.weight_bytes - (config->tied ? 0 : 2 * (uint64_t)config->vocabulary * config->hidden);
    of->cache_bytes_per_position = in.cache_bytes / capacity;
    move_all(of, &in, config->layers);
    upload_all(of, files, type, &in);
    make_step(of, &in, type, draw);
    free(in.layers);
    return of;
}

void model_free(model *of)
{
    if (!of)
        return;
    griddep_chain_destroy(of->step);
    for (uint32_t i = 0; i < of->modules->count; i++) {
        griddep_module_unload(of->modules->list[i]);
        free(of->modules->names[i]);
    }
    griddep_memory_free(of->runtime, of->memory, NULL);
    free(of->modules);
    free(of);
}

/* The random number of the first step, as step_end makes those of the others. */
static float first_uniform(uint64_t seed)
{
    uint64_t x = 0x9e3779b97f4a7c15u + seed;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (float)(x >> 40) * 0x1p-24f;
}

void model_start(model *of, const token_list *prompt, const sampling *draw, void *stream)
{
    float uniform = first_uniform(draw->seed);
    uint32_t position = 0, length = (uint32_t)prompt->count;
    const struct {
        uint64_t at;
        const void *from;
        uint64_t bytes;
    } parts[] = {
        {of->history, prompt->list, 4 * prompt->count},
        {of->position, &position, 4},
        {of->token, prompt->list, 4},
        {of->uniform, &uniform, 4},
        {of->prompt, &length, 4},
    };

    check(griddep_memory_fill(of->runtime, of->seen, 0, of->config->vocabulary, stream, &error),
          &error, "the prompt");
    check(griddep_memory_fill(of->runtime, of->seen + prompt->list[0], 1, 1, stream, &error),
          &error, "the prompt");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        check(griddep_memory_write(of->runtime, parts[i].at, parts[i].from, parts[i].bytes, stream,
                                   &error),
              &error, "the prompt");
}
