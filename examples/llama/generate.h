/* Steps run ahead of the host, whose tokens arrive while the next ones are computed. */
#ifndef LLAMA_GENERATE_H
#define LLAMA_GENERATE_H

#include "model.h"

typedef struct generation {
    int32_t mode;  /* GRIDDEP_MODE_* */
    uint32_t most; /* tokens to generate, of each sequence */
    bool stop;     /* at the tokens that end a text */
    /* Called for each token of a sequence as it arrives; false ends the generation; or NULL. */
    bool (*take)(void *user, uint32_t sequence, uint32_t token);
    void *user;
    /* What came of it. */
    uint32_t count;     /* tokens that were taken, of all sequences */
    double first, each; /* microseconds: to the first token, for each further step */
    bool sound;         /* neither the first logits nor the last ones are NaN or infinite */
    const char *ended_by[MOST_SEQUENCES]; /* "stop", "count", "context", "caller" */
} generation;

/* Puts the prompts in place and computes them, all but their last tokens. streams: one of each
 * device, in the order of the models. from: the position that the next step reads of each sequence.
 * Asynchronous. */
void generate_start(model *of, const token_list *prompts, const sampling *draw, int32_t mode,
                    void *const *streams, uint32_t *from);

/* Runs the model from the prompts on, one for each of its sequences. */
void generate(model *of, const token_list *prompts, const sampling *draw, generation *run);

/* Puts the prompts in place, runs two steps behind them, and draws the second one on all devices of
 * the process into a file, "-": stdout. */
void trace_step(model *of, const token_list *prompts, const sampling *draw, int32_t mode,
                const char *path);

#endif
