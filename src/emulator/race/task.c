/* Tasks: their numbers, their descriptions for reports, and what is known when they start, wait and
 * end.
 *
 * Numbers. A stream takes numbers from a block of its own, each block twice as long as the one
 * before, so that the tasks of a stream that follow each other are one range in a set, whatever
 * other streams do. When the host has waited for all there is, the floor rises: what lies below it
 * happened before everything to come. */
#include <stdlib.h>
#include <string.h>

#include "emulator/race/core.h"

enum { FIRST_BLOCK = 16, LONGEST_BLOCK = 1 << 20, MOST_STREAMS = 1024 };

/* ---- descriptions ---- */

gd_desc *gd_desc_find(const gd_race *race, uint32_t number)
{
    gd_desc *desc = race->desc_buckets ? race->descs[number & (race->desc_buckets - 1)] : NULL;

    while (desc && desc->number != number)
        desc = desc->next;
    return desc;
}

uint64_t gd_desc_cluster(const gd_desc *desc, const uint32_t cta[3])
{
    uint64_t number = 0;

    for (int i = 2; i >= 0; i--) {
        uint32_t width = desc->info.cluster[i] ? desc->info.cluster[i] : 1;
        uint32_t count = (desc->info.grid[i] + width - 1) / width;
        number = number * (count ? count : 1) + cta[i] / width;
    }
    return (uint64_t)desc->number << 32 | (uint32_t)number;
}

static void desc_free(gd_race *race, gd_desc *desc)
{
    gd_race_give(race, desc->dependencies, desc->dependency_count * sizeof *desc->dependencies);
    gd_race_give(race, desc, sizeof *desc);
    race->desc_count--;
}

static void desc_remove(gd_race *race, gd_desc *desc)
{
    gd_desc **link = &race->descs[desc->number & (race->desc_buckets - 1)];

    while (*link != desc)
        link = &(*link)->next;
    *link = desc->next;
    desc_free(race, desc);
}

void gd_descs_sweep(gd_race *race, bool all)
{
    for (uint32_t i = 0; i < race->desc_buckets; i++) {
        for (gd_desc **link = &race->descs[i]; *link;) {
            gd_desc *desc = *link;
            if (!all && (desc->alive || desc->marked)) {
                desc->marked = false;
                link = &desc->next;
            } else {
                *link = desc->next;
                desc_free(race, desc);
            }
        }
    }
}

static bool grow_buckets(gd_race *race)
{
    uint32_t count = race->desc_buckets ? race->desc_buckets * 2 : 256;
    gd_desc **buckets = gd_race_take(race, count * sizeof(gd_desc *));

    if (!buckets)
        return false;
    for (uint32_t i = 0; i < race->desc_buckets; i++) {
        for (gd_desc *desc = race->descs[i], *next; desc; desc = next) {
            next = desc->next;
            desc->next = buckets[desc->number & (count - 1)];
            buckets[desc->number & (count - 1)] = desc;
        }
    }
    gd_race_give(race, race->descs, race->desc_buckets * sizeof(gd_desc *));
    race->descs = buckets;
    race->desc_buckets = count;
    return true;
}

static gd_desc *desc_create(gd_race *race, uint32_t number, const gd_race_task_info *info)
{
    if (race->desc_count >= race->desc_buckets && !grow_buckets(race))
        return NULL;
    gd_desc *desc = gd_race_take(race, sizeof *desc);
    if (!desc)
        return NULL;
    desc->info = *info;
    desc->info.kernel = gd_race_name(race, info->kernel);
    desc->number = number;
    desc->order = ++race->order;
    desc->alive = true;
    desc->next = race->descs[number & (race->desc_buckets - 1)];
    race->descs[number & (race->desc_buckets - 1)] = desc;
    race->desc_count++;
    return desc;
}

/* ---- numbers ---- */

static gd_stream_numbers *find_stream(gd_race *race, uint64_t stream)
{
    for (uint32_t i = 0; i < race->stream_count; i++) {
        if (race->streams[i].stream != stream)
            continue;
        gd_stream_numbers found = race->streams[i];
        memmove(race->streams + 1, race->streams, i * sizeof found);
        race->streams[0] = found;
        return &race->streams[0];
    }
    if (race->stream_count == MOST_STREAMS)
        race->stream_count--;
    if (!gd_race_grow(race, (void **)&race->streams, race->stream_count, &race->stream_capacity,
                      sizeof *race->streams))
        return NULL;
    memmove(race->streams + 1, race->streams, race->stream_count * sizeof *race->streams);
    race->stream_count++;
    race->streams[0] = (gd_stream_numbers){.stream = stream, .next = 1};
    return &race->streams[0];
}

/* 0: there is none left. */
static uint32_t take_number(gd_race *race, uint64_t stream)
{
    gd_stream_numbers *numbers = find_stream(race, stream);

    if (!numbers)
        return 0;
    if (numbers->next > numbers->last) {
        if (race->number_last > UINT32_MAX - 2 * LONGEST_BLOCK) {
            gd_race_stop(race);
            return 0;
        }
        numbers->length = !numbers->length                  ? FIRST_BLOCK
                          : numbers->length < LONGEST_BLOCK ? numbers->length * 2
                                                            : LONGEST_BLOCK;
        numbers->next = race->number_last + 1;
        race->number_last += numbers->length;
        numbers->last = race->number_last;
    }
    if (numbers->next > race->number_highest)
        race->number_highest = numbers->next;
    return numbers->next++;
}

/* All tasks there have been are known to all to come. */
static void raise_floor(gd_race *race)
{
    race->floor = race->number_highest;
    for (uint32_t i = 0; i < race->stream_count; i++) {
        gd_stream_numbers *numbers = &race->streams[i];
        if (numbers->next <= race->floor)
            numbers->next = numbers->last + 1;
    }
    gd_outside_drop(race, race->host);
    gd_outside_drop(race, race->ended);
    race->host = race->ended = NULL;
    gd_sync_clear(race);
}

/* ---- life ---- */

gd_race_task *gd_race_task_create(gd_race *race, const gd_race_task_info *info)
{
    if (!race || race->stopped)
        return NULL;
    gd_race_collect(race);
    uint32_t number = take_number(race, info->stream);
    gd_race_task *task = number ? gd_race_take(race, sizeof *task) : NULL;
    if (!task)
        return NULL;
    task->desc = desc_create(race, number, info);
    if (!task->desc) {
        gd_race_give(race, task, sizeof *task);
        return NULL;
    }
    task->refs = 1;
    task->number = number;
    task->race = race;
    task->start = gd_outside_hold(race->host);
    race->pending++;
    return task;
}

void gd_task_drop(gd_race_task *task)
{
    if (!task || --task->refs)
        return;
    gd_race *race = task->race;
    race->pending -= !task->settled;
    gd_outside_drop(race, task->before);
    gd_outside_drop(race, task->start);
    gd_outside_drop(race, task->wait);
    gd_outside_drop(race, task->completion);
    gd_outside_drop(race, task->all);
    gd_outside_drop(race, task->trigger);
    task->desc->alive = false;
    if (!task->desc->used)
        desc_remove(race, task->desc);
    gd_race_give(race, task, sizeof *task);
}

void gd_race_task_release(gd_race *race, gd_race_task *task)
{
    (void)race;
    gd_task_drop(task);
}

static void describe(gd_race *race, gd_desc *desc, const gd_race_dependency *list, uint32_t count)
{
    if (!count || desc->dependencies)
        return;
    desc->dependencies = gd_race_take(race, count * sizeof *desc->dependencies);
    if (!desc->dependencies)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const gd_race_task *task = list[i].task;
        if (!task)
            continue;
        desc->dependencies[i] = (gd_desc_dependency){.number = task->number,
                                                     .launch = task->desc->info.launch,
                                                     .kernel = task->desc->info.kernel,
                                                     .action = task->desc->info.action,
                                                     .port = list[i].port,
                                                     .waited = list[i].waited};
    }
    desc->dependency_count = count;
}

/* What had completed when a task was begun: of a task that starts early too, since the one before
 * it had begun. Nothing else is ordered by a start that is early. */
static gd_outside *completed_before(const gd_race_dependency *dependency)
{
    const gd_race_task *task = dependency->task;

    if (!task)
        return NULL;
    return dependency->port == GD_RACE_COMPLETE ? task->all : task->before;
}

/* What the port of a dependency orders before who starts behind it. */
static gd_outside *port_of(const gd_race_dependency *dependency)
{
    const gd_race_task *task = dependency->task;

    if (!task || dependency->port == GD_RACE_LAUNCH)
        return NULL;
    if (dependency->port == GD_RACE_COMPLETE)
        return task->all;
    return task->desc->info.action == GD_ACTION_READ ? task->trigger : task->completion;
}

void gd_race_task_begin(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                        uint32_t count)
{
    if (!task || race->stopped)
        return;
    describe(race, task->desc, list, count);
    for (uint32_t i = 0; i < count; i++) {
        gd_outside_add(race, &task->before, completed_before(&list[i]));
        gd_outside_add(race, &task->start, port_of(&list[i]));
    }
    gd_outside_add(race, &task->start, task->before);
}

void gd_race_task_wait(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                       uint32_t count)
{
    if (!task || race->stopped)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const gd_race_task *other = list[i].task;
        if (other && list[i].waited)
            gd_outside_add(race, &task->wait,
                           race->options.observed && other->all ? other->all : other->completion);
    }
}

void gd_race_task_complete(gd_race *race, gd_race_task *task)
{
    if (!task || race->stopped)
        return;
    gd_outside_add(race, &task->completion, task->start);
    gd_outside *known = gd_outside_with(race, task->completion, task->number);
    gd_outside_drop(race, task->completion);
    task->completion = gd_outside_prune(race, known);
}

void gd_race_task_settle(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                         uint32_t count)
{
    if (!task || task->settled)
        return;
    task->settled = true;
    race->pending--;
    if (race->stopped)
        return;
    task->all = gd_outside_with(race, task->completion, task->number);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].task)
            gd_outside_add(race, &task->all, list[i].task->all);
    }
    task->all = gd_outside_prune(race, task->all);
    gd_outside *ended = gd_outside_with(race, race->ended, task->number);
    gd_outside_drop(race, race->ended);
    race->ended = ended;
}

void gd_race_host_wait(gd_race *race, gd_race_task *task)
{
    if (!race || race->stopped || !task)
        return;
    gd_outside_add(race, &race->host, task->all);
    if (!race->pending && race->host && race->host->known &&
        race->host->known->base >= race->number_highest)
        raise_floor(race);
}

void gd_race_host_wait_all(gd_race *race)
{
    if (!race || race->stopped)
        return;
    if (race->pending)
        gd_outside_add(race, &race->host, race->ended);
    else
        raise_floor(race);
}

uint64_t gd_race_task_launch(const gd_race_task *task)
{
    return task ? task->desc->info.launch : 0;
}
