/* The entry points of user objects: cuUserObject*, cuGraph*UserObject. */
#include <limits.h>
#include <stdlib.h>

#include "emulator/driver/call.h"
#include "emulator/schedule/graph.h"
#include "emulator/schedule/user_object.h"

static bool is_count(unsigned count)
{
    return count && count <= INT_MAX;
}

gd_CUresult gd_cuUserObjectCreate(gd_CUuserObject *handle, void *user, gd_CUhostFn *destroy,
                                  unsigned int count, unsigned int flags)
{
    if (!handle || !destroy || !is_count(count) || flags != GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_user_object *object = calloc(1, sizeof *object);
    if (!object || !gd_object_add(&object->object, GD_OBJECT_USER, NULL)) {
        free(object);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->destroy = destroy;
    object->user = user;
    object->references = count;
    *handle = object->object.handle;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult change(gd_CUuserObject handle, unsigned count, bool retain)
{
    gd_user_object *object = gd_object_find(handle, GD_OBJECT_USER);

    if (!object || !is_count(count) || (!retain && count > object->references))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (retain)
        object->references += count;
    else
        gd_user_object_release(object, count);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphRetainUserObject(gd_CUgraph graph_handle, gd_CUuserObject handle,
                                       unsigned int count, unsigned int flags)
{
    gd_graph *graph = gd_object_find(graph_handle, GD_OBJECT_GRAPH);
    gd_user_object *object = gd_object_find(handle, GD_OBJECT_USER);

    if (!graph || !object || !is_count(count) || flags > GD_CU_GRAPH_USER_OBJECT_MOVE)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!gd_user_list_take(&graph->user_objects, object, count))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (flags != GD_CU_GRAPH_USER_OBJECT_MOVE)
        object->references += count;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuGraphReleaseUserObject(gd_CUgraph graph_handle, gd_CUuserObject handle,
                                        unsigned int count)
{
    gd_graph *graph = gd_object_find(graph_handle, GD_OBJECT_GRAPH);
    gd_user_object *object = gd_object_find(handle, GD_OBJECT_USER);
    gd_user_reference *reference =
        graph && object ? gd_user_list_find(&graph->user_objects, object) : NULL;

    if (!reference || !is_count(count) || count > reference->count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    reference->count -= count;
    if (!reference->count)
        *reference = graph->user_objects.list[--graph->user_objects.count];
    gd_user_object_release(object, count);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuUserObjectRetain(gd_CUuserObject object, unsigned int count)
{
    return change(object, count, true);
}

gd_CUresult gd_cuUserObjectRelease(gd_CUuserObject object, unsigned int count)
{
    return change(object, count, false);
}
