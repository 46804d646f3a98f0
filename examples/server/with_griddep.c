/* Batches by libgriddep: chains that are prepared once, whose arguments change from run to run. */
#include <stdlib.h>

#include "server.h"

/* The chain for 2^size requests has a lane for each of them, and an argument set for each slot. */
struct lane {
    struct server *server;
    griddep_chain *chain[BATCH_SIZES];
    griddep_completion *completion;
    void *stream;
    int descriptor;
};

static void fill_arguments(const struct server *server, const struct client *client,
                           griddep_argument *first, griddep_argument *second)
{
    const griddep_argument count = {.bytes = 4, .value = server->elements};

    first[0] = (griddep_argument){.bytes = 8, .value = client->x};
    first[1] = (griddep_argument){.bytes = 8, .value = client->y};
    first[2] = (griddep_argument){.bytes = 8, .value = client->sum};
    first[3] = count;
    second[0] = (griddep_argument){.bytes = 8, .value = client->sum};
    second[1] = first[0];
    second[2] = (griddep_argument){.bytes = 8, .value = (uintptr_t)client->answer};
    second[3] = count;
}

/* Before there are requests, any client's memory stands for theirs. */
static int32_t make_chain(const struct server *server, uint32_t size, griddep_chain **chain,
                          griddep_error *error)
{
    griddep_argument first[4], second[4];
    uint32_t set = 0;
    int32_t status = griddep_chain_create(server->runtime, chain, error);

    for (uint32_t i = 0; !status && i < 1u << size; i++) {
        const griddep_launch_config config = {.size = sizeof config,
                                              .grid = {(server->elements + 1023) / 1024},
                                              .block = {256},
                                              .lane = i};
        struct client any = server->client[0];
        any.x = any.y = server->vectors;
        fill_arguments(server, &any, first, second);
        status = griddep_chain_add(*chain, server->add, &config, first, 4, error);
        if (!status)
            status = griddep_chain_add(*chain, server->add, &config, second, 4, error);
    }
    for (uint32_t slot = 1; !status && slot < SLOTS; slot++)
        status = griddep_chain_add_argument_set(*chain, &set, error);
    for (uint32_t slot = 0; !status && slot < SLOTS; slot++) {
        status = griddep_chain_select_argument_set(*chain, slot, error);
        if (!status)
            status = griddep_chain_prepare(*chain, GRIDDEP_MODE_GRAPH_PDL, error);
    }
    return status;
}

static void close_lane(void *opened)
{
    struct lane *lane = opened;

    griddep_stream_synchronize(lane->server->runtime, lane->stream, NULL);
    for (uint32_t size = 0; size < BATCH_SIZES; size++)
        griddep_chain_destroy(lane->chain[size]);
    griddep_completion_destroy(lane->completion);
    griddep_stream_destroy(lane->server->runtime, lane->stream, NULL);
    free(lane);
}

static void *open_lane(struct server *server)
{
    struct lane *lane = calloc(1, sizeof *lane);
    griddep_error error;

    if (!lane)
        return NULL;
    lane->server = server;
    griddep_error_init(&error);
    int32_t status = griddep_stream_create(server->runtime, NULL, &lane->stream, &error);
    if (!status)
        status = griddep_completion_create(server->runtime, &lane->completion, &error);
    if (!status)
        status = griddep_completion_get_descriptor(lane->completion, &lane->descriptor, &error);
    for (uint32_t size = 0; !status && size < BATCH_SIZES; size++)
        status = make_chain(server, size, &lane->chain[size], &error);
    if (good(status, &error))
        return lane;
    close_lane(lane);
    return NULL;
}

static int get_descriptor(void *opened, int *timeout)
{
    *timeout = -1; /* a fault makes the descriptor readable too */
    return ((struct lane *)opened)->descriptor;
}

static bool submit(void *opened, uint32_t slot, struct client *const *batch, uint32_t size)
{
    struct lane *lane = opened;
    griddep_chain *chain = lane->chain[size];
    griddep_argument first[4], second[4];
    griddep_error error;

    griddep_error_init(&error);
    int32_t status = griddep_chain_select_argument_set(chain, slot, &error);
    for (uint32_t i = 0; !status && i < 1u << size; i++) {
        fill_arguments(lane->server, batch[i], first, second);
        status = griddep_chain_set_arguments(chain, 2 * i, first, 4, &error);
        if (!status)
            status = griddep_chain_set_arguments(chain, 2 * i + 1, second, 4, &error);
    }
    if (!status)
        status = griddep_chain_run(chain, GRIDDEP_MODE_GRAPH_PDL, lane->stream, &error);
    if (!status)
        status = griddep_completion_arm(lane->completion, lane->stream, &error);
    return good(status, &error);
}

static bool take(void *opened, uint64_t *over)
{
    griddep_error error;

    griddep_error_init(&error);
    return good(griddep_completion_take(((struct lane *)opened)->completion, over, &error), &error);
}

const struct backend with_griddep = {.name = "griddep",
                                     .open = open_lane,
                                     .close = close_lane,
                                     .get_descriptor = get_descriptor,
                                     .submit = submit,
                                     .take = take};
