/* What captures of several streams hold, and how long: the lanes of a chain that was run into one.
 * Captures of one stream are tried on the fake driver (tests/unit/test_lifetime.c). */
#include <check.h>

#include "emulator/api.h"
#include "emulator/schedule/object.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry step()\n{\n"
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n    ret;\n}\n";

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_chain *chain;
static void *stream;

#define ck_good(call) ck_assert_msg((call) == GRIDDEP_OK, "%s: %s", #call, error.text)
#define ck_driver(call) ck_assert_int_eq(call, GD_CUDA_SUCCESS)

/* A chain with three lanes, and a stream that is captured. */
static void setup(void)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_CUcontext context;
    gd_driver *driver = NULL;
    static const uint32_t lanes[] = {0, 1, 2, 1};
    griddep_kernel *step = NULL;

    griddep_error_init(&error);
    ck_driver(cuInit(0));
    ck_driver(cuDevicePrimaryCtxRetain(&context, 0));
    ck_driver(cuCtxSetCurrent(context));
    ck_good(gd_driver_create(cuGetProcAddress_v2, "emulated", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx - 1, NULL, &module, &error));
    ck_good(griddep_module_find_kernel(module, "step", &step, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        griddep_launch_config placed = config;
        placed.lane = lanes[i];
        ck_good(griddep_chain_add(chain, step, &placed, NULL, 0, &error));
    }
    ck_good(griddep_chain_depend(chain, 3, 0, &error));
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_driver(cuStreamBeginCapture_v2(stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static uint32_t count_objects(gd_object_kind kind)
{
    uint32_t place = 0, count = 0;

    for (const gd_object *object; (object = gd_object_next(&place));)
        count += object->kind == kind;
    return count;
}

/* The default streams are the context's. */
static void end_all(uint32_t default_streams)
{
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    ck_assert_uint_eq(count_objects(GD_OBJECT_STREAM), default_streams);
    ck_assert_uint_eq(count_objects(GD_OBJECT_EVENT), 0);
    ck_assert_uint_eq(count_objects(GD_OBJECT_MODULE), 0);
}

TEST_GROUP(capture, setup, NULL);

/* The chain ends while the capture has its lanes. Before, it is prepared for a run, or run outside
 * of the capture, which changes nothing. */
LOOP_TEST(capture, a_capture_has_its_lanes, 3)
{
    gd_CUgraph graph = NULL;
    void *other = NULL;
    size_t nodes = 0;

    ck_good(griddep_stream_create(runtime, NULL, &other, &error));
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, stream, &error));
    if (_i == 1)
        ck_good(griddep_chain_prepare(chain, GRIDDEP_MODE_PDL, &error));
    if (_i == 2)
        ck_good(griddep_chain_run(chain, GRIDDEP_MODE_PDL, other, &error));
    griddep_chain_destroy(chain);
    ck_driver(cuStreamEndCapture(stream, &graph));
    ck_driver(cuGraphGetNodes(graph, NULL, &nodes));
    ck_assert_uint_eq(nodes, 4);
    ck_driver(cuGraphDestroy(graph));
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    ck_good(griddep_stream_destroy(runtime, other, &error));
    end_all(0);
}

/* The program ends the stream that it captures. Nobody can end the capture then, and it never lets
 * go of the lanes: they are ended with the chain all the same, and before when it is run once
 * more. */
LOOP_TEST(capture, a_spoilt_capture_has_no_lanes, 2)
{
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, stream, &error));
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    if (_i) {
        ck_good(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, NULL, &error));
        ck_good(griddep_stream_synchronize(runtime, NULL, &error));
        ck_assert_uint_eq(count_objects(GD_OBJECT_STREAM), 3); /* two lanes, and the default one */
    }
    griddep_chain_destroy(chain);
    end_all(_i ? 1 : 0);
}

/* The graph of a capture is ended while it runs, and then all
 * else: nothing is left of it, and a capture of the program's own goes on. */
TEST(capture, a_graph_that_runs_leaves_nothing)
{
    griddep_graph *graph = NULL;
    gd_CUstream own = NULL;
    gd_CUgraph captured = NULL;

    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, stream, &error));
    ck_good(griddep_graph_capture_end(runtime, stream, &graph, &error));
    ck_good(griddep_graph_launch(graph, stream, &error));
    ck_driver(cuStreamCreate(&own, GD_CU_STREAM_NON_BLOCKING));
    ck_driver(cuStreamBeginCapture_v2(own, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    griddep_graph_destroy(graph);
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    ck_driver(cuStreamEndCapture(own, &captured));
    ck_driver(cuGraphDestroy(captured));
    ck_driver(cuStreamDestroy_v2(own));
    ck_driver(cuStreamDestroy_v2(stream));
    ck_driver(cuCtxSynchronize());
    ck_assert_uint_eq(count_objects(GD_OBJECT_EXECUTABLE), 0);
    ck_assert_uint_eq(count_objects(GD_OBJECT_MODULE), 0);
}

MAIN_OF_SUITE("capture")
