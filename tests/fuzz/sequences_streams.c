/* The steps of random sequences that put copies, host functions and notifications into streams, and
 * that ask streams, devices and kernels. What these make lives within the step. */
#include <stdlib.h>

#include "sequences.h"

static griddep_runtime *any_runtime(actor *by)
{
    item *runtime = pick(by, ITEM_RUNTIME, false);

    return runtime ? runtime->handle : NULL;
}

static void *any_stream(actor *by)
{
    item *stream = one_in(by, 4) ? NULL : pick(by, ITEM_STREAM, false);

    if (stream)
        return stream->handle;
    switch (below(by, 3)) {
    case 0:
        return (void *)1; /* CU_STREAM_LEGACY */
    case 1:
        return (void *)2; /* CU_STREAM_PER_THREAD */
    default:
        return NULL;
    }
}

static void on_host(void *user)
{
    griddep_runtime *runtime = user;

    if (griddep_runtime_open(NULL, &runtime, NULL) != GRIDDEP_ERROR_CALLBACK)
        fail("a host function may open a runtime");
}

static void on_done(void *user, const griddep_error *failure)
{
    (void)user;
    if (failure && failure->status == GRIDDEP_OK)
        fail("a failure that is none");
}

/* Host memory ends with the step, so no capture gets it. */
static void copy_host(actor *by, griddep_runtime *runtime, uint64_t memory, void *stream)
{
    griddep_stream_info info = {.size = sizeof info};
    void *host = NULL;

    if (CHECK(griddep_stream_get_info, runtime, stream, &info, E) || info.captured ||
        CHECK(griddep_host_allocate, runtime, BUFFER, 0, &host, E))
        return;
    if (one_in(by, 2))
        CHECK(griddep_memory_write_async, runtime, memory, host, 64, stream, E);
    else
        CHECK(griddep_memory_read_async, runtime, host, memory, 64, stream, E);
    if (one_in(by, 8))
        CHECK(griddep_runtime_synchronize, runtime, E);
    CHECK(griddep_host_free, runtime, host, E);
}

void copy_in_stream(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *memory = pick(by, ITEM_MEMORY, false);
    void *stream = any_stream(by);

    if (!runtime || !memory)
        return;
    switch (below(by, 3)) {
    case 0:
        CHECK(griddep_memory_copy_async, runtime, memory->address, memory->address + 128, 64,
              stream, E);
        break;
    case 1:
        CHECK(griddep_memory_fill_async, runtime, memory->address, below(by, 300),
              1u << below(by, 4), 16, stream, E);
        break;
    default:
        copy_host(by, runtime, memory->address, stream);
    }
}

void notify_in_stream(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    griddep_completion *completion = NULL;
    void *stream = any_stream(by);
    int32_t descriptor = -1;
    uint64_t reached = 0;

    if (!runtime)
        return;
    if (one_in(by, 2))
        CHECK(griddep_stream_notify, runtime, stream, on_done, NULL, E);
    else
        CHECK(griddep_stream_add_host, runtime, NULL, on_host, NULL, E);
    if (CHECK(griddep_completion_create, runtime, &completion, E))
        return;
    CHECK(griddep_completion_get_descriptor, completion, &descriptor, E);
    CHECK(griddep_completion_arm, completion, stream, E);
    if (one_in(by, 2))
        CHECK(griddep_completion_take, completion, &reached, E);
    USE(griddep_completion_destroy)(completion);
}

void ask_streams(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *event = pick(by, ITEM_EVENT, false);
    griddep_stream_info info = {.size = sizeof info};
    griddep_stream_options options = {.size = sizeof options, .priority = -(int32_t)below(by, 7)};
    void *stream = any_stream(by), *made = NULL;
    uint32_t done = 0;

    if (!runtime)
        return;
    CHECK(griddep_stream_get_info, runtime, stream, &info, E);
    if (!info.captured)
        CHECK(griddep_stream_query, runtime, stream, &done, E);
    if (!CHECK(griddep_stream_create, runtime, &options, &made, E))
        CHECK(griddep_stream_destroy, runtime, made, E);
    if (event)
        CHECK(griddep_event_synchronize, runtime, event->handle, E);
}

void ask_devices(actor *by)
{
    const char *driver = getenv("EMULATED_DRIVER");
    griddep_device_info info = {.size = sizeof info};

    CHECK(griddep_device_get_info, driver, (int32_t)below(by, 2), &info, E);
}
