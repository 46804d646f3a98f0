/* References of kernels that no example and no demonstration runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_attention.h"
#include "cli/plan/reference_family.h"
#include "shelf.h"

/* ---- attention_decode_paged ---- */

static int decode_paged(const gd_reference *self, const gd_reference_argument *arguments,
                        uint32_t count, const uint32_t grid[3])
{
    if (count != 12 || !gd_reference_is_u32(&arguments[7]) || !gd_reference_is_u32(&arguments[8]) ||
        !gd_reference_is_u32(&arguments[9]) || !gd_reference_is_u32(&arguments[10]) ||
        !gd_reference_is_f32(&arguments[11]))
        return -1;
    return gd_attention_decode(&(gd_attention){.type = self->type,
                                               .qkv = &arguments[0],
                                               .k = arguments[1],
                                               .v = arguments[2],
                                               .table = &arguments[3],
                                               .rotary = &arguments[4],
                                               .positions = &arguments[5],
                                               .y = arguments[6],
                                               .heads = (uint64_t)arguments[7].scalar,
                                               .head_dim = (uint64_t)arguments[8].scalar,
                                               .page_size = (uint64_t)arguments[9].scalar,
                                               .table_pitch = (uint64_t)arguments[10].scalar,
                                               .scale = (double)(float)arguments[11].scalar,
                                               .kv_heads = grid[1],
                                               .batch = grid[2]});
}

/* ---- rotary_append ---- */

/* Where each token goes: its sequence is a row of the table, and of a dense cache. */
typedef struct append_plan {
    gd_attention cache;
    const gd_reference_argument *sequences;
    uint64_t tokens;
    bool has_queries;
} append_plan;

static uint64_t sequence_of(const append_plan *it, uint64_t token)
{
    return it->sequences->data != NULL
               ? (uint64_t)gd_element_load("u32", it->sequences->data, token)
               : token;
}

static bool has_token(const append_plan *it, uint64_t token)
{
    const gd_attention *cache = &it->cache;
    uint64_t position = gd_attention_position(cache, token), sequence = sequence_of(it, token);
    if (position >= cache->page_size * (cache->table != NULL ? cache->table_pitch : 1) ||
        (cache->rotary->data != NULL &&
         !gd_reference_is_array(cache->rotary, "f32", (position + 1) * cache->head_dim)) ||
        (cache->table != NULL &&
         !gd_reference_is_array(cache->table, "u32", (sequence + 1) * cache->table_pitch)))
        return false;
    uint64_t end =
        gd_attention_cache_row(cache, sequence, cache->kv_heads - 1, position) + cache->head_dim;
    return gd_reference_is_array(&cache->k, cache->type, end) &&
           gd_reference_is_array(&cache->v, cache->type, end);
}

static bool can_append(const append_plan *it)
{
    const gd_attention *cache = &it->cache;
    uint64_t rows = it->tokens * (cache->heads + 2 * cache->kv_heads);
    if (it->tokens < 1 || cache->kv_heads < 1 || cache->head_dim < 16 ||
        cache->head_dim % 16 != 0 || cache->page_size < 1 ||
        !gd_reference_is_array(cache->qkv, cache->type, rows * cache->head_dim) ||
        !gd_reference_is_array(cache->positions, "u32", it->tokens) ||
        (it->sequences->data != NULL && !gd_reference_is_array(it->sequences, "u32", it->tokens)) ||
        (it->has_queries && !gd_reference_is_array(&cache->y, cache->type,
                                                   it->tokens * cache->heads * cache->head_dim)))
        return false;
    for (uint64_t token = 0; token < it->tokens; token++) {
        if (!has_token(it, token))
            return false;
    }
    return true;
}

static void store_row(const gd_attention *it, const gd_reference_argument *to, uint64_t element,
                      const double *values)
{
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, to->data, element + i, values[i]);
}

static int append_tokens(const append_plan *it)
{
    const gd_attention *cache = &it->cache;
    double *values = can_append(it) ? malloc(cache->head_dim * sizeof *values) : NULL;
    if (values == NULL)
        return -1;
    for (uint64_t token = 0; token < it->tokens; token++) {
        uint64_t first = token * (cache->heads + 2 * cache->kv_heads),
                 position = gd_attention_position(cache, token);
        for (uint64_t head = 0; it->has_queries && head < cache->heads; head++) {
            gd_attention_load_row(cache, first + head, position, true, values);
            store_row(cache, &cache->y, (token * cache->heads + head) * cache->head_dim, values);
        }
        for (uint64_t head = 0; head < cache->kv_heads; head++) {
            uint64_t to = gd_attention_cache_row(cache, sequence_of(it, token), head, position);
            gd_attention_load_row(cache, first + cache->heads + head, position, true, values);
            store_row(cache, &cache->k, to, values);
            gd_attention_load_row(cache, first + cache->heads + cache->kv_heads + head, position,
                                  false, values);
            store_row(cache, &cache->v, to, values);
        }
    }
    free(values);
    return 0;
}

static int rotary_append(const gd_reference *self, const gd_reference_argument *arguments,
                         uint32_t count, const uint32_t grid[3])
{
    (void)grid;
    for (uint32_t i = 8; i < 14; i++) {
        if (count != 14 || !gd_reference_is_u32(&arguments[i]))
            return -1;
    }
    return append_tokens(
        &(append_plan){.cache = {.type = self->type,
                                 .qkv = &arguments[0],
                                 .y = arguments[1],
                                 .k = arguments[2],
                                 .v = arguments[3],
                                 .table = arguments[4].data != NULL ? &arguments[4] : NULL,
                                 .rotary = &arguments[5],
                                 .positions = &arguments[6],
                                 .heads = (uint64_t)arguments[9].scalar,
                                 .kv_heads = (uint64_t)arguments[10].scalar,
                                 .head_dim = (uint64_t)arguments[11].scalar,
                                 .page_size = (uint64_t)arguments[12].scalar,
                                 .table_pitch = (uint64_t)arguments[13].scalar},
                       .sequences = &arguments[7],
                       .tokens = (uint64_t)arguments[8].scalar,
                       .has_queries = arguments[1].data != NULL});
}

/* ---- attention_prefill ---- */

static uint64_t count_of(const gd_reference_argument *counts, uint64_t sequence, uint64_t tokens)
{
    uint64_t count =
        counts->data != NULL ? (uint64_t)gd_element_load("u32", counts->data, sequence) : tokens;
    return count < tokens ? count : tokens;
}

/* Whether the cache has what the queries of each sequence see. `it->positions` are those of the
 * first queries. */
static bool has_context(const gd_attention *it, const gd_reference_argument *counts,
                        uint64_t tokens)
{
    for (uint64_t row = 0; row < it->batch; row++) {
        uint64_t keys = gd_attention_position(it, row) + count_of(counts, row, tokens);
        if (keys > gd_attention_capacity(it))
            return false;
        for (uint64_t position = 0; position < keys; position++) {
            uint64_t end =
                gd_attention_cache_row(it, row, it->kv_heads - 1, position) + it->head_dim;
            if (!gd_reference_is_array(&it->k, it->type, end) ||
                !gd_reference_is_array(&it->v, it->type, end))
                return false;
        }
    }
    return true;
}

static bool has_prompt(const gd_attention *it, const gd_reference_argument *counts, uint64_t tokens)
{
    uint64_t elements = it->batch * tokens * it->heads * it->head_dim;
    return it->heads >= 1 && it->kv_heads >= 1 && it->heads % it->kv_heads == 0 &&
           (it->head_dim == 64 || it->head_dim == 128) && it->page_size >= 1 &&
           it->table_pitch >= 1 && gd_reference_is_array(it->qkv, it->type, elements) &&
           gd_reference_is_array(&it->y, it->type, elements) &&
           gd_reference_is_array(it->positions, "u32", it->batch) &&
           (counts->data == NULL || gd_reference_is_array(counts, "u32", it->batch)) &&
           (it->table == NULL ||
            gd_reference_is_array(it->table, "u32", it->batch * it->table_pitch)) &&
           has_context(it, counts, tokens);
}

static int attend_prompt(const gd_attention *it, const gd_reference_argument *counts,
                         uint64_t tokens)
{
    if (!has_prompt(it, counts, tokens))
        return -1;
    double *query = malloc(it->head_dim * sizeof *query);
    double *scores = malloc(gd_attention_capacity(it) * sizeof *scores);
    int result = query != NULL && scores != NULL ? 0 : -1;
    for (uint64_t row = 0; result == 0 && row < it->batch; row++) {
        uint64_t first = gd_attention_position(it, row), count = count_of(counts, row, tokens);
        for (uint64_t i = 0; i < count * it->heads; i++) {
            uint64_t element = (row * tokens * it->heads + i) * it->head_dim;
            for (uint64_t k = 0; k < it->head_dim; k++)
                query[k] = gd_element_load(it->type, it->qkv->data, element + k);
            gd_attention_attend(it, row, i % it->heads, first + i / it->heads + 1, element, query,
                                scores);
        }
    }
    free(query);
    free(scores);
    return result;
}

/* Dense: q, k, v, first, counts, y, tokens, kv_heads, head_dim, capacity, scale. Paged has a table
 * behind v, and its pitch before the scale. */
static int prefill_of(const gd_reference *self, const gd_reference_argument *arguments,
                      uint32_t count, const uint32_t grid[3], bool paged)
{
    const gd_reference_argument *after = &arguments[paged ? 4 : 3];
    if (count != (paged ? 13 : 11) || !gd_reference_is_f32(&arguments[count - 1]))
        return -1;
    for (const gd_reference_argument *at = &after[3]; at < &arguments[count - 1]; at++) {
        if (!gd_reference_is_u32(at))
            return -1;
    }
    return attend_prompt(&(gd_attention){.type = self->type,
                                         .qkv = &arguments[0],
                                         .k = arguments[1],
                                         .v = arguments[2],
                                         .table = paged ? &arguments[3] : NULL,
                                         .positions = &after[0],
                                         .y = after[2],
                                         .heads = grid[0],
                                         .kv_heads = (uint64_t)after[4].scalar,
                                         .head_dim = (uint64_t)after[5].scalar,
                                         .page_size = (uint64_t)after[6].scalar,
                                         .table_pitch = paged ? (uint64_t)after[7].scalar : 1,
                                         .scale = (double)(float)arguments[count - 1].scalar,
                                         .batch = grid[2]},
                         &after[1], (uint64_t)after[3].scalar);
}

static int prefill(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                   const uint32_t grid[3])
{
    return prefill_of(self, arguments, count, grid, false);
}

static int prefill_paged(const gd_reference *self, const gd_reference_argument *arguments,
                         uint32_t count, const uint32_t grid[3])
{
    return prefill_of(self, arguments, count, grid, true);
}

/* ---- others ---- */

/* The launch has one thread for each element of out. */
static int spin(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                const uint32_t grid[3])
{
    (void)self;
    (void)grid;
    if (count != 3 || !gd_reference_is_u32(&arguments[2]))
        return -1;
    uint64_t elements = arguments[1].count;
    if (!gd_reference_is_array(&arguments[0], "u32", elements) ||
        !gd_reference_is_array(&arguments[1], "u32", elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++) {
        uint32_t value = 0;
        memcpy(&value, (const unsigned char *)arguments[0].data + 4 * i, sizeof value);
        value += 1;
        memcpy((unsigned char *)arguments[1].data + 4 * i, &value, sizeof value);
    }
    return 0;
}

/* Whole numbers up to 2^53 are the ones that a double tells apart. */
static bool is_u64(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u64") == 0 &&
           argument->scalar >= 0 && argument->scalar <= 0x1p53 &&
           argument->scalar == floor(argument->scalar);
}

static int fill_bytes(const gd_reference *self, const gd_reference_argument *arguments,
                      uint32_t count, const uint32_t grid[3])
{
    (void)self;
    (void)grid;
    if (count != 3 || !is_u64(&arguments[1]) || !gd_reference_is_u32(&arguments[2]))
        return -1;
    uint64_t bytes = (uint64_t)arguments[1].scalar;
    uint32_t pattern = (uint32_t)arguments[2].scalar;
    if (!gd_reference_is_memory(&arguments[0], bytes))
        return -1;
    for (uint64_t i = 0; i < bytes; i++)
        ((unsigned char *)arguments[0].data)[i] = (unsigned char)(pattern >> 8 * (i % 4));
    return 0;
}

static int copy_bytes(const gd_reference *self, const gd_reference_argument *arguments,
                      uint32_t count, const uint32_t grid[3])
{
    (void)self;
    (void)grid;
    if (count != 3 || !is_u64(&arguments[2]))
        return -1;
    uint64_t bytes = (uint64_t)arguments[2].scalar;
    if (!gd_reference_is_memory(&arguments[0], bytes) ||
        !gd_reference_is_memory(&arguments[1], bytes))
        return -1;
    if (bytes > 0)
        memcpy(arguments[1].data, arguments[0].data, bytes);
    return 0;
}

enum {
    PREFILL_OUTPUTS = 1 << 5,
    PREFILL_PAGED_OUTPUTS = 1 << 6,
    PAGED_OUTPUTS = 1 << 1 | 1 << 2 | 1 << 6,
    APPEND_OUTPUTS = 1 << 1 | 1 << 2 | 1 << 3
};

static const gd_reference references[] = {
    {"attention_decode_paged_bf16", decode_paged, PAGED_OUTPUTS, "bf16", NULL},
    {"attention_decode_paged_f16", decode_paged, PAGED_OUTPUTS, "f16", NULL},
    {"attention_prefill_bf16", prefill, PREFILL_OUTPUTS, "bf16", NULL},
    {"attention_prefill_f16", prefill, PREFILL_OUTPUTS, "f16", NULL},
    {"attention_prefill_paged_bf16", prefill_paged, PREFILL_PAGED_OUTPUTS, "bf16", NULL},
    {"attention_prefill_paged_f16", prefill_paged, PREFILL_PAGED_OUTPUTS, "f16", NULL},
    {"copy_bytes", copy_bytes, 1U << 1, NULL, NULL},
    {"fill_bytes", fill_bytes, 1U << 0, NULL, NULL},
    {"rotary_append_bf16", rotary_append, APPEND_OUTPUTS, "bf16", NULL},
    {"rotary_append_f16", rotary_append, APPEND_OUTPUTS, "f16", NULL},
    {"spin", spin, 1U << 1, NULL, NULL},
};

const gd_reference *shelf_reference(const char *kernel)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        if (strcmp(references[i].kernel, kernel) == 0)
            return &references[i];
    }
    return gd_reference_find(kernel);
}
