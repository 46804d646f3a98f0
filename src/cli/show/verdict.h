/* The verdicts of a check, a line a kernel: as text, or as JSON. */
#ifndef GD_CLI_VERDICT_H
#define GD_CLI_VERDICT_H

#include <stdio.h>

#include <jansson.h>

#include "griddep.h"
#include "run/private.h" /* gd_verdict */

/* file:line:column: kernel k: valid PTX; waits on every path (line 9); ... */
void gd_verdict_print(FILE *to, const gd_verdict *verdict);

/* The same of a kernel of a cubin, in words that are written to text, of GD_VERDICT_BYTES. */
enum { GD_VERDICT_BYTES = 256 };
void gd_verdict_of_machine_code(const griddep_image_kernel *kernel, const char *file,
                                gd_verdict *verdict, char *text, size_t bytes);

json_t *gd_verdict_json(const gd_verdict *verdict);

#endif
