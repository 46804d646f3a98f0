/* What a block of bytes is that somebody wants to load, and whether it is whole. */
#ifndef GD_RUN_IMAGE_H
#define GD_RUN_IMAGE_H

#include <stdint.h>

#include "griddep.h"

/* Sees from the bytes what the image is (GRIDDEP_IMAGE_*) and checks that its own sizes stay inside
 * `bytes`: the driver is given no length and would read on. GRIDDEP_ERROR_IMAGE with the reason. */
int32_t gd_image_examine(const void *image, uint64_t bytes, const char *name, int32_t *kind,
                         griddep_error *error);

/* "PTX", "cubin", "fatbin". */
const char *gd_image_kind_name(int32_t kind);

#endif
