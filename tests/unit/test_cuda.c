/* Tests of src/cuda: binding a driver, its failures in the library's terms, NVRTC. */
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
#include "unit/status.h"

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

static void assert_says(const char *words)
{
    ck_assert_msg(strstr(error.text, words) != NULL, "\"%s\" is not in \"%s\"", words, error.text);
}

/* ---- Binding and opening */

TEST_GROUP(driver, begin, NULL);
TEST_GROUP(results, begin, NULL);
TEST_GROUP(nvrtc, begin, NULL);

TEST(driver, binding_fills_every_pointer)
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

LOOP_TEST(driver, binding_with_one_symbol_hidden, ROWS)
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

TEST(driver, binding_names_all_that_is_missing)
{
    gd_driver *driver = NULL;

    fake_driver_hide("cuMemAlloc");
    fake_driver_hide("cuGraphLaunch");
    ck_refused(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
               GRIDDEP_ERROR_DRIVER_TOO_OLD,
               "cuMemAlloc (driver API 3.2), cuGraphLaunch (driver API 10.0)");
}

/* Driver API 12.0 is the oldest that is served: it has all that is required, and none of what came
 * later. */
TEST(driver, binding_to_driver_12_0)
{
    fake_driver_set_version(12000);
    gd_driver *driver = make_driver();
    ck_assert_int_eq(driver->version, 12000);
    for (int i = 0; i < ROWS; i++)
        ck_assert_msg((row_pointer(driver, i) != NULL) == (rows[i].version <= 12000), "%s",
                      rows[i].name);
    gd_driver_close(driver);
}

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
TEST(driver, binding_asks_for_the_legacy_stream)
{
    gd_driver *driver = NULL;

    ck_assert_int_eq(gd_driver_create(get_legacy_only, "fake", &driver, &error), GRIDDEP_OK);
    gd_driver_close(driver);
}

TEST(driver, binding_believes_the_query_result)
{
    gd_driver *driver = NULL;

    ck_assert_int_eq(gd_driver_create(get_nothing, "fake", &driver, &error),
                     GRIDDEP_ERROR_DRIVER_TOO_OLD);
    ck_assert_int_eq(gd_driver_create(get_nothing, "fake", &driver, NULL),
                     GRIDDEP_ERROR_DRIVER_TOO_OLD);
    ck_assert_ptr_null(driver);
}

/* The newest PTX that each CUDA release's driver takes, from the release notes of the PTX ISA. */
TEST(driver, ptx_versions_of_drivers)
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

TEST(driver, no_device_is_no_driver)
{
    gd_driver *driver = NULL;

    fake_driver_set_device_count(0);
    ck_refused(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
               GRIDDEP_ERROR_NO_DRIVER,
               "the driver fake finds no device: CUDA_ERROR_NO_DEVICE (100)");
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_NO_DEVICE);
    ck_assert_ptr_null(driver);
}

TEST(driver, failures_at_start)
{
    gd_driver *driver = NULL;

    fake_driver_fail("cuInit", 1, GD_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    ck_refused(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
               GRIDDEP_ERROR_NO_DRIVER, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)");
    fake_driver_fail("cuDriverGetVersion", 1, GD_CUDA_ERROR_UNKNOWN);
    ck_refused(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error),
               GRIDDEP_ERROR_DRIVER, "version");
    ck_assert_ptr_null(driver);
}

TEST(driver, opening_what_does_not_exist)
{
    gd_driver *driver = NULL;

    ck_refused(gd_driver_open("/nonexistent/libcuda.so.1", &driver, &error),
               GRIDDEP_ERROR_NO_DRIVER, "/nonexistent/libcuda.so.1");
    ck_assert_int_eq(gd_driver_open("/nonexistent/libcuda.so.1", &driver, NULL),
                     GRIDDEP_ERROR_NO_DRIVER);
    ck_assert_ptr_null(driver);
}

TEST(driver, opening_what_is_no_library)
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

TEST(driver, opening_what_is_no_driver)
{
    gd_driver *driver = NULL;

    ck_refused(gd_driver_open("libm.so.6", &driver, &error), GRIDDEP_ERROR_DRIVER_TOO_OLD,
               "libm.so.6 has no cuGetProcAddress_v2");
    ck_assert_ptr_null(driver);
}

/* The fake driver as a library of its own, where the build says where it is. */
TEST(driver, opening_a_driver_library)
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

TEST(results, status_of_every_result)
{
    for (int result = -2; result < 1100; result++)
        ck_assert_msg(gd_driver_status(result) == expected_status(result), "CUresult %d is %s",
                      result, griddep_status_name(gd_driver_status(result)));
}

TEST(results, names_of_results)
{
    ck_assert_str_eq(gd_driver_result_name(0), "CUDA_SUCCESS");
    ck_assert_str_eq(gd_driver_result_name(402), "CUDA_ERROR_LOSSY_QUERY");
    ck_assert_str_eq(gd_driver_result_name(999), "CUDA_ERROR_UNKNOWN");
    ck_assert_ptr_null(gd_driver_result_name(12345));
}

/* A driver may know results that this library does not. */
static gd_CUresult tell_name(gd_CUresult result, const char **name)
{
    *name = "CUDA_ERROR_OF_TOMORROW";
    return result == 4242 ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

TEST(results, names_that_the_driver_knows)
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

TEST(results, reports_say_what_and_why)
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

TEST(nvrtc, nvrtc_compiles)
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

LOOP_TEST(nvrtc, nvrtc_refuses, sizeof broken_sources / sizeof *broken_sources)
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

TEST(nvrtc, nvrtc_that_is_not_there)
{
    gd_nvrtc *nvrtc = NULL;

    ck_refused(gd_nvrtc_open("/nonexistent/libnvrtc.so", 13000, &nvrtc, &error),
               GRIDDEP_ERROR_NO_NVRTC, "/nonexistent/libnvrtc.so");
    ck_refused(gd_nvrtc_open("libm.so.6", 13000, &nvrtc, &error), GRIDDEP_ERROR_NO_NVRTC,
               "libm.so.6: has no nvrtcVersion");
    ck_assert_ptr_null(nvrtc);
    gd_nvrtc_close(NULL);
}

TEST(nvrtc, nvrtc_search_tells_where_it_looked)
{
    gd_nvrtc *nvrtc = NULL;

    setenv("CUDA_HOME", "/nonexistent/home", 1);
    setenv("CUDA_PATH", "/nonexistent/path", 1);
    if (gd_nvrtc_open(NULL, 99000, &nvrtc, &error) == GRIDDEP_OK) {
        printf("nvrtc_search_tells_where_it_looked: skipped, the loader finds %s\n", nvrtc->path);
        gd_nvrtc_close(nvrtc);
        return;
    }
    ck_refused(error.status, GRIDDEP_ERROR_NO_NVRTC, "\n  libnvrtc.so.13: ");
    assert_says("\n  libnvrtc.so.12: ");
    assert_says("\n  libnvrtc.so: ");
    assert_says("\n  /nonexistent/home/lib64/libnvrtc.so.13: ");
    assert_says("\n  /nonexistent/path/lib64/libnvrtc.so: ");
}

MAIN_OF_SUITE("cuda")
