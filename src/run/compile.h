/* From PTX to loaded code, by way of the code cache; from CUDA C++ to PTX. */
#ifndef GD_RUN_COMPILE_H
#define GD_RUN_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "griddep.h"
#include "run/runtime.h"

/* Loads PTX (with its closing zero at text[bytes]) into the current context. *log is what the compiler said, to be
 * freed, never NULL. *from_cache says whether the code cache had it. Errors are positioned in the PTX. */
int32_t gd_compile_ptx(griddep_runtime *runtime, const char *text, size_t bytes, const griddep_module_options *options,
                       gd_CUmodule *module, char **log, bool *from_cache, griddep_error *error);

/* Loads a cubin or fatbin into the current context. */
int32_t gd_compile_binary(griddep_runtime *runtime, const void *image, int32_t kind,
                          const griddep_module_options *options, gd_CUmodule *module, char **log, griddep_error *error);

/* CUDA C++ to PTX for the runtime's device. *ptx and *log are to be freed. */
int32_t gd_compile_source(griddep_runtime *runtime, const char *source, const griddep_module_options *options,
                          char **ptx, size_t *bytes, char **log, griddep_error *error);

#endif
