/* What is executed, and by whom: operations, warps, CTAs. An operation works on the lanes of a warp
 * that stand at it.
 *
 * Registers lie lane by lane: one of up to 32 bits takes 32 words, a 64-bit one 32 double words, a
 * 128-bit one 32 pairs of those; a predicate is a mask in the first word of its place. Values
 * narrower than a word are kept zero-extended. */
#ifndef GD_EMULATOR_EXECUTE_EXECUTE_H
#define GD_EMULATOR_EXECUTE_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "emulator/machine/machine.h"
#include "emulator/race/race.h"

enum { GD_LANES = 32, GD_LANE_BYTES = 128, GD_BARRIERS = 16, GD_RECENT = 8 };

typedef struct gd_warp gd_warp;
typedef struct gd_cluster gd_cluster;
typedef struct gd_code gd_code;
typedef void gd_run(gd_warp *warp, const gd_code *code, uint32_t mask);

/* Where an operand lies: a byte offset, a multiple of GD_LANE_BYTES, with the area in its low
 * bits. */
typedef uint32_t gd_slot;
enum { GD_AREA_FRAME = 0, GD_AREA_CONSTANT = 1, GD_AREA_SPECIAL = 2, GD_AREA_SINK = 3 };

/* How the address of a memory operand is made. */
typedef enum gd_address_kind {
    GD_ADDRESS_WIDE,   /* 64-bit lanes at `address`, plus `value` */
    GD_ADDRESS_NARROW, /* 32-bit lanes, plus `value` */
    GD_ADDRESS_FRAME   /* of the thread's frame in local memory, plus `value` */
} gd_address_kind;

typedef enum gd_space {
    GD_AT_GENERIC,
    GD_AT_GLOBAL,
    GD_AT_CONSTANT,
    GD_AT_SHARED,
    GD_AT_LOCAL,
    GD_AT_PARAMETER, /* of an entry, as an offset */
    GD_AT_CLUSTER    /* shared memory of any CTA of the cluster */
} gd_space;

struct gd_code {
    gd_run *run;
    gd_slot d, a, b, c;
    gd_slot guard; /* a predicate; always true where there is no guard */
    uint32_t guard_not;
    gd_slot address;
    gd_slot e; /* a further result or operand */
    uint64_t value;
    uint32_t list;        /* index of the image's list */
    uint32_t instruction; /* of the module */
    uint32_t target;      /* an operation of the image */
    uint16_t flags;       /* the operation's own */
    uint8_t count;        /* elements of a vector, or of the list */
    uint8_t bytes;        /* of an element */
    uint8_t space;        /* gd_space */
    uint8_t kind;         /* gd_address_kind */
    uint8_t x, y;         /* the operation's own */
    uint8_t order;        /* GD_ORDER_*, of accesses, fences and barriers */
    bool plain; /* does nothing but compute registers: looks at no place, moves no lane, cannot
                * fail */
    uint16_t
        stretch; /* operations from here that follow one another: plain ones and the first that is
                  * not */
};

/* What an access does in the memory consistency model (PTX ISA 8): weak, or strong in a scope. */
enum {
    GD_ORDER_STRONG = 1,
    GD_ORDER_ACQUIRE = 2,
    GD_ORDER_RELEASE = 4,
    GD_ORDER_SC = 8,
    GD_ORDER_SCOPE_SHIFT = 4 /* gd_scope */
};

/* The special registers of a warp: those that never change, then those that an operation brings up
 * to date. */
typedef enum gd_special {
    GD_SPECIAL_TID_X,
    GD_SPECIAL_TID_Y,
    GD_SPECIAL_TID_Z,
    GD_SPECIAL_NTID_X,
    GD_SPECIAL_NTID_Y,
    GD_SPECIAL_NTID_Z,
    GD_SPECIAL_CTAID_X,
    GD_SPECIAL_CTAID_Y,
    GD_SPECIAL_CTAID_Z,
    GD_SPECIAL_NCTAID_X,
    GD_SPECIAL_NCTAID_Y,
    GD_SPECIAL_NCTAID_Z,
    GD_SPECIAL_CLUSTERID_X,
    GD_SPECIAL_CLUSTERID_Y,
    GD_SPECIAL_CLUSTERID_Z,
    GD_SPECIAL_NCLUSTERID_X,
    GD_SPECIAL_NCLUSTERID_Y,
    GD_SPECIAL_NCLUSTERID_Z,
    GD_SPECIAL_CLUSTER_CTAID_X,
    GD_SPECIAL_CLUSTER_CTAID_Y,
    GD_SPECIAL_CLUSTER_CTAID_Z,
    GD_SPECIAL_CLUSTER_NCTAID_X,
    GD_SPECIAL_CLUSTER_NCTAID_Y,
    GD_SPECIAL_CLUSTER_NCTAID_Z,
    GD_SPECIAL_CLUSTER_CTARANK,
    GD_SPECIAL_CLUSTER_NCTARANK,
    GD_SPECIAL_EXPLICIT_CLUSTER, /* a predicate */
    GD_SPECIAL_ZERO,
    GD_SPECIAL_LANEID,
    GD_SPECIAL_WARPID,
    GD_SPECIAL_NWARPID,
    GD_SPECIAL_SMID,
    GD_SPECIAL_NSMID,
    GD_SPECIAL_LANEMASK_EQ,
    GD_SPECIAL_LANEMASK_LE,
    GD_SPECIAL_LANEMASK_LT,
    GD_SPECIAL_LANEMASK_GE,
    GD_SPECIAL_LANEMASK_GT,
    GD_SPECIAL_DYNAMIC_SMEM_SIZE,
    GD_SPECIAL_TOTAL_SMEM_SIZE,
    GD_SPECIAL_RESERVED_SMEM,
    GD_SPECIAL_RESERVED_PART,
    GD_SPECIAL_WORKSPACE_HIGH,
    GD_SPECIAL_WORKSPACE_LOW,
    GD_SPECIAL_CLOCK,
    GD_SPECIAL_CLOCK_HI,
    GD_SPECIAL_GLOBALTIMER_LO,
    GD_SPECIAL_GLOBALTIMER_HI,
    GD_SPECIAL_GRIDID, /* 64-bit ones from here, two places each */
    GD_SPECIAL_CLOCK64 = GD_SPECIAL_GRIDID + 2,
    GD_SPECIAL_GLOBALTIMER = GD_SPECIAL_CLOCK64 + 2,
    GD_SPECIAL_SHARED_BASE = GD_SPECIAL_GLOBALTIMER + 2, /* the rank's part of a shared address */
    GD_SPECIAL_COUNT = GD_SPECIAL_SHARED_BASE + 2
} gd_special;

struct gd_warp {
    unsigned char *areas[4]; /* frame of the current lanes, constants, special registers, sink */
    uint32_t pc;             /* of the current lanes: the operation that comes next */
    uint32_t limit;          /* at and beyond it the lanes have to be chosen anew */
    uint32_t active;         /* the current lanes */
    uint32_t ready;          /* lanes that can go on, the current ones included */
    uint32_t live;           /* lanes that have not exited */
    uint32_t at_barrier, at_grid, at_warp, at_cluster, at_warpgroup; /* lanes that wait */
    uint64_t groups;   /* of wgmma that it has committed */
    uint32_t deferred; /* lanes that have to let others go first */
    uint32_t carry;    /* CC.CF of each lane */
    uint32_t active_count;
    uint64_t counted; /* the CTA's cycles up to which the current lanes' instructions have been
                  * counted */
    uint32_t index;   /* %warpid */
    bool yields;      /* has polled: others go first */
    bool calls;       /* the image has calls: lanes may differ in depth, frame and local */
    gd_cta *cta;
    unsigned char *frames;
    unsigned char *specials;
    uint32_t *returns; /* [depth][lane]: operations to go on at */
    uint32_t pcs[GD_LANES];
    uint32_t frame[GD_LANES];
    uint32_t local[GD_LANES];
    uint32_t depth[GD_LANES];
    uint32_t at[GD_BARRIERS]; /* the lanes of at_barrier by the barrier that they wait at */
    uint32_t
        cluster_arrived; /* lanes that have arrived at the cluster's barrier and not waited yet */
    uint32_t cluster_phase[GD_LANES]; /* in which a lane arrived */
    const gd_code *polled;            /* at what it has polled last, one of the lanes that did, */
    uint32_t polled_lane;             /* and where; NULL: at nothing */
    uint64_t polled_address;
    uint64_t seen; /* its state at a look (stuck.c), so many looks ago, and when it is kept anew */
    uint32_t looks, keeps;
    bool recurs;
};

typedef struct gd_barrier {
    uint32_t arrived;  /* threads; a warp that arrives as one counts as 32 */
    uint32_t threads;  /* threads, each as one */
    uint32_t expected; /* 0: all that live */
    uint32_t votes;    /* of bar.red: predicates that were true */
    uint32_t voters;
} gd_barrier;

struct gd_image;

struct gd_cta {
    const gd_grid_view *view;
    const struct gd_image *image;
    gd_warp *warps;
    uint32_t warp_count, thread_count, live_threads;
    uint32_t position[3], multiprocessor, slot;
    uint32_t next_warp;
    unsigned char *shared; /* at shared_start */
    uint32_t shared_bytes, shared_start;
    unsigned char *local;
    uint32_t local_bytes;         /* of a thread */
    unsigned char *local_written; /* a bit for each byte of local; NULL: not checked */
    void *block;                  /* registers and specials of all warps */
    uint32_t *returns;
    gd_allocation *recent[GD_RECENT]; /* of the last access, by the instruction's number */
    const struct gd_sweeps *sweeps;
    gd_barrier barriers[GD_BARRIERS];
    gd_cluster *cluster; /* cluster.h; of one CTA until it is joined with others */
    uint32_t rank;       /* in the cluster */
    uint64_t cycles, instructions;
    uint64_t run_start, now; /* cycles at the start of this run, and their time */
    uint64_t release_time;   /* with `released`: no wait returns before it */
    uint64_t work;           /* what has been done that another could see */
    uint64_t polls;
    uint32_t epoch; /* of looks at its warps */
    bool met;     /* a thread has come through the barrier of its cluster: all CTAs have started */
    bool outside; /* it has polled memory that the host, or another process, may write */
    bool triggered, released;
    bool stops;        /* this run ends at the trigger, */
    bool stopped;      /* which has come */
    gd_race_cta *race; /* NULL: nothing is checked */
    gd_fault fault;
};

/* The lanes of an operand. */
__attribute__((always_inline)) static inline void *gd_lanes(const gd_warp *warp, gd_slot slot)
{
    return __builtin_assume_aligned(warp->areas[slot & 3] + (slot & ~UINT32_C(3)), 64);
}

/* Registers are read and written as what the instruction says, whatever they were written as. */
typedef uint32_t gd_u32 __attribute__((may_alias));
typedef uint64_t gd_u64 __attribute__((may_alias));
typedef float gd_f32 __attribute__((may_alias));
typedef double gd_f64 __attribute__((may_alias));

static inline uint32_t gd_predicate(const gd_warp *warp, gd_slot slot)
{
    return *(const gd_u32 *)gd_lanes(warp, slot);
}

static inline void gd_predicate_put(const gd_warp *warp, gd_slot slot, uint32_t value,
                                    uint32_t mask)
{
    gd_u32 *place = gd_lanes(warp, slot);

    *place = (*place & ~mask) | (value & mask);
}

static inline uint32_t gd_lowest(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

static inline uint32_t gd_count(uint32_t mask)
{
#if defined(__POPCNT__)
    return (uint32_t)__builtin_popcount(mask);
#else
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
#endif
}

/* Every lane of a mask, from the lowest. */
#define GD_EACH_LANE(lane, mask)                                                                   \
    for (uint32_t rest_##lane = (mask), lane;                                                      \
         rest_##lane && (lane = gd_lowest(rest_##lane), true); rest_##lane &= rest_##lane - 1)

/* The value of one lane of a register of 4, 8 bytes. */
static inline uint64_t gd_lane_get(const gd_warp *warp, gd_slot slot, uint32_t lane, uint32_t bytes)
{
    return bytes == 8 ? ((const gd_u64 *)gd_lanes(warp, slot))[lane]
                      : ((const gd_u32 *)gd_lanes(warp, slot))[lane];
}

static inline void gd_lane_put(const gd_warp *warp, gd_slot slot, uint32_t lane, uint32_t bytes,
                               uint64_t value)
{
    if (bytes == 8)
        ((gd_u64 *)gd_lanes(warp, slot))[lane] = value;
    else
        ((gd_u32 *)gd_lanes(warp, slot))[lane] = (uint32_t)value;
}

/* ---- what ends or holds up lanes (execute/stop.c) ---- */

/* Records the CTA's first fault; the CTA stops behind this operation. */
void gd_cta_fail(gd_warp *warp, const gd_code *code, uint32_t lane, gd_fault_kind kind,
                 uint64_t address, uint32_t bytes, bool write, const char *format, ...)
    __attribute__((format(printf, 8, 9)));

/* Says what the program lacks, of the fault that was just recorded. */
void gd_cta_miss(gd_cta *cta, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The current lanes keep their place; lanes are chosen anew before the next operation. */
void gd_warp_choose(gd_warp *warp);

/* Lanes of a mask, all current ones, wait at this operation: they are put into *waiting. They will
 * execute it again, or whoever wakes them finishes it for them. */
void gd_warp_hold(gd_warp *warp, const gd_code *code, uint32_t mask, uint32_t *waiting);

/* Lanes of a mask go on at the operation that they wait at, or behind it. */
void gd_warp_wake(gd_warp *warp, uint32_t mask, uint32_t *waiting, bool behind);

/* The warp has polled: it goes on after the others. */
void gd_warp_yield(gd_warp *warp);

/* The operation's number in its image. */
uint32_t gd_code_index(const gd_warp *warp, const gd_code *code);

/* A lane's place in the CTA. */
void gd_thread_position(const gd_warp *warp, uint32_t lane, uint32_t thread[3]);

/* Counts the instructions of the current lanes, before they become others (execute/cta.c). */
void gd_warp_count(gd_warp *warp);

/* ---- memory (execute/memory.c) ---- */

/* The addresses of an operation's memory operand, lane by lane. */
void gd_address_lanes(const gd_warp *warp, const gd_code *code, uint64_t *addresses);

/* Where an access of one lane lies on the host; NULL after a fault. */
unsigned char *gd_access(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                         uint64_t address, uint32_t bytes, uint32_t alignment, bool write);

#endif
