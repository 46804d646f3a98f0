/* Completions: a file descriptor that becomes readable when a position in a stream is reached. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "run/host.h"
#include "run/stream.h"

/* Held by the program and by each position that it is armed by. */
struct griddep_completion {
    griddep_runtime *runtime; /* held by the program's hold alone */
    atomic_uint references;
    pthread_mutex_t mutex; /* guards what follows: what was closed may be another's descriptor */
    int descriptor;        /* -1: closed */
    gd_CUresult fault;     /* not told yet */
};

static void release(griddep_completion *completion)
{
    if (atomic_fetch_sub_explicit(&completion->references, 1u, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&completion->mutex);
    free(completion);
}

static void reach(void *user, gd_CUresult result)
{
    griddep_completion *completion = user;

    pthread_mutex_lock(&completion->mutex);
    if (result != GD_CUDA_SUCCESS)
        completion->fault = result;
    if (completion->descriptor >= 0)
        eventfd_write(completion->descriptor, 1);
    pthread_mutex_unlock(&completion->mutex);
    release(completion);
}

static int32_t make(griddep_runtime *runtime, griddep_completion **completion, griddep_error *error)
{
    griddep_completion *made = calloc(1, sizeof *made);

    if (!made || pthread_mutex_init(&made->mutex, NULL)) {
        free(made);
        return gd_error_memory(error);
    }
    atomic_init(&made->references, 1u);
    made->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->descriptor < 0) {
        int number = errno;
        release(made);
        return gd_error_set(error, GRIDDEP_ERROR_FILE, "no file descriptor: %s", strerror(number));
    }
    made->runtime = gd_runtime_hold(runtime);
    *completion = made;
    return GRIDDEP_OK;
}

static int32_t check(const griddep_completion *completion, const void *output, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status || (completion && output))
        return status;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                        completion ? "an output" : "completion");
}

int32_t griddep_completion_create(griddep_runtime *runtime, griddep_completion **completion,
                                  griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, completion, &pushed, error);

    if (status)
        return status;
    status = make(runtime, completion, error);
    gd_runtime_leave(runtime, pushed);
    return status;
}

static void end(griddep_runtime *runtime, void *object)
{
    (void)object;
    gd_runtime_release(runtime);
}

void griddep_completion_destroy(griddep_completion *completion)
{
    if (!completion)
        return;
    griddep_runtime *runtime = completion->runtime;
    pthread_mutex_lock(&completion->mutex);
    close(completion->descriptor);
    completion->descriptor = -1;
    pthread_mutex_unlock(&completion->mutex);
    release(completion);
    if (!gd_host_put_off(runtime, end, NULL, NULL))
        gd_runtime_release(runtime);
}

int32_t griddep_completion_get_descriptor(const griddep_completion *completion, int32_t *descriptor,
                                          griddep_error *error)
{
    int32_t status = check(completion, descriptor, error);

    if (!status)
        *descriptor = completion->descriptor;
    return status;
}

int32_t griddep_completion_arm(griddep_completion *completion, void *stream, griddep_error *error)
{
    bool pushed;
    int32_t status = check(completion, completion, error);

    if (!status)
        status = gd_stream_begin(completion->runtime, completion, &pushed, error);
    if (status)
        return status;
    atomic_fetch_add_explicit(&completion->references, 1u, memory_order_relaxed);
    status = gd_host_notify(completion->runtime, stream, reach, completion, error);
    gd_runtime_leave(completion->runtime, pushed);
    if (status)
        release(completion);
    return status;
}

int32_t griddep_completion_take(griddep_completion *completion, uint64_t *reached,
                                griddep_error *error)
{
    eventfd_t count = 0;
    int32_t status = check(completion, reached, error);

    if (status)
        return status;
    pthread_mutex_lock(&completion->mutex);
    if (eventfd_read(completion->descriptor, &count))
        count = 0; /* none */
    gd_CUresult fault = completion->fault;
    completion->fault = GD_CUDA_SUCCESS;
    pthread_mutex_unlock(&completion->mutex);
    if (fault != GD_CUDA_SUCCESS)
        return gd_host_fail(fault, error);
    *reached = count;
    return GRIDDEP_OK;
}
