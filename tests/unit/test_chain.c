/* Chains that live, on the scripted fake driver: launches changed between runs, sets of
 * arguments in turns, copies, fills and host functions as entries, rounds back to back, and
 * every driver call and allocation failing in turn. */
#include <check.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "griddep_values.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/quiet.h"
#include "unit/status.h"

/* Each makes out = in + 1: step does it right, hasty reads before its wait, quiet knows nothing of
 * dependent launch. size writes the number of CTAs, and of those in a cluster. through writes where
 * the address in out points to; names reads a variable of the module before its wait. */
#define ENTRY(name, body)                                                                          \
    ".visible .entry " name "(.param .u64 in, .param .u64 out)\n{\n"                               \
    "    .reg .b64 a<3>;\n    .reg .b32 w<3>;\n    ld.param.u64 a1, [in];\n"                       \
    "    ld.param.u64 a2, [out];\n" body "    ret;\n}\n"
#define LOAD "    ld.global.u32 w1, [a1];\n    add.u32 w1, w1, 1;\n"
#define STORE "    st.global.u32 [a2], w1;\n"
#define SIZE                                                                                       \
    "    mov.u32 w1, %nctaid.x;\n    st.global.u32 [a2], w1;\n"                                    \
    "    mov.u32 w1, %cluster_nctaid.x;\n    st.global.u32 [a2+4], w1;\n"
#define TRIGGER "    griddepcontrol.launch_dependents;\n"
#define WAIT "    griddepcontrol.wait;\n"
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY(
    "step", TRIGGER WAIT LOAD STORE) ENTRY("hasty", TRIGGER LOAD WAIT STORE)
    ENTRY("quiet", LOAD STORE) ENTRY("size", WAIT SIZE) ENTRY(
        "through", TRIGGER WAIT LOAD
        "    ld.global.u64 a2, [a2];\n" STORE) ".global .u32 variable;\n" ENTRY("names",
                                                                                "    ld.global.u32 "
                                                                                "w1, "
                                                                                "[variable];\n" WAIT
                                                                                    STORE);

enum { MOST_BUFFERS = 8, BYTES = 8 };

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_chain *chain;
static uint64_t buffers[MOST_BUFFERS];

/* ---- fixture ---- */

static int32_t open_runtime(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;
    int32_t status = gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error);

    return status ? status : gd_runtime_open_on(driver, &options, &runtime, &error);
}

static void open_all(void)
{
    ck_good(open_runtime());
    ck_good(griddep_module_load(runtime, ptx, sizeof ptx, NULL, &module, &error));
    for (int i = 0; i < MOST_BUFFERS; i++) {
        ck_good(griddep_memory_allocate(runtime, BYTES, &buffers[i], &error));
        ck_good(griddep_memory_fill(runtime, buffers[i], 0, BYTES, NULL, &error));
    }
    ck_good(griddep_chain_create(runtime, &chain, &error));
}

static void setup(void)
{
    unsetenv("GRIDDEP_PDL");
    fake_driver_reset();
    griddep_error_init(&error);
    open_all();
}

static void close_all(void)
{
    char left[256] = "";

    griddep_chain_destroy(chain);
    for (int i = 0; i < MOST_BUFFERS; i++)
        ck_good(griddep_memory_free(runtime, buffers[i], &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static griddep_kernel *kernel_of(const char *name)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(module, name, &kernel, &error));
    return kernel;
}

typedef struct pair {
    griddep_argument list[2];
} pair;

static pair pointers(int in, int out)
{
    return (pair){{POINTER(buffers[in]), POINTER(buffers[out])}};
}

static griddep_launch_config config_of(const char *name)
{
    return (griddep_launch_config){
        .size = sizeof(griddep_launch_config), .grid = {1}, .block = {1}, .name = name};
}

static void add(const char *kernel, const char *name, int in, int out)
{
    const griddep_launch_config config = config_of(name);

    ck_good(
        griddep_chain_add(chain, kernel_of(kernel), &config, pointers(in, out).list, 2, &error));
}

static void run(int32_t mode)
{
    ck_good(griddep_chain_run(chain, mode, NULL, &error));
}

static uint32_t word_of(int buffer, int word)
{
    uint32_t words[2];

    ck_good(griddep_memory_read(runtime, words, buffers[buffer], sizeof words, NULL, &error));
    return words[word];
}

static void write_word(int buffer, uint32_t word)
{
    ck_good(griddep_memory_write(runtime, buffers[buffer], &word, sizeof word, NULL, &error));
}

static uint64_t instantiations(void)
{
    return fake_driver_calls("cuGraphInstantiateWithFlags");
}

static bool is_graph(int32_t mode)
{
    return mode == GRIDDEP_MODE_GRAPH || mode == GRIDDEP_MODE_GRAPH_PDL;
}

static griddep_hop_info hop_of(int32_t mode, uint32_t index)
{
    griddep_hop_info hop = {.size = sizeof hop};

    ck_good(griddep_chain_get_hop(chain, mode, index, &hop, &error));
    return hop;
}

/* ---- changes ---- */

TEST_GROUP(open, setup, close_all);

LOOP_TEST(open, arguments_change_between_runs, GRIDDEP_MODE_COUNT)
{
    const int32_t mode = _i;
    const griddep_argument other = POINTER(buffers[4]);

    add("step", NULL, 0, 1);
    add("step", NULL, 1, 2);
    run(mode);
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(1, 3).list, 2, &error));
    run(mode); /* the run before has its own arguments, whether it is over or not */
    ck_assert_uint_eq(word_of(2, 0), 2);
    ck_assert_uint_eq(word_of(3, 0), 2);
    write_word(4, 10);
    ck_good(griddep_chain_set_argument(chain, 0, 0, &other, &error));
    run(mode);
    ck_assert_uint_eq(word_of(1, 0), 11);
    ck_assert_uint_eq(word_of(3, 0), 12);
    ck_assert_uint_eq(instantiations(), is_graph(mode) ? 1 : 0);
    ck_assert_uint_eq(fake_driver_calls("cuGraphExecKernelNodeSetParams"), is_graph(mode) ? 2 : 0);
    pair third = pointers(1, 5);
    fail_alloc_after(0); /* what nobody else holds changes without memory */
    int32_t status = griddep_chain_set_arguments(chain, 1, third.list, 2, &error);
    const bool hit = fail_alloc_hit();
    fail_alloc_after(-1);
    ck_good(status);
    ck_assert(is_graph(mode) || !hit); /* the fake driver takes some */
    run(mode);
    ck_assert_uint_eq(word_of(5, 0), 12);
}

/* Other arguments are those of one launch in one set: the other set, a graph that was made of the
 * chain, and a launch whose change was refused have what they had. The same arguments again are
 * none of the driver's business. */
LOOP_TEST(open, a_change_stays_where_it_is, GRIDDEP_MODE_COUNT)
{
    const int32_t mode = _i;
    const griddep_argument wrong[] = {POINTER(buffers[5]), {.bytes = 4}};
    griddep_graph *graph = NULL;
    uint32_t set;

    write_word(4, 40);
    write_word(5, 50);
    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_argument_set(chain, &set, &error));
    run(mode);
    ck_good(griddep_graph_from_chain(chain, mode, &graph, &error));
    for (int turn = 0; turn < 2; turn++) {
        ck_good(griddep_chain_set_arguments(chain, 0, pointers(4, 2).list, 2, &error));
        ck_status(griddep_chain_set_arguments(chain, 0, wrong, 2, &error), GRIDDEP_ERROR_SIGNATURE);
        ck_good(griddep_chain_set_argument(chain, 0, 0, pointers(4, 2).list, &error));
        ck_good(griddep_chain_set_argument(chain, 0, 1, pointers(4, 2).list + 1, &error));
        ck_assert_uint_eq(fake_driver_calls("cuGraphExecKernelNodeSetParams"),
                          is_graph(mode) ? 1 : 0);
        run(mode);
        ck_assert_uint_eq(word_of(2, 0), 41);
    }
    write_word(1, 0);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(word_of(1, 0), 1);
    write_word(1, 0);
    ck_good(griddep_chain_select_argument_set(chain, set, &error));
    run(mode);
    ck_assert_uint_eq(word_of(1, 0), 1);
    griddep_graph_destroy(graph);
}

/* Captured graphs of such drivers have no nodes that could be told apart. */
TEST(open, old_drivers_capture_anew)
{
    close_all();
    fake_driver_reset();
    fake_driver_set_version(12020);
    open_all();
    add("step", NULL, 0, 1);
    add("step", NULL, 1, 2);
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_assert_uint_eq(fake_driver_programmatic_edges(), 1);
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(1, 3).list, 2, &error));
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_assert_uint_eq(word_of(3, 0), 2);
    ck_assert_uint_eq(instantiations(), 2);
    ck_good(griddep_chain_run_many(chain, GRIDDEP_MODE_GRAPH_PDL, 2, NULL, &error));
    ck_assert_uint_eq(fake_driver_programmatic_edges(), 3);
}

LOOP_TEST(open, configurations_change_between_runs, GRIDDEP_MODE_COUNT)
{
    griddep_launch_config config = config_of("sizes");

    add("size", "sizes", 0, 1);
    add("step", NULL, 1, 2);
    run(_i);
    ck_assert_uint_eq(word_of(1, 0), 1);
    config.grid[0] = 4;
    ck_good(griddep_chain_set_config(chain, 0, &config, &error));
    run(_i);
    ck_assert_uint_eq(word_of(1, 0), 4);
    ck_assert_uint_eq(instantiations(), is_graph(_i) ? 1 : 0);
    config.name = NULL; /* stays */
    config.cluster[0] = 2;
    ck_good(griddep_chain_set_config(chain, 0, &config, &error));
    run(_i);
    ck_assert_uint_eq(word_of(1, 1), 2);
    ck_assert_uint_eq(instantiations(), is_graph(_i) ? 2 : 0);
    config = config_of(NULL);
    config.pdl = GRIDDEP_PDL_OFF;
    ck_good(griddep_chain_set_config(chain, 1, &config, &error));
    ck_assert_int_eq(hop_of(_i, 1).reason, GRIDDEP_REASON_OFF);
    ck_assert_str_eq(hop_of(_i, 0).name, "sizes");
}

TEST(open, bad_changes_are_refused)
{
    griddep_launch_config config = config_of("first");
    const griddep_argument narrow = {.bytes = 4};
    griddep_chain *checked = NULL;
    uint32_t index = 7;

    add("step", "first", 0, 1);
    add("step", NULL, 1, 2);
    ck_good(griddep_chain_add_fill(chain, NULL, buffers[3], 1, 4, &error));
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_status(griddep_chain_set_arguments(chain, 0, pointers(0, 1).list, 1, &error),
              GRIDDEP_ERROR_SIGNATURE);
    ck_status(griddep_chain_set_argument(chain, 0, 0, &narrow, &error), GRIDDEP_ERROR_SIGNATURE);
    ck_status(griddep_chain_set_argument(chain, 0, 2, &narrow, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_chain_set_argument(chain, 0, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_set_arguments(chain, 3, pointers(0, 1).list, 2, &error),
              GRIDDEP_ERROR_NOT_FOUND);
    ck_refused(griddep_chain_set_arguments(chain, 2, pointers(0, 1).list, 2, &error),
               GRIDDEP_ERROR_ARGUMENT, "launch 2 is a fill");
    ck_status(griddep_chain_set_config(chain, 0, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_refused(griddep_chain_set_config(chain, 1, &config, &error), GRIDDEP_ERROR_ARGUMENT,
               "keeps its name");
    config.lane = 1;
    ck_refused(griddep_chain_set_config(chain, 0, &config, &error), GRIDDEP_ERROR_ARGUMENT,
               "stays in lane 0");
    config.lane = 0;
    config.block[0] = 4096;
    ck_status(griddep_chain_set_config(chain, 0, &config, &error), GRIDDEP_ERROR_LIMIT);
    ck_refused(griddep_chain_set_copy(chain, 2, buffers[3], buffers[2], 4, &error),
               GRIDDEP_ERROR_ARGUMENT, "(fill) is no copy");
    ck_status(griddep_chain_set_fill(chain, 0, buffers[3], 1, 4, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_set_fill(chain, 2, 0, 1, 4, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_set_fill(chain, 2, buffers[3], 1, 0, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_set_fill(chain, 3, buffers[3], 1, 4, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_chain_add_host(chain, NULL, NULL, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_refused(griddep_chain_add_copy(chain, &config, buffers[3], buffers[2], 4, &error),
               GRIDDEP_ERROR_ARGUMENT, "and nothing else");
    ck_refused(griddep_chain_add_copy(chain, NULL, buffers[3], 0, 4, &error),
               GRIDDEP_ERROR_ARGUMENT, "source");
    config = config_of("first");
    ck_refused(griddep_chain_add(chain, kernel_of("step"), &config, pointers(0, 1).list, 2, &error),
               GRIDDEP_ERROR_ARGUMENT, "is named \"first\" already");
    ck_assert_uint_eq(griddep_chain_length(chain), 3);
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_assert_uint_eq(instantiations(), 1);
    ck_status(griddep_chain_find(chain, NULL, &index, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_select_argument_set(chain, 1, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_chain_add_argument_set(chain, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_chain_create(NULL, &checked, &error));
    ck_refused(griddep_chain_set_arguments(checked, 0, NULL, 0, &error), GRIDDEP_ERROR_ARGUMENT,
               "without a runtime");
    griddep_chain_destroy(checked);
}

TEST(open, launches_are_found_by_name)
{
    uint32_t index = 7;

    add("step", "embed", 0, 1);
    add("quiet", NULL, 1, 2);
    add("step", NULL, 1, 2);
    ck_good(griddep_chain_find(chain, "embed", &index, &error));
    ck_assert_uint_eq(index, 0);
    ck_good(griddep_chain_find(chain, "quiet", &index, &error));
    ck_assert_uint_eq(index, 1);
    ck_good(griddep_chain_find(chain, "step", &index, &error)); /* the other one has a name */
    ck_assert_uint_eq(index, 2);
    add("step", NULL, 1, 2);
    ck_refused(griddep_chain_find(chain, "step", &index, &error), GRIDDEP_ERROR_ARGUMENT,
               "2 launches of kernel step");
    ck_status(griddep_chain_find(chain, "fill", &index, &error), GRIDDEP_ERROR_NOT_FOUND);
}

/* By griddep_values.h: a value has the bytes of its type, and the library compares them. */
TEST(open, arguments_are_given_by_value)
{
    const griddep_launch_config config = griddep_config_for(1000, 256);
    const griddep_argument list[] = {GRIDDEP_VALUE(buffers[0]), GRIDDEP_VALUE(buffers[1])};
    const griddep_argument narrow[] = {GRIDDEP_VALUE(buffers[0]), GRIDDEP_VALUE(1)};
    const float half = 0.5F;

    ck_assert_uint_eq(config.grid[0], 4);
    ck_assert_uint_eq(griddep_config_for(1024, 256).grid[0], 4);
    ck_assert_uint_eq(griddep_config_for(0, 256).grid[0], 0);
    ck_assert_uint_eq(griddep_config_for(UINT64_MAX, 1).grid[0], 0);
    ck_assert_uint_eq(griddep_config_for(5, 0).grid[0], 0);
    const griddep_argument value = GRIDDEP_VALUE(half);
    ck_assert_mem_eq(&value.value, &half, sizeof half);
    ck_assert_uint_eq(value.bytes, 4);
    ck_assert_uint_eq(GRIDDEP_VALUE(0.5).bytes, 8);
    ck_assert_uint_eq(GRIDDEP_VALUE((signed char)-1).value, 0xff);
    ck_assert_uint_eq(GRIDDEP_VALUE((unsigned short)65535).bytes, 2);
    ck_assert_uint_eq(GRIDDEP_VALUE(-1).value, UINT32_MAX);
    ck_good(griddep_chain_add(chain, kernel_of("size"), &config, list, 2, &error));
    ck_status(griddep_chain_add(chain, kernel_of("size"), &config, narrow, 2, &error),
              GRIDDEP_ERROR_SIGNATURE);
    run(GRIDDEP_MODE_SERIAL);
    ck_assert_uint_eq(word_of(1, 0), 4);
}

/* ---- sets ---- */

LOOP_TEST(open, sets_take_turns, GRIDDEP_MODE_COUNT)
{
    const int32_t mode = _i;
    uint32_t set = 7;

    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_argument_set(chain, &set, &error));
    ck_assert_uint_eq(set, 1);
    ck_good(griddep_chain_select_argument_set(chain, 1, &error));
    ck_good(griddep_chain_set_arguments(chain, 0, pointers(2, 3).list, 2, &error));
    ck_good(griddep_chain_add_copy(chain, NULL, buffers[4], buffers[3], 4, &error)); /* in both */
    ck_good(griddep_chain_select_argument_set(chain, 0, &error));
    ck_good(griddep_chain_set_copy(chain, 1, buffers[5], buffers[1], 4, &error));
    for (uint32_t turn = 0; turn < 4; turn++) {
        write_word(turn % 2 ? 2 : 0, 10 * (turn + 1));
        ck_good(griddep_chain_select_argument_set(chain, turn % 2, &error));
        run(mode);
        ck_assert_uint_eq(word_of(turn % 2 ? 4 : 5, 0), 10 * (turn + 1) + 1);
    }
    ck_assert_uint_eq(instantiations(), is_graph(mode) ? 2 : 0); /* not one in each turn */
    ck_assert_uint_eq(fake_driver_calls("cuGraphExecKernelNodeSetParams"), 0);
}

/* A configuration is common to all sets, and refused where it suits one of them alone. */
TEST(open, sets_have_one_configuration)
{
    griddep_launch_config config = config_of(NULL);
    uint32_t set;

    add("size", NULL, 0, 1);
    ck_good(griddep_chain_add_argument_set(chain, &set, &error));
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_good(griddep_chain_select_argument_set(chain, set, &error));
    ck_good(griddep_chain_set_arguments(chain, 0, pointers(0, 2).list, 2, &error));
    run(GRIDDEP_MODE_GRAPH_PDL);
    config.grid[0] = 3;
    ck_good(griddep_chain_set_config(chain, 0, &config, &error));
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_good(griddep_chain_select_argument_set(chain, 0, &error));
    run(GRIDDEP_MODE_GRAPH_PDL);
    ck_assert_uint_eq(word_of(1, 0), 3);
    ck_assert_uint_eq(word_of(2, 0), 3);
    ck_assert_uint_eq(instantiations(), 2);
}

/* ---- entries besides kernels ---- */

static void count(void *user)
{
    ++*(uint32_t *)user;
}

LOOP_TEST(open, copies_fills_and_host_functions_run, GRIDDEP_MODE_COUNT)
{
    const int32_t mode = _i;
    griddep_launch_config copied = {.size = sizeof copied, .name = "hand over"};
    uint32_t calls = 0, index = 7;

    ck_good(griddep_chain_add_fill(chain, NULL, buffers[0], 1, 4, &error));
    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_copy(chain, &copied, buffers[2], buffers[1], 4, &error));
    add("step", NULL, 2, 3);
    ck_good(griddep_chain_add_host(chain, NULL, count, &calls, &error));
    run(mode);
    ck_assert_uint_eq(word_of(3, 0), 0x01010103);
    ck_assert_uint_eq(calls, 1);
    ck_good(griddep_chain_find(chain, "hand over", &index, &error));
    ck_assert_uint_eq(index, 2);
    write_word(4, 40);
    ck_good(griddep_chain_set_copy(chain, 2, buffers[2], buffers[4], 4, &error));
    ck_good(griddep_chain_set_fill(chain, 0, buffers[0], 2, 4, &error));
    run(mode);
    ck_assert_uint_eq(word_of(1, 0), 0x02020203);
    ck_assert_uint_eq(word_of(3, 0), 41);
    ck_assert_uint_eq(calls, 2);
    ck_assert_uint_eq(instantiations(), is_graph(mode) ? 1 : 0);
}

static void stop(void *gate)
{
    sem_wait(gate);
}

/* A run that is under way keeps what it had, whatever is changed meanwhile, and when the chain is
 * ended. */
LOOP_TEST(open, a_chain_may_change_while_it_runs, GRIDDEP_MODE_COUNT)
{
    const griddep_launch_config wider = {.size = sizeof wider, .grid = {2}, .block = {1}};
    const int32_t mode = _i;
    uint32_t set = 0;
    sem_t gate;

    sem_init(&gate, 0, 0);
    ck_good(griddep_chain_add_fill(chain, NULL, buffers[0], 1, 4, &error));
    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_copy(chain, NULL, buffers[2], buffers[1], 4, &error));
    run(mode);
    for (int i = 0; i < 3; i++)
        write_word(i, 0);
    write_word(4, 70);
    write_word(5, 0);
    ck_good(griddep_stream_add_host(runtime, NULL, stop, &gate, &error));
    run(mode);
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(4, 5).list, 2, &error));
    ck_good(griddep_chain_set_config(chain, 1, &wider, &error));
    ck_good(griddep_chain_set_copy(chain, 2, buffers[3], buffers[5], 4, &error));
    ck_good(griddep_chain_set_fill(chain, 0, buffers[0], 9, 4, &error));
    ck_good(griddep_chain_add_argument_set(chain, &set, &error));
    ck_good(griddep_chain_select_argument_set(chain, set, &error));
    run(mode);
    griddep_chain_destroy(chain);
    chain = NULL;
    sem_post(&gate);
    ck_assert_uint_eq(word_of(2, 0), 0x01010102); /* of the run before the changes */
    ck_assert_uint_eq(word_of(3, 0), 71);         /* and of the one behind them */
    ck_assert_uint_eq(word_of(0, 0), 0x09090909);
    sem_destroy(&gate);
}

/* What the driver does not take as an update is instantiated anew. */
TEST(open, refused_updates_are_instantiated)
{
    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_copy(chain, NULL, buffers[2], buffers[1], 4, &error));
    run(GRIDDEP_MODE_GRAPH);
    fake_driver_fail("cuGraphExecMemcpyNodeSetParams", 1, GD_CUDA_ERROR_INVALID_VALUE);
    ck_good(griddep_chain_set_copy(chain, 1, buffers[3], buffers[1], 4, &error));
    run(GRIDDEP_MODE_GRAPH);
    fake_driver_fail("cuGraphExecKernelNodeSetParams", 1, GD_CUDA_ERROR_INVALID_VALUE);
    ck_good(griddep_chain_set_arguments(chain, 0, pointers(3, 1).list, 2, &error));
    run(GRIDDEP_MODE_GRAPH);
    ck_assert_uint_eq(word_of(3, 0), 2);
    ck_assert_uint_eq(instantiations(), 3);
}

/* What the explanation of a hop gives as its reason. */
static int32_t explained(int32_t mode, uint32_t index)
{
    griddep_explanation *explanation = NULL;
    griddep_explanation_info info = {.size = sizeof info};

    ck_good(griddep_chain_explain(chain, mode, index, &explanation, &error));
    ck_good(griddep_explanation_get_info(explanation, &info, &error));
    griddep_explanation_destroy(explanation);
    return info.reason;
}

/* What the audit of the chain's graph says of the edge to a node; -1: there is none. */
static int32_t audited(int32_t mode, uint32_t to)
{
    griddep_graph *graph = NULL;
    griddep_graph_edge_info edge = {.size = sizeof edge};
    int32_t reason = -1;

    ck_good(griddep_graph_from_chain(chain, mode, &graph, &error));
    for (uint32_t i = 0; i < griddep_graph_edge_count(graph); i++) {
        ck_good(griddep_graph_get_edge(graph, i, &edge, &error));
        reason = edge.to == to ? edge.reason : reason;
    }
    griddep_graph_destroy(graph);
    return reason;
}

LOOP_TEST(open, what_is_no_kernel_ends_the_overlap, 2)
{
    static const int32_t expected[] = {GRIDDEP_REASON_FIRST, GRIDDEP_REASON_NODE_BETWEEN,
                                       GRIDDEP_REASON_NODE_BETWEEN, GRIDDEP_REASON_NOT_KERNELS,
                                       GRIDDEP_REASON_NOT_KERNELS};
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
    uint32_t calls = 0;
    fake_launch launch;

    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_copy(chain, NULL, buffers[2], buffers[1], 4, &error));
    add("step", NULL, 2, 3);
    ck_good(griddep_chain_add_fill(chain, NULL, buffers[4], 2, 4, &error));
    ck_good(griddep_chain_add_host(chain, NULL, count, &calls, &error));
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_int_eq(hop_of(mode, i).reason, expected[i]);
        ck_assert_int_eq(explained(mode, i), expected[i]);
        ck_assert_int_eq(audited(mode, i), i ? expected[i] : -1);
    }
    ck_assert_str_eq(hop_of(mode, 1).kernel, "copy");
    ck_assert_int_eq(hop_of(mode, 1).node, GRIDDEP_GRAPH_NODE_COPY);
    run(GRIDDEP_MODE_PDL);
    ck_assert_int_eq(fake_driver_last_launch(&launch), 1);
    ck_assert_int_eq(launch.programmatic, 0);
    ck_good(griddep_runtime_synchronize(runtime, &error)); /* before `calls` is gone */
    ck_assert_uint_eq(calls, 1);
}

static uint32_t count_findings(const char *code, int32_t launch)
{
    griddep_findings *findings = NULL;
    griddep_finding finding = {.size = sizeof finding};
    uint32_t found = 0;

    ck_good(griddep_chain_check(chain, &findings, &error));
    for (uint32_t i = 0; !griddep_findings_get(findings, i, &finding, NULL); i++)
        found += !strcmp(finding.code, code) && finding.launch == launch;
    griddep_findings_destroy(findings);
    return found;
}

TEST(open, the_check_sees_copies_and_fills)
{
    griddep_launch_config beside = {.size = sizeof beside, .lane = 1};

    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_copy(chain, NULL, buffers[2], buffers[1], 4, &error));
    add("step", NULL, 2, 3);
    ck_assert_uint_eq(count_findings("GD203", 1), 1);
    ck_good(griddep_chain_add_fill(chain, &beside, buffers[2], 0, 4, &error));
    ck_assert_uint_eq(count_findings("GD212", 3), 1); /* nothing orders it and the copy */
    ck_good(griddep_chain_depend(chain, 3, 2, &error));
    ck_assert_uint_eq(count_findings("GD212", 3), 0);
}

/* ---- rounds ---- */

static void run_many(int32_t mode, uint32_t rounds)
{
    ck_good(griddep_chain_run_many(chain, mode, rounds, NULL, &error));
}

LOOP_TEST(open, rounds_run_back_to_back, GRIDDEP_MODE_COUNT)
{
    const int32_t mode = _i;
    const bool early = mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL;
    fake_launch launch;

    add("step", NULL, 0, 1);
    add("step", NULL, 1, 0);
    run_many(mode, 0);
    ck_assert_uint_eq(word_of(0, 0), 0);
    run_many(mode, 5);
    ck_assert_uint_eq(word_of(0, 0), 10);
    for (uint64_t i = 0; i < fake_driver_launches(); i++) {
        ck_assert_int_eq(fake_driver_launch(i, &launch), 1);
        ck_assert_int_eq(launch.programmatic, i > 0 && early);
    }
    ck_assert_uint_eq(fake_driver_launches(), is_graph(mode) ? 0 : 10);
    ck_assert_uint_eq(fake_driver_calls("cuGraphLaunch"), is_graph(mode) ? 2 : 0); /* 4 and 1 */
    ck_assert_int_eq(hop_of(mode, 2).reason, early ? GRIDDEP_REASON_SET : GRIDDEP_REASON_OFF);
    ck_assert_int_eq(explained(mode, 2), early ? GRIDDEP_REASON_SET : GRIDDEP_REASON_OFF);
    const uint64_t before = instantiations();
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(1, 2).list, 2, &error));
    run_many(mode, 5); /* changed in each of its rounds */
    ck_assert_uint_eq(word_of(0, 0), 10);
    ck_assert_uint_eq(word_of(2, 0), 12);
    ck_assert_uint_eq(instantiations(), before);
}

/* A kernel that reads before its wait what the launch before it writes begins behind that one,
 * unless it is forced; other arguments are looked at again, and each set has its own answer. */
LOOP_TEST(open, hops_overlap_where_the_check_allows_it, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    fake_launch launch;
    griddep_graph *graph = NULL;
    uint32_t set, count;

    add("step", NULL, 0, 1);
    add("hasty", NULL, 1, 2);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_assert_int_eq(explained(mode, 1), GRIDDEP_REASON_RACE);
    run_many(mode, 1);
    ck_assert_uint_eq(_i ? fake_driver_programmatic_edges() : 0, 0);
    ck_good(griddep_graph_from_chain(chain, GRIDDEP_MODE_GRAPH_PDL, &graph, &error));
    ck_good(griddep_graph_upgrade(graph, &count, &error));
    ck_assert_uint_eq(count, 0);
    griddep_graph_destroy(graph);
    ck_assert(_i || fake_driver_launch(1, &launch) == 1);
    ck_assert(_i || !launch.programmatic);
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(3, 2).list, 2, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    ck_assert_int_eq(explained(mode, 1), GRIDDEP_REASON_SET);
    run_many(mode, 1);
    ck_assert_uint_eq(_i ? fake_driver_programmatic_edges() : 1, 1);
    ck_assert(_i || fake_driver_launch(3, &launch) == 1);
    ck_assert(_i || launch.programmatic);
    ck_good(griddep_chain_add_argument_set(chain, &set, &error));
    ck_good(griddep_chain_select_argument_set(chain, set, &error));
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(1, 2).list, 2, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_good(griddep_chain_select_argument_set(chain, 0, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    ck_good(griddep_chain_select_argument_set(chain, set, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    config.pdl = GRIDDEP_PDL_FORCE;
    ck_good(griddep_chain_set_config(chain, 1, &config, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_FORCED);
}

static int32_t edge_reason(griddep_graph *graph)
{
    griddep_graph_edge_info info = {.size = sizeof info};

    ck_good(griddep_graph_get_edge(graph, 0, &info, &error));
    return info.reason;
}

/* A graph of a chain looks again when its nodes' arguments change, the chain being gone. */
LOOP_TEST(open, graphs_of_chains_look_again, 2)
{
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_use use = {.size = sizeof use, .buffer = 7, .access = GRIDDEP_ACCESS_READ, .bytes = 4};
    griddep_graph *graph = NULL;

    add("step", NULL, 0, 1);
    add("hasty", NULL, 3, 2);
    if (_i) /* what was said of an argument counts in the graph too */
        ck_good(griddep_chain_set_use(chain, 1, 0, &use, &error));
    ck_good(griddep_graph_from_chain(chain, GRIDDEP_MODE_GRAPH_PDL, &graph, &error));
    griddep_chain_destroy(chain);
    chain = NULL;
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_int_eq(edge_reason(graph), GRIDDEP_REASON_SET);
    ck_assert_uint_eq(fake_driver_programmatic_edges(), 1);
    if (_i) {
        const pair slice = {{POINTER(buffers[1] - 4), POINTER(buffers[2])}};
        ck_good(griddep_graph_set_arguments(graph, 1, slice.list, 2, &error));
        ck_assert_int_eq(edge_reason(graph), GRIDDEP_REASON_SET);
    }
    ck_good(griddep_graph_set_arguments(graph, 1, pointers(1, 2).list, 2, &error));
    ck_assert_int_eq(edge_reason(graph), GRIDDEP_REASON_RACE);
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(fake_driver_programmatic_edges(), 0);
    ck_assert_uint_eq(word_of(2, 0), word_of(1, 0) + 1);
    ck_good(griddep_graph_set_config(graph, 0, &config, &error));
    ck_assert_int_eq(edge_reason(graph), GRIDDEP_REASON_RACE);
    bool failed = true;
    for (long i = 0; failed; i++) {
        fail_alloc_after(i);
        failed = griddep_graph_set_arguments(graph, 1, pointers(3, 2).list, 2, &error) != 0;
        fail_alloc_after(-1);
        ck_assert_int_eq(edge_reason(graph), failed ? GRIDDEP_REASON_RACE : GRIDDEP_REASON_SET);
    }
    ck_good(griddep_graph_launch(graph, NULL, &error));
    ck_assert_uint_eq(fake_driver_programmatic_edges(), 1);
    griddep_graph_destroy(graph);
}

static void set_addresses(uint32_t index, uint64_t in, uint64_t out)
{
    const pair arguments = {{POINTER(in), POINTER(out)}};

    ck_good(griddep_chain_set_arguments(chain, index, arguments.list, 2, &error));
}

/* Slices of one allocation may meet where nobody tells how far the first of them reaches. */
LOOP_TEST(open, slices_of_an_allocation_may_meet, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
    griddep_use use = {
        .size = sizeof use, .buffer = 7, .access = GRIDDEP_ACCESS_READ, .bytes = 4096};
    uint64_t block;

    ck_good(griddep_memory_allocate(runtime, 8192, &block, &error));
    add("step", NULL, 0, 1);
    add("hasty", NULL, 1, 2);
    set_addresses(0, buffers[0], block + 4096);
    set_addresses(1, block, buffers[2]);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_assert_int_eq(explained(mode, 1), GRIDDEP_REASON_RACE);
    ck_assert_uint_eq(count_findings("GD206", 1), 1);
    set_addresses(0, buffers[0], block);
    set_addresses(1, block + 4096, buffers[2]);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    set_addresses(0, buffers[0], block + 4096); /* and told: the other half */
    set_addresses(1, block, buffers[2]);
    ck_good(griddep_chain_set_use(chain, 1, 0, &use, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    ck_assert_uint_eq(count_findings("GD206", 1), 0);
    use.bytes = 4100;
    ck_good(griddep_chain_set_use(chain, 1, 0, &use, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    set_addresses(0, buffers[0], block); /* the writer's extent is not told */
    set_addresses(1, block + 4096, buffers[2]);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_good(griddep_chain_add_buffer(chain, block, 4096, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    ck_good(griddep_chain_add_buffer(chain, block, 4096, &error)); /* told twice */
    ck_good(griddep_chain_add_buffer(chain, block, 4100, &error)); /* the furthest end counts */
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_assert_uint_eq(count_findings("GD206", 1), 1);
    ck_status(griddep_chain_add_buffer(chain, 0, 4, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_add_buffer(chain, block, 0, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_chain_add_buffer(chain, 8, UINT64_MAX - 7, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_memory_free(runtime, block, &error));
}

/* A launch that writes nobody knows where holds back what touches anything early, until somebody
 * says what it reaches. */
LOOP_TEST(open, what_cannot_be_traced_meets_all, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
    griddep_use use = {
        .size = sizeof use, .buffer = 7, .access = GRIDDEP_ACCESS_CONSTANT, .bytes = 8};
    griddep_use reach = {.size = sizeof reach, .access = GRIDDEP_ACCESS_WRITE, .bytes = 8};

    add("through", NULL, 0, 3);
    add("hasty", NULL, 1, 2);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_assert_int_eq(explained(mode, 1), GRIDDEP_REASON_RACE);
    ck_assert_uint_eq(count_findings("GD112", 1), 1);
    ck_good(griddep_chain_set_use(chain, 1, 0, &use, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    use.access = GRIDDEP_ACCESS_READ;
    ck_good(griddep_chain_set_use(chain, 1, 0, &use, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    reach.offset = buffers[4];
    ck_good(griddep_chain_set_reach(chain, 0, &reach, 1, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    reach.offset = buffers[1];
    ck_good(griddep_chain_set_reach(chain, 0, &reach, 1, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_assert_uint_eq(count_findings("GD206", 1), 1);
    reach.access = GRIDDEP_ACCESS_READ; /* which the text contradicts */
    ck_good(griddep_chain_set_reach(chain, 0, &reach, 1, &error));
    ck_assert_uint_eq(count_findings("GD210", 0), 1);
    ck_good(griddep_chain_set_reach(chain, 0, NULL, 0, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    ck_status(griddep_chain_set_reach(chain, 2, NULL, 0, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_chain_set_reach(chain, 0, NULL, 1, &error), GRIDDEP_ERROR_ARGUMENT);
    reach.access = GRIDDEP_ACCESS_UNKNOWN;
    ck_status(griddep_chain_set_reach(chain, 0, &reach, 1, &error), GRIDDEP_ERROR_ARGUMENT);
    reach = (griddep_use){.size = sizeof reach, .access = GRIDDEP_ACCESS_READ};
    ck_status(griddep_chain_set_reach(chain, 0, &reach, 1, &error), GRIDDEP_ERROR_ARGUMENT);
}

/* An address that is in no allocation leads anywhere; NULL leads nowhere. */
LOOP_TEST(open, disguised_addresses_lead_anywhere, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;

    add("step", NULL, 0, 3);
    add("hasty", NULL, 1, 2);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    set_addresses(0, buffers[0], buffers[1] | UINT64_C(1) << 60);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    set_addresses(0, buffers[0], buffers[1] >> 3);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    set_addresses(0, buffers[0], 0);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
}

/* Whoever has asked for the address of a variable may have given it to a kernel. */
LOOP_TEST(open, variables_whose_address_is_known, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
    uint64_t address, bytes;

    add("step", NULL, 0, 1);
    add("names", NULL, 3, 2);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_SET);
    ck_good(griddep_module_get_global(module, "variable", &address, &bytes, &error));
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    set_addresses(0, buffers[0], address);
    ck_assert_int_eq(hop_of(mode, 1).reason, GRIDDEP_REASON_RACE);
    ck_assert_uint_eq(count_findings("GD112", 1), 1);
}

/* The first kernel reads before its wait: what nobody writes it may read beside the round before,
 * what the last kernel writes it may not. */
LOOP_TEST(open, rounds_overlap_where_the_check_allows_it, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_PDL;
    fake_launch launch;

    add("hasty", NULL, 0, 1);
    add("step", NULL, 1, 2);
    ck_assert_int_eq(hop_of(mode, 2).reason, GRIDDEP_REASON_SET);
    run_many(mode, 2);
    if (_i)
        ck_assert_uint_eq(fake_driver_programmatic_edges(), 3);
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(1, 0).list, 2, &error));
    ck_assert_int_eq(hop_of(mode, 2).reason, GRIDDEP_REASON_ROUND);
    ck_assert_int_eq(explained(mode, 2), GRIDDEP_REASON_ROUND);
    run_many(mode, 2); /* the graph of two rounds is made anew */
    if (_i)
        ck_assert_uint_eq(fake_driver_programmatic_edges(), 2);
    for (uint64_t i = 0; !_i && i < 8; i++) {
        ck_assert_int_eq(fake_driver_launch(i, &launch), 1);
        ck_assert_int_eq(launch.programmatic, i != 0 && i != 4 && i != 6);
    }
    ck_good(griddep_chain_set_arguments(chain, 1, pointers(1, 3).list, 2, &error));
    ck_assert_int_eq(hop_of(mode, 2).reason, GRIDDEP_REASON_SET);
}

TEST(open, rounds_of_lanes_and_copies_do_not_overlap)
{
    griddep_launch_config beside = config_of(NULL);

    add("step", NULL, 0, 1);
    ck_good(griddep_chain_add_copy(chain, NULL, buffers[0], buffers[1], 4, &error));
    ck_assert_int_eq(hop_of(GRIDDEP_MODE_PDL, 2).reason, GRIDDEP_REASON_NODE_BETWEEN);
    ck_assert_int_eq(explained(GRIDDEP_MODE_PDL, 2), GRIDDEP_REASON_NODE_BETWEEN);
    beside.lane = 1;
    ck_good(griddep_chain_add(chain, kernel_of("step"), &beside, pointers(2, 3).list, 2, &error));
    ck_assert_int_eq(hop_of(GRIDDEP_MODE_PDL, 3).reason, GRIDDEP_REASON_OTHER_ORDER);
    ck_assert_int_eq(explained(GRIDDEP_MODE_GRAPH_PDL, 3), GRIDDEP_REASON_OTHER_ORDER);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        write_word(0, 0);
        run_many(mode, 7);
        ck_assert_uint_eq(word_of(0, 0), 7);
    }
}

/* ---- failures ---- */

/* A chain's life with changes; `made` is what has been made of it. */
static int32_t live(int32_t mode, griddep_kernel *step)
{
    const griddep_launch_config config = config_of(NULL);
    griddep_launch_config larger = config;
    int32_t status = GRIDDEP_OK;
    uint32_t set = 0;

    larger.cluster[0] = 1;
    for (int i = 0; i < 2 && !status; i++)
        status = griddep_chain_add(chain, step, &config, pointers(i, i + 1).list, 2, &error);
    if (!status)
        status = griddep_chain_add_copy(chain, NULL, buffers[3], buffers[2], 4, &error);
    if (!status)
        status = griddep_chain_run_many(chain, mode, 3, NULL, &error);
    if (!status)
        status = griddep_chain_set_arguments(chain, 0, pointers(4, 1).list, 2, &error);
    if (!status)
        status = griddep_chain_add_argument_set(chain, &set, &error);
    if (!status)
        status = griddep_chain_select_argument_set(chain, set, &error);
    if (!status)
        status = griddep_chain_set_copy(chain, 2, buffers[5], buffers[2], 4, &error);
    if (!status)
        status = griddep_chain_run(chain, mode, NULL, &error);
    if (!status)
        status = griddep_chain_set_config(chain, 1, &larger, &error);
    if (!status)
        status = griddep_chain_run(chain, mode, NULL, &error);
    return status;
}

/* Whatever failed, the launches that are there run. */
static void assert_usable(int32_t mode)
{
    if (griddep_chain_length(chain) < 2)
        return;
    ck_good(griddep_chain_set_arguments(chain, 0, pointers(6, 1).list, 2, &error));
    write_word(6, 60);
    run(mode);
    ck_assert_uint_eq(word_of(2, 0), 62);
}

LOOP_TEST(open, every_driver_call_may_fail, GRIDDEP_MODE_COUNT)
{
    uint64_t calls = 0, failures = 0;

    close_all();
    for (uint64_t n = 1; !calls || n <= calls; n++) {
        setup();
        griddep_kernel *step = kernel_of("step");
        const uint64_t before = fake_driver_calls(NULL);
        fake_driver_fail(NULL, n, GD_CUDA_ERROR_UNKNOWN);
        int32_t status = live(_i, step);
        calls = fake_driver_calls(NULL) - before;
        if (n <= calls) {
            fake_call call;
            ck_assert_int_eq(fake_driver_call(before + n - 1, &call), 1);
            failures += status != GRIDDEP_OK;
            if (strcmp(call.symbol, "cuCtxPushCurrent") && strcmp(call.symbol, "cuCtxPopCurrent"))
                assert_usable(_i);
        }
        if (n < calls)
            close_all();
    }
    ck_assert_uint_gt(failures, 5);
}

LOOP_TEST(open, every_allocation_may_fail, GRIDDEP_MODE_COUNT)
{
    int hit = 1;

    close_all();
    for (long n = 0; hit; n++) {
        setup();
        griddep_kernel *step = kernel_of("step");
        fail_alloc_after(n);
        int32_t status = live(_i, step);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_msg(status == GRIDDEP_ERROR_MEMORY || !status, "allocation %ld: %s: %s", n,
                      griddep_status_name(status), error.text);
        assert_usable(_i);
        if (hit)
            close_all();
    }
}

MAIN_OF_SUITE("chain")
