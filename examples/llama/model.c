/* Llama and its relatives: memory and weights. All that is on the device lies in one allocation. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "decode.h"
#include "prompt.h"

static griddep_error error = {.size = sizeof error};

/* ---- memory: it is laid out once to learn how much it is, and once where it is ---- */

typedef struct layout {
    uint64_t next; /* address; the first layout begins at a number that is no address */
    uint64_t weight_bytes, cache_bytes;
    bool eight_bits;     /* all matrices */
    bool any_eight_bits; /* that were placed */
    uint64_t sequences, capacity, rows;
    stretch *stretches; /* NULL: they are counted alone */
    uint32_t count;
} layout;

enum { ALIGNMENT = 256 };

static uint64_t place(layout *in, uint64_t bytes)
{
    uint64_t at = in->next;

    if (in->stretches && bytes)
        in->stretches[in->count] = (stretch){at, bytes};
    in->count += bytes > 0;
    in->next = (at + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static uint64_t place_weight(layout *in, uint64_t rows, uint64_t columns)
{
    in->weight_bytes += 2 * rows * columns;
    return place(in, 2 * rows * columns);
}

static matrix place_matrix(layout *in, bool eight_bits, uint64_t rows, uint64_t columns)
{
    if (!eight_bits)
        return (matrix){.at = place_weight(in, rows, columns)};
    if (columns % 16)
        fail("weights of 8 bits need rows of a multiple of 16 elements");
    in->any_eight_bits = true;
    in->weight_bytes += rows * columns + 4 * rows;
    matrix placed = {.at = place(in, rows * columns)};
    placed.scale = place(in, 4 * rows);
    return placed;
}

uint64_t model_qkv_rows(const model_config *config)
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

/* Whether the file has one of the parts of a matrix in 8 bits: all of it is so then. */
static bool has_eight_bits(const layout *in, const weight_files *files, uint32_t index,
                           const char *const *parts)
{
    bool found = in->eight_bits;

    for (; *parts && !found; parts++) {
        char *name = layer_name(index, *parts);
        found = weights_have_e4m3(files, name);
        free(name);
    }
    return found;
}

#define EIGHT(...) has_eight_bits(in, files, index, (const char *const[]){__VA_ARGS__, NULL})

static layer place_layer(const model_config *config, const weight_files *files, uint32_t index,
                         layout *in)
{
    uint64_t hidden = config->hidden, all_heads = (uint64_t)config->heads * config->head_dim;
    uint64_t cache = 2 * in->sequences * config->kv_heads * in->capacity * config->head_dim;
    uint64_t row = 2 * in->sequences; /* bytes of an element of each sequence */
    layer at = {0};

    at.norm_1 = place_weight(in, 1, hidden);
    at.qkv = place_matrix(
        in, EIGHT("self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"),
        model_qkv_rows(config), hidden);
    if (config->qkv_bias)
        at.qkv_bias = place_weight(in, 1, model_qkv_rows(config));
    if (config->qk_norm) {
        at.q_norm = place_weight(in, 1, config->head_dim);
        at.k_norm = place_weight(in, 1, config->head_dim);
    }
    at.output = place_matrix(in, EIGHT("self_attn.o_proj.weight"), hidden, all_heads);
    if (has_part(files, index, "self_attn.o_proj.bias"))
        at.output_bias = place_weight(in, 1, hidden);
    at.norm_2 = place_weight(in, 1, hidden);
    bool gated = EIGHT("mlp.gate_proj.weight", "mlp.up_proj.weight");
    at.gate = place_matrix(in, gated, config->feed_forward, hidden);
    at.up = place_matrix(in, gated, config->feed_forward, hidden);
    at.down = place_matrix(in, EIGHT("mlp.down_proj.weight"), hidden, config->feed_forward);
    at.k_cache = place(in, cache);
    at.v_cache = place(in, cache);
    in->cache_bytes += 2 * cache;
    at.qkv_out = place(in, row * model_qkv_rows(config));
    at.attention_out = place(in, row * all_heads);
    at.output_out = place(in, row * hidden);
    at.f = place(in, row * config->feed_forward);
    at.h = place(in, row * hidden);
    return at;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static prompt_places place_part(const model_config *config, layout *in)
{
    uint64_t hidden = config->hidden, wide = config->feed_forward, qkv = model_qkv_rows(config);
    uint64_t all_heads = (uint64_t)config->heads * config->head_dim;
    prompt_places at = {0};

    at.h = place(in, 2 * in->rows * hidden);
    at.normed = place(in, 2 * in->rows * hidden);
    at.qkv = place(in, 2 * in->rows * qkv);
    at.attention = place(in, 2 * in->rows * all_heads);
    at.output = place(in, 2 * in->rows * hidden);
    at.f = place(in, 2 * in->rows * wide);
    if (in->any_eight_bits) {
        at.wide = place(in, 2 * hidden * most(most(wide, qkv), all_heads));
        at.wide_up = place(in, 2 * hidden * wide);
    }
    at.numbers = place(in, 4 * in->capacity);
    at.zeros = place(in, 4 * in->rows);
    return at;
}

static places place_all(const model_config *config, const weight_files *files, layer *layers,
                        layout *in)
{
    uint64_t hidden = config->hidden, vocabulary = config->vocabulary, batch = in->sequences;
    places at = {.layers = layers};

    in->weight_bytes = in->cache_bytes = 0;
    at.embedding = place_weight(in, vocabulary, hidden);
    at.norm = place_weight(in, 1, hidden);
    if (config->tied && !in->eight_bits)
        at.head.at = at.embedding;
    else
        at.head = place_matrix(in, in->eight_bits || weights_have_e4m3(files, "lm_head.weight"),
                               vocabulary, hidden);
    for (uint32_t i = 0; i < config->layers; i++)
        layers[i] = place_layer(config, files, i, in);
    at.rotary = place(in, in->capacity * config->head_dim * sizeof(float));
    at.h = place(in, 2 * batch * hidden);
    at.logits = place(in, 2 * batch * vocabulary);
    at.wide_logits = place(in, 4 * batch * vocabulary);
    at.sampled = place(in, 4 * batch);
    at.history = place(in, 4 * batch * (in->capacity + 1));
    at.position = place(in, 4 * batch);
    at.token = place(in, 4 * batch);
    at.uniform = place(in, 4 * batch);
    at.prompt = place(in, 4 * batch);
    at.seen = place(in, batch * vocabulary);
    if (in->rows)
        at.part = place_part(config, in);
    return at;
}

/* What would fit is told in place of what does not. */
static void allocate_all(model *of, const layout *in)
{
    const double giga = 1e9;
    uint64_t memory = of->device.memory_bytes, capacity = of->capacity;

    of->bytes = in->next - ALIGNMENT;
    if (of->bytes <= memory &&
        griddep_memory_allocate(of->runtime, of->bytes, &of->memory, &error) == GRIDDEP_OK)
        return;
    uint64_t fixed = of->bytes - in->cache_bytes, spare = memory - memory / 16;
    uint64_t fits = spare > fixed ? (spare - fixed) / (in->cache_bytes / capacity) : 0;
    if (fits)
        fail("the model needs %.2f GB, %.2f of it for a context of %u, and the device has %.2f; "
             "try --context %" PRIu64,
             (double)of->bytes / giga, (double)in->cache_bytes / giga, of->capacity,
             (double)memory / giga, fits < capacity ? fits : capacity / 2);
    fail("the weights need %.2f GB, and the device has %.2f", (double)in->weight_bytes / giga,
         (double)memory / giga);
}

/* ---- weights ---- */

static void upload(model *of, const weight_files *files, const char *name, element type,
                   uint64_t rows, uint64_t columns, uint64_t target)
{
    tensor from = weights_find(files, name, rows, columns);
    uint64_t bytes = 2 * (rows ? rows : 1) * columns;
    if (from.type == ELEMENT_E4M3)
        fail("%s: tensor %s has 8 bits, which only matrices of layers and head may have", from.file,
             name);
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

/* Rows of 8 bits with their scales, as the file has them. */
static void upload_eight_bits(model *of, const weight_files *files, const char *name, uint64_t rows,
                              uint64_t columns, const matrix *to, uint64_t first)
{
    tensor from = weights_find(files, name, rows, columns);
    float *scales = allocate(rows, sizeof *scales);

    weights_scales(files, name, rows, scales);
    check(griddep_memory_write(of->runtime, to->at + first * columns, from.data, rows * columns,
                               NULL, &error),
          &error, name);
    check(griddep_memory_write(of->runtime, to->scale + 4 * first, scales, 4 * rows, NULL, &error),
          &error, name);
    free(scales);
}

/* Rows of a matrix from row `first` on. For 8 bits they go to the device in 16, and are rounded
 * there, unless the file has them so. */
static void upload_matrix(model *of, const weight_files *files, element type, const char *name,
                          uint64_t rows, uint64_t columns, const matrix *to, uint64_t first)
{
    uint64_t staged;

    if (!to->scale) {
        upload(of, files, name, type, rows, columns, to->at + 2 * first * columns);
        return;
    }
    if (weights_have_e4m3(files, name)) {
        upload_eight_bits(of, files, name, rows, columns, to, first);
        return;
    }
    griddep_launch_config shape = {.grid = {(uint32_t)rows}, .block = {256}};
    check(griddep_memory_allocate(of->runtime, 2 * rows * columns, &staged, &error), &error, name);
    upload(of, files, name, type, rows, columns, staged);
    const griddep_argument arguments[] = {
        {.bytes = 8, .value = staged},
        {.bytes = 8, .value = to->at + first * columns},
        {.bytes = 8, .value = to->scale + 4 * first},
        {.bytes = 4, .value = columns},
    };
    build_launch(of, "quantize_rows", shape, arguments, 4);
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

static void upload_all(model *of, const weight_files *files, element type, const places *to)
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

/* The positions by number, and zeros: products read rows that a short part does not write, and drop
 * what comes of them. */
static void upload_numbers(const model *of)
{
    uint32_t *numbers = allocate(of->capacity, sizeof *numbers);

    for (uint32_t i = 0; i < of->capacity; i++)
        numbers[i] = i;
    check(griddep_memory_write(of->runtime, of->at.part.numbers, numbers,
                               4 * (uint64_t)of->capacity, NULL, &error),
          &error, "the positions");
    check(griddep_memory_fill(of->runtime, of->at.part.zeros, 0, 4 * (uint64_t)of->rows, NULL,
                              &error),
          &error, "the positions");
    check(griddep_memory_fill(of->runtime, of->at.part.h, 0,
                              of->at.part.f + 2 * (uint64_t)of->rows * of->config->feed_forward -
                                  of->at.part.h,
                              NULL, &error),
          &error, "a part of a prompt");
    free(numbers);
}

/* ---- public ---- */

model *model_load(const model_config *config, const weight_files *files,
                  const model_options *options, griddep_runtime *runtime)
{
    model *of = allocate(1, sizeof *of);
    layer *layers = allocate(config->layers, sizeof *layers);
    layout in = {.next = ALIGNMENT,
                 .eight_bits = options->eight_bits,
                 .sequences = options->sequences,
                 .capacity = options->capacity,
                 .rows = options->rows};

    of->config = config;
    of->type = options->type;
    of->runtime = runtime;
    of->capacity = options->capacity;
    of->sequences = options->sequences;
    of->rows = options->rows;
    of->device.size = sizeof of->device;
    check(griddep_runtime_get_info(runtime, &of->device, &error), &error, "the device");
    place_all(config, files, layers, &in);
    if (in.any_eight_bits)
        of->type = ELEMENT_BF16; /* which the kernels for 8 bits go with */
    allocate_all(of, &in);
    in.next = of->memory;
    of->stretches = in.stretches = allocate(in.count, sizeof *in.stretches);
    in.count = 0;
    of->at = place_all(config, files, layers, &in);
    of->stretch_count = in.count;
    /* Of the embedding a step reads one row, unless it is the head too. */
    of->step_bytes = in.weight_bytes;
    if (of->at.head.at != of->at.embedding)
        of->step_bytes -= 2 * (uint64_t)config->vocabulary * config->hidden;
    of->cache_bytes_per_position = in.cache_bytes / of->capacity / of->sequences;
    upload_all(of, files, of->type, &of->at);
    decode_make(of, &options->draw);
    if (of->rows) {
        upload_numbers(of);
        prompt_make(of);
    }
    return of;
}

void model_free(model *of)
{
    if (!of)
        return;
    prompt_free(of);
    griddep_chain_destroy(of->step);
    build_end(of);
    griddep_memory_free(of->runtime, of->memory, NULL);
    free(of->stretches);
    free(of->at.layers);
    free(of);
}

/* The random number of a position, as step_end makes it. */
static float uniform_of(uint64_t seed, uint32_t position)
{
    uint64_t x = seed + ((uint64_t)position + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (float)(x >> 40) * 0x1p-24f;
}

static void start_sequence(model *of, uint32_t i, const token_list *prompt, uint32_t from,
                           uint64_t seed, void *stream)
{
    float uniform = uniform_of(seed, from);
    uint32_t length = (uint32_t)prompt->count;
    uint64_t vocabulary = of->config->vocabulary;
    unsigned char *seen = allocate(vocabulary, 1);
    const struct {
        uint64_t at;
        const void *data;
        uint64_t bytes;
    } parts[] = {
        {of->at.history + 4 * i * ((uint64_t)of->capacity + 1), prompt->list, 4 * prompt->count},
        {of->at.position + 4 * i, &from, 4},
        {of->at.token + 4 * i, prompt->list + from, 4},
        {of->at.uniform + 4 * i, &uniform, 4},
        {of->at.prompt + 4 * i, &length, 4},
        {of->at.seen + i * vocabulary, seen, vocabulary},
    };

    for (uint32_t k = 0; k <= from; k++)
        seen[prompt->list[k]] = 1;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        check(griddep_memory_write(of->runtime, parts[k].at, parts[k].data, parts[k].bytes, stream,
                                   &error),
              &error, "the prompt");
    free(seen);
}

void model_start(model *of, const token_list *prompts, const uint32_t *from, const sampling *draw,
                 void *stream)
{
    for (uint32_t i = 0; i < of->sequences; i++)
        start_sequence(of, i, &prompts[i], from[i], draw->seed + i, stream);
}
