/* Opening libnvrtc, compiling CUDA C++ with it, and finding the first error in its log. Owns the
 * dlopen handle. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cuda/nvrtc.h"

typedef struct symbol_entry {
    const char *name;
    size_t offset; /* of the pointer in gd_nvrtc */
} symbol_entry;

static const symbol_entry symbols[] = {
#define GD_NVRTC(name, type, arguments) {#name, offsetof(gd_nvrtc, name)},
#include "cuda/nvrtc_symbols.def"
#undef GD_NVRTC
};

/* Newest first. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

static const char *const home_variables[] = {"CUDA_HOME", "CUDA_PATH"};

/* Fills a table from the library at path. NULL where that cannot be done; then *tried says why. */
static gd_nvrtc *open_at(const char *path, gd_text *tried)
{
    gd_nvrtc *nvrtc = calloc(1, sizeof *nvrtc);

    if (!nvrtc || !(nvrtc->path = strdup(path))) {
        tried->failed = true;
        gd_nvrtc_close(nvrtc);
        return NULL;
    }
    if (gd_file_is_pipe(path)) {
        gd_text_format(tried, "\n  %s: is a pipe", path);
        gd_nvrtc_close(nvrtc);
        return NULL;
    }
    nvrtc->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc->library) {
        const char *words = dlerror(); /* they begin with the path */
        gd_text_format(tried, "\n  %s", words ? words : path);
        gd_nvrtc_close(nvrtc);
        return NULL;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(nvrtc->library, symbols[i].name);
        if (!function) {
            gd_text_format(tried, "\n  %s: has no %s", path, symbols[i].name);
            gd_nvrtc_close(nvrtc);
            return NULL;
        }
        memcpy((char *)nvrtc + symbols[i].offset, &function, sizeof function);
    }
    void *function;
    memcpy(&function, &nvrtc->nvrtcVersion, sizeof function);
    nvrtc->build = gd_library_build(function);
    int major = 0, minor = 0;
    if (nvrtc->nvrtcVersion(&major, &minor) == GD_NVRTC_SUCCESS)
        nvrtc->version = 1000 * major + 10 * minor;
    if (!nvrtc->build) {
        tried->failed = true;
        gd_nvrtc_close(nvrtc);
        return NULL;
    }
    return nvrtc;
}

/* Keeps the better one of *best and what a path holds. True: *best fits, or memory is out. */
static bool try_path(const char *path, int32_t driver, gd_nvrtc **best, gd_text *tried)
{
    gd_nvrtc *opened = open_at(path, tried);

    if (opened && *best && (*best)->version <= opened->version) {
        gd_nvrtc_close(opened);
    } else if (opened) {
        gd_nvrtc_close(*best);
        *best = opened;
    }
    return tried->failed || (*best && (*best)->version <= driver);
}

static bool try_home(const char *variable, int32_t driver, gd_nvrtc **best, gd_text *tried)
{
    const char *home = gd_environment(variable);
    bool done = false;

    for (size_t i = 0; home && i < sizeof sonames / sizeof *sonames && !done; i++) {
        gd_text path = {0};
        gd_text_format(&path, "%s/lib64/%s", home, sonames[i]);
        tried->failed |= path.failed;
        done = tried->failed || try_path(path.data, driver, best, tried);
        gd_text_free(&path);
    }
    return done;
}

static gd_nvrtc *open_anywhere(int32_t driver, gd_text *tried)
{
    gd_nvrtc *best = NULL;
    bool done = false;

    for (size_t i = 0; i < sizeof sonames / sizeof *sonames && !done; i++)
        done = try_path(sonames[i], driver, &best, tried);
    for (size_t i = 0; i < sizeof home_variables / sizeof *home_variables && !done; i++)
        done = try_home(home_variables[i], driver, &best, tried);
    return best;
}

/* The log of a program as a string that the caller frees; "" where there is none, NULL when memory
 * runs out. */
static char *take_log(const gd_nvrtc *nvrtc, gd_nvrtcProgram program)
{
    size_t bytes = 0;

    if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) != GD_NVRTC_SUCCESS)
        bytes = 0;
    char *log = calloc(1, bytes + 1);
    if (log && bytes && nvrtc->nvrtcGetProgramLog(program, log) != GD_NVRTC_SUCCESS)
        log[0] = 0;
    return log;
}

/* Where a line of the log says "name(12): error..." or "name(12): catastrophic error...", puts the
 * name's bytes and the line's number. */
static bool read_position(const char *line, size_t bytes, size_t *name_bytes, int32_t *number)
{
    for (size_t i = 0; i + 1 < bytes; i++) {
        size_t at = i + 1;
        int64_t value = 0;
        if (line[i] != '(')
            continue;
        while (at < bytes && line[at] >= '0' && line[at] <= '9' && value <= INT32_MAX)
            value = value * 10 + (line[at++] - '0');
        size_t rest = bytes - at;
        if (value == 0 || value > INT32_MAX)
            continue;
        if ((rest >= 8 && !memcmp(line + at, "): error", 8)) ||
            (rest >= 21 && !memcmp(line + at, "): catastrophic error", 21))) {
            *name_bytes = i;
            *number = (int32_t)value;
            return true;
        }
    }
    return false;
}

/* The position of the first error of a log: its line, and the name of its file in *file. */
static int32_t find_position(const char *log, gd_text *file)
{
    while (*log) {
        size_t bytes = strcspn(log, "\n");
        size_t name_bytes = 0;
        int32_t number = 0;
        if (read_position(log, bytes, &name_bytes, &number)) {
            gd_text_append(file, log, name_bytes);
            return number;
        }
        log += bytes + (log[bytes] == '\n');
    }
    return 0;
}

/* What helps where NVRTC does not know a name that CUDA C++ has elsewhere. "" for anything else. */
static const char *find_hint(const char *log)
{
    static const struct {
        const char *words, *hint;
    } hints[] = {
        {"\"cudaGridDependencySynchronize\" is undefined",
         "\nhint: griddep_wait() is declared and does the same"},
        {"\"cudaTriggerProgrammaticLaunchCompletion\" is undefined",
         "\nhint: griddep_launch_dependents() is declared and does the same"},
        {"could not open source file",
         "\nhint: NVRTC looks for headers only in the folders that it "
         "is given: the compile option --include-path=FOLDER"},
    };

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strstr(log, hints[i].words))
            return hints[i].hint;
    }
    return "";
}

enum { LOG_SHOWN = 1600 }; /* bytes of the log that leave room for a hint */

static int32_t report(const gd_nvrtc *nvrtc, gd_nvrtcResult result, const char *name,
                      const char *log, griddep_error *error)
{
    const char *words = nvrtc->nvrtcGetErrorString(result);
    gd_text file = {0};

    if (result == GD_NVRTC_ERROR_OUT_OF_MEMORY)
        return gd_error_memory(error);
    int32_t line = find_position(log, &file);
    if (file.failed) {
        gd_text_free(&file);
        return gd_error_memory(error);
    }
    gd_error_set_at(error, GRIDDEP_ERROR_COMPILE, line ? gd_text_get(&file) : name, line, 0,
                    "NVRTC refuses %s: %s (%d)%s%.*s%s", name, words ? words : "nvrtcResult",
                    result, *log ? "\n" : "", LOG_SHOWN, log, find_hint(log));
    if (error)
        error->driver_code = result;
    gd_text_free(&file);
    return GRIDDEP_ERROR_COMPILE;
}

/* The PTX of a compiled program. GetPTXSize counts the closing zero. */
static gd_nvrtcResult take_ptx(const gd_nvrtc *nvrtc, gd_nvrtcProgram program, char **ptx,
                               size_t *bytes)
{
    size_t size = 0;
    gd_nvrtcResult result = nvrtc->nvrtcGetPTXSize(program, &size);

    if (result != GD_NVRTC_SUCCESS)
        return result;
    char *text = calloc(1, size + 1);
    if (!text)
        return GD_NVRTC_ERROR_OUT_OF_MEMORY;
    result = nvrtc->nvrtcGetPTX(program, text);
    if (result != GD_NVRTC_SUCCESS) {
        free(text);
        return result;
    }
    *ptx = text;
    *bytes = strlen(text);
    return GD_NVRTC_SUCCESS;
}

static gd_nvrtcResult add_names(const gd_nvrtc *nvrtc, gd_nvrtcProgram program,
                                const griddep_module_options *given)
{
    gd_nvrtcResult result = GD_NVRTC_SUCCESS;

    for (uint32_t i = 0; given && i < given->name_expression_count && !result; i++)
        result = nvrtc->nvrtcAddNameExpression(program, given->name_expressions[i]);
    return result;
}

/* Behind the PTX, where the store keeps them too. */
static gd_nvrtcResult append_names(const gd_nvrtc *nvrtc, gd_nvrtcProgram program,
                                   const griddep_module_options *given, char **ptx, size_t *bytes)
{
    gd_nvrtcResult result = GD_NVRTC_SUCCESS;
    gd_text text = {0};

    if (!given || !given->name_expression_count)
        return result;
    gd_text_append(&text, *ptx, *bytes);
    gd_text_string(&text, "\n");
    for (uint32_t i = 0; i < given->name_expression_count && !result; i++) {
        const char *lowered = NULL;
        result = nvrtc->nvrtcGetLoweredName(program, given->name_expressions[i], &lowered);
        gd_text_format(&text, GD_NVRTC_NAME "%s\n", result ? "" : lowered);
    }
    if (!result && text.failed)
        result = GD_NVRTC_ERROR_OUT_OF_MEMORY;
    free(*ptx);
    *ptx = NULL;
    if (result) {
        gd_text_free(&text);
        return result;
    }
    *ptx = text.data;
    *bytes = text.bytes;
    return result;
}

static int32_t compile_program(const gd_nvrtc *nvrtc, gd_nvrtcProgram program, const char *name,
                               const char *const *options, int option_count, char **ptx,
                               const griddep_module_options *given, size_t *ptx_bytes, char **log,
                               griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    char *made = NULL;
    gd_nvrtcResult result = add_names(nvrtc, program, given);

    if (result != GD_NVRTC_SUCCESS)
        return report(nvrtc, result, name, "", error);
    result = nvrtc->nvrtcCompileProgram(program, option_count, options);
    char *said = take_log(nvrtc, program);
    if (!said)
        return gd_error_memory(error);
    if (result == GD_NVRTC_SUCCESS)
        result = take_ptx(nvrtc, program, &made, ptx_bytes);
    if (result == GD_NVRTC_SUCCESS)
        result = append_names(nvrtc, program, given, &made, ptx_bytes);
    if (result != GD_NVRTC_SUCCESS) {
        status = report(nvrtc, result, name, said, error);
        free(said);
        return status;
    }
    *ptx = made;
    *log = said;
    return GRIDDEP_OK;
}

int32_t gd_nvrtc_open(const char *path, int32_t driver, gd_nvrtc **nvrtc, griddep_error *error)
{
    gd_text tried = {0};
    int32_t status = GRIDDEP_OK;
    gd_nvrtc *made = path ? open_at(path, &tried) : open_anywhere(driver, &tried);

    if (tried.failed) {
        gd_nvrtc_close(made);
        status = gd_error_memory(error);
    } else if (!made) {
        status = gd_error_set(error, GRIDDEP_ERROR_NO_NVRTC, "libnvrtc cannot be opened; tried:%s",
                              gd_text_get(&tried));
    } else {
        made->kept = true;
        *nvrtc = made;
    }
    gd_text_free(&tried);
    return status;
}

void gd_nvrtc_close(gd_nvrtc *nvrtc)
{
    if (!nvrtc)
        return;
    if (nvrtc->library && !nvrtc->kept)
        dlclose(nvrtc->library);
    free(nvrtc->path);
    free(nvrtc->build);
    free(nvrtc);
}

int32_t gd_nvrtc_compile(const gd_nvrtc *nvrtc, const char *source, const char *name,
                         const char *const *options, uint32_t option_count, char **ptx,
                         const griddep_module_options *given, size_t *ptx_bytes, char **log,
                         griddep_error *error)
{
    const uint32_t headers = given ? given->header_count : 0;
    gd_nvrtcProgram program = NULL;

    if (option_count > INT_MAX || headers > INT_MAX / 2)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%u compile options or %u headers are too many", option_count, headers);
    const char **lists = calloc(2 * (size_t)headers + 1, sizeof *lists);
    if (!lists)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < headers; i++) {
        lists[i] = given->headers[i].text;
        lists[headers + i] = given->headers[i].name;
    }
    gd_nvrtcResult result =
        nvrtc->nvrtcCreateProgram(&program, source, name, (int)headers, lists, lists + headers);
    free(lists);
    if (result != GD_NVRTC_SUCCESS)
        return report(nvrtc, result, name, "", error);
    int32_t status = compile_program(nvrtc, program, name, options, (int)option_count, ptx, given,
                                     ptx_bytes, log, error);
    nvrtc->nvrtcDestroyProgram(&program);
    return status;
}
