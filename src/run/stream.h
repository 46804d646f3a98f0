/* What the calls about streams and events share. */
#ifndef GD_RUN_STREAM_H
#define GD_RUN_STREAM_H

#include "griddep.h"
#include "run/runtime.h"

/* Checks what all calls share and enters the context. `output` is a pointer that must not be
 * NULL. */
int32_t gd_stream_begin(griddep_runtime *runtime, const void *output, bool *pushed,
                        griddep_error *error);

/* Leaves the context and reports a failure. stream: that the call was about; NULL. */
int32_t gd_stream_finish(const griddep_runtime *runtime, bool pushed, gd_CUresult result,
                         gd_CUstream stream, const char *what, griddep_error *error);

#endif
