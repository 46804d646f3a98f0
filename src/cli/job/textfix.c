/* One mistake may hide another: a statement without its end hides the rest of the text from the
 * check. So the text is checked again after its edits. */
#include "cli/job/textfix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/show/finding.h"

enum { MOST_ROUNDS = 100 };

/* An edit, and the finding that it mends. */
typedef struct fix_edit {
    griddep_edit edit; /* its text belongs to the findings */
    const char *code;
} fix_edit;

typedef struct fix_round {
    const char *text;
    size_t bytes;
    const char *name;
    fix_edit *edits;
    size_t count;
} fix_round;

static int compare_places(const void *first, const void *second)
{
    const griddep_edit *a = &((const fix_edit *)first)->edit,
                       *b = &((const fix_edit *)second)->edit;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static void collect(fix_round *round, const griddep_findings *findings)
{
    griddep_finding finding = {.size = sizeof(finding)};
    griddep_edit edit = {.size = sizeof(edit)};
    for (uint32_t i = 0; griddep_findings_get(findings, i, &finding, NULL) == GRIDDEP_OK; i++)
        for (uint32_t k = 0; finding.is_certain && k < finding.edit_count; k++) {
            if (griddep_findings_get_edit(findings, i, k, &edit, NULL) != GRIDDEP_OK)
                continue;
            round->edits =
                gd_heap_grow(round->edits, round->count, round->count + 1, sizeof(*round->edits));
            round->edits[round->count++] = (fix_edit){edit, finding.code};
        }
    if (round->count > 0)
        qsort(round->edits, round->count, sizeof(*round->edits), compare_places);
}

static void tell(const gd_textfix *fix, const fix_round *round, const fix_edit *made)
{
    const griddep_edit *edit = &made->edit;
    char *before = gd_heap_format("%.*s", (int)edit->bytes, round->text + edit->offset);
    if (fix->fixes != NULL) {
        json_t *object =
            gd_finding_range(edit->line, edit->column, edit->end_line, edit->end_column);
        gd_output_append(fix->fixes, GD_SET(object, {"file", gd_output_string(round->name)},
                                            {"code", gd_output_string(made->code)},
                                            {"before", gd_output_string(before)},
                                            {"text", gd_output_string(edit->text)}));
    } else if (edit->bytes == 0) {
        gd_output_print("%s:%d:%d: fixed: '%s' put in [%s]\n", round->name, (int)edit->line,
                        (int)edit->column, edit->text, made->code);
    } else {
        gd_output_print("%s:%d:%d: fixed: '%s' is '%s' now [%s]\n", round->name, (int)edit->line,
                        (int)edit->column, before, edit->text, made->code);
    }
    free(before);
}

/* The new text; of edits at one place the first is made, and the others wait for the next round. */
static void apply(gd_textfix *fix, const fix_round *round)
{
    size_t room = round->bytes + 1, at = 0, bytes = 0;
    for (size_t i = 0; i < round->count; i++)
        room += strlen(round->edits[i].edit.text);
    char *text = gd_heap_take(room, 1);
    for (size_t i = 0; i < round->count; i++) {
        const griddep_edit *edit = &round->edits[i].edit;
        if (i > 0 && (edit->offset < at || edit->offset == round->edits[i - 1].edit.offset))
            continue;
        memcpy(text + bytes, round->text + at, (size_t)edit->offset - at);
        bytes += (size_t)edit->offset - at;
        memcpy(text + bytes, edit->text, strlen(edit->text));
        bytes += strlen(edit->text);
        at = (size_t)(edit->offset + edit->bytes);
        tell(fix, round, &round->edits[i]);
        fix->count++;
    }
    memcpy(text + bytes, round->text + at, round->bytes - at);
    bytes += round->bytes - at;
    text[bytes] = '\0';
    free(fix->text);
    fix->text = text;
    fix->bytes = bytes;
}

int gd_textfix_run(gd_textfix *fix, const char *text, size_t bytes, const char *name,
                   const griddep_check_options *options)
{
    bool more = true;
    for (int i = 0; i < MOST_ROUNDS && more; i++) {
        fix_round round = {.text = fix->text != NULL ? fix->text : text,
                           .bytes = fix->text != NULL ? fix->bytes : bytes,
                           .name = name};
        griddep_findings *findings = NULL;
        griddep_error error;
        griddep_error_init(&error);
        if (griddep_ptx_check(round.text, round.bytes, name, options, &findings, &error) !=
            GRIDDEP_OK)
            return gd_message_library(&error, NULL);
        collect(&round, findings);
        more = round.count > 0;
        if (more)
            apply(fix, &round);
        free(round.edits);
        griddep_findings_destroy(findings);
    }
    return 0;
}
