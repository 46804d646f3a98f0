/* Loading and unloading modules, finding their kernels and variables. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fatbin.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unpack.h"
#include "ptx/require/lost_field.h"
#include "ptx/handle/ptx.h"
#include "ptx/text/source.h"
#include "run/host.h"
#include "run/module/compile.h"
#include "run/module/image.h"
#include "run/module/kernel.h"
#include "run/module/module.h"
#include "run/private.h"

enum {
    OPTIONS_MINIMUM = offsetof(griddep_module_options, headers),
    INFO_MINIMUM = offsetof(griddep_module_info, code),
    KNOWN_FLAGS = GRIDDEP_MODULE_LINE_INFO | GRIDDEP_MODULE_DEBUG | GRIDDEP_MODULE_VERBOSE |
                  GRIDDEP_MODULE_PTX | GRIDDEP_MODULE_LIBRARY | GRIDDEP_MODULE_PCH
};

/* ---- options ---- */

static int32_t read_options(griddep_module_options *options, const griddep_module_options *given,
                            const char *name, griddep_error *error)
{
    static const griddep_module_options defaults = {.size = sizeof defaults};
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM,
                                    given ? given : &defaults, "griddep_module_options", error);

    if (status)
        return status;
    if (options->flags & ~(uint32_t)KNOWN_FLAGS || options->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "griddep_module_options has unknown flags, or reserved is not zero");
    if (options->optimization < GRIDDEP_OPTIMIZATION_NONE || options->optimization > 4)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "optimization is %" PRId32 "; it may be -1 to 4",
                            options->optimization);
    if (options->compile_option_count && !options->compile_options)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "compile_options is NULL and compile_option_count is %" PRIu32,
                            options->compile_option_count);
    for (uint32_t i = 0; i < options->compile_option_count; i++) {
        if (!options->compile_options[i])
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "compile_options[%" PRIu32 "] is NULL", i);
    }
    if ((options->header_count && !options->headers) ||
        (options->name_expression_count && !options->name_expressions))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "headers or name_expressions is NULL, and its count is not 0");
    for (uint32_t i = 0; i < options->header_count; i++) {
        if (!options->headers[i].name || !options->headers[i].text)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "headers[%" PRIu32 "] has no name or no text", i);
    }
    for (uint32_t i = 0; i < options->name_expression_count; i++) {
        if (!options->name_expressions[i])
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "name_expressions[%" PRIu32 "] is NULL", i);
    }
    if (!options->name)
        options->name = name;
    return GRIDDEP_OK;
}

/* ---- kernels by name ---- */

static int32_t add_kernel_name(griddep_module *module, const char *name, uint32_t *capacity)
{
    if (module->kernel_count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 8;
        char **more = realloc(module->kernel_names, *capacity * sizeof *more);
        if (!more)
            return GRIDDEP_ERROR_MEMORY;
        module->kernel_names = more;
    }
    char *copy = strdup(name);
    if (!copy)
        return GRIDDEP_ERROR_MEMORY;
    module->kernel_names[module->kernel_count++] = copy;
    return GRIDDEP_OK;
}

static int32_t list_from_ptx(griddep_module *module, griddep_error *error)
{
    griddep_ptx_info info = {.size = sizeof info};
    uint32_t capacity = 0;
    int32_t status = griddep_ptx_get_info(module->ptx, &info, error);

    for (uint32_t i = 0; i < info.entry_count && !status; i++) {
        griddep_ptx_entry_info entry = {.size = sizeof entry};
        status = griddep_ptx_get_entry(module->ptx, i, &entry, error);
        if (!status && add_kernel_name(module, entry.name, &capacity))
            status = gd_error_memory(error);
    }
    return status;
}

/* Drivers before API 12.4 cannot list functions: then the list stays empty, and kernels are found
 * by name all the same. */
static int32_t list_from_driver(griddep_module *module, griddep_error *error)
{
    const gd_driver *driver = module->runtime->driver;
    unsigned count = 0;
    uint32_t capacity = 0;
    int32_t status = GRIDDEP_OK;

    if (!driver->cuModuleGetFunctionCount || !driver->cuModuleEnumerateFunctions ||
        !driver->cuFuncGetName ||
        driver->cuModuleGetFunctionCount(&count, module->loaded.module) != GD_CUDA_SUCCESS ||
        count == 0)
        return GRIDDEP_OK;
    gd_CUfunction *functions = calloc(count, sizeof *functions);
    if (!functions)
        return gd_error_memory(error);
    if (driver->cuModuleEnumerateFunctions(functions, count, module->loaded.module) !=
        GD_CUDA_SUCCESS)
        count = 0;
    for (unsigned i = 0; i < count && !status; i++) {
        const char *name = NULL;
        if (driver->cuFuncGetName(&name, functions[i]) == GD_CUDA_SUCCESS && name &&
            add_kernel_name(module, name, &capacity))
            status = gd_error_memory(error);
    }
    free(functions);
    return status;
}

static int32_t list_kernels(griddep_module *module, griddep_error *error)
{
    return module->ptx ? list_from_ptx(module, error) : list_from_driver(module, error);
}

static int32_t not_found(const griddep_module *module, const char *name, griddep_error *error)
{
    gd_error_set_at(error, GRIDDEP_ERROR_NOT_FOUND, module->name, 0, 0, "%s has no kernel \"%s\"",
                    module->name, name);
    for (uint32_t i = 0; i < module->kernel_count && i < 16; i++)
        gd_error_append(error, "%s%s", i ? ", " : "; it has ", module->kernel_names[i]);
    if (module->kernel_count > 16)
        gd_error_append(error, " and %" PRIu32 " more", module->kernel_count - 16);
    return GRIDDEP_ERROR_NOT_FOUND;
}

/* Reads a kernel that was not asked for before; the module's mutex is held. */
static int32_t read_kernel(griddep_module *module, const char *name, griddep_kernel **kernel,
                           griddep_error *error)
{
    griddep_runtime *runtime = module->runtime;
    gd_CUfunction function = NULL;
    bool pushed;
    int32_t status = gd_runtime_enter(runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result =
        runtime->driver->cuModuleGetFunction(&function, module->loaded.module, name);
    if (result == GD_CUDA_SUCCESS)
        status = gd_kernel_create(
            module, runtime, module->ptx ? module->ptx : gd_link_text_of(&module->linked, name),
            name, function, kernel, error);
    else if (gd_driver_status(result) == GRIDDEP_ERROR_NOT_FOUND)
        status = not_found(module, name, error);
    else
        status =
            gd_driver_fail(runtime->driver, result, error, "kernel %s of %s", name, module->name);
    gd_runtime_leave(runtime, pushed);
    return status;
}

static int32_t find_kernel(griddep_module *module, const char *name, griddep_kernel **kernel,
                           griddep_error *error)
{
    griddep_kernel *found;
    int32_t status = GRIDDEP_OK;

    pthread_mutex_lock(&module->mutex);
    for (found = module->kernels; found && strcmp(found->name, name); found = found->next)
        ;
    if (!found) {
        status = read_kernel(module, name, &found, error);
        if (!status) {
            found->next = module->kernels;
            module->kernels = found;
        }
    }
    pthread_mutex_unlock(&module->mutex);
    if (!status)
        *kernel = found;
    return status;
}

/* ---- the runtime's list ---- */

static void enlist(griddep_module *module)
{
    griddep_runtime *runtime = module->runtime;

    pthread_mutex_lock(&runtime->mutex);
    module->next = runtime->modules;
    runtime->modules = module;
    pthread_mutex_unlock(&runtime->mutex);
}

static void delist(griddep_module *module)
{
    griddep_runtime *runtime = module->runtime;

    pthread_mutex_lock(&runtime->mutex);
    griddep_module **at = &runtime->modules;
    while (*at && *at != module)
        at = &(*at)->next;
    if (*at)
        *at = module->next;
    pthread_mutex_unlock(&runtime->mutex);
}

/* A hold on a module that may be ending in another thread: then it has no references left, and
 * leaves the list next. */
static bool try_hold(griddep_module *module)
{
    unsigned references = atomic_load_explicit(&module->references, memory_order_relaxed);

    while (references &&
           !atomic_compare_exchange_weak_explicit(&module->references, &references, references + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    return references > 0;
}

static griddep_module *find_module(griddep_runtime *runtime, gd_CUmodule handle)
{
    griddep_module *found;

    pthread_mutex_lock(&runtime->mutex);
    for (found = runtime->modules; found && (found->loaded.module != handle || !try_hold(found));
         found = found->next)
        ;
    pthread_mutex_unlock(&runtime->mutex);
    return found;
}

int32_t gd_module_hold_all(griddep_runtime *runtime, griddep_module ***modules, uint32_t *count,
                           griddep_error *error)
{
    uint32_t room = 1, held = 0;

    pthread_mutex_lock(&runtime->mutex);
    for (const griddep_module *at = runtime->modules; at; at = at->next)
        room++;
    griddep_module **list = calloc(room, sizeof(griddep_module *));
    for (griddep_module *at = runtime->modules; at && list; at = at->next) {
        if (try_hold(at))
            list[held++] = at;
    }
    pthread_mutex_unlock(&runtime->mutex);
    if (!list)
        return gd_error_memory(error);
    *modules = list;
    *count = held;
    return GRIDDEP_OK;
}

/* ---- loading ---- */

static void unload(griddep_module *module)
{
    gd_ending ending;

    if (module->origin) /* which has the library */
        return;
    if (atomic_load_explicit(&module->stays, memory_order_relaxed)) {
        gd_runtime_keep_code(module->runtime, module->loaded);
        return;
    }
    gd_runtime_enter_to_end(module->runtime, &ending,
                            NULL); /* failed or not, what is held is given back */
    gd_runtime_unload(module->runtime, module->loaded);
    gd_runtime_leave_ended(module->runtime, &ending);
}

/* What is known about the code; of a shared one its origin has it. */
static void free_knowledge(griddep_module *module)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        free(module->kernel_names[i]);
    free(module->kernel_names);
    griddep_ptx_destroy(module->ptx);
    gd_link_free_texts(&module->linked);
    gd_image_free_kernels(&module->machine);
    for (uint32_t i = 0; i < module->alias_count; i++) {
        free(module->aliases[i].expression);
        free(module->aliases[i].name);
    }
    free(module->aliases);
}

static void release(griddep_module *module, bool abandoned)
{
    griddep_module *origin = module->origin;
    void (*at_end)(void *user, bool abandoned) = module->at_end;
    void *user = module->at_end_user;

    if (origin && atomic_load_explicit(&module->stays, memory_order_relaxed))
        gd_module_hold(origin); /* for as long as the process lives */
    delist(module);
    for (griddep_kernel *kernel = module->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        gd_kernel_destroy(kernel);
    }
    if (module->loaded.module && !abandoned)
        unload(module);
    if (!origin)
        free_knowledge(module);
    if (module->mutex_ready)
        pthread_mutex_destroy(&module->mutex);
    free(module->log);
    free(module->name);
    gd_runtime_forget(module->runtime, abandoned);
    free(module);
    if (at_end)
        at_end(user, abandoned);
    if (origin && abandoned)
        gd_module_abandon(origin);
    else
        gd_module_release(origin);
}

/* What is given to the driver: an image, or what a fatbin has for the device. */
typedef struct image_code {
    int32_t image; /* that the caller gave: GRIDDEP_IMAGE_* */
    int32_t kind;  /* of the code itself */
    const void *data;
    size_t bytes;
    int32_t architecture; /* of a part of a fatbin; 0: not known */
} image_code;

static int32_t create(griddep_runtime *runtime, const image_code *code, const char *name,
                      griddep_module **module, griddep_error *error)
{
    griddep_module *created = calloc(1, sizeof *created);

    if (!created)
        return gd_error_memory(error);
    atomic_init(&created->references, 1u);
    atomic_init(&created->captured, 0);
    atomic_init(&created->stays, false);
    created->runtime = gd_runtime_hold(runtime);
    created->image = code->image;
    created->code = code->kind;
    created->architecture = code->architecture;
    created->name = strdup(name);
    created->mutex_ready = !pthread_mutex_init(&created->mutex, NULL);
    if (!created->name || !created->mutex_ready) {
        griddep_module_unload(created);
        return gd_error_memory(error);
    }
    *module = created;
    return GRIDDEP_OK;
}

/* Fields of the head comment that look misspelt: nothing reads them. */
static void warn_of_head(const griddep_runtime *runtime, const griddep_ptx *ptx)
{
    griddep_findings *findings = runtime->log.function ? gd_findings_create() : NULL;

    if (!findings)
        return;
    gd_check_head(findings, &ptx->module);
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding found = {.size = sizeof found};
        if (griddep_findings_get(findings, i, &found, NULL) == GRIDDEP_OK)
            gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING, "%s:%" PRId32 ": %s", ptx->module.name,
                         found.line, found.text);
    }
    griddep_findings_destroy(findings);
}

/* The driver decides what is PTX. What only our parser refuses is loaded all the same, with nothing
 * known about its entries; what both refuse is reported with our position, which has a column, and
 * the driver's words. */
static int32_t load_ptx(griddep_module *module, const char *text, size_t bytes,
                        const griddep_module_options *options, griddep_error *error)
{
    griddep_runtime *runtime = module->runtime;
    griddep_error syntax, refusal;
    bool pushed;

    griddep_error_init(&syntax);
    griddep_error_init(&refusal);
    int32_t parsed = griddep_ptx_parse(text, bytes, options->name, &module->ptx, &syntax);
    if (parsed == GRIDDEP_ERROR_MEMORY)
        return gd_error_memory(error);
    if (!parsed && module->ptx->requires_wrong.count)
        return gd_ptx_report(module->ptx, &module->ptx->requires_wrong.list[0], error);
    int32_t status = gd_runtime_enter(runtime, &pushed, error);
    if (status)
        return status;
    status = gd_compile_ptx(runtime, text, bytes, options, &module->loaded, &module->log, &refusal);
    gd_runtime_leave(runtime, pushed);
    if (!status && !parsed)
        warn_of_head(runtime, module->ptx);
    if (!status && parsed)
        gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING,
                     "the driver takes %s but libgriddep cannot read it, so its kernels are "
                     "launched without overlap: %s",
                     options->name, syntax.text);
    if (!status)
        return GRIDDEP_OK;
    if (parsed && status == GRIDDEP_ERROR_COMPILE) {
        status = gd_error_set_at(error, GRIDDEP_ERROR_SYNTAX, syntax.file, syntax.line,
                                 syntax.column, "%s\n%s", syntax.text, refusal.text);
        if (error)
            error->driver_code = refusal.driver_code;
        return status;
    }
    gd_error_copy(error, &refusal);
    return status;
}

static int32_t load_binary(griddep_module *module, const void *image, size_t bytes,
                           const griddep_module_options *options, griddep_error *error)
{
    bool pushed;
    int32_t status = module->code == GRIDDEP_IMAGE_CUBIN
                         ? gd_image_list_kernels(image, bytes, &module->machine, error)
                         : GRIDDEP_OK;

    if (!status)
        status = gd_runtime_enter(module->runtime, &pushed, error);
    if (status)
        return status;
    status = gd_compile_binary(module->runtime, image, module->code, options, &module->loaded,
                               &module->log, error);
    gd_runtime_leave(module->runtime, pushed);
    return status;
}

/* Loads code whose kind and size were examined; of PTX, text[bytes] is zero. */
static int32_t load(griddep_runtime *runtime, const image_code *code,
                    const griddep_module_options *options, griddep_module **module,
                    griddep_error *error)
{
    griddep_module *loaded = NULL;
    bool pushed = false;
    int32_t status = create(runtime, code, options->name, &loaded, error);

    if (status)
        return status;
    status = code->kind == GRIDDEP_IMAGE_PTX
                 ? load_ptx(loaded, code->data, code->bytes, options, error)
                 : load_binary(loaded, code->data, code->bytes, options, error);
    if (!status)
        status = gd_runtime_enter(runtime, &pushed, error);
    if (!status) {
        status = list_kernels(loaded, error);
        gd_runtime_leave(runtime, pushed);
    }
    if (status) {
        griddep_module_unload(loaded);
        return status;
    }
    gd_log_write(
        &runtime->log, GRIDDEP_LOG_INFO, "loaded %s: %s%s%s, %" PRIu32 " kernels", options->name,
        gd_image_kind_name(code->image), code->kind == code->image ? "" : " with ",
        code->kind == code->image ? "" : gd_image_kind_name(code->kind), loaded->kernel_count);
    enlist(loaded);
    *module = loaded;
    return GRIDDEP_OK;
}

/* Loads what a fatbin has of a kind for the device. *refused says that another kind may serve: the
 * fatbin has none of this one, in a form that is known, or the driver does not take it. */
static int32_t load_part(griddep_runtime *runtime, gd_view fatbin, uint16_t kind,
                         const griddep_module_options *options, griddep_module **module,
                         bool *refused, griddep_error *error)
{
    gd_fatbin_entry entry;
    char *data = NULL;
    image_code code = {.image = GRIDDEP_IMAGE_FATBIN};
    uint64_t bytes = 0;

    *refused = true;
    if (!gd_fatbin_choose(fatbin, kind, runtime->info.capability, &entry))
        return GRIDDEP_ERROR_IMAGE;
    const char *wrong = gd_fatbin_unpack(&entry, &data, &bytes);
    if (wrong == gd_unpack_no_memory) {
        *refused = false;
        return gd_error_memory(error);
    }
    if (wrong) {
        gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING,
                     "%s: its %s for sm_%" PRId32 " cannot be read: %s", options->name,
                     kind == GD_FATBIN_PTX ? "PTX" : "cubin", entry.chip, wrong);
        return gd_error_set(error, GRIDDEP_ERROR_IMAGE, "%s", wrong);
    }
    int32_t status = gd_image_examine(data, bytes, options->name, &code.kind, error);
    if (!status && code.kind != (kind == GD_FATBIN_PTX ? GRIDDEP_IMAGE_PTX : GRIDDEP_IMAGE_CUBIN))
        status = gd_error_set(error, GRIDDEP_ERROR_IMAGE,
                              "%s: an entry of this fatbin is not what it says", options->name);
    code.data = data;
    code.bytes = (size_t)bytes;
    code.architecture = entry.chip;
    if (!status) {
        status = load(runtime, &code, options, module, error);
        *refused = status == GRIDDEP_ERROR_IMAGE;
    }
    free(data);
    return status;
}

/* Of a fatbin the library chooses what a driver would take, so that what is known about the code is
 * known of the code that runs. Where it finds nothing that the driver takes, the driver chooses. */
static int32_t load_fatbin(griddep_runtime *runtime, gd_view fatbin,
                           const griddep_module_options *options, griddep_module **module,
                           griddep_error *error)
{
    const image_code whole = {.image = GRIDDEP_IMAGE_FATBIN,
                              .kind = GRIDDEP_IMAGE_FATBIN,
                              .data = fatbin.bytes,
                              .bytes = (size_t)fatbin.size};
    bool refused = true;
    int32_t status = GRIDDEP_OK;
    griddep_error refusal;

    griddep_error_init(&refusal);
    if (!(options->flags & GRIDDEP_MODULE_PTX))
        status = load_part(runtime, fatbin, GD_FATBIN_CUBIN, options, module, &refused, &refusal);
    if (refused)
        status = load_part(runtime, fatbin, GD_FATBIN_PTX, options, module, &refused, &refusal);
    if (refused)
        return load(runtime, &whole, options, module, error);
    if (status)
        gd_error_copy(error, &refusal);
    return status;
}

/* Loads what a caller holds in memory; a terminated copy is made of text. */
static int32_t load_image(griddep_runtime *runtime, const void *image, uint64_t bytes,
                          const griddep_module_options *options, griddep_module **module,
                          griddep_error *error)
{
    const char *text = image;
    griddep_module_options named = *options;
    image_code code = {.data = image, .bytes = (size_t)bytes};
    int32_t status =
        gd_image_examine(image, bytes, options->name ? options->name : "image", &code.image, error);

    if (status)
        return status;
    if (!named.name)
        named.name = gd_image_kind_name(code.image);
    code.kind = code.image;
    options = &named;
    if (code.kind == GRIDDEP_IMAGE_FATBIN)
        return load_fatbin(runtime, (gd_view){image, bytes}, options, module, error);
    if (code.kind != GRIDDEP_IMAGE_PTX)
        return load(runtime, &code, options, module, error);
    while (text[code.bytes - 1] == 0)
        code.bytes--;
    char *copy = malloc(code.bytes + 1);
    if (!copy)
        return gd_error_memory(error);
    memcpy(copy, text, code.bytes);
    copy[code.bytes] = 0;
    code.data = copy;
    status = load(runtime, &code, options, module, error);
    free(copy);
    return status;
}

/* What NVRTC made. A driver that is older than NVRTC refuses its .version, and takes most texts
 * under one of its own. */
static int32_t load_compiled(griddep_runtime *runtime, char *ptx, size_t bytes,
                             const griddep_module_options *options, griddep_module **module,
                             griddep_error *error)
{
    const int32_t version = runtime->driver->version, newer = runtime->nvrtc->version;
    griddep_error refusal;

    griddep_error_init(&refusal);
    int32_t status = load_image(runtime, ptx, bytes, options, module, &refusal);
    if (status && refusal.driver_code == GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION &&
        gd_compile_lower(runtime, ptx, options->name)) {
        griddep_error_init(&refusal);
        status = load_image(runtime, ptx, bytes, options, module, &refusal);
    }
    if (status && newer > version &&
        (status == GRIDDEP_ERROR_COMPILE || status == GRIDDEP_ERROR_SYNTAX))
        gd_error_append(&refusal,
                        "\nNVRTC %" PRId32 ".%" PRId32
                        " (%s) is newer than the driver, which is for CUDA %" PRId32 ".%" PRId32
                        ": GRIDDEP_NVRTC can name one that is not",
                        newer / 1000, newer % 1000 / 10, runtime->nvrtc->path, version / 1000,
                        version % 1000 / 10);
    if (status)
        gd_error_copy(error, &refusal);
    return status;
}

/* Names of the PTX stand in its last lines, one for each expression, in their order. */
static int32_t keep_names(griddep_module *module, const char *ptx, size_t bytes,
                          const griddep_module_options *options, griddep_error *error)
{
    const size_t mark = strlen(GD_NVRTC_NAME);
    const char *end = ptx + bytes;

    module->aliases = calloc((size_t)options->name_expression_count + 1, sizeof *module->aliases);
    if (!module->aliases)
        return gd_error_memory(error);
    module->alias_count = options->name_expression_count;
    for (uint32_t i = options->name_expression_count; i-- > 0;) {
        end--; /* each ends with a line feed */
        const char *line = memrchr(ptx, '\n', (size_t)(end - ptx));
        if (!line || strncmp(line + 1, GD_NVRTC_NAME, mark))
            return gd_error_set(error, GRIDDEP_ERROR_DRIVER, "the names of %s are lost",
                                module->name);
        const char *name = line + 1 + mark;
        module->aliases[i].name = strndup(name, (size_t)(end - name));
        module->aliases[i].expression = strdup(options->name_expressions[i]);
        if (!module->aliases[i].name || !module->aliases[i].expression)
            return gd_error_memory(error);
        end = line + 1;
    }
    return GRIDDEP_OK;
}

/* A C++ name that was asked for when the module was compiled, as the PTX has it. */
static const char *name_in_ptx(const griddep_module *module, const char *name)
{
    for (uint32_t i = 0; name && i < module->alias_count; i++) {
        if (!strcmp(module->aliases[i].expression, name))
            return module->aliases[i].name;
    }
    return name;
}

static int32_t compile(griddep_runtime *runtime, const char *source,
                       const griddep_module_options *options, griddep_module **module,
                       griddep_error *error)
{
    griddep_module *made = NULL;
    char *ptx = NULL, *log = NULL;
    size_t bytes = 0;
    bool from_store = false;
    gd_text both = {0};
    int32_t status =
        gd_compile_source(runtime, source, options, &ptx, &bytes, &log, &from_store, error);

    if (status)
        return status;
    status = load_compiled(runtime, ptx, bytes, options, &made, error);
    if (!status)
        status = keep_names(made, ptx, bytes, options, error);
    if (!status) {
        gd_text_format(&both, "%s%s", log, made->log);
        if (both.failed)
            status = gd_error_memory(error);
    }
    free(ptx);
    free(log);
    if (status) {
        gd_text_free(&both);
        griddep_module_unload(made);
        return status;
    }
    free(made->log);
    made->log = both.data;
    made->from_store = from_store;
    *module = made;
    return GRIDDEP_OK;
}

/* A kernel's traits and parameters are those of the PTX that has it; of other inputs' the linked
 * code is read. */
static int32_t link(griddep_runtime *runtime, const griddep_link_input *inputs, uint32_t count,
                    const griddep_module_options *options, griddep_module **module,
                    griddep_error *error)
{
    image_code code = {.image = GRIDDEP_IMAGE_CUBIN, .kind = GRIDDEP_IMAGE_CUBIN};
    griddep_module *made = NULL;
    gd_link_texts texts = {0};
    char *log = NULL;
    void *image = NULL;
    bool pushed;
    int32_t status = gd_link_read_texts(inputs, count, &texts, error);

    if (!status)
        status = gd_runtime_enter(runtime, &pushed, error);
    if (!status) {
        status = gd_link(runtime, inputs, count, options, &image, &code.bytes, &log, error);
        gd_runtime_leave(runtime, pushed);
    }
    code.data = image;
    if (!status)
        status = load(runtime, &code, options, &made, error);
    free(image);
    if (status) {
        gd_link_free_texts(&texts);
        free(log);
        return status;
    }
    if (!*made->log) {
        free(made->log);
        made->log = log;
    } else {
        free(log);
    }
    made->linked = texts;
    *module = made;
    return GRIDDEP_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), part = strlen(end);

    return length >= part && !strcmp(text + length - part, end);
}

static int32_t check_load(const griddep_runtime *runtime, const void *input,
                          griddep_module **module, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (runtime && input && module)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                        !runtime  ? "runtime"
                        : !module ? "module"
                                  : "the image, source, path or name");
}

griddep_module *gd_module_hold(griddep_module *module)
{
    atomic_fetch_add_explicit(&module->references, 1u, memory_order_relaxed);
    return module;
}

void gd_module_at_end(griddep_module *module, void (*end)(void *user, bool abandoned), void *user)
{
    module->at_end = end;
    module->at_end_user = user;
}

void gd_module_release(griddep_module *module)
{
    if (module && atomic_fetch_sub_explicit(&module->references, 1u, memory_order_acq_rel) == 1)
        release(module, false);
}

void gd_module_abandon(griddep_module *module)
{
    if (atomic_fetch_sub_explicit(&module->references, 1u, memory_order_acq_rel) == 1)
        release(module, true);
}

int32_t gd_module_kernel_of(griddep_runtime *runtime, gd_CUfunction function,
                            griddep_kernel **kernel, griddep_error *error)
{
    gd_CUmodule handle = NULL;
    griddep_kernel *found = NULL;
    int32_t status = GRIDDEP_OK;
    gd_CUresult result = runtime->driver->cuFuncGetModule(&handle, function);
    griddep_module *module = result == GD_CUDA_SUCCESS ? find_module(runtime, handle) : NULL;
    const char *name = NULL;

    /* By its name, so that no other kernel of the module is loaded for it. */
    if (module && runtime->driver->cuFuncGetName &&
        runtime->driver->cuFuncGetName(&name, function) == GD_CUDA_SUCCESS && name) {
        status = find_kernel(module, name, &found, error);
        if (!status && found->function != function)
            found = NULL;
    }
    for (uint32_t i = 0; module && !name && i < module->kernel_count && !status; i++) {
        status = find_kernel(module, module->kernel_names[i], &found, error);
        if (!status && found->function == function)
            break;
        found = NULL;
    }
    if (!found)
        gd_module_release(module);
    if (!status)
        *kernel = found;
    return status;
}

/* ---- private.h ---- */

uint32_t gd_ptx_source_line(const griddep_ptx *ptx, uint32_t line)
{
    return (uint32_t)gd_ptx_find_line_source(&ptx->module, line).line;
}

uint32_t gd_module_source_line(const griddep_module *module, uint32_t line)
{
    return module && module->ptx ? gd_ptx_source_line(module->ptx, line) : 0;
}

/* ---- public ---- */

int32_t griddep_module_load(griddep_runtime *runtime, const void *image, uint64_t bytes,
                            const griddep_module_options *given, griddep_module **module,
                            griddep_error *error)
{
    griddep_module_options options;
    int32_t status = check_load(runtime, image, module, error);

    if (!status)
        status = read_options(&options, given, NULL, error);
    return status ? status : load_image(runtime, image, bytes, &options, module, error);
}

int32_t griddep_module_load_file(griddep_runtime *runtime, const char *path,
                                 const griddep_module_options *given, griddep_module **module,
                                 griddep_error *error)
{
    griddep_module_options options;
    char *data = NULL;
    size_t bytes = 0;
    int32_t status = check_load(runtime, path, module, error);

    if (!status)
        status = read_options(&options, given, path, error);
    if (!status)
        status = gd_file_read(path, &data, &bytes, error);
    if (status)
        return status;
    status = ends_with(path, ".cu")
                 ? griddep_module_compile(runtime, data, bytes, &options, module, error)
                 : load_image(runtime, data, bytes, &options, module, error);
    free(data);
    return status;
}

int32_t griddep_module_compile(griddep_runtime *runtime, const char *source, uint64_t bytes,
                               const griddep_module_options *given, griddep_module **module,
                               griddep_error *error)
{
    griddep_module_options options;
    int32_t status = check_load(runtime, source, module, error);

    if (!status)
        status = read_options(&options, given, "source.cu", error);
    if (status)
        return status;
    while (bytes && source[bytes - 1] == 0)
        bytes--;
    if (memchr(source, 0, (size_t)bytes))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s: the source has a zero byte in it",
                            options.name);
    char *copy = strndup(source, (size_t)bytes);
    if (!copy)
        return gd_error_memory(error);
    status = compile(runtime, copy, &options, module, error);
    free(copy);
    return status;
}

int32_t griddep_module_link(griddep_runtime *runtime, const griddep_link_input *inputs,
                            uint32_t count, const griddep_module_options *given,
                            griddep_module **module, griddep_error *error)
{
    griddep_module_options options;
    int32_t status = check_load(runtime, inputs, module, error);

    if (!status)
        status = read_options(&options, given, "linked", error);
    if (status)
        return status;
    if (!count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "there is nothing to link: count is 0");
    for (uint32_t i = 0; i < count; i++) {
        if (!inputs[i].image || !inputs[i].bytes)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "inputs[%" PRIu32 "]: image is NULL, or bytes is 0", i);
    }
    return link(runtime, inputs, count, &options, module, error);
}

/* All that is known about the code is borrowed of its origin, which is held. */
static int32_t share(griddep_module *origin, griddep_runtime *runtime, griddep_module **module,
                     griddep_error *error)
{
    const image_code code = {
        .image = origin->image, .kind = origin->code, .architecture = origin->architecture};
    griddep_module *made = NULL;
    bool pushed;
    int32_t status = create(runtime, &code, origin->name, &made, error);

    if (status)
        return status;
    made->origin = gd_module_hold(origin);
    made->loaded.library = origin->loaded.library;
    made->ptx = origin->ptx;
    made->machine = origin->machine;
    made->linked = origin->linked;
    made->aliases = origin->aliases;
    made->alias_count = origin->alias_count;
    made->from_store = origin->from_store;
    made->kernel_names = origin->kernel_names;
    made->kernel_count = origin->kernel_count;
    made->log = strdup("");
    status = made->log ? gd_runtime_enter(runtime, &pushed, error) : gd_error_memory(error);
    if (!status) {
        gd_CUresult result =
            runtime->driver->cuLibraryGetModule(&made->loaded.module, made->loaded.library);
        if (result != GD_CUDA_SUCCESS)
            status = gd_driver_fail(runtime->driver, result, error,
                                    "%s in the context of another runtime", origin->name);
        gd_runtime_leave(runtime, pushed);
    }
    if (status) {
        griddep_module_unload(made);
        return status;
    }
    enlist(made);
    *module = made;
    return GRIDDEP_OK;
}

int32_t griddep_module_share(griddep_module *module, griddep_runtime *runtime,
                             griddep_module **shared, griddep_error *error)
{
    int32_t status = check_load(runtime, module, shared, error);

    if (status)
        return status;
    if (!module->loaded.library)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s is not shared: it was loaded without GRIDDEP_MODULE_LIBRARY",
                            module->name);
    if (module->runtime->driver->cuLibraryGetModule != runtime->driver->cuLibraryGetModule)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s is not shared: the runtimes have two drivers, %s and %s",
                            module->name, module->runtime->driver->path, runtime->driver->path);
    return share(module->origin ? module->origin : module, runtime, shared, error);
}

int32_t griddep_module_load_shelf(griddep_runtime *runtime, const char *name,
                                  const griddep_module_options *given, griddep_module **module,
                                  griddep_error *error)
{
    griddep_module_options options;
    griddep_shelf_info entry = {.size = sizeof entry};
    int32_t status = check_load(runtime, name, module, error);

    if (!status)
        status = griddep_shelf_find(name, runtime->info.capability, &entry, error);
    if (!status)
        status = read_options(&options, given, entry.file, error);
    return status ? status : load_image(runtime, entry.text, entry.bytes, &options, module, error);
}

static void end_later(griddep_runtime *runtime, void *module)
{
    (void)runtime;
    griddep_module_unload(module);
}

void griddep_module_unload(griddep_module *module)
{
    if (!module || gd_host_put_off(module->runtime, end_later, module, NULL))
        return;
    gd_runtime_retire(module->runtime);
    gd_module_release(module);
}

int32_t griddep_module_get_info(griddep_module *module, griddep_module_info *info,
                                griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!module)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "module is NULL");
    const griddep_module_info known = {.size = sizeof known,
                                       .image = module->image,
                                       .name = module->name,
                                       .log = module->log,
                                       .ptx = module->ptx,
                                       .from_store = module->from_store,
                                       .kernel_count = module->kernel_count,
                                       .code = module->code,
                                       .architecture = module->architecture};
    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_module_info", error);
}

/* Whoever knows the address may give it to a kernel. */
int32_t griddep_module_get_global(griddep_module *module, const char *name, uint64_t *address,
                                  uint64_t *bytes, griddep_error *error)
{
    int32_t status = gd_module_find_variable(module, name, address, bytes, error);

    if (!status && !atomic_exchange(&module->variables_known, true))
        atomic_fetch_add(&module->runtime->exposures, 1);
    return status;
}

int32_t gd_module_find_variable(griddep_module *module, const char *name, uint64_t *address,
                                uint64_t *bytes, griddep_error *error)
{
    gd_CUdeviceptr found = 0;
    size_t size = 0;
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!module || !name || !address || !bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "module, name, address or bytes is NULL");
    status = gd_runtime_enter(module->runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = module->runtime->driver->cuModuleGetGlobal(
        &found, &size, module->loaded.module, name_in_ptx(module, name));
    gd_runtime_leave(module->runtime, pushed);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(module->runtime->driver, result, error, "variable \"%s\" of %s", name,
                              module->name);
    *address = found;
    *bytes = size;
    return GRIDDEP_OK;
}

/* The driver finds it as any other variable; whether it is managed it says of the address. */
int32_t griddep_module_get_managed(griddep_module *module, const char *name, void **memory,
                                   uint64_t *bytes, griddep_error *error)
{
    unsigned managed = 0;
    uint64_t address = 0, size = 0;
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!memory)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "memory is NULL");
    status = griddep_module_get_global(module, name, &address, bytes ? &size : NULL, error);
    if (!status)
        status = gd_runtime_enter(module->runtime, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = module->runtime->driver->cuPointerGetAttribute(
        &managed, GD_CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    gd_runtime_leave(module->runtime, pushed);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(module->runtime->driver, result, error, "variable \"%s\" of %s", name,
                              module->name);
    if (!managed)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "variable \"%s\" of %s is not managed: it has no .attribute(.managed)",
                            name, module->name);
    *memory = (void *)(uintptr_t)address;
    *bytes = size;
    return GRIDDEP_OK;
}

int32_t griddep_module_find_kernel(griddep_module *module, const char *name,
                                   griddep_kernel **kernel, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!module || !kernel)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            module ? "kernel" : "module");
    if (name)
        return find_kernel(module, name_in_ptx(module, name), kernel, error);
    if (module->kernel_count != 1)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%s has %" PRIu32 " kernels; a name says which", module->name,
                            module->kernel_count);
    return find_kernel(module, module->kernel_names[0], kernel, error);
}

int32_t griddep_module_get_kernel(griddep_module *module, uint32_t index, griddep_kernel **kernel,
                                  griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!module || !kernel)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            module ? "kernel" : "module");
    if (index >= module->kernel_count)
        return gd_error_no_number(error, "", module->name, module->kernel_count, "kernel",
                                  "kernels", index);
    return find_kernel(module, module->kernel_names[index], kernel, error);
}
