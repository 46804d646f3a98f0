/* A trigger in a chosen round of a loop: a register counts the rounds that are still to go, in each
 * thread. */
#ifndef GD_PTX_REWRITE_ROUND_H
#define GD_PTX_REWRITE_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "ptx/text/edit.h"
#include "ptx/text/module.h"

/* The statements for the entry's start, and those for the start of a round. */
void gd_round_write_start(gd_text *text, uint32_t round);
const char *gd_round_lines(void);

/* Whether an instruction is one of those, the trigger aside. */
bool gd_round_is_own(const gd_ptx_module *module, const gd_ptx_instruction *instruction);

/* Takes them all out of an entry, the trigger aside. False: no memory. */
bool gd_round_remove(gd_edits *edits, const gd_ptx_function *entry);

#endif
