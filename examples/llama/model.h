/* A model on one device or several: its weights, its cache, and what it does as two chains on each
 * device: a decode step of a batch of sequences, and a part of a sequence's prompt. Several devices
 * share the heads, the feed-forward rows and the vocabulary, and add what came of them twice a
 * layer. */
#ifndef LLAMA_MODEL_H
#define LLAMA_MODEL_H

#include "config.h"
#include "weights.h"

enum { MOST_SEQUENCES = 8, MOST_DEVICES = 8, MOST_MODULES = 16 };

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

/* A matrix of weights: in 16 bits, in 8, or in tiles of 4 (tiles.h). */
typedef struct matrix {
    uint64_t at, scale; /* scale: of 8 bits alone */
    uint32_t bits;
    uint32_t scale_rows; /* which share a scale for each 128 columns; 0: a row has one */
} matrix;

typedef struct layer {
    matrix qkv, output, gate, up, down;
    uint64_t norm_1, qkv_bias, q_norm, k_norm, output_bias, norm_2;
    uint64_t k_cache, v_cache;
    uint64_t qkv_out, attention_out, output_out, f, h; /* what the step's launches write */
} layer;

/* What a part of a prompt needs: rows of activations, and 16 bits of a matrix that has fewer. */
typedef struct prompt_places {
    uint64_t h, normed, qkv, attention, output, f, wide, wide_up;
    uint64_t numbers; /* 0, 1, 2, ... as far as there are positions */
    uint64_t zeros;   /* as many as rows */
} prompt_places;

typedef struct places {
    matrix head;
    uint64_t embedding, norm, rotary, h, logits, wide_logits, sampled;
    uint64_t own_logits; /* of a device's share of the vocabulary; `logits` where it has all */
    uint64_t history, position, token, uniform, seen; /* of each sequence */
    prompt_places part;
    layer *layers;
} places;

/* One device's. */
typedef struct model {
    model_config config;  /* heads, key heads and feed-forward rows: the device's share */
    struct model *next;   /* the next device's of this process; NULL: there is none */
    griddep_group *group; /* NULL: of one device */
    uint32_t index;       /* among those of this process */
    uint32_t rank, devices;
    uint64_t head_rows; /* the device's share of the vocabulary */
    element type;
    griddep_runtime *runtime;
    griddep_runtime_info device;
    griddep_chain *step;
    struct prompt_chain *part;
    uint64_t memory;     /* one allocation, which everything lies in */
    uint64_t bytes;      /* of it */
    uint64_t step_bytes; /* that a step reads, without the cache */
    uint64_t cache_bytes_per_position;
    uint32_t capacity;  /* positions of a sequence's cache */
    uint32_t sequences; /* of a step */
    uint32_t rows;      /* of a part of a prompt */
    places at;
    stretch *stretches; /* of the memory, each of one thing: where a kernel stops that is given its
                         * address */
    uint32_t stretch_count;
    griddep_launch_config *shapes; /* of a step's kernels; NULL: they were not tuned */
    uint32_t shape_count;
    griddep_module *modules[MOST_MODULES];
    char *module_names[MOST_MODULES];
    uint32_t module_count;
} model;

typedef struct model_options {
    element type; /* ELEMENT_BF16 or ELEMENT_F16 */
    /* 0: as the files have them; 16; 8: matrices are rounded to e4m3 with a scale for each row; 4:
     * those of layers to 4 bits with a scale and a zero for each 128 of a row, and the head to 8.
     * All else is bf16 then. Matrices that have 8 or 4 in the files have the same here. */
    uint32_t bits;
    uint32_t capacity, sequences;
    uint32_t rows; /* of a prompt that are computed at once */
    sampling draw;
    int32_t mode; /* that launch shapes of a step are for */
    bool tune;    /* they are searched */
} model_options;

/* The devices that share a model: all are of this process, or one is. */
typedef struct device_group {
    griddep_runtime *runtimes[MOST_DEVICES]; /* of this process */
    uint32_t here, rank, devices;            /* rank: of the first of them */
    griddep_group *group;                    /* NULL: one device alone */
} device_group;

/* Copies the weights to this process's devices, and makes the chains. The program ends with a
 * message where a device's memory does not hold its share of the model, before anything is copied
 * to it, and where the devices cannot share the model's heads. */
model *model_load(const model_config *config, const weight_files *files,
                  const model_options *options, const device_group *with);
void model_free(model *of);

/* Ends the program when a device has waited for another one in vain. */
void model_check(const model *of);

uint64_t model_qkv_rows(const model_config *config);

/* Puts the prompts in place on one device: the next step computes token `from[i]` of sequence i,
 * and what comes before it is in the cache. */
void model_start(model *of, const token_list *prompts, const uint32_t *from, const sampling *draw,
                 void *stream);

#endif
