/* cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuTensorMapReplaceAddress. */
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/schedule/device.h"
#include "emulator/machine/tensor_map.h"

/* ---- entry points ---- */

/* What the two modes have in common; false for what no map can hold. */
static bool read_common(gd_tensor_map *map, const void *target, int32_t type, uint32_t rank,
                        const void *address, const uint64_t *sizes, const uint64_t *strides,
                        const uint32_t *steps)
{
    if (!target || !sizes || !steps || !rank || rank > GD_TENSOR_RANK || (rank > 1 && !strides))
        return false;
    map->type = (uint8_t)type;
    map->rank = (uint8_t)rank;
    map->address = (uint64_t)(uintptr_t)address;
    for (uint32_t i = 0; i < rank; i++) {
        map->sizes[i] = sizes[i];
        map->steps[i] = steps[i];
        map->strides[i] = i ? strides[i - 1] : 0;
    }
    return true;
}

static gd_CUresult finish(gd_CUtensorMap *target, const gd_tensor_map *map)
{
    if (!gd_tensor_map_is_right(map))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_tensor_map_write(target, map);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult encode_tiled(gd_CUtensorMap *target, gd_tensor_map *map, const uint32_t *box)
{
    if (!box)
        return GD_CUDA_ERROR_INVALID_VALUE;
    memcpy(map->box, box, map->rank * sizeof *box);
    return finish(target, map);
}

static gd_CUresult encode_im2col(gd_CUtensorMap *target, gd_tensor_map *map, const int *lower,
                                 const int *upper)
{
    if (!lower || !upper || map->rank < 3)
        return GD_CUDA_ERROR_INVALID_VALUE;
    map->im2col = true;
    memcpy(map->lower, lower, (map->rank - 2u) * sizeof *lower);
    memcpy(map->upper, upper, (map->rank - 2u) * sizeof *upper);
    return finish(target, map);
}

gd_CUresult gd_cuTensorMapReplaceAddress(gd_CUtensorMap *target, void *address)
{
    gd_tensor_map map;

    if (!target || !gd_tensor_map_take(target, &map) ||
        !gd_tensor_map_is_address(&map, (uint64_t)(uintptr_t)address))
        return GD_CUDA_ERROR_INVALID_VALUE;
    map.address = (uint64_t)(uintptr_t)address;
    gd_tensor_map_write(target, &map);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuTensorMapEncodeTiled(gd_CUtensorMap *target, gd_CUtensorMapDataType type,
                                      uint32_t rank, void *address, const uint64_t *sizes,
                                      const uint64_t *strides, const uint32_t *box,
                                      const uint32_t *steps, gd_CUtensorMapInterleave interleave,
                                      gd_CUtensorMapSwizzle swizzle,
                                      gd_CUtensorMapL2promotion promotion,
                                      gd_CUtensorMapFloatOOBfill fill)
{
    gd_tensor_map map = {.interleave = (uint8_t)interleave,
                         .swizzle = (uint8_t)swizzle,
                         .promotion = (uint8_t)promotion,
                         .fill = (uint8_t)fill};

    return gd_tensor_map_are_constants(type, interleave, swizzle, promotion, fill) &&
                   read_common(&map, target, type, rank, address, sizes, strides, steps)
               ? encode_tiled(target, &map, box)
               : GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult gd_cuTensorMapEncodeIm2col(gd_CUtensorMap *target, gd_CUtensorMapDataType type,
                                       uint32_t rank, void *address, const uint64_t *sizes,
                                       const uint64_t *strides, const int *lower, const int *upper,
                                       uint32_t channels, uint32_t pixels, const uint32_t *steps,
                                       gd_CUtensorMapInterleave interleave,
                                       gd_CUtensorMapSwizzle swizzle,
                                       gd_CUtensorMapL2promotion promotion,
                                       gd_CUtensorMapFloatOOBfill fill)
{
    gd_tensor_map map = {.interleave = (uint8_t)interleave,
                         .swizzle = (uint8_t)swizzle,
                         .promotion = (uint8_t)promotion,
                         .fill = (uint8_t)fill,
                         .channels = channels,
                         .pixels = pixels};

    return gd_tensor_map_are_constants(type, interleave, swizzle, promotion, fill) &&
                   read_common(&map, target, type, rank, address, sizes, strides, steps)
               ? encode_im2col(target, &map, lower, upper)
               : GD_CUDA_ERROR_INVALID_VALUE;
}
