/* What goes out: JSON documents, text for people, and tables of text with aligned columns. */
#ifndef GD_CLI_OUTPUT_H
#define GD_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* Names and texts of files may hold anything, and a terminal obeys control characters: for people
 * each becomes '?'. A copy without any, to free. */
char *gd_output_clean(const char *text);

/* Likewise of a text that may have several lines: line ends and tabs stay. Makes a copy, or writes
 * it. */
char *gd_output_clean_lines(const char *text);
void gd_output_put(FILE *stream, const char *text);

/* The same of what is said of kernels: symbols of C++ become names (gd_name_tell). Files' names,
 * quoted lines, and errors, which are of symbols as the user gave them, do without. */
char *gd_output_told(const char *text);
void gd_output_tell(FILE *stream, const char *text);

/* Writes a text behind so many columns of its line; in a terminal, broken between words. */
void gd_output_wrap(FILE *stream, const char *text, size_t column);

/* What is written to the stream of begin goes to `to` at the end: in a terminal broken between
 * words, but for quoted lines of a text ("  25 | ret;"). */
typedef struct gd_page {
    FILE *to, *stream;
    char *text;
    size_t bytes;
} gd_page;

FILE *gd_page_begin(gd_page *page, FILE *to);
void gd_page_end(gd_page *page);

/* Prints to stdout what gd_output_told makes of it; a line end at the very end stays. In a terminal
 * lines are broken between words, and a line that several calls make is one. */
void gd_output_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets a key to a value, whose reference is taken; ends the command when there is no memory. */
void gd_output_set(json_t *object, const char *key, json_t *value);
void gd_output_append(json_t *array, json_t *value);

/* Several members in their order: GD_OBJECT({"line", json_integer(line)}, {"text", ...}) is an
 * object of them, GD_SET(object, {...}, ...) adds them to one. */
typedef struct gd_member {
    const char *name;
    json_t *value;
} gd_member;

json_t *gd_output_members(json_t *object, const gd_member *members);

#define GD_SET(object, ...) gd_output_members(object, (const gd_member[]){__VA_ARGS__, {0}})
#define GD_OBJECT(...) GD_SET(json_object(), __VA_ARGS__)

/* A JSON string of bytes that may not be UTF-8: such bytes become U+FFFD. NULL becomes null. */
json_t *gd_output_string(const char *text);

/* An element for people: whole numbers with all their digits, others with nine, which tell any two
 * f32 apart; "NaN" without the sign that printf gives it. Returns `text`. */
enum { GD_OUTPUT_VALUE = 32 };
const char *gd_output_value(double value, char text[GD_OUTPUT_VALUE]);

/* A JSON number; null for what JSON cannot say (infinite, not a number). */
json_t *gd_output_real(double value);

/* A number of bytes; null where it is 0, not known. */
json_t *gd_output_bytes(uint64_t bytes);

/* Writes the document with a line end to stdout, or to a stream, and gives it back. */
void gd_output_write(json_t *document);
void gd_output_write_to(FILE *stream, json_t *document);

/* The columns of the terminal behind a descriptor; 0 where it is none. */
uint32_t gd_output_width(int descriptor);

/* A table: the cells row by row. All but the columns named in `left` (bit per column) are aligned
 * to the right. Where the first row is titles, a column with nothing but "-" below its title is
 * left out. In a terminal that is too narrow a last column of text is wrapped, and of a table with
 * titles the columns that do not fit stand below, behind the first one or two. */
typedef struct gd_columns {
    size_t column_count;
    size_t cell_count;
    uint32_t left;
    bool titled;
    char **cells;
    FILE *stream; /* NULL: stdout */
} gd_columns;

void gd_columns_add(gd_columns *columns, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gd_columns_print(const gd_columns *columns);
void gd_columns_free(gd_columns *columns);

/* A column of a table of records, which are JSON objects: the member that it shows, a text's lines
 * as one. */
typedef struct gd_record_column {
    const char *member, *title, *before; /* title: of all columns or of none; before: may be NULL */
    const char *otherwise;               /* in place of null */
} gd_record_column;

/* Prints the list of records as a table, with all columns aligned to the left. Takes the list over;
 * columns end with {0}. */
void gd_output_table(json_t *records, const gd_record_column *columns);

#endif
