/* An arena: memory that is given back all at once. Not for use by several threads at a time. */
#ifndef GD_BASE_ARENA_H
#define GD_BASE_ARENA_H

#include <stddef.h>

struct gd_arena_block;

typedef struct gd_arena {
    struct gd_arena_block *block; /* newest first */
    size_t used;                  /* bytes of the newest block */
    size_t total;                 /* bytes of all blocks, for limits */
} gd_arena;

/* All zero is an empty arena. */

/* Zeroed memory aligned for any type of up to 16 bytes' alignment; NULL when there is none. bytes
 * may be 0. */
void *gd_arena_take(gd_arena *arena, size_t bytes);

/* Zeroed array; NULL on overflow too. */
void *gd_arena_array(gd_arena *arena, size_t count, size_t bytes);

/* A copy with a closing zero. */
char *gd_arena_string(gd_arena *arena, const char *text, size_t bytes);

void gd_arena_free(gd_arena *arena);

#endif
