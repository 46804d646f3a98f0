/* A launch that is kept: configuration and arguments checked once, in the driver's terms. Chains
 * and kernel nodes of graphs are made of them. A call never changes, so that threads may share
 * it, but where one chain and its own graphs alone hold it: gd_call_change. */
#ifndef GD_RUN_CALL_H
#define GD_RUN_CALL_H

#include <stdatomic.h>

#include "griddep.h"
#include "run/launch/launch.h"

typedef struct gd_call {
    atomic_uint references;
    griddep_kernel *kernel;            /* its module is held */
    void **pointers;                   /* to each of the arguments, in `packed` */
    unsigned char *packed;             /* behind this struct */
    gd_CUDA_KERNEL_NODE_PARAMS params; /* the call as a kernel node */
    gd_launch launch;
} gd_call;

/* Who the call is for, in messages: what it must not have a stream for, and where one is given. */
typedef struct gd_call_owner {
    const char *what;  /* "chain" */
    const char *where; /* "griddep_chain_run" */
    bool lanes;        /* its launches may be in other lanes than 0 */
} gd_call_owner;

int32_t gd_call_create(griddep_kernel *kernel, const griddep_launch_config *config,
                       const griddep_argument *arguments, uint32_t argument_count,
                       const gd_call_owner *owner, gd_call **call, griddep_error *error);

/* A call like another one with other arguments, or with another configuration. */
int32_t gd_call_with_arguments(const gd_call *call, const griddep_argument *arguments,
                               uint32_t argument_count, gd_call **changed, griddep_error *error);
/* The same in a call that nobody holds who counts on its arguments, which a failure leaves as they
 * are. *changed: they are other ones now. */
int32_t gd_call_change(gd_call *call, const griddep_argument *arguments, uint32_t argument_count,
                       bool *changed, griddep_error *error);
int32_t gd_call_with_config(const gd_call *call, const griddep_launch_config *config,
                            const gd_call_owner *owner, gd_call **changed, griddep_error *error);

/* The configuration that makes such a launch again: its attributes are the call's. */
griddep_launch_config gd_call_config(const gd_call *call);

/* A call like another one of a kernel with the same parameters, in another configuration where
 * `config` is not NULL. The kernel's context need not be current. */
int32_t gd_call_with_kernel(const gd_call *call, griddep_kernel *kernel,
                            const griddep_launch_config *config, gd_call **changed,
                            griddep_error *error);

gd_call *gd_call_hold(gd_call *call);
void gd_call_release(gd_call *call); /* takes NULL */

/* Whether two calls have the same cluster and attributes. */
bool gd_call_same_attributes(const gd_call *a, const gd_call *b);

#endif
