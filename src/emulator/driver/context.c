/* Contexts: the primary one and others, and the entry points cuCtx* and cuDevicePrimaryCtx*. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/driver/module.h"
#include "emulator/machine/report.h"
#include "emulator/schedule/executable.h"
#include "emulator/schedule/ownership.h"
#include "emulator/driver/green.h"
#include "emulator/driver/stream.h"

enum { API_VERSION = 13000 };

/* ---- ending ---- */

/* What holds on to others goes first: executables and events before streams, functions with their
 * modules. */
static void end_objects(gd_context *context, gd_object_kind kind)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->context != context || object->kind != kind)
            continue;
        switch (kind) {
        case GD_OBJECT_EXECUTABLE:
            gd_executable_destroy((gd_executable *)object);
            break;
        case GD_OBJECT_EVENT:
            gd_event_destroy((gd_event *)object);
            break;
        case GD_OBJECT_STREAM:
            gd_stream_destroy((gd_stream *)object);
            break;
        case GD_OBJECT_GREEN:
            gd_green_destroy((gd_green *)object);
            break;
        case GD_OBJECT_MODULE:
            gd_module_discard((gd_module *)object);
            break;
        case GD_OBJECT_LINK:
            gd_link_destroy(object);
            break;
        case GD_OBJECT_POOL:
            gd_object_remove(object);
            free(object);
            break;
        default:
            break;
        }
    }
}

/* Nobody reaches its memory any more, and it reaches nobody's. */
static void end_peers(gd_context *context)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_CONTEXT)
            gd_owner_remove_peer(&((gd_context *)object)->owner, &context->owner);
    }
    free(context->owner.peers);
}

/* Work that was handed in is finished first; after a fault there is none. */
void gd_context_destroy(gd_context *context)
{
    static const gd_object_kind order[] = {GD_OBJECT_EXECUTABLE, GD_OBJECT_EVENT,  GD_OBJECT_GREEN,
                                           GD_OBJECT_STREAM,     GD_OBJECT_MODULE, GD_OBJECT_LINK,
                                           GD_OBJECT_POOL};

    gd_schedule_drain(context);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        end_objects(context, order[i]);
    gd_ownership_end(context);
    gd_heap_end(&context->heap, context->fault ? NULL : gd_report_leak);
    end_peers(context);
    gd_object_remove(&context->object);
    free(context);
}

/* ---- making ---- */

static gd_context *create_context(gd_device *device, unsigned flags, bool primary)
{
    gd_context *context = calloc(1, sizeof *context);

    if (!context || !gd_object_add(&context->object, GD_OBJECT_CONTEXT, NULL)) {
        free(context);
        return NULL;
    }
    context->device = device;
    context->owner = (gd_owner){.bank = &device->bank};
    context->flags = flags;
    context->primary = primary;
    context->id = ++gd_the_emulator.next_id;
    context->limits[GD_CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[GD_CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[GD_CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->heap = (gd_heap){.memory = gd_the_emulator.memory,
                              .owner = &context->owner,
                              .limit = context->limits[GD_CU_LIMIT_MALLOC_HEAP_SIZE]};
    return context;
}

/* ---- the current one ---- */

gd_CUresult gd_cuCtxSetCurrent(gd_CUcontext handle)
{
    if (handle && !gd_context_find(handle))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    gd_context_pop(NULL);
    return handle ? gd_context_push(handle) : GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxGetCurrent(gd_CUcontext *handle)
{
    if (!handle)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *handle = gd_context_handle();
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxCreate_v2(gd_CUcontext *handle, unsigned int flags, gd_CUdevice number)
{
    gd_device *device = gd_device_find(number);

    if (!handle || flags & ~(unsigned)GD_CU_CTX_FLAGS_MASK)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    gd_context *context = create_context(device, flags, false);
    if (!context)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = gd_context_push(context->object.handle);
    if (result == GD_CUDA_SUCCESS)
        *handle = context->object.handle;
    else
        gd_context_destroy(context);
    return result;
}

gd_CUresult gd_cuCtxDestroy_v2(gd_CUcontext handle)
{
    gd_context *context = gd_object_find(handle, GD_OBJECT_CONTEXT);

    if (!context || context->primary)
        return handle ? GD_CUDA_ERROR_INVALID_CONTEXT : GD_CUDA_ERROR_INVALID_VALUE;
    gd_context_destroy(context);
    if (gd_context_handle() == handle)
        gd_context_pop(NULL);
    return GD_CUDA_SUCCESS;
}

/* ---- the primary context ---- */

gd_CUresult gd_context_retain(gd_CUcontext *handle, gd_CUdevice number)
{
    gd_device *device = gd_device_find(number);

    if (!handle)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (!device->primary)
        device->primary = create_context(device, device->primary_flags, true);
    if (!device->primary)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    device->primary_retains++;
    *handle = device->primary->object.handle;
    return GD_CUDA_SUCCESS;
}

static void end_primary(gd_device *device)
{
    if (device->primary)
        gd_context_destroy(device->primary);
    device->primary = NULL;
}

static gd_CUresult release(gd_device *device, gd_CUresult without_retain)
{
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (!device->primary_retains)
        return without_retain;
    if (--device->primary_retains == 0)
        end_primary(device);
    return GD_CUDA_SUCCESS;
}

void gd_context_give_back(gd_device *device)
{
    release(device, GD_CUDA_SUCCESS);
}

/* The retains stay: the next one that is given back finds no context, and a new retain makes
 * one. */
static gd_CUresult reset(gd_device *device)
{
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    end_primary(device);
    return GD_CUDA_SUCCESS;
}

static bool has_primary(const gd_device *device)
{
    return device && device->primary;
}

static gd_CUresult set_flags(gd_device *device, unsigned flags)
{
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (flags & ~(unsigned)GD_CU_CTX_FLAGS_MASK)
        return GD_CUDA_ERROR_INVALID_VALUE;
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult get_state(const gd_device *device, unsigned *flags, int *active)
{
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *flags = device->primary_flags;
    *active = device->primary != NULL;
    return GD_CUDA_SUCCESS;
}

/* ---- peers ---- */

gd_CUresult gd_cuCtxEnablePeerAccess(gd_CUcontext handle, unsigned int flags)
{
    gd_context *context = gd_call_context();
    const gd_context *peer = gd_context_find(handle);

    if (flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!peer || peer == context)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (!gd_device_is_peer(context->device, peer->device))
        return GD_CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (gd_owner_is_peer(&context->owner, &peer->owner))
        return GD_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    return gd_owner_add_peer(&context->owner, &peer->owner) ? GD_CUDA_SUCCESS
                                                            : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

/* What has been handed in before still has the access. */
gd_CUresult gd_cuCtxDisablePeerAccess(gd_CUcontext handle)
{
    gd_context *context = gd_call_context();
    const gd_context *peer = gd_context_find(handle);

    if (!peer)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (!gd_owner_is_peer(&context->owner, &peer->owner))
        return GD_CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    gd_schedule_drain(context);
    peer = gd_context_find(handle); /* host functions have run */
    if (peer)
        gd_owner_remove_peer(&context->owner, &peer->owner);
    return context->fault;
}

/* ---- facts ---- */

static gd_context *choose(gd_context *current, gd_CUcontext handle)
{
    return handle ? gd_context_find(handle) : current;
}

static gd_CUresult synchronize(gd_context *context)
{
    gd_CUresult result = GD_CUDA_SUCCESS;
    uint32_t place = 0;

    if (!context)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    for (gd_object *object; (object = gd_object_next(&place));) {
        gd_stream *stream = (gd_stream *)object;
        if (object->kind != GD_OBJECT_STREAM || object->context != context ||
            !gd_capture_is_active(stream))
            continue;
        gd_capture_invalidate(stream->capture);
        result = GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result == GD_CUDA_SUCCESS) {
        gd_schedule_drain(context);
        result = context->fault;
    }
    return result;
}

static gd_CUresult get_device(const gd_context *context, gd_CUdevice *device)
{
    if (!context)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (!device)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *device = context->device->number;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxGetApiVersion(gd_CUcontext handle, unsigned int *version)
{
    const gd_context *context = choose(gd_call_context(), handle);

    if (!context || !version)
        return context ? GD_CUDA_ERROR_INVALID_VALUE : GD_CUDA_ERROR_INVALID_CONTEXT;
    *version = API_VERSION;
    return GD_CUDA_SUCCESS;
}

/* The green context that a handle names, or that is current where it names none. */
static const gd_green *choose_green(gd_CUcontext handle)
{
    return gd_object_find(handle ? handle : gd_context_handle(), GD_OBJECT_GREEN);
}

gd_CUresult gd_cuCtxGetId(gd_CUcontext handle, unsigned long long *id)
{
    const gd_context *context = choose(gd_call_context(), handle);
    const gd_green *green = choose_green(handle);

    if (!context || !id)
        return context ? GD_CUDA_ERROR_INVALID_VALUE : GD_CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *id = green ? green->id : context->id;
    return GD_CUDA_SUCCESS;
}

/* Each context that is not green has the whole device. */
gd_CUresult gd_cuCtxGetDevResource(gd_CUcontext handle, gd_CUdevResource *resource,
                                   gd_CUdevResourceType type)
{
    const gd_context *context = choose(gd_call_context(), handle);
    const gd_green *green = choose_green(handle);
    const gd_part whole = {0, gd_the_emulator.settings.multiprocessors};

    return context ? gd_green_tell(green ? green->part : whole, resource, type)
                   : GD_CUDA_ERROR_INVALID_CONTEXT;
}

gd_CUresult gd_cuCtxGetFlags(unsigned int *flags)
{
    const gd_context *context = gd_call_context();

    if (!flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxGetLimit(size_t *value, int32_t limit)
{
    const gd_context *context = gd_call_context();

    if (!value || limit < 0 || limit >= GD_CU_LIMIT_COUNT)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *value = context->limits[limit];
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxSetLimit(int32_t limit, size_t value)
{
    gd_context *context = gd_call_context();

    if (limit < 0 || limit >= GD_CU_LIMIT_COUNT)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (limit > GD_CU_LIMIT_MALLOC_HEAP_SIZE)
        return GD_CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (limit == GD_CU_LIMIT_MALLOC_HEAP_SIZE && context->heap.began)
        return GD_CUDA_ERROR_INVALID_VALUE;
    context->limits[limit] = value;
    if (limit == GD_CU_LIMIT_MALLOC_HEAP_SIZE)
        context->heap.limit = value;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = GD_DEVICE_LOWEST_PRIORITY;
    if (greatest)
        *greatest = GD_DEVICE_GREATEST_PRIORITY;
    return GD_CUDA_SUCCESS;
}

/* A preference that is kept and told, and changes nothing. */
gd_CUresult gd_cuCtxGetCacheConfig(int32_t *configuration)
{
    const gd_context *context = gd_call_context();

    if (!configuration)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *configuration = context->cache;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxSetCacheConfig(int32_t configuration)
{
    gd_context *context = gd_call_context();

    if (configuration < 0 || configuration > 3)
        return GD_CUDA_ERROR_INVALID_VALUE;
    context->cache = configuration;
    return GD_CUDA_SUCCESS;
}

/* ---- entry points ---- */

gd_CUresult gd_cuDevicePrimaryCtxRetain(gd_CUcontext *context_handle, gd_CUdevice device)
{
    return gd_context_retain(context_handle, device);
}

/* The first version lets a release without a retain pass, as NVIDIA's driver does. */
gd_CUresult gd_cuDevicePrimaryCtxRelease(gd_CUdevice device)
{
    return release(gd_device_find(device), GD_CUDA_SUCCESS);
}

gd_CUresult gd_cuDevicePrimaryCtxRelease_v2(gd_CUdevice device)
{
    return release(gd_device_find(device), GD_CUDA_ERROR_INVALID_CONTEXT);
}

gd_CUresult gd_cuDevicePrimaryCtxReset(gd_CUdevice device)
{
    return reset(gd_device_find(device));
}

gd_CUresult gd_cuDevicePrimaryCtxReset_v2(gd_CUdevice device)
{
    return reset(gd_device_find(device));
}

/* The first version changes nothing under a context that is there. */
gd_CUresult gd_cuDevicePrimaryCtxSetFlags(gd_CUdevice device, unsigned int flags)
{
    return has_primary(gd_device_find(device)) ? GD_CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
                                               : set_flags(gd_device_find(device), flags);
}

gd_CUresult gd_cuDevicePrimaryCtxSetFlags_v2(gd_CUdevice device, unsigned int flags)
{
    return set_flags(gd_device_find(device), flags);
}

gd_CUresult gd_cuDevicePrimaryCtxGetState(gd_CUdevice device, unsigned int *flags, int *active)
{
    return get_state(gd_device_find(device), flags, active);
}

gd_CUresult gd_cuCtxCreate_v3(gd_CUcontext *context_handle, gd_CUexecAffinityParam *affinities,
                              int count, unsigned int flags, gd_CUdevice device)
{
    return affinities || count ? gd_device_unsupported("execution affinity in cuCtxCreate_v3")
                               : gd_cuCtxCreate_v2(context_handle, flags, device);
}

gd_CUresult gd_cuCtxCreate_v4(gd_CUcontext *context_handle, gd_CUctxCreateParams *asked,
                              unsigned int flags, gd_CUdevice device)
{
    return asked && (asked->execAffinityParams || asked->numExecAffinityParams || asked->cigParams)
               ? gd_device_unsupported("parameters of cuCtxCreate_v4")
               : gd_cuCtxCreate_v2(context_handle, flags, device);
}

gd_CUresult gd_cuCtxPushCurrent_v2(gd_CUcontext context_handle)
{
    return gd_context_push(context_handle);
}

gd_CUresult gd_cuCtxPopCurrent_v2(gd_CUcontext *context_handle)
{
    return gd_context_pop(context_handle);
}

gd_CUresult gd_cuCtxGetDevice(gd_CUdevice *device)
{
    return get_device(gd_call_context(), device);
}

gd_CUresult gd_cuCtxGetDevice_v2(gd_CUdevice *device, gd_CUcontext handle)
{
    return get_device(choose(gd_call_context(), handle), device);
}

gd_CUresult gd_cuCtxSynchronize(void)
{
    return synchronize(gd_call_context());
}

gd_CUresult gd_cuCtxSynchronize_v2(gd_CUcontext handle)
{
    return synchronize(choose(gd_call_context(), handle));
}

/* There is no profiler to start or to stop. */
gd_CUresult gd_cuProfilerStart(void)
{
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuProfilerStop(void)
{
    return GD_CUDA_SUCCESS;
}
