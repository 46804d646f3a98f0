/* The PTX of a module's image, looked into and rewritten by the library's own code. */
#ifndef GD_ATTACH_TEXT_H
#define GD_ATTACH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/check/launches.h"

/* Parsed; NULL where the image is no PTX, or one that cannot be read. To be destroyed. */
griddep_ptx *gd_text_parse(const void *image);

/* GRIDDEP_TRAIT_* of an entry; 0: not known. */
uint32_t gd_text_traits(const griddep_ptx *ptx, const char *entry);

/* Whether an entry touches memory before its wait that others can reach, or nobody can tell. Facts
 * of the text are kept for its other entries. */
bool gd_text_touches_early(gd_check_facts *facts, const griddep_ptx *ptx, const char *entry);

/* The text with a wait and a trigger in each entry that has no wait and where both can be put
 * safely; to free. NULL: nothing was changed. */
char *gd_text_rewrite(const void *image);

#endif
