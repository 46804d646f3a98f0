/* The fake driver's state: its lock, its settings, the list of objects, and the context stack of
 * the calling thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* a recursive mutex with a static initializer */
#endif
#include <stdlib.h>

#include "fake_state.h"

struct fake_state fake_state;

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static _Thread_local struct {
    unsigned generation;
    size_t depth;
    void *contexts[STACK_DEPTH];
} stack;

static const struct {
    gd_CUdevice_attribute attribute;
    int value;
} default_attributes[] = {
    {GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {GD_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {GD_CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {GD_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {GD_CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {GD_CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
    {GD_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {GD_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6016},
    {GD_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {GD_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {GD_CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {GD_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {GD_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {GD_CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 134213632},
    {GD_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
    {GD_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 4},
};

void fake_state_set_defaults(void)
{
    fake_state.ready = true;
    fake_state.version = 13000;
    fake_state.device_count = 1;
    fake_state.memory_bytes = (size_t)4 << 30;
    fake_state.next_handle = 0x10000;
    for (size_t i = 0; i < sizeof default_attributes / sizeof *default_attributes; i++)
        fake_state.attributes[default_attributes[i].attribute] = default_attributes[i].value;
}

void fake_lock(void)
{
    pthread_mutex_lock(&mutex);
    if (!fake_state.ready)
        fake_state_set_defaults();
}

void fake_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

int fake_capability(void)
{
    return 10 * fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] +
           fake_state.attributes[GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR];
}

void *fake_handle_create(void)
{
    fake_state.next_handle += 16;
    return (void *)(uintptr_t)fake_state.next_handle;
}

fake_object *fake_object_create(fake_kind what, void *context)
{
    fake_object *made = fake_allocate(sizeof *made);

    *made = (fake_object){.kind = what,
                          .context = context,
                          .handle = fake_handle_create(),
                          .next = fake_state.objects};
    fake_state.objects = made;
    return made;
}

static fake_object *find_any(fake_kind what, const void *handle)
{
    for (fake_object *o = fake_state.objects; o; o = o->next) {
        if (o->kind == what && o->handle == handle)
            return o;
    }
    return NULL;
}

/* An object whose context is alive. */
fake_object *fake_object_find(fake_kind what, const void *handle)
{
    fake_object *o = handle ? find_any(what, handle) : NULL;

    return o && (!o->context || find_any(CONTEXT, o->context)) ? o : NULL;
}

static void free_payload(fake_object *o)
{
    switch (o->kind) {
    case MODULE:
        fake_image_free(&o->is.module);
        break;
    case MEMORY:
        free(o->handle);
        if (!o->is.memory.module)
            fake_state.memory_used -= o->is.memory.bytes;
        break;
    case STREAM:
        fake_body_free(&o->is.stream.body);
        break;
    case GRAPH:
    case EXECUTABLE:
        fake_body_free(&o->is.graph);
        break;
    default:
        break;
    }
}

void fake_object_end(fake_object *o)
{
    fake_object **at = &fake_state.objects;

    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    free_payload(o);
    free(o);
}

gd_CUresult fake_handle_end(fake_kind what, void *handle)
{
    fake_object *o = fake_object_find(what, handle);

    if (!o)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    fake_object_end(o);
    return GD_CUDA_SUCCESS;
}

static void refresh_stack(void)
{
    if (stack.generation != fake_state.generation) {
        stack.generation = fake_state.generation;
        stack.depth = 0;
    }
}

void *fake_context_handle(void)
{
    refresh_stack();
    return stack.depth ? stack.contexts[stack.depth - 1] : NULL;
}

/* The current context; NULL where there is none or it was destroyed. */
fake_object *fake_context_current(void)
{
    return fake_object_find(CONTEXT, fake_context_handle());
}

gd_CUresult fake_context_check(void)
{
    fake_object *context = fake_context_current();

    if (!fake_context_handle())
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (!context)
        return GD_CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return context->is.context.fault;
}

size_t fake_context_depth(void)
{
    refresh_stack();
    return stack.depth;
}

gd_CUresult fake_do_push(gd_CUcontext context)
{
    refresh_stack();
    if (context && !fake_object_find(CONTEXT, context))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (!context || stack.depth == STACK_DEPTH)
        return GD_CUDA_ERROR_INVALID_VALUE;
    stack.contexts[stack.depth++] = context;
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_pop(gd_CUcontext *context)
{
    if (!fake_context_handle())
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    stack.depth--;
    if (context)
        *context = stack.contexts[stack.depth];
    return GD_CUDA_SUCCESS;
}

gd_CUresult fake_do_set_current(gd_CUcontext context)
{
    refresh_stack();
    if (context && !fake_object_find(CONTEXT, context))
        return GD_CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth)
        stack.depth--;
    return context ? fake_do_push(context) : GD_CUDA_SUCCESS;
}
