/* Physical memory (cuMemCreate), mapped for one device, and handed on as a file descriptor. The
 * mapping alone holds it: there is no handle to be kept. */
#include <inttypes.h>
#include <unistd.h>

#include "run/group/share.h"

static gd_CUmemAllocationProp properties_of(const griddep_runtime *runtime)
{
    return (gd_CUmemAllocationProp){.type = GD_CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .requestedHandleTypes =
                                        GD_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    .location = {GD_CU_MEM_LOCATION_TYPE_DEVICE, runtime->device}};
}

static gd_CUresult map(const griddep_runtime *runtime, gd_CUmemGenericAllocationHandle memory,
                       uint64_t bytes, uint64_t *address)
{
    const gd_driver *driver = runtime->driver;
    const gd_CUmemAccessDesc access = {{GD_CU_MEM_LOCATION_TYPE_DEVICE, runtime->device},
                                       GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    gd_CUdeviceptr place = 0;
    gd_CUresult result = driver->cuMemAddressReserve(&place, (size_t)bytes, 0, 0, 0);

    if (result != GD_CUDA_SUCCESS)
        return result;
    result = driver->cuMemMap(place, (size_t)bytes, 0, memory, 0);
    if (result == GD_CUDA_SUCCESS) {
        result = driver->cuMemSetAccess(place, (size_t)bytes, &access, 1);
        if (result != GD_CUDA_SUCCESS)
            driver->cuMemUnmap(place, (size_t)bytes);
    }
    if (result == GD_CUDA_SUCCESS)
        *address = place;
    else
        driver->cuMemAddressFree(place, (size_t)bytes);
    return result;
}

int32_t gd_share_make(griddep_runtime *runtime, uint64_t *bytes, uint64_t *address, int *file,
                      griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    const gd_CUmemAllocationProp properties = properties_of(runtime);
    gd_CUmemGenericAllocationHandle memory;
    size_t unit = 0;
    int made = -1;
    bool pushed;
    int32_t status = gd_runtime_enter(runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = driver->cuMemGetAllocationGranularity(&unit, &properties, 0);
    const uint64_t whole = unit ? (*bytes + unit - 1) / unit * unit : *bytes;
    if (result == GD_CUDA_SUCCESS)
        result = driver->cuMemCreate(&memory, (size_t)whole, &properties, 0);
    if (result == GD_CUDA_SUCCESS) {
        result =
            driver->cuMemExportToShareableHandle(&made, memory, properties.requestedHandleTypes, 0);
        if (result == GD_CUDA_SUCCESS)
            result = map(runtime, memory, whole, address);
        driver->cuMemRelease(memory);
    }
    if (result == GD_CUDA_SUCCESS) {
        *bytes = whole;
        *file = made;
    } else {
        if (made >= 0)
            close(made);
        status = gd_driver_fail(driver, result, error,
                                "%" PRIu64 " bytes of memory for other processes", whole);
    }
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t gd_share_take(griddep_runtime *runtime, int file, uint64_t bytes, uint64_t *address,
                      griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_CUmemGenericAllocationHandle memory;
    bool pushed;
    int32_t status = gd_runtime_enter(runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = driver->cuMemImportFromShareableHandle(
        &memory, (void *)(intptr_t)file, GD_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result == GD_CUDA_SUCCESS) {
        result = map(runtime, memory, bytes, address);
        driver->cuMemRelease(memory);
    }
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error,
                                "%" PRIu64 " bytes of another process's memory", bytes);
    gd_runtime_leave(runtime, pushed);
    return status;
}

void gd_share_end(griddep_runtime *runtime, uint64_t address, uint64_t bytes)
{
    const gd_driver *driver = runtime->driver;
    gd_ending ending;

    if (!gd_runtime_enter_to_end(runtime, &ending, NULL)) {
        driver->cuMemUnmap(address, (size_t)bytes);
        driver->cuMemAddressFree(address, (size_t)bytes);
    }
    gd_runtime_leave_ended(runtime, &ending);
}
