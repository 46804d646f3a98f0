/* A libnccl that hands on what members send by memory of the host, in host functions on their
 * streams of the emulated driver. Members are in one process or in several. Like NCCL it sums in an
 * order of its own and rounds each partial sum to the type, and its calls outside of a group of
 * calls fail where they would have to wait for another member of the same process.
 *
 * FAKE_NCCL_VERSION is the version that it tells. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/nccl.h"

#define GD_NCCL(name, type, arguments) type name arguments;
#include "cuda/nccl_symbols.def"
#undef GD_NCCL

enum { RANKS = 8, SLOT = 4 << 20, PAIRS = RANKS * RANKS };
enum { INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, EXCHANGE };

/* What all members map. Counters only grow. */
typedef struct board {
    _Atomic uint64_t arrived, done;
    _Atomic uint64_t sent[PAIRS], taken[PAIRS]; /* by sender * RANKS + receiver */
    _Atomic int pids[RANKS];                    /* 0: it has not joined yet */
    char slots[RANKS][SLOT], parcels[PAIRS][SLOT];
} board;

typedef struct comm {
    board *shared;
    int file, rank, count;
    _Atomic gd_ncclResult failed;
    uint64_t runs; /* of what all members take part in */
    struct operation *operations;
    unsigned connected; /* kinds that have run in a group of calls */
} comm;

typedef struct parcel {
    bool sends;
    int peer;
    char *data;
    size_t bytes;
    uint64_t address;
} parcel;

typedef struct operation {
    struct operation *next;
    comm *of;
    int kind, root;
    size_t count, bytes; /* elements and bytes of a part */
    gd_ncclDataType type;
    char *source, *target;
    parcel parcels[2 * RANKS];
    int parcel_count;
    gd_CUstream stream;
    gd_CUcontext context;
} operation;

static struct {
    gd_CUresult (*to_host)(void *, gd_CUdeviceptr, size_t, gd_CUstream);
    gd_CUresult (*to_device)(gd_CUdeviceptr, const void *, size_t, gd_CUstream);
    gd_CUresult (*host)(gd_CUstream, void (*)(void *), void *);
    gd_CUresult (*allocate)(void **, size_t, unsigned);
    gd_CUresult (*release)(void *);
    gd_CUresult (*get_context)(gd_CUcontext *), (*push)(gd_CUcontext), (*pop)(gd_CUcontext *);
} driver;

static _Thread_local int depth;
static _Thread_local operation *exchanges; /* of the group of calls */

static void load_driver(void)
{
    void *library = dlopen(EMULATED_DRIVER, RTLD_NOW);

    if (!library)
        abort();
    *(void **)&driver.to_host = dlsym(library, "cuMemcpyDtoHAsync_v2");
    *(void **)&driver.to_device = dlsym(library, "cuMemcpyHtoDAsync_v2");
    *(void **)&driver.host = dlsym(library, "cuLaunchHostFunc");
    *(void **)&driver.allocate = dlsym(library, "cuMemHostAlloc");
    *(void **)&driver.release = dlsym(library, "cuMemFreeHost");
    *(void **)&driver.get_context = dlsym(library, "cuCtxGetCurrent");
    *(void **)&driver.push = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&driver.pop = dlsym(library, "cuCtxPopCurrent_v2");
}

/* ---- waiting ---- */

/* A process that has joined holds a lock of its members' bytes as long as it lives. */
static bool is_gone(const comm *it, int rank)
{
    const int pid = it->shared->pids[rank];
    struct flock lock = {.l_type = F_WRLCK, .l_start = rank, .l_len = 1};

    return pid && pid != getpid() && !fcntl(it->file, F_GETLK, &lock) && lock.l_type == F_UNLCK;
}

static bool wait_until(comm *it, _Atomic uint64_t *counter, uint64_t least)
{
    while (atomic_load(counter) < least && !it->failed) {
        for (int i = 0; i < it->count; i++) {
            if (is_gone(it, i) && atomic_load(counter) < least)
                it->failed = GD_NCCL_REMOTE_ERROR;
        }
        sched_yield();
    }
    return !it->failed;
}

/* ---- elements ---- */

static float load(gd_ncclDataType type, const char *from, size_t index)
{
    float value;
    uint32_t bits;
    uint16_t half;

    if (type == GD_NCCL_FLOAT32) {
        memcpy(&value, from + 4 * index, 4);
        return value;
    }
    memcpy(&half, from + 2 * index, 2);
    if (type == GD_NCCL_FLOAT16)
        bits = (uint32_t)(half & 0x7fff) << 13;
    else
        bits = (uint32_t)half << 16;
    memcpy(&value, &bits, 4);
    if (type == GD_NCCL_FLOAT16)
        value *= (half & 0x8000 ? -1.0f : 1.0f) * 0x1p112f;
    return value;
}

/* Rounded to nearest even, of normal values. */
static void store(gd_ncclDataType type, char *into, size_t index, float value)
{
    const float scaled = type == GD_NCCL_FLOAT16 ? value * 0x1p-112f : value;
    uint32_t bits;

    memcpy(&bits, &scaled, 4);
    if (type == GD_NCCL_FLOAT32) {
        memcpy(into + 4 * index, &bits, 4);
        return;
    }
    const uint32_t sign = bits >> 16 & 0x8000, most = bits & 0x7fffffff;
    const uint16_t half =
        (uint16_t)(type == GD_NCCL_FLOAT16 ? sign | (most + 0xfff + (most >> 13 & 1)) >> 13
                                           : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    memcpy(into + 2 * index, &half, 2);
}

/* From the last member to the first. */
static void add_up(const operation *it, size_t first)
{
    const size_t element = it->bytes / it->count;

    for (size_t i = 0; i < it->count; i++) {
        memcpy(it->target + element * i,
               it->of->shared->slots[it->of->count - 1] + element * (first + i), element);
        for (int rank = it->of->count - 2; rank >= 0; rank--)
            store(it->type, it->target, i,
                  load(it->type, it->target, i) +
                      load(it->type, it->of->shared->slots[rank], first + i));
    }
}

/* ---- host functions ---- */

static void run_collective(void *user)
{
    const operation *it = user;
    comm *of = it->of;
    board *shared = of->shared;
    const uint64_t all = (uint64_t)of->count, run = of->runs++;

    if (!wait_until(of, &shared->done, all * run))
        return;
    memcpy(shared->slots[of->rank], it->source, it->bytes * (it->kind == REDUCE_SCATTER ? all : 1));
    atomic_fetch_add(&shared->arrived, 1);
    if (!wait_until(of, &shared->arrived, all * (run + 1)))
        return;
    if (it->kind == ALL_REDUCE)
        add_up(it, 0);
    else if (it->kind == REDUCE_SCATTER)
        add_up(it, it->count * (size_t)of->rank);
    else if (it->kind == BROADCAST)
        memcpy(it->target, shared->slots[it->root], it->bytes);
    for (int i = 0; it->kind == ALL_GATHER && i < of->count; i++)
        memcpy(it->target + it->bytes * (size_t)i, shared->slots[i], it->bytes);
    atomic_fetch_add(&shared->done, 1);
}

static void run_exchange(void *user)
{
    const operation *it = user;
    comm *of = it->of;
    board *shared = of->shared;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < it->parcel_count; i++) {
            const parcel *one = &it->parcels[i];
            const int pair =
                one->sends ? of->rank * RANKS + one->peer : one->peer * RANKS + of->rank;
            _Atomic uint64_t *sent = &shared->sent[pair], *taken = &shared->taken[pair];
            if (one->sends != !pass)
                continue;
            if (!wait_until(of, one->sends ? taken : sent, *(one->sends ? sent : taken) + !!pass))
                return;
            if (one->sends)
                memcpy(shared->parcels[pair], one->data, one->bytes);
            else
                memcpy(one->data, shared->parcels[pair], one->bytes);
            atomic_fetch_add(one->sends ? sent : taken, 1);
        }
    }
}

/* ---- operations ---- */

static operation *make_operation(comm *of, int kind, gd_CUstream stream)
{
    operation *made = calloc(1, sizeof *made);

    if (!made)
        abort();
    made->of = of;
    made->kind = kind;
    made->stream = stream;
    driver.get_context(&made->context);
    made->next = of->operations;
    of->operations = made;
    return made;
}

/* Pinned, for copies that do not wait; of all contexts. */
static char *make_room(size_t bytes)
{
    void *made;

    if (driver.allocate(&made, bytes, 1))
        abort();
    return made;
}

/* Members of one process connect in a group of calls, or wait for each other for ever. */
static bool may_call(comm *of, int kind)
{
    bool alone = true;

    for (int i = 0; i < of->count; i++)
        alone &= i == of->rank || of->shared->pids[i] != getpid();
    if (depth)
        of->connected |= 1u << kind;
    return alone || of->connected & 1u << kind;
}

static gd_ncclResult collect(comm *of, int kind, const void *source, void *target, size_t count,
                             gd_ncclDataType type, int root, gd_CUstream stream)
{
    const size_t bytes = count * (type == GD_NCCL_FLOAT32 ? 4 : type == GD_NCCL_UINT8 ? 1 : 2);
    const size_t in = bytes * (size_t)(kind == REDUCE_SCATTER ? of->count : 1),
                 out = bytes * (size_t)(kind == ALL_GATHER ? of->count : 1);

    if (in > SLOT)
        return INVALID_ARGUMENT;
    if (!may_call(of, kind))
        return INVALID_USAGE;
    operation *made = make_operation(of, kind, stream);
    made->root = root;
    made->count = count;
    made->bytes = bytes;
    made->type = type;
    made->source = make_room(in);
    made->target = make_room(out);
    return driver.to_host(made->source, (gd_CUdeviceptr)(uintptr_t)source, in, stream) ||
           driver.host(stream, run_collective, made) ||
           driver.to_device((gd_CUdeviceptr)(uintptr_t)target, made->target, out, stream);
}

gd_ncclResult ncclAllReduce(const void *source, void *target, size_t count, gd_ncclDataType type,
                            gd_ncclRedOp sum, gd_ncclComm of, gd_CUstream stream)
{
    return sum == GD_NCCL_SUM ? collect(of, ALL_REDUCE, source, target, count, type, 0, stream)
                              : INVALID_ARGUMENT;
}

gd_ncclResult ncclReduceScatter(const void *source, void *target, size_t count,
                                gd_ncclDataType type, gd_ncclRedOp sum, gd_ncclComm of,
                                gd_CUstream stream)
{
    return sum == GD_NCCL_SUM ? collect(of, REDUCE_SCATTER, source, target, count, type, 0, stream)
                              : INVALID_ARGUMENT;
}

gd_ncclResult ncclAllGather(const void *source, void *target, size_t count, gd_ncclDataType type,
                            gd_ncclComm of, gd_CUstream stream)
{
    return collect(of, ALL_GATHER, source, target, count, type, 0, stream);
}

gd_ncclResult ncclBroadcast(const void *source, void *target, size_t count, gd_ncclDataType type,
                            int root, gd_ncclComm of, gd_CUstream stream)
{
    return collect(of, BROADCAST, source, target, count, type, root, stream);
}

/* What a member sends and receives in a group of calls is one exchange. */
static gd_ncclResult add_parcel(comm *of, bool sends, int peer, uint64_t address, size_t bytes,
                                gd_CUstream stream)
{
    operation *it = exchanges;
    while (it && it->of != of)
        it = it->next;
    if (!depth || bytes > SLOT || !may_call(of, EXCHANGE))
        return depth ? INVALID_ARGUMENT : INVALID_USAGE;
    if (!it) {
        it = make_operation(of, EXCHANGE, stream);
        of->operations = it->next;
        it->next = exchanges;
        exchanges = it;
    }
    const parcel made = {sends, peer, make_room(bytes), bytes, address};
    it->parcels[it->parcel_count++] = made;
    return sends ? driver.to_host(made.data, address, bytes, stream) : GD_NCCL_SUCCESS;
}

gd_ncclResult ncclSend(const void *source, size_t count, gd_ncclDataType type, int peer,
                       gd_ncclComm of, gd_CUstream stream)
{
    return type == GD_NCCL_UINT8
               ? add_parcel(of, true, peer, (uint64_t)(uintptr_t)source, count, stream)
               : INVALID_ARGUMENT;
}

gd_ncclResult ncclRecv(void *target, size_t count, gd_ncclDataType type, int peer, gd_ncclComm of,
                       gd_CUstream stream)
{
    return type == GD_NCCL_UINT8
               ? add_parcel(of, false, peer, (uint64_t)(uintptr_t)target, count, stream)
               : INVALID_ARGUMENT;
}

gd_ncclResult ncclGroupStart(void)
{
    depth++;
    return GD_NCCL_SUCCESS;
}

gd_ncclResult ncclGroupEnd(void)
{
    gd_ncclResult result = GD_NCCL_SUCCESS;

    if (--depth)
        return result;
    for (operation *it; (it = exchanges) != NULL;) {
        exchanges = it->next;
        it->next = it->of->operations;
        it->of->operations = it;
        driver.push(it->context);
        result |= driver.host(it->stream, run_exchange, it) != 0;
        for (int i = 0; i < it->parcel_count; i++) {
            const parcel *one = &it->parcels[i];
            if (!one->sends)
                result |= driver.to_device(one->address, one->data, one->bytes, it->stream) != 0;
        }
        driver.pop(&(gd_CUcontext){0});
    }
    return result;
}

/* ---- communicators ---- */

gd_ncclResult ncclGetVersion(int *version)
{
    const char *given = getenv("FAKE_NCCL_VERSION");

    *version = given ? atoi(given) : 22809;
    return GD_NCCL_SUCCESS;
}

const char *ncclGetErrorString(gd_ncclResult result)
{
    return result == GD_NCCL_REMOTE_ERROR ? "remote process exited" : "it failed";
}

gd_ncclResult ncclGetUniqueId(gd_ncclUniqueId *id)
{
    const int file = memfd_create("fake nccl", 0);

    if (file < 0 || ftruncate(file, sizeof(board)))
        return 2;
    snprintf(id->bytes, sizeof id->bytes, "/proc/%d/fd/%d", (int)getpid(), file);
    return GD_NCCL_SUCCESS;
}

gd_ncclResult ncclCommInitRank(gd_ncclComm *made, int count, gd_ncclUniqueId id, int rank)
{
    comm *it = calloc(1, sizeof *it);
    struct flock lock = {.l_type = F_WRLCK, .l_start = rank, .l_len = 1};

    if (!it || count > RANKS)
        return INVALID_ARGUMENT;
    load_driver();
    it->file = open(id.bytes, O_RDWR | O_CLOEXEC);
    if (it->file < 0)
        return 2;
    it->shared = mmap(NULL, sizeof *it->shared, PROT_READ | PROT_WRITE, MAP_SHARED, it->file, 0);
    if (it->shared == MAP_FAILED || fcntl(it->file, F_SETLK, &lock))
        return 2;
    it->count = count;
    it->rank = rank;
    it->shared->pids[rank] = getpid();
    *made = it;
    return GD_NCCL_SUCCESS;
}

gd_ncclResult ncclCommGetAsyncError(gd_ncclComm of, gd_ncclResult *result)
{
    *result = ((comm *)of)->failed;
    return GD_NCCL_SUCCESS;
}

/* Its file stays open: the locks of others of this process would go with it. */
gd_ncclResult ncclCommDestroy(gd_ncclComm of)
{
    comm *it = of;

    while (it->operations) {
        operation *ended = it->operations;
        it->operations = ended->next;
        for (int i = 0; i < ended->parcel_count; i++)
            driver.release(ended->parcels[i].data);
        if (ended->source)
            driver.release(ended->source);
        if (ended->target)
            driver.release(ended->target);
        free(ended);
    }
    munmap(it->shared, sizeof *it->shared);
    free(it);
    return GD_NCCL_SUCCESS;
}

gd_ncclResult ncclCommAbort(gd_ncclComm of)
{
    return ncclCommDestroy(of);
}
