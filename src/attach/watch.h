/* Which functions of the driver are watched. For each other one a forwarder hands its arguments on.
 *
 * GD_WATCH_<symbol> of a symbol of driver.def, which is for its per-thread variant too:
 *   ~, OWN           the function stands in a file of this folder
 *   ~, WORK, bit     work of that kind (GD_ATTACHED_*) in the stream of its argument `stream`
 *   ~, ORDER, bit    the same, by its argument `event`
 *   ~, DIRECT, bit   the same in the default stream
 * Behind the bit of a copy, a fill or other work, where it is known: the address of the device's
 * memory that it writes to, GD_RECORDING_NOWHERE where it writes to none. */
#ifndef GD_ATTACH_WATCH_H
#define GD_ATTACH_WATCH_H

#define GD_WATCH_cuGetProcAddress ~, OWN
#define GD_WATCH_cuGetProcAddress_v2 ~, OWN

#define GD_WATCH_cuInit ~, OWN

#define GD_WATCH_cuLaunchKernel ~, OWN
#define GD_WATCH_cuLaunchKernelEx ~, OWN
#define GD_WATCH_cuLaunchCooperativeKernel ~, OWN

#define GD_WATCH_cuModuleLoad ~, OWN
#define GD_WATCH_cuModuleLoadData ~, OWN
#define GD_WATCH_cuModuleLoadDataEx ~, OWN
#define GD_WATCH_cuModuleLoadFatBinary ~, OWN
#define GD_WATCH_cuModuleGetFunction ~, OWN
#define GD_WATCH_cuModuleUnload ~, OWN
#define GD_WATCH_cuLibraryLoadData ~, OWN
#define GD_WATCH_cuLibraryLoadFromFile ~, OWN
#define GD_WATCH_cuLibraryGetKernel ~, OWN
#define GD_WATCH_cuLibraryEnumerateKernels ~, OWN
#define GD_WATCH_cuLibraryGetModule ~, OWN
#define GD_WATCH_cuLibraryUnload ~, OWN
#define GD_WATCH_cuKernelGetFunction ~, OWN

#define GD_WATCH_cuStreamBeginCapture ~, OWN
#define GD_WATCH_cuStreamBeginCapture_v2 ~, OWN
#define GD_WATCH_cuStreamBeginCaptureToGraph ~, OWN
#define GD_WATCH_cuStreamEndCapture ~, OWN
#define GD_WATCH_cuStreamDestroy ~, OWN
#define GD_WATCH_cuStreamDestroy_v2 ~, OWN
#define GD_WATCH_cuCtxSynchronize ~, OWN
#define GD_WATCH_cuCtxSynchronize_v2 ~, OWN

#define GD_WATCH_cuMemFree_v2 ~, OWN
#define GD_WATCH_cuCtxDestroy ~, OWN
#define GD_WATCH_cuCtxDestroy_v2 ~, OWN
#define GD_WATCH_cuDevicePrimaryCtxRelease ~, OWN
#define GD_WATCH_cuDevicePrimaryCtxRelease_v2 ~, OWN
#define GD_WATCH_cuDevicePrimaryCtxReset ~, OWN
#define GD_WATCH_cuDevicePrimaryCtxReset_v2 ~, OWN

#define GD_WATCH_cuGraphInstantiate ~, OWN
#define GD_WATCH_cuGraphInstantiate_v2 ~, OWN
#define GD_WATCH_cuGraphInstantiateWithFlags ~, OWN
#define GD_WATCH_cuGraphInstantiateWithParams ~, OWN
#define GD_WATCH_cuGraphExecUpdate ~, OWN
#define GD_WATCH_cuGraphExecUpdate_v2 ~, OWN
#define GD_WATCH_cuGraphExecDestroy ~, OWN
#define GD_WATCH_cuGraphExecKernelNodeSetParams ~, OWN
#define GD_WATCH_cuGraphExecKernelNodeSetParams_v2 ~, OWN
#define GD_WATCH_cuGraphExecNodeSetParams ~, OWN
#define GD_WATCH_cuGraphExecChildGraphNodeSetParams ~, OWN
#define GD_WATCH_cuGraphNodeSetEnabled ~, OWN
#define GD_WATCH_cuGraphLaunch ~, OWN

#define GD_WATCH_cuStreamSynchronize ~, WORK, SYNCHRONIZED
#define GD_WATCH_cuStreamQuery ~, OWN
#define GD_WATCH_cuEventSynchronize ~, OWN
#define GD_WATCH_cuEventQuery ~, OWN
#define GD_WATCH_cuStreamWaitEvent ~, ORDER, WAIT
#define GD_WATCH_cuEventRecord ~, ORDER, RECORD
#define GD_WATCH_cuEventRecordWithFlags ~, ORDER, RECORD
#define GD_WATCH_cuLaunchHostFunc ~, WORK, HOST
#define GD_WATCH_cuStreamAddCallback ~, WORK, HOST
#define GD_WATCH_cuMemAllocAsync ~, WORK, MEMORY
#define GD_WATCH_cuMemAllocFromPoolAsync ~, WORK, MEMORY
#define GD_WATCH_cuMemFreeAsync ~, WORK, MEMORY

#define GD_WATCH_cuMemcpyAsync ~, WORK, COPY, target
#define GD_WATCH_cuMemcpyHtoDAsync_v2 ~, WORK, COPY, target
#define GD_WATCH_cuMemcpyDtoHAsync_v2 ~, WORK, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpyDtoDAsync_v2 ~, WORK, COPY, target
#define GD_WATCH_cuMemcpyHtoAAsync_v2 ~, WORK, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpyAtoHAsync_v2 ~, WORK, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpy2DAsync_v2 ~, WORK, COPY
#define GD_WATCH_cuMemcpy3DAsync_v2 ~, WORK, COPY
#define GD_WATCH_cuMemcpyPeerAsync ~, WORK, COPY, target
#define GD_WATCH_cuMemcpy3DPeerAsync ~, WORK, COPY
#define GD_WATCH_cuMemcpyBatchAsync ~, WORK, COPY
#define GD_WATCH_cuMemcpyBatchAsync_v2 ~, WORK, COPY
#define GD_WATCH_cuMemcpy3DBatchAsync ~, WORK, COPY
#define GD_WATCH_cuMemcpy3DBatchAsync_v2 ~, WORK, COPY
#define GD_WATCH_cuMemcpy ~, DIRECT, COPY, target
#define GD_WATCH_cuMemcpyHtoD_v2 ~, DIRECT, COPY, target
#define GD_WATCH_cuMemcpyDtoH_v2 ~, DIRECT, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpyDtoD_v2 ~, DIRECT, COPY, target
#define GD_WATCH_cuMemcpyHtoA_v2 ~, DIRECT, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpyAtoH_v2 ~, DIRECT, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpyDtoA_v2 ~, DIRECT, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpyAtoD_v2 ~, DIRECT, COPY, target
#define GD_WATCH_cuMemcpyAtoA_v2 ~, DIRECT, COPY, GD_RECORDING_NOWHERE
#define GD_WATCH_cuMemcpy2D_v2 ~, DIRECT, COPY
#define GD_WATCH_cuMemcpy2DUnaligned_v2 ~, DIRECT, COPY
#define GD_WATCH_cuMemcpy3D_v2 ~, DIRECT, COPY
#define GD_WATCH_cuMemcpyPeer ~, DIRECT, COPY, target
#define GD_WATCH_cuMemcpy3DPeer ~, DIRECT, COPY

#define GD_WATCH_cuMemsetD8Async ~, WORK, FILL, target
#define GD_WATCH_cuMemsetD16Async ~, WORK, FILL, target
#define GD_WATCH_cuMemsetD32Async ~, WORK, FILL, target
#define GD_WATCH_cuMemsetD2D8Async ~, WORK, FILL, target
#define GD_WATCH_cuMemsetD2D16Async ~, WORK, FILL, target
#define GD_WATCH_cuMemsetD2D32Async ~, WORK, FILL, target
#define GD_WATCH_cuMemsetD8_v2 ~, DIRECT, FILL, target
#define GD_WATCH_cuMemsetD16_v2 ~, DIRECT, FILL, target
#define GD_WATCH_cuMemsetD32_v2 ~, DIRECT, FILL, target
#define GD_WATCH_cuMemsetD2D8_v2 ~, DIRECT, FILL, target
#define GD_WATCH_cuMemsetD2D16_v2 ~, DIRECT, FILL, target
#define GD_WATCH_cuMemsetD2D32_v2 ~, DIRECT, FILL, target

#define GD_WATCH_cuMemPrefetchAsync ~, WORK, OTHER
#define GD_WATCH_cuMemPrefetchAsync_v2 ~, WORK, OTHER
#define GD_WATCH_cuMemPrefetchBatchAsync ~, WORK, OTHER
#define GD_WATCH_cuMemDiscardBatchAsync ~, WORK, OTHER
#define GD_WATCH_cuMemDiscardAndPrefetchBatchAsync ~, WORK, OTHER
#define GD_WATCH_cuMemBatchDecompressAsync ~, WORK, OTHER
#define GD_WATCH_cuMemMapArrayAsync ~, WORK, OTHER
#define GD_WATCH_cuStreamAttachMemAsync ~, WORK, OTHER
#define GD_WATCH_cuStreamBatchMemOp ~, WORK, OTHER
#define GD_WATCH_cuStreamBatchMemOp_v2 ~, WORK, OTHER
#define GD_WATCH_cuStreamWaitValue32 ~, WORK, OTHER
#define GD_WATCH_cuStreamWaitValue32_v2 ~, WORK, OTHER
#define GD_WATCH_cuStreamWaitValue64 ~, WORK, OTHER
#define GD_WATCH_cuStreamWaitValue64_v2 ~, WORK, OTHER
#define GD_WATCH_cuStreamWriteValue32 ~, WORK, OTHER
#define GD_WATCH_cuStreamWriteValue32_v2 ~, WORK, OTHER
#define GD_WATCH_cuStreamWriteValue64 ~, WORK, OTHER
#define GD_WATCH_cuStreamWriteValue64_v2 ~, WORK, OTHER
#define GD_WATCH_cuSignalExternalSemaphoresAsync ~, WORK, OTHER
#define GD_WATCH_cuWaitExternalSemaphoresAsync ~, WORK, OTHER

/* The kind of a symbol, PASS where it has none above, and its bit. */
#define GD_WATCH_KIND(symbol) GD_WATCH_PICK(GD_WATCH_SECOND, GD_WATCH_##symbol, PASS, ~)
#define GD_WATCH_BIT(symbol) GD_WATCH_PICK(GD_WATCH_THIRD, GD_WATCH_##symbol, ~, ~)
#define GD_WATCH_TARGET(symbol)                                                                    \
    GD_WATCH_PICK(GD_WATCH_FOURTH, GD_WATCH_##symbol, GD_RECORDING_ANYWHERE,                       \
                  GD_RECORDING_ANYWHERE, ~)
#define GD_WATCH_PICK(which, ...) which(__VA_ARGS__, ~)
#define GD_WATCH_SECOND(first, second, ...) second
#define GD_WATCH_THIRD(first, second, third, ...) third
#define GD_WATCH_FOURTH(first, second, third, fourth, ...) fourth

#endif
