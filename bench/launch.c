/* What the library's launches cost beside the bare driver call, and what its code cache saves: one program, one run,
 * ratios.
 *
 * Host time of a call is measured in bursts that fit the driver's launch queue, with the device idle before each burst;
 * the variants take turns, and each figure is the median over the rounds. A ratio is the median of the ratios of
 * neighbours in time. Prints a table; exits 77 without an NVIDIA driver. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/driver.h"
#include "griddep.h"

enum { BURST = 200, ROUNDS = 201, CHAIN = 64, LOADS = 15 };

/* A module with an entry that does nothing. */
#define PLAIN                                                                                                          \
    ".version 8.0\n"                                                                                                   \
    ".target sm_90\n"                                                                                                  \
    ".address_size 64\n"                                                                                               \
    ".visible .entry plain(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"                              \
    "{\n"                                                                                                              \
    "    ret;\n"                                                                                                       \
    "}\n"

static const char ptx[] = PLAIN ".visible .entry waiting(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
                                "{\n"
                                "    griddepcontrol.launch_dependents;\n"
                                "    griddepcontrol.wait;\n"
                                "    ret;\n"
                                "}\n";

/* Eight conditions, as matrix products have them; and one on overlap, which asks for extents. */
#define CONDITIONS                                                                                                     \
    "// requires:\n"                                                                                                   \
    "//   n >= 1\n"                                                                                                    \
    "//   n < 2^30\n"                                                                                                  \
    "//   a % 16 == 0\n"                                                                                               \
    "//   b % 16 == 0\n"                                                                                               \
    "//   c % 4 == 0\n"                                                                                                \
    "//   block.x % 32 == 0\n"                                                                                         \
    "//   block.y == 1 && block.z == 1\n"                                                                              \
    "//   grid.y == 1 && grid.z == 1\n"

static const char conditions_ptx[] = CONDITIONS PLAIN;

static const char overlap_ptx[] = CONDITIONS "//   apart(c, a, b)\n"
                                             "// extent:\n"
                                             "//   a: n * 4\n"
                                             "//   b: n * 4\n"
                                             "//   c: n * 4\n" PLAIN;

typedef struct bench {
    griddep_runtime *runtime;
    griddep_module *module, *conditions_module, *overlap_module;
    griddep_kernel *plain, *waiting, *conditions, *overlap;
    griddep_chain *overlapped; /* CHAIN launches */
    gd_driver *driver;         /* the same library, called bare */
    gd_CUfunction plain_function, waiting_function;
    gd_CUgraphExec hand_made;
    void *stream;
} bench;

static griddep_error error;

static int check(int32_t status, const char *what)
{
    if (status)
        fprintf(stderr, "bench/launch: %s: %s: %s\n", what, griddep_status_name(status), error.text);
    return status == GRIDDEP_OK;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* ---- the variants: each does `count` launches ---- */

static const griddep_argument arguments[4] = {{.bytes = 8, .value = 256},
                                              {.bytes = 8, .value = 512},
                                              {.bytes = 8, .value = 768},
                                              {.bytes = 4, .value = 7}};

static int bare(const bench *b, gd_CUfunction function, unsigned overlap, int count)
{
    uint64_t x = 256, y = 512, z = 768;
    uint32_t n = 7;

    for (int i = 0; i < count; i++) {
        void *pointers[] = {&x, &y, &z, &n};
        gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
        attribute.value.programmaticStreamSerializationAllowed = 1;
        gd_CUlaunchConfig config = {.gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 32,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .hStream = b->stream,
                                    .attrs = &attribute,
                                    .numAttrs = overlap};
        if (b->driver->cuLaunchKernelEx(&config, function, pointers, NULL) != GD_CUDA_SUCCESS)
            return 0;
    }
    return 1;
}

static int bare_plain(const bench *b)
{
    return bare(b, b->plain_function, 0, BURST);
}

static int bare_waiting(const bench *b)
{
    return bare(b, b->waiting_function, 1, BURST);
}

static int library(const bench *b, griddep_kernel *kernel)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}, .stream = b->stream};

    for (int i = 0; i < BURST; i++) {
        if (griddep_launch(kernel, &config, arguments, 4, NULL, &error))
            return 0;
    }
    return 1;
}

static int library_plain(const bench *b)
{
    return library(b, b->plain);
}

static int library_conditions(const bench *b)
{
    return library(b, b->conditions);
}

static int library_overlap(const bench *b)
{
    return library(b, b->overlap);
}

static int library_waiting(const bench *b)
{
    return library(b, b->waiting);
}

static int library_packed(const bench *b)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}, .stream = b->stream};
    const struct {
        uint64_t a, b, c;
        uint32_t n;
    } packed = {256, 512, 768, 7};

    for (int i = 0; i < BURST; i++) {
        if (griddep_launch_packed(b->plain, &config, &packed, 28, NULL, &error))
            return 0;
    }
    return 1;
}

static int bare_chain(const bench *b)
{
    return bare(b, b->waiting_function, 1, CHAIN);
}

static int library_chain(const bench *b)
{
    return !griddep_chain_run(b->overlapped, GRIDDEP_MODE_PDL, b->stream, &error);
}

static int bare_graph(const bench *b)
{
    return b->driver->cuGraphLaunch(b->hand_made, b->stream) == GD_CUDA_SUCCESS;
}

static int library_graph(const bench *b)
{
    return !griddep_chain_run(b->overlapped, GRIDDEP_MODE_GRAPH_PDL, b->stream, &error);
}

typedef struct pair {
    const char *what;
    const char *unit;
    int calls; /* that one turn makes */
    int (*bare)(const bench *b);
    int (*library)(const bench *b);
} pair;

static const pair pairs[] = {
    {"griddep_launch / cuLaunchKernelEx, no attribute", "a launch", BURST, bare_plain, library_plain},
    {"the same with 8 conditions", "a launch", BURST, bare_plain, library_conditions},
    {"the same with 8 conditions and one on overlap", "a launch", BURST, bare_plain, library_overlap},
    {"griddep_launch / cuLaunchKernelEx, attribute 6", "a launch", BURST, bare_waiting, library_waiting},
    {"griddep_launch_packed / cuLaunchKernelEx", "a launch", BURST, bare_plain, library_packed},
    {"chain in a stream, pdl / cuLaunchKernelEx in a loop", "a launch", CHAIN, bare_chain, library_chain},
    {"chain as a graph, graph-pdl / cuGraphLaunch by hand", "a graph of 64", 1, bare_graph, library_graph},
};

/* ---- measuring ---- */

/* Host nanoseconds of one turn, from an idle device. */
static double turn(const bench *b, int (*variant)(const bench *b))
{
    b->driver->cuStreamSynchronize(b->stream);
    double start = now();
    int good = variant(b);
    double end = now();

    return good ? end - start : -1;
}

static int measure(const bench *b, const pair *p)
{
    static double bare_times[ROUNDS], library_times[ROUNDS], ratios[ROUNDS];

    for (int i = -10; i < ROUNDS; i++) {
        int first = i & 1; /* the two take turns in going first */
        double x = turn(b, first ? p->bare : p->library);
        double y = turn(b, first ? p->library : p->bare);
        if (x < 0 || y < 0)
            return check(GRIDDEP_ERROR_DRIVER, p->what);
        if (i < 0)
            continue;
        bare_times[i] = (first ? x : y) / p->calls;
        library_times[i] = (first ? y : x) / p->calls;
        ratios[i] = library_times[i] / bare_times[i];
    }
    printf("%-55s %8.0f ns  %8.0f ns %s  ratio %.3f\n", p->what, median(bare_times, ROUNDS),
           median(library_times, ROUNDS), p->unit, median(ratios, ROUNDS));
    return 1;
}

/* The shelf's largest kernel, loaded by the driver's compiler and out of the warm cache, in turns. */
static int measure_load(const bench *b)
{
    double jit[LOADS], cached[LOADS];
    griddep_shelf_info info = {.size = sizeof info};
    griddep_module_info module_info = {.size = sizeof module_info};

    if (!check(griddep_shelf_find("matvec_bf16", 90, &info, &error), "shelf"))
        return 0;
    for (int i = -1; i < LOADS; i++) {
        gd_CUmodule bare_module = NULL;
        griddep_module *module = NULL;
        double start = now();
        if (b->driver->cuModuleLoadData(&bare_module, info.text) != GD_CUDA_SUCCESS)
            return check(GRIDDEP_ERROR_DRIVER, "cuModuleLoadData");
        double middle = now();
        if (!check(griddep_module_load(b->runtime, info.text, info.bytes, NULL, &module, &error),
                   "griddep_module_load"))
            return 0;
        double end = now();
        griddep_module_get_info(module, &module_info, NULL);
        griddep_module_unload(module);
        b->driver->cuModuleUnload(bare_module);
        if (i >= 0 && !module_info.from_cache)
            return check(GRIDDEP_ERROR_FILE, "the code cache did not serve a warm load");
        if (i >= 0) {
            jit[i] = middle - start;
            cached[i] = end - middle;
        }
    }
    double slow = median(jit, LOADS), fast = median(cached, LOADS);
    printf("%-55s %8.2f ms  %8.2f ms a load    ratio %.3f\n",
           "griddep_module_load, warm cache / driver's JIT (matvec_bf16)", slow / 1e6, fast / 1e6, fast / slow);
    return 1;
}

/* ---- setting up ---- */

static int add_launches(griddep_chain *chain, griddep_kernel *kernel)
{
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};

    for (int i = 0; i < CHAIN; i++) {
        if (!check(griddep_chain_add(chain, kernel, &config, arguments, 4, &error), "griddep_chain_add"))
            return 0;
    }
    return 1;
}

static int capture_by_hand(bench *b)
{
    gd_CUgraph graph = NULL;
    int good = b->driver->cuStreamBeginCapture(b->stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED) == GD_CUDA_SUCCESS &&
               bare_chain(b) && b->driver->cuStreamEndCapture(b->stream, &graph) == GD_CUDA_SUCCESS &&
               b->driver->cuGraphInstantiateWithFlags(&b->hand_made, graph, 0) == GD_CUDA_SUCCESS;

    if (graph)
        b->driver->cuGraphDestroy(graph);
    return good || check(GRIDDEP_ERROR_DRIVER, "a graph made by hand");
}

/* The bare calls need the runtime's context to be current. */
static int set_up(bench *b, const char *path, void *context)
{
    griddep_kernel_info info = {.size = sizeof info};

    if (!check(gd_driver_open(path, &b->driver, &error), "driver") ||
        !check(griddep_module_load(b->runtime, ptx, sizeof ptx, NULL, &b->module, &error), "module") ||
        !check(
            griddep_module_load(b->runtime, conditions_ptx, sizeof conditions_ptx, NULL, &b->conditions_module, &error),
            "module") ||
        !check(griddep_module_load(b->runtime, overlap_ptx, sizeof overlap_ptx, NULL, &b->overlap_module, &error),
               "module") ||
        !check(griddep_kernel_get(b->conditions_module, "plain", &b->conditions, &error), "kernel") ||
        !check(griddep_kernel_get(b->overlap_module, "plain", &b->overlap, &error), "kernel") ||
        !check(griddep_kernel_get(b->module, "plain", &b->plain, &error), "kernel") ||
        !check(griddep_kernel_get(b->module, "waiting", &b->waiting, &error), "kernel") ||
        !check(griddep_stream_create(b->runtime, &b->stream, &error), "stream") ||
        !check(griddep_chain_create(b->runtime, &b->overlapped, &error), "chain"))
        return 0;
    griddep_kernel_get_info(b->plain, &info, NULL);
    b->plain_function = info.function;
    griddep_kernel_get_info(b->waiting, &info, NULL);
    b->waiting_function = info.function;
    return add_launches(b->overlapped, b->waiting) && b->driver->cuCtxSetCurrent(context) == GD_CUDA_SUCCESS &&
           capture_by_hand(b);
}

static void tear_down(bench *b)
{
    if (b->hand_made)
        b->driver->cuGraphExecDestroy(b->hand_made);
    griddep_chain_destroy(b->overlapped);
    if (b->stream)
        griddep_stream_destroy(b->runtime, b->stream, NULL);
    griddep_module_unload(b->module);
    griddep_module_unload(b->conditions_module);
    griddep_module_unload(b->overlap_module);
    gd_driver_close(b->driver);
    griddep_runtime_close(b->runtime);
}

int main(void)
{
    bench b = {0};
    griddep_runtime_info info = {.size = sizeof info};
    int good;

    setenv("GRIDDEP_DRIVER", "nvidia", 0); /* of the emulated driver nothing is to be timed */
    setenv("CUDA_CACHE_DISABLE", "1", 1);  /* the driver's own cache would stand in for its JIT */
    griddep_error_init(&error);
    int32_t status = griddep_runtime_open(NULL, &b.runtime, &error);
    if (status == GRIDDEP_ERROR_NO_DRIVER) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    if (!check(status, "griddep_runtime_open"))
        return 1;
    griddep_runtime_get_info(b.runtime, &info, NULL);
    good = set_up(&b, info.driver, info.context);
    printf("%s, driver API %d.%d; bare driver, then library, host time, medians of %d turns\n", info.device_name,
           info.driver_version / 1000, info.driver_version % 1000 / 10, ROUNDS);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && good; i++)
        good = measure(&b, &pairs[i]);
    good = good && measure_load(&b);
    tear_down(&b);
    return good ? 0 : 1;
}
