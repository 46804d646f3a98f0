/* Host functions and notifications in streams. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/capture.h"
#include "run/host.h"
#include "run/stream.h"

/* A function that the driver is to call once, in the runtime's list until then; or, without a
 * runtime, one that a captured graph owns. */
struct gd_host_call {
    struct gd_host_call *next, **at; /* that which points to it */
    griddep_runtime *runtime;
    griddep_host_function function; /* or */
    gd_host_told *told;
    void *user;
    atomic_bool taken; /* by who calls the function, or drops it */
};

/* ---- the list; its lock is held ---- */

static void add_call(struct gd_host_call *call)
{
    griddep_runtime *runtime = call->runtime;

    call->next = runtime->calls;
    call->at = &runtime->calls;
    if (call->next)
        call->next->at = &call->next;
    runtime->calls = call;
}

static void remove_call(struct gd_host_call *call)
{
    *call->at = call->next;
    if (call->next)
        call->next->at = call->at;
    call->next = NULL;
}

/* ---- calling ---- */

static void run(const struct gd_host_call *call, gd_CUresult result)
{
    const bool before = gd_host_mark(true);

    if (call->told)
        call->told(call->user, result);
    else
        call->function(call->user);
    gd_host_mark(before);
}

/* Once the call is out of the list the runtime may end. */
static void call_once(struct gd_host_call *call, gd_CUresult result)
{
    griddep_runtime *runtime = call->runtime;

    if (!atomic_exchange(&call->taken, true)) {
        run(call, result);
        pthread_mutex_lock(&runtime->mutex);
        remove_call(call);
        if (!runtime->calls)
            pthread_cond_broadcast(&runtime->calls_over);
        pthread_mutex_unlock(&runtime->mutex);
    }
    free(call);
}

static void run_host(void *user)
{
    call_once(user, GD_CUDA_SUCCESS);
}

static void run_told(gd_CUstream stream, gd_CUresult result, void *user)
{
    (void)stream;
    call_once(user, result);
}

static void run_captured(void *user)
{
    run(user, GD_CUDA_SUCCESS);
}

/* ---- making ---- */

static struct gd_host_call *make_call(griddep_runtime *runtime, griddep_host_function function,
                                      gd_host_told *told, void *user)
{
    struct gd_host_call *call = malloc(sizeof *call);

    if (!call)
        return NULL;
    *call =
        (struct gd_host_call){.runtime = runtime, .function = function, .told = told, .user = user};
    atomic_init(&call->taken, false);
    pthread_mutex_lock(&runtime->mutex);
    add_call(call);
    pthread_mutex_unlock(&runtime->mutex);
    return call;
}

static void drop_call(struct gd_host_call *call)
{
    pthread_mutex_lock(&call->runtime->mutex);
    remove_call(call);
    pthread_mutex_unlock(&call->runtime->mutex);
    free(call);
}

static int32_t find_capture(const griddep_runtime *runtime, gd_CUstream stream,
                            gd_capture_state *capture, griddep_error *error)
{
    gd_CUresult result = gd_capture_ask(runtime, stream, false, capture);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status =
        gd_driver_fail(runtime->driver, result, error, "whether the stream is being captured");
    return gd_runtime_blame_stream(runtime, stream, status, error);
}

static int32_t fail_stream(const griddep_runtime *runtime, gd_CUstream stream, gd_CUresult result,
                           const char *what, griddep_error *error)
{
    int32_t status = gd_driver_fail(runtime->driver, result, error, "%s", what);

    return gd_runtime_blame_stream(runtime, stream, status, error);
}

int32_t gd_host_notify(griddep_runtime *runtime, gd_CUstream stream, gd_host_told *told, void *user,
                       griddep_error *error)
{
    gd_capture_state capture;
    int32_t status = find_capture(runtime, stream, &capture, error);

    if (status)
        return status;
    if (capture.status != GD_CU_STREAM_CAPTURE_STATUS_NONE)
        return gd_error_set(error, GRIDDEP_ERROR_STREAM,
                            "the stream is being captured, and a graph has no notifications: ask "
                            "for one behind the graph's launch, or add a host function");
    if (!runtime->driver->cuStreamAddCallback)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "the driver has no cuStreamAddCallback");
    struct gd_host_call *call = make_call(runtime, NULL, told, user);
    if (!call)
        return gd_error_memory(error);
    gd_CUresult result = runtime->driver->cuStreamAddCallback(stream, run_told, call, 0);
    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    drop_call(call);
    return fail_stream(runtime, stream, result, "a notification", error);
}

struct gd_host_call *gd_host_make_call(griddep_host_function function, void *user)
{
    struct gd_host_call *call = calloc(1, sizeof *call);

    if (call) {
        call->function = function;
        call->user = user;
    }
    return call;
}

/* The graph, and what is made of it, own the call from then on; on failure it is freed. */
static gd_CUresult give_call(const gd_driver *driver, gd_CUgraph graph, struct gd_host_call *call)
{
    gd_CUuserObject object = NULL;
    const bool can = driver->cuUserObjectCreate && driver->cuGraphRetainUserObject &&
                     driver->cuUserObjectRelease; /* API 11.3 */
    gd_CUresult result = can ? driver->cuUserObjectCreate(&object, call, free, 1,
                                                          GD_CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
                             : GD_CUDA_ERROR_NOT_SUPPORTED;

    if (result != GD_CUDA_SUCCESS) {
        free(call);
        return result;
    }
    result = driver->cuGraphRetainUserObject(graph, object, 1, GD_CU_GRAPH_USER_OBJECT_MOVE);
    if (result != GD_CUDA_SUCCESS)
        driver->cuUserObjectRelease(object, 1);
    return result;
}

gd_CUresult gd_host_add_node(const gd_driver *driver, gd_CUgraph graph,
                             const gd_CUgraphNode *before, size_t count, struct gd_host_call *call,
                             gd_CUgraphNode *node)
{
    const gd_CUDA_HOST_NODE_PARAMS params = {.fn = run_captured, .userData = call};
    gd_CUresult result = give_call(driver, graph, call);

    return result == GD_CUDA_SUCCESS
               ? driver->cuGraphAddHostNode(node, graph, before, count, &params)
               : result;
}

static int32_t capture_host(const griddep_runtime *runtime, gd_CUstream stream, gd_CUgraph graph,
                            griddep_host_function function, void *user, griddep_error *error)
{
    struct gd_host_call *call = gd_host_make_call(function, user);

    if (!call)
        return gd_error_memory(error);
    gd_CUresult result = give_call(runtime->driver, graph, call);
    if (result == GD_CUDA_SUCCESS)
        result = runtime->driver->cuLaunchHostFunc(stream, run_captured, call);
    return result == GD_CUDA_SUCCESS
               ? GRIDDEP_OK
               : fail_stream(runtime, stream, result, "a captured host function", error);
}

int32_t gd_host_add(griddep_runtime *runtime, gd_CUstream stream, griddep_host_function function,
                    void *user, griddep_error *error)
{
    gd_capture_state capture;
    int32_t status = find_capture(runtime, stream, &capture, error);

    if (status)
        return status;
    if (capture.status == GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return capture_host(runtime, stream, capture.graph, function, user, error);
    struct gd_host_call *call = make_call(runtime, function, NULL, user);
    if (!call)
        return gd_error_memory(error);
    gd_CUresult result = runtime->driver->cuLaunchHostFunc(stream, run_host, call);
    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    drop_call(call);
    return fail_stream(runtime, stream, result, "a host function", error);
}

/* ---- faults and ends ---- */

int32_t gd_host_fail(gd_CUresult result, griddep_error *error)
{
    return gd_driver_fail(NULL, result, error, "the work in the stream did not end well");
}

/* Those whose function nobody calls yet. */
static struct gd_host_call *take_calls(griddep_runtime *runtime)
{
    struct gd_host_call *taken = NULL;

    for (struct gd_host_call *call = runtime->calls, *next; call; call = next) {
        next = call->next;
        if (atomic_exchange(&call->taken, true))
            continue;
        remove_call(call);
        call->next = taken;
        taken = call;
    }
    return taken;
}

/* Of what the driver was given for a notification it keeps the address, and may still use it; a
 * host function is never called after a fault. */
void gd_host_settle(griddep_runtime *runtime, gd_CUresult result)
{
    const bool lost = result != GD_CUDA_SUCCESS && result != GD_CUDA_ERROR_OUT_OF_MEMORY;

    pthread_mutex_lock(&runtime->mutex);
    for (struct gd_host_call *call = lost ? take_calls(runtime) : NULL, *next; call; call = next) {
        next = call->next;
        pthread_mutex_unlock(&runtime->mutex);
        if (call->told)
            run(call, result);
        else
            free(call);
        pthread_mutex_lock(&runtime->mutex);
    }
    while (runtime->calls)
        pthread_cond_wait(&runtime->calls_over, &runtime->mutex);
    pthread_mutex_unlock(&runtime->mutex);
}

/* ---- public ---- */

/* A notification of the program's: what is told is made of both. */
typedef struct notification {
    griddep_notify_function function;
    void *user;
} notification;

static void notify(void *user, gd_CUresult result)
{
    notification *made = user;
    griddep_error error;

    griddep_error_init(&error);
    if (result != GD_CUDA_SUCCESS)
        gd_host_fail(result, &error);
    made->function(made->user, result == GD_CUDA_SUCCESS ? NULL : &error);
    free(made);
}

int32_t griddep_stream_add_host(griddep_runtime *runtime, void *stream,
                                griddep_host_function function, void *user, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (!status && !function)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "function is NULL");
    if (!status)
        status = gd_stream_begin(runtime, runtime, &pushed, error);
    if (status)
        return status;
    status = gd_host_add(runtime, stream, function, user, error);
    gd_runtime_leave(runtime, pushed);
    return status;
}

int32_t griddep_stream_notify(griddep_runtime *runtime, void *stream,
                              griddep_notify_function function, void *user, griddep_error *error)
{
    bool pushed;
    int32_t status = gd_error_check(error);

    if (!status && !function)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "function is NULL");
    notification *made = status ? NULL : malloc(sizeof *made);
    if (!status && !made)
        status = gd_error_memory(error);
    if (!status)
        status = gd_stream_begin(runtime, runtime, &pushed, error);
    if (status) {
        free(made);
        return status;
    }
    *made = (notification){.function = function, .user = user};
    status = gd_host_notify(runtime, stream, notify, made, error);
    gd_runtime_leave(runtime, pushed);
    if (status)
        free(made);
    return status;
}
