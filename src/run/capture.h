/* What captures are told of launches that the driver's nodes do not keep: that a launch said off.
 * Of captures that others began too, since the launches are ours. */
#ifndef GD_RUN_CAPTURE_H
#define GD_RUN_CAPTURE_H

#include "griddep.h"
#include "run/runtime.h"

/* What a stream's capture is: its status, and while it is active its number and graph. */
typedef struct gd_capture_state {
    gd_CUstreamCaptureStatus status;
    uint64_t id;
    gd_CUgraph graph;
    const gd_CUgraphNode
        *tips; /* what the next launch in the stream would wait for, where that was asked */
    size_t tip_count;
} gd_capture_state;

/* Asks the driver, unless the stream cannot be captured. The context is current. */
static inline gd_CUresult gd_capture_ask(const griddep_runtime *runtime, gd_CUstream stream,
                                         bool tips, gd_capture_state *state)
{
    *state = (gd_capture_state){.status = GD_CU_STREAM_CAPTURE_STATUS_NONE};
    if (!stream || stream == GD_CU_STREAM_LEGACY) /* it cannot be captured */
        return GD_CUDA_SUCCESS;
    return runtime->driver->cuStreamGetCaptureInfo(stream, &state->status, &state->id,
                                                   &state->graph, tips ? &state->tips : NULL,
                                                   tips ? &state->tip_count : NULL);
}

/* Makes room for a note on the next launch in a stream. Nothing to do where it is not being
 * captured. */
int32_t gd_capture_reserve(griddep_runtime *runtime, gd_CUstream stream, griddep_error *error);

/* Notes that the launch that was just captured in a stream said off. */
int32_t gd_capture_note_off(griddep_runtime *runtime, gd_CUstream stream, griddep_error *error);

/* Whether a node of a captured graph said off; and, when nobody will ask again, the notes on that
 * graph go. */
bool gd_capture_said_off(griddep_runtime *runtime, gd_CUgraph graph, gd_CUgraphNode node);
void gd_capture_forget(griddep_runtime *runtime, gd_CUgraph graph);

/* At the runtime's end. */
void gd_capture_forget_all(griddep_runtime *runtime);

#endif
