/* Opening libnccl. */
#include <dlfcn.h>
#include <string.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "cuda/nccl.h"

static const struct {
    const char *name;
    size_t offset; /* of the pointer in gd_nccl */
} symbols[] = {
#define GD_NCCL(name, type, arguments) {#name, offsetof(gd_nccl, name)},
#include "cuda/nccl_symbols.def"
#undef GD_NCCL
};

int32_t gd_nccl_open(gd_nccl *nccl, griddep_error *error)
{
    const char *given = gd_environment("GRIDDEP_NCCL");
    const char *path = given && *given ? given : "libnccl.so.2";
    gd_nccl made = {0};

    if (gd_file_is_pipe(path))
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED, "NCCL cannot be opened: %s is a pipe",
                            path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *words = dlerror(); /* they begin with the path */
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED, "NCCL cannot be opened: %s",
                            words ? words : path);
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) {
            int32_t status = gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED, "NCCL: %s has no %s",
                                          path, symbols[i].name);
            dlclose(library);
            return status;
        }
        memcpy((char *)&made + symbols[i].offset, &function, sizeof function);
    }
    if (made.ncclGetVersion(&made.version) != GD_NCCL_SUCCESS)
        made.version = 0;
    if (made.version < GD_NCCL_OLDEST || made.version > GD_NCCL_NEWEST) {
        dlclose(library);
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "NCCL: %s is of version %d; the library calls %d to %d", path,
                            made.version, GD_NCCL_OLDEST, GD_NCCL_NEWEST);
    }
    *nccl = made;
    return GRIDDEP_OK;
}

int32_t gd_nccl_fail(const gd_nccl *nccl, gd_ncclResult result, const char *what,
                     griddep_error *error)
{
    const char *words = nccl->ncclGetErrorString(result);

    return gd_error_set(error,
                        result == GD_NCCL_REMOTE_ERROR ? GRIDDEP_ERROR_PEER : GRIDDEP_ERROR_DRIVER,
                        "NCCL: %s: %s (%d)", what, words ? words : "ncclResult_t", (int)result);
}
