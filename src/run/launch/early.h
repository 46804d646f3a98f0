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
static inline int32_t gd_early_switch(const griddep_runtime *runtime, int32_t pdl)
{
    if (runtime->kill_switch)
        return GRIDDEP_REASON_KILL_SWITCH;
    return runtime->pdl == GRIDDEP_PDL_OFF || pdl == GRIDDEP_PDL_OFF ? GRIDDEP_REASON_OFF
                                                                     : GRIDDEP_REASON_FORCED;
}

static inline bool gd_early_driver_can(const griddep_runtime *runtime, gd_early how)
{
    switch (how) {
    case GD_EARLY_LAUNCH:
        return runtime->info.features & GRIDDEP_FEATURE_PDL;
    case GD_EARLY_TRIGGER_EVENT:
        return runtime->info.features & GRIDDEP_FEATURE_PROGRAMMATIC_EVENT;
    case GD_EARLY_BEGIN_EVENT:
        return runtime->info.features & GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT;
    default:
        return runtime->driver->cuGraphAddDependencies != NULL;
    }
}

/* The same, and whether device and driver can do it: also GRIDDEP_REASON_DEVICE or _DRIVER. */
static inline int32_t gd_early_obstacle(const griddep_runtime *runtime, int32_t pdl, gd_early how)
{
    const int32_t off = gd_early_switch(runtime, pdl);

    if (off != GRIDDEP_REASON_FORCED || (how == GD_EARLY_LAUNCH && runtime->has_pdl))
        return off;
    if (runtime->info.capability < 90 && how != GD_EARLY_BEGIN_EVENT)
        return GRIDDEP_REASON_DEVICE;
    return gd_early_driver_can(runtime, how) ? GRIDDEP_REASON_FORCED : GRIDDEP_REASON_DRIVER;
}

/* Whether a kernel of these traits may start early: GRIDDEP_REASON_SET, _FORCED, or why not. */
static inline int32_t gd_early_decide(const griddep_runtime *runtime, uint32_t traits, int32_t pdl,
                                      gd_early how)
{
    const int32_t obstacle = gd_early_obstacle(runtime, pdl, how);

    return obstacle != GRIDDEP_REASON_FORCED || pdl == GRIDDEP_PDL_FORCE ? obstacle
                                                                         : gd_early_kernel(traits);
}

#endif
