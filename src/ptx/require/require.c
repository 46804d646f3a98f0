/* The fields "requires" and "extent" of the head comment: which lines are a condition, and for
 * which entry. */
#include "ptx/require/require.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/require/head.h"
#include "ptx/require/parse.h"

/* ---- lines: one condition or extent each ---- */

typedef struct line_reader {
    gd_head head;
    const char *text, *end; /* of the line that was read, without white space around */
    gd_head_line of;        /* the entry that its field names; empty: every one */
    bool inside, is_extent; /* what its field is */
} line_reader;

static bool next_line(line_reader *reader)
{
    gd_head_line line, value;

    while (gd_head_next(&reader->head, &line)) {
        const bool terms = gd_head_begins(&line, "requires", &reader->of, &value);
        const bool extent = !terms && gd_head_begins(&line, "extent", &reader->of, &value);
        if (terms || extent)
            reader->is_extent = extent;
        else if (reader->inside && gd_head_continues(&line))
            value = line;
        reader->inside = terms || extent || (reader->inside && gd_head_continues(&line));
        if (!reader->inside)
            continue;
        reader->text = value.text;
        reader->end = value.text + value.bytes;
        while (reader->text < reader->end && (*reader->text == ' ' || *reader->text == '\t'))
            reader->text++;
        if (reader->text < reader->end)
            return true;
    }
    return false;
}

static bool is_for(const line_reader *line, const gd_ptx_function *entry)
{
    return !line->of.bytes || (strlen(entry->name) == line->of.bytes &&
                               !memcmp(entry->name, line->of.text, line->of.bytes));
}

/* ---- one entry ---- */

static const char *copy_text(gd_require_reader *reader, const char *start, const char *end)
{
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const char *text = gd_arena_string(reader->arena, start, (size_t)(end - start));
    reader->no_memory |= !text;
    return text;
}

static void read_line(gd_require_reader *reader, const line_reader *line)
{
    const char *reason = memmem(line->text, (size_t)(line->end - line->text), "--", 2);
    const char *end = reason ? reason : line->end;

    if (line->is_extent) {
        gd_require_extent *added = gd_require_parse_extent(reader, line->text, end);
        if (added)
            added->text = copy_text(reader, strchr(line->text, ':') + 1, end);
        return;
    }
    gd_requirement *added = gd_require_parse_condition(reader, line->text, end);
    if (!added)
        return;
    gd_ptx_tokens_position(&reader->module->tokens, (uint32_t)(line->text - reader->module->text),
                           &added->line, &added->column);
    added->text = copy_text(reader, line->text, end);
    if (reason)
        added->reason = copy_text(reader, reason + 2, line->end);
}

static const void *copy_list(gd_require_reader *reader, const void *list, size_t count, size_t item)
{
    void *made = gd_arena_array(reader->arena, count, item);

    reader->no_memory |= !made;
    if (made && count)
        memcpy(made, list, count * item);
    return made;
}

/* Where a number lies that is compared so; false: everywhere or nowhere, or it is no range. */
static bool make_range(uint8_t orders, uint64_t to, gd_require_range *range)
{
    switch (orders & ~GD_REQUIRE_UNORDERED) {
    case GD_REQUIRE_EQUAL:
        range->low = to;
        range->span = 0;
        return true;
    case GD_REQUIRE_LESS:
        range->low = 0;
        range->span = to - 1;
        return to > 0;
    case GD_REQUIRE_LESS | GD_REQUIRE_EQUAL:
        range->low = 0;
        range->span = to;
        return true;
    case GD_REQUIRE_GREATER:
        range->low = to + 1;
        range->span = UINT64_MAX - range->low;
        return to < UINT64_MAX;
    case GD_REQUIRE_GREATER | GD_REQUIRE_EQUAL:
        range->low = to;
        range->span = UINT64_MAX - to;
        return true;
    case GD_REQUIRE_GREATER | GD_REQUIRE_LESS:
        range->low = to + 1;
        range->span = UINT64_MAX - 1;
        return true;
    default:
        return false;
    }
}

/* A step as a range; *of_shape: it reads the shape. */
static bool read_range(const gd_require_reader *reader, const gd_require_step *step,
                       gd_require_range *range, bool *of_shape)
{
    if (step->op != GD_REQUIRE_COMPARE || step->then || step->otherwise ||
        step->left >= GD_REQUIRE_CONSTANTS || step->right < GD_REQUIRE_CONSTANTS ||
        step->right >= GD_REQUIRE_RESULTS)
        return false;
    const gd_require_name *name = &reader->names[step->left];
    *range = (gd_require_range){
        .mask = UINT64_MAX >> step->dropped, .index = name->index, .bytes = name->bytes};
    *of_shape = name->kind == GD_REQUIRE_KIND_SHAPE;
    if (*of_shape && name->index == GD_REQUIRE_SHARED)
        range->index = GD_REQUIRE_PLAIN_SHARED;
    else if (*of_shape ? name->index >= GD_REQUIRE_CLUSTER : name->kind != GD_REQUIRE_KIND_INTEGER)
        return false;
    return make_range(step->result, reader->constants[step->right - GD_REQUIRE_CONSTANTS], range);
}

/* Makes one range of two of the same number; false: they are no such. */
static bool join_ranges(gd_require_range *range, const gd_require_range *with)
{
    const uint64_t end = range->low + range->span, other_end = with->low + with->span;

    if (range->index != with->index || range->mask != with->mask || end < range->low ||
        other_end < with->low || end < with->low || other_end < range->low)
        return false;
    range->low = range->low > with->low ? range->low : with->low;
    range->span = (end < other_end ? end : other_end) - range->low;
    return true;
}

static void add_range(gd_require_range *ranges, uint32_t first, uint32_t *count,
                      const gd_require_range *range)
{
    for (uint32_t i = first; i < *count; i++) {
        if (join_ranges(&ranges[i], range))
            return;
    }
    ranges[(*count)++] = *range;
}

/* Where each condition is a range, or several that are joined by &&: most are, and launches look at
 * these in place of the steps. */
static void keep_ranges(gd_require_reader *reader, gd_requires *terms)
{
    const uint32_t first = reader->count ? reader->list[0].step : 0,
                   end = reader->count ? reader->list[reader->count - 1].step_end : 0;
    gd_require_range *ranges = gd_arena_array(reader->arena, end - first, sizeof *ranges), range;
    uint32_t count = 0;
    bool of_shape;

    reader->no_memory |= !ranges;
    for (int shape = 1; shape >= 0 && ranges; shape--) {
        const uint32_t start = count;
        for (uint32_t i = first; i < end; i++) {
            if (!read_range(reader, &reader->steps[i], &range, &of_shape))
                return;
            if (of_shape == (shape == 1))
                add_range(ranges, start, &count, &range);
        }
        if (shape)
            terms->shape_range_count = count;
    }
    terms->ranges = ranges;
    terms->range_count = count;
}

static void finish(gd_require_reader *reader, gd_requires *terms)
{
    terms->name_count = reader->name_count;
    terms->constant_count = reader->constant_count;
    terms->count = reader->count;
    terms->extent_count = reader->extent_count;
    terms->map_count = reader->map_count;
    memcpy(terms->maps, reader->maps, sizeof terms->maps);
    terms->names = copy_list(reader, reader->names, reader->name_count, sizeof *terms->names);
    terms->constants =
        copy_list(reader, reader->constants, reader->constant_count, sizeof *terms->constants);
    terms->steps = copy_list(reader, reader->steps, reader->step_count, sizeof *terms->steps);
    terms->list = copy_list(reader, reader->list, reader->count, sizeof *terms->list);
    terms->extents =
        copy_list(reader, reader->extents, reader->extent_count, sizeof *terms->extents);
    keep_ranges(reader, terms);
}

/* Extents come first, since conditions may speak of them. */
static void read_entry(gd_require_reader *reader, gd_requires *terms)
{
    const gd_ptx_module *module = reader->module;

    reader->arena = &terms->arena;
    reader->name_count = reader->constant_count = reader->step_count = 0;
    reader->count = reader->extent_count = reader->map_count = 0;
    for (int extents = 1; extents >= 0; extents--) {
        line_reader line = {.head = {module->text, module->text + module->bytes}};
        while (next_line(&line)) {
            if (line.is_extent == (extents == 1) && is_for(&line, reader->entry))
                read_line(reader, &line);
        }
    }
    finish(reader, terms);
}

/* ---- a module ---- */

/* Fields that name an entry which there is not. false: the head comment has no conditions at all.
 */
static bool check_entries(const gd_ptx_module *module, gd_ptx_diagnostics *diagnostics)
{
    line_reader line = {.head = {module->text, module->text + module->bytes}};
    bool some = false;

    while (next_line(&line)) {
        bool found = false;
        some = true;
        for (uint32_t i = 0; i < module->entry_count && !found; i++)
            found = is_for(&line, &module->functions[module->entries[i]]);
        if (!found && line.of.bytes)
            gd_ptx_diagnostics_add(diagnostics, (uint32_t)(line.of.text - module->text),
                                   "there is no entry \"%.*s\"",
                                   line.of.bytes > 100 ? 100 : (int)line.of.bytes, line.of.text);
    }
    return some;
}

bool gd_requires_read(const gd_ptx_module *module, gd_requires **terms,
                      gd_ptx_diagnostics *diagnostics)
{
    *terms = NULL;
    if (!module->entry_count || !check_entries(module, diagnostics))
        return true;
    gd_requires *made = calloc(module->entry_count, sizeof *made);
    gd_require_reader *reader = calloc(1, sizeof *reader);
    bool enough = made && reader;
    for (uint32_t i = 0; i < module->entry_count && enough; i++) {
        reader->module = module;
        reader->entry = &module->functions[module->entries[i]];
        reader->diagnostics = diagnostics;
        read_entry(reader, &made[i]);
        enough = !reader->no_memory;
    }
    free(reader);
    if (enough)
        *terms = made;
    else
        gd_requires_free(made, module->entry_count);
    return enough;
}

void gd_requires_free(gd_requires *terms, uint32_t count)
{
    for (uint32_t i = 0; terms && i < count; i++)
        gd_arena_free(&terms[i].arena);
    free(terms);
}

const char *gd_requires_element(const gd_requires *terms, uint32_t parameter)
{
    for (uint32_t i = 0; terms && i < terms->extent_count; i++) {
        if (terms->names[terms->extents[i].name].index == parameter)
            return terms->extents[i].element;
    }
    return NULL;
}
