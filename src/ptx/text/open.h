/* Names that a text uses and does not define: .extern, or a function without a body. */
#ifndef GD_PTX_TEXT_OPEN_H
#define GD_PTX_TEXT_OPEN_H

#include "ptx/text/module.h"

/* What an operand names and nothing in the text defines: "function", or "variable" where the text
 * is all that is linked; NULL: there is no such thing. Functions that the driver gives to each
 * module are defined, memory whose size the launch gives (.extern .shared), and variables of a
 * text that is loaded alone: the driver defines them itself. */
const char *gd_ptx_find_open(const gd_ptx_module *module, const gd_ptx_operand *operand,
                             bool linked);

#endif
