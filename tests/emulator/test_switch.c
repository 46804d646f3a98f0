/* Off means the same everywhere: each way to launch against each switch that is off, and what the
 * driver was given. A table of driver calls stands between the library and the driver, and counts
 * whatever could let something start early: attributes 6, 7 and 12 of launches, and edges from
 * another port than a node's end. EMULATED_DRIVER names the driver, or GRIDDEP_TEST_DRIVER another
 * one ("nvidia": libcuda.so.1). The matrix is printed. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conditional.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"

/* out = in + 1. It triggers at its start, and waits before it reads. */
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry step(.param .u64 in, .param .u64 out)\n{\n"
    "    .reg .b64 %a, %b;\n    .reg .b32 %v;\n"
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n"
    "    ld.param.u64 %a, [in];\n    ld.param.u64 %b, [out];\n"
    "    ld.global.u32 %v, [%a];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%b], %v;\n"
    "    ret;\n}\n";

enum {
    WORDS = 8,
    STEPS = 3,
    AWAY = WORDS - 2
}; /* word AWAY + 1 is for a launch that nothing orders */

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_kernel *step;
static gd_driver real; /* the driver's own entry points */
static uint64_t memory;
static void *streams[2], *events[2]; /* events without timing */
static unsigned early;               /* what was seen */

static void need(int32_t status)
{
    ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
}

#define good(call) ck_assert_int_eq(real.call, GD_CUDA_SUCCESS)

/* ---- between library and driver ---- */

static gd_CUresult watch_launch(const gd_CUlaunchConfig *config, gd_CUfunction function,
                                void **parameters, void **extra)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const gd_CUlaunchAttribute *attribute = &config->attrs[i];
        early += attribute->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                 attribute->id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ||
                 (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                  attribute->value.programmaticStreamSerializationAllowed);
    }
    return real.cuLaunchKernelEx(config, function, parameters, extra);
}

static bool is_early(const gd_CUgraphEdgeData *data)
{
    return data->from_port || data->type;
}

static gd_CUresult watch_edges(gd_CUgraph graph, const gd_CUgraphNode *from,
                               const gd_CUgraphNode *to, const gd_CUgraphEdgeData *data,
                               size_t count)
{
    for (size_t i = 0; data && i < count; i++)
        early += is_early(&data[i]);
    return real.cuGraphAddDependencies(graph, from, to, data, count);
}

/* The graphs in it too. */
static void look_at(gd_CUgraph graph)
{
    enum { MOST = 64 };
    gd_CUgraphNode from[MOST], to[MOST], nodes[MOST];
    gd_CUgraphEdgeData data[MOST];
    size_t count = MOST;

    good(cuGraphGetEdges(graph, from, to, data, &count));
    ck_assert_uint_lt(count, MOST);
    for (size_t i = 0; i < count; i++)
        early += is_early(&data[i]);
    count = MOST;
    good(cuGraphGetNodes(graph, nodes, &count));
    ck_assert_uint_lt(count, MOST);
    for (size_t i = 0; i < count; i++) {
        gd_CUgraphNodeType type;
        gd_CUgraph inner;
        good(cuGraphNodeGetType(nodes[i], &type));
        if (type != GRIDDEP_GRAPH_NODE_CHILD)
            continue;
        good(cuGraphChildGraphNodeGetGraph(nodes[i], &inner));
        look_at(inner);
    }
}

static gd_CUresult watch_instantiation(gd_CUgraphExec *executable, gd_CUgraph graph,
                                       unsigned long long flags)
{
    look_at(graph);
    return real.cuGraphInstantiateWithFlags(executable, graph, flags);
}

/* ---- switches ---- */

static const struct switch_off {
    const char *name, *environment;
    int32_t runtime, launch; /* GRIDDEP_PDL_* */
    bool mode;               /* the chain's mode says off, and not the launches */
} switches[] = {
    {"none", NULL, GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_DEFAULT, false},
    {"GRIDDEP_PDL", "off", GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_DEFAULT, false},
    {"with force", "off", GRIDDEP_PDL_FORCE, GRIDDEP_PDL_FORCE, false},
    {"runtime", NULL, GRIDDEP_PDL_OFF, GRIDDEP_PDL_DEFAULT, false},
    {"with force", NULL, GRIDDEP_PDL_OFF, GRIDDEP_PDL_FORCE, false},
    {"launch", NULL, GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_OFF, false},
    {"with force", NULL, GRIDDEP_PDL_FORCE, GRIDDEP_PDL_OFF, false},
    {"mode", NULL, GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_DEFAULT, true},
    {"with force", NULL, GRIDDEP_PDL_FORCE, GRIDDEP_PDL_FORCE, true},
};
enum {
    SWITCHES = sizeof switches / sizeof switches[0],
    SWITCHED_RUNTIMES = 5 /* none, and those whose switch is the runtime's */
};

static const struct switch_off *now;

static void open_runtime(void)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .store_directory = "", .pdl = now->runtime};
    const char *path = getenv("GRIDDEP_TEST_DRIVER");
    gd_driver *driver = NULL;
    uint32_t zeros[WORDS] = {0};

    if (!path)
        path = getenv("EMULATED_DRIVER");
    ck_assert_ptr_nonnull(path);
    if (now->environment)
        setenv("GRIDDEP_PDL", now->environment, 1);
    else
        unsetenv("GRIDDEP_PDL");
    need(gd_driver_open(strcmp(path, "nvidia") ? path : "libcuda.so.1", &driver, &error));
    real = *driver;
    driver->cuLaunchKernelEx = watch_launch;
    driver->cuGraphAddDependencies = watch_edges;
    driver->cuGraphInstantiateWithFlags = watch_instantiation;
    need(gd_runtime_open_on(driver, &options, &runtime, &error));
    need(griddep_module_load(runtime, ptx, sizeof ptx - 1, NULL, &module, &error));
    need(griddep_module_find_kernel(module, "step", &step, &error));
    need(griddep_memory_allocate(runtime, sizeof zeros, &memory, &error));
    need(griddep_memory_write(runtime, memory, zeros, sizeof zeros, NULL, &error));
    for (int i = 0; i < 2; i++) {
        need(griddep_stream_create(runtime, NULL, &streams[i], &error));
        need(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &events[i], &error));
    }
    early = 0;
}

static void close_runtime(void)
{
    for (int i = 0; i < 2; i++) {
        need(griddep_stream_destroy(runtime, streams[i], &error));
        need(griddep_event_destroy(runtime, events[i], &error));
    }
    need(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
}

/* The steps have run one behind the other, and the launch beside them too where there was one. */
static void check_result(bool beside)
{
    uint32_t words[WORDS];

    need(griddep_memory_read(runtime, words, memory, sizeof words, streams[0], &error));
    ck_assert_uint_eq(words[STEPS], STEPS);
    ck_assert_uint_eq(words[AWAY + 1], beside);
}

/* ---- launches ---- */

static griddep_launch_config config_of(void *stream)
{
    return (griddep_launch_config){.size = sizeof(griddep_launch_config),
                                   .grid = {1},
                                   .block = {1},
                                   .pdl = now->launch,
                                   .stream = stream};
}

static griddep_argument word(int index)
{
    return (griddep_argument){.bytes = 8, .value = memory + 4 * (uint64_t)index};
}

static void launch(void *stream, int in, int out, const griddep_attribute *attribute)
{
    const griddep_argument arguments[2] = {word(in), word(out)};
    griddep_launch_config config = config_of(stream);

    config.attributes = attribute;
    config.attribute_count = attribute ? 1 : 0;
    need(griddep_launch(step, &config, arguments, 2, NULL, &error));
}

static void launch_steps(void *stream)
{
    for (int i = 0; i < STEPS; i++)
        launch(stream, i, i + 1, NULL);
}

static griddep_attribute recording(int32_t id)
{
    griddep_attribute attribute = {0};

    ck_assert_int_eq(id == GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT
                         ? griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                                 (const int64_t[]){(intptr_t)events[0], 0}, 2, NULL)
                         : griddep_attribute_set(&attribute,
                                                 GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                                 (const int64_t[]){(intptr_t)events[0]}, 1, NULL),
                     GRIDDEP_OK);
    return attribute;
}

/* A launch that records an event, and one in the other stream that waits for it; the streams join
 * again. */
static void launch_steps_and_event(int32_t id)
{
    const griddep_attribute attribute = recording(id);

    launch(streams[0], 0, 1, &attribute);
    need(griddep_stream_wait_event(runtime, streams[1], events[0], &error));
    launch(streams[1], AWAY, AWAY + 1, NULL);
    need(griddep_event_record(runtime, events[1], streams[1], &error));
    need(griddep_stream_wait_event(runtime, streams[0], events[1], &error));
    launch(streams[0], 1, 2, NULL);
    launch(streams[0], 2, 3, NULL);
}

/* ---- ways to launch ---- */

static void in_stream(void)
{
    launch_steps(streams[0]);
}

static void packed(void)
{
    const griddep_launch_config config = config_of(streams[0]);

    for (uint64_t i = 0; i < STEPS; i++) {
        const uint64_t arguments[2] = {memory + 4 * i, memory + 4 * (i + 1)};
        need(griddep_launch_packed(step, &config, arguments, sizeof arguments, NULL, &error));
    }
}

static void trigger_event(void)
{
    launch_steps_and_event(GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT);
}

static void begin_event(void)
{
    launch_steps_and_event(GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
}

/* With two lanes the second step is in the other one. */
static griddep_chain *make_chain(bool lanes, const griddep_attribute *attribute)
{
    griddep_chain *chain = NULL;
    griddep_launch_config config = config_of(NULL);

    config.attributes = attribute;
    config.attribute_count = attribute ? 1 : 0;
    need(griddep_chain_create(runtime, &chain, &error));
    for (int i = 0; i < STEPS; i++) {
        const griddep_argument arguments[2] = {word(i), word(i + 1)};
        config.lane = lanes && i == 1;
        need(griddep_chain_add(chain, step, &config, arguments, 2, &error));
        config.attribute_count = 0;
        if (i && lanes)
            need(griddep_chain_depend(chain, (uint32_t)i, (uint32_t)i - 1, &error));
    }
    return chain;
}

static int32_t mode_of(bool graph)
{
    if (now->mode)
        return graph ? GRIDDEP_MODE_GRAPH : GRIDDEP_MODE_SERIAL;
    return graph ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
}

static void run_chain(bool graph, bool lanes, const griddep_attribute *attribute)
{
    griddep_chain *chain = make_chain(lanes, attribute);

    need(griddep_chain_run(chain, mode_of(graph), streams[0], &error));
    need(griddep_stream_synchronize(runtime, streams[0], &error));
    griddep_chain_destroy(chain);
}

static void chain_in_stream(void)
{
    run_chain(false, false, NULL);
}

static void chain_in_lanes(void)
{
    run_chain(false, true, NULL);
}

static void chain_in_graph(void)
{
    run_chain(true, false, NULL);
}

static void chain_of_lanes_in_graph(void)
{
    run_chain(true, true, NULL);
}

static void chain_with_event(bool graph, bool lanes)
{
    const griddep_attribute attribute = recording(GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT);

    run_chain(graph, lanes, &attribute);
    need(griddep_stream_wait_event(runtime, streams[1], events[0], &error)); /* it was recorded */
}

static void chain_with_event_in_stream(void)
{
    chain_with_event(false, false);
}

static void chain_with_event_in_graph(void)
{
    chain_with_event(true, false);
    chain_with_event(true, true);
}

static void run_graph(griddep_graph *graph)
{
    need(griddep_graph_launch(graph, streams[0], &error));
    need(griddep_stream_synchronize(runtime, streams[0], &error));
    griddep_graph_destroy(graph);
}

static void upgrade(griddep_graph *graph)
{
    uint32_t count = 99;

    early = 0; /* what there is before counts elsewhere */
    need(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count > 0, now == switches);
}

static void graph_of_chain(void)
{
    griddep_chain *chain = make_chain(false, NULL);
    griddep_graph *graph = NULL;

    need(griddep_graph_from_chain(chain, mode_of(true), &graph, &error));
    griddep_chain_destroy(chain);
    run_graph(graph);
}

static griddep_graph *make_graph(int32_t port, int32_t type)
{
    const griddep_launch_config config = config_of(NULL);
    griddep_graph *graph = NULL;
    uint32_t node;

    need(griddep_graph_create(runtime, &graph, &error));
    for (int i = 0; i < STEPS; i++) {
        const griddep_argument arguments[2] = {word(i), word(i + 1)};
        need(griddep_graph_add_kernel(graph, step, &config, arguments, 2, &node, &error));
        if (i)
            need(griddep_graph_add_edge(graph, node - 1, node, port, type, &error));
    }
    return graph;
}

static void automatic_edges(void)
{
    run_graph(make_graph(GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO));
}

static void programmatic_edges(void)
{
    run_graph(make_graph(GRIDDEP_PORT_PROGRAMMATIC, GRIDDEP_EDGE_PROGRAMMATIC));
}

static void launch_order_edges(void)
{
    run_graph(make_graph(GRIDDEP_PORT_LAUNCH_ORDER, GRIDDEP_EDGE_PROGRAMMATIC));
}

/* From the begin of one kernel to another one that does not read what it writes. */
static void launch_order_port(void)
{
    const griddep_launch_config config = config_of(NULL);
    const griddep_argument arguments[2] = {word(AWAY), word(AWAY + 1)};
    griddep_graph *graph = make_graph(GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_DEFAULT);
    uint32_t node;

    need(griddep_graph_add_kernel(graph, step, &config, arguments, 2, &node, &error));
    need(griddep_graph_add_edge(graph, 0, node, GRIDDEP_PORT_LAUNCH_ORDER, GRIDDEP_EDGE_DEFAULT,
                                &error));
    run_graph(graph);
}

static void upgraded_graph(void)
{
    griddep_graph *graph = make_graph(GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_DEFAULT);

    upgrade(graph);
    run_graph(graph);
}

static void changed_graph(void)
{
    const griddep_argument arguments[2] = {word(1), word(2)};
    griddep_graph *graph = make_graph(GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO);

    need(griddep_graph_instantiate(graph, &error));
    need(griddep_graph_set_arguments(graph, 1, arguments, 2, &error));
    run_graph(graph);
}

static void begin_capture(void)
{
    need(griddep_graph_capture_begin(runtime, streams[0], &error));
}

static griddep_graph *end_capture(void)
{
    griddep_graph *graph = NULL;

    need(griddep_graph_capture_end(runtime, streams[0], &graph, &error));
    return graph;
}

static void capture(void)
{
    begin_capture();
    launch_steps(streams[0]);
    run_graph(end_capture());
}

static void capture_with_trigger_event(void)
{
    begin_capture();
    launch_steps_and_event(GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT);
    run_graph(end_capture());
}

static void capture_with_begin_event(void)
{
    begin_capture();
    launch_steps_and_event(GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
    run_graph(end_capture());
}

static void captured_chain(bool lanes)
{
    griddep_chain *chain = make_chain(lanes, NULL);

    begin_capture();
    need(griddep_chain_run(chain, mode_of(false), streams[0], &error));
    run_graph(end_capture());
    griddep_chain_destroy(chain);
}

static void capture_of_chain(void)
{
    captured_chain(false);
}

static void capture_of_lanes(void)
{
    captured_chain(true);
}

/* A fill parts the launches; taken out, the edges that remain could be programmatic. */
static void upgraded_capture(void)
{
    begin_capture();
    launch_steps(streams[0]);
    griddep_graph *graph = end_capture();
    for (uint32_t i = 0; i < 2; i++) { /* plain, whatever they were */
        griddep_graph_edge_info edge = {.size = sizeof edge};
        need(griddep_graph_get_edge(graph, 0, &edge, &error));
        need(griddep_graph_remove_edge(graph, 0, &error));
        need(griddep_graph_add_edge(graph, edge.from, edge.to, 0, GRIDDEP_EDGE_DEFAULT, &error));
    }
    upgrade(graph);
    run_graph(graph);
}

/* As upgraded_capture, of a capture that is the program's own. */
static void upgraded_foreign_capture(void)
{
    griddep_graph *graph = NULL;
    griddep_chain *chain = make_chain(false, NULL);
    gd_CUgraph handle;

    need(griddep_stream_synchronize(runtime, streams[0], &error));
    good(cuCtxPushCurrent(runtime->context));
    good(cuStreamBeginCapture(streams[0], GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    need(griddep_chain_run(chain, now->mode ? GRIDDEP_MODE_SERIAL : GRIDDEP_MODE_PDL, streams[0],
                           &error));
    good(cuStreamEndCapture(streams[0], &handle));
    griddep_chain_destroy(chain);
    need(griddep_graph_adopt(runtime, handle, GRIDDEP_GRAPH_OWN, &graph, &error));
    for (uint32_t i = 0; i < 2; i++) {
        griddep_graph_edge_info edge = {.size = sizeof edge};
        need(griddep_graph_get_edge(graph, 0, &edge, &error));
        need(griddep_graph_remove_edge(graph, 0, &error));
        need(griddep_graph_add_edge(graph, edge.from, edge.to, 0, GRIDDEP_EDGE_DEFAULT, &error));
    }
    upgrade(graph);
    run_graph(graph);
    gd_CUcontext popped;
    good(cuCtxPopCurrent(&popped));
}

/* A graph that the program made with bare driver calls. */
static gd_CUgraph make_foreign(gd_CUgraphEdgeData data)
{
    griddep_kernel_info info = {.size = sizeof info};
    gd_CUgraph graph = NULL;
    gd_CUgraphNode nodes[STEPS];

    need(griddep_kernel_get_info(step, &info, &error));
    good(cuCtxPushCurrent(runtime->context));
    good(cuGraphCreate(&graph, 0));
    for (int i = 0; i < STEPS; i++) {
        uint64_t in = memory + 4 * (uint64_t)i, out = in + 4;
        void *arguments[2] = {&in, &out};
        const gd_CUDA_KERNEL_NODE_PARAMS params = {.func = info.function,
                                                   .gridDimX = 1,
                                                   .gridDimY = 1,
                                                   .gridDimZ = 1,
                                                   .blockDimX = 1,
                                                   .blockDimY = 1,
                                                   .blockDimZ = 1,
                                                   .kernelParams = arguments};
        good(cuGraphAddKernelNode(&nodes[i], graph, NULL, 0, &params));
        if (i)
            good(cuGraphAddDependencies(graph, &nodes[i - 1], &nodes[i], &data, 1));
    }
    gd_CUcontext popped;
    good(cuCtxPopCurrent(&popped));
    return graph;
}

static const gd_CUgraphEdgeData from_trigger = {.from_port =
                                                    GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                                .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

static griddep_graph *adopt(gd_CUgraphEdgeData data)
{
    griddep_graph *graph = NULL;

    need(griddep_graph_adopt(runtime, make_foreign(data), GRIDDEP_GRAPH_OWN, &graph, &error));
    return graph;
}

static void adopted_graph(void)
{
    run_graph(adopt(from_trigger));
}

/* A graph that the program made, in a child graph of one that it made; at a given depth. */
static griddep_graph *adopt_nested(int depth)
{
    griddep_graph *graph = NULL;
    gd_CUgraph inner = make_foreign(from_trigger), outer = NULL;
    gd_CUgraphNode node;
    gd_CUcontext popped;
    gd_CUresult (*add_child)(gd_CUgraphNode *, gd_CUgraph, const gd_CUgraphNode *, size_t,
                             gd_CUgraph);
    void *symbol = find_symbol(&real, "cuGraphAddChildGraphNode");

    memcpy(&add_child, &symbol, sizeof symbol);
    good(cuCtxPushCurrent(runtime->context));
    for (int i = 0; i < depth; i++) {
        good(cuGraphCreate(&outer, 0));
        ck_assert_int_eq(add_child(&node, outer, NULL, 0, inner), GD_CUDA_SUCCESS);
        good(cuGraphDestroy(inner));
        inner = outer;
    }
    good(cuCtxPopCurrent(&popped));
    need(griddep_graph_adopt(runtime, outer, GRIDDEP_GRAPH_OWN, &graph, &error));
    return graph;
}

static void adopted_graph_of_child(void)
{
    run_graph(adopt_nested(1));
}

static void adopted_graph_of_grandchild(void)
{
    run_graph(adopt_nested(2));
}

static void upgraded_adopted_graph(void)
{
    griddep_graph *graph = adopt((gd_CUgraphEdgeData){0});

    upgrade(graph);
    run_graph(graph);
}

/* Edges that are added are decided then. The last node is the library's. */
static void grown_adopted_graph(void)
{
    griddep_graph *graph = adopt((gd_CUgraphEdgeData){0});
    const griddep_launch_config config = config_of(NULL);
    const griddep_argument arguments[2] = {word(AWAY), word(AWAY + 1)};
    uint32_t node;

    need(griddep_graph_add_kernel(graph, step, &config, arguments, 2, &node, &error));
    need(griddep_graph_add_edge(graph, 0, node, GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO, &error));
    need(griddep_graph_add_edge(graph, 1, node, GRIDDEP_PORT_LAUNCH_ORDER,
                                GRIDDEP_EDGE_PROGRAMMATIC, &error));
    run_graph(graph);
}

/* ---- the matrix ---- */

enum { CHAIN = 1, FOREIGN = 2, BESIDE = 4 };

static const struct way {
    const char *name;
    void (*go)(void);
    int flags; /* CHAIN: it has a mode; FOREIGN: no launch is the library's; BESIDE: one runs beside
                * the steps */
} ways[] = {
    {"launch", in_stream, 0},
    {"launch, packed", packed, 0},
    {"launch, attribute 7", trigger_event, BESIDE},
    {"launch, attribute 12", begin_event, BESIDE},
    {"chain in a stream", chain_in_stream, CHAIN},
    {"chain in lanes", chain_in_lanes, CHAIN},
    {"chain in a graph", chain_in_graph, CHAIN},
    {"chain of lanes in a graph", chain_of_lanes_in_graph, CHAIN},
    {"chain, attribute 7", chain_with_event_in_stream, CHAIN},
    {"chain, attribute 7, graph", chain_with_event_in_graph, CHAIN},
    {"graph of a chain", graph_of_chain, CHAIN},
    {"graph, automatic edges", automatic_edges, 0},
    {"graph, programmatic edges", programmatic_edges, 0},
    {"graph, launch order edges", launch_order_edges, 0},
    {"graph, launch order port", launch_order_port, BESIDE},
    {"graph, upgraded", upgraded_graph, 0},
    {"graph, changed", changed_graph, 0},
    {"capture", capture, 0},
    {"capture, attribute 7", capture_with_trigger_event, BESIDE},
    {"capture, attribute 12", capture_with_begin_event, BESIDE},
    {"capture of a chain", capture_of_chain, CHAIN},
    {"capture of lanes", capture_of_lanes, CHAIN},
    {"capture, upgraded", upgraded_capture, 0},
    {"own capture, upgraded", upgraded_foreign_capture, CHAIN},
    {"adopted graph", adopted_graph, FOREIGN},
    {"adopted graph of a child", adopted_graph_of_child, FOREIGN},
    {"adopted, child of a child", adopted_graph_of_grandchild, FOREIGN},
    {"adopted graph, upgraded", upgraded_adopted_graph, FOREIGN},
    {"adopted graph, grown", grown_adopted_graph, BESIDE},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static bool applies(const struct way *way, const struct switch_off *off)
{
    return (!off->mode || way->flags & CHAIN) &&
           !(off->launch == GRIDDEP_PDL_OFF && way->flags & FOREIGN);
}

TEST_GROUP(switch, NULL, NULL);

LOOP_TEST(switch, off_is_off, WAYS)
{
    const struct way *way = &ways[_i];
    char line[160];
    int at = snprintf(line, sizeof line, "%-26s", way->name);
    bool wrong = false;

    for (int i = 0; i < SWITCHES; i++) {
        now = &switches[i];
        if (!applies(way, now)) {
            at += snprintf(line + at, sizeof line - (size_t)at, " %11s", "");
            continue;
        }
        open_runtime();
        way->go();
        need(griddep_stream_synchronize(runtime, streams[0], &error));
        need(griddep_stream_synchronize(runtime, streams[1], &error));
        check_result(way->flags & BESIDE);
        at += snprintf(line + at, sizeof line - (size_t)at, " %11u", early);
        wrong |= (early > 0) != (i == 0);
        close_runtime();
    }
    puts(line);
    fflush(stdout);
    ck_assert_msg(!wrong, "%s", line);
}

/* What is in a foreign conditional node the driver does not tell, so an adopted graph that has one
 * is refused where a switch is off. */
LOOP_TEST(switch, unknown_bodies_are_refused, SWITCHED_RUNTIMES)
{
    griddep_graph *graph = NULL;
    gd_CUgraph handle = NULL;
    gd_CUcontext popped;

    now = &switches[_i];
    open_runtime();
    good(cuCtxPushCurrent(runtime->context));
    good(cuGraphCreate(&handle, 0));
    add_conditional(&real, handle, runtime->context, 0);
    good(cuCtxPopCurrent(&popped));
    need(griddep_graph_adopt(runtime, handle, GRIDDEP_GRAPH_OWN, &graph, &error));
    ck_assert_int_eq(griddep_graph_launch(graph, streams[0], &error),
                     _i ? GRIDDEP_ERROR_UNSUPPORTED : GRIDDEP_OK);
    if (_i)
        ck_assert_ptr_nonnull(strstr(error.text, "bodies of a conditional node"));
    griddep_graph_destroy(graph);
    close_runtime();
}

int main(void)
{
    griddep_error_init(&error);
    printf("what could start early, by the switch that is off\n%-26s", "");
    for (int i = 0; i < SWITCHES; i++)
        printf(" %11s", switches[i].name);
    puts("");
    fflush(stdout);
    return run_suite(make_suite("switch"));
}
