/* Several inputs become one image: the driver's linker. */
#ifndef GD_RUN_LINK_H
#define GD_RUN_LINK_H

#include <stddef.h>

#include "griddep.h"
#include "run/runtime.h"

/* The PTX among the inputs of a link. */
typedef struct gd_link_texts {
    griddep_ptx **items;
    uint32_t count;
} gd_link_texts;

/* Those that can be parsed; the driver decides what is PTX. OK or MEMORY. */
int32_t gd_link_read_texts(const griddep_link_input *inputs, uint32_t count, gd_link_texts *texts,
                           griddep_error *error);
void gd_link_free_texts(gd_link_texts *texts);

/* The text that has an entry of this name; NULL. */
const griddep_ptx *gd_link_text_of(const gd_link_texts *texts, const char *entry);

/* Links into *image, to be freed; *log, to be freed, is what the linker said. The context is
 * current. COMPILE with the linker's words, which name symbols that are missing or there twice;
 * IMAGE for an input that is none. */
int32_t gd_link(griddep_runtime *runtime, const griddep_link_input *inputs, uint32_t count,
                const griddep_module_options *options, void **image, size_t *bytes, char **log,
                griddep_error *error);

#endif
