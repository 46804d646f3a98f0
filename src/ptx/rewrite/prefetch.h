/* The instructions that bring a parameter's data into L2: their text, and finding them again. */
#ifndef GD_PTX_REWRITE_PREFETCH_H
#define GD_PTX_REWRITE_PREFETCH_H

#include <stdint.h>

#include "base/text.h"
#include "ptx/text/module.h"

/* More cannot be asked for: an instruction counts its bytes with 32 bits. */
#define GD_PREFETCH_LIMIT_BYTES UINT64_C(0xfffffff0)

/* Appends lines without indentation. Thread 0 of each CTA fetches the CTA's share of the
 * parameter's first `bytes`, rounded to multiples of 16; the address is rounded down to one. For
 * any grid, in a scope of their own. */
void gd_prefetch_write(gd_text *text, const char *parameter, uint64_t bytes);

/* The scope that gd_prefetch_write has made for a parameter and that holds the first such
 * instruction from *instruction on, which is then set behind it; GD_PTX_NONE: no more. */
uint32_t gd_prefetch_find(const gd_ptx_module *module, const gd_ptx_function *entry,
                          const char *parameter, uint32_t *instruction);

#endif
