/* A module laid out: a statement a line, operands in a column, labels at the margin. Comments,
 * blank lines (one where there are several) and line ends stay; the tokens are the same. */
#ifndef GD_PTX_TEXT_LAYOUT_H
#define GD_PTX_TEXT_LAYOUT_H

#include "base/text.h"
#include "ptx/text/module.h"

/* Of a module without diagnostics. A failed allocation shows in text->failed. */
void gd_ptx_layout(const gd_ptx_module *module, gd_text *text);

/* Whether two modules have the same tokens, and the parser made the same of them. */
bool gd_ptx_layout_is_same(const gd_ptx_module *module, const gd_ptx_module *other);

#endif
