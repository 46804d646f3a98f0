/* The runtime's context that cannot be made current: each public function that needs it says so,
 * once for each time it needs it, and changes nothing. The header says which functions there
 * are. */
#include <check.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/fail_alloc.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .u32 variable;\n"
    ".visible .global .attribute(.managed) .u32 managed;\n"
    ".visible .entry step(.param .u64 in, .param .u64 out)\n{\n"
    "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n    ret;\n}\n"
    ".visible .entry crash()\n{\n    .reg .b64 %a;\n    mov.u64 %a, 64;\n"
    "    st.global.u32 [%a], 1;\n    ret;\n}\n";

enum { BYTES = 64 };

/* One of each, as a caller may have them. */
static struct {
    griddep_runtime *runtime;
    griddep_module *module, *library;
    griddep_kernel *step;
    griddep_chain *chain;
    griddep_graph *built, *same, *ready, *captured; /* ready: instantiated */
    griddep_ptx *text;
    void *stream, *capturing, *event, *events[2];
    uint64_t memory;
    griddep_argument arguments[2];
    /* what a call under test makes */
    griddep_module *loaded;
    griddep_graph *graph;
    griddep_explanation *explanation;
    griddep_chain *made_chain;
    void *made_stream, *made_event;
    uint64_t made_memory;
    void *pinned;
    griddep_completion *completion;
} world;

static griddep_error error;
static bool faulted; /* an end may then tell the fault, or that the driver has ended it before */
static char room[BYTES], path[64];
static uint64_t packed[2], address, bytes;
static uint32_t node, count;
static double nanoseconds;
static void *place;
static griddep_kernel *kernel;
static griddep_tensor_map map;
static const griddep_launch_config one_block = {.size = sizeof one_block,
                                                .grid = {1},
                                                .block = {32}};

#define ck_good(call) ck_assert_msg((call) == GRIDDEP_OK, "%s: %s", #call, error.text)

static void open_world(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;

    fake_driver_reset();
    griddep_error_init(&error);
    memset(&world, 0, sizeof world);
    faulted = false;
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &world.runtime, &error));
    ck_good(griddep_module_load(world.runtime, ptx, strlen(ptx), NULL, &world.module, &error));
    const griddep_module_options every = {.size = sizeof every, .flags = GRIDDEP_MODULE_LIBRARY};
    ck_good(griddep_module_load(world.runtime, ptx, strlen(ptx), &every, &world.library, &error));
    ck_good(griddep_module_find_kernel(world.module, "step", &world.step, &error));
    ck_good(griddep_ptx_parse(ptx, strlen(ptx), "text", &world.text, &error));
    ck_good(griddep_memory_allocate(world.runtime, 2 * BYTES, &world.memory, &error));
    ck_good(griddep_stream_create(world.runtime, NULL, &world.stream, &error));
    ck_good(griddep_stream_create(world.runtime, NULL, &world.capturing, &error));
    ck_good(griddep_event_create(world.runtime, GRIDDEP_EVENT_ORDER, &world.event, &error));
    for (int i = 0; i < 2; i++) {
        ck_good(
            griddep_event_create(world.runtime, GRIDDEP_EVENT_TIMING, &world.events[i], &error));
        ck_good(griddep_event_record(world.runtime, world.events[i], NULL, &error));
        world.arguments[i] = (griddep_argument){.bytes = 8, .value = world.memory};
    }
    ck_good(griddep_chain_create(world.runtime, &world.chain, &error));
    for (int i = 0; i < 2; i++)
        ck_good(griddep_chain_add(world.chain, world.step, &one_block, world.arguments, 2, &error));
    griddep_graph **const graphs[] = {&world.built, &world.same, &world.ready};
    for (int i = 0; i < 3; i++) {
        ck_good(griddep_graph_create(world.runtime, graphs[i], &error));
        for (int k = 0; k < 2; k++)
            ck_good(griddep_graph_add_kernel(*graphs[i], world.step, &one_block, world.arguments, 2,
                                             &node, &error));
        if (i)
            ck_good(griddep_graph_add_edge(*graphs[i], 0, 1, 0, GRIDDEP_EDGE_DEFAULT, &error));
    }
    ck_good(griddep_graph_instantiate(world.ready, &error));
    griddep_launch_config config = one_block;
    config.stream = world.stream;
    ck_good(griddep_graph_capture_begin(world.runtime, world.stream, &error));
    ck_good(griddep_launch(world.step, &config, world.arguments, 2, NULL, &error));
    ck_good(griddep_graph_capture_end(world.runtime, world.stream, &world.captured, &error));
    for (int k = 0; k < 2; k++)
        ck_good(griddep_graph_add_kernel(world.captured, world.step, &one_block, world.arguments, 2,
                                         &node, &error));
    ck_good(griddep_graph_add_edge(world.captured, 0, node, 0, GRIDDEP_EDGE_DEFAULT, &error));
    ck_good(griddep_graph_capture_begin(world.runtime, world.capturing,
                                        &error)); /* ends with the stream */
}

#define ck_ended(call)                                                                             \
    do {                                                                                           \
        int32_t ended = (call);                                                                    \
        ck_assert_msg(faulted || ended == GRIDDEP_OK, "%s: %s", #call, error.text);                \
    } while (0)

/* What ends them must do so without the context too, as far as the driver lets it. */
static void close_world(void)
{
    char left[256] = "";
    griddep_graph *const graphs[] = {world.built, world.same, world.ready, world.captured,
                                     world.graph};

    griddep_explanation_destroy(world.explanation);
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        griddep_graph_destroy(graphs[i]);
    griddep_chain_destroy(world.chain);
    griddep_chain_destroy(world.made_chain);
    griddep_ptx_destroy(world.text);
    void *const events[] = {world.event, world.events[0], world.events[1], world.made_event};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i])
            ck_ended(griddep_event_destroy(world.runtime, events[i], &error));
    }
    void *const streams[] = {world.stream, world.capturing, world.made_stream};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (streams[i])
            ck_ended(griddep_stream_destroy(world.runtime, streams[i], &error));
    }
    if (world.memory)
        ck_ended(griddep_memory_free(world.runtime, world.memory, &error));
    if (world.made_memory)
        ck_ended(griddep_memory_free(world.runtime, world.made_memory, &error));
    ck_ended(griddep_host_free(world.runtime, world.pinned, &error));
    griddep_completion_destroy(world.completion);
    griddep_module_unload(world.module);
    griddep_module_unload(world.library);
    griddep_module_unload(world.loaded);
    griddep_runtime_close(world.runtime);
    /* What an end that told the fault had ended is ended once more here. */
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0 || (faulted && strchr(left, '-')),
                  "left: %s", left);
}

/* ---- one call of each function ---- */

static const griddep_tensor_options tiles = {.size = sizeof tiles,
                                             .type = GRIDDEP_TENSOR_F32,
                                             .address = 0x10000,
                                             .rank = 2,
                                             .dimensions = {64, 64},
                                             .strides = {256},
                                             .box = {8, 8}};

/* What ends an object takes it out of the world; what makes one that the world has no place for
 * ends it again. */
static int32_t call_memory_free(void)
{
    int32_t status = griddep_memory_free(world.runtime, world.memory, &error);

    world.memory = status ? world.memory : 0;
    return status;
}

static int32_t call_stream_destroy(void)
{
    int32_t status = griddep_stream_destroy(world.runtime, world.stream, &error);

    world.stream = status ? world.stream : NULL;
    return status;
}

static int32_t call_event_destroy(void)
{
    int32_t status = griddep_event_destroy(world.runtime, world.event, &error);

    world.event = status ? world.event : NULL;
    return status;
}

static int32_t call_host_free(void)
{
    int32_t status = griddep_host_allocate(world.runtime, BYTES, 0, &world.pinned, &error);

    if (!status)
        status = griddep_host_free(world.runtime, world.pinned, &error);
    world.pinned = status ? world.pinned : NULL;
    return status;
}

/* An open capture forbids it. */
static int32_t call_runtime_synchronize(void)
{
    int32_t status =
        griddep_graph_capture_end(world.runtime, world.capturing, &world.graph, &error);

    if (status)
        return status;
    griddep_graph_destroy(world.graph);
    world.graph = NULL;
    return griddep_runtime_synchronize(world.runtime, &error);
}

static int32_t call_graph_capture_begin(void)
{
    return griddep_graph_capture_begin(world.runtime, world.stream,
                                       &error); /* ends with the stream */
}

static int32_t call_graph_capture_end(void)
{
    return griddep_graph_capture_end(world.runtime, world.capturing, &world.graph, &error);
}

static int32_t call_graph_adopt(void)
{
    gd_CUgraph foreign = NULL;

    gd_CUresult made = world.runtime->driver->cuGraphCreate(&foreign, 0);
    ck_assert(faulted || made == GD_CUDA_SUCCESS);
    if (made != GD_CUDA_SUCCESS)
        return GRIDDEP_OK; /* it was this test's own call that failed */
    int32_t status =
        griddep_graph_adopt(world.runtime, foreign, GRIDDEP_GRAPH_OWN, &world.graph, &error);
    if (status)
        world.runtime->driver->cuGraphDestroy(foreign); /* it is still the caller's */
    return status;
}

static void do_nothing(void *user)
{
    (void)user;
}

static void hear_nothing(void *user, const griddep_error *failure)
{
    (void)user;
    (void)failure;
}

/* What is called, and why it enters the context, each time: `a` for what it was asked to do, `e` to
 * end what is not needed any more, of which nobody hears. */
#define CALLS(CALL)                                                                                \
    CALL(runtime_get_info, "", world.runtime, SIZED(griddep_runtime_info), &error)                 \
    CALL(memory_allocate, "a", world.runtime, BYTES, &world.made_memory, &error)                   \
    CALL(memory_write, "a", world.runtime, world.memory, room, BYTES, NULL, &error)                \
    CALL(memory_read, "a", world.runtime, room, world.memory, BYTES, NULL, &error)                 \
    CALL(memory_fill, "a", world.runtime, world.memory, 1, BYTES, NULL, &error)                    \
    CALL(memory_write_async, "a", world.runtime, world.memory, room, BYTES, NULL, &error)          \
    CALL(memory_read_async, "a", world.runtime, room, world.memory, BYTES, NULL, &error)           \
    CALL(memory_copy_async, "a", world.runtime, world.memory, world.memory + BYTES, 4, NULL,       \
         &error)                                                                                   \
    CALL(memory_fill_async, "a", world.runtime, world.memory, 1, 4, 4, NULL, &error)               \
    CALL(host_allocate, "a", world.runtime, BYTES, 0, &world.pinned, &error)                       \
    CALL(stream_query, "a", world.runtime, world.stream, &count, &error)                           \
    CALL(stream_get_info, "a", world.runtime, world.stream, SIZED(griddep_stream_info), &error)    \
    CALL(stream_add_host, "a", world.runtime, world.stream, do_nothing, NULL, &error)              \
    CALL(stream_notify, "a", world.runtime, world.stream, hear_nothing, NULL, &error)              \
    CALL(event_synchronize, "a", world.runtime, world.event, &error)                               \
    CALL(completion_create, "a", world.runtime, &world.completion, &error)                         \
    CALL(stream_create, "a", world.runtime, NULL, &world.made_stream, &error)                      \
    CALL(stream_synchronize, "a", world.runtime, world.stream, &error)                             \
    CALL(stream_wait_event, "a", world.runtime, world.stream, world.event, &error)                 \
    CALL(event_create, "a", world.runtime, GRIDDEP_EVENT_ORDER, &world.made_event, &error)         \
    CALL(event_record, "a", world.runtime, world.event, world.stream, &error)                      \
    CALL(event_elapsed, "a", world.runtime, world.events[0], world.events[1], &nanoseconds,        \
         &error)                                                                                   \
    CALL(module_load, "aa", world.runtime, ptx, strlen(ptx), NULL, &world.loaded, &error)          \
    CALL(module_load_file, "aa", world.runtime, path, NULL, &world.loaded, &error)                 \
    CALL(module_load_shelf, "aa", world.runtime, "vector_add", NULL, &world.loaded, &error)        \
    CALL(module_get_info, "", world.module, SIZED(griddep_module_info), &error)                    \
    CALL(module_get_global, "a", world.module, "variable", &address, &bytes, &error)               \
    CALL(module_get_managed, "aa", world.module, "managed", &place, &bytes, &error)                \
    CALL(module_share, "a", world.library, world.runtime, &world.loaded, &error)                   \
    CALL(module_find_kernel, "", world.module, "step", &kernel, &error)                            \
    CALL(module_get_kernel, "", world.module, 0, &kernel, &error)                                  \
    CALL(kernel_get_info, "", world.step, SIZED(griddep_kernel_info), &error)                      \
    CALL(kernel_get_parameter, "", world.step, 0, SIZED(griddep_parameter_info), &error)           \
    CALL(launch, "a", world.step, &one_block, world.arguments, 2, NULL, &error)                    \
    CALL(launch_packed, "a", world.step, &one_block, packed, sizeof packed, NULL, &error)          \
    CALL(tensor_map_encode, "a", world.runtime, &tiles, &map, &error)                              \
    CALL(chain_create, "", world.runtime, &world.made_chain, &error)                               \
    CALL(chain_add, "a", world.chain, world.step, &one_block, world.arguments, 2, &error)          \
    CALL(chain_add_copy, "", world.chain, NULL, world.memory, world.memory + 4, 4, &error)         \
    CALL(chain_add_fill, "", world.chain, NULL, world.memory, 0, 4, &error)                        \
    CALL(chain_add_host, "", world.chain, NULL, do_nothing, NULL, &error)                          \
    CALL(chain_set_arguments, "", world.chain, 0, world.arguments, 2, &error)                      \
    CALL(chain_set_argument, "", world.chain, 0, 0, world.arguments, &error)                       \
    CALL(chain_set_config, "a", world.chain, 0, &one_block, &error)                                \
    CALL(chain_set_copy, "", world.chain, 9, world.memory, world.memory + 4, 4, &error)            \
    CALL(chain_set_fill, "", world.chain, 9, world.memory, 0, 4, &error)                           \
    CALL(chain_add_argument_set, "", world.chain, &node, &error)                                   \
    CALL(chain_select_argument_set, "", world.chain, 0, &error)                                    \
    CALL(chain_run_many, "a", world.chain, GRIDDEP_MODE_PDL, 2, NULL, &error)                      \
    CALL(chain_depend, "", world.chain, 1, 0, &error)                                              \
    CALL(chain_prepare, "a", world.chain, GRIDDEP_MODE_GRAPH, &error)                              \
    CALL(chain_run, "a", world.chain, GRIDDEP_MODE_PDL, NULL, &error)                              \
    CALL(chain_get_hop, "a", world.chain, GRIDDEP_MODE_PDL, 0, SIZED(griddep_hop_info), &error)    \
    CALL(chain_explain, "aa", world.chain, GRIDDEP_MODE_PDL, 1, &world.explanation, &error)        \
    CALL(graph_create, "", world.runtime, &world.graph, &error)                                    \
    CALL(graph_add_kernel, "aa", world.captured, world.step, &one_block, world.arguments, 2,       \
         &node, &error)                                                                            \
    CALL(graph_add_fill, "a", world.captured, world.memory, 1, 4, &node, &error)                   \
    CALL(graph_add_copy, "a", world.captured, world.memory, world.memory + BYTES, 4, &node,        \
         &error)                                                                                   \
    CALL(graph_add_host, "a", world.captured, do_nothing, NULL, &node, &error)                     \
    CALL(graph_add_edge, "a", world.captured, 0, 1, 0, GRIDDEP_EDGE_DEFAULT, &error)               \
    CALL(graph_remove_edge, "a", world.captured, 0, &error)                                        \
    CALL(graph_from_chain, "", world.chain, GRIDDEP_MODE_GRAPH, &world.graph, &error)              \
    CALL(graph_describe, "", world.captured, 0, world.text, "step", &error)                        \
    CALL(graph_instantiate, "a", world.built, &error)                                              \
    CALL(graph_launch, "a", world.ready, NULL, &error)                                             \
    CALL(graph_set_arguments, "a", world.ready, 0, world.arguments, 2, &error)                     \
    CALL(graph_set_config, "aa", world.ready, 0, &one_block, &error)                               \
    CALL(graph_upgrade, "aa", world.ready, &count, &error)

#define SIZED(type)                                                                                \
    &(type)                                                                                        \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }

#define CALL(name, entries, ...)                                                                   \
    static int32_t call_##name(void)                                                               \
    {                                                                                              \
        return griddep_##name(__VA_ARGS__);                                                        \
    }
CALLS(CALL)
#undef CALL

static const struct {
    const char *name;
    int32_t (*call)(void);
    const char *entries;
} calls[] = {
#define CALL(name, entries, ...) {"griddep_" #name, call_##name, entries},
    CALLS(CALL)
#undef CALL
#define OWN(name, entries)                                                                         \
    {                                                                                              \
        "griddep_" #name, call_##name, entries                                                     \
    }
        OWN(memory_free, "a"),
    OWN(host_free, "aa"),
    OWN(runtime_synchronize, "aa"),
    OWN(stream_destroy, "a"),
    OWN(event_destroy, "a"),
    OWN(graph_capture_begin, "a"),
    OWN(graph_capture_end, "a"),
    OWN(graph_adopt, "a"),
#undef OWN
};

/* Whole programs of the calls above, and what needs a second device; compile needs NVRTC, and like
 * link ends as module_load does; what a caller states needs no context. */
static const char *const composed[] = {"griddep_module_link",      "griddep_kernel_state_traits",
                                       "griddep_module_compile",   "griddep_timeline_create",
                                       "griddep_tune_run",         "griddep_tune_load",
                                       "griddep_chain_add_ptx",    "griddep_chain_set_name",
                                       "griddep_chain_set_use",    "griddep_chain_set_reach",
                                       "griddep_chain_set_traits", "griddep_chain_add_buffer",
                                       "griddep_group_open",       "griddep_group_join",
                                       "griddep_chain_add_hop"};

enum { CALLS_COUNT = sizeof calls / sizeof *calls };

/* ---- tests ---- */

static void count_graph(const griddep_graph *graph, uint32_t counts[2])
{
    counts[0] = griddep_graph_node_count(graph);
    counts[1] = griddep_graph_edge_count(graph);
}

static uint64_t count_entries(int index)
{
    open_world();
    uint64_t before = fake_driver_calls("cuCtxPushCurrent");
    int32_t status = calls[index].call();
    uint64_t entries = fake_driver_calls("cuCtxPushCurrent") - before;

    ck_assert_msg(!status || status == GRIDDEP_ERROR_NOT_FOUND, "%s: %s", calls[index].name,
                  error.text);
    close_world();
    return entries;
}

TEST_GROUP(context, NULL, NULL);

LOOP_TEST(context, a_context_that_cannot_be_entered_is_told, CALLS_COUNT)
{
    const char *entries = calls[_i].entries;

    ck_assert_msg(count_entries(_i) == strlen(entries), "%s enters the context %d times",
                  calls[_i].name, (int)count_entries(_i));
    for (uint64_t nth = 1; nth <= strlen(entries); nth++) {
        uint32_t before[2], after[2];
        open_world();
        count_graph(world.captured, before);
        fake_driver_fail("cuCtxPushCurrent", nth, GD_CUDA_ERROR_UNKNOWN);
        int32_t status = calls[_i].call();
        ck_assert_msg(status == (entries[nth - 1] == 'e' ? GRIDDEP_OK : GRIDDEP_ERROR_DRIVER),
                      "%s, entry %d: %s", calls[_i].name, (int)nth, griddep_status_name(status));
        if (status) {
            ck_assert_int_eq(error.status, status);
            ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_UNKNOWN);
            ck_assert_msg(strstr(error.text, "the runtime's context cannot be made current"), "%s",
                          error.text);
            count_graph(world.captured, after);
            ck_assert_mem_eq(before, after, sizeof before);
            ck_assert(!world.loaded && !world.graph && !world.explanation && !world.made_stream &&
                      !world.made_event && (!world.made_memory || nth > 1));
        }
        close_world();
    }
}

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < CALLS_COUNT; i++) {
        if (!strcmp(name, calls[i].name))
            return true;
    }
    for (size_t i = 0; i < sizeof composed / sizeof *composed; i++) {
        if (!strcmp(name, composed[i]))
            return true;
    }
    return false;
}

/* Each function of the header that may fail and is given an object of a context to change or to
 * ask. */
TEST(context, no_function_is_forgotten)
{
    static const char *const firsts[] = {"(griddep_runtime *", "(griddep_module *",
                                         "(griddep_kernel *", "(griddep_chain *",
                                         "(griddep_graph *"};
    FILE *file = fopen(SOURCE_DIRECTORY "/include/griddep.h", "r");
    char line[512], name[64];
    size_t found = 0;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        int end = 0;
        if (sscanf(line, "int32_t %63[a-z_0-9]%n", name, &end) != 1)
            continue;
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            if (strncmp(line + end, firsts[i], strlen(firsts[i])) != 0)
                continue;
            ck_assert_msg(is_listed(name), "%s is not in this test's list of calls", name);
            found++;
        }
    }
    fclose(file);
    ck_assert_uint_eq(found, CALLS_COUNT + sizeof composed / sizeof *composed);
}

/* ---- after a fault ---- */

/* A kernel that faults, in a stream of its own; nobody has noticed yet. */
static void crash(void)
{
    griddep_launch_config config = one_block;
    griddep_kernel *crashing = NULL;

    ck_good(griddep_module_find_kernel(world.module, "crash", &crashing, &error));
    config.stream = world.stream;
    ck_good(griddep_launch(crashing, &config, NULL, 0, NULL, &error));
}

static void ck_lost(int32_t status, const char *what)
{
    ck_assert_msg(status == GRIDDEP_ERROR_FAULT, "%s: %s: %s", what, griddep_status_name(status),
                  error.text);
    ck_assert_msg(error.driver_code == GD_CUDA_ERROR_ILLEGAL_ADDRESS, "%s: %s", what, error.text);
}

/* What hands work in, or waits for it, must tell of it. */
static const char *const telling[] = {"griddep_launch",
                                      "griddep_launch_packed",
                                      "griddep_chain_run",
                                      "griddep_chain_run_many",
                                      "griddep_chain_prepare",
                                      "griddep_graph_launch",
                                      "griddep_graph_instantiate",
                                      "griddep_stream_synchronize",
                                      "griddep_stream_query",
                                      "griddep_event_synchronize",
                                      "griddep_event_record",
                                      "griddep_memory_read",
                                      "griddep_memory_write",
                                      "griddep_memory_read_async",
                                      "griddep_memory_fill",
                                      "griddep_memory_allocate",
                                      "griddep_module_load",
                                      "griddep_stream_create",
                                      "griddep_stream_add_host",
                                      "griddep_stream_notify",
                                      "griddep_runtime_synchronize"};

/* What needs no context goes on; all else tells the same fault, and nothing waits for ever. */
LOOP_TEST(context, every_call_tells_the_fault, CALLS_COUNT)
{
    open_world();
    crash();
    faulted = true;
    ck_lost(griddep_stream_synchronize(world.runtime, world.stream, &error), "synchronize");
    griddep_error_init(&error);
    int32_t status = calls[_i].call();
    if (status && status != GRIDDEP_ERROR_NOT_FOUND)
        ck_lost(status, calls[_i].name);
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        ck_assert_msg(status || strcmp(calls[_i].name, telling[i]) != 0, "%s succeeds", telling[i]);
    close_world();
}

/* Whichever call of the driver tells of the fault first. */
LOOP_TEST(context, every_call_passes_a_fault_on, CALLS_COUNT)
{
    for (uint64_t nth = 1;; nth++) {
        open_world();
        const uint64_t before = fake_driver_calls(NULL);
        fake_driver_fail(NULL, nth, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
        faulted = true;
        griddep_error_init(&error);
        int32_t status = calls[_i].call();
        const bool reached = fake_driver_calls(NULL) - before >= nth;
        if (status && status != GRIDDEP_ERROR_NOT_FOUND && reached)
            ck_lost(status, calls[_i].name);
        close_world();
        if (!reached)
            break;
    }
}

/* ---- what a call may cost ---- */

enum { ROW_WORDS = 96 };

static struct {
    char letters[4], words[ROW_WORDS][40];
    int count;
} rows[8];
static int row_count;

/* The rows of "Cost" in the header: letters in one column, names behind them. */
static void read_rows(void)
{
    FILE *file = fopen(SOURCE_DIRECTORY "/include/griddep.h", "r");
    char line[512];
    bool inside = false;

    row_count = 0;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        char *at = line + strlen(" *             ");
        inside = (inside || strstr(line, " * Cost  ")) && !strstr(line, " * Process");
        if (!inside || strlen(line) < 20 || strncmp(line, " *             ", 15) != 0 ||
            strspn(at, "WAL- ") < 5)
            continue;
        if (*at != ' ') {
            ck_assert_int_lt(row_count, (int)(sizeof rows / sizeof *rows));
            sscanf(at, "%3s", rows[row_count].letters);
            rows[row_count++].count = 0;
        }
        for (char *word = strtok(at + 5, " \n"); word; word = strtok(NULL, " \n")) {
            ck_assert_int_lt(rows[row_count - 1].count, ROW_WORDS);
            strcpy(rows[row_count - 1].words[rows[row_count - 1].count++], word);
        }
    }
    fclose(file);
    ck_assert_int_ge(row_count, 4);
}

/* The first word that fits, among all: its row and its number. */
static void find_row(const char *name, int *row, int *word)
{
    for (*row = 0; *row < row_count; ++*row)
        for (*word = 0; *word < rows[*row].count; ++*word)
            if (fnmatch(rows[*row].words[*word], name, 0) == 0)
                return;
}

static const char *cost_of(const char *function)
{
    int row, word;

    find_row(function + strlen("griddep_"), &row, &word);
    ck_assert_msg(row < row_count, "%s has no row", function);
    return rows[row].letters;
}

/* Every exported function has a row, and every word of a row a function. */
TEST(context, each_cost_is_stated)
{
    static bool used[8][ROW_WORDS];
    FILE *exported = fopen(SOURCE_DIRECTORY "/libgriddep.map", "r");
    char line[256], name[128];
    int row, word, functions = 0;

    read_rows();
    ck_assert_ptr_nonnull(exported);
    while (fgets(line, sizeof line, exported)) {
        if (sscanf(line, " griddep_%127[a-z_0-9];", name) != 1)
            continue;
        find_row(name, &row, &word);
        ck_assert_msg(row < row_count, "griddep_%s has no row", name);
        used[row][word] = true;
        functions++;
    }
    fclose(exported);
    ck_assert_int_gt(functions, 100);
    for (row = 0; row < row_count; row++)
        for (word = 0; word < rows[row].count; word++)
            ck_assert_msg(used[row][word], "%s stands for no function", rows[row].words[word]);
}

/* Calls of the driver that wait for the device, or that it may wait in. */
static const char *const waits[] = {"cuCtxSynchronize",
                                    "cuStreamSynchronize",
                                    "cuEventSynchronize",
                                    "cuMemAlloc",
                                    "cuMemFree",
                                    "cuMemHostAlloc",
                                    "cuMemFreeHost",
                                    "cuModuleLoadDataEx",
                                    "cuModuleUnload",
                                    "cuStreamDestroy",
                                    "cuGraphInstantiateWithFlags"};

static uint64_t count_waits(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        sum += fake_driver_calls(waits[i]);
    return sum;
}

static atomic_ulong locks;
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    atomic_fetch_add(&locks, 1);
    return __real_pthread_mutex_lock(mutex);
}

/* A call whose row has no W makes no call of the driver that waits, one without L takes no lock,
 * and one without A never lacks memory, whichever allocation fails. */
LOOP_TEST(context, no_call_costs_more_than_is_stated, CALLS_COUNT)
{
    const char *letters;

    read_rows();
    letters = cost_of(calls[_i].name);
    open_world();
    const uint64_t waited = count_waits(), before = atomic_load(&locks);
    calls[_i].call();
    const uint64_t after = atomic_load(&locks);
    if (!strchr(letters, 'L')) /* nor does it call the driver, which has locks of its own here */
        ck_assert_msg(after == before, "%s takes a lock", calls[_i].name);
    if (!strchr(letters, 'W'))
        ck_assert_msg(count_waits() == waited, "%s may wait", calls[_i].name);
    close_world();
    for (long n = 0; n < 4 && !strchr(letters, 'A'); n++) {
        open_world();
        fail_alloc_after(n);
        int32_t status = calls[_i].call();
        fail_alloc_after(-1);
        ck_assert_msg(status != GRIDDEP_ERROR_MEMORY, "%s allocates", calls[_i].name);
        close_world();
    }
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/griddep-context-XXXXXX");
    int made = mkstemp(path);
    if (made < 0 || write(made, ptx, strlen(ptx)) != (ssize_t)strlen(ptx))
        return EXIT_FAILURE;
    close(made);
    int status = run_suite(make_suite("context"));
    unlink(path);
    return status;
}
