/* The entry points that the emulator exports: each of driver.def, and its per-thread variant. */
#ifndef GD_EMULATOR_API_H
#define GD_EMULATOR_API_H

#include "cuda/abi_opaque.h"
#include "cuda/driver_rows.h"
#include "emulator/abi.h"

#define GD_DECLARE(symbol, arguments) gd_CUresult symbol GD_PARAMETERS(arguments);
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_DECLARE(symbol, arguments) GD_WHERE_VARIANT(variant, symbol, GD_DECLARE, arguments)
#include "cuda/driver.def"
#undef GD_DRIVER
#undef GD_DECLARE

#endif
