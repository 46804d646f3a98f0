/* Texture fetches. */
#ifndef GD_EMULATOR_EXECUTE_TEXTURE_H
#define GD_EMULATOR_EXECUTE_TEXTURE_H

#include "emulator/execute/execute.h"

/* tex: `a` is the handle, `count` the dimensions; in the list stand the slots of the four results,
 * then those of the coordinates, which are floating-point numbers if x says so. */
gd_run gd_run_texture;

#endif
