/* The command's plan, its comparison of results, and its job: what a plan follows from what it
 * says, when two arrays count as the same, and what a job on the emulated driver finds. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/job/job.h"
#include "cli/io/number.h"
#include "cli/job/session.h"
#include "cli/plan/planbuild.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"
#include "cli/plan/planlaunch.h"
#include "cli/io/suggest.h"
#include "cli/job/verify.h"

#include "griddep.h"
#include "suite.h"

/* ---- what was meant ---- */

/* Edits from one word to the other, by the definition: a character more, less, another, or two
 * neighbours swapped. */
static size_t edits(const char *a, size_t i, const char *b, size_t j)
{
    if (i == 0 || j == 0)
        return i + j;
    size_t least = edits(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]);
    size_t other = edits(a, i - 1, b, j) + 1;
    least = other < least ? other : least;
    other = edits(a, i, b, j - 1) + 1;
    least = other < least ? other : least;
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        other = edits(a, i - 2, b, j - 2) + 1;
        least = other < least ? other : least;
    }
    return least;
}

TEST_GROUP(comparison, NULL, NULL);

/* Words of up to seven letters, a and b, against ones of which some are too far away to be meant.
 */
TEST(comparison, the_nearest_word_is_meant)
{
    static const char *const words[] = {"abbaab", "ba", "aabb", "bbb", "aba", "b"};
    enum { COUNT = sizeof words / sizeof *words };
    for (uint32_t bits = 0; bits < 1U << 7; bits++) {
        char word[8] = "";
        const uint32_t length = bits >> 4 & 7;
        for (uint32_t i = 0; i < length; i++)
            word[i] = (char)('a' + (bits * 11 >> i & 1));
        const char *nearest = NULL;
        size_t fewest = length / 3 + 1;
        for (size_t i = 0; i < COUNT; i++) {
            const size_t count = edits(word, length, words[i], strlen(words[i]));
            if (count < strlen(words[i]) && (nearest != NULL ? count < fewest : count <= fewest)) {
                nearest = words[i];
                fewest = count;
            }
        }
        const char *got = gd_suggest_nearest(word, words, COUNT);
        ck_assert_msg(got == nearest, "'%s': %s, not %s", word, got != NULL ? got : "none",
                      nearest != NULL ? nearest : "none");
    }
    char longest[131], *text = NULL;
    memset(longest, 'x', 130);
    for (size_t length = 126; length < 131; length++) { /* from 129 on nothing is compared */
        longest[length] = 0;
        const char *const only = longest;
        const char *got = gd_suggest_nearest(longest, &only, 1);
        ck_assert_msg((got != NULL) == (length <= 128), "%zu characters", length);
        longest[length] = 'x';
    }
    ck_assert_str_eq(text = gd_suggest_text("bbbb", words, COUNT), "; did you mean 'bbb'?");
    free(text);
    ck_assert_str_eq(text = gd_suggest_text("xyz", words, COUNT), "");
    free(text);
    ck_assert_str_eq(text = gd_suggest_list(words, COUNT), "abbaab, ba, aabb, bbb, aba, b");
    free(text);
}

/* ---- comparison ---- */

static gd_difference compare_f32(const uint32_t *got, const uint32_t *wanted, uint64_t count)
{
    gd_difference difference;
    gd_verify_compare(GD_TYPE_f32, got, wanted, count, &difference);
    return difference;
}

static bool allows(double tolerance, double absolute, const gd_difference *difference)
{
    const gd_plan_expectation expectation = {.tolerance = tolerance, .absolute = absolute};
    return gd_verify_allows(&expectation, difference);
}

/* Bits of an f32. */
#define ONE 0x3f800000U
#define TWO 0x40000000U
#define MINUS_ZERO 0x80000000U
#define NAN_A 0x7fc00000U
#define NAN_B 0x7fc00001U
#define INFINITE 0x7f800000U
#define MINUS_INFINITE 0xff800000U

/* Pairs of one element: whether their bits differ, by how much their values do, and so what is
 * allowed. */
static const struct {
    uint32_t got, wanted;
    uint64_t unequal;
    double largest, relative;
    bool exact, zero, wide; /* allowed with every bit, with tolerance 0, with tolerance 1000 */
} pairs[] = {
    {ONE, ONE, 0, 0, 0, true, true, true},
    {0, MINUS_ZERO, 1, 0, 0, false, true, true},
    {MINUS_ZERO, 0, 1, 0, 0, false, true, true},
    {NAN_A, NAN_A, 0, 0, 0, true, true, true},
    {NAN_A, NAN_B, 1, 0, 0, false, true, true},
    {NAN_A, ONE, 1, INFINITY, INFINITY, false, false, false},
    {ONE, NAN_A, 1, INFINITY, INFINITY, false, false, false},
    {INFINITE, INFINITE, 0, 0, 0, true, true, true},
    {INFINITE, MINUS_INFINITE, 1, INFINITY, INFINITY, false, false, false},
    {INFINITE, ONE, 1, INFINITY, INFINITY, false, false, false},
    {ONE, TWO, 1, 1, 0.5, false, false, true},
    {TWO, ONE, 1, 1, 1, false, false, true},
    {ONE, 0, 1, 1, INFINITY, false, false, false},
    {1, 0, 1, 1.401298464324817e-45, INFINITY, false, false, false},
};

LOOP_TEST(comparison, pairs_of_values_differ_as_they_should, sizeof pairs / sizeof *pairs)
{
    const gd_difference difference = compare_f32(&pairs[_i].got, &pairs[_i].wanted, 1);

    ck_assert_uint_eq(difference.unequal, pairs[_i].unequal);
    ck_assert_msg(difference.largest == pairs[_i].largest, "largest is %g", difference.largest);
    ck_assert_msg(difference.relative == pairs[_i].relative, "relative is %g", difference.relative);
    ck_assert_int_eq(allows(-1, -1, &difference), pairs[_i].exact);
    ck_assert_int_eq(allows(0, -1, &difference), pairs[_i].zero);
    ck_assert_int_eq(allows(1000, -1, &difference), pairs[_i].wide);
}

TEST(comparison, what_differs_first_is_told)
{
    const uint32_t wanted[] = {ONE, ONE, ONE, TWO}, got[] = {ONE, TWO, ONE, ONE};
    const gd_difference difference = compare_f32(got, wanted, 4);

    ck_assert_uint_eq(difference.unequal, 2);
    ck_assert_uint_eq(difference.first, 1);
    ck_assert(difference.got == 2.0 && difference.wanted == 1.0 && difference.largest == 1.0);
    ck_assert(fabs(difference.relative - sqrt(2.0 / 7.0)) < 1e-15);
    ck_assert_uint_eq(compare_f32(got, wanted, 1).unequal, 0);
    ck_assert_uint_eq(compare_f32(got, wanted, 0).unequal, 0);
}

TEST(comparison, limits_themselves_are_allowed)
{
    const uint32_t wanted[] = {TWO, 0}, got[] = {ONE, 0};
    const gd_difference difference = compare_f32(got, wanted, 2);

    ck_assert(allows(0.5, -1, &difference) && !allows(0.49, -1, &difference));
    ck_assert(allows(-1, 1, &difference) && !allows(-1, 0.99, &difference));
    ck_assert(allows(0.5, 1, &difference) && !allows(0.5, 0.5, &difference) &&
              !allows(0.1, 1, &difference));
    ck_assert(!allows(-1, -1, &difference) && !allows(0, 0, &difference));
}

/* An infinite element that both have leaves the norm of the others as it is. */
TEST(comparison, infinite_elements_do_not_hide_others)
{
    const uint32_t wanted[] = {INFINITE, TWO, NAN_A}, got[] = {INFINITE, ONE, NAN_B};
    const gd_difference difference = compare_f32(got, wanted, 3);

    ck_assert_uint_eq(difference.unequal, 2);
    ck_assert(difference.relative == 0.5 && difference.largest == 1.0);
}

LOOP_TEST(comparison, elements_of_each_type_are_compared, GD_TYPE_NAMES)
{
    const gd_type type = (gd_type)_i;
    uint64_t got[4] = {0}, wanted[4] = {0};
    gd_difference difference;

    if (gd_type_is_integer(type))
        gd_type_store_bits(type, got, 2, 5);
    else
        gd_type_store(type, got, 2, 5.0);
    gd_verify_compare(type, got, wanted, 4, &difference);
    ck_assert_uint_eq(difference.unequal, 1);
    ck_assert_uint_eq(difference.first, 2);
    ck_assert(difference.got == 5.0 && difference.wanted == 0.0 && difference.largest == 5.0);
}

/* ---- plans ---- */

static uint32_t add_buffer(gd_plan *plan, const char *name, gd_type type, uint64_t count)
{
    return gd_build_buffer(plan, gd_heap_string(name), type, count,
                           (gd_fill){.kind = GD_FILL_CONSTANT, .a = 1});
}

static gd_plan_launch *add_launch(gd_plan *plan, const char *kernel)
{
    return gd_build_launch(plan, kernel, (gd_build_shape){1, 32, 0});
}

/* sum = a + b of `count` elements; offsets in elements of the buffers. */
static void add_sum(gd_plan *plan, const uint32_t buffers[3], const uint64_t offsets[3],
                    uint32_t count)
{
    static const int32_t accesses[] = {GRIDDEP_ACCESS_READ, GRIDDEP_ACCESS_READ,
                                       GRIDDEP_ACCESS_WRITE};
    gd_plan_launch *launch = add_launch(plan, "vector_add");

    for (int i = 0; i < 3; i++) {
        gd_build_array(launch, buffers[i], accesses[i]);
        launch->arguments[i].offset = offsets[i];
    }
    gd_build_u32(launch, count);
}

static const uint64_t from_start[3];

TEST_GROUP(plans, NULL, NULL);

TEST(plans, grids_and_carveouts_are_offered_once)
{
    uint32_t grids[] = {8, GD_GRID_ANY, (uint32_t)GD_GRID_MULTIPROCESSORS, 6, 6}, count = 0;
    int32_t carveouts[] = {25, GD_CARVEOUT_ANY, GRIDDEP_CARVEOUT_DEFAULT, 10};
    gd_plan_launch launch = {.config.grid = {8, 1, 1}, .grids = grids, .grid_count = 5};

    uint32_t *offered = gd_plan_grids(&launch, 5, &count);
    const uint32_t wanted[] = {3, 5, 10, 6};
    ck_assert_uint_eq(count, 4);
    ck_assert_mem_eq(offered, wanted, sizeof wanted);
    free(offered);
    launch.config.cluster[0] = 2;
    offered = gd_plan_grids(&launch, 5, &count);
    ck_assert(count == 2 && offered[0] == 10 && offered[1] == 6);
    free(offered);
    launch.grid_is_multiprocessors = true;
    offered = gd_plan_grids(&launch, 6, &count);
    ck_assert(count == 2 && offered[0] == 8 && offered[1] == 12);
    free(offered);

    launch = (gd_plan_launch){
        .carveouts = carveouts, .carveout_count = 4, .has_carveout = true, .carveout_percent = 25};
    int32_t *percents = gd_plan_carveouts(&launch, &count);
    const int32_t parts[] = {0, 50, 75, 100, GRIDDEP_CARVEOUT_DEFAULT, 10};
    ck_assert_uint_eq(count, 6);
    ck_assert_mem_eq(percents, parts, sizeof parts);
    free(percents);
}

TEST(plans, lanes_and_modules_are_found_again)
{
    gd_plan plan = {0};

    ck_assert_uint_eq(gd_plan_lane(&plan, "side"), 0);
    ck_assert_uint_eq(gd_plan_lane(&plan, NULL), 1);
    ck_assert_uint_eq(gd_plan_lane(&plan, "main"), 1);
    ck_assert_uint_eq(gd_plan_lane(&plan, "side"), 0);
    ck_assert_uint_eq(plan.lane_count, 2);
    ck_assert_uint_eq(gd_plan_shelf_module(&plan, "vector_add", (gd_place){0}), 0);
    ck_assert_uint_eq(gd_plan_shelf_module(&plan, "rms_norm_bf16", (gd_place){0}), 1);
    ck_assert_uint_eq(gd_plan_shelf_module(&plan, "vector_add", (gd_place){0}), 0);
    gd_plan_free(&plan);
}

TEST(plans, bytes_of_what_is_passed)
{
    griddep_tensor_options tensor = {0};

    ck_assert_uint_eq(
        gd_plan_argument_bytes(&(gd_plan_argument){.is_buffer = true, .type = GD_TYPE_u8}), 8);
    ck_assert_uint_eq(
        gd_plan_argument_bytes(&(gd_plan_argument){.is_buffer = true, .tensor = &tensor}), 128);
    ck_assert_uint_eq(gd_plan_argument_bytes(&(gd_plan_argument){.type = GD_TYPE_bf16}), 2);
    ck_assert_uint_eq(gd_plan_buffer_bytes(&(gd_plan_buffer){.type = GD_TYPE_f64, .count = 3}), 24);
}

/* A buffer that is written and otherwise used by the same launch, or from an offset on, is not
 * written first. */
TEST(plans, what_is_written_follows_from_the_launches)
{
    gd_plan plan = {0};
    const uint32_t a = add_buffer(&plan, "a", GD_TYPE_f32, 32),
                   b = add_buffer(&plan, "b", GD_TYPE_f32, 32);
    const uint32_t c = add_buffer(&plan, "c", GD_TYPE_f32, 32),
                   d = add_buffer(&plan, "d", GD_TYPE_f32, 32);
    const uint64_t offsets[] = {16, 0, 16};

    add_sum(&plan, (uint32_t[]){a, a, b}, from_start, 32);
    add_sum(&plan, (uint32_t[]){c, b, c}, from_start, 32);
    add_sum(&plan, (uint32_t[]){b, a, d}, offsets, 16);
    gd_plan_finish(&plan);
    ck_assert(!plan.buffers[a].written && plan.buffers[b].written && plan.buffers[c].written &&
              plan.buffers[d].written);
    ck_assert(!plan.buffers[a].written_first && plan.buffers[b].written_first);
    ck_assert(!plan.buffers[c].written_first && !plan.buffers[d].written_first);
    /* a and b; c twice and b; half of b, all of a, half of d: */
    ck_assert_uint_eq(plan.step_bytes, (2 + 3) * 128 + 64 + 128 + 64);
    plan.step_bytes = 7;
    gd_plan_finish(&plan);
    ck_assert_uint_eq(plan.step_bytes, 7);
    gd_plan_free(&plan);
}

TEST(plans, only_a_tolerance_of_the_serial_run_lets_bits_differ)
{
    gd_plan plan = {0};
    const uint32_t a = add_buffer(&plan, "a", GD_TYPE_f32, 1),
                   b = add_buffer(&plan, "b", GD_TYPE_f32, 1);

    gd_build_expect(&plan, a, 0.5);
    ck_assert(!gd_plan_may_deviate(&plan, a));
    plan.expectations[0].from = GD_EXPECTED_SERIAL;
    ck_assert(gd_plan_may_deviate(&plan, a) && !gd_plan_may_deviate(&plan, b));
    plan.expectations[0].tolerance = 0;
    ck_assert(gd_plan_may_deviate(&plan, a));
    plan.expectations[0].tolerance = -1;
    ck_assert(!gd_plan_may_deviate(&plan, a));
    plan.expectations[0].absolute = 0;
    ck_assert(gd_plan_may_deviate(&plan, a));
    gd_plan_free(&plan);
}

TEST(plans, a_launch_becomes_its_configuration)
{
    gd_plan plan = {0};
    gd_plan_launch *launch = add_launch(&plan, "vector_add");

    launch->config.cluster[0] = 2;
    launch->config.shared_bytes = 48;
    launch->grid_is_multiprocessors = true;
    griddep_launch_config config = gd_planlaunch_config(launch, GRIDDEP_PDL_OFF, 6);
    ck_assert(config.grid[0] == 6 && config.block[0] == 32 && config.cluster[0] == 2 &&
              config.shared_bytes == 48);
    ck_assert_int_eq(config.pdl, GRIDDEP_PDL_OFF);
    launch->config.pdl = GRIDDEP_PDL_FORCE;
    launch->grid_is_multiprocessors = false;
    config = gd_planlaunch_config(launch, GRIDDEP_PDL_OFF, 6);
    ck_assert(config.grid[0] == 1 && config.pdl == GRIDDEP_PDL_FORCE);
    gd_plan_free(&plan);
}

TEST(plans, a_plan_that_this_machine_cannot_hold_is_refused)
{
    gd_plan plan = {0};

    add_buffer(&plan, "a", GD_TYPE_f32, 1000);
    ck_assert_int_eq(gd_plan_check_memory(&plan), 0);
    add_buffer(&plan, "b", GD_TYPE_f32, UINT64_C(1) << 60);
    ck_assert_int_eq(gd_plan_check_memory(&plan), GD_EXIT_USAGE);
    gd_plan_free(&plan);
}

/* ---- references ---- */

/* The reference gets what the kernel gets: from the offset on, and elements of the type that the
 * kernel takes. */
TEST(plans, references_see_offsets_and_views)
{
    gd_plan plan = {0};
    const uint32_t a = add_buffer(&plan, "a", GD_TYPE_f32, 8),
                   bits = add_buffer(&plan, "bits", GD_TYPE_u32, 8);
    const uint32_t sum = add_buffer(&plan, "sum", GD_TYPE_f32, 8);
    const uint64_t offsets[] = {4, 2, 1};
    float first[8], second[8], initial[8], wanted[8];
    void *images[] = {first, second, initial}, *results[3] = {NULL};

    for (int i = 0; i < 8; i++) {
        first[i] = (float)i;
        second[i] = 100.0F * (float)i;
        initial[i] = wanted[i] = -1.0F;
    }
    for (int i = 0; i < 4; i++)
        wanted[1 + i] = first[4 + i] + second[2 + i];
    add_sum(&plan, (uint32_t[]){a, bits, sum}, offsets, 4);
    plan.launches[0].arguments[1].viewed = true;
    plan.launches[0].arguments[1].type = GD_TYPE_f32;
    gd_plan_finish(&plan);
    ck_assert_int_eq(gd_verify_compute(&plan, 1, images, results), 0);
    ck_assert(results[a] == NULL && results[bits] == NULL && results[sum] != NULL);
    ck_assert_mem_eq(results[sum], wanted, sizeof wanted);
    free(results[sum]);

    results[sum] = NULL;
    plan.launches[0].arguments[1].viewed = false;
    ck_assert_int_eq(gd_verify_compute(&plan, 1, images, results), GD_EXIT_USAGE);
    free(results[sum]);
    results[sum] = NULL;
    plan.launches[0].arguments[1].viewed = true;
    plan.launches[0].arguments[3].value = 5; /* one more than stand behind the first offset */
    ck_assert_int_eq(gd_verify_compute(&plan, 1, images, results), GD_EXIT_USAGE);
    free(results[sum]);
    gd_plan_free(&plan);
}

/* ---- jobs ---- */

static griddep_runtime *runtime;

static void setup(void)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .driver = EMULATED_DRIVER, .store_directory = ""};
    griddep_error error;
    griddep_error_init(&error);
    ck_assert_msg(griddep_runtime_open(&options, &runtime, &error) == GRIDDEP_OK, "%s", error.text);
}

static void teardown(void)
{
    griddep_runtime_close(runtime);
}

/* b = a + a, c = b + a: 2 and 3. */
static void make_plan(gd_plan *plan)
{
    const uint32_t a = add_buffer(plan, "a", GD_TYPE_f32, 32),
                   b = add_buffer(plan, "b", GD_TYPE_f32, 32);
    const uint32_t c = add_buffer(plan, "c", GD_TYPE_f32, 32);

    add_sum(plan, (uint32_t[]){a, a, b}, from_start, 32);
    add_sum(plan, (uint32_t[]){b, a, c}, from_start, 32);
    gd_build_expect(plan, c, 0);
    gd_plan_finish(plan);
}

enum { ALL_MODES = (1 << GRIDDEP_MODE_COUNT) - 1 };

TEST_GROUP(jobs, setup, teardown);

TEST(jobs, a_job_compares_each_mode)
{
    gd_plan plan = {0};
    gd_job job = {.plan = &plan, .modes = ALL_MODES};
    uint64_t addresses[3] = {0};

    make_plan(&plan);
    job.addresses = addresses;
    ck_assert_int_eq(gd_job_run(&job, runtime), GD_EXIT_OK);
    ck_assert(job.as_expected && addresses[0] && addresses[1] && addresses[2]);
    for (int mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        const bool dependent = mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL;
        ck_assert(job.results[mode].wanted && job.results[mode].equal && job.results[mode].met[0]);
        ck_assert_uint_eq(job.results[mode].timing.samples, 0);
        ck_assert_int_eq(job.results[mode].hops[1].reason == GRIDDEP_REASON_SET, dependent);
    }
    ck_assert(!job.unwritten[0] && !job.unwritten[1] && !job.unwritten[2]);
    gd_job_free(&job);
    gd_plan_free(&plan);
}

TEST(jobs, a_job_runs_the_modes_that_are_asked_for)
{
    gd_plan plan = {0};
    gd_job job = {
        .plan = &plan, .modes = 1U << GRIDDEP_MODE_PDL, .samples = GD_JOB_DEFAULT_SAMPLES};

    make_plan(&plan);
    ck_assert_int_eq(gd_job_run(&job, runtime), GD_EXIT_OK);
    ck_assert(job.results[GRIDDEP_MODE_PDL].wanted && !job.results[GRIDDEP_MODE_SERIAL].wanted);
    ck_assert_uint_eq(job.results[GRIDDEP_MODE_PDL].timing.samples, gd_job_samples(&job, true));
    ck_assert_uint_eq(gd_job_samples(&job, true), 1);
    ck_assert_uint_eq(gd_job_samples(&job, false), 30);
    job.samples = 7;
    ck_assert(gd_job_samples(&job, true) == 7 && gd_job_samples(&job, false) == 7);
    gd_job_free(&job);
    gd_plan_free(&plan);
}

/* ---- what a chain writes ---- */

/* add writes what its second argument points to, and tell what an address in a struct does; put
 * writes to an address that stands in memory. */
static const char writers[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %a, %b;\n"
    "    .reg .b32 %v;\n    ld.param.u64 %a, [in];\n    ld.param.u64 %b, [out];\n"
    "    ld.global.u32 %v, [%a];\n    st.global.u32 [%b], %v;\n    ret;\n}\n"
    ".visible .entry tell(.param .align 8 .b8 in[16], .param .align 8 .b8 out[16])\n{\n"
    "    .reg .b64 %a, %b;\n    .reg .b32 %v;\n    ld.param.u64 %a, [in+8];\n"
    "    ld.param.u64 %b, [out+8];\n    ld.global.u32 %v, [%a];\n    st.global.u32 [%b], %v;\n"
    "    ret;\n}\n"
    ".visible .entry put(.param .u64 table)\n{\n    .reg .b64 %a;\n"
    "    ld.param.u64 %a, [table];\n    ld.global.u64 %a, [%a];\n    st.global.u32 [%a], 1;\n"
    "    ret;\n}\n";

#define ADD(how)                                                                                   \
    "{kernel: add, module: writers, grid: [1], block: [1], arguments: [{buffer: x" how             \
    "}, {buffer: y}]}"
#define IN_A_STRUCT(buffer)                                                                        \
    "{bytes: \"00000000000000000000000000000000\", addresses: [{at: 8, buffer: " buffer "}]}"

/* Bits of x, y and z. */
static const struct {
    const char *launches;
    unsigned written;
} chains_that_write[] = {
    {ADD(""), 2},
    {ADD(", access: read"), 2},
    {ADD(", access: update"), 3},
    {ADD("") ", {copy: {from: y, to: z}}", 6},
    {"{kernel: tell, module: writers, grid: [1], block: [1], arguments: [" IN_A_STRUCT(
         "x") ", " IN_A_STRUCT("z") "]}",
     5}, /* the kernel is free to compute from a struct */
    {"{kernel: add, module: writers, grid: [1], block: [1], arguments: [{bytes: "
     "\"0000000000000000\", addresses: [{at: 0, buffer: x}]}, {buffer: y}]}",
     2},
    {ADD("") ", {kernel: put, module: writers, grid: [1], block: [1], arguments: [{buffer: x}]}",
     3},
    {ADD("") ", {kernel: put, module: writers, grid: [1], block: [1], arguments: [{buffer: x}], "
             "reaches: [{buffer: z, access: write}]}",
     6},
};

/* What nothing writes is neither put back before a run nor read behind it. Where the chain file
 * does not say what is written, the PTX does. */
LOOP_TEST(jobs, what_nothing_writes_is_left_alone,
          sizeof chains_that_write / sizeof *chains_that_write)
{
    char folder[] = "test_plan_XXXXXX", path[64], module[64];
    gd_session session;
    gd_plan plan = {0};

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/chain.yaml", folder);
    snprintf(module, sizeof module, "%s/writers.ptx", folder);
    FILE *file = fopen(module, "w");
    ck_assert(file && fputs(writers, file) >= 0 && fclose(file) == 0);
    file = fopen(path, "w");
    ck_assert(file &&
              fprintf(file,
                      "modules: [{name: writers, file: writers.ptx}]\n"
                      "buffers: [{name: x, type: u64, count: 4}, {name: y, type: u64, count: 4}, "
                      "{name: z, type: u64, count: 4}]\nlaunches: [%s]\n",
                      chains_that_write[_i].launches) > 0 &&
              fclose(file) == 0);
    ck_assert_int_eq(gd_planfile_load(path, &plan), 0);
    ck_assert_int_eq(gd_session_open(&session, &plan, runtime, GRIDDEP_PDL_DEFAULT), 0);
    for (unsigned i = 0; i < 3; i++) {
        const bool written = chains_that_write[_i].written >> i & 1;
        ck_assert_msg((session.buffers[i].initial != NULL) == written &&
                          session.buffers[i].read == written &&
                          session.buffers[i].compared == written,
                      "%c is %swritten", "xyz"[i], written ? "" : "not ");
    }
    gd_session_close(&session);
    gd_plan_free(&plan);
    unlink(path);
    unlink(module);
    rmdir(folder);
}

/* A file with another value in element 4; the difference is 0.5 of a norm of 3 times the root of
 * 32. */
static const struct {
    double tolerance, absolute;
    bool met;
} allowances[] = {{-1, -1, false},  {0, -1, false},  {0.029, -1, false},
                  {0.03, -1, true}, {-1, 0.5, true}, {-1, 0.4, false}};

LOOP_TEST(jobs, a_job_tells_what_is_not_expected, sizeof allowances / sizeof *allowances)
{
    gd_plan plan = {0};
    gd_job job = {.plan = &plan, .modes = 1U << GRIDDEP_MODE_SERIAL};
    char path[] = "test_plan_XXXXXX";
    float values[32];

    for (int i = 0; i < 32; i++)
        values[i] = i == 4 ? 3.5F : 3.0F;
    FILE *file = fdopen(mkstemp(path), "wb");
    ck_assert(file && fwrite(values, sizeof values, 1, file) == 1 && fclose(file) == 0);
    make_plan(&plan);
    plan.expectations[0].from = GD_EXPECTED_FILE;
    plan.expectations[0].file = (gd_fill){.kind = GD_FILL_FILE, .path = gd_heap_string(path)};
    plan.expectations[0].tolerance = allowances[_i].tolerance;
    plan.expectations[0].absolute = allowances[_i].absolute;
    ck_assert_int_eq(gd_job_run(&job, runtime), allowances[_i].met ? GD_EXIT_OK : GD_EXIT_DIFFERS);
    const gd_job_mode *ran = &job.results[GRIDDEP_MODE_SERIAL];
    ck_assert(ran->equal && ran->met[0] == allowances[_i].met &&
              job.as_expected == allowances[_i].met);
    ck_assert(ran->differences[0].unequal == 1 && ran->differences[0].first == 4);
    ck_assert(ran->differences[0].got == 3.0 && ran->differences[0].wanted == 3.5);
    unlink(path);
    gd_job_free(&job);
    gd_plan_free(&plan);
}

/* What another job's serial run left is what this one's modes are compared with. */
TEST(jobs, jobs_share_the_serial_run)
{
    gd_plan plan = {0};
    make_plan(&plan);
    gd_job_serial *serial = calloc(1, gd_job_serial_bytes(&plan));
    gd_job job = {.plan = &plan, .modes = 1U << GRIDDEP_MODE_SERIAL, .serial = serial};

    ck_assert_uint_eq(gd_job_serial_bytes(&plan), sizeof *serial + 2 * 128);
    ck_assert_int_eq(gd_job_run(&job, runtime), GD_EXIT_OK);
    ck_assert(serial->is_there);
    ck_assert(((const float *)(const void *)serial->data)[0] == 2.0F &&
              ((const float *)(const void *)serial->data)[32] == 3.0F);
    gd_job_free(&job);

    ((float *)(void *)serial->data)[35] = 5.0F;
    job = (gd_job){.plan = &plan, .modes = 1U << GRIDDEP_MODE_PDL, .serial = serial};
    ck_assert_int_eq(gd_job_run(&job, runtime), GD_EXIT_DIFFERS);
    const gd_job_mode *ran = &job.results[GRIDDEP_MODE_PDL];
    ck_assert(!job.as_expected && !ran->equal && ran->unequal_buffer == 2 && ran->met[0]);
    ck_assert(ran->unequal.unequal == 1 && ran->unequal.first == 3 && ran->unequal.got == 3.0 &&
              ran->unequal.wanted == 5.0);
    gd_job_free(&job);
    free(serial);
    gd_plan_free(&plan);
}

/* A buffer that a launch is said to write and does not write holds what it was filled with. */
TEST(jobs, a_buffer_that_nobody_wrote_is_found)
{
    gd_plan plan = {0};
    gd_job job = {.plan = &plan, .modes = 1U << GRIDDEP_MODE_SERIAL};

    make_plan(&plan);
    plan.expectations[0].from = GD_EXPECTED_SERIAL;
    plan.launches[1].arguments[3].value = 0; /* of no elements */
    ck_assert_int_eq(gd_job_run(&job, runtime), GD_EXIT_DIFFERS);
    ck_assert(job.unwritten[2] && !job.unwritten[1] && job.results[GRIDDEP_MODE_SERIAL].met[0]);
    gd_job_free(&job);
    gd_plan_free(&plan);
}

TEST(jobs, dumps_are_what_the_last_mode_left)
{
    gd_plan plan = {0};
    char written[] = "test_plan_XXXXXX", read[] = "test_plan_XXXXXX";
    float values[33];

    close(mkstemp(written));
    close(mkstemp(read));
    const gd_job_dump dumps[] = {{2, written}, {0, read}};
    gd_job job = {.plan = &plan, .modes = ALL_MODES, .dumps = dumps, .dump_count = 2};
    make_plan(&plan);
    ck_assert_int_eq(gd_job_run(&job, runtime), GD_EXIT_OK);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(dumps[i].path, "rb");
        ck_assert(file && fread(values, sizeof(float), 33, file) == 32);
        fclose(file);
        unlink(dumps[i].path);
        ck_assert(values[0] == (i == 0 ? 3.0F : 1.0F) && values[31] == values[0]);
    }
    gd_job_free(&job);
    gd_plan_free(&plan);
}

TEST(comparison, other_names_are_no_types)
{
    static const char *const names[] = {NULL, "", "f", "f3", "f320", "u128", "F32", "b32", "int"};
    const uint64_t word = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ck_assert_uint_eq(gd_element_bytes(names[i]), 0);
        ck_assert(!gd_element_is_float(names[i]));
        ck_assert(isnan(gd_element_load(names[i], &word, 0)));
    }
}

MAIN_OF_SUITE("plan")
