/* Conditions and extents of the head comment: what their language means, what is told where they
 * are wrong, and that every road to a launch keeps to them. On the scripted fake driver. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "ptx/handle/ptx.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

static griddep_error error;
static griddep_runtime *runtime;

/* ---- fixture ---- */

static void setup(void)
{
    gd_driver *driver = NULL;

    unsetenv("GRIDDEP_PDL");
    unsetenv("GRIDDEP_LOG");
    setenv("GRIDDEP_STORE", "off", 1);
    fake_driver_reset();
    griddep_error_init(&error);
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, NULL, &runtime, &error));
}

static void teardown(void)
{
    char left[256] = "";

    griddep_runtime_close(runtime);
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static void setup_error(void)
{
    griddep_error_init(&error);
}

/* ---- one condition and one launch ---- */

static const char entry_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 x, .param .u64 y, .param .u32 rows, .param .u32 columns, "
    ".param .s32 shift,\n"
    ".param .u16 small, .param .u64 huge, .param .f32 epsilon, .param .f64 scale, .param .align 8 "
    ".b8 map[16],\n"
    ".param .u8 tiny, .param .u32 zero, .param .f16 half, .param .f32 factor, .param .align 8 .b8 "
    "pair[8])\n"
    "{\nret;\n}\n";

enum { ARGUMENTS = 15, HUGE_ONE = 6, EPSILON = 7, TINY = 10, FACTOR = 13 };

typedef struct launch {
    griddep_launch_config config;
    griddep_argument arguments[ARGUMENTS];
} launch;

static const unsigned char map[16];

static launch usual(void)
{
    launch made = {.config = {.size = sizeof made.config,
                              .grid = {4, 2},
                              .block = {64, 1, 1},
                              .shared_bytes = 1024},
                   .arguments = {POINTER(0x10000),
                                 POINTER(0x20000),
                                 WORD(12),
                                 WORD(2048),
                                 WORD((uint32_t)-3),
                                 {.bytes = 2, .value = 65535},
                                 POINTER(UINT64_MAX),
                                 {.bytes = 4},
                                 {.bytes = 8},
                                 {.bytes = 16, .data = map},
                                 {.bytes = 1, .value = 200},
                                 WORD(0),
                                 {.bytes = 2, .value = 0},
                                 {.bytes = 4},
                                 {.bytes = 8}}};
    const float epsilon = 1e-6f, factor = -0.5f;

    memcpy(&made.arguments[EPSILON].value, &epsilon, sizeof epsilon);
    memcpy(&made.arguments[FACTOR].value, &factor, sizeof factor);
    return made;
}

static griddep_ptx *parse_parts(const char *head, const char *tail)
{
    char text[32768];
    griddep_ptx *ptx = NULL;

    ck_assert_int_lt(snprintf(text, sizeof text, "%s%s%s", head, entry_text, tail),
                     (int)sizeof text);
    ck_assert_msg(griddep_ptx_parse(text, strlen(text), "head.ptx", &ptx, &error) == GRIDDEP_OK,
                  "%s", error.text);
    return ptx;
}

static griddep_ptx *parse(const char *head)
{
    return parse_parts(head, "");
}

static griddep_ptx *parse_condition(const char *condition)
{
    char head[24100];

    snprintf(head, sizeof head, "// kernel: test\n// requires:\n//   %s\n", condition);
    return parse(head);
}

static int32_t check_usual(const griddep_ptx *ptx)
{
    const launch tried = usual();

    return griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error);
}

static const char *first_wrong(const griddep_ptx *ptx)
{
    return ptx->requires_wrong.count ? ptx->requires_wrong.list[0].text : "";
}

/* ---- what conditions mean ---- */

/* `refused` is what the refusal says behind "kernel kernel needs "; NULL: the launch is taken. */
static const struct {
    const char *condition, *refused;
} meanings[] = {
    {"columns % 8 == 0", NULL},
    {"columns % 1000 == 0", "columns % 1000 == 0 (columns is 2048)"},
    {"columns >= 2048", NULL},
    {"columns > 2048", "columns > 2048 (columns is 2048)"},
    {"columns <= 2048", NULL},
    {"columns < 2048", "columns < 2048 (columns is 2048)"},
    {"columns != 2048", "columns != 2048 (columns is 2048)"},
    {"2048 == columns", NULL},
    {"rows * columns == 24576", NULL},
    {"rows + columns + 60 == 2120", NULL},
    {"columns == rows * 2 + 2024 && (columns + rows) * 2 == 4120", NULL},
    {"columns / 100 == 20 && columns / rows / 2 == 85", NULL},
    {"rows + 2 * columns % 5 == 13 && (rows + columns) % 2^6 == 12", NULL},
    {"small == 65535 && tiny == 200", NULL},
    {"2^3 * rows == 96 && 2^0 == zero + 1 && huge >= 2^63", NULL},
    {"huge == 18446744073709551615", NULL},
    {"huge + 1 == 0 || rows == 12", "huge + 1 == 0 || rows == 12, which is beyond 64 bits (huge is "
                                    "0xffffffffffffffff, rows is 12)"},
    {"rows == 12 || huge * 2 == 0", NULL},
    {"huge * zero == 0", NULL},
    {"huge * rows / rows == 1",
     "huge * rows / rows == 1, which is beyond 64 bits (huge is 0xffffffffffffffff, rows is 12)"},
    {"huge % 2^32 == 4294967295 && huge % 10 == 5", NULL},
    {"rows / zero == 1", "rows / zero == 1, which divides by zero (rows is 12, zero is 0)"},
    {"rows % zero == 1", "rows % zero == 1, which divides by zero (rows is 12, zero is 0)"},
    {"rows / 0 == 1", "rows / 0 == 1, which divides by zero (rows is 12)"},
    {"zero == 0 || rows % zero == 0", NULL},
    {"zero != 0 && rows % zero == 0", "zero != 0 && rows % zero == 0 (zero is 0, rows is 12)"},
    {"2^31 % columns == 0", NULL},
    {"2^31 % rows == 0", "2^31 % rows == 0 (rows is 12)"},
    {"x % 16 == 0", NULL},
    {"grid.x == 4 && grid.y == 2 && grid.z == 1", NULL},
    {"block.x % 32 == 0 && block.y == 1 && block.z == 1", NULL},
    {"cluster.x == 1 && cluster.y == 1 && cluster.z == 1", NULL},
    {"shared >= 2 * columns + 1024 || shared == 0",
     "shared >= 2 * columns + 1024 || shared == 0 (columns is 2048, shared is 1024)"},
    {"shared == 1024", NULL},
    {"rows == 1 || rows == 12 && columns == 2048", NULL},
    {"rows == 12 && columns == 1 || rows == 1 && columns == 2048 || rows == 13",
     "rows == 12 && columns == 1 || rows == 1 && columns == 2048 || rows == 13 (rows is 12, "
     "columns is 2048)"},
    {"rows == 12 && columns == 1 || rows == 12 && zero == 0 || rows / zero == 1", NULL},
    {"epsilon >= 0", NULL},
    {"epsilon > 0 && epsilon < 1 && epsilon <= 1 && epsilon != 1", NULL},
    {"epsilon == 0", "epsilon == 0 (epsilon is 9.99999997e-07)"},
    {"factor >= 0", "factor >= 0 (factor is -0.5)"},
    {"rows % 8 == 0 -- whole vectors", "rows % 8 == 0: whole vectors (rows is 12)"},
    {"rows == 12 -- a reason\n//   rows == 11 -- another", "rows == 11: another (rows is 12)"},
    {"huge < 2^32", "huge < 2^32 (huge is 0xffffffffffffffff)"},
};

TEST_GROUP(language, setup, teardown);

LOOP_TEST(language, a_condition_means_what_it_says, COUNT(meanings))
{
    griddep_ptx *ptx = parse_condition(meanings[_i].condition);
    char expected[512];

    ck_assert_str_eq(first_wrong(ptx), "");
    int32_t status = check_usual(ptx);
    if (!meanings[_i].refused) {
        ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    } else {
        ck_assert_int_eq(status, GRIDDEP_ERROR_REQUIREMENT);
        snprintf(expected, sizeof expected, "kernel kernel needs %s", meanings[_i].refused);
        ck_assert_str_eq(error.text, expected);
    }
    griddep_ptx_destroy(ptx);
}

/* What is wrong with one says nothing of the others. */
TEST(language, each_condition_is_read_by_itself)
{
    griddep_ptx *ptx = parse_condition("rows == 12\n//   rows == 1 &&\n//   zero == 0");

    ck_assert_uint_eq(ptx->requires_wrong.count, 1);
    ck_assert_int_eq(check_usual(ptx), GRIDDEP_OK);
    griddep_ptx_destroy(ptx);
    ptx = parse_condition("rows == 12\n//   1 == 1");
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "names nothing"));
    griddep_ptx_destroy(ptx);
}

TEST(language, not_a_number_differs_from_every_number)
{
    static const char *const conditions[] = {"factor >= 0", "factor <= 0", "factor == 0",
                                             "factor < 1",  "factor > 0",  NULL};
    launch tried = usual();
    const float nan_value = NAN;

    memcpy(&tried.arguments[FACTOR].value, &nan_value, sizeof nan_value);
    for (int i = 0; conditions[i]; i++) {
        griddep_ptx *ptx = parse_condition(conditions[i]);
        ck_assert_int_eq(
            griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error),
            GRIDDEP_ERROR_REQUIREMENT);
        griddep_ptx_destroy(ptx);
    }
    griddep_ptx *ptx = parse_condition("factor != 0");
    ck_good(griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error));
    griddep_ptx_destroy(ptx);
}

/* ---- what is wrong with them ---- */

static const struct {
    const char *condition;
    uint32_t column; /* from 0 in the condition */
    const char *text;
} mistakes[] = {
    {"colums % 8 == 0", 0, "entry kernel has no parameter \"colums\"; did you mean \"columns\"?"},
    {"rows == 1 && blok.x == 2", 13, "did you mean \"block.x\"?"},
    {"elsewhere == 1", 0, "besides parameters there are grid.x to grid.z"},
    {"columns % 8", 11, "found the end, expected ==, !=, <, <=, > or >="},
    {"columns", 7, "found the end, expected ==, !=, <, <=, > or >="},
    {"1 <= rows <= 3", 10, "found a comparison beside <=; a < b < c is written a < b && b < c"},
    {"1 == 1", 0, "found a condition that names nothing"},
    {"pair == 1", 0, "parameter \"pair\" is neither an unsigned integer nor an f32"},
    {"rows == 1 && rows", 17, "found the end, expected =="},
    {"rows && rows == 1", 5, "found '&&', expected =="},
    {"rows == 1 &&", 12, "found the end, expected a name, a number or '('"},
    {"(rows == 1 || rows == 2) && columns == 1", 6,
     "found '==', expected ')'; brackets hold numbers, not conditions"},
    {"!(rows == 1)", 0, "found '!', which no condition has"},
    {"rows - 1 == 1", 5, "found '-', which no condition has"},
    {"rows < 2^64", 7, "found a number that cannot be read"},
    {"rows < 3^2", 7, "found a number that cannot be read"},
    {"rows < 2^", 7, "found a number that cannot be read"},
    {"rows^2 == 4", 0, "entry kernel has no parameter \"rows^2\""},
    {"rows < 18446744073709551616", 7, "found a number that cannot be read"},
    {"rows < 0x10", 7, "found a number that cannot be read"},
    {"rows < 12ab", 7, "found a number that cannot be read"},
    {"factor < 0.5", 9, "found a number that cannot be read"},
    {"factor % 2 == 0", 0,
     "found factor beside %; an f32 is compared with a whole number, as in factor >= 0"},
    {"rows + factor == 0", 7, "found factor beside +; an f32"},
    {"factor == rows", 0, "found factor beside ==; an f32"},
    {"factor >= 2 + 1", 0, "found factor beside >=; an f32"},
    {"0 <= factor", 5, "found factor beside <=; an f32"},
    {"factor == epsilon", 0, "found factor beside ==; an f32"},
    {"map == 1", 0, "parameter \"map\" is neither an unsigned integer nor an f32"},
    {"half == 1", 0, "parameter \"half\" is neither an unsigned integer nor an f32"},
    {"shift == 1", 0, "parameter \"shift\" is neither an unsigned integer nor an f32"},
    {"scale == 1", 0, "parameter \"scale\" is neither an unsigned integer nor an f32"},
    {"rows = 1", 5, "found '='"},
    {"rows == 1 & columns == 2", 10, "found '&'"},
    {"rows @ 1", 5, "found '@'"},
    {"rows == \x01", 8, "found a byte 0x01"},
    {"rows == \xc3\xa4", 8, "found a byte 0xc3"},
    {"rows == 1)", 9, "found ')', expected an operator or the end"},
    {"(rows + 1", 9, "found the end, expected ')'"},
    {"rows == ", 7, "found the end, expected a name, a number or '('"},
    {"rows == == 1", 8, "found '==', expected a name, a number or '('"},
    {"rows columns == 1", 5, "found 'columns', expected =="},
    {"rows == 1 columns", 10, "found 'columns', expected an operator or the end"},
    {"log(rows) == 1", 0, "there is no function \"log\"; there is apart()"},
    {"rows == max(1, 2)", 8, "entry kernel has no parameter \"max\""},
    {"apart(x, y)", 6, "how far x reaches is not told"},
    {"apart(rows, y)", 6, "found rows, expected a parameter that is an address"},
    {"apart(5, y)", 6, "entry kernel has no parameter \"5\""},
    {"apart(, y)", 6, "found ',', expected a parameter that is an address"},
    {"rows == 1 || apart(x)", 19, "how far x reaches is not told"},
    {"-- only a reason", 0, "found the end"},
    {"rows == 1 --", 12, ""},
};

LOOP_TEST(language, a_mistake_is_told_with_its_place, COUNT(mistakes))
{
    static const char before[] = "// kernel: test\n// requires:\n//   ";
    griddep_ptx *ptx = parse_condition(mistakes[_i].condition);
    griddep_module *module = NULL;
    uint64_t bytes = 0;

    if (!mistakes[_i].text[0]) {
        ck_assert_str_eq(first_wrong(ptx), "");
        griddep_ptx_destroy(ptx);
        return;
    }
    ck_assert_uint_eq(ptx->requires_wrong.count, 1);
    ck_assert_msg(strstr(first_wrong(ptx), mistakes[_i].text), "%s", first_wrong(ptx));
    ck_assert_uint_eq(ptx->requires_wrong.list[0].offset, sizeof before - 1 + mistakes[_i].column);
    /* The text is parsed, but never loaded. */
    ck_good(griddep_ptx_print(ptx, NULL, 0, &bytes, &error));
    ck_assert_int_eq(griddep_module_load(runtime, ptx->module.text, bytes, NULL, &module, &error),
                     GRIDDEP_ERROR_SYNTAX);
    ck_assert_ptr_null(module);
    ck_assert_int_eq(error.line, 3);
    ck_assert_int_eq(error.column, (int)mistakes[_i].column + 6);
    ck_assert_ptr_nonnull(strstr(error.text, mistakes[_i].text));
    griddep_ptx_destroy(ptx);
}

/* One condition that is told to be too much. */
static void check_limit(const char *condition, const char *name)
{
    griddep_ptx *ptx = parse_condition(condition);

    ck_assert_msg(strstr(first_wrong(ptx), name), "%s: %s", name, first_wrong(ptx));
    griddep_ptx_destroy(ptx);
}

static char *repeat(char *text, const char *first, const char *again, int times)
{
    strcpy(text, first);
    for (int i = 0; i < times; i++)
        strcat(text, again);
    return text;
}

TEST(language, limits_are_told)
{
    char condition[24000], *end = condition;

    check_limit(repeat(condition, "rows == 1", " || rows == 2", GD_REQUIRE_LIMIT_STEPS),
                "GD_REQUIRE_LIMIT_STEPS");
    check_limit(repeat(condition, "rows == 1", " + 2", GD_REQUIRE_LIMIT_RESULTS + 1),
                "GD_REQUIRE_LIMIT_RESULTS");
    check_limit(repeat(condition, "", "(", GD_REQUIRE_LIMIT_DEPTH + 1), "GD_REQUIRE_LIMIT_DEPTH");
    check_limit(repeat(condition, "rows == 0", "\n//   rows != 0", GD_REQUIRE_LIMIT_CONDITIONS),
                "GD_REQUIRE_LIMIT_CONDITIONS");
    end += sprintf(end, "rows != 1000");
    for (int i = 0; i < GD_REQUIRE_LIMIT_CONSTANTS; i++)
        end += sprintf(end, " && rows != %d", i);
    check_limit(condition, "GD_REQUIRE_LIMIT_CONSTANTS");
}

/* As much as there may be is read, and means what it says. */
TEST(language, limits_can_be_reached)
{
    char condition[24000];
    griddep_ptx *ptx = parse_condition(
        repeat(condition, "rows == 1", " || rows == 2", GD_REQUIRE_LIMIT_STEPS - 1));

    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(check_usual(ptx), GRIDDEP_ERROR_REQUIREMENT);
    griddep_ptx_destroy(ptx);
    ptx = parse_condition(repeat(condition, "140 == rows", " + 2", GD_REQUIRE_LIMIT_RESULTS));
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(check_usual(ptx), GRIDDEP_OK);
    griddep_ptx_destroy(ptx);
    repeat(condition, "rows == ", "(", GD_REQUIRE_LIMIT_DEPTH);
    strcat(condition, "12");
    for (int i = 0; i < GD_REQUIRE_LIMIT_DEPTH; i++)
        strcat(condition, ")");
    ptx = parse_condition(condition);
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(check_usual(ptx), GRIDDEP_OK);
    griddep_ptx_destroy(ptx);
    ptx = parse_condition(
        repeat(condition, "rows == 12", "\n//   rows != 0", GD_REQUIRE_LIMIT_CONDITIONS - 1));
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(check_usual(ptx), GRIDDEP_OK);
    griddep_ptx_destroy(ptx);
}

/* ---- fields ---- */

static const griddep_requirement_info *nth(const griddep_ptx *ptx, uint32_t entry, uint32_t index)
{
    static griddep_requirement_info info;

    info = (griddep_requirement_info){.size = sizeof info};
    return griddep_ptx_get_requirement(ptx, entry, index, &info, &error) == GRIDDEP_OK ? &info
                                                                                       : NULL;
}

TEST_GROUP(fields, setup_error, NULL);

TEST(fields, conditions_are_read_back)
{
    griddep_ptx *ptx = parse("// kernel: test\r\n"
                             "// requires: rows >= 1 -- there is a row\r\n"
                             "//     columns % 8 == 0 || columns == 4 -- a reason  \r\n"
                             "//     block.x == 64\r\n"
                             "// launch: no condition\r\n"
                             "//   columns == 77\r\n"
                             "\r\n"
                             "// requires:\r\n"
                             "//   grid.x == 4\r\n");
    const griddep_requirement_info *info = nth(ptx, 0, 0);

    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_str_eq(info->text, "rows >= 1");
    ck_assert_str_eq(info->reason, "there is a row");
    ck_assert_int_eq(info->line, 2);
    ck_assert_int_eq(info->column, 14);
    info = nth(ptx, 0, 1);
    ck_assert_str_eq(info->text, "columns % 8 == 0 || columns == 4");
    ck_assert_str_eq(info->reason, "a reason");
    ck_assert_int_eq(info->line, 3);
    ck_assert_str_eq(nth(ptx, 0, 2)->text, "block.x == 64");
    ck_assert_ptr_null(nth(ptx, 0, 2)->reason);
    ck_assert_str_eq(nth(ptx, 0, 3)->text, "grid.x == 4");
    ck_assert_ptr_null(nth(ptx, 0, 4));
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_ptr_null(nth(ptx, 1, 0));
    griddep_ptx_destroy(ptx);
}

static const char two_entries[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry one(.param .u32 rows)\n{\nret;\n}\n"
                                  ".visible .entry two(.param .u32 columns)\n{\nret;\n}\n";

TEST(fields, each_entry_has_its_own)
{
    char text[1024];
    griddep_ptx *ptx = NULL;

    snprintf(text, sizeof text, "%s%s",
             "// requires:\n//   block.x == 32\n// requires one:\n//   rows == 1\n// requires two: "
             "columns == 2\n",
             two_entries);
    ck_good(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error));
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_str_eq(nth(ptx, 0, 0)->text, "block.x == 32");
    ck_assert_str_eq(nth(ptx, 0, 1)->text, "rows == 1");
    ck_assert_ptr_null(nth(ptx, 0, 2));
    ck_assert_str_eq(nth(ptx, 1, 0)->text, "block.x == 32");
    ck_assert_str_eq(nth(ptx, 1, 1)->text, "columns == 2");
    ck_assert_ptr_null(nth(ptx, 1, 2));
    griddep_ptx_destroy(ptx);
    snprintf(text, sizeof text, "%s%s", "// requires three:\n//   rows == 1\n", two_entries);
    ck_good(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error));
    ck_assert_str_eq(first_wrong(ptx), "there is no entry \"three\"");
    griddep_ptx_destroy(ptx);
    snprintf(text, sizeof text, "%s%s", "// requires:\n//   rows == 1\n", two_entries);
    ck_good(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error));
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "entry two has no parameter \"rows\""));
    griddep_ptx_destroy(ptx);
}

TEST(fields, a_text_without_the_field_has_none)
{
    static const char *const heads[] = {"",
                                        "// kernel: requires\n",
                                        "// requirements: none\n",
                                        "// requires CUDA 12\n",
                                        "// requires:\n",
                                        NULL};

    for (int i = 0; heads[i]; i++) {
        griddep_ptx *ptx = parse(heads[i]);
        ck_assert_str_eq(first_wrong(ptx), "");
        ck_assert_ptr_null(nth(ptx, 0, 0));
        ck_assert_int_eq(check_usual(ptx), GRIDDEP_OK);
        griddep_ptx_destroy(ptx);
    }
}

/* A field with conditions that begins otherwise than a field does would be lost: it is an error,
 * and so is a line that would be its condition. */
TEST(fields, a_field_that_would_be_lost_is_wrong)
{
    static const char *const heads[] = {
        "//requires: rows == 1\n",
        "//  requires: rows == 1\n",
        "//\trequires: rows == 1\n",
        "// \trequires:\n//   rows == 1\n",
        "// requires\n//   rows == 1\n",
        "// requires rows == 1\n",
        "// requires : rows == 1\n",
        "// purpose: something\n//    requires: rows == 1\n",
        "// purpose: something\n//   requires rows % 8 == 0\n",
        "//requires kernel: rows == 1\n",
        "// extent\n//   x: f32[rows]\n",
        "//    extent: x: 4\n",
        "// kernel: test\n// measured: fast\n//  requires:\n//   rows == 1\n",
        "/// requires: rows == 1\n",
        "//! requires:\n//   rows == 1\n",
        "// requires; rows == 1\n",
        "// requires;\n//   rows == 1\n",
        "// requires one two: rows == 1\n",
        "// requires one two:\n//   rows == 1\n",
        "// extent one two: x: f32[rows]\n",
        "/* A licence. */\n// requires: rows == 1\n",
        "/* requires: rows == 1 */\n",
        "/*\n * extent:\n *   x: f32[rows]\n */\n",
        "// kernel: test\n/** requires rows == 1 */\n",
        NULL};
    static const char *const tails[] = {
        "// requires: rows == 1\n", ".pragma \"a /* b\";\n// requires: rows == 1\n",
        ".global .b32 a[2] = {1, 2};\n  // requires x: y < 1\n", NULL};
    static const char *const sentences[] = {
        "/// It requires: nothing.\n// What it\n// requires is little.\n",
        "/* It has the extent of a row.\n * requires nothing */\n// requires no more.\n", NULL};
    static const char *const others[] = {".pragma \"// requires: rows == 1\";\n",
                                         ".func f()\n{\n// requires: rows == 1\nret;\n}\n", NULL};

    for (int i = 0; heads[i]; i++) {
        griddep_ptx *ptx = parse(heads[i]);
        ck_assert_msg(ptx->requires_wrong.count >= 1 || nth(ptx, 0, 0), "%s: lost", heads[i]);
        if (!nth(ptx, 0, 0))
            ck_assert_msg(strstr(first_wrong(ptx), "begins no field here") != NULL, "%s: %s",
                          heads[i], first_wrong(ptx));
        griddep_ptx_destroy(ptx);
    }
    for (int i = 0; tails[i]; i++) {
        griddep_ptx *ptx = parse_parts("", tails[i]);
        ck_assert_msg(strstr(first_wrong(ptx), "begins no field here") != NULL, "%s", tails[i]);
        griddep_ptx_destroy(ptx);
    }
    for (int i = 0; others[i]; i++) {
        griddep_ptx *ptx = parse_parts("", others[i]);
        ck_assert_msg(!ptx->requires_wrong.count, "%s: %s", others[i], first_wrong(ptx));
        griddep_ptx_destroy(ptx);
    }
    for (int i = 0; sentences[i]; i++) {
        griddep_ptx *ptx = parse(sentences[i]);
        ck_assert_msg(!ptx->requires_wrong.count, "%s: %s", sentences[i], first_wrong(ptx));
        griddep_ptx_destroy(ptx);
    }
}

/* So is a line that a field with conditions was meant to have, indented otherwise or behind an
 * empty line; a sentence behind the field is none. */
TEST(fields, a_line_that_would_be_lost_is_wrong)
{
    static const struct {
        const char *head;
        bool wrong;
    } cases[] = {
        {"// requires:\n//  rows == 1\n", true},
        {"// requires:\n//rows == 1\n", true},
        {"// requires:\n//\trows == 1\n", true},
        {"// requires:\n// rows == 1\n", true},
        {"// requires:\n//   rows == 1\n//  columns == 1\n", true},
        {"// requires:\n//   rows == 1\n//\n//   columns == 1\n", true},
        {"// requires: rows == 1\n//\n//\n//   columns == 1\n", true},
        {"// extent:\n//  x: rows\n", true},
        {"// requires:\n//   rows == 1\n// A sentence follows.\n//   And goes on.\n", false},
        {"// requires:\n//   rows == 1\n// notes: one == two\n", false},
        {"// requires:\n//   rows == 1\n//\n// purpose: it\n//   is a == b\n", false},
        {"// requires:\n//   rows == 1\n//\n//   Some words.\n", false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        griddep_ptx *ptx = parse(cases[i].head);
        const char *said = first_wrong(ptx);
        ck_assert_msg(cases[i].wrong == (strstr(said, "this line would be lost") != NULL), "%s: %s",
                      cases[i].head, said);
        griddep_ptx_destroy(ptx);
    }
}

/* ---- extents ---- */

static const char extents[] = "// extent:\n"
                              "//   x: rows * columns * 2 -- bytes\n"
                              "//   y: columns + rows * 1000000 * zero\n"
                              "//   huge: huge * 2\n";

TEST(fields, an_extent_is_told)
{
    griddep_ptx *ptx = parse(extents);
    launch tried = usual();
    uint64_t bytes = 7;

    ck_assert_str_eq(first_wrong(ptx), "");
    ck_good(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 0, &bytes,
                                   &error));
    ck_assert_uint_eq(bytes, 49152);
    ck_good(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 1, &bytes,
                                   &error));
    ck_assert_uint_eq(bytes, 2048);
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS,
                                            HUGE_ONE, &bytes, &error),
                     GRIDDEP_ERROR_REQUIREMENT);
    ck_assert_str_eq(
        error.text,
        "kernel kernel: the extent of huge, huge * 2, is no number of bytes for this launch");
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 2,
                                            &bytes, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_uint_eq(bytes, 2048);
    tried.arguments[0].value = 0;
    ck_good(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 0, &bytes,
                                   &error));
    ck_assert_uint_eq(bytes, 0);
    griddep_ptx_destroy(ptx);
}

/* What has no bytes overlaps nothing, wherever it is. */
TEST(fields, nothing_is_apart_from_everything)
{
    static const char *const conditions[] = {"apart(x, y)", "apart(y, x)"};
    launch tried = usual();
    char head[256];

    tried.arguments[1].value = tried.arguments[0].value + 8;
    for (int i = 0; i < 2; i++) {
        snprintf(head, sizeof head,
                 "// requires: %s\n// extent:\n//   x: rows * 4\n//   y: u32[zero]\n",
                 conditions[i]);
        griddep_ptx *ptx = parse(head);
        ck_assert_str_eq(first_wrong(ptx), "");
        ck_assert_msg(griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS,
                                               &error) == GRIDDEP_OK,
                      "%s", error.text);
        griddep_ptx_destroy(ptx);
    }
}

static const struct {
    const char *line, *text;
} wrong_extents[] = {
    {"x", "found the end, expected ':', as in weight: bf16[rows]"},
    {": 5", "found ':', expected a parameter that is an address"},
    {"5: 5", "entry kernel has no parameter \"5\""},
    {"z: 5", "entry kernel has no parameter \"z\""},
    {"rows: 5", "found rows, expected a parameter that is an address"},
    {"factor: 5", "found factor, expected a parameter that is an address"},
    {"grid.x: 5", "found grid.x, expected a parameter that is an address"},
    {"x y: 5", "found 'y', expected ':'"},
    {"x: ", "found the end, expected a name"},
    {"x: rows == 1", "found '==', expected an operator or the end"},
    {"x: factor", "found factor beside :; an f32 is compared"},
    {"x: f32[factor]", "found factor beside [; an f32 is compared"},
    {"x: 5\n//   x: 6", "the extent of x is told twice"},
    {"x: bf61[rows]", "there are no elements \"bf61\""},
    {"x: f32[rows", "found the end, expected ']'"},
    {"x: f32[rows] * 2", "found '*', expected an operator or the end"},
    {"x: f32[]", "found ']', expected a name"},
    {"x: f32[rows == 1]", "found '==', expected ']'"},
    {"x: [rows]", "found '[', expected a name"},
};

LOOP_TEST(fields, a_wrong_extent_is_told, COUNT(wrong_extents))
{
    char head[256];

    snprintf(head, sizeof head, "// extent:\n//   %s\n", wrong_extents[_i].line);
    griddep_ptx *ptx = parse(head);
    ck_assert_msg(strstr(first_wrong(ptx), wrong_extents[_i].text), "%s", first_wrong(ptx));
    griddep_ptx_destroy(ptx);
}

/* Elements, and how many bytes they are. */
TEST(fields, an_extent_tells_its_elements)
{
    static const struct {
        const char *extent, *element;
        uint64_t bytes;
    } cases[] = {
        {"bf16[rows * columns]", "bf16", 49152},
        {"f64[rows]  -- in words", "f64", 96},
        {"e4m3[ rows + 1 ]", "e4m3", 13},
        {"b32[columns]", "b32", 8192},
        {"rows * 2", NULL, 24},
        {"u16[rows + 2]", "u16", 28},
    };
    const launch tried = usual();
    griddep_parameter_info info = {.size = sizeof info};
    char head[256];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bytes = 0;
        snprintf(head, sizeof head, "// extent:\n//   x: %s\n", cases[i].extent);
        griddep_ptx *ptx = parse(head);
        ck_assert_str_eq(first_wrong(ptx), "");
        ck_good(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 0, &bytes,
                                       &error));
        ck_assert_uint_eq(bytes, cases[i].bytes);
        ck_good(griddep_ptx_get_parameter(ptx, 0, 0, &info, &error));
        ck_assert_pstr_eq(info.element, cases[i].element);
        ck_good(griddep_ptx_get_parameter(ptx, 0, 1, &info, &error));
        ck_assert_ptr_null(info.element);
        griddep_ptx_destroy(ptx);
    }
}

/* x has 49152 bytes, y 2048. */
static const struct {
    uint64_t x, y;
    bool apart;
} places[] = {
    {0x10000, 0x20000, true},
    {0x10000, 0x10000, false},
    {0x10000, 0x10000 + 49151, false},
    {0x10000, 0x10000 + 49152, true},
    {0x10000, 0x10000 - 2047, false},
    {0x10000, 0x10000 - 2048, true},
    {0x10000, 0, true},
    {0, 0, true},
    {UINT64_MAX - 4095, UINT64_MAX - 100, false},
    {UINT64_MAX - 4095, UINT64_MAX - 4095 - 2048, true},
};

LOOP_TEST(fields, apart_looks_at_both_ends, COUNT(places))
{
    char head[512];
    launch tried = usual();

    snprintf(head, sizeof head, "// requires:\n//   apart(x, y)\n%s", extents);
    griddep_ptx *ptx = parse(head);
    tried.arguments[0].value = places[_i].x;
    tried.arguments[1].value = places[_i].y;
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(
        griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error),
        places[_i].apart ? GRIDDEP_OK : GRIDDEP_ERROR_REQUIREMENT);
    if (!places[_i].apart)
        ck_assert_ptr_nonnull(strstr(error.text, " with 49152 bytes, y is "));
    griddep_ptx_destroy(ptx);
}

/* ---- random conditions beside a direct computation ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* More than 64 bits, so that what is beyond them is seen by itself. */
__extension__ typedef unsigned __int128 wide;

typedef struct computed {
    uint64_t value;
    gd_require_outcome outcome;
} computed;

typedef struct writer {
    char text[4000];
    size_t bytes;
    int parts;
} writer;

static void put(writer *out, const char *text)
{
    size_t bytes = strlen(text);

    ck_assert_uint_lt(out->bytes + bytes, sizeof out->text);
    memcpy(out->text + out->bytes, text, bytes + 1);
    out->bytes += bytes;
}

static computed random_leaf(writer *out)
{
    static const struct {
        const char *name;
        uint64_t value;
    } leaves[] = {{"rows", 12},
                  {"columns", 2048},
                  {"zero", 0},
                  {"huge", UINT64_MAX},
                  {"small", 65535},
                  {"7", 7},
                  {"64", 64},
                  {"2^40", UINT64_C(1) << 40},
                  {"grid.x", 4},
                  {"1", 1},
                  {"2^63", UINT64_C(1) << 63}};
    size_t i = random_below(sizeof leaves / sizeof leaves[0]);

    put(out, leaves[i].name);
    return (computed){leaves[i].value, GD_REQUIRE_DONE};
}

static computed combine(int op, computed a, computed b)
{
    const wide left = a.value, right = b.value;

    if (a.outcome || b.outcome)
        return (computed){0, a.outcome ? a.outcome : b.outcome};
    if (op >= 2 && !b.value)
        return (computed){0, GD_REQUIRE_DIVIDES_BY_ZERO};
    const wide value = op == 0   ? left + right
                       : op == 1 ? left * right
                       : op == 2 ? left / right
                                 : left % right;
    return (computed){(uint64_t)value, value > UINT64_MAX ? GD_REQUIRE_OVERFLOWS : GD_REQUIRE_DONE};
}

static computed random_number(writer *out, int depth)
{
    static const char *const signs[] = {" + ", " * ", " / ", " % "};

    if (depth == 0 || random_below(3) == 0)
        return random_leaf(out);
    int op = (int)random_below(4);
    put(out, "(");
    computed a = random_number(out, depth - 1);
    put(out, signs[op]);
    computed b = random_number(out, depth - 1);
    put(out, ")");
    return combine(op, a, b);
}

static bool truth_of(int op, uint64_t a, uint64_t b)
{
    const bool truths[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};

    return truths[op];
}

static const char *const comparisons[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};

static computed random_comparison(writer *out)
{
    int op = (int)random_below(6);
    computed a = random_number(out, 2);
    put(out, comparisons[op]);
    computed b = random_number(out, 2);
    gd_require_outcome outcome = a.outcome ? a.outcome : b.outcome;

    return (computed){!outcome && truth_of(op, a.value, b.value), outcome};
}

/* Parts that come after one which decides are written, and count for nothing. */
static computed random_all(writer *out)
{
    computed made = random_comparison(out);

    while (random_below(2)) {
        put(out, " && ");
        computed next = random_comparison(out);
        if (!made.outcome && made.value)
            made = next;
    }
    return made;
}

static computed random_truth(writer *out)
{
    computed made = random_all(out);

    while (random_below(2)) {
        put(out, " || ");
        computed next = random_all(out);
        if (!made.outcome && !made.value)
            made = next;
    }
    return made;
}

TEST(fields, random_conditions_are_computed_right)
{
    uint32_t tried = 0, taken = 0, refused = 0, failed = 0;

    random_state = 20261121;
    for (int i = 0; i < 20000; i++) {
        writer out = {.bytes = 0};
        computed expected = random_truth(&out);
        griddep_ptx *ptx = parse_condition(out.text);
        if (!ptx->requires_wrong.count) { /* it may name nothing */
            int32_t status = check_usual(ptx);
            bool holds = expected.outcome == GD_REQUIRE_DONE && expected.value;
            if ((status == GRIDDEP_OK) != holds)
                ck_abort_msg("%s: %s", out.text, status ? error.text : "taken");
            if (expected.outcome == GD_REQUIRE_OVERFLOWS && !strstr(error.text, "64 bits"))
                ck_abort_msg("%s: %s", out.text, error.text);
            if (expected.outcome == GD_REQUIRE_DIVIDES_BY_ZERO && !strstr(error.text, "by zero"))
                ck_abort_msg("%s: %s", out.text, error.text);
            tried++;
            taken += holds;
            refused += !holds && !expected.outcome;
            failed += expected.outcome != GD_REQUIRE_DONE;
        }
        griddep_ptx_destroy(ptx);
    }
    ck_assert_uint_gt(tried, 10000);
    ck_assert_uint_gt(taken, 2000);
    ck_assert_uint_gt(refused, 2000);
    ck_assert_uint_gt(failed, 500);
}

/* ---- comparisons at their limits, with remainders ---- */

static const struct {
    const char *name;
    int argument;
    uint64_t most;
} limits[] = {{"tiny", TINY, UINT8_MAX},
              {"small", 5, UINT16_MAX},
              {"rows", 2, UINT32_MAX},
              {"x", 0, UINT64_MAX}};

static void put_number(writer *out, uint64_t value)
{
    char text[64];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put(out, text);
}

static void check_comparison(int which, int op, uint64_t divisor, uint64_t number, bool turned)
{
    writer out = {.bytes = 0};
    launch tried = usual();

    if (turned) {
        put_number(&out, number);
        put(&out, comparisons[op]);
    }
    put(&out, limits[which].name);
    if (divisor) {
        put(&out, " % ");
        put_number(&out, divisor);
    }
    if (!turned) {
        put(&out, comparisons[op]);
        put_number(&out, number);
    }
    griddep_ptx *ptx = parse_condition(out.text);
    ck_assert_str_eq(first_wrong(ptx), "");
    const uint64_t most = limits[which].most;
    const uint64_t values[] = {0, 1, 7, 8, most / 2, most / 2 + 1, most - 1, most};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        tried.arguments[limits[which].argument].value = values[i];
        const uint64_t value = divisor ? values[i] % divisor : values[i];
        const bool holds = turned ? truth_of(op, number, value) : truth_of(op, value, number);
        int32_t status =
            griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error);
        if ((status == GRIDDEP_OK) != holds)
            ck_abort_msg("%s: %s", out.text, status ? error.text : "taken");
    }
    griddep_ptx_destroy(ptx);
}

LOOP_TEST(fields, comparisons_hold_up_to_their_limits, COUNT(limits))
{
    const uint64_t most = limits[_i].most;
    const uint64_t numbers[] = {0, 1, 7, most - 1, most, most + (most < UINT64_MAX)};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (int op = 0; op < 6; op++) {
            check_comparison(_i, op, 0, numbers[i], false);
            check_comparison(_i, op, 0, numbers[i], true);
            check_comparison(_i, op, 8, numbers[i], false);
            check_comparison(_i, op, 1, numbers[i], false);
            check_comparison(_i, op, 12, numbers[i], true);
            check_comparison(_i, op, 16, numbers[i], true);
            check_comparison(_i, op, UINT64_C(1) << 63, numbers[i], false);
        }
    }
}

/* ---- any bytes ---- */

/* Pieces of the language, and of what is not. */
static const char *const pieces[] = {
    "rows",    "columns",  "x",    "y",       "(",           ")",
    "((",      "==",       "!=",   "<=",      "&&",          "||",
    "!",       "-",        "+",    "*",       "/",           "%",
    "^",       "2",        "2^30", "0",       "0x1",         "1e",
    "[",       "]",        "f32[", "max(",    "apart(x, y)", "apart(",
    ",",       ":",        "--",   "//",      "grid.x",      ".",
    "\t",      "\xff",     "\n",   "\n//   ", "shared",      "\n//     ",
    "extent:", "requires", "2^",   "factor",  "\r\n",        "99999999999999999999",
    "epsilon", "huge"};

TEST(fields, no_text_breaks_the_reader)
{
    const launch tried = usual();

    random_state = 7;
    for (int i = 0; i < 30000; i++) {
        writer out = {.bytes = 0};
        uint32_t count = 1 + random_below(30);
        for (uint32_t k = 0; k < count; k++) {
            put(&out, pieces[random_below(sizeof pieces / sizeof pieces[0])]);
            if (random_below(2))
                put(&out, " ");
        }
        char text[12288];
        griddep_ptx *ptx = NULL;
        snprintf(text, sizeof text,
                 "// requires:\n//   %s\n// extent:\n//   x: columns\n//   y: %s\n%s", out.text,
                 random_below(2) ? "rows" : out.text, entry_text);
        ck_good(gd_ptx_parse_tolerant(text, strlen(text), NULL, &ptx, &error));
        uint64_t bytes;
        for (uint32_t k = 0; k < 2 && ptx->module.entry_count; k++)
            griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, k, &bytes,
                                   &error);
        if (ptx->module.entry_count)
            griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error);
        griddep_ptx_destroy(ptx);
    }
}

TEST(language, no_allocation_that_fails_is_missed)
{
    char text[2048];
    bool done = false;

    snprintf(text, sizeof text,
             "// requires:\n//   columns %% 8 == 0 -- a reason\n//   apart(x, y)\n%s%s", extents,
             entry_text);
    for (long n = 0; !done; n++) {
        griddep_module *module = NULL;
        fail_alloc_after(n);
        int32_t status = griddep_module_load(runtime, text, strlen(text), NULL, &module, &error);
        done = !fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_msg(status == (done ? GRIDDEP_OK : GRIDDEP_ERROR_MEMORY), "allocation %ld: %s", n,
                      error.text);
        griddep_module_unload(module);
    }
}

/* ---- every road to a launch ---- */

static const char road_text[] =
    "// requires:\n"
    "//   columns % 8 == 0\n"
    "//   block.x % 32 == 0\n"
    "//   cluster.x == 1 || cluster.x == 2\n"
    "// extent:\n"
    "//   x: columns * 4\n"
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry road(.param .u64 x, .param .u32 columns)\n{\nret;\n}\n";

static griddep_module *road_module;
static griddep_kernel *road;

static void setup_road(void)
{
    setup();
    ck_assert_msg(griddep_module_load(runtime, road_text, sizeof road_text, NULL, &road_module,
                                      &error) == GRIDDEP_OK,
                  "%s", error.text);
    ck_good(griddep_module_find_kernel(road_module, NULL, &road, &error));
}

static void teardown_road(void)
{
    griddep_module_unload(road_module);
    teardown();
}

static const griddep_launch_config road_config = {.size = sizeof road_config,
                                                  .grid = {2},
                                                  .block = {32}};
static const griddep_launch_config road_wrong = {.size = sizeof road_wrong,
                                                 .grid = {2},
                                                 .block = {33}};
static const griddep_launch_config road_cluster = {.size = sizeof road_cluster,
                                                   .grid = {4},
                                                   .block = {32},
                                                   .cluster = {4}};
static const griddep_argument road_arguments[] = {POINTER(4096), WORD(16)};
static const griddep_argument road_others[] = {POINTER(4096), WORD(12)};

#define ck_broken(call, words)                                                                     \
    do {                                                                                           \
        ck_assert_int_eq(call, GRIDDEP_ERROR_REQUIREMENT);                                         \
        ck_assert_str_eq(error.text, "kernel road needs " words);                                  \
    } while (0)

#define COLUMNS "columns % 8 == 0 (columns is 12)"
#define BLOCK "block.x % 32 == 0 (block.x is 33)"
#define CLUSTER "cluster.x == 1 || cluster.x == 2 (cluster.x is 4)"

TEST_GROUP(roads, setup_road, teardown_road);

TEST(roads, a_launch_is_refused)
{
    ck_good(griddep_launch(road, &road_config, road_arguments, 2, NULL, &error));
    ck_assert_uint_eq(fake_driver_launches(), 1);
    ck_broken(griddep_launch(road, &road_config, road_others, 2, NULL, &error), COLUMNS);
    ck_broken(griddep_launch(road, &road_wrong, road_arguments, 2, NULL, &error), BLOCK);
    ck_broken(griddep_launch(road, &road_cluster, road_arguments, 2, NULL, &error), CLUSTER);
    ck_assert_uint_eq(fake_driver_launches(), 1);
}

TEST(roads, a_packed_launch_is_refused)
{
    struct {
        uint64_t x;
        uint32_t columns;
    } packed = {4096, 16};

    ck_good(griddep_launch_packed(road, &road_config, &packed, 12, NULL, &error));
    ck_broken(griddep_launch_packed(road, &road_wrong, &packed, 12, NULL, &error), BLOCK);
    packed.columns = 12;
    ck_broken(griddep_launch_packed(road, &road_config, &packed, 12, NULL, &error), COLUMNS);
    ck_assert_uint_eq(fake_driver_launches(), 1);
}

TEST(roads, a_cluster_given_as_an_attribute_counts)
{
    griddep_attribute attribute;
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {4},
                                    .block = {32},
                                    .attributes = &attribute,
                                    .attribute_count = 1};

    ck_good(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){4, 1, 1}, 3, &error));
    ck_broken(griddep_launch(road, &config, road_arguments, 2, NULL, &error), CLUSTER);
    ck_good(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){2, 1, 1}, 3, &error));
    ck_good(griddep_launch(road, &config, road_arguments, 2, NULL, &error));
}

TEST(roads, a_launch_of_a_chain_is_refused)
{
    griddep_chain *chain = NULL;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    ck_broken(griddep_chain_add(chain, road, &road_config, road_others, 2, &error), COLUMNS);
    ck_broken(griddep_chain_add(chain, road, &road_wrong, road_arguments, 2, &error), BLOCK);
    ck_assert_uint_eq(griddep_chain_length(chain), 0);
    ck_good(griddep_chain_add(chain, road, &road_config, road_arguments, 2, &error));
    for (int i = 0; i < 2; i++) {
        ck_broken(griddep_chain_set_arguments(chain, 0, road_others, 2, &error), COLUMNS);
        ck_broken(griddep_chain_set_config(chain, 0, &road_wrong, &error), BLOCK);
        ck_good(griddep_chain_set_arguments(chain, 0, road_arguments, 2, &error));
    }
    griddep_chain_destroy(chain);
}

TEST(roads, a_node_of_a_graph_is_refused_and_so_are_its_changes)
{
    griddep_graph *graph = NULL;
    uint32_t node = 9;

    ck_good(griddep_graph_create(runtime, &graph, &error));
    ck_broken(griddep_graph_add_kernel(graph, road, &road_config, road_others, 2, &node, &error),
              COLUMNS);
    ck_good(griddep_graph_add_kernel(graph, road, &road_config, road_arguments, 2, &node, &error));
    ck_broken(griddep_graph_set_arguments(graph, node, road_others, 2, &error), COLUMNS);
    ck_broken(griddep_graph_set_config(graph, node, &road_wrong, &error), BLOCK);
    ck_good(griddep_graph_instantiate(graph, &error));
    ck_broken(griddep_graph_set_arguments(graph, node, road_others, 2, &error), COLUMNS);
    ck_broken(griddep_graph_set_config(graph, node, &road_wrong, &error), BLOCK);
    ck_good(griddep_graph_set_arguments(graph, node, road_arguments, 2, &error));
    griddep_graph_destroy(graph);
}

TEST(roads, a_kernel_tells_its_text)
{
    griddep_requirement_info info = {.size = sizeof info};
    griddep_kernel_info kernel = {.size = sizeof kernel};
    uint64_t bytes = 0;

    ck_good(griddep_kernel_get_info(road, &kernel, &error));
    ck_good(griddep_ptx_get_requirement(kernel.ptx, kernel.entry, 1, &info, &error));
    ck_assert_str_eq(info.text, "block.x % 32 == 0");
    ck_good(griddep_ptx_get_extent(kernel.ptx, kernel.entry, &road_config, road_arguments, 2, 0,
                                   &bytes, &error));
    ck_assert_uint_eq(bytes, 64);
}

/* ---- suites ---- */

MAIN_OF_SUITE("require")
