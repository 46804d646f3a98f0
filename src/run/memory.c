/* Device memory for callers that have no other way to get it. */
#include <inttypes.h>

#include "base/error.h"
#include "run/host.h"
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

static int32_t end_memory(griddep_runtime *runtime, uint64_t address, griddep_error *error)
{
    gd_ending ending;
    int32_t status = gd_runtime_enter_to_end(runtime, &ending, error);
    gd_CUresult result = address && !status ? runtime->driver->cuMemFree(address) : GD_CUDA_SUCCESS;
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(runtime->driver, result, error, "freeing device address 0x%" PRIx64,
                                address);
    gd_runtime_leave_ended(runtime, &ending);
    return status;
}

static void free_later(griddep_runtime *runtime, void *address)
{
    end_memory(runtime, (uint64_t)(uintptr_t)address, NULL);
}

int32_t griddep_memory_free(griddep_runtime *runtime, uint64_t address, griddep_error *error)
{
    bool lost = false;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    if (gd_host_put_off(runtime, free_later, (void *)(uintptr_t)address, &lost))
        return lost ? gd_error_memory(error) : GRIDDEP_OK;
    return end_memory(runtime, address, error);
}
