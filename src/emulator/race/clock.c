/* Clocks: stamps of the threads of a CTA, parts of other CTAs, and what is made of them. Joins
 * return a new reference and leave their arguments to the caller. */
#include <string.h>

#include "emulator/race/core.h"

enum { BLOCK = 4, STRIDE = 32 /* values between two looks at what was found */ };

static uint32_t higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- stamps ---- */

static size_t stamps_bytes(uint32_t count, uint32_t agents)
{
    return sizeof(gd_stamps) + ((size_t)count + agents) * sizeof(uint32_t);
}

gd_stamps *gd_stamps_create(gd_race *race, uint32_t base, uint32_t count, uint32_t agents)
{
    gd_stamps *stamps = gd_race_take(race, stamps_bytes(count, agents));

    if (!stamps)
        return NULL;
    stamps->refs = 1;
    stamps->base = base;
    stamps->count = count;
    stamps->agents = agents;
    return stamps;
}

gd_stamps *gd_stamps_hold(gd_stamps *stamps)
{
    if (stamps)
        stamps->refs++;
    return stamps;
}

void gd_stamps_drop(gd_race *race, gd_stamps *stamps)
{
    if (stamps && !--stamps->refs)
        gd_race_give(race, stamps, stamps_bytes(stamps->count, stamps->agents));
}

/* Several values at a time: most of the time of CTAs with many threads and mbarriers is spent on
 * them. */
typedef int32_t block __attribute__((vector_size(BLOCK * sizeof(int32_t))));

/* Four values as numbers with a sign, in the same order: those are what every processor
 * compares. */
static block get_block(const uint32_t *from)
{
    block values;

    memcpy(&values, from, sizeof values);
    return values ^ (INT32_MIN - (block){0});
}

static bool has_any(block found)
{
    int32_t any = 0;

    for (uint32_t i = 0; i < BLOCK; i++)
        any |= found[i];
    return any;
}

/* Whether a value of b is above a's, and above a base. */
static bool is_above(const uint32_t *b, const uint32_t *a, uint32_t count, uint32_t base)
{
    const uint32_t bases[BLOCK] = {base, base, base, base};
    const block lowest = get_block(bases);
    block all = {0};
    uint32_t i = 0;

    for (; i + BLOCK <= count; i += BLOCK) {
        const block values = get_block(b + i);
        all |= (values > get_block(a + i)) & (values > lowest);
        if (i % STRIDE == 0 && has_any(all))
            return true;
    }
    for (; i < count; i++)
        if (b[i] > a[i] && b[i] > base)
            return true;
    return has_any(all);
}

static bool is_above_base(const uint32_t *b, uint32_t count, uint32_t base)
{
    for (uint32_t i = 0; i < count; i++) {
        if (b[i] > base)
            return true;
    }
    return false;
}

static uint32_t lower(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Whether a has all that b has. */
static bool stamps_cover(const gd_stamps *a, const gd_stamps *b)
{
    if (a == b || !b)
        return true;
    if (!a || a->base < b->base)
        return false;
    const uint32_t count = lower(a->count, b->count), agents = lower(a->agents, b->agents);
    return !is_above(b->values, a->values, count, a->base) &&
           !is_above_base(b->values + count, b->count - count, a->base) &&
           !is_above(b->values + b->count, a->values + a->count, agents, 0) &&
           !is_above_base(b->values + b->count + agents, b->agents - agents, 0);
}

/* Raises values to those of a list. */
static void raise(uint32_t *values, const uint32_t *more, uint32_t count)
{
    uint32_t i = 0;

    for (; i + BLOCK <= count; i += BLOCK) {
        const block x = get_block(values + i), y = get_block(more + i), keeps = x > y;
        const block higher_ones = ((x & keeps) | (y & ~keeps)) ^ (INT32_MIN - (block){0});
        memcpy(values + i, &higher_ones, sizeof higher_ones);
    }
    for (; i < count; i++)
        values[i] = higher(values[i], more[i]);
}

gd_stamps *gd_stamps_join(gd_race *race, gd_stamps *a, gd_stamps *b)
{
    if (stamps_cover(a, b))
        return gd_stamps_hold(a);
    if (stamps_cover(b, a))
        return gd_stamps_hold(b);
    const gd_stamps *upper = a->base < b->base ? b : a, *other = upper == a ? b : a;
    gd_stamps *result = gd_stamps_create(race, upper->base, higher(a->count, b->count),
                                         higher(a->agents, b->agents));
    if (!result)
        return NULL;
    /* values of threads are at least the base, which is upper's */
    memcpy(result->values, upper->values, upper->count * sizeof *result->values);
    for (uint32_t i = upper->count; i < result->count; i++)
        result->values[i] = result->base;
    raise(result->values, other->values, other->count);
    uint32_t *agents = result->values + result->count;
    memcpy(agents, upper->values + upper->count, upper->agents * sizeof *agents);
    raise(agents, other->values + other->count, other->agents);
    return result;
}

/* ---- parts: big-endian Patricia trees, which share what did not change ---- */

static gd_parts *parts_hold(gd_parts *parts)
{
    if (parts)
        parts->refs++;
    return parts;
}

/* No deeper than the bits of a number. */
static void parts_drop(gd_race *race, gd_parts *parts)
{
    if (!parts || --parts->refs)
        return;
    if (parts->bit) {
        parts_drop(race, parts->child[0]);
        parts_drop(race, parts->child[1]);
    }
    gd_stamps_drop(race, parts->stamps);
    gd_race_give(race, parts, sizeof *parts);
}

/* Takes stamps over. */
static gd_parts *leaf(gd_race *race, uint32_t uid, uint32_t task, gd_stamps *stamps)
{
    gd_parts *parts = gd_race_take(race, sizeof *parts);

    if (!parts) {
        gd_stamps_drop(race, stamps);
        return NULL;
    }
    parts->refs = 1;
    parts->key = uid;
    parts->task = task;
    parts->stamps = stamps;
    return parts;
}

/* Takes both children over; one of them may be NULL. */
static gd_parts *branch(gd_race *race, uint32_t key, uint32_t bit, gd_parts *zero, gd_parts *one)
{
    if (!zero || !one)
        return zero ? zero : one;
    gd_parts *parts = gd_race_take(race, sizeof *parts);
    if (!parts) {
        parts_drop(race, zero);
        parts_drop(race, one);
        return NULL;
    }
    parts->refs = 1;
    parts->key = key & ~(bit | (bit - 1));
    parts->bit = bit;
    parts->child[0] = zero;
    parts->child[1] = one;
    return parts;
}

static bool matches(uint32_t key, const gd_parts *parts)
{
    return (key & ~(parts->bit | (parts->bit - 1))) == parts->key;
}

static unsigned side(uint32_t key, uint32_t bit)
{
    return (key & bit) != 0;
}

/* Two trees whose numbers part at a bit. */
static gd_parts *part_at(gd_race *race, gd_parts *a, gd_parts *b)
{
    uint32_t bit = UINT32_C(1) << (31 - __builtin_clz(a->key ^ b->key));
    bool swap = side(a->key, bit);

    return branch(race, a->key, bit, parts_hold(swap ? b : a), parts_hold(swap ? a : b));
}

static gd_parts *parts_join(gd_race *race, gd_parts *a, gd_parts *b);

/* b goes below a. */
static gd_parts *join_below(gd_race *race, gd_parts *a, gd_parts *b)
{
    unsigned at = side(b->key, a->bit);
    gd_parts *child = parts_join(race, a->child[at], b);

    if (child == a->child[at]) {
        parts_drop(race, child);
        return parts_hold(a);
    }
    gd_parts *other = parts_hold(a->child[!at]);
    return branch(race, a->key, a->bit, at ? other : child, at ? child : other);
}

static gd_parts *join_leaves(gd_race *race, gd_parts *a, gd_parts *b)
{
    gd_stamps *stamps = gd_stamps_join(race, a->stamps, b->stamps);

    if (stamps == a->stamps || stamps == b->stamps) {
        gd_parts *same = stamps == a->stamps ? a : b;
        gd_stamps_drop(race, stamps);
        return parts_hold(same);
    }
    return leaf(race, a->key, a->task, stamps);
}

static gd_parts *join_branches(gd_race *race, gd_parts *a, gd_parts *b)
{
    gd_parts *zero = parts_join(race, a->child[0], b->child[0]),
             *one = parts_join(race, a->child[1], b->child[1]);

    for (int i = 0; i < 2; i++) {
        gd_parts *old = i ? b : a;
        if (zero == old->child[0] && one == old->child[1]) {
            parts_drop(race, zero);
            parts_drop(race, one);
            return parts_hold(old);
        }
    }
    return branch(race, a->key, a->bit, zero, one);
}

static gd_parts *parts_join(gd_race *race, gd_parts *a, gd_parts *b)
{
    if (a == b || !b)
        return parts_hold(a);
    if (!a)
        return parts_hold(b);
    if (a->key == b->key && a->bit == b->bit)
        return a->bit ? join_branches(race, a, b) : join_leaves(race, a, b);
    if (a->bit > b->bit && matches(b->key, a))
        return join_below(race, a, b);
    if (b->bit > a->bit && matches(a->key, b))
        return join_below(race, b, a);
    return part_at(race, a, b);
}

/* Without the parts of known tasks. */
static gd_parts *parts_prune(gd_race *race, gd_parts *parts, const gd_known *known)
{
    if (!parts)
        return NULL;
    if (!parts->bit)
        return gd_known_has(race, known, parts->task) ? NULL : parts_hold(parts);
    gd_parts *zero = parts_prune(race, parts->child[0], known),
             *one = parts_prune(race, parts->child[1], known);
    if (zero == parts->child[0] && one == parts->child[1]) {
        parts_drop(race, zero);
        parts_drop(race, one);
        return parts_hold(parts);
    }
    return branch(race, parts->key, parts->bit, zero, one);
}

const gd_parts *gd_outside_find(const gd_outside *outside, uint32_t uid)
{
    const gd_parts *parts = outside ? outside->parts : NULL;

    while (parts && parts->bit) {
        if (!matches(uid, parts))
            return NULL;
        parts = parts->child[side(uid, parts->bit)];
    }
    return parts && parts->key == uid ? parts : NULL;
}

/* ---- outsides ---- */

/* All are taken over. */
static gd_outside *make_outside(gd_race *race, gd_known *known, gd_parts *parts, gd_outside *fenced,
                                gd_outside *pending)
{
    gd_outside *outside =
        known || parts || fenced || pending ? gd_race_take(race, sizeof *outside) : NULL;

    if (!outside) {
        gd_known_drop(race, known);
        parts_drop(race, parts);
        gd_outside_drop(race, fenced);
        gd_outside_drop(race, pending);
        return NULL;
    }
    *outside = (gd_outside){1, known, parts, fenced, pending};
    return outside;
}

gd_outside *gd_outside_create(gd_race *race, gd_known *known, gd_parts *parts)
{
    return make_outside(race, known, parts, NULL, NULL);
}

gd_outside *gd_outside_of_fences(gd_race *race, gd_outside *fenced, gd_outside *pending)
{
    return make_outside(race, NULL, NULL, gd_outside_hold(fenced), gd_outside_hold(pending));
}

gd_outside *gd_outside_hold(gd_outside *outside)
{
    if (outside)
        outside->refs++;
    return outside;
}

/* No deeper than one more, for what is for fence.sc. */
void gd_outside_drop(gd_race *race, gd_outside *outside)
{
    if (!outside || --outside->refs)
        return;
    gd_known_drop(race, outside->known);
    parts_drop(race, outside->parts);
    gd_outside_drop(race, outside->fenced);
    gd_outside_drop(race, outside->pending);
    gd_race_give(race, outside, sizeof *outside);
}

static bool is_made_of(const gd_outside *old, const gd_outside *made)
{
    return old && old->known == made->known && old->parts == made->parts &&
           old->fenced == made->fenced && old->pending == made->pending;
}

/* The one of a and b that has just these; what is made of is taken over. */
static gd_outside *outside_of(gd_race *race, gd_outside *a, gd_outside *b, const gd_outside *made)
{
    gd_outside *old = is_made_of(a, made) ? a : is_made_of(b, made) ? b : NULL;

    if (!old)
        return make_outside(race, made->known, made->parts, made->fenced, made->pending);
    gd_known_drop(race, made->known);
    parts_drop(race, made->parts);
    gd_outside_drop(race, made->fenced);
    gd_outside_drop(race, made->pending);
    return gd_outside_hold(old);
}

gd_outside *gd_outside_join(gd_race *race, gd_outside *a, gd_outside *b)
{
    if (a == b || !b)
        return gd_outside_hold(a);
    if (!a)
        return gd_outside_hold(b);
    const gd_outside made = {.known = gd_known_join(race, a->known, b->known),
                             .parts = parts_join(race, a->parts, b->parts),
                             .fenced = gd_outside_join(race, a->fenced, b->fenced),
                             .pending = gd_outside_join(race, a->pending, b->pending)};
    return outside_of(race, a, b, &made);
}

void gd_outside_add(gd_race *race, gd_outside **target, gd_outside *more)
{
    gd_outside *joined = gd_outside_join(race, *target, more);

    gd_outside_drop(race, *target);
    *target = joined;
}

gd_outside *gd_outside_with(gd_race *race, gd_outside *outside, uint32_t task)
{
    const gd_outside made = {.known = gd_known_with(race, outside ? outside->known : NULL, task),
                             .parts = parts_hold(outside ? outside->parts : NULL),
                             .fenced = gd_outside_hold(outside ? outside->fenced : NULL),
                             .pending = gd_outside_hold(outside ? outside->pending : NULL)};

    return outside_of(race, outside, NULL, &made);
}

gd_outside *gd_outside_plain(gd_race *race, gd_outside *outside)
{
    if (!outside || (!outside->fenced && !outside->pending))
        return gd_outside_hold(outside);
    return make_outside(race, gd_known_hold(outside->known), parts_hold(outside->parts), NULL,
                        NULL);
}

gd_outside *gd_outside_prune(gd_race *race, gd_outside *outside)
{
    if (!outside || (!outside->parts && !outside->fenced && !outside->pending))
        return outside;
    const gd_outside made = {.known = gd_known_hold(outside->known),
                             .parts = parts_prune(race, outside->parts, outside->known)};
    gd_outside *result = outside_of(race, outside, NULL, &made);
    gd_outside_drop(race, outside);
    return result;
}

gd_outside *gd_outside_part(gd_race *race, uint32_t uid, uint32_t task, gd_stamps *stamps)
{
    return gd_outside_create(race, NULL, leaf(race, uid, task, stamps));
}

/* ---- clocks ---- */

gd_clock *gd_clock_create(gd_race *race, gd_outside *outside, gd_stamps *stamps)
{
    gd_clock *clock = gd_race_take(race, sizeof *clock);

    if (!clock) {
        gd_outside_drop(race, outside);
        gd_stamps_drop(race, stamps);
        return NULL;
    }
    clock->refs = 1;
    clock->outside = outside;
    clock->stamps = stamps;
    return clock;
}

gd_clock *gd_clock_hold(gd_clock *clock)
{
    if (clock)
        clock->refs++;
    return clock;
}

void gd_clock_drop(gd_race *race, gd_clock *clock)
{
    if (!clock || --clock->refs)
        return;
    gd_outside_drop(race, clock->outside);
    gd_stamps_drop(race, clock->stamps);
    gd_race_give(race, clock, sizeof *clock);
}

/* The clock itself when it has just these, which are taken over. */
static gd_clock *clock_of(gd_race *race, gd_clock *clock, gd_outside *outside, gd_stamps *stamps)
{
    if (clock && clock->outside == outside && clock->stamps == stamps) {
        gd_outside_drop(race, outside);
        gd_stamps_drop(race, stamps);
        return gd_clock_hold(clock);
    }
    return gd_clock_create(race, outside, stamps);
}

/* The own CTA's part stays in the outside, where nobody looks for it. */
gd_clock *gd_clock_acquire(gd_race *race, gd_clock *clock, gd_outside *more, uint32_t uid)
{
    const gd_parts *own = gd_outside_find(more, uid);
    gd_outside *outside = gd_outside_join(race, clock ? clock->outside : NULL, more);

    return clock_of(race, clock, outside,
                    gd_stamps_join(race, clock ? clock->stamps : NULL, own ? own->stamps : NULL));
}
