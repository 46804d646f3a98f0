/* Green contexts: a part of the device's multiprocessors, with streams of its own. Whatever else is
 * made while one is current belongs to the primary context, which it retains. */
#ifndef GD_EMULATOR_DRIVER_GREEN_H
#define GD_EMULATOR_DRIVER_GREEN_H

#include "emulator/schedule/device.h"
#include "emulator/schedule/schedule.h"

typedef struct gd_green {
    gd_object object;
    gd_part part;
    uint64_t id;
    gd_stream *standard; /* that NULL means in it; made when it is needed */
    gd_task *gate;       /* that its streams wait for, new ones too (cuGreenCtxWaitEvent); NULL */
} gd_green;

/* The resource that a part is. */
gd_CUresult gd_green_tell(gd_part part, gd_CUdevResource *resource, int32_t type);

/* Ends it with its streams. */
void gd_green_destroy(gd_green *green);

#endif
