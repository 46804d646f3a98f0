/* The fake driver's face: a wrapper for each row of driver.def that the library calls, which locks,
 * records and scripts each call, and what tests ask of the driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver.h"
#include "fake_state.h"

static const char *const symbol_names[SYMBOLS] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, #name, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

static const int symbol_versions[SYMBOLS] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, version, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

enum {
    ANYTIME = 0,
    INITIALIZED = 1, /* cuInit must have succeeded */
    CURRENT = 3,     /* and a sound context must be current */
    ENDS = 4         /* acts even when the script or a fault fails the call */
};

static gd_CUresult scripted_failure(int symbol)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (size_t i = 0; i < fake_state.failure_count; i++) {
        fake_failure *f = &fake_state.failures[i];
        if (f->left && (f->symbol < 0 || f->symbol == symbol) && --f->left == 0 &&
            result == GD_CUDA_SUCCESS)
            result = f->result;
    }
    while (fake_state.failure_count && fake_state.failures[fake_state.failure_count - 1].left == 0)
        fake_state.failure_count--;
    return result;
}

static size_t record(int symbol, const uint64_t *arguments, size_t count, const char *text)
{
    if (fake_state.call_count == fake_state.call_capacity) {
        fake_state.call_capacity = fake_state.call_capacity ? 2 * fake_state.call_capacity : 64;
        fake_state.calls =
            fake_grow(fake_state.calls, fake_state.call_capacity * sizeof *fake_state.calls);
    }
    fake_call *call = &fake_state.calls[fake_state.call_count];
    *call = (fake_call){.symbol = symbol_names[symbol], .argument_count = (uint32_t)count};
    memcpy(call->arguments, arguments, count * sizeof *arguments);
    snprintf(call->text, sizeof call->text, "%s", text ? text : "");
    fake_state.symbol_calls[symbol]++;
    return fake_state.call_count++;
}

/* Leaves the lock held. *call is what leave() takes. */
static gd_CUresult enter(int symbol, int needs, const uint64_t *arguments, size_t count,
                         const char *text, size_t *call)
{
    fake_lock();
    *call = record(symbol, arguments, count, text);
    gd_CUresult result = scripted_failure(symbol);
    if (result == GD_CUDA_SUCCESS && (needs & INITIALIZED) && !fake_state.initialized)
        result = GD_CUDA_ERROR_NOT_INITIALIZED;
    if (result == GD_CUDA_SUCCESS && (needs & CURRENT) == CURRENT)
        result = fake_context_check();
    return result;
}

static gd_CUresult leave(size_t call, gd_CUresult result)
{
    fake_state.calls[call].result = result;
    fake_unlock();
    return result;
}

#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, static gd_CUresult name##_entry GD_PARAMETERS(arguments);)
#include "cuda/driver.def"
#undef GD_DRIVER

#define ENTRY_TEXT(name, parameters, needs, action, text, ...)                                     \
    static gd_CUresult name##_entry parameters                                                     \
    {                                                                                              \
        const uint64_t values[] = {__VA_ARGS__};                                                   \
        size_t call = 0;                                                                           \
        gd_CUresult result =                                                                       \
            enter(SYMBOL_##name, (needs), values, sizeof values / sizeof *values, text, &call);    \
        if (result == GD_CUDA_SUCCESS || ((needs)&ENDS)) {                                         \
            gd_CUresult done = action;                                                             \
            result = result == GD_CUDA_SUCCESS ? done : result;                                    \
        }                                                                                          \
        return leave(call, result);                                                                \
    }
#define ENTRY(name, parameters, needs, action, ...)                                                \
    ENTRY_TEXT(name, parameters, needs, action, NULL, __VA_ARGS__)
#define N(value) ((uint64_t)(value))
#define P(pointer) ((uint64_t)(uintptr_t)(pointer))

/* clang-format off */
ENTRY(cuInit, (unsigned int flags), ANYTIME, fake_do_init(flags), N(flags))
ENTRY(cuDriverGetVersion, (int *version), ANYTIME, fake_do_get_version(version), P(version))
ENTRY(cuGetErrorName, (gd_CUresult error, const char **name), ANYTIME, fake_do_get_error(error, name, false), N(error))
ENTRY(cuGetErrorString, (gd_CUresult error, const char **text), ANYTIME, fake_do_get_error(error, text, true), N(error))

ENTRY(cuDeviceGetCount, (int *count), INITIALIZED, fake_do_device_count(count), P(count))
ENTRY(cuDeviceGet, (gd_CUdevice *device, int ordinal), INITIALIZED, fake_do_device_get(device, ordinal), N(ordinal))
ENTRY(cuDeviceGetName, (char *name, int capacity, gd_CUdevice device), INITIALIZED,
      fake_do_device_name(name, capacity, device), N(capacity), N(device))
ENTRY(cuDeviceGetUuid, (gd_CUuuid *uuid, gd_CUdevice device), INITIALIZED, fake_do_device_uuid(uuid, device), N(device))
ENTRY(cuDeviceGetAttribute, (int *value, gd_CUdevice_attribute attribute, gd_CUdevice device), INITIALIZED,
      fake_do_device_attribute(value, attribute, device), N(attribute), N(device))
ENTRY(cuDeviceTotalMem, (size_t *bytes, gd_CUdevice device), INITIALIZED, fake_do_device_memory(bytes, device), N(device))
ENTRY(cuDevicePrimaryCtxRetain, (gd_CUcontext *context, gd_CUdevice device), INITIALIZED,
      fake_do_primary_retain(context, device), N(device))
ENTRY(cuDevicePrimaryCtxRelease, (gd_CUdevice device), INITIALIZED | ENDS, fake_do_primary_release(device), N(device))

ENTRY(cuCtxGetCurrent, (gd_CUcontext *context), INITIALIZED, fake_do_get_current(context), P(context))
ENTRY(cuCtxSetCurrent, (gd_CUcontext context), INITIALIZED, fake_do_set_current(context), P(context))
ENTRY(cuCtxPushCurrent, (gd_CUcontext context), INITIALIZED, fake_do_push(context), P(context))
ENTRY(cuCtxPopCurrent, (gd_CUcontext *context), INITIALIZED | ENDS, fake_do_pop(context), P(context))
ENTRY(cuCtxGetDevice, (gd_CUdevice *device), CURRENT, fake_do_get_device(device), P(device))
ENTRY(cuCtxSynchronize, (void), CURRENT, fake_do_synchronize(), 0)

ENTRY(cuModuleLoadDataEx,
      (gd_CUmodule *module, const void *image, unsigned int option_count, gd_CUjit_option *options, void **values_),
      CURRENT, fake_do_load(module, image, option_count, options, values_), P(image), N(option_count))
ENTRY(cuModuleUnload, (gd_CUmodule module), CURRENT | ENDS, fake_do_unload(module), P(module))
ENTRY_TEXT(cuModuleGetFunction, (gd_CUfunction *function, gd_CUmodule module, const char *name), CURRENT,
           fake_do_get_function(function, module, name), name, P(module), P(name))
ENTRY_TEXT(cuModuleGetGlobal, (gd_CUdeviceptr *address, size_t *bytes, gd_CUmodule module, const char *name), CURRENT,
           fake_do_get_global(address, bytes, module, name), name, P(module), P(name))
ENTRY(cuModuleGetFunctionCount, (unsigned int *count, gd_CUmodule module), CURRENT, fake_do_function_count(count, module),
      P(module))
ENTRY(cuModuleEnumerateFunctions, (gd_CUfunction *functions, unsigned int capacity, gd_CUmodule module), CURRENT,
      fake_do_enumerate(functions, capacity, module), N(capacity), P(module))

ENTRY(cuFuncGetName, (const char **name, gd_CUfunction function), CURRENT, fake_do_function_name(name, function),
      P(function))
ENTRY(cuFuncGetModule, (gd_CUmodule *module, gd_CUfunction function), CURRENT, fake_do_function_module(module, function),
      P(function))
ENTRY(cuKernelGetFunction, (gd_CUfunction *function, gd_CUkernel kernel), CURRENT,
      fake_do_kernel_function(function, kernel), P(kernel))
ENTRY(cuFuncGetAttribute, (int *value, gd_CUfunction_attribute attribute, gd_CUfunction function), CURRENT,
      fake_do_get_attribute(value, attribute, function), N(attribute), P(function))
ENTRY(cuFuncSetAttribute, (gd_CUfunction function, gd_CUfunction_attribute attribute, int value), CURRENT,
      fake_do_set_attribute(function, attribute, value), P(function), N(attribute), N(value))
ENTRY(cuFuncGetParamInfo, (gd_CUfunction function, size_t index, size_t *offset, size_t *bytes), CURRENT,
      fake_do_parameter(function, index, offset, bytes), P(function), N(index))

ENTRY(cuLaunchKernelEx, (const gd_CUlaunchConfig *config, gd_CUfunction function, void **parameters, void **extra),
      CURRENT, fake_do_launch(config, function, parameters, extra), P(config), P(function), P(parameters), P(extra))

ENTRY(cuCtxGetStreamPriorityRange, (int *least, int *greatest), CURRENT, fake_do_priorities(least, greatest), 0)
ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, gd_CUfunction function, int threads, size_t shared),
      CURRENT, fake_do_occupancy(blocks, function, threads, shared), P(function), N(threads), N(shared))
ENTRY(cuOccupancyMaxPotentialClusterSize, (int *size, gd_CUfunction function, const gd_CUlaunchConfig *config), CURRENT,
      fake_do_cluster_size(size, function, config), P(function), P(config))
ENTRY(cuOccupancyMaxActiveClusters, (int *clusters, gd_CUfunction function, const gd_CUlaunchConfig *config), CURRENT,
      fake_do_clusters(clusters, function, config), P(function), P(config))
ENTRY(cuTensorMapEncodeTiled,
      (gd_CUtensorMap *map, gd_CUtensorMapDataType type, uint32_t rank, void *address, const uint64_t *sizes,
       const uint64_t *strides, const uint32_t *box, const uint32_t *steps, gd_CUtensorMapInterleave interleave,
       gd_CUtensorMapSwizzle swizzle, gd_CUtensorMapL2promotion promotion, gd_CUtensorMapFloatOOBfill fill),
      INITIALIZED, fake_do_tensor_map(map,
                                      (gd_tensor_map){.type = (uint8_t)type,
                                                      .interleave = (uint8_t)interleave,
                                                      .swizzle = (uint8_t)swizzle,
                                                      .promotion = (uint8_t)promotion,
                                                      .fill = (uint8_t)fill},
                                      rank, address, sizes, strides, box, steps),
      N(type), N(rank), P(address),
      N(interleave), N(swizzle), N(promotion), N(fill))
ENTRY(cuTensorMapEncodeIm2col,
      (gd_CUtensorMap *map, gd_CUtensorMapDataType type, uint32_t rank, void *address, const uint64_t *sizes,
       const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
       const uint32_t *steps, gd_CUtensorMapInterleave interleave, gd_CUtensorMapSwizzle swizzle,
       gd_CUtensorMapL2promotion promotion, gd_CUtensorMapFloatOOBfill fill),
      INITIALIZED,
      lower && upper ? fake_do_tensor_map(map, (gd_tensor_map){.rank = 0}, rank, address, sizes, strides, NULL, steps)
                     : GD_CUDA_ERROR_INVALID_VALUE,
      N(type), N(rank), P(address), N(channels), N(pixels), N(interleave), N(swizzle), N(64 * promotion + fill))

ENTRY(cuMemAlloc, (gd_CUdeviceptr *address, size_t bytes), CURRENT, fake_do_allocate(address, bytes), N(bytes))
ENTRY(cuMemFree, (gd_CUdeviceptr address), CURRENT | ENDS, fake_do_free(address), N(address))
ENTRY(cuMemcpyHtoDAsync, (gd_CUdeviceptr target, const void *source, size_t bytes, gd_CUstream stream), CURRENT,
      fake_do_copy(target, P(source), bytes, stream, target), N(target), P(source), N(bytes), P(stream))
ENTRY(cuMemcpyDtoHAsync, (void *target, gd_CUdeviceptr source, size_t bytes, gd_CUstream stream), CURRENT,
      fake_do_copy(P(target), source, bytes, stream, source), P(target), N(source), N(bytes), P(stream))
ENTRY(cuMemsetD8Async, (gd_CUdeviceptr target, unsigned char value, size_t bytes, gd_CUstream stream), CURRENT,
      fake_do_fill(target, value, bytes, stream), N(target), N(value), N(bytes), P(stream))

ENTRY(cuStreamCreate, (gd_CUstream *stream, unsigned int flags), CURRENT, fake_do_stream_create(stream, flags), N(flags))
ENTRY(cuStreamDestroy, (gd_CUstream stream), CURRENT | ENDS, fake_handle_end(STREAM, stream), P(stream))
ENTRY(cuStreamSynchronize, (gd_CUstream stream), CURRENT, fake_do_stream_synchronize(stream), P(stream))
ENTRY(cuStreamWaitEvent, (gd_CUstream stream, gd_CUevent event, unsigned int flags), CURRENT,
      fake_do_wait_event(stream, event, flags), P(stream), P(event), N(flags))
ENTRY(cuStreamGetCtx, (gd_CUstream stream, gd_CUcontext *context), CURRENT, fake_do_stream_context(stream, context),
      P(stream))
ENTRY(cuStreamIsCapturing, (gd_CUstream stream, gd_CUstreamCaptureStatus *status), CURRENT,
      fake_do_is_capturing(stream, status), P(stream))
ENTRY(cuStreamGetCaptureInfo,
      (gd_CUstream stream, gd_CUstreamCaptureStatus *status, uint64_t *id, gd_CUgraph *graph, const gd_CUgraphNode **before,
       size_t *count),
      CURRENT, fake_do_capture_info(stream, status, id, graph, before, count), P(stream))
ENTRY(cuThreadExchangeStreamCaptureMode, (gd_CUstreamCaptureMode *mode), INITIALIZED, fake_do_exchange_mode(mode),
      N(mode ? *mode : -1))
ENTRY(cuStreamBeginCapture, (gd_CUstream stream, gd_CUstreamCaptureMode mode), CURRENT, fake_do_begin_capture(stream, mode),
      P(stream), N(mode))
ENTRY(cuStreamEndCapture, (gd_CUstream stream, gd_CUgraph *graph), CURRENT | ENDS,
      fake_do_end_capture(stream, graph, result != GD_CUDA_SUCCESS), P(stream))

ENTRY(cuEventCreate, (gd_CUevent *event, unsigned int flags), CURRENT, fake_do_event_create(event, flags), N(flags))
ENTRY(cuEventDestroy, (gd_CUevent event), CURRENT | ENDS, fake_handle_end(EVENT, event), P(event))
ENTRY(cuEventRecord, (gd_CUevent event, gd_CUstream stream), CURRENT, fake_do_event_record(event, stream), P(event),
      P(stream))
ENTRY(cuEventSynchronize, (gd_CUevent event), CURRENT, fake_do_event_synchronize(event), P(event))
ENTRY(cuEventElapsedTime, (float *milliseconds, gd_CUevent start, gd_CUevent end), CURRENT,
      fake_do_event_elapsed(milliseconds, start, end), P(start), P(end))

ENTRY(cuGraphInstantiateWithFlags, (gd_CUgraphExec *executable, gd_CUgraph graph, unsigned long long flags), CURRENT,
      fake_do_instantiate(executable, graph, flags), P(graph), N(flags))
ENTRY(cuGraphLaunch, (gd_CUgraphExec executable, gd_CUstream stream), CURRENT, fake_do_graph_launch(executable, stream),
      P(executable), P(stream))
ENTRY(cuGraphUpload, (gd_CUgraphExec executable, gd_CUstream stream), CURRENT, fake_do_graph_upload(executable, stream),
      P(executable), P(stream))
ENTRY(cuGraphDestroy, (gd_CUgraph graph), INITIALIZED | ENDS, fake_handle_end(GRAPH, graph), P(graph))
ENTRY(cuGraphExecDestroy, (gd_CUgraphExec executable), INITIALIZED | ENDS, fake_handle_end(EXECUTABLE, executable),
      P(executable))
ENTRY(cuGraphGetNodes, (gd_CUgraph graph, gd_CUgraphNode *nodes, size_t *count), INITIALIZED,
      fake_do_graph_nodes(graph, nodes, count), P(graph))
ENTRY(cuGraphGetEdges,
      (gd_CUgraph graph, gd_CUgraphNode *from, gd_CUgraphNode *to, gd_CUgraphEdgeData *data, size_t *count),
      INITIALIZED, fake_do_graph_edges(graph, from, to, data, count), P(graph))
ENTRY(cuGraphNodeGetType, (gd_CUgraphNode handle, gd_CUgraphNodeType *type), INITIALIZED,
      fake_do_node_type(handle, type), P(handle))

ENTRY(cuGraphCreate, (gd_CUgraph *graph, unsigned int flags), INITIALIZED, fake_do_graph_create(graph, flags), N(flags))
ENTRY(cuGraphAddKernelNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count,
       const gd_CUDA_KERNEL_NODE_PARAMS *params),
      CURRENT, fake_do_add_kernel(node, graph, before, count, params), P(graph), N(count))
ENTRY(cuGraphAddMemcpyNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count,
       const gd_CUDA_MEMCPY3D *params, gd_CUcontext context),
      CURRENT, fake_do_add_copy(node, graph, before, count, params), P(graph), N(count), P(context))
ENTRY(cuGraphAddMemsetNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count,
       const gd_CUDA_MEMSET_NODE_PARAMS_v1 *params, gd_CUcontext context),
      CURRENT, fake_do_add_fill(node, graph, before, count, params), P(graph), N(count), P(context))
ENTRY(cuGraphAddHostNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count,
       const gd_CUDA_HOST_NODE_PARAMS *params),
      CURRENT, fake_do_add_host(node, graph, before, count, params), P(graph), N(count))
ENTRY(cuGraphAddChildGraphNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count, gd_CUgraph child), INITIALIZED,
      fake_do_add_child(node, graph, before, count, child), P(graph), N(count), P(child))
ENTRY(cuGraphAddEmptyNode, (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count),
      INITIALIZED, fake_do_add_empty(node, graph, before, count), P(graph), N(count))
ENTRY(cuGraphAddEventRecordNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count, gd_CUevent event), INITIALIZED,
      fake_do_add_event(node, graph, before, count, event, GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD), P(graph), P(event))
ENTRY(cuGraphAddEventWaitNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, size_t count, gd_CUevent event), INITIALIZED,
      fake_do_add_event(node, graph, before, count, event, GD_CU_GRAPH_NODE_TYPE_WAIT_EVENT), P(graph), P(event))
ENTRY(cuGraphDestroyNode, (gd_CUgraphNode node), INITIALIZED | ENDS, fake_do_destroy_node(node), P(node))
ENTRY(cuGraphConditionalHandleCreate,
      (gd_CUgraphConditionalHandle *handle, gd_CUgraph graph, gd_CUcontext context, unsigned int initial,
       unsigned int flags),
      CURRENT, fake_do_conditional_handle(handle, graph, context, initial, flags), P(graph), P(context), N(initial), N(flags))
ENTRY(cuGraphAddNode,
      (gd_CUgraphNode *node, gd_CUgraph graph, const gd_CUgraphNode *before, const gd_CUgraphEdgeData *data, size_t count,
       gd_CUgraphNodeParams *params),
      CURRENT, fake_do_add_any(node, graph, before, count, params), P(graph), P(data), N(count))
ENTRY(cuGraphAddDependencies,
      (gd_CUgraph graph, const gd_CUgraphNode *from, const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data, size_t count),
      INITIALIZED, fake_do_add_edges(graph, from, to, data, count), P(graph), N(count))
ENTRY(cuGraphRemoveDependencies,
      (gd_CUgraph graph, const gd_CUgraphNode *from, const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data, size_t count),
      INITIALIZED, fake_do_remove_edges(graph, from, to, data, count), P(graph), N(count))
ENTRY(cuGraphNodeGetDependencies, (gd_CUgraphNode node, gd_CUgraphNode *before, size_t *count), INITIALIZED,
      fake_do_dependencies(node, before, count), P(node))
ENTRY(cuGraphKernelNodeGetParams, (gd_CUgraphNode node, gd_CUDA_KERNEL_NODE_PARAMS *params), INITIALIZED,
      fake_do_kernel_params(node, params), P(node))
ENTRY(cuGraphKernelNodeSetParams, (gd_CUgraphNode node, const gd_CUDA_KERNEL_NODE_PARAMS *params), CURRENT,
      fake_do_set_kernel(NULL, false, node, params), P(node))
ENTRY(cuGraphKernelNodeSetAttribute,
      (gd_CUgraphNode node, gd_CUlaunchAttributeID attribute, const gd_CUlaunchAttributeValue *value), CURRENT,
      fake_do_node_attribute(node, attribute, value), P(node), N(attribute))
ENTRY(cuGraphKernelNodeGetAttribute,
      (gd_CUgraphNode node, gd_CUlaunchAttributeID attribute, gd_CUlaunchAttributeValue *value), INITIALIZED,
      fake_do_get_node_attribute(node, attribute, value), P(node), N(attribute))
ENTRY(cuGraphExecKernelNodeSetParams,
      (gd_CUgraphExec executable, gd_CUgraphNode node, const gd_CUDA_KERNEL_NODE_PARAMS *params), CURRENT,
      fake_do_set_kernel(executable, true, node, params), P(executable), P(node))
ENTRY(cuGraphExecUpdate, (gd_CUgraphExec executable, gd_CUgraph graph, gd_CUgraphExecUpdateResultInfo *info), CURRENT,
      fake_do_update(executable, graph, info), P(executable), P(graph))
ENTRY(cuGraphNodeSetEnabled, (gd_CUgraphExec executable, gd_CUgraphNode node, unsigned int enabled), CURRENT,
      fake_do_enable(executable, node, enabled), P(executable), P(node), N(enabled))
ENTRY(cuUserObjectCreate,
      (gd_CUuserObject *object, void *user, gd_CUhostFn *destroy, unsigned int count, unsigned int flags), INITIALIZED,
      fake_do_user_create(object, user, destroy, count, flags), P(user), N(count), N(flags))
ENTRY(cuUserObjectRelease, (gd_CUuserObject object, unsigned int count), INITIALIZED | ENDS,
      fake_do_user_release(object, count), P(object), N(count))
ENTRY(cuGraphRetainUserObject, (gd_CUgraph graph, gd_CUuserObject object, unsigned int count, unsigned int flags),
      INITIALIZED, fake_do_user_own(graph, object, count, flags), P(graph), P(object), N(count), N(flags))
/* clang-format on */

static void (*const entry_points[SYMBOLS])(void) = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, (void (*)(void))name##_entry, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

static int find_symbol(const char *name)
{
    for (int i = 0; i < SYMBOLS; i++) {
        if (!strcmp(symbol_names[i], name))
            return i;
    }
    return -1;
}

/* A misspelt symbol in a test's script would make the test pass for the wrong reason. */
static int must_find_symbol(const char *name)
{
    int symbol = find_symbol(name);

    if (symbol < 0) {
        fprintf(stderr, "fake driver: no symbol %s\n", name);
        abort();
    }
    return symbol;
}

static void count_leak(uint64_t count, const char *what, uint64_t *total, char *text,
                       size_t capacity)
{
    size_t used = strlen(text);

    if (count == 0)
        return;
    snprintf(text + used, capacity - used, "%s%llu %s%s", *total ? ", " : "",
             (unsigned long long)count, what, count > 1 ? "s" : "");
    *total += count;
}

void fake_driver_reset(void)
{
    fake_lock();
    unsigned generation = fake_state.generation + 1;
    fake_state.forgets = true;
    while (fake_state.objects)
        fake_object_end(fake_state.objects);
    free(fake_state.calls);
    fake_launches_free(&fake_state.launches);
    fake_launches_free(&fake_state.executions);
    for (size_t i = 0; i < fake_state.kernel_count; i++)
        free(fake_state.kernels[i].name);
    fake_state = (struct fake_state){.generation = generation};
    fake_state_set_defaults();
    fake_unlock();
}

void fake_driver_encode_maps(void (*write)(void *bytes, const gd_tensor_map *map))
{
    fake_state.write_map = write;
}

gd_CUresult fake_driver_get_proc_address(const char *symbol, void **function, int version,
                                         uint64_t flags, int *found)
{
    int index = symbol ? find_symbol(symbol) : -1;
    int query = GD_CU_GET_PROC_ADDRESS_SUCCESS;

    if (!symbol || !function || flags > GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return GD_CUDA_ERROR_INVALID_VALUE;
    fake_lock();
    bool newer = version > fake_state.version;
    if (index < 0 || fake_state.hidden[index] || version > symbol_versions[index])
        query = GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    else if (version < symbol_versions[index])
        query = GD_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    fake_unlock();
    if (newer)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    if (query == GD_CU_GET_PROC_ADDRESS_SUCCESS)
        memcpy(function, &entry_points[index], sizeof *function);
    if (found)
        *found = query;
    return GD_CUDA_SUCCESS;
}

gd_CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                int *found)
{
    return fake_driver_get_proc_address(symbol, function, version, flags, found);
}

void fake_driver_fail(const char *symbol, uint64_t nth, gd_CUresult result)
{
    int index = symbol ? must_find_symbol(symbol) : -1;

    fake_lock();
    if (nth && fake_state.failure_count < FAILURES)
        fake_state.failures[fake_state.failure_count++] = (fake_failure){index, nth, result};
    fake_unlock();
}

void fake_driver_hide(const char *symbol)
{
    int index = must_find_symbol(symbol);

    fake_lock();
    fake_state.hidden[index] = true;
    fake_unlock();
}

void fake_driver_set_version(int version)
{
    fake_lock();
    fake_state.version = version;
    fake_unlock();
}

void fake_driver_set_device_count(int count)
{
    fake_lock();
    fake_state.device_count = count < 0 ? 0 : count > DEVICES ? DEVICES : count;
    fake_unlock();
}

void fake_driver_set_attribute(gd_CUdevice_attribute attribute, int value)
{
    fake_lock();
    if (attribute > 0 && attribute < ATTRIBUTES)
        fake_state.attributes[attribute] = value;
    fake_unlock();
}

void fake_driver_set_capability(int value)
{
    fake_driver_set_attribute(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, value / 10);
    fake_driver_set_attribute(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, value % 10);
}

void fake_driver_set_memory(size_t bytes)
{
    fake_lock();
    fake_state.memory_bytes = bytes;
    fake_unlock();
}

gd_CUcontext fake_driver_create_context(gd_CUdevice device)
{
    fake_lock();
    gd_CUcontext context = fake_context_create(device, false)->handle;
    fake_unlock();
    return context;
}

void fake_driver_destroy_context(gd_CUcontext handle)
{
    fake_lock();
    fake_object *context = fake_object_find(CONTEXT, handle);
    if (context)
        fake_object_end(context);
    fake_unlock();
}

void fake_driver_set_kernel(const char *name, fake_kernel function, void *user)
{
    size_t at = 0;

    fake_lock();
    while (at < fake_state.kernel_count && strcmp(fake_state.kernels[at].name, name))
        at++;
    if (at < KERNELS) {
        if (at == fake_state.kernel_count)
            fake_state.kernels[fake_state.kernel_count++].name = fake_copy(name, strlen(name));
        fake_state.kernels[at].function = function;
        fake_state.kernels[at].user = user;
    }
    fake_unlock();
}

void fake_driver_spend(double microseconds)
{
    fake_lock();
    fake_state.clock += (uint64_t)(microseconds * 1000);
    fake_unlock();
}

uint64_t fake_driver_calls(const char *symbol)
{
    int index = symbol ? must_find_symbol(symbol) : -1;

    fake_lock();
    uint64_t count = symbol ? fake_state.symbol_calls[index] : fake_state.call_count;
    fake_unlock();
    return count;
}

int32_t fake_driver_call(uint64_t index, fake_call *call)
{
    fake_lock();
    bool is = index < fake_state.call_count;
    if (is)
        *call = fake_state.calls[index];
    fake_unlock();
    return is;
}

static int32_t get_launch(const fake_launch_list *list, uint64_t index, fake_launch *launch_)
{
    fake_lock();
    bool is = index < list->count;
    if (is)
        *launch_ = list->items[index];
    fake_unlock();
    return is;
}

uint64_t fake_driver_launches(void)
{
    fake_lock();
    uint64_t count = fake_state.launches.count;
    fake_unlock();
    return count;
}

int32_t fake_driver_launch(uint64_t index, fake_launch *launch_)
{
    return get_launch(&fake_state.launches, index, launch_);
}

int32_t fake_driver_last_launch(fake_launch *launch_)
{
    return get_launch(&fake_state.launches, fake_driver_launches() - 1, launch_);
}

uint64_t fake_driver_executions(void)
{
    fake_lock();
    uint64_t count = fake_state.executions.count;
    fake_unlock();
    return count;
}

int32_t fake_driver_execution(uint64_t index, fake_launch *launch_)
{
    return get_launch(&fake_state.executions, index, launch_);
}

uint64_t fake_driver_leaks(char *buffer, size_t size)
{
    static const char *const names[KINDS] = {
        [MODULE] = "module",   [MEMORY] = "allocation", [STREAM] = "stream",
        [EVENT] = "event",     [GRAPH] = "graph",       [EXECUTABLE] = "executable graph",
        [USER] = "user object"};
    uint64_t counts[KINDS] = {0};
    uint64_t captured = 0;
    uint64_t retained = 0;
    uint64_t total = 0;
    char text[512] = "";

    fake_lock();
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        counts[o->kind] += o->kind != MEMORY || !o->is.memory.module;
        captured += o->kind == STREAM && o->is.stream.status != GD_CU_STREAM_CAPTURE_STATUS_NONE;
    }
    for (size_t i = 0; i < DEVICES; i++)
        retained += fake_state.retains[i];
    for (size_t i = 0; i < KINDS; i++) {
        if (names[i])
            count_leak(counts[i], names[i], &total, text, sizeof text);
    }
    count_leak(captured, "open capture", &total, text, sizeof text);
    count_leak(retained, "retain", &total, text, sizeof text);
    count_leak(fake_context_depth(), "current context", &total, text, sizeof text);
    fake_unlock();
    if (buffer && size)
        snprintf(buffer, size, "%s", text);
    return total;
}
