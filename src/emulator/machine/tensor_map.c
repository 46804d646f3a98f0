/* Which tensor maps are right.
 *
 * What is refused was compared with an H200 (driver 580) on thousands of random arguments
 * (tests/fuzz/tensor.c). It is not all that cuda.h says: where the map lies does not matter,
 * strides and the address may be 0, an interleave of 32 bytes goes with any swizzle. And it is
 * more: the box has to fit into an SM's shared memory, the pixels of im2col have to be some. */
#include "emulator/abi.h"
#include "emulator/machine/tensor_map.h"

enum { BOX_LIMIT = 233472, MOST_BOX = 256, MOST_STEP = 8, MOST_CHANNELS = 256, MOST_PIXELS = 1024 };

static const uint64_t most_elements = UINT64_C(1) << 32; /* of a dimension */
static const uint64_t stride_limit = UINT64_C(1) << 40;

/* ---- what the driver asks of a map ---- */

bool gd_tensor_map_are_constants(int32_t type, int32_t interleave, int32_t swizzle,
                                 int32_t promotion, int32_t fill)
{
    bool is_float = type >= GD_CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
                    type <= GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;

    /* packed types and other swizzles are those of later devices */
    if (type < 0 || type > GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ || interleave < 0 ||
        interleave > GD_CU_TENSOR_MAP_INTERLEAVE_32B || swizzle < 0 ||
        swizzle > GD_CU_TENSOR_MAP_SWIZZLE_128B || promotion < 0 ||
        promotion > GD_CU_TENSOR_MAP_L2_PROMOTION_L2_256B || fill < 0 ||
        fill > GD_CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return false;
    return fill == GD_CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_float;
}

static bool is_wide(const gd_tensor_map *map)
{
    return map->interleave == GD_CU_TENSOR_MAP_INTERLEAVE_32B;
}

bool gd_tensor_map_is_address(const gd_tensor_map *map, uint64_t address)
{
    return address % (is_wide(map) ? 32 : 16) == 0;
}

static bool is_tensor(const gd_tensor_map *map)
{
    const uint32_t least =
        map->im2col || map->interleave != GD_CU_TENSOR_MAP_INTERLEAVE_NONE ? 3 : 1;

    if (map->rank < least || !gd_tensor_map_is_address(map, map->address))
        return false;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (!map->sizes[i] || map->sizes[i] > most_elements || !map->steps[i] ||
            map->steps[i] > MOST_STEP)
            return false;
        if (i && (map->strides[i] % (is_wide(map) ? 32 : 16) || map->strides[i] >= stride_limit))
            return false;
    }
    return true;
}

/* What one copy takes of the innermost dimension. */
static bool is_inner(const gd_tensor_map *map, uint32_t elements)
{
    const uint32_t bytes = elements * gd_tensor_element(map->type),
                   span = gd_tensor_span(map->swizzle);

    return bytes % 16 == 0 &&
           (!span || map->interleave != GD_CU_TENSOR_MAP_INTERLEAVE_NONE || bytes <= span);
}

static bool is_box(const gd_tensor_map *map)
{
    uint64_t bytes = gd_tensor_element(map->type);

    for (uint32_t i = 0; i < map->rank; i++) {
        if (!map->box[i] || map->box[i] > MOST_BOX)
            return false;
        bytes *= i ? (map->box[i] + map->steps[i] - 1) / map->steps[i] : map->box[i];
    }
    return bytes <= BOX_LIMIT && is_inner(map, map->box[0]);
}

/* The corners' range shrinks with the rank. With interleave, the dimension before the last is one
 * of channels. */
static bool is_im2col(const gd_tensor_map *map)
{
    const int32_t reach = map->rank == 3 ? 32768 : map->rank == 4 ? 128 : 16;
    const uint32_t pixels =
        map->rank - (map->interleave == GD_CU_TENSOR_MAP_INTERLEAVE_NONE ? 2u : 3u);

    for (uint32_t i = 0; i + 2 < map->rank; i++) {
        const uint32_t width =
            (uint32_t)map->sizes[i + 1] + (uint32_t)map->upper[i] - (uint32_t)map->lower[i];
        if (map->lower[i] < -reach || map->lower[i] >= reach || map->upper[i] < -reach ||
            map->upper[i] >= reach || (i < pixels && (!width || width > INT32_MAX)))
            return false;
    }
    return map->channels && map->channels <= MOST_CHANNELS && map->pixels &&
           map->pixels <= MOST_PIXELS &&
           (uint64_t)map->channels * map->pixels * gd_tensor_element(map->type) <= BOX_LIMIT &&
           is_inner(map, map->channels);
}

bool gd_tensor_map_is_right(const gd_tensor_map *map)
{
    return gd_tensor_map_are_constants(map->type, map->interleave, map->swizzle, map->promotion,
                                       map->fill) &&
           is_tensor(map) && (map->im2col ? is_im2col(map) : is_box(map));
}

bool gd_tensor_map_take(const void *bytes, gd_tensor_map *map)
{
    return gd_tensor_map_read(bytes, map) && gd_tensor_map_is_right(map);
}
