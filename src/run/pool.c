/* Device memory in stream order, and the pools that it comes from. */
#include <inttypes.h>

#include "base/error.h"
#include "run/host.h"
#include "run/stream.h"

enum { OPTIONS_MINIMUM = sizeof(griddep_pool_options), MAXIMUM_VERSION = 12020 };

static int32_t read_options(const griddep_runtime *runtime, griddep_pool_options *options,
                            const griddep_pool_options *given, griddep_error *error)
{
    static const griddep_pool_options defaults = {.size = sizeof defaults};
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM,
                                    given ? given : &defaults, "griddep_pool_options", error);

    if (!status && options->flags)
        status =
            gd_error_set(error, GRIDDEP_ERROR_STRUCT, "griddep_pool_options has unknown flags");
    if (!status && options->maximum_bytes && runtime->driver->version < MAXIMUM_VERSION)
        status = gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED,
            "pools have a maximum from driver API 12.2 on; this one is %" PRId32 ".%" PRId32,
            runtime->driver->version / 1000, runtime->driver->version % 1000 / 10);
    return status;
}

static gd_CUresult make(const griddep_runtime *runtime, const griddep_pool_options *options,
                        gd_CUmemoryPool *pool)
{
    const gd_driver *driver = runtime->driver;
    const gd_CUmemPoolProps properties = {
        .allocType = GD_CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = GD_CU_MEM_LOCATION_TYPE_DEVICE, .id = runtime->device},
        .maxSize = (size_t)options->maximum_bytes};
    uint64_t threshold = options->release_threshold;
    gd_CUresult result = driver->cuMemPoolCreate(pool, &properties);

    if (result != GD_CUDA_SUCCESS)
        return result;
    result = driver->cuMemPoolSetAttribute(*pool, GD_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    if (result != GD_CUDA_SUCCESS)
        driver->cuMemPoolDestroy(*pool);
    return result;
}

int32_t griddep_pool_create(griddep_runtime *runtime, const griddep_pool_options *given,
                            void **pool, griddep_error *error)
{
    griddep_pool_options options;
    gd_CUmemoryPool made = NULL;
    bool pushed;
    int32_t status = gd_stream_begin(runtime, pool, &pushed, error);

    if (status)
        return status;
    status = read_options(runtime, &options, given, error);
    if (status) {
        gd_runtime_leave(runtime, pushed);
        return status;
    }
    status = gd_stream_finish(runtime, pushed, make(runtime, &options, &made), NULL, "a new pool",
                              error);
    if (!status)
        *pool = made;
    return status;
}

static int32_t end_pool(griddep_runtime *runtime, void *pool, griddep_error *error)
{
    gd_ending ending;
    int32_t status = gd_runtime_enter_to_end(runtime, &ending, error);
    gd_CUresult result = status ? GD_CUDA_SUCCESS : runtime->driver->cuMemPoolDestroy(pool);

    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(runtime->driver, result, error, "destroying a pool");
    gd_runtime_leave_ended(runtime, &ending);
    return status;
}

static void end_later(griddep_runtime *runtime, void *pool)
{
    end_pool(runtime, pool, NULL);
}

int32_t griddep_pool_destroy(griddep_runtime *runtime, void *pool, griddep_error *error)
{
    bool lost = false;
    int32_t status = gd_error_check(error);

    if (!status && (!runtime || !pool))
        status =
            gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", runtime ? "pool" : "runtime");
    if (status)
        return status;
    if (gd_host_put_off(runtime, end_later, pool, &lost))
        return lost ? gd_error_memory(error) : GRIDDEP_OK;
    return end_pool(runtime, pool, error);
}

int32_t griddep_pool_trim(griddep_runtime *runtime, void *pool, uint64_t keep_bytes,
                          griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, pool, &pushed, error);

    return status ? status
                  : gd_stream_finish(runtime, pushed,
                                     runtime->driver->cuMemPoolTrimTo(pool, (size_t)keep_bytes),
                                     NULL, "trimming a pool", error);
}

int32_t griddep_memory_allocate_async(griddep_runtime *runtime, void *pool, uint64_t bytes,
                                      void *stream, uint64_t *address, griddep_error *error)
{
    bool pushed;
    gd_CUdeviceptr taken = 0;
    int32_t status = gd_error_check(error);

    if (!status && !bytes)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "bytes is 0");
    if (!status)
        status = gd_stream_begin(runtime, address, &pushed, error);
    if (status)
        return status;
    gd_CUresult result =
        pool ? runtime->driver->cuMemAllocFromPoolAsync(&taken, (size_t)bytes, pool, stream)
             : runtime->driver->cuMemAllocAsync(&taken, (size_t)bytes, stream);
    if (result != GD_CUDA_SUCCESS) {
        status = gd_driver_fail(runtime->driver, result, error, "%" PRIu64 " bytes of %s", bytes,
                                pool ? "a pool" : "the device's pool");
        status = gd_runtime_blame_stream(runtime, stream, status, error);
    }
    gd_runtime_leave(runtime, pushed);
    if (!status)
        *address = taken;
    return status;
}

int32_t griddep_memory_free_async(griddep_runtime *runtime, uint64_t address, void *stream,
                                  griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result =
        address ? runtime->driver->cuMemFreeAsync(address, stream) : GD_CUDA_SUCCESS;
    if (result != GD_CUDA_SUCCESS) {
        status = gd_driver_fail(runtime->driver, result, error, "freeing device address 0x%" PRIx64,
                                address);
        status = gd_runtime_blame_stream(runtime, stream, status, error);
    }
    gd_runtime_leave(runtime, pushed);
    return status;
}
