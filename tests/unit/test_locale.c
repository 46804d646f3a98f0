/* The library in a program whose locale writes numbers with a comma: what it says and reads has a
 * point. The locale is made here, since few machines have one. */
#include <check.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "griddep.h"
#include "ptx/text/lexer.h"
#include "suite.h"

enum { SKIPPED = 77 };

static griddep_error error;

static void setup(void)
{
    griddep_error_init(&error);
}

/* ---- the locale ---- */

static char folder[] = "/tmp/griddep-locale-XXXXXX";
static char category[sizeof folder + 32], file[sizeof category + 32];

/* LC_NUMERIC as glibc's localedef writes it: a number for the category, six values and where each
 * begins: decimal point, thousands separator, grouping, both as wide characters, character set. */
static bool write_locale(void)
{
    static const uint32_t head[] = {0x20031114, 6, 32, 34, 35, 36, 40, 44};
    static const char values[] = ",\0\0\0,\0\0\0\0\0\0\0UTF-8";

    if (!mkdtemp(folder))
        return false;
    snprintf(category, sizeof category, "%s/comma", folder);
    snprintf(file, sizeof file, "%s/LC_NUMERIC", category);
    FILE *stream = mkdir(category, 0700) ? NULL : fopen(file, "wb");
    if (!stream)
        return false;
    const bool written =
        fwrite(head, sizeof head, 1, stream) == 1 && fwrite(values, sizeof values, 1, stream) == 1;
    return !fclose(stream) && written;
}

static void remove_locale(void)
{
    unlink(file);
    rmdir(category);
    rmdir(folder);
}

/* Whether this program writes 1.5 with a comma. */
static bool has_comma(void)
{
    char text[32];

    snprintf(text, sizeof text, "%g", 1.5);
    return !strcmp(text, "1,5");
}

/* ---- tests ---- */

static char logged[64];

static void keep(void *user, int32_t level, const char *message)
{
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", message);
}

TEST_GROUP(comma, setup, NULL);

TEST(comma, messages_have_a_point)
{
    const gd_log log = {keep, NULL, GRIDDEP_LOG_WARNING};
    gd_text text = {0};

    gd_error_set(&error, GRIDDEP_ERROR_ARGUMENT, "%g, %.2f", 1.5, -0.25);
    ck_assert_str_eq(error.text, "1.5, -0.25");
    gd_text_format(&text, "%.9g", 0.1);
    ck_assert_str_eq(gd_text_get(&text), "0.1");
    gd_text_free(&text);
    gd_log_write(&log, GRIDDEP_LOG_WARNING, "%.1f", 2.5);
    ck_assert_str_eq(logged, "2.5");
    ck_assert(has_comma()); /* the program's numbers are its own */
}

TEST(comma, a_condition_tells_its_value)
{
    static const char source[] = "// requires: temperature >= 0\n"
                                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry kernel(.param .f32 temperature)\n{\nret;\n}\n";
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const float below = -0.5f;
    griddep_argument argument = {.bytes = sizeof below};
    griddep_ptx *ptx;

    memcpy(&argument.value, &below, sizeof below);
    ck_assert_int_eq(griddep_ptx_parse(source, strlen(source), NULL, &ptx, &error), GRIDDEP_OK);
    ck_assert_int_eq(griddep_ptx_check_launch(ptx, 0, &config, &argument, 1, &error),
                     GRIDDEP_ERROR_REQUIREMENT);
    ck_assert_str_eq(error.text, "kernel kernel needs temperature >= 0 (temperature is -0.5)");
    griddep_ptx_destroy(ptx);
}

TEST(comma, numbers_of_ptx_are_read_with_a_point)
{
    const double expected = 12.5;
    bool is_single;
    uint64_t bits;

    memcpy(&bits, &expected, sizeof bits);
    ck_assert_uint_eq(gd_ptx_float_read("12.5", 4, &is_single), bits);
    ck_assert_uint_eq(gd_ptx_float_read("125.0e-1", 8, &is_single), bits);
}

int main(void)
{
    const bool written = write_locale();

    setenv("LOCPATH", folder, 1);
    const bool set = written && setlocale(LC_NUMERIC, "comma") && has_comma();
    remove_locale();
    if (!set) {
        printf("skipped: this C library takes no locale of our own with a decimal comma\n");
#ifdef __GLIBC__
        return 1;
#else
        return SKIPPED;
#endif
    }
    return run_suite(make_suite("locale"));
}
