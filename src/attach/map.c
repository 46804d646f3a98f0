/* Open addressing: a pair stands at its hash or behind it, with no empty slot between. */
#include "attach/map.h"

#include <stdlib.h>

static size_t home_of(const gd_map *map, uint64_t first, uint64_t second)
{
    uint64_t hash = (first ^ second * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

    return (size_t)(hash ^ hash >> 32) & (map->capacity - 1);
}

static gd_map_slot *find_slot(const gd_map *map, uint64_t first, uint64_t second)
{
    size_t at = home_of(map, first, second);

    while (map->slots[at].value &&
           (map->slots[at].first != first || map->slots[at].second != second))
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

void *gd_map_find(const gd_map *map, uint64_t first, uint64_t second)
{
    return map->capacity ? find_slot(map, first, second)->value : NULL;
}

static bool grow(gd_map *map)
{
    gd_map grown = {.capacity = map->capacity ? 2 * map->capacity : 64, .count = map->count};

    grown.slots = calloc(grown.capacity, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        const gd_map_slot *slot = &map->slots[i];
        if (slot->value)
            *find_slot(&grown, slot->first, slot->second) = *slot;
    }
    free(map->slots);
    *map = grown;
    return true;
}

bool gd_map_set(gd_map *map, uint64_t first, uint64_t second, void *value)
{
    if (2 * map->count >= map->capacity && !grow(map))
        return false;
    gd_map_slot *slot = find_slot(map, first, second);
    map->count += !slot->value;
    *slot = (gd_map_slot){first, second, value};
    return true;
}

/* What stands behind the hole and would be found no more moves into it. */
void gd_map_remove(gd_map *map, uint64_t first, uint64_t second)
{
    if (!map->capacity || !find_slot(map, first, second)->value)
        return;
    size_t hole = (size_t)(find_slot(map, first, second) - map->slots);
    for (size_t at = (hole + 1) & (map->capacity - 1); map->slots[at].value;
         at = (at + 1) & (map->capacity - 1)) {
        size_t home = home_of(map, map->slots[at].first, map->slots[at].second);
        if (((at - home) & (map->capacity - 1)) < ((at - hole) & (map->capacity - 1)))
            continue;
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].value = NULL;
    map->count--;
}

void gd_map_remove_all(gd_map *map, bool (*is_meant)(const void *value, const void *user),
                       const void *user)
{
    for (size_t i = 0; i < map->capacity; i++) {
        /* what moves into the hole is looked at too */
        while (map->slots[i].value && is_meant(map->slots[i].value, user))
            gd_map_remove(map, map->slots[i].first, map->slots[i].second);
    }
}

void gd_map_free(gd_map *map)
{
    free(map->slots);
    *map = (gd_map){0};
}
