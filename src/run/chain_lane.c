/* The lanes of a chain: streams that fork from the caller's and join it again, ordered by events without timing; and
 * the same order as edges of a graph. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/chain.h"
#include "run/early.h"
#include "run/event.h"
#include "run/graph.h"

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
    gd_CUresult result = chain->runtime->driver->cuStreamCreate(&lane->stream, GD_CU_STREAM_NON_BLOCKING);

    if (result != GD_CUDA_SUCCESS) {
        lane->stream = NULL;
        return gd_driver_fail(chain->runtime->driver, result, error, "a stream for a lane of the chain");
    }
    return GRIDDEP_OK;
}

/* A recorded event parts a launch from the next one in its lane. A programmatic one does not, and is enough where all
 * that wait for it execute griddepcontrol.wait on every path. A launch that says off records none. */
static void find_early(griddep_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_launch *launch = &chain->launches[i].call->launch;
        bool can = gd_early_obstacle(chain->runtime, launch->pdl, GD_EARLY_TRIGGER_EVENT) == GRIDDEP_REASON_FORCED;
        chain->launches[i].early = can && chain->launches[i].watched;
        for (uint32_t k = 0; k < launch->attribute_count; k++) {
            if (launch->attributes[k].id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
                chain->launches[i].early = false; /* a launch has one */
        }
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        int32_t reason = gd_chain_decide(chain, GRIDDEP_MODE_PDL, i);
        bool waits = reason == GRIDDEP_REASON_SET || reason == GRIDDEP_REASON_FIRST;
        for (uint32_t k = 0; k < launch->on_count && !waits; k++)
            chain->launches[launch->on[k]].early = false;
    }
}

int32_t gd_chain_make_lanes(griddep_chain *chain, griddep_error *error)
{
    if (chain->lanes_ready)
        return GRIDDEP_OK;
    int32_t status = make_event(chain, &chain->start, error);

    if (!status && chain->lanes_made < chain->lane_count) {
        gd_chain_lane *more = realloc(chain->lanes, chain->lane_count * sizeof *more);
        if (!more)
            return gd_error_memory(error);
        chain->lanes = more;
        for (; chain->lanes_made < chain->lane_count; chain->lanes_made++)
            chain->lanes[chain->lanes_made] = (gd_chain_lane){0};
    }
    for (uint32_t i = 1; i < chain->lane_count && !status; i++) {
        gd_chain_lane *lane = &chain->lanes[i];
        if (!lane->stream)
            status = make_lane(chain, lane, error);
        if (!status)
            status = make_event(chain, &lane->end, error);
    }
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        if (chain->launches[i].watched)
            status = make_event(chain, &chain->launches[i].event, error);
    }
    find_early(chain);
    chain->lanes_ready = !status;
    return status;
}

void gd_chain_drop_lanes(griddep_chain *chain)
{
    const gd_driver *driver = chain->runtime->driver;

    for (uint32_t i = 0; i < chain->lanes_made; i++) {
        if (chain->lanes[i].end)
            driver->cuEventDestroy(chain->lanes[i].end);
        if (chain->lanes[i].stream)
            driver->cuStreamDestroy(chain->lanes[i].stream);
    }
    if (chain->start)
        driver->cuEventDestroy(chain->start);
    free(chain->lanes);
    chain->lanes = NULL;
    chain->lanes_made = 0;
    chain->start = NULL;
}

/* ---- running in streams ---- */

static int32_t record(const griddep_chain *chain, gd_CUevent event, gd_CUstream stream, griddep_error *error)
{
    gd_CUresult result = chain->runtime->driver->cuEventRecord(event, stream);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status = gd_driver_fail(chain->runtime->driver, result, error, "recording an event between lanes");
    return gd_runtime_blame_stream(chain->runtime, stream, status, error);
}

static int32_t wait_for(const griddep_chain *chain, gd_CUstream stream, gd_CUevent event, griddep_error *error)
{
    gd_CUresult result = chain->runtime->driver->cuStreamWaitEvent(stream, event, 0);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status = gd_driver_fail(chain->runtime->driver, result, error, "making a lane wait for another one");
    return gd_runtime_blame_stream(chain->runtime, stream, status, error);
}

static gd_CUstream stream_of(const griddep_chain *chain, uint32_t lane, gd_CUstream stream)
{
    return lane ? chain->lanes[lane].stream : stream;
}

static int32_t launch_in_lane(griddep_chain *chain, int32_t mode, uint32_t index, gd_CUstream stream,
                              griddep_error *error)
{
    const gd_chain_launch *launch = &chain->launches[index];
    gd_CUstream own = stream_of(chain, launch->lane, stream);
    bool early = mode == GRIDDEP_MODE_PDL && launch->early;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < launch->on_count && !status; i++)
        status = wait_for(chain, own, chain->launches[launch->on[i]].event, error);
    if (!status)
        status = gd_chain_launch_one(chain, mode, index, own, early ? launch->event : NULL, error);
    if (!status && launch->watched && !early)
        status = record(chain, launch->event, own, error);
    return status;
}

int32_t gd_chain_launch_lanes(griddep_chain *chain, int32_t mode, gd_CUstream stream, griddep_error *error)
{
    int32_t status = record(chain, chain->start, stream, error);

    for (uint32_t i = 1; i < chain->lane_count && !status; i++)
        status = wait_for(chain, chain->lanes[i].stream, chain->start, error);
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = launch_in_lane(chain, mode, i, stream, error);
    for (uint32_t i = 1; i < chain->lane_count && !status; i++) {
        status = record(chain, chain->lanes[i].end, chain->lanes[i].stream, error);
        if (!status)
            status = wait_for(chain, stream, chain->lanes[i].end, error);
    }
    return status;
}

/* ---- as a graph ---- */

/* Forced launches are dependent on the one before in their lane alone: that is what attribute 6 would say. */
static gd_graph_edge edge_to(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to)
{
    int32_t reason = gd_chain_decide(chain, mode, to);
    bool in_lane = chain->launches[to].previous == from;
    gd_graph_edge edge = {.from = from, .to = to, .reason = -1};

    if (reason == GRIDDEP_REASON_SET || (reason == GRIDDEP_REASON_FORCED && in_lane)) {
        edge.type = reason == GRIDDEP_REASON_SET ? GRIDDEP_EDGE_AUTO : GRIDDEP_EDGE_PROGRAMMATIC;
        edge.port = reason == GRIDDEP_REASON_SET ? GRIDDEP_PORT_DEFAULT : GRIDDEP_PORT_PROGRAMMATIC;
    } else {
        edge.reason = reason == GRIDDEP_REASON_FORCED ? GRIDDEP_REASON_OFF : reason;
    }
    return edge;
}

static int32_t add_edge(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to, griddep_graph *graph,
                        griddep_error *error)
{
    const gd_graph_edge edge = edge_to(chain, mode, from, to);

    return gd_graph_append_edge(graph, &edge, error);
}

/* The events that a launch records, each by a node behind it: complete. */
static int32_t add_events(const gd_launch *launch, uint32_t index, griddep_graph *graph, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < launch->attribute_count && !status; i++) {
        gd_graph_edge edge = {.from = index, .reason = -1};
        gd_early how;
        gd_CUevent event = gd_event_of(&launch->attributes[i], &how);
        if (!event)
            continue;
        status = griddep_graph_add_event_record(graph, event, &edge.to, error);
        if (!status)
            status = gd_graph_append_edge(graph, &edge, error);
    }
    return status;
}

int32_t gd_chain_make_graph(const griddep_chain *chain, int32_t mode, griddep_graph **graph, griddep_error *error)
{
    griddep_graph *made = NULL;
    uint32_t node;
    int32_t status = gd_graph_make(chain->runtime, &made, error);

    for (uint32_t i = 0; i < chain->count && !status; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        status = gd_graph_add_call(made, launch->call, &node, error);
        if (!status && launch->previous != GD_CHAIN_NONE)
            status = add_edge(chain, mode, launch->previous, i, made, error);
        for (uint32_t k = 0; k < launch->on_count && !status; k++)
            status = add_edge(chain, mode, launch->on[k], i, made, error);
    }
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = add_events(&chain->launches[i].call->launch, i, made, error);
    if (status)
        griddep_graph_destroy(made);
    else
        *graph = made;
    return status;
}
