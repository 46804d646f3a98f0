/* The entry points cuDevice* and cuDriverGetVersion. */
#include <stdio.h>
#include <string.h>

#include "emulator/driver/call.h"

static gd_CUresult check(const void *output, gd_CUdevice device)
{
    if (!output)
        return GD_CUDA_ERROR_INVALID_VALUE;
    return gd_device_find(device) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_DEVICE;
}

gd_CUresult gd_cuDeviceGetAttribute(int *value, gd_CUdevice_attribute attribute, gd_CUdevice device)
{
    gd_CUresult result = check(value, device);
    int found;

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!gd_device_attribute(gd_device_find(device), attribute, &found))
        return GD_CUDA_ERROR_INVALID_VALUE;
    *value = found;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuDeviceGetUuid(gd_CUuuid *uuid, gd_CUdevice device)
{
    gd_CUresult result = check(uuid, device);

    if (result != GD_CUDA_SUCCESS)
        return result;
    memcpy(uuid->bytes, GD_EMULATED_UUID, sizeof uuid->bytes);
    uuid->bytes[GD_EMULATED_UUID_BYTES] = (char)(uuid->bytes[GD_EMULATED_UUID_BYTES] + device);
    return result;
}

static gd_CUresult get_text(char *text, int capacity, gd_CUdevice device, const char *value)
{
    gd_CUresult result = check(text, device);

    if (result == GD_CUDA_SUCCESS && capacity <= 0)
        result = GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS)
        snprintf(text, (size_t)capacity, "%s", value);
    return result;
}

gd_CUresult gd_cuDeviceGetName(char *name, int capacity, gd_CUdevice device)
{
    const gd_device *found = gd_device_find(device);
    char text[32];

    snprintf(text, sizeof text, "Emulated %s", found ? found->chip->name : "");
    return get_text(name, capacity, device, text);
}

/* Each device has a bus of its own. */
gd_CUresult gd_cuDeviceGetPCIBusId(char *bus, int capacity, gd_CUdevice device)
{
    char text[32];

    snprintf(text, sizeof text, "0000:%02x:00.0", (unsigned)device & 0xff);
    return get_text(bus, capacity, device, text);
}

gd_CUresult gd_cuDeviceGetByPCIBusId(gd_CUdevice *device, const char *text)
{
    unsigned domain = 0, bus = 0, slot = 0;

    if (!device || !text)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 2 || domain ||
        bus >= gd_the_emulator.device_count || slot)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *device = (gd_CUdevice)bus;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuDeviceCanAccessPeer(int *can, gd_CUdevice device, gd_CUdevice peer)
{
    gd_CUresult result = check(can, device);

    if (result == GD_CUDA_SUCCESS)
        result = check(can, peer);
    if (result == GD_CUDA_SUCCESS)
        *can = gd_device_is_peer(gd_device_find(device), gd_device_find(peer));
    return result;
}

/* NVLink between two of one kind, with atomic operations. */
gd_CUresult gd_cuDeviceGetP2PAttribute(int *value, gd_CUdevice_P2PAttribute attribute,
                                       gd_CUdevice number, gd_CUdevice peer_number)
{
    enum { RANK = 1, ARRAYS = 4 }; /* between them access, and atomic operations */
    const gd_device *device = gd_device_find(number), *peer = gd_device_find(peer_number);

    if (!value || attribute < RANK || attribute > ARRAYS)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!device || !peer || device == peer)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == RANK || attribute == ARRAYS ? 0 : gd_device_is_peer(device, peer);
    return GD_CUDA_SUCCESS;
}

#define SET(pointer, device, value)                                                                \
    (check((pointer), (device)) ? check((pointer), (device))                                       \
                                : (*(pointer) = (value), GD_CUDA_SUCCESS))

/* ---- entry points ---- */

gd_CUresult gd_cuDriverGetVersion(int *version)
{
    return version ? (*version = GD_DEVICE_DRIVER_VERSION, GD_CUDA_SUCCESS)
                   : GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult gd_cuDeviceGetCount(int *count)
{
    return SET(count, 0, (int)gd_the_emulator.device_count);
}

gd_CUresult gd_cuDeviceGet(gd_CUdevice *device, int ordinal)
{
    return SET(device, ordinal, ordinal);
}

gd_CUresult gd_cuDeviceTotalMem_v2(size_t *bytes, gd_CUdevice device)
{
    return SET(bytes, device, gd_the_emulator.settings.memory);
}

gd_CUresult gd_cuDeviceComputeCapability(int *major, int *minor, gd_CUdevice device)
{
    return !minor ? GD_CUDA_ERROR_INVALID_VALUE
                  : SET(major, device,
                        (*minor = (int)gd_device_find(device)->chip->capability % 10,
                         (int)gd_device_find(device)->chip->capability / 10));
}

gd_CUresult gd_cuDeviceGetUuid_v2(gd_CUuuid *uuid, gd_CUdevice device)
{
    return gd_cuDeviceGetUuid(uuid, device);
}

gd_CUresult gd_cuDeviceGetDefaultMemPool(gd_CUmemoryPool *pool, gd_CUdevice device)
{
    return SET(pool, device, gd_device_find(device)->default_pool.handle);
}

gd_CUresult gd_cuDeviceGetMemPool(gd_CUmemoryPool *pool, gd_CUdevice device)
{
    return !gd_device_find(device) ? GD_CUDA_ERROR_INVALID_VALUE
                                   : SET(pool, device, gd_device_find(device)->default_pool.handle);
}
