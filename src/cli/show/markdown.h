/* The reference of all codes as one Markdown document: the build makes doc/diagnostics.md of it. */
#ifndef GD_CLI_MARKDOWN_H
#define GD_CLI_MARKDOWN_H

/* Prints it. Returns GD_EXIT_OK. */
int gd_markdown_print_codes(void);

#endif
