/* Which context allocated what. */
#ifndef GD_EMULATOR_SCHEDULE_OWNERSHIP_H
#define GD_EMULATOR_SCHEDULE_OWNERSHIP_H

#include "emulator/schedule/device.h"

/* Frees what a context that ends has allocated. */
void gd_ownership_end(const gd_context *context);

/* Once no context is left. */
void gd_ownership_free(void);

#endif
