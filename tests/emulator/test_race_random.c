/* The race detector against a slow exact model: random schedules of a few tasks, in which the model
 * keeps each access there ever was and a clock of all threads for each thread. Up to a schedule's
 * first race both must say the same of each access; a race that the detector misses is let pass
 * only where more accesses came together on a byte than it keeps. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/race/race.h"
#include "suite.h"

#define BASE UINT64_C(0x700000000000)

enum {
    TASKS = 3,
    CTAS = 2,
    THREADS = 4, /* lanes 0 and 1 of two warps; the other lanes have exited */
    ACTORS = TASKS * CTAS * THREADS,
    KINDS = 4, /* a thread, its groups of copies, its bulk copies on each of two mbarriers */
    COPIES = 6,
    PARTS = ACTORS * KINDS + COPIES,
    STEPS = 250,
    SEEDS = 3000,
    MOST = 1024
};

/* What is known; what was before a fence.sc of those; what is to be had at the next fence.sc. Of
 * several devices also what was before a fence.sc.sys, and what is to be had at the next one. */
typedef struct clock_of {
    uint32_t at[PARTS], fenced[PARTS], pending[PARTS], fenced_sys[PARTS], far[PARTS];
} clock_of;

enum { DEVICES = 2, GPU = 0, SYS = 1, SCOPES = 2 };

typedef struct thread_model {
    clock_of now, fenced[SCOPES], seen[SCOPES];
    bool has_fenced[SCOPES];
    uint32_t commits[STEPS], commit_count;
} thread_model;

typedef struct access {
    uint32_t part, index, space, offset, bytes;
    bool writes, strong, atomic;
    uint32_t scope, device; /* of a strong one */
} access;

/* The model and what it is compared with. */
static struct {
    gd_race *race;
    gd_shadow *memory;
    uint32_t found;
    char text[512];
    uint64_t random;
    gd_race_task *tasks[TASKS];
    gd_race_cta *ctas[TASKS][CTAS];
    gd_race_port ports[TASKS];
    uint32_t begun, completed, settled, copies;
    bool waitable[TASKS], triggered[TASKS][CTAS];
    clock_of complete[TASKS], all[TASKS], wait[TASKS], trigger[TASKS], host;
    thread_model actors[ACTORS];
    uint32_t counts[PARTS];
    bool several; /* tasks take turns between two devices */
    /* By variable, device and scope. */
    clock_of released[2][DEVICES][SCOPES];
    uint32_t fenced[2][DEVICES][SCOPES][PARTS], fenced_sys[2][DEVICES][SCOPES][PARTS];
    clock_of pending[TASKS][CTAS][2], ready[TASKS][CTAS][2];
    access list[MOST];
    uint32_t count;
    bool raced, crowded;
} w;

static void take_finding(void *context, const gd_race_finding *finding)
{
    (void)context;
    w.found++;
    snprintf(w.text, sizeof w.text, "%s", finding->text);
}

static uint32_t draw(uint32_t limit)
{
    w.random ^= w.random << 13;
    w.random ^= w.random >> 7;
    w.random ^= w.random << 17;
    return (uint32_t)(w.random >> 33) % limit;
}

static void join_parts(uint32_t *target, const uint32_t *more)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        if (more[i] > target[i])
            target[i] = more[i];
    }
}

static void join(clock_of *target, const clock_of *more)
{
    join_parts(target->at, more->at);
    join_parts(target->fenced, more->fenced);
    join_parts(target->pending, more->pending);
    join_parts(target->fenced_sys, more->fenced_sys);
    join_parts(target->far, more->far);
}

/* ---- who ---- */

static uint32_t device_of(uint32_t task)
{
    return w.several ? task & 1 : 0;
}

/* Of one device both scopes are the same. */
static uint32_t draw_scope(void)
{
    return w.several ? draw(SCOPES) : draw(4) ? GPU : SYS;
}

static gd_scope scope_of(uint32_t scope)
{
    return scope == SYS ? GD_SCOPE_SYS : GD_SCOPE_GPU;
}

static uint32_t number_of(uint32_t task, uint32_t cta, uint32_t thread)
{
    return (task * CTAS + cta) * THREADS + thread;
}

static uint32_t warp_of(uint32_t thread)
{
    return thread / 2;
}

static uint32_t bit_of(uint32_t thread)
{
    return UINT32_C(1) << (thread % 2);
}

/* What a thread knows and has done. */
static clock_of publish(uint32_t number)
{
    clock_of clock = w.actors[number].now;

    clock.at[number * KINDS] = w.counts[number * KINDS];
    return clock;
}

/* ---- accesses ---- */

static bool overlaps(const access *a, const access *b)
{
    return a->space == b->space && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static bool is_before(const access *old, const clock_of *clock, uint32_t own)
{
    return old->part == own || old->index <= clock->at[old->part];
}

/* Whether the last write of a byte is an atomic operation, before the thread, that has read what an
 * older one left. */
static bool is_observed(const access *old, uint32_t byte, const clock_of *clock, uint32_t own)
{
    const access *last = NULL;

    for (uint32_t i = 0; i < w.count; i++) {
        const access *other = &w.list[i];
        if (other->writes && other->space == old->space && byte >= other->offset &&
            byte < other->offset + other->bytes)
            last = other;
    }
    return old->atomic && last && last != old && last->atomic && is_before(last, clock, own);
}

/* Strong accesses whose scopes include each other. */
static bool gets_on(const access *old, const access *new)
{
    return old->strong && new->strong &&
           (old->device == new->device || (old->scope == SYS && new->scope == SYS));
}

static bool races_with(const access *old, const access *new, const clock_of *clock, uint32_t own)
{
    bool observed = true;

    if (!overlaps(old, new) || (!old->writes && !new->writes) || gets_on(old, new))
        return false;
    for (uint32_t byte = new->offset; byte < new->offset + new->bytes; byte++) {
        if (byte >= old->offset && byte < old->offset + old->bytes)
            observed = observed && is_observed(old, byte, clock, own);
    }
    return !observed && !is_before(old, clock, own);
}

/* Whether more accesses than the detector keeps came together on a byte since its last plain
 * write. */
static bool is_crowded(const access *new)
{
    for (uint32_t byte = new->offset; byte < new->offset + new->bytes; byte++) {
        const access *kept[MOST];
        uint32_t count = 0;
        for (uint32_t i = 0; i < w.count; i++) {
            const access *old = &w.list[i];
            if (old->space != new->space || byte < old->offset || byte >= old->offset + old->bytes)
                continue;
            if (old->writes && !old->strong)
                count = 0;
            uint32_t same = 0;
            while (same < count &&
                   (kept[same]->part != old->part || kept[same]->strong != old->strong ||
                    kept[same]->writes != old->writes || kept[same]->scope != old->scope))
                same++;
            kept[same] = old;
            count += same == count;
        }
        if (count > GD_RACE_READERS)
            return true;
    }
    return false;
}

static void model_access(uint32_t part, const clock_of *clock, uint32_t own, access new)
{
    for (uint32_t i = 0; i < w.count; i++)
        w.raced |= races_with(&w.list[i], &new, clock, own);
    w.crowded |= is_crowded(&new);
    new.part = part;
    new.index = ++w.counts[part];
    ck_assert_uint_lt(w.count, MOST);
    w.list[w.count++] = new;
}

/* Most accesses that would race are not made, so that schedules grow long. */
static bool refrains(const clock_of *clock, uint32_t own, access new)
{
    for (uint32_t i = 0; i < w.count; i++) {
        if (races_with(&w.list[i], &new, clock, own))
            return draw(40);
    }
    return false;
}

static gd_race_operation operation_of(uint32_t thread, uint32_t mask, uint32_t bytes,
                                      gd_action action, uint32_t scope)
{
    return (gd_race_operation){.warp = warp_of(thread),
                               .mask = mask,
                               .site = draw(3),
                               .bytes = bytes,
                               .action = action,
                               .strong = action == GD_ACTION_ATOMIC,
                               .scope = scope_of(scope)};
}

/* One or both lanes of a warp read, write or update a few bytes, perhaps by an asynchronous
 * copy. */
static void do_access(uint32_t task, uint32_t cta, uint32_t thread, bool alone)
{
    const uint32_t bytes = UINT32_C(1) << draw(5), space = draw(3), kind = draw(8);
    const gd_action action = kind < 4   ? GD_ACTION_READ
                             : kind < 7 ? GD_ACTION_WRITE
                                        : GD_ACTION_ATOMIC;
    const uint32_t mask = alone || draw(4) ? bit_of(thread) : 3, scope = draw_scope();
    gd_race_operation operation = operation_of(thread, mask, bytes, action, scope);
    uint64_t addresses[32] = {0};

    operation.addresses = addresses;
    operation.strong |= !draw(6);
    operation.async = !operation.strong && !draw(5);
    access made[2];
    for (uint32_t lane = 0; lane < 2; lane++) {
        const uint32_t actor = number_of(task, cta, warp_of(thread) * 2 + lane);
        made[lane] = (access){.space = space ? 1 + task * CTAS + space - 1 : 0,
                              .offset = draw(64 / bytes) * bytes + 1008,
                              .bytes = bytes,
                              .writes = action != GD_ACTION_READ,
                              .strong = operation.strong,
                              .atomic = action == GD_ACTION_ATOMIC,
                              .scope = scope,
                              .device = device_of(task)};
        addresses[lane] = (space ? 0 : BASE) + made[lane].offset;
        if ((mask >> lane & 1) && refrains(&w.actors[actor].now, actor * KINDS, made[lane]))
            return;
    }
    for (uint32_t lane = 0; lane < 2; lane++) {
        const uint32_t actor = number_of(task, cta, warp_of(thread) * 2 + lane);
        if (mask >> lane & 1)
            model_access(actor * KINDS + operation.async, &w.actors[actor].now, actor * KINDS,
                         made[lane]);
    }
    if (space)
        gd_race_shared(w.ctas[task][cta], w.ctas[task][space - 1], &operation);
    else
        gd_race_global(w.ctas[task][cta], w.memory, &operation);
}

/* A bulk copy into shared memory that completes on an mbarrier at once. */
static void do_bulk(uint32_t task, uint32_t cta, uint32_t thread)
{
    const uint32_t actor = number_of(task, cta, thread), bytes = 16 * (1 + draw(80)),
                   which = draw(2);
    gd_race_operation operation = operation_of(thread, bit_of(thread), bytes, GD_ACTION_WRITE, GPU);
    const uint32_t part = actor * KINDS + 2 + which;

    const access made = {.space = 1 + task * CTAS + cta,
                         .offset = 0,
                         .bytes = bytes,
                         .writes = true,
                         .device = device_of(task)};

    operation.async = true;
    if (refrains(&w.actors[actor].now, actor * KINDS, made))
        return;
    model_access(part, &w.actors[actor].now, actor * KINDS, made);
    gd_race_shared_pieces(w.ctas[task][cta], w.ctas[task][cta], &operation,
                          &(gd_race_piece){0, bytes}, 1);
    gd_race_mbarrier_arrive(w.ctas[task][cta], warp_of(thread), bit_of(thread), w.ctas[task][cta],
                            which * 8, true);
    w.pending[task][cta][which].at[part] = w.counts[part];
}

/* ---- synchronization ---- */

/* A strong read, of a scope, of what one device released to a variable with a scope. */
static void see(thread_model *a, uint32_t which, uint32_t from, uint32_t by, bool near,
                uint32_t scope, bool acquires)
{
    if (!near && (by != SYS || scope != SYS))
        return;
    if (near)
        join_parts(a->now.pending, w.fenced[which][from][by]);
    else
        join_parts(a->now.far, w.fenced_sys[which][from][by]);
    join(&a->seen[near ? GPU : SYS], &w.released[which][from][by]);
    if (acquires)
        join(&a->now, &w.released[which][from][by]);
}

/* A strong access of one of two variables, or a plain write that ends its patterns. */
static void do_variable(uint32_t task, uint32_t cta, uint32_t thread)
{
    const uint32_t which = draw(2), kind = draw(9), actor = number_of(task, cta, thread);
    const gd_action action = kind < 3   ? GD_ACTION_READ
                             : kind < 5 ? GD_ACTION_WRITE
                                        : GD_ACTION_ATOMIC;
    const uint32_t scope = draw_scope(), device = device_of(task);
    gd_race_operation operation = operation_of(thread, bit_of(thread), 4, action, scope);
    uint64_t addresses[32] = {0};
    thread_model *a = &w.actors[actor];

    operation.addresses = addresses;
    addresses[thread % 2] = BASE + 4096 + which * 64;
    operation.strong = action != GD_ACTION_WRITE || draw(10);
    operation.acquire = operation.strong && action != GD_ACTION_WRITE && draw(2);
    operation.release = operation.strong && action != GD_ACTION_READ && draw(2);
    const access made = {.offset = 4096 + which * 64,
                         .bytes = 4,
                         .writes = action != GD_ACTION_READ,
                         .strong = operation.strong,
                         .atomic = action == GD_ACTION_ATOMIC,
                         .scope = scope,
                         .device = device};
    if (refrains(&a->now, actor * KINDS, made))
        return;
    model_access(actor * KINDS, &a->now, actor * KINDS, made);
    gd_race_global(w.ctas[task][cta], w.memory, &operation);
    for (uint32_t from = 0; action != GD_ACTION_WRITE && from < DEVICES; from++) {
        for (uint32_t by = 0; by < SCOPES; by++)
            see(a, which, from, by, from == device, scope, operation.acquire);
    }
    if (action == GD_ACTION_WRITE) {
        memset(w.released[which], 0, sizeof w.released[which]);
        memset(w.fenced[which], 0, sizeof w.fenced[which]);
        memset(w.fenced_sys[which], 0, sizeof w.fenced_sys[which]);
    }
    if (action == GD_ACTION_READ || !operation.strong)
        return;
    const clock_of own = publish(actor);
    join_parts(w.fenced[which][device][scope], own.fenced);
    join_parts(w.fenced_sys[which][device][scope], own.fenced_sys);
    if (operation.release)
        join(&w.released[which][device][scope], &own);
    for (uint32_t by = 0; !operation.release && by <= scope; by++) {
        if (a->has_fenced[by])
            join(&w.released[which][device][by], &a->fenced[by]);
    }
}

static void do_fence(uint32_t task, uint32_t cta, uint32_t thread)
{
    thread_model *a = &w.actors[number_of(task, cta, thread)];

    const bool sc = draw(2);
    const uint32_t scope = draw_scope();

    gd_race_fence(w.ctas[task][cta], warp_of(thread), bit_of(thread), scope_of(scope), sc);
    for (uint32_t by = 0; by <= scope; by++)
        join(&a->now, &a->seen[by]);
    if (sc) {
        join_parts(a->now.at, a->now.pending);
        if (scope == SYS)
            join_parts(a->now.at, a->now.far);
        const clock_of own = publish(number_of(task, cta, thread));
        join_parts(a->now.fenced, own.at);
        if (scope == SYS)
            join_parts(a->now.fenced_sys, own.at);
    }
    for (uint32_t by = 0; by <= scope; by++) {
        a->fenced[by] = publish(number_of(task, cta, thread));
        a->has_fenced[by] = true;
    }
}

/* Threads of a mask, over the CTA's four, have all that each of them had. */
static void meet(uint32_t task, uint32_t cta, uint32_t mask)
{
    clock_of sum = {0};

    for (uint32_t i = 0; i < THREADS; i++) {
        const clock_of one = publish(number_of(task, cta, i));
        if (mask >> i & 1)
            join(&sum, &one);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        if (mask >> i & 1)
            w.actors[number_of(task, cta, i)].now = sum;
    }
}

static void do_barrier(uint32_t task, uint32_t cta)
{
    gd_race_cta *c = w.ctas[task][cta];
    const uint32_t mask = draw(2) ? 15 : draw(16), early = draw(3) ? 0 : draw(16) & mask;
    clock_of sum = {0};

    for (uint32_t i = 0; i < THREADS; i++) {
        if (mask >> i & 1)
            gd_race_barrier_arrive(c, draw(1), warp_of(i), bit_of(i), !(early >> i & 1));
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        const clock_of one = publish(number_of(task, cta, i));
        if (mask >> i & 1)
            join(&sum, &one);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        if ((mask & ~early) >> i & 1)
            w.actors[number_of(task, cta, i)].now = sum;
    }
    if (early && draw(2)) /* who arrived early goes on before the barrier completes */
        do_access(task, cta, (uint32_t)__builtin_ctz(early), true);
    gd_race_barrier_complete(c, 0);
}

static void do_cluster(uint32_t task)
{
    clock_of sum = {0};

    for (uint32_t i = 0; i < CTAS * THREADS; i++) {
        const clock_of one = publish(number_of(task, 0, i));
        join(&sum, &one);
        if (i % 2 == 0)
            gd_race_cluster_arrive(w.ctas[task][i / THREADS], warp_of(i % THREADS), 3, true);
    }
    gd_race_cluster_complete(w.ctas[task], CTAS);
    for (uint32_t i = 0; i < CTAS * THREADS; i++) {
        w.actors[number_of(task, 0, i)].now = sum;
        gd_race_cluster_wait(w.ctas[task][i / THREADS], warp_of(i % THREADS), bit_of(i));
    }
}

static void do_mbarrier(uint32_t task, uint32_t cta, uint32_t thread)
{
    const uint32_t which = draw(2), actor = number_of(task, cta, thread), kind = draw(4);
    gd_race_cta *c = w.ctas[task][cta], *owner = w.ctas[task][draw(2)];
    const uint32_t at = owner == w.ctas[task][1];
    clock_of *pending = &w.pending[task][at][which], *ready = &w.ready[task][at][which];

    if (kind == 0) {
        const clock_of own = publish(actor);
        join(pending, &own);
        gd_race_mbarrier_arrive(c, warp_of(thread), bit_of(thread), owner, which * 8, false);
    } else if (kind == 1) {
        const uint32_t part = actor * KINDS + 1;
        if (w.counts[part] > pending->at[part])
            pending->at[part] = w.counts[part];
        gd_race_mbarrier_arrive(c, warp_of(thread), bit_of(thread), owner, which * 8, true);
    } else if (kind == 2) {
        join(ready, pending);
        *pending = (clock_of){0};
        gd_race_mbarrier_complete(owner, which * 8);
    } else {
        join(&w.actors[actor].now, ready);
        gd_race_mbarrier_wait(c, warp_of(thread), bit_of(thread), owner, which * 8);
    }
}

static void do_copies(uint32_t task, uint32_t cta, uint32_t thread)
{
    const uint32_t number = number_of(task, cta, thread), part = number * KINDS + 1, kind = draw(3),
                   left = draw(2);
    thread_model *a = &w.actors[number];
    gd_race_cta *c = w.ctas[task][cta];

    if (kind != 1)
        a->commits[a->commit_count++] = w.counts[part];
    if (kind == 0)
        gd_race_async_commit(c, warp_of(thread), bit_of(thread));
    else if (kind == 1)
        gd_race_async_wait(c, warp_of(thread), bit_of(thread), left);
    else
        gd_race_async_wait_all(c, warp_of(thread), bit_of(thread));
    if (kind == 0)
        return;
    const uint32_t kept = kind == 1 ? left : 0;
    if (a->commit_count > kept && a->commits[a->commit_count - 1 - kept] > a->now.at[part])
        a->now.at[part] = a->commits[a->commit_count - 1 - kept];
}

/* ---- tasks ---- */

static void begin_task(void)
{
    const uint32_t task = w.begun, before = task - 1;
    const gd_race_task_info info = {.kernel = "k",
                                    .launch = task + 1,
                                    .device = device_of(task),
                                    .stream = draw(2),
                                    .grid = {CTAS, 1, 1},
                                    .block = {64, 1, 1},
                                    .cluster = {CTAS, 1, 1}};
    clock_of start = w.host;

    w.ports[task] = task && w.settled == task && draw(2) ? GD_RACE_COMPLETE : GD_RACE_PROGRAMMATIC;
    w.tasks[task] = gd_race_task_create(w.race, &info);
    const gd_race_dependency edge = {task ? w.tasks[before] : NULL, w.ports[task],
                                     w.ports[task] == GD_RACE_PROGRAMMATIC};
    gd_race_task_begin(w.race, w.tasks[task], &edge, task != 0);
    if (task)
        join(&start, w.ports[task] == GD_RACE_COMPLETE ? &w.all[before] : &w.trigger[before]);
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        const uint32_t position[3] = {cta, 0, 0};
        w.ctas[task][cta] = gd_race_cta_create(w.race, w.tasks[task], position, 64, 0, 2048);
        for (uint32_t warp = 0; warp < 2; warp++)
            gd_race_exit(w.ctas[task][cta], warp, ~UINT32_C(3));
        for (uint32_t i = 0; i < THREADS; i++)
            w.actors[number_of(task, cta, i)].now = start;
    }
    join(&w.complete[task], &start);
    w.begun++;
}

/* The oldest task that runs ends. */
static void complete_task(void)
{
    const uint32_t task = w.completed;

    for (uint32_t cta = 0; cta < CTAS; cta++) {
        for (uint32_t i = 0; i < THREADS; i++)
            join(&w.complete[task], &w.actors[number_of(task, cta, i)].now);
        gd_race_exit(w.ctas[task][cta], 0, 3);
        gd_race_exit(w.ctas[task][cta], 1, 3);
        gd_race_cta_destroy(w.race, w.ctas[task][cta]);
        w.ctas[task][cta] = NULL;
    }
    for (uint32_t i = 0; i < CTAS * THREADS * KINDS; i++)
        w.complete[task].at[number_of(task, 0, 0) * KINDS + i] = UINT32_MAX;
    memset(w.complete[task].fenced, 0, sizeof w.complete[task].fenced);
    memset(w.complete[task].pending, 0, sizeof w.complete[task].pending);
    memset(w.complete[task].fenced_sys, 0, sizeof w.complete[task].fenced_sys);
    memset(w.complete[task].far, 0, sizeof w.complete[task].far);
    gd_race_task_complete(w.race, w.tasks[task]);
    w.completed++;
}

static void settle_task(void)
{
    const uint32_t task = w.settled;
    const gd_race_dependency edge = {task ? w.tasks[task - 1] : NULL, w.ports[task], false};

    gd_race_task_settle(w.race, w.tasks[task], &edge, task != 0);
    w.all[task] = w.complete[task];
    if (task)
        join(&w.all[task], &w.all[task - 1]);
    w.settled++;
}

static void allow_wait(uint32_t task)
{
    const gd_race_dependency edge = {task ? w.tasks[task - 1] : NULL, w.ports[task],
                                     w.ports[task] == GD_RACE_PROGRAMMATIC};

    gd_race_task_wait(w.race, w.tasks[task], &edge, task != 0);
    if (task && edge.waited)
        w.wait[task] = w.complete[task - 1];
    w.waitable[task] = true;
}

static void copy_memory(void)
{
    const uint32_t part = ACTORS * KINDS + w.copies++, offset = 900 + draw(200),
                   bytes = 1 + draw(3000);
    const access made = {.offset = offset, .bytes = bytes, .writes = draw(2)};
    const gd_race_task_info info = {.action = GD_ACTION_COPY, .stream = 3};
    gd_race_task *task = gd_race_task_create(w.race, &info);
    const bool behind = w.settled && draw(2);
    const gd_race_dependency edge = {behind ? w.tasks[w.settled - 1] : NULL, GD_RACE_COMPLETE,
                                     false};
    clock_of start = w.host;

    if (behind)
        join(&start, &w.all[w.settled - 1]);
    gd_race_task_begin(w.race, task, &edge, behind);
    if (!refrains(&start, part, made)) {
        model_access(part, &start, part, made);
        gd_race_range(w.race, task, w.memory, offset, bytes, made.writes);
    }
    gd_race_task_complete(w.race, task);
    gd_race_task_settle(w.race, task, &edge, behind);
    if (draw(2)) {
        gd_race_host_wait(w.race, task);
        join(&w.host, &start);
        w.host.at[part] = UINT32_MAX;
    }
    gd_race_task_release(w.race, task);
}

static void do_task(void)
{
    const uint32_t kind = draw(6), task = draw(TASKS);

    if (kind == 0 && w.begun < TASKS)
        begin_task();
    else if (kind == 1 && w.completed + 1 < w.begun)
        complete_task();
    else if (kind == 2 && w.settled < w.completed)
        settle_task();
    else if (kind == 3 && task < w.begun && task <= w.completed && !w.waitable[task])
        allow_wait(task);
    else if (kind == 4 && w.settled) {
        gd_race_host_wait(w.race, w.tasks[w.settled - 1]);
        join(&w.host, &w.all[w.settled - 1]);
    } else if (kind == 5 && w.copies < COPIES)
        copy_memory();
}

static void do_dependent(uint32_t task, uint32_t cta, uint32_t thread)
{
    thread_model *a = &w.actors[number_of(task, cta, thread)];

    if (draw(2) && w.waitable[task]) {
        gd_race_grid_wait(w.ctas[task][cta], warp_of(thread), bit_of(thread));
        join(&a->now, &w.wait[task]);
        return;
    }
    gd_race_trigger(w.ctas[task][cta], warp_of(thread), bit_of(thread));
    if (!w.triggered[task][cta] && a->has_fenced[GPU])
        join(&w.trigger[task], &a->fenced[GPU]);
    w.triggered[task][cta] = true;
}

/* ---- schedules ---- */

static void step(void)
{
    const uint32_t kind = draw(20), task = w.completed + draw(w.begun - w.completed),
                   cta = draw(CTAS), thread = draw(THREADS);

    if (w.several && draw(2)) { /* what devices do to each other */
        if (kind < 4)
            do_access(task, cta, thread, false);
        else if (kind < 14)
            do_variable(task, cta, thread);
        else
            do_fence(task, cta, thread);
    } else if (kind < 7)
        do_access(task, cta, thread, false);
    else if (kind < 8)
        do_bulk(task, cta, thread);
    else if (kind < 10)
        do_variable(task, cta, thread);
    else if (kind < 11)
        do_fence(task, cta, thread);
    else if (kind < 13)
        do_barrier(task, cta);
    else if (kind < 14)
        do_cluster(task);
    else if (kind < 15)
        do_mbarrier(task, cta, thread);
    else if (kind < 16)
        do_copies(task, cta, thread);
    else if (kind < 17)
        do_dependent(task, cta, thread);
    else if (kind < 18) {
        const uint32_t mask = draw(4);
        gd_race_warp_sync(w.ctas[task][cta], warp_of(thread), mask);
        meet(task, cta, mask << warp_of(thread) * 2);
    } else
        do_task();
}

static void open_schedule(uint64_t seed, bool several)
{
    const gd_race_options options = {true, true, false, false, take_finding, NULL, NULL, several};

    memset(&w, 0, sizeof w);
    w.several = several;
    w.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    w.race = gd_race_create(&options);
    w.memory = gd_shadow_create(w.race, BASE, 8192, NULL, true);
    begin_task();
}

static void close_schedule(void)
{
    for (uint32_t task = w.completed; task < w.begun; task++) {
        for (uint32_t cta = 0; cta < CTAS; cta++)
            gd_race_cta_destroy(w.race, w.ctas[task][cta]);
    }
    for (uint32_t task = 0; task < w.begun; task++)
        gd_race_task_release(w.race, w.tasks[task]);
    gd_shadow_destroy(w.race, w.memory);
    gd_race_destroy(w.race);
}

TEST_GROUP(random, NULL, NULL);

LOOP_TEST(random, random_schedules, 2) /* of one device, of two */
{
    uint32_t racy = 0, missed = 0, steps = 0;

    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        open_schedule(seed, _i);
        for (uint32_t i = 0; i < STEPS && !w.raced; i++, steps++) {
            step();
            ck_assert_msg(w.raced || !w.found, "seed %u, step %u: a false alarm: %s", seed, i,
                          w.text);
            ck_assert_msg(!w.raced || w.found || w.crowded,
                          "seed %u, step %u: a race was not found", seed, i);
        }
        racy += w.raced;
        missed += w.raced && !w.found;
        close_schedule();
    }
    printf("%u schedules, %u steps: %u with a race, of which %u had more accesses at once than are "
           "kept\n",
           (uint32_t)SEEDS, steps, racy, missed);
    ck_assert_uint_gt(racy, SEEDS / 2);
    ck_assert_uint_lt(missed, racy / 20);
}

MAIN_OF_SUITE("race_random")
