/* What the suites of bench/suites run, on the emulated driver and in small: the ways to hand a
 * step on, and the plans that they build, against their references. The times are a GPU's
 * business. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suites.h"
#include "bench/decoder.h"
#include "bench/fc_chain.h"
#include "bench/handoff.h"
#include "cli/job/job.h"
#include "cli/io/message.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planlaunch.h"

#include "griddep.h"
#include "suite.h"

static griddep_runtime *runtime;
static griddep_error error;

static void setup(void)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .driver = EMULATED_DRIVER, .store_directory = ""};
    griddep_error_init(&error);
    ck_assert_msg(griddep_runtime_open(&options, &runtime, &error) == GRIDDEP_OK, "%s", error.text);
}

static void teardown(void)
{
    griddep_runtime_close(runtime);
}

static void succeeds(int32_t status)
{
    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
}

/* ---- handing a step on ---- */

static const gd_handoff_way ways[] = {
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_SERIAL, 1, 3, 6, 0},
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_PDL, 1, 4, 6, 0},
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH, 1, 5, 2, 0},
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH_PDL, 1, 4, 6, 0},
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH_PDL, 1, 1, 1, 0},
    {GD_HANDOFF_QUIET_STEPS, GRIDDEP_MODE_GRAPH_PDL, 1, 4, 6, 0},
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_SERIAL, 4, 2, 4, 0},
    {GD_HANDOFF_STEPS, GRIDDEP_MODE_GRAPH, 3, 2, 4, 0},
    {GD_HANDOFF_PERSISTENT, GRIDDEP_MODE_GRAPH, 1, 5, 6, 0},
    {GD_HANDOFF_PERSISTENT, GRIDDEP_MODE_SERIAL, 1, 1, 2, 40},
    {GD_HANDOFF_PERSISTENT, GRIDDEP_MODE_GRAPH, 1, 3, 1, 0},
    {GD_HANDOFF_FLAGS, GRIDDEP_MODE_GRAPH_PDL, 1, 4, 6, 0},
    {GD_HANDOFF_FLAGS, GRIDDEP_MODE_PDL, 1, 1, 4, 20},
    {GD_HANDOFF_FLAGS, GRIDDEP_MODE_GRAPH_PDL, 1, 3, 1, 0},
};

TEST_GROUP(handoff, setup, teardown);
TEST_GROUP(plans, setup, teardown);
TEST_GROUP(suites, setup, teardown);

/* Several runs, since counters and outputs go on from where the run before left them. */
LOOP_TEST(handoff, each_step_sees_the_one_before, sizeof ways / sizeof ways[0])
{
    griddep_module *module = NULL;
    gd_handoff handoff;
    bool right = false;
    void *stream = NULL;
    succeeds(gd_handoff_load(runtime, &module, &error));
    succeeds(griddep_stream_create(runtime, NULL, &stream, &error));
    succeeds(gd_handoff_open(runtime, module, &ways[_i], &handoff, &error));
    for (int run = 0; run < 3; run++) {
        succeeds(gd_handoff_hold(module, stream, 1000, &error));
        succeeds(gd_handoff_run(&handoff, stream, &error));
    }
    succeeds(gd_handoff_check(&handoff, stream, &right, &error));
    ck_assert(right);
    ck_assert_uint_eq(handoff.runs, 3);
    handoff.runs += 2; /* a run that did not take its steps is seen, where there is more than one */
    succeeds(gd_handoff_check(&handoff, stream, &right, &error));
    ck_assert(right == (ways[_i].steps == 1));
    gd_handoff_close(&handoff);
    succeeds(griddep_stream_destroy(runtime, stream, &error));
    griddep_module_unload(module);
}

/* One word that a step did not take along: the check must tell. */
TEST(handoff, a_stale_word_is_seen)
{
    griddep_module *module = NULL;
    gd_handoff handoff;
    bool right = true;
    void *stream = NULL;
    uint32_t word = 0;
    succeeds(gd_handoff_load(runtime, &module, &error));
    succeeds(griddep_stream_create(runtime, NULL, &stream, &error));
    succeeds(gd_handoff_open(runtime, module, &ways[3], &handoff, &error));
    succeeds(gd_handoff_run(&handoff, stream, &error));
    succeeds(griddep_memory_write(runtime, handoff.memory + 4 * 200, &word, sizeof word, stream,
                                  &error));
    succeeds(gd_handoff_run(&handoff, stream, &error));
    succeeds(gd_handoff_check(&handoff, stream, &right, &error));
    ck_assert(!right);
    gd_handoff_close(&handoff);
    succeeds(griddep_stream_destroy(runtime, stream, &error));
    griddep_module_unload(module);
}

/* ---- plans ---- */

/* In every mode, against the references and the serial run. */
static void runs_as_expected(gd_plan *plan)
{
    gd_job job = {.plan = plan, .modes = (1U << GRIDDEP_MODE_COUNT) - 1};
    ck_assert_int_eq(gd_plan_check_whole(plan), 0);
    ck_assert_int_eq(gd_job_run(&job, runtime), 0);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        ck_assert(job.results[mode].wanted && job.results[mode].equal);
        for (uint32_t i = 0; i < plan->expectation_count; i++)
            ck_assert(job.results[mode].met[i]);
    }
    gd_job_free(&job);
    gd_plan_free(plan);
}

static const gd_fc_chain chains[] = {
    {&gd_fc_kernels[0], 24, 16, 3, {2, 64, 4096}},
    {&gd_fc_kernels[0], 16, 40, 3, {3, 32, 8192}},
    {&gd_fc_kernels[0], 8, 8, 1, {1, 32, 0}},
    {&gd_fc_kernels[1], 24, 16, 3, {2, 128, 16384}},
    {&gd_fc_kernels[1], 16, 40, 3, {3, 128, 32768}},
    {&gd_fc_kernels[2], 32, 32, 2, {4, 128, 16384}},
    {&gd_fc_kernels[3], 48, 64, 2, {4, 256, 65536}},
};

LOOP_TEST(plans, fc_chain_is_as_expected, sizeof chains / sizeof chains[0])
{
    griddep_runtime_info info = {.size = sizeof info};
    gd_fc_chain chain = chains[_i];
    gd_plan plan = {0};
    succeeds(griddep_runtime_get_info(runtime, &info, &error));
    if (chain.kernel->scaled)
        chain.shape = gd_build_linear_fp8_shape(&info, chain.rows, chain.columns);
    gd_fc_chain_build(&chain, &plan);
    ck_assert_uint_eq(plan.launch_count, chains[_i].layers);
    uint64_t row_bytes = _i == 6 ? chains[_i].columns + sizeof(float) : 2 * chains[_i].columns;
    ck_assert_uint_eq(plan.step_bytes, chains[_i].rows * row_bytes * chains[_i].layers);
    runs_as_expected(&plan);
}

LOOP_TEST(plans, each_layer_reads_what_the_one_before_wrote, sizeof chains / sizeof chains[0])
{
    gd_plan plan = {0};
    static const uint32_t x_of[] = {1, 2, 2, 4}, y_of[] = {2, 6, 6, 8};
    uint32_t x = x_of[chains[_i].kernel - gd_fc_kernels],
             y = y_of[chains[_i].kernel - gd_fc_kernels];
    gd_fc_chain_build(&chains[_i], &plan);
    for (uint32_t i = 1; i < plan.launch_count; i++)
        ck_assert_uint_eq(plan.launches[i].arguments[x].buffer,
                          plan.launches[i - 1].arguments[y].buffer);
    for (uint32_t i = 1; i < plan.launch_count; i++)
        ck_assert_uint_ne(plan.launches[i].arguments[0].buffer,
                          plan.launches[i - 1].arguments[0].buffer);
    gd_plan_free(&plan);
}

static const gd_decoder decoders[] = {{"one", 128, 4, 2, 64, 256, 40, 1},
                                      {"two", 64, 2, 2, 64, 128, 9, 2},
                                      {"wide", 256, 8, 1, 128, 64, 130, 1}};

LOOP_TEST(plans, decoder_is_as_expected, sizeof decoders / sizeof decoders[0])
{
    const gd_decoder *decoder = &decoders[_i];
    griddep_runtime_info info = {.size = sizeof info};
    gd_plan plan = {0};
    succeeds(griddep_runtime_get_info(runtime, &info, &error));
    gd_decoder_build(decoder, &info, true, &plan);
    ck_assert_uint_eq(plan.launch_count, 5 * decoder->layers);
    ck_assert_uint_ge(plan.expectation_count, 5);
    runs_as_expected(&plan);
}

/* Worked out by hand: 6 * 64 rows for q, k and v, 2 * 64 columns of the output, three times 128 for
 * the feed-forward part, by 64; the cache has 9 tokens of 2 heads of 64 for keys, and for
 * values. */
TEST(plans, a_long_context_has_clusters_where_there_is_room)
{
    static const gd_decoder decoder = {"long", 128, 4, 2, 64, 256, 4096, 1};
    griddep_runtime_info info = {.size = sizeof info};
    griddep_attribute expected;
    gd_plan plan = {0};
    succeeds(griddep_runtime_get_info(runtime, &info, &error));
    info.multiprocessors = 132;
    gd_decoder_build(&decoder, &info, false, &plan);
    const griddep_launch_config config =
        gd_planlaunch_config(&plan.launches[1], GRIDDEP_PDL_DEFAULT, 132);
    succeeds(griddep_attribute_set(&expected, GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                   (const int64_t[]){GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING}, 1,
                                   &error));
    ck_assert_uint_eq(config.attribute_count, 1);
    ck_assert_mem_eq(config.attributes, &expected, sizeof expected);
    gd_plan_free(&plan);
}

TEST(plans, decoder_counts_its_bytes)
{
    ck_assert_uint_eq(gd_decoder_layer_bytes(&decoders[1]),
                      2 * ((384 + 128 + 384) * 64 + 2 * 9 * 128));
}

/* ---- suites ---- */

/* Kernels that are right, and a launch that the small device refuses: its cluster is one for a
 * larger device. */
LOOP_TEST(suites, a_suite_tells_what_became_of_its_kernels, 3)
{
    static const struct outcome {
        const gd_bench_suite *suite;
        int32_t multiprocessors;
        int code;
    } outcomes[] = {{&suite_fc_chain, 4, 0},
                    {&suite_transformer_block, 4, 0},
                    {&suite_transformer_block, 132, GD_EXIT_USAGE}};
    griddep_runtime_info info = {.size = sizeof info};
    void *results = NULL;
    succeeds(griddep_runtime_get_info(runtime, &info, &error));
    info.multiprocessors = outcomes[_i].multiprocessors;
    const suites_request request = {.layers = 1, .decoder = "small", .rows = 16, .columns = 16};
    const gd_bench bench = {.runtime = runtime, .info = &info, .samples = 1, .request = &request};
    ck_assert_int_eq(outcomes[_i].suite->measure(&bench, &results), outcomes[_i].code);
    ck_assert_ptr_nonnull(results);
    outcomes[_i].suite->free(results);
}

MAIN_OF_SUITE("bench")
