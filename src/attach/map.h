/* A hash table from pairs of numbers to pointers. All zero is an empty one. */
#ifndef GD_ATTACH_MAP_H
#define GD_ATTACH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gd_map_slot {
    uint64_t first, second;
    void *value; /* NULL: empty */
} gd_map_slot;

typedef struct gd_map {
    gd_map_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} gd_map;

void *gd_map_find(const gd_map *map, uint64_t first, uint64_t second);

/* Sets a value, which must not be NULL. false: no memory. */
bool gd_map_set(gd_map *map, uint64_t first, uint64_t second, void *value);

void gd_map_remove(gd_map *map, uint64_t first, uint64_t second);

/* Removes all whose value the function says yes to. */
void gd_map_remove_all(gd_map *map, bool (*is_meant)(const void *value, const void *user),
                       const void *user);

void gd_map_free(gd_map *map);

#endif
