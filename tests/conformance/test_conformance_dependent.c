/* Programmatic dependent launch: attribute 6 in streams and captures, programmatic and
 * launch-completion events, edges with ports, and what griddepcontrol.wait promises: the consumer
 * sees the producer's data. That two kernels overlap is allowed and never required; whether they
 * did is printed. */
#include "conformance.h"

enum { N = 256, CTAS = 4, LINKS = 6 };

/* Each thread adds one to its word of `in`. step triggers at once and waits first; late triggers
 * after its work, which is delayed; watch, without waiting, notes in word N of its output whether
 * step's producer has finished. */
#define HEAD_OF(name)                                                                              \
    ".visible .entry " name                                                                        \
    "(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %in, %out, %at, %t<3>;\n"                 \
    "    .reg .b32 %v, %i, %c, %n;\n    .reg .pred %p;\n"                                          \
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %c, %ctaid.x;\n    "  \
    "mov.u32 %n, "                                                                                 \
    "%ntid.x;\n"                                                                                   \
    "    mov.u32 %i, %tid.x;\n    mad.lo.u32 %i, %c, %n, %i;\n    mul.wide.u32 %at, %i, 4;\n"      \
    "    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;\n"
#define ADD_ONE                                                                                    \
    "    ld.global.u32 %v, [%in];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%out], %v;\n"
#define DELAY                                                                                      \
    "    mov.u64 %t0, %globaltimer;\nagain:\n    mov.u64 %t1, %globaltimer;\n    sub.u64 %t2, "    \
    "%t1, %t0;\n"                                                                                  \
    "    setp.lt.u64 %p, %t2, 20000;\n    @%p bra again;\n"
#define TRIGGER "    griddepcontrol.launch_dependents;\n"
#define WAIT "    griddepcontrol.wait;\n"

static const char text[] = PTX_HEAD HEAD_OF("step") TRIGGER WAIT ADD_ONE
    "    ret;\n}\n" HEAD_OF("slow") TRIGGER WAIT DELAY ADD_ONE "    ret;\n}\n" HEAD_OF("late")
        WAIT DELAY ADD_ONE TRIGGER "    ret;\n}\n" HEAD_OF("quiet") ADD_ONE
    "    ret;\n}\n"
    ".visible .entry watch(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %in, %out;\n    .reg "
    ".b32 %before, "
    "%after;\n"
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    ld.volatile.global.u32 "
    "%before, [%in];\n" WAIT "    ld.volatile.global.u32 %after, [%in];\n    st.global.v2.u32 "
    "[%out], {%before, %after};\n    ret;\n}\n";

static gd_CUmodule module;
static gd_CUdeviceptr buffers[LINKS + 1];

static void setup(void)
{
    setup_context();
    module = load(text);
    for (int i = 0; i <= LINKS; i++)
        buffers[i] = allocate(4 * N);
    good(cuCtxSynchronize, ());
}

static void teardown(void)
{
    for (int i = 0; i <= LINKS; i++)
        release(buffers[i]);
    good(cuModuleUnload, (module));
    teardown_context();
}

static gd_CUlaunchAttribute serialization(void)
{
    return (gd_CUlaunchAttribute){.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                  .value.programmaticStreamSerializationAllowed = 1};
}

static void launch(const char *name, gd_CUstream where, gd_CUdeviceptr in, gd_CUdeviceptr out,
                   unsigned grid, unsigned block, gd_CUlaunchAttribute *attributes, unsigned count)
{
    void *parameters[] = {&in, &out};
    const gd_CUlaunchConfig config = {.gridDimX = grid,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = block,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .hStream = where,
                                      .attrs = attributes,
                                      .numAttrs = count};

    good(cuLaunchKernelEx, (&config, function_of(module, name), parameters, NULL));
}

static void check_buffer(gd_CUdeviceptr buffer, uint32_t expected)
{
    uint32_t words[N];

    good(cuStreamSynchronize, (stream));
    read_back(words, buffer, sizeof words);
    for (int i = 0; i < N; i++)
        ck_assert_msg(words[i] == expected, "word %d is %u, expected %u", i, words[i], expected);
}

static void reset_buffers(void)
{
    for (int i = 0; i <= LINKS; i++)
        good(cuMemsetD32_v2, (buffers[i], (unsigned)i * 1000, N));
    good(cuCtxSynchronize, ());
}

static const char *const producers[] = {"step", "slow", "late", "quiet"};

/* A chain of launches, each of which may begin before the one before it ends. */
static void launch_chain(const char *producer, bool dependent)
{
    for (int i = 0; i < LINKS; i++) {
        gd_CUlaunchAttribute attribute = serialization();
        launch(i % 2 ? "step" : producer, stream, buffers[i], buffers[i + 1], CTAS, N / CTAS,
               &attribute, dependent && i > 0 && strcmp(i % 2 ? "step" : producer, "quiet"));
    }
}

TEST_GROUP(streams, setup, teardown);
TEST_GROUP(graphs, setup, teardown);
TEST_GROUP(events, setup, teardown);

LOOP_TEST(streams, streams_serialize_programmatically, COUNT_OF(producers))
{
    reset_buffers();
    launch_chain(producers[_i], true);
    check_buffer(buffers[LINKS], LINKS);
}

LOOP_TEST(streams, the_attribute_may_be_off, COUNT_OF(producers))
{
    reset_buffers();
    launch_chain(producers[_i], false);
    check_buffer(buffers[LINKS], LINKS);
}

/* After the wait the producer's word is there, whatever was seen before it. */
TEST(streams, wait_makes_data_visible)
{
    gd_CUlaunchAttribute attribute = serialization();
    uint32_t seen[2] = {0, 0};

    reset_buffers();
    launch("slow", stream, buffers[0], buffers[1], 1, 1, NULL, 0);
    launch("watch", stream, buffers[1], buffers[2], 1, 1, &attribute, 1);
    good(cuStreamSynchronize, (stream));
    read_back(seen, buffers[2], sizeof seen);
    ck_assert_uint_eq(seen[1], 1);
    expect(seen[0] == 1000 || seen[0] == 1);
    printf("overlap in a stream: %s\n", seen[0] == 1000 ? "seen" : "not seen");
    fflush(stdout);
}

/* Without the attribute the second kernel begins when the first has ended. */
TEST(streams, plain_launches_do_not_overlap)
{
    uint32_t seen[2] = {0, 0};

    reset_buffers();
    launch("slow", stream, buffers[0], buffers[1], 1, 1, NULL, 0);
    launch("watch", stream, buffers[1], buffers[2], 1, 1, NULL, 0);
    good(cuStreamSynchronize, (stream));
    read_back(seen, buffers[2], sizeof seen);
    ck_assert_uint_eq(seen[0], 1);
    ck_assert_uint_eq(seen[1], 1);
}

/* A fill between two kernels ends the overlap. */
TEST(streams, a_fill_between_serializes)
{
    gd_CUlaunchAttribute attribute = serialization();
    uint32_t seen[2] = {0, 0};

    reset_buffers();
    launch("slow", stream, buffers[0], buffers[1], 1, 1, NULL, 0);
    good(cuMemsetD32Async, (buffers[3], 5, 1, stream));
    launch("watch", stream, buffers[1], buffers[2], 1, 1, &attribute, 1);
    good(cuStreamSynchronize, (stream));
    read_back(seen, buffers[2], sizeof seen);
    ck_assert_uint_eq(seen[0], 1);
}

/* ---- captures and graphs ---- */

static gd_CUgraph captured(const char *producer, bool dependent)
{
    gd_CUgraph graph = NULL;

    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_chain(producer, dependent);
    good(cuStreamEndCapture, (stream, &graph));
    return graph;
}

TEST(graphs, captures_make_programmatic_edges)
{
    gd_CUgraphNode from[LINKS], to[LINKS];
    gd_CUgraphEdgeData data[LINKS];
    gd_CUgraphExec executable = NULL;
    size_t count = LINKS;
    gd_CUgraph graph;

    reset_buffers();
    graph = captured("slow", true);
    good(cuGraphGetEdges_v2, (graph, from, to, data, &count));
    ck_assert_uint_eq(count, LINKS - 1);
    for (size_t i = 0; i < count; i++) {
        expect(data[i].type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
        expect(data[i].from_port == GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
        expect(data[i].to_port == 0);
    }
    bad(ERROR_LOSSY_QUERY, cuGraphGetEdges, (graph, from, to, &count));
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    for (int round = 0; round < 3; round++) {
        reset_buffers();
        good(cuGraphLaunch, (executable, stream));
        check_buffer(buffers[LINKS], LINKS);
    }
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));
}

TEST(graphs, captures_without_it_make_ordinary_edges)
{
    gd_CUgraphNode from[LINKS], to[LINKS];
    size_t count = LINKS;
    gd_CUgraph graph = captured("slow", false);

    good(cuGraphGetEdges, (graph, from, to, &count));
    ck_assert_uint_eq(count, LINKS - 1);
    good(cuGraphDestroy, (graph));
}

/* Edges by hand, from each port. */
LOOP_TEST(graphs, explicit_edges, 3)
{
    static const gd_CUgraphEdgeData kinds[] = {
        {0}, {.from_port = 1, .type = 1}, {.from_port = 2, .type = 1}};
    gd_CUdeviceptr parameters_of[2][2] = {{buffers[0], buffers[1]}, {buffers[1], buffers[2]}};
    static const char *const names[] = {"slow", "watch"};
    gd_CUgraph graph = NULL;
    gd_CUgraphNode nodes[2];
    gd_CUgraphExec executable = NULL;
    uint32_t seen[2] = {0, 0};

    reset_buffers();
    good(cuGraphCreate, (&graph, 0));
    for (int i = 0; i < 2; i++) {
        void *parameters[] = {&parameters_of[i][0], &parameters_of[i][1]};
        gd_CUDA_KERNEL_NODE_PARAMS params = {.func = function_of(module, names[i]),
                                             .gridDimX = 1,
                                             .gridDimY = 1,
                                             .gridDimZ = 1,
                                             .blockDimX = 1,
                                             .blockDimY = 1,
                                             .blockDimZ = 1,
                                             .kernelParams = parameters};
        good(cuGraphAddKernelNode_v2, (&nodes[i], graph, NULL, 0, &params));
    }
    good(cuGraphAddDependencies_v2, (graph, &nodes[0], &nodes[1], &kinds[_i], 1));
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    good(cuGraphLaunch, (executable, stream));
    good(cuStreamSynchronize, (stream));
    read_back(seen, buffers[2], sizeof seen);
    ck_assert_uint_eq(seen[1], 1);
    if (_i == 0)
        ck_assert_uint_eq(seen[0], 1);
    printf("overlap over an edge from port %d: %s\n", _i, seen[0] == 1000 ? "seen" : "not seen");
    fflush(stdout);
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));
}

/* ---- events ---- */

static gd_CUlaunchAttribute event_attribute(gd_CUevent event, int form)
{
    gd_CUlaunchAttribute attribute = {
        .id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
        .value.programmaticEvent = {.event = event, .triggerAtBlockStart = form}};

    if (form == 2)
        attribute = (gd_CUlaunchAttribute){.id = GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                           .value.launchCompletionEvent = {.event = event}};
    return attribute;
}

/* The consumer, in another stream, is launched behind the event; its wait covers the producer when
 * the dependency is programmatic, so that it is asked only where that holds: in a captured
 * graph. */
LOOP_TEST(events, events_make_edges, 3)
{
    static const unsigned char ports[] = {1, 2, 2};
    gd_CUstream other = NULL;
    gd_CUevent event = NULL, join = NULL;
    gd_CUgraph graph = NULL;
    gd_CUgraphNode from[4], to[4];
    gd_CUgraphEdgeData data[4];
    size_t count = 4;

    good(cuStreamCreate, (&other, GD_CU_STREAM_NON_BLOCKING));
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuEventCreate, (&join, GD_CU_EVENT_DISABLE_TIMING));
    gd_CUlaunchAttribute attribute = event_attribute(event, _i);
    good(cuStreamBeginCapture_v2, (stream, GD_CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch("slow", stream, buffers[0], buffers[1], 1, 1, &attribute, 1);
    good(cuStreamWaitEvent, (other, event, 0));
    launch("watch", other, buffers[1], buffers[2], 1, 1, NULL, 0);
    good(cuEventRecord, (join, other));
    good(cuStreamWaitEvent, (stream, join, 0));
    good(cuStreamEndCapture, (stream, &graph));
    good(cuGraphGetEdges_v2, (graph, from, to, data, &count));
    ck_assert_uint_eq(count, 1);
    expect(data[0].from_port == ports[_i]);
    expect(data[0].type == (_i == 2 ? GD_CU_GRAPH_DEPENDENCY_TYPE_DEFAULT
                                    : GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC));
    good(cuGraphDestroy, (graph));
    good(cuEventDestroy_v2, (event));
    good(cuEventDestroy_v2, (join));
    good(cuStreamDestroy_v2, (other));
}

/* In streams: the event is reached, and what waits for it runs. */
LOOP_TEST(events, events_of_launches_are_reached, 3)
{
    gd_CUstream other = NULL;
    gd_CUevent event = NULL;

    reset_buffers();
    good(cuStreamCreate, (&other, GD_CU_STREAM_NON_BLOCKING));
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    gd_CUlaunchAttribute attribute = event_attribute(event, _i);
    launch("slow", stream, buffers[0], buffers[1], CTAS, N / CTAS, &attribute, 1);
    good(cuStreamWaitEvent, (other, event, 0));
    launch("quiet", other, buffers[3], buffers[4], CTAS, N / CTAS, NULL, 0);
    good(cuEventSynchronize, (event));
    good(cuEventQuery, (event));
    good(cuStreamSynchronize, (other));
    check_buffer(buffers[1], 1);
    check_buffer(buffers[4], 3001);
    good(cuEventDestroy_v2, (event));
    good(cuStreamDestroy_v2, (other));
}

LOOP_TEST(events, events_of_launches_have_no_timing, 3)
{
    gd_CUevent timed = NULL;
    gd_CUdeviceptr in = buffers[0], out = buffers[1];
    void *parameters[] = {&in, &out};
    gd_CUfunction step = function_of(module, "step");
    gd_CUlaunchAttribute attribute;
    gd_CUlaunchConfig config = {.gridDimX = 1,
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = 1,
                                .blockDimY = 1,
                                .blockDimZ = 1,
                                .hStream = stream,
                                .attrs = &attribute,
                                .numAttrs = 1};

    good(cuEventCreate, (&timed, GD_CU_EVENT_DEFAULT));
    attribute = event_attribute(timed, _i);
    gd_CUresult result = raw(cuLaunchKernelEx, (&config, step, parameters, NULL));
    expect(result != GD_CUDA_SUCCESS);
    attribute = event_attribute(NULL, _i);
    result = raw(cuLaunchKernelEx, (&config, step, parameters, NULL));
    expect(result != GD_CUDA_SUCCESS);
    good(cuEventDestroy_v2, (timed));
}

SUITE(dependent, "dependent launch")
