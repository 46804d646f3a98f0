/* Calls that order streams, and that end them, memory and contexts. */
#include "attach/lanes.h"
#include "attach/recording.h"
#include "attach/kernels.h"
#include "attach/see.h"
#include "attach/spans.h"
#include "attach/streams.h"
#include "attach/times.h"

gd_CUresult cuInit(unsigned int flags)
{
    const bool seen = gd_process_enter();
    const gd_CUresult result = GD_NEXT(cuInit, flags);

    if (seen && result == GD_CUDA_SUCCESS)
        gd_spans_begin();
    if (seen)
        gd_process_leave();
    return result;
}

gd_CUresult cuCtxSynchronize(void)
{
    GD_SEE(gd_next_driver.cuCtxSynchronize ? gd_next_driver.cuCtxSynchronize()
                                           : GD_CUDA_ERROR_NOT_SUPPORTED,
           gd_streams_synchronized());
}

gd_CUresult cuCtxSynchronize_v2(gd_CUcontext handle)
{
    GD_SEE(GD_NEXT(cuCtxSynchronize_v2, handle), gd_streams_synchronized());
}

gd_CUresult cuEventSynchronize(gd_CUevent event)
{
    GD_SEE(GD_NEXT(cuEventSynchronize, event), gd_lanes_event(event));
}

gd_CUresult cuEventQuery(gd_CUevent event)
{
    GD_SEE(GD_NEXT(cuEventQuery, event), gd_lanes_event(event));
}

gd_CUresult cuStreamQuery(gd_CUstream stream)
{
    GD_SEE(GD_NEXT(cuStreamQuery, stream), gd_lanes_stream(gd_streams_name(stream, false)));
}

gd_CUresult cuStreamQuery_ptsz(gd_CUstream stream)
{
    GD_SEE(GD_NEXT(cuStreamQuery_ptsz, stream), gd_lanes_stream(gd_streams_name(stream, true)));
}

gd_CUresult cuStreamDestroy(gd_CUstream stream)
{
    GD_SEE(GD_NEXT(cuStreamDestroy, stream), gd_streams_end(stream));
}

gd_CUresult cuStreamDestroy_v2(gd_CUstream stream)
{
    GD_SEE(GD_NEXT(cuStreamDestroy_v2, stream), gd_streams_end(stream));
}

#define GD_BEGIN(symbol)                                                                           \
    gd_CUresult symbol(gd_CUstream stream)                                                         \
    {                                                                                              \
        GD_SEE(GD_NEXT(symbol, stream), gd_streams_capture(true));                                 \
    }
#define GD_BEGIN_MODE(symbol)                                                                      \
    gd_CUresult symbol(gd_CUstream stream, gd_CUstreamCaptureMode mode)                            \
    {                                                                                              \
        GD_SEE(GD_NEXT(symbol, stream, mode), gd_streams_capture(true));                           \
    }
#define GD_BEGIN_GRAPH(symbol)                                                                     \
    gd_CUresult symbol(gd_CUstream stream, gd_CUgraph graph, const gd_CUgraphNode *dependencies,   \
                       const gd_CUgraphEdgeData *data, size_t count, gd_CUstreamCaptureMode mode)  \
    {                                                                                              \
        GD_SEE(GD_NEXT(symbol, stream, graph, dependencies, data, count, mode),                    \
               gd_streams_capture(true));                                                          \
    }
/* A capture that was spoilt ends here too. */
#define GD_END_CAPTURE(symbol)                                                                     \
    gd_CUresult symbol(gd_CUstream stream, gd_CUgraph *graph)                                      \
    {                                                                                              \
        const bool seen = gd_process_enter();                                                      \
        const gd_CUresult result = GD_NEXT(symbol, stream, graph);                                 \
        if (seen) {                                                                                \
            gd_streams_capture(false);                                                             \
            gd_process_leave();                                                                    \
        }                                                                                          \
        return result;                                                                             \
    }

GD_BEGIN(cuStreamBeginCapture)
GD_BEGIN(cuStreamBeginCapture_ptsz)
GD_BEGIN_MODE(cuStreamBeginCapture_v2)
GD_BEGIN_MODE(cuStreamBeginCapture_v2_ptsz)
GD_BEGIN_GRAPH(cuStreamBeginCaptureToGraph)
GD_BEGIN_GRAPH(cuStreamBeginCaptureToGraph_ptsz)
GD_END_CAPTURE(cuStreamEndCapture)
GD_END_CAPTURE(cuStreamEndCapture_ptsz)

/* Events of ours end with their context, or before; what memory held is asked for while it is
 * there. */
static bool begin_end(void)
{
    const gd_attach_settings *settings = gd_process_settings();
    const bool seen = gd_process_enter();
    int kept;

    if (seen)
        gd_spans_flush();
    if (seen && settings->times)
        gd_times_wait();
    if (seen && (settings->times || settings->launches) && gd_process_lock(&kept)) {
        gd_times_end_events();
        gd_recording_end_context();
        gd_process_unlock(kept);
    }
    return seen;
}

gd_CUresult cuMemFree_v2(gd_CUdeviceptr address)
{
    const bool seen = gd_process_enter();
    int kept;

    if (seen && gd_process_settings()->launches && gd_process_lock(&kept)) {
        gd_recording_free(address);
        gd_process_unlock(kept);
    }
    const gd_CUresult result = GD_NEXT(cuMemFree_v2, address);
    if (seen)
        gd_process_leave();
    return result;
}

static bool is_active(gd_CUdevice device)
{
    unsigned int flags;
    int active = 0;

    return !GD_NEXT(cuDevicePrimaryCtxGetState, device, &flags, &active) && active;
}

/* The context of a device; NULL where it is not active. */
static gd_CUcontext find_primary(gd_CUdevice device)
{
    gd_CUcontext context = NULL;

    if (!is_active(device) || GD_NEXT(cuDevicePrimaryCtxRetain, &context, device))
        return NULL;
    GD_NEXT(cuDevicePrimaryCtxRelease_v2, device);
    return context;
}

static void forget_modules(gd_CUcontext context)
{
    int kept;

    if (!gd_process_lock(&kept))
        return;
    gd_kernels_end_context(context);
    gd_process_unlock(kept);
}

/* Which context ends, and whether it has ended. */
#define GD_END_CONTEXT(symbol, type, context, has_ended)                                           \
    gd_CUresult symbol(type ended)                                                                 \
    {                                                                                              \
        const bool seen = begin_end();                                                             \
        const gd_CUcontext its = seen ? context : NULL;                                            \
        const gd_CUresult result = GD_NEXT(symbol, ended);                                         \
        if (its && !result && has_ended)                                                           \
            forget_modules(its);                                                                   \
        if (seen)                                                                                  \
            gd_process_leave();                                                                    \
        return result;                                                                             \
    }

#define GD_END_PRIMARY(symbol)                                                                     \
    GD_END_CONTEXT(symbol, gd_CUdevice, find_primary(ended), !is_active(ended))

GD_END_CONTEXT(cuCtxDestroy, gd_CUcontext, ended, true)
GD_END_CONTEXT(cuCtxDestroy_v2, gd_CUcontext, ended, true)
GD_END_PRIMARY(cuDevicePrimaryCtxRelease)
GD_END_PRIMARY(cuDevicePrimaryCtxRelease_v2)
GD_END_PRIMARY(cuDevicePrimaryCtxReset)
GD_END_PRIMARY(cuDevicePrimaryCtxReset_v2)
