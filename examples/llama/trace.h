/* A picture of one step on all devices of the process: when launches are there, work and end. */
#ifndef LLAMA_TRACE_H
#define LLAMA_TRACE_H

#include "model.h"

/* Puts the prompts in place, runs two steps behind them, and draws the second one into a file,
 * "-": stdout. */
void trace_step(model *of, const token_list *prompts, const sampling *draw, int32_t mode,
                const char *path);

#endif
