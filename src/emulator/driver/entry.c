/* The entry points, made of driver.def's rows, and cuGetProcAddress: names and versions to them. */
#include <string.h>

#include "emulator/driver/call.h"
#include "emulator/schedule/device.h"
#include "emulator/driver/stream.h"

typedef void any_function(void);

/* One variant of a name: the signature that it has from this API version on. */
typedef struct variant {
    const char *name;
    int version;
    any_function *function;
} variant;

static const variant variants[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_GIVEN(offer, {#name, version, (any_function *)symbol}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

/* A function and its variant whose NULL stream is the per-thread default one. */
static const struct {
    any_function *base, *per_thread;
} per_thread_variants[] = {
#define GD_PAIR(per_thread, base) {(any_function *)base, (any_function *)per_thread},
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, GD_WHERE_VARIANT(variant, symbol, GD_PAIR, symbol))
#include "cuda/driver.def"
#undef GD_DRIVER
#undef GD_PAIR
};

/* What the flags ask for: the per-thread variant of a function that has one. */
static any_function *choose_stream(any_function *function, uint64_t flags)
{
    if (!(flags & GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return function;
    for (size_t i = 0; i < sizeof per_thread_variants / sizeof *per_thread_variants; i++) {
        if (per_thread_variants[i].base == function)
            return per_thread_variants[i].per_thread;
    }
    return function;
}

/* The newest variant that the version asked for knows. *known: some variant has this name. */
static const variant *find_variant(const char *name, int version, bool *known)
{
    const variant *best = NULL;

    *known = false;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const variant *each = &variants[i];
        if (strcmp(each->name, name))
            continue;
        *known = true;
        if (each->version <= version && (!best || each->version > best->version))
            best = each;
    }
    return best;
}

gd_CUresult gd_cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                   gd_CUdriverProcAddressQueryResult *status)
{
    bool known;

    if (!name || !function || flags > GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ||
        version > GD_DEVICE_DRIVER_VERSION)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const variant *found = find_variant(name, version, &known);
    *function = NULL;
    if (found) {
        any_function *chosen = choose_stream(found->function, flags);
        memcpy(function, &chosen, sizeof *function);
    }
    if (status)
        *status = found   ? GD_CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? GD_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return GD_CUDA_SUCCESS;
}

/* The first form says by its result what the second says by the status. */
gd_CUresult gd_cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    gd_CUdriverProcAddressQueryResult status = GD_CU_GET_PROC_ADDRESS_SUCCESS;
    gd_CUresult result = gd_cuGetProcAddress_v2(name, function, version, flags, &status);

    return result == GD_CUDA_SUCCESS && status != GD_CU_GET_PROC_ADDRESS_SUCCESS
               ? GD_CUDA_ERROR_NOT_FOUND
               : result;
}

static gd_CUresult why_refused(const char *symbol)
{
    if (!strcmp(symbol, "cuGetExportTable"))
        return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED,
                                "%s is not emulated: programs of the CUDA runtime ask for tables "
                                "of NVIDIA's driver that are not documented, and for a proof that "
                                "it is NVIDIA's; programs of the driver API run ('griddep sanitize "
                                "--recorded -- PROGRAM' checks what others launch on a GPU)",
                                symbol);
    return gd_device_unsupported(symbol);
}

static gd_CUresult refuse(const char *symbol)
{
    gd_CUresult result = gd_call_begin(GD_NEED_LOCKED);

    return result == GD_CUDA_SUCCESS ? gd_call_end(symbol, why_refused(symbol)) : result;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define GD_REFUSE(symbol, arguments)                                                               \
    gd_CUresult symbol GD_PARAMETERS(arguments)                                                    \
    {                                                                                              \
        return refuse(#symbol);                                                                    \
    }
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_NOT_EMULATED(offer, GD_REFUSE(symbol, arguments)                                      \
                                     GD_WHERE_VARIANT(variant, symbol, GD_REFUSE, arguments))
#include "cuda/driver.def"
#undef GD_DRIVER
#undef GD_REFUSE
#pragma GCC diagnostic pop

#define GD_ENTER(offer, symbol, arguments) GD_ENTER_##offer(symbol, offer, arguments)
#define GD_ENTER_LOCKED GD_ENTER_CALL
#define GD_ENTER_INIT GD_ENTER_CALL
#define GD_ENTER_CONTEXT GD_ENTER_CALL
#define GD_ENTER_LIVE GD_ENTER_CALL
#define GD_ENTER_CALL(symbol, needed, arguments)                                                   \
    gd_CUresult symbol GD_PARAMETERS(arguments)                                                    \
    {                                                                                              \
        gd_CUresult begun = gd_call_begin(GD_NEED_##needed);                                       \
        return begun == GD_CUDA_SUCCESS ? gd_call_end(#symbol, gd_##symbol GD_VALUES(arguments))   \
                                        : begun;                                                   \
    }
#define GD_ENTER_ANYTIME(symbol, needed, arguments)                                                \
    gd_CUresult symbol GD_PARAMETERS(arguments)                                                    \
    {                                                                                              \
        return gd_##symbol GD_VALUES(arguments);                                                   \
    }
#define GD_FORWARD(per_thread, base, arguments)                                                    \
    gd_CUresult per_thread GD_PARAMETERS(arguments)                                                \
    {                                                                                              \
        gd_stream_null_is_per_thread(true);                                                        \
        gd_CUresult result = base GD_VALUES(arguments);                                            \
        gd_stream_null_is_per_thread(false);                                                       \
        return result;                                                                             \
    }
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, GD_ENTER(offer, symbol, arguments)                                    \
                                 GD_WHERE_VARIANT(variant, symbol, GD_FORWARD, symbol, arguments))
#include "cuda/driver.def"
#undef GD_DRIVER
#undef GD_FORWARD
