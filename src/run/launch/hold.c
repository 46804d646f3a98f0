/* Modules held by captures. */
#include <stdlib.h>

#include "run/launch/hold.h"

/* A hold of a graph on a module, or the note that it has ended. */
typedef struct gd_hold {
    gd_later later; /* first */
    griddep_module *module;
} gd_hold;

static void count_hold(griddep_runtime *runtime, bool made)
{
    pthread_mutex_lock(&runtime->mutex);
    runtime->holds += made ? 1 : -1u;
    pthread_mutex_unlock(&runtime->mutex);
}

static void give_back(griddep_runtime *runtime, gd_later *later)
{
    gd_hold *hold = (gd_hold *)later;

    (void)runtime;
    gd_module_release(hold->module);
    free(hold);
}

/* Called by the driver, on any thread and perhaps within a call of this library: no lock may be
 * held around a call of the driver that this function takes. */
static void end_hold(void *user)
{
    gd_hold *hold = user;
    griddep_module *module = hold->module;
    griddep_runtime *runtime = module->runtime;

    pthread_mutex_lock(&runtime->mutex);
    bool noted = runtime->users > 0;
    runtime->holds--;
    if (noted)
        gd_runtime_add_later(runtime, &hold->later);
    pthread_mutex_unlock(&runtime->mutex);
    if (noted)
        return;
    free(hold);
    gd_module_abandon(module);
}

/* A user object for the graph; false where the driver makes none. */
static bool add_hold(griddep_module *module, gd_CUgraph graph)
{
    const gd_driver *driver = module->runtime->driver;
    gd_CUuserObject object = NULL;

    if (!graph || !driver->cuUserObjectCreate || !driver->cuGraphRetainUserObject ||
        !driver->cuUserObjectRelease)
        return false;
    gd_hold *hold = malloc(sizeof *hold);
    if (!hold)
        return false;
    *hold = (gd_hold){.later.end = give_back, .module = gd_module_hold(module)};
    count_hold(module->runtime, true);
    if (driver->cuUserObjectCreate(&object, hold, end_hold, 1,
                                   GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != GD_CUDA_SUCCESS) {
        count_hold(module->runtime, false);
        gd_module_release(module); /* the caller has a hold too */
        free(hold);
        return false;
    }
    if (driver->cuGraphRetainUserObject(graph, object, 1, GD_CU_GRAPH_USER_OBJECT_MOVE) ==
        GD_CUDA_SUCCESS)
        return true;
    driver->cuUserObjectRelease(object, 1); /* which ends the hold */
    return false;
}

void gd_hold_for_capture(griddep_module *module, const gd_capture_state *capture)
{
    if (capture->status != GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return;
    if (capture->id && atomic_load_explicit(&module->captured, memory_order_relaxed) == capture->id)
        return;
    if (add_hold(module, capture->graph))
        atomic_store_explicit(&module->captured, capture->id, memory_order_relaxed);
    else
        atomic_store_explicit(&module->stays, true, memory_order_relaxed);
}
