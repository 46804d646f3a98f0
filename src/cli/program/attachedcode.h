/* What the code of a module tells about its kernels. */
#ifndef GD_CLI_ATTACHEDCODE_H
#define GD_CLI_ATTACHEDCODE_H

#include <stdint.h>

#include "griddep.h"

#include "cli/program/attached.h"

typedef struct gd_kernel_code {
    const char *source;     /* "PTX", "machine code"; NULL: not known. Static */
    uint32_t traits;        /* GRIDDEP_TRAIT_* */
    char target[24];        /* that the code is for: "sm_90a"; "" */
    const griddep_ptx *ptx; /* where it is PTX, with the entry's number; the image's */
    uint32_t entry;
} gd_kernel_code;

/* The code of a kernel in an image: that of a fatbin which a driver takes for machine code of so
 * many (90 for sm_90; 0: not known), as it says of the function that it made. */
gd_kernel_code gd_attachedcode_find(gd_attached_image *image, const char *kernel, uint32_t binary);

/* Likewise the PTX that such a driver could take, whether it has machine code or not. */
gd_kernel_code gd_attachedcode_find_text(gd_attached_image *image, const char *kernel,
                                         uint32_t binary);

/* Frees what was looked into. */
void gd_attachedcode_end(gd_attached_image *image);

#endif
