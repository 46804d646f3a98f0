/* Of each stream the last kernel and what came behind it; of each two kernels that follow each
 * other, how often they did. */
#include "attach/streams.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "attach/kernels.h"
#include "attach/lanes.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/place.h"
#include "attach/pointers.h"
#include "attach/process.h"
#include "attach/record.h"
#include "attach/times.h"
#include "griddep.h"

/* Launches in a row that start early; what stands before them waits for all before it. */
typedef struct early_row {
    bool loose;   /* one of them may end before what stands before it: it does not wait */
    bool widened; /* one became early: the program relied on its waiting for all */
} early_row;

typedef struct stream {
    uint64_t synchronized, default_work; /* as they were at the last launch */
    uint32_t last;                       /* kernel; GD_ATTACHED_NONE */
    uint32_t between;
    bool blocking;
    gd_attached_pair *pair; /* of the last launch; NULL */
    gd_pointers_row given;  /* what it and those before it were given */
    early_row row;
} stream;

static gd_map streams, pairs;

/* What a launch of a function in a stream came to the last time: one line of a cache in place of
 * tables. Behind a driver's call little of ours is near. */
typedef struct recent {
    gd_CUfunction function; /* NULL: none */
    gd_CUstream handle;
    uint64_t owner;
    gd_attached_kernel *kernel;
    stream *in;
    gd_attached_pair *pair; /* that it was the second of; NULL: none yet */
    uint32_t number;        /* of the kernel */
    uint32_t generation;
    bool has_plain, has_early; /* places */
    int8_t reason;             /* as gd_kernels_reason; -1: nobody has asked yet */
} recent;

enum { RECENTS = 1024 };
static recent recents[RECENTS] __attribute__((aligned(sizeof(recent))));
static uint32_t generation = 1; /* those of another one are over */

static uint64_t synchronized, default_work; /* how often */
static uint32_t open_captures;              /* atomic */
static early_row captured_row;              /* of all that is captured meanwhile */

/* NULL is one of the two default streams, of which each context, or each thread, has its own. */
gd_CUstream gd_streams_name(gd_CUstream handle, bool per_thread)
{
    if (handle)
        return handle;
    return per_thread ? GD_CU_STREAM_PER_THREAD : GD_CU_STREAM_LEGACY;
}

static bool is_default(gd_CUstream handle)
{
    return handle == GD_CU_STREAM_PER_THREAD || handle == GD_CU_STREAM_LEGACY;
}

uint64_t gd_streams_owner(gd_CUstream handle)
{
    gd_CUcontext context = NULL;

    if (!is_default(handle))
        return 0;
    if (handle == GD_CU_STREAM_PER_THREAD)
        return (uint64_t)(uintptr_t)pthread_self();
    GD_NEXT(cuCtxGetCurrent, &context);
    return (uint64_t)(uintptr_t)context;
}

bool gd_streams_have_capture(void)
{
    return __atomic_load_n(&open_captures, __ATOMIC_RELAXED) != 0;
}

/* What is captured runs later, and another time or never. */
static bool is_captured(gd_CUstream handle)
{
    gd_CUstreamCaptureStatus status = GD_CU_STREAM_CAPTURE_STATUS_NONE;

    if (!gd_streams_have_capture() || handle == GD_CU_STREAM_LEGACY)
        return false;
    return GD_NEXT(cuStreamIsCapturing, handle, &status) == GD_CUDA_SUCCESS &&
           status != GD_CU_STREAM_CAPTURE_STATUS_NONE;
}

bool gd_streams_is_blocking(gd_CUstream handle)
{
    unsigned int flags = 0;

    return handle != GD_CU_STREAM_LEGACY &&
           GD_NEXT(cuStreamGetFlags, handle, &flags) == GD_CUDA_SUCCESS &&
           !(flags & GD_CU_STREAM_NON_BLOCKING);
}

static stream *stream_of(gd_CUstream handle, uint64_t owner)
{
    const uint64_t key = (uint64_t)(uintptr_t)handle;
    stream *found = gd_map_find(&streams, key, owner);

    if (found || !(found = calloc(1, sizeof *found)))
        return found;
    found->last = GD_ATTACHED_NONE;
    found->blocking = gd_streams_is_blocking(handle);
    if (!gd_map_set(&streams, key, owner, found)) {
        free(found);
        return NULL;
    }
    return found;
}

static gd_attached_pair *pair_of(uint32_t first, uint32_t second, uint32_t between, bool early)
{
    const uint64_t kernels = (uint64_t)first << 32 | second;
    const uint64_t rest = (uint64_t)between << 1 | early;
    gd_attached_pair *pair = gd_map_find(&pairs, kernels, rest);

    if (pair)
        return pair;
    pair = gd_record_add(GD_ATTACHED_PAIR, sizeof *pair, "", NULL);
    pair->first = first;
    pair->second = second;
    pair->between = between;
    pair->early = early;
    gd_record_commit(pair, GD_ATTACHED_PAIR);
    gd_map_set(&pairs, kernels, rest, pair);
    return pair;
}

/* *last: the pair of the last time, or NULL. */
static void follow(stream *in, uint32_t kernel, bool early, gd_attached_pair **last)
{
    uint32_t between = in->between;

    if (in->synchronized != synchronized)
        between |= GD_ATTACHED_SYNCHRONIZED;
    if (in->blocking && in->default_work != default_work)
        between |= GD_ATTACHED_DEFAULT_STREAM;
    gd_attached_pair *pair = *last;
    if (!pair || pair->first != in->last || pair->second != kernel || pair->between != between ||
        pair->early != early)
        pair = *last = pair_of(in->last, kernel, between, early);
    pair->count++;
    in->pair = pair;
    in->last = kernel;
    in->between = 0;
    in->synchronized = synchronized;
    in->default_work = default_work;
}

/* Launches in streams are counted by pairs. */
static void count(gd_attached_kernel *kernel, const gd_seen_launch *launch, bool captured,
                  bool back)
{
    gd_attached_counts *counts = &kernel->counts;
    const uint64_t one = back ? UINT64_MAX : 1; /* it wraps around */

    counts->captured += one * captured;
    counts->trigger_events += one * launch->trigger_event;
    counts->begin_events += one * launch->begin_event;
    counts->cooperative += one * launch->cooperative;
    counts->changed += one * (launch->changed && !launch->held);
    counts->left += one * (launch->left || launch->held);
}

static void note_place(gd_attached_kernel *kernel, const gd_seen_launch *launch)
{
    uint32_t *place = launch->early ? &kernel->first_early : &kernel->first_plain;
    if (*place == GD_ATTACHED_NONE)
        *place = gd_place_record();
}

bool gd_streams_is_captured(const gd_seen_launch *launch)
{
    return is_captured(gd_streams_name(launch->config->hStream, launch->per_thread));
}

/* Only what a program does by itself is judged. */
static bool judges_pointers(void)
{
    return gd_process_settings()->early == GD_ATTACHED_EARLY_AS_IS;
}

/* A captured launch has no stream. NULL: nobody knows the kernel. */
static recent *find_recent(const gd_seen_launch *launch, gd_CUstream handle, uint64_t owner,
                           recent *other)
{
    const uint64_t key =
        ((uint64_t)(uintptr_t)launch->function ^ (uint64_t)(uintptr_t)handle << 7) *
        0x9e3779b97f4a7c15u;
    recent *found = &recents[(key >> 40) % RECENTS];
    uint32_t number;

    if (found->function == launch->function && found->handle == handle && found->owner == owner &&
        found->generation == generation)
        return found;
    *other = (recent){.function = launch->function, .handle = handle, .owner = owner, .reason = -1};
    other->kernel = gd_kernels_find(launch->function, launch->config, &number);
    other->in = stream_of(handle, owner);
    other->number = other->kernel ? number : GD_ATTACHED_NONE;
    other->generation = generation;
    if (!other->kernel || !other->in)
        return other;
    *found = *other;
    return found;
}

static void note_pointers(const recent *of, const gd_seen_launch *launch)
{
    gd_attached_pair *pair = of->pair;
    stream *in = of->in;
    gd_pointers made;

    if (!of->kernel || !judges_pointers() || !gd_pointers_next()) {
        in->given.count = 0;
        return;
    }
    gd_pointers_read(&made, of->kernel, pair->second, launch->function, launch->config,
                     launch->parameters, launch->extra);
    const bool follows = pair->early && !pair->between;
    pair->compared |= follows && in->given.count > 0;
    gd_pointers_follow(&in->given, &made, follows);
}

/* Whether a launch starts early, by what its kernel says (gd_kernels_reason) and what stands before
 * it. Who waits for a launch waits for what came before that one only if it waited itself. */
static void decide(gd_seen_launch *launch, int32_t reason, early_row *row)
{
    const bool waits = reason == GRIDDEP_REASON_SET || reason == GRIDDEP_REASON_RACE;

    if (launch->may_become_early) {
        launch->early = launch->changed = reason == GRIDDEP_REASON_SET && !row->loose;
        launch->left = waits && !launch->early;
    } else if (launch->early && row->widened && reason != GRIDDEP_REASON_SET) {
        launch->early = false;
        launch->changed = launch->held = true;
    }
    launch->is_on = launch->may_become_early = false;
    row->loose = launch->early && (row->loose || !waits);
    row->widened = launch->early && (row->widened || launch->changed);
}

static void note_launch(gd_seen_launch *launch, gd_CUstream handle, uint64_t owner)
{
    recent made, *of = find_recent(launch, handle, owner, &made);

    if (launch->is_on && of->in) {
        if (of->reason < 0)
            of->reason = (int8_t)gd_kernels_reason(launch->function);
        decide(launch, of->reason, &of->in->row);
    }
    if (of->kernel && !(launch->early ? of->has_early : of->has_plain)) {
        note_place(of->kernel, launch);
        of->has_early |= launch->early;
        of->has_plain |= !launch->early;
    }
    if (of->kernel && (launch->trigger_event | launch->begin_event | launch->cooperative |
                       launch->changed | launch->left))
        count(of->kernel, launch, false, false);
    if (of->in) {
        follow(of->in, of->number, launch->early, &of->pair);
        note_pointers(of, launch);
    }
    if (handle == GD_CU_STREAM_LEGACY)
        default_work++;
}

/* What it follows may be of another stream: what holds of one captured launch holds of all behind
 * it. */
static void decide_captured(gd_seen_launch *launch)
{
    const early_row before = captured_row;

    decide(launch, gd_kernels_reason(launch->function), &captured_row);
    captured_row.loose |= before.loose;
    captured_row.widened |= before.widened;
}

static void note_captured(gd_seen_launch *launch)
{
    uint32_t number;
    gd_attached_kernel *kernel = gd_kernels_find(launch->function, launch->config, &number);

    if (launch->is_on)
        decide_captured(launch);
    if (!kernel)
        return;
    count(kernel, launch, true, false);
    note_place(kernel, launch);
}

void gd_streams_launch(gd_seen_launch *launch)
{
    const gd_CUstream handle = gd_streams_name(launch->config->hStream, launch->per_thread);
    const uint64_t owner = gd_streams_owner(handle);
    const bool captured = is_captured(handle);
    int kept;

    if (!gd_process_lock(&kept))
        return;
    if (captured)
        note_captured(launch);
    else
        note_launch(launch, handle, owner);
    gd_process_unlock(kept);
}

/* Its place stays. */
static void take_back(const gd_seen_launch *launch, gd_CUstream handle, uint64_t owner)
{
    recent made;
    const recent *of = find_recent(launch, handle, owner, &made);

    if (of->kernel)
        count(of->kernel, launch, false, true);
    if (!of->in || !of->pair || !of->pair->count)
        return;
    of->pair->count--;
    of->in->last = of->pair->first;
    of->in->between |= of->pair->between;
}

void gd_streams_take_back(const gd_seen_launch *launch)
{
    const gd_CUstream handle = gd_streams_name(launch->config->hStream, launch->per_thread);
    const uint64_t owner = gd_streams_owner(handle);
    const bool captured = is_captured(handle);
    uint32_t number;
    int kept;

    if (!gd_process_lock(&kept))
        return;
    gd_attached_kernel *kernel = gd_kernels_find(launch->function, launch->config, &number);
    if (!captured)
        take_back(launch, handle, owner);
    else if (kernel)
        count(kernel, launch, true, true);
    gd_process_unlock(kept);
}

gd_attached_pair *gd_streams_last_pair(gd_CUstream named, uint64_t owner)
{
    const stream *in = gd_map_find(&streams, (uint64_t)(uintptr_t)named, owner);

    return in ? in->pair : NULL;
}

void gd_streams_renew(void)
{
    generation++;
}

void gd_streams_work(gd_CUstream given, bool per_thread, uint32_t bit, gd_CUevent event)
{
    const gd_CUstream handle = gd_streams_name(given, per_thread);
    const uint64_t owner = gd_streams_owner(handle);
    int kept;

    if (is_captured(handle) || !gd_process_lock(&kept))
        return;
    stream *in = stream_of(handle, owner);
    if (in)
        in->between |= bit;
    gd_lanes_work(handle, bit, event);
    if (bit == GD_ATTACHED_SYNCHRONIZED)
        gd_times_take();
    else if (handle == GD_CU_STREAM_LEGACY)
        default_work++;
    gd_process_unlock(kept);
}

void gd_streams_synchronized(void)
{
    synchronized++;
    gd_lanes_all();
    gd_times_take();
}

void gd_streams_end(gd_CUstream handle)
{
    const uint64_t key = (uint64_t)(uintptr_t)handle;

    free(gd_map_find(&streams, key, 0));
    gd_map_remove(&streams, key, 0);
    gd_streams_renew();
}

void gd_streams_capture(bool begins)
{
    const uint32_t open = __atomic_load_n(&open_captures, __ATOMIC_RELAXED);

    if (!begins && open == 1)
        captured_row = (early_row){0};
    if (begins || open)
        __atomic_store_n(&open_captures, begins ? open + 1 : open - 1, __ATOMIC_RELAXED);
}

void gd_streams_forget(void)
{
    for (size_t i = 0; i < streams.capacity; i++)
        free(streams.slots[i].value);
    gd_map_free(&streams);
    gd_map_free(&pairs);
    memset(recents, 0, sizeof recents);
    synchronized = default_work = 0;
    open_captures = 0;
    captured_row = (early_row){0};
}
