/* The fields "requires" and "extent" of the head comment: which lines are a condition, for which entry; and a condition
 * that does not hold in words. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "ptx/array.h"
#include "ptx/head.h"
#include "ptx/require.h"
#include "ptx/require_compile.h"

/* ---- pieces: one condition or extent, which may have several lines ---- */

typedef struct piece {
    const char *start, *end; /* white space and comment signs of further lines included */
    gd_head_line of;         /* the entry that the field names; empty: every one */
    bool is_extent;
} piece;

/* Reads the pieces of both fields one after the other. */
typedef struct piece_reader {
    gd_head head;
    gd_head_line line; /* the next one, when `ready` */
    bool ready;
    bool inside;
    bool is_extent;
    gd_head_line of;
    size_t indentation; /* of the field's first line of its own; 0: none yet */
} piece_reader;

static bool look(piece_reader *reader)
{
    if (!reader->ready)
        reader->ready = gd_head_next(&reader->head, &reader->line);
    return reader->ready;
}

static size_t indentation_of(const gd_head_line *line)
{
    size_t spaces = 0;

    while (spaces < line->bytes && line->text[spaces] == ' ')
        spaces++;
    return spaces;
}

/* Lines that are indented further than the field's first one belong to the piece before them. */
static void take_further_lines(piece_reader *reader, piece *found)
{
    while (look(reader) && gd_head_continues(&reader->line)) {
        if (!reader->indentation)
            reader->indentation = indentation_of(&reader->line);
        if (indentation_of(&reader->line) <= reader->indentation)
            break;
        found->end = reader->line.text + reader->line.bytes;
        reader->ready = false;
    }
}

static bool next_piece(piece_reader *reader, piece *found)
{
    gd_head_line value;

    while (look(reader)) {
        const gd_head_line line = reader->line;
        bool terms = gd_head_begins(&line, "requires", &reader->of, &value);
        bool extent = !terms && gd_head_begins(&line, "extent", &reader->of, &value);
        reader->ready = false;
        if (terms || extent) {
            reader->inside = true;
            reader->is_extent = extent;
            reader->indentation = 0;
        } else if (reader->inside && gd_head_continues(&line)) {
            if (!reader->indentation)
                reader->indentation = indentation_of(&line);
            value = line;
        } else {
            reader->inside = false;
        }
        if (!reader->inside || !value.bytes)
            continue;
        *found = (piece){value.text, value.text + value.bytes, reader->of, reader->is_extent};
        take_further_lines(reader, found);
        return true;
    }
    return false;
}

static bool is_for(const piece *item, const gd_ptx_function *entry)
{
    return !item->of.bytes ||
           (strlen(entry->name) == item->of.bytes && !memcmp(entry->name, item->of.text, item->of.bytes));
}

/* ---- texts ---- */

/* A part of the comment as one line: white space, and what begins a further line, is one space. NULL: no memory. */
static const char *flatten(gd_arena *arena, const char *start, const char *end)
{
    char *text = gd_arena_string(arena, start, (size_t)(end - start));
    size_t bytes = 0;

    for (const char *at = start; text && at < end; at++) {
        bool line = *at == '\n';
        if (line && end - at > 2 && at[1] == '/' && at[2] == '/')
            at += 2;
        bool space = line || *at == ' ' || *at == '\t' || *at == '\r';
        if (!space)
            text[bytes++] = *at;
        else if (bytes && text[bytes - 1] != ' ')
            text[bytes++] = ' ';
    }
    if (text)
        text[bytes && text[bytes - 1] == ' ' ? bytes - 1 : bytes] = 0;
    return text;
}

/* Where the explanation begins, "-- a row is whole vectors"; `end` where there is none. */
static const char *find_reason(const char *start, const char *end)
{
    const char *at = start;

    while (end - at >= 2 && (at[0] != '-' || at[1] != '-'))
        at++;
    return end - at >= 2 ? at : end;
}

/* ---- one entry ---- */

static bool grow(void **list, uint32_t count, uint32_t *capacity, size_t item)
{
    return count < *capacity || gd_array_grow(list, capacity, item);
}

static void add_condition(gd_require_reader *reader, const piece *item)
{
    gd_requires *terms = reader->terms;
    const char *reason = find_reason(item->start, item->end);
    gd_requirement added = {0};
    void *list = terms->list, *others = terms->others;

    reader->end = reason;
    uint16_t node = gd_require_parse_condition(reader);
    uint16_t whole = gd_require_unless_unknown(reader, node);
    if (whole == GD_REQUIRE_NONE || !gd_require_emit(reader, whole, &added.program))
        return;
    /* in front of the condition itself: for each map a NOT and a SKIP */
    added.known = (uint16_t)(added.program.step + 2 * __builtin_popcount(reader->maps));
    gd_ptx_tokens_position(&reader->module->tokens, (uint32_t)(item->start - reader->module->text), &added.line,
                           &added.column);
    bool grown = grow(&list, terms->count, &terms->capacity, sizeof *terms->list);
    terms->list = list;
    grown = grow(&others, terms->other_count, &terms->other_capacity, sizeof *terms->others) && grown;
    terms->others = others;
    added.text = flatten(&terms->arena, item->start, reason);
    if (reason < item->end)
        added.reason = flatten(&terms->arena, reason + 2, item->end);
    if (!grown || !added.text || (reason < item->end && !added.reason)) {
        reader->no_memory = true;
        return;
    }
    if (!gd_require_add_ranges(reader, node))
        terms->others[terms->other_count++] = (uint16_t)terms->count;
    terms->list[terms->count++] = added;
}

/* The parameter whose address an extent is about. */
static uint16_t extent_name(gd_require_reader *reader)
{
    gd_require_next(reader);
    uint32_t offset = gd_require_offset(reader);
    if (reader->token != GD_REQUIRE_TOKEN_NAME)
        return gd_require_wrong(reader, offset, "found no parameter in front of ':', expected \"weight: rows * 2\"");
    uint16_t name = gd_require_find_name(reader, reader->start, reader->bytes, offset);
    if (name == GD_REQUIRE_NONE)
        return name;
    const gd_require_name *found = &reader->terms->names[name];
    if (found->bytes != 8 || found->is_real || found->is_signed)
        return gd_require_wrong(reader, offset, "found %.60s, expected a parameter that is an address", found->name);
    if (found->extent != GD_REQUIRE_NONE)
        return gd_require_wrong(reader, offset, "the extent of %.60s is told twice", found->name);
    gd_require_next(reader);
    if (reader->token != GD_REQUIRE_TOKEN_END)
        return gd_require_wrong(reader, gd_require_offset(reader),
                                "found more than a parameter's name in front of ':'");
    return name;
}

/* ---- elements ---- */

/* What may stand in front of the brackets, with its bytes; those with b are any type of that size. */
static const struct {
    const char *name;
    uint32_t bytes;
} elements[] = {{"u8", 1},   {"u16", 2},  {"u32", 4}, {"u64", 8},  {"s8", 1},  {"s16", 2},
                {"s32", 4},  {"s64", 8},  {"b8", 1},  {"b16", 2},  {"b32", 4}, {"b64", 8},
                {"e4m3", 1}, {"e5m2", 1}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};

enum { ELEMENT_COUNT = sizeof elements / sizeof elements[0] };

static uint16_t unknown_element(gd_require_reader *reader, const char *word, size_t bytes)
{
    gd_nearest nearest = {.word = word, .bytes = bytes};
    const uint32_t offset = (uint32_t)(word - reader->module->text);
    const int shown = bytes > 60 ? 60 : (int)bytes;

    for (size_t i = 0; i < ELEMENT_COUNT; i++)
        gd_nearest_look(&nearest, elements[i].name);
    if (nearest.name)
        return gd_require_wrong(reader, offset, "there are no elements \"%.*s\"; did you mean \"%s\"?", shown, word,
                                nearest.name);
    return gd_require_wrong(reader, offset,
                            "there are no elements \"%.*s\"; there are u8 to u64, s8 to s64, e4m3, "
                            "e5m2, f16, bf16, f32, f64, and b8 to b64 for any",
                            shown, word);
}

/* "bf16[rows * columns]": what is left to read becomes what the brackets hold. The bytes of an element, 1 without
 * brackets; 0: wrong. */
static uint32_t take_brackets(gd_require_reader *reader, const char **element)
{
    const char *start = reader->at, *end = reader->end;

    while (start < end && strchr(" \t\r\n/", *start))
        start++;
    const char *word = start;
    while (start < end && ((*start >= 'a' && *start <= 'z') || (*start >= '0' && *start <= '9')))
        start++;
    while (end > start && strchr(" \t\r\n", end[-1]))
        end--;
    if (start == word || start == end || *start != '[')
        return 1;
    if (end[-1] != ']') {
        gd_require_wrong(reader, (uint32_t)(end - reader->module->text), "found no ']' at the end");
        return 0;
    }
    reader->at = start + 1;
    reader->end = end - 1;
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        *element = elements[i].name;
        if (strlen(*element) == (size_t)(start - word) && !memcmp(*element, word, (size_t)(start - word)))
            return elements[i].bytes;
    }
    unknown_element(reader, word, (size_t)(start - word));
    return 0;
}

const char *gd_requires_element(const gd_requires *terms, uint32_t parameter)
{
    for (uint32_t i = 0; terms && i < terms->extent_count; i++) {
        const gd_require_name *name = &terms->names[terms->extents[i].name];
        if (name->index == parameter && !name->field)
            return terms->extents[i].element;
    }
    return NULL;
}

/* "weight: bf16[rows * columns]", or in bytes, "weight: rows * columns * 2". */
static void add_extent(gd_require_reader *reader, const piece *item)
{
    gd_requires *terms = reader->terms;
    const char *end = find_reason(item->start, item->end);
    const char *colon = memchr(item->start, ':', (size_t)(end - item->start));
    gd_require_extent added = {.text = NULL};
    void *list = terms->extents;

    reader->end = colon ? colon : item->start;
    added.name = extent_name(reader);
    if (added.name == GD_REQUIRE_NONE)
        return;
    reader->at = colon + 1;
    reader->end = end;
    uint32_t bytes = take_brackets(reader, &added.element);
    uint16_t node = bytes ? gd_require_multiply(reader, gd_require_parse_extent(reader), bytes) : GD_REQUIRE_NONE;
    if (node == GD_REQUIRE_NONE || !gd_require_emit(reader, node, &added.program))
        return;
    gd_require_find_factors(reader, node, &added);
    bool grown = grow(&list, terms->extent_count, &terms->extent_capacity, sizeof *terms->extents);
    terms->extents = list;
    added.text = flatten(&terms->arena, colon + 1, end);
    if (!grown || !added.text) {
        reader->no_memory = true;
        return;
    }
    added.maps = reader->maps;
    terms->names[added.name].extent = (uint16_t)terms->extent_count;
    terms->extents[terms->extent_count++] = added;
}

/* Extents come first, since conditions may speak of them. */
static bool read_entry(const gd_ptx_module *module, const gd_ptx_function *entry, gd_requires *terms,
                       gd_ptx_diagnostics *diagnostics)
{
    gd_require_reader reader;

    for (int round = 0; round < 2; round++) {
        piece_reader pieces = {.head = {module->text, module->text + module->bytes}};
        piece item;
        while (next_piece(&pieces, &item)) {
            if (item.is_extent != (round == 0) || !is_for(&item, entry))
                continue;
            reader.module = module;
            reader.entry = entry;
            reader.terms = terms;
            reader.diagnostics = diagnostics;
            reader.at = reader.start = item.start;
            reader.end = item.end;
            reader.failed = reader.no_memory = false;
            reader.depth = reader.node_count = 0;
            reader.maps = 0;
            if (terms->count + terms->extent_count == GD_REQUIRE_LIMIT_CONDITIONS)
                gd_require_wrong(&reader, (uint32_t)(item.start - module->text),
                                 "found more than %d conditions of an entry (GD_REQUIRE_LIMIT_CONDITIONS)",
                                 GD_REQUIRE_LIMIT_CONDITIONS);
            else if (item.is_extent)
                add_extent(&reader, &item);
            else
                add_condition(&reader, &item);
            if (reader.no_memory)
                return false;
        }
    }
    return true;
}

/* ---- a module ---- */

/* Fields that name an entry which there is not. false: the head comment has no conditions at all. */
static bool check_entries(const gd_ptx_module *module, gd_ptx_diagnostics *diagnostics)
{
    piece_reader pieces = {.head = {module->text, module->text + module->bytes}};
    bool some = false;
    piece item;

    while (next_piece(&pieces, &item)) {
        bool found = false;
        some = true;
        for (uint32_t i = 0; i < module->entry_count && !found; i++)
            found = is_for(&item, &module->functions[module->entries[i]]);
        if (!found && item.of.bytes)
            gd_ptx_diagnostics_add(diagnostics, (uint32_t)(item.of.text - module->text), "there is no entry \"%.*s\"",
                                   item.of.bytes > 100 ? 100 : (int)item.of.bytes, item.of.text);
    }
    return some;
}

bool gd_requires_read(const gd_ptx_module *module, gd_requires **terms, gd_ptx_diagnostics *diagnostics)
{
    *terms = NULL;
    if (!module->entry_count || !check_entries(module, diagnostics))
        return true;
    gd_requires *made = calloc(module->entry_count, sizeof *made);
    if (!made)
        return false;
    for (uint32_t i = 0; i < module->entry_count; i++) {
        if (!read_entry(module, &module->functions[module->entries[i]], &made[i], diagnostics)) {
            gd_requires_free(made, module->entry_count);
            return false;
        }
    }
    *terms = made;
    return true;
}

void gd_requires_free(gd_requires *terms, uint32_t count)
{
    for (uint32_t i = 0; terms && i < count; i++) {
        free(terms[i].names);
        free(terms[i].list);
        free(terms[i].ranges);
        free(terms[i].others);
        free(terms[i].extents);
        free(terms[i].steps);
        free(terms[i].constants);
        gd_arena_free(&terms[i].arena);
    }
    free(terms);
}

/* ---- in words ---- */

/* What a condition names, each once, in the order in which it does. */
typedef struct mentioned {
    const gd_requires *terms;
    const gd_require_value *values;
    gd_text *text;
    bool seen[GD_REQUIRE_LIMIT_NAMES];
    bool some;
} mentioned;

static bool is_word(const gd_require_name *name)
{
    return name->field && name->field != GD_REQUIRE_FIELD_KNOWN &&
           gd_require_field_kind_of((gd_require_field)name->field) == GD_REQUIRE_FIELD_WORDS;
}

static void mention(mentioned *list, uint16_t index, bool with_extent)
{
    const gd_require_name *name = &list->terms->names[index];
    const gd_require_value *value = &list->values[index];
    uint64_t bytes;

    if (list->seen[index] || name->field == GD_REQUIRE_FIELD_KNOWN)
        return;
    list->seen[index] = true;
    gd_text_format(list->text, "%s%s is ", list->some ? ", " : " (", name->name);
    list->some = true;
    if (is_word(name))
        gd_text_string(list->text, gd_require_field_words((gd_require_field)name->field)[value->integer]);
    else if (name->is_real)
        gd_text_format(list->text, "%.9g", value->real);
    else if (name->is_signed)
        gd_text_format(list->text, "%" PRId64, (int64_t)value->integer);
    else if (value->integer >> 32)
        gd_text_format(list->text, "0x%" PRIx64, (uint64_t)value->integer);
    else
        gd_text_format(list->text, "%" PRIu64, (uint64_t)value->integer);
    if (with_extent && gd_require_extent_evaluate(list->terms, &list->terms->extents[name->extent], list->values,
                                                  &bytes) == GD_REQUIRE_DONE)
        gd_text_format(list->text, " with %" PRIu64 " bytes", bytes);
}

static void mention_all(mentioned *list, gd_require_program program)
{
    for (uint32_t i = program.step; i < program.step_end; i++) {
        const gd_require_step *step = &list->terms->steps[i];
        bool apart = step->op == GD_REQUIRE_OP_APART;
        if (step->left_from == GD_REQUIRE_FROM_NAME)
            mention(list, step->left, apart);
        if (step->right_from == GD_REQUIRE_FROM_NAME)
            mention(list, step->right, apart);
    }
}

void gd_requirement_explain(const gd_requires *terms, const gd_requirement *requirement, const char *kernel,
                            const gd_require_value *values, gd_require_outcome outcome, gd_text *text)
{
    mentioned list = {.terms = terms, .values = values, .text = text};

    gd_text_format(text, "kernel %s needs %s", kernel, requirement->text);
    if (outcome == GD_REQUIRE_OVERFLOWS)
        gd_text_string(text, ", which is beyond 127 bits");
    else if (outcome == GD_REQUIRE_DIVIDES_BY_ZERO)
        gd_text_string(text, ", which divides by zero");
    if (requirement->reason)
        gd_text_format(text, ": %s", requirement->reason);
    mention_all(&list, requirement->program);
    gd_text_string(text, ")");
}
