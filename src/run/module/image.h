/* What a block of bytes is that somebody wants to load, and whether it is whole. */
#ifndef GD_RUN_IMAGE_H
#define GD_RUN_IMAGE_H

#include <stdint.h>

#include "griddep.h"

/* Sees from the bytes what the image is (GRIDDEP_IMAGE_*) and checks that its own sizes stay inside
 * `bytes`: the driver is given no length and would read on. GRIDDEP_ERROR_IMAGE with the reason. */
int32_t gd_image_examine(const void *image, uint64_t bytes, const char *name, int32_t *kind,
                         griddep_error *error);

/* Kernels of a cubin by name, with the traits of their machine code. */
typedef struct gd_image_kernels {
    griddep_image_kernel *items; /* their names belong to the list */
    uint32_t count;
} gd_image_kernels;

/* Adds those of a cubin, of which nothing is added where it cannot be read; to an empty list. OK or
 * MEMORY; the list is to be freed in either case. */
int32_t gd_image_list_kernels(const void *data, uint64_t bytes, gd_image_kernels *list,
                              griddep_error *error);
void gd_image_free_kernels(gd_image_kernels *list);

/* 0: there is no such kernel, or nothing is known about it. */
uint32_t gd_image_traits_of(const gd_image_kernels *list, const char *name);

/* "PTX", "cubin", "fatbin". */
const char *gd_image_kind_name(int32_t kind);

#endif
