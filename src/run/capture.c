/* Notes on captured launches, by capture and node.
 *
 * A capture that somebody else ends and drops is never reported to the library, so notes are kept
 * of the last captures alone. Where the driver gives an old graph's handle to a new capture, the
 * old graph is gone, and its notes go too. */
#include <stdlib.h>

#include "base/error.h"
#include "run/capture.h"

enum { MOST_CAPTURES = 64 };

struct gd_capture {
    struct gd_capture *next; /* an older one */
    uint64_t id;
    gd_CUgraph graph;
    gd_CUgraphNode *off; /* nodes whose launches said off */
    size_t count, capacity;
};

/* ---- the list; its lock is held ---- */

static void free_capture(struct gd_capture *capture)
{
    free(capture->off);
    free(capture);
}

static struct gd_capture **find_graph(griddep_runtime *runtime, gd_CUgraph graph)
{
    struct gd_capture **at = &runtime->captures;

    while (*at && (*at)->graph != graph)
        at = &(*at)->next;
    return at;
}

static void drop_graph(griddep_runtime *runtime, gd_CUgraph graph)
{
    struct gd_capture **at = find_graph(runtime, graph), *found = *at;

    if (!found)
        return;
    *at = found->next;
    free_capture(found);
}

static void drop_oldest(griddep_runtime *runtime)
{
    struct gd_capture *last = runtime->captures;

    for (size_t i = 1; last && i < MOST_CAPTURES; i++)
        last = last->next;
    while (last && last->next) {
        struct gd_capture *oldest = last->next;
        last->next = oldest->next;
        free_capture(oldest);
    }
}

/* The capture's notes, with room for one more; NULL when memory runs out. */
static struct gd_capture *take_room(griddep_runtime *runtime, const gd_capture_state *info)
{
    struct gd_capture *capture = *find_graph(runtime, info->graph);

    if (!capture || capture->id != info->id) {
        drop_graph(runtime, info->graph);
        capture = calloc(1, sizeof *capture);
        if (!capture)
            return NULL;
        *capture =
            (struct gd_capture){.next = runtime->captures, .id = info->id, .graph = info->graph};
        runtime->captures = capture;
        drop_oldest(runtime);
    }
    if (capture->count == capture->capacity) {
        size_t capacity = capture->capacity ? 2 * capture->capacity : 8;
        gd_CUgraphNode *more = realloc(capture->off, capacity * sizeof *more);
        if (!more)
            return NULL;
        capture->off = more;
        capture->capacity = capacity;
    }
    return capture;
}

/* ---- notes ---- */

static int32_t ask(const griddep_runtime *runtime, gd_CUstream stream, gd_capture_state *info,
                   griddep_error *error)
{
    gd_CUresult result = gd_capture_ask(runtime, stream, true, info);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status =
        gd_driver_fail(runtime->driver, result, error, "whether the stream is being captured");
    return gd_runtime_blame_stream(runtime, stream, status, error);
}

int32_t gd_capture_reserve(griddep_runtime *runtime, gd_CUstream stream, griddep_error *error)
{
    gd_capture_state info;
    int32_t status = ask(runtime, stream, &info, error);

    if (status || info.status != GD_CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return status;
    pthread_mutex_lock(&runtime->mutex);
    bool room = take_room(runtime, &info) != NULL;
    pthread_mutex_unlock(&runtime->mutex);
    return room ? GRIDDEP_OK : gd_error_memory(error);
}

/* The node is what the next launch in the stream would wait for. */
int32_t gd_capture_note_off(griddep_runtime *runtime, gd_CUstream stream, griddep_error *error)
{
    gd_capture_state info;
    int32_t status = ask(runtime, stream, &info, error);

    if (status || info.status != GD_CU_STREAM_CAPTURE_STATUS_ACTIVE || info.tip_count != 1)
        return status;
    const gd_CUgraphNode node = info.tips[0];
    pthread_mutex_lock(&runtime->mutex);
    struct gd_capture *capture = take_room(runtime, &info);
    if (capture)
        capture->off[capture->count++] = node;
    pthread_mutex_unlock(&runtime->mutex);
    return capture ? GRIDDEP_OK : gd_error_memory(error);
}

bool gd_capture_said_off(griddep_runtime *runtime, gd_CUgraph graph, gd_CUgraphNode node)
{
    bool found = false;

    pthread_mutex_lock(&runtime->mutex);
    const struct gd_capture *capture = *find_graph(runtime, graph);
    for (size_t i = 0; capture && i < capture->count && !found; i++)
        found = capture->off[i] == node;
    pthread_mutex_unlock(&runtime->mutex);
    return found;
}

void gd_capture_forget(griddep_runtime *runtime, gd_CUgraph graph)
{
    pthread_mutex_lock(&runtime->mutex);
    drop_graph(runtime, graph);
    pthread_mutex_unlock(&runtime->mutex);
}

void gd_capture_forget_all(griddep_runtime *runtime)
{
    while (runtime->captures) {
        struct gd_capture *next = runtime->captures->next;
        free_capture(runtime->captures);
        runtime->captures = next;
    }
}
