/* What the head comment of a kernel's text says that a launch touches behind its arguments
 * (`extent`, doc/shelf.md), and accesses that leave it. An access counts whose address the text
 * shows to point into one parameter alone, of which an extent is told. */
#ifndef GD_EMULATOR_EXECUTE_EXTENT_H
#define GD_EMULATOR_EXECUTE_EXTENT_H

#include "emulator/execute/program.h"

/* Of an argument: from where to where; text NULL: nothing is told. */
struct gd_reach {
    uint64_t start, end;
    const char *name, *text; /* the parameter; "bf16[rows]" */
};

/* The reach that an access of `bytes` at an address leaves; NULL: it leaves none. */
const struct gd_reach *gd_extent_left(const gd_grid_view *view, const gd_image *image,
                                      const gd_code *code, uint64_t address, uint64_t bytes);

/* Of what a program has read of its text for this. */
void gd_extents_free(gd_program *program);

#endif
