/* The contents of a host buffer, from a description: element i depends on the description and on i
 * alone. */
#ifndef GD_CLI_FILL_H
#define GD_CLI_FILL_H

#include <stdint.h>

#include "cli/plan/plan.h"

/* Writes `count` elements. Random fills and sequences are shared out to threads. Returns 0, or an
 * exit code after a message (only GD_FILL_FILE can fail). */
int gd_fill_write(const gd_fill *fill, gd_type type, void *target, uint64_t count);

#endif
