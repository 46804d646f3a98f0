/* Parts of a device and the green contexts that are made of them: cuDev*Resource*, cuGreenCtx*. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/driver/green.h"
#include "emulator/driver/stream.h"

/* A device with few multiprocessors is split one by one, a larger one as an H200 is. */
enum {
    FINE = 16,
    COARSE_SIZE = 8,
    LARGE_CLUSTERS = 2, /* CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE */
    ANY_SIZE = 1,       /* CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING: pairs */
};

/* ---- resources ---- */

/* What the resource's own bytes say: where the part begins, and that it comes of a split. */
typedef struct inside {
    uint32_t first, split;
} inside;

static uint32_t count_all(void)
{
    return gd_the_emulator.settings.multiprocessors;
}

static uint32_t grain(void)
{
    return count_all() < FINE ? 1 : COARSE_SIZE;
}

static gd_CUdevResource make_resource(gd_part part, bool split)
{
    const inside own = {part.first, split};
    gd_CUdevResource resource = {.type = part.count ? GD_CU_DEV_RESOURCE_TYPE_SM : 0};

    if (!part.count)
        return resource;
    resource.sm = (gd_CUdevSmResource){part.count, grain(), grain()};
    memcpy(resource.internal, &own, sizeof own);
    return resource;
}

gd_CUresult gd_green_tell(gd_part part, gd_CUdevResource *resource, int32_t type)
{
    if (!resource)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (type != GD_CU_DEV_RESOURCE_TYPE_SM)
        return GD_CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *resource = make_resource(part, false);
    return GD_CUDA_SUCCESS;
}

/* What a program hands in may be anything. */
static gd_CUresult read_resource(const gd_CUdevResource *resource, gd_part *part, bool *split)
{
    inside own;

    if (resource->type != GD_CU_DEV_RESOURCE_TYPE_SM)
        return GD_CUDA_ERROR_INVALID_RESOURCE_TYPE;
    memcpy(&own, resource->internal, sizeof own);
    *part = (gd_part){own.first, resource->sm.smCount};
    *split = own.split;
    return part->count && part->count <= count_all() && part->first <= count_all() - part->count
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
}

gd_CUresult gd_cuDeviceGetDevResource(gd_CUdevice device, gd_CUdevResource *resource,
                                      gd_CUdevResourceType type)
{
    if (!resource)
        return GD_CUDA_ERROR_INVALID_VALUE;
    return gd_device_find(device) ? gd_green_tell((gd_part){0, count_all()}, resource, type)
                                  : GD_CUDA_ERROR_INVALID_DEVICE;
}

/* As many multiprocessors as a part of at least so many has. */
static uint32_t round_up(uint32_t least, uint32_t all, unsigned flags)
{
    const uint32_t step = flags & ANY_SIZE && grain() > 2 ? 2 : grain();
    const uint32_t smallest = flags & ANY_SIZE && grain() > 4 ? 4 : grain();
    const uint32_t size = least <= smallest ? smallest : (least + step - 1) / step * step;

    return size < all ? size : all;
}

static gd_CUresult split(gd_CUdevResource *parts, unsigned *count, const gd_CUdevResource *input,
                         gd_CUdevResource *rest, unsigned flags, unsigned least)
{
    gd_part whole;
    bool again;

    if (!count || !input || (flags & ANY_SIZE && flags & LARGE_CLUSTERS) || (parts && !*count))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = read_resource(input, &whole, &again);
    if (result != GD_CUDA_SUCCESS)
        return result;
    if (again || least > whole.count)
        return GD_CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const uint32_t size = round_up(least, whole.count, flags), most = whole.count / size;
    const uint32_t made = parts && *count < most ? *count : most;
    for (uint32_t i = 0; parts && i < made; i++)
        parts[i] = make_resource((gd_part){whole.first + i * size, size}, true);
    if (rest)
        *rest =
            make_resource((gd_part){whole.first + made * size, whole.count - made * size}, true);
    *count = made;
    return GD_CUDA_SUCCESS;
}

/* ---- descriptors: a part as a number, so that nothing has to be ended ---- */

#define DESCRIPTOR_MARK UINT64_C(0x4744)

static gd_CUdevResourceDesc make_descriptor(gd_part part)
{
    return (gd_CUdevResourceDesc)(uintptr_t)(DESCRIPTOR_MARK << 48 | (uint64_t)part.first << 24 |
                                             (uint64_t)part.count << 4);
}

static bool read_descriptor(gd_CUdevResourceDesc descriptor, gd_part *part)
{
    const uint64_t value = (uintptr_t)descriptor;

    *part = (gd_part){(uint32_t)(value >> 24 & 0xffff), (uint32_t)(value >> 4 & 0xffff)};
    return value >> 48 == DESCRIPTOR_MARK && part->count && part->first < count_all() &&
           part->count <= count_all() - part->first;
}

gd_CUresult gd_cuDevResourceGenerateDesc(gd_CUdevResourceDesc *descriptor,
                                         gd_CUdevResource *resources, unsigned int count)
{
    gd_part all = {0}, part;
    bool again;

    if (!descriptor || !resources || !count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        gd_CUresult result = read_resource(&resources[i], &part, &again);
        if (result != GD_CUDA_SUCCESS)
            return result;
        if (!i)
            all = part;
        else if (part.first == all.first + all.count)
            all.count += part.count;
        else if (part.first != all.first || part.count != all.count)
            return gd_device_unsupported("a descriptor of parts that do not follow each other");
    }
    *descriptor = make_descriptor(all);
    return GD_CUDA_SUCCESS;
}

/* ---- contexts ---- */

gd_CUresult gd_cuGreenCtxCreate(gd_CUgreenCtx *handle, gd_CUdevResourceDesc descriptor,
                                gd_CUdevice number, unsigned int flags)
{
    gd_device *device = gd_device_find(number);
    gd_part part = {0, count_all()};
    gd_CUcontext primary;

    if (!handle || flags != GD_CU_GREEN_CTX_DEFAULT_STREAM)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (descriptor && !read_descriptor(descriptor, &part))
        return GD_CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    gd_green *green = calloc(1, sizeof *green);
    if (!green)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = gd_context_retain(&primary, number);
    if (result == GD_CUDA_SUCCESS &&
        !gd_object_add(&green->object, GD_OBJECT_GREEN, device->primary)) {
        gd_context_give_back(device);
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != GD_CUDA_SUCCESS) {
        free(green);
        return result;
    }
    green->part = part;
    green->id = ++gd_the_emulator.next_id;
    *handle = green->object.handle;
    return GD_CUDA_SUCCESS;
}

void gd_green_destroy(gd_green *green)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_STREAM && ((gd_stream *)object)->green == green)
            gd_stream_destroy((gd_stream *)object);
    }
    gd_task_release(green->gate);
    gd_object_remove(&green->object);
    free(green);
}

gd_CUresult gd_cuGreenCtxDestroy(gd_CUgreenCtx handle)
{
    gd_green *green = gd_object_find(handle, GD_OBJECT_GREEN);

    if (!green)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    gd_device *device = green->object.context->device;
    gd_schedule_drain(green->object.context);
    gd_green_destroy(green);
    gd_context_give_back(device);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuCtxFromGreenCtx(gd_CUcontext *context, gd_CUgreenCtx handle)
{
    if (!context)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!gd_object_find(handle, GD_OBJECT_GREEN))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    *context = (gd_CUcontext)handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGreenCtxGetDevResource(gd_CUgreenCtx handle, gd_CUdevResource *resource,
                                        gd_CUdevResourceType type)
{
    const gd_green *green = gd_object_find(handle, GD_OBJECT_GREEN);

    return green ? gd_green_tell(green->part, resource, type) : GD_CUDA_ERROR_INVALID_CONTEXT;
}

gd_CUresult gd_cuGreenCtxGetId(gd_CUgreenCtx handle, unsigned long long *id)
{
    const gd_green *green = gd_object_find(handle, GD_OBJECT_GREEN);

    if (!green || !id)
        return green ? GD_CUDA_ERROR_INVALID_VALUE : GD_CUDA_ERROR_INVALID_CONTEXT;
    *id = green->id;
    return GD_CUDA_SUCCESS;
}

/* ---- streams and events ---- */

/* The stream that NULL means in it, which stands for the whole context. */
static gd_CUresult find_standard(gd_CUgreenCtx handle, gd_green **green, gd_stream **stream)
{
    *green = gd_object_find(handle, GD_OBJECT_GREEN);
    if (!*green)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    *stream = gd_stream_standard(*green);
    return *stream ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

/* An event behind all that its streams have been given. */
gd_CUresult gd_cuGreenCtxRecordEvent(gd_CUgreenCtx handle, gd_CUevent event_handle)
{
    gd_event *event = gd_object_find(event_handle, GD_OBJECT_EVENT);
    gd_stream *standard;
    gd_green *green;
    uint32_t place = 0;
    gd_CUresult result = find_standard(handle, &green, &standard);

    if (result == GD_CUDA_SUCCESS && !event)
        result = GD_CUDA_ERROR_INVALID_HANDLE;
    for (gd_object *object; result == GD_CUDA_SUCCESS && (object = gd_object_next(&place));) {
        const gd_stream *stream = (const gd_stream *)object;
        if (object->kind != GD_OBJECT_STREAM || stream->green != green || stream == standard)
            continue;
        result = stream->capture ? GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                 : gd_stream_add_wait(standard, stream->last, GD_PORT_COMPLETE);
    }
    return result == GD_CUDA_SUCCESS ? gd_event_record(event, standard) : result;
}

/* All that its streams are given from now on waits for the event. */
gd_CUresult gd_cuGreenCtxWaitEvent(gd_CUgreenCtx handle, gd_CUevent event_handle)
{
    const gd_event *event = gd_object_find(event_handle, GD_OBJECT_EVENT);
    gd_work nothing = {.kind = GD_WORK_EMPTY};
    gd_stream *standard;
    gd_green *green;
    gd_task *gate = NULL;
    uint32_t place = 0;
    gd_CUresult result = find_standard(handle, &green, &standard);

    if (result == GD_CUDA_SUCCESS && !event)
        result = GD_CUDA_ERROR_INVALID_HANDLE;
    if (result == GD_CUDA_SUCCESS && event->capture)
        result = GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_add_wait(standard, event->task, event->port);
    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_submit(standard, &nothing, &gate);
    if (result != GD_CUDA_SUCCESS)
        return result;
    gd_task_hold(gate);
    gd_task_release(green->gate);
    green->gate = gate;
    for (gd_object *object; result == GD_CUDA_SUCCESS && (object = gd_object_next(&place));) {
        gd_stream *stream = (gd_stream *)object;
        if (object->kind == GD_OBJECT_STREAM && stream->green == green && stream != standard)
            result = gd_stream_add_wait(stream, gate, GD_PORT_COMPLETE);
    }
    return result;
}

/* ---- entry points ---- */

gd_CUresult gd_cuDevSmResourceSplitByCount(gd_CUdevResource *parts, unsigned int *count,
                                           const gd_CUdevResource *input, gd_CUdevResource *rest,
                                           unsigned int flags, unsigned int least)
{
    return split(parts, count, input, rest, flags, least);
}
