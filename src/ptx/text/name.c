/* A hash table with linear probing over the list of names, at most half full. */
#include <stdlib.h>
#include <string.h>

#include "ptx/text/array.h"
#include "ptx/text/name.h"

static uint32_t finish(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 29;
}

static uint32_t hash_name(const char *name, uint32_t length)
{
    uint64_t hash = length, word = 0;

    for (; length >= sizeof word; length -= (uint32_t)sizeof word, name += sizeof word) {
        memcpy(&word, name, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    for (uint32_t i = 0; i < length; i++)
        word = word << 8 | (unsigned char)name[i];
    return finish(mix(hash, word));
}

/* The slot of a name, or the empty one where it would stand. */
static uint32_t find_slot(const gd_ptx_names *names, const char *text, uint32_t hash,
                          const char *name, uint32_t length)
{
    uint32_t mask = names->slot_count - 1;
    uint32_t slot = hash & mask;

    for (; names->slots[slot].name; slot = (slot + 1) & mask) {
        if (names->slots[slot].hash != hash)
            continue;
        const gd_ptx_name *other = &names->list[names->slots[slot].name - 1];
        if (other->length == length && memcmp(text + other->offset, name, length) == 0)
            break;
    }
    return slot;
}

static bool grow_slots(gd_ptx_names *names)
{
    uint32_t count = names->slot_count ? names->slot_count * 2 : 1024;
    gd_ptx_name_slot *slots = count ? calloc(count, sizeof *slots) : NULL;

    if (!slots)
        return false;
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t slot = names->list[i].hash & (count - 1);
        while (slots[slot].name)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (gd_ptx_name_slot){.hash = names->list[i].hash, .name = i + 1};
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    return true;
}

/* Splits the trailing digits off: %r12 is the 13th of `.reg .b32 %r<100>`. */
static bool split_number(gd_ptx_names *names, const char *text, uint32_t name)
{
    uint32_t offset = names->list[name].offset, length = names->list[name].length;
    uint32_t stem = length, number = 0;

    while (stem > 0 && (unsigned)(text[offset + stem - 1] - '0') <= 9)
        stem--;
    if (stem == 0 || stem == length || length - stem > 9)
        return true;
    for (uint32_t i = stem; i < length; i++)
        number = number * 10 + (uint32_t)(text[offset + i] - '0');
    uint32_t prefix = gd_ptx_name_intern(names, text, offset, stem);
    if (prefix == GD_PTX_NONE)
        return false;
    names->list[name].prefix = prefix;
    names->list[name].number = number;
    return true;
}

static uint32_t add_name(gd_ptx_names *names, const char *text, uint32_t hash, uint32_t offset,
                         uint32_t length)
{
    if (names->count == names->capacity &&
        !gd_array_grow((void **)&names->list, &names->capacity, sizeof *names->list))
        return GD_PTX_NONE;
    uint32_t name = names->count++;
    names->list[name] = (gd_ptx_name){
        .offset = offset,
        .length = length,
        .hash = hash,
        .prefix = GD_PTX_NONE,
        .symbol = GD_PTX_NONE,
        .range = GD_PTX_NONE,
        .single = GD_PTX_NONE,
        .op = GD_PTX_NOT_LOOKED_UP,
        .word = GD_PTX_NOT_LOOKED_UP,
    };
    names->slots[find_slot(names, text, hash, text + offset, length)] =
        (gd_ptx_name_slot){.hash = hash, .name = name + 1};
    return split_number(names, text, name) ? name : GD_PTX_NONE;
}

uint32_t gd_ptx_name_intern(gd_ptx_names *names, const char *text, uint32_t offset, uint32_t length)
{
    /* Room for two: a name may bring its prefix with it. */
    if (names->slot_count / 2 < names->count + 2 && !grow_slots(names))
        return GD_PTX_NONE;
    uint32_t hash = hash_name(text + offset, length);
    uint32_t found = names->slots[find_slot(names, text, hash, text + offset, length)].name;
    return found ? found - 1 : add_name(names, text, hash, offset, length);
}

uint32_t gd_ptx_name_find(const gd_ptx_names *names, const char *text, const char *name,
                          uint32_t length)
{
    if (!names->slot_count)
        return GD_PTX_NONE;
    return names->slots[find_slot(names, text, hash_name(name, length), name, length)].name - 1;
}

void gd_ptx_names_free(gd_ptx_names *names)
{
    free(names->list);
    free(names->slots);
    *names = (gd_ptx_names){0};
}
