/* Blocks that double in size, chained; taking memory moves an offset. */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 4 * 1024 * 1024 };

struct gd_arena_block {
    struct gd_arena_block *next;
    size_t capacity;
    alignas(ALIGNMENT) unsigned char data[];
};

static int add_block(gd_arena *arena, size_t bytes)
{
    size_t capacity = arena->block ? arena->block->capacity * 2 : FIRST_BLOCK;

    if (capacity > LARGEST_BLOCK)
        capacity = LARGEST_BLOCK;
    if (capacity < bytes)
        capacity = bytes;
    if (capacity > SIZE_MAX - sizeof(struct gd_arena_block))
        return 0;
    struct gd_arena_block *block = malloc(sizeof *block + capacity);
    if (!block)
        return 0;
    block->next = arena->block;
    block->capacity = capacity;
    arena->block = block;
    arena->used = 0;
    arena->total += capacity;
    return 1;
}

void *gd_arena_take(gd_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (rounded == 0)
        rounded = ALIGNMENT;
    if ((!arena->block || arena->block->capacity - arena->used < rounded) &&
        !add_block(arena, rounded))
        return NULL;
    void *memory = arena->block->data + arena->used;
    arena->used += rounded;
    return memset(memory, 0, rounded);
}

void *gd_arena_array(gd_arena *arena, size_t count, size_t bytes)
{
    return bytes && count > SIZE_MAX / bytes ? NULL : gd_arena_take(arena, count * bytes);
}

char *gd_arena_string(gd_arena *arena, const char *text, size_t bytes)
{
    char *copy = bytes == SIZE_MAX ? NULL : gd_arena_take(arena, bytes + 1);

    if (copy && bytes)
        memcpy(copy, text, bytes);
    return copy;
}

void gd_arena_free(gd_arena *arena)
{
    for (struct gd_arena_block *block = arena->block, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (gd_arena){0};
}
