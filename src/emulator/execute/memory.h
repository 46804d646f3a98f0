/* Loads, stores, and what goes with them. */
#ifndef GD_EMULATOR_EXECUTE_MEMORY_H
#define GD_EMULATOR_EXECUTE_MEMORY_H

#include "emulator/execute/execute.h"

enum {
    GD_ACCESS_SIGNED = 1, /* a load extends the sign */
    GD_ACCESS_STRONG = 2  /* volatile, relaxed, acquire, release: a loop of these polls */
};

/* The space that an address of a space means, which generic addresses carry in themselves; *address
 * becomes the one in it. */
gd_space gd_resolve(gd_space space, uint64_t *address);

/* The allocation that holds an address of global memory; NULL. */
gd_allocation *gd_allocation_find(gd_cta *cta, const gd_code *code, uint64_t address);

/* A lane has looked at memory, or at an mbarrier, that others are to change. */
void gd_note_poll(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address);

/* `count` elements of `bytes` from memory to the slots in the list; x is the size of a
 * destination's lanes, y of the register as declared. */
gd_run gd_run_load;
/* The other way. */
gd_run gd_run_store;
/* Nothing but the check that the address can be written (discard, applypriority). */
gd_run gd_run_touch;

#endif
