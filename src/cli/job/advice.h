/* The command that lets the kernels of a text be launched early. */
#ifndef GD_CLI_ADVICE_H
#define GD_CLI_ADVICE_H

#include <stddef.h>

#include "griddep.h"

#include "cli/io/options.h"

typedef struct gd_advice {
    char *command; /* "griddep rewrite FILE -o NEW.ptx"; NULL: none is needed, or none helps */
    char *reason;  /* why none helps; else NULL */
} gd_advice;

/* For a valid text with kernels that do not wait on every path. The command was tried: the text
 * that it makes waits on every path of each kernel. `path` is the file as the user named it. */
gd_advice gd_advice_find(const char *text, size_t bytes, const char *path,
                         const griddep_findings *findings, const gd_option_list *constants);
void gd_advice_free(gd_advice *advice);

#endif
