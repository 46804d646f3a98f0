/* Graphs, events and lanes of chains on the scripted fake driver: what is refused and in which
 * words, what reaches the driver, what the audit says, and every driver call and allocation failing
 * in turn. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/launch/hold.h"
#include "run/module/module.h"
#include "run/runtime.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/quiet.h"
#include "unit/status.h"

/* step does it right; quiet knows nothing of dependent launch; mute waits and never triggers; rash
 * triggers and never waits; sometimes waits on one path. Each makes out = in + 1, and
 * step writes the sizes of its cluster and of its grid behind that. tell writes its first
 * argument. eager waits when it has read; scatter writes to an address that it reads from
 * memory. */
#define ENTRY(name, body)                                                                          \
    ".visible .entry " name "(.param .u64 in, .param .u64 out)\n{\n" body "    ret;\n}\n"
#define ADD                                                                                        \
    "    .reg .b64 a<4>;\n    .reg .b32 w<4>;\n    ld.param.u64 a1, [in];\n"                       \
    "    ld.param.u64 a2, [out];\n    mov.u32 w1, %tid.x;\n    mul.wide.u32 a3, w1, 4;\n"          \
    "    add.s64 a1, a1, a3;\n    add.s64 a3, a2, a3;\n    ld.global.u32 w2, [a1];\n"              \
    "    add.u32 w2, w2, 1;\n    st.global.u32 [a3], w2;\n"
#define SHAPE                                                                                      \
    "    mov.u32 w2, %cluster_nctaid.x;\n    st.global.u32 [a2+8], w2;\n"                          \
    "    mov.u32 w2, %nctaid.x;\n    st.global.u32 [a2+12], w2;\n"
#define TELL                                                                                       \
    "    .reg .b64 a<3>;\n    ld.param.u64 a1, [in];\n    ld.param.u64 a2, [out];\n"               \
    "    st.global.u64 [a2], a1;\n"
#define EARLY                                                                                      \
    "    .reg .b64 a<3>;\n    .reg .b32 w;\n    ld.param.u64 a1, [in];\n"                          \
    "    ld.param.u64 a2, [out];\n    ld.global.u32 w, [a1];\n" WAIT                               \
    "    add.u32 w, w, 1;\n    st.global.u32 [a2], w;\n"
#define SCATTER                                                                                    \
    "    .reg .b64 a<3>;\n    ld.param.u64 a1, [in];\n    ld.global.u64 a2, [a1];\n"               \
    "    st.global.u32 [a2], 7;\n"
#define TRIGGER "    griddepcontrol.launch_dependents;\n"
#define WAIT "    griddepcontrol.wait;\n"
#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
static const char ptx[] = HEADER ENTRY("step", TRIGGER WAIT ADD SHAPE) ENTRY("quiet", ADD) ENTRY(
    "mute", WAIT ADD) ENTRY("rash", TRIGGER ADD) ENTRY("tell", TELL) ENTRY("eager", TRIGGER EARLY)
    ENTRY("scatter", TRIGGER WAIT SCATTER) ENTRY(
        "sometimes",
        "    .reg .pred p;\n    .reg .b64 r;\n    ld.param.u64 r, [in];\n    setp.eq.u64 p, r, 0;\n"
        "    @p ret;\n" WAIT ADD);

/* The same for older devices, which do not know griddepcontrol. */
static const char old_ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n" ENTRY("step", ADD);

enum { WORDS = 4, BYTES = 4 * WORDS, MOST_BUFFERS = 8 };

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_graph *graph;
static uint64_t buffers[MOST_BUFFERS];

/* ---- fixture ---- */

static int32_t open_runtime(griddep_runtime **opened)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;
    int32_t status = gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error);

    return status ? status : gd_runtime_open_on(driver, &options, opened, &error);
}

static void reset(void)
{
    unsetenv("GRIDDEP_PDL");
    unsetenv("GRIDDEP_LOG");
    fake_driver_reset();
    griddep_error_init(&error);
}

static void open_all(const char *text)
{
    ck_good(open_runtime(&runtime));
    ck_good(griddep_module_load(runtime, text, strlen(text), NULL, &module, &error));
    for (int i = 0; i < MOST_BUFFERS; i++) {
        ck_good(griddep_memory_allocate(runtime, BYTES, &buffers[i], &error));
        ck_good(griddep_memory_fill(runtime, buffers[i], 0, BYTES, NULL, &error));
    }
    ck_good(griddep_graph_create(runtime, &graph, &error));
}

static void setup(void)
{
    reset();
    open_all(ptx);
}

static void assert_nothing_left(void)
{
    char left[256] = "";

    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static void close_all(void)
{
    griddep_graph_destroy(graph);
    for (int i = 0; i < MOST_BUFFERS; i++)
        ck_good(griddep_memory_free(runtime, buffers[i], &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    assert_nothing_left();
}

static griddep_kernel *kernel_of(const char *name)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(module, name, &kernel, &error));
    return kernel;
}

static const griddep_launch_config one_block = {.size = sizeof one_block,
                                                .grid = {1},
                                                .block = {WORDS}};

static uint32_t add_to(griddep_graph *to, const char *name, int in, int out)
{
    const griddep_argument arguments[2] = {POINTER(buffers[in]), POINTER(buffers[out])};
    uint32_t node = 99;

    ck_good(griddep_graph_add_kernel(to, kernel_of(name), &one_block, arguments, 2, &node, &error));
    return node;
}

static uint32_t add(const char *name, int in, int out)
{
    return add_to(graph, name, in, out);
}

static void connect(uint32_t from, uint32_t to, int32_t port, int32_t type)
{
    ck_good(griddep_graph_add_edge(graph, from, to, port, type, &error));
}

static void connect_auto(uint32_t from, uint32_t to)
{
    connect(from, to, GRIDDEP_PORT_DEFAULT, GRIDDEP_EDGE_AUTO);
}

enum { SUM = 0, CLUSTER = 2, GRID = 3 };

static uint32_t told_in(int buffer, int word)
{
    uint32_t words[WORDS];

    ck_good(griddep_memory_read(runtime, words, buffers[buffer], BYTES, NULL, &error));
    return words[word];
}

static uint32_t word_of(int buffer)
{
    return told_in(buffer, SUM);
}

/* How often an attribute was set in a node. */
static int count_set(gd_CUlaunchAttributeID attribute)
{
    fake_call call;
    int count = 0;

    for (uint64_t i = 0; fake_driver_call(i, &call); i++)
        count += !strcmp(call.symbol, "cuGraphKernelNodeSetAttribute") &&
                 call.arguments[1] == (uint64_t)attribute;
    return count;
}

static griddep_graph_edge_info edge_of(const griddep_graph *of, uint32_t index)
{
    griddep_graph_edge_info info = {.size = sizeof info};

    ck_good(griddep_graph_get_edge(of, index, &info, &error));
    return info;
}

static void expect_edge(const griddep_graph *of, uint32_t index, int32_t reason, int32_t type,
                        int32_t overlap)
{
    griddep_graph_edge_info info = edge_of(of, index);

    ck_assert_msg(info.reason == reason && info.type == type && info.overlap == overlap,
                  "edge %u: reason %d (%s), type %d, overlap %d; expected %d, %d, %d",
                  (unsigned)index, (int)info.reason, griddep_text(GRIDDEP_TEXT_REASON, info.reason),
                  (int)info.type, (int)info.overlap, (int)reason, (int)type, (int)overlap);
}

/* ---- events ---- */

TEST_GROUP(open, setup, close_all);
TEST_GROUP(failing, NULL, NULL);

TEST(open, events_without_timing_are_recorded_by_launches)
{
    griddep_attribute attribute = {0};
    void *event = NULL, *timed = NULL, *stream = NULL;
    fake_launch launch;
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};

    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &event, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &timed, &error));
    ck_assert_int_eq(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                           (const int64_t[]){(intptr_t)event, 1}, 2, NULL),
                     GRIDDEP_OK);
    griddep_launch_config config = one_block;
    config.attributes = &attribute;
    config.attribute_count = 1;
    ck_good(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error));
    ck_assert(fake_driver_last_launch(&launch));
    ck_assert_uint_eq(launch.config.numAttrs, 2); /* and attribute 6 */
    ck_assert_int_eq(launch.config.attrs[1].id, GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
    ck_assert_ptr_eq(launch.config.attrs[1].value.programmaticEvent.event, event);
    ck_assert_int_eq(launch.config.attrs[1].value.programmaticEvent.triggerAtBlockStart, 1);
    ck_assert_int_eq(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                           (const int64_t[]){(intptr_t)event}, 1, NULL),
                     GRIDDEP_OK);
    ck_good(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error));
    ck_assert(fake_driver_last_launch(&launch));
    ck_assert_int_eq(launch.config.attrs[1].id, GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
    ck_good(griddep_event_record(runtime, event, NULL, &error));
    ck_good(griddep_stream_wait_event(runtime, stream, event, &error));
    ck_assert_uint_eq(fake_driver_calls("cuStreamWaitEvent"), 1);
    /* with timing: refused before the driver is asked */
    uint64_t before = fake_driver_launches();
    for (int32_t kind = 0; kind < 2; kind++) {
        ck_assert_int_eq(
            kind ? griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                         (const int64_t[]){(intptr_t)timed, 0}, 2, NULL)
                 : griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                         (const int64_t[]){(intptr_t)timed}, 1, NULL),
            GRIDDEP_OK);
        ck_refused(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error),
                   GRIDDEP_ERROR_ARGUMENT, "event with timing");
    }
    ck_assert_uint_eq(fake_driver_launches(), before);
    ck_good(griddep_event_destroy(runtime, event, &error));
    ck_good(griddep_event_destroy(runtime, timed, &error));
    ck_good(griddep_stream_destroy(runtime, stream, &error));
}

TEST(open, events_are_checked)
{
    griddep_attribute attribute;
    void *event = &event, *kept = event;

    ck_status(griddep_event_create(runtime, 2, &event, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_event_create(runtime, -1, &event, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_eq(event, kept);
    ck_status(griddep_event_create(runtime, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_stream_wait_event(runtime, NULL, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_stream_wait_event(NULL, NULL, event, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                           (const int64_t[]){0, 0}, 2, NULL),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                           (const int64_t[]){(intptr_t)event, 2}, 2, NULL),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_attribute_set(NULL, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                           (const int64_t[]){(intptr_t)event, 0}, 2, NULL),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_attribute_set(NULL, GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                           (const int64_t[]){(intptr_t)event}, 1, NULL),
                     GRIDDEP_ERROR_ARGUMENT);
}

/* ---- building ---- */

static void count_up(void *user)
{
    ++*(int *)user;
}

TEST(open, every_kind_of_node_runs)
{
    uint32_t fill, kernel, copy, host;
    int called = 0;

    kernel = add("step", 0, 1); /* before what it depends on: the order of edges counts */
    ck_good(griddep_graph_add_fill(graph, buffers[0], 1, BYTES, &fill, &error));
    ck_good(griddep_graph_add_copy(graph, buffers[2], buffers[1], BYTES, &copy, &error));
    ck_good(griddep_graph_add_host(graph, count_up, &called, &host, &error));
    connect(fill, kernel, 0, 0);
    connect(kernel, copy, 0, 0);
    connect(copy, host, 0, 0);
    for (int run = 1; run < 4; run++) {
        ck_good(griddep_graph_launch(graph, NULL, &error));
        ck_assert_uint_eq(word_of(1), 0x01010102);
        ck_assert_uint_eq(word_of(2), 0x01010102);
        ck_assert_int_eq(called, run);
    }
    ck_assert_uint_eq(fake_driver_calls("cuGraphInstantiateWithFlags"), 1);
    ck_assert_uint_eq(griddep_graph_node_count(graph), 4);
    ck_assert_uint_eq(griddep_graph_edge_count(graph), 3);
    griddep_graph_node_info info = {.size = sizeof info};
    ck_good(griddep_graph_get_node(graph, copy, &info, &error));
    ck_assert_int_eq(info.type, GRIDDEP_GRAPH_NODE_COPY);
    ck_assert_uint_eq(info.before_count, 1);
    ck_assert_uint_eq(info.after_count, 1);
    ck_assert_ptr_nonnull(info.handle);
    ck_good(griddep_graph_get_node(graph, kernel, &info, &error));
    ck_assert_str_eq(info.name, "step");
    ck_assert_uint_eq(info.traits & GRIDDEP_TRAIT_WAITS_ALWAYS, GRIDDEP_TRAIT_WAITS_ALWAYS);
    ck_good(griddep_graph_instantiate(graph, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_good(griddep_stream_synchronize(runtime, NULL, &error));
}

TEST(open, bad_nodes_are_refused)
{
    griddep_attribute attribute;
    griddep_launch_config config = one_block;
    const griddep_argument arguments[2] = {{.bytes = 8}, {.bytes = 8}};
    uint32_t node = 77;
    void *event = NULL;

    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &event, &error));
    ck_status(griddep_graph_add_kernel(graph, NULL, &config, arguments, 2, &node, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(
        griddep_graph_add_kernel(graph, kernel_of("step"), &config, arguments, 1, &node, &error),
        GRIDDEP_ERROR_SIGNATURE);
    ck_status(
        griddep_graph_add_kernel(graph, kernel_of("step"), &config, arguments, 2, NULL, &error),
        GRIDDEP_ERROR_ARGUMENT);
    config.stream = GD_CU_STREAM_PER_THREAD;
    ck_refused(
        griddep_graph_add_kernel(graph, kernel_of("step"), &config, arguments, 2, &node, &error),
        GRIDDEP_ERROR_ARGUMENT, "griddep_graph_launch");
    config.stream = NULL;
    config.attributes = &attribute;
    config.attribute_count = 1;
    ck_assert_int_eq(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                           (const int64_t[]){(intptr_t)event, 0}, 2, NULL),
                     GRIDDEP_OK);
    ck_refused(
        griddep_graph_add_kernel(graph, kernel_of("step"), &config, arguments, 2, &node, &error),
        GRIDDEP_ERROR_ARGUMENT, "attribute 7");
    ck_status(griddep_graph_add_fill(graph, 0, 1, 4, &node, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_graph_add_fill(graph, buffers[0], 1, 0, &node, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_graph_add_copy(graph, buffers[0], UINT64_MAX, 4, &node, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_graph_add_host(graph, NULL, NULL, &node, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_uint_eq(node, 77);
    ck_assert_uint_eq(griddep_graph_node_count(graph), 0);
    ck_status(griddep_graph_add_fill(NULL, 8, 0, 8, &node, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_event_destroy(runtime, event, &error));
}

TEST(open, bad_edges_are_refused_with_names)
{
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), c = add("quiet", 2, 3), fill;
    const struct {
        uint32_t from, to;
        int32_t port, type, status;
        const char *words;
    } cases[] = {
        {a, a, 0, 0, GRIDDEP_ERROR_ARGUMENT, "wait for itself"},
        {c, a, 0, 0, GRIDDEP_ERROR_ARGUMENT,
         "from node 2 (kernel quiet) to node 0 (kernel step): it would close a cycle"},
        {a, b, 0, 0, GRIDDEP_ERROR_ARGUMENT, "one already"},
        {3, a, 1, 1, GRIDDEP_ERROR_ARGUMENT,
         "node 3 (fill) to node 0 (kernel step): only a kernel has another port"},
        {3, a, 2, 0, GRIDDEP_ERROR_ARGUMENT, "only a kernel has another port"},
        {3, a, 0, 1, GRIDDEP_ERROR_ARGUMENT, "begins at a kernel"},
        {a, 3, 1, 1, GRIDDEP_ERROR_ARGUMENT, "node 3 (fill): a programmatic edge ends at a kernel"},
        {a, c, 1, 0, GRIDDEP_ERROR_ARGUMENT, "needs the type PROGRAMMATIC"},
        {a, c, 0, 1, GRIDDEP_ERROR_ARGUMENT, "needs the port PROGRAMMATIC or LAUNCH_ORDER"},
        {a, c, 1, 2, GRIDDEP_ERROR_ARGUMENT, "AUTO"},
        {a, c, 3, 0, GRIDDEP_ERROR_ARGUMENT, "from_port is 3"},
        {a, c, -1, 0, GRIDDEP_ERROR_ARGUMENT, "from_port is -1"},
        {a, c, 0, 3, GRIDDEP_ERROR_ARGUMENT, "type is 3"},
        {a, 9, 0, 0, GRIDDEP_ERROR_NOT_FOUND, "no node 9"},
        {9, a, 0, 0, GRIDDEP_ERROR_NOT_FOUND, "no node 9"},
    };

    ck_good(griddep_graph_add_fill(graph, buffers[4], 1, BYTES, &fill, &error));
    connect(a, b, 0, 0);
    connect(b, c, 0, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_status(griddep_graph_add_edge(graph, cases[i].from, cases[i].to, cases[i].port,
                                         cases[i].type, &error),
                  cases[i].status);
        ck_says(cases[i].words);
    }
    ck_assert_uint_eq(griddep_graph_edge_count(graph), 2);
    ck_assert_uint_eq(fake_driver_calls("cuGraphCreate"), 0);
}

TEST(open, attributes_reach_the_node)
{
    griddep_launch_config config = one_block;
    const griddep_attribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                         .value = {UINT32_MAX}}; /* -1 */
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};
    uint32_t node;

    config.grid[0] = 4;
    config.cluster[0] = 2;
    config.attributes = &attribute;
    config.attribute_count = 1;
    ck_good(
        griddep_graph_add_kernel(graph, kernel_of("step"), &config, arguments, 2, &node, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(told_in(1, CLUSTER), 2);
    ck_assert_uint_eq(fake_driver_calls("cuGraphKernelNodeSetAttribute"), 2);
    ck_assert_int_eq(count_set(GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION), 1);
    ck_assert_int_eq(count_set(GD_CU_LAUNCH_ATTRIBUTE_PRIORITY), 1);
}

/* ---- changes ---- */

TEST(open, arguments_change_without_instantiation)
{
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), fill;
    griddep_argument arguments[2] = {POINTER(buffers[1]), POINTER(buffers[3])};
    griddep_launch_config config = one_block;

    ck_good(griddep_graph_add_fill(graph, buffers[5], 1, BYTES, &fill, &error));
    connect_auto(a, b);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(2), 2);
    ck_good(griddep_graph_set_arguments(graph, b, arguments, 2, &error));
    memset(arguments, 0, sizeof arguments); /* they were copied */
    config.grid[0] = 3;
    ck_good(griddep_graph_set_config(graph, b, &config, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(3), 2);
    ck_assert_uint_eq(told_in(3, GRID), 3);
    ck_assert_uint_eq(fake_driver_calls("cuGraphInstantiateWithFlags"), 1);
    /* refused, and nothing changed */
    ck_status(griddep_graph_set_arguments(graph, b, arguments, 1, &error), GRIDDEP_ERROR_SIGNATURE);
    ck_refused(griddep_graph_set_arguments(graph, fill, arguments, 2, &error),
               GRIDDEP_ERROR_ARGUMENT, "node 2 (fill) is no kernel");
    ck_status(griddep_graph_set_arguments(graph, 3, arguments, 2, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_graph_set_config(graph, b, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    config.cluster[0] = 3;
    ck_refused(griddep_graph_set_config(graph, b, &config, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "node 1 (kernel step) keeps its cluster");
    fake_driver_fail("cuGraphExecKernelNodeSetParams", 1, GD_CUDA_ERROR_INVALID_VALUE);
    config.cluster[0] = 0;
    config.grid[0] = 5;
    ck_refused(griddep_graph_set_config(graph, b, &config, &error), GRIDDEP_ERROR_DRIVER,
               "node 1 (kernel step)");
    ck_good(griddep_graph_instantiate(graph, &error));
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(told_in(3, GRID), 3);
}

/* ---- audit ---- */

TEST(open, audit_tells_why)
{
    static const struct {
        const char *first, *second;
        int32_t port, type, reason, made, overlap;
    } cases[] = {
        {"step", "step", 0, GRIDDEP_EDGE_AUTO, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL},
        {"step", "step", 1, GRIDDEP_EDGE_PROGRAMMATIC, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL},
        {"step", "step", 2, GRIDDEP_EDGE_PROGRAMMATIC, GRIDDEP_REASON_LAUNCH_ORDER, 1,
         GRIDDEP_OVERLAP_FULL},
        {"step", "step", 2, GRIDDEP_EDGE_DEFAULT, GRIDDEP_REASON_WRONG_PORT, 0,
         GRIDDEP_OVERLAP_FULL},
        {"step", "step", 0, GRIDDEP_EDGE_DEFAULT, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE},
        {"mute", "step", 0, GRIDDEP_EDGE_AUTO, GRIDDEP_REASON_NO_TRIGGER, 1, GRIDDEP_OVERLAP_NONE},
        {"step", "quiet", 0, GRIDDEP_EDGE_AUTO, GRIDDEP_REASON_NO_WAIT, 0, GRIDDEP_OVERLAP_NONE},
        {"step", "quiet", 1, GRIDDEP_EDGE_PROGRAMMATIC, GRIDDEP_REASON_NO_WAIT, 1,
         GRIDDEP_OVERLAP_FULL},
        {"step", "sometimes", 0, GRIDDEP_EDGE_AUTO, GRIDDEP_REASON_WAIT_NOT_ALWAYS, 0,
         GRIDDEP_OVERLAP_NONE},
        {"mute", "rash", 0, GRIDDEP_EDGE_AUTO, GRIDDEP_REASON_WRONG_END, 0, GRIDDEP_OVERLAP_NONE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t first = add(cases[i].first, 0, 1), second = add(cases[i].second, 1, 2);
        connect(first, second, cases[i].port, cases[i].type);
        expect_edge(graph, (uint32_t)i, cases[i].reason, cases[i].made, cases[i].overlap);
        ck_assert_int_eq(edge_of(graph, (uint32_t)i).asked, cases[i].type);
    }
    ck_good(griddep_graph_launch(graph, NULL, &error)); /* the driver takes all of them */
    griddep_graph_edge_info info = {.size = sizeof info};
    ck_status(griddep_graph_get_edge(graph, 10, &info, &error), GRIDDEP_ERROR_NOT_FOUND);
    for (int32_t i = 0; i <= GRIDDEP_REASON_TOOLS; i++)
        ck_assert_str_ne(griddep_text(GRIDDEP_TEXT_REASON, i), "unknown reason");
    ck_assert_str_eq(griddep_text(GRIDDEP_TEXT_REASON, -1), "unknown reason");
}

TEST(open, audit_sees_what_stands_between)
{
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), fill, other = add("quiet", 5, 6),
             c = add("step", 2, 3);

    ck_good(griddep_graph_add_fill(graph, buffers[4], 0, BYTES, &fill, &error));
    connect_auto(a, fill);
    connect_auto(fill, b);
    expect_edge(graph, 0, GRIDDEP_REASON_NODE_BETWEEN, 0, GRIDDEP_OVERLAP_NONE);
    expect_edge(graph, 1, GRIDDEP_REASON_NODE_BETWEEN, 0, GRIDDEP_OVERLAP_NONE);
    ck_assert_uint_eq(edge_of(graph, 0).node, fill);
    connect_auto(b, c);
    connect(other, c, 0, GRIDDEP_EDGE_DEFAULT); /* c starts when `other` has ended, too */
    expect_edge(graph, 2, GRIDDEP_REASON_OTHER_ORDER, 1, GRIDDEP_OVERLAP_NONE);
    ck_assert_uint_eq(edge_of(graph, 2).node, other);
    connect(a, c, 0, GRIDDEP_EDGE_DEFAULT); /* has ended when b begins */
    connect(fill, c, 0, GRIDDEP_EDGE_DEFAULT);
    ck_assert_uint_eq(edge_of(graph, 2).node, other);
    expect_edge(graph, 5, GRIDDEP_REASON_NODE_BETWEEN, 0, GRIDDEP_OVERLAP_NONE);
}

static void reopen(const char *text)
{
    griddep_graph_destroy(graph);
    graph = NULL;
    for (int i = 0; i < MOST_BUFFERS; i++)
        ck_good(griddep_memory_free(runtime, buffers[i], &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    open_all(text);
}

LOOP_TEST(open, early_starts_can_be_forbidden, 4)
{
    static const int32_t audits[] = {GRIDDEP_REASON_KILL_SWITCH, GRIDDEP_REASON_DEVICE,
                                     GRIDDEP_REASON_DRIVER, GRIDDEP_REASON_DRIVER};

    if (_i == 0)
        setenv("GRIDDEP_PDL", "off", 1);
    if (_i == 1)
        fake_driver_set_capability(80);
    if (_i == 2)
        fake_driver_set_version(12020);
    if (_i == 3)
        fake_driver_hide("cuGraphAddDependencies");
    reopen(_i == 1 ? old_ptx : ptx);
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), c = add("step", 2, 3),
             d = add("step", 3, 4);
    connect_auto(a, b);
    connect(b, c, 1, GRIDDEP_EDGE_PROGRAMMATIC);
    connect(c, d, 2, GRIDDEP_EDGE_DEFAULT);
    for (uint32_t i = 0; i < 3; i++)
        expect_edge(graph, i, audits[_i], GRIDDEP_EDGE_DEFAULT, GRIDDEP_OVERLAP_NONE);
    uint32_t count = 7;
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, 0);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(4), 4);
    ck_assert_uint_eq(fake_driver_calls("cuGraphAddDependencies"), 0);
    griddep_runtime_info info = {.size = sizeof info};
    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_assert_int_eq(!(info.features & GRIDDEP_FEATURE_GRAPH_EDGES), _i >= 2);
}

/* A graph that another part of the program made, with bare driver calls. */
static gd_CUgraph make_foreign(const gd_driver *driver, gd_CUfunction first, gd_CUfunction second)
{
    gd_CUgraph foreign = NULL;
    gd_CUgraphNode nodes[2];
    void *parameters[2] = {&buffers[0], &buffers[1]};
    gd_CUDA_KERNEL_NODE_PARAMS params = {.func = first,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = WORDS,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};

    ck_assert_int_eq(driver->cuCtxPushCurrent(runtime->context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphCreate(&foreign, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphAddKernelNode(&nodes[0], foreign, NULL, 0, &params),
                     GD_CUDA_SUCCESS);
    params.func = second;
    ck_assert_int_eq(driver->cuGraphAddKernelNode(&nodes[1], foreign, nodes, 1, &params),
                     GD_CUDA_SUCCESS);
    gd_CUcontext popped;
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    return foreign;
}

static void *function_of(const char *name)
{
    griddep_kernel_info info = {.size = sizeof info};

    ck_good(griddep_kernel_get_info(kernel_of(name), &info, &error));
    return info.function;
}

/* ---- upgrade ---- */

TEST(open, upgrade_makes_what_waits_programmatic)
{
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), c = add("quiet", 2, 3),
             d = add("step", 3, 4), count = 9;

    connect(a, b, 0, 0);
    connect(b, c, 0, 0);
    connect(c, d, 0, 0);
    connect(a, d, 0, 0); /* c's edge says it all, so this one stays */
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, 2);
    expect_edge(graph, 0, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    expect_edge(graph, 1, GRIDDEP_REASON_NO_WAIT, 0, GRIDDEP_OVERLAP_NONE);
    expect_edge(graph, 2, GRIDDEP_REASON_NO_TRIGGER, 1, GRIDDEP_OVERLAP_NONE);
    expect_edge(graph, 3, GRIDDEP_REASON_OTHER_ORDER, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(4), 4);
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, 0);
}

LOOP_TEST(open, upgrade_is_rolled_back, 2)
{
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), c = add("step", 2, 3), count = 9;

    connect(a, b, 0, 0);
    connect(b, c, 0, 0);
    if (_i)
        ck_good(griddep_graph_instantiate(graph, &error));
    fake_driver_fail("cuGraphInstantiateWithFlags", 1, GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_assert_int_ne(griddep_graph_upgrade(graph, &count, &error), GRIDDEP_OK);
    ck_says("CUDA_ERROR_NOT_SUPPORTED");
    ck_assert_uint_eq(count, 9);
    expect_edge(graph, 0, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    expect_edge(graph, 1, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(3), 3);
    ck_assert_uint_eq(fake_driver_calls("cuGraphInstantiateWithFlags"), 2);
}

/* Ways that a graph of two kernels came to be. */
enum { MADE, CAPTURED, FOREIGN, WAYS };

static void set_buffers(griddep_graph *of, uint32_t node, int in, int out)
{
    const griddep_argument arguments[2] = {{.data = &buffers[in], .bytes = 8},
                                           {.data = &buffers[out], .bytes = 8}};

    ck_good(griddep_graph_set_arguments(of, node, arguments, 2, &error));
}

/* first, from buffer 0 to 1, and second with these buffers, behind it. */
static griddep_graph *make_pair(int way, const char *first, const char *second, int in, int out)
{
    griddep_graph *made = NULL;
    void *stream = NULL;
    const uint64_t kept[2] = {buffers[0], buffers[1]};

    if (way == FOREIGN) { /* the driver alone knows the arguments */
        buffers[0] = buffers[in];
        buffers[1] = buffers[out];
        gd_CUgraph foreign = make_foreign(runtime->driver, function_of(first), function_of(second));
        memcpy(buffers, kept, sizeof kept);
        ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &made, &error));
        set_buffers(made, 0, 0, 1);
        return made;
    }
    if (way == CAPTURED) {
        ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
        ck_good(griddep_graph_capture_begin(runtime, stream, &error));
        ck_good(griddep_graph_capture_end(runtime, stream, &made, &error));
        ck_good(griddep_stream_destroy(runtime, stream, &error));
    } else {
        ck_good(griddep_graph_create(runtime, &made, &error));
    }
    const uint32_t a = add_to(made, first, 0, 1), b = add_to(made, second, in, out);
    ck_good(griddep_graph_add_edge(made, a, b, 0, GRIDDEP_EDGE_DEFAULT, &error));
    return made;
}

static void expect_upgrade(griddep_graph *of, uint32_t most)
{
    uint32_t count = 9;

    ck_good(griddep_graph_upgrade(of, &count, &error));
    ck_assert_uint_eq(count, most);
    expect_edge(of, 0, most ? GRIDDEP_REASON_SET : GRIDDEP_REASON_RACE, most ? 1 : 0,
                most ? GRIDDEP_OVERLAP_FULL : GRIDDEP_OVERLAP_NONE);
}

/* What a kernel reads before its wait counts where the one before may still write it: by an
 * argument, or at an address that nobody can trace. */
LOOP_TEST(open, upgrade_looks_at_what_is_touched_early, 4 * WAYS)
{
    static const struct {
        const char *first;
        int in;
        uint32_t upgraded;
    } cases[] = {{"step", 1, 0}, {"step", 3, 1}, {"scatter", 3, 0}, {"scatter", 1, 0}};
    const int way = _i % WAYS, at = _i / WAYS;
    griddep_graph *of = make_pair(way, cases[at].first, "eager", cases[at].in, 2);

    expect_upgrade(of, cases[at].upgraded);
    if (!strcmp(cases[at].first, "scatter")) { /* whose words lead to the buffer that is read */
        const uint64_t target = buffers[cases[at].in];
        ck_good(griddep_memory_write(runtime, buffers[0], &target, sizeof target, NULL, &error));
        ck_good(griddep_graph_launch(of, NULL, &error));
        ck_assert_uint_eq(word_of(2), 8);
    }
    griddep_graph_destroy(of);
}

LOOP_TEST(open, upgraded_edges_fall_back_when_arguments_change, WAYS)
{
    griddep_graph *of = make_pair(_i, "step", "eager", 3, 2);

    expect_upgrade(of, 1);
    for (uint32_t round = 0; round < 2; round++) {
        ck_good(griddep_memory_fill(runtime, buffers[2], 0, BYTES, NULL, &error));
        set_buffers(of, 1, 1, 2);
        expect_edge(of, 0, GRIDDEP_REASON_RACE, 0, GRIDDEP_OVERLAP_NONE);
        ck_good(griddep_graph_launch(of, NULL, &error));
        ck_assert_uint_eq(word_of(2), 2);
        set_buffers(of, 1, 3, 2);
        expect_edge(of, 0, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
        ck_good(griddep_graph_launch(of, NULL, &error));
        ck_assert_uint_eq(word_of(2), 1);
    }
    set_buffers(of, 0, 0, 3); /* the one before it, too */
    expect_edge(of, 0, GRIDDEP_REASON_RACE, 0, GRIDDEP_OVERLAP_NONE);
    griddep_graph_destroy(of);
}

/* A chain and a graph of the same launches hold back the same ones. */
LOOP_TEST(open, upgrades_agree_with_chains, 10)
{
    static const char *const names[] = {"step", "eager", "scatter", "mute", "quiet"};
    enum { LAUNCHES = 5 };
    uint32_t seed = (uint32_t)_i * 2654435761u + 1;

    for (int round = 0; round < 20; round++) {
        griddep_graph *of = NULL;
        griddep_chain *chain = NULL;
        uint32_t count;
        ck_good(griddep_graph_create(runtime, &of, &error));
        ck_good(griddep_chain_create(runtime, &chain, &error));
        for (uint32_t i = 0; i < LAUNCHES; i++) {
            seed = seed * 1664525u + 1013904223u;
            const char *name = names[(seed >> 16) % 5];
            const int in = (int)(seed >> 24) % 4, out = (int)(seed >> 27) % 4;
            const griddep_argument arguments[2] = {{.data = &buffers[in], .bytes = 8},
                                                   {.data = &buffers[out], .bytes = 8}};
            add_to(of, name, in, out);
            ck_good(griddep_chain_add(chain, kernel_of(name), &one_block, arguments, 2, &error));
            if (i)
                ck_good(griddep_graph_add_edge(of, i - 1, i, 0, GRIDDEP_EDGE_DEFAULT, &error));
        }
        ck_good(griddep_graph_upgrade(of, &count, &error));
        for (uint32_t i = 1; i < LAUNCHES; i++) {
            griddep_hop_info hop = {.size = sizeof hop};
            ck_good(griddep_chain_get_hop(chain, GRIDDEP_MODE_GRAPH_PDL, i, &hop, &error));
            const griddep_graph_edge_info edge = edge_of(of, i - 1);
            if ((hop.reason == GRIDDEP_REASON_RACE) != (edge.reason == GRIDDEP_REASON_RACE) ||
                (hop.reason <= GRIDDEP_REASON_FORCED) != (edge.type != 0))
                ck_abort_msg("round %d, launch %u (%s): %s; its edge: %s", round, (unsigned)i,
                             hop.kernel, griddep_text(GRIDDEP_TEXT_REASON, hop.reason),
                             griddep_text(GRIDDEP_TEXT_REASON, edge.reason));
        }
        griddep_graph_destroy(of);
        griddep_chain_destroy(chain);
    }
}

/* An edge that was held back from the start is upgraded when its node races no more. */
LOOP_TEST(open, held_edges_return_when_arguments_change, WAYS)
{
    griddep_graph *of = make_pair(_i, "step", "eager", 1, 2);

    expect_upgrade(of, 0);
    set_buffers(of, 1, 3, 2);
    expect_edge(of, 0, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    ck_good(griddep_graph_launch(of, NULL, &error));
    ck_assert_uint_eq(word_of(2), 1);
    griddep_graph_destroy(of);
}

/* Where a kernel's code is not known, or a kernel starts early that waits for nothing, nothing is
 * upgraded that touches memory early; all else is. */
LOOP_TEST(open, what_nobody_knows_holds_eager_kernels_back, 2)
{
    uint32_t a = add("step", 0, 1), b = add(_i ? "rash" : "step", 6, 5), c = add("eager", 3, 2),
             d = add("step", 2, 4), count = 9;

    connect(a, b, _i, _i ? GRIDDEP_EDGE_PROGRAMMATIC : GRIDDEP_EDGE_DEFAULT);
    connect(b, c, 0, 0);
    connect(c, d, 0, 0);
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, _i ? 1 : 3);
    expect_edge(graph, 1, _i ? GRIDDEP_REASON_RACE : GRIDDEP_REASON_SET, !_i,
                _i ? GRIDDEP_OVERLAP_NONE : GRIDDEP_OVERLAP_FULL);
    expect_edge(graph, 2, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
}

LOOP_TEST(open, large_graphs_hold_eager_kernels_back, 2)
{
    const uint32_t nodes = _i ? 2049 : 2048;
    uint32_t count = 0;

    add("step", 0, 1);
    for (uint32_t i = 1; i < nodes; i++) {
        add(i + 1 == nodes ? "eager" : "step", 3, 1 + (int)(i & 1));
        connect(i - 1, i, 0, 0);
    }
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, _i ? nodes - 2 : nodes - 1);
}

/* Described code is not in the check: it is held back where it touches memory early. */
TEST(open, described_kernels_that_are_eager_stay)
{
    griddep_runtime *other = NULL;
    griddep_ptx *text = NULL;
    griddep_graph *adopted = NULL;
    gd_CUgraph foreign = make_foreign(runtime->driver, function_of("step"), function_of("eager"));

    ck_good(open_runtime(&other));
    ck_good(griddep_ptx_parse(ptx, sizeof ptx, NULL, &text, &error));
    ck_good(griddep_graph_adopt(other, foreign, GRIDDEP_GRAPH_OWN, &adopted, &error));
    ck_good(griddep_graph_describe(adopted, 0, text, "step", &error));
    ck_good(griddep_graph_describe(adopted, 1, text, "eager", &error));
    expect_upgrade(adopted, 0);
    ck_good(griddep_graph_describe(adopted, 1, text, "step", &error));
    expect_edge(adopted, 0, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    griddep_graph_destroy(adopted);
    griddep_ptx_destroy(text);
    griddep_runtime_close(other);
}

/* Two producers of one consumer, as two lanes of a chain have them: both edges change, or none. */
LOOP_TEST(open, joins_are_upgraded_as_a_whole, 2)
{
    uint32_t a = add("step", 0, 1), b = add("step", 0, 2), c = add("step", 1, 3), fill, count = 9;
    void *stream = NULL;
    griddep_graph *of = graph;

    if (_i) { /* the same, adopted */
        ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
        ck_good(griddep_graph_capture_begin(runtime, stream, &error));
        ck_good(griddep_graph_capture_end(runtime, stream, &of, &error));
        add_to(of, "step", 0, 1);
        add_to(of, "step", 0, 2);
        add_to(of, "step", 1, 3);
    }
    ck_good(griddep_graph_add_fill(of, buffers[4], 1, BYTES, &fill, &error));
    ck_good(griddep_graph_add_edge(of, a, c, 0, GRIDDEP_EDGE_DEFAULT, &error));
    ck_good(griddep_graph_add_edge(of, b, c, 0, GRIDDEP_EDGE_DEFAULT, &error));
    ck_good(griddep_graph_add_edge(of, fill, c, 0, GRIDDEP_EDGE_DEFAULT, &error));
    ck_good(griddep_graph_upgrade(of, &count, &error));
    ck_assert_uint_eq(count, 0);
    for (uint32_t i = 0; i < 2; i++) { /* and why: the fill must end first */
        expect_edge(of, i, GRIDDEP_REASON_OTHER_ORDER, 0, GRIDDEP_OVERLAP_NONE);
        ck_assert_uint_eq(edge_of(of, i).node, fill);
    }
    expect_edge(of, 2, GRIDDEP_REASON_NOT_KERNELS, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_remove_edge(of, 2, &error));
    for (uint32_t i = 0; i < 2; i++)
        expect_edge(of, i, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_upgrade(of, &count, &error));
    ck_assert_uint_eq(count, 2);
    for (uint32_t i = 0; i < 2; i++)
        expect_edge(of, i, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    ck_good(griddep_graph_launch(of, NULL, &error));
    ck_assert_uint_eq(word_of(3), 2);
    if (_i) {
        griddep_graph_destroy(of);
        ck_good(griddep_stream_destroy(runtime, stream, &error));
    }
}

/* An edge beside a path of programmatic edges would hold the last kernel up, so it changes with
 * them; beside one that has a plain edge it says nothing new, and stays. */
LOOP_TEST(open, shortcuts_are_upgraded_where_they_hold_up, 2)
{
    uint32_t a = add("step", 0, 1), b = add(_i ? "quiet" : "step", 1, 2), c = add("step", 2, 3),
             count = 9;

    connect(a, b, 0, 0);
    connect(b, c, 0, 0);
    connect(a, c, 0, 0);
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, _i ? 1 : 3);
    expect_edge(graph, 1, _i ? GRIDDEP_REASON_NO_TRIGGER : GRIDDEP_REASON_SET, 1,
                _i ? GRIDDEP_OVERLAP_NONE : GRIDDEP_OVERLAP_FULL);
    if (_i)
        expect_edge(graph, 2, GRIDDEP_REASON_OTHER_ORDER, 0, GRIDDEP_OVERLAP_NONE);
    else
        expect_edge(graph, 2, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(3), 3);
}

/* A producer that cannot overlap because of another node would hold the others up, changed or
 * not. */
TEST(open, a_join_that_one_edge_holds_up_stays)
{
    uint32_t a = add("step", 0, 1), b = add("step", 0, 2), c = add("step", 1, 3), fill, count = 9;

    ck_good(griddep_graph_add_fill(graph, buffers[4], 1, BYTES, &fill, &error));
    connect(fill, a, 0, 0); /* over when a begins, and perhaps not when b does */
    connect(a, c, 0, 0);
    connect(b, c, 0, 0);
    connect(fill, c, 0, 0);
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, 0);
    expect_edge(graph, 1, GRIDDEP_REASON_OTHER_ORDER, 0, GRIDDEP_OVERLAP_NONE);
    ck_assert_uint_eq(edge_of(graph, 1).node, b);
    expect_edge(graph, 2, GRIDDEP_REASON_OTHER_ORDER, 0, GRIDDEP_OVERLAP_NONE);
    ck_assert_uint_eq(edge_of(graph, 2).node, fill);
    ck_good(griddep_graph_remove_edge(graph, 3, &error));
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, 2);
}

TEST(open, edges_can_be_removed)
{
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), c = add("step", 2, 3);
    griddep_graph *adopted = NULL, *again = NULL;

    connect_auto(a, b);
    connect_auto(b, c);
    connect(a, c, 0, 0);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_good(griddep_graph_remove_edge(graph, 0, &error));
    ck_assert_uint_eq(griddep_graph_edge_count(graph), 2);
    ck_assert_uint_eq(edge_of(graph, 0).from, b);
    ck_assert_uint_eq(edge_of(graph, 1).from, a);
    connect(b, a, 0, 0); /* closes no cycle any more */
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuGraphInstantiateWithFlags"), 2);
    ck_status(griddep_graph_remove_edge(graph, 3, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_graph_remove_edge(NULL, 0, &error), GRIDDEP_ERROR_ARGUMENT);
    /* the driver's graph is changed, or nothing is */
    gd_CUgraph foreign = make_foreign(runtime->driver, function_of("step"), function_of("step"));
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &adopted, &error));
    fake_driver_fail("cuGraphRemoveDependencies", 1, GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_refused(griddep_graph_remove_edge(adopted, 0, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "from node 0 (kernel step) to node 1 (kernel step)");
    ck_assert_uint_eq(griddep_graph_edge_count(adopted), 1);
    ck_good(griddep_graph_remove_edge(adopted, 0, &error));
    ck_assert_uint_eq(griddep_graph_edge_count(adopted), 0);
    ck_good(griddep_graph_adopt(runtime, foreign, 0, &again, &error));
    ck_assert_uint_eq(griddep_graph_edge_count(again), 0);
    griddep_graph_destroy(again);
    griddep_graph_destroy(adopted);
}

/* ---- graphs from elsewhere ---- */

/* step -> fill -> step -> quiet, captured. */
static griddep_graph *capture(void *stream)
{
    griddep_graph *captured = NULL;
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};
    griddep_launch_config config = one_block;

    config.stream = stream;
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    ck_good(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error));
    ck_good(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error));
    config.pdl = GRIDDEP_PDL_OFF;
    ck_good(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error));
    ck_good(griddep_launch(kernel_of("quiet"), &config, arguments, 2, NULL, &error));
    ck_good(griddep_graph_capture_end(runtime, stream, &captured, &error));
    return captured;
}

TEST(open, captures_become_graphs)
{
    void *stream = NULL;
    uint32_t node = 5;
    griddep_graph *other = NULL;

    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    griddep_graph *captured = capture(stream);
    ck_assert_uint_eq(griddep_graph_node_count(captured), 4);
    expect_edge(captured, 0, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    expect_edge(captured, 1, GRIDDEP_REASON_OFF, 0, GRIDDEP_OVERLAP_NONE);
    expect_edge(captured, 2, GRIDDEP_REASON_OFF, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_launch(captured, NULL, &error));
    ck_assert_uint_eq(word_of(1), 1);
    ck_good(griddep_graph_add_fill(captured, buffers[4], 1, BYTES, &node, &error));
    ck_assert_uint_eq(node, 4);
    griddep_graph_destroy(captured);
    /* misuse */
    ck_status(griddep_graph_capture_begin(runtime, NULL, &error), GRIDDEP_ERROR_STREAM);
    ck_refused(griddep_graph_capture_end(runtime, stream, &other, &error), GRIDDEP_ERROR_STREAM,
               "not being captured");
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    ck_refused(griddep_graph_capture_begin(runtime, stream, &error), GRIDDEP_ERROR_STREAM,
               "captured already");
    ck_status(griddep_graph_launch(graph, stream, &error), GRIDDEP_ERROR_STREAM);
    ck_status(griddep_graph_capture_end(runtime, stream, &other, &error), GRIDDEP_ERROR_STREAM);
    ck_good(griddep_graph_capture_begin(runtime, stream, &error)); /* it was ended */
    ck_good(griddep_graph_capture_end(runtime, stream, &other, &error));
    ck_assert_uint_eq(griddep_graph_node_count(other), 0);
    griddep_graph_destroy(other);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
}

/* A node's kernel is found by its name: others of its module stay as they are, not loaded. */
TEST(open, adopting_asks_for_no_other_kernel)
{
    const gd_driver *driver = runtime->driver;
    griddep_module *fresh = NULL;
    griddep_graph *adopted = NULL;
    gd_CUfunction step = NULL;

    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &fresh, &error));
    ck_assert_uint_gt(fresh->kernel_count, 2);
    ck_assert_int_eq(driver->cuCtxPushCurrent(runtime->context), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuModuleGetFunction(&step, fresh->loaded.module, "step"),
                     GD_CUDA_SUCCESS);
    gd_CUcontext popped;
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    gd_CUgraph foreign = make_foreign(driver, step, step);
    const uint64_t before = fake_driver_calls("cuModuleGetFunction");
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &adopted, &error));
    ck_assert_uint_eq(fake_driver_calls("cuModuleGetFunction"), before + 1);
    expect_edge(adopted, 0, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    griddep_graph_destroy(adopted);
    griddep_module_unload(fresh);
}

LOOP_TEST(open, foreign_graphs_are_adopted, 3)
{
    const gd_driver *driver = runtime->driver;
    gd_CUgraph foreign = make_foreign(driver, function_of("step"), function_of("step"));
    griddep_graph *adopted = NULL;
    griddep_argument arguments[2] = {POINTER(buffers[2]), POINTER(buffers[3])};
    uint32_t count = 0;

    ck_good(griddep_graph_adopt(runtime, foreign, 0, &adopted, &error));
    expect_edge(adopted, 0, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    ck_refused(griddep_graph_set_config(adopted, 1, &one_block, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "arguments that are not known");
    if (_i) { /* the driver refuses the programmatic edge, or the graph with it */
        fake_driver_fail(_i == 1 ? "cuGraphAddDependencies" : "cuGraphInstantiateWithFlags", 1,
                         GD_CUDA_ERROR_NOT_SUPPORTED);
        ck_assert_int_ne(griddep_graph_upgrade(adopted, &count, &error), GRIDDEP_OK);
        ck_assert_msg(!strstr(error.text, "puts"), "%s", error.text);
        expect_edge(adopted, 0, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    } else {
        ck_good(griddep_graph_upgrade(adopted, &count, &error));
        ck_assert_uint_eq(count, 1);
        expect_edge(adopted, 0, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    }
    griddep_graph *again = NULL; /* the driver's graph is what it was, or changed */
    ck_good(griddep_graph_adopt(runtime, foreign, 0, &again, &error));
    expect_edge(again, 0, _i ? GRIDDEP_REASON_PLAIN : GRIDDEP_REASON_SET, !_i,
                _i ? GRIDDEP_OVERLAP_NONE : GRIDDEP_OVERLAP_FULL);
    griddep_graph_destroy(again);
    ck_good(griddep_graph_launch(adopted, NULL, &error));
    ck_assert_uint_eq(word_of(1), 1);
    ck_good(griddep_graph_set_arguments(adopted, 1, arguments, 2, &error));
    ck_good(griddep_graph_launch(adopted, NULL, &error));
    ck_assert_uint_eq(word_of(3), 1);
    ck_good(griddep_graph_set_config(adopted, 1, &one_block, &error));
    griddep_graph_destroy(adopted);
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &adopted,
                                &error)); /* it was left alone */
    griddep_graph_destroy(adopted);
    ck_status(griddep_graph_adopt(runtime, foreign, 0, &adopted, &error), GRIDDEP_ERROR_DRIVER);
    ck_status(griddep_graph_adopt(runtime, NULL, 0, &adopted, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_graph_adopt(runtime, foreign, 2, &adopted, &error), GRIDDEP_ERROR_STRUCT);
}

/* Nodes and edges that are added are the driver's at once; what it refuses leaves both as they
 * were. */
TEST(open, foreign_graphs_grow)
{
    const gd_driver *driver = runtime->driver;
    gd_CUgraph foreign = make_foreign(driver, function_of("step"), function_of("step"));
    griddep_graph *adopted = NULL, *again = NULL;
    const griddep_argument arguments[2] = {POINTER(buffers[1]), POINTER(buffers[2])};
    griddep_attribute attribute;
    griddep_launch_config config = one_block;
    uint32_t node = 99, fill = 99;

    ck_good(griddep_graph_adopt(runtime, foreign, 0, &adopted, &error));
    ck_good(griddep_graph_launch(adopted, NULL, &error));
    fake_driver_fail("cuGraphAddMemsetNode", 1, GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_refused(griddep_graph_add_fill(adopted, buffers[3], 1, BYTES, &fill, &error),
               GRIDDEP_ERROR_UNSUPPORTED, "node 2 (fill)");
    ck_good(griddep_attribute_set(&attribute, GRIDDEP_ATTRIBUTE_PRIORITY, (const int64_t[]){-1}, 1,
                                  &error));
    config.attributes = &attribute;
    config.attribute_count = 1;
    fake_driver_fail("cuGraphKernelNodeSetAttribute", 1,
                     GD_CUDA_ERROR_NOT_SUPPORTED); /* the node is there already */
    ck_status(
        griddep_graph_add_kernel(adopted, kernel_of("step"), &config, arguments, 2, &node, &error),
        GRIDDEP_ERROR_UNSUPPORTED);
    ck_assert_uint_eq(node, 99);
    ck_assert_uint_eq(griddep_graph_node_count(adopted), 2);
    ck_good(
        griddep_graph_add_kernel(adopted, kernel_of("step"), &config, arguments, 2, &node, &error));
    ck_good(griddep_graph_add_fill(adopted, buffers[3], 1, BYTES, &fill, &error));
    fake_driver_fail("cuGraphAddDependencies", 1, GD_CUDA_ERROR_NOT_SUPPORTED);
    ck_refused(griddep_graph_add_edge(adopted, 1, node, 0, GRIDDEP_EDGE_AUTO, &error),
               GRIDDEP_ERROR_UNSUPPORTED, "from node 1 (kernel step) to node 2 (kernel step)");
    ck_assert_uint_eq(griddep_graph_edge_count(adopted), 1);
    ck_good(griddep_graph_add_edge(adopted, 1, node, 0, GRIDDEP_EDGE_AUTO, &error));
    ck_good(griddep_graph_add_edge(adopted, node, fill, 0, GRIDDEP_EDGE_AUTO, &error));
    ck_refused(griddep_graph_add_edge(adopted, fill, 0, 0, GRIDDEP_EDGE_DEFAULT, &error),
               GRIDDEP_ERROR_ARGUMENT, "cycle");
    expect_edge(adopted, 1, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    expect_edge(adopted, 2, GRIDDEP_REASON_NOT_KERNELS, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_launch(adopted, NULL, &error));
    ck_assert_uint_eq(word_of(2), 2);
    ck_assert_uint_eq(word_of(3), 0x01010101);
    griddep_graph_destroy(adopted);
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &again,
                                &error)); /* the driver has it all */
    ck_assert_uint_eq(griddep_graph_node_count(again), 4);
    expect_edge(again, 1, GRIDDEP_REASON_SET, 1, GRIDDEP_OVERLAP_FULL);
    griddep_graph_destroy(again);
}

TEST(open, unknown_code_can_be_described)
{
    griddep_runtime *other = NULL;
    griddep_ptx *text = NULL;
    griddep_graph *adopted = NULL;
    gd_CUgraph foreign = make_foreign(runtime->driver, function_of("step"), function_of("step"));
    griddep_graph_node_info info = {.size = sizeof info};
    const griddep_argument arguments[2] = {{.bytes = 8}, {.bytes = 8}};
    uint32_t count = 9;

    ck_good(open_runtime(&other)); /* has not loaded the module */
    ck_good(griddep_ptx_parse(ptx, sizeof ptx, NULL, &text, &error));
    ck_good(griddep_graph_adopt(other, foreign, GRIDDEP_GRAPH_OWN, &adopted, &error));
    expect_edge(adopted, 0, GRIDDEP_REASON_UNKNOWN_CODE, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_get_node(adopted, 1, &info, &error));
    ck_assert_str_eq(info.name, "step"); /* the driver tells that */
    ck_good(griddep_graph_upgrade(adopted, &count, &error));
    ck_assert_uint_eq(count, 0);
    ck_refused(griddep_graph_set_arguments(adopted, 1, arguments, 2, &error),
               GRIDDEP_ERROR_UNSUPPORTED,
               "node 1 (kernel step) is not of a module of this runtime");
    ck_status(griddep_graph_describe(adopted, 1, text, "stop", &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_graph_describe(adopted, 2, text, "step", &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_graph_describe(adopted, 1, NULL, "step", &error), GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_graph_describe(adopted, 1, text, "mute", &error));
    ck_good(griddep_graph_describe(adopted, 0, text, "step", &error));
    expect_edge(adopted, 0, GRIDDEP_REASON_PLAIN, 0, GRIDDEP_OVERLAP_NONE);
    ck_good(griddep_graph_upgrade(adopted, &count, &error));
    ck_assert_uint_eq(count, 1);
    griddep_graph_destroy(adopted);
    griddep_ptx_destroy(text);
    griddep_runtime_close(other);
}

TEST(open, drivers_without_edge_data_tell_edges)
{
    griddep_graph *adopted = NULL;

    fake_driver_set_version(12020);
    reopen(ptx);
    gd_CUgraph foreign = make_foreign(runtime->driver, function_of("step"), function_of("step"));
    ck_good(griddep_graph_adopt(runtime, foreign, GRIDDEP_GRAPH_OWN, &adopted, &error));
    ck_assert_uint_eq(griddep_graph_edge_count(adopted), 1);
    expect_edge(adopted, 0, GRIDDEP_REASON_NO_EDGE_DATA, -1, GRIDDEP_OVERLAP_UNKNOWN);
    ck_good(griddep_graph_launch(adopted, NULL, &error));
    griddep_graph_destroy(adopted);
}

/* ---- text ---- */

TEST(open, graphs_print)
{
    static const char dot[] = "digraph {\n"
                              "    node [fontname=monospace];\n"
                              "    edge [fontname=monospace, fontsize=10];\n"
                              "    n0 [shape=box, label=\"step\"];\n"
                              "    n1 [shape=box, label=\"step\"];\n"
                              "    n2 [shape=ellipse, label=\"fill\"];\n"
                              "    n0 -> n1 [color=darkgreen, style=bold, "
                              "label=\"programmatic\\noverlaps\", tooltip=\"each "
                              "path of the kernel executes griddepcontrol.wait\"];\n"
                              "    n1 -> n2 [color=black];\n"
                              "}\n";
    char buffer[2048];
    uint64_t bytes = 0;
    uint32_t a = add("step", 0, 1), b = add("step", 1, 2), fill;

    ck_good(griddep_graph_add_fill(graph, buffers[4], 0, BYTES, &fill, &error));
    connect_auto(a, b);
    connect(b, fill, 0, 0);
    ck_good(griddep_graph_print(graph, GRIDDEP_FORMAT_DOT, buffer, sizeof buffer, &bytes, &error));
    ck_assert_str_eq(buffer, dot);
    ck_assert_uint_eq(bytes, sizeof dot - 1);
    ck_good(griddep_graph_print(graph, GRIDDEP_FORMAT_JSON, NULL, 0, &bytes, &error));
    ck_assert_uint_lt(bytes, sizeof buffer);
    ck_good(griddep_graph_print(graph, GRIDDEP_FORMAT_JSON, buffer, sizeof buffer, &bytes, &error));
    ck_assert_uint_eq(strlen(buffer), bytes);
    ck_assert_ptr_nonnull(strstr(buffer,
                                 "{\"node\": 0, \"type\": \"kernel\", \"kernel\": \"step\", "
                                 "\"name\": null, \"known\": true, "
                                 "\"waits\": true, \"waits_always\": true, \"triggers\": true"));
    ck_assert_ptr_nonnull(strstr(
        buffer, "{\"from\": 0, \"to\": 1, \"port\": \"programmatic\", \"programmatic\": true, "
                "\"overlap\": \"full\", \"races\": false, \"reason\": 0, \"text\": \"each path"));
    ck_good(griddep_graph_print(graph, GRIDDEP_FORMAT_DOT, buffer, 8, &bytes, &error));
    ck_assert_str_eq(buffer, "digraph");
    ck_status(griddep_graph_print(graph, 2, buffer, 8, &bytes, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_graph_print(graph, 0, buffer, 8, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
}

/* ---- chains with lanes ---- */

static void add_launch(griddep_chain *chain, uint32_t lane, const char *name, int in, int out)
{
    const griddep_argument arguments[2] = {POINTER(buffers[in]), POINTER(buffers[out])};
    griddep_launch_config config = one_block;

    config.lane = lane;
    ck_good(griddep_chain_add(chain, kernel_of(name), &config, arguments, 2, &error));
}

/* 0 -> 1 -> 4 in lane 0, 2 -> 3 in lane 1; 2 waits for 0, 4 for 3. */
static griddep_chain *make_forked(void)
{
    griddep_chain *chain = NULL;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    add_launch(chain, 0, "step", 0, 1);
    add_launch(chain, 0, "step", 1, 2);
    add_launch(chain, 1, "step", 1, 3);
    add_launch(chain, 1, "quiet", 3, 4);
    add_launch(chain, 0, "step", 4, 5);
    ck_good(griddep_chain_depend(chain, 2, 0, &error));
    ck_good(griddep_chain_depend(chain, 4, 3, &error));
    ck_good(griddep_chain_depend(chain, 4, 3, &error)); /* once more is no failure */
    ck_good(griddep_chain_depend(chain, 3, 2, &error)); /* nor what the lane says anyway */
    return chain;
}

LOOP_TEST(open, lanes_give_the_same_in_every_mode, GRIDDEP_MODE_COUNT)
{
    static const int32_t reasons[GRIDDEP_MODE_COUNT][5] = {
        [GRIDDEP_MODE_PDL] = {GRIDDEP_REASON_FIRST, GRIDDEP_REASON_SET, GRIDDEP_REASON_SET,
                              GRIDDEP_REASON_NO_WAIT, GRIDDEP_REASON_SET},
        [GRIDDEP_MODE_GRAPH_PDL] = {GRIDDEP_REASON_FIRST, GRIDDEP_REASON_SET, GRIDDEP_REASON_SET,
                                    GRIDDEP_REASON_NO_WAIT, GRIDDEP_REASON_SET}};
    griddep_chain *chain = make_forked();
    const uint64_t opened = fake_driver_calls("cuEventCreate");
    bool is_graph = _i == GRIDDEP_MODE_GRAPH || _i == GRIDDEP_MODE_GRAPH_PDL;
    bool overlaps = _i == GRIDDEP_MODE_PDL || _i == GRIDDEP_MODE_GRAPH_PDL;

    for (int run = 0; run < 2; run++) {
        for (int i = 1; i < MOST_BUFFERS; i++)
            ck_good(griddep_memory_fill(runtime, buffers[i], 0, BYTES, NULL, &error));
        ck_good(griddep_chain_run(chain, _i, NULL, &error));
        ck_assert_uint_eq(word_of(2), 2);
        ck_assert_uint_eq(word_of(5), 4);
    }
    for (uint32_t i = 0; i < 5; i++) {
        griddep_hop_info hop = {.size = sizeof hop};
        ck_good(griddep_chain_get_hop(chain, _i, i, &hop, &error));
        ck_assert_uint_eq(hop.lane, i == 2 || i == 3);
        ck_assert_int_eq(hop.reason, overlaps ? reasons[_i][i] : GRIDDEP_REASON_OFF);
        ck_assert_int_eq(hop.edge, !is_graph || i == 0 ? -1 : overlaps && i != 3);
    }
    /* one stream and its end, the start, two launches that are waited for */
    ck_assert_uint_eq(fake_driver_calls("cuStreamCreate"), is_graph ? 0 : 1);
    ck_assert_uint_eq(fake_driver_calls("cuEventCreate") - opened, is_graph ? 0 : 4);
    ck_assert_uint_eq(fake_driver_calls("cuStreamWaitEvent"), is_graph ? 0 : 2 * 4);
    /* in mode pdl both that are waited for record their event themselves: those that wait do so in
     * the kernel */
    ck_assert_uint_eq(fake_driver_calls("cuEventRecord"), is_graph                 ? 0
                                                          : _i == GRIDDEP_MODE_PDL ? 2 * 2
                                                                                   : 2 * 4);
    for (uint64_t i = 0; i < fake_driver_launches(); i++) {
        fake_launch launch;
        int events = 0;
        ck_assert(fake_driver_launch(i, &launch));
        for (unsigned k = 0; k < launch.config.numAttrs; k++)
            events += launch.config.attrs[k].id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        ck_assert_int_eq(events, _i == GRIDDEP_MODE_PDL && (i % 5 == 0 || i % 5 == 3));
    }
    griddep_chain_destroy(chain);
}

/* One that does not wait, one that is told not to be early, and the switch for the whole
 * process. */
LOOP_TEST(open, lanes_wait_for_ends_where_they_must, 3)
{
    griddep_chain *chain = NULL;

    if (_i == 2) {
        setenv("GRIDDEP_PDL", "off", 1);
        reopen(ptx);
    }
    ck_good(griddep_chain_create(runtime, &chain, &error));
    add_launch(chain, 0, "step", 0, 1);
    add_launch(chain, 1, "step", 1, 2);
    const griddep_argument arguments[2] = {POINTER(buffers[1]), POINTER(buffers[3])};
    griddep_launch_config config = one_block;
    config.pdl = _i == 1 ? GRIDDEP_PDL_OFF : GRIDDEP_PDL_DEFAULT;
    config.lane = 2;
    ck_good(
        griddep_chain_add(chain, kernel_of(_i ? "step" : "quiet"), &config, arguments, 2, &error));
    ck_good(griddep_chain_depend(chain, 1, 0, &error));
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_PDL, NULL,
                              &error)); /* the start, two lanes' ends, and the launch's own */
    ck_assert_uint_eq(fake_driver_calls("cuEventRecord"), _i == 2 ? 4 : 3);
    ck_good(griddep_chain_depend(chain, 2, 0, &error));
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_PDL, NULL, &error));
    ck_assert_uint_eq(fake_driver_calls("cuEventRecord"), _i == 2 ? 8 : 7);
    griddep_chain_destroy(chain);
}

TEST(open, lanes_become_edges)
{
    griddep_chain *chain = make_forked();
    griddep_graph *made = NULL;
    /* edges in the order of the launches: 0->1, 0->2, 2->3, 1->4, 3->4 */
    static const uint32_t ends[5][2] = {{0, 1}, {0, 2}, {2, 3}, {1, 4}, {3, 4}};
    static const int32_t audits[5] = {GRIDDEP_REASON_SET, GRIDDEP_REASON_SET,
                                      GRIDDEP_REASON_NO_WAIT, GRIDDEP_REASON_SET,
                                      GRIDDEP_REASON_NO_TRIGGER};

    ck_good(griddep_graph_from_chain(chain, GRIDDEP_MODE_GRAPH_PDL, &made, &error));
    griddep_chain_destroy(chain); /* not needed any more */
    ck_assert_uint_eq(griddep_graph_edge_count(made), 5);
    for (uint32_t i = 0; i < 5; i++) {
        griddep_graph_edge_info info = edge_of(made, i);
        ck_assert_uint_eq(info.from, ends[i][0]);
        ck_assert_uint_eq(info.to, ends[i][1]);
        ck_assert_int_eq(info.reason, audits[i]);
    }
    ck_good(griddep_graph_launch(made, NULL, &error));
    ck_assert_uint_eq(word_of(5), 4);
    griddep_graph_destroy(made);
    chain = make_forked();
    ck_good(griddep_graph_from_chain(chain, GRIDDEP_MODE_SERIAL, &made, &error));
    expect_edge(made, 0, GRIDDEP_REASON_OFF, 0, GRIDDEP_OVERLAP_NONE);
    ck_status(griddep_graph_from_chain(chain, 4, &made, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_graph_from_chain(NULL, 0, &made, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_graph_destroy(made);
    griddep_chain_destroy(chain);
}

/* Attribute 6 of a forced launch is about the one before it in its lane, from its trigger on; what
 * other lanes do it waits for. */
TEST(open, forced_launches_depend_on_their_lane)
{
    griddep_launch_config config = one_block;
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};
    griddep_chain *chain = NULL;
    griddep_graph *made = NULL;

    config.pdl = GRIDDEP_PDL_FORCE;
    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (uint32_t i = 0; i < 3; i++) {
        config.lane = i == 1; /* the second one in a lane of its own */
        ck_good(griddep_chain_add(chain, kernel_of("rash"), &config, arguments, 2, &error));
    }
    ck_good(griddep_chain_depend(chain, 2, 1, &error));
    ck_good(griddep_graph_from_chain(chain, GRIDDEP_MODE_GRAPH_PDL, &made, &error));
    for (uint32_t i = 0; i < 2; i++) {
        griddep_graph_edge_info info = edge_of(made, i);
        ck_assert_uint_eq(info.from, i);
        ck_assert_uint_eq(info.to, 2);
        ck_assert_int_eq(info.type, i ? GRIDDEP_EDGE_DEFAULT : GRIDDEP_EDGE_PROGRAMMATIC);
        ck_assert_int_eq(info.from_port, i ? GRIDDEP_PORT_DEFAULT : GRIDDEP_PORT_PROGRAMMATIC);
        ck_assert_int_eq(info.reason, i ? GRIDDEP_REASON_NO_WAIT : GRIDDEP_REASON_OTHER_ORDER);
        ck_assert_uint_eq(info.races, !i);
    }
    ck_good(griddep_graph_launch(made, NULL, &error));
    griddep_graph_destroy(made);
    griddep_chain_destroy(chain);
}

/* The first launch of a lane begins behind the event of another lane: attribute 6 would be about
 * what stood before in its stream, and captured it would make the edge programmatic. So forcing
 * changes nothing there, whether the kernel waits or not; it does where no launch is before. */
LOOP_TEST(open, forcing_says_nothing_about_other_lanes, 2)
{
    static const struct {
        const char *kernel;
        int32_t reason;
    } second[] = {{"rash", GRIDDEP_REASON_NO_WAIT}, {"step", GRIDDEP_REASON_FORCED}};
    griddep_launch_config config = one_block;
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};
    griddep_chain *chain = NULL;

    config.pdl = GRIDDEP_PDL_FORCE;
    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (uint32_t i = 0; i < 3; i++) {
        config.lane = i; /* the last one depends on none */
        ck_good(griddep_chain_add(chain, kernel_of(i == 1 ? second[_i].kernel : "step"), &config,
                                  arguments, 2, &error));
    }
    ck_good(griddep_chain_depend(chain, 1, 0, &error));
    for (int32_t mode = GRIDDEP_MODE_PDL; mode <= GRIDDEP_MODE_GRAPH_PDL; mode += 2) {
        for (uint32_t i = 0; i < 3; i++) {
            griddep_hop_info hop = {.size = sizeof hop};
            ck_good(griddep_chain_get_hop(chain, mode, i, &hop, &error));
            ck_assert_int_eq(hop.reason, i == 1 ? second[_i].reason : GRIDDEP_REASON_FORCED);
        }
    }
    ck_good(griddep_chain_run(chain, GRIDDEP_MODE_PDL, NULL, &error));
    for (uint64_t i = 0; i < 3; i++) {
        fake_launch launch;
        ck_assert(fake_driver_launch(i, &launch));
        ck_assert_int_eq(launch.programmatic, i != 1);
    }
    griddep_chain_destroy(chain);
}

/* The audit of a graph and the explanation of the chain that it is made of say the same about room
 * on an SM; what is captured is audited alike. One block of 1024 threads for each SM leaves room
 * for another one, two do not. */
LOOP_TEST(open, overlap_needs_room, 2)
{
    griddep_launch_config config = {
        .size = sizeof config, .grid = {_i ? 264 : 132}, .block = {1024}};
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};
    griddep_explanation_info info = {.size = sizeof info};
    griddep_explanation *explanation = NULL;
    griddep_graph *graphs[2] = {NULL, NULL};
    griddep_chain *chain = NULL;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (int i = 0; i < 2; i++)
        ck_good(griddep_chain_add(chain, kernel_of("step"), &config, arguments, 2, &error));
    ck_good(griddep_chain_explain(chain, GRIDDEP_MODE_GRAPH_PDL, 1, &explanation, &error));
    ck_good(griddep_explanation_get_info(explanation, &info, &error));
    ck_assert_int_eq(info.overlap, _i ? GRIDDEP_OVERLAP_TAIL : GRIDDEP_OVERLAP_FULL);
    griddep_explanation_destroy(explanation);
    ck_good(griddep_graph_from_chain(chain, GRIDDEP_MODE_GRAPH_PDL, &graphs[0], &error));
    griddep_chain_destroy(chain);
    ck_good(griddep_stream_create(runtime, NULL, &config.stream, &error));
    ck_good(griddep_graph_capture_begin(runtime, config.stream, &error));
    for (int i = 0; i < 2; i++)
        ck_good(griddep_launch(kernel_of("step"), &config, arguments, 2, NULL, &error));
    ck_good(griddep_graph_capture_end(runtime, config.stream, &graphs[1], &error));
    for (int i = 0; i < 2; i++) {
        expect_edge(graphs[i], 0, _i ? GRIDDEP_REASON_NO_ROOM : GRIDDEP_REASON_SET, 1,
                    _i ? GRIDDEP_OVERLAP_TAIL : GRIDDEP_OVERLAP_FULL);
        griddep_graph_destroy(graphs[i]);
    }
    ck_good(griddep_stream_destroy(runtime, config.stream, &error));
}

/* ---- one question, one answer: what the graph of a chain, its explanation and its hops say */

enum { SOME_LAUNCHES = 6, SOME_CHAINS = 400 };

typedef struct some_chain {
    griddep_chain *chain;
    uint32_t count;
    uint32_t previous[SOME_LAUNCHES]; /* UINT32_MAX: none */
    bool in_lane[SOME_LAUNCHES];
} some_chain;

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 16) % below;
}

static some_chain make_some(uint32_t seed, griddep_kernel *const *kernels, uint32_t kernel_count)
{
    some_chain made = {.count = 1 + draw(&seed, SOME_LAUNCHES)};
    const griddep_argument arguments[2] = {POINTER(buffers[0]), POINTER(buffers[1])};
    uint32_t last[SOME_LAUNCHES], lanes[SOME_LAUNCHES], lane_count = 0;

    ck_good(griddep_chain_create(runtime, &made.chain, &error));
    for (uint32_t i = 0; i < made.count; i++) {
        griddep_launch_config config = one_block;
        config.pdl = (int32_t)draw(&seed, 4);
        config.block[0] = draw(&seed, 4) ? 32 : 1024;
        config.grid[0] = draw(&seed, 4) ? 1 : 264;
        lanes[i] = draw(&seed, lane_count < 2 ? lane_count + 1 : 3);
        config.lane = lanes[i];
        if (lanes[i] == lane_count)
            last[lane_count++] = UINT32_MAX;
        ck_good(griddep_chain_add(made.chain, kernels[draw(&seed, kernel_count)], &config,
                                  arguments, 2, &error));
        made.previous[i] = last[lanes[i]];
        made.in_lane[i] = last[lanes[i]] != UINT32_MAX;
        last[lanes[i]] = i;
        for (uint32_t on = 0; on < i; on++) {
            if (lanes[on] == lanes[i] || draw(&seed, 3))
                continue;
            ck_good(griddep_chain_depend(made.chain, i, on, &error));
            if (!made.in_lane[i])
                made.previous[i] = on;
        }
    }
    return made;
}

static bool is_same(const griddep_graph *of, const some_chain *some, uint32_t index,
                    const griddep_explanation_info *info)
{
    for (uint32_t i = 0; i < griddep_graph_edge_count(of); i++) {
        griddep_graph_edge_info edge = edge_of(of, i);
        if (edge.to == index && edge.from == some->previous[index])
            return edge.reason == info->reason && edge.overlap == info->overlap &&
                   (edge.type == GRIDDEP_EDGE_PROGRAMMATIC || !edge.overlap);
    }
    return some->previous[index] == UINT32_MAX && info->overlap == GRIDDEP_OVERLAP_NONE;
}

/* A launch that may begin early may overlap all the same with nothing; one that may not has one
 * reason. */
static bool is_told(const some_chain *some, int32_t mode, uint32_t index,
                    const griddep_explanation_info *info)
{
    griddep_hop_info hop = {.size = sizeof hop};
    ck_good(griddep_chain_get_hop(some->chain, mode, index, &hop, &error));
    if (hop.edge >= 0 && hop.edge != (hop.reason <= GRIDDEP_REASON_FORCED))
        return false;
    return hop.reason > GRIDDEP_REASON_FORCED ? hop.reason == info->reason
                                              : info->reason <= GRIDDEP_REASON_FORCED ||
                                                    info->reason > GRIDDEP_REASON_WAIT_NOT_ALWAYS;
}

static void compare_answers(const some_chain *some, uint32_t seed)
{
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        griddep_graph *made = NULL;
        ck_good(griddep_graph_from_chain(some->chain, mode, &made, &error));
        for (uint32_t i = 0; i < some->count; i++) {
            griddep_explanation *explanation = NULL;
            griddep_explanation_info info = {.size = sizeof info};
            ck_good(griddep_chain_explain(some->chain, mode, i, &explanation, &error));
            ck_good(griddep_explanation_get_info(explanation, &info, &error));
            if (!is_same(made, some, i, &info) || !is_told(some, mode, i, &info))
                ck_abort_msg("chain %u, mode %s, launch %u: explain says %d, %d: %s",
                             (unsigned)seed, griddep_text(GRIDDEP_TEXT_MODE, mode), (unsigned)i,
                             (int)info.overlap, (int)info.reason, info.text);
            griddep_explanation_destroy(explanation);
        }
        griddep_graph_destroy(made);
    }
}

/* As it comes; switched off in the environment; on a device that cannot; and both. */
LOOP_TEST(open, every_tool_gives_one_answer, 4)
{
    static const char *const names[] = {"step", "quiet", "mute", "rash", "sometimes"};
    const uint32_t known = _i & 2 ? 1 : sizeof names / sizeof *names;
    griddep_kernel *kernels[6] = {NULL};
    griddep_module *unknown = NULL;
    size_t length = 0;

    if (_i & 1)
        setenv("GRIDDEP_PDL", "off", 1);
    if (_i & 2)
        fake_driver_set_capability(80);
    reopen(_i & 2 ? old_ptx : ptx);
    for (uint32_t i = 0; i < known; i++)
        kernels[i] = kernel_of(names[i]);
    if (!(_i & 2)) { /* a cubin of such a device there is none */
        void *cubin = fake_driver_make_cubin(ptx, &length);
        ck_good(griddep_module_load(runtime, cubin, length, NULL, &unknown, &error));
        free(cubin);
        ck_good(griddep_module_find_kernel(unknown, "step", &kernels[known], &error));
    }
    for (uint32_t seed = 0; seed < SOME_CHAINS; seed++) {
        some_chain some = make_some(seed, kernels, known + !!unknown);
        compare_answers(&some, seed);
        griddep_chain_destroy(some.chain);
    }
    griddep_module_unload(unknown);
}

TEST(open, lanes_are_checked)
{
    griddep_chain *chain = make_forked();
    const griddep_argument arguments[2] = {{.bytes = 8}, {.bytes = 8}};

    griddep_launch_config beyond = one_block;
    beyond.lane = 3;
    ck_refused(griddep_chain_add(chain, kernel_of("step"), &beyond, arguments, 2, &error),
               GRIDDEP_ERROR_ARGUMENT, "without gaps");
    ck_status(griddep_chain_depend(chain, 5, 0, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_chain_depend(chain, 1, 7, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_refused(griddep_chain_depend(chain, 1, 2, &error), GRIDDEP_ERROR_ARGUMENT,
               "launch 1 (step) cannot wait for launch 2 (step), which is not before it");
    ck_status(griddep_chain_depend(chain, 1, 1, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_uint_eq(griddep_chain_length(chain), 5);
    griddep_chain_destroy(chain);
}

/* ---- everything that can fail ---- */

typedef struct life {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_chain *chain;
    griddep_graph *graphs[9];
    void *stream, *event;
    uint64_t memory;
} life;

static int32_t chain_life(life *all, griddep_kernel *step, const griddep_argument *arguments)
{
    griddep_launch_config config = one_block;
    int32_t status = griddep_chain_create(all->runtime, &all->chain, &error);

    for (uint32_t i = 0; i < 4 && !status; i++) {
        config.lane = i & 1;
        status = griddep_chain_add(all->chain, step, &config, arguments, 2, &error);
    }
    if (!status)
        status = griddep_chain_depend(all->chain, 1, 0, &error);
    if (!status)
        status = griddep_chain_depend(all->chain, 2, 1, &error);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && !status; mode++)
        status = griddep_chain_run(all->chain, mode, all->stream, &error);
    if (!status)
        status = griddep_graph_from_chain(all->chain, GRIDDEP_MODE_GRAPH, &all->graphs[0], &error);
    if (!status)
        status = griddep_graph_launch(all->graphs[0], all->stream, &error);
    return status;
}

static int32_t build_life(life *all, griddep_graph **made, griddep_kernel *step,
                          const griddep_argument *arguments)
{
    uint32_t node, i = 0;
    int32_t status = griddep_graph_create(all->runtime, made, &error);

    for (; i < 3 && !status; i++)
        status = griddep_graph_add_kernel(*made, step, &one_block, arguments, 2, &node, &error);
    if (!status)
        status = griddep_graph_add_fill(*made, all->memory, 1, 8, &node, &error);
    if (!status)
        status = griddep_graph_add_copy(*made, all->memory, all->memory + 8, 8, &node, &error);
    if (!status)
        status = griddep_graph_add_edge(*made, 0, 1, 0, GRIDDEP_EDGE_AUTO, &error);
    if (!status)
        status = griddep_graph_add_edge(*made, 1, 2, 0, GRIDDEP_EDGE_DEFAULT, &error);
    if (!status)
        status = griddep_graph_add_edge(*made, 2, 3, 0, GRIDDEP_EDGE_DEFAULT, &error);
    return status;
}

static int32_t graph_life(life *all, griddep_kernel *step, const griddep_argument *arguments)
{
    griddep_graph **graphs = all->graphs;
    uint32_t count;
    uint64_t bytes;
    char text[64];
    int32_t status = build_life(all, &graphs[1], step, arguments);

    if (!status)
        status = build_life(all, &graphs[2], step, arguments);
    if (!status)
        status = griddep_graph_launch(graphs[1], all->stream, &error);
    if (!status)
        status = griddep_graph_set_arguments(graphs[1], 0, arguments, 2, &error);
    if (!status)
        status = griddep_graph_upgrade(graphs[2], &count, &error);
    if (!status)
        status =
            griddep_graph_print(graphs[2], GRIDDEP_FORMAT_JSON, text, sizeof text, &bytes, &error);
    return status;
}

static int32_t capture_life(life *all, griddep_kernel *step, const griddep_argument *arguments)
{
    griddep_launch_config config = one_block;
    uint32_t count, node;
    int32_t status = griddep_graph_capture_begin(all->runtime, all->stream, &error);

    if (status)
        return status;
    config.stream = all->stream;
    config.pdl = GRIDDEP_PDL_OFF;
    for (int i = 0; i < 3 && !status; i++)
        status = griddep_launch(step, &config, arguments, 2, NULL, &error);
    int32_t ended = griddep_graph_capture_end(all->runtime, all->stream, &all->graphs[4],
                                              status ? NULL : &error);
    if (!status)
        status = ended;
    if (!status)
        status = griddep_graph_set_arguments(all->graphs[4], 1, arguments, 2, &error);
    if (!status)
        status = griddep_graph_instantiate(all->graphs[4], &error);
    if (!status)
        status =
            griddep_graph_add_kernel(all->graphs[4], step, &one_block, arguments, 2, &node, &error);
    if (!status)
        status = griddep_graph_add_edge(all->graphs[4], 2, node, 0, GRIDDEP_EDGE_DEFAULT, &error);
    if (!status)
        status = griddep_graph_upgrade(all->graphs[4], &count, &error);
    if (!status)
        status = griddep_graph_remove_edge(all->graphs[4], 2, &error);
    if (!status)
        status = griddep_graph_add_edge(all->graphs[4], 2, node, 0, GRIDDEP_EDGE_AUTO, &error);
    if (!status)
        status = griddep_graph_launch(all->graphs[4], all->stream, &error);
    return status;
}

/* A captured kernel, whose arguments the driver has, and one behind it that reads memory early. */
static int32_t eager_life(life *all, const griddep_argument *arguments)
{
    const griddep_argument elsewhere[2] = {POINTER(all->memory + 8), arguments[1]};
    griddep_launch_config config = one_block;
    griddep_kernel *tell = NULL, *eager = NULL;
    uint32_t node, count;
    int32_t status = griddep_module_find_kernel(all->module, "tell", &tell, &error);

    if (!status)
        status = griddep_module_find_kernel(all->module, "eager", &eager, &error);
    if (!status)
        status = griddep_graph_capture_begin(all->runtime, all->stream, &error);
    if (status)
        return status;
    config.stream = all->stream;
    status = griddep_launch(tell, &config, arguments, 2, NULL, &error);
    int32_t ended = griddep_graph_capture_end(all->runtime, all->stream, &all->graphs[8],
                                              status ? NULL : &error);
    if (!status)
        status = ended;
    if (!status)
        status = griddep_graph_add_kernel(all->graphs[8], eager, &one_block, elsewhere, 2, &node,
                                          &error);
    if (!status)
        status = griddep_graph_add_edge(all->graphs[8], 0, node, 0, GRIDDEP_EDGE_DEFAULT, &error);
    if (!status)
        status = griddep_graph_upgrade(all->graphs[8], &count, &error);
    if (!status)
        status = griddep_graph_launch(all->graphs[8], all->stream, &error);
    if (!status)
        status = griddep_graph_set_arguments(all->graphs[8], node, arguments, 2, &error);
    if (!status)
        status = griddep_graph_launch(all->graphs[8], all->stream, &error);
    return status;
}

/* What went wrong first is told. */
static void and_then(int32_t *status, int32_t later)
{
    if (!*status)
        *status = later;
}

/* The whole life of graphs, giving up at the first failure as a caller would. Returns the first
 * status. */
static int32_t whole_life(void)
{
    life all = {0};
    griddep_kernel *step = NULL;
    int32_t status = open_runtime(&all.runtime);

    if (!status)
        status = griddep_module_load(all.runtime, ptx, sizeof ptx, NULL, &all.module, &error);
    if (!status)
        status = griddep_module_find_kernel(all.module, "step", &step, &error);
    if (!status)
        status = griddep_memory_allocate(all.runtime, BYTES, &all.memory, &error);
    if (!status)
        status = griddep_stream_create(all.runtime, NULL, &all.stream, &error);
    if (!status)
        status = griddep_event_create(all.runtime, GRIDDEP_EVENT_TIMING, &all.event, &error);
    const griddep_argument arguments[2] = {POINTER(all.memory), POINTER(all.memory)};
    if (!status)
        status = chain_life(&all, step, arguments);
    if (!status)
        status = graph_life(&all, step, arguments);
    if (!status)
        status = capture_life(&all, step, arguments);
    if (!status)
        status = eager_life(&all, arguments);
    for (int i = 0; i < 9; i++)
        griddep_graph_destroy(all.graphs[i]);
    griddep_chain_destroy(all.chain);
    if (all.event)
        and_then(&status, griddep_event_destroy(all.runtime, all.event, status ? NULL : &error));
    if (all.stream)
        and_then(&status, griddep_stream_destroy(all.runtime, all.stream, status ? NULL : &error));
    if (all.memory)
        and_then(&status, griddep_memory_free(all.runtime, all.memory, status ? NULL : &error));
    griddep_module_unload(all.module);
    griddep_runtime_close(all.runtime);
    return status;
}

/* Questions about nodes, kernels and addresses that have another answer. */
static bool has_another_way(const char *symbol)
{
    static const char *const others[] = {"cuFuncGetName", "cuFuncGetModule", "cuFuncGetAttribute",
                                         "cuPointerGetAttribute"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!strcmp(symbol, others[i]))
            return true;
    }
    return false;
}

TEST(failing, every_driver_call_may_fail)
{
    int failures = 0;

    for (uint64_t n = 1;; n++) {
        reset();
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
        } else {
            ck_assert_msg(may_fail_quietly(n - 1) || has_another_way(call.symbol),
                          "%s failed and nobody said so", call.symbol);
        }
    }
    ck_assert_int_gt(failures, 100);
}

TEST(failing, every_allocation_may_fail)
{
    long failures = 0;

    for (long n = 0; n < 100000; n++) {
        if (!round_takes_place((int)n, 3, n < 200 ? 1 : 3))
            continue;
        reset();
        fail_alloc_after(n);
        int32_t status = whole_life();
        int hit = fail_alloc_hit();
        bool holds = fail_alloc_within(
            (void (*)(void))gd_hold_for_capture); /* the module's code stays loaded then */
        fail_alloc_after(-1);
        assert_nothing_left();
        if (!hit)
            break;
        ck_assert_msg(status == GRIDDEP_ERROR_MEMORY || (holds && !status),
                      "allocation %ld: %s: %s", n, griddep_status_name(status), error.text);
        failures++;
    }
    ck_assert_int_gt(failures, 60);
}

MAIN_OF_SUITE("graph")
