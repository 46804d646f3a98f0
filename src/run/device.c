/* Devices: what each of a driver is like. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/host.h"
#include "run/runtime.h"
#include "run/stream.h"

enum { INFO_MINIMUM = sizeof(griddep_device_info) };

/* Opens a driver for a question. The driver's library stays loaded. */
static int32_t begin(const char *name, const void *output, gd_driver **driver, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (!status && !output)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "an output is NULL");
    if (!status)
        status = gd_host_check(error);
    return status ? status : gd_runtime_open_driver(name, driver, error);
}

static int32_t count_devices(const gd_driver *driver, int *count, griddep_error *error)
{
    gd_CUresult result = driver->cuDeviceGetCount(count);

    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(driver, result, error, "the devices cannot be counted");
}

static int32_t find_device(const gd_driver *driver, int32_t ordinal, gd_CUdevice *device,
                           uint32_t *devices, griddep_error *error)
{
    int count = 0;
    int32_t status = count_devices(driver, &count, error);

    if (status)
        return status;
    if (ordinal < 0 || ordinal >= count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "device %" PRId32 " does not exist; there %s %d", ordinal,
                            count == 1 ? "is" : "are", count);
    *devices = (uint32_t)count;
    gd_CUresult result = driver->cuDeviceGet(device, ordinal);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(driver, result, error, "device %" PRId32, ordinal);
}

/* An attribute that the driver does not know is 0. */
static uint32_t ask(const gd_driver *driver, gd_CUdevice device, gd_CUdevice_attribute attribute)
{
    int value = 0;

    return driver->cuDeviceGetAttribute(&value, attribute, device) == GD_CUDA_SUCCESS && value > 0
               ? (uint32_t)value
               : 0;
}

static int32_t fill_info(const gd_driver *driver, gd_CUdevice device, griddep_device_info *info,
                         griddep_error *error)
{
    const struct {
        uint32_t *value;
        gd_CUdevice_attribute attribute;
    } asked[] = {
        {&info->multiprocessors, GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {&info->shared_bytes_per_multiprocessor,
         GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
        {&info->shared_bytes_per_block, GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
        {&info->registers_per_multiprocessor,
         GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
        {&info->threads_per_multiprocessor, GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
        {&info->blocks_per_multiprocessor, GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
        {&info->copy_engines, GD_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
        {&info->pools, GD_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
        {&info->integrated, GD_CU_DEVICE_ATTRIBUTE_INTEGRATED},
        {&info->pci_domain, GD_CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
        {&info->pci_bus, GD_CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
        {&info->pci_device, GD_CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID}};
    size_t memory = 0;
    gd_CUuuid uuid;

    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        *asked[i].value = ask(driver, device, asked[i].attribute);
    info->capability =
        (int32_t)(10 * ask(driver, device, GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                  ask(driver, device, GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    info->l2_bytes = ask(driver, device, GD_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    if (driver->cuDeviceGetUuid && driver->cuDeviceGetUuid(&uuid, device) == GD_CUDA_SUCCESS)
        memcpy(info->uuid, uuid.bytes, sizeof info->uuid);
    gd_CUresult result = driver->cuDeviceGetName(info->name, (int)sizeof info->name - 1, device);
    if (result == GD_CUDA_SUCCESS)
        result = driver->cuDeviceTotalMem(&memory, device);
    info->memory_bytes = memory;
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(driver, result, error,
                                "the device's name and memory cannot be read");
}

int32_t griddep_device_get_info(const char *driver_name, int32_t device, griddep_device_info *info,
                                griddep_error *error)
{
    griddep_device_info made = {.size = sizeof made, .device = device};
    gd_driver *driver = NULL;
    gd_CUdevice found = 0;
    int32_t status = begin(driver_name, info, &driver, error);

    if (status)
        return status;
    status = find_device(driver, device, &found, &made.device_count, error);
    if (!status)
        status = fill_info(driver, found, &made, error);
    gd_driver_close(driver);
    return status ? status
                  : gd_struct_write(info, &made, sizeof made, INFO_MINIMUM, "griddep_device_info",
                                    error);
}
