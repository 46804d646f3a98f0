/* The queue of tasks: what has to be over before what, and running until something has been reached. */
#include <stdlib.h>
#include <string.h>

#include "emulator/grid.h"
#include "emulator/schedule.h"

/* The model's times, in nanoseconds: from the end of what a grid depends on to its start, from a trigger to the start
 * of a dependent grid, in a stream and in a graph; from the end of a grid until a wait for it returns. They are near
 * what was measured on an H200. */
enum {
    START_TIME = 1500,
    GRAPH_START_TIME = 700,
    EARLY_START_TIME = 500,
    GRAPH_EARLY_START_TIME = 300,
    RELEASE_TIME = 450
};

enum { SLICE_TURNS = 64 };

static struct {
    gd_task *first, *last;
    uint32_t count;
    uint64_t next_number;
} queue;

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
    gd_work_free(&task->work);
    free(task);
}

bool gd_task_reached(const gd_task *task, gd_port port)
{
    if (task->state == GD_TASK_SETTLED)
        return true;
    return port == GD_PORT_PROGRAMMATIC ? task->is_triggered : port == GD_PORT_LAUNCH && task->is_launched;
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
    drop_dependencies(task);
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

/* Whether the schedule lets a task start as soon as a grid that it depends on has triggered or begun. */
static bool waits_for_end(const gd_task *task)
{
    return gd_the_device.settings.schedule == GD_SCHEDULE_LAZY || task->late;
}

static bool has_completed(const gd_task *task)
{
    return task->state == GD_TASK_COMPLETE || task->state == GD_TASK_SETTLED;
}

static bool can_start(const gd_task *task)
{
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

static void fail(gd_task *task, gd_CUresult result, const char *text)
{
    gd_context *context = task->context;

    gd_device_fault(context, result, text);
    gd_schedule_cancel(context);
}

/* False when that ended the context, and the queue is another. */
static bool start(gd_task *task)
{
    uint64_t ready = get_ready(task);
    gd_CUresult result;

    if (task->work.kind == GD_WORK_KERNEL) {
        result = gd_grid_start(task, ready + get_start_time(task));
        if (result == GD_CUDA_SUCCESS && !is_programmatic(task))
            gd_grid_release(task->grid, ready);
    } else {
        complete(task, ready + gd_work_time(&task->work));
        result = gd_work_execute(&task->work);
    }
    if (result == GD_CUDA_SUCCESS)
        return true;
    fail(task, result,
         task->work.kind == GD_WORK_KERNEL ? "the host has no memory for a grid"
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
        if (gd_the_device.settings.model == GD_MODEL_OBSERVED ? !settled : !has_completed(dependency->task))
            return false;
        *time =
            later(*time, settled && gd_the_device.settings.model == GD_MODEL_OBSERVED ? dependency->task->settled
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

/* Brings one task forward as far as it can go without running a CTA; false when the queue has become another one. */
static bool promote(gd_task *task, bool *changed)
{
    uint64_t time;

    if (task->state == GD_TASK_PENDING) {
        watch_dependencies(task);
        if (!can_start(task))
            return true;
        *changed = true;
        if (!start(task))
            return false;
    }
    if (task->grid && !task->grid->is_released && can_release(task, &time)) {
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

/* One turn; false when nothing is left to run. */
static bool advance(bool *stale)
{
    if (*stale)
        promote_all();
    *stale = false;
    if (!queue.first)
        return false;
    gd_turn turn = gd_grid_run();
    if (turn == GD_TURN_FAULT) {
        const gd_grid_fault *fault = gd_grid_get_fault();
        fail(fault->task, fault->result, fault->text);
    } else if (turn == GD_TURN_NONE) {
        fail(queue.first, GD_CUDA_ERROR_LAUNCH_TIMEOUT, "nothing that has been handed in can go on");
    }
    *stale = turn != GD_TURN_RAN;
    return true;
}

void gd_schedule_wait(gd_task *task, gd_port port)
{
    bool stale = true;

    if (!task)
        return;
    while (!gd_task_reached(task, port) && advance(&stale))
        ;
    gd_the_device.now = later(gd_the_device.now, gd_task_time(task, port));
}

void gd_schedule_advance(void)
{
    bool stale = true;

    for (int turn = 0; turn < SLICE_TURNS && advance(&stale); turn++)
        ;
    promote_all();
}

/* The last task of a context that has not settled; of any context for NULL. */
static gd_task *find_last(const gd_context *context)
{
    gd_task *task = queue.last;

    while (task && context && task->context != context)
        task = task->previous;
    return task;
}

void gd_schedule_drain(const gd_context *context)
{
    for (gd_task *task = find_last(context); task; task = find_last(context)) {
        gd_task_hold(task);
        gd_schedule_wait(task, GD_PORT_COMPLETE);
        gd_task_release(task);
    }
}

void gd_schedule_cancel(gd_context *context)
{
    for (gd_task *task = queue.first, *next; task; task = next) {
        next = task->next;
        if (task->context != context)
            continue;
        if (task->grid)
            gd_grid_end(task->grid);
        if (task->state != GD_TASK_COMPLETE)
            complete(task, gd_the_device.now);
        settle(task);
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

/* Whether a random schedule lets this task overlap: a bit of a number that depends on seed and task alone. */
static bool draw_late(uint64_t number)
{
    uint64_t mixed = (number + gd_the_device.settings.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return gd_the_device.settings.schedule == GD_SCHEDULE_RANDOM && (mixed ^ mixed >> 32) & 1;
}

gd_task *gd_schedule_submit(gd_context *context, gd_work *work, const gd_dependency *dependencies, uint32_t count,
                            bool in_graph)
{
    gd_task *task = calloc(1, sizeof *task);

    if (!task || !copy_dependencies(task, dependencies, count)) {
        free(task);
        gd_work_free(work);
        return NULL;
    }
    task->context = context;
    task->work = *work;
    *work = (gd_work){.kind = GD_WORK_EMPTY};
    task->in_graph = in_graph;
    task->number = ++queue.next_number;
    task->late = draw_late(task->number);
    task->submitted = gd_the_device.now;
    task->references = 2; /* the queue's and the caller's */
    append(task);
    if (queue.count > GD_QUEUE_LIMIT) {
        gd_task *middle = queue.first;
        for (uint32_t i = 0; i < GD_QUEUE_LIMIT / 2; i++)
            middle = middle->next;
        gd_task_hold(middle);
        uint64_t now = gd_the_device.now;
        gd_schedule_wait(middle, GD_PORT_COMPLETE);
        gd_the_device.now = now; /* the host did not wait */
        gd_task_release(middle);
    }
    return task;
}
