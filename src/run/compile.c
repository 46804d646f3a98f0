/* The driver's compiler and linker, the code cache in front of them, and NVRTC with the prelude.
 *
 * To have the compiled code in hand, PTX goes through the driver's linker (cuLinkCreate, cuLinkAddData,
 * cuLinkComplete), which gives a cubin; the cubin is cached and loaded. Without a cache, or on a driver without the
 * linker, cuModuleLoadDataEx does all at once. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "run/cache.h"
#include "run/compile.h"
#include "run/image.h"

enum { LOG_BYTES = 16384, MOST_OPTIONS = 9 };

/* What a C++ kernel sees before its first line. */
static const char prelude[] =
    "#line 1 \"griddep prelude\"\n"
    "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\n"
    "#define GRIDDEP_CONTROL_(name) asm volatile(\"griddepcontrol.\" #name \";\" ::: \"memory\")\n"
    "#else\n"
    "#define GRIDDEP_CONTROL_(name)\n"
    "#endif\n"
    "[[maybe_unused]] static __device__ __forceinline__ void griddep_wait() { GRIDDEP_CONTROL_(wait); }\n"
    "[[maybe_unused]] static __device__ __forceinline__ void griddep_launch_dependents()\n"
    "{ GRIDDEP_CONTROL_(launch_dependents); }\n"
    "#undef GRIDDEP_CONTROL_\n";

/* JIT options of one call, with room for the two logs. */
typedef struct jit_options {
    unsigned count;
    int names[MOST_OPTIONS];
    void *values[MOST_OPTIONS];
    char *information; /* LOG_BYTES */
    char *errors;      /* LOG_BYTES */
} jit_options;

/* ---- options ---- */

static void add_option(jit_options *jit, int name, uintptr_t value)
{
    jit->names[jit->count] = name;
    jit->values[jit->count++] = (void *)value;
}

static bool make_options(jit_options *jit, const griddep_module_options *options)
{
    *jit = (jit_options){.information = calloc(1, LOG_BYTES), .errors = calloc(1, LOG_BYTES)};
    if (!jit->information || !jit->errors)
        return false;
    add_option(jit, GD_CU_JIT_INFO_LOG_BUFFER, (uintptr_t)jit->information);
    add_option(jit, GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    add_option(jit, GD_CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->errors);
    add_option(jit, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    if (options->optimization)
        add_option(jit, GD_CU_JIT_OPTIMIZATION_LEVEL,
                   options->optimization == GRIDDEP_OPTIMIZATION_NONE ? 0 : (uintptr_t)options->optimization);
    if (options->maximum_registers)
        add_option(jit, GD_CU_JIT_MAX_REGISTERS, options->maximum_registers);
    if (options->flags & GRIDDEP_MODULE_LINE_INFO)
        add_option(jit, GD_CU_JIT_GENERATE_LINE_INFO, 1);
    if (options->flags & GRIDDEP_MODULE_DEBUG)
        add_option(jit, GD_CU_JIT_GENERATE_DEBUG_INFO, 1);
    if (options->flags & GRIDDEP_MODULE_VERBOSE)
        add_option(jit, GD_CU_JIT_LOG_VERBOSE, 1);
    return true;
}

static void free_options(jit_options *jit)
{
    free(jit->information);
    free(jit->errors);
}

/* ---- errors ---- */

/* The number behind "line " in the first line of the log that speaks of an error, as ptxas writes it ("..., line 12;
 * error : ..."). */
static int32_t error_line(const char *log)
{
    for (const char *at = log; (at = strstr(at, "line ")); at += 5) {
        char *end;
        long line = strtol(at + 5, &end, 10);
        const char *rest = end + strspn(end, "; ");
        if (end != at + 5 && line > 0 && line < INT32_MAX && (!strncmp(rest, "error", 5) || !strncmp(rest, "fatal", 5)))
            return (int32_t)line;
    }
    return 0;
}

/* The error of a failed compilation: the compiler's words, its position, the PTX line. */
static int32_t fail(const griddep_runtime *runtime, gd_CUresult result, const jit_options *jit, const char *name,
                    const char *text, size_t bytes, griddep_error *error)
{
    int32_t status = gd_driver_status(result);
    int32_t line = text ? error_line(jit->errors) : 0;
    size_t length = strlen(jit->errors);
    gd_text quote = {0};

    while (length && isspace((unsigned char)jit->errors[length - 1]))
        length--;
    if (status == GRIDDEP_ERROR_COMPILE || status == GRIDDEP_ERROR_DRIVER || status == GRIDDEP_ERROR_IMAGE) {
        if (text && status != GRIDDEP_ERROR_DRIVER)
            status = GRIDDEP_ERROR_COMPILE;
        gd_driver_fail(runtime->driver, result, error, "%s cannot be loaded on %s (sm_%" PRId32 ")", name,
                       runtime->device_name, runtime->info.capability);
    } else {
        status = gd_driver_fail(runtime->driver, result, error, "%s cannot be loaded", name);
    }
    if (error) {
        error->status = status;
        error->line = line;
        gd_error_set_file(error, name);
        gd_text_quote(&quote, text, bytes, line, 0);
        if (length)
            gd_error_append(error, "\n%.*s", (int)length, jit->errors);
        if (quote.bytes)
            gd_error_append(error, "\n%s", quote.data);
    }
    gd_text_free(&quote);
    return status;
}

/* ---- compiling ---- */

/* What the code depends on, as a key. */
static void make_key(const griddep_runtime *runtime, const char *text, size_t bytes,
                     const griddep_module_options *options, gd_cache_key *key)
{
    char words[160];
    gd_digest digest;

    snprintf(words, sizeof words,
             "library %s driver %" PRId32 " sm %" PRId32 " flags %" PRIu32 " O %" PRId32 " registers %" PRIu32,
             griddep_version_text(), runtime->info.driver_version, runtime->info.capability, options->flags,
             options->optimization, options->maximum_registers);
    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, words);
    gd_digest_add_string(&digest, runtime->info.device_name);
    gd_digest_add_string(&digest, runtime->info.driver);
    gd_digest_add(&digest, text, bytes);
    gd_digest_end(&digest, key->digest);
}

/* PTX to a cubin, which belongs to *state until that is destroyed. */
static gd_CUresult link_ptx(const gd_driver *driver, const char *text, size_t bytes, const char *name, jit_options *jit,
                            gd_CUlinkState *state, void **cubin, size_t *cubin_bytes)
{
    gd_CUresult result = driver->cuLinkCreate(jit->count, jit->names, jit->values, state);

    if (result != GD_CUDA_SUCCESS) {
        *state = NULL;
        return result;
    }
    result =
        driver->cuLinkAddData(*state, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, bytes + 1, name, 0, NULL, NULL);
    return result == GD_CUDA_SUCCESS ? driver->cuLinkComplete(*state, cubin, cubin_bytes) : result;
}

static gd_CUresult link_and_load(griddep_runtime *runtime, const char *text, size_t bytes, const char *name,
                                 const gd_cache_key *key, jit_options *jit, gd_CUmodule *module)
{
    const gd_driver *driver = runtime->driver;
    gd_CUlinkState state = NULL;
    void *cubin = NULL;
    size_t cubin_bytes = 0;
    gd_CUresult result = link_ptx(driver, text, bytes, name, jit, &state, &cubin, &cubin_bytes);

    if (result == GD_CUDA_SUCCESS)
        result = driver->cuModuleLoadData(module, cubin);
    if (result == GD_CUDA_SUCCESS)
        gd_cache_store(runtime->cache, key, cubin, cubin_bytes);
    if (state)
        driver->cuLinkDestroy(state);
    return result;
}

/* A cached cubin that the driver refuses is treated as damaged: the caller compiles anew and overwrites it. */
static bool load_cached(griddep_runtime *runtime, const gd_cache_key *key, const char *name, gd_CUmodule *module)
{
    char *cubin = NULL;
    size_t bytes = 0;
    int32_t kind = 0;
    bool loaded = false;

    if (!gd_cache_load(runtime->cache, key, &cubin, &bytes))
        return false;
    if (!gd_image_examine(cubin, bytes, name, &kind, NULL) && kind == GRIDDEP_IMAGE_CUBIN)
        loaded = runtime->driver->cuModuleLoadData(module, cubin) == GD_CUDA_SUCCESS;
    if (!loaded)
        gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING, "the driver refused cached code of %s; it is compiled anew",
                     name);
    free(cubin);
    return loaded;
}

int32_t gd_compile_ptx(griddep_runtime *runtime, const char *text, size_t bytes, const griddep_module_options *options,
                       gd_CUmodule *module, char **log, bool *from_cache, griddep_error *error)
{
    bool cached = runtime->info.features & GRIDDEP_FEATURE_CODE_CACHE && !(options->flags & GRIDDEP_MODULE_NO_CACHE);
    gd_cache_key key;
    jit_options jit;
    gd_CUresult result = GD_CUDA_SUCCESS;
    int32_t status = GRIDDEP_OK;

    *from_cache = false;
    if (!make_options(&jit, options)) {
        free_options(&jit);
        return gd_error_memory(error);
    }
    if (cached) {
        make_key(runtime, text, bytes, options, &key);
        *from_cache = load_cached(runtime, &key, options->name, module);
    }
    if (!*from_cache && cached)
        result = link_and_load(runtime, text, bytes, options->name, &key, &jit, module);
    else if (!*from_cache)
        result = runtime->driver->cuModuleLoadDataEx(module, text, jit.count, jit.names, jit.values);
    if (result != GD_CUDA_SUCCESS) {
        status = fail(runtime, result, &jit, options->name, text, bytes, error);
    } else {
        *log = jit.information;
        jit.information = NULL;
    }
    free_options(&jit);
    return status;
}

int32_t gd_compile_binary(griddep_runtime *runtime, const void *image, int32_t kind,
                          const griddep_module_options *options, gd_CUmodule *module, char **log, griddep_error *error)
{
    jit_options jit;
    int32_t status = GRIDDEP_OK;

    if (!make_options(&jit, options)) {
        free_options(&jit);
        return gd_error_memory(error);
    }
    gd_CUresult result = runtime->driver->cuModuleLoadDataEx(module, image, jit.count, jit.names, jit.values);
    if (result != GD_CUDA_SUCCESS) {
        status = fail(runtime, result, &jit, options->name, NULL, 0, error);
        if (status == GRIDDEP_ERROR_IMAGE)
            gd_error_append(error, "\nthe %s holds no code that this device can run, or is damaged",
                            gd_image_kind_name(kind));
    } else {
        *log = jit.information;
        jit.information = NULL;
    }
    free_options(&jit);
    return status;
}

/* ---- CUDA C++ ---- */

static bool names_architecture(const griddep_module_options *options)
{
    for (uint32_t i = 0; i < options->compile_option_count; i++) {
        const char *option = options->compile_options[i];
        if (!strncmp(option, "--gpu-architecture", 18) || !strncmp(option, "-arch", 5))
            return true;
    }
    return false;
}

/* A name inside a string literal. */
static void append_escaped(gd_text *text, const char *name)
{
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            gd_text_append(text, "\\", 1);
        gd_text_append(text, *name == '\n' ? " " : name, 1);
    }
}

int32_t gd_compile_source(griddep_runtime *runtime, const char *source, const griddep_module_options *options,
                          char **ptx, size_t *bytes, char **log, griddep_error *error)
{
    const gd_nvrtc *nvrtc = NULL;
    char architecture[48];
    gd_text text = {0};
    uint32_t count = 0;
    int32_t status = gd_runtime_get_nvrtc(runtime, &nvrtc, error);

    if (status)
        return status;
    const char **list = calloc((size_t)options->compile_option_count + 1, sizeof *list);
    gd_text_string(&text, prelude);
    gd_text_string(&text, "#line 1 \"");
    append_escaped(&text, options->name);
    gd_text_format(&text, "\"\n%s", source);
    if (!list || text.failed) {
        status = gd_error_memory(error);
    } else {
        snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%" PRId32, runtime->info.capability);
        if (!names_architecture(options))
            list[count++] = architecture;
        for (uint32_t i = 0; i < options->compile_option_count; i++)
            list[count++] = options->compile_options[i];
        status = gd_nvrtc_compile(nvrtc, text.data, options->name, list, count, ptx, bytes, log, error);
    }
    free(list);
    gd_text_free(&text);
    return status;
}
