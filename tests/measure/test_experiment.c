/* Fresh runs, their comparison with the serial run, and the clock, on the scripted driver: its
 * kernel fills two of three buffers with a byte and takes a time, which the test says. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "measure/clock.h"
#include "measure/experiment.h"
#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"

enum { BYTES = 64, WATCHED = 0, COMPARED = 1, ALONE = 2, BUFFERS = 3, INITIAL = 0x11 };

/* Three lists, and two results of each of two buffers. */
enum { ALLOCATIONS = 7 };

static const char kernel_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                  ".visible .entry work() { ret; }\n";

static griddep_error error;
static unsigned char initial[BYTES];

static struct {
    gd_driver *driver; /* the runtime's */
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_chain *chain;
    void *stream;
    gd_experiment_buffer buffers[BUFFERS];
    gd_experiment experiment;
    unsigned char byte; /* that the kernel writes */
    double microseconds;
    bool fresh; /* each run began with the initial data */
} world;

static void succeeds(int32_t status)
{
    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
}

static gd_CUresult work(void *user, const fake_launch *launch)
{
    unsigned char found[BYTES];
    const gd_driver *driver = world.driver;
    (void)user;
    (void)launch;

    driver->cuMemcpyDtoHAsync(found, world.buffers[COMPARED].address, BYTES, NULL);
    world.fresh &= memcmp(found, initial, BYTES) == 0;
    driver->cuMemsetD8Async(world.buffers[COMPARED].address, world.byte, BYTES, NULL);
    driver->cuMemsetD8Async(world.buffers[WATCHED].address, world.byte, BYTES, NULL);
    fake_driver_spend(world.microseconds);
    return GD_CUDA_SUCCESS;
}

static void setup(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    griddep_kernel *kernel = NULL;

    memset(initial, INITIAL, BYTES);
    memset(&world, 0, sizeof world);
    world.fresh = true;
    griddep_error_init(&error);
    fake_driver_reset();
    fake_driver_set_kernel("work", work, NULL);
    succeeds(gd_driver_create(fake_driver_get_proc_address, "fake", &world.driver, &error));
    succeeds(gd_runtime_open_on(world.driver, &options, &world.runtime, &error));
    succeeds(griddep_stream_create(world.runtime, NULL, &world.stream, &error));
    succeeds(griddep_module_load(world.runtime, kernel_text, strlen(kernel_text), NULL,
                                 &world.module, &error));
    succeeds(griddep_module_find_kernel(world.module, "work", &kernel, &error));
    succeeds(griddep_chain_create(world.runtime, &world.chain, &error));
    succeeds(griddep_chain_add(world.chain, kernel, &config, NULL, 0, &error));
    for (int i = 0; i < BUFFERS; i++) {
        world.buffers[i] = (gd_experiment_buffer){.bytes = BYTES,
                                                  .initial = i == COMPARED ? initial : NULL,
                                                  .compared = i == COMPARED,
                                                  .read = i != ALONE};
        succeeds(griddep_memory_allocate(world.runtime, BYTES, &world.buffers[i].address, &error));
    }
    world.experiment = (gd_experiment){.runtime = world.runtime,
                                       .stream = world.stream,
                                       .buffers = world.buffers,
                                       .buffer_count = BUFFERS};
    ck_assert(gd_experiment_allocate(&world.experiment));
}

static void teardown(void)
{
    gd_experiment_free(&world.experiment);
    griddep_chain_destroy(world.chain);
    for (int i = 0; i < BUFFERS; i++)
        succeeds(griddep_memory_free(world.runtime, world.buffers[i].address, &error));
    griddep_module_unload(world.module);
    succeeds(griddep_stream_destroy(world.runtime, world.stream, &error));
    griddep_runtime_close(world.runtime);
    ck_assert_uint_eq(fake_driver_leaks(NULL, 0), 0);
}

/* ---- results ---- */

static int32_t run(unsigned char byte, void **results)
{
    world.byte = byte;
    return gd_experiment_run(&world.experiment, world.chain, GRIDDEP_MODE_SERIAL, results, &error);
}

TEST_GROUP(results, setup, teardown);
TEST_GROUP(clock, setup, teardown);

TEST(results, a_run_is_held_against_the_serial_one)
{
    gd_experiment *experiment = &world.experiment;

    succeeds(run(1, experiment->serial));
    succeeds(run(1, experiment->got));
    ck_assert_uint_eq(gd_experiment_find_difference(experiment, 0), BUFFERS);
    succeeds(run(2, experiment->got));
    ck_assert_uint_eq(gd_experiment_find_difference(experiment, 0), COMPARED);
    ck_assert_uint_eq(gd_experiment_find_difference(experiment, COMPARED + 1), BUFFERS);
    ck_assert(world.fresh);
}

TEST(results, what_is_watched_is_read_and_what_is_not_is_left_alone)
{
    gd_experiment *experiment = &world.experiment;

    succeeds(run(1, experiment->serial));
    ck_assert_uint_eq(*(unsigned char *)experiment->serial[WATCHED], 1);
    ck_assert_ptr_null(experiment->serial[ALONE]);
    succeeds(run(2, NULL));
    ck_assert_uint_eq(*(unsigned char *)experiment->serial[WATCHED], 1);
}

static const struct {
    const char *symbol;
    uint64_t nth;
    gd_experiment_step step;
    uint32_t buffer;
} failures[] = {{"cuMemcpyHtoDAsync", 1, GD_EXPERIMENT_WRITES, COMPARED},
                {"cuLaunchKernelEx", 1, GD_EXPERIMENT_RUNS, 0},
                {"cuStreamSynchronize", 2, GD_EXPERIMENT_RUNS, 0},
                /* the first is the kernel's own */
                {"cuMemcpyDtoHAsync", 2, GD_EXPERIMENT_READS, WATCHED},
                {"cuMemcpyDtoHAsync", 3, GD_EXPERIMENT_READS, COMPARED}};

LOOP_TEST(results, a_failure_names_its_step, sizeof failures / sizeof *failures)
{
    fake_driver_fail(failures[_i].symbol, failures[_i].nth, GD_CUDA_ERROR_UNKNOWN);
    ck_assert_int_ne(run(1, world.experiment.got), GRIDDEP_OK);
    ck_assert_int_eq(world.experiment.step, failures[_i].step);
    if (failures[_i].step != GD_EXPERIMENT_RUNS)
        ck_assert_uint_eq(world.experiment.buffer, failures[_i].buffer);
}

TEST(results, without_memory_there_is_no_room_and_no_leak)
{
    bool there = false;

    for (long before = 0; !there; before++) {
        gd_experiment experiment = {.buffers = world.buffers, .buffer_count = BUFFERS};
        fail_alloc_after(before);
        there = gd_experiment_allocate(&experiment);
        fail_alloc_after(-1);
        gd_experiment_free(&experiment);
        ck_assert_ptr_null(experiment.got);
        ck_assert(there == (before == ALLOCATIONS));
    }
}

/* ---- the clock ---- */

static const struct {
    double run, least;
    uint32_t batch;
} samples[] = {
    {5000, 1000, 1}, /* long enough by itself */
    {398, 1000, 4},  /* 1200 / 398, rounded up */
    {9, 1000, 134},  /* 16 first, then 1200 / 9 */
    {4, 1e6, 4096},  /* as many as there may be */
};

/* On the scripted driver a launch takes a microsecond, and so does each of the kernel's copies. */
LOOP_TEST(clock, a_batch_is_as_long_as_a_sample_should_be, sizeof samples / sizeof *samples)
{
    gd_clock clock;
    uint32_t batch = 0;
    double microseconds = 0;

    world.microseconds = samples[_i].run - 4;
    succeeds(gd_clock_open(&world.experiment, &clock, &error));
    ck_assert(!clock.is_model);
    succeeds(gd_clock_choose_batch(&clock, world.chain, GRIDDEP_MODE_SERIAL, samples[_i].least,
                                   &batch, &error));
    ck_assert_uint_eq(batch, samples[_i].batch);
    succeeds(gd_clock_time(&clock, world.chain, GRIDDEP_MODE_SERIAL, batch, &microseconds, &error));
    ck_assert_double_eq_tol(microseconds, samples[_i].run, 0.01 * samples[_i].run);
    gd_clock_close(&clock);
}

TEST(clock, a_model_is_timed_once)
{
    gd_clock clock;
    uint32_t batch = 0;

    succeeds(gd_clock_open(&world.experiment, &clock, &error));
    clock.is_model = true;
    uint64_t before = fake_driver_launches();
    succeeds(gd_clock_choose_batch(&clock, world.chain, GRIDDEP_MODE_SERIAL, 1000, &batch, &error));
    ck_assert_uint_eq(batch, 1);
    ck_assert_uint_eq(fake_driver_launches(), before);
    gd_clock_close(&clock);
}

/* As a position: the second run in a row would go on from it. */
LOOP_TEST(clock, timed_runs_of_a_chain_that_changes_its_state_begin_anew, 4)
{
    gd_clock clock;
    uint32_t batch = 0;
    double microseconds = 0;

    world.buffers[COMPARED].state = _i % 2;
    if (_i > 1)
        fake_driver_fail("cuMemAlloc", 1, GD_CUDA_ERROR_OUT_OF_MEMORY);
    succeeds(run(1, world.experiment.serial));
    succeeds(gd_clock_open(&world.experiment, &clock, &error));
    succeeds(gd_clock_choose_batch(&clock, world.chain, GRIDDEP_MODE_SERIAL, 1e6, &batch, &error));
    ck_assert_int_eq(batch == 1, _i % 2);
    succeeds(gd_clock_time(&clock, world.chain, GRIDDEP_MODE_SERIAL, batch, &microseconds, &error));
    ck_assert_int_eq(world.fresh, _i % 2);
    gd_clock_close(&clock);
}

LOOP_TEST(clock, a_clock_that_fails_leaves_nothing, 2)
{
    gd_clock clock;

    fake_driver_fail("cuEventCreate", (uint64_t)_i + 1, GD_CUDA_ERROR_UNKNOWN);
    ck_assert_int_ne(gd_clock_open(&world.experiment, &clock, &error), GRIDDEP_OK);
    gd_clock_close(&clock);
}

MAIN_OF_SUITE("experiment")
