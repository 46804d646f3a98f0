/* Conditions of conditional nodes. */
#include <stdlib.h>
#include <string.h>

#include "emulator/execute/check.h"
#include "emulator/schedule/condition.h"
#include "emulator/schedule/device.h"

gd_condition *gd_condition_create(uint32_t initial, bool assigned)
{
    gd_condition *made = calloc(1, sizeof *made);
    const gd_allocation *word = made ? gd_memory_take(gd_the_emulator.memory, NULL, sizeof initial,
                                                      GD_MEMORY_CONDITION, NULL, "condition")
                                     : NULL;

    if (!word) {
        free(made);
        return NULL;
    }
    *made = (gd_condition){
        .references = 1, .address = word->start, .initial = initial, .assigned = assigned};
    memcpy(word->host, &initial, sizeof initial);
    return made;
}

gd_condition *gd_condition_hold(gd_condition *condition)
{
    condition->references++;
    return condition;
}

void gd_condition_release(gd_condition *condition)
{
    if (!condition || --condition->references)
        return;
    gd_memory_give(gd_the_emulator.memory, condition->address);
    free(condition);
}

/* The word's host address; the access is told. */
static unsigned char *reach(const gd_condition *condition, gd_race_task *task, bool write)
{
    gd_allocation *word = gd_memory_find(gd_the_emulator.memory, condition->address);
    gd_shadow *shadow = task ? gd_check_shadow(gd_the_emulator.race, word) : NULL;

    if (shadow)
        gd_race_range(gd_the_emulator.race, task, shadow, 0, sizeof(uint32_t), write);
    return word->host;
}

uint32_t gd_condition_read(const gd_condition *condition, gd_race_task *task)
{
    uint32_t value;

    memcpy(&value, reach(condition, task, false), sizeof value);
    return value;
}

void gd_condition_assign(const gd_condition *condition, gd_race_task *task)
{
    if (condition->assigned)
        memcpy(reach(condition, task, true), &condition->initial, sizeof condition->initial);
}

gd_condition_set *gd_condition_set_create(gd_condition *const *list, uint32_t count)
{
    gd_condition_set *made = calloc(1, sizeof *made);

    if (made)
        *made = (gd_condition_set){.references = 1,
                                   .list = calloc((size_t)count + 1, sizeof(gd_condition *)),
                                   .addresses = calloc((size_t)count + 1, sizeof *made->addresses)};
    if (!made || !made->list || !made->addresses) {
        gd_condition_set_release(made);
        return NULL;
    }
    for (; made->count < count; made->count++) {
        made->list[made->count] = gd_condition_hold(list[made->count]);
        made->addresses[made->count] = list[made->count]->address;
    }
    return made;
}

gd_condition_set *gd_condition_set_hold(gd_condition_set *set)
{
    if (set)
        set->references++;
    return set;
}

void gd_condition_set_release(gd_condition_set *set)
{
    if (!set || --set->references)
        return;
    for (uint32_t i = 0; i < set->count; i++)
        gd_condition_release(set->list[i]);
    free(set->list);
    free(set->addresses);
    free(set);
}
