/* Copies and fills from the driver ABI's structs, checked. */
#ifndef GD_EMULATOR_DRIVER_COPY_H
#define GD_EMULATOR_DRIVER_COPY_H

#include "emulator/api.h"
#include "emulator/schedule/work.h"

/* Copy work from its parameters: device addresses must lie in allocations, and what is copied of
 * arrays inside them. */
gd_CUresult gd_copy_make(const gd_CUDA_MEMCPY3D *params, gd_work *work);

/* Whether a fill stays inside one allocation and is aligned. */
gd_CUresult gd_fill_check(const gd_fill_work *fill);

#endif
