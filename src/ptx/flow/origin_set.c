/* A hash table with linear probing over the list of sets, at most half full. */
#include <stdlib.h>
#include <string.h>

#include "ptx/text/array.h"
#include "ptx/flow/origin_set.h"

static uint32_t hash_members(const uint32_t *members, uint32_t count)
{
    uint64_t hash = count;

    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ members[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash >> 16);
}

/* The slot of a set, or the empty one where it would stand. */
static uint32_t find_slot(const gd_origin_sets *sets, const uint32_t *members, uint32_t count)
{
    uint32_t mask = sets->slot_count - 1;
    uint32_t slot = hash_members(members, count) & mask;

    for (; sets->slots[slot]; slot = (slot + 1) & mask) {
        const gd_origin_set *other = &sets->list[sets->slots[slot]];
        if (other->count == count &&
            memcmp(sets->members + other->first, members, count * sizeof *members) == 0)
            break;
    }
    return slot;
}

static bool grow_slots(gd_origin_sets *sets)
{
    uint32_t count = sets->slot_count ? sets->slot_count * 2 : 64;
    uint32_t *slots = count ? calloc(count, sizeof *slots) : NULL;

    if (!slots)
        return false;
    free(sets->slots);
    sets->slots = slots;
    sets->slot_count = count;
    for (uint32_t i = 1; i < sets->count; i++)
        slots[find_slot(sets, sets->members + sets->list[i].first, sets->list[i].count)] = i;
    return true;
}

static bool make_room(gd_origin_sets *sets, uint32_t count)
{
    if (sets->slot_count / 2 < sets->count + 1 && !grow_slots(sets))
        return false;
    if (sets->count == sets->capacity &&
        !gd_array_grow((void **)&sets->list, &sets->capacity, sizeof *sets->list))
        return false;
    while (sets->member_capacity - sets->member_count < count) {
        if (!gd_array_grow((void **)&sets->members, &sets->member_capacity, sizeof *sets->members))
            return false;
    }
    return true;
}

static uint32_t intern(gd_origin_sets *sets, const uint32_t *members, uint32_t count)
{
    if (!make_room(sets, count)) {
        sets->failed = true;
        return GD_ORIGIN_SET_NONE;
    }
    uint32_t slot = find_slot(sets, members, count);
    if (sets->slots[slot])
        return sets->slots[slot];
    memcpy(sets->members + sets->member_count, members, count * sizeof *members);
    sets->list[sets->count] = (gd_origin_set){.first = sets->member_count, .count = count};
    sets->member_count += count;
    sets->slots[slot] = sets->count;
    return sets->count++;
}

bool gd_origin_sets_create(gd_origin_sets *sets)
{
    *sets = (gd_origin_sets){0};
    if (!gd_array_grow((void **)&sets->list, &sets->capacity, sizeof *sets->list) ||
        !gd_array_grow((void **)&sets->members, &sets->member_capacity, sizeof *sets->members))
        return false;
    sets->list[sets->count++] = (gd_origin_set){0};
    return grow_slots(sets);
}

void gd_origin_sets_free(gd_origin_sets *sets)
{
    free(sets->list);
    free(sets->members);
    free(sets->slots);
    *sets = (gd_origin_sets){0};
}

uint32_t gd_origin_set_single(gd_origin_sets *sets, uint32_t member)
{
    return intern(sets, &member, 1);
}

uint32_t gd_origin_set_union(gd_origin_sets *sets, uint32_t a, uint32_t b)
{
    uint32_t merged[2 * GD_PTX_LIMIT_ORIGINS];
    uint32_t i = 0, j = 0, count = 0;

    if (a == b || !b)
        return a;
    if (!a)
        return b;
    const uint32_t *first = sets->members + sets->list[a].first,
                   *second = sets->members + sets->list[b].first;
    uint32_t firsts = sets->list[a].count, seconds = sets->list[b].count;
    while (i < firsts || j < seconds) {
        bool both = i < firsts && j < seconds && first[i] == second[j];
        bool left = i < firsts && (j == seconds || first[i] <= second[j]);
        merged[count++] = left ? first[i] : second[j];
        i += left;
        j += both || !left;
    }
    return count > GD_PTX_LIMIT_ORIGINS ? (uint32_t)GD_ORIGIN_SET_NONE
                                        : intern(sets, merged, count);
}
