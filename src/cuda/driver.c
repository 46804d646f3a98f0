/* Opening a driver, binding its entry points through cuGetProcAddress_v2, and reporting its
 * CUresults. Owns the dlopen handle. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cuda/driver.h"

enum { OPTIONAL = 0, REQUIRED = 1 };

typedef struct symbol_entry {
    const char *name;
    int version;
    int need;
    size_t offset; /* of the pointer in gd_driver */
} symbol_entry;

static const symbol_entry symbols[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, {#name, version, need, offsetof(gd_driver, name)}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

typedef struct result_entry {
    gd_CUresult result;
    int32_t status;
    const char *name;
} result_entry;

static const result_entry results[] = {
#define GD_RESULT(name, value, status) {value, GRIDDEP_##status, #name},
#include "cuda/abi_errors.def"
#undef GD_RESULT
};

static const result_entry *find_result(gd_CUresult result)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i].result == result)
            return &results[i];
    }
    return NULL;
}

/* The legacy stream flag makes stream NULL mean the legacy default stream, whatever the process was
 * compiled with. */
static void *find_function(gd_get_proc_address get, const symbol_entry *symbol)
{
    void *function = NULL;
    int found = GD_CU_GET_PROC_ADDRESS_SUCCESS;
    gd_CUresult result =
        get(symbol->name, &function, symbol->version, GD_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);

    return result == GD_CUDA_SUCCESS && found == GD_CU_GET_PROC_ADDRESS_SUCCESS ? function : NULL;
}

static void name_missing(gd_text *missing, const symbol_entry *symbol)
{
    gd_text_format(missing, "%s%s (driver API %d.%d)", missing->bytes ? ", " : "", symbol->name,
                   symbol->version / 1000, symbol->version % 1000 / 10);
}

static int32_t start(gd_driver *driver, griddep_error *error)
{
    int version = 0;

    driver->started = true;
    gd_CUresult result = driver->cuInit(0);
    if (result == GD_CUDA_ERROR_NO_DEVICE)
        return gd_driver_fail(driver, result, error, "the driver %s finds no device", driver->path);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "the driver %s cannot be initialized",
                              driver->path);
    result = driver->cuDriverGetVersion(&version);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "the driver %s does not tell its version",
                              driver->path);
    driver->version = version;
    void *function;
    memcpy(&function, &driver->cuInit, sizeof function);
    driver->build = gd_library_build(function);
    return driver->build ? GRIDDEP_OK : gd_error_memory(error);
}

static gd_driver *allocate(const char *path)
{
    gd_driver *driver = calloc(1, sizeof *driver);

    if (!driver)
        return NULL;
    driver->path = strdup(path);
    if (!driver->path) {
        free(driver);
        return NULL;
    }
    return driver;
}

static int32_t open_library(gd_driver *driver, gd_get_proc_address *get, griddep_error *error)
{
    if (gd_file_is_pipe(driver->path))
        return gd_error_set(error, GRIDDEP_ERROR_NO_DRIVER,
                            "the driver cannot be opened: %s is a pipe", driver->path);
    driver->library = dlopen(driver->path, RTLD_NOW | RTLD_LOCAL);
    if (!driver->library) {
        const char *words = dlerror();
        return gd_error_set(error, GRIDDEP_ERROR_NO_DRIVER, "the driver cannot be opened: %s",
                            words ? words : driver->path);
    }
    void *function = dlsym(driver->library, "cuGetProcAddress_v2");
    if (!function)
        return gd_error_set(
            error, GRIDDEP_ERROR_DRIVER_TOO_OLD,
            "%s has no cuGetProcAddress_v2: it is older than driver API 12.0, or no CUDA driver",
            driver->path);
    memcpy(get, &function, sizeof *get);
    return GRIDDEP_OK;
}

static int32_t complete(gd_driver *driver, gd_get_proc_address get, gd_driver **result,
                        griddep_error *error)
{
    int32_t status = gd_driver_bind(driver, get, error);

    if (status == GRIDDEP_OK)
        status = start(driver, error);
    if (status != GRIDDEP_OK) {
        gd_driver_close(driver);
        return status;
    }
    *result = driver;
    return GRIDDEP_OK;
}

int32_t gd_driver_bind(gd_driver *driver, gd_get_proc_address get, griddep_error *error)
{
    gd_text missing = {0};

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = find_function(get, &symbols[i]);
        if (!function && symbols[i].need == REQUIRED)
            name_missing(&missing, &symbols[i]);
        memcpy((char *)driver + symbols[i].offset, &function, sizeof function);
    }
    int32_t status = GRIDDEP_OK;
    if (missing.failed)
        status = gd_error_memory(error);
    else if (missing.bytes)
        status = gd_error_set(error, GRIDDEP_ERROR_DRIVER_TOO_OLD, "the driver %s lacks %s",
                              driver->path ? driver->path : "", gd_text_get(&missing));
    gd_text_free(&missing);
    return status;
}

int32_t gd_driver_create(gd_get_proc_address get, const char *path, gd_driver **driver,
                         griddep_error *error)
{
    gd_driver *made = allocate(path);

    if (!made)
        return gd_error_memory(error);
    return complete(made, get, driver, error);
}

int32_t gd_driver_open(const char *path, gd_driver **driver, griddep_error *error)
{
    gd_get_proc_address get = NULL;
    gd_driver *made = allocate(path);

    if (!made)
        return gd_error_memory(error);
    int32_t status = open_library(made, &get, error);
    if (status != GRIDDEP_OK) {
        gd_driver_close(made);
        return status;
    }
    return complete(made, get, driver, error);
}

void gd_driver_close(gd_driver *driver)
{
    if (!driver)
        return;
    if (driver->library && !driver->started)
        dlclose(driver->library);
    free(driver->path);
    free(driver->build);
    free(driver);
}

/* From the release notes of the PTX ISA. */
int32_t gd_driver_ptx_version(int32_t version)
{
    static const struct {
        int32_t driver, ptx;
    } known[] = {{13010, 91}, {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86},
                 {12050, 85}, {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (version >= known[i].driver)
            return known[i].ptx;
    }
    return 80;
}

int32_t gd_driver_status(gd_CUresult result)
{
    const result_entry *entry = find_result(result);

    return entry ? entry->status : GRIDDEP_ERROR_DRIVER;
}

const char *gd_driver_result_name(gd_CUresult result)
{
    const result_entry *entry = find_result(result);

    return entry ? entry->name : NULL;
}

int32_t gd_driver_fail(const gd_driver *driver, gd_CUresult result, griddep_error *error,
                       const char *format, ...)
{
    const char *name = gd_driver_result_name(result);
    const char *words = NULL;
    gd_text what = {0};
    va_list list;

    if (!error)
        return gd_driver_status(result);
    va_start(list, format);
    gd_text_format_list(&what, format, list);
    va_end(list);
    if (!name && driver && driver->cuGetErrorName &&
        driver->cuGetErrorName(result, &name) != GD_CUDA_SUCCESS)
        name = NULL;
    if (driver && driver->cuGetErrorString &&
        driver->cuGetErrorString(result, &words) != GD_CUDA_SUCCESS)
        words = NULL;
    int32_t status = gd_error_set(error, gd_driver_status(result), "%s: %s (%" PRId32 ")%s%s",
                                  gd_text_get(&what), name ? name : "CUresult", result,
                                  words ? ": " : "", words ? words : "");
    error->driver_code = result;
    gd_text_free(&what);
    return status;
}
