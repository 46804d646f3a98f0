/* The queue of tasks: what has to be over before what, and running until something has been
 * reached. */
#include <stdlib.h>
#include <string.h>

#include "emulator/schedule/executable.h"
#include "emulator/schedule/grid.h"
#include "emulator/schedule/host.h"
#include "emulator/schedule/schedule.h"

/* The model's times, in nanoseconds: from the end of what a grid depends on to its start, from a
 * trigger to the start of a dependent grid, in a stream and in a graph; from the end of a grid
 * until a wait for it returns; a look at a condition, and from the end of a body to the end of its
 * node. They are near what was measured on an H200. */
enum {
    START_TIME = 1500,
    GRAPH_START_TIME = 700,
    EARLY_START_TIME = 500,
    GRAPH_EARLY_START_TIME = 300,
    CONDITION_TIME = 3100,
    JOIN_TIME = 2700,
    RELEASE_TIME = 450
};

enum { SLICE_TURNS = 64, TURNS_OF_ONE = 16 };

static struct {
    gd_task *first, *last;
    uint32_t count;
    uint32_t hosts;   /* host functions in the queue */
    bool asks;        /* a query runs a slice, and no host function, which may be long; */
    bool puts_off;    /* there was one that could have run */
    gd_task *dropped; /* not in the queue: host functions that are to be told of a fault */
    uint64_t next_number, launches, begun;
} queue;

/* ---- what the race detector is told ---- */

enum { FEW_DEPENDENCIES = 32 };

/* A task's dependencies in the detector's words; a list that is freed by free_race_list, whole or
 * empty. */
typedef struct race_list {
    gd_race_dependency few[FEW_DEPENDENCIES];
    gd_race_dependency *list;
    uint32_t count;
} race_list;

static void make_race_list(race_list *made, const gd_task *task)
{
    static const gd_race_port ports[] = {GD_RACE_COMPLETE, GD_RACE_PROGRAMMATIC, GD_RACE_LAUNCH};

    made->count = 0;
    made->list = made->few;
    if (task->dependency_count > FEW_DEPENDENCIES)
        made->list = malloc(task->dependency_count * sizeof *made->list);
    if (!made->list)
        gd_race_stop(gd_the_emulator
                         .race); /* without its dependencies a task would seem to race with them */
    for (uint32_t i = 0; made->list && i < task->dependency_count; i++) {
        const gd_dependency *dependency = &task->dependencies[i];
        if (dependency->task->race)
            made->list[made->count++] = (gd_race_dependency){.task = dependency->task->race,
                                                             .port = ports[dependency->port],
                                                             .waited = dependency->programmatic};
    }
}

static void free_race_list(race_list *made)
{
    if (made->list != made->few)
        free(made->list);
}

typedef void race_step(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                       uint32_t count);

static void tell_race(gd_task *task, race_step *step)
{
    race_list list;

    if (!task->race)
        return;
    make_race_list(&list, task);
    step(gd_the_emulator.race, task->race, list.list, list.count);
    free_race_list(&list);
}

uint64_t gd_schedule_launches_left(void)
{
    return queue.launches - queue.begun;
}

uint64_t gd_schedule_launches(void)
{
    return queue.launches;
}

/* ---- tasks ---- */

gd_task *gd_task_hold(gd_task *task)
{
    if (task)
        task->references++;
    return task;
}

static void drop_dependencies(gd_task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++)
        gd_task_release(task->dependencies[i].task);
    free(task->dependencies);
    task->dependencies = NULL;
    task->dependency_count = 0;
}

/* Dependencies are dropped when a task settles, so that this goes no deeper than one. */
void gd_task_release(gd_task *task)
{
    if (!task || --task->references)
        return;
    drop_dependencies(task);
    gd_task_release(task->join);
    gd_condition_set_release(task->conditions);
    gd_user_list_free(&task->users);
    gd_work_free(&task->work);
    if (task->race)
        gd_race_task_release(gd_the_emulator.race, task->race);
    free(task);
}

bool gd_task_reached(const gd_task *task, gd_port port)
{
    if (task->state == GD_TASK_SETTLED)
        return true;
    return port == GD_PORT_PROGRAMMATIC ? task->is_triggered
                                        : port == GD_PORT_LAUNCH && task->is_launched;
}

uint64_t gd_task_time(const gd_task *task, gd_port port)
{
    if (task->work.kind != GD_WORK_KERNEL || port == GD_PORT_COMPLETE)
        return task->settled;
    return port == GD_PORT_PROGRAMMATIC ? task->triggered : task->launched;
}

static void append(gd_task *task)
{
    task->previous = queue.last;
    if (queue.last)
        queue.last->next = task;
    else
        queue.first = task;
    queue.last = task;
    queue.count++;
}

static void unlink_task(gd_task *task)
{
    if (task->previous)
        task->previous->next = task->next;
    else
        queue.first = task->next;
    if (task->next)
        task->next->previous = task->previous;
    else
        queue.last = task->previous;
    task->next = task->previous = NULL;
    queue.count--;
    queue.hosts -= task->work.kind == GD_WORK_HOST;
    gd_task_release(task);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The task and all before it are over. */
static void settle(gd_task *task)
{
    task->settled = task->completed;
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        const gd_dependency *dependency = &task->dependencies[i];
        if (dependency->port == GD_PORT_COMPLETE || dependency->programmatic)
            task->settled = later(task->settled, dependency->task->settled);
    }
    task->state = GD_TASK_SETTLED;
    tell_race(task, gd_race_task_settle);
    drop_dependencies(task);
    gd_user_list_free(&task->users);
    unlink_task(task);
}

static bool is_settled_before(const gd_task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        if (task->dependencies[i].task->state != GD_TASK_SETTLED)
            return false;
    }
    return true;
}

/* ---- starting ---- */

/* Whether the schedule lets a task start as soon as a grid that it depends on has triggered or
 * begun. */
static bool waits_for_end(const gd_task *task)
{
    return gd_the_emulator.settings.schedule == GD_SCHEDULE_LAZY || task->late;
}

static bool has_completed(const gd_task *task)
{
    return task->state == GD_TASK_COMPLETE || task->state == GD_TASK_SETTLED;
}

static bool can_start(const gd_task *task)
{
    if (task->held)
        return false;
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        const gd_dependency *dependency = &task->dependencies[i];
        if (!gd_task_reached(dependency->task, dependency->port))
            return false;
        if (waits_for_end(task) && !has_completed(dependency->task))
            return false;
    }
    return true;
}

static uint64_t get_ready(const gd_task *task)
{
    uint64_t ready = task->submitted;

    for (uint32_t i = 0; i < task->dependency_count; i++) {
        const gd_dependency *dependency = &task->dependencies[i];
        ready = later(ready, gd_task_time(dependency->task, dependency->port));
        if (waits_for_end(task))
            ready = later(ready, dependency->task->completed);
    }
    return ready;
}

static void complete(gd_task *task, uint64_t time)
{
    task->launched = task->triggered = task->completed = time;
    task->is_launched = task->is_triggered = true;
    task->state = GD_TASK_COMPLETE;
    if (task->race)
        gd_race_task_complete(gd_the_emulator.race, task->race);
}

static bool is_programmatic(const gd_task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        if (task->dependencies[i].programmatic)
            return true;
    }
    return false;
}

static uint64_t get_start_time(const gd_task *task)
{
    if (is_programmatic(task) && !waits_for_end(task))
        return task->in_graph ? GRAPH_EARLY_START_TIME : EARLY_START_TIME;
    return task->in_graph ? GRAPH_START_TIME : START_TIME;
}

/* A context without a fault that has work of a graph's launch of which some node in `context` is
 * not over; NULL. Nodes of a launch have the number of its stream. */
static gd_context *find_partner(const gd_context *context)
{
    for (const gd_task *lost = queue.first; lost; lost = lost->next) {
        if (lost->context != context || !lost->in_graph || has_completed(lost))
            continue;
        for (const gd_task *task = queue.first; task; task = task->next) {
            if (task->in_graph && task->stream == lost->stream && !task->context->fault)
                return task->context;
        }
    }
    return NULL;
}

/* A launch of a graph fails as a whole: who waits for it waits in another context than that of the
 * node, where that is of another device. */
static void fail_context(gd_context *context, gd_CUresult result, const char *text)
{
    gd_context *partner;

    gd_device_fault(context, result, text);
    while ((partner = find_partner(context)))
        fail_context(partner, result, text);
    gd_schedule_cancel(context);
}

static void fail(const gd_task *task, gd_CUresult result, const char *text)
{
    fail_context(task->context, result, text);
}

/* A function of the program's, without the lock: it may wait for another thread that is about to
 * call the driver, and the queue may be another one behind it. That it runs tells the program that
 * what is before it is over. */
static void run_host(gd_task *task, uint64_t ready)
{
    const gd_host_work host = task->work.is.host;

    for (uint32_t i = 0; i < task->dependency_count; i++)
        gd_schedule_observe(task->dependencies[i].task, task->dependencies[i].port);
    gd_task_hold(task);
    task->state = GD_TASK_RUNNING;
    gd_call_host(&host, GD_CUDA_SUCCESS);
    if (task->state == GD_TASK_RUNNING)
        complete(task, ready + gd_work_time(&task->work));
    gd_task_release(task);
}

/* False when the queue is another: where that ended the context, and behind a host function. */
static bool start(gd_task *task)
{
    uint64_t ready = get_ready(task);
    gd_CUresult result;

    queue.begun += task->launch != 0;
    tell_race(task, gd_race_task_begin);
    if (task->work.kind == GD_WORK_HOST) {
        run_host(task, ready);
        return false;
    }
    if (task->work.kind == GD_WORK_KERNEL) {
        result = gd_grid_start(task, ready + get_start_time(task));
        if (result == GD_CUDA_SUCCESS && !is_programmatic(task))
            gd_grid_release(task->grid, ready);
    } else if (task->work.kind == GD_WORK_CONDITIONAL) {
        result = gd_executable_branch(task);
        if (result == GD_CUDA_SUCCESS)
            complete(task, ready + CONDITION_TIME);
    } else {
        result = gd_work_execute(&task->work, task->race);
        complete(task, ready + gd_work_time(&task->work) + (task->joins_body ? JOIN_TIME : 0));
    }
    if (result == GD_CUDA_SUCCESS)
        return true;
    fail(task, result,
         task->work.kind == GD_WORK_KERNEL ? "the host has no memory for a grid"
         : result == GD_CUDA_ERROR_LAUNCH_TIMEOUT
             ? "a while node does not end: its value was not 0 for too many rounds"
         : task->work.kind == GD_WORK_CONDITIONAL
             ? "the body of a conditional node cannot be launched"
             : "a copy or fill names memory that has been freed");
    return false;
}

/* ---- waits ---- */

/* Whether griddepcontrol.wait of this grid may return, and since when. */
static bool can_release(const gd_task *task, uint64_t *time)
{
    *time = 0;
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        const gd_dependency *dependency = &task->dependencies[i];
        bool settled = dependency->task->state == GD_TASK_SETTLED;
        if (!dependency->programmatic)
            continue;
        if (gd_the_emulator.settings.model == GD_MODEL_OBSERVED ? !settled
                                                                : !has_completed(dependency->task))
            return false;
        *time = later(*time, settled && gd_the_emulator.settings.model == GD_MODEL_OBSERVED
                                 ? dependency->task->settled
                                 : dependency->task->completed);
    }
    return true;
}

static void watch_dependencies(const gd_task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++) {
        const gd_dependency *dependency = &task->dependencies[i];
        if (dependency->port == GD_PORT_PROGRAMMATIC && dependency->task->grid)
            dependency->task->grid->watched = true;
    }
}

/* ---- running ---- */

/* Brings one task forward as far as it can go without running a CTA; false when the queue has
 * become another one. */
static bool promote(gd_task *task, bool *changed)
{
    uint64_t time;

    if (task->state == GD_TASK_PENDING) {
        watch_dependencies(task);
        if (!can_start(task))
            return true;
        if (queue.asks && task->work.kind == GD_WORK_HOST) {
            queue.puts_off = true;
            gd_call_hurry_host();
            return true;
        }
        *changed = true;
        if (!start(task))
            return false;
    }
    if (task->grid && !task->grid->is_released && can_release(task, &time)) {
        tell_race(task, gd_race_task_wait);
        gd_grid_release(task->grid, time + RELEASE_TIME);
        *changed = true;
    }
    if (task->state == GD_TASK_COMPLETE && is_settled_before(task)) {
        settle(task);
        *changed = true;
    }
    return true;
}

/* Goes through the queue until nothing changes any more. */
static void promote_all(void)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (gd_task *task = queue.first, *next; task; task = next) {
            next = task->next;
            if (!promote(task, &changed)) {
                changed = true;
                break;
            }
        }
        if (!gd_grid_place()) {
            const gd_grid_fault *fault = gd_grid_get_fault();
            fail(fault->task, fault->result, fault->text);
            changed = true;
        }
    }
}

/* What runs may wait for what comes behind a host function, or for what another thread hands in. */
static bool lets_others_in(void)
{
    static uint32_t turns;

    return gd_call_runs_host() || (gd_call_is_wanted() && ++turns % TURNS_OF_ONE == 0);
}

/* Nothing goes on. Whether that is certain: no other thread of the program has handed anything in
 * since, nor come back from a call, though it had time for it. */
static bool is_over(void)
{
    static uint64_t waited = UINT64_MAX; /* how many there were */

    if (waited == gd_call_get_count())
        return true;
    waited = gd_call_await_others() ? UINT64_MAX : gd_call_get_count();
    return false;
}

/* One turn; false when nothing is left to run, or only what waits for a host function that another
 * thread runs, or for other threads; with `patient` these are waited for. */
static bool advance(bool *stale, bool patient)
{
    const bool promoted = *stale;

    if (promoted)
        promote_all();
    *stale = false;
    if (!queue.first)
        return false;
    gd_turn turn = gd_grid_run(patient && !gd_call_runs_host());
    if (turn == GD_TURN_NONE && (queue.puts_off || gd_call_runs_host())) {
        if (!patient)
            return false;
        /* Another thread may have brought work forward since: that may be what the host function
         * waits for. */
        if (promoted)
            gd_call_wait_host();
    } else if (turn == GD_TURN_NONE && !patient && gd_call_has_others()) {
        return false;
    } else if (turn == GD_TURN_STUCK && is_over()) {
        gd_grid_fail_stuck();
        turn = GD_TURN_FAULT;
    } else if (turn == GD_TURN_NONE && is_over()) {
        fail(queue.first, GD_CUDA_ERROR_LAUNCH_TIMEOUT,
             "nothing that has been handed in can go on");
    }
    if (turn == GD_TURN_FAULT) {
        const gd_grid_fault *fault = gd_grid_get_fault();
        fail(fault->task, fault->result, fault->text);
    }
    *stale = turn != GD_TURN_RAN;
    if (patient && lets_others_in()) {
        gd_call_let_others_in();
        *stale = true;
    }
    return true;
}

static void run_until(const gd_task *task, gd_port port)
{
    bool stale = true;

    while (!gd_task_reached(task, port) && advance(&stale, true))
        ;
}

void gd_schedule_observe(gd_task *task, gd_port port)
{
    if (task && task->race && port == GD_PORT_COMPLETE && task->state == GD_TASK_SETTLED)
        gd_race_host_wait(gd_the_emulator.race, task->race);
}

void gd_schedule_run(gd_task *task, gd_port port)
{
    gd_task_hold(task);
    run_until(task, port);
    gd_task_release(task);
}

void gd_schedule_wait(gd_task *task, gd_port port)
{
    if (!task)
        return;
    gd_task_hold(task);
    run_until(task, port);
    gd_the_emulator.now = later(gd_the_emulator.now, gd_task_time(task, port));
    gd_schedule_observe(task, port);
    gd_task_release(task);
}

bool gd_schedule_advance(void)
{
    bool stale = true;
    int turn = 0;

    while (turn < SLICE_TURNS && advance(&stale, false))
        turn++;
    promote_all();
    return turn > 0;
}

gd_CUresult gd_schedule_query(gd_task *task, gd_port port, const gd_context *context)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    gd_task_hold(task);
    queue.asks = true;
    if (!gd_task_reached(task, port))
        gd_schedule_advance();
    queue.asks = queue.puts_off = false;
    if (context->fault)
        result = context->fault;
    else if (!gd_task_reached(task, port))
        result = GD_CUDA_ERROR_NOT_READY;
    else
        gd_schedule_observe(task, port);
    gd_task_release(task);
    return result;
}

/* The last task of a context, or of a device, that has not settled; of any for NULL. */
static gd_task *find_last(const gd_context *context, const gd_device *device)
{
    gd_task *task = queue.last;

    while (task && ((context && task->context != context) || (device && task->device != device)))
        task = task->previous;
    return task;
}

static void drain(const gd_context *context, const gd_device *device)
{
    gd_task *task;

    while ((task = find_last(context, device))) {
        gd_task_hold(task);
        gd_schedule_wait(task, GD_PORT_COMPLETE);
        gd_task_release(task);
    }
    if (gd_the_emulator.race && !queue.first)
        gd_race_host_wait_all(gd_the_emulator.race);
}

void gd_schedule_drain(const gd_context *context)
{
    drain(context, NULL);
}

void gd_schedule_drain_device(const gd_device *device)
{
    drain(NULL, device);
}

/* The function of a task that is out of the queue is to be told of a fault. */
static void drop(gd_task *task, gd_CUresult status)
{
    gd_task **end = &queue.dropped;

    while (*end)
        end = &(*end)->next;
    *end = task;
    task->work.is.host.status = status;
    gd_call_expect_host();
}

bool gd_schedule_has_dropped(void)
{
    return queue.dropped;
}

gd_task *gd_schedule_take_dropped(void)
{
    gd_task *task = queue.dropped;

    if (task) {
        queue.dropped = task->next;
        task->next = NULL;
    }
    return task;
}

void gd_schedule_cancel(gd_context *context)
{
    for (gd_task *task = queue.first, *next; task; task = next) {
        next = task->next;
        if (task->context != context)
            continue;
        if (task->grid)
            gd_grid_end(task->grid);
        bool told = task->work.kind == GD_WORK_HOST && task->state == GD_TASK_PENDING &&
                    task->work.is.host.callback && !gd_the_emulator.ends;
        if (told)
            gd_task_hold(task);
        if (task->state != GD_TASK_COMPLETE)
            complete(task, gd_the_emulator.now);
        settle(task);
        if (told)
            drop(task, context->fault);
    }
}

/* ---- submitting ---- */

static bool copy_dependencies(gd_task *task, const gd_dependency *dependencies, uint32_t count)
{
    task->dependencies = calloc((size_t)count + 1, sizeof *task->dependencies);
    if (!task->dependencies)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        task->dependencies[i] = dependencies[i];
        gd_task_hold(dependencies[i].task);
    }
    task->dependency_count = count;
    return true;
}

/* Whether a random schedule lets this task overlap: a bit of a number that depends on seed and task
 * alone. */
static bool draw_late(uint64_t number)
{
    uint64_t mixed = (number + gd_the_emulator.settings.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return gd_the_emulator.settings.schedule == GD_SCHEDULE_RANDOM && (mixed ^ mixed >> 32) & 1;
}

static gd_action work_action(gd_work_kind kind)
{
    return kind == GD_WORK_COPY                                    ? GD_ACTION_COPY
           : kind == GD_WORK_FILL                                  ? GD_ACTION_FILL
           : kind == GD_WORK_RELEASE                               ? GD_ACTION_FREE
           : kind == GD_WORK_CONDITIONAL || kind == GD_WORK_ASSIGN ? GD_ACTION_CONDITIONAL
           : kind == GD_WORK_KERNEL                                ? GD_ACTION_READ
                                                                   : GD_ACTION_HOST;
}

/* The detector's side of a task. Without memory for it the task goes unchecked. */
static void make_race_task(gd_task *task, uint64_t stream)
{
    const gd_kernel_work *kernel = &task->work.is.kernel;
    gd_race_task_info info = {.action = work_action(task->work.kind),
                              .device = (uint32_t)task->device->number,
                              .stream = stream};

    if (task->work.kind == GD_WORK_KERNEL) {
        info.kernel = kernel->entry->name;
        info.launch = task->launch;
        info.programmatic = is_programmatic(task);
        info.has_wait = gd_entry_waits(kernel->entry);
        memcpy(info.grid, kernel->grid, sizeof info.grid);
        memcpy(info.block, kernel->block, sizeof info.block);
        memcpy(info.cluster, kernel->cluster, sizeof info.cluster);
    }
    task->race = gd_race_task_create(gd_the_emulator.race, &info);
}

bool gd_task_join(gd_task *join, gd_task *last)
{
    gd_dependency *more = realloc(join->dependencies, (join->dependency_count + 1) * sizeof *more);

    if (!more)
        return false;
    join->dependencies = more;
    more[join->dependency_count++] =
        (gd_dependency){.task = gd_task_hold(last), .port = GD_PORT_COMPLETE};
    join->held = false;
    join->joins_body = last->work.kind != GD_WORK_CONDITIONAL;
    return true;
}

gd_task *gd_schedule_append(gd_context *context, gd_work *work, const gd_dependency *dependencies,
                            uint32_t count, uint64_t stream, bool in_graph)
{
    gd_task *task = calloc(1, sizeof *task);

    if (!task || !copy_dependencies(task, dependencies, count)) {
        free(task);
        gd_work_free(work);
        return NULL;
    }
    task->context = context;
    task->device = context->device;
    task->work = *work;
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    task->in_graph = in_graph;
    task->held = task->work.kind == GD_WORK_JOIN;
    task->stream = stream;
    task->number = ++queue.next_number;
    task->launch = task->work.kind == GD_WORK_KERNEL ? ++queue.launches : 0;
    task->late = draw_late(task->number);
    task->submitted = gd_the_emulator.now;
    task->references = 2; /* the queue's and the caller's */
    append(task);
    if (gd_the_emulator.race)
        make_race_task(task, stream);
    if (task->work.kind == GD_WORK_HOST) {
        queue.hosts++;
        gd_call_expect_host();
    }
    return task;
}

void gd_schedule_relieve(void)
{
    while (queue.count > GD_QUEUE_LIMIT) {
        gd_task *middle = queue.first;
        for (uint32_t i = 0; i < GD_QUEUE_LIMIT / 2; i++)
            middle = middle->next;
        gd_task_hold(middle);
        run_until(middle, GD_PORT_COMPLETE); /* the host does not wait */
        gd_task_release(middle);
    }
}

uint32_t gd_schedule_hosts_left(void)
{
    return queue.hosts;
}
