/* cuGetProcAddress: what the driver behind answers, but for functions that are watched. */
#include <pthread.h>
#include <string.h>

#include "attach/map.h"
#include "attach/next.h"
#include "attach/watch.h"

typedef void any_function(void);

/* A watched function: what a driver is asked for to get it, what the driver exports and what this
 * library does. */
typedef struct watched {
    const char *name;
    int version;
    uint64_t flags;
    size_t offset; /* of the driver's in gd_next */
    any_function *ours;
} watched;

#define GD_IF_PASS(...)
#define GD_IF_OWN(...) __VA_ARGS__
#define GD_IF_WORK(...) __VA_ARGS__
#define GD_IF_ORDER(...) __VA_ARGS__
#define GD_IF_DIRECT(...) __VA_ARGS__
#define GD_IF_KIND(kind, ...) GD_IF_KIND_(kind, __VA_ARGS__)
#define GD_IF_KIND_(kind, ...) GD_IF_##kind(__VA_ARGS__)
#define GD_WATCHED(symbol, name, version, flags)                                                   \
    {#name, version, flags, offsetof(gd_next, symbol), (any_function *)symbol},
#define GD_WATCHED_PER_THREAD(symbol, name, version)                                               \
    GD_WATCHED(symbol, name, version, GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

static const watched functions[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_IF_KIND(GD_WATCH_KIND(symbol), GD_WATCHED(symbol, name, version, 0) GD_WHERE_VARIANT(       \
                                          variant, symbol, GD_WATCHED_PER_THREAD, name, version))
#include "cuda/driver.def"
#undef GD_DRIVER
};

static gd_map ours; /* by what the driver answers */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *ask(const char *name, int version, uint64_t flags)
{
    void *function = NULL;
    gd_CUdriverProcAddressQueryResult status;

    if (gd_next_driver.cuGetProcAddress_v2)
        return gd_next_driver.cuGetProcAddress_v2(name, &function, version, flags, &status) ==
                       GD_CUDA_SUCCESS
                   ? function
                   : NULL;
    return GD_NEXT(cuGetProcAddress, name, &function, version, flags) == GD_CUDA_SUCCESS ? function
                                                                                         : NULL;
}

static void note(const watched *function, const void *theirs)
{
    void *mine;

    memcpy(&mine, &function->ours, sizeof mine);
    if (theirs && !gd_map_find(&ours, (uint64_t)(uintptr_t)theirs, 0))
        gd_map_set(&ours, (uint64_t)(uintptr_t)theirs, 0, mine);
}

/* A driver may answer with another address than that of its export; it is asked for the very
 * version whose arguments are known here. A newer version of a function has another address, is not
 * found and goes to the program as it is. */
static void find_answers(void)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const watched *each = &functions[i];
        void *exported;
        memcpy(&exported, (const char *)&gd_next_driver + each->offset, sizeof exported);
        if (!exported)
            continue;
        note(each, exported);
        note(each, ask(each->name, each->version, each->flags));
    }
}

static void exchange(void **function)
{
    pthread_once(&once, find_answers);
    void *mine = *function ? gd_map_find(&ours, (uint64_t)(uintptr_t)*function, 0) : NULL;
    if (mine)
        *function = mine;
}

gd_CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    gd_CUresult result = GD_NEXT(cuGetProcAddress, name, function, version, flags);

    if (result == GD_CUDA_SUCCESS)
        exchange(function);
    return result;
}

gd_CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                gd_CUdriverProcAddressQueryResult *status)
{
    gd_CUresult result = GD_NEXT(cuGetProcAddress_v2, name, function, version, flags, status);

    if (result == GD_CUDA_SUCCESS)
        exchange(function);
    return result;
}
