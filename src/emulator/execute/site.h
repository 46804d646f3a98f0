/* Instructions as reports name them: kernel, module, line, text. */
#ifndef GD_EMULATOR_EXECUTE_SITE_H
#define GD_EMULATOR_EXECUTE_SITE_H

#include "emulator/execute/program.h"
#include "emulator/race/race.h"

/* The number of an operation's instruction; 0: no memory. */
uint32_t gd_site_find(gd_race *race, const gd_image *image, const gd_code *code);

/* The instruction's text from its guard to its semicolon, white space as single blanks, cut where
 * it is longer than the buffer. */
void gd_site_text(const gd_ptx_module *module, uint32_t instruction, char *text, size_t bytes);

#endif
