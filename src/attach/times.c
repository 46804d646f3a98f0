/* Launches that are on their way, the oldest first; events that are free again. */
#include "attach/times.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/process.h"
#include "attach/record.h"
#include "attach/spans.h"

/* No more launches than that are waited for: the ones behind are not timed. */
enum { MOST_WAITING = 4096, TAKEN_EACH = 64 };

/* Work that never ends must not keep the program from ending. */
enum { LONGEST_WAIT = 2000000000, PAUSE = 20000 }; /* nanoseconds */

typedef struct waiting {
    gd_time_pair pair;
    uint32_t kernel;  /* GD_ATTACHED_NONE: a graph */
    const char *name; /* of it, in its record */
    uint64_t stream, owner;
    gd_attached_pair *follows; /* that it is the second of, with nothing between; NULL */
} waiting;

/* Of a stream: when its last launch ended, on the clock of its context's origin. */
typedef struct last_end {
    uint64_t time; /* nanoseconds */
} last_end;

/* An event of a context, and when it was: what others are measured from. A float has few digits, so
 * that another one takes its place soon. */
typedef struct origin {
    gd_CUevent event;
    uint64_t time; /* nanoseconds */
} origin;

static const float longest_ms = 100;

static struct {
    waiting ring[MOST_WAITING];
    uint32_t first, count;
    gd_time_pair free[MOST_WAITING];
    uint32_t free_count;
    gd_map records; /* kernel + 1 -> gd_attached_times */
    gd_map origins; /* by context */
    gd_map ends;    /* by stream and context */
    bool at_exit;
} times;

static void end_pair(const gd_time_pair *pair)
{
    if (pair->begin)
        GD_NEXT(cuEventDestroy_v2, pair->begin);
    if (pair->end)
        GD_NEXT(cuEventDestroy_v2, pair->end);
}

static void keep_pair(const gd_time_pair *pair)
{
    if (times.free_count < MOST_WAITING)
        times.free[times.free_count++] = *pair;
    else
        end_pair(pair);
}

static gd_attached_times *record_of(uint32_t kernel)
{
    gd_attached_times *record = gd_map_find(&times.records, (uint64_t)kernel + 1, 0);

    if (record)
        return record;
    record = gd_record_add(GD_ATTACHED_TIMES, sizeof *record, "", NULL);
    record->kernel = kernel;
    record->stride = 1;
    gd_record_commit(record, GD_ATTACHED_TIMES);
    gd_map_set(&times.records, (uint64_t)kernel + 1, 0, record);
    return record;
}

/* Each stride-th time is kept; when there is no room every other one of them is. */
static void add_time(gd_attached_times *record, float us)
{
    if (record->count % record->stride == 0) {
        if (record->kept == GD_ATTACHED_SAMPLES) {
            for (uint32_t i = 0; i < GD_ATTACHED_SAMPLES / 2; i++)
                record->us[i] = record->us[2 * i];
            record->kept = GD_ATTACHED_SAMPLES / 2;
            record->stride *= 2;
        }
        record->us[record->kept++] = us;
    }
    record->count++;
    record->total_us += (double)us;
}

static uint64_t read_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The first event of a context is its origin from here on, and the pair's no more. */
static origin *origin_of(gd_time_pair *pair)
{
    const uint64_t key = (uint64_t)(uintptr_t)pair->context;
    origin *found = gd_map_find(&times.origins, key, 0);

    if (found || !(found = calloc(1, sizeof *found)))
        return found;
    *found = (origin){.event = pair->begin, .time = read_clock()};
    if (!gd_map_set(&times.origins, key, 0, found)) {
        free(found);
        return NULL;
    }
    pair->begin = NULL;
    return found;
}

static bool find_begin(waiting *of, uint64_t *begin)
{
    float since = 0;
    origin *from = origin_of(&of->pair);

    if (!from ||
        (of->pair.begin && GD_NEXT(cuEventElapsedTime, &since, from->event, of->pair.begin) != 0))
        return false;
    *begin = from->time + (uint64_t)(int64_t)(1e6 * (double)since + 0.5);
    if (since < longest_ms)
        return true;
    GD_NEXT(cuEventDestroy_v2, from->event);
    *from = (origin){.event = of->pair.begin, .time = *begin};
    of->pair.begin = NULL;
    return true;
}

/* The time since the launch before it in its stream, where both follow each other directly. */
static void add_gap(const waiting *of, uint64_t begin, uint64_t end)
{
    last_end *last = gd_map_find(&times.ends, of->stream, of->owner);

    if (last && of->follows && begin >= last->time) {
        of->follows->timed++;
        of->follows->between_us += 1e-3 * (double)(begin - last->time);
    }
    if (!last && (last = calloc(1, sizeof *last)) &&
        !gd_map_set(&times.ends, of->stream, of->owner, last)) {
        free(last);
        last = NULL;
    }
    if (last)
        last->time = end;
}

static void add(waiting *of)
{
    float ms = 0;

    if (GD_NEXT(cuEventElapsedTime, &ms, of->pair.begin, of->pair.end))
        return;
    uint64_t begin;
    const bool has_begin = find_begin(of, &begin);
    const uint64_t end = has_begin ? begin + (uint64_t)(1e6 * (double)ms + 0.5) : 0;
    if (!gd_process_settings()->spans)
        add_time(record_of(of->kernel), 1e3f * ms);
    if (has_begin && gd_process_settings()->spans)
        gd_spans_add(of->name, of->stream, of->owner, begin, end, of->kernel == GD_ATTACHED_NONE);
    else if (has_begin)
        add_gap(of, begin, end);
}

/* Questions need a current context, and a program that ends may have none. */
static bool push_context(void)
{
    gd_CUcontext current = NULL;

    return times.count && GD_NEXT(cuCtxGetCurrent, &current) == GD_CUDA_SUCCESS && !current &&
           GD_NEXT(cuCtxPushCurrent_v2, times.ring[times.first].pair.context) == GD_CUDA_SUCCESS;
}

static void take_ended(void)
{
    while (times.count) {
        waiting *oldest = &times.ring[times.first];
        const gd_CUresult result = GD_NEXT(cuEventQuery, oldest->pair.end);
        if (result == GD_CUDA_ERROR_NOT_READY)
            return;
        if (result == GD_CUDA_SUCCESS)
            add(oldest);
        keep_pair(&oldest->pair);
        times.first = (times.first + 1) % MOST_WAITING;
        times.count--;
    }
}

void gd_times_take(void)
{
    gd_CUcontext popped;

    gd_spans_take();
    if (gd_streams_have_capture())
        return; /* a question would spoil it */
    const bool pushed = push_context();
    take_ended();
    if (pushed)
        GD_NEXT(cuCtxPopCurrent_v2, &popped);
}

void gd_times_wait(void)
{
    const uint64_t until = read_clock() + LONGEST_WAIT;
    bool waits = true;
    int kept;

    while (waits && read_clock() < until && gd_process_lock(&kept)) {
        gd_times_take();
        waits = times.count && !gd_streams_have_capture();
        gd_process_unlock(kept);
        if (waits)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
}

static void forget_ends(void)
{
    for (size_t i = 0; i < times.ends.capacity; i++)
        free(times.ends.slots[i].value);
    gd_map_free(&times.ends);
}

void gd_times_end_events(void)
{
    gd_times_take();
    if (times.count)
        gd_process_say("the program ended its context before all launches had ended: they are not "
                       "timed");
    for (; times.count; times.count--) {
        end_pair(&times.ring[times.first].pair);
        times.first = (times.first + 1) % MOST_WAITING;
    }
    while (times.free_count)
        end_pair(&times.free[--times.free_count]);
    for (size_t i = 0; i < times.origins.capacity; i++) {
        origin *each = times.origins.slots[i].value;
        if (each)
            GD_NEXT(cuEventDestroy_v2, each->event);
        free(each);
    }
    gd_map_free(&times.origins);
    forget_ends();
}

/* Before the driver's own handlers run, which were there earlier. */
static void take_last(void)
{
    int kept;

    if (!gd_process_enter())
        return;
    if (gd_process_lock(&kept)) {
        gd_times_take();
        gd_process_unlock(kept);
    }
    gd_process_leave();
}

static gd_time_pair take_free(gd_CUcontext context)
{
    for (uint32_t i = times.free_count; i > 0; i--) {
        const gd_time_pair found = times.free[i - 1];
        if (found.context != context)
            continue;
        times.free[i - 1] = times.free[--times.free_count];
        return found;
    }
    return (gd_time_pair){.context = context};
}

static gd_time_pair find_pair(void)
{
    gd_CUcontext context = NULL;
    gd_time_pair pair = {0};
    int kept;

    if (GD_NEXT(cuCtxGetCurrent, &context) || !gd_process_lock(&kept))
        return pair;
    if (times.count >= TAKEN_EACH)
        gd_times_take();
    if (times.count < MOST_WAITING)
        pair = take_free(context);
    if (!times.at_exit)
        times.at_exit = atexit(take_last) == 0;
    gd_process_unlock(kept);
    return pair;
}

static bool may_stand(gd_CUstream stream)
{
    gd_CUstreamCaptureStatus status = GD_CU_STREAM_CAPTURE_STATUS_NONE;

    return !gd_streams_have_capture() &&
           GD_NEXT(cuStreamIsCapturing, stream, &status) == GD_CUDA_SUCCESS &&
           status == GD_CU_STREAM_CAPTURE_STATUS_NONE;
}

static bool is_made(gd_time_pair *pair)
{
    return (pair->begin || !GD_NEXT(cuEventCreate, &pair->begin, GD_CU_EVENT_DEFAULT)) &&
           (pair->end || !GD_NEXT(cuEventCreate, &pair->end, GD_CU_EVENT_DEFAULT));
}

gd_time_pair gd_times_begin(const gd_seen_launch *launch)
{
    const gd_CUstream stream = gd_streams_name(launch->config->hStream, launch->per_thread);
    gd_time_pair pair = {0};

    if (!gd_process_settings()->times || gd_spans_are_told() || !may_stand(stream))
        return pair;
    pair = find_pair();
    if (pair.context && is_made(&pair) && !GD_NEXT(cuEventRecord, pair.begin, stream))
        return pair;
    end_pair(&pair);
    return (gd_time_pair){0};
}

void gd_times_end(gd_time_pair pair, const gd_seen_launch *launch, gd_CUresult result)
{
    const gd_CUstream stream = gd_streams_name(launch->config->hStream, launch->per_thread);
    waiting made = {.pair = pair,
                    .kernel = GD_ATTACHED_NONE,
                    .name = "",
                    .stream = (uint64_t)(uintptr_t)stream,
                    .owner = (uint64_t)(uintptr_t)pair.context};
    const gd_attached_kernel *kernel = NULL;
    int kept;

    if (!pair.begin)
        return;
    const bool good =
        result == GD_CUDA_SUCCESS && GD_NEXT(cuEventRecord, pair.end, stream) == GD_CUDA_SUCCESS;
    if (!gd_process_lock(&kept))
        return;
    if (good && launch->function)
        kernel = gd_kernels_find(launch->function, launch->config, &made.kernel);
    if (kernel) {
        made.name = kernel->name;
        made.follows = gd_streams_last_pair(stream, gd_streams_owner(stream));
    }
    if (made.follows && made.follows->between)
        made.follows = NULL;
    if (good && (kernel || !launch->function) && times.count < MOST_WAITING)
        times.ring[(times.first + times.count++) % MOST_WAITING] = made;
    else
        keep_pair(&pair);
    gd_process_unlock(kept);
}

void gd_times_forget(void)
{
    forget_ends();
    gd_map_free(&times.records);
    gd_map_free(&times.origins); /* of what the parent has */
    times.count = times.free_count = 0;
}
