/* The entry points that the emulator exports: those that it carries out, and those that exist by name only. */
#ifndef GD_EMULATOR_API_H
#define GD_EMULATOR_API_H

#include "emulator/abi.h"

#define GD_ENTRY(symbol, name, version, arguments) gd_CUresult symbol arguments;
#include "emulator/entries.def"
#undef GD_ENTRY

#define GD_UNSUPPORTED(symbol, name, version) gd_CUresult symbol(void);
#include "emulator/unsupported.def"
#undef GD_UNSUPPORTED

#endif
