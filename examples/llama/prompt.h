/* A part of a sequence's prompt as a chain: its keys and values go to the cache. */
#ifndef LLAMA_PROMPT_H
#define LLAMA_PROMPT_H

#include "model.h"

void prompt_make(model *of);
void prompt_free(model *of);
void prompt_prepare(const model *of, int32_t mode);

/* Computes tokens 0 to `count` - 1 of a sequence, whose tokens are in its history, on all devices,
 * each in its stream. Asynchronous. */
void prompt_run(model *of, uint32_t sequence, uint32_t count, int32_t mode, void *const *streams);

#endif
