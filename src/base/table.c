/* Open addressing with linear probing; FNV-1a with a final mix. At most two thirds full. */
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static uint64_t hash_of(const char *key, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    return hash * 0x9e3779b97f4a7c15u;
}

/* The key's slot, or the empty one where it would stand. The table has at least one empty slot. */
static gd_table_slot *slot_of(gd_table_slot *slots, size_t capacity, const char *key, size_t bytes,
                              uint64_t hash)
{
    size_t index = (size_t)(hash >> 16) & (capacity - 1);

    while (slots[index].key && (slots[index].hash != hash || slots[index].bytes != bytes ||
                                (bytes && memcmp(slots[index].key, key, bytes))))
        index = (index + 1) & (capacity - 1);
    return &slots[index];
}

static bool grow(gd_table *table)
{
    size_t capacity = table->capacity ? table->capacity * 2 : 16;
    gd_table_slot *slots = calloc(capacity, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < table->capacity; i++) {
        gd_table_slot *old = &table->slots[i];
        if (old->key)
            *slot_of(slots, capacity, old->key, old->bytes, old->hash) = *old;
    }
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

void *gd_table_find(const gd_table *table, const char *key, size_t bytes)
{
    if (!table->capacity)
        return NULL;
    return slot_of(table->slots, table->capacity, key, bytes, hash_of(key, bytes))->value;
}

bool gd_table_set(gd_table *table, const char *key, size_t bytes, void *value)
{
    if (table->count * 3 >= table->capacity * 2 && !grow(table))
        return false;
    uint64_t hash = hash_of(key, bytes);
    gd_table_slot *slot = slot_of(table->slots, table->capacity, key, bytes, hash);
    if (!slot->key)
        table->count++;
    *slot = (gd_table_slot){.key = key, .bytes = bytes, .hash = hash, .value = value};
    return true;
}

void gd_table_free(gd_table *table)
{
    free(table->slots);
    *table = (gd_table){0};
}
