/* What the griddep command uses of the library besides griddep.h. These functions are exported as
 * GRIDDEP_PRIVATE: nothing about them is promised, and nobody else is to call them. */
#ifndef GD_RUN_PRIVATE_H
#define GD_RUN_PRIVATE_H

#include <stdbool.h>

#include "griddep.h"
#include "ptx/flow/early.h"   /* gd_early_kernel, gd_early_pair */
#include "ptx/rewrite/keep.h" /* gd_ptx_keep */
#include "ptx/text/offered.h" /* gd_findings_verdict, gd_code_at, gd_code_find, gd_code_is_race */

enum {
    GD_DELAY_STORES, /* before the first store to global memory that a thread comes to */
    GD_DELAY_LOADS   /* before its first load from there, of what is not known to be constant */
};

/* Makes each thread of an entry wait by %globaltimer for so long, once, at a place: GD_DELAY_*.
 * Calls that may store or load count as doing so. What the kernel computes stays the same.
 * NOT_FOUND where there is no such entry or place. */
int32_t gd_ptx_delay(const griddep_ptx *ptx, const char *entry, int32_t place, uint32_t nanoseconds,
                     griddep_ptx **delayed, griddep_error *error);

/* As gd_early_look (ptx/check/launches.h): its reason; whether the kernel touches memory before its
 * wait that others can reach; and whether its grid ends behind its prerequisites. */
int32_t gd_ptx_early(uint32_t traits, const griddep_ptx *ptx, const char *entry, bool *touches,
                     bool *ordered);

/* The line of CUDA C++ that a line of PTX was made of, by its .loc; what stands in the prelude of
 * griddep_module_load_source is where it is called. 0: none is told. */
uint32_t gd_ptx_source_line(const griddep_ptx *ptx, uint32_t line);
uint32_t gd_module_source_line(const griddep_module *module, uint32_t line);

/* A launch in numbers, of a program that does not use this library. */
typedef struct gd_room_launch {
    uint64_t grid, threads; /* CTAs, threads of one */
    uint64_t registers;     /* of a thread */
    uint64_t shared;        /* bytes of a CTA: static, dynamic and what the driver keeps */
    int32_t carveout;       /* percent; -1: the driver's choice */
} gd_room_launch;

/* What a device has, of each but the first on a multiprocessor. */
typedef struct gd_room_device {
    uint32_t multiprocessors, blocks, threads, registers, shared;
} gd_room_device;

/* How much a kernel that may start early overlaps with the one before it, by the room that its CTAs
 * find: GRIDDEP_OVERLAP_FULL, or _TAIL with the reason. */
int32_t gd_room_beside(const gd_room_device *device, const gd_room_launch *first,
                       const gd_room_launch *second, int32_t *reason);

/* Whether each argument of a chain's launches is written through: first those of the first launch,
 * all in all `count` (ARGUMENT for another number). What griddep_chain_set_use said of one counts,
 * else what the PTX shows. *anywhere: a launch may write to addresses that nothing tells. */
int32_t gd_chain_find_writes(const griddep_chain *chain, bool *writes, uint64_t count,
                             bool *anywhere, griddep_error *error);

/* The tiled map that drivers make for sm_90, made without one: for griddep_ptx_check_launch and
 * griddep_ptx_get_extent, which understand such maps. Kernels are to be given a driver's.
 * UNSUPPORTED for what sm_90 lacks: types of 4 and 6 bits, swizzles of atoms. */
int32_t gd_tensor_map_offline(const griddep_tensor_options *options, griddep_tensor_map *map,
                              griddep_error *error);

/* Where a tensor map's memory begins and how many bytes it spans; false: its 128 bytes are not
 * understood. */
bool gd_tensor_map_range(const void *map, uint64_t *address, uint64_t *bytes);

/* Figures of a reason, as the timeline has them; times in nanoseconds. All but the first two are
 * means over its hops; NaN where there is none. */
enum {
    GD_TUNE_FIGURE_SPAN,    /* of the chain: first entry to last exit */
    GD_TUNE_FIGURE_IDLE,    /* of the chain: share of the multiprocessors' idle time */
    GD_TUNE_FIGURE_GAP,     /* griddep_timeline_hop.handoff_gap */
    GD_TUNE_FIGURE_WORK,    /* first release to last exit; with the gap, what the hop adds to the
                             * chain's time */
    GD_TUNE_FIGURE_LEAD,    /* launch_lead */
    GD_TUNE_FIGURE_HIDDEN,  /* preamble_hidden */
    GD_TUNE_FIGURE_WAIT,    /* wait_median */
    GD_TUNE_FIGURE_OVERLAP, /* overlap_ratio */
    GD_TUNE_FIGURE_COUNT
};

/* What the timeline shows of a trial beside the best before it. */
typedef struct gd_tune_reason {
    uint32_t runs; /* that were traced of each; figures are their medians */
    uint32_t hops; /* that figures are means of: those with a launch that the trial changes */
    double before[GD_TUNE_FIGURE_COUNT];
    double after[GD_TUNE_FIGURE_COUNT];
} gd_tune_reason;

enum { GD_TUNE_WHOLE = -1 }; /* all that was chosen, against the chain as it was given */

/* Why: for GD_TUNE_WHOLE where something was chosen, for the fastest trial of a stage, and for the
 * slowest that lost by more than the threshold (chains of up to 64 launches). NOT_FOUND for all
 * others, and for what was loaded; UNSUPPORTED, with the reason, where there is no timeline of the
 * chain. The traced kernels have stamps, so these times are longer than those of the trials. */
int32_t gd_tune_get_reason(const griddep_tune *tune, int32_t trial, gd_tune_reason *reason,
                           griddep_error *error);

#endif
