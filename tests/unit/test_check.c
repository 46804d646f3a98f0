/* The checks: findings and their codes, one text, chains.
 *
 * tests/golden/check/NAME.ptx is checked; its findings, one a line as code:line:column:severity,
 * must be NAME.expect, and in full NAME.text where there is such a file. A name GDnnn..._fires must
 * have that finding, GDnnn..._quiet must not. NAME_quiet.changes has the differences to the text
 * NAME_fires, GDnnn_..._fires.changes those to GDnnn_fires.ptx. GRIDDEP_UPDATE_GOLDEN=1 writes the
 * expectations anew; read the difference before you commit it. */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "griddep.h"
#include "ptx/check/launches.h"
#include "ptx/text/findings.h"
#include "run/chain/chain.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

#define GOLDEN SOURCE_DIRECTORY "/tests/golden/check"
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static griddep_error error;

static void clear_error(void)
{
    griddep_error_init(&error);
}

static griddep_finding get(const griddep_findings *findings, uint32_t index)
{
    griddep_finding finding = {.size = sizeof finding};

    ck_good(griddep_findings_get(findings, index, &finding, &error));
    return finding;
}

static griddep_findings *check_text(const char *text, size_t bytes, const char *name,
                                    const char *const *constants, uint32_t count)
{
    const griddep_check_options options = {
        .size = sizeof options, .constants = constants, .constant_count = count};
    griddep_findings *findings = NULL;
    int32_t status = griddep_ptx_check(text, bytes, name, &options, &findings, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    ck_assert_ptr_nonnull(findings);
    return findings;
}

static bool has_code(const griddep_findings *findings, const char *code)
{
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        if (!strcmp(get(findings, i).code, code))
            return true;
    }
    return false;
}

static int32_t worst(const griddep_findings *findings)
{
    int32_t severity = 0;

    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        severity = finding.severity > severity ? finding.severity : severity;
    }
    return severity;
}

/* ---- golden files ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);

    return length >= tail && !strcmp(name + length - tail, end);
}

/* "12- " and line 12, which goes, or "12+ " and a line that stands before line 12. */
static void apply_changes(gd_text *out, const char *text, const char *changes)
{
    for (long number = 1;; number++) {
        const size_t length = strcspn(text, "\n") + 1;
        bool goes = false;
        for (char *end; *changes && strtol(changes, &end, 10) == number;) {
            changes = end + strcspn(end, "\n") + 1;
            if (*end == '+')
                gd_text_append(out, end + 2, (size_t)(changes - end - 2));
            else
                goes = !strncmp(text, end + 2, length);
            ck_assert_msg(goes || *end == '+', "line %ld is not %.60s", number, end);
        }
        if (!*text)
            break;
        if (!goes)
            gd_text_append(out, text, length);
        text += length;
    }
    ck_assert_msg(!*changes, "no such line: %.60s", changes);
}

typedef void use_golden(const char *path, const char *name, const char *text, size_t bytes);

/* NAME.ptx, or what NAME.changes makes of another text. */
static char *read_golden(const char *name)
{
    const int length = (int)strlen(name);
    char path[4096], base[256], *text;
    size_t bytes;
    gd_text changed = {0};

    snprintf(path, sizeof path, "%s/%s.ptx", GOLDEN, name);
    if (gd_file_read(path, &text, &bytes, NULL) == GRIDDEP_OK)
        return text;
    snprintf(path, sizeof path, "%s/%s.changes", GOLDEN, name);
    ck_good(gd_file_read(path, &text, &bytes, &error));
    snprintf(base, sizeof base, "%.*s_fires", ends_with(name, "_quiet") ? length - 6 : 5, name);
    char *before = read_golden(base);
    apply_changes(&changed, before, text);
    free(before);
    free(text);
    return changed.data;
}

static void each_golden(use_golden *use)
{
    DIR *folder = opendir(GOLDEN);
    unsigned count = 0;

    ck_assert_msg(folder != NULL, "%s cannot be read", GOLDEN);
    for (struct dirent *item; (item = readdir(folder)) != NULL;) {
        char *dot = strrchr(item->d_name, '.'), path[4096];
        if (strcmp(dot, ".ptx") != 0 && strcmp(dot, ".changes") != 0)
            continue;
        *dot = 0;
        char *text = read_golden(item->d_name);
        const int start = snprintf(path, sizeof path, "%s/", GOLDEN);
        snprintf(path + start, sizeof path - (size_t)start, "%s.ptx", item->d_name);
        use(path, path + start, text, strlen(text));
        free(text);
        count++;
    }
    closedir(folder);
    ck_assert_uint_ge(count, 110);
}

static void show_brief(gd_text *out, const griddep_findings *findings)
{
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        gd_text_format(out, "%s:%" PRId32 ":%" PRId32 ":%" PRId32 "\n", finding.code, finding.line,
                       finding.column, finding.severity);
    }
}

static void show_full(gd_text *out, const griddep_findings *findings)
{
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        gd_text_format(out, "%s:%" PRId32 ":%" PRId32 ": %s %s\n%s%s\n\n", finding.file,
                       finding.line, finding.column, finding.code, finding.text, finding.quote,
                       finding.hint);
    }
}

/* Compares with the file of that name but another ending; `must` says whether it has to be
 * there. */
static void compare_with(const char *path, const char *ending, const gd_text *shown, bool must)
{
    char expect[4096 + 16];
    char *wanted = NULL;
    size_t bytes = 0;

    snprintf(expect, sizeof expect, "%.*s%s", (int)strlen(path) - 4, path, ending);
    if (!must && gd_file_read(expect, &wanted, &bytes, NULL))
        return;
    free(wanted);
    if (getenv("GRIDDEP_UPDATE_GOLDEN"))
        ck_good(gd_file_write(expect, gd_text_get(shown), shown->bytes, &error));
    ck_good(gd_file_read(expect, &wanted, &bytes, &error));
    ck_assert_msg(bytes == shown->bytes && !memcmp(wanted, gd_text_get(shown), bytes),
                  "%s\nexpected:\n%s\nfound:\n%s", path, wanted, gd_text_get(shown));
    free(wanted);
}

static void check_golden(const char *path, const char *name, const char *text, size_t bytes)
{
    griddep_findings *findings = check_text(text, bytes, name, NULL, 0);
    gd_text brief = {0}, full = {0};
    char code[6];

    snprintf(code, sizeof code, "%.5s", name);
    if (ends_with(name, "_fires.ptx"))
        ck_assert_msg(has_code(findings, code), "%s has no finding %s", name, code);
    else
        ck_assert_msg(!has_code(findings, code), "%s has a finding %s", name, code);
    if (strstr(name, "specialized") ? ends_with(name, "_quiet.ptx") : !strncmp(name, "nvcc", 4))
        ck_assert_msg(worst(findings) <= GRIDDEP_SEVERITY_NOTE, "%s is correct, and not quiet",
                      name);
    show_brief(&brief, findings);
    show_full(&full, findings);
    compare_with(path, ".expect", &brief, true);
    compare_with(path, ".text", &full, false);
    gd_text_free(&brief);
    gd_text_free(&full);
    griddep_findings_destroy(findings);
}

TEST_GROUP(golden, clear_error, NULL);
TEST_GROUP(findings, clear_error, NULL);
TEST_GROUP(mutations, clear_error, NULL);
TEST_GROUP(chains, clear_error, NULL);
TEST_GROUP(calls, clear_error, NULL);

TEST(golden, golden_files_have_the_expected_findings)
{
    each_golden(check_golden);
}

/* ---- texts that ptxas was asked about ---- */

/* What stands behind the head, and the code of its only error; NULL: ptxas takes it. */
typedef struct asked_text {
    const char *text, *code;
} asked_text;

static const asked_text asked[] = {
    /* calls */
    {".func (.param .b32 r) g(.param .u32 a) { ret; }\n"
     ".entry f() { .param .s32 x; .param .f32 y; call (y), g, (x); ret; }",
     NULL},
    {".func (.param .b32 r) g(.param .u32 a) { ret; }\n"
     ".entry f() { .param .f32 x; .param .f32 y; call (y), g, (x); ret; }",
     "GD012"},
    {".func (.param .b32 r) g(.param .b32 a) { ret; }\n"
     ".entry f() { .param .b32 x; call g, (x); ret; }",
     "GD012"},
    {".func g(.param .b32 a) { ret; }\n.entry f() { .param .b32 x; call g, (x, x); ret; }",
     "GD012"},
    {".func g(.param .align 8 .b8 a[16]) { ret; }\n"
     ".entry f() { .param .align 4 .b8 x[16]; call g, (x); ret; }",
     "GD012"},
    {".func g(.param .b32 q, .param .align 8 .b8 a[]) { ret; }\n"
     ".entry f() { .param .b32 x; call g, (x); ret; }",
     NULL},
    {".func g(.param .b64 a) { ret; }\n.func h(.param .b64 z) { call g, (z); ret; }", "GD012"},
    {".func g(.reg .u32 a) { ret; }\n.entry f() { call g, (7); ret; }", NULL},
    {".func g(.param .f32 a) { ret; }\n.entry f() { call g, (5); ret; }", "GD012"},
    {".func g(.param .u8 a) { ret; }\n.entry f() { .param .u8 x; call g, (x); ret; }", "GD012"},
    {".func g(.param .s16 a) { ret; }\n.entry f() { .param .s16 x; call g, (x); ret; }", "GD012"},
    {".func g(.param .b16 a) { ret; }\n.entry f() { .param .b16 x; call g, (x); ret; }", NULL},
    {".func g() { ret; }\n.entry f() { call.sync g; ret; }", "GD011"},
    {".entry g() { ret; }\n.entry f() { call g; ret; }", "GD012"},
    {".entry f() { call g; ret; }\n.func g() { ret; }", "GD013"},
    {".func g();\n.entry f() { call g; ret; }\n.func g() { ret; }", NULL},
    {".entry f() { .reg .b64 t; .param .b32 x;\np: .callprototype _ (.param .b32 a);\n"
     "call t, (x), p; ret; }",
     NULL},
    {".entry f() { .reg .b64 t; .param .b64 x;\np: .callprototype _ (.param .b32 a);\n"
     "call t, (x), p; ret; }",
     "GD012"},
    {".entry f() { .reg .b64 t; .param .b32 x; call t, (x); ret; }", "GD012"},
    {".func g(.param .b64 a) { ret; }\n.entry f() { .reg .u64 t; .param .b32 x;\n"
     "p: .calltargets g;\ncall t, (x), p; ret; }",
     "GD012"},
    /* memory */
    {".entry f() { .shared .b8 s[49152]; ret; }", NULL},
    {".entry f() { .shared .b8 s[49153]; ret; }", "GD016"},
    {".shared .b8 s[60000];\n.entry f() { ret; }", NULL},
    {".shared .b8 s[60000];\n.func g() { .reg .b32 r; mov.u32 r, s; ret; }\n"
     ".entry f() { call g; ret; }",
     "GD016"},
    {".entry f(.param .f16x2 a) { ret; }", "GD016"},
    {".entry f() { .param .align 256 .b8 a[4]; ret; }", "GD016"},
    {".global .u32 v;\n.global .u16 c = v;", "GD016"},
    {".shared .u64 v;\n.global .u64 c = v;", "GD016"},
    {".global .f32 c = 1e400;", "GD016"},
    {".global .samplerref s;", "GD016"},
    {".file 1 \"a\"\n.file 1 \"b\"", "GD017"},
    /* operands */
    {".entry f() { .reg .b32 r, a; ld.global.u32 r, [a]; ret; }", "GD012"},
    {".entry f() { .reg .b32 r, a; ld.shared.u32 r, [a]; ret; }", NULL},
    {".entry f() { .reg .f32 r; mov.f32 r, 1e400; ret; }", "GD012"},
    {".entry f() { .reg .f32 r; mov.f32 r, 1.5+4; ret; }", "GD012"},
    {".entry f() { .reg .u32 r; max.s16x2 r, r, r; ret; }", "GD012"},
    {".entry f() { .reg .b32 r; mov.u32 r, %is_explicit_cluster; ret; }", "GD012"},
    {".entry f() { .reg .pred p; mov.pred p, %is_explicit_cluster; ret; }", NULL},
    {".entry f() { .reg .b32 r; stmatrix.sync.aligned.m8n8.x1.shared.b16 [r], r; ret; }", "GD012"},
    {".entry f() { @%clock64 ret; ret; }", "GD012"},
    {".entry f() { .reg .b32 r; .reg .b64 t; suld.b.2d.b32.trap {r}, [t, {r}]; ret; }", "GD012"},
    {".entry f() { .reg .b32 r; .reg .b64 t; suld.b.2d.b32.trap {r}, [t, {r, r}]; ret; }", NULL},
    {".entry f() { .reg .b32 r; .reg .pred p;\n"
     "mbarrier.try_wait.parity.shared.b64 p, [r], 2; ret; }",
     "GD012"},
    /* what foreign texts and ptxas have beyond the ISA */
    {".entry f() { .reg .u32 r; add.pred.u32 r, r, r; ret; }", NULL},
    {".entry f() { .reg .f64 r; fence.proxy.tensormap::generic.acquire.gpu [r], 128; ret; }", NULL},
    {".entry f() { .reg .u32 r;\nt: .branchtargets A, B<2>;\nbrx.idx r, t;\nA: B0: B1: ret; }",
     NULL},
    {".entry f() { .reg .u32 r;\nt: .branchtargets A, B<2>;\nbrx.idx r, t;\nA: B0: ret; }",
     "GD013"},
    {".entry f() { .reg .u32 %r<4>;\n%r1: ret; }", NULL},
    {".visible .func g()\n.visible .func h() { ret; }\n.visible .func g() { ret; }", NULL},
    /* one mistake is one finding */
    {".entry f() { add.u32 %r1, %r2, %r3; sub.u32 %r1, %r2, %r3; ret; }", "GD013"},
    {".entry f()\n.reg .u32 r;\nadd.u32 r, r, r;\nsub.u32 r, r, r;\nret;\n}", "GD002"},
    /* what 20,000 mutated texts found */
    {".entry f(.param .u64 p) .param .u64 q, .param .u64 r)\n{ ret; }", "GD017"},
    {".entry f() { .reg .v3 .b32 a; .reg .b64 w; mov.b64 w, {a, a}; mov.b64 w, {a, a}; ret; }",
     "GD016"},
    {".extern .func later();\n.calltargets\nlater;\n.entry f() { call later; ret; }", "GD017"},
    {".global .b8 t[4] = {1, 2; 3};\n"
     ".entry f() { ret; }",
     "GD002"},
    {".func g(.reg .v4 .u16 a) { ret; }\n"
     ".entry f() { .reg .v4 .u16 v; call g, (v); ret; }",
     NULL},
    {".func g(.param .b32 a);\n"
     ".func h(.param .f32 a) { ret; }\n"
     ".alias g, h;\n"
     ".entry f() { ret; }",
     "GD016"},
    {".func g(.param .f32 a);\n"
     ".func h(.param .f32 a) { ret; }\n"
     ".alias g, h;\n"
     ".entry f() { ret; }",
     NULL},
    {".entry f(.param .u64 .ptr .b128 p) { ret; }", "GD016"},
    {".entry f(.param .u64 .ptr .texref p) { ret; }", NULL},
    {".file 4294967296 \"a.cu\"\n"
     ".entry f() { ret; }",
     "GD016"},
    {".file 1 \"a.cu\"\n"
     ".entry f() {\n"
     ".loc 1 4 5\n"
     ".loc 1 2 3, function_name $name, inlined_at 1 4 5\n"
     "ret; }\n"
     ".section .debug_str { $name: .b8 65, 0 }",
     NULL},
    {".file 1 \"a.cu\"\n"
     ".entry f() {\n"
     ".loc 1 4 5\n"
     ".loc 1 2 3, function_name f, inlined_at 1 4 5\n"
     "ret; }",
     "GD013"},
    {".file 1 \"a.cu\"\n"
     ".entry f() {\n"
     ".loc 1 4 6\n"
     ".loc 1 2 3, function_name $name, inlined_at 1 4 5\n"
     "ret; }\n"
     ".section .debug_str { $name: .b8 65, 0 }",
     "GD017"},
    {".entry f() { .reg .u32 r; .param .b32 x; mov.b32 r, x; ret; }", "GD012"},
    {".entry f(.param .b32 x) { .reg .u32 r; mov.b32 r, x; ret; }", NULL},
    {".global .u32 v;\n"
     ".entry f() { .reg .u32 r; mov.u32 r, v; ret; }",
     "GD012"},
    {".shared .u32 v;\n"
     ".entry f() { .reg .u32 r; mov.u32 r, v; ret; }",
     NULL},
    {".shared .u32 v;\n"
     ".entry f() { .reg .u32 r; cvta.shared.u32 r, v; ret; }",
     "GD011"},
    {".entry f() { .reg .u32 r<3>; add.u32 r0, r1, r2-4; ret; }", "GD012"},
    {".entry f() { .reg .u32 r<3>; add.u32 r0, r1, r2+-4; ret; }", NULL},
    {".entry f() { .reg .u32 r<3>; add.u32 r0, r1, r2*4; ret; }", "GD012"},
    {".entry f() { .reg .u32 r<3>; add.u32 r0, r1, 4+r2; ret; }", "GD012"},
    {".entry f() { .reg .u32 r<3>; ld.shared.u32 r0, [r1+r2]; ret; }", "GD012"},
    {".entry f() { .reg .u32 r<3>; ld.shared.u32 r0, [-r1]; ret; }", "GD012"},
    {".entry f() { .reg .u32 r<3>; add.u32 r0, r1, WARP_SZ-4; ret; }", NULL},
    {".entry f() { .reg .u32 %r<3>; mov.u32 %r0, %r1[2]; ret; }", "GD012"},
    {".entry f() { .reg .u64 r; mov.u64 r, %globaltimer+4; ret; }", NULL},
    {".entry f() { .reg .u32 r; mov.u32 r, %tid.x+4; ret; }", "GD012"},
    {".entry f() { .reg .u32 r; ld.shared.u32 r, [%laneid]; ret; }", NULL},
    {".entry f() { .reg .u32 r; mbarrier.init.shared.b64 [%laneid], r; ret; }", "GD012"},
    {".entry f() { .reg .b64 s; .reg .b32 r; mbarrier.arrive.shared.b64 !_, [r]; ret; }", "GD012"},
    {".entry f() { .reg .f32 a, b, c; .reg .f32 a, b, c; ret; }", "GD015"},
    {".entry f() { add.f32 %a, %b, %a; add.f32 %count, %a, %b; ret; }", "GD013"},
    {".entry f() { .shared .pred p; @p ret; @p ret; ret; }", "GD016"},
    {".entry f() { .global .b64 r<4>; add.u64 r0, r1, r2; add.u64 r1, r2, r3; ret; }", "GD012"},
    {".entry f() { .reg .s32 w<4>; mul.f32 w0, w1, w2; mul.f32 w1, w1, w2; mul.f32 w3, w1, w2; "
     "ret; }",
     "GD012"},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.b32 a, {%ntid.x}; ret; }", NULL},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.b64 d, {%ntid.x, %tid.y}; ret; }", NULL},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.b64 d, {%clock64}; ret; }", NULL},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.b32 a, {%ntid.x, %ntid.y}; ret; }", "GD012"},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.b64 d, {%tid, a}; ret; }", "GD012"},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.b64 d, {%tid.x, 1}; ret; }", "GD012"},
    {".entry f() { .reg .b32 a; .reg .b64 d; st.global.v2.u32 [d], {%clock64, a}; ret; }", "GD012"},
    {".entry f() { .reg .b32 a; .reg .b64 d; st.global.v2.f32 [d], {%tid.x, a}; ret; }", NULL},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.u32 a, %reserved_smem_offset_1; ret; }", NULL},
    {".entry f() { .reg .b32 a; .reg .b64 d; mov.u32 a, %reserved_smem_offset_2; ret; }", "GD013"},
    {".entry f() { .reg .b16 h<4>; .reg .b32 r<4>; .reg .b64 d; .reg .pred p; st.global.v4.b16 "
     "[d], {p, h1, h2, h3}; ret; }",
     "GD012"},
    {".entry f() { .reg .f64 e; .reg .f32 s; add.f64 e, e, -0d3FF0000000000000; ret; }", NULL},
    {".entry f() { .reg .f64 e; .reg .f32 s; add.f32 s, s, -0f3F800000; ret; }", "GD012"},
    {".entry f() { .reg .b64 d<4>; .reg .b32 r<4>; rem.u64 d0, d1+1, d2; ret; }", "GD012"},
    {".entry f() { .reg .b64 d<4>; .reg .b32 r<4>; rem.u32 r0, r1+1, r2; ret; }", NULL},
    {".entry f() { .reg .b64 d<4>; .reg .b32 r<4>; shfl.sync.idx.b32 r0, r1+1, 0, 31, -1; ret; }",
     NULL},
    {".entry f() { .reg .b32 r<4>; fma.rn.bf16x2 r0, r1, r2, {r3}; ret; }", NULL},
    {".entry f() { .reg .b32 r<4>; fma.rn.f16x2 r0, r1, r2, {r3}; ret; }", "GD012"},
    {".entry f() { .reg .b64 d; createpolicy.fractional.L2::evict_last.b64 d, 1.0; ret; }", NULL},
    {".entry f() { .reg .b64 d; createpolicy.fractional.L2::evict_last.b64 d, 0.0; ret; }",
     "GD012"},
    {".entry f() { .reg .b64 d; createpolicy.range.global.L2::evict_last.b64 d, [d], 32, 16; ret; "
     "}",
     "GD012"},
    {".entry f() { .reg .b32 %r<4>; %r1: mov.u32 %r1, 2; ret; }", NULL},
    {".entry f() { .reg .b32 %r<4>; %r1: bra %r1; ret; }", "GD012"},
    {".entry f() { .reg .u32 r; mov.u32 r, f; ret; }", NULL},
    {".func g() { ret; }\n.entry f() { .reg .u64 r; add.u64 r, r, g+4; ret; }", "GD012"},
    {".entry f() { .reg .u32 r; txq.width.b32 r, [r]; ret; }", "GD012"},
    {".entry f() { .reg .u32 r; .reg .u64 d; txq.width.b32 r, [d]; ret; }", NULL},
    {".global .texref x;\n.entry f() { .reg .u16 h; mov.u16 h, x; ret; }", "GD012"},
    {".visible .align 8 .global .v2 .b32 x;", NULL},
    {".attribute(.managed) .global .b32 x;", NULL},
    {".align 4 .global .align 8 .b32 x;", NULL},
    {".global .v2 .align 8 .b32 x;", "GD016"},
    {".global .b32 .align 8 x;", "GD016"},
    {".global .b32 .v2 x;", "GD016"},
    {".global .v2 .v2 .b32 x;", "GD016"},
    {".global .visible .b32 x;", "GD002"},
    {".entry f(.param .u64 .ptr .global .align 8 x) { ret; }", NULL},
    {".entry f(.align 8 .param .u64 .align 4 x) { ret; }", NULL},
    {".entry f(.param .u64 .ptr .align 8 .global x) { ret; }", "GD016"},
    {".entry f(.param .u64 .ptr .global .shared x) { ret; }", "GD016"},
    {".entry f(.param .u64 .align 8 .align 8 x) { ret; }", "GD016"},
    {".entry f(.param .ptr .u64 x) { ret; }", "GD016"},
    {".entry f() { .pragma \"used_bytes_mask 0xf\"; ret; }", NULL},
    {".entry f() { .pragma \"used_bytes_mask 08\"; ret; }", "GD017"},
    {".entry f() { .pragma \"used_bytes_mask\"; ret; }", "GD017"},
    {".entry f() { .pragma \"frequency 1\"; ret; }", NULL},
    {".entry f() { .pragma \"frequency -1\"; ret; }", "GD017"},
    {".entry f() { .pragma \"anything\"; ret; }", NULL},
    {".pragma \"nounroll\";", NULL},
    {".pragma \"anything\";", "GD017"},
    {".pragma \"used_bytes_mask 1\";", "GD017"},
    {".entry f() { \n.loc 4294967295 1 1\n ret; }", NULL},
    {".entry f() { \n.loc 4294967296 1 1\n ret; }", "GD016"},
    {".entry f() { \n.loc 1 4294967296 1\n ret; }", "GD016"},
    {".entry f() { .reg .u32 r; p: .callprototype _ (.param .b32 _) .noreturn; mov.u32 r, 1; ret; "
     "}",
     NULL},
    {".entry f() { .reg .u32 r; p: .callprototype _ (.param .b32 _) mov.u32 r, 1; ret; }", "GD002"},
    {".entry f() { .reg .u32 r; p: .callprototype x (); mov.u32 r, 1; ret; }", "GD002"},
    {".entry f() { .reg .u32 r; p: .callprototype _ () .maxntid 5; mov.u32 r, 1; ret; }", "GD002"},
    {".entry f() { .reg .u32 r; p: .callprototype _ (.local .b32 _); mov.u32 r, 1; ret; }",
     "GD016"},
    {".entry f() { .reg .u32 r; p: .callprototype (.param .b32 _, .param .b32 _) _; mov.u32 r, 1; "
     "ret; }",
     "GD016"},
    {".entry f() { .reg .u32 r; p: .callprototype (.reg .b32 _, .reg .b32 _) _; mov.u32 r, 1; ret; "
     "}",
     NULL},
    {".entry f()\n.reg .u32 r;\nmov.u32 r, 1; ret; }", "GD002"},
    {".global .b32 x;\n.global .u32 y[4] = {1 2};", "GD016"},
    {".global .b32 x;\n.global .u32 y[4] = {1,,2};", "GD002"},
    {".global .b32 x;\n.global .u32 y[4] = {1,};", "GD002"},
    {".global .b32 x;\n.global .u32 y[4] = {1+};", "GD016"},
    {".global .b32 x;\n.global .u32 y[4] = {-1};", NULL},
    {".global .b32 x;\n.global .u32 y[4] = {1<<2};", NULL},
    {".global .b32 x;\n.global .u32 y[4] = {1.0<2.0};", NULL},
    {".global .b32 x;\n.global .u32 y[4] = {-1.0};", "GD016"},
    {".global .b32 x;\n.global .u32 y[4] = {x+4};", NULL},
    {".global .b32 x;\n.global .u32 y[4] = {x-4};", "GD016"},
    {".global .b32 x;\n.global .u32 y[4] = {4+x};", "GD016"},
    {".global .b32 x;\n.global .u32 y[4] = {generic(x)};", NULL},
    {".global .b32 x;\n.global .u32 y[4] = {generic(x+4)};", "GD013"},
    {".global .b32 x;\n.global .u32 y[4] = {0xff(x)};", NULL},
    {".global .b32 x;\n.global .u32 y[4] = {0xfff(x)};", "GD016"},
    {".global .f32 y = -0d3FF0000000000000;", NULL},
    {".global .f32 y = -0f3F800000;", "GD016"},
    {".global .f32 y = 1+1;", "GD016"},
    {".global .f32 y = 1.0*2.0;", NULL},
    {".global .f32 y = (0f3F800000);", NULL},
    {".global .b32 y = \"x\";", "GD016"},
    {".global .b32 x;\n.global .b64 y = x+4;", "GD016"},
    {".visible .visible .entry f() { ret; }", "GD016"},
    {".common .func g() { ret; }", "GD016"},
    {".entry f() { .reg .u32 r; ld.shared.u32 r, [%ntid+4]; ret; }", "GD012"},
    {".entry f() { .reg .u32 r; ld.shared.u32 r, [%laneid+4]; ret; }", NULL},
    {".entry f() { .reg .u64 d; ld.u64 d, d[8]; ret; }", "GD012"},
    {".global .u64 x[4];\n.entry f() { .reg .u64 d; mov.u64 d, x[2]; ret; }", NULL},
    {".entry f() { .reg .f32 a; .reg .s32 i; .reg .b64 d; tex.2d.v4.f32.f32 {a, a, a, a}, [d, {a, "
     "i}]; ret; }",
     "GD012"},
    {".entry f() { .reg .f32 a; .reg .b32 r; .reg .f16x2 h; .reg .b64 d; tex.2d.v4.f32.f32 {a, a, "
     "a, a}, [d, {h, r}]; ret; }",
     NULL},
    {".entry f() { .reg .f64 e; mov.f64 e, 1.0/0.0; ret; }", "GD012"},
    {".func g();\n.entry f() { ret; }", "GD016"},
    {".func g();\n.func g() { ret; }\n.entry f() { call g; ret; }", NULL},
    {".func g() { ret; }\n.func h;\n.alias h, g;\n.entry f() { ret; }", NULL},
    {".extern .func g();\n.entry f() { call g; ret; }", NULL},
    {".section .pred { .b8 1 }", "GD002"},
    {".entry f() { .reg .b64 d; .reg .u32 u; .reg .pred p; st.global.v2.u32 [d], {u, p}; ret; }",
     "GD012"},
    {".entry f() { .reg .b64 d; mov.u64 d, -f; ret; }", "GD012"},
    {".entry f() { .reg .b64 d; ld.global.b32 {%gridid}, [d]; ret; }", NULL},
    {".func (.param .b32 r) g(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [r]; ret; }", "GD012"},
    {".func (.param .b32 r) g(.param .b32 a) { .reg .b32 x; st.param.b32 [a], x; ret; }", "GD012"},
    {".func (.param .b32 r) g(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], "
     "x; ret; }",
     NULL},
    {".func g() { ret; }\n.func h;\n.alias h, g;\n.alias h, g;", "GD015"},
    {".func g() { ret; }\n.global .s64 t = g;", "GD016"},
    {".func g() { ret; }\n.global .u64 t = g;", NULL},
    {".entry f() { .reg .b16 h<4>; .reg .b64 d; .reg .b32 r; suld.b.1d.b16.trap {h0, h1}, [d, "
     "{r}]; ret; }",
     NULL},
    {".entry f() { .reg .b16 h<4>; .reg .b64 d; .reg .b32 r; suld.b.1d.b16.trap {h0, h1, h2}, [d, "
     "{r}]; ret; }",
     "GD012"},
    {".entry g() { barrier.sync 1, 0; ret; }", NULL},
    {".entry g() { bar.arrive 1, 0; ret; }", "GD012"},
    {".entry g() { barrier.cta.arrive 1, !256; ret; }", "GD012"},
    {".entry g() { barrier.arrive 1, 64; ret; }", NULL},
    {".func g() .noreturn { trap; }", NULL},
    {".func g() .noreturn .noreturn { trap; }", "GD017"},
    {".func g() .abi_preserve 4 .abi_preserve 4 { ret; }", "GD017"},
    {".entry g() .maxntid 32 .maxntid 32 { ret; }", NULL},
    {".func h() { ret; }\n.entry g() { .reg .b64 d; t: .calltargets h; mov.b64 d, h; call d, t; "
     "ret; }",
     NULL},
    {".func h() { ret; }\n.entry g() { .reg .b64 d; t: .calltargets h; mov.b64 d, h; call d, t+4; "
     "ret; }",
     "GD012"},
    {".global .texref t;\n.entry g() { .reg .u32 r; txq.width.b32 r, [t]; ret; }", NULL},
    {".global .texref t;\n.entry g() { .reg .u32 r; txq.width.b32 r, [t+4]; ret; }", "GD012"},
    {".entry g() { .reg .u32 r; .reg .b64 d; suq.width.b32 r, [d+8]; ret; }", "GD012"},
    {".entry g() { .reg .pred p; .reg .b64 d; st.global.u64 [d], p+1; ret; }", "GD012"},
    {".entry g() { .reg .pred p; .reg .u32 r; add.u32 r, r, p+1; ret; }", "GD012"},
    {".entry g() { .reg .pred p; .reg .u32 r; cvt.u32.u64 r, p+1; ret; }", "GD012"},
    {".entry g() { .reg .pred p; .reg .u32 r; mov.u32 r, p+1; ret; }", "GD012"},
    {".entry g() { .reg .pred p<2>; mov.pred p0, p1+1; ret; }", NULL},
    {".entry g() { .reg .u32 r; mbarrier.arrive.shared::cluster.b64 !_, [r]; ret; }", "GD012"},
    {".entry g() { .reg .u32 r; mbarrier.arrive.shared::cluster.b64 _, [r]; ret; }", NULL},
    {".entry g() { .reg .u32 r; .reg .b16 h; mov.b32 {!_, h}, r; ret; }", "GD012"},
    {".entry g() { .reg .b64 d; .reg .f32 f<4>; tex.uni.2d.v4.f32.f32 {f0, f1, f2, f3}, [d, {f0, "
     "f1}]; "
     "ret; }",
     NULL},
    {".entry g() { .reg .b64 d; .reg .b32 r; suld.b.uni.1d.b32.trap {r}, [d, {r}]; ret; }",
     "GD011"},
    {".entry g() { .reg .b32 r<4>; .reg .b64 d<4>; cvt.rn.f16x2.f32 r0, d0, d1; ret; }", NULL},
    {".entry g() { .reg .b32 r<4>; .reg .b64 d<4>; cvt.rn.bf16x2.f32 r0, d0, d1; ret; }", "GD012"},
    {".entry g() { .reg .b32 r<4>; .reg .f32 f<4>; cvt.rn.bf16x2.f32 r0, r0, f1; ret; }", NULL},
    {".entry g() { .reg .b16 h; .reg .b64 d<4>; .reg .f32 f<4>; cvt.rn.satfinite.e4m3x2.f32 h, f0, "
     "d1; ret; }",
     "GD012"},
    {".entry g() { .reg .b32 WARP_SZ; ret; }", "GD016"},
    {".entry g() { WARP_SZ: bra WARP_SZ; ret; }", "GD016"},
    {".entry g(.param .b32 WARP_SZ) { ret; }", "GD016"},
    {".global .b32 WARP_SZ;", "GD016"},
    {".entry WARP_SZ() { ret; }", "GD016"},
    {".entry g() { .reg .b32 WARP_SZ1, warp_sz; ret; }", NULL},
    {".entry g(.param .f16x2 a[4]) { ret; }", NULL},
    {".entry g(.param .f16x2 a) { ret; }", "GD016"},
    {".entry g() { .reg .pred p; .reg .b32 r<4>; { .param .b32 a; @p st.param.b32 [a], r0; } ret; "
     "}",
     "GD012"},
    {".entry g() { .reg .pred p; .reg .b32 r<4>; { .param .b32 a; @!p ld.param.b32 r0, [a+0]; } "
     "ret; }",
     "GD012"},
    {".entry g() { .reg .pred p; .reg .b32 r<4>; { .param .b32 a; st.param.b32 [a], r0; @p "
     "ld.param.b32 r1, [a]; } ret; }",
     "GD012"},
    {".func (.param .b32 a) g() { .reg .pred p; .reg .b32 r<4>; @p st.param.b32 [a], r0; ret; }",
     NULL},
    {".entry g(.param .b32 a) { .reg .pred p; .reg .b32 r<4>; @p ld.param.b32 r0, [a]; ret; }",
     NULL},
    {".entry g() { .reg .b32 r<4>; .reg .f32 f<4>; "
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0, f1, f2, f3}, {r0, 5, r2, r3}, {r0, "
     "r1}, {f0, f1, f2, f3}; ret; }",
     NULL},
    {".entry g() { .reg .b32 r<4>; .reg .f32 f<4>; "
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0, f1, f2, f3}, {r0, WARP_SZ, r2, "
     "1.5}, {r0, r1}, {f0, f1, f2, f3}; ret; }",
     NULL},
    {".entry g() { .reg .b32 r<4>; .reg .f32 f<4>; "
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0, f1, f2, f3}, {f0, 5, f2, f3}, {r0, "
     "r1}, {f0, f1, f2, f3}; ret; }",
     "GD012"},
    {".entry g() { .reg .b32 r<4>; .reg .f32 f<4>; "
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0, f1, f2, f3}, {5, 5, 5, 5}, {r0, "
     "r1}, {f0, f1, f2, f3}; ret; }",
     "GD012"},
    {".entry g() { .reg .b32 r<4>; .reg .b64 d<4>; st.global.v2.u32 [d0], {r0, 1.5}; ret; }", NULL},
    {".entry g() { .reg .b64 d<4>; .reg .u32 u<4>; st.global.v2.u32 [d0], {u0, 1.5}; ret; }",
     "GD012"},
    {".entry g() { .reg .b64 d<4>; .reg .f32 f<4>; st.global.v2.u32 [d0], {f0, 1.5}; ret; }", NULL},
    {".entry g() { .reg .b64 d<4>; .reg .f32 f<4>; st.global.v2.u32 [d0], {f0, 0f3F800000}; ret; }",
     "GD012"},
    {".entry g() { .reg .b64 d<4>; .reg .f32 f<4>; st.global.v2.b32 [d0], {f0, 5}; ret; }",
     "GD012"},
    {".entry g() { .reg .b64 d<4>; .reg .f32 f<4>; st.global.v2.b32 [d0], {f0, 1.5}; ret; }", NULL},
    {".entry g() { .reg .b64 d<4>; .reg .f16x2 x<4>; st.global.v2.b32 [d0], {x0, 1.5}; ret; }",
     "GD012"},
    {".entry g() { .reg .b32 r<4>; .reg .b64 d<4>; mov.b64 d0, {r0, 5}; ret; }", NULL},
    {".entry g() { .reg .b64 d<4>; .reg .f32 f<4>; mov.b64 d0, {f0, 5}; ret; }", "GD012"},
    {".entry g() { .reg .b64 d<4>; .reg .f32 f<4>; mov.b64 d0, {f0, 1.5}; ret; }", NULL},
    /* a backslash, control characters, comments */
    {".entry f() { .reg .b32 r; add.u32 r, r, 1; \\\n ret; }", NULL},
    {".entry f() { .reg .b32 r; L: \\\n add.u32 r, r, 1; ret; }", NULL},
    {".entry f() { .reg .b32 r; .reg .pred p; @p \\ add.u32 r, r, 1; ret; }", NULL},
    {".entry f() { .reg .b32 r; add.u32 r, \\\n r, 1; ret; }", "GD002"},
    {".entry f() { \\\n }", "GD002"},
    {"\\\n.entry f() { ret; }", "GD002"},
    {".entry f() {\x1a ret; }", NULL},
    {".entry f() {\v ret; }", "GD001"},
    /* numbers */
    {".entry f() { .reg .b64 d; mov.b64 d, 18446744073709551616; ret; }", NULL},
    {".entry f() { .reg .b64 d; mov.b64 d, 0x7FFFFFFFFFFFFFFFF; ret; }", NULL},
    {".entry f() { .reg .b64 d; mov.b64 d, 0x8FFFFFFFFFFFFFFFF; ret; }", "GD002"},
    {".entry f(.param .u64 .ptr .align 1_) { ret; }", NULL},
    {".entry f(.param .u64 .ptr .align 16a) { ret; }", NULL},
    {".entry f() { .reg .b32 r; mov.u32 r, (.u64)5; ret; }", NULL},
    {".entry f() { .reg .b32 r; mov.u32 r, (.u32)5; ret; }", "GD002"},
    {".entry f() { .reg .b32 r; mov.u32 r, 1+(.b64)5; ret; }", "GD002"},
    {".entry f() { .reg .b64 d; .reg .b32 r; ld.global.u32 r, [d+(.s32)4]; ret; }", "GD002"},
    {".global .u32 a = (.u32)5;\n.entry f() { ret; }", "GD016"},
    {".global .u32 a = (.s64)5;\n.entry f() { ret; }", NULL},
    /* declarations of nothing, and names that are none */
    {".global .u32;\n.entry f() { .reg .b32; .local .align 4 .b32; ret; }", NULL},
    {".global .align 4;\n.entry f() { ret; }", "GD002"},
    {".global .u32 a, ;\n.entry f() { ret; }", "GD002"},
    {".global .u32 a[2] = {};\n.entry f() { ret; }", NULL},
    {".global .u32 a[2][2] = {{}, {1}};\n.entry f() { ret; }", NULL},
    {".global .u32 a[] = {};\n.entry f() { ret; }", "GD002"},
    {".global .v4 .f32 a[2] = {};\n.entry f() { ret; }", NULL},
    {".global .v4 .f32 a = {};\n.entry f() { ret; }", "GD002"},
    {".global .u32 _;\n.entry f() { ret; }", "GD016"},
    {".global .u32 $;\n.entry f() { ret; }", "GD016"},
    {".global .u32 $a;\n.entry f() { ret; }", NULL},
    {".global .u32 %laneid;\n.entry f() { ret; }", "GD016"},
    {".global .u32 %pm7;\n.entry f() { ret; }", "GD016"},
    {".global .u32 %pm8;\n.entry f() { ret; }", NULL},
    {".func %tid() { ret; }\n.entry f() { ret; }", "GD016"},
    {".entry f() { .reg .b32 %tid<3>, %clock; ret; }", NULL},
    {".entry f(.param .u32 $) { ret; }", "GD016"},
    {".entry f(.param .u32 a, .param .u32 _) { ret; }", NULL},
    {".func g(.param .u32 _) { ret; }\n.entry f() { ret; }", "GD016"},
    {".entry f() { .reg .b32 _; ret; }", "GD016"},
    {".entry f() { _: ret; }", "GD016"},
    {".entry f() { $: ret; }", "GD016"},
    {".entry f() { @_ ret; }", "GD012"},
    {".entry f() { .reg .b32 z2; .reg .b32 z<4>; ret; }", "GD015"},
    {".entry f() { .reg .b32 z0; .reg .b32 z<4>; ret; }", NULL},
    {".entry f() { .reg .b32 z4, z02; .reg .b32 z<4>; ret; }", NULL},
    {".entry f() { z2: .reg .b32 z<4>; ret; }", NULL},
    {".entry f() { .reg .b32 z2; { .reg .b32 z<4>; } ret; }", NULL},
    {".entry f() { .shared .b32 z2; .reg .b32 z<4>; ret; }", "GD015"},
    {".entry f(.param .b32 z2) { .reg .b32 z<4>; ret; }", "GD015"},
    {".global .b32 z2;\n.entry f() { .reg .b32 z<4>; ret; }", NULL},
    /* special registers */
    {".entry f() { .reg .b32 r; mov.u32 r, %pm7; mov.u32 r, %envreg31; ret; }", NULL},
    {".entry f() { .reg .b32 r; mov.u32 r, %pm8; ret; }", "GD013"},
    {".entry f() { .reg .b32 r; mov.u32 r, %pm07; ret; }", "GD013"},
    {".entry f() { .reg .b32 r; mov.u32 r, %envreg32; ret; }", "GD013"},
    {".entry f() { .reg .b32 r; mov.u32 r, %envreg; ret; }", "GD013"},
    /* functions, and characters */
    {".entry f() { ret; } // \xc3\xa9", "GD001"},
    {".entry f() { /* \xc3\xa9 */ ret; }", "GD001"},
    {".entry f() { .pragma \"\xc3\xa9\"; ret; }", "GD001"},
    {".extern .func g();\n.func g() { ret; }\n.entry f() { ret; }", "GD016"},
    {".func g();\n.visible .func g() { ret; }\n.entry f() { ret; }", "GD016"},
    {".extern .func g();\n.visible .func g() { ret; }\n.entry f() { ret; }", "GD016"},
    {".weak .func g();\n.visible .func g() { ret; }\n.entry f() { ret; }", "GD016"},
    {".entry f();\n.visible .entry f() { ret; }", "GD016"},
    {".visible .func g();\n.func g() { ret; }\n.entry f() { ret; }", NULL},
    {".weak .func g();\n.func g() { ret; }\n.entry f() { ret; }", NULL},
    {".visible .entry f();\n.entry f() { ret; }", NULL},
    {".entry f(.param .b32 a[4][4]) { ret; }", "GD016"},
    {".func g(.param .b32 a[4][4]) { ret; }\n.entry f() { ret; }", "GD016"},
    {".func (.param .b32 a[4][4]) g() { ret; }\n.entry f() { ret; }", "GD016"},
    {".entry f() { .param .b32 a[4][4]; ret; }", NULL},
    {".func (.reg .pred r) g() { ret; }\n.entry f() { .reg .pred p; call (p), g; ret; }", "GD012"},
    {".func g(.reg .pred r) { ret; }\n.entry f() { .reg .pred p; call g, (p); ret; }", "GD012"},
    {".func g(.reg .pred r) { ret; }\n.entry f() { ret; }", NULL},
    {".global .attribute(.managed) .u32 a;\n.entry f() { ret; }", NULL},
    {".global .attribute(.unified) .u32 a;\n.entry f() { ret; }", "GD016"},
    {".global .attribute(.unified(1)) .u32 a;\n.entry f() { ret; }", "GD016"},
    {".global .attribute(.managed(1)) .u32 a;\n.entry f() { ret; }", "GD016"},
    {".func .attribute(.managed) g() { ret; }\n.entry f() { ret; }", "GD016"},
    /* labels of lists */
    {".entry f() { .reg .b32 r; L: brx.idx r, L; ret; }", "GD012"},
    {".entry f() { .reg .b32 r; L: .branchtargets M; M: brx.idx r, L; ret; }", NULL},
    {".entry f() { .reg .b32 r; L: K: .branchtargets M; M: brx.idx r, L; ret; }", "GD012"},
    {".func g() { ret; }\n.entry f() { .reg .b32 r; L: .calltargets g; brx.idx r, L; ret; }",
     "GD012"},
    {".func g() { ret; }\n.entry f() { L: .calltargets g; bra L; ret; }", "GD012"},
    /* sections */
    {".section .debug_str { .b8 1, -1, 0x10 .b16 65535\n .b64 -1 L: M: .b32 L+4 .b32 M-L .b32 "
     ".debug_str .b32 .debug_abbrev+4 .b64 f }\n.entry f() { ret; }",
     NULL},
    {".section .debug_str { }\n.entry f() { ret; }", NULL},
    {".section .debug_str { .b8 1,,2 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 1, }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 1 2 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 1; }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 {1} }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 1+1 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 \"a\" }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 WARP_SZ }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b32 1.5 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { add.u32 r, r, 1; }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .loc 1 2 3 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .align 4 .b8 1 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b8 256 }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { .b8 -129 }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { .b16 65536 }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { .b32 -2147483649 }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { .b32 4294967296 }\n.entry f() { ret; }", NULL},
    {".section .debug_str { .u8 1 }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { .b128 1 }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { .b16 L L: }\n.entry f() { ret; }", "GD016"},
    {".section .debug_str { L: } .section .debug_abbrev { L: }\n.entry f() { ret; }", "GD015"},
    {".section .debug_str { L: .b32 L+-4 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { L: .b32 L-4 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { L: .b32 L, L }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { L: .b32 5, L }\n.entry f() { ret; }", "GD002"},
    /* guards, arguments and prototypes */
    {".entry f() { .reg .b32 r; @%is_explicit_cluster mov.b32 r, 1; @!%is_explicit_cluster ret; "
     "ret; }",
     NULL},
    {".entry f() { .reg .b32 r; @%laneid mov.b32 r, 1; ret; }", "GD012"},
    {".entry f(.param .u64 p) { .reg .b64 a; .reg .b32 r<3>; ld.param.u64 a, [p]; "
     "wmma.store.d.sync.aligned.row.m16n16k16.f16 [a], {r0, r1, r2, r0}; ret; }",
     NULL},
    {".entry f(.param .u64 p) { .reg .b64 a; .reg .b32 r<3>; ld.param.u64 a, [p]; "
     "wmma.store.d.sync.aligned.row.m16n16k16.f16 [a], {r0, r1, r2, %laneid}; ret; }",
     "GD012"},
    {".global .b32 x[4];\n.func g(.param .b32 a) { ret; }\n.entry f() { call g, (x[1]); ret; }",
     "GD002"},
    {".entry f() { P: .callprototype _ (.param .pred a); ret; }", NULL},
    {".entry f() { .reg .b64 d; .reg .pred v; P: .callprototype _ (.reg .pred a); call d, (v), P; "
     "ret; }",
     "GD012"},
    {".entry f() { .reg .b64 d; .param .u16 v; P: .callprototype (.param .u16 a) _ (); call (v), "
     "d, P; ret; }",
     "GD012"},
    {".entry f() { .reg .b64 d; .param .b16 v; P: .callprototype _ (.param .b16 a); call d, (v), "
     "P; ret; }",
     NULL},
    {".section .debug_str { .b32 .b64 }\n.entry f() { ret; }", "GD002"},
    {".section .debug_str { .b32 .0x1 }\n.entry f() { ret; }", "GD002"},
    {".section ._str { .b8 1 }\n.entry f() { ret; }", "GD002"},
    /* textures, surfaces and samplers */
    {".global .texref t;\n.entry f() { .reg .b32 r; txq.width.b32 r, [t]; txq.filter_mode.b32 r, "
     "[t]; ret; }",
     NULL},
    {".global .surfref t;\n.entry f() { .reg .b32 r; txq.width.b32 r, [t]; ret; }", "GD012"},
    {".global .u64 t;\n.entry f() { .reg .b32 r; txq.width.b32 r, [t]; ret; }", "GD012"},
    {".global .texref t;\n.entry f() { .reg .b32 r; suq.width.b32 r, [t]; ret; }", "GD012"},
    {".global .surfref t;\n.entry f() { .reg .b32 r; suq.width.b32 r, [t]; ret; }", NULL},
    {".entry f(.param .surfref t) { .reg .b32 r; txq.width.b32 r, [t]; ret; }", "GD012"},
    {".global .texref t;\n.entry f() { .reg .pred p; istypep.texref p, t; ret; }", "GD012"},
    /* state spaces of variables */
    {".global .u32 a;\n.shared .u32 b;\n.entry f() { .reg .b64 d; cvta.global.u64 d, a; "
     "cvta.shared.u64 d, b+4; mapa.u64 d, b, 1; ret; }",
     NULL},
    {".global .u32 a;\n.entry f() { .reg .b64 d; cvta.shared.u64 d, a; ret; }", "GD012"},
    {".entry f(.param .u64 a) { .reg .b64 d; cvta.global.u64 d, a; ret; }", "GD012"},
    {".global .u32 a;\n.entry f() { .reg .b64 d; mapa.u64 d, a, 1; ret; }", "GD012"},
    {".global .u32 a;\n.entry f() { .reg .b32 r; getctarank.shared::cluster.u64 r, a; ret; }",
     "GD012"},
    {".global .u64 a;\n.entry f() { mbarrier.init.b64 [a], 1; ret; }", "GD012"},
    /* expressions */
    {".entry f() { .reg .b32 r; st.shared.b32 x[1], r; ret; }", "GD012"},
    {".shared .b32 x1[4];\n.entry f() { .reg .b32 r; st.shared.b32 x1[1], r; ret; }", NULL},
    {".func g(.param .b32 a) { ret; }\n.entry f() { .param .b32 p, q; call g, (p^q); ret; }",
     "GD012"},
    /* what stands within an instruction's name */
    {".entry f() { cp.async .commit_group; ret; }", "GD011"},
    {".entry f() { cp .async.commit_group; ret; }", "GD011"},
    {".entry f() { .reg .b32 r; mul/**/.lo.u32 r, r, r; ret; }", "GD011"},
    {".entry f() { .reg .b32 r; mul.lo .u32 r, r, r; ret; }", NULL},
    {".entry f() { bar.warp .sync -1; bar .sync 0; griddepcontrol .wait; ret; }", NULL},
    {".entry f() { bar .warp.sync -1; ret; }", "GD011"},
    {".entry f() { barrier.cluster .wait; ret; }", "GD011"},
    {".entry f() { .reg .f32 a<2>; .reg .b64 d; cvt.rn.bf16x2.f32 d, a0, a1; ret; }", "GD012"},
    {".entry f() { .reg .b32 r; fence.proxy .async; mbarrier.init .shared.b64 [r], 1; ret; }",
     NULL},
    {".entry f() { fence .proxy.async; ret; }", "GD011"},
    {".entry f() { .reg .b64 d; cvta .to.global.u64 d, d; ret; }", "GD011"},
};

/* The same with heads of their own. */
static const asked_text asked_whole[] = {
    {".version 1.3\n.target sm_13\n.entry f { .reg .f32 a; div.f32 a, a, a; sin.f32 a, a; ret; }\n",
     NULL},
    {".version 1.4\n.target sm_13\n.entry f { .reg .f32 a; div.f32 a, a, a; ret; }\n", "GD014"},
    {".version 3.1\n.target sm_20\n.entry f { .reg .f32 a; mad.f32 a, a, a, a; ret; }\n", NULL},
    {".version 2.0\n.target sm_20\n.entry f .maxnctapersm 1 { ret; }\n", NULL},
    {".version 2.1\n.target sm_20\n.entry f .maxnctapersm 1 { ret; }\n", "GD017"},
    {".version 9.0\n.target sm_75\n.address_size 32\n.entry f { ret; }\n", "GD017"},
    {".version 9.0\n.target sm_90\n.entry f { ret; }\n", NULL},
    {".version 9.0\n.target compute_90\n.entry f { ret; }\n", NULL},
    {".version 9.0\n.target compute_90a\n.entry f { ret; }\n", NULL},
    {".version 9.0\n.target compute_90f\n.entry f { ret; }\n", "GD017"},
    {".version 9.0\n.target compute_90\n.entry f { wgmma.fence.sync.aligned; ret; }\n", "GD014"},
    {".version 9.0\n.target compute_90a\n.entry f { wgmma.fence.sync.aligned; ret; }\n", NULL},
    {".version 8.99\n.target sm_90\n.entry f { ret; }\n", "GD017"},
    {".version 3.0\n.target sm_10, map_f64_to_f32\n.entry f { ret; }\n", NULL},
    {".version 3.0\n.target sm_13, map_f64_to_f32\n.entry f { ret; }\n", "GD017"},
    {".version 9.0\n.target sm_90, debug\n.entry f { ret; }\n", "GD017"},
    {".version 9.0\n.target sm_90, debug\n.section .debug_str { .b8 1 }\n.entry f { ret; }\n",
     NULL},
    {".version 2.0\n.target sm_20, debug\n.entry f { ret; }\n", "GD014"},
#define DEBUG_INFO(target, bytes)                                                                  \
    ".version 9.0\n.target " target                                                                \
    "\n.section .debug_abbrev { .b8 0 }\n.section .debug_info { .b32 " bytes                       \
    " .b8 2, 0 .b32 .debug_abbrev .b8 8, 0 }\n.entry f { ret; }\n"
    {DEBUG_INFO("sm_90, debug", "8"), NULL},
    {DEBUG_INFO("sm_90, debug", "7"), "GD016"},
    {DEBUG_INFO("sm_90, debug", "9"), "GD016"},
    {DEBUG_INFO("sm_90", "9"), NULL},
    {".version 8.10\n.target sm_90\n.entry f { ret; }\n", NULL}, /* 9.0 */
    {".version 7.80\n.target sm_90\n.entry f { ret; }\n", "GD017"},
    {".version 9.0\n.target sm_90, texmode_independent\n.global .texref t;\n.global .samplerref "
     "s;\n.entry f() { .reg .b32 r; txq.width.b32 r, [t]; txq.filter_mode.b32 r, [s]; "
     "txq.force_unnormalized_coords.b32 r, [s]; ret; }\n",
     NULL},
    {".version 9.0\n.target sm_90, texmode_independent\n.global .texref t;\n.entry f() { .reg .b32 "
     "r; txq.filter_mode.b32 r, [t]; ret; }\n",
     "GD012"},
    {".version 9.0\n.target sm_90, texmode_unified, texmode_independent\n.entry f { ret; }\n",
     "GD017"},
    {".version 9.0\n.target debug, sm_90\n.section .debug_str { .b8 1 }\n.entry f { ret; }\n",
     "GD017"},
    {".version 9.0\n.target sm_80\n.target sm_90\n.entry g() { griddepcontrol.wait; ret; }\n.entry "
     "f { ret; }\n",
     NULL},
    {".version 9.0\n.target sm_90\n.target sm_80\n.entry g() { griddepcontrol.wait; ret; }\n.entry "
     "f { ret; }\n",
     "GD101"},
    {".version 9.0\n.target sm_80, sm_90\n.entry g() { griddepcontrol.wait; ret; }\n.entry f { "
     "ret; }\n",
     NULL},
    {".version 9.0\n.target sm_90\n.global .b32 x;\n.target sm_90\n.entry f { ret; }\n", "GD017"},
    {".version 2.2\n.target sm_20\n.address_size 64\n.entry f { ret; }\n", "GD014"},
    {".version 1.4\n.target sm_13\n.section .debug_str { .b8 1 }\n.entry f { ret; }\n", "GD014"},
    {".version 1.4\n.target sm_13\n.pragma \"nounroll\";\n.entry f { ret; }\n", "GD014"},
    {".version 3.0\n.target sm_30\n.weak .global .b32 x;\n.entry f { ret; }\n", "GD014"},
    {".version 2.0\n.target sm_20\n.entry g() .reqntid 1 { ret; }\n.entry f { ret; }\n", "GD014"},
    {".version 8.2\n.target sm_90\n.entry g() { .pragma \"used_bytes_mask 1\"; ret; }\n.entry f { "
     "ret; }\n",
     "GD014"},
    {".version 8.8\n.target sm_90\n.entry g() { .pragma \"frequency 1\"; ret; }\n.entry f { ret; "
     "}\n",
     "GD014"},
    {".version 8.2\n.target sm_90\n.shared .b128 x[4];\n.entry f { ret; }\n", NULL},
    {".version 8.2\n.target sm_90\n.shared .b128 x;\n.entry f { ret; }\n", "GD014"},
    {".version 2.3\n.target sm_13\n.entry g() { .reg .u64 d; .reg .u32 r; ld.u32 r, [d]; ret; "
     "}\n.entry f { ret; }\n",
     "GD012"},
    {".version 2.3\n.target sm_20\n.entry g() { .reg .u64 d; .reg .u32 r; ld.u32 r, [d]; ret; "
     "}\n.entry f { ret; }\n",
     NULL},
    {".version 9.0\n.target sm_90\n.entry g() { .reg .u32 r; ld.global.u32 r, [r]; ret; }\n.entry "
     "f { ret; }\n",
     "GD012"},
    {".version 2.0\n.target sm_20\n.entry g() { .reg .u32 r; ld.global.u32 r, [r]; ret; }\n.entry "
     "f { ret; }\n",
     "GD012"},
    {".version 9.0\n.target sm_80\n.entry g() { .reg .b32 r<4>; shfl.sync.idx.b32 r0, r1+1, 0, 31, "
     "-1; ret; }\n.entry f { ret; }\n",
     "GD012"},
    {".version 9.0\n.target sm_80\n.entry g() { .reg .b32 r<4>; bar.sync r1+1; ret; }\n.entry f { "
     "ret; }\n",
     NULL},
    {".version 9.0\n.target sm_80\n.entry g() { .reg .b32 r<4>; barrier.sync r1+1; ret; }\n.entry "
     "f { ret; }\n",
     "GD012"},
    {".version 7.5\n.target sm_80\n.entry f { .reg .u32 r; mov.u32 r, %reserved_smem_offset_1; "
     "ret; }\n",
     "GD014"},
    {".version 7.6\n.target sm_80\n.entry f { .reg .u32 r; mov.u32 r, %reserved_smem_offset_1; "
     "ret; }\n",
     NULL},
    {".version 8.0\n.target sm_80\n.entry f { .reg .u32 r; mov.u32 r, %clusterid.x; ret; }\n",
     "GD014"},
    {".version 1.4\n.target sm_13\n.func g(.param .u32 a) { ret; }\n.entry f { ret; }\n", "GD016"},
    {".version 8.0\n.target sm_90\n.entry f(.param .u32 p) { .reg .u32 a, b, c; ld.param.u32 a, "
     "[p]; "
     "ld.global.u32 b, [a]; add.u32 c, a, 4; st.global.u32 [c], b; ret; }\n",
     "GD012"},
};

static void judge(const asked_text *row, const char *head)
{
    gd_text text = {0};

    gd_text_string(&text, head);
    gd_text_string(&text, row->text);
    griddep_findings *findings = check_text(gd_text_get(&text), text.bytes, "asked.ptx", NULL, 0);
    uint32_t errors = 0;
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        if (finding.severity != GRIDDEP_SEVERITY_ERROR)
            continue;
        ck_assert_msg(row->code && !strcmp(row->code, finding.code), "%s\n%s %s", row->text,
                      finding.code, finding.text);
        errors++;
    }
    ck_assert_msg(errors == (row->code ? 1 : 0), "%s\n%u errors", row->text, (unsigned)errors);
    griddep_findings_destroy(findings);
    gd_text_free(&text);
}

LOOP_TEST(golden, asked_texts_are_judged_as_ptxas_judges_them, COUNT(asked))
{
    judge(&asked[_i], ".version 9.0\n.target sm_90\n.address_size 64\n");
}

LOOP_TEST(golden, asked_heads_are_judged_as_ptxas_judges_them, COUNT(asked_whole))
{
    judge(&asked_whole[_i], "");
}

/* The words of findings that stand for others, or whose hint says what to write. */
TEST(golden, findings_say_what_to_write)
{
    static const struct {
        const char *text, *words, *hint;
    } cases[] = {
        {".entry f() { .reg .b32 r; shfl.bfly.b32 r, r, 1, 31; ret; }",
         "this form of shfl is gone since .version 6.4 on sm_70 and later", "write it with .sync"},
        {".entry f() { .reg .f32 a; mad.f32 a, a, a, a; ret; }",
         "this form of mad is gone since .version 3.2 on sm_20 and later",
         "write it with one of .rn, .rz, .rm, .rp"},
        {".entry f() { .reg .f32 a; add.f32 a a, a; ret; }", "found 'a', expected ',' or ';'",
         "is a ',' lost in front of this?"},
        {".entry f() { exit\nret; }", "found 'ret', expected ',' or ';'",
         "the statement before this has no ';' at its end"},
        {".entry f() { add.f32 %a, %b, %a; ret; }", "%a, %b are not declared here, in 3 places",
         "is the line lost that declares them?"},
        {".entry f() { .reg .f32 a, b; .reg .f32 a, b; ret; }",
         "a is declared here already, as are 1 more of its names", NULL},
        {".entry f() { .reg .b32 a; .reg .b64 w; mov.b64 w, {a, a, a}; ret; }",
         "mov: operand 2 has 3 elements, which make up no .b64", NULL},
        {".entry f() { bar.sync 17; ret; }",
         "bar.sync: operand 1 is out of range; at most 15 is expected", NULL},
        {".entry f() { bar.arrive 1, 0; ret; }",
         "bar.arrive: operand 2 is out of range; a multiple of 32 above 0 is expected", NULL},
        {".entry f() { .reg .b32 a; max.bf16 a, a, a; ret; }",
         "max: operand 1 is a .b32 register; a .b16 register is expected", NULL}};

    for (int i = 0; i < COUNT(cases); i++) {
        gd_text text = {0};
        gd_text_string(&text, ".version 9.0\n.target sm_90\n.address_size 64\n");
        gd_text_string(&text, cases[i].text);
        griddep_findings *findings = check_text(gd_text_get(&text), text.bytes, "t.ptx", NULL, 0);
        griddep_finding finding = get(findings, 0);
        ck_assert_str_eq(finding.text, cases[i].words);
        if (cases[i].hint)
            ck_assert_str_eq(finding.hint, cases[i].hint);
        griddep_findings_destroy(findings);
        gd_text_free(&text);
    }
}

/* Each code about a text has a case that fires and a neighbour that does not, but for the code of a
 * full list, which a_full_list_keeps_the_worst makes. */
TEST(golden, each_code_has_its_golden_files)
{
    for (int code = 0; code < GD_CODE_COUNT && gd_codes[code].name[2] < '2'; code++) {
        static const char *const kinds[] = {"fires", "quiet"};
        if (code == GD_CODE_GD004)
            continue;
        for (int k = 0; k < COUNT(kinds); k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s_%s.expect", GOLDEN, gd_codes[code].name, kinds[k]);
            ck_assert_msg(access(path, R_OK) == 0, "%s is not there", path);
        }
    }
}

/* Cut anywhere, a text must neither crash nor leak. */
static void truncate_text(const char *path, const char *name, const char *text, size_t bytes)
{
    (void)path;
    if (bytes > 8000)
        return;
    for (size_t i = 0; i < bytes; i += 7) {
        char *cut = malloc(i + 1); /* to the byte, so that a sanitizer sees a read beyond */
        memcpy(cut, text, i);
        griddep_findings_destroy(check_text(cut, i, name, NULL, 0));
        free(cut);
    }
}

TEST(golden, any_prefix_of_a_text_can_be_checked)
{
    each_golden(truncate_text);
}

/* ---- codes ---- */

TEST(findings, codes_can_be_listed_and_found)
{
    const gd_code_info *info;
    char last[8] = "";
    uint32_t i;

    for (i = 0; (info = gd_code_at(i)) != NULL; i++) {
        char lower[8];
        ck_assert_str_gt(info->name, last);
        snprintf(last, sizeof last, "%s", info->name);
        snprintf(lower, sizeof lower, "gd%s", info->name + 2);
        ck_assert_ptr_eq(gd_code_find(info->name), info);
        ck_assert_ptr_eq(gd_code_find(lower), info);
        ck_assert_int_ge(info->severity, GRIDDEP_SEVERITY_NOTE);
        ck_assert_int_le(info->severity, GRIDDEP_SEVERITY_ERROR);
        ck_assert_uint_gt(strlen(info->title), 5);
        ck_assert_msg(ends_with(info->page, "\n"), "%s", info->name);
    }
    ck_assert_uint_eq(i, GD_CODE_COUNT);
    ck_assert_ptr_null(gd_code_find("GD999"));
    ck_assert_ptr_null(gd_code_find("GD1100"));
    ck_assert_ptr_null(gd_code_find("GD11"));
    ck_assert_ptr_null(gd_code_find(""));
}

/* ---- the list ---- */

static void add(griddep_findings *findings, gd_code code, int32_t severity, int32_t launch,
                int32_t line, const char *text)
{
    const gd_finding_draft draft = {.code = code,
                                    .severity = severity,
                                    .launch = launch,
                                    .line = line,
                                    .column = line ? 1 : 0,
                                    .token = GD_PTX_NONE};

    gd_findings_add(findings, &draft, "%s", text);
}

TEST(findings, findings_are_ordered_and_folded)
{
    griddep_findings *findings = gd_findings_create();

    add(findings, GD_CODE_GD110, 0, 1, 9, "c");
    add(findings, GD_CODE_GD110, 0, 0, 20, "b");
    add(findings, GD_CODE_GD110, 0, -1, 30, "a");
    add(findings, GD_CODE_GD110, 0, -1, 30, "the same place");
    add(findings, GD_CODE_GD111, 0, -1, 30, "another code");
    add(findings, GD_CODE_GD201, 0, 1, 0, "no place");
    add(findings, GD_CODE_GD201, 0, 1, 0, "no place");
    add(findings, GD_CODE_GD201, 0, 1, 0, "no place, another text");
    ck_assert_uint_eq(griddep_findings_count(findings), 6);
    ck_assert_str_eq(get(findings, 0).text, "a");
    ck_assert_str_eq(get(findings, 1).text, "another code");
    ck_assert_str_eq(get(findings, 2).text, "b");
    ck_assert_str_eq(get(findings, 3).text, "no place");
    ck_assert_str_eq(get(findings, 4).text, "no place, another text");
    ck_assert_str_eq(get(findings, 5).text, "c");
    griddep_findings_destroy(findings);
}

TEST(findings, the_more_severe_of_two_is_kept)
{
    griddep_findings *findings = gd_findings_create();

    add(findings, GD_CODE_GD120, GRIDDEP_SEVERITY_WARNING, -1, 5, "perhaps");
    add(findings, GD_CODE_GD120, 0, -1, 5, "surely");
    add(findings, GD_CODE_GD120, GRIDDEP_SEVERITY_NOTE, -1, 5, "hardly");
    ck_assert_uint_eq(griddep_findings_count(findings), 1);
    ck_assert_str_eq(get(findings, 0).text, "surely");
    ck_assert_int_eq(get(findings, 0).severity, GRIDDEP_SEVERITY_ERROR);
    griddep_findings_destroy(findings);
}

TEST(findings, a_full_list_keeps_the_worst)
{
    griddep_findings *findings = gd_findings_create();

    for (int32_t i = 1; i <= GD_FINDINGS_LIMIT; i++)
        add(findings, GD_CODE_GD142, 0, -1, i, "note");
    ck_assert_uint_eq(griddep_findings_count(findings), GD_FINDINGS_LIMIT);
    add(findings, GD_CODE_GD110, 0, -1, 5000, "error");
    ck_assert_uint_eq(griddep_findings_count(findings), GD_FINDINGS_LIMIT + 1);
    ck_assert_str_eq(get(findings, GD_FINDINGS_LIMIT - 1).text, "error");
    ck_assert_str_eq(get(findings, GD_FINDINGS_LIMIT).code, "GD004");
    ck_assert_int_eq(get(findings, GD_FINDINGS_LIMIT).severity, GRIDDEP_SEVERITY_NOTE);
    ck_assert_int_eq(get(findings, GD_FINDINGS_LIMIT - 2).line, GD_FINDINGS_LIMIT - 1);
    add(findings, GD_CODE_GD142, 0, -1, 6000, "note");
    ck_assert_int_eq(get(findings, GD_FINDINGS_LIMIT - 2).line, GD_FINDINGS_LIMIT - 1);
    for (int32_t i = 1; i <= GD_FINDINGS_LIMIT; i++)
        add(findings, GD_CODE_GD111, 0, -1, i, "error");
    ck_assert_int_eq(get(findings, GD_FINDINGS_LIMIT).severity, GRIDDEP_SEVERITY_ERROR);
    for (uint32_t i = 0; i < GD_FINDINGS_LIMIT; i++)
        ck_assert_int_eq(get(findings, i).severity, GRIDDEP_SEVERITY_ERROR);
    griddep_findings_destroy(findings);
}

/* ---- the shelf ---- */

typedef struct shelf_case {
    const char *path;
    const char *constants[7];
} shelf_case;

/* matvec_bf16 uses one register for offsets into weight and for the address in y; provenance knows
 * one origin a register. That exempts reads only: a write to y before the wait would still be
 * found. */
static const shelf_case shelf[] = {
    {"elementwise/vector_add.ptx", {NULL}},
    {"elementwise/vector_add.sm_80.ptx", {NULL}},
    {"norm/rms_norm.ptx", {"weight"}},
    {"norm/rms_norm.sm_80.ptx", {"weight"}},
    {"softmax/softmax.ptx", {NULL}},
    {"softmax/softmax.sm_80.ptx", {NULL}},
    {"linear/matvec_bf16.ptx", {"weight"}},
    {"test/spin.ptx", {NULL}},
    {"attention/attention_decode_bf16.ptx", {"k_cache", "v_cache", "rotary", "positions"}},
    {"attention/attention_decode_paged_bf16.ptx",
     {"k_pool", "v_pool", "page_table", "rotary", "positions"}},
    {"attention/rotary_append_bf16.ptx", {"page_table", "rotary", "positions", "sequences"}},
    {"linear/linear_bf16.ptx", {"weight", "up", "norm", "bias"}},
    {"linear/linear_f16.ptx", {"weight", "up", "norm", "bias"}},
    {"linear/linear_fp8.ptx", {"weight", "up", "scale", "up_scale", "norm", "bias"}},
    {"linear/linear_fp8_block.ptx", {"weight", "up", "scale", "up_scale", "norm", "bias"}},
    {"linear/linear_int4.ptx", {"weight", "up", "norm", "bias"}},
    {"linear/skinny_int4.ptx", {"weight", "up", "norm", "bias"}},
    {"linear/skinny_bf16.ptx", {"weight", "up", "norm", "bias"}},
    {"linear/skinny_f16.ptx", {"weight", "up", "norm", "bias"}},
    {"linear/skinny_fp8.ptx", {"weight", "up", "scale", "up_scale", "norm", "bias"}},
    {"elementwise/add_bf16.ptx", {NULL}},
    {"elementwise/cast_f32_e4m3.ptx", {NULL}},
    {"elementwise/copy_bytes.ptx", {NULL}},
    {"elementwise/silu_multiply_f16.ptx", {NULL}},
    {"embedding/embedding_gather.ptx", {"table"}},
    {"norm/layer_norm_bf16.ptx", {"weight", "bias"}},
    {"norm/layer_norm_residual_f16.ptx", {"weight", "bias"}},
    {"norm/rms_norm_residual_bf16.ptx", {"weight"}},
    {"sampling/argmax_bf16.ptx", {NULL}},
    {"sampling/sample_f32.ptx", {NULL}},
    {"linear/gemm_bf16.ptx", {"weight_map", "up_map"}},
    {"linear/gemm_n64_f16.ptx", {"weight_map", "up_map"}},
};

static char *read_shelf(const shelf_case *item, size_t *bytes)
{
    char path[4096], *text;

    snprintf(path, sizeof path, "%s/ptx/%s", SOURCE_DIRECTORY, item->path);
    if (gd_file_read(path, &text, bytes, &error) == GRIDDEP_OK)
        return text;
    snprintf(path, sizeof path, "%s/ptx/%s", BUILD_DIRECTORY, item->path); /* made by m4 */
    ck_good(gd_file_read(path, &text, bytes, &error));
    return text;
}

static int32_t worst_of(const shelf_case *item, const char *text, gd_text *shown)
{
    uint32_t constants = 0;
    while (item->constants[constants] != NULL)
        constants += 1;
    griddep_findings *findings =
        check_text(text, strlen(text), item->path, item->constants, constants);
    int32_t severity = worst(findings);

    if (shown)
        show_full(shown, findings);
    griddep_findings_destroy(findings);
    return severity;
}

LOOP_TEST(mutations, shelf_kernels_are_clean, COUNT(shelf))
{
    const shelf_case *item = &shelf[_i];
    size_t bytes;
    char *text = read_shelf(item, &bytes);
    gd_text shown = {0};

    ck_assert_msg(worst_of(item, text, &shown) <= GRIDDEP_SEVERITY_NOTE, "%s", gd_text_get(&shown));
    gd_text_free(&shown);
    free(text);
}

/* Text with a stretch of it replaced. */
static char *replace(const char *text, const char *at, size_t bytes, const char *with)
{
    gd_text made = {0};

    gd_text_append(&made, text, (size_t)(at - text));
    gd_text_string(&made, with);
    gd_text_string(&made, at + bytes);
    ck_assert(!made.failed);
    return made.data;
}

static void must_fire(const shelf_case *item, char *text, const char *what)
{
    ck_assert_msg(worst_of(item, text, NULL) >= GRIDDEP_SEVERITY_WARNING, "%s: %s was not noticed",
                  item->path, what);
    free(text);
}

/* Threads that do not wait and touch constants alone: the order holds, and that is noted. */
static void must_note(const shelf_case *item, char *text, const char *what)
{
    gd_text shown = {0};

    worst_of(item, text, &shown);
    ck_assert_msg(strstr(gd_text_get(&shown), "GD121") != NULL, "%s: %s was not noted", item->path,
                  what);
    gd_text_free(&shown);
    free(text);
}

/* Each wait of a kernel that triggers: taken away, moved behind the first load, given to one warp
 * only. Where warps have waits of their own, those that come last read constants alone: without
 * that wait the order holds, and a note says that not all wait. */
LOOP_TEST(mutations, mutations_of_shelf_kernels_fire, COUNT(shelf))
{
    static const char wait[] = "griddepcontrol.wait;",
                      trigger[] = "griddepcontrol.launch_dependents;\n";
    const shelf_case *item = &shelf[_i];
    size_t bytes;
    char *text = read_shelf(item, &bytes);

    if (!strstr(text, trigger)) {
        char *body = strstr(text, "    ld.param");
        char *triggers = replace(text, body, 0, trigger);
        free(text);
        text = triggers;
    }
    for (const char *at = text; (at = strstr(at, wait)) != NULL; at++) {
        const bool of_fetchers = strstr(text, wait) != at && !strstr(at + 1, wait);
        void (*const must)(const shelf_case *, char *, const char *) =
            of_fetchers ? must_note : must_fire;
        must(item, replace(text, at, sizeof wait - 1, ""), "a wait taken away");
        char *without = replace(text, at, sizeof wait - 1, "");
        char *load = strstr(without + (at - text), "ld.global");
        ck_assert(load || of_fetchers);
        if (load)
            must(item, replace(without, strchr(load, ';') + 1, 0, "\n    griddepcontrol.wait;"),
                 "a wait behind the first load");
        free(without);
        must(item,
             replace(text, at, sizeof wait - 1,
                     "{ .reg .pred one; .reg .b32 t; mov.u32 t, %tid.x; shr.u32 t, t, 5; "
                     "setp.eq.u32 one, t, 0; "
                     "@one griddepcontrol.wait; }"),
             "a wait for one warp only");
    }
    free(text);
}

/* A barrier of a correct kernel taken away. */
TEST(mutations, barriers_of_nvcc_kernels_matter)
{
    char *text;
    size_t bytes;

    ck_good(gd_file_read(GOLDEN "/nvcc_quiet.ptx", &text, &bytes, &error));
    const shelf_case item = {"nvcc_quiet.ptx", {NULL}};
    char *one_waits = strstr(text, ".entry one_waits");
    ck_assert_ptr_nonnull(one_waits);
    char *barrier = strstr(one_waits, "bar.sync");
    must_fire(&item, replace(text, barrier, (size_t)(strchr(barrier, ';') + 1 - barrier), ""),
              "a barrier taken away");
    char *pipeline = strstr(text, ".entry pipeline");
    char *poll = strstr(strstr(strstr(pipeline, "mbarrier.try_wait") + 1, "mbarrier.try_wait"),
                        "mbarrier.try_wait");
    must_fire(&item, replace(text, poll, (size_t)(strchr(poll, ';') + 1 - poll), ""),
              "an mbarrier wait taken away");
    free(text);
}

/* ---- chains ---- */

#define ENTRY(name, body)                                                                          \
    ".visible .entry " name                                                                        \
    "(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %a<4>;\n    .reg .f32 %f<4>;\n"           \
    "    ld.param.u64 %a0, [in];\n    ld.param.u64 %a1, [out];\n" body "    ret;\n}\n"
#define LOAD "    ld.global.f32 %f0, [%a0];\n"
#define STORE "    st.global.f32 [%a1], %f0;\n"
#define WAIT "    griddepcontrol.wait;\n"
#define TRIGGER "    griddepcontrol.launch_dependents;\n"

static const char kernels[] = HEAD ENTRY("first", TRIGGER WAIT LOAD STORE) /* triggers first */
    ENTRY("covered", WAIT TRIGGER LOAD STORE)                     /* triggers behind the wait */
    ENTRY("quiet", WAIT LOAD STORE)                               /* never triggers */
    ENTRY("reads", TRIGGER LOAD WAIT STORE)                       /* reads before the wait */
    ENTRY("writes", TRIGGER STORE WAIT LOAD)                      /* writes before the wait */
    ENTRY("bare", TRIGGER LOAD STORE)                             /* no wait */
    ENTRY("counts", TRIGGER "    red.global.add.u32 [%a1], 1;\n") /* no wait, atomic */
    ENTRY("counts_cta", TRIGGER "    red.cta.global.add.u32 [%a1], 1;\n")
        ENTRY("plain", LOAD STORE) /* neither */
    ENTRY("fenced",
          WAIT LOAD STORE "    fence.acq_rel.gpu;\n" TRIGGER) /* releases, then triggers */
    ENTRY("released", WAIT "    fence.acq_rel.gpu;\n" TRIGGER LOAD STORE)
        ENTRY("ahead", "    fence.acq_rel.gpu;\n" WAIT TRIGGER LOAD STORE) /* fences, then waits */
    ENTRY("cached", TRIGGER WAIT "    ld.global.nc.f32 %f0, [%a0];\n" STORE) /* non-coherent */
    ENTRY("chases",
          TRIGGER "    ld.global.u64 %a2, [%a0];\n    ld.global.f32 %f0, [%a2];\n" WAIT STORE);

static const char old_kernels[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n" ENTRY("old", LOAD STORE);

typedef struct step {
    const char
        *entry; /* "memset": no kernel; "?": a kernel whose code is not known; NULL: the end */
    uint32_t in, out; /* buffers */
    int32_t pdl;      /* or IN */
    int32_t access;   /* of in; 0 with a known kernel: READ */
} step;

typedef struct chain_case {
    const char *what;
    const char *expect; /* launch:code:severity, in order */
    step steps[5];
} chain_case;

enum {
    AUTO = GRIDDEP_PDL_AUTO,
    OFF = GRIDDEP_PDL_OFF,
    FORCE = GRIDDEP_PDL_FORCE,
    CONSTANT = GRIDDEP_ACCESS_CONSTANT
};

/* In another lane than 0, and after a launch of another lane, counted from 1; 0: after none. */
#define IN(lane, after) ((lane) << 4 | (after) << 8)

static const chain_case chain_cases[] = {
    {"a line of kernels that wait",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 2, 3, 0, 0}, {"first", 3, 4, 0, 0}}},
    {"two buffers in turn, all wait",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 2, 1, 0, 0}, {"first", 1, 2, 0, 0}, {"first", 2, 1, 0, 0}}},
    {"a transitive gap: the one between has no wait",
     "2:GD201:3",
     {{"first", 1, 2, 0, 0}, {"bare", 8, 9, FORCE, 0}, {"first", 2, 3, 0, 0}}},
    {"its neighbour: the one between waits",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 8, 9, 0, 0}, {"first", 2, 3, 0, 0}}},
    {"its neighbour: the last one is not dependent",
     "",
     {{"first", 1, 2, 0, 0}, {"bare", 8, 9, FORCE, 0}, {"first", 2, 3, OFF, 0}}},
    {"a gap over a launch that overlapped itself",
     "3:GD201:3",
     {{"first", 1, 2, 0, 0},
      {"first", 2, 3, 0, 0},
      {"bare", 8, 9, FORCE, 0},
      {"first", 3, 4, 0, 0}}},
    /* The nearest of the older writers is told, once; without a text a finding has no position that
     * would fold them. */
    {"a gap behind two writers: one finding",
     "1:GD205:3 3:GD201:3 3:GD202:3 3:GD205:2",
     {{"plain", 1, 2, OFF, 0},
      {"bare", 8, 2, FORCE, 0},
      {"bare", 7, 9, FORCE, 0},
      {"?", 2, 2, FORCE, GRIDDEP_ACCESS_UPDATE}}},
    {"two buffers in turn, the one between has no wait",
     "0:GD207:3 1:GD205:3 2:GD201:3 2:GD202:3",
     {{"first", 1, 2, 0, 0}, {"bare", 2, 3, FORCE, 0}, {"first", 2, 1, 0, 0}}},
    {"a write before the wait of what the launch before reads",
     "1:GD202:3",
     {{"first", 1, 2, 0, 0}, {"writes", 2, 1, 0, 0}}},
    {"its neighbour: another buffer", "", {{"first", 1, 2, 0, 0}, {"writes", 2, 3, 0, 0}}},
    {"a write before the wait of what the launch before that reads",
     "2:GD202:3",
     {{"first", 1, 2, 0, 0}, {"first", 2, 3, 0, 0}, {"writes", 3, 1, 0, 0}}},
    {"the one between triggers behind its wait",
     "2:GD202:3",
     {{"first", 1, 2, 0, 0}, {"covered", 2, 3, 0, 0}, {"writes", 3, 1, 0, 0}}},
    {"its neighbour: with a release fence between wait and trigger",
     "",
     {{"first", 1, 2, 0, 0}, {"released", 2, 3, 0, 0}, {"writes", 3, 1, 0, 0}}},
    {"a release fence before the wait",
     "2:GD202:3",
     {{"first", 1, 2, 0, 0}, {"ahead", 2, 3, 0, 0}, {"writes", 3, 1, 0, 0}}},
    {"a node between kernels",
     "1:GD203:1",
     {{"first", 1, 2, 0, 0}, {"memset", 0, 0, 0, 0}, {"first", 2, 3, 0, 0}}},
    {"its neighbour: the node ends the chain", "", {{"first", 1, 2, 0, 0}, {"memset", 0, 0, 0, 0}}},
    {"the first launch forced", "0:GD204:1", {{"first", 1, 2, FORCE, 0}}},
    {"a lane's first launch forced",
     "1:GD204:1 2:GD204:1",
     {{"first", 1, 2, 0, 0},
      {"first", 4, 5, IN(1, 0) | FORCE, 0},
      {"first", 2, 3, IN(2, 1) | FORCE, 0}}},
    {"a launch behind a node forced",
     "1:GD203:1 2:GD204:1",
     {{"first", 1, 2, 0, 0}, {"memset", 0, 0, 0, 0}, {"first", 2, 3, FORCE, 0}}},
    {"PTX for older chips, which cannot wait, forced",
     "0:GD207:3 1:GD205:3",
     {{"first", 1, 2, 0, 0}, {"old", 2, 3, FORCE, 0}}},
    {"its neighbour: forced where it has an effect",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 2, 3, FORCE, 0}}},
    {"no wait, and reads what a trigger stands in front of",
     "0:GD207:3 1:GD205:3",
     {{"first", 1, 2, 0, 0}, {"bare", 2, 3, FORCE, 0}}},
    {"no wait, the producer never triggers",
     "1:GD205:3",
     {{"quiet", 1, 2, 0, 0}, {"bare", 2, 3, FORCE, 0}}},
    {"no wait, a release fence in front of the trigger",
     "0:GD141:1 1:GD205:2",
     {{"fenced", 1, 2, 0, 0}, {"bare", 2, 3, FORCE, 0}}},
    {"no wait, nothing shared", "", {{"first", 1, 2, 0, 0}, {"bare", 3, 4, FORCE, 0}}},
    {"no wait, buffers not known", "1:GD205:2", {{"first", 1, 2, 0, 0}, {"bare", 0, 0, FORCE, 0}}},
    {"unknown code forced", "1:GD205:2", {{"first", 1, 2, 0, 0}, {"?", 2, 3, FORCE, 0}}},
    {"its neighbour: unknown code at auto", "", {{"first", 1, 2, 0, 0}, {"?", 2, 3, 0, 0}}},
    {"a read before the wait of what the launch before writes",
     "1:GD206:3",
     {{"first", 1, 2, 0, 0}, {"reads", 2, 3, 0, 0}}},
    {"its neighbour: nothing that may run writes it",
     "",
     {{"first", 1, 2, 0, 0}, {"reads", 1, 3, 0, 0}}},
    {"a read before the wait of what the launch before that writes",
     "2:GD206:3",
     {{"first", 1, 2, 0, 0}, {"first", 2, 3, 0, 0}, {"reads", 2, 4, 0, 0}}},
    {"the one between triggers behind its wait",
     "2:GD206:3",
     {{"first", 1, 2, 0, 0}, {"covered", 2, 3, 0, 0}, {"reads", 2, 4, 0, 0}}},
    {"its neighbour: with a release fence between wait and trigger",
     "",
     {{"first", 1, 2, 0, 0}, {"released", 2, 3, 0, 0}, {"reads", 2, 4, 0, 0}}},
    {"a producer without a trigger", "1:GD208:1", {{"quiet", 1, 2, 0, 0}, {"first", 2, 3, 0, 0}}},
    {"a constant that is written",
     "0:GD209:3",
     {{"first", 1, 2, 0, 0}, {"first", 2, 3, 0, CONSTANT}}},
    {"a constant that is counted up",
     "0:GD209:3",
     {{"counts", 1, 2, 0, 0}, {"counts", 2, 3, OFF, CONSTANT}}},
    {"its neighbour: a constant that is not",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 4, 3, 0, CONSTANT}}},
    {"two lanes that share nothing",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 3, 4, IN(1, 0), 0}, {"first", 2, 5, 0, 0}}},
    {"two lanes that read the same",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 1, 4, IN(1, 0), 0}, {"first", 2, 5, 0, 0}}},
    {"a lane reads what another one writes, and nothing orders them",
     "1:GD212:3",
     {{"first", 1, 2, 0, 0}, {"first", 2, 4, IN(1, 0), 0}}},
    {"its neighbour: it waits", "", {{"first", 1, 2, 0, 0}, {"first", 2, 4, IN(1, 1), 0}}},
    {"its neighbour: it waits for a later launch of that lane",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 6, 7, 0, 0}, {"first", 2, 4, IN(1, 2), 0}}},
    {"it waits for an earlier one than the writer",
     "2:GD212:3",
     {{"first", 1, 6, 0, 0}, {"first", 6, 2, 0, 0}, {"first", 2, 4, IN(1, 1), 0}}},
    {"two lanes that update the same by atomic operations",
     "1:GD212:2",
     {{"counts", 1, 2, 0, 0}, {"counts", 3, 2, IN(1, 0), 0}}},
    {"atomic in a CTA alone",
     "1:GD212:3",
     {{"counts", 1, 2, 0, 0}, {"counts_cta", 3, 2, IN(1, 0), 0}}},
    {"one of them is not atomic",
     "1:GD212:3",
     {{"counts", 1, 2, 0, 0}, {"first", 3, 2, IN(1, 0), 0}}},
    {"atomic operations and no wait",
     "0:GD207:2 1:GD205:2",
     {{"counts", 1, 2, OFF, 0}, {"counts", 3, 2, FORCE, 0}}},
    {"a fork and a join",
     "",
     {{"first", 1, 2, 0, 0},
      {"first", 2, 3, 0, 0},
      {"first", 2, 4, IN(1, 1), 0},
      {"first", 4, 5, IN(0, 3), 0}}},
    {"a lane's hop is with the launch before in the lane",
     "2:GD206:3",
     {{"first", 1, 2, 0, 0}, {"first", 6, 7, IN(1, 0), 0}, {"reads", 2, 3, 0, 0}}},
    {"its neighbour: the launch before is of another lane",
     "",
     {{"first", 1, 2, 0, 0}, {"first", 6, 7, 0, 0}, {"reads", 8, 3, IN(1, 0), 0}}},
    {"a read before the wait of what the other lane's launch writes",
     "1:GD206:3",
     {{"first", 1, 2, 0, 0}, {"reads", 2, 3, IN(1, 1), 0}}},
    {"its neighbour: not launched dependently",
     "",
     {{"first", 1, 2, 0, 0}, {"reads", 2, 3, IN(1, 1) | OFF, 0}}},
    {"a gap across lanes: the one that is waited for does not wait itself",
     "2:GD201:3",
     {{"first", 1, 2, 0, 0}, {"bare", 8, 9, FORCE, 0}, {"first", 2, 3, IN(1, 2), 0}}},
    {"a kernel without a wait at auto",
     "1:GD211:1",
     {{"first", 1, 2, 0, 0}, {"plain", 2, 3, 0, 0}}},
    {"its neighbour: switched off", "", {{"first", 1, 2, 0, 0}, {"plain", 2, 3, OFF, 0}}},
    {"a non-coherent read", "1:GD130:2", {{"first", 1, 2, 0, 0}, {"cached", 2, 3, 0, 0}}},
    {"its neighbour: of what nothing writes", "", {{"first", 1, 2, 0, 0}, {"cached", 1, 3, 0, 0}}},
    {"an address that cannot be traced",
     "1:GD112:2",
     {{"first", 1, 2, 0, 0}, {"chases", 7, 3, 0, 0}}},
};

static griddep_ptx *parse(const char *text)
{
    griddep_ptx *ptx = NULL;

    ck_assert_msg(griddep_ptx_parse(text, strlen(text), "kernels.ptx", &ptx, &error) == GRIDDEP_OK,
                  "%s", error.text);
    return ptx;
}

static uint32_t fill_launches(const chain_case *item, const griddep_ptx *ptx,
                              const griddep_ptx *old, gd_check_launch *launches,
                              griddep_use (*arguments)[2])
{
    static uint32_t earlier[] = {0, 0, 1, 2, 3};
    uint32_t count = 0;

    for (const step *at = item->steps; count < 5 && at->entry; at++, count++) {
        bool kernel = strcmp(at->entry, "memset") != 0, known = kernel && *at->entry != '?';
        arguments[count][0] = (griddep_use){.buffer = at->in,
                                            .access = at->access ? at->access
                                                      : known    ? GRIDDEP_ACCESS_READ
                                                                 : GRIDDEP_ACCESS_UNKNOWN};
        arguments[count][1] = (griddep_use){
            .buffer = at->out, .access = known ? GRIDDEP_ACCESS_WRITE : GRIDDEP_ACCESS_UNKNOWN};
        launches[count] =
            (gd_check_launch){.node = kernel ? GRIDDEP_GRAPH_NODE_KERNEL : GRIDDEP_GRAPH_NODE_FILL,
                              .ptx = !known                      ? NULL
                                     : !strcmp(at->entry, "old") ? old
                                                                 : ptx,
                              .entry = at->entry,
                              .uses = arguments[count],
                              .use_count = kernel ? 2 : 0,
                              .pdl = at->pdl & 15,
                              .lane = (uint32_t)at->pdl >> 4 & 15,
                              .after_count = at->pdl >> 8 > 0,
                              .after = &earlier[at->pdl >> 8]};
    }
    return count;
}

/* What a buffer holds against what the kernel takes: each element type by itself, and sizes of any
 * type. */
TEST(chains, elements_are_held_against_the_kernels)
{
    static const struct {
        const char *wanted, *given;
        bool right;
    } cases[] = {
        {"bf16", "bf16", true}, {"bf16", "f16", false}, {"bf16", "u16", false},
        {"b16", "bf16", true},  {"b16", "s16", true},   {"b16", "f32", false},
        {"b8", "e4m3", true},   {"b8", "u8", true},     {"b16", "e5m2", false},
        {"b64", "f64", true},   {"u32", "s32", false},  {"f32", NULL, true},
    };
    char text[4096];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "// extent: in: %s[4]\n%s", cases[i].wanted, kernels);
        griddep_ptx *ptx = parse(text);
        griddep_findings *findings = NULL;
        griddep_use arguments[2] = {{.buffer = 1, .element = cases[i].given},
                                    {.buffer = 2, .element = "f64"}};
        const gd_check_launch launch = {
            .ptx = ptx, .entry = "first", .uses = arguments, .use_count = 2};
        ck_good(gd_check_launches(&launch, 1, &findings, &error));
        griddep_finding finding = {.size = sizeof finding};
        int32_t status = griddep_findings_get(findings, 0, &finding, &error);
        ck_assert_msg(status == (cases[i].right ? GRIDDEP_ERROR_NOT_FOUND : GRIDDEP_OK), "%s of %s",
                      cases[i].given, cases[i].wanted);
        if (!cases[i].right)
            ck_assert_str_eq(finding.code, "GD213");
        griddep_findings_destroy(findings);
        griddep_ptx_destroy(ptx);
    }
}

LOOP_TEST(chains, chains_have_the_expected_findings, COUNT(chain_cases))
{
    const chain_case *item = &chain_cases[_i];
    griddep_ptx *ptx = parse(kernels), *old = parse(old_kernels);
    gd_check_launch launches[5];
    griddep_use arguments[5][2];
    uint32_t count = fill_launches(item, ptx, old, launches, arguments);
    griddep_findings *findings = NULL;
    gd_text shown = {0}, full = {0};

    ck_good(gd_check_launches(launches, count, &findings, &error));
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = get(findings, i);
        gd_text_format(&shown, "%s%" PRId32 ":%s:%" PRId32, i ? " " : "", finding.launch,
                       finding.code, finding.severity);
    }
    show_full(&full, findings);
    ck_assert_msg(!strcmp(gd_text_get(&shown), item->expect),
                  "%s: expected \"%s\", found \"%s\"\n%s", item->what, item->expect,
                  gd_text_get(&shown), gd_text_get(&full));
    gd_text_free(&shown);
    gd_text_free(&full);
    griddep_findings_destroy(findings);
    griddep_ptx_destroy(ptx);
    griddep_ptx_destroy(old);
}

/* Two launches of "first", the second of which reads what the first one writes, with the arguments
 * that the caller sets. */
static griddep_findings *check_two(const char *second, griddep_use out, griddep_use in)
{
    griddep_ptx *ptx = parse(kernels);
    griddep_use one[2] = {{.buffer = 1, .access = GRIDDEP_ACCESS_READ}, out};
    griddep_use two[2] = {in, {.buffer = 9, .access = GRIDDEP_ACCESS_WRITE}};
    const gd_check_launch launches[2] = {
        {.ptx = ptx, .entry = "first", .uses = one, .use_count = 2},
        {.ptx = ptx, .entry = second, .uses = two, .use_count = 2}};
    griddep_findings *findings = NULL;

    ck_good(gd_check_launches(launches, 2, &findings, &error));
    griddep_ptx_destroy(ptx);
    return findings;
}

TEST(chains, ranges_of_a_buffer_are_told_apart)
{
    const griddep_use written = {
        .buffer = 2, .access = GRIDDEP_ACCESS_WRITE, .offset = 0, .bytes = 64};
    griddep_findings *findings = check_two(
        "reads", written,
        (griddep_use){.buffer = 2, .access = GRIDDEP_ACCESS_READ, .offset = 64, .bytes = 64});

    ck_assert_uint_eq(griddep_findings_count(findings), 0);
    griddep_findings_destroy(findings);
    findings = check_two(
        "reads", written,
        (griddep_use){.buffer = 2, .access = GRIDDEP_ACCESS_READ, .offset = 60, .bytes = 64});
    ck_assert(has_code(findings, "GD206"));
    griddep_findings_destroy(findings);
    findings = check_two("reads", (griddep_use){.buffer = 2, .offset = 32},
                         (griddep_use){.buffer = 2, .offset = 1024});
    ck_assert_msg(has_code(findings, "GD206"), "a range without an end goes to the buffer's end");
    griddep_findings_destroy(findings);
}

TEST(chains, a_wrong_declaration_is_found)
{
    griddep_findings *findings =
        check_two("first", (griddep_use){.buffer = 2, .access = GRIDDEP_ACCESS_READ},
                  (griddep_use){.buffer = 3, .access = GRIDDEP_ACCESS_READ});
    griddep_finding finding = get(findings, 0);

    ck_assert_uint_eq(griddep_findings_count(findings), 1);
    ck_assert_str_eq(finding.code, "GD210");
    ck_assert_int_eq(finding.launch, 0);
    ck_assert_str_eq(finding.entry, "first");
    ck_assert_str_eq(finding.file, "kernels.ptx");
    ck_assert_ptr_nonnull(strstr(finding.quote, "st.global.f32 [%a1], %f0;"));
    griddep_findings_destroy(findings);
}

static griddep_chain *chain_of_ptx(void)
{
    griddep_chain *chain = NULL;

    ck_good(griddep_chain_create(NULL, &chain, &error));
    return chain;
}

static void add_entry(griddep_chain *chain, const griddep_ptx *ptx, const char *entry, uint64_t in,
                      uint64_t out)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {4}};
    const griddep_argument arguments[] = {{.bytes = 8, .value = in}, {.bytes = 8, .value = out}};

    ck_assert_msg(griddep_chain_add_ptx(chain, ptx, entry, &config, arguments, 2, &error) ==
                      GRIDDEP_OK,
                  "%s", error.text);
}

static griddep_use use_of(const griddep_chain *chain, uint32_t launch, uint32_t argument)
{
    griddep_use *uses, use;
    uint64_t at = argument;

    ck_good(gd_chain_read_uses(chain, &uses, &error));
    for (uint32_t i = 0; i < launch; i++)
        at += chain->launches[i].given.use_count + (uint64_t)chain->launches[i].given.reach_count;
    use = uses[at];
    free(uses);
    return use;
}

static griddep_findings *check_chain(const griddep_chain *chain)
{
    griddep_findings *findings = NULL;

    ck_good(griddep_chain_check(chain, &findings, &error));
    return findings;
}

TEST(chains, wrong_launches_are_refused)
{
    griddep_ptx *ptx = parse(kernels);
    griddep_chain *chain = chain_of_ptx();
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument arguments[] = {{.bytes = 8}, {.bytes = 4}};
    griddep_use use = {.size = sizeof use};
    griddep_findings *findings = (griddep_findings *)&error;

#define REFUSED(code, ...) ck_assert_int_eq((__VA_ARGS__), GRIDDEP_ERROR_##code)
    REFUSED(NOT_FOUND, griddep_chain_add_ptx(chain, ptx, "nobody", NULL, NULL, 0, &error));
    REFUSED(ARGUMENT, griddep_chain_add_ptx(chain, ptx, NULL, NULL, NULL, 0, &error));
    REFUSED(ARGUMENT, griddep_chain_add_ptx(NULL, ptx, "first", NULL, NULL, 0, &error));
    REFUSED(ARGUMENT, griddep_chain_add_ptx(chain, ptx, "first", NULL, arguments, 2, &error));
    REFUSED(SIGNATURE, griddep_chain_add_ptx(chain, ptx, "first", &config, arguments, 2, &error));
    REFUSED(SIGNATURE, griddep_chain_add_ptx(chain, ptx, "first", &config, arguments, 1, &error));
    config.block[0] = 2048;
    const griddep_argument right[] = {{.bytes = 8}, {.bytes = 8}};
    REFUSED(LIMIT, griddep_chain_add_ptx(chain, ptx, "first", &config, right, 2, &error));
    config.block[0] = 32;
    config.stream = &config;
    REFUSED(ARGUMENT, griddep_chain_add_ptx(chain, ptx, "first", &config, right, 2, &error));
    config.stream = NULL;
    config.pdl = 9;
    REFUSED(ARGUMENT, griddep_chain_add_ptx(chain, ptx, "first", &config, NULL, 0, &error));
    config.pdl = 0;
    config.lane = 1;
    REFUSED(ARGUMENT, griddep_chain_add_ptx(chain, ptx, "first", &config, NULL, 0, &error));
    config.lane = 0;
    config.size = 3;
    REFUSED(STRUCT, griddep_chain_add_ptx(chain, ptx, "first", &config, NULL, 0, &error));
    ck_assert_uint_eq(griddep_chain_length(chain), 0);
    REFUSED(ARGUMENT, griddep_chain_check(chain, NULL, &error));
    REFUSED(ARGUMENT, griddep_chain_check(NULL, &findings, &error));
    ck_assert_ptr_eq(findings, &error);
    findings = check_chain(chain);
    ck_assert_uint_eq(griddep_findings_count(findings), 0);
    griddep_findings_destroy(findings);
    add_entry(chain, ptx, "first", 4096, 8192);
    REFUSED(ARGUMENT, griddep_chain_set_traits(chain, 0, GRIDDEP_TRAIT_WAITS, &error));
    REFUSED(NOT_FOUND, griddep_chain_set_traits(chain, 1, 0, &error));
    REFUSED(NOT_FOUND, griddep_chain_set_use(chain, 1, 0, &use, &error));
    REFUSED(NOT_FOUND, griddep_chain_set_use(chain, 0, 2, &use, &error));
    REFUSED(ARGUMENT, griddep_chain_set_use(chain, 0, 0, NULL, &error));
    use.access = 5;
    REFUSED(ARGUMENT, griddep_chain_set_use(chain, 0, 0, &use, &error));
    use.access = 0;
    use.buffer = UINT32_MAX;
    REFUSED(ARGUMENT, griddep_chain_set_use(chain, 0, 0, &use, &error));
    use.buffer = 0;
    REFUSED(ARGUMENT, griddep_chain_add_ptx(chain, NULL, NULL, NULL, NULL, UINT32_MAX, &error));
    REFUSED(ARGUMENT, griddep_chain_depend(chain, 0, 0, &error));
    REFUSED(NOT_FOUND, griddep_chain_depend(chain, 1, 0, &error));
    REFUSED(ARGUMENT, griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, NULL, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "without a runtime"));
    REFUSED(ARGUMENT, griddep_chain_prepare(chain, GRIDDEP_MODE_GRAPH, &error));
    griddep_explanation *explanation;
    REFUSED(ARGUMENT, griddep_chain_explain(chain, GRIDDEP_MODE_PDL, 0, &explanation, &error));
    griddep_timeline *timeline;
    REFUSED(ARGUMENT, griddep_timeline_create(chain, NULL, &timeline, &error));
    griddep_graph *graph;
    REFUSED(ARGUMENT, griddep_graph_from_chain(chain, GRIDDEP_MODE_GRAPH, &graph, &error));
    griddep_tune *tune;
    const griddep_tune_buffer buffer = {.size = sizeof buffer, .address = 4096, .bytes = 64};
    REFUSED(ARGUMENT, griddep_tune_run(chain, &buffer, 1, NULL, &tune, &error));
    REFUSED(ARGUMENT, griddep_tune_load(chain, 0, &tune, &error));
    griddep_chain_destroy(chain);
    griddep_ptx_destroy(ptx);
}

/* Addresses alone tell what shares a buffer: the same one, and one within what the head comment
 * says of another. The chain holds the text. */
TEST(chains, buffers_are_inferred_from_addresses)
{
    char text[8192];
    snprintf(text, sizeof text, "// extent:\n//   in: f32[16]\n//   out: f32[16]\n%s", kernels);
    griddep_ptx *told = parse(text), *untold = parse(kernels);

    for (int known = 0; known < 2; known++) {
        griddep_chain *same = chain_of_ptx(), *within = chain_of_ptx(), *apart = chain_of_ptx();
        const griddep_ptx *ptx = known ? told : untold;
        add_entry(same, ptx, "first", 4096, 8192);
        add_entry(same, ptx, "reads", 8192, 12288);
        add_entry(within, ptx, "first", 4096, 8192);
        add_entry(within, ptx, "reads", 8192 + 60, 12288);
        add_entry(apart, ptx, "first", 4096, 8192);
        add_entry(apart, ptx, "reads", 8192 + 64, 12288);
        ck_assert_uint_eq(use_of(same, 0, 0).buffer, 1);
        ck_assert_uint_eq(use_of(same, 0, 1).buffer, 2);
        ck_assert_uint_eq(use_of(same, 1, 0).buffer, 2);
        ck_assert_uint_eq(use_of(same, 1, 1).buffer, 3);
        ck_assert_uint_eq(use_of(same, 0, 0).bytes, known ? 64 : 0);
        ck_assert_uint_eq(use_of(within, 1, 0).buffer, known ? 2 : 3);
        ck_assert_uint_eq(use_of(within, 1, 0).offset, known ? 60 : 0);
        ck_assert_uint_eq(use_of(apart, 1, 0).buffer, 3);
        griddep_findings *found[] = {check_chain(same), check_chain(within), check_chain(apart)};
        ck_assert(has_code(found[0], "GD206"));
        ck_assert_int_eq(has_code(found[1], "GD206"), known);
        ck_assert(!has_code(found[2], "GD206"));
        for (size_t i = 0; i < COUNT(found); i++)
            griddep_findings_destroy(found[i]);
        griddep_chain_destroy(same);
        griddep_chain_destroy(within);
        griddep_chain_destroy(apart);
    }
    griddep_chain *chain = chain_of_ptx();
    add_entry(chain, told, "first", 4096, 8192);
    add_entry(chain, told, "reads", 8192, 12288);
    griddep_ptx_destroy(told);
    griddep_ptx_destroy(untold);
    griddep_findings *findings = check_chain(chain);
    ck_assert(has_code(findings, "GD206"));
    griddep_findings_destroy(findings);
    griddep_chain_destroy(chain);
}

/* What is said of an argument counts, also for others that point to the same place. */
TEST(chains, what_is_said_of_an_argument_counts)
{
    griddep_ptx *ptx = parse(kernels);
    griddep_chain *chain = chain_of_ptx();
    const griddep_use elsewhere = {.size = sizeof elsewhere, .buffer = 7};
    griddep_use named = {.size = sizeof named, .buffer = 9, .offset = 256, .bytes = 64};
    char element[] = "f32";

    add_entry(chain, ptx, "first", 4096, 8192);
    add_entry(chain, ptx, "reads", 8192, 12288);
    named.element = element;
    ck_good(griddep_chain_set_use(chain, 0, 1, &named, &error));
    memset(element, 'x', 3);
    ck_assert_str_eq(use_of(chain, 0, 1).element, "f32");
    ck_assert_uint_eq(use_of(chain, 1, 0).buffer, 9);
    ck_assert_uint_eq(use_of(chain, 1, 0).offset, 256);
    ck_assert_uint_eq(use_of(chain, 0, 0).buffer, 10);
    griddep_findings *findings = check_chain(chain);
    ck_assert(has_code(findings, "GD206"));
    griddep_findings_destroy(findings);
    ck_good(griddep_chain_set_use(chain, 1, 0, &elsewhere, &error));
    findings = check_chain(chain);
    ck_assert(!has_code(findings, "GD206"));
    griddep_findings_destroy(findings);
    griddep_chain_destroy(chain);
    griddep_ptx_destroy(ptx);
}

/* ---- the calls ---- */

TEST(calls, wrong_options_are_refused)
{
    const char *names[] = {"x", NULL};
    griddep_check_options options = {
        .size = sizeof options, .constants = names, .constant_count = 2};
    griddep_findings *findings = (griddep_findings *)&error;
    griddep_finding finding = {.size = 1};

    ck_assert_int_eq(griddep_ptx_check(kernels, sizeof kernels, "a", &options, &findings, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    options.constants = NULL;
    ck_assert_int_eq(griddep_ptx_check(kernels, sizeof kernels, "a", &options, &findings, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    options.constant_count = 0;
    options.flags = 1;
    ck_assert_int_eq(griddep_ptx_check(kernels, sizeof kernels, "a", &options, &findings, &error),
                     GRIDDEP_ERROR_STRUCT);
    options.size = 2;
    ck_assert_int_eq(griddep_ptx_check(kernels, sizeof kernels, "a", &options, &findings, &error),
                     GRIDDEP_ERROR_STRUCT);
    ck_assert_int_eq(griddep_ptx_check(NULL, 4, "a", NULL, &findings, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_ptx_check(kernels, sizeof kernels, "a", NULL, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_eq(findings, &error);
    ck_assert_int_eq(griddep_ptx_check(kernels, sizeof kernels, NULL, NULL, &findings, NULL),
                     GRIDDEP_OK);
    ck_assert_int_eq(griddep_findings_get(findings, 0, &finding, &error), GRIDDEP_ERROR_STRUCT);
    finding.size = sizeof finding;
    ck_assert_int_eq(griddep_findings_get(findings, 1000, &finding, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_int_eq(griddep_findings_get(NULL, 0, &finding, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_uint_eq(griddep_findings_count(NULL), 0);
    griddep_findings_destroy(findings);
    griddep_findings_destroy(NULL);
}

/* Each allocation fails once: the call says so, leaves its output alone, and leaks nothing. */
static void starve(const char *path, const char *name, const char *text, size_t bytes)
{
    (void)path;
    if (bytes > 3000)
        return;
    for (long n = 0;; n++) {
        griddep_findings *findings = NULL;
        fail_alloc_after(n);
        int32_t status = griddep_ptx_check(text, bytes, name, NULL, &findings, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        if (!hit) {
            ck_assert_int_eq(status, GRIDDEP_OK);
            griddep_findings_destroy(findings);
            return;
        }
        ck_assert_msg(status == GRIDDEP_ERROR_MEMORY,
                      "%s: allocation %ld failed, the call gave %" PRId32, name, n, status);
        ck_assert_ptr_null(findings);
    }
}

TEST(calls, a_check_without_memory_says_so)
{
    each_golden(starve);
}

static int32_t build_and_check(const griddep_ptx *ptx, griddep_findings **findings)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {4}};
    const griddep_argument arguments[] = {{.bytes = 8, .value = 64}, {.bytes = 8, .value = 128}};
    const griddep_use use = {.size = sizeof use, .buffer = 3, .element = "f32"};
    griddep_chain *chain = NULL;
    int32_t status = griddep_chain_create(NULL, &chain, &error);

    for (int i = 0; i < 2 && !status; i++)
        status = griddep_chain_add_ptx(chain, ptx, "first", &config, arguments, 2, &error);
    if (!status)
        status = griddep_chain_set_use(chain, 1, 1, &use, &error);
    if (!status)
        status = griddep_chain_check(chain, findings, &error);
    griddep_chain_destroy(chain);
    return status;
}

TEST(calls, a_chain_of_ptx_without_memory_says_so)
{
    griddep_ptx *ptx = parse(kernels);
    bool hit = true;

    for (long n = 0; hit; n++) {
        griddep_findings *findings = NULL;
        fail_alloc_after(n);
        int32_t status = build_and_check(ptx, &findings);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
        griddep_findings_destroy(findings);
    }
    griddep_ptx_destroy(ptx);
}

TEST(calls, a_chain_check_without_memory_says_so)
{
    griddep_ptx *ptx = parse(kernels), *old = parse(old_kernels);
    gd_check_launch launches[5];
    griddep_use arguments[5][2];
    uint32_t count = fill_launches(&chain_cases[6], ptx, old, launches, arguments);
    bool hit = true;

    for (long n = 0; hit; n++) {
        griddep_findings *findings = NULL;
        fail_alloc_after(n);
        int32_t status = gd_check_launches(launches, count, &findings, &error);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
        ck_assert(hit == (findings == NULL));
        griddep_findings_destroy(findings);
    }
    griddep_ptx_destroy(ptx);
    griddep_ptx_destroy(old);
}

/* A second a megabyte at most. */
TEST(golden, many_targets_take_no_time)
{
    enum { TARGETS = 300000, MEGABYTES = 7 };
    gd_text text = {0};
    const clock_t start = clock();

    gd_text_string(&text, ".version 9.0\n");
    for (int i = 0; i < TARGETS; i++)
        gd_text_string(&text, ".target sm_90, debug\n");
    griddep_findings *findings = check_text(gd_text_get(&text), text.bytes, "many.ptx", NULL, 0);
    ck_assert_int_gt(griddep_findings_count(findings), 1);
    ck_assert_int_lt((int)((clock() - start) / CLOCKS_PER_SEC), MEGABYTES);
    griddep_findings_destroy(findings);
    gd_text_free(&text);
}

MAIN_OF_SUITE("check")
