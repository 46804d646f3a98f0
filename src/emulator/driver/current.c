/* Each thread's stack of contexts, of which the upper one is current. */
#include "emulator/driver/context.h"
#include "emulator/driver/green.h"

enum { STACK_DEPTH = 64 };

/* Handles, not pointers: a context may be destroyed while another thread has it on its stack. */
static __thread struct {
    void *handles[STACK_DEPTH];
    unsigned depth;
} stack;

void *gd_context_handle(void)
{
    return stack.depth ? stack.handles[stack.depth - 1] : NULL;
}

gd_context *gd_context_find(const void *handle)
{
    gd_context *context = gd_object_find(handle, GD_OBJECT_CONTEXT);
    const gd_green *green = context ? NULL : gd_object_find(handle, GD_OBJECT_GREEN);

    return green ? green->object.context : context;
}

gd_context *gd_context_current(bool *destroyed)
{
    const void *handle = gd_context_handle();
    gd_context *context = gd_context_find(handle);

    *destroyed = handle && !context;
    return context;
}

gd_CUresult gd_context_push(gd_CUcontext handle)
{
    if (!gd_context_find(handle))
        return handle ? GD_CUDA_ERROR_INVALID_CONTEXT : GD_CUDA_ERROR_INVALID_VALUE;
    if (stack.depth == STACK_DEPTH)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    stack.handles[stack.depth++] = handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_context_pop(gd_CUcontext *handle)
{
    if (!stack.depth)
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    stack.depth--;
    if (handle)
        *handle = stack.handles[stack.depth];
    return GD_CUDA_SUCCESS;
}

gd_green *gd_green_current(void)
{
    return gd_object_find(gd_context_handle(), GD_OBJECT_GREEN);
}

gd_part gd_green_part(void)
{
    const gd_green *green = gd_green_current();

    return green ? green->part : (gd_part){0, gd_the_emulator.settings.multiprocessors};
}
