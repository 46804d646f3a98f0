/* The check of one text: griddep_ptx_check in griddep.h. What a chain's check shares with it stands
 * in check/rules.h. */
#ifndef GD_PTX_CHECK_CHECK_H
#define GD_PTX_CHECK_CHECK_H

#include "ptx/text/findings.h"
#include "ptx/handle/ptx.h"

/* The text's errors as findings: GD001 to GD003. */
void gd_check_diagnostics(griddep_findings *findings, const griddep_ptx *ptx, int32_t launch);

/* What is wrong with the head comment of a text that parsed: GD151 to GD153. Each entry's constants
 * are looked up. */
int32_t gd_check_comment(griddep_findings *findings, const griddep_ptx *ptx, griddep_error *error);

#endif
