/* Decoder layers of a language model at batch 1 as a plan: five kernels a layer, one after the
 * other.
 *
 *   qkv       = Wqkv . norm(h)                      linear_bf16
 *   attention = attention(rotary(q), cache, k, v)   attention_decode_bf16, which appends to the
 *   cache h2        = Wo . attention + h                  linear_bf16
 *   f         = silu(Wgate . norm(h2)) * (Wup . norm(h2))
 *   h'        = Wdown . f + h2
 *
 * Each layer has weights, cache and vectors of its own. What is constant, or in the cache from
 * steps before, can be fetched before a kernel's wait; every vector between two kernels is small
 * and stays in the L2 cache. */
#ifndef GD_BENCH_DECODER_H
#define GD_BENCH_DECODER_H

#include <stdint.h>

#include "griddep.h"

#include "cli/plan/plan.h"

typedef struct gd_decoder {
    const char *name;
    uint32_t hidden, heads, kv_heads, head_dim, feed_forward;
    uint32_t context; /* tokens in the cache, the new one included */
    uint32_t layers;
} gd_decoder;

/* Bytes that a layer must read: weights and cache. */
uint64_t gd_decoder_layer_bytes(const gd_decoder *decoder);

/* Builds the plan, which is zero before, for a device. With `expect`, the vectors of the first
 * layer and the last layer's result are expected to be what the references compute. */
void gd_decoder_build(const gd_decoder *decoder, const griddep_runtime_info *info, bool expect,
                      gd_plan *plan);

#endif
