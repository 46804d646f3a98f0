/* The entry points that the emulator exports: those that it carries out, their per-thread variants,
 * and those that exist by name only. */
#ifndef GD_EMULATOR_API_H
#define GD_EMULATOR_API_H

#include "emulator/abi.h"

#define GD_ENTRY(symbol, name, version, arguments) gd_CUresult symbol arguments;
#include "emulator/entries.def"
#undef GD_ENTRY

#define GD_UNSUPPORTED(symbol, name, version) gd_CUresult symbol(void);
#include "emulator/unsupported.def"
#undef GD_UNSUPPORTED

#define GD_PER_THREAD(symbol, base, arguments, names) gd_CUresult symbol arguments;
#include "emulator/per_thread.def"
#undef GD_PER_THREAD

#define GD_EXPORTED(symbol) gd_CUresult symbol(void);
#include "emulator/exported.def"
#undef GD_EXPORTED

#endif
