/* Functions of the program's that the driver calls when work is done: in a stream once, and in a
 * captured one as often as the graph runs.
 *
 * The driver calls them on a thread of its own, where no call of the driver is allowed; it may
 * refuse such a call, or never return from it. So each goes through a function of the library's
 * that marks the thread, and what the library is asked for there is refused by name. Ends of
 * objects are put off until the next call that comes to the runtime: a garbage collector may run
 * there. */
#ifndef GD_RUN_HOST_H
#define GD_RUN_HOST_H

#include <stdbool.h>

#include "griddep.h"
#include "run/runtime.h"

/* Calls `told` when all that is in the stream now is done, or never will be: then `result` is the
 * fault. The context is current. STREAM where the stream is being captured. */
typedef void gd_host_told(void *user, gd_CUresult result);
int32_t gd_host_notify(griddep_runtime *runtime, gd_CUstream stream, gd_host_told *told, void *user,
                       griddep_error *error);

/* The stream calls the function once, when all that is in it is done; a captured one becomes a
 * node. The context is current. */
int32_t gd_host_add(griddep_runtime *runtime, gd_CUstream stream, griddep_host_function function,
                    void *user, griddep_error *error);

/* A node that calls a function each time the graph runs. The graph owns the call; so it does where
 * the node fails. The context is current. */
struct gd_host_call *gd_host_make_call(griddep_host_function function, void *user); /* or NULL */
gd_CUresult gd_host_add_node(const gd_driver *driver, gd_CUgraph graph,
                             const gd_CUgraphNode *before, size_t count, struct gd_host_call *call,
                             gd_CUgraphNode *node);

/* A fault as the caller's error. */
int32_t gd_host_fail(gd_CUresult result, griddep_error *error);

/* Before the context goes: waits for the functions that the driver has still to call. Where
 * `result` is a fault of the context they are told of it here. */
void gd_host_settle(griddep_runtime *runtime, gd_CUresult result);

#endif
