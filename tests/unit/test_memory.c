/* Copies and fills in stream order, pinned memory; streams with options, and devices. */
#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/status.h"

enum { WORDS = 64, BYTES = 4 * WORDS };

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n    ret;\n}\n"
    ".visible .entry fixed(.param .u64 out)\n.reqntid 64, 1, 1\n{\n    ret;\n}\n";

static griddep_error error;
static griddep_runtime *runtime;
static void *stream;
static uint64_t a, b;

static griddep_runtime *open_device(int32_t device)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .flags = GRIDDEP_RUNTIME_DEVICE,
                                             .device = device,
                                             .store_directory = ""};
    gd_driver *driver = NULL;
    griddep_runtime *opened = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &opened, &error));
    return opened;
}

static void setup(void)
{
    fake_driver_reset();
    griddep_error_init(&error);
    runtime = open_device(0);
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_memory_allocate(runtime, BYTES, &a, &error));
    ck_good(griddep_memory_allocate(runtime, BYTES, &b, &error));
}

static void teardown(void)
{
    char left[256] = "";

    ck_good(griddep_memory_free(runtime, a, &error));
    ck_good(griddep_memory_free(runtime, b, &error));
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    griddep_runtime_close(runtime);
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

/* ---- copies ---- */

static void expect_words(uint64_t address, uint32_t first, uint32_t step)
{
    uint32_t words[WORDS];

    ck_good(griddep_memory_read(runtime, words, address, BYTES, stream, &error));
    for (uint32_t i = 0; i < WORDS; i++) {
        if (words[i] != first + i * step)
            ck_abort_msg("word %u is %u", i, words[i]);
    }
}

TEST_GROUP(memory, setup, teardown);

TEST(memory, copies_follow_one_another)
{
    uint32_t *pinned = NULL;
    void *room = NULL;

    ck_good(griddep_host_allocate(runtime, 2 * BYTES, GRIDDEP_HOST_PORTABLE, &room, &error));
    pinned = room;
    for (uint32_t i = 0; i < WORDS; i++)
        pinned[i] = 5 + 3 * i;
    ck_good(griddep_memory_write_async(runtime, a, pinned, BYTES, stream, &error));
    ck_good(griddep_memory_copy_async(runtime, b, a, BYTES, stream, &error));
    ck_good(griddep_memory_fill_async(runtime, a, 0, 4, WORDS, stream, &error));
    ck_good(griddep_memory_read_async(runtime, pinned + WORDS, b, BYTES, stream, &error));
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_assert_mem_eq(pinned, pinned + WORDS, BYTES);
    expect_words(a, 0, 0);
    ck_good(
        griddep_memory_copy_async(runtime, a, (uint64_t)(uintptr_t)pinned, BYTES, stream, &error));
    expect_words(a, 5, 3);
    /* A copy that still runs is waited for. */
    ck_good(griddep_memory_read_async(runtime, pinned, b, BYTES, stream, &error));
    ck_good(griddep_host_free(runtime, room, &error));
    ck_good(griddep_memory_write_async(runtime, a, NULL, 0, stream, &error));
    ck_good(griddep_memory_copy_async(runtime, 0, 0, 0, stream, &error));
    ck_status(griddep_memory_write_async(runtime, a, NULL, 1, stream, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_memory_read_async(runtime, NULL, a, 1, stream, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_memory_copy_async(runtime, a, b, BYTES + 1, stream, &error),
              GRIDDEP_ERROR_DRIVER);
}

TEST(memory, fills_have_elements)
{
    ck_good(griddep_memory_fill_async(runtime, a, 0x01020304, 4, WORDS, stream, &error));
    expect_words(a, 0x01020304, 0);
    ck_good(griddep_memory_fill_async(runtime, a, 0x0506, 2, 2 * WORDS, stream, &error));
    expect_words(a, 0x05060506, 0);
    ck_good(griddep_memory_fill_async(runtime, a, 7, 1, BYTES, stream, &error));
    expect_words(a, 0x07070707, 0);
    ck_good(griddep_memory_fill_async(runtime, a, 7, 4, 0, stream, &error));
    ck_status(griddep_memory_fill_async(runtime, a, 7, 3, 1, stream, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_refused(griddep_memory_fill_async(runtime, a, 256, 1, 1, stream, &error),
               GRIDDEP_ERROR_ARGUMENT, "more than 1 bytes");
    ck_refused(griddep_memory_fill_async(runtime, a + 2, 7, 4, 1, stream, &error),
               GRIDDEP_ERROR_ARGUMENT, "no multiple of 4");
    ck_status(griddep_memory_fill_async(runtime, a, 7, 4, UINT64_MAX / 2, stream, &error),
              GRIDDEP_ERROR_ARGUMENT);
}

/* ---- pinned memory ---- */

TEST(memory, pinned_memory_is_refused_by_name)
{
    static char own[8192];
    void *room = NULL;

    ck_status(griddep_host_free(runtime, own, &error), GRIDDEP_ERROR_DRIVER);
    ck_good(griddep_host_free(runtime, NULL, &error));
    ck_status(griddep_host_allocate(runtime, 0, 0, &room, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_host_allocate(runtime, 8, 8, &room, &error), GRIDDEP_ERROR_ARGUMENT);
    fake_driver_fail("cuMemHostAlloc", 1, GD_CUDA_ERROR_OUT_OF_MEMORY);
    ck_refused(griddep_host_allocate(runtime, 8, 0, &room, &error), GRIDDEP_ERROR_MEMORY, "pinned");
}

typedef struct gate {
    sem_t opened;
    pthread_t opener;
} gate;

static void stop(void *user)
{
    sem_wait(&((gate *)user)->opened);
}

static void *open_later(void *user)
{
    usleep(20000);
    sem_post(&((gate *)user)->opened);
    return NULL;
}

/* A copy that cannot begin yet uses the memory: its end waits for the copy. */
TEST(memory, pinned_memory_stays_until_copies_are_over)
{
    void *room = NULL;
    gate held;

    ck_good(griddep_host_allocate(runtime, BYTES, 0, &room, &error));
    uint32_t *words = room;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = 11 + 2 * i;
    ck_good(griddep_memory_fill(runtime, a, 0, BYTES, stream, &error));
    sem_init(&held.opened, 0, 0);
    ck_good(griddep_stream_add_host(runtime, stream, stop, &held, &error));
    ck_good(griddep_memory_write_async(runtime, a, words, BYTES, stream, &error));
    ck_assert_int_eq(pthread_create(&held.opener, NULL, open_later, &held), 0);
    ck_good(griddep_host_free(runtime, words, &error));
    pthread_join(held.opener, NULL);
    expect_words(a, 11, 2);
    sem_destroy(&held.opened);
}

/* ---- streams ---- */

TEST(memory, streams_have_options)
{
    griddep_stream_options options = {.size = sizeof options, .flags = GRIDDEP_STREAM_BLOCKING};
    griddep_stream_info info = {.size = sizeof info};
    void *const legacy = GD_CU_STREAM_LEGACY, *const own = GD_CU_STREAM_PER_THREAD;
    void *made = NULL;

    options.priority = -1;
    ck_good(griddep_stream_create(runtime, &options, &made, &error));
    ck_good(griddep_stream_get_info(runtime, made, &info, &error));
    ck_assert_uint_eq(info.flags, GRIDDEP_STREAM_BLOCKING);
    ck_assert_int_eq(info.priority, -1);
    ck_assert_uint_eq(info.captured, 0);
    ck_good(griddep_graph_capture_begin(runtime, made, &error));
    ck_good(griddep_stream_get_info(runtime, made, &info, &error));
    ck_assert_uint_eq(info.captured, 1);
    ck_good(griddep_stream_destroy(runtime, made, &error));
    ck_good(griddep_stream_get_info(runtime, own, &info, &error));
    ck_good(griddep_stream_get_info(runtime, legacy, &info, &error));
    ck_assert_uint_eq(info.flags, GRIDDEP_STREAM_BLOCKING);
    ck_good(griddep_memory_fill_async(runtime, a, 3, 4, WORDS, own, &error));
    ck_good(griddep_stream_synchronize(runtime, own, &error));
    expect_words(a, 3, 0);
    options.priority = -1000;
    ck_refused(griddep_stream_create(runtime, &options, &made, &error), GRIDDEP_ERROR_LIMIT,
               "the least");
    options = (griddep_stream_options){.size = sizeof options, .flags = 2};
    ck_status(griddep_stream_create(runtime, &options, &made, &error), GRIDDEP_ERROR_STRUCT);
    ck_good(griddep_stream_create(runtime, NULL, &made, &error));
    ck_good(griddep_stream_get_info(runtime, made, &info, &error));
    ck_assert_uint_eq(info.flags, 0);
    ck_good(griddep_stream_destroy(runtime, made, &error));
}

/* ---- devices ---- */

TEST(memory, devices_are_told)
{
    const char *driver = getenv("EMULATED_DRIVER");
    griddep_device_info info = {.size = sizeof info};

    if (!driver)
        driver = "emulated";
    ck_good(griddep_device_get_info(driver, 0, &info, &error));
    ck_assert_str_eq(info.name, "Emulated sm_90");
    ck_assert_int_eq(info.capability, 90);
    ck_assert_uint_eq(info.device_count, 1);
    ck_assert_uint_gt(info.memory_bytes, 0);
    ck_assert_uint_gt(info.multiprocessors, 0);
    ck_status(griddep_device_get_info(driver, 1, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_device_get_info("/no/driver", 0, &info, &error), GRIDDEP_ERROR_NO_DRIVER);
    ck_status(griddep_device_get_info(driver, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
}

/* One text on two devices. */
TEST(memory, runtimes_of_several_devices)
{
    griddep_runtime *other;
    griddep_module *modules[2] = {NULL, NULL};
    uint64_t theirs = 0;

    fake_driver_set_device_count(2);
    other = open_device(1);
    ck_good(griddep_module_load(runtime, ptx, strlen(ptx), NULL, &modules[0], &error));
    ck_good(griddep_module_load(other, ptx, strlen(ptx), NULL, &modules[1], &error));
    ck_good(griddep_memory_allocate(other, BYTES, &theirs, &error));
    ck_good(griddep_memory_fill(other, theirs, 6, BYTES, NULL, &error));
    ck_good(griddep_memory_free(other, theirs, &error));
    griddep_module_unload(modules[0]);
    griddep_module_unload(modules[1]);
    griddep_runtime_close(other);
}

MAIN_OF_SUITE("memory")
