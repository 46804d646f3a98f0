/* The fake driver's devices, contexts and error words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

gd_CUresult fake_do_init(unsigned int flags)
{
    const char *scripted = getenv("FAKE_DRIVER_INIT");

    if (flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (scripted && *scripted)
        return (gd_CUresult)strtol(scripted, NULL, 10);
    if (fake_state.device_count == 0)
        return GD_CUDA_ERROR_NO_DEVICE;
    fake_state.initialized = true;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_get_version(int *version)
{
    if (!version)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *version = fake_state.version;
    return GD_CUDA_SUCCESS;
}

static const char *find_error(gd_CUresult error)
{
    static const struct {
        gd_CUresult result;
        const char *name;
    } names[] = {
#define GD_RESULT(name, value, status) {value, #name},
#include "cuda/abi_errors.def"
#undef GD_RESULT
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].result == error)
            return names[i].name;
    }
    return NULL;
}

gd_CUresult fake_do_get_error(gd_CUresult error, const char **text, bool words)
{
    const char *name = find_error(error);

    if (!text)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *text = name && words ? "the fake driver's words" : name;
    return name ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

static bool is_device(gd_CUdevice device)
{
    return device >= 0 && device < fake_state.device_count;
}

gd_CUresult fake_do_device_count(int *count)
{
    if (!count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *count = fake_state.device_count;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_device_get(gd_CUdevice *device, int ordinal)
{
    if (!device)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_device_name(char *name, int bytes, gd_CUdevice device)
{
    if (!name || bytes <= 0)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)bytes, "Fake device %d", device);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_device_uuid(gd_CUuuid *uuid, gd_CUdevice device)
{
    if (!uuid)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    memset(uuid->bytes, 'f', sizeof uuid->bytes);
    if (fake_report_is_emulated())
        memcpy(uuid->bytes, GD_EMULATED_UUID, sizeof uuid->bytes);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_device_attribute(int *value, gd_CUdevice_attribute attribute,
                                     gd_CUdevice device)
{
    if (!value || attribute <= 0 || attribute >= ATTRIBUTES)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *value = fake_state.attributes[attribute];
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_device_memory(size_t *bytes, gd_CUdevice device)
{
    if (!bytes)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *bytes = fake_state.memory_bytes;
    return GD_CUDA_SUCCESS;
}

static fake_object *find_primary(gd_CUdevice device)
{
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (o->kind == CONTEXT && o->is.context.primary && o->is.context.device == device)
            return o;
    }
    return NULL;
}

fake_object *fake_context_create(gd_CUdevice device, bool primary)
{
    fake_object *context = fake_object_create(CONTEXT, NULL);

    context->is.context.device = device;
    context->is.context.primary = primary;
    return context;
}

gd_CUresult fake_do_primary_retain(gd_CUcontext *context, gd_CUdevice device)
{
    if (!context)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    fake_object *primary = find_primary(device);
    if (!primary)
        primary = fake_context_create(device, true);
    fake_state.retains[device]++;
    *context = primary->handle;
    return GD_CUDA_SUCCESS;
}

/* With the last retain the context is destroyed; what was made in it stays, unusable, and counts as
 * leaked. */
gd_CUresult fake_do_primary_release(gd_CUdevice device)
{
    if (!is_device(device))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (fake_state.retains[device] == 0)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (--fake_state.retains[device] == 0)
        fake_object_end(find_primary(device));
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_get_current(gd_CUcontext *context)
{
    if (!context)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *context = fake_context_handle();
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_get_device(gd_CUdevice *device)
{
    if (!device)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *device = fake_context_current()->is.context.device;
    return GD_CUDA_SUCCESS;
}
