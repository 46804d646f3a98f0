/* The fake driver's cuLaunchKernelEx: what it checks, and how the arguments are packed; occupancy
 * and tensor maps. */
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

static bool within(unsigned value, gd_CUdevice_attribute limit)
{
    return value > 0 && value <= (unsigned)fake_state.attributes[limit];
}

static bool shape_fits(const gd_CUlaunchConfig *config, const fake_object *function)
{
    const fake_entry *entry = function->is.function.entry;
    const unsigned *required = entry->required_block;
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;

    if (required[0] && (config->blockDimX != required[0] || config->blockDimY != required[1] ||
                        config->blockDimZ != required[2]))
        return false;
    return within(config->gridDimX, GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
           within(config->gridDimY, GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
           within(config->gridDimZ, GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
           within(config->blockDimX, GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           within(config->blockDimY, GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
           within(config->blockDimZ, GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
           threads <= fake_maximum_threads(entry) &&
           config->sharedMemBytes <= (unsigned)function->is.function.dynamic_shared;
}

static gd_CUresult check_cluster(const gd_CUlaunchConfig *config,
                                 const gd_CUlaunchAttribute *attribute, const fake_object *function)
{
    unsigned x = attribute->value.clusterDim.x;
    unsigned y = attribute->value.clusterDim.y;
    unsigned z = attribute->value.clusterDim.z;
    uint64_t limit = function->is.function.non_portable_cluster ? 16 : 8;

    if (!fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH] || fake_capability() < 90)
        return GD_CUDA_ERROR_NOT_SUPPORTED;
    bool fits = x && y && z && config->gridDimX % x == 0 && config->gridDimY % y == 0 &&
                config->gridDimZ % z == 0;
    return fits && (uint64_t)x * y * z <= limit ? GD_CUDA_SUCCESS
                                                : GD_CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/* Programmatic and launch completion events: a live event without timing. */
static gd_CUresult check_event(void *handle)
{
    fake_object *event = fake_object_find(EVENT, handle);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    return event->is.event.flags & GD_CU_EVENT_DISABLE_TIMING ? GD_CUDA_SUCCESS
                                                              : GD_CUDA_ERROR_NOT_SUPPORTED;
}

static gd_CUresult check_programmatic(void)
{
    return fake_state.version >= 11080 && fake_capability() >= 90 ? GD_CUDA_SUCCESS
                                                                  : GD_CUDA_ERROR_NOT_SUPPORTED;
}

static gd_CUresult check_attribute(const gd_CUlaunchConfig *config,
                                   const gd_CUlaunchAttribute *attribute,
                                   const fake_object *function)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    switch (attribute->id) {
    case GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return check_cluster(config, attribute, function);
    case GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        return check_programmatic();
    case GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        result = check_programmatic();
        return result == GD_CUDA_SUCCESS ? check_event(attribute->value.programmaticEvent.event)
                                         : result;
    case GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        if (fake_state.version < 12030)
            return GD_CUDA_ERROR_NOT_SUPPORTED;
        return check_event(attribute->value.launchCompletionEvent.event);
    default:
        return attribute->id >= 0 &&
                       attribute->id <= GD_CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING &&
                       attribute->id != 15
                   ? GD_CUDA_SUCCESS
                   : GD_CUDA_ERROR_INVALID_VALUE;
    }
}

static gd_CUresult check_config(const gd_CUlaunchConfig *config, const fake_object *function)
{
    if (!shape_fits(config, function) || config->numAttrs > LAUNCH_ATTRIBUTES ||
        (config->numAttrs && !config->attrs))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        gd_CUresult result = check_attribute(config, &config->attrs[i], function);
        if (result != GD_CUDA_SUCCESS)
            return result;
    }
    return GD_CUDA_SUCCESS;
}

/* The `extra` way. The buffer must be of the packed size: a larger one, a C struct with padding at
 * its end, is refused. A real driver takes a smaller one. */
static gd_CUresult unpack_extra(const fake_entry *entry, void **extra, unsigned char *packed)
{
    const void *buffer = NULL;
    size_t bytes = 0;

    for (; *extra != GD_CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == GD_CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == GD_CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(const size_t *)extra[1];
        else
            return GD_CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes > entry->parameter_bytes)
        return GD_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (bytes < entry->parameter_bytes || (bytes && !buffer))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (entry->parameter_bytes)
        memcpy(packed, buffer, entry->parameter_bytes);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult pack(const fake_entry *entry, void **parameters, void **extra,
                        unsigned char *packed)
{
    if (parameters && extra)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return unpack_extra(entry, extra, packed);
    for (size_t i = 0; i < entry->parameter_count; i++) {
        if (!parameters || !parameters[i])
            return GD_CUDA_ERROR_INVALID_VALUE;
        memcpy(packed + entry->parameters[i].offset, parameters[i], entry->parameters[i].bytes);
    }
    return GD_CUDA_SUCCESS;
}

static bool is_programmatic(const gd_CUlaunchConfig *config)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return config->attrs[i].value.programmaticStreamSerializationAllowed != 0;
    }
    return false;
}

static bool is_updatable(const gd_CUlaunchAttribute *attribute)
{
    return attribute->id == GD_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE &&
           attribute->value.deviceUpdatableKernelNode.deviceUpdatable;
}

/* cuda.h: attribute 13 is for graphs only. */
static bool is_misplaced(const gd_CUlaunchConfig *config, const fake_object *stream)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (is_updatable(&config->attrs[i]) && !(stream && fake_stream_captures(stream)))
            return true;
    }
    return false;
}

/* The driver writes the node's handle into the attribute. */
static void give_nodes(const gd_CUlaunchConfig *config)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (is_updatable(&config->attrs[i]))
            config->attrs[i].value.deviceUpdatableKernelNode.devNode = fake_handle_create();
    }
}

gd_CUresult fake_launch_make(const gd_CUlaunchConfig *config, gd_CUfunction handle,
                             void **parameters, void **extra, fake_launch *launch)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    const fake_entry *entry = function->is.function.entry;
    gd_CUresult result = check_config(config, function);
    if (result != GD_CUDA_SUCCESS)
        return result;
    unsigned char *packed = fake_allocate(entry->parameter_bytes);
    memset(packed, 0, entry->parameter_bytes);
    result = pack(entry, parameters, extra, packed);
    if (result == GD_CUDA_SUCCESS) {
        const fake_launch made = {.kernel = entry->name,
                                  .function = function->handle,
                                  .config = *config,
                                  .parameters = packed,
                                  .parameter_bytes = entry->parameter_bytes,
                                  .programmatic = is_programmatic(config)};
        *launch = fake_launch_copy(&made);
    }
    free(packed);
    return result;
}

gd_CUresult fake_do_launch(const gd_CUlaunchConfig *config, gd_CUfunction handle, void **parameters,
                           void **extra)
{
    fake_object *function = fake_object_find(FUNCTION, handle);
    fake_object *stream = NULL;
    fake_node work = {.type = GD_CU_GRAPH_NODE_TYPE_KERNEL};

    if (!config)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = fake_stream_find(config->hStream, &stream);
    if (!function || result != GD_CUDA_SUCCESS ||
        function->context != (stream ? stream->context : fake_context_handle()))
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (is_misplaced(config, stream))
        return GD_CUDA_ERROR_INVALID_VALUE;
    result = fake_launch_make(config, handle, parameters, extra, &work.launch);
    if (result != GD_CUDA_SUCCESS)
        return result;
    work.launch.captured = stream && fake_stream_captures(stream);
    result = fake_stream_submit(stream, &work);
    if (result == GD_CUDA_SUCCESS) {
        fake_launches_add(&fake_state.launches, &work.launch);
        give_nodes(config);
    }
    fake_launch_free(&work.launch);
    return result;
}

gd_CUresult fake_do_priorities(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return GD_CUDA_SUCCESS;
}

/* Whole warps; registers in units of 8 a thread; each CTA has some shared memory of the
 * driver's. */
static int count_blocks(const fake_object *function, uint64_t threads, uint64_t shared)
{
    const int *attributes = fake_state.attributes;
    uint64_t warps = (threads + 31) / 32;
    uint64_t registers =
        (uint64_t)(function->is.function.module->is.module.registers + 7) / 8 * 8 * 32 * warps;
    uint64_t bytes = function->is.function.entry->shared_bytes + shared +
                     (uint64_t)attributes[GD_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK];
    uint64_t most = (uint64_t)attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR];
    const uint64_t rooms[] = {
        (uint64_t)attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] / (32 * warps),
        (uint64_t)attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] / registers,
        (uint64_t)attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] / bytes};

    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        most = rooms[i] < most ? rooms[i] : most;
    return (int)most;
}

gd_CUresult fake_do_occupancy(int *blocks, gd_CUfunction handle, int threads, size_t shared)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!blocks || threads <= 0)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *blocks = count_blocks(function, (uint64_t)threads, shared);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_cluster_size(int *size, gd_CUfunction handle, const gd_CUlaunchConfig *config)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!size || !config)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    /* A kernel that fills an SM finds fewer SMs side by side, as GPCs have 16 to 18 of them. */
    bool large =
        count_blocks(function, (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ,
                     config->sharedMemBytes) > 1;
    *size = function->is.function.non_portable_cluster && large ? 16 : 8;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_clusters(int *clusters, gd_CUfunction handle, const gd_CUlaunchConfig *config)
{
    fake_object *function = fake_object_find(FUNCTION, handle);
    uint64_t blocks = 1;

    if (!clusters || !config)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const gd_CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id == GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            blocks = (uint64_t)value->clusterDim.x * value->clusterDim.y * value->clusterDim.z;
    }
    uint64_t room = (uint64_t)count_blocks(
        function, (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ,
        config->sharedMemBytes);
    *clusters =
        (int)(room * (uint64_t)fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] /
              blocks);
    return GD_CUDA_SUCCESS;
}

/* A tiled map, by the function that was given. */
static void write_map(gd_CUtensorMap *map, gd_tensor_map tensor, uint32_t rank, void *address,
                      const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                      const uint32_t *steps)
{
    tensor.rank = (uint8_t)rank;
    tensor.address = (uint64_t)(uintptr_t)address;
    for (uint32_t i = 0; i < rank; i++) {
        tensor.sizes[i] = sizes[i];
        tensor.strides[i] = i ? strides[i - 1] : 0;
        tensor.box[i] = box ? box[i] : 1;
        tensor.steps[i] = steps[i];
    }
    fake_state.write_map(map, &tensor);
}

gd_CUresult fake_do_tensor_map(gd_CUtensorMap *map, gd_tensor_map tensor, uint32_t rank,
                               void *address, const uint64_t *sizes, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *steps)
{
    if (!map || (uintptr_t)map % 64 || !rank || rank > 5 || !address || !sizes || !steps ||
        (rank > 1 && !strides))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (fake_capability() < 90)
        return GD_CUDA_ERROR_NOT_SUPPORTED;
    if (fake_state.write_map) {
        write_map(map, tensor, rank, address, sizes, strides, box, steps);
        return GD_CUDA_SUCCESS;
    }
    *map = (gd_CUtensorMap){.opaque = {(uint64_t)(uintptr_t)address, rank}};
    for (uint32_t i = 0; i < rank; i++) {
        map->opaque[2 + i] = sizes[i];
        map->opaque[7 + i] = steps[i];
        map->opaque[12] = map->opaque[12] << 8 | (box ? box[i] - 1 : 0);
    }
    return GD_CUDA_SUCCESS;
}
