/* What single instructions do, as the checks see it: accesses to memory that other grids can see,
 * and synchronization between the threads of a CTA or cluster. Reads the instruction only; where
 * addresses come from is provenance.h's. */
#ifndef GD_PTX_CHECK_ACCESS_H
#define GD_PTX_CHECK_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/text/module.h"

enum {
    GD_ACCESS_READ = 1,
    GD_ACCESS_WRITE = 2,       /* atomics and reductions too */
    GD_ACCESS_NONCOHERENT = 4, /* a read by ld.global.nc, ldu, tex, tld4 */
    GD_ACCESS_ANYTHING = 8,    /* the instruction is not known, or calls what is not in the text */
    GD_ACCESS_GENERIC = 16,    /* the state space depends on the address */
    GD_ACCESS_ASYNCHRONOUS = 32, /* goes on after the instruction */
    GD_ACCESS_MAPPED = 64,       /* the address is a tensor map's; the access is to its tensor */
    GD_ACCESS_ATOMIC = 128       /* atomic for other grids too: of scope gpu or sys */
};

typedef struct gd_access {
    uint32_t operand; /* gives the address; GD_PTX_NONE with GD_ACCESS_ANYTHING */
    uint32_t flags;   /* GD_ACCESS_*; 0: none that another grid could see */
} gd_access;

/* At most one of an instruction's operands is an address that other grids can see. A call is no
 * access. */
gd_access gd_access_of(const gd_ptx_module *module, const gd_ptx_instruction *instruction);

typedef enum gd_sync_kind {
    GD_SYNC_NONE,
    GD_SYNC_WARP,    /* bar.warp.sync */
    GD_SYNC_CTA,     /* bar, barrier: a barrier of the CTA by number */
    GD_SYNC_CLUSTER, /* barrier.cluster */
    GD_SYNC_MBARRIER,
    GD_SYNC_FLAG /* an acquiring or volatile read of shared memory: perhaps a hand-made flag */
} gd_sync_kind;

typedef struct gd_sync {
    gd_sync_kind kind;
    bool arrives; /* signals */
    bool waits;   /* goes on when others have signalled */
    uint64_t id;  /* which barrier; GD_SYNC_ANY: not known */
} gd_sync;

#define GD_SYNC_ANY UINT64_MAX

gd_sync gd_sync_of(const gd_ptx_module *module, const gd_ptx_instruction *instruction);

/* Whether a fence makes writes of its thread visible to other grids when it is followed by a
 * trigger: a release at gpu or sys scope. */
bool gd_sync_is_release_fence(const gd_ptx_module *module, const gd_ptx_instruction *instruction);

/* Whether an instruction has a modifier: exactly this text, dot included. */
bool gd_instruction_has(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                        const char *modifier);

#endif
