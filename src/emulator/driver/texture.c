/* Arrays of one and two dimensions, texture objects, and their entry points. */
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/stream.h"
#include "emulator/machine/texture.h"
#include "emulator/schedule/device.h"
#include "emulator/schedule/ownership.h"

static uint64_t number_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* ---- what texels there are ---- */

static gd_CUresult check_format(int32_t format, uint32_t channels)
{
    if (channels != 1 && channels != 2 && channels != 4)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (gd_format_bytes(format))
        return GD_CUDA_SUCCESS;
    return format < GD_CU_AD_FORMAT_BC1_UNORM || format > 0x1ff
               ? GD_CUDA_ERROR_INVALID_VALUE
               : gd_device_unsupported(
                     "a format of texels other than integers of 8, 16 and 32 bits, half and float");
}

/* ---- arrays ---- */

static gd_CUresult create_array(gd_context *context, gd_CUarray *handle,
                                const gd_CUDA_ARRAY3D_DESCRIPTOR *wanted)
{
    gd_texels texels = {.width = wanted->Width,
                        .height = wanted->Height,
                        .format = wanted->Format,
                        .channels = wanted->NumChannels};
    const uint64_t widest =
        wanted->Height ? GD_DEVICE_TEXTURE_2D_WIDTH : GD_DEVICE_TEXTURE_1D_WIDTH;
    gd_CUresult result = gd_capture_check_unsafe();
    gd_array *array;

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!handle || !wanted->Width)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (wanted->Depth || wanted->Flags)
        return gd_device_unsupported(
            "an array of three dimensions, of layers, for surfaces or for gathers");
    result = check_format(wanted->Format, wanted->NumChannels);
    if (result != GD_CUDA_SUCCESS)
        return result;
    if (wanted->Width > widest || wanted->Height > GD_DEVICE_TEXTURE_2D_HEIGHT)
        return GD_CUDA_ERROR_INVALID_VALUE;
    texels.pitch = texels.width * gd_texel_bytes(&texels);
    const uint64_t bytes = texels.pitch * (texels.height ? texels.height : 1);
    result = gd_ownership_take(context, GD_ARRAY_TEXELS + bytes, GD_MEMORY_ARRAY, &texels.address,
                               (void **)&array);
    if (result != GD_CUDA_SUCCESS)
        return result;
    *handle = (gd_CUarray)(uintptr_t)texels.address;
    texels.address += GD_ARRAY_TEXELS;
    *array = (gd_array){.texels = texels};
    return GD_CUDA_SUCCESS;
}

static gd_CUresult create_plane(gd_context *context, gd_CUarray *handle,
                                const gd_CUDA_ARRAY_DESCRIPTOR *wanted)
{
    if (!wanted)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_CUDA_ARRAY3D_DESCRIPTOR whole = {.Width = wanted->Width,
                                              .Height = wanted->Height,
                                              .Format = wanted->Format,
                                              .NumChannels = wanted->NumChannels};
    return create_array(context, handle, &whole);
}

static gd_CUresult describe_array(gd_CUDA_ARRAY3D_DESCRIPTOR *target, gd_CUarray handle)
{
    const gd_array *array =
        gd_memory_behind(gd_the_emulator.memory, number_of(handle), GD_MEMORY_ARRAY);

    if (!target)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!array)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *target = (gd_CUDA_ARRAY3D_DESCRIPTOR){.Width = array->texels.width,
                                           .Height = array->texels.height,
                                           .Format = array->texels.format,
                                           .NumChannels = array->texels.channels};
    return GD_CUDA_SUCCESS;
}

static gd_CUresult describe_plane(gd_CUDA_ARRAY_DESCRIPTOR *target, gd_CUarray handle)
{
    gd_CUDA_ARRAY3D_DESCRIPTOR whole;
    gd_CUresult result = describe_array(target ? &whole : NULL, handle);

    if (result == GD_CUDA_SUCCESS)
        *target = (gd_CUDA_ARRAY_DESCRIPTOR){.Width = whole.Width,
                                             .Height = whole.Height,
                                             .Format = whole.Format,
                                             .NumChannels = whole.NumChannels};
    return result;
}

static gd_CUresult destroy_array(gd_CUarray handle)
{
    gd_CUresult result = gd_capture_check_unsafe();

    return result == GD_CUDA_SUCCESS ? gd_ownership_release(number_of(handle), GD_MEMORY_ARRAY,
                                                            GD_CUDA_ERROR_INVALID_HANDLE)
                                     : result;
}

gd_CUresult cuArrayCreate_v2(gd_CUarray *array, const gd_CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    GD_CALL(GD_NEED_LIVE, create_plane(context, array, descriptor));
}

gd_CUresult cuArray3DCreate_v2(gd_CUarray *array, const gd_CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    GD_CALL(GD_NEED_LIVE,
            descriptor ? create_array(context, array, descriptor) : GD_CUDA_ERROR_INVALID_VALUE);
}

gd_CUresult cuArrayDestroy(gd_CUarray array)
{
    GD_CALL(GD_NEED_LIVE, destroy_array(array));
}

gd_CUresult cuArrayGetDescriptor_v2(gd_CUDA_ARRAY_DESCRIPTOR *descriptor, gd_CUarray array)
{
    GD_CALL(GD_NEED_CONTEXT, describe_plane(descriptor, array));
}

gd_CUresult cuArray3DGetDescriptor_v2(gd_CUDA_ARRAY3D_DESCRIPTOR *descriptor, gd_CUarray array)
{
    GD_CALL(GD_NEED_CONTEXT, describe_array(descriptor, array));
}

/* ---- texture objects: what they read ---- */

static gd_CUresult find_array(const gd_CUDA_RESOURCE_DESC *resource, gd_texels *texels)
{
    const gd_array *array = gd_memory_behind(
        gd_the_emulator.memory, number_of(resource->res.array.hArray), GD_MEMORY_ARRAY);

    if (!array)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *texels = array->texels;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult find_linear(const gd_CUDA_RESOURCE_DESC *resource, gd_texels *texels)
{
    const uint64_t bytes = resource->res.linear.sizeInBytes;
    gd_CUresult result =
        check_format(resource->res.linear.format, resource->res.linear.numChannels);

    if (result != GD_CUDA_SUCCESS)
        return result;
    *texels = (gd_texels){.address = resource->res.linear.devPtr,
                          .pitch = bytes,
                          .format = resource->res.linear.format,
                          .channels = resource->res.linear.numChannels};
    texels->width = bytes / gd_texel_bytes(texels);
    return texels->width && texels->width <= GD_DEVICE_TEXTURE_LINEAR_WIDTH &&
                   texels->address % GD_DEVICE_TEXTURE_ALIGNMENT == 0 &&
                   gd_work_resolve(texels->address, bytes, NULL)
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_INVALID_VALUE;
}

static gd_CUresult find_pitched(const gd_CUDA_RESOURCE_DESC *resource, gd_texels *texels)
{
    gd_CUresult result =
        check_format(resource->res.pitch2D.format, resource->res.pitch2D.numChannels);

    if (result != GD_CUDA_SUCCESS)
        return result;
    *texels = (gd_texels){.address = resource->res.pitch2D.devPtr,
                          .pitch = resource->res.pitch2D.pitchInBytes,
                          .width = resource->res.pitch2D.width,
                          .height = resource->res.pitch2D.height,
                          .format = resource->res.pitch2D.format,
                          .channels = resource->res.pitch2D.numChannels};
    if (!texels->width || !texels->height || texels->width > GD_DEVICE_TEXTURE_PITCHED_WIDTH ||
        texels->height > GD_DEVICE_TEXTURE_PITCHED_HEIGHT ||
        texels->pitch > GD_DEVICE_TEXTURE_PITCH ||
        texels->pitch % GD_DEVICE_TEXTURE_PITCH_ALIGNMENT ||
        texels->address % GD_DEVICE_TEXTURE_ALIGNMENT)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const uint64_t row = texels->width * gd_texel_bytes(texels);
    return row <= texels->pitch && gd_work_resolve(texels->address,
                                                   (texels->height - 1) * texels->pitch + row, NULL)
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_INVALID_VALUE;
}

static gd_CUresult find_texels(const gd_CUDA_RESOURCE_DESC *resource, gd_texels *texels)
{
    switch (resource->resType) {
    case GD_CU_RESOURCE_TYPE_ARRAY:
        return find_array(resource, texels);
    case GD_CU_RESOURCE_TYPE_LINEAR:
        return find_linear(resource, texels);
    case GD_CU_RESOURCE_TYPE_PITCH2D:
        return find_pitched(resource, texels);
    case GD_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return gd_device_unsupported("a texture of a mipmapped array");
    default:
        return GD_CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- texture objects: how they read ---- */

static bool has_border(const gd_CUDA_TEXTURE_DESC *sampling)
{
    for (uint32_t i = 0; i < GD_MOST_CHANNELS; i++) {
        if (sampling->borderColor[i] != 0)
            return true;
    }
    return false;
}

/* Modes and the filter are nothing to linear memory. */
static gd_CUresult check_sampling(const gd_texture *texture)
{
    const gd_CUDA_TEXTURE_DESC *sampling = &texture->sampling;
    const uint32_t known = GD_CU_TRSF_READ_AS_INTEGER | GD_CU_TRSF_NORMALIZED_COORDINATES |
                           GD_CU_TRSF_SRGB | GD_CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                           GD_CU_TRSF_SEAMLESS_CUBEMAP;

    if (sampling->flags & ~known || sampling->flags & GD_CU_TRSF_SEAMLESS_CUBEMAP)
        return GD_CUDA_ERROR_INVALID_VALUE; /* no array is for cube maps */
    if (sampling->flags & GD_CU_TRSF_SRGB)
        return gd_device_unsupported("a texture of sRGB colors");
    if (texture->resource.resType == GD_CU_RESOURCE_TYPE_LINEAR)
        return GD_CUDA_SUCCESS;
    for (uint32_t i = 0; i < 2; i++) {
        if (sampling->addressMode[i] < GD_CU_TR_ADDRESS_MODE_WRAP ||
            sampling->addressMode[i] > GD_CU_TR_ADDRESS_MODE_BORDER)
            return GD_CUDA_ERROR_INVALID_VALUE;
    }
    if (sampling->filterMode != GD_CU_TR_FILTER_MODE_POINT &&
        sampling->filterMode != GD_CU_TR_FILTER_MODE_LINEAR)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (gd_texels_are_float(&texture->texels, sampling->flags))
        return GD_CUDA_SUCCESS;
    if (sampling->filterMode == GD_CU_TR_FILTER_MODE_LINEAR)
        return GD_CUDA_ERROR_INVALID_VALUE;
    return has_border(sampling)
               ? gd_device_unsupported(
                     "a border other than 0 for a texture that is read as integers")
               : GD_CUDA_SUCCESS;
}

static gd_CUresult create_texture(gd_context *context, gd_CUtexObject *handle,
                                  const gd_CUDA_RESOURCE_DESC *resource,
                                  const gd_CUDA_TEXTURE_DESC *sampling, const void *view)
{
    gd_texture texture, *made;
    uint64_t address;

    if (!handle || !resource || !sampling || resource->flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    texture = (gd_texture){.resource = *resource, .sampling = *sampling};
    gd_CUresult result = find_texels(resource, &texture.texels);
    if (result == GD_CUDA_SUCCESS)
        result = check_sampling(&texture);
    if (result == GD_CUDA_SUCCESS && view) /* views are of arrays alone */
        result = resource->resType == GD_CU_RESOURCE_TYPE_ARRAY
                     ? gd_device_unsupported("a view of an array")
                     : GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS)
        result =
            gd_ownership_take(context, sizeof *made, GD_MEMORY_TEXTURE, &address, (void **)&made);
    if (result != GD_CUDA_SUCCESS)
        return result;
    *made = texture;
    *handle = address;
    return GD_CUDA_SUCCESS;
}

static const gd_texture *find_texture(gd_CUtexObject handle)
{
    return gd_memory_behind(gd_the_emulator.memory, handle, GD_MEMORY_TEXTURE);
}

static gd_CUresult get_resource(gd_CUDA_RESOURCE_DESC *resource, gd_CUtexObject handle)
{
    const gd_texture *texture = find_texture(handle);

    if (!resource || !texture)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *resource = texture->resource;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult get_sampling(gd_CUDA_TEXTURE_DESC *sampling, gd_CUtexObject handle)
{
    const gd_texture *texture = find_texture(handle);

    if (!sampling || !texture)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *sampling = texture->sampling;
    return GD_CUDA_SUCCESS;
}

gd_CUresult cuTexObjectCreate(gd_CUtexObject *texture, const gd_CUDA_RESOURCE_DESC *resource,
                              const gd_CUDA_TEXTURE_DESC *sampling,
                              const gd_CUDA_RESOURCE_VIEW_DESC *view)
{
    GD_CALL(GD_NEED_LIVE, create_texture(context, texture, resource, sampling, view));
}

gd_CUresult cuTexObjectDestroy(gd_CUtexObject texture)
{
    GD_CALL(GD_NEED_LIVE,
            gd_ownership_release(texture, GD_MEMORY_TEXTURE, GD_CUDA_ERROR_INVALID_VALUE));
}

gd_CUresult cuTexObjectGetResourceDesc(gd_CUDA_RESOURCE_DESC *resource, gd_CUtexObject texture)
{
    GD_CALL(GD_NEED_CONTEXT, get_resource(resource, texture));
}

gd_CUresult cuTexObjectGetTextureDesc(gd_CUDA_TEXTURE_DESC *sampling, gd_CUtexObject texture)
{
    GD_CALL(GD_NEED_CONTEXT, get_sampling(sampling, texture));
}
