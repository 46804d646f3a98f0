/* After a fault: all that is in flight ends and tells it, and the device can be opened anew. */
#include <check.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "suite.h"
#include "unit/status.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry one(.param .u64 out)\n{\n    .reg .b64 %o;\n    ld.param.u64 %o, [out];\n"
    "    st.global.u32 [%o], 1;\n    ret;\n}\n"
    ".visible .entry crash(.param .u64 out)\n{\n    .reg .b64 %o;\n    mov.u64 %o, 64;\n"
    "    st.global.u32 [%o], 1;\n    ret;\n}\n";

/* A runtime with one of each. */
typedef struct world {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_chain *chain;
    griddep_graph *graph;
    griddep_completion *completion;
    void *stream;
    uint64_t memory;
} world;

static griddep_error error;
static const griddep_launch_config one_block = {.size = sizeof one_block,
                                                .grid = {1},
                                                .block = {1}};

static void begin(void)
{
    fake_driver_reset();
    griddep_error_init(&error);
}

static int32_t open_runtime(griddep_runtime **runtime, uint32_t flags, void *context)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .flags = flags, .context = context, .store_directory = ""};
    gd_driver *driver = NULL;

    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    griddep_error_init(&error);
    return gd_runtime_open_on(driver, &options, runtime, &error);
}

static int32_t launch(const world *of, const char *name)
{
    const griddep_argument argument = {.bytes = 8, .value = of->memory};
    griddep_launch_config config = one_block;
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(of->module, name, &kernel, &error));
    config.stream = of->stream;
    return griddep_launch(kernel, &config, &argument, 1, NULL, &error);
}

static void make_world(world *made, uint32_t flags)
{
    griddep_kernel *kernel = NULL;
    uint32_t node;

    memset(made, 0, sizeof *made);
    ck_good(open_runtime(&made->runtime, flags, NULL));
    ck_good(griddep_module_load(made->runtime, ptx, strlen(ptx), NULL, &made->module, &error));
    ck_good(griddep_module_find_kernel(made->module, "one", &kernel, &error));
    ck_good(griddep_stream_create(made->runtime, NULL, &made->stream, &error));
    ck_good(griddep_memory_allocate(made->runtime, 4, &made->memory, &error));
    ck_good(griddep_completion_create(made->runtime, &made->completion, &error));
    ck_good(griddep_chain_create(made->runtime, &made->chain, &error));
    ck_good(griddep_graph_create(made->runtime, &made->graph, &error));
    const griddep_argument argument = {.bytes = 8, .value = made->memory};
    ck_good(griddep_chain_add(made->chain, kernel, &one_block, &argument, 1, &error));
    ck_good(griddep_graph_add_kernel(made->graph, kernel, &one_block, &argument, 1, &node, &error));
}

static void end_world(world *made)
{
    griddep_chain_destroy(made->chain);
    griddep_graph_destroy(made->graph);
    griddep_completion_destroy(made->completion);
    griddep_memory_free(made->runtime, made->memory, NULL);
    griddep_stream_destroy(made->runtime, made->stream, NULL);
    griddep_module_unload(made->module);
    griddep_runtime_close(made->runtime);
}

/* Everything works in it. */
static void ck_alive(world *alive)
{
    uint32_t word = 0;

    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        ck_good(griddep_chain_run(alive->chain, mode, alive->stream, &error));
    ck_good(griddep_graph_launch(alive->graph, alive->stream, &error));
    ck_good(griddep_memory_read(alive->runtime, &word, alive->memory, 4, alive->stream, &error));
    ck_assert_uint_eq(word, 1);
}

static void ck_told(int32_t status, int32_t code)
{
    ck_status(status, GRIDDEP_ERROR_FAULT);
    ck_assert_int_eq(error.driver_code, code);
}

static void crash(const world *of)
{
    ck_good(launch(of, "crash"));
    ck_told(griddep_stream_synchronize(of->runtime, of->stream, &error),
            GD_CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- what is in flight ---- */

typedef struct note {
    sem_t told;
    atomic_int times, code;
} note;

static void hear(void *user, const griddep_error *failure)
{
    note *heard = user;

    atomic_store(&heard->code, failure ? failure->driver_code : 0);
    atomic_fetch_add(&heard->times, 1);
    sem_post(&heard->told);
}

static void count(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

TEST_GROUP(fault, NULL, NULL);

/* Notifications, a descriptor, a host function, chains in all modes and a graph, before and behind
 * the fault and in another stream. */
TEST(fault, all_that_is_in_flight_ends)
{
    world of;
    note before = {0}, behind = {0}, beside = {0};
    atomic_int called = 0;
    uint64_t reached = 0;
    int32_t descriptor = -1;
    uint32_t node;
    void *other = NULL;

    begin();
    make_world(&of, 0);
    note *const notes[] = {&before, &behind, &beside};
    for (int i = 0; i < 3; i++)
        sem_init(&notes[i]->told, 0, 0);
    ck_good(griddep_stream_create(of.runtime, NULL, &other, &error));
    ck_good(griddep_graph_add_host(of.graph, count, &called, &node, &error));
    ck_good(griddep_graph_add_edge(of.graph, 0, node, 0, GRIDDEP_EDGE_DEFAULT, &error));
    ck_good(griddep_graph_instantiate(of.graph, &error));
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        ck_good(griddep_chain_prepare(of.chain, mode, &error));
    ck_good(griddep_stream_notify(of.runtime, of.stream, hear, &before, &error));
    sem_wait(&before.told);
    /* Nothing is waited for between these, so all of them are in flight, or refused. */
    ck_good(launch(&of, "crash"));
    const int32_t given[] = {griddep_stream_notify(of.runtime, of.stream, hear, &behind, &error),
                             griddep_completion_arm(of.completion, of.stream, &error),
                             griddep_stream_add_host(of.runtime, of.stream, count, &called, &error),
                             griddep_chain_run(of.chain, GRIDDEP_MODE_GRAPH_PDL, of.stream, &error),
                             griddep_graph_launch(of.graph, of.stream, &error),
                             griddep_stream_notify(of.runtime, other, hear, &beside, &error)};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        ck_assert_msg(!given[i] || given[i] == GRIDDEP_ERROR_FAULT, "%d: %d", (int)i, given[i]);
    ck_told(griddep_stream_synchronize(of.runtime, of.stream, &error),
            GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    if (!given[0]) {
        sem_wait(&behind.told);
        ck_assert_int_eq(atomic_load(&behind.code), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    if (!given[1]) {
        ck_good(griddep_completion_get_descriptor(of.completion, &descriptor, &error));
        struct pollfd wait = {.fd = descriptor, .events = POLLIN};
        ck_assert_int_eq(poll(&wait, 1, -1), 1);
        ck_told(griddep_completion_take(of.completion, &reached, &error),
                GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    if (!given[5])
        sem_wait(&beside.told); /* it may have been reached before the fault */
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        ck_told(griddep_chain_run(of.chain, mode, of.stream, &error),
                GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_told(griddep_graph_launch(of.graph, of.stream, &error), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    griddep_stream_destroy(of.runtime, other, NULL);
    end_world(&of);
    ck_assert_int_eq(atomic_load(&before.times), 1);
    ck_assert_int_eq(atomic_load(&behind.times), !given[0]);
    ck_assert_int_eq(atomic_load(&beside.times), !given[5]);
    ck_assert_int_eq(atomic_load(&called), 0);
}

/* ---- opening anew ---- */

TEST(fault, a_device_that_nobody_holds_is_opened_anew)
{
    world first, second;

    begin();
    make_world(&first, 0);
    crash(&first);
    end_world(&first);
    make_world(&second, 0);
    ck_alive(&second);
    end_world(&second);
    ck_assert_uint_eq(fake_driver_calls("cuDevicePrimaryCtxReset"), 0);
}

TEST(fault, a_context_that_others_hold_is_taken_if_asked)
{
    world lost, fresh;
    griddep_runtime *runtime = NULL;
    uint32_t done;

    begin();
    make_world(&lost, 0);
    crash(&lost);
    ck_told(open_runtime(&runtime, 0, NULL), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_ptr_nonnull(strstr(error.text, "GRIDDEP_RUNTIME_RESET"));
    ck_assert_ptr_null(runtime);
    make_world(&fresh, GRIDDEP_RUNTIME_RESET);
    ck_alive(&fresh);
    /* Those who had it are told, and cannot disturb the new one. */
    ck_told(griddep_stream_query(lost.runtime, lost.stream, &done, &error),
            GD_CUDA_ERROR_CONTEXT_IS_DESTROYED);
    ck_told(launch(&lost, "one"), GD_CUDA_ERROR_CONTEXT_IS_DESTROYED);
    ck_told(griddep_chain_run(lost.chain, GRIDDEP_MODE_PDL, NULL, &error),
            GD_CUDA_ERROR_CONTEXT_IS_DESTROYED);
    end_world(&lost);
    ck_alive(&fresh);
    end_world(&fresh);
    make_world(&fresh, 0);
    ck_alive(&fresh);
    end_world(&fresh);
}

/* A reset that is not needed is not made: others keep what they have. */
TEST(fault, a_sound_context_is_not_reset)
{
    world one, other;

    begin();
    make_world(&one, 0);
    make_world(&other, GRIDDEP_RUNTIME_RESET);
    ck_assert_uint_eq(fake_driver_calls("cuDevicePrimaryCtxReset"), 0);
    ck_alive(&one);
    ck_alive(&other);
    end_world(&one);
    end_world(&other);
}

TEST(fault, a_fault_that_stays_is_told)
{
    griddep_runtime *runtime = NULL;

    begin();
    for (int i = 0; i < 2; i++)
        fake_driver_fail("cuEventCreate", 1u + (unsigned)i, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_told(open_runtime(&runtime, GRIDDEP_RUNTIME_RESET, NULL), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_ptr_null(runtime);
    ck_assert_uint_eq(fake_driver_calls("cuDevicePrimaryCtxReset"), 1);
    fake_driver_fail("cuEventCreate", 1, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    fake_driver_fail("cuDevicePrimaryCtxReset", 1, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_told(open_runtime(&runtime, GRIDDEP_RUNTIME_RESET, NULL), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_ptr_null(runtime);
}

/* Whose context it is ends it; a reset is about primary ones alone. */
TEST(fault, a_given_context_that_is_lost_is_refused)
{
    griddep_runtime *runtime = NULL;
    world of = {0};

    begin();
    void *context = fake_driver_create_context(0);
    ck_good(open_runtime(&of.runtime, 0, context));
    ck_good(griddep_module_load(of.runtime, ptx, strlen(ptx), NULL, &of.module, &error));
    ck_good(griddep_stream_create(of.runtime, NULL, &of.stream, &error));
    crash(&of);
    ck_told(open_runtime(&runtime, 0, context), GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_ptr_nonnull(strstr(error.text, "give another one"));
    ck_status(open_runtime(&runtime, GRIDDEP_RUNTIME_RESET, context), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_null(runtime);
    griddep_stream_destroy(of.runtime, of.stream, NULL);
    griddep_module_unload(of.module);
    griddep_runtime_close(of.runtime);
    fake_driver_destroy_context(context);
    make_world(&of, 0); /* the device itself is sound */
    ck_alive(&of);
    end_world(&of);
}

MAIN_OF_SUITE("fault")
