/* User objects, and their entry points. Destructors run where the last reference goes, inside of
 * the call that gives it up; like a real driver's they may not call the driver. */
#include <limits.h>
#include <stdlib.h>

#include "emulator/api.h"
#include "emulator/schedule/device.h"
#include "emulator/schedule/graph.h"
#include "emulator/schedule/user_object.h"

static void release(gd_user_object *object, uint64_t count)
{
    object->references -= count;
    if (object->references)
        return;
    gd_object_remove(&object->object);
    if (gd_the_emulator.ends) { /* the program's code may be gone */
        free(object);
        return;
    }
    gd_call_enter_callback();
    object->destroy(object->user);
    gd_call_leave_callback();
    free(object);
}

static gd_user_reference *find(gd_user_list *list, const gd_user_object *object)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->list[i].object == object)
            return &list->list[i];
    }
    return NULL;
}

/* References that are counted already become the list's. */
static bool own(gd_user_list *list, gd_user_object *object, uint64_t count)
{
    gd_user_reference *reference = find(list, object);

    if (!reference && list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
        gd_user_reference *more = realloc(list->list, capacity * sizeof *more);
        if (!more)
            return false;
        list->list = more;
        list->capacity = capacity;
    }
    if (!reference) {
        reference = &list->list[list->count++];
        *reference = (gd_user_reference){.object = object};
    }
    reference->count += count;
    return true;
}

bool gd_user_list_add(gd_user_list *list, const gd_user_list *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        if (!own(list, more->list[i].object, more->list[i].count))
            return false;
        more->list[i].object->references += more->list[i].count;
    }
    return true;
}

void gd_user_list_free(gd_user_list *list)
{
    gd_user_list given = *list;

    *list = (gd_user_list){0};
    for (uint32_t i = 0; i < given.count; i++)
        release(given.list[i].object, given.list[i].count);
    free(given.list);
}

/* ---- entry points ---- */

static bool is_count(unsigned count)
{
    return count && count <= INT_MAX;
}

static gd_CUresult create(gd_CUuserObject *handle, void *user, gd_CUhostFn *destroy, unsigned count,
                          unsigned flags)
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
        release(object, count);
    return GD_CUDA_SUCCESS;
}

static gd_CUresult retain_for_graph(gd_CUgraph graph_handle, gd_CUuserObject handle, unsigned count,
                                    unsigned flags)
{
    gd_graph *graph = gd_object_find(graph_handle, GD_OBJECT_GRAPH);
    gd_user_object *object = gd_object_find(handle, GD_OBJECT_USER);

    if (!graph || !object || !is_count(count) || flags > GD_CU_GRAPH_USER_OBJECT_MOVE)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!own(&graph->user_objects, object, count))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (flags != GD_CU_GRAPH_USER_OBJECT_MOVE)
        object->references += count;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult release_from_graph(gd_CUgraph graph_handle, gd_CUuserObject handle,
                                      unsigned count)
{
    gd_graph *graph = gd_object_find(graph_handle, GD_OBJECT_GRAPH);
    gd_user_object *object = gd_object_find(handle, GD_OBJECT_USER);
    gd_user_reference *reference = graph && object ? find(&graph->user_objects, object) : NULL;

    if (!reference || !is_count(count) || count > reference->count)
        return GD_CUDA_ERROR_INVALID_VALUE;
    reference->count -= count;
    if (!reference->count)
        *reference = graph->user_objects.list[--graph->user_objects.count];
    release(object, count);
    return GD_CUDA_SUCCESS;
}

gd_CUresult cuUserObjectCreate(gd_CUuserObject *object, void *user, gd_CUhostFn *destroy,
                               unsigned int count, unsigned int flags)
{
    GD_CALL(GD_NEED_INIT, create(object, user, destroy, count, flags));
}

gd_CUresult cuUserObjectRetain(gd_CUuserObject object, unsigned int count)
{
    GD_CALL(GD_NEED_INIT, change(object, count, true));
}

gd_CUresult cuUserObjectRelease(gd_CUuserObject object, unsigned int count)
{
    GD_CALL(GD_NEED_INIT, change(object, count, false));
}

gd_CUresult cuGraphRetainUserObject(gd_CUgraph graph, gd_CUuserObject object, unsigned int count,
                                    unsigned int flags)
{
    GD_CALL(GD_NEED_INIT, retain_for_graph(graph, object, count, flags));
}

gd_CUresult cuGraphReleaseUserObject(gd_CUgraph graph, gd_CUuserObject object, unsigned int count)
{
    GD_CALL(GD_NEED_INIT, release_from_graph(graph, object, count));
}
