/* Chains launch by launch: arguments are given, then a kernel takes them. */
#ifndef LLAMA_BUILD_H
#define LLAMA_BUILD_H

#include "model.h"

typedef struct builder {
    model *of;
    griddep_chain *chain;
    const char *type; /* "bf16" or "f16" */
    griddep_argument arguments[16];
    uint32_t count;
    uint32_t launches;                   /* that were added */
    const griddep_launch_config *shapes; /* of the first kernels, in place of those that are
                                          * suggested */
    uint32_t shape_count, kernels;       /* kernels: that were added */
    bool alone;                          /* no hops are added */
    griddep_launch_config last;          /* of the last of them */
} builder;

builder build_begin(model *of, griddep_chain **chain);
void build_end(model *of); /* the kernels go */

/* Arguments of the launch that is added next. */
griddep_argument address(uint64_t value);
griddep_argument u32(uint64_t value);
griddep_argument f32(double value);
void give(builder *with, const griddep_argument *list, size_t count);
#define GIVE(with, ...)                                                                            \
    give(with, (const griddep_argument[]){__VA_ARGS__},                                            \
         sizeof((griddep_argument[]){__VA_ARGS__}) / sizeof(griddep_argument))

/* Adds a launch of one of the program's own kernels. */
void add_own(builder *with, const char *name, griddep_launch_config config);

/* The same of one of the shelf, in the shape that the library suggests; `config` has what the
 * arguments do not tell of it: grid, pdl. type NULL: the family is the name. */
void add_shelf(builder *with, const char *family, const char *type, griddep_launch_config config);

/* On several devices: all of them get the sum of so many elements that each of them has there; or
 * each one's elements, one behind the other. On one device nothing is added. */
void add_sum(builder *with, uint64_t at, uint64_t count);
void add_gather(builder *with, uint64_t from, uint64_t to, uint64_t count);

/* What is added to a device's share of a sum: the first one's alone. */
uint64_t once(const builder *with, uint64_t address);

/* Norms of the heads of q and k, in `rows` rows of them. */
void add_head_norms(builder *with, const layer *at, uint64_t qkv, uint32_t rows);

/* A launch of one of the program's kernels outside of chains. */
void build_launch(model *of, const char *name, griddep_launch_config config,
                  const griddep_argument *arguments, uint32_t count);

/* ---- a model's chains ---- */

/* A step: the next token of each sequence. */
void decode_make(model *of, const sampling *draw);

/* A step without hops and without its end, so that each run of it does the same. Returns how many
 * launches it has: the first ones of a step, hops not counted. */
uint32_t decode_make_part(model *of, const sampling *draw, griddep_chain **chain);

/* Leaves in of->shapes what suits a step in a mode. search: looks for it first, for some seconds,
 * prints what came of it, and remembers it for this model, context, number of texts, device and
 * driver; the memory of activations and of the cache is overwritten. */
void tune_step(model *of, const sampling *draw, int32_t mode, bool search);

/* A part of a sequence's prompt: its keys and values go to the cache. */
void prompt_make(model *of);
void prompt_free(model *of);
void prompt_prepare(const model *of, int32_t mode);

/* Computes tokens 0 to `count` - 1 of a sequence, whose tokens are in its history, on all devices,
 * each in its stream. Asynchronous. */
void prompt_run(model *of, uint32_t sequence, uint32_t count, int32_t mode, void *const *streams);

#endif
