/* Where the driver keeps the code that it compiles, as far as the environment tells
 * (doc/environment.md). */
#ifndef GD_RUN_DRIVER_CACHE_H
#define GD_RUN_DRIVER_CACHE_H

#include "griddep.h"

typedef struct gd_driver_cache {
    char *directory; /* NULL: none */
    char *reason;    /* NULL: there is one */
} gd_driver_cache;

/* Fills the driver_cache fields of `info`, whose `emulated` is set; the strings belong to
 * *cache. */
int32_t gd_driver_cache_find(gd_driver_cache *cache, griddep_runtime_info *info,
                             griddep_error *error);

void gd_driver_cache_free(gd_driver_cache *cache);

#endif
