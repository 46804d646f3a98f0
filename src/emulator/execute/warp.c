/* Votes, shuffles, matches, reductions and elections (PTX ISA 9.7.9, 9.7.13). */
#include "emulator/execute/warp.h"
#include "emulator/execute/control.h"
#include "emulator/execute/sweep.h"

/* The lanes that take part; 0 when they wait for others. Without .sync there is no slot of
 * masks. */
static uint32_t gather(gd_warp *warp, const gd_code *code, gd_slot masks, uint32_t mask)
{
    return masks == GD_AREA_SINK ? mask : gd_warp_gather(warp, code, masks, mask);
}

static void put_all(const gd_warp *warp, gd_slot slot, uint32_t mask, uint32_t value)
{
    gd_u32 *lanes = gd_lanes(warp, slot);

    GD_EACH_LANE(lane, mask)
    {
        lanes[lane] = value;
    }
}

void gd_run_vote(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t here = gather(warp, code, code->b, mask);
    uint32_t votes = (gd_predicate(warp, code->a) ^ (code->flags & 1 ? UINT32_MAX : 0)) & here;
    bool result = code->x == GD_VOTE_ALL   ? votes == here
                  : code->x == GD_VOTE_ANY ? votes != 0
                                           : votes == here || !votes;

    if (!here)
        return;
    if (code->x == GD_VOTE_BALLOT)
        put_all(warp, code->d, here, votes);
    else
        gd_predicate_put(warp, code->d, result ? UINT32_MAX : 0, here);
}

void gd_run_shfl(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t here = gather(warp, code, code->e, mask), inside, values[GD_LANES];
    const gd_u32 *a = gd_lanes(warp, code->a), *b = gd_lanes(warp, code->b),
                 *c = gd_lanes(warp, code->c);
    gd_u32 *d = gd_lanes(warp, code->d);

    if (!here)
        return;
    inside = warp->cta->sweeps->shuffle(code->x, a, b, c, values);
    if (here == UINT32_MAX)
        memcpy(d, values, sizeof values);
    GD_EACH_LANE(lane, here == UINT32_MAX ? 0 : here)
    {
        d[lane] = values[lane];
    }
    gd_predicate_put(warp, code->address, inside, here);
}

void gd_run_match(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t here = gather(warp, code, code->b, mask), results[GD_LANES];
    bool all = here;

    GD_EACH_LANE(lane, here)
    {
        uint64_t value = gd_lane_get(warp, code->a, lane, code->bytes);
        results[lane] = 0;
        GD_EACH_LANE(other, here)
        {
            results[lane] |=
                gd_lane_get(warp, code->a, other, code->bytes) == value ? UINT32_C(1) << other : 0;
        }
        all &= results[lane] == here;
    }
    GD_EACH_LANE(lane, here)
    {
        gd_lane_put(warp, code->d, lane, 4, code->x && !all ? 0 : results[lane]);
    }
    if (here && code->x)
        gd_predicate_put(warp, code->address, all ? UINT32_MAX : 0, here);
}

static uint32_t reduce(const gd_code *code, uint32_t a, uint32_t b)
{
    bool less = code->y == GD_TYPE_S32 ? (int32_t)a < (int32_t)b : a < b;

    switch (code->x) {
    case GD_REDUX_ADD:
        return a + b;
    case GD_REDUX_MIN:
        return less ? a : b;
    case GD_REDUX_MAX:
        return less ? b : a;
    case GD_REDUX_AND:
        return a & b;
    case GD_REDUX_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

void gd_run_redux(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t here = gather(warp, code, code->b, mask), value = 0;
    const gd_u32 *a = gd_lanes(warp, code->a);
    bool first = true;

    GD_EACH_LANE(lane, here)
    {
        value = first ? a[lane] : reduce(code, value, a[lane]);
        first = false;
    }
    put_all(warp, code->d, here, value);
}

void gd_run_activemask(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    put_all(warp, code->d, mask, mask);
}

/* The lowest lane of the mask is elected. */
void gd_run_elect(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t here = gather(warp, code, code->a, mask);

    if (!here)
        return;
    put_all(warp, code->d, here, gd_lowest(here));
    gd_predicate_put(warp, code->address, here & (0 - here), here);
}
