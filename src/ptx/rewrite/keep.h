/* A module without the entries that nobody asks for. */
#ifndef GD_PTX_REWRITE_KEEP_H
#define GD_PTX_REWRITE_KEEP_H

#include <stdint.h>

#include "griddep.h"

/* Of all entries those of the names alone; what else there is stays to the letter. All stay where
 * the rest names one that would go, as a table of addresses of kernels does. */
int32_t gd_ptx_keep(const griddep_ptx *ptx, const char *const *names, uint32_t count,
                    griddep_ptx **kept, griddep_error *error);

#endif
