/* NVRTC, the compiler from CUDA C++ to PTX, opened when it is needed. A table may be used by
 * several threads at once, as NVRTC's own functions may. */
#ifndef GD_CUDA_NVRTC_H
#define GD_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

typedef int32_t gd_nvrtcResult;
typedef void *gd_nvrtcProgram;

typedef struct gd_nvrtc {
    void *library;
    char *path;      /* what was opened: a path or a soname */
    char *build;     /* gd_library_build */
    int32_t version; /* 1000 * major + 10 * minor, as the driver counts */
    bool kept;       /* it was chosen, and stays loaded */

#define GD_NVRTC(name, type, arguments) type(*name) arguments;
#include "cuda/nvrtc_symbols.def"
#undef GD_NVRTC
} gd_nvrtc;

/* nvrtcResult, as far as it is told apart */
enum { GD_NVRTC_SUCCESS = 0, GD_NVRTC_ERROR_OUT_OF_MEMORY = 1, GD_NVRTC_ERROR_COMPILATION = 6 };

/* Opens libnvrtc. path NULL: libnvrtc.so.13, libnvrtc.so.12 and libnvrtc.so as the loader finds
 * them, then the same three in $CUDA_HOME/lib64 and $CUDA_PATH/lib64: the first that is not newer
 * than `driver`, a driver's API version, and whose PTX that driver therefore takes; where all are
 * newer, the oldest. NO_NVRTC lists what was tried, with the loader's words. */
int32_t gd_nvrtc_open(const char *path, int32_t driver, gd_nvrtc **nvrtc, griddep_error *error);

/* Frees the table; takes NULL and half-built ones. NVRTC itself stays loaded: unloading it loses
 * memory that it never frees. A library that turned out not to be NVRTC is unloaded. */
void gd_nvrtc_close(gd_nvrtc *nvrtc);

/* Compiles CUDA C++ to PTX. source and name end with a zero byte; name is what the log calls the
 * source. On success *ptx and *log are the caller's to free(), *ptx_bytes is without the closing
 * zero, and *log is "" when the compiler said nothing. On failure none of them is written: COMPILE,
 * with the log in the text, the position of its first error, and the nvrtcResult as driver_code;
 * MEMORY. given (may be NULL) has headers and name expressions: behind the PTX stands a line for
 * each expression, GD_NVRTC_NAME and its name in the PTX. */
#define GD_NVRTC_NAME "// griddep name: "
int32_t gd_nvrtc_compile(const gd_nvrtc *nvrtc, const char *source, const char *name,
                         const char *const *options, uint32_t option_count, char **ptx,
                         const griddep_module_options *given, size_t *ptx_bytes, char **log,
                         griddep_error *error);

#endif
