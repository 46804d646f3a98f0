/* The store: what took time to find, in a folder, one file an entry, named by its key: choices of
 * the tuner, from which size on NCCL carries out hops, and PTX that NVRTC made. No code of the
 * device is kept: the driver's own cache does that.
 *
 * An entry is written to a temporary neighbour and renamed, so that processes may share a folder,
 * and carries a digest of its content, so that damage is noticed. Folders and entries that somebody
 * else owns or may write are ignored, with a warning (base/trust.h). Nothing that goes wrong here
 * is a failure of who asks. */
#ifndef GD_RUN_STORE_H
#define GD_RUN_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"
#include "base/log.h"

typedef struct gd_store gd_store;

/* A key: SHA-256 of all that decides the content. */
typedef struct gd_store_key {
    uint8_t digest[32];
} gd_store_key;

enum {
    GD_STORE_MOST_ENTRY =
        8 * 1024 * 1024, /* bytes of an entry's content; larger ones are neither written nor read */
    GD_STORE_MOST = 64 * 1024 * 1024 /* bytes of all; what was used longest ago goes first */
};

/* folder as griddep_runtime_options.store_directory. *store becomes NULL where there is to be none,
 * or where the folder that is there cannot be trusted, which is logged. Nothing is made on disk
 * before something is saved. */
int32_t gd_store_open(const char *folder, const gd_log *log, gd_store **store,
                      griddep_error *error);
void gd_store_close(gd_store *store);

const char *gd_store_directory(const gd_store *store);

/* The entry's content, with a zero byte behind its end, the caller's to free(); false where there
 * is none that is whole. A NULL store has none. */
bool gd_store_load(gd_store *store, const gd_store_key *key, char **data, size_t *bytes);

/* Whether the entry was written. */
bool gd_store_save(gd_store *store, const gd_store_key *key, const void *data, size_t bytes);

#endif
