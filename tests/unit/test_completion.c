/* Completion without waiting: queries, host functions, notifications, file descriptors, what may be
 * called from them, faults, and the end of a runtime with all that in flight. */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

enum { BYTES = 256, THREADS = 8, ROUNDS = SANITIZED ? 40 : 200 };

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry one(.param .u64 out)\n{\n    .reg .b64 %o;\n    ld.param.u64 %o, [out];\n"
    "    st.global.u32 [%o], 1;\n    ret;\n}\n"
    ".visible .entry crash(.param .u64 out)\n{\n    .reg .b64 %o;\n    mov.u64 %o, 64;\n"
    "    st.global.u32 [%o], 1;\n    ret;\n}\n";

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static void *stream;
static uint64_t memory;

static void setup(void)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;

    fake_driver_reset();
    griddep_error_init(&error);
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_good(griddep_module_load(runtime, ptx, strlen(ptx), NULL, &module, &error));
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_memory_allocate(runtime, BYTES, &memory, &error));
}

static void end_objects(void)
{
    griddep_memory_free(runtime, memory, NULL);
    griddep_stream_destroy(runtime, stream, NULL);
    griddep_module_unload(module);
}

static void assert_nothing_left(void)
{
    char left[256] = "";

    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static void teardown(void)
{
    end_objects();
    griddep_runtime_close(runtime);
    assert_nothing_left();
}

static int32_t launch(const char *name)
{
    griddep_kernel *kernel = NULL;
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream};
    const griddep_argument argument = {.bytes = 8, .value = memory};
    int32_t status = griddep_module_find_kernel(module, name, &kernel, &error);

    return status ? status : griddep_launch(kernel, &config, &argument, 1, NULL, &error);
}

/* ---- what functions note ---- */

typedef struct note {
    sem_t called;
    atomic_int times;
    int32_t status; /* of the failure; 1: there was none */
    int32_t code;
    char text[256];
} note;

static void begin(note *made)
{
    memset(made, 0, sizeof *made);
    sem_init(&made->called, 0, 0);
}

static void on_host(void *user)
{
    note *by = user;

    atomic_fetch_add(&by->times, 1);
    sem_post(&by->called);
}

static void on_done(void *user, const griddep_error *failure)
{
    note *by = user;

    by->status = failure ? failure->status : 1;
    by->code = failure ? failure->driver_code : 0;
    if (failure)
        memcpy(by->text, failure->text, sizeof by->text - 1);
    atomic_fetch_add(&by->times, 1);
    sem_post(&by->called);
}

/* ---- queries and waits ---- */

TEST_GROUP(completion, NULL, NULL);

TEST(completion, work_is_done_when_it_is_said_to_be)
{
    uint32_t done = 7;
    void *event = NULL;

    setup();
    ck_good(griddep_stream_query(runtime, stream, &done, &error));
    ck_assert_uint_eq(done, 1);
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_ORDER, &event, &error));
    fake_driver_fail("cuStreamQuery", 1, GD_CUDA_ERROR_NOT_READY);
    ck_good(griddep_stream_query(runtime, stream, &done, &error));
    ck_assert_uint_eq(done, 0);
    ck_good(launch("one"));
    ck_good(griddep_event_record(runtime, event, stream, &error));
    ck_good(griddep_event_synchronize(runtime, event, &error));
    ck_good(griddep_runtime_synchronize(runtime, &error));
    ck_good(griddep_event_destroy(runtime, event, &error));
    ck_status(griddep_stream_query(runtime, stream, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_event_synchronize(runtime, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_runtime_synchronize(NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    teardown();
}

/* ---- host functions and notifications ---- */

TEST(completion, functions_are_called_without_waiting)
{
    note host, done;

    setup();
    begin(&host);
    begin(&done);
    ck_good(launch("one"));
    ck_good(griddep_stream_add_host(runtime, stream, on_host, &host, &error));
    ck_good(griddep_stream_notify(runtime, stream, on_done, &done, &error));
    sem_wait(&host.called);
    sem_wait(&done.called);
    ck_assert_int_eq(done.status, 1);
    ck_status(griddep_stream_add_host(runtime, stream, NULL, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_stream_notify(runtime, stream, NULL, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    fake_driver_fail("cuLaunchHostFunc", 1, GD_CUDA_ERROR_INVALID_VALUE);
    ck_status(griddep_stream_add_host(runtime, stream, on_host, &host, &error),
              GRIDDEP_ERROR_DRIVER);
    fake_driver_fail("cuStreamAddCallback", 1, GD_CUDA_ERROR_INVALID_VALUE);
    ck_status(griddep_stream_notify(runtime, stream, on_done, &done, &error), GRIDDEP_ERROR_DRIVER);
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_assert_int_eq(atomic_load(&host.times), 1);
    ck_assert_int_eq(atomic_load(&done.times), 1);
    teardown();
}

TEST(completion, captured_functions_run_with_the_graph)
{
    note host;
    griddep_graph *graph = NULL;

    setup();
    begin(&host);
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    ck_good(griddep_stream_add_host(runtime, stream, on_host, &host, &error));
    ck_refused(griddep_stream_notify(runtime, stream, on_done, &host, &error), GRIDDEP_ERROR_STREAM,
               "being captured");
    ck_good(griddep_graph_capture_end(runtime, stream, &graph, &error));
    ck_assert_uint_eq(griddep_graph_node_count(graph), 1);
    for (int i = 0; i < 3; i++)
        ck_good(griddep_graph_launch(graph, stream, &error));
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_assert_int_eq(atomic_load(&host.times), 3);
    griddep_graph_destroy(graph);
    teardown();
}

/* ---- what functions may call ---- */

typedef struct caller {
    sem_t called;
    griddep_chain *chain;
    griddep_completion *completion;
    void *stream;
    int32_t refused[4], allowed[3];
} caller;

static void call_back(void *user)
{
    caller *by = user;
    uint64_t address = 0, reached = 0;
    int32_t descriptor = 0;
    griddep_runtime *opened = NULL;

    by->refused[0] = griddep_memory_allocate(runtime, 4, &address, NULL);
    by->refused[1] = griddep_stream_synchronize(runtime, stream, NULL);
    by->refused[2] = launch("one");
    by->refused[3] = griddep_runtime_open(NULL, &opened, NULL);
    by->allowed[0] = griddep_completion_take(by->completion, &reached, NULL);
    by->allowed[1] = griddep_completion_get_descriptor(by->completion, &descriptor, NULL);
    by->allowed[2] = griddep_stream_destroy(runtime, by->stream, NULL);
    griddep_chain_destroy(by->chain);
    griddep_completion_destroy(by->completion);
    sem_post(&by->called);
}

TEST(completion, forbidden_calls_are_refused_by_name)
{
    caller by = {0};

    setup();
    sem_init(&by.called, 0, 0);
    ck_good(griddep_chain_create(runtime, &by.chain, &error));
    ck_good(griddep_completion_create(runtime, &by.completion, &error));
    ck_good(griddep_stream_create(runtime, NULL, &by.stream, &error));
    ck_good(griddep_stream_add_host(runtime, stream, call_back, &by, &error));
    sem_wait(&by.called);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(by.refused[i], GRIDDEP_ERROR_CALLBACK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(by.allowed[i], GRIDDEP_OK);
    ck_good(griddep_stream_synchronize(runtime, stream, &error)); /* here it is ended */
    teardown();
}

/* Each way to give the driver a host function, and what has it then. */
typedef void given(caller *by, griddep_chain **chain, griddep_graph **graph);

static void give_to_chain(caller *by, griddep_chain **chain, int32_t mode)
{
    ck_good(griddep_chain_create(runtime, chain, &error));
    ck_good(griddep_chain_add_host(*chain, NULL, call_back, by, &error));
    ck_good(griddep_chain_run(*chain, mode, stream, &error));
}

static void give_to_stream_chain(caller *by, griddep_chain **chain, griddep_graph **graph)
{
    (void)graph;
    give_to_chain(by, chain, GRIDDEP_MODE_PDL);
}

static void give_to_graph_chain(caller *by, griddep_chain **chain, griddep_graph **graph)
{
    (void)graph;
    give_to_chain(by, chain, GRIDDEP_MODE_GRAPH);
}

static void give_to_captured_chain(caller *by, griddep_chain **chain, griddep_graph **graph)
{
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    give_to_chain(by, chain, GRIDDEP_MODE_SERIAL);
    ck_good(griddep_graph_capture_end(runtime, stream, graph, &error));
    ck_good(griddep_graph_launch(*graph, stream, &error));
}

static void give_to_node(caller *by, griddep_chain **chain, griddep_graph **graph)
{
    uint32_t node;

    (void)chain;
    ck_good(griddep_graph_create(runtime, graph, &error));
    ck_good(griddep_graph_add_host(*graph, call_back, by, &node, &error));
    ck_good(griddep_graph_launch(*graph, stream, &error));
}

static given *const ways[] = {give_to_stream_chain, give_to_graph_chain, give_to_captured_chain,
                              give_to_node};

/* What has the function is ended while it may still have to be called. */
LOOP_TEST(completion, forbidden_calls_are_refused_in_chains_and_nodes, sizeof ways / sizeof *ways)
{
    griddep_chain *chain = NULL;
    griddep_graph *graph = NULL;
    caller by = {0};

    setup();
    sem_init(&by.called, 0, 0);
    ck_good(griddep_chain_create(runtime, &by.chain, &error));
    ck_good(griddep_completion_create(runtime, &by.completion, &error));
    ck_good(griddep_stream_create(runtime, NULL, &by.stream, &error));
    ways[_i](&by, &chain, &graph);
    griddep_chain_destroy(chain);
    griddep_graph_destroy(graph);
    sem_wait(&by.called);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(by.refused[i], GRIDDEP_ERROR_CALLBACK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(by.allowed[i], GRIDDEP_OK);
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    teardown();
}

static void close_there(void *user)
{
    griddep_runtime_close(runtime);
    sem_post(user);
}

/* The runtime lives until the next call. */
TEST(completion, a_function_may_close_the_runtime)
{
    sem_t closed;

    setup();
    sem_init(&closed, 0, 0);
    ck_good(griddep_stream_add_host(runtime, stream, close_there, &closed, &error));
    sem_wait(&closed);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
    assert_nothing_left();
}

/* ---- file descriptors ---- */

static int wait_for(const griddep_completion *completion, int timeout)
{
    int32_t descriptor = -1;

    ck_good(griddep_completion_get_descriptor(completion, &descriptor, &error));
    struct pollfd each = {.fd = descriptor, .events = POLLIN};
    return poll(&each, 1, timeout);
}

TEST(completion, descriptors_become_readable)
{
    griddep_completion *completion = NULL;
    uint64_t reached = 7;

    setup();
    ck_good(griddep_completion_create(runtime, &completion, &error));
    ck_good(griddep_completion_take(completion, &reached, &error));
    ck_assert_uint_eq(reached, 0);
    ck_assert_int_eq(wait_for(completion, 0), 0);
    for (int round = 0; round < 3; round++) {
        ck_good(launch("one"));
        ck_good(griddep_completion_arm(completion, stream, &error));
        ck_assert_int_eq(wait_for(completion, -1), 1);
        ck_good(griddep_completion_take(completion, &reached, &error));
        ck_assert_uint_eq(reached, 1);
        ck_assert_int_eq(wait_for(completion, 0), 0);
    }
    for (int i = 0; i < 5; i++)
        ck_good(griddep_completion_arm(completion, stream, &error));
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_good(griddep_completion_take(completion, &reached, &error));
    ck_assert_uint_eq(reached, 5);
    ck_status(griddep_completion_arm(NULL, stream, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_completion_take(completion, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_completion_create(runtime, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_completion_destroy(NULL);
    griddep_completion_destroy(completion);
    teardown();
}

TEST(completion, a_completion_ends_at_any_time)
{
    griddep_completion *completion = NULL;
    int32_t descriptor = -1;

    setup();
    ck_good(griddep_completion_create(runtime, &completion, &error));
    ck_good(griddep_completion_get_descriptor(completion, &descriptor, &error));
    ck_good(launch("one"));
    for (int i = 0; i < 3; i++)
        ck_good(griddep_completion_arm(completion, stream, &error));
    griddep_completion_destroy(completion);
    ck_assert_int_lt(close(descriptor), 0); /* it is closed already */
    teardown();
}

/* ---- faults ---- */

TEST(completion, a_fault_is_told_to_all)
{
    griddep_completion *completion = NULL;
    note done[4], host;
    uint64_t reached = 0;

    setup();
    begin(&host);
    ck_good(griddep_completion_create(runtime, &completion, &error));
    ck_good(launch("crash"));
    for (int i = 0; i < 4; i++) {
        begin(&done[i]);
        ck_good(griddep_stream_notify(runtime, stream, on_done, &done[i], &error));
    }
    ck_good(griddep_stream_add_host(runtime, stream, on_host, &host, &error));
    ck_good(griddep_completion_arm(completion, stream, &error));
    ck_assert_int_eq(wait_for(completion, -1), 1);
    ck_status(griddep_completion_take(completion, &reached, &error), GRIDDEP_ERROR_FAULT);
    ck_assert_int_eq(error.driver_code, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_good(griddep_completion_take(completion, &reached, &error));
    ck_assert_uint_eq(reached, 0);
    for (int i = 0; i < 4; i++) {
        sem_wait(&done[i].called);
        ck_assert_int_eq(done[i].status, GRIDDEP_ERROR_FAULT);
        ck_assert_int_eq(done[i].code, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
        ck_assert_ptr_ne(strstr(done[i].text, "CUDA_ERROR_ILLEGAL_ADDRESS"), NULL);
    }
    ck_status(griddep_stream_notify(runtime, stream, on_done, &done[0], &error),
              GRIDDEP_ERROR_FAULT);
    griddep_completion_destroy(completion);
    end_objects();
    griddep_runtime_close(runtime);
    ck_assert_int_eq(atomic_load(&host.times), 0);
}

/* A driver that has lost its context, and calls nobody. */
TEST(completion, the_end_of_the_runtime_tells_who_was_not_told)
{
    note done, host;

    setup();
    begin(&done);
    begin(&host);
    fake_driver_drop_callbacks();
    ck_good(griddep_stream_notify(runtime, stream, on_done, &done, &error));
    ck_good(griddep_stream_add_host(runtime, stream, on_host, &host, &error));
    end_objects();
    fake_driver_fail("cuMemAlloc", 1, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    griddep_runtime_close(runtime);
    ck_assert_int_eq(atomic_load(&done.times), 1);
    ck_assert_int_eq(done.code, GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(atomic_load(&host.times), 0);
}

TEST(completion, the_end_of_the_runtime_waits)
{
    note done, host;

    setup();
    begin(&done);
    begin(&host);
    ck_good(launch("one"));
    ck_good(griddep_stream_notify(runtime, stream, on_done, &done, &error));
    ck_good(griddep_stream_add_host(runtime, stream, on_host, &host, &error));
    teardown();
    ck_assert_int_eq(atomic_load(&done.times), 1);
    ck_assert_int_eq(atomic_load(&host.times), 1);
}

TEST(completion, drivers_without_callbacks)
{
    note done;

    setup();
    end_objects();
    griddep_runtime_close(runtime);
    fake_driver_hide("cuStreamAddCallback");
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
    ck_refused(griddep_stream_notify(runtime, NULL, on_done, &done, &error),
               GRIDDEP_ERROR_UNSUPPORTED, "cuStreamAddCallback");
    griddep_runtime_close(runtime);
}

/* ---- without memory ---- */

static void assert_memory_is_told(int32_t (*call)(void))
{
    for (long n = 0;; n++) {
        fail_alloc_after(n);
        int32_t status = call();
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        if (!hit) {
            ck_good(status);
            break;
        }
        ck_status(status, GRIDDEP_ERROR_MEMORY);
    }
}

static note noted;
static griddep_completion *made;

static int32_t ask_notification(void)
{
    return griddep_stream_notify(runtime, stream, on_done, &noted, &error);
}

static int32_t add_function(void)
{
    return griddep_stream_add_host(runtime, stream, on_host, &noted, &error);
}

static int32_t make_completion(void)
{
    return griddep_completion_create(runtime, &made, &error);
}

static int32_t arm_completion(void)
{
    return griddep_completion_arm(made, stream, &error);
}

TEST(completion, no_memory_is_told)
{
    setup();
    begin(&noted);
    assert_memory_is_told(ask_notification);
    assert_memory_is_told(add_function);
    assert_memory_is_told(make_completion);
    assert_memory_is_told(arm_completion);
    griddep_completion_destroy(made);
    ck_good(griddep_graph_capture_begin(runtime, stream, &error));
    assert_memory_is_told(add_function);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    teardown();
    ck_assert_int_eq(atomic_load(&noted.times), 2);
}

/* ---- many threads ---- */

typedef struct worker {
    pthread_t thread;
    uint32_t reached;
    note done;
} worker;

/* Each has a stream of its own, and waits in each of the ways in turns. */
static void *work(void *user)
{
    worker *by = user;
    griddep_completion *completion = NULL;
    void *own = NULL;
    griddep_error mine;

    griddep_error_init(&mine);
    if (griddep_completion_create(runtime, &completion, &mine) ||
        griddep_stream_create(runtime, NULL, &own, &mine))
        return NULL;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t reached = 0;
        bool last = i % 4 == 3;
        if (griddep_memory_fill_async(runtime, memory, i & 0xff, 1, BYTES, own, &mine) ||
            griddep_stream_notify(runtime, own, on_done, &by->done, &mine) ||
            griddep_completion_arm(completion, own, &mine))
            break;
        sem_wait(&by->done.called);
        while (!last && !reached) {
            int32_t descriptor = -1;
            griddep_completion_get_descriptor(completion, &descriptor, &mine);
            struct pollfd each = {.fd = descriptor, .events = POLLIN};
            poll(&each, 1, -1);
            if (griddep_completion_take(completion, &reached, &mine))
                break;
        }
        by->reached++;
        if (last) { /* armed */
            griddep_completion_destroy(completion);
            if (griddep_completion_create(runtime, &completion, &mine))
                break;
        }
    }
    griddep_completion_destroy(completion);
    griddep_stream_destroy(runtime, own, &mine);
    return NULL;
}

TEST(completion, completions_of_many_threads)
{
    worker workers[THREADS];

    setup();
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; i++) {
        begin(&workers[i].done);
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        ck_assert_uint_eq(workers[i].reached, ROUNDS);
        ck_assert_int_eq(atomic_load(&workers[i].done.times), ROUNDS);
    }
    teardown();
}

MAIN_OF_SUITE("completion")
