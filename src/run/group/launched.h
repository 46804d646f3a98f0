/* What the launcher of a process (torchrun, mpirun, srun) has told it by its environment. */
#ifndef GD_RUN_LAUNCHED_H
#define GD_RUN_LAUNCHED_H

#include <stdint.h>

#include "griddep.h"

enum { GD_LAUNCHED_PLACE = 320 };

/* This process's rank among how many, and a place of the job's own where they meet (place.h): a
 * path whose folder is there, or an address where processes are of several machines. ARGUMENT names
 * the variable that is missing or wrong. */
int32_t gd_launched_read(uint32_t *rank, uint32_t *count, char place[GD_LAUNCHED_PLACE],
                         griddep_error *error);

#endif
