/* What is held how long, on the scripted fake driver: modules by captures, parts of graphs; and
 * what a failed call leaves behind. Captures of several streams are tried on the emulated driver
 * (tests/emulator/test_capture.c). */
#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/graph/graph.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/status.h"

#define KERNEL(name, body) ".visible .entry " name "(.param .u64 out)\n{\n" body "    ret;\n}\n"
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n" KERNEL(
    "step", "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n")
    KERNEL("quiet", "");

static const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
static const griddep_argument argument = {.bytes = 8, .value = 4096};

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_kernel *step;
static void *stream;

static griddep_runtime *open_on(gd_get_proc_address get)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    griddep_runtime *opened = NULL;
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(get, "test", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &opened, &error));
    return opened;
}

static void load(void)
{
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    ck_good(griddep_module_find_kernel(module, "step", &step, &error));
}

static void open_all(void)
{
    runtime = open_on(fake_driver_get_proc_address);
    load();
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
}

static void setup(void)
{
    fake_driver_reset();
    griddep_error_init(&error);
    open_all();
}

static void nothing_is_left(void)
{
    char left[256];

    ck_assert_msg(!fake_driver_leaks(left, sizeof left), "%s", left);
}

static void launch(void)
{
    griddep_launch_config in_stream = config;

    in_stream.stream = stream;
    ck_good(griddep_launch(step, &in_stream, &argument, 1, NULL, &error));
}

/* Ends what is there but the runtime. */
static void end_stream(void)
{
    ck_good(griddep_stream_destroy(runtime, stream, &error));
}

/* ---- captures ---- */

TEST_GROUP(lifetime, setup, NULL);

/* The program ends the module while the capture is open; the graph has the kernel all the same. */
TEST(lifetime, a_capture_holds_modules)
{
    griddep_graph *graph = NULL;
    griddep_graph_node_info node = {.size = sizeof node};

    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    launch();
    launch();
    griddep_module_unload(module);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    ck_good(griddep_graph_capture_end(runtime, stream, &graph, &error));
    ck_good(griddep_graph_get_node(graph, 1, &node, &error));
    ck_assert_str_eq(node.name, "step");
    ck_assert(node.traits & GRIDDEP_TRAIT_WAITS_ALWAYS);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuUserObjectCreate"), 1); /* one for both launches */
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    griddep_graph_destroy(graph); /* its launch holds the module until that is over */
    ck_good(griddep_stream_synchronize(runtime, NULL, &error));
    end_stream();
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 1);
    griddep_runtime_close(runtime);
    nothing_is_left();
}

/* A graph that the program captures and keeps by itself holds the module as well: it is unloaded by
 * the first call after the graph and its executables have gone. */
TEST(lifetime, a_foreign_capture_holds_modules)
{
    const gd_driver *driver = runtime->driver;
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    griddep_chain *chain = NULL;
    bool pushed;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    ck_good(griddep_chain_add(chain, step, &config, &argument, 1, &error));
    ck_good(gd_runtime_enter(runtime, &pushed, &error));
    ck_assert_int_eq(driver->cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED),
                     GD_CUDA_SUCCESS);
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_PDL, stream, &error));
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    ck_assert_int_eq(driver->cuStreamEndCapture(stream, &graph), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphInstantiateWithFlags(&executable, graph, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphDestroy(graph), GD_CUDA_SUCCESS);
    ck_good(griddep_stream_synchronize(runtime, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    ck_assert_int_eq(driver->cuGraphLaunch(executable, NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphExecDestroy(executable), GD_CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) /* the launch is over; the next call unloads */
        ck_good(griddep_stream_synchronize(runtime, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 1);
    gd_runtime_leave(runtime, pushed);
    end_stream();
    griddep_runtime_close(runtime);
    nothing_is_left();
}

/* When the last graph goes after all handles, the driver is asked for nothing, and nothing of the
 * host's is lost. */
TEST(lifetime, a_capture_outlives_the_runtime)
{
    const gd_driver *driver = runtime->driver;
    gd_CUresult (*destroy)(gd_CUgraph) = driver->cuGraphDestroy;
    gd_CUgraph graph = NULL;
    bool pushed;

    ck_good(gd_runtime_enter(runtime, &pushed, &error));
    ck_assert_int_eq(driver->cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED),
                     GD_CUDA_SUCCESS);
    launch();
    ck_assert_int_eq(driver->cuStreamEndCapture(stream, &graph), GD_CUDA_SUCCESS);
    gd_runtime_leave(runtime, pushed);
    end_stream();
    griddep_runtime_close(runtime);
    griddep_module_unload(module);
    ck_assert_uint_eq(fake_driver_calls("cuDevicePrimaryCtxRelease"), 0);
    uint64_t calls = fake_driver_calls(NULL);
    ck_assert_int_eq(destroy(graph), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(fake_driver_calls(NULL), calls + 1);
}

/* Without user objects, or where they cannot be made, the code stays until the runtime ends. */
LOOP_TEST(lifetime, code_stays_without_user_objects, 4)
{
    static const char *const missing[] = {"cuUserObjectCreate", "cuGraphRetainUserObject"};
    griddep_graph *graph = NULL;

    griddep_module_unload(module);
    end_stream();
    griddep_runtime_close(runtime);
    fake_driver_reset();
    if (_i % 2)
        fake_driver_hide(missing[_i / 2]);
    open_all();
    if (_i % 2 == 0)
        fake_driver_fail(missing[_i / 2], 1, GD_CUDA_ERROR_OUT_OF_MEMORY);
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    launch();
    griddep_module_unload(module);
    ck_good(griddep_graph_capture_end(runtime, stream, &graph, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error));
    griddep_graph_destroy(graph);
    end_stream();
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    griddep_runtime_close(runtime);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 1);
    nothing_is_left();
}

/* A capture that forbids unsafe calls in all threads goes on when the library ends something. */
TEST(lifetime, ends_do_not_spoil_captures)
{
    const gd_driver *driver = runtime->driver;
    gd_CUstreamCaptureStatus status = GD_CU_STREAM_CAPTURE_STATUS_NONE;
    gd_CUgraph graph = NULL;
    uint64_t memory = 0;
    bool pushed;

    ck_good(griddep_memory_allocate(runtime, 64, &memory, &error));
    ck_good(gd_runtime_enter(runtime, &pushed, &error));
    ck_assert_int_eq(driver->cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL),
                     GD_CUDA_SUCCESS);
    griddep_module_unload(module);
    ck_good(griddep_memory_free(runtime, memory, &error));
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 1);
    ck_assert_int_eq(driver->cuStreamIsCapturing(stream, &status), GD_CUDA_SUCCESS);
    ck_assert_int_eq(status, GD_CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_status(griddep_memory_allocate(runtime, 64, &memory, &error),
              GRIDDEP_ERROR_STREAM); /* the mode is as it was */
    driver->cuStreamEndCapture(stream, &graph);
    gd_runtime_leave(runtime, pushed);
    end_stream();
    griddep_runtime_close(runtime);
    nothing_is_left();
}

/* ---- chains with lanes ---- */

static griddep_chain *make_lanes(void)
{
    static const uint32_t lanes[] = {0, 1, 2, 1};
    griddep_launch_config placed = config;
    griddep_chain *chain = NULL;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        placed.lane = lanes[i];
        ck_good(griddep_chain_add(chain, step, &placed, &argument, 1, &error));
    }
    ck_good(griddep_chain_depend(chain, 3, 0, &error));
    return chain;
}

/* Whatever call of a run fails, each lane that was made to wait for the caller's stream is joined
 * to it again. */
LOOP_TEST(lifetime, a_failed_run_joins_its_lanes, 6)
{
    static const struct {
        const char *symbol;
        uint64_t nth, joins;
    } cases[] = {{"cuEventRecord", 1, 0},     {"cuStreamWaitEvent", 1, 0},
                 {"cuStreamWaitEvent", 2, 1}, {"cuLaunchKernelEx", 1, 2},
                 {"cuLaunchKernelEx", 3, 2},  {"cuLaunchKernelEx", 4, 2}};
    griddep_chain *chain = make_lanes();
    uint64_t joins = 0;
    fake_call call;

    ck_good(griddep_chain_prepare(chain, GRIDDEP_MODE_PDL, &error));
    uint64_t before = fake_driver_calls(NULL);
    fake_driver_fail(cases[_i].symbol, cases[_i].nth, GD_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    ck_assert_int_ne(griddep_chain_run(chain, GRIDDEP_MODE_PDL, stream, &error), GRIDDEP_OK);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    for (uint64_t i = before; fake_driver_call(i, &call); i++)
        joins += !strcmp(call.symbol, "cuStreamWaitEvent") &&
                 call.arguments[0] == (uint64_t)(uintptr_t)stream;
    ck_assert_uint_eq(joins, cases[_i].joins);
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    end_stream();
    griddep_runtime_close(runtime);
    nothing_is_left();
}

/* ---- graphs ---- */

/* Kernels of graphs in an adopted graph are held: the driver does not tell them, so all that is
 * loaded is. */
TEST(lifetime, inner_graphs_of_adopted_ones_hold_modules)
{
    griddep_graph *child = NULL, *adopted = NULL;
    gd_CUgraph outer = NULL;
    gd_CUgraphNode inner;
    gd_CUcontext popped;
    gd_CUresult (*add_child)(gd_CUgraphNode *, gd_CUgraph, const gd_CUgraphNode *, size_t,
                             gd_CUgraph);
    void *library = dlopen(getenv("EMULATED_DRIVER"), RTLD_NOW);
    void *found = library ? dlsym(library, "cuGraphAddChildGraphNode") : NULL;
    uint32_t node = 0;

    ck_assert_ptr_nonnull(found);
    memcpy(&add_child, &found, sizeof found);

    ck_good(griddep_graph_create(runtime, &child, &error));
    ck_good(griddep_graph_add_kernel(child, step, &config, &argument, 1, &node, &error));
    ck_good(griddep_graph_instantiate(child, &error));
    ck_assert_int_eq(runtime->driver->cuCtxPushCurrent(runtime->context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(runtime->driver->cuGraphCreate(&outer, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(add_child(&inner, outer, NULL, 0, child->handle), GD_CUDA_SUCCESS);
    ck_assert_int_eq(runtime->driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    ck_good(griddep_graph_adopt(runtime, outer, GRIDDEP_GRAPH_OWN, &adopted, &error));
    griddep_module_unload(module);
    griddep_graph_destroy(child);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 0);
    griddep_graph_destroy(adopted);
    ck_assert_uint_eq(fake_driver_calls("cuModuleUnload"), 1);
    end_stream();
    griddep_runtime_close(runtime);
    nothing_is_left();
    dlclose(library);
}

/* ---- parameters ---- */

/* Parameters that the driver knows and the PTX does not are the driver's; the PTX's keep their
 * names. */
TEST(lifetime, more_parameters_to_the_driver)
{
    static const char text[] =
        "// fake-more-parameters: 2\n.version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 .ptr out)\n{\n    ret;\n}\n";
    const griddep_argument arguments[3] = {argument, {.bytes = 4}, {.bytes = 4}};
    griddep_kernel_info info = {.size = sizeof info};
    griddep_parameter_info first = {.size = sizeof first}, last = {.size = sizeof last};
    griddep_module *loaded = NULL;
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_load(runtime, text, sizeof text, NULL, &loaded, &error));
    ck_good(griddep_module_find_kernel(loaded, "k", &kernel, &error));
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_assert_uint_eq(info.parameter_count, 3);
    ck_assert_uint_eq(info.parameter_bytes, 16);
    ck_good(griddep_kernel_get_parameter(kernel, 0, &first, &error));
    ck_good(griddep_kernel_get_parameter(kernel, 2, &last, &error));
    ck_assert_str_eq(first.name, "out");
    ck_assert_uint_eq(first.is_pointer, 1);
    ck_assert_ptr_null(last.name);
    ck_assert_uint_eq(last.offset, 12);
    ck_status(griddep_launch(kernel, &config, arguments, 1, NULL, &error), GRIDDEP_ERROR_SIGNATURE);
    ck_good(griddep_launch(kernel, &config, arguments, 3, NULL, &error));
    griddep_module_unload(loaded);
    griddep_module_unload(module);
    end_stream();
    griddep_runtime_close(runtime);
    nothing_is_left();
}

MAIN_OF_SUITE("lifetime")
