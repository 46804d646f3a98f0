/* What a check says of each entry in one line: valid PTX or not, when it waits, where it triggers,
 * whether it may be launched early and under which condition. */
#ifndef GD_PTX_CHECK_VERDICT_H
#define GD_PTX_CHECK_VERDICT_H

#include "ptx/check/rules.h"

/* The verdict on an entry of a valid text, once its findings are made. `report` is NULL where it
 * neither waits nor triggers. */
int32_t gd_verdict_add(const gd_rules *rules, uint32_t function, const gd_entry_report *report);

/* The verdicts on a text with mistakes: nothing but that they come first. module NULL: nothing was
 * read. */
int32_t gd_verdict_add_invalid(griddep_findings *findings, const gd_ptx_module *module,
                               const char *name, griddep_error *error);

#endif
