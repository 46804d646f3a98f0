/* The code of a module, looked into when somebody asks for one of its kernels: the machine code
 * that the driver runs, and the PTX beside it. The caller holds the lock. */
#ifndef GD_ATTACH_CODE_H
#define GD_ATTACH_CODE_H

#include <stdint.h>

typedef struct gd_code gd_code;

/* Of an image that the driver has just taken: where it stands in a file, else a copy. NULL: it is
 * of no kind that is known, or there is no memory. */
gd_code *gd_code_keep(const void *image);
gd_code *gd_code_keep_file(const char *path);

/* Whether a kernel may start early, whatever its arguments mean: GRIDDEP_REASON_SET, or why not;
 * _RACE: it touches memory before its wait that others can reach, or nobody can tell. `chip` (90
 * for sm_90) is what the driver says of the function that it made. By the machine code for that
 * chip where the image has it, else by its PTX; what is touched early, by the PTX where there is
 * some. */
int32_t gd_code_reason(gd_code *code, const char *kernel, uint32_t chip);

void gd_code_free(gd_code *code); /* may be NULL */

#endif
