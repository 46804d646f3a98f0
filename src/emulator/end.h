/* What the end of the process asks of those who own something. */
#ifndef GD_EMULATOR_END_H
#define GD_EMULATOR_END_H

#include "emulator/object.h"

void gd_device_end(void);

/* device.c: no entry point does anything any more (CUDA_ERROR_DEINITIALIZED). */
typedef enum gd_end {
    GD_END_DONE,   /* the lock is held */
    GD_END_INSIDE, /* this thread is in a host function: it has the lock already */
    GD_END_BUSY    /* another thread has the lock and keeps it */
} gd_end;
gd_end gd_call_end_all(void);

void gd_grid_free_machine(void); /* grid.c: no grid runs */
void gd_library_destroy(gd_object *library);
void gd_object_free_table(void); /* object.c: handles that are left mean nothing then */

#endif
