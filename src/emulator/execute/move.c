/* Predicates, carries, wide moves, and questions about addresses. */
#include "emulator/execute/move.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/lanes.h"
#include "emulator/execute/program.h"

void gd_run_predicates(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t a = gd_predicate(warp, code->a) ^ (code->flags & 1 ? UINT32_MAX : 0);
    uint32_t b = gd_predicate(warp, code->b) ^ (code->flags & 2 ? UINT32_MAX : 0);

    gd_predicate_put(warp, code->d,
                     code->x == GD_COMBINE_NONE  ? a
                     : code->x == GD_COMBINE_NOT ? ~a
                     : code->x == GD_COMBINE_AND ? a & b
                     : code->x == GD_COMBINE_OR  ? a | b
                                                 : a ^ b,
                     mask);
}

/* A subtraction adds the complement, and CC.CF is the carry of that addition: set where nothing was
 * borrowed. So on a GPU (sm_90), where an addition may go on with what a subtraction left, and the
 * other way round. */
void gd_run_carry(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint64_t limit = code->bytes == 8 ? UINT64_MAX : UINT32_MAX;
    bool subtract = code->flags & GD_CARRY_SUB;
    uint32_t carries = 0;

    GD_EACH_LANE(lane, mask)
    {
        uint64_t a = gd_lane_get(warp, code->a, lane, code->bytes),
                 b = gd_lane_get(warp, code->b, lane, code->bytes);
        uint64_t held = code->flags & GD_CARRY_IN ? warp->carry >> lane & 1 : subtract;
        uint64_t result = (a + (subtract ? ~b : b) + held) & limit;
        carries |= result < a || (held && result == a) ? UINT32_C(1) << lane : 0;
        gd_lane_put(warp, code->d, lane, code->bytes, result);
    }
    if (code->flags & GD_CARRY_OUT)
        warp->carry = (warp->carry & ~mask) | carries;
}

void gd_run_move_wide(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    unsigned char *to = gd_lanes(warp, code->d);
    const unsigned char *from = gd_lanes(warp, code->a);

    GD_EACH_LANE(lane, mask)
    {
        memmove(to + (size_t)lane * 16, from + (size_t)lane * 16, 16);
    }
}

void gd_run_local_address(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        gd_lane_put(warp, code->d, lane, code->bytes, warp->local[lane] + code->value);
    }
}

static bool lies_in(const gd_cta *cta, uint64_t address, uint32_t space)
{
    const uint64_t window = UINT64_C(1) << 32;
    bool shared = address - GD_SHARED_WINDOW < window, local = address - GD_LOCAL_WINDOW < window;
    bool parameter = address - GD_PARAMETER_WINDOW < window;

    switch (space) {
    case GD_AT_SHARED:
        return shared && (address - GD_SHARED_WINDOW) >> GD_RANK_SHIFT == cta->rank;
    case GD_AT_CLUSTER:
        return shared;
    case GD_AT_LOCAL:
        return local;
    case GD_AT_PARAMETER:
        return parameter;
    default:
        return !shared && !local && !parameter;
    }
}

void gd_run_space(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t result = 0;

    GD_EACH_LANE(lane, mask)
    {
        uint64_t address = gd_lane_get(warp, code->a, lane, code->bytes);
        bool inside = lies_in(warp->cta, address, code->x);
        if (code->x == GD_AT_CONSTANT || code->x == GD_AT_GLOBAL) {
            const gd_allocation *item =
                inside ? gd_memory_find(warp->cta->view->memory, address) : NULL;
            bool constant = item && item->kind == GD_MEMORY_CONSTANT;
            inside = inside && (code->x == GD_AT_CONSTANT) == constant;
        }
        result |= inside ? UINT32_C(1) << lane : 0;
    }
    gd_predicate_put(warp, code->d, result, mask);
}

static void copy_whole(void *to, const void *from, uint32_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes == 8 ? 8 : 16);
}

/* No part lies across the middle of 16 bytes. */
void gd_run_pack(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *slots = warp->cta->image->list + code->list;
    const uint32_t whole = code->count * code->bytes, stored = whole < 4 ? 4 : whole;
    const uint32_t part = code->bytes < 4 ? 4 : code->bytes, bits = 8u * code->bytes;
    const uint64_t most = UINT64_MAX >> (64 - bits);

    GD_EACH_LANE(lane, mask)
    {
        uint64_t words[2] = {0};
        unsigned char *place = (unsigned char *)gd_lanes(warp, code->d) + (size_t)lane * stored;
        if (code->x)
            copy_whole(words, place, stored);
        for (uint32_t i = 0, at = 0; i < code->count; i++, at += bits) {
            if (code->x)
                gd_lane_put(warp, slots[i], lane, part, words[at / 64] >> (at % 64) & most);
            else
                words[at / 64] |= (gd_lane_get(warp, slots[i], lane, part) & most) << (at % 64);
        }
        if (!code->x)
            copy_whole(place, words, stored);
    }
}
