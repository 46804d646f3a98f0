/* How long an all_reduce between two GPUs takes, by its size, in a chain of them: by our kernels in
 * graph and graph-pdl and, where libnccl.so.2 is found, by NCCL in a chain and without this
 * library.
 *
 *     bench/hops [PROCESSES [BYTES]]
 *
 * The members are in one process (1, by default), or in two; sizes go up to BYTES (64 MiB). A line
 * for each size: the median of ROUNDS runs of a chain of HOPS, by events, us a hop. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "griddep.h"

enum { MEMBERS = 2, HOPS = 64, ROUNDS = 25, MOST = 64 << 20 };

static griddep_error error = {.size = sizeof error};

static void try(int32_t status, const char *what)
{
    if (status) {
        fprintf(stderr, "hops: %s: %s: %s\n", what, griddep_status_name(status), error.text);
        exit(1);
    }
}

typedef struct member {
    griddep_runtime *runtime;
    void *stream, *begin, *end;
    uint64_t data;
    void *comm; /* of NCCL */
} member;

/* ---- NCCL ---- */

typedef struct nccl_id {
    char bytes[128];
} nccl_id;

static struct {
    int (*get_id)(void *id);
    int (*init)(void **comm, int count, nccl_id id, int rank);
    int (*start)(void), (*end)(void);
    int (*all_reduce)(const void *, void *, size_t, int type, int sum, void *comm, void *stream);
    const char *(*text)(int);
    int (*version)(int *);
    int (*retain)(void **context, int device), (*push)(void *), (*pop)(void **); /* the driver's */
} nccl;

static void load_nccl(void)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW), *driver = dlopen("libcuda.so.1", RTLD_NOW);

    if (!library || !driver)
        return;
    *(void **)&nccl.retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&nccl.push = dlsym(driver, "cuCtxPushCurrent_v2");
    *(void **)&nccl.pop = dlsym(driver, "cuCtxPopCurrent_v2");
    *(void **)&nccl.get_id = dlsym(library, "ncclGetUniqueId");
    *(void **)&nccl.init = dlsym(library, "ncclCommInitRank");
    *(void **)&nccl.start = dlsym(library, "ncclGroupStart");
    *(void **)&nccl.end = dlsym(library, "ncclGroupEnd");
    *(void **)&nccl.version = dlsym(library, "ncclGetVersion");
    *(void **)&nccl.text = dlsym(library, "ncclGetErrorString");
    *(void **)&nccl.all_reduce = dlsym(library, "ncclAllReduce");
}

static void try_nccl(int result, const char *what)
{
    if (result) {
        fprintf(stderr, "hops: NCCL: %s: %s\n", what, nccl.text(result));
        exit(1);
    }
}

/* ---- times ---- */

typedef void start(member *members, uint32_t own, const void *what);

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of a run's time between events of the first own member's stream. */
static double measure(member *members, uint32_t own, start *run, const void *what)
{
    double times[ROUNDS];

    for (int round = -3; round < ROUNDS; round++) {
        try(griddep_event_record(members[0].runtime, members[0].begin, members[0].stream, &error),
            "an event");
        run(members, own, what);
        try(griddep_event_record(members[0].runtime, members[0].end, members[0].stream, &error),
            "an event");
        for (uint32_t i = 0; i < own; i++)
            try(griddep_stream_synchronize(members[i].runtime, members[i].stream, &error), "run");
        double nanoseconds;
        try(griddep_event_elapsed(members[0].runtime, members[0].begin, members[0].end,
                                  &nanoseconds, &error),
            "time");
        if (round >= 0)
            times[round] = nanoseconds / (1e3 * HOPS);
    }
    qsort(times, ROUNDS, sizeof *times, compare);
    return times[ROUNDS / 2];
}

typedef struct chains {
    griddep_chain *chain[MEMBERS];
    int32_t mode;
} chains;

static void run_chains(member *members, uint32_t own, const void *what)
{
    const chains *all = what;

    for (uint32_t i = own; i-- > 0;) /* the one that is timed comes last */
        try(griddep_chain_run(all->chain[i], all->mode, members[i].stream, &error), "chain");
}

static double measure_chains(member *members, uint32_t own, griddep_group *group, uint64_t bytes,
                             int32_t mode)
{
    chains all = {.mode = mode};

    for (uint32_t i = 0; i < own; i++) {
        try(griddep_chain_create(members[i].runtime, &all.chain[i], &error), "chain");
        const griddep_hop sum = {.size = sizeof sum,
                                 .operation = GRIDDEP_HOP_ALL_REDUCE,
                                 .type = GRIDDEP_TENSOR_BF16,
                                 .source = members[i].data,
                                 .target = members[i].data,
                                 .count = bytes / 2};
        for (int hop = 0; hop < HOPS; hop++)
            try(griddep_chain_add_hop(all.chain[i], group, NULL, &sum, &error), "all_reduce");
    }
    const double time = measure(members, own, run_chains, &all);
    try(griddep_group_status(group, &error), "group");
    for (uint32_t i = 0; i < own; i++)
        griddep_chain_destroy(all.chain[i]);
    return time;
}

static void run_graphs(member *members, uint32_t own, const void *what)
{
    griddep_graph *const *graphs = what;

    for (uint32_t i = own; i-- > 0;)
        try(griddep_graph_launch(graphs[i], members[i].stream, &error), "graph of NCCL");
}

static double measure_nccl(member *members, uint32_t own, uint64_t bytes)
{
    griddep_graph *graphs[MEMBERS];

    if (!nccl.all_reduce)
        return 0;
    for (uint32_t i = 0; i < own; i++)
        try(griddep_graph_capture_begin(members[i].runtime, members[i].stream, &error), "capture");
    for (int hop = 0; hop < HOPS; hop++) {
        void *data[MEMBERS];
        nccl.start();
        for (uint32_t i = 0; i < own; i++) {
            data[i] = (void *)(uintptr_t)members[i].data;
            try_nccl(nccl.all_reduce(data[i], data[i], bytes / 2, 9, 0, members[i].comm,
                                     members[i].stream),
                     "all_reduce");
        }
        try_nccl(nccl.end(), "all_reduce");
    }
    for (uint32_t i = 0; i < own; i++) {
        try(griddep_graph_capture_end(members[i].runtime, members[i].stream, &graphs[i], &error),
            "capture");
        try(griddep_graph_instantiate(graphs[i], &error), "graph");
    }
    const double time = measure(members, own, run_graphs, graphs);
    for (uint32_t i = 0; i < own; i++)
        griddep_graph_destroy(graphs[i]);
    return time;
}

/* ---- members ---- */

static void open_member(member *it, int32_t device)
{
    const griddep_runtime_options options = {.size = sizeof options,
                                             .flags = GRIDDEP_RUNTIME_DEVICE,
                                             .device = device,
                                             .store_directory = ""};
    void *blank = calloc(1, MOST);

    try(griddep_runtime_open(&options, &it->runtime, &error), "device");
    try(griddep_stream_create(it->runtime, NULL, &it->stream, &error), "stream");
    try(griddep_event_create(it->runtime, GRIDDEP_EVENT_TIMING, &it->begin, &error), "event");
    try(griddep_event_create(it->runtime, GRIDDEP_EVENT_TIMING, &it->end, &error), "event");
    try(griddep_memory_allocate(it->runtime, MOST, &it->data, &error), "memory");
    try(griddep_memory_write(it->runtime, it->data, blank, MOST, NULL, &error), "memory");
    free(blank);
}

/* The members first to first + own - 1; `id` is memory that all processes have. */
static void measure_all(uint32_t first, uint32_t own, uint64_t most, const char *path, char *id)
{
    const griddep_group_options ours = {
        .size = sizeof ours, .timeout_ms = 20000, .nccl = GRIDDEP_NCCL_OFF};
    const griddep_group_options its = {
        .size = sizeof its, .nccl = GRIDDEP_NCCL_ON, .nccl_bytes = 1};
    member members[MEMBERS];
    griddep_runtime *runtimes[MEMBERS];
    griddep_group *group, *large;
    nccl_id unique;

    for (uint32_t i = 0; i < own; i++) {
        open_member(&members[i], (int32_t)(first + i));
        runtimes[i] = members[i].runtime;
    }
    load_nccl();
    if (!first && nccl.get_id)
        try_nccl(nccl.get_id(id), "id");
    if (own == MEMBERS)
        try(griddep_group_open(runtimes, MEMBERS, &ours, &group, &error), "group");
    else
        try(griddep_group_join(runtimes[0], first, MEMBERS, path, &ours, &group, &error), "group");
    memcpy(unique.bytes, id, sizeof unique.bytes); /* there, since all have joined */
    if (nccl.init) {
        nccl.start();
        for (uint32_t i = 0; i < own; i++) {
            void *context;
            if (nccl.retain(&context, (int)(first + i)) || nccl.push(context))
                exit(1);
            try_nccl(nccl.init(&members[i].comm, MEMBERS, unique, (int)(first + i)), "init");
            nccl.pop(&context);
        }
        try_nccl(nccl.end(), "init");
        if (own == MEMBERS)
            try(griddep_group_open(runtimes, MEMBERS, &its, &large, &error), "group of NCCL");
        else
            try(griddep_group_join(runtimes[0], first, MEMBERS, path, &its, &large, &error),
                "group of NCCL");
    }
    int version = 0; /* 22803: 2.28.3 */
    if (nccl.version)
        nccl.version(&version);
    if (!first)
        printf("NCCL %d\n%10s %10s %10s %10s %10s %10s\n", version, "bytes", "graph-pdl", "graph",
               "by NCCL", "its stream", "NCCL alone");
    for (uint64_t bytes = 8; bytes <= most; bytes = bytes < 4096 || bytes >= 32 << 20
                                                        ? bytes * (bytes < 4096 ? 8 : 2)
                                                    : bytes & (bytes - 1) ? bytes / 3 * 4
                                                    : bytes < 8 << 20     ? bytes * 2
                                                                          : bytes / 2 * 3) {
        const double pdl = measure_chains(members, own, group, bytes, GRIDDEP_MODE_GRAPH_PDL),
                     plain = measure_chains(members, own, group, bytes, GRIDDEP_MODE_GRAPH),
                     other = measure_nccl(members, own, bytes);
        double through = 0, streamed = 0;
        if (nccl.init) {
            through = measure_chains(members, own, large, bytes, GRIDDEP_MODE_GRAPH_PDL);
            streamed = measure_chains(members, own, large, bytes, GRIDDEP_MODE_PDL);
        }
        if (!first)
            printf("%10" PRIu64 " %10.2f %10.2f %10.2f %10.2f %10.2f\n", bytes, pdl, plain, through,
                   streamed, other);
        fflush(stdout);
    }
    if (nccl.init)
        griddep_group_close(large);
    griddep_group_close(group);
}

int main(int argc, char **argv)
{
    const int processes = argc > 1 ? atoi(argv[1]) : 1;
    const uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : MOST;
    char *id = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char path[64];
    int status = 0;

    if ((processes != 1 && processes != MEMBERS) || most > MOST) {
        fprintf(stderr, "usage: hops [1|%d [BYTES]], BYTES up to %d\n", MEMBERS, MOST);
        return 2;
    }
    snprintf(path, sizeof path, "/tmp/griddep-hops-%d", (int)getpid());
    const pid_t child = processes == MEMBERS ? fork() : -1;
    if (!child) {
        measure_all(1, 1, most, path, id);
        return 0;
    }
    measure_all(0, processes == 1 ? MEMBERS : 1, most, path, id);
    if (child > 0)
        waitpid(child, &status, 0);
    return status != 0;
}
