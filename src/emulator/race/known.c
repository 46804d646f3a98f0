/* Sets of tasks that happened before: a base and sorted ranges of numbers above it, immutable and
 * counted. Numbers up to the detector's floor are in every set. */
#include <string.h>

#include "base/search.h"
#include "emulator/race/core.h"

/* The ranges of a set, or of one number. */
typedef struct span {
    uint32_t base, count;
    const gd_range *ranges;
} span;

static size_t bytes_of(uint32_t count)
{
    return sizeof(gd_known) + count * sizeof(gd_range);
}

bool gd_known_has(const gd_race *race, const gd_known *known, uint32_t number)
{
    if (number <= race->floor)
        return true;
    if (!known)
        return false;
    if (number <= known->base)
        return true;
    uint32_t before;
    GD_COUNT_FIRST(before, known->count, i, known->ranges[i].last < number);
    return before < known->count && known->ranges[before].first <= number;
}

gd_known *gd_known_hold(gd_known *known)
{
    if (known)
        known->refs++;
    return known;
}

void gd_known_drop(gd_race *race, gd_known *known)
{
    if (known && !--known->refs)
        gd_race_give(race, known, bytes_of(known->count));
}

static span span_of(const gd_known *known)
{
    return known ? (span){known->base, known->count, known->ranges} : (span){0};
}

/* The ranges of both in order, those that touch made one; `out` may be NULL to count. Returns their
 * number. */
static uint32_t merge(uint32_t *base, const span *a, const span *b, gd_range *out)
{
    gd_range top = {0, 0};
    uint32_t count = 0, i = 0, j = 0;

    while (i < a->count || j < b->count) {
        bool left = j == b->count || (i < a->count && a->ranges[i].first <= b->ranges[j].first);
        gd_range next = left ? a->ranges[i++] : b->ranges[j++];
        if (next.last <= *base)
            continue;
        if (next.first <= *base + 1) {
            *base = next.last;
        } else if (count && next.first <= top.last + 1) {
            top.last = next.last > top.last ? next.last : top.last;
        } else {
            if (count && out)
                out[count - 1] = top;
            count++;
            top = next;
        }
    }
    if (count && out)
        out[count - 1] = top;
    return count;
}

static bool is_same(const gd_known *known, uint32_t base, uint32_t count, const gd_known *other)
{
    return known && known->base == base && known->count == count &&
           !memcmp(known->ranges, other->ranges, count * sizeof *known->ranges);
}

static uint32_t higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* a and b are where the spans come from; NULL. */
static gd_known *join(gd_race *race, gd_known *a, gd_known *b, const span *first,
                      const span *second)
{
    const uint32_t start = higher(higher(first->base, second->base), race->floor);
    uint32_t base = start;
    uint32_t count = merge(&base, first, second, NULL);
    gd_known *result = gd_race_take(race, bytes_of(count));

    if (!result)
        return NULL;
    base = start;
    result->refs = 1;
    result->count = merge(&base, first, second, result->ranges);
    result->base = base;
    for (int i = 0; i < 2; i++) {
        gd_known *old = i ? b : a;
        if (is_same(old, base, count, result)) {
            gd_known_drop(race, result);
            return gd_known_hold(old);
        }
    }
    return result;
}

gd_known *gd_known_join(gd_race *race, gd_known *a, gd_known *b)
{
    if (a == b || !b || (a && !b->count && b->base <= a->base))
        return gd_known_hold(a);
    if (!a || (!a->count && a->base <= b->base))
        return gd_known_hold(b);
    const span first = span_of(a), second = span_of(b);
    return join(race, a, b, &first, &second);
}

gd_known *gd_known_with(gd_race *race, gd_known *known, uint32_t number)
{
    const gd_range one = {number, number};
    const span first = span_of(known), second = {0, 1, &one};

    if (known && gd_known_has(race, known, number))
        return gd_known_hold(known);
    return join(race, known, NULL, &first, &second);
}
