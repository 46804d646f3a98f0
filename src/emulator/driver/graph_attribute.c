/* Launch attributes of kernel nodes: cuGraphKernelNodeGetAttribute and its kin. What may be asked
 * for, and what a node answers that nobody set anything on, is what an H200's driver did. */
#include <stdlib.h>
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/driver/graph.h"
#include "emulator/driver/module.h"

/* Bytes of the attributes that kernel nodes have; 0 for others. */
static const uint8_t sizes[] = {
    [GD_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW] = sizeof(gd_CUaccessPolicyWindow),
    [GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE] = 4,
    [GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION] = 12,
    [GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] = 4,
    [GD_CU_LAUNCH_ATTRIBUTE_PRIORITY] = 4,
    [GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP] = sizeof(gd_CUlaunchMemSyncDomainMap),
    [GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN] = 4,
    [GD_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE] = 16,
    [GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = 4,
};

static size_t size_of(gd_CUlaunchAttributeID id)
{
    return id >= 0 && (size_t)id < sizeof sizes ? sizes[id] : 0;
}

static gd_kernel_work *find_kernel(gd_CUgraphNode handle)
{
    gd_node *node = gd_object_find(handle, GD_OBJECT_NODE);

    return node && node->work.kind == GD_WORK_KERNEL ? &node->work.is.kernel : NULL;
}

static gd_CUlaunchAttribute *find_attribute(const gd_kernel_work *kernel, gd_CUlaunchAttributeID id)
{
    for (uint32_t i = 0; i < kernel->attribute_count; i++) {
        if (kernel->attributes[i].id == id)
            return &kernel->attributes[i];
    }
    return NULL;
}

static gd_CUlaunchAttributeValue value_of(const gd_kernel_work *kernel, gd_CUlaunchAttributeID id)
{
    const gd_CUlaunchAttribute *set = find_attribute(kernel, id);
    gd_CUlaunchAttributeValue value = {.pad = {0}};

    if (set)
        return set->value;
    if (id == GD_CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value.priority = kernel->priority;
    if (id == GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        value.memSyncDomainMap = (gd_CUlaunchMemSyncDomainMap){.default_ = 0, .remote = 1};
    return value;
}

gd_CUresult gd_cuGraphKernelNodeGetAttribute(gd_CUgraphNode node, gd_CUlaunchAttributeID id,
                                             gd_CUlaunchAttributeValue *value)
{
    const gd_kernel_work *kernel = find_kernel(node);

    if (!kernel || !value || !size_of(id))
        return GD_CUDA_ERROR_INVALID_VALUE;
    const gd_CUlaunchAttributeValue found = value_of(kernel, id);
    memcpy(value, &found, size_of(id));
    return GD_CUDA_SUCCESS;
}

static int clamp_priority(int priority)
{
    return priority > GD_DEVICE_LOWEST_PRIORITY     ? GD_DEVICE_LOWEST_PRIORITY
           : priority < GD_DEVICE_GREATEST_PRIORITY ? GD_DEVICE_GREATEST_PRIORITY
                                                    : priority;
}

/* Notes an attribute in the node's list; the list grows by one where it is new. */
static bool note(gd_kernel_work *kernel, const gd_CUlaunchAttribute *attribute)
{
    gd_CUlaunchAttribute *place = find_attribute(kernel, attribute->id);

    if (!place) {
        size_t count = (size_t)kernel->attribute_count + 1;
        gd_CUlaunchAttribute *grown = realloc(kernel->attributes, count * sizeof *grown);
        if (!grown)
            return false;
        kernel->attributes = grown;
        place = &grown[kernel->attribute_count++];
    }
    *place = *attribute;
    return true;
}

static gd_CUresult set_value(gd_kernel_work *kernel, const gd_CUlaunchAttribute *attribute)
{
    gd_context *context = gd_call_context();
    gd_kernel_work changed = *kernel; /* shares the arrays, which stay as they are */
    gd_CUresult result = gd_launch_attribute(context, &changed, attribute);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!note(kernel, attribute))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(kernel->cluster, changed.cluster, sizeof kernel->cluster);
    kernel->explicit_cluster = changed.explicit_cluster;
    kernel->cooperative = changed.cooperative;
    kernel->priority = changed.priority;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult set(gd_CUgraphNode node, gd_CUlaunchAttributeID id,
                       const gd_CUlaunchAttributeValue *value)
{
    gd_kernel_work *kernel = find_kernel(node);
    gd_CUlaunchAttribute attribute = {.id = id};

    if (!kernel || !value || !size_of(id) ||
        id == GD_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        return GD_CUDA_ERROR_INVALID_VALUE;
    memcpy(&attribute.value, value, size_of(id));
    if (id == GD_CU_LAUNCH_ATTRIBUTE_PRIORITY)
        attribute.value.priority = clamp_priority(attribute.value.priority);
    return set_value(kernel, &attribute);
}

/* All or nothing: what the target's kernel does not allow is an error, and changes nothing. */
gd_CUresult gd_cuGraphKernelNodeCopyAttributes(gd_CUgraphNode target_node,
                                               gd_CUgraphNode source_node)
{
    gd_context *context = gd_call_context();
    gd_kernel_work *target = find_kernel(target_node);
    const gd_kernel_work *source = find_kernel(source_node);

    if (!target || !source)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (target == source)
        return GD_CUDA_SUCCESS;
    for (uint32_t i = 0; i < source->attribute_count; i++) {
        gd_kernel_work changed = *target;
        if (size_of(source->attributes[i].id) &&
            gd_launch_attribute(context, &changed, &source->attributes[i]) != GD_CUDA_SUCCESS)
            return GD_CUDA_ERROR_INVALID_VALUE;
    }
    for (uint32_t i = 0; i < source->attribute_count; i++) {
        gd_CUresult result = size_of(source->attributes[i].id)
                                 ? set_value(target, &source->attributes[i])
                                 : GD_CUDA_SUCCESS;
        if (result != GD_CUDA_SUCCESS)
            return result;
    }
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphKernelNodeSetAttribute(gd_CUgraphNode node, gd_CUlaunchAttributeID attribute,
                                             const gd_CUlaunchAttributeValue *value)
{
    return set(node, attribute, value);
}
