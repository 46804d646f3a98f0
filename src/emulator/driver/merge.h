/* Several PTX texts made one, as a linker joins them by their names. */
#ifndef GD_EMULATOR_DRIVER_MERGE_H
#define GD_EMULATOR_DRIVER_MERGE_H

#include "base/text.h"
#include "emulator/driver/module.h"

typedef struct gd_merge_input {
    griddep_ptx *ptx;
    char *name; /* for messages */
} gd_merge_input;

/* Names that are .visible, and entries, are one for all texts; of .weak and .common ones one
 * definition is taken; other names belong to their text, and are renamed where two texts have them.
 * What is wrong is written into the log of errors. */
gd_CUresult gd_merge(const gd_merge_input *inputs, uint32_t count, gd_jit *jit, gd_text *merged);

#endif
