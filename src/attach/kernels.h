/* Modules and their kernels, by the driver's handles. The caller holds the lock. */
#ifndef GD_ATTACH_KERNELS_H
#define GD_ATTACH_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attached.h"
#include "emulator/abi.h"

typedef struct gd_kernel gd_kernel;

/* A module, or a library: from an image in memory, or from a file. A module ends with its context;
 * NULL for a library. */
void gd_kernels_add_module(const void *handle, gd_CUcontext context, const void *image,
                           bool rewritten);
void gd_kernels_add_module_file(const void *handle, gd_CUcontext context, const char *path);

/* Another handle of the same module. */
void gd_kernels_add_module_alias(const void *handle, const void *known);
void gd_kernels_end_module(const void *handle);
void gd_kernels_end_context(gd_CUcontext context);

/* A handle of a kernel of a module. name NULL: the driver is asked for it. is_function: a
 * CUfunction, no CUkernel. */
void gd_kernels_add(const void *handle, const void *module, const char *name, bool is_function);

/* A CUfunction of a CUkernel. */
void gd_kernels_add_alias(gd_CUfunction function, gd_CUkernel known);

/* The kernel of a launch, with a record, which is made where it has none yet: *number is its number
 * there. NULL: nobody knows it. */
gd_attached_kernel *gd_kernels_find(gd_CUfunction handle, const gd_CUlaunchConfig *config,
                                    uint32_t *number);

/* The function that a launch runs; NULL: nobody knows it. */
gd_CUfunction gd_kernels_function(gd_CUfunction handle);

/* Whether a launch of the kernel may be made early: as gd_code_reason. */
int32_t gd_kernels_reason(gd_CUfunction handle);

/* As gd_code_extents. */
const struct griddep_ptx *gd_kernels_extents(gd_CUfunction handle, uint32_t *entry);

/* In a child process. */
void gd_kernels_forget(void);

#endif
