/* A model on the device: its weights, its cache, and what it does as two chains: a decode step of a
 * batch of sequences, and a part of a sequence's prompt. */
#ifndef LLAMA_MODEL_H
#define LLAMA_MODEL_H

#include "config.h"
#include "weights.h"

enum { MOST_SEQUENCES = 8 };

/* How tokens are drawn. Sequence i has the seed `seed` + i. */
typedef struct sampling {
    double temperature, top_p, repetition_penalty; /* temperature 0: the likeliest token */
    uint32_t top_k;                                /* 0: all */
    uint64_t seed;
} sampling;

/* ---- where everything lies: addresses on the device, 0: there is none ---- */

/* A stretch of memory that holds one thing. */
typedef struct stretch {
    uint64_t at, bytes;
} stretch;

/* A matrix of weights: in 16 bits, or in 8 with a scale for each row. */
typedef struct matrix {
    uint64_t at, scale; /* scale 0: 16 bits */
} matrix;

typedef struct layer {
    matrix qkv, output, gate, up, down;
    uint64_t norm_1, qkv_bias, q_norm, k_norm, output_bias, norm_2;
    uint64_t k_cache, v_cache;
    uint64_t qkv_out, attention_out, output_out, f, h; /* what the step's launches write */
} layer;

/* What a part of a prompt needs: rows of activations, and 16 bits of a matrix that has 8. */
typedef struct prompt_places {
    uint64_t h, normed, qkv, attention, output, f, wide, wide_up;
    uint64_t numbers; /* 0, 1, 2, ... as far as there are positions */
    uint64_t zeros;   /* as many as rows */
} prompt_places;

typedef struct places {
    matrix head;
    uint64_t embedding, norm, rotary, h, logits, wide_logits, sampled;
    uint64_t history, position, token, uniform, seen, prompt; /* of each sequence */
    prompt_places part;
    layer *layers;
} places;

typedef struct model {
    const model_config *config;
    element type;
    griddep_runtime *runtime;
    griddep_runtime_info device;
    griddep_chain *step;
    struct prompt_chain *part; /* NULL: prompts go through steps */
    uint64_t memory;           /* one allocation, which everything lies in */
    uint64_t bytes;            /* of it */
    uint64_t step_bytes;       /* that a step reads, without the cache */
    uint64_t cache_bytes_per_position;
    uint32_t capacity;  /* positions of a sequence's cache */
    uint32_t sequences; /* of a step */
    uint32_t rows;      /* of a part of a prompt */
    places at;
    stretch *stretches; /* of the memory, each of one thing: where a kernel stops that is given its
                         * address */
    uint32_t stretch_count;
    struct model_modules *modules;
} model;

typedef struct model_options {
    element type;    /* ELEMENT_BF16 or ELEMENT_F16 */
    bool eight_bits; /* matrices are rounded to e4m3 with a scale for each row; all else is bf16 */
    uint32_t capacity, sequences;
    uint32_t rows; /* of a prompt that are computed at once; 0: it goes through steps */
    sampling draw;
} model_options;

/* Copies the weights to the device and makes the chains. The program ends with a message where the
 * device's memory does not hold the model, before anything is copied. */
model *model_load(const model_config *config, const weight_files *files,
                  const model_options *options, griddep_runtime *runtime);
void model_free(model *of);

uint64_t model_qkv_rows(const model_config *config);

/* Puts the prompts in place: the next step computes token `from[i]` of sequence i, and what comes
 * before it is in the cache. */
void model_start(model *of, const token_list *prompts, const uint32_t *from, const sampling *draw,
                 void *stream);

#endif
