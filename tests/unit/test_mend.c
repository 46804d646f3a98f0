/* What a finding says beside its words: where it ends, the edits that mend it, related places, the
 * source line. Marks in the texts tell the positions. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "griddep.h"
#include "suite.h"
#include "unit/status.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY HEAD ".visible .entry k(.param .u64 x)\n{\n"
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static griddep_error error;

static void clear_error(void)
{
    griddep_error_init(&error);
}

typedef struct mend_case {
    const char *text; /* [[what it is about]], @@ before the related place */
    const char *code;
    const char *mended; /* the marked part afterwards; NULL: no edit of it */
    bool certain;
} mend_case;

static const mend_case cases[] = {
    {ENTRY "ld[[.globl]].f32 %f1, [x];\n}\n", "GD011", ".global", true},
    {ENTRY ".reg .u32 %r<4>;\n[[mvo]].u32 %r1, %r2;\n}\n", "GD010", "mov", true},
    {ENTRY ".reg .u32 %a;\nmov.u32 %a, [[ctaid]].x;\n}\n", "GD013", "%ctaid", true},
    {ENTRY ".reg .u32 @@%r<4>;\nmov.u32 %r1, [[r2]];\n}\n", "GD013", "%r2", true},
    {ENTRY "bra [[Done]];\n@@done:\nret;\n}\n", "GD013", "done", true},
    {ENTRY "[[int]] %a;\n}\n", "GD010", NULL, false},
    {ENTRY ".reg .u32 %a;\nmov.u32 %a, [[%ctaidd]].x;\n}\n", "GD013", "%ctaid", true},
    {ENTRY ".reg .u32 @@%count;\nmov.u32 %count, [[%cuont]];\n}\n", "GD013", "%count", true},
    {ENTRY ".reg .u32 @@%r<4>;\nmov.u32 %r1, [[%r7]];\n}\n", "GD013", NULL, false},
    {ENTRY ".reg .u32 @@%r<4>, %s<4>;\nmov.u32 %r1, [[%rr2]];\n}\n", "GD013", "%r2", true},
    {ENTRY ".reg .u32 %ra, %rb;\nmov.u32 %ra, [[%rc]];\n}\n", "GD013", "%ra", false},
    {ENTRY ".reg .u32 %r<4>;\n.reg .f32 @@%f;\nadd.u32 %r1, [[%f]], 1;\n}\n", "GD012", NULL, false},
    {ENTRY ".reg .u32 @@%r;\n@[[%r]] ret;\n}\n", "GD012", NULL, false},
    {ENTRY ".reg .u32 @@%r;\n.reg .f32 [[%r]];\n}\n", "GD015", NULL, false},
    {ENTRY ".reg .u32 @@%r<9>;\n.reg .f32 [[%r3]];\n}\n", "GD015", NULL, false},
    {ENTRY "@@l:\n[[l]]:\nret;\n}\n", "GD015", NULL, false},
    {HEAD ".func @@f(.param .u32 a);\n.func [[f]](.param .u64 a) { ret; }\n", "GD016", NULL, false},
    {HEAD ".func @@f() { ret; }\n.func [[f]]() { ret; }\n", "GD015", NULL, false},
    {".version 8.0\n.target [[sm_91]]\n", "GD017", "sm_90", false},
    {HEAD ".visible .entry k() [[.maxntdi]] 32 { ret; }\n", "GD017", ".maxntid", true},
    {ENTRY "bra [[dnoe]];\n@@done:\nret;\n}\n", "GD013", "done", true},
    {ENTRY ".reg .f32 %a;\nmul.f32 %a, %a, [[2]];\n}\n", "GD012", "2.0", true},
    {ENTRY ".reg .f32 %a;\nmov.f32 %a, [[0x3f800000]];\n}\n", "GD012", "0f3F800000", true},
    {ENTRY ".reg .f64 %a;\nmov.f64 %a, [[3]];\n}\n", "GD012", "3.0", true},
    {ENTRY ".reg .u32 %r;\nadd.u32 %r, %r, %r[[-]]4;\n}\n", "GD012", "+-", true},
    {ENTRY ".reg .u64 @@%a;\nld.global.u64 %a, [[%a]];\n}\n", "GD012", "[%a]", true},
    {ENTRY ".reg .u32 %a;\nmov.u32 %a, [[threadIdx]].x;\n}\n", "GD013", "%tid", true},
    {ENTRY "[[__syncthreads]]();\n}\n", "GD010", NULL, false},
    {HEAD ".visible .entry k()\n@@{\nret;\n[[]]", "GD002", NULL, false},
};

typedef struct marked {
    char text[1024];
    size_t from, to, related; /* SIZE_MAX: none */
} marked;

static marked read_marks(const char *text)
{
    marked found = {.from = SIZE_MAX, .to = SIZE_MAX, .related = SIZE_MAX};
    size_t bytes = 0;

    for (; *text; text++) {
        if (!strncmp(text, "[[", 2))
            found.from = bytes;
        else if (!strncmp(text, "]]", 2))
            found.to = bytes;
        else if (!strncmp(text, "@@", 2))
            found.related = bytes;
        else {
            found.text[bytes++] = *text;
            continue;
        }
        text++;
    }
    return found;
}

static size_t offset_of(const char *text, int32_t line, int32_t column)
{
    const char *at = text;

    while (--line > 0)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text) + (size_t)column - 1;
}

static griddep_findings *check_text(const char *text)
{
    griddep_findings *findings = NULL;

    ck_good(griddep_ptx_check(text, strlen(text), "t.ptx", NULL, &findings, &error));
    return findings;
}

static griddep_finding get(const griddep_findings *findings, uint32_t index)
{
    griddep_finding finding = {.size = sizeof finding};

    ck_good(griddep_findings_get(findings, index, &finding, &error));
    return finding;
}

/* The first finding that begins at an offset. */
static uint32_t find_at(const griddep_findings *findings, const marked *text)
{
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        if (offset_of(text->text, finding.line, finding.column) == text->from)
            return i;
    }
    ck_abort_msg("no finding at the mark:\n%s", text->text);
}

static void compare_edit(const griddep_findings *findings, uint32_t index, const marked *text,
                         const mend_case *want)
{
    griddep_edit edit = {.size = sizeof edit};

    ck_good(griddep_findings_get_edit(findings, index, 0, &edit, &error));
    ck_assert_str_eq(edit.text, want->mended);
    ck_assert_uint_eq(edit.offset, text->from);
    ck_assert_uint_eq(edit.bytes, text->to - text->from);
    ck_assert_uint_eq(offset_of(text->text, edit.line, edit.column), text->from);
    ck_assert_uint_eq(offset_of(text->text, edit.end_line, edit.end_column), text->to);
}

TEST_GROUP(findings, clear_error, NULL);

LOOP_TEST(findings, finding_is_whole, COUNT(cases))
{
    const mend_case *want = &cases[_i];
    marked text = read_marks(want->text);
    griddep_findings *findings;
    griddep_related related = {.size = sizeof related};

    findings = check_text(text.text);
    uint32_t index = find_at(findings, &text);
    griddep_finding finding = get(findings, index);
    ck_assert_str_eq(finding.code, want->code);
    ck_assert_msg(offset_of(text.text, finding.end_line, finding.end_column) >= text.to,
                  "it ends at %" PRId32 ":%" PRId32, finding.end_line, finding.end_column);
    ck_assert_uint_eq(finding.edit_count, want->mended ? 1 : 0);
    ck_assert_uint_eq(finding.is_certain, want->certain);
    if (want->mended)
        compare_edit(findings, index, &text, want);
    ck_assert_uint_eq(finding.related_count, text.related != SIZE_MAX);
    if (finding.related_count) {
        ck_good(griddep_findings_get_related(findings, index, 0, &related, &error));
        ck_assert_uint_eq(offset_of(text.text, related.line, related.column), text.related);
        ck_assert_int_eq(related.end_line, related.line);
        ck_assert_int_gt(related.end_column, related.column);
        ck_assert_str_eq(related.file, "t.ptx");
        ck_assert(*related.text);
    }
    griddep_findings_destroy(findings);
}

/* An opcode is one thing with its modifiers; what is put in is an empty part. */
TEST(findings, ends)
{
    const char *text = ENTRY ".reg .u64 %rd;\n.reg .f32 %f;\nld.param.u64 %rd, [x];\n"
                             "st.global.f32 [%rd], %f;\ngriddepcontrol.wait;\nret;\n}\n";
    griddep_findings *findings = check_text(text);
    bool found = false;

    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        if (strcmp(finding.code, "GD111"))
            continue;
        found = true;
        ck_assert_int_eq(finding.end_line, finding.line);
        ck_assert_int_eq(finding.end_column - finding.column, (int)strlen("st.global.f32"));
    }
    ck_assert(found);
    griddep_findings_destroy(findings);
}

TEST(findings, missing_semicolon)
{
    const char *text = ENTRY ".reg .u32 %r;\nmov.u32 %r, 1\nret;\n}\n";
    griddep_findings *findings = check_text(text);
    griddep_finding finding = get(findings, 0);
    griddep_edit edit = {.size = sizeof edit};

    ck_assert_str_eq(finding.code, "GD002");
    ck_assert_uint_eq(finding.edit_count, 1);
    ck_assert_uint_eq(finding.is_certain, 1);
    ck_good(griddep_findings_get_edit(findings, 0, 0, &edit, &error));
    ck_assert_str_eq(edit.text, ";");
    ck_assert_uint_eq(edit.bytes, 0);
    ck_assert_ptr_eq(text + edit.offset, strstr(text, "\nret"));
    ck_assert_int_eq(edit.line, edit.end_line);
    ck_assert_int_eq(edit.column, edit.end_column);
    griddep_findings_destroy(findings);
}

/* .version is raised for sure, and .target for griddepcontrol, which no older chip has; the chips
 * that another text is for are its author's to choose. */
TEST(findings, head)
{
    const char *text =
        ".version 7.0\n.target sm_80\n.entry k()\n{\ngriddepcontrol.wait;\nret;\n}\n";
    griddep_findings *findings = check_text(text);
    griddep_edit edit = {.size = sizeof edit};
    uint32_t seen = 0;

    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        if (strcmp(finding.code, "GD101") && strcmp(finding.code, "GD102"))
            continue;
        bool version = !strcmp(finding.code, "GD102");
        ck_assert_uint_eq(finding.is_certain, 1);
        ck_good(griddep_findings_get_edit(findings, i, 0, &edit, &error));
        ck_assert_str_eq(edit.text, version ? "7.8" : "sm_90");
        ck_assert_int_eq(edit.line, version ? 1 : 2);
        seen++;
    }
    ck_assert_uint_eq(seen, 2);
    griddep_findings_destroy(findings);
}

static const struct {
    const char *text, *file;
    int32_t line;
} sources[] = {
    {ENTRY ".loc 1 7 3\nbad;\n}\n.file 1 \"a.cu\"\n", "a.cu", 7},
    {HEAD ".file 2 \"b.cu\"\n.file 1 \"a.cu\"\n.entry k()\n{\n.loc 1 7 3\nret;\n.loc 2 9 "
          "1\nret;\nbad;\n}\n",
     "b.cu", 9},
    {HEAD ".file 1 \"a.cu\"\n.entry a()\n{\n.loc 1 7 3\nret;\n}\n.entry k()\n{\nbad;\n}\n", NULL,
     0},
    {ENTRY "bad;\n.loc 1 7 3\nret;\n}\n.file 1 \"a.cu\"\n", NULL, 0},
    {ENTRY ".loc 3 7 3\nbad;\n}\n.file 1 \"a.cu\"\n", NULL, 0},
};

LOOP_TEST(findings, source_lines, COUNT(sources))
{
    griddep_findings *findings = check_text(sources[_i].text);
    griddep_finding finding = get(findings, 0);

    ck_assert_str_eq(finding.code, "GD010");
    ck_assert_int_eq(finding.source_line, sources[_i].line);
    if (sources[_i].file)
        ck_assert_str_eq(finding.source_file, sources[_i].file);
    else
        ck_assert_ptr_null(finding.source_file);
    griddep_findings_destroy(findings);
}

TEST(findings, bad_calls)
{
    griddep_findings *findings = check_text(ENTRY "mvo.u32 %r1, 1;\n}\n");
    griddep_edit edit = {.size = sizeof edit};
    griddep_related related = {.size = sizeof related};

    ck_good(griddep_findings_get_edit(findings, 0, 0, &edit, &error));
    ck_assert_int_eq(griddep_findings_get_edit(findings, 0, 1, &edit, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    clear_error();
    ck_assert_int_eq(griddep_findings_get_edit(findings, 99, 0, &edit, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    clear_error();
    ck_assert_int_eq(griddep_findings_get_related(findings, 0, 0, &related, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    clear_error();
    edit.size = 4;
    ck_assert_int_eq(griddep_findings_get_edit(findings, 0, 0, &edit, &error),
                     GRIDDEP_ERROR_STRUCT);
    clear_error();
    ck_assert_int_eq(griddep_findings_get_edit(NULL, 0, 0, &edit, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_findings_destroy(findings);
}

MAIN_OF_SUITE("mend")
