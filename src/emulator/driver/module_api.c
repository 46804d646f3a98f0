/* Modules and functions, and their entry points cuModule*, cuFunc*. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "emulator/driver/call.h"
#include "emulator/driver/module.h"
#include "emulator/schedule/schedule.h"
#include "emulator/driver/stream.h"

/* ---- making modules ---- */

static bool make_function(gd_module *module, uint32_t index, gd_context *context)
{
    gd_function *function = &module->functions[index];
    const gd_ptx_module *ptx = &module->ptx->module;

    function->entry = gd_program_entry_at(module->program, index);
    if (!function->entry || !gd_object_add(&function->object, GD_OBJECT_FUNCTION, context))
        return false;
    function->module = module;
    function->dynamic_shared = function->entry->static_shared_bytes < GD_DEVICE_SHARED
                                   ? GD_DEVICE_SHARED - (int)function->entry->static_shared_bytes
                                   : 0;
    function->carveout = -1;
    memcpy(function->cluster,
           ptx->functions[ptx->entries[index]].limits[GD_PERFORMANCE_REQNCTAPERCLUSTER],
           sizeof function->cluster);
    function->blocks_are_clusters =
        ptx->functions[ptx->entries[index]].flags & GD_FUNCTION_BLOCKSARECLUSTERS;
    return true;
}

static bool make_functions(gd_module *module, gd_context *context)
{
    uint32_t count = module->ptx->module.entry_count;

    module->functions = calloc((size_t)count + 1, sizeof *module->functions);
    if (!module->functions)
        return false;
    for (; module->function_count < count; module->function_count++) {
        if (!make_function(module, module->function_count, context))
            return false;
    }
    return true;
}

/* Entries that cannot be launched are told in any case. */
static void write_information(gd_jit *jit, const gd_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        const gd_entry *entry = module->functions[i].entry;
        gd_program_error why;
        if (entry->refused) {
            gd_entry_refusal(entry, &why);
            gd_jit_write(&jit->info,
                         "ptxas application ptx input, line %" PRId32 "; warning : %s: %s",
                         why.line, entry->name, why.text);
        }
        if (!jit->verbose)
            continue;
        gd_jit_write(&jit->info, "ptxas info    : Compiling entry function '%s' for 'sm_%u'",
                     entry->name, jit->chip->capability);
        gd_jit_write(&jit->info, "ptxas info    : Used %" PRIu32 " registers",
                     gd_schedule_registers(entry));
    }
}

static gd_CUresult decode(const gd_context *context, gd_module *module, gd_jit *jit)
{
    gd_program_error error = {0};

    module->program =
        gd_program_create(&module->ptx->module, gd_the_emulator.memory, &context->owner, &error);
    if (module->program) {
        gd_program_set_number(module->program, ++gd_the_emulator.modules);
        return GD_CUDA_SUCCESS;
    }
    gd_jit_write(&jit->errors, "ptxas application ptx input, line %" PRId32 "; error   : %s",
                 error.line, error.text);
    return error.out_of_memory ? GD_CUDA_ERROR_OUT_OF_MEMORY : GD_CUDA_ERROR_INVALID_PTX;
}

gd_CUresult gd_module_create(gd_context *context, const void *image, gd_jit *jit,
                             gd_module **module)
{
    gd_module *made = calloc(1, sizeof *made);

    if (!made)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_CUresult result = gd_jit_parse(jit, image, &made->ptx);
    if (result == GD_CUDA_SUCCESS)
        result = decode(context, made, jit);
    if (result == GD_CUDA_SUCCESS && (!gd_object_add(&made->object, GD_OBJECT_MODULE, context) ||
                                      !make_functions(made, context)))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result != GD_CUDA_SUCCESS) {
        gd_module_discard(made);
        return result;
    }
    write_information(jit, made);
    *module = made;
    return GD_CUDA_SUCCESS;
}

void gd_module_discard(gd_module *module)
{
    if (!module)
        return;
    gd_library_forget_module(module);
    for (uint32_t i = 0; i < module->function_count; i++)
        gd_object_remove(&module->functions[i].object);
    free(module->functions);
    gd_program_destroy(module->program);
    griddep_ptx_destroy(module->ptx);
    gd_object_remove(&module->object);
    free(module);
}

void gd_module_destroy(gd_module *module)
{
    gd_schedule_drain(NULL);
    gd_module_discard(module);
}

/* ---- functions ---- */

gd_function *gd_function_find(gd_context *context, gd_CUfunction handle)
{
    gd_function *function = gd_object_find(handle, GD_OBJECT_FUNCTION);

    return function ? function : gd_library_resolve(context, handle);
}

gd_function *gd_module_find_function(gd_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (!strcmp(module->functions[i].entry->name, name))
            return &module->functions[i];
    }
    return NULL;
}

/* By .maxntid or .reqntid. */
uint32_t gd_function_threads(const gd_function *function)
{
    uint32_t limit = function->entry->maximum_threads;

    return limit && limit < GD_DEVICE_THREADS ? limit : GD_DEVICE_THREADS;
}

gd_CUresult gd_function_get_attribute(const gd_function *function,
                                      gd_CUfunction_attribute attribute, int *value)
{
    const int values[GD_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE + 1] = {
        [GD_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = (int)gd_function_threads(function),
        [GD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)function->entry->static_shared_bytes,
        [GD_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)function->entry->local_bytes,
        [GD_CU_FUNC_ATTRIBUTE_NUM_REGS] = (int)gd_schedule_registers(function->entry),
        [GD_CU_FUNC_ATTRIBUTE_PTX_VERSION] =
            function->module->ptx->module.capability, /* the name misleads: the architecture */
        [GD_CU_FUNC_ATTRIBUTE_BINARY_VERSION] =
            (int)function->object.context->device->chip->capability,
        [GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = function->dynamic_shared,
        [GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = function->carveout,
        [GD_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (int)function->cluster[0],
        [GD_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = (int)function->cluster[1],
        [GD_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = (int)function->cluster[2],
        [GD_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = function->non_portable_cluster,
    };

    if (!value || attribute < 0 ||
        attribute > GD_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *value = values[attribute];
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_function_set_attribute(gd_function *function, gd_CUfunction_attribute attribute,
                                      int value)
{
    int limit = (int)function->object.context->device->chip->block_shared_bytes -
                (int)function->entry->static_shared_bytes;

    if (attribute == GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
        value <= limit)
        function->dynamic_shared = value;
    else if (attribute == GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && value >= -1 &&
             value <= 100)
        function->carveout = value;
    else if (attribute == GD_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED &&
             (value == 0 || value == 1))
        function->non_portable_cluster = value;
    else if (attribute == GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value > limit)
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE,
                                "%d bytes of dynamic shared memory; a block of %s has room for %d, "
                                "beside %d of static",
                                value, function->entry->name, limit,
                                (int)function->entry->static_shared_bytes);
    else
        return GD_CUDA_ERROR_INVALID_VALUE;
    return GD_CUDA_SUCCESS;
}

/* ---- actions of entry points ---- */

gd_CUresult gd_cuModuleLoadDataEx(gd_CUmodule *handle, const void *image, unsigned int count,
                                  gd_CUjit_option *options, void **values)
{
    gd_context *context = gd_call_context();
    gd_module *module;
    gd_jit jit;

    if (!handle || !image)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = gd_jit_read(&jit, context->device->chip, count, options, values);
    if (result != GD_CUDA_SUCCESS)
        return result;
    result = gd_jit_close(&jit, gd_module_create(context, image, &jit, &module));
    if (result == GD_CUDA_SUCCESS)
        *handle = module->object.handle;
    return result;
}

gd_CUresult gd_cuModuleLoad(gd_CUmodule *handle, const char *path)
{
    griddep_error error;
    char *data = NULL;
    size_t bytes;

    if (!handle || !path)
        return GD_CUDA_ERROR_INVALID_VALUE;
    griddep_error_init(&error);
    int32_t status = gd_file_read(path, &data, &bytes, &error);
    if (status)
        return status == GRIDDEP_ERROR_MEMORY ? GD_CUDA_ERROR_OUT_OF_MEMORY
                                              : GD_CUDA_ERROR_FILE_NOT_FOUND;
    gd_CUresult result = bytes < sizeof(uint64_t) * 8 && data[0] == 0x7f
                             ? GD_CUDA_ERROR_INVALID_IMAGE
                             : gd_cuModuleLoadDataEx(handle, data, 0, NULL, NULL);
    free(data);
    return result;
}

gd_CUresult gd_cuModuleUnload(gd_CUmodule handle)
{
    gd_module *module = gd_object_find(handle, GD_OBJECT_MODULE);
    gd_CUresult result = gd_capture_check_unsafe();

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!module || module->library)
        return module ? GD_CUDA_ERROR_NOT_PERMITTED : GD_CUDA_ERROR_INVALID_HANDLE;
    gd_context *context = module->object.context;
    gd_module_destroy(module);
    return context->fault;
}

gd_CUresult gd_cuModuleGetFunction(gd_CUfunction *handle, gd_CUmodule module_handle,
                                   const char *name)
{
    gd_module *module = gd_object_find(module_handle, GD_OBJECT_MODULE);

    if (!handle || !name)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    const gd_function *function = gd_module_find_function(module, name);
    if (!function)
        return GD_CUDA_ERROR_NOT_FOUND;
    *handle = function->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_module_tell(const gd_module *module, const char *name, bool managed,
                           gd_CUdeviceptr *address, size_t *bytes)
{
    const gd_allocation *variable = gd_program_variable(module->program, name);

    if (!variable || (managed && variable->kind != GD_MEMORY_MANAGED))
        return GD_CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = variable->start;
    if (bytes)
        *bytes = variable->bytes;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuModuleGetGlobal_v2(gd_CUdeviceptr *address, size_t *bytes, gd_CUmodule handle,
                                    const char *name)
{
    const gd_module *module = gd_object_find(handle, GD_OBJECT_MODULE);

    if (!name || (!address && !bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    return module ? gd_module_tell(module, name, false, address, bytes)
                  : GD_CUDA_ERROR_INVALID_HANDLE;
}

gd_CUresult gd_cuModuleGetFunctionCount(unsigned int *count, gd_CUmodule handle)
{
    const gd_module *module = gd_object_find(handle, GD_OBJECT_MODULE);

    if (!count || !module)
        return count ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    *count = module->function_count;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuModuleEnumerateFunctions(gd_CUfunction *functions, unsigned int capacity,
                                          gd_CUmodule handle)
{
    const gd_module *module = gd_object_find(handle, GD_OBJECT_MODULE);

    if (!functions || !module)
        return functions ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < capacity && i < module->function_count; i++)
        functions[i] = module->functions[i].object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuFuncGetAttribute(int *value, gd_CUfunction_attribute attribute,
                                  gd_CUfunction handle)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    return function ? gd_function_get_attribute(function, attribute, value)
                    : GD_CUDA_ERROR_INVALID_HANDLE;
}

gd_CUresult gd_cuFuncSetAttribute(gd_CUfunction handle, gd_CUfunction_attribute attribute,
                                  int value)
{
    gd_context *context = gd_call_context();
    gd_function *function = gd_function_find(context, handle);

    return function ? gd_function_set_attribute(function, attribute, value)
                    : GD_CUDA_ERROR_INVALID_HANDLE;
}

gd_CUresult gd_cuFuncGetName(const char **name, gd_CUfunction handle)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    if (!name || !function)
        return name && handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    *name = function->entry->name;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuFuncGetModule(gd_CUmodule *module, gd_CUfunction handle)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);

    if (!module || !function)
        return module && handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    *module = function->module->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuFuncGetParamInfo(gd_CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_function_find(context, handle);
    uint32_t at, size;

    if (!function)
        return handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    if (!offset || index > UINT32_MAX ||
        !gd_entry_parameter(function->entry, (uint32_t)index, &at, &size))
        return GD_CUDA_ERROR_INVALID_VALUE;
    *offset = at;
    if (bytes)
        *bytes = size;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuFuncLoad(gd_CUfunction handle)
{
    gd_context *context = gd_call_context();

    return gd_function_find(context, handle) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_HANDLE;
}

gd_CUresult gd_cuModuleGetLoadingMode(int32_t *mode)
{
    if (!mode)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *mode = 1; /* CU_MODULE_EAGER_LOADING */
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuFuncIsLoaded(int32_t *state, gd_CUfunction handle)
{
    gd_context *context = gd_call_context();

    if (!state)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!gd_function_find(context, handle))
        return GD_CUDA_ERROR_INVALID_HANDLE;
    *state = 1; /* CU_FUNCTION_LOADING_STATE_LOADED */
    return GD_CUDA_SUCCESS;
}

/* ---- entry points ---- */

gd_CUresult gd_cuModuleLoadData(gd_CUmodule *module, const void *image)
{
    return gd_cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

gd_CUresult gd_cuModuleLoadFatBinary(gd_CUmodule *module, const void *image)
{
    return gd_cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

gd_CUresult gd_cuFuncSetCacheConfig(gd_CUfunction function, int32_t configuration)
{
    return configuration < 0 || configuration > 3 ? GD_CUDA_ERROR_INVALID_VALUE
                                                  : gd_cuFuncLoad(function);
}
