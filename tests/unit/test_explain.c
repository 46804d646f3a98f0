/* Explanations on the scripted fake driver: each condition in turn not met, and what is predicted;
 * kernels with stamps; and what still works when a driver lacks one of its optional symbols. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/launch/footprint.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry early(.param .u64 p)\n{\n    griddepcontrol.launch_dependents;\n"
    "    griddepcontrol.wait;\n    ret;\n}\n"
    ".visible .entry never(.param .u64 p)\n{\n    griddepcontrol.wait;\n    ret;\n}\n"
    ".visible .entry plain(.param .u64 p)\n{\n    ret;\n}\n"
    ".visible .entry sometimes(.param .u64 p)\n{\n    .reg .pred %q;\n    @%q bra over;\n    "
    "griddepcontrol.wait;\n"
    "over:\n    ret;\n}\n"
    ".func help()\n{\n    griddepcontrol.launch_dependents;\n    ret;\n}\n"
    ".visible .entry called(.param .u64 p)\n{\n    call help;\n    griddepcontrol.wait;\n    "
    "ret;\n}\n"
    ".visible .entry mapped(.param .align 64 .b8 map[128], .param .u64 p)\n{\n    ret;\n}\n"
    ".visible .entry rash(.param .u64 p)\n{\n    griddepcontrol.launch_dependents;\n    ret;\n}\n";

static const griddep_argument pointer = {.bytes = 8, .value = 256};

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_chain *chain;

static void begin(void)
{
    static const char *const variables[] = {"GRIDDEP_PDL", "GRIDDEP_LOG", "GRIDDEP_DRIVER",
                                            "CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH"};

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    setenv("GRIDDEP_STORE", "off", 1);
    fake_driver_reset();
    griddep_error_init(&error);
}

static void open_all(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    const griddep_module_options named = {.size = sizeof named, .name = "k.ptx"};
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, &named, &module, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
}

static void close_all(void)
{
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    chain = NULL;
    module = NULL;
    runtime = NULL;
}

static void finish(void)
{
    char left[256] = "";

    close_all();
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

typedef struct shape {
    const char *kernel;
    uint32_t grid, block, shared;
    int32_t pdl;
    const griddep_attribute *attribute;
    uint32_t cluster;
} shape;

static int32_t try_add(const shape *launch)
{
    const griddep_launch_config config = {.size = sizeof config,
                                          .grid = {launch->grid},
                                          .block = {launch->block},
                                          .shared_bytes = launch->shared,
                                          .cluster = {launch->cluster},
                                          .pdl = launch->pdl,
                                          .attributes = launch->attribute,
                                          .attribute_count = launch->attribute ? 1 : 0};
    griddep_kernel *kernel = NULL;
    int32_t status = griddep_module_find_kernel(module, launch->kernel, &kernel, &error);

    return status ? status : griddep_chain_add(chain, kernel, &config, &pointer, 1, &error);
}

static void add(const shape *launch)
{
    ck_status(try_add(launch), GRIDDEP_OK);
}

/* ---- what is told ---- */

static griddep_condition find(const griddep_explanation *explanation, const char *name)
{
    griddep_condition condition = {.size = sizeof condition};

    for (uint32_t i = 0; griddep_explanation_get(explanation, i, &condition, NULL) == GRIDDEP_OK;
         i++) {
        if (!strcmp(condition.name, name))
            return condition;
    }
    ck_abort_msg("condition %s is not there", name);
}

static int has(const griddep_explanation *explanation, const char *name)
{
    griddep_condition condition = {.size = sizeof condition};

    for (uint32_t i = 0; griddep_explanation_get(explanation, i, &condition, NULL) == GRIDDEP_OK;
         i++) {
        if (!strcmp(condition.name, name))
            return 1;
    }
    return 0;
}

static griddep_explanation *explain(int32_t mode, uint32_t index)
{
    griddep_explanation *explanation = NULL;

    ck_good(griddep_chain_explain(chain, mode, index, &explanation, &error));
    return explanation;
}

static griddep_explanation_info info_of(const griddep_explanation *explanation)
{
    griddep_explanation_info info = {.size = sizeof info};

    ck_good(griddep_explanation_get_info(explanation, &info, &error));
    return info;
}

static const shape small = {.kernel = "early", .grid = 132, .block = 128};

TEST_GROUP(told, NULL, NULL);
TEST_GROUP(older, NULL, NULL);

TEST(told, all_conditions_met)
{
    static const char *const names[] = {
        "device",      "driver",     "kill switch",       "environment",
        "tools",       "producer",   "nodes between",     "consumer waits",
        "attribute 6", "graph edge", "producer triggers", "grids",
        "CTA slots",   "threads",    "registers",         "shared memory",
        "room beside", "clusters",   "carve-out"}; /* "cooperative" is left out */
    griddep_condition condition = {.size = sizeof condition};

    begin();
    open_all();
    add(&small);
    add(&small);
    griddep_explanation *explanation = explain(GRIDDEP_MODE_GRAPH_PDL, 1);
    griddep_explanation_info info = info_of(explanation);
    ck_assert_int_eq(info.overlap, GRIDDEP_OVERLAP_FULL);
    ck_assert_int_eq(info.reason, GRIDDEP_REASON_SET);
    ck_assert_int_eq(info.unmet, -1);
    ck_assert_str_eq(info.producer, "early");
    ck_assert_ptr_nonnull(strstr(info.text, "when all CTAs of early have triggered"));
    ck_assert_uint_eq(info_of(explanation).condition_count, 19);
    for (uint32_t i = 0; i < 19; i++) {
        ck_good(griddep_explanation_get(explanation, i, &condition, &error));
        ck_assert_msg(condition.met == 1, "%s: %s", condition.name, condition.text);
        ck_assert_str_eq(condition.name, names[i]);
    }
    ck_assert_ptr_nonnull(
        strstr(find(explanation, "producer triggers").text, "first at 6:5 of k.ptx"));
    ck_assert_ptr_nonnull(strstr(
        find(explanation, "registers").text,
        "1 CTA of early on an SM uses 2048 of its 65536 registers; a CTA of early needs 2048"));
    ck_assert_ptr_nonnull(
        strstr(find(explanation, "room beside").text, "has room for 15 of early"));
    ck_status(griddep_explanation_get(explanation, 19, &condition, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    griddep_explanation_destroy(explanation);
    finish();
}

/* One thing that is not right, the mode, the condition that tells, and the prediction. */
static const struct {
    int32_t mode;
    const char *condition, *says;
    int32_t overlap, met;
    const char *variable, *value;
    int capability;
    shape before, after;
} cases[] = {
    {GRIDDEP_MODE_PDL, "device", .capability = 80, .says = "8.0; dependent launch needs 9.0"},
    {GRIDDEP_MODE_PDL, "kill switch", .variable = "GRIDDEP_PDL", .value = "off",
     .says = "GRIDDEP_PDL switches"},
    {GRIDDEP_MODE_PDL, "environment", .variable = "CUDA_LAUNCH_BLOCKING", .value = "1",
     .says = "CUDA_LAUNCH_BLOCKING=1"},
    {GRIDDEP_MODE_GRAPH_PDL, "environment", .variable = "CUDA_LAUNCH_BLOCKING", .value = "1",
     .met = 1, .overlap = GRIDDEP_OVERLAP_FULL, .says = "a graph is one launch"},
    {GRIDDEP_MODE_PDL, "environment", .variable = "CUDA_LAUNCH_BLOCKING", .value = "0", .met = 1,
     .overlap = GRIDDEP_OVERLAP_FULL, .says = "not set"},
    {GRIDDEP_MODE_PDL, "tools", .variable = "CUDA_INJECTION64_PATH",
     .value = "/x/libsanitizer-collection.so", .met = -1, .overlap = GRIDDEP_OVERLAP_FULL,
     .says = "CUDA_INJECTION64_PATH: a profiler"},
    {GRIDDEP_MODE_SERIAL, "attribute 6", .says = "mode or runtime switches dependent launch off"},
    {GRIDDEP_MODE_GRAPH, "graph edge", .says = "from early is a plain one"},
    {GRIDDEP_MODE_PDL, "consumer waits", .after = {"plain", 1, 32, 0, 0, NULL, 0},
     .says = "plain: the kernel has no griddepcontrol.wait"},
    {GRIDDEP_MODE_GRAPH_PDL, "attribute 6", .before = {"never", 1, 32, 0, 0, NULL, 0},
     .after = {"rash", 1, 32, 0, 0, NULL, 0}, .says = "they are in the wrong order"},
    {GRIDDEP_MODE_PDL, "consumer waits", .after = {"sometimes", 1, 32, 0, 0, NULL, 0},
     .says = "sometimes: a path through the kernel misses griddepcontrol.wait: line 22 branches "
             "past the wait of line 23 to line 25, line 25 leaves by ret"},
    {GRIDDEP_MODE_PDL, "consumer waits",
     .after = {"sometimes", 1, 32, 0, GRIDDEP_PDL_FORCE, NULL, 0}, .overlap = GRIDDEP_OVERLAP_FULL,
     .says = "leaves by ret; forced to start early, it races with no launch before it"},
    {GRIDDEP_MODE_PDL, "producer triggers", .before = {"never", 1, 32, 0, 0, NULL, 0},
     .says = "never never triggers: a block counts as triggered when it ends"},
    {GRIDDEP_MODE_PDL, "producer triggers", .before = {"called", 1, 32, 0, 0, NULL, 0}, .met = 1,
     .overlap = GRIDDEP_OVERLAP_FULL, .says = "in a function that it calls"},
    {GRIDDEP_MODE_PDL, "room beside", .before = {"early", 132, 1024, 0, 0, NULL, 0},
     .after = {"early", 132, 1024, 120 * 1024, 0, NULL, 0}, .met = 1,
     .overlap = GRIDDEP_OVERLAP_FULL, .says = "room for 1"},
    {GRIDDEP_MODE_PDL, "threads", .before = {"early", 264, 1024, 0, 0, NULL, 0},
     .overlap = GRIDDEP_OVERLAP_TAIL,
     .says = "2 CTAs of early on an SM use 2048 of its 2048 threads"},
    {GRIDDEP_MODE_PDL, "shared memory", .before = {"early", 132, 32, 200 * 1024, 0, NULL, 0},
     .after = {"early", 132, 32, 100 * 1024, 0, NULL, 0}, .overlap = GRIDDEP_OVERLAP_TAIL,
     .says = "205824 of its 233472 bytes of shared memory; a CTA of early needs 103424, and "
             "27648 are free"},
    {GRIDDEP_MODE_PDL, "CTA slots", .before = {"early", 132 * 32, 32, 0, 0, NULL, 0},
     .overlap = GRIDDEP_OVERLAP_TAIL, .says = "32 of its 32 CTA slots"},
    {GRIDDEP_MODE_PDL, "grids", .before = {"early", 1000, 1024, 0, 0, NULL, 0},
     .overlap = GRIDDEP_OVERLAP_FULL, .says = "1000 CTAs on 132 SMs that hold 2 each: 4 waves"},
    {GRIDDEP_MODE_PDL, "clusters", .after = {"early", 8, 32, 0, 0, NULL, 4}, .met = -1,
     .overlap = GRIDDEP_OVERLAP_FULL, .says = "clusters of 4 CTAs"},
};

LOOP_TEST(told, one_condition_differs, sizeof cases / sizeof cases[0])
{
    const shape *before = cases[_i].before.kernel ? &cases[_i].before : &small;
    const shape *after = cases[_i].after.kernel ? &cases[_i].after : &small;

    begin();
    if (cases[_i].variable)
        setenv(cases[_i].variable, cases[_i].value, 1);
    if (cases[_i]
            .capability) { /* PTX for sm_80 has no griddepcontrol; the shelf has such kernels */
        const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
        gd_driver *driver = NULL;
        fake_driver_set_capability(cases[_i].capability);
        static const char old[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                                  ".visible .entry early(.param .u64 p)\n{\n    ret;\n}\n";
        ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
        ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
        ck_good(griddep_module_load(runtime, old, sizeof old, NULL, &module, &error));
        ck_good(griddep_chain_create(runtime, &chain, &error));
    } else {
        open_all();
    }
    add(before);
    add(after);
    griddep_explanation *explanation = explain(cases[_i].mode, 1);
    griddep_condition condition = find(explanation, cases[_i].condition);
    ck_assert_int_eq(condition.met, cases[_i].met);
    ck_assert_msg(strstr(condition.text, cases[_i].says), "\"%s\" is not in: %s", cases[_i].says,
                  condition.text);
    ck_assert_str_eq(griddep_text(GRIDDEP_TEXT_OVERLAP, info_of(explanation).overlap),
                     griddep_text(GRIDDEP_TEXT_OVERLAP, cases[_i].overlap));
    griddep_explanation_destroy(explanation);
    finish();
    begin();
}

TEST(told, attributes_matter)
{
    griddep_attribute cooperative, carveout;
    griddep_explanation *explanation;

    begin();
    open_all();
    ck_good(griddep_attribute_set(&cooperative, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1},
                                  1, &error));
    ck_good(griddep_attribute_set(&carveout, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){50}, 1,
                                  &error));
    shape together = small, carved = small;
    together.attribute = &cooperative;
    carved.attribute = &carveout;
    add(&small);
    add(&together);
    add(&carved);
    explanation = explain(GRIDDEP_MODE_PDL, 1);
    ck_assert_int_eq(find(explanation, "cooperative").met, 0);
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_NONE);
    griddep_explanation_destroy(explanation);
    explanation = explain(GRIDDEP_MODE_GRAPH_PDL, 1);
    ck_assert_int_eq(find(explanation, "cooperative").met, 1);
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    explanation = explain(GRIDDEP_MODE_PDL, 2);
    ck_assert(!has(explanation, "cooperative"));
    griddep_condition told = find(explanation, "carve-out");
    ck_assert_int_eq(told.met, -1);
    ck_assert_ptr_nonnull(strstr(told.text, "early prefers 50 %: 132 KiB"));
    griddep_explanation_destroy(explanation);
    finish();
}

/* Both kernels against what the first one sets its SMs to; where it has CTAs on all of them, the
 * second one waits. */
TEST(told, carveouts_are_held_against_needs)
{
    static const struct {
        int32_t before, after; /* -1: the driver's choice */
        uint32_t grid, shared_before, shared_after;
        int32_t met, overlap;
        const char *says;
    } carvings[] = {
        {-1, -1, 132, 0, 0, 1, GRIDDEP_OVERLAP_FULL, "prefers (the driver's choice)"},
        {-1, -1, 132, 0, 102400, -1, GRIDDEP_OVERLAP_FULL,
         "104448 bytes of shared memory on one; an SM changes"},
        {-1, -1, 132, 102400, 102400, 1, GRIDDEP_OVERLAP_FULL, "206848 bytes"},
        {0, -1, 132, 0, 102400, 0, GRIDDEP_OVERLAP_TAIL, "(0 %: 8 KiB)"},
        {0, -1, 4, 0, 102400, 0, GRIDDEP_OVERLAP_FULL, "only when it is empty"},
        {100, -1, 132, 0, 102400, 1, GRIDDEP_OVERLAP_FULL, "(100 %: 228 KiB)"},
        {100, 0, 132, 0, 0, 0, GRIDDEP_OVERLAP_TAIL, "early prefers 0 %: 8 KiB"},
        {0, 100, 132, 0, 0, 1, GRIDDEP_OVERLAP_FULL, "early prefers 100 %: 228 KiB"},
        {50, 50, 132, 0, 0, 1, GRIDDEP_OVERLAP_FULL, "132 KiB"},
    };
    griddep_attribute carveouts[2];
    shape shapes[2] = {small, small};

    begin();
    open_all();
    griddep_chain_destroy(chain);
    for (size_t i = 0; i < sizeof carvings / sizeof carvings[0]; i++) {
        ck_good(griddep_chain_create(runtime, &chain, &error));
        ck_good(griddep_attribute_set(&carveouts[0], GRIDDEP_ATTRIBUTE_CARVEOUT,
                                      (const int64_t[]){carvings[i].before}, 1, &error));
        ck_good(griddep_attribute_set(&carveouts[1], GRIDDEP_ATTRIBUTE_CARVEOUT,
                                      (const int64_t[]){carvings[i].after}, 1, &error));
        for (int k = 0; k < 2; k++) {
            shapes[k].grid = carvings[i].grid;
            shapes[k].shared = k ? carvings[i].shared_after : carvings[i].shared_before;
            shapes[k].attribute =
                (k ? carvings[i].after : carvings[i].before) < 0 ? NULL : &carveouts[k];
            add(&shapes[k]);
        }
        griddep_explanation *explanation = explain(GRIDDEP_MODE_PDL, 1);
        griddep_condition told = find(explanation, "carve-out");
        ck_assert_msg(told.met == carvings[i].met && strstr(told.text, carvings[i].says),
                      "case %u: %d: %s", (unsigned)i, (int)told.met, told.text);
        ck_assert_msg(info_of(explanation).overlap == carvings[i].overlap, "case %u: %s",
                      (unsigned)i,
                      griddep_text(GRIDDEP_TEXT_OVERLAP, info_of(explanation).overlap));
        griddep_explanation_destroy(explanation);
        griddep_chain_destroy(chain);
    }
    ck_good(griddep_chain_create(runtime, &chain, &error));
    finish();
}

/* A launch that also waits for another lane begins when that has ended, whenever that is. */
TEST(told, other_lanes_matter)
{
    griddep_launch_config config = {.size = sizeof config, .grid = {132}, .block = {128}};
    griddep_kernel *kernel = NULL;

    begin();
    open_all();
    ck_good(griddep_module_find_kernel(module, "early", &kernel, &error));
    add(&small);
    config.lane = 1;
    ck_good(griddep_chain_add(chain, kernel, &config, &pointer, 1, &error));
    add(&small);
    add(&small);
    ck_good(griddep_chain_depend(chain, 2, 1, &error));
    griddep_explanation *explanation = explain(GRIDDEP_MODE_PDL, 1);
    ck_assert_int_eq(find(explanation, "producer").met, 0); /* first of its lane */
    griddep_explanation_destroy(explanation);
    explanation = explain(GRIDDEP_MODE_PDL, 2);
    ck_assert_ptr_nonnull(strstr(find(explanation, "other lanes").text, "1 launch of other lanes"));
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    explanation = explain(GRIDDEP_MODE_PDL, 3);
    ck_assert(!has(explanation, "other lanes"));
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    /* In a graph each of the edges may be programmatic, and a lane may begin behind another one's
     * launch. */
    explanation = explain(GRIDDEP_MODE_GRAPH_PDL, 2);
    ck_assert_int_eq(find(explanation, "other lanes").met, 1);
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    config.lane = 2;
    ck_good(griddep_chain_add(chain, kernel, &config, &pointer, 1, &error));
    ck_good(griddep_chain_depend(chain, 4, 1, &error));
    explanation = explain(GRIDDEP_MODE_GRAPH_PDL, 4);
    ck_assert_str_eq(info_of(explanation).producer, "early");
    ck_assert_int_eq(find(explanation, "graph edge").met, 1);
    griddep_explanation_destroy(explanation);
    ck_good(griddep_chain_set_name(chain, 1, "mine", &error));
    ck_good(griddep_chain_set_name(chain, 4, "other", &error));
    ck_good(griddep_chain_set_name(chain, 4, NULL, &error));
    ck_status(griddep_chain_set_name(chain, 5, "none", &error), GRIDDEP_ERROR_NOT_FOUND);
    explanation = explain(GRIDDEP_MODE_GRAPH_PDL, 4);
    ck_assert_str_eq(info_of(explanation).producer, "mine");
    ck_assert_str_eq(info_of(explanation).consumer, "early");
    ck_assert_str_eq(find(explanation, "producer").text, "mine comes before it");
    ck_good(griddep_chain_set_name(chain, 1, NULL, &error));
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    /* In a stream it begins at an event that the other one's trigger records. */
    explanation = explain(GRIDDEP_MODE_PDL, 4);
    ck_assert_str_eq(info_of(explanation).producer, "early");
    ck_assert_int_eq(find(explanation, "event").met, 1);
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    finish();
}

TEST(told, first_launches_and_bad_input)
{
    griddep_explanation *explanation = NULL;
    griddep_condition condition = {.size = sizeof condition};
    griddep_explanation_info info = {.size = 1};

    begin();
    open_all();
    add(&small);
    explanation = explain(GRIDDEP_MODE_PDL, 0);
    ck_assert_int_eq(find(explanation, "producer").met, 0);
    ck_assert(!has(explanation, "producer triggers"));
    ck_assert_ptr_null(info_of(explanation).producer);
    ck_assert_int_eq(info_of(explanation).overlap, GRIDDEP_OVERLAP_NONE);
    ck_status(griddep_explanation_get_info(explanation, &info, &error), GRIDDEP_ERROR_STRUCT);
    ck_status(griddep_explanation_get_info(NULL, &info, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_explanation_get(NULL, 0, &condition, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_explanation_destroy(explanation);
    explanation = NULL;
    ck_status(griddep_chain_explain(chain, GRIDDEP_MODE_PDL, 2, &explanation, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_chain_explain(chain, 4, 0, &explanation, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_explain(NULL, 0, 0, &explanation, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_explain(chain, 0, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_null(explanation);
    griddep_explanation_destroy(NULL);
    ck_assert_ptr_null(griddep_text(GRIDDEP_TEXT_OVERLAP, 3));
    finish();
}

TEST(told, every_allocation_of_an_explanation_may_fail)
{
    griddep_explanation *explanation = NULL;
    long failures = 0;

    begin();
    setenv("CUDA_INJECTION64_PATH", "/x", 1);
    open_all();
    add(&small);
    add(&small);
    ck_good(griddep_chain_prepare(chain, GRIDDEP_MODE_GRAPH_PDL, &error));
    for (long n = 0; n < 1000 && !explanation; n++) {
        fail_alloc_after(n);
        int32_t status =
            griddep_chain_explain(chain, GRIDDEP_MODE_GRAPH_PDL, 1, &explanation, &error);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
        ck_assert(hit == !explanation);
        failures += status != GRIDDEP_OK;
    }
    ck_assert_int_gt(failures, 15);
    griddep_explanation_destroy(explanation);
    finish();
    begin();
}

/* ---- room ---- */

TEST(told, waves_and_tails)
{
    gd_footprint footprint = {.grid = 264, .alone = 2};
    gd_residence residence;

    gd_footprint_spread(&footprint, 132, &residence);
    ck_assert_uint_eq(residence.waves, 1);
    ck_assert_uint_eq(residence.full, 2);
    ck_assert_uint_eq(residence.least, 2);
    footprint.grid = 265;
    gd_footprint_spread(&footprint, 132, &residence);
    ck_assert_uint_eq(residence.waves, 2);
    ck_assert_uint_eq(residence.full, 2);
    ck_assert_uint_eq(residence.most, 1);
    ck_assert_uint_eq(residence.least, 0);
    footprint.grid = 100;
    gd_footprint_spread(&footprint, 132, &residence);
    ck_assert_uint_eq(residence.full, 1);
    ck_assert_uint_eq(residence.least, 0);
}

/* ---- drivers that lack a symbol ---- */

enum {
    LAUNCHES = 1,
    OVERLAPS = 2,
    GRAPHS = 4,
    EDGES = 8,  /* of graphs are told */
    PARTS = 16, /* a runtime on a part of the device */
    TILED = 32,
    IM2COL = 64,
    COOPERATIVE = 128, /* too large a grid is refused with its numbers */
    PRIORITY = 256,    /* likewise a priority */
    INDEXED = 512,     /* kernels of a cubin are listed; of PTX they always are */
    PARAMETERS = 1024, /* parameters of a cubin are known */
    BUILT = 2048,      /* a programmatic edge of a graph made by hand */
    UPGRADED = 4096,   /* a plain edge of a captured graph made programmatic */
    HELD = 8192,       /* a module that was captured goes when its graph has gone */
    EVERYTHING = 16383
};

static const struct {
    const char *symbol; /* NULL: none is hidden */
    int lost;
} optional[] = {
    {NULL, 0},
    {"cuModuleGetFunctionCount", INDEXED},
    {"cuModuleEnumerateFunctions", INDEXED},
    {"cuFuncGetName", INDEXED},
    {"cuFuncGetParamInfo", PARAMETERS},
    {"cuDeviceGetUuid", 0}, /* then it is not the emulated driver */
    {"cuGraphGetEdges", EDGES | UPGRADED},
    {"cuGraphAddDependencies", BUILT | EDGES | UPGRADED}, /* API 12.3, as the former */
    {"cuGraphRemoveDependencies", UPGRADED},
    {"cuCtxGetStreamPriorityRange", PRIORITY},
    {"cuCtxGetDevResource", 0}, /* for green contexts: test_attribute */
    {"cuDeviceGetDevResource", PARTS},
    {"cuDevSmResourceSplitByCount", PARTS},
    {"cuDevResourceGenerateDesc", PARTS},
    {"cuGreenCtxCreate", PARTS},
    {"cuGreenCtxDestroy", PARTS},
    {"cuCtxFromGreenCtx", PARTS},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", COOPERATIVE},
    {"cuOccupancyMaxPotentialClusterSize", 0}, /* for words: test_attribute */
    {"cuTensorMapEncodeTiled", TILED},
    {"cuTensorMapEncodeIm2col", IM2COL},
    {"cuGraphChildGraphNodeGetGraph", 0}, /* for child graphs of adopted ones: test_switch */
    {"cuStreamAddCallback", 0},           /* for notifications: test_completion */
    {"cuUserObjectCreate", HELD},
    {"cuUserObjectRelease", HELD},
    {"cuGraphRetainUserObject", HELD},
};

static int try_launch(void)
{
    griddep_hop_info hop = {.size = sizeof hop};
    int works = 0;

    add(&small);
    add(&small);
    if (griddep_chain_run(chain, GRIDDEP_MODE_PDL, NULL, &error) == GRIDDEP_OK)
        works |= LAUNCHES;
    ck_good(griddep_chain_get_hop(chain, GRIDDEP_MODE_PDL, 1, &hop, &error));
    if (hop.reason == GRIDDEP_REASON_SET)
        works |= OVERLAPS;
    if (griddep_chain_run(chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error) == GRIDDEP_OK)
        works |= GRAPHS;
    ck_good(griddep_chain_get_hop(chain, GRIDDEP_MODE_GRAPH_PDL, 1, &hop, &error));
    if (hop.edge == 1)
        works |= EDGES;
    griddep_explanation *explanation = explain(GRIDDEP_MODE_GRAPH_PDL, 1); /* on every driver */
    ck_assert_int_eq(find(explanation, "graph edge").met, works & EDGES ? 1 : -1);
    griddep_explanation_destroy(explanation);
    return works;
}

static int try_limits(void)
{
    griddep_attribute attribute;
    int works = 0;

    shape large = {"early", 132 * 64, 32, 0, 0, &attribute, 0};
    ck_good(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1},
                                  1, &error));
    works |= try_add(&large) == GRIDDEP_ERROR_LIMIT ? COOPERATIVE : 0;
    ck_good(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){1}, 1,
                                  &error));
    works |= try_add(&large) == GRIDDEP_ERROR_LIMIT ? PRIORITY : 0;
    large = (shape){"early", 16, 32, 0, 0, NULL, 16};
    ck_status(try_add(&large), GRIDDEP_OK); /* a large cluster can be launched on any of them */
    return works;
}

static int try_maps(void)
{
    griddep_tensor_options options = {.size = sizeof options,
                                      .type = GRIDDEP_TENSOR_F16,
                                      .address = 4096,
                                      .rank = 3,
                                      .dimensions = {64, 8, 8},
                                      .strides = {128, 1024},
                                      .box = {64, 1, 1}};
    griddep_tensor_map map;
    int32_t status = griddep_tensor_map_encode(runtime, &options, &map, &error);
    int works = status ? 0 : TILED;

    ck_assert_msg(!status || (status == GRIDDEP_ERROR_UNSUPPORTED &&
                              strstr(error.text, "cuTensorMapEncodeTiled")),
                  "%s", error.text);
    memset(options.box, 0, sizeof options.box);
    options.channels = 64;
    options.pixels = 8;
    options.upper[0] = 1;
    options.im2col = 1;
    status = griddep_tensor_map_encode(runtime, &options, &map, &error);
    ck_assert_msg(!status || (status == GRIDDEP_ERROR_UNSUPPORTED &&
                              strstr(error.text, "cuTensorMapEncodeIm2col")),
                  "%s", error.text);
    return works | (status ? 0 : IM2COL);
}

static int try_built_graph(griddep_kernel *kernel)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {4}, .block = {32}};
    griddep_graph_edge_info edge = {.size = sizeof edge};
    griddep_graph *graph = NULL;
    uint32_t nodes[2];

    ck_good(griddep_graph_create(runtime, &graph, &error));
    for (int i = 0; i < 2; i++)
        ck_good(griddep_graph_add_kernel(graph, kernel, &config, &pointer, 1, &nodes[i], &error));
    ck_good(griddep_graph_add_edge(graph, nodes[0], nodes[1], GRIDDEP_PORT_DEFAULT,
                                   GRIDDEP_EDGE_AUTO, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error)); /* whatever becomes of the edge */
    ck_good(griddep_graph_get_edge(graph, 0, &edge, &error));
    griddep_graph_destroy(graph);
    return edge.type == GRIDDEP_EDGE_PROGRAMMATIC ? BUILT : 0;
}

/* As a part of the program launches that knows nothing of the library. */
static void launch_elsewhere(griddep_kernel *kernel, void *stream)
{
    griddep_kernel_info info = {.size = sizeof info};
    uint64_t address = pointer.value;
    void *arguments[] = {&address};
    const gd_CUlaunchConfig config = {.gridDimX = 4,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 32,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .hStream = stream};
    gd_CUcontext popped;

    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_assert_int_eq(runtime->driver->cuCtxPushCurrent(runtime->context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(runtime->driver->cuLaunchKernelEx(&config, info.function, arguments, NULL),
                     GD_CUDA_SUCCESS);
    ck_assert_int_eq(runtime->driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
}

static int try_captured_graph(griddep_kernel *kernel)
{
    griddep_launch_config config = {.size = sizeof config, .grid = {4}, .block = {32}};
    griddep_graph *graph = NULL;
    uint32_t count = 0;

    ck_good(griddep_stream_create(runtime, NULL, &config.stream, &error));
    ck_good(griddep_graph_capture_begin(runtime, config.stream, &error));
    ck_good(griddep_launch(kernel, &config, &pointer, 1, NULL, &error));
    launch_elsewhere(kernel, config.stream); /* the edge to it is plain */
    ck_good(griddep_graph_capture_end(runtime, config.stream, &graph, &error));
    int32_t status = griddep_graph_upgrade(graph, &count, &error);
    ck_assert_msg(!status || status == GRIDDEP_ERROR_UNSUPPORTED, "%s", error.text);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    griddep_graph_destroy(graph);
    ck_good(griddep_stream_destroy(runtime, config.stream, &error));
    return !status && count == 1 ? UPGRADED : 0;
}

static int try_held_module(void)
{
    griddep_launch_config config = {.size = sizeof config, .grid = {4}, .block = {32}};
    griddep_module *captured = NULL;
    griddep_kernel *kernel = NULL;
    griddep_graph *graph = NULL;

    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &captured, &error));
    ck_good(griddep_module_find_kernel(captured, "early", &kernel, &error));
    ck_good(griddep_stream_create(runtime, NULL, &config.stream, &error));
    ck_good(griddep_graph_capture_begin(runtime, config.stream, &error));
    ck_good(griddep_launch(kernel, &config, &pointer, 1, NULL, &error));
    griddep_module_unload(captured);
    ck_good(griddep_graph_capture_end(runtime, config.stream, &graph, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error));
    uint64_t unloaded = fake_driver_calls("cuModuleUnload");
    griddep_graph_destroy(graph); /* its launch holds the module until that is over */
    ck_good(griddep_stream_synchronize(runtime, NULL, &error));
    ck_good(griddep_stream_destroy(runtime, config.stream, &error));
    return fake_driver_calls("cuModuleUnload") > unloaded ? HELD : 0;
}

static int try_graphs(void)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(module, "early", &kernel, &error));
    return try_built_graph(kernel) | try_captured_graph(kernel) | try_held_module();
}

static int try_part(void)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .store_directory = "", .multiprocessors = 16};
    gd_driver *driver = NULL;
    griddep_runtime *part = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    int32_t status = gd_runtime_open_on(driver, &options, &part, &error);
    ck_assert_msg(!status || status == GRIDDEP_ERROR_DRIVER_TOO_OLD, "%s", error.text);
    griddep_runtime_close(part);
    return status ? 0 : PARTS;
}

/* A cubin, as the fake's linker makes it, is code without PTX. */
static int try_code(const void *cubin, size_t bytes)
{
    griddep_module *code = NULL;
    griddep_kernel *kernel = NULL;
    griddep_kernel_info info = {.size = sizeof info};
    griddep_runtime_info device = {.size = sizeof device};
    int works = 0;

    ck_good(griddep_module_load(runtime, cubin, bytes, NULL, &code, &error));
    works |= griddep_module_get_kernel(code, 0, &kernel, &error) == GRIDDEP_OK ? INDEXED : 0;
    ck_good(griddep_module_find_kernel(code, "early", &kernel, &error)); /* by name always */
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    works |= info.parameters_known ? PARAMETERS : 0;
    griddep_module_unload(code);
    ck_good(griddep_runtime_get_info(runtime, &device, &error));
    return works;
}

/* Each optional symbol hidden in turn takes just its feature away. */
LOOP_TEST(older, a_missing_symbol_costs_its_feature, sizeof optional / sizeof optional[0])
{
    const griddep_module_options named = {.size = sizeof named, .name = "k.ptx"};
    gd_driver *driver = NULL;
    size_t bytes = 0;
    void *cubin = fake_driver_make_cubin(ptx, &bytes);

    begin();
    if (optional[_i].symbol)
        fake_driver_hide(optional[_i].symbol);
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, &named, &module, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
    int works = try_launch() | try_graphs() | try_limits() | try_maps() | try_code(cubin, bytes) |
                try_part();
    ck_assert_msg(works == (EVERYTHING & ~optional[_i].lost),
                  "without %s: works 0x%x, expected 0x%x",
                  optional[_i].symbol ? optional[_i].symbol : "nothing", (unsigned)works,
                  (unsigned)(EVERYTHING & ~optional[_i].lost));
    close_all();
    free(cubin);
}

/* The table above has every optional symbol of driver.def. */
TEST(older, no_optional_symbol_is_forgotten)
{
    enum { REQUIRED, OPTIONAL };
    static const struct {
        const char *name;
        int need;
    } symbols[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, {#name, need}, )
#include "cuda/driver.def"
#undef GD_DRIVER
    };

    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        int found = symbols[i].need == REQUIRED;
        for (size_t k = 1; k < sizeof optional / sizeof optional[0]; k++)
            found |= !strcmp(optional[k].symbol, symbols[i].name);
        ck_assert_msg(found, "%s is not in this test's table", symbols[i].name);
    }
}

/* Below sm_90 the same calls run, serialized, and say so. */
TEST(older, older_chips_run_serialized)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    static const char old[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry early(.param .u64 p)\n{\n"
        "    ret;\n}\n";
    griddep_hop_info hop = {.size = sizeof hop};
    gd_driver *driver = NULL;
    fake_launch launch;

    begin();
    fake_driver_set_capability(80);
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_good(griddep_module_load(runtime, old, sizeof old, NULL, &module, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
    shape forced = small;
    forced.pdl = GRIDDEP_PDL_FORCE;
    add(&small);
    add(&forced);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        ck_good(griddep_chain_run(chain, mode, NULL, &error));
        ck_good(griddep_chain_get_hop(chain, mode, 1, &hop, &error));
        ck_assert_int_eq(hop.reason, mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL
                                         ? GRIDDEP_REASON_DEVICE
                                         : GRIDDEP_REASON_OFF);
    }
    for (uint64_t i = 0; fake_driver_launch(i, &launch); i++)
        ck_assert_int_eq(launch.programmatic, 0);
    finish();
}

MAIN_OF_SUITE("explain")
