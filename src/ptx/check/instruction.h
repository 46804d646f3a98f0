/* What ptxas would refuse in a text that parses: instructions, modifiers, operands, names. GD010 to
 * GD014. */
#ifndef GD_PTX_CHECK_INSTRUCTION_H
#define GD_PTX_CHECK_INSTRUCTION_H

#include "ptx/text/findings.h"

/* Adds a finding for each instruction that is none of its forms, and for each name that nothing
 * declares. *wrong: there is one. */
int32_t gd_check_instructions(griddep_findings *findings, const gd_ptx_module *module, bool *wrong,
                              griddep_error *error);

#endif
