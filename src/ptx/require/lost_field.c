/* Fields of the head comment that are misspelt. A text may have fields of its own, so only what is
 * nearly a field of the library's is told: its name with a letter or two wrong, with more spaces in
 * front, or without its colon. Where it is the very name of a field with conditions, a text that
 * means it so is not loaded. */
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"
#include "ptx/require/lost_field.h"
#include "ptx/require/head.h"

enum {
    LONGEST = 32, /* of the words that are looked at */
    LETTERS = 2,  /* so many may be wrong */
    BEGINNING = 5 /* or so many may be right from the start: "requirements" */
};

/* doc/shelf.md has the table. The first ones are read by the library itself. */
static const char *const fields[] = {"requires",   "extent",      "constant", "kernel", "purpose",
                                     "parameters", "constraints", "launch",   "pdl",    "measured"};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0], READ_COUNT = 3, CONDITION_COUNT = 2 };

typedef struct heading {
    size_t spaces; /* in front of it */
    const char *at;
    char word[LONGEST + 1]; /* in lower case */
    size_t bytes;
    bool alone; /* the line has nothing else, no colon either */
} heading;

static bool is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           byte == '-';
}

/* "word:" or "word name:" at the beginning of a line, or a line of one word. */
static bool read_heading(const gd_head_line *line, heading *found)
{
    const char *at = line->text, *end = at + line->bytes;

    *found = (heading){.spaces = 0};
    for (; at < end && (*at == ' ' || *at == '\t'); at++)
        found->spaces++;
    found->at = at;
    for (; at < end && is_word(*at); at++) {
        if (found->bytes == LONGEST)
            return false;
        found->word[found->bytes++] = (char)(*at >= 'A' && *at <= 'Z' ? *at + ('a' - 'A') : *at);
    }
    found->alone = at == end;
    const char *colon = memchr(at, ':', (size_t)(end - at));
    if (!found->bytes || (!colon && !found->alone))
        return false;
    if (colon && colon > at && (*at != ' ' || memchr(at + 1, ' ', (size_t)(colon - at - 1))))
        return false;
    return true;
}

/* Whether the library takes the line for the field that it is near to. */
static bool is_field(const gd_head_line *line, const char *field)
{
    gd_head_line of, value;

    return gd_head_begins(line, field, &of, &value);
}

/* What a condition has and a sentence does not. */
static bool has_operator(const char *at, const char *end)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", " < ", " > ", " % ", "apart("};

    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (memmem(at, (size_t)(end - at), operators[i], strlen(operators[i])))
            return true;
    }
    return false;
}

/* Whether what stands behind a field's name makes it one: a sentence may begin with the same
 * word. */
static bool is_meant(const char *behind, const char *end)
{
    return end - behind == 1 || (behind < end && end[-1] == ':') || has_operator(behind, end) ||
           memchr(behind, '[', (size_t)(end - behind));
}

/* The field of conditions that a line names to the letter; NULL. */
static const char *find_named(const gd_head_line *line, heading *from)
{
    const char *end = line->text + line->bytes;
    const bool colon = read_heading(line, from);

    for (size_t i = 0; i < CONDITION_COUNT; i++) {
        const size_t bytes = strlen(fields[i]);
        if (from->bytes == bytes && !memcmp(from->at, fields[i], bytes))
            return colon || is_meant(from->at + bytes, end) ? fields[i] : NULL;
    }
    return NULL;
}

/* The same of a comment that is no line of the head, or one that begins otherwise. */
static const char *find_outside(const gd_head_line *line, heading *from)
{
    gd_head_line bare = *line;

    for (; bare.bytes && strchr(" \t/!*", bare.text[0]); bare.bytes--)
        bare.text++;
    for (; bare.bytes && strchr(" \t\r", bare.text[bare.bytes - 1]); bare.bytes--)
        ;
    const char *field = find_named(&bare, from);
    return field && !from->alone ? field : NULL;
}

/* The field of conditions that a line names and does not begin: indented otherwise, or without its
 * colon; NULL. */
static const char *find_lost(const gd_head_line *line, heading *from)
{
    if (line->bytes && strchr("/!", line->text[0]))
        return find_outside(line, from);
    const char *field = find_named(line, from);
    return field && !is_field(line, field) ? field : NULL;
}

static size_t beginning(const char *word, const char *field)
{
    size_t same = 0;

    while (word[same] && word[same] == field[same])
        same++;
    return same;
}

/* The field that the line was meant to be; NULL: none. */
static const char *find_field(const heading *from)
{
    const size_t count = from->alone ? READ_COUNT : FIELD_COUNT;
    gd_nearest nearest = {
        .word = from->word, .bytes = from->bytes, .name = "", .distance = LETTERS + 1};

    for (size_t i = 0; i < count; i++) {
        if (!strcmp(from->word, fields[i]))
            return fields[i];
    }
    for (size_t i = 0; i < count && !from->alone; i++)
        gd_nearest_look(&nearest, fields[i]);
    if (nearest.name[0])
        return nearest.name;
    for (size_t i = 0; i < READ_COUNT && !from->alone; i++) {
        if (beginning(from->word, fields[i]) >= BEGINNING)
            return fields[i];
    }
    return NULL;
}

static void tell(griddep_findings *findings, const gd_ptx_module *module, const heading *from,
                 const char *field)
{
    gd_finding_draft draft = {
        .code = GD_CODE_GD153, .launch = -1, .module = module, .token = GD_PTX_NONE};
    int bytes = (int)from->bytes;

    gd_ptx_tokens_position(&module->tokens, (uint32_t)(from->at - module->text), &draft.line,
                           &draft.column);
    if (strlen(field) != from->bytes || memcmp(field, from->at, from->bytes))
        gd_findings_add(
            findings, &draft,
            "the head comment's field \"%.*s\" is read by nothing; did you mean \"%s\"?", bytes,
            from->at, field);
    else if (from->alone)
        gd_findings_add(findings, &draft,
                        "\"%s\" has no colon behind it, so that it begins no field", field);
    else
        gd_findings_add(findings, &draft,
                        "\"%s\" stands behind %zu spaces, so that it begins no field; one does",
                        field, from->spaces);
}

/* Where a reader of lines stands: lines that are indented further continue a field. */
typedef struct walk {
    gd_head head;
    bool inside;
    bool conditions; /* inside of a field that has them: its own lines may begin with any name */
    bool behind;     /* behind an empty line that ended such a field */
} walk;

/* Whether a line is meant to belong to the field with conditions before it, and does not: it is not
 * indented by three spaces, or an empty line stands before it. A sentence or another field may
 * follow behind one space. */
static bool is_cut_off(const walk *at, const gd_head_line *line, heading *from)
{
    const char *end = line->text + line->bytes;

    read_heading(line, from);
    if (from->at == end)
        return false;
    if (at->behind)
        return gd_head_continues(line) && has_operator(from->at, end);
    if (!at->conditions || gd_head_continues(line))
        return false;
    return from->spaces != 1 || line->text[0] != ' ' ||
           (has_operator(from->at, end) && !memchr(from->at, ':', (size_t)(end - from->at)));
}

/* The next line that begins nothing and names a field, or nearly one: its heading and the field.
 * `lost` says that it is the name of a field with conditions, or with *field NULL a line that such
 * a field was meant to have. */
static bool next_wrong(walk *at, heading *from, const char **field, bool *lost)
{
    gd_head_line line;

    while (gd_head_next(&at->head, &line)) {
        const bool continues = at->inside && gd_head_continues(&line);
        *lost = is_cut_off(at, &line, from);
        *field = NULL;
        if (*lost)
            return true;
        at->behind =
            line.bytes ? at->behind && gd_head_continues(&line) : at->conditions || at->behind;
        if (!line.bytes)
            at->inside = at->conditions = false;
        *field = continues && at->conditions ? NULL : find_lost(&line, from);
        *lost = *field;
        if (*lost) {
            at->inside = at->conditions = true; /* what follows would be its conditions */
            return true;
        }
        if (continues || !read_heading(&line, from))
            continue;
        *field = find_field(from);
        const bool exact = *field && !from->alone && is_field(&line, *field);
        at->inside |= exact || (from->spaces == 1 && !from->alone);
        at->conditions = exact && (*field == fields[0] || *field == fields[1]);
        if (*field && !exact)
            return true;
    }
    return false;
}

/* The text behind the head. */
typedef struct comments {
    const char *at, *end;
    uint32_t depth; /* of braces: inside of functions, comments tell of instructions */
    bool inside;    /* of a comment that ends with a star and a slash */
} comments;

static const char *find_end(const char *at, const char *end, const char *what)
{
    const char *found = memmem(at, (size_t)(end - at), what, strlen(what));

    return found ? found : end;
}

static bool next_comment(comments *text, gd_head_line *line)
{
    while (text->at < text->end) {
        const char *at = text->at, *end = text->end;
        if (text->inside) {
            const char *stop = find_end(at, end, "*/"), *newline = find_end(at, stop, "\n");
            text->inside = newline < stop;
            text->at = text->inside ? newline + 1 : stop < end ? stop + 2 : end;
            *line = (gd_head_line){at, (size_t)(newline - at)};
            return true;
        }
        text->at++;
        if (*at == '"') {
            const char *stop = find_end(at + 1, end, "\"");
            text->at = stop < end ? stop + 1 : end;
        } else if (*at == '/' && at[1] == '*') {
            text->at++;
            text->inside = true;
        } else if (*at == '/' && at[1] == '/') {
            text->at = find_end(at, end, "\n");
            *line = (gd_head_line){at, (size_t)(text->at - at)};
            return true;
        } else if (*at == '{') {
            text->depth++;
        } else if (*at == '}' && text->depth) {
            text->depth--;
        }
    }
    return false;
}

/* Fields with conditions in other comments than the head's: nothing reads them there. */
static void find_misplaced(const gd_ptx_module *module, const char *head_end,
                           gd_ptx_diagnostics *diagnostics)
{
    comments text = {.at = head_end, .end = module->text + module->bytes};
    bool named = false;
    gd_head_line line;
    heading from;

    for (size_t i = 0; i < CONDITION_COUNT; i++)
        named = named || find_end(text.at, text.end, fields[i]) < text.end;
    while (named && next_comment(&text, &line)) {
        const char *field = text.depth ? NULL : find_outside(&line, &from);
        if (field)
            gd_ptx_diagnostics_add(diagnostics, (uint32_t)(from.at - module->text),
                                   "\"%s\" begins no field here, so that its conditions would be "
                                   "lost: fields stand in the lines of \"//\" that the text "
                                   "begins with",
                                   field);
    }
}

void gd_check_head(griddep_findings *findings, const gd_ptx_module *module)
{
    walk at = {.head = {module->text, module->text + module->bytes}};
    const char *field;
    heading from;
    bool lost;

    while (next_wrong(&at, &from, &field, &lost)) {
        if (!lost)
            tell(findings, module, &from, field);
    }
}

void gd_head_find_lost(const gd_ptx_module *module, gd_ptx_diagnostics *diagnostics)
{
    walk at = {.head = {module->text, module->text + module->bytes}};
    const char *field;
    heading from;
    bool lost;

    while (next_wrong(&at, &from, &field, &lost)) {
        if (lost && !field)
            gd_ptx_diagnostics_add(diagnostics, (uint32_t)(from.at - module->text),
                                   "this line would be lost: what a field with conditions has "
                                   "stands behind \"//\" and at least three "
                                   "spaces, with no empty line between");
        else if (lost)
            gd_ptx_diagnostics_add(diagnostics, (uint32_t)(from.at - module->text),
                                   "\"%s\" begins no field here, so that its conditions would be "
                                   "lost: one space stands in "
                                   "front of a field, and a colon behind it",
                                   field);
    }
    find_misplaced(module, at.head.at, diagnostics);
}
