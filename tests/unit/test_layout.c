/* Laying texts out. What must hold of each text is held against a reading of its own: comments, and
 * what is neither comment nor white space, are the same afterwards; a second time changes nothing.
 * The texts are those of the other tests, as they are and mutated; --count N mutates more. */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "griddep.h"
#include "unit/fail_alloc.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static griddep_error error;
static unsigned long mutations = 4000;

static void clear_error(void)
{
    griddep_error_init(&error);
}

/* NULL where the text is no PTX. To free. */
static char *format(const char *text, size_t bytes)
{
    griddep_ptx *ptx = NULL, *formatted = NULL;
    uint64_t length = 0;

    if (griddep_ptx_parse(text, bytes, "t", &ptx, &error) != GRIDDEP_OK) {
        clear_error();
        return NULL;
    }
    if (griddep_ptx_format(ptx, &formatted, &error) != GRIDDEP_OK)
        ck_abort_msg("%s\n%.*s", error.text, (int)bytes, text);
    griddep_ptx_print(formatted, NULL, 0, &length, NULL);
    char *out = malloc(length + 1);
    if (!out || griddep_ptx_print(formatted, out, length + 1, &length, NULL) != GRIDDEP_OK)
        ck_abort_msg("no text");
    griddep_ptx_destroy(formatted);
    griddep_ptx_destroy(ptx);
    return out;
}

/* ---- by hand ---- */

static const struct {
    const char *given, *wanted;
} cases[] = {
    {".version 8.0\n.target   sm_90 , debug\n\n\n\n.address_size 64\n",
     ".version 8.0\n.target sm_90, debug\n\n.address_size 64\n"},
    {HEAD ".visible .entry k( .param .u64 a ,.param .u32 b ){ret;}",
     HEAD ".visible .entry k(.param .u64 a, .param .u32 b)\n{\n    ret;\n}\n"},
    {HEAD ".visible .entry k(\n.param .u64 a, // where\n.param .u32 b)\n.maxntid 32 {\nret; }", HEAD
     ".visible .entry k(\n    .param .u64 a,  // where\n    .param .u32 b\n)\n.maxntid 32\n{\n    "
     "ret;\n}\n"},
    {HEAD ".entry k()\n{\n.reg .u32 %r<4>; .reg .pred %p;\nL: add.u32 %r1 , %r2,%r3 ; // sum\n@!%p "
          "bra L;\n mul.wide.u16 %r1,%r2,%r3;\n{ exit; }\n}\n",
     HEAD ".entry k()\n{\n    .reg .u32 %r<4>;\n    .reg .pred %p;\nL:\n    add.u32      %r1, %r2, "
          "%r3;  // sum\n    @!%p bra     L;\n    mul.wide.u16 %r1, %r2, %r3;\n    {\n        "
          "exit;\n    }\n}\n"},
    {HEAD ".entry k()\n{\nt:\n.branchtargets a ,b;\na: b: // both\nret;\n}\n",
     HEAD ".entry k()\n{\nt: .branchtargets a, b;\na:\nb:  // both\n    ret;\n}\n"},
    {HEAD ".global .align 4 .u32 t[2][2]={{1,2},\n{3,4}};\n",
     HEAD ".global .align 4 .u32 t[2][2] = {{1, 2},\n    {3, 4}};\n"},
    {HEAD ".extern .func (.param .b32 r) f\n(\n.param .b32 a\n)\n;\n",
     HEAD ".extern .func (.param .b32 r) f(\n    .param .b32 a\n);\n"},
    {"\n\n// head\n" HEAD
     "/* a */ .entry /* b */ k() { /* c */\nret; /* d */ // e\n# 3 \"x.cu\"\n}\n",
     "// head\n" HEAD "/* a */\n.entry /* b */ k()\n{ /* c */\n    ret; /* d */  // e\n# 3 "
     "\"x.cu\"\n}\n"},
    {HEAD ".entry k() {\r\n.loc 1 2 3\r\nret;\r\n\r\n\r\n// last\r\n}\r\n",
     NULL}, /* line ends of the first line: \n */
    {".version 8.0\r\n.target sm_90\r\n.entry k() { ret; } // end\r\n",
     ".version 8.0\r\n.target sm_90\r\n.entry k()\r\n{\r\n    ret;\r\n}  // end\r\n"},
    {HEAD ".entry k()\n{\n.reg .f32 %a<40>;\nfma.rn.f32 %a1, // first\n%a2,\n%a3, %a4;\n}\n", HEAD
     ".entry k()\n{\n    .reg .f32 %a<40>;\n    fma.rn.f32 %a1,  // first\n               %a2, "
     "%a3, %a4;\n}\n"},
    {HEAD ".entry k()\n{\n.reg .b64 %d;\nld.global.v4.f32 {%f1 ,%f2,\n%f3,%f4} , [ %d+16 ];\n}\n",
     HEAD ".entry k()\n{\n    .reg .b64 %d;\n    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, "
          "[%d+16];\n}\n"},
};

START_TEST(by_hand)
{
    char *out = format(cases[_i].given, strlen(cases[_i].given));

    ck_assert_ptr_nonnull(out);
    if (cases[_i].wanted)
        ck_assert_str_eq(out, cases[_i].wanted);
    else
        ck_assert_ptr_null(strchr(out, '\r'));
    free(out);
}
END_TEST

/* Lines end within 100 bytes where there is a comma to break at. */
START_TEST(long_lines)
{
    gd_text text = {0};

    gd_text_string(&text, HEAD ".global .u32 t[200] = {");
    for (int i = 0; i < 200; i++)
        gd_text_format(&text, "%s%d", i ? "," : "", i * 1000);
    gd_text_string(&text, "};\n.entry k()\n{\n.reg .b32 %a<200>;\nmma.sync {");
    for (int i = 0; i < 60; i++)
        gd_text_format(&text, "%s%%a%d", i ? "," : "", i);
    gd_text_string(&text, "}, %a1, %a2;\n.reg .b32 ");
    for (int i = 0; i < 60; i++)
        gd_text_format(&text, "%s%%b%d", i ? "," : "", i);
    gd_text_string(&text, ";\n}\n");
    char *out = format(gd_text_get(&text), text.bytes);
    ck_assert_ptr_nonnull(out);
    int lines = 0;
    for (const char *line = out; *line; lines++) {
        size_t bytes = strcspn(line, "\n");
        if (bytes > 100)
            ck_abort_msg("%zu bytes: %.*s", bytes, (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    ck_assert_int_gt(lines, 30);
    free(out);
    gd_text_free(&text);
}
END_TEST

/* ---- properties ---- */

/* Comments, each on a line without blanks at its end, then all else without white space. */
static void reduce(const char *text, gd_text *comments, gd_text *rest)
{
    while (*text) {
        size_t bytes = strcspn(text, " \t\r\n\f\v/\"#");
        gd_text_append(rest, text, bytes);
        text += bytes;
        if (text[0] == '/' && (text[1] == '/' || text[1] == '*')) {
            const char *end =
                text[1] == '/' ? text + strcspn(text, "\n") : strstr(text + 2, "*/") + 2;
            const char *last = end;
            while (strchr(" \t\r\f\v", last[-1]))
                last--;
            gd_text_append(comments, text, (size_t)(last - text));
            gd_text_string(comments, "\n");
            text = end;
        } else if (*text == '"') {
            size_t length = strcspn(text + 1, "\"") + 2;
            gd_text_append(rest, text, length);
            text += length;
        } else if (*text == '/' || *text == '#') {
            gd_text_append(rest, text++, 1);
        } else if (*text) {
            text++;
        }
    }
}

/* A string may hold lines of its own, which stay as they are. */
static void mask_strings(char *text)
{
    for (char *at = text; *at; at++) {
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n") - 1;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? text + (end + 1 - text) : at + strlen(at) - 1;
        } else if (*at == '"') {
            for (at++; *at && *at != '"'; at++)
                *at = 'x';
            if (!*at)
                return;
        }
    }
}

static unsigned long laid_out;

static void check_properties(const char *text, size_t bytes)
{
    gd_text comments = {0}, rest = {0}, out_comments = {0}, out_rest = {0};
    char *out = format(text, bytes), *again;

    if (!out)
        return;
    laid_out++;
    again = format(out, strlen(out));
    if (!again || strcmp(out, again) != 0)
        ck_abort_msg("a second time changes it:\n%s\n====\n%s\n====\n%s", text, out,
                     again ? again : "(no PTX)");
    reduce(text, &comments, &rest);
    reduce(out, &out_comments, &out_rest);
    if (strcmp(gd_text_get(&rest), gd_text_get(&out_rest)) != 0)
        ck_abort_msg("it changes more than white space:\n%s\n====\n%s", text, out);
    if (strcmp(gd_text_get(&comments), gd_text_get(&out_comments)) != 0)
        ck_abort_msg("it changes comments:\n%s\n====\n%s", text, out);
    mask_strings(out);
    if (strstr(out, "\n\n\n") || strstr(out, " \n"))
        ck_abort_msg("blank lines, or blanks at a line's end:\n%s\n====\n%s", text, out);
    gd_text_free(&comments);
    gd_text_free(&rest);
    gd_text_free(&out_comments);
    gd_text_free(&out_rest);
    free(out);
    free(again);
}

typedef struct sample {
    char *text;
    size_t bytes;
} sample;

static sample samples[1000];
static size_t sample_count;

static void read_folder(const char *folder)
{
    DIR *open = opendir(folder);

    ck_assert_msg(open != NULL, "%s cannot be read", folder);
    for (struct dirent *item; (item = readdir(open)) != NULL;) {
        size_t length = strlen(item->d_name);
        char path[8192];
        if (length < 4 || strcmp(item->d_name + length - 4, ".ptx") != 0 ||
            sample_count == sizeof samples / sizeof *samples)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        sample *into = &samples[sample_count++];
        ck_assert_int_eq(gd_file_read(path, &into->text, &into->bytes, &error), GRIDDEP_OK);
    }
    closedir(open);
}

static void read_samples(void)
{
    static const char *const folders[] = {"tests/golden/check", "tests/golden/rewrite",
                                          "tests/golden/ptx",   "ptx/elementwise",
                                          "ptx/linear",         "ptx/norm"};

    clear_error();
    for (int i = 0; i < COUNT(folders); i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", SOURCE_DIRECTORY, folders[i]);
        read_folder(path);
    }
    ck_assert_uint_gt(sample_count, 100);
}

static void free_samples(void)
{
    while (sample_count)
        free(samples[--sample_count].text);
}

START_TEST(as_they_are)
{
    for (size_t i = 0; i < sample_count; i++)
        check_properties(samples[i].text, samples[i].bytes);
}
END_TEST

static uint64_t state = 1;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % limit);
}

/* A stretch of lines of a sample, with pieces put in, taken out and doubled. */
static void mutate(const sample *from, gd_text *into)
{
    static const char *const pieces[] = {" ",
                                         "\n",
                                         "\n\n\n",
                                         "\t",
                                         "// c\n",
                                         "/* c */",
                                         "/* c\n d */",
                                         "\r\n",
                                         "{",
                                         "}",
                                         ";",
                                         ",",
                                         "L:",
                                         "ret;",
                                         "@%p ",
                                         ".loc 1 2 3\n",
                                         "# 3 \"x\"\n",
                                         "\"s\"",
                                         ".pragma \"x\";",
                                         ".x y",
                                         ".reg .u32 %q;",
                                         "(",
                                         ")",
                                         "//\n"};
    size_t at = 0;

    for (uint32_t edits = 1 + below(6); edits; edits--) {
        size_t next = at + below((uint32_t)(from->bytes - at) + 1);
        gd_text_append(into, from->text + at, next - at);
        at = next;
        size_t skipped = below(12);
        if (below(4) == 0)
            at += skipped <= from->bytes - at ? skipped : 0;
        else
            gd_text_string(into, pieces[below(COUNT(pieces))]);
    }
    gd_text_append(into, from->text + at, from->bytes - at);
}

START_TEST(mutated)
{
    for (unsigned long i = 0; i < mutations; i++) {
        gd_text text = {0};
        mutate(&samples[below((uint32_t)sample_count)], &text);
        check_properties(gd_text_get(&text), text.bytes);
        gd_text_free(&text);
    }
    ck_assert_uint_gt(laid_out, mutations / 10);
}
END_TEST

/* The Nth allocation fails: no crash, no leak, and nothing is handed out. */
START_TEST(without_memory)
{
    const char *text = cases[3].given;
    griddep_ptx *ptx = NULL, *formatted = NULL;
    int32_t status = GRIDDEP_ERROR_MEMORY;

    ck_assert_int_eq(griddep_ptx_parse(text, strlen(text), "t", &ptx, &error), GRIDDEP_OK);
    for (long n = 0; status == GRIDDEP_ERROR_MEMORY; n++) {
        fail_alloc_after(n);
        status = griddep_ptx_format(ptx, &formatted, &error);
        fail_alloc_after(-1);
        ck_assert(status == GRIDDEP_OK || !formatted);
    }
    ck_assert_int_eq(status, GRIDDEP_OK);
    griddep_ptx_destroy(formatted);
    ck_assert_int_eq(griddep_ptx_format(ptx, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_ptx_destroy(ptx);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("layout");
    TCase *hand = tcase_create("hand"), *all = tcase_create("properties");

    if (argc == 3 && !strcmp(argv[1], "--count"))
        mutations = strtoul(argv[2], NULL, 10);
    tcase_add_checked_fixture(hand, clear_error, NULL);
    tcase_add_loop_test(hand, by_hand, 0, COUNT(cases));
    tcase_add_test(hand, long_lines);
    tcase_add_test(hand, without_memory);
    tcase_add_checked_fixture(all, read_samples, free_samples);
    tcase_add_test(all, as_they_are);
    tcase_add_test(all, mutated);
    suite_add_tcase(suite, hand);
    suite_add_tcase(suite, all);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
