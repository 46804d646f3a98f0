/* CTAs that poll for ever: loops that wait for an mbarrier, or for a value in memory, that nothing
 * will change. A warp that comes back to a state that it was in, while nobody has done anything
 * that it could see, goes round in a circle. A loop that counts its rounds, or reads a clock, does
 * not come back. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "emulator/execute/async.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/program.h"

/* ---- states ---- */

static uint64_t mix(uint64_t state, const void *bytes, size_t count)
{
    const gd_u64 *words = bytes;

    for (size_t i = 0; i < count / sizeof *words; i++)
        state = (state ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (state >> 29);
    return state;
}

static uint64_t get_state(const gd_warp *warp)
{
    const gd_image *image = warp->cta->image;
    const uint64_t words[] = {(uint64_t)warp->pc << 32 | warp->active,
                              (uint64_t)warp->ready << 32 | warp->live,
                              (uint64_t)warp->deferred << 32 | warp->carry};
    uint64_t state = mix(1, words, sizeof words);

    state = mix(state, warp->pcs, sizeof warp->pcs);
    state = mix(state, warp->frame, sizeof warp->frame);
    state = mix(state, warp->depth, sizeof warp->depth);
    if (warp->calls)
        state = mix(state, warp->returns, sizeof *warp->returns * image->depth * GD_LANES);
    return mix(state, warp->frames, image->frame_bytes);
}

/* A state is kept, and the next ones are compared with it, twice as many each time (Brent 1980). */
static bool look(gd_warp *warp)
{
    const uint64_t state = get_state(warp);

    warp->recurs |= warp->keeps && state == warp->seen;
    if (warp->looks++ == warp->keeps) {
        warp->seen = state;
        warp->keeps = 2 * warp->keeps + 1;
    }
    return warp->recurs;
}

uint64_t gd_cta_work(const gd_cta *cta)
{
    return cta->work;
}

bool gd_cta_recurs(gd_cta *cta, uint32_t epoch)
{
    bool all = !cta->outside;

    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        if (cta->epoch != epoch) {
            warp->looks = warp->keeps = 0;
            warp->recurs = false;
        }
        if (warp->ready)
            all &= look(warp);
    }
    cta->epoch = epoch;
    return all;
}

/* ---- the fault ---- */

static bool is_at_mbarrier(const gd_warp *warp)
{
    return warp->ready && warp->polled && warp->polled->run == gd_run_mbarrier;
}

bool gd_cta_polls_mbarrier(const gd_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        if (is_at_mbarrier(&cta->warps[i]))
            return true;
    }
    return false;
}

/* The warp to tell of: one that waits for an mbarrier, else any that polls, else any that runs. */
static gd_warp *choose_warp(gd_cta *cta)
{
    gd_warp *best = NULL;

    for (uint32_t i = 0; i < cta->warp_count; i++) {
        gd_warp *warp = &cta->warps[i];
        if (warp->ready && (!best || (warp->polled && !best->polled) ||
                            (is_at_mbarrier(warp) && !is_at_mbarrier(best))))
            best = warp;
    }
    return best;
}

static uint32_t count_threads(const gd_cta *cta, const gd_warp *like)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const gd_warp *warp = &cta->warps[i];
        if (warp->polled == like->polled && warp->polled_address == like->polled_address)
            count += gd_count(warp->ready);
    }
    return count;
}

void gd_cta_fail_polling(gd_cta *cta, const char *cause, const char *missing)
{
    gd_warp *warp = choose_warp(cta);
    char lacks[128], name[96];

    if (!warp)
        return;
    const gd_code *code = warp->polled ? warp->polled : cta->image->code + warp->pc;
    const uint32_t lane = warp->polled ? warp->polled_lane : gd_lowest(warp->ready);
    const uint32_t threads = count_threads(cta, warp);
    if (is_at_mbarrier(warp)) {
        gd_shared_name(cta->image, warp->polled_address, name, sizeof name);
        gd_mbarrier_describe(warp, code, lane, warp->polled_address, lacks, sizeof lacks);
        gd_cta_fail(warp, code, lane, GD_FAULT_DEADLOCK, 0, 0, false,
                    "deadlock: %" PRIu32 " %s for mbarrier %s, whose phase never completes: %s%s",
                    threads, gd_plural(threads, "thread waits", "threads wait"), name, lacks,
                    cause);
        gd_cta_miss(cta, "%s",
                    *missing ? missing
                             : "what the phase waits for, or a smaller count in mbarrier.init");
        return;
    }
    gd_cta_fail(warp, code, lane, GD_FAULT_DEADLOCK, 0, 0, false,
                "deadlock: %" PRIu32 " %s in a loop for another value at 0x%" PRIx64
                ", which nothing that runs will write%s",
                threads, gd_plural(threads, "thread waits", "threads wait"), warp->polled_address,
                cause);
    if (*missing)
        gd_cta_miss(cta, "%s", missing);
}
