/* A decode step as a chain: the next token of each sequence. */
#ifndef LLAMA_DECODE_H
#define LLAMA_DECODE_H

#include "model.h"

void decode_make(model *of, const sampling *draw);

#endif
