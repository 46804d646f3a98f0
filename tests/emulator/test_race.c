/* The race detector, told by hand what happens: for each rule of order a racing case and its nearest ordered neighbour,
 * then granularity, memory, many tasks, allocations that fail, and random schedules against a slow exact model. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulator/race.h"
#include "unit/fail_alloc.h"

#define BASE UINT64_C(0x700000000000)

enum { MEMORY_BYTES = 64 * 1024, ALL = -1 };

/* ---- a world ---- */

static struct {
    gd_race *race;
    gd_shadow *memory;
    uint64_t launches;
    uint32_t site;
    uint32_t races, uninitialized, exhausted;
    char text[1024], missing[1024];
    gd_race_finding last;
    bool same, equal;
} world;

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
    world.last = *finding;
    snprintf(world.text, sizeof world.text, "%s", finding->text);
    snprintf(world.missing, sizeof world.missing, "%s", finding->missing);
}

static void open_world(bool observed, bool initialized)
{
    const gd_race_options options = {true, true, initialized, observed, take_finding, NULL};

    memset(&world, 0, sizeof world);
    world.race = gd_race_create(&options);
    if (world.race)
        world.memory = gd_shadow_create(world.race, BASE, MEMORY_BYTES, NULL, true);
}

static void close_world(void)
{
    gd_shadow_destroy(world.race, world.memory);
    gd_race_destroy(world.race);
    world.race = NULL;
}

static void setup(void)
{
    open_world(false, false);
    ck_assert_ptr_nonnull(world.memory);
}

static void setup_observed(void)
{
    open_world(true, false);
}

static void setup_initialized(void)
{
    open_world(false, true);
}

/* How many races there have been since the last question. */
static uint32_t races(void)
{
    uint32_t count = world.races;

    world.races = 0;
    return count;
}

#define NO_RACE() ck_assert_msg(races() == 0, "a false alarm: %s", world.text)
#define RACE(words)                                                                                                    \
    do {                                                                                                               \
        ck_assert_msg(races() > 0, "a race was not found");                                                            \
        ck_assert_msg(strstr(world.text, words) || strstr(world.missing, words), "\"%s\" lacks \"%s\"", world.text,    \
                      words);                                                                                          \
        ck_assert_msg(world.missing[0] != 0, "nothing is said to be missing");                                         \
    } while (0)

/* ---- tasks ---- */

static gd_race_task *make_kernel(const char *name, uint64_t stream, uint32_t ctas, uint32_t threads, uint32_t cluster)
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

    return gd_race_task_create(world.race, &info);
}

static gd_race_task *kernel(const char *name, uint64_t stream)
{
    return make_kernel(name, stream, 4, 64, 1);
}

static gd_race_task *other_task(gd_action action, uint64_t stream)
{
    const gd_race_task_info info = {.action = action, .stream = stream};

    return gd_race_task_create(world.race, &info);
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
    gd_race_task_complete(world.race, task);
    settle_behind(task, before);
}

static gd_race_cta *make_cta(gd_race_task *task, uint32_t number, uint32_t threads)
{
    const uint32_t position[3] = {number, 0, 0};

    return gd_race_cta_create(world.race, task, position, threads, 0x400, 4096);
}

static gd_race_cta *cta_of(gd_race_task *task)
{
    return make_cta(task, 0, 64);
}

static void leave(gd_race_cta *cta)
{
    gd_race_exit(cta, 0, UINT32_MAX);
    gd_race_exit(cta, 1, UINT32_MAX);
    gd_race_cta_destroy(world.race, cta);
}

static void finish(gd_race_cta *cta, gd_race_task *task, gd_race_task *before)
{
    leave(cta);
    end_behind(task, before);
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

static gd_race_operation operation_of(uint32_t thread, gd_action action, uint32_t bytes, int how, gd_scope scope)
{
    return (gd_race_operation){.warp = thread / 32,
                               .mask = UINT32_C(1) << (thread % 32),
                               .site = world.site,
                               .bytes = bytes,
                               .action = action,
                               .strong = (how != WEAK && how != ASYNC) || action == GD_ACTION_ATOMIC,
                               .acquire = how == ACQUIRE || how == ACQ_REL,
                               .release = how == RELEASE || how == ACQ_REL,
                               .async = how == ASYNC,
                               .scope = scope,
                               .same = ask_same};
}

static void touch(gd_race_cta *cta, uint32_t thread, uint64_t offset, uint32_t bytes, gd_action action, int how,
                  gd_scope scope)
{
    uint64_t addresses[32] = {0};
    gd_race_operation operation = operation_of(thread, action, bytes, how, scope);

    addresses[thread % 32] = BASE + offset;
    operation.addresses = addresses;
    gd_race_global(cta, world.memory, &operation);
}

static void touch_shared(gd_race_cta *cta, uint32_t thread, gd_race_cta *owner, uint64_t offset, gd_action action,
                         int how)
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
    gd_race_fence(cta, thread / 32, UINT32_C(1) << (thread % 32), scope);
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

START_TEST(tasks_of_a_stream)
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
    finish(cb, b, a);
    finish(cc, c, NULL);
    gd_race_task_release(world.race, a);
    gd_race_task_release(world.race, b);
    gd_race_task_release(world.race, c);
}
END_TEST

/* A program of PDL: first writes, mid overlaps it and may wait, last overlaps mid and waits; who may read what first
 * wrote? */
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
    finish(c3, last, mid);
    gd_race_task_release(world.race, first);
    gd_race_task_release(world.race, mid);
    gd_race_task_release(world.race, last);
    gd_race_host_wait_all(world.race);
    return direct << 1 | through;
}

START_TEST(wait_orders_behind_direct_prerequisites)
{
    ck_assert_uint_eq(run_transitive(true, 9, false), 0);
    ck_assert_uint_eq(run_transitive(false, 9, false), 1);
    ck_assert_msg(strstr(world.text, "waits for mid (launch") || strstr(world.text, "waits for kernel mid (launch"),
                  "%s", world.text);
    ck_assert_ptr_nonnull(strstr(world.text, "ended without waiting for kernel first"));
    ck_assert_uint_eq(run_transitive(true, 8, false), 3);
    ck_assert_ptr_nonnull(strstr(world.text, "in a thread that has not executed griddepcontrol.wait"));
    ck_assert_uint_eq(run_transitive(true, 8, true), 0);
    ck_assert_uint_eq(run_transitive(true, 63, true), 0);
}
END_TEST

START_TEST(wait_as_observed_orders_behind_all)
{
    ck_assert_uint_eq(run_transitive(false, 9, false), 0);
    ck_assert_uint_eq(run_transitive(false, 8, false), 3);
}
END_TEST

/* ---- barriers of a CTA ---- */

START_TEST(full_barrier)
{
    gd_race_task *task = kernel("k", 1);

    begin_behind(task, NULL, GD_RACE_COMPLETE);
    gd_race_cta *cta = cta_of(task);
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
    finish(cta, task, NULL);
    gd_race_task_release(world.race, task);
}
END_TEST

/* ---- patterns of release and acquire ---- */

/* CTA 0 writes data and sets a flag, CTA 1 sees the flag and reads the data. */
static uint32_t pass_message(int store, bool fence_before, int load, bool fence_behind, gd_scope scope)
{
    gd_race_task *task = kernel("k", 1);

    begin_behind(task, NULL, GD_RACE_COMPLETE);
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
    leave(a);
    finish(b, task, NULL);
    gd_race_task_release(world.race, task);
    gd_race_host_wait_all(world.race);
    return found;
}

START_TEST(message_passing)
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
END_TEST

/* The last of the CTAs to count itself reads what all have written. */
static uint32_t reduce_last(bool fences, int how)
{
    gd_race_task *task = kernel("k", 1);
    gd_race_cta *ctas[4];

    begin_behind(task, NULL, GD_RACE_COMPLETE);
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
    for (uint32_t i = 0; i < 4; i++)
        leave(ctas[i]);
    end_behind(task, NULL);
    gd_race_task_release(world.race, task);
    gd_race_host_wait_all(world.race);
    return found;
}

START_TEST(last_block_reduction)
{
    ck_assert_uint_eq(reduce_last(true, RELAXED), 0);
    ck_assert_uint_eq(reduce_last(false, ACQ_REL), 0);
    ck_assert_uint_eq(reduce_last(false, RELAXED), 3);
    ck_assert_uint_eq(reduce_last(false, RELEASE), 3);
}
END_TEST

/* ---- values, and bytes that nobody wrote ---- */

START_TEST(writes_of_the_same_value)
{
    gd_race_task *task = kernel("k", 1);
    uint64_t addresses[32] = {0};
    gd_race_operation operation = operation_of(0, GD_ACTION_WRITE, 4, WEAK, GD_SCOPE_CTA);

    begin_behind(task, NULL, GD_RACE_COMPLETE);
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
    finish(cta, task, NULL);
    gd_race_task_release(world.race, task);
}
END_TEST

START_TEST(uninitialized_reads)
{
    gd_race_task *fill = other_task(GD_ACTION_FILL, 1), *task = kernel("k", 1);
    gd_shadow *fresh = gd_shadow_create(world.race, BASE + MEMORY_BYTES, 64, NULL, false), *old = world.memory;

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
    gd_race_task_release(world.race, fill);
    gd_race_task_release(world.race, task);
    gd_shadow_destroy(world.race, fresh);
    world.memory = old;
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("race");
    TCase *tasks = tcase_create("tasks"), *observed = tcase_create("observed"), *ctas = tcase_create("cta");

    tcase_add_checked_fixture(tasks, setup, close_world);
    tcase_add_test(tasks, tasks_of_a_stream);
    tcase_add_test(tasks, wait_orders_behind_direct_prerequisites);
    suite_add_tcase(suite, tasks);
    tcase_add_checked_fixture(observed, setup_observed, close_world);
    tcase_add_test(observed, wait_as_observed_orders_behind_all);
    suite_add_tcase(suite, observed);
    tcase_add_checked_fixture(ctas, setup, close_world);
    tcase_add_test(ctas, full_barrier);
    tcase_add_test(ctas, message_passing);
    tcase_add_test(ctas, last_block_reduction);
    tcase_add_test(ctas, writes_of_the_same_value);
    suite_add_tcase(suite, ctas);
    TCase *initialized = tcase_create("initialized");
    tcase_add_checked_fixture(initialized, setup_initialized, close_world);
    tcase_add_test(initialized, uninitialized_reads);
    suite_add_tcase(suite, initialized);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());

    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
