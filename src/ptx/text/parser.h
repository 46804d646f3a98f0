/* PTX text to a module. */
#ifndef GD_PTX_TEXT_PARSER_H
#define GD_PTX_TEXT_PARSER_H

#include <stdint.h>

#include "griddep.h"
#include "ptx/text/module.h"

/* Parses a text of at most GD_PTX_LIMIT_BYTES into an empty module. What is wrong with the text is
 * in module->diagnostics, and the module then holds what could be understood between the errors.
 * MEMORY is the only failure; *module is then half built. `name` is copied; traits are not
 * computed. */
int32_t gd_ptx_module_parse(gd_ptx_module *module, const char *text, uint32_t bytes,
                            const char *name);

#endif
