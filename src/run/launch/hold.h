/* What captures use is held until they, and the graphs that came of them, are done: the modules of
 * the kernels that were launched into them.
 *
 * A graph of the driver's can own a reference to something of the program's (a user object). Each
 * captured graph so gets one to each module that was launched into it; copies of the graph and
 * executables get theirs from the driver. The driver tells that the last one has gone by calling a
 * function that may not call it. So that function makes a note, and the module is given back by the
 * next call that comes to its runtime. A graph that is launched is not done before its work is: the
 * end of the last handle that a program has of a runtime waits for that. What is held then is held
 * by graphs of the program's own, and no call will come any more: when such a graph ends, what the
 * host has of the module is freed, and its code stays loaded until the context ends.
 *
 * Where a driver makes no user object, the code of such a module stays until the runtime ends. */
#ifndef GD_RUN_HOLD_H
#define GD_RUN_HOLD_H

#include "run/capture.h"
#include "run/module/module.h"

/* What a stream's capture is. Where the driver tells nothing the stream is taken for captured, with
 * number 0 and no graph; but not a stream that is none, or one that cannot be used because another
 * one captures. The context is current. */
static inline void gd_hold_find_capture(const griddep_runtime *runtime, gd_CUstream stream,
                                        gd_capture_state *capture)
{
    const gd_CUresult result = gd_capture_ask(runtime, stream, false, capture);

    if (result == GD_CUDA_SUCCESS)
        return;
    const bool none =
        result == GD_CUDA_ERROR_INVALID_HANDLE || result == GD_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *capture = (gd_capture_state){.status = none ? GD_CU_STREAM_CAPTURE_STATUS_NONE
                                                 : GD_CU_STREAM_CAPTURE_STATUS_ACTIVE};
}

/* Makes an active capture hold a module that was launched into it. */
void gd_hold_for_capture(griddep_module *module, const gd_capture_state *capture);

/* Both, after a launch into any stream. */
static inline void gd_hold_launched(griddep_module *module, gd_CUstream stream)
{
    gd_capture_state capture;

    gd_hold_find_capture(module->runtime, stream, &capture);
    if (capture.status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        gd_hold_for_capture(module, &capture);
}

#endif
