/* Folding, counting and showing findings. */
#include "cli/show/finding.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/quote.h"
#include "cli/show/sarif.h"

const char *const gd_finding_severity_names[3] = {"note", "warning", "error"};

static const char *const bold = "\033[1m", *const plain = "\033[0m";

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Findings at a place of a text are folded; those without one stand at their launches. */
static bool is_same(const griddep_finding *a, const griddep_finding *b)
{
    return a->file[0] != '\0' && a->line == b->line && a->column == b->column &&
           a->severity == b->severity && strcmp(a->code, b->code) == 0 &&
           strcmp(a->file, b->file) == 0 && strcmp(a->text, b->text) == 0 &&
           strcmp(a->hint, b->hint) == 0 && is_same_text(a->entry, b->entry);
}

/* The finding's place in the list: one that says the same, or a new one. */
static gd_finding *find_place(gd_finding_list *list, const griddep_finding *data)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_same(&list->items[i].data, data))
            return &list->items[i];
    list->items = gd_heap_grow(list->items, list->count, list->count + 1, sizeof(*list->items));
    list->items[list->count].data = *data;
    return &list->items[list->count++];
}

static void add_launch(gd_finding *finding, uint32_t launch, const gd_plan *plan)
{
    finding->launches = gd_heap_grow(finding->launches, finding->launch_count,
                                     finding->launch_count + 1, sizeof(uint32_t));
    finding->launches[finding->launch_count++] = launch;
    finding->plan = plan;
    if (finding->launch == NULL && plan != NULL)
        finding->launch = &plan->launches[launch];
}

/* Where the finding is: in its text, or where it has none at its launch in the chain file. */
static gd_place place_of(const gd_finding *finding, const char *file)
{
    const griddep_finding *data = &finding->data;
    if (data->file[0] == '\0' && finding->launch != NULL)
        return finding->launch->place;
    if (data->file[0] == '\0' && finding->yaml != NULL)
        return (gd_place){.file = finding->yaml->file};
    return (gd_place){.file = file != NULL ? file : data->file,
                      .line = data->line > 0 ? (uint32_t)data->line : 0,
                      .column = data->line > 0 && data->column > 0 ? (uint32_t)data->column : 0};
}

/* To free; "" where there is nothing to quote. */
static char *quote_of(const gd_finding *finding)
{
    if (finding->data.file[0] == '\0' && finding->yaml != NULL && finding->launch != NULL)
        return gd_quote_line(finding->yaml->text, finding->yaml->bytes, finding->launch->place.line,
                             finding->launch->place.column);
    return gd_heap_string(finding->data.quote);
}

static void print_position(FILE *stream, gd_place place, bool color)
{
    if (place.file == NULL || place.file[0] == '\0')
        return;
    fputs(color ? bold : "", stream);
    gd_output_put(stream, place.file);
    if (place.line > 0)
        fprintf(stream, ":%u", (unsigned)place.line);
    if (place.line > 0 && place.column > 0)
        fprintf(stream, ":%u", (unsigned)place.column);
    fprintf(stream, ":%s ", color ? plain : "");
}

static void print_severity(FILE *stream, int32_t severity, bool color)
{
    static const char *const colors[] = {"\033[1;36m", "\033[1;35m", "\033[1;31m"};
    const char *name = gd_finding_severity_name(severity);
    if (color && severity >= GRIDDEP_SEVERITY_NOTE && severity <= GRIDDEP_SEVERITY_ERROR)
        fprintf(stream, "%s%s:%s ", colors[severity - GRIDDEP_SEVERITY_NOTE], name, plain);
    else
        fprintf(stream, "%s: ", name);
}

static const char *name_of(const gd_finding *finding, size_t index)
{
    return finding->plan != NULL ? gd_plan_launch_name(finding->plan, finding->launches[index])
                                 : NULL;
}

/* Each launch by its name; neighbours of one name, which is their kernel's, share it: "in launches
 * 1, 2 (late), 4 (last)". */
static void print_launches(FILE *stream, const gd_finding *finding)
{
    enum { SHOWN = 8 };
    const gd_plan_launch *launch = finding->launch;
    size_t count = finding->launch_count;
    if (count == 0)
        return;
    fprintf(stream, "  in launch%s", count > 1 ? "es" : "");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        fprintf(stream, "%s %u", i > 0 ? "," : "", (unsigned)finding->launches[i]);
        const char *name = name_of(finding, i);
        if (name == NULL ||
            (i + 1 < count && i + 1 < SHOWN && strcmp(name, name_of(finding, i + 1)) == 0))
            continue;
        fputs(" (", stream);
        gd_output_tell(stream, name);
        fputs(")", stream);
    }
    if (count > SHOWN)
        fprintf(stream, " and %zu more", count - SHOWN);
    if (launch != NULL && launch->place.file != NULL) {
        fputs(" of ", stream);
        gd_output_put(stream, launch->place.file);
        fprintf(stream, ", line %u", (unsigned)launch->place.line);
    }
    putc('\n', stream);
}

/* Other places to look at, and the line of the source that the code comes from. */
static void print_related(FILE *stream, const gd_finding *finding, const char *file)
{
    griddep_related related = {.size = sizeof(related)};
    for (uint32_t i = 0; i < finding->data.related_count; i++) {
        if (griddep_findings_get_related(finding->from, finding->index, i, &related, NULL) !=
            GRIDDEP_OK)
            continue;
        fputs("  see ", stream);
        print_position(stream,
                       (gd_place){.file = file != NULL ? file : related.file,
                                  .line = (uint32_t)related.line,
                                  .column = (uint32_t)related.column},
                       false);
        gd_output_tell(stream, related.text);
        putc('\n', stream);
    }
    if (finding->data.source_file == NULL)
        return;
    fputs("  from ", stream);
    gd_output_put(stream, finding->data.source_file);
    fprintf(stream, ":%d\n", (int)finding->data.source_line);
}

static void print_count(FILE *stream, uint32_t count, const char *noun, const char *behind)
{
    fprintf(stream, "%u %s%s%s", (unsigned)count, noun, count == 1 ? "" : "s", behind);
}

/* Of PTX that was made from CUDA C++ nobody has the lines: the source's are told. */
static void place_in_source(griddep_finding *data)
{
    if (!gd_hostfile_has_ending(data->file, ".cu"))
        return;
    data->line = data->end_line = data->source_file != NULL ? data->source_line : 0;
    data->column = data->end_column = 0;
    data->quote = "";
    data->source_file = NULL;
}

gd_finding_list gd_finding_fold(const griddep_findings *findings, const gd_plan *plan,
                                const gd_yaml *yaml)
{
    gd_finding_list list = {0};
    uint32_t count = findings != NULL ? griddep_findings_count(findings) : 0;
    for (uint32_t i = 0; i < count; i++) {
        griddep_finding data = {.size = sizeof(data)};
        if (griddep_findings_get(findings, i, &data, NULL) != GRIDDEP_OK)
            continue;
        place_in_source(&data);
        gd_finding *finding = find_place(&list, &data);
        finding->from = findings;
        finding->index = i;
        finding->yaml = yaml;
        if (data.launch >= 0)
            add_launch(finding, (uint32_t)data.launch, plan);
    }
    return list;
}

/* Whether two findings have one cause: they differ in their place alone. */
static bool is_repeated(const gd_finding *a, const gd_finding *b)
{
    return a->data.severity < GRIDDEP_SEVERITY_ERROR && a->data.line != 0 &&
           a->data.severity == b->data.severity && strcmp(a->data.code, b->data.code) == 0 &&
           strcmp(a->data.file, b->data.file) == 0 && strcmp(a->data.text, b->data.text) == 0 &&
           strcmp(a->data.hint, b->data.hint) == 0 && is_same_text(a->data.entry, b->data.entry) &&
           a->launch_count == b->launch_count &&
           (a->launch_count == 0 ||
            memcmp(a->launches, b->launches, a->launch_count * sizeof(*a->launches)) == 0);
}

void gd_finding_gather(gd_finding_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t first = 0;
        while (first < kept && !is_repeated(&list->items[first], &list->items[i]))
            first++;
        if (first == kept) {
            list->items[kept++] = list->items[i];
            continue;
        }
        list->items[first].more++;
        free(list->items[i].launches);
    }
    list->count = kept;
}

void gd_finding_list_free(gd_finding_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].launches);
    free(list->items);
    *list = (gd_finding_list){0};
}

const char *gd_finding_severity_name(int32_t severity)
{
    if (severity < GRIDDEP_SEVERITY_NOTE || severity > GRIDDEP_SEVERITY_ERROR)
        return "finding";
    return gd_finding_severity_names[severity - GRIDDEP_SEVERITY_NOTE];
}

void gd_finding_count(gd_finding_tally *tally, const gd_finding_list *list, int32_t least)
{
    for (size_t i = 0; i < list->count; i++) {
        int32_t severity = list->items[i].data.severity;
        tally->errors += severity >= GRIDDEP_SEVERITY_ERROR;
        tally->warnings += severity == GRIDDEP_SEVERITY_WARNING;
        tally->notes += severity <= GRIDDEP_SEVERITY_NOTE;
        tally->hidden += severity < least;
    }
}

void gd_finding_print(FILE *to, const gd_finding *finding, const char *file)
{
    const griddep_finding *data = &finding->data;
    bool color = gd_message_takes_color(fileno(to));
    char *quote = quote_of(finding);
    gd_page page;
    FILE *stream = gd_page_begin(&page, to);
    print_position(stream, place_of(finding, file), color);
    print_severity(stream, data->severity, color);
    gd_output_tell(stream, data->text);
    if (finding->more > 0)
        fprintf(stream, "; and %u more place%s", (unsigned)finding->more,
                finding->more > 1 ? "s" : "");
    fprintf(stream, " [%s]\n", data->code);
    gd_output_put(stream, quote);
    if (data->hint[0] != '\0') {
        fprintf(stream, "  %shint:%s ", color ? bold : "", color ? plain : "");
        gd_output_tell(stream, data->hint);
        putc('\n', stream);
    }
    print_related(stream, finding, file);
    print_launches(stream, finding);
    gd_page_end(&page);
    free(quote);
}

void gd_finding_print_tally(FILE *to, const gd_finding_tally *tally, bool held_back)
{
    gd_page page;
    FILE *stream = gd_page_begin(&page, to);
    print_count(stream, tally->errors, "error", ", ");
    print_count(stream, tally->warnings, "warning", ", ");
    print_count(stream, tally->notes, "note", "");
    if (tally->hidden > 0)
        fprintf(stream, " (%u not shown)", (unsigned)tally->hidden);
    if (held_back)
        fputs("; waits and triggers are checked when the text is valid PTX", stream);
    putc('\n', stream);
    gd_page_end(&page);
}

static json_t *integer_or_null(uint32_t value)
{
    return value > 0 ? json_integer(value) : json_null();
}

json_t *gd_finding_range(int32_t line, int32_t column, int32_t end_line, int32_t end_column)
{
    return GD_OBJECT({"line", json_integer(line)}, {"column", json_integer(column)},
                     {"end_line", json_integer(end_line)},
                     {"end_column", json_integer(end_column)});
}

static json_t *edits_json(const gd_finding *finding)
{
    json_t *edits = json_array();
    griddep_edit edit = {.size = sizeof(edit)};
    for (uint32_t i = 0; i < finding->data.edit_count; i++) {
        if (griddep_findings_get_edit(finding->from, finding->index, i, &edit, NULL) != GRIDDEP_OK)
            continue;
        json_t *object = gd_finding_range(edit.line, edit.column, edit.end_line, edit.end_column);
        gd_output_append(edits, GD_SET(object, {"text", gd_output_string(edit.text)}));
    }
    return edits;
}

static json_t *related_json(const gd_finding *finding, const char *file)
{
    json_t *list = json_array();
    griddep_related related = {.size = sizeof(related)};
    for (uint32_t i = 0; i < finding->data.related_count; i++) {
        if (griddep_findings_get_related(finding->from, finding->index, i, &related, NULL) !=
            GRIDDEP_OK)
            continue;
        json_t *object =
            gd_finding_range(related.line, related.column, related.end_line, related.end_column);
        gd_output_append(
            list, GD_SET(object, {"file", gd_output_string(file != NULL ? file : related.file)},
                         {"text", gd_output_string(related.text)}));
    }
    return list;
}

static json_t *source_json(const griddep_finding *data)
{
    if (data->source_file == NULL)
        return json_null();
    return GD_OBJECT({"file", gd_output_string(data->source_file)},
                     {"line", json_integer(data->source_line)});
}

json_t *gd_finding_json(const gd_finding *finding, const char *file)
{
    const griddep_finding *data = &finding->data;
    gd_place place = place_of(finding, file);
    char *quote = quote_of(finding);
    json_t *object = json_object(), *launches = json_array();
    for (size_t i = 0; i < finding->launch_count; i++)
        gd_output_append(launches, json_integer(finding->launches[i]));
    GD_SET(object, {"severity", gd_output_string(gd_finding_severity_name(data->severity))},
           {"code", gd_output_string(data->code)},
           {"file", place.file != NULL && place.file[0] != '\0' ? gd_output_string(place.file)
                                                                : json_null()},
           {"line", integer_or_null(place.line)}, {"column", integer_or_null(place.column)},
           {"end_line", integer_or_null((uint32_t)data->end_line)},
           {"end_column", integer_or_null((uint32_t)data->end_column)},
           {"entry", gd_output_string(data->entry)}, {"text", gd_output_string(data->text)},
           {"hint", data->hint[0] != '\0' ? gd_output_string(data->hint) : json_null()},
           {"quote", quote[0] != '\0' ? gd_output_string(quote) : json_null()},
           {"edits", edits_json(finding)}, {"certain", json_boolean(data->is_certain)},
           {"related", related_json(finding, file)}, {"source", source_json(data)},
           {"launches", launches});
    free(quote);
    return object;
}

void gd_finding_add_sarif(json_t *results, const gd_finding *finding)
{
    const griddep_finding *data = &finding->data;
    gd_place place = place_of(finding, NULL);
    if (data->source_file != NULL)
        place = (gd_place){.file = data->source_file, .line = (uint32_t)data->source_line};
    gd_sarif_add(
        results, data->code, gd_finding_severity_name(data->severity), data->text, data->hint,
        (gd_sarif_place){
            .file = place.file, .line = place.line, .column = place.column, .kernel = data->entry});
}
