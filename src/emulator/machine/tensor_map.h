/* Which tensor maps the emulated driver takes; their 128 bytes are those of NVIDIA's drivers
 * (ptx/require/tensor_map.h). */
#ifndef GD_EMULATOR_MACHINE_TENSOR_MAP_H
#define GD_EMULATOR_MACHINE_TENSOR_MAP_H

#include <stdbool.h>

#include "ptx/require/tensor_map.h"

/* False: these bytes are no map, or none that cuTensorMapEncode* would have made. */
bool gd_tensor_map_take(const void *bytes, gd_tensor_map *map);

/* Whether cuTensorMapEncode* makes it. */
bool gd_tensor_map_is_right(const gd_tensor_map *map);

/* Its parts that are asked before there is a map. */
bool gd_tensor_map_are_constants(int32_t type, int32_t interleave, int32_t swizzle,
                                 int32_t promotion, int32_t fill);
bool gd_tensor_map_is_address(const gd_tensor_map *map, uint64_t address);

#endif
