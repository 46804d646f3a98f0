/* Graphs made node by node: edges and their data, nodes of each type, clones, executables and their
 * changes. */
#include "conformance.h"

enum { BYTES = 64 };

/* add writes a word that is `more` larger than what it reads. */
static const char text[] =
    PTX_HEAD ".visible .entry add(.param .u64 in, .param .u64 out, .param .u32 more)\n{\n"
             "    .reg .b64 %in, %out;\n    .reg .b32 %v, %m;\n"
             "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n"
             "    ld.param.u32 %m, [more];\n    ld.global.u32 %v, [%in];\n"
             "    add.u32 %v, %v, %m;\n    st.global.u32 [%out], %v;\n    ret;\n}\n";

static gd_CUmodule module;
static gd_CUfunction add;
static gd_CUdeviceptr a, b, c;
static gd_CUgraph graph;

static void setup(void)
{
    setup_context();
    module = load(text);
    add = function_of(module, "add");
    a = allocate(BYTES);
    b = allocate(BYTES);
    c = allocate(BYTES);
    good(cuCtxSynchronize, ());
    good(cuGraphCreate, (&graph, 0));
}

static void teardown(void)
{
    good(cuGraphDestroy, (graph));
    release(a);
    release(b);
    release(c);
    good(cuModuleUnload, (module));
    teardown_context();
}

static uint32_t word_at(gd_CUdeviceptr address)
{
    uint32_t word = 0;

    good(cuStreamSynchronize, (stream));
    read_back(&word, address, sizeof word);
    return word;
}

static void set_word(gd_CUdeviceptr address, uint32_t word)
{
    good(cuMemcpyHtoD_v2, (address, &word, sizeof word));
    good(cuCtxSynchronize, ());
}

/* The parameters of a kernel node live as long as the call that adds it. */
typedef struct kernel_arguments {
    gd_CUdeviceptr in, out;
    uint32_t more;
    void *list[3];
} kernel_arguments;

static gd_CUDA_KERNEL_NODE_PARAMS kernel_of(kernel_arguments *arguments, gd_CUdeviceptr in,
                                            gd_CUdeviceptr out, uint32_t more)
{
    *arguments = (kernel_arguments){.in = in, .out = out, .more = more};
    arguments->list[0] = &arguments->in;
    arguments->list[1] = &arguments->out;
    arguments->list[2] = &arguments->more;
    return (gd_CUDA_KERNEL_NODE_PARAMS){.func = add,
                                        .gridDimX = 1,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 1,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .kernelParams = arguments->list};
}

static gd_CUgraphNode add_kernel(gd_CUdeviceptr in, gd_CUdeviceptr out, uint32_t more,
                                 gd_CUgraphNode before)
{
    kernel_arguments arguments;
    gd_CUDA_KERNEL_NODE_PARAMS params = kernel_of(&arguments, in, out, more);
    gd_CUgraphNode node = NULL;

    good(cuGraphAddKernelNode_v2, (&node, graph, &before, before ? 1 : 0, &params));
    return node;
}

static gd_CUgraphExec instantiate(void)
{
    gd_CUgraphExec executable = NULL;

    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    return executable;
}

/* ---- nodes of each type ---- */

static void write_nine(void *user)
{
    *(uint32_t *)user = 9;
}

TEST_GROUP(nodes, setup, teardown);
TEST_GROUP(edges, setup, teardown);
TEST_GROUP(executables, setup, teardown);

TEST(nodes, every_node_type)
{
    kernel_arguments arguments;
    gd_CUDA_KERNEL_NODE_PARAMS params = kernel_of(&arguments, a, b, 1);
    gd_CUDA_KERNEL_NODE_PARAMS_v1 first;
    gd_CUDA_MEMSET_NODE_PARAMS_v1 fill = {
        .dst = a, .value = 40, .elementSize = 4, .width = 4, .height = 1};
    gd_CUDA_MEMCPY3D copy = {.srcMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .srcDevice = b,
                             .dstMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .dstDevice = c,
                             .WidthInBytes = 4,
                             .Height = 1,
                             .Depth = 1};
    uint32_t host = 0;
    gd_CUDA_HOST_NODE_PARAMS call = {write_nine, &host};
    gd_CUgraphNode nodes[8];
    gd_CUgraph child = NULL, inner = NULL;
    gd_CUevent event = NULL;
    gd_CUgraphExec executable = NULL;
    static const gd_CUgraphNodeType types[] = {
        GD_CU_GRAPH_NODE_TYPE_MEMSET,       GD_CU_GRAPH_NODE_TYPE_KERNEL,
        GD_CU_GRAPH_NODE_TYPE_MEMCPY,       GD_CU_GRAPH_NODE_TYPE_HOST,
        GD_CU_GRAPH_NODE_TYPE_EMPTY,        GD_CU_GRAPH_NODE_TYPE_GRAPH,
        GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD, GD_CU_GRAPH_NODE_TYPE_WAIT_EVENT};

    memcpy(&first, &params, sizeof first);
    good(cuEventCreate, (&event, GD_CU_EVENT_DISABLE_TIMING));
    good(cuGraphCreate, (&child, 0));
    good(cuGraphAddMemsetNode, (&nodes[0], graph, NULL, 0, &fill, context));
    good(cuGraphAddKernelNode, (&nodes[1], graph, &nodes[0], 1, &first));
    good(cuGraphAddMemcpyNode, (&nodes[2], graph, &nodes[1], 1, &copy, context));
    good(cuGraphAddHostNode, (&nodes[3], graph, &nodes[2], 1, &call));
    good(cuGraphAddEmptyNode, (&nodes[4], graph, &nodes[3], 1));
    params = kernel_of(&arguments, c, c, 100);
    gd_CUgraphNode inside = NULL;
    good(cuGraphAddKernelNode_v2, (&inside, child, NULL, 0, &params));
    good(cuGraphAddChildGraphNode, (&nodes[5], graph, &nodes[4], 1, child));
    good(cuGraphDestroy, (child));
    good(cuGraphChildGraphNodeGetGraph, (nodes[5], &inner));
    expect(inner && inner != child);
    good(cuGraphAddEventRecordNode, (&nodes[6], graph, &nodes[5], 1, event));
    good(cuGraphAddEventWaitNode, (&nodes[7], graph, &nodes[6], 1, event));
    for (int i = 0; i < 8; i++) {
        gd_CUgraphNodeType type = -1;
        good(cuGraphNodeGetType, (nodes[i], &type));
        expect(type == types[i]);
    }
    executable = instantiate();
    good(cuGraphUpload, (executable, stream));
    for (int round = 0; round < 2; round++) {
        host = 0;
        good(cuGraphLaunch, (executable, stream));
        expect(word_at(c) == 141);
        expect(word_at(b) == 41);
        expect(host == 9);
    }
    good(cuEventSynchronize, (event));
    good(cuGraphExecDestroy, (executable));
    good(cuEventDestroy_v2, (event));
}

TEST(nodes, nodes_are_checked)
{
    kernel_arguments arguments;
    gd_CUDA_KERNEL_NODE_PARAMS params = kernel_of(&arguments, a, b, 1);
    gd_CUDA_KERNEL_NODE_PARAMS_v1 first;
    gd_CUDA_MEMSET_NODE_PARAMS_v1 fill = {
        .dst = a, .value = 40, .elementSize = 3, .width = 4, .height = 1};
    gd_CUDA_HOST_NODE_PARAMS call = {NULL, NULL};
    gd_CUgraphNode node = NULL;
    gd_CUgraphNodeType type = -1;
    gd_CUgraph inner = NULL;

    memcpy(&first, &params, sizeof first);
    bad(ERROR_INVALID_VALUE, cuGraphAddKernelNode, (NULL, graph, NULL, 0, &first));
    bad(ERROR_INVALID_VALUE, cuGraphAddKernelNode, (&node, NULL, NULL, 0, &first));
    bad(ERROR_INVALID_VALUE, cuGraphAddKernelNode, (&node, graph, NULL, 0, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphAddKernelNode, (&node, graph, NULL, 1, &first));
    bad(ERROR_INVALID_VALUE, cuGraphAddKernelNode_v2, (&node, graph, NULL, 0, NULL));
    params.gridDimX = 0;
    bad(ERROR_INVALID_VALUE, cuGraphAddKernelNode_v2, (&node, graph, NULL, 0, &params));
    bad(ERROR_INVALID_VALUE, cuGraphAddMemsetNode, (&node, graph, NULL, 0, &fill, context));
    bad(ERROR_INVALID_VALUE, cuGraphAddMemsetNode, (&node, graph, NULL, 0, NULL, context));
    bad(ERROR_INVALID_VALUE, cuGraphAddMemcpyNode, (&node, graph, NULL, 0, NULL, context));
    bad(ERROR_INVALID_VALUE, cuGraphAddHostNode, (&node, graph, NULL, 0, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphAddHostNode, (&node, graph, NULL, 0, &call));
    bad(ERROR_INVALID_VALUE, cuGraphAddChildGraphNode, (&node, graph, NULL, 0, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphAddEmptyNode, (NULL, graph, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuGraphAddEmptyNode, (&node, NULL, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuGraphAddEventRecordNode, (&node, graph, NULL, 0, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphAddEventWaitNode, (&node, graph, NULL, 0, NULL));
    node = add_kernel(a, b, 1, NULL);
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetType, (node, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetType, (NULL, &type));
    bad(ERROR_INVALID_VALUE, cuGraphChildGraphNodeGetGraph, (node, &inner));
    bad(ERROR_INVALID_VALUE, cuGraphChildGraphNodeGetGraph, (NULL, &inner));
}

/* cuGraphAddNode, both versions, for kernels, fills, host functions and empty nodes. */
TEST(nodes, nodes_of_the_general_form)
{
    kernel_arguments arguments;
    gd_CUgraphNodeParams params = {.type = GD_CU_GRAPH_NODE_TYPE_MEMSET};
    gd_CUgraphNode fill = NULL, kernel = NULL, empty = NULL;
    gd_CUgraphEdgeData data = {0};

    params.is.memset = (gd_CUDA_MEMSET_NODE_PARAMS){
        .dst = a, .value = 5, .elementSize = 4, .width = 1, .height = 1, .ctx = context};
    good(cuGraphAddNode, (&fill, graph, NULL, 0, &params));
    params = (gd_CUgraphNodeParams){.type = GD_CU_GRAPH_NODE_TYPE_KERNEL};
    params.is.kernel = kernel_of(&arguments, a, b, 2);
    good(cuGraphAddNode_v2, (&kernel, graph, &fill, &data, 1, &params));
    params = (gd_CUgraphNodeParams){.type = GD_CU_GRAPH_NODE_TYPE_EMPTY};
    good(cuGraphAddNode_v2, (&empty, graph, &kernel, NULL, 1, &params));
    gd_CUgraphExec executable = instantiate();
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 7);
    params = (gd_CUgraphNodeParams){.type = GD_CU_GRAPH_NODE_TYPE_KERNEL};
    params.is.kernel = kernel_of(&arguments, a, b, 3);
    good(cuGraphNodeSetParams, (kernel, &params));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 7);
    good(cuGraphExecNodeSetParams, (executable, kernel, &params));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 8);
    bad(ERROR_INVALID_VALUE, cuGraphNodeSetParams, (kernel, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphExecNodeSetParams, (executable, kernel, NULL));
    params.type = GD_CU_GRAPH_NODE_TYPE_EMPTY;
    bad(ERROR_INVALID_VALUE, cuGraphNodeSetParams, (kernel, &params));
    bad(ERROR_INVALID_VALUE, cuGraphExecNodeSetParams, (executable, kernel, &params));
    params.type = 1000;
    bad(ERROR_INVALID_VALUE, cuGraphAddNode, (&empty, graph, NULL, 0, &params));
    bad(ERROR_INVALID_VALUE, cuGraphAddNode, (&empty, graph, NULL, 0, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (&empty, graph, NULL, NULL, 0, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphAddNode_v2, (NULL, graph, NULL, NULL, 0, &params));
    good(cuGraphExecDestroy, (executable));
}

/* A graph without nodes, as a node, orders what stands around it. The kernel behind it was added
 * first. */
TEST(nodes, empty_graphs_order)
{
    gd_CUgraph child = NULL;
    gd_CUgraphNode inner = NULL;
    gd_CUgraphNode last = add_kernel(b, c, 1, NULL), first = add_kernel(a, b, 1, NULL);

    good(cuGraphCreate, (&child, 0));
    good(cuGraphAddChildGraphNode, (&inner, graph, &first, 1, child));
    good(cuGraphAddDependencies_v2, (graph, &inner, &last, NULL, 1));
    gd_CUgraphExec executable = instantiate();
    for (uint32_t i = 1; i < 4; i++) {
        set_word(a, 10 * i);
        good(cuGraphLaunch, (executable, stream));
        expect(word_at(c) == 10 * i + 2);
    }
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (child));
}

/* ---- edges ---- */

TEST(edges, edges)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), second = add_kernel(b, c, 1, first),
                   third = add_kernel(c, a, 1, NULL), list[4], other[4];
    size_t count = 0;

    good(cuGraphAddDependencies, (graph, &second, &third, 1));
    good(cuGraphGetNodes, (graph, NULL, &count));
    expect(count == 3);
    count = 4;
    good(cuGraphGetNodes, (graph, list, &count));
    expect(count == 3 && list[3] == NULL);
    good(cuGraphGetRootNodes, (graph, NULL, &count));
    expect(count == 1);
    good(cuGraphGetRootNodes, (graph, list, &count));
    expect(count == 1 && list[0] == first);
    good(cuGraphGetEdges, (graph, NULL, NULL, &count));
    expect(count == 2);
    good(cuGraphGetEdges, (graph, list, other, &count));
    expect(count == 2 && list[0] == first && other[0] == second && list[1] == second &&
           other[1] == third);
    count = 4;
    good(cuGraphNodeGetDependencies, (second, list, &count));
    expect(count == 1 && list[0] == first);
    count = 4;
    good(cuGraphNodeGetDependentNodes, (second, list, &count));
    expect(count == 1 && list[0] == third);
    good(cuGraphRemoveDependencies, (graph, &second, &third, 1));
    good(cuGraphGetEdges, (graph, NULL, NULL, &count));
    expect(count == 1);
    good(cuGraphDestroyNode, (second));
    good(cuGraphGetEdges, (graph, NULL, NULL, &count));
    expect(count == 0);
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies, (graph, NULL, &third, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies, (NULL, &first, &third, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies, (graph, &first, &first, 1));
    bad(ERROR_INVALID_VALUE, cuGraphRemoveDependencies, (graph, &first, &third, 1));
    bad(ERROR_INVALID_VALUE, cuGraphGetNodes, (graph, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphGetNodes, (NULL, NULL, &count));
    bad(ERROR_INVALID_VALUE, cuGraphGetRootNodes, (graph, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphGetEdges, (graph, NULL, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphGetEdges, (graph, list, NULL, &count));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetDependencies, (first, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes, (first, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetDependencies, (NULL, NULL, &count));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes, (NULL, NULL, &count));
    bad(ERROR_INVALID_VALUE, cuGraphDestroyNode, (NULL));
}

TEST(edges, edges_exist_once)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), second = add_kernel(b, c, 1, first);

    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies, (graph, &first, &second, 1));
}

/* Programmatic edges tell their ports, and are not told without them. */
TEST(edges, edges_with_data)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), second = add_kernel(b, c, 1, NULL),
                   third = add_kernel(c, a, 1, NULL), from[3], to[3];
    gd_CUgraphEdgeData programmatic = {.from_port = 1, .type = 1},
                       order = {.from_port = 2, .type = 1}, data[3];
    size_t count = 0;

    good(cuGraphAddDependencies_v2, (graph, &first, &second, &programmatic, 1));
    good(cuGraphAddDependencies_v2, (graph, &second, &third, &order, 1));
    count = 3;
    good(cuGraphGetEdges_v2, (graph, from, to, data, &count));
    expect(count == 2);
    expect(data[0].type == 1 && data[0].from_port == 1 && data[0].to_port == 0);
    expect(data[1].type == 1 && data[1].from_port == 2 && data[1].to_port == 0);
    count = 3;
    bad(ERROR_LOSSY_QUERY, cuGraphGetEdges, (graph, from, to, &count));
    count = 3;
    bad(ERROR_LOSSY_QUERY, cuGraphGetEdges_v2, (graph, from, to, NULL, &count));
    count = 3;
    bad(ERROR_LOSSY_QUERY, cuGraphNodeGetDependencies, (second, from, &count));
    count = 3;
    bad(ERROR_LOSSY_QUERY, cuGraphNodeGetDependentNodes, (first, from, &count));
    count = 3;
    bad(ERROR_LOSSY_QUERY, cuGraphNodeGetDependencies_v2, (second, from, NULL, &count));
    count = 3;
    bad(ERROR_LOSSY_QUERY, cuGraphNodeGetDependentNodes_v2, (first, from, NULL, &count));
    count = 3;
    good(cuGraphNodeGetDependencies_v2, (third, from, data, &count));
    expect(count == 1 && from[0] == second && data[0].from_port == 2);
    count = 3;
    good(cuGraphNodeGetDependentNodes_v2, (first, to, data, &count));
    expect(count == 1 && to[0] == second && data[0].from_port == 1);
    set_word(a, 10);
    gd_CUgraphExec executable = instantiate();
    good(cuGraphExecDestroy, (executable));
    good(cuGraphRemoveDependencies_v2, (graph, &first, &second, &programmatic, 1));
    bad(ERROR_INVALID_VALUE, cuGraphRemoveDependencies_v2,
        (graph, &first, &second, &programmatic, 1));
    good(cuGraphRemoveDependencies_v2, (graph, &second, &third, NULL, 1));
    good(cuGraphGetEdges, (graph, NULL, NULL, &count));
    expect(count == 0);
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, NULL, &second, &programmatic, 1));
}

/* Which data an edge may have. */
TEST(edges, edge_data_is_checked)
{
    gd_CUgraphNode kernel = add_kernel(a, b, 1, NULL), next = add_kernel(b, c, 1, NULL),
                   empty = NULL;
    gd_CUgraphEdgeData to_port = {.to_port = 1}, port = {.from_port = 1},
                       unknown = {.from_port = 9}, type = {.type = 9}, reserved = {.reserved = {1}},
                       programmatic = {.from_port = 1, .type = 1}, no_port = {.type = 1},
                       order = {.from_port = 2};

    good(cuGraphAddEmptyNode, (&empty, graph, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &next, &to_port, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &next, &port, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &next, &unknown, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &next, &type, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &next, &reserved, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &next, &no_port, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &kernel, &empty, &programmatic, 1));
    bad(ERROR_INVALID_VALUE, cuGraphAddDependencies_v2, (graph, &empty, &kernel, &programmatic, 1));
    good(cuGraphAddDependencies_v2, (graph, &kernel, &next, &order, 1));
}

TEST(edges, cycles_are_refused)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), second = add_kernel(b, c, 1, first);
    gd_CUgraphExec executable = NULL;

    gd_CUresult result = raw(cuGraphAddDependencies, (graph, &second, &first, 1));
    if (result == GD_CUDA_SUCCESS)
        bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags, (&executable, graph, 0));
    else
        expect(result == GD_CUDA_ERROR_INVALID_VALUE);
}

/* ---- clones ---- */

TEST(edges, clones)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), second = add_kernel(b, c, 1, first),
                   found = NULL;
    gd_CUgraph clone = NULL;
    gd_CUgraphExec executable = NULL;
    size_t count = 0;

    good(cuGraphClone, (&clone, graph));
    good(cuGraphNodeFindInClone, (&found, second, clone));
    expect(found && found != second);
    good(cuGraphGetEdges, (clone, NULL, NULL, &count));
    expect(count == 1);
    good(cuGraphInstantiate_v2, (&executable, clone, NULL, NULL, 0));
    set_word(a, 5);
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(c) == 7);
    good(cuGraphExecDestroy, (executable));
    bad(ERROR_INVALID_VALUE, cuGraphNodeFindInClone, (NULL, second, clone));
    bad(ERROR_INVALID_VALUE, cuGraphNodeFindInClone, (&found, NULL, clone));
    bad(ERROR_INVALID_VALUE, cuGraphNodeFindInClone, (&found, first, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphClone, (NULL, graph));
    bad(ERROR_INVALID_VALUE, cuGraphClone, (&clone, NULL));
    good(cuGraphDestroy, (clone));
    bad(ERROR_INVALID_VALUE, cuGraphCreate, (NULL, 0));
    bad(ERROR_INVALID_VALUE, cuGraphCreate, (&clone, 1));
    bad(ERROR_INVALID_VALUE, cuGraphDestroy, (NULL));
}

/* ---- executables ---- */

TEST(executables, executables)
{
    gd_CUgraphExec executable = NULL;
    gd_CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = GD_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, .hUploadStream = stream, .result_out = 99};
    uint64_t flags = 99;

    add_kernel(a, b, 1, NULL);
    good(cuGraphInstantiateWithParams, (&executable, graph, &params));
    expect(params.result_out == 0);
    good(cuGraphExecGetFlags, (executable, &flags));
    expect((flags & ~(uint64_t)GD_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0);
    set_word(a, 1);
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 2);
    bad(ERROR_INVALID_VALUE, cuGraphExecGetFlags, (executable, NULL));
    good(cuGraphExecDestroy, (executable));
    bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags, (NULL, graph, 0));
    bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags, (&executable, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags, (&executable, graph, 0x1000));
    bad(ERROR_INVALID_VALUE, cuGraphInstantiate_v2, (NULL, graph, NULL, NULL, 0));
    bad(ERROR_INVALID_VALUE, cuGraphInstantiateWithParams, (&executable, graph, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphExecDestroy, (NULL));
}

TEST(executables, null_executables)
{
    gd_CUgraphNode node = add_kernel(a, b, 1, NULL);
    kernel_arguments arguments;
    gd_CUDA_KERNEL_NODE_PARAMS params = kernel_of(&arguments, a, b, 1);
    int32_t outcome = 0;
    unsigned enabled = 0;
    uint64_t flags = 0;

    bad(ERROR_INVALID_VALUE, cuGraphLaunch, (NULL, stream));
    bad(ERROR_INVALID_VALUE, cuGraphUpload, (NULL, stream));
    bad(ERROR_INVALID_VALUE, cuGraphExecGetFlags, (NULL, &flags));
    bad(ERROR_INVALID_VALUE, cuGraphExecUpdate, (NULL, graph, &node, &outcome));
    bad(ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams_v2, (NULL, node, &params));
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetEnabled, (NULL, node, &enabled));
    bad(ERROR_INVALID_VALUE, cuGraphNodeSetEnabled, (NULL, node, 1));
}

TEST(executables, kernel_parameters)
{
    gd_CUgraphNode node = add_kernel(a, b, 1, NULL), empty = NULL;
    kernel_arguments arguments;
    gd_CUDA_KERNEL_NODE_PARAMS params = {0};
    gd_CUDA_KERNEL_NODE_PARAMS_v1 first = {0};
    gd_CUgraphExec executable;

    good(cuGraphAddEmptyNode, (&empty, graph, NULL, 0));
    good(cuGraphKernelNodeGetParams_v2, (node, &params));
    expect(params.func == add && params.gridDimX == 1 && params.blockDimZ == 1 &&
           params.sharedMemBytes == 0);
    expect(params.kernelParams && *(uint32_t *)params.kernelParams[2] == 1);
    good(cuGraphKernelNodeGetParams, (node, &first));
    expect(first.func == add && first.gridDimY == 1);
    good(cuGraphKernelNodeSetParams, (node, &first));
    params = kernel_of(&arguments, a, b, 10);
    good(cuGraphKernelNodeSetParams_v2, (node, &params));
    executable = instantiate();
    set_word(a, 1);
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 11);
    params = kernel_of(&arguments, a, b, 20);
    good(cuGraphExecKernelNodeSetParams_v2, (executable, node, &params));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 21);
    params = kernel_of(&arguments, a, b, 30);
    memcpy(&first, &params, sizeof first);
    good(cuGraphExecKernelNodeSetParams, (executable, node, &first));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 31);
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams, (empty, &first));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams_v2, (node, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams, (empty, &first));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams_v2, (node, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams, (executable, node, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams_v2, (executable, empty, &params));
    good(cuGraphExecDestroy, (executable));
}

static void write_eight(void *user)
{
    *(uint32_t *)user = 8;
}

TEST(executables, other_parameters)
{
    gd_CUDA_MEMSET_NODE_PARAMS_v1 fill = {
        .dst = a, .value = 4, .elementSize = 4, .width = 1, .height = 1};
    gd_CUDA_MEMCPY3D copy = {.srcMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .srcDevice = a,
                             .dstMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .dstDevice = b,
                             .WidthInBytes = 4,
                             .Height = 1,
                             .Depth = 1};
    uint32_t host = 0;
    gd_CUDA_HOST_NODE_PARAMS call = {write_nine, &host};
    gd_CUDA_MEMSET_NODE_PARAMS_v1 filled;
    gd_CUDA_MEMCPY3D copied;
    gd_CUgraphNode nodes[3];
    gd_CUgraphExec executable;

    good(cuGraphAddMemsetNode, (&nodes[0], graph, NULL, 0, &fill, context));
    good(cuGraphAddMemcpyNode, (&nodes[1], graph, &nodes[0], 1, &copy, context));
    good(cuGraphAddHostNode, (&nodes[2], graph, &nodes[1], 1, &call));
    fill.value = 5;
    copy.dstDevice = c;
    call.fn = write_eight;
    good(cuGraphMemsetNodeSetParams, (nodes[0], &fill));
    good(cuGraphMemcpyNodeSetParams, (nodes[1], &copy));
    good(cuGraphHostNodeSetParams, (nodes[2], &call));
    good(cuGraphMemsetNodeGetParams, (nodes[0], &filled));
    expect(filled.dst == a && filled.value == 5 && filled.elementSize == 4 && filled.width == 1 &&
           filled.height == 1);
    good(cuGraphMemcpyNodeGetParams, (nodes[1], &copied));
    expect(copied.srcDevice == a && copied.dstDevice == c && copied.WidthInBytes == 4 &&
           copied.Height == 1 && copied.Depth == 1 &&
           copied.srcMemoryType == GD_CU_MEMORYTYPE_DEVICE);
    bad(ERROR_INVALID_VALUE, cuGraphMemsetNodeGetParams, (nodes[0], NULL));
    bad(ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams, (nodes[1], NULL));
    bad(ERROR_INVALID_VALUE, cuGraphMemsetNodeGetParams, (nodes[1], &filled));
    bad(ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams, (nodes[0], &copied));
    executable = instantiate();
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(c) == 5 && word_at(b) == 0 && host == 8);
    fill.value = 6;
    copy.dstDevice = b;
    call.fn = write_nine;
    good(cuGraphExecMemsetNodeSetParams, (executable, nodes[0], &fill, context));
    good(cuGraphExecMemcpyNodeSetParams, (executable, nodes[1], &copy, context));
    good(cuGraphExecHostNodeSetParams, (executable, nodes[2], &call));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(c) == 5 && word_at(b) == 6 && host == 9);
    bad(ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams, (nodes[0], NULL));
    bad(ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams, (nodes[1], NULL));
    bad(ERROR_INVALID_VALUE, cuGraphHostNodeSetParams, (nodes[2], NULL));
    bad(ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams, (nodes[1], &fill));
    bad(ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams, (executable, nodes[0], NULL, context));
    bad(ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams, (executable, nodes[1], NULL, context));
    bad(ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams, (executable, nodes[2], NULL));
    good(cuGraphExecDestroy, (executable));
}

/* Attributes that kernel nodes have; those of launches alone they have not. */
TEST(executables, node_attributes)
{
    gd_CUgraphNode node = add_kernel(a, b, 1, NULL), other = add_kernel(b, c, 1, NULL),
                   empty = NULL;
    gd_CUlaunchAttributeValue value = {.priority = 0}, found = {.priority = 99};
    int least = 0, greatest = 0;

    good(cuGraphAddEmptyNode, (&empty, graph, NULL, 0));
    good(cuCtxGetStreamPriorityRange, (&least, &greatest));
    value.priority = greatest;
    good(cuGraphKernelNodeSetAttribute, (node, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    good(cuGraphKernelNodeGetAttribute, (node, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, &found));
    expect(found.priority == greatest);
    good(cuGraphKernelNodeGetAttribute, (other, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, &found));
    expect(found.priority == 0);
    good(cuGraphKernelNodeCopyAttributes, (other, node));
    good(cuGraphKernelNodeGetAttribute, (other, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, &found));
    expect(found.priority == greatest);
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeGetAttribute,
        (empty, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, &found));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeGetAttribute,
        (node, GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &found));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeSetAttribute,
        (empty, GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeSetAttribute,
        (node, GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &value));
    bad(ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes, (empty, node));
}

TEST(executables, nodes_are_switched_off)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), second = add_kernel(b, c, 1, first),
                   empty = NULL;
    unsigned enabled = 99;

    good(cuGraphAddEmptyNode, (&empty, graph, NULL, 0));
    gd_CUgraphExec executable = instantiate();
    good(cuGraphNodeGetEnabled, (executable, second, &enabled));
    expect(enabled == 1);
    good(cuGraphNodeSetEnabled, (executable, first, 0));
    good(cuGraphNodeGetEnabled, (executable, first, &enabled));
    expect(enabled == 0);
    set_word(a, 100);
    set_word(b, 7);
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(c) == 8);
    good(cuGraphNodeSetEnabled, (executable, first, 1));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(c) == 102);
    bad(ERROR_INVALID_VALUE, cuGraphNodeGetEnabled, (executable, first, NULL));
    bad(ERROR_INVALID_VALUE, cuGraphNodeSetEnabled, (executable, empty, 0));
    bad(ERROR_INVALID_VALUE, cuGraphNodeSetEnabled, (executable, NULL, 0));
    good(cuGraphExecDestroy, (executable));
}

TEST(executables, whole_updates)
{
    gd_CUgraphNode first = add_kernel(a, b, 1, NULL), node = NULL;
    gd_CUgraphExec executable = instantiate();
    kernel_arguments arguments;
    gd_CUDA_KERNEL_NODE_PARAMS params = kernel_of(&arguments, a, b, 50);
    gd_CUgraphExecUpdateResultInfo information = {.result = 99};
    int32_t outcome = 99;

    good(cuGraphKernelNodeSetParams_v2, (first, &params));
    good(cuGraphExecUpdate_v2, (executable, graph, &information));
    expect(information.result == GD_CU_GRAPH_EXEC_UPDATE_SUCCESS);
    set_word(a, 1);
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 51);
    good(cuGraphExecUpdate, (executable, graph, &node, &outcome));
    expect(outcome == GD_CU_GRAPH_EXEC_UPDATE_SUCCESS);
    add_kernel(b, c, 1, first);
    bad(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2, (executable, graph, &information));
    expect(information.result == GD_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    bad(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate, (executable, graph, &node, &outcome));
    expect(outcome != GD_CU_GRAPH_EXEC_UPDATE_SUCCESS);
    bad(ERROR_INVALID_VALUE, cuGraphExecUpdate_v2, (executable, NULL, &information));
    good(cuGraphLaunch, (executable, stream));
    expect(word_at(b) == 51);
    good(cuGraphExecDestroy, (executable));
}

TEST(executables, destroyed_graphs_are_refused)
{
    gd_CUgraph other = NULL;
    gd_CUgraphNode node = NULL;
    gd_CUgraphExec executable;

    if (DIFFERS(FREED_HANDLE))
        return;
    add_kernel(a, b, 1, NULL);
    executable = instantiate();
    good(cuGraphExecDestroy, (executable));
    bad(ERROR_INVALID_HANDLE, cuGraphExecDestroy, (executable));
    good(cuGraphCreate, (&other, 0));
    good(cuGraphDestroy, (other));
    bad(ERROR_INVALID_HANDLE, cuGraphDestroy, (other));
    bad(ERROR_INVALID_VALUE, cuGraphAddEmptyNode, (&node, other, NULL, 0));
    good(cuGraphAddEmptyNode, (&node, graph, NULL, 0));
    good(cuGraphDestroyNode, (node));
    bad(ERROR_INVALID_VALUE, cuGraphDestroyNode, (node));
}

SUITE(graph, "graph")
