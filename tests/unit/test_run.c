/* src/run on the scripted fake driver: runtime, module, kernel, launch, chain, and every way in
 * which the driver or the allocator can fail under them. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/quiet.h"
#include "unit/status.h"

/* Three entries that differ in how they wait. */
static const char ptx[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".global .align 4 .b8 table[64];\n"
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 count)\n"
    "{\n"
    "    griddepcontrol.launch_dependents;\n"
    "    griddepcontrol.wait;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry plain(.param .u32 a, .param .f64 b)\n"
    "{\n"
    "    ret;\n"
    "}\n"
    ".visible .entry sometimes(.param .u32 a)\n"
    "{\n"
    "    .reg .pred p;\n"
    "    .reg .b32 r;\n"
    "    ld.param.u32 r, [a];\n"
    "    setp.eq.u32 p, r, 0;\n"
    "    @p ret;\n"
    "    griddepcontrol.wait;\n"
    "    ret;\n"
    "}\n";

/* add that adds, out[i] = x[i] + y[i], and one that leaves its memory. */
#define ADD(body)                                                                                  \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 count)\n{\n"   \
    "    .reg .b64 a<5>;\n    .reg .b32 w<3>;\n    .reg .f32 f<3>;\n    .reg .pred p;\n"           \
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n" body "    ret;\n}\n"
static const char adding_ptx[] =
    ADD("    ld.param.u32 w1, [count];\n    mov.u32 w2, %tid.x;\n    setp.ge.u32 p, w2, w1;\n"
        "    @p ret;\n    mul.wide.u32 a4, w2, 4;\n    ld.param.u64 a1, [x];\n"
        "    ld.param.u64 a2, [y];\n    ld.param.u64 a3, [out];\n    add.s64 a1, a1, a4;\n"
        "    add.s64 a2, a2, a4;\n    add.s64 a3, a3, a4;\n    ld.global.f32 f1, [a1];\n"
        "    ld.global.f32 f2, [a2];\n    add.f32 f1, f1, f2;\n    st.global.f32 [a3], f1;\n");
static const char faulting_ptx[] = ADD("    mov.b64 a1, 8;\n    st.global.f32 [a1], 0f00000000;\n");

static griddep_error error;
static griddep_runtime *runtime;

/* ---- fixture ---- */

static int32_t open_with(const griddep_runtime_options *options, griddep_runtime **opened)
{
    gd_driver *driver = NULL;
    int32_t status = gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error);

    return status ? status : gd_runtime_open_on(driver, options, opened, &error);
}

static griddep_runtime *open_stored(const char *cache)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = cache};
    griddep_runtime *opened = NULL;

    ck_assert_msg(open_with(&options, &opened) == GRIDDEP_OK, "%s", error.text);
    return opened;
}

static void begin(void)
{
    unsetenv("GRIDDEP_PDL");
    unsetenv("GRIDDEP_LOG");
    unsetenv("GRIDDEP_DRIVER");
    unsetenv("GRIDDEP_NVRTC");
    setenv("GRIDDEP_STORE", "off", 1);
    fake_driver_reset();
    griddep_error_init(&error);
}

static void setup(void)
{
    begin();
    runtime = open_stored("");
}

static void assert_nothing_left(void)
{
    char left[256] = "";

    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static void finish(void)
{
    assert_nothing_left();
}

static void teardown(void)
{
    griddep_runtime_close(runtime);
    runtime = NULL;
    finish();
}

static griddep_module *load(griddep_runtime *on, const char *text)
{
    griddep_module *module = NULL;
    const griddep_module_options options = {.size = sizeof options, .name = "test.ptx"};

    ck_assert_msg(griddep_module_load(on, text, strlen(text), &options, &module, &error) ==
                      GRIDDEP_OK,
                  "%s", error.text);
    return module;
}

static griddep_kernel *kernel_of(griddep_module *module, const char *name)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(module, name, &kernel, &error));
    return kernel;
}

static griddep_runtime_info info_of(griddep_runtime *of)
{
    griddep_runtime_info info = {.size = sizeof info};

    ck_good(griddep_runtime_get_info(of, &info, &error));
    return info;
}

/* ---- runtime ---- */

TEST_GROUP(open, setup, teardown);
TEST_GROUP(opening, begin, finish);
TEST_GROUP(failing, begin, NULL);

TEST(open, runtime_tells_the_device)
{
    griddep_runtime_info info = info_of(runtime);

    ck_assert_str_eq(info.driver, "fake");
    ck_assert_int_eq(info.driver_version, 13000);
    ck_assert_int_eq(info.capability, 90);
    ck_assert_int_eq(info.multiprocessors, 132);
    ck_assert_uint_eq(info.shared_bytes_per_block, 227 * 1024);
    ck_assert_uint_eq(info.pdl_disabled, 0);
    ck_assert_str_eq(info.store_directory, "");
    const uint32_t all = GRIDDEP_FEATURE_PDL | GRIDDEP_FEATURE_GRAPH | GRIDDEP_FEATURE_GRAPH_EDGES |
                         GRIDDEP_FEATURE_PROGRAMMATIC_EVENT |
                         GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT | GRIDDEP_FEATURE_PARAMETER_INFO |
                         GRIDDEP_FEATURE_CLUSTER | GRIDDEP_FEATURE_PARTS;
    ck_assert_uint_eq(info.features, all);
}

TEST(opening, runtime_adopts_the_current_context)
{
    gd_CUcontext mine = fake_driver_create_context(0), current = NULL;
    griddep_runtime *opened = NULL;
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(mine), GD_CUDA_SUCCESS);
    ck_assert_int_eq(open_with(NULL, &opened), GRIDDEP_OK);
    ck_assert_ptr_eq(info_of(opened).context, mine);
    griddep_runtime_close(opened);
    ck_assert_int_eq(driver->cuCtxGetCurrent(&current), GD_CUDA_SUCCESS);
    ck_assert_ptr_eq(current, mine);
    ck_assert_int_eq(driver->cuCtxPopCurrent(&current), GD_CUDA_SUCCESS);

    /* The same by name, with none current; and the calling thread's current context stays none. */
    const griddep_runtime_options options = {
        .size = sizeof options, .context = mine, .store_directory = ""};
    ck_assert_int_eq(open_with(&options, &opened), GRIDDEP_OK);
    ck_assert_ptr_eq(info_of(opened).context, mine);
    griddep_module_unload(load(opened, ptx));
    ck_assert_int_eq(driver->cuCtxGetCurrent(&current), GD_CUDA_SUCCESS);
    ck_assert_ptr_null(current);
    griddep_runtime_close(opened);
    gd_driver_close(driver);
    fake_driver_destroy_context(mine);
}

TEST(opening, runtime_refuses_bad_options)
{
    griddep_runtime *opened = (griddep_runtime *)&error;
    griddep_runtime_options options = {.size = sizeof options};
    static const struct {
        int32_t device;
        uint32_t flags;
        const char *words;
    } missing[] = {{1, GRIDDEP_RUNTIME_DEVICE, "device 1 does not exist; there is 1"},
                   {5, 0, "device 5 does not exist; there is 1"},
                   {-1, 0, "device -1 does not exist"},
                   {-1, GRIDDEP_RUNTIME_DEVICE, "device -1 does not exist"}};

    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        options.device = missing[i].device;
        options.flags = missing[i].flags;
        ck_status(open_with(&options, &opened), GRIDDEP_ERROR_ARGUMENT);
        ck_says(missing[i].words);
    }
    options = (griddep_runtime_options){.size = 8};
    ck_status(open_with(&options, &opened), GRIDDEP_ERROR_STRUCT);
    options = (griddep_runtime_options){.size = sizeof options, .flags = 64};
    ck_status(open_with(&options, &opened), GRIDDEP_ERROR_STRUCT);
    options = (griddep_runtime_options){.size = sizeof options, .pdl = 9};
    ck_status(open_with(&options, &opened), GRIDDEP_ERROR_ARGUMENT);
    options = (griddep_runtime_options){.size = sizeof options, .log_level = 9};
    ck_status(open_with(&options, &opened), GRIDDEP_ERROR_ARGUMENT);
    options.log_level = GRIDDEP_LOG_DEBUG; /* it would be handed to nobody */
    ck_refused(open_with(&options, &opened), GRIDDEP_ERROR_ARGUMENT, "log is NULL");
    ck_assert_ptr_eq(opened, (griddep_runtime *)&error); /* outputs are written on success only */

    struct {
        griddep_runtime_options known;
        uint64_t newer;
    } larger = {.known = {.size = sizeof larger, .store_directory = ""}};
    ck_status(open_with(&larger.known, &opened), GRIDDEP_OK);
    griddep_runtime_close(opened);
    larger.newer = 1;
    ck_status(open_with(&larger.known, &opened), GRIDDEP_ERROR_STRUCT);
}

/* A device that is named is taken, whatever context is current; with the flag that holds for device
 * 0 too. */
TEST(opening, runtime_takes_the_device_that_is_named)
{
    static const struct {
        int32_t device;
        uint32_t flags;
        int32_t current, taken; /* current: of the calling thread's context, -1: it has none */
    } cases[] = {{2, 0, -1, 2}, {2, GRIDDEP_RUNTIME_DEVICE, -1, 2}, {2, 0, 1, 2}, {0, 0, 1, 1},
                 {0, 0, -1, 0}, {0, GRIDDEP_RUNTIME_DEVICE, 1, 0},  {1, 0, 1, 1}};
    griddep_runtime *opened = NULL;
    gd_CUcontext popped = NULL;
    gd_driver *driver = NULL;

    fake_driver_set_device_count(3);
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gd_CUcontext current =
            cases[i].current < 0 ? NULL : fake_driver_create_context(cases[i].current);
        griddep_runtime_options options = {.size = sizeof options,
                                           .store_directory = "",
                                           .device = cases[i].device,
                                           .flags = cases[i].flags};
        if (current)
            ck_assert_int_eq(driver->cuCtxPushCurrent(current), GD_CUDA_SUCCESS);
        ck_status(open_with(&options, &opened), GRIDDEP_OK);
        ck_assert_msg(info_of(opened).device == cases[i].taken, "case %zu: device %d", i,
                      (int)info_of(opened).device);
        griddep_runtime_close(opened);
        if (!current)
            continue;
        options.context = current; /* a context has its device */
        if (cases[i].device || cases[i].flags) {
            ck_refused(open_with(&options, &opened), GRIDDEP_ERROR_ARGUMENT,
                       "a context and a device are given");
        } else {
            ck_status(open_with(&options, &opened), GRIDDEP_OK);
            griddep_runtime_close(opened);
        }
        ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
        fake_driver_destroy_context(current);
    }
    gd_driver_close(driver);
}

TEST(opening, runtime_tells_emulated_from_real)
{
    griddep_runtime *opened = NULL;
    griddep_runtime_info info = {.size = sizeof info};

    ck_status(open_with(NULL, &opened), GRIDDEP_OK);
    ck_good(griddep_runtime_get_info(opened, &info, &error));
    ck_assert_uint_eq(info.emulated, 0);
    ck_assert_str_eq(info.fallback, "");
    griddep_runtime_close(opened);
    fake_driver_hide("cuDeviceGetUuid");
    ck_status(open_with(NULL, &opened), GRIDDEP_OK);
    info.emulated = 7;
    ck_good(griddep_runtime_get_info(opened, &info, &error));
    ck_assert_uint_eq(info.emulated, 0);
    griddep_runtime_close(opened);
}

TEST(opening, runtime_names_what_is_missing)
{
    griddep_runtime *opened = NULL;
    griddep_runtime_options options = {.size = sizeof options,
                                       .driver = "/nonexistent/libcuda.so.1"};

    ck_refused(griddep_runtime_open(&options, &opened, &error), GRIDDEP_ERROR_NO_DRIVER,
               "/nonexistent/libcuda.so.1");
    options.driver = "amd";
    ck_refused(griddep_runtime_open(&options, &opened, &error), GRIDDEP_ERROR_ARGUMENT, "\"amd\"");
    setenv("GRIDDEP_DRIVER", "whatever", 1);
    ck_refused(griddep_runtime_open(NULL, &opened, &error), GRIDDEP_ERROR_ENVIRONMENT,
               "GRIDDEP_DRIVER");
    fake_driver_set_device_count(0);
    ck_refused(open_with(NULL, &opened), GRIDDEP_ERROR_NO_DRIVER, "no device");
}

TEST(opening, runtime_on_an_old_driver)
{
    griddep_runtime *opened = NULL;

    fake_driver_hide("cuLaunchKernelEx");
    ck_refused(open_with(NULL, &opened), GRIDDEP_ERROR_DRIVER_TOO_OLD, "cuLaunchKernelEx");
    fake_driver_reset();
    fake_driver_set_version(12000);
    ck_status(open_with(NULL, &opened), GRIDDEP_OK);
    ck_assert_uint_eq(info_of(opened).features &
                          (GRIDDEP_FEATURE_GRAPH_EDGES | GRIDDEP_FEATURE_PARAMETER_INFO |
                           GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT),
                      0);
    ck_assert_uint_ne(info_of(opened).features & GRIDDEP_FEATURE_PDL, 0);
    griddep_runtime_close(opened);
}

LOOP_TEST(opening, runtime_reads_the_kill_switch, 8)
{
    static const struct {
        const char *value;
        int32_t status;
        uint32_t disabled;
    } cases[] = {{"off", 0, 1}, {"0", 0, 1},  {"no", 0, 1},   {"false", 0, 1},
                 {"", 0, 0},    {"on", 0, 0}, {"auto", 0, 0}, {"of", GRIDDEP_ERROR_ENVIRONMENT, 0}};
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};

    setenv("GRIDDEP_PDL", cases[_i].value, 1);
    griddep_runtime *opened = NULL;
    ck_status(open_with(&options, &opened), cases[_i].status);
    if (opened)
        ck_assert_uint_eq(info_of(opened).pdl_disabled, cases[_i].disabled);
    griddep_runtime_close(opened);
}

static void remember(void *user, int32_t level, const char *message)
{
    snprintf(user, 512, "%d %s", (int)level, message);
}

TEST(opening, runtime_logs_to_the_caller)
{
    char last[512] = "";
    const griddep_runtime_options options = {.size = sizeof options,
                                             .store_directory = "",
                                             .log = remember,
                                             .log_user = last,
                                             .log_level = GRIDDEP_LOG_INFO};
    griddep_runtime *opened = NULL;

    ck_status(open_with(&options, &opened), GRIDDEP_OK);
    ck_assert_msg(strstr(last, "sm_90") != NULL, "%s", last);
    griddep_runtime_close(opened);
}

TEST(open, error_struct_is_checked)
{
    griddep_error small = {.size = 12};
    griddep_module *module = NULL;
    griddep_chain *chain = NULL;
    uint64_t address = 0;

    ck_assert_int_eq(griddep_runtime_get_info(runtime, NULL, &small), GRIDDEP_ERROR_STRUCT);
    ck_assert_int_eq(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &small),
                     GRIDDEP_ERROR_STRUCT);
    ck_assert_int_eq(griddep_chain_create(runtime, &chain, &small), GRIDDEP_ERROR_STRUCT);
    ck_assert_int_eq(griddep_memory_allocate(runtime, 4, &address, &small), GRIDDEP_ERROR_STRUCT);
}

/* ---- memory and streams ---- */

TEST(open, memory_copies_and_fills)
{
    uint64_t address = 0;
    uint32_t in[4] = {1, 2, 3, 4}, out[4] = {0};
    void *stream = NULL;

    ck_good(griddep_memory_allocate(runtime, sizeof in, &address, &error));
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_memory_write(runtime, address, in, sizeof in, stream, &error));
    ck_good(griddep_memory_fill(runtime, address, 0xff, 4, stream, &error));
    ck_good(griddep_memory_read(runtime, out, address, sizeof out, NULL, &error));
    ck_assert_uint_eq(out[0], UINT32_MAX);
    ck_assert_uint_eq(out[3], 4);
    ck_status(griddep_memory_allocate(runtime, 0, &address, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_memory_allocate(runtime, UINT64_C(1) << 60, &address, &error),
              GRIDDEP_ERROR_DEVICE_MEMORY);
    ck_status(griddep_memory_write(runtime, address, NULL, 4, NULL, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    ck_good(griddep_memory_free(runtime, address, &error));
    ck_good(griddep_memory_free(runtime, 0, &error));
}

TEST(open, events_measure)
{
    void *start = NULL, *end = NULL;
    double nanoseconds = -1;

    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &start, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &end, &error));
    ck_good(griddep_event_record(runtime, start, NULL, &error));
    ck_good(griddep_event_record(runtime, end, NULL, &error));
    ck_good(griddep_event_elapsed(runtime, start, end, &nanoseconds, &error));
    ck_assert(nanoseconds >= 0);
    ck_status(griddep_event_elapsed(runtime, NULL, end, &nanoseconds, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_event_destroy(runtime, start, &error));
    ck_good(griddep_event_destroy(runtime, end, &error));
}

/* ---- module ---- */

TEST(open, module_lists_its_kernels)
{
    griddep_module *module = load(runtime, ptx);
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel *kernel = NULL;
    griddep_kernel_info kernel_info = {.size = sizeof kernel_info};
    griddep_parameter_info parameter = {.size = sizeof parameter};

    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_uint_eq(info.kernel_count, 3);
    ck_assert_int_eq(info.image, GRIDDEP_IMAGE_PTX);
    ck_assert_ptr_nonnull(info.ptx);
    ck_good(griddep_module_get_kernel(module, 1, &kernel, &error));
    ck_good(griddep_kernel_get_info(kernel, &kernel_info, &error));
    ck_assert_str_eq(kernel_info.name, "plain");
    ck_assert_uint_eq(kernel_info.parameter_count, 2);
    ck_assert_uint_eq(kernel_info.parameter_bytes, 16);
    ck_good(griddep_kernel_get_parameter(kernel, 1, &parameter, &error));
    ck_assert_uint_eq(parameter.offset, 8);
    ck_assert_str_eq(parameter.name, "b");
    ck_assert_str_eq(parameter.type, "f64");
    ck_status(griddep_kernel_get_parameter(kernel, 2, &parameter, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_ptr_eq(kernel, kernel_of(module, "plain"));
    ck_status(griddep_module_get_kernel(module, 3, &kernel, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_refused(griddep_module_find_kernel(module, "ad", &kernel, &error), GRIDDEP_ERROR_NOT_FOUND,
               "it has add, plain, sometimes");
    ck_status(griddep_module_find_kernel(module, NULL, &kernel, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_module_unload(module);
}

/* Sixteen names are told, and how many more there are. */
TEST(open, module_tells_what_kernels_it_has)
{
    const griddep_module_options options = {.size = sizeof options, .name = "many"};

    for (int count = 0; count < 19; count++) {
        char text[4000] = ".version 8.0\n.target sm_90\n.address_size 64\n", expected[400];
        griddep_module *many = NULL;
        griddep_kernel *kernel = NULL;
        snprintf(expected, sizeof expected, "many has no kernel \"none\"");
        for (int i = 0; i < count; i++) {
            snprintf(text + strlen(text), 60, ".visible .entry k%d()\n{\nret;\n}\n", i);
            if (i < 16)
                snprintf(expected + strlen(expected), 30, "%sk%d", i ? ", " : "; it has ", i);
        }
        if (count > 16)
            snprintf(expected + strlen(expected), 30, " and %d more", count - 16);
        ck_good(griddep_module_load(runtime, text, strlen(text), &options, &many, &error));
        ck_status(griddep_module_find_kernel(many, "none", &kernel, &error),
                  GRIDDEP_ERROR_NOT_FOUND);
        ck_assert_str_eq(error.text, expected);
        griddep_module_unload(many);
    }
}

TEST(open, module_finds_variables)
{
    griddep_module *module = load(runtime, ptx);
    uint64_t address = 0, bytes = 0;

    ck_good(griddep_module_get_global(module, "table", &address, &bytes, &error));
    ck_assert_uint_eq(bytes, 64);
    ck_assert_uint_ne(address, 0);
    ck_status(griddep_module_get_global(module, "chair", &address, &bytes, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    griddep_module_unload(module);
}

TEST(open, module_reports_what_the_compiler_says)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               "// fake-jit-error: 6 Unknown symbol 'r9'\n"
                               ".visible .entry k()\n{ mov.u32 r9, 1; ret; }\n";
    const griddep_module_options options = {.size = sizeof options, .name = "k.ptx"};
    griddep_module *module = NULL;

    ck_status(griddep_module_load(runtime, text, sizeof text, &options, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_INVALID_PTX);
    ck_assert_int_eq(error.line, 6);
    ck_assert_str_eq(error.file, "k.ptx");
    ck_says("Unknown symbol 'r9'");
    ck_says("6 | { mov.u32 r9, 1; ret; }");
    ck_assert_ptr_null(module);
}

TEST(open, module_reports_syntax_with_a_column)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               "// fake-jit-error: 5 syntax error\n"
                               ".visible .entry k(.param .u32 a { ret; }\n";
    griddep_module *module = NULL;

    ck_status(griddep_module_load(runtime, text, sizeof text, NULL, &module, &error),
              GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(error.line, 5);
    ck_assert_int_gt(error.column, 0);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_INVALID_PTX);
    ck_says("^");
}

TEST(open, module_loads_what_only_the_driver_understands)
{
    static const char text[] = "/* fake-jit-text: .version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k(.param .u32 a)\n{ ret; }\n*/\n"
                               ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k(.param .u32 a)\n{ mov.u32 %r1, ((; ret; }\n";
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument argument = {.bytes = 4};
    griddep_module *module = load(runtime, text);
    griddep_kernel *kernel = kernel_of(module, "k");
    int32_t reason = -1;

    ck_good(griddep_launch(kernel, &config, &argument, 1, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_UNKNOWN_CODE);
    griddep_module_unload(module);
}

LOOP_TEST(open, module_refuses_what_is_no_code, 12)
{
    static const unsigned char elf[80] = {0x7f, 'E', 'L', 'F', 2, 1};
    static const unsigned char fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 255};
    static const unsigned char wrapper[16] = {0xb1, 0x43, 0x62, 0x46};
    static const unsigned char entry[40] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0,  24, 0, 0, 0, 0,
                                            0,    0,    0,    1,    0, 1, 1,  24, 0,  0, 0, 8};
    static const unsigned char no_end[40] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 24, 0,
                                             0,    0,    0,    0,    0, 0, 1,  0, 1,  1};
    static const unsigned char extended[80] = {[0] = 0x7f, 'E',        'L',       'F',      2,
                                               1,          [18] = 190, [40] = 64, [58] = 64};
    static const struct {
        const void *data;
        uint64_t bytes;
        const char *says;
    } cases[] = {
        {"", 0, "empty"},
        {"\0\0\0", 3, "empty"},
        {"hello", 5, "neither PTX"},
        {".version\0 8.0", 13, "neither PTX"},
        {elf, 20, "inside its header"},
        {elf, 80, "another kind of machine"},
        {fatbin, 16, "longer than the data"},
        {fatbin, 8, "inside its header"},
        {entry, 40, "an entry of this fatbin"},
        {no_end, 40, "an entry of this fatbin"},
        {extended, 80,
         "the section table of this file"}, /* e_shnum is 0, and the table tells how long it is */
        {wrapper, 16, "wrapper"}};
    griddep_module *module = NULL;

    ck_status(griddep_module_load(runtime, cases[_i].data, cases[_i].bytes, NULL, &module, &error),
              GRIDDEP_ERROR_IMAGE);
    ck_says(cases[_i].says);
}

TEST(open, module_refuses_bad_arguments)
{
    griddep_module *module = NULL;
    griddep_module_options options = {.size = sizeof options, .flags = 1u << 30};

    ck_status(griddep_module_load(NULL, ptx, sizeof ptx, NULL, &module, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_load(runtime, NULL, 5, NULL, &module, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_load(runtime, ptx, sizeof ptx, NULL, NULL, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_load(runtime, ptx, sizeof ptx, &options, &module, &error),
              GRIDDEP_ERROR_STRUCT);
    options = (griddep_module_options){.size = sizeof options, .optimization = 5};
    ck_status(griddep_module_load(runtime, ptx, sizeof ptx, &options, &module, &error),
              GRIDDEP_ERROR_ARGUMENT);
    options = (griddep_module_options){.size = sizeof options, .compile_option_count = 1};
    ck_status(griddep_module_load(runtime, ptx, sizeof ptx, &options, &module, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_refused(griddep_module_load_file(runtime, "/nonexistent.ptx", NULL, &module, &error),
               GRIDDEP_ERROR_FILE, "/nonexistent.ptx");
    ck_status(griddep_module_load_file(runtime, "/tmp", NULL, &module, &error), GRIDDEP_ERROR_FILE);
    ck_status(griddep_module_load_shelf(runtime, "no_such", NULL, &module, &error),
              GRIDDEP_ERROR_NOT_FOUND);
}

TEST(open, module_is_named_after_what_it_is)
{
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    char name[600] = "";

    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_str_eq(info.name, "PTX");
    info.size = 70000;
    ck_refused(griddep_module_get_info(module, &info, &error), GRIDDEP_ERROR_STRUCT, "cannot be");
    griddep_module_unload(module);
    /* A name that is cut to fit is cut between characters. */
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n// fake-jit-error: 5 no\n"
        ".visible .entry k()\n{ ret; }\n";
    for (int shift = 0; shift < 3; shift++) {
        memset(name, 'x', (size_t)shift);
        for (int i = 0; i < 150; i++)
            memcpy(name + shift + 3 * i, "\xe2\x82\xac", 4);
        const griddep_module_options options = {.size = sizeof options, .name = name};
        ck_status(griddep_module_load(runtime, text, sizeof text, &options, &module, &error),
                  GRIDDEP_ERROR_COMPILE);
        ck_assert_uint_eq((strlen(error.file) - (size_t)shift) % 3, 0);
        ck_assert_uint_gt(strlen(error.file), 250);
    }
}

TEST(open, module_passes_jit_options)
{
    const griddep_module_options options = {.size = sizeof options,
                                            .flags =
                                                GRIDDEP_MODULE_LINE_INFO | GRIDDEP_MODULE_VERBOSE,
                                            .optimization = GRIDDEP_OPTIMIZATION_NONE,
                                            .maximum_registers = 64};
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k()\n{ ret; }\n";
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};

    ck_good(griddep_module_load(runtime, text, sizeof text, &options, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_msg(strstr(info.log, "Used 16 registers") != NULL, "%s", info.log);
    griddep_module_unload(module);
}

/* What of the options reaches the driver: each legal extreme, and nothing that was not given. */
TEST(open, module_hands_its_options_to_the_driver)
{
    static const struct {
        int32_t optimization;
        uint32_t registers, flags;
        int64_t level, most, lines, debug; /* -1: not given */
    } cases[] = {
        {GRIDDEP_OPTIMIZATION_DEFAULT, 0, 0, -1, -1, -1, -1},
        {GRIDDEP_OPTIMIZATION_NONE, 0, 0, 0, -1, -1, -1},
        {1, 1, GRIDDEP_MODULE_LINE_INFO, 1, 1, 1, -1},
        {4, 255, GRIDDEP_MODULE_DEBUG, 4, 255, -1, 1},
        {4, UINT32_MAX, GRIDDEP_MODULE_LINE_INFO | GRIDDEP_MODULE_DEBUG, 4, UINT32_MAX, 1, 1}};
    static const int32_t names[] = {GD_CU_JIT_OPTIMIZATION_LEVEL, GD_CU_JIT_MAX_REGISTERS,
                                    GD_CU_JIT_GENERATE_LINE_INFO, GD_CU_JIT_GENERATE_DEBUG_INFO};
    griddep_module *module = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const griddep_module_options options = {.size = sizeof options,
                                                .flags = cases[i].flags,
                                                .optimization = cases[i].optimization,
                                                .maximum_registers = cases[i].registers};
        const int64_t expected[] = {cases[i].level, cases[i].most, cases[i].lines, cases[i].debug};
        ck_good(griddep_module_load(runtime, ptx, sizeof ptx, &options, &module, &error));
        griddep_module_unload(module);
        for (size_t k = 0; k < 4; k++) {
            uint64_t value = 0;
            int64_t given = fake_driver_jit_option(names[k], &value) ? (int64_t)value : -1;
            ck_assert_msg(given == expected[k], "case %zu, option %d: %lld", i, (int)names[k],
                          (long long)given);
        }
    }
    static const int32_t illegal[] = {-2, 5, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof illegal / sizeof *illegal; i++) {
        const griddep_module_options options = {.size = sizeof options, .optimization = illegal[i]};
        ck_refused(griddep_module_load(runtime, ptx, sizeof ptx, &options, &module, &error),
                   GRIDDEP_ERROR_ARGUMENT, "it may be -1 to 4");
    }
    const griddep_module_options unknown = {.size = sizeof unknown,
                                            .flags = 2 * GRIDDEP_MODULE_PCH};
    ck_status(griddep_module_load(runtime, ptx, sizeof ptx, &unknown, &module, &error),
              GRIDDEP_ERROR_STRUCT);
}

/* ---- CUDA C++ ---- */

/* 1 where NVRTC can be had; says so where it cannot. */
static int have_nvrtc(void)
{
    const gd_nvrtc *nvrtc = NULL;
    int32_t status = gd_runtime_get_nvrtc(runtime, &nvrtc, &error);

    if (status)
        printf("skipped a part: %s\n", error.text);
    return status == GRIDDEP_OK;
}

TEST(open, source_compiles_behind_the_prelude)
{
    static const char source[] = "extern \"C\" __global__ void scale(float *x, float by, int n)\n"
                                 "{\n"
                                 "    griddep_launch_dependents();\n"
                                 "    griddep_wait();\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n) x[i] *= by;\n"
                                 "}\n";
    griddep_module *module = NULL;
    griddep_kernel_info info = {.size = sizeof info};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument arguments[3] = {POINTER(4096), {.bytes = 4}, WORD(1)};
    int32_t reason = -1;

    if (!have_nvrtc())
        return;
    fake_driver_run_nothing();
    ck_good(griddep_module_compile(runtime, source, strlen(source), NULL, &module, &error));
    ck_good(griddep_kernel_get_info(kernel_of(module, "scale"), &info, &error));
    ck_assert_uint_eq(info.parameter_count, 3);
    ck_assert_uint_eq(info.traits, GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_WAITS |
                                       GRIDDEP_TRAIT_WAITS_ALWAYS | GRIDDEP_TRAIT_TRIGGERS);
    ck_good(griddep_launch(kernel_of(module, "scale"), &config, arguments, 3, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_SET);
    griddep_module_unload(module);
    /* The prelude says nothing of its own, used or not. */
    griddep_module_info module_info = {.size = sizeof module_info};
    static const char quiet[] = "extern \"C\" __global__ void k(int *x) { *x = 1; }\n";
    ck_good(griddep_module_compile(runtime, quiet, strlen(quiet), NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &module_info, &error));
    ck_assert_str_eq(module_info.log, "");
    griddep_module_unload(module);
}

/* Nothing in front of the source ends what can be precompiled. */
TEST(open, headers_are_precompiled)
{
    static const char source[] = "#include \"scale.h\"\n"
                                 "extern \"C\" __global__ void k(float *x) { griddep_wait(); "
                                 "*x *= SCALE; }\n";
    static const griddep_header headers[] = {
        {"scale.h", "#define SCALE 2\nstruct some { int a; };\n"}};
    static const char *const extra[] = {"--pch-verbose=true"};
    const griddep_module_options options = {.size = sizeof options,
                                            .flags = GRIDDEP_MODULE_PCH,
                                            .name = "k.cu",
                                            .headers = headers,
                                            .header_count = 1,
                                            .compile_options = extra,
                                            .compile_option_count = 1};
    griddep_module_info info = {.size = sizeof info};
    griddep_module *module = NULL;

    if (!have_nvrtc() || runtime->nvrtc->version < 12080)
        return;
    for (int i = 0; i < 2; i++) {
        ck_good(griddep_module_compile(runtime, source, strlen(source), &options, &module, &error));
        ck_good(griddep_module_get_info(module, &info, &error));
        ck_assert_msg(strstr(info.log, i ? "using precompiled" : "creating precompiled") != NULL,
                      "%s", info.log);
        griddep_module_unload(module);
    }
}

TEST(open, source_errors_have_their_line)
{
    static const char source[] =
        "extern \"C\" __global__ void k(float *x)\n{\n    x[0] = undeclared;\n}\n";
    static const char *const extra[] = {"--no-such-option"};
    griddep_module_options options = {.size = sizeof options, .name = "k.cu"};
    griddep_module *module = NULL;

    if (!have_nvrtc())
        return;
    ck_status(griddep_module_compile(runtime, source, strlen(source), &options, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.line, 3); /* the prelude does not count */
    ck_assert_str_eq(error.file, "k.cu");
    ck_says("undeclared");
    options.compile_options = extra;
    options.compile_option_count = 1;
    ck_refused(griddep_module_compile(runtime, source, strlen(source), &options, &module, &error),
               GRIDDEP_ERROR_COMPILE, "no-such-option");
    ck_status(griddep_module_compile(runtime, "a\0b", 3, NULL, &module, &error),
              GRIDDEP_ERROR_ARGUMENT);
}

TEST(open, source_on_an_older_chip_does_not_wait)
{
    static const char source[] =
        "extern \"C\" __global__ void k() { griddep_wait(); griddep_launch_dependents(); }\n";
    griddep_module *module = NULL;
    griddep_kernel_info info = {.size = sizeof info};

    if (!have_nvrtc())
        return;
    fake_driver_set_capability(80);
    griddep_runtime *older = open_stored("");
    ck_good(griddep_module_compile(older, source, strlen(source), NULL, &module, &error));
    ck_good(griddep_kernel_get_info(kernel_of(module, NULL), &info, &error));
    ck_assert_uint_eq(info.traits, GRIDDEP_TRAIT_KNOWN);
    griddep_module_unload(module);
    griddep_runtime_close(older);
}

/* Where the device could wait, a kernel that does not is no surprise. */
TEST(open, source_for_an_older_chip_must_not_wait)
{
    static const char *const calls[] = {"griddep_wait();", "griddep_launch_dependents();", ""};
    static const char *const target[] = {"--gpu-architecture=compute_80"};
    const griddep_module_options options = {.size = sizeof options,
                                            .name = "k.cu",
                                            .compile_options = target,
                                            .compile_option_count = 1};
    griddep_module *module = NULL;
    char source[128];

    if (!have_nvrtc())
        return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(source, sizeof source, "extern \"C\" __global__ void k() { %s }\n", calls[i]);
        ck_status(
            griddep_module_compile(runtime, source, strlen(source), &options, &module, &error),
            *calls[i] ? GRIDDEP_ERROR_COMPILE : GRIDDEP_OK);
        if (*calls[i])
            ck_says("() needs --gpu-architecture=compute_90 or later");
        else
            griddep_module_unload(module);
    }
}

TEST(open, nvrtc_that_is_missing_is_named)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .store_directory = "", .nvrtc = "/nonexistent/libnvrtc.so"};
    griddep_runtime *opened = NULL;
    griddep_module *module = NULL;

    ck_status(open_with(&options, &opened), GRIDDEP_OK);
    ck_refused(griddep_module_compile(opened, "int x;", 6, NULL, &module, &error),
               GRIDDEP_ERROR_NO_NVRTC, "/nonexistent/libnvrtc.so");
    griddep_module_unload(load(opened, ptx)); /* PTX does not need it */
    griddep_runtime_close(opened);
}

TEST(open, shelf_variant_follows_the_device)
{
    griddep_runtime *older = NULL;
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};

    ck_good(griddep_module_load_shelf(runtime, "vector_add", NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_str_eq(info.name, "elementwise/vector_add.ptx");
    griddep_module_unload(module);
    fake_driver_set_capability(80);
    ck_status(open_with(&options, &older), GRIDDEP_OK);
    ck_good(griddep_module_load_shelf(older, "vector_add", NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_str_eq(info.name, "elementwise/vector_add.sm_80.ptx");
    griddep_module_unload(module);
    ck_refused(griddep_module_load_shelf(older, "matvec_bf16", NULL, &module, &error),
               GRIDDEP_ERROR_UNSUPPORTED, "sm_90");
    griddep_runtime_close(older);
}

/* sm_90a is no target for newer devices, which get another text of the same kernel. */
TEST(open, shelf_variant_of_one_capability)
{
    griddep_runtime *newer = NULL;
    griddep_module *module = NULL;
    griddep_shelf_info info = {.size = sizeof info};
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};

    ck_good(griddep_shelf_find("gemm_bf16", 90, &info, &error));
    ck_assert_str_eq(info.file, "linear/gemm_bf16.ptx");
    ck_assert_ptr_nonnull(strstr(info.text, "\n.target sm_90a\n"));
    ck_good(griddep_shelf_find("gemm_bf16", 120, &info, &error));
    ck_assert_str_eq(info.file, "linear/gemm_bf16.sm_90.ptx");
    ck_assert_ptr_nonnull(strstr(info.text, "\n.target sm_90\n"));
    ck_refused(griddep_shelf_find("gemm_bf16", 80, &info, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "kernel gemm_bf16 needs sm_90 or newer; the device is sm_80");
    fake_driver_set_capability(100);
    ck_status(open_with(&options, &newer), GRIDDEP_OK);
    ck_good(griddep_module_load_shelf(newer, "gemm_bf16", NULL, &module, &error));
    griddep_module_unload(module);
    griddep_runtime_close(newer);
}

TEST(open, shelf_is_whole)
{
    griddep_shelf_info info = {.size = sizeof info};
    uint32_t count = 0;

    for (; !griddep_shelf_get(count, &info, NULL); count++) {
        char purpose[512];
        uint64_t bytes = 0;
        griddep_ptx *parsed = NULL;
        griddep_ptx_entry_info entry = {.size = sizeof entry};
        ck_assert_uint_eq(strlen(info.text), info.bytes);
        ck_good(griddep_ptx_parse(info.text, info.bytes, info.file, &parsed, &error));
        ck_good(griddep_ptx_get_entry(parsed, 0, &entry, &error));
        ck_assert_str_eq(entry.name, info.name);
        if (info.capability >= 90)
            ck_assert_msg(entry.traits & GRIDDEP_TRAIT_WAITS_ALWAYS, "%s does not always wait",
                          info.file);
        else
            ck_assert_msg(!(entry.traits & (GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_TRIGGERS)), "%s",
                          info.file);
        ck_good(griddep_shelf_field(info.text, info.bytes, "purpose", purpose, sizeof purpose,
                                    &bytes, &error));
        ck_assert_uint_gt(bytes, 10);
        ck_good(griddep_shelf_field(info.text, info.bytes, "parameters", NULL, 0, &bytes, &error));
        ck_status(griddep_shelf_field(info.text, info.bytes, "weather", NULL, 0, &bytes, &error),
                  GRIDDEP_ERROR_NOT_FOUND);
        griddep_ptx_destroy(parsed);
    }
    ck_assert_uint_ge(count, 8);
}

TEST(open, cubin_loads_by_itself)
{
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel_info kernel = {.size = sizeof kernel};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument argument = {.bytes = 4};
    int32_t reason = -1;
    size_t length = 0;
    char *cubin = fake_driver_make_cubin(ptx, &length);

    ck_good(griddep_module_load(runtime, cubin, length, NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_int_eq(info.image, GRIDDEP_IMAGE_CUBIN);
    ck_assert_ptr_null(info.ptx);
    ck_assert_uint_eq(info.kernel_count, 3);
    griddep_kernel *sometimes = kernel_of(module, "sometimes");
    ck_good(griddep_kernel_get_info(sometimes, &kernel, &error));
    ck_assert_uint_eq(kernel.traits, 0);
    ck_assert_uint_eq(kernel.parameter_count, 1); /* the driver tells */
    ck_good(griddep_launch(sometimes, &config, &argument, 1, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_UNKNOWN_CODE);
    griddep_module_unload(module);
    ck_status(griddep_module_load(runtime, cubin, 40, NULL, &module, &error), GRIDDEP_ERROR_IMAGE);
    /* For another chip. */
    fake_driver_set_capability(80);
    griddep_runtime *older = open_stored("");
    ck_refused(griddep_module_load(older, cubin, length, NULL, &module, &error),
               GRIDDEP_ERROR_IMAGE, "sm_80");
    griddep_runtime_close(older);
    free(cubin);
}

TEST(opening, old_driver_launches_cubins_packed_only)
{
    griddep_module *module = NULL;
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const uint32_t value = 5;
    const griddep_argument argument = WORD(5);
    size_t bytes = 0;
    char *cubin = fake_driver_make_cubin(ptx, &bytes);

    fake_driver_set_version(12000);
    griddep_runtime *older = open_stored("");
    ck_good(griddep_module_load(older, cubin, bytes, NULL, &module, &error));
    griddep_kernel *kernel = kernel_of(module, "sometimes"); /* cannot be listed, but found */
    ck_status(griddep_launch(kernel, &config, &argument, 1, NULL, &error),
              GRIDDEP_ERROR_UNSUPPORTED);
    ck_good(griddep_launch_packed(kernel, &config, &value, 4, NULL, &error));
    griddep_module_unload(module);
    griddep_runtime_close(older);
    free(cubin);
}

/* ---- launch ---- */

static const griddep_argument add_arguments[4] = {POINTER(256), POINTER(512), POINTER(768),
                                                  WORD(77)};

TEST(open, launch_hands_over_shape_and_arguments)
{
    griddep_module *module = load(runtime, ptx);
    griddep_kernel *add = kernel_of(module, "add");
    void *stream = NULL;
    uint64_t out = 768;
    griddep_argument arguments[4];
    fake_launch launch;
    int32_t reason = -1;

    memcpy(arguments, add_arguments, sizeof arguments);
    arguments[2] = (griddep_argument){.bytes = 8, .data = &out};
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    const griddep_launch_config config = {.size = sizeof config,
                                          .grid = {7, 0, 3},
                                          .block = {32, 2},
                                          .shared_bytes = 100,
                                          .stream = stream};
    ck_good(griddep_launch(add, &config, arguments, 4, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_SET);
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_str_eq(launch.kernel, "add");
    ck_assert_uint_eq(launch.config.gridDimX, 7);
    ck_assert_uint_eq(launch.config.gridDimY, 1);
    ck_assert_uint_eq(launch.config.gridDimZ, 3);
    ck_assert_uint_eq(launch.config.blockDimY, 2);
    ck_assert_uint_eq(launch.config.sharedMemBytes, 100);
    ck_assert_ptr_eq(launch.config.hStream, stream);
    ck_assert_int_eq(launch.programmatic, 1);
    ck_assert_uint_eq(launch.parameter_bytes, 28);
    const uint64_t expected[3] = {256, 512, 768};
    const uint32_t count = 77;
    ck_assert_mem_eq(launch.parameters, expected, 24);
    ck_assert_mem_eq(launch.parameters + 24, &count, 4);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    griddep_module_unload(module);
}

LOOP_TEST(opening, launch_decides_about_overlap, 10)
{
    static const struct {
        const char *kernel;
        int32_t pdl, reason;
        int capability;
        const char *kill;
    } cases[] = {
        {"add", GRIDDEP_PDL_DEFAULT, GRIDDEP_REASON_SET, 90, NULL},
        {"add", GRIDDEP_PDL_AUTO, GRIDDEP_REASON_SET, 90, NULL},
        {"add", GRIDDEP_PDL_AUTO, GRIDDEP_REASON_SET, 100, NULL},
        {"add", GRIDDEP_PDL_OFF, GRIDDEP_REASON_OFF, 90, NULL},
        {"add", GRIDDEP_PDL_FORCE, GRIDDEP_REASON_FORCED, 90, NULL},
        {"add", GRIDDEP_PDL_FORCE, GRIDDEP_REASON_KILL_SWITCH, 90, "off"},
        {"add", GRIDDEP_PDL_AUTO, GRIDDEP_REASON_KILL_SWITCH, 90, "off"},
        {"plain", GRIDDEP_PDL_AUTO, GRIDDEP_REASON_NO_WAIT, 90, NULL},
        {"plain", GRIDDEP_PDL_FORCE, GRIDDEP_REASON_FORCED, 90, NULL},
        {"sometimes", GRIDDEP_PDL_AUTO, GRIDDEP_REASON_WAIT_NOT_ALWAYS, 90, NULL},
    };
    static const griddep_argument plain_arguments[2] = {{.bytes = 4}, {.bytes = 8}};
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .pdl = cases[_i].pdl};
    const griddep_argument *arguments =
        cases[_i].kernel[0] == 'a' ? add_arguments : plain_arguments;
    const uint32_t count = cases[_i].kernel[0] == 'a' ? 4 : cases[_i].kernel[0] == 'p' ? 2 : 1;
    fake_launch launch;
    int32_t reason = -1;

    if (cases[_i].kill)
        setenv("GRIDDEP_PDL", cases[_i].kill, 1);
    fake_driver_set_capability(cases[_i].capability);
    griddep_runtime *opened = open_stored("");
    griddep_module *module = load(opened, ptx);
    ck_good(griddep_launch(kernel_of(module, cases[_i].kernel), &config, arguments, count, &reason,
                           &error));
    ck_assert_msg(reason == cases[_i].reason, "%s", griddep_text(GRIDDEP_TEXT_REASON, reason));
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_int_eq(launch.programmatic, reason <= GRIDDEP_REASON_FORCED);
    griddep_module_unload(module);
    griddep_runtime_close(opened);
}

LOOP_TEST(opening, runtime_says_what_launches_do, 6)
{
    static const struct {
        int32_t runtime, launch, reason;
    } cases[] = {{GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_DEFAULT, GRIDDEP_REASON_SET},
                 {GRIDDEP_PDL_OFF, GRIDDEP_PDL_DEFAULT, GRIDDEP_REASON_OFF},
                 {GRIDDEP_PDL_FORCE, GRIDDEP_PDL_DEFAULT, GRIDDEP_REASON_FORCED},
                 {GRIDDEP_PDL_OFF, GRIDDEP_PDL_AUTO, GRIDDEP_REASON_OFF},
                 {GRIDDEP_PDL_OFF, GRIDDEP_PDL_FORCE, GRIDDEP_REASON_OFF},
                 {GRIDDEP_PDL_FORCE, GRIDDEP_PDL_OFF, GRIDDEP_REASON_OFF}};
    const griddep_runtime_options options = {
        .size = sizeof options, .store_directory = "", .pdl = cases[_i].runtime};
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .pdl = cases[_i].launch};
    griddep_runtime *opened = NULL;
    int32_t reason = -1;

    ck_status(open_with(&options, &opened), GRIDDEP_OK);
    griddep_module *module = load(opened, ptx);
    ck_good(griddep_launch(kernel_of(module, "add"), &config, add_arguments, 4, &reason, &error));
    ck_assert_int_eq(reason, cases[_i].reason);
    griddep_module_unload(module);
    griddep_runtime_close(opened);
}

TEST(opening, launch_on_an_older_chip_is_serial)
{
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .pdl = GRIDDEP_PDL_FORCE};
    const griddep_argument apart[] = {POINTER(4096), POINTER(8192), POINTER(12288), WORD(1000)};
    griddep_module *module = NULL;
    int32_t reason = -1;

    fake_driver_set_capability(80);
    fake_driver_run_nothing();
    griddep_runtime *older = open_stored("");
    ck_good(griddep_module_load_shelf(older, "vector_add", NULL, &module, &error));
    ck_good(griddep_launch(kernel_of(module, NULL), &config, apart, 4, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_DEVICE);
    const griddep_launch_config clustered = {
        .size = sizeof config, .grid = {2}, .block = {32}, .cluster = {2}};
    ck_status(griddep_launch(kernel_of(module, NULL), &clustered, apart, 4, &reason, &error),
              GRIDDEP_ERROR_UNSUPPORTED);
    griddep_module_unload(module);
    griddep_runtime_close(older);
}

LOOP_TEST(open, launch_checks_the_shape, 37)
{
    static const struct {
        griddep_launch_config config;
        int32_t status;
        const char *says;
    } cases[] = {
        {{.grid = {0}, .block = {32}}, GRIDDEP_ERROR_LIMIT, "grid of 0"},
        {{.grid = {1}, .block = {0}}, GRIDDEP_ERROR_LIMIT, "block of 0"},
        {{.grid = {0x80000000u}, .block = {32}}, GRIDDEP_ERROR_LIMIT, "grid of 2147483648"},
        {{.grid = {1, 65536}, .block = {32}}, GRIDDEP_ERROR_LIMIT, "65536"},
        {{.grid = {1}, .block = {1, 1, 65}}, GRIDDEP_ERROR_LIMIT, "block of 1 x 1 x 65"},
        {{.grid = {1}, .block = {1024, 2}}, GRIDDEP_ERROR_LIMIT, "2048 threads"},
        {{.grid = {1}, .block = {32}, .shared_bytes = 227 * 1024 + 1},
         GRIDDEP_ERROR_LIMIT,
         "dynamic shared memory"},
        {{.grid = {1}, .block = {32}, .flags = 1}, GRIDDEP_ERROR_STRUCT, "flags"},
        {{.grid = {1}, .block = {32}, .pdl = 4}, GRIDDEP_ERROR_ARGUMENT, "pdl is 4"},
        {{.grid = {3}, .block = {32}, .cluster = {2}}, GRIDDEP_ERROR_LIMIT, "no multiple"},
        {{.grid = {17}, .block = {32}, .cluster = {17}}, GRIDDEP_ERROR_LIMIT, "17 blocks"},
        {{.grid = {2}, .block = {32}, .cluster = {0, 2}}, GRIDDEP_ERROR_LIMIT, "cluster"},
        {{.grid = {1}, .block = {32}, .attribute_count = 1},
         GRIDDEP_ERROR_ARGUMENT,
         "1 attributes"},
        {{.grid = {1}, .block = {32}, .attribute_count = 33},
         GRIDDEP_ERROR_ARGUMENT,
         "33 attributes"},
        /* each limit of an H200 by itself: just beyond it, and at it */
        {{.grid = {1, 1, 65536}, .block = {32}}, GRIDDEP_ERROR_LIMIT, "65536"},
        {{.grid = {0x7fffffff}, .block = {32}}, GRIDDEP_OK, NULL},
        {{.grid = {1, 65535}, .block = {32}}, GRIDDEP_OK, NULL},
        {{.grid = {1, 1, 65535}, .block = {32}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {1025}}, GRIDDEP_ERROR_LIMIT, "block of 1025"},
        {{.grid = {1}, .block = {1, 1025}}, GRIDDEP_ERROR_LIMIT, "block of 1 x 1025"},
        {{.grid = {1}, .block = {1024}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {1, 1024}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {1, 1, 64}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {32, 32, 2}}, GRIDDEP_ERROR_LIMIT, "2048 threads"},
        {{.grid = {1}, .block = {32, 32, 1}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {17, 1, 64}}, GRIDDEP_ERROR_LIMIT, "1088 threads"},
        {{.grid = {1}, .block = {16, 1, 64}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {1, 17, 64}}, GRIDDEP_ERROR_LIMIT, "1088 threads"},
        {{.grid = {1}, .block = {1, 16, 64}}, GRIDDEP_OK, NULL},
        {{.grid = {1}, .block = {32}, .shared_bytes = 227 * 1024}, GRIDDEP_OK, NULL},
        {{.grid = {8}, .block = {32}, .cluster = {8}}, GRIDDEP_OK, NULL},
        {{.grid = {9}, .block = {32}, .cluster = {9}}, GRIDDEP_OK, NULL},
        {{.grid = {16}, .block = {32}, .cluster = {16}}, GRIDDEP_OK, NULL},
        {{.grid = {2, 2, 4}, .block = {32}, .cluster = {2, 2, 4}}, GRIDDEP_OK, NULL},
        {{.grid = {4, 4, 2}, .block = {32}, .cluster = {4, 4, 2}},
         GRIDDEP_ERROR_LIMIT,
         "32 blocks"},
        {{.grid = {2, 3}, .block = {32}, .cluster = {2, 2}}, GRIDDEP_ERROR_LIMIT, "no multiple"},
        {{.grid = {2, 2, 3}, .block = {32}, .cluster = {2, 2, 2}},
         GRIDDEP_ERROR_LIMIT,
         "no multiple"},
    };
    griddep_launch_config config = cases[_i].config;
    griddep_module *module = load(runtime, ptx);
    uint64_t before = fake_driver_launches();

    config.size = sizeof config;
    ck_status(griddep_launch(kernel_of(module, "add"), &config, add_arguments, 4, NULL, &error),
              cases[_i].status);
    if (cases[_i].says)
        ck_says(cases[_i].says);
    ck_assert_uint_eq(fake_driver_launches(), before + !cases[_i].says);
    griddep_module_unload(module);
}

TEST(open, launch_checks_the_required_block)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() "
                               ".reqntid 64, 2\n{ ret; }\n";
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {64}};
    griddep_module *module = load(runtime, text);

    ck_refused(griddep_launch(kernel_of(module, "k"), &config, NULL, 0, NULL, &error),
               GRIDDEP_ERROR_LIMIT, ".reqntid asks for a block of 64 x 2 x 1");
    config.block[1] = 2;
    ck_good(griddep_launch(kernel_of(module, "k"), &config, NULL, 0, NULL, &error));
    griddep_module_unload(module);
}

TEST(open, launch_checks_the_arguments)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    griddep_module *module = load(runtime, ptx);
    griddep_kernel *add = kernel_of(module, "add");
    griddep_argument arguments[4];

    memcpy(arguments, add_arguments, sizeof arguments);
    ck_refused(griddep_launch(add, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_SIGNATURE,
               "takes 4 arguments, 3 are given");
    arguments[3].bytes = 8;
    ck_refused(griddep_launch(add, &config, arguments, 4, NULL, &error), GRIDDEP_ERROR_SIGNATURE,
               "argument 3 (count) has 8 bytes, the parameter has 4");
    arguments[3].bytes = 4;
    arguments[0].reserved = 1;
    ck_status(griddep_launch(add, &config, arguments, 4, NULL, &error), GRIDDEP_ERROR_STRUCT);
    ck_status(griddep_launch(add, &config, NULL, 4, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_launch(add, NULL, add_arguments, 4, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_launch(NULL, &config, add_arguments, 4, NULL, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_assert_uint_eq(fake_driver_launches(), 0);
    griddep_module_unload(module);
}

TEST(open, launch_takes_packed_arguments)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const struct {
        uint64_t x, y, out;
        uint32_t count, padding;
    } packed = {256, 512, 768, 77, 0};
    griddep_module *module = load(runtime, ptx);
    griddep_kernel *add = kernel_of(module, "add");
    fake_launch launch;

    ck_good(griddep_launch_packed(add, &config, &packed, 28, NULL, &error));
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_mem_eq(launch.parameters, &packed, 28);
    ck_good(griddep_launch_packed(add, &config, &packed, sizeof packed, NULL, &error));
    ck_refused(griddep_launch_packed(add, &config, &packed, 24, NULL, &error),
               GRIDDEP_ERROR_SIGNATURE, "takes 28 bytes");
    ck_status(griddep_launch_packed(add, &config, NULL, 28, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_module_unload(module);
}

TEST(open, launch_takes_many_and_large_arguments)
{
    char text[16384] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param "
                       ".align 16 .b8 big[64]";
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    unsigned char big[64];
    griddep_argument arguments[101] = {{.bytes = 64, .data = big}};
    fake_launch launch;

    memset(big, 0x5a, sizeof big);
    for (int i = 1; i <= 100; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), ", .param .u32 p%d", i);
        arguments[i] = (griddep_argument)WORD((uint64_t)i);
    }
    strcat(text, ")\n{ ret; }\n");
    griddep_module *module = load(runtime, text);
    ck_good(griddep_launch(kernel_of(module, "k"), &config, arguments, 101, NULL, &error));
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_uint_eq(launch.parameter_bytes, 464);
    ck_assert_mem_eq(launch.parameters, big, 64);
    ck_assert_uint_eq(((const uint32_t *)(const void *)launch.parameters)[115], 100);
    arguments[0].data = NULL;
    ck_refused(griddep_launch(kernel_of(module, "k"), &config, arguments, 101, NULL, &error),
               GRIDDEP_ERROR_SIGNATURE, "data is NULL");
    griddep_module_unload(module);
}

TEST(open, launch_passes_attributes_through)
{
    const griddep_attribute attributes[2] = {
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {UINT32_MAX - 2}},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, .value = {1}}};
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {4},
                                    .block = {32},
                                    .cluster = {2},
                                    .attribute_count = 2,
                                    .attributes = attributes};
    griddep_module *module = load(runtime, ptx);
    griddep_kernel *add = kernel_of(module, "add");
    fake_launch launch;

    ck_good(griddep_launch(add, &config, add_arguments, 4, NULL, &error));
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_uint_eq(launch.config.numAttrs, 4);
    ck_assert_int_eq((int)launch.config.attrs[0].id,
                     GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    ck_assert_int_eq((int)launch.config.attrs[1].id, GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    ck_assert_uint_eq(launch.config.attrs[1].value.clusterDim.x, 2);
    ck_assert_uint_eq(launch.config.attrs[1].value.clusterDim.z, 1);
    ck_assert_int_eq((int)launch.config.attrs[2].id, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY);
    ck_assert_int_eq(launch.config.attrs[2].value.priority, -3);
    const griddep_attribute six = {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value = {1}};
    config.attributes = &six;
    config.attribute_count = 1;
    ck_refused(griddep_launch(add, &config, add_arguments, 4, NULL, &error), GRIDDEP_ERROR_ARGUMENT,
               "attribute 6");
    const griddep_attribute cluster = {.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value = {1}};
    config.attributes = &cluster;
    ck_refused(griddep_launch(add, &config, add_arguments, 4, NULL, &error), GRIDDEP_ERROR_ARGUMENT,
               "twice");
    const griddep_attribute reserved = {.id = GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, .reserved = 1};
    config.attributes = &reserved;
    ck_status(griddep_launch(add, &config, add_arguments, 4, NULL, &error), GRIDDEP_ERROR_STRUCT);
    griddep_module_unload(module);
}

TEST(open, launch_opts_in_to_shared_memory_once)
{
    griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .shared_bytes = 48 * 1024};
    griddep_module *module = load(runtime, ptx);
    griddep_kernel *add = kernel_of(module, "add");

    ck_good(griddep_launch(add, &config, add_arguments, 4, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuFuncSetAttribute"), 0);
    for (int i = 1; i <= 3; i++) {
        config.shared_bytes = 48u * 1024 + (uint32_t)i * 4096;
        ck_good(griddep_launch(add, &config, add_arguments, 4, NULL, &error));
    }
    ck_assert_uint_eq(fake_driver_calls("cuFuncSetAttribute"), 1);
    griddep_module_unload(module);
}

TEST(open, launch_names_a_foreign_stream)
{
    gd_CUcontext other = fake_driver_create_context(0);
    const griddep_runtime_options options = {
        .size = sizeof options, .context = other, .store_directory = ""};
    griddep_runtime *elsewhere = NULL;
    griddep_module *module = load(runtime, ptx);
    griddep_kernel *add = kernel_of(module, "add");
    griddep_chain *chain = NULL;
    void *stream = NULL;

    ck_status(open_with(&options, &elsewhere), GRIDDEP_OK);
    ck_good(griddep_stream_create(elsewhere, NULL, &stream, &error));
    griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .stream = stream};
    ck_refused(griddep_launch(add, &config, add_arguments, 4, NULL, &error), GRIDDEP_ERROR_STREAM,
               "another context");
    ck_assert_int_ne(error.driver_code, 0);
    config.stream = NULL;
    ck_good(griddep_chain_create(runtime, &chain, &error));
    ck_good(griddep_chain_add(chain, add, &config, add_arguments, 4, &error));
    ck_status(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, stream, &error), GRIDDEP_ERROR_STREAM);
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, NULL, &error)); /* still usable */
    griddep_chain_destroy(chain);
    ck_good(griddep_stream_destroy(elsewhere, stream, &error));
    config.stream = stream; /* destroyed */
    ck_status(griddep_launch(add, &config, add_arguments, 4, NULL, &error), GRIDDEP_ERROR_STREAM);
    void *event = NULL;
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &event, &error));
    ck_status(griddep_event_record(runtime, event, stream, &error), GRIDDEP_ERROR_STREAM);
    ck_good(griddep_event_destroy(runtime, event, &error));
    ck_status(griddep_stream_synchronize(runtime, stream, &error), GRIDDEP_ERROR_STREAM);
    ck_status(griddep_stream_destroy(runtime, stream, &error), GRIDDEP_ERROR_STREAM);
    ck_status(griddep_memory_fill(runtime, 0, 0, 4, stream, &error), GRIDDEP_ERROR_STREAM);
    griddep_runtime_close(elsewhere);
    griddep_module_unload(module);
    fake_driver_destroy_context(other);
}

TEST(open, fault_is_reported_as_such)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    griddep_module *module = load(runtime, faulting_ptx);

    ck_good(griddep_launch(kernel_of(module, "add"), &config, add_arguments, 4, NULL, &error));
    ck_refused(griddep_stream_synchronize(runtime, NULL, &error), GRIDDEP_ERROR_FAULT,
               "CUDA_ERROR_ILLEGAL_ADDRESS");
    ck_status(griddep_launch(kernel_of(module, "add"), &config, add_arguments, 4, NULL, &error),
              GRIDDEP_ERROR_FAULT);
    griddep_module_unload(module);
}

/* ---- chain ---- */

typedef struct adding {
    griddep_module *module;
    griddep_chain *chain;
    uint64_t x, y;
} adding;

/* y = x + y, three times. */
static adding make_adding(griddep_runtime *on)
{
    adding made = {0};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const float ones[4] = {1, 1, 1, 1};

    made.module = load(on, adding_ptx);
    ck_good(griddep_memory_allocate(on, sizeof ones, &made.x, &error));
    ck_good(griddep_memory_allocate(on, sizeof ones, &made.y, &error));
    ck_good(griddep_memory_write(on, made.x, ones, sizeof ones, NULL, &error));
    ck_good(griddep_chain_create(on, &made.chain, &error));
    griddep_argument arguments[4] = {POINTER(made.x), POINTER(made.y), POINTER(made.y), WORD(4)};
    for (int i = 0; i < 3; i++)
        ck_good(griddep_chain_add(made.chain, kernel_of(made.module, "add"), &config, arguments, 4,
                                  &error));
    memset(arguments, 0, sizeof arguments); /* they were copied */
    return made;
}

static void end_adding(griddep_runtime *on, adding *made)
{
    griddep_chain_destroy(made->chain);
    griddep_module_unload(made->module);
    ck_good(griddep_memory_free(on, made->x, &error));
    ck_good(griddep_memory_free(on, made->y, &error));
}

LOOP_TEST(open, chain_runs_in_each_mode, GRIDDEP_MODE_COUNT)
{
    adding made = make_adding(runtime);
    const int32_t mode = _i;
    const bool is_graph = mode >= GRIDDEP_MODE_GRAPH;
    float y[4];

    for (unsigned run = 0; run < 2; run++) {
        uint64_t before = fake_driver_launches();
        ck_good(griddep_memory_fill(runtime, made.y, 0, sizeof y, NULL, &error));
        ck_good(griddep_chain_run(made.chain, mode, NULL, &error));
        ck_good(griddep_memory_read(runtime, y, made.y, sizeof y, NULL, &error));
        for (int i = 0; i < 4; i++)
            ck_assert_float_eq(y[i], 3.0f);
        ck_assert_uint_eq(fake_driver_launches(), before + (is_graph ? 0 : 3));
        for (uint64_t i = before; i < fake_driver_launches(); i++) {
            fake_launch launch;
            ck_assert_int_eq(fake_driver_launch(i, &launch), 1);
            ck_assert_int_eq(launch.captured, 0);
            ck_assert_int_eq(launch.programmatic, i > before && mode == GRIDDEP_MODE_PDL);
        }
        ck_assert_uint_eq(fake_driver_calls("cuGraphLaunch"), is_graph ? run + 1 : 0);
    }
    ck_assert_uint_eq(fake_driver_programmatic_edges(), mode == GRIDDEP_MODE_GRAPH_PDL ? 2 : 0);
    ck_assert_uint_eq(fake_driver_calls("cuGraphInstantiateWithFlags"), is_graph ? 1 : 0);
    end_adding(runtime, &made);
}

LOOP_TEST(open, chain_tells_each_hop, GRIDDEP_MODE_COUNT)
{
    static const int32_t reasons[GRIDDEP_MODE_COUNT][3] = {
        {GRIDDEP_REASON_OFF, GRIDDEP_REASON_OFF, GRIDDEP_REASON_OFF},
        {GRIDDEP_REASON_FIRST, GRIDDEP_REASON_SET, GRIDDEP_REASON_SET},
        {GRIDDEP_REASON_OFF, GRIDDEP_REASON_OFF, GRIDDEP_REASON_OFF},
        {GRIDDEP_REASON_FIRST, GRIDDEP_REASON_SET, GRIDDEP_REASON_SET},
    };
    static const int32_t edges[GRIDDEP_MODE_COUNT][3] = {
        {-1, -1, -1}, {-1, -1, -1}, {-1, 0, 0}, {-1, 1, 1}};
    adding made = make_adding(runtime);

    ck_assert_uint_eq(griddep_chain_length(made.chain), 3);
    for (uint32_t i = 0; i < 3; i++) {
        griddep_hop_info hop = {.size = sizeof hop};
        ck_good(griddep_chain_get_hop(made.chain, _i, i, &hop, &error));
        ck_assert_str_eq(hop.kernel, "add");
        ck_assert_int_eq(hop.reason, reasons[_i][i]);
        ck_assert_int_eq(hop.edge, edges[_i][i]);
    }
    griddep_hop_info hop = {.size = sizeof hop};
    ck_good(griddep_chain_get_hop(made.chain, _i, 3, &hop, &error));
    ck_assert_int_eq(hop.reason, reasons[_i][2]); /* of the next round */
    ck_assert_int_eq(hop.edge, edges[_i][2]);
    ck_status(griddep_chain_get_hop(made.chain, _i, 4, &hop, &error), GRIDDEP_ERROR_NOT_FOUND);
    end_adding(runtime, &made);
}

TEST(open, chain_grows_after_a_run)
{
    adding made = make_adding(runtime);
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument arguments[4] = {POINTER(made.x), POINTER(made.y), POINTER(made.y),
                                           WORD(4)};
    float y[4];

    ck_good(griddep_chain_run(made.chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_chain_add(made.chain, kernel_of(made.module, "add"), &config, arguments, 4,
                              &error));
    ck_good(griddep_memory_fill(runtime, made.y, 0, sizeof y, NULL, &error));
    ck_good(griddep_chain_run(made.chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_memory_read(runtime, y, made.y, sizeof y, NULL, &error));
    ck_assert_float_eq(y[0], 4.0f);
    end_adding(runtime, &made);
}

TEST(open, chain_refuses_what_does_not_fit)
{
    griddep_runtime *other = open_stored("");
    griddep_module *module = load(runtime, ptx), *foreign = load(other, ptx);
    griddep_chain *chain = NULL;
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    void *stream = NULL;
    int32_t mode = -7;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_GRAPH, NULL, &error)); /* nothing to do */
    ck_refused(
        griddep_chain_add(chain, kernel_of(foreign, "add"), &config, add_arguments, 4, &error),
        GRIDDEP_ERROR_ARGUMENT, "another runtime");
    ck_status(griddep_chain_add(chain, kernel_of(module, "add"), &config, add_arguments, 3, &error),
              GRIDDEP_ERROR_SIGNATURE);
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    config.stream = stream;
    ck_refused(
        griddep_chain_add(chain, kernel_of(module, "add"), &config, add_arguments, 4, &error),
        GRIDDEP_ERROR_ARGUMENT, "no stream of its own");
    ck_assert_uint_eq(griddep_chain_length(chain), 0);
    ck_status(griddep_chain_run(chain, 4, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_run(chain, -1, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_run(NULL, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_mode_find("graph-pdl", &mode, NULL), GRIDDEP_OK);
    ck_assert_int_eq(mode, GRIDDEP_MODE_GRAPH_PDL);
    ck_assert_int_eq(griddep_mode_find("Graph", &mode, NULL), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_ptr_null(griddep_text(GRIDDEP_TEXT_MODE, 4));
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    griddep_chain_destroy(chain);
    griddep_module_unload(foreign);
    griddep_module_unload(module);
    griddep_runtime_close(other);
}

TEST(open, objects_end_in_any_order)
{
    griddep_runtime *mine = open_stored("");
    adding made = make_adding(mine);
    uint64_t x = made.x, y = made.y;

    ck_good(griddep_chain_run(made.chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_memory_free(mine, x, &error));
    ck_good(griddep_memory_free(mine, y, &error));
    griddep_runtime_close(mine);
    griddep_module_unload(made.module);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    ck_good(griddep_chain_prepare(made.chain, GRIDDEP_MODE_GRAPH, &error));
    griddep_chain_destroy(made.chain);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 1);
}

static void *launch_often(void *argument)
{
    griddep_module *module = argument;
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .shared_bytes = 100000};
    griddep_kernel *kernel = NULL;

    for (int i = 0; i < 200; i++) {
        if (griddep_module_find_kernel(module, i & 1 ? "add" : "plain", &kernel, NULL))
            return module;
        if (i & 1 && griddep_launch(kernel, &config, add_arguments, 4, NULL, NULL))
            return module;
    }
    return NULL;
}

TEST(open, threads_share_a_module)
{
    griddep_module *module = load(runtime, ptx);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, launch_often, module), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(fake_driver_launches(), 400);
    griddep_module_unload(module);
}

/* ---- everything that can fail ---- */

/* What went wrong first is told. */
static void and_then(int32_t *status, int32_t later)
{
    if (!*status)
        *status = later;
}

/* The whole life of a chain, giving up at the first failure as a caller would. Returns the first
 * status. */
static int32_t whole_life(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {2}, .block = {64}, .shared_bytes = 100000};
    griddep_runtime *opened = NULL;
    griddep_module *module = NULL;
    griddep_kernel *add = NULL;
    griddep_chain *chain = NULL;
    uint64_t memory = 0;
    void *stream = NULL;
    float values[4] = {0};
    int32_t status = open_with(&options, &opened);

    if (!status)
        status = griddep_stream_create(opened, NULL, &stream, &error);
    if (!status)
        status = griddep_memory_allocate(opened, sizeof values, &memory, &error);
    if (!status)
        status = griddep_memory_write(opened, memory, values, sizeof values, stream, &error);
    if (!status)
        status = griddep_module_load(opened, ptx, sizeof ptx, NULL, &module, &error);
    if (!status)
        status = griddep_module_find_kernel(module, "add", &add, &error);
    if (!status)
        status = griddep_launch(add, &config, add_arguments, 4, NULL, &error);
    if (!status)
        status = griddep_chain_create(opened, &chain, &error);
    for (int i = 0; i < 3 && !status; i++)
        status = griddep_chain_add(chain, add, &config, add_arguments, 4, &error);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && !status; mode++)
        status = griddep_chain_run(chain, mode, stream, &error);
    if (!status)
        status = griddep_stream_synchronize(opened, stream, &error);
    if (memory)
        and_then(&status, griddep_memory_free(opened, memory, status ? NULL : &error));
    if (stream)
        and_then(&status, griddep_stream_destroy(opened, stream, status ? NULL : &error));
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    griddep_runtime_close(opened);
    return status;
}

/* Fails the nth driver call of a whole life, for every n. What fails is reported with the driver's
 * code, and nothing is left. */
TEST(failing, every_driver_call_may_fail)
{
    int failures = 0;

    for (uint64_t n = 1;; n++) {
        fake_driver_reset();
        griddep_error_init(&error);
        fake_driver_fail(NULL, n, GD_CUDA_ERROR_UNKNOWN);
        int32_t status = whole_life();
        fake_call call;
        ck_assert_int_eq(fake_driver_call(n - 1, &call), fake_driver_calls(NULL) >= n);
        if (fake_driver_calls(NULL) < n)
            break;
        /* A context that cannot be made current again leaves nothing that could be given back in
         * it. */
        if (strcmp(call.symbol, "cuCtxPushCurrent"))
            assert_nothing_left();
        if (status) {
            failures++;
            ck_assert_int_eq(error.status, status);
            ck_assert_msg(error.text[0], "call %s failed without a text", call.symbol);
            ck_assert_msg(error.driver_code == GD_CUDA_ERROR_UNKNOWN || error.driver_code == 0,
                          "%s: %d", call.symbol, (int)error.driver_code);
        } else {
            ck_assert_msg(may_fail_quietly(n - 1), "%s failed and nobody said so", call.symbol);
        }
    }
    ck_assert_int_gt(failures, 40);
}

/* Fails the nth allocation of a whole life, for every n. */
TEST(failing, every_allocation_may_fail)
{
    long failures = 0;

    for (long n = 0; n < 100000; n++) {
        fake_driver_reset();
        griddep_error_init(&error);
        fail_alloc_after(n);
        int32_t status = whole_life();
        int hit = fail_alloc_hit();
        fail_alloc_after(-1);
        assert_nothing_left();
        if (!hit)
            break;
        ck_assert_msg(status == GRIDDEP_ERROR_MEMORY, "allocation %ld: %s: %s", n,
                      griddep_status_name(status), error.text);
        failures++;
    }
    ck_assert_int_gt(failures, 20);
}

MAIN_OF_SUITE("run")
