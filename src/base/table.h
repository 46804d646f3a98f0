/* A hash table from byte strings to pointers. Keys are borrowed: they must live as long as the
 * table. */
#ifndef GD_BASE_TABLE_H
#define GD_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gd_table_slot {
    const char *key; /* NULL: empty */
    size_t bytes;
    uint64_t hash;
    void *value;
} gd_table_slot;

typedef struct gd_table {
    gd_table_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} gd_table;

/* All zero is an empty table. */

void *gd_table_find(const gd_table *table, const char *key, size_t bytes);

/* Sets a key's value, which must not be NULL. false when memory runs out. */
bool gd_table_set(gd_table *table, const char *key, size_t bytes, void *value);

void gd_table_free(gd_table *table);

#endif
