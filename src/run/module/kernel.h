/* A kernel: an entry of a module, with all that a launch checks, read once. */
#ifndef GD_RUN_KERNEL_H
#define GD_RUN_KERNEL_H

#include <stdatomic.h>

#include "griddep.h"
#include "ptx/require/require.h"
#include "run/runtime.h"

enum { GD_KERNEL_FEW = 64 }; /* a launch has room for so many arguments on its stack */

/* First what each launch looks at. */
struct griddep_kernel {
    griddep_module *module;
    griddep_runtime *runtime; /* the module's */
    gd_CUfunction function;
    const gd_requires *terms; /* the PTX's; NULL: no conditions */
    uint64_t *argument_bytes; /* of each parameter */
    uint64_t few;             /* parameters; UINT64_MAX: not known, or more than GD_KERNEL_FEW */
    atomic_uint opted_in; /* bytes of dynamic shared memory that the function is allowed so far */
    uint32_t required_cluster[3]; /* .reqnctapercluster; 0 where not given */
    griddep_kernel_info info;     /* its name belongs to this object */
    char *name;
    uint32_t read_traits;         /* before any was stated */
    uint32_t parameter_alignment; /* the largest */
    griddep_parameter_info
        *parameters;      /* info.parameter_count of them; names belong to the module's PTX */
    bool maps_understood; /* conditions may speak of tensor maps: the driver encodes them as is
                                 * known */
    atomic_uint large_clusters; /* 1: clusters beyond the portable size are allowed */
    atomic_uint early_touch;    /* 1 + gd_early_touch of it; 0: nobody has asked yet */
    griddep_kernel *next;       /* in the module's list */
};

/* Reads all about a function. ptx may be NULL. */
int32_t gd_kernel_create(griddep_module *module, griddep_runtime *runtime, const griddep_ptx *ptx,
                         const char *name, gd_CUfunction function, griddep_kernel **kernel,
                         griddep_error *error);
void gd_kernel_destroy(griddep_kernel *kernel);

#endif
