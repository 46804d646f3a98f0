/* Contexts, as entry points reach them: those that are current in a thread, and the primary one. */
#ifndef GD_EMULATOR_DRIVER_CONTEXT_H
#define GD_EMULATOR_DRIVER_CONTEXT_H

#include "emulator/schedule/device.h"
#include "emulator/schedule/work.h"

/* ---- what is current in the calling thread (driver/current.c) ---- */

/* The handle; NULL. */
void *gd_context_handle(void);

/* The context; NULL. *destroyed: there is one, but it was destroyed. */
gd_context *gd_context_current(bool *destroyed);

/* The green context; NULL. */
struct gd_green *gd_green_current(void);

/* The part of the device that the current context has. */
gd_part gd_green_part(void);

gd_CUresult gd_context_push(gd_CUcontext handle);
gd_CUresult gd_context_pop(gd_CUcontext *handle); /* handle may be NULL */

/* The context of a handle; of a green one the primary context, which has all that is made in it. */
gd_context *gd_context_find(const void *handle);

/* ---- making and ending (driver/context.c) ---- */

/* Retaining the primary context and giving it back. */
gd_CUresult gd_context_retain(gd_CUcontext *handle, gd_CUdevice number);
void gd_context_give_back(gd_device *device);

/* Ends a context with all that was made in it. */
void gd_context_destroy(gd_context *context);

#endif
