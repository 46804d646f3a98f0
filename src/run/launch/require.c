/* Conditions at a launch, and what the public header says of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ptx/handle/requirement.h"
#include "run/launch/require.h"

enum { POINTERS_ON_STACK = 64 };

/* ---- launches ---- */

/* A cluster is given with the launch, or by the kernel's .reqnctapercluster. */
static void read_cluster(const griddep_kernel *kernel, const gd_launch *launch, uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++)
        cluster[i] = kernel->required_cluster[i] ? kernel->required_cluster[i] : 1;
    const gd_CUlaunchAttributeValue *given =
        gd_launch_find_attribute(launch, GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    if (given) {
        cluster[0] = given->clusterDim.x;
        cluster[1] = given->clusterDim.y;
        cluster[2] = given->clusterDim.z;
    }
}

static void load(const griddep_kernel *kernel, const gd_launch *launch, void *const *arguments,
                 gd_require_launch *values)
{
    const gd_CUlaunchConfig *config = &launch->config;
    uint32_t shape[GD_REQUIRE_SHAPE] = {config->gridDimX,  config->gridDimY,  config->gridDimZ,
                                        config->blockDimX, config->blockDimY, config->blockDimZ};

    read_cluster(kernel, launch, shape + GD_REQUIRE_CLUSTER);
    shape[GD_REQUIRE_SHARED] = config->sharedMemBytes;
    gd_requires_load(kernel->terms, shape, arguments, kernel->maps_understood, values);
}

int32_t gd_require_check_all(const griddep_kernel *kernel, const gd_launch *launch,
                             void *const *arguments, griddep_error *error)
{
    gd_require_launch values;

    load(kernel, launch, arguments, &values);
    return gd_requirement_check(kernel->terms, &values, kernel->name, error);
}

int32_t gd_require_reach(const griddep_kernel *kernel, const gd_launch *launch,
                         void *const *arguments, uint32_t parameter, uint64_t *bytes,
                         griddep_error *error)
{
    gd_require_launch values;

    if (kernel->terms)
        load(kernel, launch, arguments, &values);
    return gd_requirement_extent(kernel->terms, &values, kernel->name, parameter, bytes, error);
}

/* ---- public ---- */

int32_t griddep_kernel_get_requirement(griddep_kernel *kernel, uint32_t index,
                                       griddep_requirement_info *info, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!kernel)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "kernel is NULL");
    return gd_requirement_write(kernel->terms, index, kernel->name, info, error);
}

/* What a launch would be; arguments are checked. The pointers, in `few` or allocated, are the
 * caller's to give to free_pointers. */
static int32_t make(griddep_kernel *kernel, const griddep_launch_config *config,
                    const griddep_argument *arguments, uint32_t count, gd_launch_room *room,
                    gd_launch *launch, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!kernel || !config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            kernel ? "config" : "kernel");
    status = gd_launch_check_arguments(kernel, arguments, count, false, error);
    if (!status)
        status = gd_runtime_enter(kernel->runtime, &pushed, error);
    if (status)
        return status;
    status = gd_launch_make(kernel, config, room, launch, error);
    gd_runtime_leave(kernel->runtime, pushed);
    return status;
}

/* The values of a launch that make() has taken. */
static int32_t load_arguments(const griddep_kernel *kernel, const gd_launch *launch,
                              const griddep_argument *arguments, uint32_t count,
                              gd_require_launch *values, griddep_error *error)
{
    void *few[POINTERS_ON_STACK] = {NULL};
    void **pointers = count > POINTERS_ON_STACK ? malloc(count * sizeof *pointers) : few;

    if (!pointers)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = (void *)(uintptr_t)gd_launch_argument_data(&arguments[i]);
    load(kernel, launch, pointers, values);
    if (pointers != few)
        free(pointers);
    return GRIDDEP_OK;
}

int32_t griddep_kernel_check(griddep_kernel *kernel, const griddep_launch_config *config,
                             const griddep_argument *arguments, uint32_t argument_count,
                             griddep_error *error)
{
    gd_require_launch values;
    gd_launch_room room;
    gd_launch launch;
    int32_t status = make(kernel, config, arguments, argument_count, &room, &launch, error);

    if (status || !kernel->terms)
        return status;
    status = load_arguments(kernel, &launch, arguments, argument_count, &values, error);
    return status ? status : gd_requirement_check(kernel->terms, &values, kernel->name, error);
}

int32_t griddep_kernel_get_extent(griddep_kernel *kernel, const griddep_launch_config *config,
                                  const griddep_argument *arguments, uint32_t argument_count,
                                  uint32_t parameter, uint64_t *bytes, griddep_error *error)
{
    gd_require_launch values;
    gd_launch_room room;
    gd_launch launch;
    int32_t status = make(kernel, config, arguments, argument_count, &room, &launch, error);

    if (status)
        return status;
    if (!bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "bytes is NULL");
    if (kernel->terms)
        status = load_arguments(kernel, &launch, arguments, argument_count, &values, error);
    return status ? status
                  : gd_requirement_extent(kernel->terms, &values, kernel->name, parameter, bytes,
                                          error);
}
