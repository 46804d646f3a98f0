/* The reference of all codes as one Markdown document, doc/diagnostics.md. */
#ifndef GD_CLI_MARKDOWN_H
#define GD_CLI_MARKDOWN_H

/* Prints it. Returns GD_EXIT_OK. */
int gd_markdown_print_codes(void);

#endif
