/* Executable graphs: their nodes and edges, and how they are handed in, node by node.
 *
 * A conditional node is two: one that looks at the condition when it is reached and hands in what
 * that says, an executable of its own for each body; and before it in the list its join, which what
 * follows the node depends on, and which waits for what has been handed in. A loop looks again
 * behind each round. */
#include <stdlib.h>

#include "emulator/schedule/executable.h"

static void free_conditions(gd_executable *executable)
{
    for (uint32_t i = 0; executable->conditions && i < executable->conditions->count; i++)
        executable->conditions->list[i]->instantiated = false;
    gd_condition_set_release(executable->conditions);
}

/* What a launch that is under way may use stays until that is over. */
static void give_objects_up(gd_executable *executable)
{
    if (executable->last && !gd_task_reached(executable->last, GD_PORT_COMPLETE))
        gd_user_list_add(&executable->last->users, &executable->user_objects);
    gd_user_list_free(&executable->user_objects);
}

void gd_executable_destroy(gd_executable *executable)
{
    if (!executable)
        return;
    free_conditions(executable);
    give_objects_up(executable);
    for (uint32_t i = 0; i < executable->node_count; i++)
        gd_work_free(&executable->nodes[i].work);
    free(executable->nodes);
    free(executable->edges);
    gd_task_release(executable->last);
    gd_object_remove(&executable->object);
    free(executable);
}

bool gd_executable_add_node(gd_executable *executable, void *handle, gd_work *work)
{
    if (executable->node_count == executable->node_capacity) {
        uint32_t capacity = executable->node_capacity ? executable->node_capacity * 2 : 16;
        gd_executable_node *more = realloc(executable->nodes, capacity * sizeof *more);
        if (!more) {
            gd_work_free(work);
            return false;
        }
        executable->nodes = more;
        executable->node_capacity = capacity;
    }
    executable->nodes[executable->node_count++] =
        (gd_executable_node){.handle = handle, .work = *work, .enabled = true};
    return true;
}

bool gd_executable_add_edge(gd_executable *executable, uint32_t from, uint32_t to,
                            gd_CUgraphEdgeData data)
{
    if (executable->edge_count == executable->edge_capacity) {
        uint32_t capacity = executable->edge_capacity ? executable->edge_capacity * 2 : 16;
        gd_graph_edge *more = realloc(executable->edges, capacity * sizeof *more);
        if (!more)
            return false;
        executable->edges = more;
        executable->edge_capacity = capacity;
    }
    executable->edges[executable->edge_count++] =
        (gd_graph_edge){.from = from, .to = to, .data = data};
    return true;
}

gd_executable *gd_executable_copy(const gd_executable *executable)
{
    gd_executable *copy = calloc(1, sizeof *copy);
    bool whole = copy && gd_user_list_add(&copy->user_objects, &executable->user_objects);

    for (uint32_t i = 0; whole && i < executable->node_count; i++) {
        const gd_executable_node *node = &executable->nodes[i];
        gd_work work;
        whole =
            gd_work_copy(&work, &node->work) && gd_executable_add_node(copy, node->handle, &work);
        if (whole)
            copy->nodes[i].enabled = node->enabled;
    }
    for (uint32_t i = 0; whole && i < executable->edge_count; i++)
        whole = gd_executable_add_edge(copy, executable->edges[i].from, executable->edges[i].to,
                                       executable->edges[i].data);
    if (whole)
        return copy;
    gd_executable_destroy(copy);
    return NULL;
}

/* ---- launching ---- */

bool gd_launching_begin(gd_launching *launch)
{
    const gd_executable *executable = launch->executable;
    const uint32_t nodes = executable->node_count;

    launch->tasks = calloc(nodes, sizeof(gd_task *));
    launch->works = calloc(nodes, sizeof *launch->works);
    launch->list = calloc((size_t)executable->edge_count + 2, sizeof *launch->list);
    bool whole = launch->tasks && launch->works && launch->list;
    for (uint32_t i = 0; whole && i < nodes; i++)
        whole = !executable->nodes[i].enabled ||
                gd_work_copy(&launch->works[i], &executable->nodes[i].work);
    return whole;
}

void gd_launching_end(gd_launching *launch)
{
    for (uint32_t i = 0; i < launch->executable->node_count; i++) {
        if (launch->tasks)
            gd_task_release(launch->tasks[i]);
        if (launch->works)
            gd_work_free(&launch->works[i]);
    }
    free(launch->tasks);
    free(launch->works);
    free(launch->list);
}

gd_context *gd_launching_context(const gd_launching *launch, const gd_work *work)
{
    gd_context *own = work->context ? gd_object_find(work->context, GD_OBJECT_CONTEXT) : NULL;

    return own ? own : launch->context;
}

/* Dependencies of one node, on the tasks of those before it. */
static uint32_t list_dependencies(gd_launching *launch, uint32_t index)
{
    const gd_executable *executable = launch->executable;
    gd_task *const *tasks = launch->tasks;
    uint32_t count = 0;

    for (uint32_t i = 0; i < executable->edge_count; i++) {
        const gd_graph_edge *edge = &executable->edges[i];
        if (edge->to != index)
            continue;
        bool kernels =
            tasks[edge->from]->work.kind == GD_WORK_KERNEL && executable->nodes[index].enabled;
        gd_port port = kernels ? (gd_port)edge->data.from_port : GD_PORT_COMPLETE;
        launch->list[count++] = (gd_dependency){
            .task = tasks[edge->from],
            .port = port,
            .programmatic = port != GD_PORT_COMPLETE &&
                            edge->data.type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    }
    return count;
}

/* The join of a conditional node stands right before it. */
bool gd_launching_add(gd_launching *launch, uint32_t index, gd_task *event)
{
    gd_work *work = &launch->works[index];
    const bool conditional = work->kind == GD_WORK_CONDITIONAL;
    uint32_t count = list_dependencies(launch, index);

    if (event)
        launch->list[count++] = (gd_dependency){.task = event, .port = GD_PORT_COMPLETE};
    gd_task *task = gd_schedule_append(gd_launching_context(launch, work), work, launch->list,
                                       count, launch->stream, true);
    launch->tasks[index] = task;
    if (!task)
        return false;
    task->conditions = gd_condition_set_hold(launch->conditions);
    if (conditional)
        task->join = gd_task_hold(launch->tasks[index - 1]);
    return true;
}

/* ---- branches ---- */

/* Whether the contexts of all kernels are there: their modules go with them, and only work that has
 * been handed in is waited for. */
static bool has_contexts(const gd_launching *launch)
{
    for (uint32_t i = 0; i < launch->executable->node_count; i++) {
        const gd_work *work = &launch->works[i];
        if (work->kind == GD_WORK_KERNEL && !gd_object_find(work->context, GD_OBJECT_CONTEXT))
            return false;
    }
    return true;
}

/* Hands in the nodes of a branch behind the task that chose it; *last, which is held, is over when
 * they are. */
static gd_CUresult launch_branch(const gd_executable *branch, gd_task *task, gd_task **last)
{
    gd_launching launch = {.executable = branch,
                           .context = task->context,
                           .stream = task->stream,
                           .conditions = task->conditions};
    const gd_dependency chosen = {.task = task, .port = GD_PORT_COMPLETE};
    gd_CUresult result = !gd_launching_begin(&launch) ? GD_CUDA_ERROR_OUT_OF_MEMORY
                         : !has_contexts(&launch)     ? GD_CUDA_ERROR_INVALID_HANDLE
                                                      : GD_CUDA_SUCCESS;

    if (result == GD_CUDA_SUCCESS) {
        launch.tasks[0] =
            gd_schedule_append(task->context, &launch.works[0], &chosen, 1, task->stream, true);
        bool whole = launch.tasks[0] != NULL;
        for (uint32_t i = 1; whole && i < branch->node_count; i++)
            whole = gd_launching_add(&launch, i, NULL);
        result = whole ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == GD_CUDA_SUCCESS)
        *last = gd_task_hold(launch.tasks[branch->node_count - 1]);
    gd_launching_end(&launch);
    return result;
}

/* Which branch a value means; the count of them: none. */
static uint32_t choose(const gd_conditional_work *work, uint32_t value)
{
    uint32_t chosen = work->type == GD_CU_GRAPH_COND_TYPE_SWITCH ? value : !value;

    return chosen < work->count ? chosen : work->count;
}

enum { STEPS_OF_A_ROUND = 1024 };

/* Another look at the condition behind a round of a loop. The limit of steps, which keeps a CTA
 * from running for ever, keeps a loop from that as well. */
static gd_CUresult look_again(gd_task *task, gd_task *last)
{
    const gd_dependency round = {.task = last, .port = GD_PORT_COMPLETE};
    uint64_t limit = gd_the_emulator.settings.steps;

    if (++task->work.is.conditional.rounds > limit / STEPS_OF_A_ROUND && limit)
        return GD_CUDA_ERROR_LAUNCH_TIMEOUT;
    gd_work work = task->work;

    task->work = (gd_work){.kind = GD_WORK_EMPTY};
    gd_task *next = gd_schedule_append(task->context, &work, &round, 1, task->stream, true);
    if (!next)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    next->conditions = gd_condition_set_hold(task->conditions);
    next->join = task->join;
    task->join = NULL;
    gd_task_release(next);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_executable_branch(gd_task *task)
{
    const gd_conditional_work *work = &task->work.is.conditional;
    uint32_t chosen = choose(work, gd_condition_read(work->condition, task->race));
    bool ends = chosen == work->count || work->type != GD_CU_GRAPH_COND_TYPE_WHILE;
    gd_task *last = NULL;
    gd_CUresult result =
        chosen < work->count ? launch_branch(work->branches[chosen], task, &last) : GD_CUDA_SUCCESS;

    if (result == GD_CUDA_SUCCESS && ends)
        result = gd_task_join(task->join, last ? last : task) ? GD_CUDA_SUCCESS
                                                              : GD_CUDA_ERROR_OUT_OF_MEMORY;
    else if (result == GD_CUDA_SUCCESS)
        result = look_again(task, last);
    gd_task_release(last);
    return result;
}
