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
