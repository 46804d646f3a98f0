/* The library's shelf of kernels, as the command looks things up in it. */
#ifndef GD_CLI_CATALOG_H
#define GD_CLI_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

/* The kernel's variant for the highest compute capability. */
bool gd_catalog_find(const char *name, griddep_shelf_info *info);

/* "; did you mean 'vector_add'?" or "", to free. */
char *gd_catalog_suggest(const char *name);

/* A field of a kernel's head comment, to free; NULL where it has none. */
char *gd_catalog_field(const griddep_shelf_info *info, const char *field);

#endif
