/* Lines of the head comment that look like one of its fields and are none, so that nothing reads
 * them: GD153, and GD152 where they would have conditions. */
#ifndef GD_PTX_REQUIRE_LOST_FIELD_H
#define GD_PTX_REQUIRE_LOST_FIELD_H

#include "ptx/text/findings.h"
#include "ptx/text/module.h"

void gd_check_head(griddep_findings *findings, const gd_ptx_module *module);

/* Fields with conditions that are named to the letter and would be lost: errors of the text. */
void gd_head_find_lost(const gd_ptx_module *module, gd_ptx_diagnostics *diagnostics);

#endif
