/* The rewriter: golden files, small texts for each rule, idempotence, refusals.
 *
 * tests/golden/rewrite/NAME.ptx rewritten as `cases` says differs by NAME.CASE.changes: "12+ "
 * begins a line that is put in before line 12, "12- " one that is gone. Its notes are
 * NAME.CASE.notes. NAME.CASE.out is the text that a case makes. GRIDDEP_UPDATE_GOLDEN=1 writes both
 * anew; read the difference before you commit it. */
#include <check.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "griddep.h"
#include "ptx/flow/flow.h"
#include "ptx/handle/ptx.h"
#include "ptx/rewrite/keep.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

#define COUNT_OF(list) ((int)(sizeof(list) / sizeof(list)[0]))

#define GOLDEN SOURCE_DIRECTORY "/tests/golden/rewrite"
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define OPEN                                                                                       \
    HEAD ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n    .reg .b64 x, y;\n    .reg .b32 " \
         "r;\n    .reg .pred "                                                                     \
         "p;\n"

#define W "griddepcontrol.wait;"
#define T "griddepcontrol.launch_dependents;"

enum { MOST_LINES = 512 };

static griddep_error error;

static griddep_ptx *parse(const char *text)
{
    griddep_ptx *ptx = NULL;
    int32_t status = griddep_ptx_parse(text, strlen(text), "test", &ptx, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s\n%s", error.text, text);
    return ptx;
}

/* The text of a module; the caller frees it. */
static char *print(const griddep_ptx *ptx)
{
    uint64_t bytes = 0;

    ck_good(griddep_ptx_print(ptx, NULL, 0, &bytes, &error));
    char *text = malloc(bytes + 1);
    ck_assert_ptr_nonnull(text);
    ck_good(griddep_ptx_print(ptx, text, bytes + 1, &bytes, &error));
    return text;
}

static griddep_rewrite_options options_of(int32_t wait, int32_t trigger)
{
    return (griddep_rewrite_options){
        .size = sizeof(griddep_rewrite_options), .wait = wait, .trigger = trigger};
}

/* Rewrites a text, and that once more, which must change nothing. The caller frees what comes
 * out. */
static char *rewrite(const char *text, const griddep_rewrite_options *options,
                     griddep_findings **notes)
{
    griddep_ptx *ptx = parse(text), *once = NULL, *twice = NULL;
    int32_t status = griddep_ptx_rewrite(ptx, options, &once, notes, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s\n%s", error.text, text);
    char *first = print(once);
    griddep_findings *none = NULL;
    status = griddep_ptx_rewrite(once, options, &twice, &none, &error);
    ck_assert_msg(status == GRIDDEP_OK, "%s\n%s", error.text, first);
    char *second = print(twice);
    ck_assert_str_eq(second, first);
    ck_assert_uint_eq(griddep_findings_count(none), 0);
    griddep_findings_destroy(none);
    griddep_ptx_destroy(ptx);
    griddep_ptx_destroy(once);
    griddep_ptx_destroy(twice);
    free(second);
    return first;
}

/* ---- golden files ---- */

static const char *const weight_and_bias[] = {"layer_norm_param_1", "layer_norm_param_2"};

typedef struct golden_case {
    const char *input;
    const char *name;
    griddep_rewrite_options options;
} golden_case;

#define OPTIONS .size = sizeof(griddep_rewrite_options)
#define RULES(of_wait, of_trigger)                                                                 \
    .wait = GRIDDEP_WAIT_##of_wait, .trigger = GRIDDEP_TRIGGER_##of_trigger

static const golden_case cases[] = {
    {"vector_add", "insert", {OPTIONS, .wait = GRIDDEP_WAIT_INSERT}},
    {"vector_add", "start", {OPTIONS, RULES(START, START)}},
    {"vector_add", "loads", {OPTIONS, RULES(INSERT, AFTER_LOADS)}},
    {"vector_add", "end", {OPTIONS, RULES(INSERT, END)}},
    {"guarded_end", "end", {OPTIONS, RULES(INSERT, END)}},
    {"saxpy", "insert", {OPTIONS, RULES(INSERT, AFTER_WAIT)}},
    {"saxpy", "stores", {OPTIONS, RULES(MOVE, BEFORE_STORES)}},
    {"reduction", "insert", {OPTIONS, RULES(INSERT, AFTER_LOADS)}},
    {"reduction", "stores", {OPTIONS, RULES(INSERT, BEFORE_STORES)}},
    {"layer_norm", "insert", {OPTIONS, .wait = GRIDDEP_WAIT_INSERT}},
    {"layer_norm",
     "constants",
     {OPTIONS, RULES(INSERT, BEFORE_STORES), .constants = weight_and_bias, .constant_count = 2}},
    {"layer_norm",
     "prefetch",
     {OPTIONS, RULES(INSERT, START), .constants = weight_and_bias, .constant_count = 2,
      .prefetch = "layer_norm_param_1", .prefetch_bytes = 4096}},
    {"matmul", "insert", {OPTIONS, RULES(INSERT, AFTER_LOADS)}},
    {"matmul", "loop", {OPTIONS, RULES(INSERT, LOOP), .trigger_round = 3}},
    {"early_return", "insert", {OPTIONS, RULES(INSERT, END)}},
    {"calls", "insert", {OPTIONS, RULES(INSERT, AFTER_LOADS)}},
    {"printf", "insert", {OPTIONS, RULES(INSERT, BEFORE_STORES)}},
    {"no_access", "insert", {OPTIONS, RULES(INSERT, AFTER_LOADS)}},
    {"matmul.loop.out", "remove", {OPTIONS, RULES(REMOVE, REMOVE)}},
    {"matmul.loop.out", "start", {OPTIONS, .trigger = GRIDDEP_TRIGGER_START}},
    {"switch", "insert", {OPTIONS, RULES(INSERT, AFTER_LOADS)}},
};

static void read_file(const char *path, char **text)
{
    char *data = NULL;
    size_t bytes = 0;

    ck_good(gd_file_read(path, &data, &bytes, &error));
    *text = data;
}

static void compare_file(const char *path, const char *text)
{
    char *expected = NULL;

    if (getenv("GRIDDEP_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
    }
    read_file(path, &expected);
    ck_assert_msg(!strcmp(text, expected), "%s differs; what came out:\n%s", path, text);
    free(expected);
}

/* The lines of a text; how many. */
static int split_lines(const char *text, const char **lines)
{
    int count = 0;

    ck_assert_int_eq(text[strlen(text) - 1], '\n');
    for (; *text; text += strcspn(text, "\n") + 1) {
        ck_assert_int_lt(count, MOST_LINES);
        lines[count++] = text;
    }
    return count;
}

static bool is_same_line(const char *one, const char *other)
{
    size_t length = strcspn(one, "\n");

    return length == strcspn(other, "\n") && memcmp(one, other, length) == 0;
}

static void write_changes(gd_text *text, const char *before, const char *after)
{
    static const char *old[MOST_LINES], *new[MOST_LINES];
    static int common[MOST_LINES + 1][MOST_LINES + 1]; /* lines of the rests, as many as can be */
    const int olds = split_lines(before, old), news = split_lines(after, new);
    int i = 0, k = 0;

    memset(common, 0, sizeof common);
    for (int a = olds - 1; a >= 0; a--) {
        for (int b = news - 1; b >= 0; b--) {
            const int one = common[a + 1][b], other = common[a][b + 1];
            common[a][b] = is_same_line(old[a], new[b]) ? common[a + 1][b + 1] + 1
                                                        : (one > other ? one : other);
        }
    }
    while (i < olds || k < news) {
        const bool goes = i < olds && (k == news || common[i + 1][k] >= common[i][k + 1]);
        if (i < olds && k < news && is_same_line(old[i], new[k])) {
            i++;
            k++;
            continue;
        }
        const char *line = goes ? old[i] : new[k];
        gd_text_format(text, "%d%c %.*s\n", i + 1, goes ? '-' : '+', (int)strcspn(line, "\n"),
                       line);
        i += goes;
        k += !goes;
    }
}

static void write_notes(gd_text *text, const griddep_findings *notes)
{
    for (uint32_t i = 0; i < griddep_findings_count(notes); i++) {
        griddep_finding note = {.size = sizeof note};
        ck_good(griddep_findings_get(notes, i, &note, &error));
        ck_assert_int_eq(note.severity, GRIDDEP_SEVERITY_NOTE);
        gd_text_format(text, "%" PRId32 ":%" PRId32 ": %s: %s%s%s\n%s", note.line, note.column,
                       note.code, note.text, note.entry ? " in " : "", note.entry ? note.entry : "",
                       note.quote);
    }
}

/* The text of NAME.ptx; NAME.CASE.out is what comes out of a case. */
static char *read_input(const char *name)
{
    char path[1024], *input = NULL, *output = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases && !output; i++) {
        snprintf(path, sizeof path, "%s.%s.out", cases[i].input, cases[i].name);
        if (strcmp(path, name) != 0)
            continue;
        input = read_input(cases[i].input);
        output = rewrite(input, &cases[i].options, NULL);
        free(input);
    }
    if (!output) {
        snprintf(path, sizeof path, GOLDEN "/%s.ptx", name);
        read_file(path, &output);
    }
    return output;
}

TEST_GROUP(rewrite, NULL, NULL);

LOOP_TEST(rewrite, golden, COUNT_OF(cases))
{
    const golden_case *item = &cases[_i];
    char path[1024], *input = read_input(item->input);
    gd_text text = {0}, changes = {0};
    griddep_findings *notes = NULL;

    griddep_ptx *ptx = parse(input);
    char *printed = print(ptx);
    ck_assert_str_eq(printed, input);
    free(printed);
    griddep_ptx_destroy(ptx);
    char *output = rewrite(input, &item->options, &notes);
    write_changes(&changes, input, output);
    snprintf(path, sizeof path, GOLDEN "/%s.%s.changes", item->input, item->name);
    compare_file(path, gd_text_get(&changes));
    gd_text_free(&changes);
    write_notes(&text, notes);
    snprintf(path, sizeof path, GOLDEN "/%s.%s.notes", item->input, item->name);
    compare_file(path, gd_text_get(&text));
    gd_text_free(&text);
    griddep_findings_destroy(notes);
    free(input);
    free(output);
}

/* What a wait was put into waits on every path, and a check finds nothing broken in it. */
static void check_result(const griddep_ptx *ptx)
{
    griddep_ptx_entry_info info = {.size = sizeof info};
    griddep_findings *findings = NULL;

    for (uint32_t i = 0; griddep_ptx_get_entry(ptx, i, &info, &error) == GRIDDEP_OK; i++)
        ck_assert_uint_eq(info.traits & GRIDDEP_TRAIT_WAITS_ALWAYS, GRIDDEP_TRAIT_WAITS_ALWAYS);
    char *text = print(ptx);
    /* layer_norm.prefetch.out has a wait behind the loads of what its golden case declared
     * constant. */
    const griddep_check_options options = {
        .size = sizeof options, .constants = weight_and_bias, .constant_count = 2};
    ck_good(griddep_ptx_check(text, strlen(text), "test", &options, &findings, &error));
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        ck_good(griddep_findings_get(findings, i, &finding, &error));
        ck_assert_msg(finding.severity != GRIDDEP_SEVERITY_ERROR, "%s: %s\n%s", finding.code,
                      finding.text, finding.quote);
    }
    griddep_findings_destroy(findings);
    free(text);
}

/* Every wait with every trigger. */
LOOP_TEST(rewrite, combinations, COUNT_OF(cases))
{
    char *input = read_input(cases[_i].input);

    for (int32_t choice = 0; choice < 5 * 7; choice++) {
        griddep_rewrite_options options = options_of(choice / 7, choice % 7);
        griddep_ptx *ptx = parse(input), *made = NULL;
        bool no_wait = options.wait == GRIDDEP_WAIT_REMOVE ||
                       (options.wait == GRIDDEP_WAIT_KEEP && !strstr(input, W));
        if (no_wait && options.trigger == GRIDDEP_TRIGGER_AFTER_WAIT) {
            ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error),
                             GRIDDEP_ERROR_ARGUMENT);
        } else {
            ck_good(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error));
            bool placed = options.wait == GRIDDEP_WAIT_INSERT ? !strstr(input, W)
                                                              : options.wait != GRIDDEP_WAIT_KEEP;
            if (!no_wait && placed)
                check_result(made);
            free(rewrite(input, &options, NULL));
        }
        griddep_ptx_destroy(made);
        griddep_ptx_destroy(ptx);
    }
    free(input);
}

/* ---- small texts ---- */

typedef struct small_case {
    const char *before;
    const char *after;
    int32_t wait;
    int32_t trigger;
    int32_t line;
} small_case;

static const small_case small_cases[] = {
    /* the first access */
    {OPEN "    mov.u32 r, 1;\n    ld.global.u32 r, [x]; // read\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    " W "\n    ld.global.u32 r, [x]; // read\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* a write is an access too, a prefetch is none */
    {OPEN "\tprefetch.global.L2 [x];\n\tst.global.u32 [x], r;\n\tret;\n}\n",
     OPEN "\tprefetch.global.L2 [x];\n\t" W "\n\tst.global.u32 [x], r;\n\tret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* shared memory is none, generic addresses are */
    {OPEN "    .shared .b32 s;\n    st.shared.u32 [s], 1;\n    ld.u32 r, [x];\n    ret;\n}\n",
     OPEN "    .shared .b32 s;\n    st.shared.u32 [s], 1;\n    " W
          "\n    ld.u32 r, [x];\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {OPEN "    .shared .b32 s;\n    mov.u64 x, s;\n    cvta.shared.u64 y, x;\n    st.u32 [y], 1;\n "
          "   ld.u32 r, [x+4];\n"
          "    st.global.u32 [x], 1;\n    ret;\n}\n",
     OPEN "    .shared .b32 s;\n    mov.u64 x, s;\n    cvta.shared.u64 y, x;\n    st.u32 [y], 1;\n "
          "   ld.u32 r, [x+4];\n"
          "    " W "\n    st.global.u32 [x], 1;\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* out of a divergent region, before the branch */
    {OPEN "    setp.eq.u32 p, r, 0;\n    @p bra L;\n    ld.global.u32 r, [x];\nL:\n    ret;\n}\n",
     OPEN "    setp.eq.u32 p, r, 0;\n    " W
          "\n    @p bra L;\n    ld.global.u32 r, [x];\nL:\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* before an early exit */
    {OPEN "    setp.eq.u32 p, r, 0;\n    @p exit;\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    setp.eq.u32 p, r, 0;\n    " W
          "\n    @p exit;\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* out of a loop, behind what comes before it */
    {OPEN "    mov.u32 r, 1;\nL:\n    ld.global.u32 r, [x];\n    @p bra L;\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    " W
          "\nL:\n    ld.global.u32 r, [x];\n    @p bra L;\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* a loop that begins with the body */
    {OPEN "L:\n    ld.global.u32 r, [x];\n    @p bra L;\n    ret;\n}\n",
     OPEN W "\nL:\n    ld.global.u32 r, [x];\n    @p bra L;\n    ret;\n}\n", GRIDDEP_WAIT_INSERT, 0,
     0},
    /* an infinite loop beside the way out */
    {OPEN "    @p bra L;\n    ret;\nL:\n    ld.global.u32 r, [x];\n    bra L;\n}\n",
     OPEN "    " W "\n    @p bra L;\n    ret;\nL:\n    ld.global.u32 r, [x];\n    bra L;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* behind a join that all pass */
    {OPEN "    @p bra L;\n    mov.u32 r, 1;\nL:\n    mov.u32 r, 2;\n    atom.global.add.u32 r, "
          "[x], 1;\n    ret;\n}\n",
     OPEN "    @p bra L;\n    mov.u32 r, 1;\nL:\n    mov.u32 r, 2;\n    " W
          "\n    atom.global.add.u32 r, [x], 1;\n"
          "    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* a guarded access: the wait has no guard */
    {OPEN "    @p ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    " W "\n    @p ld.global.u32 r, [x];\n    ret;\n}\n", GRIDDEP_WAIT_INSERT, 0, 0},
    /* nothing is accessed */
    {OPEN "    mov.u32 r, 1;\n    ret;\n}\n", OPEN "    mov.u32 r, 1;\n    " W "\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {OPEN "}\n", OPEN W "\n}\n", GRIDDEP_WAIT_INSERT, 0, 0},
    {OPEN "    mov.u32 r, 1;\n}\n", OPEN "    mov.u32 r, 1;\n    " W "\n}\n", GRIDDEP_WAIT_INSERT,
     0, 0},
    {OPEN "    trap;\n}\n", OPEN "    " W "\n    trap;\n}\n", GRIDDEP_WAIT_INSERT, 0, 0},
    /* an instruction that is not known */
    {OPEN "    mov.u32 r, 1;\n    newfangled.x r;\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    " W "\n    newfangled.x r;\n    ret;\n}\n", GRIDDEP_WAIT_INSERT,
     0, 0},
    /* a call's scope stays in one piece */
    {HEAD ".extern .func f(.param .b64 q);\n.visible .entry k()\n{\n    .reg .b64 x;\n    mov.u64 "
          "x, 1;\n    { // call\n"
          "    .param .b64 q;\n    st.param.b64 [q], x;\n    call f, (q);\n    }\n    ret;\n}\n",
     HEAD ".extern .func f(.param .b64 q);\n.visible .entry k()\n{\n    .reg .b64 x;\n    mov.u64 "
          "x, 1;\n    " W "\n    { // call\n    .param .b64 q;\n    st.param.b64 [q], x;\n    call "
          "f, (q);\n    }\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* one line, Windows line ends, labels in front */
    {HEAD ".entry k() { .reg .b64 x; .reg .b32 r; mov.u64 x, 8; ld.global.u32 r, [x]; ret; }",
     HEAD ".entry k() { .reg .b64 x; .reg .b32 r; mov.u64 x, 8; " W " " T
          " ld.global.u32 r, [x]; ret; }",
     GRIDDEP_WAIT_INSERT, GRIDDEP_TRIGGER_AFTER_WAIT, 0},
    {".version 8.0\r\n.target sm_90\r\n.entry k()\r\n{\r\n\t.reg .b32 r;\r\n\tld.global.u32 r, "
     "[r];\r\n\tret;\r\n}\r\n",
     ".version 8.0\r\n.target sm_90\r\n.entry k()\r\n{\r\n\t.reg .b32 r;\r\n\t" W
     "\r\n\tld.global.u32 r, [r];\r\n\t" T "\r\n\tret;\r\n}\r\n",
     GRIDDEP_WAIT_INSERT, GRIDDEP_TRIGGER_AFTER_LOADS, 0},
    {OPEN "    @p bra L;\n    trap;\n  L: ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    @p bra L;\n    trap;\n  L: " W " ld.global.u32 r, [x];\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {OPEN "    mov.u32 r, 1; /* a\n comment */ ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1; /* a\n comment */ " W " ld.global.u32 r, [x];\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* version and target, other items kept; comments too */
    {".version 6.5 // old\n.target sm_70, debug\n.address_size 64\n.entry k()\n{\n    ret;\n}\n",
     ".version 7.8 // old\n.target sm_90, debug\n.address_size 64\n.entry k()\n{\n    " W
     "\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {".version 8.7\n.target sm_100a\n.address_size 64\n.entry k()\n{\n    ret;\n}\n",
     ".version 8.7\n.target sm_100a\n.address_size 64\n.entry k()\n{\n    " W "\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    /* what stands is kept, moved, removed */
    {OPEN "    " W "\n    mov.u32 r, 1;\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    " W "\n    mov.u32 r, 1;\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {OPEN "    " W "\n    mov.u32 r, 1;\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    " W "\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     GRIDDEP_WAIT_MOVE, 0, 0},
    {OPEN "    mov.u32 r, 1;\n    @p " W " // mine\n    " T "\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    // mine\n    ret;\n}\n", GRIDDEP_WAIT_REMOVE,
     GRIDDEP_TRIGGER_REMOVE, 0},
    {OPEN "    mov.u32 r, 1; " W " " T "\n    griddepcontrol/* why */.wait;\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1; \n    /* why */\n    ret;\n}\n", GRIDDEP_WAIT_REMOVE,
     GRIDDEP_TRIGGER_REMOVE, 0},
    {OPEN "    mov.u32 r, 1;\n    " W "\n    ret;\n}\n",
     OPEN "    " W "\n    mov.u32 r, 1;\n    ret;\n}\n", GRIDDEP_WAIT_START, 0, 0},
    /* triggers */
    {OPEN "    mov.u32 r, 1;\n    " W
          "\n    ld.global.u32 r, [x];\n    st.global.u32 [x], r;\n    " T "\n    ret;\n}\n",
     OPEN "    " T "\n    mov.u32 r, 1;\n    " W
          "\n    ld.global.u32 r, [x];\n    st.global.u32 [x], r;\n    ret;\n}\n",
     0, GRIDDEP_TRIGGER_START, 0},
    {OPEN "    mov.u32 r, 1;\n    " W " // here\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    " W " // here\n    " T
          "\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     0, GRIDDEP_TRIGGER_AFTER_WAIT, 0},
    {OPEN "    ld.global.u32 r, [x];\n    ld.global.u32 r, [y];\n    add.u32 r, r, 1;\n    "
          "st.global.u32 [x], r;\n"
          "    ret;\n}\n",
     OPEN "    ld.global.u32 r, [x];\n    ld.global.u32 r, [y];\n    " T "\n    add.u32 r, r, 1;\n"
          "    st.global.u32 [x], r;\n    ret;\n}\n",
     0, GRIDDEP_TRIGGER_AFTER_LOADS, 0},
    {OPEN "L:\n    ld.global.u32 r, [x];\n    @p bra L;\n    add.u32 r, r, 1;\n    ret;\n}\n",
     OPEN "L:\n    ld.global.u32 r, [x];\n    @p bra L;\n    " T
          "\n    add.u32 r, r, 1;\n    ret;\n}\n",
     0, GRIDDEP_TRIGGER_AFTER_LOADS, 0},
    {OPEN "    ld.global.u32 r, [x];\n    @p ret;\n    ld.global.u32 r, [x];\n    ret;\n}\n",
     OPEN "    ld.global.u32 r, [x];\n    @p " T "\n    @p ret;\n    ld.global.u32 r, [x];\n    " T
          "\n    ret;\n}\n",
     0, GRIDDEP_TRIGGER_AFTER_LOADS, 0},
    {OPEN "    ld.global.u32 r, [x];\n    @p st.global.u32 [x], r;\n    st.global.u32 [x], r;\n    "
          "ret;\n}\n",
     OPEN "    ld.global.u32 r, [x];\n    " T
          "\n    @p st.global.u32 [x], r;\n    st.global.u32 [x], r;\n    ret;\n}\n",
     0, GRIDDEP_TRIGGER_BEFORE_STORES, 0},
    {OPEN "    @!p exit;\n    bra L;\nL:\n}\n",
     OPEN "    @!p " T "\n    @!p exit;\n    bra L;\nL:\n" T "\n}\n", 0, GRIDDEP_TRIGGER_END, 0},
    {OPEN "    mov.u32 r, 1;\n    mov.u32 r, 2;\n    ret;\n}\n",
     OPEN "    mov.u32 r, 1;\n    " T "\n    mov.u32 r, 2;\n    ret;\n}\n", 0, GRIDDEP_TRIGGER_LINE,
     10},
    /* what stands already needs its target too */
    {".version 8.0\n.target sm_86\n.entry k()\n{\n    " W "\n    " T "\n    ret;\n}\n",
     ".version 8.0\n.target sm_90\n.entry k()\n{\n    " W "\n    " T "\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {".version 8.0\n.target sm_86\n.entry k()\n{\n    " W "\n    ret;\n}\n",
     ".version 8.0\n.target sm_86\n.entry k()\n{\n    ret;\n}\n", GRIDDEP_WAIT_REMOVE, 0, 0},
    /* a wait in a function is left alone, and enough where every path calls it */
    /* one that stands where it would be inserted does not come between a trigger and its place */
    {OPEN "    " W "\n    st.global.u32 [x], r;\n    ret;\n}\n",
     OPEN "    " W "\n    " T "\n    st.global.u32 [x], r;\n    ret;\n}\n", GRIDDEP_WAIT_INSERT,
     GRIDDEP_TRIGGER_BEFORE_STORES, 0},
    {HEAD ".func f()\n{\n    " W "\n    ret;\n}\n.entry k()\n{\n    call f;\n    ret;\n}\n",
     HEAD ".func f()\n{\n    " W "\n    ret;\n}\n.entry k()\n{\n    call f;\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {HEAD ".func f()\n{\n    " W "\n    ret;\n}\n.entry k()\n{\n    call f;\n    ret;\n}\n",
     HEAD ".func f()\n{\n    " W "\n    ret;\n}\n.entry k()\n{\n    call f;\n    ret;\n}\n",
     GRIDDEP_WAIT_REMOVE, 0, 0},
    /* what is called touches nothing, touches something, calls what does, ends threads */
    {HEAD ".func f()\n{\n    ret;\n}\n.entry k()\n{\n    .reg .b32 r;\n    call f;\n    "
          "ld.global.u32 r, [8];\n    "
          "ret;\n}\n",
     HEAD ".func f()\n{\n    ret;\n}\n.entry k()\n{\n    .reg .b32 r;\n    call f;\n    " W
          "\n    ld.global.u32 r, [8];\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {HEAD ".func f()\n{\n    .reg .b32 r;\n    ld.global.u32 r, [8];\n}\n.func g()\n{\n    call "
          "f;\n}\n.entry k()\n{\n"
          "    call g;\n    ret;\n}\n",
     HEAD ".func f()\n{\n    .reg .b32 r;\n    ld.global.u32 r, [8];\n}\n.func g()\n{\n    call "
          "f;\n}\n.entry k()\n{\n"
          "    " W "\n    call g;\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {HEAD ".func f() .noreturn\n{\n    ret;\n}\n.entry k()\n{\n    .reg .pred p;\n    .reg .b32 "
          "r;\n    @p bra x;\n"
          "    ld.global.u32 r, [8];\n    ret;\nx:\n    call f;\n}\n",
     HEAD ".func f() .noreturn\n{\n    ret;\n}\n.entry k()\n{\n    .reg .pred p;\n    .reg .b32 "
          "r;\n    " W "\n    @p bra x;\n"
          "    ld.global.u32 r, [8];\n    ret;\nx:\n    call f;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
    {HEAD ".func f()\n{\n    exit;\n}\n.entry k()\n{\n    call f;\n    ret;\n}\n",
     HEAD ".func f()\n{\n    exit;\n}\n.entry k()\n{\n    " W "\n    call f;\n    ret;\n}\n",
     GRIDDEP_WAIT_INSERT, 0, 0},
};

LOOP_TEST(rewrite, small, COUNT_OF(small_cases))
{
    const small_case *item = &small_cases[_i];
    griddep_rewrite_options options = options_of(item->wait, item->trigger);

    options.trigger_line = item->line;
    char *text = rewrite(item->before, &options, NULL);
    ck_assert_msg(!strcmp(text, item->after), "from\n%s\ncame\n%s\nexpected\n%s", item->before,
                  text, item->after);
    free(text);
}

/* ---- random programs ---- */

static uint32_t state;

static uint32_t random_below(uint32_t bound)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(state >> 4) * bound >> 28);
}

/* Blocks that touch memory or not, and go on, branch, leave or trap. */
static void make_program(gd_text *text)
{
    static const char *const bodies[] = {"mov.u32 r, 1;", "st.shared.u32 [x], r;",
                                         "ld.global.u32 r, [x];", "st.global.u32 [x], r;",
                                         "{ setp.eq.u32 p, r, 0; }"};
    uint32_t blocks = 1 + random_below(10);

    gd_text_string(text, OPEN);
    for (uint32_t i = 0; i < blocks; i++) {
        gd_text_format(text, "B%" PRIu32 ":\n    %s\n", i, bodies[random_below(5)]);
        switch (random_below(7)) {
        case 0:
            gd_text_format(text, "    bra B%" PRIu32 ";\n", random_below(blocks));
            break;
        case 1:
        case 2:
        case 3:
            gd_text_format(text, "    @p bra B%" PRIu32 ";\n", random_below(blocks));
            break;
        case 4:
            gd_text_string(text, random_below(3)   ? "    @p ret;\n"
                                 : random_below(2) ? "    exit;\n"
                                                   : "    trap;\n");
            break;
        default:
            break;
        }
    }
    gd_text_string(text, "}\n");
}

/* Whether the exit, or where `accesses` an access to global memory, can be reached without passing
 * an instruction of this kind. */
static bool can_avoid(const gd_flow *flow, gd_op op, bool accesses)
{
    const gd_ptx_module *module = flow->module;
    bool *seen = calloc(flow->count + 1, sizeof *seen);
    uint32_t *work = calloc(flow->count + 1, sizeof *work), count = 1;
    bool found = false;

    ck_assert(seen && work);
    seen[0] = true;
    while (count && !found) {
        const gd_flow_block *block = &flow->blocks[work[--count]];
        bool stopped = false;
        for (uint32_t i = block->instruction; i < block->instruction_end && !stopped; i++) {
            const gd_ptx_instruction *item = &module->instructions[i];
            stopped = item->op == op && !(item->flags & GD_INSTRUCTION_GUARDED);
            found |= !stopped && accesses && gd_ptx_token_is(module, item->opcode + 1, ".global");
        }
        for (uint32_t i = block->successor; i < block->successor_end && !stopped; i++) {
            found |= flow->edges[i] == flow->count;
            if (!seen[flow->edges[i]])
                work[count++] = flow->edges[i];
            seen[flow->edges[i]] = true;
        }
    }
    free(seen);
    free(work);
    return found;
}

static bool is_repeated(const gd_flow *flow, gd_op op)
{
    const gd_ptx_function *function = &flow->module->functions[flow->function];

    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        if (flow->module->instructions[i].op == op &&
            gd_flow_repeats(flow, gd_flow_block_of(flow, i)) &&
            !(flow->module->instructions[i].flags & GD_INSTRUCTION_GUARDED))
            return true;
    }
    return false;
}

static void check_program(const char *text, int32_t wait, int32_t trigger)
{
    griddep_rewrite_options options = options_of(wait, trigger);
    griddep_ptx *ptx = parse(text), *made = NULL;
    gd_flow *flow = NULL;
    int32_t status = griddep_ptx_rewrite(ptx, &options, &made, NULL, &error);

    /* END finds no exit in a program that only traps or loops */
    if (status) {
        ck_assert_int_eq(status, GRIDDEP_ERROR_UNSUPPORTED);
    } else {
        free(rewrite(text, &options, NULL));
        ck_good(gd_flow_create(&made->module, 0, &flow, &error));
        ck_assert_msg(!can_avoid(flow, GD_OP_GRIDDEPCONTROL_WAIT, true), "%s", made->module.text);
        ck_assert_msg(!is_repeated(flow, GD_OP_GRIDDEPCONTROL_WAIT), "%s", made->module.text);
        ck_assert_msg(!is_repeated(flow, GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS), "%s",
                      made->module.text);
        if (trigger != GRIDDEP_TRIGGER_END && trigger != GRIDDEP_TRIGGER_AFTER_LOADS)
            ck_assert_msg(!can_avoid(flow, GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS, false), "%s",
                          made->module.text);
    }
    gd_flow_destroy(flow);
    griddep_ptx_destroy(made);
    griddep_ptx_destroy(ptx);
}

/* Every path waits before it touches memory or leaves, no loop repeats what was inserted, every
 * path triggers. */
LOOP_TEST(rewrite, random_programs, 20)
{
    state = (uint32_t)_i * 2654435761u + 17;
    for (uint32_t round = 0; round < 100; round++) {
        gd_text text = {0};
        make_program(&text);
        check_program(gd_text_get(&text), 1 + (int32_t)random_below(2),
                      2 + (int32_t)random_below(5));
        gd_text_free(&text);
    }
}

/* Constants by option and by the head comment; a constant read does not wait, an update of one
 * does. */
TEST(rewrite, constants)
{
    static const char body[] =
        OPEN "    ld.param.u64 x, [a];\n    ld.param.u64 y, [b];\n    ld.global.u32 r, [x];\n"
             "    ld.global.u32 r, [y];\n    st.global.u32 [x], r;\n    ret;\n}\n";
    const char *names[] = {"a", "k.b"};
    griddep_rewrite_options options = options_of(GRIDDEP_WAIT_INSERT, 0);

    options.constants = names;
    for (options.constant_count = 0; options.constant_count <= 2; options.constant_count++) {
        char *text = rewrite(body, &options, NULL);
        const char *behind[] = {"[b];\n    " W, "[x];\n    " W, "[y];\n    " W};
        ck_assert_msg(strstr(text, behind[options.constant_count]) != NULL, "%s", text);
        free(text);
    }
    gd_text commented = {0};
    gd_text_format(&commented, "// kernel: k\n// constant: a\n\n%s", body);
    for (options.constant_count = 0; options.constant_count <= 1;
         options.constant_count++) { /* then named twice */
        char *text = rewrite(gd_text_get(&commented), &options, NULL);
        ck_assert_msg(strstr(text, "[x];\n    " W) != NULL, "%s", text);
        free(text);
    }
    gd_text_free(&commented);
}

/* Only the entry that is named. */
TEST(rewrite, one_entry)
{
    griddep_rewrite_options options = options_of(GRIDDEP_WAIT_INSERT, 0);

    options.entry = "b";
    char *text =
        rewrite(HEAD ".entry a()\n{\n    ret;\n}\n.entry b()\n{\n    ret;\n}\n", &options, NULL);
    ck_assert_str_eq(text,
                     HEAD ".entry a()\n{\n    ret;\n}\n.entry b()\n{\n    " W "\n    ret;\n}\n");
    free(text);
}

/* Another parameter's prefetch stays, the same parameter's is replaced. */
TEST(rewrite, prefetches)
{
    griddep_rewrite_options options = options_of(0, 0);

    options.prefetch = "a";
    options.prefetch_bytes = 64;
    char *one = rewrite(OPEN "    ret;\n}\n", &options, NULL);
    options.prefetch = "b";
    char *two = rewrite(one, &options, NULL);
    options.prefetch_bytes = 1600;
    char *three = rewrite(two, &options, NULL);
    ck_assert_ptr_nonnull(strstr(three, ", [a];"));
    ck_assert_ptr_nonnull(strstr(three, ", [b];"));
    ck_assert_ptr_nonnull(strstr(three, ", 100;"));
    ck_assert_uint_eq(strlen(three), strlen(two) + 3 * strlen("00") - 3 * strlen("4") + 3);
    free(one);
    free(two);
    free(three);
}

/* The trigger's line counts what stands in the text, but never means this library's own work. */
TEST(rewrite, line_behind_own_work)
{
    griddep_rewrite_options options = options_of(0, 0);

    options.prefetch = "a";
    options.prefetch_bytes = 64;
    char *before =
        rewrite(OPEN "    mov.u32 r, 1;\n    mov.u32 r, 2;\n    ret;\n}\n", &options, NULL);
    options.trigger = GRIDDEP_TRIGGER_LINE;
    options.trigger_line = 9;
    options.wait = GRIDDEP_WAIT_INSERT;
    char *after = rewrite(before, &options, NULL);
    ck_assert_msg(strstr(after, "    }\n    " T "\n    mov.u32 r, 1;\n    mov.u32 r, 2;\n    " W
                                "\n    ret;") != NULL,
                  "%s", after);
    free(before);
    free(after);
}

/* Much on one line, much to take out: linear. */
TEST(rewrite, large)
{
    gd_text text = {0};
    griddep_rewrite_options options = options_of(GRIDDEP_WAIT_MOVE, GRIDDEP_TRIGGER_AFTER_LOADS);
    enum { COUNT = 60000 };

    gd_text_string(&text, OPEN);
    for (uint32_t i = 0; i < COUNT; i++)
        gd_text_string(&text, W " " T " ld.global.u32 r, [x];");
    gd_text_string(&text, "\n}\n");
    for (uint32_t i = 0; i < COUNT / 10; i++)
        gd_text_format(&text, ".entry k%" PRIu32 "() { " W " ret; } ", i);
    char *after = rewrite(gd_text_get(&text), &options, NULL);
    ck_assert_ptr_nonnull(strstr(after, W));
    free(after);
    gd_text_free(&text);
}

/* Found by fuzzing: the second parameter of one name is the one that the name means. */
TEST(rewrite, parameters_of_one_name)
{
    griddep_rewrite_options options = options_of(0, 0);

    options.prefetch = "a";
    options.prefetch_bytes = 16;
    free(rewrite(HEAD ".entry k(.param .u64 a, .param .u32 a) { }", &options, NULL));
}

typedef struct refusal {
    const char *body;
    int32_t status;
    const char *words;
    griddep_rewrite_options options;
} refusal;

static const char *const no_such[] = {"c"};

static const refusal refusals[] = {
    {"ret;", GRIDDEP_ERROR_ARGUMENT, "GRIDDEP_WAIT", {OPTIONS, .wait = 5}},
    {"ret;", GRIDDEP_ERROR_ARGUMENT, "GRIDDEP_TRIGGER", {OPTIONS, .trigger = -1}},
    {"ret;", GRIDDEP_ERROR_STRUCT, "flags", {OPTIONS, .flags = 1}},
    {"ret;", GRIDDEP_ERROR_STRUCT, "size", {.size = 4}},
    {"ret;", GRIDDEP_ERROR_NOT_FOUND, "'nobody'", {OPTIONS, .entry = "nobody"}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "'c'",
     {OPTIONS, .wait = 1, .constants = no_such, .constant_count = 1}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "constants is NULL",
     {OPTIONS, .wait = 1, .constant_count = 1}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "'c' to prefetch",
     {OPTIONS, .prefetch = "c", .prefetch_bytes = 16}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "multiple of 16",
     {OPTIONS, .prefetch = "a", .prefetch_bytes = 24}},
    {"ret;", GRIDDEP_ERROR_ARGUMENT, "multiple of 16", {OPTIONS, .prefetch = "a"}},
    {"ret;", GRIDDEP_ERROR_ARGUMENT, "prefetch is NULL", {OPTIONS, .prefetch_bytes = 16}},
    {"ret;", GRIDDEP_ERROR_ARGUMENT, "trigger_line", {OPTIONS, .trigger = GRIDDEP_TRIGGER_LINE}},
    {"ret;", GRIDDEP_ERROR_ARGUMENT, "trigger_line", {OPTIONS, .trigger_line = 1}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "outside",
     {OPTIONS, .trigger = GRIDDEP_TRIGGER_LINE, .trigger_line = 3}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "on or behind",
     {OPTIONS, .trigger = GRIDDEP_TRIGGER_LINE, .trigger_line = 10}},
    {"ret;",
     GRIDDEP_ERROR_ARGUMENT,
     "no griddepcontrol.wait",
     {OPTIONS, .trigger = GRIDDEP_TRIGGER_AFTER_WAIT}},
    {"@p " W " ret;",
     GRIDDEP_ERROR_UNSUPPORTED,
     "cannot follow",
     {OPTIONS, .trigger = GRIDDEP_TRIGGER_AFTER_WAIT}},
    {".odd 1 }\n.entry l() { .odd",
     GRIDDEP_ERROR_UNSUPPORTED,
     "end of its own",
     {OPTIONS, .wait = GRIDDEP_WAIT_START}},
    {".reg .b64 a; ret;",
     GRIDDEP_ERROR_UNSUPPORTED,
     "hides",
     {OPTIONS, .prefetch = "a", .prefetch_bytes = 16}},
    {"L: bra L;", GRIDDEP_ERROR_UNSUPPORTED, "no exit", {OPTIONS, .trigger = GRIDDEP_TRIGGER_END}},
    {"L: @p bra L; ret;",
     GRIDDEP_ERROR_UNSUPPORTED,
     "exactly once",
     {OPTIONS, .trigger = GRIDDEP_TRIGGER_LINE, .trigger_line = 9}},
    {"@p bra L;\nmov.u32 r, 1;\nL: ret;",
     GRIDDEP_ERROR_UNSUPPORTED,
     "exactly once",
     {OPTIONS, .trigger = GRIDDEP_TRIGGER_LINE, .trigger_line = 10}},
};

LOOP_TEST(rewrite, refused, COUNT_OF(refusals))
{
    const refusal *item = &refusals[_i];
    gd_text text = {0};

    gd_text_format(&text, OPEN "%s\n}\n", item->body);
    griddep_ptx *ptx = parse(gd_text_get(&text)), *made = (griddep_ptx *)&text;
    griddep_findings *notes = (griddep_findings *)&text;
    int32_t status = griddep_ptx_rewrite(ptx, &item->options, &made, &notes, &error);
    ck_assert_msg(status == item->status, "%s: %" PRId32 " %s", item->words, status, error.text);
    ck_assert_msg(strstr(error.text, item->words) != NULL, "'%s' is not in '%s'", item->words,
                  error.text);
    ck_assert_ptr_eq(made, &text);
    ck_assert_ptr_eq(notes, &text);
    griddep_ptx_destroy(ptx);
    gd_text_free(&text);
}

/* Found by fuzzing. */
TEST(rewrite, register_parameter)
{
    griddep_ptx *ptx = parse(HEAD ".entry k(.reg .u64 a) { }"), *made = NULL;
    griddep_rewrite_options options = options_of(0, 0);

    options.prefetch = "a";
    options.prefetch_bytes = 16;
    ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_msg(strstr(error.text, ".param space") != NULL, "%s", error.text);
    ck_assert_ptr_null(made);
    griddep_ptx_destroy(ptx);
}

TEST(rewrite, null_arguments)
{
    griddep_ptx *ptx = parse(OPEN "ret;\n}\n"), *made = NULL;
    griddep_rewrite_options options = options_of(1, 1);

    ck_assert_int_eq(griddep_ptx_rewrite(NULL, &options, &made, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_rewrite(ptx, NULL, &made, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, NULL, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, &made, NULL, NULL), GRIDDEP_OK);
    griddep_ptx_destroy(made);
    griddep_ptx_destroy(ptx);
}

/* A loop of rounds needs one that reads global memory; a round goes with no other place. */
TEST(rewrite, no_loop)
{
    griddep_ptx *ptx = parse(OPEN "ld.param.u64 x, [a];\nld.global.u64 y, [x];\nL:\nadd.u32 r, r, "
                                  "1;\nsetp.lt.u32 p, r, 9;\n@p bra L;\n"
                                  "ret;\n}\n"),
                *made = NULL;
    griddep_rewrite_options options = options_of(0, GRIDDEP_TRIGGER_LOOP);

    ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error),
                     GRIDDEP_ERROR_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "no loop that reads"), "%s", error.text);
    options = options_of(0, GRIDDEP_TRIGGER_START);
    options.trigger_round = 1;
    ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    options.size = (uint32_t)offsetof(griddep_rewrite_options,
                                      trigger_round); /* a caller that knows no rounds */
    ck_good(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error));
    griddep_ptx_destroy(made);
    griddep_ptx_destroy(ptx);
}

TEST(rewrite, no_chip)
{
    griddep_ptx *ptx = parse(".version 8.0\n.target texmode_unified\n.entry k()\n{\nret;\n}\n"),
                *made = NULL;
    griddep_rewrite_options options = options_of(GRIDDEP_WAIT_INSERT, 0);

    ck_assert_int_eq(griddep_ptx_rewrite(ptx, &options, &made, NULL, &error),
                     GRIDDEP_ERROR_UNSUPPORTED);
    ck_assert_ptr_null(made);
    griddep_ptx_destroy(ptx);
}

/* With all options at "keep" the text comes out as it went in, and no notes with it. */
TEST(rewrite, nothing_to_do)
{
    griddep_rewrite_options options = options_of(GRIDDEP_WAIT_KEEP, GRIDDEP_TRIGGER_KEEP);
    griddep_findings *notes = NULL;
    char *text =
        rewrite(".version 6.0\n.target sm_30\n.entry k()\n{\n  " W "  // odd\n}", &options, &notes);

    ck_assert_str_eq(text, ".version 6.0\n.target sm_30\n.entry k()\n{\n  " W "  // odd\n}");
    ck_assert_uint_eq(griddep_findings_count(notes), 0);
    griddep_findings_destroy(notes);
    free(text);
}

LOOP_TEST(rewrite, memory_runs_out, 3)
{
    griddep_ptx *ptx = parse(".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 "
                             "a)\n{\n  .reg .b64 x;\n  .reg .pred p;\n "
                             " " T "\n  ld.param.u64 x, [a];\n  L:\n  ld.global.u64 x, [x];\n  "
                             "setp.ne.u64 p, x, 0;\n  @p bra L;\n  " W "\n  ret;\n}\n");
    const char *names[] = {"a"};
    griddep_rewrite_options options =
        options_of(_i ? GRIDDEP_WAIT_MOVE : GRIDDEP_WAIT_INSERT,
                   _i == 2 ? GRIDDEP_TRIGGER_LOOP : GRIDDEP_TRIGGER_AFTER_LOADS);

    options.constants = names;
    options.constant_count = 1;
    options.prefetch = "a";
    options.prefetch_bytes = 160;
    for (long n = 0;; n++) {
        griddep_ptx *made = NULL;
        griddep_findings *notes = NULL;
        fail_alloc_after(n);
        int32_t status = griddep_ptx_rewrite(ptx, &options, &made, &notes, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
        ck_assert(!hit || (!made && !notes));
        griddep_ptx_destroy(made);
        griddep_findings_destroy(notes);
        if (!hit)
            break;
        ck_assert_int_lt((int)n, 2000);
    }
    griddep_ptx_destroy(ptx);
}

/* Entries that nobody names go, to the letter; all stay where something names one of them. */
static const struct {
    const char *text, *names[2], *kept;
} keeps[] = {
#define A ".visible .entry a()\n{\n    ret;\n}\n"
#define B "// of b\n.entry b(.param .u64 p)\n.maxntid 32\n{\n    ret;\n}\n"
#define F ".func f()\n{\n    ret;\n}\n"
#define OF_A "// requires a:\n//   grid.x == 1\n"
#define OF_B "// extent b: p: u32[grid.x]\n"
    {HEAD A B F, {"a"}, HEAD A "// of b\n" F},
    {HEAD A B F, {"a", "b"}, HEAD A B F},
    {HEAD F B A, {"b", "b"}, HEAD F B},
    {HEAD A ".global .u64 g = a;\n" B, {"b"}, HEAD A ".global .u64 g = a;\n" B},
    {"// k: 1\n" OF_A OF_B "// z: 1\n" HEAD A B, {"b"}, "// k: 1\n" OF_B "// z: 1\n" HEAD B},
    {OF_A OF_B HEAD A ".global .u64 g = a;\n" B, {"b"}, OF_A OF_B HEAD A ".global .u64 g = a;\n" B},
#undef A
#undef B
#undef F
#undef OF_A
#undef OF_B
};

LOOP_TEST(rewrite, entries_that_are_kept, COUNT_OF(keeps))
{
    griddep_ptx *ptx = parse(keeps[_i].text), *kept = NULL;
    const uint32_t count = 1 + (keeps[_i].names[1] != NULL);

    ck_good(gd_ptx_keep(ptx, keeps[_i].names, count, &kept, &error));
    char *text = print(kept);
    ck_assert_str_eq(text, keeps[_i].kept);
    free(text);
    griddep_ptx_destroy(kept);
    for (long n = 0;; n++) {
        fail_alloc_after(n);
        const int32_t status = gd_ptx_keep(ptx, keeps[_i].names, count, &kept, &error);
        const bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert(status == GRIDDEP_OK || (hit && status == GRIDDEP_ERROR_MEMORY));
        if (!status)
            griddep_ptx_destroy(kept);
        if (!hit)
            break;
    }
    griddep_ptx_destroy(ptx);
}

int main(void)
{
    griddep_error_init(&error);
    return run_suite(make_suite("rewrite"));
}
