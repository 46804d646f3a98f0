/* The fake driver's modules, functions and compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

typedef struct jit_log {
    char *buffer;
    size_t capacity;
    size_t used;
    void **size_value; /* where the driver tells how much it wrote */
} jit_log;

typedef struct jit {
    jit_log info, error;
    bool verbose;
} jit;

static jit read_options(unsigned count, const gd_CUjit_option *options, void **values)
{
    jit j = {0};

    memset(fake_state.jit_given, 0, sizeof fake_state.jit_given);
    for (unsigned i = 0; i < count; i++) {
        size_t number = (size_t)(uintptr_t)values[i];
        if (options[i] >= 0 && options[i] < FAKE_JIT_OPTIONS) {
            fake_state.jit_given[options[i]] = true;
            fake_state.jit_values[options[i]] = number;
        }
        if (options[i] == GD_CU_JIT_INFO_LOG_BUFFER) {
            j.info.buffer = values[i];
        } else if (options[i] == GD_CU_JIT_ERROR_LOG_BUFFER) {
            j.error.buffer = values[i];
        } else if (options[i] == GD_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) {
            j.info.capacity = (unsigned)number;
            j.info.size_value = &values[i];
        } else if (options[i] == GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            j.error.capacity = (unsigned)number;
            j.error.size_value = &values[i];
        } else if (options[i] == GD_CU_JIT_LOG_VERBOSE) {
            j.verbose = number != 0;
        }
    }
    return j;
}

int32_t fake_driver_jit_option(gd_CUjit_option option, uint64_t *value)
{
    if (option < 0 || option >= FAKE_JIT_OPTIONS || !fake_state.jit_given[option])
        return 0;
    *value = fake_state.jit_values[option];
    return 1;
}

/* Lines are separated, not ended, by a line feed. */
static void write_log(jit_log *log, const char *line)
{
    size_t room = log->capacity > log->used ? log->capacity - log->used : 0;

    if (!log->buffer || room == 0)
        return;
    int written = snprintf(log->buffer + log->used, room, "%s%s", log->used ? "\n" : "", line);
    log->used += (size_t)written < room ? (size_t)written : room - 1;
}

static void close_log(jit_log *log)
{
    if (log->size_value)
        *log->size_value = (void *)(uintptr_t)log->used;
}

static void write_verbose(jit *j, const fake_image *image)
{
    char line[512];

    if (image->remark)
        write_log(&j->info, image->remark);
    for (size_t i = 0; j->verbose && i < image->entry_count; i++) {
        snprintf(line, sizeof line, "ptxas info    : Compiling entry function '%s' for 'sm_%d'",
                 image->entries[i].name, fake_capability());
        write_log(&j->info, line);
        snprintf(line, sizeof line, "ptxas info    : Used %d registers", image->registers);
        write_log(&j->info, line);
    }
}

static gd_CUresult refuse_version(const fake_image *image, int newest, jit *j)
{
    char line[256];

    snprintf(line, sizeof line,
             "ptxas application ptx input, line 1; fatal   : Unsupported .version %d.%d; current "
             "version is '%d.0'",
             image->version / 10, image->version % 10, newest);
    write_log(&j->error, line);
    return GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

static gd_CUresult refuse_code(const fake_image *image, jit *j)
{
    char line[512];

    snprintf(line, sizeof line, "ptxas application ptx input, line %d; error   : %s",
             image->error_line, image->error);
    write_log(&j->error, line);
    write_log(&j->error, "ptxas fatal   : Ptx assembly aborted due to errors");
    return GD_CUDA_ERROR_INVALID_PTX;
}

/* The results and the words are those of a driver with API 13.0. PTX 8 came with driver API 12, PTX
 * 9 with 13. */
static gd_CUresult compile(const fake_image *image, jit *j)
{
    int newest = fake_state.version / 1000 - 4;

    if (image->version == 0) {
        write_log(&j->error, "error   : Binary format for key='0', ident='' is not recognized");
        return GD_CUDA_ERROR_INVALID_IMAGE;
    }
    if (image->version / 10 > newest)
        return refuse_version(image, newest, j);
    if (image->target > fake_capability()) {
        write_log(&j->error, "ptxas fatal   : SM version specified by .target is higher than "
                             "default SM version assumed");
        return GD_CUDA_ERROR_INVALID_PTX;
    }
    if (image->target_specific && image->target != fake_capability())
        return GD_CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (image->error_line)
        return refuse_code(image, j);
    write_verbose(j, image);
    return GD_CUDA_SUCCESS;
}

static void declare_module(fake_object *module)
{
    const fake_image *image = &module->is.module;

    for (size_t i = image->entry_count; i-- > 0;) {
        fake_object *function = fake_object_create(FUNCTION, module->context);
        function->is.function.module = module;
        function->is.function.entry = &image->entries[i];
        function->is.function.dynamic_shared =
            fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] -
            (int)image->entries[i].shared_bytes;
        function->is.function.carveout = -1;
    }
    for (size_t i = 0; i < image->variable_count; i++) {
        fake_object *memory = fake_object_create(MEMORY, module->context);
        memory->is.memory.bytes = image->variables[i].bytes;
        memory->is.memory.module = module;
        memory->is.memory.variable = i;
        memory->handle = fake_allocate(memory->is.memory.bytes);
        memset(memory->handle, 0, memory->is.memory.bytes);
    }
}

static gd_CUresult read_image(const char *image, fake_image *read, jit *j)
{
    size_t bytes = 0;
    int made_for = 0;

    if (!strncmp(image, "\x50\xed\x55\xba", 4)) /* a fatbin: it holds nothing for a fake device */
        return GD_CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (image[0] == '\x7f') {
        const char *text = fake_cubin_read(image, &bytes, &made_for);
        if (!text)
            return GD_CUDA_ERROR_INVALID_IMAGE;
        if (made_for / 10 != fake_capability() / 10 || made_for > fake_capability())
            return GD_CUDA_ERROR_NO_BINARY_FOR_GPU;
        fake_image_read(read, text, bytes);
        return GD_CUDA_SUCCESS;
    }
    fake_image_read(read, image, strlen(image));
    return compile(read, j);
}

gd_CUresult fake_do_load(gd_CUmodule *module, const void *image, unsigned count,
                         const gd_CUjit_option *options, void **values)
{
    fake_image read = {0};

    if (!module || !image || (count && (!options || !values)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    jit j = read_options(count, options, values);
    gd_CUresult result = read_image(image, &read, &j);
    close_log(&j.info);
    close_log(&j.error);
    if (result != GD_CUDA_SUCCESS) {
        fake_image_free(&read);
        return result;
    }
    fake_object *made = fake_object_create(MODULE, fake_context_handle());
    made->is.module = read;
    declare_module(made);
    *module = made->handle;
    return GD_CUDA_SUCCESS;
}

static bool belongs(const fake_object *o, const fake_object *module)
{
    return (o->kind == FUNCTION && o->is.function.module == module) ||
           (o->kind == MEMORY && o->is.memory.module == module);
}

gd_CUresult fake_do_unload(gd_CUmodule handle)
{
    fake_object *module = fake_object_find(MODULE, handle);
    fake_object *next = NULL;
    gd_CUresult result = fake_capture_check_unsafe();

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!module)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    for (fake_object *o = fake_state.objects; o; o = next) {
        next = o->next;
        if (belongs(o, module))
            fake_object_end(o);
    }
    fake_object_end(module);
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_get_function(gd_CUfunction *function, gd_CUmodule handle, const char *name)
{
    fake_object *module = fake_object_find(MODULE, handle);

    if (!function || !name)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (o->kind == FUNCTION && belongs(o, module) &&
            !strcmp(o->is.function.entry->name, name)) {
            *function = o->handle;
            return GD_CUDA_SUCCESS;
        }
    }
    return GD_CUDA_ERROR_NOT_FOUND;
}

gd_CUresult fake_do_get_global(gd_CUdeviceptr *address, size_t *bytes, gd_CUmodule handle,
                               const char *name)
{
    fake_object *module = fake_object_find(MODULE, handle);

    if (!name || (!address && !bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (o->kind != MEMORY || !belongs(o, module) ||
            strcmp(module->is.module.variables[o->is.memory.variable].name, name))
            continue;
        if (address)
            *address = (uint64_t)(uintptr_t)o->handle;
        if (bytes)
            *bytes = o->is.memory.bytes;
        return GD_CUDA_SUCCESS;
    }
    return GD_CUDA_ERROR_NOT_FOUND;
}

gd_CUresult fake_do_function_count(unsigned int *count, gd_CUmodule handle)
{
    fake_object *module = fake_object_find(MODULE, handle);

    if (!count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *count = (unsigned)module->is.module.entry_count;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_enumerate(gd_CUfunction *functions, unsigned int capacity, gd_CUmodule handle)
{
    fake_object *module = fake_object_find(MODULE, handle);
    unsigned count = 0;

    if (!functions)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    for (fake_object *o = fake_state.objects; o && count < capacity; o = o->next) {
        if (o->kind == FUNCTION && belongs(o, module))
            functions[count++] = o->handle;
    }
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_function_module(gd_CUmodule *module, gd_CUfunction handle)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!module)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *module = function->is.function.module->handle;
    return GD_CUDA_SUCCESS;
}

/* There are no libraries, and so no kernels of any. */
gd_CUresult fake_do_kernel_function(gd_CUfunction *function, gd_CUkernel kernel)
{
    (void)kernel;
    return function ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
}

gd_CUresult fake_do_function_name(const char **name, gd_CUfunction handle)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!name)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *name = function->is.function.entry->name;
    return GD_CUDA_SUCCESS;
}

/* What .maxntid leaves of the device's limit; .reqntid does not show here. */
unsigned fake_maximum_threads(const fake_entry *entry)
{
    unsigned limit = (unsigned)fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    unsigned threads = entry->maximum_block[0] * entry->maximum_block[1] * entry->maximum_block[2];

    return threads && threads < limit ? threads : limit;
}

gd_CUresult fake_do_get_attribute(int *value, gd_CUfunction_attribute attribute,
                                  gd_CUfunction handle)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!value || attribute < 0 ||
        attribute > GD_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    const fake_entry *entry = function->is.function.entry;
    const fake_image *image = &function->is.function.module->is.module;
    int values[GD_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE + 1] = {
        [GD_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = (int)fake_maximum_threads(entry),
        [GD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)entry->shared_bytes,
        [GD_CU_FUNC_ATTRIBUTE_NUM_REGS] = image->registers,
        [GD_CU_FUNC_ATTRIBUTE_PTX_VERSION] =
            image->target, /* the name misleads: it is the architecture */
        [GD_CU_FUNC_ATTRIBUTE_BINARY_VERSION] = fake_capability(),
        [GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = function->is.function.dynamic_shared,
        [GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = function->is.function.carveout,
        [GD_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] =
            function->is.function.non_portable_cluster,
    };
    *value = values[attribute];
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_set_attribute(gd_CUfunction handle, gd_CUfunction_attribute attribute,
                                  int value)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    int limit = fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] -
                (int)function->is.function.entry->shared_bytes;
    if (attribute == GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
        value <= limit)
        function->is.function.dynamic_shared = value;
    else if (attribute == GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && value >= -1 &&
             value <= 100)
        function->is.function.carveout = value;
    else if (attribute == GD_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED &&
             (value == 0 || value == 1))
        function->is.function.non_portable_cluster = value;
    else
        return GD_CUDA_ERROR_INVALID_VALUE;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_parameter(gd_CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    fake_object *function = fake_object_find(FUNCTION, handle);

    if (!function)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!offset || index >= function->is.function.entry->parameter_count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *offset = function->is.function.entry->parameters[index].offset;
    if (bytes)
        *bytes = function->is.function.entry->parameters[index].bytes;
    return GD_CUDA_SUCCESS;
}
