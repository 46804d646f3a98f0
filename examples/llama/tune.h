/* Launch shapes of a step, searched on the device or as an earlier search remembered them. */
#ifndef LLAMA_TUNE_H
#define LLAMA_TUNE_H

#include "model.h"

/* Leaves in of->shapes what suits a step in a mode. search: looks for it first, for some seconds,
 * prints what came of it, and remembers it for this model, context, number of texts, device and
 * driver; the memory of activations and of the cache is overwritten. */
void tune_step(model *of, const sampling *draw, int32_t mode, bool search);

#endif
