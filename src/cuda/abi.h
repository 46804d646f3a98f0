/* The CUDA driver ABI, as far as the project calls it or offers it, on a 64-bit little-endian
 * machine.
 *
 * Every name is that of cuda.h behind gd_ (types) or GD_ (constants), so that one file may include
 * both headers. An enum of cuda.h is an int32_t here. The values are those of CUDA 13.0;
 * tests/unit/abi_check.c compares each of them, and the layout of each struct, with cuda.h where
 * there is one. */
#ifndef GD_CUDA_ABI_H
#define GD_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int gd_CUdevice;
typedef uint64_t gd_CUdeviceptr;

typedef void *gd_CUcontext;
typedef void *gd_CUmodule;
typedef void *gd_CUfunction;
typedef void *gd_CUstream;
typedef void *gd_CUevent;
typedef void *gd_CUgraph;
typedef void *gd_CUgraphNode;
typedef void *gd_CUgraphExec;
typedef void *gd_CUuserObject;
typedef void *gd_CUgraphDeviceNode;
typedef void *gd_CUlinkState;
typedef void *gd_CUkernel;
typedef void *gd_CUlibrary;
typedef void *gd_CUgreenCtx;
typedef void *gd_CUdevResourceDesc;
typedef void *gd_CUmemoryPool;
typedef void gd_CUhostFn(void *user);
typedef size_t gd_CUoccupancyB2DSize(int block);

typedef int32_t gd_CUdevResourceType;
typedef int32_t gd_CUresult;
typedef void gd_CUstreamCallback(gd_CUstream stream, gd_CUresult status, void *user);
typedef int32_t gd_CUdevice_attribute;
typedef int32_t gd_CUfunction_attribute;
typedef int32_t gd_CUjit_option;
typedef int32_t gd_CUjitInputType;
typedef int32_t gd_CUlibraryOption;
typedef int32_t gd_CUpointer_attribute;
typedef int32_t gd_CUmemAllocationHandleType;
typedef int32_t gd_CUmemAllocationGranularity_flags;
typedef unsigned long long gd_CUmemGenericAllocationHandle;
typedef int32_t gd_CUlaunchAttributeID;
typedef int32_t gd_CUaccessProperty;
typedef int32_t gd_CUsynchronizationPolicy;
typedef int32_t gd_CUclusterSchedulingPolicy;
typedef int32_t gd_CUlaunchMemSyncDomain;
typedef int32_t gd_CUstreamCaptureStatus;
typedef int32_t gd_CUstreamCaptureMode;
typedef int32_t gd_CUgraphNodeType;
typedef int32_t gd_CUgraphConditionalNodeType;
typedef uint64_t gd_CUgraphConditionalHandle;
typedef int32_t gd_CUgraphExecUpdateResult;
typedef int32_t gd_CUdriverProcAddressQueryResult;
typedef int32_t gd_CUmemPool_attribute;
typedef int32_t gd_CUtensorMapDataType;
typedef int32_t gd_CUtensorMapInterleave;
typedef int32_t gd_CUtensorMapSwizzle;
typedef int32_t gd_CUtensorMapL2promotion;
typedef int32_t gd_CUtensorMapFloatOOBfill;

/* GD_CUDA_SUCCESS and GD_CUDA_ERROR_*, of type gd_CUresult */
enum {
#define GD_RESULT(name, value, status) GD_##name = value,
#include "cuda/abi_errors.def"
#undef GD_RESULT
};

/* GD_CU_* and GD_CUDA_GRAPH_* */
enum {
#define GD_CONSTANT(name, value) GD_##name = value,
#include "cuda/abi_constants.def"
#undef GD_CONSTANT
};

/* Stream handles that name no object: the default stream of the context, and that of the calling
 * thread. NULL means the first. */
#define GD_CU_STREAM_LEGACY ((gd_CUstream)(uintptr_t)1)
#define GD_CU_STREAM_PER_THREAD ((gd_CUstream)(uintptr_t)2)

/* Entries of the `extra` array of a launch: each of the first two is followed by its pointer, END
 * closes. */
#define GD_CU_LAUNCH_PARAM_END ((void *)(uintptr_t)0)
#define GD_CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)(uintptr_t)1)
#define GD_CU_LAUNCH_PARAM_BUFFER_SIZE                                                             \
    ((void *)(uintptr_t)2) /* followed by a pointer to a size_t */

typedef struct gd_CUuuid {
    char bytes[16];
} gd_CUuuid;

/* The UUID of the emulated driver's first device; those of the others differ from it in their last
 * byte alone. By the bytes before that one they are told from GPUs. */
#define GD_EMULATED_UUID "griddep-emulated"
enum { GD_EMULATED_UUID_BYTES = 15 };

typedef struct gd_CUaccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    gd_CUaccessProperty hitProp;
    gd_CUaccessProperty missProp;
} gd_CUaccessPolicyWindow;

typedef struct gd_CUlaunchMemSyncDomainMap {
    unsigned char default_;
    unsigned char remote;
} gd_CUlaunchMemSyncDomainMap;

typedef union gd_CUlaunchAttributeValue {
    char pad[64];
    gd_CUaccessPolicyWindow accessPolicyWindow; /* id 1 */
    int cooperative;                            /* id 2 */
    gd_CUsynchronizationPolicy syncPolicy;      /* id 3 */
    struct {
        unsigned int x, y, z;
    } clusterDim;                                                   /* id 4 */
    gd_CUclusterSchedulingPolicy clusterSchedulingPolicyPreference; /* id 5 */
    int programmaticStreamSerializationAllowed;                     /* id 6 */
    struct {
        gd_CUevent event;
        int flags;
        int triggerAtBlockStart;
    } programmaticEvent;                          /* id 7 */
    int priority;                                 /* id 8 */
    gd_CUlaunchMemSyncDomainMap memSyncDomainMap; /* id 9 */
    gd_CUlaunchMemSyncDomain memSyncDomain;       /* id 10 */
    struct {
        unsigned int x, y, z;
    } preferredClusterDim; /* id 11 */
    struct {
        gd_CUevent event;
        int flags;
    } launchCompletionEvent; /* id 12 */
    struct {
        int deviceUpdatable;
        gd_CUgraphDeviceNode devNode;
    } deviceUpdatableKernelNode;              /* id 13 */
    unsigned int sharedMemCarveout;           /* id 14 */
    unsigned int nvlinkUtilCentricScheduling; /* id 16 */
} gd_CUlaunchAttributeValue;

typedef struct gd_CUlaunchAttribute {
    gd_CUlaunchAttributeID id;
    char pad[8 - sizeof(gd_CUlaunchAttributeID)];
    gd_CUlaunchAttributeValue value;
} gd_CUlaunchAttribute;

typedef struct gd_CUlaunchConfig {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    gd_CUstream hStream;
    gd_CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} gd_CUlaunchConfig;

typedef struct gd_CUgraphEdgeData {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5];
} gd_CUgraphEdgeData;

typedef struct gd_CUmemLocation {
    int32_t type, id;
} gd_CUmemLocation;

typedef struct gd_CUmemAccessDesc {
    gd_CUmemLocation location;
    int32_t flags; /* CUmemAccess_flags */
} gd_CUmemAccessDesc;

typedef struct gd_CUmemAllocationProp {
    int32_t type, requestedHandleTypes;
    gd_CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} gd_CUmemAllocationProp;

typedef struct gd_CUmemPoolProps {
    int32_t allocType, handleTypes;
    gd_CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} gd_CUmemPoolProps;

typedef struct gd_CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    int32_t srcMemoryType;
    const void *srcHost;
    gd_CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    int32_t dstMemoryType;
    void *dstHost;
    gd_CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} gd_CUDA_MEMCPY2D;

typedef struct gd_CUDA_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int32_t srcMemoryType;
    const void *srcHost;
    gd_CUdeviceptr srcDevice;
    void *srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int32_t dstMemoryType;
    void *dstHost;
    gd_CUdeviceptr dstDevice;
    void *dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} gd_CUDA_MEMCPY3D;

/* The second version, which is the third too. */
typedef struct gd_CUDA_KERNEL_NODE_PARAMS {
    gd_CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
    gd_CUkernel kern;
    gd_CUcontext ctx;
} gd_CUDA_KERNEL_NODE_PARAMS;

typedef struct gd_CUDA_MEMSET_NODE_PARAMS_v1 {
    gd_CUdeviceptr dst;
    size_t pitch;
    unsigned int value;
    unsigned int elementSize;
    size_t width, height;
} gd_CUDA_MEMSET_NODE_PARAMS_v1;

typedef struct gd_CUDA_HOST_NODE_PARAMS {
    gd_CUhostFn *fn;
    void *userData;
} gd_CUDA_HOST_NODE_PARAMS;

/* The second version; the first ends before ctx. */
typedef struct gd_CUDA_MEMSET_NODE_PARAMS {
    gd_CUdeviceptr dst;
    size_t pitch;
    unsigned int value;
    unsigned int elementSize;
    size_t width, height;
    gd_CUcontext ctx;
} gd_CUDA_MEMSET_NODE_PARAMS;

typedef struct gd_CUDA_MEMCPY_NODE_PARAMS {
    int flags;
    int reserved;
    gd_CUcontext copyCtx;
    gd_CUDA_MEMCPY3D copyParams;
} gd_CUDA_MEMCPY_NODE_PARAMS;

typedef struct gd_CUDA_CONDITIONAL_NODE_PARAMS {
    gd_CUgraphConditionalHandle handle;
    gd_CUgraphConditionalNodeType type;
    unsigned int size;
    gd_CUgraph *phGraph_out; /* written: the bodies, in an array of the driver's */
    gd_CUcontext ctx;
} gd_CUDA_CONDITIONAL_NODE_PARAMS;

typedef struct gd_CUgraphNodeParams {
    gd_CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        gd_CUDA_KERNEL_NODE_PARAMS kernel;
        gd_CUDA_MEMCPY_NODE_PARAMS memcpy;
        gd_CUDA_MEMSET_NODE_PARAMS memset;
        gd_CUDA_HOST_NODE_PARAMS host;
        gd_CUgraph graph;
        gd_CUevent event;
        gd_CUDA_CONDITIONAL_NODE_PARAMS conditional;
    } is;
    long long reserved2;
} gd_CUgraphNodeParams;

typedef struct gd_CUdevSmResource {
    unsigned int smCount, minSmPartitionSize, smCoscheduledAlignment;
} gd_CUdevSmResource;

/* Of the types that cuda.h has in a union, the one that is asked for. */
typedef struct gd_CUdevResource {
    int32_t type;
    unsigned char internal[92];
    gd_CUdevSmResource sm;
    unsigned char oversize[48 - sizeof(gd_CUdevSmResource)];
} gd_CUdevResource;

typedef struct gd_CUgraphExecUpdateResultInfo {
    gd_CUgraphExecUpdateResult result;
    gd_CUgraphNode errorNode;
    gd_CUgraphNode errorFromNode;
} gd_CUgraphExecUpdateResultInfo;
/* The driver asks for 64-byte alignment; cuda.h declares 128. */
typedef struct gd_CUtensorMap {
    _Alignas(128) uint64_t opaque[16];
} gd_CUtensorMap;

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8,
               "the driver ABI is declared for 64-bit machines");
_Static_assert(sizeof(gd_CUlaunchAttribute) == 72 && offsetof(gd_CUlaunchAttribute, value) == 8,
               "CUlaunchAttribute");
_Static_assert(sizeof(gd_CUlaunchConfig) == 56 && offsetof(gd_CUlaunchConfig, hStream) == 32,
               "CUlaunchConfig");
_Static_assert(sizeof(gd_CUgraphEdgeData) == 8, "CUgraphEdgeData");
_Static_assert(sizeof(gd_CUDA_MEMCPY2D) == 128, "CUDA_MEMCPY2D");
_Static_assert(sizeof(gd_CUmemPoolProps) == 88, "CUmemPoolProps");
_Static_assert(sizeof(gd_CUmemAllocationProp) == 32, "CUmemAllocationProp");
_Static_assert(sizeof(gd_CUDA_MEMCPY3D) == 200, "CUDA_MEMCPY3D");
_Static_assert(sizeof(gd_CUDA_KERNEL_NODE_PARAMS) == 72, "CUDA_KERNEL_NODE_PARAMS_v2");
_Static_assert(sizeof(gd_CUDA_MEMSET_NODE_PARAMS) == 48, "CUDA_MEMSET_NODE_PARAMS_v2");
_Static_assert(sizeof(gd_CUDA_CONDITIONAL_NODE_PARAMS) == 32, "CUDA_CONDITIONAL_NODE_PARAMS");
_Static_assert(sizeof(gd_CUdevResource) == 144, "CUdevResource");
_Static_assert(sizeof(gd_CUgraphNodeParams) == 256 && offsetof(gd_CUgraphNodeParams, is) == 16,
               "CUgraphNodeParams");

#endif
