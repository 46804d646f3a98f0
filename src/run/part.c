#include "run/part.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

bool gd_part_can(const gd_driver *driver)
{
    return driver->cuDeviceGetDevResource && driver->cuDevSmResourceSplitByCount &&
           driver->cuDevResourceGenerateDesc && driver->cuGreenCtxCreate &&
           driver->cuGreenCtxDestroy && driver->cuCtxFromGreenCtx;
}

/* Parts of one size are split off together, since only then the driver says that no two of them
 * overlap. */
static gd_CUresult split(const gd_driver *driver, const gd_CUdevResource *whole, uint32_t size,
                         gd_CUdevResource **parts, unsigned *count, gd_CUdevResource *rest)
{
    if (!*count) {
        gd_CUresult result = driver->cuDevSmResourceSplitByCount(NULL, count, whole, NULL, 0, size);
        if (result != GD_CUDA_SUCCESS)
            return result;
    }
    *parts = calloc((size_t)*count + 1, sizeof **parts);
    return *parts ? driver->cuDevSmResourceSplitByCount(*parts, count, whole, rest, 0, size)
                  : GD_CUDA_ERROR_OUT_OF_MEMORY;
}

/* The resource that options mean. */
static int32_t choose(const griddep_runtime *runtime, const griddep_runtime_options *options,
                      gd_CUdevResource *chosen, griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    const bool takes_rest = options->flags & GRIDDEP_RUNTIME_REST;
    gd_CUdevResource whole = {0}, rest = {0}, *parts = NULL;
    unsigned count = takes_rest ? options->part : 0;
    int32_t status = GRIDDEP_OK;
    gd_CUresult result =
        driver->cuDeviceGetDevResource(runtime->device, &whole, GD_CU_DEV_RESOURCE_TYPE_SM);

    if (result == GD_CUDA_SUCCESS && options->multiprocessors > whole.sm.smCount)
        return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                            "a part of %" PRIu32 " multiprocessors; device %d has %u",
                            options->multiprocessors, (int)runtime->device, whole.sm.smCount);
    if (result == GD_CUDA_SUCCESS)
        result = split(driver, &whole, options->multiprocessors, &parts, &count, &rest);
    if (result != GD_CUDA_SUCCESS)
        status =
            gd_driver_fail(driver, result, error,
                           "device %d cannot be split into parts of %" PRIu32 " multiprocessors",
                           (int)runtime->device, options->multiprocessors);
    else if (takes_rest ? count < options->part : count <= options->part)
        status = gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                              "part %" PRIu32 " of %" PRIu32
                              " multiprocessors: device %d splits into %u, from 0",
                              options->part, options->multiprocessors, (int)runtime->device, count);
    else if (takes_rest && rest.type != GD_CU_DEV_RESOURCE_TYPE_SM)
        status = gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                              "nothing of device %d is left behind %" PRIu32 " parts of %" PRIu32
                              " multiprocessors",
                              (int)runtime->device, options->part, options->multiprocessors);
    else
        *chosen = takes_rest ? rest : parts[options->part];
    free(parts);
    return status;
}

int32_t gd_part_open(griddep_runtime *runtime, const griddep_runtime_options *options,
                     griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_CUdevResourceDesc description = NULL;
    gd_CUdevResource chosen = {0};

    if (!gd_part_can(driver))
        return gd_error_set(error, GRIDDEP_ERROR_DRIVER_TOO_OLD,
                            "a part of a device is a green context (driver API 12.4), which %s "
                            "(API %" PRId32 ".%" PRId32 ") lacks",
                            driver->path, driver->version / 1000, driver->version % 1000 / 10);
    int32_t status = choose(runtime, options, &chosen, error);
    if (status)
        return status;
    gd_CUresult result = driver->cuDevResourceGenerateDesc(&description, &chosen, 1);
    if (result == GD_CUDA_SUCCESS)
        result = driver->cuGreenCtxCreate(&runtime->green, description, runtime->device,
                                          GD_CU_GREEN_CTX_DEFAULT_STREAM);
    if (result == GD_CUDA_SUCCESS)
        result = driver->cuCtxFromGreenCtx(&runtime->context, runtime->green);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(driver, result, error,
                                "a green context of %u multiprocessors cannot be made",
                                chosen.sm.smCount);
}
