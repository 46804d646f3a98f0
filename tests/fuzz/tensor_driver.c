/* The driver of tests/fuzz/tensor.c, and a kernel's run. */
#include "tensor_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool check(gd_CUresult result, const char *what)
{
    if (result != GD_CUDA_SUCCESS)
        fprintf(stderr, "%s: driver error %d\n", what, (int)result);
    return result == GD_CUDA_SUCCESS;
}

static bool find_entries(tensor_driver *to, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define FIND(name, arguments)                                                                      \
    do {                                                                                           \
        void *found = dlsym(library, #name);                                                       \
        if (!found) {                                                                              \
            fprintf(stderr, "%s lacks %s\n", path, #name);                                         \
            return false;                                                                          \
        }                                                                                          \
        memcpy(&to->name, &found, sizeof found);                                                   \
    } while (0)
    TENSOR_ENTRIES(FIND);
#undef FIND
    return true;
}

bool tensor_open(tensor_driver *driver, const char *path)
{
    gd_CUdevice device;
    gd_CUcontext context;

    return find_entries(driver, path) && check(driver->cuInit(0), "cuInit") &&
           check(driver->cuDeviceGet(&device, 0), "cuDeviceGet") &&
           check(driver->cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") &&
           check(driver->cuCtxSetCurrent(context), "cuCtxSetCurrent") &&
           check(driver->cuMemAlloc_v2(&driver->input, SHARED_BYTES), "cuMemAlloc") &&
           check(driver->cuMemAlloc_v2(&driver->memory, MEMORY_BYTES), "cuMemAlloc") &&
           check(driver->cuMemAlloc_v2(&driver->output, RESULT_BYTES), "cuMemAlloc");
}

static gd_CUmodule load(const tensor_driver *driver, const gd_text *text)
{
    static char log[4096];
    int options[] = {5, 6}; /* CU_JIT_ERROR_LOG_BUFFER and its size */
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    gd_CUmodule module = NULL;

    log[0] = 0;
    if (driver->cuModuleLoadDataEx(&module, gd_text_get(text), 2, options, values) ==
        GD_CUDA_SUCCESS)
        return module;
    fprintf(stderr, "refused: %s\n", log);
    return NULL;
}

static bool launch(const tensor_driver *driver, gd_CUmodule module, tensor_case *item)
{
    uint64_t input = driver->input, memory = driver->memory, output = driver->output;
    void *parameters[16] = {&item->map, &input, &output, &memory};
    gd_CUfunction function;

    for (uint32_t i = 0; i < 5; i++)
        parameters[4 + i] = &item->coordinates[i];
    for (uint32_t i = 0; i < 4; i++)
        parameters[9 + i] = &item->words[i];
    return check(driver->cuModuleGetFunction(&function, module, "k"), "cuModuleGetFunction") &&
           check(driver->cuFuncSetAttribute(function, 8, SHARED_BYTES + 1024),
                 "cuFuncSetAttribute") &&
           check(driver->cuMemcpyHtoD_v2(input, item->input, SHARED_BYTES), "cuMemcpyHtoD") &&
           check(driver->cuMemcpyHtoD_v2(memory, item->memory, MEMORY_BYTES), "cuMemcpyHtoD") &&
           check(driver->cuMemsetD8_v2(output, 0x5a, RESULT_BYTES), "cuMemsetD8") &&
           check(driver->cuLaunchKernel(function, 1, 1, 1, KERNEL_THREADS, 1, 1,
                                        SHARED_BYTES + 1024, NULL, parameters, NULL),
                 "cuLaunchKernel") &&
           check(driver->cuCtxSynchronize(), "cuCtxSynchronize") &&
           check(driver->cuMemcpyDtoH_v2(item->result, output, RESULT_BYTES), "cuMemcpyDtoH") &&
           check(driver->cuMemcpyDtoH_v2(item->memory_after, memory, MEMORY_BYTES), "cuMemcpyDtoH");
}

bool tensor_run(const tensor_driver *driver, tensor_case *item)
{
    gd_CUmodule module = item->ptx.failed ? NULL : load(driver, &item->ptx);
    bool done = module && launch(driver, module, item);

    if (module)
        driver->cuModuleUnload(module);
    return done;
}

/* SplitMix64. */
uint32_t tensor_random(tensor_case *item, uint32_t below)
{
    uint64_t bits = item->random += UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((bits ^ bits >> 31) >> 32) % below;
}

uint64_t tensor_digest(uint64_t digest, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        digest = (digest ^ words[i]) * UINT64_C(0x100000001b3);
        digest ^= digest >> 29;
    }
    return digest;
}
