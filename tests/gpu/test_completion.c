/* Completion on a GPU: how long after the end of the work a function is called and a descriptor
 * becomes readable, beside bare cuLaunchHostFunc and cuStreamAddCallback; that asynchronous
 * copies run beside a kernel; and what a fault does to those who wait. Prints figures and
 * asserts none of them: what it asserts is that all are called, and in a process of its own that
 * a fault is told to all. Exits 77 without a GPU. */
#include <poll.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "griddep.h"

enum { ROUNDS = 2000, COPY_BYTES = 64 << 20 };

/* spin waits so many nanoseconds; crash faults. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry spin(.param .u64 time)\n{\n    .reg .b64 %b, %n, %t;\n    .reg .pred %p;\n"
    "    ld.param.u64 %t, [time];\n    mov.u64 %b, %globaltimer;\nagain:\n"
    "    mov.u64 %n, %globaltimer;\n    sub.u64 %n, %n, %b;\n    setp.lt.u64 %p, %n, %t;\n"
    "    @%p bra again;\n    ret;\n}\n"
    ".visible .entry crash(.param .u64 time)\n{\n    .reg .b64 %a;\n    mov.u64 %a, 64;\n"
    "    st.global.u32 [%a], 1;\n    ret;\n}\n";

static griddep_error error;
static griddep_runtime *runtime;
static griddep_module *module;
static griddep_completion *completion;
static struct pollfd wanted = {.events = POLLIN};
static void *stream, *beside;
static gd_driver *driver; /* the same library, called bare */
static sem_t called;
static uint64_t called_at;

static void try(int32_t status, const char *what)
{
    if (status == GRIDDEP_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, griddep_status_name(status), error.text);
    exit(1);
}
#define TRY(call) try(call, #call)

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void start(const char *name, uint64_t time)
{
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {1}, .stream = stream};
    const griddep_argument argument = {.bytes = 8, .value = time};
    griddep_kernel *kernel = NULL;

    TRY(griddep_module_find_kernel(module, name, &kernel, &error));
    TRY(griddep_launch(kernel, &config, &argument, 1, NULL, &error));
}

/* ---- ways to learn of the end */

static void on_host(void *user)
{
    (void)user;
    called_at = now();
    sem_post(&called);
}

static void on_callback(gd_CUstream of, gd_CUresult status, void *user)
{
    (void)of;
    (void)status;
    on_host(user);
}

static void on_done(void *user, const griddep_error *failure)
{
    (void)failure;
    on_host(user);
}

static uint64_t by_launch_host(void)
{
    if (driver->cuLaunchHostFunc(stream, on_host, NULL) != GD_CUDA_SUCCESS)
        exit(1);
    sem_wait(&called);
    return called_at;
}

static uint64_t by_add_callback(void)
{
    if (driver->cuStreamAddCallback(stream, on_callback, NULL, 0) != GD_CUDA_SUCCESS)
        exit(1);
    sem_wait(&called);
    return called_at;
}

static uint64_t by_add_host(void)
{
    TRY(griddep_stream_add_host(runtime, stream, on_host, NULL, &error));
    sem_wait(&called);
    return called_at;
}

static uint64_t by_notify(void)
{
    TRY(griddep_stream_notify(runtime, stream, on_done, NULL, &error));
    sem_wait(&called);
    return called_at;
}

static uint64_t by_descriptor(void)
{
    uint64_t reached = 0, at;

    TRY(griddep_completion_arm(completion, stream, &error));
    poll(&wanted, 1, -1);
    at = now();
    TRY(griddep_completion_take(completion, &reached, &error));
    return at;
}

static uint64_t by_synchronize(void)
{
    TRY(griddep_stream_synchronize(runtime, stream, &error));
    return now();
}

static const struct {
    const char *name;
    uint64_t (*learn)(void);
} ways[] = {
    {"cuLaunchHostFunc", by_launch_host},     {"cuStreamAddCallback", by_add_callback},
    {"griddep_stream_add_host", by_add_host}, {"griddep_stream_notify", by_notify},
    {"griddep_completion", by_descriptor},    {"griddep_stream_synchronize", by_synchronize}};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- figures */

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* From the launch of a kernel of 20 us to the news of its end, the ways in turns. */
static void measure_latency(void)
{
    static uint64_t times[WAYS][ROUNDS];
    double first = 0;

    for (int round = -20; round < ROUNDS; round++) {
        for (int way = 0; way < WAYS; way++) {
            const uint64_t begin = now();
            start("spin", 20000);
            const uint64_t end = ways[way].learn();
            if (round >= 0)
                times[way][round] = end - begin;
        }
    }
    printf("%-28s %10s %10s %8s\n", "launch of 20 us to its news", "median us", "p99 us", "ratio");
    for (int way = 0; way < WAYS; way++) {
        qsort(times[way], ROUNDS, sizeof **times, compare);
        const double median = (double)times[way][ROUNDS / 2] / 1000;
        first = way ? first : median;
        printf("%-28s %10.2f %10.2f %8.3f\n", ways[way].name, median,
               (double)times[way][ROUNDS * 99 / 100] / 1000, median / first);
    }
}

/* A copy beside a kernel that takes as long: how much of the shorter one is hidden. */
static void measure_copies(void)
{
    void *host[2] = {NULL, calloc(1, COPY_BYTES)};
    uint64_t memory = 0;

    TRY(griddep_host_allocate(runtime, COPY_BYTES, GRIDDEP_HOST_PORTABLE, &host[0], &error));
    TRY(griddep_memory_allocate(runtime, COPY_BYTES, &memory, &error));
    for (int pageable = 0; pageable < 2; pageable++) {
        uint64_t begin = now();
        TRY(griddep_memory_write_async(runtime, memory, host[pageable], COPY_BYTES, beside,
                                       &error));
        const double handed = (double)(now() - begin) / 1000;
        TRY(griddep_stream_synchronize(runtime, beside, &error));
        const uint64_t alone = now() - begin;
        begin = now();
        start("spin", alone);
        TRY(griddep_memory_write_async(runtime, memory, host[pageable], COPY_BYTES, beside,
                                       &error));
        TRY(griddep_runtime_synchronize(runtime, &error));
        const uint64_t both = now() - begin;
        printf(
            "copy of 64 MiB, %s: handed in after %.1f us, alone %.1f us, beside a kernel as long "
            "%.1f us\n",
            pageable ? "pageable" : "pinned", handed, (double)alone / 1000, (double)both / 1000);
    }
    TRY(griddep_memory_free(runtime, memory, &error));
    TRY(griddep_host_free(runtime, host[0], &error));
    free(host[1]);
}

/* ---- a fault */

static void note_fault(void *user, const griddep_error *failure)
{
    *(int32_t *)user = failure ? failure->status : 1;
    sem_post(&called);
}

static int tell_fault(void)
{
    int32_t told[8] = {0};
    uint64_t reached = 0;

    start("crash", 0);
    for (int i = 0; i < 8; i++)
        TRY(griddep_stream_notify(runtime, stream, note_fault, &told[i], &error));
    TRY(griddep_completion_arm(completion, stream, &error));
    const bool woken = poll(&wanted, 1, 5000) == 1;
    const int32_t taken = woken ? griddep_completion_take(completion, &reached, &error) : 0;
    printf("after a fault: the descriptor %s; take gives %s\n",
           woken ? "becomes readable" : "stays unreadable for 5 s", griddep_status_name(taken));
    griddep_completion_destroy(completion);
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    int bad = taken != GRIDDEP_ERROR_FAULT;
    for (int i = 0; i < 8; i++)
        bad += told[i] != GRIDDEP_ERROR_FAULT;
    printf("%d of 9 were not told of the fault before the end of the runtime\n", bad);
    return bad != 0;
}

static void open_all(void)
{
    const griddep_runtime_options options = {
        .size = sizeof options, .driver = "nvidia", .store_directory = ""};

    griddep_error_init(&error);
    sem_init(&called, 0, 0);
    TRY(griddep_runtime_open(&options, &runtime, &error));
    TRY(gd_driver_open("libcuda.so.1", &driver, &error));
    TRY(griddep_module_load(runtime, ptx, strlen(ptx), NULL, &module, &error));
    TRY(griddep_stream_create(runtime, NULL, &stream, &error));
    TRY(griddep_stream_create(runtime, NULL, &beside, &error));
    TRY(griddep_completion_create(runtime, &completion, &error));
    TRY(griddep_completion_get_descriptor(completion, &wanted.fd, &error));
}

int main(void)
{
    griddep_device_info info = {.size = sizeof info};
    int status = 0;

    griddep_error_init(&error);
    if (griddep_device_get_info("nvidia", 0, &info, &error)) {
        printf("skipped: no GPU: %s\n", error.text);
        return getenv("GRIDDEP_REQUIRE_GPU") ? EXIT_FAILURE : 77;
    }
    /* The driver cannot be used in a child of a process that has begun to use it. */
    fflush(stdout);
    char command[4096 + 32];
    char self[4096] = "";
    if (getenv("TEST_COMPLETION_FAULT")) {
        open_all();
        return tell_fault();
    }
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return EXIT_FAILURE;
    snprintf(command, sizeof command, "TEST_COMPLETION_FAULT=1 '%s'", self);
    status = system(command);
    open_all();
    void *context = NULL;
    griddep_runtime_info opened = {.size = sizeof opened};
    TRY(griddep_runtime_get_info(runtime, &opened, &error));
    context = opened.context;
    driver->cuCtxPushCurrent(context);
    measure_latency();
    measure_copies();
    driver->cuCtxPopCurrent(&context);
    griddep_completion_destroy(completion);
    TRY(griddep_stream_destroy(runtime, stream, &error));
    TRY(griddep_stream_destroy(runtime, beside, &error));
    griddep_module_unload(module);
    griddep_runtime_close(runtime);
    gd_driver_close(driver);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
