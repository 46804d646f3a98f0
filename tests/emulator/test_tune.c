/* The tuner on the emulated driver: a chain whose kernels know nothing of dependent launch, what is
 * found for it, and what is remembered. EMULATED_DRIVER names the driver. Its model time makes
 * every result the same each time. */
#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "griddep.h"
#include "run/private.h"
#include "run/runtime.h"
#include "run/store.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

enum { THREADS = 64, LAUNCHES = 3, BUFFERS = LAUNCHES + 1, BYTES = THREADS * 4 };

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* out = in + 1 behind 20 us of work of its own, which a wait behind it lets run beside the kernel
 * before. */
#define WORK(before_load)                                                                          \
    HEAD ".visible .entry work(.param .u64 in, .param .u64 out)\n{\n"                              \
         "    .reg .pred %p;\n    .reg .b32 %t, %v;\n    .reg .b64 %in, %out, %i, %start, %now;\n" \
         "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n"                            \
         "    mov.u64 %start, %globaltimer;\n"                                                     \
         "loop:\n    mov.u64 %now, %globaltimer;\n    sub.u64 %now, %now, %start;\n"               \
         "    setp.lt.u64 %p, %now, 20000;\n    @%p bra loop;\n"                                   \
         "    mov.u32 %t, %tid.x;\n    mul.wide.u32 %i, %t, 4;\n"                                  \
         "    add.u64 %in, %in, %i;\n    add.u64 %out, %out, %i;\n" before_load                    \
         "    ld.global.u32 %v, [%in];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%out], %v;\n  " \
         "  ret;\n}\n"

static const char plain[] = WORK("");

static griddep_error error;
static griddep_runtime *runtime;
static char cache[] = "/tmp/griddep-test-tune-XXXXXX";

/* What a chain is made of for each call. */
typedef struct described {
    griddep_kernel *kernel;
    const griddep_launch_config *config;
    const griddep_argument *arguments;
    const griddep_use *uses;
    uint32_t argument_count;
    const uint32_t *grids;
    const int32_t *carveouts;
    uint32_t grid_count, carveout_count;
} described;

typedef struct fixture {
    griddep_module *module;
    described launches[LAUNCHES];
    griddep_launch_config configs[LAUNCHES];
    griddep_argument arguments[LAUNCHES][2];
    griddep_use uses[LAUNCHES][2];
    griddep_tune_buffer buffers[BUFFERS];
    uint32_t image[BUFFERS][THREADS];
    bool copies; /* behind the launches: the last buffer into buffer 1 */
} fixture;

static fixture f;

static void open_runtime(void)
{
    griddep_runtime_options options = {
        .size = sizeof options, .driver = getenv("EMULATED_DRIVER"), .store_directory = cache};

    griddep_error_init(&error);
    ck_assert_ptr_nonnull(mkdtemp(cache));
    ck_good(griddep_runtime_open(&options, &runtime, &error));
}

static void close_runtime(void)
{
    char command[64];

    griddep_runtime_close(runtime);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    ck_assert_int_eq(system(command), 0);
}

/* Launch i reads buffer i and writes buffer i + 1. */
static void make_chain(const char *text)
{
    griddep_kernel *kernel;

    f = (fixture){0};
    ck_good(griddep_module_load(runtime, text, strlen(text), NULL, &f.module, &error));
    ck_good(griddep_module_find_kernel(f.module, "work", &kernel, &error));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        memset(f.image[i], i ? 0xff : 0, BYTES);
        f.buffers[i] = (griddep_tune_buffer){.size = sizeof f.buffers[i],
                                             .bytes = BYTES,
                                             .initial = i ? f.image[i] : NULL,
                                             .compared = i > 0};
        ck_good(griddep_memory_allocate(runtime, BYTES, &f.buffers[i].address, &error));
        ck_good(
            griddep_memory_write(runtime, f.buffers[i].address, f.image[i], BYTES, NULL, &error));
    }
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        f.configs[i] =
            (griddep_launch_config){.size = sizeof f.configs[i], .grid = {1}, .block = {THREADS}};
        for (uint32_t k = 0; k < 2; k++) {
            f.arguments[i][k] = (griddep_argument)POINTER(f.buffers[i + k].address);
            f.uses[i][k] = (griddep_use){.size = sizeof(griddep_use),
                                         .buffer = i + k + 1,
                                         .access = k ? GRIDDEP_ACCESS_WRITE : GRIDDEP_ACCESS_READ,
                                         .bytes = BYTES};
        }
        f.launches[i] = (described){.kernel = kernel,
                                    .config = &f.configs[i],
                                    .arguments = f.arguments[i],
                                    .uses = f.uses[i],
                                    .argument_count = 2};
    }
}

static void end_chain(void)
{
    for (uint32_t i = 0; i < BUFFERS; i++)
        ck_good(griddep_memory_free(runtime, f.buffers[i].address, &error));
    griddep_module_unload(f.module);
}

static int32_t fill_chain(griddep_chain *chain, uint32_t count)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < count && !status; i++) {
        const described *at = &f.launches[i];
        status = griddep_chain_add(chain, at->kernel, at->config, at->arguments, at->argument_count,
                                   &error);
        for (uint32_t k = 0; k < at->argument_count && at->uses && !status; k++)
            status = griddep_chain_set_use(chain, i, k, &at->uses[k], &error);
    }
    if (f.copies && !status)
        status = griddep_chain_add_copy(chain, NULL, f.buffers[1].address,
                                        f.buffers[LAUNCHES].address, BYTES, &error);
    return status;
}

static int32_t tune_with(uint32_t launches, const griddep_tune_buffer *buffers, uint32_t count,
                         const griddep_tune_options *given, griddep_tune **result)
{
    griddep_tune_options options = {.size = sizeof options};
    griddep_tune_offer offers[LAUNCHES];
    griddep_chain *chain = NULL;

    if (given)
        options = *given;
    for (uint32_t i = 0; i < launches; i++) {
        const described *at = &f.launches[i];
        offers[i] = (griddep_tune_offer){.size = sizeof offers[i],
                                         .launch = i,
                                         .grids = at->grids,
                                         .carveouts = at->carveouts,
                                         .grid_count = at->grid_count,
                                         .carveout_count = at->carveout_count};
    }
    options.offers = offers;
    options.offer_count = launches;
    int32_t status = griddep_chain_create(runtime, &chain, &error);
    if (!status)
        status = fill_chain(chain, launches);
    if (!status)
        status = griddep_tune_run(chain, buffers, count, &options, result, &error);
    griddep_chain_destroy(chain);
    return status;
}

static int32_t tune(const griddep_tune_options *options, griddep_tune **result)
{
    return tune_with(LAUNCHES, f.buffers, BUFFERS, options, result);
}

static int32_t load(int32_t mode, griddep_tune **loaded)
{
    griddep_chain *chain = NULL;
    int32_t status = griddep_chain_create(runtime, &chain, &error);

    if (!status)
        status = fill_chain(chain, LAUNCHES);
    if (!status)
        status = griddep_tune_load(chain, mode, loaded, &error);
    griddep_chain_destroy(chain);
    return status;
}

static griddep_tune_info info_of(const griddep_tune *result)
{
    griddep_tune_info info = {.size = sizeof info};

    ck_good(griddep_tune_get_info(result, &info, &error));
    return info;
}

/* Runs what was chosen, as an application would. */
static void run_choices(const griddep_tune *result)
{
    griddep_chain *chain;
    uint32_t got[THREADS];

    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        griddep_tune_choice choice = {.size = sizeof choice};
        griddep_launch_config config = f.configs[i];
        ck_good(griddep_tune_get_choice(result, i, &choice, &error));
        memcpy(config.grid, choice.grid, sizeof config.grid);
        config.pdl = choice.pdl;
        ck_good(griddep_chain_add(chain, choice.kernel, &config, f.arguments[i], 2, &error));
        ck_good(griddep_memory_write(runtime, f.buffers[i + 1].address, f.image[i + 1], BYTES, NULL,
                                     &error));
    }
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_memory_read(runtime, got, f.buffers[LAUNCHES].address, BYTES, NULL, &error));
    for (uint32_t i = 0; i < THREADS; i++)
        ck_assert_uint_eq(got[i], LAUNCHES);
    griddep_chain_destroy(chain);
}

TEST_GROUP(tune, open_runtime, close_runtime);

TEST(tune, finds_overlap)
{
    griddep_tune *result, *again;
    griddep_tune_choice choice = {.size = sizeof choice};

    make_chain(plain);
    ck_good(tune(NULL, &result));
    griddep_tune_info info = info_of(result);
    ck_assert_uint_eq(info.changed, 1);
    ck_assert_uint_eq(info.remembered, 1);
    ck_assert_uint_eq(info.model, 1);
    ck_assert_uint_eq(info.launch_count, LAUNCHES);
    ck_assert(info.noise < 1e-9 && info.threshold > 0.004 && info.threshold < 0.006);
    ck_assert_msg(info.ratio < 0.7, "20 us of each kernel's work may overlap: %f", info.ratio);
    ck_good(griddep_tune_get_choice(result, 1, &choice, &error));
    ck_assert_msg(strstr(choice.text, "wait insert") && strstr(choice.text, "trigger"), "%s",
                  choice.text);
    ck_assert_ptr_nonnull(choice.ptx);
    ck_assert_ptr_ne(choice.kernel, f.launches[1].kernel);
    run_choices(result);
    ck_good(tune(NULL, &again));
    griddep_tune_info other = info_of(again);
    ck_assert_uint_eq(other.trial_count, info.trial_count);
    ck_assert(other.ratio <= info.ratio && other.ratio >= info.ratio);
    griddep_tune_destroy(again);
    griddep_tune_destroy(result);
    end_chain();
}

/* What was gained is that a kernel's 20 us lie before the end of the one before it. */
TEST(tune, tells_why)
{
    gd_tune_reason reason;
    griddep_tune_trial trial = {.size = sizeof trial};
    griddep_tune *result, *loaded;
    uint32_t faster = 0, slower = 0;

    make_chain(plain);
    ck_good(tune(NULL, &result));
    ck_good(gd_tune_get_reason(result, GD_TUNE_WHOLE, &reason, &error));
    const double *before = reason.before, *after = reason.after;
    ck_assert_uint_eq(reason.runs, 1);
    ck_assert_uint_eq(reason.hops, LAUNCHES - 1);
    ck_assert(before[GD_TUNE_FIGURE_SPAN] > 60000 &&
              after[GD_TUNE_FIGURE_SPAN] < 0.7 * before[GD_TUNE_FIGURE_SPAN]);
    ck_assert(before[GD_TUNE_FIGURE_LEAD] < 0 && after[GD_TUNE_FIGURE_LEAD] > 15000);
    ck_assert(isnan(before[GD_TUNE_FIGURE_HIDDEN]) && after[GD_TUNE_FIGURE_HIDDEN] > 15000);
    ck_assert(before[GD_TUNE_FIGURE_OVERLAP] <= 0 && after[GD_TUNE_FIGURE_OVERLAP] > 0.5);
    ck_assert(before[GD_TUNE_FIGURE_WORK] > 20000 && after[GD_TUNE_FIGURE_WORK] < 5000);
    /* Of a chain that has one launch after the other, gap and work of the hops are all but the
     * first launch's time. */
    double hops = (before[GD_TUNE_FIGURE_GAP] + before[GD_TUNE_FIGURE_WORK]) * (LAUNCHES - 1);
    ck_assert(hops > 0.6 * before[GD_TUNE_FIGURE_SPAN] && hops < 0.7 * before[GD_TUNE_FIGURE_SPAN]);
    for (int32_t i = 0; griddep_tune_get_trial(result, (uint32_t)i, &trial, NULL) == GRIDDEP_OK;
         i++) {
        if (gd_tune_get_reason(result, i, &reason, &error))
            continue;
        faster += trial.outcome == GRIDDEP_TUNE_OUTCOME_BETTER;
        slower += trial.ratio > 1;
        ck_assert((trial.ratio > 1) == (after[GD_TUNE_FIGURE_SPAN] > before[GD_TUNE_FIGURE_SPAN]));
    }
    ck_assert_uint_ge(faster, 1);
    ck_assert_uint_ge(slower, 1);
    ck_assert_int_eq(gd_tune_get_reason(result, -2, &reason, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_int_eq(gd_tune_get_reason(result, 10000, &reason, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_good(load(0, &loaded));
    ck_assert_int_eq(gd_tune_get_reason(loaded, GD_TUNE_WHOLE, &reason, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    griddep_tune_destroy(loaded);
    griddep_tune_destroy(result);
    end_chain();
}

/* A trigger in each of the rounds passes the check, leaves the bits and is timed. */
TEST(tune, tries_rounds)
{
    static const char loop[] =
        HEAD ".visible .entry work(.param .u64 in, .param .u64 out)\n{\n"
             "    .reg .pred %p;\n    .reg .b32 %t, %v, %sum, %n;\n    .reg .b64 %in, %out, %i;\n"
             "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %t, %tid.x;\n"
             "    mul.wide.u32 %i, %t, 4;\n    add.u64 %in, %in, %i;\n    add.u64 %out, %out, %i;\n"
             "    mov.u32 %n, 0;\n    mov.u32 %sum, 1;\n    griddepcontrol.wait;\n"
             "rounds:\n    ld.volatile.global.u32 %v, [%in];\n    max.u32 %sum, %sum, %v;\n    "
             "add.u32 %n, %n, 1;\n"
             "    setp.lt.u32 %p, %n, 8;\n    @%p bra rounds;\n"
             "    ld.global.u32 %v, [%in];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%out], "
             "%v;\n    ret;\n}\n";
    griddep_tune_trial trial = {.size = sizeof trial};
    griddep_tune *result;
    uint32_t timed = 0;

    make_chain(loop);
    ck_good(tune(NULL, &result));
    for (uint32_t i = 0; griddep_tune_get_trial(result, i, &trial, NULL) == GRIDDEP_OK; i++)
        timed += !strncmp(trial.text, "trigger loop:", 13) && trial.ratio > 0;
    ck_assert_uint_eq(timed, 5);
    run_choices(result);
    griddep_tune_destroy(result);
    end_chain();
}

/* Launches that share a variable cannot be traced; that is no reason not to tune them. */
TEST(tune, tunes_what_cannot_be_traced)
{
    static const char shared[] =
        HEAD ".global .u32 shared;\n" /* a text without its head follows */;
    static const char adds[] = WORK("    red.global.add.u32 [shared], 1;\n");
    gd_tune_reason reason;
    griddep_tune *result;
    char text[sizeof shared + sizeof adds];

    snprintf(text, sizeof text, "%s%s", shared, adds + strlen(HEAD));
    make_chain(text);
    ck_good(tune(NULL, &result));
    ck_assert_uint_eq(info_of(result).changed, 1);
    ck_assert_int_eq(gd_tune_get_reason(result, GD_TUNE_WHOLE, &reason, &error),
                     GRIDDEP_ERROR_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "share variables of their module"), "%s", error.text);
    griddep_tune_destroy(result);
    end_chain();
}

TEST(tune, remembers)
{
    griddep_tune *result = NULL, *loaded = NULL;
    griddep_tune_options forget = {.size = sizeof forget, .flags = GRIDDEP_TUNE_FLAG_FORGET};
    griddep_tune_choice one = {.size = sizeof one}, other = {.size = sizeof other};

    make_chain(plain);
    ck_good(tune(&forget, &result));
    ck_assert_uint_eq(info_of(result).remembered, 0);
    griddep_tune_destroy(result);
    ck_assert_int_eq(load(0, &loaded), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_ptr_null(loaded);
    ck_good(tune(NULL, &result));
    ck_good(load(0, &loaded));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        ck_good(griddep_tune_get_choice(result, i, &one, &error));
        ck_good(griddep_tune_get_choice(loaded, i, &other, &error));
        ck_assert_str_eq(one.text, other.text);
        ck_assert_int_eq(one.pdl, other.pdl);
    }
    ck_assert_uint_eq(info_of(loaded).changed, 1);
    run_choices(loaded);
    griddep_tune_destroy(result);
    griddep_tune_destroy(loaded);
    loaded = NULL;
    ck_assert_int_eq(load(GRIDDEP_MODE_PDL, &loaded), GRIDDEP_ERROR_NOT_FOUND);
    f.configs[0].shared_bytes = 128;
    ck_assert_int_eq(load(0, &loaded), GRIDDEP_ERROR_NOT_FOUND);
    end_chain();
}

/* A copy has no shape. */
TEST(tune, remembers_beside_a_copy)
{
    griddep_tune *result, *loaded;

    make_chain(plain);
    f.copies = true;
    ck_good(tune(NULL, &result));
    ck_assert_uint_eq(info_of(result).remembered, 1);
    ck_good(load(0, &loaded));
    ck_assert_uint_eq(info_of(loaded).launch_count, LAUNCHES + 1);
    run_choices(loaded);
    griddep_tune_destroy(result);
    griddep_tune_destroy(loaded);
    end_chain();
}

/* The key of the only entry, and its content. */
static void read_entry(gd_store_key *key, char **data, size_t *bytes)
{
    DIR *folder = opendir(cache);

    ck_assert_ptr_nonnull(folder);
    for (struct dirent *at; (at = readdir(folder)) != NULL;) {
        if (strlen(at->d_name) < 64)
            continue;
        for (size_t i = 0; i < 32; i++)
            ck_assert_int_eq(sscanf(at->d_name + 2 * i, "%2" SCNx8, &key->digest[i]), 1);
        ck_assert(!*data && gd_store_load(runtime->store, key, data, bytes));
    }
    closedir(folder);
    ck_assert_ptr_nonnull(*data);
}

static void refuse_entry(const gd_store_key *key, const char *data, size_t bytes)
{
    griddep_tune *loaded = NULL;

    ck_assert(gd_store_save(runtime->store, key, data, bytes));
    int32_t status = load(0, &loaded);
    ck_assert_msg(status == GRIDDEP_ERROR_NOT_FOUND, "%.90s: %d", data, (int)status);
    ck_assert_ptr_null(loaded);
}

/* An entry of another version, one that is cut off, and one with numbers that cannot be. */
TEST(tune, entries_that_nobody_wrote)
{
    static const char *const changes[][2] = {{"tuned 3", "tuned 2"},
                                             {"figures ", "figures -"},
                                             {"launch 0 1 64 ", "launch 9 1 64 "},
                                             {"launch 0 1 64 ", "launch 4294967296 1 64 "},
                                             {"launch 0 1 64 ", "launch 0 0 64 "},
                                             {"launch 0 1 64 ", "launch 0 4294967297 64 "},
                                             {"launch 0 1 64 ", "launch 0 1 0 "},
                                             {"launch 0 1 64 ", "launch 0 1 4294967360 "},
                                             {"launch 0 1 64 ", "launch 0 1 -64 "},
                                             {"launch 0 1 64 0 -1 ", "launch 0 1 64 0 101 "},
                                             {"launch 0 0 0 0 -1 ", "launch 0 1 64 0 -1 "},
                                             {"source ", "source 99999999999999999999"},
                                             {"source -\n", "source 9\n.version \n"}};
    griddep_tune *result;
    gd_store_key key;
    char *data = NULL;
    size_t bytes = 0;

    make_chain(plain);
    f.copies = true;
    ck_good(tune(NULL, &result));
    griddep_tune_destroy(result);
    read_entry(&key, &data, &bytes);
    char *other = malloc(bytes + 64);
    ck_assert_ptr_nonnull(other);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(data, changes[i][0]);
        ck_assert_msg(at != NULL, "no \"%s\" in %s", changes[i][0], data);
        const size_t before = (size_t)(at - data), old = strlen(changes[i][0]);
        memcpy(other, data, before);
        strcpy(other + before, changes[i][1]);
        memcpy(other + strlen(other), at + old, bytes - before - old + 1);
        refuse_entry(&key, other, strlen(other));
    }
    for (size_t n = 0; n < bytes; n += 1 + n / 16)
        refuse_entry(&key, data, n);
    free(other);
    free(data);
    end_chain();
}

/* What another build of the same driver version chose does not count. */
TEST(tune, remembers_for_one_build_of_the_driver)
{
    char folder[] = "/tmp/griddep-test-driver-XXXXXX", driver[64], command[512];
    griddep_runtime_options options = {
        .size = sizeof options, .driver = driver, .store_directory = cache};
    griddep_tune *result = NULL, *loaded = NULL;

    make_chain(plain);
    ck_good(tune(NULL, &result));
    ck_assert_uint_eq(info_of(result).remembered, 1);
    griddep_tune_destroy(result);
    ck_good(load(0, &loaded));
    griddep_tune_destroy(loaded);
    end_chain();
    griddep_runtime_close(runtime);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(driver, sizeof driver, "%s/libcuda.so.1", folder);
    snprintf(command, sizeof command, "cp -L '%s' '%s'", getenv("EMULATED_DRIVER"), driver);
    ck_assert_int_eq(system(command), 0);
    ck_good(griddep_runtime_open(&options, &runtime, &error));
    make_chain(plain);
    loaded = NULL;
    ck_assert_int_eq(load(0, &loaded), GRIDDEP_ERROR_NOT_FOUND);
    end_chain();
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* A chain that has all of it already: nothing is found, nothing is changed or remembered. */
TEST(tune, finds_nothing)
{
    static const char right[] =
        WORK("    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n");
    griddep_tune_options options = {.size = sizeof options, .least_gain = 0.9};
    griddep_tune_choice choice = {.size = sizeof choice};
    griddep_tune *result;

    make_chain(right);
    ck_good(tune(&options, &result));
    griddep_tune_info info = info_of(result);
    ck_assert_uint_eq(info.changed, 0);
    ck_assert_uint_eq(info.remembered, 0);
    ck_assert_uint_gt(info.ran_count, 0);
    ck_assert(info.ratio >= 1 && info.ratio <= 1);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        ck_good(griddep_tune_get_choice(result, i, &choice, &error));
        ck_assert_str_eq(choice.text, "");
        ck_assert_ptr_eq(choice.kernel, f.launches[i].kernel);
    }
    griddep_tune_destroy(result);
    end_chain();
}

static int32_t stop_at_three(void *user, uint32_t done, uint32_t most, const char *text)
{
    uint32_t *calls = user;

    ck_assert_uint_le(done, most);
    ck_assert_uint_gt(strlen(text), 0);
    return ++*calls == 3;
}

TEST(tune, stops)
{
    uint32_t calls = 0;
    griddep_tune_options options = {
        .size = sizeof options, .progress = stop_at_three, .progress_user = &calls};
    griddep_tune *result;

    make_chain(plain);
    ck_good(tune(&options, &result));
    ck_assert_uint_eq(calls, 3);
    ck_assert_uint_eq(info_of(result).stopped, 1);
    ck_assert_uint_eq(info_of(result).trial_count, 2);
    griddep_tune_destroy(result);
    end_chain();
}

/* What is not tuned, and why. */
TEST(tune, refuses)
{
    griddep_tune *result = NULL;
    griddep_tune_options options = {.size = sizeof options, .mode = GRIDDEP_MODE_GRAPH};

    make_chain(plain);
    ck_assert_int_eq(tune_with(1, f.buffers, BUFFERS, NULL, &result), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "no hop"));
    ck_assert_int_eq(tune(&options, &result), GRIDDEP_ERROR_ARGUMENT);
    options = (griddep_tune_options){.size = sizeof options, .flags = 4};
    ck_assert_int_eq(tune(&options, &result), GRIDDEP_ERROR_STRUCT);
    options = (griddep_tune_options){.size = sizeof options, .least_gain = 1};
    ck_assert_int_eq(tune(&options, &result), GRIDDEP_ERROR_ARGUMENT);
    f.buffers[0].compared = 2; /* nothing tells what to begin with */
    ck_assert_int_eq(tune(NULL, &result), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_msg(strstr(error.text, "2 without `initial`"), "%s", error.text);
    f.buffers[0].compared = 3;
    ck_assert_int_eq(tune(NULL, &result), GRIDDEP_ERROR_ARGUMENT);
    f.buffers[0].compared = 0;
    f.configs[1].pdl = GRIDDEP_PDL_FORCE; /* without a wait that is a race */
    ck_assert_int_eq(tune(NULL, &result), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_msg(strstr(error.text, "not right"), "%s", error.text);
    f.configs[1].pdl = 0;
    static const uint32_t grids[] = {2};
    const griddep_tune_offer beyond = {
        .size = sizeof beyond, .launch = LAUNCHES, .grids = grids, .grid_count = 1};
    griddep_chain *chain = NULL;
    ck_good(griddep_chain_create(runtime, &chain, &error));
    ck_good(fill_chain(chain, LAUNCHES));
    options = (griddep_tune_options){.size = sizeof options, .offers = &beyond, .offer_count = 1};
    ck_assert_int_eq(griddep_tune_run(chain, f.buffers, BUFFERS, &options, &result, &error),
                     GRIDDEP_ERROR_NOT_FOUND);
    options.offers = NULL;
    ck_assert_int_eq(griddep_tune_run(chain, f.buffers, BUFFERS, &options, &result, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_tune_run(chain, NULL, 0, NULL, &result, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    griddep_chain_destroy(chain);
    ck_assert_ptr_null(result);
    end_chain();
}

static int32_t stop_at_once(void *user, uint32_t done, uint32_t most, const char *text)
{
    (void)user, (void)done, (void)most, (void)text;
    return 1;
}

/* What the tuner is given must hold all that the launches write. */
TEST(tune, names_what_is_written_outside_of_the_buffers)
{
    griddep_tune_options options = {
        .size = sizeof options, .progress = stop_at_once, .flags = GRIDDEP_TUNE_FLAG_FORGET};
    griddep_tune *result = NULL;

    make_chain(plain);
    for (int said = 1; said >= 0; said--) {
        for (uint32_t i = 0; i < LAUNCHES && !said; i++)
            f.launches[i].uses = NULL; /* then the PTX tells what is written */
        ck_assert_int_eq(tune_with(LAUNCHES, f.buffers, BUFFERS - 1, &options, &result),
                         GRIDDEP_ERROR_ARGUMENT);
        ck_assert_msg(strstr(error.text, "argument 1 (out) of launch 2, work, is written, and is "
                                         "in none of the buffers"),
                      "%s", error.text);
        f.buffers[2].initial = NULL;
        ck_assert_int_eq(tune_with(LAUNCHES, f.buffers, BUFFERS, &options, &result),
                         GRIDDEP_ERROR_ARGUMENT);
        ck_assert_msg(strstr(error.text, "argument 1 (out) of launch 1, work, is written, and "
                                         "buffer 3 has no `initial`"),
                      "%s", error.text);
        f.buffers[2].initial = f.image[2];
        f.buffers[1].bytes = BYTES - 4;
        int32_t status = tune_with(LAUNCHES, f.buffers, BUFFERS, &options, &result);
        ck_assert_int_eq(status, said ? GRIDDEP_ERROR_ARGUMENT : GRIDDEP_OK);
        ck_assert_msg(!said || strstr(error.text, "argument 1 (out) of launch 0, work, is written "
                                                  "for 256 bytes, and buffer 2 ends behind 252"),
                      "%s", error.text);
        f.buffers[1].bytes = BYTES;
        griddep_tune_destroy(result); /* nobody said how far the kernel writes */
        result = NULL;
        ck_good(tune_with(LAUNCHES, f.buffers, BUFFERS, &options, &result));
        griddep_tune_destroy(result);
        result = NULL;
    }
    end_chain();
}

/* A grid that the caller offered wrongly gives other results, and is not taken. */
TEST(tune, wrong_grid)
{
    static const uint32_t grids[] = {2};
    static const char global[] = HEAD
        ".visible .entry work(.param .u64 in, .param .u64 out)\n{\n"
        "    .reg .b32 %v;\n    .reg .b64 %in, %out;\n    griddepcontrol.wait;\n"
        "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %v, %nctaid.x;\n"
        "    st.global.u32 [%out], %v;\n    ret;\n}\n";
    griddep_tune_trial trial = {.size = sizeof trial};
    griddep_tune *result;
    uint32_t different = 0;

    make_chain(global);
    f.launches[1].grids = grids;
    f.launches[1].grid_count = 1;
    ck_good(tune(NULL, &result));
    for (uint32_t i = 0; griddep_tune_get_trial(result, i, &trial, &error) == GRIDDEP_OK; i++) {
        if (strcmp(trial.text, "grid 2") != 0)
            continue;
        different += trial.outcome == GRIDDEP_TUNE_OUTCOME_DIFFERENT;
        ck_assert_uint_eq(trial.launch, 1);
        ck_assert_msg(strstr(trial.detail, "buffers[2]"), "%s", trial.detail);
    }
    ck_assert_uint_eq(different, 1);
    griddep_tune_destroy(result);
    end_chain();
}

static uint32_t count_trials(const griddep_tune *result, const char *text, uint32_t launch,
                             bool timed)
{
    griddep_tune_trial trial = {.size = sizeof trial};
    uint32_t count = 0;

    for (uint32_t i = 0; griddep_tune_get_trial(result, i, &trial, NULL) == GRIDDEP_OK; i++)
        count += !strcmp(trial.text, text) && trial.launch == launch && (trial.ratio > 0) == timed;
    return count;
}

/* Carve-outs are tried for all launches that offer one, then for each; what a launch has is given
 * up for `default`. */
TEST(tune, tries_carveouts)
{
    static const int32_t first[] = {0, 100}, second[] = {100, GRIDDEP_CARVEOUT_DEFAULT};
    griddep_tune_choice choice = {.size = sizeof choice};
    griddep_attribute attributes[2];
    griddep_tune *result;

    make_chain(plain);
    ck_good(griddep_attribute_set(&attributes[0], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){0},
                                  1, &error));
    ck_good(griddep_attribute_set(&attributes[1], GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){25},
                                  1, &error));
    f.launches[0].carveouts = first;
    f.launches[0].carveout_count = 2;
    f.launches[2].carveouts = second;
    f.launches[2].carveout_count = 2;
    f.configs[2].attributes = attributes;
    f.configs[2].attribute_count = 2;
    ck_good(tune(NULL, &result));
    ck_assert_uint_eq(count_trials(result, "carveout 0 for all that offer it", 0, true), 1);
    ck_assert_uint_eq(count_trials(result, "carveout 100 for all that offer it", 0, true), 1);
    ck_assert_uint_eq(count_trials(result, "carveout 100 for all that offer it", 2, false),
                      1); /* the same */
    ck_assert_uint_eq(count_trials(result, "carveout default for all that offer it", 2, true), 1);
    ck_assert_uint_eq(count_trials(result, "carveout 100", 0, true), 1);
    ck_assert_uint_eq(count_trials(result, "carveout 100", 2, true), 1);
    ck_assert_uint_eq(count_trials(result, "carveout default", 2, false),
                      1); /* only launch 2 offers it */
    ck_good(griddep_tune_get_choice(result, 2, &choice, &error));
    ck_assert_int_eq(choice.carveout, 25); /* the model's time does not depend on it */
    ck_good(griddep_tune_get_choice(result, 1, &choice, &error));
    ck_assert_int_eq(choice.carveout, GRIDDEP_CARVEOUT_DEFAULT);
    griddep_tune_destroy(result);
    f.launches[0].carveouts = NULL;
    ck_assert_int_eq(tune(NULL, &result), GRIDDEP_ERROR_ARGUMENT);
    f.launches[0].carveouts = first;
    static const int32_t wrong[] = {101, 0};
    f.launches[0].carveouts = wrong;
    ck_assert_int_eq(tune(NULL, &result), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "carve-out of 101 percent"));
    end_chain();
}

/* out = in + 1 + 0 * what a loop reads of a table, which no launch writes. The wait stands early
 * and the trigger in the middle, so that every place there is for them is another one. */
static const char with_everything[] = HEAD
    ".visible .entry work(.param .u64 in, .param .u64 out, .param .u64 table)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %t, %v, %n, %sum;\n    .reg .b64 %in, %out, %table, %i;\n"
    "    griddepcontrol.wait;\n"
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    ld.param.u64 %table, "
    "[table];\n"
    "    mov.u32 %t, %tid.x;\n    mul.wide.u32 %i, %t, 4;\n    add.u64 %in, %in, %i;\n"
    "    add.u64 %out, %out, %i;\n    add.u64 %table, %table, %i;\n    mov.u32 %n, 0;\n    mov.u32 "
    "%sum, 0;\n"
    "rounds:\n    ld.global.u32 %v, [%table];\n    add.u32 %sum, %sum, %v;\n    add.u32 %n, %n, "
    "1;\n"
    "    setp.lt.u32 %p, %n, 40;\n    @%p bra rounds;\n    griddepcontrol.launch_dependents;\n"
    "    ld.global.u32 %v, [%in];\n    add.u32 %v, %v, 1;\n    mul.lo.u32 %sum, %sum, 0;\n"
    "    add.u32 %v, %v, %sum;\n    st.global.u32 [%out], %v;\n    mov.u32 %n, 0;\n    ret;\n}\n";

enum { TABLE_BYTES = 5 << 20 };

/* Each class of candidates is tried: it passes the check, leaves the bits, and is timed. What is
 * said to be constant is that also where each run writes it anew. */
LOOP_TEST(tune, tries_all_classes, 2)
{
    static const char *const tried[] = {"trigger remove",
                                        "trigger start",
                                        "trigger after-wait",
                                        "trigger after-loads",
                                        "trigger before-stores",
                                        "trigger end",
                                        "trigger loop:1",
                                        "trigger loop:3",
                                        "trigger loop:7",
                                        "trigger loop:15",
                                        "trigger loop:31",
                                        "wait move",
                                        "wait move, trigger start",
                                        "prefetch table=64K",
                                        "prefetch table=256K",
                                        "prefetch table=1024K",
                                        "prefetch table=4096K",
                                        "prefetch table=5120K",
                                        "pdl off for all launches",
                                        "pdl off for this launch",
                                        "grid 2",
                                        "carveout 100 for all that offer it"};
    static const uint32_t grids[] = {2};
    static const int32_t carveouts[] = {100};
    static unsigned char table[TABLE_BYTES];
    const griddep_tune_options options = {
        .size = sizeof options, .flags = GRIDDEP_TUNE_FLAG_FORGET, .least_gain = 0.9};
    griddep_tune_buffer buffers[BUFFERS + 1];
    griddep_argument arguments[LAUNCHES][3];
    griddep_use uses[LAUNCHES][3];
    griddep_tune_trial trial = {.size = sizeof trial};
    griddep_tune *result;

    make_chain(with_everything);
    memcpy(buffers, f.buffers, sizeof f.buffers);
    buffers[BUFFERS] = (griddep_tune_buffer){.size = sizeof buffers[0], .bytes = TABLE_BYTES};
    ck_good(griddep_memory_allocate(runtime, TABLE_BYTES, &buffers[BUFFERS].address, &error));
    ck_good(
        griddep_memory_fill(runtime, buffers[BUFFERS].address, 0x5a, TABLE_BYTES, NULL, &error));
    memset(table, 0x5a, sizeof table);
    buffers[BUFFERS].initial = _i ? table : NULL;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        memcpy(arguments[i], f.arguments[i], sizeof f.arguments[i]);
        memcpy(uses[i], f.uses[i], sizeof f.uses[i]);
        arguments[i][2] = (griddep_argument)POINTER(buffers[BUFFERS].address);
        uses[i][2] = (griddep_use){.size = sizeof uses[i][2],
                                   .buffer = BUFFERS + 1,
                                   .access = GRIDDEP_ACCESS_CONSTANT,
                                   .bytes = TABLE_BYTES};
        f.launches[i].arguments = arguments[i];
        f.launches[i].uses = uses[i];
        f.launches[i].argument_count = 3;
    }
    f.launches[1].grids = grids;
    f.launches[1].carveouts = carveouts;
    f.launches[1].grid_count = f.launches[1].carveout_count = 1;
    ck_good(tune_with(LAUNCHES, buffers, BUFFERS + 1, &options, &result));
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        uint32_t timed = 0;
        for (uint32_t k = 0; griddep_tune_get_trial(result, k, &trial, NULL) == GRIDDEP_OK; k++)
            timed += !strcmp(trial.text, tried[i]) && trial.ratio > 0;
        ck_assert_msg(timed > 0, "'%s' was not timed", tried[i]);
    }
    griddep_tune_destroy(result);
    ck_good(griddep_memory_free(runtime, buffers[BUFFERS].address, &error));
    end_chain();
}

/* Where a launch has a carve-out it is another chain. */
TEST(tune, remembers_carveouts)
{
    griddep_tune_choice choice = {.size = offsetof(griddep_tune_choice, carveout)};
    griddep_attribute carveout;
    griddep_tune *result, *loaded;

    make_chain(plain);
    ck_good(tune(NULL, &result));
    ck_good(griddep_tune_get_choice(result, 1, &choice, &error));
    griddep_tune_destroy(result);
    ck_good(load(0, &loaded));
    griddep_tune_destroy(loaded);
    ck_good(griddep_attribute_set(&carveout, GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){100}, 1,
                                  &error));
    f.configs[1].attributes = &carveout;
    f.configs[1].attribute_count = 1;
    ck_assert_int_eq(load(0, &loaded), GRIDDEP_ERROR_NOT_FOUND);
    ck_good(tune(NULL, &result));
    griddep_tune_destroy(result);
    ck_good(load(0, &loaded));
    choice.size = sizeof choice;
    ck_good(griddep_tune_get_choice(loaded, 1, &choice, &error));
    ck_assert_int_eq(choice.carveout, 100);
    griddep_tune_destroy(loaded);
    end_chain();
}

/* Two launches that do little: to be tuned often. */
static int32_t tune_little(const griddep_tune_options *options, griddep_tune **result)
{
    return tune_with(2, f.buffers, 3, options, result);
}

/* Three linear layers of the shelf in a shape that nobody would choose; the outer two are alike. */
enum { LAYERS = 3, SIDE = 256 };

static void add_layers(griddep_chain *chain, griddep_kernel *kernel, const uint64_t at[LAYERS + 2],
                       const griddep_launch_config configs[LAYERS])
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        const uint32_t rows = i == 1 ? SIDE : 2 * SIDE, columns = i == 1 ? 2 * SIDE : SIDE;
        const float epsilon = 0;
        griddep_argument arguments[10] = {POINTER(at[LAYERS + 1]),
                                          {.bytes = 8},
                                          POINTER(at[i]),
                                          {.bytes = 8},
                                          {.bytes = 8},
                                          {.bytes = 8},
                                          POINTER(at[i + 1]),
                                          WORD(rows),
                                          WORD(columns),
                                          {.bytes = 4}};
        memcpy(&arguments[9].value, &epsilon, sizeof epsilon);
        ck_good(griddep_chain_add(chain, kernel, &configs[i], arguments, 10, &error));
    }
}

static int32_t count_calls(void *user, uint32_t done, uint32_t most, const char *text)
{
    uint32_t *calls = user;

    ck_assert_msg(done < most, "%s: %" PRIu32 " of at most %" PRIu32, text, done, most);
    (*calls)++;
    return 0;
}

/* In the second round the first one offers a grid, which goes before: its shape is its own. */
LOOP_TEST(tune, tries_shapes_of_the_shelf, 2)
{
    static uint16_t weights[2 * SIDE * 2 * SIDE], zeros[2 * SIDE];
    static const uint32_t grids[] = {2};
    const griddep_tune_offer offer = {.size = sizeof offer, .grids = grids, .grid_count = 1};
    uint32_t calls = 0;
    const griddep_tune_options options = {.size = sizeof options,
                                          .flags = GRIDDEP_TUNE_FLAG_SHAPES,
                                          .offers = &offer,
                                          .offer_count = _i ? 1 : 0,
                                          .progress = count_calls,
                                          .progress_user = &calls};
    griddep_launch_config configs[LAYERS];
    griddep_tune_buffer buffers[LAYERS + 2];
    griddep_tune_choice choices[LAYERS], choice = {.size = sizeof choice};
    griddep_tune_trial trial = {.size = sizeof trial};
    uint64_t at[LAYERS + 2];
    griddep_tune *result, *loaded;
    griddep_module *module;
    griddep_kernel *kernel;
    griddep_chain *chain;

    if (!round_takes_place(_i, 1, 2))
        return;
    ck_good(griddep_module_load_shelf(runtime, "linear_bf16", NULL, &module, &error));
    ck_good(griddep_module_find_kernel(module, "linear_bf16", &kernel, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        weights[i] = (uint16_t)(0x3c00 + i % 61); /* bf16 of 0.008 and more */
    for (uint32_t i = 0; i < LAYERS + 2; i++) {
        const uint64_t bytes = i > LAYERS ? sizeof weights : sizeof zeros;
        ck_good(griddep_memory_allocate(runtime, bytes, &at[i], &error));
        ck_good(griddep_memory_write(runtime, at[i], weights, bytes, NULL, &error));
        buffers[i] = (griddep_tune_buffer){.size = sizeof buffers[i],
                                           .compared = i && i <= LAYERS,
                                           .address = at[i],
                                           .bytes = bytes,
                                           .initial = i && i <= LAYERS ? zeros : NULL};
    }
    for (uint32_t i = 0; i < LAYERS; i++)
        configs[i] = (griddep_launch_config){
            .size = sizeof configs[i], .grid = {1}, .block = {256}, .shared_bytes = 65536};
    add_layers(chain, kernel, at, configs);
    ck_good(griddep_tune_run(chain, buffers, LAYERS + 2, &options, &result, &error));
    ck_assert_uint_eq(info_of(result).changed, 1);
    ck_assert_uint_eq(info_of(result).trial_count, calls);
    for (uint32_t i = 0; griddep_tune_get_trial(result, i, &trial, NULL) == GRIDDEP_OK; i++) {
        ck_assert_msg(!strncmp(trial.text, "grid ", 5) || !strncmp(trial.text, "block ", 6) ||
                          !strncmp(trial.text, "shared ", 7),
                      "'%s' is no shape", trial.text);
        ck_assert_int_ne(trial.outcome, GRIDDEP_TUNE_OUTCOME_REFUSED);
        ck_assert_uint_ne(trial.launch, _i ? 0 : 2); /* the last one goes with the first */
    }
    ck_good(griddep_tune_load(chain, GRIDDEP_MODE_GRAPH_PDL, &loaded, &error));
    for (uint32_t i = 0; i < LAYERS; i++) {
        choices[i] = (griddep_tune_choice){.size = sizeof choices[i]};
        ck_good(griddep_tune_get_choice(result, i, &choices[i], &error));
        ck_good(griddep_tune_get_choice(loaded, i, &choice, &error));
        ck_assert_ptr_null(choice.ptx);
        ck_assert_uint_eq(choice.grid[0], choices[i].grid[0]);
        ck_assert_uint_eq(choice.block[0], choices[i].block[0]);
        ck_assert_uint_eq(choice.shared_bytes, choices[i].shared_bytes);
        memcpy(configs[i].grid, choice.grid, sizeof choice.grid);
        memcpy(configs[i].block, choice.block, sizeof choice.block);
        configs[i].shared_bytes = choice.shared_bytes;
    }
    ck_assert_uint_gt(choices[2].grid[0], 1);
    ck_assert(_i ? choices[0].grid[0] == 1 && choices[0].block[0] == 256
                 : choices[0].grid[0] == choices[2].grid[0]);
    griddep_tune_destroy(loaded);
    griddep_tune_destroy(result);
    griddep_chain_destroy(chain);
    ck_good(griddep_chain_create(runtime, &chain, &error)); /* what was chosen is a legal chain */
    add_layers(chain, kernel, at, configs);
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_stream_synchronize(runtime, NULL, &error));
    griddep_chain_destroy(chain);
    for (uint32_t i = 0; i < LAYERS + 2; i++)
        ck_good(griddep_memory_free(runtime, at[i], &error));
    griddep_module_unload(module);
}

/* An allocation fails, each of the first ones, then ever fewer: either the whole says so, or the
 * result is one that holds. */
LOOP_TEST(tune, memory_runs_out, 2)
{
    static const char *const texts[] = {
        WORK(""), WORK("    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n")};
    const griddep_tune_options options = {.size = sizeof options,
                                          .flags = _i ? 0 : GRIDDEP_TUNE_FLAG_FORGET};
    uint32_t failures = 0;
    char *text = strdup(texts[_i]), *length = strstr(text, "20000");

    memcpy(length, "00200", 5);
    make_chain(text);
    free(text);
    for (long n = 0;; n += 1 + n / 100) {
        griddep_tune *result = NULL;
        fail_alloc_after(n);
        int32_t status = tune_little(&options, &result);
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_msg(!status || (hit && status == GRIDDEP_ERROR_MEMORY), "%ld: %d %s", n,
                      (int)status, error.text);
        ck_assert(!status == (result != NULL));
        failures += status == GRIDDEP_ERROR_MEMORY;
        griddep_tune_destroy(result);
        griddep_error_init(&error);
        if (!hit)
            break;
    }
    ck_assert_uint_gt(failures, 50);
    end_chain();
}

/* Launches that are never to overlap, of a kernel in which nothing can be inserted: nothing is run,
 * and that is told. */
TEST(tune, no_legal_variant)
{
    static const char full[] = HEAD
        ".file 1 \"work.cu\"\n.visible .entry work(.param .u64 in, .param .u64 out)\n{\n"
        "    .reg .b32 %t, %v;\n    .reg .b64 %in, %out;\n"
        "    .loc 1 1 0 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
        "    mad.wide.u32 %in, %t, 4, %in; mad.wide.u32 %out, %t, 4, %out;\n"
        "    .loc 1 2 0 ld.global.u32 %v, [%in]; add.u32 %v, %v, 1;\n"
        "    .loc 1 3 0 st.global.u32 [%out], %v;\n    .loc 1 4 0 ret;\n}\n";
    griddep_tune_trial trial = {.size = sizeof trial};
    griddep_tune *result;
    uint32_t without_place = 0;

    make_chain(full);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        f.configs[i].pdl = GRIDDEP_PDL_OFF;
    ck_good(tune(NULL, &result));
    griddep_tune_info info = info_of(result);
    for (uint32_t i = 0; griddep_tune_get_trial(result, i, &trial, NULL) == GRIDDEP_OK; i++) {
        ck_assert_msg(trial.outcome == GRIDDEP_TUNE_OUTCOME_NO_PLACE ||
                          trial.outcome == GRIDDEP_TUNE_OUTCOME_SAME,
                      "%s: %s", trial.text, griddep_text(GRIDDEP_TEXT_TUNE_OUTCOME, trial.outcome));
        ck_assert_uint_gt(strlen(trial.detail), 0);
        without_place += trial.outcome == GRIDDEP_TUNE_OUTCOME_NO_PLACE;
    }
    ck_assert_uint_gt(without_place, 3);
    ck_assert_uint_eq(info.ran_count, 0);
    ck_assert_uint_eq(info.changed, 0);
    ck_assert_uint_eq(info.remembered, 0);
    run_choices(result);
    griddep_tune_destroy(result);
    end_chain();
}

MAIN_OF_SUITE("tune")
