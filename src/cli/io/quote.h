/* A line of a text with a caret below a column, as the library's diagnostics quote. */
#ifndef GD_CLI_QUOTE_H
#define GD_CLI_QUOTE_H

#include <stddef.h>
#include <stdint.h>

/* The line's begin and length without its end; NULL past the text's end. Lines count from 1. */
const char *gd_quote_find(const char *text, size_t bytes, uint32_t line, size_t *length);

/* "  12 | source line\n     |     ^\n"; without the caret for column 0; "" where the text has no
 * such line. To free. */
char *gd_quote_line(const char *text, size_t bytes, uint32_t line, uint32_t column);

#endif
