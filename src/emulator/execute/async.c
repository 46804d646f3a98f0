/* mbarriers (PTX ISA 9.7.13.15), cp.async, cp.async.bulk. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "emulator/execute/check.h"
#include "emulator/execute/async.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/program.h"
#include "emulator/execute/memory.h"

/* ---- the object in shared memory ---- */

/* 64 bits: arrivals that are missing, arrivals of a phase, bytes that are missing (22 bits,
 * signed), the phase, a mark. */
typedef struct mbarrier {
    uint32_t pending, expected;
    int32_t bytes;
    uint32_t phase;
} mbarrier;

enum {
    COUNT_BITS = 20,
    COUNT_MASK = (1 << COUNT_BITS) - 1,
    BYTES_MASK = (1 << 22) - 1,
    MOST_BYTES = (1 << 20) - 1
};

#define MARK (UINT64_C(1) << 63)

static uint64_t encode(const mbarrier *barrier)
{
    return MARK | (uint64_t)(barrier->phase & 1) << 62 |
           (uint64_t)((uint32_t)barrier->bytes & BYTES_MASK) << 40 |
           (uint64_t)barrier->expected << COUNT_BITS | barrier->pending;
}

static mbarrier decode(uint64_t bits)
{
    uint32_t bytes = (uint32_t)(bits >> 40) & BYTES_MASK;

    return (mbarrier){.pending = (uint32_t)bits & COUNT_MASK,
                      .expected = (uint32_t)(bits >> COUNT_BITS) & COUNT_MASK,
                      .bytes = (int32_t)(bytes ^ 0x200000) - 0x200000,
                      .phase = (uint32_t)(bits >> 62) & 1};
}

static bool load(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                 unsigned char **place, mbarrier *barrier)
{
    uint64_t bits;

    *place = gd_access(warp, code, lane, (gd_space)code->space, address, 8, 8, true);
    if (!*place)
        return false;
    memcpy(&bits, *place, sizeof bits);
    *barrier = decode(bits);
    if (!(bits & MARK))
        gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, address, 8, true,
                    "what lies at 0x%" PRIx64
                    " is no mbarrier: it was not initialised, or it was overwritten",
                    address);
    return bits & MARK;
}

/* Tells the race detector of an arrival of a thread, or of its copies. */
static void note_arrival(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                         uint64_t address, bool copies)
{
    if (warp->cta->race)
        gd_check_mbarrier(warp, code, lane, space, address, true);
    if (!warp->cta->race || (!copies && !code->order))
        return;
    gd_race_cta *owner = gd_check_owner(warp, space, &address);
    if (owner)
        gd_race_mbarrier_arrive(warp->cta->race, warp->index, UINT32_C(1) << lane, owner, address,
                                copies);
}

/* And of a phase that has ended. */
static void note_complete(gd_warp *warp, const gd_code *code, uint64_t address)
{
    gd_race_cta *owner =
        warp->cta->race ? gd_check_owner(warp, (gd_space)code->space, &address) : NULL;

    if (owner)
        gd_race_mbarrier_complete(owner, address);
}

static void note_forget(gd_warp *warp, const gd_code *code, uint64_t address)
{
    gd_race_cta *owner =
        warp->cta->race ? gd_check_owner(warp, (gd_space)code->space, &address) : NULL;

    if (owner)
        gd_race_mbarrier_forget(owner, address);
}

static void note_wait(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address)
{
    if (warp->cta->race)
        gd_check_mbarrier(warp, code, lane, (gd_space)code->space, address, false);
    gd_race_cta *owner = warp->cta->race && code->order
                             ? gd_check_owner(warp, (gd_space)code->space, &address)
                             : NULL;

    if (owner)
        gd_race_mbarrier_wait(warp->cta->race, warp->index, UINT32_C(1) << lane, owner, address);
}

/* Stores a barrier; a phase that has all that it waits for ends. */
static void store(gd_warp *warp, const gd_code *code, uint64_t address, unsigned char *place,
                  mbarrier *barrier)
{
    uint64_t bits;

    if (barrier->pending == 0 && barrier->bytes == 0) {
        barrier->phase ^= 1;
        barrier->pending = barrier->expected;
        note_complete(warp, code, address);
    }
    bits = encode(barrier);
    memcpy(place, &bits, sizeof bits);
    warp->cta->work++;
}

static bool add_bytes(gd_warp *warp, const gd_code *code, uint32_t lane, mbarrier *barrier,
                      int64_t bytes)
{
    int64_t sum = barrier->bytes + bytes;

    if (sum < -MOST_BYTES || sum > MOST_BYTES) {
        gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, 0, 0, false,
                    "the mbarrier's transaction count would be %" PRId64 "; it holds up to %d", sum,
                    (int)MOST_BYTES);
        return false;
    }
    barrier->bytes = (int32_t)sum;
    return true;
}

static bool take_arrivals(gd_warp *warp, const gd_code *code, uint32_t lane, mbarrier *barrier,
                          uint32_t count)
{
    if (count == 0 || count > barrier->pending) {
        gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, 0, 0, false,
                    "%u arrivals on an mbarrier that waits for %u more in this phase", count,
                    barrier->pending);
        return false;
    }
    barrier->pending -= count;
    return true;
}

void gd_mbarrier_describe(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                          char *text, size_t bytes)
{
    unsigned char *place;
    mbarrier barrier = {0};
    size_t used = 0;

    *text = 0;
    if (!load(warp, code, lane, address, &place, &barrier))
        return;
    if (barrier.pending || !barrier.bytes)
        used = (size_t)snprintf(text, bytes, "%u of %u %s", barrier.pending, barrier.expected,
                                gd_plural(barrier.expected, "arrival", "arrivals"));
    if (barrier.bytes && used < bytes)
        used += (size_t)snprintf(text + used, bytes - used, "%s%d %s", used ? " and " : "",
                                 barrier.bytes < 0 ? -barrier.bytes : barrier.bytes,
                                 barrier.bytes < 0 ? "bytes more than were expected" : "bytes");
    if (used < bytes)
        snprintf(text + used, bytes - used, " %s in the phase of parity %u",
                 barrier.bytes < 0 ? "came" : "are missing", barrier.phase);
}

/* ---- the instructions ---- */

static bool init(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address)
{
    uint32_t count = (uint32_t)gd_lane_get(warp, code->a, lane, 4);
    unsigned char *place = gd_access(warp, code, lane, (gd_space)code->space, address, 8, 8, true);
    mbarrier barrier = {.pending = count, .expected = count};

    if (!place)
        return false;
    if (count == 0 || count > COUNT_MASK) {
        gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, address, 8, true,
                    "mbarrier.init with a count of %u; it is 1 to %d", count, (int)COUNT_MASK);
        return false;
    }
    note_forget(warp, code, address);
    if (warp->cta->race) {
        gd_check_range(warp, code, lane, (gd_space)code->space, address, 8, GD_ACTION_WRITE, false);
        gd_check_init(warp, code, lane, (gd_space)code->space, address);
    }
    store(warp, code, address, place, &barrier);
    return true;
}

static bool arrive(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                   unsigned char *place, mbarrier *barrier)
{
    uint64_t state = (uint64_t)barrier->phase << 62 | barrier->pending;
    uint32_t count = (uint32_t)gd_lane_get(warp, code->a, lane, 4);

    if (!add_bytes(warp, code, lane, barrier, (int64_t)gd_lane_get(warp, code->b, lane, 4)) ||
        !take_arrivals(warp, code, lane, barrier, count))
        return false;
    if (code->x == GD_MBARRIER_DROP)
        barrier->expected -= count < barrier->expected ? count : barrier->expected;
    gd_lane_put(warp, code->d, lane, 8, state);
    note_arrival(warp, code, lane, (gd_space)code->space, address,
                 code->flags & GD_MBARRIER_OF_COPIES);
    store(warp, code, address, place, barrier);
    return true;
}

static bool run_lane(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                     uint32_t *reached)
{
    unsigned char *place;
    mbarrier barrier;

    if (code->x == GD_MBARRIER_INIT)
        return init(warp, code, lane, address);
    if (!load(warp, code, lane, address, &place, &barrier))
        return false;
    uint64_t operand =
        gd_lane_get(warp, code->a, lane, code->x == GD_MBARRIER_WAIT && !code->y ? 8 : 4);
    uint32_t phase = (uint32_t)(code->y ? operand : operand >> 62) & 1;
    switch (code->x) {
    case GD_MBARRIER_INVAL:
        memset(place, 0, 8);
        if (warp->cta->race)
            gd_check_range(warp, code, lane, (gd_space)code->space, address, 8, GD_ACTION_WRITE,
                           false);
        note_forget(warp, code, address);
        return true;
    case GD_MBARRIER_EXPECT:
    case GD_MBARRIER_COMPLETE:
        if (!add_bytes(warp, code, lane, &barrier,
                       code->x == GD_MBARRIER_EXPECT ? (int64_t)operand : -(int64_t)operand))
            return false;
        if (code->x == GD_MBARRIER_COMPLETE)
            note_arrival(warp, code, lane, (gd_space)code->space, address,
                         code->flags & GD_MBARRIER_OF_COPIES);
        store(warp, code, address, place, &barrier);
        return true;
    case GD_MBARRIER_WAIT:
        if (phase == barrier.phase)
            return true;
        *reached |= UINT32_C(1) << lane;
        note_wait(warp, code, lane, address);
        return true;
    default:
        return arrive(warp, code, lane, address, place, &barrier);
    }
}

void gd_run_mbarrier(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint64_t addresses[GD_LANES];
    uint32_t reached = 0;

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        if (!run_lane(warp, code, lane, addresses[lane], &reached))
            return;
    }
    if (code->x != GD_MBARRIER_WAIT)
        return;
    gd_predicate_put(warp, code->d, reached, mask);
    if (reached)
        return;
    gd_note_poll(warp, code, gd_lowest(mask), addresses[gd_lowest(mask)]);
    gd_warp_yield(warp);
}

void gd_run_pending(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        gd_lane_put(warp, code->d, lane, 4, gd_lane_get(warp, code->a, lane, 8) & COUNT_MASK);
    }
}

/* ---- copies ---- */

/* The list holds slot, kind, space, and the offset's halves. */
uint64_t gd_other_address(const gd_warp *warp, const uint32_t *list, uint32_t lane, gd_space *space)
{
    uint64_t offset = list[3] | (uint64_t)list[4] << 32;

    *space = (gd_space)list[2];
    if (list[1] == GD_ADDRESS_WIDE)
        return gd_lane_get(warp, list[0], lane, 8) + offset;
    if (list[1] == GD_ADDRESS_NARROW)
        return (uint32_t)(gd_lane_get(warp, list[0], lane, 4) + offset);
    return warp->local[lane] + offset;
}

/* [shared], [global], bytes: the memory operand is the target, the list has the source. */
void gd_run_cp_async(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *list = warp->cta->image->list + code->list;
    uint32_t ignored = code->y ? gd_predicate(warp, code->a) ^ (code->flags ? UINT32_MAX : 0) : 0;
    uint64_t addresses[GD_LANES];

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        gd_space space;
        uint64_t from = gd_other_address(warp, list, lane, &space);
        uint32_t wanted = code->y ? code->bytes : (uint32_t)gd_lane_get(warp, code->a, lane, 4);
        unsigned char *target = gd_access(warp, code, lane, (gd_space)code->space, addresses[lane],
                                          code->bytes, code->bytes, true);
        wanted = ignored >> lane & 1 ? 0 : wanted;
        if (!target)
            return;
        if (wanted > code->bytes) {
            gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, from, wanted, false,
                        "cp.async reads %u bytes into a place of %u", wanted, code->bytes);
            return;
        }
        unsigned char *source =
            wanted ? gd_access(warp, code, lane, space, from, wanted, 1, false) : target;
        if (source && from & (code->bytes - 1u) && wanted) {
            gd_cta_fail(warp, code, lane, GD_FAULT_ALIGNMENT, from, wanted, false,
                        "read of %u bytes at 0x%" PRIx64 ", which is no multiple of %u", wanted,
                        from, code->bytes);
            return;
        }
        if (!source)
            return;
        if (warp->cta->race) {
            gd_check_range(warp, code, lane, space, from, wanted, GD_ACTION_READ, true);
            gd_check_range(warp, code, lane, (gd_space)code->space, addresses[lane], code->bytes,
                           GD_ACTION_WRITE, true);
        }
        memmove(target, source, wanted);
        memset(target + wanted, 0, code->bytes - wanted);
    }
    warp->cta->work++;
}

/* The source's elements are added, or whatever it is, to those of the target. */
static void reduce(const gd_code *code, unsigned char *target, const unsigned char *source,
                   uint32_t bytes)
{
    gd_ptx_type type = (gd_ptx_type)code->bytes;
    uint32_t step = gd_ptx_types[type].bytes;

    for (uint32_t at = 0; at < bytes; at += step) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, target + at, step);
        memcpy(&operand, source + at, step);
        old = gd_atomic_apply((gd_atomic)(code->count - 1), type, old, operand, 0, 0);
        memcpy(target + at, &old, step);
    }
}

static bool copy_bulk(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t to)
{
    const uint32_t *list = warp->cta->image->list + code->list;
    gd_space space;
    uint64_t from = gd_other_address(warp, list, lane, &space);
    uint32_t bytes = (uint32_t)gd_lane_get(warp, code->a, lane, 4);

    if (bytes % 16) {
        gd_cta_fail(warp, code, lane, GD_FAULT_ALIGNMENT, from, bytes, false,
                    "a bulk copy of %u bytes, which is no multiple of 16", bytes);
        return false;
    }
    if (!bytes)
        return true;
    unsigned char *target = gd_access(warp, code, lane, (gd_space)code->space, to, bytes, 16, true);
    unsigned char *source =
        target ? gd_access(warp, code, lane, space, from, bytes, 16, false) : NULL;
    if (!source)
        return false;
    if (warp->cta->race) {
        gd_check_range(warp, code, lane, space, from, bytes, GD_ACTION_READ, true);
        gd_check_range(warp, code, lane, (gd_space)code->space, to, bytes,
                       code->count ? GD_ACTION_ATOMIC : GD_ACTION_WRITE, true);
    }
    if (code->count)
        reduce(code, target, source, bytes);
    else
        memmove(target, source, bytes);
    return true;
}

bool gd_tell_mbarrier(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                      gd_space space, uint64_t bytes)
{
    gd_code on_barrier = *code;
    unsigned char *place;
    mbarrier barrier;

    on_barrier.space = (uint8_t)space;
    if (!load(warp, &on_barrier, lane, address, &place, &barrier) ||
        !add_bytes(warp, &on_barrier, lane, &barrier, -(int64_t)bytes))
        return false;
    note_arrival(warp, code, lane, space, address, true);
    store(warp, &on_barrier, address, place, &barrier);
    return true;
}

/* To the same place in each CTA of the mask, with a word to the mbarrier at the same place
 * there. */
static bool multicast(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t to,
                      uint64_t barrier, gd_space space)
{
    uint32_t ranks = (uint32_t)gd_lane_get(warp, code->b, lane, 4) & 0xffff;
    uint64_t bytes = gd_lane_get(warp, code->a, lane, 4);

    GD_EACH_LANE(rank, ranks)
    {
        if (!copy_bulk(warp, code, lane, gd_cluster_map(to, rank)) ||
            !gd_tell_mbarrier(warp, code, lane, gd_cluster_map(barrier, rank), space, bytes))
            return false;
    }
    return true;
}

/* The memory operand is the target; the list has the source and, where y is set, the mbarrier; a:
 * bytes; b: mask of ranks where x is set; count: 1 + gd_atomic of a reduction of the gd_ptx_type
 * `bytes`. */
void gd_run_bulk(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint64_t addresses[GD_LANES];

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        const uint32_t *list = warp->cta->image->list + code->list + GD_ADDRESS_WORDS;
        gd_space space = GD_AT_SHARED;
        uint64_t barrier = code->y ? gd_other_address(warp, list, lane, &space) : 0;
        bool done = code->x
                        ? multicast(warp, code, lane, addresses[lane], barrier, space)
                        : copy_bulk(warp, code, lane, addresses[lane]) &&
                              (!code->y || gd_tell_mbarrier(warp, code, lane, barrier, space,
                                                            gd_lane_get(warp, code->a, lane, 4)));
        if (!done)
            return;
    }
    warp->cta->work++;
}

void gd_run_async_group(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_race_cta *race = warp->cta->race;

    if (!race)
        return;
    if (code->x == GD_ASYNC_COMMIT)
        gd_race_async_commit(race, warp->index, mask);
    else if (code->x == GD_ASYNC_WAIT)
        gd_race_async_wait(race, warp->index, mask, (uint32_t)code->value);
    else if (code->x == GD_ASYNC_WAIT_READ)
        gd_race_async_wait_read(race, warp->index, mask, (uint32_t)code->value);
    else
        gd_race_async_wait_all(race, warp->index, mask);
}
