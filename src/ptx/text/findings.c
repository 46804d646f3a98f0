/* The sorted list of findings. Each finding is one allocation that holds its strings; the list
 * holds at most GD_FINDINGS_LIMIT of them and, once one had to be left out, a last one that says
 * so. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/text.h"
#include "ptx/text/array.h"
#include "ptx/text/findings.h"
#include "ptx/text/source.h"

enum {
    FINDING_MINIMUM = offsetof(griddep_finding, end_line),
    EDIT_MINIMUM = sizeof(griddep_edit),
    RELATED_MINIMUM = sizeof(griddep_related),
    SEVERITIES = GRIDDEP_SEVERITY_ERROR + 1
};

typedef struct kept_finding {
    griddep_finding data;
    const griddep_edit *edits;
    const griddep_related *related;
} kept_finding;

struct griddep_findings {
    kept_finding **list;
    uint32_t count;
    uint32_t capacity;
    uint32_t by_severity[SEVERITIES];
    int32_t left_out; /* the worst severity that was left out; 0: none was */
    bool failed;

    gd_verdict **verdicts;
    uint32_t verdict_count;
    uint32_t verdict_capacity;
};

griddep_findings *gd_findings_create(void)
{
    return calloc(1, sizeof(griddep_findings));
}

void griddep_findings_destroy(griddep_findings *findings)
{
    if (!findings)
        return;
    for (uint32_t i = 0; i < findings->count; i++)
        free(findings->list[i]);
    free(findings->list);
    for (uint32_t i = 0; i < findings->verdict_count; i++)
        free(findings->verdicts[i]);
    free(findings->verdicts);
    free(findings);
}

int32_t gd_findings_check(const griddep_findings *findings, griddep_error *error)
{
    return findings->failed ? gd_error_memory(error) : GRIDDEP_OK;
}

static int compare_position(const griddep_finding *a, const griddep_finding *b)
{
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return 0;
}

/* The index behind all findings up to and at this one's position. */
static uint32_t find_place(const griddep_findings *findings, const griddep_finding *key)
{
    uint32_t place;

    GD_COUNT_FIRST(place, findings->count, i, compare_position(&findings->list[i]->data, key) <= 0);
    return place;
}

/* The index of a finding that says the same already; UINT32_MAX when there is none. `text` may be
 * NULL when there is a position. */
static uint32_t find_same(const griddep_findings *findings, const griddep_finding *key,
                          uint32_t place, const char *text)
{
    while (place > 0 && compare_position(&findings->list[place - 1]->data, key) == 0) {
        const griddep_finding *other = &findings->list[--place]->data;
        if (other->code == key->code &&
            (key->line ? !strcmp(other->file, key->file) : !strcmp(other->text, text)))
            return place;
    }
    return UINT32_MAX;
}

static void take_out(griddep_findings *findings, uint32_t index)
{
    findings->by_severity[findings->list[index]->data.severity]--;
    free(findings->list[index]);
    memmove(&findings->list[index], &findings->list[index + 1],
            (findings->count - index - 1) * sizeof *findings->list);
    findings->count--;
}

/* Whether there is something new to say; one that says the same less severely goes. */
static bool is_news(griddep_findings *findings, const griddep_finding *key, uint32_t *place,
                    const char *text)
{
    uint32_t same = find_same(findings, key, *place, text);

    if (same == UINT32_MAX)
        return true;
    if (findings->list[same]->data.severity >= key->severity)
        return false;
    take_out(findings, same);
    (*place)--;
    return true;
}

static int32_t least_severity(const griddep_findings *findings)
{
    int32_t severity = GRIDDEP_SEVERITY_NOTE;

    while (severity < GRIDDEP_SEVERITY_ERROR && !findings->by_severity[severity])
        severity++;
    return severity;
}

static void leave_out(griddep_findings *findings, int32_t severity)
{
    if (severity > findings->left_out)
        findings->left_out = severity;
}

/* The last of the least severe: what a full list would lose. */
static uint32_t find_victim(const griddep_findings *findings)
{
    const int32_t least = least_severity(findings);
    uint32_t victim = findings->count - 1;

    while (findings->list[victim]->data.severity != least)
        victim--;
    return victim;
}

/* Whether the list is full, and a finding that would stand at `place` less important than all of
 * it. */
static bool has_no_room(const griddep_findings *findings, int32_t severity, uint32_t place)
{
    if (findings->count < GD_FINDINGS_LIMIT)
        return false;
    const int32_t least = least_severity(findings);
    return severity < least || (severity == least && place > find_victim(findings));
}

/* Makes room in a full list for a finding that would stand at *place; false when it is the one to
 * be left out. */
static bool make_room(griddep_findings *findings, int32_t severity, uint32_t *place)
{
    if (findings->count < GD_FINDINGS_LIMIT)
        return true;
    if (has_no_room(findings, severity, *place))
        return leave_out(findings, severity), false;
    const uint32_t victim = find_victim(findings);
    leave_out(findings, findings->list[victim]->data.severity);
    take_out(findings, victim);
    if (*place > victim)
        (*place)--;
    return true;
}

/* ---- a finding ---- */

/* Copies a string to *at, and *at behind it. */
static const char *place_string(char **at, const char *string)
{
    size_t bytes = strlen(string) + 1;
    char *start = memcpy(*at, string, bytes);

    *at += bytes;
    return start;
}

static size_t string_bytes(const char *string)
{
    return string ? strlen(string) + 1 : 0;
}

static griddep_edit make_edit(const gd_finding_draft *draft, const gd_finding_edit *from, char **at)
{
    const gd_ptx_tokens *tokens = &draft->module->tokens;
    griddep_edit edit = {.size = sizeof edit,
                         .offset = from->offset,
                         .bytes = from->removed,
                         .text = place_string(at, from->text)};

    gd_ptx_tokens_position(tokens, from->offset, &edit.line, &edit.column);
    gd_ptx_tokens_position(tokens, from->offset + from->removed, &edit.end_line, &edit.end_column);
    return edit;
}

static griddep_related make_related(const gd_finding_draft *draft, const griddep_finding *finding,
                                    const gd_finding_relation *from, char **at)
{
    griddep_related related = {
        .size = sizeof related, .file = finding->file, .text = place_string(at, from->text)};

    gd_ptx_token_position(draft->module, from->token, &related.line, &related.column);
    related.end_line = related.line;
    related.end_column =
        related.column + (int32_t)gd_token_length(draft->module->tokens.list[from->token]);
    return related;
}

static kept_finding *copy_finding(const griddep_finding *from, const gd_finding_draft *draft)
{
    size_t tables =
        from->edit_count * sizeof(griddep_edit) + from->related_count * sizeof(griddep_related);
    size_t bytes = sizeof(kept_finding) + tables + string_bytes(from->file) +
                   string_bytes(from->text) + string_bytes(from->hint) + string_bytes(from->quote) +
                   string_bytes(from->entry) + string_bytes(from->source_file);

    for (uint32_t i = 0; i < from->edit_count; i++)
        bytes += string_bytes(draft->edits[i].text);
    for (uint32_t i = 0; i < from->related_count; i++)
        bytes += string_bytes(draft->relations[i].text);
    kept_finding *copy = malloc(bytes);
    if (!copy)
        return NULL;
    griddep_edit *edits = (griddep_edit *)(copy + 1);
    griddep_related *related = (griddep_related *)(edits + from->edit_count);
    char *at = (char *)(copy + 1) + tables;
    *copy = (kept_finding){.data = *from, .edits = edits, .related = related};
    copy->data.file = place_string(&at, from->file);
    copy->data.text = place_string(&at, from->text);
    copy->data.hint = place_string(&at, from->hint);
    copy->data.quote = place_string(&at, from->quote);
    copy->data.entry = from->entry ? place_string(&at, from->entry) : NULL;
    copy->data.source_file = from->source_file ? place_string(&at, from->source_file) : NULL;
    for (uint32_t i = 0; i < from->edit_count; i++)
        edits[i] = make_edit(draft, &draft->edits[i], &at);
    for (uint32_t i = 0; i < from->related_count; i++)
        related[i] = make_related(draft, &copy->data, &draft->relations[i], &at);
    return copy;
}

static bool insert(griddep_findings *findings, const griddep_finding *data,
                   const gd_finding_draft *draft, uint32_t place)
{
    void *list = findings->list;

    if (findings->count == findings->capacity) {
        bool grown = gd_array_grow(&list, &findings->capacity, sizeof *findings->list);
        findings->list = list;
        if (!grown)
            return false;
    }
    kept_finding *copy = copy_finding(data, draft);
    if (!copy)
        return false;
    memmove(&findings->list[place + 1], &findings->list[place],
            (findings->count - place) * sizeof *findings->list);
    findings->list[place] = copy;
    findings->count++;
    findings->by_severity[data->severity]++;
    return true;
}

/* ---- where it ends, and where its code comes from ---- */

/* Behind a token; of an opcode behind its modifiers, which nothing parts from it. */
static uint32_t end_of_token(const gd_ptx_module *module, uint32_t token)
{
    const gd_token *list = module->tokens.list;
    uint32_t end = list[token].offset + gd_token_length(list[token]);

    if (gd_token_kind(list[token]) != GD_TOKEN_NAME)
        return end;
    while (gd_token_kind(list[++token]) == GD_TOKEN_DOTTED && list[token].offset == end)
        end += gd_token_length(list[token]);
    return end;
}

static void find_end(const gd_finding_draft *draft, griddep_finding *finding)
{
    const gd_ptx_module *module = draft->module;

    if (!finding->line)
        return;
    finding->end_line = finding->line;
    finding->end_column = finding->column;
    if (!module)
        return;
    if (draft->token != GD_PTX_NONE) {
        gd_ptx_tokens_position(&module->tokens, end_of_token(module, draft->token),
                               &finding->end_line, &finding->end_column);
        return;
    }
    uint32_t line = module->tokens.lines[finding->line - 1];
    const char *at = module->text + line + finding->column - 1;
    size_t bytes = strcspn(at, " \t\r\n,;:()[]{}");
    finding->end_column += (int32_t)(bytes ? bytes : *at && *at != '\n');
}

/* The source line that the .loc in front of a token tells, in the same function. */
static void find_source(const gd_finding_draft *draft, griddep_finding *finding, gd_text *name)
{
    const gd_ptx_module *module = draft->module;

    if (!module || draft->token == GD_PTX_NONE)
        return;
    gd_ptx_source source = gd_ptx_find_source(module, draft->token);
    if (!source.line)
        return;
    gd_text_append(name, source.file, source.file_bytes);
    finding->source_file = gd_text_get(name);
    finding->source_line = source.line;
}

/* What a draft says but for the strings that are still to be made. */
static griddep_finding start_finding(const gd_finding_draft *draft)
{
    const gd_code_info *code = &gd_codes[draft->code];
    griddep_finding finding = {.size = sizeof finding,
                               .severity = draft->severity ? draft->severity : code->severity,
                               .code = code->name,
                               .file = draft->file     ? draft->file
                                       : draft->module ? draft->module->name
                                                       : "",
                               .entry = draft->entry,
                               .hint = draft->hint ? draft->hint : "",
                               .line = draft->line,
                               .column = draft->column,
                               .launch = draft->launch,
                               .edit_count = draft->module ? draft->edit_count : 0,
                               .is_certain = draft->certain && draft->edit_count,
                               .related_count = draft->module ? draft->relation_count : 0};

    if (draft->module && draft->token != GD_PTX_NONE)
        gd_ptx_token_position(draft->module, draft->token, &finding.line, &finding.column);
    return finding;
}

static void quote_line(gd_text *quote, const gd_finding_draft *draft,
                       const griddep_finding *finding)
{
    if (!finding->line)
        return;
    if (draft->source)
        gd_text_quote(quote, draft->source, draft->source_bytes, finding->line, finding->column);
    else if (draft->module)
        gd_text_quote(quote, draft->module->text, draft->module->bytes, finding->line,
                      finding->column);
}

/* Adds a finding that has all but its quote, its end and its source. */
static void complete(griddep_findings *findings, const gd_finding_draft *draft,
                     griddep_finding *finding, uint32_t place)
{
    gd_text quote = {0}, source = {0};

    quote_line(&quote, draft, finding);
    find_end(draft, finding);
    find_source(draft, finding, &source);
    finding->quote = gd_text_get(&quote);
    if (quote.failed || source.failed || !insert(findings, finding, draft, place))
        findings->failed = true;
    gd_text_free(&quote);
    gd_text_free(&source);
}

void gd_findings_add(griddep_findings *findings, const gd_finding_draft *draft, const char *format,
                     ...)
{
    griddep_finding finding = start_finding(draft);
    uint32_t place = find_place(findings, &finding);
    gd_text text = {0};
    va_list list;

    if (findings->failed || (finding.line && !is_news(findings, &finding, &place, NULL)))
        return;
    if (finding.line && has_no_room(findings, finding.severity, place)) {
        leave_out(findings, finding.severity); /* its text need not be made: there may be many */
        return;
    }
    va_start(list, format);
    gd_text_format_list(&text, format, list);
    va_end(list);
    finding.text = gd_text_get(&text);
    findings->failed |= text.failed;
    if (!findings->failed && (finding.line || is_news(findings, &finding, &place, finding.text)) &&
        make_room(findings, finding.severity, &place))
        complete(findings, draft, &finding, place);
    gd_text_free(&text);
}

/* ---- verdicts ---- */

static const int32_t *place_lines(char **at, const int32_t *lines, uint32_t count)
{
    int32_t *copy = (int32_t *)(void *)*at;

    for (uint32_t i = 0; i < count; i++)
        copy[i] = lines[i];
    *at += count * sizeof *lines;
    return copy;
}

bool gd_findings_add_verdict(griddep_findings *findings, const gd_verdict *verdict)
{
    void *list = findings->verdicts;
    size_t bytes = sizeof *verdict +
                   ((size_t)verdict->wait_count + verdict->trigger_count) * sizeof(int32_t) +
                   string_bytes(verdict->file) + string_bytes(verdict->entry) +
                   string_bytes(verdict->text) + string_bytes(verdict->condition);

    if (findings->verdict_count == findings->verdict_capacity) {
        bool grown = gd_array_grow(&list, &findings->verdict_capacity, sizeof *findings->verdicts);
        findings->verdicts = list;
        if (!grown)
            return false;
    }
    gd_verdict *copy = malloc(bytes);
    if (!copy)
        return false;
    char *at = (char *)(copy + 1);
    *copy = *verdict;
    copy->wait_lines = place_lines(&at, verdict->wait_lines, verdict->wait_count);
    copy->trigger_lines = place_lines(&at, verdict->trigger_lines, verdict->trigger_count);
    copy->file = place_string(&at, verdict->file);
    copy->entry = verdict->entry ? place_string(&at, verdict->entry) : NULL;
    copy->text = place_string(&at, verdict->text);
    copy->condition = place_string(&at, verdict->condition);
    findings->verdicts[findings->verdict_count++] = copy;
    return true;
}

/* ---- public ---- */

uint32_t griddep_findings_count(const griddep_findings *findings)
{
    return findings ? findings->count + (findings->left_out ? 1 : 0) : 0;
}

/* The last finding of a list that had to leave some out. */
static const griddep_finding *overflow_finding(int32_t severity)
{
#define OVERFLOW(weight, words)                                                                    \
    {                                                                                              \
        .size = sizeof(griddep_finding), .severity = GRIDDEP_SEVERITY_##weight, .code = "GD004",   \
        .file = "",                                                                                \
        .text =                                                                                    \
            "there are more than 1000 findings; those left out are " words " (GD_FINDINGS_LIMIT)", \
        .hint = "", .quote = "", .launch = -1                                                      \
    }
    static const griddep_finding overflows[SEVERITIES] = {
        [GRIDDEP_SEVERITY_NOTE] = OVERFLOW(NOTE, "notes"),
        [GRIDDEP_SEVERITY_WARNING] = OVERFLOW(WARNING, "warnings at worst"),
        [GRIDDEP_SEVERITY_ERROR] = OVERFLOW(ERROR, "errors at worst"),
    };
#undef OVERFLOW

    return &overflows[severity];
}

/* A finding by its number, also the one that tells of those that are left out. */
static int32_t find(const griddep_findings *findings, uint32_t index, kept_finding *found,
                    griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!findings)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "findings is NULL");
    if (index >= griddep_findings_count(findings))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "there are %" PRIu32 " findings; there is no number %" PRIu32,
                            griddep_findings_count(findings), index);
    *found = index < findings->count
                 ? *findings->list[index]
                 : (kept_finding){.data = *overflow_finding(findings->left_out)};
    return GRIDDEP_OK;
}

int32_t griddep_findings_get(const griddep_findings *findings, uint32_t index,
                             griddep_finding *finding, griddep_error *error)
{
    kept_finding found;
    int32_t status = find(findings, index, &found, error);

    return status ? status
                  : gd_struct_write(finding, &found.data, sizeof found.data, FINDING_MINIMUM,
                                    "griddep_finding", error);
}

int32_t griddep_findings_get_edit(const griddep_findings *findings, uint32_t index, uint32_t number,
                                  griddep_edit *edit, griddep_error *error)
{
    kept_finding found;
    int32_t status = find(findings, index, &found, error);

    if (status)
        return status;
    if (number >= found.data.edit_count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the finding has %" PRIu32 " edits; there is no number %" PRIu32,
                            found.data.edit_count, number);
    return gd_struct_write(edit, &found.edits[number], sizeof *edit, EDIT_MINIMUM, "griddep_edit",
                           error);
}

int32_t griddep_findings_get_related(const griddep_findings *findings, uint32_t index,
                                     uint32_t number, griddep_related *related,
                                     griddep_error *error)
{
    kept_finding found;
    int32_t status = find(findings, index, &found, error);

    if (status)
        return status;
    if (number >= found.data.related_count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the finding has %" PRIu32
                            " related places; there is no number %" PRIu32,
                            found.data.related_count, number);
    return gd_struct_write(related, &found.related[number], sizeof *related, RELATED_MINIMUM,
                           "griddep_related", error);
}

const gd_verdict *gd_findings_verdict(const griddep_findings *findings, uint32_t index)
{
    return index < findings->verdict_count ? findings->verdicts[index] : NULL;
}
