/* The check of one text: griddep_ptx_check in griddep.h. What a chain's check shares with it stands in check_rules.h.
 */
#ifndef GD_PTX_CHECK_H
#define GD_PTX_CHECK_H

#include "ptx/findings.h"
#include "ptx/ptx.h"

/* The text's errors as findings: GD001 to GD003. */
void gd_check_diagnostics(griddep_findings *findings, const griddep_ptx *ptx, int32_t launch);

#endif
