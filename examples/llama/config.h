/* What a model is: config.json and generation_config.json of its folder. */
#ifndef LLAMA_CONFIG_H
#define LLAMA_CONFIG_H

#include "common.h"

enum { MOST_STOPS = 16 };

/* How files pack weights of 4 bits. Zeros of GPTQ are stored less 1, but in its second format. */
typedef enum four_bits {
    FOUR_BITS_NONE,
    FOUR_BITS_GPTQ,
    FOUR_BITS_GPTQ_V2,
    FOUR_BITS_AWQ
} four_bits;

typedef enum rope_kind { ROPE_PLAIN, ROPE_LINEAR, ROPE_LLAMA3 } rope_kind;

typedef struct model_config {
    const char *family; /* "llama", "mistral", "qwen2" or "qwen3" */
    uint32_t hidden, feed_forward, layers, heads, kv_heads, head_dim, vocabulary;
    uint32_t context; /* most positions that the model was made for */
    double epsilon;   /* of the RMS norms */
    double rope_base;
    rope_kind rope;
    double rope_factor, rope_low, rope_high; /* of LINEAR the first, of LLAMA3 all */
    uint32_t rope_original;                  /* context before it was scaled */
    bool sorted; /* desc_act: columns of 4 bits may be, and g_idx tells */
    four_bits four_bits;
    bool blocks;                /* matrices of 8 bits have a scale for each 128 x 128 */
    bool tied;                  /* the head is the embedding */
    bool qkv_bias;              /* the projections of q, k and v have a bias */
    bool qk_norm;               /* heads of q and k are normalized */
    uint32_t stops[MOST_STOPS]; /* tokens that end a text */
    uint32_t stop_count;
    /* How the model's authors sample from it. */
    double temperature, top_p, repetition_penalty;
    uint32_t top_k;
} model_config;

/* Reads it, or ends the program with a message that names file and member. */
void config_read(const char *folder, model_config *config);

/* Cosine and sine for each position and pair of a head, as the attention kernels take them:
 * 2 * (head_dim / 2) floats a position. The caller frees it. */
float *config_rotary(const model_config *config, uint32_t positions);

#endif
