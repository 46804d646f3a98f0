/* Stamps as text edits: what those of griddep_ptx_stamp (stamp.c) and of the timeline (instrument.c) have in common,
 * which is where they go. What is not inserted stays to the letter. */
#ifndef GD_MEASURE_STAMPER_H
#define GD_MEASURE_STAMPER_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/edit.h"

#define GD_STAMP_PREFIX "%griddep_stamp_"

/* Inserts lines, in which ~ stands for the prefix of names, before a token or behind it. UNSUPPORTED with the place
 * where there is no room. */
int32_t gd_stamper_put(gd_edits *edits, uint32_t token, bool behind, const char *lines, griddep_error *error);

/* Inserts the declaration of the variable before the first function. */
int32_t gd_stamper_declare(gd_edits *edits, const char *lines, griddep_error *error);

/* Whether a thread that executes an instruction may end there: an exit, or a ret of an entry itself. */
bool gd_stamper_is_end(const gd_ptx_function *function, const gd_ptx_instruction *instruction);

/* Whether a thread may leave an entry at its '}'. */
bool gd_stamper_falls_off(const gd_ptx_module *module, const gd_ptx_function *entry);

#endif
