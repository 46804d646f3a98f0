/* Branches, calls, exits, and waiting. */
#ifndef GD_EMULATOR_EXECUTE_CONTROL_H
#define GD_EMULATOR_EXECUTE_CONTROL_H

#include "emulator/execute/execute.h"

enum {
    GD_BARRIER_ARRIVE = 1,
    GD_BARRIER_COUNTED = 2, /* b is the number of threads */
    GD_BARRIER_POPC = 4,
    GD_BARRIER_AND = 8,
    GD_BARRIER_OR = 16,
    GD_BARRIER_RED = GD_BARRIER_POPC | GD_BARRIER_AND | GD_BARRIER_OR
};

gd_run gd_run_bra;  /* to target */
gd_run gd_run_brx;  /* to the list's operation number a */
gd_run gd_run_call; /* routine `target`; value: bytes of the caller's frame, e: of its local memory,
                  * list: copies of arguments */
gd_run gd_run_register_parameter; /* register d of `bytes` from local memory at value; x: into it */
gd_run gd_run_results;            /* behind a call: copies results back */
gd_run gd_run_call_through; /* the routine whose address is in a; list: addresses and routines */
gd_run gd_run_ret;
gd_run gd_run_exit;
gd_run gd_run_trap;
gd_run gd_run_nothing;
gd_run gd_run_init_fence;  /* fence.mbarrier_init */
gd_run gd_run_proxy_fence; /* between the generic and the async proxy */
gd_run gd_run_end;
gd_run gd_run_barrier;   /* a: number, b: threads, c: predicate of bar.red, y: it is negated, d:
                     * result */
gd_run gd_run_warp_sync; /* a: mask */
gd_run gd_run_fence;
gd_run gd_run_grid_wait;
gd_run gd_run_grid_trigger;
gd_run gd_run_nanosleep;
gd_run gd_run_clock; /* brings special register x up to date */

/* For instructions with .sync: the lanes that execute it together now, by the masks in slot
 * `masks`; 0: those that are here wait for others. Lanes of other masks are put off. */
uint32_t gd_warp_gather(gd_warp *warp, const gd_code *code, gd_slot masks, uint32_t mask);

#endif
