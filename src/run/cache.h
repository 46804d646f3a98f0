/* The code cache: compiled code in a directory, one file an entry, named by its key.
 *
 * An entry is written to a temporary neighbour and renamed, so that processes may share a directory. It carries a
 * digest of its content: a damaged one is noticed, removed and compiled anew. When the directory holds more than its
 * limit after a write, the entries that were used longest ago go. */
#ifndef GD_RUN_CACHE_H
#define GD_RUN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"
#include "base/log.h"

typedef struct gd_cache gd_cache;

/* A key: SHA-256 of all that decides the code. */
typedef struct gd_cache_key {
    uint8_t digest[32];
} gd_cache_key;

/* directory as griddep_runtime_options.cache_directory, bytes as .cache_bytes. *cache becomes NULL where there is to be
 * none or where the directory cannot be made and written, which is logged and is no failure. */
int32_t gd_cache_open(const char *directory, uint64_t bytes, const gd_log *log, gd_cache **cache, griddep_error *error);
void gd_cache_close(gd_cache *cache);

const char *gd_cache_directory(const gd_cache *cache);

/* The entry's content, the caller's to free(); false when there is none that is whole. */
bool gd_cache_load(gd_cache *cache, const gd_cache_key *key, char **data, size_t *bytes);

/* Writes an entry. A failure is logged: the caller has the code already. */
void gd_cache_store(gd_cache *cache, const gd_cache_key *key, const void *data, size_t bytes);

#endif
