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

/* A device's parts of one size, and what they leave over, from one call: only of these the driver
 * says that no two overlap. */
typedef struct split {
    gd_CUdevResource *parts; /* the rest stands behind them where there is one */
    unsigned count;
    bool has_rest;
} split;

static gd_CUresult make_split(const gd_driver *driver, gd_CUdevice device, uint32_t size,
                              split *made)
{
    gd_CUdevResource whole = {0}, rest = {0};
    gd_CUresult result = driver->cuDeviceGetDevResource(device, &whole, GD_CU_DEV_RESOURCE_TYPE_SM);

    if (result != GD_CUDA_SUCCESS || size > whole.sm.smCount)
        return result;
    result = driver->cuDevSmResourceSplitByCount(NULL, &made->count, &whole, NULL, 0, size);
    if (result != GD_CUDA_SUCCESS)
        return result;
    made->parts = calloc((size_t)made->count + 1, sizeof *made->parts);
    if (!made->parts)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    result = driver->cuDevSmResourceSplitByCount(made->parts, &made->count, &whole, &rest, 0, size);
    made->has_rest = rest.type == GD_CU_DEV_RESOURCE_TYPE_SM && rest.sm.smCount;
    made->parts[made->count] = rest;
    return result;
}

/* Which of them options mean: *count of them from *first on. */
static int32_t choose(const griddep_runtime *runtime, const griddep_runtime_options *options,
                      const split *all, unsigned *first, unsigned *count, griddep_error *error)
{
    const bool takes_rest = options->flags & GRIDDEP_RUNTIME_REST;
    const unsigned end = all->count + (takes_rest && all->has_rest);

    *first = options->part;
    *count = takes_rest && *first < end ? end - *first : 1;
    if (!all->count)
        return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                            "a part of %" PRIu32 " multiprocessors; device %d has fewer",
                            options->multiprocessors, (int)runtime->device);
    if (*first < end)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "part %" PRIu32 " of %" PRIu32
                        " multiprocessors: device %d splits into %u, from 0%s",
                        options->part, options->multiprocessors, (int)runtime->device, all->count,
                        takes_rest ? ", and nothing is left behind them" : "");
}

static gd_CUresult make_green(griddep_runtime *runtime, gd_CUdevResource *resources, unsigned count)
{
    const gd_driver *driver = runtime->driver;
    gd_CUdevResourceDesc description = NULL;
    gd_CUresult result = driver->cuDevResourceGenerateDesc(&description, resources, count);

    if (result == GD_CUDA_SUCCESS)
        result = driver->cuGreenCtxCreate(&runtime->green, description, runtime->device,
                                          GD_CU_GREEN_CTX_DEFAULT_STREAM);
    return result == GD_CUDA_SUCCESS ? driver->cuCtxFromGreenCtx(&runtime->context, runtime->green)
                                     : result;
}

int32_t gd_part_open(griddep_runtime *runtime, const griddep_runtime_options *options,
                     griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    unsigned first = 0, count = 0;
    split all = {0};

    if (!gd_part_can(driver))
        return gd_error_set(error, GRIDDEP_ERROR_DRIVER_TOO_OLD,
                            "a part of a device is a green context (driver API 12.4), which %s "
                            "(API %" PRId32 ".%" PRId32 ") lacks",
                            driver->path, driver->version / 1000, driver->version % 1000 / 10);
    gd_CUresult result = make_split(driver, runtime->device, options->multiprocessors, &all);
    int32_t status = result == GD_CUDA_SUCCESS
                         ? choose(runtime, options, &all, &first, &count, error)
                         : GRIDDEP_OK;
    if (result == GD_CUDA_SUCCESS && !status)
        result = make_green(runtime, all.parts + first, count);
    runtime->part_size = options->multiprocessors;
    runtime->part = options->part;
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error,
                                "a part of %" PRIu32 " multiprocessors of device %d",
                                options->multiprocessors, (int)runtime->device);
    free(all.parts);
    return status;
}
