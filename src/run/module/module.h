/* A module: loaded code, the PTX it came from where there is any, and its kernels, which are read
 * when they are first asked for. */
#ifndef GD_RUN_MODULE_H
#define GD_RUN_MODULE_H

#include <pthread.h>
#include <stdatomic.h>

#include "griddep.h"
#include "run/module/image.h"
#include "run/module/link.h"
#include "run/runtime.h"

struct griddep_module {
    atomic_uint references;
    griddep_runtime *runtime;
    gd_loaded loaded;
    griddep_module *origin; /* that it shares its code with, and all that is known about it; held;
                             * NULL */
    int32_t image;          /* GRIDDEP_IMAGE_*, as it was given */
    int32_t code;           /* what the driver got: of a fatbin its cubin or its PTX */
    int32_t architecture;   /* that a fatbin has it for; 0 */
    char *name;
    char *log;                /* never NULL */
    griddep_ptx *ptx;         /* NULL: none, or not readable */
    gd_image_kernels machine; /* of a cubin */
    gd_link_texts linked;     /* PTX that it was linked of */
    struct {
        char *expression, *name; /* as C++ and as the PTX have it */
    } * aliases;                 /* of what was compiled with name expressions */
    uint32_t alias_count;
    bool from_store;
    char **kernel_names; /* all that are known from the start */
    uint32_t kernel_count;
    pthread_mutex_t mutex; /* guards kernels */
    bool mutex_ready;
    griddep_kernel *kernels;   /* those that were asked for */
    griddep_module *next;      /* in the runtime's list */
    _Atomic uint64_t captured; /* number of the last capture that holds it */
    atomic_bool variables_known; /* somebody has asked for the address of one */
    atomic_bool stays;         /* a capture uses it that cannot hold it */
    void (*at_end)(void *user, bool abandoned); /* NULL: nothing */
    void *at_end_user;
};

/* A hold, and its end; griddep_module_unload ends the program's. */
griddep_module *gd_module_hold(griddep_module *module);
void gd_module_release(griddep_module *module); /* takes NULL */
void gd_module_abandon(
    griddep_module *module); /* the same where nothing may be asked of the driver */

/* What is called when the module is gone, behind which nothing runs that it had; once. */
void gd_module_at_end(griddep_module *module, void (*end)(void *user, bool abandoned), void *user);

/* All modules of the runtime, each held; the list is to be freed. */
int32_t gd_module_hold_all(griddep_runtime *runtime, griddep_module ***modules, uint32_t *count,
                           griddep_error *error);

/* The kernel that a function is, and a hold on its module; *kernel is NULL where it belongs to no
 * module of the runtime. The context is current. */
int32_t gd_module_kernel_of(griddep_runtime *runtime, gd_CUfunction function,
                            griddep_kernel **kernel, griddep_error *error);

/* griddep_module_get_global for the library's own use: the address becomes known to no kernel. */
int32_t gd_module_find_variable(griddep_module *module, const char *name, uint64_t *address,
                                uint64_t *bytes, griddep_error *error);

#endif
