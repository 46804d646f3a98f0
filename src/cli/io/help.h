/* The help of a subcommand: for people, in 80 columns, or as a table for programs. */
#ifndef GD_CLI_HELP_H
#define GD_CLI_HELP_H

#include "cli/io/options.h"

/* Paragraphs. Their lines are joined and wrapped; an empty line ends a paragraph, and a line that
 * begins with two spaces is an item: "  word   meaning"; one that begins with four stays. */
void gd_help_print_text(const char *text);

/* "  word   meaning", with the meaning from a column on. */
void gd_help_print_item(const char *word, int column, const char *meaning);

/* What stands in front of a subcommand's name where it is called. */
const char *gd_help_caller(const gd_usage *usage);

/* The whole help of a subcommand, or its table. */
void gd_help_print(const gd_usage *usage);

/* Examples, as gd_usage has them, under a heading of their own. */
void gd_help_print_examples(const char *examples);

/* From here on a table is printed: lines "summary", "synopsis", "words", "option", "detail" and
 * "example", each followed by its fields behind tabs. */
void gd_help_want_table(void);

#endif
