/* What the code of a module tells about its kernels. */
#ifndef GD_CLI_ATTACHEDCODE_H
#define GD_CLI_ATTACHEDCODE_H

#include <stdint.h>

#include "cli/job/attached.h"

typedef enum gd_code_source {
    GD_CODE_UNKNOWN,
    GD_CODE_PTX,
    GD_CODE_MACHINE /* whether a wait stands on each path is not known */
} gd_code_source;

typedef struct gd_kernel_code {
    gd_code_source source;
    uint32_t traits; /* GRIDDEP_TRAIT_*; of machine code KNOWN is set where it has no wait */
    char target[16]; /* of the PTX, else of the machine code; "" */
} gd_kernel_code;

/* The code of a kernel in an image: a text of PTX, or a cubin. */
gd_kernel_code gd_attachedcode_find(gd_attached_image *image, const char *kernel);

#endif
