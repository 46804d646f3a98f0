/* griddep bench launch: what a launch costs on the host, through the library and by the bare driver call.
 * Host time of launches, in bursts that fit the driver's launch queue, with the device idle before each; the library
 * and the bare call take turns in going first. The bare call is taken from the driver library by its name, with the two
 * structs that it needs. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/bench.h"
#include "cli/heap.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/progress.h"

enum { BURST = 200, WARM_UP = 10, ARGUMENTS = 4, EARLY_START = 6, WAYS = 3 };

/* Nanoseconds of a call. */
typedef struct way {
    const char *name;
    gd_bench_spread library, bare, ratio; /* ratio: library / bare, of neighbours in time */
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

typedef int (*bare_resolve)(const char *symbol, void **function, int version, uint64_t flags, int *found);
typedef int (*bare_launch)(const bare_config *config, void *function, void **parameters, void **extra);
typedef int (*bare_set_current)(void *context);

static const char ptx[] = ".version 8.0\n"
                          ".target sm_90\n"
                          ".address_size 64\n"
                          ".visible .entry plain(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
                          "{\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry waiting(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
                          "{\n"
                          "    griddepcontrol.launch_dependents;\n"
                          "    griddepcontrol.wait;\n"
                          "    ret;\n"
                          "}\n";

static const griddep_argument arguments[ARGUMENTS] = {{.bytes = 8, .value = 256},
                                                      {.bytes = 8, .value = 512},
                                                      {.bytes = 8, .value = 768},
                                                      {.bytes = 4, .value = 7}};

typedef struct launcher {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_kernel *kernel;
    void *function, *stream, *library;
    bare_launch launch;
    bool early, packed;
    griddep_error error;
} launcher;

/* ---- one burst ---- */

static bool burst_bare(launcher *with)
{
    uint64_t a = 256, b = 512, c = 768;
    uint32_t n = 7;
    for (int i = 0; i < BURST; i++) {
        void *parameters[] = {&a, &b, &c, &n};
        bare_attribute attribute = {.id = EARLY_START, .value = {1}};
        bare_config config = {.grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .stream = with->stream,
                              .attributes = &attribute,
                              .attribute_count = with->early};
        if (with->launch(&config, with->function, parameters, NULL) != 0)
            return false;
    }
    return true;
}

static bool burst_library(launcher *with)
{
    const griddep_launch_config config = {.size = sizeof(config), .grid = {1}, .block = {32}, .stream = with->stream};
    const struct {
        uint64_t a, b, c;
        uint32_t n;
    } packed = {256, 512, 768, 7};
    int32_t status = GRIDDEP_OK;
    for (int i = 0; i < BURST && status == GRIDDEP_OK; i++)
        status = with->packed ? griddep_launch_packed(with->kernel, &config, &packed, 28, NULL, &with->error)
                              : griddep_launch(with->kernel, &config, arguments, ARGUMENTS, NULL, &with->error);
    return status == GRIDDEP_OK;
}

/* Host nanoseconds of a call; below 0 where one failed. */
static double time_burst(launcher *with, bool bare)
{
    struct timespec start, end;
    if (griddep_stream_synchronize(with->runtime, with->stream, &with->error) != GRIDDEP_OK)
        return -1.0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    bool done = bare ? burst_bare(with) : burst_library(with);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double elapsed = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    return done ? elapsed / BURST : -1.0;
}

/* ---- samples ---- */

static int fail(const launcher *with)
{
    if (with->error.status != GRIDDEP_OK)
        return gd_message_library_as(GD_EXIT_REFUSED, &with->error, "timing launches");
    return gd_message_error(GD_EXIT_REFUSED, "timing launches: cuLaunchKernelEx failed");
}

static int measure_bursts(launcher *with, uint32_t samples, way *result)
{
    double *library = gd_heap_take(samples, sizeof(double)), *bare = gd_heap_take(samples, sizeof(double));
    double *ratios = gd_heap_take(samples, sizeof(double));
    int code = 0;
    for (uint32_t i = 0; i < samples + WARM_UP && code == 0; i++) {
        double first = time_burst(with, i % 2 == 0), second = time_burst(with, i % 2 != 0);
        uint32_t at = i < WARM_UP ? 0 : i - WARM_UP;
        if (first < 0.0 || second < 0.0)
            code = fail(with);
        bare[at] = i % 2 == 0 ? first : second;
        library[at] = i % 2 == 0 ? second : first;
        ratios[at] = bare[at] > 0.0 ? library[at] / bare[at] : 1.0;
    }
    result->library = gd_bench_spread_of(library, samples);
    result->bare = gd_bench_spread_of(bare, samples);
    result->ratio = gd_bench_spread_of(ratios, samples);
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
    bare_set_current set_current = NULL;
    griddep_runtime_get_info(with->runtime, &info, NULL);
    with->library = dlopen(info.driver, RTLD_NOW | RTLD_LOCAL);
    if (with->library == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "%s cannot be opened a second time: %s", info.driver, dlerror());
    void *launch = resolve(with, "cuLaunchKernelEx", 11060), *current = resolve(with, "cuCtxSetCurrent", 4000);
    memcpy(&with->launch, &launch, sizeof(with->launch));
    memcpy(&set_current, &current, sizeof(set_current));
    if (launch == NULL || current == NULL || set_current(info.context) != 0)
        return gd_message_error(GD_EXIT_REFUSED, "%s has no cuLaunchKernelEx to compare with", info.driver);
    return 0;
}

static int set_up(launcher *with)
{
    int32_t status = griddep_module_load(with->runtime, ptx, strlen(ptx), NULL, &with->module, &with->error);
    if (status == GRIDDEP_OK)
        status = griddep_stream_create(with->runtime, &with->stream, &with->error);
    return status == GRIDDEP_OK ? open_driver(with) : fail(with);
}

static int measure_kernel(launcher *with, const char *name, uint32_t samples, way *result)
{
    griddep_kernel_info info = {.size = sizeof(info)};
    if (griddep_kernel_get(with->module, name, &with->kernel, &with->error) != GRIDDEP_OK ||
        griddep_kernel_get_info(with->kernel, &info, &with->error) != GRIDDEP_OK)
        return fail(with);
    with->function = info.function;
    return measure_bursts(with, samples, result);
}

static int measure(const gd_bench *bench, void **results)
{
    static const char *const names[] = {"griddep_launch", "griddep_launch, early start", "griddep_launch_packed"};
    launcher with = {.runtime = bench->runtime};
    way *ways = *results = gd_heap_take(WAYS, sizeof(*ways));
    griddep_error_init(&with.error);
    gd_progress_show("launch overhead");
    int code = set_up(&with);
    for (uint32_t i = 0; i < WAYS && code == 0; i++) {
        with.early = i == 1;
        with.packed = i == 2;
        ways[i].name = names[i];
        code = measure_kernel(&with, with.early ? "waiting" : "plain", 7 * bench->samples, &ways[i]);
    }
    if (with.stream != NULL)
        griddep_stream_destroy(bench->runtime, with.stream, NULL);
    griddep_module_unload(with.module);
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
    for (size_t i = 0; i < WAYS; i++) {
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
    for (size_t i = 0; i < WAYS; i++) {
        json_t *object = json_object();
        gd_output_set(object, "name", gd_output_string(ways[i].name));
        gd_output_set(object, "library_ns", gd_bench_spread_json(&ways[i].library));
        gd_output_set(object, "bare_ns", gd_bench_spread_json(&ways[i].bare));
        gd_output_set(object, "ratio", gd_bench_spread_json(&ways[i].ratio));
        gd_output_append(array, object);
    }
    return array;
}

const gd_bench_suite gd_bench_launch = {"launch", "launch", NULL, measure, print, make_json, free};
