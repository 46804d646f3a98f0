/* Memory of a device that other processes map, and theirs in this one. */
#ifndef GD_RUN_SHARE_H
#define GD_RUN_SHARE_H

#include "griddep.h"
#include "run/runtime.h"

/* Makes memory of at least so many bytes; *bytes becomes how many there are, and *file a descriptor
 * for others, the caller's to close. */
int32_t gd_share_make(griddep_runtime *runtime, uint64_t *bytes, uint64_t *address, int *file,
                      griddep_error *error);

/* Maps what another process has made; the descriptor stays the caller's. */
int32_t gd_share_take(griddep_runtime *runtime, int file, uint64_t bytes, uint64_t *address,
                      griddep_error *error);

void gd_share_end(griddep_runtime *runtime, uint64_t address, uint64_t bytes);

#endif
