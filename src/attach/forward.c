/* The exports: each hands its arguments on to the driver behind, and what a watched one did to a
 * stream is noted. */

#include "attach/next.h"
#include "attach/process.h"
#include "attach/recording.h"
#include "attach/streams.h"
#include "attach/watch.h"

/* Work that may write to the device's memory. */
enum { writing = GD_ATTACHED_COPY | GD_ATTACHED_FILL | GD_ATTACHED_OTHER };

#define GD_CALL_NEXT(symbol, arguments)                                                            \
    (gd_next_driver.symbol ? gd_next_driver.symbol GD_VALUES(arguments)                            \
                           : GD_CUDA_ERROR_NOT_SUPPORTED)

#define GD_MAKE_PASS(symbol, per_thread, bit, target, arguments)                                   \
    gd_CUresult symbol GD_PARAMETERS(arguments)                                                    \
    {                                                                                              \
        return GD_CALL_NEXT(symbol, arguments);                                                    \
    }
#define GD_MAKE_NOTE(symbol, per_thread, bit, written, handle, noted, arguments)                   \
    gd_CUresult symbol GD_PARAMETERS(arguments)                                                    \
    {                                                                                              \
        bool observing = gd_process_enter();                                                       \
        gd_CUresult result = GD_CALL_NEXT(symbol, arguments);                                      \
        if (observing && result == GD_CUDA_SUCCESS)                                                \
            gd_streams_work(handle, per_thread, GD_ATTACHED_##bit, noted);                         \
        if (observing && GD_ATTACHED_##bit & writing)                                              \
            gd_recording_write(written);                                                           \
        if (observing)                                                                             \
            gd_process_leave();                                                                    \
        return result;                                                                             \
    }
#define GD_MAKE_WORK(symbol, per_thread, bit, target, arguments)                                   \
    GD_MAKE_NOTE(symbol, per_thread, bit, target, stream, NULL, arguments)
#define GD_MAKE_ORDER(symbol, per_thread, bit, target, arguments)                                  \
    GD_MAKE_NOTE(symbol, per_thread, bit, target, stream, event, arguments)
#define GD_MAKE_DIRECT(symbol, per_thread, bit, target, arguments)                                 \
    GD_MAKE_NOTE(symbol, per_thread, bit, target, NULL, NULL, arguments)
#define GD_MAKE_OWN(symbol, per_thread, bit, target, arguments)

#define GD_MAKE(...) GD_MAKE_KIND(__VA_ARGS__)
#define GD_MAKE_KIND(kind, bit, target, symbol, per_thread, arguments)                             \
    GD_MAKE_##kind(symbol, per_thread, bit, target, arguments)
#define GD_MAKE_VARIANT(variant, kind, bit, target, arguments)                                     \
    GD_MAKE(kind, bit, target, variant, true, arguments)

#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_MAKE(GD_WATCH_KIND(symbol), GD_WATCH_BIT(symbol), GD_WATCH_TARGET(symbol), symbol, false,   \
            arguments)                                                                             \
    GD_WHERE_VARIANT(variant, symbol, GD_MAKE_VARIANT, GD_WATCH_KIND(symbol),                      \
                     GD_WATCH_BIT(symbol), GD_WATCH_TARGET(symbol), arguments)
#include "cuda/driver.def"
#undef GD_DRIVER
