/* What processes that share a model must have in common. */
#ifndef LLAMA_AGREE_H
#define LLAMA_AGREE_H

#include "model.h"

/* Digests of what a process has. */
typedef struct belongings {
    uint64_t model, options, prompts;
} belongings;

/* Of each large file of weights some thousand places are read: all of it takes long. */
belongings agree_begin(const char *folder, const weight_files *files, const model_options *options,
                       const token_list *prompts);

/* Ends the program where another process has something else. */
void agree(const belongings *own, const device_group *with);

#endif
