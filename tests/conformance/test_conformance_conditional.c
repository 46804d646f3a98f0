/* Conditional nodes: what they execute for each value, where values come from, what bodies can
 * hold, and what happens to graphs that have them. */
#include "conformance.h"

/* set and next give a value to the conditional of a handle; next counts a word up, and on below a
 * limit. */
static const char text[] = PTX_HEAD
    ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n"
    ".visible .entry set(.param .u64 handle, .param .u32 value)\n{\n"
    "    .reg .b64 %h;\n    .reg .b32 %v;\n    .param .b64 h;\n    .param .b32 v;\n"
    "    ld.param.u64 %h, [handle];\n    ld.param.u32 %v, [value];\n"
    "    st.param.b64 [h], %h;\n    st.param.b32 [v], %v;\n"
    "    call.uni cudaGraphSetConditional, (h, v);\n    ret;\n}\n"
    ".visible .entry next(.param .u64 handle, .param .u64 word, .param .u32 limit)\n{\n"
    "    .reg .b64 %h, %w;\n    .reg .b32 %c, %l, %v;\n    .reg .pred %p;\n"
    "    .param .b64 h;\n    .param .b32 v;\n"
    "    ld.param.u64 %h, [handle];\n    ld.param.u64 %w, [word];\n    ld.param.u32 %l, [limit];\n"
    "    ld.global.u32 %c, [%w];\n    add.u32 %c, %c, 1;\n    st.global.u32 [%w], %c;\n"
    "    setp.lt.u32 %p, %c, %l;\n    selp.u32 %v, 1, 0, %p;\n"
    "    st.param.b64 [h], %h;\n    st.param.b32 [v], %v;\n"
    "    call.uni cudaGraphSetConditional, (h, v);\n    ret;\n}\n"
    ".visible .entry count(.param .u64 word, .param .u32 more)\n{\n"
    "    .reg .b64 %w;\n    .reg .b32 %c, %m;\n"
    "    ld.param.u64 %w, [word];\n    ld.param.u32 %m, [more];\n"
    "    ld.global.u32 %c, [%w];\n    add.u32 %c, %c, %m;\n    st.global.u32 [%w], %c;\n    "
    "ret;\n}\n"
    ".visible .entry record(.param .u64 times, .param .u64 spin)\n{\n"
    "    .reg .b64 %t, %s, %a, %b;\n    .reg .pred %p;\n"
    "    mov.u64 %a, %globaltimer;\n    griddepcontrol.launch_dependents;\n"
    "    ld.param.u64 %t, [times];\n    ld.param.u64 %s, [spin];\n    add.u64 %s, %s, %a;\n"
    "AGAIN:\n    mov.u64 %b, %globaltimer;\n    setp.lt.u64 %p, %b, %s;\n    @%p bra AGAIN;\n"
    "    griddepcontrol.wait;\n    mov.u64 %b, %globaltimer;\n"
    "    st.global.u64 [%t], %a;\n    st.global.u64 [%t+8], %b;\n    ret;\n}\n";

enum { WORDS = 16 };

static gd_CUmodule module;
static gd_CUfunction set, next, count, record;
static gd_CUdeviceptr words;
static gd_CUgraph graph;

static void setup(void)
{
    setup_context();
    module = load(text);
    set = function_of(module, "set");
    next = function_of(module, "next");
    count = function_of(module, "count");
    record = function_of(module, "record");
    words = allocate(WORDS * sizeof(uint32_t));
    good(cuMemsetD8_v2, (words, 0, WORDS * sizeof(uint32_t)));
    good(cuCtxSynchronize, ());
    good(cuGraphCreate, (&graph, 0));
}

static void teardown(void)
{
    good(cuGraphDestroy, (graph));
    release(words);
    good(cuModuleUnload, (module));
    teardown_context();
}

/* ---- nodes ---- */

static gd_CUgraphNode add_kernel(gd_CUgraph to, gd_CUgraphNode before, gd_CUfunction function,
                                 void **parameters)
{
    gd_CUgraphNode node = NULL;
    gd_CUDA_KERNEL_NODE_PARAMS params = {.func = function,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};

    good(cuGraphAddKernelNode_v2, (&node, to, &before, before ? 1 : 0, &params));
    return node;
}

/* Adds 1 to a word each time that it runs. */
static gd_CUgraphNode add_count(gd_CUgraph to, gd_CUgraphNode before, uint32_t word)
{
    gd_CUdeviceptr address = words + word * sizeof(uint32_t);
    uint32_t more = 1;
    void *parameters[] = {&address, &more};

    return add_kernel(to, before, count, parameters);
}

static gd_CUgraphNode add_set(gd_CUgraph to, gd_CUgraphNode before,
                              gd_CUgraphConditionalHandle handle, uint32_t value)
{
    void *parameters[] = {&handle, &value};

    return add_kernel(to, before, set, parameters);
}

static gd_CUgraphNode add_next(gd_CUgraph to, gd_CUgraphNode before,
                               gd_CUgraphConditionalHandle handle, uint32_t word, uint32_t limit)
{
    gd_CUdeviceptr address = words + word * sizeof(uint32_t);
    void *parameters[] = {&handle, &address, &limit};

    return add_kernel(to, before, next, parameters);
}

static gd_CUgraphConditionalHandle make_handle(gd_CUgraph of, unsigned initial)
{
    gd_CUgraphConditionalHandle handle = 0;

    good(cuGraphConditionalHandleCreate,
         (&handle, of, context, initial, GD_CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

static gd_CUgraphNodeParams params_of(gd_CUgraphConditionalHandle handle, int32_t type,
                                      unsigned size)
{
    return (gd_CUgraphNodeParams){
        .type = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .is.conditional = {.handle = handle, .type = type, .size = size, .ctx = context}};
}

static gd_CUgraphNode add_conditional(gd_CUgraph to, gd_CUgraphNode before,
                                      gd_CUgraphConditionalHandle handle, int32_t type,
                                      unsigned size, gd_CUgraph *bodies)
{
    gd_CUgraphNode node = NULL;
    gd_CUgraphNodeParams params = params_of(handle, type, size);

    good(cuGraphAddNode_v2, (&node, to, &before, NULL, before ? 1 : 0, &params));
    memcpy(bodies, params.is.conditional.phGraph_out, size * sizeof *bodies);
    return node;
}

static gd_CUgraphExec instantiate(void)
{
    gd_CUgraphExec executable = NULL;

    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    return executable;
}

/* Whether the first words are these; they become 0. */
static bool are_words(uint32_t first, uint32_t second, uint32_t third)
{
    uint32_t got[WORDS];

    good(cuStreamSynchronize, (stream));
    read_back(got, words, sizeof got);
    good(cuMemsetD8_v2, (words, 0, WORDS * sizeof(uint32_t)));
    good(cuCtxSynchronize, ());
    return got[0] == first && got[1] == second && got[2] == third;
}

static void launch(gd_CUgraphExec executable)
{
    good(cuGraphLaunch, (executable, stream));
}

/* ---- values ---- */

TEST_GROUP(values, setup, teardown);
TEST_GROUP(order, setup, teardown);
TEST_GROUP(refusals, setup, teardown);
TEST_GROUP(executables, setup, teardown);

TEST(values, if_and_else)
{
    for (unsigned initial = 0; initial < 3; initial++) {
        gd_CUgraph bodies[2], other = graph;
        good(cuGraphCreate, (&graph, 0));
        add_conditional(graph, NULL, make_handle(graph, initial), GD_CU_GRAPH_COND_TYPE_IF, 2,
                        bodies);
        add_count(bodies[0], NULL, 0);
        add_count(bodies[1], NULL, 1);
        gd_CUgraphExec executable = instantiate();
        launch(executable);
        launch(executable);
        expect(initial ? are_words(2, 0, 0) : are_words(0, 2, 0));
        good(cuGraphExecDestroy, (executable));
        good(cuGraphDestroy, (graph));
        graph = other;
    }
}

/* The kernel before it sets the value; kernels behind it run in any case. */
TEST(values, an_if_behind_a_kernel)
{
    gd_CUgraph body;
    gd_CUgraphConditionalHandle handle = make_handle(graph, 0);
    gd_CUgraphNode setter = add_set(graph, NULL, handle, 5);
    gd_CUgraphNode node =
        add_conditional(graph, setter, handle, GD_CU_GRAPH_COND_TYPE_IF, 1, &body);
    uint32_t zero = 0;
    void *parameters[] = {&handle, &zero};
    gd_CUDA_KERNEL_NODE_PARAMS params = {.func = set,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};

    add_count(body, NULL, 0);
    add_count(graph, node, 1);
    gd_CUgraphExec executable = instantiate();
    launch(executable);
    expect(are_words(1, 1, 0));
    good(cuGraphExecKernelNodeSetParams_v2, (executable, setter, &params));
    launch(executable);
    expect(are_words(0, 1, 0));
    good(cuGraphExecDestroy, (executable));
}

TEST(values, a_while_counts)
{
    gd_CUgraph body;
    gd_CUgraphConditionalHandle handle = make_handle(graph, 1);
    gd_CUgraphNode node =
        add_conditional(graph, NULL, handle, GD_CU_GRAPH_COND_TYPE_WHILE, 1, &body);

    add_next(body, add_count(body, NULL, 1), handle, 0, 10);
    add_count(graph, node, 2);
    gd_CUgraphExec executable = instantiate();
    launch(executable);
    expect(are_words(10, 10, 1));
    launch(executable);
    launch(executable);
    expect(are_words(
        11, 11, 2)); /* the second launch finds 10 in the word, so its first round is its last */
    good(cuGraphExecDestroy, (executable));
}

TEST(values, a_switch_chooses)
{
    for (uint32_t value = 0; value < 5; value++) {
        gd_CUgraph bodies[3], other = graph;
        good(cuGraphCreate, (&graph, 0));
        gd_CUgraphConditionalHandle handle = make_handle(graph, 7);
        add_conditional(graph, add_set(graph, NULL, handle, value), handle,
                        GD_CU_GRAPH_COND_TYPE_SWITCH, 3, bodies);
        for (uint32_t i = 0; i < 3; i++)
            add_count(bodies[i], NULL, i);
        gd_CUgraphExec executable = instantiate();
        launch(executable);
        expect(are_words(value == 0, value == 1, value == 2));
        good(cuGraphExecDestroy, (executable));
        good(cuGraphDestroy, (graph));
        graph = other;
    }
}

/* With the flag, each launch begins with the initial value, whatever the launch before left. */
TEST(values, values_begin_anew)
{
    gd_CUgraph bodies[2];
    gd_CUgraphConditionalHandle handle = make_handle(graph, 0);
    gd_CUgraphNode node = add_conditional(graph, NULL, handle, GD_CU_GRAPH_COND_TYPE_IF, 2, bodies);

    add_count(bodies[0], NULL, 0);
    add_count(bodies[1], NULL, 1);
    add_set(graph, node, handle, 1);
    gd_CUgraphExec executable = instantiate();
    for (int i = 0; i < 3; i++)
        launch(executable);
    expect(are_words(0, 3, 0));
    good(cuGraphExecDestroy, (executable));
}

/* A conditional node in a body, whose handle was made for the outermost graph or for the body; a
 * kernel inside of a graph in a node sets the value. */
TEST(values, nested_nodes)
{
    gd_CUgraph body, inner[2], child = NULL;
    gd_CUgraphNode node = NULL, copy = NULL;
    gd_CUgraphConditionalHandle outer = make_handle(graph, 0), first = make_handle(graph, 1);

    good(cuGraphCreate, (&child, 0));
    add_set(child, NULL, outer, 1);
    good(cuGraphAddChildGraphNode, (&copy, graph, NULL, 0, child));
    node = add_conditional(graph, copy, outer, GD_CU_GRAPH_COND_TYPE_IF, 1, &body);
    add_count(graph, node, 2);
    add_conditional(body, NULL, first, GD_CU_GRAPH_COND_TYPE_IF, 1, &inner[0]);
    add_conditional(body, NULL, make_handle(body, 1), GD_CU_GRAPH_COND_TYPE_WHILE, 1, &inner[1]);
    add_count(inner[0], NULL, 0);
    add_next(inner[1], NULL, 3, 1, 4);
    gd_CUgraphExec executable = instantiate();
    launch(executable);
    expect(are_words(1, 4, 1));
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (child));
}

/* ---- order ---- */

/* Whether the second kernel began before the first ended. */
static void expect_times(gd_CUdeviceptr times, bool overlaps)
{
    uint64_t got[4];

    good(cuStreamSynchronize, (stream));
    read_back(got, times, sizeof got);
    expect(overlaps ? got[2] < got[1] : got[2] >= got[1]);
}

/* Kernels overlap over a programmatic edge in a body, and not across its ends. */
TEST(order, overlap_in_a_body)
{
    const uint64_t spin = 50000;
    gd_CUdeviceptr times = allocate(8 * sizeof(uint64_t));
    gd_CUgraphNode nodes[4], node = NULL;
    gd_CUgraph body = NULL;
    gd_CUgraphEdgeData data = {.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                               .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

    for (uint32_t i = 0; i < 4; i++) {
        gd_CUdeviceptr place = times + 16 * i;
        void *parameters[] = {&place, (void *)(uintptr_t)&spin};
        if (i == 1)
            node = add_conditional(graph, nodes[0], make_handle(graph, 1), GD_CU_GRAPH_COND_TYPE_IF,
                                   1, &body);
        nodes[i] =
            add_kernel(i == 0 || i == 3 ? graph : body, i == 3 ? node : NULL, record, parameters);
    }
    good(cuGraphAddDependencies_v2, (body, &nodes[1], &nodes[2], &data, 1));
    gd_CUgraphExec executable = instantiate();
    for (int i = 0; i < 3; i++) {
        launch(executable);
        expect_times(times, false);
        expect_times(times + 16, true);
        expect_times(times + 32, false);
    }
    good(cuGraphExecDestroy, (executable));
    release(times);
}

TEST(order, edges_at_conditional_nodes)
{
    gd_CUgraph body;
    gd_CUgraphNode first = add_count(graph, NULL, 0), second = add_count(graph, NULL, 1), inner,
                   node = NULL;
    gd_CUgraphNodeParams params = params_of(make_handle(graph, 1), GD_CU_GRAPH_COND_TYPE_IF, 1);
    gd_CUgraphEdgeData data = {.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                               .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};

    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (&node, graph, &first, &data, 1, &params));
    data = (gd_CUgraphEdgeData){.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER};
    good(cuGraphAddNode_v2, (&node, graph, &first, &data, 1, &params));
    body = params.is.conditional.phGraph_out[0];
    data = (gd_CUgraphEdgeData){.from_port = GD_CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                .type = GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &node, &second, &data, 1));
    data.type = GD_CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &node, &second, &data, 1));
    inner = add_count(body, NULL, 2);
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &second, &inner, NULL, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (body, &second, &inner, NULL, 1));
}

/* ---- what is refused ---- */

TEST(refusals, handles_are_checked)
{
    gd_CUgraphConditionalHandle handle = 0;
    gd_CUgraph bodies[2], other = NULL;
    gd_CUgraphNode node = NULL;

    bad(ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate, (&handle, graph, context, 1, 2));
    bad(ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate, (&handle, NULL, context, 1, 1));
    bad(ERROR_INVALID_CONTEXT, cuGraphConditionalHandleCreate, (&handle, graph, NULL, 1, 1));
    if (!DIFFERS(UNCHECKED_ARGUMENT))
        bad(ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate, (NULL, graph, context, 1, 1));
    handle = make_handle(graph, 1);
    gd_CUgraphNodeParams params = params_of(handle, GD_CU_GRAPH_COND_TYPE_IF, 1);
    params.is.conditional.ctx = NULL;
    bad(ERROR_INVALID_CONTEXT, cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &params));
    add_conditional(graph, NULL, handle, GD_CU_GRAPH_COND_TYPE_IF, 1, bodies);
    params = params_of(handle, GD_CU_GRAPH_COND_TYPE_IF, 1);
    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &params));
    params = params_of(0, GD_CU_GRAPH_COND_TYPE_IF, 1);
    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &params));
    params = params_of(12345, GD_CU_GRAPH_COND_TYPE_IF, 1);
    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &params));
    bad(ERROR_INVALID_VALUE, cuGraphDestroy, (bodies[0]));
    good(cuGraphCreate, (&other, 0));
    params = params_of(handle, GD_CU_GRAPH_COND_TYPE_IF, 1);
    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2,
        (&node, other, NULL, NULL, 0, &params)); /* it has none */
    good(cuGraphDestroy, (other));
}

TEST(refusals, counts_of_bodies_are_checked)
{
    static const struct {
        int32_t type;
        unsigned size;
        bool good;
    } cases[] = {{0, 0, false}, {0, 1, true},   {0, 2, true},  {0, 3, false},
                 {1, 0, false}, {1, 1, true},   {1, 2, false}, {2, 0, false},
                 {2, 1, true},  {2, 100, true}, {3, 1, false}, {-1, 1, false}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gd_CUgraphNodeParams params =
            params_of(make_handle(graph, 1), cases[i].type, cases[i].size);
        gd_CUgraphNode node = NULL;
        if (cases[i].good)
            good(cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &params));
        else
            bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &params));
    }
}

static void do_nothing(void *user)
{
    (void)user;
}

/* Bodies take any node; what cannot stand there is found when the graph is instantiated. */
TEST(refusals, bodies_are_checked)
{
    static uint32_t pageable[4];
    gd_CUgraph body;
    gd_CUgraphNode node = NULL, found = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUevent event = NULL;
    gd_CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    const gd_CUDA_HOST_NODE_PARAMS call = {do_nothing, NULL};
    gd_CUDA_MEMCPY3D copy = {.srcMemoryType = GD_CU_MEMORYTYPE_HOST,
                             .srcHost = pageable,
                             .dstMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .dstDevice = words,
                             .WidthInBytes = 4,
                             .Height = 1,
                             .Depth = 1};

    add_conditional(graph, NULL, make_handle(graph, 1), GD_CU_GRAPH_COND_TYPE_IF, 1, &body);
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 4; i++) {
        if (i == 0)
            good(cuGraphAddHostNode, (&node, body, NULL, 0, &call));
        else if (i == 1)
            good(cuGraphAddEventRecordNode, (&node, body, NULL, 0, event));
        else if (i == 2)
            good(cuGraphAddEventWaitNode, (&node, body, NULL, 0, event));
        else
            good(cuGraphAddMemcpyNode, (&node, body, NULL, 0, &copy, context));
        bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithParams, (&executable, graph, &params));
        expect(params.hErrNode_out == node);
        expect(params.result_out == (i < 3
                                         ? GD_CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
                                         : GD_CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED));
        good(cuGraphDestroyNode, (node));
    }
    copy.srcMemoryType = GD_CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = words + 16;
    good(cuGraphAddMemcpyNode, (&found, body, NULL, 0, &copy, context));
    good(cuGraphInstantiateWithParams, (&executable, graph, &params));
    good(cuGraphExecDestroy, (executable));
    good(cuEventDestroy_v2, (event));
}

TEST(refusals, a_handle_needs_a_node)
{
    gd_CUgraphExec executable = NULL;
    gd_CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};

    make_handle(graph, 1);
    bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags, (&executable, graph, 0));
    bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithParams, (&executable, graph, &params));
    expect(params.result_out == GD_CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    expect(!params.hErrNode_out);
}

/* ---- executables ---- */

TEST(executables, one_executable_at_a_time)
{
    gd_CUgraphExec executable, second = NULL;
    gd_CUgraph body, copy = NULL, other = NULL;
    gd_CUgraphNode child = NULL, node;
    unsigned enabled = 1;

    node = add_conditional(graph, NULL, make_handle(graph, 1), GD_CU_GRAPH_COND_TYPE_IF, 1, &body);
    add_count(body, NULL, 0);
    executable = instantiate();
    bad(ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags, (&second, graph, 0));
    bad(ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags, (&second, body, 0));
    bad(ERROR_NOT_SUPPORTED, cuGraphClone, (&copy, graph));
    good(cuGraphCreate, (&other, 0));
    bad(ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode, (&child, other, NULL, 0, graph));
    good(cuGraphDestroy, (other));
    bad(ERROR_INVALID_VALUE, cuGraphNodeSetEnabled, (executable, node, 0));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetEnabled, (executable, node, &enabled));
    add_count(body, NULL, 1);
    launch(executable);
    expect(are_words(1, 0, 0)); /* it is as the graph was */
    good(cuGraphExecDestroy, (executable));
    executable = instantiate();
    launch(executable);
    expect(are_words(1, 1, 0));
    good(cuGraphExecDestroy, (executable));
}

TEST(executables, kernels_of_bodies_change)
{
    gd_CUgraph body;
    gd_CUdeviceptr address = words;
    uint32_t more = 10;
    void *parameters[] = {&address, &more};
    gd_CUDA_KERNEL_NODE_PARAMS params = {.func = count,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};

    add_conditional(graph, NULL, make_handle(graph, 1), GD_CU_GRAPH_COND_TYPE_IF, 1, &body);
    gd_CUgraphNode node = add_count(body, NULL, 0);
    gd_CUgraphExec executable = instantiate();
    good(cuGraphExecKernelNodeSetParams_v2, (executable, node, &params));
    launch(executable);
    expect(are_words(10, 0, 0));
    good(cuGraphNodeSetEnabled, (executable, node, 0));
    launch(executable);
    expect(are_words(0, 0, 0));
    good(cuGraphExecDestroy, (executable));
}

/* An update takes kernels in bodies over, and the value to begin with; handles count from the start
 * in each graph, so that those of the other graph mean the same. */
TEST(executables, updates_with_conditional_nodes)
{
    gd_CUgraphExecUpdateResultInfo info;
    gd_CUgraph body, other = NULL;
    gd_CUgraphConditionalHandle handle = make_handle(graph, 1);

    add_conditional(graph, NULL, handle, GD_CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    add_next(body, add_count(body, NULL, 1), handle, 0, 10);
    gd_CUgraphExec executable = instantiate();
    for (unsigned i = 0; i < 3; i++) {
        good(cuGraphCreate, (&other, 0));
        gd_CUgraphConditionalHandle same = make_handle(other, i == 1 ? 0 : 1);
        expect(same == handle);
        add_conditional(other, NULL, same,
                        i == 2 ? GD_CU_GRAPH_COND_TYPE_IF : GD_CU_GRAPH_COND_TYPE_WHILE, 1, &body);
        add_next(body, add_count(body, NULL, 2), same, 0, 5);
        memset(&info, 0, sizeof info);
        if (i == 2)
            bad(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2, (executable, other, &info));
        else
            good(cuGraphExecUpdate_v2, (executable, other, &info));
        expect(info.result == (i == 2 ? GD_CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED
                                      : GD_CU_GRAPH_EXEC_UPDATE_SUCCESS));
        good(cuGraphDestroy, (other));
        launch(executable);
        expect(i == 0 ? are_words(5, 0, 5) : are_words(0, 0, 0));
    }
    good(cuGraphExecDestroy, (executable));
}

SUITE(conditional, "conditional")
