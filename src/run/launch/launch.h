/* One launch: a checked configuration in the driver's terms, and the decision about attribute 6. */
#ifndef GD_RUN_LAUNCH_H
#define GD_RUN_LAUNCH_H

#include "griddep.h"
#include "run/module/kernel.h"

enum { GD_LAUNCH_ATTRIBUTES = 32 }; /* most that a caller may give */

typedef struct gd_launch {
    gd_CUlaunchConfig config; /* without attrs: gd_launch_give */
    int32_t pdl;              /* GRIDDEP_PDL_*, resolved: never DEFAULT */
    int32_t said;             /* GRIDDEP_PDL_* as given */
    uint32_t lane;            /* likewise; for chains */
    uint32_t attribute_count;
    gd_CUlaunchAttribute
        *attributes; /* the cluster; then the caller's. Attribute 6 is none of them */
} gd_launch;

/* Room for the attributes of any launch. */
typedef struct gd_launch_room {
    gd_CUlaunchAttribute attributes[GD_LAUNCH_ATTRIBUTES + 1];
} gd_launch_room;

/* A launch as the driver is given it. */
typedef struct gd_launch_given {
    gd_CUlaunchConfig config; /* its attrs are `attributes` */
    gd_CUlaunchAttribute attributes[GD_LAUNCH_ATTRIBUTES + 3];
    bool off; /* where it is captured, its node is to know that it said off */
    uint32_t late_count;
    gd_CUevent late[2]; /* events that it must not record early: they are recorded behind it */
} gd_launch_given;

/* Reads a caller's configuration, whatever the kernel: the struct, its flags and `pdl`. */
int32_t gd_launch_read_config(griddep_launch_config *config, const griddep_launch_config *given,
                              griddep_error *error);

/* Checks a caller's configuration against kernel and device, and fills a launch, whose attributes
 * go into `room`. The kernel's context must be current when the launch needs to opt in to more
 * shared memory. */
int32_t gd_launch_make(griddep_kernel *kernel, const griddep_launch_config *config,
                       gd_launch_room *room, gd_launch *launch, griddep_error *error);

/* The value of an attribute that a launch has; NULL: it has none. */
const gd_CUlaunchAttributeValue *gd_launch_find_attribute(const gd_launch *launch, int32_t id);

/* Whether attribute 6 may be set for a kernel: GRIDDEP_REASON_SET, _FORCED, or why not. */
int32_t gd_launch_decide(const griddep_kernel *kernel, int32_t pdl);

/* What the driver is given of a launch in a stream, which the caller's mode may switch off beyond
 * what the launch says: `pdl`. A dependent one has attribute 6. An event that is not NULL is
 * recorded at the trigger. */
void gd_launch_give(const griddep_runtime *runtime, const gd_launch *launch, int32_t pdl,
                    bool dependent, gd_CUstream stream, gd_CUevent event, gd_launch_given *given);

/* Launches. The driver may write into the attributes. */
int32_t gd_launch_submit(const griddep_kernel *kernel, const gd_launch *launch,
                         gd_launch_given *given, void **pointers, void **extra,
                         griddep_error *error);

/* Where an argument's bytes are. */
static inline const void *gd_launch_argument_data(const griddep_argument *argument)
{
    return argument->data ? argument->data : &argument->value;
}

/* Whether arguments fit the kernel's parameters in number and size; then `pointers`, of
 * GD_KERNEL_FEW, has where the bytes of each are. False also where there are more. */
static inline bool gd_launch_point_few(const griddep_kernel *kernel,
                                       const griddep_argument *arguments, uint32_t count,
                                       void **pointers)
{
    const uint64_t *const bytes = kernel->argument_bytes;

    if (count != kernel->few || (count && !arguments))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const griddep_argument *argument = &arguments[i];
        const void *data = argument->data;
        if (((uint64_t)argument->reserved << 32 | argument->bytes) != bytes[i])
            return false;
        if (!data) {
            if (bytes[i] > sizeof argument->value)
                return false;
            data = &argument->value;
        }
        pointers[i] = (void *)(uintptr_t)data;
    }
    return true;
}

/* The same of any number, whose pointers are in memory to be freed where they are not in `few`;
 * and what is wrong with arguments that do not fit. */
int32_t gd_launch_point_many(const griddep_kernel *kernel, const griddep_argument *arguments,
                             uint32_t count, void **few, void ***pointers, griddep_error *error);

static inline int32_t gd_launch_point(const griddep_kernel *kernel,
                                      const griddep_argument *arguments, uint32_t count, void **few,
                                      void ***pointers, griddep_error *error)
{
    *pointers = few;
    return gd_launch_point_few(kernel, arguments, count, few)
               ? GRIDDEP_OK
               : gd_launch_point_many(kernel, arguments, count, few, pointers, error);
}

#endif
