/* The sorted list of findings. Each finding is one allocation that holds its strings; the list
 * holds at most GD_FINDINGS_LIMIT of them and, once one had to be left out, a last one that says
 * so. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ptx/text/array.h"
#include "ptx/text/findings.h"

enum { FINDING_MINIMUM = sizeof(griddep_finding), SEVERITIES = GRIDDEP_SEVERITY_ERROR + 1 };

struct griddep_findings {
    griddep_finding **list;
    uint32_t count;
    uint32_t capacity;
    uint32_t by_severity[SEVERITIES];
    int32_t left_out; /* the worst severity that was left out; 0: none was */
    bool failed;
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
    uint32_t low = 0, high = findings->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_position(findings->list[middle], key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The index of a finding that says the same already; UINT32_MAX when there is none. `text` may be
 * NULL when there is a position. */
static uint32_t find_same(const griddep_findings *findings, const griddep_finding *key,
                          uint32_t place, const char *text)
{
    while (place > 0 && compare_position(findings->list[place - 1], key) == 0) {
        const griddep_finding *other = findings->list[--place];
        if (other->code == key->code &&
            (key->line ? !strcmp(other->file, key->file) : !strcmp(other->text, text)))
            return place;
    }
    return UINT32_MAX;
}

static void take_out(griddep_findings *findings, uint32_t index)
{
    findings->by_severity[findings->list[index]->severity]--;
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
    if (findings->list[same]->severity >= key->severity)
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

/* Makes room in a full list for a finding that would stand at *place; false when it is the one to
 * be left out. */
static bool make_room(griddep_findings *findings, int32_t severity, uint32_t *place)
{
    int32_t least = least_severity(findings);
    uint32_t victim = findings->count;

    if (findings->count < GD_FINDINGS_LIMIT)
        return true;
    if (severity < least)
        return leave_out(findings, severity), false;
    while (findings->list[victim - 1]->severity != least)
        victim--;
    victim--;
    if (severity == least && *place > victim)
        return leave_out(findings, severity), false;
    leave_out(findings, least);
    take_out(findings, victim);
    if (*place > victim)
        (*place)--;
    return true;
}

/* Copies a string to *at, and *at behind it. */
static const char *place_string(char **at, const char *string)
{
    size_t bytes = strlen(string) + 1;
    char *start = memcpy(*at, string, bytes);

    *at += bytes;
    return start;
}

static griddep_finding *copy_finding(const griddep_finding *from)
{
    size_t bytes = sizeof *from + strlen(from->file) + strlen(from->text) + strlen(from->hint) +
                   strlen(from->quote) + 4;

    bytes += from->entry ? strlen(from->entry) + 1 : 0;
    griddep_finding *copy = malloc(bytes);
    if (!copy)
        return NULL;
    char *at = (char *)(copy + 1);
    *copy = *from;
    copy->file = place_string(&at, from->file);
    copy->text = place_string(&at, from->text);
    copy->hint = place_string(&at, from->hint);
    copy->quote = place_string(&at, from->quote);
    copy->entry = from->entry ? place_string(&at, from->entry) : NULL;
    return copy;
}

static bool insert(griddep_findings *findings, const griddep_finding *finding, uint32_t place)
{
    void *list = findings->list;

    if (findings->count == findings->capacity) {
        bool grown = gd_array_grow(&list, &findings->capacity, sizeof *findings->list);
        findings->list = list;
        if (!grown)
            return false;
    }
    griddep_finding *copy = copy_finding(finding);
    if (!copy)
        return false;
    memmove(&findings->list[place + 1], &findings->list[place],
            (findings->count - place) * sizeof *findings->list);
    findings->list[place] = copy;
    findings->count++;
    findings->by_severity[finding->severity]++;
    return true;
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
                               .launch = draft->launch};

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

void gd_findings_add(griddep_findings *findings, const gd_finding_draft *draft, const char *format,
                     ...)
{
    griddep_finding finding = start_finding(draft);
    uint32_t place = find_place(findings, &finding);
    gd_text text = {0}, quote = {0};
    va_list list;

    if (findings->failed || (finding.line && !is_news(findings, &finding, &place, NULL)))
        return;
    va_start(list, format);
    gd_text_format_list(&text, format, list);
    va_end(list);
    finding.text = gd_text_get(&text);
    if ((finding.line || is_news(findings, &finding, &place, finding.text)) &&
        make_room(findings, finding.severity, &place)) {
        quote_line(&quote, draft, &finding);
        finding.quote = gd_text_get(&quote);
        if (text.failed || quote.failed || !insert(findings, &finding, place))
            findings->failed = true;
    }
    gd_text_free(&text);
    gd_text_free(&quote);
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

int32_t griddep_findings_get(const griddep_findings *findings, uint32_t index,
                             griddep_finding *finding, griddep_error *error)
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
    const griddep_finding *known =
        index < findings->count ? findings->list[index] : overflow_finding(findings->left_out);
    return gd_struct_write(finding, known, sizeof *known, FINDING_MINIMUM, "griddep_finding",
                           error);
}
