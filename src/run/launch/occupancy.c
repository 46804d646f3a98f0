/* How many blocks of a kernel an SM holds, and which block size fills it best. */
#include "base/error.h"
#include "run/launch/launch.h"

static int32_t check(const griddep_kernel *kernel, const void *output, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status || (kernel && output))
        return status;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                        kernel ? "an output or the configuration" : "kernel");
}

static int32_t fail(const griddep_kernel *kernel, gd_CUresult result, const char *what,
                    griddep_error *error)
{
    return result == GD_CUDA_SUCCESS ? GRIDDEP_OK
                                     : gd_driver_fail(kernel->runtime->driver, result, error,
                                                      "kernel %s: %s", kernel->name, what);
}

static int32_t ask_blocks(griddep_kernel *kernel, const griddep_launch_config *config, int *blocks,
                          griddep_error *error)
{
    const gd_driver *driver = kernel->runtime->driver;
    gd_launch_room room;
    gd_launch launch;
    int32_t status = gd_launch_make(kernel, config, &room, &launch, error);

    if (status)
        return status;
    if (!driver->cuOccupancyMaxActiveBlocksPerMultiprocessor)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "the driver lacks cuOccupancyMaxActiveBlocksPerMultiprocessor");
    const int threads =
        (int)(launch.config.blockDimX * launch.config.blockDimY * launch.config.blockDimZ);
    return fail(kernel,
                driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    blocks, kernel->function, threads, launch.config.sharedMemBytes),
                "blocks per multiprocessor", error);
}

/* Opts in to the shared memory, as a launch does. */
static int32_t ask_block_size(griddep_kernel *kernel, uint32_t shared_bytes, uint32_t most,
                              int *threads, int *blocks, griddep_error *error)
{
    const uint32_t *required = kernel->info.required_block;
    griddep_launch_config config = {
        .size = sizeof config, .grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = shared_bytes};
    gd_launch_room room;
    gd_launch launch;

    for (int i = 0; i < 3; i++) {
        if (required[0])
            config.block[i] = required[i];
        if (kernel->required_cluster[0]) /* the grid is a multiple of the cluster */
            config.grid[i] = kernel->required_cluster[i];
    }
    int32_t status = gd_launch_make(kernel, &config, &room, &launch, error);
    if (status)
        return status;
    return fail(kernel,
                kernel->runtime->driver->cuOccupancyMaxPotentialBlockSize(
                    blocks, threads, kernel->function, NULL, shared_bytes, (int)most),
                "a block size", error);
}

int32_t griddep_kernel_get_occupancy(griddep_kernel *kernel, const griddep_launch_config *config,
                                     uint32_t *blocks, griddep_error *error)
{
    int found = 0;
    bool pushed;
    int32_t status = check(kernel, config ? blocks : NULL, error);

    if (!status)
        status = gd_runtime_enter(kernel->runtime, &pushed, error);
    if (status)
        return status;
    status = ask_blocks(kernel, config, &found, error);
    gd_runtime_leave(kernel->runtime, pushed);
    if (!status)
        *blocks = found > 0 ? (uint32_t)found : 0;
    return status;
}

int32_t griddep_kernel_suggest_block(griddep_kernel *kernel, uint32_t shared_bytes,
                                     uint32_t maximum_threads, uint32_t *threads, uint32_t *blocks,
                                     griddep_error *error)
{
    int size = 0, count = 0;
    bool pushed;
    int32_t status = check(kernel, threads, error);

    if (!status && maximum_threads > (uint32_t)INT32_MAX)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "maximum_threads is too large");
    if (!status)
        status = gd_runtime_enter(kernel->runtime, &pushed, error);
    if (status)
        return status;
    status = ask_block_size(kernel, shared_bytes, maximum_threads, &size, &count, error);
    gd_runtime_leave(kernel->runtime, pushed);
    if (status)
        return status;
    *threads = size > 0 ? (uint32_t)size : 0;
    if (blocks)
        *blocks = count > 0 ? (uint32_t)count : 0;
    return GRIDDEP_OK;
}
