/* The head comment of a PTX text: the lines of "//" that it begins with, empty lines between them
 * not counted. They hold fields, "// field: value", each continued by lines that are indented
 * further, "//   more" (doc/shelf.md). */
#ifndef GD_PTX_REQUIRE_HEAD_H
#define GD_PTX_REQUIRE_HEAD_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a line, borrowed from the text. */
typedef struct gd_head_line {
    const char *text;
    size_t bytes;
} gd_head_line;

/* What of the text has not been read yet. */
typedef struct gd_head {
    const char *at, *end;
} gd_head;

/* The next line, what stands behind its "//" without white space at its end; false behind the
 * last. */
bool gd_head_next(gd_head *head, gd_head_line *line);

/* Whether a line begins the field of that name; then what stands behind its colon. With `of`, a
 * word may stand between name and colon ("requires matvec: ..."): it is given, empty where there is
 * none. */
bool gd_head_begins(const gd_head_line *line, const char *name, gd_head_line *of,
                    gd_head_line *value);

/* Whether a line continues the field before it. */
bool gd_head_continues(const gd_head_line *line);

#endif
