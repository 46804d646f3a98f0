/* Which context allocated what. */
#ifndef GD_EMULATOR_SCHEDULE_OWNERSHIP_H
#define GD_EMULATOR_SCHEDULE_OWNERSHIP_H

#include "emulator/schedule/device.h"

/* Memory behind a handle (gd_memory_is_hidden), for who ends with the context; *host is where its
 * bytes are. */
gd_CUresult gd_ownership_take(gd_context *context, uint64_t bytes, gd_memory_kind kind,
                              uint64_t *handle, void **host);

/* Waits for all that may use it, and frees it; `otherwise` where there is none of this kind. */
gd_CUresult gd_ownership_release(uint64_t handle, gd_memory_kind kind, gd_CUresult otherwise);

/* Frees what a context that ends has allocated. */
void gd_ownership_end(const gd_context *context);

/* Once no context is left. */
void gd_ownership_free(void);

#endif
