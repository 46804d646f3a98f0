/* Whole texts with one mistake each, as tests/fuzz/texts.py recorded what ptxas says of them:
 * tests/golden/texts.txt has the changed lines of tests/golden/texts/NAME.ptx. The check takes what
 * ptxas takes, tells what ptxas refuses in ptxas's line, and one mistake is little more than one
 * finding. What ptxas refuses does not load into the emulated driver. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "emulator/api.h"
#include "griddep.h"
#include "suite.h"
#include "unit/status.h"

#define GOLDEN SOURCE_DIRECTORY "/tests/golden/texts"

enum { PATH = 4096, PER_MILLE_MISSED = 20, PER_MILLE_OTHER_LINE = 50, PER_MILLE_FINDINGS = 1500 };

static griddep_error error;

typedef struct sums {
    int taken, refused, missed, elsewhere, findings, loaded;
} sums;

/* One line of the sample: verdict, changed line, ptxas's line, the changed line's text. */
typedef struct change {
    char verdict;
    int at, line;
    const char *text;
    size_t bytes;
} change;

static change read_change(const char *line)
{
    change of = {.verdict = line[0]};
    char *end;

    of.at = (int)strtol(line + 2, &end, 10);
    of.line = end[1] == '.' ? of.at : (int)strtol(end + 1, NULL, 10);
    of.text = strchr(end + 1, ' ');
    ck_assert_msg(of.text && (of.verdict == '+' || of.verdict == '-'), "no line of a sample: %.60s",
                  line);
    of.bytes = strcspn(++of.text, "\n");
    return of;
}

static void replace_line(const char *seed, const change *with, gd_text *into)
{
    const char *line = seed;

    for (int i = 1; i < with->at; i++)
        line = strchr(line, '\n') + 1;
    gd_text_append(into, seed, (size_t)(line - seed));
    gd_text_append(into, with->text, with->bytes);
    gd_text_string(into, line + strcspn(line, "\n"));
}

/* Errors of a text that ptxas refuses: those of the text itself, and griddepcontrol that the head
 * lacks. */
static int count_errors(const gd_text *text, int *line)
{
    griddep_findings *findings = NULL;
    int count = 0;

    ck_good(griddep_ptx_check(gd_text_get(text), text->bytes, "text", NULL, &findings, &error));
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        ck_good(griddep_findings_get(findings, i, &finding, &error));
        if (finding.severity == GRIDDEP_SEVERITY_ERROR && strcmp(finding.code, "GD102") <= 0 &&
            count++ == 0)
            *line = finding.line;
    }
    griddep_findings_destroy(findings);
    return count;
}

static void replay(const char *name, const char *seed, const change *of, sums *sum)
{
    gd_text text = {0};
    gd_CUmodule loaded;
    int line = 0;

    replace_line(seed, of, &text);
    int errors = count_errors(&text, &line);
    bool loads = cuModuleLoadData(&loaded, gd_text_get(&text)) == GD_CUDA_SUCCESS;
    if (loads)
        cuModuleUnload(loaded);
    if (of->verdict == '+' && errors)
        ck_abort_msg("%s:%d: ptxas takes this: %.*s", name, of->at, (int)of->bytes, of->text);
    if (of->verdict == '-' && errors && loads)
        ck_abort_msg("%s:%d loads: %.*s", name, of->at, (int)of->bytes, of->text);
    sum->taken += of->verdict == '+';
    sum->refused += of->verdict == '-';
    sum->missed += of->verdict == '-' && !errors;
    sum->loaded += of->verdict == '-' && loads;
    sum->elsewhere += of->verdict == '-' && errors && line != of->line;
    sum->findings += of->verdict == '-' ? errors : 0;
    gd_text_free(&text);
}

TEST_GROUP(texts, NULL, NULL);

TEST(texts, texts_are_judged_as_ptxas_judges_them)
{
    char *sample, *seed = NULL, name[100] = "", path[PATH];
    gd_CUcontext context;
    size_t bytes;
    sums sum = {0};

    ck_assert_int_eq(cuInit(0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(cuDevicePrimaryCtxRetain(&context, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(cuCtxSetCurrent(context), GD_CUDA_SUCCESS);
    ck_good(gd_file_read(GOLDEN ".txt", &sample, &bytes, &error));
    for (const char *at = sample; *at; at += strcspn(at, "\n") + 1) {
        if (*at == '#') {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
            snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
            free(seed);
            ck_good(gd_file_read(path, &seed, &bytes, &error));
            continue;
        }
        const change of = read_change(at);
        replay(name, seed, &of, &sum);
    }
    printf("%d taken, %d refused: %d missed, %d load, %d in another line, %d findings\n", sum.taken,
           sum.refused, sum.missed, sum.loaded, sum.elsewhere, sum.findings);
    ck_assert_int_gt(sum.refused, 250);
    ck_assert_int_gt(sum.taken, 30);
    ck_assert_int_le(sum.missed * 1000, sum.refused * PER_MILLE_MISSED);
    ck_assert_int_le(sum.loaded, sum.missed);
    ck_assert_int_le(sum.elsewhere * 1000, sum.refused * PER_MILLE_OTHER_LINE);
    ck_assert_int_le(sum.findings * 1000, sum.refused * PER_MILLE_FINDINGS);
    free(seed);
    free(sample);
}

int main(void)
{
    griddep_error_init(&error);
    return run_suite(make_suite("texts"));
}
