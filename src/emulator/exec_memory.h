/* Loads, stores, and what goes with them. */
#ifndef GD_EMULATOR_EXEC_MEMORY_H
#define GD_EMULATOR_EXEC_MEMORY_H

#include "emulator/exec.h"

enum {
    GD_ACCESS_SIGNED = 1, /* a load extends the sign */
    GD_ACCESS_STRONG = 2  /* volatile, relaxed, acquire, release: a loop of these polls */
};

/* `count` elements of `bytes` from memory to the slots in the list; x is the size of a destination's lanes, y of the register as declared. */
gd_run gd_run_load;
/* The other way. */
gd_run gd_run_store;
/* Nothing but the check that the address can be written (discard, applypriority). */
gd_run gd_run_touch;

#endif
