/* From PTX to loaded code; from CUDA C++ to PTX. */
#ifndef GD_RUN_COMPILE_H
#define GD_RUN_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "griddep.h"
#include "run/runtime.h"

enum { GD_JIT_OPTIONS = 9 };

/* JIT options of one call, with room for the two logs. */
typedef struct gd_jit_options {
    unsigned count;
    int names[GD_JIT_OPTIONS];
    void *values[GD_JIT_OPTIONS];
    char *information, *errors;
} gd_jit_options;

/* False: there is no memory; to be freed in either case. */
bool gd_jit_options_make(gd_jit_options *jit, const griddep_module_options *options);
void gd_jit_options_free(gd_jit_options *jit);

/* The error of a failed compilation of `name`: the compiler's words, its position, the line of PTX;
 * text is NULL for what is no PTX. */
int32_t gd_jit_options_fail(const gd_jit_options *jit, const griddep_runtime *runtime,
                            gd_CUresult result, const char *name, const char *text, size_t bytes,
                            griddep_error *error);

/* Loads PTX (with its closing zero at text[bytes]) into the current context, or as a library. *log
 * is what the compiler said, to be freed, never NULL. Errors are positioned in the PTX. */
int32_t gd_compile_ptx(griddep_runtime *runtime, const char *text, size_t bytes,
                       const griddep_module_options *options, gd_loaded *code, char **log,
                       griddep_error *error);

/* Loads a cubin or fatbin into the current context. */
int32_t gd_compile_binary(griddep_runtime *runtime, const void *image, int32_t kind,
                          const griddep_module_options *options, gd_loaded *code, char **log,
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
