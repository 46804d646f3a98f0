/* Kept launches. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/call.h"
#include "run/module/module.h"
#include "run/launch/require.h"

/* One piece of memory has all that a change of arguments touches. */
static gd_call *allocate(griddep_kernel *kernel)
{
    const size_t count = (size_t)kernel->info.parameter_count;
    const size_t packed = (sizeof(gd_call) + count * sizeof(void *) + 15) / 16 * 16;
    gd_call *call = calloc(1, packed + kernel->info.parameter_bytes);

    if (!call)
        return NULL;
    atomic_init(&call->references, 1u);
    call->kernel = kernel;
    call->pointers = (void **)(call + 1);
    call->packed = (unsigned char *)call + packed;
    for (uint32_t i = 0; i < count; i++)
        call->pointers[i] = call->packed + kernel->parameters[i].offset;
    gd_module_hold(kernel->module);
    return call;
}

static void pack(gd_call *call, void *const *arguments)
{
    for (uint32_t i = 0; i < call->kernel->info.parameter_count; i++)
        memcpy(call->pointers[i], arguments[i], call->kernel->argument_bytes[i]);
}

/* Keeps a launch; its attributes in as much memory as they need. */
static int32_t keep_launch(gd_call *call, const gd_launch *launch, griddep_error *error)
{
    gd_CUlaunchAttribute *attributes =
        calloc((size_t)launch->attribute_count + 1, sizeof *attributes);

    if (!attributes)
        return gd_error_memory(error);
    memcpy(attributes, launch->attributes, launch->attribute_count * sizeof *attributes);
    call->launch = *launch;
    call->launch.attributes = attributes;
    call->params = (gd_CUDA_KERNEL_NODE_PARAMS){.func = call->kernel->function,
                                                .gridDimX = launch->config.gridDimX,
                                                .gridDimY = launch->config.gridDimY,
                                                .gridDimZ = launch->config.gridDimZ,
                                                .blockDimX = launch->config.blockDimX,
                                                .blockDimY = launch->config.blockDimY,
                                                .blockDimZ = launch->config.blockDimZ,
                                                .sharedMemBytes = launch->config.sharedMemBytes,
                                                .kernelParams = call->pointers};
    return GRIDDEP_OK;
}

static int32_t configure(gd_call *call, const griddep_launch_config *config,
                         const gd_call_owner *owner, griddep_error *error)
{
    griddep_kernel *kernel = call->kernel;
    gd_launch_room room;
    gd_launch launch;
    bool pushed;
    int32_t status = gd_runtime_enter(kernel->runtime, &pushed, error);

    if (status)
        return status;
    status = gd_launch_make(kernel, config, &room, &launch, error);
    gd_runtime_leave(kernel->runtime, pushed);
    if (status)
        return status;
    if (launch.config.hStream)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s: a launch in a %s has no stream of its own; give it to %s",
                            kernel->name, owner->what, owner->where);
    if (launch.lane && !owner->lanes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s: lane %" PRIu32 "; a launch in a %s has none", kernel->name,
                            launch.lane, owner->what);
    return keep_launch(call, &launch, error);
}

static int32_t finish(gd_call *call, int32_t status, gd_call **made)
{
    if (status)
        gd_call_release(call);
    else
        *made = call;
    return status;
}

int32_t gd_call_create(griddep_kernel *kernel, const griddep_launch_config *config,
                       const griddep_argument *arguments, uint32_t argument_count,
                       const gd_call_owner *owner, gd_call **call, griddep_error *error)
{
    void *few[GD_KERNEL_FEW], **pointers;
    int32_t status = gd_launch_point(kernel, arguments, argument_count, few, &pointers, error);

    if (status)
        return status;
    gd_call *made = allocate(kernel);
    status = made ? configure(made, config, owner, error) : gd_error_memory(error);
    if (!status)
        pack(made, pointers);
    if (!status)
        status = gd_require_check(kernel, &made->launch, made->pointers, error);
    if (pointers != few)
        free(pointers);
    return finish(made, status, call);
}

int32_t gd_call_with_arguments(const gd_call *call, const griddep_argument *arguments,
                               uint32_t argument_count, gd_call **changed, griddep_error *error)
{
    void *few[GD_KERNEL_FEW], **pointers;
    int32_t status =
        gd_launch_point(call->kernel, arguments, argument_count, few, &pointers, error);

    if (status)
        return status;
    gd_call *made = allocate(call->kernel);
    status = made ? keep_launch(made, &call->launch, error) : gd_error_memory(error);
    if (!status)
        pack(made, pointers);
    if (!status)
        status = gd_require_check_arguments(made->kernel, &made->launch, made->pointers, error);
    if (pointers != few)
        free(pointers);
    return finish(made, status, changed);
}

static bool replace_bytes(void *kept, const void *with, uint64_t bytes)
{
    const bool other = memcmp(kept, with, bytes);

    if (other) /* else they may be the same memory */
        memcpy(kept, with, bytes);
    return other;
}

/* Whether some are other ones. Most have eight bytes or four. */
static inline bool replace(void *const *kept, void *const *with, const uint64_t *bytes,
                           uint32_t count)
{
    uint64_t differs = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t old = 0, new = 0;
        switch (bytes[i]) {
        case 8:
            memcpy(&old, kept[i], 8);
            memcpy(&new, with[i], 8);
            memcpy(kept[i], &new, 8);
            break;
        case 4:
            memcpy(&old, kept[i], 4);
            memcpy(&new, with[i], 4);
            memcpy(kept[i], &new, 4);
            break;
        default:
            new = replace_bytes(kept[i], with[i], bytes[i]);
        }
        differs |= old ^ new;
    }
    return differs != 0;
}

int32_t gd_call_change(gd_call *call, const griddep_argument *arguments, uint32_t argument_count,
                       bool *changed, griddep_error *error)
{
    void *few[GD_KERNEL_FEW], **pointers;
    const griddep_kernel *kernel = call->kernel;
    int32_t status = gd_launch_point(kernel, arguments, argument_count, few, &pointers, error);

    if (status)
        return status;
    status = gd_require_check_arguments(kernel, &call->launch, pointers, error);
    *changed = !status && replace(call->pointers, pointers, kernel->argument_bytes, argument_count);
    if (pointers != few)
        free(pointers);
    return status;
}

static void copy_arguments(gd_call *made, const gd_call *call)
{
    memcpy(made->packed, call->packed, (size_t)call->kernel->info.parameter_bytes);
}

int32_t gd_call_with_config(const gd_call *call, const griddep_launch_config *config,
                            const gd_call_owner *owner, gd_call **changed, griddep_error *error)
{
    gd_call *made = allocate(call->kernel);

    if (!made)
        return gd_error_memory(error);
    int32_t status = configure(made, config, owner, error);
    if (!status)
        copy_arguments(made, call);
    if (!status)
        status = gd_require_check(made->kernel, &made->launch, made->pointers, error);
    return finish(made, status, changed);
}

griddep_launch_config gd_call_config(const gd_call *call)
{
    const gd_launch *launch = &call->launch;
    const gd_CUlaunchConfig *from = &launch->config;
    _Static_assert(sizeof(griddep_attribute) == sizeof *launch->attributes,
                   "both are CUlaunchAttribute");

    const bool clustered = launch->attribute_count &&
                           launch->attributes[0].id == GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {from->gridDimX, from->gridDimY, from->gridDimZ},
                                    .block = {from->blockDimX, from->blockDimY, from->blockDimZ},
                                    .shared_bytes = from->sharedMemBytes,
                                    .pdl = launch->said,
                                    .attribute_count = launch->attribute_count - clustered,
                                    .attributes =
                                        (const griddep_attribute *)launch->attributes + clustered,
                                    .lane = launch->lane};

    if (clustered) {
        config.cluster[0] = launch->attributes[0].value.clusterDim.x;
        config.cluster[1] = launch->attributes[0].value.clusterDim.y;
        config.cluster[2] = launch->attributes[0].value.clusterDim.z;
    }
    return config;
}

int32_t gd_call_with_kernel(const gd_call *call, griddep_kernel *kernel,
                            const griddep_launch_config *config, gd_call **changed,
                            griddep_error *error)
{
    static const gd_call_owner nobody = {"chain", "griddep_chain_run", true};
    const griddep_launch_config same = gd_call_config(call);
    gd_call *made = allocate(kernel);

    if (!made)
        return gd_error_memory(error);
    int32_t status = configure(made, config ? config : &same, &nobody, error);
    if (!status)
        copy_arguments(made, call);
    if (!status)
        status = gd_require_check(kernel, &made->launch, made->pointers, error);
    return finish(made, status, changed);
}

gd_call *gd_call_hold(gd_call *call)
{
    atomic_fetch_add_explicit(&call->references, 1u, memory_order_relaxed);
    return call;
}

void gd_call_release(gd_call *call)
{
    if (!call || atomic_fetch_sub_explicit(&call->references, 1u, memory_order_acq_rel) != 1)
        return;
    gd_module_release(call->kernel->module);
    free(call->launch.attributes);
    free(call);
}

bool gd_call_same_attributes(const gd_call *a, const gd_call *b)
{
    uint32_t count = a->launch.attribute_count;

    return count == b->launch.attribute_count && !memcmp(a->launch.attributes, b->launch.attributes,
                                                         count * sizeof *a->launch.attributes);
}
