/* The driver's compiler, which is always asked in the same way, and NVRTC with the prelude.
 *
 * The driver keeps compiled code itself (doc/environment.md). What NVRTC made is kept in the
 * store. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "run/module/compile.h"
#include "run/module/image.h"
#include "run/store.h"

enum {
    LOG_BYTES = 16384,
    LOG_OPTIONS = 4, /* the first of them */
    OWN_OPTIONS = 4  /* for NVRTC */
};

/* What a C++ kernel sees before its first line: a header in memory that NVRTC includes there. In
 * the source itself it would end what NVRTC can keep precompiled, and so would a #line. They are
 * templates so that a call alone is an error, where an option asks for a target that has no
 * griddepcontrol. On a device that has none nothing starts early, and they are empty. */
#define PRELUDE_NAME "griddep prelude"
#define OLDER_DEVICE "GRIDDEP_OLDER_DEVICE_"
static const char prelude[] =
    "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900\n"
    "#define GRIDDEP_CONTROL_(function, name) asm volatile(\"griddepcontrol.\" #name \";\" ::: "
    "\"memory\")\n"
    "#elif defined(" OLDER_DEVICE ")\n"
    "#define GRIDDEP_CONTROL_(function, name)\n"
    "#else\n"
    "#define GRIDDEP_CONTROL_(function, name) static_assert(none, #function \"() needs "
    "--gpu-architecture=compute_90 or later\")\n"
    "#endif\n"
    "template <bool none = false> static __device__ __forceinline__ void griddep_wait()\n"
    "{ GRIDDEP_CONTROL_(griddep_wait, wait); }\n"
    "template <bool none = false> static __device__ __forceinline__ void "
    "griddep_launch_dependents()\n"
    "{ GRIDDEP_CONTROL_(griddep_launch_dependents, launch_dependents); }\n"
    "#undef GRIDDEP_CONTROL_\n";

/* ---- options ---- */

static void add_option(gd_jit_options *jit, int name, uintptr_t value)
{
    jit->names[jit->count] = name;
    jit->values[jit->count++] = (void *)value;
}

bool gd_jit_options_make(gd_jit_options *jit, const griddep_module_options *options)
{
    *jit = (gd_jit_options){.information = calloc(1, LOG_BYTES), .errors = calloc(1, LOG_BYTES)};
    if (!jit->information || !jit->errors)
        return false;
    add_option(jit, GD_CU_JIT_INFO_LOG_BUFFER, (uintptr_t)jit->information);
    add_option(jit, GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    add_option(jit, GD_CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->errors);
    add_option(jit, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    if (options->optimization)
        add_option(jit, GD_CU_JIT_OPTIMIZATION_LEVEL,
                   options->optimization == GRIDDEP_OPTIMIZATION_NONE
                       ? 0
                       : (uintptr_t)options->optimization);
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

void gd_jit_options_free(gd_jit_options *jit)
{
    free(jit->information);
    free(jit->errors);
}

/* ---- errors ---- */

/* The number behind "line " in the first line of the log that speaks of an error, as ptxas writes
 * it ("..., line 12; error : ..."). */
static int32_t error_line(const char *log)
{
    for (const char *at = log; (at = strstr(at, "line ")); at += 5) {
        char *end;
        long line = strtol(at + 5, &end, 10);
        const char *rest = end + strspn(end, "; ");
        if (end != at + 5 && line > 0 && line < INT32_MAX &&
            (!strncmp(rest, "error", 5) || !strncmp(rest, "fatal", 5)))
            return (int32_t)line;
    }
    return 0;
}

/* The error of a failed compilation: the compiler's words, its position, the PTX line. */
int32_t gd_jit_options_fail(const gd_jit_options *jit, const griddep_runtime *runtime,
                            gd_CUresult result, const char *name, const char *text, size_t bytes,
                            griddep_error *error)
{
    int32_t status = gd_driver_status(result);
    int32_t line = text ? error_line(jit->errors) : 0;
    size_t length = strlen(jit->errors);
    gd_text quote = {0};

    while (length && isspace((unsigned char)jit->errors[length - 1]))
        length--;
    if (status == GRIDDEP_ERROR_COMPILE || status == GRIDDEP_ERROR_DRIVER ||
        status == GRIDDEP_ERROR_IMAGE) {
        if (text && status != GRIDDEP_ERROR_DRIVER)
            status = GRIDDEP_ERROR_COMPILE;
        gd_driver_fail(runtime->driver, result, error, "%s cannot be loaded on %s (sm_%" PRId32 ")",
                       name, runtime->device_name, runtime->info.capability);
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

/* ---- loading ---- */

/* A library is compiled when a context first uses it, long after this call for another device: so
 * the driver is given no buffer for its words, and when the module of this context fails, it is
 * asked for them by loading the image the other way. */
static gd_CUresult load_library(const griddep_runtime *runtime, const void *image,
                                gd_jit_options *jit, gd_loaded *code)
{
    const gd_driver *driver = runtime->driver;
    const unsigned logs = LOG_OPTIONS;
    gd_CUresult result =
        driver->cuLibraryLoadData(&code->library, image, jit->names + logs, jit->values + logs,
                                  jit->count - logs, NULL, NULL, 0);

    if (result == GD_CUDA_SUCCESS)
        result = driver->cuLibraryGetModule(&code->module, code->library);
    if (result == GD_CUDA_SUCCESS)
        return result;
    if (code->library)
        driver->cuLibraryUnload(code->library);
    *code = (gd_loaded){0};
    const gd_CUresult again =
        driver->cuModuleLoadDataEx(&code->module, image, jit->count, jit->names, jit->values);
    if (again != GD_CUDA_SUCCESS)
        return again;
    driver->cuModuleUnload(code->module);
    *code = (gd_loaded){0};
    return result;
}

/* `text` is NULL for a binary. */
static int32_t load(const griddep_runtime *runtime, const void *image, const char *text,
                    size_t bytes, const griddep_module_options *options, gd_loaded *code,
                    char **log, griddep_error *error)
{
    gd_jit_options jit;
    int32_t status = GRIDDEP_OK;

    if (!gd_jit_options_make(&jit, options)) {
        gd_jit_options_free(&jit);
        return gd_error_memory(error);
    }
    gd_CUresult result = options->flags & GRIDDEP_MODULE_LIBRARY
                             ? load_library(runtime, image, &jit, code)
                             : runtime->driver->cuModuleLoadDataEx(&code->module, image, jit.count,
                                                                   jit.names, jit.values);
    if (result != GD_CUDA_SUCCESS) {
        status = gd_jit_options_fail(&jit, runtime, result, options->name, text, bytes, error);
    } else {
        *log = jit.information;
        jit.information = NULL;
    }
    gd_jit_options_free(&jit);
    return status;
}

int32_t gd_compile_ptx(griddep_runtime *runtime, const char *text, size_t bytes,
                       const griddep_module_options *options, gd_loaded *code, char **log,
                       griddep_error *error)
{
    return load(runtime, text, text, bytes, options, code, log, error);
}

int32_t gd_compile_binary(griddep_runtime *runtime, const void *image, int32_t kind,
                          const griddep_module_options *options, gd_loaded *code, char **log,
                          griddep_error *error)
{
    int32_t status = load(runtime, image, NULL, 0, options, code, log, error);

    if (status == GRIDDEP_ERROR_IMAGE)
        gd_error_append(error, "\nthe %s holds no code that this device can run, or is damaged",
                        gd_image_kind_name(kind));
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

static bool is_header(const griddep_module_options *options, const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < options->header_count; i++) {
        if (strlen(options->headers[i].name) == bytes &&
            !memcmp(options->headers[i].name, name, bytes))
            return true;
    }
    return false;
}

/* Whether a text may include anything but headers that the caller gave. */
static bool includes_files(const char *text, const griddep_module_options *options)
{
    for (const char *at = text; (at = strstr(at, "include"));) {
        const char *name = at + 7 + strspn(at + 7, " \t");
        const char *end = *name == '"'   ? strchr(name + 1, '"')
                          : *name == '<' ? strchr(name + 1, '>')
                                         : NULL;
        if (!end || !is_header(options, name + 1, (size_t)(end - name - 1)))
            return true;
        at = end;
    }
    return false;
}

/* Whether PTX may depend on more than a text and the options: on files that it names, or on the
 * clock. Lines that end with a backslash are put together first. True where only a comment speaks
 * of such. */
static bool depends_on_more(const char *source, const griddep_module_options *options, bool *more)
{
    static const char *const words[] = {"embed", "import", "__DATE__", "__TIME"};
    char *joined = malloc(strlen(source) + 1), *at = joined;

    if (!joined)
        return false;
    for (const char *from = source; *from; from++) {
        if (*from == '\\' && (from[1] == '\n' || (from[1] == '\r' && from[2] == '\n')))
            from += from[1] == '\r' ? 2 : 1;
        else
            *at++ = *from;
    }
    *at = 0;
    *more |= includes_files(joined, options);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *more |= strstr(joined, words[i]) != NULL;
    free(joined);
    return true;
}

/* The same of the source, the headers and the options. False: there is no memory. */
static bool all_depend_on_more(const char *source, const griddep_module_options *options,
                               bool *more)
{
    static const char *const words[] = {"-include", "-optf", "--options-file", "pch"};
    bool room;

    *more = false;
    room = depends_on_more(source, options, more);
    for (uint32_t i = 0; room && i < options->header_count; i++)
        room = depends_on_more(options->headers[i].text, options, more);
    for (uint32_t i = 0; i < options->compile_option_count; i++) {
        const char *option = options->compile_options[i];
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            *more |= strstr(option, words[k]) && strncmp(option, "--include-path", 14) != 0;
    }
    return room;
}

static void make_key(const gd_nvrtc *nvrtc, const char *source, const char *const *list,
                     uint32_t count, const griddep_module_options *options, gd_store_key *key)
{
    gd_digest digest;

    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, prelude);
    gd_digest_add_string(&digest, griddep_version_text());
    gd_digest_add(&digest, &nvrtc->version, sizeof nvrtc->version);
    gd_digest_add_string(&digest, nvrtc->build);
    gd_digest_add(&digest, &count, sizeof count);
    for (uint32_t i = 0; i < count; i++)
        gd_digest_add_string(&digest, list[i]);
    gd_digest_add_string(&digest, options->name);
    gd_digest_add_string(&digest, source);
    gd_digest_add(&digest, &options->header_count, sizeof options->header_count);
    for (uint32_t i = 0; i < options->header_count; i++) {
        gd_digest_add_string(&digest, options->headers[i].name);
        gd_digest_add_string(&digest, options->headers[i].text);
    }
    for (uint32_t i = 0; i < options->name_expression_count; i++)
        gd_digest_add_string(&digest, options->name_expressions[i]);
    gd_digest_end(&digest, key->digest);
}

/* An entry is the log, a zero byte, and the PTX. */
static bool recall(gd_store *store, const gd_store_key *key, char **ptx, size_t *bytes, char **log)
{
    char *entry, *end;
    size_t entry_bytes;

    if (!gd_store_load(store, key, &entry, &entry_bytes))
        return false;
    end = memchr(entry, 0, entry_bytes);
    *log = end ? strdup(entry) : NULL;
    if (*log) {
        *bytes = entry_bytes - (size_t)(end + 1 - entry);
        memmove(entry, end + 1, *bytes + 1);
        *ptx = entry;
        return true;
    }
    free(entry);
    return false;
}

static void remember(gd_store *store, const gd_store_key *key, const char *ptx, size_t bytes,
                     const char *log)
{
    gd_text entry = {0};

    gd_text_append(&entry, log, strlen(log) + 1);
    gd_text_append(&entry, ptx, bytes);
    if (!entry.failed)
        gd_store_save(store, key, entry.data, entry.bytes);
    gd_text_free(&entry);
}

/* Compiles, with the prelude among the headers. The store's key knows of what may change PTX, and
 * precompiled headers do not. */
static int32_t compile(const gd_nvrtc *nvrtc, const char *source,
                       const griddep_module_options *given, const char **list, uint32_t count,
                       char **ptx, size_t *bytes, char **log, griddep_error *error)
{
    griddep_module_options options = *given;
    griddep_header *headers = calloc((size_t)given->header_count + 1, sizeof *headers);

    if (!headers)
        return gd_error_memory(error);
    headers[0] = (griddep_header){PRELUDE_NAME, prelude};
    for (uint32_t i = 0; i < given->header_count; i++)
        headers[i + 1] = given->headers[i];
    options.headers = headers;
    options.header_count++;
    list[count++] = "--pre-include=" PRELUDE_NAME;
    if (given->flags & GRIDDEP_MODULE_PCH && nvrtc->version >= 12080)
        list[count++] = "--pch";
    int32_t status =
        gd_nvrtc_compile(nvrtc, source, given->name, list, count, ptx, &options, bytes, log, error);
    free(headers);
    return status;
}

int32_t gd_compile_source(griddep_runtime *runtime, const char *source,
                          const griddep_module_options *options, char **ptx, size_t *bytes,
                          char **log, bool *from_store, griddep_error *error)
{
    const gd_nvrtc *nvrtc = NULL;
    char architecture[48];
    uint32_t count = 0;
    bool more = true;
    gd_store_key key;
    int32_t status = gd_runtime_get_nvrtc(runtime, &nvrtc, error);

    if (status)
        return status;
    const char **list = calloc((size_t)options->compile_option_count + OWN_OPTIONS, sizeof *list);
    *from_store = false;
    if (!list || !all_depend_on_more(source, options, &more)) {
        status = gd_error_memory(error);
    } else {
        snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%" PRId32,
                 runtime->info.capability);
        if (!names_architecture(options))
            list[count++] = architecture;
        if (!names_architecture(options) && runtime->info.capability < 90)
            list[count++] = "--define-macro=" OLDER_DEVICE;
        for (uint32_t i = 0; i < options->compile_option_count; i++)
            list[count++] = options->compile_options[i];
        make_key(nvrtc, source, list, count, options, &key);
        *from_store = !more && recall(runtime->store, &key, ptx, bytes, log);
        if (!*from_store)
            status = compile(nvrtc, source, options, list, count, ptx, bytes, log, error);
        if (!status && !*from_store && !more)
            remember(runtime->store, &key, *ptx, *bytes, *log);
    }
    free(list);
    return status;
}

/* ---- a driver older than NVRTC ---- */

/* The number behind ".version" where a text begins with it, as texts of NVRTC do behind their
 * comments; NULL where it does not. */
static char *find_version(char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (!strncmp(text, "//", 2))
            text += strcspn(text, "\n");
        else
            break;
    }
    if (strncmp(text, ".version", 8))
        return NULL;
    text += 8;
    return text + strspn(text, " \t");
}

bool gd_compile_lower(const griddep_runtime *runtime, char *ptx, const char *name)
{
    const int32_t most = gd_driver_ptx_version(runtime->driver->version);
    char *version = find_version(ptx), lowered[24], *behind;
    const long major = version ? strtol(version, &behind, 10) : 0;

    if (!version || *behind != '.' || major < 1 || major > 99 ||
        !isdigit((unsigned char)behind[1]) || isdigit((unsigned char)behind[2]) ||
        major * 10 + (behind[1] - '0') <= most)
        return false;
    const size_t length = (size_t)(behind + 2 - version);
    snprintf(lowered, sizeof lowered, "%" PRId32 ".%" PRId32, most / 10, most % 10);
    if (strlen(lowered) > length)
        return false;
    gd_log_write(
        &runtime->log, GRIDDEP_LOG_INFO,
        "%s: NVRTC made PTX of .version %.*s, which the driver refuses; it is loaded as %s", name,
        (int)length, version, lowered);
    memset(version, ' ', length);
    memcpy(version, lowered, strlen(lowered));
    return true;
}
