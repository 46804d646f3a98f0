/* From PTX to loaded code; from CUDA C++ to PTX. */
#ifndef GD_RUN_COMPILE_H
#define GD_RUN_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "griddep.h"
#include "run/runtime.h"

/* Loads PTX (with its closing zero at text[bytes]) into the current context. *log is what the
 * compiler said, to be freed, never NULL. Errors are positioned in the PTX. */
int32_t gd_compile_ptx(griddep_runtime *runtime, const char *text, size_t bytes,
                       const griddep_module_options *options, gd_CUmodule *module, char **log,
                       griddep_error *error);

/* Loads a cubin or fatbin into the current context. */
int32_t gd_compile_binary(griddep_runtime *runtime, const void *image, int32_t kind,
                          const griddep_module_options *options, gd_CUmodule *module, char **log,
                          griddep_error *error);

/* CUDA C++ to PTX for the runtime's device. *ptx and *log are to be freed. *from_store says whether
 * the store had them: what depends on files or on the clock, as far as the source shows, is always
 * compiled. */
int32_t gd_compile_source(griddep_runtime *runtime, const char *source,
                          const griddep_module_options *options, char **ptx, size_t *bytes,
                          char **log, bool *from_store, griddep_error *error);

/* Lowers the .version of what NVRTC made, in place, to the newest that the runtime's driver knows:
 * an NVRTC newer than the driver writes its own, whatever the text needs. Whether the text needs it
 * the driver's compiler decides then. False where that would change nothing. */
bool gd_compile_lower(const griddep_runtime *runtime, char *ptx, const char *name);

#endif
