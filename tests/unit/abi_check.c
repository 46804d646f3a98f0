/* Compares src/cuda/abi.h, src/emulator/abi.h, driver.def and nvrtc_symbols.def with NVIDIA's own
 * headers, at compile time: each constant, the layout of each struct, and the exact signature of
 * each entry point in its pinned version. Built only where configure finds cuda.h; that it compiles
 * is the test. A toolkit older than 13.0 lacks some of the names: then the program says so and
 * exits 77. */
/* With the first versions of functions, too */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#if __has_include(<cupti_activity.h>)
#include <cupti_activity.h>
#endif
#include <nvrtc.h>
#include <stddef.h>
#include <stdio.h>

#include "attach/cupti.h"
#include "cuda/abi.h"
#include "cuda/driver_rows.h"
#include "emulator/abi.h"
#include "griddep.h"

#if CUDA_VERSION >= 13000

#define GD_RESULT(name, value, status) _Static_assert(GD_##name == (int)name, #name);
#include "cuda/abi_errors.def"
#undef GD_RESULT

#define GD_CONSTANT(name, value) _Static_assert(GD_##name == (int)name, #name);
#include "cuda/abi_constants.def"
#undef GD_CONSTANT

/* EACH(macro, with, a, b...): macro(with, a); macro(with, b)... of up to 20. */
/* clang-format off */
#define EACH_1(macro, with, one) macro(with, one)
#define EACH_2(macro, with, one, ...) macro(with, one); EACH_1(macro, with, __VA_ARGS__)
#define EACH_3(macro, with, one, ...) macro(with, one); EACH_2(macro, with, __VA_ARGS__)
#define EACH_4(macro, with, one, ...) macro(with, one); EACH_3(macro, with, __VA_ARGS__)
#define EACH_5(macro, with, one, ...) macro(with, one); EACH_4(macro, with, __VA_ARGS__)
#define EACH_6(macro, with, one, ...) macro(with, one); EACH_5(macro, with, __VA_ARGS__)
#define EACH_7(macro, with, one, ...) macro(with, one); EACH_6(macro, with, __VA_ARGS__)
#define EACH_8(macro, with, one, ...) macro(with, one); EACH_7(macro, with, __VA_ARGS__)
#define EACH_9(macro, with, one, ...) macro(with, one); EACH_8(macro, with, __VA_ARGS__)
#define EACH_10(macro, with, one, ...) macro(with, one); EACH_9(macro, with, __VA_ARGS__)
#define EACH_11(macro, with, one, ...) macro(with, one); EACH_10(macro, with, __VA_ARGS__)
#define EACH_12(macro, with, one, ...) macro(with, one); EACH_11(macro, with, __VA_ARGS__)
#define EACH_13(macro, with, one, ...) macro(with, one); EACH_12(macro, with, __VA_ARGS__)
#define EACH_14(macro, with, one, ...) macro(with, one); EACH_13(macro, with, __VA_ARGS__)
#define EACH_15(macro, with, one, ...) macro(with, one); EACH_14(macro, with, __VA_ARGS__)
#define EACH_16(macro, with, one, ...) macro(with, one); EACH_15(macro, with, __VA_ARGS__)
#define EACH_17(macro, with, one, ...) macro(with, one); EACH_16(macro, with, __VA_ARGS__)
#define EACH_18(macro, with, one, ...) macro(with, one); EACH_17(macro, with, __VA_ARGS__)
#define EACH_19(macro, with, one, ...) macro(with, one); EACH_18(macro, with, __VA_ARGS__)
#define EACH_20(macro, with, one, ...) macro(with, one); EACH_19(macro, with, __VA_ARGS__)
/* clang-format on */
#define CHOOSE(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18,    \
               _19, _20, chosen, ...)                                                              \
    chosen
#define EACH(macro, with, ...)                                                                     \
    CHOOSE(__VA_ARGS__, EACH_20, EACH_19, EACH_18, EACH_17, EACH_16, EACH_15, EACH_14, EACH_13,    \
           EACH_12, EACH_11, EACH_10, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3,      \
           EACH_2, EACH_1, )                                                                       \
    (macro, with, __VA_ARGS__)

#define SAME_SIZE(type) _Static_assert(sizeof(gd_##type) == sizeof(type), "size of " #type)
#define SAME_FIELD(type, field)                                                                    \
    _Static_assert(offsetof(gd_##type, field) == offsetof(type, field) &&                          \
                       sizeof(((gd_##type *)0)->field) == sizeof(((type *)0)->field),              \
                   #type "." #field)

#define SAME_SIZE_OF(with, type) SAME_SIZE(type)
#define SAME_FIELDS(type, ...) EACH(SAME_FIELD, type, __VA_ARGS__)

EACH(SAME_SIZE_OF, , CUresult, CUdevice, CUdeviceptr, CUcontext, CUmodule, CUfunction, CUstream,
     CUevent, CUgraph, CUgraphNode, CUgraphExec, CUgraphDeviceNode, CUlinkState, CUuserObject,
     CUkernel, CUlibrary, CUgreenCtx, CUdevResourceDesc, CUlibraryOption, CUpointer_attribute);
EACH(SAME_SIZE_OF, , CUdevice_attribute, CUfunction_attribute, CUjit_option, CUjitInputType,
     CUmemAllocationHandleType, CUmemAllocationGranularity_flags, CUmemGenericAllocationHandle,
     CUlaunchAttributeID, CUstreamCaptureStatus, CUstreamCaptureMode, CUmemPool_attribute,
     CUgraphNodeType, CUgraphConditionalNodeType, CUgraphConditionalHandle,
     CUdriverProcAddressQueryResult, CUtensorMapDataType, CUtensorMapInterleave, CUtensorMapSwizzle,
     CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
EACH(SAME_SIZE_OF, , CUtensorMap);
_Static_assert(_Alignof(gd_CUtensorMap) == _Alignof(CUtensorMap), "alignment of CUtensorMap");

SAME_SIZE(CUaccessPolicyWindow);
SAME_FIELDS(CUaccessPolicyWindow, base_ptr, num_bytes, hitRatio, hitProp, missProp);

SAME_SIZE(CUlaunchMemSyncDomainMap);
SAME_FIELDS(CUlaunchMemSyncDomainMap, default_, remote);

SAME_SIZE(CUlaunchAttributeValue);
SAME_FIELDS(CUlaunchAttributeValue, clusterDim.x, clusterDim.y, clusterDim.z,
            programmaticEvent.event, programmaticEvent.flags, programmaticEvent.triggerAtBlockStart,
            preferredClusterDim.x, preferredClusterDim.y, preferredClusterDim.z,
            launchCompletionEvent.event, launchCompletionEvent.flags,
            deviceUpdatableKernelNode.deviceUpdatable, deviceUpdatableKernelNode.devNode);

SAME_SIZE(CUlaunchAttribute);
SAME_FIELDS(CUlaunchAttribute, id, value);

/* The public attribute, which is handed to the driver as it is, and the public names of its
 * constants. */
_Static_assert(sizeof(griddep_attribute) == sizeof(CUlaunchAttribute) &&
                   offsetof(griddep_attribute, value) == offsetof(CUlaunchAttribute, value),
               "griddep_attribute");
#define SAME_VALUE(ours, theirs) _Static_assert((int)GRIDDEP_##ours == (int)CU_##theirs, #ours)
#define GD_ATTRIBUTE(constant, driver, member, node, text)                                         \
    SAME_VALUE(ATTRIBUTE_##constant, LAUNCH_ATTRIBUTE_##driver);                                   \
    SAME_FIELD(CUlaunchAttributeValue, member);
#include "run/launch/attributes.def"
SAME_VALUE(CLUSTER_SCHEDULING_DEFAULT, CLUSTER_SCHEDULING_POLICY_DEFAULT);
SAME_VALUE(CLUSTER_SCHEDULING_SPREAD, CLUSTER_SCHEDULING_POLICY_SPREAD);
SAME_VALUE(CLUSTER_SCHEDULING_LOAD_BALANCING, CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
SAME_VALUE(MEMORY_SYNC_DOMAIN_DEFAULT, LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
SAME_VALUE(MEMORY_SYNC_DOMAIN_REMOTE, LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
SAME_VALUE(ACCESS_PROPERTY_NORMAL, ACCESS_PROPERTY_NORMAL);
SAME_VALUE(ACCESS_PROPERTY_STREAMING, ACCESS_PROPERTY_STREAMING);
SAME_VALUE(ACCESS_PROPERTY_PERSISTING, ACCESS_PROPERTY_PERSISTING);
SAME_VALUE(CARVEOUT_DEFAULT, SHAREDMEM_CARVEOUT_DEFAULT);
SAME_VALUE(TENSOR_U8, TENSOR_MAP_DATA_TYPE_UINT8);
SAME_VALUE(TENSOR_U16, TENSOR_MAP_DATA_TYPE_UINT16);
SAME_VALUE(TENSOR_U32, TENSOR_MAP_DATA_TYPE_UINT32);
SAME_VALUE(TENSOR_S32, TENSOR_MAP_DATA_TYPE_INT32);
SAME_VALUE(TENSOR_U64, TENSOR_MAP_DATA_TYPE_UINT64);
SAME_VALUE(TENSOR_S64, TENSOR_MAP_DATA_TYPE_INT64);
SAME_VALUE(TENSOR_F16, TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME_VALUE(TENSOR_F32, TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME_VALUE(TENSOR_F64, TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME_VALUE(TENSOR_BF16, TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME_VALUE(TENSOR_F32_FTZ, TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
SAME_VALUE(TENSOR_TF32, TENSOR_MAP_DATA_TYPE_TFLOAT32);
SAME_VALUE(TENSOR_TF32_FTZ, TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
SAME_VALUE(TENSOR_16U4_ALIGN8, TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
SAME_VALUE(TENSOR_16U4_ALIGN16, TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B);
SAME_VALUE(TENSOR_16U6_ALIGN16, TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
SAME_VALUE(INTERLEAVE_NONE, TENSOR_MAP_INTERLEAVE_NONE);
SAME_VALUE(INTERLEAVE_16B, TENSOR_MAP_INTERLEAVE_16B);
SAME_VALUE(INTERLEAVE_32B, TENSOR_MAP_INTERLEAVE_32B);
SAME_VALUE(SWIZZLE_NONE, TENSOR_MAP_SWIZZLE_NONE);
SAME_VALUE(SWIZZLE_32B, TENSOR_MAP_SWIZZLE_32B);
SAME_VALUE(SWIZZLE_64B, TENSOR_MAP_SWIZZLE_64B);
SAME_VALUE(SWIZZLE_128B, TENSOR_MAP_SWIZZLE_128B);
SAME_VALUE(SWIZZLE_128B_ATOM_32B, TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
SAME_VALUE(SWIZZLE_128B_ATOM_32B_FLIP_8B, TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
SAME_VALUE(SWIZZLE_128B_ATOM_64B, TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
SAME_VALUE(PROMOTION_NONE, TENSOR_MAP_L2_PROMOTION_NONE);
SAME_VALUE(PROMOTION_64B, TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME_VALUE(PROMOTION_128B, TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME_VALUE(PROMOTION_256B, TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME_VALUE(FILL_ZERO, TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME_VALUE(FILL_NAN, TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

SAME_SIZE(CUlaunchConfig);
SAME_FIELDS(CUlaunchConfig, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
            sharedMemBytes, hStream, attrs, numAttrs);

EACH(SAME_SIZE_OF, , CUuuid, CUdevSmResource, CUdevResource);
SAME_FIELDS(CUdevResource, type, sm);
SAME_FIELDS(CUuuid, bytes);

SAME_SIZE(CUgraphEdgeData);
SAME_FIELDS(CUgraphEdgeData, from_port, to_port, type, reserved);

/* What only the emulator uses. Its names have no versions where cuda.h has several: each is
 * compared with the one that the entry points take. */
#define LIKE_SIZE(type, other) _Static_assert(sizeof(gd_##type) == sizeof(other), "size of " #other)
#define LIKE_FIELD(type, field, other, name)                                                       \
    _Static_assert(offsetof(gd_##type, field) == offsetof(other, name) &&                          \
                       sizeof(((gd_##type *)0)->field) == sizeof(((other *)0)->name),              \
                   #other "." #name)
#define FIRST(one, other) one
#define SECOND(one, other) other
#define LIKE_EXPANDED(type, field, other, name) LIKE_FIELD(type, field, other, name)
#define LIKE_IN(types, name) LIKE_EXPANDED(FIRST types, name, SECOND types, name)
#define LIKE_FIELDS(type, other, ...) EACH(LIKE_IN, (type, other), __VA_ARGS__)

SAME_SIZE(CUmemoryPool);
_Static_assert(__builtin_types_compatible_p(gd_CUhostFn *, CUhostFn), "CUhostFn");
_Static_assert(__builtin_types_compatible_p(gd_CUoccupancyB2DSize *, CUoccupancyB2DSize),
               "CUoccupancyB2DSize");

SAME_SIZE(CUctxCreateParams);
SAME_FIELDS(CUctxCreateParams, execAffinityParams, numExecAffinityParams, cigParams);

SAME_SIZE(CUmemLocation);
SAME_FIELDS(CUmemLocation, type, id);

SAME_SIZE(CUmemAccessDesc);
SAME_FIELDS(CUmemAccessDesc, location, flags);

SAME_SIZE(CUmemAllocationProp);
SAME_FIELDS(CUmemAllocationProp, type, requestedHandleTypes, location, win32HandleMetaData,
            allocFlags);

SAME_SIZE(CUmemPoolProps);
SAME_FIELDS(CUmemPoolProps, allocType, handleTypes, location, win32SecurityAttributes, maxSize,
            usage, reserved);

SAME_SIZE(CUDA_MEMCPY2D);
SAME_FIELDS(CUDA_MEMCPY2D, srcXInBytes, srcY, srcMemoryType, srcHost, srcDevice, srcArray, srcPitch,
            dstXInBytes, dstY, dstMemoryType, dstHost, dstDevice, dstArray, dstPitch, WidthInBytes,
            Height);

/* Node parameters, in the versions that the entry points below take. */
typedef gd_CUDA_KERNEL_NODE_PARAMS gd_CUDA_KERNEL_NODE_PARAMS_v2;
typedef gd_CUDA_HOST_NODE_PARAMS gd_CUDA_HOST_NODE_PARAMS_v1;
SAME_SIZE(CUDA_MEMCPY3D);
SAME_FIELDS(CUDA_MEMCPY3D, srcXInBytes, srcY, srcZ, srcLOD, srcMemoryType, srcHost, srcDevice,
            srcArray, reserved0, srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD,
            dstMemoryType, dstHost, dstDevice, dstArray, reserved1);
SAME_FIELDS(CUDA_MEMCPY3D, dstPitch, dstHeight, WidthInBytes, Height, Depth);

SAME_SIZE(CUDA_KERNEL_NODE_PARAMS_v1);
SAME_FIELDS(CUDA_KERNEL_NODE_PARAMS_v1, func, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
            blockDimZ, sharedMemBytes, kernelParams, extra);

LIKE_SIZE(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v2);
LIKE_FIELDS(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v2, func, gridDimX, gridDimY, gridDimZ,
            blockDimX, blockDimY, blockDimZ, sharedMemBytes, kernelParams, extra, kern, ctx);

LIKE_SIZE(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v3);
LIKE_FIELDS(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v3, func, gridDimX, gridDimY, gridDimZ,
            blockDimX, blockDimY, blockDimZ, sharedMemBytes, kernelParams, extra, kern, ctx);

LIKE_SIZE(CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2);
LIKE_FIELDS(CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2, dst, pitch, value, elementSize,
            width, height, ctx);

LIKE_SIZE(CUDA_HOST_NODE_PARAMS, CUDA_HOST_NODE_PARAMS_v2);
LIKE_FIELDS(CUDA_HOST_NODE_PARAMS, CUDA_HOST_NODE_PARAMS_v2, fn, userData);

SAME_SIZE(CUDA_MEMCPY_NODE_PARAMS);
SAME_FIELDS(CUDA_MEMCPY_NODE_PARAMS, flags, copyCtx, copyParams);

SAME_SIZE(CUDA_CONDITIONAL_NODE_PARAMS);
SAME_FIELDS(CUDA_CONDITIONAL_NODE_PARAMS, handle, type, size, phGraph_out, ctx);

SAME_SIZE(CUgraphNodeParams);
SAME_FIELDS(CUgraphNodeParams, type, reserved2);
_Static_assert(offsetof(CUgraphNodeParams, conditional) ==
                   offsetof(gd_CUgraphNodeParams, is.conditional),
               "where parameters of a conditional node lie");

SAME_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_FIELDS(CUDA_GRAPH_INSTANTIATE_PARAMS, flags, hUploadStream, hErrNode_out, result_out);

SAME_SIZE(CUDA_KERNEL_NODE_PARAMS_v2);
SAME_FIELDS(CUDA_KERNEL_NODE_PARAMS_v2, func, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
            blockDimZ, sharedMemBytes, kernelParams, extra, kern, ctx);
SAME_SIZE(CUDA_MEMSET_NODE_PARAMS_v1);
SAME_FIELDS(CUDA_MEMSET_NODE_PARAMS_v1, dst, pitch, value, elementSize, width, height);
SAME_SIZE(CUDA_HOST_NODE_PARAMS_v1);
SAME_FIELDS(CUDA_HOST_NODE_PARAMS_v1, fn, userData);
SAME_SIZE(CUgraphExecUpdateResultInfo);
SAME_FIELDS(CUgraphExecUpdateResultInfo, result, errorNode, errorFromNode);

_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS_v1) == offsetof(gd_CUDA_MEMSET_NODE_PARAMS, ctx),
               "first version");
_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS_v1) == sizeof(gd_CUDA_HOST_NODE_PARAMS),
               "first version");

SAME_SIZE(CUgraphNodeParams);
SAME_FIELDS(CUgraphNodeParams, type);
LIKE_FIELD(CUgraphNodeParams, is.kernel, CUgraphNodeParams, kernel);
LIKE_FIELD(CUgraphNodeParams, is.memcpy, CUgraphNodeParams, memcpy);
LIKE_FIELD(CUgraphNodeParams, is.memset, CUgraphNodeParams, memset);
LIKE_FIELD(CUgraphNodeParams, is.host, CUgraphNodeParams, host);
LIKE_FIELD(CUgraphNodeParams, is.graph, CUgraphNodeParams, graph.graph);
LIKE_FIELD(CUgraphNodeParams, is.event, CUgraphNodeParams, eventWait.event);
LIKE_FIELD(CUgraphNodeParams, is.event, CUgraphNodeParams, eventRecord.event);
SAME_FIELDS(CUgraphNodeParams, reserved2);

#define SAME_CONSTANT(name) _Static_assert((int)GD_##name == (int)name, #name)
#define SAME_CONSTANT_OF(with, name) SAME_CONSTANT(name)

EACH(SAME_CONSTANT_OF, , CU_CTX_SCHED_BLOCKING_SYNC, CU_CTX_FLAGS_MASK, CU_LIMIT_STACK_SIZE,
     CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE);
_Static_assert((int)GD_CU_LIMIT_COUNT == (int)CU_LIMIT_MAX, "CU_LIMIT_MAX");
EACH(SAME_CONSTANT_OF, , CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY,
     CU_MEMORYTYPE_UNIFIED, CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
     CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
     CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_BUFFER_ID,
     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
     CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_MAPPED,
     CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, CU_GRAPH_EXEC_UPDATE_SUCCESS, CU_GRAPH_EXEC_UPDATE_ERROR,
     CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);

/* driver.def read with cuda.h's types in place of the project's: the function types must then be
 * the very same. */
#define gd_CUresult CUresult
#define gd_CUdevice CUdevice_v1
#define gd_CUdeviceptr CUdeviceptr_v2
#define gd_CUuuid CUuuid
#define gd_CUcontext CUcontext
#define gd_CUmodule CUmodule
#define gd_CUfunction CUfunction
#define gd_CUstream CUstream
#define gd_CUevent CUevent
#define gd_CUgraph CUgraph
#define gd_CUgraphNode CUgraphNode
#define gd_CUgraphExec CUgraphExec
#define gd_CUuserObject CUuserObject
#define gd_CUlinkState CUlinkState
#define gd_CUdevice_attribute CUdevice_attribute
#define gd_CUdevResource CUdevResource
#define gd_CUdevResourceType CUdevResourceType
#define gd_CUfunction_attribute CUfunction_attribute
#define gd_CUjit_option CUjit_option
#define gd_CUjitInputType CUjitInputType
#define gd_CUmemAllocationHandleType CUmemAllocationHandleType
#define gd_CUmemAllocationGranularity_flags CUmemAllocationGranularity_flags
#define gd_CUmemGenericAllocationHandle CUmemGenericAllocationHandle
#define gd_CUlaunchConfig CUlaunchConfig
#define gd_CUstreamCaptureStatus CUstreamCaptureStatus
#define gd_CUstreamCaptureMode CUstreamCaptureMode
#define gd_CUmemPool_attribute CUmemPool_attribute
#define gd_CUgraphNodeType CUgraphNodeType
#define gd_CUgraphEdgeData CUgraphEdgeData
#define gd_CUgraphConditionalHandle CUgraphConditionalHandle
#define gd_CUgraphNodeParams CUgraphNodeParams
#define gd_CUkernel CUkernel
#define gd_CUDA_MEMCPY3D CUDA_MEMCPY3D_v2
#define gd_CUDA_KERNEL_NODE_PARAMS CUDA_KERNEL_NODE_PARAMS_v2
#define gd_CUDA_MEMSET_NODE_PARAMS_v1 CUDA_MEMSET_NODE_PARAMS_v1
#define gd_CUDA_HOST_NODE_PARAMS CUDA_HOST_NODE_PARAMS_v1
#define gd_CUgraphExecUpdateResultInfo CUgraphExecUpdateResultInfo
#define gd_CUlaunchAttributeID CUkernelNodeAttrID
#define gd_CUlaunchAttributeValue CUkernelNodeAttrValue_v1
#define gd_CUtensorMap CUtensorMap
#define gd_CUtensorMapDataType CUtensorMapDataType
#define gd_CUtensorMapInterleave CUtensorMapInterleave
#define gd_CUtensorMapSwizzle CUtensorMapSwizzle
#define gd_CUtensorMapL2promotion CUtensorMapL2promotion
#define gd_CUtensorMapFloatOOBfill CUtensorMapFloatOOBfill

#define gd_CUlibrary CUlibrary
#define gd_CUlibraryOption CUlibraryOption
#define gd_CUpointer_attribute CUpointer_attribute
#define gd_CUgreenCtx CUgreenCtx
#define gd_CUdevResourceDesc CUdevResourceDesc
#define gd_CUmemoryPool CUmemoryPool
#define gd_CUctxCreateParams CUctxCreateParams
#define gd_CUmemLocation CUmemLocation_v1
#define gd_CUmemPoolProps CUmemPoolProps_v1
#define gd_CUmemAccessDesc CUmemAccessDesc_v1
#define gd_CUmemAllocationProp CUmemAllocationProp_v1
#define gd_CUstreamCallback __typeof__(*(CUstreamCallback)NULL)
#define gd_CUdriverProcAddressQueryResult CUdriverProcAddressQueryResult
#define gd_CUgraphExecUpdateResult CUgraphExecUpdateResult
#define gd_CUDA_MEMCPY2D CUDA_MEMCPY2D_v2
#define gd_CUDA_KERNEL_NODE_PARAMS_v1 CUDA_KERNEL_NODE_PARAMS_v1
#define gd_CUDA_GRAPH_INSTANTIATE_PARAMS CUDA_GRAPH_INSTANTIATE_PARAMS

/* What abi_opaque.h says of them: a handle and a function are pointers, an enum is an int. */
#define GD_OPAQUE(name, bytes)                                                                     \
    typedef name gd_##name;                                                                        \
    _Static_assert(sizeof(name) == (bytes), #name);
#define GD_ENUM(name) GD_OPAQUE(name, 4)
#define GD_HANDLE(name) GD_OPAQUE(name, 8)
#define GD_STRUCT(name) GD_OPAQUE(name, sizeof(name))
#define GD_BYTES(name) GD_OPAQUE(name, 64)
#define GD_NUMBER(name, type) GD_OPAQUE(name, sizeof(type))
#define GD_FUNCTION(name) GD_OPAQUE(name, 8)
#define GD_DRIVER_WITHOUT_GRAPHICS
#include "cuda/abi_opaque.def"

#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    _Static_assert(__builtin_types_compatible_p(PFN_##name##_v##version,                           \
                                                CUresult(*) GD_PARAMETERS(arguments)),             \
                   "arguments of " #symbol);
#include "cuda/driver.def"
#undef GD_DRIVER

#define gd_nvrtcResult nvrtcResult
#define gd_nvrtcProgram nvrtcProgram

#define GD_NVRTC(name, type, arguments)                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&name), type(*) arguments),             \
                   "arguments of " #name);
#include "cuda/nvrtc_symbols.def"
#undef GD_NVRTC

#if __has_include(<cupti_activity.h>)
_Static_assert((int)GD_CUPTI_KERNEL == (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kind");
#define SAME_MEMBER(ours, theirs)                                                                  \
    _Static_assert(offsetof(gd_cupti_kernel, ours) == offsetof(CUpti_ActivityKernel10, theirs),    \
                   #theirs)
SAME_MEMBER(kind, kind);
SAME_MEMBER(start, start);
SAME_MEMBER(end, end);
SAME_MEMBER(context, contextId);
SAME_MEMBER(stream, streamId);
SAME_MEMBER(name, name);
SAME_MEMBER(graph_node, graphNodeId);
#endif

int main(void)
{
    return 0;
}

#else

int main(void)
{
    printf("skipped: cuda.h is of version %d, and the ABI is declared after 13000\n", CUDA_VERSION);
    return 77;
}

#endif
