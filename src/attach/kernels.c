/* Modules and kernels by handle. Their records stay when the driver's handles end. */
#include "attach/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "attach/code.h"
#include "attach/image.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/place.h"
#include "attach/process.h"
#include "attach/record.h"
#include "attach/streams.h"
#include "base/table.h"
#include "griddep.h"

enum { LARGEST_IMAGE = 1 << 28 };

typedef struct gd_module {
    uint32_t number;
    gd_CUcontext context; /* that ends it; NULL */
    gd_code *code;        /* where somebody looks into it; NULL */
    gd_table kernels;     /* by name */
} gd_module;

struct gd_kernel {
    gd_module *module;
    gd_CUfunction function; /* a handle that is no CUkernel; NULL */
    uint32_t number;
    int32_t reason;             /* as gd_code_reason; -1: nobody has asked yet */
    bool asked;                 /* for its extents */
    const griddep_ptx *extents; /* as gd_code_extents */
    uint32_t entry;             /* there */
    gd_attached_kernel *record; /* NULL: never launched */
    char name[];
};

static gd_map functions, modules; /* by handle */

static uint64_t key_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

static bool is_of_module(const void *value, const void *user)
{
    return ((const gd_kernel *)value)->module == user;
}

static bool is_module(const void *value, const void *user)
{
    return value == user;
}

static void free_module(gd_module *module)
{
    for (size_t i = 0; i < module->kernels.capacity; i++)
        free(module->kernels.slots[i].value);
    gd_table_free(&module->kernels);
    gd_code_free(module->code);
    free(module);
}

static uint32_t record_module(const char *path, uint64_t offset, uint64_t bytes, bool rewritten)
{
    uint32_t number;
    gd_attached_module *record = gd_record_add(GD_ATTACHED_MODULE, sizeof *record, path, &number);

    record->offset = offset;
    record->bytes = bytes;
    record->rewritten = rewritten;
    gd_record_commit(record, GD_ATTACHED_MODULE);
    return number;
}

/* Launches are changed by what it shows, or their arguments compared. */
static bool looks_into_code(void)
{
    return gd_process_settings()->early != GD_ATTACHED_EARLY_OFF;
}

/* Records the image of a module; it stands in `file` (NULL: in none). */
static void note_image(gd_module *made, const void *image, uint64_t bytes,
                       const gd_place_file *file, bool rewritten)
{
    char name[64];

    if (file)
        made->number = record_module(file->path, file->offset, bytes, rewritten);
    else if (bytes && bytes <= LARGEST_IMAGE && gd_record_image(image, (size_t)bytes, name))
        made->number = record_module(name, 0, bytes, rewritten);
    else
        made->number = record_module("", 0, bytes, rewritten);
    if (bytes && looks_into_code())
        made->code = gd_code_keep(image, bytes, file);
}

static gd_module *add_module(const void *handle)
{
    gd_module *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->number = GD_ATTACHED_NONE;
    if (!gd_map_set(&modules, key_of(handle), 0, made)) {
        free(made);
        return NULL;
    }
    return made;
}

/* A module that was loaded by ways that nobody sees. */
static gd_module *module_of(const void *handle)
{
    gd_module *found = gd_map_find(&modules, key_of(handle), 0);

    if (found || !(found = add_module(handle)))
        return found;
    found->number = record_module("", 0, 0, false);
    return found;
}

static gd_kernel *kernel_of_name(gd_module *of, const char *name)
{
    const size_t bytes = strlen(name);
    gd_kernel *found = gd_table_find(&of->kernels, name, bytes);

    if (found)
        return found;
    found = calloc(1, sizeof *found + bytes + 1);
    if (!found)
        return NULL;
    found->module = of;
    found->number = GD_ATTACHED_NONE;
    found->reason = -1;
    memcpy(found->name, name, bytes + 1);
    if (!gd_table_set(&of->kernels, found->name, bytes, found)) {
        free(found);
        return NULL;
    }
    return found;
}

/* 0: not known. */
static uint32_t ask_function(gd_CUfunction function, gd_CUfunction_attribute attribute)
{
    int value = 0;

    if (!function || GD_NEXT(cuFuncGetAttribute, &value, attribute, function))
        return 0;
    return value > 0 ? (uint32_t)value : 0;
}

static uint32_t ask_device(gd_CUdevice_attribute attribute)
{
    gd_CUdevice device;
    int value = 0;

    if (GD_NEXT(cuCtxGetDevice, &device) ||
        GD_NEXT(cuDeviceGetAttribute, &value, attribute, device))
        return 0;
    return value > 0 ? (uint32_t)value : 0;
}

/* What the launch asks for, or what its function is set to; -1: the driver's choice. */
static int32_t find_carveout(gd_CUfunction function, const gd_CUlaunchConfig *config)
{
    int percent = -1;

    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        if (config->attrs[i].id == GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
            return (int32_t)config->attrs[i].value.sharedMemCarveout;
    }
    if (!function || GD_NEXT(cuFuncGetAttribute, &percent,
                             GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, function))
        return -1;
    return percent;
}

static gd_attached_shape read_shape(gd_CUfunction function, const gd_CUlaunchConfig *config)
{
    return (gd_attached_shape){
        .grid = (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ,
        .threads = config->blockDimX * config->blockDimY * config->blockDimZ,
        .registers = ask_function(function, GD_CU_FUNC_ATTRIBUTE_NUM_REGS),
        .shared = ask_function(function, GD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) +
                  config->sharedMemBytes +
                  ask_device(GD_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
        .carveout = find_carveout(function, config),
        .multiprocessors = ask_device(GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .most_blocks = ask_device(GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
        .most_threads = ask_device(GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        .most_registers = ask_device(GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
        .most_shared = ask_device(GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)};
}

static gd_CUfunction function_of(const gd_kernel *kernel, gd_CUfunction handle)
{
    gd_CUfunction function = kernel->function;

    if (!function && GD_NEXT(cuKernelGetFunction, &function, (gd_CUkernel)handle))
        function = NULL;
    return function;
}

static void record_kernel(gd_kernel *kernel, gd_CUfunction handle, const gd_CUlaunchConfig *config)
{
    const gd_CUfunction function = function_of(kernel, handle);

    kernel->record =
        gd_record_add(GD_ATTACHED_KERNEL, sizeof *kernel->record, kernel->name, &kernel->number);
    kernel->record->module = kernel->module->number;
    kernel->record->first_plain = kernel->record->first_early = GD_ATTACHED_NONE;
    kernel->record->binary = ask_function(function, GD_CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    kernel->record->shape = read_shape(function, config);
    gd_record_commit(kernel->record, GD_ATTACHED_KERNEL);
}

/* The only kernel of that name; NULL: there is none, or several. */
static gd_kernel *find_named(const char *name)
{
    gd_kernel *found = NULL;

    for (size_t i = 0; i < functions.capacity; i++) {
        gd_kernel *each = functions.slots[i].value;
        if (!each || each == found || strcmp(each->name, name))
            continue;
        if (found)
            return NULL;
        found = each;
    }
    return found;
}

/* A function that came by ways that nobody sees: tables of the driver that are not documented, or
 * nodes of graphs, which have a function of a library's kernel, in a module that nobody asked for.
 */
static gd_kernel *ask_driver(gd_CUfunction function)
{
    gd_CUmodule in = NULL;
    const char *name = NULL;

    if (GD_NEXT(cuFuncGetModule, &in, function) || GD_NEXT(cuFuncGetName, &name, function) || !name)
        return NULL;
    gd_kernel *known = gd_map_find(&modules, key_of(in), 0) ? NULL : find_named(name);
    if (!known)
        gd_kernels_add(function, in, name, true);
    else if (gd_map_set(&functions, key_of(function), 0, known) && !known->function)
        known->function = function;
    return gd_map_find(&functions, key_of(function), 0);
}

void gd_kernels_add_module(const void *handle, gd_CUcontext context, const void *image,
                           bool rewritten)
{
    gd_kernels_end_module(handle); /* an old one, which ended by ways that nobody sees */
    gd_module *made = add_module(handle);
    if (!made)
        return;
    made->context = context;
    uint64_t bytes = 0;
    gd_place_file file;
    const void *begins = gd_image_measure(image, &bytes);
    const bool in_file = bytes && gd_place_find_file(begins, bytes, &file);
    note_image(made, begins, bytes, in_file ? &file : NULL, rewritten);
}

void gd_kernels_add_module_file(const void *handle, gd_CUcontext context, const char *path)
{
    gd_kernels_end_module(handle);
    gd_module *made = add_module(handle);
    if (!made)
        return;
    made->context = context;
    gd_place_file file = {.offset = 0};
    struct stat told;
    const bool found = realpath(path, file.path) != NULL;
    made->number = record_module(found ? file.path : "", 0, 0, false);
    if (looks_into_code() && found && !stat(file.path, &told) && S_ISREG(told.st_mode))
        made->code = gd_code_keep(NULL, (uint64_t)told.st_size, &file);
}

void gd_kernels_add_module_alias(const void *handle, const void *known)
{
    gd_module *of = gd_map_find(&modules, key_of(known), 0);

    if (of)
        gd_map_set(&modules, key_of(handle), 0, of);
}

void gd_kernels_end_module(const void *handle)
{
    gd_module *ended = gd_map_find(&modules, key_of(handle), 0);

    if (!ended)
        return;
    gd_map_remove_all(&modules, is_module, ended);
    gd_map_remove_all(&functions, is_of_module, ended);
    gd_streams_renew();
    free_module(ended);
}

static const void *find_of_context(gd_CUcontext context)
{
    for (size_t i = 0; i < modules.capacity; i++) {
        const gd_module *each = modules.slots[i].value;
        if (each && each->context == context)
            return (const void *)(uintptr_t)modules.slots[i].first;
    }
    return NULL;
}

void gd_kernels_end_context(gd_CUcontext context)
{
    for (const void *handle; context && (handle = find_of_context(context)) != NULL;)
        gd_kernels_end_module(handle);
}

void gd_kernels_add(const void *handle, const void *of, const char *name, bool is_function)
{
    if (!name && GD_NEXT(cuKernelGetName, &name, (gd_CUkernel)(uintptr_t)handle))
        return;
    gd_module *in = name ? module_of(of) : NULL;
    gd_kernel *found = in ? kernel_of_name(in, name) : NULL;
    gd_streams_renew();
    if (found && gd_map_set(&functions, key_of(handle), 0, found) && is_function)
        found->function = (gd_CUfunction)(uintptr_t)handle;
}

void gd_kernels_add_alias(gd_CUfunction function, gd_CUkernel known)
{
    gd_kernel *found = gd_map_find(&functions, key_of(known), 0);

    gd_streams_renew();
    if (found && gd_map_set(&functions, key_of(function), 0, found))
        found->function = function;
}

gd_attached_kernel *gd_kernels_find(gd_CUfunction handle, const gd_CUlaunchConfig *config,
                                    uint32_t *number)
{
    gd_kernel *found = gd_map_find(&functions, key_of(handle), 0);

    if (!found)
        found = ask_driver(handle);
    if (!found)
        return NULL;
    if (!found->record)
        record_kernel(found, handle, config);
    *number = found->number;
    return found->record;
}

gd_CUfunction gd_kernels_function(gd_CUfunction handle)
{
    const gd_kernel *found = gd_map_find(&functions, key_of(handle), 0);

    if (!found)
        found = ask_driver(handle);
    return found ? function_of(found, handle) : NULL;
}

static uint32_t chip_of(const gd_kernel *kernel, gd_CUfunction handle)
{
    return ask_function(function_of(kernel, handle), GD_CU_FUNC_ATTRIBUTE_BINARY_VERSION);
}

static int32_t find_reason(const gd_kernel *kernel, gd_CUfunction handle)
{
    return kernel->module->code
               ? gd_code_reason(kernel->module->code, kernel->name, chip_of(kernel, handle))
               : GRIDDEP_REASON_UNKNOWN_CODE;
}

int32_t gd_kernels_reason(gd_CUfunction handle)
{
    gd_kernel *found = gd_map_find(&functions, key_of(handle), 0);

    if (!found)
        found = ask_driver(handle);
    if (!found)
        return GRIDDEP_REASON_UNKNOWN_CODE;
    if (found->reason < 0)
        found->reason = find_reason(found, handle);
    return found->reason;
}

const griddep_ptx *gd_kernels_extents(gd_CUfunction handle, uint32_t *entry)
{
    gd_kernel *found = gd_map_find(&functions, key_of(handle), 0);

    if (!found || !found->module->code)
        return NULL;
    if (!found->asked)
        found->extents = gd_code_extents(found->module->code, found->name, chip_of(found, handle),
                                         &found->entry);
    found->asked = true;
    *entry = found->entry;
    return found->extents;
}

void gd_kernels_forget(void)
{
    for (size_t i = 0; i < modules.capacity; i++) {
        while (modules.slots[i].value)
            gd_kernels_end_module((const void *)(uintptr_t)modules.slots[i].first);
    }
    gd_map_free(&functions);
    gd_map_free(&modules);
}
