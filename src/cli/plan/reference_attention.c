/* The reference of attention over a cache. As in the kernels, queries and keys are rounded to their
 * type once they are turned, and the new row of k and of v is in the cache from then on. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_attention.h"
#include "cli/plan/reference_family.h"

static uint64_t load_u32(const gd_reference_argument *array, uint64_t index)
{
    return (uint64_t)gd_element_load("u32", array->data, index);
}

uint64_t gd_attention_capacity(const gd_attention *it)
{
    return it->page_size * it->table_pitch;
}

uint64_t gd_attention_position(const gd_attention *it, uint64_t row)
{
    return load_u32(it->positions, row);
}

uint64_t gd_attention_cache_row(const gd_attention *it, uint64_t row, uint64_t head,
                                uint64_t position)
{
    uint64_t page = row;
    if (it->table != NULL)
        page = load_u32(it->table, row * it->table_pitch + position / it->page_size);
    return ((page * it->kv_heads + head) * it->page_size + position % it->page_size) * it->head_dim;
}

static bool has_shape(const gd_attention *it)
{
    return it->heads >= 1 && it->kv_heads >= 1 && it->heads % it->kv_heads == 0 &&
           it->heads / it->kv_heads <= 8 && (it->head_dim == 64 || it->head_dim == 128) &&
           it->page_size >= 1 && it->table_pitch >= 1;
}

/* Whether all positions and the pages that they need lie within the arrays. */
static bool has_cache(const gd_attention *it)
{
    if (!gd_reference_is_array(it->positions, "u32", it->batch) ||
        (it->table != NULL &&
         !gd_reference_is_array(it->table, "u32", it->batch * it->table_pitch)))
        return false;
    for (uint64_t row = 0; row < it->batch; row++) {
        if (gd_attention_position(it, row) >= gd_attention_capacity(it))
            return false;
        for (uint64_t position = 0; position <= gd_attention_position(it, row); position++) {
            uint64_t end =
                gd_attention_cache_row(it, row, it->kv_heads - 1, position) + it->head_dim;
            if (!gd_reference_is_array(&it->k, it->type, end) ||
                !gd_reference_is_array(&it->v, it->type, end))
                return false;
        }
    }
    return true;
}

static bool has_arrays(const gd_attention *it)
{
    uint64_t rows = it->batch * (it->heads + 2 * it->kv_heads);
    return gd_reference_is_array(it->qkv, it->type, rows * it->head_dim) &&
           gd_reference_is_array(&it->y, it->type, it->batch * it->heads * it->head_dim) &&
           (gd_reference_is_none(it->rotary) ||
            gd_reference_is_array(it->rotary, "f32", gd_attention_capacity(it) * it->head_dim)) &&
           has_cache(it);
}

void gd_attention_load_row(const gd_attention *it, uint64_t index, uint64_t position, bool turns,
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

static void append(const gd_attention *it, uint64_t row, uint64_t head, double *values)
{
    uint64_t position = gd_attention_position(it, row),
             to = gd_attention_cache_row(it, row, head, position);
    uint64_t first = row * (it->heads + 2 * it->kv_heads) + it->heads;
    gd_attention_load_row(it, first + head, position, true, values);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->k.data, to + i, values[i]);
    gd_attention_load_row(it, first + it->kv_heads + head, position, false, values);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->v.data, to + i, values[i]);
}

/* The scores of one query, in f32's range, and their maximum; a score that is NaN does not count
 * for it. */
static double find_scores(const gd_attention *it, uint64_t row, uint64_t head, uint64_t keys,
                          const double *query, double *scores)
{
    double maximum = -(double)INFINITY;
    for (uint64_t position = 0; position < keys; position++) {
        uint64_t from = gd_attention_cache_row(it, row, head, position);
        double sum = 0;
        for (uint64_t i = 0; i < it->head_dim; i++)
            sum += query[i] * gd_element_load(it->type, it->k.data, from + i);
        scores[position] = (double)(float)(sum * it->scale);
        maximum = fmax(maximum, scores[position]);
    }
    return maximum;
}

/* The sum of the values, each as often as its key weighs. */
static void weigh_values(const gd_attention *it, uint64_t row, uint64_t head, uint64_t keys,
                         const double *weights, double *values)
{
    memset(values, 0, it->head_dim * sizeof *values);
    for (uint64_t position = 0; position < keys; position++) {
        uint64_t from = gd_attention_cache_row(it, row, head, position);
        for (uint64_t i = 0; i < it->head_dim; i++)
            values[i] += weights[position] * gd_element_load(it->type, it->v.data, from + i);
    }
}

void gd_attention_attend(const gd_attention *it, uint64_t row, uint64_t head, uint64_t keys,
                         uint64_t element, double *query, double *scores)
{
    uint64_t kv_head = head / (it->heads / it->kv_heads);
    double sum = 0, maximum = find_scores(it, row, kv_head, keys, query, scores);
    for (uint64_t position = 0; position < keys; position++) {
        scores[position] = exp(scores[position] - maximum);
        sum += scores[position];
    }
    weigh_values(it, row, kv_head, keys, scores, query);
    for (uint64_t i = 0; i < it->head_dim; i++)
        gd_element_store(it->type, it->y.data, element + i, query[i] / sum);
}

int gd_attention_decode(const gd_attention *it)
{
    if (!has_shape(it) || !has_arrays(it))
        return -1;
    double *values = malloc(it->head_dim * sizeof *values);
    double *scores = malloc(gd_attention_capacity(it) * sizeof *scores);
    int result = values != NULL && scores != NULL ? 0 : -1;
    for (uint64_t row = 0; result == 0 && row < it->batch; row++) {
        for (uint64_t head = 0; head < it->kv_heads; head++)
            append(it, row, head, values);
        for (uint64_t head = 0; head < it->heads; head++) {
            uint64_t position = gd_attention_position(it, row);
            gd_attention_load_row(it, row * (it->heads + 2 * it->kv_heads) + head, position, true,
                                  values);
            gd_attention_attend(it, row, head, position + 1,
                                (row * it->heads + head) * it->head_dim, values, scores);
        }
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
    return gd_attention_decode(&(gd_attention){.type = self->type,
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

enum { OUTPUTS = 1 << 1 | 1 << 2 | 1 << 5 };

const gd_reference gd_reference_attention[] = {
    {"attention_decode_bf16", decode, OUTPUTS, "bf16", NULL},
    {"attention_decode_f16", decode, OUTPUTS, "f16", NULL},
    {.kernel = NULL},
};
