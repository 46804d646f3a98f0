/* Where the code of a text comes from, as .file and .loc tell (PTX ISA 11.5). */
#ifndef GD_PTX_TEXT_SOURCE_H
#define GD_PTX_TEXT_SOURCE_H

#include "ptx/text/module.h"

typedef struct gd_ptx_source {
    const char *file; /* into the module's text, not ended by a zero */
    uint32_t file_bytes;
    int32_t line; /* 0: not told */
} gd_ptx_source;

/* What the nearest .loc in front of a token says, in the same function. */
gd_ptx_source gd_ptx_find_source(const gd_ptx_module *module, uint32_t token);

/* The same of the first token in a line or behind it. */
gd_ptx_source gd_ptx_find_line_source(const gd_ptx_module *module, uint32_t line);

#endif
