/* Branches, calls and exits, barriers of the CTA and of the warp, and the grid's dependencies. */
#include "emulator/execute/check.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/control.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/program.h"

/* ---- branches ---- */

/* The lanes at the lower of the two places go on, up to where others stand: what a choice among all
 * would give, which it takes where the warp has calls or others stand before that place. */
static void split(gd_warp *warp, uint32_t mask, uint32_t target)
{
    const gd_sweeps *sweeps = warp->cta->sweeps;
    uint32_t others = warp->active & ~mask, behind = warp->pc;
    bool forward = target > behind;

    if (warp->calls || (forward ? behind : target) >= warp->limit) {
        gd_warp_choose(warp);
        sweeps->put(warp->pcs, mask, target);
        return;
    }
    if (target == behind)
        return;
    gd_warp_count(warp);
    sweeps->put(warp->pcs, forward ? mask : others, forward ? target : behind);
    warp->active = forward ? others : mask;
    warp->active_count = gd_count(warp->active);
    warp->pc = forward ? behind : target;
    uint32_t next = forward ? target : behind;
    warp->limit = next < warp->limit ? next : warp->limit;
}

void gd_run_bra(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    if (mask == warp->active)
        warp->pc = code->target;
    else
        split(warp, mask, code->target);
}

void gd_run_brx(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *targets = warp->cta->image->list + code->list;
    const gd_u32 *index = gd_lanes(warp, code->a);

    GD_EACH_LANE(lane, mask)
    {
        if (index[lane] >= code->value) {
            gd_cta_fail(warp, code, lane, GD_FAULT_TRAP, 0, 0, false,
                        "brx.idx with index %u of a list of %u", index[lane],
                        (uint32_t)code->value);
            return;
        }
    }
    gd_warp_choose(warp);
    GD_EACH_LANE(lane, mask)
    {
        warp->pcs[lane] = targets[index[lane]];
    }
}

/* ---- calls ---- */

static unsigned char *local_bytes(const gd_warp *warp, uint32_t lane)
{
    const gd_cta *cta = warp->cta;

    return cta->local + (size_t)(warp->index * GD_LANES + lane) * cta->local_bytes;
}

/* Copies between local memory of caller and callee, or a register: the list holds for each argument
 * its place there, its place here or its slot, its bytes, and whether it is a register. */
static void copy_arguments(gd_warp *warp, const gd_code *code, uint32_t lane, uint32_t callee,
                           bool back)
{
    const uint32_t *list = code->count ? warp->cta->image->list + code->list : NULL;
    unsigned char *local = local_bytes(warp, lane);

    for (uint32_t i = 0; i < code->count; i++, list += 4) {
        unsigned char *there = local + callee + list[0];
        unsigned char *here = local + warp->local[lane] + list[1];
        if (list[3])
            here = (unsigned char *)gd_lanes(warp, list[1]) + (size_t)lane * (list[3] >> 8);
        if (!back)
            gd_check_argument(warp, lane, callee + list[0], list[2]);
        else if (!list[3])
            gd_check_argument(warp, lane, warp->local[lane] + list[1], list[2]);
        if (back && list[3]) {
            unsigned char value[16] = {0};
            memcpy(value, there, list[2]);
            memcpy(here, value, list[3] >> 8);
        } else if (back) {
            memcpy(here, there, list[2]);
        } else {
            memcpy(there, here, list[2]);
        }
    }
}

void gd_run_register_parameter(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t bytes = code->bytes, stored = bytes < 4 ? 4 : bytes;

    GD_EACH_LANE(lane, mask)
    {
        unsigned char *place = local_bytes(warp, lane) + warp->local[lane] + code->value;
        unsigned char *here = (unsigned char *)gd_lanes(warp, code->d) + (size_t)lane * stored;
        memcpy(code->x ? place : here, code->x ? here : place, bytes);
        if (!code->x)
            memset(here + bytes, 0, stored - bytes);
    }
}

/* Whether the callee still fits on the stack of calls. */
static bool fits(gd_warp *warp, const gd_code *code, uint32_t lane, const gd_routine *callee)
{
    const gd_cta *cta = warp->cta;
    uint64_t frame = warp->frame[lane] + code->value + callee->frame;
    uint64_t local = (uint64_t)warp->local[lane] + code->e + callee->local;

    if (warp->depth[lane] + 1 < cta->image->depth && frame <= cta->image->frame_bytes &&
        local <= cta->local_bytes)
        return true;
    gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, 0, 0, false,
                "call stack overflow: %u calls inside one another are more than the emulator holds "
                "for this kernel",
                warp->depth[lane] + 1);
    return false;
}

static void enter(gd_warp *warp, const gd_code *code, uint32_t mask, uint32_t routine)
{
    const gd_routine *callee = &warp->cta->image->routines[routine];
    uint32_t back = gd_code_index(warp, code) + 1;

    gd_warp_choose(warp);
    GD_EACH_LANE(lane, mask)
    {
        if (!fits(warp, code, lane, callee))
            return;
        gd_check_frame(warp, lane, warp->local[lane] + code->e, callee->local);
        copy_arguments(warp, code, lane, warp->local[lane] + code->e, false);
        warp->returns[warp->depth[lane] * GD_LANES + lane] = back;
        warp->depth[lane]++;
        warp->frame[lane] += (uint32_t)code->value;
        warp->local[lane] += code->e;
        warp->pcs[lane] = callee->start;
    }
}

void gd_run_call(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    enter(warp, code, mask, code->target);
}

/* The list's arguments are followed by pairs of a function's number and a routine. */
void gd_run_call_through(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *pairs = warp->cta->image->list + code->list + (size_t)code->count * 4;
    const gd_u64 *addresses = gd_lanes(warp, code->a);
    uint64_t wanted[GD_LANES];

    memcpy(wanted, addresses, sizeof wanted);
    while (mask) {
        uint32_t first = gd_lowest(mask), same = 0, routine = UINT32_MAX;
        GD_EACH_LANE(lane, mask)
        {
            same |= wanted[lane] == wanted[first] ? UINT32_C(1) << lane : 0;
        }
        for (uint32_t i = 0; i < code->target; i++) {
            if (wanted[first] == GD_FUNCTION_WINDOW + UINT64_C(16) * pairs[2 * i])
                routine = pairs[2 * i + 1];
        }
        if (routine == UINT32_MAX) {
            gd_cta_fail(warp, code, first, GD_FAULT_ADDRESS, wanted[first], 0, false,
                        "call through an address that is no function of the call's prototype");
            return;
        }
        enter(warp, code, same, routine);
        mask &= ~same;
    }
}

/* The callee's local memory is still as it left it. */
void gd_run_results(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    GD_EACH_LANE(lane, mask)
    {
        copy_arguments(warp, code, lane, warp->local[lane] + code->e, true);
    }
}

void gd_run_trap(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_cta_fail(warp, code, gd_lowest(mask), GD_FAULT_TRAP, 0, 0, false, "trap");
}

/* Behind the last operation of an image, where no path leads. */
void gd_run_end(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_cta_fail(warp, code, gd_lowest(mask), GD_FAULT_UNSUPPORTED, 0, 0, false,
                "the emulator ran past the end of the kernel, which is a defect of it");
}

void gd_run_nothing(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    (void)warp;
    (void)code;
    (void)mask;
}

/* ---- barriers of the CTA ---- */

static bool is_complete(const gd_cta *cta, const gd_barrier *barrier)
{
    if (!barrier->threads)
        return false;
    return barrier->expected ? barrier->arrived >= barrier->expected
                             : barrier->threads >= cta->live_threads;
}

/* An operand of a lane that waits, and whose frame need not be the current one. */
static gd_u32 *waiting_lanes(const gd_warp *warp, gd_slot slot, uint32_t lane)
{
    uint32_t area = slot & 3;
    unsigned char *base =
        area == GD_AREA_FRAME ? warp->frames + warp->frame[lane] : warp->areas[area];

    return (gd_u32 *)(void *)(base + (slot & ~UINT32_C(3)));
}

/* The result of bar.red for everyone. */
static void give_result(const gd_warp *warp, const gd_barrier *barrier, uint32_t lane)
{
    const gd_code *code = warp->cta->image->code + warp->pcs[lane];
    gd_u32 *place = waiting_lanes(warp, code->d, lane);
    uint32_t bit = UINT32_C(1) << lane;

    if (code->flags & GD_BARRIER_POPC)
        place[lane] = barrier->votes;
    else if (code->flags & GD_BARRIER_RED)
        *place =
            (*place & ~bit) | ((code->flags & GD_BARRIER_AND ? barrier->votes == barrier->voters
                                                             : barrier->votes != 0)
                                   ? bit
                                   : 0);
}

static void complete(gd_cta *cta, uint32_t number)
{
    gd_barrier *barrier = &cta->barriers[number];

    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        uint32_t freed = warp->at[number];
        if (!freed)
            continue;
        warp->at[number] = 0;
        if (barrier->voters) {
            GD_EACH_LANE(lane, freed)
            {
                give_result(warp, barrier, lane);
            }
        }
        gd_warp_wake(warp, freed, &warp->at_barrier, true);
    }
    *barrier = (gd_barrier){0};
    if (cta->race)
        gd_race_barrier_complete(cta->race, number);
    cta->work++;
}

static void check_barriers(gd_cta *cta)
{
    for (uint32_t i = 0; i < GD_BARRIERS; i++) {
        if (is_complete(cta, &cta->barriers[i]))
            complete(cta, i);
    }
}

/* Threads of one warp arrive at one barrier. */
static void arrive(gd_warp *warp, const gd_code *code, uint32_t mask, uint32_t number,
                   uint32_t expected)
{
    gd_barrier *barrier = &warp->cta->barriers[number];
    uint32_t whole = (mask & warp->live) == warp->live ? GD_LANES : gd_count(mask);

    barrier->expected = expected;
    barrier->arrived += whole;
    barrier->threads += gd_count(mask);
    if (code->flags & GD_BARRIER_RED) {
        uint32_t votes = gd_predicate(warp, code->c) ^ (code->y ? UINT32_MAX : 0);
        barrier->votes += gd_count(votes & mask);
        barrier->voters += gd_count(mask);
    }
    warp->cta->work++;
    if (warp->cta->race)
        gd_race_barrier_arrive(warp->cta->race, number, warp->index, mask,
                               !(code->flags & GD_BARRIER_ARRIVE));
    if (code->flags & GD_BARRIER_ARRIVE)
        return;
    warp->at[number] |= mask;
    gd_warp_hold(warp, code, mask, &warp->at_barrier);
}

void gd_run_barrier(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const gd_u32 *numbers = gd_lanes(warp, code->a), *counts = gd_lanes(warp, code->b);
    bool alike = warp->cta->sweeps->alike(numbers, mask);

    while (mask) {
        uint32_t first = gd_lowest(mask), same = alike ? mask : 0;
        uint32_t expected = code->flags & GD_BARRIER_COUNTED ? counts[first] : 0;
        GD_EACH_LANE(lane, mask & ~same)
        {
            same |= numbers[lane] == numbers[first] ? UINT32_C(1) << lane : 0;
        }
        if (numbers[first] >= GD_BARRIERS ||
            (code->flags & GD_BARRIER_COUNTED && (!expected || expected % GD_LANES))) {
            gd_cta_fail(
                warp, code, first, GD_FAULT_UNSUPPORTED, 0, 0, false,
                "barrier %u with %u threads: there are 16 barriers, and counts are multiples of 32",
                numbers[first], expected);
            return;
        }
        arrive(warp, code, same, numbers[first], expected);
        mask &= ~same;
    }
    check_barriers(warp->cta);
}

/* ---- exits ---- */

static void exit_lanes(gd_warp *warp, uint32_t mask)
{
    warp->live &= ~mask;
    warp->ready &= ~mask;
    warp->active &= ~mask;
    warp->cta->live_threads -= gd_count(mask);
    if (warp->cta->race)
        gd_race_exit(warp->cta->race, warp->index, mask);
    warp->cta->work++;
    gd_warp_wake(warp, warp->at_warp, &warp->at_warp, false);
    check_barriers(warp->cta);
    gd_cluster_exit(warp, mask);
}

void gd_run_ret(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t leaving = 0;

    (void)code;
    gd_warp_choose(warp);
    GD_EACH_LANE(lane, mask)
    {
        if (!warp->depth[lane]) {
            leaving |= UINT32_C(1) << lane;
            continue;
        }
        uint32_t back = warp->returns[--warp->depth[lane] * GD_LANES + lane];
        const gd_code *call = warp->cta->image->code + back - 1;
        warp->frame[lane] -= (uint32_t)call->value;
        warp->local[lane] -= call->e;
        warp->pcs[lane] = back;
    }
    if (leaving)
        exit_lanes(warp, leaving);
}

void gd_run_exit(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    (void)code;
    gd_warp_choose(warp);
    exit_lanes(warp, mask);
}

/* ---- lanes that wait for one another ---- */

uint32_t gd_warp_gather(gd_warp *warp, const gd_code *code, gd_slot masks, uint32_t mask)
{
    const gd_u32 *members = gd_lanes(warp, masks);
    uint32_t lowest = gd_lowest(mask), together = 0;
    uint32_t wanted = members[lowest] & warp->live;

    if (wanted == mask && warp->cta->sweeps->alike(members, mask))
        return mask;
    GD_EACH_LANE(lane, mask)
    {
        together |= members[lane] == members[lowest] ? UINT32_C(1) << lane : 0;
    }
    if (!(members[lowest] >> lowest & 1)) {
        gd_cta_fail(warp, code, lowest, GD_FAULT_UNSUPPORTED, 0, 0, false,
                    "lane %u executes this with mask 0x%08x, which does not name it", lowest,
                    members[lowest]);
        return 0;
    }
    if (mask != together) { /* the others come again by themselves */
        uint32_t others = mask & ~together, index = gd_code_index(warp, code);
        gd_warp_choose(warp);
        GD_EACH_LANE(lane, others)
        {
            warp->pcs[lane] = index;
        }
    }
    if ((together & wanted) == wanted)
        return together;
    uint32_t waiting = 0, index = gd_code_index(warp, code);
    GD_EACH_LANE(lane, warp->at_warp)
    {
        bool here = warp->pcs[lane] == index && warp->frame[lane] == warp->frame[lowest];
        waiting |= here && members[lane] == members[lowest] ? UINT32_C(1) << lane : 0;
    }
    gd_warp_hold(warp, code, together, &warp->at_warp);
    if (((together | waiting) & wanted) == wanted)
        gd_warp_wake(warp, together | waiting, &warp->at_warp, false);
    return 0;
}

/* Lanes with the same mask have met. */
static void note_warp_sync(const gd_warp *warp, uint32_t done, const uint32_t *held)
{
    while (done) {
        uint32_t first = gd_lowest(done), same = 0;
        GD_EACH_LANE(lane, done)
        {
            same |= held[lane] == held[first] ? UINT32_C(1) << lane : 0;
        }
        gd_race_warp_sync(warp->cta->race, warp->index, same);
        done &= ~same;
    }
}

/* bar.warp.sync may stand at several places; lanes with the same mask meet (PTX ISA 9.7.13.1). */
void gd_run_warp_sync(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const gd_u32 *members = gd_lanes(warp, code->a);
    const gd_code *base = warp->cta->image->code;
    uint32_t held[GD_LANES], arrived = mask;

    if (mask == warp->active && !warp->at_warp && (members[gd_lowest(mask)] & warp->live) == mask &&
        warp->cta->sweeps->alike(members, mask)) {
        if (warp->cta->race)
            gd_race_warp_sync(warp->cta->race, warp->index, mask);
        return;
    }
    memcpy(held, members, sizeof held);
    GD_EACH_LANE(lane, warp->at_warp)
    {
        const gd_code *other = base + warp->pcs[lane];
        arrived |= other->run == gd_run_warp_sync ? UINT32_C(1) << lane : 0;
        if (other->run == gd_run_warp_sync)
            held[lane] = waiting_lanes(warp, other->a, lane)[lane];
    }
    GD_EACH_LANE(lane, mask)
    {
        if (!(held[lane] >> lane & 1)) {
            gd_cta_fail(warp, code, lane, GD_FAULT_UNSUPPORTED, 0, 0, false,
                        "lane %u executes this with mask 0x%08x, which does not name it", lane,
                        held[lane]);
            return;
        }
    }
    uint32_t done = 0;
    GD_EACH_LANE(lane, arrived)
    {
        uint32_t wanted = held[lane] & warp->live, met = 0;
        GD_EACH_LANE(other, wanted & arrived)
        {
            met |= held[other] == held[lane] ? UINT32_C(1) << other : 0;
        }
        done |= met == wanted ? UINT32_C(1) << lane : 0;
    }
    if (warp->cta->race)
        note_warp_sync(warp, done, held);
    if (done == mask && mask == warp->active)
        return;
    gd_warp_hold(warp, code, mask, &warp->at_warp);
    gd_warp_wake(warp, done, &warp->at_warp, true);
}

/* ---- the grid ---- */

void gd_run_grid_wait(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_cta *cta = warp->cta;

    if (!cta->released) {
        gd_warp_hold(warp, code, mask, &warp->at_grid);
        return;
    }
    if (gd_cta_time(cta) < cta->release_time)
        cta->now += cta->release_time - gd_cta_time(cta);
    if (cta->race)
        gd_race_grid_wait(cta->race, warp->index, mask);
}

/* Kernels of one process run in turns; others see memory as the host's processor orders it. */
void gd_run_fence(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    if (gd_memory_is_shared(warp->cta->view->memory))
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (warp->cta->race)
        gd_race_fence(warp->cta->race, warp->index, mask,
                      (gd_scope)(code->order >> GD_ORDER_SCOPE_SHIFT), code->order & GD_ORDER_SC);
}

void gd_run_proxy_fence(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    (void)code;
    if (warp->cta->race)
        gd_race_proxy_fence(warp->cta->race, warp->index, mask);
}

void gd_run_init_fence(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_run_fence(warp, code, mask);
    if (warp->cta->race)
        gd_race_init_fence(warp->cta->race, warp->index, mask);
}

void gd_run_grid_trigger(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_cta *cta = warp->cta;

    (void)code;
    if (cta->race)
        gd_race_trigger(cta->race, warp->index, mask);
    cta->work++;
    if (cta->stops && !cta->triggered) {
        cta->stopped = true;
        warp->yields = true;
        gd_warp_choose(warp);
    }
    cta->triggered = true;
}

void gd_run_nanosleep(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    (void)code;
    (void)mask;
    gd_warp_yield(warp);
}

/* The clock counts the CTA's cycles; a nanosecond is one of them (machine.h). */
void gd_run_clock(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const gd_cta *cta = warp->cta;
    const uint64_t time = gd_cta_time(cta);
    uint64_t values[GD_SPECIAL_COUNT] = {
        [GD_SPECIAL_CLOCK] = (uint32_t)cta->cycles,   [GD_SPECIAL_CLOCK_HI] = cta->cycles >> 32,
        [GD_SPECIAL_GLOBALTIMER_LO] = (uint32_t)time, [GD_SPECIAL_GLOBALTIMER_HI] = time >> 32,
        [GD_SPECIAL_CLOCK64] = cta->cycles,           [GD_SPECIAL_GLOBALTIMER] = time};
    gd_slot slot = (gd_slot)code->x * GD_LANE_BYTES | GD_AREA_SPECIAL;

    (void)mask;
    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        gd_lane_put(warp, slot, lane, code->x >= GD_SPECIAL_GRIDID ? 8 : 4, values[code->x]);
}
