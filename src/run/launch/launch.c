/* Launching a kernel: shape and arguments checked, attribute 6 decided, one driver call. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/log.h"
#include "run/launch/attribute_check.h"
#include "run/capture.h"
#include "run/launch/early.h"
#include "run/launch/event.h"
#include "run/launch/hold.h"
#include "run/launch/launch.h"
#include "run/module/module.h"
#include "run/launch/require.h"

enum { CONFIG_MINIMUM = offsetof(griddep_launch_config, name) };

_Static_assert(sizeof(griddep_attribute) == sizeof(gd_CUlaunchAttribute),
               "griddep_attribute mirrors CUlaunchAttribute");

/* ---- shape ---- */

typedef struct shape {
    uint32_t size[3];
    uint64_t count; /* the product */
} shape;

/* Reads x, y, z with y and z 0 as 1. */
static shape read_shape(const uint32_t given[3])
{
    shape read = {{given[0], given[1] ? given[1] : 1, given[2] ? given[2] : 1}, 0};

    read.count = (uint64_t)read.size[0] * read.size[1];
    read.count = read.count > UINT64_MAX / read.size[2] ? UINT64_MAX : read.count * read.size[2];
    return read;
}

static int32_t beyond(const griddep_kernel *kernel, const char *what, const shape *asked,
                      const uint32_t limit[3], griddep_error *error)
{
    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "kernel %s: a %s of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                        " is outside 1 x 1 x 1 to %" PRIu32 " x %" PRIu32 " x %" PRIu32
                        ", the device's limits",
                        kernel->name, what, asked->size[0], asked->size[1], asked->size[2],
                        limit[0], limit[1], limit[2]);
}

static bool fits(const shape *asked, const uint32_t limit[3])
{
    return asked->size[0] && asked->size[0] <= limit[0] && asked->size[1] <= limit[1] &&
           asked->size[2] <= limit[2];
}

static int32_t check_block(const griddep_kernel *kernel, const shape *block, griddep_error *error)
{
    const uint32_t *required = kernel->info.required_block;

    if (!fits(block, kernel->runtime->limits.block))
        return beyond(kernel, "block", block, kernel->runtime->limits.block, error);
    if (block->count > kernel->info.maximum_threads)
        return gd_error_set(
            error, GRIDDEP_ERROR_LIMIT,
            "kernel %s: a block of %" PRIu64 " threads; the driver allows this kernel %" PRIu32
            " at most, by its .maxntid or its %" PRIu32 " registers a thread",
            kernel->name, block->count, kernel->info.maximum_threads, kernel->info.registers);
    if (required[0] &&
        (block->size[0] != required[0] || block->size[1] != (required[1] ? required[1] : 1) ||
         block->size[2] != (required[2] ? required[2] : 1)))
        return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: its .reqntid asks for a block of %" PRIu32 " x %" PRIu32
                            " x %" PRIu32 ", the launch gives %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                            kernel->name, required[0], required[1] ? required[1] : 1,
                            required[2] ? required[2] : 1, block->size[0], block->size[1],
                            block->size[2]);
    return GRIDDEP_OK;
}

static int32_t check_shared(griddep_kernel *kernel, uint32_t bytes, griddep_error *error)
{
    uint32_t most = kernel->info.maximum_dynamic_shared_bytes;

    if (bytes > most)
        return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: %" PRIu32
                            " bytes of dynamic shared memory; next to its %" PRIu32
                            " static ones a block can have %" PRIu32,
                            kernel->name, bytes, kernel->info.static_shared_bytes, most);
    if (bytes <= atomic_load_explicit(&kernel->opted_in, memory_order_relaxed))
        return GRIDDEP_OK;
    gd_CUresult result = kernel->runtime->driver->cuFuncSetAttribute(
        kernel->function, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)most);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(kernel->runtime->driver, result, error,
                              "kernel %s: opting in to %" PRIu32 " bytes of shared memory",
                              kernel->name, most);
    atomic_store_explicit(&kernel->opted_in, most, memory_order_relaxed);
    return GRIDDEP_OK;
}

/* ---- attributes ---- */

/* A driver with API 13.0 refuses the number that means no preference, though cuda.h has it; what no
 * launch asks for is the same. */
static bool asks_for_nothing(const griddep_attribute *attribute)
{
    int32_t percent;

    memcpy(&percent, attribute->value, sizeof percent);
    return attribute->id == GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
           percent == GRIDDEP_CARVEOUT_DEFAULT;
}

static int32_t add_attributes(const griddep_kernel *kernel, const griddep_launch_config *config,
                              gd_launch *launch, griddep_error *error)
{
    const bool clustered = launch->attribute_count > 0;

    if (config->attribute_count > GD_LAUNCH_ATTRIBUTES ||
        (config->attribute_count && !config->attributes))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s: %" PRIu32 " attributes at %p; there may be %d",
                            kernel->name, config->attribute_count, (const void *)config->attributes,
                            GD_LAUNCH_ATTRIBUTES);
    for (uint32_t i = 0; i < config->attribute_count; i++) {
        const griddep_attribute *attribute = &config->attributes[i];
        if (attribute->reserved)
            return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                                "attributes[%" PRIu32 "].reserved is not zero", i);
        if (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "attributes[%" PRIu32 "] is attribute 6; say pdl instead", i);
        if (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && clustered)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "the cluster is given twice, in cluster and as an attribute");
        int32_t status = gd_event_check_attribute(kernel->runtime, attribute, error);
        if (status)
            return status;
        if (asks_for_nothing(attribute))
            continue;
        gd_CUlaunchAttribute *own = &launch->attributes[launch->attribute_count++];
        memcpy(own, attribute, sizeof *attribute);
        if (attribute->id == GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE)
            own->value.deviceUpdatableKernelNode.devNode = NULL;
    }
    return GRIDDEP_OK;
}

static void add_cluster(gd_launch *launch, const uint32_t size[3])
{
    gd_CUlaunchAttribute *attribute = &launch->attributes[launch->attribute_count++];

    memset(attribute, 0, sizeof *attribute);
    attribute->id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute->value.clusterDim.x = size[0];
    attribute->value.clusterDim.y = size[1];
    attribute->value.clusterDim.z = size[2];
}

/* ---- making a launch ---- */

static int32_t check_config(const griddep_launch_config *config, griddep_error *error)
{
    if (config->flags || config->reserved)
        return gd_error_set(
            error, GRIDDEP_ERROR_STRUCT,
            "griddep_launch_config.flags has unknown bits, or reserved is not zero");
    if (config->pdl < GRIDDEP_PDL_DEFAULT || config->pdl > GRIDDEP_PDL_FORCE)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "pdl is %" PRId32 ", which is no GRIDDEP_PDL_*", config->pdl);
    return GRIDDEP_OK;
}

int32_t gd_launch_read_config(griddep_launch_config *config, const griddep_launch_config *given,
                              griddep_error *error)
{
    int32_t status = gd_struct_read(config, sizeof *config, CONFIG_MINIMUM, given,
                                    "griddep_launch_config", error);

    return status ? status : check_config(config, error);
}

/* Of a configuration that was read. */
static int32_t make(griddep_kernel *kernel, const griddep_launch_config *config,
                    gd_launch_room *room, gd_launch *launch, griddep_error *error)
{
    const shape grid = read_shape(config->grid), block = read_shape(config->block);
    const bool clustered = config->cluster[0] || config->cluster[1] || config->cluster[2];
    int32_t status;

    if (!fits(&grid, kernel->runtime->limits.grid))
        return beyond(kernel, "grid", &grid, kernel->runtime->limits.grid, error);
    launch->attribute_count = 0;
    launch->attributes = room->attributes;
    status = check_block(kernel, &block, error);
    if (!status && clustered)
        add_cluster(launch, read_shape(config->cluster).size);
    if (!status && config->attribute_count)
        status = add_attributes(kernel, config, launch, error);
    if (!status)
        status = check_shared(kernel, config->shared_bytes, error);
    if (status)
        return status;
    launch->lane = config->lane;
    launch->said = config->pdl;
    launch->pdl = config->pdl == GRIDDEP_PDL_DEFAULT ? kernel->runtime->pdl : config->pdl;
    launch->config = (gd_CUlaunchConfig){.gridDimX = grid.size[0],
                                         .gridDimY = grid.size[1],
                                         .gridDimZ = grid.size[2],
                                         .blockDimX = block.size[0],
                                         .blockDimY = block.size[1],
                                         .blockDimZ = block.size[2],
                                         .sharedMemBytes = config->shared_bytes,
                                         .hStream = config->stream};
    return launch->attribute_count || kernel->required_cluster[0]
               ? gd_attribute_check(kernel, launch, error)
               : GRIDDEP_OK;
}

/* A configuration of this version is read where it is. */
int32_t gd_launch_make(griddep_kernel *kernel, const griddep_launch_config *given,
                       gd_launch_room *room, gd_launch *launch, griddep_error *error)
{
    griddep_launch_config own;
    const bool same = given && given->size == sizeof own;
    int32_t status = same ? check_config(given, error) : gd_launch_read_config(&own, given, error);

    return status ? status : make(kernel, same ? given : &own, room, launch, error);
}

const gd_CUlaunchAttributeValue *gd_launch_find_attribute(const gd_launch *launch, int32_t id)
{
    for (uint32_t i = 0; i < launch->attribute_count; i++) {
        if (launch->attributes[i].id == id)
            return &launch->attributes[i].value;
    }
    return NULL;
}

int32_t gd_launch_decide(const griddep_kernel *kernel, int32_t pdl)
{
    return gd_early_decide(kernel->runtime, kernel->info.traits, pdl, GD_EARLY_LAUNCH);
}

/* ---- arguments ---- */

static int32_t refuse_argument(const griddep_kernel *kernel, const griddep_argument *argument,
                               uint32_t index, griddep_error *error)
{
    const griddep_parameter_info *parameter = &kernel->parameters[index];

    if (argument->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "arguments[%" PRIu32 "].kind is no GRIDDEP_ARGUMENT_*", index);
    gd_error_set(error, GRIDDEP_ERROR_SIGNATURE, "kernel %s: argument %" PRIu32, kernel->name,
                 index);
    if (parameter->name)
        gd_error_append(error, " (%s)", parameter->name);
    if (argument->bytes == parameter->bytes)
        gd_error_append(error, " has %" PRIu32 " bytes but data is NULL; value holds 8",
                        argument->bytes);
    else
        gd_error_append(error, " has %" PRIu32 " bytes, the parameter has %" PRIu32,
                        argument->bytes, parameter->bytes);
    return GRIDDEP_ERROR_SIGNATURE;
}

static int32_t refuse_arguments(const griddep_kernel *kernel, const griddep_argument *arguments,
                                uint32_t count, griddep_error *error)
{
    if (!kernel->info.parameters_known)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "neither PTX nor driver tell the parameters of kernel %s; "
                            "griddep_launch_packed can launch it",
                            kernel->name);
    if (count != kernel->info.parameter_count)
        return gd_error_set(error, GRIDDEP_ERROR_SIGNATURE,
                            "kernel %s takes %" PRIu32 " %s, %" PRIu32 " %s given", kernel->name,
                            kernel->info.parameter_count,
                            gd_plural(kernel->info.parameter_count, "argument", "arguments"), count,
                            gd_plural(count, "is", "are"));
    if (count && !arguments)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "arguments is NULL");
    return GRIDDEP_OK;
}

int32_t gd_launch_point_many(const griddep_kernel *kernel, const griddep_argument *arguments,
                             uint32_t count, void **few, void ***pointers, griddep_error *error)
{
    int32_t status = refuse_arguments(kernel, arguments, count, error);

    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        const griddep_argument *argument = &arguments[i];
        if (argument->bytes != kernel->argument_bytes[i] || argument->reserved ||
            (!argument->data && argument->bytes > sizeof argument->value))
            return refuse_argument(kernel, argument, i, error);
    }
    *pointers = count > GD_KERNEL_FEW ? malloc(count * sizeof(void *)) : few;
    if (!*pointers)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count; i++)
        (*pointers)[i] = (void *)(uintptr_t)gd_launch_argument_data(&arguments[i]);
    return GRIDDEP_OK;
}

/* ---- launching ---- */

/* The emulated driver refuses a kernel by the line of its PTX, which is a place in the kernel's
 * module. */
static void place_refusal(const griddep_kernel *kernel, gd_CUresult result, griddep_error *error)
{
    const char *line =
        error && result == GD_CUDA_ERROR_NOT_SUPPORTED ? strstr(error->text, ": line ") : NULL;

    if (!line || !kernel->module || !kernel->module->ptx)
        return;
    error->line = (int32_t)strtol(line + strlen(": line "), NULL, 10);
    gd_error_set_file(error, kernel->module->name);
}

static int32_t refuse_launch(const griddep_kernel *kernel, const gd_launch *launch,
                             gd_CUstream stream, gd_CUresult result, griddep_error *error)
{
    const gd_CUlaunchConfig *config = &launch->config;
    int32_t status = gd_driver_fail(
        kernel->runtime->driver, result, error,
        "launch of kernel %s, grid %u x %u x %u, block %u x %u x %u, %u bytes of shared memory",
        kernel->name, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
        config->blockDimY, config->blockDimZ, config->sharedMemBytes);

    place_refusal(kernel, result, error);
    for (uint32_t i = 0; i < launch->attribute_count; i++) {
        char name[64];
        gd_attribute_name(launch->attributes[i].id, name, sizeof name);
        gd_error_append(error, "%s %s", i ? "," : "; with", name);
    }
    gd_attribute_explain(kernel, launch, result, error);
    return gd_runtime_blame_stream(kernel->runtime, stream, status, error);
}

static void add_attribute(gd_launch_given *given, const gd_CUlaunchAttribute *attribute)
{
    given->attributes[given->config.numAttrs++] = *attribute;
}

void gd_launch_give(const griddep_runtime *runtime, const gd_launch *launch, int32_t pdl,
                    bool dependent, gd_CUstream stream, gd_CUevent event, gd_launch_given *given)
{
    const gd_CUlaunchAttribute serialization = {
        .id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value = {.programmaticStreamSerializationAllowed = 1}};
    const gd_CUlaunchAttribute trigger = {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                          .value = {.programmaticEvent = {.event = event}}};

    given->config = launch->config;
    given->config.hStream = stream;
    given->config.attrs = given->attributes;
    given->config.numAttrs = 0;
    given->off = pdl == GRIDDEP_PDL_OFF;
    given->late_count = 0;
    if (dependent)
        add_attribute(given, &serialization);
    for (uint32_t i = 0; i < launch->attribute_count; i++) {
        gd_early how;
        gd_CUevent recorded = gd_event_of(&launch->attributes[i], &how);
        if (recorded && gd_early_obstacle(runtime, pdl, how) != GRIDDEP_REASON_FORCED)
            given->late[given->late_count++] = recorded;
        else
            add_attribute(given, &launch->attributes[i]);
    }
    if (event)
        add_attribute(given, &trigger);
}

static int32_t record_late(const griddep_kernel *kernel, const gd_launch_given *given,
                           griddep_error *error)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (uint32_t i = 0; i < given->late_count && result == GD_CUDA_SUCCESS; i++)
        result = kernel->runtime->driver->cuEventRecord(given->late[i], given->config.hStream);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(kernel->runtime->driver, result, error,
                                "kernel %s was launched; recording its event after it",
                                kernel->name);
}

int32_t gd_launch_submit(const griddep_kernel *kernel, const gd_launch *launch,
                         gd_launch_given *given, void **pointers, void **extra,
                         griddep_error *error)
{
    griddep_runtime *runtime = kernel->runtime;
    const bool noted =
        given->off && gd_early_switch(runtime, GRIDDEP_PDL_AUTO) == GRIDDEP_REASON_FORCED;
    int32_t status = noted ? gd_capture_reserve(runtime, given->config.hStream, error) : GRIDDEP_OK;

    if (status)
        return status;
    gd_CUresult result =
        runtime->driver->cuLaunchKernelEx(&given->config, kernel->function, pointers, extra);
    if (result != GD_CUDA_SUCCESS)
        return refuse_launch(kernel, launch, given->config.hStream, result, error);
    if (noted)
        status = gd_capture_note_off(runtime, given->config.hStream, error);
    return status ? status : record_late(kernel, given, error);
}

/* The handle of a device-updatable node goes where its attribute tells. */
static void return_node(const griddep_launch_config *config, const gd_launch_given *made)
{
    gd_CUlaunchAttributeValue asked;

    for (uint32_t i = 0; i < config->attribute_count; i++) {
        const griddep_attribute *given = &config->attributes[i];
        memcpy(&asked, given->value, sizeof asked);
        void **node = (void **)asked.deviceUpdatableKernelNode.devNode;
        if (given->id != GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE || !node ||
            !asked.deviceUpdatableKernelNode.deviceUpdatable)
            continue;
        for (uint32_t k = 0; k < made->config.numAttrs; k++) {
            if (made->attributes[k].id == given->id)
                *node = made->attributes[k].value.deviceUpdatableKernelNode.devNode;
        }
    }
}

/* The arguments are `pointers`, or packed in `extra`; `each` points to every one either way, where
 * the kernel has conditions. */
static int32_t launch(griddep_kernel *kernel, const griddep_launch_config *config, void **pointers,
                      void **extra, void *const *each, int32_t *reason, griddep_error *error)
{
    gd_launch_room room;
    gd_launch made;
    bool pushed;
    int32_t status = gd_runtime_enter(kernel->runtime, &pushed, error);

    if (status)
        return status;
    status = gd_launch_make(kernel, config, &room, &made, error);
    if (!status && made.lane)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "kernel %s: lane %" PRIu32 "; only a launch in a chain has one",
                              kernel->name, made.lane);
    if (!status)
        status = gd_require_check(kernel, &made, each, error);
    if (!status) {
        gd_launch_given given;
        int32_t decision = gd_launch_decide(kernel, made.pdl);
        gd_launch_give(kernel->runtime, &made, made.pdl, decision <= GRIDDEP_REASON_FORCED,
                       made.config.hStream, NULL, &given);
        status = gd_launch_submit(kernel, &made, &given, pointers, extra, error);
        if (!status && reason)
            *reason = decision;
        if (!status && made.attribute_count)
            return_node(config, &given);
        gd_hold_launched(
            kernel->module,
            made.config.hStream); /* it may have been launched also where that failed */
    }
    gd_runtime_leave(kernel->runtime, pushed);
    return status;
}

static int32_t check_launch(const griddep_kernel *kernel, const griddep_launch_config *config,
                            griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    return kernel && config ? GRIDDEP_OK
                            : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                                           kernel ? "config" : "kernel");
}

int32_t griddep_launch(griddep_kernel *kernel, const griddep_launch_config *config,
                       const griddep_argument *arguments, uint32_t argument_count, int32_t *reason,
                       griddep_error *error)
{
    void *few[GD_KERNEL_FEW];
    void **pointers;
    int32_t status = check_launch(kernel, config, error);

    if (!status)
        status = gd_launch_point(kernel, arguments, argument_count, few, &pointers, error);
    if (status)
        return status;
    status = launch(kernel, config, pointers, NULL, pointers, reason, error);
    if (pointers != few)
        free(pointers);
    return status;
}

int32_t griddep_launch_packed(griddep_kernel *kernel, const griddep_launch_config *config,
                              const void *arguments, uint64_t bytes, int32_t *reason,
                              griddep_error *error)
{
    int32_t status = check_launch(kernel, config, error);

    if (status)
        return status;
    uint64_t exact = kernel->info.parameter_bytes;
    uint64_t padded = (exact + kernel->parameter_alignment - 1) / kernel->parameter_alignment *
                      kernel->parameter_alignment;
    if (kernel->info.parameters_known && bytes != exact && bytes != padded)
        return gd_error_set(error, GRIDDEP_ERROR_SIGNATURE,
                            "kernel %s takes %" PRIu64 " bytes of packed arguments, %" PRIu64
                            " are given",
                            kernel->name, exact, bytes);
    if (!arguments && bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "arguments is NULL");
    size_t length = (size_t)(kernel->info.parameters_known ? exact : bytes);
    void *extra[] = {GD_CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)arguments,
                     GD_CU_LAUNCH_PARAM_BUFFER_SIZE, &length, GD_CU_LAUNCH_PARAM_END};
    void *few[GD_KERNEL_FEW], **each = few;
    uint32_t count = kernel->terms ? kernel->info.parameter_count : 0;
    if (count > GD_KERNEL_FEW && !(each = malloc(count * sizeof *each)))
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count; i++)
        each[i] = (unsigned char *)(uintptr_t)arguments + kernel->parameters[i].offset;
    status = launch(kernel, config, NULL, length ? extra : NULL, each, reason, error);
    if (each != few)
        free(each);
    return status;
}
