/* Device memory for callers that have no other way to get it. */
#include <inttypes.h>

#include "base/error.h"
#include "run/runtime.h"

/* Checks what all calls share and enters the context. */
static int32_t begin(griddep_runtime *runtime, bool *pushed, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    return gd_runtime_enter(runtime, pushed, error);
}

/* Waits for the stream when the call before went well, and turns the driver's answer into ours. */
static int32_t finish(const griddep_runtime *runtime, bool pushed, gd_CUresult result,
                      gd_CUstream stream, const char *what, uint64_t bytes, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuStreamSynchronize(stream);
    if (result != GD_CUDA_SUCCESS) {
        status =
            gd_driver_fail(runtime->driver, result, error, "%s of %" PRIu64 " bytes", what, bytes);
        status = gd_runtime_blame_stream(runtime, stream, status, error);
    }
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_memory_allocate(griddep_runtime *runtime, uint64_t bytes, uint64_t *address,
                                griddep_error *error)
{
    bool pushed;
    gd_CUdeviceptr taken = 0;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!address || bytes == 0)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            address ? "bytes is 0" : "address is NULL");
    status = begin(runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuMemAlloc(&taken, (size_t)bytes);
    if (result == GD_CUDA_SUCCESS)
        *address = taken;
    else
        status = gd_driver_fail(runtime->driver, result, error,
                                "%" PRIu64 " bytes of device memory", bytes);
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_memory_free(griddep_runtime *runtime, uint64_t address, griddep_error *error)
{
    gd_ending ending;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    status = gd_runtime_enter_to_end(runtime, &ending, error);
    gd_CUresult result = address && !status ? runtime->driver->cuMemFree(address) : GD_CUDA_SUCCESS;
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(runtime->driver, result, error, "freeing device address 0x%" PRIx64,
                                address);
    gd_runtime_leave_ended(runtime, &ending);
    return status;
}

int32_t griddep_memory_write(griddep_runtime *runtime, uint64_t address, const void *source,
                             uint64_t bytes, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!source && bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "source is NULL");
    status = begin(runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result =
        bytes ? runtime->driver->cuMemcpyHtoDAsync(address, source, (size_t)bytes, stream)
              : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, "a copy to the device", bytes, error);
}

int32_t griddep_memory_read(griddep_runtime *runtime, void *target, uint64_t address,
                            uint64_t bytes, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!target && bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "target is NULL");
    status = begin(runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result =
        bytes ? runtime->driver->cuMemcpyDtoHAsync(target, address, (size_t)bytes, stream)
              : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, "a copy from the device", bytes, error);
}

int32_t griddep_memory_fill(griddep_runtime *runtime, uint64_t address, uint8_t value,
                            uint64_t bytes, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = begin(runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result =
        bytes ? runtime->driver->cuMemsetD8Async(address, value, (size_t)bytes, stream)
              : GD_CUDA_SUCCESS;
    return finish(runtime, pushed, result, stream, "a fill", bytes, error);
}
