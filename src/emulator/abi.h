/* The structs and constants of the driver ABI that nothing but the emulator uses. Names, layouts
 * and values are those of cuda.h 13.0, behind gd_ or GD_ as in cuda/abi.h. */
#ifndef GD_EMULATOR_ABI_H
#define GD_EMULATOR_ABI_H

#include "cuda/abi.h"

typedef struct gd_CUctxCreateParams {
    void *execAffinityParams;
    int numExecAffinityParams;
    void *cigParams;
} gd_CUctxCreateParams;

typedef struct gd_CUDA_KERNEL_NODE_PARAMS_v1 {
    gd_CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
} gd_CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct gd_CUDA_GRAPH_INSTANTIATE_PARAMS {
    uint64_t flags;
    gd_CUstream hUploadStream;
    gd_CUgraphNode hErrNode_out;
    int32_t result_out;
} gd_CUDA_GRAPH_INSTANTIATE_PARAMS;

_Static_assert(sizeof(gd_CUDA_KERNEL_NODE_PARAMS_v1) == 56, "CUDA_KERNEL_NODE_PARAMS_v1");

enum {
    GD_CU_CTX_SCHED_BLOCKING_SYNC = 4,
    GD_CU_CTX_FLAGS_MASK = 0xff,
    GD_CU_LIMIT_STACK_SIZE = 0,
    GD_CU_LIMIT_PRINTF_FIFO_SIZE = 1,
    GD_CU_LIMIT_MALLOC_HEAP_SIZE = 2,
    GD_CU_LIMIT_COUNT = 10,
    GD_CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    GD_CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    GD_CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    GD_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
    GD_CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    GD_CU_POINTER_ATTRIBUTE_MAPPED = 13,
    GD_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16
};

#endif
