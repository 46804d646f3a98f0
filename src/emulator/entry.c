/* cuGetProcAddress: names and versions to entry points. And the entry points that exist by name only. */
#include <string.h>

#include "emulator/api.h"
#include "emulator/device.h"

typedef void any_function(void);

/* One variant of a name: the signature that it has from this API version on. */
typedef struct variant {
    const char *name;
    int version;
    any_function *function;
} variant;

static const variant variants[] = {
#define GD_ENTRY(symbol, name, version, arguments) {#name, version, (any_function *)symbol},
#include "emulator/entries.def"
#undef GD_ENTRY
#define GD_UNSUPPORTED(symbol, name, version) {#name, version, (any_function *)symbol},
#include "emulator/unsupported.def"
#undef GD_UNSUPPORTED
};

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

static gd_CUresult find(const char *name, void **function, int version, uint64_t flags,
                        gd_CUdriverProcAddressQueryResult *status)
{
    bool known;

    if (!name || !function || flags > GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ||
        version > GD_DEVICE_DRIVER_VERSION)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const variant *found = find_variant(name, version, &known);
    *function = NULL;
    if (found)
        memcpy(function, &found->function, sizeof *function);
    if (status)
        *status = found   ? GD_CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? GD_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return GD_CUDA_SUCCESS;
}

/* The first form says by its result what the second says by the status. */
static gd_CUresult find_first_form(const char *name, void **function, int version, uint64_t flags)
{
    gd_CUdriverProcAddressQueryResult status = GD_CU_GET_PROC_ADDRESS_SUCCESS;
    gd_CUresult result = find(name, function, version, flags, &status);

    return result == GD_CUDA_SUCCESS && status != GD_CU_GET_PROC_ADDRESS_SUCCESS ? GD_CUDA_ERROR_NOT_FOUND : result;
}

gd_CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return find_first_form(name, function, version, flags);
}

gd_CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                gd_CUdriverProcAddressQueryResult *status)
{
    return find(name, function, version, flags, status);
}

#define GD_UNSUPPORTED(symbol, name, version)                                                                          \
    gd_CUresult symbol(void)                                                                                           \
    {                                                                                                                  \
        GD_CALL(GD_NEED_NOTHING, gd_device_unsupported(#symbol));                                                      \
    }
#include "emulator/unsupported.def"
#undef GD_UNSUPPORTED
