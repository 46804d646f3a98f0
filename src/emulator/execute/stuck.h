/* What polls, as a deadlock is told: see machine.h, gd_cta_recurs. */
#ifndef GD_EMULATOR_EXECUTE_STUCK_H
#define GD_EMULATOR_EXECUTE_STUCK_H

#include "emulator/execute/execute.h"

/* A lane has looked at memory, or at an mbarrier, that others are to change. */
void gd_note_poll(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address);

#endif
