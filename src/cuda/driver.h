/* A CUDA driver: the library that was opened, the pointers to its entry points, and its CUresults
 * in the library's terms. */
#ifndef GD_CUDA_DRIVER_H
#define GD_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "cuda/abi.h"
#include "cuda/driver_rows.h"

typedef struct gd_driver {
    void *library;   /* of dlopen; NULL for a table that was made from a function */
    char *path;      /* what was opened: a path or a soname */
    char *build;     /* gd_library_build */
    int32_t version; /* as cuDriverGetVersion: 1000 * major + 10 * minor */
    bool started;    /* cuInit has been called */

    /* One pointer for each row of driver.def that the library calls, named as there; NULL where an
     * optional one is missing. */
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, gd_CUresult(*name) GD_PARAMETERS(arguments);)
#include "cuda/driver.def"
#undef GD_DRIVER
} gd_driver;

/* cuGetProcAddress_v2 */
typedef gd_CUresult (*gd_get_proc_address)(const char *symbol, void **function, int version,
                                           uint64_t flags, int *found);

/* Opens the driver library at `path` (a path, or a soname for the loader to search), fills the
 * table and calls cuInit. NO_DRIVER with the loader's words where it cannot be opened, or where
 * cuInit finds no device; DRIVER_TOO_OLD naming cuGetProcAddress_v2 or the required entry points
 * that are missing. */
int32_t gd_driver_open(const char *path, gd_driver **driver, griddep_error *error);

/* The same from a function in place of a library. `path` is for messages. */
int32_t gd_driver_create(gd_get_proc_address get, const char *path, gd_driver **driver,
                         griddep_error *error);

/* Fills the table only. DRIVER_TOO_OLD names each required symbol that is missing, with its
 * version. A symbol counts as missing when the driver says so in any of its ways: a failure, a
 * query result other than success, or a NULL pointer.
 */
int32_t gd_driver_bind(gd_driver *driver, gd_get_proc_address get, griddep_error *error);

/* Frees the table; takes NULL and half-built ones. A driver library in which cuInit has been called
 * stays loaded: it has threads, thread-local state and exit handlers of its own that must not lose
 * their code, and others in the process may use it. One that turned out to be no driver is
 * unloaded. */
void gd_driver_close(gd_driver *driver);

/* The GRIDDEP_* status of a CUresult; GRIDDEP_ERROR_DRIVER for one that is not known. */
int32_t gd_driver_status(gd_CUresult result);

/* The newest PTX ISA, 10 * major + minor, that a driver of this API version (12.0 and later) takes
 * for certain. */
int32_t gd_driver_ptx_version(int32_t version);

/* cuda.h's name of a CUresult from the library's own list, NULL for one that is not in it. */
const char *gd_driver_result_name(gd_CUresult result);

/* Reports a CUresult: "<what the format says>: CUDA_ERROR_X (N): <the driver's words>". Sets
 * driver_code, returns the status. driver may be NULL or half-built; then the words are left
 * out. */
int32_t gd_driver_fail(const gd_driver *driver, gd_CUresult result, griddep_error *error,
                       const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

#endif
