/* How the driver at hand encodes tensor maps. */
#ifndef GD_RUN_TENSOR_MAP_H
#define GD_RUN_TENSOR_MAP_H

#include "run/runtime.h"

/* Whether it does so as ptx/require/tensor_map.h says, by maps that it is asked for. The runtime's
 * context must be current. */
bool gd_tensor_map_is_understood(const griddep_runtime *runtime);

#endif
