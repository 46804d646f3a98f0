/* Calls that make, find and end modules, libraries and kernels. */
#include <stdlib.h>

#include "attach/code.h"
#include "attach/kernels.h"
#include "attach/see.h"

static gd_CUcontext current(void)
{
    gd_CUcontext context = NULL;

    return GD_NEXT(cuCtxGetCurrent, &context) ? NULL : context;
}

/* The program's text again, where the driver refuses what was made of it. */
#define GD_LOAD(handle, context, given, call)                                                      \
    do {                                                                                           \
        const void *image = given;                                                                 \
        int kept_;                                                                                 \
        const bool seen_ = gd_process_enter();                                                     \
        const bool rewrites_ =                                                                     \
            seen_ && given && gd_process_settings()->early == GD_ATTACHED_EARLY_REWRITE;           \
        char *text_ = rewrites_ ? gd_code_rewrite(given) : NULL;                                   \
        if (text_)                                                                                 \
            image = text_;                                                                         \
        gd_CUresult result_ = call;                                                                \
        if (text_ && result_ != GD_CUDA_SUCCESS) {                                                 \
            image = given;                                                                         \
            result_ = call;                                                                        \
        }                                                                                          \
        if (seen_ && result_ == GD_CUDA_SUCCESS && gd_process_lock(&kept_)) {                      \
            gd_kernels_add_module(handle, context, image, image != given);                         \
            gd_process_unlock(kept_);                                                              \
        }                                                                                          \
        free(text_);                                                                               \
        if (seen_)                                                                                 \
            gd_process_leave();                                                                    \
        return result_;                                                                            \
    } while (0)

gd_CUresult cuModuleLoad(gd_CUmodule *module, const char *path)
{
    GD_SEE(GD_NEXT(cuModuleLoad, module, path),
           gd_kernels_add_module_file(*module, current(), path));
}

gd_CUresult cuModuleLoadData(gd_CUmodule *module, const void *given)
{
    GD_LOAD(*module, current(), given, GD_NEXT(cuModuleLoadData, module, image));
}

gd_CUresult cuModuleLoadDataEx(gd_CUmodule *module, const void *given, unsigned int option_count,
                               gd_CUjit_option *options, void **values)
{
    GD_LOAD(*module, current(), given,
            GD_NEXT(cuModuleLoadDataEx, module, image, option_count, options, values));
}

gd_CUresult cuModuleLoadFatBinary(gd_CUmodule *module, const void *given)
{
    GD_LOAD(*module, current(), given, GD_NEXT(cuModuleLoadFatBinary, module, image));
}

gd_CUresult cuModuleGetFunction(gd_CUfunction *function, gd_CUmodule module, const char *name)
{
    GD_SEE(GD_NEXT(cuModuleGetFunction, function, module, name),
           gd_kernels_add(*function, module, name, true));
}

gd_CUresult cuLibraryLoadData(gd_CUlibrary *library, const void *given, gd_CUjit_option *options,
                              void **values, unsigned int count,
                              gd_CUlibraryOption *library_options, void **library_values,
                              unsigned int library_count)
{
    GD_LOAD(*library, NULL, given,
            GD_NEXT(cuLibraryLoadData, library, image, options, values, count, library_options,
                    library_values, library_count));
}

gd_CUresult cuLibraryLoadFromFile(gd_CUlibrary *library, const char *path, gd_CUjit_option *options,
                                  void **values, unsigned int count,
                                  gd_CUlibraryOption *library_options, void **library_values,
                                  unsigned int library_count)
{
    GD_SEE(GD_NEXT(cuLibraryLoadFromFile, library, path, options, values, count, library_options,
                   library_values, library_count),
           gd_kernels_add_module_file(*library, NULL, path));
}

gd_CUresult cuLibraryGetKernel(gd_CUkernel *kernel, gd_CUlibrary library, const char *name)
{
    GD_SEE(GD_NEXT(cuLibraryGetKernel, kernel, library, name),
           gd_kernels_add(*kernel, library, name, false));
}

static void add_kernels(const gd_CUkernel *kernels, unsigned int count, gd_CUlibrary library)
{
    unsigned int there = 0;

    GD_NEXT(cuLibraryGetKernelCount, &there, library);
    for (unsigned int i = 0; i < count && i < there; i++)
        gd_kernels_add(kernels[i], library, NULL, false);
}

gd_CUresult cuLibraryEnumerateKernels(gd_CUkernel *kernels, unsigned int capacity,
                                      gd_CUlibrary library)
{
    GD_SEE(GD_NEXT(cuLibraryEnumerateKernels, kernels, capacity, library),
           add_kernels(kernels, capacity, library));
}

gd_CUresult cuLibraryGetModule(gd_CUmodule *module, gd_CUlibrary library)
{
    GD_SEE(GD_NEXT(cuLibraryGetModule, module, library),
           gd_kernels_add_module_alias(*module, library));
}

gd_CUresult cuKernelGetFunction(gd_CUfunction *function, gd_CUkernel kernel)
{
    GD_SEE(GD_NEXT(cuKernelGetFunction, function, kernel), gd_kernels_add_alias(*function, kernel));
}

gd_CUresult cuModuleUnload(gd_CUmodule module)
{
    GD_SEE(GD_NEXT(cuModuleUnload, module), gd_kernels_end_module(module));
}

gd_CUresult cuLibraryUnload(gd_CUlibrary library)
{
    GD_SEE(GD_NEXT(cuLibraryUnload, library), gd_kernels_end_module(library));
}
