/* Tensor maps: their bytes against those of an H200, and what conditions say of them; a map that is
 * not understood is held against nothing. On the scripted fake driver. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "ptx/handle/ptx.h"
#include "ptx/require/tensor_map.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/status.h"

#define COUNT(list) (int)(sizeof(list) / sizeof(list)[0])

enum { WRITTEN = 76, LINE = 1024 };

static griddep_error error;

static void setup(void)
{
    unsetenv("GRIDDEP_PDL");
    unsetenv("GRIDDEP_LOG");
    setenv("GRIDDEP_STORE", "off", 1);
    fake_driver_reset();
    griddep_error_init(&error);
}

/* ---- the bytes ---- */

static uint64_t next(char **at)
{
    return strtoull(*at, at, 0);
}

static int32_t next_signed(char **at)
{
    return (int32_t)strtol(*at, at, 0);
}

/* A line of the golden file: false for a comment. */
static bool read_line(char *line, gd_tensor_map *map, unsigned char *bytes)
{
    char *at = line;
    unsigned byte;

    *map = (gd_tensor_map){.rank = 0};
    memset(bytes, 0, GD_TENSOR_MAP_BYTES);
    if (*line == '#')
        return false;
    map->im2col = next(&at);
    map->type = (uint8_t)next(&at);
    map->interleave = (uint8_t)next(&at);
    map->swizzle = (uint8_t)next(&at);
    map->promotion = (uint8_t)next(&at);
    map->fill = (uint8_t)next(&at);
    map->rank = (uint8_t)next(&at);
    map->address = next(&at);
    for (uint32_t i = 0; i < map->rank; i++)
        map->sizes[i] = next(&at);
    map->strides[0] = gd_tensor_element(map->type);
    for (uint32_t i = 1; i < map->rank; i++)
        map->strides[i] = next(&at);
    for (uint32_t i = 0; i < map->rank; i++)
        map->steps[i] = (uint32_t)next(&at);
    if (map->im2col) {
        map->channels = (uint32_t)next(&at);
        map->pixels = (uint32_t)next(&at);
    }
    for (uint32_t i = 0; i < map->rank && !map->im2col; i++)
        map->box[i] = (uint32_t)next(&at);
    for (uint32_t i = 0; i + 2 < map->rank && map->im2col; i++)
        map->lower[i] = next_signed(&at);
    for (uint32_t i = 0; i + 2 < map->rank && map->im2col; i++)
        map->upper[i] = next_signed(&at);
    at = strchr(at, ':') + 2;
    for (int i = 0; i < WRITTEN; i++) {
        ck_assert_int_eq(sscanf(at + 2 * (size_t)i, "%2x", &byte), 1);
        bytes[i] = (unsigned char)byte;
    }
    return true;
}

static void check_same(const gd_tensor_map *a, const gd_tensor_map *b)
{
    ck_assert_uint_eq(a->address, b->address);
    ck_assert_mem_eq(a->sizes, b->sizes, sizeof a->sizes);
    ck_assert_mem_eq(a->strides, b->strides, sizeof a->strides);
    ck_assert_mem_eq(a->box, b->box, sizeof a->box);
    ck_assert_mem_eq(a->steps, b->steps, sizeof a->steps);
    ck_assert_uint_eq(a->channels, b->channels);
    ck_assert_uint_eq(a->pixels, b->pixels);
    ck_assert_mem_eq(a->lower, b->lower, sizeof a->lower);
    ck_assert_mem_eq(a->upper, b->upper, sizeof a->upper);
    ck_assert_uint_eq(a->rank, b->rank);
    ck_assert_uint_eq(a->type, b->type);
    ck_assert_uint_eq(a->interleave, b->interleave);
    ck_assert_uint_eq(a->swizzle, b->swizzle);
    ck_assert_uint_eq(a->promotion, b->promotion);
    ck_assert_uint_eq(a->fill, b->fill);
    ck_assert_int_eq(a->im2col, b->im2col);
}

TEST_GROUP(bytes, NULL, NULL);
TEST_GROUP(language, setup, NULL);
TEST_GROUP(launches, setup, NULL);

TEST(bytes, maps_are_encoded_as_on_an_h200)
{
    FILE *file = fopen(SOURCE_DIRECTORY "/tests/golden/tensor_map/h200.txt", "r");
    char line[LINE];
    int maps = 0;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        gd_tensor_map map, read;
        unsigned char bytes[GD_TENSOR_MAP_BYTES], written[GD_TENSOR_MAP_BYTES];
        if (!read_line(line, &map, bytes))
            continue;
        gd_tensor_map_write(written, &map);
        ck_assert_msg(!memcmp(written, bytes, sizeof bytes), "%s", line);
        ck_assert_msg(gd_tensor_map_read(bytes, &read), "%s", line);
        check_same(&map, &read);
        maps++;
    }
    fclose(file);
    ck_assert_int_ge(maps, 70);
}

static gd_tensor_map matrix(void)
{
    return (gd_tensor_map){.address = 0x7f0000010000,
                           .rank = 2,
                           .type = GRIDDEP_TENSOR_BF16,
                           .sizes = {4096, 512},
                           .strides = {2, 8192},
                           .box = {64, 128},
                           .steps = {1, 1},
                           .swizzle = GRIDDEP_SWIZZLE_128B};
}

/* A bit that no value has, or one that follows from others, and nothing is known any more. */
TEST(bytes, other_bytes_are_not_understood)
{
    static const uint32_t own[] = {8 * 8 + 19, 8 * 8 + 31,  8 * 31,  13 * 32 + 20,
                                   15 * 32,    16 * 32 + 3, 17 * 32, 18 * 32 + 10,
                                   19 * 32,    127 * 8 + 7, 10 * 32, 3 * 32 + 40};
    const gd_tensor_map map = matrix();
    unsigned char bytes[GD_TENSOR_MAP_BYTES];
    gd_tensor_map read;

    for (int i = 0; i < COUNT(own); i++) {
        gd_tensor_map_write(bytes, &map);
        bytes[own[i] / 8] ^= (unsigned char)(1u << own[i] % 8);
        ck_assert_msg(!gd_tensor_map_read(bytes, &read), "bit %" PRIu32, own[i]);
    }
    memset(bytes, 0, sizeof bytes);
    ck_assert(!gd_tensor_map_read(bytes, &read));
    memset(bytes, 0xff, sizeof bytes);
    ck_assert(!gd_tensor_map_read(bytes, &read));
}

/* ---- conditions ---- */

static const char entry_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry kernel(.param .align 64 .b8 a_map[128], .param "
                                 ".u64 out, .param .u32 rows, .param .align 8 .b8 "
                                 "other[16],\n.param .align 64 .b8 second[128])\n{\nret;\n}\n";

enum { ARGUMENTS = 5 };

static griddep_ptx *parse(const char *head)
{
    char text[4096];
    griddep_ptx *ptx = NULL;

    ck_assert_int_lt(snprintf(text, sizeof text, "%s%s", head, entry_text), (int)sizeof text);
    ck_assert_msg(griddep_ptx_parse(text, strlen(text), "head.ptx", &ptx, &error) == GRIDDEP_OK,
                  "%s", error.text);
    return ptx;
}

static const griddep_launch_config one_block = {.size = sizeof one_block,
                                                .grid = {1},
                                                .block = {32}};

static int32_t check(const griddep_ptx *ptx, const void *map, const void *second, uint64_t out)
{
    static const unsigned char other[16];
    const griddep_argument arguments[ARGUMENTS] = {{.bytes = 128, .data = map},
                                                   {.bytes = 8, .value = out},
                                                   {.bytes = 4, .value = 512},
                                                   {.bytes = 16, .data = other},
                                                   {.bytes = 128, .data = second}};

    return griddep_ptx_check_launch(ptx, 0, &one_block, arguments, ARGUMENTS, &error);
}

/* `says` NULL: it holds. */
static const struct {
    const char *condition, *says;
} meanings[] = {
    {"a_map.rank == 2 && a_map.dim.x == 4096 && a_map.dim.y == rows", NULL},
    {"a_map.dim.y > rows", "(a_map.dim.y is 512, rows is 512)"},
    {"a_map.box.x == 64 && a_map.box.y == 128", NULL},
    {"a_map.box.y == 64", "(a_map.box.y is 128)"},
    {"a_map.step.x == 1 && a_map.step.y < 2", NULL},
    {"a_map.dim.z + a_map.dim.w + a_map.dim.v + a_map.box.z == 0", NULL},
    {"a_map.type == bf16", NULL},
    {"a_map.type != f16", NULL},
    {"a_map.type == f16 || a_map.type == tf32_ftz", "(a_map.type is bf16)"},
    {"a_map.type != bf16", "(a_map.type is bf16)"},
    {"a_map.swizzle == 128B", NULL},
    {"a_map.swizzle == 64B -- the kernel swizzles so",
     "needs a_map.swizzle == 64B: the kernel swizzles so (a_map.swizzle is 128B)"},
    {"a_map.fill == zero", NULL},
    {"a_map.fill == nan", "(a_map.fill is zero)"},
    {"rows == 512 && a_map.rank == 3", "(rows is 512, a_map.rank is 2)"},
    {"rows == 1 || a_map.rank == 3", "(rows is 512, a_map.rank is 2)"},
    {"rows == 1 && a_map.rank == 2 || a_map.rank == 3", "(rows is 512, a_map.rank is 2)"},
    {"512 % a_map.dim.z == 0", "which divides by zero (a_map.dim.z is 0)"},
    {"second.rank == 3", "(second.rank is 2)"},
    {"apart(out, a_map)", "needs apart(out, a_map) (out is 0x7f0000100000 with 2048 bytes, a_map "
                          "is 0x7f0000010000 with 4194304 "
                          "bytes)"},
    {"apart(a_map, out)", "needs apart(a_map, out)"},
    {"apart(out, second)", NULL},
};

LOOP_TEST(language, a_condition_means_what_it_says, COUNT(meanings))
{
    char head[1024], words[256];
    griddep_tensor_map map, second;
    gd_tensor_map values = matrix();

    gd_tensor_map_write(&map, &values);
    values.address = 0x1000;
    gd_tensor_map_write(&second, &values);
    snprintf(head, sizeof head, "// requires:\n//   %s\n// extent:\n//   out: rows * 4\n",
             meanings[_i].condition);
    griddep_ptx *ptx = parse(head);
    ck_assert_msg(!ptx->requires_wrong.count, "%s: %s", head, ptx->requires_wrong.list[0].text);
    int32_t status = check(ptx, &map, &second, 0x7f0000100000);
    snprintf(words, sizeof words, "%s", meanings[_i].says ? meanings[_i].says : "");
    if (meanings[_i].says)
        ck_assert_msg(status == GRIDDEP_ERROR_REQUIREMENT && strstr(error.text, words), "%s: %s",
                      head, error.text);
    else
        ck_assert_msg(status == GRIDDEP_OK, "%s: %s", head, error.text);
    /* The same of a map that nobody understands: it may be right. */
    map.opaque[15] = 1;
    status = check(ptx, &map, &second, 0x7f0000100000);
    if (strncmp(meanings[_i].condition, "second", 6) != 0)
        ck_assert_msg(status == GRIDDEP_OK, "%s: %s", head, error.text);
    griddep_ptx_destroy(ptx);
}

/* Nor is it known how far an address reaches whose extent asks such a map. */
TEST(language, an_extent_that_asks_a_map_may_be_apart)
{
    griddep_ptx *ptx = parse("// requires: apart(out, second)\n// extent: out: a_map.dim.y + 4\n");
    const gd_tensor_map values = matrix();
    griddep_tensor_map map, second;

    ck_assert_uint_eq(ptx->requires_wrong.count, 0);
    gd_tensor_map_write(&map, &values);
    gd_tensor_map_write(&second, &values);
    ck_assert_int_eq(check(ptx, &map, &second, values.address), GRIDDEP_ERROR_REQUIREMENT);
    map.opaque[15] = 1;
    ck_assert_int_eq(check(ptx, &map, &second, values.address), GRIDDEP_OK);
    griddep_ptx_destroy(ptx);
}

/* A condition that is broken whatever the map is needs no map to be so. */
TEST(language, a_map_is_asked_where_it_decides)
{
    griddep_ptx *ptx = parse("// requires: rows == 1 && a_map.rank == 2\n");
    griddep_tensor_map map;
    const gd_tensor_map values = matrix();

    gd_tensor_map_write(&map, &values);
    map.opaque[15] = 1;
    ck_assert_int_eq(check(ptx, &map, &map, 0x1000), GRIDDEP_ERROR_REQUIREMENT);
    ck_assert_msg(strstr(error.text, "(rows is 512)"), "%s", error.text);
    griddep_ptx_destroy(ptx);
}

static const struct {
    const char *condition, *says;
} mistakes[] = {
    {"a_map == 0", "\"a_map\" is a tensor map; conditions speak of a_map.box.x"},
    {"a_map.boxs.x == 64", "a tensor map has no \"boxs.x\"; it has rank, dim.x, box.x"},
    {"a_map.box == 64", "a tensor map has no \"box\"; it has rank, dim.x"},
    {"a_map.box.q == 64", "a tensor map has no \"box.q\""},
    {"a_map.color == 3", "a tensor map has no \"color\""},
    {"a_map.type == bfl16", "a_map.type is never \"bfl16\"; did you mean \"bf16\"?"},
    {"a_map.swizzle == 12B", "a_map.swizzle is never \"12B\""},
    {"a_map.swizzle > 64", "found a_map.swizzle beside >, expected a number; it is compared with a "
                           "word: a_map.swizzle == none"},
    {"a_map.type", "found the end, expected =="},
    {"a_map.address == 0", "a tensor map has no \"address\""},
    {"a_map.type == bf16 && rows == f16", "entry kernel has no parameter \"f16\""},
    {"bf16 == a_map.type", "entry kernel has no parameter \"bf16\""},
    {"a_map.type == ", "found the end, expected a word"},
    {"rows % a_map.type == 0", "found a_map.type beside %, expected a number"},
    {"other.box.x == 64", "entry kernel has no parameter \"other.box.x\""},
    {"apart(out, other)", "parameter \"other\" is neither"},
};

LOOP_TEST(language, a_mistake_is_told, COUNT(mistakes))
{
    char head[1024];

    snprintf(head, sizeof head, "// requires:\n//   %s\n// extent:\n//   out: rows * 4\n",
             mistakes[_i].condition);
    griddep_ptx *ptx = parse(head);
    ck_assert_msg(ptx->requires_wrong.count == 1 &&
                      strstr(ptx->requires_wrong.list[0].text, mistakes[_i].says),
                  "%s: %s", head,
                  ptx->requires_wrong.count ? ptx->requires_wrong.list[0].text : "nothing");
    griddep_ptx_destroy(ptx);
}

TEST(language, a_map_tells_its_extent)
{
    const gd_tensor_map values = matrix();
    griddep_tensor_map map;
    uint64_t bytes = 0;
    griddep_ptx *ptx = parse("// requires: apart(out, a_map)\n// extent: out: a_map.dim.y * 4\n");

    gd_tensor_map_write(&map, &values);
    griddep_argument arguments[ARGUMENTS] = {{.bytes = 128, .data = &map},
                                             {.bytes = 8, .value = 0x1000},
                                             {.bytes = 4},
                                             {.bytes = 16, .data = &map},
                                             {.bytes = 128, .data = &map}};
    ck_good(griddep_ptx_get_extent(ptx, 0, &one_block, arguments, ARGUMENTS, 0, &bytes, &error));
    ck_assert_uint_eq(bytes, 4194304);
    ck_good(griddep_ptx_get_extent(ptx, 0, &one_block, arguments, ARGUMENTS, 1, &bytes, &error));
    ck_assert_uint_eq(bytes, 2048);
    map.opaque[15] = 1;
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(
            griddep_ptx_get_extent(ptx, 0, &one_block, arguments, ARGUMENTS, i, &bytes, &error),
            GRIDDEP_ERROR_NOT_FOUND);
        ck_assert_msg(strstr(error.text, "a tensor map that is not understood"), "%s", error.text);
    }
    griddep_ptx_destroy(ptx);
}

/* ---- launches ---- */

static char logged[1024];

static void keep_log(void *user, int32_t level, const char *message)
{
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", message);
}

/* What becomes of a launch whose map has another box than the kernel wants. */
static int32_t launch_with_wrong_box(void)
{
    griddep_runtime_options options = {
        .size = sizeof options, .log = keep_log, .log_level = GRIDDEP_LOG_WARNING};
    const gd_tensor_map values = matrix();
    griddep_tensor_map map;
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *kernel;
    gd_driver *driver = NULL;
    char text[1024];

    logged[0] = 0;
    gd_tensor_map_write(&map, &values);
    snprintf(text, sizeof text, "// requires: a_map.box.y == 64\n%s", entry_text);
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_assert_msg(griddep_module_load(runtime, text, strlen(text), NULL, &module, &error) ==
                      GRIDDEP_OK,
                  "%s", error.text);
    ck_good(griddep_module_find_kernel(module, "kernel", &kernel, &error));
    const griddep_argument arguments[ARGUMENTS] = {{.bytes = 128, .data = &map},
                                                   {.bytes = 8, .value = 0x1000},
                                                   {.bytes = 4},
                                                   {.bytes = 16, .data = &map},
                                                   {.bytes = 128, .data = &map}};
    int32_t status = griddep_launch(kernel, &one_block, arguments, ARGUMENTS, NULL, &error);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    return status;
}

TEST(launches, a_launch_with_a_wrong_map_is_refused)
{
    ck_assert_int_eq(launch_with_wrong_box(), GRIDDEP_ERROR_REQUIREMENT);
    ck_assert_str_eq(error.text, "kernel kernel needs a_map.box.y == 64 (a_map.box.y is 128)");
    ck_assert_str_eq(logged, "");
}

/* A driver that encodes otherwise: what looks like a wrong box may be something else. */
TEST(launches, an_encoding_that_is_not_known_refuses_nothing)
{
    fake_driver_set_foreign_maps();
    ck_assert_int_eq(launch_with_wrong_box(), GRIDDEP_OK);
    ck_assert_msg(strstr(logged, "encodes tensor maps in a way that is not known"), "%s", logged);
    fake_driver_hide("cuTensorMapEncodeTiled");
    ck_assert_int_eq(launch_with_wrong_box(), GRIDDEP_OK);
}

MAIN_OF_SUITE("require_map")
