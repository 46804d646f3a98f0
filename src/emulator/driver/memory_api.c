/* Memory: allocation, copies, fills, pointer queries, and their entry points cuMem*, cuPointer*.
 *
 * A copy from pageable host memory takes its bytes when it is handed in, and one to pageable host
 * memory is over when the call returns, as the driver promises for those; between device memory and
 * memory of cuMemHostAlloc both happen in stream order. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "emulator/driver/call.h"
#include "emulator/driver/copy.h"
#include "emulator/schedule/ownership.h"
#include "emulator/execute/check.h"
#include "emulator/machine/report.h"
#include "emulator/driver/stream.h"

enum { PITCH_ALIGNMENT = 512 };

/* ---- who owns what ---- */

typedef struct owned {
    uint64_t start;
    gd_context *context;
    gd_memory_kind kind;
    bool registered; /* the program's own host memory */
    unsigned flags;
    gd_CUmemoryPool pool; /* that it came from; NULL: none with a maximum */
    uint64_t bytes;       /* of it */
} owned;

/* cuMemPoolCreate's. */
typedef struct gd_pool {
    gd_object object;
    const gd_device *device;
    uint64_t maximum, used; /* bytes; maximum 0: as much as the device has */
} gd_pool;

static struct {
    owned *list; /* by start */
    size_t count, capacity;
} ownership;

/* The number of allocations that start below an address. */
static size_t count_below(uint64_t start)
{
    size_t count;

    GD_COUNT_FIRST(count, ownership.count, i, ownership.list[i].start < start);
    return count;
}

static owned *find_owned(uint64_t start)
{
    size_t index = count_below(start);

    return index < ownership.count && ownership.list[index].start == start ? &ownership.list[index]
                                                                           : NULL;
}

static bool add_owned(const owned *item)
{
    size_t index = count_below(item->start);

    if (ownership.count == ownership.capacity) {
        size_t capacity = ownership.capacity ? ownership.capacity * 2 : 64;
        owned *more = realloc(ownership.list, capacity * sizeof *more);
        if (!more)
            return false;
        ownership.list = more;
        ownership.capacity = capacity;
    }
    memmove(ownership.list + index + 1, ownership.list + index,
            (ownership.count - index) * sizeof *ownership.list);
    ownership.list[index] = *item;
    ownership.count++;
    return true;
}

static void remove_owned(owned *item)
{
    size_t index = (size_t)(item - ownership.list);

    ownership.count--;
    memmove(item, item + 1, (ownership.count - index) * sizeof *item);
}

/* After a fault nothing can be freed: what is left then is the fault's doing. */
static void report_left(const owned *item)
{
    const gd_allocation *memory = gd_memory_find(gd_the_emulator.memory, item->start);

    if (memory && !item->registered && !item->context->fault)
        gd_report_leak(memory->start, memory->bytes);
}

void gd_ownership_end(const gd_context *context)
{
    for (size_t i = ownership.count; i-- > 0;) {
        if (ownership.list[i].context != context)
            continue;
        report_left(&ownership.list[i]);
        gd_memory_give(gd_the_emulator.memory, ownership.list[i].start);
        remove_owned(&ownership.list[i]);
    }
}

void gd_ownership_free(void)
{
    free(ownership.list);
    memset(&ownership, 0, sizeof ownership);
}

/* ---- allocation ---- */

static gd_CUresult take(uint64_t bytes, gd_memory_kind kind, void *host, unsigned flags,
                        uint64_t *address)
{
    gd_context *context = gd_call_context();
    gd_allocation *made =
        gd_memory_take(gd_the_emulator.memory, &context->owner, bytes, kind, host, NULL);

    if (!made)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    const owned item = {.start = made->start,
                        .context = context,
                        .kind = kind,
                        .registered = host != NULL,
                        .flags = flags};
    if (!add_owned(&item)) {
        gd_memory_give(gd_the_emulator.memory, made->start);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = made->start;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult allocate(gd_CUdeviceptr *address, size_t bytes, gd_memory_kind kind)
{
    gd_CUresult result = gd_capture_check_unsafe();

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!address || bytes == 0)
        return GD_CUDA_ERROR_INVALID_VALUE;
    return take(bytes, kind, NULL, 0, address);
}

gd_CUresult gd_cuMemAllocPitch_v2(gd_CUdeviceptr *address, size_t *pitch, size_t width,
                                  size_t height, unsigned int element)
{
    size_t row, bytes;

    if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (__builtin_add_overflow(width, (size_t)PITCH_ALIGNMENT - 1, &row))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    row = row / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (__builtin_mul_overflow(row, height, &bytes))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = allocate(address, bytes, GD_MEMORY_DEVICE);
    if (result == GD_CUDA_SUCCESS)
        *pitch = row;
    return result;
}

gd_CUresult gd_cuMemHostAlloc(void **host, size_t bytes, unsigned int flags)
{
    uint64_t address;
    gd_CUresult result = gd_capture_check_unsafe();

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!host || flags > 7)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (bytes == 0) {
        *host = NULL;
        return GD_CUDA_SUCCESS;
    }
    result = take(bytes, GD_MEMORY_HOST, NULL, flags, &address);
    if (result == GD_CUDA_SUCCESS)
        *host = (void *)(uintptr_t)address;
    return result;
}

gd_CUresult gd_cuMemHostRegister_v2(void *host, size_t bytes, unsigned int flags)
{
    uint64_t address = (uint64_t)(uintptr_t)host;

    if (!host || bytes == 0 || flags > 15)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (gd_work_resolve(address, 1, NULL) || gd_work_resolve(address + bytes - 1, 1, NULL))
        return GD_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    return take(bytes, GD_MEMORY_HOST, host, flags, &address);
}

/* What a pool handed out is its own again; it may be gone by now. */
static void give_to_pool(const owned *item)
{
    gd_pool *from = item->pool ? gd_object_find(item->pool, GD_OBJECT_POOL) : NULL;

    if (from)
        from->used -= item->bytes;
}

/* What runs may use the memory: it is waited for. Of a device's memory that is what runs on the
 * device: another one's kernels may wait for what the program is about to launch, and no driver
 * waits for them. */
static gd_CUresult release(owned *item)
{
    uint64_t start = item->start;
    gd_context *context = item->context;

    if (item->kind == GD_MEMORY_HOST || item->kind == GD_MEMORY_MANAGED)
        gd_schedule_drain(NULL);
    else
        gd_schedule_drain_device(context->device);
    item = find_owned(start);
    if (!item) /* another thread has freed it meanwhile */
        return GD_CUDA_ERROR_INVALID_VALUE;
    give_to_pool(item);
    remove_owned(item);
    gd_memory_give(gd_the_emulator.memory, start);
    return context->fault;
}

/* Of cuMemAlloc and its kin. */
static bool is_freed_by_address(const owned *item)
{
    return item && (item->kind == GD_MEMORY_DEVICE || item->kind == GD_MEMORY_MANAGED);
}

gd_CUresult gd_cuMemFree_v2(gd_CUdeviceptr address)
{
    gd_CUresult result = gd_capture_check_unsafe();
    owned *item = find_owned(address);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (address == 0)
        return GD_CUDA_SUCCESS;
    return is_freed_by_address(item) ? release(item) : GD_CUDA_ERROR_INVALID_VALUE;
}

static gd_CUresult free_host(void *host, bool registered)
{
    owned *item = find_owned((uint64_t)(uintptr_t)host);

    if (!host && !registered)
        return GD_CUDA_SUCCESS;
    if (!host || !item || item->kind != GD_MEMORY_HOST || item->registered != registered)
        return registered && host ? GD_CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                                  : GD_CUDA_ERROR_INVALID_VALUE;
    return release(item);
}

static gd_CUresult find_live_stream(gd_CUstream handle, gd_stream **stream, const char *in_capture)
{
    gd_CUresult result = gd_stream_find(handle, stream);

    return result == GD_CUDA_SUCCESS && (*stream)->capture ? gd_device_unsupported(in_capture)
                                                           : result;
}

/* The address is known at once; work in other streams that uses it too early is not noticed
 * here. */
gd_CUresult gd_cuMemAllocAsync(gd_CUdeviceptr *address, size_t bytes, gd_CUstream handle)
{
    gd_stream *stream;
    gd_CUresult result = find_live_stream(handle, &stream, "cuMemAllocAsync in a capture");

    if (result != GD_CUDA_SUCCESS)
        return result;
    result = address && bytes ? take(bytes, GD_MEMORY_DEVICE, NULL, 0, address)
                              : GD_CUDA_ERROR_INVALID_VALUE;
    if (result != GD_CUDA_SUCCESS || !gd_the_emulator.race)
        return result;
    /* The memory is there at once; for the race check it is behind what the stream has to do. */
    gd_work nothing = {.kind = GD_WORK_EMPTY};
    gd_allocation *made = gd_memory_find(gd_the_emulator.memory, *address);
    gd_task *task;
    result = gd_stream_submit(stream, &nothing, &task);
    if (result == GD_CUDA_SUCCESS && task && made)
        gd_shadow_allocate(gd_the_emulator.race, gd_check_shadow(gd_the_emulator.race, made),
                           task->race);
    return result;
}

/* The device whose default pool it is; NULL. */
static const gd_device *find_default_pool(const gd_object *pool)
{
    for (uint32_t i = 0; i < gd_the_emulator.device_count; i++) {
        if (pool == &gd_the_emulator.devices[i].default_pool)
            return &gd_the_emulator.devices[i];
    }
    return NULL;
}

gd_CUresult gd_cuMemAllocFromPoolAsync(gd_CUdeviceptr *address, size_t bytes,
                                       gd_CUmemoryPool handle, gd_CUstream stream)
{
    gd_context *context = gd_call_context();
    gd_pool *from = gd_object_find(handle, GD_OBJECT_POOL);

    if (!from)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_device *standard = find_default_pool(&from->object);
    if ((standard ? standard : from->device) != context->device)
        return gd_device_unsupported("memory from a pool of another device");
    if (standard)
        return gd_cuMemAllocAsync(address, bytes, stream);
    if (from->maximum && bytes > from->maximum - from->used)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = gd_cuMemAllocAsync(address, bytes, stream);
    if (result != GD_CUDA_SUCCESS)
        return result;
    owned *item = find_owned(*address);
    item->pool = handle;
    item->bytes = bytes;
    from->used += bytes;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemFreeAsync(gd_CUdeviceptr address, gd_CUstream handle)
{
    gd_stream *stream;
    gd_work work = {.kind = GD_WORK_RELEASE, .is.address = address};
    gd_CUresult result = find_live_stream(handle, &stream, "cuMemFreeAsync in a capture");
    owned *item = find_owned(address);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!is_freed_by_address(item))
        return GD_CUDA_ERROR_INVALID_VALUE;
    give_to_pool(item);
    remove_owned(item);
    return gd_stream_submit(stream, &work, NULL);
}

static gd_CUresult check_pool(gd_CUmemoryPool pool)
{
    return gd_object_find(pool, GD_OBJECT_POOL) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult gd_cuMemPoolCreate(gd_CUmemoryPool *handle, const gd_CUmemPoolProps *properties)
{
    gd_context *context = gd_call_context();

    if (!handle || !properties || !gd_device_find(properties->location.id))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_pool *made = calloc(1, sizeof *made);
    if (!made || !gd_object_add(&made->object, GD_OBJECT_POOL, context)) {
        free(made);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->device = gd_device_find(properties->location.id);
    made->maximum = properties->maxSize;
    *handle = made->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemPoolDestroy(gd_CUmemoryPool handle)
{
    gd_object *pool = gd_object_find(handle, GD_OBJECT_POOL);

    if (!pool || find_default_pool(pool))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_object_remove(pool);
    free(pool);
    return GD_CUDA_SUCCESS;
}

/* ---- copies ---- */

static bool is_host(int32_t type, uint64_t address)
{
    return type == GD_CU_MEMORYTYPE_HOST ||
           (type == GD_CU_MEMORYTYPE_UNIFIED && !gd_memory_find(gd_the_emulator.memory, address));
}

static gd_CUresult make_side(const gd_copy_work *copy, gd_copy_side *side, int32_t type,
                             const void *host, uint64_t device, size_t x, size_t y, size_t z,
                             size_t pitch, size_t height)
{
    uint64_t extent, offset;

    if (type == GD_CU_MEMORYTYPE_ARRAY)
        return gd_device_unsupported("a copy of an array");
    if (type < GD_CU_MEMORYTYPE_HOST || type > GD_CU_MEMORYTYPE_UNIFIED)
        return GD_CUDA_ERROR_INVALID_VALUE;
    uint64_t address = type == GD_CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device;
    side->device = !is_host(type, address);
    side->pitch = pitch ? pitch : x + copy->width;
    if (__builtin_mul_overflow(side->pitch, height ? height : y + copy->height, &side->slice))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!address || (copy->height > 1 && side->pitch < copy->width) ||
        __builtin_mul_overflow((uint64_t)z, (uint64_t)side->slice, &offset) ||
        __builtin_add_overflow(offset, (uint64_t)y * side->pitch + x, &offset) ||
        !gd_copy_extent(copy, side, &extent))
        return GD_CUDA_ERROR_INVALID_VALUE;
    side->address = address + offset;
    return !side->device || gd_work_resolve(side->address, extent, NULL)
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult gd_copy_make(const gd_CUDA_MEMCPY3D *params, gd_work *work)
{
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    if (!params || params->srcLOD || params->dstLOD)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_copy_work copy = {
        .width = params->WidthInBytes, .height = params->Height, .depth = params->Depth};
    if (!copy.width || !copy.height || !copy.depth)
        return GD_CUDA_SUCCESS;
    gd_CUresult result = make_side(&copy, &copy.source, params->srcMemoryType, params->srcHost,
                                   params->srcDevice, params->srcXInBytes, params->srcY,
                                   params->srcZ, params->srcPitch, params->srcHeight);
    if (result == GD_CUDA_SUCCESS)
        result = make_side(&copy, &copy.target, params->dstMemoryType, params->dstHost,
                           params->dstDevice, params->dstXInBytes, params->dstY, params->dstZ,
                           params->dstPitch, params->dstHeight);
    if (result == GD_CUDA_SUCCESS)
        *work = (gd_work){.kind = GD_WORK_COPY, .is.copy = copy};
    return result;
}

/* Whether host memory is none that the driver knows: then its bytes are taken, or given, during the
 * call. */
static bool is_pageable(const gd_copy_side *side)
{
    return !side->device && !gd_work_resolve(side->address, 1, NULL);
}

static bool stage(gd_copy_work *copy)
{
    const unsigned char *source = (const unsigned char *)(uintptr_t)copy->source.address;
    size_t bytes;

    if (__builtin_mul_overflow(copy->width, copy->height, &bytes) ||
        __builtin_mul_overflow(bytes, copy->depth, &bytes))
        return false;
    copy->staged = malloc(bytes);
    if (!copy->staged)
        return false;
    unsigned char *target = copy->staged;
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++, target += copy->width)
            memcpy(target, source + z * copy->source.slice + y * copy->source.pitch, copy->width);
    }
    return true;
}

/* Whether memory is a device's, of which a call that copies or fills returns before that is done
 * (CUDA driver API, API synchronization behavior). */
static bool is_asynchronous(uint64_t address)
{
    const gd_allocation *item = gd_memory_find(gd_the_emulator.memory, address);

    return item && item->kind != GD_MEMORY_HOST && item->kind != GD_MEMORY_MANAGED;
}

/* Hands a copy in; `wait`: the call is one that returns when it is over, unless both sides are
 * device memory. What is copied from pageable memory counts as over too: a driver has read it, but
 * may still be writing. */
static gd_CUresult submit_copy(gd_work *work, gd_CUstream handle, bool wait)
{
    gd_context *context = gd_call_context();
    gd_stream *stream;
    gd_task *task;
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result != GD_CUDA_SUCCESS || work->kind == GD_WORK_EMPTY)
        return result;
    if (wait)
        result = gd_capture_check_unsafe();
    if (result == GD_CUDA_SUCCESS && !stream->capture && is_pageable(&work->is.copy.source) &&
        !stage(&work->is.copy))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    bool pageable = is_pageable(&work->is.copy.target);
    const bool early = work->kind == GD_WORK_COPY &&
                       is_asynchronous(work->is.copy.source.address) &&
                       is_asynchronous(work->is.copy.target.address);
    if (result == GD_CUDA_SUCCESS)
        result = gd_stream_submit(stream, work, &task);
    if (result != GD_CUDA_SUCCESS || !task || !(wait || pageable))
        return result;
    gd_task_hold(task);
    if (early)
        gd_schedule_run(task, GD_PORT_COMPLETE);
    else
        gd_schedule_wait(task, GD_PORT_COMPLETE);
    gd_task_release(task);
    return context->fault;
}

static gd_CUresult copy_line(uint64_t target, int32_t target_type, uint64_t source,
                             int32_t source_type, size_t bytes, gd_CUstream stream, bool wait)
{
    const gd_CUDA_MEMCPY3D params = {.srcMemoryType = source_type,
                                     .srcHost = (const void *)(uintptr_t)source,
                                     .srcDevice = source,
                                     .dstMemoryType = target_type,
                                     .dstHost = (void *)(uintptr_t)target,
                                     .dstDevice = target,
                                     .WidthInBytes = bytes,
                                     .Height = 1,
                                     .Depth = 1};
    gd_work work;
    gd_CUresult result = gd_copy_make(&params, &work);

    return result == GD_CUDA_SUCCESS ? submit_copy(&work, stream, wait) : result;
}

static gd_CUresult copy_box(const gd_CUDA_MEMCPY3D *params, gd_CUstream stream, bool wait)
{
    gd_work work;
    gd_CUresult result = gd_copy_make(params, &work);

    return result == GD_CUDA_SUCCESS ? submit_copy(&work, stream, wait) : result;
}

static gd_CUresult copy_plane(const gd_CUDA_MEMCPY2D *params, gd_CUstream stream, bool wait)
{
    gd_CUDA_MEMCPY3D box = {.Depth = 1};

    if (!params)
        return GD_CUDA_ERROR_INVALID_VALUE;
    box.srcXInBytes = params->srcXInBytes;
    box.srcY = params->srcY;
    box.srcMemoryType = params->srcMemoryType;
    box.srcHost = params->srcHost;
    box.srcDevice = params->srcDevice;
    box.srcPitch = params->srcPitch;
    box.dstXInBytes = params->dstXInBytes;
    box.dstY = params->dstY;
    box.dstMemoryType = params->dstMemoryType;
    box.dstHost = params->dstHost;
    box.dstDevice = params->dstDevice;
    box.dstPitch = params->dstPitch;
    box.WidthInBytes = params->WidthInBytes;
    box.Height = params->Height;
    return copy_box(&box, stream, wait);
}

/* ---- fills ---- */

gd_CUresult gd_fill_check(const gd_fill_work *fill)
{
    uint64_t row, bytes;

    if (!fill->width || !fill->height)
        return GD_CUDA_SUCCESS;
    if (__builtin_mul_overflow((uint64_t)fill->width, (uint64_t)fill->element_bytes, &row) ||
        __builtin_mul_overflow((uint64_t)fill->height - 1, (uint64_t)fill->pitch, &bytes) ||
        __builtin_add_overflow(bytes, row, &bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (fill->address % fill->element_bytes ||
        (fill->height > 1 && (fill->pitch < row || fill->pitch % fill->element_bytes)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return gd_work_resolve(fill->address, bytes, NULL) ? GD_CUDA_SUCCESS
                                                       : GD_CUDA_ERROR_INVALID_VALUE;
}

static gd_CUresult fill_plane(gd_fill_work fill, gd_CUstream handle, bool wait)
{
    gd_context *context = gd_call_context();
    gd_stream *stream;
    gd_work work = {.kind = GD_WORK_FILL, .is.fill = fill};
    gd_CUresult result = gd_stream_find(handle, &stream);

    if (result == GD_CUDA_SUCCESS)
        result = gd_fill_check(&fill);
    if (result == GD_CUDA_SUCCESS && wait)
        result = gd_capture_check_unsafe();
    if (result != GD_CUDA_SUCCESS || !fill.width || !fill.height)
        return result;
    gd_task *task;
    result = gd_stream_submit(stream, &work, &task);
    if (result != GD_CUDA_SUCCESS || !task || !wait)
        return result;
    if (!is_asynchronous(fill.address))
        return gd_stream_wait(stream);
    gd_schedule_run(task, GD_PORT_COMPLETE);
    return context->fault;
}

static gd_CUresult fill_line(uint64_t address, uint32_t value, uint32_t element, size_t count,
                             gd_CUstream stream, bool wait)
{
    return fill_plane((gd_fill_work){.address = address,
                                     .width = count,
                                     .height = 1,
                                     .value = value,
                                     .element_bytes = element},
                      stream, wait);
}

/* ---- queries ---- */

gd_CUresult gd_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    const gd_context *context = gd_call_context();
    const gd_bank *bank = &context->device->bank;

    if (total)
        *total = bank->limit;
    if (free_bytes)
        *free_bytes = bank->limit - bank->used;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemGetAddressRange_v2(gd_CUdeviceptr *start, size_t *bytes, gd_CUdeviceptr address)
{
    const gd_allocation *allocation = gd_memory_find(gd_the_emulator.memory, address);

    if (!allocation || !gd_memory_is_told(allocation) ||
        address >= allocation->start + allocation->bytes)
        return GD_CUDA_ERROR_NOT_FOUND;
    if (start)
        *start = allocation->start;
    if (bytes)
        *bytes = allocation->bytes;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemHostGetDevicePointer_v2(gd_CUdeviceptr *address, void *host, unsigned int flags)
{
    if (!address || !host || flags || !gd_work_resolve((uint64_t)(uintptr_t)host, 1, NULL))
        return GD_CUDA_ERROR_INVALID_VALUE;
    *address = (uint64_t)(uintptr_t)host;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemHostGetFlags(unsigned int *flags, void *host)
{
    const owned *item = find_owned((uint64_t)(uintptr_t)host);

    if (!flags || !item || item->kind != GD_MEMORY_HOST)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *flags = item->flags;
    return GD_CUDA_SUCCESS;
}

/* The allocation of which pointer attributes tell; NULL. */
static const gd_allocation *find_told(uint64_t address)
{
    const gd_allocation *allocation = gd_memory_find(gd_the_emulator.memory, address);

    return allocation && gd_memory_is_told(allocation) ? allocation : NULL;
}

static bool put(void *data, const void *value, size_t bytes)
{
    memcpy(data, value, bytes);
    return true;
}

/* A fact about the allocation that holds an address; false for one that is not told. */
static bool tell(void *data, int32_t attribute, const gd_allocation *allocation, uint64_t address)
{
    const owned *item = find_owned(allocation->start);
    bool on_host = allocation->kind == GD_MEMORY_HOST;
    void *owner = item ? item->context->object.handle : NULL, *host = (void *)(uintptr_t)address;
    unsigned type = on_host ? GD_CU_MEMORYTYPE_HOST : GD_CU_MEMORYTYPE_DEVICE, access = 3;
    unsigned char managed = allocation->kind == GD_MEMORY_MANAGED, mapped = 1;
    int ordinal = allocation->bank ? (int)allocation->bank->device : 0, sync = 0;
    size_t bytes = allocation->bytes;

    switch (attribute) {
    case GD_CU_POINTER_ATTRIBUTE_CONTEXT:
        return put(data, &owner, sizeof owner);
    case GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return put(data, &type, sizeof type);
    case GD_CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return put(data, &address, sizeof address);
    case GD_CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return (on_host || managed) && put(data, &host, sizeof host);
    case GD_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return put(data, &sync, sizeof sync);
    case GD_CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case GD_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return put(data, &allocation->start, sizeof allocation->start);
    case GD_CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return put(data, &managed, sizeof managed);
    case GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return put(data, &ordinal, sizeof ordinal);
    case GD_CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return put(data, &bytes, sizeof bytes);
    case GD_CU_POINTER_ATTRIBUTE_MAPPED:
        return put(data, &mapped, sizeof mapped);
    case GD_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return put(data, &access, sizeof access);
    default:
        return false;
    }
}

gd_CUresult gd_cuPointerGetAttribute(void *data, int32_t attribute, gd_CUdeviceptr address)
{
    const gd_allocation *allocation = find_told(address);

    if (!data || attribute < GD_CU_POINTER_ATTRIBUTE_CONTEXT || attribute > 21)
        return GD_CUDA_ERROR_INVALID_VALUE;
    return allocation && tell(data, attribute, allocation, address) ? GD_CUDA_SUCCESS
                                                                    : GD_CUDA_ERROR_INVALID_VALUE;
}

/* What is not known about a pointer of the program's own is zero, and the device's number -2. */
static void tell_nothing(void *data, int32_t attribute, size_t bytes)
{
    const int no_device = -2;

    memset(data, 0, bytes);
    if (attribute == GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        memcpy(data, &no_device, sizeof no_device);
}

/* Several facts at once. */
gd_CUresult gd_cuPointerGetAttributes(unsigned int count, int32_t *attributes, void **data,
                                      gd_CUdeviceptr address)
{
    const gd_allocation *allocation = find_told(address);

    if (!count || !attributes || !data)
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        static const size_t sizes[] = {[GD_CU_POINTER_ATTRIBUTE_CONTEXT] = 8,
                                       [GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = 4,
                                       [GD_CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = 8,
                                       [GD_CU_POINTER_ATTRIBUTE_HOST_POINTER] = 8,
                                       [GD_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = 4,
                                       [GD_CU_POINTER_ATTRIBUTE_BUFFER_ID] = 8,
                                       [GD_CU_POINTER_ATTRIBUTE_IS_MANAGED] = 1,
                                       [GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = 4,
                                       [GD_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = 8,
                                       [GD_CU_POINTER_ATTRIBUTE_RANGE_SIZE] = 8,
                                       [GD_CU_POINTER_ATTRIBUTE_MAPPED] = 1,
                                       [GD_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS] = 4};
        size_t known = attributes[i] > 0 && (size_t)attributes[i] < sizeof sizes / sizeof *sizes
                           ? sizes[attributes[i]]
                           : 0;
        if (!known || !data[i])
            return GD_CUDA_ERROR_INVALID_VALUE;
        if (!allocation || !tell(data[i], attributes[i], allocation, address))
            tell_nothing(data[i], attributes[i], known);
    }
    return GD_CUDA_SUCCESS;
}

/* ---- entry points: allocation ---- */

gd_CUresult gd_cuMemAlloc_v2(gd_CUdeviceptr *address, size_t bytes)
{
    return allocate(address, bytes, GD_MEMORY_DEVICE);
}

gd_CUresult gd_cuMemAllocManaged(gd_CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    return flags != 1 && flags != 2 ? GD_CUDA_ERROR_INVALID_VALUE
                                    : allocate(address, bytes, GD_MEMORY_MANAGED);
}

gd_CUresult gd_cuMemAllocHost_v2(void **host, size_t bytes)
{
    return gd_cuMemHostAlloc(host, bytes, 0);
}

gd_CUresult gd_cuMemFreeHost(void *host)
{
    return free_host(host, false);
}

gd_CUresult gd_cuMemHostUnregister(void *host)
{
    return free_host(host, true);
}

gd_CUresult gd_cuMemPoolTrimTo(gd_CUmemoryPool pool, size_t keep)
{
    (void)keep; /* nothing is kept for reuse */
    return check_pool(pool);
}

gd_CUresult gd_cuMemPoolSetAttribute(gd_CUmemoryPool pool, int32_t attribute, void *value)
{
    return attribute < 1 || attribute > 8 || !value ? GD_CUDA_ERROR_INVALID_VALUE
                                                    : check_pool(pool);
}

/* ---- entry points: copies ---- */

enum {
    HOST = GD_CU_MEMORYTYPE_HOST,
    DEVICE = GD_CU_MEMORYTYPE_DEVICE,
    UNIFIED = GD_CU_MEMORYTYPE_UNIFIED
};

static uint64_t number_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

gd_CUresult gd_cuMemcpy(gd_CUdeviceptr target, gd_CUdeviceptr source, size_t bytes)
{
    return copy_line(target, UNIFIED, source, UNIFIED, bytes, NULL, true);
}

gd_CUresult gd_cuMemcpyAsync(gd_CUdeviceptr target, gd_CUdeviceptr source, size_t bytes,
                             gd_CUstream stream)
{
    return copy_line(target, UNIFIED, source, UNIFIED, bytes, stream, false);
}

gd_CUresult gd_cuMemcpyHtoD_v2(gd_CUdeviceptr target, const void *source, size_t bytes)
{
    return copy_line(target, DEVICE, number_of(source), HOST, bytes, NULL, true);
}

gd_CUresult gd_cuMemcpyDtoH_v2(void *target, gd_CUdeviceptr source, size_t bytes)
{
    return copy_line(number_of(target), HOST, source, DEVICE, bytes, NULL, true);
}

gd_CUresult gd_cuMemcpyDtoD_v2(gd_CUdeviceptr target, gd_CUdeviceptr source, size_t bytes)
{
    return copy_line(target, DEVICE, source, DEVICE, bytes, NULL, true);
}

gd_CUresult gd_cuMemcpyHtoDAsync_v2(gd_CUdeviceptr target, const void *source, size_t bytes,
                                    gd_CUstream stream)
{
    return copy_line(target, DEVICE, number_of(source), HOST, bytes, stream, false);
}

gd_CUresult gd_cuMemcpyDtoHAsync_v2(void *target, gd_CUdeviceptr source, size_t bytes,
                                    gd_CUstream stream)
{
    return copy_line(number_of(target), HOST, source, DEVICE, bytes, stream, false);
}

gd_CUresult gd_cuMemcpyDtoDAsync_v2(gd_CUdeviceptr target, gd_CUdeviceptr source, size_t bytes,
                                    gd_CUstream stream)
{
    return copy_line(target, DEVICE, source, DEVICE, bytes, stream, false);
}

/* Copies between devices need no peer access. One that the host waits for comes behind all that
 * both contexts have been given. */
static gd_CUresult copy_peer(uint64_t target, gd_CUcontext target_context, uint64_t source,
                             gd_CUcontext source_context, size_t bytes, gd_CUstream stream,
                             bool wait)
{
    if (!gd_object_find(target_context, GD_OBJECT_CONTEXT) ||
        !gd_object_find(source_context, GD_OBJECT_CONTEXT))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (wait && !bytes)
        return GD_CUDA_SUCCESS;
    if (wait)
        gd_schedule_drain(gd_object_find(source_context, GD_OBJECT_CONTEXT));
    if (wait && gd_object_find(target_context, GD_OBJECT_CONTEXT))
        gd_schedule_drain(gd_object_find(target_context, GD_OBJECT_CONTEXT));
    return copy_line(target, DEVICE, source, DEVICE, bytes, stream, wait);
}

gd_CUresult gd_cuMemcpyPeer(gd_CUdeviceptr target, gd_CUcontext target_context,
                            gd_CUdeviceptr source, gd_CUcontext source_context, size_t bytes)
{
    return copy_peer(target, target_context, source, source_context, bytes, NULL, true);
}

gd_CUresult gd_cuMemcpyPeerAsync(gd_CUdeviceptr target, gd_CUcontext target_context,
                                 gd_CUdeviceptr source, gd_CUcontext source_context, size_t bytes,
                                 gd_CUstream stream)
{
    return copy_peer(target, target_context, source, source_context, bytes, stream, false);
}

gd_CUresult gd_cuMemcpy2D_v2(const gd_CUDA_MEMCPY2D *params)
{
    return copy_plane(params, NULL, true);
}

gd_CUresult gd_cuMemcpy2DUnaligned_v2(const gd_CUDA_MEMCPY2D *params)
{
    return copy_plane(params, NULL, true);
}

gd_CUresult gd_cuMemcpy2DAsync_v2(const gd_CUDA_MEMCPY2D *params, gd_CUstream stream)
{
    return copy_plane(params, stream, false);
}

gd_CUresult gd_cuMemcpy3D_v2(const gd_CUDA_MEMCPY3D *params)
{
    return copy_box(params, NULL, true);
}

gd_CUresult gd_cuMemcpy3DAsync_v2(const gd_CUDA_MEMCPY3D *params, gd_CUstream stream)
{
    return copy_box(params, stream, false);
}

/* ---- entry points: fills ---- */

gd_CUresult gd_cuMemsetD8_v2(gd_CUdeviceptr target, unsigned char value, size_t count)
{
    return fill_line(target, value, 1, count, NULL, true);
}

gd_CUresult gd_cuMemsetD16_v2(gd_CUdeviceptr target, unsigned short value, size_t count)
{
    return fill_line(target, value, 2, count, NULL, true);
}

gd_CUresult gd_cuMemsetD32_v2(gd_CUdeviceptr target, unsigned int value, size_t count)
{
    return fill_line(target, value, 4, count, NULL, true);
}

gd_CUresult gd_cuMemsetD8Async(gd_CUdeviceptr target, unsigned char value, size_t count,
                               gd_CUstream stream)
{
    return fill_line(target, value, 1, count, stream, false);
}

gd_CUresult gd_cuMemsetD16Async(gd_CUdeviceptr target, unsigned short value, size_t count,
                                gd_CUstream stream)
{
    return fill_line(target, value, 2, count, stream, false);
}

gd_CUresult gd_cuMemsetD32Async(gd_CUdeviceptr target, unsigned int value, size_t count,
                                gd_CUstream stream)
{
    return fill_line(target, value, 4, count, stream, false);
}

#define PLANE(element)                                                                             \
    ((gd_fill_work){.address = target,                                                             \
                    .pitch = pitch,                                                                \
                    .width = width,                                                                \
                    .height = height,                                                              \
                    .value = value,                                                                \
                    .element_bytes = (element)})

gd_CUresult gd_cuMemsetD2D8_v2(gd_CUdeviceptr target, size_t pitch, unsigned char value,
                               size_t width, size_t height)
{
    return fill_plane(PLANE(1), NULL, true);
}

gd_CUresult gd_cuMemsetD2D16_v2(gd_CUdeviceptr target, size_t pitch, unsigned short value,
                                size_t width, size_t height)
{
    return fill_plane(PLANE(2), NULL, true);
}

gd_CUresult gd_cuMemsetD2D32_v2(gd_CUdeviceptr target, size_t pitch, unsigned int value,
                                size_t width, size_t height)
{
    return fill_plane(PLANE(4), NULL, true);
}

gd_CUresult gd_cuMemsetD2D8Async(gd_CUdeviceptr target, size_t pitch, unsigned char value,
                                 size_t width, size_t height, gd_CUstream stream)
{
    return fill_plane(PLANE(1), stream, false);
}

gd_CUresult gd_cuMemsetD2D16Async(gd_CUdeviceptr target, size_t pitch, unsigned short value,
                                  size_t width, size_t height, gd_CUstream stream)
{
    return fill_plane(PLANE(2), stream, false);
}

gd_CUresult gd_cuMemsetD2D32Async(gd_CUdeviceptr target, size_t pitch, unsigned int value,
                                  size_t width, size_t height, gd_CUstream stream)
{
    return fill_plane(PLANE(4), stream, false);
}

/* ---- entry points: queries ---- */

gd_CUresult gd_cuMemPrefetchAsync(gd_CUdeviceptr address, size_t bytes, gd_CUdevice device,
                                  gd_CUstream stream)
{
    gd_stream *found;

    return (device >= 0 && !gd_device_find(device)) || !bytes ||
                   !gd_work_resolve(address, bytes, NULL)
               ? GD_CUDA_ERROR_INVALID_VALUE
               : gd_stream_find(stream, &found);
}

/* To the device or to any memory of the host (CU_MEM_LOCATION_TYPE_DEVICE to HOST_NUMA_CURRENT):
 * all of it is in one place. */
gd_CUresult gd_cuMemPrefetchAsync_v2(gd_CUdeviceptr address, size_t bytes,
                                     gd_CUmemLocation location, unsigned int flags,
                                     gd_CUstream stream)
{
    gd_stream *found;

    if (flags || location.type < 1 || location.type > 4 ||
        (location.type == 1 && !gd_device_find(location.id)) || !bytes ||
        !gd_work_resolve(address, bytes, NULL))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return gd_stream_find(stream, &found);
}
