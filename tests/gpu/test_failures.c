/* Members of a group that fail: killed, stopped, gone, busy with a kernel that does not end, or
 * with another chain. On two GPUs where they are, a process each or both in one; else on the
 * emulated driver of EMULATED_DRIVER. The other member is told by rank, its graphs end, it opens a
 * group again with who takes the place, and in the end it holds no more than before. How long it
 * took to be told is printed, and asserted nowhere. Exits 77 without two devices. */
#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "griddep.h"
#include "sanitized.h"
#include "unit/status.h"

enum { MEMBERS = 2, COUNT = 64 };

static griddep_error error;
static const char *driver;
static char path[64];

/* ---- members ---- */

typedef struct member {
    uint32_t rank;
    griddep_runtime *runtime;
    griddep_group *group;
    griddep_chain *chain;
    uint64_t data;
    griddep_module *module; /* of the kernel that waits for */
    volatile uint32_t *word;
} member;

/* Of the emulated driver it is model time, which takes a hundred times as long. */
static griddep_group_options limits = {.size = sizeof limits, .timeout_ms = 200};

static void open_device(member *it, uint32_t rank)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .driver = driver,
                                             .flags = GRIDDEP_RUNTIME_DEVICE,
                                             .device = (int32_t)rank,
                                             .store_directory = ""};

    griddep_error_init(&error);
    *it = (member){.rank = rank};
    ck_good(griddep_runtime_open(&options, &it->runtime, &error));
    ck_good(griddep_memory_allocate(it->runtime, 4 * COUNT, &it->data, &error));
}

static void close_device(member *it)
{
    ck_good(griddep_memory_free(it->runtime, it->data, &error));
    griddep_runtime_close(it->runtime);
}

static void join(member *it)
{
    ck_good(griddep_group_join(it->runtime, it->rank, MEMBERS, path, &limits, &it->group, &error));
}

/* Three sums, each of what the one before left. */
static void make_chain(member *it, uint64_t count)
{
    const griddep_hop sum = {.size = sizeof sum,
                             .operation = GRIDDEP_HOP_ALL_REDUCE,
                             .type = GRIDDEP_TENSOR_F32,
                             .source = it->data,
                             .target = it->data,
                             .count = count};

    ck_good(griddep_chain_create(it->runtime, &it->chain, &error));
    for (int i = 0; i < 3; i++)
        ck_good(griddep_chain_add_hop(it->chain, it->group, NULL, &sum, &error));
}

static void leave(member *it)
{
    griddep_chain_destroy(it->chain);
    it->chain = NULL;
    griddep_group_close(it->group);
    it->group = NULL;
}

static void write_values(const member *it)
{
    float values[COUNT];

    for (uint32_t i = 0; i < COUNT; i++)
        values[i] = (float)(i + it->rank);
    ck_good(griddep_memory_write(it->runtime, it->data, values, sizeof values, NULL, &error));
}

static void begin_run(const member *it)
{
    write_values(it);
    ck_good(griddep_chain_run(it->chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
}

static void end_run(const member *it)
{
    float values[COUNT];

    ck_good(griddep_runtime_synchronize(it->runtime, &error));
    ck_good(griddep_group_status(it->group, &error));
    ck_good(griddep_memory_read(it->runtime, values, it->data, sizeof values, NULL, &error));
    for (uint32_t i = 0; i < COUNT; i++)
        if (values[i] != 4 * (float)(2 * i + 1))
            ck_abort_msg("member %u, element %u: %g", it->rank, i, (double)values[i]);
}

/* ---- a kernel that does not end before the host says so ---- */

static const char waiting_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry wait_for_host(.param .u64 word)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %v;\n    .reg .b64 %a;\n"
    "    ld.param.u64 %a, [word];\n"
    "again:\n    ld.relaxed.sys.global.u32 %v, [%a];\n    setp.eq.u32 %p, %v, 0;\n"
    "    @%p bra again;\n    ret;\n}\n";

/* The kernel, and a run behind it. */
static void hang(member *it)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_kernel *kernel;
    void *word;

    ck_good(griddep_host_allocate(it->runtime, 4, GRIDDEP_HOST_PORTABLE, &word, &error));
    memset(word, 0, 4);
    write_values(it);
    ck_good(griddep_module_load(it->runtime, waiting_ptx, sizeof waiting_ptx - 1, NULL, &it->module,
                                &error));
    ck_good(griddep_module_find_kernel(it->module, "wait_for_host", &kernel, &error));
    const griddep_argument argument = {.bytes = 8, .data = &word};
    ck_good(griddep_launch(kernel, &config, &argument, 1, NULL, &error));
    ck_good(griddep_chain_run(it->chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    it->word = word;
}

static void end_hanging(member *it)
{
    *it->word = 1;
    ck_good(griddep_runtime_synchronize(it->runtime, &error));
    ck_good(griddep_host_free(it->runtime, (void *)(uintptr_t)it->word, &error));
    griddep_module_unload(it->module);
}

/* ---- what a process holds ---- */

typedef struct held {
    uint32_t files;
    size_t memory; /* of the device, that nobody has */
} held;

static uint32_t count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static held look_at_device(int device)
{
    void *library = dlopen(!strcmp(driver, "nvidia") ? "libcuda.so.1" : driver, RTLD_NOW);
    int (*retain)(void **, int), (*drop)(int), (*push)(void *), (*pop)(void **);
    int (*ask)(size_t *, size_t *);
    held now = {.files = count_files()};
    void *context;
    size_t all;

    ck_assert_ptr_nonnull(library);
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&drop = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
    *(void **)&push = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&pop = dlsym(library, "cuCtxPopCurrent_v2");
    *(void **)&ask = dlsym(library, "cuMemGetInfo_v2");
    ck_assert(!retain(&context, device) && !push(context) && !ask(&now.memory, &all) &&
              !pop(&context) && !drop(device));
    dlclose(library);
    return now;
}

static void holds_no_more(held before, int device)
{
    const held now = look_at_device(device);

    ck_assert_uint_le(now.files, before.files); /* the driver closes some of its own */
    ck_assert_msg(now.memory >= before.memory, "%zu bytes of the device are lost",
                  before.memory - now.memory);
}

/* ---- failures ---- */

typedef enum failure { KILLED, STOPPED, LEAVES, HANGS, OTHER_CHAIN, FAILURES } failure;

static const char *const names[] = {"killed", "stopped", "leaves", "hangs", "another chain"};

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* The run of who is left alone ends, the member is told by its rank, and further runs are refused
 * with the same words. */
static void is_told(const member *it, failure how, const char *where)
{
    const double begin = now_ms();
    char words[128];

    if (how == OTHER_CHAIN) {
        ck_refused(griddep_chain_prepare(it->chain, GRIDDEP_MODE_GRAPH_PDL, &error),
                   GRIDDEP_ERROR_PEER,
                   "hop 0 of member 0 is all_reduce of 64 f32, of member 1 all_reduce of 62 f32");
        return;
    }
    begin_run(it);
    ck_good(griddep_runtime_synchronize(it->runtime, &error));
    ck_status(griddep_group_status(it->group, &error), GRIDDEP_ERROR_PEER);
    fprintf(stderr, "%s, %s: told after %.1f ms of %" PRIu32 "\n", names[how], where,
            now_ms() - begin, limits.timeout_ms);
    snprintf(words, sizeof words,
             "member 0 of the group waited for member 1 for %" PRIu32 " ms in all_reduce of 64 f32",
             limits.timeout_ms);
    ck_says(words);
    ck_refused(griddep_chain_run(it->chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error),
               GRIDDEP_ERROR_PEER, "waited for member 1");
}

/* ---- a process each ---- */

/* The first run of a process whose chain is made; the others are as far, so that nobody waits while
 * another one loads its kernels. */
static void run_first(const member *it)
{
    uint32_t buffer;

    ck_good(griddep_chain_prepare(it->chain, GRIDDEP_MODE_GRAPH_PDL, &error));
    ck_good(griddep_group_allocate(it->group, 8, &buffer, &error));
    begin_run(it);
    end_run(it);
}

/* Pipes by which the test says when a process goes on. */
typedef struct signals {
    int failed[2]; /* member 1 does what it does */
    int told[2];   /* member 0 has left the group */
    int over[2];   /* member 1 may end */
    int done[2];   /* member 0 is alone */
} signals;

static void give(const int pipe[2])
{
    ck_assert_int_eq(write(pipe[1], "", 1), 1);
}

static void await(const int pipe[2])
{
    char byte;

    ck_assert_int_eq(read(pipe[0], &byte, 1), 1);
}

static void be_left_alone(failure how, const signals *with)
{
    member own;
    char other[80]; /* a path is of one group: the others are at the door already */

    snprintf(other, sizeof other, "%s-alone", path);
    open_device(&own, 0);
    ck_good(griddep_group_join(own.runtime, 0, 1, other, &limits, &own.group, &error));
    make_chain(&own, COUNT);
    ck_good(griddep_chain_run(own.chain, GRIDDEP_MODE_GRAPH_PDL, NULL, &error));
    ck_good(griddep_runtime_synchronize(own.runtime, &error));
    leave(&own); /* now all is loaded */
    const held before = look_at_device(0);
    join(&own);
    make_chain(&own, COUNT);
    if (how != OTHER_CHAIN)
        run_first(&own);
    await(with->failed);
    is_told(&own, how, "a process each");
    leave(&own);
    give(with->told);
    join(&own); /* again, at the same place, with another process */
    make_chain(&own, COUNT);
    run_first(&own);
    leave(&own);
    await(with->done);
    holds_no_more(before, 0);
    close_device(&own);
}

static void fail_as(failure how, const signals *with)
{
    member own;

    open_device(&own, 1);
    join(&own);
    make_chain(&own, how == OTHER_CHAIN ? COUNT - 2 : COUNT);
    if (how == OTHER_CHAIN)
        ck_good(griddep_chain_prepare(own.chain, GRIDDEP_MODE_GRAPH_PDL, &error));
    else
        run_first(&own);
    if (how == HANGS)
        hang(&own);
    if (how == LEAVES)
        leave(&own);
    give(with->failed);
    if (how == KILLED)
        raise(SIGKILL);
    if (how == STOPPED)
        raise(SIGSTOP);
    await(with->over);
    if (how == HANGS) { /* of the other one the words of the first hop alone are there */
        end_hanging(&own);
        ck_refused(griddep_group_status(own.group, &error), GRIDDEP_ERROR_PEER,
                   "member 1 of the group waited for member 0");
    }
    if (how != LEAVES)
        leave(&own);
    close_device(&own);
}

static void take_the_place(const signals *with)
{
    member own;

    await(with->told);
    open_device(&own, 1);
    join(&own);
    make_chain(&own, COUNT);
    run_first(&own);
    leave(&own);
    close_device(&own);
}

/* Waits for a process; another one may end before it. Where one fails nobody waits for it. */
static void ends_well(pid_t *children, uint32_t wanted, failure how)
{
    while (children[wanted]) {
        int status = -1;
        const pid_t ended = waitpid(-1, &status, 0);
        uint32_t i = 0;
        while (i < 3 && children[i] != ended)
            i++;
        ck_assert_uint_lt(i, 3);
        children[i] = 0;
        if (!status || (i == 1 && (how == KILLED || how == STOPPED) && WIFSIGNALED(status)))
            continue;
        for (uint32_t k = 0; k < 3; k++)
            if (children[k])
                kill(children[k], SIGKILL);
        ck_abort_msg("process %" PRIu32 " ended with %d", i, status);
    }
}

START_TEST(processes)
{
    const failure how = (failure)_i;
    signals with;
    pid_t children[3];

    snprintf(path, sizeof path, "/tmp/griddep-failures-%d", (int)getpid());
    ck_assert(!pipe(with.failed) && !pipe(with.told) && !pipe(with.over) && !pipe(with.done));
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        if (i == 0)
            be_left_alone(how, &with);
        else if (i == 1)
            fail_as(how, &with);
        else
            take_the_place(&with);
        exit(0);
    }
    ends_well(children, 2, how);
    give(with.over);
    if (how == STOPPED)
        kill(children[1], SIGKILL);
    ends_well(children, 1, how);
    give(with.done);
    ends_well(children, 0, how);
}
END_TEST

/* ---- one process ---- */

static void open_both(member *both)
{
    griddep_runtime *const runtimes[] = {both[0].runtime, both[1].runtime};

    ck_good(griddep_group_open(runtimes, MEMBERS, &limits, &both[0].group, &error));
    both[1].group = both[0].group;
}

static void close_both(member *both)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        griddep_chain_destroy(both[i].chain);
    griddep_group_close(both[0].group);
}

static void run_both(member *both)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        begin_run(&both[i]);
    for (uint32_t i = 0; i < MEMBERS; i++)
        end_run(&both[i]);
}

/* Member 1 hangs in a kernel in front of its run, does not run, or has another chain. */
START_TEST(one_process)
{
    static const failure cases[] = {LEAVES, HANGS, OTHER_CHAIN};
    const failure how = cases[_i];
    member both[MEMBERS];
    held before[MEMBERS];

    for (uint32_t i = 0; i < MEMBERS; i++)
        open_device(&both[i], i);
    for (int round = 0; round < 3; round++) {
        open_both(both);
        make_chain(&both[0], COUNT);
        make_chain(&both[1], round == 1 && how == OTHER_CHAIN ? COUNT - 2 : COUNT);
        if (round != 1) {
            run_both(both);
        } else if (how == OTHER_CHAIN) {
            ck_good(griddep_chain_prepare(both[1].chain, GRIDDEP_MODE_GRAPH_PDL, &error));
            is_told(&both[0], how, "one process");
        } else if (how == HANGS) {
            hang(&both[1]);
            is_told(&both[0], how, "one process");
            end_hanging(&both[1]);
        } else {
            run_both(both);
            is_told(&both[0], how, "one process");
        }
        close_both(both);
        for (uint32_t i = 0; i < MEMBERS && !round; i++)
            before[i] = look_at_device((int)i);
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        holds_no_more(before[i], (int)i);
        close_device(&both[i]);
    }
}
END_TEST

/* ---- all ---- */

/* Asked in a process of its own: a driver that is initialized does not survive fork. */
static bool has_devices(void)
{
    const pid_t child = fork();
    int status = 0;

    if (!child) {
        const griddep_runtime_options options = {.size = sizeof options,
                                                 .driver = driver,
                                                 .flags = GRIDDEP_RUNTIME_DEVICE,
                                                 .device = MEMBERS - 1,
                                                 .store_directory = ""};
        griddep_runtime *last = NULL;
        griddep_error_init(&error);
        status = griddep_runtime_open(&options, &last, &error);
        if (status)
            fprintf(stderr, "%s has no two devices: %s\n", driver, error.text);
        _exit(status != 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && !status;
}

int main(void)
{
    const char *required = getenv("GRIDDEP_REQUIRE_GPU"), *emulated = getenv("EMULATED_DRIVER");

    setenv("CK_DEFAULT_TIMEOUT", "1800", 0); /* how fast a machine is, nobody knows */
    setenv("GRIDDEP_EMULATOR_DEVICES", "2", 1);
    driver = "nvidia";
    if (!has_devices()) {
        if (!emulated)
            return required && !strcmp(required, "1") ? EXIT_FAILURE : 77;
        driver = emulated;
        limits.timeout_ms = SANITIZED ? 5 : 20;
    }
    Suite *suite = suite_create("members that fail");
    TCase *all = tcase_create("failures");
    tcase_add_loop_test(all, processes, 0, FAILURES);
    tcase_add_loop_test(all, one_process, 0, 3);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
