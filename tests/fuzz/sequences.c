/* Random sequences of all public calls on the emulated driver: objects are ended in any order, on
 * any thread, inside of captures and with work in flight.
 *
 *   sequences [--seed N] [--count N] [--steps N] [--threads N]   sequences N, N + 1, ...
 *   sequences --print --seed N       prints one of them, call by call
 *   sequences --minimize N           prints the steps of a failing one that matter
 *   sequences ... --counts           also prints of each function how often it was called and,
 *                                    where it returns a status, how often it succeeded and failed
 *
 * What must hold, whatever a sequence does: nothing crashes; a call returns a status that exists,
 * writes its error when it fails and only then, leaves outputs alone when it fails, and leaves the
 * calling thread's context as it was; a graph that a program captured can be instantiated and
 * launched after all else has been ended; and when all has been ended the driver has no object
 * left. ASan sees the rest, and TSan with --threads: threads then share what the header says they
 * may.
 *
 * Each step draws its numbers from the seed and its own place, so that a sequence without some of
 * its steps is still much the same. */
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator/schedule/device.h"
#include "emulator/schedule/object.h"
#include "sequences.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_LEAK_CHECK 1
#endif
#ifdef HAS_LEAK_CHECK
int __lsan_do_recoverable_leak_check(void);
#endif

enum { MOST_STEPS = 400, MOST_THREADS = 8, LEAK_CHECKS = 1000 };
#define MOST_WORK "1048576" /* instructions of a CTA, and 1024 for each round of a while node */

struct world {
    pthread_mutex_t mutex; /* guards items, users and graphs' users */
    item items[ITEM_KINDS][PLACES];
    bool graph_written[MOST_GRAPHS];
    uint32_t graph_count;
    bool noted[CAPTURE_NOTES];
};

static struct {
    uint64_t seed, count;
    uint32_t steps, threads;
    bool prints;
    bool skip[MOST_STEPS];
    uint64_t sequence; /* that runs */
    gd_CUcontext context;
} run = {.count = 1000, .steps = 60, .threads = 1};

static uint64_t calls[PUBLIC_CALLS];
static uint64_t succeeded[PUBLIC_CALLS], failed[PUBLIC_CALLS]; /* of those that return a status */
static const char *const public_names[] = {
#define GD_PUBLIC(name) #name,
#include "tests/fuzz/sequences_public.inc"
#undef GD_PUBLIC
};
static __thread public_call last_call;

void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "sequence %" PRIu64 ", %s: ", run.sequence, public_names[last_call]);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    abort();
}

/* ---- numbers ---- */

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t below(actor *by, uint32_t limit)
{
    return (uint32_t)((next(&by->random) >> 32) * limit >> 32);
}

bool one_in(actor *by, uint32_t count)
{
    return below(by, count) == 0;
}

/* ---- what is held ---- */

static bool usable(const item *each, bool alone)
{
    return !each->exclusive && each->handle && !(alone && each->users);
}

static void take(actor *by, item *each, bool alone)
{
    if (by->taken_count == sizeof by->taken / sizeof *by->taken)
        fail("a step takes too much");
    if (alone)
        each->exclusive = true;
    else
        each->users++;
    by->taken[by->taken_count] = each;
    by->taken_alone[by->taken_count++] = alone;
}

/* A kernel is there as long as its module; nobody may end that meanwhile. */
static item *module_of(actor *by, const item *kernel)
{
    item *module = &by->world->items[ITEM_MODULE][kernel->module];

    return usable(module, false) && module->number == kernel->module_number ? module : NULL;
}

item *pick(actor *by, item_kind kind, bool alone)
{
    uint32_t first = below(by, PLACES);
    item *found = NULL;

    pthread_mutex_lock(&by->world->mutex);
    for (uint32_t i = 0; i < PLACES && !found; i++) {
        item *each = &by->world->items[kind][(first + i) % PLACES];
        if (!usable(each, alone))
            continue;
        item *module = kind == ITEM_KERNEL ? module_of(by, each) : NULL;
        if (kind == ITEM_KERNEL && !module)
            continue;
        if (module)
            take(by, module, false);
        take(by, each, alone);
        found = each;
    }
    pthread_mutex_unlock(&by->world->mutex);
    return found;
}

uint32_t index_of(actor *by, const item *module)
{
    return (uint32_t)(module - by->world->items[ITEM_MODULE]);
}

item *place(actor *by, item_kind kind)
{
    item *found = NULL;

    pthread_mutex_lock(&by->world->mutex);
    for (uint32_t i = 0; i < PLACES && !found; i++) {
        item *each = &by->world->items[kind][i];
        if (each->exclusive || each->users)
            continue;
        const item *module = &by->world->items[ITEM_MODULE][each->module];
        bool gone =
            kind == ITEM_KERNEL && !module->exclusive && module->number != each->module_number;
        if (each->handle && !gone)
            continue;
        *each = (item){.number = each->number + 1};
        take(by, each, true);
        found = each;
    }
    pthread_mutex_unlock(&by->world->mutex);
    return found;
}

void empty(item *ended)
{
    ended->handle = NULL;
    ended->number++;
}

bool take_graph(actor *by, item *graph)
{
    world *of = by->world;
    const uint64_t bit = UINT64_C(1) << graph->graph;

    pthread_mutex_lock(&of->mutex);
    const bool mine = by->graphs_written & bit, free = mine || !of->graph_written[graph->graph];
    if (free)
        of->graph_written[graph->graph] = true;
    by->graphs_written |= free ? bit : 0;
    pthread_mutex_unlock(&of->mutex);
    return free;
}

bool number_graph(actor *by, item *graph)
{
    bool room;

    pthread_mutex_lock(&by->world->mutex);
    room = by->world->graph_count < MOST_GRAPHS;
    if (room)
        graph->graph = by->world->graph_count++;
    pthread_mutex_unlock(&by->world->mutex);
    return room;
}

/* At the end of a step. */
static void give_back(actor *by)
{
    world *of = by->world;

    pthread_mutex_lock(&of->mutex);
    for (uint32_t i = 0; i < by->taken_count; i++) {
        if (by->taken_alone[i])
            by->taken[i]->exclusive = false;
        else
            by->taken[i]->users--;
    }
    for (uint32_t i = 0; i < MOST_GRAPHS; i++) {
        if (by->graphs_written >> i & 1)
            of->graph_written[i] = false;
    }
    pthread_mutex_unlock(&of->mutex);
    by->taken_count = 0;
    by->graphs_written = 0;
}

/* ---- calls ---- */

void note(actor *by, public_call which)
{
    __atomic_fetch_add(&calls[which], 1, __ATOMIC_RELAXED);
    last_call = which;
    if (by->prints)
        fprintf(stderr, "    %s\n", public_names[which]);
}

griddep_error *fresh_error(actor *by)
{
    by->error = (griddep_error){.size = sizeof by->error};
    return one_in(by, 4) ? NULL : &by->error;
}

int32_t check_status(actor *by, int32_t status)
{
    gd_CUcontext current;

    if (status > 0 || (status && !strcmp(griddep_status_name(status), "GRIDDEP_ERROR_UNKNOWN")))
        fail("status %" PRId32 " does not exist", status);
    if (status == GRIDDEP_OK && by->error.status)
        fail("the error of a call that succeeded is written: %s", by->error.text);
    if (status && by->error.status && by->error.status != status)
        fail("status %" PRId32 ", but %" PRId32 " in the error", status, by->error.status);
    cuCtxGetCurrent(&current);
    if (current)
        fail("a context is left current");
    __atomic_fetch_add(status ? &failed[last_call] : &succeeded[last_call], 1, __ATOMIC_RELAXED);
    if (by->prints && status)
        fprintf(stderr, "        %s: %s\n", griddep_status_name(status),
                by->error.status ? by->error.text : "");
    by->error.status = GRIDDEP_OK; /* not every call has an error */
    return status;
}

void enter_driver(actor *by)
{
    (void)by;
    cuCtxSetCurrent(run.context);
}

void leave_driver(actor *by)
{
    (void)by;
    cuCtxSetCurrent(NULL);
}

void note_capture(actor *by, capture_note what)
{
    __atomic_store_n(&by->world->noted[what], true, __ATOMIC_RELAXED);
}

bool context_is_lost(void)
{
    cuCtxSetCurrent(run.context);
    gd_CUresult result = cuCtxSynchronize();
    cuCtxSetCurrent(NULL);
    return result != GD_CUDA_SUCCESS && result != GD_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- a sequence ---- */

static uint64_t seed_of(uint64_t sequence, uint64_t part)
{
    uint64_t state = sequence * 0x2545f4914f6cdd1du + part;

    return next(&state);
}

static void step(actor *by, uint32_t index)
{
    uint32_t all = 0, drawn, of_thread = index % run.steps;

    by->random = seed_of(run.sequence, index);
    for (uint32_t i = 0; i < step_kind_count; i++)
        all += step_kinds[i].weight;
    drawn = below(by, all);
    const step_kind *kind = step_kinds;
    for (; drawn >= kind->weight; kind++)
        drawn -= kind->weight;
    if (of_thread < first_step_count)
        kind = &first_steps[of_thread];
    if (by->prints)
        fprintf(stderr, "step %" PRIu32 ": %s\n", index, kind->name);
    kind->take(by);
    give_back(by);
}

typedef struct worker {
    actor actor;
    pthread_t thread;
    uint32_t first;
} worker;

static void *work(void *argument)
{
    worker *self = argument;

    for (uint32_t i = 0; i < run.steps; i++) {
        if (!run.skip[self->first + i])
            step(&self->actor, self->first + i);
    }
    return NULL;
}

/* All that is left, in random order. True: a captured graph may have outlived all handles of a
 * runtime. */
static bool end_all(world *of, bool prints)
{
    bool outlives;
    actor by = {.world = of, .random = seed_of(run.sequence, MOST_STEPS), .prints = prints};
    item *left[ITEM_KINDS * PLACES];
    uint32_t count = 0;

    if (prints)
        fprintf(stderr, "end of all\n");
    if (one_in(&by, 2)) {
        for (uint32_t i = 0; i < PLACES; i++)
            end_open_capture(&by, &of->items[ITEM_STREAM][i]);
    } else {
        of->noted[CAPTURE_OPEN] = of->noted[CAPTURE_BEGINS];
    }
    outlives = of->noted[CAPTURED_BY_PROGRAM] || of->noted[CAPTURE_OPEN] ||
               (of->noted[CAPTURE_BEGINS] && of->noted[RUNTIME_ENDS]);
    for (uint32_t i = 0; i < ITEM_KINDS * PLACES; i++) {
        if (of->items[i / PLACES][i % PLACES].handle)
            left[count++] = &of->items[i / PLACES][i % PLACES];
    }
    while (count) {
        uint32_t chosen = below(&by, count);
        item *ended = left[chosen];
        left[chosen] = left[--count];
        end_item(&by, (item_kind)((size_t)(ended - &of->items[0][0]) / PLACES), ended);
        give_back(&by);
    }
    return outlives;
}

static const char *kind_name(gd_object_kind kind)
{
    static const char *const names[] = {
        [GD_OBJECT_CONTEXT] = "context",    [GD_OBJECT_MODULE] = "module",
        [GD_OBJECT_FUNCTION] = "function",  [GD_OBJECT_LIBRARY] = "library",
        [GD_OBJECT_KERNEL] = "kernel",      [GD_OBJECT_LINK] = "link",
        [GD_OBJECT_STREAM] = "stream",      [GD_OBJECT_EVENT] = "event",
        [GD_OBJECT_GRAPH] = "graph",        [GD_OBJECT_NODE] = "node",
        [GD_OBJECT_POOL] = "pool",          [GD_OBJECT_EXECUTABLE] = "executable",
        [GD_OBJECT_GREEN] = "green context"};

    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "object";
}

/* What belongs to a context that a kernel has ended, or that the library let go of when a program
 * had ended all handles before a graph that it captured, goes with the context; libraries, which
 * are of none, with the process. */
static void renew_context(void)
{
    uint32_t place_of = 0;

    for (gd_object *object; (object = gd_object_next(&place_of));) {
        if (object->kind == GD_OBJECT_LIBRARY)
            cuLibraryUnload(object->handle);
    }
    cuDevicePrimaryCtxReset_v2(0);
    while (cuDevicePrimaryCtxRelease_v2(0) == GD_CUDA_SUCCESS)
        ;
    if (cuDevicePrimaryCtxRetain(&run.context, 0) != GD_CUDA_SUCCESS)
        fail("the primary context cannot be retained");
}

/* The driver has nothing left but the context with its default streams. */
static void check_driver(void)
{
    uint32_t place_of = 0;

    for (gd_object *object; (object = gd_object_next(&place_of));) {
        const gd_context *context = object->context;
        bool kept = object->kind == GD_OBJECT_CONTEXT || object->kind == GD_OBJECT_POOL ||
                    (context && ((gd_object *)context->legacy == object ||
                                 (gd_object *)context->per_thread == object));
        if (!kept)
            fail("the driver is left with a %s", kind_name(object->kind));
    }
}

static void run_sequence(uint64_t sequence)
{
    world of = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    worker workers[MOST_THREADS];

    run.sequence = sequence;
    for (uint32_t i = 0; i < run.threads; i++)
        workers[i] =
            (worker){.actor = {.world = &of, .prints = run.prints}, .first = i * run.steps};
    for (uint32_t i = 1; i < run.threads; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            fail("no thread");
    }
    work(&workers[0]);
    for (uint32_t i = 1; i < run.threads; i++)
        pthread_join(workers[i].thread, NULL);
    bool outlives = end_all(&of, run.prints);
    if (outlives || context_is_lost())
        renew_context();
    check_driver();
    if (gd_the_emulator.devices[0].primary_retains != 1)
        fail("the primary context is retained %u times",
             gd_the_emulator.devices[0].primary_retains);
}

#ifdef HAS_LEAK_CHECK
static void check_leaks(void)
{
    if (__lsan_do_recoverable_leak_check())
        fail("memory has leaked, in this sequence or up to %d before it", LEAK_CHECKS);
}
#else
static void check_leaks(void)
{
}
#endif

char ptx_path[32];

/* It is gone with the process. */
static void write_ptx(void)
{
    FILE *file = tmpfile();

    if (!file || fputs(ptx_texts[0], file) < 0 || fflush(file))
        fail("no file for PTX can be written");
    snprintf(ptx_path, sizeof ptx_path, "/proc/self/fd/%d", fileno(file));
}

static void run_all(void)
{
    setenv("GRIDDEP_EMULATOR_STEPS", MOST_WORK, 0); /* a while node that nobody ends is short */
    if (cuInit(0) != GD_CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&run.context, 0) != GD_CUDA_SUCCESS)
        fail("the emulated driver does not start");
    for (uint64_t i = 0; i < run.count; i++) {
        run_sequence(run.seed + i);
        if ((i + 1) % LEAK_CHECKS == 0)
            check_leaks();
    }
    cuDevicePrimaryCtxRelease_v2(0);
    check_leaks();
}

/* ---- the command ---- */

/* Whether the sequence fails in a process of its own. */
static bool fails(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        alarm(60);
        run_all();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status != 0;
}

static int minimize(void)
{
    bool less = true;

    run.count = 1;
    if (!fails()) {
        fprintf(stderr, "sequence %" PRIu64 " does not fail\n", run.seed);
        return 1;
    }
    while (less) {
        less = false;
        for (uint32_t i = 0; i < run.steps * run.threads; i++) {
            if (run.skip[i])
                continue;
            run.skip[i] = true;
            if (fails())
                less = true;
            else
                run.skip[i] = false;
        }
    }
    run.prints = true;
    run_all();
    return 0;
}

static void tell_counts(void)
{
    for (uint32_t i = 0; i < PUBLIC_CALLS; i++)
        printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", public_names[i], calls[i], succeeded[i],
               failed[i]);
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"seed", 1, NULL, 's'},     {"count", 1, NULL, 'n'},
                                            {"steps", 1, NULL, 't'},    {"threads", 1, NULL, 'j'},
                                            {"minimize", 1, NULL, 'm'}, {"print", 0, NULL, 'p'},
                                            {"counts", 0, NULL, 'c'},   {NULL, 0, NULL, 0}};
    bool minimizes = false, counts = false;

    for (int letter; (letter = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        switch (letter) {
        case 's':
            run.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            run.count = strtoull(optarg, NULL, 0);
            break;
        case 't':
            run.steps = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'j':
            run.threads = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'm':
            minimizes = true;
            run.seed = strtoull(optarg, NULL, 0);
            break;
        case 'p':
            run.prints = true;
            run.count = 1;
            break;
        case 'c':
            counts = true;
            break;
        default:
            return 64;
        }
    }
    if (!run.threads || run.threads > MOST_THREADS || run.steps * run.threads > MOST_STEPS)
        return 64;
    write_ptx();
    if (minimizes)
        return minimize();
    run_all();
    if (counts)
        tell_counts();
    return 0;
}
