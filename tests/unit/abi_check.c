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

#define SAME_SIZE(type) _Static_assert(sizeof(gd_##type) == sizeof(type), "size of " #type)
#define SAME_FIELD(type, field)                                                                    \
    _Static_assert(offsetof(gd_##type, field) == offsetof(type, field) &&                          \
                       sizeof(((gd_##type *)0)->field) == sizeof(((type *)0)->field),              \
                   #type "." #field)

SAME_SIZE(CUresult);
SAME_SIZE(CUdevice);
SAME_SIZE(CUdeviceptr);
SAME_SIZE(CUcontext);
SAME_SIZE(CUmodule);
SAME_SIZE(CUfunction);
SAME_SIZE(CUstream);
SAME_SIZE(CUevent);
SAME_SIZE(CUgraph);
SAME_SIZE(CUgraphNode);
SAME_SIZE(CUgraphExec);
SAME_SIZE(CUgraphDeviceNode);
SAME_SIZE(CUlinkState);
SAME_SIZE(CUuserObject);
SAME_SIZE(CUkernel);
SAME_SIZE(CUlibrary);
SAME_SIZE(CUgreenCtx);
SAME_SIZE(CUdevResourceDesc);
SAME_SIZE(CUlibraryOption);
SAME_SIZE(CUpointer_attribute);
SAME_SIZE(CUdevice_attribute);
SAME_SIZE(CUfunction_attribute);
SAME_SIZE(CUjit_option);
SAME_SIZE(CUjitInputType);
SAME_SIZE(CUmemAllocationHandleType);
SAME_SIZE(CUmemAllocationGranularity_flags);
SAME_SIZE(CUmemGenericAllocationHandle);
SAME_SIZE(CUlaunchAttributeID);
SAME_SIZE(CUstreamCaptureStatus);
SAME_SIZE(CUstreamCaptureMode);
SAME_SIZE(CUmemPool_attribute);
SAME_SIZE(CUgraphNodeType);
SAME_SIZE(CUgraphConditionalNodeType);
SAME_SIZE(CUgraphConditionalHandle);
SAME_SIZE(CUdriverProcAddressQueryResult);
SAME_SIZE(CUtensorMapDataType);
SAME_SIZE(CUtensorMapInterleave);
SAME_SIZE(CUtensorMapSwizzle);
SAME_SIZE(CUtensorMapL2promotion);
SAME_SIZE(CUtensorMapFloatOOBfill);
SAME_SIZE(CUtensorMap);
_Static_assert(_Alignof(gd_CUtensorMap) == _Alignof(CUtensorMap), "alignment of CUtensorMap");

SAME_SIZE(CUaccessPolicyWindow);
SAME_FIELD(CUaccessPolicyWindow, base_ptr);
SAME_FIELD(CUaccessPolicyWindow, num_bytes);
SAME_FIELD(CUaccessPolicyWindow, hitRatio);
SAME_FIELD(CUaccessPolicyWindow, hitProp);
SAME_FIELD(CUaccessPolicyWindow, missProp);

SAME_SIZE(CUlaunchMemSyncDomainMap);
SAME_FIELD(CUlaunchMemSyncDomainMap, default_);
SAME_FIELD(CUlaunchMemSyncDomainMap, remote);

SAME_SIZE(CUlaunchAttributeValue);
SAME_FIELD(CUlaunchAttributeValue, clusterDim.x);
SAME_FIELD(CUlaunchAttributeValue, clusterDim.y);
SAME_FIELD(CUlaunchAttributeValue, clusterDim.z);
SAME_FIELD(CUlaunchAttributeValue, programmaticEvent.event);
SAME_FIELD(CUlaunchAttributeValue, programmaticEvent.flags);
SAME_FIELD(CUlaunchAttributeValue, programmaticEvent.triggerAtBlockStart);
SAME_FIELD(CUlaunchAttributeValue, preferredClusterDim.x);
SAME_FIELD(CUlaunchAttributeValue, preferredClusterDim.y);
SAME_FIELD(CUlaunchAttributeValue, preferredClusterDim.z);
SAME_FIELD(CUlaunchAttributeValue, launchCompletionEvent.event);
SAME_FIELD(CUlaunchAttributeValue, launchCompletionEvent.flags);
SAME_FIELD(CUlaunchAttributeValue, deviceUpdatableKernelNode.deviceUpdatable);
SAME_FIELD(CUlaunchAttributeValue, deviceUpdatableKernelNode.devNode);

SAME_SIZE(CUlaunchAttribute);
SAME_FIELD(CUlaunchAttribute, id);
SAME_FIELD(CUlaunchAttribute, value);

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
SAME_FIELD(CUlaunchConfig, gridDimX);
SAME_FIELD(CUlaunchConfig, gridDimY);
SAME_FIELD(CUlaunchConfig, gridDimZ);
SAME_FIELD(CUlaunchConfig, blockDimX);
SAME_FIELD(CUlaunchConfig, blockDimY);
SAME_FIELD(CUlaunchConfig, blockDimZ);
SAME_FIELD(CUlaunchConfig, sharedMemBytes);
SAME_FIELD(CUlaunchConfig, hStream);
SAME_FIELD(CUlaunchConfig, attrs);
SAME_FIELD(CUlaunchConfig, numAttrs);

SAME_SIZE(CUuuid);
SAME_SIZE(CUdevSmResource);
SAME_SIZE(CUdevResource);
SAME_FIELD(CUdevResource, type);
SAME_FIELD(CUdevResource, sm);
SAME_FIELD(CUuuid, bytes);

SAME_SIZE(CUgraphEdgeData);
SAME_FIELD(CUgraphEdgeData, from_port);
SAME_FIELD(CUgraphEdgeData, to_port);
SAME_FIELD(CUgraphEdgeData, type);
SAME_FIELD(CUgraphEdgeData, reserved);

/* What only the emulator uses. Its names have no versions where cuda.h has several: each is
 * compared with the one that the entry points take. */
#define LIKE_SIZE(type, other) _Static_assert(sizeof(gd_##type) == sizeof(other), "size of " #other)
#define LIKE_FIELD(type, field, other, name)                                                       \
    _Static_assert(offsetof(gd_##type, field) == offsetof(other, name) &&                          \
                       sizeof(((gd_##type *)0)->field) == sizeof(((other *)0)->name),              \
                   #other "." #name)

SAME_SIZE(CUmemoryPool);
_Static_assert(__builtin_types_compatible_p(gd_CUhostFn *, CUhostFn), "CUhostFn");
_Static_assert(__builtin_types_compatible_p(gd_CUoccupancyB2DSize *, CUoccupancyB2DSize),
               "CUoccupancyB2DSize");

SAME_SIZE(CUctxCreateParams);
SAME_FIELD(CUctxCreateParams, execAffinityParams);
SAME_FIELD(CUctxCreateParams, numExecAffinityParams);
SAME_FIELD(CUctxCreateParams, cigParams);

SAME_SIZE(CUmemLocation);
SAME_FIELD(CUmemLocation, type);
SAME_FIELD(CUmemLocation, id);

SAME_SIZE(CUmemAccessDesc);
SAME_FIELD(CUmemAccessDesc, location);
SAME_FIELD(CUmemAccessDesc, flags);

SAME_SIZE(CUmemAllocationProp);
SAME_FIELD(CUmemAllocationProp, type);
SAME_FIELD(CUmemAllocationProp, requestedHandleTypes);
SAME_FIELD(CUmemAllocationProp, location);
SAME_FIELD(CUmemAllocationProp, win32HandleMetaData);
SAME_FIELD(CUmemAllocationProp, allocFlags);

SAME_SIZE(CUmemPoolProps);
SAME_FIELD(CUmemPoolProps, allocType);
SAME_FIELD(CUmemPoolProps, handleTypes);
SAME_FIELD(CUmemPoolProps, location);
SAME_FIELD(CUmemPoolProps, win32SecurityAttributes);
SAME_FIELD(CUmemPoolProps, maxSize);
SAME_FIELD(CUmemPoolProps, usage);
SAME_FIELD(CUmemPoolProps, reserved);

SAME_SIZE(CUDA_MEMCPY2D);
SAME_FIELD(CUDA_MEMCPY2D, srcXInBytes);
SAME_FIELD(CUDA_MEMCPY2D, srcY);
SAME_FIELD(CUDA_MEMCPY2D, srcMemoryType);
SAME_FIELD(CUDA_MEMCPY2D, srcHost);
SAME_FIELD(CUDA_MEMCPY2D, srcDevice);
SAME_FIELD(CUDA_MEMCPY2D, srcArray);
SAME_FIELD(CUDA_MEMCPY2D, srcPitch);
SAME_FIELD(CUDA_MEMCPY2D, dstXInBytes);
SAME_FIELD(CUDA_MEMCPY2D, dstY);
SAME_FIELD(CUDA_MEMCPY2D, dstMemoryType);
SAME_FIELD(CUDA_MEMCPY2D, dstHost);
SAME_FIELD(CUDA_MEMCPY2D, dstDevice);
SAME_FIELD(CUDA_MEMCPY2D, dstArray);
SAME_FIELD(CUDA_MEMCPY2D, dstPitch);
SAME_FIELD(CUDA_MEMCPY2D, WidthInBytes);
SAME_FIELD(CUDA_MEMCPY2D, Height);

/* Node parameters, in the versions that the entry points below take. */
typedef gd_CUDA_KERNEL_NODE_PARAMS gd_CUDA_KERNEL_NODE_PARAMS_v2;
typedef gd_CUDA_HOST_NODE_PARAMS gd_CUDA_HOST_NODE_PARAMS_v1;
SAME_SIZE(CUDA_MEMCPY3D);
SAME_FIELD(CUDA_MEMCPY3D, srcXInBytes);
SAME_FIELD(CUDA_MEMCPY3D, srcY);
SAME_FIELD(CUDA_MEMCPY3D, srcZ);
SAME_FIELD(CUDA_MEMCPY3D, srcLOD);
SAME_FIELD(CUDA_MEMCPY3D, srcMemoryType);
SAME_FIELD(CUDA_MEMCPY3D, srcHost);
SAME_FIELD(CUDA_MEMCPY3D, srcDevice);
SAME_FIELD(CUDA_MEMCPY3D, srcArray);
SAME_FIELD(CUDA_MEMCPY3D, reserved0);
SAME_FIELD(CUDA_MEMCPY3D, srcPitch);
SAME_FIELD(CUDA_MEMCPY3D, srcHeight);
SAME_FIELD(CUDA_MEMCPY3D, dstXInBytes);
SAME_FIELD(CUDA_MEMCPY3D, dstY);
SAME_FIELD(CUDA_MEMCPY3D, dstZ);
SAME_FIELD(CUDA_MEMCPY3D, dstLOD);
SAME_FIELD(CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(CUDA_MEMCPY3D, dstHost);
SAME_FIELD(CUDA_MEMCPY3D, dstDevice);
SAME_FIELD(CUDA_MEMCPY3D, dstArray);
SAME_FIELD(CUDA_MEMCPY3D, reserved1);
SAME_FIELD(CUDA_MEMCPY3D, dstPitch);
SAME_FIELD(CUDA_MEMCPY3D, dstHeight);
SAME_FIELD(CUDA_MEMCPY3D, WidthInBytes);
SAME_FIELD(CUDA_MEMCPY3D, Height);
SAME_FIELD(CUDA_MEMCPY3D, Depth);

SAME_SIZE(CUDA_KERNEL_NODE_PARAMS_v1);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, func);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, gridDimY);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, blockDimY);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v1, extra);

LIKE_SIZE(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v2);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, func, CUDA_KERNEL_NODE_PARAMS_v2, func);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimX, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimY, CUDA_KERNEL_NODE_PARAMS_v2, gridDimY);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimZ, CUDA_KERNEL_NODE_PARAMS_v2, gridDimZ);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimX, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimY, CUDA_KERNEL_NODE_PARAMS_v2, blockDimY);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimZ, CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, kernelParams, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, kern, CUDA_KERNEL_NODE_PARAMS_v2, kern);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, ctx, CUDA_KERNEL_NODE_PARAMS_v2, ctx);

LIKE_SIZE(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v3);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, func, CUDA_KERNEL_NODE_PARAMS_v3, func);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimX, CUDA_KERNEL_NODE_PARAMS_v3, gridDimX);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimY, CUDA_KERNEL_NODE_PARAMS_v3, gridDimY);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, gridDimZ, CUDA_KERNEL_NODE_PARAMS_v3, gridDimZ);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimX, CUDA_KERNEL_NODE_PARAMS_v3, blockDimX);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimY, CUDA_KERNEL_NODE_PARAMS_v3, blockDimY);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, blockDimZ, CUDA_KERNEL_NODE_PARAMS_v3, blockDimZ);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes, CUDA_KERNEL_NODE_PARAMS_v3, sharedMemBytes);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, kernelParams, CUDA_KERNEL_NODE_PARAMS_v3, kernelParams);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, extra, CUDA_KERNEL_NODE_PARAMS_v3, extra);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, kern, CUDA_KERNEL_NODE_PARAMS_v3, kern);
LIKE_FIELD(CUDA_KERNEL_NODE_PARAMS, ctx, CUDA_KERNEL_NODE_PARAMS_v3, ctx);

LIKE_SIZE(CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, dst, CUDA_MEMSET_NODE_PARAMS_v2, dst);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, pitch, CUDA_MEMSET_NODE_PARAMS_v2, pitch);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, value, CUDA_MEMSET_NODE_PARAMS_v2, value);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, elementSize, CUDA_MEMSET_NODE_PARAMS_v2, elementSize);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, width, CUDA_MEMSET_NODE_PARAMS_v2, width);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, height, CUDA_MEMSET_NODE_PARAMS_v2, height);
LIKE_FIELD(CUDA_MEMSET_NODE_PARAMS, ctx, CUDA_MEMSET_NODE_PARAMS_v2, ctx);

LIKE_SIZE(CUDA_HOST_NODE_PARAMS, CUDA_HOST_NODE_PARAMS_v2);
LIKE_FIELD(CUDA_HOST_NODE_PARAMS, fn, CUDA_HOST_NODE_PARAMS_v2, fn);
LIKE_FIELD(CUDA_HOST_NODE_PARAMS, userData, CUDA_HOST_NODE_PARAMS_v2, userData);

SAME_SIZE(CUDA_MEMCPY_NODE_PARAMS);
SAME_FIELD(CUDA_MEMCPY_NODE_PARAMS, flags);
SAME_FIELD(CUDA_MEMCPY_NODE_PARAMS, copyCtx);
SAME_FIELD(CUDA_MEMCPY_NODE_PARAMS, copyParams);

SAME_SIZE(CUDA_CONDITIONAL_NODE_PARAMS);
SAME_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, handle);
SAME_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, type);
SAME_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, size);
SAME_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out);
SAME_FIELD(CUDA_CONDITIONAL_NODE_PARAMS, ctx);

SAME_SIZE(CUgraphNodeParams);
SAME_FIELD(CUgraphNodeParams, type);
SAME_FIELD(CUgraphNodeParams, reserved2);
_Static_assert(offsetof(CUgraphNodeParams, conditional) ==
                   offsetof(gd_CUgraphNodeParams, is.conditional),
               "where parameters of a conditional node lie");

SAME_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, flags);
SAME_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream);
SAME_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
SAME_FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);

SAME_SIZE(CUDA_KERNEL_NODE_PARAMS_v2);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, gridDimY);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, gridDimZ);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, blockDimY);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_FIELD(CUDA_KERNEL_NODE_PARAMS_v2, ctx);
SAME_SIZE(CUDA_MEMSET_NODE_PARAMS_v1);
SAME_FIELD(CUDA_MEMSET_NODE_PARAMS_v1, dst);
SAME_FIELD(CUDA_MEMSET_NODE_PARAMS_v1, pitch);
SAME_FIELD(CUDA_MEMSET_NODE_PARAMS_v1, value);
SAME_FIELD(CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
SAME_FIELD(CUDA_MEMSET_NODE_PARAMS_v1, width);
SAME_FIELD(CUDA_MEMSET_NODE_PARAMS_v1, height);
SAME_SIZE(CUDA_HOST_NODE_PARAMS_v1);
SAME_FIELD(CUDA_HOST_NODE_PARAMS_v1, fn);
SAME_FIELD(CUDA_HOST_NODE_PARAMS_v1, userData);
SAME_SIZE(CUgraphExecUpdateResultInfo);
SAME_FIELD(CUgraphExecUpdateResultInfo, result);
SAME_FIELD(CUgraphExecUpdateResultInfo, errorNode);
SAME_FIELD(CUgraphExecUpdateResultInfo, errorFromNode);

_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS_v1) == offsetof(gd_CUDA_MEMSET_NODE_PARAMS, ctx),
               "first version");
_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS_v1) == sizeof(gd_CUDA_HOST_NODE_PARAMS),
               "first version");

SAME_SIZE(CUgraphNodeParams);
SAME_FIELD(CUgraphNodeParams, type);
LIKE_FIELD(CUgraphNodeParams, is.kernel, CUgraphNodeParams, kernel);
LIKE_FIELD(CUgraphNodeParams, is.memcpy, CUgraphNodeParams, memcpy);
LIKE_FIELD(CUgraphNodeParams, is.memset, CUgraphNodeParams, memset);
LIKE_FIELD(CUgraphNodeParams, is.host, CUgraphNodeParams, host);
LIKE_FIELD(CUgraphNodeParams, is.graph, CUgraphNodeParams, graph.graph);
LIKE_FIELD(CUgraphNodeParams, is.event, CUgraphNodeParams, eventWait.event);
LIKE_FIELD(CUgraphNodeParams, is.event, CUgraphNodeParams, eventRecord.event);
SAME_FIELD(CUgraphNodeParams, reserved2);

#define SAME_CONSTANT(name) _Static_assert((int)GD_##name == (int)name, #name)

SAME_CONSTANT(CU_CTX_SCHED_BLOCKING_SYNC);
SAME_CONSTANT(CU_CTX_FLAGS_MASK);
SAME_CONSTANT(CU_LIMIT_STACK_SIZE);
SAME_CONSTANT(CU_LIMIT_PRINTF_FIFO_SIZE);
SAME_CONSTANT(CU_LIMIT_MALLOC_HEAP_SIZE);
_Static_assert((int)GD_CU_LIMIT_COUNT == (int)CU_LIMIT_MAX, "CU_LIMIT_MAX");
SAME_CONSTANT(CU_MEMORYTYPE_HOST);
SAME_CONSTANT(CU_MEMORYTYPE_DEVICE);
SAME_CONSTANT(CU_MEMORYTYPE_ARRAY);
SAME_CONSTANT(CU_MEMORYTYPE_UNIFIED);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_CONTEXT);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_HOST_POINTER);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_BUFFER_ID);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_MAPPED);
SAME_CONSTANT(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS);
SAME_CONSTANT(CU_GRAPH_EXEC_UPDATE_SUCCESS);
SAME_CONSTANT(CU_GRAPH_EXEC_UPDATE_ERROR);
SAME_CONSTANT(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
SAME_CONSTANT(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);

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
