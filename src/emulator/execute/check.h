/* From the interpreter to the race detector (race.h): accesses with the memory that their addresses
 * mean, and the place in the program.
 *
 * A CTA without a detector has no cta->race; callers test that first, so that nothing is paid for
 * where nothing is checked. */
#ifndef GD_EMULATOR_EXECUTE_CHECK_H
#define GD_EMULATOR_EXECUTE_CHECK_H

#include "emulator/execute/execute.h"

/* An access of the lanes of a mask, each of `bytes` at its address in a space; every one was found
 * to be within memory. */
typedef struct gd_check {
    gd_space space;
    uint32_t bytes;
    gd_action action;
    uint8_t order; /* GD_ORDER_* */
    bool async;    /* carried out by an asynchronous copy */
    const uint64_t *addresses;
    bool (*same)(const void *context, uint32_t lane); /* race.h */
    bool (*equal)(const void *context, uint32_t lane, uint32_t other);
    const void *context;
} gd_check;

void gd_check_access(gd_warp *warp, const gd_code *code, uint32_t mask, const gd_check *check);

/* A contiguous access of one lane. */
void gd_check_range(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                    uint64_t address, uint64_t bytes, gd_action action, bool async);

/* An access of one lane in pieces, each within memory. */
typedef struct gd_check_kind {
    gd_space space; /* not generic */
    gd_action action;
    bool async, warpgroup;
} gd_check_kind;

void gd_check_pieces(gd_warp *warp, const gd_code *code, uint32_t lane, const gd_check_kind *kind,
                     const gd_race_piece *pieces, uint32_t count);

/* A call begins: of the callee's local memory nothing has been written. Arguments are copied into
 * local memory. */
void gd_check_frame(const gd_warp *warp, uint32_t lane, uint64_t start, uint32_t bytes);
void gd_check_argument(const gd_warp *warp, uint32_t lane, uint64_t start, uint32_t bytes);

/* Whose shared memory an address of a shared space means, and the address in it; NULL for a CTA
 * that is gone. */
gd_race_cta *gd_check_owner(const gd_warp *warp, gd_space space, uint64_t *address);

/* The shadow of an allocation; NULL when there is no memory for it. */
gd_shadow *gd_check_shadow(gd_race *race, gd_allocation *item);

/* A lane has initialized an mbarrier in shared memory. */
void gd_check_init(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                   uint64_t address);

/* A lane arrives at an mbarrier in shared memory, or has found its phase complete. */
void gd_check_mbarrier(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                       uint64_t address, bool arrives);

#endif
