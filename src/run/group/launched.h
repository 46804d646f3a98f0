/* What the launcher of a process (torchrun, mpirun, srun) has told it by its environment. */
#ifndef GD_RUN_LAUNCHED_H
#define GD_RUN_LAUNCHED_H

#include <stdint.h>

#include "griddep.h"

/* This process's rank among how many, and a path of the job's own where they meet; its folder is
 * there. ARGUMENT names the variable that is missing or wrong; UNSUPPORTED where processes are of
 * several machines. */
int32_t gd_launched_read(uint32_t *rank, uint32_t *count, char path[108], griddep_error *error);

#endif
