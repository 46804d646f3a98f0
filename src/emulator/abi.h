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

typedef void *gd_CUarray;
typedef unsigned long long gd_CUtexObject;

typedef struct gd_CUDA_ARRAY_DESCRIPTOR {
    size_t Width, Height;
    int32_t Format;
    unsigned int NumChannels;
} gd_CUDA_ARRAY_DESCRIPTOR;

typedef struct gd_CUDA_ARRAY3D_DESCRIPTOR {
    size_t Width, Height, Depth;
    int32_t Format;
    unsigned int NumChannels, Flags;
} gd_CUDA_ARRAY3D_DESCRIPTOR;

typedef struct gd_CUDA_RESOURCE_DESC {
    int32_t resType;
    union {
        struct {
            gd_CUarray hArray;
        } array;
        struct {
            gd_CUdeviceptr devPtr;
            int32_t format;
            unsigned int numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            gd_CUdeviceptr devPtr;
            int32_t format;
            unsigned int numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int32_t reserved[32];
    } res;
    unsigned int flags;
} gd_CUDA_RESOURCE_DESC;

typedef struct gd_CUDA_TEXTURE_DESC {
    int32_t addressMode[3], filterMode;
    unsigned int flags, maxAnisotropy;
    int32_t mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int32_t reserved[12];
} gd_CUDA_TEXTURE_DESC;

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

_Static_assert(sizeof(gd_CUDA_ARRAY_DESCRIPTOR) == 24, "CUDA_ARRAY_DESCRIPTOR");
_Static_assert(sizeof(gd_CUDA_ARRAY3D_DESCRIPTOR) == 40, "CUDA_ARRAY3D_DESCRIPTOR");
_Static_assert(sizeof(gd_CUDA_RESOURCE_DESC) == 144, "CUDA_RESOURCE_DESC");
_Static_assert(sizeof(gd_CUDA_TEXTURE_DESC) == 104, "CUDA_TEXTURE_DESC");
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
    GD_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
    GD_CU_AD_FORMAT_UNSIGNED_INT8 = 1,
    GD_CU_AD_FORMAT_UNSIGNED_INT16 = 2,
    GD_CU_AD_FORMAT_UNSIGNED_INT32 = 3,
    GD_CU_AD_FORMAT_SIGNED_INT8 = 8,
    GD_CU_AD_FORMAT_SIGNED_INT16 = 9,
    GD_CU_AD_FORMAT_SIGNED_INT32 = 10,
    GD_CU_AD_FORMAT_HALF = 16,
    GD_CU_AD_FORMAT_FLOAT = 32,
    GD_CU_AD_FORMAT_BC1_UNORM = 0x91, /* the first of the formats that came later */
    GD_CU_TR_ADDRESS_MODE_WRAP = 0,
    GD_CU_TR_ADDRESS_MODE_CLAMP = 1,
    GD_CU_TR_ADDRESS_MODE_MIRROR = 2,
    GD_CU_TR_ADDRESS_MODE_BORDER = 3,
    GD_CU_TR_FILTER_MODE_POINT = 0,
    GD_CU_TR_FILTER_MODE_LINEAR = 1,
    GD_CU_TRSF_READ_AS_INTEGER = 1,
    GD_CU_TRSF_NORMALIZED_COORDINATES = 2,
    GD_CU_TRSF_SRGB = 0x10,
    GD_CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20,
    GD_CU_TRSF_SEAMLESS_CUBEMAP = 0x40,
    GD_CU_RESOURCE_TYPE_ARRAY = 0,
    GD_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    GD_CU_RESOURCE_TYPE_LINEAR = 2,
    GD_CU_RESOURCE_TYPE_PITCH2D = 3
};

#endif
