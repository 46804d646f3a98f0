/* Copies and fills in stream order, those that wait and those that do not, and memory of the host
 * that the device reaches. */
#include <inttypes.h>

#include "base/error.h"
#include "run/host.h"
#include "run/stream.h"

/* Leaves the context and turns the driver's answer into ours; with `waits` the stream's work is
 * over first, where the call before went well. */
static int32_t finish(const griddep_runtime *runtime, bool pushed, gd_CUresult result,
                      gd_CUstream stream, bool waits, const char *what, uint64_t bytes,
                      griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (waits && result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuStreamSynchronize(stream);
    if (result != GD_CUDA_SUCCESS) {
        status =
            gd_driver_fail(runtime->driver, result, error, "%s of %" PRIu64 " bytes", what, bytes);
        status = gd_runtime_blame_stream(runtime, stream, status, error);
    }
    gd_runtime_leave(runtime, pushed);
    return status;
}

static int32_t write(griddep_runtime *runtime, uint64_t address, const void *source, uint64_t bytes,
                     void *stream, bool waits, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, bytes ? source : runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result =
        bytes ? runtime->driver->cuMemcpyHtoDAsync(address, source, (size_t)bytes, stream)
              : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, waits, "a copy to the device", bytes, error);
}

int32_t griddep_memory_write_async(griddep_runtime *runtime, uint64_t address, const void *source,
                                   uint64_t bytes, void *stream, griddep_error *error)
{
    return write(runtime, address, source, bytes, stream, false, error);
}

int32_t griddep_memory_write(griddep_runtime *runtime, uint64_t address, const void *source,
                             uint64_t bytes, void *stream, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!source && bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "source is NULL");
    return write(runtime, address, source, bytes, stream, true, error);
}

static int32_t read(griddep_runtime *runtime, void *target, uint64_t address, uint64_t bytes,
                    void *stream, bool waits, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, bytes ? target : runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result =
        bytes ? runtime->driver->cuMemcpyDtoHAsync(target, address, (size_t)bytes, stream)
              : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, waits, "a copy from the device", bytes, error);
}

int32_t griddep_memory_read_async(griddep_runtime *runtime, void *target, uint64_t address,
                                  uint64_t bytes, void *stream, griddep_error *error)
{
    return read(runtime, target, address, bytes, stream, false, error);
}

int32_t griddep_memory_read(griddep_runtime *runtime, void *target, uint64_t address,
                            uint64_t bytes, void *stream, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!target && bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "target is NULL");
    return read(runtime, target, address, bytes, stream, true, error);
}

int32_t griddep_memory_copy_async(griddep_runtime *runtime, uint64_t target, uint64_t source,
                                  uint64_t bytes, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = bytes
                             ? runtime->driver->cuMemcpyAsync(target, source, (size_t)bytes, stream)
                             : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, false, "a copy", bytes, error);
}

static gd_CUresult enqueue_fill(const gd_driver *driver, uint64_t address, uint32_t value,
                                uint32_t element_bytes, size_t count, gd_CUstream stream)
{
    if (element_bytes == 1)
        return driver->cuMemsetD8Async(address, (unsigned char)value, count, stream);
    if (element_bytes == 2)
        return driver->cuMemsetD16Async(address, (unsigned short)value, count, stream);
    return driver->cuMemsetD32Async(address, value, count, stream);
}

static int32_t check_fill(uint64_t address, uint32_t value, uint32_t element_bytes, uint64_t count,
                          griddep_error *error)
{
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "element_bytes is %" PRIu32 "; it may be 1, 2 or 4", element_bytes);
    if (element_bytes < 4 && value >> (8 * element_bytes))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "value is 0x%" PRIx32 ", which is more than %" PRIu32 " bytes", value,
                            element_bytes);
    if (address % element_bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "address 0x%" PRIx64 " is no multiple of %" PRIu32, address,
                            element_bytes);
    if (count > UINT64_MAX / element_bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "count is %" PRIu64, count);
    return GRIDDEP_OK;
}

static int32_t fill(griddep_runtime *runtime, uint64_t address, uint32_t value,
                    uint32_t element_bytes, uint64_t count, void *stream, bool waits,
                    griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (!status)
        status = check_fill(address, value, element_bytes, count, error);
    if (!status)
        status = gd_stream_begin(runtime, runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result =
        count ? enqueue_fill(runtime->driver, address, value, element_bytes, (size_t)count, stream)
              : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, waits, "a fill", count * element_bytes, error);
}

int32_t griddep_memory_fill_async(griddep_runtime *runtime, uint64_t address, uint32_t value,
                                  uint32_t element_bytes, uint64_t count, void *stream,
                                  griddep_error *error)
{
    return fill(runtime, address, value, element_bytes, count, stream, false, error);
}

int32_t griddep_memory_fill(griddep_runtime *runtime, uint64_t address, uint8_t value,
                            uint64_t bytes, void *stream, griddep_error *error)
{
    return fill(runtime, address, value, 1, bytes, stream, true, error);
}

/* ---- memory of the host ---- */

int32_t griddep_host_allocate(griddep_runtime *runtime, uint64_t bytes, uint32_t flags,
                              void **memory, griddep_error *error)
{
    bool pushed;
    void *made = NULL;
    int32_t status = gd_error_check(error);

    if (!status && flags & ~(uint32_t)(GRIDDEP_HOST_PORTABLE | GRIDDEP_HOST_WRITE_COMBINED))
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "flags is 0x%" PRIx32 ", of which not all are GRIDDEP_HOST_*", flags);
    if (!status && !bytes)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "bytes is 0");
    if (!status)
        status = gd_stream_begin(runtime, memory, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuMemHostAlloc(&made, (size_t)bytes, flags);
    status = finish(runtime, pushed, result, NULL, false, "memory of the host", bytes, error);
    if (status == GRIDDEP_ERROR_DEVICE_MEMORY) /* the driver has one result for both */
        status = gd_error_set(error, GRIDDEP_ERROR_MEMORY,
                              "the host has no %" PRIu64 " bytes that can be pinned", bytes);
    if (!status)
        *memory = made;
    return status;
}

/* A copy may still read or write it: the driver's documents do not say that it waits. */
static int32_t end_host(griddep_runtime *runtime, void *memory, griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_ending ending;

    int32_t status = gd_runtime_enter_to_end(runtime, &ending, error);
    if (!status)
        gd_runtime_wait(runtime); /* after a fault nothing runs any more */
    gd_CUresult result = status ? GD_CUDA_SUCCESS : driver->cuMemFreeHost(memory);
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error, "freeing host memory %p", memory);
    gd_runtime_leave_ended(runtime, &ending);
    return status;
}

static void free_later(griddep_runtime *runtime, void *memory)
{
    end_host(runtime, memory, NULL);
}

int32_t griddep_host_free(griddep_runtime *runtime, void *memory, griddep_error *error)
{
    bool lost = false;
    int32_t status = gd_error_check(error);

    if (!status && !runtime)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    if (status || !memory)
        return status;
    if (gd_host_put_off(runtime, free_later, memory, &lost))
        return lost ? gd_error_memory(error) : GRIDDEP_OK;
    return end_host(runtime, memory, error);
}
