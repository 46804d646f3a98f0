/* Names that a text uses and does not define: .extern, or a function without a body. */
#ifndef GD_PTX_TEXT_OPEN_H
#define GD_PTX_TEXT_OPEN_H

#include "ptx/text/module.h"

/* What an operand names and nothing in the text defines: "function" or "variable"; NULL: there is
 * no such thing. Functions that the driver gives to each module are defined, and memory whose size
 * the launch gives (.extern .shared). */
const char *gd_ptx_find_open(const gd_ptx_module *module, const gd_ptx_operand *operand);

#endif
