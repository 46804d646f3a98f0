/* Whether anything may start early: before what it depends on has ended. Launches, events that
 * launches record, nodes and edges of graphs, upgrades, the audit and explain all ask here, so that
 * off means the same everywhere. */
#ifndef GD_RUN_EARLY_H
#define GD_RUN_EARLY_H

#include "griddep.h"
#include "ptx/flow/early.h"
#include "run/private.h"
#include "run/runtime.h"

/* How something would start early; device and driver allow each for itself. */
typedef enum gd_early {
    GD_EARLY_LAUNCH,        /* attribute 6 */
    GD_EARLY_TRIGGER_EVENT, /* attribute 7 */
    GD_EARLY_BEGIN_EVENT,   /* attribute 12 */
    GD_EARLY_EDGE           /* an edge from another port than a node's end */
} gd_early;

/* Whether a switch is off: GRIDDEP_PDL, the runtime's, or `pdl`, which launch, node or mode say.
 * GRIDDEP_REASON_KILL_SWITCH or _OFF; _FORCED: none is. */
int32_t gd_early_switch(const griddep_runtime *runtime, int32_t pdl);

/* The same, and whether device and driver can do it: also GRIDDEP_REASON_DEVICE or _DRIVER. */
int32_t gd_early_obstacle(const griddep_runtime *runtime, int32_t pdl, gd_early how);

/* Whether a kernel of these traits may start early: GRIDDEP_REASON_SET, _FORCED, or why not. */
int32_t gd_early_decide(const griddep_runtime *runtime, uint32_t traits, int32_t pdl, gd_early how);

#endif
