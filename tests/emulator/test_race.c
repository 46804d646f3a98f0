/* The race detector, told by hand what happens: for each rule of order a racing case and its
 * nearest ordered neighbour, then granularity, memory, many tasks, allocations that fail, and
 * random schedules against a slow exact model. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/race/race.h"
#include "suite.h"
#include "unit/fail_alloc.h"

#define BASE UINT64_C(0x700000000000)

enum { MEMORY_BYTES = 64 * 1024, ALL = -1 };

/* ---- a world ---- */

enum { MOST = 8 }; /* tasks and CTAs at once */

static struct {
    gd_race *race;
    gd_shadow *memory;
    uint64_t launches;
    uint32_t site;
    uint32_t races, uninitialized, exhausted;
    char text[1024], missing[1024];
    gd_race_finding last;
    bool same, equal;
    gd_race_cta *ctas[MOST];
    struct {
        gd_race_task *task;
        bool ended;
    } tasks[MOST];
} world;

static gd_race_task *note_task(gd_race_task *task)
{
    int at = 0;

    while (at < MOST - 1 && world.tasks[at].task)
        at++;
    world.tasks[at].task = task;
    world.tasks[at].ended = false;
    return task;
}

static void release(gd_race_task *task)
{
    for (int i = 0; i < MOST; i++) {
        if (world.tasks[i].task == task)
            world.tasks[i].task = NULL;
    }
    gd_race_task_release(world.race, task);
}

/* Whether all launches and allocations of a text are among the finding's names. */
static bool is_named(const gd_race_finding *finding, const char *text)
{
    char left[2048];

    snprintf(left, sizeof left, "%s", text);
    for (uint32_t i = 0; i < finding->name_count; i++) {
        const char *name = finding->names[i].text;
        for (char *at; (at = strstr(left, name));)
            memset(at, '-', strlen(name));
    }
    for (const char *at = left; (at = strstr(at, "(launch ")); at++) {
        if (at[8] >= '0' && at[8] <= '9')
            return false;
    }
    return !strstr(left, "allocation 0x");
}

static void take_finding(void *context, const gd_race_finding *finding)
{
    (void)context;
    if (finding->kind == GD_RACE_EXHAUSTED) {
        world.exhausted++;
        return;
    }
    if (finding->kind == GD_RACE_UNINITIALIZED)
        world.uninitialized++;
    else
        world.races++;
    if (!is_named(finding, finding->text) || !is_named(finding, finding->missing))
        ck_abort_msg("%s; %s: not all names are told", finding->text, finding->missing);
    world.last = *finding;
    snprintf(world.text, sizeof world.text, "%s", finding->text);
    snprintf(world.missing, sizeof world.missing, "%s", finding->missing);
}

static void open_world(bool observed, bool initialized, bool several)
{
    const gd_race_options options = {true,         true, initialized, observed,
                                     take_finding, NULL, NULL,        several};

    memset(&world, 0, sizeof world);
    world.race = gd_race_create(&options);
    if (world.race)
        world.memory = gd_shadow_create(world.race, BASE, MEMORY_BYTES, NULL, true);
}

static void setup(void)
{
    open_world(false, false, false);
    ck_assert_ptr_nonnull(world.memory);
}

static void setup_observed(void)
{
    open_world(true, false, false);
}

static void setup_initialized(void)
{
    open_world(false, true, false);
}

static void setup_devices(void)
{
    open_world(false, false, true);
}

/* How many races there have been since the last question. */
static uint32_t races(void)
{
    uint32_t count = world.races;

    world.races = 0;
    return count;
}

#define NO_RACE() ck_assert_msg(races() == 0, "a false alarm: %s", world.text)
#define RACE(words)                                                                                \
    do {                                                                                           \
        ck_assert_msg(races() > 0, "a race was not found");                                        \
        ck_assert_msg(strstr(world.text, words) || strstr(world.missing, words),                   \
                      "\"%s\" lacks \"%s\"", world.text, words);                                   \
        ck_assert_msg(world.missing[0] != 0, "nothing is said to be missing");                     \
    } while (0)

/* ---- tasks ---- */

static gd_race_task *make_kernel(const char *name, uint64_t stream, uint32_t ctas, uint32_t threads,
                                 uint32_t cluster)
{
    const gd_race_task_info info = {.action = GD_ACTION_READ,
                                    .kernel = name,
                                    .launch = ++world.launches,
                                    .stream = stream,
                                    .grid = {ctas, 1, 1},
                                    .block = {threads, 1, 1},
                                    .cluster = {cluster, 1, 1},
                                    .programmatic = true,
                                    .has_wait = true};

    return note_task(gd_race_task_create(world.race, &info));
}

static gd_race_task *kernel(const char *name, uint64_t stream)
{
    return make_kernel(name, stream, 4, 64, 1);
}

static gd_race_task *other_task(gd_action action, uint64_t stream)
{
    const gd_race_task_info info = {.action = action, .stream = stream};

    return note_task(gd_race_task_create(world.race, &info));
}

static void begin_behind(gd_race_task *task, gd_race_task *before, gd_race_port port)
{
    const gd_race_dependency one = {before, port, port == GD_RACE_PROGRAMMATIC};

    gd_race_task_begin(world.race, task, &one, before ? 1 : 0);
}

static void let_wait(gd_race_task *task, gd_race_task *before)
{
    const gd_race_dependency one = {before, GD_RACE_PROGRAMMATIC, true};

    gd_race_task_wait(world.race, task, &one, before ? 1 : 0);
}

static void settle_behind(gd_race_task *task, gd_race_task *before)
{
    const gd_race_dependency one = {before, GD_RACE_COMPLETE, false};

    gd_race_task_settle(world.race, task, &one, before ? 1 : 0);
}

static void end_behind(gd_race_task *task, gd_race_task *before)
{
    for (int i = 0; i < MOST; i++)
        world.tasks[i].ended |= world.tasks[i].task == task;
    gd_race_task_complete(world.race, task);
    settle_behind(task, before);
}

static gd_race_cta *make_cta(gd_race_task *task, uint32_t number, uint32_t threads)
{
    const uint32_t position[3] = {number, 0, 0};
    int at = 0;

    while (at < MOST - 1 && world.ctas[at])
        at++;
    return world.ctas[at] = gd_race_cta_create(world.race, task, position, threads, 0x400, 4096);
}

static gd_race_cta *cta_of(gd_race_task *task)
{
    return make_cta(task, 0, 64);
}

static gd_race_task *open_grid(void)
{
    gd_race_task *task = kernel("k", 1);

    begin_behind(task, NULL, GD_RACE_COMPLETE);
    return task;
}

static void leave(gd_race_cta *cta)
{
    gd_race_exit(cta, 0, UINT32_MAX);
    gd_race_exit(cta, 1, UINT32_MAX);
    gd_race_cta_destroy(world.race, cta);
    for (int i = 0; i < MOST; i++)
        world.ctas[i] = world.ctas[i] == cta ? NULL : world.ctas[i];
}

static void finish(gd_race_cta *cta, gd_race_task *task, gd_race_task *before)
{
    leave(cta);
    end_behind(task, before);
}

/* Ends what a test or a scene has left. */
static void end_all(void)
{
    for (int i = 0; i < MOST; i++) {
        if (world.ctas[i])
            leave(world.ctas[i]);
    }
    for (int i = 0; i < MOST; i++) {
        if (world.tasks[i].task && !world.tasks[i].ended)
            end_behind(world.tasks[i].task, NULL);
    }
    for (int i = 0; i < MOST; i++)
        release(world.tasks[i].task);
    gd_race_host_wait_all(world.race);
}

static void close_world(void)
{
    end_all();
    gd_shadow_destroy(world.race, world.memory);
    gd_race_destroy(world.race);
    world.race = NULL;
}

/* ---- accesses of one thread ---- */

enum { WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, ASYNC };

static bool ask_same(const void *context, uint32_t lane)
{
    (void)context;
    (void)lane;
    return world.same;
}

static bool ask_equal(const void *context, uint32_t lane, uint32_t other)
{
    (void)context;
    (void)lane;
    (void)other;
    return world.equal;
}

static gd_race_operation operation_of(uint32_t thread, gd_action action, uint32_t bytes, int how,
                                      gd_scope scope)
{
    return (gd_race_operation){.warp = thread / 32,
                               .mask = UINT32_C(1) << (thread % 32),
                               .site = world.site,
                               .bytes = bytes,
                               .action = action,
                               .strong =
                                   (how != WEAK && how != ASYNC) || action == GD_ACTION_ATOMIC,
                               .acquire = how == ACQUIRE || how == ACQ_REL,
                               .release = how == RELEASE || how == ACQ_REL,
                               .async = how == ASYNC,
                               .scope = scope,
                               .same = ask_same};
}

static void touch(gd_race_cta *cta, uint32_t thread, uint64_t offset, uint32_t bytes,
                  gd_action action, int how, gd_scope scope)
{
    uint64_t addresses[32] = {0};
    gd_race_operation operation = operation_of(thread, action, bytes, how, scope);

    addresses[thread % 32] = BASE + offset;
    operation.addresses = addresses;
    gd_race_global(cta, world.memory, &operation);
}

static void touch_shared(gd_race_cta *cta, uint32_t thread, gd_race_cta *owner, uint64_t offset,
                         gd_action action, int how)
{
    uint64_t addresses[32] = {0};
    gd_race_operation operation = operation_of(thread, action, 4, how, GD_SCOPE_CTA);

    addresses[thread % 32] = 0x400 + offset;
    operation.addresses = addresses;
    gd_race_shared(cta, owner, &operation);
}

static void rd(gd_race_cta *cta, uint32_t thread, uint64_t offset)
{
    touch(cta, thread, offset, 4, GD_ACTION_READ, WEAK, GD_SCOPE_CTA);
}

static void wr(gd_race_cta *cta, uint32_t thread, uint64_t offset)
{
    touch(cta, thread, offset, 4, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
}

static void atom(gd_race_cta *cta, uint32_t thread, uint64_t offset, int how, gd_scope scope)
{
    touch(cta, thread, offset, 4, GD_ACTION_ATOMIC, how, scope);
}

static void fence(gd_race_cta *cta, uint32_t thread, gd_scope scope)
{
    gd_race_fence(cta, thread / 32, UINT32_C(1) << (thread % 32), scope, false);
}

static void fence_sc(gd_race_cta *cta, uint32_t thread)
{
    gd_race_fence(cta, thread / 32, UINT32_C(1) << (thread % 32), GD_SCOPE_GPU, true);
}

static void grid_wait(gd_race_cta *cta, uint32_t thread)
{
    gd_race_grid_wait(cta, thread / 32, UINT32_C(1) << (thread % 32));
}

static void trigger(gd_race_cta *cta, uint32_t thread)
{
    gd_race_trigger(cta, thread / 32, UINT32_C(1) << (thread % 32));
}

static void barrier(gd_race_cta *cta)
{
    gd_race_barrier_arrive(cta, 0, 0, UINT32_MAX, true);
    gd_race_barrier_arrive(cta, 0, 1, UINT32_MAX, true);
    gd_race_barrier_complete(cta, 0);
}

/* ---- tasks ---- */

TEST_GROUP(tasks, setup, close_world);
TEST_GROUP(observed, setup_observed, close_world);
TEST_GROUP(cost, setup, close_world);
TEST_GROUP(cta, setup, close_world);
TEST_GROUP(devices, setup_devices, close_world);
TEST_GROUP(initialized, setup_initialized, close_world);
TEST_GROUP(exhausted, NULL, NULL);

TEST(tasks, tasks_of_a_stream)
{
    gd_race_task *a = kernel("a", 1), *b = kernel("b", 1), *c = kernel("c", 2);

    begin_behind(a, NULL, GD_RACE_COMPLETE);
    gd_race_cta *ca = cta_of(a);
    wr(ca, 3, 0);
    finish(ca, a, NULL);
    begin_behind(b, a, GD_RACE_COMPLETE);
    gd_race_cta *cb = cta_of(b);
    rd(cb, 5, 0);
    wr(cb, 5, 0);
    NO_RACE();
    begin_behind(c, NULL, GD_RACE_COMPLETE);
    gd_race_cta *cc = cta_of(c);
    rd(cc, 5, 0);
    RACE("nothing orders the two (stream 1 and stream 2)");
    ck_assert_uint_eq(world.last.first.launch, 2);
    ck_assert_uint_eq(world.last.second.launch, 3);
    ck_assert_uint_eq(world.last.first.thread[0], 5);
    ck_assert(world.last.first.writes && !world.last.second.writes);
    ck_assert_uint_eq(world.last.start, BASE);
}

/* A program of PDL: first writes, mid overlaps it and may wait, last overlaps mid and waits; who
 * may read what first wrote? */
static uint32_t run_transitive(bool mid_waits, uint32_t waiting_thread, bool barrier_behind)
{
    gd_race_task *first = kernel("first", 1), *mid = kernel("mid", 1), *last = kernel("last", 1);

    begin_behind(first, NULL, GD_RACE_COMPLETE);
    gd_race_cta *c1 = cta_of(first);
    trigger(c1, 0);
    begin_behind(mid, first, GD_RACE_PROGRAMMATIC);
    gd_race_cta *c2 = cta_of(mid);
    trigger(c2, 0);
    begin_behind(last, mid, GD_RACE_PROGRAMMATIC);
    gd_race_cta *c3 = cta_of(last);
    wr(c1, 0, 0);
    finish(c1, first, NULL);
    let_wait(mid, first);
    if (mid_waits)
        grid_wait(c2, 7);
    wr(c2, 0, 128);
    finish(c2, mid, first);
    let_wait(last, mid);
    grid_wait(c3, waiting_thread);
    if (barrier_behind)
        barrier(c3);
    rd(c3, 9, 128);
    uint32_t direct = races();
    rd(c3, 9, 0);
    uint32_t through = races();
    end_all();
    return direct << 1 | through;
}

TEST(tasks, wait_orders_behind_direct_prerequisites)
{
    ck_assert_uint_eq(run_transitive(true, 9, false), 0);
    ck_assert_uint_eq(run_transitive(false, 9, false), 1);
    ck_assert_msg(strstr(world.text, "waits for mid (launch") ||
                      strstr(world.text, "waits for kernel mid (launch"),
                  "%s", world.text);
    ck_assert_ptr_nonnull(strstr(world.text, "ended without waiting for kernel first"));
    ck_assert_uint_eq(run_transitive(true, 8, false), 3);
    ck_assert_ptr_nonnull(
        strstr(world.text, "in a thread that has not executed griddepcontrol.wait"));
    ck_assert_uint_eq(run_transitive(true, 8, true), 0);
    ck_assert_uint_eq(run_transitive(true, 63, true), 0);
}

/* Who waits for another one is not told of it where that one never had the first before it. */
TEST(tasks, wait_for_who_came_before_is_no_transitive_one)
{
    gd_race_task *mid = kernel("mid", 1), *first = kernel("first", 1), *last = kernel("last", 1);

    begin_behind(mid, NULL, GD_RACE_COMPLETE);
    begin_behind(first, NULL, GD_RACE_COMPLETE);
    gd_race_cta *c1 = cta_of(first);
    wr(c1, 0, 0);
    begin_behind(last, mid, GD_RACE_PROGRAMMATIC);
    gd_race_cta *c3 = cta_of(last);
    finish(cta_of(mid), mid, NULL);
    let_wait(last, mid);
    grid_wait(c3, 9);
    rd(c3, 9, 0);
    ck_assert_uint_eq(races(), 1);
    ck_assert_msg(strstr(world.text, "nothing orders the two") != NULL, "%s", world.text);
    finish(c1, first, NULL);
    end_all();
}

TEST(observed, wait_as_observed_orders_behind_all)
{
    ck_assert_uint_eq(run_transitive(false, 9, false), 0);
    ck_assert_uint_eq(run_transitive(false, 8, false), 3);
}

/* A writer, a middle kernel that starts early beside it or behind its end, and one that starts
 * early beside the middle and reads ahead of its wait: what the writer wrote, and what the middle
 * writes. */
static uint32_t run_ahead_of_the_wait(gd_race_port middle_starts)
{
    gd_race_task *writer = kernel("writer", 1), *mid = kernel("mid", 1), *last = kernel("last", 1);

    begin_behind(writer, NULL, GD_RACE_COMPLETE);
    gd_race_cta *c1 = cta_of(writer);
    wr(c1, 0, 0);
    trigger(c1, 0);
    if (middle_starts == GD_RACE_COMPLETE)
        finish(c1, writer, NULL);
    begin_behind(mid, writer, middle_starts);
    gd_race_cta *c2 = cta_of(mid);
    trigger(c2, 0);
    if (middle_starts != GD_RACE_COMPLETE)
        finish(c1, writer, NULL);
    begin_behind(last, mid, GD_RACE_PROGRAMMATIC);
    gd_race_cta *c3 = cta_of(last);
    wr(c2, 0, 128);
    rd(c3, 9, 0);
    uint32_t older = races();
    rd(c3, 9, 128);
    uint32_t direct = races();
    let_wait(mid, writer);
    finish(c2, mid, writer);
    let_wait(last, mid);
    end_all();
    return older << 1 | direct;
}

TEST(tasks, what_ended_before_a_plain_start_is_seen_by_all_behind_it)
{
    ck_assert_uint_eq(run_ahead_of_the_wait(GD_RACE_COMPLETE), 1);
    ck_assert_uint_eq(run_ahead_of_the_wait(GD_RACE_PROGRAMMATIC), 3);
    ck_assert_uint_eq(run_ahead_of_the_wait(GD_RACE_LAUNCH), 3);
}

/* Two tasks, the later with one dependency on the earlier: does what the first wrote race with the
 * second's read? */
static uint32_t run_edge(gd_race_port port, bool released, bool host)
{
    gd_race_task *a = kernel("a", 1), *b = NULL;

    begin_behind(a, NULL, GD_RACE_COMPLETE);
    gd_race_cta *ca = cta_of(a);
    wr(ca, 33, 0);
    barrier(ca);
    if (released)
        fence(ca, 3, GD_SCOPE_GPU);
    trigger(ca, 3);
    wr(ca, 3, 64);
    if (host || port == GD_RACE_COMPLETE)
        finish(ca, a, NULL);
    if (host)
        gd_race_host_wait(world.race, a);
    b = kernel("b", 2);
    begin_behind(b, a, port);
    gd_race_cta *cb = cta_of(b);
    rd(cb, 1, 0);
    uint32_t before = races();
    rd(cb, 1, 64);
    uint32_t behind = races();
    end_all();
    return before << 1 | behind;
}

TEST(tasks, ports)
{
    ck_assert_uint_eq(run_edge(GD_RACE_COMPLETE, false, false), 0);
    ck_assert_uint_eq(run_edge(GD_RACE_PROGRAMMATIC, false, false), 3);
    ck_assert_ptr_nonnull(strstr(world.text, "before its griddepcontrol.wait"));
    /* What came before the fence is there when the dependent begins; what came behind the trigger
     * is not. */
    ck_assert_uint_eq(run_edge(GD_RACE_PROGRAMMATIC, true, false), 1);
    ck_assert_uint_eq(run_edge(GD_RACE_LAUNCH, true, false), 3);
    ck_assert_ptr_nonnull(strstr(world.text, "launch order"));
    ck_assert_uint_eq(run_edge(GD_RACE_LAUNCH, false, true), 0);
}

/* The dependent that runs ahead reads what its prerequisite writes only later: the same words, the
 * other way round in time. */
TEST(tasks, read_ahead_of_the_write)
{
    gd_race_task *a = kernel("a", 1), *b = kernel("b", 1);

    begin_behind(a, NULL, GD_RACE_COMPLETE);
    gd_race_cta *ca = cta_of(a);
    trigger(ca, 0);
    begin_behind(b, a, GD_RACE_PROGRAMMATIC);
    gd_race_cta *cb = cta_of(b);
    rd(cb, 0, 0);
    wr(ca, 0, 0);
    RACE("kernel b (launch 2) reads allocation 0x700000000000 before its griddepcontrol.wait; "
         "kernel a (launch 1) "
         "writes "
         "it");
    ck_assert_uint_eq(world.last.first.launch, 2);
    finish(ca, a, NULL);
    let_wait(b, a);
    grid_wait(cb, 0);
    wr(cb, 0, 0);
    NO_RACE();
}

TEST(tasks, copies_and_fills)
{
    gd_race_task *fill = other_task(GD_ACTION_FILL, 1), *task = kernel("k", 1),
                 *copy = other_task(GD_ACTION_COPY, 2);

    begin_behind(fill, NULL, GD_RACE_COMPLETE);
    gd_race_range(world.race, fill, world.memory, 0, MEMORY_BYTES, true);
    end_behind(fill, NULL);
    begin_behind(task, fill, GD_RACE_COMPLETE);
    gd_race_cta *cta = cta_of(task);
    rd(cta, 0, 4000);
    wr(cta, 0, 8000);
    NO_RACE();
    begin_behind(copy, NULL, GD_RACE_COMPLETE);
    gd_race_range(world.race, copy, world.memory, 2000, 1000, false);
    RACE("a fill writes allocation 0x700000000000 and a copy reads it");
    gd_race_range(world.race, copy, world.memory, 8001, 1, false);
    RACE("kernel k (launch 1)");
    ck_assert_int_eq(world.last.second.action, GD_ACTION_COPY);
    gd_race_range(world.race, copy, world.memory, 4000, 1, true);
    RACE("a copy writes it");
}

/* Two streams by turns, with and without a host that waits now and then. */
static void run_many(uint32_t count, uint32_t host_every, uint32_t streams)
{
    gd_race_task *last[2] = {NULL, NULL};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i % streams;
        gd_race_task *task = kernel("k", at), *before = last[at];
        begin_behind(task, before, GD_RACE_COMPLETE);
        if (i % 64 == 0) {
            gd_race_cta *cta = make_cta(task, 0, 64);
            wr(cta, 0, at * 64);
            leave(cta);
        }
        end_behind(task, before);
        release(before);
        last[at] = task;
        if (host_every && i % host_every == 0)
            gd_race_host_wait(world.race, task);
    }
    for (uint32_t at = 0; at < streams; at++)
        release(last[at]);
}

TEST(cost, a_million_tasks)
{
    uint64_t cells;

    run_many(500000, 0, 2);
    NO_RACE();
    gd_race_host_wait_all(world.race);
    run_many(500000, 1000, 1);
    NO_RACE();
    ck_assert_msg(gd_race_bytes(world.race, &cells) < UINT64_C(16) << 20, "%" PRIu64 " bytes",
                  gd_race_bytes(world.race, &cells));
}

/* ---- barriers of a CTA ---- */

TEST(cta, full_barrier)
{
    gd_race_cta *cta = cta_of(open_grid());

    touch_shared(cta, 0, cta, 0, GD_ACTION_WRITE, WEAK);
    touch_shared(cta, 40, cta, 0, GD_ACTION_READ, WEAK);
    RACE("a barrier between the two accesses");
    ck_assert_int_eq(world.last.kind, GD_RACE_SHARED);
    touch_shared(cta, 0, cta, 64, GD_ACTION_WRITE, WEAK);
    barrier(cta);
    touch_shared(cta, 40, cta, 64, GD_ACTION_READ, WEAK);
    NO_RACE();
    touch_shared(cta, 0, cta, 64, GD_ACTION_WRITE, WEAK);
    ck_assert_uint_eq(races(), 1);
}

/* ---- patterns of release and acquire ---- */

/* CTA 0 writes data and sets a flag, CTA 1 sees the flag and reads the data. */
static uint32_t pass_message(int store, bool fence_before, int load, bool fence_behind,
                             gd_scope scope)
{
    gd_race_task *task = open_grid();
    gd_race_cta *a = make_cta(task, 0, 64), *b = make_cta(task, 1, 64);

    wr(a, 3, 0);
    if (fence_before)
        fence(a, 3, scope);
    touch(a, 3, 256, 4, GD_ACTION_WRITE, store, scope);
    touch(b, 40, 256, 4, GD_ACTION_READ, load, scope);
    if (fence_behind)
        fence(b, 40, scope);
    rd(b, 40, 0);
    uint32_t found = races();
    end_all();
    return found;
}

TEST(cta, message_passing)
{
    ck_assert_uint_eq(pass_message(RELEASE, false, ACQUIRE, false, GD_SCOPE_GPU), 0);
    ck_assert_uint_eq(pass_message(RELAXED, true, ACQUIRE, false, GD_SCOPE_GPU), 0);
    ck_assert_uint_eq(pass_message(RELEASE, false, RELAXED, true, GD_SCOPE_SYS), 0);
    ck_assert_uint_eq(pass_message(RELAXED, true, RELAXED, true, GD_SCOPE_GPU), 0);
    ck_assert_uint_eq(pass_message(RELAXED, false, ACQUIRE, false, GD_SCOPE_GPU), 1);
    ck_assert_uint_eq(pass_message(RELEASE, false, RELAXED, false, GD_SCOPE_GPU), 1);
    ck_assert_uint_eq(pass_message(RELAXED, true, RELAXED, false, GD_SCOPE_GPU), 1);
    ck_assert_uint_eq(pass_message(RELAXED, false, RELAXED, true, GD_SCOPE_GPU), 1);
    /* Scope cta, between CTAs: neither the flag's accesses get on nor do they order the data's. */
    ck_assert_uint_eq(pass_message(RELEASE, false, ACQUIRE, false, GD_SCOPE_CTA), 2);
    ck_assert_uint_eq(pass_message(WEAK, true, WEAK, true, GD_SCOPE_GPU), 2);
}

/* ---- several devices ---- */

static gd_race_task *kernel_on(const char *name, uint32_t device)
{
    const gd_race_task_info info = {.action = GD_ACTION_READ,
                                    .kernel = name,
                                    .launch = ++world.launches,
                                    .device = device,
                                    .stream = device + 1,
                                    .grid = {4, 1, 1},
                                    .block = {64, 1, 1},
                                    .cluster = {1, 1, 1}};

    return note_task(gd_race_task_create(world.race, &info));
}

/* How one side of a hop does it: an access that releases or acquires by itself, or a fence beside
 * one that does not. */
typedef enum side_kind { BY_ACCESS, BY_FENCE, BY_FENCE_SC, BY_NOTHING, SIDE_KINDS } side_kind;

typedef struct hop {
    bool far; /* on another device */
    side_kind kind[2];
    gd_scope access[2], fence[2];
    bool barriers; /* between another thread's fence and the access to the flag */
} hop;

static void fence_by(gd_race_cta *cta, uint32_t thread, const hop *how, int side)
{
    if (how->kind[side] == BY_FENCE || how->kind[side] == BY_FENCE_SC)
        gd_race_fence(cta, thread / 32, UINT32_C(1) << thread % 32, how->fence[side],
                      how->kind[side] == BY_FENCE_SC);
}

/* A kernel writes data and sets a flag; another one sees the flag and reads the data. */
static uint32_t make_hop(const hop *how)
{
    gd_race_task *first = kernel_on("send", 0), *second = kernel_on("receive", how->far);

    begin_behind(first, NULL, GD_RACE_COMPLETE);
    begin_behind(second, NULL, GD_RACE_COMPLETE);
    gd_race_cta *a = make_cta(first, 0, 64), *b = make_cta(second, 1, 64);
    const uint32_t writer = how->barriers ? 35 : 3, reader = how->barriers ? 9 : 40;
    wr(a, writer, 0);
    fence_by(a, writer, how, 0);
    if (how->barriers)
        barrier(a);
    touch(a, 3, 256, 4, GD_ACTION_WRITE, how->kind[0] == BY_ACCESS ? RELEASE : RELAXED,
          how->access[0]);
    touch(b, 40, 256, 4, GD_ACTION_READ, how->kind[1] == BY_ACCESS ? ACQUIRE : RELAXED,
          how->access[1]);
    if (how->barriers)
        barrier(b);
    fence_by(b, reader, how, 1);
    rd(b, reader, 0);
    uint32_t found = races();
    end_all();
    return found;
}

static bool is_wide(const hop *how, gd_scope scope)
{
    return !how->far || scope == GD_SCOPE_SYS;
}

/* PTX ISA 8.5, 8.7: a side orders when its scope includes the other; with barriers on the way, two
 * fence.sc do, or what the accesses do themselves. */
static bool side_orders(const hop *how, int side)
{
    const bool fenced = how->kind[side] == BY_FENCE_SC || (how->kind[side] == BY_FENCE);

    return how->kind[side] == BY_ACCESS || (fenced && is_wide(how, how->fence[side]));
}

static uint32_t expect_hop(const hop *how)
{
    const bool flag = is_wide(how, how->access[0]) && is_wide(how, how->access[1]);
    bool ordered = flag && side_orders(how, 0) && side_orders(how, 1);

    if (how->barriers && how->kind[0] != how->kind[1])
        ordered = false;
    if (how->barriers && how->kind[0] == BY_FENCE)
        ordered = false;
    return !flag + !ordered;
}

/* Each way to pass a message, with each scope, within a device and between two. With barriers both
 * sides do it in one way. */
TEST(devices, hops_between_devices)
{
    static const gd_scope scopes[] = {GD_SCOPE_GPU, GD_SCOPE_SYS};
    uint32_t wrong = 0;
    char first[256] = "";

    for (uint32_t i = 0; i < 2u * SIDE_KINDS * SIDE_KINDS * 16 * 2; i++) {
        const hop how = {.far = i & 1,
                         .barriers = i >> 1 & 1,
                         .access = {scopes[i >> 2 & 1], scopes[i >> 3 & 1]},
                         .fence = {scopes[i >> 4 & 1], scopes[i >> 5 & 1]},
                         .kind = {(side_kind)(i >> 6 & 3), (side_kind)(i >> 8 & 3)}};
        if (how.barriers && how.kind[0] != how.kind[1])
            continue;
        const uint32_t found = make_hop(&how), expected = expect_hop(&how);
        if (found != expected && !wrong++)
            snprintf(first, sizeof first,
                     "%u races, expected %u: far %d, barriers %d, kinds %d %d, accesses %d %d, "
                     "fences %d %d",
                     found, expected, how.far, how.barriers, how.kind[0], how.kind[1],
                     how.access[0], how.access[1], how.fence[0], how.fence[1]);
    }
    ck_assert_msg(!wrong, "%u ways are not as expected, the first: %s", wrong, first);
}

/* A fence.sc of scope gpu behind one of scope sys takes nothing away, with barriers on the way. */
TEST(devices, narrower_fences)
{
    gd_race_task *first = kernel_on("send", 0), *second = kernel_on("receive", 1);

    begin_behind(first, NULL, GD_RACE_COMPLETE);
    begin_behind(second, NULL, GD_RACE_COMPLETE);
    gd_race_cta *a = make_cta(first, 0, 64), *b = make_cta(second, 0, 64);
    wr(a, 35, 0);
    gd_race_fence(a, 1, 8, GD_SCOPE_SYS, true);
    wr(a, 35, 4);
    gd_race_fence(a, 1, 8, GD_SCOPE_GPU, true);
    barrier(a);
    touch(a, 3, 256, 4, GD_ACTION_WRITE, RELAXED, GD_SCOPE_SYS);
    touch(b, 40, 256, 4, GD_ACTION_READ, RELAXED, GD_SCOPE_SYS);
    barrier(b);
    gd_race_fence(b, 0, 2, GD_SCOPE_SYS, true);
    rd(b, 1, 0);
    NO_RACE();
    rd(b, 1, 4);
    RACE("nothing of scope sys orders the two");
}

/* What is said to be missing: the side that lacks it is named, with its device. */
TEST(devices, words_about_hops)
{
    const gd_scope gpu = GD_SCOPE_GPU, sys = GD_SCOPE_SYS;

    make_hop(&(hop){true, {BY_FENCE, BY_FENCE}, {sys, sys}, {gpu, sys}, false});
    ck_assert_str_eq(world.missing,
                     "a release of scope sys in kernel send (launch 1) on device 0 behind its "
                     "access (st.release.sys of a flag, or fence.acq_rel.sys before it), and an "
                     "acquire of scope sys in kernel receive (launch 2) on device 1; or an event "
                     "between the two");
    ck_assert_str_eq(world.text,
                     "kernel send (launch 1) on device 0 writes allocation 0x700000000000 and "
                     "kernel receive (launch 2) on device 1 reads it; nothing of scope sys orders "
                     "the two");
    ck_assert_uint_eq(world.last.first.device, 0);
    ck_assert_uint_eq(world.last.second.device, 1);
    make_hop(&(hop){true, {BY_FENCE, BY_FENCE}, {sys, sys}, {sys, gpu}, false});
    ck_assert_str_eq(world.missing,
                     "an acquire of scope sys in kernel receive (launch 4) on device 1 before its "
                     "access: ld.acquire.sys of the flag, or fence.acq_rel.sys behind the read of "
                     "it");
    make_hop(&(hop){true, {BY_ACCESS, BY_NOTHING}, {sys, sys}, {sys, sys}, false});
    ck_assert_msg(strstr(world.missing, "an acquire of scope sys in kernel receive"), "%s",
                  world.missing);
}

/* The flag itself, when a side has scope gpu. */
TEST(devices, words_about_flags)
{
    static const struct {
        gd_scope first, second;
        const char *missing;
    } cases[] = {
        {GD_SCOPE_GPU, GD_SCOPE_SYS,
         "scope sys on the access of kernel send (launch 1) on device 0"},
        {GD_SCOPE_SYS, GD_SCOPE_GPU,
         "scope sys on the access of kernel receive (launch 4) on device 1"},
        {GD_SCOPE_GPU, GD_SCOPE_GPU,
         "scope sys on the access of kernel send (launch 5) on device 0, and on that of kernel "
         "receive (launch 6) on device 1"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gd_race_task *first = kernel_on("send", 0), *second = kernel_on("receive", 1);
        begin_behind(first, NULL, GD_RACE_COMPLETE);
        begin_behind(second, NULL, GD_RACE_COMPLETE);
        gd_race_cta *a = make_cta(first, 0, 64), *b = make_cta(second, 0, 64);
        touch(a, 3, 256, 4, GD_ACTION_WRITE, RELEASE, cases[i].first);
        touch(b, 3, 256, 4, GD_ACTION_READ, ACQUIRE, cases[i].second);
        ck_assert_uint_eq(races(), 1);
        ck_assert_str_eq(world.missing, cases[i].missing);
        finish(a, first, NULL);
        finish(b, second, NULL);
        release(first);
        release(second);
        gd_race_host_wait_all(world.race);
    }
}

/* A counter of scope sys that both devices count on keeps each device's accesses apart: an access
 * of scope gpu gets on with those of its own device alone. */
TEST(devices, counters_of_two_devices)
{
    gd_race_task *first = kernel_on("one", 0), *second = kernel_on("other", 1);

    begin_behind(first, NULL, GD_RACE_COMPLETE);
    begin_behind(second, NULL, GD_RACE_COMPLETE);
    gd_race_cta *a = make_cta(first, 0, 64), *b = make_cta(second, 0, 64),
                *c = make_cta(first, 1, 64);
    for (uint32_t i = 0; i < 4; i++) {
        atom(i & 1 ? b : a, i, 0, ACQ_REL, GD_SCOPE_SYS);
        NO_RACE();
    }
    atom(a, 0, 64, RELAXED, GD_SCOPE_GPU);
    atom(c, 0, 64, RELAXED, GD_SCOPE_SYS);
    NO_RACE();
    atom(b, 0, 64, RELAXED, GD_SCOPE_SYS);
    RACE("scope sys on the access of kernel one");
}

/* The last of the CTAs to count itself reads what all have written. */
static uint32_t reduce_last(bool fences, int how)
{
    gd_race_task *task = open_grid();
    gd_race_cta *ctas[4];

    for (uint32_t i = 0; i < 4; i++) {
        ctas[i] = make_cta(task, i, 64);
        wr(ctas[i], 33, i * 4);
        barrier(ctas[i]);
        if (fences)
            fence(ctas[i], 0, GD_SCOPE_GPU);
        atom(ctas[i], 0, 256, how, GD_SCOPE_GPU);
        if (fences)
            fence(ctas[i], 0, GD_SCOPE_GPU);
        barrier(ctas[i]);
    }
    for (uint32_t i = 0; i < 4; i++)
        rd(ctas[3], 40 + i, i * 4);
    uint32_t found = races();
    end_all();
    return found;
}

TEST(cta, last_block_reduction)
{
    ck_assert_uint_eq(reduce_last(true, RELAXED), 0);
    ck_assert_uint_eq(reduce_last(false, ACQ_REL), 0);
    ck_assert_uint_eq(reduce_last(false, RELAXED), 3);
    ck_assert_uint_eq(reduce_last(false, RELEASE), 3);
}

/* Every thread writes, fences and meets; one counts; all of the last CTA fence and read what others
 * wrote. */
static uint32_t reduce_by_all(bool first, bool counts, bool second, bool sc)
{
    gd_race_task *task = open_grid();
    gd_race_cta *ctas[3];

    for (uint32_t i = 0; i < 3; i++) {
        ctas[i] = make_cta(task, i, 64);
        for (uint32_t thread = 0; thread < 64; thread++) {
            wr(ctas[i], thread, (i * 64 + thread) * 4);
            if (first)
                gd_race_fence(ctas[i], thread / 32, UINT32_C(1) << thread % 32, GD_SCOPE_GPU, sc);
        }
        barrier(ctas[i]);
        if (counts)
            atom(ctas[i], 0, 1024, RELAXED, GD_SCOPE_GPU);
        barrier(ctas[i]);
    }
    for (uint32_t thread = 0; thread < 64; thread++) {
        if (second)
            gd_race_fence(ctas[2], thread / 32, UINT32_C(1) << thread % 32, GD_SCOPE_GPU, sc);
        rd(ctas[2], thread, thread * 4);
    }
    uint32_t found = races();
    end_all();
    return found;
}

/* PTX ISA 8.9.3, 8.9.4: fence.sc are ordered as the communication between them is, with barriers on
 * the way. */
TEST(cta, sequentially_consistent_fences)
{
    ck_assert_uint_eq(reduce_by_all(true, true, true, true), 0);
    ck_assert_uint_gt(reduce_by_all(true, true, true, false), 0);
    ck_assert_uint_gt(reduce_by_all(false, true, true, true), 0);
    ck_assert_uint_gt(reduce_by_all(true, true, false, true), 0);
    ck_assert_uint_gt(reduce_by_all(true, false, true, true), 0);
}

/* What a fence.sc is for goes with a trigger behind a barrier too, on to a kernel that passes it
 * on: the barrier tells the others of the CTA, and the fence's own release keeps it. */
TEST(cta, fences_behind_a_barrier_and_a_trigger)
{
    gd_race_task *first = kernel("a", 1), *second = kernel("b", 1);

    begin_behind(first, NULL, GD_RACE_COMPLETE);
    gd_race_cta *a = make_cta(first, 0, 64);
    wr(a, 3, 0);
    fence_sc(a, 3);
    barrier(a);
    trigger(a, 3);
    begin_behind(second, first, GD_RACE_PROGRAMMATIC);
    gd_race_cta *b = make_cta(second, 0, 64);
    make_cta(second, 1, 64);
    touch(b, 0, 256, 4, GD_ACTION_WRITE, RELAXED, GD_SCOPE_GPU);
    finish(a, first, NULL);
    gd_race_task *third = kernel("c", 2);
    begin_behind(third, NULL, GD_RACE_COMPLETE);
    gd_race_cta *d = make_cta(third, 0, 64);
    touch(d, 0, 256, 4, GD_ACTION_READ, RELAXED, GD_SCOPE_GPU);
    fence_sc(d, 0);
    rd(d, 0, 0);
    NO_RACE();
}

/* A fence orders what its own thread did before it, not what a neighbour did that has not met
 * it. */
TEST(cta, fences_of_one_thread_alone)
{
    gd_race_task *task = open_grid();
    gd_race_cta *a = make_cta(task, 0, 64), *b = make_cta(task, 1, 64);

    wr(a, 0, 0);
    wr(a, 1, 4);
    gd_race_fence(a, 0, 3, GD_SCOPE_GPU, true);
    atom(a, 0, 256, RELAXED, GD_SCOPE_GPU);
    atom(b, 0, 256, RELAXED, GD_SCOPE_GPU);
    fence_sc(b, 0);
    rd(b, 0, 0);
    NO_RACE();
    rd(b, 0, 4);
    RACE("CTAs of one grid run in no order");
}

/* The last to count resets the counter: its own atomic operation has read what the others left
 * there. */
TEST(cta, plain_access_behind_an_atomic)
{
    gd_race_task *task = open_grid();
    gd_race_cta *a = make_cta(task, 0, 64), *b = make_cta(task, 1, 64), *c = make_cta(task, 2, 64);

    wr(a, 0, 64);
    atom(a, 0, 0, RELAXED, GD_SCOPE_GPU);
    atom(b, 0, 0, RELAXED, GD_SCOPE_GPU);
    atom(c, 0, 0, RELAXED, GD_SCOPE_GPU);
    rd(c, 0, 0);
    wr(c, 0, 0);
    NO_RACE();
    rd(c, 0, 64);
    RACE("CTAs of one grid run in no order"); /* that location alone */
    atom(b, 0, 128, RELAXED, GD_SCOPE_GPU);
    atom(a, 0, 128, RELAXED, GD_SCOPE_GPU);
    wr(b, 0, 128);
    RACE("CTAs of one grid run in no order"); /* the other one came later */
}

/* ---- values, and bytes that nobody wrote ---- */

TEST(cta, writes_of_the_same_value)
{
    gd_race_task *task = open_grid();
    uint64_t addresses[32] = {0};
    gd_race_operation operation = operation_of(0, GD_ACTION_WRITE, 4, WEAK, GD_SCOPE_CTA);

    gd_race_cta *cta = cta_of(task);
    world.same = true;
    wr(cta, 0, 0);
    wr(cta, 40, 0);
    NO_RACE();
    world.same = false;
    wr(cta, 0, 0);
    RACE("a barrier");
    operation.mask = 3;
    operation.equal = ask_equal;
    operation.addresses = addresses;
    addresses[0] = addresses[1] = BASE + 64;
    gd_race_global(cta, world.memory, &operation);
    RACE("lanes of a warp");
    barrier(cta);
    world.equal = true;
    gd_race_global(cta, world.memory, &operation);
    NO_RACE();
}

TEST(initialized, uninitialized_reads)
{
    gd_race_task *fill = other_task(GD_ACTION_FILL, 1), *task = kernel("k", 1);
    gd_shadow *fresh = gd_shadow_create(world.race, BASE + MEMORY_BYTES, 64, NULL, false),
              *old = world.memory;

    world.memory = fresh;
    begin_behind(fill, NULL, GD_RACE_COMPLETE);
    gd_race_range(world.race, fill, fresh, 0, 32, true);
    end_behind(fill, NULL);
    begin_behind(task, fill, GD_RACE_COMPLETE);
    gd_race_cta *cta = cta_of(task);
    rd(cta, 0, MEMORY_BYTES + 28);
    ck_assert_uint_eq(world.uninitialized, 0);
    rd(cta, 0, MEMORY_BYTES + 32);
    rd(cta, 1, MEMORY_BYTES + 32);
    ck_assert_uint_eq(world.uninitialized, 1);
    atom(cta, 0, MEMORY_BYTES + 40, RELAXED, GD_SCOPE_GPU);
    ck_assert_uint_eq(world.uninitialized, 2);
    wr(cta, 0, MEMORY_BYTES + 36);
    rd(cta, 0, MEMORY_BYTES + 36);
    touch_shared(cta, 0, cta, 0, GD_ACTION_WRITE, WEAK);
    touch_shared(cta, 0, cta, 0, GD_ACTION_READ, WEAK);
    ck_assert_uint_eq(world.uninitialized, 2);
    touch_shared(cta, 0, cta, 4, GD_ACTION_READ, WEAK);
    ck_assert_uint_eq(world.uninitialized, 3);
    ck_assert_uint_eq(races(), 0);
    finish(cta, task, fill);
    release(fill);
    release(task);
    gd_shadow_destroy(world.race, fresh);
    world.memory = old;
}

/* ---- what else orders the threads of a CTA ---- */

TEST(cta, named_barriers)
{
    gd_race_cta *cta = cta_of(open_grid());

    /* Lane 0 of both warps meet at barrier 1, the others go on. */
    wr(cta, 0, 0);
    wr(cta, 1, 4);
    gd_race_barrier_arrive(cta, 1, 0, 1, true);
    gd_race_barrier_arrive(cta, 1, 1, 1, true);
    gd_race_barrier_complete(cta, 1);
    rd(cta, 32, 0);
    NO_RACE();
    rd(cta, 33, 0);
    RACE("a barrier");
    rd(cta, 32, 4);
    RACE("a barrier");
    /* Warp 0 arrives and goes on; warp 1 waits: it has what came before the arrival alone. */
    wr(cta, 0, 64);
    gd_race_barrier_arrive(cta, 2, 0, UINT32_MAX, false);
    wr(cta, 0, 68);
    gd_race_barrier_arrive(cta, 2, 1, UINT32_MAX, true);
    gd_race_barrier_complete(cta, 2);
    rd(cta, 40, 64);
    NO_RACE();
    rd(cta, 40, 68);
    RACE("a barrier");
    wr(cta, 40, 128);
    rd(cta, 0, 128);
    RACE("a barrier");
}

TEST(cta, meetings_of_a_warp)
{
    gd_race_cta *cta = cta_of(open_grid());

    wr(cta, 0, 0);
    rd(cta, 1, 0);
    RACE("bar.warp.sync between");
    wr(cta, 0, 64);
    gd_race_warp_sync(cta, 0, UINT32_MAX);
    rd(cta, 1, 64);
    NO_RACE();
    rd(cta, 32, 64);
    RACE("a barrier");
    wr(cta, 0, 128);
    wr(cta, 2, 132);
    gd_race_warp_sync(cta, 0, 3);
    rd(cta, 1, 128);
    NO_RACE();
    rd(cta, 1, 132);
    RACE("bar.warp.sync between");
    rd(cta, 2, 128);
    RACE("bar.warp.sync between");
    /* What a warp synchronized among itself goes along with what one of its lanes lets others
     * know. */
    wr(cta, 5, 192);
    gd_race_warp_sync(cta, 0, UINT32_MAX);
    gd_race_barrier_arrive(cta, 1, 0, 1, true);
    gd_race_barrier_arrive(cta, 1, 1, 1, true);
    gd_race_barrier_complete(cta, 1);
    rd(cta, 32, 192);
    NO_RACE();
    gd_race_warp_sync(cta, 0, UINT32_MAX);
    wr(cta, 6, 256);
    gd_race_warp_sync(cta, 0, UINT32_MAX); /* all lanes know the same here */
    wr(cta, 6, 320);
    gd_race_mbarrier_arrive(cta, 0, 1, cta, 0x400, false);
    gd_race_mbarrier_complete(cta, 0x400);
    gd_race_mbarrier_wait(cta, 1, 1, cta, 0x400);
    rd(cta, 32, 256);
    NO_RACE();
    rd(cta, 32, 320);
    RACE("a barrier");
}

TEST(cta, mbarrier_phases)
{
    gd_race_cta *cta = cta_of(open_grid());

    wr(cta, 0, 0);
    gd_race_mbarrier_arrive(cta, 0, 1, cta, 0x400, false);
    gd_race_mbarrier_complete(cta, 0x400);
    /* Arrives for the next phase before the other has seen the end of this one. */
    wr(cta, 0, 64);
    gd_race_mbarrier_arrive(cta, 0, 1, cta, 0x400, false);
    gd_race_mbarrier_wait(cta, 1, 1, cta, 0x400);
    rd(cta, 32, 0);
    NO_RACE();
    rd(cta, 32, 64);
    RACE("a barrier");
    rd(cta, 33, 0);
    RACE("a barrier");
    gd_race_mbarrier_complete(cta, 0x400);
    gd_race_mbarrier_forget(cta, 0x400);
    gd_race_mbarrier_wait(cta, 1, 4, cta, 0x400);
    rd(cta, 34, 0);
    RACE("a barrier");
}

TEST(cta, groups_of_asynchronous_copies)
{
    gd_race_cta *cta = cta_of(open_grid());

    touch_shared(cta, 0, cta, 0, GD_ACTION_WRITE, ASYNC);
    touch_shared(cta, 0, cta, 0, GD_ACTION_READ, WEAK);
    RACE("before the copy's completion was waited for");
    gd_race_async_commit(cta, 0, 1);
    touch_shared(cta, 0, cta, 16, GD_ACTION_WRITE, ASYNC);
    gd_race_async_commit(cta, 0, 1);
    gd_race_async_wait(cta, 0, 1, 1);
    touch_shared(cta, 0, cta, 0, GD_ACTION_READ, WEAK);
    NO_RACE();
    touch_shared(cta, 0, cta, 16, GD_ACTION_READ, WEAK);
    RACE("copy's group");
    gd_race_async_wait(cta, 0, 1, 0);
    touch_shared(cta, 0, cta, 16, GD_ACTION_READ, WEAK);
    NO_RACE();
    /* A wait is the thread's own; a barrier hands it on. */
    touch_shared(cta, 40, cta, 16, GD_ACTION_READ, WEAK);
    ck_assert_uint_eq(races(), 1);
    barrier(cta);
    touch_shared(cta, 40, cta, 16, GD_ACTION_READ, WEAK);
    NO_RACE();
    /* A barrier alone does not end a copy. */
    touch_shared(cta, 0, cta, 32, GD_ACTION_WRITE, ASYNC);
    barrier(cta);
    touch_shared(cta, 40, cta, 32, GD_ACTION_READ, WEAK);
    RACE("asynchronous copy");
    gd_race_async_wait_all(cta, 0, 1);
    gd_race_warp_sync(cta, 0, UINT32_MAX);
    touch_shared(cta, 5, cta, 32, GD_ACTION_READ, WEAK);
    NO_RACE();
}

static void copy_bulk(gd_race_cta *cta, uint32_t thread, uint64_t offset)
{
    gd_race_operation operation = operation_of(thread, GD_ACTION_WRITE, 16, ASYNC, GD_SCOPE_CTA);

    gd_race_shared_pieces(cta, cta, &operation, &(gd_race_piece){0x400 + offset, 2048}, 1);
}

TEST(cta, bulk_copies_complete_on_their_mbarrier)
{
    gd_race_cta *cta = cta_of(open_grid());

    copy_bulk(cta, 0, 0);
    gd_race_mbarrier_arrive(cta, 0, 1, cta, 0x1000, true);
    gd_race_mbarrier_complete(cta, 0x1000);
    copy_bulk(cta, 0, 2048);
    gd_race_mbarrier_arrive(cta, 0, 1, cta, 0x1008, true);
    gd_race_mbarrier_complete(cta, 0x1008);
    gd_race_mbarrier_wait(cta, 1, 1, cta, 0x1008);
    touch_shared(cta, 32, cta, 2048, GD_ACTION_READ, WEAK);
    NO_RACE();
    touch_shared(cta, 32, cta, 100, GD_ACTION_READ, WEAK);
    RACE("a wait for the mbarrier");
    gd_race_mbarrier_wait(cta, 1, 1, cta, 0x1000);
    touch_shared(cta, 32, cta, 100, GD_ACTION_READ, WEAK);
    NO_RACE();
    touch_shared(cta, 0, cta, 100, GD_ACTION_WRITE, WEAK);
    RACE("asynchronous copy");
    barrier(cta);
    touch_shared(cta, 50, cta, 2148, GD_ACTION_WRITE, WEAK);
    NO_RACE();
}

/* A bulk copy to global memory, of which the source may be waited for alone. */
static void store_bulk(gd_race_cta *cta, uint32_t thread)
{
    gd_race_operation operation = operation_of(thread, GD_ACTION_READ, 512, ASYNC, GD_SCOPE_CTA);

    gd_race_shared_pieces(cta, cta, &operation, &(gd_race_piece){0x400, 512}, 1);
    operation.action = GD_ACTION_WRITE;
    gd_race_global_pieces(cta, world.memory, &operation, &(gd_race_piece){BASE, 512}, 1);
    gd_race_async_commit(cta, thread / 32, UINT32_C(1) << thread % 32);
}

TEST(cta, wait_for_what_a_bulk_copy_reads)
{
    gd_race_cta *cta = cta_of(open_grid());

    store_bulk(cta, 0);
    touch_shared(cta, 0, cta, 16, GD_ACTION_WRITE, WEAK);
    RACE("asynchronous copy");
    gd_race_async_wait(cta, 0, 1, 0);
    barrier(cta);
    store_bulk(cta, 0);
    gd_race_async_wait_read(cta, 0, 1, 0);
    touch_shared(cta, 0, cta, 64, GD_ACTION_WRITE, WEAK);
    barrier(cta);
    touch_shared(cta, 40, cta, 128, GD_ACTION_WRITE, WEAK);
    NO_RACE();
    rd(cta, 40, 64);
    RACE("asynchronous copy");
    gd_race_async_wait(cta, 0, 1, 0);
    barrier(cta);
    rd(cta, 41, 128);
    NO_RACE();
}

TEST(cta, barriers_of_a_cluster)
{
    gd_race_task *task = make_kernel("k", 1, 4, 64, 2);

    begin_behind(task, NULL, GD_RACE_COMPLETE);
    gd_race_cta *a = make_cta(task, 0, 64), *b = make_cta(task, 1, 64), *pair[2] = {a, b};
    for (int ordered = 0; ordered < 2; ordered++) {
        touch_shared(a, 0, b, (uint64_t)ordered * 16, GD_ACTION_WRITE, WEAK);
        for (uint32_t i = 0; i < 2; i++) {
            gd_race_cluster_arrive(pair[i], 0, UINT32_MAX, ordered);
            gd_race_cluster_arrive(pair[i], 1, UINT32_MAX, ordered);
        }
        gd_race_cluster_complete(pair, 2);
        gd_race_cluster_wait(b, 1, 1);
        touch_shared(b, 32, b, (uint64_t)ordered * 16, GD_ACTION_READ, WEAK);
        if (ordered)
            NO_RACE();
        else
            RACE("CTAs of one cluster run in no order");
    }
    touch_shared(b, 0, b, 16, GD_ACTION_READ, WEAK);
    ck_assert_uint_eq(races(), 1);
    /* Scope cluster gets on within the cluster, and nowhere else. */
    gd_race_cta *c = make_cta(task, 2, 64);
    atom(a, 0, 0, RELAXED, GD_SCOPE_CLUSTER);
    atom(b, 0, 0, RELAXED, GD_SCOPE_CLUSTER);
    NO_RACE();
    atom(c, 0, 0, RELAXED, GD_SCOPE_CLUSTER);
    RACE("scope");
}

/* ---- atomics ---- */

TEST(cta, atomics_and_plain_accesses)
{
    gd_race_task *task = open_grid();
    gd_race_cta *a = make_cta(task, 0, 64), *b = make_cta(task, 1, 64), *c = make_cta(task, 2, 64);

    atom(a, 0, 0, RELAXED, GD_SCOPE_GPU);
    atom(b, 0, 0, RELAXED, GD_SCOPE_GPU);
    atom(c, 0, 0, RELAXED, GD_SCOPE_SYS);
    NO_RACE();
    rd(b, 0, 0);
    RACE("make both so");
    /* A plain write before the own atomic still races with the atomics of others. */
    wr(a, 0, 64);
    atom(a, 0, 64, RELAXED, GD_SCOPE_GPU);
    atom(b, 0, 64, RELAXED, GD_SCOPE_GPU);
    RACE("CTAs of one grid run in no order");
    rd(a, 0, 128);
    atom(a, 0, 128, RELAXED, GD_SCOPE_GPU);
    atom(b, 0, 128, RELAXED, GD_SCOPE_GPU);
    RACE("CTAs of one grid run in no order");
    atom(a, 0, 192, RELAXED, GD_SCOPE_CTA);
    atom(a, 40, 192, RELAXED, GD_SCOPE_CTA);
    NO_RACE();
    atom(b, 0, 192, RELAXED, GD_SCOPE_GPU);
    RACE("scope");
}

/* A release, then an atomic of a third that joins the chain, then an acquire; a store in between
 * breaks it. */
static uint32_t run_chain(gd_action between)
{
    gd_race_task *task = open_grid();
    gd_race_cta *a = make_cta(task, 0, 64), *b = make_cta(task, 1, 64), *c = make_cta(task, 2, 64);

    wr(a, 0, 0);
    touch(a, 0, 256, 4, GD_ACTION_WRITE, RELEASE, GD_SCOPE_GPU);
    touch(b, 0, 256, 4, between, RELAXED, GD_SCOPE_GPU);
    touch(c, 0, 256, 4, GD_ACTION_READ, ACQUIRE, GD_SCOPE_GPU);
    rd(c, 0, 0);
    uint32_t found = races();
    end_all();
    return found;
}

TEST(cta, release_sequences)
{
    ck_assert_uint_eq(run_chain(GD_ACTION_ATOMIC), 0);
    ck_assert_uint_eq(run_chain(GD_ACTION_READ), 0);
    ck_assert_uint_eq(run_chain(GD_ACTION_WRITE), 1);
}

/* A barrier of the grid made of a counter: twice, each CTA reads what its neighbour wrote
 * before. */
static uint32_t run_grid_barrier(bool fences)
{
    enum { CTAS = 4 };
    gd_race_task *task = open_grid();
    gd_race_cta *ctas[CTAS];

    for (uint32_t i = 0; i < CTAS; i++)
        ctas[i] = make_cta(task, i, 64);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < CTAS; i++) {
            wr(ctas[i], 33, round * 64 + i * 4);
            barrier(ctas[i]);
            if (fences)
                fence(ctas[i], 0, GD_SCOPE_GPU);
            atom(ctas[i], 0, 512, RELAXED, GD_SCOPE_GPU);
        }
        for (uint32_t i = 0; i < CTAS; i++) {
            touch(ctas[i], 0, 512, 4, GD_ACTION_READ, fences ? ACQUIRE : RELAXED, GD_SCOPE_GPU);
            barrier(ctas[i]);
            rd(ctas[i], 50, round * 64 + (i + 1) % CTAS * 4);
        }
    }
    for (uint32_t i = 0; i < CTAS; i++)
        wr(ctas[i], 0, (i + 1) % CTAS * 4);
    uint32_t found = races();
    end_all();
    return found;
}

TEST(cta, barrier_of_a_grid)
{
    ck_assert_uint_eq(run_grid_barrier(true), 0);
    ck_assert_uint_gt(run_grid_barrier(false), 0);
}

/* ---- bytes ---- */

TEST(cta, bytes_are_told_apart)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    gd_race_cta *cta = cta_of(open_grid());

    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t j = 0; j < 5; j++) {
            uint64_t base = 1024 - 32 + 4096 * (uint64_t)(i * 5 + j) % MEMORY_BYTES;
            for (uint32_t at = 0; at < 32; at += sizes[j]) {
                uint64_t place = base % 32 ? base : base;
                barrier(cta);
                touch(cta, 0, place + 16, sizes[i], GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
                touch(cta, 40, place + at, sizes[j], GD_ACTION_READ, WEAK, GD_SCOPE_CTA);
                bool overlap = at < 16 + sizes[i] && 16 < at + sizes[j];
                ck_assert_msg((races() > 0) == overlap, "%u bytes at 16, %u bytes at %u", sizes[i],
                              sizes[j], at);
            }
        }
    }
    /* Over the border of a page, and not aligned. */
    barrier(cta);
    touch(cta, 0, 2046, 4, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    touch(cta, 40, 2045, 1, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    touch(cta, 40, 2050, 1, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    NO_RACE();
    touch(cta, 40, 2049, 1, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    ck_assert_uint_eq(races(), 1);
    ck_assert_uint_eq(world.last.offset, 2049);
    touch(cta, 40, 2046, 1, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    ck_assert_uint_eq(races(), 1);
    /* The last byte of the allocation. */
    touch(cta, 0, MEMORY_BYTES - 1, 1, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    touch(cta, 40, MEMORY_BYTES - 4, 4, GD_ACTION_READ, WEAK, GD_SCOPE_CTA);
    ck_assert_uint_eq(races(), 1);
}

TEST(cta, every_reader_up_to_the_limit_is_found)
{
    gd_race_cta *cta = cta_of(open_grid());

    for (uint32_t who = 0; who < GD_RACE_READERS; who++) {
        const uint64_t place = who * 64;
        barrier(cta);
        for (uint32_t i = 0; i < GD_RACE_READERS; i++)
            rd(cta, i * 7, place);
        NO_RACE();
        /* All but one are ordered before the writer. */
        for (uint32_t i = 0; i < GD_RACE_READERS; i++) {
            if (i != who)
                gd_race_mbarrier_arrive(cta, 0, UINT32_C(1) << (i * 7), cta, 0x400 + 8 * who,
                                        false);
        }
        gd_race_mbarrier_complete(cta, 0x400 + 8 * who);
        gd_race_mbarrier_wait(cta, 1, 1, cta, 0x400 + 8 * who);
        wr(cta, 32, place);
        ck_assert_uint_eq(races(), 1);
        ck_assert_uint_eq(world.last.first.thread[0], who * 7);
    }
    /* Of many readers some are kept, of different warps first. */
    barrier(cta);
    for (uint32_t i = 0; i < 64; i++)
        rd(cta, i, 512);
    gd_race_mbarrier_arrive(cta, 0, UINT32_MAX, cta, 0x500, false);
    gd_race_mbarrier_complete(cta, 0x500);
    gd_race_mbarrier_wait(cta, 1, UINT32_MAX, cta, 0x500);
    wr(cta, 63, 512);
    RACE("bar.warp.sync between the two accesses");
}

/* ---- cost ---- */

TEST(cost, memory_of_cells)
{
    gd_race_task *fill = other_task(GD_ACTION_FILL, 1), *task = kernel("k", 1);
    uint64_t cells;

    begin_behind(fill, NULL, GD_RACE_COMPLETE);
    gd_shadow *large =
        gd_shadow_create(world.race, BASE + (UINT64_C(1) << 32), UINT64_C(512) << 20, NULL, false);
    gd_race_range(world.race, fill, large, 0, UINT64_C(512) << 20, true);
    gd_race_bytes(world.race, &cells);
    ck_assert_uint_eq(cells, 0);
    end_behind(fill, NULL);
    begin_behind(task, fill, GD_RACE_COMPLETE);
    gd_race_cta *cta = cta_of(task);
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2) {
        uint64_t before, after, touched = 0;
        gd_race_bytes(world.race, &before);
        for (uint32_t at = 0; at < 4096; at += bytes, touched += bytes)
            touch(cta, at / bytes % 32, bytes * 8192 % MEMORY_BYTES + at % 4096, bytes,
                  GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
        gd_race_bytes(world.race, &after);
        ck_assert_uint_le(after - before, 8 * touched / bytes + 0);
    }
    gd_race_range(world.race, fill, world.memory, 0, MEMORY_BYTES, true);
    gd_race_bytes(world.race, &cells);
    ck_assert_uint_eq(cells, 0);
    finish(cta, task, fill);
    release(fill);
    release(task);
    gd_shadow_destroy(world.race, large);
}

TEST(cost, entries_are_collected)
{
    gd_race_cta *cta = cta_of(open_grid());
    uint64_t most = 0;

    for (uint32_t i = 0; i < 2000000; i++) {
        world.site = i % 1000;
        wr(cta, i % 64, i % 512 * 4);
        if (i % 16 == 0)
            barrier(cta);
        else
            gd_race_warp_sync(cta, i % 64 / 32, UINT32_MAX);
        uint64_t bytes = gd_race_bytes(world.race, NULL);
        most = bytes > most ? bytes : most;
    }
    ck_assert_msg(most < UINT64_C(24) << 20, "%" PRIu64 " bytes", most);
}

/* ---- no memory ---- */

/* A bit of everything; nothing of it may fail, whatever is NULL. */
static void run_everything(void)
{
    gd_race_task *a = kernel("a", 1), *b = make_kernel("b", 1, 2, 64, 2);
    const gd_race_site site = {"a", 1, 2, 3, "ld.global.f32 %f1, [%rd1];"};

    world.site = gd_race_site_add(world.race, &site);
    begin_behind(a, NULL, GD_RACE_COMPLETE);
    gd_race_cta *ca = make_cta(a, 0, 64);
    wr(ca, 0, 0);
    touch(ca, 40, 64, 16, GD_ACTION_WRITE, WEAK, GD_SCOPE_CTA);
    touch(ca, 40, 70, 1, GD_ACTION_READ, WEAK, GD_SCOPE_CTA);
    touch_shared(ca, 0, ca, 0, GD_ACTION_WRITE, ASYNC);
    gd_race_async_wait_all(ca, 0, 1);
    barrier(ca);
    gd_race_barrier_arrive(ca, 1, 0, 3, false);
    gd_race_barrier_arrive(ca, 1, 1, 3, true);
    gd_race_barrier_complete(ca, 1);
    gd_race_warp_sync(ca, 0, 3);
    copy_bulk(ca, 0, 128);
    gd_race_mbarrier_arrive(ca, 0, 1, ca, 0x400, true);
    gd_race_mbarrier_complete(ca, 0x400);
    gd_race_mbarrier_wait(ca, 1, 3, ca, 0x400);
    fence(ca, 0, GD_SCOPE_GPU);
    atom(ca, 0, 128, ACQ_REL, GD_SCOPE_GPU);
    atom(ca, 40, 128, RELAXED, GD_SCOPE_GPU);
    fence(ca, 40, GD_SCOPE_GPU);
    trigger(ca, 0);
    begin_behind(b, a, GD_RACE_PROGRAMMATIC);
    gd_race_cta *cb[2] = {make_cta(b, 0, 64), make_cta(b, 1, 64)};
    for (uint32_t i = 0; i < 6; i++)
        rd(cb[i & 1], i * 9, 256);
    gd_race_cluster_arrive(cb[0], 0, 3, true);
    gd_race_cluster_complete(cb, 2);
    gd_race_cluster_wait(cb[1], 0, 3);
    rd(cb[0], 0, 0);
    finish(ca, a, NULL);
    let_wait(b, a);
    grid_wait(cb[0], 0);
    leave(cb[0]);
    finish(cb[1], b, a);
    gd_race_range(world.race, b, world.memory, 100, 5000, true);
    gd_race_host_wait(world.race, b);
    end_all();
}

TEST(exhausted, any_allocation_may_fail)
{
    for (long n = 0;; n++) {
        ck_assert_int_lt(n, 2000);
        fail_alloc_after(n);
        open_world(false, false, false);
        bool opened = world.race != NULL;
        run_everything();
        bool hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_msg(!opened || world.exhausted == hit, "allocation %ld: told %u times", n,
                      world.exhausted);
        if (hit)
            ck_assert_uint_le(world.races, 2);
        close_world();
        if (!hit)
            break;
    }
}

MAIN_OF_SUITE("race")
