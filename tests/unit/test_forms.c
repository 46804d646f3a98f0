/* One instruction of each form, and what becomes of it when each of its parts is left out, doubled,
 * moved, or another: tests/golden/forms.txt has what ptxas says of them (tests/fuzz/forms.py
 * asked).
 * A line is an instruction behind a verdict for each of its variants: '+' ptxas takes it, '-' it
 * refuses it, '.' it was not asked. "= sm_100a" begins those for another target than sm_90a. The
 * frame is tests/golden/instructions.frame. "test_forms --variants" writes the variants of each
 * line of its input, and an empty line. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "griddep.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/status.h"

#define GOLDEN SOURCE_DIRECTORY "/tests/golden/"

enum { MOST_PARTS = 32, LINE = 4096, PER_MILLE_MISSED = 2, MISSES_SHOWN = 20 };

static griddep_error error;

/* ---- variants ---- */

/* A list of parts of a text: modifiers behind their dots, operands between their commas. */
typedef struct parts {
    const char *text[MOST_PARTS];
    size_t length[MOST_PARTS];
    int count;
} parts;

static const char *const modifiers[] = {
    "u8",  "s16", "b32", "u64",  "b128", "f16x2",   "f32",    "bf16",   "f64", "pred", "rn",
    "sat", "ftz", "v2",  "sync", "cta",  "relaxed", "global", "shared", "x2",  "eq"};
static const char *const operands[] = {"%b8_11",
                                       "%u16_11",
                                       "%b16_11",
                                       "%f16_11",
                                       "%u32_11",
                                       "%b32_11",
                                       "%f16x2_11",
                                       "%f32_11",
                                       "%s64_11",
                                       "%b64_11",
                                       "%f64_11",
                                       "%b128_11",
                                       "%pred_11",
                                       "!%pred_11",
                                       "-%s32_11",
                                       "%v2u32_1",
                                       "%u32_11+4",
                                       "0",
                                       "1",
                                       "-1",
                                       "33",
                                       "256",
                                       "65536",
                                       "4294967296",
                                       "1.5",
                                       "0f3F800000",
                                       "WARP_SZ",
                                       "_",
                                       "%tid.x",
                                       "%clock64",
                                       "[%u64_11]",
                                       "[%u32_11]",
                                       "[%u64_11+-4]",
                                       "shared_array",
                                       "[shared_array]",
                                       "function",
                                       "label",
                                       "{%u32_11}",
                                       "{%u32_11, %u32_12}"};
static const char *const elements[] = {"%u16_11", "%b32_11", "%f32_11", "%b64_11", "%pred_11",
                                       "1",       "1.5",     "_",       "%tid.x",  "%v2u32_1"};

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Splits what lies before `end` where `separator` stands outside of brackets. */
static parts split(const char *text, const char *end, char separator)
{
    parts into = {.count = 0};
    int depth = 0;

    while (text < end && into.count < MOST_PARTS) {
        const char *at = text;
        for (; at < end && (depth || *at != separator); at++)
            depth += (strchr("{[(", *at) != NULL) - (strchr("}])", *at) != NULL);
        into.text[into.count] = text;
        into.length[into.count++] = (size_t)(at - text);
        text = at + (at < end);
        text += separator == ',' && text < end && *text == ' ';
    }
    return into;
}

static void join(const parts *of, const char *between, gd_text *into)
{
    for (int i = 0; i < of->count; i++) {
        gd_text_string(into, i ? between : "");
        gd_text_append(into, of->text[i], of->length[i]);
    }
}

/* Variant number *left of a list: parts left out, doubled, moved, or each of some others. true:
 * there is one; else *left is less by those that there are. */
static bool vary(parts *of, const char *const *others, int count, int fixed, int *left)
{
    const int each = 3 + count, variants = (of->count - fixed) * each;

    if (*left >= variants) {
        *left -= variants;
        return false;
    }
    const int at = fixed + *left / each, how = *left % each - 3;
    if (how >= 0) {
        of->text[at] = others[how];
        of->length[at] = strlen(others[how]);
        return true;
    }
    const char *text = of->text[at];
    const size_t length = of->length[at];
    const int from = how == -3 ? at : at + 1; /* how -2: room for another */
    if (how == -1) {
        const int other = at + 1 < of->count ? at + 1 : fixed;
        of->text[at] = of->text[other], of->length[at] = of->length[other];
        of->text[other] = text, of->length[other] = length;
        return true;
    }
    if (how == -2 && of->count < MOST_PARTS)
        of->count++;
    for (int i = how == -3 ? from : of->count - 1; how == -3 ? i + 1 < of->count : i > at;
         i += how == -3 ? 1 : -1) {
        of->text[i] = of->text[how == -3 ? i + 1 : i - 1];
        of->length[i] = of->length[how == -3 ? i + 1 : i - 1];
    }
    of->count -= how == -3;
    return true;
}

/* Variant `left` of an instruction. false: it has fewer. */
static bool write_variant(const char *line, int left, gd_text *into)
{
    const char *end = line + strcspn(line, ";"), *name_end = line + strcspn(line, " ;");
    parts name = split(line, name_end, '.');
    parts list = split(name_end + (*name_end == ' '), end, ',');
    gd_text inner = {0};
    bool found = left-- == 0 || vary(&name, modifiers, COUNT(modifiers), 1, &left) ||
                 vary(&list, operands, COUNT(operands), 0, &left);

    for (int i = 0; !found && i < list.count; i++) {
        const char *text = list.text[i], *last = text + list.length[i] - 1;
        const char *open = memchr(text, '{', list.length[i]);
        if (!open)
            continue;
        const char *close = memchr(open, '}', (size_t)(last + 1 - open));
        parts within = split(open + 1, close, ',');
        within.count = within.count > MOST_PARTS ? MOST_PARTS : within.count;
        const int all = within.count;
        within.count = all < 2 ? all : 2; /* what holds for the second holds for the others */
        found = vary(&within, elements, COUNT(elements), 0, &left);
        if (!found)
            continue;
        gd_text_append(&inner, text, (size_t)(open + 1 - text));
        join(&within, ", ", &inner);
        if (all > 2) {
            const parts whole = split(open + 1, close, ',');
            gd_text_string(&inner, within.count ? ", " : "");
            gd_text_append(&inner, whole.text[2], (size_t)(close - whole.text[2]));
        }
        gd_text_append(&inner, close, (size_t)(last + 1 - close));
        list.text[i] = gd_text_get(&inner);
        list.length[i] = inner.bytes;
    }
    if (found) {
        join(&name, ".", into);
        gd_text_string(into, list.count ? " " : "");
        join(&list, ", ", into);
        gd_text_string(into, ";");
    }
    gd_text_free(&inner);
    return found;
}

static int write_variants(void)
{
    char line[LINE];

    while (fgets(line, sizeof line, stdin)) {
        gd_text text = {0};
        for (int i = 0; write_variant(line, i, &text); i++)
            gd_text_string(&text, "\n");
        puts(gd_text_get(&text));
        gd_text_free(&text);
    }
    return EXIT_SUCCESS;
}

/* ---- the test ---- */

/* Whether the check finds a mistake in an instruction. */
static bool is_refused(const char *frame, const char *target, const char *instruction)
{
    const char *hole = strchr(frame, '@'), *named = strstr(frame, "sm_90a");
    griddep_findings *findings = NULL;
    gd_text text = {0};
    bool refused = false;

    gd_text_append(&text, frame, (size_t)(named - frame));
    gd_text_append(&text, target, strcspn(target, "\n"));
    gd_text_append(&text, named + 6, (size_t)(hole - named - 6));
    gd_text_string(&text, instruction);
    gd_text_string(&text, hole + 1);
    ck_good(griddep_ptx_check(gd_text_get(&text), text.bytes, "form", NULL, &findings, &error));
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        ck_good(griddep_findings_get(findings, i, &finding, &error));
        refused |= finding.severity == GRIDDEP_SEVERITY_ERROR;
    }
    griddep_findings_destroy(findings);
    gd_text_free(&text);
    return refused;
}

TEST_GROUP(forms, NULL, NULL);

TEST(forms, variants_are_judged_as_ptxas_judges_them)
{
    const char *target = "sm_90a";
    char *frame, *record;
    size_t bytes;
    int forms = 0, refused = 0, missed = 0, alarms = 0;

    griddep_error_init(&error);
    ck_good(gd_file_read(GOLDEN "instructions.frame", &frame, &bytes, &error));
    ck_good(gd_file_read(GOLDEN "forms.txt", &record, &bytes, &error));
    for (const char *at = record; *at; at += strcspn(at, "\n") + 1) {
        if (*at == '=') {
            target = at + 2;
            continue;
        }
        const char *instruction = strchr(at, ' ') + 1;
        forms++;
        for (int i = 0; at[i] != ' '; i++) {
            gd_text variant = {0};
            ck_assert_msg(write_variant(instruction, i, &variant), "%.80s has fewer variants", at);
            const bool told = at[i] != '.' && is_refused(frame, target, gd_text_get(&variant));
            if (at[i] == '+' && told && (alarms++ < MISSES_SHOWN || getenv("GRIDDEP_SHOW")))
                fprintf(stderr, "ptxas takes this: %s\n", gd_text_get(&variant));
            refused += at[i] == '-';
            if (at[i] == '-' && !told && (missed++ < MISSES_SHOWN || getenv("GRIDDEP_SHOW")))
                fprintf(stderr, "ptxas refuses this: %s\n", gd_text_get(&variant));
            gd_text_free(&variant);
        }
    }
    printf("%d forms; ptxas refuses %d variants, of which %d are missed; %d alarms\n", forms,
           refused, missed, alarms);
    ck_assert_int_gt(forms, 850);
    ck_assert_int_eq(alarms, 0);
    ck_assert_int_le(missed * 1000, refused * PER_MILLE_MISSED);
    free(frame);
    free(record);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--variants") == 0)
        return write_variants();
    return run_suite(make_suite("forms"));
}
