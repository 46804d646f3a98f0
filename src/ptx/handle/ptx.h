/* The public handle of parsed PTX, and what the library itself asks of it. */
#ifndef GD_PTX_HANDLE_PTX_H
#define GD_PTX_HANDLE_PTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/text/module.h"
#include "ptx/require/require.h"

struct griddep_ptx {
    atomic_uint references;
    gd_ptx_module module;
    gd_requires *terms;                /* one an entry; NULL: none has conditions */
    gd_ptx_diagnostics requires_wrong; /* what of them cannot be read */
};

/* Another hold; griddep_ptx_destroy gives it back. */
const griddep_ptx *gd_ptx_hold(const griddep_ptx *ptx);

/* The index of the entry of that name; false when there is none. */
bool gd_ptx_find_entry(const griddep_ptx *ptx, const char *name, uint32_t *index);

/* The function behind an entry's index; NULL past the last. */
const gd_ptx_function *gd_ptx_get_function(const griddep_ptx *ptx, uint32_t entry);

/* What is wrong with a text, for tools that show all of it: parses like griddep_ptx_parse, but a
 * text with errors is no failure; they are in (*ptx)->module.diagnostics. */
int32_t gd_ptx_parse_tolerant(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx,
                              griddep_error *error);

/* Puts a diagnostic into an error: position, text, and the line quoted. Returns
 * GRIDDEP_ERROR_SYNTAX. */
int32_t gd_ptx_report(const griddep_ptx *ptx, const gd_ptx_diagnostic *diagnostic,
                      griddep_error *error);

#endif
