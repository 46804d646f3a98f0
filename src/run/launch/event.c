/* Events: with timing, to measure, and without, to order streams and to be recorded by launches.
 * The driver does not tell whether an event has timing, so a runtime keeps those of its own that
 * have. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/host.h"
#include "run/launch/event.h"
#include "run/stream.h"

/* ---- events with timing ---- */

static void remember_timing(griddep_runtime *runtime, gd_timed_event *timed, gd_CUevent event)
{
    timed->event = event;
    pthread_mutex_lock(&runtime->mutex);
    timed->next = runtime->timed_events;
    runtime->timed_events = timed;
    pthread_mutex_unlock(&runtime->mutex);
}

static void forget_timing(griddep_runtime *runtime, gd_CUevent event)
{
    gd_timed_event *found;

    pthread_mutex_lock(&runtime->mutex);
    gd_timed_event **at = &runtime->timed_events;
    while (*at && (*at)->event != event)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&runtime->mutex);
    free(found);
}

bool gd_event_has_timing(griddep_runtime *runtime, gd_CUevent event)
{
    bool found = false;

    pthread_mutex_lock(&runtime->mutex);
    for (const gd_timed_event *at = runtime->timed_events; at && !found; at = at->next)
        found = at->event == event;
    pthread_mutex_unlock(&runtime->mutex);
    return found;
}

/* ---- attributes that record events ---- */

gd_CUevent gd_event_of(const gd_CUlaunchAttribute *attribute, gd_early *how)
{
    switch (attribute->id) {
    case GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        *how = GD_EARLY_TRIGGER_EVENT;
        return attribute->value.programmaticEvent.event;
    case GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        *how = GD_EARLY_BEGIN_EVENT;
        return attribute->value.launchCompletionEvent.event;
    default:
        return NULL;
    }
}

int32_t gd_event_check_attribute(griddep_runtime *runtime, const griddep_attribute *attribute,
                                 griddep_error *error)
{
    gd_CUlaunchAttribute same;
    gd_early how;

    memcpy(&same, attribute, sizeof same);
    gd_CUevent event = gd_event_of(&same, &how);
    if (!event || !gd_event_has_timing(runtime, event))
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "attribute %" PRId32
                        " has an event with timing; a launch records events without "
                        "(GRIDDEP_EVENT_ORDER)",
                        attribute->id);
}

/* ---- public ---- */

int32_t griddep_event_create(griddep_runtime *runtime, int32_t kind, void **event,
                             griddep_error *error)
{
    bool pushed, timing = kind == GRIDDEP_EVENT_TIMING;
    gd_CUevent created = NULL;
    gd_timed_event *timed = NULL;
    int32_t status = gd_stream_begin(runtime, event, &pushed, error);

    if (status)
        return status;
    if (kind != GRIDDEP_EVENT_TIMING && kind != GRIDDEP_EVENT_ORDER)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "kind is %" PRId32 ", which is no GRIDDEP_EVENT_*", kind);
    else if (timing && !(timed = calloc(1, sizeof *timed)))
        status = gd_error_memory(error);
    if (status) {
        gd_runtime_leave(runtime, pushed);
        return status;
    }
    gd_CUresult result = runtime->driver->cuEventCreate(
        &created, timing ? GD_CU_EVENT_DEFAULT : GD_CU_EVENT_DISABLE_TIMING);
    status = gd_stream_finish(runtime, pushed, result, NULL, "a new event", error);
    if (status) {
        free(timed);
        return status;
    }
    if (timed)
        remember_timing(runtime, timed, created);
    *event = created;
    return GRIDDEP_OK;
}

static int32_t end_event(griddep_runtime *runtime, void *event, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, event, &pushed, error);

    if (status)
        return status;
    forget_timing(runtime, event);
    return gd_stream_finish(runtime, pushed, runtime->driver->cuEventDestroy(event), NULL,
                            "destroying an event", error);
}

static void end_later(griddep_runtime *runtime, void *event)
{
    end_event(runtime, event, NULL);
}

int32_t griddep_event_destroy(griddep_runtime *runtime, void *event, griddep_error *error)
{
    bool lost = false;

    if (runtime && event && gd_host_put_off(runtime, end_later, event, &lost))
        return lost ? gd_error_memory(error) : GRIDDEP_OK;
    return end_event(runtime, event, error);
}

int32_t griddep_event_synchronize(griddep_runtime *runtime, void *event, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, event, &pushed, error);

    return status ? status
                  : gd_stream_finish(runtime, pushed, runtime->driver->cuEventSynchronize(event),
                                     NULL, "waiting for an event", error);
}

int32_t griddep_event_record(griddep_runtime *runtime, void *event, void *stream,
                             griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, event, &pushed, error);

    return status ? status
                  : gd_stream_finish(runtime, pushed, runtime->driver->cuEventRecord(event, stream),
                                     stream, "recording an event", error);
}

int32_t griddep_event_elapsed(griddep_runtime *runtime, void *start, void *end, double *nanoseconds,
                              griddep_error *error)
{
    bool pushed;
    float milliseconds = 0;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!start || !nanoseconds)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            start ? "nanoseconds" : "start");
    status = gd_stream_begin(runtime, end, &pushed, error);
    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuEventSynchronize(end);
    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuEventElapsedTime(&milliseconds, start, end);
    status = gd_stream_finish(runtime, pushed, result, NULL, "the time between two events", error);
    if (!status)
        *nanoseconds = 1e6 * (double)milliseconds;
    return status;
}
