/* Attention over a cache, in double arithmetic. */
#ifndef GD_CLI_REFERENCE_ATTENTION_H
#define GD_CLI_REFERENCE_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/plan/reference.h"

/* What one launch works on. A row is one position's head_dim elements of one head. */
typedef struct gd_attention {
    const char *type;
    const gd_reference_argument *qkv, *rotary, *positions,
        *table; /* table: NULL where the cache is not paged */
    gd_reference_argument k, v, y;
    uint64_t batch, heads, kv_heads, head_dim;
    uint64_t page_size,
        table_pitch; /* without a table one page of the whole capacity for each row of the batch */
    double scale;
} gd_attention;

uint64_t gd_attention_capacity(const gd_attention *it);
uint64_t gd_attention_position(const gd_attention *it, uint64_t row);

/* The index of a row's first element in the cache. */
uint64_t gd_attention_cache_row(const gd_attention *it, uint64_t row, uint64_t head,
                                uint64_t position);

/* One head of qkv, as rounded numbers, turned where `turns` and there is a table of angles. */
void gd_attention_load_row(const gd_attention *it, uint64_t index, uint64_t position, bool turns,
                           double *values);

/* The output of one query, which sees so many keys, from its element on. The query is overwritten;
 * `scores` has room for the capacity. */
void gd_attention_attend(const gd_attention *it, uint64_t row, uint64_t head, uint64_t keys,
                         uint64_t element, double *query, double *scores);

/* A decode step: one query for each head and row. Returns as gd_reference_function. */
int gd_attention_decode(const gd_attention *it);

#endif
