/* Conditions and extents of the head comment: what their language means, what is told where they are wrong, and that
 * every road to a launch keeps to them. On the scripted fake driver. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "ptx/ptx.h"
#include "run/runtime.h"
#include "unit/fail_alloc.h"

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
    ck_assert_int_eq(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error), GRIDDEP_OK);
    ck_assert_int_eq(gd_runtime_open_on(driver, NULL, &runtime, &error), GRIDDEP_OK);
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
    ".visible .entry kernel(.param .u64 x, .param .u64 y, .param .u32 rows, .param .u32 columns, .param .s32 shift,\n"
    ".param .u16 small, .param .s64 wide, .param .u64 huge, .param .f32 epsilon, .param .f64 scale,\n"
    ".param .align 8 .b8 map[16], .param .u8 tiny, .param .s8 minus, .param .u32 zero, .param .f16 half)\n"
    "{\nret;\n}\n";

enum { ARGUMENTS = 15 };

typedef struct launch {
    griddep_launch_config config;
    griddep_argument arguments[ARGUMENTS];
} launch;

static const unsigned char map[16];

static launch usual(void)
{
    launch made = {.config = {.size = sizeof made.config, .grid = {4, 2}, .block = {64, 1, 1}, .shared_bytes = 1024},
                   .arguments = {{.bytes = 8, .value = 0x10000},
                                 {.bytes = 8, .value = 0x20000},
                                 {.bytes = 4, .value = 12},
                                 {.bytes = 4, .value = 2048},
                                 {.bytes = 4, .value = (uint32_t)-3},
                                 {.bytes = 2, .value = 65535},
                                 {.bytes = 8, .value = (uint64_t)INT64_MIN},
                                 {.bytes = 8, .value = UINT64_MAX},
                                 {.bytes = 4},
                                 {.bytes = 8},
                                 {.bytes = 16, .data = map},
                                 {.bytes = 1, .value = 200},
                                 {.bytes = 1, .value = 200},
                                 {.bytes = 4, .value = 0},
                                 {.bytes = 2, .value = 0}}};
    const float epsilon = 1e-6f;
    const double scale = -0.5;

    memcpy(&made.arguments[8].value, &epsilon, sizeof epsilon);
    memcpy(&made.arguments[9].value, &scale, sizeof scale);
    return made;
}

static griddep_ptx *parse(const char *head)
{
    char text[8192];
    griddep_ptx *ptx = NULL;

    ck_assert_int_lt(snprintf(text, sizeof text, "%s%s", head, entry_text), (int)sizeof text);
    ck_assert_msg(griddep_ptx_parse(text, strlen(text), "head.ptx", &ptx, &error) == GRIDDEP_OK, "%s", error.text);
    return ptx;
}

static griddep_ptx *parse_condition(const char *condition)
{
    char head[6000];

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
    {"rows + columns - 60 == 2000", NULL},
    {"columns - rows * 2 == 2024 && (columns - rows) * 2 == 4072", NULL},
    {"columns / 100 == 20 && columns / rows / 2 == 85", NULL},
    {"shift == -3", NULL},
    {"-shift == 3", NULL},
    {"shift % 2 == -1 && shift / 2 == -1", NULL},
    {"shift > 0", "shift > 0 (shift is -3)"},
    {"small == 0xffff && tiny == 200 && minus == -56", NULL},
    {"wide == -2^63", NULL},
    {"huge == 2^64 - 1 && huge * huge > 2^126 || rows == 0",
     "huge == 2^64 - 1 && huge * huge > 2^126 || rows == 0, which is beyond 127 bits (huge is 0xffffffffffffffff, rows "
     "is 12)"},
    {"huge / 2 * huge / 2 < 2^126", NULL},
    {"wide * wide == 2^126", NULL},
    {"huge % 2^32 == 0xffffffff && huge % 10 == 5", NULL},
    {"rows / zero == 1", "rows / zero == 1, which divides by zero (rows is 12, zero is 0)"},
    {"rows % zero == 1", "rows % zero == 1, which divides by zero (rows is 12, zero is 0)"},
    {"zero == 0 || rows % zero == 0", NULL},
    {"zero != 0 && rows % zero == 0", "zero != 0 && rows % zero == 0 (zero is 0, rows is 12)"},
    {"x % 16 == 0", NULL},
    {"grid.x == 4 && grid.y == 2 && grid.z == 1", NULL},
    {"block.x % 32 == 0 && block.y == 1 && block.z == 1", NULL},
    {"cluster.x == 1 && cluster.y == 1 && cluster.z == 1", NULL},
    {"shared >= 2 * columns + 1024 || shared == 0",
     "shared >= 2 * columns + 1024 || shared == 0 (columns is 2048, shared is 1024)"},
    {"shared == 1024", NULL},
    {"min(rows, columns, 5) == 5 && max(rows, columns, 5) == 2048", NULL},
    {"power_of_two(columns) && !power_of_two(rows) && !power_of_two(zero) && !power_of_two(shift)", NULL},
    {"!(rows == 12)", "!(rows == 12) (rows is 12)"},
    {"!!(rows == 12) && !(rows == 13)", NULL},
    {"rows == 1 || rows == 12 && columns == 2048", NULL},
    {"(rows == 1 || rows == 12) && columns == 2047",
     "(rows == 1 || rows == 12) && columns == 2047 (rows is 12, columns is 2048)"},
    {"epsilon >= 1e-6 && epsilon <= 1e-6", NULL},
    {"epsilon > 0 && epsilon < 1", NULL},
    {"epsilon == 0.000001", NULL},
    {"scale == -0.5 && scale * 4 == -2 && scale + rows == 11.5", NULL},
    {"scale > 0", "scale > 0 (scale is -0.5)"},
    {"scale >= 25e-2", "scale >= 25e-2 (scale is -0.5)"},
    {"scale / zero == 1", "scale / zero == 1, which divides by zero (zero is 0, scale is -0.5)"},
    {"min(scale, 0) == -0.5 && max(scale, -1, 1.5) == 1.5 && -scale == 0.5", NULL},
    {"2^3^1 == rows - 4 || rows == 12", ""},
    {"rows % 8 == 0 -- whole vectors  of\t8", "rows % 8 == 0: whole vectors of 8 (rows is 12)"},
    {"rows == 12\n//     && columns == 1", "rows == 12 && columns == 1 (rows is 12, columns is 2048)"},
    {"rows == 12 -- a reason\n//     of two lines\n//   rows == 11 -- another", "rows == 11: another (rows is 12)"},
    {"huge < 2^32", "huge < 2^32 (huge is 0xffffffffffffffff)"},
};

START_TEST(a_condition_means_what_it_says)
{
    griddep_ptx *ptx = parse_condition(meanings[_i].condition);
    char expected[512];

    if (meanings[_i].refused && !meanings[_i].refused[0]) {
        ck_assert_uint_eq(ptx->requires_wrong.count, 1);
        griddep_ptx_destroy(ptx);
        return;
    }
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
END_TEST

START_TEST(not_a_number_holds_for_nothing)
{
    static const char *const conditions[] = {"scale >= 0", "scale <= 0", "scale == 0", "scale == scale", NULL};
    launch tried = usual();
    const double nan_value = NAN;

    memcpy(&tried.arguments[9].value, &nan_value, sizeof nan_value);
    for (int i = 0; conditions[i]; i++) {
        griddep_ptx *ptx = parse_condition(conditions[i]);
        ck_assert_int_eq(griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error),
                         GRIDDEP_ERROR_REQUIREMENT);
        griddep_ptx_destroy(ptx);
    }
}
END_TEST

/* ---- what is wrong with them ---- */

static const struct {
    const char *condition;
    uint32_t column; /* from 0 in the condition */
    const char *text;
} mistakes[] = {
    {"colums % 8 == 0", 0, "entry kernel has no parameter \"colums\"; did you mean \"columns\"?"},
    {"rows == 1 && blok.x == 2", 13, "did you mean \"block.x\"?"},
    {"elsewhere == 1", 0, "besides parameters there are grid.x to grid.z"},
    {"columns % 8", 8, "found a number, expected a condition"},
    {"columns", 0, "found a number, expected a condition"},
    {"1 <= rows <= 3", 2, "a < b < c is written a < b && b < c"},
    {"1 == 1", 2, "names nothing: it is always true"},
    {"!(1 == 1)", 4, "names nothing: it is always false"},
    {"rows == 1 || 1 == 2", 10, "beside || that names nothing: it is always false"},
    {"rows == 1 && rows", 13, "found a number, expected a condition on the right of &&"},
    {"rows && rows == 1", 0, "found a number, expected a condition on the left of &&"},
    {"!rows", 1, "found a number, expected a condition behind !"},
    {"rows == (columns == 1)", 17, "found a condition beside =="},
    {"rows / 0 == 1", 5, "found a division by zero"},
    {"rows % (4 - 4) == 1", 5, "found a division by zero"},
    {"rows == 1 / 0", 10, "found a division by zero"},
    {"rows < 2^127", 8, "found ^ that is not between two integers"},
    {"rows < 16^32", 9, "found a number beyond 127 bits"},
    {"rows < 2^126 * 2", 13, "found a number beyond 127 bits"},
    {"rows^2 == 4", 4, "found ^ that is not between two integers"},
    {"2^rows == 4", 1, "found ^ that is not between two integers"},
    {"rows < 18446744073709551616", 7, "found a number that cannot be read"},
    {"rows < 0x", 7, "found a number that cannot be read"},
    {"rows < 12ab", 7, "found a number that cannot be read"},
    {"scale < 1.0000000000000001", 8, "found a number that cannot be read"},
    {"scale < 1e99", 8, "found a number that cannot be read"},
    {"scale < 1e", 8, "found a number that cannot be read"},
    {"scale % 2 == 0", 6, "found % of a floating-point number"},
    {"power_of_two(scale)", 0, "found power_of_two() of a floating-point number"},
    {"power_of_two(rows == 1)", 18, "found a condition beside power_of_two"},
    {"map == 1", 0, "parameter \"map\" is neither an integer nor f32 or f64"},
    {"half == 1", 0, "parameter \"half\" is neither an integer nor f32 or f64"},
    {"rows = 1", 5, "found '='"},
    {"rows == 1 & columns == 2", 10, "found '&'"},
    {"rows @ 1", 5, "found '@'"},
    {"rows == \x01", 8, "found a byte 0x01"},
    {"rows == 1)", 9, "found ')', expected an operator or the end"},
    {"(rows == 1", 10, "found the end, expected ')'"},
    {"rows == ", 7, "found the end, expected a name, a number or '('"},
    {"rows == == 1", 8, "found '==', expected a name, a number or '('"},
    {"rows columns == 1", 5, "found 'columns', expected an operator or the end"},
    {"min(rows) == 1", 8, "found ')', expected ',' and another number"},
    {"log(rows) == 1", 0, "there is no function \"log\""},
    {"apart(x, y)", 6, "how far x reaches is not told"},
    {"apart(rows, y)", 6, "expected a parameter that is an address"},
    {"apart(5, y)", 6, "expected a parameter that is an address"},
    {"-- only a reason", 0, "found the end"},
    {"rows == 1 --", 12, ""},
};

START_TEST(a_mistake_is_told_with_its_place)
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
    ck_assert_int_eq(griddep_ptx_print(ptx, NULL, 0, &bytes, &error), GRIDDEP_OK);
    ck_assert_int_eq(griddep_module_load(runtime, ptx->module.text, bytes, NULL, &module, &error),
                     GRIDDEP_ERROR_SYNTAX);
    ck_assert_ptr_null(module);
    ck_assert_int_eq(error.line, 3);
    ck_assert_int_eq(error.column, (int)mistakes[_i].column + 6);
    ck_assert_ptr_nonnull(strstr(error.text, mistakes[_i].text));
    griddep_ptx_destroy(ptx);
}
END_TEST

START_TEST(limits_are_told)
{
    char condition[5000] = "rows == 1";
    size_t length;

    for (int i = 0; i < 200; i++)
        strcat(condition, " || rows == 2");
    griddep_ptx *ptx = parse_condition(condition);
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "GD_REQUIRE_LIMIT_NODES"));
    griddep_ptx_destroy(ptx);
    memset(condition, '(', 100);
    strcpy(condition + 100, "rows");
    ptx = parse_condition(condition);
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "GD_REQUIRE_LIMIT_DEPTH"));
    griddep_ptx_destroy(ptx);
    strcpy(condition, "rows == 0");
    for (int i = 0; i < GD_REQUIRE_LIMIT_CONDITIONS; i++) {
        length = strlen(condition);
        snprintf(condition + length, sizeof condition - length, "\n//   rows != %d", i);
    }
    ptx = parse_condition(condition);
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "GD_REQUIRE_LIMIT_CONDITIONS"));
    griddep_ptx_destroy(ptx);
}
END_TEST

/* Every operand waits for the one behind it. */
START_TEST(what_waits_has_a_limit)
{
    char condition[2000] = "rows == ";
    int depth = 30;

    for (int i = 0; i < depth; i++)
        strcat(condition, "(rows * 2 + ");
    strcat(condition, "1");
    for (int i = 0; i < depth; i++)
        strcat(condition, ")");
    griddep_ptx *ptx = parse_condition(condition);
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(check_usual(ptx), GRIDDEP_ERROR_REQUIREMENT);
    griddep_ptx_destroy(ptx);
    strcpy(condition, "rows == ");
    for (int i = 0; i < 20; i++)
        strcat(condition, "(rows * 2 + rows * (rows + 1) * max(rows * 3, ");
    strcat(condition, "1");
    for (int i = 0; i < 20; i++)
        strcat(condition, "))");
    ptx = parse_condition(condition);
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "GD_REQUIRE_LIMIT_"));
    griddep_ptx_destroy(ptx);
}
END_TEST

/* ---- fields ---- */

static const griddep_requirement_info *nth(const griddep_ptx *ptx, uint32_t entry, uint32_t index)
{
    static griddep_requirement_info info;

    info = (griddep_requirement_info){.size = sizeof info};
    return griddep_ptx_get_requirement(ptx, entry, index, &info, &error) == GRIDDEP_OK ? &info : NULL;
}

START_TEST(conditions_are_read_back)
{
    griddep_ptx *ptx = parse("// kernel: test\r\n"
                             "// requires: rows >= 1 -- there is a row\r\n"
                             "//     columns   %  8 == 0\r\n"
                             "//       || columns == 4 -- a reason\r\n"
                             "//       of two lines\r\n"
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
    ck_assert_str_eq(info->reason, "a reason of two lines");
    ck_assert_int_eq(info->line, 3);
    ck_assert_str_eq(nth(ptx, 0, 2)->text, "block.x == 64");
    ck_assert_ptr_null(nth(ptx, 0, 2)->reason);
    ck_assert_str_eq(nth(ptx, 0, 3)->text, "grid.x == 4");
    ck_assert_ptr_null(nth(ptx, 0, 4));
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_ptr_null(nth(ptx, 1, 0));
    griddep_ptx_destroy(ptx);
}
END_TEST

static const char two_entries[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry one(.param .u32 rows)\n{\nret;\n}\n"
                                  ".visible .entry two(.param .u32 columns)\n{\nret;\n}\n";

START_TEST(each_entry_has_its_own)
{
    char text[1024];
    griddep_ptx *ptx = NULL;

    snprintf(text, sizeof text, "%s%s",
             "// requires:\n//   block.x == 32\n// requires one:\n//   rows == 1\n// requires two: columns == 2\n",
             two_entries);
    ck_assert_int_eq(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error), GRIDDEP_OK);
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_str_eq(nth(ptx, 0, 0)->text, "block.x == 32");
    ck_assert_str_eq(nth(ptx, 0, 1)->text, "rows == 1");
    ck_assert_ptr_null(nth(ptx, 0, 2));
    ck_assert_str_eq(nth(ptx, 1, 0)->text, "block.x == 32");
    ck_assert_str_eq(nth(ptx, 1, 1)->text, "columns == 2");
    ck_assert_ptr_null(nth(ptx, 1, 2));
    griddep_ptx_destroy(ptx);
    snprintf(text, sizeof text, "%s%s", "// requires three:\n//   rows == 1\n", two_entries);
    ck_assert_int_eq(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error), GRIDDEP_OK);
    ck_assert_str_eq(first_wrong(ptx), "there is no entry \"three\"");
    griddep_ptx_destroy(ptx);
    snprintf(text, sizeof text, "%s%s", "// requires:\n//   rows == 1\n", two_entries);
    ck_assert_int_eq(griddep_ptx_parse(text, strlen(text), NULL, &ptx, &error), GRIDDEP_OK);
    ck_assert_ptr_nonnull(strstr(first_wrong(ptx), "entry two has no parameter \"rows\""));
    griddep_ptx_destroy(ptx);
}
END_TEST

START_TEST(a_text_without_the_field_has_none)
{
    static const char *const heads[] = {"",
                                        "// kernel: requires\n",
                                        "// requirements: none\n",
                                        "// requires CUDA 12\n",
                                        "\n/* Not // this one. */\n// requires:\n//   rows == 1\n",
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
END_TEST

/* A field with conditions that begins otherwise than a field does would be lost: it is an error, and so is a line that
 * would be its condition. */
START_TEST(a_field_that_would_be_lost_is_wrong)
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
        NULL};

    for (int i = 0; heads[i]; i++) {
        griddep_ptx *ptx = parse(heads[i]);
        ck_assert_msg(ptx->requires_wrong.count >= 1 || nth(ptx, 0, 0), "%s: lost", heads[i]);
        if (!nth(ptx, 0, 0))
            ck_assert_msg(strstr(first_wrong(ptx), "begins no field here") != NULL, "%s: %s", heads[i], first_wrong(ptx));
        griddep_ptx_destroy(ptx);
    }
}
END_TEST

/* ---- extents ---- */

static const char extents[] = "// extent:\n"
                              "//   x: rows * columns * 2 -- bytes\n"
                              "//   y: columns - rows * 1000000 * zero\n"
                              "//   huge: shift\n";

START_TEST(an_extent_is_told)
{
    griddep_ptx *ptx = parse(extents);
    launch tried = usual();
    uint64_t bytes = 7;

    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 0, &bytes, &error),
                     GRIDDEP_OK);
    ck_assert_uint_eq(bytes, 49152);
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 1, &bytes, &error),
                     GRIDDEP_OK);
    ck_assert_uint_eq(bytes, 2048);
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 7, &bytes, &error),
                     GRIDDEP_ERROR_REQUIREMENT);
    ck_assert_str_eq(error.text, "kernel kernel: the extent of huge, shift, is no number of bytes for this launch");
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 2, &bytes, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_uint_eq(bytes, 2048);
    tried.arguments[0].value = 0;
    ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 0, &bytes, &error),
                     GRIDDEP_OK);
    ck_assert_uint_eq(bytes, 0);
    griddep_ptx_destroy(ptx);
}
END_TEST

static const struct {
    const char *line, *text;
} wrong_extents[] = {
    {"x", "found no parameter in front of ':'"},
    {": 5", "found no parameter in front of ':'"},
    {"5: 5", "found no parameter in front of ':'"},
    {"z: 5", "entry kernel has no parameter \"z\""},
    {"rows: 5", "expected a parameter that is an address"},
    {"x y: 5", "found more than a parameter's name"},
    {"x: ", "found the end, expected a name"},
    {"x: rows == 1", "found a condition, expected a number of bytes"},
    {"x: scale", "found a floating-point number, expected a number of bytes"},
    {"x: 5\n//   x: 6", "the extent of x is told twice"},
    {"x: bf61[rows]", "there are no elements \"bf61\""},
    {"x: bf[rows]", "there are no elements \"bf\"; did you mean"},
    {"x: f32[rows", "found no ']' at the end"},
    {"x: f32[rows] * 2", "found no ']' at the end"},
    {"x: f32[]", "found the end, expected a name"},
    {"x: f32[rows == 1]", "found a condition, expected a number of bytes"},
    {"x: [rows]", "found '[', which no condition has"},
};

START_TEST(a_wrong_extent_is_told)
{
    char head[256];

    snprintf(head, sizeof head, "// extent:\n//   %s\n", wrong_extents[_i].line);
    griddep_ptx *ptx = parse(head);
    ck_assert_msg(strstr(first_wrong(ptx), wrong_extents[_i].text), "%s", first_wrong(ptx));
    griddep_ptx_destroy(ptx);
}
END_TEST

/* Elements, and how many bytes they are. */
START_TEST(an_extent_tells_its_elements)
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
        {"u16[rows\n//      + 2]", "u16", 28},
    };
    const launch tried = usual();
    griddep_parameter_info info = {.size = sizeof info};
    char head[256];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bytes = 0;
        snprintf(head, sizeof head, "// extent:\n//   x: %s\n", cases[i].extent);
        griddep_ptx *ptx = parse(head);
        ck_assert_str_eq(first_wrong(ptx), "");
        ck_assert_int_eq(griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, 0, &bytes, &error),
                         GRIDDEP_OK);
        ck_assert_uint_eq(bytes, cases[i].bytes);
        ck_assert_int_eq(griddep_ptx_get_parameter(ptx, 0, 0, &info, &error), GRIDDEP_OK);
        ck_assert_pstr_eq(info.element, cases[i].element);
        ck_assert_int_eq(griddep_ptx_get_parameter(ptx, 0, 1, &info, &error), GRIDDEP_OK);
        ck_assert_ptr_null(info.element);
        griddep_ptx_destroy(ptx);
    }
}
END_TEST

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
};

START_TEST(apart_looks_at_both_ends)
{
    char head[512];
    launch tried = usual();

    snprintf(head, sizeof head, "// requires:\n//   apart(x, y)\n%s", extents);
    griddep_ptx *ptx = parse(head);
    tried.arguments[0].value = places[_i].x;
    tried.arguments[1].value = places[_i].y;
    ck_assert_str_eq(first_wrong(ptx), "");
    ck_assert_int_eq(griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error),
                     places[_i].apart ? GRIDDEP_OK : GRIDDEP_ERROR_REQUIREMENT);
    if (!places[_i].apart)
        ck_assert_ptr_nonnull(strstr(error.text, " with 49152 bytes, y is "));
    griddep_ptx_destroy(ptx);
}
END_TEST

/* ---- random conditions beside a direct computation ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

typedef struct computed {
    gd_wide value;
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
        int64_t value;
    } leaves[] = {{"rows", 12},
                  {"columns", 2048},
                  {"shift", -3},
                  {"zero", 0},
                  {"wide", INT64_MIN},
                  {"small", 65535},
                  {"7", 7},
                  {"0x40", 64},
                  {"2^40", 1ll << 40},
                  {"grid.x", 4},
                  {"9223372036854775807", INT64_MAX}};
    size_t i = random_below(sizeof leaves / sizeof leaves[0]);

    put(out, leaves[i].name);
    return (computed){leaves[i].value, GD_REQUIRE_DONE};
}

/* A product in the plain way: by additions of shifted values. */
static bool plain_product(gd_wide a, gd_wide b, gd_wide *product)
{
    bool negative = (a < 0) != (b < 0);
    gd_wide sum = 0;

    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b > 0) {
        if ((b & 1) && __builtin_add_overflow(sum, a, &sum))
            return false;
        b >>= 1;
        if (b > 0 && __builtin_add_overflow(a, a, &a))
            return false;
    }
    *product = negative ? -sum : sum;
    return true;
}

static computed combine(int op, computed a, computed b)
{
    computed made = {0, a.outcome ? a.outcome : b.outcome};
    bool fits = true;

    if (made.outcome)
        return made;
    if (op >= 3 && op <= 4 && !b.value)
        return (computed){0, GD_REQUIRE_DIVIDES_BY_ZERO};
    switch (op) {
    case 0:
        fits = !__builtin_add_overflow(a.value, b.value, &made.value);
        break;
    case 1:
        fits = !__builtin_sub_overflow(a.value, b.value, &made.value);
        break;
    case 2:
        fits = plain_product(a.value, b.value, &made.value);
        break;
    case 3:
        made.value = a.value / b.value;
        break;
    case 4:
        made.value = a.value % b.value;
        break;
    case 5:
        made.value = a.value < b.value ? a.value : b.value;
        break;
    default:
        made.value = a.value > b.value ? a.value : b.value;
    }
    if (!fits)
        made.outcome = GD_REQUIRE_OVERFLOWS;
    return made;
}

static computed random_number(writer *out, int depth)
{
    static const char *const signs[] = {" + ", " - ", " * ", " / ", " % "};

    if (depth == 0 || random_below(4) == 0)
        return random_leaf(out);
    int op = (int)random_below(8);
    if (op == 7) {
        put(out, "(-");
        computed of = random_number(out, depth - 1);
        put(out, ")");
        return (computed){-of.value, of.outcome};
    }
    put(out, op == 5 ? "min(" : op == 6 ? "max(" : "(");
    computed a = random_number(out, depth - 1);
    put(out, op >= 5 ? ", " : signs[op]);
    computed b = random_number(out, depth - 1);
    put(out, ")");
    return combine(op, a, b);
}

static computed random_truth(writer *out, int depth)
{
    static const char *const signs[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};

    if (depth > 0 && random_below(2)) {
        bool both = random_below(2);
        put(out, "(");
        computed a = random_truth(out, depth - 1);
        put(out, both ? " && " : " || ");
        computed b = random_truth(out, depth - 1);
        put(out, ")");
        return a.outcome || (a.value != 0) != both ? a : b;
    }
    int op = (int)random_below(6);
    computed a = random_number(out, 3);
    put(out, signs[op]);
    computed b = random_number(out, 3);
    gd_require_outcome outcome = a.outcome ? a.outcome : b.outcome;
    bool truths[] = {a.value == b.value, a.value != b.value, a.value<b.value, a.value <= b.value, a.value> b.value,
                     a.value >= b.value};
    return (computed){outcome ? 0 : truths[op], outcome};
}

START_TEST(random_conditions_are_computed_right)
{
    uint32_t tried = 0, taken = 0, refused = 0, failed = 0;

    random_state = 20261121;
    for (int i = 0; i < 20000; i++) {
        writer out = {.bytes = 0};
        computed expected = random_truth(&out, 2);
        griddep_ptx *ptx = parse_condition(out.text);
        if (!ptx->requires_wrong.count) { /* what is constant may be refused when it is read */
            int32_t status = check_usual(ptx);
            bool holds = expected.outcome == GD_REQUIRE_DONE && expected.value;
            ck_assert_msg((status == GRIDDEP_OK) == holds, "%s: %s", out.text, status ? error.text : "taken");
            if (expected.outcome == GD_REQUIRE_OVERFLOWS)
                ck_assert_msg(strstr(error.text, "127 bits"), "%s: %s", out.text, error.text);
            if (expected.outcome == GD_REQUIRE_DIVIDES_BY_ZERO)
                ck_assert_msg(strstr(error.text, "by zero"), "%s: %s", out.text, error.text);
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
END_TEST

/* ---- ranges: what most conditions are computed as ---- */

static const struct {
    const char *name;
    int argument;
    int64_t least;
    uint64_t most;
} limits[] = {{"tiny", 11, 0, UINT8_MAX},       {"minus", 12, INT8_MIN, INT8_MAX},  {"small", 5, 0, UINT16_MAX},
              {"rows", 2, 0, UINT32_MAX},       {"shift", 4, INT32_MIN, INT32_MAX}, {"x", 0, 0, UINT64_MAX},
              {"wide", 6, INT64_MIN, INT64_MAX}};

static void put_number(writer *out, gd_wide value)
{
    char text[64];

    if (value < 0)
        snprintf(text, sizeof text, "(-%" PRIu64 ")", (uint64_t)-value);
    else if (value > UINT64_MAX)
        snprintf(text, sizeof text, "(%" PRIu64 " + %" PRIu64 ")", UINT64_MAX, (uint64_t)(value - UINT64_MAX));
    else
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value);
    put(out, text);
}

static void check_comparison(int which, int op, gd_wide divisor, gd_wide number, bool turned)
{
    static const char *const signs[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};
    writer out = {.bytes = 0};
    launch tried = usual();

    if (turned) {
        put_number(&out, number);
        put(&out, signs[op]);
    }
    put(&out, limits[which].name);
    if (divisor) {
        put(&out, " % ");
        put_number(&out, divisor);
    }
    if (!turned) {
        put(&out, signs[op]);
        put_number(&out, number);
    }
    griddep_ptx *ptx = parse_condition(out.text);
    ck_assert_str_eq(first_wrong(ptx), "");
    const gd_wide least = limits[which].least, most = limits[which].most;
    const gd_wide values[] = {least, least + 1, least / 2 - 1, 0, 1, 7, 8, most / 2, most / 2 + 1, most - 1, most};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i] < least)
            continue;
        tried.arguments[limits[which].argument].value = (uint64_t)values[i];
        const gd_wide value = divisor ? values[i] % divisor : values[i];
        const gd_wide a = turned ? number : value, b = turned ? value : number;
        const bool truths[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
        int32_t status = griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error);
        ck_assert_msg((status == GRIDDEP_OK) == truths[op], "%s: %s", out.text, status ? error.text : "taken");
    }
    griddep_ptx_destroy(ptx);
}

START_TEST(comparisons_hold_up_to_their_limits)
{
    const gd_wide least = limits[_i].least, most = limits[_i].most;
    const gd_wide numbers[] = {least - 1, least, least + 1, 0, 1, 7, most - 1, most, most + 1};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (int op = 0; op < 6; op++) {
            check_comparison(_i, op, 0, numbers[i], false);
            check_comparison(_i, op, 0, numbers[i], true);
            check_comparison(_i, op, 8, numbers[i], false);
            check_comparison(_i, op, 1, numbers[i], false);
            check_comparison(_i, op, 12, numbers[i], true);
            check_comparison(_i, op, (gd_wide)1 << 63, numbers[i], false);
        }
    }
}
END_TEST

/* ---- any bytes ---- */

/* Pieces of the language, and of what is not. */
static const char *const pieces[] = {"rows",
                                     "columns",
                                     "x",
                                     "y",
                                     "(",
                                     ")",
                                     "((",
                                     "==",
                                     "!=",
                                     "<=",
                                     "&&",
                                     "||",
                                     "!",
                                     "-",
                                     "+",
                                     "*",
                                     "/",
                                     "%",
                                     "^",
                                     "2",
                                     "2^30",
                                     "0",
                                     "0x1",
                                     "1e",
                                     "1.5e3",
                                     "min(",
                                     "max(",
                                     "apart(x, y)",
                                     "apart(",
                                     ",",
                                     ":",
                                     "--",
                                     "\n//   ",
                                     "\n//     ",
                                     "\n",
                                     "//",
                                     "grid.x",
                                     "shared",
                                     ".",
                                     "\t",
                                     "power_of_two(",
                                     "\xff",
                                     "extent:",
                                     "requires",
                                     "\r\n",
                                     "99999999999999999999",
                                     "scale",
                                     "epsilon",
                                     "huge"};

START_TEST(no_text_breaks_the_reader)
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
        snprintf(text, sizeof text, "// requires:\n//   %s\n// extent:\n//   x: columns\n//   y: %s\n%s", out.text,
                 random_below(2) ? "rows" : out.text, entry_text);
        ck_assert_int_eq(gd_ptx_parse_tolerant(text, strlen(text), NULL, &ptx, &error), GRIDDEP_OK);
        uint64_t bytes;
        for (uint32_t k = 0; k < 2 && ptx->module.entry_count; k++)
            griddep_ptx_get_extent(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, k, &bytes, &error);
        if (ptx->module.entry_count)
            griddep_ptx_check_launch(ptx, 0, &tried.config, tried.arguments, ARGUMENTS, &error);
        griddep_ptx_destroy(ptx);
    }
}
END_TEST

START_TEST(no_allocation_that_fails_is_missed)
{
    char text[2048];
    bool done = false;

    snprintf(text, sizeof text, "// requires:\n//   columns %% 8 == 0 -- a reason\n//   apart(x, y)\n%s%s", extents,
             entry_text);
    for (long n = 0; !done; n++) {
        griddep_module *module = NULL;
        fail_alloc_after(n);
        int32_t status = griddep_module_load(runtime, text, strlen(text), NULL, &module, &error);
        done = !fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, done ? GRIDDEP_OK : GRIDDEP_ERROR_MEMORY);
        griddep_module_unload(module);
    }
}
END_TEST

/* ---- every road to a launch ---- */

static const char road_text[] = "// requires:\n"
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
    ck_assert_msg(griddep_module_load(runtime, road_text, sizeof road_text, NULL, &road_module, &error) == GRIDDEP_OK,
                  "%s", error.text);
    ck_assert_int_eq(griddep_kernel_get(road_module, NULL, &road, &error), GRIDDEP_OK);
}

static void teardown_road(void)
{
    griddep_module_unload(road_module);
    teardown();
}

static const griddep_launch_config road_config = {.size = sizeof road_config, .grid = {2}, .block = {32}};
static const griddep_launch_config road_wrong = {.size = sizeof road_wrong, .grid = {2}, .block = {33}};
static const griddep_launch_config road_cluster = {.size = sizeof road_cluster,
                                                   .grid = {4},
                                                   .block = {32},
                                                   .cluster = {4}};
static const griddep_argument road_arguments[] = {{.bytes = 8, .value = 4096}, {.bytes = 4, .value = 16}};
static const griddep_argument road_others[] = {{.bytes = 8, .value = 4096}, {.bytes = 4, .value = 12}};

#define ck_refused(call, words)                                                                                        \
    do {                                                                                                               \
        ck_assert_int_eq(call, GRIDDEP_ERROR_REQUIREMENT);                                                             \
        ck_assert_str_eq(error.text, "kernel road needs " words);                                                      \
    } while (0)

#define COLUMNS "columns % 8 == 0 (columns is 12)"
#define BLOCK "block.x % 32 == 0 (block.x is 33)"
#define CLUSTER "cluster.x == 1 || cluster.x == 2 (cluster.x is 4)"

START_TEST(a_launch_is_refused)
{
    ck_assert_int_eq(griddep_launch(road, &road_config, road_arguments, 2, NULL, &error), GRIDDEP_OK);
    ck_assert_uint_eq(fake_driver_launches(), 1);
    ck_refused(griddep_launch(road, &road_config, road_others, 2, NULL, &error), COLUMNS);
    ck_refused(griddep_launch(road, &road_wrong, road_arguments, 2, NULL, &error), BLOCK);
    ck_refused(griddep_launch(road, &road_cluster, road_arguments, 2, NULL, &error), CLUSTER);
    ck_assert_uint_eq(fake_driver_launches(), 1);
}
END_TEST

START_TEST(a_packed_launch_is_refused)
{
    struct {
        uint64_t x;
        uint32_t columns;
    } packed = {4096, 16};

    ck_assert_int_eq(griddep_launch_packed(road, &road_config, &packed, 12, NULL, &error), GRIDDEP_OK);
    ck_refused(griddep_launch_packed(road, &road_wrong, &packed, 12, NULL, &error), BLOCK);
    packed.columns = 12;
    ck_refused(griddep_launch_packed(road, &road_config, &packed, 12, NULL, &error), COLUMNS);
    ck_assert_uint_eq(fake_driver_launches(), 1);
}
END_TEST

START_TEST(a_cluster_given_as_an_attribute_counts)
{
    griddep_attribute attribute;
    griddep_launch_config config = {
        .size = sizeof config, .grid = {4}, .block = {32}, .attributes = &attribute, .attribute_count = 1};

    ck_assert_int_eq(griddep_attribute_cluster_dimension(&attribute, 4, 1, 1, &error), GRIDDEP_OK);
    ck_refused(griddep_launch(road, &config, road_arguments, 2, NULL, &error), CLUSTER);
    ck_assert_int_eq(griddep_attribute_cluster_dimension(&attribute, 2, 1, 1, &error), GRIDDEP_OK);
    ck_assert_int_eq(griddep_launch(road, &config, road_arguments, 2, NULL, &error), GRIDDEP_OK);
}
END_TEST

START_TEST(a_launch_of_a_chain_is_refused)
{
    griddep_chain *chain = NULL;

    ck_assert_int_eq(griddep_chain_create(runtime, &chain, &error), GRIDDEP_OK);
    ck_refused(griddep_chain_add(chain, road, &road_config, road_others, 2, &error), COLUMNS);
    ck_refused(griddep_chain_add(chain, road, &road_wrong, road_arguments, 2, &error), BLOCK);
    ck_assert_uint_eq(griddep_chain_length(chain), 0);
    ck_assert_int_eq(griddep_chain_add(chain, road, &road_config, road_arguments, 2, &error), GRIDDEP_OK);
    griddep_chain_destroy(chain);
}
END_TEST

START_TEST(a_node_of_a_graph_is_refused_and_so_are_its_changes)
{
    griddep_graph *graph = NULL;
    uint32_t node = 9;

    ck_assert_int_eq(griddep_graph_create(runtime, &graph, &error), GRIDDEP_OK);
    ck_refused(griddep_graph_add_kernel(graph, road, &road_config, road_others, 2, &node, &error), COLUMNS);
    ck_assert_int_eq(griddep_graph_add_kernel(graph, road, &road_config, road_arguments, 2, &node, &error), GRIDDEP_OK);
    ck_refused(griddep_graph_set_arguments(graph, node, road_others, 2, &error), COLUMNS);
    ck_refused(griddep_graph_set_config(graph, node, &road_wrong, &error), BLOCK);
    ck_assert_int_eq(griddep_graph_instantiate(graph, &error), GRIDDEP_OK);
    ck_refused(griddep_graph_set_arguments(graph, node, road_others, 2, &error), COLUMNS);
    ck_refused(griddep_graph_set_config(graph, node, &road_wrong, &error), BLOCK);
    ck_assert_int_eq(griddep_graph_set_arguments(graph, node, road_arguments, 2, &error), GRIDDEP_OK);
    griddep_graph_destroy(graph);
}
END_TEST

START_TEST(a_kernel_tells_and_checks)
{
    griddep_requirement_info info = {.size = sizeof info};
    uint64_t bytes = 0;

    ck_assert_int_eq(griddep_kernel_get_requirement(road, 1, &info, &error), GRIDDEP_OK);
    ck_assert_str_eq(info.text, "block.x % 32 == 0");
    ck_assert_int_eq(griddep_kernel_get_requirement(road, 3, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_int_eq(griddep_kernel_get_requirement(NULL, 0, &info, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_kernel_check(road, &road_config, road_arguments, 2, &error), GRIDDEP_OK);
    ck_refused(griddep_kernel_check(road, &road_config, road_others, 2, &error), COLUMNS);
    ck_assert_int_eq(griddep_kernel_check(road, &road_config, road_arguments, 1, &error), GRIDDEP_ERROR_SIGNATURE);
    ck_assert_int_eq(griddep_kernel_check(road, NULL, road_arguments, 2, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_kernel_get_extent(road, &road_config, road_arguments, 2, 0, &bytes, &error), GRIDDEP_OK);
    ck_assert_uint_eq(bytes, 64);
    ck_assert_int_eq(griddep_kernel_get_extent(road, &road_config, road_arguments, 2, 1, &bytes, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_uint_eq(fake_driver_launches(), 0);
}
END_TEST

/* ---- suites ---- */

#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

static Suite *make_suite(void)
{
    Suite *suite = suite_create("require");
    TCase *language = tcase_create("language");
    TCase *fields = tcase_create("fields");
    TCase *roads = tcase_create("roads");

    tcase_add_checked_fixture(language, setup, teardown);
    tcase_add_loop_test(language, a_condition_means_what_it_says, 0, COUNT(meanings));
    tcase_add_test(language, not_a_number_holds_for_nothing);
    tcase_add_loop_test(language, a_mistake_is_told_with_its_place, 0, COUNT(mistakes));
    tcase_add_test(language, limits_are_told);
    tcase_add_test(language, what_waits_has_a_limit);
    tcase_add_test(language, no_allocation_that_fails_is_missed);
    suite_add_tcase(suite, language);
    tcase_add_checked_fixture(fields, setup_error, NULL);
    tcase_add_test(fields, conditions_are_read_back);
    tcase_add_test(fields, each_entry_has_its_own);
    tcase_add_test(fields, a_text_without_the_field_has_none);
    tcase_add_test(fields, a_field_that_would_be_lost_is_wrong);
    tcase_add_test(fields, an_extent_is_told);
    tcase_add_test(fields, an_extent_tells_its_elements);
    tcase_add_loop_test(fields, a_wrong_extent_is_told, 0, COUNT(wrong_extents));
    tcase_add_loop_test(fields, apart_looks_at_both_ends, 0, COUNT(places));
    tcase_add_test(fields, random_conditions_are_computed_right);
    tcase_add_loop_test(fields, comparisons_hold_up_to_their_limits, 0, COUNT(limits));
    tcase_add_test(fields, no_text_breaks_the_reader);
    suite_add_tcase(suite, fields);
    tcase_add_checked_fixture(roads, setup_road, teardown_road);
    tcase_add_test(roads, a_launch_is_refused);
    tcase_add_test(roads, a_packed_launch_is_refused);
    tcase_add_test(roads, a_cluster_given_as_an_attribute_counts);
    tcase_add_test(roads, a_launch_of_a_chain_is_refused);
    tcase_add_test(roads, a_node_of_a_graph_is_refused_and_so_are_its_changes);
    tcase_add_test(roads, a_kernel_tells_and_checks);
    suite_add_tcase(suite, roads);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());

    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
