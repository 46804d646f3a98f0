/* Opening and closing a runtime, its context, and what device and driver can do. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "run/capture.h"
#include "run/host.h"
#include "run/part.h"
#include "run/runtime.h"
#include "run/store.h"

enum {
    OPTIONS_MINIMUM = offsetof(griddep_runtime_options, multiprocessors),
    KNOWN_FLAGS = GRIDDEP_RUNTIME_DEVICE | GRIDDEP_RUNTIME_RESET | GRIDDEP_RUNTIME_REST,
    INFO_MINIMUM = sizeof(griddep_runtime_info)
};

static const char NVIDIA_DRIVER[] = "libcuda.so.1";

/* ---- options and environment ---- */

static int32_t read_kill_switch(bool *kill, griddep_error *error)
{
    const char *value = gd_environment("GRIDDEP_PDL");

    *kill = value && gd_word_is_off(value);
    if (!value || *kill || gd_word_is_on(value) || !strcmp(value, "auto"))
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ENVIRONMENT, "GRIDDEP_PDL is \"%s\"; it may be %s",
                        value, gd_environment_values("GRIDDEP_PDL"));
}

static int32_t read_log(gd_log *log, const griddep_runtime_options *options, griddep_error *error)
{
    const char *value = gd_environment("GRIDDEP_LOG");

    if (options->log_level < GRIDDEP_LOG_NONE || options->log_level > GRIDDEP_LOG_DEBUG)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "log_level is %" PRId32 "; it may be 0 to %d", options->log_level,
                            GRIDDEP_LOG_DEBUG);
    if (options->log_level && !options->log)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "log_level is %" PRId32
                            " and log is NULL; GRIDDEP_LOG in the environment makes the library "
                            "write to stderr",
                            options->log_level);
    if (options->log) {
        *log = (gd_log){options->log, options->log_user,
                        options->log_level ? options->log_level : GRIDDEP_LOG_WARNING};
        return GRIDDEP_OK;
    }
    int32_t level = value ? gd_log_level_find(value) : GRIDDEP_LOG_NONE;
    if (level < 0)
        return gd_error_set(error, GRIDDEP_ERROR_ENVIRONMENT, "GRIDDEP_LOG is \"%s\"; it may be %s",
                            value, gd_environment_values("GRIDDEP_LOG"));
    *log = (gd_log){level ? gd_log_stderr : NULL, NULL, level};
    return GRIDDEP_OK;
}

/* Whether the caller asks for a device of its own; else a context that is current decides. */
static bool names_device(const griddep_runtime_options *options)
{
    return options->device || options->multiprocessors ||
           options->flags & (GRIDDEP_RUNTIME_DEVICE | GRIDDEP_RUNTIME_RESET);
}

/* A misspelt variable would be a switch that somebody believes in and nobody reads. */
static int32_t check_environment(griddep_error *error)
{
    char text[512];

    return gd_environment_check(text, sizeof text)
               ? GRIDDEP_OK
               : gd_error_set(error, GRIDDEP_ERROR_ENVIRONMENT, "%s", text);
}

static int32_t read_options(griddep_runtime_options *options, const griddep_runtime_options *given,
                            griddep_error *error)
{
    static const griddep_runtime_options defaults = {.size = sizeof defaults};
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM,
                                    given ? given : &defaults, "griddep_runtime_options", error);

    if (status)
        return status;
    if (options->flags & ~(uint32_t)KNOWN_FLAGS || options->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "griddep_runtime_options has unknown flags, or reserved is not zero");
    if (options->pdl < GRIDDEP_PDL_DEFAULT || options->pdl > GRIDDEP_PDL_FORCE)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "pdl is %" PRId32 ", which is no GRIDDEP_PDL_*", options->pdl);
    if (options->context && names_device(options))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "a context and a device are given; a context has its device already");
    if (!options->multiprocessors && (options->part || options->flags & GRIDDEP_RUNTIME_REST))
        return gd_error_set(
            error, GRIDDEP_ERROR_ARGUMENT,
            "a part of a device is asked for; multiprocessors says how many it has");
    if (options->flags & GRIDDEP_RUNTIME_REST && !options->part)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "GRIDDEP_RUNTIME_REST with part 0 is the whole device");
    return GRIDDEP_OK;
}

/* The emulated driver: beside this library, where both were installed together, else where the
 * loader finds it. */
static void add_emulator_path(gd_text *path)
{
    static const char name[] = "libgriddep-emulator.so.0";
    static const char here = 0;
    Dl_info library;

    if (dladdr(&here, &library) && library.dli_fname && strrchr(library.dli_fname, '/')) {
        gd_text_append(path, library.dli_fname,
                       (size_t)(strrchr(library.dli_fname, '/') + 1 - library.dli_fname));
        gd_text_string(path, name);
        if (!path->failed && !access(path->data, R_OK))
            return;
        path->bytes = 0;
    }
    gd_text_string(path, name);
}

/* Whether a failure to open the NVIDIA driver means that there is none for this machine, and not
 * that it is broken. */
static bool has_no_nvidia(int32_t status, const griddep_error *error)
{
    return status == GRIDDEP_ERROR_NO_DRIVER && (error->driver_code == GD_CUDA_SUCCESS ||
                                                 error->driver_code == GD_CUDA_ERROR_NO_DEVICE ||
                                                 error->driver_code == GD_CUDA_ERROR_STUB_LIBRARY);
}

static int32_t open_emulated(gd_driver **driver, griddep_error *error)
{
    gd_text path = {0};

    add_emulator_path(&path);
    int32_t status =
        path.failed ? gd_error_memory(error) : gd_driver_open(path.data, driver, error);
    gd_text_free(&path);
    return status;
}

/* The NVIDIA driver where there is one with a device, else the emulated one; *fallback says then
 * why. */
static int32_t open_automatic(gd_driver **driver, char **fallback, griddep_error *error)
{
    griddep_error nvidia, emulated;

    griddep_error_init(&nvidia);
    griddep_error_init(&emulated);
    int32_t status = gd_driver_open(NVIDIA_DRIVER, driver, &nvidia);
    if (!status)
        return status;
    if (!has_no_nvidia(status, &nvidia)) {
        gd_error_set(error, status, "%s", nvidia.text);
    } else {
        status = open_emulated(driver, &emulated);
        if (!status && !(*fallback = strdup(nvidia.text))) {
            gd_driver_close(*driver);
            return gd_error_memory(error);
        }
        if (!status)
            return status;
        gd_error_set(error, status, "%s; the emulated driver cannot be opened either: %s",
                     nvidia.text, emulated.text);
    }
    if (error)
        error->driver_code = nvidia.driver_code;
    return status;
}

/* *fallback, to free, is set where the choice was auto's and fell on the emulated driver. */
static int32_t open_driver(const char *name, gd_driver **driver, char **fallback,
                           griddep_error *error)
{
    bool from_environment = !name || !strcmp(name, "auto");

    if (from_environment)
        name = gd_environment("GRIDDEP_DRIVER");
    if (!name || !strcmp(name, "auto"))
        return open_automatic(driver, fallback, error);
    if (!strcmp(name, "nvidia"))
        return gd_driver_open(NVIDIA_DRIVER, driver, error);
    if (!strcmp(name, "emulated"))
        return open_emulated(driver, error);
    if (strchr(name, '/'))
        return gd_driver_open(name, driver, error);
    return gd_error_set(
        error, from_environment ? GRIDDEP_ERROR_ENVIRONMENT : GRIDDEP_ERROR_ARGUMENT,
        "%s is \"%s\"; it may be %s", from_environment ? "GRIDDEP_DRIVER" : "the driver option",
        name, gd_environment_values("GRIDDEP_DRIVER"));
}

static void add_number(gd_digest *key, uint64_t number)
{
    gd_digest_add(key, &number, sizeof number);
}

void gd_runtime_add_to_key(const griddep_runtime *runtime, gd_digest *key)
{
    const griddep_runtime_info *device = &runtime->info;

    gd_digest_add_string(key, griddep_version_text());
    gd_digest_add_string(key, runtime->driver->build);
    gd_digest_add_string(key, device->device_name);
    add_number(key, (uint64_t)device->capability);
    add_number(key, (uint64_t)device->multiprocessors);
    add_number(key, (uint64_t)device->driver_version);
    add_number(key, device->emulated);
}

int32_t gd_runtime_open_driver(const char *name, gd_driver **driver, griddep_error *error)
{
    char *fallback = NULL;
    int32_t status = open_driver(name, driver, &fallback, error);

    free(fallback);
    return status;
}

/* ---- context ---- */

static int32_t retain_primary(griddep_runtime *runtime, int32_t ordinal, griddep_error *error)
{
    int count = 0;
    gd_CUresult result = runtime->driver->cuDeviceGetCount(&count);

    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(runtime->driver, result, error, "the devices cannot be counted");
    if (count == 0)
        return gd_error_set(error, GRIDDEP_ERROR_NO_DRIVER, "the driver %s finds no device",
                            runtime->driver->path);
    if (ordinal < 0 || ordinal >= count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "device %" PRId32 " does not exist; there %s %d", ordinal,
                            count == 1 ? "is" : "are", count);
    result = runtime->driver->cuDeviceGet(&runtime->device, ordinal);
    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuDevicePrimaryCtxRetain(&runtime->context, runtime->device);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(runtime->driver, result, error, "device %" PRId32 " cannot be opened",
                              ordinal);
    runtime->primary = true;
    return GRIDDEP_OK;
}

/* An event can be made unless a fault has ended the context; that waits for nothing, and spoils no
 * capture. */
static int32_t check_alive(griddep_runtime *runtime, griddep_error *error)
{
    gd_CUevent event;
    bool pushed;
    int32_t status = gd_runtime_enter(runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuEventCreate(&event, GD_CU_EVENT_DISABLE_TIMING);
    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuEventDestroy(event);
    gd_runtime_leave(runtime, pushed);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(runtime->driver, result, error, "the context that is to be used");
}

/* A reset ends the context for all who retained it, and leaves them their retains; the next retain
 * makes a new one. */
static int32_t reset_primary(griddep_runtime *runtime, griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_CUcontext context;
    gd_CUresult result = driver->cuDevicePrimaryCtxReset(runtime->device);

    if (result == GD_CUDA_SUCCESS)
        result = driver->cuDevicePrimaryCtxRetain(&context, runtime->device);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "the reset of the device's primary context");
    driver->cuDevicePrimaryCtxRelease(runtime->device); /* there was a retain before */
    runtime->context = context;
    gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING,
                 "the primary context of device %d was lost to a fault, and was reset: what others "
                 "in this process had in it is gone",
                 (int)runtime->device);
    return check_alive(runtime, error);
}

/* A context that a fault has ended stays so until all who have it give it back. */
static int32_t revive(griddep_runtime *runtime, const griddep_runtime_options *options,
                      griddep_error *error)
{
    int32_t status = check_alive(runtime, error);

    if (status != GRIDDEP_ERROR_FAULT)
        return status;
    if (!runtime->primary) {
        gd_error_append(error, "; a fault has ended this context: give another one");
        return status;
    }
    if (options->flags & GRIDDEP_RUNTIME_RESET)
        return reset_primary(runtime, error);
    gd_error_append(error, "; a fault has ended the device's primary context, which others in this "
                           "process still hold: end them, or open with GRIDDEP_RUNTIME_RESET");
    return status;
}

static int32_t choose_context(griddep_runtime *runtime, const griddep_runtime_options *options,
                              griddep_error *error)
{
    gd_CUcontext context = options->context;
    bool pushed;

    if (!context && !names_device(options)) {
        gd_CUresult result = runtime->driver->cuCtxGetCurrent(&context);
        if (result != GD_CUDA_SUCCESS)
            return gd_driver_fail(runtime->driver, result, error,
                                  "the current context cannot be read");
    }
    if (!context)
        return retain_primary(runtime, options->device, error);
    runtime->context = context;
    int32_t status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuCtxGetDevice(&runtime->device);
    gd_runtime_leave(runtime, pushed);
    return result == GD_CUDA_SUCCESS ? GRIDDEP_OK
                                     : gd_driver_fail(runtime->driver, result, error,
                                                      "the context's device cannot be read");
}

/* ---- what there is ---- */

typedef struct device_query {
    int attribute;
    uint32_t *value;
} device_query;

/* A green context has a part of the multiprocessors; so may one under MPS. */
static uint32_t count_in_context(const griddep_runtime *runtime, uint32_t all)
{
    const gd_driver *driver = runtime->driver;
    gd_CUdevResource part = {0};

    if (!driver->cuCtxGetDevResource ||
        driver->cuCtxGetDevResource(runtime->context, &part, GD_CU_DEV_RESOURCE_TYPE_SM) !=
            GD_CUDA_SUCCESS)
        return all; /* before API 12.4 there are none */
    return part.sm.smCount && part.sm.smCount < all ? part.sm.smCount : all;
}

static int32_t query_device(griddep_runtime *runtime, griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    griddep_runtime_info *info = &runtime->info;
    gd_limits *limits = &runtime->limits;
    uint32_t major = 0, minor = 0, multiprocessors = 0, l2 = 0;
    const device_query queries[] = {
        {GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors},
        {GD_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
         &info->shared_bytes_per_multiprocessor},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &info->shared_bytes_per_block},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
         &info->registers_per_multiprocessor},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &info->threads_per_multiprocessor},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &info->blocks_per_multiprocessor},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits->threads_per_block},
        {GD_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &limits->reserved_shared},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &limits->grid[0]},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &limits->grid[1]},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &limits->grid[2]},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &limits->block[0]},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &limits->block[1]},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &limits->block[2]},
    };
    size_t memory = 0;

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        int value = 0;
        gd_CUresult result =
            driver->cuDeviceGetAttribute(&value, queries[i].attribute, runtime->device);
        if (result != GD_CUDA_SUCCESS)
            return gd_driver_fail(driver, result, error, "device attribute %d cannot be read",
                                  queries[i].attribute);
        *queries[i].value = value < 0 ? 0 : (uint32_t)value;
    }
    gd_CUresult result = driver->cuDeviceGetName(
        runtime->device_name, (int)sizeof runtime->device_name - 1, runtime->device);
    if (result == GD_CUDA_SUCCESS)
        result = driver->cuDeviceTotalMem(&memory, runtime->device);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "the device's name and memory cannot be read");
    info->capability = (int32_t)(10 * major + minor);
    info->multiprocessors = (int32_t)count_in_context(runtime, multiprocessors);
    info->l2_bytes = l2;
    info->memory_bytes = memory;
    return GRIDDEP_OK;
}

/* A driver that does not tell UUIDs is older than the emulated one. */
static int32_t query_emulated(const griddep_runtime *runtime, uint32_t *emulated,
                              griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_CUuuid uuid;

    *emulated = 0;
    if (!driver->cuDeviceGetUuid)
        return GRIDDEP_OK;
    gd_CUresult result = driver->cuDeviceGetUuid(&uuid, runtime->device);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "the device's UUID cannot be read");
    *emulated = !memcmp(uuid.bytes, GD_EMULATED_UUID, GD_EMULATED_UUID_BYTES);
    return GRIDDEP_OK;
}

static uint32_t find_features(const griddep_runtime *runtime)
{
    const gd_driver *driver = runtime->driver;
    int32_t version = driver->version;
    bool hopper = runtime->info.capability >= 90;
    uint32_t features = GRIDDEP_FEATURE_GRAPH;

    if (hopper && version >= 11080)
        features |= GRIDDEP_FEATURE_PDL | GRIDDEP_FEATURE_PROGRAMMATIC_EVENT;
    if (hopper)
        features |= GRIDDEP_FEATURE_CLUSTER;
    if (version >= 12030)
        features |= GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT;
    if (driver->cuGraphGetEdges && driver->cuGraphAddDependencies &&
        driver->cuGraphRemoveDependencies)
        features |= GRIDDEP_FEATURE_GRAPH_EDGES;
    if (driver->cuFuncGetParamInfo)
        features |= GRIDDEP_FEATURE_PARAMETER_INFO;
    if (gd_part_can(driver))
        features |= GRIDDEP_FEATURE_PARTS;
    return features;
}

static int32_t fill_info(griddep_runtime *runtime, griddep_error *error)
{
    griddep_runtime_info *info = &runtime->info;
    int32_t status = query_device(runtime, error);

    if (!status)
        status = query_emulated(runtime, &info->emulated, error);
    if (status)
        return status;
    info->size = sizeof *info;
    info->driver = runtime->driver->path;
    info->driver_version = runtime->driver->version;
    info->device_name = runtime->device_name;
    info->device = runtime->device;
    info->context = runtime->context;
    info->store_directory = runtime->store ? gd_store_directory(runtime->store) : "";
    info->pdl_disabled = runtime->kill_switch;
    info->features = find_features(runtime);
    runtime->has_pdl = info->capability >= 90 && info->features & GRIDDEP_FEATURE_PDL;
    info->fallback = "";
    return gd_driver_cache_find(&runtime->driver_cache, info, error);
}

/* ---- open and close ---- */

static int32_t prepare(griddep_runtime *runtime, const griddep_runtime_options *options,
                       griddep_error *error)
{
    const char *nvrtc = options->nvrtc ? options->nvrtc : gd_environment("GRIDDEP_NVRTC");
    int32_t status = read_log(&runtime->log, options, error);

    if (!status)
        status = read_kill_switch(&runtime->kill_switch, error);
    if (status)
        return status;
    runtime->pdl = options->pdl == GRIDDEP_PDL_DEFAULT ? GRIDDEP_PDL_AUTO : options->pdl;
    if (pthread_mutex_init(&runtime->mutex, NULL))
        return gd_error_memory(error);
    if (pthread_cond_init(&runtime->calls_over, NULL)) {
        pthread_mutex_destroy(&runtime->mutex);
        return gd_error_memory(error);
    }
    runtime->mutex_ready = true;
    if (nvrtc && !(runtime->nvrtc_path = strdup(nvrtc)))
        return gd_error_memory(error);
    status = choose_context(runtime, options, error);
    if (!status)
        status = revive(runtime, options, error);
    if (!status && options->multiprocessors)
        status = gd_part_open(runtime, options, error);
    if (!status)
        status = gd_store_open(options->store_directory, &runtime->log, &runtime->store, error);
    return status ? status : fill_info(runtime, error);
}

void gd_runtime_unload(const griddep_runtime *runtime, gd_loaded code)
{
    if (code.library)
        runtime->driver->cuLibraryUnload(code.library);
    else
        runtime->driver->cuModuleUnload(code.module);
}

/* Code that captured graphs may have used. */
static void unload_staying(griddep_runtime *runtime)
{
    gd_ending ending;

    if (!runtime->staying_count)
        return;
    gd_runtime_enter_to_end(runtime, &ending, NULL); /* failed or not, what is held is given back */
    for (uint32_t i = 0; i < runtime->staying_count; i++)
        gd_runtime_unload(runtime, runtime->staying[i]);
    gd_runtime_leave_ended(runtime, &ending);
}

/* Lanes that a capture has still. */
static void forget_later(griddep_runtime *runtime)
{
    for (gd_later *later = runtime->later, *next; later; later = next) {
        next = later->next;
        later->end(NULL, later);
    }
}

static void forget_timed_events(griddep_runtime *runtime)
{
    for (gd_timed_event *at = runtime->timed_events, *next; at; at = next) {
        next = at->next;
        free(at);
    }
}

static void release(griddep_runtime *runtime, bool abandoned)
{
    if (!abandoned)
        unload_staying(runtime);
    free(runtime->staying);
    forget_later(runtime);
    gd_nvrtc_close(runtime->nvrtc);
    gd_store_close(runtime->store);
    forget_timed_events(runtime);
    gd_capture_forget_all(runtime);
    free(runtime->nvrtc_path);
    free(runtime->fallback);
    gd_driver_cache_free(&runtime->driver_cache);
    if (runtime->green && !abandoned)
        runtime->driver->cuGreenCtxDestroy(runtime->green);
    if (runtime->primary && !abandoned)
        runtime->driver->cuDevicePrimaryCtxRelease(runtime->device);
    gd_driver_close(runtime->driver);
    if (runtime->mutex_ready) {
        pthread_cond_destroy(&runtime->calls_over);
        pthread_mutex_destroy(&runtime->mutex);
    }
    free(runtime);
}

int32_t gd_runtime_open_on(gd_driver *driver, const griddep_runtime_options *given,
                           griddep_runtime **runtime, griddep_error *error)
{
    griddep_runtime_options options;
    griddep_runtime *opened = calloc(1, sizeof *opened);

    if (!opened) {
        gd_driver_close(driver);
        return gd_error_memory(error);
    }
    opened->driver = driver;
    atomic_init(&opened->references, 1u);
    atomic_init(&opened->pending, false);
    opened->users = 1;
    int32_t status = read_options(&options, given, error);
    if (!status)
        status = prepare(opened, &options, error);
    if (status) {
        release(opened, false);
        return status;
    }
    gd_log_write(&opened->log, GRIDDEP_LOG_INFO, "opened %s, API %d.%d, on %s (sm_%d)%s",
                 driver->path, driver->version / 1000, driver->version % 1000 / 10,
                 opened->device_name, (int)opened->info.capability,
                 opened->kill_switch ? "; GRIDDEP_PDL switches dependent launch off" : "");
    *runtime = opened;
    return GRIDDEP_OK;
}

griddep_runtime *gd_runtime_hold(griddep_runtime *runtime)
{
    atomic_fetch_add_explicit(&runtime->references, 1u, memory_order_relaxed);
    pthread_mutex_lock(&runtime->mutex);
    runtime->users++;
    pthread_mutex_unlock(&runtime->mutex);
    return runtime;
}

/* Before the context may go. */
static void wait_for_work(griddep_runtime *runtime)
{
    gd_ending ending;
    int32_t status = gd_runtime_enter_to_end(runtime, &ending, NULL);
    gd_CUresult result = status ? GD_CUDA_ERROR_INVALID_CONTEXT : gd_runtime_wait(runtime);

    gd_runtime_leave_ended(runtime, &ending);
    gd_host_settle(runtime, result);
}

void gd_runtime_retire(griddep_runtime *runtime)
{
    pthread_mutex_lock(&runtime->mutex);
    bool waits = runtime->users == 1 && (runtime->holds || runtime->calls);
    pthread_mutex_unlock(&runtime->mutex);
    if (waits)
        wait_for_work(runtime);
    pthread_mutex_lock(&runtime->mutex);
    bool last = !--runtime->users && atomic_load_explicit(&runtime->pending, memory_order_relaxed);
    pthread_mutex_unlock(&runtime->mutex);
    if (last)
        gd_runtime_tidy(runtime); /* no call comes any more */
}

void gd_runtime_forget(griddep_runtime *runtime, bool abandoned)
{
    if (atomic_fetch_sub_explicit(&runtime->references, 1u, memory_order_acq_rel) == 1)
        release(runtime, abandoned);
}

void gd_runtime_release(griddep_runtime *runtime)
{
    gd_runtime_retire(runtime);
    gd_runtime_forget(runtime, false);
}

void gd_runtime_keep_code(griddep_runtime *runtime, gd_loaded code)
{
    pthread_mutex_lock(&runtime->mutex);
    gd_loaded *more =
        realloc(runtime->staying, ((size_t)runtime->staying_count + 1) * sizeof *more);
    if (more) {
        runtime->staying = more;
        more[runtime->staying_count++] = code;
    }
    pthread_mutex_unlock(
        &runtime->mutex); /* where memory runs out it stays until the context ends */
}

int32_t gd_runtime_get_nvrtc(griddep_runtime *runtime, const gd_nvrtc **nvrtc, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    pthread_mutex_lock(&runtime->mutex);
    if (!runtime->nvrtc)
        status =
            gd_nvrtc_open(runtime->nvrtc_path, runtime->driver->version, &runtime->nvrtc, error);
    if (!status)
        *nvrtc = runtime->nvrtc;
    pthread_mutex_unlock(&runtime->mutex);
    return status;
}

/* The runtime takes over what auto fell back for. */
static void keep_fallback(griddep_runtime *runtime, char *fallback)
{
    if (!fallback)
        return;
    runtime->fallback = fallback;
    runtime->info.fallback = fallback;
    gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING, "the emulated driver is used, and no GPU: %s",
                 fallback);
}

int32_t griddep_runtime_open(const griddep_runtime_options *given, griddep_runtime **runtime,
                             griddep_error *error)
{
    griddep_runtime_options options;
    gd_driver *driver = NULL;
    char *fallback = NULL;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    status = gd_host_check(error);
    if (!status)
        status = read_options(&options, given, error);
    if (!status)
        status = check_environment(error);
    if (!status)
        status = open_driver(options.driver, &driver, &fallback, error);
    if (!status)
        status = gd_runtime_open_on(driver, given, runtime, error);
    if (status)
        free(fallback);
    else
        keep_fallback(*runtime, fallback);
    return status;
}

static void end_runtime(griddep_runtime *runtime, void *object)
{
    (void)object;
    gd_runtime_release(runtime);
}

/* What was put off would else keep the runtime when no call comes any more. */
void griddep_runtime_close(griddep_runtime *runtime)
{
    if (!runtime || gd_host_put_off(runtime, end_runtime, NULL, NULL))
        return;
    if (atomic_load_explicit(&runtime->pending, memory_order_relaxed))
        gd_runtime_tidy(runtime);
    gd_runtime_release(runtime);
}

int32_t griddep_runtime_synchronize(griddep_runtime *runtime, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (!status && !runtime)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    if (!status)
        status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuCtxSynchronize();
    gd_runtime_leave(runtime, pushed);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(runtime->driver, result, error, "waiting for the context");
}

int32_t griddep_runtime_get_info(griddep_runtime *runtime, griddep_runtime_info *info,
                                 griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime is NULL");
    return gd_struct_write(info, &runtime->info, sizeof runtime->info, INFO_MINIMUM,
                           "griddep_runtime_info", error);
}
