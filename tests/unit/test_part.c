/* Runtimes on parts of a device, modules that runtimes share; variables. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 plain = 3;\n"
    ".visible .const .align 4 .u32 fixed[2] = {4, 5};\n"
    ".visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n"
    ".visible .entry count(.param .u64 out)\n{\n    .reg .b64 %o;\n    .reg .b32 %r;\n"
    "    ld.param.u64 %o, [out];\n    griddepcontrol.wait;\n"
    "    ld.global.u32 %r, [counter];\n    add.u32 %r, %r, 1;\n    st.global.u32 [counter], %r;\n"
    "    mov.u32 %r, %smid;\n    st.global.u32 [%o], %r;\n    ret;\n}\n"
    ".visible .entry first()\n{\n    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n"
    "    ret;\n}\n";

static griddep_error error;
static const griddep_launch_config one = {.size = sizeof one, .grid = {1}, .block = {1}};

static void begin(void)
{
    fake_driver_reset();
    griddep_error_init(&error);
}

static int32_t open_part(uint32_t multiprocessors, uint32_t part, uint32_t flags,
                         griddep_runtime **runtime)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .flags = flags,
                                             .store_directory = "",
                                             .multiprocessors = multiprocessors,
                                             .part = part};
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    return gd_runtime_open_on(driver, &options, runtime, &error);
}

static int32_t open_device(int32_t device, griddep_runtime **runtime)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .device = device, .store_directory = ""};
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    return gd_runtime_open_on(driver, &options, runtime, &error);
}

static int32_t count_of(griddep_runtime *runtime)
{
    griddep_runtime_info info = {.size = sizeof info};

    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_assert(info.features & GRIDDEP_FEATURE_PARTS);
    return info.multiprocessors;
}

static int32_t load_library(griddep_runtime *runtime, griddep_module **module)
{
    const griddep_module_options options = {
        .size = sizeof options, .flags = GRIDDEP_MODULE_LIBRARY, .name = "counter.ptx"};

    return griddep_module_load(runtime, ptx, strlen(ptx), &options, module, &error);
}

/* Runs "count" in a stream of the runtime; the multiprocessor that it ran on. */
static uint32_t run_count(griddep_runtime *runtime, griddep_module *module)
{
    griddep_launch_config config = one;
    griddep_kernel *kernel = NULL;
    griddep_argument argument = {.bytes = 8};
    uint32_t at = UINT32_MAX;

    ck_good(griddep_stream_create(runtime, NULL, &config.stream, &error));
    ck_good(griddep_memory_allocate(runtime, 4, &argument.value, &error));
    ck_good(griddep_module_find_kernel(module, "count", &kernel, &error));
    ck_good(griddep_launch(kernel, &config, &argument, 1, NULL, &error));
    ck_good(griddep_memory_read(runtime, &at, argument.value, 4, config.stream, &error));
    ck_good(griddep_memory_free(runtime, argument.value, &error));
    ck_good(griddep_stream_destroy(runtime, config.stream, &error));
    return at;
}

/* ---- parts ---- */

TEST_GROUP(part, NULL, NULL);

/* The emulated device has 132 multiprocessors here. */
TEST(part, parts_do_not_overlap)
{
    griddep_runtime *first = NULL, *second = NULL, *rest = NULL;
    griddep_module *module = NULL, *here[2] = {NULL, NULL};

    begin();
    ck_good(open_part(12, 0, 0, &first));
    ck_good(open_part(16, 1, 0, &second));
    ck_good(open_part(16, 2, GRIDDEP_RUNTIME_REST, &rest));
    ck_assert_int_eq(count_of(first), 16); /* parts are whole groups of 8 */
    ck_assert_int_eq(count_of(second), 16);
    ck_assert_int_eq(count_of(rest), 100);
    ck_good(griddep_module_load(first, ptx, strlen(ptx), NULL, &module, &error));
    ck_good(griddep_module_load(second, ptx, strlen(ptx), NULL, &here[0], &error));
    ck_good(griddep_module_load(rest, ptx, strlen(ptx), NULL, &here[1], &error));
    ck_assert_uint_lt(run_count(first, module), 16);
    uint32_t at = run_count(second, here[0]);
    ck_assert(at >= 16 && at < 32);
    at = run_count(rest, here[1]);
    ck_assert(at >= 32 && at < 132);
    griddep_runtime_close(rest); /* in any order */
    griddep_module_unload(module);
    griddep_module_unload(here[0]);
    griddep_module_unload(here[1]);
    griddep_runtime_close(first);
    griddep_runtime_close(second);
}

TEST(part, parts_are_refused_by_name)
{
    griddep_runtime *runtime = NULL;

    begin();
    ck_refused(open_part(133, 0, 0, &runtime), GRIDDEP_ERROR_LIMIT,
               "a part of 133 multiprocessors; device 0 has fewer");
    ck_refused(open_part(16, 8, 0, &runtime), GRIDDEP_ERROR_LIMIT,
               "part 8 of 16 multiprocessors: device 0 splits into 8, from 0");
    ck_refused(open_part(16, 9, GRIDDEP_RUNTIME_REST, &runtime), GRIDDEP_ERROR_LIMIT,
               "splits into 8");
    ck_refused(open_part(132, 1, GRIDDEP_RUNTIME_REST, &runtime), GRIDDEP_ERROR_LIMIT,
               "splits into 1, from 0, and nothing is left behind them");
    ck_refused(open_part(0, 1, 0, &runtime), GRIDDEP_ERROR_ARGUMENT,
               "multiprocessors says how many");
    ck_status(open_part(16, 0, GRIDDEP_RUNTIME_REST, &runtime), GRIDDEP_ERROR_ARGUMENT);
    fake_driver_set_version(12030);
    ck_refused(open_part(16, 0, 0, &runtime), GRIDDEP_ERROR_DRIVER_TOO_OLD,
               "(driver API 12.4), which fake (API 12.3) lacks");
    ck_assert_ptr_null(runtime);
}

TEST(part, parts_may_fail_at_each_step)
{
    static const char *const calls[] = {"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount",
                                        "cuDevResourceGenerateDesc", "cuGreenCtxCreate",
                                        "cuCtxFromGreenCtx"};
    griddep_runtime *runtime = NULL;
    bool hit = true;

    begin();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fake_driver_fail(calls[i], 1, GD_CUDA_ERROR_NOT_SUPPORTED);
        ck_status(open_part(16, 0, 0, &runtime), GRIDDEP_ERROR_UNSUPPORTED);
    }
    for (long n = 0; hit; n++) {
        gd_driver *driver = NULL;
        const griddep_runtime_options options = {
            .size = sizeof options, .store_directory = "", .multiprocessors = 8};
        ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
        fail_alloc_after(n);
        int32_t status = gd_runtime_open_on(driver, &options, &runtime, &error);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        if (hit && status)
            ck_assert_int_ne(status, GRIDDEP_OK);
        else
            griddep_runtime_close(runtime);
    }
}

/* What fits beside what is asked of the part. */
TEST(part, room_is_that_of_the_part)
{
    const griddep_launch_config all = {.size = sizeof all, .grid = {132}, .block = {1024}};
    griddep_explanation *explanation = NULL;
    int32_t one_wave[2] = {-1, -1};
    griddep_runtime *runtimes[2] = {NULL, NULL};
    griddep_kernel *kernel = NULL;

    begin();
    ck_good(open_device(0, &runtimes[0]));
    ck_good(open_part(16, 0, 0, &runtimes[1]));
    for (int i = 0; i < 2; i++) {
        griddep_chain *chain = NULL;
        griddep_module *module = NULL;
        ck_good(griddep_module_load(runtimes[i], ptx, strlen(ptx), NULL, &module, &error));
        ck_good(griddep_module_find_kernel(module, "first", &kernel, &error));
        ck_good(griddep_chain_create(runtimes[i], &chain, &error));
        for (int k = 0; k < 2; k++)
            ck_good(griddep_chain_add(chain, kernel, &all, NULL, 0, &error));
        ck_good(griddep_chain_explain(chain, GRIDDEP_MODE_PDL, 1, &explanation, &error));
        griddep_condition condition = {.size = sizeof condition};
        for (uint32_t k = 0; !griddep_explanation_get(explanation, k, &condition, &error); k++) {
            if (condition.reason == GRIDDEP_REASON_WAVES)
                one_wave[i] = condition.met;
        }
        griddep_explanation_destroy(explanation);
        griddep_chain_destroy(chain);
        griddep_module_unload(module);
        griddep_runtime_close(runtimes[i]);
    }
    ck_assert_int_eq(one_wave[0], 1);
    ck_assert_int_eq(one_wave[1], 0); /* 132 blocks are 5 waves on 16 multiprocessors */
}

/* ---- modules of several runtimes ---- */

TEST(part, a_library_is_loaded_once)
{
    griddep_runtime *runtime = NULL, *part = NULL;
    griddep_module *module = NULL, *shared = NULL, *again = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel *kernel = NULL;
    griddep_kernel_info known = {.size = sizeof known};
    void *memory = NULL;
    uint64_t bytes = 0;

    begin();
    ck_good(open_device(0, &runtime));
    ck_good(open_part(8, 3, 0, &part));
    ck_good(load_library(runtime, &module));
    ck_good(griddep_module_share(module, part, &shared, &error));
    ck_good(griddep_module_share(shared, runtime, &again, &error));
    ck_assert_uint_eq(fake_driver_calls("cuLibraryLoadData"), 1);
    ck_assert_uint_eq(fake_driver_calls("cuModuleLoadDataEx"), 0);
    ck_good(griddep_module_get_info(shared, &info, &error));
    ck_assert_str_eq(info.name, "counter.ptx");
    ck_assert_str_eq(info.log, "");
    ck_assert_uint_eq(info.kernel_count, 2);
    ck_assert_ptr_nonnull(info.ptx);
    ck_good(griddep_module_get_kernel(shared, 0, &kernel, &error));
    ck_good(griddep_kernel_get_info(kernel, &known, &error));
    ck_assert(known.traits & GRIDDEP_TRAIT_WAITS_ALWAYS);
    ck_good(griddep_module_get_managed(module, "counter", &memory, &bytes, &error));
    run_count(runtime, module);
    griddep_runtime_close(runtime);
    griddep_module_unload(module); /* what is shared holds it */
    uint32_t at = run_count(part, shared);
    ck_assert(at >= 24 && at < 32);
    ck_assert_uint_eq(*(volatile uint32_t *)memory, 7);
    ck_assert_uint_eq(fake_driver_calls("cuLibraryUnload"), 0);
    griddep_module_unload(shared);
    griddep_module_unload(again);
    ck_assert_uint_eq(fake_driver_calls("cuLibraryUnload"), 1);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    griddep_runtime_close(part);
}

TEST(part, a_library_on_two_devices)
{
    griddep_runtime *runtimes[2] = {NULL, NULL};
    griddep_module *module = NULL, *shared = NULL;
    uint64_t addresses[2] = {0, 0}, bytes = 0;

    begin();
    fake_driver_set_device_count(2);
    ck_good(open_device(0, &runtimes[0]));
    ck_good(open_device(1, &runtimes[1]));
    ck_good(load_library(runtimes[0], &module));
    ck_good(griddep_module_share(module, runtimes[1], &shared, &error));
    ck_good(griddep_module_get_global(module, "plain", &addresses[0], &bytes, &error));
    ck_good(griddep_module_get_global(shared, "plain", &addresses[1], &bytes, &error));
    ck_assert(addresses[0] != addresses[1]);
    run_count(runtimes[1], shared);
    run_count(runtimes[0], module);
    griddep_runtime_close(runtimes[1]);
    griddep_module_unload(module);
    griddep_module_unload(shared);
    griddep_runtime_close(runtimes[0]);
}

TEST(part, sharing_is_refused_by_name)
{
    static const char wrong[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry k()\n{\n    nonsense;\n    ret;\n}\n";
    const griddep_module_options options = {
        .size = sizeof options, .flags = GRIDDEP_MODULE_LIBRARY, .name = "wrong.ptx"};
    griddep_runtime *runtime = NULL;
    griddep_module *module = NULL, *shared = NULL;

    begin();
    ck_good(open_device(0, &runtime));
    ck_good(griddep_module_load(runtime, ptx, strlen(ptx), NULL, &module, &error));
    ck_refused(griddep_module_share(module, runtime, &shared, &error), GRIDDEP_ERROR_ARGUMENT,
               "was loaded without GRIDDEP_MODULE_LIBRARY");
    ck_status(griddep_module_share(NULL, runtime, &shared, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_share(module, NULL, &shared, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_share(module, runtime, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_load(runtime, wrong, strlen(wrong), &options, &shared, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_str_eq(error.file, "wrong.ptx"); /* the compiler's words, as without the flag */
    ck_assert_int_eq(error.line, 6);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
}

TEST(part, sharing_may_fail_at_each_step)
{
    griddep_runtime *runtime = NULL, *part = NULL;
    griddep_module *module = NULL, *shared = NULL;
    bool hit = true;

    begin();
    ck_good(open_device(0, &runtime));
    ck_good(open_part(8, 0, 0, &part));
    for (long n = 0; hit; n++) {
        fail_alloc_after(n);
        int32_t status = load_library(runtime, &module);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
    }
    hit = true;
    for (long n = 0; hit; n++) {
        fail_alloc_after(n);
        int32_t status = griddep_module_share(module, part, &shared, &error);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_int_eq(status, hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK);
    }
    griddep_module_unload(shared);
    fake_driver_fail("cuLibraryGetModule", 1, GD_CUDA_ERROR_NO_BINARY_FOR_GPU);
    ck_refused(griddep_module_share(module, part, &shared, &error), GRIDDEP_ERROR_IMAGE,
               "counter.ptx in the context of another runtime");
    griddep_module_unload(module);
    fake_driver_fail("cuLibraryLoadData", 1, GD_CUDA_ERROR_OUT_OF_MEMORY);
    ck_status(load_library(runtime, &module), GRIDDEP_ERROR_DEVICE_MEMORY);
    fake_driver_fail("cuLibraryGetModule", 1, GD_CUDA_ERROR_OUT_OF_MEMORY);
    ck_status(load_library(runtime, &module), GRIDDEP_ERROR_DEVICE_MEMORY);
    griddep_runtime_close(part);
    griddep_runtime_close(runtime);
}

/* ---- variables ---- */

TEST(part, variables_are_found_by_name)
{
    griddep_runtime *runtime = NULL;
    griddep_module *module = NULL;
    uint64_t address = 0, bytes = 0;
    uint32_t words[2] = {0, 0};
    void *memory = NULL;

    begin();
    ck_good(open_device(0, &runtime));
    ck_good(griddep_module_load(runtime, ptx, strlen(ptx), NULL, &module, &error));
    ck_good(griddep_module_get_global(module, "fixed", &address, &bytes, &error));
    ck_assert_uint_eq(bytes, 8);
    ck_good(griddep_memory_read(runtime, words, address, 8, NULL, &error));
    ck_assert_uint_eq(words[1], 5);
    ck_good(griddep_module_get_managed(module, "counter", &memory, &bytes, &error));
    ck_assert_uint_eq(bytes, 4);
    ck_assert_uint_eq(*(volatile uint32_t *)memory, 5);
    *(volatile uint32_t *)memory = 40;
    run_count(runtime, module);
    ck_assert_uint_eq(*(volatile uint32_t *)memory, 41);
    ck_good(griddep_module_get_global(module, "counter", &address, &bytes, &error));
    ck_assert_uint_eq(address, (uint64_t)(uintptr_t)memory);
    ck_refused(griddep_module_get_managed(module, "plain", &memory, &bytes, &error),
               GRIDDEP_ERROR_NOT_FOUND, "\"plain\" of ");
    ck_says("is not managed");
    ck_status(griddep_module_get_managed(module, "fixed", &memory, &bytes, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_module_get_managed(module, "none", &memory, &bytes, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_module_get_managed(NULL, "counter", &memory, &bytes, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_get_managed(module, NULL, &memory, &bytes, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_get_managed(module, "counter", NULL, &bytes, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_get_managed(module, "counter", &memory, NULL, &error),
              GRIDDEP_ERROR_ARGUMENT);
    fake_driver_fail("cuPointerGetAttribute", 1, GD_CUDA_ERROR_INVALID_VALUE);
    ck_status(griddep_module_get_managed(module, "counter", &memory, &bytes, &error),
              GRIDDEP_ERROR_DRIVER);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
}

MAIN_OF_SUITE("part")
