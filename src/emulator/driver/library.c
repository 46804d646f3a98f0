/* Libraries and their kernels: cuLibrary*, cuKernel*. A library is an image that becomes a module
 * in each context that uses it; a kernel is a name in it. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "emulator/driver/call.h"
#include "emulator/driver/module.h"
#include "emulator/schedule/schedule.h"

typedef struct gd_kernel {
    gd_object object;
    struct gd_library *library;
    uint32_t index;
} gd_kernel;

typedef struct gd_library {
    gd_object object;
    griddep_ptx *ptx;
    gd_kernel *kernels; /* in the order of the text */
    uint32_t kernel_count;
    gd_CUresult failed; /* why a context got no module the last time that one asked */
} gd_library;

/* ---- libraries ---- */

static void destroy(gd_library *library)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_MODULE && ((gd_module *)object)->library == library)
            gd_module_discard((gd_module *)object);
    }
    for (uint32_t i = 0; i < library->kernel_count; i++)
        gd_object_remove(&library->kernels[i].object);
    free(library->kernels);
    griddep_ptx_destroy(library->ptx);
    gd_object_remove(&library->object);
    free(library);
}

static bool make_kernels(gd_library *library)
{
    uint32_t count = library->ptx->module.entry_count;

    library->kernels = calloc((size_t)count + 1, sizeof *library->kernels);
    if (!library->kernels)
        return false;
    for (; library->kernel_count < count; library->kernel_count++) {
        gd_kernel *kernel = &library->kernels[library->kernel_count];
        if (!gd_object_add(&kernel->object, GD_OBJECT_KERNEL, NULL))
            return false;
        kernel->library = library;
        kernel->index = library->kernel_count;
    }
    return true;
}

/* The image is looked at for the device that is current, or the first; its code is made for each
 * device that uses it. */
static gd_CUresult load(gd_CUlibrary *handle, const void *image, unsigned count,
                        const gd_CUjit_option *options, void **values)
{
    const gd_context *context = gd_call_context();
    gd_jit jit;

    if (!handle || !image)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = gd_jit_read(
        &jit, (context ? context->device : gd_the_emulator.devices)->chip, count, options, values);
    if (result != GD_CUDA_SUCCESS)
        return result;
    gd_library *library = calloc(1, sizeof *library);
    if (!library)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    result = gd_jit_close(&jit, gd_jit_parse(&jit, image, &library->ptx));
    if (result == GD_CUDA_SUCCESS &&
        !(gd_object_add(&library->object, GD_OBJECT_LIBRARY, NULL) && make_kernels(library)))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result != GD_CUDA_SUCCESS) {
        destroy(library);
        return result;
    }
    *handle = library->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuLibraryLoadFromFile(gd_CUlibrary *handle, const char *path,
                                     gd_CUjit_option *options, void **values, unsigned int count,
                                     int32_t *library_options, void **library_values,
                                     unsigned int library_count)
{
    (void)library_options;
    (void)library_values;
    (void)library_count;
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
    gd_CUresult result = bytes < 64 && data[0] == 0x7f ? GD_CUDA_ERROR_INVALID_IMAGE
                                                       : load(handle, data, count, options, values);
    free(data);
    return result;
}

void gd_library_destroy(gd_object *library)
{
    destroy((gd_library *)library);
}

gd_CUresult gd_cuLibraryUnload(gd_CUlibrary handle)
{
    gd_library *library = gd_object_find(handle, GD_OBJECT_LIBRARY);

    if (!library)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_schedule_drain(NULL);
    destroy(library);
    return GD_CUDA_SUCCESS;
}

/* ---- modules in contexts ---- */

void gd_library_forget_module(gd_module *module)
{
    module->library = NULL;
}

/* In any context where `context` is NULL. */
static gd_module *find_module(const gd_library *library, const gd_context *context)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_MODULE && (!context || object->context == context) &&
            ((gd_module *)object)->library == library)
            return (gd_module *)object;
    }
    return NULL;
}

static gd_CUresult get_module(gd_library *library, gd_context *context, gd_module **module)
{
    gd_jit jit = {.chip = context->device->chip};

    *module = find_module(library, context);
    if (*module)
        return GD_CUDA_SUCCESS;
    gd_CUresult result = library->failed =
        gd_module_create(context, library->ptx->module.text, &jit, module);
    if (result == GD_CUDA_SUCCESS)
        (*module)->library = library;
    return result;
}

gd_function *gd_library_resolve(gd_context *context, gd_CUkernel handle)
{
    const gd_kernel *kernel = gd_object_find(handle, GD_OBJECT_KERNEL);
    gd_module *module;

    if (!kernel || !context || get_module(kernel->library, context, &module) != GD_CUDA_SUCCESS)
        return NULL;
    return &module->functions[kernel->index];
}

gd_CUresult gd_library_unresolved(gd_CUkernel handle)
{
    const gd_kernel *kernel = gd_object_find(handle, GD_OBJECT_KERNEL);

    return !kernel                   ? GD_CUDA_ERROR_INVALID_HANDLE
           : kernel->library->failed ? kernel->library->failed
                                     : GD_CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- actions of entry points ---- */

static const char *name_of(const gd_kernel *kernel)
{
    const gd_ptx_module *module = &kernel->library->ptx->module;

    return module->functions[module->entries[kernel->index]].name;
}

gd_CUresult gd_cuLibraryGetKernel(gd_CUkernel *handle, gd_CUlibrary library_handle,
                                  const char *name)
{
    const gd_library *library = gd_object_find(library_handle, GD_OBJECT_LIBRARY);

    if (!handle || !name)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    for (uint32_t i = 0; i < library->kernel_count; i++) {
        if (!strcmp(name_of(&library->kernels[i]), name)) {
            *handle = library->kernels[i].object.handle;
            return GD_CUDA_SUCCESS;
        }
    }
    return GD_CUDA_ERROR_NOT_FOUND;
}

gd_CUresult gd_cuLibraryGetKernelCount(unsigned int *count, gd_CUlibrary handle)
{
    const gd_library *library = gd_object_find(handle, GD_OBJECT_LIBRARY);

    if (!count || !library)
        return count ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    *count = library->kernel_count;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuLibraryEnumerateKernels(gd_CUkernel *kernels, unsigned int capacity,
                                         gd_CUlibrary handle)
{
    const gd_library *library = gd_object_find(handle, GD_OBJECT_LIBRARY);

    if (!kernels || !library)
        return kernels ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < capacity && i < library->kernel_count; i++)
        kernels[i] = library->kernels[i].object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuLibraryGetModule(gd_CUmodule *handle, gd_CUlibrary library_handle)
{
    gd_context *context = gd_call_context();
    gd_library *library = gd_object_find(library_handle, GD_OBJECT_LIBRARY);
    gd_module *module;

    if (!handle || !library)
        return handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = get_module(library, context, &module);
    if (result == GD_CUDA_SUCCESS)
        *handle = module->object.handle;
    return result;
}

gd_CUresult gd_cuLibraryGetGlobal(gd_CUdeviceptr *address, size_t *bytes, gd_CUlibrary handle,
                                  const char *name)
{
    gd_context *context = gd_call_context();
    gd_library *library = gd_object_find(handle, GD_OBJECT_LIBRARY);
    gd_module *module;

    if (!name || (!address && !bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_CUresult result = get_module(library, context, &module);
    return result == GD_CUDA_SUCCESS ? gd_module_tell(module, name, false, address, bytes) : result;
}

/* Without a current context that of a context which has the library's module already. */
gd_CUresult gd_cuLibraryGetManaged(gd_CUdeviceptr *address, size_t *bytes, gd_CUlibrary handle,
                                   const char *name)
{
    gd_context *context = gd_call_context();
    gd_library *library = gd_object_find(handle, GD_OBJECT_LIBRARY);
    gd_module *module = library ? find_module(library, NULL) : NULL;

    if (!name || (!address && !bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!module && !context)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    gd_CUresult result = module ? GD_CUDA_SUCCESS : get_module(library, context, &module);
    return result == GD_CUDA_SUCCESS ? gd_module_tell(module, name, true, address, bytes) : result;
}

gd_CUresult gd_cuKernelGetFunction(gd_CUfunction *handle, gd_CUkernel kernel)
{
    gd_context *context = gd_call_context();

    if (!handle)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_function *function = gd_library_resolve(context, kernel);
    if (!function)
        return gd_library_unresolved(kernel);
    *handle = function->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuKernelGetLibrary(gd_CUlibrary *library, gd_CUkernel handle)
{
    const gd_kernel *kernel = gd_object_find(handle, GD_OBJECT_KERNEL);

    if (!library || !kernel)
        return library ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    *library = kernel->library->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuKernelGetName(const char **name, gd_CUkernel handle)
{
    const gd_kernel *kernel = gd_object_find(handle, GD_OBJECT_KERNEL);

    if (!name || !kernel)
        return name && handle ? GD_CUDA_ERROR_INVALID_HANDLE : GD_CUDA_ERROR_INVALID_VALUE;
    *name = name_of(kernel);
    return GD_CUDA_SUCCESS;
}

/* The context that has a device's copy of a kernel: the current one, or the primary one. */
static gd_CUresult find_context(gd_context *current, gd_CUdevice number, gd_context **context)
{
    const gd_device *device = gd_device_find(number);

    if (!device)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *context = current->device == device ? current : device->primary;
    return *context ? GD_CUDA_SUCCESS
                    : gd_device_refuse(GD_CUDA_ERROR_INVALID_CONTEXT,
                                       "device %d has no context yet, and so no code of the kernel",
                                       number);
}

gd_CUresult gd_cuKernelGetAttribute(int *value, gd_CUfunction_attribute attribute,
                                    gd_CUkernel kernel, gd_CUdevice device)
{
    gd_context *context = gd_call_context();
    gd_CUresult result = find_context(context, device, &context);

    if (result != GD_CUDA_SUCCESS)
        return result;
    const gd_function *function = gd_library_resolve(context, kernel);
    return function ? gd_function_get_attribute(function, attribute, value)
                    : gd_library_unresolved(kernel);
}

gd_CUresult gd_cuKernelSetAttribute(gd_CUfunction_attribute attribute, int value,
                                    gd_CUkernel kernel, gd_CUdevice device)
{
    gd_context *context = gd_call_context();
    gd_CUresult result = find_context(context, device, &context);

    if (result != GD_CUDA_SUCCESS)
        return result;
    gd_function *function = gd_library_resolve(context, kernel);
    return function ? gd_function_set_attribute(function, attribute, value)
                    : gd_library_unresolved(kernel);
}

gd_CUresult gd_cuKernelGetParamInfo(gd_CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    gd_context *context = gd_call_context();
    const gd_function *function = gd_library_resolve(context, kernel);
    uint32_t at, size;

    if (!function)
        return kernel ? gd_library_unresolved(kernel) : GD_CUDA_ERROR_INVALID_VALUE;
    if (!offset || index > UINT32_MAX ||
        !gd_entry_parameter(function->entry, (uint32_t)index, &at, &size))
        return GD_CUDA_ERROR_INVALID_VALUE;
    *offset = at;
    if (bytes)
        *bytes = size;
    return GD_CUDA_SUCCESS;
}

/* ---- entry points ---- */

gd_CUresult gd_cuLibraryLoadData(gd_CUlibrary *library, const void *code, gd_CUjit_option *options,
                                 void **values, unsigned int count, int32_t *library_options,
                                 void **library_values, unsigned int library_count)
{
    (void)library_options; /* they say how a library is kept, not what it is */
    (void)library_values;
    (void)library_count;
    return load(library, code, count, options, values);
}
