/* What carries out a hop; and large hops, which NCCL does: its communicators, its calls.
 *
 * Of our kernels 12 of 16 bytes are data, and each member sends its own to all others, but in an
 * all_reduce of two steps; NCCL sends each byte as seldom as can be, and takes longer to begin. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "cuda/nccl.h"
#include "run/group/group.h"

/* A hop that has run once, so that NCCL has what it connects for it. */
typedef struct warmth {
    int32_t operation;
    uint64_t bytes;
} warmth;

struct gd_group_nccl {
    gd_nccl library;
    warmth *warm;
    uint32_t warm_count;
    gd_ncclComm comms[GD_GROUP_MOST]; /* of this process's members */
};

/* ---- choosing ---- */

static bool is_sum(int32_t operation)
{
    return operation == GRIDDEP_HOP_ALL_REDUCE || operation == GRIDDEP_HOP_REDUCE_SCATTER;
}

/* In one step a member sends bytes * (count - 1), in two steps twice that for each of count parts,
 * and waits twice. Both have the same bits. */
static bool takes_two_steps(const griddep_group *group, int32_t operation, uint64_t bytes)
{
    const uint64_t count = group->count;

    return operation == GRIDDEP_HOP_ALL_REDUCE && count > 2 &&
           bytes * (count - 1) * (count - 2) / count >= GD_GROUP_SPARED;
}

/* Bytes that a member sends, in parts of 3 * count of those of the hop's part. NCCL's later start
 * is worth as many bytes on the wire among more members as between two. */
static bool is_large(const griddep_group *group, int32_t operation, uint64_t bytes)
{
    const uint64_t count = group->count;
    const uint64_t ours = (takes_two_steps(group, operation, bytes) ? 8 : 4 * count) * (count - 1);
    const uint64_t its =
        operation == GRIDDEP_HOP_ALL_REDUCE ? 6 * (count - 1)
        : operation == GRIDDEP_HOP_ALL_GATHER || operation == GRIDDEP_HOP_REDUCE_SCATTER
            ? 3 * count * (count - 1)
            : 3 * count;

    if (group->nccl_bytes)
        return bytes >= group->nccl_bytes;
    return ours > its && bytes * (ours - its) / count >= group->crossing;
}

static uint32_t own_members(const griddep_group *group)
{
    return group->meeting ? 1 : group->count;
}

/* Why NCCL cannot serve these members, whatever version it is; NULL: it can. */
static const char *find_obstacle(const griddep_group *group)
{
    for (uint32_t i = 0; i < own_members(group); i++) {
        const griddep_runtime *runtime = group->members[group->rank + i].runtime;
        if (runtime->part_size || !runtime->primary)
            return "a member has a part of a device, or a context that is not the primary one";
        for (uint32_t k = 0; k < i; k++) {
            if (group->members[group->rank + k].runtime->device == runtime->device)
                return "two members have one device";
        }
        if (runtime->info.emulated && !gd_environment("GRIDDEP_NCCL"))
            return "the driver is the emulated one";
    }
    return NULL;
}

static int32_t open_library(const griddep_group *group, gd_nccl *library, griddep_error *error)
{
    const char *obstacle = find_obstacle(group);

    return obstacle ? gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                                   "NCCL cannot serve this group: %s", obstacle)
                    : gd_nccl_open(library, error);
}

int32_t gd_group_check_nccl(const griddep_group *group, griddep_error *error)
{
    gd_nccl library;

    return group->nccl == GRIDDEP_NCCL_ON ? open_library(group, &library, error) : GRIDDEP_OK;
}

/* ---- communicators ---- */

/* All processes tell their version, and the first one how to find it; 0: it has none. */
static int32_t exchange(griddep_group *group, int version, gd_ncclUniqueId *id,
                        griddep_error *error)
{
    gd_meeting_word words[GD_GROUP_MOST], own = {.values = {GD_GROUP_WORD_NCCL, (uint64_t)version}};
    int files[GD_GROUP_MOST];

    memcpy(own.note, id->bytes, sizeof own.note);
    int32_t status = gd_meeting_exchange(group->meeting, &own, -1, words, files, error);
    for (uint32_t i = 0; i < group->count && !status; i++) {
        if (files[i] >= 0)
            close(files[i]);
    }
    for (uint32_t i = 0; i < group->count && !status; i++) {
        if (words[i].values[0] != GD_GROUP_WORD_NCCL)
            status = gd_error_set(
                error, GRIDDEP_ERROR_PEER,
                "member %" PRIu32 " of the group allocates, where this one adds a large hop", i);
        else if (!words[i].values[1] || words[i].values[1] != words[0].values[1])
            status = gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                                  "member %" PRIu32 " of the group has %s NCCL", i,
                                  words[i].values[1] ? "another version of" : "no");
    }
    if (!status)
        memcpy(id->bytes, words[0].note, sizeof id->bytes);
    return status;
}

/* What of NCCL's calls is made for each member of this process, in its context. */
typedef gd_ncclResult each_call(gd_group_nccl *nccl, const griddep_group *group, uint32_t member,
                                void *with);

/* NCCL wants one group of calls where one thread makes those of several members. */
static int32_t call_each(gd_group_nccl *nccl, const griddep_group *group, each_call *call,
                         void *with, const char *what, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    gd_ncclResult result = nccl->library.ncclGroupStart();

    for (uint32_t i = 0; i < own_members(group) && !status && !result; i++) {
        griddep_runtime *runtime = group->members[group->rank + i].runtime;
        bool pushed;
        status = gd_runtime_enter(runtime, &pushed, error);
        if (status)
            break;
        result = call(nccl, group, group->rank + i, with);
        gd_runtime_leave(runtime, pushed);
    }
    const gd_ncclResult ended = nccl->library.ncclGroupEnd();
    if (!result)
        result = ended;
    return status || !result ? status : gd_nccl_fail(&nccl->library, result, what, error);
}

static gd_ncclResult make_comm(gd_group_nccl *nccl, const griddep_group *group, uint32_t member,
                               void *with)
{
    const gd_ncclUniqueId *id = with;

    return nccl->library.ncclCommInitRank(&nccl->comms[member], (int)group->count, *id,
                                          (int)member);
}

static int32_t make_comms(griddep_group *group, gd_group_nccl *nccl, griddep_error *error)
{
    gd_ncclUniqueId id = {{0}};
    int32_t status = open_library(group, &nccl->library, error);

    if (!status && !group->rank) {
        const gd_ncclResult result = nccl->library.ncclGetUniqueId(&id);
        if (result) {
            status = gd_nccl_fail(&nccl->library, result, "ncclGetUniqueId", error);
            nccl->library.version = 0;
        }
    }
    if (group->meeting) { /* who has none says so: nobody waits for it */
        const int32_t met = exchange(group, nccl->library.version, &id, status ? NULL : error);
        if (met && met != GRIDDEP_ERROR_UNSUPPORTED)
            return met;
        if (!status)
            status = met;
    }
    if (status) {
        if (group->nccl == GRIDDEP_NCCL_AUTO)
            group->nccl = GRIDDEP_NCCL_OFF;
        return group->nccl == GRIDDEP_NCCL_OFF ? GRIDDEP_OK : status;
    }
    return call_each(nccl, group, make_comm, &id, "ncclCommInitRank", error);
}

static void forget(gd_group_nccl *nccl)
{
    free(nccl->warm);
    free(nccl);
}

static void end(griddep_group *group, gd_group_nccl *nccl, bool abort)
{
    for (uint32_t i = 0; i < own_members(group); i++) {
        const gd_ncclComm comm = nccl->comms[group->rank + i];
        gd_ending ending;
        if (!comm)
            continue;
        griddep_runtime *runtime = group->members[group->rank + i].runtime;
        gd_runtime_enter_to_end(runtime, &ending, NULL);
        if (abort)
            nccl->library.ncclCommAbort(comm);
        else
            nccl->library.ncclCommDestroy(comm);
        gd_runtime_leave_ended(runtime, &ending);
    }
    forget(nccl);
}

void gd_group_end_nccl(griddep_group *group, bool abandoned)
{
    if (group->large && abandoned)
        forget(group->large);
    else if (group->large)
        end(group, group->large, gd_group_ask_nccl(group, NULL) != GRIDDEP_OK);
    group->large = NULL;
}

/* ---- calls ---- */

static gd_ncclResult exchange_parts(const gd_nccl *nccl, gd_ncclComm comm,
                                    const gd_group_step *step, size_t bytes, const void *from,
                                    void *into, gd_CUstream stream)
{
    gd_ncclResult result = nccl->ncclGroupStart();

    if (!result && step->to != GRIDDEP_NO_MEMBER)
        result = nccl->ncclSend(from, bytes, GD_NCCL_UINT8, step->to, comm, stream);
    if (!result && step->from != GRIDDEP_NO_MEMBER)
        result = nccl->ncclRecv(into, bytes, GD_NCCL_UINT8, step->from, comm, stream);
    const gd_ncclResult ended = nccl->ncclGroupEnd();
    return result ? result : ended;
}

/* What is handed on as it is goes by bytes. */
static gd_ncclResult call(const gd_nccl *nccl, gd_ncclComm comm, const gd_group_step *step,
                          size_t bytes, uint64_t source, uint64_t target, gd_CUstream stream)
{
    const gd_ncclDataType type = step->type == GRIDDEP_TENSOR_BF16  ? GD_NCCL_BFLOAT16
                                 : step->type == GRIDDEP_TENSOR_F16 ? GD_NCCL_FLOAT16
                                                                    : GD_NCCL_FLOAT32;
    const void *from = (const void *)(uintptr_t)source;
    void *into = (void *)(uintptr_t)target;

    switch (step->operation) {
    case GRIDDEP_HOP_ALL_REDUCE:
        return nccl->ncclAllReduce(from, into, (size_t)step->count, type, GD_NCCL_SUM, comm,
                                   stream);
    case GRIDDEP_HOP_REDUCE_SCATTER:
        return nccl->ncclReduceScatter(from, into, (size_t)step->count, type, GD_NCCL_SUM, comm,
                                       stream);
    case GRIDDEP_HOP_ALL_GATHER:
        return nccl->ncclAllGather(from, into, bytes, GD_NCCL_UINT8, comm, stream);
    case GRIDDEP_HOP_BROADCAST:
        return nccl->ncclBroadcast(into, into, bytes, GD_NCCL_UINT8, step->root, comm, stream);
    default:
        return exchange_parts(nccl, comm, step, bytes, from, into, stream);
    }
}

int32_t gd_group_call_nccl(const griddep_group *group, uint32_t member, const gd_group_step *step,
                           uint64_t bytes, uint64_t source, uint64_t target, gd_CUstream stream,
                           griddep_error *error)
{
    const gd_group_nccl *nccl = group->large;
    const gd_ncclResult result =
        call(&nccl->library, nccl->comms[member], step, (size_t)bytes, source, target, stream);
    char text[64];

    return result ? gd_nccl_fail(&nccl->library, result, gd_group_step_text(step, text), error)
                  : GRIDDEP_OK;
}

int32_t gd_group_ask_nccl(const griddep_group *group, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; group->large && i < own_members(group) && !status; i++) {
        const gd_group_nccl *nccl = group->large;
        const gd_ncclComm comm = nccl->comms[group->rank + i];
        gd_ncclResult result = GD_NCCL_SUCCESS;
        if (!comm || nccl->library.ncclCommGetAsyncError(comm, &result) || !result ||
            result == GD_NCCL_IN_PROGRESS)
            continue;
        status = gd_error_set(
            error, GRIDDEP_ERROR_PEER, "NCCL has given up the hops of member %" PRIu32 ": %s (%d)",
            group->rank + i, nccl->library.ncclGetErrorString(result), (int)result);
    }
    return status;
}

/* ---- several members of one process ---- */

/* A run of a hop on memory of its own. */
typedef struct trial {
    const gd_group_step *step;
    uint64_t bytes;
    uint64_t memory[GD_GROUP_MOST];
} trial;

/* All pairs exchange: who sends to whom another member says later. */
static gd_ncclResult try_pairs(const gd_nccl *nccl, gd_ncclComm comm, uint32_t count,
                               const trial *of, uint64_t memory)
{
    gd_ncclResult result = GD_NCCL_SUCCESS;

    for (uint32_t i = 0; i < count && !result; i++) {
        const gd_group_step step = {
            .operation = GRIDDEP_HOP_EXCHANGE, .to = (int32_t)i, .from = (int32_t)i};
        result = call(nccl, comm, &step, (size_t)of->bytes, memory, memory + of->bytes, NULL);
    }
    return result;
}

static gd_ncclResult try_member(gd_group_nccl *nccl, const griddep_group *group, uint32_t member,
                                void *with)
{
    const trial *of = with;
    const uint64_t memory = of->memory[member];
    const gd_ncclComm comm = nccl->comms[member];

    if (of->step->operation == GRIDDEP_HOP_EXCHANGE)
        return try_pairs(&nccl->library, comm, group->count, of, memory);
    return call(&nccl->library, comm, of->step, (size_t)of->bytes, memory,
                memory + group->count * of->bytes, NULL);
}

/* NCCL connects members when they first need it, and waits for all of them there. One thread may
 * hand in one member's hop after the other, so the hop runs once, as a group of calls. */
static int32_t warm_up(griddep_group *group, const gd_group_step *step, uint64_t bytes,
                       griddep_error *error)
{
    gd_group_nccl *nccl = group->large;
    trial of = {.step = step, .bytes = bytes};
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < nccl->warm_count; i++) {
        if (nccl->warm[i].operation == step->operation && nccl->warm[i].bytes == bytes)
            return GRIDDEP_OK;
    }
    warmth *more = realloc(nccl->warm, ((size_t)nccl->warm_count + 1) * sizeof *more);
    if (!more)
        return gd_error_memory(error);
    nccl->warm = more;
    for (uint32_t i = 0; i < group->count && !status; i++)
        status = griddep_memory_allocate(group->members[i].runtime, 2 * group->count * bytes,
                                         &of.memory[i], error);
    for (uint32_t i = 0; i < group->count && !status; i++)
        status = griddep_memory_fill(group->members[i].runtime, of.memory[i], 0,
                                     2 * group->count * bytes, NULL, error);
    if (!status)
        status = call_each(nccl, group, try_member, &of, "the first hop of its kind", error);
    for (uint32_t i = 0; i < group->count && !status; i++)
        status = griddep_runtime_synchronize(group->members[i].runtime, error);
    for (uint32_t i = 0; i < group->count; i++) {
        if (of.memory[i])
            griddep_memory_free(group->members[i].runtime, of.memory[i], NULL);
    }
    if (!status)
        more[nccl->warm_count++] = (warmth){step->operation, bytes};
    return status;
}

/* ---- for chains ---- */

int32_t gd_group_part(griddep_group *group, griddep_error *error)
{
    gd_group_nccl *made = calloc(1, sizeof *made);

    if (!made)
        return gd_error_memory(error);
    group->apart = true;
    group->nccl = GRIDDEP_NCCL_ON;
    group->nccl_bytes = 1;
    int32_t status = make_comms(group, made, error);
    if (status)
        end(group, made, true);
    else
        group->large = made;
    return status;
}

int32_t gd_group_choose(griddep_group *group, const gd_group_step *step, uint64_t bytes,
                        int32_t *carrier, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    pthread_mutex_lock(&group->mutex);
    bool wanted = group->nccl != GRIDDEP_NCCL_OFF && group->count > 1 &&
                  is_large(group, step->operation, bytes);
    if (group->nccl == GRIDDEP_NCCL_AUTO && group->count > 2)
        wanted = wanted && group->meeting && !is_sum(step->operation);
    if (wanted && !group->large) {
        gd_group_nccl *made = calloc(1, sizeof *made);
        status = made ? make_comms(group, made, error) : gd_error_memory(error);
        if (!status && group->nccl != GRIDDEP_NCCL_OFF)
            group->large = made;
        else if (made)
            end(group, made, true);
    }
    wanted = wanted && group->large;
    if (wanted && !status && !group->meeting)
        status = warm_up(group, step, bytes, error);
    pthread_mutex_unlock(&group->mutex);
    *carrier = wanted && !status                                ? GD_CARRIER_NCCL
               : takes_two_steps(group, step->operation, bytes) ? GD_CARRIER_TWO_STEPS
                                                                : GD_CARRIER_ONE_STEP;
    return status;
}
