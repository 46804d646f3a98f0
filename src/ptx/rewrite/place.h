/* Where in an entry a wait or a trigger may stand. A place is always passed by every thread,
 * once. */
#ifndef GD_PTX_REWRITE_PLACE_H
#define GD_PTX_REWRITE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/check/entry.h"
#include "ptx/flow/flow.h"
#include "ptx/flow/provenance.h"

typedef struct gd_place {
    uint32_t token;
    bool behind; /* behind that token, else before it */
} gd_place;

/* What instructions do to memory that other grids can see. */
enum {
    GD_EFFECT_READ = 1,
    GD_EFFECT_WRITE = 2,
    GD_EFFECT_CONSTANT = 4 /* a read that is proven to be of constant parameters only */
};

/* By function: the effects of calling it. NULL where there is no memory; the caller frees it. */
uint8_t *gd_place_call_effects(const gd_ptx_module *module, griddep_error *error);

typedef struct gd_placer {
    const gd_ptx_module *module;
    uint32_t function;
    const uint8_t *call_effects;
    const gd_parameter_set *constants;
    gd_flow *flow;
    uint8_t *effects; /* by instruction of the function */
} gd_placer;

/* The other fields are set by the caller. What is half made can be freed. */
int32_t gd_placer_create(gd_placer *placer, griddep_error *error);
void gd_placer_free(gd_placer *placer);

/* Before the first instruction. */
gd_place gd_place_start(const gd_placer *placer);

/* The latest place that every path passes before it comes to an instruction with one of those
 * effects, or leaves. */
gd_place gd_place_before_effects(const gd_placer *placer, uint32_t effects);

/* The earliest place that every path passes after the last read; false: there is none but the
 * exits. */
bool gd_place_after_reads(const gd_placer *placer, gd_place *place);

/* The first instruction of the header of the first outermost loop that reads global memory,
 * constant data too; false: there is no such loop, or some cycle is no loop. A thread enters it
 * once at most, at that instruction. */
bool gd_place_find_loop(const gd_placer *placer, uint32_t *instruction);

/* Before an instruction of the entry, and whether every thread passes there exactly once. */
gd_place gd_place_before(const gd_placer *placer, uint32_t instruction);
bool gd_place_is_common(const gd_placer *placer, uint32_t instruction);

/* Whether some path leaves the entry without a ret or an exit, at its '}'. */
bool gd_place_falls_off(const gd_placer *placer);

#endif
