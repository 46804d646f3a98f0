/* The makers of launch attributes: each checks what can be said of a value without a device. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "run/launch/attribute_check.h"

/* Hands out a value under its id. */
static int32_t give(griddep_attribute *attribute, int32_t id,
                    const gd_CUlaunchAttributeValue *value)
{
    *attribute = (griddep_attribute){.id = id};
    memcpy(attribute->value, value, sizeof attribute->value);
    return GRIDDEP_OK;
}

static int32_t begin(const griddep_attribute *attribute, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    return attribute ? GRIDDEP_OK
                     : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "attribute is NULL");
}

/* A value of a list of constants, 0 to `last`. */
static int32_t check_choice(int32_t value, int32_t last, const char *what, const char *constants,
                            griddep_error *error)
{
    if (value >= 0 && value <= last)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is %" PRId32 ", which is no %s", what,
                        value, constants);
}

static int32_t check_switch(int32_t on, griddep_error *error)
{
    if (on == 0 || on == 1)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "on is %" PRId32 "; it may be 0 or 1", on);
}

static int32_t check_cluster(uint32_t x, uint32_t y, uint32_t z, griddep_error *error)
{
    if (x && y && z && x <= GD_CHIP_LARGEST_CLUSTER && y <= GD_CHIP_LARGEST_CLUSTER &&
        z <= GD_CHIP_LARGEST_CLUSTER && x * y * z <= GD_CHIP_LARGEST_CLUSTER)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "a cluster of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                        "; it may have 1 to %d blocks",
                        x, y, z, GD_CHIP_LARGEST_CLUSTER);
}

int32_t griddep_attribute_cluster_dimension(griddep_attribute *attribute, uint32_t x, uint32_t y,
                                            uint32_t z, griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.clusterDim = {x, y, z}};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_cluster(x, y, z, error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

int32_t griddep_attribute_preferred_cluster_dimension(griddep_attribute *attribute, uint32_t x,
                                                      uint32_t y, uint32_t z, griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.preferredClusterDim = {x, y, z}};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_cluster(x, y, z, error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, &value);
}

int32_t griddep_attribute_cluster_scheduling_policy(griddep_attribute *attribute, int32_t policy,
                                                    griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.clusterSchedulingPolicyPreference = policy};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_choice(policy, GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING, "policy",
                              "GRIDDEP_CLUSTER_SCHEDULING_*", error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY, &value);
}

int32_t griddep_attribute_priority(griddep_attribute *attribute, int32_t priority,
                                   griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.priority = priority};
    int32_t status = begin(attribute, error);

    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_PRIORITY, &value);
}

int32_t griddep_attribute_memory_sync_domain(griddep_attribute *attribute, int32_t domain,
                                             griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.memSyncDomain = domain};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_choice(domain, GRIDDEP_MEMORY_SYNC_DOMAIN_REMOTE, "domain",
                              "GRIDDEP_MEMORY_SYNC_DOMAIN_*", error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN, &value);
}

int32_t griddep_attribute_memory_sync_domain_map(griddep_attribute *attribute,
                                                 uint32_t default_domain, uint32_t remote_domain,
                                                 griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {
        .memSyncDomainMap = {(unsigned char)default_domain, (unsigned char)remote_domain}};
    int32_t status = begin(attribute, error);

    if (!status && (default_domain > UINT8_MAX || remote_domain > UINT8_MAX))
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "the domains are %" PRIu32 " and %" PRIu32 "; they may be 0 to 255",
                              default_domain, remote_domain);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP, &value);
}

int32_t griddep_attribute_access_policy_window(griddep_attribute *attribute, uint64_t address,
                                               uint64_t bytes, double hit_ratio, int32_t hit,
                                               int32_t miss, griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {
        .accessPolicyWindow = {.base_ptr = (void *)(uintptr_t)address,
                               .num_bytes = bytes,
                               .hitRatio = (float)hit_ratio,
                               .hitProp = hit,
                               .missProp = miss}};
    int32_t status = begin(attribute, error);

    if (!status && !(hit_ratio >= 0.0 && hit_ratio <= 1.0))
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "hit_ratio is %g; it may be 0 to 1",
                              hit_ratio);
    if (!status)
        status = check_choice(hit, GRIDDEP_ACCESS_PROPERTY_PERSISTING, "hit",
                              "GRIDDEP_ACCESS_PROPERTY_*", error);
    if (!status && miss == GRIDDEP_ACCESS_PROPERTY_PERSISTING)
        status =
            gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "accesses that miss cannot be PERSISTING");
    if (!status)
        status = check_choice(miss, GRIDDEP_ACCESS_PROPERTY_STREAMING, "miss",
                              "GRIDDEP_ACCESS_PROPERTY_*", error);
    if (!status && bytes > UINT64_MAX - address)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "a window of %" PRIu64 " bytes at 0x%" PRIx64
                              " is past the end of the address space",
                              bytes, address);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
}

int32_t griddep_attribute_cooperative(griddep_attribute *attribute, int32_t on,
                                      griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.cooperative = on};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_switch(on, error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_COOPERATIVE, &value);
}

int32_t griddep_attribute_carveout(griddep_attribute *attribute, int32_t percent,
                                   griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.sharedMemCarveout = (unsigned)percent};
    int32_t status = begin(attribute, error);

    if (!status && (percent < GRIDDEP_CARVEOUT_DEFAULT || percent > 100))
        status = gd_error_set(
            error, GRIDDEP_ERROR_ARGUMENT,
            "percent is %" PRId32 "; it may be 0 to 100, or GRIDDEP_CARVEOUT_DEFAULT", percent);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_CARVEOUT, &value);
}

/* Where the caller wants the handle stands where the driver writes it, until the launch. */
int32_t griddep_attribute_device_updatable_node(griddep_attribute *attribute, int32_t on,
                                                void **node, griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {
        .deviceUpdatableKernelNode = {.deviceUpdatable = on, .devNode = (void *)node}};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_switch(on, error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE, &value);
}

int32_t griddep_attribute_nvlink_centric_scheduling(griddep_attribute *attribute, int32_t on,
                                                    griddep_error *error)
{
    const gd_CUlaunchAttributeValue value = {.nvlinkUtilCentricScheduling = (unsigned)on};
    int32_t status = begin(attribute, error);

    if (!status)
        status = check_switch(on, error);
    return status ? status : give(attribute, GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING, &value);
}
