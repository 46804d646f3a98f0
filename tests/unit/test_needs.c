/* The versions and targets that instructions need, as ptxas says them:
 * tests/golden/instruction_needs.txt has its answers (tests/fuzz/instruction_needs.py asked). A
 * line is the lowest version, "6.3-" in front where the instruction is gone in later ones, the
 * targets ("sm_80+": and all later ones), and the instruction, which stands in the frame
 * tests/golden/instructions.frame. unfold.h tells how a line of the file is of several
 * instructions. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "griddep.h"
#include "ptx/isa/need.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/status.h"
#include "unfold.h"

#define GOLDEN SOURCE_DIRECTORY "/tests/golden/"

enum { MOST_LINES = 4096, PART = 1, OLDEST = 31, NEWEST = 90, BEFORE_GONE = 63 };

typedef struct line {
    const char *targets, *instruction; /* end at a blank, and at a line's end */
    int32_t version, newest;
    char first[16]; /* of the targets */
} line;

static griddep_error error;
static char *frame;
static gd_text record;
static line lines[MOST_LINES];
static int line_count;

/* ---- the record ---- */

static void read_line(const char *at)
{
    line *one = &lines[line_count++];
    int major, minor;

    ck_assert_int_le(line_count, MOST_LINES);
    one->newest = strncmp(at, "6.3-", 4) == 0 ? BEFORE_GONE : NEWEST;
    at += one->newest == BEFORE_GONE ? 4 : 0;
    ck_assert_int_eq(sscanf(at, "%d.%d %15[a-z0-9_]", &major, &minor, one->first), 3);
    one->version = major * 10 + minor;
    one->targets = strchr(at, ' ') + 1;
    one->instruction = strchr(one->targets, ' ') + 1;
}

static void setup(void)
{
    size_t bytes;
    char *folded;

    griddep_error_init(&error);
    ck_good(gd_file_read(GOLDEN "instructions.frame", &frame, &bytes, &error));
    ck_good(gd_file_read(GOLDEN "instruction_needs.txt", &folded, &bytes, &error));
    unfold(folded, &record);
    free(folded);
    line_count = 0;
    for (const char *at = gd_text_get(&record); *at; at += strcspn(at, "\n") + 1)
        read_line(at);
    ck_assert_int_gt(line_count, 2400);
}

static void teardown(void)
{
    free(frame);
    gd_text_free(&record);
}

static int32_t chip_version(const char *chip)
{
    return gd_need_of_chip(chip, (uint32_t)strlen(chip));
}

/* sm_90a comes behind sm_90. */
static int chip_order(const char *chip)
{
    int order = 0;

    while (gd_need_chip_at((uint32_t)order) && strcmp(gd_need_chip_at((uint32_t)order), chip) != 0)
        order++;
    return order;
}

static bool has_chip(const line *one, const char *chip)
{
    size_t length = strlen(chip);

    if (one->targets[strlen(one->first)] == '+')
        return chip_order(chip) >= chip_order(one->first);
    for (const char *at = one->targets; *at != ' '; at += *at == ',') {
        if (strcspn(at, ", ") == length && memcmp(at, chip, length) == 0)
            return true;
        at += strcspn(at, ", ");
    }
    return false;
}

/* ---- the check ---- */

/* What the check says of some lines in a text of this version and target, by line: a code, or
 * "". */
static void ask(int32_t version, const char *chip, line *const *asked, int count,
                char codes[PART][8])
{
    const char *rest = strchr(strchr(frame, '\n') + 1, '\n') + 1, *hole = strchr(rest, '@');
    gd_text text = {0};
    int first = 3;
    griddep_findings *findings = NULL;

    for (const char *at = rest; at < hole; at++)
        first += *at == '\n';
    gd_text_format(&text, ".version %d.%d\n.target %s\n", (int)(version / 10), (int)(version % 10),
                   chip);
    gd_text_append(&text, rest, (size_t)(hole - rest));
    for (int i = 0; i < count; i++) {
        codes[i][0] = 0;
        gd_text_append(&text, asked[i]->instruction, strcspn(asked[i]->instruction, "\n") + 1);
    }
    gd_text_string(&text, hole + 1);
    ck_good(
        griddep_ptx_check(gd_text_get(&text), text.bytes, "needs.ptx", NULL, &findings, &error));
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        if (griddep_findings_get(findings, i, &finding, &error) != GRIDDEP_OK)
            ck_abort_msg("finding %u: %s", (unsigned)i, error.text);
        int at = finding.line - first;
        if (finding.severity == GRIDDEP_SEVERITY_ERROR && at >= 0 && at < count)
            snprintf(codes[at], sizeof codes[at], "%s", finding.code);
    }
    griddep_findings_destroy(findings);
    gd_text_free(&text);
}

typedef bool expectation(const line *one, int32_t version, const char *chip);

/* Asks about the lines for which `asks` says so, and holds the answers against `taken`. */
static int replay(int32_t version, const char *chip, expectation *asks, expectation *taken)
{
    static char codes[PART][8];
    line *part[PART];
    int count = 0, all = 0;

    for (int i = 0; i <= line_count; i++) {
        if (i < line_count && asks(&lines[i], version, chip))
            part[count++] = &lines[i];
        if (count < PART && i < line_count)
            continue;
        ask(version, chip, part, count, codes);
        for (int k = 0; k < count; k++) {
            bool wanted = taken(part[k], version, chip), said = codes[k][0] == 0;
            if (wanted != said)
                ck_abort_msg(".version %d.%d, .target %s: %.*s: ptxas %s it, %s",
                             (int)(version / 10), (int)(version % 10), chip,
                             (int)strcspn(part[k]->instruction, "\n"), part[k]->instruction,
                             wanted ? "takes" : "refuses", said ? "the check takes it" : codes[k]);
        }
        all += count;
        count = 0;
    }
    return all;
}

/* What griddepcontrol needs is told once a text: GD101, GD102. */
static bool is_control(const line *one)
{
    return strncmp(one->instruction, "griddepcontrol", 14) == 0;
}

static bool ends_here(const line *one, int32_t version, const char *chip)
{
    (void)chip;
    return one->newest == version && !is_control(one);
}

static bool takes_chip(const line *one, int32_t version, const char *chip)
{
    (void)version;
    return has_chip(one, chip);
}

TEST_GROUP(needs, setup, teardown);

/* Each chip that PTX ISA 9.0 or 6.3 has, from sm_20 on. sm_101 is another name of sm_110, and ptxas
 * of CUDA 13 was asked. */
TEST(needs, targets_are_those_of_ptxas)
{
    int asked = 0;

    for (uint32_t i = 0; gd_need_chip_at(i); i++) {
        const char *chip = gd_need_chip_at(i);
        if (chip_version(chip) < 20 || strncmp(chip, "sm_101", 6) == 0 ||
            !round_takes_place((int)i, 4, 4))
            continue;
        asked += replay(NEWEST, chip, ends_here, takes_chip);
        if (chip_version(chip) <= BEFORE_GONE)
            asked += replay(BEFORE_GONE, chip, ends_here, takes_chip);
    }
    ck_assert_int_gt(asked, runs_all_rounds() ? 40000 : 8000);
}

static int32_t version_before(int32_t version)
{
    do
        version--;
    while (!gd_is_version(version));
    return version;
}

static bool starts_here(const line *one, int32_t version, const char *chip)
{
    return strcmp(one->first, chip) == 0 &&
           (one->version == version || version_before(one->version) == version);
}

static bool takes_version(const line *one, int32_t version, const char *chip)
{
    (void)chip;
    return one->version <= version;
}

/* At the first target of each instruction: its version, and the one before. */
TEST(needs, versions_are_those_of_ptxas)
{
    int asked = 0;

    for (uint32_t i = 0; gd_need_chip_at(i); i++) {
        const char *chip = gd_need_chip_at(i);
        for (int32_t version = OLDEST; version <= NEWEST; version++) {
            if (gd_is_version(version) && version >= chip_version(chip))
                asked += replay(version, chip, starts_here, takes_version);
        }
    }
    ck_assert_int_gt(asked, line_count);
}

/* ---- what a tool asks ---- */

TEST(needs, needs_of_single_instructions)
{
    static const struct {
        gd_op op;
        const char *modifiers;
        gd_need need;
    } cases[] = {
        {GD_OP_GRIDDEPCONTROL_WAIT, "", {78, 900}},
        {GD_OP_CP_ASYNC_BULK_PREFETCH, "L2.global", {80, 900}},
        {GD_OP_ACTIVEMASK, "b32", {62, 300}},
        {GD_OP_RED, "global.min.u64", {31, 320}},
        {GD_OP_LD, "global.u32", {10, 100}},
        {GD_OP_LD, "global.L2::cache_hint.u32", {74, 800}},
        {GD_OP_LD, "shared::cluster.u32", {78, 900}},
        {GD_OP_CP_ASYNC, "ca.shared::cta.global", {70, 800}},
        {GD_OP_CVT, "rn.satfinite.e4m3x2.f32", {78, 900}}, /* sm_89 has it since 8.1 */
        {GD_OP_WGMMA_FENCE, "sync.aligned", {80, 901}},
        {GD_OP_ADD, "globl.u32", {UINT16_MAX, UINT16_MAX}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gd_need need = gd_need_of(cases[i].op, cases[i].modifiers);
        ck_assert_uint_eq(need.version, cases[i].need.version);
        ck_assert_uint_eq(need.target, cases[i].need.target);
    }
}

MAIN_OF_SUITE("needs")
