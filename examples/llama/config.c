/* config.json: the families differ by a bias and by norms of heads, not by their structure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config.h"

static const char file_name[] = "config.json";

static const struct family {
    const char *name;
    bool qkv_bias, qk_norm;
} families[] = {
    {"llama", false, false},
    {"mistral", false, false},
    {"qwen2", true, false},
    {"qwen3", false, true},
};

static const struct family *find_family(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strcmp(families[i].name, name))
            return &families[i];
    fail("%s: model_type \"%s\" is none that this program knows: llama, mistral, qwen2, qwen3",
         file_name, name);
}

/* What is not known may change the angles. */
static void check_rope(const json_t *root, json_t *scaling)
{
    static const char *const known[] = {"rope_theta",
                                        "type",
                                        "rope_type",
                                        "factor",
                                        "low_freq_factor",
                                        "high_freq_factor",
                                        "original_max_position_embeddings",
                                        "partial_rotary_factor"};
    const char *key;
    json_t *value;

    json_real_or(file_name, root, "partial_rotary_factor", 1, 1, 1);
    json_real_or(file_name, scaling, "partial_rotary_factor", 1, 1, 1);
    json_object_foreach(scaling, key, value)
    {
        bool is_known = json_is_null(value);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || !strcmp(key, known[i]);
        if (!is_known)
            fail("%s: the rotary scaling has \"%s\", which this program does not know", file_name,
                 key);
    }
}

/* rope_scaling of older files, rope_parameters of newer ones, where the base stands too. */
static void read_rope(const json_t *root, model_config *config)
{
    json_t *scaling = json_object_get(root, "rope_parameters");

    if (!scaling || json_is_null(scaling))
        scaling = json_object_get(root, "rope_scaling");
    config->rope_base = json_real_or(file_name, root, "rope_theta", 1, 1e30, 10000);
    check_rope(root, scaling);
    if (!scaling || json_is_null(scaling))
        return;
    if (!json_is_object(scaling))
        fail("%s: the rotary scaling is no object", file_name);
    config->rope_base = json_real_or(file_name, scaling, "rope_theta", 1, 1e30, config->rope_base);
    const char *type = json_text_or(file_name, scaling, "type", "default");
    type = json_text_or(file_name, scaling, "rope_type", type);
    if (!strcmp(type, "default")) {
        json_real_or(file_name, scaling, "factor", 1, 1, 1);
        return;
    }
    if (strcmp(type, "linear") && strcmp(type, "llama3"))
        fail("%s: rotary scaling \"%s\" is none that this program knows: default, linear, llama3",
             file_name, type);
    config->rope = strcmp(type, "linear") ? ROPE_LLAMA3 : ROPE_LINEAR;
    config->rope_factor = json_real_or(file_name, scaling, "factor", 1, 1e6, 0);
    if (!(config->rope_factor > 0))
        fail("%s: rotary scaling \"%s\" needs a factor", file_name, type);
    if (config->rope == ROPE_LLAMA3) {
        config->rope_low = json_real_or(file_name, scaling, "low_freq_factor", 1e-6, 1e6, 1);
        config->rope_high = json_real_or(file_name, scaling, "high_freq_factor", 1e-6, 1e6, 4);
        config->rope_original = (uint32_t)json_whole(
            file_name, scaling, "original_max_position_embeddings", 1, UINT32_MAX);
        if (config->rope_low >= config->rope_high)
            fail("%s: low_freq_factor is not below high_freq_factor", file_name);
    }
}

/* Whether a scale is told to serve a block, which must be 128 x 128. */
static bool tells_blocks(const json_t *of, const char *key)
{
    const json_t *block = json_object_get(of, key);

    if (!block || json_is_null(block))
        return false;
    if (json_array_size(block) != 2 || json_integer_value(json_array_get(block, 0)) != 128 ||
        json_integer_value(json_array_get(block, 1)) != 128)
        fail("%s: \"%s\" is not [128, 128]; scales of other blocks are not read", file_name, key);
    return true;
}

/* Members of quantization_config that say what the elements mean: texts that are read, in either
 * case. Its other members tell of activations, or what the tensors show. */
static const struct {
    const char *key, *method; /* NULL: any */
    const char *known[7];
} quantized[] = {
    {"quant_method", NULL, {"fp8", "fbgemm_fp8", "compressed-tensors", "modelopt", "gptq", "awq"}},
    {"fmt", NULL, {"e4m3"}},
    {"version", "awq", {"gemm"}},
    {"checkpoint_format", NULL, {"gptq", "gptq_v2"}},
    {"format", NULL, {"gptq", "gptq_v2", "float-quantized", "naive-quantized", "dense"}},
    {"pack_dtype", NULL, {"int32"}},
};

static void check_quantized(const json_t *of, const char *method)
{
    for (size_t i = 0; i < sizeof quantized / sizeof *quantized; i++) {
        const char *text = json_text_or(file_name, of, quantized[i].key, NULL);
        const char *const *known = quantized[i].known;
        while (text && *known && strcasecmp(text, *known))
            known++;
        if (!*known && (!quantized[i].method || !strcasecmp(quantized[i].method, method)))
            fail("%s: quantization_config has the %s \"%s\", which is not read", file_name,
                 quantized[i].key, text);
    }
    if (json_object_size(json_object_get(of, "transform_config")))
        fail("%s: quantization_config has a transform_config, which is not read", file_name);
    if (!json_truth_or(file_name, of, "zero_point", true))
        fail("%s: quantization_config has no zero_point, without which is not read", file_name);
}

/* Matrices of 4 bits, and of 8 in blocks. Other kinds are told by their tensors. */
static void read_quantization(const json_t *root, model_config *config)
{
    const json_t *of = json_object_get(root, "quantization_config");
    const char *name;
    json_t *group;

    if (!of || json_is_null(of))
        return;
    if (!json_is_object(of))
        fail("%s: quantization_config is no object", file_name);
    const char *method = json_text_or(file_name, of, "quant_method", "");
    check_quantized(of, method);
    const bool awq = !strcasecmp(method, "awq");
    config->blocks = tells_blocks(of, "weight_block_size");
    json_object_foreach(json_object_get(of, "config_groups"), name, group)
    {
        if (tells_blocks(json_object_get(group, "weights"), "block_structure"))
            config->blocks = true;
    }
    if (!awq && strcasecmp(method, "gptq"))
        return;
    if (json_whole(file_name, of, "bits", 1, 64) != 4 ||
        json_whole(file_name, of, "group_size", 1, 1 << 20) != 128)
        fail("%s: quantization_config \"%s\" is not of 4 bits in groups of 128, which alone are "
             "read",
             file_name, method);
    const char *format = json_text_or(file_name, of, "format", "gptq");
    format = json_text_or(file_name, of, "checkpoint_format", format);
    config->sorted = json_truth_or(file_name, of, "desc_act", false);
    config->four_bits = awq                           ? FOUR_BITS_AWQ
                        : !strcasecmp(format, "gptq") ? FOUR_BITS_GPTQ
                                                      : FOUR_BITS_GPTQ_V2;
}

static void add_stop(model_config *config, const char *file, const json_t *value)
{
    json_int_t token = json_integer_value(value);

    if (!json_is_integer(value) || token < 0 || token >= config->vocabulary)
        fail("%s: eos_token_id is no token of the vocabulary", file);
    for (uint32_t i = 0; i < config->stop_count; i++)
        if (config->stops[i] == (uint32_t)token)
            return;
    if (config->stop_count == MOST_STOPS)
        fail("%s: more than %d tokens end a text", file, MOST_STOPS);
    config->stops[config->stop_count++] = (uint32_t)token;
}

/* A token, or a list of them. */
static void read_stops(const json_t *root, const char *file, model_config *config)
{
    const json_t *value = json_object_get(root, "eos_token_id");
    const json_t *one;
    size_t i;

    if (!value || json_is_null(value))
        return;
    if (!json_is_array(value)) {
        add_stop(config, file, value);
        return;
    }
    json_array_foreach(value, i, one)
    {
        add_stop(config, file, one);
    }
}

static void read_generation(const char *folder, model_config *config)
{
    static const char file[] = "generation_config.json";
    json_t *root = json_read(folder, file, true);

    config->temperature = 0;
    config->top_p = config->repetition_penalty = 1;
    if (!root)
        return;
    read_stops(root, file, config);
    if (json_truth_or(file, root, "do_sample", false)) {
        config->temperature = json_real_or(file, root, "temperature", 0, 100, 1);
        config->top_p = json_real_or(file, root, "top_p", 0, 1, 1);
        config->top_k = (uint32_t)json_whole_or(file, root, "top_k", 0, UINT32_MAX, 50);
    }
    config->repetition_penalty = json_real_or(file, root, "repetition_penalty", 0.01, 100, 1);
    json_decref(root);
}

/* What the kernels cannot do is told before anything is loaded. */
static void check_shape(const model_config *config)
{
    if (config->head_dim != 64 && config->head_dim != 128)
        fail("%s: heads of %u elements; the attention kernels have 64 or 128", file_name,
             config->head_dim);
    if (config->heads % config->kv_heads || config->heads / config->kv_heads > 8)
        fail("%s: %u heads over %u key heads; a key head serves 1 to 8 heads", file_name,
             config->heads, config->kv_heads);
    if (config->hidden % 8 || config->feed_forward % 8)
        fail("%s: hidden_size and intermediate_size must be multiples of 8", file_name);
}

void config_read(const char *folder, model_config *config)
{
    json_t *root = json_read(folder, file_name, false);
    const struct family *family =
        find_family(json_text_or(file_name, root, "model_type", "(none)"));
    const char *activation = json_text_or(file_name, root, "hidden_act", "silu");

    *config = (model_config){.family = family->name};
    config->hidden = (uint32_t)json_whole(file_name, root, "hidden_size", 8, 1 << 20);
    config->feed_forward = (uint32_t)json_whole(file_name, root, "intermediate_size", 8, 1 << 22);
    config->layers = (uint32_t)json_whole(file_name, root, "num_hidden_layers", 1, 1 << 12);
    config->heads = (uint32_t)json_whole(file_name, root, "num_attention_heads", 1, 1 << 12);
    config->kv_heads = (uint32_t)json_whole_or(file_name, root, "num_key_value_heads", 1,
                                               config->heads, config->heads);
    config->head_dim = (uint32_t)json_whole_or(file_name, root, "head_dim", 1, 1 << 12,
                                               config->hidden / config->heads);
    config->vocabulary = (uint32_t)json_whole(file_name, root, "vocab_size", 1, 1 << 22);
    config->context =
        (uint32_t)json_whole_or(file_name, root, "max_position_embeddings", 1, 1 << 24, 2048);
    config->epsilon = json_real_or(file_name, root, "rms_norm_eps", 1e-30, 1, 1e-6);
    config->tied = json_truth_or(file_name, root, "tie_word_embeddings", false);
    config->qkv_bias = family->qkv_bias || json_truth_or(file_name, root, "attention_bias", false);
    config->qk_norm = family->qk_norm;
    if (strcmp(activation, "silu"))
        fail("%s: hidden_act \"%s\"; the kernels have silu", file_name, activation);
    /* A window that slides is the whole context as long as the context fits it. */
    if (json_truth_or(file_name, root, "use_sliding_window",
                      strcmp(family->name, "mistral") == 0)) {
        uint64_t window =
            json_whole_or(file_name, root, "sliding_window", 1, 1 << 24, config->context);
        if (window < config->context)
            config->context = (uint32_t)window;
    }
    read_rope(root, config);
    read_quantization(root, config);
    check_shape(config);
    read_stops(root, file_name, config);
    read_generation(folder, config);
    json_decref(root);
}

/* The angle that a pair turns by from one position to the next. */
static double frequency(const model_config *config, uint32_t pair)
{
    double plain = pow(config->rope_base, -2.0 * pair / config->head_dim);

    if (config->rope == ROPE_LINEAR)
        return plain / config->rope_factor;
    if (config->rope == ROPE_PLAIN)
        return plain;
    /* Llama 3: long waves are stretched, short ones kept, those between them mixed. */
    double wave = 2 * M_PI / plain;
    if (wave < config->rope_original / config->rope_high)
        return plain;
    if (wave > config->rope_original / config->rope_low)
        return plain / config->rope_factor;
    double kept =
        (config->rope_original / wave - config->rope_low) / (config->rope_high - config->rope_low);
    return (1 - kept) * plain / config->rope_factor + kept * plain;
}

float *config_rotary(const model_config *config, uint32_t positions)
{
    uint32_t pairs = config->head_dim / 2;
    float *table = allocate((size_t)positions * pairs, 2 * sizeof *table);
    float *next = table;

    for (uint32_t position = 0; position < positions; position++)
        for (uint32_t pair = 0; pair < pairs; pair++) {
            double angle = position * frequency(config, pair);
            *next++ = (float)cos(angle);
            *next++ = (float)sin(angle);
        }
    return table;
}
