/* Graphs, events of launches and chains with lanes, run for real: on a GPU, and built with EMULATED
 * on the emulated driver whose path is in the variable of that name (EMULATED_DRIVER). What comes
 * out must be the same. Without a GPU the first exits 77; each test runs in a process of its
 * own. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "griddep.h"
#include "conditional.h"
#include "suite.h"
#include "unit/status.h"

/* Each adds one to what it reads. step does it right; slow does it 50 us after its trigger; rash
 * triggers and does not wait; quiet knows nothing of dependent launch. */
#define ENTRY(name, begin, middle)                                                                 \
    ".visible .entry " name                                                                        \
    "(.param .u64 in, .param .u64 out)\n{\n    .reg .pred %p;\n    .reg .b64 %in, %out, %at, "     \
    "%start, %now;\n    .reg .b32 %cta, %size, %i, %v;\n" begin                                    \
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %cta, %ctaid.x;\n"    \
    "    mov.u32 %size, %ntid.x;\n    mov.u32 %i, %tid.x;\n    mad.lo.u32 %i, %cta, %size, %i;\n"  \
    "    mul.wide.u32 %at, %i, 4;\n    add.u64 %in, %in, %at;\n    add.u64 %out, %out, "           \
    "%at;\n" middle "    ld.global.u32 %v, [%in];\n    add.u32 %v, %v, 1;\n    st.global.u32 "     \
    "[%out], %v;\n    ret;\n}\n"
#define TRIGGER "    griddepcontrol.launch_dependents;\n"
#define WAIT "    griddepcontrol.wait;\n"
#define SPIN                                                                                       \
    "    mov.u64 %start, %globaltimer;\nspin:\n    mov.u64 %now, %globaltimer;\n    sub.u64 "      \
    "%now, %now, %start;\n"                                                                        \
    "    setp.lt.u64 %p, %now, 50000;\n    @%p bra spin;\n"
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY("step", TRIGGER, WAIT)
        ENTRY("slow", TRIGGER, WAIT SPIN) ENTRY("rash", TRIGGER, "") ENTRY("quiet", "", "");

enum { WORDS = 64, BYTES = 4 * WORDS, BUFFERS = 12 };

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_graph *graph;
static uint64_t buffers[BUFFERS];

static const char *driver_name(void)
{
#ifdef EMULATED
    return getenv("EMULATED_DRIVER");
#else
    return "nvidia";
#endif
}

/* ---- fixture ---- */

static void clear(void)
{
    for (int i = 0; i < BUFFERS; i++)
        ck_good(griddep_memory_fill(runtime, buffers[i], 0, BYTES, NULL, &error));
}

static void setup(void)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .driver = driver_name(), .store_directory = ""};

    griddep_error_init(&error);
    ck_good(griddep_runtime_open(&options, &runtime, &error));
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    for (int i = 0; i < BUFFERS; i++)
        ck_good(griddep_memory_allocate(runtime, BYTES, &buffers[i], &error));
    clear();
    ck_good(griddep_graph_create(runtime, &graph, &error));
}

static void teardown(void)
{
    griddep_graph_destroy(graph);
    for (int i = 0; i < BUFFERS; i++)
        ck_good(griddep_memory_free(runtime, buffers[i], &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
}

static griddep_kernel *kernel_of(const char *name)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(module, name, &kernel, &error));
    return kernel;
}

static const griddep_launch_config two_blocks = {.size = sizeof two_blocks,
                                                 .grid = {2},
                                                 .block = {WORDS / 2}};

#define ARGUMENTS(in, out)                                                                         \
    {                                                                                              \
        {.bytes = 8, .value = buffers[in]},                                                        \
        {                                                                                          \
            .bytes = 8, .value = buffers[out]                                                      \
        }                                                                                          \
    }

static uint32_t add(griddep_graph *to, const char *name, int in, int out)
{
    const griddep_argument arguments[2] = ARGUMENTS(in, out);
    uint32_t node = 0;

    ck_good(
        griddep_graph_add_kernel(to, kernel_of(name), &two_blocks, arguments, 2, &node, &error));
    return node;
}

static void connect(uint32_t from, uint32_t to, int32_t port, int32_t type)
{
    ck_good(griddep_graph_add_edge(graph, from, to, port, type, &error));
}

static void connect_in(griddep_graph *of, uint32_t from, uint32_t to)
{
    ck_good(
        griddep_graph_add_edge(of, from, to, GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_DEFAULT, &error));
}

static void launch(griddep_graph *which)
{
    ck_good(griddep_graph_launch(which, NULL, &error));
}

/* All words of a buffer, which must be the same. */
static uint32_t word_of(int buffer)
{
    uint32_t words[WORDS];

    ck_good(griddep_memory_read(runtime, words, buffers[buffer], BYTES, NULL, &error));
    for (int i = 1; i < WORDS; i++)
        ck_assert_msg(words[i] == words[0], "word %d is %u, word 0 is %u", i, (unsigned)words[i],
                      (unsigned)words[0]);
    return words[0];
}

static griddep_graph_edge_info edge_of(const griddep_graph *of, uint32_t index)
{
    griddep_graph_edge_info info = {.size = sizeof info};

    ck_good(griddep_graph_get_edge(of, index, &info, &error));
    return info;
}

/* ---- explicit graphs ---- */

static void count_up(void *user)
{
    ++*(int *)user;
}

TEST_GROUP(all, setup, teardown);

TEST(all, every_kind_of_node_runs)
{
    uint32_t fill, copy, host;
    int called = 0;

    uint32_t kernel = add(graph, "step", 0, 1);
    ck_good(griddep_graph_add_fill(graph, buffers[0], 1, BYTES, &fill, &error));
    ck_good(griddep_graph_add_copy(graph, buffers[2], buffers[1], BYTES, &copy, &error));
    ck_good(griddep_graph_add_host(graph, count_up, &called, &host, &error));
    const uint32_t order[] = {fill, kernel, copy, host};
    for (int i = 1; i < 4; i++)
        connect(order[i - 1], order[i], 0, 0);
    for (int run = 1; run < 4; run++) {
        launch(graph);
        ck_assert_uint_eq(word_of(2), 0x01010102);
        ck_assert_int_eq(called, run);
    }
}

/* What a kernel that does not wait reads tells whether the edge starts it early; one that waits
 * reads the new word on every edge. */
LOOP_TEST(all, programmatic_edges_start_early, 8)
{
    static const struct {
        const char *second;
        int32_t port, type;
        uint32_t word;
        int32_t reason;
    } cases[] = {
        {"rash", GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_DEFAULT, 2, GRIDDEP_REASON_NO_WAIT},
        {"rash", GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO, 2, GRIDDEP_REASON_NO_WAIT},
        {"rash", GRIDDEP_PORT_PROGRAMMATIC, GRIDDEP_EDGE_PROGRAMMATIC, 1, GRIDDEP_REASON_NO_WAIT},
        {"rash", GRIDDEP_PORT_LAUNCH_ORDER, GRIDDEP_EDGE_PROGRAMMATIC, 1, GRIDDEP_REASON_NO_WAIT},
        {"rash", GRIDDEP_PORT_LAUNCH_ORDER, GRIDDEP_EDGE_DEFAULT, 1, GRIDDEP_REASON_WRONG_PORT},
        {"step", GRIDDEP_PORT_PROGRAMMATIC, GRIDDEP_EDGE_PROGRAMMATIC, 2, GRIDDEP_REASON_SET},
        {"step", GRIDDEP_PORT_LAUNCH_ORDER, GRIDDEP_EDGE_PROGRAMMATIC, 2,
         GRIDDEP_REASON_LAUNCH_ORDER},
        {"step", GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO, 2, GRIDDEP_REASON_SET},
    };
    uint32_t first = add(graph, "slow", 0, 1), second = add(graph, cases[_i].second, 1, 2);

    connect(first, second, cases[_i].port, cases[_i].type);
    ck_assert_int_eq(edge_of(graph, 0).reason, cases[_i].reason);
    launch(graph);
    ck_assert_uint_eq(word_of(2), cases[_i].word);
    ck_assert_uint_eq(word_of(1), 1);
}

TEST(all, nodes_change_without_instantiation)
{
    uint32_t a = add(graph, "step", 0, 1), b = add(graph, "step", 1, 2);
    const griddep_argument arguments[2] = ARGUMENTS(1, 3);
    griddep_launch_config config = two_blocks;

    connect(a, b, 0, GRIDDEP_EDGE_AUTO);
    launch(graph);
    ck_assert_uint_eq(word_of(2), 2);
    ck_good(griddep_graph_set_arguments(graph, b, arguments, 2, &error));
    config.grid[0] = 1;
    config.block[0] = WORDS;
    ck_good(griddep_graph_set_config(graph, b, &config, &error));
    launch(graph);
    ck_assert_uint_eq(word_of(3), 2);
}

/* Each block writes its rank in its cluster: the node has the cluster, and keeps it when its
 * arguments change. */
TEST(all, nodes_have_clusters)
{
    static const char ranked[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry rank(.param .u64 out)\n{\n    .reg .b64 %out, %at;\n"
        "    .reg .b32 %cta, %size, %i, %v;\n    ld.param.u64 %out, [out];\n"
        "    mov.u32 %cta, %ctaid.x;\n    mov.u32 %size, %ntid.x;\n    mov.u32 %i, %tid.x;\n"
        "    mad.lo.u32 %i, %cta, %size, %i;\n    mul.wide.u32 %at, %i, 4;\n"
        "    add.u64 %out, %out, %at;\n    mov.u32 %v, %cluster_ctarank;\n"
        "    st.global.u32 [%out], %v;\n    ret;\n}\n";
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {4}, .block = {WORDS / 4}, .cluster = {2, 1, 1}};
    griddep_argument argument = {.bytes = 8, .value = buffers[0]};
    griddep_module *code = NULL;
    griddep_kernel *rank = NULL;
    uint32_t node = 0, words[WORDS];

    ck_good(griddep_module_load(runtime, ranked, sizeof ranked, NULL, &code, &error));
    ck_good(griddep_module_find_kernel(code, "rank", &rank, &error));
    ck_good(griddep_graph_add_kernel(graph, rank, &config, &argument, 1, &node, &error));
    for (int i = 0; i < 2; i++) {
        argument.value = buffers[i];
        ck_good(griddep_graph_set_arguments(graph, node, &argument, 1, &error));
        launch(graph);
        ck_good(griddep_memory_read(runtime, words, buffers[i], BYTES, NULL, &error));
        for (uint32_t k = 0; k < WORDS; k++)
            ck_assert_uint_eq(words[k], k / (WORDS / 4) % 2);
    }
    griddep_module_unload(code); /* the graph holds it */
    launch(graph);
}

/* ---- captures, adopted graphs ---- */

static void launch_in(const char *name, int in, int out, void *stream,
                      const griddep_attribute *attribute, int32_t pdl)
{
    const griddep_argument arguments[2] = ARGUMENTS(in, out);
    griddep_launch_config config = two_blocks;

    config.stream = stream;
    config.pdl = pdl;
    config.attributes = attribute;
    config.attribute_count = attribute != NULL;
    ck_good(griddep_launch(kernel_of(name), &config, arguments, 2, NULL, &error));
}

/* As a part of the program launches that knows nothing of the library. */
static void launch_elsewhere(const char *name, int in, int out, void *stream)
{
    griddep_kernel_info kernel = {.size = sizeof kernel};
    griddep_runtime_info info = {.size = sizeof info};
    uint64_t addresses[2] = {buffers[in], buffers[out]};
    void *arguments[2] = {&addresses[0], &addresses[1]};
    const gd_CUlaunchConfig config = {.gridDimX = two_blocks.grid[0],
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = two_blocks.block[0],
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .hStream = stream};
    gd_driver *driver = NULL;
    gd_CUcontext popped;

    ck_good(griddep_kernel_get_info(kernel_of(name), &kernel, &error));
    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_good(gd_driver_open(info.driver, &driver, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(info.context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuLaunchKernelEx(&config, kernel.function, arguments, NULL),
                     GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    gd_driver_close(driver);
}

/* The event of a launch becomes a port: trigger 0 the programmatic one, trigger 1 and launch
 * completion the order of launches. Eagerly the waiting kernel has the right word in any case. */
LOOP_TEST(all, events_of_launches_order_streams, 3)
{
    static const int32_t ports[] = {GRIDDEP_PORT_PROGRAMMATIC, GRIDDEP_PORT_LAUNCH_ORDER,
                                    GRIDDEP_PORT_LAUNCH_ORDER};
    void *first = NULL, *second = NULL, *event = NULL, *end = NULL;
    griddep_graph *captured = NULL;
    griddep_attribute attribute = {0};

    ck_good(griddep_stream_create(runtime, NULL, &first, &error));
    ck_good(griddep_stream_create(runtime, NULL, &second, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &event, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &end, &error));
    ck_good(_i < 2 ? griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                           (const int64_t[]){(intptr_t)event, _i}, 2, NULL)
                   : griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                           (const int64_t[]){(intptr_t)event}, 1, NULL));
    for (int captures = 0; captures < 2; captures++) {
        if (captures)
            ck_good(griddep_graph_capture_begin(runtime, first, &error));
        launch_in("slow", 0, 1, first, &attribute, GRIDDEP_PDL_AUTO);
        ck_good(griddep_stream_wait_event(runtime, second, event, &error));
        launch_elsewhere("step", _i < 2 ? 1 : 0, 2, second);
        ck_good(griddep_event_record(runtime, end, second, &error));
        ck_good(griddep_stream_wait_event(runtime, first, end, &error));
        launch_in("step", 2, 3, first, NULL, GRIDDEP_PDL_OFF);
        if (captures) {
            ck_good(griddep_graph_capture_end(runtime, first, &captured, &error));
            clear();
            ck_good(griddep_graph_launch(captured, first, &error));
        }
        ck_good(griddep_stream_synchronize(runtime, first, &error));
        ck_assert_uint_eq(word_of(1), 1);
        if (!captures || _i == 0) /* a wait helps on programmatic edges alone */
            ck_assert_uint_eq(word_of(3), _i < 2 ? 3 : 2);
    }
    int found = 0;
    for (uint32_t i = 0; i < griddep_graph_edge_count(captured); i++)
        found += edge_of(captured, i).from_port == ports[_i];
    ck_assert_int_eq(found, 1);
    griddep_graph_destroy(captured);
    ck_good(griddep_event_destroy(runtime, event, &error));
    ck_good(griddep_event_destroy(runtime, end, &error));
    ck_good(griddep_stream_destroy(runtime, first, &error));
    ck_good(griddep_stream_destroy(runtime, second, &error));
}

TEST(all, captures_are_upgraded)
{
    void *stream = NULL;
    griddep_graph *captured = NULL;
    const griddep_argument arguments[2] = ARGUMENTS(4, 5);
    uint32_t count = 0;

    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    launch_in("slow", 0, 1, stream, NULL, GRIDDEP_PDL_OFF);
    launch_elsewhere("step", 1, 2, stream);
    launch_in("step", 2, 3, stream, NULL, GRIDDEP_PDL_AUTO);
    launch_in("quiet", 3, 4, stream, NULL, GRIDDEP_PDL_AUTO);
    ck_good(griddep_graph_capture_end(runtime, stream, &captured, &error));
    ck_assert_uint_eq(griddep_graph_edge_count(captured), 3);
    ck_good(griddep_graph_upgrade(captured, &count, &error));
    ck_assert_uint_eq(count, 1);
    uint32_t overlaps = 0, silent = 0;
    for (uint32_t i = 0; i < 3; i++) {
        overlaps += edge_of(captured, i).reason == GRIDDEP_REASON_SET;
        silent += edge_of(captured, i).reason == GRIDDEP_REASON_NO_WAIT;
    }
    ck_assert_uint_eq(overlaps, 2);
    ck_assert_uint_eq(silent, 1);
    ck_good(griddep_graph_launch(captured, stream, &error));
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_assert_uint_eq(word_of(4), 4);
    /* the nodes' arguments can be changed, too: find the last one */
    for (uint32_t i = 0; i < 4; i++) {
        griddep_graph_node_info node = {.size = sizeof node};
        ck_good(griddep_graph_get_node(captured, i, &node, &error));
        if (!strcmp(node.name, "quiet"))
            ck_good(griddep_graph_set_arguments(captured, i, arguments, 2, &error));
    }
    ck_good(griddep_graph_launch(captured, stream, &error));
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_assert_uint_eq(word_of(5), 5);
    griddep_graph_destroy(captured);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
}

/* Its conditions look at the cluster. */
static const char clustered[] =
    "// requires:\n//   cluster.x == 2\n"
    ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY("clustered", "", "");

static griddep_attribute domains_of(void)
{
    griddep_attribute attribute = {0};

    ck_good(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP,
                                  (const int64_t[]){1, 2}, 2, &error));
    return attribute;
}

/* A captured launch's cluster and attributes are the node's, and stay when arguments or
 * configuration change, whether the new configuration names them or not. */
LOOP_TEST(all, captured_attributes_are_kept, 8)
{
    griddep_attribute attributes[8] = {{0}}, other;
    griddep_launch_config config = two_blocks;
    const griddep_argument first[2] = ARGUMENTS(0, 1), second[2] = ARGUMENTS(1, 2);
    griddep_runtime_info info = {.size = sizeof info};
    griddep_graph_node_info node = {.size = sizeof node};
    griddep_module *code = NULL;
    griddep_kernel *kernel = NULL;
    griddep_graph *captured = NULL;
    gd_driver *driver = NULL;
    gd_CUcontext popped;

    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_good(gd_driver_open(info.driver, &driver, &error));
    ck_good(griddep_module_load(runtime, clustered, sizeof clustered - 1, NULL, &code, &error));
    ck_good(griddep_module_find_kernel(code, "clustered", &kernel, &error));
    ck_good(griddep_attribute_set(&attributes[0], GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION,
                                  (const int64_t[]){2, 1, 1}, 3,
                                  &error)); /* needed by its conditions */
    ck_good(griddep_attribute_set(&attributes[1], GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-1},
                                  1, &error));
    ck_good(griddep_attribute_set(&attributes[2], GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN,
                                  (const int64_t[]){GRIDDEP_MEMORY_SYNC_DOMAIN_REMOTE}, 1, &error));
    attributes[3] = domains_of();
    ck_good(griddep_attribute_set(&attributes[4], GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                  (const int64_t[]){GRIDDEP_CLUSTER_SCHEDULING_SPREAD}, 1, &error));
    ck_good(griddep_attribute_set(&attributes[5], GRIDDEP_ATTRIBUTE_CARVEOUT, (const int64_t[]){50},
                                  1, &error));
    ck_good(griddep_attribute_set(&attributes[6], GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                  (const int64_t[]){(int64_t)buffers[0], BYTES, 500000,
                                                    GRIDDEP_ACCESS_PROPERTY_PERSISTING,
                                                    GRIDDEP_ACCESS_PROPERTY_NORMAL},
                                  5, &error));
    ck_good(griddep_attribute_set(&attributes[7], GRIDDEP_ATTRIBUTE_COOPERATIVE,
                                  (const int64_t[]){1}, 1, &error));
    const griddep_attribute given[2] = {attributes[0], attributes[_i]};
    config.attributes = given;
    config.attribute_count = _i ? 2 : 1;
    ck_good(griddep_stream_create(runtime, NULL, &config.stream, &error));
    ck_good(griddep_graph_capture_begin(runtime, config.stream, &error));
    ck_good(griddep_launch(kernel, &config, first, 2, NULL, &error));
    ck_good(griddep_graph_capture_end(runtime, config.stream, &captured, &error));
    void *stream = config.stream;
    config.stream = NULL;
    for (int round = 0; round < 4;
         round++) { /* before and after it is instantiated; named and not */
        config.attribute_count = round & 1 ? 0 : _i ? 2u : 1u;
        ck_good(griddep_graph_set_arguments(captured, 0, round & 1 ? second : first, 2, &error));
        ck_good(griddep_graph_set_config(captured, 0, &config, &error));
        ck_good(griddep_graph_launch(captured, stream, &error));
        ck_good(griddep_stream_synchronize(runtime, stream, &error));
    }
    ck_assert_uint_eq(word_of(2), 2);
    ck_good(griddep_graph_get_node(captured, 0, &node, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(info.context), GD_CUDA_SUCCESS);
    for (uint32_t i = 0; i < (_i ? 2u : 1u); i++) {
        gd_CUlaunchAttributeValue value = {.pad = {0}};
        ck_assert_int_eq(driver->cuGraphKernelNodeGetAttribute(node.handle, given[i].id, &value),
                         GD_CUDA_SUCCESS);
        ck_assert_mem_eq(&value, given[i].value, sizeof given[i].value);
    }
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    /* others are refused, and change nothing */
    ck_good(griddep_attribute_set(&other, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-2}, 1,
                                  &error));
    config.attributes = &other;
    config.attribute_count = 1;
    ck_refused(griddep_graph_set_config(captured, 0, &config, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "keeps its cluster, attributes and pdl");
    config.attribute_count = 0;
    config.cluster[0] = 1;
    ck_status(griddep_graph_set_config(captured, 0, &config, &error), GRIDDEP_ERROR_UNSUPPORTED);
    config.cluster[0] = 2;
    ck_good(griddep_graph_set_config(captured, 0, &config, &error));
    griddep_graph_destroy(captured);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    griddep_module_unload(code);
    gd_driver_close(driver);
}

TEST(all, captures_are_guarded)
{
    void *first = NULL, *second = NULL, *event = NULL;
    griddep_graph *captured = NULL;

    ck_good(griddep_stream_create(runtime, NULL, &first, &error));
    ck_good(griddep_stream_create(runtime, NULL, &second, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &event, &error));
    ck_status(griddep_graph_capture_end(runtime, first, &captured, &error), GRIDDEP_ERROR_STREAM);
    ck_status(griddep_graph_capture_begin(runtime, NULL, &error), GRIDDEP_ERROR_STREAM);
    ck_good(griddep_graph_capture_begin(runtime, first, &error));
    ck_status(griddep_graph_capture_begin(runtime, first, &error), GRIDDEP_ERROR_STREAM);
    /* a stream that is not joined */
    launch_in("step", 0, 1, first, NULL, GRIDDEP_PDL_AUTO);
    ck_good(griddep_event_record(runtime, event, first, &error));
    ck_good(griddep_stream_wait_event(runtime, second, event, &error));
    launch_in("step", 1, 2, second, NULL, GRIDDEP_PDL_AUTO);
    ck_refused(griddep_graph_capture_end(runtime, first, &captured, &error), GRIDDEP_ERROR_STREAM,
               "JOINED");
    ck_good(griddep_graph_capture_begin(runtime, first, &error)); /* it has ended */
    launch_in("step", 0, 1, first, NULL, GRIDDEP_PDL_AUTO);
    ck_good(griddep_graph_capture_end(runtime, first, &captured, &error));
    launch(captured);
    ck_assert_uint_eq(word_of(1), 1);
    griddep_graph_destroy(captured);
    ck_good(griddep_event_destroy(runtime, event, &error));
    ck_good(griddep_stream_destroy(runtime, first, &error));
    ck_good(griddep_stream_destroy(runtime, second, &error));
}

TEST(all, foreign_graphs_are_adopted)
{
    griddep_runtime_info info = {.size = sizeof info};
    griddep_kernel_info slow = {.size = sizeof slow}, step = {.size = sizeof step};
    gd_driver *driver = NULL;
    gd_CUgraph foreign = NULL;
    gd_CUgraphNode nodes[3];
    gd_CUcontext popped;
    griddep_graph *adopted = NULL;
    uint32_t count = 0;

    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_good(griddep_kernel_get_info(kernel_of("slow"), &slow, &error));
    ck_good(griddep_kernel_get_info(kernel_of("step"), &step, &error));
    ck_good(gd_driver_open(info.driver, &driver, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(info.context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphCreate(&foreign, 0), GD_CUDA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        void *parameters[2] = {&buffers[i], &buffers[i + 1]};
        const gd_CUDA_KERNEL_NODE_PARAMS params = {.func = i ? step.function : slow.function,
                                                   .gridDimX = 2,
                                                   .gridDimY = 1,
                                                   .gridDimZ = 1,
                                                   .blockDimX = WORDS / 2,
                                                   .blockDimY = 1,
                                                   .blockDimZ = 1,
                                                   .kernelParams = parameters};
        ck_assert_int_eq(driver->cuGraphAddKernelNode(&nodes[i], foreign, i ? &nodes[i - 1] : NULL,
                                                      i ? 1 : 0, &params),
                         GD_CUDA_SUCCESS);
    }
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    ck_good(griddep_graph_adopt(runtime, foreign, 0, &adopted, &error));
    ck_assert_int_eq(edge_of(adopted, 0).reason, GRIDDEP_REASON_PLAIN);
    ck_good(griddep_graph_upgrade(adopted, &count, &error));
    ck_assert_uint_eq(count, 2);
    launch(adopted);
    ck_assert_uint_eq(word_of(3), 3);
    uint32_t more = add(adopted, "step", 3, 4);
    ck_good(
        griddep_graph_add_edge(adopted, 2, more, GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO, &error));
    ck_assert_int_eq(edge_of(adopted, 2).reason, GRIDDEP_REASON_SET);
    launch(adopted);
    ck_assert_uint_eq(word_of(4), 4);
    griddep_graph_destroy(adopted);
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &adopted,
                                &error)); /* borrowed, so still there */
    ck_assert_int_eq(edge_of(adopted, 0).reason, GRIDDEP_REASON_SET);
    griddep_graph_destroy(adopted);
    gd_driver_close(driver);
}

/* One with a conditional node may have one executable at a time, also while its edges change. */
TEST(all, foreign_loops_are_upgraded)
{
    griddep_runtime_info info = {.size = sizeof info};
    gd_driver *driver = NULL;
    gd_CUgraph foreign = NULL;
    gd_CUcontext popped;
    griddep_graph *adopted = NULL;
    uint32_t count = 0;

    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_good(gd_driver_open(info.driver, &driver, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(info.context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphCreate(&foreign, 0), GD_CUDA_SUCCESS);
    add_conditional(driver, foreign, info.context, 1);
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &adopted, &error));
    connect_in(adopted, add(adopted, "slow", 0, 1), add(adopted, "step", 1, 2));
    launch(adopted);
    ck_good(griddep_graph_upgrade(adopted, &count, &error));
    ck_assert_uint_eq(count, 1);
    clear();
    launch(adopted);
    ck_assert_uint_eq(word_of(2), 2);
    griddep_graph_destroy(adopted);
    gd_driver_close(driver);
}

/* ---- lanes ---- */

static void add_launch(griddep_chain *chain, uint32_t lane, const char *name, int in, int out)
{
    const griddep_argument arguments[2] = ARGUMENTS(in, out);
    griddep_launch_config config = two_blocks;

    config.lane = lane;
    ck_good(griddep_chain_add(chain, kernel_of(name), &config, arguments, 2, &error));
}

TEST(all, lanes_give_the_same_in_every_mode)
{
    griddep_chain *chain = NULL;
    void *stream = NULL;

    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
    add_launch(chain, 0, "slow", 0, 1);  /* 0 */
    add_launch(chain, 0, "step", 1, 2);  /* 1 */
    add_launch(chain, 1, "slow", 1, 3);  /* 2, after 0 */
    add_launch(chain, 1, "quiet", 3, 4); /* 3 */
    add_launch(chain, 2, "step", 2, 5);  /* 4, after 1 */
    add_launch(chain, 2, "slow", 4, 6);  /* 5, after 3 */
    add_launch(chain, 0, "step", 6, 7);  /* 6, after 5 */
    add_launch(chain, 0, "step", 7, 8);  /* 7 */
    ck_good(griddep_chain_depend(chain, 2, 0, &error));
    ck_good(griddep_chain_depend(chain, 4, 1, &error));
    ck_good(griddep_chain_depend(chain, 5, 3, &error));
    ck_good(griddep_chain_depend(chain, 6, 5, &error));
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        clear();
        for (int run = 0; run < 3; run++)
            ck_good(griddep_chain_run(chain, mode, stream, &error));
        ck_good(griddep_stream_synchronize(runtime, stream, &error));
        ck_assert_msg(word_of(5) == 3 && word_of(8) == 6, "%s: %u and %u",
                      griddep_text(GRIDDEP_TEXT_MODE, mode), (unsigned)word_of(5),
                      (unsigned)word_of(8));
    }
    /* in somebody's capture */
    griddep_graph *captured = NULL;
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_PDL, stream, &error));
    ck_good(griddep_graph_capture_end(runtime, stream, &captured, &error));
    ck_assert_uint_eq(griddep_graph_node_count(captured), 8);
    clear();
    launch(captured);
    ck_assert_uint_eq(word_of(8), 6);
    griddep_graph_destroy(captured);
    griddep_chain_destroy(chain);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
}

/* ---- running ---- */

#ifdef EMULATED
static int driver_is_there(void)
{
    return driver_name() != NULL;
}
#else
/* Asked in a process of its own: a driver that is initialized does not survive fork. */
static int driver_is_there(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        const griddep_runtime_options options = {.size = sizeof options, .driver = driver_name()};
        griddep_runtime *probe = NULL;
        griddep_error why;
        griddep_error_init(&why);
        if (!griddep_runtime_open(&options, &probe, &why))
            _exit(0);
        printf("skipped: no GPU: %s\n", why.text);
        fflush(stdout);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
#endif

int main(void)
{
    const char *required = getenv("GRIDDEP_REQUIRE_GPU");

    setenv("CK_DEFAULT_TIMEOUT", "1800", 0); /* how fast a machine is, nobody knows */
    if (!driver_is_there())
        return required && !strcmp(required, "1") ? EXIT_FAILURE : 77;
    return run_suite(make_suite("graphs that run"));
}
