/* Which registers of a function tell lanes of one warp apart, and nothing else: elect.sync's
 * predicate, %laneid, the low five bits of %tid, and comparisons of these with constants. A branch
 * on one has threads of the same warp on its other side, so bar.warp.sync can order them. */
#ifndef GD_PTX_FLOW_LANE_H
#define GD_PTX_FLOW_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "ptx/text/module.h"

typedef struct gd_lanes {
    gd_table table; /* by symbol and index of a register */
    gd_arena arena;
} gd_lanes;

/* All zero is none. */

/* Registers that are written once only. false: no memory. */
bool gd_lanes_find(gd_lanes *lanes, const gd_ptx_module *module, uint32_t function);
bool gd_lanes_has(const gd_lanes *lanes, const gd_ptx_module *module, uint32_t operand);
void gd_lanes_free(gd_lanes *lanes);

#endif
