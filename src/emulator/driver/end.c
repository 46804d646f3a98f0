/* The end of the process, or of the emulator in it (dlclose): counts of findings are written, and
 * all memory is given back, so that a program may open the emulator again and again. */
#include <stdlib.h>
#include <unistd.h>

#include "emulator/schedule/host.h"
#include "emulator/schedule/grid.h"
#include "emulator/schedule/graph.h"
#include "emulator/driver/module.h"
#include "emulator/schedule/ownership.h"
#include "emulator/execute/report.h"
#include "emulator/driver/stream.h"
#include "emulator/driver/virtual.h"
#include "emulator/schedule/user_object.h"

/* Nothing that is still queued runs now, and what is left is no leak: the program may well rely on
 * its end. */
static void end_contexts(void)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind != GD_OBJECT_CONTEXT)
            continue;
        gd_context *context = (gd_context *)object;
        context->fault = GD_CUDA_ERROR_DEINITIALIZED;
        gd_schedule_cancel(context);
        gd_context_destroy(context);
    }
}

/* What belongs to no context. A graph that is a node of another goes with that one. */
static void end_others(void)
{
    uint32_t place = 0;

    gd_object *object;
    while ((object = gd_object_next(&place))) {
        if (object->kind == GD_OBJECT_GRAPH && !((gd_graph *)object)->child)
            gd_graph_destroy((gd_graph *)object);
        else if (object->kind == GD_OBJECT_LIBRARY)
            gd_library_destroy(object);
    }
    for (place = 0; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_USER) {
            gd_object_remove(object);
            free(object);
        }
    }
}

static void end_emulator(gd_emulator *emulator)
{
    emulator->ends = true;
    end_contexts();
    end_others();
    gd_grid_free_machine();
    gd_ownership_free();
    gd_memory_destroy(emulator->memory);
    gd_virtual_end();
    gd_race_destroy(emulator->race);
    free(emulator->settings.report);
    gd_object_free_table();
    free(emulator->devices);
    *emulator = (gd_emulator){0};
}

/* A child of fork has a copy of all this, and perhaps of a lock that nobody will give back: it
 * leaves it alone. While another thread is inside of the driver, which it may never leave, there is
 * nothing that could be taken away safely. From within a host function the driver is in use by this
 * very thread. */
void gd_device_end(void)
{
    gd_emulator *emulator = &gd_the_emulator;

    if (!emulator->initialized || emulator->process != getpid())
        return;
    switch (gd_call_end_all()) {
    case GD_END_BUSY:
        return;
    case GD_END_INSIDE:
        gd_report_end();
        return;
    default:
        gd_call_stop_hosts();
        gd_report_end();
        end_emulator(emulator);
        gd_call_end();
    }
}
