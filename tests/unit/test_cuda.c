/* Tests of src/cuda: binding a driver, its failures in the library's terms, NVRTC; and of the fake
 * driver, on which the tests of everything above rely. */
#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cuda/driver.h"
#include "cuda/nvrtc.h"
#include "fake/fake_driver.h"
#include "suite.h"

enum { OPTIONAL, REQUIRED };

typedef struct symbol_row {
    const char *name;
    int version;
    int need;
    size_t offset;
} symbol_row;

static const symbol_row rows[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, {#name, version, need, offsetof(gd_driver, name)}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

enum { ROWS = sizeof rows / sizeof *rows };

static griddep_error error;

static void *row_pointer(const gd_driver *driver, int row)
{
    void *function = NULL;

    memcpy(&function, (const char *)driver + rows[row].offset, sizeof function);
    return function;
}

static void begin(void)
{
    fake_driver_reset();
    griddep_error_init(&error);
}

static gd_driver *make_driver(void)
{
    gd_driver *driver = NULL;
    int32_t status = gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error);

    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    return driver;
}

/* A driver whose device's primary context is current. */
static gd_driver *make_current(void)
{
    gd_driver *driver = make_driver();
    gd_CUcontext context = NULL;

    ck_assert_int_eq(driver->cuDevicePrimaryCtxRetain(&context, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuCtxPushCurrent(context), GD_CUDA_SUCCESS);
    return driver;
}

static void assert_no_leaks(void)
{
    char left[256] = "";

    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left behind: %s", left);
}

static void end_current(gd_driver *driver)
{
    ck_assert_int_eq(driver->cuCtxPopCurrent(NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuDevicePrimaryCtxRelease(0), GD_CUDA_SUCCESS);
    assert_no_leaks();
    gd_driver_close(driver);
}

static void assert_says(const char *words)
{
    ck_assert_msg(strstr(error.text, words) != NULL, "\"%s\" is not in \"%s\"", words, error.text);
}

/* ---- Binding and opening */

START_TEST(binding_fills_every_pointer)
{
    gd_driver *driver = make_driver();

    for (int i = 0; i < ROWS; i++)
        ck_assert_msg(row_pointer(driver, i) != NULL, "%s is missing", rows[i].name);
    ck_assert_int_eq(driver->version, 13000);
    ck_assert_str_eq(driver->path, "fake");
    ck_assert_uint_eq(fake_driver_calls("cuInit"), 1);
    gd_driver_close(driver);
    gd_driver_close(NULL);
}
END_TEST

START_TEST(binding_with_one_symbol_hidden)
{
    gd_driver *driver = NULL;

    fake_driver_hide(rows[_i].name);
    int32_t status = gd_driver_create(fake_driver_get_proc_address, "old.so", &driver, &error);
    if (rows[_i].need == REQUIRED) {
        char version[64];
        snprintf(version, sizeof version, "%s (driver API %d.%d)", rows[_i].name,
                 rows[_i].version / 1000, rows[_i].version % 1000 / 10);
        ck_assert_int_eq(status, GRIDDEP_ERROR_DRIVER_TOO_OLD);
        ck_assert_ptr_null(driver);
        assert_says("old.so");
        assert_says(version);
        ck_assert_uint_eq(fake_driver_calls(NULL), 0);
    } else {
        ck_assert_int_eq(status, GRIDDEP_OK);
        ck_assert_ptr_null(row_pointer(driver, _i));
        gd_driver_close(driver);
    }
}
END_TEST

START_TEST(binding_names_all_that_is_missing)
{
    gd_driver *driver = NULL;

    fake_driver_hide("cuMemAlloc");
    fake_driver_hide("cuGraphLaunch");
    ck_assert_int_eq(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
                     GRIDDEP_ERROR_DRIVER_TOO_OLD);
    assert_says("cuMemAlloc (driver API 3.2), cuGraphLaunch (driver API 10.0)");
}
END_TEST

/* Driver API 12.0 is the oldest that is served: it has all that is required, and none of what came
 * later. */
START_TEST(binding_to_driver_12_0)
{
    fake_driver_set_version(12000);
    gd_driver *driver = make_driver();
    ck_assert_int_eq(driver->version, 12000);
    for (int i = 0; i < ROWS; i++)
        ck_assert_msg((row_pointer(driver, i) != NULL) == (rows[i].version <= 12000), "%s",
                      rows[i].name);
    gd_driver_close(driver);
}
END_TEST

static gd_CUresult get_nothing(const char *symbol, void **function, int version, uint64_t flags,
                               int *found)
{
    static int something;

    (void)symbol;
    (void)version;
    (void)flags;
    *function = &something; /* a failed query's output must not be believed */
    *found = GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult get_legacy_only(const char *symbol, void **function, int version, uint64_t flags,
                                   int *found)
{
    ck_assert_msg(flags == GD_CU_GET_PROC_ADDRESS_LEGACY_STREAM, "%s is asked for with other flags",
                  symbol);
    return fake_driver_get_proc_address(symbol, function, version, flags, found);
}

/* Else stream NULL could mean the per-thread default stream. */
START_TEST(binding_asks_for_the_legacy_stream)
{
    gd_driver *driver = NULL;

    ck_assert_int_eq(gd_driver_create(get_legacy_only, "fake", &driver, &error), GRIDDEP_OK);
    gd_driver_close(driver);
}
END_TEST

START_TEST(binding_believes_the_query_result)
{
    gd_driver *driver = NULL;

    ck_assert_int_eq(gd_driver_create(get_nothing, "fake", &driver, &error),
                     GRIDDEP_ERROR_DRIVER_TOO_OLD);
    ck_assert_int_eq(gd_driver_create(get_nothing, "fake", &driver, NULL),
                     GRIDDEP_ERROR_DRIVER_TOO_OLD);
    ck_assert_ptr_null(driver);
}
END_TEST

/* The newest PTX that each CUDA release's driver takes, from the release notes of the PTX ISA. */
START_TEST(ptx_versions_of_drivers)
{
    static const struct {
        int32_t driver, ptx;
    } cases[] = {{11080, 80}, {12000, 80}, {12009, 80}, {12010, 81}, {12020, 82},
                 {12030, 83}, {12039, 83}, {12040, 84}, {12050, 85}, {12060, 85},
                 {12069, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {12999, 88},
                 {13000, 90}, {13009, 90}, {13010, 91}, {13020, 91}, {14000, 91}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(gd_driver_ptx_version(cases[i].driver) == cases[i].ptx, "driver %d: PTX %d",
                      (int)cases[i].driver, (int)gd_driver_ptx_version(cases[i].driver));
}
END_TEST

START_TEST(no_device_is_no_driver)
{
    gd_driver *driver = NULL;

    fake_driver_set_device_count(0);
    ck_assert_int_eq(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
                     GRIDDEP_ERROR_NO_DRIVER);
    assert_says("the driver fake finds no device: CUDA_ERROR_NO_DEVICE (100)");
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_NO_DEVICE);
    ck_assert_ptr_null(driver);
}
END_TEST

START_TEST(failures_at_start)
{
    gd_driver *driver = NULL;

    fake_driver_fail("cuInit", 1, GD_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    ck_assert_int_eq(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
                     GRIDDEP_ERROR_NO_DRIVER);
    assert_says("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)");
    fake_driver_fail("cuDriverGetVersion", 1, GD_CUDA_ERROR_UNKNOWN);
    ck_assert_int_eq(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
                     GRIDDEP_ERROR_DRIVER);
    assert_says("version");
    ck_assert_ptr_null(driver);
}
END_TEST

START_TEST(opening_what_does_not_exist)
{
    gd_driver *driver = NULL;

    ck_assert_int_eq(gd_driver_open("/nonexistent/libcuda.so.1", &driver, &error),
                     GRIDDEP_ERROR_NO_DRIVER);
    assert_says("/nonexistent/libcuda.so.1");
    ck_assert_int_eq(gd_driver_open("/nonexistent/libcuda.so.1", &driver, NULL),
                     GRIDDEP_ERROR_NO_DRIVER);
    ck_assert_ptr_null(driver);
}
END_TEST

START_TEST(opening_what_is_no_library)
{
    char path[] = "/tmp/griddep-no-library-XXXXXX";
    gd_driver *driver = NULL;
    int file = mkstemp(path);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, "no library\n", 11), 11);
    close(file);
    int32_t status = gd_driver_open(path, &driver, &error);
    unlink(path);
    ck_assert_int_eq(status, GRIDDEP_ERROR_NO_DRIVER);
    assert_says(path);
    ck_assert_ptr_null(driver);
}
END_TEST

START_TEST(opening_what_is_no_driver)
{
    gd_driver *driver = NULL;

    ck_assert_int_eq(gd_driver_open("libm.so.6", &driver, &error), GRIDDEP_ERROR_DRIVER_TOO_OLD);
    assert_says("libm.so.6 has no cuGetProcAddress_v2");
    ck_assert_ptr_null(driver);
}
END_TEST

/* The fake driver as a library of its own, where the build says where it is. */
START_TEST(opening_a_driver_library)
{
    const char *path = getenv("FAKE_DRIVER");
    gd_driver *driver = NULL;

    if (!path) {
        printf("opening_a_driver_library: skipped, FAKE_DRIVER does not name the fake driver's "
               "shared object\n");
        return;
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(gd_driver_open(path, &driver, &error) == GRIDDEP_OK, "%s", error.text);
        ck_assert_int_eq(driver->version, 13000);
        ck_assert_str_eq(driver->path, path);
        gd_driver_close(driver);
    }
}
END_TEST

static TCase *driver_case(void)
{
    TCase *tests = tcase_create("driver");

    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, binding_fills_every_pointer);
    tcase_add_loop_test(tests, binding_with_one_symbol_hidden, 0, ROWS);
    tcase_add_test(tests, binding_names_all_that_is_missing);
    tcase_add_test(tests, binding_to_driver_12_0);
    tcase_add_test(tests, binding_asks_for_the_legacy_stream);
    tcase_add_test(tests, binding_believes_the_query_result);
    tcase_add_test(tests, ptx_versions_of_drivers);
    tcase_add_test(tests, no_device_is_no_driver);
    tcase_add_test(tests, failures_at_start);
    tcase_add_test(tests, opening_what_does_not_exist);
    tcase_add_test(tests, opening_what_is_no_library);
    tcase_add_test(tests, opening_what_is_no_driver);
    tcase_add_test(tests, opening_a_driver_library);
    return tests;
}

/* ---- CUresult in the library's terms */

/* Written apart from abi_errors.def, by number, as cuda.h has them. */
static int32_t expected_status(int result)
{
    static const int faults[] = {214, 220, 226, 700, 702, 709, 710,
                                 714, 715, 716, 717, 718, 719, 721};
    static const int compiles[] = {218, 221, 222, 223, 225};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (result == faults[i])
            return GRIDDEP_ERROR_FAULT;
    }
    for (size_t i = 0; i < sizeof compiles / sizeof *compiles; i++) {
        if (result == compiles[i])
            return GRIDDEP_ERROR_COMPILE;
    }
    if (result >= 900 && result <= 908)
        return GRIDDEP_ERROR_STREAM;
    switch (result) {
    case 0:
        return GRIDDEP_OK;
    case 2:
        return GRIDDEP_ERROR_DEVICE_MEMORY;
    case 34:
    case 100:
    case 803:
        return GRIDDEP_ERROR_NO_DRIVER;
    case 36:
        return GRIDDEP_ERROR_DRIVER_TOO_OLD;
    case 200:
    case 209:
    case 300:
        return GRIDDEP_ERROR_IMAGE;
    case 500:
        return GRIDDEP_ERROR_NOT_FOUND;
    case 701:
    case 720:
    case 912:
        return GRIDDEP_ERROR_LIMIT;
    case 801:
        return GRIDDEP_ERROR_UNSUPPORTED;
    default:
        return GRIDDEP_ERROR_DRIVER;
    }
}

START_TEST(status_of_every_result)
{
    for (int result = -2; result < 1100; result++)
        ck_assert_msg(gd_driver_status(result) == expected_status(result), "CUresult %d is %s",
                      result, griddep_status_name(gd_driver_status(result)));
}
END_TEST

START_TEST(names_of_results)
{
    ck_assert_str_eq(gd_driver_result_name(0), "CUDA_SUCCESS");
    ck_assert_str_eq(gd_driver_result_name(402), "CUDA_ERROR_LOSSY_QUERY");
    ck_assert_str_eq(gd_driver_result_name(999), "CUDA_ERROR_UNKNOWN");
    ck_assert_ptr_null(gd_driver_result_name(12345));
}
END_TEST

/* A driver may know results that this library does not. */
static gd_CUresult tell_name(gd_CUresult result, const char **name)
{
    *name = "CUDA_ERROR_OF_TOMORROW";
    return result == 4242 ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

START_TEST(names_that_the_driver_knows)
{
    gd_driver *driver = make_driver();

    driver->cuGetErrorName = tell_name;
    ck_assert_int_eq(gd_driver_fail(driver, 4242, &error, "new"), GRIDDEP_ERROR_DRIVER);
    ck_assert_str_eq(error.text, "new: CUDA_ERROR_OF_TOMORROW (4242)");
    ck_assert_int_eq(gd_driver_fail(driver, 4243, &error, "newer"), GRIDDEP_ERROR_DRIVER);
    ck_assert_str_eq(error.text, "newer: CUresult (4243)");
    ck_assert_int_eq(gd_driver_fail(driver, 2, &error, "old"), GRIDDEP_ERROR_DEVICE_MEMORY);
    ck_assert(strncmp(error.text, "old: CUDA_ERROR_OUT_OF_MEMORY (2)", 33) == 0);
    gd_driver_close(driver);
}
END_TEST

START_TEST(reports_say_what_and_why)
{
    gd_driver *driver = make_driver();

    ck_assert_int_eq(gd_driver_fail(driver, 716, &error, "kernel %s, block %d", "add", 7),
                     GRIDDEP_ERROR_FAULT);
    ck_assert_str_eq(
        error.text, "kernel add, block 7: CUDA_ERROR_MISALIGNED_ADDRESS (716): misaligned address");
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_FAULT);
    ck_assert_int_eq(error.driver_code, 716);
    ck_assert_int_eq(gd_driver_fail(driver, 716, NULL, "x"), GRIDDEP_ERROR_FAULT);
    ck_assert_int_eq(gd_driver_fail(NULL, 2, &error, "allocating"), GRIDDEP_ERROR_DEVICE_MEMORY);
    ck_assert_str_eq(error.text, "allocating: CUDA_ERROR_OUT_OF_MEMORY (2)");
    ck_assert_int_eq(gd_driver_fail(driver, 4242, &error, "new"), GRIDDEP_ERROR_DRIVER);
    ck_assert_str_eq(error.text, "new: CUresult (4242)");
    ck_assert_int_eq(error.driver_code, 4242);
    gd_driver_close(driver);
}
END_TEST

static TCase *result_case(void)
{
    TCase *tests = tcase_create("results");

    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, status_of_every_result);
    tcase_add_test(tests, names_of_results);
    tcase_add_test(tests, names_that_the_driver_knows);
    tcase_add_test(tests, reports_say_what_and_why);
    return tests;
}

/* ---- NVRTC */

/* NULL, and a line that says so, on a machine without NVRTC. */
static gd_nvrtc *open_nvrtc(const char *test)
{
    gd_nvrtc *nvrtc = NULL;

    setenv("CUDA_HOME", "/usr/local/cuda", 0); /* where toolkits are by custom */
    if (gd_nvrtc_open(getenv("GRIDDEP_NVRTC"), 13000, &nvrtc, &error) != GRIDDEP_OK) {
        ck_assert_int_eq(error.status, GRIDDEP_ERROR_NO_NVRTC);
        printf("%s: skipped, %s\n", test, error.text);
    }
    return nvrtc;
}

START_TEST(nvrtc_compiles)
{
    static const char *const options[] = {"--gpu-architecture=compute_90", "-DVALUE=7"};
    gd_nvrtc *nvrtc = open_nvrtc("nvrtc_compiles");
    char *ptx = NULL;
    char *log = NULL;
    size_t bytes = 0;

    if (!nvrtc)
        return;
    ck_assert_int_ge(nvrtc->version, 11000);
    int32_t status = gd_nvrtc_compile(
        nvrtc, "extern \"C\" __global__ void set(int *p) { int unused; *p = VALUE; }", "set.cu",
        options, 2, &ptx, NULL, &bytes, &log, &error);
    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
    ck_assert_uint_eq(bytes, strlen(ptx));
    ck_assert_ptr_nonnull(strstr(ptx, ".entry set"));
    ck_assert_ptr_nonnull(strstr(ptx, ".target sm_90"));
    ck_assert_ptr_nonnull(strstr(log, "set.cu(1): warning"));
    free(ptx);
    free(log);
    gd_nvrtc_close(nvrtc);
}
END_TEST

typedef struct broken_source {
    const char *source;
    const char *file; /* where the first error is */
    int32_t line;
    const char *says;
    int32_t code; /* nvrtcResult */
    const char *option;
} broken_source;

static const broken_source broken_sources[] = {
    {"__global__ void k() {\n  int unused;\n  foo(1);\n  bar(2);\n}\n", "dir (x)/k.cu", 3,
     "\"foo\" is undefined", 6, NULL},
    {"\n#include <no/such/file.h>\n", "dir (x)/k.cu", 2, "no/such/file.h", 6, NULL},
    {"#line 40 \"other.cuh\"\nint f() { return x; }\n", "other.cuh", 40, "\"x\" is undefined", 6,
     NULL},
    {"int x;\n", "dir (x)/k.cu", 0, "--no-such-option", 5, "--no-such-option"},
};

START_TEST(nvrtc_refuses)
{
    const broken_source *broken = &broken_sources[_i];
    gd_nvrtc *nvrtc = open_nvrtc("nvrtc_refuses");
    char *ptx = (char *)1;
    char *log = (char *)2;
    size_t bytes = 3;

    if (!nvrtc)
        return;
    int32_t status = gd_nvrtc_compile(nvrtc, broken->source, "dir (x)/k.cu", &broken->option,
                                      broken->option != NULL, &ptx, NULL, &bytes, &log, &error);
    ck_assert_int_eq(status, GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.driver_code, broken->code);
    ck_assert_str_eq(error.file, broken->file);
    ck_assert_int_eq(error.line, broken->line);
    ck_assert_int_eq(error.column, 0);
    assert_says(broken->says);
    ck_assert(ptx == (char *)1 && log == (char *)2 && bytes == 3);
    ck_assert_int_eq(gd_nvrtc_compile(nvrtc, broken->source, "k.cu", &broken->option,
                                      broken->option != NULL, &ptx, NULL, &bytes, &log, NULL),
                     GRIDDEP_ERROR_COMPILE);
    gd_nvrtc_close(nvrtc);
}
END_TEST

START_TEST(nvrtc_that_is_not_there)
{
    gd_nvrtc *nvrtc = NULL;

    ck_assert_int_eq(gd_nvrtc_open("/nonexistent/libnvrtc.so", 13000, &nvrtc, &error),
                     GRIDDEP_ERROR_NO_NVRTC);
    assert_says("/nonexistent/libnvrtc.so");
    ck_assert_int_eq(gd_nvrtc_open("libm.so.6", 13000, &nvrtc, &error), GRIDDEP_ERROR_NO_NVRTC);
    assert_says("libm.so.6: has no nvrtcVersion");
    ck_assert_ptr_null(nvrtc);
    gd_nvrtc_close(NULL);
}
END_TEST

START_TEST(nvrtc_search_tells_where_it_looked)
{
    gd_nvrtc *nvrtc = NULL;

    setenv("CUDA_HOME", "/nonexistent/home", 1);
    setenv("CUDA_PATH", "/nonexistent/path", 1);
    if (gd_nvrtc_open(NULL, 99000, &nvrtc, &error) == GRIDDEP_OK) {
        printf("nvrtc_search_tells_where_it_looked: skipped, the loader finds %s\n", nvrtc->path);
        gd_nvrtc_close(nvrtc);
        return;
    }
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_NO_NVRTC);
    assert_says("\n  libnvrtc.so.13: ");
    assert_says("\n  libnvrtc.so.12: ");
    assert_says("\n  libnvrtc.so: ");
    assert_says("\n  /nonexistent/home/lib64/libnvrtc.so.13: ");
    assert_says("\n  /nonexistent/path/lib64/libnvrtc.so: ");
}
END_TEST

static TCase *nvrtc_case(void)
{
    TCase *tests = tcase_create("nvrtc");

    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, nvrtc_compiles);
    tcase_add_loop_test(tests, nvrtc_refuses, 0, sizeof broken_sources / sizeof *broken_sources);
    tcase_add_test(tests, nvrtc_that_is_not_there);
    tcase_add_test(tests, nvrtc_search_tells_where_it_looked);
    return tests;
}

/* ---- The fake driver: contexts and memory */

static void *use_other_thread(void *table)
{
    gd_driver *driver = table;
    gd_CUcontext context = &driver;

    ck_assert_int_eq(driver->cuCtxGetCurrent(&context), GD_CUDA_SUCCESS);
    ck_assert_ptr_null(context);
    ck_assert_int_eq(driver->cuCtxSynchronize(), GD_CUDA_ERROR_INVALID_CONTEXT);
    return NULL;
}

START_TEST(fake_contexts_are_a_stack_per_thread)
{
    gd_driver *driver = make_current();
    gd_CUcontext own = fake_driver_create_context(0);
    gd_CUcontext seen = NULL;
    pthread_t thread;

    ck_assert_int_eq(driver->cuCtxPushCurrent(own), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuCtxGetCurrent(&seen), GD_CUDA_SUCCESS);
    ck_assert_ptr_eq(seen, own);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_other_thread, driver), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(fake_driver_leaks(NULL, 0), 3); /* the retain and two on the stack */
    ck_assert_int_eq(driver->cuCtxPopCurrent(&seen), GD_CUDA_SUCCESS);
    ck_assert_ptr_eq(seen, own);
    fake_driver_destroy_context(own);
    ck_assert_int_eq(driver->cuCtxPushCurrent(own), GD_CUDA_ERROR_INVALID_CONTEXT);
    end_current(driver);
}
END_TEST

START_TEST(fake_primary_context_is_counted)
{
    gd_driver *driver = make_current();
    gd_CUcontext again = NULL;
    gd_CUdeviceptr address = 0;

    ck_assert_int_eq(driver->cuDevicePrimaryCtxRetain(&again, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuDevicePrimaryCtxRelease(0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuMemAlloc(&address, 64), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuDevicePrimaryCtxRelease(0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuDevicePrimaryCtxRelease(0), GD_CUDA_ERROR_INVALID_CONTEXT);
    ck_assert_int_eq(driver->cuMemFree(address), GD_CUDA_ERROR_CONTEXT_IS_DESTROYED);
    char left[64] = "";
    ck_assert_uint_eq(fake_driver_leaks(left, sizeof left), 2);
    ck_assert_str_eq(left, "1 allocation, 1 current context");
    ck_assert_int_eq(driver->cuDevicePrimaryCtxRetain(&again, 1), GD_CUDA_ERROR_INVALID_DEVICE);
    gd_driver_close(driver);
}
END_TEST

START_TEST(fake_memory_holds_what_was_copied)
{
    gd_driver *driver = make_current();
    unsigned char sent[100], got[100] = {0};
    gd_CUdeviceptr address = 0;

    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (unsigned char)(i * 7 + 1);
    ck_assert_int_eq(driver->cuMemAlloc(&address, 100), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(address % 256, 0);
    ck_assert_int_eq(driver->cuMemcpyHtoDAsync(address, sent, 100, NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuMemsetD8Async(address + 90, 0x33, 10, NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuMemcpyDtoHAsync(got, address, 100, NULL), GD_CUDA_SUCCESS);
    ck_assert_mem_eq(got, sent, 90);
    ck_assert_uint_eq(got[90], 0x33);
    ck_assert_uint_eq(got[99], 0x33);
    ck_assert_int_eq(driver->cuMemcpyHtoDAsync(address + 1, sent, 100, NULL),
                     GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(driver->cuMemsetD8Async(address - 1, 0, 1, NULL), GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(driver->cuMemFree(address), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuMemFree(address), GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(driver->cuMemcpyDtoHAsync(got, address, 1, NULL), GD_CUDA_ERROR_INVALID_VALUE);
    end_current(driver);
}
END_TEST

/* ---- The fake driver: modules */

/* data[0] = data[0] * factor + 1: the order of launches shows in the result. */
static const char step_ptx[] = ".version 8.0\n.target sm_90\n"
                               ".entry step(.param .u64 data, .param .u32 factor) {\n"
                               ".reg .b64 a;\n.reg .b32 v<3>;\nld.param.u64 a, [data];\n"
                               "ld.param.u32 v1, [factor];\nld.global.u32 v2, [a];\n"
                               "mad.lo.u32 v2, v2, v1, 1;\nst.global.u32 [a], v2;\nret;\n}\n";

static gd_CUfunction load_function(gd_driver *driver, const char *ptx, const char *name,
                                   gd_CUmodule *module)
{
    gd_CUfunction function = NULL;

    ck_assert_int_eq(driver->cuModuleLoadDataEx(module, ptx, 0, NULL, NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuModuleGetFunction(&function, *module, name), GD_CUDA_SUCCESS);
    return function;
}

static gd_CUresult compile(gd_driver *driver, const char *image, char *info, char *words,
                           size_t *word_bytes)
{
    gd_CUjit_option options[] = {GD_CU_JIT_INFO_LOG_BUFFER, GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                 GD_CU_JIT_ERROR_LOG_BUFFER, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                 GD_CU_JIT_LOG_VERBOSE};
    void *values[] = {info, (void *)(uintptr_t)400, words, (void *)(uintptr_t)400,
                      (void *)(uintptr_t)1};
    gd_CUmodule module = NULL;
    gd_CUresult result = driver->cuModuleLoadDataEx(&module, image, 5, options, values);

    *word_bytes = (size_t)(uintptr_t)values[3];
    if (result == GD_CUDA_SUCCESS)
        ck_assert_int_eq(driver->cuModuleUnload(module), GD_CUDA_SUCCESS);
    return result;
}

START_TEST(fake_compiler_refuses)
{
    static const struct {
        const char *ptx;
        gd_CUresult result;
        const char *says;
    } refusals[] = {
        {".version 8.0\n.target sm_90\n// fake-jit-error: 5 Not a name of any known instruction: "
         "'foo'\n",
         218,
         "ptxas application ptx input, line 5; error   : Not a name of any known instruction: "
         "'foo'\n"
         "ptxas fatal   : Ptx assembly aborted due to errors"},
        {".version 8.8\n.target sm_100\n", 218,
         "ptxas fatal   : SM version specified by .target is higher than default SM version "
         "assumed"},
        {".version 10.0\n.target sm_90\n", 222,
         "ptxas application ptx input, line 1; fatal   : Unsupported .version 10.0; current "
         "version is '9.0'"},
    };
    gd_driver *driver = make_current();
    char info[400], words[400];
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        info[0] = words[0] = 0;
        ck_assert_int_eq(compile(driver, refusals[i].ptx, info, words, &bytes), refusals[i].result);
        ck_assert_str_eq(words, refusals[i].says);
        ck_assert_uint_eq(bytes, strlen(words));
        ck_assert_str_eq(info, "");
    }
    end_current(driver);
}
END_TEST

START_TEST(fake_driver_takes_cubins)
{
    gd_driver *driver = make_current();
    gd_CUmodule module = NULL;
    size_t bytes = 0;
    char *copy = fake_driver_make_cubin(step_ptx, &bytes);

    ck_assert_mem_eq(copy,
                     "\x7f"
                     "ELF",
                     4);
    load_function(driver, copy, "step", &module);
    ck_assert_int_eq(driver->cuModuleUnload(module), GD_CUDA_SUCCESS);
    fake_driver_set_capability(80);
    ck_assert_int_eq(driver->cuModuleLoadDataEx(&module, copy, 0, NULL, NULL),
                     GD_CUDA_ERROR_NO_BINARY_FOR_GPU);
    fake_driver_set_capability(90);
    copy[bytes - 2] ^= 1;
    ck_assert_int_eq(driver->cuModuleLoadDataEx(&module, copy, 0, NULL, NULL),
                     GD_CUDA_ERROR_INVALID_IMAGE);
    free(copy);
    end_current(driver);
}
END_TEST

/* ---- The fake driver: launches, streams, graphs */

typedef struct step_arguments {
    uint64_t data;
    uint32_t factor;
} step_arguments;

typedef struct stage {
    gd_driver *driver;
    gd_CUmodule module;
    gd_CUfunction step;
    gd_CUstream stream;
    gd_CUdeviceptr data;
} stage;

static stage make_stage(unsigned stream_flags)
{
    stage s = {.driver = make_current()};

    s.step = load_function(s.driver, step_ptx, "step", &s.module);
    ck_assert_int_eq(s.driver->cuStreamCreate(&s.stream, stream_flags), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuMemAlloc(&s.data, 64), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuMemsetD8Async(s.data, 0, 64, NULL), GD_CUDA_SUCCESS);
    return s;
}

static void end_stage(stage *s)
{
    ck_assert_int_eq(s->driver->cuMemFree(s->data), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s->driver->cuStreamDestroy(s->stream), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s->driver->cuModuleUnload(s->module), GD_CUDA_SUCCESS);
    end_current(s->driver);
}

static uint32_t read_data(const stage *s)
{
    uint32_t value = 0;

    ck_assert_int_eq(s->driver->cuMemcpyDtoHAsync(&value, s->data, sizeof value, s->stream),
                     GD_CUDA_SUCCESS);
    return value;
}

static gd_CUresult launch_with(const stage *s, gd_CUlaunchConfig *config, uint32_t factor)
{
    uint64_t data = s->data;
    void *parameters[] = {&data, &factor};

    return s->driver->cuLaunchKernelEx(config, s->step, parameters, NULL);
}

static gd_CUlaunchConfig plain_config(const stage *s)
{
    return (gd_CUlaunchConfig){.gridDimX = 1,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 32,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .hStream = s->stream};
}

static gd_CUresult launch_step(const stage *s, uint32_t factor, bool programmatic)
{
    gd_CUlaunchConfig config = plain_config(s);
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};

    attribute.value.programmaticStreamSerializationAllowed = programmatic;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return launch_with(s, &config, factor);
}

START_TEST(fake_launches_are_recorded_and_run)
{
    stage s = make_stage(GD_CU_STREAM_NON_BLOCKING);
    fake_launch launch;
    step_arguments arguments = {0};

    ck_assert_int_eq(launch_step(&s, 5, false), GD_CUDA_SUCCESS);
    ck_assert_int_eq(launch_step(&s, 5, true), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(read_data(&s), 6);
    ck_assert_uint_eq(fake_driver_launches(), 2);
    ck_assert_int_eq(fake_driver_launch(0, &launch), 1);
    ck_assert_int_eq(launch.programmatic, 0);
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_int_eq(launch.programmatic, 1);
    ck_assert_str_eq(launch.kernel, "step");
    ck_assert_ptr_eq(launch.function, s.step);
    ck_assert_ptr_eq(launch.config.hStream, s.stream);
    ck_assert_uint_eq(launch.config.blockDimX, 32);
    ck_assert_uint_eq(launch.config.numAttrs, 1);
    ck_assert_int_eq(launch.config.attrs[0].id, 6);
    memcpy(&arguments, launch.parameters, launch.parameter_bytes);
    ck_assert_uint_eq(arguments.data, s.data);
    ck_assert_uint_eq(arguments.factor, 5);
    ck_assert_int_eq(fake_driver_launch(2, &launch), 0);
    end_stage(&s);
}
END_TEST

START_TEST(fake_launch_takes_a_packed_buffer)
{
    stage s = make_stage(0);
    gd_CUlaunchConfig config = plain_config(&s);
    step_arguments arguments = {s.data, 3};
    size_t bytes = 12;
    void *extra[] = {GD_CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, GD_CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, GD_CU_LAUNCH_PARAM_END};
    void *both[] = {&arguments.data, &arguments.factor};

    ck_assert_int_eq(s.driver->cuLaunchKernelEx(&config, s.step, NULL, extra), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(read_data(&s), 1);
    ck_assert_int_eq(s.driver->cuLaunchKernelEx(&config, s.step, both, extra),
                     GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(s.driver->cuLaunchKernelEx(&config, s.step, NULL, NULL),
                     GD_CUDA_ERROR_INVALID_VALUE);
    bytes = sizeof arguments;
    ck_assert_int_eq(s.driver->cuLaunchKernelEx(&config, s.step, NULL, extra),
                     GD_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    ck_assert_uint_eq(read_data(&s), 1);
    end_stage(&s);
}
END_TEST

START_TEST(fake_launch_refuses_impossible_shapes)
{
    stage s = make_stage(0);
    gd_CUlaunchConfig config = plain_config(&s);
    gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};

    config.gridDimX = 0;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_INVALID_VALUE);
    config = plain_config(&s);
    config.blockDimY = 64;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_INVALID_VALUE);
    config = plain_config(&s);
    config.sharedMemBytes = 49153;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(s.driver->cuFuncSetAttribute(
                         s.step, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449),
                     GD_CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(s.driver->cuFuncSetAttribute(
                         s.step, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448),
                     GD_CUDA_SUCCESS);
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_SUCCESS);
    config = plain_config(&s);
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.value.clusterDim.x = 2;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_INVALID_CLUSTER_SIZE);
    config.gridDimX = 4;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_SUCCESS);
    attribute.id = 15;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_INVALID_VALUE);
    end_stage(&s);
}
END_TEST

START_TEST(fake_device_too_old_for_attribute_6)
{
    gd_driver *driver = make_current();
    gd_CUmodule module = NULL;
    gd_CUfunction function = NULL;
    gd_CUlaunchAttribute attribute = {.id =
                                          GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    gd_CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, &attribute, 1};

    fake_driver_set_capability(80);
    function =
        load_function(driver, ".version 8.0\n.target sm_80\n.entry k() { ret; }\n", "k", &module);
    ck_assert_int_eq(driver->cuLaunchKernelEx(&config, function, NULL, NULL),
                     GD_CUDA_ERROR_NOT_SUPPORTED);
    config.numAttrs = 0;
    ck_assert_int_eq(driver->cuLaunchKernelEx(&config, function, NULL, NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuModuleUnload(module), GD_CUDA_SUCCESS);
    end_current(driver);
}
END_TEST

START_TEST(fake_events_in_launches_have_no_timing)
{
    stage s = make_stage(0);
    gd_CUlaunchConfig config = plain_config(&s);
    gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    gd_CUevent events[2] = {0};

    config.attrs = &attribute;
    config.numAttrs = 1;
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(s.driver->cuEventCreate(&events[i], i * GD_CU_EVENT_DISABLE_TIMING),
                         GD_CUDA_SUCCESS);
    attribute.value.programmaticEvent.event = events[0];
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_NOT_SUPPORTED);
    attribute.value.programmaticEvent.event = events[1];
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_SUCCESS);
    attribute.id = GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_SUCCESS);
    fake_driver_set_version(12020);
    ck_assert_int_eq(launch_with(&s, &config, 1), GD_CUDA_ERROR_NOT_SUPPORTED);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(s.driver->cuEventDestroy(events[i]), GD_CUDA_SUCCESS);
    end_stage(&s);
}
END_TEST

/* step, step with attribute 6, a fill, step with attribute 6, step: only the first edge can be
 * programmatic. */
START_TEST(fake_capture_makes_programmatic_edges)
{
    static const gd_CUgraphNodeType types[] = {0, 0, 2, 0, 0};
    stage s = make_stage(GD_CU_STREAM_NON_BLOCKING);
    gd_CUgraph graph = NULL;
    gd_CUgraphNode nodes[6], from[5], to[5];
    gd_CUgraphEdgeData data[5];
    gd_CUgraphNodeType type = -1;
    gd_CUgraphExec executable = NULL;
    size_t count = 0;

    ck_assert_int_eq(
        s.driver->cuStreamBeginCapture(s.stream, GD_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
    ck_assert_int_eq(launch_step(&s, 2, false), GD_CUDA_SUCCESS);
    ck_assert_int_eq(launch_step(&s, 3, true), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuMemsetD8Async(s.data + 8, 9, 1, s.stream), GD_CUDA_SUCCESS);
    ck_assert_int_eq(launch_step(&s, 5, true), GD_CUDA_SUCCESS);
    ck_assert_int_eq(launch_step(&s, 7, false), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuStreamEndCapture(s.stream, &graph), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(read_data(&s), 0);

    count = 6;
    ck_assert_int_eq(s.driver->cuGraphGetNodes(graph, nodes, &count), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(count, 5);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(s.driver->cuGraphNodeGetType(nodes[i], &type), GD_CUDA_SUCCESS);
        ck_assert_int_eq(type, types[i]);
    }
    count = 5;
    ck_assert_int_eq(s.driver->cuGraphGetEdges(graph, from, to, NULL, &count),
                     GD_CUDA_ERROR_LOSSY_QUERY);
    ck_assert_int_eq(s.driver->cuGraphGetEdges(graph, from, to, data, &count), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < count; i++) {
        ck_assert_ptr_eq(from[i], nodes[i]);
        ck_assert_ptr_eq(to[i], nodes[i + 1]);
        ck_assert_uint_eq(data[i].type, i == 0);
        ck_assert_uint_eq(data[i].from_port, i == 0);
    }

    ck_assert_int_eq(s.driver->cuGraphInstantiateWithFlags(&executable, graph, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuGraphDestroy(graph), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuGraphLaunch(executable, s.stream), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(read_data(&s), 148); /* (((0 * 2 + 1) * 3 + 1) * 5 + 1) * 7 + 1 */
    fake_launch launch;
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_int_eq(launch.captured, 1);
    ck_assert_int_eq(s.driver->cuGraphExecDestroy(executable), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuGraphLaunch(executable, s.stream), GD_CUDA_ERROR_INVALID_HANDLE);
    end_stage(&s);
}
END_TEST

static gd_CUresult synchronize_stream(const stage *s)
{
    return s->driver->cuStreamSynchronize(s->stream);
}

static gd_CUresult synchronize_context(const stage *s)
{
    return s->driver->cuCtxSynchronize();
}

static gd_CUresult free_memory(const stage *s)
{
    return s->driver->cuMemFree(s->data);
}

static gd_CUresult unload_module(const stage *s)
{
    return s->driver->cuModuleUnload(s->module);
}

static gd_CUresult use_legacy_stream(const stage *s)
{
    return s->driver->cuMemsetD8Async(s->data, 0, 1, NULL);
}

static const struct {
    gd_CUresult (*call)(const stage *s);
    gd_CUresult result;
} forbidden[] = {
    {synchronize_stream, GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {synchronize_context, GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {free_memory, GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {unload_module, GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {use_legacy_stream, GD_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT},
};

START_TEST(fake_capture_is_spoiled_by_what_it_forbids)
{
    stage s = make_stage(GD_CU_STREAM_DEFAULT);
    gd_CUgraph graph = NULL;
    gd_CUstreamCaptureStatus status = -1;

    ck_assert_int_eq(
        s.driver->cuStreamBeginCapture(s.stream, GD_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), 0);
    ck_assert_int_eq(launch_step(&s, 2, false), GD_CUDA_SUCCESS);
    ck_assert_int_eq(forbidden[_i].call(&s), forbidden[_i].result);
    ck_assert_int_eq(s.driver->cuStreamIsCapturing(s.stream, &status), GD_CUDA_SUCCESS);
    ck_assert_int_eq(status, GD_CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    ck_assert_int_eq(launch_step(&s, 2, false), GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_assert_int_eq(s.driver->cuStreamEndCapture(s.stream, &graph),
                     GD_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_assert_ptr_null(graph);
    ck_assert_int_eq(s.driver->cuStreamEndCapture(s.stream, &graph), GD_CUDA_ERROR_ILLEGAL_STATE);
    ck_assert_int_eq(launch_step(&s, 2, false), GD_CUDA_SUCCESS);
    end_stage(&s);
}
END_TEST

START_TEST(fake_scripted_failure_is_not_sticky)
{
    stage s = make_stage(0);

    fake_driver_fail("cuCtxSynchronize", 1, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(s.driver->cuCtxSynchronize(), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(s.driver->cuCtxSynchronize(), GD_CUDA_SUCCESS);
    end_stage(&s);
}
END_TEST

START_TEST(fake_kernel_fault_loses_the_context)
{
    stage s = make_stage(0);

    stage wrong = s;
    wrong.data = 8;
    ck_assert_int_eq(launch_step(&wrong, 1, false), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuStreamSynchronize(s.stream), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(launch_step(&s, 1, false), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(s.driver->cuMemFree(s.data), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(s.driver->cuStreamDestroy(s.stream), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuModuleUnload(s.module), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    end_current(s.driver); /* all the same, nothing is left */
}
END_TEST

START_TEST(fake_events_measure)
{
    stage s = make_stage(0);
    gd_CUevent start = NULL, end = NULL, silent = NULL;
    float elapsed = -1;

    ck_assert_int_eq(s.driver->cuEventCreate(&start, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventCreate(&end, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventCreate(&silent, GD_CU_EVENT_DISABLE_TIMING), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventElapsedTime(&elapsed, start, end),
                     GD_CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(s.driver->cuEventRecord(start, s.stream), GD_CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(launch_step(&s, 1, false), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventRecord(end, s.stream), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventRecord(silent, s.stream), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventSynchronize(end), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventElapsedTime(&elapsed, start, end), GD_CUDA_SUCCESS);
    ck_assert_float_gt(elapsed, 0);
    ck_assert_int_eq(s.driver->cuEventElapsedTime(&elapsed, start, silent),
                     GD_CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(s.driver->cuEventDestroy(start), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventDestroy(end), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuEventDestroy(silent), GD_CUDA_SUCCESS);
    end_stage(&s);
}
END_TEST

/* ---- The fake driver: scripts and records */

START_TEST(fake_script_fails_the_nth_call)
{
    stage s = make_stage(0);
    gd_CUdeviceptr address = 7;

    fake_driver_fail("cuMemAlloc", 2, GD_CUDA_ERROR_OUT_OF_MEMORY);
    fake_driver_fail(NULL, 5, GD_CUDA_ERROR_UNKNOWN);
    ck_assert_int_eq(s.driver->cuMemAlloc(&address, 16), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuMemFree(address), GD_CUDA_SUCCESS);
    address = 7;
    ck_assert_int_eq(s.driver->cuMemAlloc(&address, 16), GD_CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(address, 7);
    ck_assert_int_eq(s.driver->cuMemAlloc(&address, 16), GD_CUDA_SUCCESS);
    ck_assert_int_eq(s.driver->cuMemFree(address), GD_CUDA_ERROR_UNKNOWN); /* freed for all that */
    end_stage(&s);
}
END_TEST

START_TEST(fake_records_every_call)
{
    gd_driver *driver = make_current();
    uint64_t before = fake_driver_calls(NULL);
    gd_CUmodule module = NULL;
    fake_call call;

    load_function(driver, step_ptx, "step", &module);
    ck_assert_int_eq(driver->cuModuleUnload(module), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuModuleUnload(NULL), GD_CUDA_ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(fake_driver_calls(NULL), before + 4);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 2);
    ck_assert_int_eq(fake_driver_call(before + 1, &call), 1);
    ck_assert_str_eq(call.symbol, "cuModuleGetFunction");
    ck_assert_str_eq(call.text, "step");
    ck_assert_uint_eq(call.arguments[1], (uintptr_t)module);
    ck_assert_int_eq(fake_driver_call(before + 3, &call), 1);
    ck_assert_int_eq(call.result, GD_CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(fake_driver_call(before + 4, &call), 0);
    end_current(driver);
}
END_TEST

START_TEST(fake_reset_forgets)
{
    stage s = make_stage(0);
    fake_launch launch;

    ck_assert_int_eq(launch_step(&s, 1, false), GD_CUDA_SUCCESS);
    ck_assert_uint_gt(fake_driver_leaks(NULL, 0), 0);
    fake_driver_set_capability(80);
    fake_driver_reset();
    assert_no_leaks();
    ck_assert_uint_eq(fake_driver_calls(NULL), 0);
    ck_assert_int_eq(fake_driver_last_launch(&launch), 0);
    ck_assert_int_eq(s.driver->cuCtxSynchronize(), GD_CUDA_ERROR_NOT_INITIALIZED);
    gd_driver_close(s.driver);
    s.driver = make_driver();
    int major = 0;
    ck_assert_int_eq(
        s.driver->cuDeviceGetAttribute(&major, GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
        GD_CUDA_SUCCESS);
    ck_assert_int_eq(major, 9);
    gd_driver_close(s.driver);
}
END_TEST

static TCase *fake_case(void)
{
    TCase *tests = tcase_create("fake driver");

    tcase_add_checked_fixture(tests, begin, fake_driver_reset);
    tcase_add_test(tests, fake_contexts_are_a_stack_per_thread);
    tcase_add_test(tests, fake_primary_context_is_counted);
    tcase_add_test(tests, fake_memory_holds_what_was_copied);
    tcase_add_test(tests, fake_compiler_refuses);
    tcase_add_test(tests, fake_driver_takes_cubins);
    tcase_add_test(tests, fake_launches_are_recorded_and_run);
    tcase_add_test(tests, fake_launch_takes_a_packed_buffer);
    tcase_add_test(tests, fake_launch_refuses_impossible_shapes);
    tcase_add_test(tests, fake_device_too_old_for_attribute_6);
    tcase_add_test(tests, fake_events_in_launches_have_no_timing);
    tcase_add_test(tests, fake_capture_makes_programmatic_edges);
    tcase_add_loop_test(tests, fake_capture_is_spoiled_by_what_it_forbids, 0,
                        sizeof forbidden / sizeof *forbidden);
    tcase_add_test(tests, fake_scripted_failure_is_not_sticky);
    tcase_add_test(tests, fake_kernel_fault_loses_the_context);
    tcase_add_test(tests, fake_events_measure);
    tcase_add_test(tests, fake_script_fails_the_nth_call);
    tcase_add_test(tests, fake_records_every_call);
    tcase_add_test(tests, fake_reset_forgets);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("cuda");

    suite_add_tcase(suite, driver_case());
    suite_add_tcase(suite, result_case());
    suite_add_tcase(suite, nvrtc_case());
    suite_add_tcase(suite, fake_case());

    return run_suite(suite);
}
