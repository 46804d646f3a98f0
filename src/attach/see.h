/* Around a call of the driver's. */
#ifndef GD_ATTACH_SEE_H
#define GD_ATTACH_SEE_H

#include "attach/next.h"
#include "attach/process.h"

/* Ends the function with the result of a call; a statement notes it when the driver took it, with
 * the lock. */
#define GD_SEE(call, note)                                                                         \
    do {                                                                                           \
        int kept_;                                                                                 \
        const bool seen_ = gd_process_enter();                                                     \
        const gd_CUresult result_ = call;                                                          \
        if (seen_ && result_ == GD_CUDA_SUCCESS && gd_process_lock(&kept_)) {                      \
            note;                                                                                  \
            gd_process_unlock(kept_);                                                              \
        }                                                                                          \
        if (seen_)                                                                                 \
            gd_process_leave();                                                                    \
        return result_;                                                                            \
    } while (0)

#endif
