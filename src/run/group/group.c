/* Opening a group, or joining one; its memory, its kernels, and what these have told. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "run/group/group.h"
#include "run/group/launched.h"
#include "run/group/share.h"
#include "run/host.h"
#include "run/module/module.h"
#include "run/module/shelf.h"
#include "run/stream.h"

#include "run/hops.inc"

enum {
    OPTIONS_MINIMUM = offsetof(griddep_group_options, nccl_bytes),
    INFO_MINIMUM = offsetof(griddep_group_info, nccl_bytes),
    DEFAULT_TIMEOUT_MS = 10000,
    DEFAULT_JOIN_MS = 60000,
    MOST_TIMEOUT_MS = 4000000, /* microseconds in 32 bits */
    INBOX_ROW = GD_GROUP_BLOCKS * GD_GROUP_THREADS * 16,
    INBOX_SETS = 8,
    STATE_BYTES = 64 + 4 * GD_GROUP_BLOCKS
};

/* ---- memory ---- */

/* In one process: memory of each member, which the others reach as their peer's. */
static int32_t allocate_here(griddep_group *group, gd_group_buffer *buffer, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < group->count && !status; i++) {
        griddep_runtime *runtime = group->members[i].runtime;
        status = griddep_memory_allocate(runtime, buffer->bytes, &buffer->addresses[i], error);
        if (!status)
            status =
                griddep_memory_fill(runtime, buffer->addresses[i], 0, buffer->bytes, NULL, error);
    }
    return status;
}

/* Between processes: this member's memory is handed to all others, and theirs is mapped here. */
static int32_t allocate_and_share(griddep_group *group, gd_group_buffer *buffer,
                                  griddep_error *error)
{
    const uint64_t asked = buffer->bytes;
    griddep_runtime *runtime = group->members[group->rank].runtime;
    gd_meeting_word words[GD_GROUP_MOST], own = {.values = {asked}};
    int files[GD_GROUP_MOST], file = -1;
    uint64_t *address = &buffer->addresses[group->rank];
    int32_t status = gd_share_make(runtime, &buffer->bytes, address, &file, error);

    if (!status)
        status = griddep_memory_fill(runtime, *address, 0, buffer->bytes, NULL, error);
    /* who has no memory comes all the same, without: nobody waits for it */
    const int32_t met =
        gd_meeting_exchange(group->meeting, &own, file, words, files, status ? NULL : error);
    if (file >= 0)
        close(file);
    if (!status)
        status = met;
    for (uint32_t i = 0; i < group->count && !met; i++) {
        if (!status && i != group->rank && words[i].values[0] == GD_GROUP_WORD_NCCL)
            status = gd_error_set(
                error, GRIDDEP_ERROR_PEER,
                "member %" PRIu32 " of the group adds a large hop, where this one allocates", i);
        if (!status && i != group->rank && words[i].values[0] != asked)
            status = gd_error_set(error, GRIDDEP_ERROR_PEER,
                                  "member %" PRIu32 " allocates %" PRIu64
                                  " bytes of the group, this one %" PRIu64,
                                  i, words[i].values[0], asked);
        if (!status && i != group->rank && files[i] < 0)
            status =
                gd_error_set(error, GRIDDEP_ERROR_PEER,
                             "member %" PRIu32 " has no %" PRIu64 " bytes of memory", i, asked);
        if (!status && i != group->rank)
            status = gd_share_take(runtime, files[i], buffer->bytes, &buffer->addresses[i], error);
        if (files[i] >= 0)
            close(files[i]);
    }
    return status;
}

static void free_parts(const griddep_group *group, const gd_group_buffer *buffer)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (buffer->addresses[i] && group->meeting)
            gd_share_end(group->members[group->rank].runtime, buffer->addresses[i], buffer->bytes);
        else if (buffer->addresses[i])
            griddep_memory_free(group->members[i].runtime, buffer->addresses[i], NULL);
    }
}

static int32_t allocate(griddep_group *group, uint64_t bytes, uint32_t *number,
                        griddep_error *error)
{
    gd_group_buffer made = {.bytes = bytes};
    int32_t status = GRIDDEP_OK;

    pthread_mutex_lock(&group->mutex);
    gd_group_buffer *more =
        realloc(group->buffers, ((size_t)group->buffer_count + 1) * sizeof *more);
    if (more)
        group->buffers = more;
    if (!more)
        status = gd_error_memory(error);
    else
        status = group->meeting ? allocate_and_share(group, &made, error)
                                : allocate_here(group, &made, error);
    if (status) {
        free_parts(group, &made);
    } else {
        *number = group->buffer_count;
        more[group->buffer_count++] = made;
    }
    pthread_mutex_unlock(&group->mutex);
    return status;
}

/* Another thread may allocate, which moves the list. */
void gd_group_get_inboxes(griddep_group *group, uint64_t inboxes[GD_GROUP_MOST])
{
    pthread_mutex_lock(&group->mutex);
    memcpy(inboxes, group->buffers[0].addresses, sizeof group->buffers[0].addresses);
    pthread_mutex_unlock(&group->mutex);
}

/* The member's own memory, counters of 0. */
static int32_t make_state(gd_group_member *member, griddep_error *error)
{
    griddep_runtime *runtime = member->runtime;
    void *record = NULL;
    int32_t status = griddep_memory_allocate(runtime, STATE_BYTES, &member->state, error);

    if (!status)
        status = griddep_memory_fill(runtime, member->state, 0, STATE_BYTES, NULL, error);
    if (!status)
        status = griddep_host_allocate(runtime, sizeof *member->record, GRIDDEP_HOST_PORTABLE,
                                       &record, error);
    if (status)
        return status;
    member->record = record;
    *member->record = 0;
    return GRIDDEP_OK;
}

/* ---- lifetime ---- */

static void free_memory(const griddep_group *group)
{
    for (uint32_t i = 0; i < group->buffer_count; i++)
        free_parts(group, &group->buffers[i]);
    for (uint32_t i = 0; i < group->count; i++) {
        const gd_group_member *member = &group->members[i];
        if (member->state)
            griddep_memory_free(member->runtime, member->state, NULL);
        if (member->record)
            griddep_host_free(member->runtime, member->record, NULL);
    }
}

/* A kernel of any member may still write to all of them: each device is done before anything is
 * freed. */
static void wait_for_members(const griddep_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        griddep_runtime *runtime = group->members[i].runtime;
        gd_ending ending;
        if (runtime && !gd_runtime_enter_to_end(runtime, &ending, NULL))
            gd_runtime_wait(runtime);
        if (runtime)
            gd_runtime_leave_ended(runtime, &ending);
    }
}

static size_t board_bytes(uint32_t count)
{
    return (size_t)count * GD_GROUP_PROGRAMS * sizeof(gd_group_page);
}

/* `abandoned` where nothing may be asked of the driver: then its memory stays until the process
 * ends. */
static void release(griddep_group *group, bool abandoned)
{
    if (atomic_fetch_sub_explicit(&group->references, 1u, memory_order_acq_rel) != 1)
        return;
    if (group->buffer_count && !abandoned)
        wait_for_members(group);
    gd_group_end_nccl(group, abandoned);
    if (group->buffer_count && !abandoned)
        free_memory(group);
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i].runtime)
            gd_runtime_forget(group->members[i].runtime, abandoned);
    }
    gd_meeting_close(group->meeting);
    if (group->board)
        munmap(group->board, board_bytes(group->count));
    if (group->mutex_ready)
        pthread_mutex_destroy(&group->mutex);
    free(group->members);
    free(group->buffers);
    free(group->steps);
    free(group);
}

griddep_group *gd_group_hold(griddep_group *group)
{
    atomic_fetch_add_explicit(&group->references, 1u, memory_order_relaxed);
    return group;
}

void gd_group_release(griddep_group *group)
{
    release(group, false);
}

static void end_module(void *group, bool abandoned)
{
    release(group, abandoned);
}

/* The program's part: what holds the group from now on makes no calls by it. */
static void end_handle(griddep_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        for (uint32_t k = 0; k < GD_GROUP_KERNELS; k++)
            griddep_module_unload(group->members[i].modules[k]);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i].runtime)
            gd_runtime_retire(group->members[i].runtime);
    }
    release(group, false);
}

/* ---- kernels ---- */

static const char *const kernel_names[GD_GROUP_KERNELS] = {"move", "sum_bf16", "sum_f16",
                                                           "sum_f32"};

static int32_t load(griddep_group *group, gd_group_member *member, uint32_t which,
                    griddep_error *error)
{
    const shelf_entry *entry = entries;

    while (strcmp(entry->name, kernel_names[which]) != 0)
        entry++;
    const griddep_module_options options = {.size = sizeof options, .name = entry->file};
    int32_t status = griddep_module_load(member->runtime, entry->text, entry->bytes, &options,
                                         &member->modules[which], error);
    if (!status)
        gd_module_at_end(member->modules[which], end_module, gd_group_hold(group));
    return status;
}

int32_t gd_group_get_kernel(griddep_group *group, uint32_t member, uint32_t which,
                            griddep_kernel **kernel, griddep_error *error)
{
    gd_group_member *own = &group->members[member];
    int32_t status = GRIDDEP_OK;

    pthread_mutex_lock(&group->mutex);
    if (!own->modules[which])
        status = load(group, own, which, error);
    if (!status)
        status =
            griddep_module_find_kernel(own->modules[which], kernel_names[which], kernel, error);
    pthread_mutex_unlock(&group->mutex);
    return status;
}

/* ---- failures ---- */

const char *gd_group_hop_name(int32_t operation)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                        "exchange"};

    return names[operation];
}

const char *gd_group_step_text(const gd_group_step *step, char text[64])
{
    static const char *const types[] = {"u8",  "u16", "u32", "s32", "u64",
                                        "s64", "f16", "f32", "f64", "bf16"};

    gd_format(text, 64, "%s of %" PRIu64 " %s", gd_group_hop_name(step->operation), step->count,
              types[step->type]);
    return text;
}

int32_t gd_group_read_records(const griddep_group *group, griddep_error *error)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const gd_group_member *member = &group->members[i];
        const uint64_t record = member->record ? *(const volatile uint64_t *)member->record : 0;
        const uint32_t number = (uint32_t)record >> 8;
        char text[64];
        if (record)
            return gd_error_set(error, GRIDDEP_ERROR_PEER,
                                "member %" PRIu32 " of the group waited for member %" PRIu32
                                " for %" PRIu32 " ms in %s, in vain",
                                i, ((uint32_t)record & 255) - 1, group->timeout_ms,
                                number < group->step_count
                                    ? gd_group_step_text(&group->steps[number], text)
                                    : "a hop");
    }
    return GRIDDEP_OK;
}

/* ---- opening ---- */

static int32_t read_options(griddep_group_options *options, const griddep_group_options *given,
                            griddep_error *error)
{
    static const griddep_group_options defaults = {.size = sizeof defaults};
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM,
                                    given ? given : &defaults, "griddep_group_options", error);

    if (status)
        return status;
    if (options->nccl < GRIDDEP_NCCL_AUTO || options->nccl > GRIDDEP_NCCL_ON)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "nccl is %" PRId32 ", which is no GRIDDEP_NCCL_*", options->nccl);
    if (options->flags & ~(uint32_t)GRIDDEP_GROUP_REMEMBER)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "flags is %" PRIu32 ", which is no GRIDDEP_GROUP_*", options->flags);
    if (options->flags && !options->nccl_bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "GRIDDEP_GROUP_REMEMBER, and nccl_bytes is 0");
    if (!options->timeout_ms)
        options->timeout_ms = DEFAULT_TIMEOUT_MS;
    if (!options->join_ms)
        options->join_ms = DEFAULT_JOIN_MS;
    return options->timeout_ms <= MOST_TIMEOUT_MS
               ? GRIDDEP_OK
               : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "timeout_ms is %" PRIu32 "; it may be %d at most",
                              options->timeout_ms, MOST_TIMEOUT_MS);
}

/* Parts of one size do not overlap. */
static bool are_apart(const griddep_runtime *a, const griddep_runtime *b)
{
    return a->device != b->device ||
           (a->part_size && a->part_size == b->part_size && a->part != b->part);
}

static int32_t check_pair(griddep_runtime *const *runtimes, uint32_t first, uint32_t second,
                          griddep_error *error)
{
    const griddep_runtime *a = runtimes[first], *b = runtimes[second];

    if (!are_apart(a, b))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "members %" PRIu32 " and %" PRIu32
                            " are both of device %d; each has a device of its own, or a part of "
                            "one, of the same size",
                            first, second, (int)a->device);
    if (strcmp(a->driver->path, b->driver->path) != 0)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "members %" PRIu32 " and %" PRIu32 " have different drivers, %s and %s",
                            first, second, a->driver->path, b->driver->path);
    return GRIDDEP_OK;
}

static int32_t check_runtimes(griddep_runtime *const *runtimes, uint32_t count,
                              griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (!runtimes || !count || count > GD_GROUP_MOST)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            runtimes ? "a group of %" PRIu32 " members; it may have 1 to %d"
                                     : "runtimes is NULL",
                            count, GD_GROUP_MOST);
    for (uint32_t i = 0; i < count && !status; i++) {
        if (!runtimes[i])
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "runtime %" PRIu32 " is NULL", i);
        if (runtimes[i]->info.capability < 90)
            return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                                "member %" PRIu32 " is sm_%" PRId32
                                "; the kernels of a group need sm_90 or newer",
                                i, runtimes[i]->info.capability);
        for (uint32_t j = 0; j < i && !status; j++)
            status = check_pair(runtimes, j, i, error);
    }
    return status;
}

static int32_t enable_peer(griddep_runtime *runtime, const griddep_runtime *peer,
                           griddep_error *error)
{
    bool pushed;
    int32_t status = gd_stream_begin(runtime, runtime, &pushed, error);

    if (status)
        return status;
    gd_CUresult result = runtime->driver->cuCtxEnablePeerAccess(peer->context, 0);
    if (result == GD_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        result = GD_CUDA_SUCCESS;
    return gd_stream_finish(runtime, pushed, result, NULL, "reaching another device's memory",
                            error);
}

/* Each member reaches each other one's memory. */
static int32_t connect_peers(griddep_group *group, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < group->count && !status; i++) {
        for (uint32_t j = 0; j < group->count && !status; j++) {
            if (i == j || group->members[i].runtime->device == group->members[j].runtime->device)
                continue;
            status = enable_peer(group->members[i].runtime, group->members[j].runtime, error);
            if (status)
                gd_error_append(error, " (member %" PRIu32 " to member %" PRIu32 ")", i, j);
        }
    }
    return status;
}

/* The first member makes the board; of several processes the others map its file. Those of several
 * machines have one each, and their own pages alone. */
static int32_t make_board(griddep_group *group, griddep_error *error)
{
    const size_t bytes = board_bytes(group->count);
    const gd_meeting_word own = {.values = {bytes}};
    gd_meeting_word words[GD_GROUP_MOST];
    int files[GD_GROUP_MOST], file = -1;
    const bool shared = group->meeting && !gd_meeting_is_remote(group->meeting);
    int32_t status = GRIDDEP_OK;

    if (shared && !group->rank) {
        file = memfd_create("griddep group", MFD_CLOEXEC);
        if (file >= 0 && ftruncate(file, (off_t)bytes)) {
            close(file);
            file = -1;
        }
    }
    if (shared) {
        status = gd_meeting_exchange(group->meeting, &own, file, words, files, error);
        for (uint32_t i = 0; i < group->count && !status; i++) {
            if (!i && group->rank)
                file = files[i];
            else if (files[i] >= 0)
                close(files[i]);
        }
        if (!status && (file < 0 || words[0].values[0] != bytes))
            status = gd_error_set(error, GRIDDEP_ERROR_PEER,
                                  "member 0 has no memory to share, or another version of this "
                                  "library");
    }
    void *board = status ? MAP_FAILED
                         : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | (shared ? 0 : MAP_ANONYMOUS), file, 0);
    if (file >= 0)
        close(file);
    if (board == MAP_FAILED)
        return status ? status : gd_error_memory(error);
    group->board = board;
    for (uint32_t i = 0; i < group->count; i++)
        group->members[i].pages = &group->board[(size_t)i * GD_GROUP_PROGRAMS];
    return GRIDDEP_OK;
}

/* What each member's device is: all differ, and hops have as many blocks as the smallest takes. */
static int32_t compare_devices(griddep_group *group, griddep_error *error)
{
    const griddep_runtime *runtime = group->members[group->rank].runtime;
    gd_meeting_word words[GD_GROUP_MOST],
        own = {.values = {(uint64_t)runtime->info.multiprocessors,
                          (uint64_t)runtime->info.capability, (uint64_t)group->nccl,
                          group->nccl_bytes, group->crossing}};
    int files[GD_GROUP_MOST];
    gd_CUuuid id = {{0}};

    if (runtime->driver->cuDeviceGetUuid)
        runtime->driver->cuDeviceGetUuid(&id, runtime->device);
    memcpy(own.id, id.bytes, sizeof own.id);
    int32_t status = gd_meeting_exchange(group->meeting, &own, -1, words, files, error);
    for (uint32_t i = 0; i < group->count && !status; i++) {
        if (files[i] >= 0)
            close(files[i]);
    }
    if (!status)
        group->crossing = words[0].values[4];
    for (uint32_t i = 0; i < group->count && !status; i++) {
        if (words[i].values[0] < group->multiprocessors)
            group->multiprocessors = (uint32_t)words[i].values[0];
        if (words[i].values[1] != own.values[1])
            status = gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                                  "member %" PRIu32 " is sm_%" PRIu64 ", this one sm_%" PRIu64
                                  ": they are no peers",
                                  i, words[i].values[1], own.values[1]);
        if (!status && memcmp(&words[i].values[2], &own.values[2], 2 * sizeof own.values[2]) != 0)
            status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                  "member %" PRIu32
                                  " says something else about nccl and nccl_bytes than this one",
                                  i);
        for (uint32_t k = 0; k < i && !status; k++) {
            if (!memcmp(words[i].id, words[k].id, sizeof own.id))
                status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                      "members %" PRIu32 " and %" PRIu32
                                      " are both of one device; each has a device of its own",
                                      k, i);
        }
    }
    return status;
}

/* NCCL serves members that are no peers, where it can. */
static int32_t part(griddep_group *group, int32_t why, const griddep_error *words,
                    griddep_error *error)
{
    griddep_error nccl = {.size = sizeof nccl};

    group->buffers = calloc(1, sizeof *group->buffers);
    if (!group->buffers)
        return gd_error_memory(error);
    group->buffer_count = 1; /* an inbox that nobody has */
    if (!gd_group_part(group, &nccl))
        return GRIDDEP_OK;
    gd_error_copy(error, words);
    gd_error_append(error, "; such members are served by NCCL alone: %s", nccl.text);
    return why;
}

/* `peers` is OK, or why the members are none, which `words` tells. */
static int32_t make_members(griddep_group *group, uint32_t own, int32_t peers, griddep_error *words,
                            griddep_error *error)
{
    uint32_t inbox;
    int32_t status = gd_group_check_nccl(group, error);

    if (!status)
        status = make_board(group, error);
    if (!status && !group->meeting)
        peers = connect_peers(group, words);
    if (!status && peers && group->nccl != GRIDDEP_NCCL_OFF)
        status = part(group, peers, words, error);
    else if (!status && peers)
        gd_error_copy(error, words);
    else if (!status)
        status = allocate(group, (uint64_t)INBOX_SETS * group->count * INBOX_ROW, &inbox, error);
    if (!status && peers && !group->apart)
        status = peers;
    for (uint32_t i = 0; i < own && !status; i++)
        status = make_state(&group->members[group->rank + i], error);
    return status;
}

/* A group with so many members of this process, from `rank` on; they are held. */
static int32_t make_group(griddep_runtime *const *runtimes, uint32_t own, uint32_t rank,
                          uint32_t count, const griddep_group_options *options,
                          griddep_group **group, griddep_error *error)
{
    griddep_group *made = calloc(1, sizeof *made);

    if (!made)
        return gd_error_memory(error);
    atomic_init(&made->references, 1u);
    made->timeout_ms = options->timeout_ms;
    made->nccl = options->nccl;
    made->nccl_bytes = options->nccl_bytes;
    made->crossing = gd_group_recall_crossing(runtimes[0]);
    made->rank = rank;
    made->multiprocessors = UINT32_MAX;
    made->members = calloc(count, sizeof *made->members);
    made->mutex_ready = !pthread_mutex_init(&made->mutex, NULL);
    if (!made->members || !made->mutex_ready) {
        release(made, true);
        return gd_error_memory(error);
    }
    made->count = count;
    for (uint32_t i = 0; i < own; i++) {
        const uint32_t its = (uint32_t)runtimes[i]->info.multiprocessors;
        made->members[rank + i].runtime = gd_runtime_hold(runtimes[i]);
        if (its < made->multiprocessors)
            made->multiprocessors = its;
    }
    *group = made;
    return GRIDDEP_OK;
}

/* ---- public ---- */

static int32_t check_given(const griddep_group *group, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    return status || group ? status : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "group is NULL");
}

int32_t griddep_group_open(griddep_runtime *const *runtimes, uint32_t count,
                           const griddep_group_options *given, griddep_group **group,
                           griddep_error *error)
{
    griddep_group_options options;
    griddep_error words = {.size = sizeof words};
    int32_t status = gd_error_check(error);

    if (!status && !group)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "group is NULL");
    if (!status)
        status = gd_host_check(error);
    if (!status)
        status = read_options(&options, given, error);
    if (!status)
        status = check_runtimes(runtimes, count, error);
    if (!status && options.flags)
        status = gd_group_remember_crossing(runtimes[0], options.nccl_bytes, error);
    griddep_group *made = NULL;
    if (!status)
        status = make_group(runtimes, count, 0, count, &options, &made, error);
    if (!status)
        status = make_members(made, count, GRIDDEP_OK, &words, error);
    if (!status)
        *group = made;
    else if (made)
        end_handle(made);
    return status;
}

int32_t griddep_group_join(griddep_runtime *runtime, uint32_t rank, uint32_t count,
                           const char *path, const griddep_group_options *given,
                           griddep_group **group, griddep_error *error)
{
    griddep_group_options options;
    griddep_group *made = NULL;
    griddep_error words = {.size = sizeof words};
    char launched[GD_LAUNCHED_PLACE];
    int32_t status = gd_error_check(error), peers = GRIDDEP_OK;

    if (!status && !group)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "group is NULL");
    if (!status && !path && (rank || count))
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "path is NULL; then the launcher tells rank and count, and the call "
                              "says 0 and 0");
    if (!status)
        status = gd_host_check(error);
    if (!status && !path) {
        status = gd_launched_read(&rank, &count, launched, error);
        path = launched;
    }
    if (!status)
        status = read_options(&options, given, error);
    if (!status && (!count || count > GD_GROUP_MOST || rank >= count))
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "member %" PRIu32 " of a group of %" PRIu32
                              "; it may have 1 to %d members, from 0 on",
                              rank, count, GD_GROUP_MOST);
    if (!status)
        status = check_runtimes(&runtime, 1, error);
    if (!status && options.flags)
        status = gd_group_remember_crossing(runtime, options.nccl_bytes, error);
    if (!status)
        status = make_group(&runtime, 1, rank, count, &options, &made, error);
    if (!status)
        status = gd_meeting_open(path, rank, count, options.join_ms, &made->meeting, error);
    if (!status && gd_meeting_is_remote(made->meeting))
        gd_meeting_listen(made->meeting, gd_group_hear, made);
    if (!status)
        peers = compare_devices(made, &words);
    if (!status && !peers && count > 1 && gd_meeting_is_remote(made->meeting))
        peers = gd_error_set(&words, GRIDDEP_ERROR_UNSUPPORTED,
                             "members that meet by TCP share no memory");
    if (!status && peers && peers != GRIDDEP_ERROR_UNSUPPORTED) {
        gd_error_copy(error, &words);
        status = peers;
    }
    if (!status)
        status = make_members(made, 1, peers, &words, error);
    if (!status)
        gd_meeting_joined(made->meeting);
    if (!status)
        *group = made;
    else if (made)
        end_handle(made);
    return status;
}

static void end_later(griddep_runtime *runtime, void *group)
{
    (void)runtime;
    griddep_group_close(group);
}

void griddep_group_close(griddep_group *group)
{
    if (group && !gd_host_put_off(group->members[group->rank].runtime, end_later, group, NULL))
        end_handle(group);
}

int32_t griddep_group_get_info(const griddep_group *group, griddep_group_info *info,
                               griddep_error *error)
{
    int32_t status = check_given(group, error);

    if (status)
        return status;
    const griddep_group_info known = {.size = sizeof known,
                                      .count = group->count,
                                      .timeout_ms = group->timeout_ms,
                                      .rank = group->rank,
                                      .nccl_bytes =
                                          group->nccl_bytes ? group->nccl_bytes : group->crossing};
    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_group_info", error);
}

int32_t griddep_group_allocate(griddep_group *group, uint64_t bytes, uint32_t *buffer,
                               griddep_error *error)
{
    int32_t status = check_given(group, error);

    if (!status && (!bytes || !buffer))
        status =
            gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, buffer ? "bytes is 0" : "buffer is NULL");
    if (!status && group->apart)
        status = gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                              "the group's members do not reach each other's memory");
    return status ? status : allocate(group, bytes, buffer, error);
}

int32_t griddep_group_get_address(griddep_group *group, uint32_t buffer, uint32_t member,
                                  uint64_t *address, griddep_error *error)
{
    int32_t status = check_given(group, error);

    if (!status && !address)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "address is NULL");
    if (!status && member >= group->count)
        status =
            gd_error_no_number(error, "the group", "", group->count, "member", "members", member);
    if (status)
        return status;
    pthread_mutex_lock(&group->mutex);
    if (buffer && buffer < group->buffer_count)
        *address = group->buffers[buffer].addresses[member];
    else
        status = gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                              "the group has buffers 1 to %" PRIu32 "; there is no buffer %" PRIu32,
                              group->buffer_count - 1, buffer);
    pthread_mutex_unlock(&group->mutex);
    return status;
}

int32_t griddep_group_status(const griddep_group *group, griddep_error *error)
{
    int32_t status = check_given(group, error);

    if (!status)
        status = gd_group_read_records(group, error);
    return status ? status : gd_group_ask_nccl(group, error);
}
