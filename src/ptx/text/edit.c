/* A list of edits, sorted by place when it is applied. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "ptx/text/array.h"
#include "ptx/text/edit.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static uint32_t offset_of(const gd_edits *edits, uint32_t token)
{
    return edits->module->tokens.list[token].offset;
}

static uint32_t end_of(const gd_edits *edits, uint32_t token)
{
    return offset_of(edits, token) + gd_token_length(edits->module->tokens.list[token]);
}

static uint32_t line_start(const gd_edits *edits, uint32_t offset)
{
    int32_t line, column;

    gd_ptx_tokens_position(&edits->module->tokens, offset, &line, &column);
    return offset - (uint32_t)(column - 1);
}

/* Behind the line's \n, or the text's end. */
static uint32_t line_end(const gd_edits *edits, uint32_t offset)
{
    const gd_ptx_module *module = edits->module;

    while (offset < module->bytes && module->text[offset] != '\n')
        offset++;
    return offset < module->bytes ? offset + 1 : offset;
}

/* Whether only blanks stand before a token on its line. */
static bool begins_line(const gd_edits *edits, uint32_t token)
{
    uint32_t offset = offset_of(edits, token);

    if (!gd_token_starts_line(edits->module->tokens.list[token]))
        return false;
    uint32_t start = line_start(edits, offset);
    while (start < offset && is_blank(edits->module->text[start]))
        start++;
    return start == offset;
}

/* Whether a line ends behind an offset: only blanks follow and, where `comments` are allowed,
 * comments that end on it. */
static bool ends_line(const gd_edits *edits, uint32_t offset, bool comments)
{
    const char *text = edits->module->text;

    for (;; offset++) {
        if (text[offset] == '\n')
            return true;
        if (is_blank(text[offset]) || (text[offset] == '\r' && text[offset + 1] == '\n'))
            continue;
        if (!comments || text[offset] != '/')
            return false;
        if (text[offset + 1] == '/')
            return text[line_end(edits, offset) - 1] == '\n';
        if (text[offset + 1] != '*')
            return false;
        for (offset += 2; text[offset] && text[offset] != '\n' &&
                          !(text[offset] == '*' && text[offset + 1] == '/');)
            offset++;
        if (text[offset] != '*')
            return false;
        offset++;
    }
}

static const char *line_break(const gd_edits *edits, uint32_t offset)
{
    const char *text = edits->module->text;
    uint32_t end = line_end(edits, offset);

    if (end < 1 || text[end - 1] != '\n') { /* the last line, that has none: as the one before */
        uint32_t start = line_start(edits, offset);
        end = start;
    }
    return end >= 2 && text[end - 1] == '\n' && text[end - 2] == '\r' ? "\r\n" : "\n";
}

static uint32_t add(gd_edits *edits, gd_edit edit)
{
    if (edits->count == edits->capacity &&
        !gd_array_grow((void **)&edits->list, &edits->capacity, sizeof *edits->list))
        return GD_PTX_NONE;
    edit.number = edits->count;
    edits->list[edits->count] = edit;
    return edits->count++;
}

/* Takes a text that was made for an edit. */
static uint32_t add_text(gd_edits *edits, gd_edit edit, gd_text *text)
{
    const char *kept =
        text->failed ? NULL : gd_arena_string(&edits->arena, gd_text_get(text), text->bytes);

    edit.text = kept;
    edit.bytes = (uint32_t)text->bytes;
    gd_text_free(text);
    return kept ? add(edits, edit) : GD_PTX_NONE;
}

/* Lines of their own, indented as the line that an offset is on. */
static void write_lines(const gd_edits *edits, gd_text *text, uint32_t offset, const char *lines,
                        uint32_t *indentation)
{
    const char *line_text = edits->module->text + line_start(edits, offset);
    uint32_t blanks = 0;

    while (is_blank(line_text[blanks]))
        blanks++;
    *indentation = blanks;
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        gd_text_append(text, line_text, blanks);
        gd_text_append(text, lines, length);
        gd_text_string(text, line_break(edits, offset));
        lines += length + (lines[length] == '\n');
    }
}

static void write_inline(gd_text *text, const char *lines)
{
    for (bool first = true; *lines; first = false) {
        size_t length = strcspn(lines, "\n");
        gd_text_append(text, " ", first ? 0 : 1);
        gd_text_append(text, lines, length);
        lines += length + (lines[length] == '\n');
    }
}

bool gd_edits_has_room(const gd_edits *edits, uint32_t token)
{
    uint32_t before = token ? gd_token_kind(edits->module->tokens.list[token - 1]) : ';';

    if (before == ';' || before == '{' || before == '}' || before == ':')
        return true;
    return before != ',' && begins_line(edits, token);
}

uint32_t gd_edits_insert_before(gd_edits *edits, uint32_t token, const char *lines, uint32_t rank)
{
    uint32_t offset = offset_of(edits, token);
    gd_edit edit = {.offset = offset, .rank = rank};
    gd_text text = {0};

    if (begins_line(edits, token)) {
        edit.offset = line_start(edits, offset);
        write_lines(edits, &text, offset, lines, &edit.start);
    } else {
        write_inline(&text, lines);
        gd_text_string(&text, " ");
    }
    return add_text(edits, edit, &text);
}

uint32_t gd_edits_insert_behind(gd_edits *edits, uint32_t token, const char *lines, uint32_t rank)
{
    uint32_t offset = end_of(edits, token);
    gd_edit edit = {.offset = offset, .rank = rank};
    gd_text text = {0};

    if (ends_line(edits, offset, true)) {
        edit.offset = line_end(edits, offset);
        write_lines(edits, &text, offset, lines, &edit.start);
    } else {
        gd_text_string(&text, " ");
        edit.start = 1;
        write_inline(&text, lines);
    }
    return add_text(edits, edit, &text);
}

/* One blank goes with a statement among others. */
static void widen(const gd_edits *edits, uint32_t token, uint32_t *start, uint32_t *end)
{
    const char *text = edits->module->text;

    if (begins_line(edits, token) && ends_line(edits, *end, false)) {
        *start = line_start(edits, *start);
        *end = line_end(edits, *end);
    } else if (is_blank(text[*end])) {
        ++*end;
    } else if (*start > 0 && is_blank(text[*start - 1])) {
        --*start;
    }
}

static bool has_comment(const gd_edits *edits, uint32_t token, uint32_t token_end)
{
    for (uint32_t i = token; i + 1 < token_end; i++) {
        for (uint32_t at = end_of(edits, i); at < offset_of(edits, i + 1); at++) {
            if (edits->module->text[at] == '/')
                return true;
        }
    }
    return false;
}

uint32_t gd_edits_remove(gd_edits *edits, uint32_t token, uint32_t token_end)
{
    uint32_t start = offset_of(edits, token), end = end_of(edits, token_end - 1),
             number = GD_PTX_NONE;

    if (!has_comment(edits, token, token_end)) {
        widen(edits, token, &start, &end);
        return add(edits, (gd_edit){.offset = start, .removed = end - start, .text = ""});
    }
    for (uint32_t i = token; i < token_end; i++) {
        start = offset_of(edits, i);
        number =
            add(edits, (gd_edit){.offset = start, .removed = end_of(edits, i) - start, .text = ""});
        if (number == GD_PTX_NONE)
            break;
    }
    return number;
}

uint32_t gd_edits_replace(gd_edits *edits, uint32_t token, const char *text)
{
    gd_text copy = {0};

    gd_text_string(&copy, text);
    return add_text(edits,
                    (gd_edit){.offset = offset_of(edits, token),
                              .removed = gd_token_length(edits->module->tokens.list[token])},
                    &copy);
}

void gd_edits_free(gd_edits *edits)
{
    free(edits->list);
    free(edits->sorted);
    gd_arena_free(&edits->arena);
    *edits = (gd_edits){0};
}

static int compare(const void *first, const void *second)
{
    const gd_edit *a = *(gd_edit *const *)first, *b = *(gd_edit *const *)second;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool sort(gd_edits *edits)
{
    edits->sorted = malloc(((size_t)edits->count + 1) * sizeof *edits->sorted);
    if (!edits->sorted)
        return false;
    for (uint32_t i = 0; i < edits->count; i++)
        edits->sorted[i] = &edits->list[i];
    if (edits->count)
        qsort(edits->sorted, edits->count, sizeof *edits->sorted, compare);
    return true;
}

void gd_edits_apply(gd_edits *edits, gd_text *text)
{
    const gd_ptx_module *module = edits->module;
    uint32_t at = 0;

    if (!sort(edits)) {
        text->failed = true;
        return;
    }
    for (uint32_t i = 0; i < edits->count; i++) {
        gd_edit *edit = edits->sorted[i];
        if (edit->offset > at) {
            gd_text_append(text, module->text + at, edit->offset - at);
            at = edit->offset;
        }
        edit->placed = (uint32_t)text->bytes + edit->start;
        gd_text_append(text, edit->text, edit->bytes);
        if (edit->offset + edit->removed > at)
            at = edit->offset + edit->removed;
        edit->shift = (int64_t)text->bytes - at;
    }
    gd_text_append(text, module->text + at, module->bytes - at);
}

uint32_t gd_edits_map(const gd_edits *edits, uint32_t offset)
{
    uint32_t before;

    GD_COUNT_FIRST(before, edits->count, i, edits->sorted[i]->offset <= offset);
    return before ? (uint32_t)(offset + edits->sorted[before - 1]->shift) : offset;
}
