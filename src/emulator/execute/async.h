/* mbarriers and asynchronous copies. A copy is done at once, which is one of the moments at which
 * it may be done. */
#ifndef GD_EMULATOR_EXECUTE_ASYNC_H
#define GD_EMULATOR_EXECUTE_ASYNC_H

#include "emulator/execute/execute.h"

typedef enum gd_mbarrier_op {
    GD_MBARRIER_INIT,
    GD_MBARRIER_INVAL,
    GD_MBARRIER_ARRIVE, /* a: count, b: bytes that are expected as well, d: state */
    GD_MBARRIER_DROP,
    GD_MBARRIER_EXPECT,
    GD_MBARRIER_COMPLETE,
    GD_MBARRIER_WAIT, /* a: state, or parity where y is set; d: predicate */
} gd_mbarrier_op;

/* What the phase of an mbarrier still lacks, in words that follow a colon. */
void gd_mbarrier_describe(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                          char *text, size_t bytes);

/* Groups of copies of a thread; x of gd_run_async_group. */
typedef enum gd_async_group {
    GD_ASYNC_COMMIT,
    GD_ASYNC_WAIT,
    GD_ASYNC_WAIT_READ,
    GD_ASYNC_WAIT_ALL
} gd_async_group;

enum {
    GD_MBARRIER_OF_COPIES = 1
}; /* flags: it is the thread's copies that arrive (cp.async.mbarrier.arrive) */

gd_run gd_run_mbarrier; /* x: gd_mbarrier_op, on the memory operand */
gd_run gd_run_pending;  /* d = count in state a */
gd_run
    gd_run_cp_async; /* memory operand to c (addresses in e's space: shared), bytes; a: bytes that
                      * are read, or y: predicate to read none */
gd_run gd_run_async_group; /* value: groups that may be left */
gd_run gd_run_bulk;        /* list: further addresses; see execute/async.c */

/* A second address of an operation: slot, kind and offset, in the list. */
enum { GD_ADDRESS_WORDS = 5 };
uint64_t gd_other_address(const gd_warp *warp, const uint32_t *list, uint32_t lane,
                          gd_space *space);

/* An mbarrier hears of bytes that a thread's copies have written; false after a fault. */
bool gd_tell_mbarrier(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                      gd_space space, uint64_t bytes);

#endif
