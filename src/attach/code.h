/* The code of a module, looked into when somebody asks for one of its kernels: the machine code
 * that the driver runs, and the PTX beside it; and that PTX rewritten. */
#ifndef GD_ATTACH_CODE_H
#define GD_ATTACH_CODE_H

#include <stdint.h>

#include "attach/place.h"

typedef struct gd_code gd_code;

/* Of an image of so many bytes that the driver has just taken: where it stands in a file, else
 * (file NULL) a copy. NULL: no memory. The caller holds the lock, here and below. */
gd_code *gd_code_keep(const void *image, uint64_t bytes, const gd_place_file *file);

/* Whether a kernel may start early, whatever its arguments mean: GRIDDEP_REASON_SET, or why not;
 * _RACE: it touches memory before its wait that others can reach, or nobody can tell. `chip` (90
 * for sm_90) is what the driver says of the function that it made. By the machine code for that
 * chip where the image has it, else by its PTX; what is touched early, by the PTX where there is
 * some. */
int32_t gd_code_reason(gd_code *code, const char *kernel, uint32_t chip);

/* The PTX of a kernel whose head comment tells how far launches reach (`extent`), and the number of
 * its entry there; NULL: there is none. */
const struct griddep_ptx *gd_code_extents(gd_code *code, const char *kernel, uint32_t chip,
                                          uint32_t *entry);

void gd_code_free(gd_code *code); /* may be NULL */

/* The PTX that may stand for an image on the current device, with a wait and a trigger in each
 * entry that has no wait and where both can be put safely; to free. NULL: nothing was changed. Of a
 * fatbin with machine code only where both are for one chip: what is made for an older one may be
 * another program. The lock is not asked for. */
char *gd_code_rewrite(const void *image);

#endif
