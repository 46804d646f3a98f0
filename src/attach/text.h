/* The PTX of a module's image, looked into and rewritten by the library's own code. */
#ifndef GD_ATTACH_TEXT_H
#define GD_ATTACH_TEXT_H

#include <stdint.h>

#include "griddep.h"

/* Parsed; NULL where the image is no PTX, or one that cannot be read. To be destroyed. */
griddep_ptx *gd_text_parse(const void *image);

/* GRIDDEP_TRAIT_* of an entry; 0: not known. */
uint32_t gd_text_traits(const griddep_ptx *ptx, const char *entry);

/* The text with a wait and a trigger in each entry that has no wait and where both can be put
 * safely; to free. NULL: nothing was changed. */
char *gd_text_rewrite(const void *image);

#endif
