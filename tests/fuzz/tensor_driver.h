/* What the cases of tests/fuzz/tensor.c share: a driver that is opened by its path, random numbers,
 * a kernel's run. */
#ifndef GD_TENSOR_DRIVER_H
#define GD_TENSOR_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "cuda/abi.h"

enum {
    SHARED_BYTES = 65536,
    MEMORY_BYTES = 65536,
    RESULT_BYTES = SHARED_BYTES + 1024,
    KERNEL_THREADS = 128
};

#define TENSOR_ENTRIES(entry)                                                                      \
    entry(cuInit, (unsigned flags));                                                               \
    entry(cuDeviceGet, (gd_CUdevice * device, int ordinal));                                       \
    entry(cuDevicePrimaryCtxRetain, (gd_CUcontext * context, gd_CUdevice device));                 \
    entry(cuCtxSetCurrent, (gd_CUcontext context));                                                \
    entry(cuCtxSynchronize, (void));                                                               \
    entry(cuModuleLoadDataEx,                                                                      \
          (gd_CUmodule * module, const void *image, unsigned count, int *options, void **values)); \
    entry(cuModuleUnload, (gd_CUmodule module));                                                   \
    entry(cuModuleGetFunction, (gd_CUfunction * function, gd_CUmodule module, const char *name));  \
    entry(cuFuncSetAttribute, (gd_CUfunction function, int attribute, int value));                 \
    entry(cuMemAlloc_v2, (uint64_t * address, size_t bytes));                                      \
    entry(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes));                         \
    entry(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes));                               \
    entry(cuMemsetD8_v2, (uint64_t to, unsigned char value, size_t bytes));                        \
    entry(cuTensorMapEncodeTiled,                                                                  \
          (gd_CUtensorMap * map, int type, uint32_t rank, void *address, const uint64_t *sizes,    \
           const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,    \
           int swizzle, int promotion, int fill));                                                 \
    entry(cuTensorMapEncodeIm2col,                                                                 \
          (gd_CUtensorMap * map, int type, uint32_t rank, void *address, const uint64_t *sizes,    \
           const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,         \
           uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int promotion,     \
           int fill));                                                                             \
    entry(cuLaunchKernel, (gd_CUfunction function, unsigned gx, unsigned gy, unsigned gz,          \
                           unsigned bx, unsigned by, unsigned bz, unsigned shared,                 \
                           gd_CUstream stream, void **parameters, void **extra))

typedef struct tensor_driver {
#define DECLARE(name, arguments) gd_CUresult(*name) arguments
    TENSOR_ENTRIES(DECLARE);
#undef DECLARE
    uint64_t input, memory, output; /* device memory: SHARED_BYTES, MEMORY_BYTES, RESULT_BYTES */
    bool dump;                      /* results are printed word by word */
} tensor_driver;

/* One case: its kernel `k`, whose first parameters are input, output and memory, and what it
 * finds. */
typedef struct tensor_case {
    gd_text ptx, says; /* says: in words */
    uint32_t input[SHARED_BYTES / 4], memory[MEMORY_BYTES / 4];
    uint32_t result[RESULT_BYTES / 4], memory_after[MEMORY_BYTES / 4];
    gd_CUtensorMap map;
    int32_t coordinates[5];
    uint32_t words[4]; /* further parameters */
    uint64_t random;
} tensor_case;

bool tensor_open(tensor_driver *driver, const char *path);

/* Loads and runs the kernel: false with a line on stderr when the driver refuses or fails. */
bool tensor_run(const tensor_driver *driver, tensor_case *item);

uint32_t tensor_random(tensor_case *item, uint32_t below);

/* tensor_copy.c, tensor_product.c: make a case of its number. tensor_encode.c: the results of many
 * encodings as one number. */
bool tensor_make_copy(const tensor_driver *driver, tensor_case *item);
bool tensor_make_product(tensor_case *item);
uint64_t tensor_encode(const tensor_driver *driver, tensor_case *item);

/* FNV-1a, word by word. */
uint64_t tensor_digest(uint64_t digest, const uint32_t *words, size_t count);

#endif
