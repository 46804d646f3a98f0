/* Help texts. Owns the switch that asks for tables. */
#include "cli/io/help.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, MEANING = 27 };

static bool table_wanted;

/* ---- wrapping ---- */

/* Up to the next space; what stands in square brackets is one piece. */
static size_t measure_piece(const char *text, size_t length)
{
    size_t at = 0;
    for (int depth = 0; at < length && (text[at] != ' ' || depth > 0); at++)
        depth += (text[at] == '[') - (text[at] == ']');
    return at;
}

/* Goes on in a column, and on further lines at the indent. Returns the column behind the last
 * piece. */
static int put(const char *text, size_t length, int column, int indent)
{
    for (size_t at = strspn(text, " "); at < length; at += strspn(text + at, " ")) {
        int piece = (int)measure_piece(text + at, length - at);
        if (column != indent && column + 1 + piece > WIDTH)
            column = printf("\n%*s", indent, "") - 1;
        else if (column != indent)
            column += printf(" ");
        column += printf("%.*s", piece, text + at);
        at += (size_t)piece;
    }
    return column;
}

void gd_help_print_item(const char *word, int column, const char *meaning)
{
    int behind = printf("  %-*s ", column - 3, word);
    if (behind > column) {
        printf("\n%*s", column, "");
        behind = column;
    }
    put(meaning, strlen(meaning), behind, column);
    putchar('\n');
}

/* An item keeps its place: its further lines begin under its meaning. */
static void print_item_line(const char *line, size_t length)
{
    size_t at = 2;
    while (at < length && (line[at] != ' ' || line[at + 1] != ' '))
        at++;
    at += strspn(line + at, " ");
    printf("%.*s", (int)at, line);
    put(line + at, length - at, (int)at, (int)at);
    putchar('\n');
}

void gd_help_print_text(const char *text)
{
    int column = 0;
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool is_item = strncmp(line, "  ", 2) == 0;
        if (column > 0 && (is_item || length == 0))
            putchar('\n');
        if (is_item)
            print_item_line(line, length);
        else if (length == 0)
            putchar('\n');
        column = is_item || length == 0 ? 0 : put(line, length, column, 0);
        line += length + (line[length] == '\n');
    }
    if (column > 0)
        putchar('\n');
}

/* ---- a subcommand ---- */

const char *gd_help_caller(const gd_usage *usage)
{
    return usage->is_program ? "" : "griddep ";
}

static void print_usage(const gd_usage *usage)
{
    const char *before = "usage: ", *form = usage->synopsis;
    do {
        int column = printf("%s%s%s", before, gd_help_caller(usage), usage->name);
        size_t length = strcspn(form, "\n");
        put(form, length, column, column + 1);
        putchar('\n');
        form += length + (form[length] == '\n');
        before = "       ";
    } while (*form != '\0');
}

static bool is_output(const gd_option *option)
{
    return option->kind == GD_OPTION_FILE || option->kind == GD_OPTION_FOLDER ||
           option->kind == GD_OPTION_FILES;
}

static void print_option(const char *name, const char *value, const char *help)
{
    char word[64];
    snprintf(word, sizeof(word), "--%s%s%s", name, value != NULL ? " " : "",
             value != NULL ? value : "");
    gd_help_print_item(word, MEANING, help);
}

/* Each line of a text behind the name of its kind. */
static void print_lines(const char *kind, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        printf("%s\t%.*s\n", kind, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void gd_help_print_examples(const char *examples)
{
    if (table_wanted) {
        print_lines("example", examples);
        return;
    }
    puts("\nexamples:");
    for (const char *line = examples; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        bool is_command = strncmp(line, "    ", 4) == 0;
        fputs("  ", stdout);
        if (is_command)
            printf("%.*s", (int)length, line);
        else
            put(line, length, 2, 2);
        putchar('\n');
    }
}

static void print_table(const gd_usage *usage)
{
    print_lines("summary", usage->summary);
    print_lines("synopsis", usage->synopsis);
    printf("words\t%s\n", usage->words_most > 0 ? "files" : "none");
    for (const gd_option *option = usage->options; option->kind != GD_OPTION_END; option++)
        printf("option\t%s\t%s\t%s\t%s%s\n", option->name,
               option->value != NULL ? option->value : "",
               gd_option_is_list(option) ? "several" : "once", option->help,
               is_output(option) ? "\toutput" : "");
    printf("option\thelp\t\tonce\tprint this text\n");
    print_lines("detail", usage->details != NULL ? usage->details : "");
    if (usage->examples != NULL)
        gd_help_print_examples(usage->examples);
}

void gd_help_print(const gd_usage *usage)
{
    if (table_wanted) {
        print_table(usage);
        return;
    }
    print_usage(usage);
    putchar('\n');
    gd_help_print_text(usage->summary);
    puts("\noptions:");
    for (const gd_option *option = usage->options; option->kind != GD_OPTION_END; option++)
        print_option(option->name, option->value, option->help);
    print_option("help", NULL, "print this text");
    if (usage->details != NULL) {
        putchar('\n');
        gd_help_print_text(usage->details);
    }
    if (usage->examples != NULL)
        gd_help_print_examples(usage->examples);
}

void gd_help_want_table(void)
{
    table_wanted = true;
}
