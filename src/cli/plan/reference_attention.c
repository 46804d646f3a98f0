/* References of attention over a cache, and of rotary positions. As in the kernels, queries and
 * keys are rounded to their type once they are turned, and the new row of k and of v is in the
 * cache from then on. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* What one launch works on. A row is one position's head_dim elements of one head. */
typedef struct attention {
    const char *type;
    const gd_reference_argument *qkv, *rotary, *positions,
        *table; /* table: NULL where the cache is not paged */
    gd_reference_argument k, v, y;
    uint64_t batch, heads, kv_heads, head_dim;
    uint64_t page_size,
        table_pitch; /* without a table one page of the whole capacity for each row of the batch */
    double scale;
} attention;

static uint64_t load_u32(const gd_reference_argument *array, uint64_t index)
{
    return (uint64_t)gd_element_load("u32", array->data, index);
}

static uint64_t capacity(const attention *it)
{
    return it->page_size * it->table_pitch;
}

static uint64_t position_of(const attention *it, uint64_t row)
{
    return load_u32(it->positions, row);
}

/* The index of a row's first element in the cache. */
static uint64_t cache_row(const attention *it, uint64_t row, uint64_t head, uint64_t position)
{
    uint64_t page = row;
    if (it->table != NULL)
        page = load_u32(it->table, row * it->table_pitch + position / it->page_size);
    return ((page * it->kv_heads + head) * it->page_size + position % it->page_size) * it->head_dim;
}

static bool has_shape(const attention *it)
{
    return it->heads >= 1 && it->kv_heads >= 1 && it->heads % it->kv_heads == 0 &&
           it->heads / it->kv_heads <= 8 && (it->head_dim == 64 || it->head_dim == 128) &&
           it->page_size >= 1 && it->table_pitch >= 1;
}

/* Whether all positions and the pages that they need lie within the arrays. */
static bool has_cache(const attention *it)
{
    if (!gd_reference_is_array(it->positions, "u32", it->batch) ||
        (it->table != NULL &&
         !gd_reference_is_array(it->table, "u32", it->batch * it->table_pitch)))
        return false;
    for (uint64_t row = 0; row < it->batch; row++) {
        if (position_of(it, row) >= capacity(it))
            return false;
        for (uint64_t position = 0; position <= position_of(it, row); position++) {
            uint64_t end = cache_row(it, row, it->kv_heads - 1, position) + it->head_dim;
            if (!gd_reference_is_array(&it->k, it->type, end) ||
                !gd_reference_is_array(&it->v, it->type, end))
                return false;
        }
    }
    return true;
}

static bool has_arrays(const attention *it)
{
    uint64_t rows = it->batch * (it->heads + 2 * it->kv_heads);
    return gd_reference_is_array(it->qkv, it->type, rows * it->head_dim) &&
           gd_reference_is_array(&it->y, it->type, it->batch * it->heads * it->head_dim) &&
           (gd_reference_is_none(it->rotary) ||
            gd_reference_is_array(it->rotary, "f32", capacity(it) * it->head_dim)) &&
           has_cache(it);
}

/* One head of qkv, as rounded numbers, turned where `turns` and there is a table of angles. */
static void load_row(const attention *it, uint64_t index, uint64_t position, bool turns,
                     double *values)
{
    uint64_t half = it->head_dim / 2;
    for (uint64_t i = 0; i < it->head_dim; i++)
        values[i] = gd_element_load(it->type, it->qkv->data, index * it->head_dim + i);
    if (!turns || it->rotary->data == NULL)
        return;
    for (uint64_t i = 0; i < half; i++) {
        double cosine = gd_element_load("f32", it->rotary->data, 2 * (position * half + i));
        double sine = gd_element_load("f32", it->rotary->data, 2 * (position * half + i) + 1);
        double low = values[i], high = values[i + half];
        unsigned char rounded[4];
        gd_element_store(it->type, rounded, 0, low * cosine - high * sine);
        gd_element_store(it->type, rounded, 1, high * cosine + low * sine);
        values[i] = gd_element_load(it->type, rounded, 0);
        values[i + half] = gd_element_load(it->type, rounded, 1);
    }
}

static void append(const attention *it, uint64_t row, uint64_t head, double *values)
{
    uint64_t position = position_of(it, row), to = cache_row(it, row, head, position);
    uint64_t first = row * (it->heads + 2 * it->kv_heads) + it->heads;
    load_row(it, first + head, position, true, values);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->k.data, to + i, values[i]);
    load_row(it, first + it->kv_heads + head, position, false, values);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->v.data, to + i, values[i]);
}

/* The scores of one query, in f32's range, and their maximum; a score that is NaN does not count
 * for it. */
static double find_scores(const attention *it, uint64_t row, uint64_t head, uint64_t keys,
                          const double *query, double *scores)
{
    double maximum = -(double)INFINITY;
    for (uint64_t position = 0; position < keys; position++) {
        uint64_t from = cache_row(it, row, head, position);
        double sum = 0;
        for (uint64_t i = 0; i < it->head_dim; i++)
            sum += query[i] * gd_element_load(it->type, it->k.data, from + i);
        scores[position] = (double)(float)(sum * it->scale);
        maximum = fmax(maximum, scores[position]);
    }
    return maximum;
}

/* The sum of the values, each as often as its key weighs. */
static void weigh_values(const attention *it, uint64_t row, uint64_t head, uint64_t keys,
                         const double *weights, double *values)
{
    memset(values, 0, it->head_dim * sizeof *values);
    for (uint64_t position = 0; position < keys; position++) {
        uint64_t from = cache_row(it, row, head, position);
        for (uint64_t i = 0; i < it->head_dim; i++)
            values[i] += weights[position] * gd_element_load(it->type, it->v.data, from + i);
    }
}

static void attend_query(const attention *it, uint64_t row, uint64_t head, double *query,
                         double *scores)
{
    uint64_t kv_head = head / (it->heads / it->kv_heads), end = position_of(it, row) + 1;
    double sum = 0;
    load_row(it, row * (it->heads + 2 * it->kv_heads) + head, end - 1, true, query);
    double maximum = find_scores(it, row, kv_head, end, query, scores);
    for (uint64_t position = 0; position < end; position++) {
        scores[position] = exp(scores[position] - maximum);
        sum += scores[position];
    }
    weigh_values(it, row, kv_head, end, scores, query);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->y.data, (row * it->heads + head) * it->head_dim + i,
                         query[i] / sum);
}

static int attend(const attention *it)
{
    if (!has_shape(it) || !has_arrays(it))
        return -1;
    double *values = malloc(it->head_dim * sizeof *values);
    double *scores = malloc(capacity(it) * sizeof *scores);
    int result = values != NULL && scores != NULL ? 0 : -1;
    for (uint64_t row = 0; result == 0 && row < it->batch; row++) {
        for (uint64_t head = 0; head < it->kv_heads; head++)
            append(it, row, head, values);
        for (uint64_t head = 0; head < it->heads; head++)
            attend_query(it, row, head, values, scores);
    }
    free(values);
    free(scores);
    return result;
}

static int decode(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                  const uint32_t grid[3])
{
    if (count != 10 || !gd_reference_is_u32(&arguments[6]) || !gd_reference_is_u32(&arguments[7]) ||
        !gd_reference_is_u32(&arguments[8]) || !gd_reference_is_f32(&arguments[9]))
        return -1;
    return attend(&(attention){.type = self->type,
                               .qkv = &arguments[0],
                               .k = arguments[1],
                               .v = arguments[2],
                               .rotary = &arguments[3],
                               .positions = &arguments[4],
                               .y = arguments[5],
                               .heads = (uint64_t)arguments[6].scalar,
                               .head_dim = (uint64_t)arguments[7].scalar,
                               .page_size = (uint64_t)arguments[8].scalar,
                               .table_pitch = 1,
                               .scale = (double)(float)arguments[9].scalar,
                               .kv_heads = grid[1],
                               .batch = grid[2]});
}

static int decode_paged(const gd_reference *self, const gd_reference_argument *arguments,
                        uint32_t count, const uint32_t grid[3])
{
    if (count != 12 || !gd_reference_is_u32(&arguments[7]) || !gd_reference_is_u32(&arguments[8]) ||
        !gd_reference_is_u32(&arguments[9]) || !gd_reference_is_u32(&arguments[10]) ||
        !gd_reference_is_f32(&arguments[11]))
        return -1;
    return attend(&(attention){.type = self->type,
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
    attention cache;
    const gd_reference_argument *sequences;
    uint64_t tokens;
    bool has_queries;
} append_plan;

static uint64_t sequence_of(const append_plan *it, uint64_t token)
{
    return it->sequences->data != NULL ? load_u32(it->sequences, token) : token;
}

static bool has_token(const append_plan *it, uint64_t token)
{
    const attention *cache = &it->cache;
    uint64_t position = position_of(cache, token), sequence = sequence_of(it, token);
    if (position >= cache->page_size * (cache->table != NULL ? cache->table_pitch : 1) ||
        (cache->rotary->data != NULL &&
         !gd_reference_is_array(cache->rotary, "f32", (position + 1) * cache->head_dim)) ||
        (cache->table != NULL &&
         !gd_reference_is_array(cache->table, "u32", (sequence + 1) * cache->table_pitch)))
        return false;
    uint64_t end = cache_row(cache, sequence, cache->kv_heads - 1, position) + cache->head_dim;
    return gd_reference_is_array(&cache->k, cache->type, end) &&
           gd_reference_is_array(&cache->v, cache->type, end);
}

static bool can_append(const append_plan *it)
{
    const attention *cache = &it->cache;
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

static void store_row(const attention *it, const gd_reference_argument *to, uint64_t element,
                      const double *values)
{
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, to->data, element + i, values[i]);
}

static int append_tokens(const append_plan *it)
{
    const attention *cache = &it->cache;
    double *values = can_append(it) ? malloc(cache->head_dim * sizeof *values) : NULL;
    if (values == NULL)
        return -1;
    for (uint64_t token = 0; token < it->tokens; token++) {
        uint64_t first = token * (cache->heads + 2 * cache->kv_heads),
                 position = position_of(cache, token);
        for (uint64_t head = 0; it->has_queries && head < cache->heads; head++) {
            load_row(cache, first + head, position, true, values);
            store_row(cache, &cache->y, (token * cache->heads + head) * cache->head_dim, values);
        }
        for (uint64_t head = 0; head < cache->kv_heads; head++) {
            uint64_t to = cache_row(cache, sequence_of(it, token), head, position);
            load_row(cache, first + cache->heads + head, position, true, values);
            store_row(cache, &cache->k, to, values);
            load_row(cache, first + cache->heads + cache->kv_heads + head, position, false, values);
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
    uint64_t count = counts->data != NULL ? load_u32(counts, sequence) : tokens;
    return count < tokens ? count : tokens;
}

/* Whether the cache has what the queries of each sequence see. `it->positions` are those of the
 * first queries. */
static bool has_context(const attention *it, const gd_reference_argument *counts, uint64_t tokens)
{
    for (uint64_t row = 0; row < it->batch; row++) {
        uint64_t keys = position_of(it, row) + count_of(counts, row, tokens);
        if (keys > capacity(it))
            return false;
        for (uint64_t position = 0; position < keys; position++) {
            uint64_t end = cache_row(it, row, it->kv_heads - 1, position) + it->head_dim;
            if (!gd_reference_is_array(&it->k, it->type, end) ||
                !gd_reference_is_array(&it->v, it->type, end))
                return false;
        }
    }
    return true;
}

static bool has_prompt(const attention *it, const gd_reference_argument *counts, uint64_t tokens)
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

/* The output of one query, which sees `keys` keys. */
static void attend_turned(const attention *it, uint64_t sequence, uint64_t head, uint64_t keys,
                          uint64_t element, double *query, double *scores)
{
    uint64_t kv_head = head / (it->heads / it->kv_heads);
    double sum = 0;
    for (uint64_t i = 0; i < it->head_dim; i++)
        query[i] = gd_element_load(it->type, it->qkv->data, element + i);
    double maximum = find_scores(it, sequence, kv_head, keys, query, scores);
    for (uint64_t position = 0; position < keys; position++) {
        scores[position] = exp(scores[position] - maximum);
        sum += scores[position];
    }
    weigh_values(it, sequence, kv_head, keys, scores, query);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->y.data, element + i, query[i] / sum);
}

static int attend_prompt(const attention *it, const gd_reference_argument *counts, uint64_t tokens)
{
    if (!has_prompt(it, counts, tokens))
        return -1;
    double *query = malloc(it->head_dim * sizeof *query);
    double *scores = malloc(capacity(it) * sizeof *scores);
    int result = query != NULL && scores != NULL ? 0 : -1;
    for (uint64_t row = 0; result == 0 && row < it->batch; row++) {
        uint64_t first = position_of(it, row), count = count_of(counts, row, tokens);
        for (uint64_t i = 0; i < count * it->heads; i++)
            attend_turned(it, row, i % it->heads, first + i / it->heads + 1,
                          (row * tokens * it->heads + i) * it->head_dim, query, scores);
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
    return attend_prompt(&(attention){.type = self->type,
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

enum {
    PREFILL_OUTPUTS = 1 << 5,
    PREFILL_PAGED_OUTPUTS = 1 << 6,
    DENSE_OUTPUTS = 1 << 1 | 1 << 2 | 1 << 5,
    PAGED_OUTPUTS = 1 << 1 | 1 << 2 | 1 << 6,
    APPEND_OUTPUTS = 1 << 1 | 1 << 2 | 1 << 3
};

const gd_reference gd_reference_attention[] = {
    {"attention_decode_bf16", decode, DENSE_OUTPUTS, "bf16", NULL},
    {"attention_decode_f16", decode, DENSE_OUTPUTS, "f16", NULL},
    {"attention_decode_paged_bf16", decode_paged, PAGED_OUTPUTS, "bf16", NULL},
    {"attention_decode_paged_f16", decode_paged, PAGED_OUTPUTS, "f16", NULL},
    {"attention_prefill_bf16", prefill, PREFILL_OUTPUTS, "bf16", NULL},
    {"attention_prefill_f16", prefill, PREFILL_OUTPUTS, "f16", NULL},
    {"attention_prefill_paged_bf16", prefill_paged, PREFILL_PAGED_OUTPUTS, "bf16", NULL},
    {"attention_prefill_paged_f16", prefill_paged, PREFILL_PAGED_OUTPUTS, "f16", NULL},
    {"rotary_append_bf16", rotary_append, APPEND_OUTPUTS, "bf16", NULL},
    {"rotary_append_f16", rotary_append, APPEND_OUTPUTS, "f16", NULL},
    {.kernel = NULL},
};
