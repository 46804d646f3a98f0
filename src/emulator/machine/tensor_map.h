/* Which tensor maps the emulated driver takes; their 128 bytes are those of NVIDIA's drivers
 * (ptx/require/tensor_map.h). */
#ifndef GD_EMULATOR_MACHINE_TENSOR_MAP_H
#define GD_EMULATOR_MACHINE_TENSOR_MAP_H

#include <stdbool.h>

#include "ptx/require/tensor_map.h"

/* False: these bytes are no map, or none that cuTensorMapEncode* would have made. */
bool gd_tensor_map_take(const void *bytes, gd_tensor_map *map);

#endif
