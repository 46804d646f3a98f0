/* Which driver call may fail without anybody saying so: what ends things, and questions that have
 * another answer. */
#ifndef GD_TESTS_QUIET_H
#define GD_TESTS_QUIET_H

#include <stdbool.h>
#include <string.h>

#include "fake/fake_driver.h"

/* Of the runtime's own: those that end what nobody hears of any more. */
static inline bool ends_quietly(const char *symbol)
{
    static const char *const quiet[] = {"cuCtxPopCurrent",
                                        "cuModuleUnload",
                                        "cuGraphDestroy",
                                        "cuGraphExecDestroy",
                                        "cuStreamDestroy",
                                        "cuEventDestroy",
                                        "cuDevicePrimaryCtxRelease",
                                        "cuThreadExchangeStreamCaptureMode"};

    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        if (!strcmp(symbol, quiet[i]))
            return true;
    }
    return false;
}

/* How a capture is made to hold a module; where that fails, the module's code stays. */
static inline bool holds_quietly(const char *symbol)
{
    return !strcmp(symbol, "cuStreamGetCaptureInfo") || !strcmp(symbol, "cuUserObjectCreate") ||
           !strcmp(symbol, "cuGraphRetainUserObject") || !strcmp(symbol, "cuUserObjectRelease");
}

/* Where a driver does not tell a context's part of the device, it is taken for the whole. */
static inline bool asks_quietly(const char *symbol)
{
    return !strcmp(symbol, "cuCtxGetDevResource");
}

/* Whether the call at this index may. Where the current context is not known the runtime's is
 * pushed, which succeeded then; a context is pushed in vain only in front of what ends
 * something. */
static inline bool may_fail_quietly(uint64_t index)
{
    fake_call call, next;

    if (!fake_driver_call(index, &call))
        return false;
    if (ends_quietly(call.symbol) || !strcmp(call.symbol, "cuFuncGetParamInfo") ||
        asks_quietly(call.symbol) || holds_quietly(call.symbol))
        return true;
    if (!fake_driver_call(index + 1, &next))
        return false;
    if (!strcmp(call.symbol, "cuCtxGetCurrent"))
        return !strcmp(next.symbol, "cuCtxPushCurrent") && next.result == GD_CUDA_SUCCESS;
    return !strcmp(call.symbol, "cuCtxPushCurrent") && ends_quietly(next.symbol);
}

#endif
