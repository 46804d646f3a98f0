/* The lanes of a chain: streams that fork from the caller's and join it again, ordered by events
 * without timing; and the same order as edges of a graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/chain/chain.h"
#include "run/launch/event.h"
#include "run/graph/graph.h"
#include "run/launch/hold.h"

/* ---- streams and events ---- */

static int32_t make_event(const griddep_chain *chain, gd_CUevent *event, griddep_error *error)
{
    if (*event)
        return GRIDDEP_OK;
    gd_CUresult result = chain->runtime->driver->cuEventCreate(event, GD_CU_EVENT_DISABLE_TIMING);
    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    *event = NULL;
    return gd_driver_fail(chain->runtime->driver, result, error, "an event for the chain's lanes");
}

static int32_t make_lane(const griddep_chain *chain, gd_chain_lane *lane, griddep_error *error)
{
    gd_CUresult result =
        chain->runtime->driver->cuStreamCreate(&lane->stream, GD_CU_STREAM_NON_BLOCKING);

    if (result != GD_CUDA_SUCCESS) {
        lane->stream = NULL;
        return gd_driver_fail(chain->runtime->driver, result, error,
                              "a stream for a lane of the chain");
    }
    return GRIDDEP_OK;
}

/* Room for what the chain has now. */
static int32_t grow_lanes(griddep_chain *chain, griddep_error *error)
{
    if (!chain->lanes && !(chain->lanes = calloc(1, sizeof *chain->lanes)))
        return gd_error_memory(error);
    gd_chain_lanes *lanes = chain->lanes;
    if (lanes->count < chain->lane_count) {
        gd_chain_lane *more = realloc(lanes->list, chain->lane_count * sizeof *more);
        if (!more)
            return gd_error_memory(error);
        lanes->list = more;
        for (; lanes->count < chain->lane_count; lanes->count++)
            more[lanes->count] = (gd_chain_lane){0};
    }
    if (lanes->event_count < chain->count) {
        gd_CUevent *more = realloc(lanes->events, chain->count * sizeof *more);
        if (!more)
            return gd_error_memory(error);
        lanes->events = more;
        while (lanes->event_count < chain->count)
            more[lanes->event_count++] = NULL;
    }
    return GRIDDEP_OK;
}

/* Whether a capture has some of the lanes. Then they cannot serve a run, unless the run is into
 * that capture; and they cannot be ended (run is NULL), unless the capture is spoilt: such a one
 * may never let go of them. */
static bool are_captured(const griddep_runtime *runtime, const gd_chain_lanes *lanes,
                         const gd_capture_state *run)
{
    bool captured = false;

    for (uint32_t i = 1; i < lanes->count && lanes->captured && !captured; i++) {
        gd_capture_state capture = {.status = GD_CU_STREAM_CAPTURE_STATUS_NONE};
        if (lanes->list[i].stream)
            gd_hold_find_capture(runtime, lanes->list[i].stream, &capture);
        if (run)
            captured = capture.status != GD_CU_STREAM_CAPTURE_STATUS_NONE &&
                       !(capture.id && capture.id == run->id);
        else
            captured = capture.status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE;
    }
    return captured;
}

int32_t gd_chain_make_lanes(griddep_chain *chain, const gd_capture_state *capture,
                            griddep_error *error)
{
    if (chain->lanes && capture && are_captured(chain->runtime, chain->lanes, capture)) {
        gd_chain_end_lanes(chain->runtime, chain->lanes);
        chain->lanes = NULL;
        chain->lanes_ready = false;
    }
    int32_t status = chain->lanes_ready ? GRIDDEP_OK : grow_lanes(chain, error);
    if (status)
        return status;
    gd_chain_lanes *lanes = chain->lanes;
    if (capture)
        lanes->captured = capture->status != GD_CU_STREAM_CAPTURE_STATUS_NONE;
    if (chain->lanes_ready)
        return GRIDDEP_OK;
    status = make_event(chain, &lanes->start, error);
    for (uint32_t i = 1; i < chain->lane_count && !status; i++) {
        gd_chain_lane *lane = &lanes->list[i];
        if (!lane->stream)
            status = make_lane(chain, lane, error);
        if (!status)
            status = make_event(chain, &lane->end, error);
    }
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        if (chain->launches[i].watched)
            status = make_event(chain, &lanes->events[i], error);
    }
    chain->lanes_ready = !status;
    return status;
}

static void free_lanes(gd_chain_lanes *lanes)
{
    free(lanes->list);
    free(lanes->events);
    free(lanes);
}

static void end_event(const griddep_runtime *runtime, gd_CUevent event)
{
    if (event)
        runtime->driver->cuEventDestroy(event);
}

static void destroy_lanes(const griddep_runtime *runtime, gd_chain_lanes *lanes)
{
    for (uint32_t i = 1; i < lanes->count; i++) {
        end_event(runtime, lanes->list[i].end);
        if (lanes->list[i].stream)
            runtime->driver->cuStreamDestroy(lanes->list[i].stream);
    }
    for (uint32_t i = 0; i < lanes->event_count; i++)
        end_event(runtime, lanes->events[i]);
    end_event(runtime, lanes->start);
    free_lanes(lanes);
}

static void end_aside(griddep_runtime *runtime, gd_later *later);

/* The context is current. */
static void end_lanes(griddep_runtime *runtime, gd_chain_lanes *lanes)
{
    if (!are_captured(runtime, lanes, NULL)) {
        destroy_lanes(runtime, lanes);
        return;
    }
    lanes->later.end = end_aside;
    pthread_mutex_lock(&runtime->mutex);
    gd_runtime_add_later(runtime, &lanes->later);
    pthread_mutex_unlock(&runtime->mutex);
}

static void end_aside(griddep_runtime *runtime, gd_later *later)
{
    gd_chain_lanes *lanes = (gd_chain_lanes *)later;

    if (runtime)
        end_lanes(runtime, lanes);
    else
        free_lanes(lanes);
}

void gd_chain_end_lanes(griddep_runtime *runtime, gd_chain_lanes *lanes)
{
    gd_ending ending;

    if (!lanes)
        return;
    gd_runtime_enter_to_end(runtime, &ending, NULL); /* failed or not, what is held is given back */
    end_lanes(runtime, lanes);
    gd_runtime_leave_ended(runtime, &ending);
}

/* ---- running in streams ---- */

static int32_t record(const griddep_chain *chain, gd_CUevent event, gd_CUstream stream,
                      griddep_error *error)
{
    gd_CUresult result = chain->runtime->driver->cuEventRecord(event, stream);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status =
        gd_driver_fail(chain->runtime->driver, result, error, "recording an event between lanes");
    return gd_runtime_blame_stream(chain->runtime, stream, status, error);
}

static int32_t wait_for(const griddep_chain *chain, gd_CUstream stream, gd_CUevent event,
                        griddep_error *error)
{
    gd_CUresult result = chain->runtime->driver->cuStreamWaitEvent(stream, event, 0);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status =
        gd_driver_fail(chain->runtime->driver, result, error, "making a lane wait for another one");
    return gd_runtime_blame_stream(chain->runtime, stream, status, error);
}

static gd_CUstream stream_of(const griddep_chain *chain, uint32_t lane, gd_CUstream stream)
{
    return lane ? chain->lanes->list[lane].stream : stream;
}

static int32_t launch_in_lane(const griddep_chain *chain, int32_t mode, uint32_t index,
                              gd_CUstream stream, griddep_error *error)
{
    const gd_chain_launch *launch = &chain->launches[index];
    gd_CUevent event = chain->lanes->events[index];
    gd_CUstream own = stream_of(chain, launch->given.lane, stream);
    bool early = mode == GRIDDEP_MODE_PDL && launch->early;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < launch->given.after_count && !status; i++)
        status = wait_for(chain, own, chain->lanes->events[launch->given.after[i]], error);
    if (!status)
        status = gd_chain_launch_one(chain, mode, index, gd_chain_decide(chain, mode, index), own,
                                     early ? event : NULL, error);
    if (!status && launch->watched && !early)
        status = record(chain, event, own, error);
    return status;
}

/* What a lane has begun is joined also when a launch fails: a capture would be spoilt otherwise,
 * and what follows in the caller's stream would overlap with it. The first failure is reported. */
int32_t gd_chain_launch_lanes(griddep_chain *chain, int32_t mode, gd_CUstream stream,
                              griddep_error *error)
{
    const gd_chain_lanes *lanes = chain->lanes;
    int32_t status = record(chain, lanes->start, stream, error);
    uint32_t forked = 1;

    for (uint32_t i = 1; i < chain->lane_count && !status; i++) {
        status = wait_for(chain, lanes->list[i].stream, lanes->start, error);
        forked += !status;
    }
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = launch_in_lane(chain, mode, i, stream, error);
    for (uint32_t i = 1; i < forked; i++) {
        int32_t joined =
            record(chain, lanes->list[i].end, lanes->list[i].stream, status ? NULL : error);
        if (!joined)
            joined = wait_for(chain, stream, lanes->list[i].end, status ? NULL : error);
        if (!status)
            status = joined;
    }
    return status;
}
