/* Making the certain edits of findings: griddep check --fix. */
#ifndef GD_CLI_TEXTFIX_H
#define GD_CLI_TEXTFIX_H

#include <stddef.h>

#include <jansson.h>

#include "griddep.h"

typedef struct gd_textfix {
    char *text; /* afterwards, to free; NULL: nothing was changed */
    size_t bytes;
    size_t count;  /* edits that were made */
    json_t *fixes; /* borrowed: what was done, appended; NULL: it is printed */
} gd_textfix;

/* Makes the edits of all findings that are certain of them, then those of the findings that the
 * text has then, until there are none. Returns 0, or an exit code after a message. */
int gd_textfix_run(gd_textfix *fix, const char *text, size_t bytes, const char *name,
                   const griddep_check_options *options);

#endif
