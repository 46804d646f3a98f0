/* bench/suites launch: what a launch costs on the host, through the library and by the bare driver
 * call, alone, in a chain and as a graph; and what other arguments cost there: a node's, or a whole
 * set of them, swapped between two executable graphs or node by node.
 * Host time of launches, in bursts that fit the driver's launch queue, with the device idle before
 * each; the library and the bare call take turns in going first. The bare call is taken from the
 * driver library by its name, with the two structs that it needs. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/suites.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

enum { BURST = 200, CHAIN = 64, WARM_UP = 10, ARGUMENTS = 4, EARLY_START = 6, RELAXED = 2 };

/* Nanoseconds of a call. */
typedef struct way {
    const char *name;
    gd_spread library, bare, ratio; /* ratio: library / bare, of neighbours in time */
} way;

/* CUlaunchAttribute and CUlaunchConfig of cuda.h, x86-64 and aarch64. */
typedef struct bare_attribute {
    int32_t id, padding;
    int32_t value[16];
} bare_attribute;

typedef struct bare_config {
    uint32_t grid[3], block[3], shared_bytes, padding;
    void *stream;
    bare_attribute *attributes;
    uint32_t attribute_count, tail;
} bare_config;

_Static_assert(sizeof(bare_attribute) == 72 && sizeof(bare_config) == 56, "as in cuda.h");

typedef int (*bare_resolve)(const char *symbol, void **function, int version, uint64_t flags,
                            int *found);
typedef int (*bare_launch)(const bare_config *config, void *function, void **parameters,
                           void **extra);
typedef int (*bare_set_current)(void *context);
typedef int (*bare_begin)(void *stream, int mode);
typedef int (*bare_end)(void *stream, void **graph);
typedef int (*bare_instantiate)(void **executable, void *graph, uint64_t flags);
typedef int (*bare_run)(void *executable, void *stream);
typedef int (*bare_destroy)(void *object);
typedef int (*bare_nodes)(void *graph, void **nodes, size_t *count);

/* CUDA_KERNEL_NODE_PARAMS_v2. */
typedef struct bare_params {
    void *function;
    uint32_t grid[3], block[3], shared_bytes, padding;
    void **parameters, **extra;
    void *kernel, *context;
} bare_params;

_Static_assert(sizeof(bare_params) == 72, "as in cuda.h");

typedef int (*bare_set)(void *executable, void *node, const bare_params *params);

/* What of the driver is called bare, with the API version of its signature. */
#define BARE_ENTRIES(entry)                                                                        \
    entry(bare_launch, launch, "cuLaunchKernelEx", 11060);                                         \
    entry(bare_set_current, set_current, "cuCtxSetCurrent", 4000);                                 \
    entry(bare_begin, begin_capture, "cuStreamBeginCapture", 10010);                               \
    entry(bare_end, end_capture, "cuStreamEndCapture", 10000);                                     \
    entry(bare_instantiate, instantiate, "cuGraphInstantiateWithFlags", 11040);                    \
    entry(bare_nodes, get_nodes, "cuGraphGetNodes", 10000);                                        \
    entry(bare_set, set_params, "cuGraphExecKernelNodeSetParams", 12000);                          \
    entry(bare_run, run_graph, "cuGraphLaunch", 10000);                                            \
    entry(bare_destroy, destroy_graph, "cuGraphDestroy", 10000);                                   \
    entry(bare_destroy, destroy_executable, "cuGraphExecDestroy", 10000)

typedef struct bare_driver {
#define ENTRY(type, name, symbol, version) type name
    BARE_ENTRIES(ENTRY);
#undef ENTRY
} bare_driver;

/* A module with entries that do nothing. */
#define ENTRIES                                                                                    \
    ".version 8.0\n"                                                                               \
    ".target sm_90\n"                                                                              \
    ".address_size 64\n"                                                                           \
    ".visible .entry plain(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"          \
    "{\n"                                                                                          \
    "    ret;\n"                                                                                   \
    "}\n"                                                                                          \
    ".visible .entry waiting(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"        \
    "{\n"                                                                                          \
    "    griddepcontrol.launch_dependents;\n"                                                      \
    "    griddepcontrol.wait;\n"                                                                   \
    "    ret;\n"                                                                                   \
    "}\n"

/* Eight conditions, as matrix products have them; and one on overlap, which asks for extents. */
#define CONDITIONS                                                                                 \
    "// requires:\n"                                                                               \
    "//   n >= 1\n"                                                                                \
    "//   n < 2^30\n"                                                                              \
    "//   a % 16 == 0\n"                                                                           \
    "//   b % 16 == 0\n"                                                                           \
    "//   c % 4 == 0\n"                                                                            \
    "//   block.x % 32 == 0\n"                                                                     \
    "//   block.y == 1 && block.z == 1\n"                                                          \
    "//   grid.y == 1 && grid.z == 1\n"
#define OVERLAP                                                                                    \
    "//   apart(c, a, b)\n"                                                                        \
    "// extent:\n"                                                                                 \
    "//   a: f32[n]\n"                                                                             \
    "//   b: f32[n]\n"                                                                             \
    "//   c: f32[n]\n"

static const char plain_text[] = ENTRIES, conditions_text[] = CONDITIONS ENTRIES;
static const char overlap_text[] = CONDITIONS OVERLAP ENTRIES;

static const griddep_argument arguments[ARGUMENTS] = {{.bytes = 8, .value = 256},
                                                      {.bytes = 8, .value = 512},
                                                      {.bytes = 8, .value = 768},
                                                      {.bytes = 4, .value = 7}};

typedef struct launcher {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *kernel;
    griddep_chain *chain; /* CHAIN launches of the kernel */
    void *function, *stream, *library;
    void *graph, *nodes[CHAIN], *executable; /* the chain by bare calls */
    uint32_t turn, bare_turn;                /* of two sets of arguments */
    bare_driver driver;
    bool early;
    griddep_error error;
} launcher;

/* What is measured: `calls` of each in a burst. */
typedef struct launch_case {
    const char *name, *text;
    bool early;
    int calls;
    bool (*library)(launcher *with);
    bool (*bare)(launcher *with, int calls);
} launch_case;

/* ---- one burst ---- */

static bool burst_bare(launcher *with, int calls)
{
    uint64_t a = 256, b = 512, c = 768;
    uint32_t n = 7;
    for (int i = 0; i < calls; i++) {
        void *parameters[] = {&a, &b, &c, &n};
        bare_attribute attribute = {.id = EARLY_START, .value = {1}};
        bare_config config = {.grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .stream = with->stream,
                              .attributes = &attribute,
                              .attribute_count = with->early};
        if (with->driver.launch(&config, with->function, parameters, NULL) != 0)
            return false;
    }
    return true;
}

static bool burst_library(launcher *with)
{
    const griddep_launch_config config = {
        .size = sizeof(config), .grid = {1}, .block = {32}, .stream = with->stream};
    int32_t status = GRIDDEP_OK;
    for (int i = 0; i < BURST && status == GRIDDEP_OK; i++)
        status = griddep_launch(with->kernel, &config, arguments, ARGUMENTS, NULL, &with->error);
    return status == GRIDDEP_OK;
}

static bool burst_packed(launcher *with)
{
    const griddep_launch_config config = {
        .size = sizeof(config), .grid = {1}, .block = {32}, .stream = with->stream};
    const struct {
        uint64_t a, b, c;
        uint32_t n;
    } packed = {256, 512, 768, 7};
    int32_t status = GRIDDEP_OK;
    for (int i = 0; i < BURST && status == GRIDDEP_OK; i++)
        status = griddep_launch_packed(with->kernel, &config, &packed, 28, NULL, &with->error);
    return status == GRIDDEP_OK;
}

static bool run_chain(launcher *with)
{
    return griddep_chain_run(with->chain, GRIDDEP_MODE_PDL, with->stream, &with->error) ==
           GRIDDEP_OK;
}

static bool run_graph(launcher *with)
{
    return griddep_chain_run(with->chain, GRIDDEP_MODE_GRAPH_PDL, with->stream, &with->error) ==
           GRIDDEP_OK;
}

static bool run_bare_graph(launcher *with, int calls)
{
    (void)calls;
    return with->driver.run_graph(with->executable, with->stream) == 0;
}

/* The addresses are other ones in each turn: the library does not tell the driver of the same
 * again. */
static bool set_arguments(launcher *with)
{
    griddep_argument turned[ARGUMENTS];
    int32_t status = GRIDDEP_OK;
    memcpy(turned, arguments, sizeof(turned));
    with->turn = !with->turn;
    for (uint32_t i = 0; i < 3; i++)
        turned[i].value += 1024 * with->turn;
    for (uint32_t i = 0; i < CHAIN && status == GRIDDEP_OK; i++)
        status = griddep_chain_set_arguments(with->chain, i, turned, ARGUMENTS, &with->error);
    return status == GRIDDEP_OK;
}

static bool set_bare_params(launcher *with, int calls)
{
    with->bare_turn = !with->bare_turn;
    uint64_t a = 256 + 1024 * with->bare_turn, b = a + 256, c = b + 256;
    uint32_t n = 7;
    void *parameters[] = {&a, &b, &c, &n};
    const bare_params params = {.function = with->function,
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .parameters = parameters};
    int result = 0;
    (void)calls;
    for (int i = 0; i < CHAIN && result == 0; i++)
        result = with->driver.set_params(with->executable, with->nodes[i], &params);
    return result == 0;
}

/* The second set was made when the chain was built. */
static bool swap_sets(launcher *with)
{
    with->turn = !with->turn;
    return griddep_chain_select_argument_set(with->chain, with->turn, &with->error) == GRIDDEP_OK &&
           run_graph(with);
}

static bool swap_arguments(launcher *with)
{
    return set_arguments(with) && run_graph(with);
}

static bool swap_bare_params(launcher *with, int calls)
{
    return set_bare_params(with, calls) && run_bare_graph(with, calls);
}

static const launch_case cases[] = {
    {"griddep_launch", plain_text, false, BURST, burst_library, burst_bare},
    {"griddep_launch, 8 conditions", conditions_text, false, BURST, burst_library, burst_bare},
    {"griddep_launch, and one on overlap", overlap_text, false, BURST, burst_library, burst_bare},
    {"griddep_launch, early start", plain_text, true, BURST, burst_library, burst_bare},
    {"griddep_launch_packed", plain_text, false, BURST, burst_packed, burst_bare},
    {"a launch of a chain, pdl", plain_text, true, CHAIN, run_chain, burst_bare},
    {"a graph of 64, graph-pdl", plain_text, true, 1, run_graph, run_bare_graph},
    {"arguments of a launch of it", plain_text, true, CHAIN, set_arguments, set_bare_params},
    {"arguments, 8 conditions", conditions_text, true, CHAIN, set_arguments, set_bare_params},
    {"another set, and its run", plain_text, true, 1, swap_sets, run_bare_graph},
    {"arguments of all 64, and a run", plain_text, true, 1, swap_arguments, swap_bare_params},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static double elapsed(const struct timespec *start)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start->tv_sec) * 1e9 + (double)(end.tv_nsec - start->tv_nsec);
}

/* Host nanoseconds of a call; below 0 where one failed. */
static double time_burst(launcher *with, const launch_case *item, bool bare)
{
    struct timespec start;
    if (griddep_stream_synchronize(with->runtime, with->stream, &with->error) != GRIDDEP_OK)
        return -1.0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    bool done = bare ? item->bare(with, item->calls) : item->library(with);
    double time = elapsed(&start);
    return done ? time / item->calls : -1.0;
}

/* ---- samples ---- */

static int report_launch_error(const launcher *with)
{
    if (with->error.status != GRIDDEP_OK)
        return gd_message_library_as(GD_EXIT_REFUSED, &with->error, "timing launches");
    return gd_message_error(GD_EXIT_REFUSED, "timing launches: a bare call of the driver failed");
}

static int measure_bursts(launcher *with, const launch_case *item, uint32_t samples, way *result)
{
    double *library = gd_heap_take(samples, sizeof(double)),
           *bare = gd_heap_take(samples, sizeof(double));
    double *ratios = gd_heap_take(samples, sizeof(double));
    int code = 0;
    for (uint32_t i = 0; i < samples + WARM_UP && code == 0; i++) {
        double first = time_burst(with, item, i % 2 == 0),
               second = time_burst(with, item, i % 2 != 0);
        uint32_t at = i < WARM_UP ? 0 : i - WARM_UP;
        if (first < 0.0 || second < 0.0)
            code = report_launch_error(with);
        bare[at] = i % 2 == 0 ? first : second;
        library[at] = i % 2 == 0 ? second : first;
        ratios[at] = bare[at] > 0.0 ? library[at] / bare[at] : 1.0;
    }
    result->library = gd_statistics_spread(library, samples);
    result->bare = gd_statistics_spread(bare, samples);
    result->ratio = gd_statistics_spread(ratios, samples);
    free(library);
    free(bare);
    free(ratios);
    return code;
}

/* ---- setting up ---- */

/* At the API version whose signature is used here. */
static void *resolve(const launcher *with, const char *symbol, int version)
{
    void *found = dlsym(with->library, "cuGetProcAddress_v2"), *function = NULL;
    bare_resolve get = NULL;
    int status = 0;
    memcpy(&get, &found, sizeof(get));
    return get != NULL && get(symbol, &function, version, 0, &status) == 0 ? function : NULL;
}

/* The bare calls need the runtime's context to be current on this thread. */
static int open_driver(launcher *with)
{
    griddep_runtime_info info = {.size = sizeof(info)};
    bare_driver *driver = &with->driver;
    bool whole = true;
    griddep_runtime_get_info(with->runtime, &info, NULL);
    with->library = dlopen(info.driver, RTLD_NOW | RTLD_LOCAL);
    if (with->library == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "%s cannot be opened a second time: %s",
                                info.driver, dlerror());
#define TAKE(type, name, symbol, version)                                                          \
    do {                                                                                           \
        void *found = resolve(with, symbol, version);                                              \
        memcpy(&driver->name, &found, sizeof(driver->name));                                       \
        whole = whole && found != NULL;                                                            \
    } while (0)
    BARE_ENTRIES(TAKE);
#undef TAKE
    if (!whole || driver->set_current(info.context) != 0)
        return gd_message_error(GD_EXIT_REFUSED, "%s lacks entry points to compare with",
                                info.driver);
    return 0;
}

/* The chain of a case, and the same launches captured by hand. */
static int build_chain(launcher *with)
{
    const griddep_launch_config config = {.size = sizeof(config), .grid = {1}, .block = {32}};
    const bare_driver *driver = &with->driver;
    size_t count = CHAIN;
    uint32_t set = 0;
    int32_t status = griddep_chain_create(with->runtime, &with->chain, &with->error);
    for (int i = 0; i < CHAIN && status == GRIDDEP_OK; i++)
        status = griddep_chain_add(with->chain, with->kernel, &config, arguments, ARGUMENTS,
                                   &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_prepare(with->chain, GRIDDEP_MODE_GRAPH_PDL, &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_add_argument_set(with->chain, &set, &with->error);
    bool captured = status == GRIDDEP_OK && driver->begin_capture(with->stream, RELAXED) == 0 &&
                    burst_bare(with, CHAIN) &&
                    driver->end_capture(with->stream, &with->graph) == 0 &&
                    driver->get_nodes(with->graph, with->nodes, &count) == 0 && count == CHAIN &&
                    driver->instantiate(&with->executable, with->graph, 0) == 0;
    return captured ? 0 : report_launch_error(with);
}

static void free_chain(launcher *with)
{
    if (with->executable != NULL)
        with->driver.destroy_executable(with->executable);
    if (with->graph != NULL)
        with->driver.destroy_graph(with->graph);
    griddep_chain_destroy(with->chain);
    with->executable = with->graph = NULL;
    with->turn = 0;
    with->chain = NULL;
}

static int set_up(launcher *with)
{
    int32_t status = griddep_stream_create(with->runtime, NULL, &with->stream, &with->error);
    return status == GRIDDEP_OK ? open_driver(with) : report_launch_error(with);
}

static int load_case(launcher *with, const launch_case *item)
{
    griddep_kernel_info info = {.size = sizeof(info)};
    int32_t status = griddep_module_load(with->runtime, item->text, strlen(item->text), NULL,
                                         &with->module, &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_module_find_kernel(with->module, item->early ? "waiting" : "plain",
                                            &with->kernel, &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_kernel_get_info(with->kernel, &info, &with->error);
    with->function = info.function;
    with->early = item->early;
    return status == GRIDDEP_OK ? 0 : report_launch_error(with);
}

static int measure_case(launcher *with, const launch_case *item, uint32_t samples, way *result)
{
    int code = load_case(with, item);
    result->name = item->name;
    if (code == 0 && item->calls != BURST)
        code = build_chain(with);
    if (code == 0)
        code = measure_bursts(with, item, samples, result);
    free_chain(with);
    griddep_module_unload(with->module);
    with->module = NULL;
    return code;
}

static int measure(const gd_bench *bench, void **results)
{
    launcher with = {.runtime = bench->runtime};
    way *ways = *results = gd_heap_take(CASES, sizeof(*ways));
    griddep_error_init(&with.error);
    gd_progress_show("launch overhead");
    int code = set_up(&with);
    for (uint32_t i = 0; i < CASES && code == 0; i++)
        code = measure_case(&with, &cases[i], 7 * bench->samples, &ways[i]);
    if (with.stream != NULL)
        griddep_stream_destroy(bench->runtime, with.stream, NULL);
    if (with.library != NULL)
        dlclose(with.library);
    return code;
}

/* ---- telling ---- */

static void print(const gd_bench *bench, const void *results)
{
    const way *ways = results;
    gd_columns columns = {.column_count = 5, .left = 1, .titled = true};
    static const char *const titles[] = {"launch", "library ns", "bare ns", "ratio", "middle 80 %"};
    (void)bench;
    for (size_t i = 0; i < 5; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (size_t i = 0; i < CASES; i++) {
        gd_columns_add(&columns, "%s", ways[i].name);
        gd_columns_add(&columns, "%.0f", ways[i].library.median);
        gd_columns_add(&columns, "%.0f", ways[i].bare.median);
        gd_columns_add(&columns, "%.3f", ways[i].ratio.median);
        gd_columns_add(&columns, "%.3f to %.3f", ways[i].ratio.low, ways[i].ratio.high);
    }
    puts("");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static json_t *make_json(const gd_bench *bench, const void *results)
{
    const way *ways = results;
    json_t *array = json_array();
    (void)bench;
    for (size_t i = 0; i < CASES; i++) {
        json_t *object = json_object();
        gd_output_set(object, "name", gd_output_string(ways[i].name));
        gd_output_set(object, "library_ns", gd_bench_spread_json(&ways[i].library));
        gd_output_set(object, "bare_ns", gd_bench_spread_json(&ways[i].bare));
        gd_output_set(object, "ratio", gd_bench_spread_json(&ways[i].ratio));
        gd_output_append(array, object);
    }
    return array;
}

const gd_bench_suite suite_launch = {"launch", "launch", measure, print, make_json, free};
