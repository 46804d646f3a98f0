/* Writing JSON, text and tables. */
#include "cli/io/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/name.h"

static void require(int failed)
{
    if (failed) {
        fputs("griddep: the host has no memory left\n", stderr);
        exit(GD_EXIT_REFUSED);
    }
}

/* Length of the well-formed UTF-8 sequence at `text` (Unicode, table 3-7), or 0. */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, low, high;
        size_t length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        for (size_t k = 1; k < forms[i].length; k++) {
            unsigned char low = k == 1 ? forms[i].low : 0x80;
            unsigned char high = k == 1 ? forms[i].high : 0xbf;
            if (text[k] < low || text[k] > high)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

/* Of ASCII and of Latin-1 (C1), which reach a terminal as UTF-8 or as bare bytes. */
static bool is_control(const unsigned char *at, size_t length)
{
    if (at[0] < ' ' || at[0] == 0x7f)
        return true;
    if (length == 0)
        return at[0] >= 0x80 && at[0] <= 0x9f;
    return at[0] == 0xc2 && at[1] <= 0x9f;
}

/* A copy whose control characters, but those in `kept`, are '?'. To free. */
static char *copy_clean(const char *text, const char *kept)
{
    char *clean = gd_heap_take(strlen(text) + 1, 1), *end = clean;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = utf8_length(at), taken = length > 0 ? length : 1;
        if (is_control(at, length) && strchr(kept, *at) == NULL) {
            *end++ = '?';
        } else {
            memcpy(end, at, taken);
            end += taken;
        }
        at += taken;
    }
    return clean;
}

/* Colours ("\033[1m") take no place. */
static size_t display_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        if (text[0] == '\033' && text[1] == '[')
            text += strcspn(text, "m");
        else
            width += ((unsigned char)*text & 0xc0) != 0x80;
        if (*text == '\0')
            break;
    }
    return width;
}

/* Whether no row below the titles has anything but "-" in the column. */
static bool is_empty(const gd_columns *columns, size_t column)
{
    for (size_t i = columns->column_count + column; i < columns->cell_count;
         i += columns->column_count)
        if (strcmp(columns->cells[i], "-") != 0)
            return false;
    return columns->titled;
}

uint32_t gd_output_width(int descriptor)
{
    struct winsize size = {0};
    return isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Up to the last column of the terminal, broken between words; further lines begin at the indent.
 * Returns the column behind it. */
static size_t print_wrapped(FILE *stream, const char *text, size_t column, size_t indent,
                            size_t end)
{
    size_t at = column;
    for (const char *word = text; *word != '\0';) {
        size_t blanks = strspn(word, " "), bytes = strcspn(word + blanks, " ");
        char *piece = gd_heap_format("%.*s", (int)bytes, word + blanks);
        size_t width = display_width(piece);
        if (at > indent && at + blanks + width > end)
            at = (size_t)fprintf(stream, "\n%*s", (int)indent, "") - 1;
        else
            at += (size_t)fprintf(stream, "%*s", (int)blanks, "");
        fputs(piece, stream);
        at += width;
        free(piece);
        word += blanks + bytes;
    }
    return at;
}

/* The cells of a row that stand side by side: those of the first columns, and others. */
typedef struct row_range {
    size_t keys, first, end;
    size_t terminal; /* its columns; 0: none */
} row_range;

static void print_row(const gd_columns *columns, const size_t *widths, size_t row,
                      const row_range *range)
{
    enum { LEAST = 24 }; /* columns that are worth wrapping in */
    FILE *stream = columns->stream != NULL ? columns->stream : stdout;
    const char *gap = "";
    size_t column = 0;
    for (size_t i = 0; i < range->end; i++) {
        const char *cell = columns->cells[row + i];
        int padding = (int)(widths[i] - display_width(cell));
        if ((i >= range->keys && i < range->first) || is_empty(columns, i))
            continue;
        column += strlen(gap);
        if ((columns->left >> i & 1U) == 0) {
            fprintf(stream, "%s%*s%s", gap, padding, "", cell);
        } else if (i + 1 < range->end) {
            fprintf(stream, "%s%s%*s", gap, cell, padding, "");
        } else if (column + widths[i] <= range->terminal || range->terminal == 0) {
            fprintf(stream, "%s%s", gap, cell);
        } else {
            size_t indent = column + LEAST <= range->terminal ? column : 4;
            fprintf(stream, "%s%*s", indent == column ? gap : "\n",
                    indent == column ? 0 : (int)indent, "");
            print_wrapped(stream, cell, indent, indent, range->terminal);
        }
        column += widths[i];
        gap = "  ";
    }
    putc('\n', stream);
}

static void print_rows(const gd_columns *columns, const size_t *widths, const row_range *range)
{
    for (size_t row = 0; row + columns->column_count <= columns->cell_count;
         row += columns->column_count)
        print_row(columns, widths, row, range);
}

/* The columns from one on that fit behind the first ones; one does. A text at the end is wrapped
 * and needs little. */
static size_t end_of_part(const gd_columns *columns, const size_t *widths, const row_range *range)
{
    size_t width = 0, i = 0;
    for (; i < columns->column_count; i++) {
        bool is_text = i + 1 == columns->column_count && (columns->left >> i & 1U) != 0;
        if ((i >= range->keys && i < range->first) || is_empty(columns, i))
            continue;
        width += (width > 0 ? 2 : 0) + (is_text && widths[i] > 24 ? 24 : widths[i]);
        if (width > range->terminal && i > range->first)
            break;
    }
    return i;
}

char *gd_output_clean(const char *text)
{
    return copy_clean(text, "");
}

char *gd_output_clean_lines(const char *text)
{
    return copy_clean(text, "\n\t");
}

void gd_output_put(FILE *stream, const char *text)
{
    char *clean = gd_output_clean_lines(text);
    fputs(clean, stream);
    free(clean);
}

char *gd_output_told(const char *text)
{
    char *told = gd_name_tell(text), *clean = gd_output_clean(told);
    free(told);
    return clean;
}

void gd_output_tell(FILE *stream, const char *text)
{
    char *told = gd_output_told(text);
    fputs(told, stream);
    free(told);
}

void gd_output_wrap(FILE *stream, const char *text, size_t column)
{
    const size_t end = gd_output_width(fileno(stream));
    if (end > 0)
        print_wrapped(stream, text, column, 2, end);
    else
        fputs(text, stream);
}

FILE *gd_page_begin(gd_page *page, FILE *to)
{
    *page = (gd_page){.to = to, .stream = to};
    FILE *lines =
        gd_output_width(fileno(to)) > 0 ? open_memstream(&page->text, &page->bytes) : NULL;
    page->stream = lines != NULL ? lines : to;
    return page->stream;
}

static bool is_quote(const char *line)
{
    return line[strspn(line, " 0123456789")] == '|';
}

void gd_page_end(gd_page *page)
{
    const size_t end = gd_output_width(fileno(page->to));
    if (page->stream == page->to || fclose(page->stream) != 0)
        return;
    for (char *line = page->text, *next; *line != '\0'; line = next) {
        const size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        if (is_quote(line))
            fputs(line, page->to);
        else
            print_wrapped(page->to, line, 0, strspn(line, " ") + 2, end);
        fputs(next > line + length ? "\n" : "", page->to);
    }
    free(page->text);
}

void gd_output_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = gd_heap_vformat(format, arguments);
    va_end(arguments);
    size_t length = strlen(text);
    bool ends_line = length > 0 && text[length - 1] == '\n';
    text[length - ends_line] = '\0';
    static size_t column, indent; /* of the line that has begun */
    char *clean = gd_output_told(text);
    const size_t end = gd_output_width(STDOUT_FILENO);
    indent = column > 0 ? indent : strspn(clean, " ") + 2;
    if (end > 0)
        column = print_wrapped(stdout, clean, column, indent, end);
    else
        fputs(clean, stdout);
    fputs(ends_line ? "\n" : "", stdout);
    column = ends_line ? 0 : column;
    free(clean);
    free(text);
}

void gd_output_set(json_t *object, const char *key, json_t *value)
{
    require(json_object_set_new(object, key, value) != 0);
}

void gd_output_append(json_t *array, json_t *value)
{
    require(json_array_append_new(array, value) != 0);
}

json_t *gd_output_members(json_t *object, const gd_member *members)
{
    for (const gd_member *member = members; member->name != NULL; member++)
        gd_output_set(object, member->name, member->value);
    return object;
}

json_t *gd_output_string(const char *text)
{
    if (text == NULL)
        return json_null();
    char *clean = gd_heap_take(strlen(text) * 3 + 1, 1);
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = utf8_length(at);
        memcpy(clean + used, length > 0 ? (const char *)at : "\xef\xbf\xbd",
               length > 0 ? length : 3);
        used += length > 0 ? length : 3;
        at += length > 0 ? length : 1;
    }
    json_t *value = json_stringn(clean, used);
    free(clean);
    require(value == NULL);
    return value;
}

const char *gd_output_value(double value, char text[GD_OUTPUT_VALUE])
{
    if (isnan(value))
        return "NaN";
    const bool whole =
        rint(value) == value && fabs(value) < 0x1p63 && (value != 0 || !signbit(value));
    snprintf(text, GD_OUTPUT_VALUE, whole ? "%.0f" : "%.9g", value);
    return text;
}

json_t *gd_output_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *gd_output_bytes(uint64_t bytes)
{
    return bytes > 0 ? json_integer((json_int_t)bytes) : json_null();
}

/* A failure to write is seen by the check of stdout at the end of main. */
static void write_document(FILE *stream, json_t *document, size_t layout)
{
    char *text = json_dumps(document, layout | JSON_REAL_PRECISION(9));
    require(text == NULL);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        /* jansson writes these as they are; what is no ASCII stands in strings alone. */
        if (*at == 0x7f)
            fputs("\\u007F", stream);
        else if (at[0] == 0xc2 && at[1] < 0xa0)
            fprintf(stream, "\\u%04X", (unsigned)*++at);
        else
            putc(*at, stream);
    }
    putc('\n', stream);
    free(text);
    json_decref(document);
}

void gd_output_write_to(FILE *stream, json_t *document)
{
    write_document(stream, document, JSON_INDENT(2));
}

void gd_output_write(json_t *document)
{
    gd_output_write_to(stdout, document);
}

void gd_columns_add(gd_columns *columns, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *raw = gd_heap_vformat(format, arguments), *text = gd_output_told(raw);
    va_end(arguments);
    free(raw);
    columns->cells =
        gd_heap_grow(columns->cells, columns->cell_count, columns->cell_count + 1, sizeof(char *));
    columns->cells[columns->cell_count++] = text;
}

void gd_columns_print(const gd_columns *columns)
{
    size_t *widths = gd_heap_take(columns->column_count, sizeof(size_t));
    for (size_t i = 0; i < columns->cell_count; i++) {
        size_t width = display_width(columns->cells[i]);
        size_t column = i % columns->column_count;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    FILE *stream = columns->stream != NULL ? columns->stream : stdout;
    row_range range = {.terminal = gd_output_width(fileno(stream)), .end = columns->column_count};
    if (columns->titled && range.terminal > 0) {
        range.keys = (columns->left >> 1 & 1U) != 0 ? 2 : 1;
        for (range.first = range.keys; range.first < columns->column_count;
             range.first = range.end) {
            range.end = end_of_part(columns, widths, &range);
            if (range.first > range.keys)
                putc('\n', stream);
            print_rows(columns, widths, &range);
        }
    } else {
        print_rows(columns, widths, &range);
    }
    free(widths);
}

void gd_columns_free(gd_columns *columns)
{
    for (size_t i = 0; i < columns->cell_count; i++)
        free(columns->cells[i]);
    free(columns->cells);
    *columns = (gd_columns){0};
}

static void add_cell(gd_columns *cells, const gd_record_column *column, const json_t *value)
{
    const char *before = column->before != NULL ? column->before : "";
    const char *text = json_is_string(value) ? json_string_value(value) : column->otherwise;
    if (json_is_integer(value)) {
        gd_columns_add(cells, "%s%lld", before, (long long)json_integer_value(value));
        return;
    }
    char *line = gd_heap_string(text);
    for (char *end = line; (end = strchr(end, '\n')) != NULL;)
        *end = ' ';
    gd_columns_add(cells, "%s%s", before, line);
    free(line);
}

void gd_output_table(json_t *records, const gd_record_column *columns)
{
    gd_columns cells = {.left = ~0U, .titled = columns->title != NULL};
    for (; columns[cells.column_count].member != NULL; cells.column_count++)
        if (cells.titled)
            gd_columns_add(&cells, "%s", columns[cells.column_count].title);
    for (size_t i = 0; i < json_array_size(records); i++)
        for (const gd_record_column *column = columns; column->member != NULL; column++)
            add_cell(&cells, column, json_object_get(json_array_get(records, i), column->member));
    gd_columns_print(&cells);
    gd_columns_free(&cells);
    json_decref(records);
}
