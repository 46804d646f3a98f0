/* A decode step as a chain: the next token of each sequence. */
#ifndef LLAMA_DECODE_H
#define LLAMA_DECODE_H

#include "model.h"

void decode_make(model *of, const sampling *draw);

/* A step without hops and without its end, so that each run of it does the same. Returns how many
 * launches it has: the first ones of a step, hops not counted. */
uint32_t decode_make_part(model *of, const sampling *draw, griddep_chain **chain);

#endif
