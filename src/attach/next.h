/* The driver behind this library: its functions. */
#ifndef GD_ATTACH_NEXT_H
#define GD_ATTACH_NEXT_H

#include "emulator/api.h"

/* A pointer for each export of driver.def, and for its per-thread variant; NULL where the driver
 * lacks it. Filled when the library is loaded, and never changed. */
typedef struct gd_next {
#define GD_POINTER(symbol, arguments) gd_CUresult(*symbol) GD_PARAMETERS(arguments);
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_POINTER(symbol, arguments) GD_WHERE_VARIANT(variant, symbol, GD_POINTER, arguments)
#include "cuda/driver.def"
#undef GD_DRIVER
#undef GD_POINTER
} gd_next;

extern gd_next gd_next_driver;

/* Calls a function of the driver behind; NOT_SUPPORTED where that lacks it. */
#define GD_NEXT(symbol, ...)                                                                       \
    (gd_next_driver.symbol ? gd_next_driver.symbol(__VA_ARGS__) : GD_CUDA_ERROR_NOT_SUPPORTED)

#endif
