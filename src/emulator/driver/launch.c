/* Kernel launches: shape, attributes and arguments checked as the driver does, and the entry points
 * cuLaunch* and cuOccupancy*. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chip.h"
#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/driver/green.h"
#include "emulator/driver/module.h"
#include "emulator/machine/report.h"
#include "emulator/driver/stream.h"

enum { MOST_ATTRIBUTES = 64 };

/* ---- shape ---- */

static bool is_block(const gd_CUlaunchConfig *config)
{
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;

    return config->blockDimX && config->blockDimY && config->blockDimZ &&
           config->blockDimX <= GD_CHIP_BLOCK_X && config->blockDimY <= GD_CHIP_BLOCK_Y &&
           config->blockDimZ <= GD_CHIP_BLOCK_Z && threads <= GD_DEVICE_THREADS;
}

static bool is_grid(const gd_CUlaunchConfig *config)
{
    return config->gridDimX && config->gridDimY && config->gridDimZ &&
           config->gridDimX <= GD_CHIP_GRID_X && config->gridDimY <= GD_CHIP_GRID_Y &&
           config->gridDimZ <= GD_CHIP_GRID_Z;
}

static const gd_profile *chip_of(const gd_function *function)
{
    return function->object.context->device->chip;
}

static gd_CUresult check_block(const gd_CUlaunchConfig *config, const gd_function *function)
{
    const uint32_t *required = function->entry->required_block;
    const uint32_t wanted[3] = {required[0], required[1] ? required[1] : 1,
                                required[2] ? required[2] : 1};
    const uint32_t most = gd_function_threads(function);

    if (!is_block(config))
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE,
                                "a block of (%u, %u, %u) threads; at most (%d, %d, %d), and %d in "
                                "all",
                                config->blockDimX, config->blockDimY, config->blockDimZ,
                                GD_CHIP_BLOCK_X, GD_CHIP_BLOCK_Y, GD_CHIP_BLOCK_Z,
                                GD_DEVICE_THREADS);
    const uint32_t threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    if (threads > most)
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE,
                                "a block of %u threads; kernel %s takes %u at most", threads,
                                function->entry->name, most);
    if (required[0] && (config->blockDimX != wanted[0] || config->blockDimY != wanted[1] ||
                        config->blockDimZ != wanted[2]))
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE,
                                "a block of (%u, %u, %u) threads; kernel %s requires (%u, %u, %u)",
                                config->blockDimX, config->blockDimY, config->blockDimZ,
                                function->entry->name, wanted[0], wanted[1], wanted[2]);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult check_shared(const gd_CUlaunchConfig *config, const gd_function *function)
{
    const unsigned limit = (unsigned)function->dynamic_shared;

    if (config->sharedMemBytes <= limit)
        return GD_CUDA_SUCCESS;
    return gd_device_refuse(
        GD_CUDA_ERROR_INVALID_VALUE,
        "%u bytes of dynamic shared memory, and %s has %" PRIu64 " of static; it is allowed %u of "
        "dynamic until CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is set to more",
        config->sharedMemBytes, function->entry->name,
        (uint64_t)function->entry->static_shared_bytes, limit);
}

static gd_CUresult check_shape(const gd_CUlaunchConfig *config, const gd_function *function)
{
    if (!is_grid(config))
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE,
                                "a grid of (%u, %u, %u); at least 1 and at most (%d, %d, %d)",
                                config->gridDimX, config->gridDimY, config->gridDimZ,
                                GD_CHIP_GRID_X, GD_CHIP_GRID_Y, GD_CHIP_GRID_Z);
    gd_CUresult result = check_block(config, function);
    if (result == GD_CUDA_SUCCESS)
        result = check_shared(config, function);
    if (result != GD_CUDA_SUCCESS)
        return result;
    const uint32_t threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    return gd_schedule_occupancy(chip_of(function), function->entry, threads,
                                 config->sharedMemBytes)
               ? GD_CUDA_SUCCESS
               : gd_device_refuse(GD_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                                  "a block of %u threads of kernel %s, %u registers each, has no "
                                  "room on a multiprocessor",
                                  threads, function->entry->name,
                                  gd_schedule_registers(function->entry));
}

/* ---- attributes ---- */

static gd_CUresult set_cluster(gd_kernel_work *kernel, const gd_function *function, uint32_t x,
                               uint32_t y, uint32_t z)
{
    uint64_t limit =
        function->non_portable_cluster ? GD_DEVICE_CLUSTER_NON_PORTABLE : GD_DEVICE_CLUSTER;
    bool fits = x && y && z && kernel->grid[0] % x == 0 && kernel->grid[1] % y == 0 &&
                kernel->grid[2] % z == 0;

    if (!fits || x > limit || y > limit || z > limit || (uint64_t)x * y * z > limit)
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_CLUSTER_SIZE,
                                "clusters of (%u, %u, %u) of a grid of (%u, %u, %u): they must "
                                "divide it, and have %" PRIu64 " blocks at most",
                                x, y, z, kernel->grid[0], kernel->grid[1], kernel->grid[2], limit);
    kernel->cluster[0] = x;
    kernel->cluster[1] = y;
    kernel->cluster[2] = z;
    kernel->explicit_cluster = true;
    return GD_CUDA_SUCCESS;
}

/* Events of launches have no timing. */
static gd_CUresult check_event(gd_CUevent handle)
{
    const gd_event *event = gd_object_find(handle, GD_OBJECT_EVENT);

    if (!event)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    return event->flags & GD_CU_EVENT_DISABLE_TIMING
               ? GD_CUDA_SUCCESS
               : gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED,
                                  "an event of a launch was made without DISABLE_TIMING");
}

/* Values that a driver with API 13.0 on an H200 was seen to refuse with INVALID_VALUE. It takes any
 * priority. */
static bool is_value(const gd_device *device, const gd_CUlaunchAttribute *attribute)
{
    const gd_CUlaunchAttributeValue *value = &attribute->value;
    int window = 0, domains = 0;

    gd_device_attribute(device, GD_CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, &window);
    gd_device_attribute(device, GD_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, &domains);
    switch (attribute->id) {
    case GD_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return value->accessPolicyWindow.num_bytes <= (size_t)window;
    case GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return value->memSyncDomainMap.default_ < domains &&
               value->memSyncDomainMap.remote < domains;
    case GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return value->sharedMemCarveout <= 100; /* -1, no preference, is refused too */
    default:
        return attribute->id >= 0 &&
               attribute->id <= GD_CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING &&
               attribute->id != GD_CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY &&
               attribute->id != 15;
    }
}

static gd_CUresult apply_attribute(gd_kernel_work *kernel, const gd_function *function,
                                   const gd_CUlaunchAttribute *attribute)
{
    const gd_CUlaunchAttributeValue *value = &attribute->value;

    switch (attribute->id) {
    case GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        kernel->cooperative = value->cooperative != 0;
        return GD_CUDA_SUCCESS;
    case GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return set_cluster(kernel, function, value->clusterDim.x, value->clusterDim.y,
                           value->clusterDim.z);
    case GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        kernel->programmatic = value->programmaticStreamSerializationAllowed != 0;
        return GD_CUDA_SUCCESS;
    case GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return check_event(value->programmaticEvent.event);
    case GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return check_event(value->launchCompletionEvent.event);
    case GD_CU_LAUNCH_ATTRIBUTE_PRIORITY:
        kernel->priority = value->priority;
        return GD_CUDA_SUCCESS;
    case GD_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return value->deviceUpdatableKernelNode.deviceUpdatable
                   ? gd_device_unsupported(
                         "a kernel node that the device updates (launch attribute 13)")
                   : GD_CUDA_SUCCESS;
    default:
        return is_value(function->object.context->device, attribute) ? GD_CUDA_SUCCESS
                                                                     : GD_CUDA_ERROR_INVALID_VALUE;
    }
}

static gd_CUresult apply_attributes(gd_kernel_work *kernel, const gd_function *function,
                                    const gd_CUlaunchConfig *config)
{
    const uint32_t *own = function->cluster;
    gd_CUresult result = GD_CUDA_SUCCESS;

    if (config->numAttrs > MOST_ATTRIBUTES || (config->numAttrs && !config->attrs))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (own[0])
        result = set_cluster(kernel, function, own[0], own[1] ? own[1] : 1, own[2] ? own[2] : 1);
    for (unsigned i = 0; i < config->numAttrs && result == GD_CUDA_SUCCESS; i++)
        result = apply_attribute(kernel, function, &config->attrs[i]);
    if (own[0] && result == GD_CUDA_SUCCESS &&
        (kernel->cluster[0] != own[0] || kernel->cluster[1] != (own[1] ? own[1] : 1) ||
         kernel->cluster[2] != (own[2] ? own[2] : 1)))
        result = gd_device_refuse(GD_CUDA_ERROR_INVALID_CLUSTER_SIZE,
                                  "clusters of (%u, %u, %u); kernel %s requires (%u, %u, %u)",
                                  kernel->cluster[0], kernel->cluster[1], kernel->cluster[2],
                                  function->entry->name, own[0], own[1] ? own[1] : 1,
                                  own[2] ? own[2] : 1);
    return result;
}

static gd_CUresult check_residency(const gd_kernel_work *kernel, const gd_function *function)
{
    uint32_t threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    uint64_t room = (uint64_t)gd_schedule_occupancy(chip_of(function), kernel->entry, threads,
                                                    kernel->dynamic_shared_bytes) *
                    kernel->part.count;
    uint64_t ctas = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    uint64_t cluster = (uint64_t)kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2];

    if (cluster > room)
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_CLUSTER_SIZE,
                                "clusters of %" PRIu64 " blocks; %" PRIu64
                                " fit on the device at a time",
                                cluster, room);
    if (kernel->cooperative && ctas > room)
        return gd_device_refuse(GD_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                                "a cooperative launch of %" PRIu64 " blocks; %" PRIu64
                                " fit on the device at a time",
                                ctas, room);
    return GD_CUDA_SUCCESS;
}

/* ---- arguments ---- */

/* The `extra` way: a buffer that may be shorter than the parameters, but not longer. */
static gd_CUresult unpack(const gd_kernel_work *kernel, void **extra)
{
    const void *buffer = NULL;
    size_t bytes = 0;

    for (; *extra != GD_CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == GD_CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == GD_CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            memcpy(&bytes, extra[1], sizeof bytes);
        else
            return GD_CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes > kernel->parameter_bytes)
        return gd_device_refuse(GD_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                                "%zu bytes of parameters; kernel %s has %u", bytes,
                                kernel->entry->name, kernel->parameter_bytes);
    if (bytes && !buffer)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (bytes)
        memcpy(kernel->parameters, buffer, bytes);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult pack(const gd_kernel_work *kernel, void **parameters, void **extra)
{
    uint32_t offset, bytes;

    if (parameters && extra)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return unpack(kernel, extra);
    for (uint32_t i = 0; gd_entry_parameter(kernel->entry, i, &offset, &bytes); i++) {
        if (!parameters || !parameters[i])
            return gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE,
                                    "parameter %u of kernel %s has no value", i,
                                    kernel->entry->name);
        memcpy(kernel->parameters + offset, parameters[i], bytes);
    }
    return GD_CUDA_SUCCESS;
}

static gd_CUresult copy_arguments(gd_kernel_work *kernel, const gd_CUlaunchConfig *config,
                                  void **parameters, void **extra)
{
    kernel->parameter_bytes = kernel->entry->parameter_bytes;
    kernel->parameters = calloc(1, (size_t)kernel->parameter_bytes + GD_PARAMETER_ROOM);
    kernel->attributes = calloc((size_t)config->numAttrs + 1, sizeof *kernel->attributes);
    if (!kernel->parameters || !kernel->attributes)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (config->numAttrs)
        memcpy(kernel->attributes, config->attrs, config->numAttrs * sizeof *kernel->attributes);
    kernel->attribute_count = config->numAttrs;
    return pack(kernel, parameters, extra);
}

static gd_CUresult refuse(const gd_entry *entry)
{
    gd_program_error why;
    char instruction[160] = "", text[768];

    gd_entry_refusal(entry, &why);
    snprintf(text, sizeof text, "kernel %s cannot be launched: line %" PRId32 ": %s", entry->name,
             why.line, why.text);
    gd_device_log(GRIDDEP_LOG_ERROR, "%s", text);
    gd_race_access access = {
        .kernel = entry->name, .line = why.line, .column = why.column, .instruction = instruction};
    if (why.line)
        gd_entry_instruction(entry, why.instruction, instruction, sizeof instruction,
                             &access.module);
    gd_report_fault("unsupported", &access, NULL, 0, NULL, text, NULL);
    return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED, "%s", text);
}

gd_CUresult gd_launch_prepare(gd_context *context, gd_part part, const gd_CUlaunchConfig *config,
                              gd_CUfunction handle, void **parameters, void **extra, gd_work *work)
{
    const gd_function *function = gd_function_find(context, handle);

    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!function)
        return gd_library_unresolved(handle);
    if (function->entry->refused)
        return refuse(function->entry);
    gd_kernel_work kernel = {.handle = handle,
                             .entry = function->entry,
                             .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                             .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                             .cluster = {1, 1, 1},
                             .part = part,
                             .dynamic_shared_bytes = config->sharedMemBytes};
    gd_CUresult result = check_shape(config, function);
    kernel.counts_clusters = function->blocks_are_clusters;
    for (int i = 0; i < 3 && kernel.counts_clusters; i++)
        kernel.grid[i] *= function->cluster[i] ? function->cluster[i] : 1;
    if (result == GD_CUDA_SUCCESS)
        result = apply_attributes(&kernel, function, config);
    if (result == GD_CUDA_SUCCESS)
        result = check_residency(&kernel, function);
    if (result == GD_CUDA_SUCCESS)
        result = copy_arguments(&kernel, config, parameters, extra);
    *work = (gd_work){.kind = GD_WORK_KERNEL,
                      .context = function->object.context->object.handle,
                      .is.kernel = kernel};
    if (result != GD_CUDA_SUCCESS)
        gd_work_free(work);
    return result;
}

gd_CUresult gd_launch_attribute(gd_context *context, gd_kernel_work *kernel,
                                const gd_CUlaunchAttribute *attribute)
{
    const gd_function *function = gd_function_find(context, kernel->handle);
    const uint32_t *own = function ? function->cluster : NULL;
    gd_CUlaunchAttribute wanted = *attribute;
    const gd_CUlaunchConfig config = {.attrs = &wanted, .numAttrs = 1};

    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (wanted.id == GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && !wanted.value.clusterDim.x &&
        !wanted.value.clusterDim.y && !wanted.value.clusterDim.z) {
        for (uint32_t i = 0; i < 3; i++)
            kernel->cluster[i] = own[i] ? own[i] : 1;
        kernel->explicit_cluster = own[0] != 0;
        return GD_CUDA_SUCCESS;
    }
    gd_CUresult result = apply_attributes(kernel, function, &config);
    return result == GD_CUDA_SUCCESS ? check_residency(kernel, function) : result;
}

gd_CUresult gd_launch_refresh(gd_context *context, gd_work *work)
{
    const gd_function *function;

    if (work->kind != GD_WORK_KERNEL)
        return GD_CUDA_SUCCESS;
    function = gd_function_find(context, work->is.kernel.handle);
    if (!function || function->entry->parameter_bytes != work->is.kernel.parameter_bytes)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    work->is.kernel.entry = function->entry;
    return GD_CUDA_SUCCESS;
}

/* ---- launching ---- */

/* What an attribute's event stands for: a port of the task, or of the node that was captured. */
static gd_CUresult note_event(gd_stream *stream, gd_task *task, gd_CUevent handle, gd_port port,
                              unsigned char type)
{
    gd_event *event = gd_object_find(handle, GD_OBJECT_EVENT);

    if (!event)
        return GD_CUDA_SUCCESS; /* checked before; it is the same call */
    if (!stream->capture) {
        gd_event_set(event, task, port);
        return GD_CUDA_SUCCESS;
    }
    gd_CUresult result = gd_capture_record(stream, event);
    for (uint32_t i = 0; result == GD_CUDA_SUCCESS && i < event->tips.count; i++) {
        event->tips.list[i].data.type = type;
        event->tips.list[i].data.from_port = (unsigned char)port;
    }
    return result;
}

static gd_CUresult note_events(gd_stream *stream, gd_task *task, const gd_CUlaunchConfig *config)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (unsigned i = 0; i < config->numAttrs && result == GD_CUDA_SUCCESS; i++) {
        const gd_CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            result = note_event(stream, task, attribute->value.programmaticEvent.event,
                                attribute->value.programmaticEvent.triggerAtBlockStart
                                    ? GD_PORT_LAUNCH
                                    : GD_PORT_PROGRAMMATIC,
                                GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
        else if (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            result = note_event(stream, task, attribute->value.launchCompletionEvent.event,
                                GD_PORT_LAUNCH, GD_CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    }
    return result;
}

gd_CUresult gd_cuLaunchKernelEx(const gd_CUlaunchConfig *config, gd_CUfunction handle,
                                void **parameters, void **extra)
{
    gd_stream *stream;
    gd_work work;
    gd_task *task;

    if (!config)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = gd_stream_find(config->hStream, &stream);
    if (result != GD_CUDA_SUCCESS)
        return result;
    const gd_function *function = gd_function_find(stream->object.context, handle);
    if (!function || function->object.context != stream->object.context)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    result = gd_launch_prepare(stream->object.context, gd_stream_part(stream), config, handle,
                               parameters, extra, &work);
    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_submit(stream, &work, &task);
    return result == GD_CUDA_SUCCESS ? note_events(stream, task, config) : result;
}

static gd_CUresult launch_plain(gd_CUfunction function, const unsigned shape[6], unsigned shared,
                                gd_CUstream stream, void **parameters, void **extra,
                                bool cooperative)
{
    gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                      .value.cooperative = 1};
    const gd_CUlaunchConfig config = {.gridDimX = shape[0],
                                      .gridDimY = shape[1],
                                      .gridDimZ = shape[2],
                                      .blockDimX = shape[3],
                                      .blockDimY = shape[4],
                                      .blockDimZ = shape[5],
                                      .sharedMemBytes = shared,
                                      .hStream = stream,
                                      .attrs = &attribute,
                                      .numAttrs = cooperative};

    return gd_cuLaunchKernelEx(&config, function, parameters, extra);
}

/* ---- occupancy ---- */

gd_CUresult gd_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                    gd_CUfunction handle,
                                                                    int threads, size_t shared,
                                                                    unsigned int flags)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    if (!blocks || threads <= 0 || flags > 1)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    bool fits = (uint32_t)threads <= gd_function_threads(function) &&
                shared <= chip_of(function)->block_shared_bytes;
    *blocks = fits
                  ? (int)gd_schedule_carved_occupancy(chip_of(function), function->entry,
                                                      (uint32_t)threads, shared, function->carveout)
                  : 0;
    return GD_CUDA_SUCCESS;
}

/* The largest CTA among those that fill an SM with the most threads. */
gd_CUresult gd_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, gd_CUfunction handle,
                                                gd_CUoccupancyB2DSize *shared_of, size_t shared,
                                                int limit)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);
    uint32_t most = 0;

    if (!grid || !block || limit < 0)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    uint32_t top = gd_function_threads(function);
    if (limit && (uint32_t)limit < top)
        top = (uint32_t)limit;
    for (uint32_t threads = top; threads; threads = threads > 32 ? (threads - 1) / 32 * 32 : 0) {
        size_t bytes = shared_of ? shared_of((int)threads) : shared;
        uint32_t ctas = gd_schedule_carved_occupancy(chip_of(function), function->entry, threads,
                                                     bytes, function->carveout);
        if (ctas * threads <= most)
            continue;
        most = ctas * threads;
        *block = (int)threads;
        *grid = (int)(ctas * gd_green_part().count);
    }
    return most ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult gd_cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, gd_CUfunction handle,
                                                       int blocks, int threads)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    if (!bytes || blocks <= 0 || threads <= 0)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (gd_schedule_occupancy(chip_of(function), function->entry, (uint32_t)threads, 0) <
        (uint32_t)blocks)
        return GD_CUDA_ERROR_INVALID_VALUE;
    /* As an H200's driver answers: what is reserved for each CTA is forgotten, and one CTA alone
     * has all. */
    size_t all = blocks == 1 || function->carveout < 0 ||
                         chip_of(function)->shared_bytes != GD_CARVEOUT_LARGEST
                     ? (size_t)chip_of(function)->shared_bytes
                     : gd_carveout_setting((uint32_t)function->carveout, 0);
    size_t each = all / (size_t)blocks, own = function->entry->static_shared_bytes;
    size_t most = (size_t)function->dynamic_shared;
    each = each > own ? each - own : 0;
    *bytes = each < most ? each : most;
    return GD_CUDA_SUCCESS;
}

/* CTAs of a configuration that the current context's part of the device holds at once. */
static uint64_t count_room(const gd_function *function, const gd_CUlaunchConfig *config)
{
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;

    if (!is_block(config) || threads > gd_function_threads(function))
        return 0;
    return (uint64_t)gd_schedule_occupancy(chip_of(function), function->entry, (uint32_t)threads,
                                           config->sharedMemBytes) *
           gd_green_part().count;
}

gd_CUresult gd_cuOccupancyMaxPotentialClusterSize(int *size, gd_CUfunction handle,
                                                  const gd_CUlaunchConfig *config)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    if (!size || !config || !handle)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    uint64_t limit =
        function->non_portable_cluster ? GD_DEVICE_CLUSTER_NON_PORTABLE : GD_DEVICE_CLUSTER;
    uint64_t room = count_room(function, config);
    *size = (int)(room < limit ? room : limit);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuOccupancyMaxActiveClusters(int *clusters, gd_CUfunction handle,
                                            const gd_CUlaunchConfig *config)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    if (!clusters || !config || !handle)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_kernel_work kernel = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                             .cluster = {1, 1, 1}};
    gd_CUresult result = apply_attributes(&kernel, function, config);
    if (result != GD_CUDA_SUCCESS)
        return result;
    *clusters = (int)(count_room(function, config) /
                      ((uint64_t)kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2]));
    return GD_CUDA_SUCCESS;
}

/* ---- entry points ---- */

gd_CUresult gd_cuLaunchKernel(gd_CUfunction function, unsigned int grid_x, unsigned int grid_y,
                              unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                              unsigned int block_z, unsigned int shared, gd_CUstream stream,
                              void **parameters, void **extra)
{
    const unsigned shape[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};

    return launch_plain(function, shape, shared, stream, parameters, extra, false);
}

gd_CUresult gd_cuLaunchCooperativeKernel(gd_CUfunction function, unsigned int grid_x,
                                         unsigned int grid_y, unsigned int grid_z,
                                         unsigned int block_x, unsigned int block_y,
                                         unsigned int block_z, unsigned int shared,
                                         gd_CUstream stream, void **parameters)
{
    const unsigned shape[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};

    return launch_plain(function, shape, shared, stream, parameters, NULL, true);
}

gd_CUresult gd_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, gd_CUfunction function,
                                                           int threads, size_t shared)
{
    return gd_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                   shared, 0);
}

gd_CUresult gd_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
                                                         gd_CUfunction function,
                                                         gd_CUoccupancyB2DSize *shared_of,
                                                         size_t shared, int limit,
                                                         unsigned int flags)
{
    return flags > 1 ? GD_CUDA_ERROR_INVALID_VALUE
                     : gd_cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared,
                                                           limit);
}
