/* Cubins: their kernels, and what their machine code says about waiting and triggering. */
#ifndef GD_BASE_CUBIN_H
#define GD_BASE_CUBIN_H

#include "base/elf.h"
#include "griddep.h"

typedef struct gd_cubin {
    gd_elf elf;
    gd_view symbols, names;
    int32_t chip; /* 90 for sm_90 */
} gd_cubin;

/* NULL, or what is wrong: as gd_elf_open; "this ELF file is no cubin: ...". */
const char *gd_cubin_open(gd_view file, gd_cubin *cubin);

/* The kernel at *at, which is 0 for the first, and goes on to the next: its name, which ends inside
 * the file. NULL behind the last. */
const char *gd_cubin_next(const gd_cubin *cubin, uint64_t *at);

/* GRIDDEP_TRAIT_* of a kernel; 0 where there is no such kernel, the cubin has yet to be linked, or
 * the chip's instructions are not known. OK or MEMORY. */
int32_t gd_cubin_traits(const gd_cubin *cubin, const char *kernel, uint32_t *traits);

#endif
