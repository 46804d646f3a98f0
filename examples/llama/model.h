/* A model on the device: its weights, its cache, and one decode step as a chain. */
#ifndef LLAMA_MODEL_H
#define LLAMA_MODEL_H

#include "config.h"
#include "weights.h"

/* How tokens are drawn. */
typedef struct sampling {
    double temperature, top_p, repetition_penalty; /* temperature 0: the likeliest token */
    uint32_t top_k;                                /* 0: all */
    uint64_t seed;
} sampling;

typedef struct model {
    const model_config *config;
    griddep_runtime *runtime;
    griddep_runtime_info device;
    griddep_chain *step;
    uint64_t memory;     /* one allocation, which everything lies in */
    uint64_t bytes;      /* of it */
    uint64_t step_bytes; /* that a step reads, without the cache */
    uint64_t cache_bytes_per_position;
    uint32_t capacity; /* positions of the cache */
    uint64_t history, position, token, uniform, seen, prompt, logits;
    struct model_modules *modules;
} model;

/* Copies the weights to the device and makes the step. eight_bits: matrices are rounded to e4m3
 * with a scale for each row; all else is bf16 then. The program ends with a message where the
 * device's memory does not hold it, before anything is copied. */
model *model_load(const model_config *config, const weight_files *files, element type,
                  bool eight_bits, uint32_t capacity, const sampling *draw,
                  griddep_runtime *runtime);
void model_free(model *of);

/* Puts a prompt in place: the next step computes its first token. */
void model_start(model *of, const token_list *prompt, const sampling *draw, void *stream);

#endif
