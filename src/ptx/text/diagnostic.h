/* Findings about a text: the earliest ones, in the order of the text. */
#ifndef GD_PTX_TEXT_DIAGNOSTIC_H
#define GD_PTX_TEXT_DIAGNOSTIC_H

#include <stdint.h>

#include "ptx/text/limit.h"

typedef struct gd_ptx_diagnostic {
    uint32_t offset; /* of the first byte that it is about */
    char text[188];  /* "found ';', expected an operand" */
} gd_ptx_diagnostic;

typedef struct gd_ptx_diagnostics {
    uint32_t count; /* of those kept; at most GD_PTX_LIMIT_DIAGNOSTICS */
    gd_ptx_diagnostic list[GD_PTX_LIMIT_DIAGNOSTICS];
} gd_ptx_diagnostics;

/* Adds a finding. A second one at the same offset is dropped, for it is a consequence of the first;
 * when the list is full, the one furthest down the text is. */
void gd_ptx_diagnostics_add(gd_ptx_diagnostics *diagnostics, uint32_t offset, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));

#endif
