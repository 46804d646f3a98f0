/* Launch attributes held against device, kernel and shape, so that a refusal has its numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/attribute_check.h"

/* ---- names ---- */

void gd_attribute_name(int32_t id, char *name, size_t capacity)
{
    static const char *const names[] = {
#define GD_ATTRIBUTE(constant, driver, member, node, text) [GRIDDEP_ATTRIBUTE_##constant] = (text),
#include "run/launch/attributes.def"
    };
    const char *known =
        id >= 0 && id < (int32_t)(sizeof names / sizeof names[0]) ? names[id] : NULL;

    if (known)
        snprintf(name, capacity, "%s (attribute %" PRId32 ")", known, id);
    else
        snprintf(name, capacity, "attribute %" PRId32, id);
}

/* ---- clusters ---- */

typedef struct cluster_words {
    char text[112];
} cluster_words;

/* Blocks of a cluster; of one far too large, as many as are counted. */
static uint64_t count_blocks(const unsigned cluster[3])
{
    const uint64_t most = UINT64_C(1) << 32;
    const uint64_t plane = (uint64_t)cluster[0] * cluster[1];

    return plane > most ? most : plane * cluster[2];
}

/* "a cluster of 4 x 8 x 1, 32 blocks" */
static cluster_words describe(const unsigned cluster[3])
{
    const uint64_t blocks = count_blocks(cluster);
    cluster_words words;

    snprintf(words.text, sizeof words.text, "a cluster of %u x %u x %u, %s%" PRIu64 " block%s",
             cluster[0], cluster[1], cluster[2], blocks >> 32 ? "more than " : "", blocks,
             blocks == 1 ? "" : "s");
    return words;
}

static bool find_cluster(const gd_launch *launch, unsigned cluster[3])
{
    const gd_CUlaunchAttributeValue *given =
        gd_launch_find_attribute(launch, GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);

    if (given)
        memcpy(cluster, &given->clusterDim, 3 * sizeof *cluster);
    return given != NULL;
}

static int32_t check_grid(const griddep_kernel *kernel, const gd_launch *launch, const char *what,
                          const unsigned cluster[3], griddep_error *error)
{
    const unsigned grid[3] = {launch->config.gridDimX, launch->config.gridDimY,
                              launch->config.gridDimZ};

    for (int i = 0; i < 3; i++) {
        if (grid[i] % cluster[i])
            return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                                "kernel %s: the grid's %c size %u is no multiple of the %s's %u",
                                kernel->name, "xyz"[i], grid[i], what, cluster[i]);
    }
    return GRIDDEP_OK;
}

/* Sizes beyond the portable one have to be asked for, once. */
static int32_t opt_in(griddep_kernel *kernel, griddep_error *error)
{
    const gd_driver *driver = kernel->runtime->driver;

    if (atomic_load_explicit(&kernel->large_clusters, memory_order_relaxed))
        return GRIDDEP_OK;
    gd_CUresult result = driver->cuFuncSetAttribute(
        kernel->function, GD_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error,
                              "kernel %s: opting in to clusters of more than %d blocks",
                              kernel->name, GD_CHIP_PORTABLE_CLUSTER);
    atomic_store_explicit(&kernel->large_clusters, 1, memory_order_relaxed);
    return GRIDDEP_OK;
}

/* The driver's configuration of a launch, without attribute 6. */
static gd_CUlaunchConfig config_of(const gd_launch *launch)
{
    gd_CUlaunchConfig config = launch->config;

    config.attrs = launch->attributes;
    config.numAttrs = launch->attribute_count;
    return config;
}

static int32_t ask_cluster_size(const griddep_kernel *kernel, const gd_launch *launch, int *size,
                                griddep_error *error)
{
    const gd_driver *driver = kernel->runtime->driver;
    const gd_CUlaunchConfig config = config_of(launch);
    gd_CUresult result =
        driver->cuOccupancyMaxPotentialClusterSize(size, kernel->function, &config);

    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(driver, result, error, "kernel %s: the largest cluster",
                                kernel->name);
}

static int32_t need_clusters(const griddep_kernel *kernel, griddep_error *error)
{
    if (kernel->runtime->info.features & GRIDDEP_FEATURE_CLUSTER)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                        "kernel %s: clusters need sm_90; the device is sm_%" PRId32, kernel->name,
                        kernel->runtime->info.capability);
}

static int32_t beyond_device(const griddep_kernel *kernel, const gd_launch *launch,
                             const unsigned cluster[3], int most, griddep_error *error)
{
    const gd_CUlaunchConfig *config = &launch->config;

    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "kernel %s: %s; of blocks of %" PRIu64
                        " threads and %u bytes of dynamic shared memory the "
                        "device can have %d in a cluster",
                        kernel->name, describe(cluster).text,
                        (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ,
                        config->sharedMemBytes, most);
}

/* Sizes up to the portable one are left to the driver, which takes them but where nothing fits:
 * gd_attribute_explain. */
static int32_t check_cluster(griddep_kernel *kernel, const gd_launch *launch,
                             const unsigned cluster[3], griddep_error *error)
{
    uint64_t blocks = count_blocks(cluster);
    int most = GD_CHIP_LARGEST_CLUSTER;
    int32_t status = need_clusters(kernel, error);

    if (status)
        return status;
    if (!blocks || blocks > GD_CHIP_LARGEST_CLUSTER)
        return gd_error_set(
            error, GRIDDEP_ERROR_LIMIT,
            "kernel %s: %s; it may have 1 to %d, of which devices need not have more than %d",
            kernel->name, describe(cluster).text, GD_CHIP_LARGEST_CLUSTER,
            GD_CHIP_PORTABLE_CLUSTER);
    status = check_grid(kernel, launch, "cluster", cluster, error);
    if (status || blocks <= GD_CHIP_PORTABLE_CLUSTER)
        return status;
    status = opt_in(kernel, error);
    if (!status && kernel->runtime->driver->cuOccupancyMaxPotentialClusterSize)
        status = ask_cluster_size(kernel, launch, &most, error);
    return status || blocks <= (uint64_t)most ? status
                                              : beyond_device(kernel, launch, cluster, most, error);
}

/* The cluster that the kernel itself asks for; a launch may repeat it. */
static int32_t check_required_cluster(griddep_kernel *kernel, const gd_launch *launch,
                                      griddep_error *error)
{
    unsigned required[3], given[3];

    for (int i = 0; i < 3; i++)
        required[i] = kernel->required_cluster[i] ? kernel->required_cluster[i] : 1;
    if (find_cluster(launch, given) && memcmp(given, required, sizeof given) != 0)
        return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: its .reqnctapercluster asks for a cluster of %u x %u x %u, "
                            "the launch gives %u x "
                            "%u x %u",
                            kernel->name, required[0], required[1], required[2], given[0], given[1],
                            given[2]);
    return check_cluster(kernel, launch, required, error);
}

void gd_attribute_explain(const griddep_kernel *kernel, const gd_launch *launch, gd_CUresult result,
                          griddep_error *error)
{
    unsigned cluster[3] = {0};
    int most = 0;

    for (int i = 0; i < 3 && kernel->required_cluster[0]; i++)
        cluster[i] = kernel->required_cluster[i] ? kernel->required_cluster[i] : 1;
    if (!find_cluster(launch, cluster) && !cluster[0])
        return;
    gd_error_append(error, "; %s", describe(cluster).text);
    if (result == GD_CUDA_ERROR_INVALID_CLUSTER_SIZE &&
        kernel->runtime->driver->cuOccupancyMaxPotentialClusterSize &&
        ask_cluster_size(kernel, launch, &most, NULL) == GRIDDEP_OK)
        gd_error_append(error, "; in this configuration the device can have %d in a cluster", most);
}

/* cuda.h, preferredClusterDim: a multiple of the cluster in x and y, the same in z, a divisor of
 * the grid. */
static int32_t check_preferred(const griddep_kernel *kernel, const gd_launch *launch,
                               const gd_CUlaunchAttributeValue *value, griddep_error *error)
{
    const unsigned preferred[3] = {value->preferredClusterDim.x, value->preferredClusterDim.y,
                                   value->preferredClusterDim.z};
    unsigned cluster[3] = {0};
    int32_t status = need_clusters(kernel, error);

    if (status)
        return status;
    if (!find_cluster(launch, cluster))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s: a preferred cluster needs a cluster beside it",
                            kernel->name);
    for (int i = 0; i < 3; i++) {
        bool fits = preferred[i] && cluster[i] &&
                    (i < 2 ? preferred[i] % cluster[i] == 0 : preferred[i] == cluster[i]);
        if (!fits)
            return gd_error_set(
                error, GRIDDEP_ERROR_LIMIT,
                "kernel %s: the preferred cluster's %c size %u is not %s the cluster's %u",
                kernel->name, "xyz"[i], preferred[i], i < 2 ? "a multiple of" : "equal to",
                cluster[i]);
    }
    return check_grid(kernel, launch, "preferred cluster", preferred, error);
}

/* ---- others ---- */

static int32_t ask_device(const griddep_kernel *kernel, gd_CUdevice_attribute attribute, int *value,
                          griddep_error *error)
{
    const griddep_runtime *runtime = kernel->runtime;
    gd_CUresult result = runtime->driver->cuDeviceGetAttribute(value, attribute, runtime->device);

    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : gd_driver_fail(runtime->driver, result, error,
                                "device attribute %d cannot be read", attribute);
}

static int32_t check_window(const griddep_kernel *kernel, const gd_CUlaunchAttributeValue *value,
                            griddep_error *error)
{
    int most = 0;
    int32_t status =
        ask_device(kernel, GD_CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, &most, error);

    if (status || value->accessPolicyWindow.num_bytes <= (size_t)most)
        return status;
    return gd_error_set(
        error, most ? GRIDDEP_ERROR_LIMIT : GRIDDEP_ERROR_UNSUPPORTED,
        "kernel %s: an access policy window of %zu bytes; the device's largest has %d",
        kernel->name, value->accessPolicyWindow.num_bytes, most);
}

/* How many blocks of the launch are resident on a multiprocessor at once, from a driver that tells.
 */
static int32_t find_occupancy(const griddep_kernel *kernel, const gd_launch *launch,
                              uint32_t *blocks, griddep_error *error)
{
    const gd_driver *driver = kernel->runtime->driver;
    const gd_CUlaunchConfig *config = &launch->config;
    int found = 0;

    gd_CUresult result = driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &found, kernel->function, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
        config->sharedMemBytes);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "kernel %s: its occupancy", kernel->name);
    *blocks = found > 0 ? (uint32_t)found : 0;
    return GRIDDEP_OK;
}

static int32_t check_cooperative(const griddep_kernel *kernel, const gd_launch *launch,
                                 griddep_error *error)
{
    uint64_t asked =
        (uint64_t)launch->config.gridDimX * launch->config.gridDimY * launch->config.gridDimZ;
    uint64_t multiprocessors = (uint64_t)kernel->runtime->info.multiprocessors;
    uint32_t blocks = 0;
    int able = 0;
    int32_t status = ask_device(kernel, GD_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &able, error);

    if (status)
        return status;
    if (!able)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "kernel %s: the device cannot launch cooperatively", kernel->name);
    if (!kernel->runtime->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor)
        return GRIDDEP_OK; /* the driver answers it at the launch */
    status = find_occupancy(kernel, launch, &blocks, error);
    if (status || asked <= blocks * multiprocessors)
        return status;
    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "kernel %s: a cooperative grid of %" PRIu64 " blocks; %" PRIu32
                        " on each of %" PRIu64 " SMs are resident at once",
                        kernel->name, asked, blocks, multiprocessors);
}

static int32_t check_priority(const griddep_kernel *kernel, const gd_CUlaunchAttributeValue *value,
                              griddep_error *error)
{
    const gd_driver *driver = kernel->runtime->driver;
    int least = 0, greatest = 0;

    if (!driver->cuCtxGetStreamPriorityRange)
        return GRIDDEP_OK;
    gd_CUresult result = driver->cuCtxGetStreamPriorityRange(&least, &greatest);
    if (result != GD_CUDA_SUCCESS)
        return gd_driver_fail(driver, result, error, "the range of priorities cannot be read");
    if (value->priority <= least && value->priority >= greatest)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "kernel %s: the priority %d; the device has %d (lowest) to %d (highest)",
                        kernel->name, value->priority, least, greatest);
}

static int32_t check_domains(const griddep_kernel *kernel, const gd_CUlaunchAttributeValue *value,
                             griddep_error *error)
{
    const gd_CUlaunchMemSyncDomainMap *map = &value->memSyncDomainMap;
    int count = 0;
    int32_t status =
        ask_device(kernel, GD_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, &count, error);

    if (status || (map->default_ < count && map->remote < count))
        return status;
    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "kernel %s: the memory domains %d and %d; the device has %d, from 0",
                        kernel->name, map->default_, map->remote, count);
}

/* ---- a launch ---- */

static int32_t check_one(griddep_kernel *kernel, const gd_launch *launch,
                         const gd_CUlaunchAttribute *attribute, griddep_error *error)
{
    const unsigned cluster[3] = {attribute->value.clusterDim.x, attribute->value.clusterDim.y,
                                 attribute->value.clusterDim.z};

    switch (attribute->id) {
    case GD_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return check_window(kernel, &attribute->value, error);
    case GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        return attribute->value.cooperative ? check_cooperative(kernel, launch, error) : GRIDDEP_OK;
    case GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return kernel->required_cluster[0] ? GRIDDEP_OK
                                           : check_cluster(kernel, launch, cluster, error);
    case GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        return check_preferred(kernel, launch, &attribute->value, error);
    case GD_CU_LAUNCH_ATTRIBUTE_PRIORITY:
        return check_priority(kernel, &attribute->value, error);
    case GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return check_domains(kernel, &attribute->value, error);
    default:
        return GRIDDEP_OK;
    }
}

static int32_t check_once(const griddep_kernel *kernel, const gd_launch *launch, uint32_t index,
                          griddep_error *error)
{
    int32_t id = launch->attributes[index].id;
    char name[64];

    for (uint32_t i = index + 1; i < launch->attribute_count && id != GD_CU_LAUNCH_ATTRIBUTE_IGNORE;
         i++) {
        if (launch->attributes[i].id == id) {
            gd_attribute_name(id, name, sizeof name);
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "kernel %s: %s is given twice",
                                kernel->name, name);
        }
    }
    return GRIDDEP_OK;
}

int32_t gd_attribute_check(griddep_kernel *kernel, const gd_launch *launch, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < launch->attribute_count && !status; i++)
        status = check_once(kernel, launch, i, error);
    if (!status && kernel->required_cluster[0])
        status = check_required_cluster(kernel, launch, error);
    for (uint32_t i = 0; i < launch->attribute_count && !status; i++)
        status = check_one(kernel, launch, &launch->attributes[i], error);
    return status;
}
