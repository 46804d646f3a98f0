/* The name that a misspelt one was meant to be. */
#ifndef GD_BASE_NEAREST_H
#define GD_BASE_NEAREST_H

#include <stddef.h>

/* Keeps the nearest of the names that it is shown; all zero but `word` and `bytes` to begin
 * with. */
typedef struct gd_nearest {
    const char *word; /* not ended by a zero */
    size_t bytes;
    const char *name; /* NULL: none is near enough */
    size_t distance;
} gd_nearest;

void gd_nearest_look(gd_nearest *nearest, const char *name);

#endif
