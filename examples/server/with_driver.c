/* The same batches by the driver's own calls, to compare with: graphs with programmatic edges,
 * whose kernel nodes get their arguments anew for each batch, and a host function behind each. It
 * opens the driver that the runtime has, and declares what it uses of cuda.h. API 12.3 or later.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server.h"

struct kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    void *kernel, *context;
};

struct edge_data { /* CUgraphEdgeData */
    unsigned char from_port, to_port, type, reserved[5];
};

static struct {
    int (*set_context)(void *context);
    int (*load)(void **module, const void *image);
    int (*unload)(void *module);
    int (*get_function)(void **function, void *module, const char *name);
    int (*create_stream)(void **stream, unsigned flags);
    int (*destroy_stream)(void *stream);
    int (*synchronize)(void *stream);
    int (*query)(void *stream);
    int (*create_graph)(void **graph, unsigned flags);
    int (*destroy_graph)(void *graph);
    int (*add_kernel)(void **node, void *graph, void *const *before, size_t count,
                      const struct kernel_node *kernel);
    int (*add_edges)(void *graph, void *const *from, void *const *to, const struct edge_data *data,
                     size_t count);
    int (*instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*destroy_executable)(void *executable);
    int (*set_kernel)(void *executable, void *node, const struct kernel_node *kernel);
    int (*launch)(void *executable, void *stream);
    int (*call_host)(void *stream, void (*function)(void *), void *user);
} cuda;

static const struct {
    const char *name;
    void *pointer;
} symbols[] = {{"cuCtxSetCurrent", &cuda.set_context},
               {"cuModuleLoadData", &cuda.load},
               {"cuModuleUnload", &cuda.unload},
               {"cuModuleGetFunction", &cuda.get_function},
               {"cuStreamCreate", &cuda.create_stream},
               {"cuStreamDestroy_v2", &cuda.destroy_stream},
               {"cuStreamSynchronize", &cuda.synchronize},
               {"cuStreamQuery", &cuda.query},
               {"cuGraphCreate", &cuda.create_graph},
               {"cuGraphDestroy", &cuda.destroy_graph},
               {"cuGraphAddKernelNode_v2", &cuda.add_kernel},
               {"cuGraphAddDependencies_v2", &cuda.add_edges},
               {"cuGraphInstantiateWithFlags", &cuda.instantiate},
               {"cuGraphExecDestroy", &cuda.destroy_executable},
               {"cuGraphExecKernelNodeSetParams_v2", &cuda.set_kernel},
               {"cuGraphLaunch", &cuda.launch},
               {"cuLaunchHostFunc", &cuda.call_host}};

enum { NON_BLOCKING = 1, NOT_READY = 600, PROGRAMMATIC = 1, ASK_AFTER = 100 /* milliseconds */ };

/* A graph for each size of batch and each slot. */
struct lane {
    struct server *server;
    void *context, *module, *function, *stream;
    void *graph[BATCH_SIZES][SLOTS], *executable[BATCH_SIZES][SLOTS];
    void *node[BATCH_SIZES][SLOTS][2 * LARGEST_BATCH];
    int descriptor;
    uint64_t asked; /* when the stream was asked for faults */
};

/* What CUresult says, once it is no success. */
static bool succeeded(int result, const char *what)
{
    if (result)
        fprintf(stderr, "%s: CUresult %d\n", what, result);
    return result == 0;
}

static bool open_cuda(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = library ? dlsym(library, symbols[i].name) : NULL;
        if (!symbol) {
            fprintf(stderr, "%s has no %s\n", path, symbols[i].name);
            return false;
        }
        memcpy(symbols[i].pointer, &symbol, sizeof symbol);
    }
    return true;
}

/* ---- graphs */

struct arguments {
    uint64_t address[3];
    uint32_t count;
    void *pointers[4];
    struct kernel_node node;
};

static const struct kernel_node *fill_node(const struct lane *lane, struct arguments *made,
                                           uint64_t x, uint64_t y, uint64_t out)
{
    *made = (struct arguments){.address = {x, y, out}, .count = lane->server->elements};
    for (uint32_t i = 0; i < 3; i++)
        made->pointers[i] = &made->address[i];
    made->pointers[3] = &made->count;
    made->node = (struct kernel_node){.function = lane->function,
                                      .grid = {(lane->server->elements + 1023) / 1024, 1, 1},
                                      .block = {256, 1, 1},
                                      .parameters = made->pointers};
    return &made->node;
}

static bool make_graph(struct lane *lane, uint32_t size, uint32_t slot)
{
    const struct edge_data early = {.from_port = PROGRAMMATIC, .type = PROGRAMMATIC};
    void **graph = &lane->graph[size][slot], **node = lane->node[size][slot];
    const struct client *any = &lane->server->client[0];
    struct arguments made;
    int result = cuda.create_graph(graph, 0);

    for (uint32_t i = 0; !result && i < 1u << size; i++, node += 2) {
        const uint64_t vector = lane->server->vectors;
        fill_node(lane, &made, vector, vector, any->sum);
        result = cuda.add_kernel(&node[0], *graph, NULL, 0, &made.node);
        fill_node(lane, &made, any->sum, vector, (uintptr_t)any->answer);
        if (!result)
            result = cuda.add_kernel(&node[1], *graph, NULL, 0, &made.node);
        if (!result)
            result = cuda.add_edges(*graph, &node[0], &node[1], &early, 1);
    }
    if (!result)
        result = cuda.instantiate(&lane->executable[size][slot], *graph, 0);
    return succeeded(result, "a graph");
}

static bool make_graphs(struct lane *lane)
{
    bool made = true;

    for (uint32_t size = 0; size < BATCH_SIZES; size++)
        for (uint32_t slot = 0; made && slot < SLOTS; slot++)
            made = make_graph(lane, size, slot);
    return made;
}

/* ---- the backend */

static void close_lane(void *opened)
{
    struct lane *lane = opened;

    cuda.set_context(lane->context);
    if (lane->stream)
        cuda.synchronize(lane->stream);
    for (uint32_t i = 0; i < BATCH_SIZES * SLOTS; i++) {
        const uint32_t size = i / SLOTS, slot = i % SLOTS;
        if (lane->executable[size][slot])
            cuda.destroy_executable(lane->executable[size][slot]);
        if (lane->graph[size][slot])
            cuda.destroy_graph(lane->graph[size][slot]);
    }
    if (lane->stream)
        cuda.destroy_stream(lane->stream);
    if (lane->module)
        cuda.unload(lane->module);
    if (lane->descriptor >= 0)
        close(lane->descriptor);
    free(lane);
}

static void *open_lane(struct server *server)
{
    griddep_runtime_info info = {.size = sizeof info};
    griddep_error error;
    struct lane *lane = calloc(1, sizeof *lane);

    griddep_error_init(&error);
    if (!lane || !good(griddep_runtime_get_info(server->runtime, &info, &error), &error) ||
        !open_cuda(info.driver)) {
        free(lane);
        return NULL;
    }
    lane->server = server;
    lane->context = info.context;
    lane->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = cuda.set_context(info.context);
    if (!result)
        result = cuda.load(&lane->module, server->ptx);
    if (!result)
        result = cuda.get_function(&lane->function, lane->module, "vector_add");
    if (!result)
        result = cuda.create_stream(&lane->stream, NON_BLOCKING);
    if (succeeded(result, "module, kernel and stream") && make_graphs(lane))
        return lane;
    close_lane(lane);
    return NULL;
}

/* A host function is not called after a fault: then the timeout lets `take` ask. */
static int get_descriptor(void *opened, int *timeout)
{
    *timeout = ASK_AFTER;
    return ((struct lane *)opened)->descriptor;
}

static void tell_over(void *opened)
{
    eventfd_write(((struct lane *)opened)->descriptor, 1);
}

static bool submit(void *opened, uint32_t slot, struct client *const *batch, uint32_t size)
{
    struct lane *lane = opened;
    void *executable = lane->executable[size][slot], **node = lane->node[size][slot];
    struct arguments made;
    int result = cuda.set_context(lane->context);

    for (uint32_t i = 0; !result && i < 1u << size; i++, node += 2) {
        const struct client *client = batch[i];
        fill_node(lane, &made, client->x, client->y, client->sum);
        result = cuda.set_kernel(executable, node[0], &made.node);
        fill_node(lane, &made, client->sum, client->x, (uintptr_t)client->answer);
        if (!result)
            result = cuda.set_kernel(executable, node[1], &made.node);
    }
    if (!result)
        result = cuda.launch(executable, lane->stream);
    if (!result)
        result = cuda.call_host(lane->stream, tell_over, lane);
    return succeeded(result, "a batch");
}

static bool take(void *opened, uint64_t *over)
{
    struct lane *lane = opened;
    eventfd_t count = 0;

    if (eventfd_read(lane->descriptor, &count))
        count = 0;
    *over = count;
    if (count > 0)
        lane->asked = now();
    else if (now() - lane->asked > ASK_AFTER * 1000000u) {
        lane->asked = now();
        int result = cuda.set_context(lane->context);
        if (!result)
            result = cuda.query(lane->stream);
        return result == NOT_READY || succeeded(result, "the stream");
    }
    return true;
}

const struct backend with_driver = {.name = "driver",
                                    .open = open_lane,
                                    .close = close_lane,
                                    .get_descriptor = get_descriptor,
                                    .submit = submit,
                                    .take = take};
